"""The stored edges of a graph: their rows, the way back, and rows that fall into blocks. Stored zeros are edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def sorted_edges(graph: Any) -> sp.csr_array:
    """The graph as csr_array of float64 with sorted columns; stored zeros are kept, the caller's arrays untouched.

    Examples
    --------
    >>> sorted_edges(sp.csr_array(([3.0, 0.0], [1, 0], [0, 2, 2]), shape=(2, 2))).data
    array([0., 3.])
    """
    found = sp.csr_array(graph, dtype=np.float64)
    if not found.has_sorted_indices:
        found = found.copy()
        found.sort_indices()
    return found


def edge_rows(graph: sp.csr_array) -> np.ndarray:
    """The row of each stored entry."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))


def reversed_edges(graph: sp.csr_array) -> np.ndarray | None:
    """Where the entry (j, i) of each entry (i, j) is stored; None where the pattern is not symmetric.

    Examples
    --------
    >>> reversed_edges(sp.csr_array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]))
    array([2, 3, 0, 1])
    """
    places = sp.csr_array((np.arange(graph.nnz), graph.indices, graph.indptr), shape=graph.shape).T.tocsr()
    same = np.array_equal(places.indptr, graph.indptr) and np.array_equal(places.indices, graph.indices)
    return places.data if same else None


def symmetric(graph: sp.csr_array) -> bool:
    """Whether every edge is stored both ways with the same value, bit for bit."""
    reverse = reversed_edges(graph)
    return reverse is not None and np.array_equal(graph.data[reverse], graph.data)
