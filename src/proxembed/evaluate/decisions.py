"""Measures of predicted label sets: Hamming loss, F1 by label, by entry and by row, and exact matches.

0/0 has a stated value everywhere: 0 for a label or for all entries together, 1 for a row whose true and predicted
sets are both empty.
"""

from typing import Any

import numpy as np

from proxembed.targets.values import dense_labels

from .metrics import LabelMean


def _checked(Y: Any, Yh: Any) -> tuple[np.ndarray, np.ndarray]:
    Y, Yh = dense_labels(Y), dense_labels(Yh)
    if Y.shape != Yh.shape:
        raise ValueError(f"Y and Yh must have one shape; got Y {Y.shape} and Yh {Yh.shape}. Predict every row.")
    if Y.size == 0:
        raise ValueError(f"Y has shape {Y.shape}; a measure needs at least one row and one label.")
    return Y, Yh


def _ratio(part: np.ndarray, whole: np.ndarray, empty: float) -> np.ndarray:
    """part / whole, and ``empty`` where whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), empty)


def hamming_loss(Y: Any, Yh: Any) -> float:
    """Hamming loss: the share of wrong entries.

    Parameters
    ----------
    Y, Yh : arrays or sparse arrays of shape (n, c)
        True and predicted labels, 0 or 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Shapes differ, there is nothing to measure, or entries are not 0 and 1; likewise for every measure here.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import hamming_loss
    >>> hamming_loss(np.array([[1, 0], [0, 0]]), np.array([[1, 1], [0, 0]]))
    0.25
    """
    Y, Yh = _checked(Y, Yh)
    return float((Y != Yh).mean())


def label_f1(Y: Any, Yh: Any) -> np.ndarray:
    """F1 of each label: 2 TP / (2 TP + FP + FN); NaN for a label that no row has and no prediction gives.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import label_f1
    >>> label_f1(np.array([[1, 0], [1, 0]]), np.array([[1, 0], [0, 0]])).round(3).tolist()
    [0.667, nan]
    """
    Y, Yh = _checked(Y, Yh)
    return _ratio(2 * (Y & Yh).sum(axis=0), Y.sum(axis=0) + Yh.sum(axis=0), np.nan)


def macro_f1(Y: Any, Yh: Any, *, absent: str = "zero") -> LabelMean:
    """Macro F1: the mean of the F1 of the labels, with the number of labels used.

    Parameters
    ----------
    Y, Yh : arrays or sparse arrays of shape (n, c)
        True and predicted labels, 0 or 1.
    absent : {"zero", "one", "skip"}, default="zero"
        A label without a positive row counts 0; or 1 if it is not predicted either (else 0); or is left out.

    Returns
    -------
    LabelMean
        ``value`` (NaN when every label is left out) and ``n_labels``.

    Raises
    ------
    ValueError
        ``absent`` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import macro_f1
    >>> Y, Yh = np.array([[1, 0], [1, 0]]), np.array([[1, 0], [1, 0]])
    >>> [macro_f1(Y, Yh, absent=rule).value for rule in ("zero", "one", "skip")]
    [0.5, 1.0, 1.0]
    """
    if absent not in ("zero", "one", "skip"):
        raise ValueError(f"absent={absent!r} is unknown; use 'zero', 'one' or 'skip'.")
    each = label_f1(Y, Yh)
    if absent == "skip":
        each = each[dense_labels(Y).any(axis=0)]
    else:
        each = np.where(np.isnan(each), float(absent == "one"), each)
    return LabelMean(float(each.mean()) if len(each) else float("nan"), len(each))


def micro_f1(Y: Any, Yh: Any) -> float:
    """Micro F1: 2 TP / (2 TP + FP + FN) over all entries together; 0 where there is neither truth nor prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import micro_f1
    >>> micro_f1(np.array([[1, 0], [1, 1]]), np.array([[1, 1], [0, 1]])) == 2 / 3
    True
    """
    Y, Yh = _checked(Y, Yh)
    return float(_ratio(2 * (Y & Yh).sum(), Y.sum() + Yh.sum(), 0.0))


def balanced_accuracy(Y: Any, Yh: Any) -> LabelMean:
    """Macro balanced accuracy: mean over labels of the mean recall of positive and of negative rows.

    Chance has 1/2 whatever the share of positive rows. Labels without a positive or a negative row are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import balanced_accuracy
    >>> balanced_accuracy(np.array([[1], [0], [0], [0]]), np.array([[1], [1], [0], [0]]))
    LabelMean(value=0.8333333333333333, n_labels=1)
    """
    Y, Yh = _checked(Y, Yh)
    positive, negative = Y.sum(axis=0), (~Y).sum(axis=0)
    both = (positive > 0) & (negative > 0)
    recalls = (Y & Yh).sum(axis=0) / np.maximum(positive, 1), (~Y & ~Yh).sum(axis=0) / np.maximum(negative, 1)
    n_labels = int(both.sum())
    return LabelMean(float(np.mean(recalls, axis=0)[both].mean()) if n_labels else float("nan"), n_labels)


def instance_accuracy(Y: Any, Yh: Any) -> float:
    """Instance accuracy: the mean over rows of |true and predicted| / |true or predicted|; both empty count 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import instance_accuracy
    >>> instance_accuracy(np.array([[1, 0], [0, 0]]), np.array([[1, 1], [0, 0]]))
    0.75
    """
    Y, Yh = _checked(Y, Yh)
    return float(_ratio((Y & Yh).sum(axis=1), (Y | Yh).sum(axis=1), 1.0).mean())


def instance_precision(Y: Any, Yh: Any) -> float:
    """Instance precision: the mean over rows of |true and predicted| / |predicted|; both empty count 1, one empty 0.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import instance_precision
    >>> instance_precision(np.array([[1, 0], [1, 0]]), np.array([[1, 1], [0, 0]]))
    0.25
    """
    Y, Yh = _checked(Y, Yh)
    return float(np.where(Y.any(axis=1) | Yh.any(axis=1), _ratio((Y & Yh).sum(axis=1), Yh.sum(axis=1), 0.0), 1).mean())


def instance_recall(Y: Any, Yh: Any) -> float:
    """Instance recall: the mean over rows of |true and predicted| / |true|; both empty count 1, one empty 0.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import instance_recall
    >>> instance_recall(np.array([[1, 0], [0, 0]]), np.array([[1, 1], [0, 1]]))
    0.5
    """
    return instance_precision(Yh, Y)


def instance_f1(Y: Any, Yh: Any) -> float:
    """Instance F1: the mean over rows of 2 |true and predicted| / (|true| + |predicted|); both empty count 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import instance_f1
    >>> round(instance_f1(np.array([[1, 0], [0, 0]]), np.array([[1, 1], [0, 0]])), 4)
    0.8333
    """
    Y, Yh = _checked(Y, Yh)
    return float(_ratio(2 * (Y & Yh).sum(axis=1), Y.sum(axis=1) + Yh.sum(axis=1), 1.0).mean())


def subset_accuracy(Y: Any, Yh: Any) -> float:
    """Subset accuracy: the share of rows whose label set is predicted exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.decisions import subset_accuracy
    >>> subset_accuracy(np.array([[1, 0], [0, 0]]), np.array([[1, 1], [0, 0]]))
    0.5
    """
    Y, Yh = _checked(Y, Yh)
    return float((Y == Yh).all(axis=1).mean())


def accuracy(y: Any, yh: Any) -> float:
    """Accuracy with one class per row: the share of rows whose class is predicted.

    Parameters
    ----------
    y, yh : arrays of shape (n,)
        True and predicted classes.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        They are not 1-D, have different lengths, or are empty.

    Examples
    --------
    >>> from proxembed.evaluate.decisions import accuracy
    >>> accuracy(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.75
    """
    y, yh = np.asarray(y), np.asarray(yh)
    if y.ndim != 1 or y.shape != yh.shape or len(y) == 0:
        raise ValueError(
            f"y and yh must be 1-D classes of one length, at least 1; got shapes {y.shape} and {yh.shape}. "
            "For label sets use subset_accuracy."
        )
    return float(np.mean(y == yh))
