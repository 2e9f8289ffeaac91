"""Which rows have a path to a labelled one, along the directed edges of a neighbour graph."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

NO_EDGE = 1e-12


def neighbour_pattern(index: np.ndarray, weights: np.ndarray | None = None) -> sparse.csr_array:
    """The edges from each row to its neighbours, n x n CSR of ones; those of weight 0 left out where weights are given.

    >>> neighbour_pattern(np.array([[1], [0]]), np.array([[1.0], [0.0]])).toarray().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    n, K = index.shape
    kept = np.ones(index.shape, dtype=bool) if weights is None else np.abs(weights) > NO_EDGE
    ends = np.append(0, np.cumsum(kept.sum(axis=1)))
    return sparse.csr_array((np.ones(ends[-1]), index[kept], ends), shape=(n, n))


def reaches(edges: sparse.csr_array, labelled: np.ndarray) -> np.ndarray:
    """True for rows with a path along the edges to a labelled row, and for these; one search against the edges.

    >>> edges = sparse.csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> reaches(edges, np.array([True, False, False])).tolist()
    [True, False, False]
    >>> reaches(edges, np.array([False, False, True])).tolist()
    [True, True, True]
    """
    n = edges.shape[0]
    roots = np.flatnonzero(labelled)
    back = sparse.csr_array(edges.T)
    indptr = np.append(back.indptr, back.indptr[-1] + len(roots))
    graph = sparse.csr_array(
        (np.ones(indptr[-1]), np.append(back.indices, roots), indptr), shape=(n + 1, n + 1)
    )  # one more node, linked to all labelled rows
    found = breadth_first_order(graph, n, directed=True, return_predecessors=False)
    out = np.zeros(n + 1, dtype=bool)
    out[found] = True
    return out[:n]
