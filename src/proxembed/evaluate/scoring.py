"""One arm on one split: features scaled by the training part, one fit for all sizes, the read-outs and their measures.

Arms share the scaled features, the inner folds and, of the measures, everything that does not depend on the embedding.
Cuts and probabilities are tuned on scores of training rows by models that have not seen these rows: of an embedding
that has learnt from labels, one fitted again on each inner fold.
"""

import time
import warnings
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from proxembed.classify.ridge import fold_penalty, loo_penalty, ridge_fit
from proxembed.classify.thresholds import apply_thresholds, tune_thresholds
from proxembed.execute.budget import Budget, OutOfBudget
from proxembed.model import embedded, rows_without

from .arms import Arm
from .calibration import calibration_error, log_loss, platt_apply, platt_fit
from .decisions import hamming_loss, macro_f1, micro_f1
from .label_scores import LabelScores
from .logistic import logistic_probabilities
from .metrics import jaccard_at_k, macro_average_precision
from .neighbors import cosine_neighbors, neighbor_scores
from .part import Part
from .results import (
    AVERAGE_PRECISION,
    CALIBRATION,
    HAMMING,
    JACCARD,
    LOG_LOSS,
    LOGISTIC,
    MACRO_F1,
    MICRO_F1,
    NEIGHBORS,
    RIDGE,
    reason_of,
)
from .rivals import ForestProximity

PLACED_UNSEEN = LabelScores, ForestProximity  # they place a training row by models that have not seen it
Placed = list[tuple[Any, Any]]
Value = tuple[float, int]
Scores = dict[tuple[str, str], Value]


@dataclass
class Outcome:
    """What one arm did on one split."""

    rows: list[dict] = field(default_factory=list)
    predictions: dict = field(default_factory=dict)
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
    if natural:
        return *_fit_at(arm, None, part), True
    try:
        return *_fit_at(arm, limit, part), False
    except ValueError:
        found = _fit_at(arm, None, part)
    if getattr(arm.estimator, "label_kind", None) is not None:
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
    return embedded(arm.estimator, k, part.X, part.y, part.X_held_out)


def place_again(arm: Arm, sizes: tuple[int, ...], part: Part, natural: bool) -> Placed | None:
    """For each inner fold the embeddings of the other folds' rows and of its own, by a model fitted without it.

    None where that would change nothing: all features, methods that take no labels, and rivals that place a training
    row by models that have not seen it. None too, with a warning, where a fit fails: the embedding as it is then
    serves, which flatters its own rows.
    """
    if arm.estimator is None or not get_tags(arm.estimator).target_tags.required:
        return None
    if isinstance(arm.estimator, PLACED_UNSEEN):
        return None
    placed = []
    for fold in range(part.inner.max() + 1):
        own = part.known[part.inner == fold]
        rows = rows_without(own, part.X.shape[0], part.groups)
        known = np.flatnonzero(np.isin(rows, part.known))
        inside = replace(part, X=part.X[rows], y=part.y[rows], X_held_out=part.X[own])
        try:
            Z, Z_own, _ = fit_arm(arm, sizes, inside, natural)
        except OutOfBudget:
            raise
        except Exception as error:
            warnings.warn(f"cuts are tuned on rows that the embedding has seen: {reason_of(error)}", stacklevel=2)
            return None
        placed.append((Z[known], Z_own))
    return placed


def ridge_scores(
    Z, Y, inner: np.ndarray, Z_held_out, placed: Placed | None = None, grouped: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Ridge scores of the held-out rows, and cross-fitted ones of the training rows.

    Parameters
    ----------
    Z : array or sparse array of shape (n, k)
    Y : boolean array of shape (n, c)
    inner : int array of shape (n,)
        Inner fold of each training row.
    Z_held_out : array or sparse array of shape (m, k)
    placed : list of (array, array), optional
        For each inner fold the embeddings of the other rows and of its own, each fold with a penalty of its own; None
        takes the rows of Z, at one penalty.
    grouped : bool, default=False
        Choose the penalty by the inner folds, which keep groups together, and not by single rows left out.

    Returns
    -------
    (held-out scores (m, c), cross-fitted scores (n, c))

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.scoring import ridge_scores
    >>> Z = np.arange(8.0)[:, None]
    >>> held_out, own = ridge_scores(Z, Z > 3, np.arange(8) % 2, np.array([[0.0], [7.0]]))
    >>> (held_out > 0).ravel().tolist(), own.shape
    ([False, True], (8, 1))
    """
    T = 2.0 * Y - 1.0
    penalty = fold_penalty(Z, T, inner) if grouped else loo_penalty(Z, T)
    coef, intercept = ridge_fit(Z, T, penalty)
    own = np.empty(T.shape)
    for fold in range(inner.max() + 1):
        out = inner == fold
        others, rows = (Z[~out], Z[out]) if placed is None else (each[:, : Z.shape[1]] for each in placed[fold])
        own_penalty = penalty
        if placed is not None:
            own_penalty = fold_penalty(others, T[~out], inner[~out]) if grouped else loo_penalty(others, T[~out])
        part_coef, part_intercept = ridge_fit(others, T[~out], own_penalty)
        own[out] = rows @ part_coef + part_intercept
    return Z_held_out @ coef + intercept, own


def score(Z, Z_held_out, part: Part, protocol, placed: Placed | None = None) -> tuple[Scores, np.ndarray]:
    """Measure one embedding by the read-outs that every arm has.

    Parameters
    ----------
    Z, Z_held_out : arrays or sparse arrays of shapes (n, k) and (m, k)
        All training rows, and the held-out rows.
    part : Part
    protocol : Protocol
        Its ``n_neighbors`` and ``min_positives`` are used.
    placed : list, optional
        As ``place_again`` returns it.

    Returns
    -------
    ({(measure, read-out): (value, number of labels it rests on)}, ridge scores of the held-out rows)
    """
    Z, truth, c = Z[part.known], part.Y_held_out, part.Y.shape[1]
    Y = part.Y.toarray().astype(bool)
    S, own = ridge_scores(Z, Y, part.inner, Z_held_out, placed, part.groups is not None)
    decided = apply_thresholds(S, tune_thresholds(own, Y))
    probable = platt_apply(S, platt_fit(own, Y))
    near = cosine_neighbors(Z_held_out, Z, protocol.n_neighbors)
    least = protocol.min_positives
    found = {
        (AVERAGE_PRECISION, RIDGE): macro_average_precision(truth, S, min_positives=least),
        (AVERAGE_PRECISION, NEIGHBORS): macro_average_precision(
            truth, neighbor_scores(near, part.Y), min_positives=least
        ),
        (JACCARD.format(protocol.n_neighbors), NEIGHBORS): (jaccard_at_k(truth, part.Y, near), c),
        (MACRO_F1, RIDGE): _with_labels(macro_f1(truth, decided), c),
        (MICRO_F1, RIDGE): (micro_f1(truth, decided), c),
        (HAMMING, RIDGE): (hamming_loss(truth, decided), c),
        (LOG_LOSS, RIDGE): _with_labels(log_loss(truth, probable), c),
        (CALIBRATION, RIDGE): (calibration_error(truth, probable), c),
    }
    return found, S


def score_logistic(part: Part, protocol) -> Scores:
    """Measure logistic regression on all features: its scores, and its own probabilities."""
    truth, c = part.Y_held_out, part.Y.shape[1]
    P = logistic_probabilities(part.X[part.known], part.Y, part.X_held_out)
    return {
        (AVERAGE_PRECISION, LOGISTIC): macro_average_precision(truth, P, min_positives=protocol.min_positives),
        (LOG_LOSS, LOGISTIC): _with_labels(log_loss(truth, P), c),
        (CALIBRATION, LOGISTIC): (calibration_error(truth, P), c),
    }


def _with_labels(value, c: int) -> Value:
    """A mean over labels comes with their number; a plain number rests on all of them."""
    return tuple(value) if isinstance(value, tuple) else (value, c)


def run_arm(arm: Arm, part: Part, protocol, natural: bool = False) -> Outcome:
    """All rows of one arm on one split; whatever it raises, or costs above its budget, is the worst value."""
    started, outcome = time.perf_counter(), Outcome()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _fit_and_score(arm, part, protocol, natural, outcome)
    outcome.notes = [f"{arm.name}: {' '.join(str(warning.message).split())}" for warning in caught]
    outcome.seconds = time.perf_counter() - started
    return outcome


def _fit_and_score(arm: Arm, part: Part, protocol, natural: bool, outcome: Outcome) -> None:
    sizes = (None,) if arm.estimator is None else protocol.sizes
    budget, started = Budget(protocol.max_seconds), time.perf_counter()
    try:
        with budget.limit():
            Z, Z_held_out, outcome.bounded = fit_arm(arm, protocol.sizes, part, natural)
            placed = place_again(arm, protocol.sizes, part, natural or outcome.bounded)
    except Exception as error:
        outcome.rows = lost(arm, part, protocol, reason_of(error), time.perf_counter() - started).rows
        return
    fitting, known = time.perf_counter() - started, {}
    pairs = [*protocol.measures, *protocol.further_measures]
    for k in sizes:
        width = Z.shape[1] if k is None else min(k, Z.shape[1])
        if width not in known:
            known[width] = _timed(budget, score, Z[:, :width], Z_held_out[:, :width], part, protocol, placed)
        found, spent, failure = known[width]
        values, S = found or ({}, None)
        outcome.rows += _rows(arm, k, width, part, pairs, values, fitting + spent, failure, protocol.min_positives)
        if protocol.keep_predictions and S is not None:
            outcome.predictions[arm.name, k, part.name] = S.astype(np.float32)
    if arm.estimator is None:
        found, seconds, failure = _timed(budget, score_logistic, part, protocol)
        pairs = protocol.logistic_measures
        outcome.rows += _rows(
            arm, None, width, part, pairs, found or {}, fitting + spent + seconds, failure, protocol.min_positives
        )


def lost(arm: Arm, part: Part, protocol, reason: str, seconds: float = 0.0) -> Outcome:
    """The worst value of every measure, with the reason."""
    sizes, pairs = (None,) if arm.estimator is None else protocol.sizes, protocol.measures_of(arm)
    return Outcome(
        [row for k in sizes for row in _rows(arm, k, 0, part, pairs, {}, seconds, reason, protocol.min_positives)]
    )


def _timed(budget: Budget, task, *args) -> tuple[Any, float, str | None]:
    """What a task returns (None if it raises), its seconds, and the reason of a failure."""
    started = time.perf_counter()
    try:
        with budget.limit():
            found, failure = task(*args), None
    except Exception as error:
        found, failure = None, reason_of(error)
    return found, time.perf_counter() - started, failure


def _rows(
    arm: Arm, k, components: int, part: Part, pairs, values: Scores, seconds: float, failure: str | None, least: int
):
    rows = []
    for measure, readout in pairs:
        value, labels = values.get((measure, readout), (part.worst(measure, least), part.Y.shape[1]))
        row = {"arm": arm.name, "rival": arm.rival, "k": k, "components": components, "fold": part.name}
        row |= {"readout": readout, "measure": measure, "value": float(value), "labels": int(labels)}
        rows.append({**row, "seconds": seconds, "failure": failure})
    return rows
