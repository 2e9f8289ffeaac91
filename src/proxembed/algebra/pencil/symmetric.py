"""Dense symmetric kernels: eigenpairs in descending order, scaled Cholesky solves, range whitening, orthonormal polish.

What is above speaks of problems, not of LAPACK's routines.
"""

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpocon, dpotrf, dsyevd, dsygst, dtrtri
from scipy.sparse.linalg import LinearOperator, eigsh

from proxembed.algebra.arrays.blas import ALONE_BELOW, matmul, symmetrise, threads_for

RANGE_TOLERANCE = 1e-10
EVD_BELOW = 800  # up to here divide and conquer for all eigenvectors is faster than the solver for some
EVD_FEW = 10  # unless at most one in ten is wanted
EVD_SMALL = 100  # of a matrix that is not as small as this
EVD_SHARE = 3  # above EVD_BELOW it is faster if more than one in three eigenvectors is wanted
INVERSE_COLUMNS = 512  # of an inverse factor at a time
EVD_MEMORY = 8000  # above this the two further matrices of divide and conquer weigh more than its speed


class NotDefinite(linalg.LinAlgError):
    """A matrix that is not positive definite to working precision."""


def descending(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues of a symmetric matrix, descending, and their vectors, float64."""
    if len(M) >= EVD_MEMORY:
        w, V = linalg.eigh(M.T, driver="evr", check_finite=False)  # M' in LAPACK's order
    elif len(M) < ALONE_BELOW:
        with threads_for(len(M)):  # NumPy's, which releases the interpreter's lock, so that threads run several
            w, V = np.linalg.eigh(M, UPLO="U")
    else:
        w, V, info = dsyevd(M.T, lower=1)
        if info:
            raise linalg.LinAlgError(f"Divide and conquer found no eigenvalues of a {len(M)} x {len(M)} matrix.")
    return w[::-1], V[:, ::-1]


def eigenvalues(M: np.ndarray) -> np.ndarray:
    """All eigenvalues of a symmetric matrix, descending."""
    with threads_for(len(M)):
        return linalg.eigvalsh(M.T, check_finite=False)[::-1]


def top(M: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest (algebraic) eigenvalues of a symmetric matrix, descending, and their vectors."""
    w, V = top_or_all(M, k)
    return w[:k], V[:, :k]


def top_or_all(M: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """``top``, or all eigenpairs in the same order where they come at no further cost."""
    r = len(M)
    few = r >= EVD_SMALL and EVD_FEW * k <= r
    if k >= r or (r < EVD_BELOW and not few) or (EVD_SHARE * k > r and r < EVD_MEMORY):
        return descending(M)
    with threads_for(r):
        w, V = linalg.eigh(M.T, subset_by_index=(r - k, r - 1), check_finite=False)
    return w[::-1], V[:, ::-1]


def top_of_pencil(A: np.ndarray, B: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of (A, B), descending, and their B-orthonormal vectors. With B = LL' those of L^-1 A
    L^-T. Raises NotDefinite where B is not positive definite to working precision."""
    with threads_for(len(B)):
        L, refused = dpotrf(B.T, lower=1, clean=0)
        if refused:
            raise NotDefinite(f"The leading {refused} x {refused} part of B is not positive definite.")
        M, _ = dsygst(A.T, L, itype=1, lower=1)  # the lower triangle alone, which is all that the solvers look at
        w, U = top(M.T, min(k, len(A)))
        return w, dtrsm(1.0, L, U, lower=1, trans_a=1)


def lanczos(
    product: Callable[[np.ndarray], np.ndarray], size: int, k: int, tol: float = 1e-11
) -> tuple[np.ndarray, np.ndarray]:
    """The k largest (algebraic) eigenpairs of a symmetric operator, descending; a fixed start makes it repeatable. The
    operator is taken over a power of two of about its size: to ARPACK, eigenvalues below 1e-10 have all converged."""
    start = np.random.default_rng(0).standard_normal(size)
    reached = linalg.norm(product(start)) / linalg.norm(start)
    if reached == 0.0:  # of the zero operator, which ARPACK refuses
        return np.zeros(k), np.eye(size, k)
    unit = 2.0 ** np.frexp(reached)[1]
    op = LinearOperator((size, size), matvec=lambda v: product(np.ravel(v)) / unit, dtype=np.float64)
    w, V = eigsh(op, k=k, which="LA", v0=start, tol=tol, ncv=min(size, max(2 * k + 1, k + 20)), maxiter=40)
    order = np.argsort(w)[::-1]
    return w[order] * unit, V[:, order]


def numerical_rank(M: np.ndarray) -> int:
    """The number of eigenvalues of a positive semidefinite matrix above 1e-10 times the largest."""
    w = eigenvalues(M)
    return int(np.count_nonzero(w > RANGE_TOLERANCE * max(w[0], 0.0))) if w[0] > 0 else 0


class SPD:
    """A symmetric positive definite M + shift I, factorised after scaling to unit diagonal. ``ok``: whether it is
    one; ``full``: whether it is so far from singular that rounding, which coordinates of different size enlarge, cannot
    have made it so; ``least``: an estimate of its least eigenvalue, seldom more than ten times as large, 0 where it is
    not definite."""

    def __init__(self, M: np.ndarray, shift: float = 0.0):
        d = np.sqrt(np.maximum(np.diag(M) + shift, 0.0))
        self.inverse_scale = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
        scaled = M * self.inverse_scale[:, None]
        scaled *= self.inverse_scale[None, :]
        np.fill_diagonal(scaled, np.where(d > 0, 1.0, 0.0))
        scaled = scaled.T  # symmetric, and in LAPACK's order
        norm = linalg.norm(scaled, 1, check_finite=False)
        try:
            with threads_for(len(M)):
                self.factor = linalg.cholesky(scaled, lower=True, overwrite_a=True, check_finite=False)
                rcond, info = dpocon(self.factor, norm, uplo="L")
        except linalg.LinAlgError:
            rcond, info = 0.0, 0
        self.ok = info == 0 and rcond > 1e-13
        self.full = info == 0 and rcond > RANGE_TOLERANCE
        self.least = float(rcond * norm * d.min(initial=np.inf) ** 2) if self.ok else 0.0

    def solve(self, E: np.ndarray) -> np.ndarray:
        """M^-1 E."""
        scaled = E * self.inverse_scale[:, None]
        with threads_for(len(scaled)):
            return linalg.cho_solve((self.factor, True), scaled, check_finite=False) * self.inverse_scale[:, None]

    def whiten(self) -> np.ndarray:
        """C with C'MC = I."""
        with threads_for(len(self.factor)):
            inverse, info = dtrtri(self.factor, lower=1)  # a third of the operations of a solution for all columns of I
        if info:
            raise linalg.LinAlgError(f"The Cholesky factor has a zero at diagonal {info - 1}: it has no inverse.")
        inverse *= self.inverse_scale[None, :]
        return inverse.T

    def inverse_diagonal(self) -> np.ndarray:
        """The diagonal of M^-1: squared sums of the columns of the inverse factor, some columns at a time, each solved
        below its diagonal alone."""
        L, n = self.factor, len(self.factor)
        found = np.empty(n)
        with threads_for(n):
            for first in range(0, n, INVERSE_COLUMNS):
                columns = np.eye(n - first, min(INVERSE_COLUMNS, n - first))
                for start in range(first, n, INVERSE_COLUMNS):
                    rows, above = slice(start, start + INVERSE_COLUMNS), slice(first, start)
                    own = columns[start - first : start - first + INVERSE_COLUMNS]
                    own -= L[rows, above] @ columns[: start - first]
                    own[:] = linalg.solve_triangular(L[rows, rows], own, lower=True, check_finite=False)
                found[first : first + columns.shape[1]] = np.einsum("ij,ij->j", columns, columns)
        return found * self.inverse_scale**2


def range_basis(M: np.ndarray, tol: float = RANGE_TOLERANCE) -> np.ndarray:
    """C with C'MC = I on the range of a positive semidefinite M (eigenvalues above tol times the largest)."""
    w, V = descending(M)
    keep = w > tol * max(w[0], 0.0) if len(w) and w[0] > 0 else np.zeros(len(w), dtype=bool)
    return V[:, keep] / np.sqrt(w[keep])


def pseudo_inverse(M: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """(M + ridge I)^+ of a positive semidefinite M: eigenvalues of M up to 1e-10 times the largest are dropped."""
    w, V = descending(M)
    keep = w > RANGE_TOLERANCE * max(w[0], 0.0)
    return (V[:, keep] / (w[keep] + ridge)) @ V[:, keep].T


def solve_linear(M: np.ndarray, E: np.ndarray) -> np.ndarray:
    """M^-1 E of a small square M."""
    return linalg.solve(M, E, assume_a="gen", check_finite=False)


def orthonormalise(P: np.ndarray, BP: np.ndarray) -> np.ndarray:
    """P L^-T with P'BP = LL': the B-orthonormal columns with the same leading spans."""
    return orthonormalise_by(P, matmul(P.T, BP))


def orthonormalise_by(P: np.ndarray, N: np.ndarray) -> np.ndarray:
    """P L^-T with N = LL', the inner products of the columns (overwritten)."""
    with threads_for(len(N)):
        L = linalg.cholesky(symmetrise(N), lower=True, check_finite=False)
    return linalg.solve_triangular(L, P.T, lower=True, check_finite=False).T


def orthonormal_factors(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q and R with P = QR."""
    return linalg.qr(P, mode="economic", check_finite=False)


def orthonormal_columns(P: np.ndarray) -> np.ndarray:
    """The Q factor of P, with the sign of each column kept."""
    Q, R = linalg.qr(P, mode="economic", check_finite=False)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * signs


def fix_signs(P: np.ndarray) -> np.ndarray:
    """Each column flipped so that its entry of largest absolute value (the first of equals) is positive."""
    return P if P.shape[1] == 0 else P * lead_signs(P)


def lead_signs(Z: np.ndarray) -> np.ndarray:
    """The sign of each column's entry of largest absolute value (the first of equals): +1 or -1."""
    size = np.abs(Z)
    lead = np.argmax(size >= size.max(axis=0) * (1 - 1e-9), axis=0)
    return np.where(Z[lead, np.arange(Z.shape[1])] < 0, -1.0, 1.0)
