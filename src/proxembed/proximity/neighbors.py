"""Neighbors: the K nearest rows of every row, exact by blocks or by a named backend.

In: rows (dense or CSR), or distances. Out: indices and distances, nearest first, ties by (distance, index).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from .backends import approximate_nearest, settled
from .distances import METRICS, check_metric
from .measured import OF_SCIPY, as_cosine, is_measured, nearest_by_blocks
from .search import exact_nearest

EVERY_METRIC = (*METRICS, "correlation", *OF_SCIPY)


@dataclass(frozen=True)
class Neighbors:
    """``index`` and ``distance`` are m x K, nearest first; ``recall`` is the share of neighbours that an approximate
    search found in a sample of rows, None for an exact one; ``algorithm`` names the search that ran, or the class of
    the object that did."""

    index: np.ndarray
    distance: np.ndarray
    recall: float | None = None
    algorithm: str = "exact"

    @property
    def K(self) -> int:
        """Neighbours a row."""
        return self.index.shape[1]


def nearest(
    X: Any, K: int, *, queries: Any = None, metric: Any = "euclidean", algorithm: Any = "exact", exclude: bool = True
) -> Neighbors:
    """The K nearest rows of X for every row of X, its own number left out, or for every row of ``queries``.

    Equal distances go to the lower index; another row at distance 0 is a neighbour. Distances are the same in every bit
    for dense and sparse rows and for any number of threads.

    X: (n, d) array or CSR; n x n distances with metric="precomputed" (queries then m x n). K: 1 to n - 1, or n with
    queries or ``exclude=False``. metric: "euclidean", "cosine" (1 - cos, rounded to 12 decimals; 1 from a row of
    zeros), "correlation" (1 - r likewise, 1 from a row of equal entries), "precomputed", or a name of scipy's cdist
    (``measured.OF_SCIPY``) or a function (Q, X) to m x n, searched exactly; these and correlation need dense rows.
    algorithm: "exact"; "faiss" (all distances in float32), "faiss-ivf" (inverted lists), "faiss-hnsw" (a navigable
    graph) or "pynndescent", which search in float32 and measure exactly what they found; "auto": exact up
    to 10^10 pairs of rows and queries, then pynndescent, or else faiss-hnsw; or an object with fit and transform as
    those of scikit-learn's KNeighborsTransformer. Raises ValueError for a number or a name out of range, for shapes
    that do not fit, for given distances that are not finite and at least 0 and for rows whose distances overflow;
    ImportError for a library that is not installed.

    >>> import numpy as np
    >>> from proxembed.proximity.neighbors import nearest
    >>> found = nearest(np.array([[0.0], [1.0], [3.0], [3.0]]), 2)
    >>> found.index.tolist()
    [[1, 2], [0, 2], [3, 1], [2, 1]]
    >>> found.distance[2].tolist()
    [0.0, 2.0]
    """
    check_any_metric(metric)
    check_shapes(X, queries, metric)
    check_count(K, X.shape[1 if metric == "precomputed" else 0] - (1 if queries is None and exclude else 0))
    queries = None if queries is None else as_cosine(queries, metric)[0]
    X, metric = as_cosine(X, metric)
    if is_measured(metric):
        _refuse_approximation(algorithm, metric)
        return Neighbors(*nearest_by_blocks(X, int(K), queries, metric, exclude))
    algorithm = settled(X, (X if queries is None else queries).shape[0], int(K), metric, algorithm)
    if isinstance(algorithm, str) and algorithm == "exact":
        return Neighbors(*exact_nearest(X, int(K), queries, metric, exclude))
    name = algorithm if isinstance(algorithm, str) else type(algorithm).__name__
    return Neighbors(*approximate_nearest(X, int(K), queries, metric, algorithm, exclude), name)


def _refuse_approximation(algorithm: Any, metric: Any) -> None:
    """A ValueError for an approximate search of a metric that has an exact one alone."""
    if not isinstance(algorithm, str) or algorithm not in ("auto", "exact"):
        raise ValueError(
            f"algorithm={algorithm!r} cannot search metric={metric!r}: what an approximate search finds is measured, "
            "and its recall taken, in the Euclidean distance, cosine or correlation alone. Use algorithm='exact', or "
            "one of these metrics."
        )


def check_any_metric(metric: Any) -> None:
    """A ValueError for what is neither the name of a metric nor a function."""
    if not callable(metric):
        check_metric(metric, EVERY_METRIC)


def check_count(K: Any, most: int, name: str = "K") -> None:
    """A ValueError where K is not a whole number of 1 to ``most``."""
    if isinstance(K, bool) or not isinstance(K, Integral) or not 1 <= int(K) <= most:
        raise ValueError(
            f"{name}={K!r} is not allowed: it must be a whole number from 1 to {most}, as {most} rows can be "
            "neighbours. Ask for fewer neighbours or pass more rows."
        )


def check_shapes(X: Any, queries: Any, metric: Any) -> None:
    """A TypeError or ValueError for distances that are sparse or not square, and for queries of other columns."""
    if metric == "precomputed":
        if sparse.issparse(X) or sparse.issparse(queries):
            raise TypeError(
                'metric="precomputed" needs a dense array of distances; pass X.toarray() where it is small.'
            )
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f'X of {X.shape[0]} x {X.shape[1]} is not allowed with metric="precomputed": it holds the distances '
                "of all pairs of rows, n x n. Pass the square matrix, and for a part of the rows their columns alone."
            )
    if queries is not None and queries.shape[1] != X.shape[1]:
        raise ValueError(
            f"queries have {queries.shape[1]} columns and X has {X.shape[1]}; pass rows with the same columns."
        )
