"""Dates and clock times in text cells, and how a column writes them."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from .quantities import NUMBER

DATE_STYLES = ("iso", "dmy", "mdy")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
TIME = r"(?:,?(?:\s+|T)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([AaPp]\.?[Mm]\.?)?)?"
DIGITS = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}|\d\d){TIME}", re.ASCII)
YEAR_FIRST = re.compile(rf"(\d{{4}})([./-])(\d{{1,2}})\2(\d{{1,2}}){TIME}", re.ASCII)
WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
DAY_NAMED = re.compile(rf"{WEEKDAY}{DAY}\.?[\s-]*([a-z]{{3,9}})\.?[\s,-]*(\d{{4}}|\d\d){TIME}", re.I)
MONTH_NAMED = re.compile(rf"{WEEKDAY}([a-z]{{3,9}})\.?[\s-]*{DAY},?[\s-]+(\d{{4}}){TIME}", re.I)
FULL_MONTHS = ("january february march april may june july august september october november december sept").split()
ZONE = re.compile(r"\s*(?:UTC|GMT|Z)$")
HALF = r"([AaPp]\.?[Mm]\.?)"
CLOCK = re.compile(rf"(\d{{1,2}}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?\s*{HALF}?|(\d{{1,2}})\s*{HALF}", re.ASCII)
LATEST_OF_TWO = 68  # a year of two digits up to this one is 20xx, as in POSIX


def date_style(words: Sequence[str]) -> str | None:
    """How all the words write a date: "iso" (year first, or the month by its name), "dmy" (31/12/2024) or "mdy"."""
    for style in DATE_STYLES:
        if words and all(seconds(word, style) is not None for word in words):
            return style
    return None


def date_misfits(words: Sequence[str]) -> list[int]:
    """The places of the words that are not dates of the form of most others."""
    places = [[j for j, word in enumerate(words) if seconds(word, style) is None] for style in DATE_STYLES]
    return min(places, key=len)


def has_short_years(words: Sequence[str]) -> bool:
    """Whether dates have years of two digits, whose century is a guess."""
    parts = [DIGITS.fullmatch(word) or DAY_NAMED.fullmatch(word) for word in words]
    return any(part is not None and len(part[part.re.groups - 4]) == 2 for part in parts)


def seconds(value: Any, style: str) -> float | None:
    """A date as seconds since 1970 (UTC if it has no zone), in a style of ``date_style``; None for anything else."""
    if isinstance(value, str):
        value = _moment(value, style)
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or value != value:  # pandas' NaT is a datetime that equals nothing
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _moment(word: str, style: str) -> datetime | None:
    if NUMBER.fullmatch(word):
        return None
    try:
        if style == "iso":
            return _iso(ZONE.sub("+00:00", word) if ":" in word and ZONE.search(word) else word)
        part = DIGITS.fullmatch(word)
        if part is None:
            return None
        day, month = (part[1], part[3]) if style == "dmy" else (part[3], part[1])
        return _at(part[4], int(month), day, part.groups()[4:])
    except ValueError:
        return None


def _iso(word: str) -> datetime | None:
    """A date whose year comes first, or whose month is a name."""
    try:
        return datetime.fromisoformat(word)
    except ValueError:
        pass
    if part := YEAR_FIRST.fullmatch(word):
        return _at(part[1], int(part[3]), part[4], part.groups()[4:])
    if part := DAY_NAMED.fullmatch(word):
        day, name, year = part[1], part[2], part[3]
    elif part := MONTH_NAMED.fullmatch(word):
        name, day, year = part[1], part[2], part[3]
    else:
        return None
    name = name.lower()
    if name not in FULL_MONTHS and name not in MONTHS:
        return None
    return _at(year, 1 + MONTHS.index(name[:3]), day, part.groups()[3:])


def _at(year: str, month: int, day: str, time: Sequence[str | None]) -> datetime:
    number = int(year)
    if len(year) == 2:
        number += 2000 if number <= LATEST_OF_TWO else 1900
    hour, minute, second, half = time
    return datetime(number, month, int(day), _hour(int(hour or 0), half), int(minute or 0), int(second or 0))


def _hour(hour: int, half: str | None) -> int:
    """The hour of the day; raises ValueError for 13 PM."""
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(f"{hour} {half}")
    return hour % 12 + 12 * (half[0] in "Pp")


def either_order(words: Sequence[str], style: str) -> bool:
    """Whether dates with the day first fit with the month first, too."""
    return style == "dmy" and all(seconds(word, "mdy") is not None for word in words)


def is_clock(words: Sequence[str]) -> bool:
    """Whether all words are clock times of one form: 14:40, 14:40:05, or 2:40 PM and 3pm."""
    parts = [CLOCK.fullmatch(word) for word in words]
    if not parts or any(part is None or hours(part[0]) is None for part in parts):
        return False
    forms = {(part[3] is None, (part[4] or part[6]) is None) for part in parts if part is not None}
    return len(forms) == 1


def hours(value: Any) -> float | None:
    """A clock time (14:40, 2:40 PM, a ``datetime.time``) as hours since midnight; None for anything else."""
    if isinstance(value, time):
        return value.hour + value.minute / 60 + value.second / 3600
    part = CLOCK.fullmatch(value) if isinstance(value, str) else None
    if part is None:
        return None
    try:
        hour = _hour(int(part[1] or part[5]), part[4] or part[6])
    except ValueError:
        return None
    found = hour + int(part[2] or 0) / 60 + float(part[3] or 0) / 3600
    return None if found > 24 else found
