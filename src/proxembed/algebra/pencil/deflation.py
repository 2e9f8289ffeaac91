"""More directions than targets: partial least squares with deflation, principal axes of what directions leave, and
directions of eigenvalue 0."""

from dataclasses import replace
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import frobenius, matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import guard_dense

from .pencil import dense_matrices
from .symmetric import RANGE_TOLERANCE, SPD, descending, orthonormal_columns, orthonormalise_by, top

NOTHING_LEFT = 1e-12  # share of the first singular value below which what deflation leaves is rounding


def deflated(R: CentredMatrix, S: np.ndarray, k: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Directions (d, k) of unit length with orthogonal scores, from centred rows and S = Xc'Yc, and the squared
    singular value of what is left of S at each step. At most k; fewer where nothing is left."""
    directions: list[np.ndarray] = []
    loadings: list[np.ndarray] = []  # of SIMPLS: an orthonormal basis of their span
    values: list[float] = []
    left = np.array(S)
    while len(directions) < k:
        weights = matmul(left, top(matmul(left.T, left), 1)[1])[:, 0]
        size = float(np.linalg.norm(weights))  # the largest singular value of what is left
        if size <= NOTHING_LEFT * max(np.sqrt(values[0]) if values else size, np.finfo(float).tiny):
            break
        r = weights / size
        if kind == "nipals":  # the weights of the deflated rows, as weights of the rows
            for other, loading in zip(directions, loadings, strict=True):
                r = r - other * (loading @ weights) / size
            r = r / np.linalg.norm(r)
        Gr = R.normal_dot(r[:, None])[:, 0]
        if kind == "nipals":
            loading = Gr / (r @ Gr)
            left = left - np.outer(loading, r @ S)
        else:
            loading = Gr
            for _ in range(2):  # twice is enough for orthogonality to rounding
                for other in loadings:
                    loading = loading - other * (other @ loading)
            loading = loading / np.linalg.norm(loading)
            left = left - np.outer(loading, loading @ left)
        directions.append(r)
        loadings.append(loading)
        values.append(size**2)
    return np.column_stack(directions), np.array(values)


def rest_axes(R: CentredMatrix, Q: np.ndarray, k: int) -> np.ndarray:
    """The principal axes (d, at most k) of centred rows less their part in the span of the orthonormal Q."""
    (n, d), weights = R.shape, R.repeats
    guard_dense((min(n, d),) * 2, "The scatter of what the components leave of X")
    root = None if weights is None else np.sqrt(weights)[:, None]
    T = R.dot(Q) if root is None else root * R.dot(Q)
    if d <= n:
        GQ = R.tdot(T if root is None else root * T)
        rest = R.gram(weights) - Q @ GQ.T - GQ @ Q.T + Q @ (Q.T @ GQ) @ Q.T
    else:
        rest = R.outer_gram(weights) - T @ T.T
    sizes, axes = top((rest + rest.T) / 2, min(k, len(rest)))
    axes = axes[:, sizes > NOTHING_LEFT * R.squared_norm(weights)]
    if d > n:
        axes = R.tdot(axes if root is None else root * axes)
    return orthonormal_columns(axes - Q @ (Q.T @ axes))


def with_null_directions(found: Any, k: int) -> Any:
    """A ``Solution`` with all components of positive eigenvalue, completed to k by directions of eigenvalue 0; fewer
    where there are no more.

    They are orthonormal under the constraint, and the principal axes of the rows within the null space of Ap, those of
    largest variance first: eigenvectors of the scatter there where Bp is made of the scatter and I, and under any other
    Bp each axis less its part in those before it. Outside the row space and the range of Bp there are none."""
    problem, own = found.problem, found.P.shape[1]
    coordinates, template = problem.coordinates, problem.template
    A, B = dense_matrices(problem, found.ridge / problem.of_rows(1.0))
    taken = [matmul(B, matmul(coordinates.V.T, found.P))]
    if template.B is not None and not SPD(B).full:
        w, U = descending(B)
        taken.append(U[:, w <= RANGE_TOLERANCE * w[0]])
    spanning = np.hstack(taken)
    Q = orthonormal_columns(spanning / np.linalg.norm(spanning, axis=0))
    rest, size = _without(A, Q), frobenius(A)
    if frobenius(rest) > RANGE_TOLERANCE * size:  # negative eigenvalues
        w, U = descending(rest)
        Q = orthonormal_columns(np.hstack([Q, U[:, np.abs(w) > RANGE_TOLERANCE * size]]))
    left, spread = len(A) - Q.shape[1], coordinates.s**2
    axes = top(_without(np.diag(spread), Q) - spread.max() * matmul(Q, Q.T), min(k - own, left))[1]  # those of Q last
    axes = orthonormalise_by(axes, matmul(axes.T, matmul(B, axes)))
    unit = 1.0 if template.B is None else problem.unit * np.sqrt(problem.shrunk[1])
    values = np.concatenate([found.eigenvalues, np.zeros(axes.shape[1])])
    P = np.hstack([found.P, coordinates.back(axes) / unit])
    return replace(found, P=P, eigenvalues=values, bound=own + left)


def _without(M: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """(I - QQ') M (I - QQ')."""
    MQ = matmul(M, Q)
    half = matmul(MQ - 0.5 * matmul(Q, matmul(Q.T, MQ)), Q.T)
    return M - half - half.T
