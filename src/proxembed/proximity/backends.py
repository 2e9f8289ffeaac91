"""Neighbour searches by other libraries, by name or as an object, with the share of neighbours that they found.

In: rows. Out: candidates from faiss, pynndescent or anything with the interface of scikit-learn's
KNeighborsTransformer, measured exactly and put in the order of (distance, index). The two libraries are imported when
asked for.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .distances import canonical, pair_distances
from .search import exact_nearest, rank_in

SAMPLE = 200
EXTRAS = {"faiss": "fast", "pynndescent": "neighbors"}


def approximate_nearest(
    X, K: int, queries, metric: str, algorithm, exclude: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """(index, distance, recall) by a named library or an object with fit and transform."""
    if metric == "precomputed":
        raise ValueError(
            f'metric="precomputed" cannot be searched by algorithm={algorithm!r}; use algorithm="exact" with distances.'
        )
    exclude = exclude and queries is None
    Z = canonical(X, metric)
    Q = Z if queries is None else canonical(queries, metric)
    wanted = min(K + exclude, Z.shape[0])
    if not isinstance(algorithm, str):
        row, column = _by_object(algorithm, X, X if queries is None else queries)
    elif algorithm == "faiss":
        row, column = _by_faiss(Z, Q, wanted)
    elif algorithm == "pynndescent":
        row, column = _by_descent(Z, Q if queries is not None else None, wanted)
    else:
        raise ValueError(
            f'algorithm={algorithm!r} is not known; choose "exact", "faiss", "pynndescent" or pass an object with fit '
            "and transform as those of scikit-learn's KNeighborsTransformer."
        )
    if exclude:
        row, column = row[row != column], column[row != column]
    index, distance = _ordered(row, column, pair_distances(Q, row, Z, column, metric), Q.shape[0], K, algorithm)
    return index, distance, _recall(Z, Q, distance, K, metric, exclude)


def _ordered(row, column, far, m: int, K: int, algorithm) -> tuple[np.ndarray, np.ndarray]:
    """The first K candidates of each row, or an error where a row has fewer."""
    order = np.lexsort((column, far, row))
    row, column, far = row[order], column[order], far[order]
    fewest = int(np.bincount(row, minlength=m).min())
    if fewest < K:
        raise ValueError(
            f"algorithm={algorithm!r} found only {fewest} neighbours of a row, and K={K} are wanted. "
            f"Set its n_neighbors to {K + 1} or more, or use algorithm='exact'."
        )
    first = rank_in(row, m) < K
    return column[first].reshape(m, K).astype(np.intp), far[first].reshape(m, K)


def _recall(Z, Q, distance: np.ndarray, K: int, metric: str, exclude: bool) -> float:
    """The share of the K nearest that was found, for a sample of rows; ties count as found."""
    m = Q.shape[0]
    chosen = np.sort(np.random.default_rng(0).choice(m, size=min(m, SAMPLE), replace=False))
    index, exact = exact_nearest(Z, K + exclude, Q[chosen], metric, False)
    if exclude:
        other = np.argsort(index == chosen[:, None], axis=1, kind="stable")[:, :K]
        exact = np.take_along_axis(exact, other, axis=1)
    return float(np.mean(distance[chosen] <= exact[:, -1:]))


def _by_object(transformer, X, Q) -> tuple[np.ndarray, np.ndarray]:
    """Candidates from a graph of neighbours; entries that are stored as zero are neighbours too."""
    if not (hasattr(transformer, "fit") and hasattr(transformer, "transform")):
        raise TypeError(
            f"algorithm={transformer!r} has no fit and transform; pass a name, or an object with the interface of "
            "scikit-learn's KNeighborsTransformer."
        )
    graph = (clone(transformer) if hasattr(transformer, "get_params") else transformer).fit(X).transform(Q)
    if not sparse.issparse(graph) or graph.shape != (Q.shape[0], X.shape[0]):
        raise ValueError(
            f"algorithm={transformer!r} must transform {Q.shape[0]} rows into a sparse {Q.shape[0]} x {X.shape[0]} "
            "graph of neighbours."
        )
    graph = graph.tocsr()
    return np.repeat(np.arange(Q.shape[0]), np.diff(graph.indptr)), graph.indices.astype(np.intp)


def _by_faiss(Z, Q, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    faiss = _library("faiss")
    if sparse.issparse(Z):
        raise ValueError('algorithm="faiss" needs dense rows; use "exact" or "pynndescent" for sparse ones.')
    index = faiss.IndexFlatL2(Z.shape[1])
    index.add(np.ascontiguousarray(Z, dtype=np.float32))
    return _entries(index.search(np.ascontiguousarray(Q, dtype=np.float32), wanted)[1])


def _by_descent(Z, Q, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows stand for the cosine, so that the metric is Euclidean."""
    found = _library("pynndescent").NNDescent(Z, metric="euclidean", n_neighbors=wanted, random_state=0)
    return _entries(found.neighbor_graph[0] if Q is None else found.query(Q, k=wanted)[0])


def _entries(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A table of neighbours as pairs; -1 stands for none."""
    row, place = np.nonzero(np.asarray(index) >= 0)
    return row, np.asarray(index)[row, place].astype(np.intp)


def _library(name: str):
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f'algorithm="{name}" needs a library that is not installed: pip install "proxembed[{EXTRAS[name]}]", '
            'or use algorithm="exact".'
        ) from error
