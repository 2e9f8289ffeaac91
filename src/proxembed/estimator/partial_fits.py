"""PartialFits: rows that come one after another, or from several machines."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from proxembed.algebra.arrays.blas import one_pool
from proxembed.algebra.arrays.moments import Moments
from proxembed.blocks import RowBlocks, WeightedTargets, blocks_of

from .known_blocks import checked_block, refuse_other_features, refuse_outside, weighted_blocks
from .missing import missing_attribute
from .sums import Sums, from_sums_of_rows, sums_of_rows
from .validation import forget
from .weights import checked_weights, present_rows

KEPT = ("sums_", "n_features_in_", "feature_names_in_")
AT_THE_SOLUTION = {"n_components", "ridge", "ridge_scale", "scaling", "solver"}  # parameters that sums do not know


class PartialFits:
    """``partial_fit`` and ``merge`` of methods that sums over the rows suffice for, solved when a result is needed."""

    label_means: ClassVar[Any] = None  # set while blocks are read: the means of unknown cells, "ask", or None

    reads_out: ClassVar[bool] = False  # whether a fit to numbers needs X'X for its predictions

    @property
    def reading_so_far(self) -> Any:
        """How y was read, also of rows that were added since the last solution; None without y."""
        own = vars(self)
        totals = own["sums_"].totals if own.get("_unsolved_", False) else None
        return own.get("_reading_") if totals is None else totals.no_rows().reading

    def sums_of_lifted(self, moments: Moments) -> Moments:
        """The sums of the lifted rows, from those of what ``lift`` has given; what the lift needs of all rows is
        learned."""
        return moments

    @available_if(from_sums_of_rows)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls; the result is that of one fit on all of them.

        The eigenproblem is solved when a fitted attribute, ``transform`` or ``predict`` is first asked for.
        ``ridge="auto"`` is chosen by generalised cross-validation from the sums, which ``sums_`` holds.

        Parameters
        ----------
        X : (m, d) array or CSR, RowBlocks with y in the blocks, or dask array or DataFrame; one row is enough.
        y : labels or numbers of these rows in any form that ``fit`` takes, the same in every call; new labels may come.
            Unknown cells of numbers are at the mean of all rows, whatever ``unknown`` but "drop".
        classes : list, optional
            The only labels that are allowed.
        sample_weight : (m,) numbers >= 0, optional
            How often each of these rows counts, as in ``fit``; those of RowBlocks come with the blocks.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For parameters changed since the first call, labels outside ``classes``, a column of y of another kind than
            before, and what ``fit`` refuses.

        Warns
        -----
        UserWarning
            After ``fit``, which keeps no sums: these rows are then the first.

        Examples
        --------
        >>> import numpy as np
        >>> from proxembed import OPLS
        >>> from proxembed.data import digits
        >>> data, model = digits(), OPLS(ridge=0.1)
        >>> for start in range(0, 1797, 600):
        ...     model = model.partial_fit(data.X[start : start + 600], data.Y[start : start + 600])
        >>> bool(np.allclose(model.eigenvalues_, OPLS(ridge=0.1).fit(data.X, data.Y).eigenvalues_))
        True
        """
        fresh = "sums_" not in vars(self)
        if fresh and "n_components_" in vars(self):
            warnings.warn(
                f"This {type(self).__name__} was fitted by fit, which keeps no sums: partial_fit starts again with "
                "these rows alone. Call partial_fit from the first rows on.",
                UserWarning,
                stacklevel=2,
            )
            forget(self)
        self.resolve()
        sums, source = (Sums() if fresh else self._checked_sums()), blocks_of(X, y, sample_weight)
        if source is None and y is None and self.traits.labels is not None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        try:
            if source is None and sample_weight is not None:
                self._add_weighted(sums, X, y, classes, fresh, sample_weight)
                return self._hold(sums)
            if source is not None and source.spread:
                self._add_spread(sums, source, classes, fresh)
                return self._hold(sums)
            for rows, labels, times, dropped in weighted_blocks(self, source or [(X, y)], reset=fresh):
                refuse_outside(labels, classes)
                sums.update(self, rows, labels, dropped, "float64" if source is None else source.precision, times)
        except BaseException:
            if fresh:
                forget(self)
            raise
        return self._hold(sums)

    def _add_weighted(self, sums: Sums, X: Any, y: Any, classes: Any, fresh: bool, sample_weight: Any) -> None:
        """Add rows in memory, each as often as its weight says."""
        y = y if self.traits.labels is not None else None
        X, y, times = present_rows(X, y, checked_weights(sample_weight, X, y))
        rows, labels, own, dropped = checked_block(self, X, WeightedTargets(y, times), fresh)
        refuse_outside(labels, classes)
        sums.update(self, rows, labels, dropped, times=own)

    def _add_spread(self, sums: Sums, source: RowBlocks, classes: Any, fresh: bool) -> None:
        """Add rows where they are."""
        found = sums_of_rows(self, source, classes=classes)
        if fresh:
            found.copy_to(self)
        else:
            refuse_other_features(self, found.checking)
        sums.merge(self, found.sums)

    @available_if(from_sums_of_rows)
    def merge(self, other: Self) -> Self:
        """Add the rows of another partly fitted estimator, such as one from another machine; it stays as it is.

        Returns self. Raises ValueError for an estimator of another class or with other parameters (of the template),
        with other features, or without rows.

        >>> import numpy as np
        >>> from proxembed import PCA
        >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        >>> one, two = PCA(n_components=1).partial_fit(X[:3]), PCA(n_components=1).partial_fit(X[3:])
        >>> one.merge(two).eigenvalues_
        array([8.])
        """
        if type(other) is not type(self):
            names = f"{type(self).__name__} and {type(other).__name__}"
            raise ValueError(f"merge needs two estimators of one class, not {names}.")
        if "sums_" not in vars(other) or "sums_" not in vars(self):
            name = type(self).__name__
            raise ValueError(f"merge needs two partly fitted {name} estimators; call partial_fit on each first.")
        if _template_parameters(self) != _template_parameters(other):
            raise ValueError("merge needs estimators with the same parameters; build both from one by clone().")
        refuse_other_features(self, other)
        self.resolve()
        sums = self._checked_sums()
        sums.merge(self, other._checked_sums())
        return self._hold(sums)

    def _hold(self, sums: Sums) -> Self:
        """Keep sums, and forget what followed from earlier ones."""
        forget(self, KEPT)
        sums.parameters = _template_parameters(self)
        self.sums_, self._unsolved_ = sums, True
        return self

    def _checked_sums(self) -> Sums:
        """The sums so far, or a ValueError where the parameters are no longer those that they were made for."""
        if self.sums_.parameters != _template_parameters(self):
            raise ValueError(
                f"Parameters of this {type(self).__name__} were changed after partial_fit, and its sums are those for "
                "the earlier ones. Set them back, or clone it and start again."
            )
        return self.sums_

    def __getattr__(self, name: str) -> Any:
        unsolved = vars(self).get("_unsolved_", False) and name.endswith("_") and not name.startswith("_")
        if not unsolved or name in KEPT:
            return missing_attribute(self, name)
        sums = self._checked_sums()
        forget(self, KEPT)
        try:
            self.resolve()
            with one_pool:
                self.solve_rows(sums.rows(self))
        except BaseException:
            self._hold(sums)
            raise
        return getattr(self, name)


def _template_parameters(estimator: Any) -> str:
    """The parameters on which sums depend, as text."""
    parameters = estimator.get_params(deep=True).items()
    asked = [(name, value) for name, value in parameters if name.rpartition("__")[2] not in AT_THE_SOLUTION]
    nested = {name: type(value).__name__ for name, value in asked if isinstance(value, BaseEstimator)}
    return repr(sorted((name, nested.get(name, repr(value))) for name, value in asked))
