"""Area under the ROC curve, by label and over all entries, from mid-ranks."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from .metrics import LabelMean, checked_pair


def label_auc(Y: Any, S: Any) -> np.ndarray:
    """AUC of each label: the chance that a row with the label scores above one without, ties counting one half.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    S : array of shape (n, c)
        Real scores, larger meaning more likely.

    Returns
    -------
    array of shape (c,)
        NaN for a label that no row has, or that all rows have.

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1 or S is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.ranking import label_auc
    >>> label_auc(np.array([[1], [0], [1], [0]]), np.array([[.9], [.8], [.7], [.7]])).tolist()
    [0.625]
    """
    Y, S = checked_pair(Y, S)
    ranks = rankdata(S, axis=0) if len(S) else S
    positives = Y.sum(axis=0).astype(np.float64)
    pairs = positives * (len(Y) - positives)
    above = np.where(Y, ranks, 0.0).sum(axis=0) - positives * (positives + 1) / 2
    return np.where(pairs > 0, above / np.maximum(pairs, 1), np.nan)


def macro_auc(Y: Any, S: Any) -> LabelMean:
    """Macro AUC: the mean of the labels' AUC, with the number of labels used.

    Labels that no row has, or that all rows have, are skipped and not counted; the value is NaN when all are.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    S : array of shape (n, c)
        Real scores, larger meaning more likely.

    Returns
    -------
    LabelMean

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1 or S is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.ranking import macro_auc
    >>> macro_auc(np.array([[1, 0], [0, 0]]), np.array([[.9, .1], [.2, .3]]))
    LabelMean(value=1.0, n_labels=1)
    """
    each = label_auc(Y, S)
    used = each[~np.isnan(each)]
    return LabelMean(float(used.mean()) if len(used) else float("nan"), len(used))


def micro_auc(Y: Any, S: Any) -> float:
    """Micro AUC: the AUC of all entries taken as one label; NaN where they are all 0 or all 1.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    S : array of shape (n, c)
        Real scores, comparable between labels.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1 or S is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.ranking import micro_auc
    >>> micro_auc(np.array([[1, 0], [0, 1]]), np.array([[.9, .1], [.2, .15]]))
    0.75
    """
    Y, S = checked_pair(Y, S)
    return float(label_auc(Y.reshape(-1, 1), S.reshape(-1, 1))[0])
