"""Near-collinear columns: dependences of the columns that products of columns cannot resolve, and the columns in them.

In: a problem without a ridge. Out: column numbers. A dependence that is exact up to rounding is none: it is left out of
the row space without loss.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from proxembed.algebra.arrays.blas import gram, matmul
from proxembed.algebra.arrays.centred import EPS

from .eigen import Solution
from .problem import Problem
from .symmetric import descending

NEAR = 1e-11  # share of the largest eigenvalue of the correlations up to which eigenvectors lose their digits
MOST_NAMED = 6
PART = 0.1  # share of the largest weight in a dependence from which a column is in it


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
