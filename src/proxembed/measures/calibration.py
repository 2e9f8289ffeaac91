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
    """Platt's sigmoid of each label: the logistic regression of the label on its score, with smoothed targets."""
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
    """Newton's method on the two parameters of every label at once; a step is halved while it raises the loss."""
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
    """Turn scores into probabilities."""
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
    """Log-loss of each label: the mean of -log of the probability given to what was true; nats."""
    Y, P = _checked_probabilities(Y, P)
    return -np.log(np.clip(np.where(Y, P, 1 - P), EPS, 1 - EPS)).mean(axis=0)


def log_loss(Y: Any, P: Any) -> LabelMean:
    """Mean over labels of the log-loss; every label counts, also one that no row has."""
    each = label_log_loss(Y, P)
    return LabelMean(float(each.mean()), len(each))


def label_calibration_error(Y: Any, P: Any, *, n_bins: int = 10, known: np.ndarray | None = None) -> np.ndarray:
    """Calibration error of each label: the mean gap between probability and frequency over bins of equal width."""
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
    """Mean over labels of the calibration error; every label counts, also one that no row has."""
    return float(label_calibration_error(Y, P, n_bins=n_bins).mean())
