"""The gain of one arm over another on the test rows, and its standard error by resampling these rows.

The folds of a comparison say little of arms whose parameters were chosen on the same rows; the test rows, looked at
once, do. Rows are drawn again with replacement (whole groups where rows come in groups), which shows how far the gain
would move with other test rows of the same kind; models fitted on other training rows are not in it.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.targets.values import dense_labels

from .metrics import average_precision
from .results import TEST, Results

N_DRAWS = 400
TWO_SIDED = 1.959964  # the 97.5 % point of the normal distribution
Key = tuple[str, int | None]


def drawn_weights(n: int, groups: Any = None, n_draws: int = N_DRAWS, seed: int = 0) -> np.ndarray:
    """How often each row is drawn: (n_draws, n) whole numbers; the rows of a group are drawn together.

    Examples
    --------
    >>> from proxembed.evaluate.bootstrap import drawn_weights
    >>> drawn_weights(4, groups=[0, 0, 1, 1], n_draws=3).sum(axis=1).tolist()
    [4, 4, 4]
    """
    unit = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    count = unit.max() + 1
    return np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=n_draws)[:, unit]


def weighted_average_precision(y: np.ndarray, s: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average precision of one label under each row of weights; NaN where the weights leave no positive row.

    Parameters
    ----------
    y : boolean array of shape (n,)
    s : array of shape (n,)
        Scores; equal scores are one step.
    weights : array of shape (b, n)

    Returns
    -------
    array of shape (b,)

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.bootstrap import weighted_average_precision
    >>> y, s = np.array([True, False, True, False]), np.array([.9, .8, .7, .1])
    >>> weighted_average_precision(y, s, np.ones((1, 4))).round(4).tolist()
    [0.8333]
    """
    order = np.argsort(-s, kind="stable")
    ends = np.flatnonzero(np.append(s[order][1:] != s[order][:-1], True))
    W = weights[:, order]
    drawn = np.cumsum(W, axis=1)[:, ends]
    hits = np.cumsum(W * y[order], axis=1)[:, ends]
    gained = np.diff(hits, axis=1, prepend=0)
    total = hits[:, -1]
    value = (gained * hits / np.maximum(drawn, 1)).sum(axis=1)
    return np.where(total > 0, value / np.maximum(total, 1), np.nan)


def held_out_gain(results: Results, Y: Any, ours: Key, theirs: Key, groups: Any = None) -> dict | None:
    """Macro average precision (ridge) of one arm less that of another on the test rows, with its 95 % interval.

    Parameters
    ----------
    results : Results
        With predictions of the test rows; one that is missing is a failed arm, whose average precision is 0.
    Y : array or sparse array of shape (n, c)
        Labels of all rows.
    ours, theirs : (arm, k)
    groups : array of shape (n,), optional
        Group of each row.

    Returns
    -------
    dict with ``gain``, ``interval`` (low, high) and ``rows``; None without test rows or without a positive one.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.bootstrap import held_out_gain
    >>> from proxembed.evaluate.results import Results
    >>> Y = np.array([[1], [0], [1], [0]])
    >>> scores = {("a", 1, "test"): Y * 1.0, ("b", 1, "test"): 1.0 - Y}
    >>> results = Results({}, {}, folds={"test": {}}, predictions=scores, held_out={"test": np.arange(4)})
    >>> round(held_out_gain(results, Y, ("a", 1), ("b", 1))["gain"], 3)
    0.5
    """
    if TEST not in results.folds:
        return None
    rows = results.held_out[TEST]
    truth = dense_labels(sp.csr_array(Y)[rows])
    least = results.protocol.get("min_positives", 1)
    truth = np.where(truth.sum(axis=0) >= least, truth, False)
    if not truth.any():
        return None
    weights = drawn_weights(len(rows), None if groups is None else np.asarray(groups)[rows])
    (ours_once, ours_drawn), (theirs_once, theirs_drawn) = (
        _precisions(results.predictions.get((*key, TEST)), truth, weights) for key in (ours, theirs)
    )
    moved = ours_drawn - theirs_drawn
    moved = moved[np.isfinite(moved).any(axis=1)]  # a draw may leave no positive row of any label
    error = float(np.nanmean(moved, axis=1).std(ddof=1)) if len(moved) > 1 else np.inf
    gain = float(np.mean(ours_once - theirs_once))
    return {"gain": gain, "interval": [gain - TWO_SIDED * error, gain + TWO_SIDED * error], "rows": len(rows)}


def _precisions(S: np.ndarray | None, truth: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average precision of each label with a positive row: once (c,) and for each draw (b, c)."""
    present = np.flatnonzero(truth.any(axis=0))
    if S is None:
        return np.zeros(len(present)), np.zeros((len(weights), len(present)))
    drawn = [weighted_average_precision(truth[:, j], S[:, j], weights) for j in present]
    return average_precision(truth[:, present], S[:, present]), np.stack(drawn, axis=1)
