"""LogOdds: the classifier of a read-out whose features are log odds already."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from proxembed.measures.metrics import Platt, platt_apply, platt_fit


class LogOdds(ClassifierMixin, BaseEstimator):
    """Reads log odds of labels (m, c) as they are. With one class per row, probabilities are those of exactly one
    label.

    Parameters
    ----------
    calibrated : bool, default=False
        Whether probabilities are sigmoids of what ``fit`` is given, one per label, which then need be no log odds but
        scores by models that have not seen the rows. With one class per row their sum is 1.

    Attributes
    ----------
    slope_, offset_ : arrays of shape (c,) of the sigmoids; None where they are not calibrated.
    classes_ : array of shape (c,), of one class per row; of an indicator the numbers of its columns.
    """

    def __init__(self, calibrated: bool = False) -> None:
        self.calibrated = calibrated

    def fit(self, S: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the classes, and calibrate. S: (n, c) log odds. y: classes (n,) or an indicator (n, c), NaN where
        unknown. sample_weight: (n,) numbers >= 0, how often each row counts."""
        self.one_class_ = np.ndim(y) == 1
        self.classes_ = np.unique(y) if self.one_class_ else np.arange(np.shape(y)[1])
        self.slope_ = self.offset_ = None
        if self.calibrated:
            Y = np.asarray(y)[:, None] == self.classes_ if self.one_class_ else np.asarray(y, dtype=np.float64)
            known = None if self.one_class_ or not np.isnan(Y).any() else ~np.isnan(Y)
            platt = platt_fit(np.asarray(S), np.nan_to_num(Y) > 0, known, sample_weight)
            self.slope_, self.offset_ = platt.slope, platt.offset
        return self

    def decision_function(self, S: Any) -> np.ndarray:
        """The log odds themselves, (m, c); of two classes half the difference, (m,)."""
        S = np.asarray(S)
        return (S[:, 1] - S[:, 0]) / 2 if self.one_class_ and S.shape[1] == 2 else S

    def predict_proba(self, S: Any) -> np.ndarray:
        """Probabilities, (m, c)."""
        if self.slope_ is not None and self.offset_ is not None:
            P = platt_apply(S, Platt(self.slope_, self.offset_))
            return P / P.sum(axis=1, keepdims=True) if self.one_class_ else P
        return softmax(S, axis=1) if self.one_class_ else expit(S)

    def predict(self, S: Any) -> np.ndarray:
        """The class of largest log odds, (m,), or an indicator of those above 0, (m, c)."""
        S = np.asarray(S)
        return self.classes_[S.argmax(axis=1)] if self.one_class_ else (S > 0).astype(np.int64)
