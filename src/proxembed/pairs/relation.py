"""Relations of rows to prototypes: dense m x p similarities or distances, computed over blocks of rows.

Sparse rows are never densified; blocks are computed in float64 and stored in the dtype of the data.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.matrix import (
    Matrix,
    centred_lengths,
    float_matrix,
    largest_entry,
    row_blocks,
    row_norms,
    row_squares,
)
from proxembed.params import call_user_function, check_arguments

from .formulas import RELATIONS, cosine, median_or_mean

NEAR = 1e-6
KENDALL_FEATURES = 2000
PAIR_ENTRIES = 2**20
MOST_ROWS, LEAST_ROWS = 200, 20
MOST_PRODUCTS = 10**8  # rows x prototypes x features that one combination may take
NEVER_BELOW = 1e-9  # a mean gradient of this share of the mean absolute gradient has no sign but by rounding


class PrototypePairs:
    """All pairs of rows and prototypes; the formulas read the block of rows at which ``blocks`` is."""

    def __init__(self, X: Matrix, P: Matrix):
        self.X, self.P, self.part = X, P, slice(0)

    def blocks(self) -> Iterator[slice]:
        """Slices of the rows, one after the other."""
        for part in row_blocks(self.X.shape[0], self.P.shape[0] if sp.issparse(self.X) else max(self.P.shape)):
            self.part = part
            yield part

    @property
    def dots(self) -> np.ndarray:
        """Inner products in float64."""
        return self._dots(self._right)

    @property
    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Squared lengths of the rows and the prototypes."""
        left, right = self._squares
        return left[self.part, None], right

    @property
    def d2(self) -> np.ndarray:
        """Squared distances: a + b - 2 G, and directly from the rows where that would cancel."""
        shift, right, b = self._shifted
        rows = self.X[self.part]
        total = row_squares(rows if shift is None else rows - shift)[:, None] + b
        d2 = self._dots(right, shift)
        d2 *= -2.0
        d2 += total
        total *= NEAR
        i, j = np.nonzero(d2 <= total)
        d2[i, j] = _near_squared_distances(rows, self.P, i, j)
        return d2

    def cosine(self) -> np.ndarray:
        """Cosines, 0 where a row is zero."""
        left, right = self._norms
        return cosine(self.dots, left[self.part, None], right)

    def power(self, degree: float) -> np.ndarray:
        """(1 + x'p)^degree."""
        G = self.dots
        G += 1.0
        if degree != round(degree) and (G <= 0).any():
            raise ValueError(
                f"degree={degree!r} is fractional, which needs 1 + x'p > 0, but it is {float(G.min()):.3g} for some "
                "pair: use an integer degree, or features that are not negative."
            )
        G **= degree
        return G

    def correlation(self) -> np.ndarray:
        """Cosines of the rows less their own mean, 0 where a row is constant."""
        mean_x, a, mean_p, b, right = self._centred
        G = self._dots(right)
        G -= self.X.shape[1] * mean_x[self.part, None] * mean_p
        return cosine(G, a[self.part, None], b)

    def concordance(self) -> np.ndarray:
        """tau-b: the cosine of the signs of x_a - x_b over all pairs of features, one feature a at a time."""
        d = self.X.shape[1]
        if d > KENDALL_FEATURES:
            raise ValueError(
                f"kind 'kendall' compares all pairs of features: X has {d:,}, and {KENDALL_FEATURES:,} are allowed. "
                "Use kind 'spearman'."
            )
        X, P = _dense(self.X[self.part]), _dense(self.P)
        dots, a, b = np.zeros((len(X), len(P))), np.zeros(len(X)), np.zeros(len(P))
        for j in range(d - 1):
            x, p = ((M[:, [j]] > M[:, j + 1 :]) * 1.0 - (M[:, [j]] < M[:, j + 1 :]) for M in (X, P))
            dots += x @ p.T
            a += np.count_nonzero(x, axis=1)
            b += np.count_nonzero(p, axis=1)
        return cosine(dots, np.sqrt(a)[:, None], np.sqrt(b))

    def local_scales(self, n_scale: int, scale: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Distances of the rows to their ``n_scale``-th nearest prototype that differs, and those of the prototypes."""
        right = prototype_scales(self.P, n_scale) if scale is None else scale
        return _nearest_distances(np.sqrt(self.d2), n_scale)[:, None], right

    @cached_property
    def _right(self) -> Matrix:
        return self._factor(self.P)

    @cached_property
    def _norms(self) -> tuple[np.ndarray, np.ndarray]:
        return row_norms(self.X), row_norms(self.P)

    @cached_property
    def _squares(self) -> tuple[np.ndarray, np.ndarray]:
        return row_squares(self.X), row_squares(self.P)

    @cached_property
    def _shifted(self) -> tuple[np.ndarray | None, Matrix, np.ndarray]:
        """The mean prototype (None for sparse rows), the factor of the prototypes less it, and their squares."""
        shift, moved = None, self.P
        if not sp.issparse(self.X) and not sp.issparse(self.P):
            shift = self.P.mean(axis=0, dtype=np.float64)
            moved = self.P - shift
        return shift, self._factor(moved), row_squares(moved)

    @cached_property
    def _centred(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Matrix]:
        """Means and centred lengths of rows and prototypes, and the factor of the prototypes, centred if dense."""
        mean_x, a = centred_lengths(self.X)
        mean_p, b = centred_lengths(self.P)
        centred = self.P
        if not sp.issparse(self.P):
            centred, mean_p = self.P - mean_p[:, None], np.zeros_like(mean_p)
        return mean_x, a, mean_p, b, self._factor(centred)

    def _factor(self, P: Matrix) -> Matrix:
        """P' in float64, in the layout that suits the product with the rows."""
        right = P.T.astype(np.float64, copy=False)
        return right.tocsr() if sp.issparse(right) else np.ascontiguousarray(right) if sp.issparse(self.X) else right

    def _dots(self, right: Matrix, shift: np.ndarray | None = None) -> np.ndarray:
        """(X - shift) times a factor: a dense block of its own."""
        block = self.X[self.part].astype(np.float64, copy=False)
        G = (block if shift is None else block - shift) @ right
        return G.toarray() if sp.issparse(G) else np.asarray(G)


def _dense(X: Matrix) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


def prototype_scales(prototypes: Any, n_scale: int = 7) -> np.ndarray:
    """The distance of each prototype to its n_scale-th nearest one that differs, or to the last; 0 if none differs."""
    P = float_matrix(prototypes, "prototypes")
    pairs = PrototypePairs(P, P)
    return np.concatenate([_nearest_distances(np.sqrt(pairs.d2), n_scale) for _ in pairs.blocks()])


def check_integer(name: str, value: Any, least: int) -> None:
    """Raise a ValueError for what is not an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}={value!r} is out of range: an integer of at least {least} is needed.")


def _nearest_distances(distance: np.ndarray, K: int) -> np.ndarray:
    """The K-th smallest positive entry of each row, or the last; 0 for rows without a positive entry."""
    check_integer("n_scale", K, 1)
    rank = min(int(K), distance.shape[1]) - 1
    nearest = np.partition(np.where(distance > 0, distance, np.inf), rank, axis=1)[:, rank]
    return np.where(np.isfinite(nearest), nearest, distance.max(axis=1))


def relation(kind: str | Callable[..., np.ndarray], X: Any, prototypes: Any, **params: Any) -> np.ndarray:
    """Relation features R_ij = phi(x_i, prototype_j), (m, p); ``kind``: a name of RELATIONS or a function."""
    if callable(kind):
        X, P = _pair(X, prototypes)
        return checked_relation(call_user_function("kind", kind, X, P, **params), (X.shape[0], P.shape[0]))
    if kind not in RELATIONS:
        raise ValueError(f"kind={kind!r} is not a relation; choose one of {', '.join(RELATIONS)}, or pass a function.")
    measure: Any = RELATIONS[kind]
    check_arguments(kind, measure.params, params)
    X, P = _pair(X, prototypes)
    params |= {name: _positive(name, params[name]) for name in ("tau", "degree") if name in params}
    if measure.centred and X.shape[1] < 2:
        raise ValueError(f"X has {X.shape[1]} feature; kind {kind!r} needs at least 2: use kind 'cosine'.")
    if measure.ends == "scales" and params.get("scale") is None:
        params["scale"] = prototype_scales(P, params.get("n_scale", 7))
    out = np.empty((X.shape[0], P.shape[0]), dtype=np.result_type(X.dtype, P.dtype))
    pairs = PrototypePairs(measure.rows(X), measure.rows(P))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for part in pairs.blocks():
            out[part] = measure.values(pairs, **params)
            if not np.isfinite(out[part]).all():
                raise ValueError(
                    f"kind {kind!r} gives values that are not finite in {out.dtype} (largest entry of X: "
                    f"{float(abs(X).max()):.3g}): scale the rows first, for example to unit length."
                )
    return out


def median_squared_distance(X: Any, *, max_rows: int = 2000, seed: int = 0) -> float:
    """Median of |x_i - x_j|^2 over pairs i < j of at most ``max_rows`` rows (drawn with ``seed``): the usual tau of the
    Gaussian; the mean if the median is 0, and 1 if that is 0 too."""
    X = float_matrix(X)
    check_integer("max_rows", max_rows, 2)
    if X.shape[0] > max_rows:
        X = X[np.sort(np.random.default_rng(seed).choice(X.shape[0], max_rows, replace=False))]
    n = X.shape[0]
    squares, filled, pairs = np.empty(n * (n - 1) // 2), 0, PrototypePairs(X, X)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in pairs.blocks():
            upper = pairs.d2[np.arange(rows.start, rows.stop)[:, None] < np.arange(n)]
            squares[filled : filled + upper.size] = upper
            filled += upper.size
    if not np.isfinite(squares).all():
        raise ValueError(f"X holds entries up to {float(abs(X).max()):.3g}, whose squared distances overflow: scale X.")
    return median_or_mean(squares)


def _pair(X: Any, prototypes: Any) -> tuple[Matrix, Matrix]:
    X, P = float_matrix(X), float_matrix(prototypes, "prototypes")
    if X.shape[1] != P.shape[1]:
        raise ValueError(
            f"prototypes has {P.shape[1]} features, but X has {X.shape[1]}: take both from the same columns."
        )
    if not P.shape[0] or not P.shape[1]:
        raise ValueError(f"prototypes has shape {P.shape}; at least one prototype and one feature are needed.")
    return X, P


def _positive(name: str, value: Any) -> float:
    ok = isinstance(value, int | float | np.number) and not isinstance(value, bool) and 0 < value < np.inf
    if not ok:
        raise ValueError(f"{name}={value!r} is out of range: a finite number above 0 is needed.")
    return float(value)


def _near_squared_distances(X: Matrix, P: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """|x_i - p_j|^2 from the differences, a chunk of pairs at a time."""
    out = np.empty(i.size)
    sparse = sp.issparse(X) and sp.issparse(P)
    width = (X.nnz // X.shape[0] + P.nnz // P.shape[0] + 1) if sparse else X.shape[1]
    step = max(1, PAIR_ENTRIES // width)
    for start in range(0, i.size, step):
        part = slice(start, start + step)
        left, right = X[i[part]].astype(np.float64), P[j[part]].astype(np.float64)
        if not sparse:
            left, right = (m.toarray() if sp.issparse(m) else m for m in (left, right))
        out[part] = row_squares(left - right)
    return out


def checked_relation(R: Any, shape: tuple[int, int], name: str = "kind") -> np.ndarray:
    """The result of a user's function as an array of numbers of this shape; raises if it is not one."""
    R = np.asarray(R)
    if R.shape != shape:
        raise ValueError(
            f"{name} (a function) returned shape {R.shape}; {shape} is needed: return one value per row and prototype."
        )
    if R.dtype.kind not in "fiub" or not np.isfinite(R).all():
        raise ValueError(f"{name} (a function) returned values that are not finite real numbers: check its formula.")
    return R if R.dtype in (np.float32, np.float64) else R.astype(np.float64)


def relation_effects(
    kind: str | Callable[..., np.ndarray], prototypes: Any, weights: np.ndarray, **params: Any
) -> np.ndarray:
    """Effect of each feature on combinations z = relation(x, prototypes) @ weights' of relation features, (k, d). The
    rows x are at most 200 evenly spaced prototypes. If the measure has a derivative (``slopes``), the effect is the
    mean over these rows of the absolute derivative of z by the feature, with the sign of the mean derivative, times the
    standard deviation of the feature over all prototypes: for a linear z it is the weight of the standardised feature.
    Otherwise each feature is permuted among these rows: the effect is the root mean square change of z over the square
    root of 2, with the sign of its covariance with the change of the feature."""
    P = sp.csr_array(prototypes) if sp.issparse(prototypes) else np.asarray(prototypes)
    P = P.astype(np.float64)
    if isinstance(kind, str) and kind in RELATIONS and RELATIONS[kind].slopes is not None:
        return _mean_gradients(kind, P, weights, **params) * column_deviations(P)
    return _permutation_effects(lambda X: relation(kind, X, P, **params) @ weights.T, P, len(weights))


def column_deviations(X: Matrix, weights: np.ndarray | None = None) -> np.ndarray:
    """Standard deviation of each column, (d,), each row as often as it occurs; 0 for a constant one."""
    unit = largest_entry(X) or 1.0
    X = X * (1.0 / unit) if np.isfinite(1.0 / unit) else X
    n = X.shape[0] if weights is None else weights.sum()
    mean = np.asarray(X.mean(axis=0) if weights is None else X.T @ weights / n).reshape(-1)
    if not sp.issparse(X):
        return unit * np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    times = np.ones(X.nnz) if weights is None else np.repeat(weights, np.diff(X.indptr))
    stored = np.bincount(X.indices, times, minlength=X.shape[1])
    squares = np.bincount(X.indices, times * (X.data - mean[X.indices]) ** 2, minlength=X.shape[1])
    return unit * np.sqrt((squares + (n - stored) * mean**2) / n)


def _sample(p: int, products: int) -> np.ndarray:
    """Numbers of the prototypes that serve as rows; the more ``products`` one row takes, the fewer."""
    count = min(p, MOST_ROWS, max(LEAST_ROWS, MOST_PRODUCTS // max(1, products)))
    return np.linspace(0, p - 1, count).astype(np.intp)


def _mean_gradients(kind: str, P: Matrix, weights: np.ndarray, **params: Any) -> np.ndarray:
    """Mean absolute gradient of each combination, (k, d), with the sign of the mean gradient."""
    slopes: Any = RELATIONS[kind].slopes
    rows = P[_sample(P.shape[0], P.shape[0] * P.shape[1])]
    total, absolute = np.zeros((len(weights), P.shape[1])), np.zeros((len(weights), P.shape[1]))
    for part in row_blocks(rows.shape[0], max(P.shape)):
        X = rows[part]
        of_p, of_x = slopes(X, P, relation(kind, X, P, **params), **params)
        for j, w in enumerate(weights):
            gradient = np.asarray((of_p * w) @ P)
            if of_x is not None:
                factor = (of_x @ w)[:, None]
                gradient += X.multiply(factor).toarray() if sp.issparse(X) else factor * X
            total[j] += gradient.sum(axis=0)
            absolute[j] += np.abs(gradient).sum(axis=0)
    return np.where(total < -NEVER_BELOW * absolute, -absolute, absolute) / rows.shape[0]


def _permutation_effects(embed: Callable[[Matrix], np.ndarray], P: Matrix, k: int) -> np.ndarray:
    """Root mean square change of each combination under a permutation of each feature, over sqrt(2), signed."""
    p, d = P.shape
    rows = P[_sample(p, p * d * d)]
    rows = rows.toarray() if sp.issparse(rows) else rows
    before, effects = embed(rows), np.zeros((k, d))
    order = np.random.default_rng(0).permutation(len(rows))
    other = np.empty_like(order)
    other[order] = np.roll(order, 1)  # one cycle: every row gets the value of another row
    for j in range(d):
        step = rows[other, j] - rows[:, j]
        if not step.any():
            continue
        moved = rows.copy()
        moved[:, j] = rows[other, j]
        change = embed(moved) - before
        size = np.sqrt(np.mean(change**2, axis=0) / 2)
        along = (step / np.abs(step).max()) @ change
        effects[:, j] = np.where(along < -NEVER_BELOW * size, -size, size)
    return effects
