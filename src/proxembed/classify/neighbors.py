"""Nearest-neighbour classifiers: k-NN with a majority per label, and ML-kNN."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from proxembed.algebra.arrays.matrix import divide_rows, float_matrix, row_norms, row_squares
from proxembed.params import param
from proxembed.proximity.distances import checked
from proxembed.targets.labels import LabelMatrix

from .label_classifier import UnweightedClassifier

NOISE = 1e-12
BLOCK_ENTRIES = 2**22


def nearest_rows(X: Any, X_train: Any, n_neighbors: int, *, metric: str = "euclidean", own: bool = False) -> np.ndarray:
    """Row numbers of the nearest training rows, nearest first; ties go to the lowest number. The search is
    scikit-learn's exact one; where equal distances meet at the last place, it is widened until the tie is whole.
    Squared distances count as equal within 1e-12 of the row's own squared length (of dense rows: about the training
    mean). Cosine is searched as the distance of rows of unit length."""
    X, X_train = _prepared(X, X_train, metric)
    index = NearestNeighbors().fit(X_train)
    limit = X_train.shape[0] - own
    noise = NOISE * row_squares(X)
    found = np.empty((X.shape[0], n_neighbors), dtype=np.intp)
    rows, width = np.arange(X.shape[0]), min(n_neighbors + 1, limit)
    while len(rows):
        tied = []
        step = max(1, BLOCK_ENTRIES // (width + own))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            with np.errstate(over="ignore", invalid="ignore"):
                distance, columns = index.kneighbors(X[part], width + own)
            checked(distance)
            if own:
                distance, columns = _without(part, distance, columns)
            level, columns = _levelled(distance, columns, noise[part])
            found[part] = columns[:, :n_neighbors]
            if width < limit:
                tied.append(part[level[:, -1] == level[:, n_neighbors - 1]])
        rows, width = np.concatenate(tied) if tied else rows[:0], min(4 * width, limit)
    return found


def _prepared(X: Any, X_train: Any, metric: str) -> tuple[Any, Any]:
    """Float64 rows; dense ones about the training mean, where distances lose least."""
    X, X_train = (part.astype(np.float64) for part in (float_matrix(X), float_matrix(X_train)))
    if metric == "cosine":
        X, X_train = _directions(X, 0), _directions(X_train, 1)
    if sp.issparse(X) or sp.issparse(X_train):
        return sp.csr_array(X), sp.csr_array(X_train)
    mean = X_train.mean(axis=0)
    return X - mean, X_train - mean


def _directions(X: Any, column: int) -> Any:
    """Rows of unit length and two further columns, in one of which a row of zeros has its 1: at right angles to all."""
    norms = row_norms(X)
    further = np.zeros((X.shape[0], 2))
    further[norms == 0, column] = 1.0
    X = divide_rows(X, np.where(norms > 0, norms, 1.0))
    return sp.hstack([X, sp.csr_array(further)], format="csr") if sp.issparse(X) else np.hstack([X, further])


def _without(rows: np.ndarray, distance: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One column less: the row itself where it was found, else the farthest."""
    keep = np.argsort(columns == rows[:, None], axis=1, kind="stable")[:, :-1]
    return np.take_along_axis(distance, keep, axis=1), np.take_along_axis(columns, keep, axis=1)


def _levelled(distance: np.ndarray, columns: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels of equal distance (0 the nearest), and the columns in the order of level and number."""
    squares = distance**2
    slack = noise + NOISE * squares[:, -1]
    level = np.cumsum(np.diff(squares, axis=1, prepend=squares[:, :1]) > slack[:, None], axis=1)
    return level, np.take_along_axis(columns, np.lexsort((columns, level), axis=1), axis=1)


def _votes(neighbors: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """How many of a row's neighbours carry each label, (m, c)."""
    votes = np.zeros((len(neighbors), Y.shape[1]), dtype=np.intp)
    for column in neighbors.T:
        votes += Y[column]
    return votes


class _Neighbors(UnweightedClassifier, abstract=True):
    """What both share: the training rows, their labels, and scores that are probabilities less one half."""

    def _store(self, X: Any, labels: LabelMatrix, n_neighbors: int) -> None:
        self._rows, self._Y, self.n_neighbors_ = X, labels.Y.toarray().astype(bool), n_neighbors

    def _scores(self, X: Any) -> np.ndarray:
        return self._probabilities(X) - 0.5


class LabelKNN(_Neighbors):
    """k nearest neighbours: each label by the majority of the neighbours; with one, the label set of the nearest row.

    The score of a label is the share of neighbours that have it, minus one half. Equal distances are ordered by row
    number, a vote of exactly one half means "no", and equal classes are decided for the first. Rows with unknown labels
    are left out, with a warning.

    Attributes
    ----------
    n_neighbors_ : int
        Neighbours used.

    Raises
    ------
    ValueError
        ``n_neighbors`` is below 1 or ``metric`` is unknown.

    See Also
    --------
    proxembed.MLKNN : Nearest rows with prior probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify import LabelKNN
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> LabelKNN().fit(X, [{"a"}, {"a", "b"}, set()]).predict([[0.9], [4.0]]) == [{"a", "b"}, set()]
    True
    """

    n_neighbors: int = param(
        default=1, low=1, integer=True, kw_only=False, doc="Neighbours; all training rows when there are fewer."
    )
    metric: str = param(
        default="euclidean",
        choices=("euclidean", "cosine"),
        doc="Distance; cosine is that of the rows as they are, not centred.",
    )

    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        self._store(X, labels, min(int(self.n_neighbors), labels.n))

    def _probabilities(self, X: Any) -> np.ndarray:
        neighbors = nearest_rows(X, self._rows, self.n_neighbors_, metric=self.metric)
        return _votes(neighbors, self._Y) / self.n_neighbors_


class MLKNN(_Neighbors):
    """ML-kNN: for each label the posterior of having it, given how many of the K nearest rows have it. [zhang2007mlknn]

    A label is predicted if its count among the neighbours is more likely with the label than without it. Let c(i) be
    the number of neighbours of row i that have label j. The prior is P = (s + n_j) / (2s + n), and P(c = r | j) = (s +
    #{i with j: c(i) = r}) / (s (K + 1) + n_j), likewise for the rows without j. All counts are over the training rows,
    and no row is its own neighbour. The larger of the two products wins; equal ones are decided by the prior. Distances
    are Euclidean, equal ones ordered by row number; rows with unknown labels are left out, with a warning.

    Attributes
    ----------
    n_neighbors_ : int
        Neighbours used.
    prior_ : array of shape (c,)
    likelihood_ : array of shape (2, n_neighbors_ + 1, c)
        P(c = r | without the label) and P(c = r | with it).

    Raises
    ------
    ValueError
        ``n_neighbors`` is below 1, or ``smoothing`` is not a number from 1e-300 to 1e300.

    See Also
    --------
    proxembed.LabelKNN : Labels of the nearest rows.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify import MLKNN
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> Y = np.repeat([[1, 0], [0, 1]], 3, axis=0)
    >>> MLKNN(2).fit(X, Y).predict([[0.05], [5.05]]).tolist()
    [[1, 0], [0, 1]]
    """

    n_neighbors: int = param(
        default=10, low=1, integer=True, kw_only=False, doc="K; all other training rows when there are fewer."
    )
    smoothing: float = param(default=1.0, low=1e-300, high=1e300, doc="s; 1 is Laplace's rule.")

    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        s = float(self.smoothing)
        Y, n = labels.Y.toarray().astype(bool), labels.n
        if n < 2:
            raise ValueError(f"MLKNN needs at least 2 rows with known labels; got {n} sample. Label more rows.")
        K = min(int(self.n_neighbors), n - 1)
        votes = _votes(nearest_rows(X, X, K, own=True), Y)
        having = Y.sum(axis=0)
        counts = np.stack([[((votes == r) & side).sum(axis=0) for r in range(K + 1)] for side in (~Y, Y)])
        totals = np.stack([n - having, having])[:, None, :]
        self.prior_ = (s + having) / (2 * s + n)
        self.likelihood_ = (s + counts) / (s * (K + 1) + totals)
        self._store(X, labels, K)

    def _probabilities(self, X: Any) -> np.ndarray:
        votes = _votes(nearest_rows(X, self._rows, self.n_neighbors_), self._Y)
        labels = np.arange(votes.shape[1])
        without = (1 - self.prior_) * self.likelihood_[0][votes, labels]
        having = self.prior_ * self.likelihood_[1][votes, labels]
        return having / (having + without)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each label, or of each class. X: (m, d) array or sparse matrix. Returns (m, c)."""
        probabilities = self._probabilities(self._checked(X))
        if self._labels.form != "classes":
            return probabilities
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def _positive(self, scores: np.ndarray) -> np.ndarray:
        return (scores > 0) | ((scores == 0) & (self.prior_ > 0.5))
