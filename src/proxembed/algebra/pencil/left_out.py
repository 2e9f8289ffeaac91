"""What targets look like from the rows of a solved problem, each row by itself and without itself: closed-form
leave-one-out.

In: a solution and targets T of fit's rows. Out: the fitted values of T, and those of each row from the other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .eigen import Solution
from .problem import Problem

ALMOST = 1 - 1e-12
ROWS = 512


def left_out(found: Solution, T: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Fitted values of T (n, q) and their leave-one-out values; None where the constraint is neither c S + r I nor I.

    Under c S + r I, S the scatter of the rows, they are those of ridge regression, whose leave-one-out is
    (z - h t) / (1 - h) with the leverages h. Under a multiple of I they are K T, which without row i lacks K_ii t_i.
    """
    problem: Any = found.problem
    template = problem.template
    if problem.scatter is None or problem.weights is None or not problem.uniform:
        return None
    T = T - T.mean(axis=0)
    if problem.scatter == 0.0:
        Z = problem.rows.dot(problem.rows.tdot(T))
        return Z, Z - row_squares(problem)[:, None] * T
    ridge = (template.b + found.ridge / problem.of_rows(1.0)) / problem.scatter
    factor = problem.shifted(ridge)
    if not factor.ok:
        return None
    Z, h = problem.rows.dot(problem.regression(T, ridge)), leverages(problem, ridge)
    h = np.minimum(h + 1 / problem.n, ALMOST)[:, None]
    return Z, (Z - h * T) / (1 - h)


def row_squares(problem: Problem) -> np.ndarray:
    """Squared lengths of the centred rows, (n,)."""
    if problem.side == "rows":
        return np.diag(problem.gram).copy()
    return np.concatenate([np.einsum("md,md->m", block, block) for _, block in problem.rows.blocks()])


def leverages(problem: Problem, ridge: float) -> np.ndarray:
    """x_i'(S + ridge I)^-1 x_i of the centred rows, (n,)."""
    factor = problem.shifted(ridge)
    if problem.side == "features":
        parts = [np.einsum("md,dm->m", block, factor.solve(block.T)) for _, block in problem.rows.blocks()]
        return np.concatenate(parts)
    h = np.empty(problem.n)
    for start in range(0, problem.n, ROWS):  # of the rows' side: 1 - ridge times the diagonal of (K + ridge I)^-1
        part = np.arange(start, min(start + ROWS, problem.n))
        E = np.zeros((problem.n, len(part)))
        E[part, part - start] = 1.0
        h[part] = 1.0 - ridge * factor.solve(E)[part, part - start]
    return h
