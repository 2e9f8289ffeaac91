"""SummedRows: rows that stand for others with the same sums; RowStream: rows that are read anew for every product, for
systems too wide for a Gram matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from .blas import matmul
from .centred import CentredMatrix
from .parallel import by_columns

Product = Callable[[np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray]]


class SummedRows(CentredMatrix):
    """Centred rows that stand for ``count`` rows of mean ``centre`` (None: not centred), of which sums are known.

    The mean was taken off before, so that ``mean`` is None. ``sums``: those of the centred columns. ``known``: pairs
    (U, X'U) of factors whose products come from the sums.
    """

    def __init__(self, X: Any, count: int, centre: Any, sums: np.ndarray, known: list[Any]):
        super().__init__(X)
        self._count, self._centre, self._sums, self._known = count, centre, sums, known

    @property
    def count(self) -> int:
        return self._count

    @property
    def centre(self) -> np.ndarray | None:
        return self._centre

    def column_sums(self) -> np.ndarray:
        return self._sums

    def tdot_under(self, P: Any, U: Any, chunk: int = 16) -> np.ndarray:
        return matmul(P.T, self.tdot(U))


class RowStream(SummedRows):
    """Centred rows of which sums are known, and products with X'X cost a reading.

    ``product``: ``gram_product`` over all blocks, as a function of V and of the level; ``count`` rows in all, of mean
    ``centre`` (None: not centred), whose centred columns have the sums of squares ``norms`` and the sums ``sums``.
    ``known``: pairs (U, X'U). ``shape`` is (min(n, d), d).

    Examples
    --------
    >>> from functools import partial
    >>> X = np.array([[1.0, 2.0], [3.0, 0.0], [5.0, 1.0]])
    >>> rows = RowStream(partial(gram_product, [X[:2], X[2:]]), 3, X.mean(axis=0), X.var(axis=0) * 3, np.zeros(2), [])
    >>> rows.normal_dot(np.eye(2))
    array([[ 8., -2.],
           [-2.,  2.]])
    """

    def __init__(
        self,
        product: Product,
        count: int,
        centre: np.ndarray | None,
        norms: np.ndarray,
        sums: np.ndarray,
        known: list[Any],
    ):
        d = len(norms)
        super().__init__(sparse.csr_array((min(count, d), d)), count, centre, sums, known)
        self._gram_product, self._norms = product, norms

    def column_norms(self, weights: np.ndarray | None = None) -> np.ndarray:
        return self._norms

    def squared_norm(self, weights: np.ndarray | None = None) -> float:
        return float(self._norms.sum())

    def normal_dot(self, V: np.ndarray) -> np.ndarray:
        """Xc'Xc V in V's float type, by one reading."""
        level = None if self._centre is None else (self._centre @ V).astype(V.dtype)
        out, total = self._gram_product(V, level)
        if level is not None:
            out -= np.outer(self._centre, total)
        return out.astype(V.dtype, copy=False)


def gram_product(blocks: Iterable[Any], V: np.ndarray, level: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """X'Z and 1'Z over blocks X (m, d), with Z = XV - 1 level'; (d, q) and (q,), 0 without a level.

    >>> gram_product([np.eye(2), np.eye(2)], np.eye(2), None)[0]
    array([[2., 0.],
           [0., 2.]])
    """
    out, total = np.zeros(V.shape), np.zeros(V.shape[1])
    for X in blocks:
        X = X.astype(V.dtype, copy=False)
        Z = by_columns(X, V) if sparse.issparse(X) else X @ V
        if level is not None:
            Z -= level
            total += Z.sum(axis=0, dtype=np.float64)
        out += by_columns(X.T, Z) if sparse.issparse(X) else X.T @ Z
    return out, total
