"""The constant baseline of predictions: one prediction for every held-out row, learnt from the training rows alone."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from proxembed.measures.measures import Measure

MOST_ROWS, MOST_CUTS = 1000, 20  # training rows by which a label set is chosen, and label sets beside the commonest


class Constant(NamedTuple):
    """A constant prediction: its value (None where the measure has none of it) and its score of each label."""

    value: float | None
    scores: np.ndarray


class Cells(NamedTuple):
    """True labels of some rows, bool (m, c), which of them are known (None: all), and how often each row counts (None:
    once)."""

    Y: np.ndarray
    known: np.ndarray | None = None
    weights: np.ndarray | None = None

    def at_most(self, rows: int) -> "Cells":
        """At most ``rows`` of them, evenly spaced."""
        some = np.unique(np.linspace(0, len(self.Y) - 1, min(rows, len(self.Y))).astype(int))
        return Cells(self.Y[some], *(None if each is None else each[some] for each in self[1:]))


def constant_prediction(measure: Measure, train: Cells, held_out: Cells, least: int = 1) -> Constant:
    """The constant that the training rows name, and its value on the held-out rows: of scores and probabilities the
    share of each label, of labels the label set that serves these rows best."""
    w = np.ones(len(train.Y)) if train.weights is None else train.weights
    known = w.sum() if train.known is None else w @ train.known
    shares = (w @ train.Y + 1.0) / (known + 2.0)  # of one more row with and one without the label
    row = _best_set(measure, train.at_most(MOST_ROWS), shares, least) if measure.reads == "labels" else shares
    return Constant(_value(measure, held_out, row, least), shares)


def _best_set(measure: Measure, train: Cells, shares: np.ndarray, least: int) -> np.ndarray:
    sets = list(_label_sets(train, shares))
    values = [_value(measure, train, each, least) for each in sets]
    scores = [-np.inf if value is None else measure.score(value) for value in values]
    return sets[int(np.argmax(scores))]


def _label_sets(train: Cells, shares: np.ndarray) -> Iterator[np.ndarray]:
    """The commonest label set, and the labels whose share is above a cut, from all to none."""
    sets, place = np.unique(train.Y, axis=0, return_inverse=True)
    yield sets[np.bincount(np.ravel(place), train.weights).argmax()]
    cuts = np.unique([0.0, *shares])
    for cut in [0.5, *cuts[np.unique(np.linspace(0, len(cuts) - 1, MOST_CUTS).astype(int))]]:
        yield shares > cut


def _value(measure: Measure, cells: Cells, row: np.ndarray, least: int) -> float | None:
    """The measure of one prediction for every row; a function of the user's may have none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value: Any = measure.value(cells.Y, np.tile(row, (len(cells.Y), 1)), least, cells.known, cells.weights)[0]
    except Exception:  # what a user's function raises of a constant says nothing of the embeddings
        return None
    return float(value) if np.isfinite(value) else None
