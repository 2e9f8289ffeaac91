"""The designs keep what they promise, under the names that pytest gives to products."""

from itertools import combinations, product

import pytest

from designs import covering, each_value, pairwise, star

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
