"""From means and variances of probit scores to log odds of labels, and the classifier's common words."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_ndtr, softmax

from ..classify.label_classifier import LabelClassifier

CERTAIN = -float(np.log(np.finfo(float).eps / 2))  # log odds from which a probability rounds to 1


def probit_log_odds(mean: np.ndarray, variance: np.ndarray, gap: float, log_prior: np.ndarray | None) -> np.ndarray:
    """log P(+) / P(-) of t ~ N(mean, variance) outside (-gap, gap); log weights of the sides, (2, L), or None.

    Examples
    --------
    >>> probit_log_odds(np.array([0.0, 1.0]), np.array([1.0, 1.0]), 0.0, None).round(4).tolist()
    [0.0, 1.6683]
    """
    root = np.sqrt(variance)
    odds = log_ndtr((mean - gap) / root) - log_ndtr((-mean - gap) / root)
    return odds if log_prior is None else odds + (log_prior[1] - log_prior[0])


class ProbitClassifier(LabelClassifier, abstract=True):
    """Base of classifiers whose scores are log odds: probabilities beside predictions.

    A subclass also gives ``_means(X)``, the means of the probit scores, whose sign alone decides about a label unless
    the two sides weigh differently (``_prior``) or a row has exactly one class.
    """

    _prior: ClassVar[np.ndarray | None] = None  # log weights of the sides, (2, L)
    _absent_odds: ClassVar[np.ndarray]  # log odds of the labels that no row of fit has, 0 for the others, (c,)

    def _completed(self, odds: np.ndarray) -> np.ndarray:
        """Log odds (m, c), 0 for labels left out of fit, with those of the labels that no row has."""
        absent = self._absent_odds < 0
        scores = odds + self._absent_odds
        if self._labels.form == "classes" and absent.any():  # of one class per row it is never the largest
            scores[:, absent] += np.minimum(odds[:, ~absent].max(axis=1, keepdims=True), 0.0)
        return scores

    @abstractmethod
    def _means(self, X: Any) -> np.ndarray:
        """The mean of every label's score of checked rows, (m, c)."""

    def _predicted(self, X: Any) -> Any:
        """The labels of checked rows; without the variances where the sign of the mean decides."""
        if self._labels.form == "classes" or (self._prior is not None and not np.array_equal(*self._prior)):
            return super()._predicted(X)
        return self._labels.decode(self._means(X) > 0)

    def decision_function(self, X: Any) -> np.ndarray:
        """Score rows by log odds: positive where the label is predicted.

        Of several labels per row they end at -36.7 and 36.7, where a probability in float64 is 1, so that scores and
        probabilities rank rows alike.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, c), or (m,) for 1-D y with two classes
        """
        scores = super().decision_function(X)
        return scores if self._labels.form == "classes" else np.clip(scores, -CERTAIN, CERTAIN)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, c); with one class per row they are those of exactly one label, and sum to one
        """
        X = self._checked(X)
        scores = self._finite_scores(X)
        return softmax(scores, axis=1) if self._labels.form == "classes" else expit(np.clip(scores, -CERTAIN, CERTAIN))
