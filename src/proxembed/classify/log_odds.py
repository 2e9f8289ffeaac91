"""LogOdds: the classifier of a read-out whose features are scores of the labels already."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class LogOdds(ClassifierMixin, BaseEstimator):
    """Reads log odds, or other scores, of labels (m, c) as they are.

    Attributes
    ----------
    classes_ : array of shape (c,), of one class per row; of an indicator the numbers of its columns.
    """

    def fit(self, S: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the classes. S: (n, c) log odds. y: classes (n,) or an indicator (n, c), NaN where unknown.
        sample_weight: (n,) numbers >= 0, which change nothing."""
        self.one_class_ = np.ndim(y) == 1
        self.classes_ = np.unique(y) if self.one_class_ else np.arange(np.shape(y)[1])
        return self

    def decision_function(self, S: Any) -> np.ndarray:
        """The log odds themselves, (m, c); of two classes half the difference, (m,)."""
        S = np.asarray(S)
        return (S[:, 1] - S[:, 0]) / 2 if self.one_class_ and S.shape[1] == 2 else S

    def predict(self, S: Any) -> np.ndarray:
        """The class of largest log odds, (m,), or an indicator of those above 0, (m, c)."""
        S = np.asarray(S)
        return self.classes_[S.argmax(axis=1)] if self.one_class_ else (S > 0).astype(np.int64)
