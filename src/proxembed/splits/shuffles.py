"""Rows that depend on each other: shuffles of labels by rows, by whole groups or along time, and units of intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln

from proxembed.targets.labels import LabelMatrix
from proxembed.targets.targets import Targets

from .splits import Split

ROWS, GROUPS, TIMES = "rows", "groups", "shifts in time"
COUNTED = 1_000_000  # distinct shuffles are counted up to here
MEMORY_LABELS = 100  # by which it is measured how long labels stay alike in time
INDEPENDENT = 1.5  # rows for which labels stay alike, below which rows vary independently


@dataclass(frozen=True)
class LabelShuffle:
    """Draws labels (or numbers, whole rows of them) for rows as they could be if labels and features were independent.

    Blocks of a stratum exchange their labels: single rows, or all rows of a group. A block gets the labels of its donor
    in random order; a donor of another size gives a sample of its rows, without repeats as far as they suffice. In the
    order of time all blocks are moved on by the same random number of places, the last ones to the front, so that the
    labels of neighbouring times stay together. Rows without known labels keep theirs.
    [winkler2015multilevel; hemerik2018exact; lancaster2018surrogate]
    """

    unit: str
    strata: Sequence[Any]  # lists of int arrays, the rows of a block; of single rows an int array (blocks, 1)
    labels: Targets

    @classmethod
    def of(
        cls, labels: Targets, splits: Sequence[Split] = (), *, groups: Any = None, times: Any = None
    ) -> "LabelShuffle":
        """The shuffle of all rows with known labels; without times only rows that are held out together exchange."""
        known = np.flatnonzero(labels.rows_any)
        if times is not None:
            order = known[np.argsort(np.asarray(times)[known], kind="stable")]
            return cls(TIMES, [_in_order(order, groups)], labels)
        part = _held_out_together(labels.n, splits)
        strata = [known[part[known] == number] for number in np.unique(part[known])]
        if groups is None:
            return cls(ROWS, [rows[:, None] for rows in strata], labels)
        groups = np.unique(np.asarray(groups), return_inverse=True)[1]
        _check_whole(groups[known], part[known])
        return cls(GROUPS, [_blocks(rows, groups) for rows in strata], labels)

    def order(self, random: np.random.Generator) -> np.ndarray:
        """For each row the row whose labels it gets, (n,)."""
        order = np.arange(self.labels.n)
        for blocks in self.strata:
            count = len(blocks)
            if self.unit == TIMES:
                donors = (np.arange(count) + random.integers(count)) % count
            else:
                donors = random.permutation(count)
            if isinstance(blocks, np.ndarray):
                order[blocks] = blocks[donors]
                continue
            for block, donor in zip(blocks, donors, strict=True):
                order[block] = self._drawn(blocks[donor], len(block), random)
        return order

    def _drawn(self, donor: np.ndarray, size: int, random: np.random.Generator) -> np.ndarray:
        """Rows of a donor for a block of some size; in the order of time they keep their order."""
        if self.unit == TIMES:
            return donor[np.arange(size) * len(donor) // size]
        return np.concatenate([random.permutation(donor) for _ in range(-(-size // len(donor)))])[:size]

    @cached_property
    def distinct(self) -> int:
        """The number of different matrices of labels that the shuffles can give, counted up to 1,000,000."""
        row = _codes(self.labels)
        if self.unit == TIMES:
            return min(_rotations([row[block] for block in self.strata[0]]), COUNTED)
        count = 0.0
        for blocks in self.strata:
            inside = [np.sort(row[block]) for block in blocks]
            count += _log_arrangements(inside) + sum(_log_arrangements(each[:, None]) for each in inside)
        return int(round(np.exp(min(count, np.log(COUNTED)))))


def counted(distinct: int) -> str:
    """A number of different shuffles in words."""
    return f"{distinct:,}{' or more' * (distinct >= COUNTED)}"


def _held_out_together(n: int, splits: Sequence[Split]) -> np.ndarray:
    """For each row the number of the set of rows that is held out by the same splits, (n,)."""
    held_out = np.zeros((n, len(splits)), dtype=bool)
    for number, split in enumerate(splits):
        held_out[split.held_out, number] = True
    return np.unique(held_out, axis=0, return_inverse=True)[1].ravel()


def _check_whole(groups: np.ndarray, part: np.ndarray) -> None:
    """Raise a ValueError if rows of a group are held out by different splits."""
    pairs = np.unique(np.column_stack([groups, part]), axis=0)
    if len(pairs) > len(np.unique(groups)):
        raise ValueError("cv holds out rows of a group without its other rows; use GroupFolds, or leave cv out.")


def _blocks(rows: np.ndarray, groups: np.ndarray) -> list[np.ndarray]:
    """The rows of each group, in the order of the rows."""
    order = rows[np.argsort(groups[rows], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _in_order(rows: np.ndarray, groups: Any) -> Any:
    """Blocks of rows in the order of time: single rows, or groups by the mean place of their rows."""
    if groups is None:
        return rows[:, None]
    groups = np.unique(np.asarray(groups), return_inverse=True)[1]
    blocks, place = _blocks(rows, groups), np.empty(len(groups))
    place[rows] = np.arange(len(rows))
    return [blocks[i] for i in np.argsort([place[block].mean() for block in blocks], kind="stable")]


def _codes(labels: Targets) -> np.ndarray:
    """For each row the number of its label set, or of its numbers, its unknown cells included."""
    own = labels.group_of_row()
    if labels.known_cells is None:
        return own
    cells = np.unique(np.packbits(labels.known_cells, axis=1), axis=0, return_inverse=True)[1].ravel()
    return np.unique(np.column_stack([own, cells]), axis=0, return_inverse=True)[1].ravel()


def _log_arrangements(contents: Any) -> float:
    """The logarithm of the number of distinct orders of some contents, equal ones not told apart."""
    counts = np.unique([each.tobytes() for each in contents], return_counts=True)[1]
    return float(gammaln(len(contents) + 1) - gammaln(counts + 1).sum())


def _rotations(contents: list[np.ndarray]) -> int:
    """The number of distinct rotations of a sequence: its smallest period that divides its length."""
    keys = np.unique([each.tobytes() for each in contents], return_inverse=True)[1]
    n = len(keys)
    return next(shift for shift in range(1, n + 1) if n % shift == 0 and (np.roll(keys, shift) == keys).all())


def time_periods(targets: Targets, times: Any) -> np.ndarray | None:
    """For each row the number of its period, (n,): periods vary independently, rows of one do not; None if rows do.

    A period is twice as long as labels stay alike: twice their integrated autocorrelation time, 1 + 2 sum rho_k up to
    the first rho_k that is no more than noise.
    """
    columns = np.argsort(-targets.nk, kind="stable") if isinstance(targets, LabelMatrix) else np.arange(targets.c)
    Y = targets.with_means().Y[:, columns[:MEMORY_LABELS]].toarray().astype(np.float64)
    memory = _autocorrelation_time(Y[order := np.argsort(np.asarray(times), kind="stable")])
    if memory < INDEPENDENT:
        return None
    unit = np.empty(targets.n, dtype=np.intp)
    unit[order] = np.arange(targets.n) * max(int(targets.n / (2 * memory)), 1) // targets.n
    return unit


def _autocorrelation_time(Y: np.ndarray) -> float:
    """Of columns in the order of time, in rows; 1 without autocorrelation."""
    n = len(Y)
    power = np.abs(np.fft.rfft(Y - Y.mean(axis=0), 2 * n, axis=0)) ** 2
    covariance = np.fft.irfft(power.sum(axis=1))[:n]
    if not covariance[0] > 0:
        return 1.0
    correlation = covariance / covariance[0]
    noise = np.flatnonzero(correlation < 2 / np.sqrt(n))
    return float(1 + 2 * correlation[1 : noise[0] if len(noise) else n].sum())


def joined_groups(number: np.ndarray, groups: Any) -> np.ndarray:
    """The group of each distinct row 0..m-1, where ``number`` (n,) says which one a row is: groups that have a distinct
    row in common are one group."""
    group = np.unique(np.asarray(groups), return_inverse=True)[1]
    m = int(number.max()) + 1
    size = m + int(group.max()) + 1
    links = sparse.coo_array((np.ones(len(number)), (number, m + group)), shape=(size, size))
    return connected_components(links, directed=False)[1][:m]
