"""Problem: one template on one matrix, with everything that several routes or ridges would otherwise compute twice.

Its SolverPlan, what it is computed from, follows from structure and sizes before anything is computed, so that no value
depends on the order of reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isclose
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.centred import EPS, CentredMatrix, rank_threshold
from proxembed.algebra.arrays.matrix import Matrix, all_ones, dense_side, guard_dense, over, unit_of
from proxembed.algebra.operators.of_features import OfFeatures, has_features
from proxembed.algebra.operators.structured import LowRank, Operator, Repeats, Sum
from proxembed.algebra.template import Template

from .coordinates import Coordinates
from .linear import DENSE_LIMIT, SAMPLE
from .symmetric import SPD, eigenvalues, pseudo_inverse

EXACT_RANK_UP_TO = 1500
ROUNDING = 64 * EPS  # the share of a trace that rounding may leave of it, times the root of the number of rows
SURE = 100.0  # times the least eigenvalue that counts for the rank; an estimated one may be a tenth of the true one
PLAIN = 1e-3  # above this share of the scatter a constraint is not zero
CONSTANT = (
    "X is constant: every feature has the same value in every row, so there is nothing to project. "
    "Pass features that vary."
)
SIDES = {"primal": "features", "dual": "rows"}


class Problem:
    """max tr P'(R'AR + aI)P subject to P'(R'BR + (b + ridge) I)P = I. ``aim``: what it is solved for; None where its
    sizes alone are asked for. The ``plan`` made of it settles what is computed from what, so that no value depends on
    the order of reading. ``factors``: matrices U of which R'U will be wanted; they share the first pass over a dense R.
    ``width``: the features that R stands for, where they are not its columns: a kernel map has fewer than there are
    prototypes. Rows of extreme size are taken over ``unit``, a power of two, so that products of its entries stay
    within float64, and A and B over further ones (``shrunk``) where R is among their factors. Sizes and ridges are then
    those of the smaller pencil."""

    def __init__(
        self,
        template: Template,
        R: Any,
        raw_gram: np.ndarray | None = None,
        *,
        aim: Aim | None = None,
        positive_only: bool = False,
        factors: Sequence[Any] = (),
        width: int | None = None,
    ):
        unit, self.shrunk = 1.0 if isinstance(R, CentredMatrix) else unit_of(R), (1.0, 1.0)
        if unit != 1.0:
            template, R, self.shrunk = _in_unit(template, R, unit)
            raw_gram = None
        self.template = template
        self._raw_gram = raw_gram
        self._shifted: list[tuple[float, SPD]] = []
        self._sandwiches: dict[int, tuple[Operator, np.ndarray]] = {}
        self.positive_only = positive_only
        offset = None if template.offset is None else np.asarray(template.offset, dtype=np.float64)
        self.weights = template.repeats if offset is None else offset
        if isinstance(R, CentredMatrix):
            self.rows = R
        else:
            self.rows = CentredMatrix.centred(R, offset, [*self._factors_of_objective(R), *factors])
            self.rows.unit = unit
            self.rows.repeats = template.repeats
        self.n, self.d = self.rows.shape
        self.width = self.d if width is None else width
        if self.rows.has_mean and self.rows.constant:
            raise ValueError(CONSTANT)
        self.plan = SolverPlan.of(self, aim)

    def _factors_of_objective(self, R: Any) -> list[Any]:
        factors = [leaf.low_rank() for _, leaf in self.template.A.terms()]
        return [factor.F for factor in factors if factor is not None and factor.F is not R]

    @property
    def side(self) -> str:
        """The smaller side, or the one asked for: "features" or "rows"."""
        return self.plan.side

    @property
    def unit(self) -> float:
        """The power of two over which the rows are taken."""
        return self.plan.unit

    @property
    def uniform(self) -> bool:
        """Whether all rows weigh one."""
        return all_ones(self.weights)

    @property
    def centred(self) -> bool:
        """Whether the rows are centred."""
        return self.template.offset is not None

    @cached_property
    def gram(self) -> np.ndarray:
        """The weighted Gram matrix of this side: d x d for features, n x n for rows."""
        guard_dense((self.d if self.side == "features" else self.n,) * 2, "The Gram matrix of X")
        weights = None if self.uniform else self.weights
        if self._raw_gram is not None and self.side == "features" and self.uniform:
            known = self.rows.gram_from(self._raw_gram)
            if known is not None:
                return known
        return self.rows.gram(weights) if self.side == "features" else self.rows.outer_gram(weights)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The row space of the centred rows."""
        found = Coordinates(self.rows, None if self.uniform else self.weights, self.gram, self.side)
        if found.rank == 0:
            raise ValueError(CONSTANT)
        return found

    @cached_property
    def gram_factor(self) -> SPD:
        """The Gram matrix factorised; ``ok`` where its numerical rank is full."""
        return SPD(self.gram)

    @cached_property
    def spans(self) -> bool:
        """Whether a factor of the Gram matrix shows, without its eigenvalues, that the rows span all features: the
        least one is far above what counts for the rank."""
        if self.side != "features" or not self.plan.decomposes:
            return False
        return self.shown_by_constraint or self.gram_factor.least > self._sure_of_rank(float(np.trace(self.gram)))

    @cached_property
    def shown_by_constraint(self) -> bool:
        """``spans`` by the matrix of a constraint that is one sparse matrix, R'BR <= ||B|| R'R, so that no Gram matrix
        is formed where A does not hold it either."""
        terms = [] if self.template.B is None else list(self.template.B.terms())
        graph = terms[0][1].graph() if len(terms) == 1 and terms[0][0] > 0 else None
        if graph is None or not self.uniform or self.side != "features" or self.includes_scatter:
            return False
        B: Any = self.template.B
        factor, size = SPD(self.sandwich(B)), terms[0][0] * float(abs(graph).sum(axis=1).max())
        return factor.full and factor.least > size * self._sure_of_rank(self.rows.squared_norm())

    def _sure_of_rank(self, trace: float) -> float:
        """The eigenvalue of a Gram matrix of this trace above which it is far from what counts for the rank."""
        return SURE * rank_threshold(np.array([trace]), max(self.rows.shape), self.rows.noise)

    @cached_property
    def rank(self) -> int:
        """The rank of the centred rows: numerical where the Gram matrix is small, else its bound."""
        if self.plan.coordinates and self.spans:
            return self.d
        if self.plan.coordinates:
            return self.coordinates.rank
        if min(self.n, self.d) > EXACT_RANK_UP_TO:
            rows = self.n if self.weights is None else int(np.count_nonzero(self.weights)) - int(self.centred)
            return max(1, min(rows, int(np.count_nonzero(self.rows.column_norms(self.weights) > 0))))
        if self.side == "features" and self.gram_factor.ok:
            return self.d
        w = eigenvalues(self.gram)
        return max(1, int(np.count_nonzero(w > rank_threshold(w, max(self.rows.shape), self.rows.noise))))

    @cached_property
    def factors(self) -> list[tuple[float, LowRank]] | None:
        """A as a sum of low-rank operators, or None where it is not of low rank (or a != 0)."""
        return None if self.template.a else low_rank_terms(self.template.A, self.n)

    @cached_property
    def factor(self) -> tuple[np.ndarray, np.ndarray]:
        """F (d x q) and S (q x q) with Ap = F S F', where A is of low rank."""
        F = [leaf.project(self.rows) for _, leaf in self.factors]
        S = [c * leaf.weigh(np.eye(leaf.rank_bound)) for c, leaf in self.factors]
        return (F[0] if len(F) == 1 else np.hstack(F)), block_diag(*S)

    @property
    def includes_scatter(self) -> bool:
        """Whether the scatter is among the terms of A, whose Gram matrix is then formed in any case."""
        return any(leaf.is_scatter(self.rows, self.weights) for _, leaf in self.template.A.terms())

    @property
    def beyond_rows(self) -> bool:
        """Whether a matrix of the features is among the terms, so that directions outside the row space count unless
        they are left out."""
        return has_features(self.template.A, self.template.B)

    @property
    def factor_columns(self) -> int:
        """The number of factor columns of A."""
        return sum(leaf.rank_bound for _, leaf in self.factors or [])

    @property
    def low(self) -> bool:
        """Whether A is of so low a rank that its factor is narrower than the smaller side."""
        return self.factors is not None and self.factor_columns < max(min(self.n, self.d), 2)

    @cached_property
    def scatter(self) -> float | None:
        """c where B is c times the total scatter of the centred rows, None where it is anything else."""
        if self.template.B is None:
            return 0.0
        return self.powers[0] if self.powers is not None and self.powers[1] == 0 else None

    @cached_property
    def powers(self) -> tuple[float, float] | None:
        """(c1, c2) where R'BR = c1 S + c2 S^2, S the scatter matrix of the centred rows; None for any other B."""
        if self.template.B is None:
            return None
        c1 = c2 = 0.0
        for c, leaf in self.template.B.terms():
            if leaf.is_scatter(self.rows, self.weights):
                c1 += c
            elif leaf.is_squared_scatter(self.rows, self.uniform):
                c2 += c
            else:
                return None
        return c1, c2

    def shifts(self, ridge: float) -> tuple[float, tuple[float, ...]] | None:
        """(c, r) with Bp + ridge I = c (S + r_1 I)(S + r_2 I)... and every r positive; None where there is no such
        form."""
        c0 = self.template.b + ridge
        if self.powers is None or c0 <= 0 or self.powers[0] <= 0:
            return None
        c1, c2 = self.powers
        if c2 == 0:
            return c1, (c0 / c1,)
        under = c1**2 - 4 * c0 * c2
        if c2 < 0 or under < 0:
            return None
        large = (c1 + np.sqrt(under)) / 2
        return c2, (large / c2, c0 / large)

    def shifted(self, root: float) -> SPD:
        """The Gram matrix plus root times I, factorised; kept, since several right-hand sides come one by one."""
        for known, factorised in self._shifted:
            if isclose(known, root, rel_tol=1e-12):
                return factorised
        factorised = SPD(self.gram, root)
        self._shifted.append((root, factorised))
        return factorised

    def regression(self, E: Any, ridge: float) -> np.ndarray:
        """(S + ridge I)^-1 Xc'WE, d x q: the ridge regression of the columns of E, dense or sparse, W the weights of
        the rows. Within the row space of X alone, where the ridge is lost beside S."""
        w = None if self.uniform else self.weights
        if self.side == "features":
            return self._solved(self.rows.tdot(E if w is None else Repeats(w).of(E)), ridge)
        E = E.toarray() if sparse.issparse(E) else E
        if w is None:
            return self.rows.tdot(self._solved(E if self.rows.mean is None else E - E.mean(axis=0), ridge))
        root = np.sqrt(w)[:, None]
        E = E - w @ E / w.sum() if self.centred else E
        return self.rows.tdot(root * self._solved(root * E, ridge))

    def _solved(self, E: np.ndarray, ridge: float) -> np.ndarray:
        factorised = self.shifted(ridge)
        return factorised.solve(E) if factorised.ok else matmul(pseudo_inverse(self.gram, ridge), E)

    @property
    def dimensions(self) -> float:
        """min(n, d), n the rows of non-zero weight, each as often as it occurs, d the features that R stands for.
        Traces are divided by this, never by a numerical rank, which one rounding error moves."""
        return min(self.template.count_rows(self.n), self.width)

    def constraint_trace(self) -> float:
        """The trace of R'BR + bI, b counted ``dimensions`` times."""
        shift = self.template.b * self.dimensions
        if self.scatter == 0.0:
            return shift
        if self.scatter is not None:
            norm = np.trace(self.gram) if self.plan.gram else self.rows.squared_norm(self.weights)
            return self.scatter * float(norm) + shift
        B: Any = self.template.B
        trace = float(np.trace(self.sandwich(B) if self.spans else self.coordinates.sandwich(B)))
        if self.template.b == 0:
            self.refuse_zero(trace)
        return trace + shift

    @property
    def ridge_unit(self) -> float:
        """What a ridge of 1 adds to the constraint under ``ridge_scale="trace"``: tr(R'BR) / min(n, d) + b."""
        return self.constraint_trace() / self.dimensions

    def refuse_zero(self, trace: float) -> None:
        """A ValueError where the constraint R'BR, of this trace, holds nothing but rounding."""
        if self.shown_by_constraint or trace > PLAIN * float(np.trace(self.gram)):
            return
        weights: Any = sum(abs(c) * np.abs(leaf.diagonal(self.n)) for c, leaf in self.template.B.terms())
        if trace <= ROUNDING * np.sqrt(self.n) * self.rows.squared_norm(weights):
            raise ValueError(
                "The constraint is zero on these rows: all rows of each class, or all rows that it links, coincide. "
                "Use ridge > 0 with ridge_scale='absolute', or merge duplicate rows."
            )

    def absolute(self, ridge: float, ridge_scale: str) -> float:
        """The ridge as it is added to the constraint."""
        if ridge == 0 or ridge_scale == "absolute":
            return float(ridge) / (self.unit * self.unit) / self.shrunk[1]
        return float(ridge) * self.ridge_unit

    def of_rows(self, size: float, constraint: bool = True) -> float:
        """A ridge or a size of the constraint (or of the objective) for the rows as they were."""
        if constraint and self.template.B is None:
            return size
        return size * (self.unit * self.unit) * self.shrunk[1 if constraint else 0]

    def sandwich(self, op: Operator) -> np.ndarray:
        """R'AR, d x d. The scatter among its terms is the Gram matrix; other terms are kept too, since A and B often
        share one."""
        total = np.zeros((self.d, self.d))
        for c, leaf in op.terms():
            total += c * (self.gram if leaf.is_scatter(self.rows, self.weights) else self._sandwich(leaf))
        return total

    def _sandwich(self, leaf: Operator) -> np.ndarray:
        if id(leaf) not in self._sandwiches:
            self._sandwiches[id(leaf)] = (leaf, leaf.sandwich(self.rows))
        return self._sandwiches[id(leaf)][1]

    def apply_constraint(self, P: np.ndarray, ridge: float) -> np.ndarray:
        """Bp P."""
        shift = self.template.b + ridge
        if self.template.B is None or self.scatter == 0.0:
            return shift * P
        if self.powers is not None and self.side == "features" and self.plan.gram:
            c1, c2 = self.powers
            SP = matmul(self.gram, P)
            return c1 * SP + shift * P + (c2 * matmul(self.gram, SP) if c2 else 0.0)
        return self._product(self.template.B, P) + shift * P

    def apply_objective(self, P: np.ndarray) -> np.ndarray:
        """Ap P."""
        if self.plan.factored:
            F, S = self.factor
            return matmul(F, S @ matmul(F.T, P))
        return self._product(self.template.A, P) + self.template.a * P

    def _product(self, op: Operator, P: np.ndarray) -> np.ndarray:
        """R'ARP."""
        if not has_features(op):
            return self.rows.tdot(op @ self.rows.dot(P))
        own = [(c, leaf) for c, leaf in op.terms() if isinstance(leaf, OfFeatures)]
        rest = [(c, leaf) for c, leaf in op.terms() if not isinstance(leaf, OfFeatures)]
        total: Any = sum(c * leaf.times(P) for c, leaf in own)
        return total + self.rows.tdot(Sum(rest) @ self.rows.dot(P)) if rest else total


def _in_unit(template: Template, R: Any, unit: float) -> tuple[Template, Matrix, tuple[float, float]]:
    """The template for rows R / unit, these rows, and what its two operators are over beside. Without an operator B the
    constraint bI stays as it is."""
    rows, square = over(R, unit), unit * unit
    A, of_A = _of_rows(template.A, R, rows, square)
    template = replace(template, A=A, a=template.a / square / of_A)
    if template.B is None:
        return template, rows, (of_A, 1.0)
    B, of_B = _of_rows(template.B, R, rows, square)
    return replace(template, B=B, b=template.b / square / of_B), rows, (of_A, of_B)


def _of_rows(op: Operator, R: Any, rows: Any, square: float) -> tuple[Operator, float]:
    """The operator over ``square`` where large rows R are among its factors, with ``rows`` in their place."""
    if has_features(op):
        op = Sum([(c, leaf.over(square) if isinstance(leaf, OfFeatures) else leaf) for c, leaf in op.terms()])
    terms = [(c, leaf, leaf.with_factor(R, rows)) for c, leaf in op.terms()]
    if square < 1.0 or all(other is leaf for _, leaf, other in terms):
        return op, 1.0
    return Sum([(c / square if other is leaf else c, other) for c, leaf, other in terms]), square


def low_rank_terms(op: Operator, n: int) -> list[tuple[float, LowRank]] | None:
    """The operator as coefficients times low-rank terms, where its diagonal parts cancel; None where they do not."""
    diagonal = np.zeros(n)
    scale = 0.0
    parts: list[tuple[float, LowRank]] = []
    for c, leaf in op.terms():
        if c == 0.0:
            continue
        form = leaf.diagonal_and_factors(n)
        if form is None:
            return None
        d, factors = form
        parts += [(c * own, factor) for own, factor in factors]
        if d is not None:
            diagonal += c * d
            scale = max(scale, abs(c) * float(np.abs(d).max(initial=0.0)))
    return parts if np.abs(diagonal).max(initial=0.0) <= 1e-12 * scale else None


@dataclass(frozen=True)
class Aim:
    """What a problem is solved for: the number of components, the ridge, the route and the criterion."""

    k: int | None = None
    ridge: float | str = 0.0
    ridge_scale: str = "trace"
    solver: str = "auto"
    criterion: str = "ratio_trace"


@dataclass(frozen=True)
class SolverPlan:
    """What a problem is computed from. ``side``: "features" for d x d matrices, "rows" for n x n. ``unit``: the power
    of two over which the rows are taken. ``decomposes``: whether that side is small enough for all eigenvectors.
    ``gram``: whether the Gram matrix of that side is formed, so that the trace and the products of the scatter come
    from it; else they come from the rows. ``coordinates``: whether the ridge needs row-space coordinates, so that the
    rank is theirs. ``factored``: whether A is applied through its low-rank factor. ``sampled``: whether the automatic
    ridge is chosen on a sample of the rows."""

    side: str
    unit: float
    decomposes: bool
    gram: bool = False
    coordinates: bool = False
    factored: bool = False
    sampled: bool = False

    @classmethod
    def of(cls, problem: Problem, aim: Aim | None) -> SolverPlan:
        """The plan of a problem with its rows; ``aim=None`` stands for sizes alone, where nothing is solved."""
        small = min(problem.n, problem.d)
        side = SIDES.get(aim.solver if aim else "auto") or ("features" if problem.d <= problem.n else "rows")
        decomposes = small <= DENSE_LIMIT
        if aim is None:
            return cls(side, problem.rows.unit, decomposes, sampled=_samples_rows(problem, "auto"))
        coordinates = _needs_coordinates(problem, aim)
        dense = coordinates or not _iterates(problem, aim, small, decomposes)
        return cls(
            side,
            problem.rows.unit,
            decomposes,
            gram=problem.template.B is not None and dense,
            coordinates=coordinates,
            factored=_applies_factor(problem, aim, decomposes),
            sampled=_samples_rows(problem, aim.solver),
        )


def _samples_rows(problem: Problem, solver: str) -> bool:
    """Whether the ridge is chosen on a sample of the rows: where no side is decomposed, or that of the rows is long."""
    return solver == "iterative" or min(problem.n, problem.d) > DENSE_LIMIT or SAMPLE < problem.n < problem.d


def _needs_coordinates(problem: Problem, aim: Aim) -> bool:
    """Whether the ridge is chosen among several, or measured by a constraint that is not the scatter."""
    if problem.template.B is None or aim.ridge == 0:
        return False
    if aim.ridge == "auto":
        chosen = problem.template.target is not None and not _samples_rows(problem, aim.solver)
        return chosen or problem.scatter is None
    return problem.scatter is None and aim.ridge_scale == "trace"


def _iterates(problem: Problem, aim: Aim, small: int, decomposes: bool) -> bool:
    """Whether a problem with a constraint operator is solved by products with the rows alone."""
    if aim.criterion == "trace_ratio" or aim.solver != "auto":
        return aim.criterion != "trace_ratio" and aim.solver == "iterative"
    if problem.low and problem.scatter is not None and not decomposes:
        return True
    return small > dense_side() and aim.k is not None


def _applies_factor(problem: Problem, aim: Aim, decomposes: bool) -> bool:
    """Whether the q x q problem of a low-rank A is solved, so that its factor is there."""
    if problem.factors is None or aim.solver == "thin":
        return problem.factors is not None
    return problem.low and (problem.scatter is not None or (aim.solver == "auto" and decomposes))
