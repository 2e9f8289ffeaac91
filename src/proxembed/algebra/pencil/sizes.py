"""How large the two matrices of a problem are: traces without a d x d matrix, and largest absolute eigenvalues."""

from collections.abc import Callable

import numpy as np

from .linear import DENSE_LIMIT
from .problem import Problem
from .symmetric import eigenvalues, lanczos

NORM_TOLERANCE = 1e-8


def objective_size(problem: Problem, kind: str) -> float:
    """The absolute trace of R'AR + aI, a counted min(n, d) times ("trace"), or its largest absolute eigenvalue on the
    row space ("spectral")."""
    template = problem.template
    if kind == "trace":
        trace = template.A.trace_on(problem.rows)
        return abs(trace + template.a * problem.dimensions)
    if min(problem.n, problem.d) > DENSE_LIMIT:
        return _norm(problem.apply_objective, problem.d)
    return _largest(eigenvalues(problem.coordinates.sandwich(template.A)) + template.a)


def constraint_size(problem: Problem, kind: str) -> float:
    """The trace of R'BR + bI, b counted min(n, d) times ("trace"), or its largest eigenvalue on the row space
    ("spectral"). Raises ValueError where R'BR is zero and b too."""
    template = problem.template
    if kind == "trace":
        return problem.constraint_trace()
    if template.B is None:
        return template.b
    if min(problem.n, problem.d) > DENSE_LIMIT:
        return _norm(lambda v: problem.apply_constraint(v, 0.0), problem.d)
    return _largest(eigenvalues(problem.coordinates.sandwich(template.B)) + template.b)


def _largest(w: np.ndarray) -> float:
    return float(np.abs(w).max())


def _norm(product: Callable[[np.ndarray], np.ndarray], size: int) -> float:
    """The largest absolute eigenvalue of a symmetric operator."""
    highest, _ = lanczos(product, size, 1, NORM_TOLERANCE)
    lowest, _ = lanczos(lambda v: -product(v), size, 1, NORM_TOLERANCE)
    return float(max(highest[0], lowest[0]))
