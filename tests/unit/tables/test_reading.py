"""What a column of a table is read as, by its name and its cells."""

import pytest

from proxembed.tables.reading import read_columns

DATES = [f"{day:02}.{day % 9 + 1:02}.19" for day in range(1, 29)]
CLOCKS = [f"{j % 24:02}.{17 * j % 60:02}.{7 * j % 60:02}" for j in range(20)]
DEGREES = [f"{40 + j}d{7 * j % 60}m{11 * j % 60}s" for j in range(20)]
LENGTHS = [f"{j}h{7 * j % 60}m" for j in range(20)]
NACE = ["62.01.10", "62.02.20", "47.11.10", "01.11.40"]
EARLY = ["23.01.10", "22.02.20", "17.11.10", "01.11.40"]  # dates as well
RANGES = [f"{50 * j}k-{50 * j + 50}k" for j in range(1, 15)]


def reading(name, cells, rows=60):
    """The reading of a column of these cells, repeated up to the number of rows; 0: each once."""
    values = list(dict.fromkeys(cells))
    codes = [j % len(values) for j in range(max(rows, len(values)))]
    return read_columns({name: (values, codes)})[0]


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("time", CLOCKS, "clock time, in hours"),
        ("Uhrzeit", CLOCKS, "clock time, in hours"),
        ("x", CLOCKS, "category, 20 values"),
        ("nace", NACE, "category, 4 values"),
        ("x", NACE, "category, 4 values"),
        ("nace", EARLY, "code (by its name), 4 values"),
        ("coordinates", DEGREES, "category, 20 values"),
        ("elapsed", LENGTHS, "duration, in minutes"),
        ("size", ["6M", "7M", "8L", "12M"], "category, 4 values"),
        ("size", ["6M", "12M"], "number in M"),
        ("users", RANGES, "category, 14 values"),
        ("account", RANGES, "category, 14 values"),
    ],
)
def test_times_codes_and_ranges(name, cells, words):
    assert reading(name, cells).words == words


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("time", CLOCKS, "clock time, in hours"),
        ("elapsed", LENGTHS, "duration, in minutes"),
        ("x", DEGREES, "category, 20 values"),
        ("range_id", RANGES, "id, left out"),
        ("customer", RANGES, "id, left out"),
        ("income", RANGES, "category, 14 values"),
    ],
)
def test_columns_of_cells_that_all_differ(name, cells, words):
    assert reading(name, cells, rows=0).words == words


@pytest.mark.parametrize("name", ["day", "time", "x"])
def test_a_wrong_date_among_dates_is_asked_about(name):
    found = reading(name, [*DATES, "11.34.19"])
    assert found.column is None and found.options == (("missing", "11.34.19"),)
    assert found.problem.startswith("holds '11.34.19' in 2 cells of 60, and dates in the others")


@pytest.mark.parametrize("words", [["n", "j", "y"], ["si", "sim"], ["no", "si", "tak"], ["ja", "yes"], ["y", "yes"]])
def test_truth_words_of_several_pairs_are_a_category(words):
    assert reading("x", words).words == f"category, {len(words)} values"


SIGNED = ["<-5", "< -5", ">=-0.5", "<\u22125", "<+5"]


@pytest.mark.parametrize("limit", ["<5", "< 5", "<0.006", ">1000", "\u22645", *SIGNED])
def test_a_limit_of_any_sign_is_read_as_its_number(limit):
    found = reading("x", [*map(str, range(-4, 6)), limit])
    assert found.words == "number" and f"such as {limit!r} are read as that limit" in found.note
    bare = float(limit.lstrip("<>=\u2264 ").replace("\u2212", "-"))
    assert found.column.parse([limit], [0]).tolist() == [bare]


def test_a_limit_may_have_a_currency():
    found = reading("x", [*(f"${j}" for j in range(10)), "<$5", "< -$5"])
    assert found.words == "number in $" and found.column.parse(["<$5", "< -$5"], [0, 1]).tolist() == [5, -5]


@pytest.mark.parametrize(
    "cells",
    [
        ["Bern, Switzerland", "Basel, Switzerland", "Zug, Switzerland", "Switzerland", "Bern"],
        ["Smith, Ann", "Smith, Bob", "Jones, Ann", "Jones, Bob", "Ann", "Bob"],
        ["London, UK", "Paris", "London", "Rome, Italy", "Rome"],
    ],
)
def test_places_and_names_with_commas_are_no_choices(cells):
    assert reading("x", cells).words == f"category, {len(cells)} values"


def test_choices_are_divided_at_commas():
    for cells in (["red, green", "red", "green, blue", "blue", "red, blue"], ["a", "b", "a, b", "b, a"]):
        assert reading("x", cells).words == "names, joined by ','"


@pytest.mark.parametrize("cells", [CLOCKS, DEGREES, ["80:20", "70:30", "60:40"]])
def test_cells_that_may_be_times_are_noted_with_the_name_that_makes_them_times(cells):
    found = reading("share", cells)
    assert found.words.startswith("category") and found.note.endswith("the name of a time, such as 'share_time'")
    assert reading("share_time", cells).column.kind == "number"
