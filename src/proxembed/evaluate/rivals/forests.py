"""Rivals made of trees: the scores of a random forest, the proximity of rows in its leaves, and gradient boosting."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from proxembed.estimator.base import Estimator
from proxembed.estimator.rows import SeenRows
from proxembed.estimator.weights import weights_of, with_weighted_means
from proxembed.methods.forest import ForestLeaves, ForestVotes, averaged_rows
from proxembed.methods.variance import PCA
from proxembed.params import SEED, param, seed_of
from proxembed.targets.known import known_rows_per_label, smoothed_log_odds
from proxembed.targets.labels import LabelMatrix

from ..costs import Shape, forest_seconds, grown_labels, step_work
from .rival import FOREST_ROWS, SIZE, DataFacts, RivalEmbedding, RivalScores, WeightedRival, dense_features

TABLE_ROWS = 1000  # rows of the forest that the table of costs was measured with


class GrowsForest(Estimator, abstract=True):
    """A rival with one forest for all targets, grown on some distinct rows."""

    n_estimators: int = param(default=100, low=1, high=100_000, integer=True, kw_only=False, doc="Trees.")
    min_samples_leaf: int = param(default=2, low=1, integer=True, doc="Rows that a leaf holds at least.")
    max_rows: int = param(
        default=FOREST_ROWS, low=2, integer=True, doc="Largest number of distinct rows that the forest is grown on."
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the drawn rows and of the trees.")

    def _grow(self, X: Any, T: Any, w: np.ndarray | None) -> tuple[Any, np.ndarray, np.ndarray]:
        """Grow the forest on targets T (n, r) of rows that count ``w`` times each (None: once). Returns
        the distinct rows, what the leaves say of each, by the trees grown without it, and the distinct row of each
        row."""
        seed = seed_of(self.random_state)
        X, T, counts, row = averaged_rows(X, T, w)
        chosen = np.sort(np.random.RandomState(seed).permutation(X.shape[0])[: self.max_rows])
        found, own = ForestVotes.of(
            X[chosen],
            T[chosen],
            T[chosen],
            counts[chosen],
            n_estimators=self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_features="sqrt",
            random_state=seed,
        )
        self.leaves_, self.votes_ = found.leaves, found.votes
        unseen = self._votes_of(X)
        unseen[chosen] = own
        return X, unseen, row

    def _votes_of(self, X: Any) -> np.ndarray:
        return self.leaves_.features(X) @ self.votes_


class ForestScores(GrowsForest, ClassNamePrefixFeaturesOutMixin, TransformerMixin, RivalScores):
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

    Raises
    ------
    ValueError
        A parameter out of range, or y does not fit X.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.ForestProximity : Leaves of a forest.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.forests import ForestScores
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> forest = ForestScores(n_estimators=20).fit(X, X[:, 0] > 0)
    >>> forest.predict([[1.0, 0, 0], [-1.0, 0, 0]]).tolist(), forest.transform(X[:5]).shape
    ([True, False], (5, 2))
    """

    title = "forest scores"
    position = 50
    share = 0.4
    cut = "last"
    label_wise = first_trees = True
    lookup = "label lookup"

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        s = facts.shape
        return facts.splits * forest_seconds(s.rows(min(s.n, facts.forest_rows)), cls.n_estimators)

    def _fit(self, X: Any, labels: LabelMatrix, w: np.ndarray | None) -> None:
        X, shares, row = self._grow(X, with_weighted_means(labels, w).Y, w)
        self.own_scores_ = shares[row] - 0.5
        self.n_components_ = shares.shape[1]
        self._seen, self._placed = SeenRows(X), shares - 0.5
        self._remember(labels)

    def transform(self, X: Any) -> Any:
        """The scores of rows: of a row identical to a training row by the trees grown without it."""
        X = self._checked(X)
        S, seen = self._finite_scores(X), self._seen.find(X)
        S[seen >= 0] = self._placed[seen[seen >= 0]]
        return S

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _scores(self, X: Any) -> np.ndarray:
        return self._votes_of(X) - 0.5


class ForestProximity(WeightedRival, RivalEmbedding):
    """Forest leaf proximity: principal components of out-of-bag leaves, ``ForestLeaves(PCA(), rows="oob")``.

    Two rows are near if many trees put them into one leaf. A training row is described only by the trees that were
    grown without it, a new row by all trees; a row identical to a training row counts as that row. The n x n proximity
    matrix never covers more than ``max_rows`` rows. [breiman2001forests]

    Attributes
    ----------
    leaves_ : ForestLeaves
        Fitted to the rows that the forest is grown on.
    n_components_ : int

    Raises
    ------
    ValueError
        A parameter out of range, fewer than two distinct rows, or more components than the leaves have.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.ForestScores : Scores of a forest.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.forests import ForestProximity
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> ForestProximity(n_estimators=20).fit_transform(X, X[:, 0] > 0).shape
    (80, 2)
    """

    title = "forest proximity"
    position = 60
    places_unseen = True
    n_components: int | None = param(default=None, like=SIZE, kw_only=False, doc="Components; None: 2.")
    n_estimators: int = param(default=100, low=1, high=100_000, integer=True, doc="Trees.")
    min_samples_leaf: int = param(
        default=5, low=1, integer=True, doc="Rows that a leaf holds at least, or a fifth of all where these are fewer."
    )
    max_rows: int = param(
        default=FOREST_ROWS,
        low=2,
        integer=True,
        doc="Largest number of rows that the forest is grown on, drawn at random; the others are new rows to it.",
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the drawn rows and of the trees.")

    @classmethod
    def work(cls, estimator: Any, shape: Shape, forest_rows: int) -> float:
        """Work of one fit: the forest grows on some rows and places all."""
        shape = shape._replace(c=grown_labels(shape.c))
        placed = step_work(cls.title, shape) - step_work(cls.title, shape.rows(min(shape.n, TABLE_ROWS)))
        grown = forest_seconds(shape.rows(min(shape.n, forest_rows)), estimator.n_estimators)
        return max(placed, 0.0) + grown

    def _fit(self, X: Any, labels: LabelMatrix, w: np.ndarray | None) -> None:
        if X.shape[0] < 2:
            raise ValueError(f"ForestProximity needs at least 2 rows; got {X.shape[0]} sample.")
        random = check_random_state(self.random_state)
        chosen = np.sort(random.permutation(X.shape[0])[: self.max_rows])
        distinct = len(np.unique(SeenRows(X[chosen]).find(X[chosen])))
        leaves = ForestLeaves(
            PCA(),
            rows="oob",
            n_components=2 if self.n_components is None else self.n_components,
            n_estimators=self.n_estimators,
            min_samples_leaf=min(self.min_samples_leaf, max(1, distinct // 5)),
            random_state=random.randint(2**31 - 1),
        )
        own = None if w is None else w[chosen]
        targets = with_weighted_means(labels.take(chosen), own)
        self.leaves_ = leaves.fit(X[chosen], targets, **weights_of(own))
        self.n_components_ = leaves.n_components_

    def transform(self, X: Any) -> Any:
        """Embed rows: by out-of-bag trees for rows identical to a training row, by all trees for others."""
        return np.asarray(self.leaves_.transform(self._new_rows(X)), dtype=np.float64)


ONE_THREAD = 10_000  # rows up to which boosting takes one thread
EARLY_STOPPING = 20  # rows of the rarer side below which boosting has none to spare for its stopping rule


class BoostedScores(RivalScores):
    """Gradient boosting of trees on binned features, one model per label: each row gets the log odds of its labels.

    The histogram gradient boosting of scikit-learn. Training stops early by a tenth of the training rows, if at least
    20 rows have the label and 20 do not. Sparse features become dense, within 2 GiB. [friedman2001boosting]

    Attributes
    ----------
    models_ : list
        Per label a ``HistGradientBoostingClassifier``, or the log odds if all rows have the label, or none.
    n_iter_ : int
        The most trees that a label has.

    Raises
    ------
    ValueError
        A parameter out of range, y does not fit X, or dense features above 2 GiB.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.ForestScores : Scores of a forest.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.forests import BoostedScores
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
    label_wise = True
    max_iter: int = param(default=60, low=1, integer=True, kw_only=False, doc="Largest number of trees per label.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the rows used for early stopping.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Four fits per label: three without an inner fold each, and one of all rows."""
        s = facts.shape
        return facts.splits * 4 * s.c * (0.02 + 6e-4 * s.d + 4e-7 * s.n * s.d)

    def _fit(self, X: Any, labels: LabelMatrix, w: np.ndarray | None) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        X = dense_features(X, self.title)
        self.models_: list[Any] = []
        for rows, column in known_rows_per_label(labels):
            count = int(column.sum())
            if not 0 < count < len(column):
                own = np.ones(len(column)) if w is None else w[rows]
                self.models_.append(float(smoothed_log_odds(own @ column, own.sum())))
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
                self.models_.append(model.fit(X[rows], column, **weights_of(w, rows)))
        self.n_iter_ = max((model.n_iter_ for model in self.models_ if not isinstance(model, float)), default=1)
        self._remember(labels)

    def _scores(self, X: Any) -> np.ndarray:
        X, n = dense_features(X, self.title), X.shape[0]
        columns = [np.full(n, m) if isinstance(m, float) else m.decision_function(X) for m in self.models_]
        return np.column_stack(columns)
