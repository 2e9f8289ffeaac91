"""Measures of rows drawn again with replacement: how far a gain would move with other test rows of the same kind."""

from typing import Any

import numpy as np

from .measures import Measure
from .metrics import average_precision

N_DRAWS = 400
TWO_SIDED = 1.959964  # the 97.5 % point of the normal distribution


def drawn_weights(n: int, groups: Any = None, n_draws: int = N_DRAWS, seed: int = 0) -> np.ndarray:
    """How often each row is drawn: (n_draws, n) whole numbers; the rows of a group are drawn together."""
    unit = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    count = unit.max() + 1
    return np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=n_draws)[:, unit]


def weighted_average_precision(y: np.ndarray, s: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average precision of one label under each row of weights; NaN where the weights leave no positive row."""
    order = np.argsort(-s, kind="stable")
    ends = np.flatnonzero(np.append(s[order][1:] != s[order][:-1], True))
    step = np.searchsorted(ends, np.flatnonzero(y[order]))  # the steps that hold a positive row: the others add nothing
    ends, own = np.unique(ends[step], return_inverse=True)
    if len(ends) == 0:
        return np.full(len(weights), np.nan)
    W = weights[:, order]
    drawn = np.cumsum(np.add.reduceat(W[:, : ends[-1] + 1], np.append(0, ends[:-1] + 1), axis=1), axis=1)
    gained = np.add.reduceat(W[:, y[order]], np.searchsorted(own, np.arange(len(ends))), axis=1)
    hits = np.cumsum(gained, axis=1)
    total = hits[:, -1]
    value = (gained * hits / np.maximum(drawn, 1)).sum(axis=1)
    return np.where(total > 0, value / np.maximum(total, 1), np.nan)


def redrawn_gain(
    measure: Measure,
    truth: np.ndarray,
    ours: np.ndarray | None,
    theirs: np.ndarray | None,
    weights: np.ndarray,
    gain: float,
    least: int = 1,
    known: np.ndarray | None = None,
) -> list[float] | None:
    """The 95 % interval of a gain in any measure of scores, by measuring rows drawn again."""
    if measure.reads != "scores" or ours is None or theirs is None:
        return None
    moved = []
    for weight in weights:
        index = np.repeat(np.arange(len(truth)), weight)
        cells = None if known is None else known[index]
        drawn = [measure.score(measure.value(truth[index], S[index], least, cells)[0]) for S in (ours, theirs)]
        moved.append(drawn[0] - drawn[1])
    error = float(np.nanstd(moved, ddof=1))
    return [gain - TWO_SIDED * error, gain + TWO_SIDED * error]


def precision_gain(
    truth: np.ndarray,
    ours: np.ndarray | None,
    theirs: np.ndarray | None,
    weights: np.ndarray,
    least: int = 1,
    known: np.ndarray | None = None,
) -> dict[str, Any] | None:
    """The gain in macro average precision with its 95 % interval, all draws at once."""
    truth = np.where(truth.sum(axis=0) >= least, truth, False)
    if not truth.any():
        return None
    (ours_once, ours_drawn), (theirs_once, theirs_drawn) = (
        _precisions(S, truth, weights, known) for S in (ours, theirs)
    )
    moved = ours_drawn - theirs_drawn
    moved = moved[np.isfinite(moved).any(axis=1)]  # a draw may leave no positive row of any label
    error = float(np.nanmean(moved, axis=1).std(ddof=1)) if len(moved) > 1 else np.inf
    gain = float(np.mean(ours_once - theirs_once))
    return {"gain": gain, "interval": [gain - TWO_SIDED * error, gain + TWO_SIDED * error]}


def _precisions(
    S: np.ndarray | None, truth: np.ndarray, weights: np.ndarray, known: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Average precision of each label with a positive row: once (c,) and for each draw (b, c)."""
    present = np.flatnonzero(truth.any(axis=0))
    if S is None:
        return np.zeros(len(present)), np.zeros((len(weights), len(present)))
    drawn = []
    for j in present:
        rows = slice(None) if known is None else known[:, j]
        drawn.append(weighted_average_precision(truth[rows, j], S[rows, j], weights[:, rows]))
    cells = None if known is None else known[:, present]
    return average_precision(truth[:, present], S[:, present], cells), np.stack(drawn, axis=1)
