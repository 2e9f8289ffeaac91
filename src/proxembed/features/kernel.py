"""Kernels in row-space form: the empirical kernel map, and the width and ridge of least leave-one-out error.

In: a kernel matrix on the training rows or on prototypes. Out: the map k(x) -> t(x) with t(x)'t(y) = k(x, y).
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import ALONE_BELOW, in_order, one_thread
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import all_ones
from proxembed.algebra.pencil.coordinates import Coordinates
from proxembed.algebra.pencil.linear import EQUAL, RIDGE_GRID, best_ridge, loo_errors
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, descending


def kernel_map(K: np.ndarray) -> np.ndarray:
    """U diag(kappa)^-1/2 over the eigenvalues of K above 1e-10 of the largest: kernel rows times it are map
    coordinates."""
    w, U = descending((K + K.T) / 2)
    keep = w > RANGE_TOLERANCE * max(w[0], 0.0)
    if not keep.any():
        raise ValueError("The kernel matrix has no positive eigenvalue; use another kernel or check X.")
    return U[:, keep] / np.sqrt(w[keep])


def double_centre(K: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """diag(w)^1/2 (I - 1w'/1'w) K (I - w1'/1'w) diag(w)^1/2, a new array."""
    share = weights / weights.sum()
    level = K @ share
    centred = K - level[:, None]
    centred -= level[None, :]
    centred += share @ level
    if np.any(weights != 1.0):
        root = np.sqrt(weights)
        centred *= root[:, None]
        centred *= root[None, :]
    return centred


def kernel_coordinates(K: np.ndarray, weights: np.ndarray) -> Coordinates:
    """The row-space coordinates that a kernel matrix on the training rows stands for; the features stay unseen."""
    unseen = CentredMatrix(np.empty((len(K), 0)), mean=np.empty(0))
    uniform = all_ones(weights)
    return Coordinates(unseen, None if uniform else weights, double_centre(K, weights), "rows")


def map_coordinates(T: np.ndarray, weights: np.ndarray) -> Coordinates:
    """The row-space coordinates of an explicit kernel map T (n x p), centred."""
    rows = CentredMatrix.centred(T, weights)
    uniform = all_ones(weights)
    return Coordinates(rows, None if uniform else weights, rows.gram(None if uniform else weights), "features")


def least_loo(
    widths: np.ndarray,
    coordinates_at: Callable[[float], Coordinates],
    target: Any,
    dimensions: int,
    ridge: Callable[[float], np.ndarray] | None = None,
) -> tuple[float, float]:
    """The (width, absolute ridge) of least leave-one-out error of kernel ridge regression of the target. One
    eigendecomposition per width serves all ridges. Their unit is the trace of the centred kernel over ``dimensions``,
    the smaller number of rows of non-zero weight and prototypes. ``ridge(unit)`` gives the ridges to try; by default a
    log grid from 1e-6 to 1e2 units."""

    def least_at(width: float) -> tuple[float, float, float]:
        coordinates = coordinates_at(width)
        if coordinates.rank == 0:
            return np.inf, width, 0.0
        unit = float(np.sum(coordinates.s**2)) / dimensions
        ridges = RIDGE_GRID * unit if ridge is None else ridge(unit)
        errors = loo_errors(coordinates, target, ridges)
        j = best_ridge(ridges, errors)
        return float(errors[j]), width, float(ridges[j])

    best = (np.inf, float(widths[0]), 0.0)
    several = dimensions < ALONE_BELOW  # several widths at a time, each with one thread of BLAS
    with one_thread if several else nullcontext():
        for found in in_order(least_at, widths.tolist(), None if several else 1):
            if found[0] < best[0] * (1 - EQUAL):
                best = found
    return best[1], best[2]
