"""LabelTotals: what the labels of all rows add up to; LabelBlock: the labels of some rows, with the totals of all.

A method states its template on a block; whatever it asks of the labels as a whole (rows per label, their number, label
sets) is answered by the totals.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.moments import Moments

from .labels import LabelMatrix
from .output_totals import OTHER_COLUMNS, OutputTotals
from .outputs import Outputs
from .reading import read_targets
from .targets import Targets
from .values import are_comparable, entries, missing_entries, positions, united_values, unwrapped

ONES = "ones"  # an indicator without a zero or -1, which may be of either form
CELLS = ("indicator", "signs", ONES)
MAX_SETS = 20_000


@dataclass(frozen=True)
class LabelTotals:
    """Totals over the rows that take part, each as often as it occurs: ``n`` rows, ``gram`` Y'Y, ``shares`` Y'M^-1 1,
    the rows with ``several`` labels and with ``none``, ``counts`` Y'1 if cells of Y are shares (else None: the diagonal
    of Y'Y). For methods that need all labels first: ``shared`` Y'M^-1 Y and the distinct label ``sets`` with their
    rows; else None."""

    classes_: np.ndarray
    form: str
    n: float
    gram: np.ndarray
    shares: np.ndarray
    several: float = 0
    none: float = 0
    counts: Any = None  # an array
    shared: Any = None  # an array
    sets: Any = field(default=None, repr=False)  # dict[tuple[int, ...], int]

    @classmethod
    def of(cls, labels: LabelMatrix, whole: bool = False, weights: np.ndarray | None = None) -> LabelTotals:
        """The totals of labels without unknown cells; ``whole``: ``shared`` and ``sets``, too; ``weights``: how often
        each row occurs."""
        form = labels.form
        if form == "indicator" and labels.Y.nnz == labels.n * labels.c:
            form = ONES
        if weights is not None:
            return cls._of_repeated(labels, form, whole, weights)
        gram, shared = labels.gram_and_shared if whole else (labels.gram, None)
        sets = _counted(labels.Y) if whole else None
        counts = None if np.array_equal(np.diag(gram), labels.nk) else labels.nk
        several, bare = labels.several, labels.bare
        return cls(labels.classes_, form, labels.n, gram, labels.shares, several, bare, counts, shared, sets)

    @classmethod
    def _of_repeated(cls, labels: LabelMatrix, form: str, whole: bool, w: np.ndarray) -> LabelTotals:
        gram, shared, shares = labels.sums_of_repeated(w, whole)
        sets = _counted(labels.Y, w) if whole else None
        several, bare = float(w[labels.m > 1].sum()), float(w[labels.m < 1].sum())
        nk = np.asarray(labels.Y.T @ w).ravel()
        return cls(labels.classes_, form, float(w.sum()), gram, shares, several, bare, nk, shared, sets)

    @property
    def nk(self) -> np.ndarray:
        """Rows per label."""
        return np.diag(self.gram).copy() if self.counts is None else self.counts

    @cached_property
    def columns(self) -> np.ndarray:
        """Columns of the labels that some row has."""
        return np.flatnonzero(np.diag(self.gram) > 0)

    def merged(self, other: Any) -> LabelTotals:
        """The totals of both; classes that only one of them has are added. Raises ValueError for labels in different
        forms, for indicators of different columns, and for the totals of numbers."""
        if isinstance(other, OutputTotals):
            other.refuse_labels(self.columns_of_y)
        classes, form = united(self, other)
        left, right = self.on(classes), other.on(classes)
        shared = sets = None
        if left.sets is not None and right.sets is not None:
            shared, sets = left.shared + right.shared, dict(left.sets)
            for key, count in right.sets.items():
                sets[key] = sets.get(key, 0) + count
            _refuse_many(len(sets))
        return replace(
            left,
            form=form,
            n=self.n + other.n,
            gram=left.gram + right.gram,
            shares=left.shares + right.shares,
            several=self.several + other.several,
            none=self.none + other.none,
            counts=None if left.counts is None and right.counts is None else left.nk + right.nk,
            shared=shared,
            sets=sets,
        )

    def on(self, classes: np.ndarray) -> LabelTotals:
        """The same totals over a longer list of classes."""
        if len(classes) == len(self.classes_):
            return self
        place, c = positions(self.classes_, classes), len(classes)
        gram, shares = np.zeros((c, c)), np.zeros(c)
        gram[np.ix_(place, place)] = self.gram
        shares[place] = self.shares
        if self.sets is None:
            return replace(self, classes_=classes, gram=gram, shares=shares)
        shared = np.zeros((c, c))
        shared[np.ix_(place, place)] = self.shared
        sets = {tuple(place[list(key)].tolist()): n for key, n in self.sets.items()}
        return replace(self, classes_=classes, gram=gram, shares=shares, shared=shared, sets=sets)

    @property
    def columns_of_y(self) -> list[str]:
        """The kind of each column of y."""
        return ["labels"] * len(self.classes_) if self.form in CELLS else [{"sets": "labels"}.get(self.form, self.form)]

    def places(self, before: LabelTotals) -> np.ndarray:
        """The columns of earlier totals among these."""
        return np.searchsorted(self.columns, positions(before.classes_, self.classes_)[before.columns])

    def recentred(self, moments: Moments, before: LabelTotals) -> Moments:
        """Sums with the columns of these totals, as they are: labels have no units."""
        return moments

    def scaled(self, moments: Moments) -> Moments:
        """Sums with the labels of rows, as they are."""
        return moments

    def summed(self, labels: LabelMatrix) -> LabelBlock:
        """What is summed of the labels of some rows before those of all are known: the labels."""
        return self.block(labels)

    def summed_no_rows(self) -> LabelBlock:
        """``summed`` of no row."""
        return self.no_rows()

    def block(self, labels: LabelMatrix) -> LabelBlock:
        """The labels of some rows, on the columns of these totals that some row has."""
        Y = labels.Y
        if len(labels.classes_) != len(self.classes_) or self.form not in CELLS:
            Y = _placed(Y, positions(labels.classes_, self.classes_), len(self.classes_))
        if len(self.columns) < Y.shape[1]:
            Y = Y[:, self.columns]
        return LabelBlock(Y, self.classes_, self._stated_form, None, self.columns, self)

    def with_factor(self, Y: np.ndarray) -> LabelBlock:
        """These totals with an array of as many columns as there are labels in place of the labels of rows."""
        return LabelBlock(sparse.csc_array(Y), self.classes_, self._stated_form, None, self.columns, self)

    @property
    def _stated_form(self) -> str:
        return "indicator" if self.form == ONES else self.form

    def no_rows(self) -> LabelBlock:
        """The labels of no row."""
        return self.with_factor(np.zeros((0, len(self.columns))))


@dataclass(frozen=True)
class LabelBlock(LabelMatrix):
    """Labels of some rows; sums over rows, and the number of rows, are those of all rows."""

    totals: LabelTotals = None  # type: ignore[assignment]  # always given, after fields that need not be

    @property
    def of_block(self) -> bool:
        return True

    @property
    def n(self) -> float:
        """Rows of all blocks."""
        return self.totals.n

    @cached_property
    def nk(self) -> np.ndarray:
        """Rows per label, of all blocks."""
        return self.totals.nk[self.kept_columns]

    @property
    def gram(self) -> np.ndarray:
        """Y'Y of all blocks."""
        return self.totals.gram[np.ix_(self.kept_columns, self.kept_columns)]

    @property
    def squares(self) -> float:
        """The trace of Y'Y of all blocks."""
        return float(np.diag(self.totals.gram).sum())

    @property
    def shared(self) -> np.ndarray:
        """Y'M^-1 Y of all blocks."""
        return self.totals.shared[np.ix_(self.kept_columns, self.kept_columns)]

    @property
    def shares(self) -> np.ndarray:
        """Y'M^-1 1 of all blocks."""
        return self.totals.shares[self.kept_columns]

    @property
    def several(self) -> Any:
        """Rows of all blocks with several labels."""
        return self.totals.several

    @property
    def bare(self) -> Any:
        """Rows of all blocks without a label."""
        return self.totals.none

    def two_classes(self) -> LabelMatrix:
        """The labels as they are: later blocks may bring other labels."""
        return self

    def take(self, rows: Any) -> LabelMatrix:
        """The labels of some rows of this block, without the totals."""
        return LabelMatrix(sparse.csc_array(self.Y.tocsr()[rows]), self.classes_, self.form, None, self.kept_columns)

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct label sets of all blocks (u x c), and the index of its set for each row of this block."""
        order = {key: number for number, key in enumerate(self.totals.sets)}
        sets = np.zeros((len(order), len(self.classes_)))
        for key, number in order.items():
            sets[number, list(key)] = 1.0
        rows = self.Y.tocsr()
        parts = np.split(self.kept_columns[rows.indices], rows.indptr[1:-1])
        index = [order[tuple(sorted(part.tolist()))] for part in parts[: rows.shape[0]]]
        return sets[:, self.kept_columns], np.array(index, dtype=np.intp)

    def set_counts(self) -> np.ndarray:
        """Rows of each label set, in the order of ``groups``."""
        return np.array(list(self.totals.sets.values()), dtype=np.float64)


class PartlyKnownRow(Exception):
    """A row of known and unknown cells, in a reading that asks for the means of the labels if there is one."""


def labels_of_block(
    y: Any,
    means: Any = None,
    target_type: Any = "classes",
    scale_targets: Any = "standard",
    fills_numbers: bool = False,
) -> tuple[Any, np.ndarray, int]:
    """The targets of the rows of a block that take part (None for no row), the index of these rows, and the number of
    all; ``target_type`` and ``scale_targets``: as of ``read_targets``. Rows whose targets are all known take part; with
    ``means`` of the labels, and where y holds numbers under ``fills_numbers``, also those with a known cell, each
    unknown cell at its mean. Raises PartlyKnownRow for such a row of labels if ``means`` is "ask"."""
    if all_unknown(y):
        return None, np.empty(0, dtype=np.intp), y.shape[0] if hasattr(y, "shape") else len(y)
    labels: Any = read_targets(y, target_type, scale_targets, block=True)
    if labels.unknown is None:
        return labels, np.arange(labels.n), labels.n
    known = labels.rows_known
    if isinstance(labels, Outputs):
        index = np.flatnonzero(labels.rows_any if fills_numbers else known)
        return (labels.take(index).with_means() if len(index) else None), index, labels.n
    if means is not None:
        known = labels.rows_any
        if isinstance(means, str) and not np.array_equal(known, labels.rows_known):
            raise PartlyKnownRow
    index = np.flatnonzero(known)
    if not len(index):
        return None, index, labels.n
    kept = labels.take(index)
    return (kept if kept.unknown is None else kept.with_means(means)), index, labels.n


def all_unknown(y: Any) -> bool:
    """Whether no cell of y is known."""
    values, _ = unwrapped(y)
    if isinstance(values, Targets):
        return False
    if sparse.issparse(values):
        return values.nnz == values.shape[0] * values.shape[1] and bool(np.isnan(values.data.astype(float)).all())
    if isinstance(values, list | tuple) and any(isinstance(row, set | frozenset | list | tuple) for row in values):
        return False
    return bool(missing_entries(entries(values)).all())


def united(left: LabelTotals, right: LabelTotals) -> tuple[np.ndarray, str]:
    """The classes of both, and the form of y."""
    if left.form in CELLS and right.form in CELLS:
        if len(left.classes_) != len(right.classes_) or left.classes_.tolist() != right.classes_.tolist():
            raise ValueError(OTHER_COLUMNS.format(len(left.classes_), len(right.classes_)))
        forms = {left.form, right.form} - {ONES}
        if len(forms) == 2:
            raise ValueError(
                "y holds 0 and 1 in one block and -1 and +1 in another. Use 0 and 1 in every block, NaN for unknown."
            )
        return left.classes_, forms.pop() if forms else ONES
    if left.form != right.form:
        raise ValueError(
            f"y is given as {left.form} in one block and as {right.form} in another; pass one form in every block."
        )
    if not are_comparable(left.classes_, right.classes_):
        raise ValueError("y mixes numbers and text among its blocks; pass labels of one kind.")
    return united_values(left.classes_, right.classes_), left.form


def _placed(Y: sparse.csc_array, place: np.ndarray, c: int) -> sparse.csc_array:
    """Y with its columns at other places among c."""
    entries_of = Y.tocoo()
    return sparse.csc_array((entries_of.data, (entries_of.row, place[entries_of.col])), shape=(Y.shape[0], c))


def _counted(Y: sparse.csc_array, weights: np.ndarray | None = None) -> dict[tuple[int, ...], float]:
    """The distinct label sets with their rows, each as often as it occurs."""
    rows = Y.tocsr()
    rows.sort_indices()
    counts: dict[tuple[int, ...], float] = {}
    times = [1] * rows.shape[0] if weights is None else weights.tolist()
    for part, own in zip(np.split(rows.indices, rows.indptr[1:-1]), times, strict=False):
        key = tuple(part.tolist())
        counts[key] = counts.get(key, 0) + own
    _refuse_many(len(counts))
    return counts


def _refuse_many(sets: int) -> None:
    if sets > MAX_SETS:
        raise ValueError(
            f"These blocks have more than {MAX_SETS:,} distinct label sets, of which a kernel of label sets would be a "
            "dense matrix. Use label_kernel='linear', or fewer labels."
        )
