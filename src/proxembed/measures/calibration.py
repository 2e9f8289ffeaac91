"""Scores as probabilities (Platt's sigmoid), and how far probabilities can be trusted: log-loss, calibration error."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from .metrics import LabelMean, checked_pair

EPS = float(np.finfo(np.float64).eps)
MAX_STEPS = 100
STEP = 1e-7  # of standardised scores; Newton's next step would be its square


class Platt(NamedTuple):
    """A sigmoid per label: P = 1 / (1 + exp(-(slope S + offset)))."""

    slope: np.ndarray
    offset: np.ndarray


def platt_fit(S: Any, Y: Any, known: np.ndarray | None = None) -> Platt:
    """Platt's sigmoid of each label: the logistic regression of the label on its score, with smoothed targets.

    Targets are (n1 + 1) / (n1 + 2) and 1 / (n0 + 2) instead of 1 and 0, so that a label without a positive row gets a
    small probability and no infinite one. The slope is never negative: where a larger score does not make the label
    more likely, the probability is constant. The scores must come from models that have not seen their rows.
    [platt1999probabilities]

    Parameters
    ----------
    S : array of shape (n, c)
        Cross-fitted scores of the training part.
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    known : bool array of shape (n, c), optional
        The cells to use; None: all.

    Returns
    -------
    Platt
        ``slope`` and ``offset``, each of shape (c,).

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1, S is not finite, or there is no row.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures.calibration import platt_apply, platt_fit
    >>> S = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> platt_apply(S, platt_fit(S, S > 0)).round(2).ravel().tolist()
    [0.21, 0.34, 0.66, 0.79]
    """
    Y, S = checked_pair(Y, S)
    if len(Y) == 0:
        raise ValueError("S has no row; give the cross-fitted scores of the training part.")
    if known is not None:
        found = Platt(*np.zeros((2, Y.shape[1])))
        for j in np.flatnonzero(known.any(axis=0)):
            own = platt_fit(S[known[:, j], j : j + 1], Y[known[:, j], j : j + 1])
            found.slope[j], found.offset[j] = own.slope[0], own.offset[0]
        return found
    n1 = Y.sum(axis=0)
    targets = np.where(Y, (n1 + 1) / (n1 + 2), 1 / (len(Y) - n1 + 2))
    center, spread = S.mean(axis=0), S.std(axis=0)
    varies = (np.ptp(S, axis=0) > 0) & (spread > 0)
    scaled = np.where(varies, (S - center) / np.where(varies, spread, 1.0), 0.0)
    slope, offset = _sigmoids(scaled, targets)
    falling = ~varies | (slope <= 0)
    slope = np.where(falling, 0.0, slope / np.where(varies, spread, 1.0))
    return Platt(slope, np.where(falling, logit(targets.mean(axis=0)), offset - slope * np.where(varies, center, 0.0)))


def _evaluate(
    slope: np.ndarray, offset: np.ndarray, S: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Loss of each label, and the probabilities, from one exponential."""
    margin = S * slope + offset
    small = np.exp(-np.abs(margin))
    loss = np.maximum(margin, 0.0) + np.log1p(small) - targets * margin
    return loss.sum(axis=0), np.where(margin >= 0, 1.0, small) / (1.0 + small)


def _sigmoids(S: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method on the two parameters of every label at once; a step is halved while it raises the loss.

    Labels that have come to rest leave the loop.
    """
    slope, offset = np.zeros(S.shape[1]), logit(targets.mean(axis=0))
    loss, P = _evaluate(slope, offset, S, targets)
    size, active = np.ones_like(slope), np.arange(S.shape[1])
    for _ in range(MAX_STEPS):
        d1, d2 = _newton_step(S, P, targets)
        a, b = slope[active], offset[active]
        tried = a - size * d1, b - size * d2
        new_loss, new_P = _evaluate(*tried, S, targets)
        worse = new_loss > loss * (1 + 1e-12)
        moved = np.where(worse, np.inf, np.maximum(np.abs(size * d1), np.abs(size * d2)))
        slope[active], offset[active] = np.where(worse, a, tried[0]), np.where(worse, b, tried[1])
        loss, size = np.where(worse, loss, new_loss), np.where(worse, size / 2, 1.0)
        new_P[:, worse] = P[:, worse]
        P = new_P
        going = moved >= STEP
        if not going.all():
            active, loss, size = active[going], loss[going], size[going]
            S, targets, P = S[:, going], targets[:, going], P[:, going]
        if len(active) == 0:
            break
    return slope, offset


def _newton_step(S: np.ndarray, P: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    residual, weight = P - targets, P * (1 - P)
    g1, g2 = np.einsum("ij,ij->j", S, residual), residual.sum(axis=0)
    weighted = S * weight
    h11, h12, h22 = np.einsum("ij,ij->j", S, weighted), weighted.sum(axis=0), weight.sum(axis=0)
    h11, h22 = h11 + 1e-12 * len(S), h22 + 1e-12 * len(S)
    determinant = h11 * h22 - h12**2
    return (h22 * g1 - h12 * g2) / determinant, (h11 * g2 - h12 * g1) / determinant


def platt_apply(S: Any, platt: Platt) -> np.ndarray:
    """Turn scores into probabilities.

    Parameters
    ----------
    S : array of shape (m, c)
    platt : Platt

    Returns
    -------
    array of shape (m, c)

    Raises
    ------
    ValueError
        S has another number of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures.calibration import Platt, platt_apply
    >>> platt_apply(np.array([[0.0, 5.0]]), Platt(np.array([1.0, 0.0]), np.array([0.0, 0.0]))).tolist()
    [[0.5, 0.5]]
    """
    S = np.asarray(S, dtype=np.float64)
    if S.ndim != 2 or S.shape[1] != len(platt.slope):
        raise ValueError(f"S must have one column for each of the {len(platt.slope)} sigmoids; got shape {S.shape}.")
    return expit(S * platt.slope + platt.offset)


def _checked_probabilities(Y: Any, P: Any) -> tuple[np.ndarray, np.ndarray]:
    Y, P = checked_pair(Y, P)
    if P.size == 0:
        raise ValueError(f"P has shape {P.shape}; a measure needs at least one row and one label.")
    if P.min() < 0 or P.max() > 1:
        raise ValueError(f"P must hold probabilities; got {P.min():g} to {P.max():g}. Apply platt_apply to scores.")
    return Y, P


def label_log_loss(Y: Any, P: Any) -> np.ndarray:
    """Log-loss of each label: the mean of -log of the probability given to what was true; nats.

    Probabilities are kept 2.2e-16 away from 0 and 1, as scikit-learn does. Takes arrays of shape (n, c), returns (c,).

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures.calibration import label_log_loss
    >>> label_log_loss(np.array([[1], [0]]), np.array([[0.5], [0.5]])).round(4).tolist()
    [0.6931]
    """
    Y, P = _checked_probabilities(Y, P)
    return -np.log(np.clip(np.where(Y, P, 1 - P), EPS, 1 - EPS)).mean(axis=0)


def log_loss(Y: Any, P: Any) -> LabelMean:
    """Mean over labels of the log-loss; every label counts, also one that no row has.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    P : array of shape (n, c)
        Probabilities of the labels.

    Returns
    -------
    LabelMean

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1, P is not between 0 and 1, or there is nothing to measure.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures.calibration import log_loss
    >>> round(log_loss(np.array([[1, 0]]), np.array([[0.5, 0.5]])).value, 4)
    0.6931
    """
    each = label_log_loss(Y, P)
    return LabelMean(float(each.mean()), len(each))


def label_calibration_error(Y: Any, P: Any, *, n_bins: int = 10, known: np.ndarray | None = None) -> np.ndarray:
    """Calibration error of each label: the mean gap between probability and frequency over bins of equal width.

    Bin b holds the probabilities in [b / n_bins, (b + 1) / n_bins), the last one also 1; its gap is
    |mean probability - share of positives|, weighted by its rows. Takes arrays of shape (n, c), returns (c,).
    ``known``, (n, c), is True for the cells to look at.

    Raises
    ------
    ValueError
        As ``log_loss``; ``n_bins`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures.calibration import label_calibration_error
    >>> label_calibration_error(np.array([[1], [0]]), np.array([[0.9], [0.3]])).round(4).tolist()
    [0.2]
    """
    Y, P = _checked_probabilities(Y, P)
    if int(n_bins) != n_bins or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} must be a whole number of at least 1.")
    if known is not None:
        each = np.full(Y.shape[1], np.nan)
        for j in np.flatnonzero(known.any(axis=0)):
            cells = Y[known[:, j], j : j + 1], P[known[:, j], j : j + 1]
            each[j] = label_calibration_error(*cells, n_bins=n_bins)[0]
        return each
    n, c = Y.shape
    cell = np.minimum((P * n_bins).astype(np.intp), int(n_bins) - 1) * c + np.arange(c)
    gaps = np.bincount(cell.ravel(), weights=(P - Y).ravel(), minlength=int(n_bins) * c)
    return np.abs(gaps).reshape(-1, c).sum(axis=0) / n


def calibration_error(Y: Any, P: Any, *, n_bins: int = 10) -> float:
    """Mean over labels of the calibration error; every label counts, also one that no row has.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    P : array of shape (n, c)
        Probabilities of the labels.
    n_bins : int, default=10
        Bins of equal width.

    Returns
    -------
    float
        From 0 (frequencies are as foretold) to 1.

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1, P is not between 0 and 1, there is nothing to measure, or ``n_bins`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures.calibration import calibration_error
    >>> calibration_error(np.array([[1, 0], [0, 0]]), np.array([[0.5, 0.0], [0.5, 0.0]]))
    0.0
    """
    return float(label_calibration_error(Y, P, n_bins=n_bins).mean())
