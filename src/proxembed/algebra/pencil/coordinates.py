"""Coordinates: the row space of the centred rows, where every template becomes a small dense problem.

In: a CentredMatrix and its row weights. Out: T = X V with T'diag(w)T = diag(s^2), X'AX in these r coordinates for any
operator, and the way back P = V Q. One eigendecomposition of the smaller Gram matrix, never an SVD of a tall X.
"""

from functools import cached_property

import numpy as np

from proxembed.algebra.arrays.blas import matmul, symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix, rank_threshold
from proxembed.algebra.arrays.matrix import all_ones, guard_dense
from proxembed.algebra.operators.structured import LowRank, Operator
from proxembed.algebra.shared import remembered

from .symmetric import descending


class Coordinates:
    """The r right singular directions of diag(w)^1/2 X that numerical rank keeps (spec: row-space restriction)."""

    def __init__(self, rows: CentredMatrix, weights: np.ndarray | None, gram: np.ndarray, side: str):
        self.rows, self.weights, self.side = rows, weights, side
        values, vectors = remembered(lambda: descending(gram), "eigenvectors", gram)
        keep = values > rank_threshold(values, max(rows.shape), rows.noise)
        self.s = np.sqrt(values[keep])
        self.vectors = vectors[:, keep]  # of the Gram matrix of this side
        self._inner: dict[int, tuple[Operator, np.ndarray]] = {}

    @property
    def rank(self) -> int:
        """r, the numerical rank."""
        return len(self.s)

    @cached_property
    def V(self) -> np.ndarray:
        """The d x r basis of the row space."""
        if self.side == "features":
            return self.vectors
        left = self.vectors if self.weights is None else self.vectors * np.sqrt(self.weights)[:, None]
        return self.rows.tdot(left) / self.s

    @cached_property
    def T(self) -> np.ndarray:
        """The n x r coordinates of the rows."""
        guard_dense((self.rows.shape[0], self.rank), "The row-space coordinates of X")
        if self.side == "features":
            return self.rows.dot(self.V)
        T = self.vectors * self.s
        if self.weights is not None:
            root = np.sqrt(self.weights)
            T = np.divide(T, root[:, None], out=np.zeros_like(T), where=root[:, None] > 0)
            lost = np.flatnonzero(root == 0)
            if len(lost):
                T[lost] = self.rows.take(lost).dot(self.V)
        return T

    def left(self, part: np.ndarray) -> np.ndarray:
        """Some rows of diag(w)^1/2 T, where these coordinates come from the row side."""
        return self.vectors[part] * self.s

    def back(self, Q: np.ndarray) -> np.ndarray:
        """P = V Q, d x k."""
        if self.side == "features":
            return matmul(self.V, Q)
        left = matmul(self.vectors, Q / self.s[:, None])
        return self.rows.tdot(left if self.weights is None else left * np.sqrt(self.weights)[:, None])

    def project(self, op: LowRank) -> np.ndarray:
        """T'F of a low-rank operator, r x q."""
        if self.side == "features":
            return matmul(self.V.T, op.project(self.rows))
        return op.project(self.T)

    def is_source(self, op: Operator) -> bool:
        """Whether a low-rank factor is the very matrix that these coordinates are of."""
        return op.is_squared_scatter(self.rows, self.uniform)

    @property
    def uniform(self) -> bool:
        """Whether all rows weigh one."""
        return all_ones(self.weights)

    def sandwich(self, op: Operator) -> np.ndarray:
        """T'AT, r x r."""
        total = np.zeros((self.rank, self.rank))
        for c, leaf in op.terms():
            if leaf.is_scatter(self.rows, self.weights):
                total[np.diag_indices_from(total)] += c * self.s**2
            elif self.is_source(leaf):
                total[np.diag_indices_from(total)] += c * self.s**4
            else:
                leaf.add_in_coordinates(total, c, self)
        return symmetrise(total)

    def general(self, leaf: Operator) -> np.ndarray:
        """T'AT without structure to use; kept, since A and B often share a leaf."""
        if id(leaf) not in self._inner:
            if self.side == "features":
                inner = matmul(self.V.T, matmul(leaf.sandwich(self.rows), self.V))
            else:
                inner = leaf.sandwich(self.T)
            self._inner[id(leaf)] = (leaf, inner)
        return self._inner[id(leaf)][1]
