"""How a file of text is laid out: its encoding, the lines before its header, its separator, and whether it has one."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, BinaryIO

from proxembed.data.errors import DataError, shorten
from proxembed.data.unpacking import most_unpacked, opened
from proxembed.tables.axis import axis_of
from proxembed.tables.cells import MISSING
from proxembed.tables.quantities import NUMBER, SIMPLE

BLOCK_BYTES = 1 << 21
SEPARATORS = ",;\t|"
UTF8_MARK, UTF16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
FALLBACKS = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # which no text has
SPECIAL, DOUBLE = re.compile(r'[",\r\n]'), '"'  # what a cell in quotes may hold, and what is doubled there
SEP_LINE = re.compile(r'"?sep=(\\t|\t|[!-/:-@\[-`{-~])"?', re.IGNORECASE)  # punctuation of ASCII, or a tab
SHOWN_LINES = 60  # of the beginning of a file, which show its layout
FEWEST_CELLS = 3  # of a table below a title
ORANGE_TYPES = frozenset("c continuous d discrete s string t time".split())
ORANGE_FLAGS = re.compile(r"(?:class|meta|ignore|weight|[cimw]|\w+=.*)?(?:\s+\w+=.*)?", re.DOTALL)
UNIT_PART = (  # of kg/m3: a prefix and a unit of physics, or a usual word or sign, with an exponent
    r"(?:(?:da|[pnu\u00b5\u03bcmcdhkMGT])?(?:g|m|s|l|L|A|K|V|W|J|Hz|Pa|Bq|Gy|Sv|mol|bar|eV|cal|Wh|VA|lx|lm)"
    r"|[pnu\u00b5\u03bcmckMG](?:N|F|M|S|T)|k?(?:ohm|\u03a9|\u2126)|pH|dB|N"
    r"|(?i:kg|mg|cm|mm|km|ml|min|hr?|hrs|hours?|d|days?|weeks?|months?|years?|yrs?|in|inch(?:es)?|ft|feet|yd|miles?|lbs?"
    r"|oz|mph|kph|knots?|rpm|psi|mmhg|atm|deg ?[CFK]?|rad|pp[mb]|px|pct|percent|usd|eur|gbp|chf|jpy)"
    r"|[%\u2030$\u20ac\u00a3\u00a5]|[\u00b0\u00ba] ?[CFK]?)(?:\^?[-\u2212]?\d|[\u207b\u00b9\u00b2\u00b3]+)?"
)
UNITS = rf"{UNIT_PART}(?:\s*[/*\u00b7. ]\s*{UNIT_PART})*"
UNIT = re.compile(rf"(?!n[a-z]$){UNITS}|\({UNITS}\)|\[{UNITS}\]")  # nd and nm may also say: not measured
SHOWN_CELLS = 4
FEWEST_BELOW = 2  # rows of numbers, and columns of them, below a line of units
FIELD = csv.field_size_limit()


@dataclass(frozen=True)
class FileLayout:
    """What the caller says of a file, beside its columns; None is what the file shows."""

    header: bool | None = None
    encoding: str | None = None
    sheet: str | None = None

    @classmethod
    def of(cls, given: Any) -> FileLayout:
        """That of `Columns`, or of the mapping that ``plain`` gave."""
        if isinstance(given, dict):
            return cls(**given)
        return cls(given.header, given.encoding, given.sheet)

    def plain(self) -> dict[str, Any]:
        """What is set, JSON-able."""
        return {name: value for name, value in vars(self).items() if value is not None}


FOUND = FileLayout()  # all of it


@dataclass(frozen=True)
class TextLayout:
    """Lines before the header (or, without one, before the rows), the separator, lines below the header that hold no
    values, notes, and whether the cells of the header stand again in the rows below, so that it is a row itself."""

    skipped: int
    separator: str
    header: bool = True
    notes: tuple[str, ...] = ()
    below: int = 0
    again: bool = False


def utf8_content(path: Path, encoding: str | None = None) -> tuple[bytes | None, str]:
    """A file in another encoding than UTF-8 as UTF-8, and a note; None, "" for UTF-8, and for what is no text.

    Without ``encoding``, UTF-16 is recognised by its first bytes, and Windows-1252, or else Latin-1, is what the first
    rows hold if they are text but not UTF-8.
    """
    if encoding is not None:
        return _decoded(path, encoding), f"the file is read as {encoding}"
    with opened(path) as stream:
        first = stream.read(BLOCK_BYTES)
        if first.startswith(UTF16):
            tried = {"utf-16": "UTF-16"}
        elif CONTROLS.search(first) or _is_utf8(first) and not _ends_by_return(first):
            return None, ""
        else:
            tried = {"utf-8-sig": ""} if _is_utf8(first) else FALLBACKS
        most = most_unpacked()
        content = first + stream.read(most + 1 - len(first))
    for name, words in tried.items() if len(content) <= most else ():
        try:
            text = content.decode(name)
        except UnicodeDecodeError:
            continue
        other = " (another encoding: encoding='...')" if name in FALLBACKS else ""
        text = text.replace("\r", "\n") if _ends_by_return(first) else text
        return text.encode(), f"the file is not UTF-8 and is read as {words}{other}" if words else ""
    if first.startswith(UTF16) and len(content) <= most:
        raise DataError.at(path, None, "it begins as UTF-16 and cannot be decoded", "write it as UTF-8")
    return None, ""


def _ends_by_return(first: bytes) -> bool:
    """Whether lines end by carriage returns alone, as old programs for the Mac write them."""
    return b"\r" in first and b"\n" not in first


def _is_utf8(first: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(path: Path, encoding: str) -> bytes:
    """The file in UTF-8, from an encoding that the caller named."""
    most, remedy = most_unpacked(), "name another one, such as encoding='cp1252' or encoding='utf-16'"
    with opened(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise DataError.at(path, None, "it is too large to be read in another encoding", "write it as UTF-8 first")
    try:
        return content.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError as error:
        raise DataError.at(path, None, f"encoding={encoding!r} is not the name of an encoding", remedy) from error
    except ValueError as error:
        line = content[: getattr(error, "start", 0)].count(b"\n") + 1
        raise DataError.at(path, line, f"the line is not text in the encoding {encoding}", remedy) from error


def first_lines(stream: BinaryIO) -> list[str]:
    """The first lines of a file of text in UTF-8, without their ends; bytes of another encoding are replaced."""
    lines: list[bytes] = []
    while len(lines) < SHOWN_LINES and sum(map(len, lines)) < BLOCK_BYTES and (line := stream.readline(BLOCK_BYTES)):
        lines.append(line)
    found = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines]
    return [found[0].removeprefix("\ufeff"), *found[1:]] if found else []


def text_layout(lines: Sequence[str], header: bool | None = None, separator: str = "") -> TextLayout:
    """The layout of a table whose first lines these are; ``separator`` is the known one.

    Before the header may stand a line ``sep=;``, comments that begin with #, and titles: lines of one cell, or of less
    than half as many cells as the header, above a header of at least three names. Empty lines count as titles. Below
    the header may stand types and flags, as Orange writes them, or units.
    """
    start = 0
    if lines and (told := SEP_LINE.fullmatch(lines[0].strip())):
        start, separator = 1, "\t" if told[1] == "\\t" else told[1]
    comments = _comments(lines, start)
    start += comments
    rest, known = lines[start:], bool(separator)
    separator = separator or most_frequent(rest)
    titles = next((j for j, line in enumerate(rest) if line.strip()), 0)
    if header is not False:
        titles = _titles([_cells(line, separator) for line in rest]) or titles
    if not (known or any(mark in _bare(line) for line in rest[titles : titles + 1] for mark in (separator, " "))):
        separator = ","  # rows of one cell, such as joined labels
    filled = sum(bool(line.strip(f" {separator}")) for line in rest[:titles])
    found = [_left_out(count, what) for count, what in ((comments, "comment"), (filled, "title")) if count]
    closed = takewhile(lambda line: line.count(DOUBLE) % 2 == 0, rest[titles:])
    names, *rows = [_cells(line, separator) for line in closed] or [[]]
    if header is False or not rows:
        return TextLayout(start + titles, separator, header is not False, tuple(found))
    below, note = _below(names, rows)
    return TextLayout(start + titles, separator, True, (*found, *note), below, _stand_again(names, rows[below:]))


def _left_out(count: int, what: str) -> str:
    lines = f"{count} {what} line" if count == 1 else f"{count} {what} lines"
    return f"{lines} before the header {'is' if count == 1 else 'are'} left out"


def _comments(lines: Sequence[str], start: int) -> int:
    """The number of lines with # at the start; the last of them may be the header itself."""
    end = start
    while end < len(lines) and (lines[end].startswith("#") or end > start and not lines[end].strip()):
        end += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start < end < len(lines):
        separator = most_frequent(lines[end:])
        last, *rows = (_cells(line, separator) for line in lines[end - 1 : end + 2])
        if len(last) == len(rows[0]) > 1 and not any(map(_is_number, last)):
            numbers = [any(map(_is_number, row)) for row in rows]
            end -= int(numbers[0] or not any(numbers))
    return end - start


def most_frequent(lines: Sequence[str]) -> str:
    """The separator of the first line, if as many stand in most of the others; else that which occurs as often in most
    lines, blanks where every line has as many cells between blanks, or a comma."""
    text = "\n".join(lines)
    outside = _bare(text).split("\n") if text.count('"') % 2 == 0 else list(map(_bare, lines))
    filled = [line for line in outside if line.strip()]
    usual = {each: _usual_count(each, filled) for each in SEPARATORS}
    best = max(usual, key=lambda each: usual[each][::-1])
    first = max(SEPARATORS, key=filled[0].count) if filled else best
    own = filled[0].count(first) if filled else 0
    if own and (len(filled) == 1 or usual[first][0] == own or usual[first][0] == own + 1 and first == best):
        return first
    if usual[best][0] and 2 * usual[best][1] > len(filled):
        return best
    return " " if are_blank_separated(lines) else first


def _usual_count(separator: str, lines: Sequence[str]) -> tuple[int, int]:
    """How often a separator stands in most lines, where it stands in any, and in how many."""
    counts = Counter(count for line in lines if (count := line.count(separator)))
    return max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))


def are_blank_separated(lines: Sequence[str]) -> bool:
    """Whether lines hold as many cells between blanks, two or more and numbers among them, as R and NumPy write them;
    the first may lack one."""
    counts = [len(blank_cells(line)) for line in lines if line.strip()]
    if len(counts) < 2 or counts[-1] < 2 or len(set(counts[1:])) > 1 or counts[0] not in (counts[1], counts[1] - 1):
        return False
    return any(_is_number(cell) for cell in blank_cells(next(line for line in reversed(lines) if line.strip())))


def blank_cells(line: str) -> list[str]:
    """The cells of a line between blanks, quoted ones as one."""
    return _cells(line, " ") if '"' in line else line.split()


def _bare(line: str) -> str:
    return "".join(line.split('"')[::2])


def _cells(line: str, separator: str) -> list[str]:
    """The cells of a line; none of one that is too long for the csv module."""
    if separator == " ":
        line = " ".join(line.split())
    found = next(csv.reader([line.replace("\r", " ")], delimiter=separator), []) if len(line) < FIELD else []
    return [cell.strip() for cell in found]


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """The number of lines above the header; 0 where the first line may be it."""
    widths = Counter(len(cells) for cells in rows if cells)
    width = max(widths, key=lambda each: (widths[each], each), default=0)
    if width < FEWEST_CELLS:
        return 0
    for place, cells in enumerate(rows):
        names = list(cells)
        while names and not names[-1]:  # separators at the end of the line
            names.pop()
        if len(names) in (width, width - 1) and 2 * sum(map(bool, names)) > width:
            return place if _are_names(names, rows[place + 1 :]) else 0
        if 2 * sum(map(bool, names)) >= width:
            return 0
    return 0


def _below(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[int, tuple[str, ...]]:
    """The number of rows below a header that hold no values, with a note."""
    if not 1 < len(rows[0]) == len(names) or rows[0] == names:
        return 0, ()
    rows = [row for row in rows if row != names]  # which joined files repeat
    if _are_types(rows[0]) and _is_new(rows[0], rows[1:]):
        flags = len(rows) > 1 and all(map(ORANGE_FLAGS.fullmatch, rows[1])) and _is_new(rows[1], rows[2:])
        found, what = rows[: 1 + flags], "types"
    elif _are_units(rows[0], rows[1:]):
        found, what = rows[:1], "units"
    else:
        return 0, ()
    cells = list(dict.fromkeys(filter(None, chain(*found))))
    shown = ", ".join(map(shorten, cells[:SHOWN_CELLS])) + (", ..." if len(cells) > SHOWN_CELLS else "")
    lines = "1 line" if len(found) == 1 else f"{len(found)} lines"
    return len(found), (f"left out: {lines} of {what} below the header ({shown})",)


def _are_types(cells: Sequence[str]) -> bool:
    """Whether cells are the types of Orange, in some columns the values of a category, such as ``no yes``."""
    filled = [cell.casefold() for cell in cells if cell]
    types = sum(cell in ORANGE_TYPES for cell in filled)
    return 2 * types > len(filled) and all(cell in ORANGE_TYPES or re.search(r"\s", cell) for cell in filled)


def _is_new(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether no cell stands in its column again, as categories do."""
    return not any(cell and cell == row[j] for row in rows for j, cell in enumerate(cells) if j < len(row))


def _are_units(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a line holds the usual names of units above most of the columns of numbers, two or more, and nothing
    above the others; single capitals alone may be marks, such as A for absent."""
    full = [row for row in rows if len(row) == len(cells)]
    numbers = [j for j in range(len(cells)) if _holds_numbers([row[j] for row in full])]
    told = [cells[j] for j in numbers if cells[j] not in (*MISSING, "-")]
    if len(full) < FEWEST_BELOW or len(numbers) < FEWEST_BELOW or 2 * len(told) <= len(numbers):
        return False
    others = [cell for j, cell in enumerate(cells) if j not in numbers]
    marks = all(len(cell) == 1 and cell.isupper() for cell in told)
    return all(map(UNIT.fullmatch, told)) and not marks and set(others) <= {"", "-"} and _is_new(cells, full)


def _holds_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell not in MISSING]
    return len(filled) >= FEWEST_BELOW and all(map(_is_bare, filled))


def _is_bare(cell: str) -> bool:
    """Whether a cell is a number without a unit, with a decimal point or comma."""
    return any(form.fullmatch(cell) for form in SIMPLE.values())


def _are_names(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether cells are all filled, differ from each other and from the cells below, and are not mostly numbers."""
    numbers = [cell for cell in cells if _is_number(cell)]
    if not all(cells[1:]) or len(set(cells)) < len(cells) or not set(cells).isdisjoint(chain(*rows)):
        return False
    return 2 * len(numbers) < len(cells) or _rise(numbers)


def _rise(numbers: Sequence[str]) -> bool:
    """Whether numbers are whole and rise, as years do, or are an axis."""
    whole = len(numbers) > 1 and all(map(str.isdigit, numbers))
    return whole and sorted(set(map(int, numbers))) == list(map(int, numbers)) or axis_of(numbers) is not None


def looks_like_a_row(names: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a first line is a row of data: half of its cells or more are numbers, neither an axis nor rising whole
    numbers such as years, and so are the cells of the row below them."""
    places = [j for j, name in enumerate(names) if _is_number(name)]
    told = [names[j].strip() for j in places]
    if not places or 2 * len(places) < len(names) or _rise(told):
        return False
    return len(row) == len(names) and all(_is_number(row[j]) or not row[j].strip() for j in places)


def _stand_again(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the cells of a first line stand below as those of a row do: two texts among other texts of their
    columns, or one beside a number above numbers."""
    below = list(zip(*(row for row in rows if len(row) == len(names) and list(row) != list(names)), strict=True))
    texts = [j for j, name in enumerate(names) if name not in MISSING and not _is_number(name)] if below else []
    again = sum(names[j] in below[j] and len({names[j], "", *below[j]}) > 2 for j in texts)
    numbers = bool(below) and any(_is_number(name) and _holds_numbers(below[j]) for j, name in enumerate(names))
    return again + numbers > 1 and again > 0


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text.strip()) is not None


def rows_between_blanks(lines: Iterable[str]) -> bytes:
    """Lines whose cells are separated by blanks as CSV, line by line."""
    return "".join(map(csv_line, map(blank_cells, lines))).encode()


def csv_line(cells: Sequence[str]) -> str:
    """A line of CSV for `CsvFile`, in which formulas need no guard: no spreadsheet reads it."""
    return ",".join(f'"{cell.replace(DOUBLE, 2 * DOUBLE)}"' if SPECIAL.search(cell) else cell for cell in cells) + "\n"


def headerless_names(width: int) -> tuple[str, ...]:
    """The names of the columns of a file without a header."""
    return tuple(f"column_{j + 1}" for j in range(width))


def first_row_question(path: Path, line: int, names: Sequence[str]) -> DataError:
    """What to ask about a first line that looks like a row."""
    shown = ", ".join(map(shorten, names[:4]))
    more = ", ..." if len(names) > 4 else ""
    reason = f"the first line ({shown}{more}) looks like a row and not like column names"
    remedy = "say header=False if the file has no header, or header=True if these are names"
    return DataError.at(path, line, reason, remedy)
