"""Multi-output ridge regression on label indicators, with the penalty given or chosen by leave-one-out."""

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from proxembed.algebra.arrays.centred import CentredMatrix, tall_dot
from proxembed.algebra.operators.structured import Centering, LowRank
from proxembed.algebra.pencil.linear import RIDGE_GRID, best_ridge, evenly_spaced, ridge_errors, ridge_loo, ridge_solve
from proxembed.algebra.template import Template
from proxembed.blocks import RowBlocks, blocks_of
from proxembed.estimator.base import PencilEmbedder
from proxembed.estimator.rows import Rows
from proxembed.estimator.sums import summed_rows
from proxembed.estimator.validation import checked_features, learning
from proxembed.estimator.weights import weighed_rows, weights_of_known, with_weighted_means
from proxembed.params import Param, check_params, param, safe_repr
from proxembed.targets.known import known_labels
from proxembed.targets.labels import MANY_LABELS, LabelMatrix

from .label_classifier import LabelClassifier

LOO_ROWS = 2000
PENALTY = Param(low=0, choices=("auto",))


def feature_variances(X: Any) -> np.ndarray:
    """Variance of each column of a dense or sparse matrix."""
    if sp.issparse(X):
        return mean_variance_axis(sp.csr_matrix(X), axis=0)[1]
    return X.var(axis=0, dtype=np.float64)


def loo_penalty(X: Any, T: Any, weights: np.ndarray | None = None) -> float:
    """Penalty with the least leave-one-out error of the ridge regression of T on X, over a log grid. The grid runs from
    1e-6 to 1e2 in units of tr(Xc'Xc)/r, so that no scale of X is favoured. Where rows and features both exceed 2,000,
    the error is that of 2,000 evenly spaced rows: the best penalty, a ratio of variances, does not grow with their
    number. ``weights``: how often each row counts, which is left out whole."""
    if min(X.shape) > LOO_ROWS:
        rows = evenly_spaced(X.shape[0], LOO_ROWS)
        X, T, weights = X[rows], T[rows], None if weights is None else weights[rows]
    ridges = _grid(X, weights)
    return 0.0 if ridges is None else float(ridges[best_ridge(ridges, ridge_loo(X, T, ridges, weights=weights))])


def _grid(X: Any, weights: np.ndarray | None = None) -> np.ndarray | None:
    """The log grid in units of tr(Xc'Xc) / min(n, d); None where X does not vary."""
    n, d = X.shape
    if weights is None:
        spread = n * float(feature_variances(X).sum())
    else:
        spread, n = CentredMatrix.centred(X, weights).squared_norm(weights), weights.sum()
    return None if n < 2 or spread == 0.0 else RIDGE_GRID * spread / min(n, d)


def fold_penalty(X: Any, T: Any, folds: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Penalty with the least error on rows of folds left out, over the grid of ``loo_penalty``. For rows that come in
    groups: leaving out one row of a group leaves its near copies in, and too small a penalty looks best. Where rows and
    features both exceed 2,000, 2,000 evenly spaced rows are used. ``weights``: how often each row counts."""
    if len(np.unique(folds)) < 2:
        return loo_penalty(X, T, weights)
    if min(X.shape) > LOO_ROWS:
        rows = evenly_spaced(X.shape[0], LOO_ROWS)
        X, T, folds, weights = X[rows], T[rows], folds[rows], None if weights is None else weights[rows]
    ridges = _grid(X, weights)
    if ridges is None:
        return 0.0
    errors: Any = 0.0
    for fold in np.unique(folds):
        out = folds == fold
        own = () if weights is None else (weights[~out], weights[out])
        errors = errors + ridge_errors(X[~out], T[~out], X[out], T[out], ridges, *own)
    return float(ridges[best_ridge(ridges, errors)])


def chosen_penalty(penalty: Any, X: Any, T: Any, weights: np.ndarray | None = None) -> float:
    """Absolute penalty of a parameter ``penalty``: a number of at least 0, or "auto" for ``loo_penalty``."""
    if isinstance(penalty, str) and penalty == "auto":
        return loo_penalty(X, T, weights)
    if not PENALTY.permits(penalty):
        raise ValueError(f"penalty={safe_repr(penalty)} is not allowed; penalty must be {PENALTY.allowed()}.")
    return float(penalty)


def ridge_fit(
    X: Any, T: Any, penalty: float, penalize_intercept: bool = False, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (d, c) and intercept (c,) of min ||XW + 1b' - T||^2 + penalty ||W||^2, or + ||b||^2 as well.
    ``weights``: how often each row counts."""
    if not penalize_intercept:
        return ridge_solve(X, T, penalty, weights=weights)
    ones = np.ones((X.shape[0], 1))
    wide = sp.hstack([X, sp.csr_array(ones)], format="csr") if sp.issparse(X) else np.hstack([X, ones])
    coef, _ = ridge_solve(wide, T, penalty, center=False, weights=weights)
    return coef[:-1], coef[-1]


def ridge_out_of_fold(X: Any, T: Any, penalty: float, folds: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Scores (n, c) of each row by the ridge regression of T on the rows of the other folds."""
    scores = np.empty(T.shape)
    for fold in range(folds.max() + 1):
        out = folds == fold
        own = None if weights is None else weights[~out]
        coef, intercept = ridge_fit(X[~out], T[~out], penalty, weights=own)
        scores[out] = X[out] @ coef + intercept
    return scores


class Readout(NamedTuple):
    """Ridge scores of labels: coefficients (d, c), intercept (c,) and the penalty."""

    coef: np.ndarray
    intercept: np.ndarray
    penalty: float

    def scores(self, Z: Any) -> np.ndarray:
        """Scores (m, c) of rows Z (m, d); above 0 speaks for the label."""
        return Z @ self.coef + self.intercept


def fit_readout(Z: Any, Y: Any, folds: np.ndarray | None = None, weights: np.ndarray | None = None) -> Readout:
    """The ridge read-out of labels from rows: targets 1 and -1, the penalty of least error. Sparse Y (0 and 1) stays
    sparse where the penalty is not chosen by folds. ``weights``: how often each row counts."""
    if folds is not None and sp.issparse(Y):
        Y = Y.toarray()
    T = Y.astype(np.float64) if sp.issparse(Y) else 2.0 * Y - 1.0
    penalty = loo_penalty(Z, T, weights) if folds is None else fold_penalty(Z, T, folds, weights)
    return readout_at(Z, Y, penalty, weights)


def readout_at(Z: Any, Y: Any, penalty: float, weights: np.ndarray | None = None) -> Readout:
    """The ridge read-out of labels, targets 1 and -1, at a penalty. ``weights``: how often each row counts."""
    if not sp.issparse(Y):
        return Readout(*ridge_fit(Z, 2.0 * Y - 1.0, penalty, weights=weights), penalty)
    coef, intercept = ridge_fit(Z, Y.astype(np.float64), penalty, weights=weights)
    return Readout(2 * coef, 2 * intercept - 1, penalty)


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

    Raises
    ------
    ValueError
        ``penalty`` is negative, not finite or an unknown word; a switch that is not True or False; y does not fit X.

    See Also
    --------
    proxembed.FLDAClassifier : One discriminant per label.
    proxembed.Thresholded : Cuts and probabilities for any classifier.

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit one linear score per label.

        Parameters
        ----------
        X : (n, d) array or sparse matrix, or RowBlocks with y in the blocks
        y : labels in any form
            Classes, an indicator, or label sets.
        sample_weight : (n,) numbers >= 0, optional
            How often each row in memory counts.

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            if (blocks := blocks_of(X, y)) is not None:
                if sample_weight is not None:
                    raise ValueError("sample_weight is not allowed with blocks of rows here; leave it out.")
                return self._fit_blocks(blocks)
            X = checked_features(self, X, reset=True)
            X, y, w = weighed_rows(X, y, sample_weight)
            X, labels = known_labels(self, X, y, cells=True)
            w = weights_of_known(self, y, w)
            if labels.unknown is None and labels.c > MANY_LABELS and not self.penalize_intercept:
                Y = sp.csr_array(labels.Y, dtype=np.float64)
                found = readout_at(X, Y, chosen_penalty(self.penalty, X, Y, w), w)
                self.coef_, self.intercept_, self.penalty_ = found
            else:
                T = 2.0 * with_weighted_means(labels, w).Y.toarray() - 1.0
                self.penalty_ = chosen_penalty(self.penalty, X, T, w)
                self.coef_, self.intercept_ = ridge_fit(X, T, self.penalty_, self.penalize_intercept, w)
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
        labels = totals.no_rows()
        self.coef_, self.intercept_ = labels.expand(2.0 * coef), np.full(len(labels.classes_), -1.0)
        self.intercept_[labels.kept_columns] = 2.0 * level - 1.0
        self.n_features_in_ = regression.n_features_in_
        if hasattr(regression, "feature_names_in_"):
            self.feature_names_in_ = regression.feature_names_in_
        self._remember(labels)
        return self

    def linear_scores(self) -> tuple[np.ndarray, np.ndarray] | None:
        """W (d, c) and level (c,) of an indicator's scores X W - 1 level'; None for classes, and for many labels."""
        if type(self) is not MultiOutputRidge or not hasattr(self, "coef_") or self._labels.form == "classes":
            return None
        return (self.coef_, -self.intercept_) if len(self.classes_) <= MANY_LABELS else None

    def _scores(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_ if sp.issparse(X) else tall_dot(X, self.coef_, -self.intercept_)

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
