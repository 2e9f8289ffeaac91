"""Worker processes: one BLAS thread each, arrays by memory map, results as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits


def as_they_come(task: Callable[..., Any], arguments: Sequence[tuple], n_jobs: int) -> Iterator[tuple[int, Any]]:
    """Call a function for each of several argument lists; pairs of (number, what it returned), finished ones first.

    With one job the calls are made in this process, in order, on one thread too: CPU time is the same either way.

    Examples
    --------
    >>> from papers.workers import as_they_come
    >>> list(as_they_come(pow, [(2, 3), (3, 2)], 1))
    [(0, 8), (1, 9)]
    """
    if effective_n_jobs(n_jobs) == 1 or len(arguments) == 1:
        for number, each in enumerate(arguments):
            with threadpool_limits(1, user_api="blas"):
                found = _numbered(task, number, each)
            yield found
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs, return_as="generator_unordered", mmap_mode="c", batch_size=1)
    yield from pool(delayed(_numbered)(task, number, each) for number, each in enumerate(arguments))


def _numbered(task: Callable[..., Any], number: int, arguments: tuple) -> tuple[int, Any]:
    with parallel_config(backend="sequential"):
        return number, task(*arguments)
