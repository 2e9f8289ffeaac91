"""The options of a run: what cannot be met is refused before any work, by the name of the option."""

import pytest

from proxembed.workflow.options import CompareOptions, SearchOptions, call_text, check_limits


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"n_jobs": 0}, "n_jobs=0 must be a number of processes above 0, or -1"),
        ({"n_jobs": -2}, "n_jobs=-2 must be"),
        ({"max_seconds": 0.0}, "max_seconds=0.0 must be a number of seconds above 0"),
        ({"max_seconds": "20"}, "max_seconds='20' must be a number of seconds above 0"),
        ({"max_seconds": float("nan")}, "max_seconds=nan must be"),
        ({"max_trials": 0}, "max_trials=0 must be a whole number of at least 1"),
    ],
)
def test_limits_that_leave_nothing_to_run(limits, message):
    with pytest.raises(ValueError, match=message):
        check_limits(**limits)


def test_limits_that_can_be_met():
    check_limits(n_jobs=-1)
    check_limits(n_jobs=3, max_seconds=0.5, max_trials=1)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (CompareOptions, {"folds": 1}, "folds=1 must be a whole number of at least 2"),
        (CompareOptions, {"repeats": 0}, "repeats=0 must be"),
        (CompareOptions, {"min_positives": 1.5}, "min_positives=1.5 must be"),
        (CompareOptions, {"methods": [1]}, "methods=.* must be names of methods"),
        (SearchOptions, {"seed": -1}, "seed=-1 must be a whole number of at least 0"),
        (SearchOptions, {"shuffles": 18}, "shuffles=18 are too few for a test at the 5 % level"),
        (SearchOptions, {"engine": "x"}, "engine='x' is unknown; choose one of methods, defc"),
        (SearchOptions, {"engine": "defc", "methods": "opls"}, "methods=.* names methods, but the engine 'defc'"),
        (SearchOptions, {"classifier": "flda"}, "classifier='flda' is an option of the engine 'defc'"),
    ],
)
def test_options_out_of_range(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**options)


def test_a_call_names_what_was_changed():
    assert call_text("compare", "X, y", CompareOptions("opls", 3)) == (
        "proxembed.compare(X, y, methods=('opls',), n_components=(3,))"
    )
