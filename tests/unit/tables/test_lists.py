"""Lists in text cells, in every form in which programs write them."""

import numpy as np
import pytest

from proxembed.tables.lists import are_choices, are_codes_chosen, listed


@pytest.mark.parametrize(
    ("word", "entries"),
    [
        ("['python' 'pandas']", ("python", "pandas")),
        ("['a'\n 'b']", ("a", "b")),
        ("[\"it's\" 'b']", ("it's", "b")),
        ("['a', 'b']", ("a", "b")),
        ('["a", "b, c"]', ("a", "b, c")),
        ("('a', 'b')", ("a", "b")),
        ("('a',)", ("a",)),
        ("{'b', 'a'}", ("a", "b")),
        ("set()", ()),
        ("frozenset({'a'})", ("a",)),
        ("{a,b}", ("a", "b")),
        ('{"a b",c,NULL}', ("a b", "c")),
        ("{}", ()),
        ("{1,2}", (1, 2)),
        ("<c#><asp.net>", ("c#", "asp.net")),
        ("[a, b]", ("a", "b")),
        ('[{"id": 18, "name": "Drama"}, {"id": 3, "name": "War"}]', ("Drama", "War")),
        ("{'id': 1, 'name': 'A'}", ("A",)),
        ("array(['a', 'b'], dtype=object)", ("a", "b")),
        ("[np.str_('a b'), np.str_('c')]", ("a b", "c")),
        ("[np.float64(0.5), np.float64(2.0)]", (0.5, 2.0)),
        ('["caf\\u00e9"]', ("caf\u00e9",)),
        ("[]", ()),
    ],
)
def test_each_form_gives_its_entries(word, entries):
    assert listed(word) == entries


def test_what_python_and_numpy_print_is_read_back():
    for names in (["a"], ["a b", "c"], ["it's", 'say "x"'], ["\u00e9", "a,b"]):
        assert listed(str(names)) == listed(repr(tuple(names))) == tuple(names)
        assert listed(str(np.array(names))) == listed(str(np.array(names, dtype=object))) == tuple(names)
        assert set(listed(str(set(names)))) == set(names)
    vector = np.arange(5) / 7
    assert listed(str(vector)) == pytest.approx(vector) and listed(repr(vector)) == pytest.approx(vector)


@pytest.mark.parametrize("word", ["(1,234)", "(see p. 3)", "<p>hi</p>", "<br/>", "red", "[a b]", "{a: 1}", "a]", "("])
def test_other_text_is_no_list(word):
    assert listed(word) is None


@pytest.mark.parametrize(
    "word", ["[0.1 0.2 ... 0.9]", "[0.1, ..., 0.9]", "['a' ... 'z']", "[0.1, 0.2...", "[a, \u2026]"]
)
def test_entries_that_were_left_out_are_seen(word):
    assert ... in listed(word)


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["a", "b", "c", "d", "a, b", "b, c", "a, c, d", "b, d"], True),
        (["a, b", "b, c", "c, d", "a, d", "b, d", "d, b, a"], True),
        ([f"{name}, {first}" for name in "abcdef" for first in "stuvw"], False),  # names
        (["Bern, CH", "Basel, CH", "Lyon, F", "Paris, F", "Nice, F"], False),
        (["a", "b", "c", "a, b", "d, e", "f, g, h, i"], False),
        (["Bern, CH", "Basel, CH", "Chur, CH", "CH", "Bern"], False),
        (["a", "b", "a, b"], True),
    ],
)
def test_choices_joined_by_commas(words, choices):
    assert are_choices(words) is choices


def test_codes_of_several_choices_are_no_numbers_with_a_decimal_comma():
    pairs = [f"{one},{other}" for one in range(1, 6) for other in range(one + 1, 6)]
    assert are_codes_chosen(["3", *pairs]) and are_codes_chosen(["3", "12", "1,12", "1,2,5", *pairs])
    decimals = [f"{number // 4},{25 * (number % 4):02d}" for number in range(5, 40) if number % 4]
    tenths = [f"1,{digit}" for digit in range(2, 10)]
    for words in (
        pairs,
        ["3", *pairs, "2,1"],
        ["3", *pairs[:5]],
        ["3", *decimals],
        ["1", *tenths],
        ["0", *pairs, "0,5"],
    ):
        assert not are_codes_chosen(words), words
