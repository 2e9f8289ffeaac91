"""Rows of several representations (views): which of them a row has, and its copies, one for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.estimator.rows import Rows


def checked_views(name: str, views: Any, d: int) -> list[np.ndarray]:
    """The columns of each view, whole numbers from 0 to d - 1, every one in one view; else ValueError."""
    try:
        groups = [np.asarray(view).reshape(-1) for view in views]
        whole = all(group.size and group.dtype.kind in "iu" for group in groups)
        fits = whole and np.array_equal(np.sort(np.concatenate(groups)), np.arange(d))
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"{name}: views must hold lists of column numbers, each of the {d:,} columns of X in exactly one of them, "
            f"such as [list(range({d // 2})), list(range({d // 2}, {d}))]."
        )
    return [group.astype(np.intp) for group in groups]


def present_views(X: Any, views: Sequence[np.ndarray]) -> np.ndarray:
    """Which views each row has, (n, views): those with an entry other than 0."""
    if not sparse.issparse(X):
        return np.column_stack([X[:, view].any(axis=1) for view in views])
    member = np.zeros((X.shape[1], len(views)))
    for number, view in enumerate(views):
        member[view, number] = 1.0
    return np.asarray(abs(X) @ member) > 0


def copies_of_views(name: str, rows: Rows, views: Sequence[np.ndarray]) -> Rows:
    """A copy of each row for each view that it has, with 0 in the columns of the others, dense or CSR as X is. Raises
    ValueError where no row has any."""
    row, number = np.nonzero(present_views(rows.X, views))
    if not len(row):
        raise ValueError(f"{name}: no row of X has an entry other than 0 in any of the views.")
    view_of = np.empty(rows.X.shape[1], dtype=np.intp)
    for place, view in enumerate(views):
        view_of[view] = place
    labels: Any = rows.labels
    X = rows.X[row]
    if sparse.issparse(X):
        X = X.tocoo()
        own = view_of[X.col] == number[X.row]
        X = sparse.csr_array((X.data[own], (X.row[own], X.col[own])), shape=X.shape)
    else:
        X = np.where(view_of == number[:, None], X, X.dtype.type(0))
    return replace(rows, X=X, labels=labels.take(row), counts=None if rows.counts is None else rows.counts[row])
