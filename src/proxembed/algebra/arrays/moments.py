"""Moments: sums of rows and of factors over blocks, which may come in any order and be merged; and the rows that stand
for those of which only such sums are known: SummedMatrix, and RowStream, which reads the rows anew for every product.

Dense tiles are taken less their own mean, so that rows far from the origin lose no digits; sums about different origins
merge exactly: C = C1 + r1 e' + e r1' + W1 ee' + ... (Chan's rule where all rows weigh one).  [chan1983variance]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyr2

from .blas import by_columns, in_order, matmul, one_thread, symmetric_from_lower
from .centred import CentredMatrix, block_rows
from .matrix import all_ones, guard_dense

WITHOUT_GRAM = (
    "Reduce X to fewer features, or use PLS or MDDM, which do without it (PLS of numbers: on rows that can be read "
    "again)."
)
TILE_BYTES = 4 << 20
SUMS_BYTES = 512 << 20  # of tiles and their sums that threads may hold at a time
FACTOR_BYTES = 16 << 20  # of the rows of a block that are made dense at once
Weights = Sequence[np.ndarray | None]
ADDED = ("masses", "firsts", "counts", "occurrences", "products", "factor_sums", "squares", "norms", "filled")
ARRAYS = (*ADDED, "origin", "first", "varies")
Product = Callable[[np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray]]


class Moments:
    """Sums over n rows x (of d features) with factors f (of p columns) and several row weights w, the first all ones.
    About ``origin`` o, the mean of the rows (0 as long as all are sparse, ``raw``), these are per row weight
    ``masses`` sum w, ``firsts`` sum w (x - o), ``counts``, the rows with w != 0, and ``occurrences``, how often these
    occur; ``products`` sum (x - o)f', (d, p);
    ``norms`` sum (x - o)^2 per feature, where no Gram matrix is formed. ``factor_sums`` sum f, ``squares`` sum f^2,
    ``inner`` sum ff' or None. ``varies``: whether a feature differs from the ``first`` row; ``filled``: the stored
    entries per feature, of sparse rows."""

    def __init__(self, d: int, weights: int, p: int, *, formed: Sequence[int] = (), inner: bool = False):
        self.n: Any = 0
        self.raw, self.origin = False, np.zeros(d)
        self.masses, self.firsts, self.counts = np.zeros(weights), np.zeros((weights, d)), np.zeros(weights)
        self.occurrences = np.zeros(weights)
        self.products, self.factor_sums, self.squares = np.zeros((d, p)), np.zeros(p), np.zeros(p)
        self.inner: Any = np.zeros((p, p)) if inner else None
        self.norms: np.ndarray = np.zeros(0 if formed else d)
        self.first, self.varies = np.zeros(d), np.zeros(d, dtype=bool)
        self.filled: np.ndarray = np.zeros(d)
        # Row weights that have been equal in all rows share a Gram matrix, that of the first of them.
        self.shared = {j: min(formed) for j in sorted(formed)}
        self._grams: dict[int, np.ndarray] = {}
        if formed:
            guard_dense((d, d), "X'X", remedy=WITHOUT_GRAM)
            self._grams[min(formed)] = np.zeros((d, d), order="F")  # lower triangles

    def gram(self, j: int) -> np.ndarray:
        """sum w_j (x - o)(x - o)', d x d."""
        return symmetric_from_lower(self._grams[self.shared[j]].copy(order="F"))

    def scatter(self) -> tuple[float, float]:
        """The sums of squares of the rows about 0 and about their mean; NaN where only Gram matrices under other
        weights are formed."""
        if 0 not in self.shared and not len(self.norms):
            return np.nan, np.nan
        total = float(np.trace(self._grams[self.shared[0]]) if self.shared else self.norms.sum())
        first = self.firsts[0]
        about_zero = total + 2 * float(self.origin @ first) + self.n * float(self.origin @ self.origin)
        return about_zero, total - float(first @ first) / max(self.n, 1)

    def dependence(self, c: int) -> float:
        """The sum of squares of the products of the rows, about their mean, with the first c columns of the factors."""
        E = self.products[:, :c] - np.outer(self.firsts[0], self.factor_sums[:c] / max(self.n, 1))
        return float(np.vdot(E, E))

    def same(self, i: int, j: int) -> bool:
        """Whether two row weights, whose Gram matrices are formed, were equal in all rows."""
        return self.shared[i] == self.shared[j]

    def update(
        self,
        X: Any,
        weights: Weights,
        factors: Sequence[Any],
        precision: str = "float64",
        times: np.ndarray | None = None,
    ) -> None:
        """Add the rows of a block: X (m, d) dense or CSR, row weights (None: ones), factors (m, q) dense or sparse;
        ``times``: how often each row occurs, (m,) positive numbers, None for once.
        Threads share out the tiles of dense rows, each with one thread of BLAS. Their sums are added in the order of
        the rows, so that the result does not depend on the number of threads."""
        with one_thread:
            self._update(X, weights, factors, precision, times)

    def _update(self, X: Any, weights: Weights, factors: Sequence[Any], precision: str, times: Any) -> None:
        self._share(weights)
        factors = [_by_rows(F) for F in factors]
        if sparse.issparse(X):
            self._update_sparse(sparse.csr_array(X, dtype=np.float64), weights, factors, times)
            return
        d, (m, _) = len(self.origin), X.shape
        most = max(block_rows(d, TILE_BYTES), d // 2)  # a sum of tiles costs as much as two rows
        step = -(-m // max(1, -(-m // most)))
        blank, compared = self._blank(), np.flatnonzero(~self.varies)

        def work(start: int) -> Moments:
            part = slice(start, start + step)
            own = [None if w is None else w[part] for w in weights]
            dense = [F[part].toarray() if sparse.issparse(F) else F[part] for F in factors]
            rows, root = np.array(X[part], dtype=np.float64, order="K"), None if times is None else np.sqrt(times[part])
            return blank._of_tile(rows, own, dense, precision, compared, root)

        for tile in in_order(
            work, range(0, m, step), SUMS_BYTES // (8 * d * d * max(1, len(self._grams)) + TILE_BYTES)
        ):
            self._add(tile)

    def _blank(self) -> Moments:
        """Sums of no rows, with Gram matrices of the same sharing still to be formed."""
        blank = Moments(len(self.origin), len(self.masses), len(self.squares), inner=self.inner is not None)
        blank.shared, blank.norms = dict(self.shared), np.zeros(len(self.norms))
        return blank

    def _of_tile(
        self,
        rows: np.ndarray,
        weights: Weights,
        factors: list[Any],
        precision: str,
        compared: np.ndarray,
        root: np.ndarray | None,
    ) -> Moments:
        """The sums of some rows about their mean, which is taken off in place; this one stays blank. By NumPy's
        products, which let other threads run (SciPy's do not). ``compared``: features that may be constant. ``root``:
        that of how often each row occurs; None for once."""
        tile, p = copy(self), len(self.squares)
        tile.n, tile.first, tile.varies = len(rows), rows[0].copy(), np.zeros(len(self.origin), dtype=bool)
        tile.varies[compared] = _varying(rows, compared)
        tile.origin = rows.mean(axis=0) if root is None else np.average(rows, axis=0, weights=root**2)
        rows -= tile.origin
        beside = [np.ones(len(rows)) if w is None else w for w in weights]
        joint = np.column_stack([*factors, *beside]).astype(np.float64, copy=False)
        tile.counts = np.array([float(np.count_nonzero(w)) for w in beside])
        tile.masses, tile.occurrences = np.array([float(w.sum()) for w in beside]), tile.counts
        tile.factor_sums = joint[:, :p].sum(axis=0)
        if root is not None:  # sums of squares and products are those of rows times the root
            totals = root**2 @ joint
            tile.n, tile.masses, tile.factor_sums = float(root @ root), totals[p:], totals[:p]
            tile.occurrences = np.array([float(root[w != 0] @ root[w != 0]) for w in beside])
            rows *= root[:, None]
            joint = joint * root[:, None]
        F, products = joint[:, :p], joint.T @ rows  # in this order three quarters of the time of rows.T @ joint
        tile.products, tile.firsts = products[:p].T, products[p:]
        tile._grams = {j: _gram(rows, weights[j], precision) for j in set(self.shared.values())}
        tile.norms = np.einsum("ij,ij->j", rows, rows) if len(self.norms) else self.norms
        tile.squares = np.einsum("ij,ij->j", F, F)
        tile.inner = None if self.inner is None else F.T @ F
        return tile

    def _share(self, weights: Weights) -> None:
        """Give row weights that differ from those whose Gram matrix they share one of their own."""
        leaders = dict(self.shared)
        for j, leader in leaders.items():
            alike = [i for i, other in leaders.items() if i <= j and other == leader and self.shared[i] == i]
            own = next((i for i in alike if i != j and _equal(weights[i], weights[j])), j)
            if self.shared[j] != own and own == j:
                self._grams[j] = self._grams[leader].copy(order="F")
            self.shared[j] = own

    def _update_sparse(
        self, X: sparse.csr_array, weights: Weights, factors: Sequence[Any], times: np.ndarray | None
    ) -> None:
        rest, each = self._blank(), np.ones(X.shape[0]) if times is None else times
        rest.n, rest.raw = X.shape[0] if times is None else float(times.sum()), True
        rest.first, rest.filled = X[[0]].toarray().ravel(), np.bincount(X.indices, minlength=X.shape[1])
        rest.varies = X.max(axis=0).toarray().ravel() != X.min(axis=0).toarray().ravel()
        if times is not None:  # sums of squares and products are those of rows times the root
            rest.filled = np.bincount(X.indices, np.repeat(times, np.diff(X.indptr)), minlength=X.shape[1])
            root = sparse.diags_array(np.sqrt(times))
            X, factors = sparse.csr_array(root @ X), [root @ F for F in factors]
        rest.norms = np.bincount(X.indices, X.data**2, minlength=X.shape[1])[: len(self.norms)]
        for j, w in enumerate(weights):
            own = each if w is None else each * w
            rest.masses[j], rest.counts[j] = own.sum(), np.count_nonzero(own)
            rest.occurrences[j], rest.firsts[j] = each[own != 0].sum(), X.T @ (own / np.sqrt(each))
            if self.shared.get(j) == j:
                WX = X if w is None else sparse.diags_array(w) @ X
                rest._grams[j] = np.asfortranarray((X.T @ WX).toarray())
        start = 0
        for F in factors:
            part = slice(start, start + F.shape[1])
            product = F.T @ X
            rest.products[:, part] = (product.toarray() if sparse.issparse(product) else product).T
            rest.factor_sums[part] = np.asarray(F.sum(axis=0)).ravel() if times is None else F.T @ np.sqrt(each)
            rest.squares[part] = np.asarray((F * F).sum(axis=0)).ravel()
            start = part.stop
        if rest.inner is not None:
            F = _stacked(factors, slice(None), X.shape[0])
            rest.inner = matmul(F.T, F)
        self._add(rest)

    def merge(self, other: Moments) -> None:
        """Add the sums of other rows, which stay as they are."""
        rest = other.copy()
        first: dict[tuple[int, int], int] = {}
        leaders = {j: first.setdefault((self.shared[j], rest.shared[j]), j) for j in self.shared}
        for sums in (self, rest):
            sums._grams = {j: sums._grams[sums.shared[j]].copy(order="F") for j in set(leaders.values())}
            sums.shared = dict(leaders)
        self._add(rest)

    def _add(self, rest: Moments) -> None:
        """Add sums of the same sharing; those are moved, and lost."""
        if rest.n == 0:
            return
        n, raw = self.n + rest.n, rest.raw and (self.raw or self.n == 0)
        origin = self.origin if raw else self.mean + (rest.n / n) * (rest.mean - self.mean)
        self.move(origin)
        rest.move(origin)
        for name in ADDED:
            setattr(self, name, getattr(self, name) + getattr(rest, name))
        for j in self._grams:
            self._grams[j] += rest._grams[j]
        if self.inner is not None:
            self.inner += rest.inner
        self.varies |= rest.varies | ((self.first != rest.first) & (self.n > 0))
        self.first = self.first if self.n else rest.first
        self.n, self.raw = n, raw

    @property
    def mean(self) -> np.ndarray:
        """The mean of all rows, each weighing one: the origin, except for sparse rows."""
        return self.origin + self.firsts[0] / self.n if self.raw and self.n else self.origin

    def move(self, origin: np.ndarray) -> None:
        """State the sums about another origin."""
        shift = self.origin - origin
        if self.n and np.any(shift):
            for j, gram in self._grams.items():
                _add_move(gram, self.firsts[j], self.masses[j], shift)
            if len(self.norms):
                self.norms += (2 * self.firsts[0] + self.masses[0] * shift) * shift
            self.firsts += np.outer(self.masses, shift)
            self.products += np.outer(shift, self.factor_sums)
        self.origin = origin.copy()

    def shifted(self, shift: np.ndarray) -> Moments:
        """The sums of the rows x + shift."""
        twin = self.copy()
        twin.origin += shift
        twin.first += shift
        return twin

    def copy(self) -> Moments:
        """The same sums, to be changed apart."""
        twin = object.__new__(Moments)
        twin.n, twin.raw, twin.shared = self.n, self.raw, dict(self.shared)
        twin.inner = None if self.inner is None else self.inner.copy()
        for name in ARRAYS:
            setattr(twin, name, getattr(self, name).copy())
        twin._grams = {j: gram.copy(order="F") for j, gram in self._grams.items()}
        return twin

    def widened(self, columns: np.ndarray, p: int) -> Moments:
        """The same sums with p factors, of which the present ones are ``columns``; the others were zero so far."""
        twin = self.copy()
        twin.products, twin.factor_sums, twin.squares = np.zeros((len(self.origin), p)), np.zeros(p), np.zeros(p)
        twin.products[:, columns] = self.products
        twin.factor_sums[columns] = self.factor_sums
        twin.squares[columns] = self.squares
        if self.inner is not None:
            twin.inner = np.zeros((p, p))
            twin.inner[np.ix_(columns, columns)] = self.inner
        return twin

    def with_factors(self, mixing: Any, level: np.ndarray) -> Moments:
        """The same sums with the factors M'f + level in place of f, ``mixing`` M sparse. Factors that a column of M
        mixes are never both nonzero in a row."""
        twin, totals = self.copy(), mixing.T @ self.factor_sums
        twin.products = self.products @ mixing + np.outer(self.firsts[0], level)
        twin.factor_sums = totals + self.n * level
        twin.squares = mixing.power(2).T @ self.squares + 2 * level * totals + self.n * level**2
        if self.inner is not None:
            across = np.outer(totals, level)
            twin.inner = mixing.T @ self.inner @ mixing + across + across.T + self.n * np.outer(level, level)
        return twin


def _by_rows(F: Any) -> Any:
    """A factor of which rows are taken: sparse ones as an array where that is small, else in CSR."""
    if not sparse.issparse(F):
        return F
    return F.toarray() if 8 * F.shape[0] * F.shape[1] <= FACTOR_BYTES else sparse.csr_array(F)


def _stacked(factors: Sequence[Any], part: slice, rows: int) -> np.ndarray:
    """Some rows of all factors, one dense array."""
    if not factors:
        return np.zeros((rows, 0))
    blocks = [F[part].toarray() if sparse.issparse(F) else F[part] for F in factors]
    return np.hstack(blocks).astype(np.float64, copy=False)


def _equal(w: np.ndarray | None, other: np.ndarray | None) -> bool:
    if w is None or other is None:
        return w is other or bool(np.all((w if other is None else other) == 1.0))
    return w is other or np.array_equal(w, other)


def _varying(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Which of these columns differ somewhere from the first row; most are settled by the first rows."""
    varies, left, start, step = np.zeros(len(columns), dtype=bool), np.arange(len(columns)), 1, 16
    while start < len(rows) and len(left):
        varies[left] = np.any(rows[start : start + step, columns[left]] != rows[0, columns[left]], axis=0)
        left, start, step = left[~varies[left]], start + step, 4 * step
    return varies


def _gram(rows: np.ndarray, w: np.ndarray | None, precision: str) -> np.ndarray:
    """rows' diag(w) rows in Fortran order."""
    if w is None or all_ones(w):
        return _product(rows, precision)
    weighted = rows * np.sqrt(np.abs(w))[:, None]
    signs = [(sign, sign * w > 0) for sign in (1.0, -1.0)]
    parts = [sign * _product(weighted[chosen], precision) for sign, chosen in signs if chosen.any()]
    return np.asfortranarray(sum(parts, np.zeros((rows.shape[1],) * 2)))


def _product(rows: np.ndarray, precision: str) -> np.ndarray:
    rows = rows.astype(precision, copy=False)
    return (rows.T @ rows).T.astype(np.float64, copy=False)


def _add_move(G: np.ndarray, first: np.ndarray, mass: float, shift: np.ndarray) -> None:
    """A Gram matrix about o becomes that about o - shift: G += first shift' + shift first' + mass shift shift'."""
    dsyr2(1.0, first + (mass / 2) * shift, shift, lower=1, a=G, overwrite_a=1)


class SummedMatrix(CentredMatrix):
    """Centred rows that stand for ``count`` rows of mean ``centre`` (None: not centred), of which sums are known. The
    mean was taken off before, so that ``mean`` is None. ``sums``: those of the centred columns. ``known``: pairs (U,
    X'U) of factors whose products come from the sums."""

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

    def tdot_under(self, P: Any, U: Any) -> np.ndarray:
        return matmul(P.T, self.tdot(U))


class RowStream(SummedMatrix):
    """Centred rows of which sums are known, and products with X'X cost a reading. ``product``: ``gram_product`` over
    all blocks, as a function of V and of the level; ``count`` rows in all, of mean ``centre`` (None: not centred),
    whose centred columns have the sums of squares ``norms`` and the sums ``sums``. ``known``: pairs (U, X'U). ``shape``
    is (min(n, d), d)."""

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

    def ridge_dot(self, V: np.ndarray, weights: np.ndarray | None, scale: float, shift: float) -> np.ndarray:
        return scale * self.normal_dot(V) + shift * V

    def scaled_ridge_product(
        self, weights: np.ndarray | None, scale: float, shift: float, D: np.ndarray
    ) -> Callable[[np.ndarray], np.ndarray]:
        scaling = D.astype(np.float32)[:, None]
        return lambda V: scaling * (np.float32(scale) * self.normal_dot(scaling * V) + np.float32(shift) * scaling * V)


def gram_product(blocks: Iterable[Any], V: np.ndarray, level: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """X'Z and 1'Z over blocks (X (m, d), times), with Z = XV - 1 level'; (d, q) and (q,), 0 without a level. ``times``:
    how often each row occurs, (m,) or None."""
    out, total = np.zeros(V.shape), np.zeros(V.shape[1])
    for X, times in blocks:
        X = X.astype(V.dtype, copy=False)
        Z = by_columns(X, V) if sparse.issparse(X) else X @ V
        if level is not None:
            Z -= level
        if times is not None:
            Z *= times.astype(V.dtype)[:, None]
        if level is not None:
            total += Z.sum(axis=0, dtype=np.float64)
        out += by_columns(X.T, Z) if sparse.issparse(X) else X.T @ Z
    return out, total
