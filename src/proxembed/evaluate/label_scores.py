"""Cross-fitted label scores: the rival that every supervised embedding has to face."""

from typing import Any, Self

import numpy as np
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state

from proxembed.classify.ridge import PENALTY, chosen_penalty, ridge_fit
from proxembed.params import SEED, check_params, param
from proxembed.rows import SeenRows
from proxembed.targets.known import known_labels
from proxembed.validation import checked_features, in_range, learning

from .rivals import SIZE, Rival


class LabelScores(Rival):
    """Cross-fitted label scores: each row becomes its c ridge scores, from models that have not seen it.

    Training rows get the scores of a model fitted on the other folds, so they look like those of new rows. New rows get
    the scores of the model fitted on all training rows. A row identical to a training row counts as that row, so
    ``fit_transform`` equals ``transform``; identical rows share a fold. [wolpert1992stacking]

    Attributes
    ----------
    scores_ : array of shape (number of distinct training rows, c)
        Cross-fitted scores of the training rows.
    coef_, intercept_ : arrays of shape (d, c) and (c,)
        The model for new rows.
    penalty_ : float
    n_components_ : int

    Raises
    ------
    ValueError
        A parameter out of range, or fewer than two distinct rows.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate import LabelScores
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> LabelScores().fit_transform(X, Y).shape
    (40, 2)
    """

    n_components: int | None = param(
        default=None,
        like=SIZE,
        kw_only=False,
        doc="None keeps one column for each of the c labels that some row has; a number (at most c) reduces the scores "
        "to that many principal components.",
    )
    penalty: float | str = param(
        default="auto",
        like=PENALTY,
        doc="Ridge penalty; auto: the least leave-one-out error of all training rows.",
    )
    n_folds: int = param(
        default=5,
        low=2,
        integer=True,
        doc="Folds of the cross-fitting; at most the number of distinct rows is used.",
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the folds.")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the models of the folds and of all rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : labels in any form (classes, indicator, sets)

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y, cells=True)
            labels = labels.drop_empty()
            if labels.c == 0:
                raise ValueError("LabelScores needs a label that some row has; y has none, pass rows with labels.")
            if self.n_components is not None and self.n_components > labels.c:
                raise ValueError(
                    f"n_components={self.n_components!r} must be from 1 to the number of labels ({labels.c})."
                )
            T = labels.with_means().Y.toarray().astype(np.float64)
            seen = SeenRows(X)
            first, group = np.unique(seen.find(X), return_inverse=True)
            folds = self._folds(len(first))
            penalty = chosen_penalty(self.penalty, X, T)
            scores = np.empty((len(first), T.shape[1]))
            for fold in range(folds.max() + 1):
                held_out = folds[group] == fold
                coef, intercept = ridge_fit(X[~held_out], T[~held_out], penalty)
                scores[group[held_out]] = X[held_out] @ coef + intercept
            self._reduce(scores[group])
            self.coef_, self.intercept_ = ridge_fit(X, T, penalty)
            self.scores_, self.penalty_, self._seen, self._first = scores, penalty, seen, first
        return self

    def _folds(self, n_rows: int) -> np.ndarray:
        if n_rows < 2:
            raise ValueError(f"LabelScores needs at least 2 distinct rows to cross-fit; got {n_rows} sample.")
        order = check_random_state(self.random_state).permutation(n_rows)
        return order % min(self.n_folds, n_rows)

    def _reduce(self, S: np.ndarray) -> None:
        c = S.shape[1]
        if self.n_components is None:
            self.n_components_, self.reduction_ = c, None
            return
        self.reduction_ = PCA(min(self.n_components, *S.shape), svd_solver="full").fit(S)
        self.n_components_ = self.reduction_.n_components_

    def transform(self, X: Any) -> Any:
        """Score rows: cross-fitted scores for rows identical to a training row, the full model's for others.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, n_components_)
        """
        X = self._new_rows(X)
        S = X @ self.coef_ + self.intercept_
        seen = self._seen.find(X)
        S[seen >= 0] = self.scores_[np.searchsorted(self._first, seen[seen >= 0])]
        S = in_range(S, X, np.float64)
        return S if self.reduction_ is None else self.reduction_.transform(S)
