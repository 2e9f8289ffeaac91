"""Stage 5: the projection that a pair (M_A, M_B) asks for, all components from one decomposition.

(17) max tr P'(M_A - lam M_B)P, (18) max tr P'M_A P under P'(M_B + lam I)P = I, (23) max tr P'M_A P and
(24) min tr P'M_B P; P'P = I but in (18). The first k columns are the solution for k components.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proxembed.algebra.pencil.symmetric import NotDefinite, top, top_of_pencil

NEVER_SINGULAR = 1e-12
MOST_RAISES = 5


def effective_lam(objective: str, lam: float, M_A: np.ndarray, M_B: np.ndarray, dimensions: int, scale: str) -> float:
    """lam as it is used: "raw" as it is; "trace" in units of tr M_B / min(n, d) in (18), of |tr M_A| / tr M_B in (17).

    ``dimensions`` is min(n, d) of the features that are projected. Where M_B is zero, (17) has only its first part.

    Examples
    --------
    >>> effective_lam("ratio", 0.5, np.eye(2), 4 * np.eye(2), 2, "trace")
    2.0
    """
    b = float(np.trace(M_B))
    if scale == "raw":
        return float(lam)
    if objective == "ratio":
        return lam * b / dimensions
    return lam * abs(float(np.trace(M_A))) / b if b > 0 else 0.0


def solve_ratio(
    M_A: np.ndarray, M_B: np.ndarray, lam: float, k: int, dimensions: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """The k largest eigenvalues of (M_A, M_B + lam I), their vectors with P'(M_B + lam I)P = I, and how often lam was
    taken tenfold, up to five times, because the constraint was not positive definite to working precision.

    Examples
    --------
    >>> w, P, raised = solve_ratio(np.diag([1.0, 6.0]), np.diag([0.0, 1.0]), 0.5, 1, 2)
    >>> w.round(6).tolist(), np.abs(P).round(2).tolist(), raised
    ([4.0], [[0.0], [0.82]], 0)
    """
    lam += NEVER_SINGULAR * max(float(np.trace(M_B)), 0.0) / dimensions
    for raised in range(MOST_RAISES + 1):
        constraint = M_B.copy()
        constraint[np.diag_indices_from(constraint)] += lam * 10.0**raised
        try:
            return *top_of_pencil(M_A, constraint, k), raised
        except NotDefinite:
            continue
    raise ValueError(f"M_B + lam I is not positive definite, even with {10**MOST_RAISES:,} times the lam of {lam:.3g}.")


def solve_plain(objective: str, M_A: Any, M_B: Any, lam: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(17), (23), (24): the k best eigenvalues, as the method states them, and orthonormal vectors.

    Of M_A and M_B, the one that the objective does not look at may be None.
    """
    if objective == "friends":
        w, P = top(-M_B, k)
        return -w, P
    return top(M_A if objective == "enemies" or lam == 0 else M_A - lam * M_B, k)
