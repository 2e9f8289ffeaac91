"""Reconstruction weights of LLE: each row as an affine combination of its neighbours, and (I - W)'(I - W)."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.blas import in_threads, one_pool
from proxembed.algebra.arrays.matrix import Matrix, solve_batch

from .distances import extreme_powers

BLOCK_ENTRIES = 1 << 18
SINGULAR = 1e13


def reconstruction_weights(X: Matrix, index: np.ndarray, *, reg: float = 1e-3, queries: Matrix = None) -> np.ndarray:
    """Reconstruction weights of neighbours: min ||x_i - sum_j w_ij x_j||, sum_j w_ij = 1. [roweis2000lle] G w = 1 with
    G = (x_j - x_i)'(x_l - x_i) + reg tr(G) I, then w over its sum. Equal weights where all neighbours coincide with the
    row."""
    reg = _checked_reg(reg)
    rows = X if queries is None else sp.csr_array(queries) if sp.issparse(X) else queries
    m, K = index.shape
    if K == 0:
        return np.empty((m, 0))
    if reg == 0 and K > X.shape[1]:
        raise _singular(reg, K, X.shape[1])
    weights = np.empty((m, K))

    def work(part: slice) -> None:
        G, _ = local_grams(X, rows[part], index[part])
        weights[part] = affine_weights(G, reg, X.shape[1])

    block = rows_a_block(X, K)
    with one_pool:
        in_threads(work, m, block, max(1, block // 8))
    return weights


def local_grams(X: Matrix, rows: Matrix, index: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(x_j - x_i)'(x_l - x_i) of a block of rows x_i and their neighbours among X's rows, b x K x K float64. Also the
    powers p by which the differences of each row were divided (2^p) where their squares leave the range of numbers;
    None: by none."""
    return (_sparse_gram if sp.issparse(X) else _dense_gram)(X, rows, index)


def reconstruction_matrix(index: np.ndarray, weights: np.ndarray, n: int) -> sp.csr_array:
    """The weights as a sparse n x n matrix W, w_ij at the neighbours of row i."""
    m, K = index.shape
    data, columns = np.ravel(weights).astype(np.float64), np.array(index).ravel()  # a copy: it is sorted in place
    W = sp.csr_array((data, columns, np.arange(m + 1) * K), shape=(m, n))
    W.sort_indices()
    return W


def residual_matrix(W: sp.csr_array, weights: np.ndarray | None = None) -> sp.csr_array:
    """M = (I - W)' diag(weights) (I - W), z'Mz the weighted reconstruction error of z. [roweis2000lle] A row of W
    without entries has no neighbours and gives no term (not z_i^2)."""
    has = (np.diff(W.indptr) > 0).astype(np.float64)
    residual = sp.csr_array(sp.diags_array(has) - W)
    weighted = residual if weights is None else sp.csr_array(sp.diags_array(np.asarray(weights)) @ residual)
    M = sp.csr_array(residual.T @ weighted)
    M.sort_indices()
    return M


def _checked_reg(reg: Any) -> float:
    if isinstance(reg, bool) or not isinstance(reg, int | float | np.number) or not 0 <= reg < np.inf:
        raise ValueError(f"reg={reg!r} is out of range: a finite number of at least 0 is needed, usually 1e-3.")
    return float(reg)


def rows_a_block(X: Matrix, K: int) -> int:
    """Rows whose differences, and whose columns where they are sparse, keep to ``BLOCK_ENTRIES``."""
    n, d = X.shape
    width = 2 * X.nnz // n + 1 if sp.issparse(X) else d
    most = BLOCK_ENTRIES // (K * max(K, width))
    return max(1, min(most, BLOCK_ENTRIES // d) if sp.issparse(X) else most)


def _dense_gram(X: np.ndarray, rows: Matrix, index: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """``local_grams`` from dense differences; weights from one Gram matrix do not depend on its power."""
    rows = rows.toarray() if sp.issparse(rows) else rows
    with np.errstate(over="ignore"):
        difference = X[index].astype(np.float64, copy=False) - rows[:, None, :]
    power = _powers(np.abs(difference).max(axis=(1, 2), initial=0.0))
    if power is not None:
        difference = np.ldexp(difference, -power[:, None, None])
    return difference @ difference.transpose(0, 2, 1), power


def _sparse_gram(X: sp.csr_array, rows: sp.csr_array, index: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The same from sparse differences; each row's lie in columns of their own, so one product gives all blocks."""
    b, K = index.shape
    d = X.shape[1]
    owner = np.repeat(np.arange(b), K)
    with np.errstate(over="ignore"):
        D = sp.csr_array(X[index.ravel()].astype(np.float64) - rows[owner].astype(np.float64))
    entry = np.repeat(owner, np.diff(D.indptr))
    top = np.zeros(b)
    np.maximum.at(top, entry, np.abs(D.data))
    power = _powers(top)
    if power is not None:
        D.data = np.ldexp(D.data, -power[entry])
    columns = D.indices + entry.astype(np.int64) * d
    D = sp.csr_array((D.data, columns, D.indptr), shape=(b * K, b * d))
    product = sp.coo_array(D @ D.T)
    G = np.zeros((b, K, K))
    G[product.row // K, product.row % K, product.col % K] = product.data
    return G, power


def _powers(top: np.ndarray) -> np.ndarray | None:
    """Powers of two by which to divide the differences of each row, from their largest values; None: by none."""
    if not np.isfinite(top).all():
        raise ValueError("The differences of neighbours overflow: scale X.")
    return extreme_powers(top)


def affine_weights(G: np.ndarray, reg: float, d: int) -> np.ndarray:
    """w of (G + reg tr(G) I) w = 1 over its sum, for each matrix of a batch, b x K x K, which is overwritten. Equal
    weights where G = 0. Raises ValueError where a system is singular; d, the features, is for the message."""
    b, K, _ = G.shape
    trace = np.einsum("ikk->i", G)
    coincide = trace == 0
    G /= np.where(coincide, 1.0, trace)[:, None, None]
    diagonal = np.einsum("ikk->ik", G)
    diagonal += reg
    diagonal[coincide] = 1.0
    found, regular = solve_batch(G, np.ones((b, K)))
    total = found.sum(axis=1)
    if not regular or not np.isfinite(found).all() or (total == 0).any() or (reg == 0 and _nearly_singular(G)):
        raise _singular(reg, K, d)
    return found / total[:, None]


def _nearly_singular(G: np.ndarray) -> bool:
    """Whether a matrix of trace 1 is singular up to rounding: whether a solution grows beyond all digits."""
    b, K, _ = G.shape
    found, regular = solve_batch(G, np.tile(np.random.default_rng(0).standard_normal(K), (b, 1)))
    return not regular or bool(np.abs(found).max(initial=0.0) > SINGULAR)


def _singular(reg: float, K: int, d: int) -> ValueError:
    return ValueError(
        f"reg={reg!r} leaves a singular system for the reconstruction from {K} neighbours in {d} features: "
        "use reg > 0, usually 1e-3."
    )
