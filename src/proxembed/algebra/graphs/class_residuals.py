"""ClassResiduals: what is left of each row of a class after its reconstruction from all other rows of the class.

The ridge-regularised weights of all leave-one-out problems of a class have one closed form,
I - W = diag(c)(eH - B U') with the left singular vectors U of the centred class, so that neither W nor a system for
each row is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import matmul, symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix, rank_threshold
from proxembed.algebra.operators.structured import Operator
from proxembed.algebra.pencil.symmetric import descending


@dataclass(frozen=True)
class Residual:
    """diag(scale)(plain H - B U') on the rows ``index``, H the centring of these rows."""

    index: np.ndarray
    U: np.ndarray
    B: np.ndarray
    scale: np.ndarray
    plain: float

    def dot(self, Z: np.ndarray, part: slice = slice(None)) -> np.ndarray:
        """Some rows of the product with Z, (len, k)."""
        level = self.plain * Z.mean(axis=0)
        return self.scale[part, None] * (self.plain * Z[part] - level - matmul(self.B[part], matmul(self.U.T, Z)))

    def tdot(self, Z: np.ndarray) -> np.ndarray:
        """The product of the transpose with Z, (n_k, k)."""
        Z = self.scale[:, None] * Z
        return self.plain * (Z - Z.mean(axis=0)) - matmul(self.U, matmul(self.B.T, Z))

    def column_squares(self) -> np.ndarray:
        """The squared lengths of the columns."""
        share = self.plain / len(self.scale)
        one = np.ones((len(self.scale), 1))
        Q, P = np.hstack([share * one, self.B]), np.hstack([one, self.U])
        near = np.einsum("ij,ij->i", Q, P)
        squares = self.scale**2
        inner = matmul(Q.T, squares[:, None] * Q)
        return squares * (self.plain**2 - 2 * self.plain * near) + np.einsum("ij,ij->i", matmul(P, inner), P)


class ClassResiduals(Operator):
    """sum_k S_k R_k'R_k S_k' for residual maps R_k of the classes."""

    def __init__(self, n: int, blocks: Sequence[Residual]):
        self.n, self.blocks = n, list(blocks)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        self._matches(len(V))
        columns = V.reshape(len(V), -1).astype(np.float64)
        out = np.zeros(columns.shape)
        for block in self.blocks:
            out[block.index] += block.tdot(block.dot(columns[block.index]))
        return out.reshape(V.shape)

    def sandwich(self, X: Any) -> np.ndarray:
        self._matches(X.shape[0])
        X = CentredMatrix.of(X)
        total = np.zeros((X.shape[1],) * 2)
        for block in self.blocks:
            rows = CentredMatrix(X.X[block.index], X.mean)
            below, level = rows.tdot(block.U).T, rows.tdot(np.full(len(block.index), block.plain / len(block.index)))
            for part, near in rows.blocks():
                near *= block.plain
                near -= level
                near -= matmul(block.B[part], below)
                near *= block.scale[part, None]
                total += matmul(near.T, near)
        return symmetrise(total)

    def diagonal(self, n: int | None = None) -> np.ndarray:
        out = np.zeros(self.n)
        for block in self.blocks:
            out[block.index] += block.column_squares()
        return out


def class_residual(X: Any, index: np.ndarray, reg: float, weight: np.ndarray) -> Residual:
    """The residual map of rows ``index`` of X, each from all others, its squares weighted; at least two rows.

    Raises ValueError where reg = 0 leaves the weights undetermined.
    """
    size = len(index)
    U, values = left_directions(X[index])
    if len(values) == 0:  # all rows coincide: equal weights
        nothing = np.zeros((size, 1))
        return Residual(np.asarray(index), nothing, nothing, np.sqrt(weight) * size / (size - 1), 1.0)
    squares = matmul(U**2, values)
    spread = reg * (values.sum() + size * squares)[:, None]  # reg times the sum of squared distances to the others
    if len(values) < size - 1:
        if reg == 0:
            raise ValueError(
                f"reg=0 leaves the reconstruction weights of a class of {size} rows in {len(values)} dimensions "
                "undetermined. Use reg > 0, or n_neighbors at most the number of dimensions."
            )
        plain, B = 1.0, U * (values / (values + spread))
        own = 1.0 - 1.0 / size - np.einsum("ij,ij->i", B, U)
    else:
        plain, B = 0.0, -U * ((values[-1] + spread) / (values + spread))
        own = -np.einsum("ij,ij->i", B, U)
    return Residual(np.asarray(index), U, B, np.sqrt(weight) / own, plain)


def left_directions(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors (n, r) of the centred rows of X and their squared singular values, descending."""
    ones = np.ones(X.shape[0])
    rows = CentredMatrix.centred(X, ones)
    tall = X.shape[0] > X.shape[1]
    values, vectors = descending(rows.gram() if tall else rows.outer_gram())
    keep = values > rank_threshold(values, max(X.shape), rows.noise)
    values, vectors = values[keep], vectors[:, keep]
    return (rows.dot(vectors) / np.sqrt(values) if tall else np.ascontiguousarray(vectors)), values
