"""Graph maps of rows that occur several times: neighbours are distinct rows, and equal rows have one place."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import clone

from contracts.estimators import gram_distance
from designs import each_value
from proxembed import LLE, LaplacianEigenmaps

U, K = 20, 5
rng = np.random.default_rng(0)
BASE = rng.standard_normal((U, 4))
EIGHT = np.repeat(BASE, 8, axis=0)
PLACE = rng.permutation(np.repeat(np.arange(U), rng.integers(1, 9, U)))
UNEVEN = BASE[PLACE]
E = (PLACE[:, None] == np.arange(U)).astype(float)
COUNTS = E.sum(axis=0)
MAPS = {
    "LLE": LLE(n_neighbors=K),
    "LLE, landmarks": LLE(n_neighbors=K, n_landmarks=15),
    "LE": LaplacianEigenmaps(n_neighbors=K),
    "LE, symmetric": LaplacianEigenmaps(n_neighbors=K, normalization="symmetric"),
    "LE, unit rows": LaplacianEigenmaps(n_neighbors=K, normalization="symmetric", row_normalize=True),
    "LE, plain": LaplacianEigenmaps(n_neighbors=K, normalization="none"),
    "LE, geodesic": LaplacianEigenmaps(n_neighbors=K, weights="geodesic", graph="full"),
    "LE, local": LaplacianEigenmaps(n_neighbors=K, weights="local_scaling"),
    "LE, rebuilding": LaplacianEigenmaps(n_neighbors=K, weights="reconstruction"),
}
every = pytest.mark.parametrize("name", MAPS)


def fitted(name: str, X, **options):
    return clone(MAPS[name]).set_params(**options).fit(X)


@each_value
@every
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_equal_rows_share_a_place_that_is_not_rounding(name, form):
    map_ = fitted(name, form(UNEVEN))
    Z = map_.embedding_
    first = np.array([np.flatnonzero(PLACE == j)[0] for j in range(U)])
    assert Z.shape == (len(UNEVEN), 2)
    assert map_.graph_component_.shape == (len(UNEVEN),)
    np.testing.assert_array_equal(Z, Z[first][PLACE])
    assert np.ptp(Z, axis=0).min() > 1e-2
    np.testing.assert_array_equal(map_.distinct_, np.sort(first))


@every
def test_rows_that_each_occur_eight_times_have_the_map_of_the_distinct_rows(name):
    one, eight = fitted(name, BASE).embedding_, fitted(name, EIGHT).embedding_
    scale = np.linalg.norm(one) / np.linalg.norm(eight[::8])
    assert gram_distance(eight[::8] * scale, one) < 1e-8


@every
def test_the_order_of_the_rows_is_free(name):
    order = rng.permutation(len(UNEVEN))
    options = {"n_landmarks": None} if "landmarks" in name else {}
    found, expected = (fitted(name, X, **options).embedding_ for X in (UNEVEN[order], UNEVEN))
    assert gram_distance(found, expected[order]) < 1e-8


def test_lle_is_the_dense_problem_in_which_copies_share_a_weight():
    M = np.zeros((U, U))
    for i, x in enumerate(BASE):
        distance = np.linalg.norm(BASE - x, axis=1)
        near = np.argsort(np.where(np.arange(U) == i, np.inf, distance))[:K]
        G = (BASE[near] - x) @ (BASE[near] - x).T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(K), np.ones(K))
        M[i, near] = w / w.sum()
    W = E @ (M / COUNTS) @ E.T
    R = np.eye(len(W)) - W
    w, Z = np.linalg.eigh(R.T @ R)
    found = fitted("LLE", UNEVEN)
    assert gram_distance(found.embedding_, Z[:, 1:3]) < 1e-6
    np.testing.assert_allclose(found.eigenvalues_, w[1:3], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["LE", "LE, symmetric", "LE, plain"])
def test_laplacian_eigenmaps_is_the_dense_problem_in_which_all_copies_are_linked(name):
    found = fitted(name, UNEVEN)
    distance = np.linalg.norm(BASE[:, None] - BASE[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.zeros((U, U), dtype=bool)
    np.put_along_axis(near, np.argsort(distance, axis=1)[:, :K], True, axis=1)
    W = np.where(near | near.T, np.exp(-(np.where(np.isinf(distance), 0, distance) ** 2) / found.tau_), 0.0)
    W = E @ W @ E.T
    d = W.sum(axis=1)
    A, B = np.diag(d) - W, np.diag(d)
    if name == "LE, symmetric":
        A, B = A / np.sqrt(d) / np.sqrt(d)[:, None], np.eye(len(W))
    B = np.eye(len(W)) if name == "LE, plain" else B
    w, Z = scipy.linalg.eigh(E.T @ A @ E, E.T @ B @ E)  # among the maps in which equal rows have one place
    assert gram_distance(found.embedding_, E @ Z[:, 1:3]) < 1e-8
    np.testing.assert_allclose(found.eigenvalues_, w[1:3], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["LLE", "LLE, landmarks", "LE", "LE, symmetric", "LE, unit rows", "LE, local"])
def test_new_rows_are_placed_as_beside_distinct_rows(name):
    new = BASE[:6] + 1e-3 * rng.standard_normal((6, 4))
    one, eight = fitted(name, BASE), fitted(name, EIGHT)
    assert gram_distance(eight.transform(EIGHT), eight.embedding_) < 1e-12
    scale = np.linalg.norm(one.embedding_) / np.linalg.norm(eight.embedding_[::8])
    assert gram_distance(eight.transform(new) * scale, one.transform(new)) < 1e-8
    short = eight.truncate(1)
    assert short.transform(new).shape == (6, 1)


@pytest.mark.parametrize("cls", [LLE, LaplacianEigenmaps], ids=["LLE", "LaplacianEigenmaps"])
def test_too_few_distinct_rows_are_refused(cls):
    X = np.repeat(BASE[:4], 9, axis=0)
    with pytest.raises(ValueError, match="n_neighbors=4 is not allowed: 4 of the 36 rows of X are distinct, .* <= 3,"):
        cls(n_neighbors=4).fit(X)
    assert np.ptp(cls(n_neighbors=3).fit(X).embedding_, axis=0).min() > 1e-3
