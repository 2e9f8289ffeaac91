"""Wrapper: what every combinator around one method shares: resolving the method, and whose settings hold.
LabelledFeatures: one whose features are learned from the labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.moments import Moments
from proxembed.algebra.template import Template

from .base import Prepared, SpectralEmbedder
from .params import param
from .rows import Rows, SeenRows
from .traits import Traits


class Wrapper(SpectralEmbedder, needs_all_rows="what it makes of the features is learned from all rows", abstract=True):
    """A combinator around one method; its own n_components, ridge and ridge_scale hold where they are not None."""

    ridge: float | str | None = param(
        default=None, low=0, choices=(None, "auto"), doc="Ridge on the constraint; None: that of the wrapped method."
    )
    ridge_scale: str | None = param(
        default=None, choices=(None, "trace", "absolute"), doc="Unit of the ridge; None: that of the wrapped method."
    )

    members = ("method",)

    def default_method(self) -> SpectralEmbedder:
        """The method that None stands for."""
        raise TypeError(f"{type(self).__name__} must define default_method().")

    @property
    def traits(self) -> Traits:
        """With the rules about unknown cells, and the sample of blocks, of the wrapped method."""
        inner = self.member("method").traits
        names = ("keeps_unknown", "whole_rows", "takes_shares", "unknown", "sample_rows")
        return replace(super().traits, **{name: getattr(inner, name) for name in names})

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

    def lift(self, X: Any) -> Any:
        return self.method_.lift(X)

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.method_.feature_effects(weights)

    def finish(self, P: np.ndarray, R: CentredMatrix, eigenvalues: np.ndarray) -> np.ndarray:
        return self.method_.finish(P, R, eigenvalues)


class LabelledFeatures(Wrapper, abstract=True):
    """A combinator that learns features from the labels: rows of fit have features of their own, by which they keep
    their places in ``transform``.

    A subclass states the features of fit's rows as ``training`` of what ``prepare`` returns, beside the template of the
    wrapped method as ``inner``.
    """

    @property
    def traits(self) -> Traits:
        """With labels in any case; rows with unknown cells take part where these are means, or as the method has it."""
        own, inner = super().traits, self.member("method").traits
        return replace(own, labels=inner.labels or "multi", keeps_unknown=inner.fills_unknown or inner.keeps_unknown)

    @property
    def _takes_means(self) -> bool:
        """Whether unknown cells are the mean of their label here; a semi-supervised method takes them as they are."""
        inner = self.method_.traits
        return inner.fills_unknown and not inner.keeps_unknown

    def _validate(self, X: Any, y: Any) -> Rows:
        """Where unknown cells are taken as the mean of their label, rows without any known label are as new rows."""
        rows = super()._validate(X, y)
        if rows.labels is None or rows.labels.unknown is None or not self._takes_means:
            return rows
        known = np.flatnonzero(rows.labels.rows_any)
        return rows.take(known)

    def with_means(self, rows: Rows) -> Rows:
        """The rows with each unknown cell at the mean of its label, if the wrapped method takes them so."""
        if rows.labels is None or rows.labels.unknown is None or not self._takes_means:
            return rows
        return replace(rows, labels=rows.labels.with_means())

    def template(self, rows: Rows) -> Template:
        """That of the wrapped method, which ``prepare`` has looked at."""
        return self.prepared_.inner

    def learn(self, rows: Rows, found: Any) -> None:
        """The places of fit's rows."""
        self._seen = SeenRows(rows.X)
        self._places = CentredMatrix(self.prepared_.training, self.mean_).dot(self.components_.T)

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
