"""Splits of a data set into training and held-out rows: folds, one held-out part, nested folds, the standard split."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.targets.labels import rows_with_known_cell
from proxembed.targets.values import dense_labels

from .folds import Split, group_folds, group_sides, stratified_folds, time_cuts, time_folds, with_empty_column

__all__ = [
    "Split",
    "Splitting",
    "fold_limit",
    "holdout_split",
    "make_splits",
    "nested",
    "standard_split",
    "stratified_folds",
]
LEAST_GROUPS = 3  # of which one can be held out for a verdict
SPLIT_KINDS = ("auto", "stratified", "groups", "time")


@dataclass(frozen=True)
class Splitting:
    """How rows are split, fixed before a comparison runs.

    Parameters
    ----------
    kind : {"auto", "stratified", "groups", "time"}, default="auto"
        Multi-label stratified folds, folds of whole groups, or folds in the order of time. "auto" follows the data
        set: its times where it has them, else its groups, else stratified.
    n_folds : int, default=5
    n_repeats : int, default=1
        Repeats with other seeds; the order of time permits one.
    seed : int, default=0

    Raises
    ------
    ValueError
        An unknown kind, or numbers out of range.

    Examples
    --------
    >>> from proxembed.splits.splits import Splitting
    >>> Splitting("groups", n_folds=3).n_repeats
    1
    """

    kind: str = "auto"
    n_folds: int = 5
    n_repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in SPLIT_KINDS:
            raise ValueError(f"kind={self.kind!r} is unknown; use one of {', '.join(map(repr, SPLIT_KINDS))}.")
        for name, least in (("n_folds", 2), ("n_repeats", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or int(value) != value or value < least:
                raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")


@dataclass(frozen=True)
class _Rows:
    """What splitting needs to know of a data set: the rows to split, those that may be held out, and the rule."""

    kind: str
    rows: np.ndarray
    known: np.ndarray
    Y: sp.csr_array
    groups: Any  # array or None
    times: Any  # array or None

    @classmethod
    def of(cls, dataset: Any, splitting: Splitting, rows: Any = None) -> "_Rows":
        groups, times = dataset.groups, dataset.times
        rows = np.arange(dataset.Y.shape[0]) if rows is None else np.sort(np.asarray(rows))
        known = rows[rows_with_known_cell(dataset.unknown, dataset.Y.shape[0])[rows]]
        if len(known) < 2:
            raise ValueError(
                f"{dataset.name} has {len(known)} rows that can be scored; splitting needs at least 2 with a known "
                "label. Label more rows."
            )
        kind = splitting_kind(dataset, splitting)
        if groups is not None and len(np.unique(groups)) == len(groups):
            raise ValueError(
                f"groups of {dataset.name} holds one row a group, which groups nothing; name a column that rows share, "
                "or leave the groups out."
            )
        return cls(kind, rows, known, sp.csr_array(dataset.Y), groups, times)

    def split(self, name: str, held_out: np.ndarray) -> Split:
        """The split with these held-out rows; all other rows are trained on, but for those that would leak."""
        train = np.setdiff1d(self.rows, held_out)
        if self.kind == "time":
            train = train[self.times[train] < self.times[held_out].min()]
        if self.groups is not None:
            train = train[~np.isin(self.groups[train], self.groups[held_out])]
        if len(train) == 0:
            raise ValueError(
                f"split {name} has no training row: every group of the earlier rows has a held-out row too. "
                "Leave the groups out, or take fewer folds."
            )
        return Split(name, train, np.sort(held_out))


def splitting_kind(dataset: Any, splitting: Splitting) -> str:
    """The kind of the splits of a data set; what "auto" stands for there.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.splits.splits import Splitting, splitting_kind
    >>> splitting_kind(digits(), Splitting())
    'stratified'
    """
    kind, name, groups, times = splitting.kind, dataset.name, dataset.groups, dataset.times
    if kind == "auto":
        return "time" if times is not None else "groups" if groups is not None else "stratified"
    if (kind == "groups" and groups is None) or (kind == "time" and times is None):
        field = "groups" if kind == "groups" else "times"
        raise ValueError(f"kind={kind!r} needs {field}, which {name} does not have; name their column, or use 'auto'.")
    if kind == "stratified" and groups is not None:
        raise ValueError(
            f"kind='stratified' would put a group of {name} on both sides; use 'groups' or 'auto', or leave the groups "
            "out of the data set."
        )
    return kind


def make_splits(dataset: Any, splitting: Splitting | None = None, rows: Any = None) -> list[Split]:
    """Split a data set into training and held-out parts by a declared rule.

    Only rows with a known label are held out; the others are in every training part. Two kinds of row are on
    neither side, because they would leak: one of a group that is held out and, in the order of time, one that is not
    earlier than every held-out row. Groups are kept whole in the order of time too.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
        Its ``Y``, ``unknown``, ``groups`` and ``times`` are used.
    splitting : Splitting, optional
        None for ``Splitting()``.
    rows : int array, optional
        Split only these rows (the training rows of a standard split, say).

    Returns
    -------
    list of Split
        Named "1", "2", ..., or "1.1", "1.2", ... with repeats.

    Raises
    ------
    ValueError
        The data set lacks what the rule needs, or has too few rows, groups or times.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.splits.splits import Splitting, make_splits
    >>> [split.name for split in make_splits(digits(), Splitting(n_folds=2, n_repeats=2))]
    ['1.1', '1.2', '2.1', '2.2']
    """
    splitting = splitting or Splitting()
    data = _Rows.of(dataset, splitting, rows)
    if data.kind == "time" and splitting.n_repeats > 1:
        raise ValueError(
            f"n_repeats={splitting.n_repeats} is not possible in the order of time, of which there is one."
        )
    splits = []
    for repeat in range(splitting.n_repeats):
        prefix = f"{repeat + 1}." if splitting.n_repeats > 1 else ""
        splits += [data.split(prefix + fold.name, fold.held_out) for fold in _folds(data, splitting, repeat)]
    return splits


def fold_limit(dataset: Any, n_folds: int, rows: Any = None) -> int:
    """The number of folds that the groups of a data set permit: at most as many as there are groups, at least 2.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
    n_folds : int
        The folds that are wanted.
    rows : int array, optional
        The rows to split; None: all.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.data import Dataset
    >>> from proxembed.splits.splits import fold_limit
    >>> fold_limit(Dataset(np.eye(6), np.eye(6), groups=[0, 0, 1, 1, 2, 2]), 5)
    3
    """
    if splitting_kind(dataset, Splitting()) != "groups":
        return n_folds
    known = rows_with_known_cell(dataset.unknown, dataset.Y.shape[0])
    known = np.flatnonzero(known) if rows is None else np.asarray(rows)[known[rows]]
    return max(2, min(n_folds, len(np.unique(dataset.groups[known]))))


def _folds(data: _Rows, splitting: Splitting, repeat: int) -> list[Split]:
    seed = splitting.seed + repeat
    if data.kind == "time":
        return time_folds(data.times, splitting.n_folds, rows=data.known)
    if data.kind == "groups":
        return group_folds(data.Y, data.groups, splitting.n_folds, seed=seed, rows=data.known)
    return stratified_folds(data.Y, splitting.n_folds, seed=seed, rows=data.known)


def holdout_split(dataset: Any, share: float = 0.25, seed: int = 0, splitting: Splitting | None = None) -> Split:
    """Hold out one part of a data set as its test rows, by the same rules as the folds.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
    share : float, default=0.25
        Share of the rows with known labels to hold out, met as closely as labels, groups and equal times permit.
    seed : int, default=0
    splitting : Splitting, optional
        Only its kind counts; None follows the data set.

    Returns
    -------
    Split
        Named "test".

    Raises
    ------
    ValueError
        ``share`` out of range, or data that cannot be split so.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.splits.splits import holdout_split
    >>> split = holdout_split(digits())
    >>> split.name, len(split.train), len(split.held_out)
    ('test', 1352, 445)
    """
    if not 0 < share < 1:
        raise ValueError(f"share={share!r} must be above 0 and below 1.")
    data = _Rows.of(dataset, splitting or Splitting())
    known = data.known
    if data.kind == "time":
        (cut,) = time_cuts(data.times[known], [1 - share])
        return data.split("test", known[data.times[known] >= cut])
    if data.kind == "groups":
        return data.split("test", _held_out_groups(data, share, seed))
    return data.split("test", _held_out_rows(data, share, seed))


def _held_out_groups(data: _Rows, share: float, seed: int) -> np.ndarray:
    groups = data.groups[data.known]
    names, sizes = np.unique(groups, return_counts=True)
    if len(names) < 2:
        raise ValueError("the rows are of 1 group; holding out whole groups needs at least 2, or leave the groups out.")
    side = group_sides(data.Y[data.known], groups, [share, 1 - share], seed=seed)
    if side.all():
        side = (groups != names[np.argmin(sizes)]).astype(np.intp)
    elif not side.any():
        side = (groups == names[np.argmin(sizes)]).astype(np.intp)
    return data.known[side == 0]


def _held_out_rows(data: _Rows, share: float, seed: int) -> np.ndarray:
    from iterstrat.ml_stratifiers import MultilabelStratifiedShuffleSplit

    Y = with_empty_column(dense_labels(data.Y[data.known]))
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=share, random_state=seed)
    ((_, held_out),) = splitter.split(np.empty((len(Y), 0)), Y)
    if not 0 < len(held_out) < len(Y):
        raise ValueError(f"share={share} of {len(Y)} rows leaves an empty part; take another share.")
    return data.known[held_out]


def nested(dataset: Any, outer: Splitting, inner: Splitting, rows: Any = None) -> list[tuple[Split, list[Split]]]:
    """Nested splits: for each outer split, the inner splits of its training rows alone.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
    outer, inner : Splitting
        Rules of the outer splits, which measure, and of the inner ones, which choose.
    rows : int array, optional
        Split only these rows.

    Returns
    -------
    list of (Split, list of Split)

    Raises
    ------
    ValueError
        As ``make_splits`` does.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.splits.splits import Splitting, nested
    >>> pairs = nested(digits(), Splitting(n_folds=3), Splitting(n_folds=2))
    >>> len(pairs), [len(inner) for _, inner in pairs]
    (3, [2, 2, 2])
    """
    return [(split, make_splits(dataset, inner, split.train)) for split in make_splits(dataset, outer, rows)]


def standard_split(dataset: Any) -> Split:
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
    >>> from proxembed.splits.splits import standard_split
    >>> standard_split(digits())
    Traceback (most recent call last):
    ...
    ValueError: digits has no standard split; give a test file or use folds only.
    """
    if dataset.train_idx is None or dataset.test_idx is None:
        raise ValueError(f"{dataset.name} has no standard split; give a test file or use folds only.")
    return Split("test", np.asarray(dataset.train_idx), np.asarray(dataset.test_idx))
