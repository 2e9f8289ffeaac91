"""Distances other than the Euclidean one, distances that are given, and the K of local scaling: against definitions by
pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import distance
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsTransformer

import strategies
from designs import each_value
from identities.comparison import IDENTITY, assert_same_embedding, gram_distance
from identities.local_problems import assert_close, matrices
from oracles import given, local, mope, preserving
from proxembed import (
    DLA,
    DNE,
    DONPP,
    LFDA,
    LLE,
    LPP,
    MFA,
    MLGFHF,
    MLLGC,
    MOPE,
    NPP,
    OLPP,
    OLPPR,
    ONPPR,
    SONPP,
    SSDRMC,
    Isomap,
    LaplacianEigenmaps,
    save,
)
from proxembed.estimator.neighborly import ROW_METRICS
from proxembed.estimator.rows import Rows
from proxembed.proximity.backends import nearest
from proxembed.proximity.graph import close_graph, full_graph, rows_within
from proxembed.proximity.search import OF_BITS, OF_SCIPY
from proxembed.targets.labels import LabelMatrix

N, D, K = 50, 9, 4
X = np.abs(strategies.features_dense(N, D, 3))
BITS = (X > np.median(X)) * 1.0
NEW = np.abs(strategies.features_dense(6, D, 4))
Y = strategies.labels_multi(N, 3)
CLASSES = np.arange(N) // 2 % 3
PARTLY = np.where(np.arange(N)[:, None] % 3 > 0, Y, np.nan)
MEASURED = ("correlation", *OF_SCIPY)
SPREAD = np.cov(X.T) + 0.1 * np.eye(D)


def minkowski(Q, X):
    return distance.cdist(Q, X, "minkowski", p=3)


def mahalanobis(Q, X):
    return distance.cdist(Q, X, "mahalanobis", VI=np.linalg.inv(SPREAD))


OWN = {
    "braycurtis": lambda x, y: np.abs(x - y).sum() / np.abs(x + y).sum() if np.any(x + y) else 0.0,
    "canberra": lambda x, y: sum(abs(a - b) / (abs(a) + abs(b)) for a, b in zip(x, y, strict=True) if a or b),
    "chebyshev": lambda x, y: np.abs(x - y).max(),
    "cityblock": lambda x, y: np.abs(x - y).sum(),
    "correlation": lambda x, y: 1.0 - np.corrcoef(x, y)[0, 1],
    "dice": lambda x, y: (x != y).sum() / (x.sum() + y.sum()) if x.any() or y.any() else 0.0,
    "hamming": lambda x, y: (x != y).mean(),
    "jaccard": lambda x, y: (x != y).sum() / ((x + y) > 0).sum() if x.any() or y.any() else 0.0,
    "russellrao": lambda x, y: 1.0 - (x * y).mean(),
    "sqeuclidean": lambda x, y: (x - y) @ (x - y),
    minkowski: lambda x, y: (np.abs(x - y) ** 3).sum() ** (1 / 3),
    mahalanobis: lambda x, y: np.sqrt((x - y) @ np.linalg.solve(SPREAD, x - y)),
}  # the others: scipy's function of two vectors, which does not share the code of its function of two matrices


def rows_for(metric, X: np.ndarray) -> np.ndarray:
    return (np.median(X) < X) * 1.0 if metric in OF_BITS else np.round(X) if metric == "hamming" else X


def by_pairs(metric, Q: np.ndarray, X: np.ndarray) -> np.ndarray:
    of_two = OWN.get(metric) or getattr(distance, metric)
    bits = metric in ("rogerstanimoto", "sokalsneath", "yule")
    return np.array([[of_two(*((x > 0, y > 0) if bits else (x, y))) for y in X] for x in Q])


def named(metric) -> str:
    return getattr(metric, "__name__", metric)


every = pytest.mark.parametrize("metric", (*MEASURED, minkowski, mahalanobis), ids=named)


# ------------------------------------------------------------------------------------------------------- searches


@every
def test_neighbours_are_the_first_of_all_pairs(metric):
    A, Q = rows_for(metric, X), rows_for(metric, NEW)
    E = by_pairs(metric, A, A)
    np.fill_diagonal(E, np.inf)
    found = nearest(A, K, metric=metric)
    np.testing.assert_allclose(found.distance, np.sort(E, axis=1)[:, :K], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(E, found.index, axis=1), found.distance, rtol=0, atol=1e-9)
    tied = (np.diff(found.distance, axis=1) == 0) & (np.diff(found.index, axis=1) < 0)
    assert not tied.any()  # ties by number
    F = by_pairs(metric, Q, A)
    np.testing.assert_allclose(
        nearest(A, K, queries=Q, metric=metric).distance, np.sort(F, axis=1)[:, :K], rtol=0, atol=1e-9
    )
    assert found.recall is None and found.algorithm == "exact"


@every
def test_graphs_within_a_distance_and_of_all_pairs(metric):
    A, Q = rows_for(metric, X), rows_for(metric, NEW)
    E, F = by_pairs(metric, A, A), by_pairs(metric, Q, A)
    values = np.unique(np.round(E[~np.eye(N, dtype=bool)], 6))
    eps = float((values[len(values) // 3] + values[len(values) // 3 + 1]) / 2)
    near = np.where((E <= eps) & ~np.eye(N, dtype=bool), E, 0.0)
    np.testing.assert_allclose(close_graph(A, eps, metric=metric).toarray(), near, rtol=0, atol=1e-9)
    assert close_graph(A, eps, metric=metric).nnz == ((E <= eps) & ~np.eye(N, dtype=bool)).sum()
    np.testing.assert_allclose(
        rows_within(A, eps, queries=Q, metric=metric).toarray(), np.where(eps >= F, F, 0.0), rtol=0, atol=1e-9
    )
    whole = full_graph(A, metric=metric)
    np.testing.assert_allclose(whole.toarray(), E * ~np.eye(N, dtype=bool), rtol=0, atol=1e-9)
    assert whole.nnz == N * (N - 1)


def test_equal_entries_have_no_correlation_and_rows_of_zeros_no_distance():
    A = np.vstack([X[:5], np.full((2, D), 0.1)])
    E = full_graph(A, metric="correlation").toarray()
    np.testing.assert_array_equal(E[5:, :5], 1.0)
    assert E[5, 6] == 1.0  # as of two rows of zeros by their cosine
    zeros = np.vstack([BITS[:5], np.zeros((2, D))])
    for metric in ("dice", "sokalsneath", "braycurtis"):
        assert full_graph(zeros, metric=metric).toarray()[5, 6] == 0.0


def test_correlation_is_searched_by_approximations_and_objects_too():
    exact = nearest(X, K, metric="correlation")
    found = nearest(X, K, metric="correlation", algorithm=KNeighborsTransformer(n_neighbors=K + 2, metric="cosine"))
    np.testing.assert_array_equal(found.index, exact.index)
    assert found.recall == 1.0


# ----------------------------------------------------------------------------------------------- methods, new rows


@each_value
@every
@pytest.mark.parametrize("graph", ["undirected", "full"])
def test_the_weights_of_a_method_are_those_of_its_distances(metric, graph):
    A = rows_for(metric, X)
    E = by_pairs(metric, A, A)
    W = np.exp(-(E**2) / 0.7) * ~np.eye(N, dtype=bool)
    if graph == "undirected":
        index = nearest(A, K, metric=metric).index  # the search has a test of its own
        linked = np.zeros((N, N), dtype=bool)
        np.put_along_axis(linked, index, True, axis=1)
        W *= linked | linked.T
    options = {"metric": metric, "graph": graph, "n_neighbors": K, "tau": 0.7}
    np.testing.assert_allclose(LPP(**options)._graph_weights(Rows(A, None)).toarray(), W, rtol=0, atol=1e-8)
    G = mope.similarity_of_sets("jaccard", Y)
    W += np.eye(N) * (graph == "full")
    model = MOPE("labels", similarity="jaccard", weights="gaussian", a=2.0, **options).fit(A, Y)
    psi = model.proximity(Rows(A, LabelMatrix.of(Y))) @ np.eye(N)
    np.testing.assert_allclose(psi, mope.psi(W / W.max(), G / G.max(), 2.0, 1.0, 1.0, 1.0), rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    "method",
    [
        LaplacianEigenmaps(n_neighbors=9),
        LaplacianEigenmaps(graph="full", weights="local_scaling", n_scale=3),
        Isomap(n_neighbors=9),
        MLGFHF(n_neighbors=9),
        MLLGC(graph="closeness", eps=10.0, weights="constant"),
    ],
    ids=repr,
)
def test_given_distances_are_as_good_as_the_rows(method):
    E, F = by_pairs("cityblock", X, X), by_pairs("cityblock", NEW, X)
    y = PARTLY if isinstance(method, MLGFHF | MLLGC) else None
    rows = clone(method).set_params(metric="cityblock").fit(X, y)
    matrix = clone(method).set_params(metric="precomputed").fit(E, y)
    for one, other in ((X, E), (NEW, F)):
        assert gram_distance(matrix.transform(other), rows.transform(one)) < IDENTITY
    assert matrix.__sklearn_tags__().input_tags.pairwise and not rows.__sklearn_tags__().input_tags.pairwise


def test_isomap_of_given_distances_on_the_full_graph_is_classical_scaling():
    E = preserving.distances(X)
    J = np.eye(N) - 1.0 / N
    w, V = np.linalg.eigh(-0.5 * J @ E**2 @ J)
    Z = V[:, ::-1][:, :3] * np.sqrt(w[::-1][:3])
    assert gram_distance(Isomap(n_components=3, n_neighbors=N - 1, metric="precomputed").fit_transform(E), Z) < IDENTITY


def test_folds_of_given_distances_take_rows_and_columns():
    scores = cross_val_score(MLGFHF(metric="precomputed"), by_pairs("cityblock", X, X), CLASSES, cv=3)
    expected = cross_val_score(MLGFHF(metric="cityblock"), X, CLASSES, cv=3)
    np.testing.assert_array_equal(scores, expected)


@each_value
@pytest.mark.parametrize("method", [LLE(), NPP(), OLPP(), SSDRMC(), LaplacianEigenmaps(), Isomap()], ids=repr)
@pytest.mark.parametrize("metric", ["canberra", minkowski], ids=["canberra", "minkowski"])
def test_every_method_of_neighbours_takes_every_metric(method, metric):
    model = clone(method).set_params(metric=metric, n_neighbors=9)
    y = PARTLY if isinstance(method, SSDRMC) else None
    assert np.isfinite(model.fit(X, y).transform(NEW)).all()


# ------------------------------------------------------------------------------------------------ K of local scaling


@pytest.mark.parametrize("n_scale", [1, 3, 7, 200])
def test_local_scaling_takes_its_k(n_scale):
    W = preserving.local_scaling(X, min(n_scale, N - 1))
    options = {"graph": "full", "weights": "local_scaling", "n_scale": n_scale}
    np.testing.assert_allclose(LPP(**options)._graph_weights(Rows(X, None)).toarray(), W, rtol=1e-9, atol=1e-12)
    assert_same_embedding(OLPP(n_components=3, **options).fit(X), OLPP(n_components=3, weights=W).fit(X), X)
    model = LaplacianEigenmaps(n_components=2, **options).fit(X)
    assert gram_distance(model.embedding_, given.eigenmaps(W, 2, "random_walk")[0]) < IDENTITY
    E = np.linalg.norm(NEW[:, None] - X, axis=2)
    new, own = np.sort(E, axis=1)[:, min(n_scale, N) - 1], preserving.distances(X)
    links = np.exp(-(E**2) / np.outer(new, np.sort(own, axis=1)[:, min(n_scale, N - 1)]))
    Z = links @ model.embedding_ / links.sum(axis=1, keepdims=True) / (1.0 - model.eigenvalues_)
    assert gram_distance(model.transform(NEW), Z) < IDENTITY
    rows = Rows(X, LabelMatrix.of(CLASSES))
    for method in (MFA(), DNE(), DNE(scope="class"), OLPPR(), ONPPR()):
        scaled = clone(method).set_params(weights="local_scaling", n_scale=n_scale)
        for found, expected in zip(
            matrices(scaled, rows), matrices(clone(method).set_params(weights=W), rows), strict=True
        ):
            assert (found is None) == (expected is None)
            if found is not None:
                assert_close(found, expected)


def test_local_scaling_of_mope_takes_its_k_for_rows_and_label_sets():
    W = preserving.local_scaling(X, 3) + np.eye(N)
    G = mope.similarity_of_sets("jaccard", Y)
    options = {"weights": "local_scaling", "graph": "full", "n_scale": 3}
    model = MOPE("labels", similarity="jaccard", **options).fit(X, Y)
    psi = model.proximity(Rows(X, LabelMatrix.of(Y))) @ np.eye(N)
    np.testing.assert_allclose(psi, mope.psi(W / W.max(), G / G.max(), 1.0, 1.0, 1.0, 1.0), rtol=0, atol=1e-9)
    sets, index = LabelMatrix.of(Y).groups()
    latent = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)[2][:2].T
    for n_scale in (1, 2):
        S = preserving.local_scaling(sets @ latent, n_scale) + np.eye(len(sets))
        model = MOPE("latent", similarity="local_scaling", n_latent=2, n_scale=n_scale).fit(X, Y)
        psi = model.proximity(Rows(X, LabelMatrix.of(Y))) @ np.eye(N)
        np.testing.assert_allclose(psi, S[np.ix_(index, index)], rtol=0, atol=1e-9)


# ---------------------------------------------------------------------------------------------- the labelled family

LABELLED = [
    LFDA(n_neighbors=3), LFDA(scope="global"), LFDA(n_links=2), LFDA(scope="global", n_links=3),
    MFA(), MFA(pairs="point"), DLA(), DNE(), DNE(scope="class"),
    OLPPR(), SONPP(), DONPP(n_neighbors=4), ONPPR(),
]  # fmt: skip
SOME = ("cosine", "correlation", "cityblock", "jensenshannon", minkowski)
some = pytest.mark.parametrize("metric", SOME, ids=named)


def cosine_distance(x, y):
    return 1.0 - x @ y / np.sqrt((x @ x) * (y @ y))


def distances(metric):
    if metric == "cosine":
        return np.array([[cosine_distance(x, y) for y in X] for x in X])
    return by_pairs(metric, X, X)


@each_value
@some
@pytest.mark.parametrize("labels", [CLASSES, Y], ids=["classes", "several"])
@pytest.mark.parametrize("method", LABELLED, ids=repr)
def test_friends_and_enemies_are_near_by_the_metric(method, labels, metric):
    """Against loops over pairs of label copies."""
    several = labels is Y
    data = local.Copies(X, Y if several else strategies.one_hot(CLASSES), D=distances(metric))
    rows = Rows(X, LabelMatrix.of(labels), weighting="none" if several else None)
    found, expected = matrices(clone(method).set_params(metric=metric), rows), local.pencil(method, data)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert_close(one, other)
    euclidean = matrices(method, Rows(X, rows.labels, weighting=rows.weighting))
    assert np.abs(found[0] - euclidean[0]).max() > 1e-6 * np.abs(found[0]).max()


@each_value
@some
@pytest.mark.parametrize("method", [MFA(), DNE(), DNE(scope="class"), OLPPR(), ONPPR()], ids=repr)
def test_weights_of_links_are_of_their_distance_by_the_metric(method, metric):
    E, labels = distances(metric), LabelMatrix.of(CLASSES)
    scale = np.sort(E, axis=1)[:, 3]
    known = {
        "gaussian": np.exp(-(E**2) / 0.7),
        "local_scaling": np.exp(-(E**2) / np.outer(scale, scale)),
        "alternative": 1.0 / (0.7 + E**2 / np.add.outer((X**2).sum(axis=1), (X**2).sum(axis=1))),
    }
    for kind, W in known.items():
        model = clone(method).set_params(metric=metric, weights=kind, tau=0.7, n_scale=3)
        given_W = clone(method).set_params(metric=metric, weights=W * (1 - np.eye(N)))
        for one, other in zip(matrices(model, Rows(X, labels)), matrices(given_W, Rows(X, labels)), strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                assert_close(one, other)


def test_the_cosine_of_sparse_rows_and_of_unit_rows_finds_the_same_links():
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    for method in (MFA(ridge=0.1), DLA(), DNE(), LFDA(n_links=3, scope="global", ridge=0.1)):
        cosine = clone(method).set_params(metric="cosine", n_components=2)
        Z = cosine.fit_transform(X, CLASSES)
        np.testing.assert_allclose(cosine.fit_transform(sp.csr_array(X), CLASSES), Z, rtol=0, atol=1e-8)
        if isinstance(method, LFDA):
            continue  # its scales are distances, which differ
        euclidean = clone(method).set_params(n_components=2)
        Z, expected = (model.fit_transform(unit, CLASSES) for model in (cosine, euclidean))
        np.testing.assert_allclose(Z, expected, rtol=0, atol=1e-8)


# ------------------------------------------------------------------------------------------------------- refusals


def test_refusals_name_the_argument_and_the_remedy():
    cases = [
        (LPP(metric="mahalanobis"), X, "metric must be 'euclidean', 'cosine', 'correlation'"),
        (LPP(metric="precomputed"), X, "metric='precomputed' is not allowed"),
        (LPP(metric="jaccard"), X, r"compares rows of 0 and 1.*\(X > 0\)"),
        (LPP(metric="cityblock"), sp.csr_array(X), r"needs dense rows.*toarray"),
        (LPP(metric="correlation"), sp.csr_array(X), r"needs dense rows.*toarray"),
        (LPP(metric="jensenshannon"), X - X.mean(), "is not defined for these"),
        (LPP(metric="cityblock", algorithm="pynndescent"), X, "cannot search metric='cityblock'.*recall"),
        (
            LPP(metric="cityblock", algorithm=KNeighborsTransformer(n_neighbors=9)),
            X,
            "cannot search.*algorithm='exact'",
        ),
        (MFA(metric="cityblock", algorithm="pynndescent"), X, "cannot search metric='cityblock'.*recall"),
        (DLA(metric="precomputed"), X, "metric='precomputed' is not allowed"),
        (LFDA(metric="correlation"), sp.csr_array(X), r"needs dense rows.*toarray"),
        (LPP(n_scale=0), X, "n_scale=0 is not allowed"),
        (LaplacianEigenmaps(metric="precomputed"), np.triu(X @ X.T), r"symmetric distances. Pass \(X \+ X.T\) / 2"),
        (LaplacianEigenmaps(metric="precomputed"), X, "n x n"),
        (
            LaplacianEigenmaps(metric="precomputed", weights="cosine"),
            X @ X.T,
            "made of features, and X holds distances",
        ),
    ]
    for method, data, words in cases:
        with pytest.raises(ValueError, match=words):
            method.fit(data, CLASSES)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (lambda Q, X: Q @ X.T - 100.0, "metric=.* gives .*distances are at least 0"),
        (lambda Q, X: np.abs(Q[:, :1] - X[:, 1]), "the other way; it must be symmetric"),
        (lambda Q, X: distance.cdist(X, X), r"array of shape \(50, 50\)|array of shape \(6, 50\)"),
        (lambda Q, X: np.full((len(Q), len(X)), np.inf), "gives inf for two rows"),
        (lambda x: 0.0, "metric=.*cannot be called with"),
    ],
)
def test_functions_that_give_no_distances_are_refused(metric, words):
    for graph in ("undirected", "full", "closeness"):
        with pytest.raises(ValueError, match=words):
            model = LaplacianEigenmaps(metric=metric, graph=graph, eps=1e6).fit(X)
            model.transform(NEW)
    with pytest.raises(ValueError, match=r"needs dense rows.*toarray"):
        LPP(metric=minkowski).fit(sp.csr_array(X))


def test_distances_by_a_function_are_made_again_for_each_fold_and_are_not_saved(tmp_path):
    named, own = (MLGFHF(metric=metric) for metric in ("chebyshev", lambda Q, X: distance.cdist(Q, X, "chebyshev")))
    np.testing.assert_array_equal(*(cross_val_score(model, X, CLASSES, cv=3) for model in (named, own)))
    with pytest.raises(ValueError, match="name a built-in kind instead of a function"):
        save(LPP(metric=minkowski).fit(X), tmp_path / "model.skops")


def test_every_metric_of_the_parameter_is_known_to_the_search():
    assert set(MEASURED) | {"euclidean", "cosine"} == set(ROW_METRICS)
