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

from .pairs import NEVER, PairOptions, Ranks, distinguishing_labels, rank_matrices
from .switches import Switches

DEGREES = (1, 2, 3, 4, 5)
SIGMA = (2.0**-5, 2.0**5)
TAU = (1e-3, 10.0)
LAM = {1: (1e-3, 1e3), 2: (1e-6, 1e2)}
AT_THE_TOP = 0.1
DIGITS = 3


@dataclass(frozen=True)
class Limits:
    """How far numbers of neighbours go: rows, the largest class, and the two largest classes together."""

    rows: int
    largest: int
    largest_two: int

    @classmethod
    def of(cls, labels: LabelMatrix) -> Limits:
        """From the labels of the rows of a fit, a single one as two classes; of overlapping ones at most all rows."""
        labels = distinguishing_labels(labels)
        nk = np.sort(labels.nk.astype(int))[::-1]
        return cls(labels.n, int(nk[0]), int(min(nk[:2].sum(), labels.n)))


@dataclass(frozen=True)
class Domain:
    """The range of one parameter: ``kind`` is "choice", "log" (a number) or "integer" (drawn on a log scale, with a
    mass of a tenth on the upper end, at which the relation holds for all pairs)."""

    kind: str
    low: float
    high: float

    def sample(self, rng: np.random.Generator) -> float | int:
        """One value; numbers are rounded to three digits, so that stages met before are met again."""
        if self.kind == "choice":
            return int(rng.integers(int(self.low), int(self.high) + 1))
        top, u = rng.uniform() < AT_THE_TOP, rng.uniform()
        value = float(np.exp(np.log(self.low) + u * (np.log(self.high) - np.log(self.low))))
        if self.kind == "log":
            return self.clip(value)
        return int(self.high) if top else self.clip(value)

    def clip(self, value: float) -> float | int:
        """The nearest permitted value, an integer where only these are, rounded as a sample is."""
        value = min(max(value, self.low), self.high)
        return float(f"{value:.{DIGITS}g}") if self.kind == "log" else int(round(value))


def domain(name: str, switches: Switches, limits: Limits) -> Domain:
    """The range of a parameter of ``switches.numeric()``. [mu2012defc] A sigma is a multiple of the median squared
    distance of the preprocessed rows, lam a multiple of the balance of both parts of the objective."""
    if name not in switches.numeric():
        raise ValueError(f"name={name!r} is not a parameter of this model, which has {', '.join(switches.numeric())}.")
    if name == "lam":
        return Domain("log", *LAM[switches.eo])
    if name == "n_friends":
        return Domain("integer", 1, max(1, limits.largest - 1))
    if name == "n_enemies":
        return Domain("integer", 1, max(1, limits.largest_two - 1))
    if name == "n_neighbors":
        return Domain("integer", min(2, limits.rows - 1), limits.rows - 1)
    measure = name.rpartition("_")[2]
    if measure == "p":
        return Domain("choice", DEGREES[0], DEGREES[-1])
    return Domain("log", *(SIGMA if measure == "sigma" else TAU))


def sample(switches: Switches, limits: Limits, rng: np.random.Generator) -> dict[str, float | int]:
    """A value for each parameter of a model."""
    return {name: domain(name, switches, limits).sample(rng) for name in switches.numeric()}


@dataclass(frozen=True)
class Copies:
    """The copies of n rows: ``row`` of each, ascending, and ``labels``, one per copy, ascending in a row."""

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
        """An n x n array over rows as one over their copies."""
        size = len(self.row)
        guard_dense((size, size), f"The pairs of the {size:,} copies of {self.n:,} rows (multilabel='mesd')")
        return W[np.ix_(self.row, self.row)]

    def collapse(self, W: np.ndarray) -> np.ndarray:
        """An array over copies as one over rows, n x n, by sums."""
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
    """How far numbers of neighbours go on rows of these labels, or on their copies where these are counted."""
    copies = copies_of(distinguishing_labels(labels), options)
    return Limits.of(labels if copies is None else copies.labels)


def copies_of(labels: LabelMatrix, options: PairOptions) -> Copies | None:
    """The copies of rows with several labels where they are counted, None where the rows themselves are."""
    return None if options.multilabel == "sets" or labels.one_hot else Copies.of(labels)
