"""Methods that score labels by themselves: their own label scores count, with no read-out on an embedding."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.evaluate.arms import Arm
from proxembed.evaluate.results import reason_of
from proxembed.evaluate.scoring import Measures, Scores
from proxembed.execute.budget import Budget
from proxembed.measures.measures import AVERAGE_PRECISION, MACRO_F1, MICRO_F1, measure_of
from proxembed.measures.metrics import macro_average_precision, macro_f1, micro_f1
from proxembed.targets.values import dense_labels

OWN = "own scores"
MEASURES = (AVERAGE_PRECISION, MACRO_F1, MICRO_F1)


def own_scores(model: Any, X: Any) -> np.ndarray:
    """Scores of new rows by a fitted transductive method, one column for every label that y had."""
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if not np.isfinite(scores).all():
        raise FloatingPointError("the scores hold NaN or infinity")
    return scores


def try_own(estimator: Any, part: Any, limit: float) -> Scores:
    """Fit a configuration and score the held-out rows of a part; a failure has its reason."""
    started, curve, failure = time.perf_counter(), {}, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with Budget(limit).limit():
                model = clone(estimator).fit(part.X, part.labels)
                value = macro_average_precision(part.Y_held_out, own_scores(model, part.X_held_out)).value
                curve = {part.labels.c: value}
        except Exception as error:
            failure = reason_of(error)
    notes = tuple(dict.fromkeys(" ".join(str(each.message).split()) for each in caught))
    return Scores(curve, time.perf_counter() - started, False, failure, notes)


def run_own(arm: Arm, part: Any, measures: Measures) -> Scores:
    """The rows of the test part: average precision of the method's scores, F1 of what it predicts."""
    started, found, values, failure = time.perf_counter(), Scores(), {}, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with Budget(measures.max_seconds).limit():
                values = _measured(arm.estimator, part)
        except Exception as error:
            failure = reason_of(error)
    found.seconds, found.failure = time.perf_counter() - started, failure
    for measure in MEASURES:
        value, labels = values.get(measure, (measure_of(measure).failed(part.Y_held_out), part.Y.shape[1]))
        row = {"arm": arm.name, "rival": arm.rival, "k": None, "components": 0, "fold": part.name, "readout": OWN}
        row |= {"measure": measure, "value": float(value), "labels": int(labels)}
        found.rows.append({**row, "seconds": found.seconds, "failure": failure})
    found.notes = tuple(" ".join(str(each.message).split()) for each in caught)
    return found


def _measured(estimator: Any, part: Any) -> dict[str, tuple[float, int]]:
    model, truth, c = clone(estimator).fit(part.X, part.y), part.Y_held_out, part.Y.shape[1]
    scores = own_scores(model, part.X_held_out)
    predicted = dense_labels(model.predict(part.X_held_out))
    return {
        AVERAGE_PRECISION: macro_average_precision(truth, scores),
        MACRO_F1: macro_f1(truth, predicted),
        MICRO_F1: (micro_f1(truth, predicted), c),
    }
