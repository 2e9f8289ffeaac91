"""Parts of rows alike in y: iterative stratification by sparse labels, and blocks of neighbours along one number.

[sechidis2011stratification]

The label with the fewest rows left is dealt out first, each of its rows to the part that lacks most rows of this label.
The work grows with the entries of Y and with the square of the number of labels, by single passes over the labels.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.targets.values import sparse_labels

NONE_LEFT = np.iinfo(np.int64).max  # in place of 0 rows left of a label, so that the least number is that of another


def stratified_parts(Y: Any, shares: Any, seed: int = 0) -> np.ndarray:
    """The part of each row, so that each part gets its share of the rows and of every label.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        Labels, 0 or 1; the rows without a label are spread evenly, as those of a label of their own.
    shares : sequence or array of float
        The share of each part; they sum to 1.
    seed : int, default=0
        Seed of the order of the rows and of the ties.

    Returns
    -------
    int array of shape (n,)
    """
    random = np.random.RandomState(seed)
    Y = with_empty_column(Y)
    order = np.arange(Y.shape[0])
    random.shuffle(order)
    part = np.empty(Y.shape[0], dtype=np.intp)
    part[order] = _dealt(sp.csr_array(Y[order]), np.asarray(shares, dtype=np.float64), random)
    return part


def parts_along(values: Any, shares: Any, seed: int = 0) -> np.ndarray:
    """The part of each row, so that each part gets its share of the rows everywhere along sorted values.

    Each part of m rows takes one from each of m ranges of equal numbers of neighbouring rows; of k equal parts each
    takes one of any k neighbours that make up a range, at random. Rows of equal values are in random order.

    Parameters
    ----------
    values : array of shape (n,)
    shares : sequence or array of float
        The share of each part; they sum to 1.
    seed : int, default=0

    Returns
    -------
    int array of shape (n,)
    """
    random, n = np.random.RandomState(seed), len(values)
    sizes = np.diff(np.rint(np.cumsum([0.0, *shares]) * n).astype(np.intp))
    places = np.concatenate([(np.arange(size) + random.random_sample(size)) / max(size, 1) for size in sizes])
    part = np.empty(n, dtype=np.intp)
    part[np.lexsort((random.permutation(n), values))] = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(places)]
    return part


def with_empty_column(Y: Any) -> sp.csr_array:
    """Y as 0 and 1 with one more column that marks the rows without a label, sparse."""
    Y = sparse_labels(Y)
    empty = np.flatnonzero(np.diff(Y.indptr) == 0)
    column = sp.csr_array((np.ones(len(empty), dtype=bool), (empty, np.zeros_like(empty))), shape=(Y.shape[0], 1))
    return sp.csr_array(sp.hstack([Y, column], format="csr"))


def _dealt(Y: sp.csr_array, shares: np.ndarray, random: Any) -> np.ndarray:
    """The part of each row of Y, each of which has a label; lists, as single numbers are read and changed."""
    n, columns = Y.shape[0], sp.csc_array(Y)
    columns.sort_indices()
    left = np.diff(columns.indptr).astype(np.int64)
    lacks, lacks_of = (shares * n).tolist(), np.outer(left, shares).tolist()
    left[left == 0] = NONE_LEFT
    entries = Y.indices.tolist()
    labels = [entries[first:last] for first, last in pairwise(Y.indptr.tolist())]
    part, placed = np.empty(n, dtype=np.intp), np.zeros(n, dtype=bool)
    while (fewest := left.min()) < NONE_LEFT:
        label = _one_of(np.flatnonzero(left == fewest), random)
        rows = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        rows = rows[~placed[rows]]
        taken: list[int] = []
        for row in rows.tolist():
            part[row] = chosen = _neediest(lacks_of[label], lacks, random)
            lacks[chosen] -= 1
            for own in labels[row]:
                lacks_of[own][chosen] -= 1
            taken += labels[row]
        placed[rows] = True
        np.subtract.at(left, taken, 1)
        ended = np.asarray(taken)
        left[ended[left[ended] == 0]] = NONE_LEFT
    return part


def _neediest(lacks_of_label: list[float], lacks: list[float], random: Any) -> int:
    """The part that lacks most rows of a label; of several the one that lacks most rows."""
    most = max(lacks_of_label)
    parts = [part for part, number in enumerate(lacks_of_label) if number == most]
    if len(parts) > 1:
        most = max(lacks[part] for part in parts)
        parts = [part for part in parts if lacks[part] == most]
    return _one_of(parts, random)


def _one_of(candidates: Any, random: Any) -> Any:
    """One of them at random; no number is drawn where there is one alone."""
    return candidates[0 if len(candidates) == 1 else random.randint(len(candidates))]
