"""Identities of the maps of distances: classical scaling and shortest paths, and their rules for new rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from identities.comparison import gram_distance
from proxembed import PCA, ClassicalMDS, Isomap, LaplacianEigenmaps
from proxembed.algebra.operators.structured import LowRank
from proxembed.algebra.pencil import direct
from proxembed.estimator import neighborly
from proxembed.methods.manifold import DoubleCentred, gower_rows
from proxembed.proximity.graph import geodesics

N = 40
X = strategies.features_dense(N, 6, 3)
NEW = strategies.features_dense(9, 6, 53)


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


def test_many_features_take_no_matrix_of_rows(monkeypatch):
    """More than 1,500 features, still fewer than rows: a share of the spectrum and many components are found thin."""
    monkeypatch.setattr(direct, "THIN_UP_TO", 4)
    monkeypatch.setattr(LowRank, "todense", lambda self, n=None: pytest.fail("n x n"))
    for k in (0.9, 5, 2):
        ours, pca = ClassicalMDS(n_components=k).fit(X), PCA(n_components=k).fit(X)
        assert gram_distance(ours.embedding_, pca.transform(X)) < 1e-10
    wide = strategies.features_dense(8, 20, 1)
    with pytest.raises(pytest.fail.Exception, match="n x n"):
        ClassicalMDS(n_components=2).fit(wide)


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
    with pytest.raises(ValueError, match="more than the 1 component that"):
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


def test_new_rows_are_joined_to_all_rows_within_eps():
    """A row in the middle of a circle has more neighbours within eps than any row of training."""
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rows, new = np.column_stack([np.cos(angle), np.sin(angle)]), np.array([[0.01, 0.003]])
    d = distances(new, rows)
    assert np.all(d < 1.05) and np.diff(Isomap(eps=1.05).fit(rows).graph_.indptr).max() < 12
    near = Isomap(eps=1.05).fit(rows)
    e = np.min(d[:, :, None] + geodesics(near.graph_)[None], axis=1) ** 2
    np.testing.assert_allclose(
        near.transform(new), gower_rows(e, near.level_, near.embedding_, near.eigenvalues_), rtol=0, atol=1e-10
    )
    fit = LaplacianEigenmaps(graph="closeness", eps=1.05, weights="constant").fit(rows)
    expected = fit.embedding_.mean(axis=0, keepdims=True) / (1 - fit.eigenvalues_)
    np.testing.assert_allclose(fit.transform(new), expected, rtol=0, atol=1e-10)


def test_paths_of_new_rows_are_searched_from_the_fewer_ends(monkeypatch):
    fit = Isomap(n_neighbors=6, n_landmarks=4).fit(X)
    expected, seen = fit.transform(NEW), []

    def counted(graph, sources=None):
        seen.append(len(sources))
        return geodesics(graph, sources)

    monkeypatch.setattr(neighborly, "geodesics", counted)
    monkeypatch.setattr(neighborly, "BLOCK_ENTRIES", 8)
    np.testing.assert_allclose(fit.transform(NEW), expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    assert seen == [4]
    graph, links = fit.graph_, fit._links(NEW)
    few, all_rows = np.array([3, 7]), np.arange(N)
    blocks = [lengths for _, lengths in neighborly.path_lengths(graph, links, all_rows)]
    np.testing.assert_allclose(
        np.vstack(blocks)[:, few], np.vstack([b for _, b in neighborly.path_lengths(graph, links, few)]), rtol=1e-13
    )
    assert seen[1] == len(np.unique(links.index)) < N and seen[2] == 2


def test_a_fit_that_fails_keeps_no_paths_and_names_its_remedy():
    fit = Isomap(n_components=N)
    with pytest.raises(ValueError, match="more than the"):
        fit.fit(X)
    assert not hasattr(fit, "prepared_") and not hasattr(fit, "graph_")
    with pytest.raises(ValueError, match="n_landmarks=41 is not allowed with 40 rows.*n_landmarks <= 40, or None"):
        Isomap(n_landmarks=41).fit(X)


def test_all_rows_as_landmarks_are_exact():
    one, other = Isomap().fit(X), Isomap(n_landmarks=N).fit(X)
    assert gram_distance(other.embedding_, one.embedding_) < 1e-10
    assert gram_distance(other.transform(NEW), one.transform(NEW)) < 1e-10
    few = Isomap(n_landmarks=20).fit(X)
    assert len(few.landmarks_) == 20 and 1e-6 < gram_distance(few.embedding_, one.embedding_) < 0.5


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
