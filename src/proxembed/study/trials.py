"""One configuration on one split: fitted once, read out at every size, timed, and never the end of the search."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from proxembed.classify import MultiOutputRidge
from proxembed.evaluate.arms import title_of
from proxembed.evaluate.metrics import jaccard_at_k, macro_average_precision
from proxembed.evaluate.neighbors import cosine_neighbors
from proxembed.evaluate.results import reason_of
from proxembed.execute.budget import Budget, OutOfBudget
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.model import embedded
from proxembed.params import call
from proxembed.targets.labels import LabelMatrix

from .candidates import settings

NEIGHBORS = 10
WORST = 0.0


@dataclass(frozen=True)
class Part:
    """One split: training rows and held-out rows, scaled by figures of the training rows alone."""

    X: Any
    labels: LabelMatrix
    X_held_out: Any
    Y_held_out: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """What one fit gave: the score at each size (k -> score), seconds, the reason of a failure, warnings."""

    curve: dict[int, float]
    seconds: float
    bounded: bool = False
    failure: str | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Trial:
    """One configuration with what is known of it: outcomes by number of training rows and fold."""

    estimator: Any
    title: str
    outcomes: dict[tuple[int, int], Outcome] = field(default_factory=dict)

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
        return {k: _mean([curve[min(k, max(curve))] for curve in curves]) for k in sizes}

    def best(self, rows: int) -> tuple[float, int]:
        """The best mean over folds on this many rows, and its size; of equal ones the smallest size."""
        means = self.means(rows)
        k = max(means, key=means.__getitem__, default=0)
        return means.get(k, WORST), k

    def standing(self) -> tuple[int, float]:
        """The most training rows that it was fitted on, and its score there."""
        rows = max((rows for rows, _ in self.outcomes), default=0)
        return rows, self.best(rows)[0]

    def plain(self, complete: bool = True) -> dict[str, Any]:
        """The trial as plain data, with its scores on the most rows that it came to."""
        rows, score = self.standing()
        k = self.best(rows)[1]
        return {
            "method": self.title,
            "params": settings(self.estimator),
            "k": k or None,
            "score": score,
            "scores": self.means(rows),
            "by_fold": [o.curve.get(min(k, max(o.curve, default=0)), WORST) for o in self.at(rows)],
            "rows": rows,
            "complete": complete,
            "seconds": self.seconds,
            "failure": self.failure,
            "notes": sorted({note for outcome in self.outcomes.values() for note in outcome.notes}),
        }


def _mean(values: list[float]) -> float:
    """The mean of the folds whose score is defined; the worst score where none is."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else WORST


def trial(estimator: Any) -> Trial:
    """A trial of an unfitted estimator.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.study.trials import trial
    >>> trial(OPLS()).plain()["method"]
    'OPLS'
    """
    return Trial(estimator, title_of(estimator))


def make_part(X, labels: LabelMatrix, train: np.ndarray, held_out: np.ndarray, kind: str) -> Part:
    """Take the rows of a split and scale them, with figures of the training rows alone."""
    state = scaling_fit(kind, X[train])
    truth = labels.take(held_out).Y.toarray() > 0
    return Part(scaling_apply(state, X[train]), labels.take(train), scaling_apply(state, X[held_out]), truth)


def first_rows(part: Part, rows: int) -> Part:
    """The part with its first training rows only."""
    return Part(part.X[:rows], part.labels.take(np.arange(rows)), part.X_held_out, part.Y_held_out)


def score_average_precision(Z, Z_held_out, part: Part) -> float:
    """Macro average precision of the ridge read-out."""
    return macro_average_precision(part.Y_held_out, _ridge_scores(Z, Z_held_out, part)).value


def score_jaccard(Z, Z_held_out, part: Part) -> float:
    """Mean Jaccard similarity with the label sets of the ten nearest training rows by cosine."""
    known = part.labels.rows_known
    neighbors = cosine_neighbors(Z_held_out, Z[known], min(NEIGHBORS, int(known.sum())))
    return jaccard_at_k(part.Y_held_out, part.labels.take(known).Y.toarray() > 0, neighbors)


def _ridge_scores(Z, Z_held_out, part: Part) -> np.ndarray:
    readout = MultiOutputRidge(penalty="auto").fit(Z, _as_indicator(part.labels))
    return readout.decision_function(Z_held_out).reshape(part.Y_held_out.shape)


def _as_indicator(labels: LabelMatrix) -> LabelMatrix:
    """The same labels as an indicator, so that a read-out gives one column a label."""
    return LabelMatrix(labels.Y, labels.classes_, "indicator", labels.unknown, labels.kept)


MEASURES: dict[str, Callable[..., float]] = {
    "macro average precision": score_average_precision,
    "Jaccard@10": score_jaccard,
}


def measured(measure: str | Callable, Z, Z_held_out, part: Part) -> float:
    """The value of a measure: one of ``MEASURES``, or a function of the held-out labels and their ridge scores."""
    if callable(measure):
        return float(call("measure", measure, part.Y_held_out, _ridge_scores(Z, Z_held_out, part)))
    return float(MEASURES[measure](Z, Z_held_out, part))


def run_trial(
    estimator,
    part: Part,
    sizes: tuple[int, ...],
    measure: str | Callable,
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
    measure : str or callable
        Key of ``MEASURES``, or a function (Y, S) -> float of held-out labels and ridge scores.
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
    >>> from proxembed.study.trials import make_part, run_trial
    >>> from proxembed.targets.labels import LabelMatrix
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> labels = LabelMatrix.of(X[:, :2] > 0)
    >>> part = make_part(X, labels, np.arange(40), np.arange(40, 60), "standard")
    >>> sorted(run_trial(OPLS(), part, (1, 2, 5), "macro average precision").curve)
    [1, 2]
    """
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with Budget(limit).limit():
                Z, Z_held_out, bounded = _embedded(estimator, part, max(sizes), bounded)
                widths = sorted({min(k, Z.shape[1]) for k in sizes})
                curve = {k: measured(measure, Z[:, :k], Z_held_out[:, :k], part) for k in widths}
            failure = None
        except OutOfBudget:
            curve, failure = {}, f"stopped after {limit:.3g} s: the time of the search was spent"
        except Exception as error:
            curve, failure = {}, reason_of(error)
    notes = tuple(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
    return Outcome(curve, time.perf_counter() - started, bounded, failure, notes)


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
