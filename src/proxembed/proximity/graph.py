"""Graphs over rows: kNN lists as directed, undirected or mutual graphs; closeness and full graphs; their components.

In: ``Neighbors`` or rows. Out: n x n CSR of distances, in which explicit zeros are edges (duplicate rows). And the
stored edges of any graph: their order, their rows, the way back.
"""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from proxembed.algebra.arrays.blas import each_in_threads, in_threads, one_pool
from proxembed.algebra.arrays.matrix import Matrix, guard_dense, short_indices

from .backends import Neighbors, check_any_metric, check_shapes, nearest
from .distances import Side, canonical, check_distances, pair_distances, plan_tiles, tile
from .search import all_distances, as_cosine, is_measured, pairs_within, rounded_up

OF_NEIGHBORS = ("undirected", "mutual", "directed")
GRAPH_KINDS = (*OF_NEIGHBORS, "closeness", "full")

NEAR = 1e-11
FAR = 1e100


def neighbor_graph(neighbors: Neighbors, n: int, kind: str = "undirected") -> sparse.csr_array:
    """The kNN graph: i to j where j is a neighbour of i ("directed"), either way ("undirected"), or both ("mutual"). n
    x n CSR of distances; columns ascend in each row, and the undirected and the mutual graph are symmetric in every
    bit. Raises ValueError for another kind."""
    check_kind(kind, OF_NEIGHBORS)
    columns, distance = neighbors.index.ravel(), neighbors.distance.ravel()
    ends = np.arange(n + 1) * neighbors.K
    places = short_indices(sparse.csr_array((np.arange(1.0, columns.size + 1), columns, ends), shape=(n, n)))
    places.sort_indices()
    if kind != "directed":  # the place of a pair both ways is the same, and so is its distance
        either = sparse.csr_array(places.maximum(places.T.tocsr()))
        if kind == "mutual":
            ones = sparse.csr_array((np.ones(places.nnz), places.indices, places.indptr), shape=(n, n))
            either = sparse.csr_array(either.multiply(ones.multiply(ones.T)))
        places = either
    chosen = places.data.astype(np.int64) - 1
    return sparse.csr_array((distance[chosen], places.indices, places.indptr), shape=(n, n))


def _from_keys(keys: np.ndarray, data: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """CSR from ascending row * n + column."""
    rows, columns = np.divmod(keys, shape[1])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
    return sparse.csr_array((data, columns, indptr), shape=shape)


def close_graph(X: Any, eps: float | None, *, metric: Any = "euclidean") -> sparse.csr_array:
    """The graph of all pairs of rows at a distance of at most ``eps``; symmetric, n x n CSR of distances. Raises
    ValueError for an ``eps`` that is not a number of at least 0 and for a graph of more than 2 GiB."""
    check_any_metric(metric)
    most = check_eps(eps)
    n = X.shape[0]
    X, metric = as_cosine(X, metric)
    if metric == "precomputed" or callable(metric):
        D = all_distances(X, metric) if callable(metric) else check_distances(X)
        near = D <= most
        np.fill_diagonal(near, False)
        rows, columns = np.nonzero(near)
        return _from_keys(rows * n + columns, D[rows, columns].astype(np.float64), (n, n))
    if is_measured(metric):
        i, j, distance = pairs_within(X, most, metric)
        return _from_keys(i * np.int64(n) + j, distance, (n, n))
    i, j, distance = close_pairs(canonical(X, metric), most, metric)
    keys = np.concatenate([i * n + j, j * n + i])
    order = np.argsort(keys)
    return _from_keys(keys[order], np.concatenate([distance, distance])[order], (n, n))


def rows_within(X: Any, eps: float, *, queries: Any, metric: Any = "euclidean") -> sparse.csr_array:
    """All rows of X at a distance of at most ``eps`` from each row of ``queries``, m x n CSR of distances. Explicit
    zeros are rows at distance 0; columns ascend. X is n x n and queries m x n distances with metric="precomputed".
    Raises ValueError for an ``eps`` that is not a number of at least 0, for other columns in the queries, and for more
    than 2 GiB of pairs."""
    check_any_metric(metric)
    most = check_eps(eps)
    check_shapes(X, queries, metric)
    n = X.shape[0]
    queries = as_cosine(queries, metric)[0]
    X, metric = as_cosine(X, metric)
    if is_measured(metric):
        i, j, distance = pairs_within(X, most, metric, queries)
        return _from_keys(i * np.int64(n) + j, distance, (queries.shape[0], n))
    if metric == "precomputed":
        D = check_distances(queries, "queries")
        i, j = np.nonzero(D <= most)
        return _from_keys(i * np.int64(n) + j, D[i, j].astype(np.float64), D.shape)
    i, j, distance = close_pairs(canonical(X, metric), most, metric, canonical(queries, metric))
    keys = i * np.int64(n) + j
    order = np.argsort(keys)
    return _from_keys(keys[order], distance[order], (queries.shape[0], n))


def full_graph(X: Any, *, metric: Any = "euclidean") -> sparse.csr_array:
    """All pairs of different rows, n x n CSR of distances; refused where that takes more than 2 GiB."""
    check_any_metric(metric)
    X, metric = as_cosine(X, metric)
    n = X.shape[0]
    guard_dense((n, n), "A full graph", itemsize=20)
    if metric == "precomputed":
        D = np.asarray(check_distances(X), dtype=np.float64)
    elif is_measured(metric):
        D = all_distances(X, metric)
    else:
        D, Z = np.zeros((n, n)), canonical(X, metric)

        def work(part: slice) -> None:
            for i in range(part.start, part.stop):
                other = np.arange(i + 1, n)
                D[i, i + 1 :] = pair_distances(Z, np.full(len(other), i), Z, other, metric)

        in_threads(work, n)
        D += D.T
    columns = np.arange(1, n)[None, :] - (np.arange(n)[:, None] >= np.arange(1, n)[None, :])
    data = D[~np.eye(n, dtype=bool)]
    return sparse.csr_array((data, columns.ravel(), np.arange(n + 1) * (n - 1)), shape=(n, n))


def feature_graph(
    X: Any, kind: str, K: int = 5, eps: float | None = None, *, metric: Any = "euclidean", algorithm: Any = "exact"
) -> sparse.csr_array:
    """The graph of one of the five kinds over the rows of X, n x n CSR of distances; explicit zeros are edges.
    "undirected", "mutual" and "directed" take K (and ``algorithm``), "closeness" takes ``eps``. Raises ValueError for
    another kind, and for K or ``eps`` out of range."""
    check_kind(kind, GRAPH_KINDS)
    if kind == "full":
        return full_graph(X, metric=metric)
    if kind == "closeness":
        return close_graph(X, eps, metric=metric)
    return neighbor_graph(nearest(X, K, metric=metric, algorithm=algorithm), X.shape[0], kind)


def components(graph: Any) -> tuple[int, np.ndarray]:
    """How many connected components a graph has, and the one of each row; explicit zeros are edges."""
    pattern = sparse.csr_array((np.ones(len(graph.data)), graph.indices, graph.indptr), shape=graph.shape)
    count, label = connected_components(pattern, directed=True, connection="weak")
    return int(count), label


def sorted_edges(graph: Any) -> sparse.csr_array:
    """The graph as csr_array of float64 with sorted columns; stored zeros are kept, the caller's arrays untouched."""
    found = sparse.csr_array(graph, dtype=np.float64)
    if not found.has_sorted_indices:
        found = found.copy()
        found.sort_indices()
    return found


def edge_rows(graph: sparse.csr_array) -> np.ndarray:
    """The row of each stored entry."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))


def reversed_edges(graph: sparse.csr_array) -> np.ndarray | None:
    """Where the entry (j, i) of each entry (i, j) is stored; None where the pattern is not symmetric."""
    places = sparse.csr_array((np.arange(graph.nnz), graph.indices, graph.indptr), shape=graph.shape).T.tocsr()
    same = np.array_equal(places.indptr, graph.indptr) and np.array_equal(places.indices, graph.indices)
    return places.data if same else None


def symmetric(graph: sparse.csr_array) -> bool:
    """Whether every edge is stored both ways with the same value, bit for bit."""
    other = graph.T.tocsr()
    return all(np.array_equal(getattr(other, part), getattr(graph, part)) for part in ("indptr", "indices", "data"))


def check_eps(eps: Any) -> float:
    """The largest distance of an edge, or a ValueError where it is not a finite number of at least 0."""
    if isinstance(eps, bool) or not isinstance(eps, Real) or not 0 <= float(eps) < np.inf:
        raise ValueError(
            f"eps={eps!r} is not allowed with graph='closeness': it must be the largest distance of an edge, a finite "
            "number of at least 0."
        )
    return float(eps)


def check_kind(kind: str, allowed: tuple[str, ...], name: str = "graph") -> None:
    """A ValueError where the name of a kind is not among the allowed ones."""
    if kind not in allowed:
        raise ValueError(f"{name}={kind!r} is not allowed; choose one of {', '.join(allowed)}.")


def close_pairs(X: Any, eps: float, metric: str, queries: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, distance) of all pairs i < j of rows of X, or of rows i of ``queries`` and j of X, at a distance of at
    most ``eps``, in any order; rows are ``canonical``."""
    Q = X if queries is None else queries
    plan = plan_tiles(X, [] if queries is None else [Q], 1, metric)
    right = Side(X, np.arange(X.shape[0]), plan)
    left = right if queries is None else Side(Q, np.arange(Q.shape[0]), plan)
    most = 2.0 * eps if metric == "cosine" else min(eps * plan.factor / plan.unit, FAR) ** 2
    limit = rounded_up(np.array([most * (1.0 + NEAR) + NEAR * (metric == "cosine")]), np.dtype(plan.dtype))
    found: list[tuple[np.ndarray, ...]] = [(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))]

    def see(pair: tuple[int, int]) -> None:
        a, b = pair
        first, second = np.nonzero(tile(left, a, right, b) <= limit)
        i, j = first + left.blocks[a].start, second + right.blocks[b].start
        if queries is None:
            i, j = i[i < j], j[i < j]
        far = pair_distances(Q, i, X, j, metric)
        found.append((i[far <= eps], j[far <= eps], far[far <= eps]))
        guard_dense((sum(len(part[0]) for part in found), 2), "The list of close pairs", itemsize=12)

    with one_pool:
        pairs = [(a, b) for a in range(len(left.blocks)) for b in range(a if queries is None else 0, len(right.blocks))]
        each_in_threads(see, pairs)
    i, j, far = (np.concatenate(column) for column in zip(*found, strict=True))
    return i, j, far


DISCONNECTED = ("connect", "largest", "error")
BLOCK_ENTRIES = 1 << 22
SMALL_COMPONENT = 64


def geodesics(graph: Any, sources: np.ndarray | None = None) -> np.ndarray:
    """Lengths of the shortest paths from the sources to every row; inf if there is none.  [tenenbaum2000isomap]"""
    graph = short_indices(sorted_edges(graph))
    sources = np.arange(graph.shape[0]) if sources is None else np.asarray(sources, dtype=np.intp)
    guard_dense((len(sources), graph.shape[0]), "The geodesic distances")
    return _paths(graph, sources, symmetric(graph))


def edge_geodesics(graph: sparse.csr_array, paths: Any = None) -> np.ndarray:
    """The shortest path between the ends of each stored edge, in the order of the edges; n x n is never formed. The
    paths run along the graph ``paths``, by default along the graph itself."""
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


def _paths(graph: sparse.csr_array, sources: np.ndarray, both: bool, limit: float = np.inf) -> np.ndarray:
    """Dijkstra from each source; ``both``: the graph holds every edge both ways already. That spares the search the
    edges' other direction. It holds the interpreter's lock: threads do not help."""
    if not len(sources):
        return np.empty((0, graph.shape[0]))
    return dijkstra(graph, directed=both, indices=sources, limit=limit)


def connected(graph: Any, X: Matrix, *, how: str = "connect", metric: Any = "euclidean") -> Any:
    """A graph in one piece: with the shortest edges between its components, or its largest one.
    [tenenbaum2000isomap]"""
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


def _with_edges(graph: sparse.csr_array, i: np.ndarray, j: np.ndarray, length: np.ndarray) -> sparse.csr_array:
    """The graph with new edges, both ways; none of them may be there already."""
    values = np.concatenate([graph.data, length, length])
    rows, columns = np.concatenate([edge_rows(graph), i, j]), np.concatenate([graph.indices, j, i])
    return sparse.csr_array((values, (rows, columns)), shape=graph.shape)


def _shortest_bridges(X: Matrix, label: np.ndarray, metric: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The shortest edge out of each component but the largest, each edge once: one round of Boruvka's algorithm. Edges
    are ordered by (length, lower row, higher row), so that all rounds together give the edges that adding the shortest
    one between two components again and again gives."""
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
