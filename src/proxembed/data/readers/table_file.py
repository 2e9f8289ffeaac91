"""CSV and Parquet files read in blocks by pyarrow, with every failure told as a DataError at its line or row."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from proxembed.data.errors import DataError, shorten
from proxembed.data.readers.arff_header import decode
from proxembed.data.readers.blocks import Block, TableFile, sort_of
from proxembed.data.readers.cells import MISSING, is_number
from proxembed.data.readers.source import opened
from proxembed.data.unpacking import most_unpacked, too_large

BLOCK_BYTES = 1 << 21
BLOCK_VALUES = 1 << 20
MOST_WORKERS = 8
NO_ROWS = "there are no rows after the header"
SEPARATORS = ",;\t|"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def open_table(path: Path) -> TableFile:
    """The table in a file, by its suffix."""
    try:
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise DataError.at(
            path, None, "CSV and Parquet need pyarrow, which is not installed", "install proxembed[data]"
        ) from error
    return ParquetFile(path) if path.suffix.lower() in (".parquet", ".pq") else CsvFile(path)


class CsvFile:
    """A CSV file with column names in its first line, in UTF-8; the separator (comma, ;, tab or |) is found there."""

    typed = False

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path) as stream:
            first = stream.readline()
        self.separator = _separator(decode(first, path, 1) if not first.startswith(UTF16) else "")
        records = self._records()
        line, header = next(records, (1, None))
        if header is None:
            raise DataError.at(path, None, "the file is empty", "fetch or write it again")
        self.names = _checked_names(tuple(name.strip() for name in header), path, 1)
        if not any(cells for _, cells in records):
            raise DataError.at(path, None, NO_ROWS, "check that the file is complete")
        sample = self._sample()
        self._types = {name: column.type for name, column in zip(self.names, sample.columns, strict=True)}
        self.places = {name: _place(column) for name, column in zip(self.names, sample.columns, strict=True)}

    def blocks(self, wanted: dict[str, str]) -> Iterator[Block]:
        import pyarrow as pa

        types = {}
        for name, form in wanted.items():
            if form == "cells":
                types[name] = pa.dictionary(pa.int32(), pa.string())
            elif form == "number":
                kind = self._types[name]
                types[name] = kind if pa.types.is_boolean(kind) else pa.float64()
            else:
                types[name] = pa.string()
        for batch in self._batches(types, list(wanted), wanted):
            yield Block(batch)

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        line = None
        if row is not None:
            records = (line for line, cells in self._records() if cells)
            line = next((line for place, line in enumerate(records) if place == row + 1), None)
        return DataError.at(self.path, line, reason, remedy)

    def _batches(self, types: dict[str, Any], names: list[str], wanted: dict[str, str]) -> Iterator[Any]:
        """Batches of rows, parsed ahead in as many threads as pyarrow would use."""
        import pyarrow as pa

        workers, rows = min(pa.cpu_count(), MOST_WORKERS), b""
        with opened(self.path) as stream, self._told(wanted), ThreadPoolExecutor(workers) as pool:
            waiting: deque[Future] = deque()
            try:
                for place, rows in enumerate(_whole_rows(stream)):
                    waiting.append(pool.submit(self._parsed, rows, place == 0, types, names))
                    if len(waiting) > workers:
                        yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            finally:
                pool.shutdown(cancel_futures=True)
        if _quotes(rows) % 2:  # the last quote may never be closed: pyarrow does not mind
            deque(self._records(), maxlen=0)

    def _sample(self) -> Any:
        """The first batch of rows, its types inferred."""
        with opened(self.path) as stream, self._told({}):
            for place, rows in enumerate(_whole_rows(stream)):
                for batch in self._parsed(rows, place == 0, {}, list(self.names)):
                    if batch.num_rows:
                        return batch
        raise DataError.at(self.path, None, NO_ROWS, "check that the file is complete")

    @contextmanager
    def _told(self, wanted: dict[str, str]) -> Iterator[None]:
        """What pyarrow cannot read, as the first malformed row."""
        import pyarrow as pa

        try:
            yield
        except pa.ArrowInvalid as error:
            raise self._diagnosis(wanted, error) from error

    def _parsed(self, rows: bytes, first: bool, types: dict[str, Any], names: list[str]) -> list[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow

        if not rows.strip(b"\r\n"):
            return []
        read = arrow.ReadOptions(
            use_threads=False, block_size=len(rows) + 1, column_names=self.names, skip_rows_after_names=int(first)
        )
        parse = arrow.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        convert = arrow.ConvertOptions(column_types=types, include_columns=names, null_values=MISSING)
        return arrow.read_csv(pa.BufferReader(rows), read, parse, convert).to_batches()

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Records by Python's csv module, with the line each begins on; slow, but it knows where it is."""
        with opened(self.path) as stream:
            records = csv.reader(_lines(stream, self.path), delimiter=self.separator, strict=True)
            line = 1
            while True:
                try:
                    cells = next(records, None)
                except csv.Error as error:
                    raise DataError.at(
                        self.path, line, f"the row is no CSV ({error})", "close every quote and write one row a line"
                    ) from error
                if cells is None:
                    return
                yield line, cells
                line = records.line_num + 1

    def _diagnosis(self, wanted: dict[str, str], error: Exception) -> DataError:
        """The first malformed row as an error, or pyarrow's words where every row looks well formed."""
        numbers = [(j, name) for j, name in enumerate(self.names) if wanted.get(name) == "number"]
        for line, cells in self._records():
            if cells and len(cells) != len(self.names):
                return DataError.at(
                    self.path,
                    line,
                    f"the row has {len(cells)} values, not the {len(self.names)} of the header",
                    f"give every column one value, separated by {shorten(self.separator)}, and quote text that has one",
                )
            for j, name in numbers if line > 1 and cells else ():
                if not is_number(cells[j]) and cells[j].strip() not in (*MISSING, "true", "True", "false", "False"):
                    return DataError.at(
                        self.path,
                        line,
                        f"{shorten(cells[j])} in column {shorten(name)} is not a number",
                        "correct it, or leave the column out (drop)",
                    )
        reason = " ".join(str(error).split()).rstrip(".")
        return DataError.at(self.path, None, f"it cannot be read as CSV ({reason})", "check that it is CSV in UTF-8")


class ParquetFile:
    """A Parquet file; index columns that pandas wrote are left out unless they are named for a purpose."""

    typed = True

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet

        self.path = path
        with self._told(), opened(path) as stream:
            self._file = pyarrow.parquet.ParquetFile(io.BytesIO(b"") if _is_empty(stream) else path)
        schema = self._file.schema_arrow
        self.names = _checked_names(tuple(schema.names), path, None)
        if self._file.metadata.num_rows == 0:
            raise DataError.at(path, None, "the table has no rows", "check that the file is complete")
        self.places = {name: sort_of(schema.field(name).type) for name in self.names}
        written = (schema.pandas_metadata or {}).get("index_columns", ())
        self.index = tuple(name for name in written if isinstance(name, str))

    def blocks(self, wanted: dict[str, str]) -> Iterator[Block]:
        count, most = self._file.metadata.num_rows, most_unpacked()
        if (size := 8 * count * len(wanted)) > most:
            raise too_large(self.path, f"{count:,} rows of {len(wanted):,} columns", size, most)
        rows = max(1, BLOCK_VALUES // max(1, len(wanted)))
        with self._told():
            for batch in self._file.iter_batches(batch_size=rows, columns=list(wanted)):
                yield Block(batch)

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        return DataError.at(self.path, None, reason if row is None else f"row {row + 1}: {reason}", remedy)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Damage of the file, which shows in many ways, as one error."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError) as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise DataError.at(
                self.path, None, f"it is no readable Parquet file ({reason})", "fetch or write it again"
            ) from error


def _whole_rows(stream: BinaryIO) -> Iterator[bytes]:
    """The file in pieces that end with a row: at a line end before which every quote is closed."""
    while block := stream.read(BLOCK_BYTES):
        lines = [block, stream.readline()]
        odd = sum(map(_quotes, lines)) % 2
        while odd and (line := stream.readline()):
            lines.append(line)
            odd = (odd + _quotes(line)) % 2
        yield b"".join(lines)


def _quotes(rows: bytes) -> int:
    return rows.count(b'"') if b'"' in rows else 0  # to search is ten times as fast as to count


def _place(column: Any) -> str:
    """What a CSV column holds, by its first block: "number", "date", "vector" (numbers in brackets) or "text"."""
    sort = sort_of(column.type)
    if sort == "text":
        first = next((cell.strip() for cell in column.to_pylist() if cell.strip()), "")
        return "vector" if first.startswith("[") and first.endswith("]") else "text"
    return "text" if sort == "other" else sort


def _is_empty(stream: BinaryIO) -> bool:
    return not stream.read(1)


def _separator(line: str) -> str:
    """The candidate that occurs most often outside quotes; a comma where none does."""
    bare = "".join(line.split('"')[::2])
    return max(SEPARATORS, key=bare.count)


def _lines(stream: BinaryIO, path: Path) -> Iterator[str]:
    for number, raw in enumerate(stream, start=1):
        if number == 1:
            if raw.startswith(UTF16):
                raise DataError.at(path, 1, "the file is UTF-16", "save it as UTF-8")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        yield decode(raw, path, number)


def _checked_names(names: tuple[str, ...], path: Path, line: int | None) -> tuple[str, ...]:
    if not names or all(is_number(name) for name in names):
        found = "numbers stand where column names belong" if names else "there are no column names"
        raise DataError.at(path, line, found, "name the columns (CSV: in the first line)")
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if not name:
            remedy = "name it; if it is an index that pandas wrote, write the file with index=False"
            raise DataError.at(path, line, f"column {place} has no name", remedy)
        if name in seen:
            raise DataError.at(path, line, f"two columns are named {shorten(name)}", "give every column its own name")
        seen.add(name)
    return names
