"""Objective: how well one candidate serves held-out rows, with the number of components that serves them best.

In: rows, labels, and which rows are held out. Out: an ``Evaluation`` of switches and parameters.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import Matrix
from proxembed.classify import apply_thresholds, tune_thresholds
from proxembed.evaluate.results import reason_of
from proxembed.execute.budget import OutOfBudget
from proxembed.execute.ledger import as_json
from proxembed.execute.loop import Evaluator
from proxembed.measures.measures import MACRO_F1, MEASURES, Measure, measure_of
from proxembed.methods.adaptive import Embedded, Limits, PairOptions, StageRows, Stages, Switches, limits_of
from proxembed.methods.adaptive.candidate import K_CAP
from proxembed.targets.labels import LabelMatrix

from .prefixes import AnyClassifier, Discriminants, check_classifier, cross_fitted, nearest_prefixes, other_classifier

MAX_BYTES = 2**30


class StageCache:
    """A cache of stages with a limit of bytes.  [mu2012defc]"""

    def __init__(self, max_bytes: int = MAX_BYTES):
        if not max_bytes >= 0:
            raise ValueError(f"max_bytes={max_bytes!r} must be a number of bytes of at least 0; 0 keeps nothing.")
        self.max_bytes = max_bytes
        self._kept: OrderedDict[tuple[Any, ...], tuple[Any, int]] = OrderedDict()
        self._bytes = self._peak = self._hits = self._misses = self._evictions = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return StageCache, (self.max_bytes,)

    def get(self, key: tuple[Any, ...]) -> Any:
        """The value of the key, which becomes the one used last; None for a key that is not held."""
        found = self._kept.get(key)
        if found is None:
            self._misses += 1
            return None
        self._hits += 1
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: tuple[Any, ...], value: Any, nbytes: int) -> None:
        """Keep a value of this size; others go, the one unused for longest first, until there is room."""
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[1]
        if nbytes > self.max_bytes:
            return
        while self._bytes + nbytes > self.max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1][1]
            self._evictions += 1
        self._kept[key] = value, nbytes
        self._bytes += nbytes
        self._peak = max(self._peak, self._bytes)

    def stats(self) -> dict[str, int]:
        """Counts of hits, misses and evictions since the start; bytes and entries held; the most bytes ever held."""
        return {
            "hits": self._hits,
            "misses": self._misses,
            "evictions": self._evictions,
            "bytes": self._bytes,
            "entries": len(self._kept),
            "peak_bytes": self._peak,
        }


ACCURACY = "subset accuracy"
EVERY_TO, PER_OCTAVE = 16, 4


def default_measure(labels: LabelMatrix) -> str:
    """ "subset accuracy" with one class per row, else "macro F1"."""
    return ACCURACY if labels.form == "classes" else MACRO_F1


def predicted_measure(measure: str | Measure | Callable[[Any, Any], float]) -> Measure:
    """The measure of a name; ValueError for one that reads neither predicted labels nor scores."""
    found = measure_of(measure)
    if found.reads not in ("labels", "scores"):
        names = ", ".join(name for name, each in MEASURES.items() if each.reads in ("labels", "scores"))
        raise ValueError(f"measure={found.name!r} reads {found.reads}; choose one of {names}, or a function of (Y, S).")
    return found


def searched_sizes(classifier: Any, k_max: int) -> list[int]:
    """The numbers of components at which a search looks, ascending: all of them with Fisher discriminants, which cost
    next to nothing; with nearest rows and other classifiers all up to 16, then four an octave, and the last.
    [mu2012defc]"""
    if isinstance(classifier, str) and classifier == "flda":
        return list(range(1, k_max + 1))
    octaves = int(PER_OCTAVE * np.log2(max(k_max, EVERY_TO) / EVERY_TO))
    beyond = [round(EVERY_TO * 2.0 ** (step / PER_OCTAVE)) for step in range(1, octaves + 1)]
    return sorted({*range(1, min(k_max, EVERY_TO) + 1), *(k for k in beyond if k < k_max), k_max})


def prefix_predictions(
    classifier: Any,
    Z: np.ndarray,
    labels: LabelMatrix,
    Z_val: np.ndarray,
    sizes: Sequence[int] | None = None,
    one_label: bool | None = None,
) -> Iterator[np.ndarray]:
    """Labels that a classifier predicts from the first k columns, for each k.  [mu2012defc]"""
    check_classifier(classifier)
    sizes = _sizes(Z, sizes)
    if (other := other_classifier(classifier)) is not None:
        return (AnyClassifier(other, Z[:, :k], labels, one_label).labels(Z_val[:, :k]) for k in sizes)
    if classifier == "1nn":
        Y = labels.Y.toarray() > 0
        return (Y[nearest] for nearest in nearest_prefixes(Z, Z_val, sizes))
    discriminants = Discriminants.fit(Z, labels, one_label)
    if discriminants.single:
        return discriminants.classes(Z_val, sizes)
    own = cross_fitted(Z, labels, sizes)
    return (
        apply_thresholds(scores, tune_thresholds(seen, labels.Y))
        for scores, seen in zip(discriminants.scores(Z_val, sizes), own, strict=True)
    )


def prefix_scores(
    classifier: Any,
    Z: np.ndarray,
    labels: LabelMatrix,
    Z_val: np.ndarray,
    labels_val: LabelMatrix,
    measure: str | Measure | Callable[[Any, Any], float],
    sizes: Sequence[int] | None = None,
    one_label: bool | None = None,
) -> np.ndarray:
    """The measure of the predictions from the first k columns, larger is better, for each k.  [mu2012defc]"""
    chosen = predicted_measure(measure)
    Y = labels_val.Y.toarray() > 0
    if chosen.reads == "scores":
        readings = _scores(classifier, Z, labels, Z_val, _sizes(Z, sizes), one_label)
    elif chosen.name == ACCURACY and _is_nearest(classifier) and labels.one_hot and labels_val.m.max() <= 1:
        true = np.where(labels_val.m > 0, Y.argmax(axis=1), -1)
        found = labels.Y.toarray().argmax(axis=1)[nearest_prefixes(Z, Z_val, _sizes(Z, sizes))]
        return (found == true).mean(axis=1)
    else:
        readings = prefix_predictions(classifier, Z, labels, Z_val, sizes, one_label)
    return np.array([chosen.score(chosen.value(Y, reading)[0]) for reading in readings])


def _scores(
    classifier: Any, Z: np.ndarray, labels: LabelMatrix, Z_val: np.ndarray, sizes: Sequence[int], one_label: bool | None
) -> Iterator[Any]:
    if (other := other_classifier(classifier)) is not None:
        return (AnyClassifier(other, Z[:, :k], labels, one_label).scores(Z_val[:, :k]) for k in sizes)
    if classifier == "1nn":
        return (found.astype(np.float64) for found in prefix_predictions(classifier, Z, labels, Z_val, sizes))
    check_classifier(classifier)
    return Discriminants.fit(Z, labels, one_label).scores(Z_val, sizes)


def _is_nearest(classifier: Any) -> bool:
    return isinstance(classifier, str) and classifier == "1nn"


def _sizes(Z: np.ndarray, sizes: Sequence[int] | None) -> Sequence[int]:
    return range(1, Z.shape[1] + 1) if sizes is None else sizes


EQUAL = 1e-12
RAISED = "it raised "  # begins the reason of a candidate that ended in an exception


@dataclass(frozen=True)
class Evaluation:
    """What one candidate has reached: ``score`` (larger is better, -inf where it failed) with ``k`` components."""

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
        """The evaluation of its plain data."""
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
    """The score of candidates on held-out rows.  [mu2012defc]"""

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
        """The score of one candidate with the best number of components; equal ones go to the smallest."""
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

    def unseen_scores(self, best: Evaluation) -> tuple[np.ndarray, LabelMatrix]:
        """Scores before cuts of all held-out rows by a candidate at its best size, (n, c), and their labels. Classes
        that the rows fitted on do not have are left out with their rows."""
        found: list[tuple[np.ndarray, LabelMatrix]] = []
        for fold in self._folds:
            placed = fold.stages.embed(Switches.of(best.switches), best.params)
            sizes = [int(best.k or placed.Z.shape[1])]
            parts = placed.Z, fold.labels, placed.Z_val
            found.append((next(_scores(self.classifier, *parts, sizes, self.one_label)), fold.held_out))
        S, labels = np.concatenate([scores for scores, _ in found]), found[0][1]
        labels = replace(labels, Y=sparse.csc_array(sparse.vstack([each.Y for _, each in found])))
        if labels.form != "classes":
            return S, labels
        known = np.flatnonzero(labels.m > 0)
        return S[known], labels.take(known)

    def _curve(self, fold: _Fold, found: Embedded, sizes: list[int]) -> np.ndarray:
        """The score of a held-out part for each number of components; none where all rows coincide."""
        parts = found.Z, fold.labels, found.Z_val, fold.held_out
        scores = prefix_scores(self.classifier, *parts, self.measure, sizes, self.one_label)
        scores[np.array(sizes) <= found.flat] = -np.inf
        return scores


def ranked(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Best first; equal scores by fewer components, then as they come."""
    return sorted(evaluations, key=lambda found: (-found.score, found.k or np.inf))


def best_size(sizes: Sequence[int], scores: np.ndarray) -> tuple[int, float, tuple[float, ...]]:
    """The number of components with the best mean over the parts (the smallest of equal ones), mean and scores."""
    mean = scores.mean(axis=0)
    best = int((mean >= mean.max() - EQUAL).argmax())
    return sizes[best], float(mean[best]), tuple(scores[:, best].tolist())


def _is_further(splits: Any) -> bool:
    return isinstance(splits, tuple) and len(splits) == 2 and isinstance(splits[1], LabelMatrix)


def aligned(labels: LabelMatrix, like: LabelMatrix) -> LabelMatrix:
    """Labels with the columns of ``like``; classes that ``like`` does not have leave their rows without a label."""
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
