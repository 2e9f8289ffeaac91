"""LocalAffinity: exp(-d_ij^2 / (s_i s_j)) between all rows of a class, given by tiles.

In: the rows of a class and the scale of each. Out: a function from slices of rows and columns to this part of the
affinities.
[zelnikmanor2004scaling]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..algebra.parallel import in_threads, one_pool
from .neighbors import nearest

FEW, ROWS = 4096, 256
NARROW = 1e-3
COINCIDE = 64 * np.finfo(float).eps


class LocalAffinity:
    """The affinities of the rows of X with local scales s; pairs of rows at no distance have affinity 1, other pairs of
    a row with s = 0 have 0.

    Examples
    --------
    >>> tile = LocalAffinity(np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 1.0, 2.0]))
    >>> -np.log(tile(slice(0, 2), slice(0, 3)))
    array([[-0. ,  1. ,  4.5],
           [ 1. , -0. ,  2. ]])
    """

    def __init__(self, X: Any, scale: np.ndarray):
        X = _centred(X)
        self.squares = _squares(X)
        self.scale = np.asarray(scale, dtype=np.float64)
        self.narrow = bool(np.any(self.scale <= NARROW * np.sqrt(self.squares.max(initial=0.0))))
        self.X = X if self.narrow else self._over_scale(X)

    def _over_scale(self, X: Any) -> Any:
        """Rows over their scale; dense ones with two columns more, so that one product gives the exponent."""
        if sp.issparse(X):
            return sp.csr_array(sp.diags_array(np.sqrt(2.0) / self.scale) @ X)
        return np.column_stack([X * (np.sqrt(2.0) / self.scale)[:, None], self.squares / self.scale, 1.0 / self.scale])

    def __call__(self, rows: slice, columns: slice) -> np.ndarray:
        if self.narrow:
            return self._careful(rows, columns)
        if sp.issparse(self.X):
            exponent = (self.X[rows] @ self.X[columns].T).toarray()
            exponent -= np.outer(self.squares[rows] / self.scale[rows], 1.0 / self.scale[columns])
            exponent -= np.outer(1.0 / self.scale[rows], self.squares[columns] / self.scale[columns])
        else:
            near = self.X[rows].copy()
            near[:, [-2, -1]] = -near[:, [-1, -2]]
            exponent = near @ self.X[columns].T
        return np.exp(exponent, out=exponent)

    def _careful(self, rows: slice, columns: slice) -> np.ndarray:
        """The same where some scale is so small that rounding in d^2 would count."""
        d2 = squared_distances(self.X, self.squares, rows, columns)
        product = np.outer(self.scale[rows], self.scale[columns])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            exponent = -d2 / product
        exponent[d2 == 0.0] = 0.0
        return np.exp(exponent, out=exponent)


def class_scales(X: Any, classes: Sequence[np.ndarray], K: int) -> list[np.ndarray]:
    """For every class (an index of rows) the distance of each row to its K-th nearest other row of the class, or to the
    last; ones for a class of one row.

    Examples
    --------
    >>> class_scales(np.array([[0.0], [1.0], [3.0], [9.0]]), [np.array([0, 1, 2]), np.array([3])], 1)
    [array([1., 1., 2.]), array([1.])]
    """
    scales = [np.ones(len(index)) for index in classes]
    tasks = []
    for index, scale in zip(classes, scales, strict=True):
        most = min(K, len(index) - 1)
        if len(index) > FEW:
            scale[:] = nearest(X[index], most).distance[:, -1]
        elif most > 0:
            rows = _centred(X[index])
            sides = (rows, _squares(rows))
            parts = range(0, len(index), ROWS)
            tasks += [(sides, slice(start, min(start + ROWS, len(index))), most, scale) for start in parts]

    def work(chosen: slice) -> None:
        for (rows, squares), part, most, scale in tasks[chosen]:
            d2 = rows[part] @ rows.T
            d2 = d2.toarray() if sp.issparse(d2) else d2
            d2 *= -2.0
            d2 += squares
            d2[np.arange(len(d2)), np.arange(part.start, part.stop)] = -np.inf
            d2.partition(most, axis=1)
            found = d2[:, most] + squares[part]
            scale[part] = np.sqrt(np.where(found > 2 * COINCIDE * squares[part], found, 0.0))

    with one_pool:
        in_threads(work, len(tasks), 1)
    return scales


def squared_distances(X: Any, squares: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
    """Squared distances of some rows from others; 0 where only rounding is left of them."""
    d2 = X[rows] @ X[columns].T
    d2 = d2.toarray() if sp.issparse(d2) else d2
    level = squares[rows, None] + squares[columns]
    d2 *= -2.0
    d2 += level
    level *= COINCIDE
    d2[d2 <= level] = 0.0
    return d2


def _centred(X: Any) -> Any:
    """float64 rows, dense ones about their mean: distances stay."""
    X = X.astype(np.float64)
    if not sp.issparse(X):
        X -= X.mean(axis=0)
    return X


def _squares(X: Any) -> np.ndarray:
    """Squared lengths of float64 rows."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
