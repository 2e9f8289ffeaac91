"""What a sparse factor costs before it is made: multiplications and entries, whether it fits, indices that it takes."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from .guard import MAX_DENSE_BYTES

ENTRY_BYTES = 24  # of a factor: value and row number, below and above the diagonal
Compressed = TypeVar("Compressed", sparse.csr_array, sparse.csc_array)


def factor_fits(entries: float) -> bool:
    """Whether a factor with this number of entries in one half of it fits in memory.

    >>> factor_fits(1e6), factor_fits(1e12)
    (True, False)
    """
    return ENTRY_BYTES * entries <= 4 * MAX_DENSE_BYTES


def short_indices(A: Compressed) -> Compressed:
    """The matrix with 32-bit indices where they reach, as SuperLU and older releases' shortest paths need; one that has
    them already as it is.

    >>> wide = sparse.csr_array((np.ones(1), np.zeros(1, np.int64), np.array([0, 1], np.int64)), shape=(1, 1))
    >>> short_indices(wide).indices.dtype
    dtype('int32')
    """
    if A.indices.dtype == np.int32 or max(A.nnz, *A.shape) >= 2**31:
        return A
    return type(A)((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)


def fill(M: sparse.csr_array, null: sparse.csr_array) -> tuple[float, float, int]:
    """Estimates from breadth-first levels: multiplications for a factor of M, its entries, and the number of levels.

    One search from the first row of each component; a factor in the order of the levels is made of blocks as wide as
    these are.
    """
    columns = null.tocsc()
    roots = columns.indices[columns.indptr[:-1]]
    label = np.zeros(M.shape[0], dtype=np.int64)
    label[columns.indices] = np.repeat(np.arange(null.shape[1]), np.diff(columns.indptr))
    pattern = short_indices(sparse.csr_array((np.ones(M.nnz), M.indices, M.indptr), shape=M.shape))
    distance = dijkstra(pattern, unweighted=True, indices=roots, min_only=True)
    level = np.where(np.isfinite(distance), distance, 0.0).astype(np.int64)
    levels = int(level.max(initial=0)) + 1
    widths = np.bincount(label * levels + level).astype(np.float64)
    return float(np.sum(widths**3)), float(1.5 * np.sum(widths**2)), levels


def estimated_fill(A: sparse.csr_array) -> tuple[float, float]:
    """Multiplications for a factor of A, its pattern taken as symmetric, and the entries of one half of the factor.

    >>> estimated_fill(sparse.csr_array(np.eye(3)))
    (3.0, 4.5)
    """
    n = A.shape[0]
    count, label = connected_components(A, directed=False)
    work, entries, _ = fill(A, sparse.csr_array((np.ones(n), (np.arange(n), label)), shape=(n, count)))
    return work, entries
