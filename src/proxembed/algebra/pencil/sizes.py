"""How large the two matrices of a problem are: traces without a d x d matrix, and largest absolute eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.centred import CentredMatrix, block_rows
from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, LowRank, Operator, Sparse

from .linear import DENSE_LIMIT
from .symmetric import eigenvalues, lanczos

if TYPE_CHECKING:
    from .problem import Problem

NORM_TOLERANCE = 1e-8


def objective_size(problem: Problem, kind: str) -> float:
    """The absolute trace of R'AR + aI, a counted min(n, d) times ("trace"), or its largest absolute eigenvalue on the
    row space ("spectral")."""
    template = problem.template
    if kind == "trace":
        trace = sandwich_trace(template.A, problem.rows)
        return abs(trace + template.a * problem.dimensions)
    if min(problem.n, problem.d) > DENSE_LIMIT:
        return _norm(problem.apply_objective, problem.d)
    return _largest(eigenvalues(problem.coordinates.sandwich(template.A)) + template.a)


def constraint_size(problem: Problem, kind: str) -> float:
    """The trace of R'BR + bI, b counted min(n, d) times ("trace"), or its largest eigenvalue on the row space
    ("spectral").

    Raises ValueError where R'BR is zero and b too.
    """
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


def sandwich_trace(op: Operator, X) -> float:
    """tr(X'AX); X is an array, CSR or CentredMatrix.

    >>> sandwich_trace(Identity(2), np.array([[3.0], [4.0]]))
    25.0
    """
    X = CentredMatrix.of(X)
    return float(sum(c * _leaf_trace(leaf, X) for c, leaf in op.terms()))


def _leaf_trace(leaf: Operator, X: CentredMatrix) -> float:
    if isinstance(leaf, Diagonal | Identity):
        return X.squared_norm(leaf.diagonal(X.shape[0]))
    if isinstance(leaf, Centering):
        w = leaf.row_weights(X.shape[0])
        return CentredMatrix.centred(X.X, w).squared_norm(w)
    if isinstance(leaf, LowRank):
        E = leaf.project(X)
        return float(np.vdot(E.T, leaf.weigh(E.T)))
    return _edge_trace(leaf.W, X) if isinstance(leaf, Sparse) else float(np.trace(leaf.sandwich(X)))


def _edge_trace(W: sparse.csr_array, X: CentredMatrix) -> float:
    """sum_ij w_ij x_i'x_j of centred rows."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if not X.sparse:
        total = 0.0
        for part, near in X.blocks():
            far = W[part] @ X.X
            total += float(np.vdot(near, far if X.mean is None else far - np.outer(degrees[part], X.mean)))
        return total
    total, step = 0.0, block_rows(X.shape[1])
    for start in range(0, X.shape[0], step):
        total += float(X.X[start : start + step].multiply(W[start : start + step] @ X.X).sum())
    if X.mean is None:
        return total
    sums = np.asarray(X.X.T @ degrees).ravel()
    return total - 2 * float(X.mean @ sums) + float(X.mean @ X.mean) * float(degrees.sum())
