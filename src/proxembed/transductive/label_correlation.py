"""Sigma: how alike two labels are, from the labelled rows that carry them; c x c, and its Laplacians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import guard_dense

from ..pairs.formulas import gaussian, median_or_mean
from ..params import call_for_array

LABEL_CORRELATIONS = ("cosine", "gaussian", "chen")


def label_correlation(
    Y: sparse.csc_array, kind: str | Callable[..., Any] = "cosine", tau: float | None = None
) -> np.ndarray:
    """Sigma between the columns y_s of the labels of labelled rows, Y (n x c): c x c, symmetric.  [chen2008smse]

    "cosine" y_s'y_t / (|y_s| |y_t|), 0 with a column of zeros and 1 on the diagonal; "gaussian"
    exp(-|y_s - y_t|^2 / tau), tau None: the median over pairs of labels; "chen" exp(-(1 - cosine) / tau), tau None: 1.
    A callable is given Y (CSC of 0 and 1) and gives Sigma; a ValueError is raised where that is not symmetric, finite
    and c x c.

    >>> Y = sparse.csc_array([[1.0, 1.0], [1.0, 0.0]])
    >>> label_correlation(Y).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """
    c = Y.shape[1]
    guard_dense((c, c), "The correlation of labels")
    if callable(kind):
        return _checked(call_for_array("sigma", kind, Y), c)
    gram = (Y.T @ Y).toarray()
    size = np.diag(gram)
    if kind == "gaussian":
        squares = np.maximum(size[:, None] + size - 2.0 * gram, 0.0)
        return gaussian(squares, tau or median_or_mean(squares[np.triu_indices(c, 1)]))
    length = np.sqrt(np.where(size > 0, size, 1.0))
    cosine = np.minimum(gram / length[:, None] / length, 1.0)
    np.fill_diagonal(cosine, 1.0)
    return cosine if kind == "cosine" else np.exp((cosine - 1.0) / (tau or 1.0))


def laplacian(Sigma: np.ndarray, normalized: bool = False) -> np.ndarray:
    """D - Sigma, D the diagonal of row sums, or I - D^-1/2 Sigma D^-1/2.

    >>> laplacian(np.array([[1.0, 0.5], [0.5, 1.0]])).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    degree = Sigma.sum(axis=1)
    if not normalized:
        return np.diag(degree) - Sigma
    if not np.all(degree > 0):
        raise ValueError(
            f"sigma gives labels whose correlations sum to {degree.min():.3g}: a normalised Laplacian needs sums above "
            '0. Use correlations of at least 0, or label_laplacian="standard".'
        )
    root = np.sqrt(degree)
    return np.eye(len(Sigma)) - Sigma / root[:, None] / root


def _checked(Sigma: np.ndarray, c: int) -> np.ndarray:
    if Sigma.shape != (c, c):
        raise ValueError(f"sigma gives an array of shape {Sigma.shape}; {(c, c)} is needed, for all pairs of labels.")
    if not np.isfinite(Sigma).all():
        raise ValueError("sigma gives values that are not finite: set the correlation of unrelated labels to 0.")
    if np.abs(Sigma - Sigma.T).max(initial=0.0) > 1e-10 * max(1.0, np.abs(Sigma).max(initial=0.0)):
        raise ValueError("sigma gives a matrix that is not symmetric; pass (S + S.T) / 2.")
    return (Sigma + Sigma.T) / 2
