"""What differs between selected rows and the others: an effect and a p of each column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import fisher_exact, norm, rankdata

CHUNK = 1 << 22  # entries that are ranked at a time


class Differences(NamedTuple):
    """Of each column, (d,) each: the means of the rows ``inside`` and ``outside`` a selection, the ``effect`` and its
    ``p``. NaN where a side has no known value."""

    inside: np.ndarray
    outside: np.ndarray
    effect: np.ndarray
    p: np.ndarray


def differences(X: Any, selected: np.ndarray) -> Differences:
    """What differs between the ``selected`` rows (n,) of X (n, d), an array or CSR, and the others. NaN is unknown.

    The effect is Cliff's delta [cliff1993dominance]: the share of pairs of a row inside and one outside in which the
    one inside has the larger value, less the share in which it has the smaller one, from -1 to 1. Of two values it is
    the difference of their shares, and p is that of Fisher's exact test, else of the rank sum test [mann1947test] by
    the normal approximation with ties and a correction for continuity."""
    n, d = X.shape
    out = np.full((4, d), np.nan)
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        for j in range(d):
            part = slice(X.indptr[j], X.indptr[j + 1])
            values, rows = X.data[part].astype(np.float64), X.indices[part]
            out[:, j] = _of_sparse(values[values != 0], selected[rows[values != 0]], selected)
        return Differences(*out)
    step = max(1, CHUNK // max(n, 1))
    for start in range(0, d, step):
        block = np.asarray(X[:, start : start + step], dtype=np.float64)
        known = ~np.isnan(block)
        whole = known.all(axis=0)
        out[:, start : start + step][:, whole] = _of_known(block[:, whole], selected)
        for at in np.flatnonzero(~whole):
            rows = known[:, at]
            out[:, start + at] = _of_known(block[rows, at][:, None], selected[rows])[:, 0]
    return Differences(*out)


def _of_known(X: np.ndarray, selected: np.ndarray) -> np.ndarray:
    """The four rows of ``Differences`` of columns without unknown cells."""
    n, m = len(X), int(np.count_nonzero(selected))
    if not 0 < m < n:
        return np.full((4, X.shape[1]), np.nan)
    ranks = rankdata(X, axis=0)
    effect, p = _rank_sums(ranks[selected].sum(axis=0), np.sum((ranks - (n + 1) / 2) ** 2, axis=0), n, m)
    low, high = X.min(axis=0), X.max(axis=0)
    for j in np.flatnonzero(np.all((X == low) | (X == high), axis=0) & (low < high)):
        has = X[:, j] == high[j]
        p[j] = _exact(has[selected].sum(), has.sum(), m, n)
    return np.array([X[selected].mean(axis=0), X[~selected].mean(axis=0), effect, p])


def _of_sparse(values: np.ndarray, inside: np.ndarray, selected: np.ndarray) -> tuple[float, float, float, float]:
    """The same of one column by its entries other than 0, and whether these are ``inside``."""
    n, m = len(selected), int(np.count_nonzero(selected))
    if not 0 < m < n:
        return (np.nan,) * 4
    zeros, below = n - len(values), np.count_nonzero(values < 0)
    ranks = rankdata(values)
    ranks = np.where(values > 0, ranks + zeros, ranks)
    at_zero = below + (zeros + 1) / 2
    total = float(ranks[inside].sum()) + (m - np.count_nonzero(inside)) * at_zero
    spread = float(np.sum((ranks - (n + 1) / 2) ** 2)) + zeros * (at_zero - (n + 1) / 2) ** 2
    effect, p = _rank_sums(np.array([total]), np.array([spread]), n, m)
    if zeros and len(values) and np.ptp(values) == 0:
        p[0] = _exact(inside.sum(), len(values), m, n)
    means = float(values[inside].sum()) / m, float(values[~inside].sum()) / (n - m)
    return *means, float(effect[0]), float(p[0])


def _rank_sums(total: np.ndarray, spread: np.ndarray, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Effect and p of columns by the sum of the ranks of m of n rows, and the scatter of all ranks."""
    pairs = m * (n - m)
    U = total - m * (m + 1) / 2
    deviation = np.sqrt(pairs * spread / (n * (n - 1)))
    far = np.maximum(np.abs(U - pairs / 2) - 0.5, 0.0)
    z = np.divide(far, deviation, out=np.zeros_like(far), where=deviation > 0)
    return 2 * U / pairs - 1, 2 * norm.sf(z)


def _exact(inside: Any, both: Any, m: int, n: int) -> float:
    """p of Fisher's exact test: ``inside`` of m selected rows of n have what ``both`` rows have."""
    table = [[inside, m - inside], [both - inside, n - m - both + inside]]
    return float(fisher_exact(table).pvalue)
