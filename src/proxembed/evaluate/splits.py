"""Splits into training and held-out rows: multi-label stratified folds, and the data set's own standard split."""

from typing import NamedTuple

import numpy as np

from .metrics import dense_labels


class Split(NamedTuple):
    """Row numbers of one training part and one held-out part; ``name`` is "1", "2", ... or "test"."""

    name: str
    train: np.ndarray
    held_out: np.ndarray


def stratified_folds(Y, n_folds: int = 5, *, seed: int = 0, rows=None) -> list[Split]:
    """Multi-label stratified folds: every label's rows are spread evenly over the folds.  [sechidis2011stratification]

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        Labels, 0 or 1; rows without a label are spread evenly too.
    n_folds : int, default=5
        Number of folds, from 2 to the number of rows.
    seed : int, default=0
        Seed of the shuffle and of the ties.
    rows : int array, optional
        Split only these rows; the parts hold row numbers of Y.

    Returns
    -------
    list of Split
        Sorted row numbers; the held-out parts are disjoint and together hold every row.

    Raises
    ------
    ValueError
        Fewer than 2 folds, more folds than rows, or labels so arranged that a fold stays empty.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.splits import stratified_folds
    >>> Y = np.tile([[1, 0], [0, 1]], (6, 1))
    >>> [Y[split.held_out].sum(axis=0).tolist() for split in stratified_folds(Y, 3)]
    [[2, 2], [2, 2], [2, 2]]
    """
    from iterstrat.ml_stratifiers import MultilabelStratifiedKFold

    Y = dense_labels(Y)
    rows = np.arange(len(Y)) if rows is None else np.asarray(rows)
    if not 2 <= n_folds <= len(rows):
        raise ValueError(f"n_folds={n_folds!r} must be from 2 to the number of rows ({len(rows)}).")
    part = Y[rows]
    part = np.column_stack([part, ~part.any(axis=1)])
    splitter = MultilabelStratifiedKFold(n_splits=n_folds, shuffle=True, random_state=seed)
    splits = [
        Split(str(number), rows[train], rows[held_out])
        for number, (train, held_out) in enumerate(splitter.split(np.empty((len(rows), 0)), part), start=1)
    ]
    if any(len(split.train) == 0 or len(split.held_out) == 0 for split in splits):
        raise ValueError(f"n_folds={n_folds} leaves an empty fold on {len(rows)} rows; take fewer folds.")
    return splits


def standard_split(dataset) -> Split:
    """Return the standard training and test rows that came with a data set.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
        Its ``train_idx`` and ``test_idx`` are used.

    Returns
    -------
    Split
        Named "test".

    Raises
    ------
    ValueError
        The data set has no standard split.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.splits import standard_split
    >>> standard_split(digits())
    Traceback (most recent call last):
    ...
    ValueError: digits has no standard split; give a test file or use folds only.
    """
    if dataset.train_idx is None or dataset.test_idx is None:
        raise ValueError(f"{dataset.name} has no standard split; give a test file or use folds only.")
    return Split("test", np.asarray(dataset.train_idx), np.asarray(dataset.test_idx))
