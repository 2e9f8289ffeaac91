"""From shares in [0, 1] to labels: a cut per label, or the largest share for one class per row."""

from __future__ import annotations

import numpy as np

from ..classify.thresholds import label_folds, tune_thresholds

FIFTHS = 5
CUTS = (0.01, 0.99)
DECISIONS = ("tuned", "cmn", "fixed")
LARGEST_CUT = 1.0 - 1e-12  # a share of 1, which a labelled row has, is always above the cut


def hidden_fifth(rows: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """A fifth of the labelled rows, labels spread evenly: hidden to tune a cut on.

    rows : numbers of the labelled rows. Y : (n, c) of bool.

    >>> hidden_fifth(np.arange(2, 12), np.arange(12)[:, None] % 2 > 0).shape
    (2,)
    """
    return rows[next(iter(label_folds(FIFTHS, Y[rows])))[1]]


def one_cut(soft: np.ndarray, Y: np.ndarray) -> float:
    """The cut of all labels where micro F1 is largest, from 0.01 to 0.99; soft labels and labels are (m, c).

    >>> one_cut(np.array([[0.2], [0.6], [0.8]]), np.array([[False], [True], [True]]))
    0.4
    """
    return float(np.clip(tune_thresholds(soft, Y).global_cut, *CUTS))


def mass_cuts(shares: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Class-mass normalisation as cuts: label j where q h / sum h > (1 - q)(1 - h) / sum (1 - h).  [zhu2003gfhf]

    shares : (m, c), h of the rows whose mass counts. prior : (c,), q, the share of labelled rows with each label.

    >>> mass_cuts(np.array([[0.1], [0.3]]), np.array([0.5])).round(3)
    array([0.2])
    """
    own, rest = shares.sum(axis=0), (1.0 - shares).sum(axis=0)
    above, below = (1.0 - prior) * own, prior * rest
    total = above + below
    return np.divide(above, total, out=np.full(len(prior), 0.5), where=total > 0)


def mass_weights(shares: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Class-mass normalisation for one class per row: the largest q h / sum h is chosen.  [zhu2003gfhf]

    >>> mass_weights(np.array([[0.2, 0.8], [0.3, 0.7]]), np.array([0.5, 0.5])).round(3)
    array([1.   , 0.333])
    """
    mass = shares.sum(axis=0)
    return np.divide(prior, mass, out=np.ones(len(prior)), where=mass > 0)


def cut_at_half(shares: np.ndarray, cuts: np.ndarray, n_labelled: int) -> np.ndarray:
    """Probabilities from shares h: their odds scaled so that the cut t comes to 0.5, and all drawn to 0.5 as two
    more rows would draw a rate, one with the label and one without.

    >>> cut_at_half(np.array([[0.2, 0.0, 1.0]]), np.array([0.2, 0.0, 0.3]), 8).tolist()
    [[0.5, 0.1, 0.9]]
    """
    above, below = shares * (1.0 - cuts), (1.0 - shares) * cuts
    total = above + below
    odds = np.divide(above, total, out=np.zeros_like(total), where=total > 0)
    return (n_labelled * odds + 1.0) / (n_labelled + 2.0)


def distributions(shares: np.ndarray, weights: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Rows of weighted shares that sum to 1; the prior where no class has any.

    >>> distributions(np.array([[0.2, 0.6], [0.0, 0.0]]), np.ones(2), np.array([0.1, 0.9])).round(3).tolist()
    [[0.25, 0.75], [0.1, 0.9]]
    """
    mass = shares * weights
    total = mass.sum(axis=1, keepdims=True)
    return np.where(total > 0, np.divide(mass, total, out=np.zeros_like(mass), where=total > 0), prior)


def agreeing(soft: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Soft labels of classes, that of the predicted one raised to a bit above the others where it is below.

    >>> agreeing(np.array([[0.75, 0.25], [0.25, 0.5]]), np.array([[0.0, 1.0], [0.0, 1.0]])).tolist()
    [[0.75, 0.7500000074505806], [0.25, 0.5]]
    """
    others = np.where(F > 0, -np.inf, soft).max(axis=1, keepdims=True)
    least = others + np.maximum(abs(others), 1.0) * 2.0**-27
    return np.where(F > 0, np.maximum(soft, least), soft)
