"""Nearest rows against brute force with ties, and that no route, order, form or thread changes them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

import strategies
from designs import each_value
from memory import traced_memory
from proxembed.algebra.arrays import blas
from proxembed.proximity import distances, search
from proxembed.proximity.backends import nearest
from proxembed.proximity.distances import canonical, exact_sums, pair_distances
from proxembed.proximity.search import exact_nearest
from unit.proximity.brute_neighbors import assert_nearest, brute, grid, same


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(distances, "BLOCK", 16)


@each_value
@pytest.mark.parametrize("K", [1, 7, 40, 89])
@pytest.mark.parametrize("d", [1, 4, 40])
def test_whole_numbers_with_ties(small_blocks, d, K):
    X = grid(d=d)
    found = nearest(X, K)
    assert_nearest(found, brute(cdist(X, X), K))
    assert found.recall is None and found.index.dtype == np.intp and found.K == K
    same(found, nearest(sparse.csr_array(X), K))
    same(found, nearest(X.astype(np.float32), K))
    same(found, nearest(X * 2.0**30 / 2.0**30, K))


def test_large_whole_numbers_beyond_single_precision(small_blocks):
    X = grid(d=6, top=3) * 4001.0 + 70000.0
    assert_nearest(nearest(X, 6), brute(cdist(X, X), 6), rtol=1e-15)


@pytest.mark.parametrize("blocks", [16, 1024])
@pytest.mark.parametrize("name", ["dense", "text", "duplicates", "far clusters", "outlier"])
def test_continuous_rows(monkeypatch, name, blocks):
    monkeypatch.setattr(distances, "BLOCK", blocks)
    X = {
        "dense": lambda: strategies.features_dense(100, 50, 1),
        "text": lambda: strategies.features_text(100, 300, 2),
        "duplicates": lambda: strategies.features_duplicate_rows(90, 5, 3),
        "far clusters": lambda: strategies.features_dense(100, 3, 4) * 1e-4 + 1e3 * (np.arange(100) % 5)[:, None],
        "outlier": lambda: np.concatenate([strategies.features_dense(99, 3, 5), np.full((1, 3), 1e6)]),
    }[name]()
    dense = X.toarray() if sparse.issparse(X) else X
    for K in (1, 5, 30):
        found = nearest(X, K)
        assert_nearest(found, brute(cdist(dense, dense), K), rtol=1e-12)
        same(found, nearest(dense, K))
        same(found, nearest(sparse.csr_array(dense), K))


@given(st.integers(0, 2**20), st.sampled_from([0.1, 1.0, 1 / 255, 1e-30, 1e12]), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_scaled_grids_have_the_ties_of_exact_arithmetic(seed, scale, K):
    """Multiples of 0.1 tie up to rounding only: the truth is that of the sum of the squares, without rounding."""
    X = grid(40, 3, seed) * scale
    squares = [[sum(Fraction((a - b) ** 2) for a, b in zip(x, y, strict=True)) for y in X.tolist()] for x in X.tolist()]
    index, distance = brute(np.sqrt(np.array([[float(v) for v in row] for row in squares])), K)
    old, distances.BLOCK = distances.BLOCK, 8
    try:
        found = nearest(X, K)
        sparse_found = nearest(sparse.csr_array(X), K)
        turned = nearest(X[:, ::-1], K)
    finally:
        distances.BLOCK = old
    assert_nearest(found, (index, distance))
    same(found, sparse_found)
    same(found, turned)


@given(st.integers(0, 2**20), st.integers(1, 40), st.floats(-8, 8))
@settings(max_examples=30, deadline=None)
def test_tiles_are_bounds(seed, d, power):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, d)) * 10.0 ** rng.uniform(-3, 3, d) + 10.0**power
    truth = pair_distances(X, *(part.ravel() for part in np.indices((60, 60))[:1]), X, np.tile(np.arange(60), 60)) ** 2
    plan = distances.plan_tiles(X, [], 5, "euclidean")
    for dtype in (np.float32, np.float64):
        slack = plan.slack / np.finfo(plan.dtype).eps * np.finfo(dtype).eps
        chosen = distances.TilePlan(plan.frequent, plan.mean, plan.factor, dtype, slack, False)
        side = distances.Side(X, np.arange(60), chosen)
        lower = distances.tile(side, 0, side, 0).astype(float)
        upper = lower + distances.width_of(chosen, side.size[:, None], side.size[None, :])
        scaled = truth.reshape(60, 60) * plan.factor**2
        assert np.all(lower <= scaled * (1 + 1e-12)) and np.all(scaled <= upper * (1 + 1e-12) + 1e-300)


def test_without_the_bound_single_precision_is_wrong(small_blocks, monkeypatch):
    """Negative control: the error bound is what makes the search exact."""
    X = strategies.features_dense(200, 20, 4) * 1e-4 + 10.0 * (np.arange(200) % 5)[:, None]
    truth = brute(cdist(X, X), 3)[0]
    np.testing.assert_array_equal(nearest(X, 3).index, truth)
    plan = distances.TilePlan(None, X.mean(axis=0), 1.0, np.float32, 1e-300, False)
    monkeypatch.setattr(search, "plan_tiles", lambda *arguments: plan)
    assert not np.array_equal(exact_nearest(X, 3, None, "euclidean", True)[0], truth)


def test_single_precision_is_left_where_it_would_blur(small_blocks):
    blurred = strategies.features_dense(400, 3, 4) * 1e-6 + (np.arange(400) % 2)[:, None]
    assert distances.plan_tiles(strategies.features_dense(100, 3, 4), [], 5, "euclidean").dtype is np.float32
    assert distances.plan_tiles(blurred, [], 5, "euclidean").dtype is np.float64
    assert distances.plan_tiles(grid(), [], 5, "euclidean").exact
    assert not distances.plan_tiles(grid() * 1e4, [], 5, "euclidean").exact


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0])
@pytest.mark.parametrize("K", [1, 3, 49])
def test_all_rows_identical(small_blocks, value, K):
    X = np.full((50, 3), value)
    found = nearest(X, K)
    np.testing.assert_array_equal(found.index, brute(np.zeros((50, 50)), K)[0])
    assert not found.distance.any()
    same(found, nearest(sparse.csr_array(X), K))


def test_many_identical_rows_among_others(small_blocks):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))[rng.choice([0, 1, 2, *range(3, 60)], 120, p=[0.2, 0.2, 0.2, *[0.4 / 57] * 57])]
    for K in (1, 4, 30):
        np.testing.assert_array_equal(nearest(X, K).index, brute(cdist(X, X), K)[0])
        found = nearest(X, K, queries=X[:40] + 0.1)
        np.testing.assert_array_equal(found.index, brute(cdist(X[:40] + 0.1, X), K, False)[0])


def test_few_neighbours_are_measured_among_many_identical_rows(monkeypatch):
    """Rows that no list can hold are left out before any distance is measured."""
    monkeypatch.setattr(distances, "BLOCK", 64)
    X = np.full((1000, 2), 0.1)
    measured = []
    monkeypatch.setattr(search, "suits_tree", lambda *_: False)
    monkeypatch.setattr(search, "pair_distances", lambda A, i, *rest: measured.append(len(i)) or np.zeros(len(i)))
    nearest(X, 3)
    assert sum(measured) <= 4 * 4


def test_queries_and_self_inclusion(small_blocks):
    X, Q = grid(60), grid(25, seed=1)
    for K in (1, 9, 60):
        found = nearest(X, K, queries=Q)
        assert_nearest(found, brute(cdist(Q, X), K, False))
        same(found, nearest(sparse.csr_array(X), K, queries=sparse.csr_array(Q)))
        same(found, nearest(X, K, queries=sparse.csr_array(Q)))
        np.testing.assert_array_equal(nearest(X, K, exclude=False).index, brute(cdist(X, X), K, False)[0])


@pytest.mark.parametrize("blocks", [16, 1024])
def test_cosine(monkeypatch, blocks):
    monkeypatch.setattr(distances, "BLOCK", blocks)
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, (90, 3)) * rng.choice([0.3, 1.0, 7.0], (90, 1))
    X[5] = X[40] = 0.0
    norms = np.linalg.norm(X, axis=1)
    U = np.divide(X, norms[:, None], out=np.zeros_like(X), where=norms[:, None] > 0)
    D = np.maximum(np.round(1.0 - U @ U.T, 12), 0.0)
    for K in (1, 8, 89):
        found = nearest(X, K, metric="cosine")
        assert_nearest(found, brute(D, K))
        same(found, nearest(sparse.csr_array(X), K, metric="cosine"))
    assert np.all(nearest(X, 5, metric="cosine").distance[5] == 1.0)


def test_precomputed_distances_need_no_symmetry():
    D = grid(30, 30, top=6)
    assert_nearest(nearest(D, 4, metric="precomputed"), brute(D, 4))
    found = nearest(D, 30, metric="precomputed", queries=D[:7])
    np.testing.assert_array_equal(found.index, brute(D[:7], 30, False)[0])


@pytest.mark.parametrize("X", [grid(300, 5), strategies.features_dense(300, 5), strategies.features_text(300, 200)])
def test_threads_change_nothing(small_blocks, monkeypatch, X):
    results = []
    for count in (1, 2, 5):
        for module in (blas, search):
            monkeypatch.setattr(module, "threads", lambda count=count: count)
        results.append(nearest(X, 6))
    same(results[0], results[1])
    same(results[0], results[2])


def test_rows_sorted_towards_ever_nearer_ones(small_blocks):
    """Each block is nearer than all before it: tiles are crowded, and lists are renewed again and again."""
    X = np.cumsum(np.random.default_rng(0).random((200, 1)), axis=0)
    np.testing.assert_array_equal(nearest(X, 3).index, brute(cdist(X, X), 3)[0])


def test_memory_is_a_few_tiles():
    X = np.random.default_rng(0).standard_normal((6000, 5))
    with traced_memory() as memory:
        nearest(X, 5)
    assert memory.peak < 6000**2 * 4 / 2


def test_input_stays_as_it_was():
    X = sparse.csr_array((np.ones(4), [1, 1, 0, 2], [0, 2, 3, 4]), shape=(3, 3))
    before = X.copy()
    assert nearest(X, 1).index.ravel().tolist() == [1, 2, 1]
    assert X.nnz == before.nnz and np.array_equal(X.data, before.data)


def test_sums_do_not_depend_on_order_and_are_exact():
    rng = np.random.default_rng(0)
    terms = rng.standard_normal((40, 301)) ** 2 * 10.0 ** rng.uniform(-8, 8, (40, 301))
    sums = exact_sums(terms)
    np.testing.assert_array_equal(sums, exact_sums(terms[:, rng.permutation(301)]))
    np.testing.assert_array_equal(sums, exact_sums(sparse.csr_array(terms)))
    np.testing.assert_array_equal(sums, [float(sum(map(Fraction, row))) for row in terms.tolist()])
    assert not np.array_equal(terms.sum(axis=1), terms[:, ::-1].sum(axis=1))
    assert exact_sums(np.zeros((3, 0))).tolist() == [0.0, 0.0, 0.0]
    assert exact_sums(sparse.csr_array((3, 4))).tolist() == [0.0, 0.0, 0.0]


def test_distances_are_symmetric_in_every_bit():
    X = canonical(strategies.features_dense(50, 33, 2))
    i, j = (part.ravel() for part in np.indices((50, 50)))
    D = pair_distances(X, i, X, j).reshape(50, 50)
    np.testing.assert_array_equal(D, D.T)
    assert not np.diag(D).any()
    np.testing.assert_allclose(D, cdist(X, X), rtol=1e-12)


@pytest.mark.parametrize("K", [0, -3, 2.0, True, "5", 10])
def test_numbers_out_of_range(K):
    with pytest.raises(ValueError, match=r"K=.* whole number from 1 to 9"):
        nearest(grid(10), K)


def test_shapes_and_names_that_do_not_fit():
    with pytest.raises(ValueError, match="metric='manhattan' is not known; choose one of euclidean"):
        nearest(grid(10), 2, metric="manhattan")
    with pytest.raises(ValueError, match="queries have 3 columns and X has 4"):
        nearest(grid(10), 2, queries=grid(5, 3))
    with pytest.raises(ValueError, match="10 x 4 is not allowed"):
        nearest(grid(10), 2, metric="precomputed")
    with pytest.raises(TypeError, match="dense array of distances"):
        nearest(sparse.csr_array(grid(10, 10)), 2, metric="precomputed")
    with pytest.raises(ValueError, match="whole number from 1 to 10"):
        nearest(grid(10), 11, queries=grid(3))


@pytest.mark.parametrize("K", [1, 6])
@pytest.mark.parametrize("name", ["smooth", "duplicates", "grid", "some ties"])
def test_trees_give_what_tiles_give(monkeypatch, name, K):
    X = {
        "smooth": lambda: strategies.features_dense(200, 3, 1),
        "duplicates": lambda: strategies.features_duplicate_rows(200, 3, 2),
        "grid": lambda: grid(200, 2, 3, top=5),
        "some ties": lambda: np.concatenate([strategies.features_dense(180, 2, 4), grid(20, 2, 5) + 9.0]),
    }[name]()
    tiled, queried = nearest(X, K), nearest(X, K, queries=X[:50] + 0.25)
    asked = []
    inner = search.tree_nearest
    monkeypatch.setattr(search, "MANY_ROWS", 100)

    def tree(*arguments):
        found = inner(*arguments)
        asked.append([part.copy() for part in found])
        return found

    monkeypatch.setattr(search, "tree_nearest", tree)
    same(nearest(X, K), tiled)
    same(nearest(X, K, queries=X[:50] + 0.25), queried)
    np.testing.assert_array_equal(tiled.index, brute(cdist(X, X), K)[0])
    unsure = float(np.mean(~asked[0][2]))
    assert {"smooth": unsure == 0, "grid": unsure > 0.25}.get(name, True)
    if name == "some ties":
        assert 0 < unsure <= 0.25
        assert not np.array_equal(asked[0][0], tiled.index)


def test_trees_are_for_few_columns_and_many_rows():
    tall = np.zeros((5000, 3))
    assert search.suits_tree(tall, 5, "euclidean")
    assert not search.suits_tree(tall, 5, "cosine")
    assert not search.suits_tree(sparse.csr_array(tall), 5, "euclidean")
    assert not search.suits_tree(tall[:100], 5, "euclidean")
    assert not search.suits_tree(np.zeros((5000, 30)), 5, "euclidean")
    assert not search.suits_tree(tall, 500, "euclidean")


@pytest.mark.parametrize("kept", [0, 1 << 30])
def test_factors_made_anew_for_each_tile_and_rare_features_change_nothing(small_blocks, monkeypatch, kept):
    """Features that are zero in most rows are multiplied as sparse ones, of dense rows too."""
    X = strategies.features_text(80, 1500, 1)
    whole = (X > 0).astype(float)
    for rows in (X, X.toarray(), whole, whole.toarray()):
        frequent = distances.plan_tiles(rows, [], 5, "euclidean").frequent
        assert frequent is not None and 0 < len(frequent) < 1400
        dense = rows.toarray() if sparse.issparse(rows) else rows
        monkeypatch.setattr(distances, "KEPT_BYTES", kept)
        found = nearest(rows, 6)
        truth = pair_distances(dense, np.repeat(np.arange(80), 80), dense, np.tile(np.arange(80), 80)).reshape(80, 80)
        index, distance = brute(truth, 6)
        assert_nearest(found, (index, distance))
    assert distances.plan_tiles(strategies.features_dense(80, 40), [], 5, "euclidean").frequent is None
