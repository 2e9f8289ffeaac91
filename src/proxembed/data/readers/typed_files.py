"""Feather (Arrow) files and JSON records as tables of pyarrow."""

from __future__ import annotations

import json
import struct
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from proxembed.data.errors import DataError
from proxembed.data.readers.arrow_sizes import unpacked_sizes
from proxembed.data.unpacking import most_unpacked, opened, plain_name, too_large
from proxembed.tables.notes import shorten

ARROW, JSON = (".feather", ".arrow"), (".jsonl", ".ndjson", ".json")
SUFFIXES = (*ARROW, *JSON)
FIRST_BYTES = 1 << 16  # of a line, which are read at a time
FORM = "write one object a row, {...}, on a line each (pandas: to_json(file, orient='records', lines=True))"


@dataclass(frozen=True)
class RowsInMemory:
    """A table of pyarrow, in place of `ParquetParts`."""

    table: Any
    path: Path

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self.table.schema

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.num_rows

    @property
    def size(self) -> int:
        """Bytes of the cells."""
        return self.table.nbytes

    def batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        """Batches of at most ``most`` rows with these columns."""
        yield from self.table.select(list(names)).to_batches(max_chunksize=most)

    def place(self, row: int) -> tuple[Path, int]:
        """The file and the row."""
        return self.path, row


def typed_rows(path: Path, plain_suffix: str) -> RowsInMemory:
    """The rows of a file by its suffix; the fields of a nested record are columns, ``field.inner``."""
    table = _arrow(path) if plain_suffix in ARROW else _json(path)
    return RowsInMemory(_flat(table, path), path)


def _flat(table: Any, path: Path) -> Any:
    """The table without nested records, its texts in the type of pyarrow's strings."""
    import pyarrow as pa

    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    views = [place for place, field in enumerate(table.schema) if pa.types.is_string_view(field.type)]
    size, most = sum(_text_size(chunk) for place in views for chunk in table.column(place).chunks), most_unpacked()
    if size > most:
        raise too_large(path, "its texts", size, most)
    for place in views:
        table = table.set_column(place, table.schema.names[place], table.column(place).cast(pa.string()))
    return table


def _text_size(views: Any) -> int:
    """The bytes of the texts of an array of string views, of which several may be of the same bytes."""
    if len(views) == 0:
        return 0
    lengths = np.frombuffer(views.buffers()[1], dtype=np.int32)[4 * views.offset :: 4][: len(views)]
    return int(np.maximum(lengths, 0).sum(dtype=np.int64))


def _arrow(path: Path) -> Any:
    """The batches of a file or a stream of Arrow."""
    import pyarrow as pa

    most, size = most_unpacked(), 0
    with opened(path) as stream:
        try:
            is_file = stream.read(6) == b"ARROW1"
            for each in unpacked_sizes(stream, is_file):
                size += each
                if size > most:
                    raise too_large(path, "its columns", size, most)
            stream.seek(0)
            reader = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(stream)
            _ = reader.schema.names  # which may be no text
            batches = list(_batches(reader, is_file))
            for batch in batches:
                batch.validate(full=True)
            return pa.Table.from_batches(batches, reader.schema)
        except (pa.ArrowException, OSError, ValueError, struct.error) as error:
            if isinstance(error, DataError):
                raise
            reason = f"it cannot be read as a Feather or Arrow file ({shorten(' '.join(str(error).split()), 120)})"
            raise DataError.at(path, None, reason, "fetch it again, or write it as Parquet") from error


def _batches(reader: Any, is_file: bool) -> Iterator[Any]:
    yield from map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader


def _json(path: Path) -> Any:
    """JSON lines, or one list of objects; a field of several kinds of values is text."""
    import pyarrow as pa

    columns: dict[str, list[Any]] = {}
    count, most = 0, most_unpacked()
    for count, record in enumerate(_records(path), start=1):
        for name, value in _fields(record):
            cells = columns.setdefault(name, [])
            if len(cells) == count:
                raise DataError.at(path, None, f"field {shorten(name)} occurs twice in record {count:,}", "rename it")
            cells += [None] * (count - 1 - len(cells))
            cells.append(value)
        if 8 * count * len(columns) > most:
            raise too_large(path, "its records", 8 * count * len(columns), most, "write fewer fields, or Parquet")
    if not columns:
        raise DataError.at(path, None, "the file holds no record", FORM)
    try:
        return pa.table({name: _column(cells + [None] * (count - len(cells))) for name, cells in columns.items()})
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise DataError.at(path, None, f"a field is not text ({shorten(str(error), 120)})", FORM) from error


def _records(path: Path) -> Iterator[dict[str, Any]]:
    single = Path(plain_name(path)).suffix.lower() != ".json"  # where a line alone is a record
    with opened(path) as stream:
        if not _is_one_value(stream, path, single):
            for line, content in enumerate(stream, start=1):
                if content.strip():
                    yield _object(_loaded(content, path, line), path, line)
            return
        found = _loaded(_bounded(stream.read(most_unpacked() + 1), path), path, None)
        rows = found if isinstance(found, list) else _rows(found, path) if isinstance(found, dict) else [found]
        yield from (_object(each, path, row) for row, each in enumerate(rows, start=1))


def _is_one_value(stream: BinaryIO, path: Path, single: bool) -> bool:
    """Whether a file is one value of JSON, a list or an object, and not an object a line, by the first line that is not
    blank; one line alone is a record where ``single``."""
    start = next((part for part in iter(partial(stream.readline, FIRST_BYTES), b"") if part.strip()), b"")
    if start.removeprefix(BOM_UTF8).lstrip()[:1] == b"[":
        stream.seek(0)
        return True
    first = start if start.endswith(b"\n") else _bounded(start + stream.readline(most_unpacked() + 1), path)
    more = any(part.strip() for part in iter(partial(stream.readline, FIRST_BYTES), b""))
    stream.seek(0)
    if not (more or single):
        return bool(first)
    try:
        json.loads(first)
    except ValueError:
        return more
    return False


def _bounded(content: bytes, path: Path) -> bytes:
    """What was read, if it is not too large."""
    if len(content) > (most := most_unpacked()):
        raise too_large(path, "its records", len(content), most, "write it as JSON lines or Parquet")
    return content


def _rows(found: dict[str, Any], path: Path) -> list[Any]:
    """The records of one object: those in its only list of objects, or as pandas writes a table by columns, by rows or
    by parts; else the object itself. Of objects in an object, whole numbers name the rows; where they name both, the
    inner ones are the rows, as pandas writes them if nothing else is said."""
    values = list(found.values())
    lists = [each for each in values if isinstance(each, list) and each and all(isinstance(row, dict) for row in each)]
    if len(lists) == 1:
        return lists[0]
    names, rows = found.get("columns"), found.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        if all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return [dict(zip(map(str, names), row, strict=True)) for row in rows]
    if all(isinstance(each, list) and len(each) == len(values[0]) > 1 for each in values):
        return [dict(zip(found, row, strict=True)) for row in zip(*values, strict=True)]
    if len(values) > 1 and all(isinstance(each, dict) and each.keys() == values[0].keys() for each in values):
        if all(map(str.isdigit, values[0])):
            return [{name: column[row] for name, column in found.items()} for row in values[0]]
        if all(map(str.isdigit, found)):
            return values
        raise DataError.at(path, None, "its objects may be rows or columns", FORM)
    return [found]


def _loaded(content: bytes, path: Path, line: int | None) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError.at(path, line, f"it is not JSON ({shorten(str(error), 120)})", FORM) from error


def _object(found: Any, path: Path, line: int) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise DataError.at(path, line, f"the record is {shorten(json.dumps(found))}, no object", FORM)
    return found


def _fields(record: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict) and value:
            yield from _fields(value, f"{before}{name}.")
        else:
            yield before + name, value


def _column(cells: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowException, OverflowError):
        kept = (None if cell is None else cell if isinstance(cell, str) else json.dumps(cell) for cell in cells)
        return pa.array(list(kept), pa.string())
