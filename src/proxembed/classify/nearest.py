"""The nearest training rows, exactly, equal distances in the order of row number."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from proxembed.algebra.arrays.matrix import divide_rows, float_matrix, row_norms, row_squares
from proxembed.proximity.distances import checked

NOISE = 1e-12
BLOCK_ENTRIES = 2**22


def nearest_rows(X: Any, X_train: Any, n_neighbors: int, *, metric: str = "euclidean", own: bool = False) -> np.ndarray:
    """Row numbers of the nearest training rows, nearest first; ties go to the lowest number.

    The search is scikit-learn's exact one; where equal distances meet at the last place, it is widened until the tie
    is whole. Squared distances count as equal within 1e-12 of the row's own squared length (of dense rows: about the
    training mean). Cosine is searched as the distance of rows of unit length.

    Parameters
    ----------
    X : array or sparse array of shape (m, d)
        Rows whose neighbours are searched.
    X_train : array or sparse array of shape (n, d)
    n_neighbors : int
        At most the number of training rows that can be neighbours.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Cosine is that of the rows as they are; a row of zeros has distance 1 to every row.
    own : bool, default=False
        X is X_train, and no row is its own neighbour.

    Returns
    -------
    int array of shape (m, n_neighbors)

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify.nearest import nearest_rows
    >>> nearest_rows(np.array([[1.0]]), np.array([[5.0], [2.0], [0.0]]), 2).tolist()
    [[1, 2]]
    """
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
