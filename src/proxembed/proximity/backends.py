"""Neighbour searches by other libraries, by name or as an object, with the share of neighbours that they found.

In: rows. Out: candidates from faiss, pynndescent or anything with the interface of scikit-learn's
KNeighborsTransformer, measured exactly and put in the order of (distance, index). The two libraries are imported when
asked for, and search rows in float32.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from proxembed.algebra.arrays.blas import in_threads
from proxembed.execute.configuration import own_configuration

from .distances import canonical, pair_distances
from .libraries import InvertedLists, by_descent, by_hnsw, one_at_a_time, single
from .search import exact_nearest, queried, rank_in
from .trees import suits_tree

SAMPLE = 200
EXTRAS = {"faiss": "fast", "faiss-ivf": "fast", "faiss-hnsw": "fast", "pynndescent": "neighbors"}
ALGORITHMS = ("auto", "exact", *EXTRAS)
EXACT_PAIRS = 10**10  # of rows and queries: those of 100,000 rows among themselves
FEW_ROWS = 2048  # an index costs more than their exact search
MEASURED = 4096


def settled(X: Any, m: int, K: int, metric: Any, algorithm: Any, labelled: bool = False) -> Any:
    """The algorithm that searches m lists of K among the rows of X: ``algorithm``, or what "auto" stands for.

    "auto" is the exact search up to 10^10 pairs and where a tree serves; beyond it pynndescent, or else HNSW of faiss,
    and for lists that depend on labels (``labelled``) inverted lists of faiss, or else pynndescent. Without these
    libraries the search is exact, with a warning.
    """
    if not isinstance(algorithm, str) or algorithm != "auto":
        return algorithm
    if metric == "precomputed" or m * X.shape[0] <= EXACT_PAIRS or suits_tree(X, K, metric):
        return "exact"
    wanted = ("faiss-ivf", "pynndescent") if labelled else ("pynndescent", "faiss-hnsw")
    for name in wanted:
        if find_spec(_package(name)) and not (sparse.issparse(X) and name != "pynndescent"):
            return name
    warnings.warn(
        f"algorithm='auto' searches the neighbours of {m:,} rows among {X.shape[0]:,} exactly, as no library for an "
        'approximate search is installed: pip install "proxembed[fast,neighbors]", or accept it by algorithm="exact".',
        UserWarning,
        stacklevel=3,
    )
    return "exact"


def approximate_nearest(
    X: Any, K: int, queries: Any, metric: str, algorithm: Any, exclude: bool
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
    if isinstance(algorithm, str):
        check_library(algorithm, Z)
        if Z.shape[0] <= FEW_ROWS:
            return *exact_nearest(X, K, queries, metric, exclude), 1.0
        near = _by_name(algorithm, Z, None if queries is None else Q, wanted)
    else:
        near = _by_object(algorithm, X, X if queries is None else queries)
    index, distance = measured(Q, Z, near, K, metric, np.arange(Q.shape[0]) if exclude else None)
    lacking = np.flatnonzero(index[:, -1] < 0)
    if len(lacking) and not isinstance(algorithm, str):
        raise ValueError(
            f"algorithm={algorithm!r} found only {int((index[lacking] >= 0).sum(axis=1).min())} neighbours of a row, "
            f"and K={K} are wanted. Set its n_neighbors to {K + 1} or more, or use algorithm='exact'."
        )
    if len(lacking):
        index[lacking], distance[lacking] = queried(Z, Q[lacking], K, metric, lacking if exclude else None)
    return index, distance, _recall(Z, Q, distance, K, metric, exclude)


def measured(
    Q: Any, Z: Any, near: np.ndarray, K: int, metric: str, own: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The K nearest of each row's candidates, by (distance, index); -1 and infinity where there are fewer.

    near: an (m, w) table of rows of Z, -1 for none. own: the number among Z of each row of Q, which is left out.
    """
    m, width = near.shape
    index, distance = np.full((m, K), -1, dtype=np.intp), np.full((m, K), np.inf)

    def work(part: slice) -> None:
        some = near[part]
        rows = np.repeat(np.arange(part.start, part.stop), width)
        far = pair_distances(Q, rows, Z, np.maximum(some, 0).ravel(), metric).reshape(some.shape)
        none = some < 0 if own is None else (some < 0) | (some == own[part, None])
        far[none] = np.inf
        order = np.lexsort((some, far), axis=1)[:, :K]
        kept = min(K, width)
        distance[part, :kept] = np.take_along_axis(far, order, axis=1)
        index[part, :kept] = np.take_along_axis(np.where(none, -1, some), order, axis=1)

    if width:
        in_threads(work, m, MEASURED)
    return index, distance


def _recall(Z: Any, Q: Any, distance: np.ndarray, K: int, metric: str, exclude: bool) -> float:
    """The share of the K nearest that was found, for a sample of rows; ties count as found."""
    m = Q.shape[0]
    chosen = np.sort(np.random.default_rng(0).choice(m, size=min(m, SAMPLE), replace=False))
    _, exact = queried(Z, Q[chosen], K, metric, chosen if exclude else None)
    return float(np.mean(distance[chosen] <= exact[:, -1:]))


def _by_object(transformer: Any, X: Any, Q: Any) -> np.ndarray:
    """Candidates from a graph of neighbours; entries that are stored as zero are neighbours too."""
    if not (hasattr(transformer, "fit") and hasattr(transformer, "transform")):
        raise TypeError(
            f"algorithm={transformer!r} has no fit and transform; pass a name, or an object with the interface of "
            "scikit-learn's KNeighborsTransformer."
        )
    with own_configuration(keeps_routing=True):  # whose graph is sparse
        graph = (clone(transformer) if hasattr(transformer, "get_params") else transformer).fit(X).transform(Q)
    if not sparse.issparse(graph) or graph.shape != (Q.shape[0], X.shape[0]):
        raise ValueError(
            f"algorithm={transformer!r} must transform {Q.shape[0]} rows into a sparse {Q.shape[0]} x {X.shape[0]} "
            "graph of neighbours."
        )
    graph = graph.tocsr()
    if not graph.has_canonical_format:  # a row that is listed twice is one neighbour
        graph = graph.copy()
        graph.sum_duplicates()
    counts = np.diff(graph.indptr)
    near = np.full((Q.shape[0], int(counts.max(initial=0))), -1, dtype=np.intp)
    row = np.repeat(np.arange(Q.shape[0]), counts)
    near[row, rank_in(row, Q.shape[0])] = graph.indices
    return near


def _by_name(algorithm: str, Z: Any, Q: Any, wanted: int) -> np.ndarray:
    """An (m, wanted) table of candidates by a library, -1 for none; Q None: for the rows themselves."""
    Z, Q = single(Z, Q)
    with one_at_a_time:
        if algorithm == "pynndescent":
            return by_descent(Z, Q, wanted)
        if algorithm == "faiss-hnsw":
            return by_hnsw(Z, Z if Q is None else Q, wanted)
        lists = InvertedLists(Z, whole=algorithm == "faiss")
        return lists.among(np.arange(len(Z))).search(Z if Q is None else Q, wanted)


def check_library(algorithm: str, X: Any) -> None:
    """A ValueError for a name that is not known and for sparse rows where it needs dense ones, an ImportError for a
    library that is not installed."""
    if algorithm not in EXTRAS:
        raise ValueError(
            f'algorithm={algorithm!r} is not known; choose "auto", "exact", {", ".join(map(repr, EXTRAS))} or pass an '
            "object with fit and transform as those of scikit-learn's KNeighborsTransformer."
        )
    try:
        with one_at_a_time, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as errors: faiss 1.12 crashes at import, numba says what it cannot cache
            import_module(_package(algorithm))
    except ImportError as error:
        raise ImportError(
            f'algorithm="{algorithm}" needs a library that is not installed: '
            f'pip install "proxembed[{EXTRAS[algorithm]}]", or use algorithm="exact".'
        ) from error
    if sparse.issparse(X) and algorithm != "pynndescent":
        raise ValueError(f'algorithm="{algorithm}" needs dense rows; use "exact" or "pynndescent" for sparse ones.')


def _package(algorithm: str) -> str:
    return algorithm.partition("-")[0]
