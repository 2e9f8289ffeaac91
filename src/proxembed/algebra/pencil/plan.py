"""Plan: what a problem is computed from, decided from its structure and sizes before anything is computed.

In: a problem and what is asked of it. Out: a frozen record. Each property of a problem follows from the template, the
rows and this record, so that none depends on which other was read before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxembed.algebra.arrays.guard import dense_side

from .linear import DENSE_LIMIT, SAMPLE

if TYPE_CHECKING:
    from .problem import Problem

SIDES = {"primal": "features", "dual": "rows"}


@dataclass(frozen=True)
class Aim:
    """What a problem is solved for: the number of components, the ridge, the route and the criterion."""

    k: int | None = None
    ridge: float | str = 0.0
    ridge_scale: str = "trace"
    solver: str = "auto"
    criterion: str = "ratio_trace"


@dataclass(frozen=True)
class Plan:
    """What a problem is computed from.

    ``side``: "features" for d x d matrices, "rows" for n x n. ``unit``: the power of two over which the rows are taken.
    ``decomposes``: whether that side is small enough for all eigenvectors. ``gram``: whether the Gram matrix of that
    side is formed, so that the trace and the products of the scatter come from it; else they come from the rows.
    ``coordinates``: whether the ridge needs row-space coordinates, so that the rank is theirs. ``factored``: whether A
    is applied through its low-rank factor. ``sampled``: whether the automatic ridge is chosen on a sample of the rows.
    """

    side: str
    unit: float
    decomposes: bool
    gram: bool = False
    coordinates: bool = False
    factored: bool = False
    sampled: bool = False

    @classmethod
    def of(cls, problem: Problem, aim: Aim | None) -> Plan:
        """The plan of a problem with its rows; ``aim=None`` stands for sizes alone, where nothing is solved.

        >>> import numpy as np
        >>> from proxembed.algebra.operators.structured import Centering, LowRank
        >>> from proxembed.algebra.pencil.problem import Problem
        >>> from proxembed.algebra.template import Template
        >>> template = Template(LowRank(np.eye(5)[:, :1]), Centering(), offset=np.ones(5))
        >>> Problem(template, np.diag(np.arange(5.0)), aim=Aim()).plan
        Plan(side='features', unit=1.0, decomposes=True, gram=True, coordinates=False, factored=True, sampled=False)
        """
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
