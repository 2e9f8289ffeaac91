"""Operators that are known by a factor: Inverse, (eps I + K)^-1 of a low-rank positive semidefinite K, and
SquaredResidual, (I - W)'(I - W) of reconstruction weights W.

An inverse is applied through an orthonormal basis of the range of K.
The textbook Woodbury form subtracts numbers of size 1/eps; in the basis Q of the range the small directions stay small:
(eps I + K)^-1 = Q (Q'KQ + eps I)^-1 Q' + (I - QQ')/eps.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse

from proxembed.algebra.arrays.blas import by_columns, gram, matmul, symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix, block_rows
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, descending, orthonormal_factors

from .spanned import Spanned
from .structured import CompressedRows, LowRank, Operator, Repeats, RowSpace, Sum, WantedSums

MANY_COLUMNS = 1000  # of a sparse factor, above which it stays sparse and its Gram matrix is not decomposed
SMALLER = 8  # than usual: a block of rows has several times as many neighbours


class Inverse(Operator):
    """(eps I + K)^-1, K a sum of low-rank positive semidefinite terms; R (eps I + R K R)^-1 R with R = diag(``root``)
    where it is given: the inverse for rows that are repeated, ``root`` that of their numbers."""

    def __init__(self, eps: float, K: Operator, root: np.ndarray | None = None):
        self.eps, self.K, self.n, self.root = float(eps), K, K.n, root
        self.parts: list[tuple[float, LowRank]] = []
        for c, leaf in K.terms():
            factor = leaf.low_rank()
            if c < 0 or (c > 0 and factor is None):
                raise TypeError("Inverse takes a sum of low-rank operators with positive coefficients.")
            if factor is not None and c > 0:
                self.parts.append((c, factor))

    @cached_property
    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        """Q (n x p) and the eigenvalues of K on it."""
        columns = sum(leaf.rank_bound for _, leaf in self.parts)
        if columns < self.n:
            F = self._rooted(np.hstack([np.sqrt(c) * _half(leaf) for c, leaf in self.parts]))
            w, V = descending(gram(F))
            keep = w > max(w[0], 0.0) * 1e-14
            Q, R = orthonormal_factors(F @ (V[:, keep] / np.sqrt(w[keep])))
            w, U = descending((R * w[keep]) @ R.T)
            return Q @ U, w
        w, V = descending(self._rooted(self._rooted(self.K.todense()).T))
        keep = w > max(w[0], 0.0) * 1e-14
        return V[:, keep], w[keep]

    def _rooted(self, V: np.ndarray) -> np.ndarray:
        """R V."""
        if self.root is None:
            return V
        return self.root * V if V.ndim == 1 else self.root[:, None] * V

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        (Q, w), V = self._range, self._rooted(V)
        C = Q.T @ V
        inside = C / (w + self.eps) if C.ndim == 1 else C / (w + self.eps)[:, None]
        return self._rooted(Q @ inside + (V - Q @ C) / self.eps)

    def sandwich(self, X: Any) -> np.ndarray:
        rows = CentredMatrix.of(X)
        guard_dense(rows.shape, "The rows projected through an inverse")
        own, others = self._split(lambda leaf: leaf.is_squared_scatter(rows, True))
        if (columns := self._many_columns(others)) is not None:
            return _beside_own(own, *columns, rows.dot(np.eye(rows.shape[1])))
        Q, w = self._range
        E = rows.tdot(self._rooted(Q))
        outside = self._rooted(rows.dot(np.eye(rows.shape[1]))) - matmul(Q, E.T)
        return matmul(E / (w + self.eps), E.T) + gram(outside) / self.eps

    def diagonal(self, n: int | None = None) -> np.ndarray:
        Q, w = self._range
        inside = np.einsum("ij,ij->i", Q, Q)
        entries = np.einsum("ij,j,ij->i", Q, 1.0 / (w + self.eps), Q) + (1.0 - inside) / self.eps
        return self._rooted(self._rooted(entries))

    def add_sums(self, sums: WantedSums) -> None:
        for _, leaf in self.parts:
            sums.inner.append((leaf.F, leaf.center))
            leaf.add_sums(sums)

    def compressed(self, rows: CompressedRows) -> Operator:
        return Inverse(self.eps, Sum([(c, leaf.compressed(rows)) for c, leaf in self.parts]))

    def repeated(self, repeats: Repeats) -> Operator:
        K = Sum([(c, _about_mean(leaf, repeats.weights)) for c, leaf in self.parts])
        return Inverse(self.eps, K, np.sqrt(repeats.weights))

    def in_coordinates(self, coordinates: RowSpace) -> np.ndarray:
        """T'(eps I + K)^-1 T in row-space coordinates T = U diag(s). Where K = c XX' + (few columns) and T belongs to
        the same X, K is diagonal plus low rank in the basis [U, Q_y]: nothing of size n is touched."""
        own, others = self._split(coordinates.is_source)
        if not coordinates.uniform or self.root is not None:
            return self.sandwich(coordinates.T)
        if (columns := self._many_columns(others)) is not None:
            return _beside_own(own, *columns, coordinates.T)
        if own == 0 and others and sum(leaf.rank_bound for _, leaf in others) > len(coordinates.s):
            return self.sandwich(coordinates.T)
        s = coordinates.s
        inside, outside = _factors_in_basis(others, coordinates)
        diagonal = np.concatenate([own * s**2, np.zeros(len(outside))]) + self.eps
        W = np.vstack([inside, outside]) / np.sqrt(diagonal)[:, None]
        g, V = descending(gram(W))
        keep = g > 0
        G = matmul(W, V[:, keep] / np.sqrt(g[keep]))
        shrink = g[keep] / (1.0 + g[keep])
        half = s / np.sqrt(diagonal[: len(s)])
        G = half[:, None] * G[: len(s)]
        return np.diag(half**2) - matmul(G * shrink, G.T)

    def _split(self, is_own: Callable[[LowRank], bool]) -> tuple[float, list[tuple[float, LowRank]]]:
        """The coefficient of the parts that are XX', and the other parts."""
        others = [(c, leaf) for c, leaf in self.parts if not is_own(leaf)]
        return sum(c for c, leaf in self.parts if is_own(leaf)), others

    def _many_columns(self, parts: list[tuple[float, LowRank]]) -> tuple[float, Spanned] | None:
        """c and F with its factor, where the parts are c FF' of a sparse F with many columns and eps is large enough
        for it; None where they are anything else."""
        if len(parts) != 1 or self.root is not None:
            return None
        c, leaf = parts[0]
        centred = leaf.center is not None
        if not sparse.issparse(leaf.F) or leaf.rank_bound <= MANY_COLUMNS or leaf.S is not None:
            return None
        if leaf.center is not None and np.ptp(leaf.center) > 0:
            return None
        spanned = Spanned(leaf.F, self.eps / c, centred=centred)
        return None if spanned.span.shifted else (c, spanned)


def _beside_own(own: float, c: float, spanned: Spanned, T: np.ndarray) -> np.ndarray:
    """T'(eps I + own TT' + c FF')^-1 T as G (I + own G)^-1, G = T'(eps I + c FF')^-1 T."""
    G = spanned.inverse_sandwich(T) / c
    return symmetrise(linalg.solve(np.eye(len(G)) + own * G, G, assume_a="pos")) if own else G


def _about_mean(op: LowRank, w: np.ndarray) -> LowRank:
    """The operator with its factor less the mean of all rows, each of which occurs w times; as it is if not centred."""
    if op.center is None:
        return op
    weights = w * op.center
    level = np.asarray(op.F.T @ weights) / weights.sum()
    return LowRank(op.F, op.S, np.ones(op.n), sums=op.n * level)


def _root(op: LowRank) -> np.ndarray:
    """H (q x p) with S = HH', of a positive semidefinite low-rank operator."""
    if op.S is None:
        return np.eye(op.rank_bound)
    if op.S.ndim == 1:
        return np.diag(np.sqrt(op.S))
    w, V = descending(op.S)
    keep = w > max(w[0], 0.0) * RANGE_TOLERANCE
    return V[:, keep] * np.sqrt(w[keep])


def _half(op: LowRank) -> np.ndarray:
    """F S^1/2, n x p."""
    F = op.dense_factor()
    return F if op.S is None else F @ _root(op)


def _factors_in_basis(parts: list[tuple[float, LowRank]], coordinates: RowSpace) -> tuple[np.ndarray, np.ndarray]:
    """The factor columns Y as U'Y (r x q) and the coordinates of their remainder (I - UU')Y in its own basis."""
    if not parts:
        return np.zeros((len(coordinates.s), 0)), np.zeros((0, 0))
    inside = np.hstack([np.sqrt(c) * (coordinates.project(leaf) @ _root(leaf)) for c, leaf in parts])
    inside /= coordinates.s[:, None]
    Y = np.hstack([np.sqrt(c) * _half(leaf) for c, leaf in parts])
    inner = gram(Y)
    w, V = descending(inner - gram(inside))
    keep = w > max(np.trace(inner), 0.0) * 1e-13
    return inside, np.sqrt(w[keep])[:, None] * V[:, keep].T


class SquaredResidual(Operator):
    """(I - W)'(I - W) of a sparse n x n matrix W; a row of W without entries gives no term. (I - W)'diag(counts)(I - W)
    of rows that occur several times."""

    def __init__(self, W: sparse.csr_array, counts: np.ndarray | None = None):
        has = (np.diff(W.indptr) > 0).astype(np.float64)
        self.R, self.n = sparse.csr_array(sparse.diags_array(has) - W), W.shape[0]
        if counts is not None:
            self.R = sparse.csr_array(sparse.diags_array(np.sqrt(counts)) @ self.R)

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
