"""scikit-learn's checks of an estimator whose parameters change from check to check."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from designs import WHOLE


def checked_in_turn(*estimators: BaseEstimator) -> Callable:
    """Each check once, on the estimators of one class in rotation; with TEST_PRODUCTS=1 each on every estimator."""
    marks = [parametrize_with_checks([each]).mark for each in estimators]
    checks = [list(mark.args[1]) for mark in marks]
    turns = zip(*checks, strict=True)
    cases = sum(checks, []) if WHOLE else [each[place % len(each)] for place, each in enumerate(turns)]
    return pytest.mark.parametrize("estimator, check", cases, ids=marks[0].kwargs["ids"])
