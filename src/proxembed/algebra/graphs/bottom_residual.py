"""The smallest eigenpairs of (I - W)'(I - W) for W with row sums 1: the constant vector, of eigenvalue 0, left out.

dense     all of the matrix, for few rows
factor    Lanczos on A^-1 A^-T by one factorisation of A = I - W, whose fill is a quarter of that of A'A
lobpcg    LOBPCG, preconditioned by A and A' solved loosely on an incomplete factor  [knyazev2001lobpcg]
lanczos   Lanczos on cI - A'A, products only
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.pencil.symmetric import fix_signs, orthonormal_columns, top

from .bottom import DENSE_UP_TO, RESIDUAL_LIMIT, Bottom, bottom, leading
from .nonsymmetric import factor_work, factorised, incomplete, loosely, solve

SOLVERS = ("auto", "dense", "factor", "lobpcg", "lanczos")
LOBPCG_STEPS, STALLED = 40, 10  # steps at most, and those in which the residual must halve
HELPS = 0.5  # of a right side, what a loose solve that is worth its time leaves at most; it is 0.001 or 1
FACTOR_PER_ROW = 4e6  # multiplications, measured, of a factor that takes as long as LOBPCG


def bottom_residual(W: sparse.csr_array, k: int, *, solver: str = "auto") -> Bottom:
    """The k smallest eigenpairs of (I - W)'(I - W) off the constant vector, k at most n - 1, in ascending order. Where
    closed strong components of the graph of W (whose edges all stay inside) are several, the vectors that are constant
    on each of them have eigenvalue 0 as well: they come first, and a UserWarning gives their number."""
    W = sparse.csr_array(W)
    n = W.shape[0]
    A = sparse.csr_array(sparse.eye_array(n) - W)
    M = sparse.csr_array(A.T @ A)
    null, roots = null_vectors(W, k + 1)
    zeros = null[:, 1 : k + 1]
    if len(roots) > 1:
        warnings.warn(
            f"The neighbour graph has {len(roots)} connected components that no edge leaves; the vectors that tell "
            "them apart have eigenvalue 0 and come first in the embedding. Use more neighbours.",
            UserWarning,
            stacklevel=3,
        )
    wanted = min(k - zeros.shape[1], n - null.shape[1])
    if wanted <= 0:
        return Bottom(fix_signs(zeros), np.zeros(zeros.shape[1]), "none", 0.0)
    norm = float(np.max(abs(M).sum(axis=1)))
    routes = _routes(A) if solver == "auto" else [solver]
    for solver in routes:
        Z, w, residual = _ritz(M, null, _by(solver, A, M, null, roots, wanted, solver == routes[-1]))
        if residual <= RESIDUAL_LIMIT * norm:
            break
    if residual > RESIDUAL_LIMIT * norm:
        warnings.warn(
            f"The {wanted} smallest eigenvectors of a {n:,} x {n:,} matrix of residuals were found by {solver} with a "
            f"residual of {residual:.1e}, above {RESIDUAL_LIMIT * norm:.1e}. Use nonnegative weights, a larger reg or "
            "more neighbours.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Bottom(fix_signs(np.hstack([zeros, Z])), np.concatenate([np.zeros(zeros.shape[1]), w]), solver, residual)


def _routes(A: sparse.csr_array) -> list[str]:
    """The routes in the order of their estimated cost; a factor that fits in memory after all where LOBPCG fails."""
    n = A.shape[0]
    if n <= DENSE_UP_TO:
        return ["dense"]
    work = factor_work(A)
    if work <= FACTOR_PER_ROW * n:
        return ["factor"]
    return ["lobpcg", *["factor"] * bool(np.isfinite(work))]


def _by(solver: str, A: Any, M: Any, null: np.ndarray, roots: np.ndarray, k: int, last: bool) -> np.ndarray:
    if solver == "factor":
        return _by_factor(A, null, roots, k)
    if solver == "lobpcg":
        return _by_lobpcg(A, M, null, roots, k, last)
    return bottom(M, sparse.csr_array(null), k, solver=solver, gap=2).Z


def null_vectors(W: sparse.csr_array, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal vectors with Wv = v, the constant one first: one for each closed strong component of the graph of W,
    ``most`` of them at most; and the row of each component that most rows are rebuilt from. Each is 1 on its component
    and 0 on the other closed ones; a row on the way has the share that its neighbours give."""
    n = W.shape[0]
    edges = sparse.coo_array(W)
    keep = edges.data != 0
    row, column = edges.row[keep], edges.col[keep]
    graph = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, n))
    count, label = connected_components(graph, directed=True, connection="strong")
    open_ = np.zeros(count, dtype=bool)
    open_[label[row[label[row] != label[column]]]] = True
    closed = np.flatnonzero(~open_)
    order = np.lexsort((np.arange(n), -np.bincount(column, minlength=n), label))
    roots = order[np.searchsorted(label[order], closed)]
    if len(closed) == 1:
        return np.full((n, 1), n**-0.5), roots
    place = np.full(count, -1)
    place[closed] = np.arange(len(closed))
    own = place[label]
    H = np.where(own[:, None] == np.arange(min(len(closed), most) - 1), 1.0, 0.0)
    way, home = np.flatnonzero(own < 0), np.flatnonzero(own >= 0)
    if len(way):
        A = sparse.csr_array(sparse.eye_array(len(way)) - W[way][:, way])
        H[way] = solve(A, W[way][:, home] @ H[home]).Z
    return orthonormal_columns(np.column_stack([np.ones(n), H])), roots


def _ritz(M: Any, null: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The Ritz vectors of M in the span of Z off the null space, their values and the largest residual."""
    Z = orthonormal_columns(Z - null @ (null.T @ Z))
    H = Z.T @ (M @ Z)
    w, U = top(-(H + H.T) / 2, len(H))
    Z, w = Z @ U, np.maximum(-w, 0.0)
    return Z, w, float(np.max(np.linalg.norm(M @ Z - Z * w, axis=0)))


def _by_factor(A: Any, null: np.ndarray, roots: np.ndarray, k: int) -> np.ndarray:
    """Lanczos on A^+ A^+' off the null space, by a factor of A without the row and column of one root in each closed
    component: what is left is regular, and solves with A exactly where the right side is in its range."""
    n = A.shape[0]
    rest = np.setdiff1d(np.arange(n), roots)
    factor = factorised(A[rest][:, rest])
    left = np.zeros((n, len(roots)))
    left[roots, np.arange(len(roots))] = 1.0
    left[rest] = factor.solve(-A[roots][:, rest].T.toarray(), "T")
    left = orthonormal_columns(left)

    def product(v: np.ndarray) -> np.ndarray:
        v, y, z = v - null @ (null.T @ v), np.zeros(n), np.zeros(n)
        y[rest] = factor.solve(v[rest], "T")
        y -= left @ (left.T @ y)
        z[rest] = factor.solve(y[rest])
        return z - null @ (null.T @ z)

    return leading(product, n, k)[1]


def _by_lobpcg(A: Any, M: Any, null: np.ndarray, roots: np.ndarray, k: int, last: bool) -> np.ndarray:
    """LOBPCG off the null space with A and A' (without the roots) solved loosely on one incomplete factor. The space of
    the last vectors, their preconditioned residuals and the last steps is made orthonormal before its Ritz vectors are
    taken: the plain recurrence breaks down where these are nearly dependent, as here they soon are. Where the loose
    solves lead nowhere and this is not the last route, it ends at its start."""
    n = A.shape[0]
    rest = np.setdiff1d(np.arange(n), roots)
    inner = sparse.csr_array(A[rest][:, rest])
    adjoint, incomplete_factor = sparse.csr_array(inner.T), incomplete(inner)

    def inverse(V: np.ndarray) -> np.ndarray:
        V, out = V - null @ (null.T @ V), np.zeros(V.shape)
        out[rest] = loosely(inner, loosely(adjoint, V[rest], incomplete_factor, "T"), incomplete_factor)
        return out - null @ (null.T @ out)

    goal = RESIDUAL_LIMIT / 100 * float(np.max(abs(M).sum(axis=1)))
    b = max(k, min(k + 4, (n - null.shape[1]) // 3))
    Z, P = np.random.default_rng(0).standard_normal((n, b)), np.empty((n, 0))
    Z, w, _ = _ritz(M, null, Z)
    if not last:
        B = Z[rest, :1]
        if np.linalg.norm(inner @ loosely(inner, B, incomplete_factor) - B) > HELPS * np.linalg.norm(B):
            return Z[:, :k]
    least = np.inf
    for step in range(LOBPCG_STEPS):
        R = M @ Z - Z * w
        error = np.linalg.norm(R[:, :k], axis=0).max()
        if error <= goal or (step % STALLED == 0 and error > least / 2):
            break
        least = error if step % STALLED == 0 else least
        T = np.hstack([inverse(R), P])
        T /= np.maximum(np.linalg.norm(T, axis=0), np.finfo(float).tiny)
        for _ in range(2):  # the second time for the digits that the first one lost
            T = orthonormal_columns(T - Z @ (Z.T @ T))
        S, w, _ = _ritz(M, null, np.hstack([Z, T]))
        S, w = S[:, :b], w[:b]
        P, Z = S - Z @ (Z.T @ S), S
    return Z[:, :k]
