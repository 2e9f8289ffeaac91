"""One arm on one split: features scaled by the training part, one fit for all sizes, the read-outs and their measures.

Arms share the scaled features, the inner folds and, of the measures, everything that does not depend on the embedding.
Cuts and probabilities are tuned on scores of training rows by models that have not seen these rows: of an embedding
that has learnt from labels, one fitted again on each inner fold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

from proxembed.classify.ridge import Readout, fit_readout, ridge_fit
from proxembed.classify.thresholds import apply_thresholds, tune_thresholds
from proxembed.execute.budget import Budget, OutOfBudget
from proxembed.methods.sizes import bounded_by_labels, embedded
from proxembed.model import rows_without
from proxembed.traits import Traits

from .arms import Arm
from .calibration import platt_apply, platt_fit
from .measures import Measure
from .metrics import row_jaccard
from .neighbors import hub_share, neighbor_scores, neighbor_weights, new_neighbor_weights
from .part import Part
from .results import NEIGHBORS, reason_of
from .rivals.linear import LabelScores
from .rivals.rival import Rival
from .score_arms import fitted_scores

if TYPE_CHECKING:
    from .protocol import Protocol

Placed = list[tuple[Any, Any]]
Value = tuple[float, int]
Scores = dict[tuple[str, str], Value]
Kept = dict[tuple[str, int | None, str], Any]  # by arm, k and split


@dataclass
class Outcome:
    """What one arm did on one split."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    predictions: Kept = field(default_factory=dict)
    similarity: Kept = field(default_factory=dict)
    new_similarity: Kept = field(default_factory=dict)
    hubs: Kept = field(default_factory=dict)
    queries: Kept = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    bounded: bool = False
    seconds: float = 0.0


def fit_arm(arm: Arm, sizes: tuple[int, ...], part: Part, natural: bool) -> tuple[Any, Any, bool]:
    """Fit one arm for all sizes at once, at the largest size that it can have; True where that is its natural one.

    A supervised method whose bound is below the largest size is fitted at its natural number. Of any other one, whose
    natural number may say little or be no reduction at all, the largest number of components that works is taken. More
    components than features have those arms alone whose estimator asks for them, by features that it makes itself.
    """
    if arm.estimator is None:
        return part.X, part.X_held_out, False
    own = arm.estimator.n_components
    widest = max(part.X.shape[1], own if isinstance(own, Integral) else 0)
    limit = min(max(sizes), widest, part.X.shape[0] - 1)
    if isinstance(arm.estimator, LabelScores):
        limit = min(limit, part.read.drop_empty().c)
    if natural or (limit > part.read.drop_empty().c and bounded_by_labels(arm.estimator)):
        return *_fit_at(arm, None, part), True
    try:
        return *_fit_at(arm, limit, part), False
    except ValueError:
        found = _fit_at(arm, None, part)
    supervised = getattr(arm.estimator, "traits", Traits()).labels is not None
    if supervised and not isinstance(arm.estimator, Rival):
        return *found, True
    width = found[0].shape[1]
    for k in sorted({*sizes, width}, reverse=True):
        if width <= k < limit:
            try:
                return *_fit_at(arm, k, part), False
            except ValueError:
                continue
    return *found, False


def _fit_at(arm: Arm, k: int | None, part: Part) -> tuple[np.ndarray, np.ndarray]:
    X, X_held_out = part.features_for(arm.estimator)
    return embedded(arm.estimator, k, X, part.y, X_held_out)


def place_again(arm: Arm, sizes: tuple[int, ...], part: Part, natural: bool) -> Placed | None:
    """For each inner fold the embeddings of the other folds' rows and of its own, by a model fitted without it.

    None where that would change nothing: all features, methods that take no labels, and rivals that place a training
    row by models that have not seen it. None too, with a warning, where a fit fails: the embedding as it is then
    serves, which flatters its own rows.
    """
    if arm.estimator is None or not get_tags(arm.estimator).target_tags.required:
        return None
    if getattr(arm.estimator, "places_unseen", False):
        return None
    placed = []
    for fold in range(part.inner.max() + 1):
        own = part.known_rows[part.inner == fold]
        rows = rows_without(own, part.X.shape[0], part.groups)
        known = np.flatnonzero(np.isin(rows, part.known_rows))
        inside = part.inside(rows, own)
        try:
            Z, Z_own, _ = fit_arm(arm, sizes, inside, natural)
        except OutOfBudget:
            raise
        except Exception as error:
            warnings.warn(f"cuts are tuned on rows that the embedding has seen: {reason_of(error)}", stacklevel=2)
            return None
        placed.append((Z[known], Z_own))
    return placed


class Readings:
    """What the read-outs of one embedding say of the held-out rows, each computed when it is first asked for.

    Parameters
    ----------
    Z, Z_held_out : arrays or sparse arrays of shapes (n, k) and (m, k)
        All training rows, and the held-out rows.
    part : Part
    placed : list of (array, array), optional
        For each inner fold the embeddings of the other rows and of its own, each fold with a penalty of its own; None
        takes the rows of Z, at one penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.part import Part
    >>> from proxembed.evaluate.scoring import Readings
    >>> from proxembed.targets.labels import LabelMatrix
    >>> Z = np.arange(8.0)[:, None]
    >>> labels = LabelMatrix.of((Z > [3, 4]).astype(int))
    >>> part = Part(Z, labels, np.array([[0.0], [7.0]]), np.array([[0, 0], [1, 1]]) > 0)
    >>> readings = Readings(Z, part.X_held_out, part)
    >>> (readings.scores > 0).tolist(), readings.own_scores.shape
    ([[False, False], [True, True]], (8, 2))
    """

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: Placed | None = None):
        self.Z, self.Z_held_out, self.part, self.placed = Z[part.known_rows], Z_held_out, part, placed
        self.Y, self.targets = part.Y.toarray().astype(bool), part.targets
        self.folds = None if part.groups is None else part.inner

    @cached_property
    def readout(self) -> Readout:
        """The ridge read-out of the training rows, its penalty by the inner folds where these keep groups together."""
        return fit_readout(self.Z, self.targets, self.folds)

    @cached_property
    def scores(self) -> np.ndarray:
        """Ridge scores of the held-out rows, (m, c), float32: what is kept of them, and what every measure reads."""
        return self.readout.scores(self.Z_held_out).astype(np.float32)

    @cached_property
    def own_scores(self) -> np.ndarray:
        """Ridge scores of the training rows, (n, c), each by a read-out without its inner fold."""
        own, inner = np.empty(self.Y.shape), self.part.inner
        for fold in range(inner.max() + 1):
            out = inner == fold
            if self.placed is None:
                T = 2.0 * self.targets[~out] - 1.0
                readout = Readout(*ridge_fit(self.Z[~out], T, self.readout.penalty), self.readout.penalty)
                rows = self.Z[out]
            else:
                others, rows = (each[:, : self.Z.shape[1]] for each in self.placed[fold])
                readout = fit_readout(others, self.targets[~out], None if self.folds is None else inner[~out])
            own[out] = readout.scores(rows)
        return own

    @cached_property
    def labels(self) -> np.ndarray:
        """Predicted labels of the held-out rows by the shared rule of thresholds, (m, c)."""
        return apply_thresholds(self.scores, tune_thresholds(self.own_scores, self.Y, known=self.part.known_cells))

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Probabilities of the held-out rows, (m, c), by sigmoids of the cross-fitted scores."""
        return platt_apply(self.scores, platt_fit(self.own_scores, self.Y, self.part.known_cells))

    def neighbors(self, k: int) -> tuple[Any, ...]:
        """Labels of the training rows, the weights of the k nearest of each held-out row, and which cells are known."""
        if k not in self._near:
            started = time.perf_counter()
            self._near[k] = neighbor_weights(self.Z_held_out, self.Z, k)
            self._seconds[k] = time.perf_counter() - started
        return (self.part.Y, self._near[k], *(() if self.part.known_cells is None else (self.part.known_cells,)))

    def new_neighbors(self, measure: Measure) -> tuple[Any, ...] | None:
        """As ``neighbors``, of the other held-out rows; None where there are too few."""
        k, Y = measure.n_neighbors, self.part.Y_held_out
        if not measure.is_defined(Y):
            return None
        if k not in self._near_new:
            self._near_new[k] = new_neighbor_weights(self.Z_held_out, self.Z, k)
        known = self.part.known_held_out
        return (Y, self._near_new[k], *(() if known is None else (known,)))

    def query_seconds(self, k: int) -> float:
        """Seconds that 1,000 queries for the k nearest training rows take, by those of the held-out rows."""
        self.neighbors(k)
        return 1000 * self._seconds[k] / self.Z_held_out.shape[0]

    @cached_property
    def _near(self) -> dict[int, Any]:
        return {}

    @cached_property
    def _seconds(self) -> dict[int, float]:
        return {}

    @cached_property
    def _near_new(self) -> dict[int, Any]:
        return {}

    def of(self, measure: Measure) -> Any:
        """What a measure reads."""
        if measure.reads == "new neighbors":
            return self.new_neighbors(measure)
        return self.neighbors(measure.n_neighbors) if measure.reads == "neighbors" else getattr(self, measure.reads)


class ScoreReadings(Readings):
    """Readings of scores that an arm has made by itself: they stand in place of ridge scores, and are its embedding.

    Parameters
    ----------
    Z, Z_held_out : arrays of shapes (n, c) and (m, c)
        Scores of the training rows with known labels, by models that have not seen them, and of the held-out rows.
    part : Part
    placed : None

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.part import Part
    >>> from proxembed.evaluate.scoring import ScoreReadings
    >>> from proxembed.targets.labels import LabelMatrix
    >>> S = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> part = Part(S, LabelMatrix.of((S > 0).astype(int)), S[:2], np.zeros((2, 1), dtype=bool))
    >>> ScoreReadings(S, S[:2], part).scores.tolist()
    [[-2.0], [-1.0]]
    """

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: None = None):
        self.Z, self.Z_held_out, self.part = Z, Z_held_out, part
        self.own_scores, self.scores = Z, Z_held_out.astype(np.float32)
        self.Y = part.Y.toarray().astype(bool)


class LookupReadings(ScoreReadings):
    """Readings of shares of labels, such as a forest's: new rows stand at their shares, training rows at their labels.

    What looking up training rows by their labels is worth: an embedding that places a training row by its own labels
    is measured against it. The scores less a half are those of ``ScoreReadings``.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.part import Part
    >>> from proxembed.evaluate.scoring import LookupReadings
    >>> from proxembed.targets.labels import LabelMatrix
    >>> S = np.array([[-0.4], [0.1]])
    >>> S = np.column_stack([S, -S])
    >>> part = Part(S, LabelMatrix.of([[0, 1], [1, 1]]), S, np.zeros((2, 2), dtype=bool))
    >>> readings = LookupReadings(S, S, part)
    >>> readings.Z.tolist(), readings.Z_held_out.round(1).tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [[0.1, 0.9], [0.6, 0.4]])
    """

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: None = None):
        super().__init__(Z, Z_held_out, part)
        known = True if part.known_cells is None else part.known_cells
        self.Z, self.Z_held_out = np.where(known, self.Y, Z + 0.5), Z_held_out + 0.5


class Scored(NamedTuple):
    """One embedding measured on the held-out rows.

    ``values`` are {(measure, read-out): (value, number of labels it rests on)}, ``scores`` the ridge scores (m, c),
    ``similarity`` each row's mean similarity to its neighbours (m,), ``new_similarity`` to those among the held-out
    rows (None where these are too few), ``hub`` the share of rows that list the training row listed most, and
    ``query_seconds`` the time of 1,000 neighbour queries.
    """

    values: Scores
    scores: np.ndarray
    similarity: np.ndarray | None
    new_similarity: np.ndarray | None
    hub: float
    query_seconds: float


def score(readings: Readings, part: Part, protocol: Any, pairs: Any = None) -> Scored:
    """Measure one embedding by the read-outs that every arm has.

    Parameters
    ----------
    readings : Readings
    part : Part
    protocol : Protocol
    pairs : sequence of (measure, read-out), optional
        What is measured; None: all that the protocol has for every arm.

    Returns
    -------
    Scored
    """
    found = {}
    for name, readout in (*protocol.measures, *protocol.further_measures) if pairs is None else pairs:
        measure = protocol.measure_named(name)
        if readout == NEIGHBORS and measure.reads == "scores":
            reading = neighbor_scores(readings.neighbors(protocol.n_neighbors)[1], part.Y, part.known_cells)
        else:
            reading = readings.of(measure)
        found[name, readout] = measure.value(part.Y_held_out, reading, protocol.min_positives, part.known_held_out)
    k = protocol.neighbor_measure.n_neighbors
    near, spent = readings.neighbors(k), readings.query_seconds(k)
    among = readings.new_neighbors(protocol.new_neighbor_measure)
    similarity, new = (
        None if each is None else row_jaccard(part.Y_held_out, *each, known=part.known_held_out)
        for each in (near, among)
    )
    return Scored(found, readings.scores, similarity, new, hub_share(near[1], k), spent)


def run_arm(arm: Arm, part: Part, protocol: Protocol, natural: bool = False) -> Outcome:
    """All rows of one arm on one split; whatever it raises, or costs above its budget, is the worst value."""
    started, outcome = time.perf_counter(), Outcome()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sizes = arm.sizes(protocol.sizes)
        for each in [(k,) for k in sizes] if arm.each_size else [sizes] if sizes else []:
            _fit_and_score(arm, each, part, protocol, natural, outcome)
    outcome.notes = [f"{arm.name}: {' '.join(str(warning.message).split())}" for warning in caught]
    outcome.seconds = time.perf_counter() - started
    return outcome


def _fit_and_score(
    arm: Arm, sizes: tuple[Any, ...], part: Part, protocol: Protocol, natural: bool, outcome: Outcome
) -> None:
    """Add the rows of the sizes that one fit serves."""
    budget, started = Budget(protocol.max_seconds), time.perf_counter()
    placed: Any = None
    kind: Any = ScoreReadings if arm.predicts else Readings
    try:
        with budget.limit():
            if arm.predicts:
                Z, Z_held_out = fitted_scores(arm, part)
            else:
                Z, Z_held_out, outcome.bounded = fit_arm(arm, sizes, part, natural)
                again = protocol.refitted(arm)
                placed = place_again(arm, sizes, part, natural or outcome.bounded) if again else None
    except Exception as error:
        outcome.rows += _lost_rows(arm, sizes, part, protocol, reason_of(error), time.perf_counter() - started)
        return
    fitting = time.perf_counter() - started
    known: dict[int, Any] = {}
    pairs: Any = [*protocol.measures, *protocol.further_of(arm)]
    for k in sizes:
        width = Z.shape[1] if k is None else min(k, Z.shape[1])
        if width not in known:
            readings = kind(Z[:, :width], Z_held_out[:, :width], part, placed)
            known[width] = _timed(budget, score, readings, part, protocol, pairs)
        found, spent, failure = known[width]
        _keep(outcome, arm, k, width, part, pairs, found, fitting + spent, failure, protocol)
    if arm.lookup is not None:
        pairs = protocol.measures
        found, spent, failure = _timed(budget, score, LookupReadings(Z, Z_held_out, part), part, protocol, pairs)
        _keep(outcome, arm.lookup, None, Z.shape[1], part, pairs, found, fitting + spent, failure, protocol)


def _keep(
    outcome: Outcome,
    arm: Arm,
    k: int | None,
    width: int,
    part: Part,
    pairs: Any,
    found: Any,
    seconds: float,
    failure: str | None,
    protocol: Protocol,
) -> None:
    """Add the rows of one size, and what is kept of its held-out rows."""
    values = {} if found is None else found.values
    outcome.rows += _rows(arm, k, width, part, pairs, values, seconds, failure, protocol)
    if protocol.keep_predictions and found is not None:
        kept: tuple[Kept, ...] = (
            outcome.predictions,
            outcome.similarity,
            outcome.new_similarity,
            outcome.hubs,
            outcome.queries,
        )
        for where, value in zip(kept, found[1:], strict=True):
            if value is not None:
                where[arm.name, k, part.name] = value


def lost(arm: Arm, part: Part, protocol: Protocol, reason: str, seconds: float = 0.0) -> Outcome:
    """The worst value of every measure, with the reason."""
    return Outcome(_lost_rows(arm, arm.sizes(protocol.sizes), part, protocol, reason, seconds))


def _lost_rows(
    arm: Arm, sizes: tuple[Any, ...], part: Part, protocol: Protocol, reason: str, seconds: float
) -> list[dict[str, Any]]:
    pairs = [*protocol.measures, *protocol.further_measures]
    rows = [row for k in sizes for row in _rows(arm, k, 0, part, pairs, {}, seconds, reason, protocol)]
    if arm.lookup is not None:
        rows += _rows(arm.lookup, None, 0, part, protocol.measures, {}, seconds, reason, protocol)
    return rows


def _timed(budget: Budget, task: Callable[..., Any], *args: Any) -> tuple[Any, float, str | None]:
    """What a task returns (None if it raises), its seconds, and the reason of a failure."""
    started = time.perf_counter()
    try:
        with budget.limit():
            found, failure = task(*args), None
    except Exception as error:
        found, failure = None, reason_of(error)
    return found, time.perf_counter() - started, failure


def _rows(
    arm: Arm,
    k: int | None,
    components: int,
    part: Part,
    pairs: Any,
    values: Scores,
    seconds: float,
    failure: str | None,
    protocol: Protocol,
) -> list[dict[str, Any]]:
    rows = []
    for measure, readout in pairs:
        failed = protocol.measure_named(measure).failed(part.Y_held_out, protocol.min_positives)
        value, labels = values.get((measure, readout), (failed, part.Y.shape[1]))
        row = {"arm": arm.name, "rival": arm.rival, "k": k, "components": components, "fold": part.name}
        row |= {"readout": readout, "measure": measure, "value": float(value), "labels": int(labels)}
        rows.append({**row, "seconds": seconds, "failure": failure})
    return rows
