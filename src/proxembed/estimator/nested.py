"""Nested: one fit serves every smaller number of components."""

import copy
from numbers import Integral
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from proxembed.params import safe_repr


class Nested:
    """An estimator whose components come from one eigenproblem: the first k are those of a fit with k components."""

    n_components: Any
    n_components_: int
    prepared_: Any  # a Prepared, or an extension of it

    def truncate(self, k: int) -> Self:
        """The fitted estimator with its first k components only: one solve serves all k."""
        check_is_fitted(self, "n_components_")
        asked: Any = k
        if not isinstance(asked, Integral) or isinstance(k, bool) or not 1 <= k <= self.n_components_:
            raise ValueError(
                f"k={safe_repr(k)} is not allowed: this fitted {type(self).__name__} has 1 to {self.n_components_} "
                "components."
            )
        short = copy.copy(self)
        short.n_components = short.n_components_ = k
        for name in ("components_", "eigenvalues_", "label_loadings_", "explained_variance_ratio_"):
            if hasattr(self, name):
                setattr(short, name, getattr(self, name)[:k])
        self.shorten(short, k)
        return short

    def shorten(self, short: Any, k: int) -> None:
        """Cut what else a method has learned, in its copy of k components."""
