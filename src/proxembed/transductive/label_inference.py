"""Soft labels from reconstruction weights: labels that neighbours rebuild as the features are rebuilt.

In: W (n x n), which cells are known and their labels. Out: F, real. [qian2010ssdrmc]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.graphs.nonsymmetric import Solved, normal_solve, solve

PRIORS = ("hard", "masked", "paper")
OBJECTIVES = ("paper", "exact")


@dataclass(frozen=True)
class Inference:
    """How labels are inferred: "paper" solves (I - W + B) F = B Y, "exact" ((I - W)'(I - W) + B) F = B Y on the free
    cells, B the strength of the prior: on the known cells ("masked"), on all ("paper"), or known cells are fixed
    ("hard") and B = 0."""

    objective: str = "paper"
    prior: str = "hard"
    strength: float = 1.0
    solver: str = "auto"

    def soft(
        self, W: Any, known: np.ndarray, Y: np.ndarray, unreached: np.ndarray, start: np.ndarray, first: str = ""
    ) -> Solved:
        """F (n x c) from W (CSR), the mask of known cells (n x c), their labels, the cells without a path to a known
        one, which take the share of the label among known cells, a start (n x c) and the route to try first."""
        A = sparse.csr_array(sparse.eye_array(W.shape[0]) - W)
        out = np.where(known, Y, 0.0)
        solvers, steps, residual = [], 0, 0.0
        for columns in column_groups(known, unreached):
            some, lost = known[:, columns[0]], unreached[:, columns[0]]
            if lost.any():
                out[np.ix_(lost, columns)] = Y[some][:, columns].mean(axis=0)
            fixed = lost | some if self.prior == "hard" else lost
            found = self._free(A, some, fixed, Y[:, columns], out[:, columns], start[:, columns], first)
            out[np.ix_(~fixed, columns)] = found.Z
            solvers.append(found.solver)
            first = found.solver
            steps, residual = max(steps, found.steps), max(residual, found.residual)
        return Solved(out, "+".join(dict.fromkeys(solvers)), steps, residual)

    def _free(
        self, A: Any, known: np.ndarray, fixed: np.ndarray, Y: Any, F: np.ndarray, start: np.ndarray, first: str
    ) -> Solved:
        """Labels of the rows that are not fixed, from those in F of the others; the columns share their known rows."""
        free, rest = np.flatnonzero(~fixed), np.flatnonzero(fixed)
        b = np.zeros(len(free))
        if self.prior != "hard":
            b[known[free] | (self.prior == "paper")] = self.strength
        rhs = b[:, None] * Y[free]
        if self.objective == "exact":
            own = sparse.csr_array(A[:, free])
            return normal_solve(own, b, rhs - own.T @ (A[:, rest] @ F[rest]), start=start[free])
        rows = A[free]
        M = sparse.csr_array(rows[:, free] + sparse.diags_array(b))
        return solve(M, rhs - rows[:, rest] @ F[rest], start=start[free], solver=self.solver, first=first)


def column_groups(*masks: np.ndarray) -> list[np.ndarray]:
    """The columns of masks (n x c) in groups of equal ones, in order of their first: they share a linear system.

    >>> [g.tolist() for g in column_groups(np.array([[True, False, True], [False, False, False]]))]
    [[0, 2], [1]]
    """
    packed = np.packbits(np.vstack(masks), axis=0)
    groups: dict[bytes, list[int]] = {}
    for j in range(packed.shape[1]):
        groups.setdefault(packed[:, j].tobytes(), []).append(j)
    return [np.array(columns) for columns in groups.values()]
