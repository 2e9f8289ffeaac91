"""The options of a run: what cannot be met is refused before any work, by the name of the option."""

import math
from pathlib import Path

import numpy as np
import pytest

import option_blocks
from proxembed.evaluate.verdict import TOLERANCE
from proxembed.measures import measures
from proxembed.params import declared
from proxembed.workflow import options as run_options
from proxembed.workflow.options import (
    BudgetOptions,
    CompareOptions,
    OptionError,
    RunOptions,
    SearchOptions,
    argument_texts,
    call_text,
    check_option,
)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"n_jobs": 0}, "n_jobs=0 must be -1 or an integer >= 1"),
        ({"n_jobs": -2}, "n_jobs=-2 must be"),
        ({"max_seconds": 0.0}, "max_seconds=0.0 is not above 0"),
        ({"max_seconds": "20"}, "max_seconds='20' must be None, inf or a number > 0"),
        ({"max_seconds": float("nan")}, "max_seconds=nan must be"),
        ({"max_trials": 0}, "max_trials=0 must be None or an integer >= 1"),
    ],
)
def test_limits_that_leave_nothing_to_run(limits, message):
    with pytest.raises(ValueError, match=message):
        SearchOptions(**limits)


def test_limits_that_can_be_met():
    SearchOptions(n_jobs=-1, max_seconds=math.inf)
    SearchOptions(n_jobs=3, max_seconds=0.5, max_trials=1)


def test_one_option_is_checked_by_its_declaration():
    check_option(RunOptions, "n_jobs", -1)
    with pytest.raises(OptionError, match="^n_jobs=0 must be -1 or an integer >= 1.$"):
        check_option(RunOptions, "n_jobs", 0)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (CompareOptions, {"folds": 1}, "folds=1 must be an integer >= 2"),
        (CompareOptions, {"repeats": 0}, "repeats=0 must be"),
        (CompareOptions, {"min_positives": 1.5}, "min_positives=1.5 must be"),
        (CompareOptions, {"methods": [1]}, "methods=.* must be names of methods"),
        (SearchOptions, {"seed": -1}, "seed=-1 must be an integer >= 0"),
        (SearchOptions, {"shuffles": 18}, "shuffles=18 are too few for a test at the 5 % level"),
        (SearchOptions, {"engine": "x"}, "engine='x' must be 'methods' or 'defc'"),
        (SearchOptions, {"engine": "defc", "methods": "opls"}, "methods=.* names methods, but the engine 'defc'"),
        (SearchOptions, {"classifier": "flda"}, "classifier='flda' is an option of the engine 'defc'"),
    ],
)
def test_options_out_of_range(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**options)


def test_a_call_names_what_was_changed():
    assert call_text("compare", "X, y", CompareOptions(methods="opls", n_components=3)) == (
        "proxembed.compare(X, y, methods=('opls',), n_components=(3,))"
    )


def test_a_call_writes_plain_values_and_names_all_others():
    values = {"drop": ["a", "b's"], "test": [np.int64(1), 2.5], "weight": np.ones(3), "measure": len, "empty": ()}
    values |= {"file": Path("t.csv"), "limit": math.inf, "groups": False, "mixed": [1, np.ones(2)], "one": ("a",)}
    texts = argument_texts(values)
    assert texts == [
        *("drop=['a', \"b's\"]", "test=[1, 2.5]", "weight=weight", "measure=measure", "empty=()", "file='t.csv'"),
        *("limit=float('inf')", "groups=False", "mixed=mixed", "one=('a',)"),
    ]


@pytest.mark.parametrize(("path", "text"), option_blocks.written().items(), ids=lambda each: getattr(each, "name", ""))
def test_what_is_written_from_the_declarations_is_current(path, text):
    assert path.read_text(encoding="utf-8") == text, "run `make options`"


@pytest.mark.parametrize("kind", [SearchOptions, CompareOptions, BudgetOptions])
def test_every_option_is_described_and_has_a_permitted_default(kind):
    for name, (field, spec) in declared(kind).items():
        assert spec.permits(field.default) and len(spec.doc) > 20, name


def test_constants_that_are_written_again_so_that_options_load_quickly():
    assert RunOptions().tolerance == TOLERANCE
    kinds = measures.OF_LABELS, measures.OF_NUMBERS
    assert tuple(kind.predict for kind in kinds) == run_options.PREDICT_MEASURES
    assert tuple(kind.near.format("") for kind in kinds) == run_options.NEAR_MEASURES
