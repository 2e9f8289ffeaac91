"""One arm on one part: one fit for all sizes, the read-outs of the embedding, and their measures.

Arms share the scaled features, the inner folds and, of the measures, everything that does not depend on the embedding.
Cuts and probabilities are tuned on scores of training rows by models that have not seen these rows: of an embedding
that has learnt from labels, one fitted again on each inner fold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from proxembed.algebra.shared import remembered
from proxembed.classify.ridge import Readout, chosen_penalty, fit_readout, fold_penalty, readout_at, ridge_fit
from proxembed.classify.score_products import FactoredScores, UnseenScores, joined_scores
from proxembed.classify.thresholds import apply_thresholds, tune_thresholds
from proxembed.estimator.base import Embedder
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import held_under, takes_weights, weights_of
from proxembed.execute.budget import Budget, OutOfBudget
from proxembed.execute.ledger import as_json
from proxembed.measures.calibration import probabilities_of
from proxembed.measures.measures import DEFAULT_NEIGHBORS, Measure
from proxembed.measures.metrics import decision_counts, exchange_score, row_jaccard
from proxembed.measures.neighbors import hub_share, neighbor_scores, neighbor_weights, new_neighbor_weights
from proxembed.measures.outputs import near_outputs
from proxembed.methods.around import bounded_by_labels, fitted_embedding, scored_embedding, with_size
from proxembed.methods.layout import Layout
from proxembed.methods.output_readout import OutputReadout
from proxembed.methods.pipeline import extrapolates, fold_scores, rows_without

from .arms import MAP_SIZE, Arm
from .foreign import last_step
from .layouts import fitted_layout, map_of, settings_digest
from .part import Part, some_weights
from .results import BY_KEY, FEW_LABELS, NEIGHBORS, TEST, Kept, KeptByKey, reason_of
from .rival_fits import fitted_rival, label_scores
from .rivals.linear import LabelScores
from .rivals.rival import Rival

LATEST = 4  # embeddings of a part that are kept
NO_SIZE = "ValueError: it has fewer components than any n_components asked for; add a smaller number"
Pairs = tuple[tuple[Measure, str], ...]


@dataclass(frozen=True)
class Measures:
    """What is measured of an arm on a part."""

    pairs: Pairs
    sizes: tuple[int, ...]
    further: Pairs = ()
    n_neighbors: int = DEFAULT_NEIGHBORS
    min_positives: int = 1
    refits: bool = False
    max_seconds: float | None = None
    similarities: tuple[Measure, Measure] | None = None
    test_alone: bool = False  # of many labels scores are kept of the test rows alone
    maps: bool = False  # what maps keep of the neighbours in X, without similarities too
    kept: bool = False  # what embeddings of every size keep of them
    counted: bool = False  # decisions of few labels on the test rows, by cuts that are tuned on inner folds

    def plain(self) -> list[Any]:
        """All that distinguishes these measures from others on every split, as plain data."""
        pairs = [[(measure.name, readout) for measure, readout in each] for each in (self.pairs, self.further)]
        numbers = [
            list(self.sizes),
            self.n_neighbors,
            self.min_positives,
            self.refits,
            self.max_seconds,
            self.test_alone,
        ]
        return [*pairs, *numbers, [measure.name for measure in self.similarities or ()]]


@dataclass
class Scores(KeptByKey):
    """What one arm reaches on one part."""

    curve: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0
    bounded: bool = False
    failure: str | None = None
    notes: tuple[str, ...] = ()
    stopped: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)
    curves: dict[str, dict[int, float]] = field(default_factory=dict)  # of further measures of a search, by name

    def plain(self) -> dict[str, Any]:
        """The same as a ledger takes it."""
        by_key = {
            name: [[list(key), _plain_scores(value)] for key, value in getattr(self, name).items()] for name in BY_KEY
        }
        curves = {name: _plain_curve(curve) for name, curve in self.curves.items()}
        return {**vars(self), **by_key, "curve": _plain_curve(self.curve), "curves": curves}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Scores:
        """The scores of their plain data."""
        by_key = {name: {tuple(key): _scores_of(value) for key, value in plain.get(name, ())} for name in BY_KEY}
        curves = {name: _curve_of(own) for name, own in plain.get("curves", {}).items()}
        own = {"curve": _curve_of(plain["curve"]), "curves": curves, "notes": tuple(plain["notes"])}
        return cls(**{**plain, **by_key, **own})


def _plain_curve(curve: dict[int, float]) -> list[list[Any]]:
    return [[k, as_json(value)] for k, value in curve.items()]


def _curve_of(plain: list[list[Any]]) -> dict[int, float]:
    return {k: float(value) for k, value in plain}


def _plain_scores(value: Any) -> Any:
    return value.arrays if isinstance(value, FactoredScores) else value


def _scores_of(plain: Any) -> Any:
    return FactoredScores(**plain) if isinstance(plain, dict) else plain


def score(arm: Arm, part: Part, measures: Measures, natural: bool = False) -> Scores:
    """Fit an arm on the training rows of a part and measure it on the held-out rows."""
    started, scores, sizes = time.perf_counter(), Scores(), arm.sizes(measures.sizes)
    with warnings.catch_warnings(record=True) as caught, part.shared.active():
        warnings.simplefilter("always")
        alone = arm.each_size and not hasattr(arm.estimator, "at_size")
        for each in [(k,) for k in sizes] if alone else [sizes] if sizes else []:
            _fit_and_measure(arm, part, measures, each, natural, scores)
    scores.notes = tuple(" ".join(str(warning.message).split()) for warning in caught)
    scores.failure = scores.failure if sizes else NO_SIZE
    scores.curve = {} if scores.failure else scores.curve
    scores.seconds = time.perf_counter() - started
    return scores


def lost(arm: Arm, part: Part, measures: Measures, reason: str) -> Scores:
    """The worst value of every measure, with the reason."""
    scores = Scores(stopped=True)
    _add_lost(scores, arm, part, measures, arm.sizes(measures.sizes), _Timed(None, 0.0, reason))
    return scores


class Embedding(NamedTuple):
    """The embeddings of training and held-out rows, with all components; ``at_size`` makes those of another size;
    ``own``: what was fitted, where its own read-out predicts numbers; of labels the scores by its own read-out of the
    training rows with known labels, by models that have not seen them, and of the held-out rows."""

    Z: Any
    Z_held_out: Any
    bounded: bool = False
    at_size: Callable[[Any, Any], tuple[Any, Any]] | None = None
    own: Any = None

    def at(self, width: int) -> tuple[Any, Any]:
        """Those of a number of components."""
        pair = self.Z[:, :width], self.Z_held_out[:, :width]
        return pair if self.at_size is None else self.at_size(*pair)

    def known_at(self, width: int, known: np.ndarray) -> tuple[Any, Any]:
        """Those of the training rows ``known`` and of the held-out rows."""
        Z, Z_held_out = self.at(width)
        return Z[known], Z_held_out


Placed = list[tuple[Embedding, np.ndarray]]  # per inner fold, with the training rows of known labels


def embed(arm: Arm, part: Part, sizes: tuple[Any, ...], natural: bool = False) -> Embedding:
    """Fit an arm once for all sizes, at the largest one that it can have; ``bounded`` where that is its natural one.
    The latest of a part are kept, with their warnings, for the forms of a method with weighted axes."""
    estimator = arm.estimator
    if estimator is None:
        return Embedding(part.X, part.X_held_out)
    if hasattr(estimator, "at_size"):  # one fit of its method serves all sizes
        found = embed(replace(arm, estimator=estimator.member()), part, sizes, natural)
        most = min(max(sizes), part.read.drop_empty().c)
        at_size = partial(estimator.at_size, part.X, part.labels, counts=part.weights)
        return found._replace(Z=found.Z[:, :most], Z_held_out=found.Z_held_out[:, :most], at_size=at_size, own=None)
    if not isinstance(estimator, Embedder):
        return _fitted(arm, part, sizes, natural)
    own = estimator.n_components
    width = max(part.X.shape[1], own if isinstance(own, Integral) else 0)  # what else its own size decides
    key = settings_digest(with_size(estimator, None)), width, max(sizes), natural, arm.rival
    if key not in part.latest:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _fitted(arm, part, sizes, natural)
        part.latest[key] = found, [each.message for each in caught]
        if len(part.latest) > LATEST:
            part.latest.popitem(last=False)
    part.latest.move_to_end(key)
    found, messages = part.latest[key]
    for message in messages:
        warnings.warn(message, stacklevel=2)
    return found


def _fitted(arm: Arm, part: Part, sizes: tuple[Any, ...], natural: bool) -> Embedding:
    """What ``embed`` keeps."""
    estimator, most, labels = arm.estimator, max(sizes), part.read.drop_empty().c

    def fit(k: int | None, bounded: bool = False) -> Embedding:
        fresh, weights = with_size(estimator, k), weights_for(arm, part)
        if isinstance(fresh, Layout) and weights is None:
            return Embedding(*map_of(fitted_layout(fresh, part), part), bounded)
        found = fitted_on_part(fresh, part, weights)._replace(bounded=bounded)
        if not (np.isfinite(found.Z).all() and np.isfinite(found.Z_held_out).all()):
            raise FloatingPointError("the embedding holds NaN or infinity")
        return found

    own = estimator.n_components
    limit = min(most, max(part.X.shape[1], own if isinstance(own, Integral) else 0), part.X.shape[0] - 1)
    if isinstance(estimator, LabelScores):
        limit = min(limit, labels)
    by_rank = limit > part.label_rank and bounded_by_labels(estimator, by_rank=True)
    if natural or by_rank or (limit > labels and bounded_by_labels(estimator)):
        return fit(None, bounded=True)
    try:
        return fit(limit)
    except ValueError:
        found = fit(None)
    supervised = getattr(estimator, "traits", Traits()).labels is not None
    if supervised and not isinstance(estimator, Rival):
        return found._replace(bounded=True)
    width = found.Z.shape[1]
    for k in sorted({*sizes, width}, reverse=True):
        if width <= k < limit:
            try:
                return fit(k)
            except ValueError:
                continue
    return found


def fitted_on_part(method: Any, part: Part, weights: np.ndarray | None) -> Embedding:
    """The embeddings of a part by a method, with what it predicts labels or numbers by itself; ``weights``: how often
    each training row counts."""
    given = method, *part.rows_for(method), weights, part.groups
    if part.outputs is None:
        Z, Z_held_out, own = scored_embedding(*given)
    else:
        model, Z, Z_held_out = fitted_embedding(*given)
        own = last if hasattr(last := last_step(model), "output_readout") else None
    return Embedding(Z, Z_held_out, own=own)


def weights_for(arm: Arm, part: Part) -> np.ndarray | None:
    """How often each training row counts in the fit of an arm; None: once. A rival that takes no weights is fitted
    without them, which the notes of a comparison say; of a method it is an error."""
    return None if arm.rival and not takes_weights(arm.estimator) else part.weights


def has_not_seen(arm: Arm, part: Part) -> bool:
    """Whether an arm has scores of training rows by models that have not seen them, without refits."""
    if arm.predicts or arm.estimator is None or not get_tags(arm.estimator).target_tags.required:
        return True
    reads = part.outputs is None and hasattr(arm.estimator, "label_scores")
    return bool(getattr(arm.estimator, "places_unseen", False) or (reads and part.groups is None))


def refit_on_inner_folds(arm: Arm, part: Part, sizes: tuple[Any, ...], natural: bool = False) -> Placed | None:
    """For each inner fold the embeddings of the other folds' rows and of its own, by a model fitted without it. None
    where scores without refits have not seen the row."""
    if has_not_seen(arm, part):
        return None

    def fit(fold: int) -> tuple[Embedding, np.ndarray]:
        left_out = part.known_rows[part.inner == fold]
        rows = rows_without(left_out, part.X.shape[0], part.groups)
        found = embed(arm, part.inside(rows, left_out), sizes, natural)
        return found, np.flatnonzero(np.isin(rows, part.known_rows))

    try:
        return [fit(fold) for fold in range(part.inner.max() + 1)]
    except OutOfBudget:
        raise
    except Exception as error:
        warnings.warn(f"cuts are tuned on rows that the embedding has seen: {reason_of(error)}", stacklevel=2)
        return None


def counts_decisions(arm: Arm, part: Part, measures: Measures) -> bool:
    """Whether the decisions of an arm are counted where no measure reads them: of few labels, where they cost next to
    nothing, and on test rows where ``counted``."""
    cheap = has_not_seen(arm, part) or (measures.counted and part.name == TEST)
    return part.outputs is None and part.labels.c <= FEW_LABELS and cheap


def reads_decisions(pairs: Pairs) -> bool:
    """Whether measures read predicted labels and probabilities."""
    return {"labels", "probabilities"} <= {measure.reads for measure, _ in pairs}


class Measured(NamedTuple):
    """One embedding on the held-out rows: the values of measures, and what is held by the names of ``KeptByKey``."""

    values: dict[tuple[str, str], tuple[float, int]]
    held: dict[str, Any]


def decided_counts(part: Part, labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """The ``decision_counts`` of held-out rows by cuts (``labels``), and where the more probable is predicted, which is
    the only rule for classes: (2, 2, 2, c)."""
    likely: Any = probabilities > 0.5
    if part.of_classes:
        labels = likely = probabilities.argmax(axis=1)[:, None] == np.arange(probabilities.shape[1])
    given = part.known_held_out, part.weights_held_out
    return np.stack([decision_counts(part.Y_held_out, each, *given) for each in (labels, likely)])


class Readings:
    """What the read-outs of one embedding predict for the held-out rows, each computed when it is first used."""

    metric = "cosine"

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: Placed | None = None, dtype: Any = np.float32):
        self.Z, self.Z_held_out, self.part, self.placed = Z[part.known_rows], Z_held_out, part, placed
        self.dtype = dtype
        self.targets = part.targets
        self.folds = None if part.groups is None else part.inner

    @cached_property
    def readout(self) -> Readout:
        """The ridge read-out of the training rows, its penalty by the inner folds where these keep groups together."""
        given = self.Z, self.targets, self.folds, self.part.known_weights
        return Readout(*remembered(lambda: tuple(fit_readout(*given)), "readout", *given))

    @cached_property
    def scores(self) -> np.ndarray:
        """Ridge scores of the held-out rows, (m, c): what is kept of them, and what every measure reads."""
        return self._array_of(self.Z_held_out, self.factored)

    @property
    def fitted_scores(self) -> np.ndarray:
        """Ridge scores of the training rows, (n, c), by the read-out that is fitted to them."""
        return self._array_of(self.Z, self._factored(self.Z))

    @cached_property
    def factored(self) -> FactoredScores | None:
        """The scores of many labels as a product, where that takes less memory."""
        return self._factored(self.Z_held_out)

    def _factored(self, rows: Any) -> FactoredScores | None:
        if not self.part.many_labels:
            return None
        return FactoredScores.of(rows, self.readout.coef, self.readout.intercept)

    def _array_of(self, rows: Any, factored: FactoredScores | None) -> np.ndarray:
        if factored is not None:
            return np.asarray(factored)
        return self.readout.scores(rows).astype(self.dtype, copy=False)

    @property
    def Y(self) -> np.ndarray:
        """Labels of the training rows, bool (n, c)."""
        return self.part.indicator

    @property
    def kept_scores(self) -> Kept:
        """The scores as they are kept."""
        return self.scores if self.factored is None else self.factored

    @cached_property
    def own_scores(self) -> np.ndarray | UnseenScores:
        """Ridge scores of the training rows, (n, c), each by a read-out without its inner fold."""
        inner, width = self.part.inner, self.Z.shape[1]
        if self.placed is not None:
            placed = (found.known_at(width, known) for found, known in self.placed)
            together = self.folds is not None
            return fold_scores(placed, self.targets, inner, keep_together=together, weights=self.part.known_weights)

        def read(out: np.ndarray) -> tuple[np.ndarray, Readout, Any]:
            own = some_weights(self.part.known_weights, ~out)
            readout = readout_at(self.Z[~out], self.targets[~out], self.readout.penalty, own)
            return np.flatnonzero(out), readout, self.Z[out]

        return joined_scores(self.Y.shape, (read(inner == fold) for fold in range(inner.max() + 1)))

    @cached_property
    def labels(self) -> np.ndarray:
        """Predicted labels of the held-out rows by the shared rule of thresholds, (m, c)."""
        known, weights = self.part.known_cells, self.part.known_weights
        found = tune_thresholds(self.own_scores, self.Y, known=known, sample_weight=weights)
        return apply_thresholds(self.scores, found)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Probabilities of the held-out rows, (m, c), calibrated on the cross-fitted scores."""
        return probabilities_of(self.scores, self.part.calibrated(self.own_scores))

    @property
    def decisions(self) -> np.ndarray:
        """``decided_counts`` of the held-out rows."""
        return decided_counts(self.part, self.labels, self.probabilities)

    def neighbors(self, k: int) -> Any:
        """Labels of the training rows, the weights of the k nearest of each held-out row, and which cells are known."""
        self._find(k)
        return (self.part.Y, self._near[k], *(() if self.part.known_cells is None else (self.part.known_cells,)))

    def new_neighbors(self, measure: Measure) -> Any:
        """As ``neighbors``, of the other held-out rows; None where there are too few."""
        Y = self.part.held_out_sets
        if not measure.is_defined(Y):
            return None
        self._find_new(k := measure.n_neighbors)
        known = self.part.known_held_out
        return (Y, self._near_new[k], *(() if known is None else (known,)))

    def _find(self, k: int) -> None:
        if k not in self._near:
            started = time.perf_counter()
            self._near[k] = neighbor_weights(self.Z_held_out, self.Z, k, metric=self.metric)
            self._seconds[k] = time.perf_counter() - started

    def _find_new(self, k: int) -> None:
        if k not in self._near_new:
            self._near_new[k] = new_neighbor_weights(self.Z_held_out, self.Z, k, metric=self.metric)

    def query_seconds(self, k: int) -> float:
        """Seconds that 1,000 queries for the k nearest training rows take, by those of the held-out rows."""
        self._find(k)
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

    def measured(self, measures: Measures, pairs: Pairs) -> Measured:
        """The values of measures on the held-out rows, and what else is kept of these."""
        part = self.part
        values = {(measure.name, readout): self.value(measure, readout, measures) for measure, readout in pairs}
        if measures.similarities is None:
            return Measured(values, {})
        k = measures.similarities[0].n_neighbors
        similarity, new_similarity = self.similarities(*measures.similarities)
        self._find(k)
        kept = {"similarity": similarity, "new_similarity": new_similarity}
        kept |= {"hubs": hub_share(self._near[k], k), "queries": self.query_seconds(k)}
        if not (measures.test_alone and part.many_labels and part.name != TEST):
            kept["predictions"] = self.kept_scores
        return Measured(values, kept)

    def value(self, measure: Measure, readout: str, measures: Measures) -> tuple[float, int]:
        """The value of a measure on the held-out rows, and the number of labels that it rests on."""
        part = self.part
        if readout == NEIGHBORS and measure.reads == "scores":
            near = self.neighbors(measures.n_neighbors)[1]
            reading = neighbor_scores(near, part.Y, part.known_cells)
        else:
            reading = self.of(measure)
        sets = measure.goal == "neighbours" and part.known_held_out is None
        truth = part.held_out_sets if sets else part.Y_held_out
        return measure.value(truth, reading, measures.min_positives, part.known_held_out, part.weights_held_out)

    def exchanged(self, k: int) -> tuple[float, float | None]:
        """How far held-out rows agree more with their own neighbours than with those of other rows; and the same of
        test rows without a copy in training; None if they all have one or none has."""
        (Y, near, *_), sets, alone = self.neighbors(k), self.part.held_out_sets, self.part.alone
        own = None if alone is None else exchange_score(sets[alone], Y, near[alone])
        return exchange_score(sets, Y, near), own

    def similarities(self, measure: Measure, new: Measure) -> tuple[Any, Any]:
        """How alike the labels of each held-out row and its neighbours are, and of those among the held-out rows."""
        sets, known = self.part.held_out_sets, self.part.known_held_out
        near, among = self.neighbors(measure.n_neighbors), self.new_neighbors(new)
        own = row_jaccard(sets, *near, known=known)
        return own, None if among is None else row_jaccard(sets, *among, known=known)


class ScoreReadings(Readings):
    """Readings of an arm's own scores, which replace ridge scores and serve as its embedding."""

    factored = None

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: None = None):
        self.Z, self.Z_held_out, self.part = Z, Z_held_out, part
        self.own_scores, self.scores = Z, Z_held_out.astype(np.float32)


class OwnReadings(Readings):
    """Readings of an embedding whose method predicts labels itself: its log odds replace ridge scores at every size.
    ``own``: those of the training rows, by models that have not seen them, and of the held-out rows."""

    factored = None

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: Placed | None = None, own: Any = None):
        super().__init__(Z, Z_held_out, part)
        self.own_scores, self.scores = own[0], own[1].astype(np.float32)
        if placed is not None:  # of whole groups
            self.own_scores = np.empty(own[0].shape)
            for fold, (found, _) in enumerate(placed):
                self.own_scores[part.inner == fold] = found.own[1]

    @property
    def fitted_scores(self) -> np.ndarray:
        """Scores of the training rows, (n, c)."""
        return np.asarray(self.own_scores)


def own_embedding(method: Any, part: Part) -> Embedding:
    """The embedding of a part by a method that predicts labels itself, from the fit that its scores are of, too."""
    size = method.n_components
    return embed(Arm("", method), part, (size or 1,), natural=size is None)


def own_scores(method: Any, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The scores of labels by a method that predicts them itself: of the training rows with known labels, by models
    that have not seen the row or its group, and of the held-out rows. They are the same at every size."""
    found, size = own_embedding(method, part), method.n_components
    placed = refit_on_inner_folds(Arm("", method), part, (size or 1,), size is None)
    readings = OwnReadings(found.Z, found.Z_held_out, part, placed, found.own)
    return np.asarray(readings.own_scores), readings.scores


class LookupReadings(ScoreReadings):
    """Readings of shares of labels, such as a forest's: new rows stand at their shares, training rows at their
    labels."""

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: None = None):
        super().__init__(Z, Z_held_out, part)
        known = True if part.known_cells is None else part.known_cells
        self.Z, self.Z_held_out = np.where(known, self.Y, Z + 0.5), Z_held_out + 0.5


class OutputReadings(Readings):
    """Readings of an embedding where y holds numbers: scores are predictions of F, cut to the range of the training
    rows, by the read-out of the fitted ``model`` (None: a ridge regression on the embedding)."""

    factored = None

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: None = None, model: Any = None):
        super().__init__(Z, Z_held_out, part, dtype=np.float64)
        self.model = model
        if model is not None and distances_predict(model):
            self.metric = "euclidean"

    @cached_property
    def output_readout(self) -> OutputReadout | None:
        """The read-out of the model that is fitted to these components."""
        if self.model is None:
            return None
        weights = self.part.known_weights
        return OutputReadout().fit(self.Z, self.part.read, self.model, self.Z.shape[1], weights)

    @cached_property
    def readout(self) -> Readout:
        """The ridge regression of F on the embedding, its penalty by the inner folds where groups are together."""
        F = self.targets
        w = self.part.known_weights
        penalty = chosen_penalty("auto", self.Z, F, w) if self.folds is None else fold_penalty(self.Z, F, self.folds, w)
        return Readout(*ridge_fit(self.Z, F, penalty, weights=w), penalty)

    @cached_property
    def scores(self) -> np.ndarray:
        """Predictions of F for the held-out rows, (m, r)."""
        return self.predictions(self.Z_held_out)

    @property
    def fitted_scores(self) -> np.ndarray:
        """Predictions of F for the training rows, (n, r)."""
        return self.predictions(self.Z)

    def predictions(self, Z: Any) -> np.ndarray:
        """Predictions of F of rows of the embedding."""
        level, scale = self.part.standard
        own = self.output_readout
        F = self.readout.scores(Z) if own is None else (own.values(Z) - level) * scale
        return F if self.model is not None and extrapolates(self.model) else within_range(F, self.part)

    def neighbors(self, k: int) -> Any:
        """Moments of the outputs of the k nearest training rows, (m, 3, r)."""
        self._find(k)
        return near_outputs(self._near[k], self.part.Y.F, self.part.Y.known)

    def new_neighbors(self, measure: Measure) -> Any:
        """The same of the other held-out rows; None where there are too few."""
        cells = self.part.Y_held_out
        if not measure.is_defined(cells):
            return None
        self._find_new(k := measure.n_neighbors)
        return near_outputs(self._near_new[k], cells.F, cells.known)

    def value(self, measure: Measure, readout: str, measures: Measures) -> tuple[float, int]:
        return measure.value(self.part.Y_held_out, self.of(measure), weights=self.part.weights_held_out)

    def similarities(self, measure: Measure, new: Measure) -> tuple[Any, Any]:
        """Moments of the outputs of neighbours, from which A@k follows under any weights of the held-out rows."""
        return self.neighbors(measure.n_neighbors), self.new_neighbors(new)


class OutputScoreReadings(OutputReadings):
    """Readings of a rival's own predictions of F, which serve as its embedding, too."""

    metric = "euclidean"

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: None = None, model: None = None):
        self.Z, self.Z_held_out, self.part, self.model, self.folds = Z, Z_held_out, part, None, None

    def predictions(self, Z: Any) -> np.ndarray:
        """The rows themselves."""
        return within_range(Z, self.part)


class OutputLookupReadings(OutputScoreReadings):
    """Readings of a lookup: new rows stand at their predictions, training rows at their outputs."""

    def __init__(self, Z: Any, Z_held_out: Any, part: Part, placed: None = None, model: None = None):
        super().__init__(part.Y.F, Z_held_out, part)


def readings_of(found: Embedding, part: Part, dtype: Any = np.float32) -> Readings:
    """The readings of an embedding by its own read-out, or by a ridge; ``dtype``: of the scores by a ridge."""
    if part.outputs is not None:
        return OutputReadings(found.Z, found.Z_held_out, part, model=found.own)
    if found.own is not None:
        return OwnReadings(found.Z, found.Z_held_out, part, own=found.own)
    return Readings(found.Z, found.Z_held_out, part, dtype=dtype)


def within_range(F: np.ndarray, part: Part) -> np.ndarray:
    """Predictions of F within the range of the training rows."""
    level, scale = part.standard
    low, high = ((end - level) * scale for end in part.labels.ranges)  # type: ignore[attr-defined]  # of outputs
    return np.clip(F, low, high)


def distances_predict(model: Any) -> bool:
    """Whether distances in an embedding are those of its predictions: its components are scaled by eigenvalues."""
    scaling = getattr(model, "scaling", None)
    return scaling == "eigenvalue" or (scaling == "auto" and model.traits.numbers_scaling == "eigenvalue")


class _Timed(NamedTuple):
    """What a task returns (None if it raises), its seconds, and the reason for a failure."""

    found: Any
    seconds: float
    failure: str | None = None
    stopped: bool = False

    @classmethod
    def of(cls, budget: Budget, task: Callable[..., Any], *args: Any) -> _Timed:
        """Run a task on what is left of a budget."""
        started = time.perf_counter()
        try:
            with budget.limit():
                found = task(*args)
        except Exception as error:
            return cls(None, time.perf_counter() - started, reason_of(error), isinstance(error, OutOfBudget))
        return cls(found, time.perf_counter() - started)


def _fit_and_measure(
    arm: Arm, part: Part, measures: Measures, sizes: tuple[Any, ...], natural: bool, scores: Scores
) -> None:
    """Add the scores of the sizes that one fit serves."""
    budget = Budget(measures.max_seconds)
    fitted = _Timed.of(budget, _fit, arm, part, measures, sizes, natural)
    if fitted.failure:
        _add_lost(scores, arm, part, measures, sizes, fitted)
        return
    embedding, placed = fitted.found
    scores.bounded = embedding.bounded
    numbers, known = part.outputs is not None, {}
    kinds: Any = (OutputScoreReadings, OutputReadings) if numbers else (ScoreReadings, Readings)
    kind, lookup = kinds[not arm.predicts], OutputLookupReadings if numbers else LookupReadings
    own = () if embedding.own is None else (embedding.own,)
    if own and not numbers:
        kind = OwnReadings
    decides = (
        measures.similarities
        and not numbers
        and (reads_decisions(measures.further) or counts_decisions(arm, part, measures))
    )

    def measured(kind: Any, width: int, pairs: Pairs, keeps: bool = False) -> Measured:
        places = embedding.at(width)
        readings = kind(*places, part, placed, *own)
        found = readings.measured(measures, pairs)
        if measures.similarities and not (arm.rival or numbers):
            whole, alone = readings.exchanged(measures.similarities[0].n_neighbors)
            found.held.update(exchanged=whole, exchanged_alone=alone)
        if decides and kind is not lookup:
            found.held["decisions"] = readings.decisions
        if keeps:
            found.held["kept"] = part.kept_share(*places)
        return found

    def add(arm: Arm, k: int | None, width: int, pairs: Pairs, done: _Timed) -> None:
        _add(scores, arm, k, width, part, measures, pairs, done._replace(seconds=fitted.seconds + done.seconds))

    every, maps = embedding.Z.shape[1], measures.maps or measures.similarities is not None
    for k in sizes:
        width = every if k is None else min(k, every)
        if width not in known:
            is_map = maps and k is not None and width <= MAP_SIZE
            keeps = is_map or (measures.kept and not arm.predicts)
            known[width] = _Timed.of(budget, measured, kind, width, measures.pairs + measures.further, keeps)
        add(arm, k, width, measures.pairs + measures.further, known[width])
    if arm.lookup is not None:
        done = _Timed.of(budget, measured, lookup, every, measures.pairs)
        add(arm.lookup, None, every, measures.pairs, done)


def _fit(
    arm: Arm, part: Part, measures: Measures, sizes: tuple[Any, ...], natural: bool
) -> tuple[Embedding, Placed | None]:
    """The embedding, or the scores of an arm that predicts, and the embeddings by fits on inner folds."""
    if arm.predicts:
        return Embedding(*fitted_scores(arm, part)), None
    found = embed(arm, part, sizes, natural)
    refits = measures.refits or counts_decisions(arm, part, measures)
    placed = refit_on_inner_folds(arm, part, sizes, natural or found.bounded) if refits else None
    return found, placed


def _add(
    scores: Scores, arm: Arm, k: int | None, width: int, part: Part, measures: Measures, pairs: Pairs, done: _Timed
) -> None:
    """Add the rows of one size, and what is kept of its held-out rows."""
    found, key = done.found, (arm.name, k, part.name)
    scores.failure, scores.stopped = scores.failure or done.failure, scores.stopped or done.stopped
    for measure, readout in pairs:
        failed = measure.failed(part.Y_held_out, measures.min_positives)
        value, labels = (failed, part.Y.shape[1]) if found is None else found.values[measure.name, readout]
        row = {"arm": arm.name, "rival": arm.rival, "k": k, "components": width, "fold": part.name}
        row |= {"readout": readout, "measure": measure.name, "value": float(value), "labels": int(labels)}
        row["reads_features"] = part.outputs is None and arm.reads_features
        scores.rows.append({**row, "seconds": done.seconds, "failure": done.failure})
    if found is None:
        return
    measure, readout = pairs[0]
    scores.curve.setdefault(width, measure.score(found.values[measure.name, readout][0]))
    for name, value in found.held.items():
        if value is not None:
            getattr(scores, name)[key] = value


def _add_lost(scores: Scores, arm: Arm, part: Part, measures: Measures, sizes: tuple[Any, ...], failed: _Timed) -> None:
    """Add the rows of sizes without an embedding."""
    for k in sizes:
        _add(scores, arm, k, 0, part, measures, measures.pairs + measures.further, failed)
    if arm.lookup is not None:
        _add(scores, arm.lookup, None, 0, part, measures, measures.pairs, failed)


def fitted_scores(arm: Arm, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the training rows with known labels, by models that have not seen them, and of the held-out rows."""
    if part.outputs is not None:
        return fitted_factors(arm, part)
    X, Y = part.X[part.known_rows], part.Y.toarray()
    y = Y if part.known_cells is None else part.read.indicator
    weights = part.known_weights if takes_weights(arm.estimator) else None
    model, own = fitted_rival(arm.estimator, arm.grid, X, Y, y, part.inner, weights, part.groups is not None)
    return own, label_scores(model, part.X_held_out, Y.shape[1])


def fitted_factors(arm: Arm, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The same of a rival of numbers, in F of the training rows."""
    X, y, (level, scale) = part.X[part.known_rows], part.read, part.standard
    y = y if part.known_weights is None else held_under(y, part.known_weights)
    weighed = weights_of(part.known_weights) if takes_weights(arm.estimator) else {}
    model = clone(arm.estimator).fit(X, y, None if part.groups is None else part.inner, **weighed)
    own = getattr(model, "own_factor_", None)
    found = model.predict_factor(X) if own is None else own, model.predict_factor(part.X_held_out)
    mean, factor = y.level_and_scale
    units = (np.divide(F, factor, out=np.zeros(F.shape), where=factor > 0) + mean for F in found)
    first, second = ((each - level) * scale for each in units)
    return first, second
