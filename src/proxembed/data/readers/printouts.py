"""Tables as programs print them: in a frame, with a rule below the header, types, and the number of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from proxembed.data.errors import DataError

FRAMED = " | "  # between cells of a table of Markdown, or as MySQL, psql, DuckDB and polars print it
PIPE = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"\s*(?:\+[-=:]+(?:\+[-=:]+)*\+|\|?[-=:]+(?:\+[-=:]+)+\|?)\s*")  # anywhere in such a table
HEADER_RULE = re.compile(rf"\s*\|?(?:\s*:?-{{2,}}:?\s*\|)*\s*:?-{{2,}}:?\s*\|?\s*|{RULE.pattern}")  # below the header
FRAMED_COUNT = re.compile(r"[\s|]*\(?\d[\d.,]* rows?\b[^|]*\|?\s*")
ROW_COUNT = re.compile(r"\s*\(\d[\d.,]* rows?(?: affected)?\)\s*")
LEFT_OUT = re.compile(r"[\s|]*(?:(?:\.{2,3}|\u2026|\u00b7)(?:[\s|]+|$)){2,}")  # a line in the place of rows
LINES = {
    "|": "\u2502\u2503\u2506\u2507\u250a\u250b\u254e\u254f\u2551",
    "-": "\u2500\u2501\u2504\u2505\u2508\u2509\u254c\u254d\u2550",
}
BOXES = {ord("|"): "\\|"} | {code: "+" for code in range(0x2500, 0x2580)}
BOXES |= {ord(mark): plain for plain, drawn in LINES.items() for mark in drawn}
TYPES = re.compile(  # of DuckDB and polars
    r"(?:varchar|(?:big|small|tiny|huge|u(?:big|small|tiny)?)?int(?:eger|8|16|32|64)?|[iuf](?:8|16|32|64)|double|float"
    r"|real|bool(?:ean)?|str|cat|enum|uuid|blob|json|time|date(?:time)?|timestamp|interval|decimal|list|struct)"
    r"(?:[(\[].*|\[\])?",
    re.IGNORECASE,
)


def draws_boxes(lines: Sequence[str]) -> bool:
    """Whether a frame is drawn with Unicode's lines and corners of boxes."""
    plain = [line.translate(BOXES) for line in lines]
    return plain != list(lines) and is_framed(plain) and not is_framed(lines)


def in_plain_marks(content: bytes) -> bytes:
    """A file with the lines and corners of boxes as |, - and +."""
    return content.decode("utf-8", "surrogateescape").translate(BOXES).encode("utf-8", "surrogateescape")


def is_framed(lines: Sequence[str]) -> bool:
    """Whether a rule, of as many parts of hyphens or equal signs, stands below or above cells between |."""
    pairs = zip(filter(str.strip, lines), islice(filter(str.strip, lines), 1, None), strict=False)
    return any(
        HEADER_RULE.fullmatch(rule) and "|" in cells and _parts_of(rule.replace("+", "|")) == _parts_of(cells)
        for pair in pairs
        for rule, cells in (pair, pair[::-1])
    )


def _parts_of(line: str) -> int:
    """The number of cells of a line of a table with a frame."""
    return len(PIPE.findall(line.strip().strip("|")))


def is_no_row(line: str, place: int, framed: bool) -> bool:
    """Whether a line of a printed table, below the header of place 0, is a rule or the number of rows."""
    if not framed:
        return ROW_COUNT.fullmatch(line) is not None
    rule = HEADER_RULE if place == 1 else RULE
    return rule.fullmatch(line.rstrip("\r\n")) is not None or FRAMED_COUNT.fullmatch(line) is not None


def are_hyphens(cells: Sequence[str]) -> bool:
    """Whether cells are a rule of hyphens, as sqlcmd prints below the header."""
    return all(cell and not cell.strip("-") for cell in cells) and any(len(cell) > 1 for cell in cells)


def are_types(cells: Sequence[str]) -> bool:
    """Whether all cells are types of DuckDB or polars."""
    return all(map(TYPES.fullmatch, cells))


def check_is_whole(path: Path, lines: Sequence[str]) -> None:
    """A DataError for a printed table that leaves out rows."""
    for line, text in enumerate(lines, 1):
        if LEFT_OUT.fullmatch(text):
            reason = "the line stands in the place of rows that the table leaves out, as programs print long tables"
            raise DataError.at(path, line, reason, "write the whole table as CSV or Parquet")
