"""Shortest paths along a graph, with edges of length 0, and the joining of components."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path

from designs import pairwise
from proxembed.algebra.arrays import matrix
from proxembed.proximity import graph as graph_module
from proxembed.proximity.distances import canonical, pair_distances
from proxembed.proximity.graph import (
    components,
    connected,
    edge_geodesics,
    edge_rows,
    feature_graph,
    geodesics,
    reversed_edges,
    sorted_edges,
    symmetric,
)
from strategies import features_dense, features_duplicate_rows


def graph_of(n, edges):
    """A symmetric graph of {(i, j): length}; lengths of 0 are stored."""
    i, j = np.array(list(edges)).T
    length = np.array(list(edges.values()), dtype=float)
    both = np.append(i, j), np.append(j, i)
    return sp.csr_array((np.append(length, length), both), shape=(n, n))


def distances(X):
    """All distances, n x n, as the graphs hold them."""
    n = len(X)
    i, j = np.divmod(np.arange(n * n), n)
    X = canonical(X)
    return pair_distances(X, i, X, j).reshape(n, n)


def floyd(D):
    """All shortest paths of an n x n array with inf for no edge: the definition, one middle row at a time."""
    D = D.copy()
    np.fill_diagonal(D, 0.0)
    for k in range(len(D)):
        D = np.minimum(D, D[:, [k]] + D[[k]])
    return D


def with_inf(graph):
    D = np.full(graph.shape, np.inf)
    D[edge_rows(graph), graph.indices] = graph.data
    return D


def test_four_points_on_a_line_and_a_short_cut():
    line = graph_of(4, {(0, 1): 1.0, (1, 2): 2.0, (2, 3): 4.0})
    np.testing.assert_array_equal(geodesics(line), [[0, 1, 3, 7], [1, 0, 2, 6], [3, 2, 0, 4], [7, 6, 4, 0]])
    cut = graph_of(4, {(0, 1): 1.0, (1, 2): 2.0, (2, 3): 4.0, (0, 3): 0.5})
    np.testing.assert_array_equal(geodesics(cut, [0, 2]), [[0, 1, 3, 0.5], [3, 2, 0, 3.5]])


def test_edges_of_length_zero_are_edges():
    """Rows 1 and 2 coincide; without the edge between them nothing leads from 0 to 3 (negative control)."""
    edges = {(0, 1): 1.0, (1, 2): 0.0, (2, 3): 2.0}
    graph = graph_of(4, edges)
    assert graph.nnz == 6
    np.testing.assert_array_equal(geodesics(graph, [0])[0], [0, 1, 1, 3])
    lost = graph.copy()
    lost.eliminate_zeros()
    np.testing.assert_array_equal(geodesics(lost, [0])[0], [0, 1, np.inf, np.inf])


def test_duplicate_rows_keep_their_edges():
    X = np.repeat(features_dense(12, 2, 1), 3, axis=0)
    graph = feature_graph(X, "undirected", 4)
    assert np.count_nonzero(graph.data == 0) >= 2 * 36
    np.testing.assert_allclose(geodesics(graph), floyd(with_inf(graph)), rtol=1e-12)
    twins = geodesics(graph)[0]
    np.testing.assert_array_equal(twins[:3], 0.0)


@pytest.mark.parametrize("kind", ["undirected", "mutual", "directed", "closeness", "full"])
def test_paths_against_the_definition_and_scipy(kind):
    X = features_duplicate_rows(40, 3, 2)
    graph = feature_graph(X, kind, 4, eps=1.5)
    D = with_inf(graph)
    expected = floyd(np.minimum(D, D.T))
    found = geodesics(graph)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    narrow = sp.csr_array((graph.data, graph.indices.astype(np.int32), graph.indptr.astype(np.int32)), graph.shape)
    np.testing.assert_allclose(found, shortest_path(narrow, method="D", directed=False), rtol=1e-12)
    np.testing.assert_array_equal(geodesics(graph, [7, 3]), found[[7, 3]])
    if kind == "full":
        np.testing.assert_allclose(found, distances(X), rtol=1e-12)


def test_no_sources_and_too_many(monkeypatch):
    graph = graph_of(4, {(0, 1): 1.0})
    assert geodesics(graph, []).shape == (0, 4)
    monkeypatch.setattr(matrix, "MAX_DENSE_BYTES", 1)
    monkeypatch.setattr(matrix.guard_dense, "__defaults__", (100, 8))
    with pytest.raises(ValueError, match="The geodesic distances would be a dense 4 x 4 array"):
        geodesics(graph)


def test_paths_between_the_ends_of_edges(monkeypatch):
    """Lengths that break the triangle inequality: the direct edge is not the shortest path."""
    rng = np.random.default_rng(0)
    graph = feature_graph(features_dense(30, 3, 1), "undirected", 5)
    upper = sp.triu(sp.csr_array((rng.random(graph.nnz), graph.indices, graph.indptr), shape=graph.shape))
    graph = sorted_edges(upper + upper.T)
    expected = geodesics(graph)[edge_rows(graph), graph.indices]
    assert (expected < graph.data - 1e-3).any()
    np.testing.assert_allclose(edge_geodesics(graph), expected, rtol=1e-12)
    monkeypatch.setattr(graph_module, "BLOCK_ENTRIES", 100)
    np.testing.assert_allclose(edge_geodesics(graph), expected, rtol=1e-12)
    metric = feature_graph(features_dense(30, 3, 1), "undirected", 5)
    np.testing.assert_array_equal(edge_geodesics(metric), metric.data)


def test_paths_along_another_graph():
    along = graph_of(4, {(0, 1): 1.0, (1, 2): 2.0})
    pattern = graph_of(4, {(0, 2): 0.1, (0, 3): 0.1})
    np.testing.assert_array_equal(edge_geodesics(sorted_edges(pattern), along), [3.0, np.inf, 3.0, np.inf])


def kruskal_lengths(X, label):
    """The lengths that adding the shortest edge between two components, again and again, adds."""
    D = distances(X)
    label, added = label.copy(), []
    while len(np.unique(label)) > 1:
        apart = np.where(label[:, None] != label, D, np.inf)
        i, j = np.unravel_index(apart.argmin(), apart.shape)
        added.append((apart[i, j], min(i, j), max(i, j)))
        label[label == label[j]] = label[i]
    return sorted(added)


def new_edges(before, after):
    """The edges of ``after`` that ``before`` has not, once each, sorted by length."""
    had = set(zip(edge_rows(before), before.indices, strict=True))
    found = zip(after.data, edge_rows(after), after.indices, strict=True)
    return sorted((d, i, j) for d, i, j in found if i < j and (i, j) not in had)


def islands(sizes, d=3, seed=0):
    """Groups of rows, each group far from the others."""
    rng = np.random.default_rng(seed)
    centres = 100.0 * rng.standard_normal((len(sizes), d))
    return np.vstack([rng.standard_normal((s, d)) + c for s, c in zip(sizes, centres, strict=True)])


@pairwise
@pytest.mark.parametrize("small", [0, 3, 64])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("sizes", [(9, 9), (3, 9, 5, 7), (2, 2, 2, 2, 2, 20)])
def test_components_are_joined_by_the_shortest_edges(monkeypatch, small, metric, sizes):
    monkeypatch.setattr(graph_module, "SMALL_COMPONENT", small)
    X = islands(sizes)
    graph = feature_graph(X, "undirected", 1)
    count, label = components(graph)
    assert count >= len(sizes)
    rows = X if metric == "euclidean" else distances(X)
    with pytest.warns(UserWarning, match=f"has {count} connected components; they were joined by the {count - 1} "):
        joined = connected(graph, rows, metric=metric)
    assert components(joined)[0] == 1 and symmetric(joined)
    added = new_edges(graph, joined)
    expected = kruskal_lengths(X, label)
    assert [e[1:] for e in added] == [e[1:] for e in expected]
    np.testing.assert_allclose([e[0] for e in added], [e[0] for e in expected], rtol=1e-12)
    tree = minimum_spanning_tree(sp.csr_array(distances(X))).sum()
    assert sum(e[0] for e in added) <= tree + 1e-9


def test_one_warning_only():
    X = islands((4, 4, 4, 4))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        connected(feature_graph(X, "undirected", 2), X)
    assert len(seen) == 1


@pytest.mark.parametrize("small", [0, 64])
def test_ties_between_components_are_broken_by_row(monkeypatch, small):
    """Isolated corners of a square and of its copy: every bridge has a tie, and two have length 0."""
    monkeypatch.setattr(graph_module, "SMALL_COMPONENT", small)
    X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [0, 0], [1, 0]])
    nothing = sp.csr_array((6, 6))
    with pytest.warns(UserWarning, match="has 6 connected components"):
        joined = connected(nothing, X)
    assert new_edges(nothing, joined) == [(0.0, 0, 4), (0.0, 1, 5), (1.0, 0, 1), (1.0, 0, 2), (1.0, 1, 3)]
    assert np.isfinite(geodesics(joined)).all()


def test_sparse_rows_are_joined_alike():
    X = islands((5, 6, 7))
    graph = feature_graph(X, "undirected", 2)
    with pytest.warns(UserWarning, match="connected components"):
        dense, sparse = connected(graph, X), connected(graph, sp.csr_array(X))
    np.testing.assert_array_equal(dense.indices, sparse.indices)
    np.testing.assert_allclose(dense.data, sparse.data, rtol=1e-12)


def test_the_largest_component_and_its_rows():
    X = islands((4, 7, 5))
    graph = feature_graph(X, "undirected", 3)
    part, rows = connected(graph, X, how="largest")
    np.testing.assert_array_equal(rows, np.arange(4, 11))
    np.testing.assert_array_equal(with_inf(part), with_inf(graph)[4:11, 4:11])
    first = connected(sp.csr_array((3, 3)), X[:3], how="largest")[1]
    np.testing.assert_array_equal(first, [0])


def test_a_component_held_together_by_zeros_is_one():
    X = np.array([[0.0], [0.0], [5.0], [5.0]])
    graph = feature_graph(X, "undirected", 1)
    part, rows = connected(graph, X, how="largest")
    np.testing.assert_array_equal(rows, [0, 1])
    assert part.nnz == 2
    with pytest.warns(UserWarning, match="has 2 connected components; they were joined by the 1 shortest"):
        joined = connected(graph, X)
    np.testing.assert_array_equal(geodesics(joined)[0], [0, 0, 5, 5])


def test_errors_and_a_connected_graph():
    X = islands((3, 3))
    graph = feature_graph(X, "undirected", 2)
    with pytest.raises(ValueError, match="has 2 connected components and disconnected='error': raise n_neighbors"):
        connected(graph, X, how="error")
    with pytest.raises(ValueError, match="disconnected='drop' is not known; choose one of connect, largest, error"):
        connected(graph, X, how="drop")
    whole = feature_graph(X, "full")
    for how in ("connect", "error"):
        np.testing.assert_array_equal(with_inf(connected(whole, X, how=how)), with_inf(whole))


def test_the_way_back_along_every_edge():
    graph = feature_graph(features_dense(20, 3, 1), "undirected", 3)
    reverse = reversed_edges(graph)
    np.testing.assert_array_equal(edge_rows(graph)[reverse], graph.indices)
    np.testing.assert_array_equal(graph.indices[reverse], edge_rows(graph))
    assert symmetric(graph)
    directed = feature_graph(features_dense(20, 3, 1), "directed", 3)
    assert reversed_edges(directed) is None and not symmetric(directed)
    unequal = sp.csr_array((np.arange(graph.nnz) + 1.0, graph.indices, graph.indptr), shape=graph.shape)
    assert not symmetric(unequal)


def test_edges_are_sorted_without_touching_the_callers_graph():
    graph = sp.csr_array((np.array([3.0, 0.0]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    found = sorted_edges(graph)
    np.testing.assert_array_equal(found.indices, [0, 1])
    np.testing.assert_array_equal(found.data, [0.0, 3.0])
    np.testing.assert_array_equal(graph.indices, [1, 0])


@pytest.mark.parametrize("wide", [np.int32, np.int64])
def test_indices_of_either_width_give_the_same_paths(wide):
    graph = sp.csr_array([[0.0, 1.0, 9.0], [1.0, 0.0, 2.0], [9.0, 2.0, 0.0]])
    other = sp.csr_array((graph.data, graph.indices.astype(wide), graph.indptr.astype(wide)), shape=graph.shape)
    np.testing.assert_array_equal(geodesics(other), [[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    np.testing.assert_array_equal(edge_geodesics(other), [1, 3, 1, 2, 3, 2])
