"""Reconstruction weights from features and labels: L = (1 - alpha) P + alpha Q, the local Gram matrices of both.

In: rows, their neighbours and 0/1 labels. Out: weights of each row's neighbours that sum to 1. [qian2010ssdrmc]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import in_threads, one_pool

from ..proximity.reconstruction import affine_weights, local_grams, rows_a_block
from .simplex import simplex_weights

LOCAL_WEIGHTS = ("signed", "clip", "nnls")
KEPT_BYTES = 1 << 29  # of the Gram matrices of the features, which are made anew above it


@dataclass(frozen=True)
class Blend:
    """How weights are made: share ``alpha`` of the labels, factor ``scale`` on their Gram matrices, ridge ``reg`` in
    units of the mean diagonal, and ``kind``."""

    alpha: float
    reg: float
    kind: str = "signed"
    scale: float = 1.0

    def weights(self, P: np.ndarray, Q: np.ndarray | None, powers: np.ndarray | None, d: int) -> np.ndarray:
        """The weights (b, K) of a block from its Gram matrices (b, K, K), those of the labels Q over the features'
        powers of two; Q None: of the features alone."""
        if Q is None:
            L = np.array(P)
        elif powers is None:
            L = (1.0 - self.alpha) * P + (self.alpha * self.scale) * Q
        else:  # over whichever power is larger, so that nothing overflows
            L = (1.0 - self.alpha) * unscaled(P, np.minimum(powers, 0), 2)
            L += (self.alpha * self.scale) * unscaled(Q, np.maximum(powers, 0), -2)
        reg = self.reg / P.shape[1]
        if self.kind == "nnls":
            return simplex_weights(L, reg)
        w = affine_weights(L, reg, d)
        return clipped(w) if self.kind == "clip" else w


def unscaled(G: np.ndarray, powers: np.ndarray | None, sign: int) -> np.ndarray:
    """G_i times 2^(sign p_i); infinite beyond the largest number.

    >>> unscaled(np.array([1.0, 3.0]), np.array([0, 1]), 2).tolist()
    [1.0, 12.0]
    """
    if powers is None:
        return G
    with np.errstate(over="ignore"):
        return np.ldexp(G, (sign * powers).reshape(-1, *[1] * (G.ndim - 1)))


def clipped(w: np.ndarray) -> np.ndarray:
    """Weights below 0 set to 0 and the rest brought to sum 1; equal weights if all are 0 or less.

    >>> clipped(np.array([[1.5, -0.5, 0.5], [0.0, 0.0, 0.0]])).round(3).tolist()
    [[0.75, 0.0, 0.25], [0.333, 0.333, 0.333]]
    """
    w = np.maximum(w, 0.0)
    total = w.sum(axis=1, keepdims=True)
    return np.where(total > 0, w / np.where(total > 0, total, 1.0), 1.0 / w.shape[1])


def label_grams(own: np.ndarray, F: np.ndarray, index: np.ndarray) -> np.ndarray:
    """(f_j - f_i)'(f_l - f_i) of rows with labels ``own`` (b, c) and their neighbours among the rows of F.

    >>> label_grams(np.array([[1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0, 1]])).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    difference = F[index].astype(np.float64) - own[:, None, :].astype(np.float64)
    return difference @ difference.transpose(0, 2, 1)


class LocalWeights:
    """The weights of all rows, made anew only where labels have changed."""

    def __init__(self, X: Any, index: np.ndarray, blend: Blend, c: int):
        self.X, self.index, self.blend = X, index, blend
        n, K = index.shape
        self.block = max(1, min(rows_a_block(X, K), (1 << 20) // (K * max(K, c))))
        self.kept: Any = np.empty((n, K, K)) if 8 * n * K * K <= KEPT_BYTES else None
        self.powers, self.far = np.zeros(n, dtype=int), False
        self.weights = np.empty((n, K))
        self.labels: np.ndarray | None = None
        self.solved = 0
        if self.kept is not None:
            self._each(np.arange(n), self._keep)

    def update(self, F: np.ndarray | None) -> int:
        """Weights for the 0/1 labels F (n, c), or from the features alone; returns how many rows were solved."""
        n = len(self.index)
        if F is None or self.blend.alpha == 0:
            dirty = np.arange(n) if self.solved == 0 or self.labels is not None else np.arange(0)
            F = None
        elif self.labels is None:
            dirty = np.arange(n)
        else:
            changed = (F != self.labels).any(axis=1)
            dirty = np.flatnonzero(changed | changed[self.index].any(axis=1))

        def work(rows: np.ndarray) -> None:
            P, powers = self._grams(rows)
            Q = None if F is None else label_grams(F[rows], F, self.index[rows])
            self.weights[rows] = self.blend.weights(P, Q, powers, self.X.shape[1])

        self._each(dirty, work)
        self.labels = None if F is None else np.array(F)
        self.solved += len(dirty)
        return len(dirty)

    def feature_error(self) -> float:
        """(1 - alpha) |X - WX|^2 of the weights as they are."""
        parts = np.zeros(len(self.index))

        def work(rows: np.ndarray) -> None:
            P, powers = self._grams(rows)
            w = self.weights[rows]
            parts[rows] = unscaled(np.einsum("ij,ijk,ik->i", w, P, w), powers, 2)

        self._each(np.arange(len(self.index)), work)
        return float((1.0 - self.blend.alpha) * parts.sum())

    def scale_labels(self, scale: float) -> None:
        """Take the Gram matrices of labels times ``scale`` from now on, in the weights of every row."""
        self.blend = replace(self.blend, scale=scale)
        self.labels, self.solved = None, 0

    def mean_traces(self, F: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
        """The mean traces of P over all rows, and of Q over some."""
        features, labels = np.zeros(len(self.index)), np.zeros(len(self.index))
        chosen = np.zeros(len(self.index), dtype=bool)
        chosen[rows] = True

        def work(some: np.ndarray) -> None:
            P, powers = self._grams(some)
            features[some] = unscaled(np.einsum("ijj->i", P), powers, 2)
            own = some[chosen[some]]
            labels[own] = ((F[self.index[own]] - F[own][:, None, :]) ** 2).sum(axis=(1, 2))

        self._each(np.arange(len(self.index)), work)
        return float(features.mean()), float(labels[rows].mean())

    def _grams(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        if self.kept is None:
            return local_grams(self.X, self.X[rows], self.index[rows])
        return self.kept[rows], self.powers[rows] if self.far else None

    def _keep(self, rows: np.ndarray) -> None:
        P, powers = local_grams(self.X, self.X[rows], self.index[rows])
        self.kept[rows] = P
        if powers is not None:
            self.powers[rows], self.far = powers, True

    def _each(self, rows: np.ndarray, work: Callable[[np.ndarray], Any]) -> None:
        with one_pool:
            in_threads(lambda part: work(rows[part]), len(rows), self.block)


def new_weights(
    X: Any, queries: Any, index: np.ndarray, blend: Blend, labels: np.ndarray | None = None, F: Any = None
) -> np.ndarray:
    """The weights that rebuild new rows from their neighbours in X; ``labels`` of the new rows and F of X's rows take
    part where they are given."""
    m, K = index.shape
    c = 1 if labels is None else labels.shape[1]
    weights = np.empty((m, K))

    def work(part: slice) -> None:
        P, powers = local_grams(X, queries[part], index[part])
        Q = None if labels is None else label_grams(labels[part], F, index[part])
        weights[part] = blend.weights(P, Q, powers, X.shape[1])

    with one_pool:
        in_threads(work, m, max(1, min(rows_a_block(X, K), (1 << 20) // (K * max(K, c)))))
    return weights
