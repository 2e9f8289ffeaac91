"""Splits as scikit-learn splitters, for cross_val_score, GridSearchCV and the like; unknown labels are welcome."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import BaseCrossValidator

from proxembed.params import Param, safe_repr
from proxembed.targets.labels import LabelMatrix

from .splits import Split, Splitting, group_folds, stratified_folds

FOLDS = Param(low=2, integer=True)
Parts = Iterator[tuple[np.ndarray, np.ndarray]]


class StratifiedFolds(BaseCrossValidator):
    """Multi-label stratified folds for scikit-learn; unknown-label rows always train.  [sechidis2011stratification]

    Parameters
    ----------
    n_splits : int, default=5
    n_repeats : int, default=1
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.splits import StratifiedFolds
    >>> y = np.array(["a", "b"] * 6)
    >>> [sorted(y[held_out].tolist()) for _, held_out in StratifiedFolds(3).split(y, y)]
    [['a', 'a', 'b', 'b'], ['a', 'a', 'b', 'b'], ['a', 'a', 'b', 'b']]
    """

    def __init__(self, n_splits: int = 5, *, n_repeats: int = 1, random_state: Any = 0):
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Parts:
        """Yield (training rows, held-out rows); y: labels in any form, NaN for unknown; groups are ignored."""
        Splitting("stratified", self.n_splits, self.n_repeats, self.random_state)
        Y, known = _labels(type(self).__name__, y)
        for repeat in range(self.n_repeats):
            folds = stratified_folds(Y, self.n_splits, seed=self.random_state + repeat, rows=known)
            yield from (_parts(Y.shape[0], fold) for fold in folds)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits: folds times repeats."""
        return self.n_splits * self.n_repeats


class GroupFolds(BaseCrossValidator):
    """Folds of whole groups for scikit-learn, labels spread as evenly as the groups permit.

    Rows with unknown labels are never held out; they train in every fold but those that hold out their group.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.splits import GroupFolds
    >>> [held_out.tolist() for _, held_out in GroupFolds(2).split(np.eye(4), [0, 1, 0, 1], groups=[5, 5, 6, 6])]
    [[0, 1], [2, 3]]
    """

    __metadata_request__split = {"groups": True}

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0):
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Parts:
        """Yield (training rows, held-out rows); y: labels in any form; groups: the group of each row."""
        if groups is None:
            raise ValueError("GroupFolds needs groups, the group of each row; pass groups=..., or use StratifiedFolds.")
        groups = np.asarray(groups)
        Y, known = _labels(type(self).__name__, y)
        if len(groups) != Y.shape[0]:
            raise ValueError(f"groups has {len(groups)} entries but y {Y.shape[0]}; give one per row.")
        for fold in group_folds(Y, groups, self.n_splits, seed=self.random_state, rows=known):
            train, held_out = _parts(len(groups), fold)
            yield train[~np.isin(groups[train], groups[held_out])], held_out

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits


def as_splits(cv: Any, X: Any, y: Any, groups: Any = None) -> list[Split]:
    """The splits that a parameter ``cv`` stands for."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        cv = StratifiedFolds(int(cv))
    if hasattr(cv, "get_n_splits"):
        found = parts_of(cv, X, y, groups)
    else:
        try:
            given: Any = None if isinstance(cv, str | bytes) else cv
            found = list(given)
        except TypeError:
            raise ValueError(
                f"cv={safe_repr(cv)} must be a number of folds, a splitter, or a list of (training, held-out) rows."
            ) from None
    if not found:
        raise ValueError(f"cv={cv!r} gives no split; give at least one (training, held-out) pair of row numbers.")
    names = [part.name if isinstance(part, Split) else str(i) for i, part in enumerate(found, start=1)]
    pairs = index_pairs(cv, [part[1:] if isinstance(part, Split) else part for part in found], X.shape[0])
    return [Split(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def parts_of(cv: Any, X: Any, y: Any, groups: Any = None) -> list[Any]:
    """The parts that a splitter makes of some rows; a ValueError that names ``cv`` where it cannot."""
    try:
        return list(cv.split(X, y, groups))
    except ValueError as error:
        raise ValueError(f"cv={cv!r} does not split the {X.shape[0]} rows of X: {error}") from error


def _labels(name: str, y: Any) -> tuple[sp.csr_array, np.ndarray]:
    if y is None:
        raise ValueError(f"{name} requires y, because only rows with known labels can be held out; pass the labels.")
    labels = LabelMatrix.of(y)
    return sp.csr_array(labels.Y), np.flatnonzero(labels.rows_any)


def _parts(n: int, fold: Split) -> tuple[np.ndarray, np.ndarray]:
    return np.setdiff1d(np.arange(n), fold.held_out), fold.held_out


def index_pairs(cv: Any, pairs: Any, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The (training rows, held-out rows) of a parameter ``cv``; a ValueError where ``pairs`` holds anything else."""
    try:
        found: list[Any] = [tuple(np.asarray(rows) for rows in pair) for pair in pairs]
    except TypeError:
        found = [()]
    for pair in found:
        if len(pair) != 2 or not all(_numbers_rows(rows, n) for rows in pair):
            raise ValueError(
                f"cv={safe_repr(cv)} is not allowed; it must be {FOLDS.allowed()}, a splitter, or a list of pairs of "
                f"training and held-out row numbers from 0 to {n - 1}, or masks."
            )
    return found


def _numbers_rows(rows: np.ndarray, n: int) -> bool:
    """Whether an array holds row numbers of n rows, or is a mask of them."""
    if rows.dtype.kind == "b":
        return rows.shape == (n,)
    whole = rows.ndim == 1 and (rows.size == 0 or rows.dtype.kind in "iu")
    return whole and (rows.size == 0 or (rows.min() >= -n and rows.max() < n))
