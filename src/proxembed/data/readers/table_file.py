"""CSV and Parquet files read in blocks by pyarrow; every failure becomes a DataError at its line or row.

A block gives NumPy arrays and plain values: no other reader knows pyarrow.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError
from proxembed.data.readers import sheets, typed_files
from proxembed.data.readers.columns import is_number
from proxembed.data.readers.merged_lines import MergedLines
from proxembed.data.readers.parquet_parts import SUFFIXES, ParquetParts, PickedRows
from proxembed.data.readers.printouts import check_is_whole, draws_boxes, in_plain_marks
from proxembed.data.readers.quotes import other_quotes
from proxembed.data.readers.sheets import sheet_as_csv
from proxembed.data.readers.text_layout import (
    BLOCK_BYTES,
    FOUND,
    REWRITTEN,
    SEPARATOR_WORDS,
    UTF8_MARK,
    FileLayout,
    check_columns_are_split,
    check_is_text,
    check_rows_are_rows,
    columns_are_samples,
    csv_line,
    first_lines,
    first_row_question,
    headerless_names,
    lines_after_rows,
    looks_like_a_row,
    rows_as_csv,
    text_layout,
    utf8_content,
)
from proxembed.data.readers.typed_files import typed_rows
from proxembed.data.unpacking import decode, most_unpacked, opened, plain_name, too_large
from proxembed.tables.axis import values_in_order
from proxembed.tables.cells import MISSING
from proxembed.tables.notes import shorten

BLOCK_VALUES, PART_VALUES = 1 << 20, 1 << 23  # of a block: of a whole reading, and of one in parts
MOST_WORKERS = 8
END_SHARE = 32  # the last 1/32 of a block is the end of a file, in which remarks may stand
RULING_ROWS = 20  # which show whether the header lacks a cell
NO_ROWS = "there are no rows after the header"
LINE_END = b"\n"
NO_TEXT = b"\x00\x1a"  # with which programs of DOS fill the end of a file
OTHER_ENCODING = "name its encoding, such as encoding='cp1252', or save it as UTF-8"


class TableFile(Protocol):
    """A table that is read in blocks."""

    path: Path
    names: tuple[str, ...]
    typed: bool  # whether the file itself declares what its columns hold
    places: dict[str, str]  # column -> "number", "text", "date", "vector", "sets" or "other"
    row_names: str | None  # the name given to a first column that has none

    def blocks(self, wanted: dict[str, str], most: int | None = None) -> Iterator[Block]:
        """Rows in file order: for each column, wanted as "number", "cells", "text" or "vector"."""

    def place(self, row: int) -> str:
        """Where a row of the table (counted from 0) stands: its line, or its row number."""

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        """An error at a row of the table, told by its line or its row number."""


class StoredTable(TableFile, Protocol):
    """A table on disk, some of whose rows can be taken into memory."""

    def picked(self, rows: NDArray[np.integer], most: int, each: Callable[[Block], None] | None = None) -> TableFile:
        """The rows of these sorted numbers; ``most`` rows of the file are read at a time. ``each`` is called with all
        blocks of a file whose columns have types."""


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
        is_coded = pa.types.is_dictionary(column.type)
        coded = column if is_coded else column.dictionary_encode()
        indices = coded.indices if column.null_count == 0 else coded.indices.fill_null(-1)
        codes = indices.to_numpy(zero_copy_only=False)
        if not is_coded:  # in the order of their first rows, each used
            return codes, coded.dictionary.to_pylist()
        used, first, places = np.unique(codes, return_index=True, return_inverse=True)
        known = np.argsort(np.where(used < 0, -1, first))[int((used < 0).any()) :]  # in the order of their first rows
        of_used = np.full(len(used), -1)
        of_used[known] = np.arange(len(known))
        return of_used[places], coded.dictionary.take(pa.array(used[known])).to_pylist()

    def vectors(self, name: str) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
        """A column of vectors as all their values in a row and the length of each; -1 for an empty cell."""
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


def plain_suffix(path: Path) -> str:
    """The suffix of a file, without that of its packing."""
    return Path(plain_name(path)).suffix.lower()


def form_of(path: Path) -> str:
    """What a table is: "parquet" (also a folder), "sheet" (of Excel), "typed" (Feather, JSON) or "text"."""
    if path.is_dir() or path.suffix.lower() in SUFFIXES:
        return "parquet"
    suffix = plain_suffix(path)
    return "sheet" if suffix in sheets.SUFFIXES else "typed" if suffix in typed_files.SUFFIXES else "text"


def check_layout(path: Path, given: FileLayout) -> None:
    """Refuse what the caller says of a file that it has not."""
    has = {"header": ("text", "sheet"), "encoding": ("text",), "sheet": ("sheet",)}
    for name, value in given.plain().items():
        if form_of(path) not in has[name]:
            what = "no sheets" if name == "sheet" else "its own names" if name == "header" else "no encoding of text"
            raise DataError.at(path, None, f"{name}={value!r} was given, but the file has {what}", "leave it out")


def open_table(path: Path, given: FileLayout = FOUND) -> StoredTable:
    """The table in a file, by its suffix; ``given`` is what the caller says of the file itself."""
    try:
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise DataError.at(
            path,
            None,
            "CSV and Parquet need pyarrow, which is not installed",
            "install it (pip install 'proxembed[data]')",
        ) from error
    form = form_of(path)
    if form == "sheet":
        content, note = sheet_as_csv(path, given.sheet)
        return CsvFile(path, content, replace(given, sheet=None), separator=",", note=note)
    if form == "typed":
        return ParquetFile(path, typed_rows(path, plain_suffix(path)))
    if form == "text":
        check_is_text(path)
        return CsvFile(path, given=given)
    return ParquetFile(path)


def table_of_columns(path: Path, names: Sequence[str], parts: Sequence[Sequence[Any]]) -> TableFile:
    """A table of columns in memory, in parts: arrays of numbers, NaN where empty, and lists of texts."""
    import pyarrow as pa

    columns = []
    for cells in zip(*parts, strict=True):
        chunks = [pa.array(part, from_pandas=True) if len(part) else part for part in cells]
        text = isinstance(cells[0], list)
        columns.append(pa.chunked_array([chunk.cast(pa.string()) for chunk in chunks] if text else chunks))
    return ParquetFile(path, typed_files.RowsInMemory(pa.table(columns, names=list(names)), path))


class CsvFile:
    """A file of text with column names in its first line, after comments and titles, or without a header; its encoding
    and its separator (comma, ;, tab, | or blanks) are found in the first lines, unless ``given`` says them."""

    typed = False

    def __init__(
        self,
        path: Path,
        content: bytes | None = None,
        given: FileLayout = FOUND,
        separator: str = "",
        note: str = "",
    ) -> None:
        self.path, self._given = path, given
        self._content, self._note = utf8_content(path, given.encoding) if content is None else (content, note)
        with opened(path) if self._content is None else io.BytesIO(self._content) as stream:
            lines = first_lines(stream)
            rewrite, note = (in_plain_marks, "") if draws_boxes(lines) else other_quotes(lines)
            if rewrite is not None and content is None:
                stream.seek(0)
                self._content, self._note = rewrite(self._rest(stream)), "; ".join(filter(None, (self._note, note)))
                lines = first_lines(io.BytesIO(self._content))
        check_rows_are_rows(path, lines)
        self._layout = text_layout(lines, given.header, separator, new_rows=given.answers is None)
        self.separator = self._layout.separator
        if self._layout.below:
            self._content = self._emptied_below()
        if self.separator in REWRITTEN:
            check_is_whole(path, lines)
            self.separator, self._content = ",", self._as_csv()
        self._header, self.repeats, self._end = b"", 0, ""
        records = (cells for _, cells in self._records())
        header, rows = next(records, None) if self._layout.header else (), filter(None, records)
        if header is None:
            raise DataError.at(path, None, "the file is empty", "fetch or write it again")
        first_row = next(rows, None)
        if first_row is None:
            raise DataError.at(path, None, NO_ROWS, "check that the file is complete")
        self.row_names: str | None = None
        if self._layout.header:
            self._take_header(header, first_row, rows, given.header)
        else:
            self.names = headerless_names(len(first_row))
        sample, texts = self._sample()
        self._types = {name: column.type for name, column in zip(self.names, sample.columns, strict=True)}
        self.places = {name: _place(column) for name, column in zip(self.names, sample.columns, strict=True)}
        self.first = {  # the cells of numbers as they stand in the first rows: 007 is a code
            name: column.to_pylist()
            for name, column in zip(self.names, texts.columns, strict=True)
            if self.places[name] == "number"
        }
        self.merged = MergedLines(self.names, self.places, self.separator)  # of the rows read so far

    def _take_header(
        self, header: Sequence[str], first: Sequence[str], rows: Iterable[Sequence[str]], sure: bool | None
    ) -> None:
        """The names of the columns, from the header and the rows below it; ``sure``: they are names."""
        names, line = tuple(name.strip() for name in header), self._layout.skipped + 1
        if names and names[0].startswith("#"):
            names = (names[0].lstrip("# "), *names[1:])
        if len(first) == len(names) + 1 and _names_rows(names, [first, *islice(rows, RULING_ROWS)]):
            names = ("", *names)
        self.row_names = _row_name(names)
        names = (self.row_names, *names[1:]) if self.row_names else names
        numbers = all(map(is_number, names))
        if sure is None and (self._layout.again or not numbers and looks_like_a_row(names, first)):
            raise first_row_question(self.path, line, names)
        if sure is None and self._layout.columns_are_samples:
            below = line + self._layout.header_lines + self._layout.below
            raise columns_are_samples(self.path, below, self.separator)
        if not all(names):
            names = _with_end(names, [first, *islice(rows, RULING_ROWS)])
        check_columns_are_split(self.path, line, names, first)
        self.names = _checked_names(names, self.path, line, numbers=sure is True)
        with self._opened() as stream:
            whole = stream.readline().removeprefix(UTF8_MARK).rstrip(b"\r\n")
        if len(names) > 1 and not _quotes(whole) % 2:
            self._header = whole

    def _emptied_below(self) -> bytes:
        """The file, its lines below the header that hold no values emptied, with the names that two lines give."""
        with self._opened() as stream:
            header, _ = (
                b"".join(stream.readline() for _ in range(lines))
                for lines in (self._layout.header_lines, self._layout.below)
            )
            rest = self._rest(stream)
        if self._layout.joined:
            names = csv_line(self._layout.joined, self.separator).encode()
            header = names + b"\n" * (self._layout.header_lines - 1)
        return b"\n" * self._layout.skipped + header + b"\n" * self._layout.below + rest

    def _rest(self, stream: BinaryIO) -> bytes:
        """What follows in the file, if it is not too large for the memory."""
        content = stream.read(most_unpacked() + 1)
        if len(content) > (most := most_unpacked()):
            raise too_large(self.path, "its rows", len(content), most, "write it as CSV or Parquet")
        return content

    def _as_csv(self) -> bytes:
        """The file as CSV, of cells between blanks or in a frame."""
        with self._opened() as stream:
            content = self._rest(stream)
        lines = _lines(io.BytesIO(content), self.path, self._layout.skipped + 1)
        return b"\n" * self._layout.skipped + rows_as_csv(lines, self._layout.separator)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """The file from its header on."""
        with opened(self.path) if self._content is None else io.BytesIO(self._content) as stream:
            for _ in range(self._layout.skipped):
                stream.readline()
            yield stream

    @property
    def below_new(self) -> str:
        """The note on lines below the header of new rows that are left out, "" for none and for a training file."""
        left_out = self._layout.below and not self._layout.joined
        return self._layout.notes[-1].rpartition("; ")[0] if left_out and self._given.answers is None else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found about the file itself."""
        usual = "\t" if plain_name(self.path).lower().endswith((".tsv", ".tab")) else ","
        separator = self._layout.separator
        words = SEPARATOR_WORDS.get(separator, repr(separator))
        found = (*self._layout.notes, *(() if separator == usual else (f"columns are separated by {words}",)))
        if not self._layout.header:
            found = (*found, f"there is no header: the columns are named {self.names[0]} to {self.names[-1]}")
        found = (self._note, *found) if self._note else found
        if self.repeats:
            lines = "1 line repeats" if self.repeats == 1 else f"{self.repeats:,} lines repeat"
            found = (*found, f"left out: {lines} the header")
        found = (*found, self._end) if self._end else found
        return (*found, self.merged.note) if self.merged.note else found

    @property
    def has_header(self) -> bool:
        """Whether the file names its columns."""
        return self._layout.header

    def blocks(self, wanted: dict[str, str], most: int | None = None) -> Iterator[Block]:
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

    def picked(self, rows: NDArray[np.integer], most: int, each: Callable[[Block], None] | None = None) -> CsvFile:
        """The rows of these sorted numbers in memory, every cell as it stands."""
        import pyarrow as pa
        from pyarrow import csv as arrow

        batches = self._batches(dict.fromkeys(self.names, pa.string()), list(self.names), {})
        content = pa.BufferOutputStream()
        options = arrow.WriteOptions(delimiter=self.separator)
        arrow.write_csv(pa.Table.from_batches(_picked(batches, rows)), content, options)
        return CsvFile(self.path, content.getvalue().to_pybytes(), FileLayout(header=True), self.separator)

    @property
    def _first_words(self) -> str:
        return "header" if self._layout.header else "first line"

    def place(self, row: int) -> str:
        return f"line {self._line(row)}"

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        return DataError.at(self.path, None if row is None else self._line(row), reason, remedy)

    def _line(self, row: int) -> int | None:
        records = (line for line, cells in self._records() if cells)
        return next((line for place, line in enumerate(records) if place == row + int(self._layout.header)), None)

    def _batches(self, types: dict[str, Any], names: list[str], wanted: dict[str, str]) -> Iterator[Any]:
        """Batches of rows, parsed ahead in as many threads as pyarrow would use."""
        import pyarrow as pa

        workers, rows = min(pa.cpu_count(), MOST_WORKERS), b""
        self.merged = MergedLines(self.names, self.places, self.separator)
        texts = dict.fromkeys(self.names, pa.string())
        with self._opened() as stream, self._told(wanted), ThreadPoolExecutor(workers) as pool:
            waiting: deque[Future[Any]] = deque()
            try:
                for place, rows in enumerate(self._pieces(stream)):
                    self.merged.add(rows, partial(self._parsed, rows, place == 0, texts, list(self.names)))
                    waiting.append(pool.submit(self._parsed, rows, place == 0, types, names))
                    if len(waiting) > workers:
                        yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            finally:
                pool.shutdown(cancel_futures=True)
        if _quotes(rows) % 2:  # the last quote may never be closed: pyarrow does not mind
            deque(self._records(), maxlen=0)

    def _pieces(self, stream: BinaryIO) -> Iterator[bytes]:
        """The file in pieces of whole rows; lines that repeat the header are emptied and counted."""
        self.repeats, again = 0, re.compile(rb"^(?:%b)?%b(?=\r?$)" % (UTF8_MARK, re.escape(self._header)), re.MULTILINE)
        for place, (rows, last) in enumerate(_with_last(_whole_rows(stream))):
            rows = self._without_end(rows.rstrip(NO_TEXT)) if last else rows
            done = rows.find(LINE_END) + 1 if place == 0 else 0  # after the header itself
            if self._header and rows.find(self._header, done) >= 0:
                kept, quotes = [rows[:done]], 0
                for found in again.finditer(rows, done):
                    quotes += _quotes(rows[done : found.start()])
                    repeats = quotes % 2 == 0  # else the line stands in a cell in quotes
                    kept += [rows[done : found.start()], b"" if repeats else found[0]]
                    done, self.repeats = found.end(), self.repeats + repeats
                rows = b"".join([*kept, rows[done:]])
            yield rows

    def _without_end(self, rows: bytes) -> bytes:
        """The last rows, without the lines after them that hold remarks or totals, where the labels are known."""
        self._end, answers = "", self._given.answers
        if answers is None or not self._layout.header:
            return rows
        start = rows.rfind(LINE_END, 0, max(len(rows) - BLOCK_BYTES // END_SHARE, 0)) + 1
        lines = rows[start:].splitlines(keepends=True)
        texts = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines]
        places = [
            j for j, name in enumerate(self.names) if any(name == each or fnmatchcase(name, each) for each in answers)
        ]
        count = lines_after_rows(texts, len(self.names), self.separator, places)
        if not count or len(rows) == start + sum(map(len, lines[-count:])):
            return rows
        filled = [text.strip(f" {self.separator}") for text in texts[-count:] if text.strip(f" {self.separator}")]
        left, it = ("1 line", "it") if len(filled) == 1 else (f"{len(filled)} lines", "them")
        shown = f"{shorten(filled[0])}{', ...' if filled[1:] else ''}"
        self._end = f"left out: {left} after the last row ({shown}); move {it} above a row to keep {it}"
        return b"".join([rows[:start], *lines[:-count]])

    def _sample(self) -> tuple[Any, Any]:
        """The first batch of rows, its types inferred, and the same rows as text."""
        import pyarrow as pa

        names = list(self.names)
        with self._opened() as stream, self._told({}):
            for place, rows in enumerate(self._pieces(stream)):
                for batch in self._parsed(rows, place == 0, {}, names):
                    if batch.num_rows:
                        texts = self._parsed(rows, place == 0, dict.fromkeys(names, pa.string()), names)
                        return batch, texts[0]
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
            use_threads=False,
            block_size=len(rows) + 1,
            column_names=self.names,
            skip_rows_after_names=int(first and self._layout.header),
        )
        parse = arrow.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        convert = arrow.ConvertOptions(column_types=types, include_columns=names, null_values=MISSING)
        return arrow.read_csv(pa.BufferReader(rows), read, parse, convert).to_batches()

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Records by Python's csv module, with the line each begins on; slow, but it knows where it is."""
        before = self._layout.skipped
        with self._opened() as stream:
            records = csv.reader(_lines(stream, self.path, before + 1), delimiter=self.separator, strict=True)
            line, header = before + 1, None
            while True:
                try:
                    cells = next(records, None)
                except csv.Error as error:
                    remedy = "close every quote and write one row per line" + TEXT_QUOTES * (self.separator == "\t")
                    raise DataError.at(self.path, line, f"the row is not CSV ({error})", remedy) from error
                if cells is None:
                    return
                yield line, [] if self._header and cells == header else cells
                header = header or cells
                line = before + records.line_num + 1

    def _diagnosis(self, wanted: dict[str, str], error: Exception) -> DataError:
        """The first malformed row as an error, or pyarrow's words where every row looks well formed."""
        numbers = [(j, name) for j, name in enumerate(self.names) if wanted.get(name) == "number"]
        for line, cells in islice(self._records(), int(self._layout.header), None):
            if cells and len(cells) != len(self.names):
                reason = f"the row has {len(cells)} values, not the {len(self.names)} of the {self._first_words}"
                remedy = (
                    f"give every column one value, separated by {shorten(self.separator)}, and quote text that has one"
                )
                if len(cells) == 1 and len(self.names) > 2:
                    remedy = f"remove the line if it is a remark; otherwise {remedy}"
                elif len(self.names) == 1 and self._layout.header:
                    remedy = f"remove the lines above the names of the columns; if there are none, {remedy}"
                return DataError.at(self.path, line, reason, remedy)
            for j, name in numbers if cells else ():
                if not is_number(cells[j]) and cells[j].strip() not in (*MISSING, "true", "True", "false", "False"):
                    return DataError.at(
                        self.path, line, f"{shorten(cells[j])} in column {shorten(name)} is not a number", "correct it"
                    )
        reason = " ".join(str(error).split()).rstrip(".")
        return DataError.at(self.path, None, f"it cannot be read as CSV ({reason})", "check that it is CSV in UTF-8")


def _picked(
    batches: Iterable[Any], rows: NDArray[np.integer], each: Callable[[Block], None] | None = None
) -> Iterator[Any]:
    """The rows of these sorted numbers, as pyarrow's record batches."""
    before = 0
    for batch in batches:
        if each is not None:
            each(Block(batch))
        own = rows[np.searchsorted(rows, before) : np.searchsorted(rows, before + batch.num_rows)] - before
        if len(own):
            yield batch.take(own)
        before += batch.num_rows


class ParquetFile:
    """A Parquet file, a folder of them as one table, or ``rows`` of pyarrow in memory (`RowsInMemory`); index columns
    that pandas wrote are left out unless they are named for a purpose."""

    typed = True
    row_names: str | None = None

    def __init__(self, path: Path, rows: Any = None) -> None:
        self.path = path
        self._parts: Any = ParquetParts(path) if rows is None else rows  # or PickedRows
        schema = self._parts.schema
        self.names = _checked_names(tuple(schema.names), path, None)
        self.rows: int = self._parts.rows
        if self.rows == 0:
            raise DataError.at(path, None, "the table has no rows", "check that the file is complete")
        self.places = {name: sort_of(schema.field(name).type) for name in self.names}
        written = (schema.pandas_metadata or {}).get("index_columns", ())
        self.index = tuple(name for name in written if isinstance(name, str))
        self.size = max(8 * self.rows * len(self.names), self._parts.size)  # the larger where cells hold vectors

    def blocks(self, wanted: dict[str, str], most: int | None = None) -> Iterator[Block]:
        count, limit = self.rows, most_unpacked()
        if most is None and (size := 8 * count * len(wanted)) > limit:
            raise too_large(self.path, f"{count:,} rows of {len(wanted):,} columns", size, limit)
        values = BLOCK_VALUES if most is None else PART_VALUES
        rows = max(1, min(most or count, values // max(1, len(wanted))))
        for batch in self._parts.batches(list(wanted), rows):
            yield Block(batch)

    def pieces(self, most: int) -> Iterator[ParquetFile]:
        """The table in pieces of at most ``most`` rows, or of one row group, that can be read by themselves."""
        for parts in self._parts.pieces(most):
            piece = copy(self)
            piece._parts, piece.rows = parts, parts.rows
            yield piece

    def picked(self, rows: NDArray[np.integer], most: int, each: Callable[[Block], None] | None = None) -> ParquetFile:
        """The rows of these sorted numbers in memory; ``most`` rows of the files are read at a time."""
        import pyarrow as pa

        most = max(1, min(most, PART_VALUES // len(self.names)))
        batches = self._parts.batches(self.names, most)
        table = pa.Table.from_batches(_picked(batches, rows, each)).combine_chunks()
        piece = copy(self)
        piece._parts, piece.rows, piece.size = PickedRows(table, rows, self._parts), len(rows), table.nbytes
        return piece

    def place(self, row: int) -> str:
        path, place = self._parts.place(row)
        return f"row {place + 1}" + ("" if path == self.path else f" of {path.relative_to(self.path)}")

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        return DataError.at(self.path, None, reason if row is None else f"{self.place(row)}: {reason}", remedy)


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
    return "date" if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind) else "other"


def _whole_rows(stream: BinaryIO) -> Iterator[bytes]:
    """The file in pieces that end with a row: at a line end before which every quote is closed."""
    while block := stream.read(BLOCK_BYTES):
        lines = [block, stream.readline()]
        odd = sum(map(_quotes, lines)) % 2
        while odd and (line := stream.readline()):
            lines.append(line)
            odd = (odd + _quotes(line)) % 2
        yield b"".join(lines)


def _with_last(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The pieces of a file, each with whether it is the last; a short last one is joined to the one before, so that
    what is found at the end of a file does not depend on where its pieces end."""
    before = b""
    for piece in pieces:
        if before and len(piece) >= BLOCK_BYTES // END_SHARE:
            yield before, False
            before = b""
        before += piece
    if before:
        yield before, True


def _quotes(rows: bytes) -> int:
    return rows.count(b'"') if b'"' in rows else 0  # to search is ten times as fast as to count


def _place(column: Any) -> str:
    """What a CSV column holds, by its first block: "number", "date", "vector" (numbers in brackets) or "text"."""
    sort = sort_of(column.type)
    if sort == "text":
        first = next((cell.strip() for cell in column.to_pylist() if cell.strip()), "")
        return "vector" if first.startswith("[") and first.endswith("]") else "text"
    return "text" if sort == "other" else sort


def _lines(stream: BinaryIO, path: Path, first: int = 1) -> Iterator[str]:
    for number, raw in enumerate(stream, start=first):
        yield decode(raw.removeprefix(UTF8_MARK) if number == 1 else raw, path, number, OTHER_ENCODING)


def _names_rows(names: tuple[str, ...], rows: Sequence[Sequence[str]]) -> bool:
    """Whether each of the first rows begins with a name for which the header has no cell, as R's write.table writes."""
    longer = all(len(cells) == len(names) + 1 and cells[0].strip() for cells in rows)
    return longer and len({cells[0] for cells in rows}) == len(rows) and any(cells[-1].strip() for cells in rows)


def _row_name(names: tuple[str, ...]) -> str | None:
    """A name for a first column without one, as pandas gives it; None where the first column has a name."""
    if not names or names[0] or len(names) == 1:
        return None
    return next(name for j in count() if (name := "Unnamed: 0" + f".{j}" * (j > 0)) not in names)


def _with_end(names: tuple[str, ...], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The names of columns where separators end the header: without those for which no row has a cell, and named by
    their place where the first rows have empty ones, as a column between others that has no name is too."""
    widest = max(map(len, rows))
    while len(names) > max(widest, 1) and not names[-1]:
        names = names[:-1]
    end = len(names)
    while end > 1 and not names[end - 1] and not any(cell.strip() for row in rows for cell in row[end - 1 : end]):
        end -= 1
    between = {
        j for j, name in enumerate(names[:end]) if not name and not any("".join(row[j : j + 1]).strip() for row in rows)
    }
    return tuple(f"Unnamed: {j}" if j in between or j >= end else name for j, name in enumerate(names))


def _checked_names(names: tuple[str, ...], path: Path, line: int | None, numbers: bool = False) -> tuple[str, ...]:
    """The names of the columns, each its own; ``numbers``: all of them may be numbers."""
    if not names or not numbers and all(map(is_number, names)) and values_in_order(names) is None:
        found = "numbers stand where column names belong" if names else "there are no column names"
        remedy = "name the columns" + (" in that line, or say header=False if the file has no header" if line else "")
        raise DataError.at(path, line, found, remedy)
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if not name:
            raise DataError.at(path, line, f"column {place} has no name", "name it; only the first may have none")
        if name in seen:
            raise DataError.at(path, line, f"two columns are named {shorten(name)}", "give every column its own name")
        seen.add(name)
    return names


class PartsOfTable:
    """A table whose every reading goes on where the last one ended, with the next rows alone."""

    def __init__(self, file: TableFile, rows: int) -> None:
        self.path, self.names, self.typed, self.places = file.path, file.names, file.typed, file.places
        self.row_names = file.row_names
        self._file, self._most = file, rows
        self._blocks: Iterator[Block] | None = None
        self._next: Block | None = None
        self._before = self._taken = 0

    @property
    def ended(self) -> bool:
        """Whether all rows were read."""
        return self._blocks is not None and self._next is None

    def blocks(self, wanted: dict[str, str], most: int | None = None) -> Iterator[Block]:
        """The blocks of the next part."""
        if self._blocks is None:
            self._blocks = self._file.blocks(wanted, self._most)
            self._next = next(self._blocks, None)
        self._before, self._taken = self._before + self._taken, 0
        while self._next is not None and (not self._taken or self._taken + self._next.rows <= self._most):
            block, self._next = self._next, next(self._blocks, None)
            self._taken += block.rows
            yield block

    def place(self, row: int) -> str:
        return self._file.place(self._before + row)

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        return self._file.fault(None if row is None else self._before + row, reason, remedy)


class LeftOutLinesWarning(UserWarning):
    """Lines of types, units or questions below the header of a file of new rows are left out."""


TEXT_QUOTES = (
    "; if quotes are text, write it as Parquet, in pandas by read_csv(FILE, sep='\\t', quoting=3).to_parquet"
    "('table.parquet'), with header=None if it has no header"
)
