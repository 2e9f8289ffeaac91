"""What the columns of a table hold, and which say whose row it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import is_empty, scale_steps, truth_words
from .column import CellError, Column, is_missing, is_real, word_of
from .dates import (
    bare_dates,
    clock_misfits,
    clock_style,
    date_misfits,
    date_style,
    either_order,
    has_short_years,
    hours,
    is_numbered_month,
    may_be_times,
    named_zone,
    time_name,
)
from .identifiers import (
    FEWEST_OWNERS,
    ID_NAME,
    ROW_NAMES,
    WHOLE,
    are_decimals,
    code_name,
    first_row_number,
    grouping,
    is_answer,
    is_entity,
    is_id_name,
    is_single,
    names_owners,
    owner_name,
    settles,
)
from .lists import are_choices, are_codes_chosen, listed
from .notes import LeftOut, counted, few_notes, row_numbers_note, spelled_alike
from .quantities import ANY_GROUPS, LEADING_ZERO, LIMITS, SCALED, STYLE_WORDS, NumberWords, table_style

MISSING_CODES = (99, 999, 9999, 99999, 999999, 99.9, 999.9, 9999.9, 99.99, 999.99, 9999.99, 999.25, 1e20)
FEWEST_IDS = 8
FEWEST_CODES = 3  # cells of each negative number of a column without others, to be asked about
MOST_CODES = 5  # such numbers, as surveys write -9, -8 and -1
WIDE_GAP = 3  # between such numbers, or from the last of them to the answers
FARTHEST = 4  # a gap below this part of such a number is none: 99 after 95
FIRST_CELLS = 1000
FIRST_BARE, LAST_BARE = 190001, 20991232e6  # dates as whole numbers
LOWEST_CODE = re.compile(r"-[789]+")
FEWEST_VALUES = 8  # numbers or dates, of a column that is mostly such
FEWEST_BESIDE_ONE = 3  # the same beside one other word, without digits
MOST_ODD = 2  # words in up to a quarter of the cells that may stand for an empty cell
MOST_RARE = 10  # words in up to one cell in twenty that may do so
NO_VALUE = re.compile(r"[\W_]+|[+\-]?inf(?:inity)?", re.IGNORECASE)  # marks alone, such as - or ., and infinity
LETTER = re.compile(r"[^\W\d_]")
SHOWN_ODD = 3
MOST_UNITS = 5  # of one column
MAX_WORDS = 3  # a text has more words per cell on average, where few cells repeat
NAME_JOINS = (";", "|", ",")
EXAMPLE = 28
AS_LABELS = "name it with labels= instead of targets="
DURATIONS = (timedelta, np.timedelta64)
SIGNS = r"\d\s.,:;/'\"\u2019\u2032\u2033\u00b0%+\-\u2013\u2212()#hx*^kK$\u20ac\u00a3\u00b1\u00d7~\u2248<>=\u2264\u2265"
NUMERIC_LOOK = re.compile(rf"(?=.*\d)(?=.*\D)[{SIGNS}]+")
UNITS_LOOK = re.compile(  # with directions, as hexadecimal numbers, or of several units
    rf"[\d{SIGNS}]*\d[{SIGNS}]*[NSEWO]|0x[\da-f]+|(?:\d+(?:[.,]\d+)?\s*[a-z]{{1,4}}\.?,?\s*){{2,4}}",
    re.IGNORECASE | re.ASCII,
)
DATE_LOOK = re.compile(r"(?=\D*\d{1,2}\D)(?=.*\b(?:1[89]|20)\d\d\b).{6,30}")
NUMERIC_RANGE = r"^\d{1,3}-\d{1,3}$|^\d+[kK]-\d+[kK]$"
MEASURED = re.compile(rf"[:/,%hx*'\"\u2019\u2032\u2033\u00b0]|^(?:19|20)\d\d-(?:0[1-9]|1[0-2])$|{NUMERIC_RANGE}")
DATE_WORDS = {"iso": "date", "dmy": "date, day first", "mdy": "date, month first"}
CLOCK_WORDS = {"clock": "clock time, in hours", "duration": "duration, in minutes"}
POINTED = re.compile(r"\d+(?:\.\d+){2,}", re.ASCII)


@dataclass(frozen=True)
class Reading:
    """What was found about one column."""

    name: str
    words: str
    example: str = ""
    column: Column | None = None
    note: str = ""
    problem: str = ""
    options: tuple[tuple[str, str], ...] = ()
    at: int | None = None
    role: str = ""
    instead: tuple[tuple[str, str], ...] = ()
    remedy: str = ""  # of a problem that no option settles


@dataclass(frozen=True)
class DistinctCells:
    """The distinct cells of a column that are not empty, how often each occurs, and its place among all."""

    name: str
    values: list[Any]
    counts: np.ndarray
    places: list[int]
    n: int
    missing: tuple[str, ...]

    @cached_property
    def words(self) -> list[str]:
        """The values that are text, without outer blanks."""
        return [value.strip() for value in self.values if isinstance(value, str)]

    @cached_property
    def numbers(self) -> NumberWords:
        """The words as numbers; no words if other values are among them."""
        return NumberWords(self.words if len(self.words) == len(self.values) else ())

    @property
    def empty(self) -> int:
        """Number of empty cells."""
        return self.n - int(self.counts.sum())

    @property
    def distinct(self) -> bool:
        """Whether all rows have a cell, and all cells differ."""
        return self.n >= FEWEST_IDS and len(self.values) == self.n


def read_columns(
    columns: Mapping[str, tuple[Sequence[Any], Any]],
    *,
    texts: Sequence[str] = (),
    kept: Sequence[str] = (),
    missing: Sequence[str] | None = None,
    others: bool = False,
    decimal: str | None = None,
    categories: Sequence[str] = (),
    points: bool = True,
    targets: Sequence[str] = (),
) -> list[Reading]:
    """The readings of the columns of a table; ``targets`` must hold numbers."""
    table = {name: _cells(name, *cells, tuple(missing or ())) for name, cells in columns.items()}
    as_texts, as_categories, as_features, as_targets = set(texts), set(categories), set(kept), set(targets)
    asks_codes = points and decimal is None
    chosen = {
        name for name, cells in table.items() if asks_codes and are_codes_chosen(cells.numbers.words)
    } - as_targets
    apart = as_texts | as_categories | chosen
    open_columns = {name: cells.numbers for name, cells in table.items() if name not in apart}
    styled = table_style(open_columns, decimal, points)
    style, asks = styled.style, missing is None
    found = []
    for name, cells in table.items():
        if name in as_texts:
            reading = _reading(cells, "text", Column(name, "text"))
        elif name in as_categories and cells.values:
            reading = _category(cells, "category")
        elif name in as_targets:
            reading = _target(cells, style, asks)
        elif name in chosen:
            reading = _chosen(cells)
        else:
            reading = _read(cells, style, asks=asks, kept=name in as_features)
        found.append(reading)
    rows = [place for place, reading in enumerate(found) if reading.role == "rows"]
    if rows and not others and all(reading.column is None and not reading.problem for reading in found):
        name = found[rows[0]].name  # the only feature
        found[rows[0]] = _read(table[name], style, asks=asks, kept=True)
    return _with_question(found, styled.questions)


def _with_question(found: list[Reading], questions: Mapping[str, str]) -> list[Reading]:
    """The readings, the first feature that leaves the decimal mark open with the question; one answer settles all."""
    for place, reading in enumerate(found):
        if reading.name in questions and (reading.column is not None or reading.problem):
            reading = replace(reading, column=None, note="", problem=questions[reading.name], at=None)
            found[place] = replace(reading, options=(("decimal", ","),), instead=(("decimal", "."),))
            break
    return found


def _cells(name: str, values: Sequence[Any], codes: Any, missing: tuple[str, ...]) -> DistinctCells:
    codes = np.asarray(codes)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    filled = [j for j, value in enumerate(values) if counts[j] and not is_missing(value, missing)]
    return DistinctCells(name, [values[j] for j in filled], counts[filled], filled, len(codes), missing)


def _reading(cells: DistinctCells, words: str, column: Column | None, **more: Any) -> Reading:
    """The reading of a column, with its first cell and the number of empty ones in words."""
    shown = cut(cell_text(cells.values[0])) if cells.values else ""
    words += f"; {cells.empty:,} empty" if cells.empty and cells.values else ""
    return Reading(cells.name, words, shown, column, **more)


def _read(cells: DistinctCells, style: str, *, asks: bool, kept: bool) -> Reading:
    """The first reading that fits all cells; numbers in the style of the table."""
    if not cells.values:
        return _reading(cells, "empty, left out", None)
    if len(cells.values) == 1 and not cells.empty and cells.n > 1:
        return _reading(cells, "constant, left out", None)
    if not kept and (owner := _owner(cells, style)) is not None:
        return owner
    reading = _lists(cells) or _truths(cells) or _clocks(cells) or _bare_dates(cells)
    reading = reading or _numbers(cells, style, asks) or _dates(cells)
    if reading is not None and code_name(cells.name) and _codes(cells, reading.words.startswith("number")):
        words = f"code (by its name), {len(cells.values):,} values"
        return _reading(cells, words, Column(cells.name, "category", style="code"))
    return reading or _scales(cells) or _joined_names(cells) or _words(cells, style)


def _owner(cells: DistinctCells, style: str) -> Reading | None:
    """Row numbers, an id, or an identifier: columns that say which row it is, and not what it is like."""
    n = len(cells.values)
    words = [word_of(value) for value in cells.values] if _scalar(cells) else []
    first = first_row_number(words) if cells.distinct else None
    if first is not None:
        note = row_numbers_note(cells.name, first, n)
        return _reading(cells, "row numbers, left out", None, note=note, role="rows")
    if not words or are_decimals(words):
        return None
    named = names_owners(cells.name, words, cells.counts) and _owners(words, style)
    bare = not any(re.search(r"\s", word) for word in words)
    numbered = all(map(str.isdigit, words)) and (ID_NAME.search(cells.name) or any(map(LEADING_ZERO.match, words)))
    known = int(cells.counts.sum())
    by_name = date_style(words) is None
    row_names = by_name and ROW_NAMES.fullmatch(cells.name) is not None
    id_name = by_name and bare and is_id_name(cells.name)
    unique = cells.distinct and (named or row_names or id_name or bare and (numbered or _tokens(cells, style)))
    if unique or named and n == known >= FEWEST_OWNERS:
        note = f"{cells.name} is an id (all different) and not a feature (id={cells.name!r} names the rows by it)"
        return _reading(cells, "id, left out", None, note=LeftOut(note), options=(("id", cells.name),), role="id")
    groups = (("groups", cells.name),)
    if named and n < known:
        if n >= FEWEST_OWNERS:
            return _reading(cells, "identifier, left out", None, options=groups, role="groups")
        if 2 <= n <= known / 2 and owner_name(cells.name) and not is_answer(words):
            note = (
                f"{cells.name} looks like groups ({n:,} in {known:,} rows) and is not a feature "
                f"(groups={cells.name!r} keeps their rows together)"
            )
            return _reading(cells, "group, left out", None, note=LeftOut(note), options=groups)
    return None


def _codes(cells: DistinctCells, numbers: bool) -> bool:
    """Whether all cells are groups of digits between points (62.01.10), or, if they are ``numbers``, whole ones of at
    least 0, or some have letters (606xx)."""
    words = list(map(word_of, cells.values))
    if not numbers:
        return all(map(POINTED.fullmatch, words))
    return any(map(LETTER.search, words)) or all(WHOLE.fullmatch(word) and word[0] != "-" for word in words)


def _scalar(cells: DistinctCells) -> bool:
    return not any(isinstance(value, list | tuple | np.ndarray) for value in cells.values)


def _owners(words: Sequence[str], style: str) -> bool:
    """Whether all cells are whole numbers or tokens."""
    others = [word for word in words if not WHOLE.fullmatch(word)]
    return all(map(is_single, words)) and (not others or _are_tokens(NumberWords(others), style))


def _tokens(cells: DistinctCells, style: str) -> bool:
    """Whether the cells are tokens such as 7590-VHVEG: text that is not a number, date, time, list or quantity."""
    words = cells.numbers.words
    if not words or not _are_tokens(cells.numbers, style) or not all(map(str.isascii, words)):
        return False
    return 2 * sum(NUMERIC_LOOK.fullmatch(word) is not None for word in words if MEASURED.search(word)) <= len(words)


def _are_tokens(numbers: NumberWords, style: str) -> bool:
    words, wrong = numbers.words, numbers.misfits(style)
    if not wrong or not numbers.unit and 2 * len(wrong) < len(words):
        return False
    if 2 * min(len(date_misfits(words)), len(clock_misfits(words))) < len(words):
        return False
    return not any(word.startswith(("[", "{")) for word in words)


def _lists(cells: DistinctCells) -> Reading | None:
    drop = (("drop", cells.name),)
    entries: list[Any] = [listed(value.strip()) if isinstance(value, str) else value for value in cells.values]
    if not all(isinstance(entry, tuple | list | np.ndarray) for entry in entries):
        return None
    short = next((j for j, entry in enumerate(entries) if any(each is ... for each in entry)), None)
    if short is not None:
        problem = f"holds a list without all of its entries, {shown_cell(cells.values[short])}: write all of them"
        return _reading(cells, "shortened lists", None, problem=problem, options=drop, at=cells.places[short])
    filled = [tuple(entry) for entry in entries if len(entry)]
    known = [each for entry in filled for each in entry if not is_empty(each)]
    if all(isinstance(each, str) for each in known) and (known or not filled):
        return _reading(cells, "names, in a list", Column(cells.name, "names", style="[]"))
    if not all(is_real(each) for entry in filled for each in entry):
        return _reading(cells, "lists", None, problem="holds lists that are neither numbers nor names", options=drop)
    sizes = sorted({len(entry) for entry in entries})
    if len(sizes) > 1:
        problem = f"holds vectors of unequal lengths ({', '.join(map(str, sizes[:4]))})"
        return _reading(cells, "vectors of unequal lengths", None, problem=problem, options=drop)
    if not np.isfinite(np.array(filled, dtype=np.float64)).all():
        return _reading(cells, "vector", None, problem="holds vectors with NaN or infinity", options=drop)
    return _reading(cells, f"vector of {sizes[0]}", Column(cells.name, "vector", size=sizes[0]))


def _truths(cells: DistinctCells) -> Reading | None:
    if all(isinstance(value, bool | np.bool_) for value in cells.values):
        return _reading(cells, "yes or no (true, false)", Column(cells.name, "boolean", ("false", "true")))
    pair = truth_words(cells.words) if len(cells.words) == len(cells.values) else None
    if pair is None:
        return None
    return _reading(cells, f"yes or no ({pair[1]}, {pair[0]})", Column(cells.name, "boolean", pair))


def _numbers(cells: DistinctCells, style: str, asks: bool) -> Reading | None:
    unit, held = "", cells.numbers
    if cells.words:
        wrong = held.misfits(style)
        if not held.words:
            return None
        if held.coded:
            return None if wrong or held.unit else _category(cells, "code (leading zeros)")
        if wrong:
            return _almost_numbers(cells, style, wrong, asks)
        unit = held.unit
    elif not all(is_real(value) for value in cells.values):
        return None
    limited = style + LIMITS * bool(held.limits)
    column = Column(cells.name, "number", style=limited, unit=unit, missing=cells.missing)
    numbers = column.parse(cells.values, np.arange(len(cells.values)))
    if not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers)))
        shown = cells.values[place]
        problem = f"holds {shown}, which is infinite or too large for a number"
        missing = (("missing", str(shown)),)
        return _reading(cells, "number", None, problem=problem, options=missing, at=cells.places[place])
    if asks and (codes := _missing_codes(numbers, cells.counts)):
        count = int(cells.counts[np.isin(numbers, codes)].sum())
        ends = ("an empty cell", "a value") if len(codes) == 1 else ("empty cells", "values")
        problem = f"holds {_code_words(codes)} in {count} cells, far from all others: {ends[0]}, or else {ends[1]}"
        options, instead = tuple(("missing", f"{code:g}") for code in codes), (("missing", "none"),)
        return _reading(cells, "number", column, problem=problem, options=options, instead=instead)
    marks, note = "".join(f", {STYLE_WORDS[mark]}" for mark in held.marks(style)), ""
    words = "number" if not unit else f"number{unit}" if unit == SCALED else f"number in {unit}"
    if held.limits:
        note = (
            f"{cells.name}: {int(cells.counts[held.limits].sum()):,} cells such as {held.words[held.limits[0]]!r} are "
        )
        note += f"read as that limit (category={cells.name!r}: as categories)"
    if may_be_times(cells.words, cells.name):
        note = f"{cells.name} is read as a number: write times such as {cells.words[0]} with a colon if they are times"
    return _reading(cells, words + marks, column, note=note)


def _target(cells: DistinctCells, style: str, asks: bool) -> Reading:
    """A column that is to hold numbers."""
    if not cells.values:
        return _reading(cells, "number", None, problem="holds no number: every cell is empty", options=())
    if (found := _numbers(cells, style, asks)) is not None and (found.column is None or found.column.kind == "number"):
        if found.column is None and found.instead:  # missing values, or a category
            problem = found.problem.replace("or a category", "or classes")
            return replace(found, problem=problem, instead=())
        return found
    problem, remedy, at = _no_numbers(cells, style)
    return _reading(cells, "number", None, problem=problem, remedy=remedy, at=cells.places[at])


def _no_numbers(cells: DistinctCells, style: str) -> tuple[str, str, int]:
    """What cells are that were to be numbers, the remedy, and the place of the first cell at fault."""
    if (dates := _dates(cells)) is not None and dates.column is not None:
        return "holds dates", f"write numbers, such as days since the first date, or {AS_LABELS}", 0
    if cells.words and (clock := _clocks(cells)) is not None and clock.column is not None:
        kind, measure = clock.words.split("; ")[0].split(", in ")
        return f"holds {kind}s", f"write numbers, such as {measure}, or {AS_LABELS}", 0
    held, wrong = cells.numbers, _number_misfits(cells.numbers, style) if cells.numbers.words else []
    if not wrong or len(wrong) == len(cells.values) or not _scalar(cells):
        if (steps := scale_steps(cells.words) if len(cells.words) == len(cells.values) else None) is not None:
            ranks = ", ".join(f"{rank} for {step}" for rank, step in enumerate(steps, 1))
            return f"holds the steps {', '.join(steps)}", f"write numbers ({ranks}), or {AS_LABELS}", 0
        return f"holds {shown_cell(cells.values[0])}, which is not a number", AS_LABELS, 0
    number = next(word for j, word in enumerate(held.words) if j not in wrong)
    unit = next((j for j in wrong if (part := held.parts[j]) is not None and part.unit != held.unit), None)
    if unit is not None:
        return f"mixes units ({number}, {held.words[unit]})", "write all of its cells in one unit", unit
    return f"mixes numbers and text ({number}, {held.words[wrong[0]]!r})", "make it one kind", wrong[0]


def _almost_numbers(cells: DistinctCells, style: str, wrong: list[int], asks: bool) -> Reading | None:
    """Numbers except for a few cells, which may stand for an empty cell; None for anything else."""
    held = cells.numbers
    if held.coded or not _few(cells, wrong, strict=bool(held.unit)):
        return None
    others = sorted(set(range(len(held.words))) - set(wrong))
    values = [part.value(style) for j in others if (part := held.parts[j]) is not None]
    codes = _missing_codes(np.array(values, dtype=np.float64), cells.counts[others]) if asks else ()
    return _with_odd(cells, "number", wrong, codes)


def _few(cells: DistinctCells, wrong: Sequence[int], strict: bool = False) -> bool:
    """Whether the cells at fault are of one or two words and a quarter of all at most, or rare; strict: rare alone.
    However many they are, they may hold marks alone."""
    share = cells.counts[list(wrong)].sum() / cells.counts.sum()
    others = len(cells.values) - len(wrong)
    if wrong and others >= FEWEST_BESIDE_ONE and all(NO_VALUE.fullmatch(cells.words[j]) for j in wrong):
        return True
    if 0 < len(wrong) <= MOST_ODD and share <= 0.25 and not strict:
        return True
    return others >= FEWEST_VALUES and 0 < len(wrong) <= MOST_RARE and share <= 0.05


def _with_odd(cells: DistinctCells, kind: str, wrong: Sequence[int], codes: Sequence[float] = ()) -> Reading:
    """Numbers or dates whose other words, and perhaps numbers such as -999, may stand for an empty cell."""
    odd, count = [cells.words[j] for j in wrong], int(cells.counts[list(wrong)].sum())
    shown = " and ".join(map(repr, odd)) if len(odd) <= MOST_ODD else ", ".join(map(repr, odd[:SHOWN_ODD]))
    more = f" and {len(odd) - SHOWN_ODD} more" if len(odd) > SHOWN_ODD else ""
    options = [("missing", word) for word in odd]
    cells_of = counted(count, "cell")
    problem = (
        f"holds {shown}{more} in {cells_of} of {int(cells.counts.sum()):,}, and {kind}s in the others: "
        "missing values, or a category"
    )
    if codes:
        problem = f"{problem}; and {_code_words(codes)}, far from all others"
        options += [("missing", f"{code:g}") for code in codes]
    instead = (("category", cells.name),)
    at = cells.places[wrong[0]]
    return _reading(cells, kind, None, problem=problem, options=tuple(options), at=at, instead=instead)


def _clocks(cells: DistinctCells) -> Reading | None:
    """Clock times as hours since midnight, durations as minutes; other durations than those that can be nothing else
    only under the name of a time."""
    words, wrong = cells.numbers.words, list[int]()
    if cells.numbers.simple and not time_name(cells.name):
        return None
    if not cells.words:
        style = None if any(hours(value) is None for value in cells.values) else "clock"
    elif (style := clock_style(words, cells.name)) is None:
        wrong = clock_misfits(words)
        if any(map(str.isdigit, "".join(words[j] for j in wrong))) or not _few(cells, wrong):
            return None
        style = clock_style([word for j, word in enumerate(words) if j not in wrong], cells.name)
    if style is None:
        return None
    if wrong:
        return _with_odd(cells, CLOCK_WORDS[style].partition(",")[0], wrong)
    return _reading(cells, CLOCK_WORDS[style], Column(cells.name, "number", style=style, missing=cells.missing))


def _missing_code(numbers: np.ndarray, counts: np.ndarray) -> float | None:
    """A number such as -999 that stands apart from all others by more than they differ: one of the usual ones, or the
    only negative one, a whole number, of a column of many others."""
    order = np.argsort(numbers)
    if len(order) < 3:
        return None
    for end, rest in ((order[0], order[1:]), (order[-1], order[:-1])):
        low, high, code = numbers[rest].min(), numbers[rest].max(), numbers[end]
        gap = low - code if code < low else code - high
        lone = code < 0 <= low and code % 1 == 0 and len(rest) >= FEWEST_VALUES and counts[end] >= FEWEST_CODES
        far = gap > high - low and FARTHEST * gap >= abs(code)
        if (abs(code) in MISSING_CODES and counts[end] > 1 or lone) and far:
            return float(code)
    return None


def _missing_codes(numbers: np.ndarray, counts: np.ndarray) -> tuple[float, ...]:
    """Numbers that may stand for empty cells: one or two that stand apart from all others, such as 99 and 999, or the
    negative ones of a column of whole numbers, such as -9 and -1, where these have wider gaps than the others and the
    lowest is written by 7, 8 or 9 alone."""
    if (code := _missing_code(numbers, counts)) is not None:
        rest = numbers != code
        more = _missing_code(numbers[rest], counts[rest])
        return (code,) if more is None else tuple(sorted((code, more)))
    codes, others = np.unique(numbers[numbers < 0]), np.unique(numbers[numbers >= 0])
    if not 1 < len(codes) <= MOST_CODES or len(others) < FEWEST_BESIDE_ONE or np.any(numbers % 1):
        return ()
    if not LOWEST_CODE.fullmatch(f"{codes[0]:g}"):
        return ()
    if min(counts[numbers == code].sum() for code in codes) < FEWEST_CODES:
        return ()
    gap = np.diff([*codes, others[0]]).max()
    return tuple(codes.tolist()) if gap >= WIDE_GAP and gap > 2 * np.diff(others).max() else ()


def _code_words(codes: Sequence[float]) -> str:
    words = [f"{code:g}" for code in codes]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def holds_missing_code(X: np.ndarray) -> bool:
    """Whether a column of a matrix holds numbers such as -999, or -9 and -1, apart from its others."""
    if not len(X):
        return False
    low = X.min(axis=0)
    suspects = np.isin(np.abs([low, X.max(axis=0)]), MISSING_CODES).any(axis=0)
    negative = np.flatnonzero(low < 0)
    own = X[:, negative]
    whole = ((own >= 0) | (own % 1 == 0)).all(axis=0)
    few = [len(np.unique(X[:FIRST_CELLS, j][X[:FIRST_CELLS, j] < 0])) <= MOST_CODES for j in negative[whole]]
    suspects = np.union1d(np.flatnonzero(suspects), negative[whole][few])
    return any(_missing_codes(*np.unique(X[:, j], return_counts=True)) for j in suspects.astype(np.intp))


def _bare_dates(cells: DistinctCells) -> Reading | None:
    """Dates written as whole numbers, such as 20241231."""
    if not (cells.words or all(map(is_real, cells.values))) or not bare_dates(list(map(word_of, cells.values))):
        return None
    note = f"{cells.name} is read as dates, such as {word_of(cells.values[0])} (category={cells.name!r}: as codes)"
    return _reading(cells, "date", Column(cells.name, "date", style="bare", missing=cells.missing), note=note)


def holds_bare_dates(X: np.ndarray) -> bool:
    """Whether a column of a matrix holds dates written as whole numbers, such as 20241231."""
    low, high = (X.min(axis=0), X.max(axis=0)) if len(X) else (np.zeros(0), np.zeros(0))
    distinct = (np.unique(X[:, j]) for j in np.flatnonzero((low >= FIRST_BARE) & (high < LAST_BARE)))
    return any(bare_dates([f"{value:.0f}" for value in values]) for values in distinct if not (values % 1).any())


def _dates(cells: DistinctCells) -> Reading | None:
    words = cells.words
    if not words:
        column = Column(cells.name, "date", style="iso")
        try:
            column.parse(cells.values, np.arange(len(cells.values)))
        except CellError:
            return None
        return _reading(cells, "date", column)
    if len(words) < len(cells.values):
        return None
    style = date_style(words)
    if style is None:
        wrong = date_misfits(words)
        return _with_odd(cells, "date", wrong) if _few(cells, wrong) else None
    notes = ["is read with the day first; no cell shows the order"] if either_order(words, style) else []
    if has_short_years(words):
        notes.append("has years of two digits, which are read as 1969 to 2068")
    if (month := next(filter(is_numbered_month, words), None)) is not None:
        notes.append(f"is read as months, such as {month!r} (category={cells.name!r}: as codes)")
    if (zone := named_zone(words)) is not None:
        notes.append(f"has zones by name, such as {zone}, which count as UTC")
    note = f"{cells.name} {', and '.join(notes)}" if notes else ""
    return _reading(cells, DATE_WORDS[style], Column(cells.name, "date", style=style), note=note)


def _scales(cells: DistinctCells) -> Reading | None:
    steps = scale_steps(cells.words) if len(cells.words) == len(cells.values) else None
    if steps is None:
        return None
    return _reading(cells, f"ordered ({steps[0]} to {steps[-1]})", Column(cells.name, "ordered", steps))


def _joined_names(cells: DistinctCells) -> Reading | None:
    words = cells.words
    if len(words) < len(cells.values):
        return None
    for join in NAME_JOINS:
        joint = [word for word in words if join in word]
        parts = {part.strip() for word in words for part in word.split(join)} - {""}
        short = all(len(part.split()) <= MAX_WORDS + 1 for part in parts)
        few = len(parts) < 2 * len(words) if join != "," else are_choices(words)
        if 3 * len(joint) > len(words) and len(joint) > 1 and short and few:
            return _reading(cells, f"names, joined by {join!r}", Column(cells.name, "names", style=join))
    return None


def _chosen(cells: DistinctCells) -> Reading:
    """Codes of several choices in a cell."""
    shown = next(word for word in cells.words if "," in word)
    note = f"{cells.name} is read as choices joined by ',', such as {shown!r} (decimal=',': as numbers)"
    note = "" if cells.numbers.misfits(",") else note
    return _reading(cells, "names, joined by ','", Column(cells.name, "names", style=","), note=note)


def _words(cells: DistinctCells, style: str) -> Reading:
    words = [word_of(value) for value in cells.values]
    drop = (("drop", cells.name),)
    if any(isinstance(value, DURATIONS) for value in cells.values):
        problem = "holds durations; make numbers of them, such as hours"
        return _reading(cells, "durations", None, problem=problem, options=drop)
    if not _scalar(cells) or any(isinstance(value, dict | bytes | complex) for value in cells.values):
        problem = "holds values that are neither numbers nor text"
        return _reading(cells, "unknown", None, problem=problem, options=drop)
    known = int(cells.counts.sum())
    length = float(np.dot([len(word.split()) for word in words], cells.counts)) / known
    repeats = len(words) <= max(2, known / 2)
    if repeats and (length <= MAX_WORDS or len(words) <= 30) or length <= 1.2:
        note = _unread(cells, style, "category") or spelled_alike(cells.name, words, cells.counts)
        return _category(cells, "category", note=note)
    note = _unread(cells, style, "text")
    return _reading(cells, f"text, {length:.0f} words per row", Column(cells.name, "text"), note=note)


def _category(cells: DistinctCells, kind: str, note: str = "") -> Reading:
    return _reading(cells, f"{kind}, {len(cells.values):,} values", Column(cells.name, "category"), note=note)


def _unread(cells: DistinctCells, style: str, kind: str) -> str:
    """A note on a column of this kind most cells of which are, or look like, numbers or dates; "" for any other."""
    words, known = cells.numbers.words, int(cells.counts.sum())
    for what, wrong in (("dates", date_misfits(words)), ("numbers", _number_misfits(cells.numbers, style))):
        fitting = sorted(set(range(len(words))) - set(wrong))
        count = int(cells.counts[fitting].sum())
        one = len(wrong) == 1 and not any(map(str.isdigit, words[wrong[0]]))
        most = 2 * count > known
        fewest = FEWEST_BESIDE_ONE if one and most else FEWEST_VALUES
        if not wrong or len(fitting) < fewest or not (one or most) or what == "numbers" and cells.numbers.coded:
            continue
        other = words[wrong[0]]
        return (
            f"{cells.name} is read as a {kind}, though {count:,} of its {known:,} cells are {what} such as "
            f"{words[fitting[0]]!r}; write the others, such as {other!r}, the same way, or leave them empty "
            f"(missing={other!r} reads {other!r} as empty)"
        )
    parts = [part for part in cells.numbers.parts if part is not None]
    units = {part.unit for part in parts} if len(parts) == len(words) >= FEWEST_VALUES else set[str]()
    seats = any(len(part.unit) == 1 and not re.search(r"\s", word) for part, word in zip(parts, words, strict=False))
    if 1 < len(units) <= MOST_UNITS and not seats:  # such as 12A
        shown = ", ".join(sorted(filter(None, units))) + " or none" * ("" in units)
        return f"{cells.name} is read as a {kind}: its cells are numbers in several units ({shown})"
    if words and not clock_misfits(words):
        return (
            f"{cells.name} is read as a {kind}: its cells, such as {words[0]!r}, are times or durations only under the "
            f"name of a time, such as '{cells.name}_time'"
        )
    for what, look in (("numbers or times", NUMERIC_LOOK), ("numbers", UNITS_LOOK), ("dates", DATE_LOOK)):
        alike = [word for word in words if look.fullmatch(word)]
        if 2 * len(alike) > len(words):
            return (
                f"{cells.name} is read as a {kind}: its cells, such as {alike[0]!r}, look like {what}, but are not all "
                "in one known form"
            )
    return ""


def _number_misfits(numbers: NumberWords, style: str) -> list[int]:
    """The words that are not numbers in the style of the table, or in the other one, if more are numbers there."""
    return min((numbers.misfits(each) for each in (style, *ANY_GROUPS.values())), key=len)


def cell_text(value: Any) -> str:
    """A cell on one line, a list of entries in brackets."""
    return " ".join(str(list(value) if isinstance(value, tuple) else value).split())


def shown_cell(value: Any) -> str:
    """A cell for a message, shortened."""
    return repr(cut(cell_text(value), 2 * EXAMPLE))


def cut(text: str, width: int = EXAMPLE) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def quoted(name: str) -> str:
    """A column name as a word of a shell, with the quotes that a comma needs."""
    if "," in name or '"' in name:
        name = '"' + name.replace('"', '""') + '"'
    return name if re.fullmatch(r"[\w.-]+", name) else "'" + name.replace("'", "'\"'\"'") + "'"


@dataclass(frozen=True)
class Owners:
    """What is decided about the identifiers of a table."""

    groups: str | None = None
    notes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


def owners(
    readings: Sequence[Reading],
    codes: Mapping[str, NDArray[np.integer]],
    groups: Any = None,
    entities: Sequence[str] = (),
) -> Owners:
    """Which of the identifiers and entities of a table groups the rows."""
    found = [reading.name for reading in readings if reading.role == "groups"]
    chosen = None
    if groups is None and (found or entities):
        chosen = grouping({name: codes[name] for name in entities or found})
        for name in found:
            chosen = name if settles(codes[chosen], codes[name]) else chosen
    own = None if chosen is None else codes[chosen]
    left = tuple(name for name in entities if name == chosen or own is None or not settles(own, codes[name]))
    kinds = (found, "an identifier"), (left, "an entity, each value of which has one label set")
    notes = few_notes((name, _note(name, codes[name], chosen, what)) for names, what in kinds for name in names)
    return Owners(chosen, tuple(notes), left)


def entities_of(
    cells: Mapping[str, tuple[Sequence[Any], NDArray[np.integer]]], sets: NDArray[np.integer], others: Sequence[Any]
) -> list[str]:
    """The columns whose values stand for entities, and follow from none of ``others``, the codes of identifiers."""
    return [
        name
        for name, (values, codes) in cells.items()
        if is_entity([word_of(value) for value in values], codes, sets)
        and not any(settles(other, codes) for other in others)
    ]


def _note(name: str, codes: NDArray[np.integer], chosen: str | None, what: str) -> str:
    """A note on an identifier or an entity."""
    known = np.asarray(codes)[np.asarray(codes) >= 0]
    text = f"{name} is {what} ({len(np.unique(known)):,} values in {len(known):,} rows) and is not a feature"
    keep = f"keep={name!r}, beside the other features, makes it one"
    if name == chosen:
        used = "it is used as groups, so that no split divides its rows (groups=False: no groups;"
        return LeftOut(f"{text}; {used} {keep})")
    shared = f"test rows may share it with training rows (groups={name!r} keeps its rows together; {keep})"
    return LeftOut(f"{text}; {shared}")
