"""The dense routes: a template in row-space coordinates as a pencil of two r x r matrices."""

from __future__ import annotations

import numpy as np

from proxembed.algebra.arrays.blas import frobenius, matmul

from .problem import Problem
from .symmetric import SPD, descending, range_basis, top, top_of_pencil

ZERO = 1e-6  # eigenvalues this small beside the others are held to an absolute residual


def dense_matrices(problem: Problem, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """T'AT + aI and T'BT + (b + ridge)I, r x r.

    Raises ValueError where the constraint is zero.
    """
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
    dimension of that range.

    Where k is None: all of them, and the spectrum.
    """
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


def solve_trace_ratio(A: np.ndarray, B: np.ndarray, k: int, tol: float = 1e-12) -> tuple[np.ndarray, np.ndarray, float]:
    """P with P'P = I that maximises tr(P'AP) / tr(P'BP): the k leading eigenvectors of A - ratio B at the fixed point.

    Newton's iteration of Wang et al. [wang2007traceratio] with the convergence proof of [jia2009traceratio].
    """
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
        if abs(new - ratio) <= tol * max(1.0, abs(new)):
            return w, Q, new
        ratio = new
    raise ValueError(
        'criterion="trace_ratio" did not settle in 100 iterations; use a larger ridge or criterion="ratio_trace".'
    )
