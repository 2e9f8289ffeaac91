"""CentredMatrix: the rows that are projected, with their centring carried along and never carried out.

In: an n x d array or CSR matrix and the mean that transform will subtract. Out: products, Gram matrices and blocks of
X - 1 mean', computed without a dense copy of a sparse X and without an n x d temporary of a dense one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from threading import local
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .blas import (
    CHUNK,
    add_gram,
    by_columns,
    by_rows,
    gram,
    in_order,
    in_threads,
    matmul,
    one_pool,
    squared_length,
    symmetric_from_lower,
    symmetrise,
)

BLOCK_BYTES = 4 << 20
CAST_BYTES = 1 << 20  # of rows that are cast for one product, or of products that are centred, within the cache
ENTRIES = 1 << 19
FEW_BYTES = 8 << 20
JOINT_BYTES = 2 << 20
WIDE = 2000  # features from which a Gram matrix is one product, whose threads are those of BLAS
THREADED = 1 << 26  # multiplications of a product from which threads pay
SINGLE_THREADED = 1 << 32  # the same of one in float32, which takes half the time: below, threads cost more than a core
OUTER_ROWS = 256
MANY = 0.25  # share of non-zeros from which a sparse factor costs more than a dense one
EPS = float(np.finfo(float).eps)
PROBED = 256  # rows of which products in float32 are compared with those in float64
SPREAD = 0.1  # share of its squares that must be left of a column, for its mean to be taken off the products


def block_rows(width: int, block_bytes: int = BLOCK_BYTES) -> int:
    """Rows in a float64 block of about ``block_bytes`` bytes, at least 64."""
    return max(64, block_bytes // (8 * max(width, 1)))


class SingleGram(NamedTuple):
    """A Gram matrix from products in float32 and an estimate of its error, both d x d, and the mean; all float64."""

    gram: np.ndarray
    missed: np.ndarray
    mean: np.ndarray


class CentredMatrix:
    """X - 1 mean' as an operator; ``mean=None`` stands for no centring. ``given``: the matrix that the rows came in;
    ``X`` less what was taken off its stored entries, ``taken``. ``unit``: the power of two over which the rows were
    taken, for those who need their size."""

    def __init__(self, X: Any, mean: np.ndarray | None = None):
        self.X = self.given = X
        self._mean = mean
        self._mean_weights: np.ndarray | None = None
        self.taken: np.ndarray | None = None
        self.shape = X.shape
        self.sparse = sparse.issparse(X)
        self.weights: np.ndarray | None = None
        self.unit = 1.0
        self.repeats: np.ndarray | None = None  # how often each row occurs
        self._gram: np.ndarray | None = None
        self._last: tuple[object, np.ndarray] | None = None
        self._known: list[tuple[Any, np.ndarray]] = []

    @property
    def has_mean(self) -> bool:
        """Whether the rows are centred; finds no mean that is still to be found."""
        return self._mean is not None or self._mean_weights is not None

    @property
    def mean(self) -> np.ndarray | None:
        """What is taken off every row, (d,), or None. That of dense rows of float32 is found when it is first asked
        for, since ``single_gram`` comes without it, and gives it."""
        if self._mean_weights is not None:
            self.mean = weighted_mean(self.X, self._mean_weights)
        return self._mean

    @mean.setter
    def mean(self, mean: np.ndarray | None) -> None:
        self._mean, self._mean_weights = mean, None

    @property
    def count(self) -> float:
        """The rows that these stand for: as many, except for compressed rows and for rows that occur several times."""
        return self.shape[0] if self.repeats is None else float(self.repeats.sum())

    @property
    def centre(self) -> np.ndarray | None:
        """The mean that new rows are taken about."""
        return self.mean if self.mean is None or self.taken is None else self.mean + self.taken

    @classmethod
    def of(cls, X: Any) -> CentredMatrix:
        """The matrix itself when it is one already, else X without centring."""
        return X if isinstance(X, CentredMatrix) else cls(X)

    @classmethod
    def centred(cls, X: Any, weights: np.ndarray | None, factors: Sequence[Any] = ()) -> CentredMatrix:
        """Centred by the weighted mean; ``weights=None`` leaves X as it is. ``factors``: matrices U of which X'U will
        be wanted; of a dense X they come from the pass that finds the mean."""
        found = cls(X)
        if weights is not None and factors:
            found._prepare(weights, factors)
        if weights is not None and not found.sparse and X.dtype == np.float32:
            found._mean_weights = weights
        elif weights is not None:
            found.mean = (found._product(weights) if found._known else weighted_mean(X, weights, False)) / weights.sum()
        found.weights = weights
        if found.sparse and weights is not None:
            found._centre_filled()
        return found

    def _centre_filled(self) -> None:
        """Take the mean off the columns of sparse rows that are stored in full, whose products would cancel. Where that
        leaves rounding alone, the column becomes zero."""
        mean: Any = self.mean
        d, by_rows = self.shape[1], self.X.format == "csr"
        columns = self.X.indices if by_rows else np.repeat(np.arange(d), np.diff(self.X.indptr))
        filled = np.bincount(columns, minlength=d) == self.shape[0]
        if not np.any(mean[filled]) or not self.X.has_canonical_format:
            return
        self.taken = np.where(filled, mean, 0.0)
        self.mean = np.where(filled, 0.0, mean)
        X = self.X.astype(np.float64)
        X.data -= self.taken[columns]
        left = np.bincount(columns, X.data**2, minlength=d)
        constant = filled & (left <= self.shape[0] * (16 * EPS * self.taken) ** 2)
        X.data[constant[columns]] = 0.0
        self.X = X

    def _prepare(self, weights: np.ndarray, factors: Sequence[Any]) -> None:
        """X'[w, 1, U...] in one pass over a dense X of float64, where they are small."""
        chosen: list[Any] = [weights] if np.ptp(weights) == 0 else [weights, np.ones(self.shape[0])]
        chosen += [U for i, U in enumerate(factors) if not any(U is other for other in factors[:i])]
        width = sum(1 if U.ndim == 1 else U.shape[1] for U in chosen)
        if self.sparse or self.X.dtype != np.float64 or 8 * self.shape[0] * width > JOINT_BYTES:
            return
        joint = np.empty((self.shape[0], width), order="F")
        parts, start = [], 0
        for U in chosen:
            parts.append(slice(start, start + (1 if U.ndim == 1 else U.shape[1])))
            start = parts[-1].stop
            if sparse.issparse(U) and U.dtype == joint.dtype:
                U.toarray(out=joint[:, parts[-1]])
            else:
                joint[:, parts[-1]] = U.toarray() if sparse.issparse(U) else U.reshape(self.shape[0], -1)
        products = matmul(self.X.T, joint)
        self._known = [
            (U, products[:, part.start] if U.ndim == 1 else products[:, part])
            for U, part in zip(chosen, parts, strict=True)
        ]

    def _product(self, U: Any) -> np.ndarray | None:
        """X'U where the first pass has found it."""
        for known, product in self._known:
            if known is U or (U.ndim == known.ndim == 1 and np.array_equal(known, U)):
                return product
        return None

    @property
    def noise(self) -> float:
        """What rounding may leave of the mean in an eigenvalue of the smaller Gram matrix."""
        if self.mean is None or self.centre is None:
            return 0.0
        kept = rounding_of_entries(self.centre, self.shape[0])
        return kept + (rounding_of_sums(self.mean, self.shape[0]) if self.sparse else 0.0)

    def annihilates(self, u: np.ndarray) -> bool:
        """Whether (X - 1 mean')'u is zero by construction: u are the weights of the mean."""
        return self.weights is not None and np.array_equal(u, self.weights)

    @property
    def constant(self) -> bool:
        """Whether every row is the same; reads up to the first row that differs."""
        first = self.X[[0]].toarray() if self.sparse else self.X[[0]]
        step = 1
        start = 1
        while start < self.shape[0]:
            rows = self.X[start : start + step]
            if np.any((rows.toarray() if self.sparse else rows) != first):
                return False
            start, step = start + step, min(2 * step, block_rows(self.shape[1]))
        return True

    def dot(self, V: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
        """(X - 1 mean') V, n x k, computed in float64 and given in ``dtype``."""
        level = None if self.mean is None else self.mean @ V
        if not self.sparse:
            return tall_dot(self.X, V, level, dtype)
        Z = by_rows(self.X, V) if self.X.format == "csr" else by_columns(self.X, V)
        if level is not None:
            Z -= level
        return Z.astype(dtype, copy=False)

    def tdot(self, U: Any) -> np.ndarray:
        """(X - 1 mean')' U, d x k, float64; U is dense or sparse. The last product with a sparse U is kept."""
        if self._last is not None and self._last[0] is U:
            return self._last[1]
        self._last = None
        G = np.asarray(self._raw_tdot(U), dtype=np.float64)
        if self.mean is not None:
            total = np.asarray(U.sum(axis=0)).ravel()
            step = block_rows(G.shape[-1] if G.ndim == 2 else 1, CAST_BYTES)
            for start in range(0, len(G), step):
                _subtract_level(G[start : start + step], self.mean[start : start + step], total)
        if sparse.issparse(U):
            G.setflags(write=False)
            self._last = (U, G)
        return G

    def column_sums(self) -> np.ndarray:
        """(X - 1 mean')'1: zero by construction where all rows weigh one."""
        ones = np.ones(self.shape[0])
        return np.zeros(self.shape[1]) if self.annihilates(ones) else self.tdot(ones)

    def tdot_under(self, P: np.ndarray, U: Any) -> np.ndarray:
        """P'(X - 1 mean')'U, k x c, for sparse U: by the product that is kept, or a few columns of a wide one at a
        time."""
        if self.shape[1] * U.shape[1] * 8 <= FEW_BYTES or (self._last is not None and self._last[0] is U):
            return matmul(P.T, self.tdot(U))
        step = max(CHUNK, FEW_BYTES // (8 * self.shape[1]))
        parts = range(0, U.shape[1], step)
        return np.hstack([matmul(P.T, self.tdot(U[:, start : start + step])) for start in parts])

    def _raw_tdot(self, U: Any) -> np.ndarray:
        """X'U."""
        known = self._product(U)
        if known is not None:
            return known.copy()
        if sparse.issparse(U) and self.sparse:
            return (U.T @ self.X).toarray().T
        if self.sparse:
            return by_columns(self.X.T, U)
        if sparse.issparse(U):
            return self._tdot_sparse(sparse.csr_array(U))
        return tall_tdot(self.X, np.asarray(U, dtype=np.float64))

    def _tdot_sparse(self, U: sparse.csr_array) -> np.ndarray:
        """X'U of a dense X: row by row of X in order, whose entries are each read once; many of U as a dense block."""
        n, q = U.shape
        step = block_rows(max(self.shape[1], q))
        many = U.nnz > MANY * n * q
        step = step if many else max(step, q)  # so that sums of all columns are added seldom
        total = np.zeros((q, self.shape[1]))
        for start in range(0, n, step):
            rows, own = self.X[start : start + step].astype(np.float64, copy=False), U[start : start + step]
            total += matmul(own.toarray().T, rows) if many else own.T @ rows
        return total.T

    def blocks(self, width: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Consecutive dense float64 blocks of centred rows with their slice; only for small d or few rows."""
        step = block_rows(width or self.shape[1])
        for start in range(0, self.shape[0], step):
            part = slice(start, min(start + step, self.shape[0]))
            rows = self.X[part]
            rows = rows.toarray() if self.sparse else rows
            yield part, (rows.astype(np.float64) if self.mean is None else rows - self.mean)

    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """(X - 1 mean')' diag(weights) (X - 1 mean'), d x d, float64. Weights may have either sign."""
        if weights is None:
            if self._gram is None:
                self._gram = self._computed_gram(None)
                self._gram.setflags(write=False)
            return self._gram
        return self._computed_gram(weights)

    def normal_dot(self, V: np.ndarray) -> np.ndarray:
        """(X - 1 mean')'(X - 1 mean') V of all rows, by the Gram matrix where it is known."""
        if self.repeats is not None:
            return self.tdot(self.repeats[:, None] * self.dot(V))
        return self.tdot(self.dot(V)) if self._gram is None else matmul(self._gram, V)

    def ridge_dot(self, V: np.ndarray, weights: np.ndarray | None, scale: float, shift: float) -> np.ndarray:
        """(scale Xc'diag(w)Xc + shift I) V in float64, Xc = X - 1 mean'; columns are shared out among threads."""
        out = np.empty((self.shape[1], V.shape[1]))
        X, mean = self.X, self.mean

        def work(part: slice) -> None:
            some = np.array(V[:, part], order="C")
            Z = np.asarray(X @ some)
            if mean is not None:
                Z -= mean @ some
            if weights is not None:
                Z *= weights[:, None]
            G = np.asarray(X.T @ Z)
            if mean is not None:
                G -= np.outer(mean, Z.sum(axis=0))
            some *= shift
            out[:, part] = scale * G + some

        in_threads(work, V.shape[1])
        return out

    def scaled_ridge_product(
        self, weights: np.ndarray | None, scale: float, shift: float, D: np.ndarray
    ) -> Callable[[np.ndarray], np.ndarray]:
        """V -> D (scale Xc'diag(w)Xc + shift I) D V in float32, D diagonal; columns are shared out among threads."""
        X = self.X
        if self.sparse:
            data = D.astype(np.float32)[X.indices]
            np.multiply(data, X.data, out=data, casting="same_kind")
            X32 = sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
        else:
            X32 = (X * D).astype(np.float32)
        mean = None if self.mean is None else (self.mean * D).astype(np.float32)
        w = None if weights is None else weights.astype(np.float32)[:, None]
        factor, ridge = np.float32(scale), (shift * D**2).astype(np.float32)[:, None]

        def product(V: np.ndarray) -> np.ndarray:
            out = np.empty_like(V)

            def work(part: slice) -> None:
                some = np.array(V[:, part], order="C")
                Z = X32 @ some
                if mean is not None:
                    Z -= mean @ some
                if w is not None:
                    Z *= w
                G = X32.T @ Z
                if mean is not None:
                    G -= np.outer(mean, Z.sum(axis=0))
                G *= factor
                some *= ridge
                G += some
                out[:, part] = G

            in_threads(work, V.shape[1])
            return out

        return product

    def _computed_gram(self, weights: np.ndarray | None) -> np.ndarray:
        if self.sparse:
            return self._sparse_gram(weights)
        raw = self._raw_gram(weights)
        if self.mean is None:
            return raw
        centred = recentred_gram(raw, self.mean, self._weighted_sums(weights), self._total(weights))
        return self._careful_gram(weights) if centred is None else centred

    def gram_from(self, raw: np.ndarray) -> np.ndarray | None:
        """``gram()`` from the Gram matrix of ``given``; None where the correction would cancel, or where columns are
        centred in place."""
        if self.mean is None:
            return raw
        if self.taken is not None:
            return None
        return recentred_gram(raw.copy(), self.mean, self._weighted_sums(None), self._total(None))

    def _weighted_sums(self, weights: np.ndarray | None) -> np.ndarray:
        w = np.ones(self.shape[0]) if weights is None else weights
        if self.annihilates(w):
            return self.mean * w.sum()
        known = self._product(w)
        return weighted_mean(self.X, w, scaled=False) if known is None else known

    def _total(self, weights: np.ndarray | None) -> float:
        return float(self.shape[0] if weights is None else weights.sum())

    def _raw_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """X' diag(weights) X of a dense X."""
        if weights is None and self.X.dtype == np.float64 and not self._tall:
            return gram(self.X)
        plain = CentredMatrix(self.X)
        return plain._careful_gram(weights)

    def _careful_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """The Gram matrix from blocks that are centred before they are multiplied."""
        share = self._total(weights) * (16 * EPS) ** 2
        if weights is None and self._tall:
            return self._without_constants(self._tiled_gram(), share)
        G = np.zeros((self.shape[1], self.shape[1]), order="F")
        for part, rows in self._weighted_blocks(weights):
            if weights is None:
                add_gram(G, 1.0, rows)
                continue
            w = weights[part]
            for sign in (1.0, -1.0):
                chosen = sign * w > 0
                if chosen.any():
                    add_gram(G, sign, rows if chosen.all() else rows[chosen])
        return self._without_constants(symmetric_from_lower(G), share)

    @property
    def _tall(self) -> bool:
        """Whether threads of one BLAS thread each are to share out the tiles of a Gram matrix."""
        n, d = self.shape
        return d <= WIDE and n * d * d >= THREADED

    def single_gram(self) -> SingleGram | None:
        """``gram()`` of tall, dense rows of float32, centred by their plain mean, by products in float32; None for
        other rows, and where such products leave the range of float32 or the mean cancels. Tiles are shifted near the
        mean, of which ``PROBED`` rows tell, and added in float64. The shift is a multiple of a power of two, so that
        products of small whole numbers stay exact."""
        if self.sparse or self.X.dtype != np.float32 or not self.has_mean or not self._tall:
            return None
        n = self.shape[0]
        probe = self.X[np.linspace(0, n - 1, min(n, PROBED)).astype(np.intp)]
        spread, near = probe.std(axis=0, dtype=np.float64), probe.mean(axis=0, dtype=np.float64)
        step = np.where(spread > 0, 2.0 ** (np.frexp(spread)[1] - 3), 1.0)
        shift = np.where(spread > 0, np.rint(near / step) * step, near).astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"), one_pool:
            probe -= shift
            G, sums = self._tiled_sums(shift)
            exact = probe.astype(np.float64)
            missed = (probe.T @ probe - exact.T @ exact) * (n / len(probe))
        left, about = sums / n, np.diag(G).copy()
        G -= np.outer(n * left, left)
        tiny, within = n * float(np.finfo(np.float32).tiny) / EPS, np.diag(G)
        if not (np.isfinite(G).all() and np.isfinite(missed).all()) or within.max() <= tiny:
            return None
        return None if np.any(within < SPREAD * about) else SingleGram(G, missed, shift + left)

    def _tiled_gram(self) -> np.ndarray:
        """The Gram matrix of a dense X from tiles that threads share out, added in the order of the rows."""
        level, total = self.mean, np.zeros((self.shape[1],) * 2)

        def work(start: int) -> np.ndarray:
            rows = self.X[start : start + self._tile].astype(np.float64, copy=False)
            with np.errstate(over="ignore", invalid="ignore"):  # a thread does not have those of its caller
                rows = rows if level is None else rows - level
                return rows.T @ rows

        with one_pool:
            for part in in_order(work, range(0, self.shape[0], self._tile)):
                total += part
        return total

    def _tiled_sums(self, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The Gram matrix and the column sums of X - 1 shift', float64, from the same tiles in float32."""
        n, d = self.shape
        total, sums, ones = np.zeros((d, d)), np.zeros(d), np.ones(self._tile, dtype=np.float32)

        def work(start: int) -> tuple[np.ndarray, np.ndarray]:
            with np.errstate(over="ignore", invalid="ignore"):
                rows = self.X[start : start + self._tile] - shift
                return rows.T @ rows, ones[: len(rows)] @ rows

        with one_pool:
            tiles = in_order(work, range(0, n, self._tile), 1 if n * d * d < SINGLE_THREADED else None)
            for products, own in tiles:
                total += products
                sums += own
        return total, sums

    @property
    def _tile(self) -> int:
        """Rows of a dense X that are multiplied at once."""
        return max(block_rows(self.shape[1]), self.shape[1])

    def _weighted_blocks(self, weights: np.ndarray | None) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of centred rows times the root of the size of their weights."""
        if weights is None:
            yield from self.blocks()
            return
        root = np.sqrt(np.abs(weights))[:, None]
        if self.mean is None and not self.sparse:
            step = block_rows(self.shape[1])
            for start in range(0, self.shape[0], step):
                part = slice(start, min(start + step, self.shape[0]))
                yield part, self.X[part] * root[part]
            return
        for part, rows in self.blocks():
            rows *= root[part]
            yield part, rows

    def _without_constants(self, G: np.ndarray, share: float) -> np.ndarray:
        """G with the rows and columns of features zeroed of which centring left rounding alone."""
        if self.mean is not None:
            constant = np.abs(np.diag(G)) <= abs(share) * self.mean**2
            G[constant, :] = 0.0
            G[:, constant] = 0.0
        return G

    def _sparse_gram(self, weights: np.ndarray | None) -> np.ndarray:
        X = self.X if self.X.dtype == np.float64 else self.X.astype(np.float64)
        WX = X if weights is None else sparse.diags_array(weights) @ X
        G = (X.T @ WX).toarray()
        if self.mean is not None:
            sums = self._weighted_sums(weights)
            rest = sums - self.mean * self._total(weights)
            G -= np.outer(self.mean, sums)
            if rest.any():
                G -= np.outer(rest, self.mean)
        return self._without_constants(symmetrise(G), self._total(weights) * 16 * EPS)

    def outer_gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """diag(w)^1/2 (X - 1 mean')(X - 1 mean')' diag(w)^1/2, n x n, float64."""
        if self.sparse:
            X = self.X if self.X.dtype == np.float64 else self.X.astype(np.float64)
            K = _sparse_outer(X)
            if self.mean is not None:
                cross = np.asarray(X @ self.mean).ravel()
                K -= cross[:, None]
                K -= cross[None, :] - self.mean @ self.mean
        else:
            rows = self.X.astype(np.float64) if self.mean is None else self.X - self.mean
            K = gram(rows.T)
        if weights is not None:
            root = np.sqrt(weights)
            K *= root[:, None]
            K *= root[None, :]
        return K

    def squared_norm(self, weights: np.ndarray | None = None) -> float:
        """The trace of ``gram(weights)`` without forming it."""
        w = np.ones(self.shape[0]) if weights is None else weights
        if self.sparse:
            total = sum(float(squares @ row_weights) for _, squares, row_weights in self._sparse_squares(w))
            if self.mean is None:
                return total
            cross = np.asarray(self.X @ self.mean).ravel()
            return total - 2 * float(cross @ w) + float(self.mean @ self.mean) * float(w.sum())
        if weights is None and self.X.dtype == np.float64:
            step = block_rows(self.shape[1])
            parts = (self.X[start : start + step].ravel() for start in range(0, self.shape[0], step))
            total = float(sum(squared_length(part) for part in parts))
            left = total - (0.0 if self.mean is None else self.shape[0] * float(self.mean @ self.mean))
            if left > 1e-4 * total and (self.mean is None or self.annihilates(w)):
                return left
        return sum(float(np.einsum("ij,ij,i->", rows, rows, w[part])) for part, rows in self.blocks())

    def column_norms(self, weights: np.ndarray | None = None) -> np.ndarray:
        """The diagonal of ``gram(weights)``, without forming the matrix."""
        w = np.ones(self.shape[0]) if weights is None else weights
        if not self.sparse:
            return np.sum([np.einsum("ij,ij,i->j", rows, rows, w[part]) for part, rows in self.blocks()], axis=0)
        squares = np.zeros(self.shape[1])
        for columns, part, row_weights in self._sparse_squares(w):
            part *= row_weights
            squares += np.bincount(columns, part, minlength=self.shape[1])
        if self.mean is not None:
            total = np.asarray(self.X.T @ w).ravel()
            squares += self.mean * (self.mean * w.sum() - 2 * total)
        return np.maximum(squares, 0.0)

    def _sparse_squares(self, w: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Columns, squares and row weights of the stored entries, some rows at a time."""
        X = self.X
        step = max(1, int(ENTRIES * self.shape[0] / max(X.nnz, 1)))
        for start in range(0, self.shape[0], step):
            stop = min(start + step, self.shape[0])
            part = slice(X.indptr[start], X.indptr[stop])
            row_weights = np.repeat(w[start:stop], np.diff(X.indptr[start : stop + 1]))
            yield X.indices[part], X.data[part].astype(np.float64) ** 2, row_weights

    def take(self, index: Any) -> CentredMatrix:
        """The chosen rows, still centred by the same mean."""
        return CentredMatrix(self.X[index], self.mean)


def rounding_of_entries(mean: np.ndarray, n: int) -> float:
    """What the rounding of n rows of this mean leaves of a direction without variance, in its sum of squares."""
    return n * (16 * EPS) ** 2 * float(mean @ mean)


def rounding_of_sums(mean: np.ndarray, n: int) -> float:
    """The same where the mean is taken off the sums of products, whose digits cancel."""
    return n * 16 * EPS * float(mean @ mean)


def rank_threshold(values: np.ndarray, size: int, noise: float) -> float:
    """Eigenvalues of a Gram matrix above this count for its rank; ``values`` descending, ``size`` the longer side of
    the rows, ``noise`` what rounding leaves of their mean."""
    return max(values[0], 0.0) * size * EPS + noise


def tall_dot(
    X: np.ndarray,
    V: np.ndarray,
    level: np.ndarray | None = None,
    dtype: Any = np.float64,
    shift: np.ndarray | None = None,
) -> np.ndarray:
    """(X - 1 shift') V - 1 level', computed in float64 and given in ``dtype``. Rows of float32 are cast block by block,
    in one block of each thread: a new one would cost more than the cast. Many rows are blocks that threads share
    out, each with one thread of BLAS."""
    many, blockwise = X.size * V[:1].size >= THREADED, X.dtype != np.float64 or shift is not None
    if not many and not blockwise:
        Z = matmul(X, V)
        if level is not None:
            Z -= level
        return Z.astype(dtype, copy=False)
    Z, step = np.empty((len(X), *V.shape[1:]), dtype), block_rows(X.shape[1], CAST_BYTES if blockwise else BLOCK_BYTES)

    order: Any = "F" if X.flags.f_contiguous else "C"
    kept = local()

    def work(start: int) -> None:
        rows = X[start : start + step]
        with np.errstate(over="ignore", invalid="ignore"):  # a thread does not have those of its caller
            if blockwise:
                if not hasattr(kept, "block"):
                    kept.block = np.empty((min(step, len(X)), X.shape[1]), order=order)
                rows = np.subtract(rows, 0.0 if shift is None else shift, out=kept.block[: len(rows)])
            found = rows @ V if many else matmul(rows, V)
            if level is not None:
                found -= level
            Z[start : start + step] = found

    with one_pool if many else nullcontext():
        for _ in in_order(work, range(0, len(X), step), None if many else 1):
            pass
    return Z


def shows_entries(X: Any, P: np.ndarray) -> bool:
    """Whether X P' cannot be finite where a stored entry of X is not. A BLAS may leave out zeros of P; the products of
    sparse matrices do not."""
    return sparse.issparse(X) or bool(P.all(axis=1).any())


def tall_tdot(X: np.ndarray, U: np.ndarray) -> np.ndarray:
    """X'U in float64, the rows as ``tall_dot`` takes them; what blocks add is added in the order of the rows."""
    many, cast = X.size * U[:1].size >= THREADED, X.dtype != np.float64
    if not many and not cast:
        return matmul(X.T, U)
    total, step = np.zeros((X.shape[1], *U.shape[1:])), block_rows(X.shape[1], CAST_BYTES if cast else BLOCK_BYTES)

    def work(start: int) -> np.ndarray:
        rows, own = X[start : start + step].astype(np.float64, copy=False), U[start : start + step]
        return rows.T @ own if many else matmul(rows.T, own)

    with one_pool if many else nullcontext():
        for part in in_order(work, range(0, len(X), step), None if many else 1):
            total += part
    return total


def _sparse_outer(X: Any) -> np.ndarray:
    """XX' of a CSR matrix: blocks of the lower half, shared out among threads."""
    K = np.empty((X.shape[0],) * 2)

    def work(part: slice) -> None:
        K[part, : part.stop] = (X[part] @ X[: part.stop].T.tocsr()).toarray()

    in_threads(work, len(K), OUTER_ROWS, OUTER_ROWS // 4)
    return symmetric_from_lower(K)


def _subtract_level(G: np.ndarray, mean: np.ndarray, total: np.ndarray) -> None:
    """G -= mean total' in place; what only rounding left becomes zero."""
    level = np.outer(mean, total) if G.ndim == 2 else mean * total
    G -= level
    np.abs(level, out=level)
    level *= 8 * EPS
    G[np.abs(G) <= level] = 0.0


def weighted_mean(X: Any, weights: np.ndarray, scaled: bool = True) -> np.ndarray:
    """X'w / 1'w, length d, float64; X'w itself where not ``scaled``."""
    if sparse.issparse(X):
        sums = np.asarray(X.T @ weights).ravel()
    else:
        sums = tall_tdot(X, np.asarray(weights, dtype=np.float64))
    return sums / weights.sum() if scaled else sums


def recentred_gram(raw: np.ndarray, mean: np.ndarray, sums: np.ndarray, total: float) -> np.ndarray | None:
    """X'WX to (X - 1 mean')'W(X - 1 mean') by a rank-two correction (raw is overwritten); None where it cancels."""
    diagonal = np.diag(raw).copy()
    correction = np.outer(mean, sums)
    raw -= correction
    raw -= correction.T
    raw += np.outer(mean, total * mean)
    left = np.diag(raw)
    moved = np.abs(diagonal) > 1e-12 * np.abs(diagonal).max(initial=0.0)
    return None if np.any(np.abs(left[moved]) < SPREAD * np.abs(diagonal[moved])) else raw
