"""What a case stands for: the estimator, X and y in their odd and in their plain form, fits of them, and how much
rounding alone moves the outputs."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from . import features, planted, settings, targets
from .case import Case
from .limits import Refusal, attempt

NEW = 3
OUTPUTS = ("transform", "decision_function", "predict_proba")
SLACK = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-4}  # below this no one asks where a difference comes from
TRIES, ULPS, ALLOWED = 6, 64.0, 100.0
TIE = 1e-6
TIE_SIZES, ROUNDED = (1e-11, 1e-9, 1e-9, 1e-5), 1e-15
ITERATED = 1e-5  # ten times the residual that the iterative solver must reach
Outputs = dict[str, np.ndarray]
_KEPT: dict[tuple, Any] = {}


def _print(array: np.ndarray | None) -> tuple:
    return () if array is None else (array.shape, array.dtype.str, array.tobytes())


class Trial:
    """A case made ready. ``matrix`` and ``new_matrix`` hold the plain form of X and of the rows of transform, both
    None where X must be refused; ``plain_y`` that of y, None where y is ignored, must be refused or may mean anything.
    """

    def __init__(self, case: Case):
        self.case = case
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            A = features.matrix(case.values, case.n + NEW, case.d, case.seed)
            store = features.STORAGES[case.storage]
            first = features.STORAGES["array"] if case.at == "transform" else store
            rows, new = first(A[: case.n]), store(A[case.n :])
        self.X, self.matrix = rows.X, rows.matrix
        self.new, self.new_matrix = new.X, new.matrix
        self.y: Any = None
        self.labels: targets.Labels | None = None
        self.y_refused = False
        if self.takes_labels:
            target = targets.target(case.labels, case.form, case.n, case.seed)
            if case.at != "fit" and target.labels is not None:
                target = targets.as_plain(target.labels)
            self.y, self.labels, self.y_refused = target.y, target.labels, target.refused
        names = [name for name in self.build().get_params()]
        self.words = (case.estimator, *names)

    def build(self) -> BaseEstimator:
        """A fresh estimator."""
        params = dict(self.case.params)
        return planted.build(self.case.estimator) or settings.estimator(self.case.estimator, params)

    @cached_property
    def takes_labels(self) -> bool:
        return settings.takes(self.build()) is not None

    @property
    def plain_y(self) -> Any:
        """None where there is no plain form too: an indicator of one column says classes, not sets."""
        if self.labels is None or (not self.labels.single and self.labels.on.shape[1] == 1):
            return None
        return self.labels.plain

    def attempt(self, call) -> Any:
        return attempt(call, self.words)

    def fit(self, X, y, **options) -> BaseEstimator | Refusal:
        """A fresh estimator fitted, or its refusal."""
        return self.attempt(lambda: self.build().set_params(**options).fit(X, y))

    def outputs(self, estimator: BaseEstimator, *blocks) -> Outputs | Refusal:
        """All that a fitted estimator gives for blocks of rows, one under the other."""
        return self.attempt(lambda: outputs(estimator, *blocks))

    def refitted(self, X, y, blocks=None, **options) -> Outputs | Refusal:
        """The outputs of a fresh fit, for the plain rows of fit and of transform where none are given."""
        fitted = self.fit(X, y, **options)
        if isinstance(fitted, Refusal):
            return fitted
        return self.outputs(fitted, *((self.matrix, self.new_matrix) if blocks is None else blocks))

    @cached_property
    def fitted(self) -> BaseEstimator | Refusal:
        """The estimator fitted on X and y as they come."""
        case = self.case
        plain = case.storage == "array" and (not self.takes_labels or case.form in ("plain", "indicator"))
        return self.plain if case.at != "fit" or plain else self.fit(self.X, self.y)

    @cached_property
    def plain(self) -> BaseEstimator | Refusal:
        """The estimator fitted on the plain form; kept from the case before, where that had the same."""
        y = self.plain_y
        self._key = (self.case.estimator, self.case.params, *map(_print, (self.matrix, y)))
        if self._key not in _KEPT:
            _KEPT.clear()
            _KEPT[self._key] = self.fit(self.matrix, y)
        return _KEPT[self._key]

    @cached_property
    def expected(self) -> Outputs | Refusal:
        """The outputs of the plain form."""
        if isinstance(self.plain, Refusal):
            return self.plain
        key = (*self._key, _print(self.new_matrix))
        if key not in _KEPT:
            _KEPT[key] = self.outputs(self.plain, self.matrix, self.new_matrix)
        return _KEPT[key]

    @cached_property
    def draws(self) -> bool:
        """Whether something is drawn by the order of rows, columns or labels: folds, or what a seed decides."""
        params = self.build().get_params()
        if self.unseeded or any(name.rpartition("__")[2] in ("cv", "n_folds") for name in params):
            return True
        if params.get("decision") == "tuned" or isinstance(params.get("n_landmarks"), int):
            return True  # cuts are tuned on folds; landmarks are drawn by their numbers
        seeds = {name: 98765 for name in params if name.rpartition("__")[2] == "random_state"}
        if not seeds:
            return False
        other = self.refitted(self.matrix, self.plain_y, **seeds)
        return isinstance(other, Refusal) or distance(other, self.expected) > SLACK[self.matrix.dtype]

    @cached_property
    def unseeded(self) -> bool:
        """Whether something is drawn anew by every fit."""
        params = self.build().get_params().items()
        return any(name.rpartition("__")[2] == "random_state" and value is None for name, value in params)

    @cached_property
    def tied(self) -> bool:
        """Whether the last component and the next one have equal eigenvalues, so that any mixture of both is right."""
        values, k = getattr(self.plain, "eigenvalues_", None), getattr(self.plain, "n_components_", None)
        if values is None or k is None or "n_components" not in self.plain.get_params():
            return False
        wider = self.fit(self.matrix, self.plain_y, n_components=k + 1)
        if isinstance(wider, Refusal):
            return False
        last, after = wider.eigenvalues_[k - 1 : k + 1]
        return bool(abs(last - after) <= TIE * np.abs(wider.eigenvalues_).max())

    def _has(self, word: str) -> bool:
        """Whether a parameter, also one of a nested estimator, is this word."""
        return any(isinstance(value, str) and value == word for value in self.build().get_params().values())

    @cached_property
    def jumps(self) -> bool:
        """Whether the outputs jump where X moves a little more than by rounding: distances that differ by less than
        1e-12, relatively, are equal to the package, and equal distances go by the number of the row. At such a tie the
        neighbours of a row, and all that is made of them, depend on the order of the rows. On one column all rows of
        one sign have the same direction, however they move."""
        if self.matrix.shape[1] == 1 and self._has("cosine"):
            return True
        both = np.vstack([self.matrix, self.new_matrix])
        rng, n, level = np.random.default_rng([self.case.seed, 4]), len(self.matrix), max(np.abs(both).max(), 1e-300)
        rounding = max(self.spread(np.float64), ROUNDED)
        for size in TIE_SIZES:
            moved = both + size * level * rng.standard_normal(both.shape)
            found = self.refitted(moved[:n], self.plain_y, (moved[:n], moved[n:]))
            most = ALLOWED * size / (ULPS * np.finfo(np.float64).eps) * rounding
            if isinstance(found, Refusal) or distance(found, self.expected) > (min(most, 0.1) if size < 1e-8 else most):
                return True
        return False

    @cached_property
    def links_equal_labels(self) -> bool:
        """Whether the largest proximities of a row are kept, of which rows with equal labels have equal ones."""
        kept = any(name.endswith("n_links") and value is not None for name, value in self.build().get_params().items())
        return kept and self.labels is not None and len(np.unique(self.labels.on, axis=0)) < len(self.labels.on)

    def disagreement(self, found: Outputs | Refusal, expected: Outputs, dtype=None) -> str | None:
        """How two outputs that should be equal differ by more than rounding of X explains; None where they do not."""
        dtype = np.dtype(self.matrix.dtype if dtype is None else dtype)
        if isinstance(found, Refusal):
            return None if self.spread(dtype) == np.inf else f"refused: {found}"
        apart = distance(found, expected)
        slack = max(SLACK[dtype], ITERATED if self._has("iterative") else 0.0)
        if apart <= slack or apart <= ALLOWED * self.spread(dtype) or self.tied:
            return None
        return f"outputs differ by {apart:.1e}, where rounding of X moves them by {self.spread(dtype):.1e}"

    def spread(self, dtype) -> float:
        """The largest change of the outputs when X is changed by a few units in its last place: cell by cell, relative
        to the largest of its column, or to the largest of all. Infinite on the brink of a refusal or of a choice."""
        cached = self.__dict__.setdefault("_spread", {})
        if dtype not in cached:
            rng = np.random.default_rng([self.case.seed, 2])
            cached[dtype] = max(self._shaken(rng, i, dtype) for i in range(TRIES))
        return cached[dtype]

    def _shaken(self, rng: np.random.Generator, i: int, dtype) -> float:
        both = np.vstack([self.matrix, self.new_matrix])
        size = np.abs(both)
        unit = (size, size.max(axis=0), size.max())[i % 3] if size.any() else 1.0
        with np.errstate(all="ignore"):
            moved = both + (ULPS * np.finfo(dtype).eps * unit * rng.standard_normal(both.shape)).astype(both.dtype)
        n = len(self.matrix)
        found = self.refitted(moved[:n], self.plain_y, (moved[:n], moved[n:]))
        if isinstance(found, Refusal) or isinstance(self.expected, Refusal):
            return np.inf
        return distance(found, self.expected)


def outputs(estimator: BaseEstimator, *blocks) -> Outputs:
    """The outputs of a fitted estimator for blocks of rows, stacked; the places of its own rows where it has no rule
    for others."""
    found = {
        name: [getattr(estimator, name)(block) for block in blocks] for name in OUTPUTS if hasattr(estimator, name)
    }
    stacked = {name: np.concatenate([dense(part) for part in parts]) for name, parts in found.items()}
    if "transform" not in stacked and hasattr(estimator, "embedding_"):
        stacked["embedding_"] = np.asarray(estimator.embedding_)
    return stacked


def dense(Z) -> np.ndarray:
    return Z.toarray() if sp.issparse(Z) else np.asarray(Z)


def distance(found: Outputs, expected: Outputs) -> float:
    """The largest relative distance between two sets of outputs: of the Gram matrices of embeddings, else of scores."""
    if found.keys() != expected.keys():
        return np.inf
    return max((_apart(name, found[name], expected[name]) for name in expected), default=0.0)


def _apart(name: str, Z: np.ndarray, other: np.ndarray) -> float:
    Z, other = Z.astype(np.float64), other.astype(np.float64)
    if len(Z) != len(other) or not np.array_equal(np.isnan(Z).any(axis=-1), np.isnan(other).any(axis=-1)):
        return np.inf
    Z, other = np.nan_to_num(Z, posinf=1e300, neginf=-1e300), np.nan_to_num(other, posinf=1e300, neginf=-1e300)
    size = np.abs(other).max(initial=0.0)
    if size == 0.0:
        return 0.0 if not Z.any() else np.inf
    with np.errstate(over="ignore"):
        Z, other = Z / size, other / size
    if name in ("transform", "embedding_"):
        Z, other = Z @ Z.T, other @ other.T
    elif Z.shape != other.shape:
        return np.inf
    return float(np.linalg.norm(Z - other) / np.linalg.norm(other))
