"""Identities of the methods that place rows: scaling, shortest paths, reconstruction, graph eigenmaps, new rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from identities.comparison import gram_distance
from proxembed import LLE, LPP, PCA, ClassicalMDS, Isomap, LaplacianEigenmaps
from proxembed.algebra.gower import DoubleCentred, gower_rows
from proxembed.params import declared
from proxembed.rows import Rows

N = 40
X = strategies.features_dense(N, 6, 3)
NEW = strategies.features_dense(9, 6, 53)
LINE = np.array([[0.0], [1.0], [3.0], [6.0]])


def distances(A, B) -> np.ndarray:
    return np.linalg.norm(A[:, None] - B[None], axis=2)


def two_clusters(far: float = 100.0) -> np.ndarray:
    rows = strategies.features_dense(N, 3, 5)
    rows[25:, 0] += far
    return rows


def quiet(estimator, rows):
    with pytest.warns(UserWarning, match="connected components"):
        return estimator.fit(rows)


# ---------------------------------------------------------------------------------------------- classical scaling


def test_mds_gram_is_that_of_the_centred_rows():
    fit = ClassicalMDS(n_components=6).fit(X)
    Xc = X - X.mean(axis=0)
    np.testing.assert_allclose(fit.embedding_ @ fit.embedding_.T, Xc @ Xc.T, rtol=0, atol=1e-11)
    np.testing.assert_allclose(np.sum(fit.embedding_**2, axis=0), fit.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("rows", [X, sp.csr_array(strategies.features_text(N, 80, 1))], ids=["dense", "sparse, wide"])
def test_mds_is_pca_and_gower_its_projection(rows):
    new = rows[:5] * 1.5
    ours, pca = ClassicalMDS(n_components=3).fit(rows), PCA(n_components=3).fit(rows)
    assert gram_distance(ours.embedding_, pca.transform(rows)) < 1e-10
    assert gram_distance(ours.transform(new), pca.transform(new)) < 1e-10


def test_given_distances_are_the_same_as_their_rows():
    one, other = ClassicalMDS(n_components=3).fit(X), ClassicalMDS(n_components=3, metric="precomputed")
    other.fit(distances(X, X))
    assert gram_distance(other.embedding_, one.embedding_) < 1e-10
    assert gram_distance(other.transform(distances(NEW, X)), one.transform(NEW)) < 1e-10
    assert len(other.negative_eigenvalues_) == 0 and not hasattr(other, "explain") and hasattr(one, "explain")


def test_dissimilarities_that_are_not_euclidean():
    """Only positive eigenvalues are used, their number is the bound, and the negative ones are told."""
    E = distances(X, X) ** 2.0
    J = np.eye(N) - 1 / N
    w = np.linalg.eigvalsh(-0.5 * J @ E**2 @ J)
    positive = int(np.sum(w > 1e-10 * w.max()))
    fit = ClassicalMDS(metric="precomputed", n_components=positive).fit(E)
    np.testing.assert_allclose(fit.eigenvalues_, w[::-1][:positive], rtol=1e-8)
    np.testing.assert_allclose(fit.negative_eigenvalues_, w[w < -1e-10 * w.max()], rtol=1e-8)
    assert positive < N - 1
    with pytest.raises(ValueError, match=f"more than the {positive} components"):
        ClassicalMDS(metric="precomputed", n_components=positive + 1).fit(E)


BAD = {
    "shape": (np.arange(12.0).reshape(4, 3), "square"),
    "diagonal": (np.ones((4, 4)) + np.eye(4), "zeros on the diagonal"),
    "sign": (np.eye(4) - 1.0, "none below 0"),
    "symmetry": (np.triu(np.arange(16.0).reshape(4, 4), 1), "symmetric"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_matrix_of_dissimilarities(name):
    E, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        ClassicalMDS(metric="precomputed").fit(E)


def test_double_centring_and_gower():
    E = distances(X, X) ** 2
    G = DoubleCentred(E)
    J = np.eye(N) - 1 / N
    expected = -0.5 * J @ E @ J
    np.testing.assert_allclose(G.todense(), expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(G @ X, expected @ X, rtol=0, atol=1e-10)
    np.testing.assert_allclose(G.diagonal(), np.diag(expected), rtol=0, atol=1e-11)
    w, V = np.linalg.eigh(expected)
    Z = V[:, -2:] * np.sqrt(w[-2:])
    np.testing.assert_allclose(gower_rows(E, E.mean(axis=1), Z, w[-2:]), Z, rtol=0, atol=1e-9)


# --------------------------------------------------------------------------------------------------------- Isomap


def test_isomap_on_the_full_graph_is_mds():
    one, other = Isomap(n_neighbors=N - 1, n_components=3).fit(X), ClassicalMDS(n_components=3).fit(X)
    assert gram_distance(one.embedding_, other.embedding_) < 1e-10
    assert gram_distance(Isomap(n_neighbors=N - 1, n_components=3).fit(X).transform(X), other.embedding_) < 1e-10
    assert gram_distance(Isomap(n_neighbors=5, n_components=3).fit(X).embedding_, other.embedding_) > 1e-3


def test_isomap_unrolls_a_line_of_four_points_bent():
    """Three legs of length 1 around a corner: paths are 1, 2, 3, whatever the angle."""
    bent = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    Z = Isomap(n_components=1, eps=1.1).fit(bent).embedding_.ravel()
    np.testing.assert_allclose(np.abs(np.diff(Z)), 1.0, rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match="more than the 1 components"):
        Isomap(n_components=2, eps=1.1).fit(bent)


@pytest.mark.parametrize("options", [{"n_neighbors": 6}, {"eps": 4.0}, {"n_neighbors": 6, "n_landmarks": 20}], ids=str)
def test_isomap_places_new_rows_by_paths_through_their_neighbours(options):
    """By the definition: e_j = min_i (d(x, x_i) + g_ij), then Gower's formula with the pseudo-inverse."""
    fit = Isomap(n_components=2, **options).fit(X)
    d = distances(NEW, X)
    if "eps" in options:
        d[(d > options["eps"]) & (d > d.min(axis=1, keepdims=True))] = np.inf
    else:
        d[d > np.sort(d, axis=1)[:, [5]]] = np.inf
    graph = fit.graph_.toarray()
    g = np.where(graph > 0, graph, np.inf)
    np.fill_diagonal(g, 0.0)
    for k in range(N):
        g = np.minimum(g, g[:, [k]] + g[[k]])
    e = np.min(d[:, :, None] + g[None], axis=1)[:, fit.landmarks_] ** 2
    E = g[np.ix_(fit.landmarks_, fit.landmarks_)] ** 2
    centred = -0.5 * (e - e.mean(axis=1, keepdims=True) - E.mean(axis=0) + E.mean())
    np.testing.assert_allclose(
        fit.transform(NEW), centred @ fit.embedding_[fit.landmarks_] / fit.eigenvalues_, rtol=0, atol=1e-9
    )
    np.testing.assert_array_equal(fit.transform(X), fit.embedding_)


def test_all_rows_as_landmarks_are_exact():
    one, other = Isomap().fit(X), Isomap(n_landmarks=N).fit(X)
    assert gram_distance(other.embedding_, one.embedding_) < 1e-10
    assert gram_distance(other.transform(NEW), one.transform(NEW)) < 1e-10
    few = Isomap(n_landmarks=8).fit(X)
    assert len(few.landmarks_) == 8 and 1e-6 < gram_distance(few.embedding_, one.embedding_) < 0.5


def test_isomap_of_a_disconnected_graph():
    rows = two_clusters()
    joined = quiet(Isomap(), rows)
    assert np.isfinite(joined.embedding_).all()
    largest = Isomap(disconnected="largest").fit(rows)
    np.testing.assert_array_equal(np.isnan(largest.embedding_).any(axis=1), np.arange(N) >= 25)
    alone = Isomap().fit(rows[:25])
    assert gram_distance(largest.embedding_[:25], alone.embedding_) < 1e-10
    near, far = rows[:3] + 0.01, rows[30:33] + 0.01
    assert gram_distance(largest.transform(near), alone.transform(near)) < 1e-10
    assert np.isnan(largest.transform(far)).all()
    with pytest.raises(ValueError, match="connected components"):
        Isomap(disconnected="error").fit(rows)
    Isomap(disconnected="error").fit(rows[:25])


def test_duplicates_are_linked_by_edges_of_length_zero():
    rows = strategies.features_duplicate_rows(36, 4, 2)
    fit = Isomap(n_neighbors=6, disconnected="error").fit(rows)
    np.testing.assert_allclose(fit.embedding_[24:], fit.embedding_[:12], rtol=0, atol=1e-7)


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


def test_weights_that_vanish_are_no_links():
    """A Gaussian so narrow that it underflows leaves no graph at all."""
    with pytest.warns(UserWarning, match="no link"), pytest.raises(ValueError, match="no links between the rows"):
        LaplacianEigenmaps(tau=1e-6).fit(X)


@pytest.mark.parametrize("cls", [LLE, LaplacianEigenmaps])
def test_a_share_of_the_spectrum_is_refused(cls):
    with pytest.raises(ValueError, match="n_components=0.5 is not allowed"):
        cls(n_components=0.5).fit(X)


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
