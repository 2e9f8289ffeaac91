"""The neighbour read-out: the nearest training rows by cosine, and the label scores that they vote."""

import numpy as np
import scipy.sparse as sp

from proxembed.targets.values import dense_labels


class _Directions:
    """Rows as unit vectors about a mean: dense rows are centred, sparse rows keep a rank-one correction."""

    def __init__(self, Z, mean: np.ndarray):
        self.mean, self.sparse = mean, sp.issparse(Z)
        if self.sparse:
            self.Z, self.along = sp.csr_array(Z, dtype=np.float64), Z @ mean
            squares = self.Z.power(2).sum(axis=1)
            norms = np.sqrt(np.maximum(squares - 2 * self.along + mean @ mean, 0.0))
            size = np.sqrt(squares + mean @ mean)
        else:
            self.Z = np.asarray(Z, dtype=np.float64) - mean
            norms = np.linalg.norm(self.Z, axis=1)
            size = np.linalg.norm(self.Z + mean, axis=1)
        self.norms = np.where(norms > (1e-7 if self.sparse else 1e-12) * size, norms, np.inf)

    def cosine(self, other: "_Directions") -> np.ndarray:
        products = self.Z @ other.Z.T
        if self.sparse:
            products = products.toarray() - self.along[:, None] - other.along + self.mean @ self.mean
        return products / self.norms[:, None] / other.norms


def _largest(similarity: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest entries of each row, largest first, ties by column number."""
    cut = np.partition(similarity, similarity.shape[1] - k, axis=1)[:, -k]
    above = similarity > cut[:, None]
    level = similarity == cut[:, None]
    room = k - above.sum(axis=1)
    keep = above | (level & (np.cumsum(level, axis=1) <= room[:, None]))
    columns = np.nonzero(keep)[1].reshape(len(similarity), k)
    order = np.argsort(-np.take_along_axis(similarity, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def cosine_neighbors(Z, Z_train, n_neighbors: int = 10, *, block_bytes: int = 2**26) -> np.ndarray:
    """Nearest training rows by cosine after subtracting the training mean; exact, ties by row number.

    Similarities are rounded to 12 decimals, so that rows equal up to rounding tie. A row at the mean has similarity 0
    to every row. Sparse input is centred by a rank-one correction and never densified.

    Parameters
    ----------
    Z : array or sparse array of shape (m, k)
        Rows whose neighbours are searched.
    Z_train : array or sparse array of shape (n, k)
        Training rows.
    n_neighbors : int, default=10
        Neighbours a row; all training rows when there are fewer.
    block_bytes : int, default=64 MiB
        Memory of one block of similarities.

    Returns
    -------
    int array of shape (m, min(n_neighbors, n))
        Training row numbers, nearest first.

    Raises
    ------
    ValueError
        Widths differ, or ``n_neighbors`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.neighbors import cosine_neighbors
    >>> train = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    >>> cosine_neighbors(np.array([[2.0, 0.1]]), train, 2).tolist()
    [[0, 1]]
    """
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be at least 1.")
    if Z.shape[1] != Z_train.shape[1]:
        raise ValueError(f"Z has {Z.shape[1]} columns and Z_train {Z_train.shape[1]}; embed both with the same model.")
    n, k = Z_train.shape[0], min(n_neighbors, Z_train.shape[0])
    mean = np.asarray(Z_train.mean(axis=0)).ravel()
    train = _Directions(Z_train, mean)
    step = max(1, block_bytes // (8 * n))
    found = np.empty((Z.shape[0], k), dtype=np.intp)
    for start in range(0, Z.shape[0], step):
        cosine = _Directions(Z[start : start + step], mean).cosine(train)
        found[start : start + step] = _largest(np.round(cosine, 12), k)
    return found


def neighbor_scores(neighbors, Y_train) -> np.ndarray:
    """Score each label by the share of a row's neighbours that carry it.

    Parameters
    ----------
    neighbors : int array of shape (m, k)
        Training row numbers.
    Y_train : array or sparse array of shape (n, c)
        Labels of the training rows, 0 or 1.

    Returns
    -------
    array of shape (m, c)
        Values in 0, 1/k, ..., 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.neighbors import neighbor_scores
    >>> neighbor_scores(np.array([[0, 2]]), np.array([[1, 0], [0, 1], [1, 1]])).tolist()
    [[1.0, 0.5]]
    """
    Y_train, neighbors = dense_labels(Y_train), np.asarray(neighbors)
    counts = np.zeros((len(neighbors), Y_train.shape[1]))
    for column in neighbors.T:
        counts += Y_train[column]
    return counts / neighbors.shape[1]
