"""Compression: a template on n rows, of which sums alone are known, as the same template on at most min(n, d) rows.

With the scatter Xc'WXc = V diag(s^2) V', the columns of W^1/2 Xc V diag(1/s) are orthonormal. In this basis of the rows
X is diag(s) V', a factor F is diag(1/s) V'Xc'F, the scatter is I, and any other X'AX is diag(1/s) V'X'AXV diag(1/s).
Every product that a route asks of X and the operators is that of the n rows.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import matmul, symmetrise
from proxembed.algebra.arrays.centred import EPS, CentredMatrix, rank_threshold, rounding_of_entries, rounding_of_sums
from proxembed.algebra.arrays.moments import Moments, RowStream, SummedMatrix
from proxembed.algebra.operators.structured import Dense, Identity, LowRank, Operator, Sum
from proxembed.algebra.template import Template

from .conjugate import conjugate_gradients
from .linear import Goal
from .problem import CONSTANT
from .symmetric import descending

REMAINDER = 1e-13  # share of a factor's squares that rounding may leave outside the rows


class Demand:
    """The sums that a template needs: row weights and factors, each once, in the same order for every block.
    ``template`` is stated on the rows X of a block; ``ones`` (uniform weights) and factors that are X itself are known
    by identity. ``labels``: the label matrix Y, of which X'Y is wanted in any case. ``target``: whether the sums for
    the choice of a ridge are wanted. ``formed``: the row weights whose Gram matrix is wanted. ``inner``: factors, each
    with what it is centred by, of which products with one another are wanted. ``streams``: whether the Gram matrix is
    that of the constraint alone and A of low rank, so that products with it are enough."""

    def __init__(self, template: Template, X: Any, ones: np.ndarray, labels: Any = None, target: bool = False):
        self.X, self.ones = X, ones
        self.weights: list[np.ndarray | None] = [None]
        self.factors: list[Any] = []
        self.formed: set[int] = set()
        self.inner: list[tuple[Any, np.ndarray | None]] = []
        self._keys: list[Any] = []
        if labels is not None:
            self._add(labels, labels)
        for op in (template.A, template.B):
            for _, leaf in () if op is None else op.terms():
                leaf.add_sums(self)
        self.offset = self.weight(template.offset)
        if self.formed or template.B is not None:
            self.formed.add(self.offset)
        self.streams = template.B is not None and self.formed == {0} == {self.offset} and _of_factors(template, X)
        if target:
            self._add_target(template)

    def weight(self, w: np.ndarray | None) -> int:
        """The number of these row weights; 0 for ones."""
        if w is None or w is self.ones:
            return 0
        found = next((i for i, known in enumerate(self.weights) if known is w), None)
        if found is None:
            self.weights.append(w)
            found = len(self.weights) - 1
        return found

    def columns(self, key: Any) -> slice:
        """The columns of a factor among those of all."""
        number = next(i for i, known in enumerate(self._keys) if known is key)
        start = sum(F.shape[1] for F in self.factors[:number])
        return slice(start, start + self.factors[number].shape[1])

    def add_scatter(self, w: np.ndarray | None) -> None:
        """The Gram matrix of the rows under row weights; None for ones."""
        self.formed.add(self.weight(w))

    def add_factor(self, F: Any, center: np.ndarray | None) -> None:
        """The products of the rows with a factor, or their Gram matrix where it is X itself."""
        if F is self.X:
            self.formed.add(0)
        else:
            self._add(F, F)
        if center is not None:
            self.weight(center)

    def _add_target(self, template: Template) -> None:
        """The target T, and under row weights w the products w T and w^1/2 T."""
        T = template.target
        self._add(T, T)
        if self.offset:
            weights: Any = template.offset
            for name, w in (("weighted", weights), ("rooted", np.sqrt(weights))):
                self._add(name, sparse.diags_array(w) @ T if sparse.issparse(T) else w[:, None] * T)

    def _add(self, key: Any, F: Any) -> None:
        if not any(known is key for known in self._keys):
            self._keys.append(key)
            self.factors.append(F)


def _of_factors(template: Template, X: Any) -> bool:
    """Whether A is made of factors other than X, under a constraint of the scatter alone."""
    factors = [leaf.low_rank() for _, leaf in template.A.terms()]
    low = all(factor is not None and factor.F is not X for factor in factors)
    return low and all(leaf.low_rank() is None for _, leaf in template.B.terms())


def _ends(parts: list[np.ndarray]) -> Iterator[tuple[int, int, np.ndarray]]:
    """Each part with its width and the column where it ends, side by side."""
    end = 0
    for part in parts:
        end += part.shape[1]
        yield part.shape[1], end, part


def left_rows(
    V: np.ndarray, centre: np.ndarray | None, level: np.ndarray, X: Any, target: Any, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Goal]:
    """Rows of a block as they are left out: w, diag(w)^1/2 Xc V, and the target less its ``level``, weighted alike."""
    root = np.sqrt(w)
    return w, CentredMatrix(X, centre).dot(V) * root[:, None], Goal(target, level, root)


class Compression:
    """The rows of a template, compressed, from their moments."""

    def __init__(self, template: Template, demand: Demand, moments: Moments, width: int | None = None):
        self.template, self.demand, self.centred = template, demand, template.offset is not None
        moments = moments.copy()
        j = demand.offset
        mean = moments.origin + moments.firsts[j] / moments.masses[j] if self.centred else np.zeros(len(moments.origin))
        self.sparse = moments.raw
        moments.move(mean)
        self.moments, self.mean = moments, mean
        self.constant = ~moments.varies & self.centred
        if self.centred and self.constant.all():
            raise ValueError(CONSTANT)
        self.streamed = bool(demand.formed) and not moments.shared
        if moments.shared:
            self._decompose(j, len(mean) if width is None else width)
        else:
            self._collect()

    def _decompose(self, j: int, width: int) -> None:
        gram = self._gram(j)
        d, n = len(gram), self.moments.n
        values, vectors = descending(gram)
        keep = values > rank_threshold(values, max(n, d), self._noise(n))
        rows = min(int(self.moments.counts[j]), width)
        values, vectors = values[keep][:rows], vectors[:, keep][:, :rows]
        if len(values) == 0:
            raise ValueError(CONSTANT)
        self.s, self.V = np.sqrt(values), vectors
        self._remainder = self._outside() if self.demand.inner else {}
        extra = max((len(L) for L in self._remainder.values()), default=0)
        self.rows = np.zeros((rows + extra, d))
        self.rows[: len(values)] = self.s[:, None] * vectors.T
        self._first_extra = rows

    def _collect(self) -> None:
        """The factors alone: X is (Xc'F)', each factor its own part of I."""
        self.s = None
        leaves: list[Any] = [leaf.low_rank() for _, leaf in self.template.A.terms()]
        parts = [self.product(leaf.F, leaf.center) for leaf in leaves]
        q = sum(part.shape[1] for part in parts)
        if self.streamed:
            size = min(self.moments.n, len(self.mean))
            self._units = [(sparse.csc_array((size, part.shape[1])), part) for part in parts]
            return
        self._units = [(np.eye(q + 1)[:, end - width : end], part) for width, end, part in _ends(parts)]
        self.rows = np.zeros((q + 1, len(self.mean)))  # a row more than columns: so the factor is seen as low rank
        self.rows[:q] = np.hstack(parts).T

    def _noise(self, n: int) -> float:
        if not self.centred:
            return 0.0
        return rounding_of_sums(self.mean, n) if self.sparse else rounding_of_entries(self.mean, n)

    def _gram(self, j: int, own: bool = False) -> np.ndarray:
        """X'diag(w_j)X of the centred rows; about the mean under w_j itself where ``own``."""
        G = self.moments.gram(j)
        first, mass = self.moments.firsts[j], self.moments.masses[j]
        if own:
            G -= np.outer(first, first / mass)
        elif self.centred:  # rounding has moved the mean
            moved = self.moments.firsts[self.demand.offset] / self.moments.masses[self.demand.offset]
            cross = np.outer(first - (mass / 2) * moved, moved)
            G -= cross + cross.T
        share = 16 * EPS if self.sparse else (16 * EPS) ** 2
        gone = self.constant | (
            self.centred & (np.abs(np.diag(G)) <= abs(self.moments.masses[j]) * share * self.mean**2)
        )
        G[gone, :] = 0.0
        G[:, gone] = 0.0
        return G

    def product(self, key: Any, center: np.ndarray | None = None) -> np.ndarray:
        """Xc'F (d, q) of a factor; F less center (1'F) / (1'center) where ``center`` is given."""
        part = self.demand.columns(key)
        E = self.moments.products[:, part].copy()
        if center is not None or self.centred:  # about its own weights, else about the mean, which rounding has moved
            j = self.demand.offset if center is None else self.demand.weight(center)
            E -= np.outer(self.moments.firsts[j], self.moments.factor_sums[part] / self.moments.masses[j])
        E[self.constant] = 0.0
        return E

    def sums(self, key: Any) -> np.ndarray:
        """F'1."""
        return self.moments.factor_sums[self.demand.columns(key)]

    @property
    def lost(self) -> tuple[float, float]:
        """What rounding may make of the scatter of sparse rows, and that scatter; (0, 0) where no digits are lost. A
        sparse feature with a zero varies as much as it is far from the origin."""
        far = self.sparse and self.centred and np.any(self.moments.filled > self.moments.n * (1 - 1e-12))
        scatter = float(np.sum(self.moments.norms if self.s is None else self.s**2))
        return (self._noise(self.moments.n), scatter) if far else (0.0, 0.0)

    def target_moments(self) -> np.ndarray:
        """V'Xc'WT of the target T, r x q."""
        key = "weighted" if self.demand.offset else self.template.target
        return matmul(self.V.T, self.product(key))

    def target_level(self) -> np.ndarray:
        """The weighted mean of the target, (q,); 0 where nothing is centred."""
        key = "weighted" if self.demand.offset else self.template.target
        sums = self.sums(key)
        return sums / self.moments.masses[self.demand.offset] if self.centred else np.zeros(len(sums))

    def target_squares(self) -> float:
        """tr Tc'WTc of the centred target."""
        key = "rooted" if self.demand.offset else self.template.target
        squares = float(self.moments.squares[self.demand.columns(key)].sum())
        return squares - float(self.moments.masses[self.demand.offset] * np.sum(self.target_level() ** 2))

    def regression(self, ridge: float, rows: CentredMatrix) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients W (d, q) and intercept b (q,) of the ridge regression of the target on the rows, W'x + b.
        ``rows``: the compressed rows, or the stream of all rows, whose constraint is their uniform scatter."""
        if self.streamed:
            W, _ = conjugate_gradients(rows, None, 1.0, ridge, self.product(self.template.target))
        else:
            W = matmul(self.V / (self.s**2 + ridge), self.target_moments())
        return W, self.target_level() - self.mean @ W

    def in_basis(self, E: np.ndarray) -> np.ndarray:
        """A factor of the compressed rows, from its product with X."""
        out = np.zeros((len(self.rows), E.shape[1]))
        out[: len(self.s)] = matmul(self.V.T, E) / self.s[:, None]
        return out

    def stand_in(self, labels: Any) -> np.ndarray:
        """What stands for the label matrix among the compressed rows; zeros where these are not a basis."""
        E = self.product(labels)
        return np.zeros((1, E.shape[1])) if self.s is None else self.in_basis(E)

    def compressed_rows(self, known: list[Any], product: Any = None) -> CentredMatrix:
        """The compressed rows, or a stream of all rows; ``known``: pairs (U, X'U), ``product``: as in RowStream."""
        centre = self.mean if self.centred else None
        sums = self.moments.firsts[0] if self.demand.offset or not self.centred else np.zeros(len(self.mean))
        if self.streamed:
            norms = np.where(self.constant, 0.0, self.moments.norms)
            return RowStream(product, self.moments.n, centre, norms, sums, [*known, *self._units])
        return SummedMatrix(self.rows, self.moments.n, centre, sums, known)

    @property
    def _count(self) -> float | None:
        """How often all rows of non-zero weight occur; None where each occurs once."""
        j = self.demand.offset
        same = self.moments.occurrences[j] == self.moments.counts[j]
        return None if same else float(self.moments.occurrences[j])

    def restated(self) -> Template:
        """The template on the compressed rows."""
        A, B = self.template.A, self.template.B
        if self.s is None:
            terms: Any = zip(A.terms(), self._units, strict=True)
            A = Sum([(c, LowRank(unit, leaf.S)) for (c, leaf), (unit, _) in terms])
            B = None if B is None else Sum([(c, Identity()) for c, _ in B.terms()])
            return replace(self.template, A=A, B=B, offset=None, target=None, count=self._count)
        A, B = self._operator(A), None if B is None else self._operator(B)
        return replace(self.template, A=A, B=B, offset=None, target=None, count=self._count)

    def _operator(self, op: Operator) -> Operator:
        return Sum([(c, leaf.compressed(self)) for c, leaf in op.terms()])

    def scatter(self, w: np.ndarray | None, centred: bool = False) -> Operator:
        """The operator diag(w) on the compressed rows; ``centred``: about their mean under w itself."""
        j = self.demand.weight(w)
        if self.moments.same(j, self.demand.offset) and (self.centred or not centred):
            return Identity(len(self.rows))
        M = np.zeros((len(self.rows),) * 2)
        r = len(self.s)
        inner = matmul(self.V.T, matmul(self._gram(j, centred), self.V))
        M[:r, :r] = inner / self.s / self.s[:, None]
        return Dense(symmetrise(M))

    def factor(self, F: Any, center: np.ndarray | None) -> np.ndarray:
        """A factor of the rows, less center (1'F) / (1'center) where ``center`` is given, as one of the compressed
        rows."""
        if F is self.demand.X:
            if (center is None) == self.centred or (self.centred and self.demand.weight(center)):
                raise TypeError("X as a factor must be centred as the rows are.")
            return self.rows
        found = self.in_basis(self.product(F, center))
        outside = self._remainder.get(id(F))
        if outside is not None:
            found[self._first_extra : self._first_extra + len(outside)] = outside
        return found

    def _outside(self) -> dict[int, np.ndarray]:
        """What the factors of an inverse are outside the rows, in one orthonormal basis of it: (p, q) by factor."""
        factors = [(F, center) for F, center in self.demand.inner if F is not self.demand.X]
        if not factors:
            return {}
        own = [self.demand.columns(F) for F, _ in factors]
        index = np.concatenate([np.arange(part.start, part.stop) for part in own])
        level = [self.sums(F) * (center is not None) for F, center in factors]
        total = np.concatenate(level) / np.sqrt(self.moments.n)
        inner = self.moments.inner[np.ix_(index, index)] - np.outer(total, total)
        products = np.hstack([self.product(F, center) for F, center in factors])
        inside = matmul(self.V.T, products) / self.s[:, None]
        w, V = descending(inner - matmul(inside.T, inside))
        keep = w > max(np.trace(inner), 0.0) * REMAINDER
        outside = np.sqrt(w[keep])[:, None] * V[:, keep].T
        ends = np.cumsum([part.stop - part.start for part in own])[:-1]
        return {id(F): L for (F, _), L in zip(factors, np.split(outside, ends, axis=1), strict=True)}
