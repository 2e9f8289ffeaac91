"""The smallest eigenpairs of a sparse positive semidefinite matrix whose null space is known and left out exactly.

In: M (a Laplacian, its symmetric form, or (I - W)'(I - W)) and an orthonormal basis N of its null space, made of the
indicators of graph components. Out: Z with Z'Z = I, Z'N = 0 and the k smallest eigenvalues of M there.

dense          all of M, for small n and for many components
shift-invert   Lanczos on (M + sI)^-1 by a sparse factorisation: graphs of low dimension, whose factor stays sparse
lanczos        Lanczos on (cI - M), products only: graphs of high dimension, whose factor fills; each graph component
               by itself, since the eigenvalues of several lie closer together than those of one

Lanczos meets one vector of a repeated eigenvalue: every iterative result is checked by a second run beside it.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.arrays.matrix import (
    MAX_DENSE_BYTES,
    canonical_csr,
    factor_fits,
    fill,
    guard_dense,
    near_order,
    permuted,
    restored,
    short_indices,
)
from proxembed.algebra.pencil.symmetric import fix_signs, orthonormal_columns, top

SOLVERS = ("auto", "dense", "shift-invert", "lanczos")
DENSE_UP_TO = 400
LANCZOS_TOLERANCE = 1e-14  # of Lanczos, against the eigenvalue of the operator it runs on
RESIDUAL_LIMIT = 1e-7
APART_UP_TO = 100  # graph components that Lanczos takes one by one
SHIFT = 1e-12  # of the mean of the diagonal: small beside the eigenvalues of LLE, and the null space is projected out
# Costs in multiplications. A graph of level widths w (breadth first) has a factor of about sum w^3 of them; Lanczos
# takes some products more for each level, since the gap shrinks with the diameter.
PER_ROW, PRODUCT_PER_ROW, PRODUCTS, PRODUCTS_A_LEVEL = 1e5, 600, 150, 12
# The square of a graph operator takes some products for each sqrt(largest / smallest eigenvalue), which a share of the
# factor's cost is spent to find out, where that buys enough steps of Lanczos.
PRODUCTS_PER_ROOT, PRODUCT_PER_ENTRY, TRIAL_SHARE, TRIAL_STEPS = 40, 60, 0.05, (60, 2000)


@dataclass(frozen=True)
class Bottom:
    """Z (n x k), its eigenvalues in ascending order, the solver's name and the largest residual ||Mz - wz||."""

    Z: np.ndarray
    eigenvalues: np.ndarray
    solver: str
    residual: float


def bottom(M: sparse.csr_array, null: sparse.csr_array, k: int, *, solver: str = "auto", gap: int = 1) -> Bottom:
    """The k smallest eigenpairs of M off its null space. M : (n, n) CSR, symmetric positive semidefinite. null : (n, p)
    CSR with orthonormal columns, M null = 0. k : at most n - p. gap : 2 where M is the square of a graph operator,
    whose small eigenvalues lie as much closer together. Raises ValueError for k out of range and where Lanczos does not
    converge; warns (ConvergenceWarning) where the residual misses 1e-7 of the norm of M."""
    n, p = null.shape
    if not 1 <= k <= n - p:
        raise ValueError(f"k={k!r} is not allowed: a matrix of {n} rows with a null space of {p} has 1 to {n - p}.")
    order = near_order(M)
    M, null = _short(permuted(_short(M), order)), _short(null[order])
    norm = float(np.max(abs(M).sum(axis=1), initial=0.0))
    found = None
    if solver == "dense" or (solver == "auto" and _whole(n, n - p, k)) or k >= n - p - 1:
        solver, found = "dense", _dense(M, null, k, norm)
    elif solver == "auto":
        solver, found = _cheapest(M, null, k, norm, gap)
    else:
        try:
            found = ROUTES[solver](M, null, k, norm)
        except ArpackNoConvergence as failure:
            raise ValueError(
                f"The solver {solver!r} found {len(failure.eigenvalues)} of {k} eigenvectors of a {n:,} x {n:,} "
                "matrix, whose small eigenvalues lie close together. Use 'auto' or 'dense' in its place, or fewer "
                "components."
            ) from failure
    Z = _off(null, found)
    Z, w, residual = _rotated(M, orthonormal_columns(_off(null, orthonormal_columns(Z))))
    if residual > RESIDUAL_LIMIT * norm:
        warnings.warn(
            f"The {k} smallest eigenvectors of a {n:,} x {n:,} graph matrix were found by {solver} with a residual of "
            f"{residual:.1e}, above {RESIDUAL_LIMIT * norm:.1e}. Use fewer components or more neighbours.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Bottom(fix_signs(restored(Z, order)), w, solver, residual)


def _whole(n: int, allowed: int, k: int) -> bool:
    """Whether all of the matrix is decomposed: few rows, or a large share of the eigenvectors of a matrix that fits."""
    return n <= DENSE_UP_TO or (5 * k > allowed and 8 * n**2 <= MAX_DENSE_BYTES)


def _cheapest(M: Any, null: Any, k: int, norm: float, gap: int) -> tuple[str, np.ndarray]:
    """The route of least estimated cost; a factor after all where Lanczos takes too long."""
    work, entries, levels = fill(M, null)
    n = M.shape[0]
    direct = work + PER_ROW * n
    products = PRODUCTS + PRODUCTS_A_LEVEL * levels
    too_large = not factor_fits(entries)
    budget: int | None
    if gap == 1:
        budget = 2 * products
        factor = direct <= products * PRODUCT_PER_ROW * n * (1 + k / 20)
    else:
        budget = _products_of_a_square(M, null, direct)
        factor = budget is None
    if factor and not too_large:
        return "shift-invert", _shift_invert(M, null, k, norm)
    try:
        return "lanczos", _lanczos(M, null, k, norm, None if too_large else budget)
    except ArpackNoConvergence as failure:
        if too_large:
            raise ValueError(
                f"Lanczos found {len(failure.eigenvalues)} of {k} eigenvectors, and the factor of this graph would not "
                "fit in memory. Use fewer rows or components."
            ) from failure
        return "shift-invert", _shift_invert(M, null, k, norm)


def _products_of_a_square(M: Any, null: Any, direct: float) -> int | None:
    """How many products Lanczos may take on the square of a graph operator; None where a factor costs less."""
    product = PRODUCT_PER_ENTRY * M.nnz
    steps = int(TRIAL_SHARE * direct / product)
    if steps < TRIAL_STEPS[0]:
        return None
    least = lowest(M, null, min(steps, TRIAL_STEPS[1]))
    needed = PRODUCTS_PER_ROOT * np.sqrt(_largest(M) / least) if least > 0 else np.inf
    return None if needed * product > direct else int(2 * needed)


def lowest(M: sparse.csr_array, null: sparse.csr_array, steps: int = TRIAL_STEPS[0]) -> float:
    """An upper bound of the smallest eigenvalue off the null space: the least Ritz value of some steps of Lanczos."""
    return -largest_ritz(lambda v: -(M @ v), null, np.empty((M.shape[0], 0)), steps)


def largest_ritz(product: Any, null: Any, known: np.ndarray, steps: int) -> float:
    """The largest Ritz value of a symmetric operator, off the null space and known vectors, after steps of Lanczos."""
    n = null.shape[0]
    off = _projection(null, known)
    v = off(_start(n, known.shape[1]))
    v, before = v / np.linalg.norm(v), np.zeros(n)
    alpha: list[float] = []
    beta: list[float] = []
    for _ in range(min(steps, n - null.shape[1] - known.shape[1])):
        u = off(product(v)) - (beta[-1] * before if beta else 0.0)
        alpha.append(float(u @ v))
        u -= alpha[-1] * v
        size = float(np.linalg.norm(u))
        beta.append(size)
        if size <= 1e-12 * abs(alpha[0]):
            break
        before, v = v, u / size
    last = len(alpha) - 1
    return float(eigh_tridiagonal(alpha, beta[:-1], True, select="i", select_range=(last, last))[0])


def _short(M: Any) -> sparse.csr_array:
    """CSR in canonical order with 32-bit indices where they reach: products are faster, and SuperLU takes no others."""
    return short_indices(canonical_csr(M))


def _off(null: Any, V: np.ndarray) -> np.ndarray:
    """V less its part in the null space."""
    return V - null @ (null.T @ V)


def _projection(null: Any, known: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """v less its part in the null space and in the known vectors; one dense vector where the null space is one."""
    if null.shape[1] == 1:
        known, null = np.hstack([null.toarray(), known]), null[:, :0]
    adjoint = null.T.tocsr()

    def off(v: np.ndarray) -> np.ndarray:
        if null.shape[1]:
            v = v - null @ (adjoint @ v)
        return v - known @ (known.T @ v) if known.shape[1] else v

    return off


def _rotated(M: Any, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The Ritz vectors of M in the span of Z, their values in ascending order and the largest residual."""
    MZ = M @ Z
    H = Z.T @ MZ
    w, U = top(-(H + H.T) / 2, len(H))
    Z, MZ, w = Z @ U, MZ @ U, np.maximum(-w, 0.0)
    return Z, w, float(np.max(np.linalg.norm(MZ - Z * w, axis=0)))


def _dense(M: Any, null: Any, k: int, norm: float, budget: int | None = None) -> np.ndarray:
    n = M.shape[0]
    guard_dense((n, n), "The dense form of a graph matrix")
    N = null.toarray()
    lifted = M.toarray() + (2 * norm + 1) * (N @ N.T)
    return top(-(lifted + lifted.T) / 2, k)[1]


def _shift_invert(M: Any, null: Any, k: int, norm: float) -> np.ndarray:
    """Lanczos on (M + sI)^-1 off the null space."""
    n = M.shape[0]
    shift = SHIFT * float(M.diagonal().mean())
    shifted = sparse.csc_array(M + shift * sparse.eye_array(n))
    factor = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        panel_size=4,
        options={"SymmetricMode": True, "Equil": False},
    )
    return _complete(factor.solve, null, k)


def _lanczos(M: Any, null: Any, k: int, norm: float, budget: int | None = None) -> np.ndarray:
    """The k smallest eigenvectors by ``_lanczos_of_one`` for each graph component that the null space names."""
    parts = _apart(M, null)
    if len(parts) == 1:
        return _lanczos_of_one(M, null, k, norm, budget)
    best: list[tuple[float, np.ndarray, np.ndarray]] = []
    for column, rows in enumerate(parts):
        inner, inside = _short(M[rows][:, rows]), _short(null[rows][:, [column]])
        wanted = min(k, len(rows) - 1)
        if wanted < 1:
            continue
        route = _dense if _whole(len(rows), len(rows) - 1, wanted) else _lanczos_of_one
        Z = orthonormal_columns(_off(inside, route(inner, inside, wanted, norm, budget)))
        Z, w, _ = _rotated(inner, Z)
        best = sorted([*best, *zip(w, [rows] * len(w), Z.T, strict=True)], key=lambda found: found[0])[:k]
    V = np.zeros((M.shape[0], len(best)))
    for j, (_, rows, z) in enumerate(best):
        V[rows, j] = z
    return V


def _apart(M: Any, null: Any) -> list[np.ndarray]:
    """The rows of each column of the null space; all together where M links two of them, or they are many."""
    n, p = null.shape
    columns = null.tocsc()
    if not 1 < p <= APART_UP_TO or columns.nnz != n or len(np.unique(columns.indices)) < n:
        return [np.arange(n)]
    label = np.empty(n, dtype=np.int64)
    label[columns.indices] = np.repeat(np.arange(p), np.diff(columns.indptr))
    if np.any(np.repeat(label, np.diff(M.indptr)) != label[M.indices]):
        return [np.arange(n)]
    return [np.flatnonzero(label == column) for column in range(p)]


def _lanczos_of_one(M: Any, null: Any, k: int, norm: float, budget: int | None = None) -> np.ndarray:
    """Lanczos on cI - M off the null space, c at least the largest eigenvalue; at most ``budget`` products."""
    largest = min(norm, 1.01 * _largest(M))
    return _complete(lambda v: largest * v - M @ v, null, k, budget, origin=largest)


def _largest(M: Any) -> float:
    """The largest eigenvalue, to a per cent."""
    w = eigsh(M, k=1, which="LA", v0=_start(M.shape[0]), tol=1e-3, return_eigenvectors=False)
    return float(w[0])


def leading(product: Callable[[np.ndarray], np.ndarray], n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenpairs of a symmetric n x n operator, descending, repeated eigenvalues in full."""
    V = _complete(product, sparse.csr_array((n, 0)), k)
    MV = np.column_stack([product(v) for v in V.T])
    H = V.T @ MV
    w, U = top((H + H.T) / 2, k)
    return w, V @ U


def _complete(product: Any, null: Any, k: int, budget: int | None = None, origin: float = 0.0) -> np.ndarray:
    """The k leading eigenvectors of an operator off the null space, repeated eigenvalues in full: what a run beside
    those found still finds above the last of them is taken in. Eigenvalues are told apart by their distance from
    ``origin``. A vector that is missing would show in the Ritz values of half as many products as those found have
    taken: a value needs half the digits of its vector."""
    n = null.shape[0]
    products = 0

    def counted(v: np.ndarray) -> np.ndarray:
        nonlocal products
        products += 1
        return product(v)

    w, V = _leading(counted, null, np.empty((n, 0)), k, budget)
    steps = products // 2
    while V.shape[1] < min(n - null.shape[1] - 1, 3 * k + 10):
        apart = abs(w.min() - origin)
        if largest_ritz(product, null, V, steps) <= w.min() + 1e-3 * apart:
            break
        more, U = _leading(product, null, V, 1, budget)
        if more[0] <= w.min() + 1e-9 * apart:
            break
        w, V = np.append(w, more), np.hstack([V, U])
    return V[:, np.argsort(w)[::-1][:k]]


def _leading(product: Any, null: Any, known: np.ndarray, k: int, budget: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenpairs of the operator off the null space and off known vectors."""
    n = null.shape[0]
    off = _projection(null, known)
    op = LinearOperator((n, n), matvec=lambda v: off(product(off(np.ravel(v)))), dtype=np.float64)
    beside = 14 if budget is None else 40 if budget < 2000 else 80  # a factor needs few steps
    steps = min(n, max(2 * k + 1, k + beside))
    restarts = 10 * n if budget is None else max(2, budget // (steps - k))
    return eigsh(
        op, k=k, which="LA", v0=off(_start(n, known.shape[1])), tol=LANCZOS_TOLERANCE, ncv=steps, maxiter=restarts
    )


def _start(n: int, known: int = 0) -> np.ndarray:
    """The same start every time, and another beside known vectors: of a repeated eigenvalue the first start holds what
    was found."""
    return np.random.default_rng(known).standard_normal(n)


ROUTES = {"shift-invert": _shift_invert, "lanczos": _lanczos}
