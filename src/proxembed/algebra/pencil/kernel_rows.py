"""Rows of a feature space of which the kernel matrix alone is known, and the thin route on them.

In: K = T T' (n x n). Out: the components as coefficients C of kernel rows, P = T'C, so that a row is placed at
(k(x) - mean)'C. With Bp = Tc'diag(d)Tc + s I one Cholesky factorisation of diag(d)^1/2 Kc diag(d)^1/2 + s I replaces
the eigendecomposition of K; what is left is a q x q problem.

One n x n buffer: the upper triangle, in LAPACK's order, keeps the centred kernel, the lower one takes the factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import block_diag
from scipy.linalg.blas import dsymm
from scipy.linalg.lapack import dpocon, dpotrf

from proxembed.algebra.arrays.blas import matmul, symmetric_from_lower, symmetrise, threads_for
from proxembed.algebra.arrays.centred import EPS
from proxembed.algebra.arrays.matrix import row_blocks
from proxembed.algebra.operators.structured import LowRank, Operator
from proxembed.algebra.template import Template

from .eigen import NOTHING, UNTARGETED_RIDGE, Solution, warn_inexact
from .pencil import small_pencil
from .problem import PLAIN, low_rank_terms
from .symmetric import RANGE_TOLERANCE, fix_signs

EXTREME = 2.0**400  # kernel values beyond, or below its reciprocal, are taken over a unit by the other routes
RCOND = 1e-13  # reciprocal condition number below which a factorisation says nothing


class KernelRows:
    """Rows T, n of them, with T T' = K; T is never formed. ``K``: symmetric, float64 in C order; it is overwritten from
    ``centre`` on. Vectors of the feature space are given by coefficients V, (n, k), as T'V."""

    unit = 1.0

    def __init__(self, K: np.ndarray):
        self._F = np.ascontiguousarray(K).T  # in LAPACK's order
        self.shape = K.shape
        self.spent = False
        self.weights: np.ndarray | None = None
        self.mean: np.ndarray | None = None
        self.diagonal = np.diag(K).copy()

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def values(self) -> np.ndarray:
        """The kernel matrix as it was given. Raises ValueError after ``centre``."""
        if self.spent:
            raise ValueError("The kernel matrix has been overwritten; compute it again.")
        return self._F.T

    def annihilates(self, u: np.ndarray) -> bool:
        """Whether Tc'u is zero by construction: u are the weights of the mean."""
        return self.weights is not None and np.array_equal(u, self.weights)

    def semidefinite(self) -> bool:
        """Whether no eigenvalue of K is below -1e-10 of the largest, by one factorisation; K stays as it is."""
        v = np.full((self.count, 1), self.count**-0.5)
        size = max(float(self.diagonal.max()), float(v[:, 0] @ self.dot(v)[:, 0]), 0.0)
        found = size > 0 and self._factorised(size * RANGE_TOLERANCE)
        self._set_diagonal(self.diagonal)
        symmetric_from_lower(self._F.T)
        return found

    def centre(self, weights: np.ndarray | None) -> None:
        """Subtract the weighted mean of the rows, in place; nothing where ``weights`` is None."""
        self.spent, self.weights = True, weights
        if weights is None:
            return
        share = weights / weights.sum()
        self.mean = self.dot(share[:, None])[:, 0]
        level, K = float(share @ self.mean), self._F.T
        for part in row_blocks(*self.shape):
            K[part] -= self.mean[part, None]
            K[part] -= self.mean - level
        self.diagonal = np.diag(K).copy()

    def dot(self, V: np.ndarray) -> np.ndarray:
        """Kc V: the rows by coefficients, n x k."""
        own = np.diag(self._F).copy()
        self._set_diagonal(self.diagonal)
        try:
            return dsymm(1.0, self._F, np.asfortranarray(V, dtype=np.float64), side=0, lower=0)
        finally:
            self._set_diagonal(own)

    def tdot_under(self, P: np.ndarray, U: Any) -> np.ndarray:
        """P'Kc U, k x c, for coefficients P and a dense or sparse U: the products of places with U."""
        Z = self.dot(P)
        return np.asarray((U.T @ Z).T) if sparse.issparse(U) else matmul(Z.T, U)

    def column_sums(self) -> np.ndarray:
        """Kc 1: the sum of all rows."""
        return self.dot(np.ones((self.count, 1)))[:, 0]

    def inner(self, P: np.ndarray) -> np.ndarray:
        """P'Kc P, k x k: inner products of vectors of the feature space."""
        return symmetrise(matmul(P.T, self.dot(P)))

    def take(self, index: np.ndarray) -> SomeKernelRows:
        """Some of the rows."""
        return SomeKernelRows(self, index)

    def factorise(self, root: np.ndarray | None, shift: float) -> bool:
        """Factorise diag(root) Kc diag(root) + shift I, root None for ones; False where it is near singular."""
        K = self._F.T
        if root is not None:
            for part in row_blocks(*self.shape):
                above = K[part, part.start :]
                scaled = above * root[part, None] * root[None, part.start :]
                rows, columns = np.triu_indices(part.stop - part.start, 1)
                above[rows, columns] = scaled[rows, columns]
                K[part, part.stop :] = scaled[:, part.stop - part.start :]
        return self._factorised(shift, root)

    def _factorised(self, shift: float, root: np.ndarray | None = None) -> bool:
        ones = np.ones(self.count) if root is None else root
        sums = np.concatenate([np.abs(self._F.T[part]) @ ones for part in row_blocks(*self.shape)])
        self._set_diagonal(ones**2 * self.diagonal + shift)
        with threads_for(self.count):
            factor, refused = dpotrf(self._F, lower=1, clean=0, overwrite_a=1)
            if refused:
                return False
            rcond, info = dpocon(factor, float((ones * sums).max() + shift), uplo="L")
        return info == 0 and rcond > RCOND

    def solve(self, E: np.ndarray) -> np.ndarray:
        """The inverse of what was factorised, times E."""
        with threads_for(self.count):
            return linalg.cho_solve((self._F, True), E, check_finite=False)

    def _set_diagonal(self, d: np.ndarray) -> None:
        self._F.T.reshape(-1)[:: self.count + 1] = d


@dataclass(frozen=True)
class SomeKernelRows:
    """Some of the rows, as label loadings take them."""

    rows: KernelRows
    index: np.ndarray

    def tdot_under(self, P: np.ndarray, U: Any) -> np.ndarray:
        """As of all rows."""
        Z = self.rows.dot(P)[self.index]
        return np.asarray((U.T @ Z).T) if sparse.issparse(U) else matmul(Z.T, U)

    def column_sums(self) -> np.ndarray:
        """As of all rows."""
        chosen = np.zeros((self.rows.count, 1))
        chosen[self.index] = 1.0
        return self.rows.dot(chosen)[:, 0]


@dataclass(frozen=True)
class KernelProblem:
    """What later steps of a fit ask a solved problem for."""

    rows: KernelRows


@dataclass(frozen=True)
class ThinForm:
    """A pencil by factors E (n x q): Ap = Tc'E S E'Tc, Bp = Tc'(diag(d) + E S_B E')Tc + shift I; S_B None for zero."""

    E: np.ndarray
    S: np.ndarray
    S_B: np.ndarray | None
    d: np.ndarray
    shift: float

    @classmethod
    def of(cls, template: Template, rows: KernelRows) -> ThinForm | None:
        """The form of a template, its ridge still out; None where it has none, or as many factors as rows."""
        n, B = rows.count, template.B
        A = None if template.a or template.rows is not None or template.sense < 0 else low_rank_terms(template.A, n)
        constraint = (np.zeros(n), []) if B is None else _diagonal_and_factors(B, rows)
        if not A or constraint is None or constraint[0].min() < 0:
            return None
        d, factors = constraint
        both = [*A, *factors]
        if sum(leaf.rank_bound for _, leaf in both) >= n:
            return None
        weights = [c * leaf.weigh(np.eye(leaf.rank_bound)) for c, leaf in both]
        S = block_diag(*weights[: len(A)], *(np.zeros_like(each) for each in weights[len(A) :]))
        S_B = block_diag(*(np.zeros_like(each) for each in weights[: len(A)]), *weights[len(A) :]) if factors else None
        E = np.hstack([leaf.dense_factor() for _, leaf in both])
        if np.abs(E[d == 0]).max(initial=0.0) > 0 and d.any():  # rows without weight that carry a factor
            return None
        return cls(E, S, S_B, d, template.b)

    def trace(self, rows: KernelRows) -> float:
        """The trace of the constraint without its shift."""
        trace = float(self.d @ rows.diagonal)
        return trace if self.S_B is None else trace + float(np.vdot(self.S_B, self.E.T @ rows.dot(self.E)))

    def solved(self, rows: KernelRows) -> np.ndarray | None:
        """X with (Tc'diag(d)Tc + shift I)^-1 Tc'E = Tc'X; None where the factorisation fails."""
        if not self.d.any():
            return self.E / self.shift
        if np.ptp(self.d) == 0:
            scale = float(self.d[0])
            return rows.solve(self.E) / scale if rows.factorise(None, self.shift / scale) else None
        root = np.sqrt(self.d)
        E = np.divide(self.E, root[:, None], out=np.zeros_like(self.E), where=root[:, None] > 0)
        return root[:, None] * rows.solve(E) if rows.factorise(root, self.shift) else None

    def residual(self, rows: KernelRows, Z: np.ndarray, C: np.ndarray, w: np.ndarray) -> float:
        """||Ap P - Bp P diag(w)|| over ||Bp P|| times the largest w; P by coefficients C, ``Z``: the places Kc C."""
        inside = self.E.T @ Z
        BP = self.d[:, None] * Z + self.shift * C
        if self.S_B is not None:
            BP += self.E @ (self.S_B @ inside)
        missed = self.E @ (self.S @ inside) - BP * w
        of_missed, of_BP = np.split(rows.dot(np.hstack([missed, BP])), 2, axis=1)
        return float(np.sqrt(max(np.vdot(missed, of_missed), 0.0) / np.vdot(BP, of_BP)) / w.max())


def solve_kernel(
    template: Template,
    rows: KernelRows,
    k: int | None,
    ridge: float | str = 0.0,
    ridge_scale: str = "trace",
    *,
    width: int | None = None,
) -> Solution | None:
    """The leading eigenvectors of a template with A of low rank, and B a diagonal, of low rank beside it, or zero: P in
    coefficients of the kernel rows. None where the template is another one, the ridge has to be chosen, or the
    constraint is near singular: the kernel map is then needed. ``width``: as in ``solve``."""
    form = ThinForm.of(template, rows)
    chosen = ridge == "auto" and template.B is not None and template.target is not None
    high = float(rows.diagonal.max())
    if form is None or chosen or not 1 / EXTREME < high < EXTREME:
        return None
    before = float(np.abs(rows.diagonal).sum())
    weights = template.offset
    rows.centre(weights)
    if float(rows.diagonal.sum()) <= EPS * rows.count * before:  # rounding alone
        return None
    added = _absolute(form, template, rows, ridge, ridge_scale, width)
    if added is None or form.shift + added <= 0:
        return None
    form = ThinForm(form.E, form.S, form.S_B, form.d, form.shift + added)
    X = form.solved(rows)
    if X is None:
        return None
    KX = rows.dot(X)
    w, Q = small_pencil(symmetrise(np.ascontiguousarray(form.E.T @ KX)), form.S, form.S_B)
    if len(w) == 0:
        raise ValueError(NOTHING)
    keep = len(w) if k is None else min(k, len(w))
    C, Z = matmul(X, Q[:, :keep]), matmul(KX, Q[:, :keep])
    residual = form.residual(rows, Z, C, w[:keep])
    warn_inexact("thin", residual)
    if weights is not None:
        C -= np.outer(weights / weights.sum(), C.sum(axis=0))
    return Solution(
        fix_signs(C), w[:keep], rows.mean, added, "thin", len(w), residual, w, KernelProblem(rows), template.sense
    )


def _diagonal_and_factors(B: Operator, rows: KernelRows) -> tuple[np.ndarray, list[tuple[float, LowRank]]] | None:
    """B as a diagonal and low-rank terms; the scatter of the centred rows is the diagonal of its weights."""
    d, factors = np.zeros(rows.count), []
    scatter_rows: Any = rows  # which weights a scatter has is all that is asked of them
    for c, leaf in B.terms():
        form = leaf.diagonal_and_factors(rows.count)
        if form is None:
            return None
        if form[0] is not None:
            d += c * form[0]
        if not leaf.is_scatter(scatter_rows, rows.weights):
            factors += [(c * own, factor) for own, factor in form[1]]
    return d, factors


def _absolute(
    form: ThinForm, template: Template, rows: KernelRows, ridge: float | str, scale: str, width: int | None
) -> float | None:
    """The ridge as it is added; None where the constraint has so small a trace that another route has to look at it."""
    if template.B is None:
        return 0.0
    size: float = UNTARGETED_RIDGE if isinstance(ridge, str) else float(ridge)
    if scale == "absolute" and not isinstance(ridge, str):
        return size
    trace, weights = form.trace(rows), rows.weights
    total = float(rows.diagonal.sum() if weights is None else weights @ rows.diagonal)
    if trace <= PLAIN * total:
        return None
    number = template.count_rows(rows.shape[0])
    return size * (trace / min(number, number if width is None else width) + template.b)
