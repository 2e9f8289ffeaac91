"""Threads: sparse products share out their columns (scipy's kernels release the lock), BLAS pools keep out of each
other's way."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

CHUNK = 16
SMALL = 1_000_000
HOMES = ("numpy", "scipy")


def threads() -> int:
    """Threads that the process may use (joblib's count: affinity and container limits included)."""
    return effective_n_jobs(-1)


class _OneThread:
    """Some pools of BLAS on one thread while entered, by any number of threads of the program."""

    def __init__(self, pools: Callable[[], ThreadpoolController]) -> None:
        self._pools, self._lock, self._inside, self._limit = pools, Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = self._pools().limit(limits=1)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


@cache
def _blas_pools() -> ThreadpoolController:
    """Every BLAS that is loaded."""
    return ThreadpoolController().select(user_api="blas")


@cache
def _numpy_pools() -> ThreadpoolController:
    """numpy's own BLAS, where scipy has another; else nothing."""
    found = ThreadpoolController()
    homes = {home: [lib.filepath for lib in found.lib_controllers if f"{home}.libs" in lib.filepath] for home in HOMES}
    return found.select(filepath=homes["numpy"] if all(homes.values()) else [])


# numpy's BLAS alone; scipy's keeps its own threads. Both carry a pool where they come as wheels, and an idle pool spins
# for milliseconds after every product, on the cores that the other one needs. Large products go through scipy
# (algebra.blas).
one_pool = _OneThread(_numpy_pools)
# All of them, for products so small that further threads only spin.
one_thread = _OneThread(_blas_pools)


def in_threads(work: Callable[[slice], None], columns: int, chunk: int = CHUNK, least: int = 1) -> None:
    """``work(slice)`` for consecutive chunks of at most ``chunk`` columns, shared evenly among threads.

    A thread gets at least ``least`` columns: fewer take less time than its start.
    """
    workers = 1 if columns < 2 * least else min(threads(), columns // least)
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
