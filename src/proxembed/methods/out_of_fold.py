"""Predictions of targets by several bases: for each row of fit by models that have not seen it, without a second fit.

In: distinct rows with their targets. Out: per base what scores new rows (``lift``), and the scores of the rows of fit,
each by the other rows: leave-one-out in closed form, or the trees of a forest that were grown without the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.linear import kernel_left_out, ridge_left_out
from proxembed.classify.ridge import loo_penalty
from proxembed.features.kernel import double_centre, gaussian_coordinates, kernel_map, least_loo, tuning_rows
from proxembed.features.prototypes import prototypes
from proxembed.pairs.relation import median_squared_distance
from proxembed.proximity.backends import nearest

from .forest import ForestVotes, averaged_rows
from .kernelized import KernelMap
from .relation import WIDTHS

# Most rows of a kernel of all rows, and the prototypes of one of more rows: as a search has it (evaluate.costs).
KERNEL_ROWS, PROTOTYPES = 6000, 1000
MOST_SIDE = 10_000  # of rows and features the smaller number, up to which a ridge regression is factorised
MOST_PAIRS = 1 << 33  # of rows that are compared for neighbours


@dataclass(frozen=True)
class Known:
    """Distinct rows X (m, d) of float64, each ``counts`` times, with targets T (m, c), where they are unknown at the
    mean of their column. ``mass`` (m, c): how often each cell counts, 0 where it is unknown. ``grown``: what a forest
    is grown on, T itself, or of many columns their leading scores."""

    X: Any
    T: np.ndarray
    mass: np.ndarray
    counts: np.ndarray
    grown: np.ndarray

    @classmethod
    def of(
        cls, X: Any, T: np.ndarray, known: np.ndarray, times: np.ndarray | None, grown: Callable[[np.ndarray], Any]
    ) -> tuple[Known, np.ndarray]:
        """With the number of its distinct row for each row. Equal rows are one row of the mean of their targets, which
        every base leaves out whole. ``grown``: makes of T what a forest is grown on."""
        c = T.shape[1]
        X, both, counts, number = averaged_rows(X, np.hstack([np.where(known, T, 0.0), known]), times)
        total, share = both[:, :c], both[:, c:]
        mass = share * counts[:, None]
        mean = (total * counts[:, None]).sum(axis=0) / np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
        T = np.where(share > 0, total / np.where(share > 0, share, 1.0), mean)
        return cls(X.astype(np.float64), T, mass, counts, grown(T)), number

    @property
    def weights(self) -> np.ndarray | None:
        """How often each row counts; None where each counts once."""
        return None if np.all(self.counts == 1.0) else self.counts

    def columns(self, some: np.ndarray) -> Known:
        """With some of the columns of T alone; a forest is grown on all."""
        return replace(self, T=self.T[:, some], mass=self.mass[:, some])


class Scorer(Protocol):
    """What a base has learned."""

    def lift(self, X: Any) -> np.ndarray:
        """The scores (m, c) of new rows."""


@dataclass(frozen=True)
class LinearScores:
    """Scores x'W + level of rows x: W (d, c), level (c,)."""

    weights: np.ndarray
    level: np.ndarray

    def lift(self, X: Any) -> np.ndarray:
        """The scores (m, c) of rows X."""
        return np.asarray(X @ self.weights + self.level)


@dataclass(frozen=True)
class KernelScores:
    """Linear scores of the kernel values of rows with the prototypes."""

    kernel: KernelMap
    linear: LinearScores

    def lift(self, X: Any) -> np.ndarray:
        """The scores (m, c) of rows X."""
        return self.linear.lift(self.kernel.values(X))


@dataclass(frozen=True)
class NeighborScores:
    """The mean targets of the nearest rows by cosine: rows X (n, d), their targets times their mass, and mass (n, c);
    ``level`` (c,) where no neighbour has a known target."""

    X: Any
    total: np.ndarray
    mass: np.ndarray
    level: np.ndarray
    n_neighbors: int

    def lift(self, X: Any) -> np.ndarray:
        """The scores (m, c) of rows X."""
        return self.of(nearest(self.X, self.n_neighbors, queries=X, metric="cosine").index)

    def own(self) -> np.ndarray:
        """The scores of the rows themselves, each by the others."""
        return self.of(nearest(self.X, self.n_neighbors, metric="cosine").index)

    def of(self, near: np.ndarray) -> np.ndarray:
        """The scores by the numbers (m, K) of the nearest rows."""
        total, mass = np.zeros((len(near), len(self.level))), np.zeros((len(near), len(self.level)))
        for each in near.T:
            total += self.total[each]
            mass += self.mass[each]
        return np.where(mass > 0, total / np.where(mass > 0, mass, 1.0), self.level)


@dataclass(frozen=True)
class Sizes:
    """How large the bases are, and the seed of what they draw."""

    n_estimators: int
    n_neighbors: int
    seed: int


def ridge_base(known: Known, sizes: Sizes) -> tuple[LinearScores, np.ndarray]:
    """Ridge regression, its penalty of least leave-one-out error, in closed form."""
    penalty = loo_penalty(known.X, known.T, known.weights)
    weights, level, own = ridge_left_out(known.X, known.T, penalty, known.weights)
    return LinearScores(weights, level), own


def kernel_base(known: Known, sizes: Sizes) -> tuple[KernelScores, np.ndarray]:
    """Ridge regression on a Gaussian kernel, whose width and penalty are chosen as in ``Kernelized``; of many rows on
    the map of prototypes."""
    X, T, w, n = known.X, known.T, known.counts, known.X.shape[0]
    chosen = prototypes("kmedoids", X, PROTOTYPES, None, sizes.seed)[0] if n > KERNEL_ROWS else None
    sample = tuning_rows(w, T, None, None if chosen is None else chosen.shape[0])
    widths = median_squared_distance(X[sample]) * WIDTHS
    dimensions = min(w[sample].sum(), np.inf if chosen is None else chosen.shape[0])
    tau, ridge = least_loo(widths, gaussian_coordinates(X[sample], w[sample], chosen), T[sample], dimensions)
    kernel = KernelMap("gaussian", 2, "raw", X if chosen is None else chosen, tau)
    K = kernel.values(X)
    if chosen is not None:
        M = kernel_map(kernel.values(chosen))
        weights, level, own = ridge_left_out(K @ M, T, loo_penalty(K @ M, T, known.weights), known.weights)
        return KernelScores(kernel, LinearScores(M @ weights, level)), own
    dual, own = kernel_left_out(double_centre(K, w), T, ridge * w.sum() / w[sample].sum(), w)
    share = w / w.sum()
    dual -= share[:, None] * dual.sum(axis=0)  # of the rows about their mean
    return KernelScores(kernel, LinearScores(dual, share @ T - share @ K @ dual)), own


def forest_base(known: Known, sizes: Sizes) -> tuple[ForestVotes, np.ndarray]:
    """The votes of a random forest; for the rows of fit those of the trees that were grown without them."""
    settings = {"n_estimators": sizes.n_estimators, "min_samples_leaf": 2, "max_features": "sqrt"}
    return ForestVotes.of(known.X, known.grown, known.T, known.counts, **settings, random_state=sizes.seed)


def neighbor_base(known: Known, sizes: Sizes) -> tuple[NeighborScores, np.ndarray]:
    """The means of the nearest rows by cosine, each cell as often as it counts."""
    level = np.average(known.T, axis=0, weights=known.counts)
    near = min(sizes.n_neighbors, known.X.shape[0] - 1)
    found = NeighborScores(known.X, known.T * known.mass, known.mass, level, near)
    return found, found.own()


def _fits_ridge(n: int, d: int) -> bool:
    return min(n, d) <= MOST_SIDE


def _fits_kernel(n: int, d: int) -> bool:
    return n * min(n, KERNEL_ROWS if n <= KERNEL_ROWS else PROTOTYPES) <= MOST_PAIRS // 8


def _fits_neighbors(n: int, d: int) -> bool:
    return n * n <= MOST_PAIRS


def _fits_forest(n: int, d: int) -> bool:
    return True


@dataclass(frozen=True)
class Base:
    """A way to predict targets: what learns it, and whether n rows of d features are few enough."""

    learn: Callable[[Known, Sizes], tuple[Any, np.ndarray]]
    fits: Callable[[int, int], bool]


BASES = {
    "ridge": Base(ridge_base, _fits_ridge),
    "kernel": Base(kernel_base, _fits_kernel),
    "forest": Base(forest_base, _fits_forest),
    "neighbors": Base(neighbor_base, _fits_neighbors),
}


def learned(known: Known, names: tuple[str, ...], sizes: Sizes) -> tuple[list[Any], np.ndarray]:
    """The fitted bases, and the scores of the rows of fit by each, (m, c, bases)."""
    guard_dense((known.T.size, len(names)), "The scores of all bases")
    found = [BASES[name].learn(known, sizes) for name in names]
    return [scorer for scorer, _ in found], np.stack([own for _, own in found], axis=2)


def lifted(scorers: list[Any], X: Any) -> np.ndarray:
    """The scores of new rows by each base, (m, c, bases)."""
    X = X.astype(np.float64)
    return np.stack([scorer.lift(X) for scorer in scorers], axis=2)
