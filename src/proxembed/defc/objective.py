"""Objective: how well one candidate serves held-out rows, with the number of components that serves them best.

In: rows, labels, and which rows are held out. Out: an ``Evaluation`` of switches and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.adaptive import Embedded, Limits, PairOptions, StageRows, Stages, Switches, limits_of
from proxembed.adaptive.stages import K_CAP
from proxembed.algebra.arrays.matrix import Matrix
from proxembed.evaluate.measures import Measure
from proxembed.evaluate.results import reason_of
from proxembed.execute.budget import OutOfBudget
from proxembed.execute.ledger import as_json
from proxembed.execute.loop import Evaluator
from proxembed.targets.labels import LabelMatrix

from .prefix_classifier import check_classifier
from .prefix_scores import default_measure, predicted_measure, prefix_scores, searched_sizes
from .stage_cache import MAX_BYTES, StageCache

EQUAL = 1e-12
RAISED = "it raised "  # begins the reason of a candidate that ended in an exception


@dataclass(frozen=True)
class Evaluation:
    """What one candidate has reached: ``score`` (larger is better, -inf where it failed) with ``k`` components.

    ``switches`` is the canonical vector, ``by_fold`` the score at k of each held-out part, ``repairs`` the rules that
    made the candidate usable, ``failed`` None or the reason why it is not.
    """

    switches: tuple[int, ...]
    params: dict[str, Any]
    score: float
    k: int | None
    by_fold: tuple[float, ...]
    seconds: float = field(compare=False)
    repairs: tuple[str, ...] = ()
    failed: str | None = None

    def plain(self) -> dict[str, Any]:
        """The same as plain data."""
        numbers = {"score": as_json(self.score), "by_fold": [as_json(score) for score in self.by_fold]}
        return self.entry() | {"switches": list(self.switches)} | numbers

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Evaluation:
        """The evaluation of its plain data.

        >>> failed = Evaluation((3, 5), {"lam": 0.1}, -np.inf, None, (), 0.1, failed="no pairs")
        >>> Evaluation.of(failed.plain()) == failed
        True
        """
        lists = {name: tuple(plain[name]) for name in ("switches", "repairs")}
        by_fold = tuple(float(score) for score in plain["by_fold"])
        return cls(**plain | lists | {"score": float(plain["score"]), "by_fold": by_fold})

    def entry(self) -> dict[str, Any]:
        """The same as an entry of a leaderboard, with lists and a dict of its own."""
        lists = {"params": dict(self.params), "by_fold": list(self.by_fold), "repairs": list(self.repairs)}
        return {field.name: lists.get(field.name, getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True)
class _Fold:
    """One held-out part: the stages of its training rows, and the labels of both."""

    stages: Stages
    labels: LabelMatrix
    held_out: LabelMatrix


class Objective(Evaluator):
    """The score of candidates on held-out rows.  [mu2012defc]

    Every stage that candidates share is made once, for each held-out part, up to ``cache_bytes`` in all. A copy sent to
    another process makes its stages anew.

    Parameters
    ----------
    X : (n, d) array or CSR.
    labels : their labels, all known.
    splits : list of (rows trained on, rows held out), or one pair (X_val, labels_val) of further rows.
    classifier : "1nn" | "flda" | "svm" | classifier of scikit-learn
    measure : a measure of ``prefix_scores``; None: subset accuracy with one class per row, else macro F1.
    k_cap : most components.
    all_k : whether every number of components is scored, not only those of ``searched_sizes``.
    cache_bytes : limit of the stages kept; 0 keeps none.
    **options : those of ``PairOptions``, the same for every candidate.

    Attributes
    ----------
    one_label : whether exactly one label per row is predicted, in every held-out part alike: rows are of one class,
        or every row has exactly one label.

    Raises
    ------
    ValueError
        For a classifier, measure or option that is not known, no split, or labels that cannot be used.

    Examples
    --------
    >>> from proxembed.data import banana
    >>> data = banana(60)
    >>> labels = LabelMatrix.of(data.Y.toarray().argmax(axis=1))
    >>> objective = Objective(data.X, labels, [(np.arange(40), np.arange(40, 60))])
    >>> params = {"similarity_sigma": 0.1, "n_neighbors": 39, "lam": 1.0}
    >>> found = objective.evaluate(Switches(3, 5, 0, 5, 2, 2, 2, 0), params)
    >>> found.k, found.score > 0.8
    (2, True)
    """

    def __init__(
        self,
        X: Matrix,
        labels: LabelMatrix,
        splits: Sequence[tuple[np.ndarray, np.ndarray]] | tuple[Matrix, LabelMatrix],
        *,
        classifier: Any = "1nn",
        measure: str | Measure | Callable[..., Any] | None = None,
        k_cap: int = K_CAP,
        all_k: bool = False,
        cache_bytes: int = MAX_BYTES,
        **options: Any,
    ):
        check_classifier(classifier)
        self.measure = predicted_measure(default_measure(labels) if measure is None else measure)
        self.X, self.labels, self.classifier, self.k_cap = X, labels, classifier, k_cap
        self.all_k, self.options = all_k, options
        self.further = tuple(splits) if _is_further(splits) else None
        self.splits = [] if self.further is not None else list(splits)
        told = [labels] if self.further is None else [labels, self.further[1]]
        self.one_label = labels.form == "classes" or all(each.one_hot for each in told)
        if self.further is None and not self.splits:
            raise ValueError("splits is empty; give at least one pair of rows trained on and rows held out.")
        self.perfect = self.measure.score(self.measure.best)
        self.cache = StageCache(cache_bytes)
        _ = self._folds

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_folds"}

    @property
    def limits(self) -> Limits:
        """How far numbers of neighbours go, on all rows that are not further ones."""
        return limits_of(self.labels, PairOptions(**self.options))

    @property
    def cache_stats(self) -> dict[str, int]:
        """What the cache has done so far."""
        return self.cache.stats()

    @cached_property
    def _folds(self) -> list[_Fold]:
        if self.further is not None:
            X_val, labels_val = self.further
            return [self._fold((), self.X, self.labels, X_val, aligned(labels_val, self.labels))]
        return [
            self._fold((number,), self.X[train], self.labels.take(train), self.X[out], self.labels.take(out))
            for number, (train, out) in enumerate(self.splits)
        ]

    def _fold(
        self, name: tuple[Any, ...], X: Matrix, labels: LabelMatrix, X_val: Matrix, labels_val: LabelMatrix
    ) -> _Fold:
        if np.isnan(self.measure.failed(labels_val.Y)):
            raise ValueError(f"measure={self.measure.name!r} is not defined on the labels of a held-out part.")
        cache = self.cache if self.cache.max_bytes else None
        stages = Stages(StageRows(X, labels, X_val), cache, name=name, k_cap=self.k_cap, **self.options)
        return _Fold(stages, labels, labels_val)

    def evaluate(self, switches: Any, params: Mapping[str, float]) -> Evaluation:
        """The score of one candidate with the best number of components; equal ones go to the smallest.

        Parameters
        ----------
        switches : Switches, or eight integers.
        params : a value for each name of ``Switches.numeric()``.

        Returns
        -------
        Evaluation
            With ``failed`` where the candidate cannot be used or its classifier raises an exception.

        Raises
        ------
        ValueError
            For a parameter that is missing.
        """
        start = perf_counter()
        switches = Switches.of(switches).canonical()
        values = switches.values(params)
        repairs: list[str] = []
        found: tuple[int | None, float, tuple[float, ...]] = None, -np.inf, ()
        try:
            placed, failed = self._placed(switches, params, repairs)
            if failed is None:
                found = self._best(placed)
        except (MemoryError, OutOfBudget):
            raise
        except Exception as error:  # classifiers of other libraries raise errors of any kind
            failed = f"{RAISED}{reason_of(error)}"
        k, score, by_fold = found
        seconds = perf_counter() - start
        return Evaluation(switches.as_tuple(), values, score, k, by_fold, seconds, tuple(repairs), failed)

    def _placed(
        self, switches: Switches, params: Mapping[str, float], repairs: list[str]
    ) -> tuple[list[Embedded], str | None]:
        """The embeddings of a candidate up to the first that fails, and the reason; adds to the repairs."""
        placed: list[Embedded] = []
        for fold in self._folds:
            placed.append(fold.stages.embed(switches, params))
            repairs += [repair for repair in placed[-1].repairs if repair not in repairs]
            if placed[-1].failed is not None:
                return placed, placed[-1].failed
        return placed, None

    def lost(self, switches: Any, params: Mapping[str, float], reason: str) -> Evaluation:
        """The evaluation of a candidate whose process was ended."""
        switches = Switches.of(switches).canonical()
        values = switches.values(params)
        return Evaluation(switches.as_tuple(), values, -np.inf, None, (), 0.0, failed=reason)

    def key(self, switches: Any, params: Mapping[str, float]) -> list[Any]:
        """Switches and parameters."""
        return [list(Switches.of(switches).canonical().as_tuple()), dict(params)]

    def plain(self, evaluation: Evaluation) -> dict[str, Any]:
        """An evaluation as plain data."""
        return evaluation.plain()

    def restored(self, plain: dict[str, Any]) -> Evaluation:
        """The evaluation of its plain data."""
        return Evaluation.of(plain)

    def order(self, steps: Sequence[Mapping[str, float]]) -> list[int]:
        """Parameters of like stages one after another."""
        return sorted(range(len(steps)), key=lambda place: tuple(steps[place].values()))

    def enough(self, outcome: Evaluation) -> bool:
        """Whether the score is the best that the measure can have."""
        return outcome.score >= self.perfect

    def _best(self, placed: list[Embedded]) -> tuple[int, float, tuple[float, ...]]:
        k_max = min(found.Z.shape[1] for found in placed)
        sizes = list(range(1, k_max + 1)) if self.all_k else searched_sizes(self.classifier, k_max)
        return best_size(sizes, np.array([self._curve(*pair, sizes) for pair in zip(self._folds, placed, strict=True)]))

    def _curve(self, fold: _Fold, found: Embedded, sizes: list[int]) -> np.ndarray:
        """The score of a held-out part for each number of components; none where all rows coincide."""
        parts = found.Z, fold.labels, found.Z_val, fold.held_out
        scores = prefix_scores(self.classifier, *parts, self.measure, sizes, self.one_label)
        scores[np.array(sizes) <= found.flat] = -np.inf
        return scores


def ranked(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Best first; equal scores by fewer components, then as they come.

    >>> first, second = (Evaluation((), {}, 0.5, k, (0.5,), 0.0) for k in (3, 2))
    >>> [found.k for found in ranked([first, second])]
    [2, 3]
    """
    return sorted(evaluations, key=lambda found: (-found.score, found.k or np.inf))


def best_size(sizes: Sequence[int], scores: np.ndarray) -> tuple[int, float, tuple[float, ...]]:
    """The number of components with the best mean over the parts, the smallest of equal ones; its mean and its scores.

    ``scores`` has a row for each part.

    >>> best_size([1, 2, 4], np.array([[0.5, 0.8, 0.7], [0.5, 0.6, 0.7]]))
    (2, 0.7, (0.8, 0.6))
    """
    mean = scores.mean(axis=0)
    best = int((mean >= mean.max() - EQUAL).argmax())
    return sizes[best], float(mean[best]), tuple(scores[:, best].tolist())


def _is_further(splits: Any) -> bool:
    return isinstance(splits, tuple) and len(splits) == 2 and isinstance(splits[1], LabelMatrix)


def aligned(labels: LabelMatrix, like: LabelMatrix) -> LabelMatrix:
    """Labels with the columns of ``like``; classes that ``like`` does not have leave their rows without a label.

    Raises ValueError where neither the names of the labels nor their number agree.

    Examples
    --------
    >>> aligned(LabelMatrix.of(["b", "d"]), LabelMatrix.of(["a", "b", "c"])).Y.toarray().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    if labels.form in ("classes", "sets") and labels.form == like.form:
        place = {name: column for column, name in enumerate(like.classes_.tolist())}
        known = [(j, place[name]) for j, name in enumerate(labels.classes_.tolist()) if name in place]
        old, new = np.array(known, dtype=np.intp).reshape(-1, 2).T
        chosen = sparse.csc_array((np.ones(len(old)), (old, new)), shape=(labels.c, like.c))
        return replace(labels, Y=sparse.csc_array(labels.Y @ chosen), classes_=like.classes_)
    if labels.c != like.c or "classes" in (labels.form, like.form):
        raise ValueError(
            f"labels of the further rows come as {labels.form} with {labels.c} columns, those of the rows as "
            f"{like.form} with {like.c}: give both in one form with the same columns."
        )
    return labels
