"""Trials of the DEFC experiment: tuned on the validation part, scored once on the test part.  [mu2012defc]"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.svm import LinearSVC

from papers.defc.criteria import CRITERIA, best_of_criterion
from papers.defc.flda_trials import fitted
from papers.defc.parts import Parts
from papers.defc.rivals import GA, ORIGINAL, REDUCED, RIVALS, Scale, Values
from papers.groups import without_each
from proxembed import DEFC, EmbeddingModel
from proxembed.evaluate.results import reason_of
from proxembed.methods.adaptive import Switches
from proxembed.methods.adaptive.copies import Domain, Limits
from proxembed.study.defc.model_strategies import POPULATION, ParameterSearch, grid
from proxembed.study.defc.objective import EQUAL, Objective, aligned, prefix_scores
from proxembed.study.defc.prefixes import PrefixClassifier
from proxembed.targets.labels import LabelMatrix

PERMUTED = "DEFC, reduced8, permuted labels"
LEAST, PATIENCE = 200, 100
SEARCHES = {GA: "ga", REDUCED: "reduced8", PERMUTED: "reduced8"}


@dataclass(frozen=True)
class Task:
    """One entrant on one draw of the parts: ``method`` is the original features, a rival, a search or a criterion.

    ``evaluations`` is the most settings that are tried, each with every k up to ``largest``, of DEFC with 1-NN with
    those of ``searched_sizes``.
    """

    method: str
    draw: int
    classifier: str
    parts: Parts
    largest: int
    evaluations: int
    seed: int

    @property
    def entrant(self) -> str:
        """The name of the entry."""
        return f"{self.method}, draw {self.draw + 1}"


def compete(task: Task) -> dict:
    """Tune on the validation part, score the best once on the test part.

    Returns
    -------
    dict
        Plain data: ``entrant, method, draw, validation, test, without, k, chosen, evaluations, models, failed,
        seconds, failure, notes``, and ``chance`` for permuted labels.
    """
    started = time.perf_counter()
    found: dict[str, Any] = {"validation": None, "test": None, "without": None, "k": None, "chosen": None}
    found |= {"evaluations": 0, "models": 1, "failed": 0, "failure": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found |= _run_of(task.method)(task)
        except Exception as error:
            found["failure"] = reason_of(error)
    facts = {"entrant": task.entrant, "method": task.method, "draw": task.draw, **found}
    notes = sorted({" ".join(str(each.message).split()) for each in caught})
    return {**facts, "seconds": time.perf_counter() - started, "notes": notes}


def _run_of(method: str) -> Callable[[Task], dict]:
    if method == ORIGINAL:
        return _original
    if method in SEARCHES:
        return _searched
    return _criterion if method in CRITERIA else _rival


def _original(task: Task) -> dict:
    """The classifier on the features as they are; of documents a linear support vector machine for FLDA, as
    in the paper."""
    parts, model = task.parts, PrefixClassifier(task.classifier)
    rows = [parts.X, parts.X_val, parts.X_test]
    if issparse(parts.X) and task.classifier == "flda":
        model = LinearSVC(random_state=task.seed)
    elif issparse(parts.X):
        rows = [part.toarray() for part in rows]
    model.fit(rows[0], parts.y)
    found = {"validation": model.score(rows[1], parts.y_val), **on_test(model.predict(rows[2]), parts)}
    return {**found, "k": parts.X.shape[1], "evaluations": 1, "chosen": {}}


def on_test(predicted: np.ndarray, parts: Parts) -> dict[str, Any]:
    """The share of right predictions on the test part, ``test``, and that without each group of its rows."""
    right = predicted == parts.y_test
    without = without_each(parts.test_groups, lambda kept: float(np.mean(right[kept])))
    return {"test": float(np.mean(right)), "without": without}


def _searched(task: Task) -> dict:
    """DEFC, fitted on the training part alone as in the paper; with permuted labels, beside the score by chance."""
    permuted = task.method == PERMUTED
    parts = task.parts.permuted(task.seed) if permuted else task.parts
    model = DEFC(
        SEARCHES[task.method],
        task.classifier,
        max_evals=task.evaluations,
        n_components=task.largest,
        refit="train",
        random_state=task.seed,
    )
    model.fit(parts.X, parts.y, parts.X_val, parts.y_val)
    predicted = model.predict(parts.X_test)
    best = dict(model.best_params_)
    found = {"validation": model.best_score_, "k": best.pop("k"), **on_test(predicted, parts)}
    found |= {"chosen": {"switches": list(model.best_switches_.as_tuple()), **best}}
    found |= {"evaluations": model.n_evaluations_, "models": model.n_models_}
    return {**found, "chance": by_chance(predicted, parts.y_test)} if permuted else found


def by_chance(predicted: np.ndarray, true: np.ndarray) -> float:
    """The share of right predictions that would be right if they stood in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.defc.trials import by_chance
    >>> by_chance(np.array([0, 0, 0, 1]), np.array([0, 1, 0, 1]))
    0.5
    """
    return float(sum(np.mean(predicted == name) * np.mean(true == name) for name in np.unique(true)))


def _criterion(task: Task) -> dict:
    found, model = best_of_criterion(
        task.method, task.parts, task.classifier, task.largest, task.evaluations, task.seed
    )
    return {**found, **final_score(model, found["k"], task)}


def final_score(model: Any, k: int, task: Task) -> dict[str, Any]:
    """What ``on_test`` returns, of the first k components of a fitted model."""
    parts = task.parts
    Z, Z_test = (np.asarray(model.transform(X), dtype=np.float64)[:, :k] for X in (parts.X, parts.X_test))
    return on_test(PrefixClassifier(task.classifier).fit(Z, parts.y).predict(Z_test), parts)


class RangeSearch(ParameterSearch):
    """The lower level of DEFC's search over ranges that are not those of an adaptive model."""

    def __init__(self, domains: Mapping[str, Domain], rng: np.random.Generator):
        super().__init__(Switches(0, 0, 0, 1, 1, 1, 1, 0), Limits(2, 1, 2), rng, bounded=False)
        self._domains = dict(domains)


def tune(domains: Mapping[str, Domain], score: Callable[[Values], float], evaluations: int, seed: int) -> None:
    """Score at most ``evaluations`` settings: one without parameters, a grid of 200 of one, else the genetic algorithm.

    A whole number takes all its values where these are no more than the settings. The genetic algorithm ends before
    only where, of at least 200 settings, the last 100 have brought no better score.

    Examples
    --------
    >>> from proxembed.methods.adaptive.copies import Domain
    >>> from papers.defc.trials import tune
    >>> tried = []
    >>> tune({"ridge": Domain("log", 0.01, 1.0)}, lambda values: tried.append(values["ridge"]) or 0.0, 200, seed=0)
    >>> len(tried), min(tried), max(tried)
    (200, 0.01, 1.0)
    """
    if not domains:
        score({})
    elif len(domains) == 1:
        for name, limits in domains.items():
            every = range(int(limits.low), int(limits.high) + 1)
            whole = limits.kind != "log" and len(every) <= evaluations
            for value in every if whole else grid(limits, min(LEAST, evaluations)):
                score({name: value})
    else:
        _bred(RangeSearch(domains, np.random.default_rng(seed)), score, evaluations)


def _bred(search: ParameterSearch, score: Callable[[Values], float], evaluations: int) -> None:
    """The genetic algorithm of ``tune``, a generation at a time."""
    tried, best, reached = 0, -np.inf, 0
    while tried < max(LEAST, reached + PATIENCE) and (asked := search.ask(min(POPULATION, evaluations - tried))):
        for values in asked:
            value, tried = score(values), tried + 1
            search.tell(values, value)
            if value > best:
                best, reached = value, tried


class RivalTrials:
    """Settings of a rival on one draw; the best one so far, with its fitted model, is kept.

    ``score(values)`` fits a setting and returns its share of right predictions on the validation part at the best k,
    the smallest of equal ones; -inf where it cannot be fitted, the reason in ``failures``.
    """

    def __init__(self, task: Task):
        self.task, self.rival = task, RIVALS[task.method]
        self.scale = Scale.of(task.parts.X, task.parts.y)
        self.labels = LabelMatrix.of(task.parts.y)
        self.labels_val = aligned(LabelMatrix.of(task.parts.y_val), self.labels)
        self.value, self.count = -np.inf, 0
        self.k: int | None = None
        self.values: Values | None = None
        self.model: Any = None
        self.failures: list[str] = []

    @property
    def domains(self) -> dict[str, Domain]:
        """The range of each parameter."""
        return self.rival.domains(self.scale)

    def score(self, values: Values) -> float:
        """Fit a setting and score it on the validation part."""
        self.count += 1
        try:
            value, k, model = self._tried(values)
            if value > self.value:
                if isinstance(model, EmbeddingModel):
                    model.fit(self.task.parts.X, self.task.parts.y)
                self.value, self.k, self.values, self.model = value, k, dict(values), model
        except Exception as error:
            self.failures.append(reason_of(error))
            return -np.inf
        return value

    @cached_property
    def objective(self) -> Objective:
        """The score of adaptive models with any number of components, as in DEFC."""
        task = self.task
        rows, further = (task.parts.X, self.labels), (task.parts.X_val, self.labels_val)
        options = {"measure": "subset accuracy", "k_cap": task.largest, "all_k": True}
        return Objective(*rows, further, classifier=task.classifier, **options)

    def _tried(self, values: Values) -> tuple[float, int, Any]:
        """The best score on the validation part, its k, and the model, of an adaptive one not fitted."""
        task, model = self.task, self.rival.model(values, self.scale)
        if isinstance(model, EmbeddingModel):
            switches = model.switches()
            found = self.objective.evaluate(switches, {name: getattr(model, name) for name in switches.numeric()})
            if found.k is None:
                raise ValueError(found.failed)
            return found.score, found.k, model.set_params(n_components=found.k)
        model, Z = fitted(model, task.largest, task.parts.X, task.parts.y)
        Z_val = np.asarray(model.transform(task.parts.X_val), dtype=np.float64)
        curve = prefix_scores(task.classifier, Z, self.labels, Z_val, self.labels_val, "subset accuracy")
        best = int((curve >= curve.max() - EQUAL).argmax())
        return float(curve[best]), best + 1, model


def _rival(task: Task) -> dict:
    """A rival, by the settings of ``tune``."""
    trials = RivalTrials(task)
    tune(trials.domains, trials.score, task.evaluations, task.seed)
    counts = {"evaluations": trials.count, "failed": len(trials.failures)}
    if trials.k is None:
        return {**counts, "failure": trials.failures[0]}
    found = {"validation": trials.value, "k": trials.k, "chosen": trials.values, **counts}
    return {**found, **final_score(trials.model, trials.k, task)}
