"""scikit-learn as the oracle of the methods that place rows: up to sign, scale and subspace, on the same graph."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr
from sklearn import decomposition, manifold
from sklearn.datasets import make_blobs, make_swiss_roll

import proxembed
from oracles.dense import gram_error

ROLL, NEW = make_swiss_roll(600, random_state=0)[0], make_swiss_roll(40, random_state=1)[0]
CLUSTERS = make_blobs(600, 20, centers=4, cluster_std=6.0, random_state=0)[0]
DATA = {"Swiss roll": (ROLL, NEW), "clusters": (CLUSTERS, CLUSTERS[:40] + 0.3)}
on_both = pytest.mark.parametrize("name", DATA)
TIGHT = 1e-8


def unit(Z: np.ndarray) -> np.ndarray:
    """Centred columns of length 1: rivals scale by their own rule."""
    Z = Z - Z.mean(axis=0)
    return Z / np.linalg.norm(Z, axis=0)


@on_both
def test_classical_scaling_is_pca_and_kernel_pca_of_given_distances(name):
    X, new = DATA[name]
    theirs = decomposition.PCA(2, svd_solver="full").fit(X)
    ours = proxembed.ClassicalMDS().fit(X)
    assert gram_error(ours.embedding_, theirs.transform(X)) < TIGHT
    assert gram_error(ours.transform(new), theirs.transform(new)) < TIGHT
    E = np.sqrt(np.abs(X[:, None, :5] - X[None, :, :5])).sum(axis=2)  # a metric that is not Euclidean
    kernel = decomposition.KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit(-0.5 * E**2)
    given = proxembed.ClassicalMDS(n_components=3, metric="precomputed").fit(E)
    assert gram_error(given.embedding_, kernel.transform(-0.5 * E**2)) < TIGHT
    np.testing.assert_allclose(given.eigenvalues_, kernel.eigenvalues_, rtol=TIGHT)


@on_both
@pytest.mark.parametrize("n_neighbors", [8, 15])
def test_isomap(name, n_neighbors):
    X, new = DATA[name]
    theirs = manifold.Isomap(n_neighbors=n_neighbors, n_components=3, eigen_solver="dense").fit(X)
    ours = proxembed.Isomap(n_neighbors=n_neighbors, n_components=3).fit(X)
    assert gram_error(ours.embedding_, theirs.embedding_) < TIGHT
    assert gram_error(ours.transform(new), theirs.transform(new)) < TIGHT
    np.testing.assert_allclose(ours.eigenvalues_, theirs.kernel_pca_.eigenvalues_, rtol=TIGHT)


@on_both
def test_locally_linear_embedding(name):
    X, new = DATA[name]
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=10, n_components=2, eigen_solver="dense").fit(X)
    ours = proxembed.LLE(n_neighbors=10).fit(X)
    # The eigenvalues on the roll are 1e-9 of the largest: what rounding leaves of their vectors is 1e-6.
    assert gram_error(ours.embedding_, theirs.embedding_) < 1e-5
    assert gram_error(ours.transform(new), theirs.transform(new)) < 1e-5
    np.testing.assert_allclose(ours.eigenvalues_.sum(), theirs.reconstruction_error_, rtol=1e-5, atol=1e-12)


@on_both
@pytest.mark.parametrize("solver", ["auto", "dense", "shift-invert", "lanczos"])
def test_spectral_embedding(name, solver):
    X, _ = DATA[name]
    ours = proxembed.LaplacianEigenmaps(n_neighbors=10, n_components=3, solver=solver).fit(X)
    theirs = manifold.SpectralEmbedding(3, affinity="precomputed", random_state=0).fit(ours.affinity_.toarray())
    assert gram_error(unit(ours.embedding_), unit(theirs.embedding_)) < 1e-6
    if solver != "auto":
        assert ours.solver_ == solver


def test_the_graph_of_spectral_embedding_with_weights_of_one():
    """Their graph: links of one direction count half; that is our directed graph, loops apart."""
    theirs = manifold.SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=11, random_state=0).fit(CLUSTERS)
    W = csr_matrix(theirs.affinity_matrix_)
    W.setdiag(0.0)
    ours = proxembed.LaplacianEigenmaps(graph="directed", weights="constant", n_neighbors=10).fit(CLUSTERS)
    assert abs(W - csr_matrix(ours.affinity_)).max() == 0.0
    other = proxembed.LaplacianEigenmaps(weights="constant", n_neighbors=10).fit(CLUSTERS)
    assert gram_error(unit(ours.embedding_), unit(theirs.embedding_)) < 1e-5
    assert gram_error(unit(other.embedding_), unit(theirs.embedding_)) > 1e-3


@pytest.mark.parametrize(
    "estimator",
    [proxembed.Isomap(n_neighbors=8), proxembed.LLE(n_neighbors=10), proxembed.LaplacianEigenmaps(n_neighbors=10)],
    ids=lambda e: type(e).__name__,
)
def test_the_roll_is_unrolled_where_projections_cannot(estimator):
    """Some component follows the length along the roll; none of a projection does."""
    along = make_swiss_roll(600, random_state=0)[1]

    def follows(Z: np.ndarray) -> float:
        return max(abs(spearmanr(along, column).statistic) for column in Z.T)

    assert (
        follows(estimator.fit_transform(ROLL)) > 0.85 > 0.6 > follows(proxembed.PCA(n_components=3).fit_transform(ROLL))
    )
