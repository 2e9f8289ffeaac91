"""Data section of an ARFF file, dense or sparse, read in blocks of lines.

A block is first parsed in bulk; where that meets anything but plain values of the right count (quotes, `?`, text values
in sparse rows, a mistake), the same block is parsed line by line, which gives the same values or names the line and
the reason.
Values are numbers; text values are their positions in the declaration; `?` is NaN.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.errors import DataError, shorten
from proxembed.data.readers.arff_header import QUOTED, Attribute, Header, decode, tokens, unquote
from proxembed.tables.quantities import NUMBER

BLOCK_BYTES = 1 << 22
NUMBER_BYTES = NUMBER.pattern.encode()
PLAIN_ROW = re.compile(rb"\{\s*+(?:\d++\s++(?:%b)\s*+(?:,\s*+\d++\s++(?:%b)\s*+)*+)?\}" % (NUMBER_BYTES, NUMBER_BYTES))
ENTRY = re.compile(rf"\s*(\d+)\s+({QUOTED}|[^,\s][^,]*)\s*(,|$)", re.ASCII | re.DOTALL)
DIGITS = b"0123456789"
SHORT = 9  # digits of a whole number that int32 holds
LINE_END = ord("\n")
SPACED = bytes.maketrans(b"{},", b"   ")
Entries = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]  # entries per row, columns, values


def read_rows(stream: BinaryIO, header: Header, path: Path) -> tuple[Any, NDArray[np.intp]]:
    """All rows as numbers over all attributes, and the line of the file each row stands on."""
    blocks: list[Any] = []
    numbered: list[NDArray[np.intp]] = []
    parse: type[_SparseRows] | type[_DenseRows] | None = None
    width = len(header.attributes)
    for rows, numbers in _blocks(stream, header.lines):
        if parse is None:
            parse = _SparseRows if rows[0].startswith(b"{") else _DenseRows
        block = parse(rows, numbers, header.attributes, path)
        blocks.append(block.plain() or block.exact())
        numbered.append(numbers)
    if parse is None:
        raise DataError.at(path, None, "there are no rows after @data", "check that the file is complete")
    lines = np.concatenate(numbered)
    if parse is _DenseRows:
        return np.concatenate([block[0] for block in blocks]), lines
    counts, columns, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((values, columns, indptr), shape=(len(lines), width)), lines


def _blocks(stream: BinaryIO, first: int) -> Iterator[tuple[list[bytes], NDArray[np.intp]]]:
    while text := stream.read(BLOCK_BYTES):
        block = (text + stream.readline()).removesuffix(b"\n").split(b"\n")
        rows = list(map(bytes.strip, block))
        keep = [i for i, row in enumerate(rows) if row and not row.startswith(b"%")]
        if keep:
            yield [rows[i] for i in keep], np.array(keep) + first + 1
        first += len(block)


class _Rows:
    """A block of rows with what both layouts share: declared values, and the code of one token."""

    def __init__(self, rows: list[bytes], lines: NDArray[np.intp], attributes: Sequence[Attribute], path: Path):
        self.rows, self.lines, self.attributes, self.path = rows, lines, attributes, path

    def fault(self, row: int, reason: str, remedy: str) -> DataError:
        return DataError.at(self.path, int(self.lines[row]), reason, remedy)

    def declared(self) -> dict[tuple[float, ...], list[int]]:
        """Columns with declared numbers, grouped by these numbers."""
        groups: dict[tuple[float, ...], list[int]] = {}
        for j, attribute in enumerate(self.attributes):
            if attribute.numbers is not None:
                groups.setdefault(tuple(sorted(attribute.numbers.tolist())), []).append(j)
        return groups

    def code(self, row: int, column: int, token: str) -> float:
        """Number of one token; NaN for `?`."""
        attribute = self.attributes[column]
        if token == "?":
            return np.nan
        text = unquote(token)
        if attribute.values is not None and text in attribute.values:
            place = attribute.values.index(text)
            numbers: Any = attribute.numbers
            return float(place if attribute.text else numbers[place])
        what = f"{shorten(text)} in column {column + 1} ({shorten(attribute.name)})"
        if not attribute.text and NUMBER.fullmatch(text):
            number = float(text)
            if not np.isfinite(number):
                raise self.fault(row, f"{what} is too large for a number", "correct the value")
            if attribute.numbers is None or number in attribute.numbers:
                return number
        if attribute.values is None:
            raise self.fault(row, f"{what} is not a number", "correct the value")
        raise self.fault(
            row, f"{what} is not one of the declared values", "correct the value or add it to the @attribute line"
        )


class _DenseRows(_Rows):
    """Rows of comma-separated values, one for every attribute."""

    def plain(self) -> tuple[NDArray[np.float64]] | None:
        text = b"\n".join(self.rows)
        places = {
            j: {value: place for place, value in enumerate(attribute.values or ()) if value != "?"}
            for j, attribute in enumerate(self.attributes)
            if attribute.text
        }
        if places and (b"'" in text or b'"' in text):
            return None
        converters = {j: lambda cell, place=place: place[cell.strip()] for j, place in places.items()}
        block = _numbers(text, len(self.rows), len(self.attributes), converters)
        if block is None:
            return None
        fits = all(np.isin(block[:, group], numbers).all() for numbers, group in self.declared().items())
        return (block,) if fits else None

    def exact(self) -> tuple[NDArray[np.float64]]:
        width, table = len(self.attributes), []
        for i, row in enumerate(self.rows):
            cells = tokens(decode(row, self.path, int(self.lines[i])))
            if row.startswith(b"{"):
                raise self.fault(i, "a sparse row stands among dense rows", "write all rows in one layout")
            if len(cells) != width:
                raise self.fault(
                    i,
                    f"the row has {len(cells)} values, but {width} attributes are declared",
                    "give every attribute one value, with commas between",
                )
            table.append(cells)
        columns = [self._column(j, cells) for j, cells in enumerate(zip(*table, strict=True))]
        return (np.stack(columns, axis=1),)

    def _column(self, j: int, cells: tuple[str, ...]) -> NDArray[np.float64]:
        attribute = self.attributes[j]
        if attribute.values is None:
            numbers = _numbers("\n".join(cells).encode(), len(cells), 1)
            if numbers is not None:
                return numbers[:, 0]
        codes: dict[str, float] = {}
        for i, cell in enumerate(cells):
            if cell not in codes:
                codes[cell] = self.code(i, j, cell)
        return np.array([codes[cell] for cell in cells])


class _SparseRows(_Rows):
    """Rows of `{column value, column value, ...}`; columns count from 0 and what is left out is 0."""

    def plain(self) -> Entries | None:
        if any(attribute.text for attribute in self.attributes):
            return None
        entries = self._whole_numbers() or self._any_numbers()
        if entries is None:
            return None
        counts, columns, values = entries
        starts = np.repeat(np.arange(len(counts)), counts)
        rising = (np.diff(columns) > 0) | (np.diff(starts) > 0)
        if not rising.all() or (columns >= len(self.attributes)).any():
            return None
        return entries if np.isfinite(values).all() and self._fits(columns, values) else None

    def _whole_numbers(self) -> Entries | None:
        """Entries of rows whose values are short whole numbers, the common case, by their bytes; None for others."""
        text = b"\n".join(self.rows)
        around = text.translate(None, DIGITS).split(b"\n")  # of every row what stands around its numbers
        if any(shape != b"{" + b" ," * (len(shape) // 2 - 1) + b" " * (len(shape) > 2) + b"}" for shape in set(around)):
            return None
        if not text.startswith(b"{") or not text.endswith(b"}"):
            return None
        counts = (np.fromiter(map(len, around), np.intp, len(around)) - 1) // 2
        codes = np.frombuffer(text, dtype=np.uint8)
        digits = codes - np.uint8(ord("0"))  # wraps: what is no digit is above 9
        edges = np.flatnonzero(np.diff(digits <= 9)) + 1
        first, last, length = edges[0::2], edges[1::2], edges[1::2] - edges[0::2]
        before, after = codes[first - 1], codes[last]
        outside = (before == LINE_END) | (after == LINE_END) | ((before == ord("{")) & (after == ord("}")))
        if len(first) != 2 * counts.sum() or outside.any():  # else every place for a number holds one
            return None
        longest = int(length.max(initial=0))
        if longest > SHORT:
            return None
        numbers = digits[first].astype(np.int32)
        for place in range(1, longest):
            longer = np.flatnonzero(length > place)
            numbers[longer] = 10 * numbers[longer] + digits[first[longer] + place]
        return counts, numbers[0::2].astype(np.intp), numbers[1::2].astype(np.float64)

    def _any_numbers(self) -> Entries | None:
        """Entries of rows of any numbers, told by a regular expression; None where something else stands there."""
        if not all(map(PLAIN_ROW.fullmatch, self.rows)):
            return None
        counts = np.array([row.count(b",") + (len(row) > 2 and not row[1:-1].isspace()) for row in self.rows], np.intp)
        total = int(counts.sum())
        flat = np.fromstring(b" ".join(self.rows).translate(SPACED), sep=" ") if total else np.zeros(0)
        if len(flat) != 2 * total or (flat[0::2] >= len(self.attributes)).any():
            return None
        return counts, flat[0::2].astype(np.intp), flat[1::2]

    def _fits(self, columns: NDArray[np.intp], values: NDArray[np.float64]) -> bool:
        group_of = np.full(len(self.attributes), -1)
        groups = self.declared()
        for number, group in enumerate(groups.values()):
            group_of[group] = number
        groups_here = group_of[columns]
        return all(np.isin(values[groups_here == g], numbers).all() for g, numbers in enumerate(groups))

    def exact(self) -> Entries:
        counts: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for i, row in enumerate(self.rows):
            entries = self._entries(i, decode(row, self.path, int(self.lines[i])))
            counts.append(len(entries))
            columns.extend(column for column, _ in entries)
            values.extend(value for _, value in entries)
        return np.array(counts, np.intp), np.array(columns, np.intp), np.array(values, np.float64)

    def _entries(self, i: int, row: str) -> list[tuple[int, float]]:
        if not row.startswith("{"):
            raise self.fault(i, "a dense row stands among sparse rows", "write all rows in one layout")
        if not row.endswith("}"):
            raise self.fault(i, "the closing brace of the sparse row is missing", "end the row with }")
        text, width = row[1:-1].strip(), len(self.attributes)
        entries: list[tuple[int, float]] = []
        position, more = 0, bool(text)
        while more:
            match = ENTRY.match(text, position)
            if match is None:
                raise self.fault(
                    i,
                    f"{shorten(text[position:].strip())} is not a column number and a value",
                    "write {column value,column value,...}",
                )
            column = int(match[1]) if len(match[1]) < 19 else width
            last = entries[-1][0] if entries else -1
            if column >= width:
                raise self.fault(
                    i,
                    f"column number {shorten(match[1])} is out of range",
                    f"number the {width} attributes from 0 to {width - 1}",
                )
            if column <= last:
                fault = "is given twice" if column == last else f"stands after column {last}"
                raise self.fault(i, f"column {column} {fault}", "give every column once, in rising order")
            entries.append((column, self.code(i, column, match[2].strip())))
            position, more = match.end(), bool(match[3])
        return entries


def _numbers(text: bytes, rows: int, width: int, converters: Any = None) -> NDArray[np.float64] | None:
    """Finite numbers of comma-separated lines as a matrix, or None where they are anything else."""
    lines = text.decode("ascii").split("\n") if text.isascii() else []
    if not lines or not all(map(str.strip, lines)):
        return None
    try:
        block = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2, converters=converters)
    except ValueError:
        return None
    return block if block.shape == (rows, width) and np.isfinite(block).all() else None
