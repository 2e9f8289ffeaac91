"""Stages 4 and 5: who is friend, enemy or neighbour, how much each pair weighs, and both parts of the objective.

In: similarities of the preprocessed rows, labels, numbers of neighbours. Out: M_A = T'L(A')T (to be large) and
M_B = T'L(B')T (to be small), r x r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.blas import matmul, symmetrise
from proxembed.targets.labels import LabelMatrix

from ..proximity.similarity import SET_SIMILARITIES, similarity_of_sets
from .ranks import NEVER, Ranks

DENSE_FROM = 0.05
ROUNDING = 1e-14  # of T'DT - T'WT beside tr T'DT, of T'MT - S_b beside tr T'MT


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
        shared, m = (self.labels.Y @ self.labels.Y.T).toarray(), self.labels.m
        return similarity_of_sets(SET_SIMILARITIES[self.similarity], shared, m[:, None], m)


def distinguishing_labels(labels: LabelMatrix) -> LabelMatrix:
    """The labels by which pairs of rows are friends or enemies: those that some row has; of a single one that not all
    rows have, two classes, the rows without it and the rows with it.

    Examples
    --------
    >>> distinguishing_labels(LabelMatrix.of([{"a"}, set()])).Y.toarray().tolist()
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
    top = max(float(S.max()), -float(S.min()))
    weights = np.maximum(S, 0.0)
    if top > 0 and top != 1.0:
        weights /= top
    return weights


def friend_matrix(ranks: Ranks, k: float, weights: np.ndarray | None, pairs: PairLabels) -> np.ndarray:
    """B' of (2): [R_F <= k] g, times the similarity of the label sets where rows have several; n x n."""
    B = _nearest_pairs(ranks.friends, count(k), weights)
    if pairs.alike is not None:
        B *= pairs.alike
    return B


def enemy_matrix(ranks: Ranks, k: float, weights: np.ndarray | None) -> tuple[np.ndarray, int]:
    """A' of (3): [R_E <= k] g, and the k used, which is doubled until some pair has a weight."""
    k = count(k)
    A = _nearest_pairs(ranks.enemies, k, weights)
    if A.any():
        return A, k
    nearest = int((ranks.enemies if weights is None else np.where(weights != 0, ranks.enemies, NEVER)).min())
    if nearest == NEVER:
        raise ValueError("No pair of rows without a common label has a weight: no enemies.")
    while k < nearest:
        k *= 2
    return _nearest_pairs(ranks.enemies, k, weights), k


def fisher_matrices(
    ranks: Ranks, k: float, weights: np.ndarray | None, pairs: PairLabels
) -> tuple[np.ndarray, np.ndarray]:
    """A' = W_b o [R_N <= k] g and B' = W_w o [R_N <= k] g of (15) and (16), n x n."""
    near = _nearest_pairs(ranks.neighbors, count(k), weights)
    return pairs.between * near, pairs.within * near


def _nearest_pairs(ranks: np.ndarray, k: int, weights: np.ndarray | None) -> np.ndarray:
    """[R <= k] g."""
    near = (ranks <= k).astype(np.float64)
    if weights is not None:
        near *= weights
    return near


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
    parts = float(m @ np.einsum("ij,ij->i", T, T))
    return without_rounding(symmetrise(between), parts), without_rounding(symmetrise(within), parts)


def laplacian_product(T: np.ndarray, W: np.ndarray) -> np.ndarray:
    """T'L(W)T of a symmetric n x n array W, as a sparse product where few entries are not 0.

    The product is zero where it is no more than the rounding of its two parts: pairs with a weight coincide then.

    Examples
    --------
    >>> laplacian_product(np.array([[0.0], [3.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[9.]])
    >>> laplacian_product(np.array([[0.7], [0.7], [0.7]]), np.full((3, 3), 0.1))
    array([[0.]])
    """
    pairs = W != 0
    few = np.count_nonzero(pairs) < DENSE_FROM * W.size
    WT = _sparse(W, pairs) @ T if few else matmul(W, T)
    degrees = W.sum(axis=1)
    found = symmetrise(matmul(T.T, degrees[:, None] * T - WT))
    return without_rounding(found, float(np.abs(degrees) @ np.einsum("ij,ij->i", T, T)))


def without_rounding(M: np.ndarray, parts: float) -> np.ndarray:
    """A difference of matrices, zero where it is no more than the rounding of the two, whose trace is ``parts``."""
    return M if np.abs(M).max(initial=0.0) > ROUNDING * parts else np.zeros_like(M)


def _sparse(W: np.ndarray, pairs: np.ndarray) -> sp.csr_array:
    """The entries of an array that a mask names, four times as fast as by csr_array(W)."""
    n, columns = W.shape
    places = np.flatnonzero(pairs)
    starts = np.searchsorted(places, np.arange(n + 1) * columns)
    return sp.csr_array((W.reshape(-1)[places], places % columns, starts), shape=W.shape)


def count(k: float | None) -> int:
    """A number of neighbours as one that rank matrices can be compared with; None or infinity is all of them.

    >>> count(3), count(None) == count(float("inf"))
    (3, True)
    """
    return NEVER - 1 if k is None or k >= NEVER else max(1, int(k))
