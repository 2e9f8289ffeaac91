"""Weights inside classes, and the Laplacians made of them: ClassWeights, known by tiles and never held, ClassLinks,
sparse, and ClassResiduals, what a ridge reconstruction of each row by its class leaves, in closed form.

In: for each class its rows and its weight matrix, or a function that opens it, to give any tile. Out: operators whose
X'LX costs n_k^2 d per class, or d per link, every pair of rows met once; Laplacians that differ by a factor per class
share one pass. The tiles of a class are there only while its turn lasts, since a row may be in many classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.operators.structured import Laplacian, Operator, Sparse
from proxembed.algebra.pencil.symmetric import descending

from .blas import by_columns, each_in_threads, matmul, symmetrise
from .centred import CentredMatrix, rank_threshold

TALL, WIDE = 256, 1024
GROUP_ROWS = 8192

Tile = Callable[[slice, slice], np.ndarray]
Open = Callable[[], Tile]


class InsideClasses(ABC):
    """sum_k S_k A_k S_k', S_k the selection of the rows of class k; a row may be in several classes."""

    def __init__(self, n: int, index: Sequence[np.ndarray]):
        self.n = n
        self.index = [np.asarray(each) for each in index]
        self.members: list[ClassLaplacian] = []

    def laplacian(self, factors: np.ndarray) -> ClassLaplacian:
        """sum_k factors_k L(S_k A_k S_k')."""
        self.members.append(ClassLaplacian(self, np.asarray(factors, dtype=np.float64)))
        return self.members[-1]

    @abstractmethod
    def products(self, V: np.ndarray) -> Iterator[np.ndarray]:
        """L(A_k) V_k for each class, V_k its rows of V, n x q."""

    @abstractmethod
    def sandwiches(self, X: CentredMatrix, factors: np.ndarray) -> np.ndarray:
        """sum_k factors_mk X_k'L(A_k)X_k for every m, (m, d, d); centring cancels."""

    @abstractmethod
    def diagonals(self) -> Iterator[np.ndarray]:
        """The diagonal of L(A_k) for each class."""


class ClassLinks(InsideClasses):
    """Weights inside classes that are held: ``classes`` has (index (n_k,), A_k) pairs, A_k symmetric CSR."""

    def __init__(self, n: int, classes: Sequence[tuple[np.ndarray, sparse.csr_array]]):
        super().__init__(n, [index for index, _ in classes])
        self._laplacians = [Laplacian(Sparse(A)) for _, A in classes]

    def products(self, V: np.ndarray) -> Iterator[np.ndarray]:
        for index, L in zip(self.index, self._laplacians, strict=True):
            yield L @ V[index].astype(np.float64)

    def sandwiches(self, X: CentredMatrix, factors: np.ndarray) -> np.ndarray:
        total = np.zeros((len(factors), X.shape[1], X.shape[1]))
        for k, (index, L) in enumerate(zip(self.index, self._laplacians, strict=True)):
            total += factors[:, k, None, None] * L.sandwich(X.take(index))
        return total

    def diagonals(self) -> Iterator[np.ndarray]:
        for L in self._laplacians:
            yield L.diagonal()


class ClassWeights(InsideClasses):
    """Weights inside classes that are known by tiles: ``classes`` has (index (n_k,), open) pairs. ``open()(rows,
    columns)`` gives this part of the symmetric A_k, a new array."""

    def __init__(self, n: int, classes: Sequence[tuple[np.ndarray, Open]]):
        super().__init__(n, [index for index, _ in classes])
        self._open = [open_ for _, open_ in classes]

    def products(self, V: np.ndarray) -> Iterator[np.ndarray]:
        for index, open_ in zip(self.index, self._open, strict=True):
            tile, Z = open_(), V[index].astype(np.float64)
            out = np.empty(Z.shape)

            def work(part: slice, Z: np.ndarray = Z, out: np.ndarray = out, tile: Any = tile) -> None:
                A = tile(part, slice(0, len(Z)))
                out[part] = A.sum(axis=1)[:, None] * Z[part] - A @ Z

            each_in_threads(work, slices(len(index), TALL))
            yield out

    def diagonals(self) -> Iterator[np.ndarray]:
        for index, open_ in zip(self.index, self._open, strict=True):
            tile, out = open_(), np.empty(len(index))
            for part in slices(len(index), TALL):
                A = tile(part, slice(0, len(index)))
                out[part] = A.sum(axis=1) - A[np.arange(len(A)), np.arange(part.start, part.stop)]
            yield out

    def sandwiches(self, X: CentredMatrix, factors: np.ndarray) -> np.ndarray:
        """sum_k factors_mk X_k'L(A_k)X_k for every m, (m, d, d); centring cancels. L = D - U - U', U the upper half of
        A_k with half of its diagonal: X'LX is H + H', H = X'(D/2 - U)X."""
        total = np.zeros((len(factors), X.shape[1], X.shape[1]))
        if X.sparse:
            self._add_sparse(X.X, factors, total)
        else:
            for group in self._groups():
                self._add_group(X.X, group, factors, total)
        return total + total.transpose(0, 2, 1)

    def _add_group(self, X: np.ndarray, group: list[int], factors: np.ndarray, total: np.ndarray) -> None:
        """H of some classes, which share the threads; the two large products take all of them at once."""
        ends = np.cumsum([len(self.index[k]) for k in group])
        places = {k: slice(end - len(self.index[k]), end) for k, end in zip(group, ends, strict=True)}
        Z, half = np.empty((ends[-1], X.shape[1])), np.empty((ends[-1], X.shape[1]))
        for k, place in places.items():
            Z[place] = X[self.index[k]]
            Z[place] -= Z[place].mean(axis=0)
        tiles = {k: self._open[k]() for k in group}
        tasks = [(k, part) for k in group for part in slices(len(self.index[k]), TALL)]

        def work(task: tuple[int, slice]) -> list[np.ndarray]:
            k, part = task
            half[places[k]][part], *sums = _upper_rows(tiles[k], part, Z[places[k]])
            return sums

        sums = each_in_threads(work, tasks)
        degrees = np.zeros(ends[-1])
        for (k, part), (rows, columns) in zip(tasks, sums, strict=True):
            _add_degrees(degrees[places[k]], part, rows, columns)
        np.subtract(0.5 * degrees[:, None] * Z, half, out=half)
        for m in range(len(factors)):
            c = np.repeat(factors[m, group], np.diff(ends, prepend=0))
            total[m] += matmul(Z.T, c[:, None] * half)

    def _add_sparse(self, X: Any, factors: np.ndarray, total: np.ndarray) -> None:
        """The same for CSR X: one block of rows is dense at a time."""
        for k, (index, open_) in enumerate(zip(self.index, self._open, strict=True)):
            tile, Z = open_(), X[index].astype(np.float64)
            U, degrees = np.zeros((X.shape[1],) * 2), np.zeros(len(index))
            for part in slices(len(index), TALL):
                A = tile(part, slice(part.start, len(index)))
                _add_degrees(degrees, part, A.sum(axis=1), A.sum(axis=0))
                A[:, : part.stop - part.start] *= 0.5
                product = by_columns(Z[part.start :].T.tocsr(), np.ascontiguousarray(A.T)).T
                U += by_columns(Z[part].T.tocsr(), np.ascontiguousarray(product))
            U = 0.5 * CentredMatrix(Z).gram(degrees) - U
            for m in range(len(factors)):
                total[m] += factors[m, k] * U

    def _groups(self) -> Iterator[list[int]]:
        return in_groups({k: len(index) for k, index in enumerate(self.index)}, GROUP_ROWS)


class ClassLaplacian(Operator):
    """sum_k c_k L(S_k A_k S_k'); weights A_k known by tiles are computed whenever they are needed."""

    def __init__(self, weights: InsideClasses, factors: np.ndarray):
        self.weights, self.factors, self.n = weights, factors, weights.n
        self._waiting: tuple[object, np.ndarray] | None = None

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        self._matches(len(V))
        out = np.zeros((len(V), V.size // len(V)))
        products = self.weights.products(V.reshape(out.shape))
        for c, index, product in zip(self.factors, self.weights.index, products, strict=True):
            out[index] += c * product
        return out.reshape(V.shape)

    def sandwich(self, X: Any) -> np.ndarray:
        """X'LX; what the other Laplacians of the same weights give for this X waits until it is asked for."""
        self._matches(X.shape[0])
        if self._waiting is not None and self._waiting[0] is X:
            found, self._waiting = self._waiting[1], None
            return found
        members = self.weights.members
        found = self.weights.sandwiches(CentredMatrix.of(X), np.stack([member.factors for member in members]))
        for member, result in zip(members, found, strict=True):
            member._waiting = None if member is self else (X, result)
        return found[members.index(self)]

    def diagonal(self, n: int | None = None) -> np.ndarray:
        out = np.zeros(self.n)
        for c, index, own in zip(self.factors, self.weights.index, self.weights.diagonals(), strict=True):
            out[index] += c * own
        return out


def in_groups(rows: Mapping[int, int], enough: int) -> Iterator[list[int]]:
    """Numbers of classes, each with its rows, in groups that are closed once they hold enough rows."""
    group, held = [], 0
    for k, n in rows.items():
        group.append(k)
        held += n
        if held >= enough:
            yield group
            group, held = [], 0
    if group:
        yield group


def slices(size: int, step: int, start: int = 0) -> list[slice]:
    """Consecutive slices of at most ``step`` from ``start`` to ``size``."""
    return [slice(first, min(first + step, size)) for first in range(start, size, step)]


def _upper_rows(tile: Tile, part: slice, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows ``part`` of (upper half of A) Z, half of the square on the diagonal included; and the sums of these rows and
    of their columns."""
    product = np.zeros((part.stop - part.start, Z.shape[1]))
    rows, columns = np.zeros(part.stop - part.start), np.empty(len(Z) - part.start)
    for place in [part, *slices(len(Z), WIDE, part.stop)]:
        A = tile(part, place)
        rows += A.sum(axis=1)
        columns[place.start - part.start : place.stop - part.start] = A.sum(axis=0)
        if place is part:
            A *= 0.5
        product += A @ Z[place]
    return product, rows, columns


def _add_degrees(degrees: np.ndarray, part: slice, rows: np.ndarray, columns: np.ndarray) -> None:
    """Add what rows ``part`` of the upper half give to the row sums of the whole matrix; always in one order."""
    degrees[part] += rows
    degrees[part.stop :] += columns[part.stop - part.start :]


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
    """The residual map of rows ``index`` of X, each from all others, its squares weighted; at least two rows. Raises
    ValueError where reg = 0 leaves the weights undetermined."""
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
