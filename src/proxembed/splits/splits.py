"""Splits of a data set: folds, one held-out part, the standard split; as splitters, and cross-fitting."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from proxembed.algebra.pencil.symmetric import descending, orthonormal_columns
from proxembed.blocks.row_blocks import RowBlocks, length, some
from proxembed.params import Param, accept_classes, safe_repr
from proxembed.targets.known import take_labels
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.reading import holds_numbers, read_targets
from proxembed.targets.targets import Targets
from proxembed.targets.values import sparse_labels

from .stratification import parts_along, stratified_parts
from .units import checked_units

SPLIT_KINDS = ("auto", "stratified", "groups", "time")
NO_TEST_ROWS = "No test rows are named"  # begins the note of a data set of which some are drawn
LEAST_GROUPS = 5  # of scored rows, for a verdict: intervals of fewer hang on one or two of them
FRAME_ROWS = 10_000  # by which the models of folds of blocks are carried onto that of all rows
FOLDS = Param(low=2, integer=True)
Parts = Iterator[tuple[np.ndarray, np.ndarray]]


class Split(NamedTuple):
    """Row numbers of one training part and one held-out part; ``name`` is "1", "2", ... ("2.1" for the first fold of
    the second repeat) or "test".

    See Also
    --------
    proxembed.splits.Splitting : How rows are held out.
    proxembed.splits.make_splits : The folds of a splitting.
    """

    name: str
    train: np.ndarray
    held_out: np.ndarray


def stratified_folds(Y: Any, n_folds: int = 5, *, seed: int = 0, rows: Any = None) -> list[Split]:
    """Multi-label stratified folds: every label's rows are spread evenly over the folds.  [sechidis2011stratification]

    Parameters
    ----------
    Y : array or sparse array of shape (n, c), or Targets
        Labels, 0 or 1; rows without a label are spread evenly too. Of targets that are one column of numbers each fold
        takes one of every ``n_folds`` rows that are neighbours in order; of several columns the folds are stratified by
        the fifths of each.
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
    >>> from proxembed.splits import stratified_folds
    >>> Y = np.tile([[1, 0], [0, 1]], (6, 1))
    >>> [Y[split.held_out].sum(axis=0).tolist() for split in stratified_folds(Y, 3)]
    [[2, 2], [2, 2], [2, 2]]
    """
    Y = Y if isinstance(Y, Targets) else sparse_labels(Y)
    rows = np.arange(Y.n if isinstance(Y, Targets) else Y.shape[0]) if rows is None else np.asarray(rows)
    check_folds(n_folds, len(rows), "rows")
    part = _parts_alike(Y, rows, np.full(n_folds, 1 / n_folds), seed)
    splits = [Split(str(fold + 1), rows[part != fold], rows[part == fold]) for fold in range(n_folds)]
    if any(len(split.train) == 0 or len(split.held_out) == 0 for split in splits):
        raise ValueError(f"n_folds={n_folds} leaves an empty fold on {len(rows)} rows; take fewer folds.")
    return splits


def _parts_alike(Y: Any, rows: np.ndarray, shares: Any, seed: int) -> np.ndarray:
    """The part of each of some rows of labels or targets, so that the parts are alike in them."""
    numbers = Y.lone_numbers if isinstance(Y, Targets) else None
    if numbers is not None:
        return parts_along(numbers[rows], shares, seed)
    return stratified_parts(_labels_of(Y, rows), shares, seed)


def _labels_of(Y: Any, rows: np.ndarray) -> sp.csr_array:
    """The 0/1 labels of some rows by which they are stratified."""
    return Y.fold_labels(rows) if isinstance(Y, Targets) else sp.csr_array(Y)[rows]


def check_folds(n_folds: Any, most: int, what: str) -> None:
    """Raise a ValueError unless n_folds is a whole number from 2 to ``most``, the number of rows or groups."""
    if isinstance(n_folds, bool) or not isinstance(n_folds, Integral) or not 2 <= int(n_folds) <= most:
        allowed = f"must be from 2 to the number of {what} ({most})"
        raise ValueError(f"n_folds={safe_repr(n_folds)} {allowed}; take fewer folds, or more {what}.")


def group_sides(Y: Any, groups: Any, shares: Any, *, seed: int = 0) -> np.ndarray:
    """Share out whole groups so that each side gets its share of the rows and of every label."""
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    n, shares = len(group), np.asarray(shares, dtype=np.float64)
    member = sp.csr_array((np.ones(n), (group, np.arange(n))), shape=(group.max() + 1, n))
    Y = sp.csr_array(Y, dtype=np.float64)
    counts = sp.csr_array(member @ sp.hstack([sp.csr_array(np.ones((n, 1))), Y], format="csr"))
    totals = np.asarray(counts.sum(axis=0)).ravel()
    weight = np.divide(1.0, totals**2, out=np.zeros_like(totals), where=totals > 0)
    sizes = np.bincount(group)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(sizes)), -sizes))
    load, side = np.zeros((len(shares), len(totals))), np.empty(len(sizes), dtype=np.intp)
    for g in order:
        part = slice(counts.indptr[g], counts.indptr[g + 1])
        columns, gain = counts.indices[part], counts.data[part]
        growth = (2 * load[:, columns] + gain) @ (weight[columns] * gain) / shares
        best = np.flatnonzero(growth <= growth.min() * (1 + 1e-12))
        chosen = best[np.argmin(load[best, 0] / shares[best])]
        load[chosen, columns] += gain
        side[g] = chosen
    return side[group]


def group_folds(Y: Any, groups: Any, n_folds: int = 5, *, seed: int = 0, rows: Any = None) -> list[Split]:
    """Folds of whole groups, labels and rows spread as evenly as the groups permit; no group is on both sides.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c), or Targets
        Labels, 0 or 1; of numbers the fifth of each column in which a row lies is its label.
    groups : array of shape (n,)
        The group of each row: an author, a patient, a site.
    n_folds : int, default=5
        Number of folds, from 2 to the number of groups.
    seed : int, default=0
        Order of groups of equal size.
    rows : int array, optional
        Split only these rows; the parts hold row numbers of Y.

    Returns
    -------
    list of Split
        The held-out parts are disjoint and together hold every row.

    Raises
    ------
    ValueError
        Fewer than 2 folds, or more folds than groups.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.splits import group_folds
    >>> [split.held_out.tolist() for split in group_folds(np.ones((5, 1)), list("aaabc"), 2)]
    [[0, 1, 2], [3, 4]]
    """
    groups = np.asarray(groups)
    rows = np.arange(len(groups)) if rows is None else np.asarray(rows)
    count = len(np.unique(groups[rows]))
    if count == 1:
        raise ValueError("the rows are of 1 group; folds of whole groups need at least 2, or leave the groups out.")
    check_folds(n_folds, count, "groups")
    side = group_sides(_labels_of(Y, rows), groups[rows], np.full(n_folds, 1 / n_folds), seed=seed)
    return [Split(str(f + 1), rows[side != f], rows[side == f]) for f in range(n_folds)]


def time_cuts(times: Any, targets: Any) -> np.ndarray:
    """Times at which to cut so that about a share ``targets[i]`` of the rows is earlier, in ascending order."""
    times = np.asarray(times, dtype=np.float64)
    if not np.isfinite(times).all():
        row = int(np.flatnonzero(~np.isfinite(times))[0])
        raise ValueError(f"times holds {times[row]} (row {row} of those split); give every row a time or leave it out.")
    distinct, counts = np.unique(times, return_counts=True)
    if len(distinct) <= len(targets):
        raise ValueError(
            f"the rows have {len(distinct)} distinct times, too few for {len(targets) + 1} parts in the order of time; "
            "take fewer folds or finer times."
        )
    earlier = np.cumsum(counts)[:-1] / len(times)  # share of rows before distinct[1], distinct[2], ...
    found, first = [], 0
    for done, target in enumerate(targets):
        last = len(earlier) - (len(targets) - done - 1)
        first += int(np.argmin(np.abs(earlier[first:last] - target))) + 1
        found.append(distinct[first])
    return np.array(found)


def time_folds(times: Any, n_folds: int = 5, *, rows: Any = None) -> list[Split]:
    """Folds in the order of time: the held-out rows of a fold are the next ones after all of its training rows."""
    times = np.asarray(times, dtype=np.float64)
    rows = np.arange(len(times)) if rows is None else np.asarray(rows)
    check_folds(n_folds, len(rows) - 1, "rows less one")
    cuts = time_cuts(times[rows], np.arange(1, n_folds + 1) / (n_folds + 1))
    part = np.searchsorted(cuts, times[rows], side="right")
    return [Split(str(f), rows[part < f], rows[part == f]) for f in range(1, n_folds + 1)]


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

    See Also
    --------
    proxembed.splits.make_splits : The folds of a splitting.
    proxembed.splits.Split : Rows of one split.

    Examples
    --------
    >>> from proxembed.splits import Splitting
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
    Y: Targets
    groups: Any  # array or None
    times: Any  # array or None

    @classmethod
    def of(cls, dataset: Any, splitting: Splitting, rows: Any = None) -> "_Rows":
        groups, times, targets = dataset.groups, dataset.times, dataset.targets
        rows = np.arange(targets.n) if rows is None else np.sort(np.asarray(rows))
        known = rows[targets.rows_any[rows]]
        if len(known) < 2:
            remedy = "Label more rows." if targets.noun == "label" else "Add rows with known numbers."
            raise ValueError(
                f"{dataset.name} has {len(known)} rows that can be scored; splitting needs at least 2 with a known "
                f"{targets.noun}. {remedy}"
            )
        kind = splitting_kind(dataset, splitting)
        if groups is not None and len(np.unique(groups)) == len(groups):
            raise ValueError(
                f"groups of {dataset.name} holds one row a group, which groups nothing; name a column that rows share, "
                "or leave the groups out."
            )
        return cls(kind, rows, known, targets, groups, times)

    def split(self, name: str, held_out: np.ndarray) -> Split:
        """The split with these held-out rows; all other rows are trained on, except for those that would leak."""
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
    """The kind of the splits of a data set; what "auto" stands for there."""
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

    Only rows with a known label or number are held out; the others are in every training part. Two kinds of row are on
    neither side, because they would leak: one of a group that is held out and, in the order of time, one that is not
    earlier than every held-out row. Groups are kept whole in the order of time too.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
        Its ``targets``, ``groups`` and ``times`` are used.
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
    >>> from proxembed.splits import Splitting, make_splits
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


def labelled_folds(
    targets: Targets, n_folds: int, *, groups: Any = None, times: Any = None, seed: int = 0
) -> list[Split]:
    """Folds of rows with their groups and times, by the rules of ``make_splits``."""
    kind = "time" if times is not None else "groups" if groups is not None else "stratified"
    data = _Rows(kind, np.arange(targets.n), np.flatnonzero(targets.rows_any), targets, groups, times)
    return [data.split(fold.name, fold.held_out) for fold in _folds(data, Splitting(n_folds=n_folds, seed=seed), 0)]


def fold_limit(dataset: Any, n_folds: int, rows: Any = None) -> int:
    """The number of folds that the groups of a data set permit: at most as many as there are groups, at least 2."""
    if splitting_kind(dataset, Splitting()) != "groups":
        return n_folds
    known = dataset.targets.rows_any
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
    >>> from proxembed.splits import holdout_split
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
    side = group_sides(data.Y.fold_labels(data.known), groups, [share, 1 - share], seed=seed)
    if side.all():
        side = (groups != names[np.argmin(sizes)]).astype(np.intp)
    elif not side.any():
        side = (groups == names[np.argmin(sizes)]).astype(np.intp)
    return data.known[side == 0]


def _held_out_rows(data: _Rows, share: float, seed: int) -> np.ndarray:
    n = len(data.known)
    test = math.ceil(share * n)
    held_out = np.flatnonzero(_parts_alike(data.Y, data.known, [(n - test) / n, test / n], seed) == 1)
    if not 0 < len(held_out) < n:
        raise ValueError(f"share={share} of {n} rows leaves an empty part; take another share.")
    return data.known[held_out]


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
    >>> from proxembed.splits import standard_split
    >>> standard_split(digits())
    Traceback (most recent call last):
    ...
    ValueError: digits has no standard split; give a test file or use folds only.
    """
    if dataset.train_idx is None or dataset.test_idx is None:
        raise ValueError(f"{dataset.name} has no standard split; give a test file or use folds only.")
    return Split("test", np.asarray(dataset.train_idx), np.asarray(dataset.test_idx))


class Frame(NamedTuple):
    """A similarity that carries one embedding onto another: z -> scale (z - source) Q + target."""

    Q: np.ndarray
    scale: float
    source: np.ndarray
    target: np.ndarray

    def carry(self, Z: Any) -> np.ndarray:
        """Rows (m, k) of the first embedding in the frame of the second, (m, l)."""
        return self.scale * ((np.asarray(Z, dtype=np.float64) - self.source) @ self.Q) + self.target


def procrustes_frame(Z: Any, target: Any) -> Frame:
    """Orthogonal Procrustes: the rotation or reflection, scale and shift that carry Z nearest to ``target``."""
    Z, target = np.asarray(Z, dtype=np.float64), np.asarray(target, dtype=np.float64)
    source, goal = Z.mean(axis=0), target.mean(axis=0)
    M = (Z - source).T @ (target - goal)
    V = descending(M.T @ M)[1][:, : min(M.shape)]
    U = orthonormal_columns(M @ V)
    Q = U @ V.T
    size = float(np.sum((Z - source) ** 2))
    scale = float(np.sum(Q * M)) / size if size > 0 else 1.0
    return Frame(Q, scale if scale > 0 else 1.0, source, goal)


def groups_of(method: Any, groups: Any, rows: Any = slice(None)) -> dict[str, np.ndarray]:
    """The groups of some rows as the ``fit`` of a method, or of a pipeline with it, takes them by name; nothing without
    groups, or where no step takes them."""
    if groups is None:
        return {}
    steps = [(f"{name}__", step) for name, step in method.steps] if isinstance(method, Pipeline) else [("", method)]
    own = np.asarray(groups)[rows]
    return {
        f"{prefix}groups": own for prefix, step in steps if hasattr(step, "fit") and has_fit_parameter(step, "groups")
    }


def crossfit(
    method: Any,
    X: Any,
    y: Any,
    whole: Any,
    splits: Iterable[Split],
    known: Any,
    times: np.ndarray | None = None,
    groups: Any = None,
) -> np.ndarray:
    """Out-of-fold embedding of training rows: each row embedded by a model fitted without it. ``times``: how often each
    row occurs; ``groups`` of the rows, for a method whose fit takes them."""
    whole, known = np.asarray(whole, dtype=np.float64), np.asarray(known)
    total, number = np.zeros_like(whole), np.zeros(len(whole))
    for split in splits:
        weights = {} if times is None else {"sample_weight": times[split.train]}
        more = weights | groups_of(method, groups, split.train)
        model = clone(method).fit(X[split.train], take_labels(y, split.train), **more)
        frame = procrustes_frame(model.transform(X[split.train]), whole[split.train])
        total[split.held_out] += frame.carry(model.transform(X[split.held_out]))
        number[split.held_out] += 1
    missing = number == 0
    if (missing & known).any():
        raise ValueError(
            f"cv never holds out {int((missing & known).sum())} of {len(whole)} rows, so they have no out-of-fold "
            "embedding; use folds that hold out every row (the order of time does not)."
        )
    return np.where(missing[:, None], whole, total / np.maximum(number, 1)[:, None])


def crossfit_blocks(method: Any, rows: RowBlocks, n_folds: int = 5) -> RowBlocks:
    """Out-of-fold embedding of rows in blocks, computed when it is read: as ``crossfit`` of random folds."""
    if isinstance(n_folds, bool) or not isinstance(n_folds, int | np.integer) or n_folds < 2:
        what = safe_repr(n_folds) if np.isscalar(n_folds) else type(n_folds).__name__
        raise ValueError(f"cv={what} is not allowed with blocks of rows; it must be a whole number of at least 2.")
    if not rows.rereadable:
        raise ValueError(
            "Cross-fitting reads the rows several times, and these blocks can be read once. Pass a function that "
            "starts a new reading: RowBlocks(lambda: ...)."
        )
    rows = rows.checked()
    folded = partial(_with_folds, rows, n_folds)
    shared, fold = RowBlocks(lambda: ((X, own) for X, _, own in folded())).sample(FRAME_ROWS, seed=0)
    target = np.asarray(clone(method).fit(rows).transform(shared), dtype=np.float64)
    placed = []
    for number in range(n_folds):
        model, own = accept_classes(clone(method)), np.flatnonzero(fold != number)
        model.fit(_without_fold(folded, number, rows.precision))
        placed.append((model, procrustes_frame(model.transform(shared[own]), target[own])))
    return RowBlocks(lambda: _out_of_fold(folded(), placed), precision=rows.precision)


def _with_folds(rows: RowBlocks, n_folds: int) -> Iterator[tuple[Any, Any, np.ndarray]]:
    """Each block with the fold of each row, the same in every reading."""
    draw = np.random.default_rng(0)
    return ((X, y, draw.integers(n_folds, size=length(X))) for X, y in rows)


def _without_fold(folded: Callable[[], Iterable[Any]], number: int, precision: str) -> RowBlocks:
    def read() -> Iterator[tuple[Any, Any]]:
        for X, y, fold in folded():
            if len(index := np.flatnonzero(fold != number)):
                yield some(X, index), None if y is None else some(y, index)

    return RowBlocks(read, precision=precision)


def _out_of_fold(folded: Iterable[Any], placed: list[tuple[Any, Frame]]) -> Iterator[tuple[np.ndarray, Any]]:
    for X, y, fold in folded:
        Z = np.empty((len(fold), len(placed[0][1].target)))
        for number in np.unique(fold):
            (model, frame), index = placed[number], np.flatnonzero(fold == number)
            Z[index] = frame.carry(model.transform(some(X, index)))
        yield Z, y


class StratifiedFolds(BaseCrossValidator):
    """Multi-label stratified folds for scikit-learn; unknown-label rows always train.  [sechidis2011stratification]

    Of one column of numbers each fold takes one of every ``n_splits`` neighbouring values; several columns are
    stratified by the fifths of each.

    Parameters
    ----------
    n_splits : int, default=5
    n_repeats : int, default=1
    random_state : int, default=0

    See Also
    --------
    proxembed.splits.GroupFolds : Folds that keep groups together.
    proxembed.splits.Splitting : How rows are held out.

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
        """Yield (training rows, held-out rows); y: labels in any form or numbers, NaN for unknown; groups are
        ignored."""
        Splitting("stratified", self.n_splits, self.n_repeats, self.random_state)
        Y = _targets(type(self).__name__, y)
        known = np.flatnonzero(Y.rows_any)
        for repeat in range(self.n_repeats):
            folds = stratified_folds(Y, self.n_splits, seed=self.random_state + repeat, rows=known)
            yield from (_parts(Y.n, fold) for fold in folds)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits: folds times repeats."""
        return self.n_splits * self.n_repeats


class GroupFolds(BaseCrossValidator):
    """Folds of whole groups for scikit-learn, labels (or fifths of numbers) spread as evenly as the groups permit.

    Rows with unknown labels are never held out; they train in every fold but those that hold out their group.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, default=0

    See Also
    --------
    proxembed.splits.StratifiedFolds : Folds that spread every label.
    proxembed.splits.Splitting : How rows are held out.

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
        """Yield (training rows, held-out rows); y: labels in any form or numbers; groups: the group of each
        row."""
        if groups is None:
            raise ValueError("GroupFolds needs groups, the group of each row; pass groups=..., or use StratifiedFolds.")
        Y = _targets(type(self).__name__, y)
        groups = checked_units(groups, None, Y.n)[0]
        known = np.flatnonzero(Y.rows_any)
        for fold in group_folds(Y, groups, self.n_splits, seed=self.random_state, rows=known):
            train, held_out = _parts(len(groups), fold)
            yield train[~np.isin(groups[train], groups[held_out])], held_out

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits


def as_splits(cv: Any, X: Any, y: Any, groups: Any = None) -> list[Split]:
    """The splits that a parameter ``cv`` stands for."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        cv = StratifiedFolds(int(cv)) if groups is None else GroupFolds(int(cv))
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


def splits_of_present(cv: Any, present: np.ndarray) -> list[Any]:
    """A list of splits of all rows as splits of those whose numbers are ``present``, which is sorted."""
    found = []
    for part in cv:
        pair = [np.asarray(rows) for rows in (part[1:] if isinstance(part, Split) else part)]
        numbers = [np.flatnonzero(rows) if rows.dtype == bool else rows for rows in pair]
        kept = [np.searchsorted(present, rows[np.isin(rows, present)]) for rows in numbers]
        found.append(Split(part.name, *kept) if isinstance(part, Split) else tuple(kept))
    return found


def parts_of(cv: Any, X: Any, y: Any, groups: Any = None) -> list[Any]:
    """The parts that a splitter makes of some rows; a ValueError that names ``cv`` where it cannot."""
    try:
        return list(cv.split(X, y, groups))
    except ValueError as error:
        raise ValueError(f"cv={cv!r} does not split the {X.shape[0]} rows of X: {error}") from error


def _targets(name: str, y: Any) -> Targets:
    """y as numbers where it holds some; whole numbers that may be either are classes."""
    if y is None:
        raise ValueError(f"{name} requires y, because only rows with known labels can be held out; pass the labels.")
    if isinstance(y, Targets) or holds_numbers(y):
        return read_targets(y)
    return LabelMatrix.of(y)


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
