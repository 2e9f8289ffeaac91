"""LabelClassifier: from one real score per label to predictions in the form of y; what every classifier here shares."""

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import RegressorTags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from proxembed.blocks import RowBlocks, blocks_of, lazily, split_weights
from proxembed.blocks.row_blocks import added, length
from proxembed.estimator.base import Estimator
from proxembed.estimator.validation import checked_features, in_range, learning, refuse_masked
from proxembed.estimator.weights import checked_weights
from proxembed.params import check_params
from proxembed.tables.frames import in_order
from proxembed.targets.known import known_labels
from proxembed.targets.labels import MANY_LABELS, LabelMatrix
from proxembed.targets.outputs import OutputReading

FORMS = {"sets": "sets of labels", "classes": "one class per row", "table": "columns of labels"}
SCORED_ROWS = 256  # at a time, of many labels
UNKNOWN = "only known labels can be counted; leave their rows out of X and y."


class ExactMatch(ClassifierMixin):
    """The score of a classifier whose labels come in the form of y."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose labels are all predicted. X: (m, d) array or sparse matrix, or RowBlocks with y in
        the blocks. y: known labels, in the form in which those of fit came. sample_weight: (m,) array; that of
        RowBlocks comes with the blocks. Returns a float."""
        if (blocks := blocks_of(X, y, sample_weight)) is not None:
            hits, rows = blocks.reduce(partial(_hits_of_piece, self), added)
            return hits / rows
        if y is None:
            raise ValueError(f"{type(self).__name__}.score requires y to be passed, but the target y is None.")
        refuse_masked(y, "y", f", and {UNKNOWN}")
        predicted, true = self.predict(X), LabelMatrix.of(in_order(y, self.classes_))
        check_consistent_length(predicted, true.Y)
        if true.unknown is not None:
            raise ValueError(f"y has unknown labels, and {UNKNOWN}")
        form = "sets" if isinstance(predicted, list) else "classes" if np.ndim(predicted) == 1 else "table"
        given = true.form if true.form in ("sets", "classes") else "table"
        if given != form:
            raise ValueError(
                f"y holds {FORMS[given]}, and {FORMS[form]} are predicted: give y in the form of that of fit."
            )
        if form == "table" and true.width != predicted.shape[1]:
            raise ValueError(f"y has {true.width} columns of labels, and {predicted.shape[1]} are predicted.")
        if form == "sets":
            hits = [set(own) == set(row) for own, row in zip(predicted, true.decode(true.Y), strict=True)]
            return float(np.average(hits, weights=sample_weight))
        labels = (true.decode(true.Y), predicted) if form == "classes" else (true.Y > 0, predicted > 0)
        return float(accuracy_score(*labels, sample_weight=sample_weight))


def fitted_to_labels(estimator: Any) -> bool:
    """Whether an estimator is not fitted to numbers; the error says that it is."""
    reading = vars(estimator).get("_reading_")
    if isinstance(reading, OutputReading) or (reading is None and estimator.target_type == "real"):
        raise AttributeError(
            f"{type(estimator).__name__} has scores of labels, and it is fitted to numbers: use predict."
        )
    return True


class LabelsOrNumbers:
    """Kind and score of a classifier that takes numbers too, and is a regressor where y holds them alone. It comes
    before the classifier among the bases."""

    target_type: Any

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose labels are all predicted; of numbers the mean over the columns of y of R2, accuracy
        for classes and labels beside them, over the known cells. X: (m, d) array or sparse matrix, or for labels
        RowBlocks with y in the blocks. y: in the form in which that of fit came. sample_weight: (m,) array, of rows in
        memory. Returns a float."""
        reading = vars(self).get("_reading_")
        if not isinstance(reading, OutputReading):
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        if y is None:
            raise ValueError(f"{type(self).__name__}.score takes y: pass score(X, y).")
        weights = None if sample_weight is None else checked_weights(sample_weight, X, y)
        return reading.score(y, self.predict(X), weights)  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        reading = vars(self).get("_reading_")
        held = reading.layout.columns if isinstance(reading, OutputReading) else ()
        if self.target_type == "real" or held and all(column.kind in ("real", "ranks") for column in held):
            tags.estimator_type, tags.classifier_tags, tags.regressor_tags = "regressor", None, RegressorTags()
        return tags


def _hits_of_piece(estimator: ExactMatch, rows: RowBlocks, number: int) -> tuple[float, float]:
    """How many rows of a piece have all their labels predicted, and how many there are, each as often as it counts."""
    hits, n = 0.0, 0.0
    for X, given in rows:
        y, w = split_weights(given)
        if y is None:
            raise ValueError("Blocks to score must be pairs (X, y), and y is None in a block.")
        count = length(X) if w is None else w.sum()
        if count > 0:
            hits, n = hits + estimator.score(X, y, w) * count, n + count
    return hits, n


class LabelClassifier(ExactMatch, Estimator, ABC, abstract=True):
    """Base of classifiers with one score per label: a positive score predicts the label, or the largest one the class.
    A subclass fits itself, calls ``_remember(labels)``, and gives ``_scores(X)`` of shape (m, c) for checked rows."""

    role = "classifier"
    attributes = "classes_ : array of shape (c,), the classes, or names of the label columns."

    def _remember(self, labels: LabelMatrix) -> None:
        self.classes_, self._labels = labels.classes_, labels.take(slice(0, 0))

    @abstractmethod
    def _scores(self, X: Any) -> np.ndarray:
        """One score per label of checked rows, (m, c)."""

    def linear_scores(self) -> tuple[np.ndarray, np.ndarray] | None:
        """W (d, c) and level (c,) of an indicator's scores X W - 1 level', where they are such and of so few labels
        that those of all rows are kept; else None."""
        return None

    def labels_of(self, scores: np.ndarray) -> Any:
        """The labels, in the form in which y came, that scores of ``linear_scores`` predict."""
        return self._labels.decode(self._positive(scores))

    def _finite_scores(self, X: Any) -> np.ndarray:
        """The scores of checked rows, or a ValueError where they overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X)
        return in_range(scores, X, np.float64)

    def _positive(self, scores: np.ndarray) -> np.ndarray:
        """Which labels are predicted, bool (m, c)."""
        return scores > 0

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        return checked_features(self, X, reset=False)

    def decision_function(self, X: Any) -> np.ndarray:
        """Score rows: positive where the label is predicted. X: (m, d) array or sparse matrix, or RowBlocks. Returns
        (m, c), or (m,) for 1-D y with two classes; blocks of them for RowBlocks."""
        if (blocks := lazily(X, self.decision_function)) is not None:
            return blocks
        scores = self._finite_scores(self._checked(X))
        if self._labels.form == "classes" and len(self.classes_) == 2:  # the larger one is predicted
            return (scores[:, 1] - scores[:, 0]) / 2
        return scores

    def predict(self, X: Any) -> Any:
        """Predict labels, in the form in which y came. X: (m, d) array or sparse matrix, or RowBlocks. Returns classes
        (m,), an indicator (m, c) or a list of m sets; blocks of them for RowBlocks."""
        if (blocks := lazily(X, self.predict)) is not None:
            return blocks
        return self._predicted(self._checked(X))

    def _predicted(self, X: Any) -> Any:
        """The labels of checked rows."""
        if self._labels.form == "classes":
            return self.classes_[self._finite_scores(X).argmax(axis=1)]
        if len(self.classes_) <= MANY_LABELS:
            return self.labels_of(self._finite_scores(X))
        positive = np.empty((X.shape[0], len(self.classes_)), dtype=bool)
        for start in range(0, len(positive), SCORED_ROWS):  # so that the scores of all rows are never kept
            part = slice(start, start + SCORED_ROWS)
            positive[part] = self._positive(self._finite_scores(X[part]))
        return self._labels.decode(positive)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


class UnweightedClassifier(LabelClassifier, abstract=True):
    """Base of classifiers that leave out rows with an unknown label, and take no weights. A subclass gives
    ``_fit(X, labels)`` instead of ``fit``."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the rows whose labels are all known.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : labels in any form
            Classes, an indicator, or label sets.

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y)
            self._fit(X, labels)
            self._remember(labels)
        return self

    @abstractmethod
    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        """Fit to checked rows and their labels."""
