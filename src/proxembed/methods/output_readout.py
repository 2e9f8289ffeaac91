"""OutputReadout: the last step of a model of numbers, which predicts them from an embedding."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import RegressorTags
from sklearn.utils.validation import check_is_fitted

from proxembed.blocks import lazily
from proxembed.classify.ridge import loo_penalty
from proxembed.estimator.readout import ReadOut
from proxembed.estimator.weights import held_under
from proxembed.targets.outputs import Outputs
from proxembed.targets.targets import Output


class OutputReadout(BaseEstimator):
    """The linear read-out of numbers, and of columns of several kinds, from an embedding.

    yhat = ybar + (z - zbar)(P'(Xc'Xc + lam I)P)^-1 P'Xc'Yc, the ridge of the method restricted to its components; of
    methods without a ridge, and without labels, least squares on the embedding. Leaves of a forest, and methods that
    place the rows themselves, have a ridge regression on the embedding with the penalty of least leave-one-out error.

    Parameters
    ----------
    extrapolate : bool, default=False
        Whether predictions may leave the range of the training rows; else they are cut to it.

    Attributes
    ----------
    coef_ : (n_outputs, k) array, in units of y; a row per class of a column of classes.
    intercept_ : (n_outputs,) array, the prediction where every component is 0.
    targets_ : tuple of Output, how each column of y was read.
    """

    def __init__(self, extrapolate: bool = False) -> None:
        self.extrapolate = extrapolate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        reading = vars(self).get("reading_")
        if reading is None or all(column.kind == "real" for column in reading.layout.columns):
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.required = tags.target_tags.multi_output = True
        return tags

    def fit(
        self,
        Z: Any,
        y: Outputs,
        embedding: Any = None,
        n_components: int | None = None,
        sample_weight: np.ndarray | None = None,
    ) -> Self:
        """Learn the read-out. Z: (n, k) embedding of the rows, or a function without arguments that makes it. y: their
        outputs. embedding: the fitted method, whose own read-out is taken if it has one, of its first ``n_components``
        (None: all), which are then those of Z. sample_weight: (n,), how often each row counts; None: once."""
        own = None if embedding is None else embedding.output_readout()
        own = own if own is None or n_components is None else own.first(n_components)
        y = y if sample_weight is None else held_under(y, sample_weight)
        self.reading_ = y.reading
        if own is None:
            free = embedding is not None and embedding.traits.labels is None
            own = _on_scores(np.asarray(Z() if callable(Z) else Z, dtype=np.float64), y, free, sample_weight)
        elif embedding is not None:
            self.reading_ = embedding._reading_
        weights = self.reading_.in_units(own.weights, own.kept)
        self.coef_ = np.ascontiguousarray(weights.T)
        self.intercept_ = self.reading_.level - own.mean @ weights
        return self

    @property
    def targets_(self) -> tuple[Output, ...]:
        """How each column of y was read."""
        check_is_fitted(self, "coef_")
        return self.reading_.outputs(None)

    def predict(self, Z: Any) -> Any:
        """Predictions for rows of the embedding Z (m, k), in the form of y: a table with the names of its columns for a
        table, one axis for a lone column. Classes are those of the largest prediction."""
        check_is_fitted(self, "coef_")
        if (blocks := lazily(Z, self.predict)) is not None:
            return blocks
        return self.reading_.decoded(self.values(Z), self.extrapolate)

    def values(self, Z: Any) -> np.ndarray:
        """Predictions in units, (m, n_outputs): one column per class of a column of classes; not cut to any range."""
        return np.asarray(Z, dtype=np.float64) @ self.coef_.T + self.intercept_

    def columns(self, Z: Any) -> dict[str, np.ndarray]:
        """The same predictions by the names of the columns of y."""
        names = [str(column.name) for column in self.reading_.layout.columns]
        return dict(zip(names, self.reading_.columns(self.values(Z), self.extrapolate), strict=True))

    def score(self, Z: Any, y: Any) -> float:
        """The mean over the columns of y of R2 (numbers and ranks) and of accuracy (classes and labels), over the known
        cells."""
        return self.reading_.score(y, self.predict(Z))


def _on_scores(Z: np.ndarray, y: Outputs, least_squares: bool, weights: np.ndarray | None = None) -> ReadOut:
    """The read-out by regression on the embedding itself of the rows with a known cell."""
    if len(Z) != y.n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {len(Z)} rows, y has {y.n}."
        )
    rows = np.flatnonzero(y.rows_any)
    kept = np.flatnonzero(y.level_and_scale[1] > 0)
    if len(kept) == 0:
        raise ValueError("Every column of y is constant.")
    F, own = y.held().take(rows).with_means().Y.toarray()[:, kept], None if weights is None else weights[rows]
    return ReadOut.of_scores(Z[rows], F, kept, 0.0 if least_squares else loo_penalty(Z[rows], F, own), own)
