"""A DataFrame in memory as a table: its columns are read by the rules that hold for the columns of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Cells, is_minus_one, truth
from proxembed.data.readers.table_labels import LabelColumns, read_labels
from proxembed.tables.cells import MISSING
from proxembed.tables.frames import Coded, FrameColumn, frame_of, is_frame, named_columns
from proxembed.tables.plain import is_empty
from proxembed.targets.values import entries, missing_entries, unwrapped


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
    """A DataFrame without its index, or a mapping of names to columns, with the interface of a table file."""

    typed = True
    row_names: str | None = None

    def __init__(self, frame: Any, title: str = "X") -> None:
        self.path = Path(title)
        given = named_columns(frame, title)
        self.names = tuple(given)
        self.columns = {name: FrameColumn(cells) for name, cells in given.items()}
        self.rows: int | None = len(next(iter(given.values()), ()))
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


def label_columns(y: Any) -> dict[str, Any] | None:
    """The label columns in y by name; None for an array of several columns or a sparse matrix, which are indicators."""
    y = frame_of(y)
    if is_frame(y):
        return named_columns(y, "y")
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
