"""Multi-output ridge as a scikit-learn classifier."""

import numpy as np

from proxembed.params import Param, check_params
from proxembed.validation import checked_features, learning

from .label_classifier import LabelClassifier
from .ridge import PENALTY, chosen_penalty, ridge_fit
from .rows import known_labels

PARAMETERS = {"penalty": PENALTY, "penalize_intercept": Param(kind=bool), "min_one": Param(kind=bool)}


class MultiOutputRidge(LabelClassifier):
    """Multi-output ridge: min ||XW + 1b' - T||^2 + penalty ||W||^2 with T of +1 and -1.  [xu2016mvmd]

    One linear score a label, all from one factorisation, cut at 0; with one class a row, the class of the largest
    score. Rows with unknown labels are left out, with a warning.

    Parameters
    ----------
    penalty : float or "auto", default=0.1
        Ridge penalty, at least 0; "auto" takes the least closed-form leave-one-out error on a log grid.
    penalize_intercept : bool, default=False
        Count b in the penalty too, as the MVMD package does.
    min_one : bool, default=False
        Give a row without any positive score the label of its largest one.

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

    def __init__(self, penalty=0.1, *, penalize_intercept=False, min_one=False):
        self.penalty = penalty
        self.penalize_intercept = penalize_intercept
        self.min_one = min_one

    def fit(self, X, y):
        """Fit one linear score a label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : labels in any form (classes, indicator, sets)

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self, PARAMETERS)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y)
            T = 2.0 * labels.Y.toarray() - 1.0
            penalty = chosen_penalty(self.penalty, X, T)
            self.coef_, self.intercept_ = ridge_fit(X, T, penalty, self.penalize_intercept)
            self.penalty_ = penalty
            self._remember(labels)
        return self

    def _scores(self, X) -> np.ndarray:
        return X @ self.coef_ + self.intercept_

    def _positive(self, scores: np.ndarray) -> np.ndarray:
        positive = scores > 0
        if self.min_one:
            empty = np.flatnonzero(~positive.any(axis=1))
            positive[empty, scores[empty].argmax(axis=1)] = True
        return positive
