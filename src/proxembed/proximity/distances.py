"""Distances of pairs of rows: exact, the same bits for dense and sparse rows and for any order of the features.

In: rows as an array or CSR and two index vectors. Out: one distance a pair. Terms are split on two fixed grids on which
additions are exact, so that sums do not depend on their order, and ties are ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

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
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    else:
        X = np.asarray(X)
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
    """Distance of row i[t] of A and row j[t] of B for every t, by blocks; A and B come from ``canonical``.

    The Euclidean distance; for the cosine 1 - cos of unit rows, rounded to 12 decimals. Raises ValueError where a
    distance is beyond the largest number.
    """
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
