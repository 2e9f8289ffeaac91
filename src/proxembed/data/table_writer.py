"""Tables out: named columns written as CSV or Parquet, a part of the rows at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from proxembed.tables.quantities import NUMBER

SUFFIXES = (".csv", ".parquet")
PARQUET = "a .parquet file needs pyarrow: pip install 'proxembed[data]', or write .csv."
FORMULA = "=+-@\t\r\n"  # with which a cell begins that a spreadsheet takes for a formula


class CsvRows:
    """Rows of CSV in which a spreadsheet takes no text for a formula: the writer of every CSV file of this package."""

    def __init__(self, stream: TextIO) -> None:
        self._writer = csv.writer(_Lines(stream), lineterminator="\r\n")

    def add(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows of cells."""
        self._writer.writerows([*map(_for_spreadsheets, row)] for row in rows)


class _Lines:
    """A stream of lines that end in a line feed alone: the csv module quotes only the ends of lines that it writes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, line: str) -> None:
        self._stream.write(f"{line[:-2]}\n")


def _for_spreadsheets(cell: Any) -> Any:
    formula = isinstance(cell, str) and cell[:1] and cell[0] in FORMULA and not NUMBER.fullmatch(cell)
    return f"'{cell}" if formula else cell


class TableWriter:
    """A CSV (UTF-8) or Parquet file by its suffix, to which rows are added in parts with the same columns."""

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() not in SUFFIXES:
            raise ValueError(f"{str(path)!r} must end in one of {', '.join(SUFFIXES)}.")
        self._file: Any = _ParquetTable(path) if path.suffix.lower() == ".parquet" else _CsvTable(path)

    def add(self, columns: Mapping[str, Any]) -> None:
        """Add rows: a 1-D array or list for each column, all of one length."""
        self._file.add(columns)

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()


class _CsvTable:
    def __init__(self, path: Path) -> None:
        self._stream = open(path, "x", encoding="utf-8", newline="")
        self._rows, self._begun = CsvRows(self._stream), False

    def add(self, columns: Mapping[str, Any]) -> None:
        if not self._begun:
            self._rows.add([columns])
            self._begun = True
        cells = (getattr(values, "tolist", lambda v=values: v)() for values in columns.values())
        self._rows.add(zip(*cells, strict=True))

    def close(self) -> None:
        self._stream.close()


class _ParquetTable:
    """A row group for each part."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise ValueError(PARQUET) from error
        self._path = path
        self._writer: Any = None

    def add(self, columns: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        schema = None if self._writer is None else self._writer.schema
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table if schema is None else table.cast(schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
