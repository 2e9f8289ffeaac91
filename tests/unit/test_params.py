"""param(): what a declaration permits, says and checks."""

import math
import operator
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from proxembed import Kernelized
from proxembed.params import (
    SEED,
    Integers,
    Log,
    Methods,
    Param,
    check_params,
    declared,
    integers,
    log,
    methods,
    param,
    parameters_section,
    safe_repr,
)


def stable_name(value) -> str:
    """The repr without addresses, so that every worker collects the same tests."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


class Example:
    """An example of a declared class."""

    def __repr__(self) -> str:
        return "Example()"


@dataclass(kw_only=True)
class Declared:
    """One parameter of every sort."""

    first: str = param(default="a", choices=("a", "b"), doc="A choice.", kw_only=False)
    share: float = param(default=0.5, low=0, high=1, doc="Ends included.")
    open_share: float = param(default=0.5, above=0, below=1, doc="Ends excluded.")
    count: int = param(default=1, low=1, integer=True, doc="A whole number.")
    width: float | str = param(default="auto", above=0, choices=("auto",), doc="A number or a word.")
    flag: bool = param(default=True, kind=bool, doc="A switch.")
    method: object = param(default=None, choices=(None,), kind=Example, doc="An instance.")
    rule: object = param(default="x", choices=("x",), callable=True, doc="A name or a function.")
    weights: object = param(default=None, choices=(None,), kind=(list, tuple, np.ndarray), doc="A sequence.")
    even: object = param(default=2, words="an even number", test=lambda v: v in (2, 4), doc="A tested value.")
    folds: object = param(default=5, words="a number of folds or a splitter", doc="Checked beside the data.")
    seed: object = param(default=0, like=SEED, doc="Like another.")
    plain: int = 3


ODD = [10**400, -(10**400), Fraction(1, 3), Fraction(10**400, 3), Decimal("0.5"), np.longdouble("1e4000")]
PERMITTED = {
    "first": ["a", "b"],
    "share": [0, 1, 0.0, 1.0, 0.3, np.float32(0.5), np.int64(1)],
    "open_share": [0.001, 0.999, np.float64(0.5)],
    "count": [1, 100, np.int32(7), np.uint8(1)],
    "width": ["auto", 1e-300, 5, 10**100, np.float16(0.5)],
    "flag": [True, False, np.True_],
    "method": [None, Example()],
    "rule": ["x", len, operator.add, lambda a: a],
    "weights": [None, [1], (1, 2), np.ones(3)],
    "even": [2, 4],
    "folds": [5, None, "anything"],
    "seed": [0, None, 2**32 - 1, np.random.RandomState(0)],
}
REFUSED = {
    "first": ["A", "", None, 0, b"a", ["a"]],
    "share": [-1e-12, 1.0000001, math.nan, math.inf, "0.5", None, True, False, 1j, [0.5], np.array([0.5]), *ODD],
    "open_share": [0, 1, 0.0, 1.0, -1, math.nan],
    "count": [0, -1, 1.0, 1.5, True, "1", None, np.float64(1.0), math.nan, *ODD],
    "width": ["Auto", "", 0, -1.0, 1.1e100, 10**300, math.nan, math.inf, None, True, *ODD],
    "flag": [0, 1, "True", None, np.int64(1)],
    "method": [Example, object(), "FDA", 0],
    "rule": ["y", None, 1, Example],
    "weights": [3, "123", {1: 2}],
    "even": [3, None, "2"],
    "folds": [],
    "seed": [-1, 2**32, "0", True],
}
PAIRS = {
    True: [(name, value) for name, values in PERMITTED.items() for value in values],
    False: [(name, value) for name, values in REFUSED.items() for value in values],
}


def test_every_declared_parameter_is_tried():
    assert set(PERMITTED) == set(REFUSED) == set(declared(Declared)) == set(Declared.__annotations__) - {"plain"}


@pytest.mark.parametrize(("name", "value"), PAIRS[True], ids=stable_name)
def test_permitted(name, value):
    check_params(Declared(**{name: value}))


@pytest.mark.parametrize(("name", "value"), PAIRS[False], ids=stable_name)
def test_refused_with_class_name_value_and_what_is_allowed(name, value):
    with pytest.raises(ValueError) as refusal:
        check_params(Declared(**{name: value}))
    _, spec = declared(Declared)[name]
    assert str(refusal.value).startswith(
        f"Declared: {name}={safe_repr(value)} is not allowed; {name} must be {spec.allowed()}"
    )


def test_the_constructor_checks_nothing():
    assert Declared(share=7, count="many").share == 7


def test_the_first_wrong_parameter_is_named():
    with pytest.raises(ValueError, match="share=2"):
        check_params(Declared(share=2, count=0))


ALLOWED = {
    "first": "'a' or 'b'",
    "share": "a number >= 0 and <= 1",
    "open_share": "a number > 0 and < 1",
    "count": "an integer >= 1",
    "width": "'auto' or a number > 0 and <= 1e+100",
    "flag": "True or False",
    "method": "None or a Example",
    "rule": "'x' or a callable",
    "weights": "None, a list, a tuple or a ndarray",
    "even": "an even number",
    "folds": "a number of folds or a splitter",
    "seed": "None, an integer >= 0 and <= 4,294,967,295 or a RandomState",
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed_in_words(name):
    assert declared(Declared)[name][1].allowed() == ALLOWED[name]


def test_positional_and_keyword_only():
    assert Declared("b").first == "b"
    with pytest.raises(TypeError):
        Declared("b", 0.5)


def test_a_parameter_without_default_must_be_given():
    @dataclass
    class Needs:
        value: float = param(low=0, doc="Needed.")

    with pytest.raises(TypeError, match="value"):
        Needs()


def test_parameters_section_is_numpydoc():
    text = parameters_section(Declared).splitlines()
    assert text[:2] == ["Parameters", "----------"]
    assert "share : a number >= 0 and <= 1, default=0.5" in text
    assert text[text.index("share : a number >= 0 and <= 1, default=0.5") + 1] == "    Ends included."
    assert "plain" not in parameters_section(Declared)


def test_search_ranges():
    assert log(1e-3, 10.0) == Log(1e-3, 10.0)
    assert integers(1, 5) == Integers(1, 5)
    assert methods("single") == Methods("single")
    assert Param("doc", search=log(1, 2)).search == Log(1, 2)


def test_a_choice_is_the_very_value_not_an_equal_one():
    """1 is no True, and 0.0 no 0: a choice is compared with its type."""
    spec = Param("doc", choices=(True, 2))
    assert spec.permits(True) and spec.permits(2)
    assert not spec.permits(1) and not spec.permits(2.0)


@pytest.mark.parametrize("name", ["opls", "OPLS"])
def test_a_text_that_names_a_method_is_told_its_class(name):
    with pytest.raises(ValueError, match=r"method must be None or a SpectralEmbedder, such as OPLS\(\)\.$"):
        check_params(Kernelized(name))
    with pytest.raises(ValueError, match=r"method must be None or a SpectralEmbedder\.$"):
        check_params(Kernelized("no method"))
