"""Stage 1: preprocessed rows, their inner products and the way in for new rows.

Dense rows are formed. Sparse rows stay sparse: their centring is carried along with them (``mean``), and their
principal components come from the n x n Gram matrix, so that no d x d and no dense n x d array is made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.blas import gram, matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import Matrix, guard_dense, row_squares
from proxembed.algebra.pencil.symmetric import descending, fix_signs
from proxembed.features.scaling import ScalingState, scaling_apply, scaling_fit
from proxembed.pairs.formulas import RELATIONS, InnerProducts, measure_products
from proxembed.pairs.relation import relation

NEAR = 1e-6
NONZERO = 1e-10


@dataclass(frozen=True)
class CentredRows:
    """Rows X - 1 mean' (``mean`` None: X itself), m x d."""

    X: Matrix
    mean: np.ndarray | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return matrix_bytes(self.X) + (0 if self.mean is None else self.mean.nbytes)

    @cached_property
    def squares(self) -> np.ndarray:
        """Squared lengths."""
        squares = row_squares(self.X)
        if self.mean is None:
            return squares
        return np.maximum(squares - 2 * np.asarray(self.X @ self.mean) + self.mean @ self.mean, 0.0)

    @cached_property
    def means(self) -> np.ndarray:
        """Means over the features."""
        total = np.asarray(self.X.sum(axis=1)).reshape(-1)
        return (total - (0.0 if self.mean is None else self.mean.sum())) / self.X.shape[1]


@dataclass(frozen=True)
class Preprocessing:
    """What stage 1 has learned from the rows of a fit: rows in, ``CentredRows`` out. Rows are scaled by ``state`` and
    centred by ``mean`` without being formed; where ``gram_map`` is given, they become inner products with the rows
    ``base`` of the fit, times that map."""

    state: ScalingState
    mean: np.ndarray | None = None
    base: Matrix | None = None
    gram_map: np.ndarray | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all that was learned."""
        held = (self.mean, self.base, self.gram_map)
        return state_bytes(self.state) + sum(matrix_bytes(value) for value in held if value is not None)

    @classmethod
    def fit(cls, kind: str, X: Matrix) -> Preprocessing:
        """Learn a kind of ``features.scaling`` from the rows of a fit."""
        if not sp.issparse(X):
            return cls(scaling_fit(kind, X))
        state = scaling_fit(kind if kind in ("unit", "standard") else "none", X)
        if kind in ("none", "unit"):
            return cls(state)
        base = scaling_apply(state, X)
        mean = np.asarray(base.mean(axis=0)).reshape(-1)
        if kind in ("center", "standard"):
            return cls(state, mean)
        return cls(state, mean, base, component_map(CentredRows(base, mean), kind))

    def apply(self, X: Matrix) -> CentredRows:
        """Rows preprocessed with the statistics of the rows of the fit."""
        rows = CentredRows(scaling_apply(self.state, X), self.mean)
        if self.gram_map is None:
            return rows
        return CentredRows(matmul(inner_products(rows, CentredRows(self.base, self.mean)), self.gram_map))


def component_map(rows: CentredRows, kind: str) -> np.ndarray:
    """From inner products with centred rows to their scores: U s^-1 ("pca") or sqrt(n - 1) U s^-2 ("whiten")."""
    w, U = descending(inner_products(rows, rows))
    keep = w > NONZERO * max(w[0], 0.0)
    if w[0] <= 0 or not keep.any():
        raise ValueError("X has no variance (all rows are equal): pass distinct rows.")
    s = np.sqrt(w[keep])
    U = fix_signs(U[:, keep])  # a correlation of scores depends on their signs
    return U / (s if kind == "pca" else s**2 / np.sqrt(len(w) - 1))


def inner_products(left: CentredRows, right: CentredRows) -> np.ndarray:
    """(X_q - 1 mean')(X - 1 mean')', m x n, both centred by the mean of the fit; sparse rows stay sparse."""
    guard_dense((left.X.shape[0], right.X.shape[0]), "The inner products of the rows")
    if left is right:
        return CentredMatrix(left.X, left.mean).outer_gram()
    if not sp.issparse(left.X):
        return matmul(left.X, right.X.T)
    G = (left.X @ right.X.T.tocsr()).toarray()
    if left.mean is not None:
        G -= np.asarray(left.X @ left.mean)[:, None]
        G -= np.asarray(right.X @ left.mean) - left.mean @ left.mean
    return G


def squared_distances(left: CentredRows, right: CentredRows, G: np.ndarray) -> np.ndarray:
    """a + b - 2 G, and from the rows themselves where that would cancel; exactly 0 for equal rows."""
    total = left.squares[:, None] + right.squares
    d2 = total - 2.0 * G
    near = d2 <= NEAR * total
    if left is right:
        np.fill_diagonal(near, False)
        np.fill_diagonal(d2, 0.0)
    if near.any():
        rows, columns = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
        part = np.ix_(rows, columns)
        exact = relation("euclidean", left.X[rows], right.X[columns]) ** 2
        d2[part] = np.where(near[part], exact, d2[part])
    return np.maximum(d2, 0.0, out=d2)


def inner(left: CentredRows, right: CentredRows) -> InnerProducts:
    """All that the measures need to know of two sets of rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        G = inner_products(left, right)
        d2 = squared_distances(left, right, G)
    return InnerProducts(G, left.squares, right.squares, left.means, right.means, left.X.shape[1], d2)


def matrix_bytes(X: Matrix) -> int:
    """Bytes of a dense or CSR matrix."""
    return sum(part.nbytes for part in ((X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)))


def state_bytes(state: ScalingState) -> int:
    """Bytes of what a scaling has learned."""
    return sum(value.nbytes for value in vars(state).values() if isinstance(value, np.ndarray))


def varying(X: Matrix) -> np.ndarray:
    """The columns that are not constant over the rows."""
    largest, smallest = X.max(axis=0), X.min(axis=0)
    if sp.issparse(X):
        largest, smallest = largest.toarray().reshape(-1), smallest.toarray().reshape(-1)
    return np.flatnonzero(largest > smallest)


def float64(X: Any) -> Matrix:
    """Rows as a float64 array or CSR array."""
    return sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)


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
    """Coordinates of dense features by the eigenvectors of X'X."""
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
    """The way of new rows through all stages: Z = T(X) P. ``columns``: the features that vary; ``rows``: the
    preprocessed rows of the fit, with which new ones are compared (None where they are not needed); ``relation``: name,
    parameter, divisor and level of the measure, or None."""

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
