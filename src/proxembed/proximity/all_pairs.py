"""AllPairs: the weights of all pairs of rows by blocks of rows, for proximities that take every pair.

In: rows and a kind of weight. Out: a function from a slice of rows to their weights with all rows; n x n is never held.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.matrix import row_blocks
from .distances import canonical, pair_distances
from .geodesic import geodesics
from .graph import full_graph
from .weights import cross_weights, local_scale, used_tau

WIDTH_ROWS = 2000


class AllPairs:
    """W of all pairs of rows over its largest entry, negative ones 0, w_ii = 0: calls with a slice give (rows, n).

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    kind : a computed weight of ``edge_weights``
    tau : float or None
        Width; None: its default on the full graph, of 2,000 rows drawn by number where there are more.
    metric : {"euclidean", "cosine"}
    paths : sparse matrix or None
        The graph along which "geodesic" measures.
    algorithm : of the search for the local scales

    Examples
    --------
    >>> AllPairs(np.array([[0.0], [1.0], [3.0]]), "alternative", 1.0)(slice(0, 2)).round(3)
    array([[0. , 0.7, 0.7],
           [0.7, 0. , 1. ]])
    """

    def __init__(
        self,
        X: Any,
        kind: str,
        tau: float | None = None,
        *,
        metric: str = "euclidean",
        paths: Any = None,
        algorithm: Any = "exact",
    ):
        self.X, self.kind, self.metric, self.paths = X, kind, metric, paths
        self.n = X.shape[0]
        self.rows = canonical(X, metric)
        self.tau = self._width(tau)
        self.scale = local_scale(X, metric=metric, algorithm=algorithm) if kind == "local_scaling" else None
        self.largest = 1.0
        blocks = (float(self(part).max(initial=0.0)) for part in row_blocks(self.n, self.n))
        self.largest = max(blocks) or 1.0

    def __call__(self, part: slice) -> np.ndarray:
        i, everyone = np.arange(part.start, part.stop), np.arange(self.n)
        index = np.broadcast_to(everyone, (len(i), self.n))
        if self.paths is None:
            distance = pair_distances(self.rows, np.repeat(i, self.n), self.rows, index.ravel(), self.metric)
        else:
            distance = geodesics(self.paths, i)
        W = cross_weights(
            self.X[part],
            self.X,
            index,
            distance.reshape(index.shape),
            self.kind,
            tau=self.tau,
            scale_q=None if self.scale is None else self.scale[part],
            scale_x=self.scale,
        )
        W[i - part.start, i] = 0.0
        return np.divide(W, self.largest, out=W)

    def _width(self, tau: float | None) -> float:
        if tau is not None or self.kind not in ("gaussian", "geodesic"):
            return used_tau(None, self.kind, tau)
        some = np.arange(self.n)
        if self.n > WIDTH_ROWS:
            some = np.sort(np.random.default_rng(0).choice(self.n, WIDTH_ROWS, replace=False))
        return used_tau(full_graph(self.X[some], metric=self.metric), self.kind)
