"""Outputs: numbers, ranks, classes and memberships of y as columns of one target factor F, and back to the form of y.

In: the columns of y as they were read (``reading``). Out: F, computed from the rows at hand, and predictions in units.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from proxembed.algebra.pencil.fill import filled_cells
from proxembed.algebra.pencil.symmetric import top
from proxembed.tables.frames import frame_of, in_order
from proxembed.tables.rows import small_indices

from .targets import Output, Targets
from .values import entries, missing_entries, unwrapped

STANDARD, NONE = SCALES = ("standard", "none")
STRATA = 10
BINS = 5  # of a column of numbers, by which folds are stratified  [sechidis2011stratification]
UNKNOWN = "unknown"  # the kind of a column without a known cell, in a block; other blocks tell it
SHOWN_VALUES = 5
COARSE = 64 * np.finfo(np.float64).eps  # of the size of a column: smaller deviations are rounding


@dataclass(frozen=True)
class Column:
    """A column of y as it was read: its name (its position where y has no names), kind, ``values`` as of ``Output``,
    and the ``dtype`` in which it came; ``soft``: memberships, which are not standardised."""

    name: Any
    kind: str
    values: Any = None
    dtype: str = "float64"
    soft: bool = False

    @property
    def size(self) -> int:
        """Columns of F."""
        return len(self.values) if self.kind == "classes" else 1

    @property
    def names(self) -> list[str]:
        """The names of its columns of F."""
        return [f"{self.name}={value}" for value in self.values] if self.kind == "classes" else [str(self.name)]

    @property
    def value_names(self) -> list[str]:
        """Its classes or categories in words; "0" and "1" of a column of 0 and 1."""
        return ["0", "1"] if self.values is None else list(map(str, self.values))

    def decoded(self, predicted: np.ndarray) -> np.ndarray:
        """Predictions in units in the type of this column."""
        if self.kind == "ranks":
            return self.values[np.rint(predicted).astype(np.intp)]
        if self.kind == "labels" and not self.soft:
            on = predicted >= 0.5
            return on if self.dtype == "bool" else on.astype(np.int64 if "int" in self.dtype else np.float64)
        return predicted.astype(np.float32) if self.dtype == "float32" else predicted

    def categorical(self, values: np.ndarray, pandas: Any) -> Any:
        """Values of this column for a table of pandas, categories as such."""
        if self.dtype != "category":
            return values
        return pandas.Categorical(values, categories=self.values, ordered=self.kind == "ranks")

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Known values of this column as numbers, categories as their ranks."""
        if self.kind != "ranks":
            return values.astype(np.float64)
        place = {value: float(rank) for rank, value in enumerate(self.values.tolist())}
        return np.array([place[value] for value in values.tolist()])


@dataclass(frozen=True)
class Layout:
    """The form of y: its ``columns``, whether it had one axis (``flat``), and the library of the table that it was."""

    columns: tuple[Column, ...]
    flat: bool = False
    frame: str | None = None

    @property
    def width(self) -> int:
        """Columns of F."""
        return sum(column.size for column in self.columns)

    @property
    def alone(self) -> bool:
        """Whether y is one column that messages do not name."""
        return self.frame is None and len(self.columns) == 1

    @property
    def owners(self) -> np.ndarray:
        """For each column of F the number of its column of y."""
        return np.repeat(np.arange(len(self.columns)), [column.size for column in self.columns])

    def spans(self) -> Iterator[tuple[int, Column, slice]]:
        """The number of each column of y, the column, and its columns of F."""
        start = 0
        for number, column in enumerate(self.columns):
            yield number, column, slice(start, start + column.size)
            start += column.size

    def container(self, values: list[np.ndarray], index: Any = None) -> Any:
        """Columns of values in the form of y: an array, or a table with the names of y's columns (``index``: that of
        the rows of X, for pandas)."""
        if self.frame is not None:
            library: Any = importlib.import_module(self.frame)
            pairs = zip(self.columns, values, strict=True)
            if self.frame != "pandas":
                return library.DataFrame({column.name: value.tolist() for column, value in pairs})
            named = {column.name: column.categorical(value, library) for column, value in pairs}
            return library.DataFrame(named, index=index)
        if self.flat:
            return values[0]
        if len({value.dtype.kind for value in values}) == 1:
            return np.column_stack(values)
        return np.column_stack([value.astype(object) for value in values])


@dataclass(frozen=True)
class Outputs(Targets):
    """Outputs of n rows: ``cells`` (n x q, one column per column of y; float64 with 0 where unknown, or CSC for a
    sparse y) in their units, classes and ranks as numbers from 0; ``holes``: their unknown cells (bool, or None).

    F is computed from these rows: known cells about their mean, over their standard deviation (``scaling`` "standard")
    or in their units ("none"), times the ``weights`` of the columns of y. Unknown cells that are ``filled`` are at the
    mean of the known ones, or have the values of ``fill`` (n x width CSC, in units); F is then about the mean of known
    and filled cells. ``standard``: means and factors of other rows, where these hold."""

    cells: Any
    layout: Layout
    holes: Any = None
    scaling: str = STANDARD
    weights: tuple[float, ...] | None = None
    filled: bool = False
    fill: Any = None
    standard: tuple[np.ndarray, np.ndarray] | None = None
    kept_columns: Any = None

    @property
    def n(self) -> int:
        return self.cells.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """The cells, NaN where unknown: by these, readings of blocks compare rows."""
        cells = self.cells.toarray() if self.is_sparse else self.cells
        found = cells if self.holes is None else np.where(self.dense_holes(), np.nan, cells)
        return found if dtype is None else found.astype(dtype)

    def __getitem__(self, rows: Any) -> Outputs:
        return self.take(rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of y, as an array has them."""
        return self.cells.shape

    @property
    def c(self) -> int:
        return self.layout.width if self.kept_columns is None else len(self.kept_columns)

    @property
    def width(self) -> int:
        return self.layout.width

    @property
    def numbers(self) -> int:
        return sum(column.kind in ("real", "ranks") for column in self.layout.columns)

    @property
    def is_sparse(self) -> bool:
        """Whether F is not centred, because the cells are sparse: what is made of it centres it."""
        return sparse.issparse(self.cells)

    @cached_property
    def raw(self) -> Any:
        """The cells in units with classes as indicators, n x width; unknown cells are 0."""
        if self.is_sparse or all(column.kind != "classes" for column in self.layout.columns):
            return self.cells
        blocks = []
        for number, column, _ in self.layout.spans():
            own = self.cells[:, number]
            blocks.append(own[:, None] == np.arange(column.size) if column.kind == "classes" else own[:, None])
        raw = np.hstack(blocks).astype(np.float64)
        return raw if self.holes is None else np.where(self._holes_of_columns, 0.0, raw)

    @cached_property
    def _holes_of_columns(self) -> Any:
        """The unknown cells of ``raw``, bool (n, width), CSC for sparse cells; None for none."""
        if self.holes is None or self.is_sparse:
            return self.holes
        return np.repeat(self.holes, [column.size for column in self.layout.columns], axis=1)

    def dense_holes(self) -> np.ndarray:
        """The unknown cells, bool (n, q)."""
        if self.holes is None:
            return np.zeros(self.cells.shape, dtype=bool)
        return self.holes.toarray() if self.is_sparse else self.holes

    def _known(self, w: np.ndarray | None = None) -> np.ndarray:
        """The known cells of each column, each as often as its row occurs; at least 1 if no cell is known."""
        holes, n = self._holes_of_columns, float(self.n if w is None else w.sum())
        if holes is None:
            return np.full(self.width, n)
        hidden = np.asarray(holes.sum(axis=0) if w is None else holes.T @ w, dtype=np.float64).ravel()
        return np.where(n - hidden > 0, n - hidden, 1.0)

    @cached_property
    def level_and_scale(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean of each column of ``raw`` and the factor of F, (width,) each; 0 for a column without spread."""
        if self.standard is not None:
            return self.standard
        level, scale = self._standard_of_known()
        if self.fill is not None:
            level = np.asarray((self.raw + self.fill).sum(axis=0), dtype=np.float64).ravel() / self.n
        return level, scale

    def _standard_of_known(self, w: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the known cells of each column, each as often as its row occurs, and the factor of F."""
        known = self._known(w)
        level = np.asarray(self.raw.sum(axis=0) if w is None else self.raw.T @ w, dtype=np.float64).ravel() / known
        low, high = self.ranges
        varies = high - low > COARSE * np.maximum(np.abs(low), np.abs(high))
        spread = self._squares(level, w) / known
        return level, np.where(varies, factors(self.layout, self.scaling, self.weights, spread), 0.0)

    def _squares(self, level: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """The sum of the squares of the known cells of each column about its level, each as often as its row occurs."""
        if self.is_sparse:
            stored = np.diff(self.cells.indptr)
            column, about = np.repeat(np.arange(self.width), stored), self.cells.data - np.repeat(level, stored)
            times = np.ones(self.n) if w is None else w
            own = times[self.cells.indices]
            rest = self._known(w) - np.bincount(column, own, self.width)
            return np.bincount(column, own * about**2, self.width) + rest * level**2
        centred = self.raw - level
        if self.holes is not None:
            centred[self._holes_of_columns] = 0.0
        return np.einsum("ij,ij->j", centred, centred if w is None else w[:, None] * centred)

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest known cell of each column in units, (width,) each; 0 where no cell is known."""
        low, high, counts = np.zeros(self.width), np.zeros(self.width), self._known()
        holes = None if self.holes is None or self.is_sparse else self._holes_of_columns
        for j in range(self.width):
            if self.is_sparse:
                known = self.cells.data[self.cells.indptr[j] : self.cells.indptr[j + 1]]
                known = np.append(known, 0.0) if len(known) < counts[j] else known
            else:
                known = self.raw[:, j] if holes is None else self.raw[~holes[:, j], j]
            if len(known):
                low[j], high[j] = known.min(), known.max()
        return low, high

    @property
    def row_values(self) -> sparse.csr_array:
        cells = sparse.csr_array(self.cells)
        return cells if self.holes is None else sparse.csr_array(sparse.hstack([cells, sparse.csr_array(self.holes)]))

    @cached_property
    def Y(self) -> sparse.csc_array:
        """F, n x c."""
        level, scale = self.level_and_scale
        if self.is_sparse:
            cells = self.raw
            if self.fill is not None:
                cells = cells + self.fill
            elif self.filled and self.holes is not None:
                cells = cells + sparse.csc_array(self.holes, dtype=np.float64) @ sparse.diags_array(level)
            F = sparse.csc_array(cells @ sparse.diags_array(scale))
        else:
            dense = ((self.raw if self.fill is None else self.raw + self.fill.toarray()) - level) * scale
            if self.holes is not None and self.fill is None:
                dense[self._holes_of_columns] = 0.0
            F = sparse.csc_array(dense)
        return small_indices(F if self.kept_columns is None else F[:, self.kept_columns])

    @cached_property
    def unknown(self) -> Any:
        """The unknown cells of F as CSC, or None."""
        holes = self._holes_of_columns
        if holes is None or self.filled:
            return None
        found = sparse.csc_array(holes)
        found = found if self.kept_columns is None else found[:, self.kept_columns]
        return small_indices(found) if found.nnz else None

    @cached_property
    def sums(self) -> np.ndarray:
        return np.asarray(self.Y.sum(axis=0), dtype=np.float64).ravel()

    @property
    def gram(self) -> np.ndarray:
        if self.is_sparse:
            return (self.Y.T @ self.Y).toarray()
        dense = self.Y.toarray()
        return dense.T @ dense

    @property
    def differ(self) -> bool:
        return bool(np.any(self.level_and_scale[1] > 0))

    @property
    def default_tau(self) -> float | None:
        """The mean squared distance of two rows of F."""
        return 2.0 * self.centred_squares / max(self.n - 1, 1)

    def centring(self, ones: np.ndarray, center: np.ndarray | None) -> np.ndarray | None:
        """F is about its means, which are taken off a sparse F here."""
        return ones

    def trace(self, center: Any) -> float:
        return self.centred_squares

    def with_means(self) -> Outputs:
        return self if self.filled else replace(self, filled=True)

    def with_fill(self, X: Any, weights: np.ndarray | None = None) -> Outputs:
        if self.holes is None or self.filled:
            return self
        standard = replace(self, scaling=STANDARD, weights=None, standard=None, kept_columns=None)
        standard = replace(standard, standard=standard._standard_of_known(weights))
        F = standard.Y if self.is_sparse else standard.Y.toarray()
        values, _ = filled_cells(X, F, self._holes_of_columns, weights)
        level, scale = standard.level_and_scale
        column = np.repeat(np.arange(self.width), np.diff(values.indptr))
        values.data = np.divide(values.data, scale[column], out=values.data * 0.0, where=scale[column] > 0)
        values.data += np.where(scale > 0, 0.0 if self.is_sparse else level, level)[column]
        return replace(self, filled=True, fill=values)

    def take(self, rows: Any) -> Outputs:
        """The outputs of some rows, whose means and scales are their own."""
        if self.is_sparse:
            cells = sparse.csc_array(self.cells.tocsr()[rows])
            holes = None if self.holes is None else sparse.csc_array(self.holes.tocsr()[rows])
            empty = holes is None or holes.nnz == 0
        else:
            cells, holes = self.cells[rows], None if self.holes is None else self.holes[rows]
            empty = holes is None or not holes.any()
        fill = None if self.fill is None or empty else sparse.csc_array(self.fill.tocsr()[rows])
        return replace(self, cells=cells, holes=None if empty else holes, fill=fill)

    def drop_empty(self) -> Outputs:
        """Without the constant columns of y, of which it warns by name."""
        scale = self.level_and_scale[1]
        before = np.arange(self.width) if self.kept_columns is None else self.kept_columns
        keep = constant_columns(self.layout, scale, before, stacklevel=6)
        return self if len(keep) == len(before) else replace(self, kept_columns=keep)

    def held(self, weights: np.ndarray | None = None) -> Outputs:
        """``weights``: how often each row counts in these means and scales, of known cells."""
        return replace(self, standard=self.level_and_scale if weights is None else self._standard_of_known(weights))

    def strata(self) -> np.ndarray:
        """The rows by the tenth of the first principal score of F in which they lie."""
        return strata_of(self.with_means().Y.toarray())

    def fold_labels(self, rows: np.ndarray) -> sparse.csr_array:
        """The fifth of the known cells of each column of numbers in which a row lies, and the classes and labels."""
        some = self.take(rows)
        holes, found = some._holes_of_columns, []
        for _, column, own in self.layout.spans():
            cells: Any = some.raw[:, own]
            cells = cells.toarray() if self.is_sparse else cells
            if column.kind in ("classes", "labels") and not column.soft:
                found.append(sparse.csr_array(cells > 0))
                continue
            unknown: Any = np.zeros(len(cells), dtype=bool) if holes is None else holes[:, own]
            unknown = unknown.toarray() if sparse.issparse(unknown) else unknown
            found.append(quantile_bins(cells.ravel(), ~unknown.ravel()))
        return sparse.csr_array(sparse.hstack(found, format="csr"))

    @property
    def lone_numbers(self) -> np.ndarray | None:
        if self.numbers != 1 or len(self.layout.columns) != 1:
            return None
        return (self.raw.toarray() if self.is_sparse else self.raw).ravel()

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct rows of F."""
        rows, inverse = np.unique(self.Y.toarray(), axis=0, return_inverse=True)
        return rows, np.ravel(inverse)

    def as_given(self) -> list[np.ndarray]:
        """The columns of y, each as an array with NaN (None among classes) where a cell is unknown."""
        cells, holes, found = self.cells.toarray() if self.is_sparse else self.cells, self.dense_holes(), []
        for number, column in enumerate(self.layout.columns):
            own = cells[:, number].copy()
            if column.values is not None:
                own = np.array([*column.values.tolist(), None], dtype=object)[
                    np.where(holes[:, number], -1, own).astype(int)
                ]
            else:
                own[holes[:, number]] = np.nan
            found.append(own)
        return found

    def rescaled(self, scale_targets: Any) -> Outputs:
        """The outputs with F scaled as the parameter ``scale_targets`` says."""
        scaling, weights = weights_of(scale_targets, self.layout.columns)
        return replace(self, scaling=scaling, weights=weights)

    def in_standard(self, level: np.ndarray, scale: np.ndarray) -> Outputs:
        """The known cells by means and factors of other rows, dense: what predictions of those rows are judged by."""
        cells = self.cells.toarray() if self.is_sparse else self.cells
        holes = None if self.holes is None else self.dense_holes()
        return replace(
            self, cells=cells, holes=holes, filled=False, fill=None, kept_columns=None, standard=(level, scale)
        )

    def describe(self) -> list[dict[str, Any]]:
        """Per column of y its name, kind, range or classes, and number of unknown cells, as plain data."""
        (low, high), counts, found = self.ranges, self.dense_holes().sum(axis=0), []
        for number, column, own in self.layout.spans():
            facts: dict[str, Any] = {"name": str(column.name), "kind": column.kind, "unknown": int(counts[number])}
            if column.kind in ("real", "labels"):
                facts |= {"low": float(low[own.start]), "high": float(high[own.start])}
            else:
                facts["values"] = [str(value) for value in column.values]
            found.append(facts)
        return found

    @property
    def reading(self) -> OutputReading:
        """How these outputs were read, for the estimator that is fitted on them."""
        counts = np.zeros(len(self.layout.columns), dtype=np.intp)
        if self.holes is not None:
            counts = np.asarray(self.holes.sum(axis=0)).ravel()
        return OutputReading(self.layout, *self.level_and_scale, *self.ranges, counts)


def strata_of(F: np.ndarray) -> np.ndarray:
    """For each row of F the number of the tenth of the first principal score in which it lies."""
    F = F - F.mean(axis=0)
    score = F @ top(F.T @ F, 1)[1][:, 0]
    return np.searchsorted(np.unique(np.quantile(score, np.arange(1, STRATA) / STRATA)), score)


def quantile_bins(values: np.ndarray, known: np.ndarray) -> sparse.csr_array:
    """The fifth of the known values in which each lies, as 0/1 columns (n, 5); equal values share one, by the mean of
    their ranks, and unknown ones have none."""
    rows = np.flatnonzero(known)
    bins = (BINS * (rankdata(values[rows]) - 0.5) / max(len(rows), 1)).astype(np.intp)
    return sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, bins)), shape=(len(values), BINS))


def output_words(facts: Mapping[str, Any]) -> str:
    """How a column of y was read, of ``Outputs.describe``, in words."""
    holes = f"; {facts['unknown']:,} unknown" if facts["unknown"] else ""
    if "values" not in facts:
        kind = "number" if facts["kind"] == "real" else "label"
        return f"{kind}, {facts['low']:.6g} to {facts['high']:.6g}{holes}"
    values, what = facts["values"], "ranks" if facts["kind"] == "ranks" else "classes"
    more = f", ... ({len(values)} {what})" if len(values) > SHOWN_VALUES else ""
    return f"{what} {', '.join(values[:SHOWN_VALUES])}{more}{holes}"


def outputs_of(columns: Sequence[tuple[Column, np.ndarray]]) -> Outputs:
    """Outputs of columns whose cells are numbers: in units, classes and ranks from 0, NaN where unknown. A lone column
    has one axis."""
    table = np.column_stack([cells for _, cells in columns])
    holes = np.isnan(table)
    layout = Layout(tuple(column for column, _ in columns), flat=len(columns) == 1)
    return Outputs(np.where(holes, 0.0, table), layout, holes if holes.any() else None)


def factors(layout: Layout, scaling: str, weights: tuple[float, ...] | None, spread: np.ndarray) -> np.ndarray:
    """What each column of F is multiplied by, from the variances of the columns: an output has variance 1 and then its
    weight; classes alone, and memberships, stay as they are."""
    found = np.ones(layout.width)
    plain = scaling == NONE or all(column.kind == "classes" for column in layout.columns)
    for number, column, own in layout.spans():
        if not plain and not column.soft:
            total = spread[own].sum()  # of a class output 1 - sum p^2
            found[own] = 1.0 / np.sqrt(total) if total > 0 else 0.0
        found[own] *= 1.0 if weights is None else weights[number]
    return found


def constant_columns(layout: Layout, scale: np.ndarray, before: np.ndarray, stacklevel: int) -> np.ndarray:
    """Of the columns ``before`` of F those that vary (``scale`` > 0); warns of the columns of y that do not, by name,
    and raises ValueError if no column is left."""
    present = np.zeros(layout.width, dtype=bool)
    present[before] = True
    keep = np.flatnonzero(present & (scale > 0))
    if len(keep) == 0:
        raise ValueError("Every column of y is constant.")
    constant = [c.name for _, c, own in layout.spans() if present[own].any() and not scale[own].any()]
    if constant:
        named = f"column{'s' * (len(constant) > 1)} {', '.join(map(repr, constant))}"
        warnings.warn(f"y {named}: constant, and left out of the fit.", UserWarning, stacklevel=stacklevel + 1)
    return keep


@dataclass(frozen=True)
class OutputReading:
    """What a fitted estimator holds of the outputs of fit: their ``layout``; per column of F its mean ``level``, its
    factor ``scale`` and the range of its known cells (``low``, ``high``); the ``unknown`` cells per column of y, and
    those that were ``filled`` (None: none), by a ``rule``."""

    layout: Layout
    level: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unknown: np.ndarray
    filled: Any = None
    rule: str | None = None

    def settled(self, targets: Any) -> OutputReading:
        """The reading with means, scales and ranges of the rows that take part."""
        return replace(targets.reading, unknown=self.unknown, filled=self.filled, rule=self.rule)

    def names(self, classes: Any) -> np.ndarray:
        """A name for each column of F."""
        return np.array([name for column in self.layout.columns for name in column.names], dtype=object)

    def outputs(self, classes: Any) -> tuple[Output, ...]:
        """How each column of y was read."""
        found = []
        for number, column, own in self.layout.spans():
            mean = tuple(self.level[own].tolist()) if column.kind == "classes" else float(self.level[own.start])
            columns = tuple(range(own.start, own.stop))
            factor, values = float(self.scale[own].max(initial=0.0)), column.values
            size = 1.0 / factor if factor > 0 else 1.0  # a constant column equals its mean
            values = None if values is None else tuple(values.tolist())
            unknown, filled = (0 if each is None else int(each[number]) for each in (self.unknown, self.filled))
            rule = self.rule if filled else None
            found.append(Output(column.name, column.kind, columns, mean, size, unknown, values, filled, rule))
        return tuple(found)

    def in_units(self, weights: np.ndarray, kept: Any) -> np.ndarray:
        """Coefficients of F (d, c) as coefficients of y in its units (d, width); 0 for columns that were dropped."""
        full = np.zeros((len(weights), len(self.level)))
        full[:, slice(None) if kept is None else kept] = weights
        return np.divide(full, self.scale, out=np.zeros_like(full), where=self.scale > 0)

    def decoded(self, raw: np.ndarray, extrapolate: bool = False, index: Any = None) -> Any:
        """Predictions in units (m, width) in the form of y; numbers within the range of the training rows."""
        return self.layout.container(self.columns(raw, extrapolate), index)

    def columns(self, raw: np.ndarray, extrapolate: bool = False) -> list[np.ndarray]:
        """The same, one array per column of y."""
        values = []
        for _, column, own in self.layout.spans():
            if column.kind == "classes":
                values.append(np.asarray(column.values)[raw[:, own].argmax(axis=1)])
                continue
            each = raw[:, own.start]
            if not extrapolate or column.kind != "real":
                each = np.clip(each, self.low[own.start], self.high[own.start])
            values.append(column.decoded(each))
        return values

    def score(self, y: Any, predicted: Any, weights: np.ndarray | None = None) -> float:
        """The mean over the columns of y of R2 (numbers and ranks) or accuracy, over the known cells, whose rows count
        as their ``weights`` say. The columns of a table go by their names, if these are those of the fit."""
        from sklearn.metrics import r2_score

        y = in_order(y, [column.name for column in self.layout.columns])
        measured, found = y.as_given() if isinstance(y, Outputs) else columns_of(y), columns_of(predicted)
        if len(measured) != len(found):
            raise ValueError(f"y has {len(measured)} columns, and the model predicts {len(found)}.")
        if len(measured[0]) != len(found[0]):
            raise ValueError(f"y has {len(measured[0])} rows, and the predictions have {len(found[0])}.")
        scores = []
        for column, true, guess in zip(self.layout.columns, measured, found, strict=True):
            known = ~missing_entries(true)
            own = None if weights is None else weights[known]
            if column.kind in ("classes", "labels") and not column.soft:
                scores.append(float(np.average(true[known] == guess[known], weights=own)))
            else:
                scores.append(r2_score(column.numbers(true[known]), column.numbers(guess[known]), sample_weight=own))
        return float(np.mean(scores))


def weights_of(scale_targets: Any, columns: tuple[Column, ...]) -> tuple[str, tuple[float, ...] | None]:
    """``scaling`` and ``weights`` of Outputs for the parameter ``scale_targets``; a ValueError for unknown columns and
    for weights that are not positive numbers."""
    if not isinstance(scale_targets, Mapping):
        return scale_targets, None
    by_name = places(columns)
    weights = [1.0] * len(columns)
    for name, weight in scale_targets.items():
        if name not in by_name:
            raise ValueError(f"scale_targets names column {name!r}, which y does not have; y has {_listed(columns)}.")
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not 0 < weight < np.inf:
            raise ValueError(f"scale_targets={{{name!r}: {weight!r}}} is not allowed; a weight is a number > 0.")
        weights[by_name[name]] = float(weight)
    return STANDARD, tuple(weights)


def columns_of(y: Any) -> list[np.ndarray]:
    """The columns of y, each as an array."""
    y = frame_of(y)
    if hasattr(y, "columns"):
        return [
            entries(unwrapped(y.iloc[:, j] if hasattr(y, "iloc") else y[name])[0]) for j, name in enumerate(y.columns)
        ]
    values = unwrapped(y)[0]
    values = values.toarray() if sparse.issparse(values) else entries(values)
    return [values] if values.ndim == 1 else list(values.T)


def places(columns: tuple[Column, ...]) -> dict[Any, int]:
    """The number of each column by its name, also as text, and by its position where it has no name."""
    found: dict[Any, int] = {str(column.name): number for number, column in enumerate(columns)}
    found.update({column.name: number for number, column in enumerate(columns)})
    return found


def _listed(columns: tuple[Column, ...]) -> str:
    names = [repr(column.name) for column in columns]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
