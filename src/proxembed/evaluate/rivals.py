"""Rivals with a model of their own: forest leaf proximity, NCA, and UMAP and t-SNE where these are installed."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.guard import guard_dense
from proxembed.base import Estimator
from proxembed.methods.forest import ForestLeaves
from proxembed.methods.variance import PCA
from proxembed.params import SEED, Param, check_params, param
from proxembed.proximity.layouts import PERPLEXITY, UMAP_NEIGHBORS, check_installed, opentsne_map, umap_model
from proxembed.tables.rows import for_solvers
from proxembed.targets.known import known_labels
from proxembed.validation import checked_features, learning

FOREST_ROWS, TSNE_FEATURES = 5000, 50
SIZE = Param(low=1, integer=True, choices=(None,))


class Rival(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, abstract=True):
    """Base of a transformer of dense or sparse rows that learns from labels of any form.

    A subclass sets ``n_components_`` in fit.
    """

    role = "rival"

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "n_components_")
        return checked_features(self, X, reset=False)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.class_traits.labels is not None
        tags.target_tags.multi_output = self.class_traits.labels == "multi"
        return tags


class ForestProximity(Rival):
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

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals import ForestProximity
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> ForestProximity(n_estimators=20).fit_transform(X, X[:, 0] > 0).shape
    (80, 2)
    """

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

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the forest and project its leaves.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : labels in any form (classes, indicator, sets); rows with unknown labels are left out, with a
            warning; where every row has one, an unknown cell counts as the mean of its label

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y, cells=True)
            if X.shape[0] < 2:
                raise ValueError(f"ForestProximity needs at least 2 rows; got {X.shape[0]} sample.")
            random = check_random_state(self.random_state)
            chosen = np.sort(random.permutation(X.shape[0])[: self.max_rows])
            leaves = ForestLeaves(
                PCA(),
                rows="oob",
                n_components=2 if self.n_components is None else self.n_components,
                n_estimators=self.n_estimators,
                min_samples_leaf=min(self.min_samples_leaf, max(1, len(chosen) // 5)),
                random_state=random.randint(2**31 - 1),
            )
            self.leaves_ = leaves.fit(X[chosen], labels.take(chosen).with_means())
            self.n_components_ = leaves.n_components_
        return self

    def transform(self, X: Any) -> Any:
        """Embed rows: by out-of-bag trees for rows identical to a training row, by all trees for others.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, n_components_)
        """
        return np.asarray(self.leaves_.transform(self._new_rows(X)), dtype=np.float64)


class UMAP(Rival, labels=None):
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

    Examples
    --------
    >>> from proxembed.evaluate.rivals import UMAP
    >>> UMAP(5).n_neighbors
    15
    """

    n_components: int | None = param(default=None, like=SIZE, kw_only=False, doc="Components; None: 2.")
    n_neighbors: int = param(
        default=UMAP_NEIGHBORS, low=2, integer=True, doc="Neighbours; all other rows when there are fewer."
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the positions.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the rows. X: (n, d) array or sparse matrix; y: labels in any form, or ignored. Returns self."""
        self.fit_transform(X, y)
        return self

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
    """Supervised UMAP of umap-learn: a neighbour graph of the features crossed with one of the labels.

    Classes are compared as categories, label sets by the Jaccard distance. Training rows keep the places that UMAP gave
    them using their labels, so judge the map by held-out rows only. [mcinnes2018umap]

    Attributes
    ----------
    umap_ : umap.UMAP
    n_components_ : int

    Raises
    ------
    ImportError
        umap-learn is not installed.

    Examples
    --------
    >>> from proxembed.evaluate.rivals import SupervisedUMAP
    >>> SupervisedUMAP(5).n_neighbors
    15
    """

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Place the rows and return their places, (n, n_components_); rows with unknown labels are placed as new."""
        self._check_installed()
        with learning(self):
            X = checked_features(self, X, reset=True)
            known, labels = known_labels(self, X, y)
            target = labels.Y.toarray()
            if labels.one_hot:
                Z = self._place(known, target.argmax(axis=1), target_metric="categorical")
            else:
                Z = self._place(known, target, target_metric="jaccard")
            return Z if known.shape[0] == X.shape[0] else self.transform(X)


class TSNE(Rival, labels=None):
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

    Examples
    --------
    >>> from proxembed.evaluate.rivals import TSNE
    >>> TSNE().perplexity
    30
    """

    n_components: int | None = param(
        default=None, low=1, high=2, integer=True, choices=(None,), kw_only=False, doc="Components, 1 or 2; None: 2."
    )
    perplexity: float = param(default=PERPLEXITY, above=1, doc="Perplexity, bounded by a third of the rows.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the positions.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the rows. X: (n, d) array or sparse matrix; y is ignored. Returns self."""
        self.fit_transform(X)
        return self

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


class NCA(Rival, labels="single"):
    """Neighbourhood components analysis of scikit-learn: the map of largest leave-one-out accuracy of soft neighbours.

    scikit-learn's NCA, for one class per row. Sparse features become dense, within 2 GiB. [goldberger2004nca]

    Attributes
    ----------
    nca_ : sklearn.neighbors.NeighborhoodComponentsAnalysis
    n_components_, n_iter_ : int

    Raises
    ------
    ValueError
        Rows carry several labels or none, more components than features, or dense features above 2 GiB.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals import NCA
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> NCA(1).fit_transform(X, X[:, 0] > 0).shape
    (60, 1)
    """

    n_components: int | None = param(default=None, like=SIZE, kw_only=False, doc="Components; None: 2.")
    max_iter: int = param(default=50, low=1, integer=True, doc="Largest number of optimisation steps.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the start.")

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the map. X: (n, d) array or sparse matrix; y: one class per row. Returns self."""
        from sklearn.neighbors import NeighborhoodComponentsAnalysis

        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y)
            if not labels.one_hot:
                raise ValueError("NCA takes one class per row; y has rows with several labels or none.")
            k = min(2, X.shape[1]) if self.n_components is None else self.n_components
            if k > X.shape[1]:
                raise ValueError(f"n_components={k} must be from 1 to the number of features ({X.shape[1]}).")
            start = "pca" if min(X.shape) >= k else "identity"
            self.nca_ = NeighborhoodComponentsAnalysis(
                k, init=start, max_iter=self.max_iter, random_state=self.random_state
            ).fit(self._dense(X), labels.Y.toarray().argmax(axis=1))
            self.n_components_, self.n_iter_ = k, self.nca_.n_iter_
        return self

    def _dense(self, X: Any) -> Any:
        if sp.issparse(X):
            guard_dense(X.shape, "The dense X of NCA", itemsize=X.dtype.itemsize)
            return X.toarray()
        return X

    def transform(self, X: Any) -> Any:
        """Embed rows. X: (m, d) array or sparse matrix. Returns (m, n_components_)."""
        X = self._new_rows(X)
        return self.nca_.transform(self._dense(X))
