"""Folds made of arrays: stratified by several labels, of whole groups, or in the order of time."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from proxembed.params import safe_repr
from proxembed.targets.values import dense_labels


class Split(NamedTuple):
    """Row numbers of one training part and one held-out part; ``name`` is "1", "2", ... ("2.1" for the first fold of
    the second repeat) or "test"."""

    name: str
    train: np.ndarray
    held_out: np.ndarray


def stratified_folds(Y: Any, n_folds: int = 5, *, seed: int = 0, rows: Any = None) -> list[Split]:
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
    >>> from proxembed.splits.folds import stratified_folds
    >>> Y = np.tile([[1, 0], [0, 1]], (6, 1))
    >>> [Y[split.held_out].sum(axis=0).tolist() for split in stratified_folds(Y, 3)]
    [[2, 2], [2, 2], [2, 2]]
    """
    from iterstrat.ml_stratifiers import MultilabelStratifiedKFold

    Y = dense_labels(Y)
    rows = np.arange(len(Y)) if rows is None else np.asarray(rows)
    check_folds(n_folds, len(rows), "rows")
    splitter = MultilabelStratifiedKFold(n_splits=n_folds, shuffle=True, random_state=seed)
    splits = [
        Split(str(number), rows[train], rows[held_out])
        for number, (train, held_out) in enumerate(
            splitter.split(np.empty((len(rows), 0)), with_empty_column(Y[rows])), start=1
        )
    ]
    if any(len(split.train) == 0 or len(split.held_out) == 0 for split in splits):
        raise ValueError(f"n_folds={n_folds} leaves an empty fold on {len(rows)} rows; take fewer folds.")
    return splits


def with_empty_column(Y: np.ndarray) -> np.ndarray:
    """Y with one more column that marks the rows without a label."""
    return np.column_stack([Y, ~Y.any(axis=1)])


def check_folds(n_folds: Any, most: int, what: str) -> None:
    """Raise a ValueError unless n_folds is a whole number from 2 to ``most``, the number of rows or groups."""
    if isinstance(n_folds, bool) or not isinstance(n_folds, Integral) or not 2 <= int(n_folds) <= most:
        allowed = f"must be from 2 to the number of {what} ({most})"
        raise ValueError(f"n_folds={safe_repr(n_folds)} {allowed}; take fewer folds, or more {what}.")


def group_sides(Y: Any, groups: Any, shares: Any, *, seed: int = 0) -> np.ndarray:
    """Share out whole groups so that each side gets its share of the rows and of every label.

    Groups go one by one, largest first, to the side where the squared excess over the shares grows least, each label
    counted relative to its number of rows.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        Labels, 0 or 1.
    groups : array of shape (n,)
        The group of each row.
    shares : sequence of float
        Share of the rows that each side is to have.
    seed : int, default=0
        Order of groups of equal size.

    Returns
    -------
    int array of shape (n,)
        The side of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.splits.folds import group_sides
    >>> group_sides(np.ones((6, 1)), [7, 7, 7, 8, 8, 9], [0.5, 0.5]).tolist()
    [0, 0, 0, 1, 1, 1]
    """
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
    Y : array or sparse array of shape (n, c)
        Labels, 0 or 1.
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
    >>> from proxembed.splits.folds import group_folds
    >>> [split.held_out.tolist() for split in group_folds(np.ones((5, 1)), list("aaabc"), 2)]
    [[0, 1, 2], [3, 4]]
    """
    groups = np.asarray(groups)
    rows = np.arange(len(groups)) if rows is None else np.asarray(rows)
    count = len(np.unique(groups[rows]))
    if count == 1:
        raise ValueError("the rows are of 1 group; folds of whole groups need at least 2, or leave the groups out.")
    check_folds(n_folds, count, "groups")
    side = group_sides(sp.csr_array(Y)[rows], groups[rows], np.full(n_folds, 1 / n_folds), seed=seed)
    return [Split(str(f + 1), rows[side != f], rows[side == f]) for f in range(n_folds)]


def time_cuts(times: Any, targets: Any) -> np.ndarray:
    """The times at which to cut so that about a share ``targets[i]`` of the rows is earlier; ever later, one a target.

    Rows of one time are never parted. Raises ValueError where there are fewer distinct times than parts.

    Examples
    --------
    >>> from proxembed.splits.folds import time_cuts
    >>> time_cuts([1, 1, 2, 3, 4, 4], [0.5]).tolist()
    [3.0]
    """
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
    """Folds in the order of time: the held-out rows of a fold are the next ones after all of its training rows.

    Parameters
    ----------
    times : array of shape (n,)
        Finite numbers, later rows larger; rows of one time stay together.
    n_folds : int, default=5
        Number of folds: the rows are cut into one part more, of which the earliest is only trained on.
    rows : int array, optional
        Split only these rows; the parts hold numbers of all rows.

    Returns
    -------
    list of Split
        Training parts grow from fold to fold.

    Raises
    ------
    ValueError
        Fewer than 2 folds, a time that is not finite, or too few distinct times.

    Examples
    --------
    >>> from proxembed.splits.folds import time_folds
    >>> [(split.train.tolist(), split.held_out.tolist()) for split in time_folds([3, 1, 2], 2)]
    [([1], [2]), ([1, 2], [0])]
    """
    times = np.asarray(times, dtype=np.float64)
    rows = np.arange(len(times)) if rows is None else np.asarray(rows)
    check_folds(n_folds, len(rows) - 1, "rows less one")
    cuts = time_cuts(times[rows], np.arange(1, n_folds + 1) / (n_folds + 1))
    part = np.searchsorted(cuts, times[rows], side="right")
    return [Split(str(f), rows[part < f], rows[part == f]) for f in range(1, n_folds + 1)]
