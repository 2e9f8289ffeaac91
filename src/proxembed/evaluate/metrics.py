"""Measures that need no threshold: macro average precision, and Jaccard similarity of neighbours' label sets."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from proxembed.targets.values import dense_labels


class LabelMean(NamedTuple):
    """A mean over labels, with the number of labels that it rests on."""

    value: float
    n_labels: int


def checked_pair(Y, S) -> tuple[np.ndarray, np.ndarray]:
    """Labels as bool and scores as float64, dense, of one shape (n, c); S must be finite."""
    Y, S = dense_labels(Y), np.asarray(S.toarray() if sp.issparse(S) else S, dtype=np.float64)
    if S.shape != Y.shape:
        raise ValueError(f"Y and S must have one shape; got Y {Y.shape} and S {S.shape}. Score every row and label.")
    if not np.isfinite(S).all():
        raise ValueError("S must be finite; it holds NaN or infinity. Look at the model that made the scores.")
    return Y, S


def average_precision(Y, S) -> np.ndarray:
    """Average precision of each label: the mean, over its positive rows, of the precision at that row's score.

    Tied scores are one threshold, so that an uninformative constant score gets the share of positives.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    S : array of shape (n, c)
        Real scores, larger meaning more likely.

    Returns
    -------
    array of shape (c,)
        NaN for a label without a positive row.

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1 or S is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.metrics import average_precision
    >>> average_precision(np.array([[1], [0], [1], [0]]), np.array([[.9], [.8], [.7], [.1]])).round(4).tolist()
    [0.8333]
    """
    Y, S = checked_pair(Y, S)
    n, c = Y.shape
    out = np.full(c, np.nan)
    for j in range(c):
        positives = int(Y[:, j].sum())
        if positives == 0:
            continue
        order = np.argsort(-S[:, j], kind="stable")
        ranked, hits = S[order, j], np.cumsum(Y[order, j])
        ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        gained = np.diff(hits[ends], prepend=0)
        out[j] = gained @ (hits[ends] / (ends + 1)) / positives
    return out


def macro_average_precision(Y, S, *, min_positives: int = 1, absent: str = "skip") -> LabelMean:
    """Macro average precision: the mean over labels of the average precision, with the number of labels used.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    S : array of shape (n, c)
        Real scores, larger meaning more likely.
    min_positives : int, default=1
        Labels with fewer positive rows in Y are absent.
    absent : {"skip", "zero"}, default="skip"
        Leave absent labels out of the mean, or count them as 0.

    Returns
    -------
    LabelMean
        ``value`` (NaN when every label is absent and skipped) and ``n_labels``.

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1, S is not finite, or an option is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.metrics import macro_average_precision
    >>> Y = np.array([[1, 0], [0, 0], [1, 0]])
    >>> macro_average_precision(Y, np.array([[.9, .1], [.2, .1], [.8, .3]]))
    LabelMean(value=1.0, n_labels=1)
    """
    if absent not in ("skip", "zero"):
        raise ValueError(f"absent={absent!r} is unknown; use 'skip' or 'zero'.")
    if min_positives < 1:
        raise ValueError(f"min_positives={min_positives!r} must be at least 1: average precision needs a positive row.")
    each = average_precision(Y, S)
    present = dense_labels(Y).sum(axis=0) >= min_positives
    n_labels = int(present.sum())
    if absent == "zero":
        return LabelMean(float(np.where(present, each, 0.0).mean()), len(each))
    return LabelMean(float(each[present].mean()) if n_labels else float("nan"), n_labels)


def jaccard_at_k(Y, Y_train, neighbors, *, block: int = 2048) -> float:
    """Jaccard@k: the mean similarity between a row's label set and the label sets of its k nearest training rows.

    The similarity of two sets is |intersection| / |union|; two empty sets count as 1.

    Parameters
    ----------
    Y : array or sparse array of shape (m, c)
        True labels of the held-out rows.
    Y_train : array or sparse array of shape (n, c)
        Labels of the training rows.
    neighbors : int array of shape (m, k)
        Training row numbers of each held-out row's neighbours.
    block : int, default=2048
        Held-out rows taken at a time.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Numbers of rows or labels do not agree, or there is no row.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.metrics import jaccard_at_k
    >>> jaccard_at_k(np.array([[1, 1, 0]]), np.array([[1, 0, 0], [1, 1, 0]]), np.array([[0, 1]]))
    0.75
    """
    Y, Y_train, neighbors = dense_labels(Y), dense_labels(Y_train), np.asarray(neighbors)
    if neighbors.ndim != 2 or len(neighbors) != len(Y) or neighbors.size == 0:
        raise ValueError(
            f"neighbors must have one row for each of the {len(Y)} rows of Y and at least one column; "
            f"got shape {neighbors.shape}. Search the neighbours of exactly these rows."
        )
    if Y.shape[1] != Y_train.shape[1]:
        raise ValueError(f"Y has {Y.shape[1]} labels and Y_train {Y_train.shape[1]}; give both the same label columns.")
    sizes, train_sizes = Y.sum(axis=1), Y_train.sum(axis=1)
    total = 0.0
    for start in range(0, len(Y), block):
        part, near = slice(start, start + block), neighbors[start : start + block]
        common = np.stack([(Y[part] & Y_train[column]).sum(axis=1) for column in near.T], axis=1)
        union = sizes[part, None] + train_sizes[near] - common
        total += np.where(union == 0, 1.0, common / np.maximum(union, 1)).sum()
    return float(total / neighbors.size)
