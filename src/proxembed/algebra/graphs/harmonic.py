"""A Z + Z T = B for a sparse symmetric A and a small symmetric T: c shifted systems that share one sparse matrix.

In: A (n x n), T (c x c), B (n x c). With T = V diag(t) V' the columns of ZV solve (A + t_j I) g_j = (BV)_j; no
Bartels-Stewart, which is O(n^3). [bartels1972sylvester]

factor    one sparse factorisation for each distinct shift: graphs of low dimension, whose factor stays sparse
cg        conjugate gradients, Jacobi preconditioner, all columns in blocks of products: graphs whose factor fills
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.arrays.blas import each_in_threads
from proxembed.algebra.arrays.matrix import estimated_fill, factor_fits, near_order, permuted, restored, short_indices
from proxembed.algebra.pencil.symmetric import descending

from .bottom import bottom

SOLVERS = ("auto", "factor", "cg")
FACTOR_UP_TO = 400  # rows: a factor costs next to nothing
SOLVE_TOLERANCE = 1e-11  # of each column's residual, both sides scaled to unit diagonal
COLUMNS = 8  # of a block of products: results do not depend on the number of threads
# Costs in nanoseconds, measured: of a factor for each row and multiplication, of a step of cg for each entry and row.
PER_ROW, PER_MULTIPLICATION, PER_ENTRY, PER_VECTOR_ENTRY = 2000.0, 0.07, 0.6, 6.0
STEPS = 60  # of cg that an easy problem takes


@dataclass(frozen=True)
class Solved:
    """Z (n x c), the solver's name and the steps of the longest run (1 for factors)."""

    Z: np.ndarray
    solver: str
    steps: int


def sylvester(A: sparse.csr_array, T: np.ndarray, B: np.ndarray, *, solver: str = "auto") -> Solved:
    """Z with A Z + Z T = B, A + t I positive definite for every eigenvalue t of T. A : (n, n) CSR, symmetric. T : (c,
    c), symmetric. B : (n, c). Warns (ConvergenceWarning) where conjugate gradients miss the residual 1e-11 of the
    right-hand side by more than tenfold; raises ValueError where A + t I is found not to be positive definite."""
    t, V = descending(np.asarray(T, dtype=np.float64))
    found = shifted_solves(A, t, B @ V, solver=solver)
    return Solved(found.Z @ V.T, found.solver, found.steps)


def shifted_solves(A: sparse.csr_array, shifts: np.ndarray, E: np.ndarray, *, solver: str = "auto") -> Solved:
    """Columns g_j with (A + shifts_j I) g_j = E_j, positive definite; arguments as for ``sylvester``."""
    A, E = short_indices(sparse.csr_array(A, dtype=np.float64)), np.asarray(E, dtype=np.float64)
    shifts = _together(np.asarray(shifts, dtype=np.float64), float(abs(A.diagonal()).max(initial=0.0)))
    if solver == "factor" or (solver == "auto" and len(E) <= FACTOR_UP_TO):
        return _factored(A, shifts, E)
    if solver == "cg":
        return _warned(*_conjugate(A, shifts, E, 10 * len(E)), A)
    direct, step = _costs(A, shifts)
    if direct <= STEPS * step:
        return _factored(A, shifts, E)
    allowed = 10 * len(E) if np.isinf(direct) else int(STEPS + 2 * direct / step)
    found, residual = _conjugate(A, shifts, E, min(allowed, 10 * len(E)))
    if residual > 10 * SOLVE_TOLERANCE and np.isfinite(direct):
        return _factored(A, shifts, E)
    return _warned(found, residual, A)


def least_eigenvalue(A: sparse.csr_array) -> float:
    """The smallest eigenvalue of a symmetric positive semidefinite matrix, by one Lanczos call."""
    A = short_indices(sparse.csr_array(A, dtype=np.float64))
    n = A.shape[0]
    if n == 1:
        return float(A.diagonal()[0])
    if n <= FACTOR_UP_TO:
        route = "dense"
    else:
        direct, step = _costs(A, np.zeros(1))
        route = "shift-invert" if direct <= 10 * STEPS * step else "lanczos"
    return float(bottom(A, sparse.csr_array((n, 0)), 1, solver=route).eigenvalues[0])


def _together(shifts: np.ndarray, size: float) -> np.ndarray:
    """Shifts that differ by rounding alone made equal to the first of them."""
    order = np.argsort(shifts, kind="stable")
    near = 1e-14 * max(size, float(abs(shifts).max(initial=0.0)))
    group = np.cumsum(np.diff(shifts[order], prepend=-np.inf) > near) - 1
    first = shifts[order][np.concatenate([[True], np.diff(group) > 0])]
    out = np.empty_like(shifts)
    out[order] = first[group]
    return out


def _costs(A: sparse.csr_array, shifts: np.ndarray) -> tuple[float, float]:
    """Estimates for all columns: of the factorisations (inf where one would not fit), and of one step of cg."""
    n, c = A.shape[0], len(shifts)
    work, entries = estimated_fill(A)
    direct = len(np.unique(shifts)) * (PER_MULTIPLICATION * work + PER_ROW * n) + 2 * entries * c
    step = c * (PER_ENTRY * A.nnz + PER_VECTOR_ENTRY * n)
    return (direct if factor_fits(entries) else np.inf), step


def _factored(A: sparse.csr_array, shifts: np.ndarray, E: np.ndarray) -> Solved:
    """One symmetric-mode factorisation for each distinct shift, freed before the next."""
    out = np.empty_like(E)
    identity = sparse.eye_array(len(E), format="csr")
    for shift in np.unique(shifts):
        columns = np.flatnonzero(shifts == shift)
        try:
            factor = splu(
                sparse.csc_array(A + shift * identity),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                panel_size=4,
                options={"SymmetricMode": True, "Equil": False},
            )
        except RuntimeError as failure:  # a pivot of 0
            raise _indefinite(shift) from failure
        if not np.all(factor.U.diagonal() > 0):
            raise _indefinite(shift)
        out[:, columns] = factor.solve(np.ascontiguousarray(E[:, columns]))
    return Solved(out, "factor", 1)


def _indefinite(shift: float) -> ValueError:
    return ValueError(
        f"The matrix with shift {shift:.3g} is not positive definite. Use a smaller weight of the label term, or rows "
        "whose graph links each of them to a labelled one."
    )


def _warned(found: Solved, residual: float, A: sparse.csr_array) -> Solved:
    if residual > 10 * SOLVE_TOLERANCE:
        warnings.warn(
            f"Conjugate gradients stopped after {found.steps} steps on {A.shape[0]:,} rows with a residual of "
            f"{residual:.1e}, above {SOLVE_TOLERANCE:.1e}. Use more neighbours, less smoothness or solver='factor'.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found


def _conjugate(A: sparse.csr_array, shifts: np.ndarray, E: np.ndarray, limit: int) -> tuple[Solved, float]:
    """Conjugate gradients on every column, in blocks shared out among threads; also the largest true residual."""
    order = near_order(A)
    A, E = permuted(A, order), E[order]
    out = np.empty_like(E)

    def work(first: int) -> tuple[int, float]:
        some = slice(first, first + COLUMNS)
        out[:, some], steps, residual = _block(A, shifts[some], E[:, some], limit)
        return steps, residual

    steps, residuals = zip(*each_in_threads(work, range(0, E.shape[1], COLUMNS)), (1, 0.0), strict=False)
    return Solved(restored(out, order), "cg", max(steps)), float(np.max(residuals))


def _block(A: Any, shifts: np.ndarray, E: np.ndarray, limit: int) -> tuple[np.ndarray, int, float]:
    """One block of columns; a column that has converged leaves the block."""
    d = A.diagonal()[:, None] + shifts
    if not np.all(d > 0):
        raise _indefinite(float(shifts.min()))
    G, steps = np.zeros(E.shape), 0
    size = np.sqrt(np.einsum("ij,ij,ij->j", E, E, 1.0 / d))
    active, true = np.flatnonzero(size > 0), np.zeros(len(size))
    for _ in range(3):  # the recurrence drifts from the true residual: begun again from where it led
        if len(active) == 0 or steps >= limit:
            break
        some = np.ascontiguousarray(E[:, active] - A @ G[:, active] - G[:, active] * shifts[active])
        more, taken = conjugate_steps(
            A, shifts[active], d[:, active], some, SOLVE_TOLERANCE * size[active], limit - steps
        )
        G[:, active] += more
        steps += taken
        rest = E[:, active] - A @ G[:, active] - G[:, active] * shifts[active]
        true[active] = np.sqrt(np.einsum("ij,ij,ij->j", rest, rest, 1.0 / d[:, active])) / size[active]
        active = active[true[active] > 2 * SOLVE_TOLERANCE]
    return G, max(steps, 1), float(true.max(initial=0.0))


def conjugate_steps(
    A: Any, shifts: np.ndarray, d: np.ndarray, R: np.ndarray, goal: np.ndarray, limit: int
) -> tuple[np.ndarray, int]:
    """The correction for the residual block R, which is used up; columns stop when their residual is at most goal."""
    out, G = np.zeros(R.shape), np.zeros(R.shape)
    open_ = np.arange(R.shape[1])
    S = R / d
    P, rho = S.copy(), np.einsum("ij,ij->j", R, S)
    for step in range(1, limit + 1):
        Q = A @ P + P * shifts
        curvature = np.einsum("ij,ij->j", P, Q)
        if not np.all(curvature > 0):
            raise _indefinite(float(shifts[curvature <= 0].min()))
        alpha = rho / curvature
        G += P * alpha
        R -= Q * alpha
        np.divide(R, d, out=S)
        before, rho = rho, np.einsum("ij,ij->j", R, S)
        done = np.sqrt(rho) <= goal
        if done.any():
            out[:, open_[done]] = G[:, done]
            keep = np.flatnonzero(~done)
            if len(keep) == 0:
                return out, step
            open_, goal, shifts, rho, before = open_[keep], goal[keep], shifts[keep], rho[keep], before[keep]
            G, R, S, P, d = (np.ascontiguousarray(M[:, keep]) for M in (G, R, S, P, d))
        P *= rho / before
        P += S
    out[:, open_] = G
    return out, limit
