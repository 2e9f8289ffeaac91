"""Principal covariates: the directions that explain the rows and the ridge regression of their targets, both in shares.

With the regression coefficients W the fit is H = Xc W, so that (1 - share) XcXc'/|Xc|^2 + share HH'/|F|^2 is Xc C Xc' with
C = (1 - share)/|Xc|^2 I + share/|F|^2 WW'. Its eigenvectors XcP follow from Xc'Xc or XcXc' alone, without a whitening:
C^1/2 Xc'Xc C^1/2 = V diag(w) V', P = C^1/2 V diag(w)^-1/2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import gram, matmul, symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix, rank_threshold

from .conjugate import conjugate_gradients
from .problem import Problem
from .symmetric import RANGE_TOLERANCE, descending, lanczos, orthonormal_factors, top


@dataclass(frozen=True)
class Weighing:
    """C = level I + WW' with W (d x c) scaled already, of which neither C nor its root is formed."""

    level: float
    W: np.ndarray

    def dot(self, V: np.ndarray) -> np.ndarray:
        """C V."""
        return self.level * V + matmul(self.W, matmul(self.W.T, V))

    def half(self, V: np.ndarray) -> np.ndarray:
        """C^1/2 V."""
        axes, more = self._axes
        return np.sqrt(self.level) * V + matmul(axes, more[:, None] * matmul(axes.T, V))

    @cached_property
    def _axes(self) -> tuple[np.ndarray, np.ndarray]:
        """An orthonormal basis of the span of W that makes WW' diagonal, and what C^1/2 has there beyond its level."""
        Q, R = orthonormal_factors(self.W)
        sizes, U = descending(gram(R.T))
        root = np.sqrt(self.level)
        return Q @ U, np.sqrt(self.level + np.maximum(sizes, 0.0)) - root


def principal_covariates(
    problem: Problem, F: Any, squares: float, share: float, ridge: float, k: int | None, iterative: bool
) -> tuple[np.ndarray, np.ndarray]:
    """P (d, k) with P'Xc'XcP = I and the eigenvalues (k,), descending; fewer than k where there are no more, all for k
    None. F: the targets (n x c), not centred, ``squares`` the sum of squares of the centred ones, ``share`` their weight
    from 0 to 1, ``ridge`` that of their regression, absolute. ``iterative``: by products with the rows alone."""
    rows = problem.rows
    small = min(rows.shape)
    iterative = iterative and k is not None and k < small
    if iterative:
        W = conjugate_gradients(rows, None, 1.0, ridge, rows.tdot(F))[0]
    else:
        W = problem.regression(F, ridge)
    C = Weighing((1.0 - share) / rows.squared_norm(), np.sqrt(share / squares) * W)
    if iterative or problem.side == "features":
        return _by_features(problem, C, k, iterative)
    return _by_rows(problem, C, k)


def _by_features(problem: Problem, C: Weighing, k: int | None, iterative: bool) -> tuple[np.ndarray, np.ndarray]:
    rows = problem.rows
    if iterative:
        w, V = lanczos(lambda v: C.half(rows.normal_dot(C.half(v[:, None])))[:, 0], rows.shape[1], k or 1)
    else:
        M = symmetrise(C.half(np.ascontiguousarray(C.half(problem.gram).T)))
        w, V = descending(M) if k is None else top(M, min(k, len(M)))
    keep = _known(w, rows, C)
    return C.half(V[:, keep]) / np.sqrt(w[keep]), w[keep]


def _by_rows(problem: Problem, C: Weighing, k: int | None) -> tuple[np.ndarray, np.ndarray]:
    rows = problem.rows
    M = C.level * problem.gram + gram(rows.dot(C.W).T)
    w, U = descending(M) if k is None else top(M, min(k, len(M)))
    keep = _known(w, rows, C)
    return C.dot(rows.tdot(U[:, keep])) / w[keep], w[keep]


def _known(w: np.ndarray, rows: CentredMatrix, C: Weighing) -> np.ndarray:
    """Which eigenvalues, descending, are not rounding: of the targets alone there are as many as their rank."""
    if C.level == 0.0:
        return w > RANGE_TOLERANCE * max(w[0], 0.0)
    return w > rank_threshold(w, max(rows.shape), C.level * rows.noise)
