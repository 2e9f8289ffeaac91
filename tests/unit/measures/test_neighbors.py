"""Nearest rows by the centred cosine with one constant coordinate: the definition, ties, one axis, sparse, offsets."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import cosine_similarity

from proxembed.measures import neighbors
from proxembed.measures.metrics import row_jaccard
from proxembed.measures.neighbors import (
    cosine_frame,
    hub_share,
    kept_neighbors,
    neighbor_scores,
    neighbor_weights,
    new_neighbor_weights,
)


def by_definition(Z, Z_train, k):
    """Weights one by one: centre, append s, cosine; what ties with the last place shares it."""
    mean = Z_train.mean(axis=0)
    s = np.sqrt(((Z_train - mean) ** 2).mean())
    extended = [np.append(row - mean, s) for row in Z_train]
    found = np.zeros((len(Z), len(Z_train)))
    for i, z in enumerate(np.append(row - mean, s) for row in Z):
        cosine = np.array([np.round(z @ t / np.linalg.norm(z) / np.linalg.norm(t), 12) for t in extended])
        cut = np.sort(cosine)[-k]
        above, level = cosine > cut, cosine == cut
        found[i] = (above + level * (k - above.sum()) / level.sum()) / k
    return found


@pytest.mark.parametrize("block_bytes", [1, 8 * 40 * 7, 2**26])
def test_equals_the_definition_in_any_block(block_bytes):
    rng = np.random.default_rng(0)
    Z_train, Z = rng.integers(0, 3, size=(40, 3)).astype(float), rng.normal(size=(25, 3))
    found = neighbor_weights(Z, Z_train, 6, block_bytes=block_bytes).toarray()
    np.testing.assert_allclose(found, by_definition(Z, Z_train, 6), atol=1e-14)
    assert (np.count_nonzero(found, axis=1) > 6).any(), "some rows tie at the last place"


@pytest.mark.parametrize("k", [1, 3])
def test_the_frame_makes_plain_cosines_those_of_the_neighbours(k):
    rng = np.random.default_rng(5)
    Z_train, Z = rng.normal(size=(40, k)) + 2, rng.normal(size=(12, k)) + 2
    mean, constant = cosine_frame(Z_train)
    framed = [np.column_stack([rows - mean, np.full(len(rows), constant)]) for rows in (Z, Z_train)]
    order = np.argsort(-cosine_similarity(*framed), axis=1)[:, :10]
    nearest = neighbor_weights(Z, Z_train, 10)
    assert [set(row) for row in order] == [set(nearest.indices[a:b]) for a, b in pairwise(nearest.indptr)]
    plain = np.argsort(-cosine_similarity(Z, Z_train), axis=1)[:, :10]
    assert any(set(row) != set(other) for row, other in zip(plain, order, strict=True))


@pytest.mark.parametrize("block_bytes", [1, 8 * 30 * 7, 2**26])
def test_new_rows_are_near_each_other_and_never_themselves(block_bytes):
    """By the definition, one row at a time against all others; the training rows set centre and constant alone."""
    rng = np.random.default_rng(3)
    Z_train, Z = rng.normal(size=(40, 3)) + 2, rng.integers(0, 3, size=(30, 3)).astype(float)
    found = new_neighbor_weights(Z, Z_train, 4, block_bytes=block_bytes).toarray()
    mean = Z_train.mean(axis=0)
    E = np.column_stack([Z - mean, np.full(30, np.sqrt(((Z_train - mean) ** 2).mean()))])
    cosine = np.round(E @ E.T / np.linalg.norm(E, axis=1) / np.linalg.norm(E, axis=1)[:, None], 12)
    np.fill_diagonal(cosine, -np.inf)
    cut = np.sort(cosine, axis=1)[:, -4, None]
    above, level = cosine > cut, cosine == cut
    expected = (above + level * ((4 - above.sum(axis=1)) / level.sum(axis=1))[:, None]) / 4
    np.testing.assert_allclose(found, expected, atol=1e-14)
    sparse = new_neighbor_weights(sp.csr_array(Z), sp.csr_array(Z_train), 4, block_bytes=block_bytes)
    np.testing.assert_allclose(sparse.toarray(), expected, atol=1e-14)
    assert np.all(np.diag(found) == 0)


def test_all_other_rows_are_neighbours_where_they_are_few():
    found = new_neighbor_weights(np.eye(3), np.eye(3), 10).toarray()
    np.testing.assert_allclose(found, (1 - np.eye(3)) / 2)
    with pytest.raises(ValueError, match="Z has 1 row"):
        new_neighbor_weights(np.ones((1, 2)), np.eye(2))


def test_one_axis_orders_rows_by_the_angle():
    rng = np.random.default_rng(1)
    Z_train, Z = 3 * rng.normal(size=(60, 1)) + 5, 3 * rng.normal(size=(30, 1)) + 5
    centred = Z_train - Z_train.mean()
    s = np.sqrt((centred**2).mean())
    apart = np.abs(np.arctan((Z - Z_train.mean()) / s) - np.arctan(centred / s).T)
    for each in (neighbor_weights(Z, Z_train, 7), neighbor_weights(sp.csr_array(Z), sp.csr_array(Z_train), 7)):
        assert [set(row) for row in np.argsort(apart, axis=1)[:, :7]] == [
            set(each.indices[a:b]) for a, b in zip(each.indptr, each.indptr[1:], strict=False)
        ]


def test_one_axis_that_separates_two_classes_finds_the_class_of_each_row():
    """A cosine of one centred coordinate is a sign: it cannot tell a class in the middle from the others."""
    z = np.arange(60.0)[:, None]
    Y = np.eye(3, dtype=bool)[np.repeat([0, 1, 2], 20)]
    assert row_jaccard(Y, Y, neighbor_weights(z, z, 5)).mean() > 0.9


def test_rows_that_tie_share_the_last_place_in_any_order_of_the_rows():
    Z_train = np.array([[1.0, 0], [0, 1], [1, 0], [-1, -1], [1, 0]])
    Z_train = np.vstack([Z_train, -Z_train])
    found = neighbor_weights(np.array([[3.0, 0]]), Z_train, 2).toarray()[0]
    np.testing.assert_allclose(found[[0, 2, 4]], 1 / 3)
    order = np.random.default_rng(0).permutation(10)
    again = neighbor_weights(np.array([[3.0, 0]]), Z_train[order], 2).toarray()[0]
    np.testing.assert_allclose(again, found[order])


def test_of_very_many_rows_that_tie_evenly_spaced_ones_share(monkeypatch):
    monkeypatch.setattr(neighbors, "MOST_TIED", 4)
    found = neighbor_weights(np.ones((2, 2)), np.ones((13, 2)), 3)
    assert found.indices.tolist() == [0, 4, 8, 12] * 2
    np.testing.assert_allclose(found.data, 1 / 4)


def test_sparse_equals_dense():
    Z_train, Z = (sp.coo_array(sp.random(n, 30, density=0.2, random_state=n)) for n in (50, 20))
    dense = neighbor_weights(Z.toarray(), Z_train.toarray(), 5).toarray()
    sparse = neighbor_weights(sp.csr_array(Z), sp.csr_array(Z_train), 5).toarray()
    np.testing.assert_allclose(sparse, dense, atol=1e-14)


def test_a_shift_and_a_scale_change_nothing():
    rng = np.random.default_rng(2)
    for width in (1, 4):
        Z_train, Z = rng.normal(size=(40, width)), rng.normal(size=(20, width))
        shifted = neighbor_weights(1e-6 * Z + 7, 1e-6 * Z_train + 7, 5).toarray()
        np.testing.assert_allclose(shifted, neighbor_weights(Z, Z_train, 5).toarray(), atol=1e-14)


def test_few_rows_are_all_neighbours():
    assert neighbor_weights(np.array([[0.0, 0]]), np.array([[1.0, 0], [-1, 0], [0, 0]]), 10).toarray().tolist() == [
        [1 / 3, 1 / 3, 1 / 3]
    ]


def test_scores_are_shares_of_the_neighbours():
    Y = np.array([[1, 0], [1, 1], [0, 0]])
    weights = sp.csr_array([[1 / 3, 1 / 3, 1 / 3], [0, 0, 1]])
    np.testing.assert_allclose(neighbor_scores(weights, Y).toarray(), [[2 / 3, 1 / 3], [0, 0]], atol=1e-12)


def test_the_hub_is_the_row_that_most_queries_list():
    Z_train = np.vstack([np.zeros((1, 2)), 100 * np.random.default_rng(0).normal(size=(30, 2))])
    near_zero = 1e-3 * np.random.default_rng(1).normal(size=(50, 2))
    assert hub_share(neighbor_weights(near_zero, Z_train, 1), 1) == 1.0
    assert hub_share(neighbor_weights(Z_train, Z_train, 1), 1) == pytest.approx(1 / 31)
    assert hub_share(neighbor_weights(np.ones((5, 2)), np.ones((20, 2)), 10), 10) == pytest.approx(0.5), "all tie"


def test_kept_neighbours_are_counted_and_chance_is_their_share_of_the_rows():
    rng = np.random.default_rng(5)
    X, X_train, Z, Z_train = (rng.normal(size=shape) for shape in ((70, 6), (200, 6), (70, 2), (200, 2)))
    Z, Z_train = Z / 5 + X[:, :2], Z_train / 5 + X_train[:, :2]
    near, mapped = (
        np.linalg.norm(new[:, None] - train, axis=2).argsort(axis=1)[:, :10]
        for new, train in ((X, X_train), (Z, Z_train))
    )
    shared = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(near, mapped, strict=True)])
    assert shared > 0.1 and kept_neighbors(X, X_train, Z, Z_train) == pytest.approx(shared)
    assert kept_neighbors(sp.csr_array(X), sp.csr_array(X_train), Z, Z_train) == pytest.approx(shared)
    assert kept_neighbors(X, X_train, X @ np.eye(6) * 3 + 1, X_train * 3 + 1) == pytest.approx(1.0)
    draws = [kept_neighbors(X, X_train, Z, rng.permutation(Z_train)) for _ in range(20)]
    assert np.mean(draws) == pytest.approx(10 / 200, abs=0.01)
    one_place = kept_neighbors(X, X_train, np.zeros((70, 2)), np.zeros((200, 2)))
    assert one_place == pytest.approx(10 / 200), "ties are broken at random"
    assert np.isnan(kept_neighbors(X[:0], X_train, Z[:0], Z_train))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="n_neighbors=0"):
        neighbor_weights(np.eye(2), np.eye(2), 0)
    with pytest.raises(ValueError, match="Z has 3 columns and Z_train 2"):
        neighbor_weights(np.eye(3), np.eye(2), 1)


def test_rows_too_near_for_float32_are_told_apart():
    train = 1e-3 * np.random.default_rng(3).normal(size=(300, 4))
    train[:2] = [[50.0, 0, 0, 0], [-50.0, 0, 0, 0]]  # all others look alike beside these
    found = neighbor_weights(train[10:20], train, 5).toarray()
    np.testing.assert_allclose(found, by_definition(train[10:20], train, 5), atol=1e-14)
