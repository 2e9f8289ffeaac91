"""Ridge regression by the cheaper side, and its closed-form leave-one-out error.

In: rows X, targets. Out: coefficients and errors; float64 whatever is used inside.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg, sparse

from proxembed.algebra.arrays.blas import gram, matmul
from proxembed.algebra.arrays.centred import EPS, CentredMatrix, block_rows, weighted_mean
from proxembed.algebra.arrays.matrix import over, row_norms, unit_of
from proxembed.algebra.operators.structured import Repeats

from .conjugate import conjugate_gradients
from .coordinates import Coordinates
from .symmetric import SPD, descending, fix_signs

DENSE_LIMIT = 5000
CHOLESKY_LIMIT = 10_000
SAMPLE = 2000  # rows of which a ridge is chosen where the side of the rows, or any side, is too large to decompose
LOO_ROWS = 4096  # rows whose leave-one-out errors are averaged; the fit is that of all rows
RIDGE_GRID = np.logspace(-6, 2, 17)
FEW_PRODUCTS = 1 << 27  # multiplications of a leave-one-out of the whole grid that are worth no shorter way
EQUAL = 1e-8  # errors that differ by less are equal: of rows that a small ridge fits, rounding leaves so much
LEAST_FREE = 1e-12  # 1 - h of a row that fixes its own prediction
EXPANDED = 1e-10  # share of the errors up to which rounding is allowed in the expanded squares of residuals


@dataclass(frozen=True)
class Goal:
    """Rows of diag(root) (T - 1 level'), T an m x q array or sparse matrix, which is not made dense as a whole."""

    T: Any
    level: np.ndarray
    root: np.ndarray

    def dense(self, columns: slice = slice(None)) -> np.ndarray:
        """Some columns as an array."""
        T = self.T[:, columns]
        return ((T.toarray() if sparse.issparse(T) else T) - self.level[columns]) * self.root[:, None]

    def dot(self, C: np.ndarray) -> np.ndarray:
        """The product with a q x k array."""
        product = self.T @ C if sparse.issparse(self.T) else matmul(self.T, C)
        return (product - self.level @ C) * self.root[:, None]

    def under(self, left: np.ndarray) -> np.ndarray:
        """left'G, k x q, for an m x k array."""
        rooted = left * self.root[:, None]
        if not sparse.issparse(self.T):
            return matmul(rooted.T, self.T - self.level)
        return (self.T.T @ rooted).T - np.outer(rooted.sum(axis=0), self.level)

    def squares(self) -> np.ndarray:
        """The sum of squares of each row."""
        if not sparse.issparse(self.T):
            rooted = self.dense()
            return np.einsum("ij,ij->i", rooted, rooted)
        own = np.asarray((self.T * self.T).sum(axis=1)).ravel() - 2.0 * (self.T @ self.level)
        return (own + self.level @ self.level) * self.root**2


def ridge_solve(
    X: Any,
    T: Any,
    lam: float,
    *,
    center: bool = True,
    gram: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (d, c) and intercept (c,) of min ||XW + 1b' - T||^2 + lam ||W||^2. ``center=False`` fits no
    intercept; ``gram`` is the smaller (centred) Gram matrix where it is known. X may be a CentredMatrix already.
    ``weights``: how often each row counts, also in ``gram`` and in the mean of a CentredMatrix."""
    unit = 1.0 if isinstance(X, CentredMatrix) else unit_of(X)
    if unit != 1.0:
        gram = None if gram is None else gram / (unit * unit)
        W, level = ridge_solve(over(X, unit), T, lam / (unit * unit), center=center, gram=gram, weights=weights)
        return W / unit, level
    n, d = X.shape
    times = np.ones(n) if weights is None else weights
    rows = X if isinstance(X, CentredMatrix) else CentredMatrix.centred(X, times if center else None)
    if not sparse.issparse(T) or d > n:
        T = T.toarray() if sparse.issparse(T) else np.asarray(T, dtype=np.float64)
    level = np.asarray(T.mean(axis=0) if weights is None else weighted_mean(T, weights)).ravel()
    level = level if center else np.zeros(T.shape[1])
    if d <= n or min(n, d) > CHOLESKY_LIMIT:
        moments = rows.tdot(T if weights is None else Repeats(weights).of(T))
    if min(n, d) > CHOLESKY_LIMIT:
        W, _ = conjugate_gradients(rows, weights, 1.0, lam, moments)
    elif d <= n:
        G = (rows.gram(weights) if gram is None else gram).copy()
        G[np.diag_indices_from(G)] += lam
        W = solve_definite(G, moments)
    else:
        K = rows.outer_gram(weights) if gram is None else gram.copy()
        K[np.diag_indices_from(K)] += lam
        root = np.sqrt(times)[:, None]
        W = rows.tdot(root * solve_definite(K, root * (T - level)))
    return W, level - (rows.centre @ W if center else 0.0)


def solve_definite(M: np.ndarray, E: np.ndarray) -> np.ndarray:
    """M^-1 E of a positive definite M, by least squares where rounding has left it singular."""
    factorised = SPD(M)
    if factorised.ok:
        return factorised.solve(E)
    return linalg.lstsq(M, E, cond=1e-12)[0]


def ridge_left_out(
    X: Any, T: np.ndarray, lam: float, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients (d, c) and intercept (c,) as of ``ridge_solve``, and the predictions (n, c) of each row by the other
    rows, in closed form: t - (t - z) / (1 - h) of the fitted z and the leverages h. ``weights``: how often each row
    counts, which is left out whole. [allen1974press]"""
    unit = unit_of(X)
    X, lam, w = over(X, unit), lam / (unit * unit), np.ones(X.shape[0]) if weights is None else weights
    rows = CentredMatrix.centred(X, w)
    level = weighted_mean(T, w)
    if X.shape[1] > X.shape[0]:
        dual, values = kernel_left_out(rows.outer_gram(weights), T, lam, w)
        W = rows.tdot(dual)
    else:
        G = rows.gram(weights)
        factorised = SPD(G, lam)
        solve = factorised.solve if factorised.ok else partial(solve_definite, G + lam * np.eye(len(G)))
        W = solve(rows.tdot(T if weights is None else Repeats(w).of(T)))
        parts = [np.einsum("md,dm->m", own, solve(own.T)) for _, own in rows.blocks()]
        h = w * np.concatenate(parts) + w / w.sum()
        values = T - (T - level - rows.dot(W)) / np.maximum(1.0 - h, LEAST_FREE)[:, None]
    return W / unit, level - rows.centre @ W, values


def kernel_left_out(K: np.ndarray, T: np.ndarray, lam: float, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of the Gram matrix K (n, n) of the centred rows times the roots of their weights w: coefficients (n, c)
    by which the centred rows are summed, and the predictions (n, c) of each row by the others."""
    root, factorised = np.sqrt(w)[:, None], SPD(K, lam)
    if factorised.ok:
        half = factorised.whiten()
    else:
        values, vectors = descending(K)
        half = vectors / np.sqrt(np.maximum(values, 0.0) + lam)
    dual = matmul(half, matmul(half.T, root * (T - weighted_mean(T, w))))
    free = np.maximum(lam * np.einsum("ij,ij->i", half, half) - w / w.sum(), LEAST_FREE)
    return root * dual, T - lam * dual / (root * free[:, None])


def ridge_loo(
    X: Any, T: Any, ridges: np.ndarray, *, center: bool = True, weights: np.ndarray | None = None
) -> np.ndarray:
    """Mean squared leave-one-out errors, one per ridge, of the ridge regression of T on X; ``ridges`` are absolute.
    ``weights``: how often each row counts, which is left out whole."""
    unit = unit_of(X)
    times = np.ones(X.shape[0]) if weights is None else weights
    rows = CentredMatrix.centred(over(X, unit), times if center else None)
    return loo_errors(_smaller_side(rows, weights), T, ridges / (unit * unit))


def ridge_errors(
    X: Any,
    T: Any,
    X_new: Any,
    T_new: Any,
    ridges: np.ndarray,
    weights: np.ndarray | None = None,
    weights_new: np.ndarray | None = None,
) -> np.ndarray:
    """Squared errors on other rows, summed, one per ridge, of the ridge regression of T on X; one decomposition.
    ``weights``, ``weights_new``: how often each row counts."""
    unit = unit_of(X)
    X, X_new, ridges = over(X, unit), over(X_new, unit), ridges / (unit * unit)
    rows = CentredMatrix.centred(X, np.ones(X.shape[0]) if weights is None else weights)
    coordinates = _smaller_side(rows, weights)
    level = T.mean(axis=0) if weights is None else weighted_mean(T, weights)
    missed = T - level
    moments = matmul(coordinates.T.T, missed if weights is None else weights[:, None] * missed)
    new = CentredMatrix(X_new, rows.centre).dot(coordinates.V)
    shrink = 1.0 / (coordinates.s[:, None] ** 2 + ridges[None, :])
    fitted = (matmul(new, shrink[:, i : i + 1] * moments) for i in range(len(ridges)))
    squares = ((T_new - level - part) ** 2 for part in fitted)
    return np.array([np.sum(each if weights_new is None else weights_new[:, None] * each) for each in squares])


def with_same_products(T: Any) -> Any:
    """A target F with FF' = TT' and at most as many columns as rows, on which all leave-one-out errors of T depend but
    for the number of targets; T itself where it is dense or has no more columns than rows."""
    if not sparse.issparse(T) or T.shape[1] <= T.shape[0]:
        return T
    T = sparse.csr_array(T, dtype=np.float64)
    w, V = descending((T @ T.T).toarray())
    kept = w > EPS * len(w) * w.max(initial=0.0)
    return V[:, kept] * np.sqrt(w[kept])


def loo_errors(coordinates: Coordinates, target: Any, ridges: np.ndarray) -> np.ndarray:
    """Leave-one-out errors from one decomposition: residual_i / (1 - h_i - w_i / 1'w), weighted rows and all ridges at
    once. Mean over rows of w_i ||e_i||^2, over their weight and the number of targets; of more than 4,096 rows over
    evenly spaced ones, each left out of the fit of all. PRESS, [allen1974press]."""
    w, level = _weights_and_level(coordinates, target)
    blocks = _weighted_blocks(coordinates, target, w, level, _evenly_spaced(w, LOO_ROWS))
    return _loo_errors(blocks, coordinates, w, _moments(coordinates, target, w, level), ridges)


def loo_choice(coordinates: Coordinates, target: Any, grid: np.ndarray) -> int:
    """The place in an ascending grid of the ridge of least leave-one-out error; of equal errors the largest ridge.
    Where the errors of the whole grid take many products: that of the ridges about the least generalised
    cross-validation error, further ones as long as the least lies at their edge. A second minimum is not looked for."""
    w, level = _weights_and_level(coordinates, target)
    moments = _moments(coordinates, target, w, level)
    chosen = _evenly_spaced(w, LOO_ROWS)
    blocks: Any = _weighted_blocks(coordinates, target, w, level, chosen)
    blocks = list(blocks)  # at most 4,096 rows, which every step of the bracket looks at
    errors_of = partial(_loo_errors, blocks, coordinates, w, moments)
    if len(chosen) * moments.size * len(grid) <= FEW_PRODUCTS:
        return best_ridge(grid, errors_of(grid))
    squares = _squares(target, w) - float(w.sum() * (level @ level))
    centred = coordinates.rows.mean is not None
    start = best_ridge(grid, gcv_errors(coordinates.s, moments, squares, grid, float(np.count_nonzero(w)), centred))
    return bracketed(grid, errors_of, start)


def bracketed(grid: np.ndarray, errors_of: Callable[[np.ndarray], np.ndarray], start: int) -> int:
    """The place of the least error near ``start``: of three neighbours, and of further ones until it has two."""
    first, last = max(start - 1, 0), min(start + 2, len(grid))
    errors = errors_of(grid[first:last])
    while True:
        least = first + best_ridge(grid[first:last], errors)
        if least == last - 1 < len(grid) - 1:
            errors = np.append(errors, errors_of(grid[last : last + 1]))
            last += 1
        elif least == first > 0:
            first -= 1
            errors = np.append(errors_of(grid[first : first + 1]), errors)
        else:
            return least


def _weights_and_level(coordinates: Coordinates, target: Any) -> tuple[np.ndarray, np.ndarray]:
    """Row weights, and the weighted mean of the target; 0 where nothing is centred."""
    w = np.ones(coordinates.rows.shape[0]) if coordinates.weights is None else coordinates.weights
    return w, np.zeros(target.shape[1]) if coordinates.rows.mean is None else weighted_mean(target, w)


def _squares(target: Any, w: np.ndarray) -> float:
    """The weighted sum of squares of all targets."""
    if sparse.issparse(target):
        return float(w @ (target * target).sum(axis=1))
    return float(np.einsum("i,ij,ij->", w, target, target))


def _loo_errors(
    blocks: Iterable[tuple[np.ndarray, np.ndarray, Goal]],
    coordinates: Coordinates,
    w: np.ndarray,
    moments: np.ndarray,
    ridges: np.ndarray,
) -> np.ndarray:
    """Mean leave-one-out errors over ``_weighted_blocks``, one per ridge."""
    rows = ((w[part], left, goal) for part, left, goal in blocks)
    mass = None if coordinates.rows.mean is None else w.sum()
    errors, seen = left_out_sums(rows, coordinates.s, moments, ridges, mass)
    return errors / (seen * moments.shape[1])


def left_out_sums(
    blocks: Iterable[tuple[np.ndarray, np.ndarray, Goal]],
    s: np.ndarray,
    moments: np.ndarray,
    ridges: np.ndarray,
    mass: float | None,
) -> tuple[np.ndarray, float]:
    """The sums of squares of leave-one-out errors, one per ridge, over blocks (w, left, goal) of rows with weights w,
    and the sum of these weights. ``left``: w^1/2 times their coordinates, of singular values ``s``; ``goal``: w^1/2
    times the centred targets; ``moments``: the weighted products of coordinates and targets over all rows (r, q), of
    mass 1'w, None where nothing is centred. More targets than coordinates are never fitted all at once."""
    shrink = 1.0 / (s[:, None] ** 2 + ridges[None, :])
    squares_of: Any = _residual_squares
    if moments.shape[1] > len(moments) + 1:  # the mean is one direction that coordinates lack
        squares_of = partial(_expanded_squares, inner=gram(moments.T), across=np.ascontiguousarray(moments.T))
    errors, seen = np.zeros(len(ridges)), 0.0
    for w, left, goal in blocks:
        leverage = matmul(left**2, shrink)
        if mass is not None:
            leverage += (w / mass)[:, None]
        scale = 1.0 / np.maximum(1.0 - leverage, 1e-12) ** 2
        errors += (squares_of(left, shrink, moments, goal, scale) * scale).sum(axis=0)
        seen += float(w.sum())
    return errors, seen


def _residual_squares(
    left: np.ndarray, shrink: np.ndarray, moments: np.ndarray, goal: Goal, scale: np.ndarray
) -> np.ndarray:
    """The sum of squares of the residuals of each row under each ridge, (m, ridges)."""
    stacked = (moments[:, None, :] * shrink[:, :, None]).reshape(len(moments), shrink.shape[1] * moments.shape[1])
    fitted = matmul(left, stacked).reshape(len(left), shrink.shape[1], -1)
    fitted -= goal.dense()[:, None, :]
    return np.einsum("ilq,ilq->il", fitted, fitted)


def _expanded_squares(
    left: np.ndarray,
    shrink: np.ndarray,
    moments: np.ndarray,
    goal: Goal,
    scale: np.ndarray,
    inner: np.ndarray,
    across: np.ndarray,
) -> np.ndarray:
    """``_residual_squares`` of more targets than coordinates: ||f||^2 - 2 f'g + ||g||^2 of the fitted f and the goal g,
    by ``across``, moments', and ``inner``, moments moments'; where that cancels, from the residuals."""
    crossed, own = goal.dot(across), goal.squares()
    squares = np.empty(scale.shape)
    for i, columns in enumerate(shrink.T):
        short = left * columns
        fitted = np.einsum("ir,ir->i", matmul(short, inner), short)
        squares[:, i] = fitted - 2.0 * np.einsum("ir,ir->i", short, crossed) + own
        lost = EPS * np.sqrt(moments.shape[1]) * float((fitted + own) @ scale[:, i])
        if lost > EXPANDED * float(squares[:, i] @ scale[:, i]):
            squares[:, i] = _squares_by_parts(short, moments, goal)
    return squares


def _squares_by_parts(short: np.ndarray, moments: np.ndarray, goal: Goal) -> np.ndarray:
    """The sum of squares of each residual, as many targets at a time as there are coordinates."""
    squares = np.zeros(len(short))
    for start in range(0, moments.shape[1], len(moments)):
        part = slice(start, start + len(moments))
        rest = matmul(short, moments[:, part]) - goal.dense(part)
        squares += np.einsum("iq,iq->i", rest, rest)
    return squares


def sampled_loo_errors(rows: CentredMatrix, weights: np.ndarray | None, target: Any, ridges: np.ndarray) -> np.ndarray:
    """Leave-one-out errors of the ridge regression of at most 2,000 evenly spaced rows on their targets, one per ridge.
    The ridge of least error is a ratio of variances, noise over coefficients, which does not grow with the rows."""
    w = np.ones(rows.shape[0]) if weights is None else weights
    some = _evenly_spaced(w, SAMPLE)
    w = w[some]
    sample = CentredMatrix.centred(rows.X[some], None if rows.mean is None else w)
    return loo_errors(_smaller_side(sample, None if weights is None else w), target[some], ridges)


def _smaller_side(rows: CentredMatrix, weights: np.ndarray | None) -> Coordinates:
    """Coordinates by the Gram matrix of the smaller side."""
    n, d = rows.shape
    if d <= n:
        return Coordinates(rows, weights, rows.gram(weights), "features")
    return Coordinates(rows, weights, rows.outer_gram(weights), "rows")


def _evenly_spaced(w: np.ndarray, most: int) -> np.ndarray:
    """Rows that weigh something; of more than ``most``, evenly spaced ones."""
    rows = np.flatnonzero(w > 0)
    return rows[evenly_spaced(len(rows), most)]


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """The numbers 0 to n - 1; of more than ``most``, evenly spaced ones."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.intp)


def gcv_errors(
    s: np.ndarray, moments: np.ndarray, squares: float, ridges: np.ndarray, n: float, centred: bool
) -> np.ndarray:
    """Generalised cross-validation errors, one per ridge, of n rows: the residual squares over n (1 - df / n)^2. ``s``
    and ``moments`` as in ``left_out_sums``; ``squares``: tr Tc'WTc; df = 1 + sum s^2 / (s^2 + ridge), less 1 where
    nothing is centred. From sums alone, so that no row is read again. [golub1979gcv]"""
    shrink = 1.0 / (s[:, None] ** 2 + ridges[None, :])
    explained = np.einsum("rq,rq->r", moments, moments)
    left = squares - 2 * explained @ shrink + (explained * s**2) @ shrink**2
    freedom = float(centred) + (s**2) @ shrink
    return np.maximum(left, 0.0) / (n * np.maximum(1.0 - freedom / n, 1e-12) ** 2)


def _moments(coordinates: Coordinates, target: Any, w: np.ndarray, level: np.ndarray) -> np.ndarray:
    """T'diag(w) of the centred target, r x c; a sparse target keeps its level, which rows about their mean lose."""
    if coordinates.side != "features":
        blocks = _weighted_blocks(coordinates, target, w, level, np.arange(len(w)))
        total: Any = sum(goal.under(left) for _, left, goal in blocks)
        return total
    if not sparse.issparse(target):
        target = (target - level) * w[:, None]
    elif coordinates.weights is not None:
        target = sparse.diags_array(w) @ target
    return matmul(coordinates.V.T, coordinates.rows.tdot(target))


def best_ridge(ridges: np.ndarray, errors: np.ndarray) -> int:
    """The place of the ridge of least error; of several with equal errors that of the largest ridge. Two rows have the
    same leave-one-out error under every ridge, and rounding must not choose."""
    least = np.flatnonzero(~(errors > errors.min() * (1 + EQUAL)))
    return int(least[np.argmax(ridges[least])])


def _weighted_blocks(
    coordinates: Coordinates, target: Any, w: np.ndarray, level: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, Goal]]:
    """Blocks of these rows of diag(w)^1/2 T (row-space coordinates) and of the centred target, weighted alike."""
    d = coordinates.rows.shape[1]
    width = len(RIDGE_GRID) * min(target.shape[1], coordinates.rank)
    step = block_rows(max(d if coordinates.side == "features" else coordinates.rank, width), 8 << 20)
    target = sparse.csr_array(target) if sparse.issparse(target) else target
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        root = np.sqrt(w[part])
        if coordinates.side == "features":
            left = coordinates.rows.take(part).dot(coordinates.V)
            left *= root[:, None]
        else:
            left = coordinates.left(part)
        yield part, left, Goal(target[part], level, root)


def rows_of_least_norm(C: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """X (m, d) of least norm with XC' = Z, of components C (k, d) and Z (m, k): Z (CC')^-1 C; by least squares where
    components depend on each other. Components of zeros are left out."""
    length = row_norms(C)
    used = length > 0
    unit = length[used][:, None]
    return linalg.lstsq(C[used] / unit, Z.T[used] / unit, cond=1e-12, check_finite=False)[0].T


def left_factor(B: np.ndarray) -> np.ndarray:
    """V (k, min(k, c)) with V V' = B B', of orthogonal columns, the longest first: U S of B = U S W'."""
    axes, lengths, _ = np.linalg.svd(B, full_matrices=False)
    return fix_signs(axes * lengths)
