"""A sheet of an Excel workbook as CSV."""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from functools import reduce
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from proxembed.data.errors import DataError
from proxembed.data.readers.text_layout import csv_line
from proxembed.data.unpacking import most_unpacked, opened, too_large
from proxembed.tables.notes import shorten

SUFFIXES = (".xlsx", ".xlsm")
ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")  # which formulas give
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    NotImplementedError,
)
MERGED = re.compile(rb'<(?:\w{1,20}:)?mergeCell ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
XML_BYTES, MERGED_BYTES = 1 << 20, 80  # read at a time, and the most that a match takes
MOST_ROWS = 1 << 20  # of a sheet of Excel
FEWER = "save the sheet as CSV or Parquet, or give fewer rows"


def sheet_as_csv(path: Path, sheet: str | None = None) -> tuple[bytes, str]:
    """The cells of a sheet as CSV, a line for each row, and a note on the others; without ``sheet``, the visible one
    that is the first with two rows of two cells. Formulas count as the values that the workbook holds for them."""
    with _workbook(path) as book:
        sheets = {each.title: each for each in book.worksheets}
        shown = ", ".join(map(shorten, sheets))
        if sheet is not None:
            if sheet not in sheets:
                raise DataError.at(path, None, f"it has no sheet {shorten(sheet)}", f"its sheets are {shown}")
            return _content(_rows(sheets[sheet], path)), ""
        for name, each in sheets.items():
            rows = _rows(each, path) if each.sheet_state == "visible" else []
            if sum(sum(map(bool, row)) > 1 for row in rows) > 1:
                others = ", ".join(f"sheet={other!r}" for other in sheets if other != name)
                return _content(rows), f"sheet {name!r} is read; others: {others}" if others else ""
    raise DataError.at(path, None, f"no visible sheet of {shown} holds a table", "name one with sheet=")


@contextmanager
def _workbook(path: Path) -> Iterator[Any]:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        remedy = "install it (pip install 'proxembed[excel]'), or save the sheet as CSV"
        raise DataError.at(path, None, "Excel files need openpyxl, which is not installed", remedy) from error
    with opened(path) as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                size = sum(member.file_size for member in archive.infolist())
            if size > most_unpacked():
                raise too_large(path, "its sheets", size, most_unpacked(), FEWER)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of styles and extensions that are not cells
                book = load_workbook(stream, read_only=True, data_only=True)
                try:
                    yield book
                finally:
                    book.close()
        except DataError:
            raise
        except DAMAGED as error:
            reason = f"it cannot be read as an Excel workbook ({shorten(str(error), 120)})"
            remedy = "save it again as .xlsx, without a password, or name it .csv if it is a table of text"
            raise DataError.at(path, None, reason, remedy) from error


def _merged(sheet: Any) -> Iterator[tuple[int, int, int]]:
    """Cells of one column that are merged: the column, and the first and last row, counted from 0."""
    content = b""
    with sheet.parent._archive.open(sheet._worksheet_path) as stream:
        while block := stream.read(XML_BYTES):
            content, end = content + block, 0
            for found in MERGED.finditer(content):
                (first, top, last, bottom), end = found.groups(), found.end()
                if first == last:
                    column = reduce(lambda place, letter: 26 * place + letter - 64, first, 0) - 1
                    yield column, int(top) - 1, int(bottom) - 1
            content = content[max(end, len(content) - MERGED_BYTES) :]


def _rows(sheet: Any, path: Path) -> list[list[str]]:
    """The cells as text, without the empty rows after the last one; of merged cells below each other, each holds what
    the first one does."""
    sheet.reset_dimensions()  # those that it states may be wrong
    rows: list[list[str]] = []
    most, size = most_unpacked(), 0
    for row in sheet.iter_rows(values_only=True):
        cells = list(map(_text, row))
        while cells and not cells[-1]:  # formats alone may make a row thousands of cells long
            cells.pop()
        rows.append(cells.copy())
        if len(rows) > MOST_ROWS:
            reason = f"sheet {shorten(sheet.title)} has more than {MOST_ROWS:,} rows, the most of an Excel sheet"
            raise DataError.at(path, None, reason, "save it with Excel again, or write the table as CSV or Parquet")
        size += 64 + 9 * len(cells) + sum(map(len, cells))  # of empty rows, too
        if size > most:
            raise too_large(path, f"sheet {shorten(sheet.title)}", size, most, FEWER)
    for column, top, bottom in _merged(sheet):
        if top >= len(rows) or column >= len(rows[top]) or not (text := rows[top][column]):
            continue  # beside the table, or empty
        for row in rows[top + 1 : bottom + 1]:
            missing = max(column + 1 - len(row), 0)
            size += 9 * missing + len(text)
            if size > most:
                raise too_large(path, f"sheet {shorten(sheet.title)}", size, most, FEWER)
            row += [""] * missing
            row[column] = text
    while rows and not any(rows[-1]):
        rows.pop()
    return rows


def _text(cell: Any) -> str:
    if cell is None or isinstance(cell, str) and cell.strip() in ERRORS:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ", "seconds")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds() / 3600)
    return " ".join(cell.splitlines()) if isinstance(cell, str) else repr(cell)


def _content(rows: Sequence[Sequence[str]]) -> bytes:
    """Rows of equal length, without the columns that are empty in all of them."""
    filled = sorted({j for row in rows for j, cell in enumerate(row) if cell.strip()})
    return "".join(map(csv_line, _chosen(rows, filled))).encode()


def _chosen(rows: Iterable[Sequence[str]], columns: Sequence[int]) -> Iterator[list[str]]:
    for row in rows:
        yield [row[j] if j < len(row) else "" for j in columns] if any(row) else []
