"""The designs keep what they promise, under the names that pytest gives to products."""

from itertools import combinations, product

import pytest

from designs import WHOLE, cover, covering, each_value, in_turn, pairwise, share, singled, star

SIZES = [(1, 1), (5, 2), (2, 5), (3, 3), (7, 3, 2), (2, 2, 2), (4, 4, 4), (2, 9, 3, 4), (1, 6, 2)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_pair_of_places_occurs_in_a_covering(sizes):
    rows = covering(sizes)
    for a, b in combinations(range(len(sizes)), 2):
        assert {(row[a], row[b]) for row in rows} == set(product(range(sizes[a]), range(sizes[b])))
    assert len(set(rows)) == len(rows)
    assert all(0 <= place < size for row in rows for place, size in zip(row, sizes, strict=True))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_place_occurs_in_a_star(sizes):
    rows, longest = star(sizes), max(range(len(sizes)), key=sizes.__getitem__)
    for axis, size in enumerate(sizes):
        assert {row[axis] for row in rows} == set(range(size))
    others = product(*(range(size) for axis, size in enumerate(sizes) if axis != longest))
    assert {(*row[:longest], *row[longest + 1 :]) for row in rows if row[longest] == 0} == set(others)
    assert len(set(rows)) == len(rows) == len({row for row in rows if row[longest] == 0}) + sizes[longest] - 1


@pytest.mark.parametrize("of", [1, 2, 5, 40])
def test_the_turns_together_take_every_value(of):
    turns = [share(range(20), turn, of, always=(3,)) for turn in range(of)]
    assert {value for turn in turns for value in turn} == set(range(20)) and all(3 in turn for turn in turns)
    assert sum(map(len, turns)) == 20 + of - 1


PAIRS = [(first, second) for first in range(6) for second in "abcd"[first % 3 :]] + [(6, "e")]


def test_every_first_value_is_singled_and_the_turns_take_every_pair():
    turns = [singled(PAIRS, turn, {2}.__contains__) for turn in range(12)]
    assert {pair for turn in turns for pair in turn} == set(PAIRS)
    for turn in turns:
        assert [first for first, _ in turn if first != 2] == [0, 1, 3, 4, 5, 6]
        assert {pair for pair in turn if pair[0] == 2} == {pair for pair in PAIRS if pair[0] == 2}


@pytest.mark.parametrize("turn", [0, 5, 1000])
def test_every_value_of_either_side_occurs_in_a_cover(turn):
    found = cover(PAIRS, turn)
    assert set(found) < set(PAIRS) and found[0] == PAIRS[turn % len(PAIRS)]
    assert [{pair[side] for pair in found} for side in (0, 1)] == [{pair[side] for pair in PAIRS} for side in (0, 1)]


def test_another_name_is_another_turn():
    def one():
        raise AssertionError

    def other():
        raise AssertionError

    kept = [in_turn("a", range(100), 3)(test).pytestmark[0].args[1] for test in (one, one, other)]
    assert kept[0] == kept[1] and (WHOLE or set(kept[0]) != set(kept[2]))


@pytest.mark.parametrize("design", [each_value, pairwise])
def test_values_names_and_marks_are_kept(design):
    @design
    @pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 4)], ids=str)
    @pytest.mark.parametrize("c", [pytest.param("x", id="named"), pytest.param("y", marks=pytest.mark.skip)])
    @pytest.mark.filterwarnings("error")
    def case(a, b, c):
        raise AssertionError

    mark = next(mark for mark in case.pytestmark if mark.name == "parametrize")
    assert [each.name for each in case.pytestmark if each.name != "parametrize"] == ["filterwarnings"]
    names, sets = mark.args[0].split(","), mark.args[1]
    assert names == ["c", "a", "b"]
    assert {each.id: each.values for each in sets}["named-1-2"] == ("x", 1, 2)
    assert {each.values[0]: [m.name for m in each.marks] for each in sets} == {"x": [], "y": ["skip"]}


def test_a_design_of_one_parameter_is_an_error():
    @pytest.mark.parametrize("a", [1, 2])
    def case(a):
        raise AssertionError

    with pytest.raises(TypeError, match="case has 1 parametrize marks"):
        pairwise(case)
