"""Blocks: matrices of any units side by side, each over the root mean squared distance of its rows to their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import Matrix, guard_dense, over, unit_of


@dataclass(frozen=True)
class Block:
    """The scale of one matrix among others: weight (X - mean) / size.

    ``mean`` is None where the matrix is sparse, which is divided without centring; ``size`` is 0 where all rows are
    equal, whose block is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.features.blocks import Block
    >>> X = np.array([[3.0, 0.0], [-3.0, 4.0]])
    >>> block = Block.of(X, 2.0)
    >>> block.columns(X).round(3).tolist(), round(block.size, 3)
    ([[1.664, -1.109], [-1.664, 1.109]], 3.606)
    """

    mean: np.ndarray | None
    size: float
    weight: float
    width: int

    @classmethod
    def of(cls, X: Matrix, weight: float) -> Block:
        """The block of the rows X of fit, (n, d) array or CSR."""
        (n, width), unit = X.shape, unit_of(X)
        rows = CentredMatrix.centred(over(X, unit), np.ones(n))
        size = 0.0 if rows.constant else unit * float(np.sqrt(max(rows.squared_norm(), 0.0) / n))
        mean: Any = rows.mean
        return cls(None if sparse.issparse(X) else unit * mean, size, float(weight), width)

    def columns(self, X: Matrix) -> Matrix:
        """The scaled columns (m, d) of rows X in double precision: sparse where X and the rows of fit are."""
        if self.mean is not None and sparse.issparse(X):
            guard_dense(X.shape, "A centred view of sparse rows")
            X = X.toarray()
        if self.size == 0:
            return sparse.csr_array(X.shape) if sparse.issparse(X) else np.zeros(X.shape)
        X = X.astype(np.float64)
        return (X if self.mean is None else X - self.mean) * (1.0 / self.size) * self.weight


def scaled(blocks: Sequence[Block], views: Sequence[Matrix]) -> Any:
    """Views of the same rows side by side, each by its block: CSR where one of the results is sparse, else an array.

    Raises
    ------
    ValueError
        A dense result above the size guard.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from proxembed.features.blocks import Block, scaled
    >>> views = np.array([[1.0], [-1.0]]), sp.csr_array(np.eye(2) * 3)
    >>> scaled([Block.of(view, 1.0) for view in views], views).toarray().round(3).tolist()
    [[1.0, 1.414, 0.0], [-1.0, 0.0, 1.414]]
    """
    parts = [block.columns(view) for block, view in zip(blocks, views, strict=True)]
    if not any(sparse.issparse(part) for part in parts):
        guard_dense((parts[0].shape[0], sum(part.shape[1] for part in parts)), "The views side by side")
        return np.hstack(parts)
    return sparse.csr_array(sparse.hstack([sparse.csr_array(part) for part in parts], format="csr"))
