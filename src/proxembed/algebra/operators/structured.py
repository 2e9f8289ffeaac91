"""Structured symmetric n x n operators: what a proximity matrix is before, and instead of, being an array.

In: label factors, weights, sparse graphs. Out: products, X'AX, the diagonal and the trace, at the cost of the
structure.
``todense`` exists for tests and guarded small cases only.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import add_product, add_symmetric, by_columns, matmul, symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix, block_rows
from proxembed.algebra.arrays.matrix import MAX_DENSE_BYTES, all_ones, guard_dense

from .sandwich import edge_trace, sparse_sandwich

SYMMETRIC = 1e-12
COLUMNS = 256  # of the identity at a time, for the diagonal of an operator that gives products alone

Form = tuple[np.ndarray | None, "list[tuple[float, LowRank]]"]


class Repeats:
    """How often each row occurs, (n,) positive ``weights``, fractions allowed. ``of(F)``: diag(weights) F, made once
    for each matrix."""

    def __init__(self, weights: np.ndarray):
        self.weights = weights
        self._known: list[tuple[Any, Any]] = []

    def of(self, F: Any) -> Any:
        """diag(weights) F; sparse stays sparse."""
        found = next((product for known, product in self._known if known is F), None)
        if found is None:
            w = self.weights
            found = sparse.csc_array(sparse.diags_array(w) @ F) if sparse.issparse(F) else w[:, None] * F
            self._known.append((F, found))
        return found


class RowSpace(Protocol):
    """Coordinates T = U diag(s) of the rows in their row space, as operators see them."""

    s: np.ndarray

    @property
    def V(self) -> np.ndarray: ...
    @property
    def T(self) -> np.ndarray: ...
    @property
    def uniform(self) -> bool: ...
    def project(self, op: LowRank) -> np.ndarray: ...
    def is_source(self, op: Operator) -> bool: ...
    def general(self, leaf: Operator) -> np.ndarray: ...


class WantedSums(Protocol):
    """The sums over rows in blocks that a template needs, as operators ask for them."""

    inner: list[tuple[Any, np.ndarray | None]]

    def add_scatter(self, w: np.ndarray | None) -> None: ...
    def add_factor(self, F: Any, center: np.ndarray | None) -> None: ...


class CompressedRows(Protocol):
    """Few rows that stand for all rows of the blocks, as operators see them."""

    def scatter(self, w: np.ndarray | None, centred: bool = False) -> Operator: ...
    def factor(self, F: Any, center: np.ndarray | None) -> np.ndarray: ...


class Operator:
    """A symmetric n x n matrix that is known by its structure; ``n`` is None where any size fits. A new operator needs
    two things: ``n`` and the product with an array of n entries or n x k. Every question that the solver asks has an
    answer made of products; an operator that knows a cheaper one overrides that method: ``sandwich`` (X'AX),
    ``diagonal``, ``trace_on`` (the trace of X'AX), ``low_rank`` (A = F S F', which opens the thin route), ``graph`` (a
    sparse matrix). Fits on rows in blocks need two more methods: ``add_sums`` (what is to be summed) and ``compressed``
    (the operator on few rows with the same sums)."""

    n: Any = None  # an int, or None where any size fits
    __array_ufunc__ = None  # numpy leaves `array @ operator` and `scalar * operator` to us

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define its product with a matrix.")

    def sandwich(self, X: Any) -> np.ndarray:
        """X'AX, d x d; X is an array, CSR or CentredMatrix."""
        X = CentredMatrix.of(X)
        return symmetrise(np.ascontiguousarray(X.tdot(self @ X.dot(np.eye(X.shape[1])))))

    def trace_on(self, X: Any) -> float:
        """tr(X'AX), which is tr(AXX') of rows with more columns than rows; X is an array, CSR or CentredMatrix."""
        X = CentredMatrix.of(X)
        n, d = X.shape
        return float(np.trace(self.sandwich(X) if d <= n else self @ X.outer_gram()))

    def diagonal(self, n: int | None = None) -> np.ndarray:
        """The n diagonal entries."""
        n = self._size(n)
        entries = np.empty(n)
        for start in range(0, n, COLUMNS):
            own = np.arange(start, min(start + COLUMNS, n))
            columns = np.zeros((n, len(own)))
            columns[own, own - start] = 1.0
            entries[own] = (self @ columns)[own, own - start]
        return entries

    def trace(self, n: int | None = None) -> float:
        """The sum of the diagonal."""
        return float(self.diagonal(n).sum())

    def todense(self, n: int | None = None) -> np.ndarray:
        """The n x n array; for tests and small cases, refused above the size guard."""
        n = self._size(n)
        guard_dense((n, n), f"{type(self).__name__}.todense()")
        return self @ np.eye(n)

    def low_rank(self) -> LowRank | None:
        """The operator as F S F', where it is stated in this form; None for any other."""
        return None

    def graph(self) -> sparse.csr_array | None:
        """The operator as a sparse matrix, where it is stated in this form; None for any other."""
        return None

    def diagonal_and_factors(self, n: int) -> Form | None:
        """(d, parts): diag(d) plus coefficients times low-rank operators; None for an operator of another kind. d is
        None where nothing is diagonal."""
        factor = self.low_rank()
        return None if factor is None else (None, [(1.0, factor)])

    def is_scatter(self, rows: CentredMatrix, weights: np.ndarray | None) -> bool:
        """Whether X'AX is the weighted Gram matrix of the centred rows by construction; ``weights=None`` stands for
        ones."""
        return False

    def is_squared_scatter(self, rows: CentredMatrix, uniform: bool) -> bool:
        """Whether A = Xc Xc' with the centred rows themselves, so that Xc'A Xc is the square of their scatter
        matrix."""
        return False

    def in_coordinates(self, coordinates: RowSpace) -> np.ndarray:
        """T'AT for row-space coordinates T, r x r."""
        return coordinates.general(self)

    def add_in_coordinates(self, total: np.ndarray, c: float, coordinates: RowSpace) -> None:
        """total += c T'AT in place."""
        add_symmetric(total, c, self.in_coordinates(coordinates))

    def add_sums(self, sums: WantedSums) -> None:
        """Ask for the sums over rows in blocks from which X'AX follows; raises TypeError where there are none."""
        raise self._not_from_sums()

    def compressed(self, rows: CompressedRows) -> Operator:
        """The operator on few rows that have the sums of all; raises TypeError if it is not known from sums."""
        raise self._not_from_sums()

    def _not_from_sums(self) -> TypeError:
        return TypeError(f"{type(self).__name__} operators are not known from sums of the rows.")

    def with_factor(self, X: Any, R: Any) -> Operator:
        """The operator with the rows R in place of its factor X; itself where X is not its factor."""
        factor = self.low_rank()
        return self if factor is None or factor.F is not X else LowRank(R, factor.S, factor.center)

    def spread(self, index: np.ndarray, n: int) -> Operator:
        """The same operator on n rows, of which ``index`` are the ones it knew; zero elsewhere."""
        factor = self.low_rank()
        return Spread(self, index, n) if factor is None else factor.spread(index, n)

    def repeated(self, repeats: Repeats) -> Operator:
        """E'AE, E the rows that repeat each row as often as ``repeats`` says: the operator on distinct rows that stand
        for all, where A is stated on the distinct rows with the sums of all. Raises TypeError for links of rows, whose
        sums are not known here."""
        raise TypeError(f"{type(self).__name__} operators are not known for repeated rows.")

    def weighted(self, r: np.ndarray) -> Operator:
        """diag(r) A diag(r), of the same structure where it has one."""
        form = self.diagonal_and_factors(len(r))
        if form is None:
            return Dense(r[:, None] * self.todense(len(r)) * r)
        d, factors = form
        parts: list[tuple[float, Operator]] = [(c, factor.weighted(r)) for c, factor in factors]
        return Sum(parts if d is None else [*parts, (1.0, Diagonal(r * d * r))])

    def laplacian(self) -> Operator:
        """L(W) = D(W) - W, D(W) = diag(W1); sparse terms give one sparse matrix, degrees included."""
        if self.n is None:
            raise ValueError(
                "The Laplacian of an operator of any size has no degrees: give the operator its number of rows."
            )
        stated = [(c, leaf, leaf.graph()) for c, leaf in self.terms()]
        graphs = [c * W for c, _, W in stated if W is not None]
        rest = [(c, leaf) for c, leaf, W in stated if W is None]
        if not graphs:
            return Diagonal(self.row_sums()) - self
        total = sparse.csr_array(sum(graphs[1:], graphs[0]))
        edges = Sparse(sparse.diags_array(total @ np.ones(self.n)) - total)
        return edges + (Diagonal(Sum(rest) @ np.ones(self.n)) - Sum(rest)) if rest else edges

    def row_sums(self) -> np.ndarray:
        """A1, the sum of each row."""
        return self @ np.ones(self.n)

    def terms(self) -> list[tuple[float, Operator]]:
        """The operator as coefficients times leaves."""
        return [(1.0, self)]

    def _size(self, n: int | None) -> int:
        size = self.n if self.n is not None else n
        if size is None:
            raise ValueError(f"{type(self).__name__} fits any size: pass n, the number of rows.")
        return size

    def _matches(self, rows: int) -> None:
        """Raise a ValueError where a matrix of this many rows does not fit."""
        if self.n is not None and rows != self.n:
            raise ValueError(f"{type(self).__name__} is of size {self.n:,}; it cannot be applied to {rows:,} rows.")

    def __add__(self, other: Operator) -> Operator:
        if not isinstance(other, Operator):
            return NotImplemented
        return Sum([(1.0, self), (1.0, other)])

    def __sub__(self, other: Operator) -> Operator:
        if not isinstance(other, Operator):
            return NotImplemented
        return Sum([(1.0, self), (-1.0, other)])

    def __neg__(self) -> Operator:
        return Multiple(-1.0, self)

    def __mul__(self, factor: float) -> Operator:
        return Multiple(float(factor), self)

    __rmul__ = __mul__

    def __truediv__(self, factor: float) -> Operator:
        return Multiple(1.0 / float(factor), self)


class Diagonal(Operator):
    """diag(d)."""

    def __init__(self, d: np.ndarray):
        self.d = np.asarray(d, dtype=np.float64)
        self.n = len(self.d)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        self._matches(len(V))
        return _rowwise(self.d, V)

    def sandwich(self, X: Any) -> np.ndarray:
        self._matches(X.shape[0])
        return CentredMatrix.of(X).gram(self.d)

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return self.d.copy()

    def trace_on(self, X: Any) -> float:
        return CentredMatrix.of(X).squared_norm(self.d)

    def diagonal_and_factors(self, n: int) -> Form:
        return self.d, []

    def is_scatter(self, rows: CentredMatrix, weights: np.ndarray | None) -> bool:
        own = np.ones(rows.shape[0]) if weights is None else weights
        return np.allclose(self.d, own, rtol=1e-13, atol=0.0)

    def add_sums(self, sums: WantedSums) -> None:
        sums.add_scatter(self.d)

    def compressed(self, rows: CompressedRows) -> Operator:
        return rows.scatter(self.d)

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return Diagonal(_selection(index, n) @ self.d)

    def repeated(self, repeats: Repeats) -> Operator:
        return Diagonal(repeats.weights * self.d)


class Identity(Operator):
    """I, of any size."""

    def __init__(self, n: int | None = None):
        self.n = n

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        self._matches(len(V))
        return np.array(V, dtype=np.float64)

    def sandwich(self, X: Any) -> np.ndarray:
        self._matches(X.shape[0])
        return CentredMatrix.of(X).gram()

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return np.ones(self._size(n))

    def trace_on(self, X: Any) -> float:
        return CentredMatrix.of(X).squared_norm(self.diagonal(X.shape[0]))

    def diagonal_and_factors(self, n: int) -> Form:
        return self.diagonal(n), []

    def is_scatter(self, rows: CentredMatrix, weights: np.ndarray | None) -> bool:
        return all_ones(weights)

    def add_sums(self, sums: WantedSums) -> None:
        sums.add_scatter(None)

    def compressed(self, rows: CompressedRows) -> Operator:
        return rows.scatter(None)

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return Diagonal(_selection(index, n) @ np.ones(len(index)))

    def repeated(self, repeats: Repeats) -> Operator:
        return Diagonal(repeats.weights)


class Centering(Operator):
    """diag(w) - ww'/1'w: centring by the w-weighted mean, w-weighted; I - 11'/n (of any size) without weights."""

    def __init__(self, weights: np.ndarray | None = None):
        self.weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        self.n = None if weights is None else len(weights)

    def row_weights(self, n: int) -> np.ndarray:
        """w, or n ones."""
        return np.ones(n) if self.weights is None else self.weights

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        w = self.row_weights(len(V))
        return _rowwise(w, V - (w @ V) / w.sum())

    def sandwich(self, X: Any) -> np.ndarray:
        X = CentredMatrix.of(X)
        return CentredMatrix.centred(X.X, self.row_weights(X.shape[0])).gram(self.weights)

    def diagonal(self, n: int | None = None) -> np.ndarray:
        w = self.row_weights(self._size(n))
        return w - w**2 / w.sum()

    def trace_on(self, X: Any) -> float:
        w = self.row_weights(X.shape[0])
        return CentredMatrix.centred(CentredMatrix.of(X).X, w).squared_norm(w)

    def diagonal_and_factors(self, n: int) -> Form:
        w = self.row_weights(n)
        return w, [(-1.0 / w.sum(), LowRank(w[:, None]))]

    def is_scatter(self, rows: CentredMatrix, weights: np.ndarray | None) -> bool:
        return rows.annihilates(self.row_weights(rows.shape[0]))

    def add_sums(self, sums: WantedSums) -> None:
        sums.add_scatter(self.weights)

    def compressed(self, rows: CompressedRows) -> Operator:
        return rows.scatter(self.weights, centred=True)

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return Centering(_selection(index, n) @ self.row_weights(len(index)))

    def repeated(self, repeats: Repeats) -> Operator:
        return Centering(repeats.weights if self.weights is None else repeats.weights * self.weights)


class LowRank(Operator):
    """F S F', F an n x q array or sparse matrix; S is None (I), a vector (its diagonal) or symmetric q x q. With
    ``center=w`` F stands for F - w (1'F)/(1'w), never formed: the operator then annihilates the constant vector and
    acts on w-centred rows as F S F' does. ``sums`` is F'1 of all rows, where F holds those of a block."""

    def __init__(
        self, F: Any, S: np.ndarray | None = None, center: np.ndarray | None = None, *, sums: np.ndarray | None = None
    ):
        self.F, self._sums = F, sums
        self._weights = None if S is None else np.asarray(S, dtype=np.float64)
        self.center = None if center is None else np.asarray(center, dtype=np.float64)
        self.n = F.shape[0]

    @property
    def S(self) -> np.ndarray | None:
        """The weights of the factor columns."""
        return self._weights

    @property
    def rank_bound(self) -> int:
        """q, the number of factor columns."""
        return self.F.shape[1]

    @property
    def sums(self) -> np.ndarray:
        """F'1, not centred."""
        return np.asarray(self.F.sum(axis=0)).ravel() if self._sums is None else self._sums

    def weigh(self, C: np.ndarray) -> np.ndarray:
        """S C for a q x k array C."""
        if self.S is None:
            return C
        return _rowwise(self.S, C) if self.S.ndim == 1 else self.S @ C

    def factor_tdot(self, V: np.ndarray) -> np.ndarray:
        """(centred F)' V, q x k."""
        C = np.asarray(self.F.T @ V)
        return C if self.center is None else C - _outer(self._shift(), self.center @ V)

    def factor_dot(self, C: np.ndarray) -> np.ndarray:
        """(centred F) C, n x k."""
        V = np.asarray(self.F @ C)
        return V if self.center is None else V - _outer(self.center, self._shift() @ C)

    def project(self, X: Any) -> np.ndarray:
        """X'(centred F), d x q: the whole of what a projection needs to know of the operator."""
        X = CentredMatrix.of(X)
        E = X.tdot(self.F)
        if self.center is None or X.annihilates(self.center):
            return E
        return E - np.outer(X.tdot(self.center), self._shift())

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        return self.factor_dot(self.weigh(self.factor_tdot(V)))

    def sandwich(self, X: Any) -> np.ndarray:
        E = self.project(X)
        return symmetrise(matmul(E, self.weigh(E.T)))

    def diagonal(self, n: int | None = None) -> np.ndarray:
        F, step = sparse.csr_array(self.F) if sparse.issparse(self.F) else self.F, block_rows(self.rank_bound)
        entries = np.empty(self.n)
        for start in range(0, self.n, step):
            part = slice(start, start + step)
            rows = F[part].toarray() if sparse.issparse(F) else np.asarray(F[part], dtype=np.float64)
            if self.center is not None:
                rows = rows - np.outer(self.center[part], self._shift())
            entries[part] = np.einsum("ij,ji->i", rows, self.weigh(rows.T))
        return entries

    def trace_on(self, X: Any) -> float:
        E = self.project(X)
        return float(np.vdot(E.T, self.weigh(E.T)))

    def low_rank(self) -> LowRank | None:
        return self

    def row_sums(self) -> np.ndarray:
        return np.zeros(self.n) if self.center is not None else np.asarray(self.F @ self.weigh(self.sums))

    def is_squared_scatter(self, rows: CentredMatrix, uniform: bool) -> bool:
        if self.F is not rows.given or self.S is not None:
            return False
        if self.center is None:
            return not rows.has_mean
        return rows.has_mean and np.ptp(self.center) == 0 and uniform

    def add_in_coordinates(self, total: np.ndarray, c: float, coordinates: RowSpace) -> None:
        E = coordinates.project(self)
        add_product(total, c, E, self.weigh(E.T))

    def add_sums(self, sums: WantedSums) -> None:
        sums.add_factor(self.F, self.center)

    def compressed(self, rows: CompressedRows) -> Operator:
        return LowRank(rows.factor(self.F, self.center), self.S)

    def spread(self, index: np.ndarray, n: int) -> Operator:
        place = _selection(index, n)
        center = None if self.center is None else place @ self.center
        return LowRank(place @ sparse.csc_array(self.F), self.S, center)

    def repeated(self, repeats: Repeats) -> Operator:
        center = None if self.center is None else repeats.weights * self.center
        return LowRank(repeats.of(self.F), self.S, center, sums=self._sums)

    def weighted(self, r: np.ndarray) -> Operator:
        return LowRank(sparse.diags_array(r) @ (self.F if self.center is None else self.dense_factor()), self.S)

    def laplacian(self) -> Operator:
        """Of a rank-one w w'/1'w, ``Centering(w)``: so it is known as a scatter."""
        if self.rank_bound == 1 and self.center is None:
            w = self.F.toarray().ravel() if sparse.issparse(self.F) else np.asarray(self.F, dtype=np.float64).ravel()
            scale = float(self.weigh(np.ones((1, 1)))[0, 0])
            if w.min(initial=0.0) >= 0 and np.isclose(scale * self.sums[0], 1.0, rtol=1e-12):
                return Centering(w)
        return super().laplacian()

    def dense_factor(self) -> np.ndarray:
        """The centred F as an n x q array, refused above the size guard."""
        guard_dense(self.F.shape, "The factor of a low-rank operator")
        F = self.F.toarray() if sparse.issparse(self.F) else np.asarray(self.F, dtype=np.float64)
        return F if self.center is None else F - np.outer(self.center, self._shift())

    def _shift(self) -> np.ndarray:
        return self.sums / self.center.sum()


class Mixed(LowRank):
    """F C diag(w) C' F' of a sparse F (n x q) and a sparse C (q x p): S = C diag(w) C' is made when it is asked for."""

    def __init__(self, F: Any, C: Any, w: np.ndarray, center: np.ndarray | None = None):
        super().__init__(F, center=center)
        self.C, self.w = C, w

    @property
    def S(self) -> np.ndarray:
        guard_dense((self.rank_bound,) * 2, "The weights of a low-rank operator")
        return (self.C @ sparse.diags_array(self.w) @ self.C.T).toarray()

    def weigh(self, C: np.ndarray) -> np.ndarray:
        return np.asarray(self.C @ _rowwise(self.w, self.C.T @ np.ascontiguousarray(C)))

    def repeated(self, repeats: Repeats) -> Operator:
        center = None if self.center is None else repeats.weights * self.center
        return Mixed(repeats.of(self.F), self.C, self.w, center)


class Sparse(Operator):
    """A symmetric sparse matrix."""

    def __init__(self, W: Any):
        self.W = sparse.csr_array(W, dtype=np.float64)
        self.n = self.W.shape[0]
        _require_symmetry(self.W)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        self._matches(len(V))
        return by_columns(self.W, V)

    def sandwich(self, X: Any) -> np.ndarray:
        self._matches(X.shape[0])
        return sparse_sandwich(self.W, CentredMatrix.of(X))

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return self.W.diagonal()

    def trace_on(self, X: Any) -> float:
        return edge_trace(self.W, CentredMatrix.of(X))

    def graph(self) -> sparse.csr_array | None:
        return self.W

    def weighted(self, r: np.ndarray) -> Operator:
        R = sparse.diags_array(r)
        return Sparse(R @ self.W @ R)


class Dense(Operator):
    """A symmetric n x n array, for methods that are dense by nature; refused above the size guard."""

    def __init__(self, A: np.ndarray, max_dense_bytes: int = MAX_DENSE_BYTES):
        guard_dense(A.shape, "A dense proximity matrix", max_dense_bytes)
        self.A = np.asarray(A, dtype=np.float64)
        self.n = self.A.shape[0]

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        return self.A @ V

    def todense(self, n: int | None = None) -> np.ndarray:
        return self.A.copy()

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return np.diag(self.A).copy()


class Multiple(Operator):
    """c A."""

    def __init__(self, factor: float, op: Operator):
        self.factor, self.op, self.n = factor, op, op.n

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        return self.factor * (self.op @ V)

    def sandwich(self, X: Any) -> np.ndarray:
        return self.factor * self.op.sandwich(X)

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return self.factor * self.op.diagonal(n)

    def trace_on(self, X: Any) -> float:
        return self.factor * self.op.trace_on(X)

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return Multiple(self.factor, self.op.spread(index, n))

    def repeated(self, repeats: Repeats) -> Operator:
        return Multiple(self.factor, self.op.repeated(repeats))

    def weighted(self, r: np.ndarray) -> Operator:
        return Multiple(self.factor, self.op.weighted(r))

    def terms(self) -> list[tuple[float, Operator]]:
        return [(self.factor * c, op) for c, op in self.op.terms()]


class Sum(Operator):
    """Sum of c_i A_i. Terms are flattened; equal diagonals of opposite sign cancel, so that low rank is seen as low
    rank."""

    def __init__(self, parts: list[tuple[float, Operator]]):
        self.parts = [(c * coefficient, leaf) for c, op in parts for coefficient, leaf in op.terms()]
        sizes = {op.n for _, op in self.parts if op.n is not None}
        if len(sizes) > 1:
            raise ValueError(f"Operators of different sizes cannot be added: {sorted(sizes)}.")
        self.n = sizes.pop() if sizes else None

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        total: Any = sum(c * (op @ V) for c, op in self.parts)
        return total

    def sandwich(self, X: Any) -> np.ndarray:
        total: Any = sum(c * op.sandwich(X) for c, op in self.parts)
        return total

    def diagonal(self, n: int | None = None) -> np.ndarray:
        n = self._size(n)
        total: Any = sum(c * op.diagonal(n) for c, op in self.parts)
        return total

    def trace_on(self, X: Any) -> float:
        X = CentredMatrix.of(X)
        return float(sum(c * op.trace_on(X) for c, op in self.parts))

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return Sum([(c, op.spread(index, n)) for c, op in self.parts])

    def repeated(self, repeats: Repeats) -> Operator:
        return Sum([(c, op.repeated(repeats)) for c, op in self.parts])

    def weighted(self, r: np.ndarray) -> Operator:
        return Sum([(c, op.weighted(r)) for c, op in self.parts])

    def terms(self) -> list[tuple[float, Operator]]:
        return self.parts


class Spread(Operator):
    """An operator on some rows, seen as one on all n rows: zero where a row is not among ``index``."""

    def __init__(self, op: Operator, index: np.ndarray, n: int):
        self.op, self.index, self.n = op, np.asarray(index), n

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        self._matches(len(V))
        out = np.zeros(V.shape)
        out[self.index] = self.op @ V[self.index]
        return out

    def sandwich(self, X: Any) -> np.ndarray:
        self._matches(X.shape[0])
        return self.op.sandwich(CentredMatrix.of(X).take(self.index))

    def diagonal(self, n: int | None = None) -> np.ndarray:
        out = np.zeros(self.n)
        out[self.index] = self.op.diagonal(len(self.index))
        return out

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return Spread(self.op, np.asarray(index)[self.index], n)


def Laplacian(W: Operator) -> Operator:
    """L(W) = D(W) - W, D(W) = diag(W1). A rank-one w w'/1'w gives ``Centering(w)``, so that it is known as a scatter;
    sparse terms give one sparse matrix, degrees included."""
    return W.laplacian()


def _selection(index: np.ndarray, n: int) -> sparse.csr_array:
    """The n x len(index) matrix that puts the i-th entry in place ``index[i]``."""
    return sparse.csr_array((np.ones(len(index)), (index, np.arange(len(index)))), shape=(n, len(index)))


def _require_symmetry(W: sparse.csr_array) -> None:
    """Raise a ValueError where WV and W'V differ on a random vector: a sandwich reads one half of W only."""
    if W.shape[0] != W.shape[1]:
        raise ValueError(f"A sparse operator is a square matrix, not {W.shape[0]:,} x {W.shape[1]:,}.")
    v = np.random.default_rng(0).uniform(1.0, 2.0, W.shape[0])
    missed = np.abs(W @ v - W.T @ v).max(initial=0.0)
    if missed > SYMMETRIC * np.abs(W.data).max(initial=0.0) * W.shape[0]:
        raise ValueError(
            "A sparse operator must be symmetric; this matrix is not. Pass (W + W.T) / 2, or the larger of W and W.T "
            "for the undirected form of a graph."
        )


def _rowwise(w: np.ndarray, V: np.ndarray) -> np.ndarray:
    return w * V if V.ndim == 1 else w[:, None] * V


def _outer(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return u * v if np.ndim(v) == 0 else np.outer(u, v)
