"""Measures of outputs: how well numbers are predicted (Q2, R2), and how alike those of neighbours are (A@k).

In: cells of the target factor F of held-out rows, their predictions, or moments of the outputs of their neighbours.
Out: one value per output, of all rows or of each draw of rows. F is about the means of the training rows, so that 0 is
the prediction without features; a class output has one column per class, whose errors are summed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

SKEWED = 2.0  # skewness of an output above which A@k of ranks is reported too


@dataclass(frozen=True)
class OutputCells:
    """Cells of F of some rows: ``F`` (m, r), 0 where unknown; ``known`` (m, r), None: all; ``owner`` (r,): the number
    of the output of each column; ``level`` and ``scale`` (r,): F is (value - level) * scale."""

    F: np.ndarray
    owner: np.ndarray
    level: np.ndarray
    scale: np.ndarray
    known: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.F)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of F."""
        return self.F.shape

    @property
    def mask(self) -> np.ndarray:
        """1.0 where a cell is known, (m, r)."""
        return np.ones(self.F.shape) if self.known is None else self.known.astype(np.float64)

    def take(self, rows: Any) -> OutputCells:
        """The cells of some rows."""
        return replace(self, F=self.F[rows], known=None if self.known is None else self.known[rows])

    def in_units(self, F: np.ndarray) -> np.ndarray:
        """Values of F in the units of the outputs, NaN where a cell of these rows is unknown."""
        values = np.divide(F, self.scale, out=np.zeros(F.shape), where=self.scale > 0) + self.level
        return values if self.known is None else np.where(self.known, values, np.nan)

    def per_output(self, values: np.ndarray) -> np.ndarray:
        """Sums over the columns of each output, (..., q)."""
        return np.add.reduceat(values, np.flatnonzero(np.diff(self.owner, prepend=-1)), axis=-1)


def skewness(cells: OutputCells) -> np.ndarray:
    """Skewness of the known values of each output, (q,); NaN of class outputs."""
    mask, sizes = cells.mask, np.bincount(cells.owner)
    count = np.maximum(mask.sum(axis=0), 1.0)
    apart = mask * (cells.F - (mask * cells.F).sum(axis=0) / count)
    spread, third = ((apart**power).sum(axis=0) / count for power in (2, 3))
    skew = np.divide(third, spread**1.5, out=np.zeros_like(third), where=spread > 0)
    return np.where(sizes == 1, cells.per_output(skew), np.nan)


def skewed_outputs(cells: OutputCells) -> np.ndarray:
    """Whether the skewness of an output is above 2, (q,); that of class outputs is not."""
    return skewness(cells) > SKEWED


def as_ranks(train: OutputCells, new: OutputCells) -> tuple[OutputCells, OutputCells]:
    """The cells of training and of new rows with the rank of each known number among both, from 0 to 1, in place of its
    value; ties share their mean rank, and class outputs stay."""
    F, known = (np.concatenate(pair) for pair in ((train.F, new.F), (train.mask > 0, new.mask > 0)))
    for j in np.flatnonzero(np.bincount(train.owner)[train.owner] == 1):
        values = F[known[:, j], j]
        F[known[:, j], j] = (rankdata(values) - 1) / max(len(values) - 1, 1)
    return replace(train, F=F[: len(train)]), replace(new, F=F[len(train) :])


def near_outputs(weights: Any, F: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
    """Of the neighbours of each row the mean of F, the mean of its squares and the share of known cells, (m, 3, r).
    ``weights`` (m, n): sparse, its rows sum to 1."""
    mask = np.ones(F.shape) if known is None else known.astype(np.float64)
    own = F * mask
    return np.stack([np.asarray(weights @ each) for each in (own, own * F, mask)], axis=1)


def _weighted(cells: OutputCells, weights: np.ndarray | None) -> np.ndarray:
    """How often each row counts, (b, m) or (m,); once for all rows without weights."""
    return np.ones((1, len(cells))) if weights is None else np.asarray(weights, dtype=np.float64)


def _explained(missed: np.ndarray, total: np.ndarray) -> np.ndarray:
    """1 - missed / total; NaN where the total is 0."""
    return 1.0 - np.divide(missed, total, out=np.full(np.shape(missed), np.nan), where=total > 0)


def q2_each(cells: OutputCells, predicted: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """1 - SSE / SS per output, SS about the means of the training rows: (q,), or (b, q) under ``weights`` (b, m), and
    (q,) under (m,)."""
    W, mask = _weighted(cells, weights), cells.mask
    missed, total = (cells.per_output(W @ (mask * each**2)) for each in (cells.F - predicted, cells.F))
    found = _explained(missed, total)
    return found[0] if weights is None else found


def r2_each(cells: OutputCells, predicted: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The same about the means of the rows that are scored, (q,); ``weights`` (m,)."""
    mask = cells.mask if weights is None else cells.mask * weights[:, None]
    rows = mask.sum(axis=0)
    mean = (mask * cells.F).sum(axis=0) / np.where(rows > 0, rows, 1.0)
    missed, total = (cells.per_output((mask * each**2).sum(axis=0)) for each in (cells.F - predicted, cells.F - mean))
    return _explained(missed, total)


def weighted_ranks(values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The rank of each value, ties at their mean; ``weights``: how often each occurs, whose mean rank it gets."""
    if weights is None:
        return rankdata(values)
    _, place = np.unique(values, return_inverse=True)
    size = np.bincount(place, weights)
    return (np.cumsum(size) - (size - 1) / 2)[place]


def spearman_each(cells: OutputCells, predicted: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The rank correlation of predicted and true values per output, (q,); of a class output the mean of its columns;
    NaN where one of them does not vary. ``weights`` (m,)."""
    found = np.full(cells.shape[1], np.nan)
    for j, rows in enumerate(cells.mask.T > 0):
        own = None if weights is None else weights[rows]
        ranks = np.array([weighted_ranks(each[rows, j], own) for each in (cells.F, predicted)])
        if rows.any() and (np.ptp(ranks, axis=1) > 0).all():
            found[j] = _correlation(ranks, own)
    known = np.isfinite(found)
    counts = cells.per_output(known.astype(np.float64))
    return _ratio(cells.per_output(np.where(known, found, 0.0)), counts)


def agreement_each(cells: OutputCells, near: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """A@k per output: 1 - mean squared difference of a row and its neighbours over that of all pairs of a row and the
    neighbours of any row.  [lin1989concordance]

    0 is chance, and what one list of neighbours for every row gives; 1 is perfect. Of 0/1 outputs it is Cohen's kappa.
    ``near``: of ``near_outputs``. Returns (q,), or (b, q) under ``weights`` (b, m); NaN
    for an output whose values are all equal, or 0 where every output is so."""
    W, mask, F = _weighted(cells, weights), cells.mask, cells.F
    mean, square, share = near[:, 0], near[:, 1], near[:, 2]
    apart = cells.per_output(W @ (mask * (share * F**2 - 2 * F * mean + square)))
    rows, own, squares, shares, means, theirs = (
        W @ (mask * each) for each in (np.ones_like(F), F, F**2, share, mean, square)
    )
    pairs = cells.per_output((squares * shares - 2 * own * means + rows * theirs) / np.where(rows > 0, rows, 1.0))
    varied = pairs > 0
    equal = np.where(varied.any(axis=-1, keepdims=True), np.nan, 0.0)
    found = np.where(varied, 1.0 - np.divide(apart, pairs, out=np.zeros_like(apart), where=varied), equal)
    found = np.where(cells.per_output(rows) > 0, found, np.nan)
    return found[0] if weights is None else found


def _correlation(pair: np.ndarray, weights: np.ndarray | None) -> float:
    """The correlation of two rows of values."""
    if weights is None:
        return float(np.corrcoef(pair)[0, 1])
    centred = pair - np.average(pair, axis=1, weights=weights)[:, None]
    products = (centred * weights) @ centred.T
    return float(products[0, 1] / np.sqrt(products[0, 0] * products[1, 1]))


def _ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.divide(one, other, out=np.full(np.shape(one), np.nan), where=other > 0)


def mean_over_outputs(values: np.ndarray) -> Any:
    """The mean over the outputs on which a value is defined, of one or of each draw; NaN without any."""
    known = np.isfinite(values)
    return _ratio(np.where(known, values, 0.0).sum(axis=-1), np.asarray(known.sum(axis=-1), dtype=np.float64))


def _macro(each: Any) -> Any:
    """The measure that is the mean over the outputs of one of these."""

    def macro(cells: OutputCells, reading: Any, sample_weight: np.ndarray | None = None) -> tuple[float, int]:
        values = each(cells, reading, sample_weight)
        return float(mean_over_outputs(values)), int(np.isfinite(values).sum())

    macro.__name__, macro.__doc__ = each.__name__.removesuffix("_each"), each.__doc__
    return macro


q2, r2, spearman, agreement = (_macro(each) for each in (q2_each, r2_each, spearman_each, agreement_each))
