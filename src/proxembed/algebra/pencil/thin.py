"""The thin route: A of low rank, so that the eigenproblem is q x q however many rows and features there are.

G = Bp^-1 F,  M = F'G = V diag(w) V',  P = G V diag(w)^-1/2 U,  with U from the q x q matrix diag(w)^1/2 V'SV
diag(w)^1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.operators.structured import LowRank

from .problem import Problem
from .symmetric import RANGE_TOLERANCE, SPD, descending, orthonormalise


def thin_pencil(F: np.ndarray, S: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvectors of (F S F', Bp) with positive eigenvalue, and these, descending; G = Bp^-1 F."""
    M = matmul(F.T, G)
    w, V = descending((M + M.T) / 2)
    keep = w > RANGE_TOLERANCE * max(w[0], 0.0) if w[0] > 0 else np.zeros(len(w), dtype=bool)
    half = V[:, keep] * np.sqrt(w[keep])
    values, U = descending(half.T @ S @ half)
    positive = values > RANGE_TOLERANCE * max(values[0], 0.0) if len(values) else np.zeros(0, dtype=bool)
    C = (V[:, keep] / np.sqrt(w[keep])) @ U[:, positive]
    return values[positive], orthonormalise(matmul(G, C), matmul(F, C)) if C.shape[1] else np.empty((len(G), 0))


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
    """Bp = scale (S + r_1 I)(S + r_2 I)..., S = Xw'Xw with Xw = diag(w)^1/2 Xc: one factorisation a root.

    On the side of the rows F = Xw'E, and (S + rI)^-1 Xw'E = Xw'(Xw Xw' + rI)^-1 E.
    """
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
        return E if problem.weights is None else E - E.mean(axis=0)
    root = np.sqrt(np.asarray(problem.weights))[:, None]
    if np.abs(E[problem.weights == 0]).max(initial=0.0) > 1e-12 * np.abs(E).max():
        return None
    E = np.divide(E, root, out=np.zeros_like(E), where=root > 0)
    return E - root * (root.T @ E) / problem.weights.sum()
