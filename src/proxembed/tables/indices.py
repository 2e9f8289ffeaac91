"""Indices of sparse matrices: 32 bits where these suffice, as scikit-learn's compiled solvers take no others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

MOST = np.iinfo(np.int32).max


def small_indices(A: Any) -> Any:
    """A CSR or CSC matrix with 32-bit indices, sharing its data; A itself where it has them, needs 64 bits or is dense.

    Parameters
    ----------
    A : array, or CSR or CSC array or matrix

    Returns
    -------
    the same kind of array or matrix

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from proxembed.tables.indices import small_indices
    >>> wide = sparse.csr_array((np.ones(2), np.array([0, 2]), np.array([0, 1, 2])), shape=(2, 3))
    >>> wide.indices.dtype, small_indices(wide).indices.dtype
    (dtype('int64'), dtype('int32'))
    """
    if not sparse.issparse(A) or A.format not in ("csr", "csc"):
        return A
    if A.indices.dtype == A.indptr.dtype == np.int32 or max(*A.shape, A.indptr[-1]) > MOST:
        return A
    small = type(A)((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)
    if A.has_canonical_format:
        small.has_canonical_format = True
    return small


def for_solvers(X: Any) -> Any:
    """X as scikit-learn's trees and solvers, and UMAP, take it: a matrix of 32-bit indices where it is sparse.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from proxembed.tables.indices import for_solvers
    >>> for_solvers(sp.csr_array(sp.eye_array(2))).indices.dtype.name
    'int32'
    """
    return small_indices(sparse.csr_matrix(X)) if sparse.issparse(X) else X
