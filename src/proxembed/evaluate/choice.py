"""The choice of one among many that were scored on the same folds, and its score, which the choice does not flatter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

EQUAL = 1e-12


def choose(values: np.ndarray, anchor: Sequence[bool] | None = None) -> int:
    """The row of the best mean over the folds; an anchor is left only for more than one paired standard error.

    Parameters
    ----------
    values : array of shape (m, n_folds)
        Score of each on each fold, larger being better; NaN where it is not defined.
    anchor : sequence of m bool, optional
        Which of them need no evidence: where the best of all is ahead of the best of these by less than the standard
        error of the differences fold by fold, the best of these is taken.

    Returns
    -------
    int
        Of means that are equal up to rounding the first.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.choice import choose
    >>> values = np.array([[0.5, 0.5, 0.5], [0.9, 0.5, 0.4], [0.6, 0.6, 0.55]])
    >>> choose(values), choose(values, [True, False, False]), choose(values[[0, 2]], [True, False])
    (1, 0, 1)
    """
    means = _means(values)
    best = int((means >= means.max() - EQUAL).argmax())
    own = np.flatnonzero(np.zeros(len(values), dtype=bool) if anchor is None else np.asarray(anchor))
    if len(own) == 0 or best in own:
        return best
    held = int(own[np.argmax(means[own])])
    ahead = values[best] - values[held]
    ahead = ahead[np.isfinite(ahead)]
    if len(ahead) < 2:
        return best
    return best if ahead.mean() > ahead.std(ddof=1) / np.sqrt(len(ahead)) else held


def repeated_scores(values: np.ndarray, anchor: Sequence[bool] | None = None) -> np.ndarray | None:
    """Of each fold what the choice made without it scores on it.

    The mean of the chosen one over all folds is that of a winner among many; the mean of these is what it promises for
    new rows.

    Parameters
    ----------
    values, anchor : as for ``choose``

    Returns
    -------
    array of shape (n_folds,) or None
        NaN where the score of a fold is not defined; None where there is but one fold.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.choice import repeated_scores
    >>> noise = np.random.default_rng(0).normal(size=(200, 5))
    >>> bool(noise.mean(axis=1).max() > 1.0), bool(abs(repeated_scores(noise).mean()) < 0.7)
    (True, True)
    """
    folds = range(values.shape[1])
    if len(folds) < 2:
        return None
    return np.array([values[choose(np.delete(values, fold, axis=1), anchor), fold] for fold in folds])


def expected_score(repeated: np.ndarray | None) -> float | None:
    """The mean of the scores of a repeated choice where they are defined; None where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.choice import expected_score
    >>> expected_score(np.array([0.5, np.nan, 0.7])), expected_score(None)
    (0.6, None)
    """
    known = [] if repeated is None else repeated[np.isfinite(repeated)]
    return float(np.mean(known)) if len(known) else None


def _means(values: np.ndarray) -> np.ndarray:
    """The mean of each over the folds on which it is defined, -inf where there is none."""
    known = np.isfinite(values)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), sums / np.maximum(known.sum(axis=1), 1), -np.inf)
