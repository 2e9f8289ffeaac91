"""A DataFrame in memory as a table: its columns are read by the rules that hold for the columns of files."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError
from proxembed.data.readers.cells import MISSING, Cells, is_minus_one, truth
from proxembed.data.readers.table_labels import LabelColumns, read_labels
from proxembed.tables import coded
from proxembed.tables.column import is_real
from proxembed.tables.frames import number_array, refuse_equal_names
from proxembed.tables.plain import is_empty
from proxembed.tables.rows import cells_of
from proxembed.targets.values import entries, missing_entries, unwrapped

Coded = tuple[NDArray[np.integer], list[Hashable]]


class FrameColumn:
    """One column: an array of numbers as it is, any other by its distinct cells."""

    def __init__(self, column: Any) -> None:
        self._column = column
        self._array = number_array(column) if hasattr(column, "to_numpy") else None

    @cached_property
    def coded(self) -> Coded:
        """Codes into the distinct cells, -1 for an empty one; sets and lists become tuples."""
        if self._array is not None:
            return _coded_numbers(self._array)
        column = self._column
        moments = isinstance(column, np.ndarray) and column.dtype.kind in "mM"  # which tolist turns into integers
        values, codes = coded(list(column) if moments else cells_of(column))
        table, filled = np.full(len(values) + 1, -1), [value for value in values if value is not None]
        table[[j for j, value in enumerate(values) if value is not None]] = np.arange(len(filled))
        return table[codes], filled

    @property
    def place(self) -> str:
        """What the column holds, as ``TableFile.places`` names it."""
        if self._array is not None:
            return "number"
        kinds = {_kind(value) for value in self.coded[1]}
        if len(kinds) == 1:
            return kinds.pop()
        return "number" if not kinds else "text" if kinds <= {"number", "text", "date"} else "other"

    @property
    def numbers(self) -> NDArray[np.floating]:
        """The cells of a column of numbers, float32 or float64, NaN where empty."""
        if self._array is not None:
            kept = self._array.dtype in (np.float32, np.float64)
            return self._array if kept else self._array.astype(np.float64)
        codes, values = self.coded
        return np.array([*map(float, values), np.nan], dtype=np.float64)[codes]  # type: ignore[arg-type]  # numbers

    @property
    def vectors(self) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
        """The values of a column of vectors one after the other, and the length of each vector; -1 where empty."""
        codes, values = self.coded
        held = [np.asarray(value, dtype=np.float64) for value in values]
        lengths = np.array([*map(len, held), -1])[codes]
        rows = [held[code] for code in codes if code >= 0]
        return np.concatenate(rows) if rows else np.empty(0), lengths


class FrameBlock:
    """All rows of a DataFrame, as a block of a table."""

    def __init__(self, columns: Mapping[str, FrameColumn], rows: int) -> None:
        self._columns, self.rows = columns, rows

    def numbers(self, names: Sequence[str]) -> list[NDArray[np.floating]]:
        """Columns of numbers as one vector each."""
        return [self._columns[name].numbers for name in names]

    def cells(self, name: str) -> Coded:
        """A column as codes into its distinct values, -1 where empty."""
        return self._columns[name].coded

    def vectors(self, name: str) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
        """A column of vectors as all their values in a row and the length of each; -1 for an empty cell."""
        return self._columns[name].vectors


class FrameFile:
    """A pandas or polars DataFrame, or a mapping of names to columns, with the interface of a table file.

    The index of a pandas DataFrame is left out. ``title`` names the table in messages.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> from proxembed.data import Columns
    >>> from proxembed.data.readers.frame import FrameFile
    >>> from proxembed.data.readers.table import read_table
    >>> frame = DataFrame({"age": [30, None, 50, 40], "left": ["yes", "no", "no", "yes"]})
    >>> read_table([FrameFile(frame)], Columns(labels=("left",)), "staff")
    Dataset(name='staff', n=4, d=1, labels=1)
    """

    typed = True
    row_names: str | None = None

    def __init__(self, frame: Any, title: str = "X") -> None:
        self.path = Path(title)
        given = list(getattr(frame, "columns", frame))
        self.names = tuple(map(str, given))
        refuse_equal_names(title, self.names)
        self.columns = {name: FrameColumn(frame[each]) for name, each in zip(self.names, given, strict=True)}
        self.rows: int | None = len(frame if hasattr(frame, "columns") else frame[given[0]]) if given else 0
        if not self.rows:
            raise DataError(f"{title} has {self.rows} rows and {len(given)} columns; at least one of each is needed.")
        self.size = 8 * self.rows * len(given)
        self.places = {name: column.place for name, column in self.columns.items()}

    def blocks(self, wanted: dict[str, str], most: int | None = None) -> Iterator[Any]:
        """All rows, in one block."""
        yield FrameBlock(self.columns, self.rows or 0)

    def place(self, row: int) -> str:
        """The number of a row, counted from 0."""
        return f"row {row}"

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        """An error at a row, or in the table as a whole."""
        return DataError.at(self.path, None, reason if row is None else f"{self.place(row)}: {reason}", remedy)

    def cells(self, name: str) -> Cells:
        """The cells of a column with another purpose."""
        cells = Cells(MISSING)
        cells.add(*self.columns[name].coded)
        return cells


def _coded_numbers(array: NDArray[Any]) -> Coded:
    empty = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)
    codes = np.full(len(array), -1)
    values, codes[~empty] = np.unique(array[~empty], return_inverse=True)
    return codes, values.tolist()


def _kind(value: Hashable) -> str:
    """What a cell holds, as ``TableFile.places`` names it."""
    if isinstance(value, tuple):
        kinds = {_kind(entry) for entry in value}
        return "vector" if kinds == {"number"} else "sets" if kinds <= {"text"} else "other"
    if isinstance(value, str):
        return "text"
    if isinstance(value, date):
        return "date"
    if isinstance(value, bool) or (is_real(value) and not isinstance(value, timedelta)):
        return "number"
    return "other"


def array_labels(y: NDArray[Any], path: Path, target_type: str | None) -> LabelColumns:
    """The labels in a 1-D array of a file: two truth words, or 1 and 0 or -1, are one label; others are classes."""
    y = entries(y)
    if y.ndim != 1 or y.dtype.kind not in "biufUS":
        raise DataError(f"y has shape {y.shape} and type {y.dtype}; classes must be one number or text per row.")
    if (missing := missing_entries(y)).any():
        raise DataError(f"y is NaN in row {missing.argmax()}; drop rows without a class or give an indicator Y.")
    file = FrameFile({"y": y}, str(path))
    cells = file.cells("y")
    signed = any(map(is_minus_one, cells.values))
    truths = all(truth(value, signed) is not None for value in cells.values)
    return read_labels([(file, {"y": cells})], None if truths else "", target_type=target_type)[0]


def named_columns(y: Any) -> dict[str, Any] | None:
    """The label columns in y by name: those of a DataFrame, or a Series, list or array of one cell a row.

    None for an array of several columns, and for a sparse matrix: they are indicators.

    Examples
    --------
    >>> import numpy as np
    >>> from pandas import Series
    >>> from proxembed.data.readers.frame import named_columns
    >>> list(named_columns(Series([1, 0], name="left"))), list(named_columns(["a", "b"])), named_columns(np.eye(2))
    (['left'], ['y'], None)
    """
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        refuse_equal_names("y", map(str, y.columns))
        return {str(name): y[name] for name in y.columns}
    if hasattr(y, "to_numpy"):
        name = getattr(y, "name", None)
        return {"y" if name in (None, "") else str(name): y}
    y = unwrapped(y)[0]
    if not isinstance(y, list | tuple | np.ndarray):
        return None
    if _label_lists(y):
        return {"y": list(y)}
    cells = entries(y)
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = cells[:, 0]
    return {"y": cells} if cells.ndim == 1 else None


def _label_lists(y: Any) -> bool:
    """Whether each entry is a set of labels, a list of labels that are text, or missing."""
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return False
    known = [row for row in y if not is_empty(row)]
    if not known or not all(isinstance(row, set | frozenset | list | tuple) for row in known):
        return False
    lists = [row for row in known if isinstance(row, list | tuple)]
    return not any(lists) or any(isinstance(each, str) for row in lists for each in row)
