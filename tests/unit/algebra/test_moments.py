"""Moments: sums over blocks are the sums of all rows, in any order of blocks and merges."""

import numpy as np
import pytest
from scipy import sparse

from designs import each_value
from proxembed.algebra.arrays import blas, moments
from proxembed.algebra.arrays.moments import Moments, RowStream, gram_product

N, D = 90, 4
draw = np.random.default_rng(5)
X = draw.normal(size=(N, D)) + 50.0
F = draw.integers(0, 2, size=(N, 3)).astype(float)
W = draw.normal(size=N)  # of either sign


def summed(rows, factors, weights, cuts, **options) -> Moments:
    found = Moments(D, 1 + len(weights), factors.shape[1], formed=range(1 + len(weights)), inner=True)
    for part in np.split(np.arange(N), cuts):
        found.update(rows[part], [None, *(w[part] for w in weights)], [factors[part]], **options)
    return found


def assert_sums(found: Moments, rows, weights, tolerance: float = 1e-13) -> None:
    away = rows - found.origin
    for j, w in enumerate([np.ones(N), *weights]):
        expected = away.T @ (w[:, None] * away)
        size = np.sqrt(np.outer(*[np.diag(away.T @ (np.abs(w)[:, None] * away))] * 2))
        assert (np.abs(found.gram(j) - expected) / size).max() < tolerance
        np.testing.assert_allclose(found.firsts[j], w @ away, atol=tolerance * np.abs(away).sum())
        assert found.masses[j] == pytest.approx(w.sum())
        assert found.counts[j] == np.count_nonzero(w)
    np.testing.assert_allclose(found.products, away.T @ F, atol=tolerance * np.abs(away).sum())
    np.testing.assert_array_equal(found.factor_sums, F.sum(axis=0))
    np.testing.assert_array_equal(found.inner, F.T @ F)
    np.testing.assert_array_equal(found.squares, np.diag(F.T @ F))
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-14)


@each_value
@pytest.mark.parametrize("cuts", [[], [1], [89], [1, 2, 3, 40, 41], list(range(1, N))])
@pytest.mark.parametrize("stored", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_sums_of_blocks(cuts, stored):
    found = summed(stored(X), F, [W], cuts)
    assert found.n == N and found.raw == (stored is sparse.csr_array)
    assert_sums(found, X, [W])


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_norms_without_a_gram_matrix(stored):
    found, other = Moments(D, 1, 0), Moments(D, 1, 0)
    for part in np.split(np.arange(N), [1, 30, 70]):
        (found if len(part) < 40 else other).update(stored(X[part]), [None], [])
    found.merge(other)
    found.move(X.mean(axis=0))
    np.testing.assert_allclose(found.norms, N * X.var(axis=0), rtol=1e-10)
    assert len(Moments(D, 1, 0, formed=[0]).norms) == 0


def test_blocks_of_both_kinds():
    found = Moments(D, 2, 3, formed=[0, 1], inner=True)
    for part, stored in (
        (slice(0, 20), sparse.csr_array),
        (slice(20, 50), np.asarray),
        (slice(50, N), sparse.csr_array),
    ):
        found.update(stored(X[part]), [None, W[part]], [sparse.csc_array(F[part])])
    assert not found.raw
    assert_sums(found, X, [W], 1e-12)


def test_any_order_of_merges():
    parts = []
    for part in np.split(np.arange(N), [3, 4, 30, 70]):
        one = Moments(D, 2, 3, formed=[0, 1], inner=True)
        one.update(X[part], [None, W[part]], [F[part]])
        parts.append(one)
    for seed in range(3):
        left = [one.copy() for one in parts]
        order = np.random.default_rng(seed)
        while len(left) > 1:
            a = left.pop(order.integers(len(left)))
            left[order.integers(len(left))].merge(a)
        assert_sums(left[0], X, [W], 1e-12)
    empty = Moments(D, 2, 3, formed=[0, 1], inner=True)
    empty.merge(parts[0])
    np.testing.assert_array_equal(empty.gram(0), parts[0].gram(0))


def test_a_merge_leaves_the_other_as_it_was():
    one, two = summed(X, F, [W], [7]), summed(X + 1, F, [W], [7])
    before = two.origin.copy(), two.gram(1)
    one.merge(two)
    np.testing.assert_array_equal(two.origin, before[0])
    np.testing.assert_array_equal(two.gram(1), before[1])


def test_rows_far_away_lose_no_digits():
    away = X * 1e-3 + 1e6
    found = summed(away, F, [], [1, 2, 50])
    found.move(away.mean(axis=0))
    expected = np.cov(away.T, bias=True) * N  # centred first
    np.testing.assert_allclose(found.gram(0), expected, rtol=1e-9, atol=1e-9 * expected.max())


def test_weights_share_a_gram_matrix_as_long_as_they_are_equal():
    copies = np.ones(N)
    late = np.ones(N)
    late[60:] = 2.0
    found = Moments(D, 4, 3, formed=range(4))
    for part in np.split(np.arange(N), [30, 50, 70]):
        found.update(X[part], [None, copies[part], late[part], 2 * late[part]], [F[part]])
    assert found.same(0, 1) and not found.same(0, 2) and not found.same(2, 3)
    away = X - found.origin
    for j, w in enumerate((np.ones(N), copies, late, 2 * late)):
        np.testing.assert_allclose(found.gram(j), away.T @ (w[:, None] * away), rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("parted", [0, 1])
def test_a_merge_keeps_apart_what_differs_on_either_side(parted):
    halves = []
    for number, part in enumerate((slice(0, 40), slice(40, N))):
        one = Moments(D, 2, 0, formed=[0, 1])
        one.update(X[part], [None, (2.0 if number == parted else 1.0) * np.ones(N)[part]], [])
        halves.append(one)
    halves[0].merge(halves[1])
    assert not halves[0].same(0, 1)
    away, w = X - halves[0].origin, np.where((np.arange(N) < 40) == (parted == 0), 2.0, 1.0)
    np.testing.assert_allclose(halves[0].gram(1), away.T @ (w[:, None] * away), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(halves[0].gram(0), away.T @ away, rtol=1e-12, atol=1e-10)


def test_columns_for_new_factors_are_zero_so_far():
    wide = summed(X, F, [], [10]).widened(np.array([0, 3, 1]), 4)
    np.testing.assert_array_equal(wide.factor_sums, [*F.sum(axis=0)[[0, 2]], 0.0, F.sum(axis=0)[1]])
    assert not wide.products[:, 2].any() and not wide.inner[2].any() and wide.inner[3, 1] == F[:, 1] @ F[:, 2]


def test_features_that_do_not_vary():
    rows = X.copy()
    rows[:, 1], rows[:-1, 2] = 0.1, 7.0
    for stored in (np.asarray, sparse.csr_array):
        assert summed(stored(rows), F, [], [1, 50]).varies.tolist() == [True, False, True, True]


def test_float32_tiles():
    away = X + 1e4
    found = summed(away, F, [], [20, 60], precision="float32")
    found.move(away.mean(axis=0))
    expected = np.cov(away.T, bias=True) * N
    error = np.abs(found.gram(0) - expected).max() / expected.max()
    assert 1e-12 < error < 1e-5


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("stored", [np.asarray, np.asfortranarray], ids=["rows", "columns"])
def test_any_number_of_threads_gives_the_same_bits(stored, precision, monkeypatch):
    monkeypatch.setattr(moments, "TILE_BYTES", 1)
    rng = np.random.default_rng(0)
    rows, factors, w = rng.normal(size=(1000, D)) + 3.0, rng.normal(size=(1000, 3)), rng.normal(size=1000)
    found = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(blas, "threads", lambda threads=threads: threads)
        sums = Moments(D, 2, 3, formed=[0, 1], inner=True)
        for part in (slice(0, 700), slice(700, 1000)):
            sums.update(stored(rows[part]), [None, w[part]], [factors[part]], precision)
        found.append([sums.gram(0), sums.gram(1), sums.inner, *(getattr(sums, name) for name in moments.ARRAYS)])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_the_gram_matrix(stored, centred, dtype):
    """Of rows that are read for every product."""
    X = np.random.default_rng(0).normal(size=(30, 6)) + 3.0
    mean = X.mean(axis=0) if centred else None
    Xc = X - mean if centred else X
    readings = []

    def product(V, level):
        readings.append(1)
        parts = [(X[:1], None), (X[1:20], np.ones(19)), (np.repeat(X[20:], 2, axis=0), np.full(20, 0.5))]
        return gram_product(((stored(part), times) for part, times in parts), V, level)

    rows = RowStream(product, 30, mean, np.sum(Xc**2, axis=0), Xc.sum(axis=0), [])
    V = np.random.default_rng(1).normal(size=(6, 3)).astype(dtype)
    found = rows.normal_dot(V)
    assert found.dtype == dtype and rows.shape == (6, 6) and rows.count == 30 and len(readings) == 1
    np.testing.assert_allclose(found, Xc.T @ Xc @ V, rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert rows.squared_norm() == pytest.approx(np.sum(Xc**2))
