"""Columns shared out among threads: every column once, the same numbers, errors not lost."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

import strategies
from designs import pairwise
from proxembed.algebra.arrays import parallel
from proxembed.algebra.arrays.parallel import by_columns, in_order, in_threads, one_thread, threads_for


@pairwise
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("columns", [0, 1, 2, 5, 33, 100])
@pytest.mark.parametrize("chunk", [1, 16, 32])
def test_every_column_is_worked_on_once(threads, columns, chunk, monkeypatch):
    monkeypatch.setattr(parallel, "threads", lambda: threads)
    parts: list[slice] = []
    in_threads(parts.append, columns, chunk)
    assert sorted(i for part in parts for i in range(part.start, part.stop)) == list(range(columns))
    assert all(part.stop - part.start <= chunk for part in parts)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_thread_reaches_the_caller(threads, monkeypatch):
    monkeypatch.setattr(parallel, "threads", lambda: threads)

    def work(part):
        raise FloatingPointError(part)

    with pytest.raises(FloatingPointError):
        in_threads(work, 10)


@pairwise
@pytest.mark.parametrize("most", [None, 0, 1, 3])
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("number", [0, 1, 3, 20])
def test_results_come_in_order_and_few_are_ahead(number, threads, most, monkeypatch):
    monkeypatch.setattr(parallel, "threads", lambda: threads)
    begun: list[int] = []
    for taken, found in enumerate(in_order(lambda item: begun.append(item) or -item, range(number), most)):
        assert found == -taken
        assert len(begun) <= taken + 2 + min(threads, number if most is None else max(most, 1))
    assert sorted(begun) == list(range(number))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_ahead_reaches_the_one_who_takes(threads, monkeypatch):
    monkeypatch.setattr(parallel, "threads", lambda: threads)
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 1 / item, [2, 1, 0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_shared_products_equal_the_plain_one(threads, transposed, dtype, monkeypatch):
    monkeypatch.setattr(parallel, "threads", lambda: threads)
    monkeypatch.setattr(parallel, "SMALL", 0)
    X = strategies.features_text(50, 30, 1).astype(dtype)
    X = X.T if transposed else X
    V = strategies.features_dense(X.shape[1], 70, 2)
    found = by_columns(X, V)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, X.toarray().astype(float) @ V, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_columns(X, V[:, 0]), found[:, 0], rtol=0, atol=1e-12)


def test_threads_follow_joblib():
    assert parallel.threads() >= 1
    with parallel_config(backend="sequential"):
        assert parallel.threads() == 1


def threads_of_blas() -> set[int]:
    known = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]  # other libraries bring theirs
    return {pool["num_threads"] for pool in known if "numpy" in pool["filepath"] or "scipy" in pool["filepath"]}


def test_blas_has_one_thread_until_the_last_one_leaves():
    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()
        one_thread.__enter__()
        with one_thread:
            assert threads_of_blas() == {1}
        assert threads_of_blas() == {1}
        one_thread.__exit__()
        assert threads_of_blas() == before


@pytest.mark.parametrize(("size", "threads"), [(20, 2), (100, 1), (2399, 1), (2400, 2)])
def test_decompositions_of_small_matrices_have_one_thread(size, threads):
    with threadpool_limits(2, user_api="blas"):
        with threads_for(size):
            assert threads_of_blas() == {threads}
        assert threads_of_blas() == {2}


@pytest.mark.parametrize(("daemon", "threads"), [(True, 1), (False, 5)])
def test_threads_are_those_of_this_machine_and_one_in_a_daemon_process(daemon, threads, monkeypatch):
    """joblib counts the cores of a cluster, and warns in the workers of dask, beside which others have the cores."""
    monkeypatch.setattr(parallel, "effective_n_jobs", lambda n_jobs: 7)
    monkeypatch.setattr(parallel, "cpu_count", lambda: 5)
    monkeypatch.setattr(parallel, "current_process", lambda: SimpleNamespace(daemon=daemon))
    assert parallel.threads() == threads
