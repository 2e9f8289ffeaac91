"""Designs over the parameters of a test: few cases in which every value, or every pair of values, occurs.

A test with several `parametrize` marks runs their whole product. Above the marks, `@each_value` keeps one case per
value of the longest parameter, with the other values in rotation, and every case of its first value; `@pairwise` keeps
enough cases that every two values of two parameters meet. `@in_turn` keeps a share of the values of one parameter, and
`@one_each` and `@covered` some pairs of a list of pairs: other ones for a test of another name, so that several tests
together meet them all. With TEST_PRODUCTS=1 in the environment, as in `make test-slow`, all of them keep everything.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Sequence
from itertools import combinations, product
from typing import Any

import pytest

Rows = list[tuple[int, ...]]
WHOLE = os.environ.get("TEST_PRODUCTS") == "1"


def whole(sizes: Sequence[int]) -> Rows:
    """The product of the places on all axes."""
    return list(product(*map(range, sizes)))


def star(sizes: Sequence[int]) -> Rows:
    """Places on each axis: every place of the longest axis once, and the first with all places of the others."""
    longest = max(range(len(sizes)), key=sizes.__getitem__)
    others = list(product(*(range(size) for axis, size in enumerate(sizes) if axis != longest)))
    rows = [(0, other) for other in others]
    rows += [(place, others[place % len(others)]) for place in range(1, sizes[longest])]
    return [(*other[:longest], place, *other[longest:]) for place, other in rows]


def covering(sizes: Sequence[int]) -> Rows:
    """Places on each axis in which every pair of places of two axes occurs: the two longest crossed, others rotated."""
    by_size = sorted(range(len(sizes)), key=lambda axis: -sizes[axis])
    first, second, *further = (*by_size, None)[: max(2, len(sizes))]
    rows = []
    for i, j in product(range(sizes[first]), range(1 if second is None else sizes[second])):
        row = {first: i, second: j} | {axis: (i + (1 + step) * j) % sizes[axis] for step, axis in enumerate(further)}
        rows.append(tuple(row[axis] for axis in range(len(sizes))))
    axes = list(combinations(range(len(sizes)), 2))
    met = {(a, b, row[a], row[b]) for a, b in axes for row in rows}
    for a, b in axes:
        for i, j in product(range(sizes[a]), range(sizes[b])):
            if (a, b, i, j) not in met:
                row = tuple(i if axis == a else j if axis == b else (i + j) % sizes[axis] for axis in range(len(sizes)))
                met |= {(c, d, row[c], row[d]) for c, d in axes}
                rows.append(row)
    return rows


def share(values: Sequence, turn: int, of: int | Callable[[Any], int], always: Collection = ()) -> list:
    """One value in so many (a number, or one for each value), other ones at the next turn, and those always kept."""
    every = of if callable(of) else lambda value: of
    return [value for place, value in enumerate(values) if value in always or (place + turn) % every(value) == 0]


def singled(pairs: Sequence[tuple], turn: int, whole_for: Callable[[Any], bool] = lambda first: False) -> list[tuple]:
    """One pair per first value with the second ones in rotation, and all pairs of some first values."""
    groups: dict[Any, list[tuple]] = {}
    for pair in pairs:
        groups.setdefault(pair[0], []).append(pair)
    kept = []
    for place, (first, group) in enumerate(groups.items()):
        kept += group if whole_for(first) else [group[(place + turn) % len(group)]]
    return kept


def cover(pairs: Sequence[tuple], turn: int) -> list[tuple]:
    """Pairs in which every first and every second value occurs, found from another pair on at another turn."""
    start = turn % len(pairs)
    firsts, seconds, kept = set(), set(), []
    for first, second in (*pairs[start:], *pairs[:start]):
        if first not in firsts or second not in seconds:
            kept.append((first, second))
            firsts.add(first), seconds.add(second)
    return kept


def turn_of(test: Callable) -> int:
    """The turn of a test, by its name alone."""
    return zlib.crc32(test.__name__.encode())


def in_turn(
    name: str, values: Sequence, of: int | Callable[[Any], int], always: Collection = (), ids: Any = None
) -> Callable:
    """Decorator: one value of a parameter in so many (see `share`), and those that every test takes."""
    return _chosen(name, values, lambda turn: share(values, turn, of, always), ids)


def one_each(names: str, pairs: Sequence, whole_for: Callable[[Any], bool], ids: Any = None) -> Callable:
    """Decorator: every first value of the pairs with one second value, and some first values with all of theirs."""
    return _chosen(names, pairs, lambda turn: singled(pairs, turn, whole_for), ids)


def covered(names: str, pairs: Sequence, ids: Any = None, of: int = 1) -> Callable:
    """Decorator: pairs in which every first and every second value occurs, or one in so many of such pairs."""
    return _chosen(names, pairs, lambda turn: share(cover(pairs, turn), turn, of), ids)


def _chosen(names: str, values: Sequence, choose: Callable[[int], list], ids: Any) -> Callable:
    def mark(test: Callable) -> Callable:
        return pytest.mark.parametrize(names, values if WHOLE else choose(turn_of(test)), ids=ids)(test)

    return mark


def each_value(test: Callable) -> Callable:
    """One case per value of the longest parameter, and all cases of its first value."""
    return _with_cases(test, whole if WHOLE else star)


def pairwise(test: Callable) -> Callable:
    """Cases in which every two values of two parameters occur together."""
    return _with_cases(test, whole if WHOLE else covering)


def _with_cases(test: Callable, design: Callable[[Sequence[int]], Rows]) -> Callable:
    """The test with one mark for the rows of a design in place of its `parametrize` marks."""
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    if len(marks) < 2:
        raise TypeError(f"{test.__name__} has {len(marks)} parametrize marks below the design; it needs two or more")
    names, axes = [], []
    for mark in marks:
        given, values = mark.args
        names += [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)
        single = isinstance(given, str) and "," not in given
        axes.append([_parameter(value, single, mark.kwargs.get("ids"), place) for place, value in enumerate(values)])
    cases = [[axis[place] for axis, place in zip(axes, row, strict=True)] for row in design([*map(len, axes)])]
    test.pytestmark = [mark for mark in test.pytestmark if mark.name != "parametrize"]
    return pytest.mark.parametrize(",".join(names), [_joined(case) for case in cases])(test)


def _parameter(value: Any, single: bool, ids: Any, place: int) -> Any:
    """A value of one mark with its values as a tuple and an identifier, as `parametrize` would name it."""
    param = value if hasattr(value, "marks") and hasattr(value, "values") else None
    values = tuple(param.values) if param is not None else (value,) if single else tuple(value)
    name = param.id if param is not None else None
    if name is None and ids is not None and not callable(ids):
        name = list(ids)[place]
    if name is None:
        name = "-".join(str(ids(v) if callable(ids) else getattr(v, "__name__", v)) for v in values)
    return pytest.param(*values, id=name, marks=() if param is None else param.marks)


def _joined(case: list[Any]) -> Any:
    """One parameter set of those of several marks."""
    return pytest.param(
        *(value for each in case for value in each.values),
        id="-".join(each.id for each in case),
        marks=[mark for each in case for mark in each.marks],
    )
