"""Weights of edges: hand-worked four points of each kind, scipy.stats as oracle, symmetry, policies, new rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from designs import each_value
from proxembed.algebra.arrays import blas
from proxembed.algebra.arrays.matrix import mid_ranks
from proxembed.pairs.formulas import weights_gaussian, weights_local_scaling
from proxembed.proximity import weights
from proxembed.proximity.backends import nearest
from proxembed.proximity.graph import edge_rows, feature_graph, geodesics, neighbor_graph
from proxembed.proximity.weights import (
    WEIGHTS,
    correlations,
    cross_weights,
    edge_weights,
    given_weights,
    local_scale,
    policy,
    used_tau,
)
from strategies import features_dense, features_duplicate_rows, features_text

SQUARE = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0]])
ORACLES = {
    "pearson": lambda x, y: pearsonr(x, y).statistic,
    "spearman": lambda x, y: spearmanr(x, y).statistic,
    "kendall": lambda x, y: kendalltau(x, y).statistic,
    "cosine": lambda x, y: x @ y / np.sqrt((x @ x) * (y @ y)),
}


def all_pairs(n):
    return tuple(np.array([(i, j) for i in range(n) for j in range(n) if i != j]).T)


def assert_same_pattern(W, graph):
    np.testing.assert_array_equal(W.indptr, graph.indptr)
    np.testing.assert_array_equal(W.indices, graph.indices)


def test_four_corners_constant_and_gaussian():
    """Sides 3 and 4, diagonal 5; the squared distances 9, 16, 25 have median 16."""
    graph = feature_graph(SQUARE, "full")
    np.testing.assert_array_equal(edge_weights(SQUARE, graph, "constant").toarray(), 1 - np.eye(4))
    a, b, c = np.exp(-np.array([9, 16, 25]) / 2.0)
    expected = [[0, a, b, c], [a, 0, c, b], [b, c, 0, a], [c, b, a, 0]]
    np.testing.assert_allclose(edge_weights(SQUARE, graph, "gaussian", tau=2.0).toarray(), expected, rtol=1e-12)
    assert used_tau(graph, "gaussian") == 16.0
    default = edge_weights(SQUARE, graph).toarray()
    np.testing.assert_allclose(default[0], np.exp([-np.inf, -9 / 16, -1, -25 / 16]), rtol=1e-12)


def test_four_points_on_a_line_local_scaling():
    """Points 0, 1, 3, 7: first neighbours at 1, 1, 2, 4; second at 3, 2, 3, 6."""
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    graph = feature_graph(X, "full")
    np.testing.assert_array_equal(local_scale(X, 1), [1, 1, 2, 4])
    np.testing.assert_array_equal(local_scale(X, 2), [3, 2, 3, 6])
    np.testing.assert_array_equal(local_scale(X, 50), [7, 6, 4, 7])
    W = edge_weights(X, graph, "local_scaling", n_scale=1).toarray()
    np.testing.assert_allclose(W[0], [0, np.exp(-1), np.exp(-9 / 2), np.exp(-49 / 4)], rtol=1e-12)
    np.testing.assert_allclose(W[2, 3], np.exp(-16 / 8), rtol=1e-12)
    known = edge_weights(X, graph, "local_scaling", scale=np.array([1.0, 1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(known.toarray(), W)


def test_local_scales_come_from_all_rows_not_from_the_graph():
    """One neighbour a row in the graph, the 7th in the scale; LFDA's and the default K is 7."""
    X = features_dense(40, 4, 1)
    graph = feature_graph(X, "undirected", 1)
    s = nearest(X, 7).distance[:, 6]
    i, j = edge_rows(graph), graph.indices
    found = edge_weights(X, graph, "local_scaling")
    np.testing.assert_allclose(found.data, np.exp(-(graph.data**2) / (s[i] * s[j])), rtol=1e-12)


def test_local_scale_zero():
    """Three equal rows have s = 0 for K = 2: weight 1 between them, 0 to the row apart."""
    X = np.array([[0.0], [0.0], [0.0], [2.0]])
    graph = feature_graph(X, "full")
    np.testing.assert_array_equal(local_scale(X, 2), [0, 0, 0, 2])
    W = edge_weights(X, graph, "local_scaling", n_scale=2).toarray()
    np.testing.assert_array_equal(W, [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])


def test_four_corners_alternative():
    """h^2 = 0, 9, 16, 25; raw rows: a shift changes the weights (negative control)."""
    graph = feature_graph(SQUARE, "full")
    W = edge_weights(SQUARE, graph, "alternative", tau=0.5).toarray()
    expected = {(0, 1): 1 / (0.5 + 1), (0, 3): 1 / (0.5 + 1), (1, 2): 1 / (0.5 + 25 / 25), (1, 3): 1 / (0.5 + 16 / 34)}
    for (i, j), w in expected.items():
        np.testing.assert_allclose(W[i, j], w, rtol=1e-14)
    assert used_tau(graph, "alternative") == 1.0
    shifted = edge_weights(SQUARE + 10, feature_graph(SQUARE + 10, "full"), "alternative", tau=0.5).toarray()
    assert abs(shifted - W).max() > 0.1


def test_alternative_bounds_and_zero_rows():
    X = np.vstack([features_dense(20, 3, 1), np.zeros((2, 3))])
    W = edge_weights(X, feature_graph(X, "full"), "alternative", tau=0.25)
    assert W.data.min() >= 1 / 2.25 - 1e-15 and W.data.max() <= 4.0
    assert W.toarray()[20, 21] == 4.0
    opposite = np.array([[1.0, 2.0], [-1.0, -2.0]])
    found = edge_weights(opposite, feature_graph(opposite, "full"), "alternative").toarray()[0, 1]
    np.testing.assert_allclose(found, 1 / 3, rtol=1e-14)


def test_four_rows_of_each_correlation():
    """Rows 1 2 3, its double, its reverse, and a constant; a zero row has cosine 0."""
    X = np.array([[1.0, 2, 3], [2, 4, 6], [3, 2, 1], [0, 0, 0]])
    graph = feature_graph(X, "full")
    for kind, reverse in (("cosine", 10 / 14), ("pearson", -1), ("spearman", -1), ("kendall", -1)):
        W = edge_weights(X, graph, kind, negative="keep").toarray()
        expected = [[0, 1, reverse, 0], [1, 0, reverse, 0], [reverse, reverse, 0, 0], [0, 0, 0, 0]]
        np.testing.assert_allclose(W, expected, atol=1e-14)
    one_tie = np.array([[1.0, 2, 2], [1, 2, 3]])
    found = {k: edge_weights(one_tie, feature_graph(one_tie, "full"), k).toarray()[0, 1] for k in ORACLES}
    np.testing.assert_allclose(found["kendall"], 2 / np.sqrt(2 * 3), rtol=1e-14)
    np.testing.assert_allclose(found["spearman"], np.sqrt(3) / 2, rtol=1e-14)


@pytest.mark.parametrize("kind", ORACLES)
@pytest.mark.parametrize("ties", [False, True])
def test_correlations_against_scipy(kind, ties):
    X = features_dense(12, 9, 2)
    X = np.round(X) if ties else X
    i, j = all_pairs(12)
    expected = np.array([ORACLES[kind](X[p], X[q]) for p, q in zip(i, j, strict=True)])
    np.testing.assert_allclose(correlations(kind, X, X, i, j), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ORACLES)
@pytest.mark.parametrize("most", [1, 128])
def test_sparse_rows_have_the_correlations_of_dense_ones(monkeypatch, kind, most):
    """Signed values, ties, an empty row and a row without a zero; both ways of Kendall's tau."""
    monkeypatch.setattr(weights, "SIGN_FEATURES", most)
    rng = np.random.default_rng(1)
    D = np.round(2 * rng.standard_normal((14, 20))) * (rng.random((14, 20)) < 0.4)
    D[3], D[4] = 0.0, np.arange(20) - 7.5
    i, j = all_pairs(14)
    dense = correlations(kind, D, D, i, j)
    np.testing.assert_allclose(correlations(kind, sp.csr_array(D), sp.csr_array(D), i, j), dense, atol=1e-12)
    np.testing.assert_allclose(correlations(kind, sp.csr_array(D), D, i, j), dense, atol=1e-12)
    full = np.delete(np.arange(14), 3)
    expected = [ORACLES[kind](D[p], D[q]) for p in full for q in full if p != q]
    np.testing.assert_allclose(dense[(i != 3) & (j != 3)], expected, atol=1e-12)
    assert (dense[(i == 3) | (j == 3)] == 0).all()


@given(st.integers(0, 2**20), st.integers(2, 12))
@settings(deadline=None, max_examples=25)
def test_mid_ranks_of_sparse_rows_differ_from_the_ranks_by_a_constant(seed, d):
    rng = np.random.default_rng(seed)
    D = rng.integers(-2, 3, (6, d)) * 1.0
    found = mid_ranks(sp.csr_array(D)).toarray()
    np.testing.assert_allclose(np.ptp(rankdata(D, axis=1) - found, axis=1), 0.0, atol=1e-12)
    assert (found[D == 0] == 0).all()
    np.testing.assert_array_equal(mid_ranks(D), rankdata(D, axis=1))


def test_correlation_is_invariant_to_shift_and_cosine_is_not():
    X = features_dense(15, 6, 3)
    i, j = all_pairs(15)
    for kind in ("pearson", "spearman", "kendall"):
        before, after = (correlations(kind, M, M, i, j) for M in (X, 2.5 * X + 1e3))
        np.testing.assert_allclose(before, after, atol=1e-9)
    assert abs(correlations("cosine", X, X, i, j) - correlations("cosine", X + 9, X + 9, i, j)).max() > 0.1
    constant = np.full((2, 5), 0.1)
    assert correlations("pearson", constant, constant, np.array([0]), np.array([1])) == 0


def test_too_many_rows_or_too_few_features():
    X = np.zeros((2001, 3))
    with pytest.raises(ValueError, match=r"X has 2,001 rows, at most 2,000 are allowed. Use weights=\"spearman\""):
        edge_weights(X, sp.csr_array((2001, 2001)), "kendall")
    one = np.arange(4.0)[:, None]
    for kind in ("pearson", "spearman", "kendall"):
        with pytest.raises(ValueError, match="of which X has 1: at least 2 are needed"):
            edge_weights(one, feature_graph(one, "full"), kind)
    np.testing.assert_array_equal(edge_weights(one[1:], feature_graph(one[1:], "full"), "cosine").data, 1.0)


def test_geodesic_weights():
    """On the graph's own edges the paths are the edges; along another graph they are longer, or there is none."""
    X = features_dense(30, 3, 1)
    graph = feature_graph(X, "undirected", 4)
    np.testing.assert_array_equal(edge_weights(X, graph, "geodesic").data, edge_weights(X, graph, "gaussian").data)
    everything = feature_graph(X, "full")
    along = edge_weights(X, everything, "geodesic", tau=2.0, paths=graph).toarray()
    expected = np.exp(-(geodesics(graph) ** 2) / 2.0)
    np.testing.assert_allclose(along, expected - np.eye(30), rtol=1e-12)
    apart = np.array([[0.0], [1.0], [50.0], [51.0]])
    pairs = feature_graph(apart, "undirected", 1)
    W = edge_weights(apart, feature_graph(apart, "full"), "geodesic", tau=1.0, paths=pairs).toarray()
    np.testing.assert_allclose(W, np.exp(-1) * np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_given_weights(make):
    U = np.arange(16.0).reshape(4, 4) - 6
    U = U + U.T
    given = make(U)
    W = given_weights(given, 4)
    np.testing.assert_array_equal(W.toarray(), U)
    np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, U)  # stays as it was
    assert W.nnz == np.count_nonzero(U)
    with pytest.raises(ValueError, match="differs from its transpose by up to 0.5"):
        given_weights(make(U + 0.5 * (np.arange(4)[:, None] == [0, 1, 1, 1])), 4)
    with pytest.raises(ValueError, match=r"shape \(3, 3\); \(4, 4\) is needed"):
        given_weights(make(U[:3, :3]), 4)
    with pytest.raises(ValueError, match="not finite"):
        given_weights(make(np.where(np.eye(4) == 1, np.inf, U)), 4)


def test_given_weights_that_are_almost_symmetric_are_made_symmetric():
    U = np.ones((4, 4))
    U[0, 1] += 1e-12
    W = given_weights(U, 4).toarray()
    np.testing.assert_array_equal(W, W.T)


def test_policies_for_negative_similarities():
    values = np.array([-1.0, -0.25, 0.0, 0.5])
    np.testing.assert_array_equal(policy(values, "clip"), [0, 0, 0, 0.5])
    np.testing.assert_array_equal(policy(values, "shift"), [0, 0.375, 0.5, 0.75])
    np.testing.assert_array_equal(policy(values, "abs"), [1, 0.25, 0, 0.5])
    np.testing.assert_array_equal(policy(values, "keep"), values)
    X = features_dense(20, 5, 1) - features_dense(20, 5, 1).mean(axis=0)
    graph = feature_graph(X, "full")
    kept = edge_weights(X, graph, "pearson", negative="keep").data
    assert kept.min() < -0.3
    for negative in ("clip", "shift", "abs"):
        found = edge_weights(X, graph, "pearson", negative=negative)
        np.testing.assert_array_equal(found.data, policy(kept, negative))
        assert found.data.min() >= 0 and (found.diagonal() == 0).all()


@each_value
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("graph_kind", ["undirected", "mutual", "directed", "closeness", "full"])
def test_every_kind_keeps_the_pattern_and_the_symmetry(kind, graph_kind):
    X = features_duplicate_rows(36, 6, 3)
    graph = feature_graph(X, graph_kind, 4, eps=2.0)
    assert (graph.data == 0).any() and graph.nnz
    W = edge_weights(X, graph, kind)
    assert_same_pattern(W, graph)
    assert W.dtype == np.float64 and np.isfinite(W.data).all() and (W.data >= 0).all()
    if graph_kind == "directed":
        assert (W != W.T).nnz > 0
    else:
        np.testing.assert_array_equal(W.toarray(), W.toarray().T)


@pytest.mark.parametrize("kind", [k for k in WEIGHTS if k != "kendall"])
def test_sparse_float32_and_threads(monkeypatch, kind):
    X = features_text(40, 60, 2)
    graph = feature_graph(X, "undirected", 5)
    expected = edge_weights(X.toarray(), graph, kind)
    np.testing.assert_allclose(edge_weights(X, graph, kind).data, expected.data, rtol=1e-10, atol=1e-14)
    single = X.toarray().astype(np.float32)
    np.testing.assert_allclose(edge_weights(single, graph, kind).data, expected.data, atol=1e-5)
    monkeypatch.setattr(weights, "PAIR_ENTRIES", 100)
    monkeypatch.setattr(blas, "threads", lambda: 3)
    np.testing.assert_array_equal(edge_weights(X.toarray(), graph, kind).data, expected.data)


def test_loops_weigh_nothing_and_input_is_left_alone():
    X = features_dense(4, 3, 0)
    graph = sp.csr_array((np.zeros(5), np.array([3, 0, 1, 0, 3]), np.array([0, 2, 3, 3, 5])), shape=(4, 4))
    before = [part.copy() for part in (graph.data, graph.indices, graph.indptr)]
    ordered = feature_graph(X, "undirected", 1)
    whole = ordered.copy()
    W = edge_weights(X, ordered, "constant")
    W.data[:] = 0.0
    W.eliminate_zeros()
    np.testing.assert_array_equal(ordered.toarray(), whole.toarray())
    W = edge_weights(X, graph, "gaussian", tau=1.0)
    np.testing.assert_array_equal(W.toarray(), [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
    for part, was in zip((graph.data, graph.indices, graph.indptr), before, strict=True):
        np.testing.assert_array_equal(part, was)


def test_default_widths():
    """Loops do not count; a median of 0 gives way to the mean, that to 1."""
    line = np.array([[0.0], [0.0], [0.0], [3.0]])
    graph = feature_graph(line, "full")
    assert used_tau(graph, "gaussian") == 4.5
    assert used_tau(feature_graph(line[:3], "full"), "gaussian") == 1.0
    assert used_tau(sp.csr_array((4, 4)), "gaussian") == 1.0
    looped = sp.csr_array(np.array([[9.0, 2.0], [2.0, 9.0]]))
    assert used_tau(looped, "gaussian") == 4.0
    assert used_tau(graph, "geodesic", 0.5) == 0.5
    np.testing.assert_array_equal(edge_weights(line[:3], feature_graph(line[:3], "full")).data, 1.0)


def test_bad_arguments():
    graph = feature_graph(SQUARE, "full")
    for tau in (0, -1.0, np.nan, np.inf, "wide", True):
        with pytest.raises(ValueError, match="tau=.* is out of range"):
            edge_weights(SQUARE, graph, "gaussian", tau=tau)
    with pytest.raises(ValueError, match="weights='rbf' is not known; choose one of constant, cosine, gaussian"):
        edge_weights(SQUARE, graph, "rbf")
    with pytest.raises(ValueError, match="negative='zero' is not known; choose one of clip, shift"):
        edge_weights(SQUARE, graph, "cosine", negative="zero")
    for n_scale in (0, 1.5, True):
        with pytest.raises(ValueError, match="n_scale=.* is out of range"):
            edge_weights(SQUARE, graph, "local_scaling", n_scale=n_scale)
    far = sp.csr_array(np.array([[0.0, 1e200], [1e200, 0.0]]))
    for kind, scale, word in (("gaussian", 1.0, "overflow"), ("geodesic", 1.0, "overflow"), ("gaussian", 0.0, "under")):
        graph = sp.csr_array((far.data * scale + 1e-170 * (scale == 0), far.indices, far.indptr), shape=far.shape)
        with pytest.raises(ValueError, match=f"{word}.*: scale X"):
            edge_weights(SQUARE[:2], graph, kind)
    for power in (-600, 600):
        X = np.ldexp(features_dense(20, 3, 1), power)
        for kind in ("alternative", "local_scaling"):
            found, plain = (edge_weights(r, feature_graph(r, "undirected", 3), kind) for r in (X, np.ldexp(X, -power)))
            np.testing.assert_allclose(found.toarray(), plain.toarray(), rtol=1e-12)
        expected = edge_weights(np.ldexp(X, -power), feature_graph(X, "undirected", 3), "constant").nnz
        assert edge_weights(X, feature_graph(X, "undirected", 3), "local_scaling").nnz == expected


@each_value
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_new_rows_get_the_weights_of_training_rows(kind, form):
    """Training rows as queries, with their own neighbours: the weights of the directed graph."""
    X = features_dense(30, 5, 2)
    found = nearest(X, 4)
    graph = neighbor_graph(found, 30, "directed")
    tau = 0.7 if kind == "alternative" else used_tau(graph, kind)
    s = local_scale(X, 3)
    W = edge_weights(X, graph, kind, tau=tau, scale=s).toarray()
    rows = form(X)
    new = cross_weights(rows, rows, found.index, found.distance, kind, tau=tau, scale_q=s, scale_x=s)
    np.testing.assert_allclose(new, np.take_along_axis(W, found.index, axis=1), rtol=1e-10, atol=1e-12)
    mixed = cross_weights(X, sp.csr_array(X), found.index, found.distance, kind, tau=tau, scale_q=s, scale_x=s)
    np.testing.assert_allclose(mixed, new, rtol=1e-10, atol=1e-12)


def test_new_rows_without_what_they_need():
    X, index, distance = SQUARE, np.array([[0]]), np.array([[5.0]])
    with pytest.raises(ValueError, match="needs tau, the width used in fit"):
        cross_weights(X[3:], X, index, distance, "gaussian")
    with pytest.raises(ValueError, match="needs scale_q and scale_x"):
        cross_weights(X[3:], X, index, distance, "local_scaling", scale_x=np.ones(4))
    np.testing.assert_array_equal(cross_weights(X[3:], X, index, distance, "constant"), [[1.0]])


def test_weights_from_distances_at_the_ends():
    """No overflow warning at distances far above the width, and weight 1 at distance 0."""
    found = weights_gaussian(np.array([0.0, 1e180, np.inf]), 1e-3)
    np.testing.assert_array_equal(found, [1.0, 0.0, 0.0])
    tiny = np.array([1e-200, 1e-200])
    np.testing.assert_allclose(weights_local_scaling(tiny, 1.0, tiny, tiny), np.exp(-1.0))
