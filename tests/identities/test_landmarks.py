"""Landmarks: all rows as landmarks are the exact method; few are near it, by definitions written out densely."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.spatial import procrustes
from sklearn.datasets import make_swiss_roll

import strategies
from identities.comparison import gram_distance
from identities.test_manifold import NEW, N, X, distances, quiet, two_clusters
from proxembed import LLE, SSDR, Isomap
from proxembed.methods import manifold, spectral_maps
from proxembed.persist import load, save

ROLL = make_swiss_roll(2000, random_state=0)[0]


def shortest(graph) -> np.ndarray:
    g = np.where(graph > 0, graph, np.inf)
    np.fill_diagonal(g, 0.0)
    for k in range(len(g)):
        g = np.minimum(g, g[:, [k]] + g[[k]])
    return g


def mixtures(rows, among, index, reg=1e-3) -> np.ndarray:
    """The weights that rebuild each row from ``among[index]``, as a dense matrix (rows, among)."""
    W = np.zeros((len(rows), len(among)))
    for i, chosen in enumerate(index):
        D = among[chosen] - rows[i]
        G = D @ D.T
        w = np.linalg.solve(G + reg * np.trace(G) * np.eye(len(chosen)), np.ones(len(chosen)))
        W[i, chosen] = w / w.sum()
    return W


def lle_matrices(landmarks, K):
    """S and (I - W)'(I - W) by their definitions."""
    S = mixtures(X, X[landmarks], np.argsort(distances(X, X[landmarks]), axis=1)[:, :K])
    S[landmarks] = np.eye(len(landmarks))
    W = mixtures(X, X, np.argsort(distances(X, X), axis=1)[:, 1 : K + 1])
    return S, (np.eye(N) - W).T @ (np.eye(N) - W)


# ---------------------------------------------------------------------------------------------------------- Isomap


def test_isomap_places_all_rows_by_the_triangulation_of_the_landmarks():
    """z = -1/2 L# (d^2 - mean d^2), L# the rows v_i' / sqrt(w_i) of the landmarks' scaling.  [desilva2003landmark]"""
    fit = Isomap(n_neighbors=6, n_components=3, n_landmarks=12).fit(X)
    squares = shortest(fit.graph_.toarray())[fit.landmarks_] ** 2
    E = squares[:, fit.landmarks_]
    J = np.eye(12) - 1 / 12
    w, V = np.linalg.eigh(-0.5 * J @ E @ J)
    w, V = w[::-1][:3], V[:, ::-1][:, :3]
    expected = (-0.5 * (V / np.sqrt(w)).T @ (squares - E.mean(axis=1)[:, None])).T
    np.testing.assert_allclose(fit.eigenvalues_, w, rtol=1e-9)
    assert gram_distance(fit.embedding_, expected) < 1e-9
    assert gram_distance(fit.embedding_[fit.landmarks_], V * np.sqrt(w)) < 1e-9


def test_isomap_places_all_rows_in_blocks(monkeypatch):
    whole = Isomap(n_landmarks=12).fit(X)
    monkeypatch.setattr("proxembed.algebra.arrays.matrix.BLOCK_ENTRIES", 40)
    np.testing.assert_allclose(Isomap(n_landmarks=12).fit(X).embedding_, whole.embedding_, rtol=0, atol=1e-10)


def test_landmarks_of_given_distances_are_those_of_the_rows():
    one, other = Isomap(n_landmarks=15).fit(X), Isomap(metric="precomputed", n_landmarks=15).fit(distances(X, X))
    np.testing.assert_array_equal(other.landmarks_, one.landmarks_)
    assert gram_distance(other.embedding_, one.embedding_) < 1e-9
    assert gram_distance(other.transform(distances(NEW, X)), one.transform(NEW)) < 1e-9


def test_isomap_with_landmarks_is_near_the_exact_map():
    exact, few = Isomap(n_neighbors=10).fit(ROLL), Isomap(n_neighbors=10, n_landmarks=100).fit(ROLL)
    assert procrustes(exact.embedding_, few.embedding_)[2] < 0.01
    new = make_swiss_roll(200, random_state=1)[0]
    assert procrustes(exact.transform(new), few.transform(new))[2] < 0.01


# ------------------------------------------------------------------------------------------------------------- LLE


@pytest.mark.parametrize("K", [5, 8])
def test_lle_minimises_the_error_of_all_rows_over_mixtures_of_landmarks(K):
    fit = LLE(n_neighbors=K, n_components=3, n_landmarks=15).fit(X)
    S, M = lle_matrices(fit.landmarks_, K)
    w, Y = eigh(S.T @ M @ S, S.T @ S)
    assert abs(w[0]) < 1e-12 and np.ptp(Y[:, 0]) < 1e-9  # the constant, which is left out
    np.testing.assert_allclose(fit.eigenvalues_, w[1:4], rtol=1e-8)
    assert gram_distance(fit.embedding_, S @ Y[:, 1:4]) < 1e-8
    np.testing.assert_allclose(fit.embedding_.T @ fit.embedding_, np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(fit.embedding_.sum(axis=0), 0.0, rtol=0, atol=1e-10)
    assert np.all(fit.eigenvalues_ > LLE(n_neighbors=K, n_components=3).fit(X).eigenvalues_)  # fewer are free


def test_lle_places_new_rows_by_the_weights_of_landmarks():
    fit = LLE(n_components=2, n_landmarks=15).fit(X)
    nearest = np.argsort(distances(NEW, X[fit.landmarks_]), axis=1)[:, :5]
    expected = mixtures(NEW, X[fit.landmarks_], nearest) @ fit.embedding_[fit.landmarks_]
    np.testing.assert_allclose(fit.transform(NEW), expected, rtol=0, atol=1e-10)


def test_lle_with_landmarks_is_near_the_exact_map():
    """On a roll with noise: without, the exact map follows its own regularisation."""
    rng = np.random.default_rng(0)
    rows = ROLL @ np.linalg.qr(rng.standard_normal((20, 3)))[0].T + 0.2 * rng.standard_normal((len(ROLL), 20))
    exact, few = LLE(n_neighbors=10).fit(rows), LLE(n_neighbors=10, n_landmarks=800).fit(rows)
    assert procrustes(exact.embedding_, few.embedding_)[2] < 0.05


def test_lle_of_many_neighbours_in_blocks(monkeypatch):
    whole = LLE(n_landmarks=15).fit(X)
    monkeypatch.setattr("proxembed.algebra.arrays.matrix.BLOCK_ENTRIES", 60)
    assert gram_distance(LLE(n_landmarks=15).fit(X).embedding_, whole.embedding_) < 1e-9


@pytest.mark.parametrize("solver", ["dense", "lanczos"])
def test_lle_takes_a_named_solver_with_landmarks(solver):
    one = LLE(n_landmarks=20, solver=solver, n_components=2).fit(X)
    assert one.solver_ in (solver, "dense")
    assert gram_distance(one.embedding_, LLE(n_landmarks=20).fit(X).embedding_) < 1e-6


@pytest.mark.parametrize("components", ["all", "largest", "separate"])
def test_lle_of_a_graph_in_pieces(components):
    """Clusters far apart share no landmark; each piece is mapped as it is without the other."""
    rows, settings = two_clusters(), {"components": components, "n_components": 2, "n_neighbors": 4}
    every, exact = LLE(n_landmarks=N, **settings), LLE(n_landmarks=None, **settings)
    for model in (every, exact):
        quiet(model, rows) if components == "all" else model.fit(rows)
    np.testing.assert_array_equal(every.graph_component_, exact.graph_component_)
    placed = np.isfinite(exact.embedding_).all(axis=1)
    np.testing.assert_array_equal(np.isfinite(every.embedding_).all(axis=1), placed)
    assert placed.all() or components == "largest"
    few = LLE(n_landmarks=20, **settings)
    quiet(few, rows) if components == "all" else few.fit(rows)
    assert len(set(few.graph_component_[:25])) == len(set(few.graph_component_[25:])) == 1
    if components == "all":
        assert gram_distance(every.embedding_, exact.embedding_) < 1e-6
        return
    for part in (slice(0, 25), slice(25, N)):
        if placed[part].all():
            assert gram_distance(every.embedding_[part], exact.embedding_[part]) < 1e-6
    assert np.isnan(few.embedding_[25:]).all() == (components == "largest")
    assert np.isfinite(few.transform(rows[:3] + 0.01)).all()


# ------------------------------------------------------------------------------------------------------------ both


@pytest.mark.parametrize("cls", [Isomap, LLE])
def test_all_rows_as_landmarks_are_exact(cls):
    exact, every = cls(n_landmarks=None, n_components=3).fit(X), cls(n_landmarks=N, n_components=3).fit(X)
    assert sorted(every.landmarks_) == list(range(N))
    assert gram_distance(every.embedding_, exact.embedding_) < 1e-8
    assert gram_distance(every.transform(NEW), exact.transform(NEW)) < 1e-8
    np.testing.assert_allclose(every.eigenvalues_, exact.eigenvalues_, rtol=1e-7)
    few = cls(n_landmarks=10, n_components=3).fit(X)
    assert len(few.landmarks_) == 10 and gram_distance(few.embedding_, exact.embedding_) > 1e-3


@pytest.mark.parametrize("cls", [Isomap, LLE])
def test_auto_is_exact_up_to_a_number_of_rows(cls, monkeypatch):
    np.testing.assert_array_equal(cls().fit(X).landmarks_, np.arange(N))
    monkeypatch.setattr(manifold, "dense_side", lambda: N - 1)
    monkeypatch.setattr(manifold, "LANDMARKS", 12)
    monkeypatch.setattr(spectral_maps, "LLE_EXACT_UP_TO", N - 1)
    monkeypatch.setattr(spectral_maps, "LLE_LANDMARKS", 12)
    fit = cls().fit(X)
    assert len(fit.landmarks_) == 12
    np.testing.assert_array_equal(cls(n_landmarks=12).fit(X).embedding_, fit.embedding_)
    np.testing.assert_array_equal(cls(n_landmarks=None).fit(X).landmarks_, np.arange(N))
    np.testing.assert_array_equal(cls().fit(X[:-1]).landmarks_, np.arange(N - 1))


def test_auto_keeps_the_paths_of_isomap_within_the_size_guard(monkeypatch):
    monkeypatch.setattr(manifold, "dense_side", lambda: N - 1)
    monkeypatch.setattr(manifold, "MAX_DENSE_BYTES", 8 * N * 7)
    assert len(Isomap().fit(X).landmarks_) == 7


@pytest.mark.parametrize("cls", [Isomap, LLE])
def test_rows_of_training_are_placed_alike_as_new_rows(cls):
    """The rule for new rows gives the embedding of fit; LLE's landmarks alone are free, not mixtures."""
    fit = cls(n_landmarks=15, n_components=3).fit(X)
    rest = np.arange(N) if cls is Isomap else np.setdiff1d(np.arange(N), fit.landmarks_)
    np.testing.assert_allclose(fit.extend(X[rest]), fit.embedding_[rest], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(fit.transform(X), fit.embedding_)
    np.testing.assert_array_equal(fit.truncate(2).transform(NEW), fit.transform(NEW)[:, :2])


@pytest.mark.parametrize("cls", [Isomap, LLE])
def test_seeds_storage_and_saved_models(cls, tmp_path):
    fit = cls(n_landmarks=15).fit(X)
    np.testing.assert_array_equal(cls(n_landmarks=15).fit(X).embedding_, fit.embedding_)
    assert not np.array_equal(cls(n_landmarks=15, random_state=3).fit(X).landmarks_, fit.landmarks_)
    np.testing.assert_array_equal(load(save(fit, tmp_path / "model.skops")).transform(NEW), fit.transform(NEW))
    text = strategies.features_text(N, 80, 1)
    one, other = cls(n_landmarks=15).fit(text), cls(n_landmarks=15).fit(sp.csr_array(text))
    assert gram_distance(other.embedding_, one.embedding_) < 1e-8
    assert gram_distance(other.transform(sp.csr_array(text[:4] * 1.5)), one.transform(text[:4] * 1.5)) < 1e-8


@pytest.mark.parametrize("cls", [Isomap, LLE])
def test_numbers_of_landmarks_that_do_not_fit(cls):
    with pytest.raises(ValueError, match=f"{cls.__name__}: n_landmarks=41 is not allowed with 40 rows"):
        cls(n_landmarks=41).fit(X)
    for bad in (1, 2.5, "all", True):
        with pytest.raises(ValueError, match="n_landmarks=.* must be 'auto', None or an integer >= 2"):
            cls(n_landmarks=bad).fit(X)
    with pytest.raises(ValueError, match="no landmarks"):
        SSDR(unsupervised=cls(n_landmarks=10)).fit(X, np.arange(N) % 3)


def test_lle_needs_more_landmarks_than_neighbours():
    with pytest.raises(ValueError, match="n_neighbors=7 is not allowed with 7 landmarks.*n_landmarks"):
        LLE(n_neighbors=7, n_landmarks=7).fit(X)
    assert len(LLE(n_neighbors=7, n_landmarks=8).fit(X).landmarks_) == 8


def test_components_of_lle_are_bounded_by_its_landmarks():
    with pytest.raises(ValueError, match="more than the 7 components"):
        LLE(n_landmarks=8, n_components=8).fit(X)
