"""Probabilities from scores: maps fitted on scores of rows that the model has not seen, and how far they hold.

The map of a label is Platt's sigmoid, whose two sides then get slopes of their own (beta calibration). Of classes that
exclude each other it is a softmax of the scores times one slope, with a level per class.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logit, softmax
from scipy.stats import rankdata

from proxembed.algebra.pencil.logistic import logistic_weights, softmax_weights
from proxembed.targets.values import dense_labels

from .metrics import LabelMean, checked_pair, checked_probabilities

FITTED = 1 << 20  # cells whose maps are fitted at a time
LEAST = 1e-10  # penalty of the slope of a sigmoid: keeps it defined where scores say nothing
SHRINK = 1.0  # weight, in rows, of the prior that both sides of a sigmoid keep its slope
BINS = 10


class Calibration(NamedTuple):
    """Maps from scores to log odds, low log Q - high log(1 - Q) + level with Q = expit(slope S + offset), each an array
    (c,). low, high and slope are at least 0, so that a probability never falls as its score rises. P = expit(log odds),
    and softmax of the log odds where ``one_class``."""

    slope: np.ndarray
    offset: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: np.ndarray
    one_class: bool = False


def calibrated(S: Any, Y: Any, known: np.ndarray | None = None, sample_weight: np.ndarray | None = None) -> Calibration:
    """Fit the map of each label from its scores to probabilities.  [platt1999probabilities, kull2017beta]

    Q is Platt's sigmoid: the logistic regression of the label on its score, with smoothed targets, (n1 + 1) / (n1 + 2)
    for the n1 positive rows and 1 / (n0 + 2) for the n0 others. P is the logistic regression of the same targets on log
    Q and -log(1 - Q), its two slopes shrunk to 1, where P = Q: with few positive rows P stays near Q. A label without a
    known row gets 0.5, one whose scores say nothing the share of its smoothed targets.

    Parameters
    ----------
    S : array of shape (n, c), or the products of many labels
        Scores of rows by models that have not seen them.
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    known : bool array of shape (n, c), optional
        The cells to use; None: all.
    sample_weight : array of shape (n,), optional
        How often each row counts; None: once.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        Shapes differ, S is not finite, or there is no row.
    """
    Y, S = dense_labels(Y), S if hasattr(S, "shape") else np.asarray(S)
    if S.shape != Y.shape:
        raise ValueError(f"Y and S must have one shape; got Y {Y.shape} and S {S.shape}. Score every row and label.")
    if len(Y) == 0:
        raise ValueError("S has no row; give the cross-fitted scores of the training part.")
    found = _plain(*np.zeros((2, S.shape[1])))
    step, w = max(1, FITTED // len(Y)), np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight)
    for start in range(0, S.shape[1], step):
        part = slice(start, start + step)
        scores = S.of_labels(part) if hasattr(S, "of_labels") else S[:, part].T
        scores, labels = np.asarray(scores, dtype=np.float64), Y[:, part].T
        if not np.isfinite(scores).all():
            raise ValueError("S must be finite; it holds NaN or infinity. Check the model that produced the scores.")
        mass = np.broadcast_to(w, labels.shape) if known is None else known[:, part].T * w
        some = np.flatnonzero(mass.any(axis=1))
        own = _fitted(scores[some], labels[some], mass[some])
        for whole, values in zip(found[:5], own, strict=True):
            whole[start + some] = values
    return found


def _plain(slope: np.ndarray, offset: np.ndarray, one_class: bool = False) -> Calibration:
    """Maps whose log odds are slope S + offset."""
    low, high, level = np.ones(len(slope)), np.ones(len(slope)), np.zeros(len(slope))
    return Calibration(slope, offset, low, high, level, one_class)


def calibrated_classes(S: Any, Y: Any, sample_weight: np.ndarray | None = None) -> Calibration:
    """Fit the map of classes that exclude each other: log odds a S + b, a one slope and b a level per class.

    The multinomial logistic regression with these coefficients, of Platt's smoothed targets: (n_k + 1) / (n_k + 2) for
    the class k of a row, which n_k rows have, and what is left in equal parts for the others. [platt1999probabilities,
    alexandari2020shift] The levels are shrunk to 0 by the weight of one row. Scores that say nothing leave the shares
    of the classes.

    Parameters
    ----------
    S : array of shape (n, c)
        Scores of rows by models that have not seen them.
    Y : array or sparse array of shape (n, c)
        One 1 per row.
    sample_weight : array of shape (n,), optional
        How often each row counts; None: once.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        Shapes differ, S is not finite, or there is no row.
    """
    Y, S = checked_pair(Y, S)
    if len(Y) == 0:
        raise ValueError("S has no row; give the cross-fitted scores of the training part.")
    w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    counts, c = w @ Y, Y.shape[1]
    targets = np.where(Y, (counts + 1) / (counts + 2), (1 / (Y @ counts + 2) / max(c - 1, 1))[:, None])
    S = S - S.mean(axis=1, keepdims=True)
    spread = float(np.sqrt(w @ (S**2).mean(axis=1) / w.sum()))
    shares = np.log(w @ targets / w.sum())
    if c == 1 or spread == 0:
        return _plain(np.zeros(c), shares, True)
    slope, levels = softmax_weights(S / spread, targets, w, SHRINK)
    if slope <= 0:
        return _plain(np.zeros(c), shares, True)
    return _plain(np.full(c, slope / spread), levels, True)


def _fitted(S: np.ndarray, Y: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, ...]:
    """Slope, offset, low, high and level of labels, from scores, labels and how often each cell counts, (c, n)."""
    total, known = mass.sum(axis=1), mass > 0
    n1 = (mass * Y).sum(axis=1)
    T = np.where(Y, ((n1 + 1) / (n1 + 2))[:, None], (1 / (total - n1 + 2))[:, None])
    center = (mass * S).sum(axis=1) / total
    gap = np.where(known, S - center[:, None], 0.0)
    spread = np.sqrt((mass * gap**2).sum(axis=1) / total)
    varies = (np.where(known, S, -np.inf).max(axis=1) > np.where(known, S, np.inf).min(axis=1)) & (spread > 0)
    unit = np.where(varies, spread, 1.0)
    scaled = np.where(varies[:, None], gap / unit[:, None], 0.0)
    found = logistic_weights(scaled[:, :, None], T, mass, LEAST)
    falling = ~varies | (found[:, 1] <= 0)
    slope = np.where(falling, 0.0, found[:, 1])
    level = np.where(falling, logit((mass * T).sum(axis=1) / total), found[:, 0])
    sides = _sides(slope[:, None] * scaled + level[:, None], T, mass)
    slope = slope / unit
    return slope, level - slope * np.where(varies, center, 0.0), *sides.T


def _sides(margin: np.ndarray, T: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The slopes of both sides of sigmoids and their levels, (c, 3); a slope that would be below 0 is held at 0."""
    F = np.stack([log_expit(margin), -log_expit(-margin)], axis=2)
    found = 1.0 + np.roll(logistic_weights(F, T, mass, SHRINK, margin), -1, axis=1)
    found[:, 2] -= 1.0
    for held, free in ((0, 1), (1, 0)):
        wrong = np.flatnonzero(found[:, held] < 0)
        if len(wrong):
            own = logistic_weights(F[wrong][:, :, [free]], T[wrong], mass[wrong], SHRINK, F[wrong][:, :, free])
            found[wrong, held], found[wrong, free], found[wrong, 2] = 0.0, np.maximum(1.0 + own[:, 1], 0.0), own[:, 0]
    return found


def log_odds_of(S: Any, calibration: Calibration) -> np.ndarray:
    """Log odds of the probabilities of scores (m, c)."""
    S = np.asarray(S, dtype=np.float64)
    if S.ndim != 2 or S.shape[1] != len(calibration.slope):
        raise ValueError(f"S must have one column for each of the {len(calibration.slope)} maps; got shape {S.shape}.")
    margin = S * calibration.slope + calibration.offset
    return calibration.low * log_expit(margin) - calibration.high * log_expit(-margin) + calibration.level


def probabilities_of(S: Any, calibration: Calibration) -> np.ndarray:
    """Turn scores (m, c) into probabilities (m, c), of classes such that those of a row sum to 1."""
    odds = log_odds_of(S, calibration)
    return softmax(odds, axis=1) if calibration.one_class else expit(odds)


def label_brier_score(Y: Any, P: Any, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Brier score of each label: the mean squared difference of probability and label.  [brier1950verification]"""
    Y, P = checked_probabilities(Y, P)
    return np.asarray(np.average((P - Y) ** 2, axis=0, weights=sample_weight))


def brier_score(Y: Any, P: Any, sample_weight: np.ndarray | None = None) -> LabelMean:
    """Mean over labels of the Brier score; every label counts, also one that no row has."""
    each = label_brier_score(Y, P, sample_weight)
    return LabelMean(float(each.mean()), len(each))


class Reliability(NamedTuple):
    """Cells in bins of equal weight by their probability, lowest first, each array (bins,): the mean probability of a
    bin, the share of its cells that are positive, and how many cells it holds; ``error``: the expected calibration
    error, the mean over cells of the gap between probability and share of their bin."""

    probability: np.ndarray
    share: np.ndarray
    cells: np.ndarray
    error: float


def reliability(
    Y: Any, P: Any, *, n_bins: int = BINS, known: np.ndarray | None = None, sample_weight: np.ndarray | None = None
) -> Reliability:
    """The reliability curve of all cells taken as one label.  [niculescu2005good]

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    P : array of shape (n, c)
        Probabilities.
    n_bins : int, default=10
        Bins, of equal numbers of cells; cells of one probability share a bin, so that there may be fewer.
    known : bool array of shape (n, c), optional
        The cells to use; None: all.
    sample_weight : array of shape (n,), optional
        How often each row counts; None: once.

    Returns
    -------
    Reliability

    Raises
    ------
    ValueError
        Shapes differ, P holds no probabilities, or no cell is known.
    """
    Y, P = checked_probabilities(Y, P)
    cells = np.ones(Y.shape, dtype=bool) if known is None else known
    w = np.ones(len(Y)) if sample_weight is None else sample_weight
    return _curve(Y[cells], P[cells], np.broadcast_to(w[:, None], Y.shape)[cells], _checked_bins(n_bins))


def _curve(y: np.ndarray, p: np.ndarray, w: np.ndarray, n_bins: int) -> Reliability:
    if not w.any():
        raise ValueError("no cell is known, so that there is nothing to calibrate against.")
    place = _bins(p[:, None], w, n_bins)[:, 0]
    cells, positive, sums = (np.bincount(place, each, n_bins) for each in (w, w * y, w * p))
    used = cells > 0
    probability, share = sums[used] / cells[used], positive[used] / cells[used]
    return Reliability(probability, share, cells[used], float(np.abs(positive - sums).sum() / cells.sum()))


def _checked_bins(n_bins: Any) -> int:
    if int(n_bins) != n_bins or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} must be a whole number of at least 1.")
    return int(n_bins)


def _bins(P: np.ndarray, w: np.ndarray | None, n_bins: int) -> np.ndarray:
    """The bin of each cell of a column: bins hold equal weights, and equal probabilities share the bin in which the
    middle of their ranks lies."""
    if w is None:
        middle, whole = rankdata(P, axis=0) - 0.5, float(len(P))
    else:
        middle, whole = np.empty(P.shape), float(w.sum())
        for j, column in enumerate(P.T):
            place = np.unique(column, return_inverse=True)[1]
            mass = np.bincount(place, w)
            middle[:, j] = (np.cumsum(mass) - mass / 2)[place]
    return np.minimum((middle * (n_bins / whole) + 1e-9).astype(np.intp), n_bins - 1)


def label_calibration_error(
    Y: Any,
    P: Any,
    *,
    n_bins: int = BINS,
    known: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Expected calibration error of each label: the mean over rows of the gap between the mean probability and the
    share of positive rows in their bin; bins are those of ``reliability``, of equal numbers of rows. NaN for a label
    without a known row."""
    Y, P = checked_probabilities(Y, P)
    n_bins = _checked_bins(n_bins)
    if known is not None:
        w = np.ones(len(Y)) if sample_weight is None else sample_weight
        return np.array(
            [
                _curve(Y[rows, j], P[rows, j], w[rows], n_bins).error if w[rows].any() else np.nan
                for j, rows in enumerate(known.T)
            ]
        )
    n, c = Y.shape
    cell = _bins(P, sample_weight, n_bins) * c + np.arange(c)
    missed, n = (P - Y, n) if sample_weight is None else (sample_weight[:, None] * (P - Y), sample_weight.sum())
    gaps = np.bincount(cell.ravel(), weights=missed.ravel(), minlength=n_bins * c)
    return np.abs(gaps).reshape(-1, c).sum(axis=0) / n


def calibration_error(Y: Any, P: Any, *, n_bins: int = BINS, sample_weight: np.ndarray | None = None) -> float:
    """Mean over labels of the expected calibration error; every label counts, also one that no row has."""
    return float(label_calibration_error(Y, P, n_bins=n_bins, sample_weight=sample_weight).mean())
