"""Dense products through scipy's BLAS alone, and the threads of the program: sparse products share out their columns
(scipy's kernels release the lock), pools of BLAS keep out of each other's way.

numpy and scipy each carry a BLAS with a pool of threads; the idle pool spins for milliseconds after every product and
holds up the other. The factorisations are scipy's, so the products that feed them go the same way. No operand is
copied as long as it is contiguous in either order. Empty operands never reach BLAS, which takes them for errors.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import cache
from multiprocessing import current_process
from threading import Lock
from types import FrameType
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from scipy.linalg.blas import daxpy, ddot, dgemm, dgemv, dnrm2, dsyrk
from scipy.sparse import csr_array
from threadpoolctl import ThreadpoolController

TILE = 256
CHUNK = 16
BLOCK_ENTRIES = 1 << 20  # of sparse rows that are multiplied at once
SMALL = 1_000_000
LARGE = 1 << 26  # multiplications from which sharing out the rows of a sparse matrix pays
ALONE_FROM, ALONE_BELOW = 64, 2400
HOMES = ("numpy", "scipy")


def matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B, float64, in C order; B is a matrix or a vector."""
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape[0]:,} x {A.shape[1]:,} matrix cannot be multiplied with {B.shape[0]:,} rows.")
    if 0 in (*A.shape, *B.shape):
        return np.zeros((len(A), *B.shape[1:]))
    if B.ndim == 1 or B.shape[1] == 1:
        a, transposed = fortran_operand(A)
        return dgemv(1.0, a, B.reshape(-1), trans=1 - transposed).reshape(len(A), *B.shape[1:])
    a, ta = fortran_operand(B)
    b, tb = fortran_operand(A)
    return dgemm(1.0, a, b, trans_a=ta, trans_b=tb).T


def add_product(total: np.ndarray, c: float, A: np.ndarray, B: np.ndarray) -> None:
    """total += c A B in place; total is float64 in C order."""
    if 0 in (*A.shape, *B.shape):
        return
    a, ta = fortran_operand(B)
    b, tb = fortran_operand(A)
    dgemm(c, a, b, beta=1.0, c=total.T, trans_a=ta, trans_b=tb, overwrite_c=1)


def add_symmetric(total: np.ndarray, c: float, M: np.ndarray) -> None:
    """total += c M in place for a symmetric M in either order; total is float64 in C order."""
    if M.size:
        daxpy(np.asarray(M, dtype=np.float64).ravel(order="K"), total.reshape(-1), a=c)


def symmetrise(M: np.ndarray) -> np.ndarray:
    """(M + M') / 2 in place, tile by tile."""
    for start in range(0, len(M), TILE):
        rows = slice(start, start + TILE)
        for other in range(0, start + 1, TILE):
            columns = slice(other, other + TILE)
            M[rows, columns] += M[columns, rows].T
            M[rows, columns] *= 0.5
            M[columns, rows] = M[rows, columns].T
    return M


def frobenius(M: np.ndarray) -> float:
    """The root of the sum of all squares, none of which can overflow."""
    return float(dnrm2(M.ravel(order="K"))) if M.size else 0.0


def gram(X: np.ndarray) -> np.ndarray:
    """X'X, half the work of a product."""
    if X.size == 0:
        return np.zeros((X.shape[1],) * 2)
    a, transposed = fortran_operand(X)
    return symmetric_from_lower(dsyrk(1.0, a, trans=transposed, lower=1))


def add_gram(total: np.ndarray, c: float, X: np.ndarray) -> None:
    """total += c X'X in place, on the lower triangle alone; total is float64 in Fortran order."""
    if X.size:
        a, transposed = fortran_operand(X)
        dsyrk(c, a, beta=1.0, c=total, trans=transposed, lower=1, overwrite_c=1)


def squared_length(x: np.ndarray) -> float:
    """x'x of a float64 vector."""
    return float(ddot(x, x)) if x.size else 0.0


def symmetric_from_lower(G: np.ndarray) -> np.ndarray:
    """The symmetric matrix whose lower triangle is stored in G (which is overwritten)."""
    for start in range(0, len(G), TILE):
        stop = start + TILE
        G[start:stop, stop:] = G[stop:, start:stop].T
        block = G[start:stop, start:stop]
        lower = np.tril(block, -1)
        block[:] = lower + lower.T + np.diag(np.diag(block))
    return G


def fortran_operand(M: np.ndarray) -> tuple[np.ndarray, int]:
    """(a, t) with op_t(a) = M' and a in Fortran order: M' itself (t = 0), or M to be transposed (t = 1)."""
    if M.flags.f_contiguous and not M.flags.c_contiguous:
        return M, 1
    return np.ascontiguousarray(M).T, 0


def threads() -> int:
    """Threads that the process may use: joblib's count, affinity and container limits included, no other machine's. One
    in a daemon process, such as a worker of dask, beside which others work on the other cores."""
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
# (matmul).
one_pool = _OneThread(_numpy_pools)
# All of them, for products so small that further threads only spin.
one_thread = _OneThread(_blas_pools)


def threads_for(size: int) -> AbstractContextManager[Any]:
    """BLAS for decompositions of a matrix of this size: one thread for those below 2,400 x 2,400. There two threads
    save little, and take several times as long on a busy machine, where they wait for each other at every column; below
    64 x 64 BLAS takes one by itself."""
    return one_thread if ALONE_FROM <= size < ALONE_BELOW else nullcontext()


def sets_pools(frame: FrameType | None) -> bool:
    """Whether the threads of a BLAS are being set where a program was stopped; they would stay as they are there."""
    setting = {_OneThread.__enter__.__code__, _OneThread.__exit__.__code__}
    while frame is not None:
        if frame.f_code in setting or frame.f_globals.get("__name__") == "threadpoolctl":
            return True
        frame = frame.f_back
    return False


def in_threads(work: Callable[[slice], None], columns: int, chunk: int = CHUNK, least: int = 1) -> None:
    """``work(slice)`` for consecutive chunks of at most ``chunk`` columns, shared evenly among threads. A thread gets
    at least ``least`` columns: fewer take less time than its start."""
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


def each_in_threads(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """``work(item)`` of all items in their order, shared out among threads."""
    items = list(items)
    workers = min(threads(), len(items))
    if workers <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


def in_order(work: Callable[[Any], Any], items: Iterable[Any], most: int | None = None) -> Iterator[Any]:
    """``work(item)`` for each item, in order; threads, at most ``most`` of them, work ahead of what is taken."""
    items = list(items)
    workers = len(items) if most is None else min(len(items), most)
    workers = workers if workers <= 1 else min(workers, threads())
    if workers <= 1:
        yield from map(work, items)
        return
    pending: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            if len(pending) > workers:
                yield pending.popleft().result()
            pending.append(pool.submit(copy_context().run, work, item))
        while pending:
            yield pending.popleft().result()


def by_rows(X: Any, V: np.ndarray) -> np.ndarray:
    """X @ V, float64, for X in CSR and dense V. Threads share out blocks of rows, which take ``CHUNK`` columns at most
    at a time; rows of float32 are cast block by block."""
    if V[:1].size == 1 or X.nnz * V[:1].size < LARGE:
        return np.asarray(X @ V, dtype=np.float64)
    n, q = X.shape[0], V.shape[1]
    out, width, step = np.empty((n, q)), -(-q // -(-q // CHUNK)), -(-BLOCK_ENTRIES * n // X.nnz)
    parts = [slice(start, start + width) for start in range(0, q, width)]
    few = [np.array(V[:, part], dtype=np.float64, order="C") for part in parts]

    def work(start: int) -> None:
        rows = _rows(X, start, min(start + step, n))
        for part, columns in zip(parts, few, strict=True):
            out[start : start + step, part] = rows @ columns

    each_in_threads(work, range(0, n, step))
    return out


def _rows(X: Any, start: int, stop: int) -> Any:
    """Consecutive rows of a CSR matrix in float64; float64 entries and their columns are not copied. The constructor
    would look at all columns again."""
    part, rows = slice(X.indptr[start], X.indptr[stop]), csr_array((stop - start, X.shape[1]))
    rows.data, rows.indices = X.data[part].astype(np.float64, copy=False), X.indices[part]
    rows.indptr = X.indptr[start : stop + 1] - X.indptr[start]
    return rows


def by_columns(X: Any, V: np.ndarray) -> np.ndarray:
    """X @ V for sparse X and dense V, columns shared out among threads where that pays."""
    if V.ndim == 1 or X.nnz * V.shape[1] < SMALL:
        return np.asarray(X @ V)
    out = np.empty((X.shape[0], V.shape[1]), dtype=np.result_type(X.dtype, V.dtype))

    def work(part: slice) -> None:
        out[:, part] = X @ np.ascontiguousarray(V[:, part])

    in_threads(work, V.shape[1])
    return out
