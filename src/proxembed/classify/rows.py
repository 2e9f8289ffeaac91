"""Labels for a classifier: read once, rows with unknown cells left out with a warning."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from proxembed.targets.labels import LabelMatrix


def known_labels(
    estimator: Any, X: Any, y: Any, cells: bool = False, target_type: str | None = None
) -> tuple[Any, LabelMatrix]:
    """Read y and keep the rows whose labels are all known; where no row is, those with a known cell.

    Parameters
    ----------
    estimator : estimator
        Named in errors and warnings.
    X : array or sparse array of shape (n, d)
    y : labels in any form
    cells : bool, default=False
        Whether the estimator takes rows of which some cells are known, where no row is known in full.
    target_type : {"classes"}, optional
        "classes" for the labels of some rows, when those of all have been checked; None: that of the estimator.

    Returns
    -------
    X, LabelMatrix
        With unknown cells where no row is known in full.

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
    known = labels.rows_known
    if known.all():
        return X, labels
    if cells and not known.any() and labels.rows_any.any():
        known = labels.rows_any
    left_out = int((~known).sum())
    if left_out == len(known):
        raise ValueError(f"{name}: every row of y holds an unknown label; at least some rows must be fully known.")
    if left_out:
        warnings.warn(f"{name} leaves out {left_out} rows with unknown labels.", UserWarning, stacklevel=3)
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
