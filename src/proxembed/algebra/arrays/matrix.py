"""Rows of a dense or CSR matrix: float copies, blocks, lengths, about their own mean or not, and division."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

BLOCK_ENTRIES = 2**21
EXTREME = 200  # powers of two, either way: the fourth power of what lies between is far from the ends of float64

# An ndarray or a canonical csr_array; scipy.sparse is untyped, and issparse does not narrow a union.
Matrix: TypeAlias = Any


def float_matrix(X: Any, name: str = "X") -> Matrix:
    """X as a 2-D float32 or float64 array, or as a canonical CSR array; the caller's arrays are never written to.

    Examples
    --------
    >>> float_matrix([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimension(s); rows x features (2) are needed: use {name}.reshape(n, d).")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {X.dtype}; real numbers are needed: convert it to float64 first.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices that cut n_rows rows into blocks of at most about ``BLOCK_ENTRIES`` entries.

    Examples
    --------
    >>> list(row_blocks(5, 2**20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, BLOCK_ENTRIES // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def row_squares(X: Matrix) -> np.ndarray:
    """Squared Euclidean length of each row, accumulated in float64; inf where it overflows.

    Examples
    --------
    >>> row_squares(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([25.,  0.])
    """
    with np.errstate(over="ignore", under="ignore"):
        if sp.issparse(X):
            squares = np.square(X.data, dtype=np.float64)
            return sp.csr_array((squares, X.indices, X.indptr), shape=X.shape).sum(axis=1)
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def row_norms(X: Matrix) -> np.ndarray:
    """Euclidean length of each row; rows whose squares under- or overflow are scaled by their largest entry first.

    Examples
    --------
    >>> row_norms(np.array([[3e-200, 4e-200], [0.0, 0.0]]))
    array([5.e-200, 0.e+000])
    """
    squares = row_squares(X)
    norms = np.sqrt(squares)
    extreme = np.flatnonzero((squares < 1e-280) | ~np.isfinite(squares))
    if extreme.size:
        part = X[extreme].astype(np.float64)
        largest = abs(part).max(axis=1)
        largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest).reshape(-1)
        divisor = np.where(largest > 0, largest, 1.0)
        norms[extreme] = largest * np.sqrt(row_squares(divide_rows(part, divisor)))
    return norms


def centred_lengths(X: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each row over all d features, and the length of the centred row (exactly 0 for a constant row).

    Examples
    --------
    >>> centred_lengths(np.array([[1.0, 3.0], [2.0, 2.0]]))
    (array([2., 2.]), array([1.41421356, 0.        ]))
    """
    d = X.shape[1]
    mean = np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1) / d
    largest, smallest = X.max(axis=1), X.min(axis=1)
    if sp.issparse(X):
        largest, smallest = largest.toarray(), smallest.toarray()
        stored = np.diff(X.indptr)
        difference = sp.csr_array((X.data - np.repeat(mean, stored), X.indices, X.indptr), shape=X.shape)
        squares = row_squares(difference) + (d - stored) * mean**2
    else:
        squares = np.empty(X.shape[0])
        for rows in row_blocks(*X.shape):
            squares[rows] = row_squares(X[rows] - mean[rows, None])
    constant = np.asarray(largest).reshape(-1) == np.asarray(smallest).reshape(-1)
    return mean, np.where(constant, 0.0, np.sqrt(squares))


def divide_rows(X: Matrix, divisor: np.ndarray) -> Matrix:
    """A new matrix whose row i is row i of X divided by ``divisor[i]``; sparse stays sparse, the dtype is kept.

    Examples
    --------
    >>> divide_rows(np.array([[2.0, 4.0]]), np.array([2.0]))
    array([[1., 2.]])
    """
    if sp.issparse(X):
        out = X.copy()
        out.data = (X.data / np.repeat(divisor, np.diff(X.indptr))).astype(X.dtype, copy=False)
        return out
    return np.divide(X, divisor[:, None], out=np.empty_like(X), casting="same_kind")


def largest_entry(X: Matrix) -> float:
    """The largest absolute value.

    Examples
    --------
    >>> largest_entry(np.array([[1.0, -3.0]]))
    3.0
    """
    values = X.data[: X.indptr[-1]] if sp.issparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def entry_bounds(X: Matrix) -> tuple[float, float]:
    """Bounds of the largest absolute value by one pass: the root mean square and the root of the sum of squares.

    (0, inf) where these squares under- or overflow, and for entries that are no floats or not finite. Entries of
    sparse X: the stored ones.

    Examples
    --------
    >>> low, high = entry_bounds(np.array([[3.0, -4.0]]))
    >>> round(low, 3), high
    (3.536, 5.0)
    >>> entry_bounds(np.array([[np.nan]]))
    (0.0, inf)
    """
    values = X.data[: X.indptr[-1]] if sp.issparse(X) else X.T if X.flags.f_contiguous else X
    parts = (values[rows].ravel(order="K") for rows in row_blocks(len(values), values.size // max(1, len(values))))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = sum(float(part @ part) for part in parts)
    limits = np.finfo(X.dtype if X.dtype.kind == "f" else np.float64)
    if not limits.tiny * values.size < squares < limits.max or X.dtype.kind != "f":
        return 0.0, np.inf
    return float(np.sqrt(squares / values.size)), float(np.sqrt(squares))


def ordinary(X: Matrix) -> bool:
    """Whether one pass shows that the largest entry lies between 2^-200 and 2^199.

    Examples
    --------
    >>> ordinary(np.array([[3.0, -4.0]])), ordinary(np.zeros((1, 2)))
    (True, False)
    """
    low, high = entry_bounds(X)
    return 2.0**-EXTREME <= low and high <= 2.0 ** (EXTREME - 1)


def unit_of(X: Matrix) -> float:
    """A power of two over which rows of extreme size are taken, so that products of their squares are ordinary
    numbers: the largest entry is then about 2^100 or 2^-100. 1 for entries between 2^-200 and 2^200.

    Examples
    --------
    >>> unit_of(np.array([[1.0, -3.0]])), unit_of(np.array([[2.0**300]])) == 2.0**201
    (1.0, True)
    """
    if X.dtype == np.float32:  # its squares are ordinary numbers of float64
        return 1.0
    if ordinary(X):
        return 1.0
    exponent = int(np.frexp(largest_entry(X))[1])
    return 1.0 if abs(exponent) <= EXTREME else float(2.0 ** (exponent - np.sign(exponent) * EXTREME // 2))


def over(X: Matrix, unit: float) -> Matrix:
    """X / unit for a power of two; X itself for 1."""
    return X if unit == 1.0 else X * (1.0 / unit)
