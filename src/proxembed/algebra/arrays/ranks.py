"""Ranks of the entries of each row, dense and sparse: the correlation of ranks is Spearman's."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from .matrix import Matrix
from .parallel import in_threads

RANKED_ENTRIES = 1 << 17


def mid_ranks(X: Matrix) -> Matrix:
    """Mid-ranks of each row over its features, up to a constant per row; of sparse rows only the stored entries change.

    Examples
    --------
    >>> mid_ranks(np.array([[5.0, 1.0, 5.0]]))
    array([[2.5, 1. , 2.5]], dtype=float32)
    >>> mid_ranks(sp.csr_array([[0.0, 4.0, 0.0, -1.0]])).toarray()  # the ranks 2.5, 4, 2.5, 1 less the zeros' 2.5
    array([[ 0. ,  1.5,  0. , -1.5]])
    """
    n, d = X.shape
    if not sp.issparse(X):
        out = np.empty((n, d), dtype=np.float32 if d < 1 << 22 else np.float64)

        def work(part: slice) -> None:
            out[part] = rankdata(X[part], axis=1)

        in_threads(work, n, max(1, RANKED_ENTRIES // max(1, d)))
        return out
    X = sp.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    order = np.lexsort((X.data, row))
    value, owner = X.data[order], row[order]
    new = np.ones(len(value), dtype=bool)
    new[1:] = (value[1:] != value[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(value))
    middle = ((starts + ends + 1) / 2)[np.cumsum(new) - 1] - X.indptr[owner]
    negative = np.bincount(row, weights=X.data < 0, minlength=n)
    zeros = d - np.diff(X.indptr)
    middle += np.where(value > 0, zeros[owner], 0) - (negative + (zeros + 1) / 2)[owner]
    ranks = np.empty(len(value))
    ranks[order] = middle
    return sp.csr_array((ranks, X.indices, X.indptr), shape=X.shape)
