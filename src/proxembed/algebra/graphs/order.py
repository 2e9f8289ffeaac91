"""Orders of the rows of a graph, in which linked rows are near each other, and what a sparse factor costs before
it is made: multiplications, entries and whether it fits in memory."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra, reverse_cuthill_mckee

from proxembed.algebra.arrays.matrix import MAX_DENSE_BYTES, short_indices

ORDERED_FROM = 20_000  # rows: vectors of fewer stay in the cache in any order
# Mean number of links of the row at the end of a link: ordering takes time quadratic in the links of each row.
MOST_LINKS = 400
ENTRY_BYTES = 24  # of a factor: value and row number, below and above the diagonal


def near_order(M: sparse.csr_array) -> np.ndarray:
    """The reverse Cuthill-McKee order of the rows of a symmetric sparse matrix.  [cuthill1969bandwidth]

    In this order most links of a row lead to rows near it: a product with a graph of 500,000 rows in arbitrary order
    takes a third of the time. The rows of a graph component are consecutive. The given order is returned if the matrix
    has few rows, if ordering would take longer than it saves (rows with very many links), and from 2^31 links on.
    """
    links = np.diff(M.indptr).astype(np.float64)
    if M.shape[0] < ORDERED_FROM or links @ links > MOST_LINKS * M.nnz or M.nnz >= 2**31:
        return np.arange(M.shape[0])
    return np.asarray(reverse_cuthill_mckee(sparse.csr_matrix(short_indices(M)), symmetric_mode=True))


def permuted(M: sparse.csr_array, order: np.ndarray) -> sparse.csr_array:
    """M[order][:, order], its columns ascending; M itself where nothing changes places."""
    if np.array_equal(order, np.arange(len(order))):
        return M
    moved = sparse.csr_array(M[order][:, order])
    moved.sort_indices()
    return moved


def restored(Z: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows that were found in an order, each in its own place."""
    out = np.empty_like(Z)
    out[order] = Z
    return out


def factor_fits(entries: float) -> bool:
    """Whether a factor with this number of entries in one half of it fits in memory."""
    return ENTRY_BYTES * entries <= 4 * MAX_DENSE_BYTES


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
    """Multiplications for a factor of A, its pattern taken as symmetric, and the entries of one half of the factor."""
    n = A.shape[0]
    count, label = connected_components(A, directed=False)
    work, entries, _ = fill(A, sparse.csr_array((np.ones(n), (np.arange(n), label)), shape=(n, count)))
    return work, entries
