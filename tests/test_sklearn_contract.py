"""scikit-learn's own checks on every public estimator in default construction."""

import inspect
from unittest import SkipTest

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import proxembed

# Class name -> {check name: why it may fail}. Empty: nothing is excused.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {}
# Check name -> why scikit-learn itself skips it.
EXPECTED_SKIPS: dict[str, str] = {}


def estimators() -> list[BaseEstimator]:
    listed = {value for name in proxembed.__all__ if inspect.isclass(value := getattr(proxembed, name))}
    return [cls() for cls in sorted(listed, key=lambda cls: cls.__name__) if issubclass(cls, BaseEstimator)]


def test_there_are_estimators_to_check():
    assert {"PCA", "OPLS", "MESD"} <= {type(estimator).__name__ for estimator in estimators()}


@parametrize_with_checks(
    estimators(), expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {})
)
def test_check_estimator(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        name = getattr(check, "func", check).__name__
        if name not in EXPECTED_SKIPS:
            pytest.fail(f"{name} was skipped without a written reason: {skipped}")
        pytest.skip(EXPECTED_SKIPS[name])
