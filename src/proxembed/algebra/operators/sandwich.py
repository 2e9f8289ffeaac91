"""X'WX of a sparse symmetric W, and its trace: what every graph method asks of its rows, some at a time.

In: a sparse matrix and rows as they are centred. Out: a d x d array. W = H + H' with H the upper half, so that
X'WX = S + S' with S = X'HX: half of the sparse product, and nothing of size n x d beside X.
"""

from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import by_columns, in_order, in_threads, one_pool, symmetrise
from proxembed.algebra.arrays.centred import EPS, CentredMatrix, block_rows

BLOCK_BYTES = 32 << 20  # of columns of sparse X as a dense array
COPY_BYTES = 512 << 20  # of columns of dense X, in float64 and centred
NARROW, WIDE = 16, 256
PARTS = 8
ENTRIES = 1 << 24  # of HX at a time, as a sparse matrix
SPARSE_COST = 6.0  # what a multiplication of two sparse matrices costs, in multiplications of a sparse and a dense one


def sparse_sandwich(W: sparse.csr_array, rows: CentredMatrix) -> np.ndarray:
    """X'WX of the centred rows, d x d, exactly symmetric."""
    H = upper_half(W)
    if not rows.sparse:
        S = _by_rows(H, rows)
    else:
        S = _by_sparse_products(H, rows) if _mostly_zero(H, rows.X) else _by_columns(H, rows)
    S *= 2.0
    return symmetrise(S)


def edge_trace(W: sparse.csr_array, X: CentredMatrix) -> float:
    """tr(X'WX) = sum_ij w_ij x_i'x_j of centred rows."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if not X.sparse:
        total = 0.0
        for part, near in X.blocks():
            far = W[part] @ X.X
            total += float(np.vdot(near, far if X.mean is None else far - np.outer(degrees[part], X.mean)))
        return total
    total, step = 0.0, block_rows(X.shape[1])
    for start in range(0, X.shape[0], step):
        total += float(X.X[start : start + step].multiply(W[start : start + step] @ X.X).sum())
    if X.mean is None:
        return total
    sums = np.asarray(X.X.T @ degrees).ravel()
    return total - 2 * float(X.mean @ sums) + float(X.mean @ X.mean) * float(degrees.sum())


def upper_half(W: sparse.csr_array) -> sparse.csr_array:
    """H with W = H + H': the entries above the diagonal, and half of the diagonal."""
    H = sparse.csr_array(sparse.triu(W, 1, format="csr"))
    diagonal = W.diagonal() / 2.0
    return sparse.csr_array(H + sparse.diags_array(diagonal)) if diagonal.any() else H


def _by_rows(H: sparse.csr_array, rows: CentredMatrix) -> np.ndarray:
    """X'HX of dense X: rows of HX some at a time, each used while it is in the cache."""
    n, d = rows.shape
    step, width = block_rows(d), int(np.clip(COPY_BYTES // (8 * max(n, 1)), NARROW, d))
    S = np.zeros((d, d))
    for start in range(0, d, width):
        part = slice(start, start + width)
        columns = _centred_columns(rows, part)

        def product(first: int, columns: np.ndarray = columns) -> np.ndarray:
            some = slice(first, first + step)
            here = columns[some] if width == d else _centred_columns(rows.take(some), slice(None))
            return here.T @ (H[some] @ columns)

        with one_pool:
            for found in in_order(product, range(0, n, step)):
                S[:, part] += found
    return S


def _centred_columns(rows: CentredMatrix, part: slice) -> np.ndarray:
    """Columns of dense X, float64, row by row in memory."""
    columns = rows.X[:, part].astype(np.float64, order="C", copy=False)
    return columns if rows.mean is None else columns - rows.mean[part]


def _by_columns(H: sparse.csr_array, rows: CentredMatrix) -> np.ndarray:
    """X'HX of sparse X through dense blocks of its columns."""
    n, d = rows.shape
    width = int(np.clip(BLOCK_BYTES // (8 * max(n, 1)), NARROW, WIDE))
    X, S = sparse.csc_array(rows.X), np.empty((d, d))
    for start in range(0, d, width):
        part = slice(start, min(start + width, d))
        columns = X[:, part].toarray(order="C").astype(np.float64, copy=False)
        if rows.mean is not None:
            columns -= rows.mean[part]
        S[:, part] = rows.tdot(by_columns(H, columns))
    return S


def _mostly_zero(H: sparse.csr_array, X: Any) -> bool:
    """Whether products of sparse matrices are cheaper than those with dense columns of X."""
    stored = np.diff(X.indptr)
    products = float(stored @ np.minimum(_pattern_product(H, stored), X.shape[1]))
    return SPARSE_COST * products < float(H.nnz + X.nnz) * X.shape[1]


def _pattern_product(H: sparse.csr_array, stored: np.ndarray) -> np.ndarray:
    """A bound on the stored entries of each row of HX."""
    return sparse.csr_array((np.ones(H.nnz), H.indices, H.indptr), shape=H.shape) @ stored


def _by_sparse_products(H: sparse.csr_array, rows: CentredMatrix) -> np.ndarray:
    """X'HX through sparse products, the mean put right afterwards. HX is made for some rows at a time; threads share
    out the rows of X', so that no two products of the size of the result are added as sparse matrices."""
    X = sparse.csr_array(rows.X, dtype=np.float64)
    n, d = X.shape
    entries = int(_pattern_product(H, np.diff(X.indptr)).sum())
    step, S = -(-n // -(-max(entries, 1) // ENTRIES)), np.zeros((d, d))
    for start in range(0, n, step):
        some = slice(start, start + step)
        left, right = sparse.csr_array(X[some].T), H[some] @ X

        def work(part: slice, left: Any = left, right: Any = right) -> None:
            S[part] += (left[part] @ right).toarray()

        in_threads(work, d, -(-d // PARTS))
    ones, size = np.ones(n), abs(H)
    after, before = H @ ones, H.T @ ones
    if rows.mean is None or np.all(abs(after + before) <= 8 * EPS * (size @ ones + size.T @ ones)):
        return S  # W1 = 0, as of a Laplacian: what the mean adds to S + S' is zero
    S -= np.outer(X.T @ after, rows.mean)
    S -= np.outer(rows.mean, X.T @ before - rows.mean * H.sum())
    return S
