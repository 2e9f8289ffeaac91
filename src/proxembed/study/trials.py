"""One configuration on one split: fitted once, read out at every size, timed, and never the end of the search."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from proxembed.evaluate.arms import settings, title_of
from proxembed.evaluate.choice import choose, repeated_score
from proxembed.evaluate.costs import fit_work, readout_work, shape_of
from proxembed.evaluate.measures import Measure
from proxembed.evaluate.part import Part
from proxembed.evaluate.results import reason_of
from proxembed.evaluate.scoring import Readings
from proxembed.execute.budget import Budget, OutOfBudget
from proxembed.model import embedded

from .candidates import ANCHOR, suited
from .storage import as_json
from .study import Evaluator, Trial
from .work_budget import WorkBudget

KEEP = 3
LEAST_ROWS = 400
STEPS_BELOW = 2
WHOLE_BELOW = 1000  # rows below which every configuration is scored on all rows of all folds


@dataclass(frozen=True)
class Outcome:
    """What one fit gave: the score at each size (k -> score), seconds, the reason of a failure, warnings.

    ``stopped``: the clock ended it, so that another run may have another outcome.
    """

    curve: dict[int, float]
    seconds: float
    bounded: bool = False
    failure: str | None = None
    notes: tuple[str, ...] = ()
    stopped: bool = False

    def plain(self) -> dict[str, Any]:
        """The same as plain data, which has no place for what the clock ended."""
        values = {name: value for name, value in asdict(self).items() if name != "stopped"}
        return values | {"curve": [[k, as_json(score)] for k, score in self.curve.items()]}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Outcome:
        """The outcome of its plain data.

        >>> found = Outcome({2: 0.5, 3: math.nan}, 0.1, notes=("a",))
        >>> str(Outcome.of(found.plain())) == str(found)
        True
        """
        curve = {k: float(score) for k, score in plain["curve"]}
        return cls(**plain | {"curve": curve, "notes": tuple(plain["notes"])})


@dataclass(eq=False)
class MethodTrial(Trial):
    """A trial of an unfitted estimator, whose outcomes go by number of training rows and fold.

    ``worst`` is the score that stands for none, ``goal`` (rows, folds) of a complete trial.
    """

    worst: float = 0.0
    goal: tuple[int, int] = field(kw_only=True)

    @property
    def failure(self) -> str | None:
        """The first failure, or None."""
        return next((outcome.failure for outcome in self.outcomes.values() if outcome.failure), None)

    @property
    def seconds(self) -> float:
        """Seconds spent on it."""
        return sum(outcome.seconds for outcome in self.outcomes.values())

    def at(self, rows: int) -> list[Outcome]:
        """Outcomes on this many training rows, by fold."""
        return [self.outcomes[key] for key in sorted(self.outcomes) if key[0] == rows]

    def means(self, rows: int) -> dict[int, float]:
        """The mean over folds at each size, on this many rows; empty where a fit failed or none was made.

        A fold in which the method has fewer components counts with all that it has there.
        """
        outcomes = self.at(rows)
        if not outcomes or any(outcome.failure for outcome in outcomes):
            return {}
        curves = [outcome.curve for outcome in outcomes]
        sizes = sorted(k for k in set().union(*curves) if all(k in curve or k > max(curve) for curve in curves))
        return {k: self._mean([curve[min(k, max(curve))] for curve in curves]) for k in sizes}

    def _mean(self, values: list[float]) -> float:
        """The mean of the folds whose score is defined; the worst score where none is."""
        defined = [value for value in values if not np.isnan(value)]
        return float(np.mean(defined)) if defined else self.worst

    def best(self, rows: int) -> tuple[float, int]:
        """The best mean over folds on this many rows, and its size; of equal ones the smallest size."""
        means = self.means(rows)
        k = max(means, key=means.__getitem__, default=0)
        return means.get(k, self.worst), k

    def standing(self) -> tuple[int, float]:
        """The most training rows that it was fitted on, and its score there."""
        rows = max((rows for rows, _ in self.outcomes), default=0)
        return rows, self.best(rows)[0]

    def record(self, step: tuple[int, int], outcome: Outcome) -> None:
        """Keep the outcome of a fit."""
        self.outcomes[step] = outcome

    @property
    def complete(self) -> bool:
        """Whether it was scored on all rows of all folds."""
        rows, folds = self.goal
        return not self.failure and len(self.at(rows)) == folds

    @property
    def score(self) -> float:
        """The score of a complete trial; -inf of another, whose score is not comparable."""
        return self.best(self.goal[0])[0] if self.complete else -math.inf

    def by_fold(self, rows: int, k: int) -> list[float]:
        """The scores at a size of the folds on this many rows."""
        return [o.curve.get(min(k, max(o.curve, default=0)), self.worst) for o in self.at(rows)]

    def plain(self) -> dict[str, Any]:
        """The trial as plain data, with its scores on the most rows that it came to."""
        rows, score = self.standing()
        k = self.best(rows)[1]
        return {
            "method": self.title,
            "params": settings(self.config),
            "k": k or None,
            "score": score,
            "scores": self.means(rows),
            "by_fold": self.by_fold(rows, k),
            "rows": rows,
            "complete": self.complete,
            "seconds": self.seconds,
            "failure": self.failure,
            "notes": sorted({note for outcome in self.outcomes.values() for note in outcome.notes}),
        }


def best_trial(trials: Iterable[MethodTrial]) -> MethodTrial | None:
    """The complete trial of the best score, of equal ones the earliest; else the furthest one that has a score."""
    usable = [t for t in trials if t.outcomes and not t.failure]
    complete = [t for t in usable if t.complete]
    if complete:
        return max(complete, key=lambda t: t.score)
    return max(usable, key=MethodTrial.standing, default=None)


@dataclass(frozen=True)
class Choice:
    """The trial that a search ends with, at its size, and what may be expected of it.

    Parameters
    ----------
    trial : MethodTrial
    k : int
    mean : float
        Its mean over the folds: that of a winner among many.
    score : float or None
        The mean over the folds of what the same choice without that fold scores on it.
    anchored : bool
        Whether the anchor, the untuned kernel form of the first method, was kept, though another had a better mean.
    """

    trial: MethodTrial
    k: int
    mean: float
    score: float | None
    anchored: bool = False


def chosen(trials: Iterable[MethodTrial]) -> Choice | None:
    """The choice among complete trials at all their sizes; without any the furthest trial that has a score.

    The best mean is taken; the untuned kernel form is left only for more than one paired standard error.
    """
    trials = list(trials)
    complete = [t for t in trials if t.complete]
    if not complete:
        furthest = best_trial(trials)
        return None if furthest is None else Choice(furthest, *furthest.best(furthest.standing()[0])[::-1], None)
    rows = complete[0].goal[0]
    entrants = [(t, k) for t in complete for k in t.means(rows)]
    values = np.array([t.by_fold(rows, k) for t, k in entrants])
    anchor = [untuned(t.config) for t, _ in entrants]
    at = choose(values, anchor)
    trial, k = entrants[at]
    score = repeated_score(values, anchor)
    return Choice(trial, k, trial.means(rows)[k], score, anchored=at != choose(values))


def untuned(config: Any) -> bool:
    """Whether a configuration is the untuned kernel form, whatever its size, its seed and its prototypes.

    Examples
    --------
    >>> from proxembed import Kernelized
    >>> from proxembed.study.trials import untuned
    >>> untuned(Kernelized(random_state=3)), untuned(Kernelized(tau=0.1))
    (True, False)
    """
    return title_of(config) == ANCHOR and set(settings(config)) <= {"random_state", "n_prototypes", "n_components"}


def fold_count(rows: int, groups: Any = None) -> int:
    """Folds of a search: five below 1,000 rows, else three; no more than there are groups to keep together, or rows.

    Examples
    --------
    >>> from proxembed.study.trials import fold_count
    >>> fold_count(999), fold_count(1000), fold_count(999, [4, 4, 7, 7])
    (5, 3, 2)
    """
    most = rows if groups is None else len(np.unique(groups))
    return max(2, min(5 if rows < WHOLE_BELOW else 3, most))


def rungs(parts: Sequence[Part], full: int) -> tuple[tuple[int, int], ...]:
    """Fidelities (training rows, folds): a ninth and a third of the rows where they are many, all rows, all folds.

    Where the folds are made of fewer than 1,000 rows (``full``) there is but one: all rows of all folds. All rows are
    those of the smallest fold; a fold with some more is used whole.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.part import Part
    >>> from proxembed.study.trials import rungs
    >>> part = Part(np.empty((1500, 2)), None, None, None)
    >>> rungs((part, part), 3000), rungs((part, part), 900)
    (((500, 1), (1500, 1), (1500, 2)), ((1500, 2),))
    """
    rows = min(part.X.shape[0] for part in parts)
    if full < WHOLE_BELOW:
        return ((rows, len(parts)),)
    below = [rows // KEEP**step for step in range(STEPS_BELOW, 0, -1) if rows // KEEP**step >= LEAST_ROWS]
    return (*((m, 1) for m in below), (rows, 1), (rows, len(parts)))


class FoldScores(Evaluator):
    """Scores configurations on the held-out rows of folds; a step is (training rows, fold).

    ``parts`` are the folds, ``full`` the rows of the last fit; ``budget`` bounds the work, where it is counted.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        full: int,
        sizes: tuple[int, ...],
        measure: Measure,
        budget: WorkBudget | None = None,
    ):
        self.budget = budget
        self.full, self.sizes, self.measure, self.rungs = full, sizes, measure, rungs(parts, full)
        self.perfect, last = measure.score(measure.best), self.rungs[-1][0]
        self._short = [{m: part if m == last else first_rows(part, m) for m, _ in self.rungs} for part in parts]

    def trial(self, estimator: Any, seed: int) -> MethodTrial:
        """A trial of an unfitted estimator, made fit for these rows."""
        worst = self.measure.score(self.measure.worst)
        prototypes = None if self.budget is None else self.budget.prototypes
        config = suited(estimator, self.full, seed, prototypes)
        return MethodTrial(config, title_of(config), worst=worst, goal=self.rungs[-1])

    def work(self, config: Any, step: tuple[int, int]) -> float:
        """Forecast work of a step, from the sizes alone."""
        rows, fold = step
        part = self._short[fold][rows]
        shape, m = shape_of(part.X, part.labels.c), len(part.Y_held_out)
        return fit_work(config, shape) + sum(readout_work(rows, m, k, shape.c) for k in self.sizes)

    def permits(self, config: Any) -> bool:
        """Whether the last fit of a configuration is within the budget."""
        if self.budget is None:
            return True
        part = self._short[0][self.rungs[-1][0]]
        last = shape_of(part.X, part.labels.c).rows(self.budget.last_rows or self.full)
        return self.budget.permits(fit_work(config, last))

    def key(self, config: Any, step: tuple[int, int]) -> list[Any]:
        """Method, parameters, number of training rows and fold."""
        return [title_of(config), settings(config), *step]

    def plain(self, outcome: Outcome) -> dict[str, Any] | None:
        """An outcome as plain data; None where the clock ended it."""
        return None if outcome.stopped else outcome.plain()

    def restored(self, plain: dict[str, Any]) -> Outcome:
        """The outcome of its plain data."""
        return Outcome.of(plain)

    def evaluate(self, config: Any, step: tuple[int, int], **options: Any) -> Outcome:
        """The outcome of one fit; ``options`` are those of ``run_trial``."""
        rows, fold = step
        return run_trial(config, self._short[fold][rows], self.sizes, self.measure, **options)


def first_rows(part: Part, rows: int) -> Part:
    """The part with its first training rows only."""
    return replace(part, X=part.X[:rows], labels=part.labels.take(np.arange(rows)))


def measured(measure: Measure, Z, Z_held_out, part: Part) -> float:
    """The value of a measure with its sign such that larger is better; NaN where it is undefined."""
    reading = Readings(Z, Z_held_out, part).of(measure)
    value, _ = measure.value(part.Y_held_out, reading, known=part.known_held_out)
    return measure.score(value)


def run_trial(
    estimator,
    part: Part,
    sizes: tuple[int, ...],
    measure: Measure,
    bounded: bool = False,
    limit: float | None = None,
) -> Outcome:
    """Fit a configuration on one part, once for all sizes; whatever it raises is an outcome with the reason.

    Parameters
    ----------
    estimator : unfitted method
    part : Part
    sizes : tuple of int
        Numbers of components to score; a method with fewer enters with those that it has.
    measure : Measure
    bounded : bool, default=False
        Whether it is known that the method has fewer components than the largest size.
    limit : float, optional
        Seconds after which it is stopped, which is a failure.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import OPLS
    >>> from proxembed.evaluate.measures import MEASURES
    >>> from proxembed.evaluate.part import make_part
    >>> from proxembed.study.trials import run_trial
    >>> from proxembed.targets.labels import LabelMatrix
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> labels = LabelMatrix.of(X[:, :2] > 0)
    >>> part = make_part(X, labels, np.arange(40), np.arange(40, 60), "standard")
    >>> sorted(run_trial(OPLS(), part, (1, 2, 5), MEASURES["macro average precision"]).curve)
    [1, 2]
    """
    started, stopped = time.perf_counter(), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with Budget(limit).limit():
                Z, Z_held_out, bounded = _embedded(estimator, part, max(sizes), bounded)
                widths = sorted({min(k, Z.shape[1]) for k in sizes})
                curve = {k: measured(measure, Z[:, :k], Z_held_out[:, :k], part) for k in widths}
            failure = None
        except OutOfBudget:
            curve, failure, stopped = {}, f"stopped after {limit:.3g} s: the time of the search was spent", True
        except Exception as error:
            curve, failure = {}, reason_of(error)
    notes = tuple(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
    return Outcome(curve, time.perf_counter() - started, bounded, failure, notes, stopped)


def _embedded(estimator, part: Part, largest: int, bounded: bool):
    """Embeddings of the training and held-out rows, at the largest size that the method has on these rows."""
    limit = min(largest, part.X.shape[1], part.X.shape[0] - 1)
    if not bounded:
        try:
            return (*_fitted(estimator, part, max(limit, 1)), False)
        except ValueError:
            bounded = True
    Z, Z_held_out = _fitted(estimator, part, None)
    return Z[:, :largest], Z_held_out[:, :largest], bounded


def _fitted(estimator, part: Part, k: int | None) -> tuple[np.ndarray, np.ndarray]:
    return embedded(estimator, k, part.X, part.labels, part.X_held_out)
