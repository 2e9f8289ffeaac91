"""Nearest rows in few dimensions by a k-d tree, told apart from those that a tie leaves open.

In: dense rows of few columns. Out: neighbours measured exactly, and which rows must be searched by tiles because their
last neighbour is as near as the next row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from proxembed.algebra.arrays.blas import threads

from .distances import pair_distances

FEW_COLUMNS = 8
MANY_ROWS = 1000
MANY_NEIGHBORS = 64
GAP = 1e-9
WIDE = 2.0**300
LIFT = 1000
FAINT = 1e-140


def suits_tree(X: Any, K: int, metric: str) -> bool:
    """Whether a tree is faster than tiles: few columns, many rows, few neighbours."""
    return (
        metric == "euclidean"
        and not sparse.issparse(X)
        and X.shape[1] <= FEW_COLUMNS
        and X.shape[0] >= MANY_ROWS
        and K <= MANY_NEIGHBORS
    )


def tree_nearest(X: Any, Q: Any, K: int, exclude: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(index, distance, sure): the K nearest rows of X for every row of Q, itself left out where ``exclude``.

    A row is not sure where a tie, or what rounding could make one, reaches across its K-th place.
    """
    m = Q.shape[0]
    wanted = min(K + exclude + 1, X.shape[0])
    top = max(float(np.abs(X).max()), float(np.abs(Q).max(initial=0.0)))
    scale = 1.0 if 1.0 / WIDE < top < WIDE or top == 0.0 else np.ldexp(1.0, min(LIFT, -int(np.frexp(top)[1])))
    far, near = cKDTree(X * scale).query(Q * scale, wanted, workers=threads())
    far, near = far.reshape(m, wanted), near.reshape(m, wanted)
    if exclude:
        order = np.argsort(near == np.arange(m)[:, None], axis=1, kind="stable")[:, : wanted - 1]
        near, far = np.take_along_axis(near, order, axis=1), np.take_along_axis(far, order, axis=1)
    sure = np.ones(m, dtype=bool) if far.shape[1] == K else far[:, K - 1] * (1.0 + GAP) < far[:, K]
    sure &= far[:, -1] > FAINT
    near = near[:, :K]
    distance = pair_distances(Q, np.repeat(np.arange(m), K), X, near.ravel()).reshape(m, K)
    order = np.lexsort((near, distance), axis=1)
    return np.take_along_axis(near, order, axis=1).astype(np.intp), np.take_along_axis(distance, order, axis=1), sure
