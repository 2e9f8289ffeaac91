"""scikit-learn's checks of estimators that change from check to check."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from designs import WHOLE, share


def checked_in_turn(*estimators: BaseEstimator, of: int = 2) -> Callable:
    """One check in so many, on the estimators that have it in rotation; with TEST_PRODUCTS=1 every check on all."""
    mark = parametrize_with_checks(list(estimators)).mark
    takers: dict[str, list[tuple]] = {}
    for estimator, check in mark.args[1]:
        takers.setdefault(f"{check.func.__name__} {check.keywords}", []).append((estimator, check))

    def marked(test: Callable) -> Callable:
        cases = [pair for pairs in takers.values() for pair in pairs]
        if not WHOLE:
            turn = zlib.crc32(f"{test.__module__} {test.__name__}".encode())  # other checks in another file
            kept = share([*takers.values()], turn, of)
            cases = [pairs[place % len(pairs)] for place, pairs in enumerate(kept)]
        return pytest.mark.parametrize("estimator, check", cases, ids=mark.kwargs["ids"])(test)

    return marked
