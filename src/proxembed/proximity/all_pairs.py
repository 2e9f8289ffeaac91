"""AllPairs: the weights of all pairs of rows by blocks of rows, for proximities that take every pair.

In: rows and a kind of weight. Out: a function from a slice of rows to their weights with all rows, made from matrix
products; n x n is never held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import in_threads
from proxembed.algebra.arrays.matrix import centred_lengths, over, row_blocks, row_squares, unit_of
from proxembed.pairs.formulas import cosine, weights_gaussian

from .affinity import Distances
from .correlation import SIGNED, correlations
from .distances import DIGITS, canonical, checked, extreme_powers, squared_norms
from .geodesic import geodesics
from .measured import as_cosine, dense_rows, distance_blocks, is_measured
from .neighbors import nearest
from .weights import LOCAL_NEIGHBORS, WEIGHTS, local_scale, used_tau

WIDTH_ROWS = 2000


class AllPairs:
    """W of all pairs of rows over its largest entry, negative ones 0, w_ii = 0: calls with a slice return (rows, n).

    ``kind``: a name of WEIGHTS; ``paths``: the graph along which "geodesic" measures; ``n_scale``: of the local scales.
    """

    def __init__(
        self,
        X: Any,
        kind: str,
        tau: float | None = None,
        *,
        metric: Any = "euclidean",
        paths: Any = None,
        algorithm: Any = "exact",
        n_scale: int = LOCAL_NEIGHBORS,
    ):
        self.kind, self.n, self.paths, self.own, self.unit = kind, X.shape[0], paths, None, 1.0
        self.measure = WEIGHTS[kind]
        if self.measure.signed:
            correlations(kind, X[:1], X[:1], np.arange(0), np.arange(0))  # for its checks
            self.likeness = correlation_blocks(X, kind)
        elif kind != "constant":
            self.distances = BlockDistances(X, metric)
            self.tau = used_width(X, kind, tau, metric)
        if self.measure.ends == "scales":
            self.own = local_scale(X, n_scale, metric=metric, algorithm=algorithm)
        elif self.measure.ends == "squares":
            self.unit = unit_of(X)
            self.own = squared_norms(over(X, self.unit))
        self.largest = self._largest(X, metric) or 1.0
        if not np.isfinite(self.largest):
            raise ValueError(
                f"weights={kind!r} gives values that are not finite, from features too large or small to square: "
                "scale X."
            )

    def __call__(self, part: slice) -> np.ndarray:
        W = self._unscaled(part)
        W /= self.largest
        return np.minimum(W, 1.0, out=W)

    def diagonal(self) -> np.ndarray:
        """The weights of rows with themselves."""
        return np.zeros(self.n)

    def _unscaled(self, part: slice) -> np.ndarray:
        i = np.arange(part.start, part.stop)
        if self.kind == "constant":
            W = np.ones((len(i), self.n))
        elif self.measure.weight is None:
            with np.errstate(over="ignore", invalid="ignore"):
                W = self.likeness(part, slice(None))
            np.maximum(W, 0.0, out=W)
        else:
            distance = self.distances(part) if self.paths is None else geodesics(self.paths, i)
            ends = () if self.own is None else (self.own[part, None], self.own[None, :])
            W = self.measure.weight(over(distance, self.unit), self.tau, *ends)
        W[i - part.start, i] = 0.0
        return W

    def _largest(self, X: Any, metric: Any) -> float:
        """The largest weight: that of the nearest two rows where weights fall with the distance, else by blocks."""
        if self.kind == "constant" or self.n < 2:
            return 1.0
        if self.measure.median_width:
            near = nearest(X, 1, metric=metric).distance if self.paths is None else self.paths.data
            return float(weights_gaussian(near.min(initial=np.inf), self.tau))
        parts = list(row_blocks(self.n, self.n))
        found = np.empty(len(parts))

        def work(chosen: slice) -> None:
            for number in range(chosen.start, chosen.stop):
                found[number] = self._unscaled(parts[number]).max()

        in_threads(work, len(parts), 1)
        return float(found.max())


class BlockDistances:
    """Distances of a block of rows to all rows: by matrix products, those of near rows as a search finds them."""

    def __init__(self, X: Any, metric: Any = "euclidean"):
        self.n, self.power, self.unit, self.metric = X.shape[0], None, None, metric
        if is_measured(metric):
            self.rows = dense_rows(X, metric)
            return
        X, metric = as_cosine(X, metric)
        if metric == "cosine":
            self.unit = canonical(X, metric)
            return
        X = X.astype(np.float64, copy=False)
        entries = X.data if sparse.issparse(X) else X
        self.power = extreme_powers(np.array([np.abs(entries).max(initial=0.0)]))
        if self.power is not None:
            entries = np.ldexp(entries, -self.power[0])
            X = sparse.csr_array((entries, X.indices, X.indptr), shape=X.shape) if sparse.issparse(X) else entries
        rows = X if sparse.issparse(X) else X - X.mean(axis=0)
        self.squares = Distances(X, rows, row_squares(rows))

    def __call__(self, part: slice) -> np.ndarray:
        if is_measured(self.metric):
            return np.concatenate([D for _, D in distance_blocks(self.rows[part], self.rows, self.metric)])
        if self.unit is not None:
            near = _product(self.unit[part], self.unit)
            return np.maximum(np.round(1.0 - near, DIGITS), 0.0)
        distance = np.maximum(self.squares(part, slice(0, self.n)), 0.0)
        np.sqrt(distance, out=distance)
        if self.power is None:
            return distance
        with np.errstate(over="ignore"):
            return checked(np.ldexp(distance, self.power[0]))


def correlation_blocks(X: Any, kind: str) -> Callable[[Any, Any], np.ndarray]:
    """A function of two sets of rows (index arrays or slices) that returns the measure ``kind`` of the rows of the
    first with those of the second; 0 where a row is zero (cosine) or constant."""
    if kind == "kendall":
        return lambda a, b: _kendall(X, np.arange(X.shape[0])[a], np.arange(X.shape[0])[b])
    Z = SIGNED[kind].rows(X).astype(np.float64, copy=False)
    if not SIGNED[kind].centred:
        length = np.sqrt(row_squares(Z))
        return lambda a, b: cosine(_product(Z[a], Z[b]), length[a, None], length[b][None, :])
    mean, length = centred_lengths(Z)
    if not sparse.issparse(Z):
        Z = Z - mean[:, None]
        return lambda a, b: cosine(_product(Z[a], Z[b]), length[a, None], length[b][None, :])
    d = Z.shape[1]
    return lambda a, b: cosine(
        _product(Z[a], Z[b]) - d * np.outer(mean[a], mean[b]), length[a, None], length[b][None, :]
    )


def used_width(X: Any, kind: str, tau: float | None, metric: Any) -> float:
    """``used_tau`` of the full graph, of 2,000 rows drawn by number where there are more."""
    if tau is not None or not WEIGHTS[kind].median_width:
        return used_tau(None, kind, tau)
    if X.shape[0] > WIDTH_ROWS:
        X = X[np.sort(np.random.default_rng(0).choice(X.shape[0], WIDTH_ROWS, replace=False))]
    n, distances = X.shape[0], BlockDistances(X, metric)
    i, j = np.triu_indices(n, 1)
    found = [distances(part)[np.arange(part.start, part.stop)[:, None] < np.arange(n)] for part in row_blocks(n, n)]
    return used_tau(sparse.csr_array((np.concatenate(found), (i, j)), shape=(n, n)), kind)


def _product(left: Any, right: Any) -> np.ndarray:
    dots = left @ right.T
    return dots.toarray() if sparse.issparse(dots) else dots


def _kendall(X: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return correlations("kendall", X, X, np.repeat(a, len(b)), np.tile(b, len(a))).reshape(len(a), len(b))
