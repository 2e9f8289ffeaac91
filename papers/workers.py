"""Workers of an experiment: one BLAS thread each, results as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from threadpoolctl import threadpool_limits

from proxembed.execute.executor import Executor


def unordered_results(task: Callable[..., Any], arguments: Sequence[tuple], n_jobs: int) -> Iterator[tuple[int, Any]]:
    """Call a function for each of several argument lists; pairs of (number, what it returned), finished ones first.

    With one job the calls are made in this process, in order, on one thread too: CPU time is the same either way.

    Examples
    --------
    >>> from papers.workers import unordered_results
    >>> list(unordered_results(pow, [(2, 3), (3, 2)], 1))
    [(0, 8), (1, 9)]
    """
    with Executor(n_jobs if len(arguments) > 1 else 1, task, ordered=False) as executor:
        own = executor.n_jobs == 1
        results = executor.map(_numbered, enumerate(arguments))
        for _ in arguments:
            with threadpool_limits(1, user_api="blas") if own else nullcontext():
                found = next(results)
            yield found


def _numbered(task: Callable[..., Any], item: tuple[int, tuple]) -> tuple[int, Any]:
    number, arguments = item
    return number, task(*arguments)
