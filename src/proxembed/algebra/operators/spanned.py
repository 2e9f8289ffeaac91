"""Spanned: Y (Y'Y + ridge I)^+ Y' of a sparse matrix Y with thousands of columns, without the c x c pseudo-inverse.

Equal rows of Y are merged, and equal columns. The Gram matrix of the smaller side of the rest is factorised once, in
packed form (half of a square array), with the tolerance of a pseudo-inverse as its shift. Right sides R are solved by
repeated correction until the residual of Y'Y W = Y'R is small. Dependent columns do no harm: Y'R has no part in their
null space.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg.lapack import dpftrf, dpftrs

from proxembed.algebra.arrays.blas import add_symmetric, gram, matmul, symmetrise, threads_for
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import fingerprints, guard_dense, multipliers
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, pseudo_inverse

from .structured import LowRank, Operator, RowSpace, Spread

CORRECTIONS = 12
ROUNDS = 100  # in which rows are taken away
POWERS = 20
ROUNDING = 1e-13  # share of all squares of a matrix that centring may leave of one of equal rows
CERTIFIED = 1e-8  # of the right side, residual of Y'Y W = Y'R; what follows from W errs by its square
PANEL = 256


class Spanned(LowRank):
    """F (F'F + ridge I)^+ F' of a sparse F, n x q, less its mean over the rows where ``centred``; without a ridge the
    projection on its range. Neither F nor F'F is made dense."""

    def __init__(self, F: Any, ridge: float = 0.0, *, centred: bool = True):
        super().__init__(F, center=np.ones(F.shape[0]) if centred else None)
        self.ridge, self.centred = float(ridge), centred

    @cached_property
    def span(self) -> "Span":
        """The rows and columns of F, each once, with the factor of their smaller side."""
        return Span(self.F, self.ridge, self.centred)

    @property
    def S(self) -> np.ndarray:
        """(F'F + ridge I)^+, for the few that ask for the q x q array."""
        guard_dense((self.rank_bound,) * 2, "The pseudo-inverse of Y'Y")
        inner = (self.F.T @ self.F).toarray()
        if self.centred:
            inner -= np.outer(self.sums, self.sums) / self.n
        return pseudo_inverse(inner, self.ridge)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        R = self.span.gather(V if V.ndim == 2 else V[:, None])
        Z, _ = self.span.solve(R)
        if self.span.shifted:  # an error of a projection falls to its square
            Z += self.span.solve(R - Z)[0]
        return self.span.scatter(Z).reshape(V.shape)

    def sandwich(self, X: Any) -> np.ndarray:
        """X'AX as R'Z + Z'R - Z'Z - ridge W'W, R = HX and Z = F W: of an error in W only its square is left."""
        X = CentredMatrix.of(X)
        R = self.span.centre(np.ascontiguousarray(X.tdot(self.span.averaging).T))
        Z, W = self.span.solve(R)
        inner = matmul(R.T, Z)
        return symmetrise(inner + inner.T - gram(Z) - (self.ridge * gram(W) if self.ridge else 0.0))

    def inverse_sandwich(self, V: np.ndarray) -> np.ndarray:
        """V'(FF' + ridge I)^-1 V of an array V (n x k), ridge > 0, as (V - Z)'(V - Z) / ridge + W'W, Z = F W: of an
        error in W only its square is left, and no numbers of size 1 / ridge are subtracted."""
        R = self.span.gather(V)
        Z, W = self.span.solve(R)
        outside = V - self.span.scatter(R)
        return (gram(outside) + gram(R - Z)) / self.ridge + gram(W)

    def diagonal(self, n: int | None = None) -> np.ndarray:
        return Operator.diagonal(self, n)

    def trace_on(self, X: Any) -> float:
        return Operator.trace_on(self, X)

    def row_sums(self) -> np.ndarray:
        return Operator.row_sums(self)

    def add_in_coordinates(self, total: np.ndarray, c: float, coordinates: RowSpace) -> None:
        add_symmetric(total, c, coordinates.general(self))

    def spread(self, index: np.ndarray, n: int) -> Operator:
        return Spread(self, index, n)


class Span:
    """The range of a sparse matrix, whose mean is taken off where ``centred``. M (u x v) holds each distinct row once,
    times the root of the number of its copies: the matrix in the orthonormal basis ``averaging`` (n x u). ``level`` is
    the unit vector of ones in that basis. Without a ridge, a row that is the only one of some column lies in the range
    as it is. It is taken away, then each row that this makes the only one of a column; the ``rest`` is solved for."""

    def __init__(self, Y: Any, ridge: float, centred: bool):
        Y = sparse.csr_array(Y, dtype=np.float64)
        n = Y.shape[0]
        first, place, counts = _distinct(Y)
        root = np.sqrt(counts)
        self.averaging = sparse.csr_array(((1.0 / root)[place], place, np.arange(n + 1)), shape=(n, len(counts)))
        self.level = root / np.sqrt(n) if centred else None
        M = sparse.csr_array(sparse.diags_array(root) @ Y[first])
        self.rest = _rows_left(M) if ridge == 0.0 else np.arange(len(counts))
        level = None if self.level is None else self.level[self.rest]
        self.inner_level = None if level is None or not len(level) else level / np.linalg.norm(level)
        self.core = Core(M[self.rest], ridge, self.inner_level) if len(self.rest) else None

    def centre(self, V: np.ndarray) -> np.ndarray:
        """V less its mean."""
        return V if self.level is None else V - np.outer(self.level, self.level @ V)

    def gather(self, V: np.ndarray) -> np.ndarray:
        """Rows V (n x k) as rows of the basis, centred."""
        return self.centre(self.averaging.T @ V)

    def scatter(self, Z: np.ndarray) -> np.ndarray:
        """Rows of the basis as rows of the matrix."""
        return self.averaging @ Z

    @property
    def shifted(self) -> bool:
        """Whether solutions have errors beyond rounding."""
        return self.core is not None and self.core.shifted

    def solve(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of centred R (u x k): Z = M W, the ridge regression of R on the centred M, and W, which counts with a
        ridge."""
        Z = R.copy()
        if self.core is None:
            return Z, np.zeros((0, R.shape[1]))
        part = R[self.rest]
        own = 0.0 if self.inner_level is None else np.outer(self.inner_level, self.inner_level @ part)
        found, W = self.core.solve(part - own)
        Z[self.rest] = own + found
        return Z, W


class Core:
    """A sparse u x v matrix M, centred by the unit vector ``level`` (None: not centred), with the factor of its smaller
    side: MM' or M'M, plus the ridge, but at least the tolerance of a pseudo-inverse."""

    def __init__(self, M: sparse.csr_array, ridge: float, level: np.ndarray | None):
        self.ridge, self.level = ridge, level
        columns = sparse.csr_array(M.T)
        columns = columns[np.diff(columns.indptr) > 0]
        own, _, times = _distinct(columns)
        self.across = sparse.csr_array(sparse.diags_array(np.sqrt(times)) @ columns[own])  # M', v x u
        self.M = sparse.csr_array(self.across.T)
        self.by_rows = self.M.shape[0] <= self.M.shape[1]
        self._factorise()

    def _factorise(self) -> None:
        largest = self._largest()
        self.zero, self.shifted = largest <= 0.0, False
        if self.zero:
            return
        shift = max(self.ridge, RANGE_TOLERANCE * largest)
        self.shifted = shift > self.ridge
        packed = packed_gram(*self._smaller_side(), shift)
        self.size = _even(min(self.M.shape))
        with threads_for(self.size):
            self.factor, refused = dpftrf(self.size, packed, uplo="L", overwrite_a=1)
        if refused:
            raise linalg.LinAlgError("The Gram matrix of the labels is not positive semidefinite.")

    def _largest(self) -> float:
        """The largest eigenvalue of MM', by the power method: its size is all that a tolerance needs."""
        v, largest = np.random.default_rng(0).standard_normal((self.M.shape[0], 1)), 0.0
        for _ in range(POWERS):
            length = float(np.linalg.norm(v))
            if length == 0.0:
                return 0.0
            v = self.dot(self.tdot(v / length))
            largest = max(largest, float(np.linalg.norm(v)))
        return largest if largest > ROUNDING * float(self.M.data @ self.M.data) else 0.0

    def _smaller_side(self) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
        """A, L and R with AA' - LR' the Gram matrix of the smaller side of the centred M."""
        A = self.M if self.by_rows else self.across
        if self.level is None:
            return A, np.zeros((A.shape[0], 0)), np.zeros((A.shape[0], 0))
        sums = self.across @ self.level
        if not self.by_rows:
            return A, sums[:, None], sums[:, None]
        own = self.M @ sums
        rest = own - float(self.level @ own) * self.level
        return A, np.column_stack([self.level, rest]), np.column_stack([own, self.level])

    def centre(self, V: np.ndarray) -> np.ndarray:
        """V less its mean."""
        return V if self.level is None else V - np.outer(self.level, self.level @ V)

    def dot(self, W: np.ndarray) -> np.ndarray:
        """(centred M) W."""
        return self.centre(self.M @ W)

    def tdot(self, V: np.ndarray) -> np.ndarray:
        """(centred M)' V."""
        return self.across @ self.centre(V)

    def _solved(self, V: np.ndarray) -> np.ndarray:
        """(G + shift I)^-1 V, G the Gram matrix of the smaller side."""
        right = np.zeros((self.size, V.shape[1]), order="F")
        right[: len(V)] = V
        with threads_for(self.size):
            return dpftrs(self.size, self.factor, right, uplo="L", overwrite_b=1)[0][: len(V)]

    def solve(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Z = M W (u x k) and W (v x k) with (M'M + ridge I) W = M'R."""
        W, Z = np.zeros((self.M.shape[1], R.shape[1])), np.zeros(R.shape)
        right = self.tdot(R)
        allowed = CERTIFIED * np.linalg.norm(right)
        if self.zero or allowed == 0.0:
            return Z, W
        rest, shrunk = R, np.zeros(R.shape)
        for _ in range(CORRECTIONS):
            if self.by_rows:
                step = self._solved(rest)
                shrunk += step
                step = self.tdot(step)
            else:
                step = self._solved(right)
            W += step
            Z += self.dot(step)
            rest = R - Z - (self.ridge * shrunk if self.by_rows and self.ridge else 0.0)
            right = self.tdot(rest) - (self.ridge * W if self.ridge and not self.by_rows else 0.0)
            if np.linalg.norm(right) <= allowed:
                break
        return Z, W


def packed_gram(A: sparse.csr_array, L: np.ndarray, R: np.ndarray, shift: float) -> np.ndarray:
    """AA' - LR' + shift I, symmetric, in LAPACK's rectangular full packed format (TRANSR = N, UPLO = L), made some rows
    at a time. The size is even: an odd number of rows gets a row of zeros."""
    n, size = A.shape[0], _even(A.shape[0])
    half = size // 2
    guard_dense((size + 1, half), "The factor of Y'Y", remedy="Use OPLS, which spans a similar space, or fewer labels.")
    packed, columns = np.zeros((size + 1, half), order="F"), sparse.csc_array(A.T)
    starts = [*range(0, half, PANEL), *range(half, size, PANEL), size]
    for start, stop in pairwise(starts):
        rows, known = np.zeros((stop - start, stop)), min(stop, n)
        own = rows[: known - start, :known]
        own[:] = (A[start:known] @ columns[:, :known]).toarray() - L[start:known] @ R[:known].T
        rows[np.arange(stop - start), np.arange(start, stop)] += shift
        _pack(packed, rows, start)
    return packed.ravel(order="F")


def _pack(packed: np.ndarray, rows: np.ndarray, start: int) -> None:
    """Put rows of the lower triangle from ``start`` on, all in one half, in their places."""
    half, stop = packed.shape[1], start + len(rows)
    lower = np.tril(np.ones((len(rows),) * 2, dtype=bool))
    if start < half:
        packed[start + 1 : stop + 1, :start] = rows[:, :start]
        packed[start + 1 : stop + 1, start:stop][lower] = rows[:, start:][lower]
        return
    packed[start + 1 : stop + 1] = rows[:, :half]
    place = slice(start - half, stop - half)
    packed[: start - half, place] = rows[:, half:start].T
    packed[place, place][lower.T] = rows[:, start:].T[lower.T]


def _even(n: int) -> int:
    return n + n % 2


def _rows_left(M: sparse.csr_array) -> np.ndarray:
    """The rows of M that are left when each that is the only one of a column has been taken away, again and again."""
    left = np.ones(M.shape[0])
    columns = sparse.csc_array((np.ones(M.nnz), M.indices, M.indptr), shape=M.shape[::-1])  # the pattern of M'
    rows = sparse.csc_array(columns.T)
    for _ in range(ROUNDS):
        single = np.flatnonzero(columns @ left == 1.0)
        if not len(single):
            break
        left[rows[:, single].indices] = 0.0
    return np.flatnonzero(left)


def _distinct(A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first row of each kind of equal rows, the number of its kind for each row, and how many rows each kind
    has."""
    prints = fingerprints(A, multipliers(A.shape[1]))
    _, first, place, counts = np.unique(prints, return_index=True, return_inverse=True, return_counts=True)
    return first, np.ravel(place), counts.astype(np.float64)
