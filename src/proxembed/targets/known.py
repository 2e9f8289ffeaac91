"""What is known of y: the rows, cells and label columns that can be learned from, and warnings about the others."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from .labels import LabelMatrix
from .targets import Targets


def take_labels(y: Any, rows: Any) -> Any:
    """Labels of some rows, in the form in which y came."""
    return y.take(rows) if isinstance(y, Targets) else _safe_indexing(y, rows)


def known_cells(unknown: Any, rows: np.ndarray) -> np.ndarray | None:
    """The cells of some rows that are known, bool (m, c); None if all are."""
    if unknown is None:
        return None
    cells = sparse.csr_array(unknown)[rows].toarray()
    return ~cells if cells.any() else None


def known_rows(
    name: str, labels: Targets, cells: bool = True, task: str = "fit", more: str = "", stacklevel: int = 4
) -> np.ndarray:
    """Numbers of the rows with a known cell, or of those with known cells only (``cells`` False); warns of the others.
    ``stacklevel``: as the caller would give it to ``warnings.warn``, here and below."""
    keep = np.flatnonzero(labels.rows_any if cells else labels.rows_known)
    if len(keep) < labels.n:
        warn_left_out(name, labels.n - len(keep), labels.n, cells, task, more, stacklevel + 1, labels.noun)
    return keep


def known_columns(labels: LabelMatrix, stacklevel: int = 4) -> LabelMatrix:
    """The labels without those that are unknown in every row, of which it warns."""
    keep = np.flatnonzero(labels.known_counts)
    if len(keep) == labels.c:
        return labels
    warnings.warn(
        f"{labels.c - len(keep)} of {labels.c} labels are unknown in every row; their probability is 0.5.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
    kept = keep if labels.kept_columns is None else labels.kept_columns[keep]
    unknown: Any = labels.unknown  # not None if a label is unknown in every row
    return replace(labels, Y=labels.Y[:, keep], unknown=unknown[:, keep], kept_columns=kept)


def known_labels(
    estimator: Any, X: Any, y: Any, cells: bool = False, target_type: str | None = None, task: str = "fit"
) -> tuple[Any, LabelMatrix]:
    """The rows of ``known_rows``, from which a classifier can learn, and their labels; raises if there are none.
    ``target_type``: "classes" for the labels of some rows if those of all were checked; None: that of the estimator."""
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None; give labels.")
    labels = LabelMatrix.of(y, target_type or getattr(estimator, "target_type", "classes"))
    if target_type is None:
        estimator._reading_ = labels.reading
    check_consistent_length(X, labels.Y)
    if labels.c == 0:
        raise ValueError(f"{name}: no label occurs in y; give at least one row with a label.")
    if not (labels.rows_any if cells else labels.rows_known).any():
        raise ValueError(f"{name}: every row of y holds an unknown label; at least some rows must be fully known.")
    rows = known_rows(name, labels, cells, task, stacklevel=3)
    return X[rows], labels.take(rows)


def known_rows_per_label(labels: LabelMatrix) -> Iterator[tuple[Any, np.ndarray]]:
    """For each label the rows whose cell is known, and whether they carry it."""
    Y, known = labels.Y.toarray() > 0, labels.known_cells
    for j in range(labels.c):
        rows = slice(None) if known is None else np.flatnonzero(known[:, j])
        yield rows, Y[rows, j]


def smoothed_log_odds(positive: Any, known: Any) -> Any:
    """Log odds of one more row with the label after ``positive`` of ``known`` rows: its share is (p + 1) / (n + 2)."""
    return np.log((positive + 1) / (known - positive + 1))


def warn_left_out(
    name: str,
    left_out: int,
    n: int,
    cells: bool,
    task: str = "fit",
    more: str = "",
    stacklevel: int = 3,
    noun: str = "label",
) -> None:
    """Warn of rows left out of a task: those without a known cell (``cells``), or those with an unknown one. ``noun``:
    what the columns of y are called."""
    what, have = (f"rows without a known {noun}", f"no known {noun}") if cells else (f"unknown {noun}s", "one")
    warnings.warn(
        f"{name} cannot use {what}: {left_out} of {n} rows have {have} and are left out of {task}.{more}",
        UserWarning,
        stacklevel=stacklevel + 1,
    )


def warn_partly_known(name: str, labels: Targets, stacklevel: int = 3) -> int:
    """Warn of rows with known and unknown labels, which count as unlabelled; returns their number."""
    partly = int(np.count_nonzero(labels.rows_any & ~labels.rows_known))
    if partly:
        warnings.warn(
            f"{name} cannot use partly known labels of a row: {partly} of {labels.n} rows have some known and some "
            "unknown labels, and count as unlabelled.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
    return partly
