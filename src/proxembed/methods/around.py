"""Embeddings made of one whole method: Scaled, with a scaling of its own, ReadoutAxes, with its components weighted by
a read-out, and any method with another number of components."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import equal_rows
from proxembed.algebra.operators.structured import Repeats
from proxembed.algebra.pencil.linear import left_factor
from proxembed.classify.ridge import fit_readout
from proxembed.estimator.base import Embedder, SpectralEmbedder
from proxembed.estimator.explain import label_loadings
from proxembed.estimator.readout import ReadOut
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import check_takes_weights, repeated_labels, weights_of
from proxembed.estimator.wrapper import FitWrapper, TemplateWrapper
from proxembed.features.scaling import SCALINGS, scaling_apply, scaling_fit
from proxembed.pairs.relation import column_deviations
from proxembed.params import param, safe_repr
from proxembed.splits.splits import groups_of
from proxembed.targets.labels import LabelMatrix

from .dependence import OPLS
from .target_space import TargetSpace

_BOUNDED: dict[str, bool] = {}


def readout_axes(Z: np.ndarray, labels: LabelMatrix, times: np.ndarray | None = None) -> np.ndarray:
    """Axes V (k, min(k, c)) with V V' = B B', of the coefficients B (k, c) of the ridge read-out of labels from Z. Rows
    of Z V have the inner products, and the cosines, of rows of Z B: V = U S of the singular value decomposition B = U S
    W'. The penalty is that of least leave-one-out error. With ``times`` (how often each row occurs) all labels are
    known."""
    if times is not None:
        return left_factor(fit_readout(Z, labels.Y.toarray(), weights=times).coef)
    known = np.flatnonzero(labels.rows_any)
    targets = labels.take(known).with_means().Y.toarray()
    return left_factor(fit_readout(Z[known], targets).coef)


def distinct_rows(rows: Rows) -> tuple[np.ndarray, Any, np.ndarray | None]:
    """The places of the distinct rows of which a label is known, their labels with unknown cells at means, and how
    often each occurs; None where each occurs once."""
    known = np.flatnonzero(rows.labels.rows_any)
    labels, times = rows.labels.take(known), None if rows.counts is None else rows.counts[known]
    if times is not None and isinstance(labels, LabelMatrix):
        labels = labels.with_means(labels.means(times))
    labels = labels.with_means()
    equal = equal_rows(rows.X[known], labels.row_values)
    if equal is not None:
        first, place = equal
        known, labels, times = known[first], labels.take(first), np.bincount(place, times).astype(np.float64)
    return known, labels if times is None else repeated_labels(labels, times, whole=False), times


def _reads_labels(estimator: Any) -> bool:
    return hasattr(estimator.member(), "label_scores")


def _has_components(estimator: Any) -> bool:
    return hasattr(estimator.method_, "components_")


class ComponentWrapper(FitWrapper, abstract=True):
    """An embedding made of the components of one whole method.

    Attributes
    ----------
    method_ : the fitted method.
    n_components_ : int
    """

    method: Embedder | None = param(
        default=None,
        kw_only=False,
        choices=(None,),
        kind=Embedder,
        doc="Any method that embeds new rows; None: OPLS().",
    )
    n_components: int | float | None = param(
        default=None, above=0, choices=(None,), doc="Components of the method; None: as the method has it."
    )

    def default_method(self) -> Embedder:
        return OPLS()

    def member(self, role: str = "method") -> Any:
        """Of ``n_components`` where these are given."""
        method = super().member(role)
        return method if self.n_components is None else method.set_params(n_components=self.n_components)

    @property
    def components_(self) -> np.ndarray:
        """The components (k, r) in what the method projects."""
        return self.method_.components_

    explain = available_if(_has_components)(SpectralEmbedder.explain)


class Scaled(ComponentWrapper, scales=True):
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

    See Also
    --------
    proxembed.Scaling : Scaling of dense or sparse features.
    proxembed.ReadoutAxes : Components weighted by a read-out.

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
        default="standard", choices=tuple(SCALINGS), callable=True, kw_only=False, doc="The scaling, as in ``Scaling``."
    )
    pca_var: float = param(
        default=1.0,
        above=0,
        high=1,
        doc="Share of the variance that principal components keep of the scaled rows; 1: the rows themselves.",
    )

    def check_method(self, method: Any, role: str | None = None) -> None:
        if method.class_traits.each_size or method.traits.scales:
            own = type(method).__name__
            raise ValueError(f"Scaled cannot wrap {own}; put Scaled inside it: {own}(Scaled(...)).")
        if method.role == "features":
            name = type(method).__name__
            raise ValueError(f"Scaled cannot wrap {name}, which has no components; put both steps in a Pipeline.")

    def fit_method(self, rows: Rows) -> None:
        w = rows.counts
        self.state_ = scaling_fit(self.kind, rows.X, sample_weight=w)
        X = scaling_apply(self.state_, rows.X)
        share = float(self.pca_var)
        self.axes_ = scaling_fit("pca", X, pca_var=share, sample_weight=w) if share < 1 else None
        projected = X if self.axes_ is None else scaling_apply(self.axes_, X)
        self._deviations = column_deviations(X if self.state_.axes is None else rows.X, w)
        self._projected_deviations = column_deviations(projected, w)
        self.fit_inside(projected, rows)
        self.n_components_ = int(self.method_.n_components_)

    def embed(self, X: Any) -> np.ndarray:
        X = scaling_apply(self.state_, X)
        return np.asarray(self.method_.transform(X if self.axes_ is None else scaling_apply(self.axes_, X)), np.float64)

    def output_readout(self) -> ReadOut | None:
        return self.method_.output_readout()

    @available_if(_reads_labels)
    def label_scores(self, X: Any) -> np.ndarray:
        """Those of the method, of rows X (m, d)."""
        X = scaling_apply(self.state_, self._input(X, reset=False))
        return self.method_.label_scores(X if self.axes_ is None else scaling_apply(self.axes_, X))

    @available_if(_reads_labels)
    def placed_and_scored(self, X: Any) -> tuple[Any, np.ndarray]:
        """``transform`` and ``label_scores`` of rows X (m, d), for which the method predicts once."""
        X = scaling_apply(self.state_, self._input(X, reset=False))
        return self.method_.placed_and_scored(X if self.axes_ is None else scaling_apply(self.axes_, X))

    @available_if(_reads_labels)
    def own_label_scores(self) -> np.ndarray:
        """Those of the method."""
        return self.method_.own_label_scores()

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


class ReadoutAxes(ComponentWrapper, each_size=True):
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

    See Also
    --------
    proxembed.Scaled : A scaling of its own around a method.
    proxembed.Layout : A two-dimensional map of all components.

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
        """With labels, whatever the method takes."""
        return replace(super().traits, labels="multi")

    def check_labels(self, labels: LabelMatrix) -> None:
        """Refuse more components than labels; all else is left to the method."""
        self._check_differ(labels)
        k = self.n_components
        if k is not None and k >= 1 and k > labels.c:
            raise ValueError(
                f"n_components={safe_repr(k)} is more than the {labels.c} labels, by which {type(self).__name__} "
                f"weighs; use n_components <= {labels.c}, or None."
            )

    def at_size(
        self, X: Any, labels: LabelMatrix, Z: np.ndarray, Z_new: np.ndarray, counts: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The embeddings of the rows X of a fit, which count ``counts`` times each, and of new rows, of their
        components Z by the method."""
        index, labels, times = distinct_rows(Rows(X, labels, counts=counts))
        axes = readout_axes(Z[index], labels, times)
        return Z @ axes, Z_new @ axes

    def fit_method(self, rows: Rows) -> None:
        self.fit_inside(rows.X, rows)
        index, labels, times = distinct_rows(rows)
        Z = np.asarray(self.method_.transform(rows.X), dtype=np.float64)[index]
        self.axes_ = readout_axes(Z, labels, times)
        self.n_components_ = self.axes_.shape[1]
        centred = CentredMatrix.centred(Z, np.ones(len(Z)) if times is None else times)
        self.label_loadings_ = label_loadings(centred, labels, self.axes_.T, None if times is None else Repeats(times))

    def embed(self, X: Any) -> np.ndarray:
        return np.asarray(self.method_.transform(X), dtype=np.float64) @ self.axes_

    def output_readout(self) -> ReadOut | None:
        found = self.method_.output_readout()
        return None if found is None else found.along(self.axes_)

    @property
    def components_(self) -> np.ndarray:
        """The components (k, r) in what the method projects."""
        return self.axes_.T @ self.method_.components_

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.method_.feature_effects(weights)


def fitted_embedding(
    method: Any, X: Any, y: Any, X_new: Any, weights: np.ndarray | None = None, groups: Any = None
) -> tuple[Any, np.ndarray, np.ndarray]:
    """A fitted clone of a method or a pipeline of them, and its embeddings of the rows of the fit and of new rows.
    ``weights``: how often each row of the fit counts; None: once. ``groups`` of these rows, for a method that takes
    them."""
    model, Z = _fitted(method, X, y, weights, groups)
    return model, Z, np.asarray(model.transform(X_new), dtype=np.float64)


def _fitted(method: Any, X: Any, y: Any, weights: np.ndarray | None, groups: Any) -> tuple[Any, np.ndarray]:
    model = clone(method)
    if weights is not None:
        check_takes_weights(model)
    more = weights_of(weights) | groups_of(model, groups)
    return model, np.asarray(model.fit_transform(X, y, **more), dtype=np.float64)


def scored_embedding(
    method: Any, X: Any, y: Any, X_new: Any, weights: np.ndarray | None = None, groups: Any = None
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray] | None]:
    """The embeddings of ``fitted_embedding``, and the log odds of labels by a method that predicts these itself (None
    of others): of the rows of the fit with known labels by models that have not seen them, and of new rows."""
    model, Z = _fitted(method, X, y, weights, groups)
    before, last = (model.steps[:-1], model.steps[-1][1]) if isinstance(model, Pipeline) else ([], model)
    if not hasattr(last, "label_scores"):
        return Z, np.asarray(model.transform(X_new), dtype=np.float64), None
    for _, step in before:
        X_new = step.transform(X_new)
    Z_new, scores = last.placed_and_scored(X_new)
    return Z, np.asarray(Z_new, dtype=np.float64), (last.own_label_scores(), scores)


def embedded(
    method: Any, X: Any, y: Any, X_new: Any, weights: np.ndarray | None = None, groups: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of the rows of a fit and of new rows, by a fitted clone of a method or of a pipeline of them."""
    return fitted_embedding(method, X, y, X_new, weights, groups)[1:]


def embedded_within_bound(
    method: Any, X: Any, y: Any, X_new: Any, weights: np.ndarray | None = None, groups: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """As ``embedded``, with the natural number of components where the rows of the fit lack some. The components of a
    supervised method are bounded by the labels that its rows hold, of which a part may miss some."""
    try:
        return embedded(method, X, y, X_new, weights, groups)
    except ValueError:
        if method.get_params().get(_size_of(method)) is None:
            raise
    return embedded(with_size(method, None), X, y, X_new, weights, groups)


def with_size(method: Any, k: int | None) -> Any:
    """An unfitted copy of a method or pipeline with k components (None: the natural number), if it has a choice."""
    found, name = clone(method), _size_of(method)
    return found.set_params(**{name: k}) if name in found.get_params() else found


def _size_of(method: Any) -> str:
    """The parameter that holds the number of components: of a pipeline that of its last step."""
    return f"{method.steps[-1][0]}__n_components" if isinstance(method, Pipeline) else "n_components"


def bounded_by_labels(method: Any, by_rank: bool = False) -> bool:
    """Whether a method has at most as many components as there are labels, or as the rank of these about their means. A
    method is asked once, by a fit on a few rows of three labels; a kernel, leaves or a scaling are as the method on
    them."""
    while isinstance(method, TemplateWrapper | ComponentWrapper):
        method = method.member()
    if not isinstance(method, SpectralEmbedder | TargetSpace) or method.traits.labels is None:
        return False
    model = clone(method).set_params(n_components=3 if by_rank else 5)
    if (name := repr(model)) not in _BOUNDED:
        draw = np.random.default_rng(0)
        y = np.arange(24) % 3 if method.traits.labels == "single" else draw.random((24, 3)) < 0.5
        if by_rank and y.ndim == 2:
            y[:, 2] = ~y[:, 0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(draw.normal(size=(24, 6)), y)
                _BOUNDED[name] = False
            except ValueError:
                _BOUNDED[name] = True
    return _BOUNDED[name]
