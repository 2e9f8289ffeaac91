"""Rank matrices: at which number of neighbours two rows become friends, enemies or neighbours.

In: similarities S (n x n, larger is nearer) and label sets. Out: integer matrices R with [R <= k] the undirected
relation for k neighbours; ``NEVER`` where no k relates two rows. Ties go to the lower index.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proxembed.algebra.arrays.matrix import guard_dense, row_blocks
from proxembed.targets.labels import LabelMatrix

from .options import check_option

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
    """How many rows of its pool each row must look at to see another: T_F, T_E and T_N, from 1.  [mu2012defc]

    Friends of i are sought among the other rows with a label of i: the rank of j inside each label that both have, the
    least of these. Enemies of i are the rows that share no label with it; each is sought, per label u it has, among the
    rows of u and those that share a label with i (``enemy_pool="pair"``), or among the enemies of label u alone
    ("other"). Neighbours are sought among all rows.

    Parameters
    ----------
    S : (n, n) similarities, finite; the diagonal is not looked at.
    labels : the label sets of the n rows, all known.
    enemy_pool : "pair" | "other"

    Returns
    -------
    Ranks

    Raises
    ------
    ValueError
        For S of another shape, a pool that is not known, or three n x n matrices above the size guard.

    Examples
    --------
    >>> S = -np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 3.0, 7.0]))
    >>> directed_ranks(S, LabelMatrix.of([0, 0, 1, 1])).enemies[:2, 2:]
    array([[2, 3],
           [2, 3]], dtype=int32)
    >>> directed_ranks(S, LabelMatrix.of([0, 0, 1, 1]), "other").enemies[:2, 2:]
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
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
    ("mutual").  [mu2012defc]

    Examples
    --------
    >>> S = -np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 3.0, 7.0]))
    >>> rank_matrices(S, LabelMatrix.of([0, 0, 1, 1])).enemies[:2, 2:]
    array([[2, 3],
           [1, 2]], dtype=int32)
    """
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
