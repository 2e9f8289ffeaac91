"""What the text of a cell says: nothing, a number with its unit, a date, yes or no, a step of a scale, a list."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "?")
NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)
LEADING_ZERO = re.compile(r"0\d")
QUANTITY = re.compile(r"([-+]?)\s*([$€£¥]?)\s*(\d(?:[\d.,' \u00a0]*\d)?|\.\d+)\s*([^\d\s.,].{0,11})?")
BLANKS = re.compile(r"[' \u00a0]")  # that may stand between digits
DIGIT_GROUPS = re.compile(r"\d{1,3}(,\d{3})+")
THOUSANDS = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?")
DECIMAL = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?")
NUMBER_FORMS = (NUMBER, THOUSANDS, DECIMAL)
DATE_STYLES = ("iso", "dmy", "mdy")
DATE = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?:[ ,T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?")
TRUTHS = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("nein", "ja"), ("non", "oui"))
SCALES = (
    (
        "strongly disagree",
        "disagree",
        "neutral|neither|neither agree nor disagree|undecided",
        "agree",
        "strongly agree",
    ),
    ("very dissatisfied", "dissatisfied", "neutral|neither", "satisfied", "very satisfied"),
    ("very unlikely", "unlikely", "neutral|neither", "likely", "very likely"),
    ("never", "rarely|seldom", "sometimes|occasionally", "often|frequently", "always"),
    ("very poor", "poor", "fair|average", "good", "very good", "excellent"),
    ("very low", "low", "medium|moderate", "high", "very high", "critical"),
    ("none", "mild", "moderate", "severe"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("small", "medium", "large"),
)


def truth_words(words: Iterable[str]) -> tuple[str, str] | None:
    """The pair (no, yes), in lower case, that all words are of; None for other words.

    Examples
    --------
    >>> from proxembed.tables.cells import truth_words
    >>> truth_words(["Yes", "no"]), truth_words(["yes", "maybe"])
    (('no', 'yes'), None)
    """
    found = {word.casefold() for word in words}
    return next((pair for pair in TRUTHS if found <= set(pair)), None) if found else None


def scale_steps(words: Iterable[str]) -> tuple[str, ...] | None:
    """The words in the order of a known scale (agreement, frequency, quality, size ...); None for other words.

    Examples
    --------
    >>> from proxembed.tables.cells import scale_steps
    >>> scale_steps(["Often", "Never", "Rarely"]), scale_steps(["Often", "red"])
    (('never', 'rarely', 'often'), None)
    """
    found = {word.casefold() for word in words}
    for scale in SCALES:
        place = {word: step for step, words in enumerate(scale) for word in words.split("|")}
        if len(found) > 2 and found <= set(place) and len({place[word] for word in found}) == len(found):
            return tuple(sorted(found, key=place.__getitem__))
    return None


def number_misfits(words: Sequence[str], unit: str | None = None) -> list[int]:
    """The places of the words that are no number of the form of most others, in a unit (None: that of most).

    Examples
    --------
    >>> from proxembed.tables.cells import number_misfits
    >>> number_misfits(["36,66", "-", "12,5o", "7"]), number_misfits(["3 kg", "4.5 kg", "10 g"])
    ([1, 2], [2])
    """
    found = [_digits_unit(word) for word in words]
    if unit is None:
        units = Counter(own for digits, own in found if digits)
        unit = max(units, key=units.__getitem__, default="")
    fitting = [form.fullmatch for form in NUMBER_FORMS]
    places = [[j for j, (digits, own) in enumerate(found) if own != unit or not fits(digits)] for fits in fitting]
    return min(places, key=len)


def _digits_unit(word: str) -> tuple[str, str]:
    """A quantity as its digits with their marks, and its unit; ("", "") for other words."""
    if NUMBER.fullmatch(word):
        return word.lstrip("+-"), ""
    part = QUANTITY.fullmatch(word)
    return ("", "") if part is None else (re.sub(BLANKS, "", part[3]), (part[2] + (part[4] or "")).strip())


def date_misfits(words: Sequence[str]) -> list[int]:
    """The places of the words that are no date of the form of most others.

    Examples
    --------
    >>> from proxembed.tables.cells import date_misfits
    >>> date_misfits(["2024-01-31", "-", "17.05.2022", "2024-02-01"])
    [1, 2]
    """
    places = [[j for j, word in enumerate(words) if seconds(word, style) is None] for style in DATE_STYLES]
    return min(places, key=len)


def number_style(words: Sequence[str]) -> tuple[str, str] | None:
    """How all the words write a number: what commas mean ("", "thousands" or "decimal"), and the unit they share.

    None where one is no number, or where the units differ.

    Examples
    --------
    >>> from proxembed.tables.cells import number_style
    >>> number_style(["1,299 EUR", "15 EUR"]), number_style(["3.1 l/min"]), number_style(["3,1", "2"])
    (('thousands', 'EUR'), ('', 'l/min'), ('decimal', ''))
    >>> number_style(["3 kg", "10 g"]) is None
    True
    """
    if words and all(map(NUMBER.fullmatch, words)):
        return "", ""
    parts = [QUANTITY.fullmatch(word) for word in words]
    if not parts or not all(parts):
        return None
    units = {(part[2] + (part[4] or "")).strip() for part in parts if part is not None}
    if len(units) > 1:
        return None
    digits = [re.sub(BLANKS, "", part[3]) for part in parts if part is not None]
    style = _comma(digits)
    if style is None or any(_as_float(each, style) is None for each in digits):
        return None
    return style, units.pop()


def _comma(digits: list[str]) -> str | None:
    """What the commas of numbers mean; None where they mean nothing known."""
    commas = [each for each in digits if "," in each]
    if not commas:
        return ""
    if any("." in each for each in commas):
        last = {each.rfind(",") > each.rfind(".") for each in commas if "." in each}
        return None if len(last) > 1 else "decimal" if last.pop() else "thousands"
    if all(DIGIT_GROUPS.fullmatch(each) for each in commas):
        return "thousands"
    return "decimal" if all(each.count(",") == 1 for each in commas) else None


def _as_float(digits: str, style: str) -> float | None:
    if style == "decimal" and not DECIMAL.fullmatch(digits):  # 12.50 is not 1250
        return None
    plain = digits.replace(".", "").replace(",", ".") if style == "decimal" else digits.replace(",", "")
    return float(plain) if NUMBER.fullmatch(plain) else None


def number(word: str, style: str, unit: str) -> float | None:
    """A cell as a number, in a style and a unit of ``number_style``; None for anything else.

    Examples
    --------
    >>> from proxembed.tables.cells import number
    >>> number("1,299 EUR", "thousands", "EUR"), number("1e-3", "", ""), number("3 kg", "", "EUR")
    (1299.0, 0.001, None)
    >>> number("1.250,5", "decimal", ""), number("12.50", "decimal", "")
    (1250.5, None)
    """
    if NUMBER.fullmatch(word) and style != "decimal":
        return float(word)
    part = QUANTITY.fullmatch(word)
    if part is None or (part[2] + (part[4] or "")).strip() not in ("", unit):
        return None
    found = _as_float(re.sub(BLANKS, "", part[3]), style)
    return found if found is None or part[1] != "-" else -found


def date_style(words: Sequence[str]) -> str | None:
    """How all the words write a date: "iso", "dmy" (31/12/2024) or "mdy"; None where one is no date.

    Where no day is above 12, the day is taken to come first.

    Examples
    --------
    >>> from proxembed.tables.cells import date_style
    >>> date_style(["2024-01-31"]), date_style(["31/12/2024"]), date_style(["12/31/2024"]), date_style(["soon"])
    ('iso', 'dmy', 'mdy', None)
    """
    for style in DATE_STYLES:
        if words and all(seconds(word, style) is not None for word in words):
            return style
    return None


def seconds(value: Any, style: str) -> float | None:
    """A date as seconds since 1970 (UTC where it has no zone), in a style of ``date_style``; None for anything else.

    Examples
    --------
    >>> from proxembed.tables.cells import seconds
    >>> seconds("1970-01-02", "iso"), seconds("02/01/1970 00:01", "dmy"), seconds("31/12/1999", "mdy")
    (86400.0, 86460.0, None)
    """
    if isinstance(value, str):
        value = _moment(value, style)
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or value != value:  # pandas' NaT is a datetime that equals nothing
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _moment(word: str, style: str) -> datetime | None:
    try:
        if style == "iso":
            return None if NUMBER.fullmatch(word) else datetime.fromisoformat(word)
        part = DATE.fullmatch(word)
        if part is None:
            return None
        day, month = (part[1], part[2]) if style == "dmy" else (part[2], part[1])
        hour, minute, second = (int(part[k] or 0) for k in (4, 5, 6))
        return datetime(int(part[3]), int(month), int(day), hour, minute, second)
    except ValueError:
        return None


def listed(word: str) -> tuple[Any, ...] | None:
    """The entries of a list in the form of JSON or Python, or of numbers with blanks between; None for other text.

    Examples
    --------
    >>> from proxembed.tables.cells import listed
    >>> listed('["a", "b"]'), listed("['a']"), listed("[1 2.5]"), listed("a"), listed("[]")
    (('a', 'b'), ('a',), (1.0, 2.5), None, ())
    """
    if not (word.startswith("[") and word.endswith("]")):
        return None
    bare = word[1:-1].replace(",", " ").split()
    if all(map(NUMBER.fullmatch, bare)):
        return tuple(map(float, bare))
    for read in (json.loads, ast.literal_eval):
        try:
            return tuple(read(word))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None
