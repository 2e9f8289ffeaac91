"""Embeddings made of one whole method: Scaled, with a scaling of its own, and ReadoutAxes, with its components weighted
by a read-out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

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
from ..features.effects import column_deviations
from ..features.scaling import KINDS, scaling_apply, scaling_fit
from ..params import param, safe_repr
from ..rows import Rows
from ..traits import Traits
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
    known = np.flatnonzero(labels.rows_any)
    targets = labels.take(known).with_means().Y.toarray()
    return left_factor(fit_readout(Z[known], targets).coef)


def _has_components(estimator: Any) -> bool:
    return hasattr(estimator.method_, "components_")


class Around(Embedder, labels="multi", keeps_unknown=True, abstract=True):
    """An embedding made of one whole method, which decides what rows and labels it takes.

    A subclass states ``learn(rows, method)``, which fits the method and sets what else is learned.

    Attributes
    ----------
    method_ : the fitted method.
    n_components_ : int
    """

    role = "model"
    members: ClassVar[tuple[str, ...]] = ("method",)

    method: Embedder | None = param(
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
        doc="Components of the method; None: as the method has it.",
    )

    def default_method(self) -> Embedder:
        """The method that None stands for."""
        return OPLS()

    def member(self) -> Any:
        """An unfitted copy of the method, of ``n_components`` where these are given."""
        method = self.default_method() if self.method is None else clone(self.method)
        return method if self.n_components is None else method.set_params(n_components=self.n_components)

    def check_method(self, method: Any) -> None:
        """Raise a ValueError for a method that this one cannot take."""

    def check_labels(self, labels: LabelMatrix) -> None:
        """Left to the method, whose errors name what it takes."""

    def learn(self, rows: Rows, method: Any) -> None:
        """Fit the method to the rows, and set what else is learned, ``n_components_`` among it."""
        raise TypeError(f"{type(self).__name__} must define learn(rows, method).")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the method, and what is made around it.

        Parameters
        ----------
        X : array or CSR of shape (n, d)
        y : labels in any form that the method takes

        Returns
        -------
        self
        """
        with self._learning():
            rows, method = self._validate(X, y), self.member()
            self.check_method(method)
            if not hasattr(method, "transform"):
                name, own = type(method).__name__, type(self).__name__
                raise ValueError(f"{own} needs a method that embeds new rows, and {name} as it is set does not.")
            self.learn(rows, method)
        return self

    def transform(self, X: Any) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type."""
        check_is_fitted(self, "n_components_")
        X = self._input(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self.embed(X)
        return in_range(Z, X)

    def embed(self, X: Any) -> np.ndarray:
        """The embedding (m, k) of checked rows, in double precision."""
        raise TypeError(f"{type(self).__name__} must define embed(X).")

    @property
    def components_(self) -> np.ndarray:
        """The components (k, r) in what the method projects."""
        return self.method_.components_

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
        check_is_fitted(self, "n_components_")
        return explanation(self, component, n_features, n_labels)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


class Scaled(Around, scales=True):
    """A method with its own scaling, and principal components between the two: method(V'(scaling(x) - mean)).
    [mu2012defc]

    Searches draw the scaling together with the method's parameters. A pipeline, a comparison and a search pass the
    features to it unscaled. Statistics come only from the rows of the fit. ``explain`` returns the effect of one
    standard deviation of each feature after the scaling ("pca" and "whiten": before it).

    Attributes
    ----------
    method_ : the fitted method, of ``n_components``.
    state_ : the statistics of the scaling.
    axes_ : the statistics of the principal components, or None.
    n_components_ : int

    Raises
    ------
    ValueError
        For entries that the scaling cannot take, a method that cannot embed new rows, a ``ReadoutAxes`` as the method,
        bad X or y.

    Examples
    --------
    >>> from proxembed import Kernelized, Scaled
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = Scaled(Kernelized(), "none", pca_var=0.9, n_components=3).fit(data.X[:300], data.Y[:300])
    >>> model.transform(data.X).shape
    (1797, 3)
    """

    kind: str | Callable[..., Any] = param(
        default="standard", choices=tuple(KINDS), callable=True, kw_only=False, doc="The scaling, as in ``Scaling``."
    )
    pca_var: float = param(
        default=1.0,
        above=0,
        high=1,
        doc="Share of the variance that principal components keep of the scaled rows; 1: the rows themselves.",
    )

    @property
    def traits(self) -> Traits:
        """Labels as the method has them."""
        return replace(super().traits, labels=self.member().traits.labels)

    def check_method(self, method: Any) -> None:
        if method.class_traits.each_size or method.traits.scales:
            own = type(method).__name__
            raise ValueError(f"Scaled cannot wrap {own}; put Scaled inside it: {own}(Scaled(...)).")
        if method.role == "features":
            name = type(method).__name__
            raise ValueError(f"Scaled cannot wrap {name}, which has no components; put both steps in a Pipeline.")

    def learn(self, rows: Rows, method: Any) -> None:
        self.state_ = scaling_fit(self.kind, rows.X)
        X = scaling_apply(self.state_, rows.X)
        self.axes_ = scaling_fit("pca", X, pca_var=float(self.pca_var)) if self.pca_var < 1 else None
        projected = X if self.axes_ is None else scaling_apply(self.axes_, X)
        self._deviations = column_deviations(X if self.state_.axes is None else rows.X)
        self._projected_deviations = column_deviations(projected)
        self.method_ = method.fit(projected, rows.labels)
        self.n_components_ = int(self.method_.n_components_)

    def embed(self, X: Any) -> np.ndarray:
        X = scaling_apply(self.state_, X)
        return np.asarray(self.method_.transform(X if self.axes_ is None else scaling_apply(self.axes_, X)), np.float64)

    @property
    def label_loadings_(self) -> np.ndarray:
        """Those of the method."""
        return self.method_.label_loadings_

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        """Effects of one standard deviation of each scaled feature; of each feature of X for "pca" and "whiten"."""
        effects, deviations = self.method_.feature_effects(weights), self._projected_deviations
        if effects is not weights:  # effects of one standard deviation of what the method projects
            effects = np.divide(effects, deviations, out=np.zeros(effects.shape), where=deviations > 0)
        for state in (self.axes_, self.state_):
            effects = effects if state is None or state.axes is None else effects @ state.axes.T
        return effects * self._deviations


class ReadoutAxes(Around, each_size=True):
    """Components weighted by a ridge read-out: Z V with V V' = B B', B the coefficients of the labels on Z.
    [hoerl1970ridge]

    Weights each direction by its effect on the label scores. Distances between rows of Z V, and their cosines, are
    those of the label scores Z B. This serves neighbour search; what a read-out predicts does not change. The axes are
    learned from the rows of the fit, and there are at most as many as labels: ``n_components`` of the method, if given,
    is at most that.

    Attributes
    ----------
    method_ : the fitted method, of ``n_components``.
    axes_ : array of shape (k, number of axes), V, the longest axis first.
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

    @property
    def traits(self) -> Traits:
        """A scaling as the method has it."""
        return replace(super().traits, scales=self.member().traits.scales)

    def check_labels(self, labels: LabelMatrix) -> None:
        """Refuse more components than labels; all else is left to the method."""
        self._check_differ(labels)
        k = self.n_components
        if k is not None and k >= 1 and k > labels.c:
            raise ValueError(
                f"n_components={safe_repr(k)} is more than the {labels.c} labels, by which {type(self).__name__} "
                f"weighs; use n_components <= {labels.c}, or None."
            )

    def at_size(self, Z: np.ndarray, Z_new: np.ndarray, labels: LabelMatrix) -> tuple[np.ndarray, np.ndarray]:
        """The embeddings of the rows of a fit and of new rows, of their components by the method."""
        axes = readout_axes(Z, labels)
        return Z @ axes, Z_new @ axes

    def learn(self, rows: Rows, method: Any) -> None:
        self.method_ = method.fit(rows.X, rows.labels)
        Z = np.asarray(self.method_.transform(rows.X), dtype=np.float64)
        self.axes_ = readout_axes(Z, rows.label_matrix)
        self.n_components_ = self.axes_.shape[1]
        known = np.flatnonzero(rows.labels.rows_any)
        centred = CentredMatrix(Z[known], Z[known].mean(axis=0))
        self.label_loadings_ = label_loadings(centred, rows.labels.take(known).with_means(), self.axes_.T)

    def embed(self, X: Any) -> np.ndarray:
        return np.asarray(self.method_.transform(X), dtype=np.float64) @ self.axes_

    @property
    def components_(self) -> np.ndarray:
        """The components (k, r) in what the method projects."""
        return self.axes_.T @ self.method_.components_

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.method_.feature_effects(weights)
