"""Ranks of positive rows among all rows, for many labels at once: the precision at each positive row.

The scores of a label are sorted, some labels at a time, each in one piece of memory; scores that are mostly 0, such as
the shares of neighbours, are ranked by their stored entries alone.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

FEW = 24  # positive rows of a label, up to which comparing them with each other takes less than sorting
CELLS = 1 << 22  # scores that are compared at a time
SORTED = 1 << 19  # scores that are sorted at a time


class Positives(NamedTuple):
    """The positive cells of labels, label by label, and their number by label."""

    rows: np.ndarray
    labels: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, Y: np.ndarray) -> "Positives":
        """Those of a bool array (n, c)."""
        n, c = Y.shape
        if Y.flags.f_contiguous:
            labels, rows = np.divmod(np.flatnonzero(Y.T), max(n, 1))
        else:
            rows, labels = np.divmod(np.flatnonzero(Y), max(c, 1))
            order = np.argsort(labels, kind="stable")
            rows, labels = rows[order], labels[order]
        return cls(rows, labels, np.bincount(labels, minlength=c))

    @property
    def starts(self) -> np.ndarray:
        """The place of the first cell of each label."""
        return np.cumsum(self.counts) - self.counts

    def pairs(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of these cells with cells of their label: places of the first and of the second ones."""
        counts = self.counts[self.labels[places]]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(places, counts), np.repeat(self.starts[self.labels[places]], counts) + within


def precision_at(positives: Positives, S: np.ndarray) -> np.ndarray:
    """At each positive cell the share of positive rows among the rows that score at least as high; S is dense."""
    n, s = len(S), S[positives.rows, positives.labels]
    above, hits = np.empty(len(s), dtype=np.intp), np.empty(len(s), dtype=np.intp)
    rare = positives.counts <= FEW
    few = np.flatnonzero(rare[positives.labels])
    one, other = positives.pairs(few)
    hits[few] = np.bincount(one, s[other] >= s[one], minlength=len(s))[few]
    starts, step = np.append(positives.starts, len(s)), max(1, SORTED // max(n, 1))
    for first in range(0, S.shape[1], step):
        ranked = np.array(S[:, first : first + step].T, order="C")
        ranked.sort(axis=1)
        for label, each in enumerate(ranked, first):
            own = slice(starts[label], starts[label + 1])
            above[own] = n - np.searchsorted(each, s[own])
            if not rare[label]:
                hits[own] = positives.counts[label] - np.searchsorted(np.sort(s[own]), s[own])
    return hits / above


def weighted_average_precision(y: np.ndarray, s: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average precision of one label under each row of weights; NaN where the weights leave no positive row."""
    order = np.argsort(-s, kind="stable")
    ends = np.flatnonzero(np.append(s[order][1:] != s[order][:-1], True))
    step = np.searchsorted(ends, np.flatnonzero(y[order]))  # the steps that hold a positive row: the others add nothing
    ends, own = np.unique(ends[step], return_inverse=True)
    if len(ends) == 0:
        return np.full(len(weights), np.nan)
    W = weights[:, order]
    drawn = np.cumsum(np.add.reduceat(W[:, : ends[-1] + 1], np.append(0, ends[:-1] + 1), axis=1), axis=1)
    gained = np.add.reduceat(W[:, y[order]], np.searchsorted(own, np.arange(len(ends))), axis=1)
    hits = np.cumsum(gained, axis=1)
    total = hits[:, -1]
    value = (gained * hits / np.where(drawn > 0, drawn, 1)).sum(axis=1)
    return np.where(total > 0, value / np.where(total > 0, total, 1), np.nan)


def label_precisions(Y: np.ndarray, S: Any, weights: np.ndarray | None = None) -> np.ndarray:
    """The average precision of each label, NaN without a positive row; Y bool (n, c), S dense, or sparse and >= 0;
    ``weights`` (n,): how often each row counts."""
    if weights is not None:
        S = S.toarray() if sp.issparse(S) else S
        pairs = zip(Y.T, S.T, strict=True)
        return np.array([weighted_average_precision(y, s, weights[None])[0] for y, s in pairs])
    if sp.issparse(S):
        total, counts = _sparse_totals(Y, S)
    else:
        positives = Positives.of(Y)
        total = np.bincount(positives.labels, precision_at(positives, S), minlength=Y.shape[1])
        counts = positives.counts
    return np.divide(total, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def _sparse_totals(Y: np.ndarray, S: Any) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the positive rows of their precision, and their number, from the stored entries of the scores."""
    S = sp.csc_array(S, copy=True)
    S.sum_duplicates()
    S.eliminate_zeros()
    if len(S.data) and S.data.min() < 0:
        raise ValueError("sparse scores must be at least 0, as shares are; pass others as a dense array.")
    counts, column = Y.sum(axis=0), np.repeat(np.arange(S.shape[1]), np.diff(S.indptr))
    order = np.lexsort((-S.data, column))
    value, hit = S.data[order], Y[S.indices[order], column]
    last = np.append((value[1:] != value[:-1]) | (column[1:] != column[:-1]), True)[: len(value)]
    ends = np.flatnonzero(last)[np.cumsum(last) - last]  # of rows of one score, the last one ranks all
    reached = np.append(0, np.cumsum(hit))
    first = S.indptr[column]
    above, hits = ends + 1 - first, reached[ends + 1] - reached[first]
    total = np.bincount(column, hit * hits / above, minlength=S.shape[1])
    found = np.bincount(column, hit, minlength=S.shape[1])
    return total + (counts - found) * counts / S.shape[0], counts
