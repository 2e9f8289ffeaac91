"""Rivals that predict by themselves, a score per label: two linear models, a random forest and gradient boosting.

The scores of the forest are an embedding, too, which can be saved.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from proxembed.algebra.arrays.guard import guard_dense
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.classify.ridge import feature_variances
from proxembed.methods.forest import ForestVotes, averaged_rows
from proxembed.params import SEED, check_params, param
from proxembed.rows import SeenRows
from proxembed.tables.rows import for_solvers
from proxembed.targets.known import known_labels, known_rows_per_label, smoothed_log_odds
from proxembed.targets.labels import LabelMatrix
from proxembed.validation import checked_features, learning

from .rivals import FOREST_ROWS

NEWTON_FEATURES = 500
ONE_THREAD = 10_000  # rows up to which boosting takes one thread
EARLY_STOPPING = 20  # rows of the rarer side below which boosting has none to spare for its stopping rule


class ScoreRival(LabelClassifier, abstract=True):
    """Base of a rival that takes part by its scores. A subclass gives ``_fit(X, labels)``."""

    role = "rival"

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a score per label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : labels in any form; rows with unknown labels are left out, with a warning. Where every row has one, known
            cells are learned from.

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y, cells=True)
            self._fit(X, labels)
            self._remember(labels)
        return self

    @abstractmethod
    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        """Fit to checked rows and their labels."""


class LinearScores(ScoreRival, abstract=True):
    """Base of a linear model a label. A subclass gives ``_model(X)`` and ``_constant(column)``."""

    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        model, X = self._model(X)
        self.coef_, self.intercept_ = np.zeros((X.shape[1], labels.c)), np.zeros(labels.c)
        for j, (rows, column) in enumerate(known_rows_per_label(labels)):
            if column.any() and not column.all():
                model.fit(X[rows], column)
                self.coef_[:, j], self.intercept_[j] = model.coef_[0], model.intercept_[0]
            else:
                self.intercept_[j] = self._constant(column)

    @abstractmethod
    def _model(self, X: Any) -> tuple[Any, Any]:
        """The unfitted model of scikit-learn, and the rows in the form that it takes."""

    @abstractmethod
    def _constant(self, column: np.ndarray) -> float:
        """The score of a label that all rows carry, or none."""

    def _scores(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_


class LogisticScores(LinearScores):
    """Logistic regression, one model per label: each row gets the log odds of its labels.  [cox1958regression]

    The l2-penalised logistic regression of scikit-learn. It uses Newton steps on a dense copy for up to 500 features,
    and L-BFGS for more. A label that all training rows have, or none, gets the log odds of its smoothed share.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, c) and (c,)
    classes_ : array of shape (c,)
        Classes, or names of the label columns.

    Raises
    ------
    ValueError
        A parameter out of range, or y does not fit X.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.score_rivals import LogisticScores
    >>> X, Y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> LogisticScores().fit(X, Y).decision_function([[-1.5], [1.5]]).round(1).tolist()
    [[-1.5, 1.6], [1.5, 1.6]]
    """

    C: float = param(default=1.0, above=0, kw_only=False, doc="Inverse of the penalty.")

    def _model(self, X: Any) -> tuple[Any, Any]:
        from sklearn.linear_model import LogisticRegression

        newton = X.shape[1] <= NEWTON_FEATURES  # few steps where first-order ones need a thousand
        model = LogisticRegression(C=self.C, solver="newton-cholesky" if newton else "lbfgs", max_iter=1000)
        return model, X.toarray() if newton and sp.issparse(X) else for_solvers(X)

    def _constant(self, column: np.ndarray) -> float:
        return float(smoothed_log_odds(column.sum(), len(column)))


class SVMScores(LinearScores):
    """Linear support vector machine, one per label: each row gets its margin, above 0 if the label is predicted.

    scikit-learn's ``LinearSVC`` with squared hinge and l2 penalty. Rows are divided by their root mean square distance
    from the mean, so the meaning of C does not depend on the scale of X. A label that all training rows have, or none,
    gets 1 or -1. [fan2008liblinear]

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, c) and (c,)
    classes_ : array of shape (c,)
        Classes, or names of the label columns.

    Raises
    ------
    ValueError
        A parameter out of range, or y does not fit X.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.score_rivals import SVMScores
    >>> X, Y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> SVMScores().fit(X, Y).predict([[-1.5], [1.5]]).tolist()
    [[0, 1], [1, 1]]
    """

    C: float = param(default=1.0, above=0, kw_only=False, doc="Weight of the errors.")
    tol: float = param(default=0.01, above=0, doc="Tolerance of the solver of ``LinearSVC``.")

    def _model(self, X: Any) -> tuple[Any, Any]:
        from sklearn.svm import LinearSVC

        square = float(feature_variances(X).sum()) or 1.0
        model = LinearSVC(C=self.C / square, intercept_scaling=np.sqrt(square), dual=False, tol=self.tol)
        return model, for_solvers(X)

    def _constant(self, column: np.ndarray) -> float:
        return 1.0 if column.any() else -1.0


class ForestScores(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ScoreRival):
    """Forest scores: each row gets the share of its leaves' rows that have a label, minus one half.

    One forest for all labels, grown as in ``ForestLeaves``; on 0/1 labels its criterion is the Gini index summed over
    them. Equal rows count as one row in the forest. As an embedding it has one component per label. A new row is scored
    by all trees, a row identical to a training row by the trees grown without it, so scores of training rows and new
    rows are comparable. [breiman2001forests]

    Attributes
    ----------
    leaves_ : LeafMap
    votes_ : array of shape (leaves, c)
        What the leaves say: the scores are linear in them.
    own_scores_ : array of shape (number of rows with known labels, c)
        Scores of the training rows by the trees grown without them.
    n_components_ : int
        The number of labels.
    classes_ : array of shape (c,)

    Raises
    ------
    ValueError
        A parameter out of range, or y does not fit X.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.score_rivals import ForestScores
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> forest = ForestScores(n_estimators=20).fit(X, X[:, 0] > 0)
    >>> forest.predict([[1.0, 0, 0], [-1.0, 0, 0]]).tolist(), forest.transform(X[:5]).shape
    ([True, False], (5, 2))
    """

    n_estimators: int = param(default=100, low=1, high=100_000, integer=True, kw_only=False, doc="Trees.")
    min_samples_leaf: int = param(default=2, low=1, integer=True, doc="Rows that a leaf holds at least.")
    max_rows: int = param(
        default=FOREST_ROWS, low=2, integer=True, doc="Largest number of distinct rows that the forest is grown on."
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the drawn rows and of the trees.")

    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        random = check_random_state(self.random_state)
        X, T, counts, row = averaged_rows(X, labels.with_means().Y)
        chosen = np.sort(random.permutation(X.shape[0])[: self.max_rows])
        found, own = ForestVotes.of(
            X[chosen],
            T[chosen],
            T[chosen],
            counts[chosen],
            n_estimators=self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_features="sqrt",
            random_state=random.randint(2**31 - 1),
        )
        self.leaves_, self.votes_ = found.leaves, found.votes
        shares = self._shares(X)
        shares[chosen] = own
        self.own_scores_ = shares[row] - 0.5
        self.n_components_ = shares.shape[1]
        self._seen, self._placed = SeenRows(X), shares - 0.5

    def transform(self, X: Any) -> Any:
        """The scores of rows: of a row identical to a training row by the trees grown without it.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, c)
        """
        X = self._checked(X)
        S, seen = self._finite_scores(X), self._seen.find(X)
        S[seen >= 0] = self._placed[seen[seen >= 0]]
        return S

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _shares(self, X: Any) -> np.ndarray:
        return self.leaves_.features(X) @ self.votes_

    def _scores(self, X: Any) -> np.ndarray:
        return self._shares(X) - 0.5


class BoostedScores(ScoreRival):
    """Gradient boosting of trees on binned features, one model per label: each row gets the log odds of its labels.

    The histogram gradient boosting of scikit-learn. Training stops early by a tenth of the training rows, if at least
    20 rows have the label and 20 do not. Sparse features become dense, within 2 GiB. [friedman2001boosting]

    Attributes
    ----------
    models_ : list
        A ``HistGradientBoostingClassifier`` a label, or the log odds of a label that all rows carry, or none.
    n_iter_ : int
        The most trees that a label has.
    classes_ : array of shape (c,)

    Raises
    ------
    ValueError
        A parameter out of range, y does not fit X, or dense features above 2 GiB.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.score_rivals import BoostedScores
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = BoostedScores(max_iter=20).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]]).tolist()
    [True, False]
    """

    max_iter: int = param(default=60, low=1, integer=True, kw_only=False, doc="Largest number of trees per label.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the rows used for early stopping.")

    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        X = self._dense(X)
        self.models_: list[Any] = []
        for rows, column in known_rows_per_label(labels):
            count = int(column.sum())
            if not 0 < count < len(column):
                self.models_.append(float(smoothed_log_odds(column.sum(), len(column))))
                continue
            early = min(count, len(column) - count) >= EARLY_STOPPING
            model = HistGradientBoostingClassifier(
                max_iter=self.max_iter,
                max_leaf_nodes=15,
                max_bins=63,
                early_stopping=early,
                random_state=self.random_state,
            )
            # Threads of OpenMP wait for each other at every node of a tree: on few rows they take longer than one.
            with threadpool_limits(1 if len(column) <= ONE_THREAD else None, "openmp"):
                self.models_.append(model.fit(X[rows], column))
        self.n_iter_ = max((model.n_iter_ for model in self.models_ if not isinstance(model, float)), default=1)

    def _dense(self, X: Any) -> np.ndarray:
        if not sp.issparse(X):
            return X
        guard_dense(X.shape, "The dense X of gradient boosting", itemsize=X.dtype.itemsize)
        return X.toarray()

    def _scores(self, X: Any) -> np.ndarray:
        X, n = self._dense(X), X.shape[0]
        columns = [np.full(n, m) if isinstance(m, float) else m.decision_function(X) for m in self.models_]
        return np.column_stack(columns)
