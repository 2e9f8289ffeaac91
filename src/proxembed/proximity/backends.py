"""Neighbour searches by other libraries, by name or as an object, with the share of neighbours that they found.

In: rows. Out: candidates from faiss, pynndescent or anything with the interface of scikit-learn's
KNeighborsTransformer, measured exactly and put in the order of (distance, index). The two libraries are imported when
asked for, and search rows in float32.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from proxembed.algebra.arrays.blas import in_threads, threads
from proxembed.algebra.arrays.matrix import canonical_csr
from proxembed.execute.executor import own_configuration

from .distances import METRICS, canonical, check_metric, pair_distances
from .search import OF_SCIPY, as_cosine, exact_nearest, is_measured, nearest_by_blocks, queried, rank_in, suits_tree

BLOCK = 1 << 16
PER_ROOT = 4  # inverted lists for each root of the rows
TRAINING = 64  # rows for each list that k-means learns from
LEAST = 39  # rows for each list, at least
STEPS = 10  # of k-means
PROBES = 16
LINKS, BUILD, SEARCH = 16, 80, 32  # of HNSW: links a row, breadth of the construction and of the search

one_at_a_time = Lock()


def single(Z: Any, Q: Any) -> tuple[Any, Any]:
    """Rows and queries (None stays None) as float32, about the mean of the rows and over a power of two. Distances of
    float32 rows far from the origin would lose their digits; sparse rows stay where they are."""
    values = Z.data if sparse.issparse(Z) else Z
    center = None if sparse.issparse(Z) else Z.mean(axis=0, dtype=np.float64)
    top = float(np.abs(values).max(initial=0.0)) if center is None else _largest(Z, center)
    power = -int(np.frexp(top)[1])
    return _single(Z, center, power), None if Q is None else _single(Q, center, power)


def _largest(Z: np.ndarray, center: np.ndarray) -> float:
    parts = (Z[start : start + BLOCK] - center for start in range(0, len(Z), BLOCK))
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)


def _single(Z: Any, center: np.ndarray | None, power: int) -> Any:
    if sparse.issparse(Z):
        data = np.ldexp(Z.data.astype(np.float64), power).astype(np.float32)
        return sparse.csr_matrix((data, Z.indices, Z.indptr), shape=Z.shape)
    out = np.empty(Z.shape, dtype=np.float32)
    for start in range(0, len(Z), BLOCK):
        out[start : start + BLOCK] = np.ldexp(Z[start : start + BLOCK] - center, power)
    return out


@contextmanager
def _faiss() -> Iterator[Any]:
    """The library, on the threads that the process may use and OpenMP allows."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(min(before, threads()))
    try:
        yield faiss
    finally:
        faiss.omp_set_num_threads(before)


def by_hnsw(Z: np.ndarray, Q: np.ndarray, wanted: int) -> np.ndarray:
    """The rows that a navigable graph over Z (HNSW) finds near each query."""
    with _faiss() as faiss:
        index = faiss.IndexHNSWFlat(Z.shape[1], LINKS)
        index.hnsw.efConstruction = BUILD
        index.hnsw.efSearch = max(SEARCH, 2 * wanted)
        index.add(Z)
        return index.search(Q, wanted)[1]


def by_descent(Z: Any, Q: Any, wanted: int) -> np.ndarray:
    """The rows that nearest-neighbour descent finds near each row of Z, or each query; the same for the same rows."""
    import numba
    from pynndescent import NNDescent

    jobs = min(threads(), numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # set when numba is imported
    with warnings.catch_warnings():  # of what numba cannot cache, and of lists that are short, which are completed
        warnings.simplefilter("ignore")
        found = NNDescent(Z, metric="euclidean", n_neighbors=wanted, random_state=0, n_jobs=jobs)
        return found.neighbor_graph[0] if Q is None else found.query(Q, k=wanted)[0]


class InvertedLists:
    """Rows in inverted lists around the centres of k-means (IVF), all in one list where ``whole``. ``among(rows)`` is
    an index of some of the rows, made of the same lists without a training of its own."""

    def __init__(self, Z: np.ndarray, whole: bool = False):
        self.Z = Z
        lists = int(2 ** np.round(np.log2(PER_ROOT * np.sqrt(len(Z)))))
        self.centres = None if whole else self._centres(max(1, min(lists, len(Z) // LEAST)))
        if self.centres is not None:
            with _faiss() as faiss:
                quantizer = faiss.IndexFlatL2(Z.shape[1])
                quantizer.add(self.centres)
                self.home = quantizer.search(Z, 1)[1][:, 0]

    def _centres(self, lists: int) -> np.ndarray:
        """The centres by k-means on a sample of the rows."""
        chosen = np.random.default_rng(0).permutation(len(self.Z))[: TRAINING * lists]
        with _faiss() as faiss:
            kmeans = faiss.Kmeans(self.Z.shape[1], lists, niter=STEPS, seed=0, max_points_per_centroid=TRAINING)
            kmeans.train(self.Z[np.sort(chosen)])
            return kmeans.centroids

    def among(self, rows: np.ndarray) -> SomeRows:
        """The index of these rows (ascending), of which at least one list is filled."""
        return SomeRows(self, rows)


class SomeRows:
    """An index of some of the rows of ``InvertedLists``; lists without one of them take no part."""

    def __init__(self, lists: InvertedLists, rows: np.ndarray):
        self.rows, self.centres = rows, None
        Z = np.ascontiguousarray(lists.Z[rows])
        with _faiss() as faiss:
            flat = faiss.IndexFlatL2(Z.shape[1])
            if lists.centres is None:
                flat.add(Z)
                self.index = flat
                return
            used, home = np.unique(lists.home[rows], return_inverse=True)
            flat.add(np.ascontiguousarray(lists.centres[used]))
            self.centres = flat  # faiss keeps no reference to the quantizer
            self.index = faiss.IndexIVFFlat(flat, Z.shape[1], len(used))
            home, number = home.astype(np.int64), np.arange(len(rows), dtype=np.int64)
            self.index.add_core(len(rows), *(faiss.swig_ptr(array) for array in (Z, number, home)))

    def search(self, Q: np.ndarray, wanted: int) -> np.ndarray:
        """The numbers of ``wanted`` rows near each query, -1 for none: lists of few rows are followed by further
        ones."""
        wanted = min(wanted, len(self.rows))
        with _faiss():
            if self.centres is None:
                return self.rows[self.index.search(Q, wanted)[1]]
            self.index.nprobe = PROBES
            found = self.index.search(Q, wanted)[1]
            lacking = np.flatnonzero(found[:, -1] < 0)
            while len(lacking) and self.index.nprobe < self.index.nlist:
                self.index.nprobe = 4 * self.index.nprobe
                found[lacking] = self.index.search(Q[lacking], wanted)[1]
                lacking = lacking[found[lacking, -1] < 0]
        return np.where(found < 0, -1, self.rows[np.maximum(found, 0)])


class EnemyLists:
    """Inverted lists that are searched for the rows of some labels at a time, by rows of the same table."""

    def __init__(self, Z: np.ndarray, whole: bool = False):
        self.Z, _ = single(Z, None)
        with one_at_a_time:
            self.lists = InvertedLists(self.Z, whole)

    def among(self, rows: np.ndarray, queries: np.ndarray, wanted: int) -> np.ndarray:
        """The numbers of ``wanted`` of some rows near each row of ``queries``, -1 for none."""
        with one_at_a_time:
            return self.lists.among(rows).search(self.Z[queries], wanted)


SAMPLE = 200
EXTRAS = {"faiss": "fast", "faiss-ivf": "fast", "faiss-hnsw": "fast", "pynndescent": "neighbors"}
ALGORITHMS = ("auto", "exact", *EXTRAS)
EXACT_PAIRS = 10**10  # of rows and queries: those of 100,000 rows among themselves
FEW_ROWS = 2048  # an index costs more than their exact search
MEASURED = 4096


def settled(X: Any, m: int, K: int, metric: Any, algorithm: Any, labelled: bool = False) -> Any:
    """The algorithm that searches m lists of K among the rows of X: ``algorithm``, or what "auto" stands for. "auto" is
    the exact search up to 10^10 pairs and where a tree serves; beyond it pynndescent, or else HNSW of faiss, and for
    lists that depend on labels (``labelled``) inverted lists of faiss, or else pynndescent. Without these libraries the
    search is exact, with a warning."""
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
    """The K nearest of each row's candidates, by (distance, index); -1 and infinity where there are fewer. near: an (m,
    w) table of rows of Z, -1 for none. own: the number among Z of each row of Q, which is left out."""
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
    graph = canonical_csr(graph)  # a row that is listed twice is one neighbour
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
    """The K nearest rows of X for every row of X, its own number left out, or for every row of ``queries``. Equal
    distances go to the lower index; another row at distance 0 is a neighbour. Distances are the same in every bit for
    dense and sparse rows and for any number of threads. X: (n, d) array or CSR; n x n distances with
    metric="precomputed" (queries then m x n). K: 1 to n - 1, or n with queries or ``exclude=False``. metric:
    "euclidean", "cosine" (1 - cos, rounded to 12 decimals; 1 from a row of zeros), "correlation" (1 - r likewise, 1
    from a row of equal entries), "precomputed", or a name of scipy's cdist (``search.OF_SCIPY``) or a function (Q, X)
    to m x n, searched exactly; these and correlation need dense rows. algorithm: "exact"; "faiss" (all distances in
    float32), "faiss-ivf" (inverted lists), "faiss-hnsw" (a navigable graph) or "pynndescent", which search in float32
    and measure exactly what they found; "auto": exact up to 10^10 pairs of rows and queries, then pynndescent, or else
    faiss-hnsw; or an object with fit and transform as those of scikit-learn's KNeighborsTransformer. Raises ValueError
    for a number or a name out of range, for shapes that do not fit, for given distances that are not finite and at
    least 0 and for rows whose distances overflow; ImportError for a library that is not installed."""
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
