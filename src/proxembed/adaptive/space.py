"""Stages 2 and 3: the features that are projected, in coordinates of their row space, for rows of the fit and new ones.

In: preprocessed rows, a measure, a second preprocessing. Out: T = X_t V, n x r with r at most n, where every criterion
is a problem of size r whatever the number of features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.blas import gram, matmul
from proxembed.algebra.arrays.matrix import Matrix
from proxembed.algebra.pencil.symmetric import descending

from ..features.scaling import ScalingState, scaling_apply, scaling_fit
from ..pairs.formulas import RELATIONS, InnerProducts, measure_products
from .points import CentredRows, Preprocessing, inner, inner_products, state_bytes

RANK = 1e-12  # smallest eigenvalue of the Gram matrix, as a share of the largest: (1e-6)^2


@dataclass(frozen=True)
class Space:
    """Row-space coordinates: ``T`` (n, r) of the fit, ``T_new`` (m, r); ``basis`` makes them of the features, or of
    inner products with the rows of the fit. ``width``: the features that these are coordinates of."""

    T: np.ndarray
    T_new: np.ndarray
    basis: np.ndarray
    width: int
    state: ScalingState | None = None

    @property
    def dimensions(self) -> int:
        """min(n, d), by which the unit of lam counts: r, a numerical rank, moves at a rounding error."""
        return min(len(self.T), self.width)

    @cached_property
    def reach(self) -> float:
        """The length of the longest row of T."""
        return float(np.sqrt(np.einsum("ij,ij->i", self.T, self.T).max()))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, those of the second preprocessing among them."""
        state = 0 if self.state is None else state_bytes(self.state)
        return self.T.nbytes + self.T_new.nbytes + self.basis.nbytes + state


def by_features(rows: CentredRows) -> bool:
    """Whether coordinates of the rows themselves come from their features: dense ones, not more than rows."""
    return not sp.issparse(rows.X) and rows.X.shape[1] <= rows.X.shape[0]


def feature_space(X: np.ndarray, X_new: np.ndarray, width: int, state: ScalingState | None = None) -> Space:
    """Coordinates of dense features by the eigenvectors of X'X.

    Examples
    --------
    >>> feature_space(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([[3.0, 3.0]]), 2).T.shape
    (2, 1)
    """
    w, V = descending(gram(X))
    basis = V[:, _kept(w)]
    return Space(matmul(X, basis), matmul(X_new, basis), basis, width, state)


def gram_space(G: np.ndarray, C: np.ndarray, width: int) -> Space:
    """Coordinates of rows known by their inner products G = XX' alone, new rows by C = X_q X'."""
    w, U = descending(G)
    keep = _kept(w)
    basis = U[:, keep] / np.sqrt(w[keep])
    return Space(matmul(G, basis), matmul(C, basis), basis, width)


def relation_features(
    kind: str, pairs: InnerProducts, pairs_new: InnerProducts, value: float | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """R and R_q, and the number both were divided by: the largest value of an unbounded measure, else 1."""
    R, R_new = (measure_products(kind, each, pairs.level, value) for each in (pairs, pairs_new))
    scale = float(np.abs(R).max()) if RELATIONS[kind].unbounded else 1.0
    if not (np.isfinite(R).all() and np.isfinite(R_new).all()):
        raise ValueError(f"The relation features ({kind}) are not finite: the features are too large for this measure.")
    return (R, R_new, 1.0) if scale in (0.0, 1.0) else (R / scale, R_new / scale, scale)


def relation_space(R: np.ndarray, R_new: np.ndarray, kind: str) -> Space:
    """Stage 3 on relation features, and its coordinates."""
    state = scaling_fit(kind, R)
    return feature_space(scaling_apply(state, R), scaling_apply(state, R_new), R.shape[1], state)


def _kept(w: np.ndarray) -> np.ndarray:
    keep = w > RANK * max(w[0], 0.0)
    if not keep.any() or w[0] <= 0:
        raise ValueError("The features are all zero after preprocessing: no embedding can be made of them.")
    return keep


@dataclass(frozen=True)
class Projection:
    """The way of new rows through all stages: Z = T(X) P.

    ``columns``: the features that vary; ``rows``: the preprocessed rows of the fit, with which new ones are compared
    (None where they are not needed); ``relation``: name, parameter, divisor and level of the measure, or None.
    """

    columns: np.ndarray
    preprocessing: Preprocessing
    rows: Any  # CentredRows | None
    relation: tuple[str, float | None, float, np.ndarray] | None
    space_state: Any  # ScalingState | None
    basis: np.ndarray
    P: np.ndarray

    def stored(self) -> dict[str, Any]:
        """The same as plain arrays, numbers and scalings, which a saved model may hold; ``restored`` takes it back."""
        rows = None if self.rows is None else (self.rows.X, self.rows.mean)
        return {**vars(self), "preprocessing": dict(vars(self.preprocessing)), "rows": rows}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Projection:
        """The projection of ``stored()``."""
        rows = None if state["rows"] is None else CentredRows(*state["rows"])
        return cls(**{**state, "preprocessing": Preprocessing(**state["preprocessing"]), "rows": rows})

    def first(self, k: int) -> Projection:
        """The first k components."""
        return replace(self, P=self.P[:, :k])

    def apply(self, X: Matrix) -> np.ndarray:
        """The embedding of rows X, (m, d) to (m, k)."""
        rows = self.preprocessing.apply(X[:, self.columns])
        if self.relation is None:
            features = rows.X if self.rows is None else inner_products(rows, self.rows)
        else:
            kind, value, scale, level = self.relation
            R = measure_products(kind, inner(rows, self.rows), level, value) / scale
            features = scaling_apply(self.space_state, R)
        return matmul(features, matmul(self.basis, self.P))
