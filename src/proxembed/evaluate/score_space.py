"""ScoreSpace: a rival that predicts as an embedding that reads itself out, so that it can be fitted, saved and used."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from proxembed.estimator.readout import ReadOut
from proxembed.estimator.rows import SeenRows
from proxembed.estimator.weights import held_under, takes_weights, weights_of
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs

from .part import INNER_FOLDS, inner_folds
from .rival_fits import fitted_rival, label_scores


class ScoreSpace(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The scores of a rival as coordinates, one per label; of numbers its predictions in units of F.

    A new row stands at its scores, and a row identical to one of fit at scores by models that have not seen it, as in a
    comparison. ``label_scores`` reads labels out, ``output_readout`` numbers.

    Parameters
    ----------
    rival : estimator
        A rival that predicts, such as ``LogisticScores()``.
    grid : (name, values) or None
        A parameter of the rival, chosen on inner folds.
    at_targets : bool
        A lookup: rows of fit stand at their labels or numbers, new rows at the predicted ones.
    seed : int
        Seed of the inner folds.

    Attributes
    ----------
    rival_ : the fitted rival.
    n_components_ : int, the number of labels, or of columns of F that vary.
    """

    def __init__(self, rival: Any = None, grid: Any = None, at_targets: bool = False, seed: int = 0) -> None:
        self.rival, self.grid, self.at_targets, self.seed = rival, grid, at_targets, seed

    @property
    def title(self) -> str:
        """The name on a leaderboard."""
        return str(self.rival.lookup if self.at_targets else self.rival.title)

    @property
    def weighs_rows(self) -> bool:
        """Whether ``fit`` takes weights of rows, which is up to the rival."""
        return takes_weights(self.rival)

    def target_scaling(self) -> str:
        """How numbers in y are scaled."""
        return "standard"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the rival. X: (n, d) array or sparse matrix; y: labels in any form, or ``Outputs``; rows without a known
        label or number are left out; sample_weight: (n,) numbers >= 0, how often each row counts; groups: (n,) array,
        rows of one group are in one inner fold. Returns self."""
        targets = y if isinstance(y, Outputs) else LabelMatrix.of(y)
        rows = np.flatnonzero(targets.rows_any)
        own, weights = targets.take(rows), None if sample_weight is None else np.asarray(sample_weight)[rows]
        several = None if groups is None else np.asarray(groups)[rows]
        several = None if several is None or len(np.unique(several)) < 2 else several
        self._kept_: np.ndarray | None = None
        learn: Any = self._fit_outputs if isinstance(own, Outputs) else self._fit_labels
        placed = learn(X[rows], own, weights, several)
        self._seen, self._placed, self.n_components_ = SeenRows(X[rows]), placed, placed.shape[1]
        return self

    def _fit_labels(
        self, X: Any, labels: LabelMatrix, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> np.ndarray:
        """Fit to labels; the places of the rows."""
        Y, known = labels.Y.toarray(), labels.known_cells
        y = Y if known is None else labels.indicator
        inner = inner_folds(len(Y), groups, INNER_FOLDS, self.seed)
        self.rival_, own = fitted_rival(self.rival, self.grid, X, Y, y, inner, weights, groups is not None)
        self._own_scores = own
        return np.where(True if known is None else known, Y, own + 0.5) if self.at_targets else own

    def _fit_outputs(
        self, X: Any, outputs: Outputs, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> np.ndarray:
        """Fit to numbers; the places of the rows."""
        inner = None if groups is None else inner_folds(outputs.n, groups, INNER_FOLDS, self.seed)
        self.rival_ = clone(self.rival).fit(X, outputs, inner, **weights_of(weights))
        outputs = outputs if weights is None else held_under(outputs, weights)
        self._reading_ = outputs.reading
        kept = np.flatnonzero(outputs.level_and_scale[1] > 0)
        own = getattr(self.rival_, "own_factor_", None)
        F = self.rival_.predict_factor(X) if own is None else own
        if self.at_targets:
            known = outputs.known_cells
            F = np.where(True if known is None else known, outputs.with_means().Y.toarray(), F)
        self._kept_ = kept
        return np.asarray(F)[:, kept]

    def transform(self, X: Any) -> np.ndarray:
        """The places of rows X (m, d), (m, n_components_)."""
        check_is_fitted(self, "rival_")
        if self._kept_ is not None:
            Z = np.asarray(self.rival_.predict_factor(X))[:, self._kept_]
        else:
            Z = self.label_scores(X) + 0.5 * self.at_targets
        seen = self._seen.find(X)
        Z[seen >= 0] = self._placed[seen[seen >= 0]]
        return Z

    def label_scores(self, X: Any) -> np.ndarray:
        """The scores of the labels of rows X (m, d), (m, c)."""
        check_is_fitted(self, "rival_")
        return label_scores(self.rival_, X, self._own_scores.shape[1])

    def own_label_scores(self) -> np.ndarray:
        """The same of the rows of fit with a known label, by models that have not seen the row."""
        return self._own_scores

    def output_readout(self) -> ReadOut | None:
        """The coordinates as the predictions that they are; None for labels."""
        if self._kept_ is None:
            return None
        k = self.n_components_
        return ReadOut(np.eye(k), np.eye(k), np.zeros(k), self._kept_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.target_tags.required = tags.target_tags.multi_output = True
        return tags
