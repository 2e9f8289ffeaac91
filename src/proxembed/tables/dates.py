"""Dates and clock times in text cells, and how a column writes them."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
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
YEAR = r"((?:1[6-9]|20)\d\d)"  # beside which no day tells a date from a code such as 1200-10
NUMBERED_MONTH = re.compile(rf"{YEAR}(?:[/-](?=\d\d)|[Mm])(\d{{1,2}})", re.ASCII)
NAMED_MONTH = re.compile(rf"([a-z]{{3,9}})\.?[\s,-]*{YEAR}|{YEAR}[\s,-]*([a-z]{{3,9}})", re.I | re.ASCII)
SHORT_MONTH = re.compile(r"([a-z]{3})-'?(\d\d)", re.I | re.ASCII)  # Dec-11, of 2011
QUARTER = re.compile(rf"[Qq]([1-4])[\s/-]*{YEAR}|{YEAR}[\s:/-]*[Qq]([1-4])", re.ASCII)
WEEK = re.compile(rf"{YEAR}[\s-]*W(\d{{2}})", re.ASCII)
TIME_BEFORE_YEAR = re.compile(  # as Twitter and C write it
    rf"{WEEKDAY}([a-z]{{3}})\s+(\d{{1,2}})\s+(\d{{1,2}}:\d{{2}}(?::\d{{2}})?)((?:\s+(?:[+-]\d{{4}}|[a-z]{{3,5}}))?)\s+(\d{{4}})",
    re.I | re.ASCII,
)
WEB_LOG = re.compile(r"(\d{1,2})/([a-z]{3})/(\d{4}):(\d{2}:\d{2}:\d{2}.*)", re.I | re.ASCII)
OFFSET = re.compile(
    r"\s*(?:(?:UTC|GMT)?([+-]\d{2}):?(\d{2})|(?:UTC|GMT)([+-]\d{1,2})|(?:UTC|GMT|Z)|\b(?![AP]M)[A-Z]{3,5})$", re.ASCII
)
FULL_MONTHS = ("january february march april may june july august september october november december sept").split()
HALF = r"([AaPp]\.?[Mm]\.?)"
CLOCK = re.compile(rf"(\d{{1,2}}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?\s*(?:{HALF}|Uhr)?|(\d{{1,2}})\s*{HALF}", re.ASCII)
SHORT_DOTTED = re.compile(r"(?:[01]?\d|2[0-3])\.[0-5]\d", re.ASCII)  # 14.40, a time or a number
FEWEST_DOTTED = 20  # different ones that must have no more than 59 minutes
DOTTED = re.compile(r"\d{1,2}\.[0-5]\d\.[0-5]\d", re.ASCII)  # hours, minutes and seconds, a date or a code
WRITTEN = re.compile(  # with units, such as PT1H30M or 1 day 2 h 30 min
    r"(?:P(?=\d+D|T\d)|(?=\d))(?:(\d+)\s*d(?:ays?)?\s*)?T?(?:(\d+)\s*h(?:(?:ou)?rs?)?\s*)?"
    r"(?:(\d+)\s*m(?:in(?:ute)?s?)?\s*)?(?:(\d+(?:\.\d+)?)\s*s(?:ec(?:ond)?s?)?)?",
    re.I | re.ASCII,
)
DURATION = re.compile(r"(?:(\d+) days?,? )?(?:(\d+):(?=\d\d:))?(\d+):([0-5]\d(?:\.\d+)?)", re.ASCII)
TIME_NAME = re.compile(
    r"(?:^|[\W_])(?:(?:\w*time|\w*zeit|\w*dauer|duration|lap|split|elapsed|pace|minute|min|sec|second|hour"
    r"|timestamp|uhr|clock|hora|heure|dur[e\u00e9]e|ora|orario|tijd|godzina)s?)(?:$|[\W_])"
    r"|[a-z](?:Time|Duration|Lap)(?![a-z])",
    re.IGNORECASE,
)
BARE_FORMS = {6: "%Y%m", 8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}  # digits of a date without marks
BARE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:\d\d){0,4}(?:\.0*)?", re.ASCII)
FEWEST_BARE = 5  # different months or days, in two years, that whole numbers must be to be read as dates
LATEST_OF_TWO = 68  # a year of two digits up to this one is 20xx, as in POSIX


def date_style(words: Sequence[str]) -> str | None:
    """How all the words write a date: "iso" (year first, or the month by its name), "dmy" (31/12/2024) or "mdy"."""
    if all(map(_is_season, words)):
        return None
    for style in DATE_STYLES:
        if words and all(seconds(word, style) is not None for word in words):
            return style
    return None


def bare_dates(words: Sequence[str]) -> bool:
    """Whether all words are dates without marks, of one form such as 20241231, in two years or more."""
    if len(words) < FEWEST_BARE or len({len(word.partition(".")[0]) for word in words}) > 1:
        return False
    return len({word[:4] for word in words}) > 1 and all(_bare(word) is not None for word in words)


def _bare(value: Any) -> datetime | None:
    """A date of digits alone, such as 20241231."""
    word = value if isinstance(value, str) else f"{value:.0f}"
    form = BARE_FORMS.get(len(word.partition(".")[0])) if BARE.fullmatch(word) else None
    if form is None:
        return None
    try:
        return datetime.strptime(word.partition(".")[0], form)
    except ValueError:
        return None


def date_misfits(words: Sequence[str]) -> list[int]:
    """The places of the words that are not dates of the form of most others."""
    if all(map(_is_season, words)):
        return list(range(len(words)))
    places = [[j for j, word in enumerate(words) if seconds(word, style) is None] for style in DATE_STYLES]
    return min(places, key=len)


def has_short_years(words: Sequence[str]) -> bool:
    """Whether dates have years of two digits, whose century is a guess."""
    if any(map(SHORT_MONTH.fullmatch, words)):
        return True
    parts = [DIGITS.fullmatch(word) or DAY_NAMED.fullmatch(word) for word in words]
    return any(part is not None and len(part[part.re.groups - 4]) == 2 for part in parts)


def seconds(value: Any, style: str) -> float | None:
    """A date as seconds since 1970 (UTC if it has no zone), in a style of ``date_style``; None for anything else."""
    if style == "bare" and isinstance(value, str | int | float):
        value = _bare(value)
    elif isinstance(value, str):
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
            return _iso(word)
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
    elif part := TIME_BEFORE_YEAR.fullmatch(word):
        return _iso(f"{part[2]} {part[1]} {part[5]} {part[3]}{part[4]}")
    elif part := WEB_LOG.fullmatch(word):
        return _iso(f"{part[1]} {part[2]} {part[3]} {part[4]}")
    elif ":" in word and (zone := OFFSET.search(word)):
        found = _iso(word[: zone.start()])
        return found and found.replace(tzinfo=_zone(zone[1] or zone[3], zone[2]))
    else:
        return _first_day(word)
    return _at(year, _month(name), day, part.groups()[3:])


def named_zone(words: Sequence[str]) -> str | None:
    """A zone such as EST, whose offset is not known, with which a time ends, or stands before a year; None for none."""
    zones = (re.search(r"\s(?!UTC|GMT)([A-Z]{3,5})(?:\s+\d{4})?$", word) for word in words if ":" in word)
    return next((zone[1] for zone in zones if zone is not None), None)


def _zone(hours: str | None, minutes: str | None) -> timezone:
    """An offset from UTC, such as -05 and 30; that of a zone that is named counts as 0."""
    ahead = timedelta(hours=abs(int(hours or 0)), minutes=int(minutes or 0))
    return timezone(-ahead if (hours or "").startswith("-") else ahead)


def _first_day(word: str) -> datetime | None:
    """The first day of a month, a quarter or a week of a year."""
    if part := NUMBERED_MONTH.fullmatch(word):
        return datetime(int(part[1]), int(part[2]), 1)
    if part := NAMED_MONTH.fullmatch(word):
        return datetime(int(part[2] or part[3]), _month(part[1] or part[4]), 1)
    if part := SHORT_MONTH.fullmatch(word):
        return _at(part[2], _month(part[1]), "1", (None, None, None, None))
    if part := QUARTER.fullmatch(word):
        return datetime(int(part[2] or part[3]), 3 * int(part[1] or part[4]) - 2, 1)
    if part := WEEK.fullmatch(word):
        return datetime.fromisocalendar(int(part[1]), int(part[2]), 1)
    return None


def is_numbered_month(word: str) -> bool:
    """Whether a word is a year and the number of a month, such as 2024-12, which may be a code."""
    return NUMBERED_MONTH.fullmatch(word) is not None


def _is_season(word: str) -> bool:
    """Whether a word may be a year and the next one, such as 2008-09."""
    part = NUMBERED_MONTH.fullmatch(word)
    return part is not None and (int(part[1]) + 1) % 100 == int(part[2])


def _month(name: str) -> int:
    """The number of a month; raises ValueError for another name."""
    name = name.lower()
    if name not in FULL_MONTHS and name not in MONTHS:
        raise ValueError(name)
    return 1 + MONTHS.index(name[:3])


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
    """Whether all words are clock times of one form: 14:40, 14:40:05 and 14.40.05, or 2:40 PM and 3pm. Those with
    points are no dates either, most of them at least."""
    parts = list(map(_clock, words))
    if not parts or any(part is None or hours(part[0]) is None for part in parts):
        return False
    if all(map(DOTTED.fullmatch, words)) and 2 * len(date_misfits(words)) < len(words):
        return False
    forms = {(part[3] is None, (part[4] or part[6]) is None) for part in parts if part is not None}
    return len(forms) == 1


def _clock(word: str) -> re.Match[str] | None:
    """The parts of a clock time, written with colons."""
    return CLOCK.fullmatch(word.replace(".", ":") if DOTTED.fullmatch(word) else word)


def hours(value: Any) -> float | None:
    """A clock time (14:40, 2:40 PM, a ``datetime.time``) as hours since midnight; None for anything else."""
    if isinstance(value, time):
        return value.hour + value.minute / 60 + value.second / 3600
    part = _clock(value) if isinstance(value, str) else None
    if part is None:
        return None
    try:
        hour = _hour(int(part[1] or part[5]), part[4] or part[6])
    except ValueError:
        return None
    found = hour + int(part[2] or 0) / 60 + float(part[3] or 0) / 3600
    return None if found > 24 else found


def clock_style(words: Sequence[str], name: str) -> str | None:
    """How all words of a column write a time: "clock", or "duration" (75:30, 1:02:33) if one is no time of a day; with
    units only if one has two of them (1h 30m) or is in ISO's form. The column's name must say that it holds times if
    they have points (14.40.05) or may be something else."""
    named = time_name(name)
    if is_clock(words):
        return "clock" if named or not any(map(DOTTED.fullmatch, words)) else None
    if not words or any(minutes(word) is None for word in words) or all(hours(word) is not None for word in words):
        return None
    written = [word for word in words if WRITTEN.fullmatch(word)]
    if written and not any(word[0] in "Pp" or len(re.findall(r"[A-Za-z]+", word)) > 1 for word in written):
        return None
    return "duration" if named or _lasts(words) else None


def _lasts(words: Sequence[str]) -> bool:
    """Whether durations are no ratios, scores or angles: they have units, days or decimals, or hours in some cells
    alone. Days and minutes without hours in any cell are degrees, as in 46d12m30s."""
    units = [part for part in map(WRITTEN.fullmatch, words) if part is not None]
    if units:
        return any(part[2] for part in units) or not any(part[1] and part[3] for part in units)
    parts = [part for part in map(DURATION.fullmatch, words) if part is not None]
    return any(part[1] or "." in part[4] for part in parts) or len({part[2] is None for part in parts}) > 1


def time_name(name: str) -> bool:
    """Whether a column name says that its cells are times."""
    return TIME_NAME.search(name) is not None


def may_be_times(words: Sequence[str], name: str) -> bool:
    """Whether numbers such as 14.40 may be times: under the name of a time, and none has more than 59 minutes."""
    return time_name(name) and len(set(words)) >= FEWEST_DOTTED and all(map(SHORT_DOTTED.fullmatch, words))


def clock_misfits(words: Sequence[str]) -> list[int]:
    """The places of the words that are neither clock times nor durations, as most others are."""
    places = [[j for j, word in enumerate(words) if read(word) is None] for read in (hours, minutes)]
    return min(places, key=len)


def minutes(value: Any) -> float | None:
    """A duration, of minutes and seconds (75:30), hours too (1:02:33), or days (1 days 02:00:00), or with units
    (1h 30m, PT1H30M), in minutes; None for anything else."""
    if isinstance(value, str) and (written := WRITTEN.fullmatch(value)) and any(written.groups()):
        days, hour, minute, second = (float(each or 0) for each in written.groups())
        return 60 * (24 * days + hour) + minute + second / 60
    part = DURATION.fullmatch(value) if isinstance(value, str) else None
    if part is None or part[2] is not None and int(part[3]) > 59:
        return None
    return 60 * (24 * int(part[1] or 0) + int(part[2] or 0)) + int(part[3]) + float(part[4]) / 60
