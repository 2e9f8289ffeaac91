"""Wrapper: what every combinator around one method shares: resolving the method, and whose settings hold."""

from __future__ import annotations

from sklearn.base import clone

from .base import SpectralEmbedder
from .params import check_params, param


class Wrapper(SpectralEmbedder, abstract=True):
    """A combinator around one method; its own n_components, ridge and ridge_scale hold where they are not None."""

    ridge: float | str | None = param(
        default=None, low=0, choices=(None, "auto"), doc="Ridge on the constraint; None: that of the wrapped method."
    )
    ridge_scale: str | None = param(
        default=None, choices=(None, "trace", "absolute"), doc="Unit of the ridge; None: that of the wrapped method."
    )

    def default_method(self) -> SpectralEmbedder:
        """The method that None stands for."""
        raise TypeError(f"{type(self).__name__} must define default_method().")

    def check_method(self, method: SpectralEmbedder) -> None:
        """Raise a ValueError for a method that cannot be wrapped."""

    @property
    def keeps_unknown(self) -> bool:  # type: ignore[override]
        """As the wrapped method has it."""
        return self._resolved().keeps_unknown

    def _resolve(self) -> None:
        check_params(self)
        self.method_ = self._resolved()
        self.check_method(self.method_)
        check_params(self.method_)
        self.method_._resolve()

    def lift(self, X):
        return self.method_.lift(X)

    def _width(self, rows):
        return self.method_._width(rows)

    def finish(self, P, R):
        self.method_.eigenvalues_ = self.eigenvalues_
        return self.method_.finish(P, R)

    def _resolved(self) -> SpectralEmbedder:
        return self.default_method() if self.method is None else clone(self.method)

    def _wanted(self):
        return self.method_.n_components if self.n_components is None else self.n_components

    def _ridge_settings(self):
        ridge, scale = self.method_._ridge_settings()
        return ridge if self.ridge is None else self.ridge, scale if self.ridge_scale is None else self.ridge_scale

    def _criterion(self):
        return self.method_._criterion()
