"""Kernels in row-space form: the empirical kernel map, and the width and ridge of least leave-one-out error.

In: a kernel matrix on the training rows or on prototypes. Out: the map k(x) -> t(x) with t(x)'t(y) = k(x, y).
``tuning_rows``: the rows on which width and ridge are chosen.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import ALONE_BELOW, in_order, one_thread
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import all_ones
from proxembed.algebra.pencil.coordinates import Coordinates
from proxembed.algebra.pencil.linear import (
    EQUAL,
    RIDGE_GRID,
    best_ridge,
    evenly_spaced,
    loo_errors,
    with_same_products,
)
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, descending, fix_signs
from proxembed.pairs.formulas import gaussian
from proxembed.pairs.relation import relation

# Width and ridge are chosen on this number of rows. On five data sets the macro average precision of new rows then
# differs by .003 at most from that of a choice on all rows (bench/kernels.py), and six decompositions of 800 rows take
# less than a second. A map of p prototypes costs n p^2 per width: with few prototypes as many rows are taken as cost a
# decomposition of 800, since the best width depends on the rows per prototype.
TUNING_ROWS = 800
MOST_TUNING_ROWS = 10_000
PER_LABEL, MOST_ADDED = 2, 80  # rows added per label that varies among all rows alone, and in all


def kernel_map(K: np.ndarray) -> np.ndarray:
    """U diag(kappa)^-1/2 over the eigenvalues of K above 1e-10 of the largest: kernel rows times it are map
    coordinates."""
    w, U = descending((K + K.T) / 2)
    keep = w > RANGE_TOLERANCE * max(w[0], 0.0)
    if not keep.any():
        raise ValueError("The kernel matrix has no positive eigenvalue; use another kernel or check X.")
    return fix_signs(U[:, keep]) / np.sqrt(w[keep])


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


def gaussian_coordinates(X: Any, weights: np.ndarray, prototypes: Any = None) -> Callable[[float], Coordinates]:
    """The row-space coordinates of rows X by the width of a Gaussian kernel; of the kernel map on ``prototypes`` where
    these are given."""
    d2 = relation("euclidean", X, X if prototypes is None else prototypes) ** 2
    among = d2 if prototypes is None else relation("euclidean", prototypes, prototypes) ** 2

    def coordinates_at(tau: float) -> Coordinates:
        K = gaussian(d2, tau)
        if prototypes is None:
            return kernel_coordinates(K, weights)
        return map_coordinates(K @ kernel_map(gaussian(among, tau)), weights)

    return coordinates_at


def tuning_rows(weights: np.ndarray, target: Any, most: int | None = None, prototypes: int | None = None) -> np.ndarray:
    """The numbers, ascending, of at most ``most`` (None: 800) evenly spaced rows of positive weight, or of
    most^3 / p^2 where that is more and kernel values with p prototypes alone are used (10,000 at most). Where a column
    of the target (n x q, dense or sparse) is constant among these and varies among all, its first rows of another value
    are added: two per column, 80 in all, so that a leave-one-out error says something of a rare label too."""
    known, most = np.flatnonzero(weights > 0), TUNING_ROWS if most is None else most
    if prototypes is not None:
        most = max(most, min(most**3 // prototypes**2, MOST_TUNING_ROWS))
    chosen = known[evenly_spaced(len(known), most)]
    if len(chosen) == len(known):
        return chosen
    added: list[int] = []
    for j in np.flatnonzero(_constant(target[chosen]) & ~_constant(target[known])):
        column = target[:, [j]]
        values = np.asarray(column.toarray() if sparse.issparse(column) else column, dtype=np.float64).ravel()
        others = known[values[known] != values[chosen[0]]][:PER_LABEL]
        added += others.tolist()
        if len(added) >= MOST_ADDED:
            break
    return np.union1d(chosen, added[:MOST_ADDED]).astype(np.intp)


def _constant(target: Any) -> np.ndarray:
    """Which columns have the same value in every row."""
    high, low = target.max(axis=0), target.min(axis=0)
    same = (high.toarray() == low.toarray()) if sparse.issparse(high) else high == low
    return np.asarray(same).ravel()


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

    target = with_same_products(target)
    best = (np.inf, float(widths[0]), 0.0)
    several = dimensions < ALONE_BELOW  # several widths at a time, each with one thread of BLAS
    with one_thread if several else nullcontext():
        for found in in_order(least_at, widths.tolist(), None if several else 1):
            if found[0] < best[0] * (1 - EQUAL):
                best = found
    return best[1], best[2]
