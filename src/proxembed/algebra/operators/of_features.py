"""OfFeatures: a d x d matrix of the features among operators of the rows, in the place of their X'AX."""

from __future__ import annotations

from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix

from .structured import Operator, Repeats, RowSpace


class OfFeatures(Operator):
    """A term whose X'AX is a given d x d matrix M, an operator of size d, whatever the rows are. As a matrix of the n
    rows it is not known."""

    def __init__(self, M: Operator, n: int):
        self.M, self.n = M, n

    def times(self, P: np.ndarray) -> np.ndarray:
        """M P, d x k."""
        return self.M @ P

    def sandwich(self, X: Any) -> np.ndarray:
        return self.M.todense(CentredMatrix.of(X).shape[1])

    def trace_on(self, X: Any) -> float:
        return self.M.trace(self.M.n)

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return np.zeros(self.n)

    def in_coordinates(self, coordinates: RowSpace) -> np.ndarray:
        V = coordinates.V
        return symmetrise(V.T @ (self.M @ V))

    def over(self, square: float) -> Operator:
        """The term for rows over the root of ``square``."""
        return OfFeatures(self.M / square, self.n)

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return OfFeatures(self.M, n)

    def repeated(self, repeats: Repeats) -> Operator:
        return self


def has_features(*operators: Operator | None) -> bool:
    """Whether a matrix of the features is among the terms."""
    return any(isinstance(leaf, OfFeatures) for op in operators if op is not None for _, leaf in op.terms())


def refuse_lifted(*operators: Operator | None) -> None:
    """A ValueError for a matrix of the features of X where others are projected."""
    if has_features(*operators):
        raise ValueError(
            "A matrix of the features of X does not fit here, where others are projected: those of a kernel, leaves or "
            'views. State the pair for rows, of="rows".'
        )
