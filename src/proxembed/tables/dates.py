"""Dates and clock times in text cells, and as objects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from .numerals import NUMBER

CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?: ?([AaPp])\.?[Mm]\.?)?"
OF_DAY = rf"(?:[ ,T]+{CLOCK})?"
FORMS = {
    "dmy": re.compile(rf"(?P<d>\d{{1,2}})[./-](?P<m>\d{{1,2}})[./-](?P<y>\d{{4}}){OF_DAY}", re.ASCII),
    "mdy": re.compile(rf"(?P<m>\d{{1,2}})[./-](?P<d>\d{{1,2}})[./-](?P<y>\d{{4}}){OF_DAY}", re.ASCII),
    "ymd": re.compile(rf"(?P<y>\d{{4}})[./](?P<m>\d{{1,2}})[./](?P<d>\d{{1,2}}){OF_DAY}", re.ASCII),
    "dmy2": re.compile(rf"(?P<d>\d{{2}})[./-](?P<m>\d{{2}})[./-](?P<y>\d{{2}}){OF_DAY}", re.ASCII),
    "mdy2": re.compile(rf"(?P<m>\d{{2}})[./-](?P<d>\d{{2}})[./-](?P<y>\d{{2}}){OF_DAY}", re.ASCII),
    "day month": re.compile(rf"(?P<d>\d{{1,2}})[. -]+(?P<m>[A-Za-z]{{3,9}})\.?[ ,-]+(?P<y>\d{{4}}){OF_DAY}", re.ASCII),
    "month day": re.compile(
        rf"(?P<m>[A-Za-z]{{3,9}})\.? +(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? +(?P<y>\d{{4}}){OF_DAY}", re.ASCII
    ),
}
DATE_STYLES = ("iso", *FORMS)
WORDS = {
    "iso": "",
    "dmy": ", day first",
    "mdy": ", month first",
    "ymd": ", year first",
    "dmy2": ", day first, years of two digits",
    "mdy2": ", month first, years of two digits",
    "day month": ", named months",
    "month day": ", named months",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
PIVOT = 69  # years of two digits from here on are of the last century, as in POSIX


def date_misfits(words: Sequence[str]) -> list[int]:
    """The places of the words that are not dates of the form of most others.

    Examples
    --------
    >>> from proxembed.tables.dates import date_misfits
    >>> date_misfits(["2024-01-31", "-", "17.05.2022", "2024-02-01"])
    [1, 2]
    """
    places = [[j for j, word in enumerate(words) if seconds(word, style) is None] for style in DATE_STYLES]
    return min(places, key=len)


def date_style(words: Sequence[str]) -> str | None:
    """How all the words write a date, such as "iso", "dmy" (31/12/2024) or "mdy"; None if one is not a date.

    If no day is above 12, the day is taken to come first.

    Examples
    --------
    >>> from proxembed.tables.dates import date_style
    >>> date_style(["2024-01-31"]), date_style(["31/12/2024"]), date_style(["12/31/2024"]), date_style(["soon"])
    ('iso', 'dmy', 'mdy', None)
    >>> date_style(["Jan 5, 2024"]), date_style(["31.12.24"]), date_style(["2024/01/31"])
    ('month day', 'dmy2', 'ymd')
    """
    for style in DATE_STYLES:
        if words and all(seconds(word, style) is not None for word in words):
            return style
    return None


def either_order(words: Sequence[str], style: str) -> bool:
    """Whether dates with the day first fit with the month first, too.

    Examples
    --------
    >>> from proxembed.tables.dates import either_order
    >>> either_order(["01/02/2024"], "dmy"), either_order(["31/12/2024"], "dmy")
    (True, False)
    """
    other = {"dmy": "mdy", "dmy2": "mdy2"}.get(style)
    return other is not None and all(seconds(word, other) is not None for word in words)


def seconds(value: Any, style: str) -> float | None:
    """A date as seconds since 1970 (UTC if it has no zone), in a style of ``date_style``; None for anything else.

    Examples
    --------
    >>> from proxembed.tables.dates import seconds
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
        part = FORMS[style].fullmatch(word)
        if part is None:
            return None
        year, month = int(part["y"]), part["m"].lower()[:3]
        if len(part["y"]) == 2:
            year += 1900 if year >= PIVOT else 2000
        number = MONTHS.index(month) + 1 if month.isalpha() else int(month)
        moment = _time_of_day(*part.groups()[3:])
        return None if moment is None else datetime.combine(date(year, number, int(part["d"])), moment)
    except ValueError:
        return None


def _time_of_day(hour: str | None, minute: str | None, second: str | None, half: str | None) -> time | None:
    """A clock time, midnight if it is not given; None for an hour that no day has."""
    h = int(hour or 0)
    if half is not None:
        if not 1 <= h <= 12:
            return None
        h = h % 12 + 12 * (half in "pP")
    return time(h, int(minute or 0), int(second or 0))


def hours(value: Any) -> float | None:
    """A clock time (14:40, 2:40 PM, a ``datetime.time``) as hours since midnight; None for anything else.

    Examples
    --------
    >>> from proxembed.tables.dates import hours
    >>> hours("14:30"), hours("2:30 PM"), hours("25:00"), hours("soon")
    (14.5, 14.5, None, None)
    """
    if isinstance(value, str):
        part = re.fullmatch(CLOCK, value, re.ASCII)
        try:
            value = None if part is None else _time_of_day(*part.groups())
        except ValueError:
            return None
    if not isinstance(value, time):
        return None
    return value.hour + value.minute / 60 + value.second / 3600
