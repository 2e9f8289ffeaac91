"""A rival that is gradient boosting of trees."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.params import SEED, param
from proxembed.targets.known import known_rows_per_label, smoothed_log_odds
from proxembed.targets.labels import LabelMatrix

from .rival import DataFacts, RivalScores

ONE_THREAD = 10_000  # rows up to which boosting takes one thread
EARLY_STOPPING = 20  # rows of the rarer side below which boosting has none to spare for its stopping rule


class BoostedScores(RivalScores):
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
    >>> from proxembed.evaluate.rivals.boosting import BoostedScores
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = BoostedScores(max_iter=20).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]]).tolist()
    [True, False]
    """

    title = "gradient boosting"
    position = 80
    most_labels = 20
    most_rows = 20_000
    share = 0.4
    max_iter: int = param(default=60, low=1, integer=True, kw_only=False, doc="Largest number of trees per label.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the rows used for early stopping.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Four fits per label: three without an inner fold each, and one of all rows."""
        s = facts.shape
        return facts.splits * 4 * s.c * (0.02 + 6e-4 * s.d + 4e-7 * s.n * s.d)

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
