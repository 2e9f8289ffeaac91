"""The neighbour read-out: the nearest training rows by one metric for any number of components, and what they vote.

Coordinates are centred by the training mean, one constant coordinate s (the root mean square of all centred training
entries) is appended, and rows are compared by cosine. With many coordinates this is nearly the centred cosine; with
one it orders rows by the angle atan(z / s), where a plain cosine knows nothing but a sign.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances

from proxembed.targets.values import dense_labels, sparse_labels

MOST_TIED = 1000
DECIMALS = 12
MOST_LOOKED_AT = 10  # pairs per neighbour that are compared again in float64
STRETCH = 32  # columns whose largest entry is looked at first


class _Rows:
    """Rows about the training mean with the constant coordinate; sparse rows keep a rank-one correction."""

    def __init__(self, Z: Any, mean: np.ndarray, constant: float | None = None):
        self.mean, self.sparse = mean, sp.issparse(Z)
        if self.sparse:
            self.Z, self.along = sp.csr_array(Z, dtype=np.float64), Z @ mean
            squares = self.Z.power(2).sum(axis=1)
            size, squares = squares + mean @ mean, np.maximum(squares - 2 * self.along + mean @ mean, 0.0)
        else:
            self.Z = np.asarray(Z, dtype=np.float64) - mean
            squares = (self.Z**2).sum(axis=1)
            size = squares + mean @ mean
        squares[squares <= (1e-14 if self.sparse else 1e-24) * size] = 0.0  # at the mean up to rounding
        self.constant = float(np.sqrt(squares.mean() / len(mean))) if constant is None else constant
        norms = np.sqrt(squares + self.constant**2)
        self.norms = np.where(norms > 0, norms, np.inf)

    def cosine(self, other: "_Rows") -> np.ndarray:
        """Cosines between the rows and others, (m, n)."""
        if not self.sparse:
            return self.unit @ other.unit.T
        products = (self.Z @ other.Z.T).toarray()
        products += self.mean @ self.mean + self.constant**2 - other.along
        products -= self.along[:, None]
        products /= self.norms[:, None]
        products /= other.norms
        return products

    @cached_property
    def unit(self) -> np.ndarray:
        """Dense rows with the constant coordinate, at length 1 (0 where all is 0)."""
        return np.column_stack([self.Z, np.full(len(self.Z), self.constant)]) / self.norms[:, None]

    @cached_property
    def half(self) -> np.ndarray:
        """The same in float32."""
        return self.unit.astype(np.float32)

    def nearness(self, other: "_Rows") -> np.ndarray:
        """A decreasing function of the angles between the rows and others; one coordinate has them exactly."""
        if self.sparse or self.Z.shape[1] > 1 or self.constant == 0:
            return self.cosine(other)
        return -np.abs(np.arctan(self.Z / self.constant) - np.arctan(other.Z / other.constant).T)


class _EuclideanRows(_Rows):
    """Rows that are compared by their distances."""

    def nearness(self, other: _Rows) -> np.ndarray:
        """Minus the squared distances, in units of the mean square of an entry."""
        return -euclidean_distances(self.Z, other.Z, squared=True) / (self.constant**2 or 1.0)


METRICS = {"cosine": _Rows, "euclidean": _EuclideanRows}


def _near(nearness: np.ndarray, k: int, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of entries among which each row's k largest are, and all that equal the last of them."""
    n = nearness.shape[1]
    starts = np.arange(0, n, max(1, min(STRETCH, n // (4 * k))))
    most = np.maximum.reduceat(nearness, starts, axis=1)
    least = np.partition(most, len(starts) - k, axis=1)[:, -k, None]
    rows, columns = np.nonzero(nearness >= least - np.asarray(2 * error, dtype=least.dtype))
    return rows, columns


def _nearest(rows: "_Rows", train: "_Rows", k: int, own: np.ndarray | None = None) -> sp.csr_array:
    """Weights of the k nearest rows, without the row ``own`` of each; dense ones are looked for in float32, and
    compared in float64."""
    m, n = len(rows.norms), len(train.norms)
    if type(rows) is _Rows and not rows.sparse and rows.mean.size > 1:
        row, column = _near(_without(rows.half @ train.half.T, own), k, (rows.mean.size + 4) * 2.0**-23)
        if len(row) <= MOST_LOOKED_AT * m * k:
            value = np.einsum("ij,ij->i", rows.unit[row], train.unit[column])
            return _shared(row, column, np.round(value, DECIMALS), (m, n), k)
    nearness = _without(rows.nearness(train), own)
    row, column = _near(nearness, k, 10.0**-DECIMALS)
    return _shared(row, column, np.round(nearness[row, column], DECIMALS), (m, n), k)


def _without(nearness: np.ndarray, own: np.ndarray | None) -> np.ndarray:
    """Nearness with no row near itself, in place; -1 for a row that is not there."""
    if own is not None:
        rows = np.flatnonzero(own >= 0)
        nearness[rows, own[rows]] = -np.inf
    return nearness


def _shared(row: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, int], k: int) -> sp.csr_array:
    """Weights of the k largest values of each row, 1 / k each; those equal to the last one share its places."""
    m = shape[0]
    starts = np.searchsorted(row, np.arange(m + 1))
    cut = _kth_largest(value, starts, k)[row]
    above, level = value > cut, value == cut
    places, tied = k - np.bincount(row[above], minlength=m), np.bincount(row[level], minlength=m)
    for each in np.flatnonzero(tied > MOST_TIED):
        among = starts[each] + np.flatnonzero(level[starts[each] : starts[each + 1]])
        level[among] = False
        level[among[np.linspace(0, len(among) - 1, MOST_TIED).astype(int)]] = True
        tied[each] = MOST_TIED
    kept = above | level
    row, column = row[kept], column[kept]
    weights = np.where(level[kept], (places / tied)[row], 1.0) / k
    return sp.csr_array((weights, (row, column)), shape=shape)


def _kth_largest(value: np.ndarray, starts: np.ndarray, k: int) -> np.ndarray:
    """The k-th largest value of each stretch ``value[starts[i] : starts[i + 1]]``: its distinct values from the top,
    until k entries have them. Many ties take few passes."""
    rest, sizes = value.copy(), np.diff(starts)
    places, found = np.full(len(sizes), k), np.empty(len(sizes))
    while (open_ones := places > 0).any():
        top = np.maximum.reduceat(rest, starts[:-1])
        found[open_ones] = top[open_ones]
        at_top = rest == np.repeat(top, sizes)
        places -= np.add.reduceat(at_top, starts[:-1], dtype=np.intp)
        rest[at_top] = -np.inf
    return found


def neighbor_weights(
    Z: Any, Z_train: Any, n_neighbors: int = 10, *, block_bytes: int = 2**26, metric: str = "cosine"
) -> sp.csr_array:
    """Weights of the nearest training rows by the cosine of the centred rows with one constant coordinate.

    Exact. Nearness is rounded to 12 decimals; training rows that tie at the last place share it, so that the result
    does not depend on the order of the rows (of more than 1,000 that tie, 1,000 evenly spaced ones do). Sparse input
    is centred by a rank-one correction and never densified.

    Parameters
    ----------
    Z : array or sparse array of shape (m, k)
        Rows whose neighbours are searched.
    Z_train : array or sparse array of shape (n, k)
        Training rows.
    n_neighbors : int, default=10
        Neighbours per row; all training rows when there are fewer.
    block_bytes : int, default=64 MiB
        Memory of one block of nearness.
    metric : {"cosine", "euclidean"}, default="cosine"
        That cosine, or the distance, as of embeddings whose distances are those of predictions.

    Returns
    -------
    sparse array of shape (m, n)
        Each row sums to 1.

    Raises
    ------
    ValueError
        Widths differ, or ``n_neighbors`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures import neighbor_weights
    >>> train = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [-1.0, -2.0]])
    >>> neighbor_weights(np.array([[2.0, 0.1]]), train, 2).toarray().tolist()
    [[0.5, 0.25, 0.25, 0.0]]
    """
    Z, Z_train, mean = _checked(Z, Z_train, n_neighbors)
    kind = METRICS[metric]
    train = kind(Z_train, mean)
    step = max(1, block_bytes // (8 * Z_train.shape[0]))
    blocks = [
        _nearest(kind(Z[start : start + step], mean, train.constant), train, min(n_neighbors, Z_train.shape[0]))
        for start in range(0, Z.shape[0], step)
    ]
    return sp.csr_array(sp.vstack(blocks)) if blocks else sp.csr_array((0, Z_train.shape[0]))


def new_neighbor_weights(
    Z: Any, Z_train: Any, n_neighbors: int = 10, *, block_bytes: int = 2**26, metric: str = "cosine"
) -> sp.csr_array:
    """Weights of the nearest other rows of Z, by the metric of ``neighbor_weights``, which the training rows set.

    How near new rows are to each other: a supervised embedding places a training row partly by its own labels, a new
    row by its features alone.

    Parameters
    ----------
    Z, Z_train, n_neighbors, block_bytes, metric : as of ``neighbor_weights``; all other rows of Z when these are fewer

    Returns
    -------
    sparse array of shape (m, m)
        Each row sums to 1; its diagonal is 0.

    Raises
    ------
    ValueError
        Widths differ, ``n_neighbors`` is below 1, or Z has one row alone.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures import new_neighbor_weights
    >>> rows = np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    >>> new_neighbor_weights(rows, np.eye(2), 1).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if Z.shape[0] < 2:
        raise ValueError(f"Z has {Z.shape[0]} row, which has no other row near it; give at least 2.")
    Z, Z_train, mean = _checked(Z, Z_train, n_neighbors)
    kind, m = METRICS[metric], Z.shape[0]
    constant = kind(Z_train, mean).constant
    rows, step = kind(Z, mean, constant), max(1, block_bytes // (8 * m))
    parts = (np.arange(start, min(start + step, m)) for start in range(0, m, step))
    blocks = [_nearest(kind(Z[own], mean, constant), rows, min(n_neighbors, m - 1), own) for own in parts]
    return sp.csr_array(sp.vstack(blocks))


def left_out_neighbor_weights(
    Z: Any,
    Z_train: Any,
    rows: np.ndarray,
    among: np.ndarray,
    n_neighbors: int,
    metric: str,
) -> sp.csr_array:
    """``neighbor_weights`` of rows Z that stand for the training rows of the numbers ``rows`` (m,), each without that
    row among its neighbours: where a training row would be found if it were a new row. The neighbours are some of the
    training rows, of the ascending numbers ``among`` (p,). Returns (m, p)."""
    Z, Z_train, mean = _checked(Z, Z_train, n_neighbors)
    kind, constant = METRICS[metric], METRICS[metric](Z_train, mean).constant
    train, step, k = kind(Z_train[among], mean, constant), max(1, 2**26 // (8 * len(among))), n_neighbors
    own = np.where(np.isin(rows, among), np.searchsorted(among, rows), -1)
    parts = (slice(start, start + step) for start in range(0, Z.shape[0], step))
    found = [_nearest(kind(Z[part], mean, constant), train, min(k, len(among) - 1), own[part]) for part in parts]
    return sp.csr_array(sp.vstack(found))


def kept_neighbors(X: Any, X_train: Any, Z: Any, Z_train: Any, n_neighbors: int = 10) -> float:
    """The share of the rows' nearest training rows in X that are among their nearest ones on a map, by Euclidean
    distance; 1 on a map that keeps every neighbourhood, and n_neighbors / n on one at random.  [lee2009quality]

    Parameters
    ----------
    X, X_train : arrays or sparse arrays of shapes (m, d) and (n, d)
        Features of the rows and of the training rows, scaled as distances are to be.
    Z, Z_train : arrays of shapes (m, k) and (n, k)
        Places of the same rows.
    n_neighbors : int, default=10
        Neighbours per row; all training rows when there are fewer. Rows that tie at the last place share it.

    Returns
    -------
    float
        nan without rows.

    Raises
    ------
    ValueError
        Widths differ, or ``n_neighbors`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures import kept_neighbors
    >>> train = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 5.0]])
    >>> kept_neighbors(train + 0.1, train, train[:, 1:] + 0.1, train[:, 1:], 2)  # the first two coincide on this map
    0.9166666666666666
    """
    if not X.shape[0]:
        return float("nan")
    return kept_of(neighbor_weights(X, X_train, n_neighbors, metric="euclidean"), Z, Z_train, n_neighbors)


def kept_of(near: Any, Z: Any, Z_train: Any, n_neighbors: int) -> float:
    """``kept_neighbors`` of rows whose weights ``near`` (m, n) in X are known; nan without rows."""
    if not near.shape[0]:
        return float("nan")
    mapped = neighbor_weights(Z, Z_train, n_neighbors, metric="euclidean")
    return float(near.multiply(mapped).sum() * min(n_neighbors, near.shape[1]) / near.shape[0])


def cosine_frame(Z_train: Any) -> tuple[np.ndarray, float]:
    """What makes plain cosines those of ``neighbor_weights``: the mean of the training rows, which is subtracted from
    each row, and the constant, which is appended to it."""
    _, Z_train, mean = _checked(Z_train, Z_train, 1)
    return mean, _Rows(Z_train, mean).constant


def framed(Z: Any, mean: Any, constant: float) -> np.ndarray:
    """Rows (m, k + 1) whose plain cosines are those of ``neighbor_weights``, by the frame of the training rows."""
    return np.column_stack([np.asarray(Z) - np.asarray(mean), np.full(len(Z), constant)])


def _checked(Z: Any, Z_train: Any, n_neighbors: int) -> tuple[Any, Any, np.ndarray]:
    """Both, dense where they have one column, and the mean of the training rows."""
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be at least 1.")
    if Z.shape[1] != Z_train.shape[1]:
        raise ValueError(f"Z has {Z.shape[1]} columns and Z_train {Z_train.shape[1]}; embed both with the same model.")
    if sp.issparse(Z) and Z.shape[1] == 1:
        Z, Z_train = Z.toarray(), Z_train.toarray()
    return Z, Z_train, np.asarray(Z_train.mean(axis=0), dtype=np.float64).ravel()


def neighbor_scores(weights: Any, Y_train: Any, known: np.ndarray | None = None) -> Any:
    """Score each label by the share of a row's neighbours that carry it: a sparse array (m, c), or a dense one where
    cells are unknown."""
    if known is None:
        shares = sp.csr_array(sp.csr_array(weights) @ sparse_labels(Y_train).astype(np.float64))
        shares.data = np.round(shares.data, DECIMALS)
        return shares
    Y = dense_labels(Y_train).astype(np.float64)
    seen, mean = weights @ known.astype(np.float64), Y.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.round(np.where(seen > 0, weights @ Y / np.where(seen > 0, seen, 1.0), mean), DECIMALS)


def hub_share(weights: Any, n_neighbors: int) -> float:
    """The largest share of rows that list one and the same training row among their neighbours."""
    return float(weights.sum(axis=0).max() * min(n_neighbors, weights.shape[1]) / weights.shape[0])
