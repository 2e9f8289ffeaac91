"""Labels for a classifier: read once; rows that it cannot use are left out with a warning."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from proxembed.targets.labels import LabelMatrix


def known_labels(
    estimator: Any, X: Any, y: Any, cells: bool = False, target_type: str | None = None
) -> tuple[Any, LabelMatrix]:
    """Read y and keep the rows that a classifier can learn from, with a warning that counts the others.

    Parameters
    ----------
    estimator : estimator
        Named in errors and warnings.
    X : array or sparse array of shape (n, d)
    y : labels in any form
    cells : bool, default=False
        Whether the estimator learns from rows of which some cells are known; else from rows that are known in full.
    target_type : {"classes"}, optional
        "classes" for the labels of some rows, when those of all have been checked; None: that of the estimator.

    Returns
    -------
    X, LabelMatrix
        With unknown cells only under ``cells``.

    Raises
    ------
    ValueError
        y is missing, of another length, no row is known, or all label sets are empty.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify.rows import known_labels
    >>> X, labels = known_labels("it", np.eye(3), ["a", "b", "a"])
    >>> labels.classes_.tolist()
    ['a', 'b']
    """
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None; give labels.")
    labels = LabelMatrix.of(y, target_type or getattr(estimator, "target_type", "classes"))
    check_consistent_length(X, labels.Y)
    if labels.c == 0:
        raise ValueError(f"{name}: no label occurs in y; give at least one row with a label.")
    known = labels.rows_any if cells else labels.rows_known
    left_out = int((~known).sum())
    if left_out == len(known):
        raise ValueError(f"{name}: every row of y holds an unknown label; at least some rows must be fully known.")
    if left_out:
        what = "without a known label" if cells else "with unknown labels"
        warnings.warn(f"{name} leaves out {left_out} rows {what}.", UserWarning, stacklevel=3)
    rows = np.flatnonzero(known)
    return X[rows], labels.take(rows)


def log_odds(column: np.ndarray) -> float:
    """Log odds of a label that all rows carry, or none, from its smoothed share (n_j + 1) / (n + 2).

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify.rows import log_odds
    >>> round(log_odds(np.zeros(8, dtype=bool)), 3)
    -2.197
    """
    positive = int(column.sum())
    return float(np.log((positive + 1) / (len(column) - positive + 1)))


def known_columns(labels: LabelMatrix) -> Iterator[tuple[Any, np.ndarray]]:
    """For each label the rows whose cell is known, and whether they carry it.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify.rows import known_columns
    >>> from proxembed.targets.labels import LabelMatrix
    >>> [column.tolist() for _, column in known_columns(LabelMatrix.of([[1, np.nan], [0, 1]]))]
    [[True, False], [True]]
    """
    Y, known = labels.Y.toarray() > 0, labels.known_cells
    for j in range(labels.c):
        rows = slice(None) if known is None else np.flatnonzero(known[:, j])
        yield rows, Y[rows, j]
