"""Rows: all that a method may know about the rows, and the label matrices that templates are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .algebra.operators import LowRank
from .labels import LabelMatrix


@dataclass(frozen=True)
class Rows:
    """Checked rows X (n x d) with their labels; ``weighting`` is set by MESD alone (None: no copies)."""

    X: Any
    labels: LabelMatrix | None
    weighting: str | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return self.X.shape[0]

    @cached_property
    def ones(self) -> np.ndarray:
        """Uniform row weights."""
        return np.ones(self.n)

    @cached_property
    def mass(self) -> np.ndarray:
        """Row weights of the scatter: ones; under MESD the labels a row, or 1[m > 0] where copies are weighted."""
        if self.weighting is None:
            return self.ones
        return self.labels.m if self.weighting == "none" else (self.labels.m > 0).astype(np.float64)

    def coded(self, kind: str) -> sparse.csc_array:
        """Y as 1/0 ("01"), or as +1/-1 less the constant -1 ("pm1": 2Y), which centring removes; sparse either way."""
        return self.labels.Y if kind == "01" else self.labels.Y * 2.0

    def class_mean(self) -> LowRank:
        """Y N^-1 Y': projection on the class means."""
        return LowRank(self.labels.Y, reciprocal(self.labels.nk))

    def grand_mean(self) -> LowRank:
        """m m' / nt: projection on the mean of all label copies."""
        return LowRank(self.labels.m[:, None], np.array([1.0 / self.labels.nt]))

    def weigh(self, W: LowRank, same_class: bool = True) -> LowRank:
        """W itself; W / (m m') for "mimj"; (YY') o W / (m m') for "printed" where W links rows of one class.

        Always before Laplacian(). ``same_class=False`` tells that W links all rows, whatever their labels.
        """
        if self.weighting in (None, "none"):
            return W
        scale = sparse.diags_array(reciprocal(self.labels.m))
        factor = scale @ sparse.csc_array(W.F)
        if self.weighting == "mimj" or not same_class:
            return LowRank(sparse.csc_array(factor), W.S)
        return _times_shared_labels(LowRank(factor, W.S), self.labels.Y)


def reciprocal(w: np.ndarray) -> np.ndarray:
    """1/w with 1/0 := 0."""
    return np.divide(1.0, w, out=np.zeros_like(w, dtype=np.float64), where=w != 0)


def _times_shared_labels(W: LowRank, Y: sparse.csc_array) -> LowRank:
    """W o YY' as a low-rank operator: one factor column for each column of W's factor and each label that meets it."""
    columns, weights = [], []
    F, S = sparse.csc_array(W.F), W.S
    for j in range(F.shape[1]):
        product = sparse.csc_array(Y.multiply(F[:, [j]]))
        used = np.flatnonzero(np.diff(product.indptr))
        columns.append(product[:, used])
        weights.append(np.full(len(used), 1.0 if S is None else S[j]))
    return LowRank(sparse.csc_array(sparse.hstack(columns)), np.concatenate(weights))
