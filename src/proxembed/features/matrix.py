"""Checked float matrices, row lengths and row blocks: the little arithmetic that scalings and relations share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

BLOCK_ENTRIES = 2**21

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


def check_params(kind: str, function: Callable[..., Any], params: dict[str, Any]) -> None:
    """Refuse parameters that the function of this kind does not take, and the absence of those it needs.

    Examples
    --------
    >>> check_params("gaussian", lambda X, *, tau: X, {"tau": 1.0})
    """
    known = {k: v for k, v in inspect.signature(function).parameters.items() if v.kind is v.KEYWORD_ONLY}
    for name in params:
        if name not in known:
            allowed = ", ".join(known) or "no parameter"
            raise ValueError(f"{name}={params[name]!r} is not a parameter of kind {kind!r}, which takes: {allowed}.")
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in params:
            raise ValueError(f"kind {kind!r} needs the parameter {name}: pass {name}=...")
