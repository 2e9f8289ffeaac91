"""Lines of a delimited file that a stray quote merges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proxembed.data.readers.columns import is_number
from proxembed.tables.cells import MISSING
from proxembed.tables.notes import shorten

BARE = ("\t", "|")  # separators that hardly stand in a text


class MergedLinesWarning(UserWarning):
    """A quote in a delimited file of new rows merges lines, so that rows are missing."""


class MergedLines:
    """Counts quoted cells that hold whole lines of their table: as many separators before and after each line end as
    the rows have, with values of the columns between them. A text of several lines does not."""

    def __init__(self, names: Sequence[str], places: dict[str, str], separator: str) -> None:
        self._names, self._places, self._separator = names, places, separator
        self._read = self._rows = self._lines = 0
        self._first = ""

    def add(self, rows: bytes, parsed: Callable[[], list[Any]]) -> None:
        """Look at some rows of the file; ``parsed`` gives them as pyarrow's batches of text."""
        before, self._read = self._read, self._read + rows.count(b"\n")
        if len(self._names) == 1 or not any(b"\n" in part for part in rows.split(b'"')[1::2]):
            return
        for batch in parsed():
            for place, name, cell in _several_lines(batch):
                if self._is_merged(batch, place, cell):
                    self._rows += 1
                    self._lines += cell.count("\n") + 1
                    self._first = self._first or self._place(rows, before, name, cell)

    @property
    def note(self) -> str:
        """A note on the merged lines, "" for none."""
        if not self._rows:
            return ""
        return (
            f"{self._lines:,} lines are read as {self._rows:,} row{'s' * (self._rows != 1)}, because a quote at the "
            f"start of a cell ends some lines further down, first in {self._first}; double the quotes that are part of "
            "a cell and put the cell in quotes, or remove them"
        )

    def _is_merged(self, batch: Any, place: int, cell: str) -> bool:
        last = len(self._names) - 1
        parts = [line.split(self._separator) for line in cell.split("\n")]
        if [len(part) for part in parts] != [last - place + 1, *[last + 1] * (len(parts) - 2), place + 1]:
            return False
        values = [*enumerate(parts[0][1:], start=place + 1), *enumerate(parts[-1][:-1])]
        values += [pair for part in parts[1:-1] for pair in enumerate(part)]
        numbers = [value.strip() for j, value in values if self._places[self._names[j]] == "number"]
        if not all(is_number(value) or value in MISSING for value in numbers):
            return False
        known = {j: set(batch.column(j).to_pylist()) for j in {j for j, _ in values}} if not numbers else {}
        return self._separator in BARE or bool(numbers) or any(value in known[j] for j, value in values)

    def _place(self, rows: bytes, before: int, name: str, cell: str) -> str:
        end = b"\n"
        start = rows.find(b'"' + cell.partition("\n")[0].encode())
        column = f"column {shorten(name)}"
        return column if start < 0 else f"line {before + rows[:start].count(end) + 1:,}, {column}"


def _several_lines(batch: Any) -> list[tuple[int, str, str]]:
    """The cells with a line end: place and name of the column, and the text."""
    import pyarrow.compute as pc

    return [
        (place, name, cell.replace("\r\n", "\n"))
        for place, name in enumerate(batch.schema.names)
        for cell in batch.column(place).filter(pc.match_substring(batch.column(place), "\n")).to_pylist()
    ]
