"""W given by the user, as a matrix or as a function (X, y), and made of the reconstruction weights of LLE: every method
of a graph against dense definitions, and the identities that follow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import strategies
from designs import each_value
from identities.comparison import DIFFERENT, IDENTITY, assert_same_embedding, gram_distance, span_distance
from identities.local_problems import assert_close, matrices
from oracles import dense, given, local, mope, preserving
from proxembed import (
    DNE,
    FDA,
    LFDA,
    LLE,
    LPP,
    MESD,
    MFA,
    MLGFHF,
    MLGRF,
    MLLGC,
    MOPE,
    NPP,
    OLPP,
    OLPPR,
    ONPP,
    ONPPR,
    PCA,
    SMSE,
    SSDR,
    SSFDA,
    SSMMC,
    LaplacianEigenmaps,
    load,
    save,
)
from proxembed.estimator.rows import Rows
from proxembed.targets.labels import LabelMatrix

N, D, K = 40, 6, 4
X = strategies.features_dense(N, D, 3)
Y = strategies.labels_multi(N, 3)
CLASSES = np.arange(N) // 3 % 3
rng = np.random.default_rng(5)
U = rng.random((N, N)) * (rng.random((N, N)) < 0.4)
LOOPS = np.diag(1.0 + np.arange(N) % 5)
W = np.triu(U, 1) + np.triu(U, 1).T + LOOPS  # of no feature of X
SIGNED = W - 0.3 * (W > 0.6)
KNOWN = np.arange(N) % 3 > 0
PARTLY = np.where(KNOWN[:, None], Y, np.nan)
FORMS = {
    "array": W,
    "list": lambda X, y: W.tolist(),
    "csr array": sp.csr_array(W),
    "coo matrix": sp.coo_matrix(W),
    "function": lambda X, y: sp.csr_array(W),
}
forms = pytest.mark.parametrize("weights", FORMS.values(), ids=FORMS)
PROPAGATIONS = [MLGFHF(), SMSE(), SMSE(form="soft"), MLGRF(), MLLGC()]


# ------------------------------------------------------------------------------------------------ definitions


@forms
def test_projections_take_w_as_it_is(weights):
    for constraint in ("degree", "gram"):
        fitted = LPP(n_components=3, weights=weights, constraint=constraint).fit(X)
        pencil = preserving.lpp(X, W, constraint)
        P, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(X), 3)
        np.testing.assert_allclose(fitted.eigenvalues_, -w, rtol=1e-9)
        new = rng.standard_normal((5, D))  # new rows go through the projection
        assert gram_distance(fitted.transform(new), (new - pencil.mean) @ P) < IDENTITY
    Xc = X - X.mean(axis=0)
    for objective, A, sign in (("laplacian", -given.pair_loss(X, W), -1), ("proximity", Xc.T @ W @ Xc, 1)):
        fitted = OLPP(n_components=3, weights=weights, objective=objective).fit(X)
        P, w = dense.dense_solve(A, np.eye(D), Xc, 3)
        np.testing.assert_allclose(fitted.eigenvalues_, sign * w, rtol=1e-9)
        assert gram_distance(fitted.transform(X), Xc @ P) < IDENTITY
    assert fitted.recall_ is None and fitted.algorithm_ is None


@each_value
@forms
@pytest.mark.parametrize("normalization", ["random_walk", "symmetric", "none"])
def test_eigenmaps_take_w_as_it_is(weights, normalization):
    model = LaplacianEigenmaps(n_components=3, weights=weights, normalization=normalization)
    Z, w = given.eigenmaps(W, 3, normalization)
    assert gram_distance(model.fit_transform(X), Z) < IDENTITY
    np.testing.assert_allclose(model.eigenvalues_, w, rtol=1e-9)
    assert not hasattr(model, "transform")


@pytest.mark.parametrize("kind", [0, 1], ids=["array", "function"])
def test_propagation_takes_w_as_it_is(kind):
    weights = [W, lambda X, y: W][kind]
    fitted = MLGFHF(weights=weights).fit(X, PARTLY)
    np.testing.assert_allclose(fitted.scores_, given.harmonic_scores(W, Y, KNOWN), atol=1e-10)
    np.testing.assert_array_equal(fitted.transform(X), fitted.scores_)
    with pytest.raises(ValueError, match="no weights for the links of new rows.*named kind"):
        fitted.predict(X[:2] + 0.1)
    assert np.abs(fitted.scores_ - MLGFHF().fit(X, PARTLY).scores_).max() > DIFFERENT


@pytest.mark.parametrize("method", PROPAGATIONS, ids=repr)
def test_w_of_the_graph_gives_what_the_graph_gives(method):
    graph = clone(method).fit(X, PARTLY)
    again = clone(method).set_params(weights=graph.affinity_).fit(X, PARTLY)
    np.testing.assert_allclose(again.scores_, graph.scores_, atol=1e-12)


@pytest.mark.parametrize("method", [MFA(), DNE(), DNE(scope="class"), OLPPR(), ONPPR()], ids=repr)
def test_links_take_the_entries_of_w(method):
    """Over a W of one value the links weigh this value; over W itself the loss is that of the weighted links."""
    rows = Rows(X, LabelMatrix.of(CLASSES))
    plain, other = clone(method).set_params(weights="constant"), clone(method)
    A, B = matrices(plain, rows)
    ones = matrices(other.set_params(weights=np.ones((N, N))), rows)
    assert_close(ones[0], A)
    if B is not None:
        assert_close(ones[1], B)
    twice, thrice = (matrices(clone(method).set_params(weights=c * W), rows)[0] for c in (2.0, 3.0))
    once = matrices(clone(method).set_params(weights=lambda X, y: W), rows)[0]
    assert_close(twice - once, thrice - twice)  # the part that W weighs is linear in it
    assert np.abs(once - A).max() > DIFFERENT * np.abs(A).max()


def test_dne_of_given_weights_is_the_sum_over_its_links():
    signs = preserving.adjacency(X, 5) * np.where(CLASSES[:, None] == CLASSES, 1.0, -1.0)
    found, _ = matrices(DNE(weights=W), Rows(X, LabelMatrix.of(CLASSES)))
    assert_close(found, -given.pair_loss(X, signs * W))


@forms
def test_lfda_takes_the_affinities_inside_classes_from_w(weights):
    """As LFDA is stated: sums over pairs of one class of a_ij / n_k, and of a_ij (1/n - 1/n_k) beside all pairs / n."""
    same = np.where(CLASSES[:, None] == CLASSES, 1.0 / np.bincount(CLASSES)[CLASSES], 0.0)
    within = given.pair_loss(X, W * same)
    between = given.pair_loss(X, np.where(same > 0, W * (1.0 / N - same), 1.0 / N))
    for found, expected in zip(
        matrices(LFDA(affinity=weights), Rows(X, LabelMatrix.of(CLASSES))), (between, within), strict=True
    ):
        assert_close(found, expected)
    fitted = LFDA(affinity=weights, n_components=3, ridge=0.1, ridge_scale="absolute").fit(X, CLASSES)
    P, w = dense.dense_solve(between, within + 0.1 * np.eye(D), X - X.mean(axis=0), 3)
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=1e-9)
    assert gram_distance(fitted.transform(X), (X - X.mean(axis=0)) @ P) < IDENTITY


@pytest.mark.parametrize("weighting", ["none", "mimj", "printed"])
def test_lfda_of_given_affinities_on_copies_is_that_of_explicit_duplication(weighting):
    rows = Rows(X, LabelMatrix.of(Y), weighting=weighting)
    data = local.Copies(X, Y)
    total, inside, within = local.lfda(data, lambda i, j, k: W[i, j])
    expected = [local.scatter(data, V, weighting, same) for V, same in ((total, False), (inside, True), (within, True))]
    between, spread = matrices(LFDA(affinity=W), rows)
    assert_close(between, expected[0] + expected[1])
    assert_close(spread, expected[2])
    assert_same_embedding(
        MESD(LFDA(affinity=lambda X, y: W, ridge=0.1), weighting=weighting, n_components=3).fit(X, Y),
        MESD(LFDA(affinity=W, ridge=0.1), weighting=weighting, n_components=3).fit(X, Y),
        X,
    )


def test_affinities_that_lfda_cannot_take_are_refused():
    for affinity, options, words in (
        (SIGNED - W, {}, "affinity holds -0.3; given affinities must be at least 0"),
        (W, {"n_links": 3}, "n_links=3 is not allowed where affinity is given"),
        (W[:3], {}, r"affinity: the given matrix has shape \(3, 40\)"),
    ):
        with pytest.raises(ValueError, match=words):
            LFDA(affinity=affinity, **options).fit(X, CLASSES)


@pytest.mark.parametrize("graph", ["undirected", "full"])
def test_mope_combines_g_with_w_over_its_largest_entry(graph):
    G = mope.similarity_of_sets("jaccard", Y)
    G = G / G.max()
    expected = mope.psi(np.maximum(SIGNED, 0.0) / SIGNED.max(), G, 1.3, 0.7, 2.0, 0.6)
    model = MOPE("labels", similarity="jaccard", weights=SIGNED, graph=graph, a=1.3, b=0.7, beta=2.0, gamma=0.6)
    psi = model.fit(X, Y).proximity(Rows(X, LabelMatrix.of(Y)))
    np.testing.assert_allclose(psi @ np.eye(N), expected, rtol=0, atol=1e-12)


# ------------------------------------------------------------------------------------------------- rows with themselves


def test_the_diagonal_of_w_counts_in_products_and_sums_and_cancels_in_a_laplacian():
    fitted = OLPP(n_components=2, weights=W + 25.0 * np.eye(N)).fit(X)
    Z = fitted.transform(X)
    np.testing.assert_allclose(fitted.eigenvalues_.sum(), np.trace(Z.T @ (W + 25.0 * np.eye(N)) @ Z), rtol=1e-10)
    assert_same_embedding(OLPP(n_components=3, weights=np.eye(N)).fit(X), PCA(n_components=3).fit(X), X)
    for method in (OLPP(objective="laplacian"), MLGFHF(), SMSE(), MLGRF(), SSFDA(n_components=2)):
        y = np.where(KNOWN, CLASSES, np.nan) if isinstance(method, SSFDA) else PARTLY
        with_loops, without = (clone(method).set_params(weights=V).fit(X, y) for V in (W, W - LOOPS))
        np.testing.assert_allclose(with_loops.transform(X), without.transform(X), rtol=0, atol=1e-9)
    D = W.sum(axis=1)
    found = MLLGC(weights=W, label_smoothness=0.0, smoothness=3.0).fit(X, PARTLY).scores_
    system = np.eye(N) + 3.0 * (np.eye(N) - W / np.sqrt(np.outer(D, D)))
    np.testing.assert_allclose(found, np.linalg.solve(system, np.nan_to_num(PARTLY)), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="link no two rows"):
        LPP(weights=np.eye(N)).fit(X)


OWN = {
    "gaussian": lambda X: np.ones(N),
    "constant": lambda X: np.ones(N),
    "geodesic": lambda X: np.ones(N),
    "local_scaling": lambda X: np.ones(N),
    "alternative": lambda X: np.full(N, 1 / 0.7),
    "cosine": lambda X: (np.abs(X).sum(axis=1) > 0) * 1.0,
    "pearson": lambda X: (np.ptp(X, axis=1) > 0) * 1.0,
    "kendall": lambda X: (np.ptp(X, axis=1) > 0) * 1.0,
}


@pytest.mark.parametrize("kind", OWN)
def test_loops_of_named_weights_are_weights_of_distance_0(kind):
    special = X.copy()
    special[3], special[7], special[9] = special[5], 0.0, 2.0
    options = {"weights": kind, "tau": 0.7 if kind == "alternative" else None}
    rows = Rows(special, None)
    V = OLPP(**options)._graph_weights(rows).toarray()
    np.testing.assert_array_equal(np.diag(V), 0.0)
    found = OLPP(self_loops=True, **options)._graph_weights(rows).toarray()
    np.testing.assert_allclose(found, V + np.diag(OWN[kind](special)), rtol=0, atol=1e-12)
    G = mope.similarity_of_sets("dice", Y)
    psi = MOPE("labels", self_loops=True, **options).proximity(Rows(special, LabelMatrix.of(Y))).todense()
    np.testing.assert_allclose(psi, mope.psi(found / found.max(), G, 1.0, 1.0, 1.0, 1.0), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "method", [OLPP(), LPP(), LaplacianEigenmaps(), LaplacianEigenmaps(normalization="symmetric"), MLLGC()], ids=repr
)
def test_loops_are_those_of_the_same_w_given(method):
    y = PARTLY if isinstance(method, MLLGC) else None
    looped = clone(method).set_params(self_loops=True).fit(X, y)
    V = OLPP(self_loops=True)._graph_weights(Rows(X, None))
    same, plain = clone(method).set_params(weights=V).fit(X, y), clone(method).fit(X, y)
    name = "scores_" if isinstance(method, MLLGC) else "eigenvalues_"
    np.testing.assert_allclose(getattr(looped, name), getattr(same, name), rtol=1e-9, atol=1e-12)
    assert np.abs(getattr(looped, name) - getattr(plain, name)).max() > DIFFERENT


def test_repeated_rows_are_linked_with_one_another_as_each_with_itself():
    times = 1 + np.arange(N) % 3
    found = OLPP(self_loops=True, n_components=3).fit(X, sample_weight=times)
    V = OLPP(self_loops=True)._graph_weights(Rows(X, None)).toarray()
    mean = times @ X / times.sum()
    A = ((X - mean) * times[:, None]).T @ V @ ((X - mean) * times[:, None])
    np.testing.assert_allclose(found.eigenvalues_, np.linalg.eigvalsh(A)[::-1][:3], rtol=1e-9)
    assert_same_embedding(found, OLPP(self_loops=True, n_components=3).fit(np.repeat(X, times, axis=0)), X)


# ------------------------------------------------------------------------------------------- reconstructions as W


def test_reconstruction_weights_make_olpp_onpp_lpp_npp_and_eigenmaps_lle():
    options = {"n_components": 3, "n_neighbors": K}
    olpp = OLPP(weights="reconstruction", objective="laplacian", **options).fit(X)
    assert_same_embedding(olpp, ONPP(**options).fit(X), X)
    for constraint in ("degree", "gram"):
        found = LPP(weights="reconstruction", constraint=constraint, **options).fit(X)
        assert_same_embedding(found, NPP(**options).fit(X), X)
    Z = LLE(**options).fit_transform(X)
    for normalization in ("random_walk", "symmetric", "none"):
        model = LaplacianEigenmaps(weights="reconstruction", normalization=normalization, **options)
        assert gram_distance(model.fit_transform(X), Z) < IDENTITY


def test_reconstruction_weights_are_those_of_the_definition():
    V = preserving.reconstruction(X, K)
    expected = given.reconstruction_proximity(V)
    found = LPP(weights="reconstruction", n_neighbors=K)._graph_weights(Rows(X, None)).toarray()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-10)
    kept = np.maximum(expected - np.diag(np.diag(expected)), 0.0)
    for method in PROPAGATIONS:
        fitted = clone(method).set_params(weights="reconstruction", n_neighbors=K).fit(X, PARTLY)
        np.testing.assert_allclose(fitted.affinity_.toarray(), kept, rtol=0, atol=1e-9)
    fitted = MLGFHF(weights="reconstruction", n_neighbors=K).fit(X, PARTLY)
    np.testing.assert_allclose(fitted.scores_, given.harmonic_scores(kept, Y, KNOWN), atol=1e-8)
    psi = MOPE("labels", similarity="and", weights="reconstruction", n_neighbors=K, combine="hadamard")
    G = Y @ Y.T / (Y @ Y.T).max()
    found = psi.fit(X, Y).proximity(Rows(X, LabelMatrix.of(Y))) @ np.eye(N)
    np.testing.assert_allclose(found, G * kept / kept.max(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "scope", [MFA(n_friends=K), DNE(n_neighbors=K), OLPPR(n_neighbors=K), ONPPR(n_enemies=K)], ids=repr
)
@pytest.mark.parametrize("several", [False, True])
def test_reconstruction_weights_of_links_are_their_positive_entries_given(scope, several):
    expected = given.reconstruction_proximity(preserving.reconstruction(X, K))
    expected = np.maximum(expected - np.diag(np.diag(expected)), 0.0)
    rows = Rows(X, LabelMatrix.of(Y), weighting="none") if several else Rows(X, LabelMatrix.of(CLASSES))
    named, same = (clone(scope).set_params(weights=kind) for kind in ("reconstruction", expected))
    for found, stated in zip(matrices(named, rows), matrices(same, rows), strict=True):
        if found is not None:
            np.testing.assert_allclose(found, stated, rtol=0, atol=1e-8 * np.abs(stated).max())
    other, one = LFDA(affinity=expected), LFDA(affinity="reconstruction", n_neighbors=K)
    for found, stated in zip(matrices(one, rows), matrices(other, rows), strict=True):
        np.testing.assert_allclose(found, stated, rtol=0, atol=1e-8 * np.abs(stated).max())


def test_reconstruction_weights_of_links_of_weighted_rows_are_those_of_repeats():
    times = 1 + np.arange(N) % 2
    for method in (DNE(weights="reconstruction"), LFDA(affinity="reconstruction", ridge=0.1)):
        method.set_params(n_components=2)
        weighted = clone(method).fit(X, CLASSES, sample_weight=times)
        repeated = clone(method).fit(np.repeat(X, times, axis=0), np.repeat(CLASSES, times))
        assert_same_embedding(weighted, repeated, X)


# ------------------------------------------------------------------------------------------------ rows and labels


def test_a_function_gets_the_rows_and_y_as_given_to_fit():
    seen = []

    def made(rows, y):
        seen.append((rows, y))
        return np.ones((len(rows), len(rows)))

    frame = pd.DataFrame(PARTLY)
    LPP(weights=made).fit(X)
    OLPP(weights=made).fit(X, frame)
    MLGFHF(weights=made).fit(X, frame)
    assert [y is None for _, y in seen] == [True, False, False]
    assert seen[1][1] is frame and seen[2][1] is frame
    np.testing.assert_array_equal(seen[2][0], X)


def test_rows_left_out_of_fit_are_left_out_of_w():
    """MOPE drops rows with unknown labels: a matrix for all rows loses theirs, a function gets the others."""
    with pytest.warns(UserWarning, match="left out of fit"):
        whole = MOPE("labels", weights=W, n_components=3).fit(X, PARTLY)
    part = MOPE("labels", weights=W[KNOWN][:, KNOWN], n_components=3).fit(X[KNOWN], Y[KNOWN])
    assert_same_embedding(whole, part, X)
    seen = []
    with pytest.warns(UserWarning, match="left out of fit"):
        MOPE("labels", weights=lambda X, y: seen.append(y) or W[KNOWN][:, KNOWN]).fit(X, PARTLY)
    np.testing.assert_array_equal(seen[0], Y[KNOWN])


def test_members_of_ssdr_take_their_rows_of_w():
    given_w = SSDR(MOPE("labels", weights=W), OLPP(weights=W), n_components=3).fit(X, PARTLY)
    function = SSDR(
        MOPE("labels", weights=lambda X, y: W[KNOWN][:, KNOWN]), OLPP(weights=lambda X, y: W), n_components=3
    ).fit(X, PARTLY)
    assert_same_embedding(given_w, function, X)
    alone = SSDR(MESD(FDA()), OLPP(weights=W), mix=1.0, n_components=3).fit(X, PARTLY)
    assert span_distance(alone.components_.T, OLPP(weights=W, n_components=3).fit(X).components_.T) < IDENTITY
    y = np.where(KNOWN, CLASSES, np.nan)
    for method in (SSFDA, SSMMC):
        fitted = method(weights=W, n_components=2).fit(X, y)
        assert_same_embedding(method(weights=lambda X, y: W, n_components=2).fit(X, y), fitted, X)
        assert span_distance(fitted.components_.T, method(n_components=2).fit(X, y).components_.T) > 1e-6


def test_a_function_makes_w_for_each_fold_and_a_matrix_fits_its_own_rows_alone():
    by_class = lambda X, y: (y[:, None] == y) * 1.0  # noqa: E731
    model = make_pipeline(LPP(weights=by_class, n_components=3), KNeighborsClassifier(1))
    assert np.isfinite(cross_val_score(model, X, CLASSES, cv=4)).all()
    with pytest.raises(ValueError, match=r"shape \(40, 40\); \(30, 30\) is needed.*function \(X, y\)"):
        LPP(weights=W).fit(X[:30])


# ------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "weights, words",
    [
        (W + np.triu(np.ones((N, N)), 1), "weights: the given matrix differs from its transpose by up to 1"),
        (np.where(np.eye(N) > 0, np.nan, W), "not finite: set absent ones to 0"),
        (lambda X, y: W[:3], r"shape \(3, 40\); \(40, 40\) is needed"),
        (lambda X, y: "W", "not a matrix of numbers"),
        (lambda X: W, "cannot be called with"),
        (np.zeros((N, N)), "given weights link no two rows"),
        ("precomputed", "weights='precomputed' is not allowed"),
    ],
)
def test_other_matrices_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        OLPP(weights=weights).fit(X)


def test_weights_below_0_are_refused_where_the_method_needs_others():
    OLPP(weights=SIGNED - 0.5 * (W > 0)).fit(X)
    LPP(weights=SIGNED - 0.5 * (W > 0), constraint="gram").fit(X)
    negative = W - 2.0 * (W > 0)
    with pytest.raises(ValueError, match="constraint='degree' weighs rows by these sums"):
        LPP(weights=negative).fit(X)
    for method in (LaplacianEigenmaps(), *PROPAGATIONS):
        with pytest.raises(ValueError, match="must be at least 0 here. Pass np.maximum"):
            clone(method).set_params(weights=negative).fit(X, PARTLY)


def test_a_graph_beside_w_is_refused():
    for graph in ("mutual", "directed", "closeness"):
        with pytest.raises(ValueError, match="W is given, with links of its own"):
            OLPP(weights=W, graph=graph, eps=1.0).fit(X)
    with pytest.raises(ValueError, match="rows are rebuilt from n_neighbors"):
        OLPP(weights="reconstruction", graph="full").fit(X)


def test_models_with_a_matrix_are_saved_and_those_with_a_function_are_refused(tmp_path):
    fitted = LPP(weights=sp.csr_array(W), n_components=3).fit(X)
    again = load(save(fitted, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    with pytest.raises(ValueError, match="name a built-in kind instead of a function"):
        save(LPP(weights=FORMS["function"], n_components=3).fit(X), tmp_path / "other.skops")
