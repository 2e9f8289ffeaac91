"""The dense routes, a template in row-space coordinates as a pencil of two r x r matrices, and the thin route.

Where A is of low rank the eigenproblem is q x q however many rows and features there are: G = Bp^-1 F,
M = F'G = V diag(w) V', P = G V diag(w)^-1/2 U, with U from the q x q matrix diag(w)^1/2 V'SV diag(w)^1/2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import frobenius, matmul, symmetrise
from proxembed.algebra.operators.structured import LowRank

from .problem import Problem
from .symmetric import RANGE_TOLERANCE, SPD, descending, orthonormalise, range_basis, top, top_of_pencil

ZERO = 1e-6  # eigenvalues this small beside the others are held to an absolute residual


def dense_matrices(problem: Problem, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """T'AT + aI and T'BT + (b + ridge)I, r x r. Raises ValueError where the constraint is zero."""
    template, coordinates = problem.template, problem.coordinates
    A = coordinates.sandwich(template.A)
    A[np.diag_indices_from(A)] += template.a
    B = np.zeros_like(A) if template.B is None else coordinates.sandwich(template.B)
    if template.B is not None and template.b + ridge == 0:
        problem.refuse_zero(float(np.trace(B)))
    B[np.diag_indices_from(B)] += template.b + ridge
    return A, B


def whitener(B: np.ndarray) -> np.ndarray:
    """C with C'BC = I on the range of B."""
    factorised = SPD(B)
    return factorised.whiten() if factorised.full else range_basis(B)


def solve_pencil(
    A: np.ndarray, B: np.ndarray, k: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, float, int]:
    """The k leading eigenvalues and vectors of (A, B) on the range of B, their relative residual there, and the
    dimension of that range. Where k is None: all of them, and the spectrum."""
    r, spectrum = len(B), None
    diagonal = diagonal_of(B)
    if diagonal is None and k is not None and SPD(B).full:
        w, Q = top_of_pencil(A, B, min(k, r))
        level = frobenius(A) / frobenius(B)
        return w, Q, None, relative_residual(matmul(A, Q), matmul(B, Q), w, level), r
    if diagonal is None:
        C = whitener(B)
        M = matmul(C.T, matmul(A, C))
    else:
        C = 1.0 / np.sqrt(diagonal)
        M = A * C[:, None]
        M *= C[None, :]
    level = frobenius(M)
    w, U = descending(M) if k is None else top(M, min(k, len(M)))
    spectrum = w if k is None else None
    if diagonal is not None:
        Q = C[:, None] * U
        return w, Q, spectrum, relative_residual(C[:, None] * matmul(A, Q), U, w, level), r
    Q = matmul(C, U)
    return w, Q, spectrum, relative_residual(matmul(C.T, matmul(A, Q)), matmul(C.T, matmul(B, Q)), w, level), len(M)


def diagonal_of(B: np.ndarray) -> np.ndarray | None:
    """The diagonal of a positive diagonal matrix, None for any other."""
    d = np.diag(B)
    return d if np.count_nonzero(B) == np.count_nonzero(d) and d.min() > 0 else None


def relative_residual(AP: np.ndarray, BP: np.ndarray, w: np.ndarray, level: float = 0.0) -> float:
    """||AP - BP diag(w)|| over ||BP|| times the largest |w|; ``level`` is the size of all eigenvalues, beside which
    those found may be zero."""
    scale = max(float(np.abs(w).max(initial=0.0)), ZERO * level) * frobenius(BP)
    return frobenius(AP - BP * w) / scale if scale > 0 else 0.0


def solve_trace_ratio(A: np.ndarray, B: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, float]:
    """P with P'P = I that maximises tr(P'AP) / tr(P'BP): the k leading eigenvectors of A - ratio B at the fixed point.
    Newton's iteration of Wang et al. [wang2007traceratio] with the convergence proof of [jia2009traceratio]."""
    ratio = 0.0
    for _ in range(100):
        w, Q = top(A - ratio * B, k)
        denominator = float(np.einsum("ij,ij->", Q, B @ Q))
        if denominator <= 0:
            raise ValueError(
                'criterion="trace_ratio" needs a constraint with positive trace on the solution; '
                'this one vanishes there. Use criterion="ratio_trace" or a positive ridge.'
            )
        new = float(np.einsum("ij,ij->", Q, A @ Q)) / denominator
        if abs(new - ratio) <= 1e-12 * max(1.0, abs(new)):
            return w, Q, new
        ratio = new
    raise ValueError(
        'criterion="trace_ratio" did not settle in 100 iterations; use a larger ridge or criterion="ratio_trace".'
    )


def thin_pencil(F: np.ndarray, S: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvectors of (F S F', Bp) with positive eigenvalue, and these, descending; G = Bp^-1 F."""
    w, C = small_pencil(symmetrise(matmul(F.T, G)), S)
    return w, orthonormalise(matmul(G, C), matmul(F, C)) if len(w) else np.empty((len(G), 0))


def small_pencil(M: np.ndarray, S: np.ndarray, S_B: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All positive eigenvalues, descending, of (F S F', B0 + F S_B F'), and C, (q, k), of which the eigenvectors are
    B0^-1 F C, orthonormal under the constraint; M = F'B0^-1 F, q x q. S_B None stands for zero."""
    w, V = descending(M)
    keep = w > RANGE_TOLERANCE * max(w[0], 0.0) if w[0] > 0 else np.zeros(len(w), dtype=bool)
    half, inverse = V[:, keep] * np.sqrt(w[keep]), V[:, keep] / np.sqrt(w[keep])
    A = half.T @ S @ half
    if S_B is None:
        values, U = descending(A)
    else:
        whiten = whitener(np.eye(half.shape[1]) + symmetrise(half.T @ S_B @ half))
        values, U = descending(symmetrise(whiten.T @ A @ whiten))
        U = whiten @ U
    positive = values > RANGE_TOLERANCE * max(values[0], 0.0) if len(values) else np.zeros(0, dtype=bool)
    C = inverse @ U[:, positive]
    if not positive.any():
        return values[positive], C
    return values[positive], orthonormalise(C, M @ C if S_B is None else M @ (C + S_B @ (M @ C)))


def constraint_solver(problem: Problem, ridge: float) -> Callable[[np.ndarray], np.ndarray] | None:
    """F -> Bp^-1 F by Cholesky factorisations of the smaller side; None where Bp is singular or has no such form."""
    shift = problem.template.b + ridge
    if problem.template.B is None or problem.scatter == 0.0:
        return (lambda F: F / shift) if shift > 0 else None
    polynomial = problem.shifts(ridge)
    if polynomial is not None:
        return _shifted_solver(problem, *polynomial)
    return _primal_solver(problem, shift) if problem.side == "features" else None


def _shifted_solver(
    problem: Problem, scale: float, roots: tuple[float, ...]
) -> Callable[[np.ndarray], np.ndarray] | None:
    """Bp = scale (S + r_1 I)(S + r_2 I)..., S = Xw'Xw with Xw = diag(w)^1/2 Xc: one factorisation a root. On the side
    of the rows F = Xw'E, and (S + rI)^-1 Xw'E = Xw'(Xw Xw' + rI)^-1 E."""
    factors: list[Any] = (
        [None] if problem.side == "features" else [_row_factor(problem, leaf) for _, leaf in problem.factors]
    )
    if problem.side == "rows" and any(E is None for E in factors):
        return None
    factorised = [problem.shifted(root) for root in roots]
    if not all(one.ok for one in factorised):
        return None

    def chain(E: np.ndarray) -> np.ndarray:
        for one in factorised:
            E = one.solve(E)
        return E / scale

    if problem.side == "features":
        return chain
    left = chain(np.hstack(factors))
    G = problem.rows.tdot(left if problem.uniform else np.sqrt(np.asarray(problem.weights))[:, None] * left)
    return lambda F: G


def _primal_solver(problem: Problem, shift: float) -> Callable[[np.ndarray], np.ndarray] | None:
    M = problem.scatter * problem.gram if problem.scatter is not None else problem.template.B.sandwich(problem.rows)
    M[np.diag_indices_from(M)] += shift
    factorised = SPD(M)
    return factorised.solve if factorised.ok else None


def _row_factor(problem: Problem, leaf: LowRank) -> np.ndarray | None:
    """diag(w)^-1/2 F; None where a row of weight zero carries a factor."""
    E = leaf.dense_factor()
    if problem.uniform:
        return E - E.mean(axis=0) if problem.centred else E
    root = np.sqrt(np.asarray(problem.weights))[:, None]
    if np.abs(E[problem.weights == 0]).max(initial=0.0) > 1e-12 * np.abs(E).max():
        return None
    E = np.divide(E, root, out=np.zeros_like(E), where=root > 0)
    return E - root * (root.T @ E) / problem.weights.sum() if problem.centred else E
