"""Shortest paths along a neighbour graph, and the repair of graphs that fall into pieces."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from proxembed.algebra.arrays.matrix import Matrix, guard_dense, short_indices

from .graph import components, edge_rows, sorted_edges, symmetric
from .neighbors import nearest

DISCONNECTED = ("connect", "largest", "error")
BLOCK_ENTRIES = 1 << 22
SMALL_COMPONENT = 64


def geodesics(graph: Any, sources: np.ndarray | None = None) -> np.ndarray:
    """Lengths of the shortest paths from the sources to every row; inf where there is none.  [tenenbaum2000isomap]

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        Lengths of the edges; stored zeros are edges of length 0, and an edge may be passed both ways.
    sources : array of row numbers, optional
        Rows to start from; None: all.

    Returns
    -------
    ndarray of shape (s, n)

    Examples
    --------
    >>> graph = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    >>> geodesics(graph, [0])
    array([[0., 1., 3.]])
    """
    graph = short_indices(sorted_edges(graph))
    sources = np.arange(graph.shape[0]) if sources is None else np.asarray(sources, dtype=np.intp)
    guard_dense((len(sources), graph.shape[0]), "The geodesic distances")
    return _paths(graph, sources, symmetric(graph))


def edge_geodesics(graph: sp.csr_array, paths: Any = None) -> np.ndarray:
    """The shortest path between the ends of each stored edge, in the order of the edges; n x n is never formed.

    The paths run along the graph ``paths``, by default along the graph itself.

    Examples
    --------
    >>> edge_geodesics(sp.csr_array([[0.0, 1.0, 9.0], [1.0, 0.0, 2.0], [9.0, 2.0, 0.0]]))
    array([1., 3., 1., 2., 3., 2.])
    """
    n = graph.shape[0]
    along = short_indices(graph if paths is None else sorted_edges(paths))
    both = symmetric(along)
    out = np.empty(graph.nnz)
    step = max(1, BLOCK_ENTRIES // max(1, n))
    for start in range(0, n, step):
        stop = min(start + step, n)
        part = slice(graph.indptr[start], graph.indptr[stop])
        row = np.repeat(np.arange(stop - start), np.diff(graph.indptr[start : stop + 1]))
        limit = graph.data[part].max(initial=0.0) if paths is None else np.inf
        out[part] = _paths(along, np.arange(start, stop), both, limit)[row, graph.indices[part]]
    return out


def _paths(graph: sp.csr_array, sources: np.ndarray, both: bool, limit: float = np.inf) -> np.ndarray:
    """Dijkstra from each source; ``both``: the graph holds every edge both ways already.

    That spares the search the edges' other direction. It holds the interpreter's lock: threads do not help.
    """
    if not len(sources):
        return np.empty((0, graph.shape[0]))
    return dijkstra(graph, directed=both, indices=sources, limit=limit)


def connected(graph: Any, X: Matrix, *, how: str = "connect", metric: Any = "euclidean") -> Any:
    """A graph in one piece: with the shortest edges between its components, or its largest one.  [tenenbaum2000isomap]

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        Symmetric distances of adjacent rows; stored zeros are edges.
    X : array or sparse matrix of shape (n, d)
        Rows (n x n distances for metric "precomputed").
    how : {"connect", "largest", "error"}
        "connect" adds the shortest edge between two components until one is left, and warns; "largest" returns the
        graph of the largest component and its rows; "error" refuses.
    metric : str
        Of the distances.

    Returns
    -------
    csr_array, or (csr_array, rows) for "largest"

    Raises
    ------
    ValueError
        Several components with "error", or an unknown choice.

    Examples
    --------
    >>> connected(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0], [1.0]])).nnz
    2
    """
    if how not in DISCONNECTED:
        raise ValueError(f"disconnected={how!r} is not known; choose one of {', '.join(DISCONNECTED)}.")
    graph = sorted_edges(graph)
    count, label = components(graph)
    if how == "largest":
        rows = np.flatnonzero(label == np.bincount(label, minlength=1).argmax())
        return graph[rows][:, rows], rows
    if count <= 1:
        return graph
    if how == "error":
        raise ValueError(
            f"The neighbour graph has {count} connected components and disconnected='error': raise n_neighbors or eps, "
            "or choose disconnected='connect' or 'largest'."
        )
    warnings.warn(
        f"The neighbour graph has {count} connected components; they were joined by the {count - 1} shortest edges "
        "between them. Raise n_neighbors or eps, or choose disconnected='largest'.",
        UserWarning,
        stacklevel=2,
    )
    while count > 1:
        graph = _with_edges(graph, *_shortest_bridges(X, label, metric))
        count, label = components(graph)
    return graph


def _with_edges(graph: sp.csr_array, i: np.ndarray, j: np.ndarray, length: np.ndarray) -> sp.csr_array:
    """The graph with new edges, both ways; none of them may be there already."""
    values = np.concatenate([graph.data, length, length])
    rows, columns = np.concatenate([edge_rows(graph), i, j]), np.concatenate([graph.indices, j, i])
    return sp.csr_array((values, (rows, columns)), shape=graph.shape)


def _shortest_bridges(X: Matrix, label: np.ndarray, metric: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The shortest edge out of each component but the largest, each edge once: one round of Boruvka's algorithm.

    Edges are ordered by (length, lower row, higher row), so that all rounds together give the edges that adding the
    shortest one between two components again and again gives.
    """
    largest = np.bincount(label).argmax()
    inside = np.flatnonzero(label != largest)
    other, length = _nearest_outside(X, label, inside, metric)
    low, high = np.minimum(inside, other), np.maximum(inside, other)
    order = np.lexsort((high, low, length, label[inside]))
    first = order[np.flatnonzero(np.diff(label[inside][order], prepend=-1))]
    edges = np.unique(np.column_stack([low[first], high[first]]), axis=0, return_index=True)[1]
    chosen = first[edges]
    return low[chosen], high[chosen], length[chosen]


def _nearest_outside(X: Matrix, label: np.ndarray, inside: np.ndarray, metric: Any) -> tuple[np.ndarray, np.ndarray]:
    """For each of the rows ``inside`` the nearest row of another component, and its distance."""
    other, length = np.empty(len(inside), dtype=np.intp), np.empty(len(inside))
    if metric == "precomputed":
        step = max(1, BLOCK_ENTRIES // len(label))
        for start in range(0, len(inside), step):
            rows = inside[start : start + step]
            D = np.where(label[rows, None] == label, np.inf, np.asarray(X[rows], dtype=np.float64))
            other[start : start + step] = D.argmin(axis=1)
            length[start : start + step] = D.min(axis=1)
        return other, length
    size = np.bincount(label)[label[inside]]
    small = size <= SMALL_COMPONENT
    if small.any():
        rows = inside[small]
        found = nearest(X, int(size[small].max()) + 1, queries=X[rows], metric=metric)
        first = (label[found.index] != label[rows, None]).argmax(axis=1)[:, None]
        other[small] = np.take_along_axis(found.index, first, axis=1)[:, 0]
        length[small] = np.take_along_axis(found.distance, first, axis=1)[:, 0]
    for k in np.unique(label[inside[~small]]):
        mine, outside = label[inside] == k, np.flatnonzero(label != k)
        found = nearest(X[outside], 1, queries=X[inside[mine]], metric=metric)
        other[mine], length[mine] = outside[found.index[:, 0]], found.distance[:, 0]
    return other, length
