"""Prototypes: what each choice promises, duplicates, seeds, sparse rows, bad calls."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from designs import each_value
from proxembed.features import prototypes as prototypes_module
from proxembed.features.prototypes import PROTOTYPES, distinct_rows, prototypes


def rows(n=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.3] = 0.0
    return X


def groups(n=40):
    return np.random.default_rng(2).choice(3, size=n, p=[0.7, 0.2, 0.1])


def dense(M):
    return M.toarray() if sp.issparse(M) else M


@each_value
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("kind", PROTOTYPES)
def test_number_type_and_seed(kind, form):
    X = form(rows())
    P, index = prototypes(kind, X, 7, y_groups=groups(), random_state=3)
    again, index_again = prototypes(kind, X, 7, y_groups=groups(), random_state=3)
    assert P.shape == ((40, 5) if kind == "all" else (7, 5))
    np.testing.assert_array_equal(dense(P), dense(again))
    assert sp.issparse(P) == (sp.issparse(X) and kind != "kmeans")
    if kind == "kmeans":
        assert index is None and index_again is None
    else:
        np.testing.assert_array_equal(dense(P), dense(X)[index])
        np.testing.assert_array_equal(index, index_again)
    assert np.unique(dense(P), axis=0).shape[0] == P.shape[0]


@pytest.mark.parametrize("kind", PROTOTYPES)
def test_sparse_equals_dense(kind):
    X = rows()
    P, index = prototypes(kind, X, 6, y_groups=groups(), random_state=1)
    Q, other = prototypes(kind, sp.csr_array(X), 6, y_groups=groups(), random_state=1)
    np.testing.assert_allclose(P, dense(Q), atol=1e-12)
    if kind != "kmeans":
        np.testing.assert_array_equal(index, other)


@pytest.mark.parametrize("kind", ["random", "kmeans", "kmedoids", "farthest", "stratified"])
def test_another_seed_chooses_otherwise(kind):
    found = [dense(prototypes(kind, rows(), 5, y_groups=groups(), random_state=s)[0]) for s in range(6)]
    assert any(not np.array_equal(np.sort(found[0], axis=0), np.sort(f, axis=0)) for f in found[1:])


@each_value
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", PROTOTYPES)
def test_duplicates_are_removed(kind, form):
    X = np.repeat(rows(4), [5, 1, 3, 2], axis=0)[np.random.default_rng(0).permutation(11)]
    for n_prototypes in (3, 4, 9):
        P, index = prototypes(kind, form(X), n_prototypes, y_groups=np.zeros(11), random_state=0)
        expected = 4 if kind == "all" else min(n_prototypes, 4)
        assert P.shape[0] == expected == np.unique(dense(P).round(12), axis=0).shape[0]
        if index is not None:
            np.testing.assert_array_equal(dense(P), X[index])


def test_distinct_rows_keeps_first_occurrences_and_counts():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [1.0, 0.0]])
    for form in (np.asarray, sp.csr_array):
        index, counts = distinct_rows(form(X))
        np.testing.assert_array_equal(index, [0, 1, 5])
        np.testing.assert_array_equal(counts, [3, 2, 1])
    stored_zero = sp.csr_array((np.array([0.0, 1.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(distinct_rows(stored_zero)[0], [0])
    assert stored_zero.nnz == 3


def clusters():
    rng = np.random.default_rng(5)
    centres = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [20.0, 20.0]])
    labels = rng.integers(4, size=60)
    return centres[labels] + rng.normal(size=(60, 2)), labels


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_kmeans_and_kmedoids_find_separated_clusters(form, offset):
    X, labels = clusters()
    X = X + offset
    if offset and form is sp.csr_array:
        X = X - offset
    centres = prototypes("kmeans", form(X), 4, random_state=1)[0]
    means = np.array([X[labels == k].mean(axis=0) for k in range(4)])
    nearest = ((means[:, None] - centres[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(nearest.min(axis=1), 0, atol=1e-12)
    index = prototypes("kmedoids", form(X), 4, random_state=1)[1]
    best = [np.flatnonzero(labels == k)[((X[labels == k] - means[k]) ** 2).sum(axis=1).argmin()] for k in range(4)]
    np.testing.assert_array_equal(index, np.sort(best))


def test_kmeans_weighs_duplicates():
    X = np.array([[0.0], [0.0], [0.0], [4.0], [100.0]])
    P = np.sort(prototypes("kmeans", X, 2, random_state=0)[0], axis=0)
    np.testing.assert_allclose(P, [[1.0], [100.0]])


def test_kmedoids_takes_the_first_of_rows_at_the_same_distance():
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(4, 3))
        X[2:] += 50.0
        for form in (np.asarray, sp.csr_array):
            np.testing.assert_array_equal(prototypes("kmedoids", form(X), 2, random_state=0)[1], [0, 2])


@pytest.mark.parametrize("kind", ["kmeans", "kmedoids"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_mini_batches_above_the_limit(kind, form, monkeypatch):
    monkeypatch.setattr(prototypes_module, "MINI_BATCH_ROWS", 30)
    P, _ = prototypes(kind, form(rows(200)), 6, random_state=0)
    again, _ = prototypes(kind, form(rows(200)), 6, random_state=0)
    assert 1 <= P.shape[0] <= 6
    np.testing.assert_array_equal(dense(P), dense(again))


def test_wide_sparse_rows_take_two_rounds_of_kmeans_and_others_as_many_as_they_need(monkeypatch):
    asked = []
    monkeypatch.setattr(
        prototypes_module, "KMeans", lambda k, **how: asked.append(how.get("max_iter")) or KMeans(k, **how)
    )
    wide = sp.random_array((60, prototypes_module.WIDE + 1), density=0.01, format="csr", random_state=0)
    P, index = prototypes("kmedoids", wide, 6, random_state=0)
    np.testing.assert_array_equal(dense(P), wide[index].toarray())
    for form in (wide[:, : prototypes_module.WIDE], wide.toarray()):
        prototypes("kmedoids", form, 6, random_state=0)
    assert asked == [prototypes_module.ROUNDS, None, None]


def test_sparse_with_long_indices_and_the_input_untouched():
    X = sp.csr_array(rows())
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    before = X.copy()
    for kind in PROTOTYPES:
        prototypes(kind, X, 4, y_groups=groups(), random_state=0)
    assert X.indices.dtype == np.int64 and not (X != before).nnz


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_farthest_is_the_greedy_k_centre(form):
    X = np.round(rows(), 1)
    index = prototypes("farthest", form(X), 8, random_state=4)[1]
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    for k in range(1, 8):
        gap = D[:, index[:k]].min(axis=1)
        assert gap[index[k]] == pytest.approx(gap.max(), rel=1e-12)
    np.testing.assert_array_equal(prototypes("farthest", form(X), 5, random_state=4)[1], index[:5])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_farthest_chooses_no_row_twice_when_distances_underflow(form):
    X = np.array([[1e-200], [2e-200], [3e-200]])
    assert sorted(prototypes("farthest", form(X), 3, random_state=0)[1]) == [0, 1, 2]


@pytest.mark.parametrize("n_prototypes", [1, 2, 3, 4, 7, 12, 25, 40])
def test_stratified_shares(n_prototypes):
    y = np.array(["a"] * 28 + ["b"] * 9 + ["c"] * 3)
    index = prototypes("stratified", rows(), n_prototypes, y_groups=y, random_state=0)[1]
    taken = np.array([(y[index] == g).sum() for g in "abc"])
    sizes = np.array([28, 9, 3])
    assert taken.sum() == n_prototypes and (taken <= sizes).all()
    if n_prototypes <= 3:
        np.testing.assert_array_equal(taken, np.arange(3) < n_prototypes)
    else:
        assert taken.min() >= 1
        assert abs(taken - n_prototypes * sizes / 40).max() <= 1.0
    if n_prototypes == 40:
        np.testing.assert_array_equal(taken, sizes)


def test_a_function_is_accepted():
    def first(X, n_prototypes, *, y_groups=None, random_state=None):
        return X[:n_prototypes], np.arange(n_prototypes)

    np.testing.assert_array_equal(prototypes(first, rows(), 3)[0], rows()[:3])


def test_bad_calls_are_named():
    X = rows()
    with pytest.raises(ValueError, match="kind='nystrom'.*kmedoids"):
        prototypes("nystrom", X, 3)
    for value in (0, 41, -1, 2.0, True, None, "all"):
        with pytest.raises(ValueError, match="n_prototypes=.*from 1 to 40"):
            prototypes("random", X, value)
    with pytest.raises(ValueError, match="y_groups=None"):
        prototypes("stratified", X, 3)
    with pytest.raises(ValueError, match=r"y_groups has shape \(3,\)"):
        prototypes("stratified", X, 3, y_groups=[0, 1, 2])
    with pytest.raises(ValueError, match="at least one row"):
        prototypes("all", X[:0])
    wide = sp.csr_array(([1.0, 1.0], ([0, 1], [0, 5])), shape=(2, 2 * 10**8))
    with pytest.raises(ValueError, match="max_dense_bytes"):
        prototypes("kmeans", wide, 2)
