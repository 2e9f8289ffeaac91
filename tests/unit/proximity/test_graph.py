"""Graphs over rows: every kind worked by hand on four points, against definitions, duplicates and isolated rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import strategies
from proxembed.proximity import distances
from proxembed.proximity.backends import Neighbors, nearest
from proxembed.proximity.graph import (
    GRAPH_KINDS,
    close_graph,
    components,
    feature_graph,
    full_graph,
    neighbor_graph,
    rows_within,
)

FOUR = np.array([[0.0], [1.0], [3.0], [7.0]])
EDGES = {
    "directed": {(0, 1): 1, (1, 0): 1, (2, 1): 2, (3, 2): 4},
    "undirected": {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2, (2, 3): 4, (3, 2): 4},
    "mutual": {(0, 1): 1, (1, 0): 1},
    "closeness": {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2},
    "full": {(i, j): abs(a - b) for i, a in enumerate([0, 1, 3, 7]) for j, b in enumerate([0, 1, 3, 7]) if i != j},
}


def edges(graph) -> dict:
    """Every stored entry, zeros too."""
    graph = graph.tocoo()
    return dict(zip(zip(graph.row.tolist(), graph.col.tolist(), strict=True), graph.data.tolist(), strict=True))


@pytest.mark.parametrize("kind", GRAPH_KINDS)
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_four_points_by_hand(kind, form):
    assert edges(feature_graph(form(FOUR), kind, 1, eps=2.0)) == EDGES[kind]
    assert edges(feature_graph(cdist(FOUR, FOUR), kind, 1, eps=2.0, metric="precomputed")) == EDGES[kind]


def isolated(graph):
    """The rows without an edge, in or out."""
    return np.flatnonzero(np.diff(graph.indptr) + np.diff(graph.tocsc().indptr) == 0)


def test_components_and_isolated_rows_of_four_points():
    counts = {kind: components(feature_graph(FOUR, kind, 1, eps=2.0))[0] for kind in GRAPH_KINDS}
    assert counts == {"directed": 1, "undirected": 1, "mutual": 3, "closeness": 2, "full": 1}
    assert components(feature_graph(FOUR, "closeness", eps=2.0))[1].tolist() == [0, 0, 0, 1]
    lone = {kind: isolated(feature_graph(FOUR, kind, 1, eps=2.0)).tolist() for kind in GRAPH_KINDS}
    assert lone == {"directed": [], "undirected": [], "mutual": [2, 3], "closeness": [3], "full": []}


@pytest.mark.parametrize("kind", GRAPH_KINDS)
def test_duplicates_are_edges_of_length_zero(kind):
    X = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0], [5.0, 1.0]])
    graph = feature_graph(X, kind, 1, eps=0.0)
    assert edges(graph) == {
        (i, j): (0.0 if i // 2 == j // 2 else 5.0)
        for i in range(4)
        for j in range(4)
        if i != j and (kind == "full" or i // 2 == j // 2)
    }
    assert graph.nnz == (12 if kind == "full" else 4)
    count, label = components(graph)
    assert (count, label.tolist()) == ((1, [0] * 4) if kind == "full" else (2, [0, 0, 1, 1]))
    assert isolated(graph).tolist() == []


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(
    "X",
    [
        strategies.features_dense(70, 5, 1),
        strategies.features_text(70, 200, 2),
        strategies.features_duplicate_rows(60, 4, 3),
        np.random.default_rng(0).integers(0, 3, (70, 3)).astype(float),
        np.random.default_rng(0).integers(-1, 2, (70, 5)) * 0.3,
    ],
)
def test_against_the_definitions(monkeypatch, X, metric):
    monkeypatch.setattr(distances, "BLOCK", 16)
    n, K = X.shape[0], 4
    full = full_graph(X, metric=metric)
    D = full.toarray()
    dense = X.toarray() if sparse.issparse(X) else X
    if metric == "euclidean":
        np.testing.assert_allclose(D, cdist(dense, dense), atol=1e-12)
    np.testing.assert_array_equal(D, D.T)
    assert full.nnz == n * (n - 1)
    away = np.where(np.eye(n, dtype=bool), np.inf, D)
    chosen = np.zeros((n, n), dtype=bool)
    chosen[np.arange(n)[:, None], np.argsort(away, axis=1, kind="stable")[:, :K]] = True
    eps = float(np.sort(away.ravel())[8 * n])
    expected = {
        "directed": chosen,
        "undirected": chosen | chosen.T,
        "mutual": chosen & chosen.T,
        "closeness": away <= eps,
    }
    for kind, pattern in expected.items():
        graph = feature_graph(X, kind, K, eps, metric=metric)
        found = np.zeros((n, n), dtype=bool)
        found[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = True
        np.testing.assert_array_equal(found, pattern)
        np.testing.assert_array_equal(graph.toarray(), np.where(pattern, D, 0.0))
        assert graph.has_sorted_indices and graph.nnz == pattern.sum()
        if kind != "directed":
            assert abs(graph - graph.T).max() == 0.0


def test_a_graph_from_neighbours_that_were_found_elsewhere():
    found = Neighbors(np.array([[1], [2], [0]]), np.array([[1.0], [2.0], [3.0]]))
    assert edges(neighbor_graph(found, 3, "directed")) == {(0, 1): 1.0, (1, 2): 2.0, (2, 0): 3.0}
    assert neighbor_graph(found, 3, "mutual").nnz == 0
    assert components(neighbor_graph(found, 3, "mutual"))[0] == 3
    assert isolated(neighbor_graph(found, 3, "mutual")).tolist() == [0, 1, 2]


def test_all_neighbours_make_the_full_graph():
    X = strategies.features_dense(20, 3, 0)
    for kind in ("directed", "undirected", "mutual"):
        assert edges(neighbor_graph(nearest(X, 19), 20, kind)) == edges(full_graph(X))


def test_sizes_and_names_out_of_range():
    with pytest.raises(ValueError, match="graph='star' is not allowed; choose one of undirected, mutual, directed"):
        feature_graph(FOUR, "star")
    with pytest.raises(ValueError, match="graph='full' is not allowed; choose one of undirected, mutual, directed$|."):
        neighbor_graph(nearest(FOUR, 1), 4, "full")
    for eps in (None, -1.0, np.inf, np.nan, "2", True):
        with pytest.raises(ValueError, match="eps=.* is not allowed with graph='closeness'"):
            close_graph(FOUR, eps)
    with pytest.raises(ValueError, match="A full graph would be a dense 20,000 x 20,000"):
        full_graph(np.zeros((20_000, 1)))
    with pytest.raises(ValueError, match="K=5"):
        feature_graph(FOUR, "undirected")


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_within_a_distance_of_new_rows(monkeypatch, form, metric):
    monkeypatch.setattr(distances, "BLOCK", 16)
    rng = np.random.default_rng(0)
    X, Q = rng.integers(0, 3, (70, 3)) * 0.1, rng.integers(0, 3, (41, 3)) * 0.1
    Q[7] = 5.0
    found = nearest(X, 70, queries=Q, metric="euclidean" if metric == "precomputed" else metric)
    D = np.empty((41, 70))
    np.put_along_axis(D, found.index, found.distance, axis=1)
    eps = float(np.median(D))
    if metric == "precomputed":
        graph = rows_within(np.zeros((70, 70)), eps, queries=D, metric=metric)
    else:
        graph = rows_within(form(X), eps, queries=form(Q), metric=metric)
    assert graph.shape == (41, 70) and graph.has_sorted_indices
    assert edges(graph) == {(i, j): D[i, j] for i, j in zip(*np.nonzero(D <= eps), strict=True)}
    assert 0.0 in graph.data and np.diff(graph.indptr).min() == 0


@pytest.mark.parametrize("power", [-700, 600])
def test_closeness_where_squares_leave_the_range_of_numbers(power):
    X = strategies.features_dense(60, 3, 1)
    moved, plain = close_graph(np.ldexp(X, power), np.ldexp(1.5, power)), close_graph(X, 1.5)
    np.testing.assert_array_equal(moved.indices, plain.indices)
    np.testing.assert_array_equal(moved.data, np.ldexp(plain.data, power))
    np.testing.assert_array_equal(full_graph(np.ldexp(X, power)).data, np.ldexp(full_graph(X).data, power))
    assert close_graph(X, 1e300).nnz == 60 * 59


def test_queries_and_distances_that_do_not_fit():
    assert rows_within(FOUR, 1.0, queries=FOUR[:0]).shape == (0, 4)
    assert rows_within(FOUR, 0.0, queries=FOUR + 0.5).nnz == 0
    with pytest.raises(ValueError, match="queries have 2 columns and X has 1"):
        rows_within(FOUR, 1.0, queries=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="eps=-1 is not allowed"):
        rows_within(FOUR, -1, queries=FOUR)
    D = cdist(FOUR, FOUR)
    D[1, 3] = np.inf
    for work in (
        lambda: close_graph(D, 1.0, metric="precomputed"),
        lambda: full_graph(D, metric="precomputed"),
        lambda: rows_within(np.zeros((4, 4)), 1.0, queries=D, metric="precomputed"),
    ):
        with pytest.raises(ValueError, match=r"\[1, 3\] = inf is not allowed"):
            work()
