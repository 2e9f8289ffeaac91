"""Estimators whose rows have no weights."""

from typing import Any, Self

from .base import Embedder
from .weights import without_weights


class Unweighted(Embedder, abstract=True):
    """An estimator whose rows have no weights, in front of the base that has ``fit``."""

    @property
    def why_unweighted(self) -> str:
        """Why they have none."""
        return self.traits.needs_all_rows

    def fit(self, X: Any, y: Any = None, *more: Any, **given: Any) -> Self:
        """Fit as the base does; rows have no weights.

        Parameters
        ----------
        X, y : rows and labels, as the method takes them
        *more, **given : further arguments, of which ``sample_weight`` is a ValueError
        """
        base: Any = super()
        return base.fit(X, y, **without_weights(self, more, given))

    @property
    def weighs_rows(self) -> bool:
        """False: rows have no weights."""
        return False
