"""PredictsOutputs: the linear read-out of numbers of a method, with predict, coef_, intercept_ and score."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil.eigen import Solution
from proxembed.blocks import lazily
from proxembed.params import param
from proxembed.targets.outputs import OutputReading

from .base import SpectralEmbedder
from .missing import ALSO_PREDICTS
from .rows import Rows
from .validation import in_range, index_of
from .weights import checked_weights

EXTRAPOLATE_DOC = "Whether predictions of numbers may leave the range of the training rows; else they are cut to it."


def fitted_to_outputs(estimator: Any) -> bool:
    """Whether an estimator is fitted to numbers, or to columns of several kinds; the error says that it is not."""
    if not isinstance(estimator.reading_so_far, OutputReading):
        raise AttributeError(
            f"{type(estimator).__name__} predicts where it is fitted to numbers: pass target_type='real' if y holds "
            "measurements. For labels put a classifier behind it, such as proxembed.classify.Thresholded(). "
            f"{ALSO_PREDICTS.format(type(estimator).__name__)}"
        )
    return True


def _may_predict(estimator: Any) -> bool:
    """Whether an estimator predicts, or is not fitted yet: cross-validation asks for its score before it fits."""
    return estimator.reading_so_far is None or fitted_to_outputs(estimator)


def _predicts(estimator: Any) -> bool:
    """Whether an estimator is fitted to numbers, or will be: cross_val_predict asks for ``predict`` before it fits."""
    kind, unfitted = estimator.target_type, estimator.reading_so_far is None
    numbers = "real" in kind.values() if isinstance(kind, Mapping) else kind == "real"
    return unfitted and numbers or fitted_to_outputs(estimator)


def _knows_ranges(estimator: Any) -> bool:
    """Whether an estimator knows the ranges of the scores of its training rows; the error says why not."""
    if "_score_ranges_" not in vars(estimator):
        raise AttributeError(
            f"{type(estimator).__name__} knows the ranges of its training rows where it is fitted to numbers, on rows "
            "in memory."
        )
    return True


class KnowsRanges(SpectralEmbedder, abstract=True):
    """A method that predicts numbers: the score of its predictions, and new rows beyond its training rows."""

    predict: ClassVar[Any]

    def learn_ranges(self, rows: Rows, found: Solution) -> None:
        """Keep the range of each score of the rows, where y holds numbers and the rows are in memory."""
        if isinstance(self._reading_, OutputReading) and not rows.summed:
            R: Any = found.problem.rows
            Z = R.dot(self.components_.T * R.unit)
            self._score_ranges_ = np.array([Z.min(axis=0), Z.max(axis=0)])

    def shorten(self, short: Any, k: int) -> None:
        super().shorten(short, k)
        if "_score_ranges_" in vars(self):
            short._score_ranges_ = self._score_ranges_[:, :k]

    @available_if(_may_predict)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean over the columns of y of R2 (numbers and ranks) and of accuracy (classes and labels), over the known
        cells. X: (m, d), y: as fit takes it, sample_weight: (m,) numbers >= 0, how often each row counts."""
        check_is_fitted(self, "n_components_")
        weights = None if sample_weight is None else checked_weights(sample_weight, X, y)
        predicted = self.predict(X)
        return self._reading_.score(y, predicted, weights)

    @available_if(_knows_ranges)
    def outside_training(self, X: Any) -> Any:
        """True for each row of X (m, d) that lies outside the range of the training rows in some component, where
        predictions of numbers are least to be trusted: ``outside_training(X).sum()`` counts them. Of fits to numbers in
        memory. Blocks for RowBlocks, a lazy array for dask."""
        if (blocks := lazily(X, self.outside_training)) is not None:
            return blocks
        Z = self.transform(X)
        low, high = self._score_ranges_
        slack = np.sqrt(np.finfo(Z.dtype).eps) * (high - low)  # of training rows at the ends
        return ((Z < low - slack) | (Z > high + slack)).any(axis=1)


class PredictsOutputs(KnowsRanges, abstract=True):
    """A linear method that predicts where y holds numbers: yhat = ybar + (x - xbar)'P (P'(Xc'Xc + lam I)P)^-1 P'Xc'Yc,
    the ridge regression of y on X (lam its ``ridge_``, 0 without one) restricted to the span of the components."""

    attributes = (
        SpectralEmbedder.attributes.rstrip()
        + """
        coef_ : (n_outputs, d) array, the coefficients in units of y; where y holds numbers.
        intercept_ : (n_outputs,) array, the prediction where every feature is 0; where y holds numbers.
        targets_ : tuple of Output, how each column of y was read.
    """
    )
    reads_out = True
    extrapolate: bool = param(default=False, kind=bool, doc=EXTRAPOLATE_DOC)

    def learn(self, rows: Rows, found: Solution) -> None:
        super().learn(rows, found)
        self.learn_ranges(rows, found)

    def weights_in_units(self) -> np.ndarray:
        """The coefficients in units of y, (d, columns of F)."""
        return self._reading_.in_units(matmul(self.components_.T, self._readout_.weights), self._readout_.kept)

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the features in units of y, (n_outputs, n_features): a row per column of y, per class of
        a column of classes."""
        fitted_to_outputs(self)
        return np.ascontiguousarray(self.weights_in_units().T)

    @property
    def intercept_(self) -> np.ndarray:
        """The prediction where every feature is 0, (n_outputs,)."""
        fitted_to_outputs(self)
        return self._reading_.level - self.mean_ @ self.weights_in_units()

    @available_if(_predicts)
    def predict(self, X: Any) -> Any:
        """Predictions for rows X (m, d) in the form of y: its units and types, one axis for a 1-D y, a table with the
        names of its columns for a table. Numbers are cut to the range of the training rows unless ``extrapolate``.
        Classes are those of the largest prediction, labels those of at least one half. ``outside_training`` tells rows
        beyond the training rows. Blocks for RowBlocks, a lazy array for dask."""
        check_is_fitted(self, "n_components_")
        if (blocks := lazily(X, self.predict)) is not None:
            return blocks
        index = index_of(X)
        checked = self._input(X, reset=False)
        raw = CentredMatrix(checked, self.mean_).dot(self.weights_in_units()) + self._reading_.level
        return self._reading_.decoded(in_range(raw, checked, np.float64), self.extrapolate, index)
