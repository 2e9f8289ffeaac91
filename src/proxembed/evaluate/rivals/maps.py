"""Rivals that place rows anew for each size: NCA, and UMAP and t-SNE where their libraries are installed."""

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from proxembed.estimator.validation import checked_features, learning
from proxembed.features.layouts import PERPLEXITY, UMAP_NEIGHBORS, check_installed, opentsne_map, umap_model
from proxembed.methods.variance import PCA
from proxembed.params import SEED, check_params, param
from proxembed.tables.rows import for_solvers
from proxembed.targets.known import known_labels
from proxembed.targets.outputs import Outputs
from proxembed.targets.targets import Targets

from ..costs import layout_work, step_work
from .rival import SIZE, DataFacts, RivalEmbedding, dense_features

TSNE_FEATURES = 50
# Units of work of UMAP, as printed by bench/umaps.py: of what is compiled once, below and from the number of rows at
# which umap-learn looks for neighbours by descent; of one size for each row, and each pair of rows, below that number;
# for each row from it; and for each row where label sets are compared, of which few labels have many alike.
COMPILED, COMPILED_DESCENT, DESCENT_ROWS = 12.0, 40.0, 4096
PLACED, PAIR, DESCENDED, SET, MANY_SETS = 6.5e-4, 8.2e-7, 7.8e-4, 9.9e-4, 15


class NCA(RivalEmbedding, labels="single", each_size=True):
    """Neighbourhood components analysis of scikit-learn: the map of largest leave-one-out accuracy of soft neighbours.

    scikit-learn's NCA, for one class per row, or one label, whose two classes are the rows with and without it. Sparse
    features become dense, within 2 GiB. [goldberger2004nca]

    Attributes
    ----------
    nca_ : sklearn.neighbors.NeighborhoodComponentsAnalysis
    n_components_, n_iter_ : int

    Raises
    ------
    ValueError
        Rows carry several labels or none, more components than features, or dense features above 2 GiB.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.LFDA : Classes of several clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.maps import NCA
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> NCA(1).fit_transform(X, X[:, 0] > 0).shape
    (60, 1)
    """

    title = "NCA"
    position = 90
    most_rows = 5000
    share = 0.3
    n_components: int | None = param(default=None, like=SIZE, kw_only=False, doc="Components; None: 2.")
    max_iter: int = param(default=50, low=1, integer=True, doc="Largest number of optimisation steps.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the start.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Up to 50 steps on all pairs of rows, for two sizes."""
        s = facts.shape
        return facts.splits * 2 * 50 * (1e-9 * s.n**2 + 1e-10 * s.n**2 * min(s.d, 50) + 1e-9 * s.n * s.d)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : one class per row

        Returns
        -------
        self
        """
        from sklearn.neighbors import NeighborhoodComponentsAnalysis

        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y)
            if not labels.one_hot and labels.c > 1:
                raise ValueError("NCA takes one class per row; y has rows with several labels or none.")
            indicator = labels.Y.toarray()
            k = min(2, X.shape[1]) if self.n_components is None else self.n_components
            if k > X.shape[1]:
                raise ValueError(f"n_components={k} must be from 1 to the number of features ({X.shape[1]}).")
            start = "pca" if min(X.shape) >= k else "identity"
            self.nca_ = NeighborhoodComponentsAnalysis(
                k, init=start, max_iter=self.max_iter, random_state=self.random_state
            ).fit(dense_features(X, "NCA"), indicator[:, 0] if labels.c == 1 else indicator.argmax(axis=1))
            self.n_components_, self.n_iter_ = k, self.nca_.n_iter_
        return self

    def transform(self, X: Any) -> Any:
        """Embed rows. X: (m, d) array or sparse matrix. Returns (m, n_components_)."""
        X = self._new_rows(X)
        return self.nca_.transform(dense_features(X, "NCA"))


class MapRival(RivalEmbedding, labels=None, each_size=True, abstract=True):
    """Base of a rival that a library of layouts places."""

    share = 0.4
    takes = ("labels", "numbers")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the rows.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : labels in any form, or ignored

        Returns
        -------
        self
        """
        self.fit_transform(X, y)
        return self


class UMAP(MapRival):
    """UMAP of umap-learn: positions of rows from a neighbour graph of their features.  [mcinnes2018umap]

    Uses no labels. New rows are placed by its own ``transform``.

    Attributes
    ----------
    umap_ : umap.UMAP
    n_components_ : int

    Raises
    ------
    ImportError
        umap-learn is not installed.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.SupervisedUMAP : With labels.

    Examples
    --------
    >>> from proxembed.evaluate.rivals.maps import UMAP
    >>> UMAP(5).n_neighbors
    15
    """

    title = "UMAP"
    position = 100
    library = "umap"
    crossed: ClassVar[bool] = False  # whether a graph of the labels is made
    n_components: int | None = param(default=None, like=SIZE, kw_only=False, doc="Components; None: 2.")
    n_neighbors: int = param(
        default=UMAP_NEIGHBORS, low=2, integer=True, doc="Neighbours; all other rows when there are fewer."
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the positions.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """What is compiled once, and the places of training and held-out rows for two sizes."""
        n, descends = facts.shape.n, facts.shape.n >= DESCENT_ROWS
        each = DESCENDED * n if descends else PLACED * n + PAIR * n**2
        if cls.crossed and not (facts.one_class or facts.numbers):
            each += SET * n * min(1.0, MANY_SETS / facts.shape.c)
        return COMPILED + COMPILED_DESCENT * descends + facts.splits * 2 * each

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Place the rows and return their places, (n, n_components_)."""
        self._check_installed()
        with learning(self):
            X = checked_features(self, X, reset=True)
            return self._place(X, None)

    def _check_installed(self) -> None:
        check_params(self)
        check_installed(type(self).__name__, "umap")

    def _place(self, X: Any, target: Any, **options: Any) -> np.ndarray:
        """Fit umap-learn to rows, beside a target where there is one."""
        self.n_components_ = 2 if self.n_components is None else self.n_components
        self.umap_ = umap_model(X.shape[0], self.n_components_, self.n_neighbors, self.random_state, **options)
        return np.asarray(self.umap_.fit_transform(for_solvers(X), target))

    def transform(self, X: Any) -> Any:
        """Place rows among the training rows. X: (m, d) array or sparse matrix. Returns (m, n_components_)."""
        X = self._new_rows(X)
        return np.asarray(self.umap_.transform(for_solvers(X)))


class SupervisedUMAP(UMAP, labels="multi"):
    """Supervised UMAP of umap-learn: a neighbour graph of the features crossed with one of the labels or numbers.

    Classes are compared as categories, label sets by the Jaccard distance, standardised numbers by the Euclidean one.
    Training rows keep the places that UMAP gave them using their labels, so judge the map by held-out rows only.
    [mcinnes2018umap]

    Attributes
    ----------
    umap_ : umap.UMAP
    n_components_ : int

    Raises
    ------
    ImportError
        umap-learn is not installed.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.UMAP : Without labels.
    proxembed.Layout : A two-dimensional map of all components.

    Examples
    --------
    >>> from proxembed.evaluate.rivals.maps import SupervisedUMAP
    >>> SupervisedUMAP(5).n_neighbors
    15
    """

    title = "supervised UMAP"
    position = 110
    reads_whole_rows = crossed = True

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Place the rows and return their places, (n, n_components_); rows with unknown labels are placed as new."""
        self._check_installed()
        with learning(self):
            X = checked_features(self, X, reset=True)
            known, labels = self._known(X, y)
            target = labels.Y.toarray()
            if isinstance(labels, Outputs):
                Z = self._place(known, target, target_metric="l2")
            elif labels.one_hot:
                Z = self._place(known, target.argmax(axis=1), target_metric="categorical")
            else:
                Z = self._place(known, target, target_metric="jaccard")
            return Z if known.shape[0] == X.shape[0] else self.transform(X)

    def _known(self, X: Any, y: Any) -> tuple[Any, Targets]:
        """The rows that are placed beside their targets: those of known labels, or with a known number."""
        if not isinstance(y, Outputs):
            return known_labels(self, X, y)
        rows = np.flatnonzero(y.rows_any)
        return X[rows], y.take(rows).with_means()


class TSNE(MapRival):
    """t-SNE of openTSNE: a map of the rows, into which new rows are placed one by one.

    More than 50 features are first reduced to 50 principal components. The perplexity is 30, or a third of the rows if
    there are fewer than 90. [vandermaaten2008tsne]

    Attributes
    ----------
    map_ : openTSNE.TSNEEmbedding
    n_components_ : int

    Raises
    ------
    ImportError
        openTSNE is not installed.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.Layout : A two-dimensional map of all components.

    Examples
    --------
    >>> from proxembed.evaluate.rivals.maps import TSNE
    >>> TSNE().perplexity
    30
    """

    title = "t-SNE"
    position = 120
    goal = "map"
    library = "opentsne"
    n_components: int | None = param(
        default=None, low=1, high=2, integer=True, choices=(None,), kw_only=False, doc="Components, 1 or 2; None: 2."
    )
    perplexity: float = param(default=PERPLEXITY, above=1, doc="Perplexity, bounded by a third of the rows.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the positions.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """The map of one size, and principal components before it."""
        s = facts.shape
        return facts.splits * (layout_work(s.n) + (s.d > TSNE_FEATURES) * step_work("PCA", s))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Place the rows and return their places, (n, n_components_)."""
        check_params(self)
        check_installed("TSNE", "opentsne")
        with learning(self):
            X = checked_features(self, X, reset=True)
            self.n_components_ = 2 if self.n_components is None else self.n_components
            dense = not sp.issparse(X) and X.shape[1] <= TSNE_FEATURES
            size = min(TSNE_FEATURES, X.shape[0] - 1, X.shape[1])
            self.reduction_ = None if dense else PCA(n_components=size)
            rows = X if self.reduction_ is None else self.reduction_.fit_transform(X)
            self.map_ = opentsne_map(rows, self.n_components_, self.perplexity, self.random_state)
        return np.asarray(self.map_)

    def transform(self, X: Any) -> Any:
        """Place rows among the training rows. X: (m, d) array or sparse matrix. Returns (m, n_components_)."""
        X = self._new_rows(X)
        return np.asarray(self.map_.transform(X if self.reduction_ is None else self.reduction_.transform(X)))
