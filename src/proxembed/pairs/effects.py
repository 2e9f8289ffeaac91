"""Effect of each feature on what is projected from relations to prototypes: mean gradients, or permutations.

In: prototypes and weights of the relations with them. Out: one signed number per combination and feature, in the units
of the combination over one standard deviation of the feature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.matrix import Matrix, largest_entry, row_blocks

from .formulas import RELATIONS
from .relation import relation

MOST_ROWS, LEAST_ROWS = 200, 20
MOST_PRODUCTS = 10**8  # rows x prototypes x features that one combination may take
NEVER_BELOW = 1e-9  # a mean gradient of this share of the mean absolute gradient has no sign but by rounding


def relation_effects(
    kind: str | Callable[..., np.ndarray], prototypes: Any, weights: np.ndarray, **params: Any
) -> np.ndarray:
    """Effect of each feature on combinations z = relation(x, prototypes) @ weights' of relation features, (k, d).

    The rows x are at most 200 evenly spaced prototypes. If the measure has a derivative (``slopes``), the effect is the
    mean over these rows of the absolute derivative of z by the feature, with the sign of the mean derivative, times the
    standard deviation of the feature over all prototypes: for a linear z it is the weight of the standardised feature.
    Otherwise each feature is permuted among these rows: the effect is the root mean square change of z over the square
    root of 2, with the sign of its covariance with the change of the feature.
    """
    P = sp.csr_array(prototypes) if sp.issparse(prototypes) else np.asarray(prototypes)
    P = P.astype(np.float64)
    if isinstance(kind, str) and kind in RELATIONS and RELATIONS[kind].slopes is not None:
        return _mean_gradients(kind, P, weights, **params) * column_deviations(P)
    return _permutation_effects(lambda X: relation(kind, X, P, **params) @ weights.T, P, len(weights))


def column_deviations(X: Matrix) -> np.ndarray:
    """Standard deviation of each column, (d,); 0 for a constant one."""
    unit = largest_entry(X) or 1.0
    X = X * (1.0 / unit) if np.isfinite(1.0 / unit) else X
    mean = np.asarray(X.mean(axis=0)).reshape(-1)
    if not sp.issparse(X):
        return unit * np.sqrt(np.mean((X - mean) ** 2, axis=0))
    stored = np.bincount(X.indices, minlength=X.shape[1])
    squares = np.bincount(X.indices, weights=(X.data - mean[X.indices]) ** 2, minlength=X.shape[1])
    return unit * np.sqrt((squares + (X.shape[0] - stored) * mean**2) / X.shape[0])


def _sample(p: int, products: int) -> np.ndarray:
    """Numbers of the prototypes that serve as rows; the more ``products`` one row takes, the fewer."""
    count = min(p, MOST_ROWS, max(LEAST_ROWS, MOST_PRODUCTS // max(1, products)))
    return np.linspace(0, p - 1, count).astype(np.intp)


def _mean_gradients(kind: str, P: Matrix, weights: np.ndarray, **params: Any) -> np.ndarray:
    """Mean absolute gradient of each combination, (k, d), with the sign of the mean gradient."""
    slopes: Any = RELATIONS[kind].slopes
    rows = P[_sample(P.shape[0], P.shape[0] * P.shape[1])]
    total, absolute = np.zeros((len(weights), P.shape[1])), np.zeros((len(weights), P.shape[1]))
    for part in row_blocks(rows.shape[0], max(P.shape)):
        X = rows[part]
        of_p, of_x = slopes(X, P, relation(kind, X, P, **params), **params)
        for j, w in enumerate(weights):
            gradient = np.asarray((of_p * w) @ P)
            if of_x is not None:
                factor = (of_x @ w)[:, None]
                gradient += X.multiply(factor).toarray() if sp.issparse(X) else factor * X
            total[j] += gradient.sum(axis=0)
            absolute[j] += np.abs(gradient).sum(axis=0)
    return np.where(total < -NEVER_BELOW * absolute, -absolute, absolute) / rows.shape[0]


def _permutation_effects(embed: Callable[[Matrix], np.ndarray], P: Matrix, k: int) -> np.ndarray:
    """Root mean square change of each combination under a permutation of each feature, over sqrt(2), signed."""
    p, d = P.shape
    rows = P[_sample(p, p * d * d)]
    rows = rows.toarray() if sp.issparse(rows) else rows
    before, effects = embed(rows), np.zeros((k, d))
    order = np.random.default_rng(0).permutation(len(rows))
    other = np.empty_like(order)
    other[order] = np.roll(order, 1)  # one cycle: every row gets the value of another row
    for j in range(d):
        step = rows[other, j] - rows[:, j]
        if not step.any():
            continue
        moved = rows.copy()
        moved[:, j] = rows[other, j]
        change = embed(moved) - before
        size = np.sqrt(np.mean(change**2, axis=0) / 2)
        along = (step / np.abs(step).max()) @ change
        effects[:, j] = np.where(along < -NEVER_BELOW * size, -size, size)
    return effects
