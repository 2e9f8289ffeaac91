"""In-place products and sums: what they leave is what the plain formula gives, in either storage order. Columns shared
out among threads: every column once, the same numbers, errors not lost."""

from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

import strategies
from designs import pairwise
from proxembed import MLSI, MORP
from proxembed.algebra.arrays import blas
from proxembed.algebra.arrays.blas import (
    add_gram,
    add_product,
    add_symmetric,
    by_columns,
    by_rows,
    frobenius,
    gram,
    in_order,
    in_threads,
    matmul,
    one_thread,
    squared_length,
    symmetrise,
    threads_for,
)

rng = np.random.default_rng(5)


@pytest.mark.parametrize("order", ["C", "F"])
def test_add_product_adds_a_multiple_in_place(order):
    A, B = rng.standard_normal((7, 3)), np.asarray(rng.standard_normal((3, 7)), order=order)
    total = rng.standard_normal((7, 7))
    expected, same = total - 2.5 * A @ B, total
    add_product(total, -2.5, A, B)
    assert total is same
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
def test_add_symmetric_adds_a_multiple_in_place(order):
    M = rng.standard_normal((6, 6))
    M = np.asarray(M + M.T, order=order)
    total = rng.standard_normal((6, 6))
    expected = total + 3.0 * M
    add_symmetric(total, 3.0, M)
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("size", [1, 5, 256, 257, 700])  # below, at and above the tile
def test_symmetrise_is_the_mean_with_the_transpose(size):
    M = rng.standard_normal((size, size))
    expected = (M + M.T) / 2
    assert symmetrise(M) is M
    np.testing.assert_array_equal(M, expected)


EMPTY = [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0)]
empty = pytest.mark.parametrize(("n", "k", "m"), EMPTY)


@empty
def test_products_of_empty_operands_are_zeros(n, k, m, capfd):
    A, B = np.zeros((n, k)), np.zeros((k, m))
    np.testing.assert_array_equal(matmul(A, B), A @ B)
    np.testing.assert_array_equal(matmul(A, np.zeros(k)), np.zeros(n))
    np.testing.assert_array_equal(gram(A), A.T @ A)
    np.testing.assert_array_equal(gram(np.asfortranarray(A)), A.T @ A)
    assert squared_length(A.ravel()) == frobenius(A) == 0.0
    assert capfd.readouterr() == ("", "")


@empty
def test_empty_operands_add_nothing(n, k, m, capfd):
    total, square, of_columns = np.ones((n, m)), np.ones((n, n)), np.ones((k, k), order="F")
    add_product(total, 2.0, np.zeros((n, k)), np.zeros((k, m)))
    add_symmetric(square, 2.0, np.zeros((n, n)))
    add_gram(of_columns, 2.0, np.zeros((n, k)))
    assert total.min(initial=1.0) == square.min(initial=1.0) == of_columns.min(initial=1.0) == 1.0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("order", ["C", "F"])
def test_add_gram_adds_a_multiple_to_the_lower_triangle(order):
    X, total = np.asarray(rng.standard_normal((7, 4)), order=order), np.ones((4, 4), order="F")
    add_gram(total, -2.0, X)
    np.testing.assert_allclose(np.tril(total), np.tril(1 - 2 * X.T @ X), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(np.triu(total, 1), np.triu(np.ones((4, 4)), 1))


@pytest.mark.parametrize("cls", [MORP, MLSI], ids=["MORP", "MLSI"])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_an_inverse_of_one_kernel_alone_prints_nothing(cls, beta, capfd):
    X, Y = rng.standard_normal((30, 5)), np.arange(90).reshape(30, 3) % 7 > 2
    assert np.isfinite(cls(beta=beta).fit(X, Y.astype(int)).components_).all()
    assert capfd.readouterr() == ("", "")


@pairwise
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("columns", [0, 1, 2, 5, 33, 100])
@pytest.mark.parametrize("chunk", [1, 16, 32])
def test_every_column_is_worked_on_once(threads, columns, chunk, monkeypatch):
    monkeypatch.setattr(blas, "threads", lambda: threads)
    parts: list[slice] = []
    in_threads(parts.append, columns, chunk)
    assert sorted(i for part in parts for i in range(part.start, part.stop)) == list(range(columns))
    assert all(part.stop - part.start <= chunk for part in parts)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_thread_reaches_the_caller(threads, monkeypatch):
    monkeypatch.setattr(blas, "threads", lambda: threads)

    def work(part):
        raise FloatingPointError(part)

    with pytest.raises(FloatingPointError):
        in_threads(work, 10)


@pairwise
@pytest.mark.parametrize("most", [None, 0, 1, 3])
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("number", [0, 1, 3, 20])
def test_results_come_in_order_and_few_are_ahead(number, threads, most, monkeypatch):
    monkeypatch.setattr(blas, "threads", lambda: threads)
    begun: list[int] = []
    for taken, found in enumerate(in_order(lambda item: begun.append(item) or -item, range(number), most)):
        assert found == -taken
        assert len(begun) <= taken + 2 + min(threads, number if most is None else max(most, 1))
    assert sorted(begun) == list(range(number))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_ahead_reaches_the_one_who_takes(threads, monkeypatch):
    monkeypatch.setattr(blas, "threads", lambda: threads)
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 1 / item, [2, 1, 0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_shared_products_equal_the_plain_one(threads, transposed, dtype, monkeypatch):
    monkeypatch.setattr(blas, "threads", lambda: threads)
    monkeypatch.setattr(blas, "SMALL", 0)
    X = strategies.features_text(50, 30, 1).astype(dtype)
    X = X.T if transposed else X
    V = strategies.features_dense(X.shape[1], 70, 2)
    found = by_columns(X, V)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, X.toarray().astype(float) @ V, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_columns(X, V[:, 0]), found[:, 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("threads", [1, 2])
def test_shared_blocks_of_rows_equal_the_plain_product(threads, index, dtype, monkeypatch):
    monkeypatch.setattr(blas, "threads", lambda: threads)
    monkeypatch.setattr(blas, "LARGE", 0)
    monkeypatch.setattr(blas, "BLOCK_ENTRIES", 64)
    X = strategies.features_text(50, 30, 1).astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    before = X.copy()
    V = strategies.features_dense(30, 70, 2)
    for columns in (V, V[:, :1], V[:, 0], V[:, :5].astype(np.float32)):
        found = by_rows(X, columns)
        assert found.dtype == np.float64 and found.shape == (50, *columns.shape[1:])
        np.testing.assert_allclose(found, X.toarray().astype(float) @ columns.astype(float), rtol=0, atol=1e-12)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, name), getattr(before, name))


def test_threads_follow_joblib():
    assert blas.threads() >= 1
    with parallel_config(backend="sequential"):
        assert blas.threads() == 1


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
    monkeypatch.setattr(blas, "effective_n_jobs", lambda n_jobs: 7)
    monkeypatch.setattr(blas, "cpu_count", lambda: 5)
    monkeypatch.setattr(blas, "current_process", lambda: SimpleNamespace(daemon=daemon))
    assert blas.threads() == threads
