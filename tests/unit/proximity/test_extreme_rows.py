"""Nearest rows where all distances tie, where rows differ in their last digits, and at both ends of the numbers."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import strategies
from designs import pairwise
from memory import traced_memory
from proxembed.algebra.arrays import blas
from proxembed.proximity import distances, search
from proxembed.proximity.backends import nearest
from proxembed.proximity.distances import canonical, pair_distances
from unit.proximity.brute_neighbors import assert_nearest, brute, grid, same


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(distances, "BLOCK", 16)


def short_texts(n: int, kind: str) -> sparse.csr_array:
    """Rows of which nearly all pairs share no feature."""
    rng = np.random.default_rng(0)
    if kind == "equal lengths":
        return sparse.csr_array(sparse.eye_array(n) * 0.3)
    if kind == "two lengths":
        return sparse.csr_array(sparse.diags_array(rng.choice([0.3, 0.7], n)))
    words = (rng.random(3 * n) + 0.1, (np.repeat(np.arange(n), 3), rng.integers(0, 20 * n, 3 * n)))
    return sparse.csr_array(words, shape=(n, 20 * n))


@pytest.mark.parametrize(
    ("kind", "metric", "measured_alike"),
    [
        ("equal lengths", "euclidean", False),
        ("two lengths", "euclidean", True),
        ("three words", "cosine", False),
        ("equal lengths", "cosine", False),
    ],
)
def test_distances_that_all_tie_are_not_kept(monkeypatch, kind, metric, measured_alike):
    """Memory is that of a few tiles, and pairs whose distance the bounds tell are not measured again."""
    n, K = 1200, 5
    monkeypatch.setattr(distances, "BLOCK", 128)
    for module in (blas, search):
        monkeypatch.setattr(module, "threads", lambda: 1)
    X = short_texts(n, kind)
    measured = []
    inner = search.pair_distances
    monkeypatch.setattr(search, "pair_distances", lambda A, i, *rest: measured.append(len(i)) or inner(A, i, *rest))
    with traced_memory() as memory:
        found = nearest(X, K, metric=metric)
    assert memory.peak < 8 * n**2 + 4e6
    assert measured_alike or sum(measured) <= n
    row = np.repeat(np.arange(n), n)
    Z = canonical(X, metric)
    truth = np.concatenate(
        [pair_distances(Z, part, Z, np.tile(np.arange(n), len(part) // n), metric) for part in np.split(row, 10)]
    ).reshape(n, n)
    index, distance = brute(truth, K)
    np.testing.assert_array_equal(found.index, index)
    np.testing.assert_array_equal(found.distance, distance)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("K", [1, 4])
def test_settled_lists_are_the_nearest(monkeypatch, K, metric):
    """Lists that are settled again and again, with ties by whole numbers, by rounding and by cancelling terms."""
    monkeypatch.setattr(distances, "BLOCK", 16)
    monkeypatch.setattr(search, "FEW", 0)
    monkeypatch.setattr(search, "SETTLED", 1)
    settled = []
    inner = search._Pool.settle
    monkeypatch.setattr(search._Pool, "settle", lambda pool, measure: settled.append(1) or inner(pool, measure))
    for seed in range(6):
        X = np.random.default_rng(seed).integers(-1, 2, (150, 4 + seed)) * 0.1 * (1 + np.arange(150) % 2)[:, None]
        Z = canonical(X, metric)
        i, j = (part.ravel() for part in np.indices((150, 150)))
        index, distance = brute(pair_distances(Z, i, Z, j, metric).reshape(150, 150), K)
        for form in (np.asarray, sparse.csr_array):
            assert_nearest(nearest(form(X), K, metric=metric), (index, distance))
    assert len(settled) > 12 * len(range(0, 150, 16))


@pytest.mark.parametrize("c", [0.3, 1e-200, 7e200, 2.0**-560, 0.1])
def test_rows_of_one_value_tie_in_every_bit(small_blocks, c):
    """Rows of 0, c and -c have exact tiles, and the distances are those that are measured pair by pair."""
    X = np.random.default_rng(0).integers(-1, 2, (80, 5)) * c
    assert distances.plan_tiles(X, [], 5, "euclidean").exact
    found = nearest(X, 7)
    i, j = (part.ravel() for part in np.indices((80, 80)))
    index, distance = brute(pair_distances(X, i, X, j).reshape(80, 80), 7)
    assert_nearest(found, (index, distance))
    np.testing.assert_array_equal(index, brute(cdist(X / c, X / c), 7)[0])
    Q = -X[::3]
    np.testing.assert_array_equal(nearest(X, 7, queries=Q).index, brute(cdist(Q / c, X / c), 7, False)[0])
    np.testing.assert_array_equal(nearest(sparse.csr_array(X), 7).distance, distance)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("large, small", [(1e9, 1e-8), (1.7e9, 1e-7), (1e12, 1e-5), (1e5, 1e-12)])
def test_small_features_beside_a_large_one_tell_rows_apart(form, large, small):
    """Rows are identical where all entries are, not where some sum of them rounds to the same."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(200, large), small * rng.random(200), small * rng.random(200)])
    X[150:170] = X[3]
    assert_nearest(nearest(form(X), 3), brute(cdist(X[:, 1:], X[:, 1:]), 3), rtol=1e-12)


def test_equal_fingerprints_do_not_make_rows_identical(monkeypatch, small_blocks):
    X = strategies.features_duplicate_rows(90, 4, 1)
    X[40:60] = X[2]
    expected = [nearest(form(X), 3) for form in (np.asarray, sparse.csr_array)]
    monkeypatch.setattr(search, "fingerprints", lambda X, multipliers: np.zeros(X.shape[0], dtype=np.uint64))
    for form, wanted in zip((np.asarray, sparse.csr_array), expected, strict=True):
        same(nearest(form(X), 3), wanted)


@pairwise
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("power", [-1040, -700, -560, 600, 1000])
@pytest.mark.parametrize(("n", "d"), [(60, 3), (1200, 3), (60, 40)])
def test_squares_beyond_the_range_of_numbers(n, d, power, metric):
    X = np.random.default_rng(1).integers(-(2**20), 2**20, (n, d)) * 2.0**-20
    for form in (np.asarray, sparse.csr_array) if n == 60 else (np.asarray,):
        plain, moved = (nearest(form(np.ldexp(X, p)), 4, metric=metric) for p in (0, power))
        np.testing.assert_array_equal(moved.index, plain.index)
        shown = plain.distance if metric == "cosine" else np.ldexp(plain.distance, power)
        np.testing.assert_allclose(moved.distance, shown, rtol=0 if power > -800 else 1e-9)


def test_pairs_far_nearer_than_the_largest_value(small_blocks):
    """Their squared distances underflow although no row is small, and no scaling of all rows could help."""
    X = np.column_stack([np.repeat([1.0, 1e200], 30), np.random.default_rng(0).random(60) * 1e-200])
    assert_nearest(
        nearest(X, 4),
        brute(np.abs(X[:, 1, None] - X[None, :, 1]) + 1e200 * (X[:, 0, None] != X[None, :, 0]), 4),
        rtol=1e-12,
    )


def test_distances_that_overflow_are_refused():
    for X in (np.array([[-1.7e308], [1.7e308]]), np.full((3, 4), 1.7e308) * np.array([[1.0], [0.0], [-1.0]])):
        with pytest.raises(ValueError, match="overflow: scale X"):
            nearest(X, len(X) - 1)
        with pytest.raises(ValueError, match="overflow: scale X"):
            nearest(X * 0.99 + X[:1] * 1e-9, len(X) - 1)


@pytest.mark.parametrize("value", [np.inf, np.nan, -1.0])
def test_given_distances_are_finite_and_at_least_zero(value):
    D = cdist(grid(6), grid(6))
    D[4, 2] = value
    for work in (
        lambda: nearest(D, 2, metric="precomputed"),
        lambda: nearest(np.abs(grid(6, 6)), 2, queries=D, metric="precomputed"),
    ):
        with pytest.raises(ValueError, match=r"\[4, 2\] = .* is not allowed with metric=\"precomputed\""):
            work()


def test_single_precision_rows_are_never_extreme():
    X = strategies.features_dense(60, 5, 2).astype(np.float32)
    for rows in (X, X * np.float32(1e-30), X * np.float32(1e30)):
        same(nearest(rows, 3), nearest(rows.astype(np.float64), 3))
        same(nearest(sparse.csr_array(rows), 3, metric="cosine"), nearest(rows.astype(np.float64), 3, metric="cosine"))
