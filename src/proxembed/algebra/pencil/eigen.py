"""solve(): the one way from a template to a projection. The route follows from structure and sizes.

thin       A of low rank: a q x q problem, Bp solved by one Cholesky factorisation of the smaller side
primal     a pencil of d x d matrices, or of r x r ones in coordinates from the d x d Gram matrix (d <= n)
dual       the same from the n x n Gram matrix (d > n)
iterative  operators only: block conjugate gradients for B-solves, Lanczos or LOBPCG for the eigenvectors

left_out(): closed-form leave-one-out of targets of the rows of a solution.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, lobpcg
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.arrays.blas import CHUNK, frobenius, gram, matmul
from proxembed.algebra.arrays.centred import EPS, CentredMatrix, rank_threshold
from proxembed.algebra.arrays.matrix import dense_side, row_squares
from proxembed.algebra.template import Template

from .conjugate import conjugate_gradients
from .coordinates import Coordinates
from .direct import Placement
from .linear import RIDGE_GRID, best_ridge, loo_choice, sampled_loo_errors
from .pencil import constraint_solver, dense_matrices, relative_residual, solve_pencil, solve_trace_ratio, thin_pencil
from .problem import ROUNDING, Aim, Problem
from .symmetric import (
    RANGE_TOLERANCE,
    SPD,
    descending,
    fix_signs,
    lanczos,
    orthonormal_columns,
    orthonormalise,
    orthonormalise_by,
    top_of_pencil,
    top_or_all,
)

SOLVERS = ("auto", "thin", "primal", "dual", "iterative")
RESIDUAL_LIMIT = 1e-6
LANCZOS_FROM = 1500
CG_TOLERANCE = 1e-7
UNTARGETED_RIDGE = 1.0
NEAR_NULL = 1e-6  # negative eigenvalues this small beside the others cannot be told from those of null directions
MAX_COMPONENTS = 100
ALMOST = 1 - 1e-12  # the largest leverage that a row may have
NEAR = 1e-11  # share of the largest eigenvalue of the correlations up to which eigenvectors lose their digits
MOST_NAMED = 6
NOTHING = (
    "X holds nothing that this method can use: after centring, no feature varies together with the labels. "
    "Pass features that vary."
)
SINGLE = 1e-5  # relative error of eigenvalues and eigenvectors from products in float32, at most
FEW = 10  # products in float32 serve where at most one in ten components is wanted
LEAST_ERROR = 2e-8  # of these products, whatever a sample of the rows shows
PART = 0.1  # share of the largest weight in a dependence from which a column is in it


@dataclass(frozen=True)
class Solution:
    """Leading eigenvectors P (d x k) with P'BpP = I, their eigenvalues (A maximised), and how they were found."""

    P: np.ndarray
    eigenvalues: np.ndarray
    mean: np.ndarray | None
    ridge: float
    solver: str
    bound: int
    residual: float = 0.0
    spectrum: np.ndarray | None = None
    problem: Any = None  # the Problem, or a KernelProblem
    sense: int = 1
    grams: list[tuple[object, np.ndarray]] = field(default_factory=list)

    @classmethod
    def placed(cls, found: Placement, sense: int) -> Solution:
        """A direct embedding as a solution."""
        return cls(
            found.Z,
            found.eigenvalues,
            None,
            0.0,
            found.solver,
            found.bound,
            0.0,
            found.spectrum,
            None,
            sense,
            found.grams,
        )

    def gram_of(self, X: Any) -> np.ndarray | None:
        """X'X where the solver has met it."""
        return next((gram for known, gram in self.grams if known is X), None)

    @property
    def positive(self) -> int:
        """How many of the eigenvalues found are positive beyond rounding."""
        w = self.eigenvalues
        return int(np.count_nonzero(w > RANGE_TOLERANCE * float(np.abs(w).max(initial=0.0))))

    def refuse_zero_eigenvalues(self) -> None:
        """A ValueError where an eigenvalue is zero up to rounding, so that its reciprocal says nothing."""
        problem = self.problem
        V = np.random.default_rng(1).standard_normal((problem.d, 1))
        size = problem.of_rows(frobenius(problem.apply_objective(V)) / frobenius(V), constraint=False)
        noise = ROUNDING * np.sqrt(problem.n) * size * np.einsum("dk,dk->k", self.P, self.P)
        zero = np.flatnonzero(np.abs(self.eigenvalues) <= noise)
        if len(zero):
            raise ValueError(
                f'scaling="eigenvalue" is not allowed here: component {zero[0]} would be divided by the root of its '
                'eigenvalue, which is zero up to rounding. Use another scaling, such as "unit".'
            )

    def first(self, k: int) -> Solution:
        """The first k components."""
        return replace(self, P=self.P[:, :k], eigenvalues=self.eigenvalues[:k])


def solve(
    template: Template,
    R: Any,
    k: int | None,
    ridge: float | str = 0.0,
    ridge_scale: str = "trace",
    *,
    solver: str = "auto",
    criterion: str = "ratio_trace",
    positive_only: bool = False,
    factors: Sequence[Any] = (),
    width: int | None = None,
) -> Solution:
    """The k leading eigenvectors of the template on R (n x d array or CSR); ``k=None`` asks for the whole spectrum too.
    ``ridge="auto"``: the closed-form leave-one-out choice, of a sample of the rows where all are too many.
    ``positive_only`` permits fewer than k where the others are not positive. At most ``bound`` components exist; the
    caller decides what to do when that is fewer than it asked for. ``factors``: matrices U whose products R'U are
    wanted afterwards. ``width``: the features that R stands for, where they are not its columns."""
    aim = Aim(k, ridge, ridge_scale, solver, criterion)
    problem = Problem(template, R, aim=aim, positive_only=positive_only, factors=factors, width=width)
    absolute = choose_ridge(problem, ridge, ridge_scale)
    found: Any
    if criterion == "trace_ratio":
        found = _trace_ratio(problem, absolute, k)
    else:
        route = _route(problem, absolute, k, solver)
        found = ROUTES[route](problem, absolute, k)
        if found is None:  # a singular constraint or directions outside the row space: coordinates are needed
            found = _dense(problem, absolute, k)
        if found.P.shape[1] == 0:
            raise ValueError(NOTHING)
        found = _checked(problem, found)
    found = replace(found, P=fix_signs(found.P), mean=problem.rows.centre, problem=problem, sense=template.sense)
    return found if problem.unit == 1.0 else _of_original(found, problem)


def _of_original(found: Solution, problem: Problem) -> Solution:
    """A solution on rows over a unit as one of the rows themselves."""
    of_A, of_B = problem.shrunk
    P, factor = found.P, of_A * problem.unit * problem.unit
    if problem.template.B is not None:
        P, factor = P / problem.unit / np.sqrt(of_B), of_A / of_B
    return replace(
        found,
        P=P,
        mean=None if found.mean is None else found.mean * problem.unit,
        eigenvalues=found.eigenvalues * factor,
        spectrum=None if found.spectrum is None else found.spectrum * factor,
        ridge=problem.of_rows(found.ridge),
    )


def choose_ridge(problem: Problem, ridge: float | str, scale: str = "trace") -> float:
    """The ridge as it is added: given, or the one of least leave-one-out error; 1 trace without a target."""
    if problem.template.B is None:
        return 0.0
    if not isinstance(ridge, str):
        return problem.absolute(ridge, scale)
    target = problem.template.target
    if target is None:
        return problem.absolute(UNTARGETED_RIDGE, "trace")
    grid = RIDGE_GRID * problem.ridge_unit
    if problem.plan.sampled:
        errors = sampled_loo_errors(problem.rows, None if problem.uniform else problem.weights, target, grid)
        return float(grid[best_ridge(grid, errors)])
    return float(grid[loo_choice(problem.coordinates, target, grid)])


def _route(problem: Problem, ridge: float, k: int | None, solver: str) -> str:
    if solver == "auto":
        return _cheapest(problem, ridge, k)
    if solver == "thin" and problem.factors is None:
        raise ValueError(
            'solver="thin" needs a proximity matrix of low rank, which this method does not have here. '
            'Use solver="auto".'
        )
    if solver == "iterative" and k is None:
        raise ValueError('solver="iterative" cannot give the whole spectrum: pass an integer n_components.')
    return solver


def _cheapest(problem: Problem, ridge: float, k: int | None) -> str:
    plain, small, decomposes = problem.template.B is None, min(problem.n, problem.d), problem.plan.decomposes
    if problem.low and (plain or (_factorable(problem, ridge) and decomposes)):
        return "thin"
    if problem.low and problem.scatter is not None and problem.template.b + ridge > 0:
        return "iterative"
    lanczos_pays = not decomposes or (problem.rows.sparse and small > LANCZOS_FROM)
    if plain and lanczos_pays and k is not None and k < small // 10:
        return "iterative"
    if small > dense_side() and k is not None:
        return "iterative"
    return "primal" if problem.side == "features" else "dual"


def _factorable(problem: Problem, ridge: float) -> bool:
    """Whether the constraint is the scatter or a polynomial of it, so that factorisations of a Gram matrix solve it."""
    return problem.scatter is not None or problem.shifts(ridge) is not None


def _thin(problem: Problem, ridge: float, k: int | None) -> Solution | None:
    solve_constraint = None if problem.beyond_rows else constraint_solver(problem, ridge)
    if solve_constraint is None:
        return None
    F, S = problem.factor
    w, P = thin_pencil(F, S, solve_constraint(F))
    return _first(w, P, k, ridge, "thin")


def _first(w: np.ndarray, P: np.ndarray, k: int | None, ridge: float, solver: str) -> Solution:
    bound = len(w)
    keep = bound if k is None else min(k, bound)
    return Solution(P[:, :keep], w[:keep], None, ridge, solver, bound, spectrum=w)


def _dense(problem: Problem, ridge: float, k: int | None) -> Solution:
    return _unrestricted(problem, ridge, k) or _spanning(problem, ridge, k) or _restricted(problem, ridge, k)


def _unrestricted(problem: Problem, ridge: float, k: int | None) -> Solution | None:
    """The k leading eigenvectors of the d x d matrix itself, where Bp = bI. Directions outside the row space have
    eigenvalue a, so that with a = 0 they come after every positive one. Before negative ones they come first, and are
    left out where they can be told from those inside. A minimisation is solved here only where there are none."""
    template = problem.template
    if template.B is not None or template.a or k is None or problem.side == "rows" or k > problem.d:
        return None
    if (template.sense < 0 or problem.beyond_rows) and not problem.gram_factor.ok:
        return None
    single = _by_single_products(problem, ridge, k)
    if single is not None:
        return single
    M = problem.sandwich(template.A) / (template.b + ridge)
    size, bound = frobenius(M), problem.d
    w, P = top_or_all(M, k)
    useful = int(np.count_nonzero(w[:k] > RANGE_TOLERANCE * size))
    if problem.positive_only and useful:
        w, P = w[:useful], P[:, :useful]
    elif useful < k and not ((template.sense < 0 or problem.includes_scatter) and problem.gram_factor.ok):
        zero = np.abs(w) <= RANGE_TOLERANCE * size
        if len(w) < problem.d or zero.all() or not _outside(problem, P[:, zero]):
            return None
        w, P = w[~zero], P[:, ~zero]
        bound = len(w)
    w, P = w[:k], P[:, :k]
    residual = relative_residual(matmul(M, P), P, w, size)
    return Solution(P / np.sqrt(template.b + ridge), w, None, ridge, "primal", bound, residual)


def _by_single_products(problem: Problem, ridge: float, k: int) -> Solution | None:
    """The k leading eigenvectors of the scatter of float32 rows, from products in float32. None where A is anything
    else, or where its error, estimated among these vectors and the next one, is more than ``SINGLE`` of the distance
    between two of their eigenvalues, or of the last one."""
    terms = list(problem.template.A.terms())
    many = FEW * k > problem.d  # some of many eigenvalues are likely to be close to each other
    if many or len(terms) > 1 or not problem.uniform or not terms[0][1].is_scatter(problem.rows, None):
        return None
    found = problem.rows.single_gram()
    if found is None:
        return None
    G, missed, mean = found
    w, P = top_or_all(G, min(k + 1, problem.d))
    error = max(float(np.abs(P[:, : k + 1].T @ missed @ P[:, : k + 1]).max()), LEAST_ERROR * float(np.diag(G).max()))
    if np.diff(np.append(w, 0.0)[: k + 1]).max() > -error / SINGLE:
        return None
    problem.rows.mean = mean
    w, P, size = w[:k], P[:, :k], frobenius(G)
    residual = relative_residual(matmul(G, P), P, w, size)
    scale = terms[0][0] / (problem.template.b + ridge)
    return Solution(P / np.sqrt(problem.template.b + ridge), scale * w, None, ridge, "primal", problem.d, residual)


def _outside(problem: Problem, P: np.ndarray) -> bool:
    """Whether every column of P lies outside the row space: the rows map it to zero, up to rounding. The largest
    squared length of a feature is at most the largest eigenvalue of the Gram matrix, for which it stands."""
    rows = problem.rows
    limit = rank_threshold(rows.column_norms(problem.weights).max(keepdims=True), max(rows.shape), rows.noise)
    for start in range(0, P.shape[1], CHUNK):
        squares = problem.rows.dot(P[:, start : start + CHUNK]) ** 2
        lengths = squares.sum(axis=0) if problem.weights is None else problem.weights @ squares
        if lengths.max() > limit:
            return False
    return True


def _spanning(problem: Problem, ridge: float, k: int | None) -> Solution | None:
    """The leading eigenvectors of the pencil of d x d matrices, whose coordinates are the features: the rows span them
    all, and neither the eigenvectors of the Gram matrix nor products with them are needed. None where they may not, or
    where the constraint is not far from singular."""
    template, shift = problem.template, problem.template.b + ridge
    if template.B is None or k is None or problem.factors is not None or not problem.spans:
        return None
    A, B = problem.sandwich(template.A), problem.sandwich(template.B)
    if shift == 0:
        problem.refuse_zero(float(np.trace(B)))
    A[np.diag_indices_from(A)] += template.a
    B[np.diag_indices_from(B)] += shift
    if not (problem.shown_by_constraint and shift >= 0) and not SPD(B).full:
        return None
    w, P = top_of_pencil(A, B, min(k, problem.d))
    residual = relative_residual(matmul(A, P), matmul(B, P), w, frobenius(A) / frobenius(B))
    return Solution(P, w, None, ridge, "primal", problem.d, residual)


def _restricted(problem: Problem, ridge: float, k: int | None) -> Solution:
    """The leading eigenvectors of the pencil in row-space coordinates."""
    A, B = dense_matrices(problem, ridge)
    w, Q, spectrum, residual, bound = solve_pencil(A, B, k)
    solver = "primal" if problem.side == "features" else "dual"
    useful = int(np.count_nonzero(w > RANGE_TOLERANCE * w.max(initial=0.0)))
    if problem.factors is not None and useful < len(w):  # of low rank: what follows is arbitrary
        w, Q, bound = w[:useful], Q[:, :useful], useful
    return Solution(problem.coordinates.back(Q), w, None, ridge, solver, bound, residual, spectrum)


def _iterative(problem: Problem, ridge: float, k: Any) -> Solution | None:
    shift = problem.template.b + ridge
    if problem.template.B is not None and shift <= 0:
        fits = min(problem.n, problem.d) <= dense_side()
        remedy = "Use solver='auto'" if fits else f"Reduce X to {dense_side():,} features or fewer (such as by LSI)"
        raise ValueError(
            f"ridge=0 needs a decomposition of the constraint, which the iterative solver does not make (X is "
            f"{problem.n:,} x {problem.d:,}). {remedy}, or use a positive ridge where the method has that parameter."
        )
    if problem.low and problem.scatter is not None:
        F, S = problem.factor
        if problem.scatter == 0.0:
            G = F / shift
        else:
            G, _ = conjugate_gradients(problem.rows, problem.weights, problem.scatter, shift, F, CG_TOLERANCE)
        w, P = thin_pencil(F, S, G)
        return _first(w, P, k, ridge, "iterative")
    if problem.beyond_rows:
        return None
    if k >= min(problem.n, problem.d):
        return _restricted(problem, ridge, k)
    if problem.template.B is None:
        move = _level(problem, 0.0) if problem.template.sense < 0 else 0.0  # ARPACK skips eigenvalues that are zero
        try:
            w, P = lanczos(lambda v: problem.apply_objective(v) + move * v, problem.d, k)
        except ArpackNoConvergence:  # a cluster, such as the zeros of a large null space: coordinates have none
            return None
        w, P = (w - move) / shift, P / np.sqrt(shift)
    elif problem.template.sense < 0 and problem.side == "rows":
        return None
    else:
        try:
            w, P = _lobpcg(problem, ridge, k)
        except Exception:  # SciPy's own class, where the Gram matrix of its directions is singular
            return None
        missed = _residual(problem, Solution(P, w, None, ridge, "iterative", problem.rank))
        if missed > RESIDUAL_LIMIT and problem.plan.decomposes:  # an ill-conditioned constraint
            return None
    near = NEAR_NULL if w[-1] < 0 else RANGE_TOLERANCE
    if np.any(np.abs(w) <= near * _level(problem, ridge)):  # null directions come before negative eigenvalues
        return None
    return Solution(P, w, None, ridge, "iterative", problem.rank)


def _level(problem: Problem, ridge: float) -> float:
    """The size of the eigenvalues, from one random direction."""
    V = np.random.default_rng(1).standard_normal((problem.d, 1))
    return frobenius(problem.apply_objective(V)) / frobenius(problem.apply_constraint(V, ridge))


def _lobpcg(problem: Problem, ridge: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """LOBPCG with Jacobi scaling: neither A nor B is formed or factorised."""
    d = problem.d
    weights = np.abs(problem.template.B.diagonal(problem.n))
    D = problem.rows.column_norms(weights) + problem.template.b + ridge

    def operator(product: Any) -> Any:
        return LinearOperator((d, d), matvec=product, matmat=product, dtype=np.float64)

    start = np.random.default_rng(0).standard_normal((d, min(d, k + 10)))
    with warnings.catch_warnings():
        for notice in (UserWarning, LinAlgWarning):  # the residual is checked afterwards
            warnings.simplefilter("ignore", notice)
        w, P = lobpcg(
            operator(problem.apply_objective),
            start,
            B=operator(lambda V: problem.apply_constraint(V, ridge)),
            M=operator(lambda V: V / (D if V.ndim == 1 else D[:, None])),
            tol=1e-9,
            maxiter=500,
        )
    order = np.argsort(w)[::-1][:k]
    P = P[:, order]
    return w[order], orthonormalise(P, problem.apply_constraint(P, ridge))


def _trace_ratio(problem: Problem, ridge: float, k: int | None) -> Solution:
    if k is None:
        raise ValueError('criterion="trace_ratio" needs an integer n_components: its solutions are not nested.')
    A, B = dense_matrices(problem, ridge)
    w, Q, _ = solve_trace_ratio(A, B, min(k, len(A)))
    solver = "primal" if problem.side == "features" else "dual"
    return Solution(problem.coordinates.back(Q), w, None, ridge, solver, len(A))


ROUTES = {"thin": _thin, "primal": _dense, "dual": _dense, "iterative": _iterative}


def _checked(problem: Problem, found: Solution) -> Solution:
    """The solution with its residual, and a warning where that misses the limit."""
    residual = found.residual
    if found.solver in ("thin", "iterative") and found.P.shape[1]:
        residual = _residual(problem, found)
    warn_inexact(found.solver, residual)
    return replace(found, residual=residual)


def warn_inexact(solver: str, residual: float) -> None:
    """A warning where the residual of a solution misses the limit."""
    if residual > RESIDUAL_LIMIT:
        warnings.warn(
            f"The {solver} solver stopped at a relative residual of {residual:.1e}, above {RESIDUAL_LIMIT:.0e}: "
            "the last components may be inexact. Use a larger ridge, fewer components or another solver=.",
            ConvergenceWarning,
            stacklevel=5,
        )


def _residual(problem: Problem, found: Solution) -> float:
    """||Ap P - Bp P diag(w)|| over ||Bp P|| times the largest |w|, a few columns at a time."""
    missed = size = 0.0
    for start in range(0, found.P.shape[1], CHUNK):
        part = slice(start, start + CHUNK)
        P = found.P[:, part]
        BP = _constraint_product(problem, P, found.ridge)
        size += float(np.vdot(BP, BP))
        BP *= found.eigenvalues[part]
        BP -= problem.apply_objective(P)
        missed += float(np.vdot(BP, BP))
    scale = float(np.abs(found.eigenvalues).max()) * np.sqrt(size)
    return np.sqrt(missed) / scale if scale > 0 else 0.0


def _constraint_product(problem: Problem, P: np.ndarray, ridge: float) -> np.ndarray:
    if problem.scatter and not problem.plan.gram:
        return problem.rows.ridge_dot(P, problem.weights, problem.scatter, problem.template.b + ridge)
    return problem.apply_constraint(P, ridge)


def rescaled(P: np.ndarray, eigenvalues: np.ndarray, scaling: str, sense: int = 1, rows: Any = None) -> np.ndarray:
    """Post-processing common to all projections: template, orthonormal, eigenvalue or unit columns. "eigenvalue"
    multiplies by the root of the eigenvalue, or of its reciprocal where the method minimises (sense -1). ``rows``: the
    KernelRows of which P are coefficients; None where P is what is orthonormal or of unit length."""
    if scaling == "eigenvalue":
        return P * np.abs(eigenvalues) ** (0.5 * sense)
    if scaling == "template":
        return P
    if rows is not None:
        N = rows.inner(P)
        return orthonormalise_by(P, N) if scaling == "orthonormal" else P / np.sqrt(np.diag(N))
    return orthonormal_columns(P) if scaling == "orthonormal" else P / np.linalg.norm(P, axis=0)


def principal_axes(X: Any, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (d,), principal axes V (d, r) and singular values s (r,) of the centred X, descending. Axes whose variance
    is above ``RANGE_TOLERANCE`` times the largest are kept. ``weights``: how often each row occurs."""
    rows = CentredMatrix.centred(X, np.ones(X.shape[0]) if weights is None else weights)
    side = "features" if X.shape[1] <= X.shape[0] else "rows"
    gram = rows.gram(weights) if side == "features" else rows.outer_gram(weights)
    found = Coordinates(rows, weights, gram, side)
    keep = int(np.count_nonzero(found.s**2 > RANGE_TOLERANCE * np.max(found.s**2, initial=0.0)))
    mean: Any = rows.centre
    return mean, fix_signs(found.V[:, :keep]), found.s[:keep]


def left_out(found: Solution, T: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Fitted values of T (n, q) and their leave-one-out values; None where the constraint is neither c S + r I nor I.
    Under c S + r I, S the scatter of the rows, they are those of ridge regression, whose leave-one-out is (z - h t) /
    (1 - h) with the leverages h. Under a multiple of I they are K T, which without row i lacks K_ii t_i. A row that
    occurs several times is left out whole."""
    problem: Any = found.problem
    template = problem.template
    w = np.ones(problem.n) if template.repeats is None else template.repeats
    if problem.scatter is None or problem.weights is None or not np.array_equal(problem.weights, w):
        return None
    T = T - w @ T / w.sum()
    if problem.scatter == 0.0:
        Z = problem.rows.dot(problem.rows.tdot(w[:, None] * T))
        by_rows, blocks = problem.side == "rows", problem.rows.blocks()
        squares = np.diag(problem.gram) if by_rows else np.hstack([row_squares(X) for _, X in blocks]) * w
        return Z, Z - squares[:, None] * T
    ridge = (template.b + found.ridge / problem.of_rows(1.0)) / problem.scatter
    factor = problem.shifted(ridge)
    if not factor.ok:
        return None
    Z, h = problem.rows.dot(problem.regression(T, ridge)), leverages(problem, ridge)
    h = np.minimum(h + w / w.sum(), ALMOST)[:, None]
    return Z, (Z - h * T) / (1 - h)


def leverages(problem: Problem, ridge: float) -> np.ndarray:
    """w_i x_i'(S + ridge I)^-1 x_i of the centred rows, which occur w_i times, (n,)."""
    factor = problem.shifted(ridge)
    if problem.side == "features":
        parts = [np.einsum("md,dm->m", block, factor.solve(block.T)) for _, block in problem.rows.blocks()]
        return np.concatenate(parts) * (1.0 if problem.template.repeats is None else problem.template.repeats)
    return 1.0 - ridge * factor.inverse_diagonal()


def warn_near_collinear(found: Solution, owner: str, names: Sequence[str] | None) -> None:
    """Warn of near-collinear columns where a solution was found without a ridge; ``names`` of the columns, if known."""
    problem = found.problem
    if problem is None or problem.template.B is None or problem.template.b + found.ridge != 0:
        return
    columns = near_collinear(problem)
    if len(columns) == 0:
        return
    named = [f"column {j}" if names is None else repr(str(names[j])) for j in columns[:MOST_NAMED]]
    more = f" and {len(columns) - len(named)} more" if len(columns) > len(named) else ""
    warnings.warn(
        f"{owner}: without a ridge the components are inaccurate, because columns of X are nearly collinear: "
        f"{', '.join(named)}{more}. Remove columns that the others determine, or use a positive ridge.",
        UserWarning,
        stacklevel=5,
    )


def near_collinear(problem: Problem) -> np.ndarray:
    """The columns in a near dependence, in ascending order; empty where every direction can be resolved."""
    rows, none = problem.rows, np.empty(0, dtype=np.intp)
    if problem.side != "features" or problem.d >= rows.count or problem.gram_factor.full:
        return none
    size = np.sqrt(np.maximum(np.diag(problem.gram), 0.0))
    varying = size > 0
    inverse = 1.0 / size[varying]
    w, U = descending(problem.gram[np.ix_(varying, varying)] * inverse[:, None] * inverse[None, :])
    near = w <= NEAR * w.max(initial=0.0)
    if not near.any():
        return none
    V = np.zeros((problem.d, int(near.sum())))
    V[varying] = inverse[:, None] * U[:, near]
    left, V = _left(problem, V, w[~near])
    share = np.abs(V[:, left]) * size[:, None]
    return np.flatnonzero((share > PART * share.max(axis=0)).any(axis=1))


def _left(problem: Problem, V: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which combinations V of the columns vary beyond rounding, and these combinations, each apart from the others."""
    rows = problem.rows
    T = rows.dot(V)
    if not problem.uniform:
        T *= np.sqrt(np.asarray(problem.weights))[:, None]
    values, U = descending(gram(T))
    V = matmul(V, U)
    spread = np.sqrt(np.diag(problem.gram) / rows.count)
    level = spread if rows.centre is None else spread + np.abs(rows.centre)
    entries = rows.count * (16 * EPS * (np.abs(V).T @ level)) ** 2
    turned = (16 * EPS * len(V) * others[0]) ** 2 / others[-1] if len(others) else 0.0
    return values > entries + turned, V
