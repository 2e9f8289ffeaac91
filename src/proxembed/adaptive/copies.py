"""Copies: a row stands once for each of its labels, and pairs of rows count as many pairs of copies.  [mu2012mesd]

In: label sets and n x n arrays over rows. Out: the same over the copies, rank matrices of these, and sums over copies
as n x n arrays. Neighbours of a copy are copies of other rows, each of which takes one place; equally near ones come in
the order of rows, then of labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.targets.labels import LabelMatrix

from .options import PairOptions
from .pairs import distinguishing_labels
from .parameters import Limits
from .ranks import NEVER, Ranks, rank_matrices


@dataclass(frozen=True)
class Copies:
    """The copies of n rows: ``row`` of each, ascending, and ``labels``, one per copy, ascending in a row.

    Examples
    --------
    >>> copies = Copies.of(LabelMatrix.of([{"a", "b"}, set(), {"b"}]))
    >>> copies.row.tolist(), copies.labels.Y.toarray().tolist()
    ([0, 0, 2], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    """

    row: np.ndarray
    labels: LabelMatrix
    n: int

    @classmethod
    def of(cls, labels: LabelMatrix) -> Copies:
        """From the label sets of the rows, all known."""
        Y = labels.Y.tocsr()
        Y.sort_indices()
        one = sp.csc_array((np.ones(Y.nnz), (np.arange(Y.nnz), Y.indices)), shape=(Y.nnz, labels.c))
        return cls(np.repeat(np.arange(labels.n), np.diff(Y.indptr)), replace(labels, Y=one), labels.n)

    @cached_property
    def _gathers(self) -> sp.csr_array:
        """n x copies: 1 where a copy is of the row."""
        pointers = np.searchsorted(self.row, np.arange(self.n + 1))
        size = len(self.row)
        return sp.csr_array((np.ones(size), np.arange(size), pointers), shape=(self.n, size))

    def spread(self, W: np.ndarray) -> np.ndarray:
        """An n x n array over rows as one over their copies.

        >>> Copies.of(LabelMatrix.of([{"a", "b"}, {"b"}])).spread(np.array([[1, 2], [3, 4]]))
        array([[1, 1, 2],
               [1, 1, 2],
               [3, 3, 4]])
        """
        size = len(self.row)
        guard_dense((size, size), f"The pairs of the {size:,} copies of {self.n:,} rows (multilabel='mesd')")
        return W[np.ix_(self.row, self.row)]

    def collapse(self, W: np.ndarray) -> np.ndarray:
        """An array over copies as one over rows, n x n, by sums.

        >>> Copies.of(LabelMatrix.of([{"a", "b"}, {"b"}])).collapse(np.arange(9.0).reshape(3, 3))
        array([[ 8.,  7.],
               [13.,  8.]])
        """
        return np.ascontiguousarray((self._gathers @ (self._gathers @ W).T).T)

    def ranks(self, S: np.ndarray, options: PairOptions) -> Ranks:
        """The rank matrices of all copies by the similarities S of their rows; copies of one row are never related."""
        spread, own = self.spread(S), self.row[:, None] == self.row
        spread[own] = -np.inf
        found = rank_matrices(spread, self.labels, options.link, options.enemy_pool)
        for R in (found.friends, found.enemies, found.neighbors):
            R[own] = NEVER
        return found


def limits_of(labels: LabelMatrix, options: PairOptions) -> Limits:
    """How far numbers of neighbours go on rows of these labels, or on their copies where these are counted.

    Examples
    --------
    >>> labels = LabelMatrix.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> limits_of(labels, PairOptions()), limits_of(labels, PairOptions(multilabel="mesd"))
    (Limits(rows=4, largest=2, largest_two=4), Limits(rows=5, largest=2, largest_two=4))
    """
    copies = copies_of(distinguishing_labels(labels), options)
    return Limits.of(labels if copies is None else copies.labels)


def copies_of(labels: LabelMatrix, options: PairOptions) -> Copies | None:
    """The copies of rows with several labels where they are counted, None where the rows themselves are."""
    return None if options.multilabel == "sets" or labels.one_hot else Copies.of(labels)
