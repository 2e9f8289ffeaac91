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
BATCH = 8192  # rows that pyarrow formats at a time
SPECIAL = r'[",\r\n]|^[=+\-@\t]'  # in a cell that needs quotes, or begins so


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
        text = _plain_rows(columns)
        if text is None:
            self._rows.add(zip(*map(_cells, columns.values()), strict=True))
        else:
            self._stream.flush()
            self._stream.buffer.write(text)

    def close(self) -> None:
        self._stream.close()


def _cells(values: Any) -> Any:
    """The cells of a column for the csv module; those of float32 with no more digits than give them back as such."""
    if getattr(values, "dtype", None) == "float32":
        values = values.astype(str).astype("float64")
    return values.tolist() if hasattr(values, "tolist") else values


def _plain_rows(columns: Mapping[str, Any]) -> Any:
    """The rows as pyarrow writes CSV, many times as fast as the csv module; None without pyarrow, and where a cell
    needs quotes or could be taken for a formula. Numbers have the fewest digits that give them back in their type."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow

        cells = [_plain_column(values) for values in columns.values()]
        if any(column is None for column in cells):
            return None
        out = pa.BufferOutputStream()
        quoting = "none" if any(pa.types.is_string(column.type) for column in cells) else "needed"  # numbers need none
        options = arrow.WriteOptions(include_header=False, quoting_style=quoting, batch_size=BATCH)
        arrow.write_csv(pa.Table.from_arrays(cells, names=[str(j) for j in range(len(cells))]), out, options)
        return out.getvalue()
    except ImportError:
        return None


def _plain_column(values: Any) -> Any:
    """A column as an array of pyarrow whose cells stand in CSV as they are; None where they do not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind and kind in "iuf":
        return pa.array(values if kind != "f" or values.dtype == "float32" else values.astype("float64"))
    if not all(isinstance(cell, str) and cell for cell in values):
        return None
    texts = pa.array(values, pa.string())
    return None if pc.any(pc.match_substring_regex(texts, SPECIAL)).as_py() else texts


def check_parquet() -> None:
    """Raise a ValueError where Parquet files cannot be written."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ValueError(PARQUET) from error


class _ParquetTable:
    """A row group for each part."""

    def __init__(self, path: Path) -> None:
        check_parquet()
        self._path = path
        self._writer: Any = None

    def add(self, columns: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        schema = None if self._writer is None else self._writer.schema
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        if self._writer is None:
            repeating = [field.name for field in table.schema if not pa.types.is_floating(field.type)]
            self._writer = parquet.ParquetWriter(self._path, table.schema, use_dictionary=repeating)
        self._writer.write_table(table if schema is None else table.cast(schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
