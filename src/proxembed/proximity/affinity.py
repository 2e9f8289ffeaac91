"""LocalAffinity: exp(-d_ij^2 / (s_i s_j)) between all rows of a class, given by tiles.

In: the rows of a class and the scale of each. Out: a function from slices of rows and columns to this part of the
affinities.
[zelnikmanor2004scaling]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.blas import in_threads, one_pool
from proxembed.algebra.arrays.class_blocks import in_groups
from proxembed.algebra.arrays.matrix import row_squares

from .distances import canonical, pair_distances
from .duplicates import stand_in
from .neighbors import nearest

FEW, ROWS = 4096, 256
NEAR = 1e-6  # squared distances this small beside squared lengths are taken from the rows themselves


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
        rows = _centred(X)
        self.squares = row_squares(rows)
        self.scale = np.asarray(scale, dtype=np.float64)
        self.narrow = bool(np.any(self.scale <= np.sqrt(NEAR * self.squares.max(initial=0.0))))
        self.X: Any = Distances(X, rows, self.squares) if self.narrow else self._over_scale(rows)

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
        d2 = self.X(rows, columns)
        product = np.outer(self.scale[rows], self.scale[columns])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            exponent = -d2 / product
        exponent[d2 == 0.0] = 0.0
        return np.exp(exponent, out=exponent)


class Distances:
    """Squared distances of rows by tiles; those of near rows as a search finds them, 0 for identical rows alone."""

    def __init__(self, X: Any, rows: Any, squares: np.ndarray):
        self.X, self.rows, self.squares = canonical(X), rows, squares
        everyone = np.arange(X.shape[0])
        self.kind = stand_in(self.X, everyone, np.zeros_like(everyone), 0)

    def __call__(self, rows: slice, columns: slice) -> np.ndarray:
        d2 = self.rows[rows] @ self.rows[columns].T
        d2 = d2.toarray() if sp.issparse(d2) else d2
        level = self.squares[rows, None] + self.squares[columns]
        d2 *= -2.0
        d2 += level
        level *= NEAR
        i, j = np.nonzero(d2 <= level)
        own, other = i + (rows.start or 0), j + (columns.start or 0)
        same = self.kind[own] == self.kind[other]
        d2[i[same], j[same]] = 0.0
        far = ~same
        d2[i[far], j[far]] = pair_distances(self.X, own[far], self.X, other[far]) ** 2
        return d2


def class_scales(X: Any, classes: Sequence[np.ndarray], K: int) -> list[np.ndarray]:
    """For every class (an index of rows) the distance of each row to its K-th nearest other row of the class, or to the
    last; ones for a class of one row.

    Examples
    --------
    >>> class_scales(np.array([[0.0], [1.0], [3.0], [9.0]]), [np.array([0, 1, 2]), np.array([3])], 1)
    [array([1., 1., 2.]), array([1.])]
    """
    scales = [np.ones(len(index)) for index in classes]
    searched = [k for k, index in enumerate(classes) if len(index) > FEW]
    with one_pool:
        for group in _together(classes):
            searched += _scales_by_tiles(X, classes, group, K, scales)
    for k in searched:
        scales[k][:] = nearest(X[classes[k]], min(K, len(classes[k]) - 1)).distance[:, -1]
    return scales


def _together(classes: Sequence[np.ndarray]) -> Iterator[list[int]]:
    """The classes of two to ``FEW`` rows, together about ``FEW`` rows a time."""
    return in_groups({k: len(index) for k, index in enumerate(classes) if 1 < len(index) <= FEW}, FEW)


def _scales_by_tiles(X: Any, classes: Sequence[np.ndarray], group: list[int], K: int, scales: list[Any]) -> set[int]:
    """Fill in the scales of some classes by blocks of their distances; the classes with rows too near for that."""
    tasks: list[tuple[Any, ...]] = []
    near: set[int] = set()
    for k in group:
        rows = _centred(X[classes[k]])
        sides = (rows, row_squares(rows))
        tasks += [(k, sides, slice(s, min(s + ROWS, len(classes[k])))) for s in range(0, len(classes[k]), ROWS)]

    def work(chosen: slice) -> None:
        for k, (rows, squares), part in tasks[chosen]:
            d2 = rows[part] @ rows.T
            d2 = d2.toarray() if sp.issparse(d2) else d2
            d2 *= -2.0
            d2 += squares
            d2[np.arange(len(d2)), np.arange(part.start, part.stop)] = -np.inf
            most = min(K, len(squares) - 1)
            d2.partition(most, axis=1)
            found = d2[:, most] + squares[part]
            if np.all(found > 2 * NEAR * squares[part]):
                scales[k][part] = np.sqrt(found)
            else:
                near.add(k)

    in_threads(work, len(tasks), 1)
    return near


def _centred(X: Any) -> Any:
    """float64 rows, dense ones about their mean: distances stay."""
    X = X.astype(np.float64)
    if not sp.issparse(X):
        X -= X.mean(axis=0)
    return X
