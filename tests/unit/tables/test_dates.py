"""Dates and clock times in text cells."""

from datetime import UTC, datetime

import pytest

from proxembed.tables.dates import bare_dates, clock_style, date_misfits, date_style, hours, is_clock, minutes, seconds

FIFTH = 1704412800.0  # 2024-01-05


@pytest.mark.parametrize(
    ("word", "style"),
    [
        ("2024-01-05", "iso"),
        ("2024/1/5", "iso"),
        ("2024.01.05", "iso"),
        ("Jan 5, 2024", "iso"),
        ("January 5th 2024", "iso"),
        ("5 Jan 2024", "iso"),
        ("5-Jan-24", "iso"),
        ("Fri, 05 Jan 2024 00:00:00", "iso"),
        ("2024-01-05 00:00:00 UTC", "iso"),
        ("2024-01-05T02:00:00+02:00", "iso"),
        ("2024-01-05 02:00:00 +0200", "iso"),
        ("Fri, 05 Jan 2024 00:00:00 GMT", "iso"),
        ("2024/01/05 2:00:00 AM GMT+2", "iso"),
        ("Thu, 4 Jan 2024 19:00:00 -0500", "iso"),
        ("Fri Jan 05 00:00:00 +0000 2024", "iso"),
        ("Fri Jan  5 00:00:00 2024", "iso"),
        ("Jan 5, 2024 12:00 AM EST", "iso"),
        ("04/Jan/2024:19:00:00 -0500", "iso"),
        ("05/01/2024", "dmy"),
        ("05.01.24", "dmy"),
        ("5-1-2024", "dmy"),
        ("1/5/2024", "mdy"),
        ("1/5/2024 12:00 AM", "mdy"),
    ],
)
def test_a_date_in_each_form(word, style):
    assert seconds(word, style) == FIFTH


@pytest.mark.parametrize(
    "word",
    ["2024-04", "2024/04", "2024M04", "2024m4", "Apr-2024", "April 2024", "2024 Apr", "2024, April"]
    + ["Apr-24", "Apr-'24"]
    + ["2024 Q2", "2024-Q2", "2024Q2", "Q2 2024", "Q2/2024", "2024-W14", "2024 W14"],
)
def test_a_month_a_quarter_or_a_week_is_its_first_day(word):
    assert date_style([word]) == "iso" and seconds(word, "iso") == 1711929600.0  # 2024-04-01, a Monday


def test_years_of_seasons_are_no_months():
    """2008-09 may be a month or the season of two years; where all cells are such pairs, it is the season."""
    assert date_style(["2008-09", "2009-10", "2010-11"]) is None
    assert date_misfits(["2008-09", "2012-13"]) == [0, 1]
    assert date_style(["2008-09", "2009-10", "2010-10"]) == "iso"


@pytest.mark.parametrize(
    "word",
    ["1.2.3", "192.168.0.1", "05.01/2024", "2024", "32.01.2024", "Foo 5, 2024", "14:40", "555-12-1234"]
    + ["2024-13", "2000-1", "2024-00", "2024 Q5", "2024 W54", "Foo 2024", "Mar 18", "12-Jan", "2024-2025", "12345-04"]
    + ["1200-10", "4010-05", "0805-01", "1055/03", "3008M1", "MAR1001", "SEP7890", "1450-02", "1234 Q1"],
)
def test_other_text_is_no_date(word):
    assert date_style([word]) is None


def test_hours_of_the_day():
    assert [hours(word) for word in ("14:30", "2:30 PM", "00:00:36", "12:00 am")] == [14.5, 14.5, 0.01, 0]
    assert not any(map(is_clock, ([], ["14:40", "14:40:05"], ["13:00 PM"], ["75:30"], ["1h30"])))


def test_durations_in_minutes():
    words = ("75:30", "1:02:30", "38:30:00", "1 day, 0:06:00", "0 days 00:00:30.000")
    assert [minutes(word) for word in words] == [75.5, 62.5, 2310, 1446, 0.5]
    mixed = (["75:30", "59:10"], ["59:10", "1:02:33"], ["38:31:00", "2:10:05"], ["1:02.35", "0:58.10"])
    for cells in (*mixed, ["0 days 00:01:00"]):
        assert clock_style(cells, "time") == "duration"
    for cells in ([], ["14:40", "14:40:05"], ["75:30", "1:5"], ["1:75"], ["2:30 PM", "75:30"]):
        assert clock_style(cells, "time") is None
    assert clock_style(["14:40", "9:15"], "x") == "clock"
    assert clock_style(["75:30", "59:10"], "x") is None  # scores, perhaps


@pytest.mark.parametrize(
    ("words", "style", "values"),
    [
        (["18.00.00", "09.30.00", "00.00.36"], "clock", [18, 9.5, 0.01]),
        (["18:15 Uhr", "9:30 Uhr"], "clock", [18.25, 9.5]),
        (["PT1H30M", "PT45S", "P1DT2H", "PT0S"], "duration", [90, 0.75, 1560, 0]),
        (["2h 50m", "19h", "45 min", "1 hr 5 mins", "1 day 2 hours"], "duration", [170, 1140, 45, 65, 1560]),
        (["18.10.05", "09.12.24"], None, []),  # dates
        (["5 m", "3 s"], None, []),  # metres, or one unit in each
        (["90 min", "95 min"], None, []),
        (["1.2.3", "18.4.10"], None, []),
        (["14h30", "9h00"], None, []),  # either
        (["PT", "P", "P1M", "T5H"], None, []),
    ],
)
def test_times_and_durations_in_other_forms(words, style, values):
    assert clock_style(words, "time") == style
    read = hours if style == "clock" else minutes
    assert [read(word) for word in words][: len(values)] == pytest.approx(values)


@pytest.mark.parametrize("name", ["time", "Uhrzeit", "hora", "start_time", "heure", "timestamp", "Dauer"])
def test_times_with_points_are_read_by_the_name_of_their_column(name):
    words = ["11.14.19", "09.45.00", "22.30.10"]
    assert clock_style(words, name) == "clock" and clock_style(words, "x") is None
    assert clock_style(["11.04.19", "09.05.20", "11.14.59"], name) is None  # most are dates
    assert clock_style(["62.01.10", "11.14.19"], name) is None


def test_degrees_are_no_durations():
    degrees = ["46d12m30s", "47d10m10s", "8d12m1s"]
    assert clock_style(degrees, "latitude") is None and clock_style(degrees, "duration") == "duration"
    assert clock_style([*degrees, "1d 2h 30m"], "x") == "duration"
    assert clock_style(["6M", "12M"], "x") is None is clock_style(["6M", "700k"], "time")


@pytest.mark.parametrize("form", ["%Y%m", "%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S"])
def test_dates_of_digits_alone(form):
    days = [datetime(2021 + j % 3, 1 + j, 1 + j * (form != "%Y%m"), tzinfo=UTC) for j in range(6)]
    words = [day.strftime(form) for day in days]
    assert bare_dates(words) and bare_dates([f"{word}.0" for word in words])
    assert [seconds(word, "bare") for word in words] == [day.timestamp() for day in days]
    assert [seconds(float(word), "bare") for word in words] == [day.timestamp() for day in days]
    of_one_year = [f"2021{j:02d}" for j in range(1, 13)]
    for others in (words[:4], [*words, "20211301"], [*words, "7"], ["202101"] * 5, of_one_year):
        assert not bare_dates(others), others
