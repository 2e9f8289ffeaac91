"""Dense products through scipy's BLAS alone.

numpy and scipy each carry a BLAS with a pool of threads; the idle pool spins for milliseconds after every product and
holds up the other. The factorisations are scipy's, so the products that feed them go the same way. No operand is
copied as long as it is contiguous in either order. Empty operands never reach BLAS, which takes them for errors.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import daxpy, ddot, dgemm, dgemv, dnrm2, dsyrk

TILE = 256


def matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B, float64, in C order; B is a matrix or a vector."""
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape[0]:,} x {A.shape[1]:,} matrix cannot be multiplied with {B.shape[0]:,} rows.")
    if 0 in (*A.shape, *B.shape):
        return np.zeros((len(A), *B.shape[1:]))
    if B.ndim == 1:
        a, transposed = fortran_operand(A)
        return dgemv(1.0, a, B, trans=1 - transposed)
    a, ta = fortran_operand(B)
    b, tb = fortran_operand(A)
    return dgemm(1.0, a, b, trans_a=ta, trans_b=tb).T


def add_product(total: np.ndarray, c: float, A: np.ndarray, B: np.ndarray) -> None:
    """total += c A B in place; total is float64 in C order."""
    if 0 in (*A.shape, *B.shape):
        return
    a, ta = fortran_operand(B)
    b, tb = fortran_operand(A)
    dgemm(c, a, b, beta=1.0, c=total.T, trans_a=ta, trans_b=tb, overwrite_c=1)


def add_symmetric(total: np.ndarray, c: float, M: np.ndarray) -> None:
    """total += c M in place for a symmetric M in either order; total is float64 in C order."""
    if M.size:
        daxpy(np.asarray(M, dtype=np.float64).ravel(order="K"), total.reshape(-1), a=c)


def symmetrise(M: np.ndarray) -> np.ndarray:
    """(M + M') / 2 in place, tile by tile."""
    for start in range(0, len(M), TILE):
        rows = slice(start, start + TILE)
        for other in range(0, start + 1, TILE):
            columns = slice(other, other + TILE)
            M[rows, columns] += M[columns, rows].T
            M[rows, columns] *= 0.5
            M[columns, rows] = M[rows, columns].T
    return M


def frobenius(M: np.ndarray) -> float:
    """The root of the sum of all squares, none of which can overflow."""
    return float(dnrm2(M.ravel(order="K"))) if M.size else 0.0


def gram(X: np.ndarray) -> np.ndarray:
    """X'X, half the work of a product."""
    if X.size == 0:
        return np.zeros((X.shape[1],) * 2)
    a, transposed = fortran_operand(X)
    return symmetric_from_lower(dsyrk(1.0, a, trans=transposed, lower=1))


def add_gram(total: np.ndarray, c: float, X: np.ndarray) -> None:
    """total += c X'X in place, on the lower triangle alone; total is float64 in Fortran order."""
    if X.size:
        a, transposed = fortran_operand(X)
        dsyrk(c, a, beta=1.0, c=total, trans=transposed, lower=1, overwrite_c=1)


def squared_length(x: np.ndarray) -> float:
    """x'x of a float64 vector."""
    return float(ddot(x, x)) if x.size else 0.0


def symmetric_from_lower(G: np.ndarray) -> np.ndarray:
    """The symmetric matrix whose lower triangle is stored in G (which is overwritten)."""
    for start in range(0, len(G), TILE):
        stop = start + TILE
        G[start:stop, stop:] = G[stop:, start:stop].T
        block = G[start:stop, start:stop]
        lower = np.tril(block, -1)
        block[:] = lower + lower.T + np.diag(np.diag(block))
    return G


def fortran_operand(M: np.ndarray) -> tuple[np.ndarray, int]:
    """(a, t) with op_t(a) = M' and a in Fortran order: M' itself (t = 0), or M to be transposed (t = 1)."""
    if M.flags.f_contiguous and not M.flags.c_contiguous:
        return M, 1
    return np.ascontiguousarray(M).T, 0
