"""Wrapper: what every combinator around one method shares: resolving the method, and whose settings hold."""

from __future__ import annotations

from .base import Prepared, SpectralEmbedder
from .params import param


class Wrapper(SpectralEmbedder, abstract=True):
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
    def keeps_unknown(self) -> bool:  # type: ignore[override]
        """As the wrapped method has it."""
        return self.member("method").keeps_unknown

    @property
    def takes_shares(self) -> bool:  # type: ignore[override]
        """As the wrapped method has it."""
        return self.member("method").takes_shares

    def prepare(self, rows):
        inner = self.method_.make_ready(rows)
        return Prepared(
            inner.training,
            inner.width,
            self.method_.n_components if self.n_components is None else self.n_components,
            inner.ridge if self.ridge is None else self.ridge,
            inner.ridge_scale if self.ridge_scale is None else self.ridge_scale,
            inner.criterion,
        )

    def lift(self, X):
        return self.method_.lift(X)

    def feature_effects(self, weights):
        return self.method_.feature_effects(weights)

    def finish(self, P, R, eigenvalues):
        return self.method_.finish(P, R, eigenvalues)
