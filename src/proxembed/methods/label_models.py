"""Label models: scores of the labels by any classifier or regressor of scikit-learn, and those that a row gets from
models which have not seen it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags

from ..splits.folds import Split
from ..tables.rows import for_solvers
from ..targets.known import known_rows_per_label, smoothed_log_odds
from ..targets.labels import LabelMatrix


@dataclass(frozen=True)
class LabelModels:
    """One model for each label, or one regressor of all; a number where the known cells of a label are all alike.

    The score of a classifier is its ``decision_function``, else the probability of the label, that of a regressor its
    prediction. A label that all rows carry, or none, has the log odds of its smoothed share (k + 1) / (n + 2), that
    share where scores are probabilities, or 0 or 1 of a regressor.
    """

    models: list[Any]

    @classmethod
    def of(cls, estimator: Any, X: Any, labels: LabelMatrix) -> LabelModels:
        """Copies of an estimator, fitted on the rows where a label is known.

        A regressor that takes several outputs is fitted on all labels at once, unknown cells at the mean of their
        label.
        """
        X, regressor = for_solvers(X), is_regressor(estimator)
        if regressor and labels.c > 1 and get_tags(estimator).target_tags.multi_output:
            return cls([clone(estimator).fit(X, labels.with_means().Y.toarray())])
        models: list[Any] = []
        for rows, column in known_rows_per_label(labels):
            if column.any() and not column.all():
                models.append(clone(estimator).fit(X[rows], column.astype(float if regressor else int)))
            elif regressor:
                models.append(float(column.any()))
            else:
                odds = float(smoothed_log_odds(column.sum(), len(column)))
                models.append(odds if hasattr(estimator, "decision_function") else float(1 / (1 + np.exp(-odds))))
        return cls(models)

    def lift(self, X: Any) -> np.ndarray:
        """The scores (m, c) of rows X."""
        X = for_solvers(X)
        columns = [np.full(X.shape[0], m) if isinstance(m, float) else _scores(m, X) for m in self.models]
        return np.hstack([np.reshape(column, (X.shape[0], -1)) for column in columns]).astype(np.float64)


def _scores(model: Any, X: Any) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def scores_out_of_fold(estimator: Any, X: Any, labels: LabelMatrix, splits: Iterable[Split]) -> np.ndarray:
    """The scores (n, c) of rows, those of each held-out part by models fitted on the others."""
    found = np.empty((X.shape[0], labels.c))
    for split in splits:
        found[split.held_out] = LabelModels.of(estimator, X[split.train], labels.take(split.train)).lift(
            X[split.held_out]
        )
    return found
