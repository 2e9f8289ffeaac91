"""MethodWrapper: an estimator around other methods, which it checks, copies and forwards to.

TemplateWrapper works on the template of its method, FitWrapper on its whole fit.
LabelledFeatures: a TemplateWrapper whose features are learned from the labels.
"""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.moments import Moments
from proxembed.algebra.pencil.kernel_rows import KernelRows
from proxembed.algebra.template import Template
from proxembed.params import Param, param
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.targets import Targets

from .base import Embedder, Prepared, SpectralEmbedder
from .rows import Rows, SeenRows
from .traits import Traits
from .validation import in_range
from .weights import checked_weights, present_rows, refuse_weights, takes_weights, weights_of

METHOD = Param(choices=(None,), kind=SpectralEmbedder)


class MethodWrapper(Embedder, abstract=True):
    """An estimator made of other methods: the parameters named in ``members`` hold them, and ``default_NAME()`` returns
    the one that None stands for."""

    members: ClassVar[tuple[str, ...]] = ("method",)

    def inner(self, role: str = "method") -> Any:
        """The method that a parameter holds; the default for None, and for what fit refuses."""
        method = getattr(self, role)
        return method if isinstance(method, Embedder) else getattr(self, f"default_{role}")()

    def member(self, role: str = "method") -> Any:
        """An unfitted copy of that method, as fit uses it."""
        return clone(self.inner(role))

    def check_method(self, method: Any, role: str | None = None) -> None:
        """Raise a ValueError for a method that this estimator cannot take; in one role, where that is named."""

    def target_scaling(self) -> Any:
        """As the first method has it."""
        return self.inner(self.members[0]).target_scaling()

    def resolve(self) -> None:
        """Check the parameters, and set copies of the methods, checked likewise."""
        super().resolve()
        for role in self.members:
            method = self.member(role)
            self.check_method(method, role)
            method.resolve()
            setattr(self, f"{role}_", method)

    def release(self) -> None:
        """Drop what only fit needs, here and in each method."""
        super().release()
        for role in self.members:
            getattr(self, f"{role}_").release()


class TemplateWrapper(
    MethodWrapper,
    SpectralEmbedder,
    needs_all_rows="what it makes of the features is learned from all rows",
    abstract=True,
):
    """A wrapper of a method's template; its own n_components, ridge and ridge_scale hold where they are not None."""

    ridge: float | str | None = param(
        default=None, low=0, choices=(None, "auto"), doc="Ridge on the constraint; None: that of the wrapped method."
    )
    ridge_scale: str | None = param(
        default=None, choices=(None, "trace", "absolute"), doc="Unit of the ridge; None: that of the wrapped method."
    )

    @property
    def traits(self) -> Traits:
        """With the rules about unknown cells, the default size and the sample of blocks of the wrapped method."""
        inner = self.inner().traits
        names = ["keeps_unknown", "whole_rows", "takes_shares", "unknown", "positive_only", "sample_rows"]
        names += ["takes_numbers", "takes_counts", "numbers_scaling"]
        return replace(super().traits, **{name: getattr(inner, name) for name in names})

    @property
    def follows_from_sums(self) -> bool:
        return self.inner().follows_from_sums

    @property
    def weighs_rows(self) -> bool:
        return self.inner().weighs_rows

    @property
    def why_unweighted(self) -> str:
        return self.inner().why_unweighted

    @property
    def merges_rows(self) -> bool:
        return super().merges_rows or (self.weighs_rows and self.ridge is None and self.inner().merges_rows)

    @property
    def counts_distinct(self) -> bool:
        return self.inner().counts_distinct

    def count_rows(self, rows: Rows, counts: np.ndarray) -> Rows:
        return self.inner().count_rows(rows, counts)

    def check_rows(self, rows: Rows) -> None:
        self.method_.check_rows(rows)

    def natural_components(self, rows: Rows) -> int:
        return self.method_.natural_components(rows)

    def sums_of_lifted(self, moments: Moments) -> Moments:
        return self.method_.sums_of_lifted(moments)

    def prepare(self, rows: Rows) -> Prepared:
        inner = self.method_.make_ready(rows)
        return Prepared(
            inner.training,
            inner.width,
            self.method_.n_components if self.n_components is None else self.n_components,
            inner.ridge if self.ridge is None else self.ridge,
            inner.ridge_scale if self.ridge_scale is None else self.ridge_scale,
            inner.criterion,
        )

    def template(self, rows: Rows) -> Template:
        return self.method_.template(rows)

    def explicit(self) -> Prepared:
        inner = self.method_.explicit()
        if isinstance(self.prepared_.training, KernelRows):
            self.prepared_ = replace(self.prepared_, training=inner.training)
        return self.prepared_

    def of_lifted(self, components: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.method_.of_lifted(components, mean)

    def published(self, P: np.ndarray) -> np.ndarray:
        return self.method_.published(P)

    def lift(self, X: Any) -> Any:
        return self.method_.lift(X)

    @property
    def multiplies_rows(self) -> bool:
        own = type(self)
        plain = own.lift is TemplateWrapper.lift and own.embed is SpectralEmbedder.embed
        method = vars(self).get("method_")
        return plain and (self.inner() if method is None else method).multiplies_rows

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.method_.feature_effects(weights)

    @property
    def refines(self) -> bool:
        return self.method_.refines

    @property
    def fills_null(self) -> bool:
        return "method" in self.members and self.inner().fills_null

    def refine(self, found: Any, rows: Rows, k: int | None) -> Any:
        return self.method_.refine(found, rows, k)

    def finish(self, P: np.ndarray, R: CentredMatrix, eigenvalues: np.ndarray) -> np.ndarray:
        return self.method_.finish(P, R, eigenvalues)


def innermost(method: Any) -> Any:
    """The method inside all wrappers of its template."""
    while isinstance(method, TemplateWrapper):
        method = method.inner()
    return method


class LabelledFeatures(TemplateWrapper, abstract=True):
    """A wrapper that learns features from the labels: rows of fit have features of their own, by which they keep their
    places in ``transform``. A subclass states the features of fit's rows as ``training`` of what ``prepare`` returns,
    beside the template of the wrapped method as ``inner``."""

    @property
    def traits(self) -> Traits:
        """With labels in any case; rows with unknown cells take part where these are filled, or as the method has
        it."""
        own, inner = super().traits, self.inner().traits
        return replace(own, labels=inner.labels or "multi", keeps_unknown=inner.fills_unknown or inner.keeps_unknown)

    @property
    def follows_from_sums(self) -> bool:
        return False

    @property
    def counts_distinct(self) -> bool:
        return True

    @property
    def weighs_rows(self) -> bool:
        """Where the template of the wrapped method follows from sums, whatever is projected."""
        return self.inner().follows_from_sums

    @property
    def why_unweighted(self) -> str:
        inner = self.inner()
        if inner.weighs_rows:
            return f"{type(inner).__name__} inside it does not follow from sums over rows"
        return inner.why_unweighted

    def fill_rule(self, labels: Targets) -> str | None:
        """As the wrapped method; a semi-supervised method takes unknown cells as they are."""
        return None if self.inner().traits.keeps_unknown else super().fill_rule(labels)

    def _validate(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Rows:
        """Where unknown cells are filled, rows without any known label are as new rows."""
        rows = super()._validate(X, y, weights)
        if rows.labels is None or self.fill_rule(rows.labels) is None:
            return rows
        return rows.take(np.flatnonzero(rows.labels.rows_any))

    def filled(self, rows: Rows, weights: np.ndarray | None = None) -> Rows:
        """The rows with unknown cells filled, if the wrapped method takes them so; ``weights``: how often each row
        given to fit occurs."""
        rule = None if rows.labels is None else self.fill_rule(rows.labels)
        if weights is not None and rows.origin is not None and rows.origin.index is not None:
            weights = weights[rows.origin.index]
        return rows.filled(rule, weights)

    def template(self, rows: Rows) -> Template:
        """That of the wrapped method, which ``prepare`` has looked at."""
        return self.prepared_.inner

    def learn(self, rows: Rows, found: Any) -> None:
        """The places of fit's rows."""
        self._seen = SeenRows(rows.X)
        R = self.prepared_.training
        self._places = (R if isinstance(R, KernelRows) else CentredMatrix(R, self.mean_)).dot(self.components_.T)

    def new_places(self, X: Any) -> np.ndarray:
        """The places of rows that were not in fit."""
        return super().embed(X)

    def embed(self, X: Any) -> np.ndarray:
        Z = self.new_places(X)
        seen = self._seen.find(X)
        Z[seen >= 0] = self._places[seen[seen >= 0]]
        return Z

    def shorten(self, short: Any, k: int) -> None:
        short._places = self._places[:, :k]


def refuse_features(wrapper: str, method: SpectralEmbedder) -> None:
    """A ValueError for a method that a combinator cannot take, as it makes features of its own."""
    if isinstance(method, LabelledFeatures):
        raise ValueError(
            f"{wrapper} cannot wrap {type(method).__name__}, which makes features of its own; wrap its method."
        )


class FitWrapper(
    MethodWrapper,
    labels="multi",
    keeps_unknown=True,
    needs_all_rows="it is made of the places of all rows by its method",
    abstract=True,
):
    """A wrapper of a method's whole fit; the method decides what rows and labels it takes. A subclass defines
    ``fit_method(rows)``, which fits ``method_`` and sets what else is learned, and ``embed(X)``."""

    role = "model"

    @property
    def traits(self) -> Traits:
        """Labels and scaling as the method has them."""
        own, inner = super().traits, self.inner().traits
        names = ("labels", "takes_numbers", "takes_counts")
        taken = {name: getattr(inner, name) for name in names}
        return replace(own, scales=own.scales or inner.scales, **taken)

    def check_labels(self, labels: LabelMatrix) -> None:
        """Not checked here; the wrapped method checks its labels."""

    def fit_method(self, rows: Rows) -> None:
        """Fit ``method_`` to the rows, and set what else is learned, ``n_components_`` among it."""
        raise TypeError(f"{type(self).__name__} must define fit_method(rows).")

    def embed(self, X: Any) -> np.ndarray:
        """The embedding (m, k) of checked rows, in double precision."""
        raise TypeError(f"{type(self).__name__} must define embed(X).")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the method, and what is made around it.

        Parameters
        ----------
        X : (n, d) array or CSR
        y : labels in any form that the method takes
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts; a row of weight 0 counts as absent. As the method takes them.

        Returns
        -------
        self
        """
        if sample_weight is None:
            return self.fit_rows(X, y)
        if not self.weighs_rows:
            refuse_weights(self)
        weights = checked_weights(sample_weight, X, y if self.traits.labels is not None else None)
        self.fit_rows(*present_rows(X, y, weights))
        if self.method_.reading_so_far is not None:
            self._reading_ = self.method_.reading_so_far
        return self

    @property
    def weighs_rows(self) -> bool:
        """Whether rows may have weights, which the method then takes."""
        return takes_weights(self.inner())

    @property
    def why_unweighted(self) -> str:
        """Why rows have no weights, where they have none."""
        return f"{type(self.inner()).__name__} takes none"

    def fit_inside(self, X: Any, rows: Rows) -> None:
        """Fit the method to what was made of the rows."""
        self.method_.fit(X, rows.labels, **weights_of(rows.counts))

    def fit_rows(self, X: Any, y: Any, times: np.ndarray | None = None) -> Self:
        """``fit`` of rows with the number of times that each occurs."""
        with self._learning():
            rows = self._validate(X, y)
            rows = rows if times is None else replace(rows, counts=times)
            self.resolve()
            if not hasattr(self.method_, "transform"):
                name, own = type(self.method_).__name__, type(self).__name__
                raise ValueError(f"{own} needs a method that embeds new rows, and {name} as it is set does not.")
            self.fit_method(rows)
        return self

    def transform(self, X: Any) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type."""
        check_is_fitted(self, "n_components_")
        X = self._input(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self.embed(X)
        return in_range(Z, X)
