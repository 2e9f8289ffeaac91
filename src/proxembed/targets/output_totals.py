"""OutputTotals: what the numbers of y add up to over all rows, and the columns of blocks joined; OutputBlock: F of some
rows, by these totals.

Means and scales are known after all rows. Until then the sums of the rows are those with the cells less a shift and
with the mask of unknown cells, of which F is an affine function: a fit reads blocks of numbers once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.moments import Moments
from proxembed.tables.notes import counted

from .outputs import COARSE, UNKNOWN, Column, Layout, OutputReading, Outputs, constant_columns, factors
from .targets import Targets
from .values import are_comparable, positions, united_values

OTHER_COLUMNS = (
    "y has {} columns in one block and {} in another, or columns of other names; every block needs the same columns."
)
KIND_NAMES = {"real": "numbers", "ranks": "ordered categories", "classes": "classes", "labels": "labels"}


@dataclass(frozen=True)
class OutputTotals:
    """Totals over the rows that take part, of the cells a less ``shift`` (one per column of F) and their mask M, 1
    where a cell is known (one per column of y; a is 0 elsewhere): ``gram_of_cells`` a'a, ``sums_of_cells`` a'M,
    ``known`` M'M, and the range of known cells. Each row counts as often as it occurs, not in ``rows``, their number,
    and ``held``, the known cells of each column of y. Classes are indicators, of shift 0. ``filled``: where unknown
    cells have values of their own, which rows in memory alone have, the mean of known and filled cells (one per column
    of F) and the Gram matrix of all cells less these means."""

    layout: Layout
    scaling: str
    weights: tuple[float, ...] | None
    n: float
    shift: np.ndarray
    gram_of_cells: np.ndarray
    sums_of_cells: np.ndarray
    known: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: int
    held: np.ndarray
    filled: tuple[np.ndarray, np.ndarray] | None = None

    form = "numbers"
    classes_ = None
    nk = None

    @classmethod
    def of(cls, outputs: Outputs, weights: np.ndarray | None = None) -> OutputTotals:
        """The totals of some rows; ``weights``: how often each occurs."""
        layout = outputs.layout
        raw, mask = _cells_and_mask(outputs)
        wide = mask[:, layout.owners]
        numbers = np.array([layout.columns[j].kind != "classes" for j in layout.owners])
        sums, counts = (M.sum(axis=0) if weights is None else weights @ M for M in (raw * wide, wide))
        shift = np.where(numbers, sums / np.where(counts > 0, counts, 1.0), 0.0)
        cells = (raw - shift) * wide
        low = np.where(wide > 0, raw, np.inf).min(axis=0, initial=np.inf)
        high = np.where(wide > 0, raw, -np.inf).max(axis=0, initial=-np.inf)
        held = mask.sum(axis=0)
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            cells, mask = root * cells, root * mask
        n = outputs.n if weights is None else float(weights.sum())
        grams = cells.T @ cells, cells.T @ mask, mask.T @ mask
        filled = None if outputs.fill is None else _mean_and_gram(_all_cells(outputs), weights)
        return cls(layout, outputs.scaling, outputs.weights, n, shift, *grams, low, high, outputs.n, held, filled)

    def merged(self, other: Any) -> OutputTotals:
        """The totals of both; classes that only one of them has are added. Raises ValueError for labels, and for
        columns of other names or kinds."""
        if not isinstance(other, OutputTotals):
            self.refuse_labels(other.columns_of_y)
        layout = joined(self.layout, other.layout)
        left, right = self._on(layout), other._on(layout)
        shift = np.where(left.counts > 0, left.shift, right.shift)
        left, right = left._about(shift), right._about(shift)
        return replace(
            left,
            n=left.n + right.n,
            gram_of_cells=left.gram_of_cells + right.gram_of_cells,
            sums_of_cells=left.sums_of_cells + right.sums_of_cells,
            known=left.known + right.known,
            low=np.minimum(left.low, right.low),
            high=np.maximum(left.high, right.high),
            rows=left.rows + right.rows,
            held=left.held + right.held,
        )

    def _on(self, layout: Layout) -> OutputTotals:
        """The same totals on columns with more classes."""
        place, c = column_places(self.layout, layout), layout.width
        known = np.diag(self.known)[layout.owners] > 0
        gram, sums, shift = np.zeros((c, c)), np.zeros((c, len(layout.columns))), np.zeros(c)
        low, high = np.where(known, 0.0, np.inf), np.where(known, 0.0, -np.inf)
        gram[np.ix_(place, place)], sums[place], shift[place] = self.gram_of_cells, self.sums_of_cells, self.shift
        low[place], high[place] = self.low, self.high
        return replace(self, layout=layout, gram_of_cells=gram, sums_of_cells=sums, shift=shift, low=low, high=high)

    def _about(self, shift: np.ndarray) -> OutputTotals:
        """The same totals under another shift."""
        step, owners = self.shift - shift, self.layout.owners
        across = self.sums_of_cells[:, owners] * step[None, :]
        gram = self.gram_of_cells + across + across.T + np.outer(step, step) * self._wide_known
        sums = self.sums_of_cells + step[:, None] * self.known[owners]
        return replace(self, shift=shift, gram_of_cells=gram, sums_of_cells=sums)

    def memberships(self, labels: Any) -> Any:
        """The labels of a block that holds 0 and 1 alone as memberships, if these are memberships; else the targets of
        the block as they are."""
        columns, form = self.layout.columns, getattr(labels, "form", None)
        soft = any(column.soft for column in columns) and all(column.kind == "labels" for column in columns)
        if not soft or form not in ("indicator", "classes"):
            return labels
        values = labels.classes_.tolist()
        if form == "indicator" and values == [column.name for column in columns]:
            cells = labels.Y.toarray()
        elif form == "classes" and len(columns) == 1 and set(values) <= {0, 1}:
            cells = (labels.Y @ np.array(values, dtype=np.float64))[:, None]
        else:
            return labels
        return Outputs(cells, self.layout, None, self.scaling, self.weights)

    def refuse_labels(self, kinds: list[str]) -> None:
        """A ValueError for a y of labels alone, with columns of these kinds, in other rows."""
        columns = self.layout.columns
        if len(kinds) != len(columns):
            raise ValueError(OTHER_COLUMNS.format(len(columns), len(kinds)))
        for column, kind in zip(columns, kinds, strict=True):
            if column.kind not in (kind, UNKNOWN):
                refuse_kinds(column, KIND_NAMES[kind], self.layout.alone)
        soft = next((column for column in columns if column.soft), columns[0])
        refuse_kinds(soft, KIND_NAMES["labels"], self.layout.alone)

    @property
    def _wide_known(self) -> np.ndarray:
        owners = self.layout.owners
        return self.known[np.ix_(owners, owners)]

    @property
    def counts(self) -> np.ndarray:
        """The known cells of each column of F."""
        return np.diag(self.known)[self.layout.owners]

    @property
    def _step(self) -> np.ndarray:
        """The mean of the known cells less the shift, per column of F."""
        owners = self.layout.owners
        return self.sums_of_cells[np.arange(len(owners)), owners] / np.where(self.counts > 0, self.counts, 1.0)

    @cached_property
    def level_and_scale(self) -> tuple[np.ndarray, np.ndarray]:
        """As of ``Outputs``, over all rows."""
        spread = np.diag(self.gram_of_cells) / np.where(self.counts > 0, self.counts, 1.0) - self._step**2
        varies = self.high - self.low > COARSE * np.maximum(np.abs(self.low), np.abs(self.high))
        level = self.shift + self._step if self.filled is None else self.filled[0]
        return level, np.where(varies, factors(self.layout, self.scaling, self.weights, spread), 0.0)

    @cached_property
    def columns(self) -> np.ndarray:
        """The columns of F that vary."""
        return np.flatnonzero(self.level_and_scale[1] > 0)

    @cached_property
    def gram(self) -> np.ndarray:
        """F'F of all rows, columns that vary alone."""
        scale = self.level_and_scale[1]
        whole = self._about(self.shift + self._step).gram_of_cells if self.filled is None else self.filled[1]
        return (whole * np.outer(scale, scale))[np.ix_(self.columns, self.columns)]

    @property
    def reading(self) -> OutputReading:
        """How y was read, for the estimator that is fitted on all rows."""
        unknown = self.rows - self.held.astype(int)
        rule = "mean" if unknown.any() else None
        return OutputReading(self.layout, *self.level_and_scale, self.low, self.high, unknown, unknown, rule)

    def check(self) -> None:
        """A ValueError for columns with fewer than two known cells; a warning that names the constant ones."""
        for column, count in zip(self.layout.columns, self.held.astype(int).tolist(), strict=True):
            if count < 2:
                cells = counted(count, "known cell")
                raise ValueError(f"y column {column.name!r} has {cells}; two are needed: drop it.")
        constant_columns(self.layout, self.level_and_scale[1], np.arange(self.layout.width), stacklevel=7)

    def block(self, outputs: Outputs) -> OutputBlock:
        """F of some rows."""
        level, scale = self.level_and_scale
        outputs = self.memberships(outputs)
        if self.filled is not None:
            return self.with_factor(((_all_cells(outputs) - level) * scale)[:, self.columns])
        raw, mask = _cells_and_mask(recoded(outputs, self.layout))
        return self.with_factor(((raw - level) * scale * mask[:, self.layout.owners])[:, self.columns])

    def with_factor(self, F: np.ndarray) -> OutputBlock:
        """These totals with an array in place of F of some rows."""
        return OutputBlock(sparse.csc_array(F), self)

    def no_rows(self) -> OutputBlock:
        """F of no row."""
        return self.with_factor(np.zeros((0, len(self.columns))))

    @cached_property
    def _partly_known(self) -> np.ndarray:
        """The columns of y with an unknown cell."""
        return np.flatnonzero(self.held < self.rows)

    def summed(self, outputs: Outputs) -> UnscaledBlock:
        """What is summed of some rows before all are known: the cells less the shift, 0 where unknown, and for each
        column of y with unknown cells so far 1 where a cell is unknown."""
        raw, mask = _cells_and_mask(recoded(self.memberships(outputs), self.layout))
        cells = (raw - self.shift) * mask[:, self.layout.owners]
        return UnscaledBlock(sparse.csc_array(np.hstack([cells, 1.0 - mask[:, self._partly_known]])), self)

    def summed_no_rows(self) -> UnscaledBlock:
        """``summed`` of no row."""
        return UnscaledBlock(sparse.csc_array((0, self.layout.width + len(self._partly_known))), self)

    def places(self, before: OutputTotals) -> np.ndarray:
        """The columns of ``summed`` of earlier totals among those of these."""
        holes = self.layout.width + np.searchsorted(self._partly_known, before._partly_known)
        return np.concatenate([column_places(before.layout, self.layout), holes])

    def recentred(self, moments: Moments, before: OutputTotals) -> Moments:
        """Sums with the columns of ``summed``, made with the shift of earlier totals, with that of these."""
        old = before._on(self.layout)
        step = np.where(old.counts > 0, old.shift - self.shift, 0.0)
        if not step.any():
            return moments
        width, extra = self.layout.width, len(self._partly_known)
        mixing = sparse.eye_array(width + extra, format="lil")
        mixing[width:, :width] = -step * self._holes_of_columns
        return moments.with_factors(sparse.csc_array(mixing), np.concatenate([step, np.zeros(extra)]))

    def scaled(self, moments: Moments) -> Moments:
        """Sums with F in place of the columns of ``summed``."""
        scale = self.level_and_scale[1]
        mixing = sparse.vstack([sparse.diags_array(scale), self._step * scale * self._holes_of_columns])
        return moments.with_factors(sparse.csc_array(mixing)[:, self.columns], (-self._step * scale)[self.columns])

    @property
    def _holes_of_columns(self) -> np.ndarray:
        """1 where a column of F has its unknown cells in a column of ``summed``: (unknown columns, columns of F)."""
        return (self._partly_known[:, None] == self.layout.owners).astype(np.float64)


@dataclass(frozen=True)
class OutputBlock(Targets):
    """F of some rows; sums over rows, and the number of rows, are those of all rows."""

    Y: sparse.csc_array
    totals: OutputTotals
    unknown: Any = None

    @property
    def of_block(self) -> bool:
        return True

    @property
    def n(self) -> float:
        return self.totals.n

    @property
    def kept_columns(self) -> Any:
        """The columns of F that vary."""
        return self.totals.columns

    @property
    def width(self) -> int:
        return self.totals.layout.width

    @property
    def numbers(self) -> int:
        return sum(column.kind in ("real", "ranks") for column in self.totals.layout.columns)

    @property
    def reading(self) -> OutputReading:
        return self.totals.reading

    @property
    def sums(self) -> np.ndarray:
        return np.zeros(self.c)

    @property
    def gram(self) -> np.ndarray:
        return self.totals.gram

    @property
    def squares(self) -> float:
        return float(np.trace(self.gram))

    @property
    def differ(self) -> bool:
        return self.c > 0

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        raise ValueError(
            "A kernel of numbers needs all rows at once. Use label_kernel='linear', or fit on a sample of the rows."
        )


@dataclass(frozen=True)
class UnscaledBlock(OutputBlock):
    """What is summed of some rows in place of F, before the means and scales of all rows are known: what F adds up to
    is not known either, and the unit matrix stands for F'F."""

    @property
    def kept_columns(self) -> Any:
        return None

    @property
    def gram(self) -> np.ndarray:
        return np.eye(self.c)


def _cells_and_mask(outputs: Outputs) -> tuple[np.ndarray, np.ndarray]:
    """The cells in units, classes as indicators (n, columns of F), and 1 where a cell is known (n, columns of y)."""
    raw = outputs.raw.toarray() if outputs.is_sparse else outputs.raw
    return raw, 1.0 - outputs.dense_holes()


def _all_cells(outputs: Outputs) -> np.ndarray:
    """The cells in units, classes as indicators (n, columns of F), unknown ones as they were filled."""
    raw = outputs.raw.toarray() if outputs.is_sparse else outputs.raw
    return raw if outputs.fill is None else raw + outputs.fill.toarray()


def _mean_and_gram(cells: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each column, and the Gram matrix of the columns less these; ``weights``: how often a row occurs."""
    mean = np.average(cells, axis=0, weights=weights)
    about = cells - mean
    return mean, about.T @ (about if weights is None else weights[:, None] * about)


def joined(one: Layout, other: Layout) -> Layout:
    """The columns of two parts of one y, with the classes of both. A column without a known cell takes the kind of
    the other. Raises ValueError for columns of other names or kinds."""
    if [column.name for column in one.columns] != [column.name for column in other.columns]:
        raise ValueError(OTHER_COLUMNS.format(len(one.columns), len(other.columns)))
    pairs = zip(one.columns, other.columns, strict=True)
    return replace(one, columns=tuple(_joined_column(left, right, one.alone) for left, right in pairs))


def _joined_column(left: Column, right: Column, alone: bool) -> Column:
    if UNKNOWN in (left.kind, right.kind):
        return right if left.kind == UNKNOWN else left
    if left.kind != right.kind:
        refuse_kinds(left, KIND_NAMES[right.kind], alone)
    values = left.values
    if left.kind == "ranks" and left.values.tolist() != right.values.tolist():
        raise ValueError(f"y column {left.name!r} has other ordered categories in one block than in another.")
    if left.kind == "classes":
        if not are_comparable(left.values, right.values):
            raise ValueError(f"y mixes numbers and text in column {left.name!r}; make it one kind.")
        values = united_values(left.values, right.values)
    dtype = left.dtype if left.dtype == right.dtype else "float64"
    return replace(left, values=values, dtype=dtype, soft=left.soft or right.soft)


def refuse_kinds(column: Column, other: str, alone: bool) -> None:
    """A ValueError for a column of y that is ``other`` in other rows; ``alone``: y is one column."""
    own = "memberships" if column.soft else KIND_NAMES[column.kind]
    word = "real" if "numbers" in (own, other) or column.soft else "classes"
    where = "y" if alone else f"y column {column.name!r}"
    asked = repr(word) if alone else f"{{{column.name!r}: {word!r}}}"
    first = ", or rows with memberships first" if column.soft else ""
    raise ValueError(
        f"{where} holds {' in one block and '.join(sorted([own, other]))} in another: pass what it holds, such as "
        f"target_type={asked}{first}."
    )


def column_places(own: Layout, among: Layout) -> np.ndarray:
    """The place of each column of F among those of a layout with more classes."""
    found = []
    for column, (_, wide, span) in zip(own.columns, among.spans(), strict=True):
        found.append(
            span.start + (positions(column.values, wide.values) if column.kind == "classes" else np.zeros(1, int))
        )
    return np.concatenate(found)


def recoded(outputs: Outputs, layout: Layout) -> Outputs:
    """Outputs of some rows with the columns of a layout that has more classes."""
    if outputs.is_sparse:
        return replace(outputs, layout=layout)
    cells = outputs.cells.copy()
    for j, (own, wide) in enumerate(zip(outputs.layout.columns, layout.columns, strict=True)):
        if own.kind == "classes":
            cells[:, j] = positions(own.values, wide.values)[cells[:, j].astype(np.intp)]
    return replace(outputs, cells=cells, layout=layout)


def stacked_outputs(parts: list[Outputs]) -> Outputs:
    """The rows of several parts of one y."""
    layout = parts[0].layout
    for part in parts[1:]:
        layout = joined(layout, part.layout)
    parts = [recoded(part, layout) for part in parts]
    cells = np.vstack([part.cells.toarray() if part.is_sparse else part.cells for part in parts])
    holes = np.vstack([part.dense_holes() for part in parts])
    return replace(parts[0], cells=cells, holes=holes if holes.any() else None)
