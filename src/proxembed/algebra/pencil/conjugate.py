"""Block conjugate gradients for (scale X'diag(w)X + shift I) G = E: float32 steps, float64 truth.

In: centred rows X, a d x q right-hand side. Out: G, to the residual asked for. X is read, never copied except for one
float32 array of its values; the d x q blocks are updated in place.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg
from threadpoolctl import threadpool_limits

from proxembed.algebra.arrays.centred import CentredMatrix

REFRESH = 1e-4
ROWS = 8192
REFRESHED = 8
Product = Callable[[np.ndarray], np.ndarray]


def truncated_solution(product: Product, b: np.ndarray, rtol: float, maxiter: int) -> np.ndarray:
    """An approximate solution of Mx = b for a vector b; M is positive definite, and known by its products."""
    M = LinearOperator((len(b), len(b)), matvec=product, dtype=np.float64)
    return cg(M, b, rtol=rtol, maxiter=maxiter)[0]


def conjugate_gradients(
    rows: CentredMatrix,
    weights: np.ndarray | None,
    scale: float,
    shift: float,
    E: np.ndarray,
    tol: float = 1e-8,
    maxiter: int = 1000,
) -> tuple[np.ndarray, int]:
    """(scale X'diag(w)X + shift I)^-1 E and the number of block steps. The system is scaled to unit diagonal (Jacobi).
    All columns of E share one Krylov space and the residual block is kept orthonormal ([dubrulle2001blockcg]): q
    columns take fewer steps than one, dependent columns do no harm. Step lengths and conjugate directions are computed
    from their definitions, not from the short recurrences, which fail once the columns have exhausted the space. Steps
    run in float32; whenever the residual has fallen by ``REFRESH`` it is computed anew in float64 and the search goes
    on from there, until each column's residual is at most ``tol`` of its right-hand side or no longer falls."""
    d, q = E.shape
    if q > d:
        parts = [
            conjugate_gradients(rows, weights, scale, shift, E[:, start : start + d], tol, maxiter)
            for start in range(0, q, d)
        ]
        return np.hstack([G for G, _ in parts]), max(steps for _, steps in parts)
    with threadpool_limits(1, user_api="blas"):  # the columns are shared out instead; idle BLAS threads would spin
        return _conjugate_gradients(rows, weights, scale, shift, E, tol, maxiter)


def _conjugate_gradients(
    rows: CentredMatrix, weights: np.ndarray | None, scale: float, shift: float, E: np.ndarray, tol: float, maxiter: int
) -> tuple[np.ndarray, int]:
    D = 1.0 / np.sqrt(scale * rows.column_norms(weights) + shift)
    product = rows.scaled_ridge_product(weights, scale, shift, D)
    size = np.sqrt(np.einsum("iq,iq,i->q", E, E, D**2))
    size[size == 0] = 1.0
    G, Q = np.zeros_like(E), np.empty(E.shape, dtype=np.float32)
    for part in _row_parts(len(E)):
        Q[part] = E[part] * (D[part, None] / size)
    C = _orthonormalise(Q)
    S, last, steps = Q.copy(), 1.0, 0
    while steps < maxiter:
        steps += 1
        W = product(S)
        inverse = _curvature_inverse(S, W)
        alpha = inverse @ (S.T @ Q).astype(np.float64)
        _add_product(G, S, (alpha @ C) * size, D)
        _add_product(Q, W, -alpha)
        zeta = _orthonormalise(Q)
        C = zeta @ C
        worst = float(np.linalg.norm(C, axis=0).max())
        if worst <= max(REFRESH * last, tol):
            _residual(rows, weights, scale, shift, E, G, D, size, Q)
            C = _orthonormalise(Q)
            true = float(np.linalg.norm(C, axis=0).max())
            if true <= tol or true > 0.5 * last:
                break
            last = true
        _replace(S, Q, -inverse @ (W.T @ Q).astype(np.float64))
    return G, steps


def _curvature_inverse(S: np.ndarray, W: np.ndarray) -> np.ndarray:
    """(S'MS)^-1, directions that float32 cannot tell from dependent ones left out."""
    M = (S.T @ W).astype(np.float64)
    d = 1.0 / np.sqrt(np.maximum(np.diag(M), np.finfo(np.float32).tiny))
    scaled = (M + M.T) / 2 * np.outer(d, d)
    return linalg.pinvh(scaled, rtol=1e-6, check_finite=False) * np.outer(d, d)


def _residual(
    rows: CentredMatrix,
    weights: np.ndarray | None,
    scale: float,
    shift: float,
    E: np.ndarray,
    G: np.ndarray,
    D: np.ndarray,
    size: np.ndarray,
    out: np.ndarray,
) -> None:
    """The true residual D (E - M G) / size into the float32 block ``out``, a few columns at a time."""
    for start in range(0, E.shape[1], REFRESHED):
        part = slice(start, min(start + REFRESHED, E.shape[1]))
        rest = E[:, part] - rows.ridge_dot(G[:, part], weights, scale, shift)
        out[:, part] = rest * (D[:, None] / size[part])


def _orthonormalise(Q: np.ndarray) -> np.ndarray:
    """Q replaced by its orthonormal factor, in place; returns R (float64). Cholesky of the Gram matrix where the
    columns are well independent, Householder's QR where they are not."""
    gram = (Q.T @ Q).astype(np.float64)
    d = np.sqrt(np.diag(gram))
    if d.min() > 0:
        scaled = gram / np.outer(d, d)
        w = linalg.eigvalsh(scaled, subset_by_index=(0, 0), check_finite=False)[0]
        if w > 1e-3:
            R = linalg.cholesky(scaled, check_finite=False) * d
            _replace(Q, None, linalg.solve_triangular(R, np.eye(len(R)), check_finite=False))
            return R
    Q[:], R = linalg.qr(Q, mode="economic", check_finite=False)
    return R.astype(np.float64)


def _row_parts(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS) for start in range(0, n, ROWS))


def _add_product(G: np.ndarray, S: np.ndarray, C: np.ndarray, D: np.ndarray | None = None) -> None:
    """G += diag(D) S C, in place."""
    C = C.astype(S.dtype)
    for part in _row_parts(len(G)):
        step = S[part] @ C
        G[part] += step if D is None else D[part, None] * step


def _replace(S: np.ndarray, Q: np.ndarray | None, C: np.ndarray) -> None:
    """S = Q + S C (Q None: 0), in place."""
    C = C.astype(S.dtype)
    for part in _row_parts(len(S)):
        S[part] = S[part] @ C if Q is None else Q[part] + S[part] @ C
