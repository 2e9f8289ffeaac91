"""How y is read: labels as a ``LabelMatrix``, numbers, ranks and columns of several kinds as ``Outputs``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.tables.frames import frame_of, refuse_equal_names
from proxembed.tables.notes import counted
from proxembed.tables.quantities import NumberWords

from .labels import LabelMatrix, is_sets, mixed_signs
from .outputs import UNKNOWN, Column, Layout, Outputs, places, weights_of
from .targets import KINDS, Targets
from .values import (
    CLASSES_OR_NUMBERS,
    LEAST_ROWS_OF_EACH,
    class_values,
    entries,
    is_moment,
    many_numbers,
    missing_entries,
    object_array,
    too_many_numbers,
    unwrapped,
)

EXACT = (Decimal, Fraction)
TO_NUMBERS = {  # what to do with text, by its decimal mark
    "": "pass numbers",
    ".": "pass numbers, such as y.astype(float)",
    ",": "pass numbers, with a point in place of the comma",
}


class InfiniteCells(ValueError):
    """Infinity in y, which is neither labels nor numbers."""


@dataclass(frozen=True)
class Cells:
    """The cells of one column of y: what they are ("number", "bool", "text", "ordered", "moment", "mixed" or "other"),
    numbers as float64 with NaN where unknown and other cells as Python objects, the categories of ordered ones, and the
    dtype in which they came. ``named``: whether y gives the column its name."""

    name: Any
    named: bool
    what: str
    values: np.ndarray
    missing: np.ndarray
    dtype: str
    categories: Any = None
    exact: bool = False  # Decimal or Fraction

    @property
    def where(self) -> str:
        """The column in an error."""
        return f"y column {self.name!r}" if self.named else "y"

    @property
    def place(self) -> str:
        """The column in an error about a word for it."""
        return f"column {self.name!r}" if self.named else "y"

    @property
    def known_values(self) -> np.ndarray:
        """The known cells."""
        return self.values[~self.missing]

    @property
    def binary(self) -> bool:
        """Whether all known cells are among -1, 0 and 1."""
        return self.what == "bool" or self.what == "number" and bool(np.isin(self.known_values, (-1, 0, 1)).all())

    @property
    def fractions(self) -> bool:
        """Whether some known cell is a number that is not whole."""
        return self.what == "number" and bool(np.any(self.known_values != np.floor(self.known_values)))


def read_targets(y: Any, target_type: Any = None, scale_targets: Any = "standard", *, block: bool = False) -> Targets:
    """y as a ``LabelMatrix`` where it holds labels or one class per row, else as ``Outputs``. ``target_type``: None (by
    the values), one of "real", "classes" and "labels", or {column: word}. Every problem is a ValueError that names the
    column, the value and the remedy. ``block``: these are some rows of many."""
    if isinstance(y, Targets):
        return y
    y = frame_of(y)
    labels_allowed = target_type in (None, "classes", "labels") if not isinstance(target_type, Mapping) else False
    if sparse.issparse(y):
        return _sparse_targets(y, target_type, scale_targets, labels_allowed, block)
    table = _is_table(y)
    if not table or len(y.columns) == 1 or _is_numeric(y):
        values, _ = unwrapped(y)
        if is_sets(values):
            return LabelMatrix.of(y)
        if labels_allowed and _is_indicator(values):
            return LabelMatrix.of(y)
    columns, flat, frame = _columns_of_table(y) if table else _columns_of_array(y, values)
    single = len(columns) == 1
    if not columns or all(column.missing.all() for column in columns) or any(c.what == "other" for c in columns):
        return LabelMatrix.of(y)  # which raises
    kinds = _kinds(columns, target_type, single, block)
    if all(kind == "labels" for kind in kinds) or single and kinds == ["classes"]:
        return LabelMatrix.of(y)
    return _outputs(columns, kinds, Layout((), flat, frame), scale_targets, block)


def holds_numbers(y: Any, target_type: Any = None) -> bool:
    """Whether y is read as numbers or ranks in some column; False for a y that cannot be read, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_targets(y, target_type).numbers > 0
        except ValueError:
            return False


def _is_numeric(y: Any) -> bool:
    dtypes = y.dtypes if hasattr(y, "dtypes") else []
    return all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes)


def _is_indicator(values: Any) -> bool:
    """Whether an array has several columns of 0 and 1 alone."""
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.shape[1] < 2 or values.dtype.kind not in "biuf":
        return False
    return values.dtype.kind == "b" or bool(np.all((values == 0) | (values == 1) | (values != values)))


def _is_table(y: Any) -> bool:
    return hasattr(y, "columns") and hasattr(y, "to_numpy")


def _columns_of_table(y: Any) -> tuple[list[Cells], bool, str]:
    names = list(y.columns)
    refuse_equal_names("y", [str(name) for name in names])
    series = [y.iloc[:, j] if hasattr(y, "iloc") else y[name] for j, name in enumerate(names)]
    columns = [_cells(column, name, True) for column, name in zip(series, names, strict=True)]
    return columns, False, type(y).__module__.split(".")[0]


def _columns_of_array(y: Any, values: Any) -> tuple[list[Cells], bool, None]:
    array = entries(values)
    if array.ndim == 1:
        name = getattr(y, "name", None) if hasattr(y, "to_numpy") else None
        name = None if name == "" else name  # of polars, where no name was given
        return (
            [_cells(y if hasattr(y, "to_numpy") else array, 0 if name is None else name, name is not None)],
            True,
            None,
        )
    several = array.shape[1] > 1
    return [_cells(array[:, j], j, several) for j in range(array.shape[1])], False, None


def _cells(column: Any, name: Any, named: bool) -> Cells:
    """One column of y."""
    dtype = str(getattr(column, "dtype", "object"))
    categories = _ordered_categories(column)
    values = entries(unwrapped(column)[0])
    missing = missing_entries(values)
    if categories is not None:
        place = {value: float(rank) for rank, value in enumerate(categories)}
        ranks = np.array([np.nan if empty else place[value] for value, empty in zip(values, missing, strict=True)])
        return Cells(name, named, "ordered", ranks, missing, dtype, categories)
    kind = values.dtype.kind
    if kind in "mM":
        return Cells(name, named, "moment", values, missing, dtype)
    if kind in "US":
        return Cells(name, named, "text", values, missing, dtype)
    if kind in "biuf":
        return Cells(name, named, "bool" if kind == "b" else "number", values.astype(np.float64), missing, dtype)
    return _objects(values, missing, name, named, dtype)


def _objects(values: np.ndarray, missing: np.ndarray, name: Any, named: bool, dtype: str) -> Cells:
    """One column of Python objects."""
    known = values[~missing].tolist()
    what, exact = _what(set(map(type, known))), any(isinstance(value, EXACT) for value in known)
    if what == "mixed":
        number = next(value for value in known if isinstance(value, Real | Decimal))
        text = next(value for value in known if isinstance(value, str | bytes))
        where = f" in column {name!r}" if named else ""
        raise ValueError(f"y mixes numbers and text{where} ({number!r}, {text!r}); make it one kind.")
    if what in ("bool", "number"):
        numbers = np.full(len(values), np.nan)
        try:
            numbers[~missing] = [float(value) for value in known]
        except OverflowError:
            numbers[~missing] = np.inf
        whole = all(isinstance(value, int | np.integer) for value in known)
        return Cells(name, named, what, numbers, missing, "int64" if whole else "float64", None, exact)
    return Cells(name, named, what, values, missing, dtype)


def _what(types: set[type]) -> str:
    if not types or all(issubclass(t, str | bytes) for t in types):
        return "text"
    if all(issubclass(t, bool | np.bool_) for t in types):
        return "bool"
    numbers = {t for t in types if issubclass(t, Real | Decimal | np.bool_)}
    if numbers == types:
        return "number"
    if any(map(is_moment, types)):
        return "moment"
    others = types - numbers
    return "mixed" if numbers and all(issubclass(t, str | bytes) for t in others) else "other"


def _ordered_categories(column: Any) -> list[Any] | None:
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "ordered", False) is True or type(dtype).__name__ == "Enum":
        categories: Any = dtype.categories  # type: ignore[union-attr]
        return categories.to_list() if hasattr(categories, "to_list") else list(categories)
    return None


def _kinds(columns: list[Cells], target_type: Any, single: bool, block: bool) -> list[str]:
    """What each column becomes: "real", "ranks", "classes", "labels" (0/1) or "soft" (memberships)."""
    words, binary = _words(columns, target_type), all(column.binary for column in columns)
    for column in columns:
        _refuse_cells(column)
    plain = binary and not single and not isinstance(target_type, Mapping)
    if plain and words[0] == "classes":
        words = [None] * len(columns)  # an indicator
    if binary and not single and set(words) <= {None, "labels"}:
        found = set(np.concatenate([column.known_values for column in columns]).tolist())
        if {-1.0, 0.0} <= found:
            raise ValueError(f"{mixed_signs(found)} If they are numbers, pass target_type='real'.")
    zero_one = all(column.binary for column in columns if column.what == "number")
    return [_kind(column, word, single, zero_one, block) for column, word in zip(columns, words, strict=True)]


def _kind(column: Cells, word: str | None, single: bool, zero_one: bool, block: bool) -> str:
    if word is not None:
        return {"real": _as_real, "classes": _as_classes, "labels": _as_labels}[word](column)
    if column.what == "text" and not block:
        _warn_of_number_words(column)
    if column.what != "number":
        return {"ordered": "ranks", "bool": "labels"}.get(column.what, "classes")
    if single:
        return "real" if _is_real(column, block) else "classes"
    return "labels" if zero_one else "real"


def _as_real(column: Cells) -> str:
    if column.what == "text" and len(column.known_values):
        text, mark = str(column.known_values[0]), NumberWords(_texts(column)).simple
        raise ValueError(f"target_type='real': {column.place} holds text, such as {text!r}; {TO_NUMBERS[mark]}.")
    return "ranks" if column.what == "ordered" else "real"


def _as_classes(column: Cells) -> str:
    if column.fractions:
        raise ValueError(f"target_type='classes': {column.place} holds {len(np.unique(column.known_values))} values.")
    return "classes"


def _as_labels(column: Cells) -> str:
    if column.missing.all():
        return "labels"
    if column.what in ("number", "bool"):
        if column.binary and not {-1.0, 0.0} <= set(column.known_values.tolist()):
            return "labels"
        if column.known_values.min() >= 0 and column.known_values.max() <= 1:
            return "soft"
    wrong = next(
        (v for v in column.known_values.tolist() if not isinstance(v, float) or not 0 <= v <= 1), column.known_values[0]
    )
    raise ValueError(f"target_type='labels': {column.place} holds {wrong!r}; labels are 0 and 1, or from 0 to 1.")


def _is_real(column: Cells, block: bool) -> bool:
    """Whether a lone column of numbers is real: fractions are, whole numbers must say so where they are many."""
    if column.exact or column.fractions:
        return True
    if block:
        return False
    distinct, rows = len(np.unique(column.known_values)), len(column.known_values)
    if too_many_numbers(distinct, rows):
        reason, _ = many_numbers(column.where, distinct, rows)
        raise ValueError(f"{reason}: {CLASSES_OR_NUMBERS}")
    if distinct > 2 and rows < LEAST_ROWS_OF_EACH * distinct:
        warnings.warn(
            f"{column.where} holds {distinct} different whole numbers in {rows} rows, which are taken as classes. Pass "
            "target_type='real' if they are measurements, or 'classes' to confirm.",
            UserWarning,
            stacklevel=7,
        )
    return False


def _warn_of_number_words(column: Cells) -> None:
    """Warn of text that is numbers, some of them fractions, which is taken as classes."""
    words = _texts(column)
    mark = NumberWords(words).simple
    fractions = [word for word in words if mark and not float(word.replace(mark, ".")).is_integer()]
    if fractions:
        warnings.warn(
            f"{column.where} holds numbers as text, such as {fractions[0]!r}, which is taken as {len(words)} classes. "
            f"If they are measurements, {TO_NUMBERS[mark]}; target_type='classes' confirms classes.",
            UserWarning,
            stacklevel=7,
        )


def _texts(column: Cells) -> list[str]:
    """The distinct known cells of a column of text; none where some are bytes."""
    words = list(dict.fromkeys(column.known_values.tolist()))
    return [word.strip() for word in words] if all(isinstance(word, str) for word in words) else []


def _words(columns: list[Cells], target_type: Any) -> list[str | None]:
    """The word of ``target_type`` for each column; a ValueError for unknown columns and words."""
    if not isinstance(target_type, Mapping):
        return [target_type] * len(columns)
    known = places(tuple(Column(column.name, "") for column in columns))
    words: list[str | None] = [None] * len(columns)
    for name, word in target_type.items():
        if name not in known:
            listed = ", ".join(repr(column.name) for column in columns[:5])
            raise ValueError(f"target_type names column {name!r}, which y does not have; y has {listed}.")
        if word not in KINDS:
            raise ValueError(f"target_type={{{name!r}: {word!r}}} is not allowed; a word is one of {', '.join(KINDS)}.")
        words[known[name]] = word
    return words


def _refuse_cells(column: Cells) -> None:
    """A ValueError for cells that no word makes usable."""
    if column.what == "moment":
        raise ValueError(f"{column.where} holds dates; pass numbers, (t - t.min()) / day, or strings for classes.")
    infinite = int(np.isinf(column.values).sum()) if column.what == "number" else 0
    if infinite:
        rows = f"{infinite} row{'s' * (infinite > 1)}"
        raise InfiniteCells(f"{column.where} holds infinity in {rows}; replace it, NaN stands for unknown.")


def _outputs(columns: list[Cells], kinds: list[str], layout: Layout, scale_targets: Any, block: bool) -> Outputs:
    made, cells = [], []
    for column, kind in zip(columns, kinds, strict=True):
        known = int(np.count_nonzero(~column.missing))
        if known < 2 and not block:
            raise ValueError(f"{column.where} has {counted(known, 'known cell')}; two are needed: drop it.")
        each, values = _column(column, kind if known else UNKNOWN)
        made.append(each)
        cells.append(values)
    found = tuple(made)
    layout = Layout(found, layout.flat, layout.frame)
    table = np.column_stack(cells)
    holes = np.isnan(table)
    scaling, weights = weights_of(scale_targets, found)
    return Outputs(np.where(holes, 0.0, table), layout, holes if holes.any() else None, scaling, weights)


def _column(column: Cells, kind: str) -> tuple[Column, np.ndarray]:
    """The column as it takes part, and its cells as numbers, NaN where unknown."""
    if kind == "classes":
        known = column.known_values
        known = class_values(known) if known.dtype == object else known
        if column.what == "bool" or column.what == "number" and (column.missing.any() or "int" in column.dtype):
            known = known.astype(bool if column.what == "bool" else np.int64)  # beside NaN floats stand for integers
        classes, codes = np.unique(known, return_inverse=True)
        values = np.full(len(column.values), np.nan)
        values[~column.missing] = np.ravel(codes)
        return Column(column.name, "classes", classes, column.dtype), values
    if kind == UNKNOWN:
        return Column(column.name, kind), np.full(len(column.values), np.nan)
    values = np.where(column.missing, np.nan, column.values.astype(np.float64))
    if kind == "ranks":
        return Column(column.name, kind, object_array(column.categories), column.dtype), values
    if kind == "labels":
        values = np.where(values < 0, 0.0, values)
    return Column(column.name, "labels" if kind == "soft" else kind, None, column.dtype, kind == "soft"), values


def _sparse_targets(y: Any, target_type: Any, scale_targets: Any, labels_allowed: bool, block: bool) -> Targets:
    """Sparse y: labels where all cells are 0 and 1, else numbers, whose zeros are values."""
    if y.dtype.kind == "c" or y.shape[1] == 0:
        return LabelMatrix.of(y)  # which raises
    cells = sparse.csc_array(y, dtype=np.float64, copy=True)
    cells.sum_duplicates()
    hole = np.isnan(cells.data)
    words = _words([Cells(j, True, "number", np.empty(0), np.empty(0), "") for j in range(cells.shape[1])], target_type)
    binary = bool(np.isin(cells.data[~hole], (-1, 0, 1)).all())
    if hole.all() and cells.nnz == cells.shape[0] * cells.shape[1] or labels_allowed and binary:
        if -1 in cells.data and cells.nnz < cells.shape[0] * cells.shape[1]:
            found = set(cells.data[~hole].tolist()) | {0.0}
            raise ValueError(f"{mixed_signs(found)} If they are numbers, pass target_type='real'.")
        return LabelMatrix.of(y)
    if set(words) - {None, "real"}:
        raise ValueError("A sparse y holds labels (0 and 1) or numbers; pass y.toarray() for other target types.")
    infinite = np.isinf(cells.data)
    if infinite.any():
        column = int(np.searchsorted(cells.indptr, np.flatnonzero(infinite)[0], side="right")) - 1
        count = int(infinite[cells.indptr[column] : cells.indptr[column + 1]].sum())
        rows = f"{count} row{'s' * (count > 1)}"
        raise ValueError(f"y column {column} holds infinity in {rows}; replace it, NaN stands for unknown.")
    holes = sparse.csc_array((hole, cells.indices, cells.indptr), shape=cells.shape, copy=True)
    holes.eliminate_zeros()
    cells.data[hole] = 0.0
    cells.eliminate_zeros()
    columns = tuple(Column(j, "real", None, str(y.dtype)) for j in range(cells.shape[1]))
    known = cells.shape[0] - np.asarray(holes.sum(axis=0)).ravel()
    if known.min() < 2 and not block:
        few = int(known.argmin())
        count = int(known[few])
        raise ValueError(f"y column {few} has {counted(count, 'known cell')}; two are needed: drop it.")
    scaling, weights = weights_of(scale_targets, columns)
    return Outputs(cells, Layout(columns), holes if holes.nnz else None, scaling, weights)
