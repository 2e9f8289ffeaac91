"""Principal covariates: the directions that explain the rows and the ridge regression of their targets, both in shares.

With the regression coefficients W the fit is H = Xc W. So (1 - share) XcXc'/|Xc|^2 + share HH'/|F|^2 is Xc C Xc' with
C = (1 - share)/|Xc|^2 I + share/|F|^2 WW'. Its eigenvectors XcP need no whitening: C^1/2 Xc'Xc C^1/2 = V diag(w) V',
P = C^1/2 V diag(w)^-1/2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import gram, matmul, symmetrise
from proxembed.algebra.arrays.centred import rank_threshold

from .conjugate import conjugate_gradients
from .problem import Problem
from .symmetric import RANGE_TOLERANCE, descending, lanczos, orthonormal_factors, top


@dataclass(frozen=True)
class Weighing:
    """C = level I + WW', W (d x c), of which neither C nor its root is formed."""

    level: float
    W: np.ndarray

    def half(self, V: np.ndarray) -> np.ndarray:
        """C^1/2 V."""
        axes, more = self._axes
        return np.sqrt(self.level) * V + matmul(axes, more[:, None] * matmul(axes.T, V))

    @cached_property
    def _axes(self) -> tuple[np.ndarray, np.ndarray]:
        """An orthonormal basis of the span of W that makes WW' diagonal, and what C^1/2 has there beyond its level."""
        Q, R = orthonormal_factors(self.W)
        sizes, U = descending(gram(R.T))
        return Q @ U, np.sqrt(self.level + np.maximum(sizes, 0.0)) - np.sqrt(self.level)

    def real(self, w: np.ndarray, size: int) -> np.ndarray:
        """Which eigenvalues, descending, of rows of this longer side are not rounding; of the targets alone there are
        as many as their rank."""
        return w > (RANGE_TOLERANCE * max(w[0], 0.0) if self.level == 0.0 else rank_threshold(w, size, 0.0))


def principal_covariates(
    problem: Problem, squares: float, share: float, ridge: float, k: int | None, iterative: bool
) -> tuple[np.ndarray, np.ndarray]:
    """P (d, k) with P'Xc'XcP = I and the eigenvalues (k,), descending; fewer than k where there are no more, all for k
    None. The targets F are the factor of the problem's A, ``squares`` the sum of squares of the centred ones, ``share``
    their weight from 0 to 1, ``ridge`` that of their regression, absolute. ``iterative``: by products with the rows
    alone, else in the row space."""
    rows = problem.rows
    leaf: Any = next(leaf for _, leaf in problem.template.A.terms())
    of_targets = np.sqrt(share / squares)
    if iterative and k is not None and k < min(rows.shape):
        weights = None if problem.uniform else problem.weights
        W = conjugate_gradients(rows, weights, 1.0, ridge, leaf.project(rows))[0]
        C = Weighing((1.0 - share) / rows.squared_norm(weights), of_targets * W)
        w, V = lanczos(lambda v: C.half(rows.normal_dot(C.half(v[:, None])))[:, 0], rows.shape[1], k)
        keep = C.real(w, max(rows.shape))
        return C.half(V[:, keep]) / np.sqrt(w[keep]), w[keep]
    found = problem.coordinates
    scatter = found.s**2
    C = Weighing((1.0 - share) / scatter.sum(), of_targets * found.project(leaf) / (scatter + ridge)[:, None])
    M = symmetrise(C.half(np.ascontiguousarray(C.half(np.diag(scatter)).T)))
    w, V = descending(M) if k is None else top(M, min(k, len(M)))
    keep = C.real(w, max(rows.shape))
    return found.back(C.half(V[:, keep]) / np.sqrt(w[keep])), w[keep]
