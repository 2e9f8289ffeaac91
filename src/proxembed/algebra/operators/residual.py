"""SquaredResidual: (I - W)'(I - W) of reconstruction weights W, known by W.

In: the sparse weights. Out: an operator whose products and X'AX take the nonzeros of W, where those of the product
matrix are its neighbours of neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import gram
from proxembed.algebra.arrays.centred import CentredMatrix, block_rows
from proxembed.algebra.arrays.parallel import by_columns

from .structured import Operator

SMALLER = 8  # than usual: a block of rows has several times as many neighbours


class SquaredResidual(Operator):
    """(I - W)'(I - W) of a sparse n x n matrix W; a row of W without entries gives no term.

    Examples
    --------
    >>> A = SquaredResidual(sparse.csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> A.todense().tolist()
    [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
    """

    def __init__(self, W: sparse.csr_array):
        has = (np.diff(W.indptr) > 0).astype(np.float64)
        self.R, self.n = sparse.csr_array(sparse.diags_array(has) - W), W.shape[0]

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        self._matches(len(V))
        return by_columns(self.R.T, by_columns(self.R, V))

    def sandwich(self, X: Any) -> np.ndarray:
        self._matches(X.shape[0])
        rows = CentredMatrix.of(X)
        total: Any = sum(gram(E) for E in self._residuals(rows))
        return total

    def trace_on(self, X: Any) -> float:
        self._matches(X.shape[0])
        return sum(float(np.vdot(E, E)) for E in self._residuals(CentredMatrix.of(X)))

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return np.asarray((self.R * self.R).sum(axis=0)).ravel()

    def _residuals(self, rows: CentredMatrix) -> Iterator[np.ndarray]:
        """(I - W)X of the centred rows, some rows at a time."""
        step = max(64, block_rows(rows.shape[1]) // SMALLER)
        for start in range(0, self.n, step):
            R = self.R[start : start + step]
            used, place = np.unique(R.indices, return_inverse=True)
            near = sparse.csr_array((R.data, place, R.indptr), shape=(R.shape[0], len(used)))
            if rows.sparse:
                E = (near @ rows.X[used].astype(np.float64)).toarray()
                yield E if rows.mean is None else E - np.outer(R.sum(axis=1), rows.mean)
            else:
                yield near @ (rows.X[used].astype(np.float64) if rows.mean is None else rows.X[used] - rows.mean)
