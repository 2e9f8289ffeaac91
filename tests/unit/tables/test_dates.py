"""Dates and clock times in text cells."""

import pytest

from proxembed.tables.dates import date_style, hours, is_clock, seconds

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
    "word", ["1.2.3", "192.168.0.1", "05.01/2024", "2024", "32.01.2024", "Foo 5, 2024", "14:40", "555-12-1234"]
)
def test_other_text_is_no_date(word):
    assert date_style([word]) is None


def test_hours_of_the_day():
    assert [hours(word) for word in ("14:30", "2:30 PM", "00:00:36", "12:00 am")] == [14.5, 14.5, 0.01, 0]
    assert not any(map(is_clock, ([], ["14:40", "14:40:05"], ["13:00 PM"], ["75:30"], ["1h30"])))
