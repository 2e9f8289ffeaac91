"""Indices of faiss and pynndescent over rows in float32, one search at a time.

In: rows. Out: tables of candidates, -1 for none. Both libraries run OpenMP threads of their own, which neither forked
processes nor a second search at once may meet; they are kept to the threads that the process may use.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import threads

BLOCK = 1 << 16
PER_ROOT = 4  # inverted lists for each root of the rows
TRAINING = 64  # rows for each list that k-means learns from
LEAST = 39  # rows for each list, at least
STEPS = 10  # of k-means
PROBES = 16
LINKS, BUILD, SEARCH = 16, 80, 32  # of HNSW: links a row, breadth of the construction and of the search

one_at_a_time = Lock()


def single(Z: Any, Q: Any) -> tuple[Any, Any]:
    """Rows and queries (None stays None) as float32, about the mean of the rows and over a power of two.

    Distances of float32 rows far from the origin would lose their digits; sparse rows stay where they are.

    >>> Z, Q = single(np.array([[1e9], [1e9 + 2.0]]), np.array([[1e9 + 3.0]]))
    >>> Z.tolist(), Q.tolist()
    ([[-0.5], [0.5]], [[1.0]])
    """
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
    """Rows in inverted lists around the centres of k-means (IVF), all in one list where ``whole``.

    ``among(rows)`` is an index of some of the rows, made of the same lists without a training of its own.
    """

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
