"""What bounds a search, and who is told of it: seconds, candidates, processes, the seed, the progress function."""

from __future__ import annotations

import math
from inspect import signature
from typing import Any

from proxembed.params import SEED, Param, check_params, shown

COUNT = Param(low=1, high=10_000_000, integer=True, choices=(None,))
SECONDS = Param(above=0, choices=(None, math.inf))
JOBS = Param(low=-1024, high=1024, integer=True, choices=(None,))


def check_limits(estimator: Any, *counts: str) -> None:
    """ValueErrors for the limits of a search that cannot be kept; ``counts`` are its parameters that count candidates.

    >>> from types import SimpleNamespace
    >>> limits = SimpleNamespace(max_trials=3, max_seconds=60, n_jobs=1, random_state=0, progress=None)
    >>> check_limits(limits, "max_trials")
    """
    limits = {"max_seconds": SECONDS, **dict.fromkeys(counts, COUNT), "n_jobs": JOBS, "random_state": SEED}
    check_params(estimator, limits)
    name = type(estimator).__name__
    if estimator.n_jobs == 0:
        raise ValueError(f"{name}: n_jobs=0 is not allowed; pass a number of processes, -1 for one a core, or None.")
    if estimator.progress is not None and not _takes_progress(estimator.progress):
        raise ValueError(
            f"{name}: progress={shown(estimator.progress)} is not allowed; progress must be None or a function of "
            "(done, total, text)."
        )


def _takes_progress(function: Any) -> bool:
    if not callable(function) or isinstance(function, type):
        return False
    try:
        signature(function).bind(0, 1, "")
    except TypeError:
        return False
    except ValueError:  # a compiled function that shows no signature
        return True
    return True
