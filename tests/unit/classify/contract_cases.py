"""scikit-learn's checks of estimators that change from check to check."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from designs import WHOLE


def checked_in_turn(*estimators: BaseEstimator, times: int = 1) -> Callable:
    """Each check so many times, on the estimators that have it in rotation; with TEST_PRODUCTS=1 on all of them."""
    mark = parametrize_with_checks(list(estimators)).mark
    takers: dict[str, list[tuple]] = {}
    for estimator, check in mark.args[1]:
        takers.setdefault(f"{check.func.__name__} {check.keywords}", []).append((estimator, check))
    cases = []
    for turn, pairs in enumerate(takers.values()):
        cases += pairs if WHOLE else [pairs[(turn + step) % len(pairs)] for step in range(min(times, len(pairs)))]
    return pytest.mark.parametrize("estimator, check", cases, ids=mark.kwargs["ids"])
