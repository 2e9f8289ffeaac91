"""Distances of pairs of rows: exact, the same bits for dense and sparse rows and for any order of the features.

In: rows as an array or CSR and two index vectors. Out: one distance a pair. Terms are split on two fixed grids on which
additions are exact, so that sums do not depend on their order, and ties are ties.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import canonical_csr, row_squares

METRICS = ("euclidean", "cosine", "precomputed")
DIGITS = 12
ENTRIES = 1 << 15
HUGE = 2.0**480


def check_metric(metric: str, allowed: tuple[str, ...] = METRICS) -> None:
    """A ValueError for a metric that is not known."""
    if metric not in allowed:
        raise ValueError(f"metric={metric!r} is not known; choose one of {', '.join(allowed)}.")


def check_distances(D: Any, name: str = "X") -> np.ndarray:
    """The distances of metric="precomputed" as an array; a ValueError where one is not finite or below 0."""
    D = np.asarray(D)
    for start in range(0, D.shape[0], step := max(1, ENTRIES * 8 // max(1, D.shape[1]))):
        part = D[start : start + step]
        wrong = ~((part >= 0.0) & (part < np.inf))
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f'{name}[{start + i}, {j}] = {part[i, j]} is not allowed with metric="precomputed": distances are '
                "finite and at least 0. Replace absent ones by a large distance, or leave such rows out."
            )
    return D


def canonical(X: Any, metric: str = "euclidean") -> Any:
    """Rows as distances use them: an array or canonical CSR; for the cosine unit rows (zero rows stay zero)."""
    check_metric(metric)
    X = canonical_csr(X) if sparse.issparse(X) else np.asarray(X)
    if metric != "cosine":
        return X
    X = moderate(X)
    norms = np.sqrt(squared_norms(X))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.diags_array(scale) @ X.astype(np.float64))
    return X * scale[:, None]


def moderate(X: Any) -> Any:
    """Rows whose squares would overflow or underflow over a power of two each, the others as they are."""
    power = extreme_powers(_row_maxima(np.abs(X.data if sparse.issparse(X) else X), X))
    if power is None:
        return X
    if not sparse.issparse(X):
        return np.ldexp(np.asarray(X, dtype=np.float64), -power[:, None])
    data = np.ldexp(X.data.astype(np.float64), -np.repeat(power, np.diff(X.indptr)))
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def extreme_powers(top: np.ndarray) -> np.ndarray | None:
    """Powers of two of the values whose squares leave the range of numbers, 0 for others; None without such values."""
    top = np.asarray(top, dtype=np.float64)
    far = (top > HUGE) | ((top < 1.0 / HUGE) & (top > 0.0))
    return np.where(far, np.frexp(top)[1], 0) if far.any() else None


def squared_norms(X: Any) -> np.ndarray:
    """Squared norms of the rows, (n,), summed as distances are; not finite where they overflow."""
    out = np.empty(X.shape[0])
    step = _rows_a_block(X)
    for start in range(0, len(out), step):
        with np.errstate(over="ignore", invalid="ignore"):
            out[start : start + step] = exact_sums(_squared(X[start : start + step].astype(np.float64)))
    return out


def pair_distances(A: Any, i: np.ndarray, B: Any, j: np.ndarray, metric: str = "euclidean") -> np.ndarray:
    """Distance of row i[t] of A and row j[t] of B for every t, by blocks; A and B come from ``canonical``. The
    Euclidean distance; for the cosine 1 - cos of unit rows, rounded to 12 decimals. Raises ValueError where a distance
    is beyond the largest number."""
    out = np.empty(len(i))
    step = min(_rows_a_block(A), _rows_a_block(B))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        out[part] = _block(A[i[part]], B[j[part]], metric)
    return checked(out)


def checked(distance: np.ndarray) -> np.ndarray:
    """The distances, or a ValueError where one is beyond the largest number."""
    if not np.isfinite(distance).all():
        raise ValueError("The distances of some rows of X overflow: scale X, such as by its largest absolute value.")
    return distance


def exact_sums(terms: Any) -> np.ndarray:
    """Row sums of an array or CSR, float64: exact to about twice the working precision, whatever the order of terms."""
    ragged = sparse.issparse(terms)
    values = terms.data if ragged else terms
    counts = np.diff(terms.indptr) if ragged else np.array(terms.shape[1])
    _, top = np.frexp(_row_maxima(np.abs(values), terms))
    top = np.repeat(top, counts) if ragged else top[:, None]
    width = int(terms.shape[1]).bit_length()
    coarse, fine = (np.ldexp(1.5, top + shift) for shift in (width + 1, 2 * width - 51))
    high = (values + coarse) - coarse
    low = (values - high + fine) - fine
    if not ragged:
        return high.sum(axis=1) + low.sum(axis=1)
    row = np.repeat(np.arange(terms.shape[0]), counts)
    return np.bincount(row, high, terms.shape[0]) + np.bincount(row, low, terms.shape[0])


def _row_maxima(values: np.ndarray, terms: Any) -> np.ndarray:
    if not sparse.issparse(terms):
        return values.max(axis=1, initial=0.0)
    out = np.zeros(terms.shape[0])
    filled = np.flatnonzero(np.diff(terms.indptr))
    if len(filled):
        out[filled] = np.maximum.reduceat(values, terms.indptr[filled])
    return out


def _block(left: Any, right: Any, metric: str) -> np.ndarray:
    if sparse.issparse(left) != sparse.issparse(right):
        left, right = (M.toarray() if sparse.issparse(M) else M for M in (left, right))
    if metric == "cosine":
        terms = sparse.csr_array(left.multiply(right)) if sparse.issparse(left) else left * right
        return np.maximum(np.round(1.0 - exact_sums(terms), DIGITS), 0.0)
    with np.errstate(over="ignore"):
        if sparse.issparse(left):
            terms = sparse.csr_array(left.astype(np.float64) - right.astype(np.float64))
        else:
            terms = np.subtract(left, right, dtype=np.float64)
    top = _row_maxima(np.abs(terms.data if sparse.issparse(terms) else terms), terms)
    power = extreme_powers(top)
    if power is None:
        return np.sqrt(exact_sums(_squared(terms)))
    if not np.isfinite(top).all():
        return top
    with np.errstate(over="ignore"):
        return np.ldexp(np.sqrt(exact_sums(_squared(moderate(terms)))), power)


def _squared(terms: Any) -> Any:
    """The squares of the entries, in place."""
    values = terms.data if sparse.issparse(terms) else terms
    values *= values
    return terms


def _rows_a_block(X: Any) -> int:
    width = max(1, -(-X.nnz // max(1, X.shape[0]))) if sparse.issparse(X) else max(1, X.shape[1])
    return max(16, ENTRIES // width)


BLOCK = 1024
RARE = 0.05
FEW_RARE = 32
KEPT_BYTES = 256 << 20
EXACT = 2.0**22
PROBES = 32
TINY = 1e-30
NEAR = 1e-14
STEP = 10.0**-DIGITS
LARGE = 2.0**900
LIFT = 1000


@dataclass(frozen=True)
class TilePlan:
    """How rows become factors: the frequent columns (None: all), their mean, a power of two, and the precision.
    ``slack`` is c in |tile - d^2| <= c (n_i + n_j), n the squared norms of the factors; 0 where tiles are exact, which
    are squared distances of the rows over ``unit``. ``extra`` is the part of the slack that is for rounded cosines."""

    frequent: np.ndarray | None
    mean: np.ndarray | None
    factor: float
    dtype: type
    slack: float
    cosine: bool
    unit: float = 1.0
    extra: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether tiles are squared distances without any error."""
        return self.slack == 0.0


class Side:
    """The rows of one side of the tiles, in blocks of ``BLOCK`` in the given order."""

    def __init__(self, X: Any, order: np.ndarray, plan: TilePlan):
        self.X, self.order, self.plan = X, order, plan
        self.blocks = [slice(start, min(start + BLOCK, len(order))) for start in range(0, len(order), BLOCK)]
        width = (X.shape[1] if plan.frequent is None else len(plan.frequent)) + 2
        self.size = np.empty(len(order))
        keep = len(order) * width * np.dtype(plan.dtype).itemsize <= KEPT_BYTES
        self.kept = np.empty((len(order), width), dtype=plan.dtype) if keep else None
        self.rare: list[Any] = [None] * len(self.blocks)
        for b, part in enumerate(self.blocks):
            made, rare = self._computed_tile(part)
            self.rare[b] = None if rare is None else (rare, sparse.csr_array(rare.T))
            if self.kept is not None:
                self.kept[part] = made

    def rows(self, b: int) -> np.ndarray:
        """The numbers of the rows of a block."""
        return self.order[self.blocks[b]]

    def sizes(self, b: int) -> np.ndarray:
        """The squared norms of a block."""
        return self.size[self.blocks[b]]

    def left(self, b: int) -> np.ndarray:
        """[x, |x|^2, 1] of a block, less what rounding may add to the tile."""
        return self._computed_tile(self.blocks[b])[0] if self.kept is None else self.kept[self.blocks[b]]

    def right(self, b: int) -> np.ndarray:
        """[-2x, 1, |x|^2] of a block."""
        made = np.array(self.left(b))
        made[:, :-2] *= -2.0
        made[:, -2:] = made[:, :-3:-1]
        return made

    def _computed_tile(self, part: slice) -> tuple[np.ndarray, sparse.csr_array | None]:
        plan, rows, rare = self.plan, self.X[self.order[part]], None
        if plan.frequent is not None:
            other = np.ones(rows.shape[1], dtype=bool)
            other[plan.frequent] = False
            rare = sparse.csr_array(rows[:, np.flatnonzero(other)], dtype=np.float64)
            rare = rare * plan.factor if plan.unit == 1.0 else rare / plan.unit
            rows = rows[:, plan.frequent]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        rows = np.asarray(rows, dtype=np.float64) if plan.mean is None else rows - plan.mean
        rows = rows * plan.factor if plan.unit == 1.0 else rows / plan.unit
        if plan.cosine:
            size = np.ones(len(rows))
        else:
            size = np.einsum("ij,ij->i", rows, rows) + (0.0 if rare is None else (rare * rare).sum(axis=1))
        self.size[part] = size
        made = np.empty((len(rows), rows.shape[1] + 2), dtype=plan.dtype)
        made[:, :-2] = rows
        made[:, -2] = size if plan.exact else size * (1.0 - plan.slack) - TINY
        made[:, -1] = 1.0
        return made, None if rare is None else rare.astype(plan.dtype)


def tile(left: Side, a: int, right: Side, b: int) -> np.ndarray:
    """Lower bounds of the squared distances of block a of the one side and block b of the other, exact where the plan
    says so."""
    D = left.left(a) @ right.right(b).T
    if left.rare[a] is not None:
        product = left.rare[a][0] @ right.rare[b][1]
        rows = np.repeat(np.arange(product.shape[0]) * D.shape[1], np.diff(product.indptr))
        D.reshape(-1)[rows + product.indices] -= 2.0 * product.data
    return D


def width_of(plan: TilePlan, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """What to add to lower bounds for upper bounds, from the squared norms of both rows."""
    return 2.0 * plan.slack * (left + right) + (0.0 if plan.exact else 4.0 * TINY)


def bounds_of(plan: TilePlan, far: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lower, upper, below) of known distances, in the units of the tiles: a row at such a distance or nearer has a
    lower bound up to ``upper``, a nearer row one up to ``below``."""
    if plan.cosine:
        value, room = 2.0 * far, np.full(len(far), 2.0 * STEP)
    else:
        value = (far * plan.factor) ** 2
        room = value * NEAR + 4.0 * TINY
    below = value - STEP - 2.0 * plan.extra + NEAR if plan.extra else value + room
    return value - room, value + room, below


def rounded_cosines(plan: TilePlan, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distance, sure): rounded cosine distances, sure where all that is within the bounds rounds to the same."""
    if not plan.extra:
        return np.empty(len(lower)), np.zeros(len(lower), dtype=bool)
    middle, error = (lower + upper) / 4.0, plan.slack - plan.extra + NEAR
    near, far = np.round(middle - error, DIGITS), np.round(middle + error, DIGITS)
    return np.maximum(far, 0.0), near == far


def lengths_of(plan: TilePlan, squares: np.ndarray) -> np.ndarray:
    """The distances of exact tiles, in every bit those that ``pair_distances`` finds."""
    if plan.unit == 1.0:
        return np.sqrt(squares)
    part, power = np.frexp(plan.unit)
    with np.errstate(over="ignore"):
        return checked(np.ldexp(np.sqrt(squares * (part * part)), power))


def plan_tiles(X: Any, others: list[Any], K: int, metric: str) -> TilePlan:
    """The plan for rows X searched by themselves and by ``others``."""
    cosine = metric == "cosine"
    frequent = _frequent(X)
    parts = (X, *others)
    values = [Z.data if sparse.issparse(Z) else Z for Z in parts]
    top = max(float(np.max(np.abs(part), initial=0.0)) for part in values)
    unit = None if cosine else _unit(values, top)
    if unit and max(float(_squares(Z, unit).max(initial=0.0)) for Z in parts) <= EXACT:
        return TilePlan(frequent, None, 1.0, np.float32, 0.0, False, unit)
    longest = 0 if frequent is None else max(_longest(Z) for Z in parts)
    mean = None if cosine or top > LARGE else _mean(X, frequent)
    factor = 1.0 if cosine or top == 0.0 else float(np.ldexp(1.0, min(LIFT, -int(np.frexp(top)[1]))))
    terms = (X.shape[1] if frequent is None else len(frequent)) + longest + 16
    plans = [
        TilePlan(frequent, mean, factor, dtype, terms * float(np.finfo(dtype).eps) + extra, cosine, extra=extra)
        for dtype, extra in ((np.float32, 0.0), (np.float64, 2.0 * STEP if cosine else 0.0))
    ]
    small = X.shape[0] <= 2 * BLOCK
    return plans[1] if small or plans[0].slack > 0.02 or not _clear(X, plans[0], K) else plans[0]


def _unit(values: list[Any], top: float) -> float | None:
    """1 where all values are whole numbers, c where all are 0, c or -c: sums of squares are then exact; else None."""
    if top < EXACT and all(_in_parts(part, lambda v: v == np.rint(v)) for part in values):
        return 1.0
    if top > 0.0 and all(_in_parts(part, lambda v: (v == 0.0) | (np.abs(v) == top)) for part in values):
        return top
    return None


def _clear(X: Any, plan: TilePlan, K: int) -> bool:
    """Whether few rows are within the error of the K-th neighbour, for some rows spread over X."""
    n = X.shape[0]
    chosen = np.unique(np.linspace(0, n - 1, min(n, PROBES, BLOCK)).astype(np.intp))
    side, probes = Side(X, np.arange(n), plan), Side(X, chosen, plan)
    D = np.hstack([tile(probes, 0, side, b) for b in range(len(side.blocks))])
    upper = D + width_of(plan, probes.size[:, None], side.size[None, :])
    rank = min(K, n - 1)
    tau = np.partition(upper, rank, axis=1)[:, rank]
    return bool(np.mean((tau[:, None] >= D).sum(axis=1)) <= 3 * (K + 1) + 64)


def _frequent(X: Any) -> np.ndarray | None:
    """The columns that are not zero in a fair share of the rows; None where (nearly) all are."""
    n, d = X.shape
    if sparse.issparse(X):
        counts = np.bincount(X.indices, minlength=d)
    elif d < FEW_RARE:
        return None
    else:
        counts = np.sum([np.count_nonzero(X[start : start + BLOCK], axis=0) for start in range(0, n, BLOCK)], axis=0)
    frequent = np.flatnonzero(counts >= RARE * n)
    return None if d - len(frequent) < FEW_RARE else frequent


def _mean(X: Any, frequent: np.ndarray | None) -> np.ndarray:
    total = np.zeros(X.shape[1])
    for start in range(0, X.shape[0], BLOCK):
        total += np.asarray(X[start : start + BLOCK].sum(axis=0, dtype=np.float64)).ravel()
    mean = total / X.shape[0]
    return mean if frequent is None else mean[frequent]


def _in_parts(values: np.ndarray, holds: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether something holds for all values, asked part by part."""
    values = values.reshape(-1) if values.flags.c_contiguous else values
    step = 1 << 18 if values.ndim == 1 else max(1, (1 << 18) // max(1, values.shape[1]))
    return all(bool(np.all(holds(values[s : s + step]))) for s in range(0, len(values), step))


def _squares(X: Any, unit: float) -> np.ndarray:
    """Squared norms of rows of whole multiples of the unit."""
    if sparse.issparse(X):
        data = X.data.astype(np.float64) / unit
        return exact_sums(sparse.csr_array((data * data, X.indices, X.indptr), shape=X.shape))
    if unit != 1.0:
        return np.count_nonzero(X, axis=1).astype(np.float64)
    return row_squares(X)


def _longest(X: Any) -> int:
    return int(np.diff(X.indptr).max(initial=0)) if sparse.issparse(X) else X.shape[1]
