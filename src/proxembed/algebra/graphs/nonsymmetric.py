"""A Z = B for a sparse nonsymmetric A near the identity, such as I - W + diag(b): all columns of B at once.

factor     one sparse LU factorisation
bicgstab   stabilised biconjugate gradients on an incomplete LU factor, all columns in blocks  [vandervorst1992bicgstab]
ilu        GMRES on an incomplete LU factor of more entries, column by column  [saad1986gmres]
normal     (A'A + 1e-8 I) Z = A'B by conjugate gradients, where all others fail
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, gmres, spilu, splu
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.arrays.blas import each_in_threads
from proxembed.algebra.arrays.matrix import estimated_fill, factor_fits, short_indices

from .harmonic import conjugate_steps, shifted_solves

SOLVERS = ("auto", "factor", "bicgstab", "ilu")
FACTOR_UP_TO = 600  # rows: a factor costs next to nothing
FACTOR_AFTER_ALL = 10_000  # rows up to which the factor of A'A fits in memory, were it half full
# Multiplications of a factor, measured, that take as long as a step of bicgstab for a row and column; steps of an easy
# system; multiplications that take as long as the set-up of ilu.
PER_STEP, EASY_STEPS, LONG = 600.0, 10, 1e11
COLUMN_TOLERANCE = 1e-9  # of each column's residual
ACCEPTED = 1e-6
RIDGE = 1e-8
COLUMNS = 8  # of a block of products: results do not depend on the number of threads
STEPS, CONJUGATE_STEPS = 1000, 5000
DROPPED, KEPT = 0.1, 5  # entries below this share of their column leave the factor, which grows to this many times A's
RESTARTS = 5
LOOSE, LOOSE_STEPS = 1e-3, 60  # of a solve that is a preconditioner itself


@dataclass(frozen=True)
class Solved:
    """Z (n x c), the solver's name, the steps of the longest run and the largest relative residual of a column."""

    Z: np.ndarray
    solver: str
    steps: int
    residual: float


def solve(
    A: sparse.csr_array, B: np.ndarray, *, start: np.ndarray | None = None, solver: str = "auto", first: str = ""
) -> Solved:
    """Z with A Z = B. A : (n, n) CSR. B : (n, c). start : (n, c), where iterations begin. solver : "auto" takes a
    factor where it is estimated to cost no more than some steps of bicgstab, else bicgstab for as many steps as a
    factor would pay for, and goes on to the next route where a residual stays above 1e-6 of the right-hand side; warns
    (ConvergenceWarning) where none gets there. first : a route that "auto" begins with, such as the one that solved a
    system like this."""
    B = np.asarray(B, dtype=np.float64)
    n = len(B)
    if n == 0:
        return Solved(np.zeros(B.shape), "none", 0, 0.0)
    start = np.zeros(B.shape) if start is None else np.asarray(start, dtype=np.float64)
    routes, limit = _routes(A, B.shape[1], first) if solver == "auto" else ([solver], STEPS)
    best = Solved(start, routes[0], 0, np.inf)
    for route in routes:
        Z, steps = ROUTES[route](A, B, start, limit)
        found = Solved(Z, route, steps, _residual(A, B, Z))
        best = found if not found.residual >= best.residual else best
        if best.residual <= ACCEPTED:
            return best
    _warn_inexact(best, n)
    return best


def _routes(A: sparse.csr_array, c: int, first: str) -> tuple[list[str], int]:
    """The routes in the order of their estimated cost for c columns, and the steps of bicgstab at most."""
    n = A.shape[0]
    work = factor_work(A)
    step = PER_STEP * n * max(c, 1)
    limit = int(min(STEPS, EASY_STEPS + 2 * work / step))
    if n <= FACTOR_UP_TO or work <= EASY_STEPS * step:
        routes = ["factor", "normal"]
    elif work <= LONG:
        routes = ["bicgstab", "factor", "ilu", "normal"]
    else:
        routes = ["bicgstab", "ilu", *["factor"] * bool(np.isfinite(work)), "normal"]
    return list(dict.fromkeys([first, *routes] if first in ROUTES else routes)), limit


def factor_work(A: sparse.csr_array) -> float:
    """The multiplications that a factor of A is estimated to take; infinite where it would not fit in memory."""
    work, entries = estimated_fill(sparse.csr_array(abs(A) + abs(A.T)))
    return work if factor_fits(entries) else np.inf


def _warn_inexact(found: Solved, n: int) -> None:
    warnings.warn(
        f"A system of {n:,} rows was solved by {found.solver} with a residual of {found.residual:.1e}, above "
        f"{ACCEPTED:.0e}: it is nearly singular. Use nonnegative weights, a larger reg or more neighbours.",
        ConvergenceWarning,
        stacklevel=3,
    )


def _residual(A: Any, B: np.ndarray, Z: np.ndarray) -> float:
    """The largest residual of a column over its right-hand side; infinite where Z is not finite."""
    if not np.isfinite(Z).all():
        return np.inf
    size = np.linalg.norm(B, axis=0)
    return float(np.max(np.linalg.norm(B - A @ Z, axis=0) / np.where(size > 0, size, 1.0), initial=0.0))


def _factor(A: Any, B: np.ndarray, start: np.ndarray, limit: int) -> tuple[np.ndarray, int]:
    try:
        return factorised(A).solve(np.ascontiguousarray(B)), 1
    except RuntimeError as failure:
        if "singular" not in str(failure):
            raise
        return np.full(B.shape, np.nan), 1


def factorised(A: Any) -> Any:
    """SuperLU's factor of A; RuntimeError ("singular") where a pivot is 0."""
    return splu(_columns(A), permc_spec="COLAMD")


def _columns(A: Any) -> sparse.csc_array:
    """CSC of float64 with 32-bit indices where they reach: SuperLU takes no others."""
    return short_indices(sparse.csc_array(A, dtype=np.float64))


class Incomplete:
    """An incomplete LU factor of A: rows that many others are rebuilt from come last, and pivots stay on the diagonal.
    Without the two, dropped entries make it singular, or it fills. RuntimeError ("singular") where a pivot is 0."""

    def __init__(self, A: sparse.csr_array, dropped: float = DROPPED):
        A = sparse.csr_array(A)
        self.order = np.argsort(np.bincount(A.indices, minlength=A.shape[0]), kind="stable")
        own = _columns(A[self.order][:, self.order])
        self.factor = spilu(own, drop_tol=dropped, fill_factor=KEPT, permc_spec="NATURAL", diag_pivot_thresh=0.0)

    def solve(self, V: np.ndarray, trans: str = "N") -> np.ndarray:
        """A^-1 V roughly, or A'^-1 V for trans="T"; V one vector, or some (n, c)."""
        out = np.empty(V.shape)
        out[self.order] = self.factor.solve(np.ascontiguousarray(V[self.order]), trans)
        return out


def incomplete(A: sparse.csr_array, dropped: float = DROPPED) -> Incomplete | None:
    """The incomplete factor of A; None where a pivot is 0."""
    try:
        return Incomplete(A, dropped)
    except RuntimeError as failure:
        if "singular" not in str(failure):
            raise
        return None


def _ilu(A: Any, B: np.ndarray, start: np.ndarray, limit: int) -> tuple[np.ndarray, int]:
    """GMRES(50) from an incomplete factor; the steps are those of the longest column."""
    factor = incomplete(A, DROPPED / 10)
    if factor is None:
        return np.full(B.shape, np.nan), 1
    inverse = LinearOperator(A.shape, matvec=factor.solve, dtype=np.float64)
    Z, most = np.array(start), 1
    for j in range(B.shape[1]):
        steps = 0

        def count(_: Any) -> None:
            nonlocal steps
            steps += 1

        Z[:, j], _ = gmres(
            A,
            B[:, j],
            x0=start[:, j],
            rtol=COLUMN_TOLERANCE,
            atol=0.0,
            restart=50,
            maxiter=10,
            M=inverse,
            callback=count,
            callback_type="pr_norm",
        )
        most = max(most, steps)
    return Z, most


def _normal(A: Any, B: np.ndarray, start: np.ndarray, limit: int) -> tuple[np.ndarray, int]:
    """Least squares with a small ridge: there is a solution, whatever A is."""
    A = sparse.csr_array(A)
    found = normal_solve(A, np.full(A.shape[1], RIDGE), np.asarray(A.T @ B), start=start)
    return found.Z, found.steps


class _Normal:
    """V -> A'(AV) + diag(b) V, by products alone: A'A has ten times the entries of A."""

    def __init__(self, A: sparse.csr_array, b: np.ndarray):
        self.A, self.adjoint, self.b = A, sparse.csr_array(A.T), b[:, None]
        self.diagonal = np.asarray(A.power(2).sum(axis=0)).ravel() + b

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        return self.adjoint @ (self.A @ V) + self.b * V


def normal_solve(A: sparse.csr_array, b: np.ndarray, R: np.ndarray, *, start: np.ndarray | None = None) -> Solved:
    """Z with (A'A + diag(b)) Z = R, positive definite: a factor for few rows, else conjugate gradients (Jacobi). A :
    (m, n) CSR. b : (n,), at least 0. R : (n, c). Warns (ConvergenceWarning) where the residual stays above 1e-6."""
    n = len(R)
    start = np.zeros(R.shape) if start is None else np.asarray(start, dtype=np.float64)
    if n == 0:
        return Solved(np.zeros(R.shape), "none", 0, 0.0)
    M = _Normal(sparse.csr_array(A), b)
    out, steps, solver = np.array(start), 1, "factor"
    if n > FACTOR_UP_TO:
        out, steps, solver = *_conjugate(M, R, start), "cg"
    if n <= FACTOR_UP_TO or (n <= FACTOR_AFTER_ALL and _residual(M, R, out) > ACCEPTED):
        whole = sparse.csr_array(M.adjoint @ M.A + sparse.diags_array(b))
        out, steps, solver = shifted_solves(whole, np.zeros(R.shape[1]), R, solver="factor").Z, 1, "factor"
    found = Solved(out, solver, steps, _residual(M, R, out))
    if not found.residual <= ACCEPTED:
        _warn_inexact(found, n)
    return found


def _conjugate(M: _Normal, R: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, int]:
    d = M.diagonal[:, None]

    def run(R: np.ndarray, goal: np.ndarray, limit: int) -> tuple[np.ndarray, int]:
        wide = np.repeat(d, R.shape[1], axis=1)
        return conjugate_steps(M, np.zeros(R.shape[1]), wide, R, goal, limit)

    def norms(R: np.ndarray) -> np.ndarray:
        return np.sqrt((R**2 / d).sum(axis=0))

    return _in_blocks(lambda B, Z: _restarted(M, B, Z, CONJUGATE_STEPS, norms, run), R, start)


def _bicgstab(A: Any, B: np.ndarray, start: np.ndarray, limit: int) -> tuple[np.ndarray, int]:
    """Every column, in blocks shared out among threads; runs begin again from where the last one led, and without the
    factor where it led nowhere."""
    A = sparse.csr_array(A)
    factor = incomplete(A)

    def block(B: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, int]:
        total = 0
        for each in (None,) if factor is None else (factor, None):
            run = partial(_run, A, factor=each)
            Z, steps = _restarted(A, B, Z, limit, lambda R: np.linalg.norm(R, axis=0), run)
            total += steps
        return Z, total

    return _in_blocks(block, B, start)


def _in_blocks(
    solve: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, int]], B: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, int]:
    """The solutions of some columns at a time, in threads, and the largest number of steps."""
    out = np.array(start)

    def work(first: int) -> int:
        some = slice(first, first + COLUMNS)
        out[:, some], steps = solve(B[:, some], out[:, some])
        return steps

    return out, max(each_in_threads(work, range(0, B.shape[1], COLUMNS)), default=0)


def _restarted(
    A: Any, B: np.ndarray, start: np.ndarray, limit: int, norms: Callable[..., np.ndarray], run: Callable[..., Any]
) -> tuple[np.ndarray, int]:
    """Runs that begin again from where the last one led, for the columns whose residual is too large."""
    Z, steps, size = np.array(start), 0, norms(B)
    Z[:, size == 0] = 0.0
    for _ in range(RESTARTS):
        R = B - A @ Z
        open_ = np.flatnonzero(norms(R) > COLUMN_TOLERANCE * size)
        if len(open_) == 0 or steps >= limit:
            break
        more, taken = run(np.ascontiguousarray(R[:, open_]), COLUMN_TOLERANCE * size[open_] / 2, limit - steps)
        Z[:, open_] += more
        steps += taken
    return Z, steps


def loosely(A: Any, B: np.ndarray, factor: Incomplete | None, trans: str = "N") -> np.ndarray:
    """A^-1 B roughly, as a preconditioner needs it: a run of bicgstab of at most 60 steps, and no more. A is transposed
    already under trans="T"; the factor is not."""
    goal = LOOSE * np.linalg.norm(B, axis=0)
    return _run(A, np.array(B, dtype=np.float64), goal, LOOSE_STEPS, factor, trans)[0]


def _run(
    A: Any, R: np.ndarray, goal: np.ndarray, limit: int, factor: Incomplete | None = None, trans: str = "N"
) -> tuple[np.ndarray, int]:
    """The correction for the residual block R, which is used up; the factor is applied from the right. A column stops
    at its goal, and where the method breaks down or has grown beyond its start, then with the best that it had."""
    n, c = R.shape
    out, least = np.zeros((n, c)), np.linalg.norm(R, axis=0)
    first = np.array(least)
    open_, shadow = np.arange(c), np.array(R)
    Z, P, V = np.zeros((n, c)), np.zeros((n, c)), np.zeros((n, c))
    rho, alpha, omega = np.ones(c), np.ones(c), np.ones(c)
    for step in range(1, limit + 1):
        with np.errstate(all="ignore"):  # a breakdown shows as a number that is not finite
            before, rho = rho, np.einsum("ij,ij->j", shadow, R)
            P -= V * omega
            P *= rho / before * (alpha / omega)
            P += R
            Q = P if factor is None else factor.solve(P, trans)
            V = A @ Q
            alpha = rho / np.einsum("ij,ij->j", shadow, V)
            R -= V * alpha
            S = R if factor is None else factor.solve(R, trans)
            T = A @ S
            omega = np.einsum("ij,ij->j", T, R) / np.einsum("ij,ij->j", T, T)
            exact = np.einsum("ij,ij->j", R, R) == 0
            omega[exact] = 0.0
            Z += Q * alpha + S * omega
            R -= T * omega
            size = np.linalg.norm(R, axis=0)
        better = np.flatnonzero(size < least)
        last = (size <= goal) | ~(size <= 1e6 * first)
        keep_best = better if step % 10 == 0 else better[last[better]]
        out[:, open_[keep_best]], least[keep_best] = Z[:, keep_best], size[keep_best]
        if last.any():
            keep = np.flatnonzero(~last)
            if len(keep) == 0:
                return out, step
            open_, goal, least, first = open_[keep], goal[keep], least[keep], first[keep]
            rho, alpha, omega = rho[keep], alpha[keep], omega[keep]
            Z, P, V, R, shadow = (np.ascontiguousarray(M[:, keep]) for M in (Z, P, V, R, shadow))
    return out, limit


ROUTES = {"factor": _factor, "bicgstab": _bicgstab, "ilu": _ilu, "normal": _normal}
