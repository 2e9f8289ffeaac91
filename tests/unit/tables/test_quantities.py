"""Numbers in text cells: marks, signs, units, and the one style of a table."""

import pytest

from proxembed.tables.quantities import NumberWords, number, quantity, table_style

POINT, US, COMMA, GERMAN, SWISS, FRENCH, WHOLE = "", ".,", ",", ",.", ".'", ", ", "? "


@pytest.mark.parametrize(
    ("word", "style", "value"),
    [
        ("0,126", COMMA, 0.126),
        ("0,126", US, None),
        ("0,126", POINT, None),
        ("1,234", US, 1234),
        ("1,234", COMMA, 1.234),
        ("1,234", POINT, None),
        ("1,234.5", POINT, 1234.5),
        ("1,5", US, None),
        ("12,50", US, None),
        ("4,1234", US, None),
        ("4,123,45", US, None),
        ("1,23,456", US, None),
        ("1.234,5", US, None),
        ("1.234", GERMAN, 1234),
        ("1.234", COMMA, None),
        ("1.234,5", COMMA, 1234.5),
        ("1.234.567", COMMA, 1234567),
        ("1.23,4", GERMAN, None),
        ("4.12", GERMAN, None),
        ("12'345.5", SWISS, 12345.5),
        ("12\u2019345.5", SWISS, 12345.5),
        ("12 345,5", FRENCH, 12345.5),
        ("12\u00a0345,5", FRENCH, 12345.5),
        ("12\u202f345,5", FRENCH, 12345.5),
        ("1 234 56", FRENCH, None),
        ("1'234", US, None),
        ("1 234", WHOLE, 1234),
        ("12", WHOLE, 12),
        ("1.234", WHOLE, None),
        ("1,234", WHOLE, None),
        ("1 234,5", WHOLE, 1234.5),
        ("1 234.5", WHOLE, 1234.5),
        ("0.5", WHOLE, 0.5),
        ("1,5e3", COMMA, 1500),
        ("2,5E-3", COMMA, 0.0025),
        ("1,234e3", US, None),
        ("\u22121,5", COMMA, -1.5),
        ("\u20131,5", COMMA, -1.5),
        ("+1,5", COMMA, 1.5),
        ("- 1,5", COMMA, -1.5),
        ("1.234,50-", GERMAN, -1234.5),
        ("(1,234)", US, -1234),
        ("-(5)", US, None),
        ("-5-", US, None),
        (",5", COMMA, 0.5),
        ("1e3", POINT, 1000),
    ],
)
def test_groups_are_complete_and_the_mark_is_that_of_the_style(word, style, value):
    assert number(word, style, "") == value


@pytest.mark.parametrize(
    ("word", "unit", "value"),
    [
        ("12%", "%", 12),
        ("1 234,5 \u20ac", "\u20ac", 1234.5),
        ("1\u00a0234,5\u00a0\u20ac", "\u20ac", 1234.5),
        ("\u20ac 1 234,50", "\u20ac", 1234.5),
        ("CHF 3,5", "CHF", 3.5),
        ("-$5", "$", -5),
        ("$-5", "$", -5),
        ("R$ 2,5", "R$", 2.5),
        ("3,1 l/min", "l/min", 3.1),
        ("2 m2", "m2", 2),
        ("7 l/100km", "l/100km", 7),
    ],
)
def test_a_unit_or_a_currency_stands_before_or_after(word, unit, value):
    assert number(word, FRENCH, unit) == value and number(word, FRENCH, "kg") is None


@pytest.mark.parametrize(
    "word",
    "5'11\" 6'0\" 5\u203211\u2033 1/2 3/4 4/5 14:40 9:00 1h30 5-10 1.2.3 192.168.0.1 555-1234 3- v1".split()
    + ["48\u00b012'", "2024-01-31", "+49 30 12345", "5 - 10", "5 to 10", "2x4", "5 (3)", "5 1/2", "1 2", ""],
)
def test_what_is_no_number_is_none_in_no_style(word):
    part = quantity(word)
    assert part is None or all(part.value(style) is None for style in (POINT, US, COMMA, GERMAN, SWISS, FRENCH))


def style_of(*columns, **options):
    found = table_style({f"c{j}": NumberWords(words) for j, words in enumerate(columns)}, **options)
    return (found.style, list(found.questions))


@pytest.mark.parametrize(
    ("columns", "style"),
    [
        ([["1,234", "5"], ["1,5"]], ","),
        ([["1,234", "5"], ["0,101"]], ","),
        ([["1,234", "5"], ["1.5"]], ".,"),
        ([["1,234", "1,234,567"]], ".,"),
        ([["1.234", "5"], ["1,5"]], ",."),
        ([["3.527,56"], ["-0,132"], ["12%"]], ",."),
        ([["1'234.50", "3"]], ".'"),
        ([["1 234,5", "3"], ["7,25"]], ", "),
        ([["30,512", "1.5", "2.5"]], ".,"),
        ([["red", "blue"], ["1", "2"]], ""),
        ([["1.234", "2.345"]], ""),
        ([["-", "1,5", "2,5"]], ","),
        ([["007", "0,5"], ["1.5"]], ""),
    ],
)
def test_all_columns_settle_the_style(columns, style):
    assert style_of(*columns) == (style, [])


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ([["1,101", "2,202", "7"]], ["c0"]),
        ([["a"], ["$1,101"], ["2,202 kg"]], ["c1", "c2"]),
        ([["1,234", "1.234"]], ["c0"]),
        ([["1,5"], ["1.5"]], ["c0"]),  # its text names the other
    ],
)
def test_a_style_that_both_readings_fit_or_none_is_asked_about(columns, asked):
    assert style_of(*columns)[1] == asked
    assert style_of(*columns, decimal=",")[1] == style_of(*columns, decimal=".")[1] == []


def test_points_alone_are_asked_about_where_commas_may_be_decimal():
    assert style_of(["1.101", "2.202"], points=False)[1] == ["c0"]
    assert style_of(["1.101", "2.202"], ["0.5"], points=False) == ("", [])


@pytest.mark.parametrize(
    ("columns", "style"),
    [
        ({"a": ["1 234", "12"]}, "? "),
        ({"a": ["1 234", "12"], "b": ["0.5"]}, ". "),
        ({"a": ["1 234", "12"], "b": ["0,5"]}, ", "),
        ({"a": ["1'234", "12"], "b": ["7", "8"]}, "?'"),
        ({"a": ["12", "1234"]}, ""),
    ],
    ids=str,
)
def test_a_table_without_decimals_leaves_the_decimal_mark_open(columns, style):
    assert table_style({name: NumberWords(words) for name, words in columns.items()}).style == style


@pytest.mark.parametrize(
    ("words", "unit", "values"),
    [
        (["\u20ac110.5M", "\u20ac565K", "\u20ac0", "\u20ac900"], "\u20ac (k, M)", [110.5e6, 565e3, 0, 900]),
        (["1.5k", "300", "2M", "1bn"], " (k, M)", [1500, 300, 2e6, 1e9]),
        (["8.7M", "201k"], " (k, M)", [8.7e6, 201e3]),
        (["1.2k", "850"], " (k, M)", [1200, 850]),
        (["19M", "20M"], "M", [19, 20]),
        (["$5K", "$6K"], "$ (k, M)", [5000, 6000]),
        (["10,000+", "5+", "0+"], "+", [10000, 5, 0]),
    ],
)
def test_factors_after_numbers(words, unit, values):
    found = NumberWords(words)
    assert found.unit == unit and not found.misfits(US) and [number(word, US, unit) for word in words] == values


@pytest.mark.parametrize(
    "words",
    [["32M", "25F"], ["32M", "25"], ["3 km", "2 mm"], ["5kg", "3"], ["12 months", "1k"], ["3+", "3-"]]
    + [["14K", "18K", "925"], ["300K", "310K", "290"], ["5K", "10M"], ["8M", "9B"], ["8.5M", "9B"], ["12B", "3K"]]
    + [["2.5K", "1200"], ["5.1\u00b0K", "3"]],
)
def test_what_are_no_factors(words):
    assert NumberWords(words).misfits(US)
