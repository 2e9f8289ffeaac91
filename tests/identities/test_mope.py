"""MOPE against loops over pairs of rows, its end points as other methods, and its structured forms as one another."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from designs import WHOLE, each_value, pairwise
from identities.comparison import assert_different_span, assert_same_embedding, assert_same_span
from oracles import mope
from oracles.label_similarities import class_sigma
from proxembed import LSI, MDDM, MOPE, OLPP, PCA
from proxembed.algebra.operators.structured import Dense, LowRank, Sparse
from proxembed.algebra.pencil.direct import solve_direct
from proxembed.estimator.rows import Rows
from proxembed.proximity.weights import edge_weights
from proxembed.targets.labels import LabelMatrix

EXACT = 1e-12
SETS = ("and", "cosine", "dice", "scaled_dice", "jaccard", "hamming_linear")
CLASSES = ("cooccurrence", "dice", "scaled_dice", "jaccard", "cosine")


def problem(seed: int, n: int = 26, c: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Rows with empty and repeated label sets, some of them duplicates."""
    Y = (np.random.default_rng(seed).random((n, c)) < 0.35).astype(float)
    Y[3] = Y[11] = 0.0
    Y[:c] = np.eye(c)
    Y[c : c + 4] = Y[12:16]
    X = strategies.told_by_labels(strategies.features_dense(n, 7, seed), Y, seed)
    X[1], X[c] = X[12], X[12]
    return X, Y


def rows_of(X, Y) -> Rows:
    return Rows(X, LabelMatrix.of(Y).drop_empty())


def proximity(estimator: MOPE, X, Y) -> np.ndarray:
    return estimator.proximity(rows_of(X, Y)).todense()


def assert_close(found, expected) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


def feature_weights(X, Y, **options) -> np.ndarray:
    """W over its largest entry, from the graph of the same options."""
    rows = rows_of(X, Y)
    graph = rows.graph(options.get("graph", "undirected"), options.get("n_neighbors", 5))
    W = edge_weights(X, graph, options.get("weights", "gaussian")).toarray()
    if options.get("graph") == "full" or options.get("loops"):
        np.fill_diagonal(W, 1.0)  # exp(0)
    return W / W.max()


# --------------------------------------------------------------------------------------- similarities of label sets


@each_value
@pytest.mark.parametrize("seed", range(3 if WHOLE else 1))
@pytest.mark.parametrize("name", SETS)
def test_label_strings_are_compared_as_defined(name, seed):
    X, Y = problem(seed)
    assert_close(proximity(MOPE("labels", similarity=name), X, Y), mope.similarity_of_sets(name, Y))


@pytest.mark.parametrize("tau", [0.5, 3.0])
def test_exponential_hamming_similarity(tau):
    X, Y = problem(4)
    found = proximity(MOPE("labels", similarity="hamming", label_tau=tau), X, Y)
    assert_close(found, mope.similarity_of_sets("hamming", Y, tau))
    other = proximity(MOPE("labels", similarity="hamming", label_tau=2 * tau), X, Y)
    assert np.abs(found - other).max() > 1e-2


@each_value
@pytest.mark.parametrize("seed", range(3 if WHOLE else 1))
@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_compared_as_defined(name, seed):
    X, Y = problem(seed)
    found = proximity(MOPE("classes", similarity=name), X, Y)
    assert_close(found, mope.similarity_through_classes(class_sigma(Y, name), Y))


def test_classes_are_compared_by_latent_variables():
    X, Y = problem(4)
    V = np.linalg.svd(Y.T - Y.T.mean(axis=0), full_matrices=False)[2][:2].T
    sigma = mope.similarity_of_latent(Y.T @ V)
    model = MOPE("classes", similarity="latent_cosine", n_latent=2)
    assert_close(proximity(model, X, Y), mope.similarity_through_classes(sigma, Y))
    pca = PCA(n_components=2).fit(Y.T)
    by_method = MOPE("classes", similarity="latent_cosine", latent=PCA(n_components=2))
    sigma = mope.similarity_of_latent(pca.transform(Y.T))
    assert_close(proximity(by_method, X, Y), mope.similarity_through_classes(sigma, Y))
    with pytest.raises(ValueError, match="n_latent=2 is not allowed with scheme='classes'.*'latent_...'"):
        MOPE("classes", n_latent=2).fit(X, Y)


def test_similarity_of_classes_as_an_array_follows_the_classes_that_are_kept():
    X, Y = problem(5)
    wide = np.insert(Y, 2, 0.0, axis=1)
    sigma = class_sigma(Y, "dice")
    padded = np.insert(np.insert(sigma, 2, 0.3, axis=0), 2, 0.3, axis=1)
    expected = mope.similarity_through_classes(sigma, Y)
    assert_close(proximity(MOPE("classes", similarity=padded), X, wide), expected)
    misplaced = np.roll(sigma, 1, axis=0)
    misplaced = (misplaced + misplaced.T) / 2
    assert np.abs(proximity(MOPE("classes", similarity=misplaced), X, Y) - expected).max() > 1e-2
    with pytest.raises(ValueError, match=r"shape \(5, 5\); \(6, 6\) is needed"):
        MOPE("classes", similarity=sigma).fit(X, wide)


@pytest.mark.parametrize("centred", [False, True])
def test_latent_variables_are_those_of_the_labels(centred):
    X, Y = problem(6)
    V = np.linalg.svd(Y - Y.mean(axis=0))[2][:2].T
    phi = (Y - Y.mean(axis=0) if centred else Y) @ V
    found = proximity(MOPE("latent", n_latent=2, center_latent=centred), X, Y)
    assert_close(found, mope.similarity_of_latent(phi))


@pytest.mark.parametrize("method", [PCA(n_components=2), LSI(n_components=3), OLPP(n_components=2)], ids=repr)
def test_latent_variables_by_a_method_of_the_package(method):
    X, Y = problem(7)
    phi = method.fit(Y).transform(Y)
    assert_close(proximity(MOPE("latent", latent=method), X, Y), mope.similarity_of_latent(phi))


def test_a_callable_similarity_sees_distinct_label_sets():
    X, Y = problem(8)
    shapes = []

    def alike(sets):
        shapes.append(sets.shape)
        return sets @ sets.T

    found = proximity(MOPE("labels", similarity=alike), X, Y)
    assert_close(found, Y @ Y.T / (Y @ Y.T).max())
    assert shapes == [(len(np.unique(Y, axis=0)), Y.shape[1])]


# ------------------------------------------------------------------------------------------------- labels and features

PRIORITY = [
    {"a": 1.0, "b": 1.0, "beta": 1.0, "gamma": 1.0},
    {"a": 0.3, "b": 1.3, "beta": 1.0, "gamma": 1.0},
    {"a": 2.0, "b": 0.5, "beta": 4.0, "gamma": 0.6},
    {"a": 0.0, "b": 0.0, "beta": 2.0, "gamma": 0.7},
]


@pytest.mark.parametrize("options", PRIORITY, ids=str)
@pytest.mark.parametrize("graph", ["undirected", "full"])
def test_priority_of_all_pairs(graph, options):
    X, Y = problem(9)
    W = feature_weights(X, Y, graph=graph)
    G = mope.similarity_of_sets("dice", Y)
    operator = MOPE("labels", weights="gaussian", graph=graph, **options).proximity(rows_of(X, Y))
    assert isinstance(operator, Dense) == (graph == "full")
    assert_close(operator.todense(), mope.psi(W, G, **options))


@pytest.mark.parametrize("graph", ["undirected", "full"])
def test_product_sum_and_callable(graph):
    X, Y = problem(10)
    W, G = feature_weights(X, Y, graph=graph), mope.similarity_of_sets("jaccard", Y)
    common = {"weights": "gaussian", "similarity": "jaccard", "graph": graph}
    assert_close(proximity(MOPE("labels", combine="hadamard", **common), X, Y), G * W)
    assert_close(proximity(MOPE("labels", combine="sum", beta=0.3, **common), X, Y), 0.3 * G + 0.7 * W)

    def blend(w, g):
        return g * (1.0 + w**2)

    assert_close(proximity(MOPE("labels", combine=blend, **common), X, Y), G * (1.0 + W**2))


def test_a_product_with_a_sparse_graph_is_sparse():
    X, Y = problem(10)
    assert isinstance(MOPE(weights="gaussian", combine="hadamard").proximity(rows_of(X, Y)), Sparse)


@pairwise
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("values", ["psi", "binary"])
@pytest.mark.parametrize("link", ["undirected", "mutual", "directed"])
@pytest.mark.parametrize("weights", [None, "gaussian"])
def test_links_are_the_largest_proximities(weights, link, values, loops):
    X, Y = problem(11)
    P = mope.similarity_of_sets("dice", Y)
    if weights is not None:
        P = mope.psi(feature_weights(X, Y, loops=loops), P, a=0.5, b=1.0, beta=2.0, gamma=1.0)
    else:
        P = np.sqrt(P)
    model = MOPE("labels", weights=weights, n_links=4, a=0.5, beta=2.0, link=link, values=values, self_loops=loops)
    assert_close(proximity(model, X, Y), mope.links(P, 4, link, values, loops))


@pytest.mark.parametrize("graph", ["undirected", "full"])
@pytest.mark.parametrize("gamma", [1.0, 0.4])
def test_links_with_a_share_of_the_features_alone(graph, gamma):
    X, Y = problem(12)
    P = mope.psi(
        feature_weights(X, Y, graph=graph),
        mope.similarity_through_classes(class_sigma(Y, "dice"), Y),
        a=1.0,
        b=1.0,
        beta=1.0,
        gamma=gamma,
    )
    found = proximity(MOPE(weights="gaussian", n_links=3, gamma=gamma, graph=graph), X, Y)
    assert_close(found, mope.links(P, 3, "undirected", "psi"))


def test_more_links_than_rows_keep_every_other_row():
    X, Y = problem(13)
    G = mope.similarity_of_sets("dice", Y)
    np.fill_diagonal(G, 0.0)
    assert_close(proximity(MOPE("labels", n_links=100), X, Y), G)


# ------------------------------------------------------------------------------------------------------------ templates


@pairwise
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("objective", ["proximity", "laplacian", "normalized"])
@pytest.mark.parametrize("options", [{}, {"weights": "gaussian"}, {"n_links": 4}], ids=str)
def test_objectives(options, objective, center):
    X, Y = problem(14)
    rows = rows_of(X, Y)
    model = MOPE("labels", objective=objective, center=center, **options)
    A = mope.stated(model.proximity(rows).todense(), objective)
    H = np.eye(len(X)) - 1.0 / len(X) if center else np.eye(len(X))
    template = model.template(rows)
    assert_close(template.A.todense(), H @ A @ H)
    Xc = H @ X
    values = np.linalg.eigvalsh(Xc.T @ A @ Xc)[::-1]
    found = model.set_params(n_components=2).fit(X, Y).eigenvalues_
    expected = -values[:2] if objective == "laplacian" else values[:2]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(values).max())


@pytest.mark.parametrize("center", [True, False])
def test_orthonormal_embedding(center):
    X, Y = problem(15)
    model = MOPE(constraint="embedding", ridge=0.0, center=center, n_components=3).fit(X, Y)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z, np.eye(3), atol=1e-9)
    ridged = MOPE(constraint="embedding", ridge=0.5, ridge_scale="absolute", center=center, n_components=3).fit(X, Y)
    Z, P = ridged.transform(X), ridged.components_.T
    np.testing.assert_allclose(Z.T @ Z + 0.5 * P.T @ P, np.eye(3), atol=1e-9)


def test_the_embedding_of_the_rows_themselves_is_that_of_independent_features():
    """The template on Z, Z'Z = I: what a projection of as many features as rows reaches."""
    _, Y = problem(16)
    X = np.eye(len(Y))
    model = MOPE("labels", constraint="embedding", ridge=0.0, n_components=3).fit(X, Y)
    placed = solve_direct(Dense(model.template(rows_of(X, Y)).A.todense()), 3)
    np.testing.assert_allclose(model.eigenvalues_, placed.eigenvalues, rtol=1e-9)
    Z = model.transform(X)
    np.testing.assert_allclose(Z @ Z.T, placed.Z @ placed.Z.T, atol=1e-8)


# ----------------------------------------------------------------------------------------------------------- end points


def fixtures():
    return pytest.mark.parametrize("case", strategies.problems_multi(), ids=lambda p: p.name)


@fixtures()
def test_shared_labels_are_mddm(case):
    k = {"n_components": 2}
    one = MOPE("labels", similarity="and", **k).fit(case.X, case.Y)
    other = MDDM(metric="projection", **k).fit(case.X, case.Y)
    assert_same_embedding(one, other, case.X, eigenvalues=False)
    top = (case.Y @ case.Y.T).max()
    np.testing.assert_allclose(one.eigenvalues_ * top, other.eigenvalues_, rtol=1e-8)
    assert_different_span(MOPE("labels", similarity="dice", **k).fit(case.X, case.Y), other)


@fixtures()
def test_without_weight_on_the_features_only_labels_count(case):
    options = {"weights": "gaussian", "n_components": 2}
    labels = MOPE("labels", n_components=2).fit(case.X, case.Y)
    assert_same_embedding(MOPE("labels", beta=0.0, **options).fit(case.X, case.Y), labels, case.X)
    assert_different_span(MOPE("labels", beta=50.0, **options).fit(case.X, case.Y), labels)


@pytest.mark.parametrize("objective", ["proximity", "laplacian"])
@pytest.mark.parametrize("graph", ["undirected", "mutual", "directed", "full"])
def test_features_alone_are_olpp(graph, objective):
    X, Y = strategies.features_dense(40, 9, 3), strategies.labels_multi(40, 4, 3)
    options = {"graph": graph, "n_neighbors": 6, "weights": "gaussian", "n_components": 3}
    one = MOPE(gamma=0.0, objective=objective, **options).fit(X, Y)
    other = OLPP(objective=objective, self_loops=graph == "full", **options).fit(X, Y)
    assert_same_embedding(one, other, X, eigenvalues=False)
    ratio = other.eigenvalues_ / one.eigenvalues_
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert ratio[0] <= 1.0 + 1e-9  # 1 where a row has a weight with itself, the largest of all
    assert_different_span(MOPE(gamma=1.0, objective=objective, **options).fit(X, Y), other)


def test_one_label_a_row():
    """One-hot labels: scaled Dice is Y N^-1 Y', and the similarity of rows is that of their classes."""
    y = strategies.labels_classes(40, 4, 5)
    Y, X = strategies.one_hot(y), strategies.features_dense(40, 6, 5)
    scaled = (Y / Y.sum(axis=0)) @ Y.T
    assert_close(proximity(MOPE("labels", similarity="scaled_dice"), X, Y), scaled / scaled.max())
    same = Y @ Y.T
    for name in ("and", "cosine", "dice", "jaccard"):
        assert_close(proximity(MOPE("labels", similarity=name), X, Y), same)
    sigma = np.array([[1.0, 0.2, 0.0, 0.5], [0.2, 1.0, 0.3, 0.0], [0.0, 0.3, 1.0, 0.1], [0.5, 0.0, 0.1, 1.0]])
    assert_close(proximity(MOPE("classes", similarity=sigma), X, y), sigma[np.ix_(y, y)])


@fixtures()
def test_label_sets_stand_for_pairs_of_rows(case):
    """X'GX = (Eg'X)'Gu(Eg'X), and the thin route through label sets is that of the whole matrix."""
    rows = rows_of(case.X, case.Y)
    operator = MOPE("labels", similarity="jaccard").proximity(rows)
    assert isinstance(operator, LowRank) and operator.rank_bound == len(np.unique(case.Y, axis=0))
    X = case.dense
    np.testing.assert_allclose(
        operator.sandwich(case.X), X.T @ operator.todense() @ X, rtol=0, atol=1e-10 * np.abs(X.T @ X).sum()
    )


def test_factors_of_the_labels_are_taken_where_they_are_the_smaller_form():
    X, Y = problem(17, n=60, c=4)
    rows = rows_of(X, Y)
    assert MOPE("classes").proximity(rows).rank_bound == 4
    assert MOPE("classes", a=2.0).proximity(rows).rank_bound == len(np.unique(Y, axis=0)) > 4
    assert_close(MOPE("classes", a=2.0).proximity(rows).todense(), MOPE("classes").proximity(rows).todense() ** 2)


def test_sparse_rows_are_embedded_as_dense_ones():
    X, Y = strategies.features_text(50, 300, 4), strategies.labels_multi(50, 4, 4)
    for options in (
        {},
        {"weights": "cosine", "metric": "cosine"},
        {"weights": "cosine", "graph": "full", "n_links": 5},
    ):
        one, other = (MOPE(n_components=3, **options).fit(form, Y) for form in (X, X.toarray()))
        assert_same_embedding(one, other, X)
    assert sp.issparse(X)


def test_schemes_differ():
    X, Y = problem(18, n=50)
    found = [MOPE(scheme, n_components=2).fit(X, Y) for scheme in ("labels", "latent", "classes")]
    for i in range(3):
        assert_different_span(found[i], found[i - 1])
    assert_same_span(found[0], MOPE("labels", similarity="dice", n_components=2).fit(X, Y))
