"""Identical rows in a search: which of them no list of K neighbours can hold.

In: rows, and which may enter the same lists. Out: for each row the one that stands for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import fingerprints, multipliers

ENTRIES = 1 << 18


def stand_in(X: Any, rows: np.ndarray, kind: np.ndarray, K: int) -> np.ndarray:
    """For each row itself or, where K + 1 identical rows of its kind come before it, the last of those.

    Lists take the lowest numbers among identical rows, so that later ones are in no list and have the same one. Rows
    are identical where all their entries are: equal fingerprints are only asked first.
    """
    prints = fingerprints(X, multipliers(X.shape[1]))
    out = np.arange(X.shape[0])
    order = rows[np.lexsort((rows, prints[rows], kind[rows]))]
    start, size = _groups(prints[order], kind[order])
    first = np.repeat(order[start], size)
    many = np.flatnonzero(np.repeat(size, size) > K + 1)
    many = many[_identical(X, order[many], first[many])]
    order, first = order[many], first[many]
    start, size = _groups(first, kind[order])
    late = np.arange(len(order)) - np.repeat(start, size) > K
    out[order[late]] = order[np.repeat(start + K, size)[late]]
    return out


def _groups(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Start and size of the runs of entries that are equal in both columns."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    start = np.flatnonzero(new)
    return start, np.diff(np.append(start, len(new)))


def _identical(X: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Whether row i[t] equals row j[t], entry by entry, for every t."""
    same = np.empty(len(i), dtype=bool)
    step = max(1, ENTRIES // max(1, X.shape[1] if not sparse.issparse(X) else X.nnz // max(1, X.shape[0])))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        if sparse.issparse(X):
            difference = sparse.csr_array(X[i[part]] != X[j[part]])
            same[part] = difference.sum(axis=1) == 0
        else:
            same[part] = (X[i[part]] == X[j[part]]).all(axis=1)
    return same
