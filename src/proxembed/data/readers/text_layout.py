"""How a file of text is laid out: its encoding, the lines before its header, its separator, and whether it has one."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, BinaryIO

from proxembed.data.errors import DataError
from proxembed.data.readers.printouts import (
    FRAMED,
    HEADER_RULE,
    PIPE,
    ROW_COUNT,
    are_hyphens,
    are_types,
    is_framed,
    is_no_row,
)
from proxembed.data.unpacking import most_unpacked, opened
from proxembed.tables.axis import values_in_order
from proxembed.tables.cells import MISSING
from proxembed.tables.dates import date_style
from proxembed.tables.notes import shorten
from proxembed.tables.quantities import GROUPED, NUMBER, SIMPLE

BLOCK_BYTES = 1 << 21
SEPARATORS = ",;\t|"
RARE = "^~\x01\x1e\x1f"  # which separate cells where nothing else does, as Hive and mainframes write them
UTF8_MARK, UTF16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
FALLBACKS = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
OTHERS = {  # Latin-1 fits all bytes; those that Windows-1252 lacks are no letters in it
    "cp1252": "another encoding: encoding='...'",
    "latin-1": "probably another encoding, such as encoding='cp850' or encoding='shift-jis'",
}
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # which no text has
SPECIAL, DOUBLE = re.compile(r'[",;\t|\r\n]'), '"'  # what a cell in quotes may hold, and what is doubled there
SEP_LINE = re.compile(r'"?sep=(\\t|\t|[!-/:-@\[-`{-~])"?', re.IGNORECASE)  # punctuation of ASCII, or a tab
SHOWN_LINES = 60  # of the beginning of a file, which show its layout
FEWEST_CELLS = 3  # of a table below a title
ORANGE_TYPES = frozenset("c continuous d discrete s string t time".split())
ORANGE_FLAGS = re.compile(r"(?:class|meta|ignore|weight|[cimw]|\w+=.*)?(?:\s+\w+=.*)?", re.DOTALL)
BARE = re.compile("|".join(form.pattern for form in SIMPLE.values()), re.ASCII)  # a number with a point or comma
IMPORT_ID = re.compile(r'\{\s*"ImportId"\s*:.*\}', re.DOTALL)  # as Qualtrics writes below its questions
SERIES, GCT = re.compile(r'"?!(?:Series|Sample|series_matrix)_'), re.compile(r"#1\.[23]")  # first lines of gene tables
ANSWER = re.compile(r"(?:open-ended )?response", re.IGNORECASE)
CODE = re.compile(r"[^\W\d_]{1,4}_?\d\w*(?:[.\[]\S*)?")  # of a question, such as Q1, Q1_2, v_12 or G01Q02[SQ001]
FIELDS = frozenset("submitdate lastpage startlanguage startdate datestamp".split())  # of LimeSurvey, beside codes
REMARK_WORDS = (
    r"(?:quellen?|sources?|not(?:es?|a)|anmerkung(?:en)?|hinweise?|bemerkung(?:en)?|remarks?|footnotes?|stand|as of"
    r"|fuente|legende?|erstellt|export(?:ed|iert)?|generated|created|printed|disclaimer|copyright|end of)"
)
REMARK = re.compile(rf"{REMARK_WORDS}\s*:|(?:stand|as of) \d|\(c\)|\u00a9|\(\d[\d,.]* rows?\b", re.IGNORECASE)
BELOW_BLANK = re.compile(rf"(?:{REMARK_WORDS}\b|[*\u00b9\u00b2\u00b3]).* ", re.IGNORECASE)  # remarks there alone
TOTALS = frozenset(  # the first word of a last row that is not a row
    "total totals subtotal sum sums all mean average summe gesamt gesamtsumme insgesamt mittelwert durchschnitt somme"
    " ensemble moyenne totale media suma totaal sd std stdev median min max minimum maximum".split()
)
ALIGNED = "  "  # two blanks or more between cells that may hold single ones
REWRITTEN = (" ", ALIGNED, FRAMED)  # as CSV
SEPARATOR_WORDS = {" ": "blanks", ALIGNED: "blanks", FRAMED: "'|' in a frame", "\t": "tabs"}
ALIGNED_CELL = re.compile(r'"((?:[^"]|"")*)"(?=\s{2}|\t|$)|\S+(?:[^\S\t]\S+)*')
TWO_BLANKS = re.compile(r"[^\s] {2,}[^\s]")
UNIT_PART = (  # of kg/m3: a prefix and a unit of physics, or a usual word or sign, with an exponent
    r"(?:(?:da|[pnu\u00b5\u03bcmcdhkMGT])?(?:g|m|s|l|L|A|K|V|W|J|Hz|Pa|Bq|Gy|Sv|mol|bar|eV|cal|Wh|VA|lx|lm)"
    r"|[pnu\u00b5\u03bcmckMG](?:N|F|M|S|T|IU|U|Eq)|(?:IU|U|AU|Da|kDa|cells?|copies|bpm)|k?(?:ohm|\u03a9|\u2126)|pH|dB|N"
    r"|(?i:kg|mg|cm|mm|km|ml|min|hr?|hrs|hours?|d|days?|weeks?|months?|years?|yrs?|in|inch(?:es)?|ft|feet|yd|miles?|lbs?"
    r"|oz|mph|kph|knots?|rpm|psi|mmhg|atm|deg ?[CFK]?|rad|pp[mb]|px|pct|percent|usd|eur|gbp|chf|jpy)"
    r"|[%\u2030$\u20ac\u00a3\u00a5]|[\u00b0\u00ba] ?[CFK]?)(?:\^?[-\u2212]?\d|[\u207b\u00b9\u00b2\u00b3]+)?"
)
UNITS = rf"(?:(?:1|10\^?\d+)\s*/\s*)?{UNIT_PART}(?:\s*[/*\u00b7. ]\s*(?:1\.73\s*)?{UNIT_PART})*"
UNIT = re.compile(rf"(?!n[a-z]$){UNITS}|\({UNITS}\)|\[{UNITS}\]")  # nd and nm may also say: not measured
NAMES, SECOND = "of codes or questions", "that looks like a second line of names"
REPEATED = "of repeated names"
NAME = re.compile(r"[^\W\d_][\w -]{2,}|id", re.IGNORECASE)  # no mark of an empty cell, such as nd or k.A.
SHOWN_CELLS = 4
FEWEST_BELOW = 2  # rows of numbers, and columns of them, below a line of units
MANY_WORDS = 5  # of a text
FEWEST_RULING = 8  # rows below a second line of names
FIELD = csv.field_size_limit()


@dataclass(frozen=True)
class FileLayout:
    """What the caller says of a file, beside its columns; None is what the file shows.

    ``answers`` are the names, or globs, of the columns of labels and targets: last lines without a cell in them may be
    remarks. None: every line after the header is a row.
    """

    header: bool | None = None
    encoding: str | None = None
    sheet: str | None = None
    answers: tuple[str, ...] | None = None

    @classmethod
    def of(cls, given: Any) -> FileLayout:
        """That of `Columns`, or of the mapping that ``plain`` gave."""
        if isinstance(given, dict):
            return cls(**given)
        return cls(given.header, given.encoding, given.sheet, (*given.labels, *given.targets))

    def plain(self) -> dict[str, Any]:
        """What is set of the file itself, JSON-able."""
        held = {name: getattr(self, name) for name in ("header", "encoding", "sheet")}
        return {name: value for name, value in held.items() if value is not None}


FOUND = FileLayout()  # all of it


@dataclass(frozen=True)
class TextLayout:
    """Lines before the header (or, without one, before the rows), the separator, whether there is a header, notes, the
    numbers of lines of the header itself and of those below it that hold no values, whether the cells of the header
    stand again in the rows below, so that it is a row itself, whether the first row names the class of each column,
    which then is a sample, and the names of the columns if they are joined from two lines."""

    skipped: int
    separator: str
    header: bool = True
    notes: tuple[str, ...] = ()
    header_lines: int = 1
    below: int = 0
    again: bool = False
    columns_are_samples: bool = False
    joined: tuple[str, ...] = ()


def utf8_content(path: Path, encoding: str | None = None) -> tuple[bytes | None, str]:
    """A file in another encoding than UTF-8 as UTF-8, and a note; None, "" for UTF-8, and for what is not text.

    Without ``encoding``, UTF-16 is recognised by its first bytes, and Windows-1252, or else Latin-1, is what the first
    rows hold if they are text but not UTF-8.
    """
    if encoding is not None:
        return _decoded(path, encoding), f"the file is read as {encoding}"
    with opened(path) as stream:
        first = stream.read(BLOCK_BYTES)
        if first.startswith(UTF16):
            tried = {"utf-16": "UTF-16"}
        elif half := _utf16_half(first):
            tried = {half: "UTF-16"}
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
        other = f" ({OTHERS[name]})" if name in FALLBACKS else ""
        text = text.replace("\r", "\n") if _ends_by_return(first) else text
        return text.encode(), f"the file is not UTF-8 and is read as {words}{other}" if words else ""
    if first.startswith(UTF16) and len(content) <= most:
        raise DataError.at(path, None, "it begins as UTF-16 and cannot be decoded", "write it as UTF-8")
    return None, ""


def _utf16_half(first: bytes) -> str:
    """The order of the bytes of a text in UTF-16 without a mark, of ASCII for the most part; "" for other texts."""
    empty = {name: first[start::2].count(0) for name, start in (("utf-16-be", 0), ("utf-16-le", 1))}
    most = max(empty, key=lambda name: empty[name])
    return most if 3 * empty[most] > len(first) and 20 * min(empty.values()) < empty[most] else ""


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


def text_layout(
    lines: Sequence[str], header: bool | None = None, separator: str = "", new_rows: bool = False
) -> TextLayout:
    """The layout of a table whose first lines these are; ``separator`` is the known one.

    Before the header may stand a line ``sep=;``, comments that begin with #, and titles: lines of one cell, or of less
    than half as many cells as the header, above a header of at least three names. Empty lines count as titles. Below
    the header may stand types and flags, as Orange writes them, units, or the questions or codes of a survey; of two
    such lines, the first names the columns, unless a name in it stands twice, or the second names the options of
    questions: then both do. With ``header=True`` all lines below the header are rows, and with ``new_rows`` those that
    only look like names.
    """
    start = 0
    if lines and (sep_line := SEP_LINE.fullmatch(lines[0].strip())):
        start, separator = 1, "\t" if sep_line[1] == "\\t" else sep_line[1]
    comments = _comments(lines, start)
    start += comments
    rest, known = ["" if ROW_COUNT.fullmatch(line) else line for line in lines[start:]], bool(separator)
    if not known and is_framed(rest):
        separator, rest = FRAMED, ["" if HEADER_RULE.fullmatch(line) else line for line in rest]
    separator = separator or most_frequent(rest)
    titles = next((j for j, line in enumerate(rest) if line.strip()), 0)
    if header is False:
        titles = _lines_above(_records(rest, separator)) or titles
    else:
        titles = _titles(_records(rest, separator)) or titles
    records = _records(rest[titles:], separator) or [([], 1)]
    first = _bare("\n".join(rest[titles : titles + records[0][1]]))
    if not (known or separator in first or len(first.split()) > 1):  # rows of one cell, such as joined labels
        separator, records = ",", _records(rest[titles:], ",") or [([], 1)]
    (names, own), *records = records
    rows, below, what = [cells for cells, _ in records], 0, ""
    joined = _joined(names, rows) if header is None else ()
    if joined:
        below = 1
    elif header is None and rows:
        below, what = _below(names, rows, new_rows)
        if what == NAMES and len(set(names)) < len(names) == len(set(filter(None, rows[0]))):
            titles, (names, own), records, rows, below = titles + own, records[0], records[1:], rows[1:], below - 1
    filled = sum(bool(line.strip(f" {separator}")) for line in rest[:titles])
    above = "rows" if header is False else "header"
    notes = [_left_out(count, each, above) for count, each in ((comments, "comment"), (filled, "title")) if count]
    if header is False or not rows:
        return TextLayout(start + titles, separator, header is not False, tuple(notes))
    notes += [_joined_note(joined)] if joined else [_below_note(rows[:below], what)] if below else []
    lines_below = sum(count for _, count in records[:below])
    again = what not in (NAMES, SECOND, REPEATED) and _stand_again(names, rows[below:])
    classes = len(rows) > below and _are_classes(rows[below], rows[below + 1 :])
    return TextLayout(start + titles, separator, True, tuple(notes), own, lines_below, again, classes, joined)


def _left_out(count: int, what: str, below: str) -> str:
    lines = f"{count} {what} line" if count == 1 else f"{count} {what} lines"
    return f"{lines} before the {below} {'is' if count == 1 else 'are'} left out"


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
    """The separator of the first line, if as many stand in most of the others and no other one stands equally often in
    all lines; else that which occurs as often in most lines, blanks where every line has as many cells between blanks,
    or a comma."""
    text = "\n".join(lines)
    outside = _bare(text).split("\n") if text.count('"') % 2 == 0 else list(map(_bare, lines))
    filled = [line for line in outside if line.strip()]
    usual = {each: _usual_count(each, filled) for each in SEPARATORS}
    best = max(usual, key=lambda each: usual[each][::-1])
    first = max(SEPARATORS, key=filled[0].count) if filled else best
    steady = [each for each in SEPARATORS if len(filled) > 2 and usual[each][1] == len(filled)]
    own = filled[0].count(first) if filled else 0
    if steady and first not in steady:
        other = max(steady, key=filled[0].count)
        first = first if usual[first][0] == own > usual[other][0] and 2 * usual[first][1] > len(filled) else other
        own = filled[0].count(first)
    if first == "\t" and _tabs_are_blanks([line for line in lines if line.strip()]):
        return " "
    most = usual[first][0] == own and 2 * usual[first][1] >= len(filled)
    if own and (len(filled) == 1 or most or usual[first][0] == own + 1 and first == best):
        return first
    if usual[best][0] and 2 * usual[best][1] > len(filled):
        return best
    rare = (each for each in RARE if len(filled) > 2 and len({line.count(each) for line in filled}) == 1)
    return next((each for each in rare if each in filled[0]), "") or _blanks(lines) or first


def _blanks(lines: Sequence[str]) -> str:
    """The blanks between cells: one or more, or two or more where the cells of aligned columns hold single ones, if all
    lines then have as many cells; "" for neither."""
    header, row = ([*filter(str.strip, lines)] * 2)[:2] or ("", "")
    if are_blank_separated(lines) and len(blank_cells(header)) == len(blank_cells(row)):
        return " "
    if are_blank_separated(lines, ALIGNED) and len(blank_cells(header, ALIGNED)) == len(blank_cells(row, ALIGNED)):
        return ALIGNED
    return " " if are_blank_separated(lines) else ""


def _tabs_are_blanks(lines: Sequence[str]) -> bool:
    """Whether tabs stand among other blanks between cells: some lines have more of them, or all have two blanks or
    more between other cells; and what blanks separate between tabs are numbers."""
    cells = [cell.split() for line in lines[1:] for cell in line.split("\t") if DOUBLE not in cell]
    if not all(_is_number(part) or part in MISSING for parts in cells if len(parts) > 1 for part in parts):
        return False
    several = len({line.rstrip().count("\t") for line in lines}) > 1 or all(map(TWO_BLANKS.search, lines))
    return several and are_blank_separated(lines)


def _usual_count(separator: str, lines: Sequence[str]) -> tuple[int, int]:
    """How often a separator stands in most lines, where it stands in any, and in how many."""
    counts = Counter(count for line in lines if (count := line.count(separator)))
    return max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))


def are_blank_separated(lines: Sequence[str], blanks: str = " ") -> bool:
    """Whether lines hold as many cells between blanks, two or more and numbers among them, as R and NumPy write them;
    the first may lack one."""
    counts = [len(blank_cells(line, blanks)) for line in lines if line.strip()]
    if len(counts) < 2 or counts[-1] < 2 or len(set(counts[1:])) > 1 or counts[0] not in (counts[1], counts[1] - 1):
        return False
    return any(_is_number(cell) for cell in blank_cells(next(line for line in reversed(lines) if line.strip()), blanks))


def blank_cells(line: str, blanks: str = " ") -> list[str]:
    """The cells of a line between blanks, or between two blanks or more, quoted ones whole and without their quotes; or
    those in a frame."""
    if blanks == FRAMED:
        inner = line.rstrip()[1:].removesuffix("|") if line.startswith("|") else line
        return [cell.strip().replace("\\|", "|") for cell in PIPE.split(inner)] if inner.strip() else []
    if blanks == ALIGNED:
        found = ALIGNED_CELL.finditer(line.strip())
        return [cell[0] if cell[1] is None else cell[1].replace(2 * DOUBLE, DOUBLE).strip() for cell in found]
    return _cells(line, " ") if '"' in line else line.split()


def _bare(line: str) -> str:
    return "".join(line.split('"')[::2])


def _cells(line: str, separator: str) -> list[str]:
    """The cells of a line; none of one that is too long for the csv module."""
    if separator in (ALIGNED, FRAMED):
        return blank_cells(line, separator)
    if separator == " ":
        line = " ".join(line.split())
    found = next(csv.reader([line.replace("\r", " ")], delimiter=separator), []) if len(line) < FIELD else []
    return [cell.strip() for cell in found]


def _records(lines: Sequence[str], separator: str) -> list[tuple[list[str], int]]:
    """The rows of some lines and how many lines each takes, up to one whose quotes are not closed in them."""
    if separator in REWRITTEN:
        whole = lines if separator == FRAMED else takewhile(lambda line: line.count(DOUBLE) % 2 == 0, lines)
        return _with_blank_lines([_cells(line, separator) for line in whole])
    ended = (line.replace("\r", " ") + "\n" for line in lines)  # a cell may have several
    reader, found, before = csv.reader(ended, delimiter=separator), [], 0
    try:
        for cells in reader:
            found.append(([" ".join(cell.split()) for cell in cells], reader.line_num - before))
            before = reader.line_num
    except csv.Error:  # a cell that is too long
        return found
    closed = not found or sum(line.count(DOUBLE) for line in lines[before - found[-1][1] :]) % 2 == 0
    return found if closed else found[:-1]


def _with_blank_lines(rows: Iterable[list[str]]) -> list[tuple[list[str], int]]:
    """Rows of one line each, with the empty lines below them."""
    found: list[tuple[list[str], int]] = []
    for cells in rows:
        if cells or not found:
            found.append((cells, 1))
        else:
            found[-1] = (found[-1][0], found[-1][1] + 1)
    return found


def _titles(records: Sequence[tuple[Sequence[str], int]]) -> int:
    """The number of lines above the header; 0 where the first line may be it."""
    rows = [cells for cells, _ in records]
    widths = Counter(len(cells) for cells in rows if cells)
    width = max(widths, key=lambda each: (widths[each], each), default=0)
    if width < FEWEST_CELLS:
        return 0
    for place, cells in enumerate(rows):
        names = list(cells)
        while names and not names[-1]:  # separators at the end of the line
            names.pop()
        if len(names) in (width, width - 1) and 2 * sum(map(bool, names)) > width:
            lines = sum(count for _, count in records[:place])
            below = rows[place + 1 :]
            return lines if _are_names(names, below) or place and _joined(cells, below) else 0
        if 2 * sum(map(bool, names)) >= width:
            return 0
    return 0


def _lines_above(records: Sequence[tuple[Sequence[str], int]]) -> int:
    """The number of lines of one cell above the rows of a table without a header."""
    widths = Counter(len(cells) for cells, _ in records if cells)
    if max(widths, key=lambda each: widths[each], default=0) < FEWEST_CELLS:
        return 0
    return sum(lines for _, lines in takewhile(lambda record: len(record[0]) < 2, records))


def _below(names: Sequence[str], rows: Sequence[Sequence[str]], new_rows: bool) -> tuple[int, str]:
    """The number of rows below a header that hold no values, and what they hold."""
    if not 1 < len(rows[0]) == len(names) or rows[0] == names:
        return 0, ""
    rows = [row for row in rows if row != names]  # which joined files repeat
    if _repeats_names(names, rows[0]) and _is_new(rows[0], rows[1:]):
        ids = len(rows) > 1 and all(cell.startswith("CDE_ID:") for cell in rows[1])  # as TCGA writes below both
        return 1 + ids, REPEATED
    if are_hyphens(rows[0]) and _is_new(rows[0], rows[1:]):
        return 1, "of hyphens"
    if _are_types(rows[0]) and _is_new(rows[0], rows[1:]):
        flags = len(rows) > 1 and all(map(ORANGE_FLAGS.fullmatch, rows[1])) and _is_new(rows[1], rows[2:])
        return 1 + flags, "of types"
    if _are_units(rows[0], rows[1:]):
        return 1, "of units"
    if _are_groups(rows[0], rows[1:]):
        return 1, "of words above numbers"
    for place, row in enumerate(rows[:2], start=1):
        if 2 * sum(IMPORT_ID.fullmatch(cell) is not None for cell in row) > len(row):
            return place, NAMES
    if _are_other_names(names, rows[0], rows[1:]):
        return 1, NAMES
    return (1, SECOND) if not new_rows and _are_second_names(names, rows[0], rows[1:]) else (0, "")


def _repeats_names(names: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether a line repeats some names of the header, a quarter of them or more, in their columns."""
    same = sum(name == cell and NAME.fullmatch(name) is not None for name, cell in zip(names, cells, strict=True))
    return same > 1 and 4 * same >= len(names)


def _below_note(rows: Sequence[Sequence[str]], what: str) -> str:
    cells = list(dict.fromkeys(filter(None, chain(*rows))))
    shown = ", ".join(map(shorten, cells[:SHOWN_CELLS])) + (", ..." if len(cells) > SHOWN_CELLS else "")
    lines = "1 line" if len(rows) == 1 else f"{len(rows)} lines"
    keeps = "reads it as a row" if len(rows) == 1 else "reads them as rows"
    return f"left out: {lines} {what} below the header ({shown}); header=True {keeps}"


def _joined(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The names "question: option" of columns whose second line has an option below each column without a name, and
    nothing below an id or another column that all rows fill, as surveys have it, or words above two columns of numbers
    or more; () for other tables. A question with one column named Response, as SurveyMonkey writes it, stands alone, as
    does one that is its own option, of merged cells. A name that stands again beside itself, as pandas writes it, is
    one of such a group."""
    first, others = rows[0] if rows else [], [row for row in rows[1:] if len(row) == len(names)]
    if len(first) != len(names) or len(others) < FEWEST_BELOW or not any(first):
        return ()
    if not _are_codes(first):
        names = [name if not j or name != names[j - 1] else "" for j, name in enumerate(names)]
    start = int(not (names[0] or first[0]))  # a column of row names
    below = [cell for name, cell in zip(names[start:], first[start:], strict=True) if not name]
    filled = bool(names[0]) and any(not cell and all(row[j] for row in others) for j, cell in enumerate(first))
    numbers = [cell for cell, column in zip(first, zip(*others, strict=True), strict=True) if _holds_numbers(column)]
    named = len(list(filter(None, numbers))) >= FEWEST_BELOW and all(cell not in MISSING for cell in numbers[start:])
    if not (below and all(below) and (filled or named)) or any(map(_is_number, first)):
        return ()
    joined, question = [], ""
    for j, (name, option) in enumerate(zip(names, first, strict=True)):
        question, several = name or question, not name or j + 1 < len(names) and not names[j + 1]
        option = "" if option == name or not several and ANSWER.fullmatch(option) else option
        joined.append(": ".join(filter(None, (question, option))))
    return tuple(joined)


def _joined_note(names: Sequence[str]) -> str:
    return f"columns are named by two lines, as in {shorten(next(name for name in names if ': ' in name))}"


def _are_other_names(names: Sequence[str], cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a line below the header names the columns once more, as surveys write codes and questions: all cells of
    one of the two lines are codes, those of the other are texts, most of several words, and those below the header
    differ from each other and from all cells of their columns, two or more of which hold numbers."""
    full = [row for row in rows if len(row) == len(cells)]
    codes, texts = (names, cells) if _are_codes(names) else (cells, names)
    if len(full) < FEWEST_RULING or len(set(cells)) < len(cells) or not _is_new(cells, full):
        return False
    if not _are_codes(codes) or 2 * sum(" " in text for text in texts) <= len(texts):
        return False
    if any(CODE.fullmatch(text) or _is_number(text) or not re.search(r"[^\W\d_]", text) for text in texts):
        return False
    return sum(map(_holds_numbers, zip(*full, strict=True))) >= FEWEST_BELOW


def _are_second_names(names: Sequence[str], cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a line below a header that is mostly codes, such as X1 to X23, holds different words of three letters or
    more above three or more columns, all of numbers."""
    full = [row for row in rows if len(row) == len(cells)]
    if len(full) < FEWEST_RULING or len(cells) < FEWEST_CELLS or len(set(cells)) < len(cells):
        return False
    mostly = 4 * sum(CODE.fullmatch(name) is not None for name in names) >= 3 * len(names)
    return mostly and all(map(NAME.fullmatch, cells)) and all(map(_holds_numbers, zip(*full, strict=True)))


def _are_codes(cells: Sequence[str]) -> bool:
    """Whether all cells are codes of questions, or two or more are fields that LimeSurvey adds to those."""
    return all(map(CODE.fullmatch, cells)) or len(FIELDS.intersection(cells)) > 1


def _are_classes(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first row holds a few words, each above several columns of numbers, which then are samples."""
    full = [row for row in rows if len(row) == len(cells)]
    words = [cells[j] for j, column in enumerate(zip(*full, strict=True)) if _holds_numbers(column)]
    counts = Counter(word for word in words if word not in MISSING and re.search(r"[^\W\d_]", word))
    several = sum(count for count in counts.values() if count > 1)
    most = several >= len([word for word in words if word]) - 1 and 4 * several >= 3 * len(words)
    return len(full) >= FEWEST_RULING <= len(words) and most and len(counts) > 1


def lines_after_rows(lines: Sequence[str], width: int, separator: str, answers: Collection[int] = ()) -> int:
    """How many of the last lines of a table are remarks or totals and no rows. A line with a cell in the columns
    ``answers``, those of labels and targets, is a row."""
    found = 0
    for count, line in enumerate(reversed(lines), 1):
        if line.count(DOUBLE) % 2 or width < FEWEST_CELLS:
            break
        cells = _cells(line, separator)
        if not any(cells):
            continue
        above = takewhile(lambda each: _is_short(each, width, separator), reversed(lines[: len(lines) - count]))
        gap = not all(each.strip() for each in above)
        if any(cells[j] for j in answers if j < len(cells)) or not _is_remark(cells, width, gap):
            break
        found = count
    return found


def _is_short(line: str, width: int, separator: str) -> bool:
    """Whether a line has too few cells for a row, or totals, none of them in quotes that are open."""
    cells = _cells(line, separator)
    return (2 * sum(map(bool, cells)) <= width or is_total(cells[0])) and line.count(DOUBLE) % 2 == 0


def _is_remark(cells: Sequence[str], width: int, gap: bool) -> bool:
    """Whether cells are a remark with nothing beside it: one that says so itself, such as ``Source: X``, or, below an
    empty line (``gap``, perhaps with others between), several words that are too few cells for a row, or that begin
    with such a word; or whether they are totals below an empty line."""
    word, filled = cells[0], sum(map(bool, cells))
    if not word or _is_number(word) or len(cells) > width:
        return False
    if 2 * len(cells) <= width:
        return REMARK.match(word) is not None or gap and " " in word
    if filled == 1 and (REMARK.match(word) or gap and BELOW_BLANK.match(word)):
        return True
    return gap and filled < width and is_total(word)


def is_total(word: str) -> bool:
    """Whether a word names totals, such as Total:, Summe or North Total."""
    return word.strip(" :").casefold().removeprefix("grand ") in TOTALS or word.casefold().endswith(
        (" total", " gesamt")
    )


def _are_types(cells: Sequence[str]) -> bool:
    """Whether cells are types of a printed table, or of Orange, in some columns the values of a category, such as ``no
    yes``."""
    if are_types(cells):
        return True
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
    units = [cells[j] for j in numbers if cells[j] not in (*MISSING, "-")]
    if len(full) < FEWEST_BELOW or len(numbers) < FEWEST_BELOW or 2 * len(units) <= len(numbers):
        return False
    texts = set(range(len(cells))).difference(numbers)
    others = [cells[j] for j in sorted(texts)]
    marks = all(len(cell) == 1 and cell.isupper() for cell in units)
    return all(map(UNIT.fullmatch, units)) and not marks and _may_stand_beside(others, units) and _is_new(cells, full)


def _are_groups(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a line holds words above all columns of numbers, such as the groups of these columns, and nothing above
    the others, which all rows fill."""
    full = [row for row in rows if len(row) == len(cells)]
    columns = list(zip(*full, strict=True)) if len(full) >= FEWEST_RULING else []
    holds = list(map(_holds_numbers, columns))
    words = [cell for cell, numbers in zip(cells, holds, strict=False) if numbers]
    others = [(cell, column) for cell, column, numbers in zip(cells, columns, holds, strict=False) if not numbers]
    named = len(words) >= FEWEST_CELLS and all(NAME.match(word) and word not in MISSING for word in words)
    return named and bool(others) and all(not cell and all(column) for cell, column in others)


def _may_stand_beside(others: Sequence[str], units: Sequence[str]) -> bool:
    """Whether cells above texts may stand in a line of units: none, or, beside units in brackets, a word in brackets or
    ID; any other may be a class."""
    bracketed = all(cell[0] == "[" for cell in units)
    return all(
        cell in ("", "-") or len(cell) > 1 and bracketed and (cell[0] == "[" or cell.casefold() == "id")
        for cell in others
    )


def _holds_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell not in MISSING]
    return len(filled) >= FEWEST_BELOW and all(map(BARE.fullmatch, filled))


def _are_names(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether cells are all filled, differ from each other and from the cells below, and are not mostly numbers."""
    numbers = [cell for cell in cells if _is_number(cell)]
    if not all(cells[1:]) or len(set(cells)) < len(cells) or not set(cells).isdisjoint(chain(*rows)):
        return False
    return 2 * len(numbers) < len(cells) or _rise(numbers)


def _rise(numbers: Sequence[str]) -> bool:
    """Whether numbers are whole and rise, as years do, or are an axis."""
    whole = len(numbers) > 1 and all(map(str.isdigit, numbers))
    return whole and sorted(set(map(int, numbers))) == list(map(int, numbers)) or values_in_order(numbers) is not None


def looks_like_a_row(names: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a first line is a row of data: half of its cells or more are numbers, neither an axis nor rising whole
    numbers such as years, and so are the cells of the row below them."""
    places = [j for j, name in enumerate(names) if _is_number(name)]
    numbers = [names[j].strip() for j in places]
    if not places or 2 * len(places) < len(names) or _rise(numbers):
        return False
    return len(row) == len(names) and all(_is_number(row[j]) or not row[j].strip() for j in places)


def _stand_again(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the cells of a first line stand below as those of a row do: two texts among other texts of their
    columns, or one in the only column, beside a text of many words above such texts, or beside a number above numbers
    or a date above dates; and more of them than there are texts above numbers, as names stand."""
    others = (row for row in rows if len(row) == len(names) and (list(row) != list(names) or len(names) == 1))
    below = list(zip(*others, strict=True))
    texts = [j for j, name in enumerate(names) if name not in MISSING and not _is_number(name)] if below else []
    again = sum(names[j] in below[j] and len({names[j], "", *below[j]}) > 2 for j in texts)
    numbers = bool(below) and any(_is_number(name) and _holds_numbers(below[j]) for j, name in enumerate(names))
    numbers = numbers or any(date_style([names[j], *filter(None, below[j])]) is not None for j in texts)
    numbers = numbers or any(_is_long(names[j]) and 2 * sum(map(_is_long, below[j])) > len(below[j]) for j in texts)
    above = sum(_holds_numbers(below[j]) and names[j] != "-" for j in texts)
    return again + numbers > max(int(len(names) > 1), above) and again > 0


def _is_long(text: str) -> bool:
    """Whether a text has more words than most names."""
    return len(text.split()) >= MANY_WORDS


def _is_number(text: str) -> bool:
    word = text.strip()
    return NUMBER.fullmatch(word) is not None or GROUPED.fullmatch(word) is not None


def rows_as_csv(lines: Iterable[str], separator: str) -> bytes:
    """Lines whose cells are separated by blanks, or stand in a frame, as CSV, line by line."""
    lines = ("" if is_no_row(line, place, separator == FRAMED) else line for place, line in enumerate(lines))
    return "".join(csv_line(blank_cells(line, separator) if line.strip() else []) for line in lines).encode()


def csv_line(cells: Sequence[str], separator: str = ",") -> str:
    """A line of CSV for `CsvFile`, in which formulas need no guard: no spreadsheet reads it."""
    quoted = (f'"{cell.replace(DOUBLE, 2 * DOUBLE)}"' if SPECIAL.search(cell) else cell for cell in cells)
    return separator.join(quoted) + "\n"


def headerless_names(width: int) -> tuple[str, ...]:
    """The names of the columns of a file without a header."""
    return tuple(f"column_{j + 1}" for j in range(width))


HELD = {  # by the first bytes of a file
    b"PK\x03\x04": ("a zip archive, perhaps a workbook", "name it .xlsx, .zip or .npz"),
    b"PAR1": ("a Parquet file", "name it .parquet"),
    b"ARROW1": ("a Feather file", "name it .feather"),
    b"\xd0\xcf\x11\xe0": ("a workbook of Excel 97", "save it as .xlsx or .csv"),
    b"\x89HDF": ("HDF5", "name it .h5ad if it is of AnnData; otherwise write it as Parquet"),
    b"SQLite format 3": ("a database of SQLite", "write a table of it as CSV or Parquet"),
    b"%PDF": ("a PDF", "give the table as CSV"),
    b"\x93NUMPY": ("an array of NumPy", "name it .npy"),
    b"@relation": ("an ARFF file", "name it .arff"),
}
MARKUP = re.compile(rb"<(?:!doctype|html|head|body|table|\?xml)\b", re.IGNORECASE)
JSON = re.compile(rb"\{\s*\"|\[\s*\{\s*\"")


def check_is_text(path: Path) -> None:
    """A DataError for a file that is no table of text, whatever its name says."""
    with opened(path) as stream:
        first = stream.read(BLOCK_BYTES).removeprefix(UTF8_MARK).lstrip()
    found = next((held for start, held in HELD.items() if first[: len(start)].lower() == start.lower()), None)
    if found is None and MARKUP.match(first):
        found = "a page of HTML or XML", "save its table as CSV, in pandas by read_html(FILE)[0].to_csv('table.csv')"
    elif found is None and JSON.match(first):
        found = "JSON", "name it .json"
    if found is not None:
        raise DataError.at(path, None, f"it holds {found[0]}, not a table of text", found[1])


def check_rows_are_rows(path: Path, lines: Sequence[str]) -> None:
    """A DataError for a file of GEO or GenePattern, whose columns are samples."""
    first = next((line for line in lines if line.strip()), "")
    shape = lines[1].split() if len(lines) > 1 else []
    if SERIES.match(first):
        what = "this is a series matrix of GEO"
        remedy = (
            'transpose it first, in pandas by read_csv(FILE, sep="\\t", comment="!", index_col=0).T, and add a column '
            "with the class of each sample, from the lines that begin with !Sample_"
        )
    elif GCT.fullmatch(first.strip()) and shape and all(map(str.isdigit, shape)):
        what = "this is a GCT file"
        remedy = (
            'transpose it first, in pandas by read_csv(FILE, sep="\\t", skiprows=2, index_col=0).iloc[:, 1:].T, and '
            "add a column with the class of each sample"
        )
    else:
        return
    raise DataError.at(path, 1, f"{what}: its columns are samples, and its rows genes or probes", remedy)


def columns_are_samples(path: Path, line: int, separator: str) -> DataError:
    """The error for a table whose columns are its samples, with their classes below the header."""
    how = "" if separator == "," else f", sep={separator!r}"
    reason = "the first row holds a word for each column of numbers: the columns are samples, and the rows features"
    call = f"read_csv(FILE{how}, header=None).T.to_csv('table.csv', header=0, index=0)"
    remedy = f"transpose it first, in pandas by {call}"
    return DataError.at(path, line, reason, remedy)


def check_columns_are_split(path: Path, line: int, names: Sequence[str], row: Sequence[str]) -> None:
    """A DataError for a table whose columns are aligned by blanks, and hold single blanks or empty cells."""
    if len(names) != 1 or not all(map(TWO_BLANKS.search, (*names, *row))):
        return
    reason = "its columns are aligned by blanks, and their cells hold blanks or are empty"
    remedy = "read it in pandas by read_fwf(FILE), and write it as CSV"
    raise DataError.at(path, line, reason, remedy)


def first_row_question(path: Path, line: int, names: Sequence[str]) -> DataError:
    """What to ask about a first line that looks like a row."""
    shown = ", ".join(map(shorten, names[:4]))
    more = ", ..." if len(names) > 4 else ""
    reason = f"the first line ({shown}{more}) looks like a row and not like column names"
    remedy = "say header=False if the file has no header, or header=True if these are names"
    return DataError.at(path, line, reason, remedy)
