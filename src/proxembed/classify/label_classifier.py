"""LabelClassifier: from one real score per label to predictions in the form of y; what every classifier here shares."""

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from proxembed.base import Estimator
from proxembed.targets.labels import LabelMatrix
from proxembed.validation import checked_features, in_range, refuse_masked


class ExactMatch(ClassifierMixin):
    """The score of a classifier whose labels come in the form of y."""

    def score(self, X, y, sample_weight=None) -> float:
        """The share of rows whose labels are all predicted.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
        y : known labels, in the form in which those of fit came
        sample_weight : array of shape (m,), optional

        Returns
        -------
        float
        """
        refuse_masked(y, "y", ", and only known labels can be counted; leave their rows out of X and y.")
        predicted = self.predict(X)
        if not isinstance(predicted, list):
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        check_consistent_length(predicted, y)
        hits = [set(own) == set(true) for own, true in zip(predicted, y, strict=True)]
        return float(np.average(hits, weights=sample_weight))


class LabelClassifier(ExactMatch, Estimator, ABC, abstract=True):
    """Base of classifiers with one score per label: a positive score predicts the label, or the largest one the class.

    A subclass fits itself, calls ``_remember(labels)``, and gives ``_scores(X)`` of shape (m, c) for checked rows.
    """

    role = "classifier"

    def _remember(self, labels: LabelMatrix) -> None:
        self.classes_, self._labels = labels.classes_, labels.take(slice(0, 0))

    @abstractmethod
    def _scores(self, X) -> np.ndarray:
        """One score per label of checked rows, (m, c)."""

    def _finite_scores(self, X) -> np.ndarray:
        """The scores of checked rows, or a ValueError where they overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X)
        return in_range(scores, X, np.float64)

    def _positive(self, scores: np.ndarray) -> np.ndarray:
        """Which labels are predicted, bool (m, c)."""
        return scores > 0

    def _checked(self, X):
        check_is_fitted(self, "classes_")
        return checked_features(self, X, reset=False)

    def decision_function(self, X):
        """Score rows: positive where the label is predicted.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, c), or (m,) for 1-D y with two classes
        """
        scores = self._finite_scores(self._checked(X))
        binary = self._labels.form == "classes" and len(self.classes_) == 2
        return scores[:, 1] if binary else scores

    def predict(self, X):
        """Predict labels, in the form in which y came.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        classes of shape (m,), an indicator of shape (m, c), or a list of m sets
        """
        return self._predicted(self._checked(X))

    def _predicted(self, X):
        """The labels of checked rows."""
        scores = self._finite_scores(X)
        if self._labels.form == "classes":
            return self.classes_[scores.argmax(axis=1)]
        return self._labels.decode(self._positive(scores))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags
