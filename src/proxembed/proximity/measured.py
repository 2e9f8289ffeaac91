"""Distances that are not sums of squares: those of scipy and of functions by blocks of rows, correlation as a cosine.

In: dense rows and a distance, by name or as a function (Q, X) of m and n rows, to m x n. Out: all distances of a block
of rows, neighbours by sorting them, and the pairs within a distance; (distance, index) orders neighbours as in every
search. All searches here are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from proxembed.algebra.arrays.matrix import centred_lengths, guard_dense, row_blocks

from ..params import call_for_array
from .search import Lists, given_lists

OF_BITS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
OF_SCIPY = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "dice", "hamming", "jaccard", "jensenshannon", "rogerstanimoto",
    "russellrao", "sokalsneath", "sqeuclidean", "yule",
)  # fmt: skip
NONE_SHARED = ("braycurtis", "dice", "sokalsneath")  # 0/0 for two rows of zeros
BOTH_WAYS = 64  # rows of a block whose distances by a function are also taken the other way
UNEQUAL = 1e-8  # of the largest distance


def is_measured(metric: Any) -> bool:
    """Whether a distance is one of scipy's or a function."""
    return callable(metric) or metric in OF_SCIPY


def dense_rows(X: Any, metric: Any) -> np.ndarray:
    """The rows as float64; a ValueError where the distance is not defined for them."""
    if sparse.issparse(X):
        raise ValueError(
            f"metric={metric!r} needs dense rows, and X is sparse: pass X.toarray() where it is small, or use "
            '"euclidean" or "cosine".'
        )
    X = np.asarray(X, dtype=np.float64)
    if metric in OF_BITS and not np.all((X == 0.0) | (X == 1.0)):
        raise ValueError(
            f"metric={metric!r} compares rows of 0 and 1, and X holds other values. Pass (X > 0) * 1.0, or use another "
            'metric, such as "cityblock".'
        )
    return X


def centred_rows(X: Any) -> np.ndarray:
    """Rows less their own mean, whose cosine is the correlation; rows of equal entries become 0."""
    X = dense_rows(X, "correlation")
    mean, length = centred_lengths(X)
    return np.where(length[:, None] > 0.0, X - mean[:, None], 0.0)


def as_cosine(X: Any, metric: Any) -> tuple[Any, Any]:
    """The rows and the metric, of the correlation as a cosine of rows less their means; others as they are."""
    return (centred_rows(X), "cosine") if metric == "correlation" else (X, metric)


def distance_blocks(Q: np.ndarray, X: np.ndarray, metric: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of the rows of Q with their distances to all rows of X, both from ``dense_rows``; two rows of zeros are at
    distance 0.
    """
    for part in row_blocks(len(Q), len(X)):
        if callable(metric):
            D = _by_function(metric, Q[part], X)
        else:
            with np.errstate(all="ignore"):
                D = cdist(Q[part], X, metric)
        if metric in NONE_SHARED:
            D[np.isnan(D)] = 0.0
        wrong = ~np.isfinite(D)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"metric={metric!r} gives {D[i, j]} for two rows of X, the first number {part.start + i}: it is not "
                "defined for these. Leave out such rows, or use another metric."
            )
        yield part, np.maximum(D, 0.0)


def _by_function(metric: Callable[..., Any], Q: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The distances that a function gives; a ValueError where they are below 0, or others from X to Q."""
    D = call_for_array("metric", metric, Q, X)
    if D.shape != (len(Q), len(X)):
        raise ValueError(
            f"metric={metric!r} must return the distances of {len(Q)} rows to {len(X)}, an array of shape "
            f"{(len(Q), len(X))}; it returned one of shape {D.shape}."
        )
    tolerance = UNEQUAL * np.abs(D).max(initial=0.0)
    if (D < -tolerance).any():
        raise ValueError(f"metric={metric!r} gives {D.min():.3g}; distances are at least 0. Pass a function of those.")
    q, x = Q[:BOTH_WAYS], X[:BOTH_WAYS]
    with np.errstate(invalid="ignore"):  # of infinite ones, which are refused later
        gap = np.abs(D[: len(q), : len(x)] - call_for_array("metric", metric, x, q).T).max(initial=0.0)
    if gap > tolerance:
        raise ValueError(
            f"metric={metric!r} gives distances that differ by up to {gap:.3g} from those the other way; it must be "
            "symmetric. Pass the mean of both ways."
        )
    return D


def all_distances(X: Any, metric: Any) -> np.ndarray:
    """The distances of all rows, n x n, symmetric in every bit."""
    Z = dense_rows(X, metric)
    guard_dense((len(Z), len(Z)), "The distances of all rows")
    D = np.concatenate([block for _, block in distance_blocks(Z, Z, metric)])
    return (D + D.T) / 2.0 if callable(metric) else D


def nearest_by_blocks(X: Any, K: int, queries: Any, metric: Any, exclude: bool) -> tuple[np.ndarray, np.ndarray]:
    """(index, distance), m x K: the K nearest rows of X for every row of X, itself left out where ``exclude``, or for
    every query.
    """
    Z = dense_rows(X, metric)
    Q = Z if queries is None else dense_rows(queries, metric)
    index, distance = np.empty((len(Q), K), dtype=np.intp), np.empty((len(Q), K))
    for part, D in distance_blocks(Q, Z, metric):
        if queries is None and exclude:
            D[np.arange(len(D)), np.arange(part.start, part.stop)] = np.inf
        index[part], distance[part] = given_lists(D, Lists(np.arange(len(D))), K, exclude=False)
    return index, distance


def pairs_within(X: Any, eps: float, metric: Any, queries: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, distance) of all rows i, of X or of ``queries``, and rows j of X at a distance of at most ``eps``; ordered
    by i, then j, without i = j where there are no queries.
    """
    Z = dense_rows(X, metric)
    found = [(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))]
    for part, D in distance_blocks(Z if queries is None else dense_rows(queries, metric), Z, metric):
        if queries is None:
            D[np.arange(len(D)), np.arange(part.start, part.stop)] = np.inf
        i, j = np.nonzero(D <= eps)
        found.append((i + part.start, j, D[i, j]))
    i, j, distance = (np.concatenate(column) for column in zip(*found, strict=True))
    return i, j, distance
