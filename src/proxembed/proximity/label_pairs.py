"""Pairs of rows that share a label, found through the label columns: a block of rows at a time, never n x n."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..labels import LabelMatrix


def shared_label_pairs(labels: LabelMatrix, rows: slice) -> tuple[np.ndarray, np.ndarray]:
    """For a block of rows i all other rows j with at least one of their labels: (i, j), each pair once, ascending.

    The product of the block's label rows with Y' visits the columns of its labels only. Rows without labels have none.

    Parameters
    ----------
    labels : LabelMatrix of n rows.
    rows : slice of 0..n-1.

    Returns
    -------
    i, j : int arrays of shape (t,)

    Examples
    --------
    >>> labels = LabelMatrix.of(np.array([[1, 0], [1, 1], [0, 1], [0, 0]]))
    >>> [part.tolist() for part in shared_label_pairs(labels, slice(0, 2))]
    [[0, 1, 1], [1, 0, 2]]
    """
    start, stop, _ = rows.indices(labels.n)
    shared = sparse.csr_array(labels.Y.tocsr()[start:stop] @ labels.Y.T.tocsr())
    shared.sort_indices()
    i = np.repeat(np.arange(start, stop), np.diff(shared.indptr))
    other = i != shared.indices
    return i[other], shared.indices[other].astype(np.intp)
