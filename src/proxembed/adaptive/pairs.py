"""Stages 4 and 5: who is friend, enemy or neighbour, how much each pair weighs, and both parts of the objective.

In: similarities of the preprocessed rows, labels, numbers of neighbours. Out: M_A = T'L(A')T (to be large) and
M_B = T'L(B')T (to be small), r x r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..algebra.blas import matmul
from ..labels import LabelMatrix
from .ranks import NEVER, Ranks

DENSE_FROM = 0.05


@dataclass(frozen=True)
class PairLabels:
    """What the label sets say of every pair of rows; ``similarity`` is that of the label sets of friends."""

    labels: LabelMatrix
    similarity: str = "dice"

    @cached_property
    def within(self) -> np.ndarray:
        """W_w = Y N^-1 Y', n x n."""
        Y = self.labels.Y
        return (Y @ sp.diags_array(1.0 / self.labels.nk) @ Y.T).toarray()

    @cached_property
    def between(self) -> np.ndarray:
        """W_b = mm'/n~ - W_w, n x n."""
        m = self.labels.m
        return np.outer(m, m) / self.labels.nt - self.within

    @cached_property
    def alike(self) -> np.ndarray | None:
        """Similarity of label sets, n x n; None where it is 1 for all friends."""
        if self.labels.one_hot or self.similarity == "constant":
            return None
        shared = (self.labels.Y @ self.labels.Y.T).toarray()
        total = self.labels.m[:, None] + self.labels.m
        if self.similarity == "dice":
            return np.divide(2.0 * shared, total, out=np.zeros_like(shared), where=total > 0)
        union = total - shared
        return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def told_apart(labels: LabelMatrix) -> LabelMatrix:
    """The labels by which pairs of rows are friends or enemies: those that some row has; of a single one that not all
    rows have, two classes, the rows without it and the rows with it.

    Examples
    --------
    >>> told_apart(LabelMatrix.of([{"a"}, set()])).Y.toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    labels = labels.drop_empty()
    if labels.c != 1 or labels.one_hot:
        return labels
    Y = labels.Y.toarray()
    return LabelMatrix(sp.csc_array(np.hstack([1.0 - Y, Y])), np.arange(2), "indicator")


def pair_weights(S: np.ndarray, raw: bool = False) -> np.ndarray:
    """g(s) = max(s, 0) / max|s|: similarities as weights that are never negative and at most 1; raw: S as it is.

    Examples
    --------
    >>> pair_weights(np.array([[2.0, -1.0], [-1.0, 4.0]]))
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    if raw:
        return S
    top = float(np.abs(S).max())
    return np.maximum(S, 0.0) / top if top > 0 else np.zeros_like(S)


def friend_matrix(ranks: Ranks, k: float, weights: np.ndarray | None, pairs: PairLabels) -> np.ndarray:
    """B' of (2): [R_F <= k] g, times the similarity of the label sets where rows have several; n x n."""
    B = (ranks.friends <= count(k)).astype(np.float64)
    for factor in (weights, pairs.alike):
        if factor is not None:
            B *= factor
    return B


def enemy_matrix(ranks: Ranks, k: float, weights: np.ndarray | None) -> tuple[np.ndarray, int]:
    """A' of (3): [R_E <= k] g, and the k used, which is doubled until some pair has a weight."""
    pools = ranks.enemies if weights is None else np.where(weights != 0, ranks.enemies, NEVER)
    nearest = int(pools.min())
    if nearest == NEVER:
        raise ValueError("No pair of rows without a common label has a weight: there are no enemies.")
    k = count(k)
    while k < nearest:
        k *= 2
    A = (ranks.enemies <= k).astype(np.float64)
    return (A if weights is None else A * weights), k


def fisher_matrices(
    ranks: Ranks, k: float, weights: np.ndarray | None, pairs: PairLabels
) -> tuple[np.ndarray, np.ndarray]:
    """A' = W_b o [R_N <= k] g and B' = W_w o [R_N <= k] g of (15) and (16), n x n."""
    mask = (ranks.neighbors <= count(k)).astype(np.float64)
    if weights is not None:
        mask *= weights
    return pairs.between * mask, pairs.within * mask


def global_fisher(T: np.ndarray, labels: LabelMatrix) -> tuple[np.ndarray, np.ndarray]:
    """T'L(W_b)T and T'L(W_w)T of all pairs: the scatter between and within classes, no n x n matrix.

    Examples
    --------
    >>> S_b, S_w = global_fisher(np.array([[0.0], [2.0], [4.0], [6.0]]), LabelMatrix.of([0, 0, 1, 1]))
    >>> S_b.tolist(), S_w.tolist()
    ([[16.0]], [[4.0]])
    """
    m, nk = labels.m, labels.nk
    mean = (m @ T) / labels.nt
    centred = T - mean
    sums = labels.Y.T @ centred
    between = matmul(sums.T / nk, sums)
    within = matmul(centred.T, centred * m[:, None]) - between
    return _symmetric(between), _symmetric(within)


def laplacian_product(T: np.ndarray, W: np.ndarray) -> np.ndarray:
    """T'L(W)T of a symmetric n x n array W, as a sparse product where few entries are not 0.

    Examples
    --------
    >>> laplacian_product(np.array([[0.0], [3.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[9.]])
    """
    few = np.count_nonzero(W) < DENSE_FROM * W.size
    WT = sp.csr_array(W) @ T if few else matmul(W, T)
    return _symmetric(matmul(T.T, W.sum(axis=1)[:, None] * T - WT))


def _symmetric(M: np.ndarray) -> np.ndarray:
    return (M + M.T) / 2.0


def count(k: float | None) -> int:
    """A number of neighbours as one that rank matrices can be compared with; None or infinity is all of them.

    >>> count(3), count(None) == count(float("inf"))
    (3, True)
    """
    return NEVER - 1 if k is None or k >= NEVER else max(1, int(k))
