"""A block of rows of a table as NumPy arrays and plain values; with `table_file` the only place that knows pyarrow."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError


class TableFile(Protocol):
    """A table on disk that is read in blocks."""

    path: Path
    names: tuple[str, ...]
    typed: bool  # whether the file itself declares what its columns hold
    places: dict[str, str]  # column -> "number", "text", "date", "vector", "sets" or "other"

    def blocks(self, wanted: dict[str, str]) -> Iterator[Block]:
        """Rows in file order: for each column, wanted as "number", "cells", "text" or "vector"."""

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        """An error at a row of the table (counted from 0), told by its line or its row number."""


class Block:
    """Some rows of a table, from pyarrow's RecordBatch."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch
        self._place = {name: j for j, name in enumerate(batch.schema.names)}
        self.rows: int = batch.num_rows

    def column(self, name: str) -> Any:
        """The pyarrow array of a column."""
        return self._batch.column(self._place[name])

    def numbers(self, names: Sequence[str]) -> list[NDArray[np.floating]]:
        """Columns of numbers as one vector each, float32 or float64; empty cells are NaN."""
        import pyarrow as pa

        columns = [self.column(name) for name in names]
        kept = (pa.float32(), pa.float64())
        columns = [column if column.type in kept else column.cast(pa.float64(), safe=False) for column in columns]
        return [column.to_numpy(zero_copy_only=False) for column in columns]

    def cells(self, name: str) -> tuple[NDArray[np.integer], list[Hashable]]:
        """A column as codes into its distinct values, -1 where empty; lists become tuples."""
        import pyarrow as pa

        column = self.column(name)
        if _is_list(column.type):
            code: dict[Hashable, int] = {}
            rows = [None if cell is None else tuple(cell) for cell in column.to_pylist()]
            codes = [-1 if cell is None else code.setdefault(cell, len(code)) for cell in rows]
            return np.array(codes, dtype=np.int64), list(code)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        indices = column.indices if column.null_count == 0 else column.indices.fill_null(-1)
        return indices.to_numpy(zero_copy_only=False), column.dictionary.to_pylist()

    def texts(self, name: str) -> list[str]:
        """A column of texts; empty cells are empty texts."""
        return [cell if cell is not None else "" for cell in self.column(name).to_pylist()]

    def vectors(self, name: str) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
        """A column of vectors as all their values in a row and the length of each; -1 for an empty cell.

        Cells of text are numbers in brackets, separated by blanks or commas. Raises ValueError for one that is not.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.column(name)
        if not _is_list(column.type):
            bare = pc.utf8_trim(pc.replace_substring(column, ",", " "), "[] \t\r\n")
            column = pc.utf8_split_whitespace(pc.if_else(pc.equal(bare, ""), None, bare))
        lengths = pc.list_value_length(column).fill_null(-1).to_numpy(zero_copy_only=False)
        values = column.flatten()
        if not pa.types.is_floating(values.type):
            values = values.cast(pa.float64(), safe=False)
        return values.to_numpy(zero_copy_only=False), lengths


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def sort_of(kind: Any) -> str:
    """What a pyarrow type holds: "number", "text", "date", "vector" (of numbers), "sets" (of text) or "other"."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if _is_list(kind):
        return {"number": "vector", "text": "sets"}.get(sort_of(kind.value_type), "other")
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_boolean(kind) or types.is_null(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind):
        return "text"
    return "date" if types.is_date(kind) or types.is_timestamp(kind) else "other"
