"""Identities of the maps from graph matrices, LLE and Laplacian eigenmaps, and what maps of rows have in common."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsTransformer

import strategies
from identities.comparison import gram_distance
from identities.test_manifold import NEW, N, X, distances, quiet, two_clusters
from proxembed import LLE, LPP, ClassicalMDS, Isomap, LaplacianEigenmaps
from proxembed.estimator.rows import Rows
from proxembed.params import declared

LINE = np.array([[0.0], [1.0], [3.0], [6.0]])


# ------------------------------------------------------------------------------------------------------------ LLE


def test_lle_minimises_the_reconstruction_error_and_leaves_out_the_constant():
    fit = LLE(n_components=3).fit(X)
    M = -fit.template(Rows(X, None)).A.todense()
    np.testing.assert_allclose(M @ np.ones(N), 0.0, rtol=0, atol=1e-12)
    w, V = np.linalg.eigh(M)
    np.testing.assert_allclose(fit.eigenvalues_, w[1:4], rtol=1e-8)
    assert np.linalg.norm(fit.embedding_ @ fit.embedding_.T - V[:, 1:4] @ V[:, 1:4].T) < 1e-8
    np.testing.assert_allclose(fit.embedding_.sum(axis=0), 0.0, rtol=0, atol=1e-10)


def test_lle_places_new_rows_by_the_weights_that_rebuild_them():
    fit = LLE(n_components=2, n_neighbors=5, reg=1e-2).fit(X)
    index = np.argsort(distances(NEW, X), axis=1)[:, :5]
    for i, row in enumerate(NEW):
        D = X[index[i]] - row
        G = D @ D.T
        w = np.linalg.solve(G + 1e-2 * np.trace(G) * np.eye(5), np.ones(5))
        np.testing.assert_allclose(fit.transform(NEW)[i], (w / w.sum()) @ fit.embedding_[index[i]], atol=1e-10)


# ------------------------------------------------------------------------------------------------------- eigenmaps


def graph_matrices(fit):
    W = fit.affinity_.toarray()
    d = W.sum(axis=1)
    return W, d, np.diag(d) - W


def test_the_three_normalisations():
    """LE vectors = D^-1/2 times those of Lsym, equal eigenvalues; max (W, D) has eigenvalues 1 - lambda; none is L."""
    walk = LaplacianEigenmaps(n_components=3).fit(X)
    symmetric = LaplacianEigenmaps(n_components=3, normalization="symmetric").fit(X)
    plain = LaplacianEigenmaps(n_components=3, normalization="none").fit(X)
    W, d, L = graph_matrices(walk)
    root = 1 / np.sqrt(d)
    w, V = np.linalg.eigh(root[:, None] * L * root)
    np.testing.assert_allclose(walk.eigenvalues_, w[1:4], rtol=1e-9)
    np.testing.assert_allclose(symmetric.eigenvalues_, w[1:4], rtol=1e-9)
    assert gram_distance(symmetric.embedding_, V[:, 1:4]) < 1e-9
    assert gram_distance(walk.embedding_, root[:, None] * V[:, 1:4]) < 1e-9
    np.testing.assert_allclose(W @ walk.embedding_, d[:, None] * walk.embedding_ * (1 - w[1:4]), atol=1e-10)
    np.testing.assert_allclose(walk.embedding_.T @ (d[:, None] * walk.embedding_), np.eye(3), atol=1e-10)
    w, V = np.linalg.eigh(L)
    np.testing.assert_allclose(plain.eigenvalues_, w[1:4], rtol=1e-9)
    assert gram_distance(plain.embedding_, V[:, 1:4]) < 1e-9
    assert gram_distance(walk.embedding_, plain.embedding_) > 1e-2


@pytest.mark.parametrize("normalization", ["random_walk", "symmetric"])
@pytest.mark.parametrize("graph", [{"graph": "closeness", "eps": 4.0}, {"graph": "full", "tau": 3.0}], ids=str)
def test_nystrom_is_exact_at_the_rows_of_training_with_the_same_graph(normalization, graph):
    """The rule for new rows, given the links of the training rows, returns their own embedding: each row's link to
    itself, which the graph has not, is taken out."""
    fit = LaplacianEigenmaps(normalization=normalization, n_components=1, **graph).fit(X)
    W, d, _ = graph_matrices(fit)
    vectors = fit._vectors()
    extended = (W @ vectors) / d[:, None] / (1 - fit.eigenvalues_)
    if normalization == "symmetric":
        extended *= np.sqrt(d)[:, None]
    np.testing.assert_allclose(extended, fit.embedding_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("normalization", ["random_walk", "symmetric"])
def test_nystrom_places_new_rows_by_the_formula(normalization):
    fit = LaplacianEigenmaps(normalization=normalization, n_components=2, n_neighbors=6).fit(X)
    d = distances(NEW, X)
    w = np.where(d <= np.sort(d, axis=1)[:, [5]], np.exp(-(d**2) / fit.tau_), 0.0)
    degree = graph_matrices(fit)[1]
    V = fit.embedding_ / (np.sqrt(degree)[:, None] if normalization == "symmetric" else 1.0)
    Z = (w @ V) / w.sum(axis=1, keepdims=True) / (1 - fit.eigenvalues_)
    Z = Z * (np.sqrt(w.sum(axis=1, keepdims=True)) if normalization == "symmetric" else 1.0)
    np.testing.assert_allclose(fit.transform(NEW), Z, rtol=0, atol=1e-10)


def test_components_that_cannot_be_extended_are_refused():
    fit = LaplacianEigenmaps(n_components=N - 1, n_neighbors=8).fit(X)
    first = int(np.argmax(fit.eigenvalues_ >= 1))
    with pytest.raises(ValueError, match=f"Component {first} has an eigenvalue of 1 or more.*n_components <= {first}"):
        fit.transform(NEW)
    assert np.isfinite(fit.truncate(first).transform(NEW)).all()
    np.testing.assert_array_equal(fit.transform(X), fit.embedding_)


def test_a_graph_component_that_cannot_be_extended_stops_its_own_rows_alone():
    """A pair of rows has the eigenvalue 2."""
    rows = np.vstack([X[:, :3], X[:2, :3] * 1e-3 + 90.0])
    fit = LaplacianEigenmaps(graph="closeness", eps=6.0, components="separate").fit(rows)
    assert fit.eigenvalues_[0, 1] == pytest.approx(2.0)
    assert np.isfinite(fit.transform(NEW[:, :3])).all()
    with pytest.raises(ValueError, match='Component 0 of graph component 1 .*components="largest"'):
        fit.transform(np.vstack([NEW[:, :3], rows[-1:] + 0.1]))


def path_matrix(rows, K: int) -> np.ndarray:
    """Shortest paths on the undirected graph of the K nearest rows, by Floyd and Warshall."""
    d = distances(rows, rows)
    np.fill_diagonal(d, np.inf)
    linked = d <= np.sort(d, axis=1)[:, [K - 1]]
    g = np.where(linked | linked.T, d, np.inf)
    np.fill_diagonal(g, 0.0)
    for k in range(len(rows)):
        g = np.minimum(g, g[:, [k]] + g[[k]])
    return g


@pytest.mark.parametrize("graph", [{"graph": "full"}, {"graph": "closeness", "eps": 6.0}], ids=str)
def test_geodesic_weights_measure_along_the_graph_of_neighbours(graph):
    fit = LaplacianEigenmaps(weights="geodesic", n_components=1, n_neighbors=4, tau=9.0, **graph).fit(X)
    d, g = distances(X, X), path_matrix(X, 4)
    W = np.where(d <= graph.get("eps", np.inf), np.exp(-(g**2) / 9.0), 0.0)
    np.fill_diagonal(W, 0.0)
    np.testing.assert_allclose(fit.affinity_.toarray(), W, rtol=0, atol=1e-12)
    gaussian = LaplacianEigenmaps(n_neighbors=4, n_components=1, tau=9.0, **graph).fit(X)
    assert abs(fit.affinity_ - gaussian.affinity_).max() > 1e-3
    d = distances(NEW, X)
    near = np.where(d <= np.sort(d, axis=1)[:, [3]], d, np.inf)
    e = np.min(near[:, :, None] + g[None], axis=1)
    w = np.where(d <= graph.get("eps", np.inf), np.exp(-(e**2) / 9.0), 0.0)
    expected = (w @ fit.embedding_) / w.sum(axis=1, keepdims=True) / (1 - fit.eigenvalues_)
    np.testing.assert_allclose(fit.transform(NEW), expected, rtol=0, atol=1e-10)


def test_without_normalisation_there_is_no_transform():
    fit = LaplacianEigenmaps(normalization="none")
    Z = fit.fit_transform(X)
    np.testing.assert_array_equal(Z, fit.embedding_)
    assert not hasattr(fit, "transform") and hasattr(LaplacianEigenmaps(), "transform")
    with pytest.raises(AttributeError, match="transform"):
        fit.transform(X)


def test_spectral_clustering_keeps_the_trivial_vector_and_normalises_rows():
    fit = LaplacianEigenmaps(normalization="symmetric", drop_trivial=False, row_normalize=True, n_components=3).fit(X)
    plain = LaplacianEigenmaps(normalization="symmetric", n_components=2).fit(X)
    d = graph_matrices(fit)[1]
    Z = np.column_stack([np.sqrt(d / d.sum()), plain.embedding_])
    assert gram_distance(fit.embedding_, Z / np.linalg.norm(Z, axis=1, keepdims=True)) < 1e-9
    np.testing.assert_allclose(np.linalg.norm(fit.transform(NEW), axis=1), 1.0, atol=1e-12)
    assert fit.eigenvalues_[0] == 0.0 and fit.truncate(2).embedding_.shape == (N, 2)


def test_lpp_of_square_invertible_rows_is_the_eigenmap():
    rows = strategies.features_dense(12, 12, 8)
    lpp = LPP(n_components=2, n_neighbors=4, center=False, ridge=0.0)
    tau = {"tau": 5.0} if "tau" in declared(LPP) else {}
    Z = lpp.set_params(n_components=3, **tau).fit_transform(rows)
    fit = LaplacianEigenmaps(n_components=3, n_neighbors=4, drop_trivial=False, **tau).fit(rows)
    assert gram_distance(Z, fit.embedding_) < 1e-6


def test_a_graph_in_two_pieces():
    rows = two_clusters()
    whole = quiet(LaplacianEigenmaps(n_components=2), rows)
    assert whole.eigenvalues_.min() > 1e-6
    for part in (slice(0, 25), slice(25, N)):  # off the indicators: both pieces are centred on their own
        d = graph_matrices(whole)[1][part]
        np.testing.assert_allclose(d @ whole.embedding_[part], 0.0, rtol=0, atol=1e-10)
    kept = quiet(LaplacianEigenmaps(n_components=3, drop_trivial=False), rows)
    assert kept.eigenvalues_[1] == 0.0 < kept.eigenvalues_[2]
    largest = LaplacianEigenmaps(components="largest", tau=whole.tau_).fit(rows)
    np.testing.assert_array_equal(np.isnan(largest.embedding_).any(axis=1), np.arange(N) >= 25)
    separate = LaplacianEigenmaps(components="separate", tau=whole.tau_).fit(rows)
    for j, part in enumerate((slice(0, 25), slice(25, N))):
        alone = LaplacianEigenmaps(tau=whole.tau_).fit(rows[part])
        assert gram_distance(separate.embedding_[part], alone.embedding_) < 1e-9
        np.testing.assert_allclose(separate.eigenvalues_[:, j], alone.eigenvalues_, rtol=1e-9)
        new = rows[part][:3] + 0.01
        assert gram_distance(separate.transform(new), alone.transform(new)) < 1e-9
        if j == 0:
            assert gram_distance(largest.embedding_[part], alone.embedding_) < 1e-9
        else:
            assert np.isnan(largest.transform(new)).all()
    with pytest.raises(ValueError, match=f"more than the {N - 2} components"):
        quiet(LaplacianEigenmaps(n_components=N - 1), rows)


def test_lle_of_two_pieces():
    rows = two_clusters()
    whole = quiet(LLE(), rows)
    for part in (slice(0, 25), slice(25, N)):
        np.testing.assert_allclose(whole.embedding_[part].sum(axis=0), 0.0, rtol=0, atol=1e-9)
    separate = LLE(components="separate").fit(rows)
    alone = LLE().fit(rows[:25])
    assert gram_distance(separate.embedding_[:25], alone.embedding_) < 1e-8
    assert gram_distance(separate.transform(rows[:4] + 0.01), alone.transform(rows[:4] + 0.01)) < 1e-8


def test_isolated_rows_get_zero_and_are_told():
    rows = np.vstack([X, np.full((1, 6), 50.0)])
    with pytest.warns(UserWarning, match="1 of 41 rows have no link"):
        fit = LaplacianEigenmaps(graph="closeness", eps=5.0, tau=4.0).fit(rows)
    np.testing.assert_array_equal(fit.embedding_[-1], 0.0)
    alone = LaplacianEigenmaps(graph="closeness", eps=5.0, tau=4.0).fit(X)
    assert gram_distance(fit.embedding_[:-1], alone.embedding_) < 1e-9
    with pytest.warns(UserWarning, match="1 new rows have no link"):
        np.testing.assert_array_equal(alone.transform(np.full((1, 6), 50.0)), 0.0)
    with pytest.warns(UserWarning, match="1 of 41 rows have no link .* embedding nan"):
        largest = LaplacianEigenmaps(graph="closeness", eps=5.0, tau=4.0, components="largest").fit(rows)
    np.testing.assert_array_equal(np.isnan(largest.embedding_).any(axis=1), np.arange(41) == 40)
    assert gram_distance(largest.embedding_[:-1], alone.embedding_) < 1e-9
    for far, message in ((50.1, None), (-90.0, "1 new rows have no link .* embedding nan")):
        with warnings.catch_warnings() if message is None else pytest.warns(UserWarning, match=message):
            assert np.isnan(largest.transform(np.full((1, 6), far))).all()


def test_weights_that_vanish_are_no_links():
    """A Gaussian so narrow that it underflows leaves no graph at all."""
    with pytest.warns(UserWarning, match="no link"), pytest.raises(ValueError, match="no links between the rows"):
        LaplacianEigenmaps(tau=1e-6).fit(X)


@pytest.mark.parametrize("cls", [LLE, LaplacianEigenmaps])
def test_a_share_of_the_spectrum_is_refused(cls):
    with pytest.raises(ValueError, match="n_components=0.5 is not allowed"):
        cls(n_components=0.5).fit(X)


@pytest.mark.parametrize("cls", [Isomap, LLE, LaplacianEigenmaps])
def test_the_recall_of_an_approximate_search_is_kept(cls):
    assert cls(n_neighbors=4).fit(X).recall_ is None
    fit = cls(n_neighbors=4, algorithm=KNeighborsTransformer(n_neighbors=4)).fit(X)
    assert fit.recall_ == 1.0 and fit.truncate(1).recall_ == 1.0


def test_routes_are_a_parameter_only_where_there_are_several():
    for cls in (ClassicalMDS, Isomap):
        assert "solver" not in declared(cls) and "solver" not in cls().get_params()
    assert "solver" in declared(LLE) and "solver" in declared(LaplacianEigenmaps)


@pytest.mark.parametrize("cls", [Isomap, LLE, LaplacianEigenmaps])
def test_more_neighbours_than_rows(cls):
    with pytest.raises(ValueError, match="n_neighbors=4 .* 1 to 3"):
        cls(n_neighbors=4).fit(LINE)


@pytest.mark.parametrize("cls", [Isomap, LLE, LaplacianEigenmaps])
def test_the_first_of_equal_rows_stands_for_all(cls):
    rows = strategies.features_duplicate_rows(36, 4, 2)
    fit = cls(n_neighbors=8).fit(rows)
    np.testing.assert_array_equal(fit.transform(rows)[24:], fit.embedding_[:12])
    np.testing.assert_array_equal(cls(n_neighbors=8).fit_transform(rows), fit.transform(rows))
