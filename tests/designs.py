"""Designs over the parameters of a test: few cases in which every value, or every pair of values, occurs.

A test with several `parametrize` marks runs their whole product. Above the marks, `@each_value` keeps one case per
value of the longest parameter, with the other values in rotation, and every case of its first value; `@pairwise` keeps
enough cases that every two values of two parameters meet. With TEST_PRODUCTS=1 in the environment, as in
`make test-slow`, both keep the whole product.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
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
        name = "-".join(str(ids(v) if callable(ids) else v) for v in values)
    return pytest.param(*values, id=name, marks=() if param is None else param.marks)


def _joined(case: list[Any]) -> Any:
    """One parameter set of those of several marks."""
    return pytest.param(
        *(value for each in case for value in each.values),
        id="-".join(each.id for each in case),
        marks=[mark for each in case for mark in each.marks],
    )
