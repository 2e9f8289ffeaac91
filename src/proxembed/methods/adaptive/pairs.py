"""Stages 4 and 5: who is friend, enemy or neighbour, how much each pair weighs, and both parts of the objective.

In: similarities of the preprocessed rows, labels, numbers of neighbours. Out: M_A = T'L(A')T (to be large) and
M_B = T'L(B')T (to be small), r x r.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.blas import matmul, symmetrise
from proxembed.algebra.arrays.matrix import guard_dense, row_blocks
from proxembed.params import safe_repr
from proxembed.proximity.label_similarity import SET_SIMILARITIES, similarity_of_sets
from proxembed.targets.labels import LabelMatrix

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
    rows have, two classes, the rows without it and the rows with it."""
    labels = labels.drop_empty()
    if labels.c != 1 or labels.one_hot:
        return labels
    Y = labels.Y.toarray()
    return LabelMatrix(sp.csc_array(np.hstack([1.0 - Y, Y])), np.arange(2), "indicator")


def pair_weights(S: np.ndarray, raw: bool = False) -> np.ndarray:
    """g(s) = max(s, 0) / max|s|: similarities as weights that are never negative and at most 1; raw: S as it is."""
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
    """T'L(W_b)T and T'L(W_w)T of all pairs: the scatter between and within classes, no n x n matrix."""
    m, nk = labels.m, labels.nk
    mean = (m @ T) / labels.nt
    centred = T - mean
    sums = labels.Y.T @ centred
    between = matmul(sums.T / nk, sums)
    within = matmul(centred.T, centred * m[:, None]) - between
    parts = float(m @ np.einsum("ij,ij->i", T, T))
    return without_rounding(symmetrise(between), parts), without_rounding(symmetrise(within), parts)


def laplacian_product(T: np.ndarray, W: np.ndarray) -> np.ndarray:
    """T'L(W)T of a symmetric n x n array W, as a sparse product where few entries are not 0. The product is zero where
    it is no more than the rounding of its two parts: pairs with a weight coincide then."""
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
    """A number of neighbours as one that rank matrices can be compared with; None or infinity is all of them."""
    return NEVER - 1 if k is None or k >= NEVER else max(1, int(k))


CHOICES = {
    "link": ("undirected", "mutual"),
    "enemy_pool": ("pair", "other"),
    "g_raw": (False, True),
    "multilabel": ("sets", "mesd"),
    "lam_scale": ("trace", "raw"),
    "label_similarity": ("dice", "jaccard", "constant"),
}


@dataclass(frozen=True)
class PairOptions:
    """The same for every candidate, and no part of its switches.  [mu2012defc]"""

    link: str = "undirected"
    enemy_pool: str = "pair"
    g_raw: bool = False
    multilabel: str = "sets"
    lam_scale: str = "trace"
    label_similarity: str = "dice"

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_option(name, value)

    @classmethod
    def taken_from(cls, estimator: Any) -> dict[str, Any]:
        """The options of an estimator that has them as parameters, by name."""
        return {field.name: getattr(estimator, field.name) for field in fields(cls)}


def check_option(name: str, value: Any) -> None:
    """Raise a ValueError where an option does not have this value."""
    if type(value) not in (bool, str) or value not in CHOICES[name]:
        raise ValueError(
            f"{name}={safe_repr(value)} is not known; choose one of {', '.join(map(repr, CHOICES[name]))}."
        )


NEVER = int(np.iinfo(np.int32).max)


@dataclass(frozen=True)
class Ranks:
    """Symmetric n x n rank matrices of int32: ``friends``, ``enemies``, ``neighbors``."""

    friends: np.ndarray
    enemies: np.ndarray
    neighbors: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes of the three."""
        return self.friends.nbytes + self.enemies.nbytes + self.neighbors.nbytes


def directed_ranks(S: np.ndarray, labels: LabelMatrix, enemy_pool: str = "pair") -> Ranks:
    """How many rows of its pool each row must look at to see another: T_F, T_E and T_N, from 1. [mu2012defc] Friends of
    i are sought among the other rows with a label of i: the rank of j inside each label that both have, the least of
    these. Enemies of i are the rows that share no label with it; each is sought, per label u it has, among the rows of
    u and those that share a label with i (``enemy_pool="pair"``), or among the enemies of label u alone ("other").
    Neighbours are sought among all rows."""
    check_option("enemy_pool", enemy_pool)
    n = labels.n
    if S.shape != (n, n):
        raise ValueError(f"S has shape {S.shape}; {(n, n)} is needed, one row and column for each of the {n} rows.")
    guard_dense((3, n, n), "The rank matrices", itemsize=4)
    found = Ranks(*(np.full((n, n), NEVER, dtype=np.int32) for _ in range(3)))
    block = _of_classes if labels.one_hot else _of_sets
    for rows in row_blocks(n, n):
        order = _nearest_first(S, rows)
        position = np.broadcast_to(np.arange(1, n, dtype=np.int32), order.shape)
        np.put_along_axis(found.neighbors[rows], order, position, axis=1)
        block(order, rows, labels, found, int(enemy_pool == "pair"))
    return found


def rank_matrices(S: np.ndarray, labels: LabelMatrix, link: str = "undirected", enemy_pool: str = "pair") -> Ranks:
    """R_F, R_E, R_N: related for k neighbours where R <= k, if either row lists the other ("undirected"), or both do
    ("mutual"). [mu2012defc]"""
    check_option("link", link)
    both = np.minimum if link == "undirected" else np.maximum
    T = directed_ranks(S, labels, enemy_pool)
    return Ranks(*(both(M, M.T) for M in (T.friends, T.enemies, T.neighbors)))


def _nearest_first(S: np.ndarray, rows: slice) -> np.ndarray:
    """The other rows of each row of a block, most similar first, equal ones in ascending order."""
    key = -S[rows]
    itself = np.arange(len(key))
    key[itself, itself + rows.start] = -np.inf
    return np.argsort(key, axis=1, kind="stable")[:, 1:]


def _of_classes(order: np.ndarray, rows: slice, labels: LabelMatrix, found: Ranks, slots: int) -> None:
    """One class per row: the place inside each class by a stable sort of the classes along the order; ``slots`` is how
    many places among enemies each row of the own class takes, 0 or 1."""
    small = np.uint8 if labels.c <= 256 else np.int32
    y = labels.Y.tocsr().indices.astype(small)
    near = y[order]
    own = near == y[rows][:, None]
    grouped = np.argsort(near, axis=1, kind="stable")
    sizes = np.tile(labels.nk.astype(np.int32), (len(order), 1))
    sizes[np.arange(len(order)), y[rows]] -= 1
    start = np.cumsum(sizes, axis=1, dtype=np.int32) - sizes
    place = np.arange(1, order.shape[1] + 1, dtype=np.int32) - np.take_along_axis(
        start, np.take_along_axis(near, grouped, axis=1).astype(np.intp), axis=1
    )
    within = np.empty_like(place)
    np.put_along_axis(within, grouped, place, axis=1)
    passed = slots * np.cumsum(own, axis=1, dtype=np.int32)
    np.put_along_axis(found.friends[rows], order, np.where(own, within, NEVER).astype(np.int32), axis=1)
    np.put_along_axis(found.enemies[rows], order, np.where(own, NEVER, within + passed).astype(np.int32), axis=1)


def _of_sets(order: np.ndarray, rows: slice, labels: LabelMatrix, found: Ranks, slots: int) -> None:
    """Any label sets: a pass over the columns of Y, the least over the labels of the other row."""
    Y = labels.Y.toarray().astype(bool)
    shared = np.take_along_axis((labels.Y.tocsr()[rows] @ labels.Y.T).toarray() > 0, order, axis=1)
    labelled = (labels.m[rows] > 0)[:, None]
    passed = slots * np.cumsum(shared, axis=1, dtype=np.int32)
    friends, enemies = (np.full(order.shape, NEVER, dtype=np.int32) for _ in range(2))
    for column in Y.T:
        member = column[order]
        place = np.cumsum(member, axis=1, dtype=np.int32)
        np.minimum(friends, place, out=friends, where=member & column[rows][:, None])
        other = member & ~shared & labelled
        place = np.cumsum(member & ~shared, axis=1, dtype=np.int32) + passed
        np.minimum(enemies, place, out=enemies, where=other)
    np.put_along_axis(found.friends[rows], order, friends, axis=1)
    np.put_along_axis(found.enemies[rows], order, enemies, axis=1)
