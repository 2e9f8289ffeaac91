"""scikit-learn as the oracle, where it has the method."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import cross_decomposition, decomposition, discriminant_analysis

import proxembed
import strategies
from oracles import dense

TIGHT = 1e-9


@pytest.fixture(scope="module")
def tall():
    return next(p for p in strategies.problems_multi() if p.name == "tall")


@pytest.fixture(scope="module")
def classes():
    return next(p for p in strategies.problems_single() if p.name == "tall")


def same_directions(P: np.ndarray, Q: np.ndarray) -> None:
    """Every column of P is a multiple of the same column of Q."""
    cosines = np.abs(np.sum(P * Q, axis=0)) / (np.linalg.norm(P, axis=0) * np.linalg.norm(Q, axis=0))
    np.testing.assert_allclose(cosines, 1.0, rtol=0, atol=TIGHT)


@pytest.mark.parametrize("problem", strategies.problems_single(), ids=lambda p: p.name)
def test_pca(problem):
    theirs = decomposition.PCA(4, svd_solver="full").fit(problem.dense)
    ours = proxembed.PCA(n_components=4).fit(problem.X)
    same_directions(ours.components_.T, theirs.components_.T)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.explained_variance_ * (len(problem.dense) - 1), rtol=TIGHT)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=0, atol=1e-12)
    assert dense.gram_error(ours.transform(problem.X), theirs.transform(problem.dense)) < TIGHT


@pytest.mark.parametrize("problem", strategies.problems_single(), ids=lambda p: p.name)
def test_lsi_is_truncated_svd(problem):
    theirs = decomposition.TruncatedSVD(4, algorithm="arpack", random_state=0).fit(problem.X)
    ours = proxembed.LSI(n_components=4).fit(problem.X)
    same_directions(ours.components_.T, theirs.components_.T)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.singular_values_**2, rtol=TIGHT)
    assert dense.gram_error(ours.transform(problem.X), theirs.transform(problem.X)) < TIGHT


@pytest.mark.parametrize("constraint", ["total", "within"])
@pytest.mark.parametrize("solver", ["eigen", "svd"])
def test_fda_is_linear_discriminant_analysis(classes, solver, constraint):
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver=solver).fit(classes.X, classes.classes)
    ours = proxembed.FDA(ridge=0.0, constraint=constraint).fit(classes.X, classes.classes)
    assert ours.n_components_ == 3
    same_directions(ours.components_.T, theirs.scalings_[:, :3])
    within = ours.eigenvalues_ if constraint == "within" else ours.eigenvalues_ / (1 - ours.eigenvalues_)
    np.testing.assert_allclose(within / within.sum(), theirs.explained_variance_ratio_[:3], rtol=TIGHT)


def test_cca_scores_and_correlations(tall):
    Y = tall.Y
    theirs = cross_decomposition.CCA(3, scale=False, max_iter=100_000, tol=1e-22).fit(tall.X, Y)
    scores_x, scores_y = theirs.transform(tall.X, Y)
    correlations = [abs(np.corrcoef(scores_x[:, j], scores_y[:, j])[0, 1]) for j in range(3)]
    ours = proxembed.CCA(n_components=3, ridge=0.0).fit(tall.X, Y.astype(int))
    # Their power iteration stops on squared steps: the vectors, not the correlations, carry the square root of that.
    np.testing.assert_allclose(np.sqrt(ours.eigenvalues_), correlations, rtol=TIGHT)
    same_directions(ours.transform(tall.X), scores_x - scores_x.mean(axis=0))


def test_pls_is_the_svd_of_the_cross_covariance(tall):
    theirs = cross_decomposition.PLSSVD(3, scale=False).fit(tall.X, tall.Y)
    ours = proxembed.PLS(n_components=3).fit(tall.X, tall.Y.astype(int))
    same_directions(ours.components_.T, theirs.x_weights_)
    assert dense.gram_error(ours.transform(tall.X), theirs.transform(tall.X)) < TIGHT


@pytest.mark.parametrize("tau", [2.0, 30.0])
def test_kernelized_pca_is_kernel_pca(tall, tau):
    theirs = decomposition.KernelPCA(4, kernel="rbf", gamma=1 / tau, eigen_solver="dense").fit(tall.X)
    ours = proxembed.Kernelized(proxembed.PCA(), kernel="gaussian", tau=tau, n_components=4).fit(tall.X)
    new = tall.X[:9] + 0.3
    for rows in (tall.X, new):
        assert dense.gram_error(ours.transform(rows), theirs.transform(rows)) < TIGHT
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=TIGHT)
