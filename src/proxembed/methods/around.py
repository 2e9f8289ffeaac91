"""Embeddings made of one whole method: ReadoutAxes, its components weighted by what a read-out makes of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil.linear import left_factor
from proxembed.classify.ridge import fit_readout
from proxembed.explain import Explanation, explanation, label_loadings
from proxembed.targets.labels import LabelMatrix

from ..base import Embedder
from ..params import param, shown
from ..validation import in_range
from .dependence import OPLS


def readout_axes(Z: np.ndarray, labels: LabelMatrix) -> np.ndarray:
    """Axes V (k, min(k, c)) with V V' = B B', of the coefficients B (k, c) of the ridge read-out of labels from Z.

    Rows of Z V have the inner products, and the cosines, of rows of Z B: V = U S of the singular value decomposition
    B = U S W'. The penalty is that of least leave-one-out error.

    Parameters
    ----------
    Z : array of shape (n, k)
    labels : LabelMatrix of n rows
        Rows with unknown labels are left out; where every row has one, an unknown cell is the mean of its label.

    Returns
    -------
    array of shape (k, min(k, c))
        The longest axis first.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.methods.around import readout_axes
    >>> from proxembed.targets.labels import LabelMatrix
    >>> Z = np.random.default_rng(0).normal(size=(200, 3))
    >>> readout_axes(Z, LabelMatrix.of((Z[:, :2] > 0).astype(int))).shape
    (3, 2)
    """
    known = np.flatnonzero(labels.rows_scored)
    targets = labels.take(known).with_means().Y.toarray()
    return left_factor(fit_readout(Z[known], targets).coef)


def _has_components(estimator: Any) -> bool:
    return hasattr(estimator.method_, "components_")


class ReadoutAxes(Embedder):
    """Components weighted by a ridge read-out: Z V with V V' = B B', B the coefficients of the labels on Z.
    [hoerl1970ridge]

    Distances between rows of Z V, and their cosines, are those of the label scores Z B, so that directions of Z count
    as far as labels are read from them. It serves neighbours; what a read-out predicts does not change. The axes are
    learned from the rows of fit, and there are no more of them than labels.

    Attributes
    ----------
    method_ : the fitted method, of ``n_components``.
    axes_ : (k, n_components_) array, V, the longest axis first.
    n_components_ : int

    Raises
    ------
    ValueError
        For a method that cannot embed new rows, more components than labels, bad X or y.

    Examples
    --------
    >>> from proxembed import OPLS, ReadoutAxes
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> ReadoutAxes(OPLS(), n_components=3).fit(data.X, data.Y).transform(data.X[:2]).shape
    (2, 3)
    """

    role = "model"
    labels = "multi"
    keeps_unknown: ClassVar[bool] = True
    members: ClassVar[tuple[str, ...]] = ("method",)
    each_size: ClassVar[bool] = True

    method: object = param(
        default=None,
        kw_only=False,
        choices=(None,),
        kind=Embedder,
        doc="Any method that embeds new rows; None: OPLS().",
    )
    n_components: int | float | None = param(
        default=None,
        above=0,
        choices=(None,),
        doc="Components of the method, at most one per label; None: as the method has it.",
    )

    def default_method(self) -> Embedder:
        """The method that None stands for."""
        return OPLS()

    def member(self) -> Any:
        """An unfitted copy of the method, of ``n_components`` where these are given."""
        method = self.default_method() if self.method is None else clone(self.method)
        return method if self.n_components is None else method.set_params(n_components=self.n_components)

    def check_labels(self, labels: LabelMatrix) -> None:
        """Refuse more components than labels; all else is left to the method, whose errors name what it takes."""
        self._check_differ(labels)
        k = self.n_components
        if k is not None and k >= 1 and k > labels.c:
            raise ValueError(
                f"n_components={shown(k)} is more than the {labels.c} labels, by which {type(self).__name__} weighs; "
                f"use n_components <= {labels.c}, or None."
            )

    def at_size(self, Z: np.ndarray, Z_new: np.ndarray, labels: LabelMatrix) -> tuple[np.ndarray, np.ndarray]:
        """The embeddings of the rows of a fit and of new rows, of their components by the method."""
        axes = readout_axes(Z, labels)
        return Z @ axes, Z_new @ axes

    def fit(self, X, y=None):
        """Fit the method, then the read-out of the labels from its components.

        Parameters
        ----------
        X : array or CSR of shape (n, d)
        y : labels in any form that the method takes

        Returns
        -------
        self
        """
        with self._learning():
            rows = self._rows(X, y)
            self.method_ = self.member().fit(rows.X, rows.labels)
            if not hasattr(self.method_, "transform"):
                name = type(self.method_).__name__
                raise ValueError(f"ReadoutAxes needs a method that embeds new rows, and {name} as it is set does not.")
            Z = np.asarray(self.method_.transform(rows.X), dtype=np.float64)
            self.axes_ = readout_axes(Z, rows.labels)
            self.n_components_ = self.axes_.shape[1]
            known = np.flatnonzero(rows.labels.rows_scored)
            centred = CentredMatrix(Z[known], Z[known].mean(axis=0))
            self.label_loadings_ = label_loadings(centred, rows.labels.take(known).with_means(), self.axes_.T)
        return self

    def transform(self, X):
        """The embedding of rows X, (m, d) to (m, n_components_), in X's float type."""
        check_is_fitted(self, "axes_")
        X = self._input(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = np.asarray(self.method_.transform(X), dtype=np.float64) @ self.axes_
        return in_range(Z, X)

    @property
    def components_(self) -> np.ndarray:
        """The components (n_components_, r) in what the method projects."""
        return self.axes_.T @ self.method_.components_

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.method_.feature_effects(weights)

    @available_if(_has_components)
    def explain(self, component: int = 0, n_features: int = 10, n_labels: int = 10) -> Explanation:
        """The strongest features of a component, with signs, and the labels that it serves.

        Parameters
        ----------
        component : int, default=0
        n_features, n_labels : int, default=10

        Returns
        -------
        Explanation
            As of the method.
        """
        check_is_fitted(self, "axes_")
        return explanation(self, component, n_features, n_labels)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
