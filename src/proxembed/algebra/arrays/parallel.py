"""Threads: sparse products share out their columns (scipy's kernels release the lock), BLAS pools keep out of each
other's way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from multiprocessing import current_process
from threading import Lock
from types import FrameType
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

CHUNK = 16
SMALL = 1_000_000
ALONE_FROM, ALONE_BELOW = 64, 2400
HOMES = ("numpy", "scipy")


def threads() -> int:
    """Threads that the process may use: joblib's count, affinity and container limits included, no other machine's.

    One in a daemon process, such as a worker of dask, beside which others work on the other cores.
    """
    return 1 if current_process().daemon else min(effective_n_jobs(-1), cpu_count())


class _OneThread:
    """Some pools of BLAS on one thread while entered, by any number of threads of the program."""

    def __init__(self, pools: Callable[[], ThreadpoolController]) -> None:
        self._pools, self._lock, self._inside = pools, Lock(), 0
        self._limit: Any = None

    @property
    def entered(self) -> bool:
        """Whether a thread of the program is inside."""
        return self._inside > 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = self._pools().limit(limits=1)
            self._inside += 1

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


def threads_for(size: int) -> AbstractContextManager[Any]:
    """BLAS for decompositions of a matrix of this size: one thread for those below 2,400 x 2,400.

    There two threads save little, and take several times as long on a busy machine, where they wait for each other at
    every column; below 64 x 64 BLAS takes one by itself.

    >>> with threads_for(100):
    ...     float(np.linalg.cholesky(np.eye(100)).sum())
    100.0
    """
    return one_thread if ALONE_FROM <= size < ALONE_BELOW else nullcontext()


def sets_pools(frame: FrameType | None) -> bool:
    """Whether the threads of a BLAS are being set where a program was stopped; they would stay as they are there.

    >>> import sys
    >>> sets_pools(sys._getframe())
    False
    """
    setting = {_OneThread.__enter__.__code__, _OneThread.__exit__.__code__}
    while frame is not None:
        if frame.f_code in setting or frame.f_globals.get("__name__") == "threadpoolctl":
            return True
        frame = frame.f_back
    return False


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


def in_order(work: Callable[[Any], Any], items: Iterable[Any], most: int | None = None) -> Iterator[Any]:
    """``work(item)`` for each item, in order; threads, at most ``most`` of them, work ahead of what is taken.

    >>> list(in_order(lambda item: item**2, [3, 1, 2]))
    [9, 1, 4]
    """
    items = list(items)
    workers = min(threads(), len(items), len(items) if most is None else most)
    if workers <= 1:
        yield from map(work, items)
        return
    pending: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            if len(pending) > workers:
                yield pending.popleft().result()
            pending.append(pool.submit(work, item))
        while pending:
            yield pending.popleft().result()


def by_columns(X: Any, V: np.ndarray) -> np.ndarray:
    """X @ V for sparse X and dense V, columns shared out among threads where that pays."""
    if V.ndim == 1 or X.nnz * V.shape[1] < SMALL:
        return np.asarray(X @ V)
    out = np.empty((X.shape[0], V.shape[1]), dtype=np.result_type(X.dtype, V.dtype))

    def work(part: slice) -> None:
        out[:, part] = X @ np.ascontiguousarray(V[:, part])

    in_threads(work, V.shape[1])
    return out
