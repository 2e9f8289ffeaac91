"""Multi-output ridge as a scikit-learn classifier."""

from typing import Any, Self

import numpy as np

from proxembed.algebra.operators.structured import Centering, LowRank
from proxembed.algebra.template import Template
from proxembed.base import PencilEmbedder
from proxembed.params import check_params, param
from proxembed.rows import Rows
from proxembed.sources import RowBlocks, blocks_of
from proxembed.sums import summed_rows
from proxembed.targets.known import known_labels
from proxembed.targets.labels import LabelMatrix
from proxembed.validation import checked_features, learning

from .label_classifier import LabelClassifier
from .ridge import PENALTY, chosen_penalty, ridge_fit


class MultiOutputRidge(LabelClassifier):
    """Multi-output ridge: min ||XW + 1b' - T||^2 + penalty ||W||^2 with T of +1 and -1.  [xu2016mvmd]

    One linear score per label, all from one factorisation, with the threshold 0; with one class per row, the class with
    the largest score. Rows with unknown labels are left out, with a warning; if every row has an unknown label, an
    unknown cell counts as the mean of its label.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, c) and (c,)
    penalty_ : float
        The penalty used.
    classes_ : array of shape (c,)
        Classes, or names of the label columns.

    Raises
    ------
    ValueError
        ``penalty`` is negative, not finite or an unknown word; a switch that is not True or False; y does not fit X.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify import MultiOutputRidge
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> MultiOutputRidge().fit(X, [[1, 0], [1, 0], [0, 1], [0, 1]]).predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """

    penalty: float | str = param(
        default=0.1,
        like=PENALTY,
        kw_only=False,
        doc="Ridge penalty; auto: the least closed-form leave-one-out error on a log grid.",
    )
    penalize_intercept: bool = param(
        default=False, kind=bool, doc="Count b in the penalty too, as the MVMD package does."
    )
    min_one: bool = param(
        default=False, kind=bool, doc="Give a row without any positive score the label of its largest one."
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit one linear score per label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d), or RowBlocks with y in the blocks
        y : labels in any form (classes, indicator, sets)

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            if (blocks := blocks_of(X, y)) is not None:
                return self._fit_blocks(blocks)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y, cells=True)
            T = 2.0 * labels.with_means().Y.toarray() - 1.0
            penalty = chosen_penalty(self.penalty, X, T)
            self.coef_, self.intercept_ = ridge_fit(X, T, penalty, self.penalize_intercept)
            self.penalty_ = penalty
            self._remember(labels)
        return self

    def _fit_blocks(self, blocks: RowBlocks) -> Self:
        """The same from sums of the rows."""
        if self.penalize_intercept:
            raise ValueError(
                "penalize_intercept=True is not allowed with blocks of rows, whose sums are those about their mean. "
                "Set penalize_intercept=False."
            )
        regression = _Regression(target_type=self.target_type)
        regression.resolve()
        rows = summed_rows(regression, blocks)
        regression.make_ready(rows)
        self.penalty_ = float(rows.resolve_ridge(self.penalty, "absolute", rows.build_template(regression))[0])
        coef, level = rows.found.regression(self.penalty_, rows.X)
        totals: Any = rows.totals
        labels = totals.first_rows()
        self.coef_, self.intercept_ = labels.expand(2.0 * coef), np.full(len(labels.classes_), -1.0)
        self.intercept_[labels.kept] = 2.0 * level - 1.0
        self.n_features_in_ = regression.n_features_in_
        if hasattr(regression, "feature_names_in_"):
            self.feature_names_in_ = regression.feature_names_in_
        self._remember(labels)
        return self

    def _scores(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_

    def _positive(self, scores: np.ndarray) -> np.ndarray:
        positive = scores > 0
        if self.min_one:
            empty = np.flatnonzero(~positive.any(axis=1))
            positive[empty, scores[empty].argmax(axis=1)] = True
        return positive


class _Regression(PencilEmbedder, labels="multi", takes_shares=True, from_sums="rows"):
    """What the regression of the labels on the rows has to know of them."""

    def template(self, rows: Rows) -> Template:
        A = LowRank(rows.label_matrix.Y, center=rows.ones)
        return Template(A, Centering(), b=0, offset=rows.ones, target=rows.label_matrix.Y)

    def check_labels(self, labels: LabelMatrix) -> None:
        """Labels that all rows have are fitted, too."""


_Regression.__name__ = MultiOutputRidge.__name__  # by which errors call it
