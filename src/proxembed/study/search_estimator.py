"""What every search is as an estimator: its bounds, its seed, its folds, its study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.metadata import version
from inspect import signature
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from proxembed.base import Estimator
from proxembed.execute.ledger import Ledger, digest, opened
from proxembed.params import Param, check_params, safe_repr
from proxembed.splits.folds import Split
from proxembed.splits.splitters import GroupFolds, StratifiedFolds, as_splits
from proxembed.targets.labels import LabelMatrix

from .strategies import STRATEGIES, SearchStrategy
from .study import Study


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


COUNT = Param(low=1, high=10_000_000, integer=True, choices=(None,))
SECONDS = Param(above=0, choices=(None, math.inf))
JOBS = Param(low=-1024, high=1024, integer=True, choices=(None,))
STORAGE = Param(
    choices=(None,), words="the name of a folder", test=lambda value: isinstance(value, str | PathLike | Ledger)
)
STORED = (
    "Folder in which every finished fit is stored as a line of ``study.jsonl``; a search with the same data, options "
    "and seed continues from it, and any other raises an error. None stores nothing."
)
FREE = {"max_seconds", "max_trials", "max_evals", "max_work", "n_jobs", "progress", "storage", "refit", "cache_bytes"}
ELSEWHERE = {"cv", "final_cv", "random_state"}  # among the facts as folds and as the seed
PROGRESS = Param(choices=(None,), words="a function of (done, total, text)", test=_takes_progress)


class SearchEstimator(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, Estimator, abstract=True):
    """Base of the searches."""

    role = "search"

    def _strategy(self, base: type[SearchStrategy], parameter: str) -> type[Any]:
        """The strategy in the space of ``base`` that ``parameter`` names; a ValueError where there is none."""
        name, known = getattr(self, parameter), STRATEGIES[base.space]
        if not isinstance(name, str) or name not in known:
            *others, last = map(repr, known)
            names = f"{', '.join(others)} or {last}"
            raise ValueError(f"{parameter}={safe_repr(name)} is not allowed; {parameter} must be {names}.")
        return known[name]

    def _check_limits(self) -> None:
        """ValueErrors for declared parameters that are not permitted.

        >>> from proxembed import EmbeddingSearch
        >>> EmbeddingSearch(n_jobs=0)._check_limits()
        Traceback (most recent call last):
        ValueError: EmbeddingSearch: n_jobs=0 is not allowed; pass a number of processes, -1 for one per core, or None.
        """
        check_params(self)
        if self.n_jobs == 0:
            raise ValueError(
                f"{type(self).__name__}: n_jobs=0 is not allowed; pass a number of processes, -1 for one per core, or "
                "None."
            )

    def _check_y(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")

    def _seed(self) -> int:
        """The seed of this fit; a generator gives another one each time."""
        given = isinstance(self.random_state, Integral)
        return int(self.random_state) if given else int(check_random_state(self.random_state).randint(2**31 - 1))

    def _splits(
        self, X: Any, labels: LabelMatrix, seed: int, groups: Any = None, usual: int | None = None
    ) -> list[Split]:
        """The splits of ``cv``, of None the usual number; of a number, stratified folds, or folds of whole groups."""
        return self._splits_of(usual if self.cv is None else self.cv, "cv", X, labels, seed, groups)

    def _splits_of(
        self, cv: Any, parameter: str, X: Any, labels: LabelMatrix, seed: int, groups: Any = None
    ) -> list[Split]:
        """The splits of a number of folds, or of a splitter."""
        if isinstance(cv, bool) or isinstance(cv, Integral) and not 2 <= int(cv) <= labels.n:
            raise ValueError(
                f"{parameter}={safe_repr(cv)} must be a number of folds from 2 to the {labels.n} rows, or a splitter."
            )
        if not isinstance(cv, Integral) and not hasattr(cv, "get_n_splits") and not np.iterable(cv):
            allowed = "a number of folds, a splitter, or a list of (training, held-out) rows"
            raise ValueError(f"{parameter}={safe_repr(cv)} must be {allowed}.")
        if isinstance(cv, Integral):
            cv = (StratifiedFolds if groups is None else GroupFolds)(int(cv), random_state=seed)
        return as_splits(cv, X, labels, groups)

    def _study(
        self, evaluator: Any, seed: int, strategy: SearchStrategy, data: Mapping[str, Any], **bounds: Any
    ) -> Study:
        """The study, carried out; with ``storage`` it goes on where an earlier one of the same ``data`` has ended."""
        seconds = None if self.max_seconds == math.inf else self.max_seconds
        bounds |= {"max_seconds": seconds, "n_jobs": self.n_jobs, "progress": self.progress}
        with opened(self.storage) as ledger:
            if ledger is not None:
                options = self.get_params(deep=False).items()
                facts = {name: value for name, value in options if name not in FREE | ELSEWHERE}
                hashes = {name: digest(values) for name, values in data.items()}
                facts |= {"version": version("proxembed"), "measure": evaluator.measure.name, "seed": seed}
                ledger.begin(facts | hashes)
            return Study(evaluator, seed=seed, ledger=ledger, **bounds).run(strategy)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags
