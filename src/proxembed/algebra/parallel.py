"""Sparse times dense over two or more threads: columns are shared out, scipy's kernels release the lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import effective_n_jobs

CHUNK = 16
SMALL = 1_000_000


def threads() -> int:
    """Threads that the process may use (joblib's count: affinity and container limits included)."""
    return effective_n_jobs(-1)


def in_threads(work: Callable[[slice], None], columns: int, chunk: int = CHUNK) -> None:
    """``work(slice)`` for consecutive chunks of at most ``chunk`` columns, shared evenly among threads."""
    workers = min(threads(), columns)
    rounds = -(-columns // (workers * chunk)) if workers else 0
    width = -(-columns // (workers * rounds)) if rounds else 1
    parts = [slice(start, min(start + width, columns)) for start in range(0, columns, width)]
    if len(parts) <= 1 or workers == 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, parts))


def by_columns(X, V: np.ndarray) -> np.ndarray:
    """X @ V for sparse X and dense V, columns shared out among threads where that pays."""
    if V.ndim == 1 or X.nnz * V.shape[1] < SMALL:
        return np.asarray(X @ V)
    out = np.empty((X.shape[0], V.shape[1]), dtype=np.result_type(X.dtype, V.dtype))

    def work(part: slice) -> None:
        out[:, part] = X @ np.ascontiguousarray(V[:, part])

    in_threads(work, V.shape[1])
    return out
