"""The smallest eigenpairs of (I - W)'(I - W): every route against all of the matrix, also where plain steps stall."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra import bottom_residual as room
from proxembed.algebra.bottom_residual import SOLVERS, bottom_residual, null_vectors
from proxembed.proximity.neighbors import nearest
from proxembed.proximity.reconstruction import reconstruction_matrix, reconstruction_weights


def weights(n=500, d=20, reg=1e-3, seed=0):
    """Signed weights of rows in many dimensions, whose A = I - W is badly conditioned."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    index = nearest(X, 10).index
    return reconstruction_matrix(index, reconstruction_weights(X, index, reg=reg), n)


def dense(W):
    A = np.eye(W.shape[0]) - W.toarray()
    return np.linalg.eigh(A.T @ A)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "auto"])
def test_every_route_finds_the_smallest_pairs(solver):
    W = weights()
    w, V = dense(W)
    found = bottom_residual(W, 3, solver=solver)
    np.testing.assert_allclose(found.eigenvalues, w[1:4], rtol=1e-5)
    np.testing.assert_allclose(np.linalg.svd(V[:, 1:4].T @ found.Z, compute_uv=False), 1.0, atol=1e-6)
    np.testing.assert_allclose(found.Z.T @ found.Z, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(found.Z.sum(axis=0), 0.0, atol=1e-8)


@pytest.mark.parametrize("solver", ["factor", "lobpcg"])
def test_the_residual_that_is_told_is_the_residual(solver):
    W = weights()
    A = sparse.eye_array(500) - W
    M = sparse.csr_array(A.T @ A)
    found = bottom_residual(W, 2, solver=solver)
    error = np.linalg.norm(M @ found.Z - found.Z * found.eigenvalues, axis=0).max()
    assert error == pytest.approx(found.residual, rel=1e-3, abs=1e-12)
    assert error <= 1e-8 * np.abs(M.toarray()).sum(axis=1).max()


def test_without_its_factor_lobpcg_is_told_to_have_stalled(monkeypatch):
    W = weights(900, 30, reg=1e-6)
    good = bottom_residual(W, 2, solver="lobpcg")
    monkeypatch.setattr(room, "loosely", lambda A, B, *given: B)
    with pytest.warns(ConvergenceWarning, match="found by lobpcg with a residual"):
        stalled = bottom_residual(W, 2, solver="lobpcg")
    assert stalled.residual > 1e4 * good.residual and stalled.eigenvalues[0] > 1.2 * good.eigenvalues[0]
    np.testing.assert_allclose(good.eigenvalues, dense(W)[0][1:3], rtol=1e-4)


def test_closed_components_come_first_and_are_told():
    W = sparse.csr_array(sparse.block_diag([weights(60), weights(40, seed=1)]))
    with pytest.warns(UserWarning, match="2 connected components that no edge leaves"):
        found = bottom_residual(W, 2)
    assert found.eigenvalues[0] == 0 < found.eigenvalues[1]
    own = found.Z[:, 0]
    np.testing.assert_allclose(own[:60], own[0], atol=1e-12)
    np.testing.assert_allclose(own[60:], own[60], atol=1e-12)
    assert own[0] * own[60] < 0


def test_null_vectors_are_kept_by_the_weights_and_roots_are_the_busiest_rows():
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1.0
    W[4, [0, 2]] = 0.25, 0.75
    null, roots = null_vectors(sparse.csr_array(W))
    assert null.shape == (5, 2) and roots.tolist() == [0, 2]
    np.testing.assert_allclose(W @ null, null, atol=1e-12)
    np.testing.assert_allclose(null.T @ null, np.eye(2), atol=1e-12)


def test_all_components_of_few_rows():
    W = weights(30)
    found = bottom_residual(W, 29)
    np.testing.assert_allclose(found.eigenvalues, dense(W)[0][1:], atol=1e-10)


def test_lobpcg_on_signed_weights_of_real_rows(data_folder):
    with np.load(data_folder / "yeast.npz") as file:
        X = file["X"].astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    index = nearest(X, 15).index
    W = reconstruction_matrix(index, reconstruction_weights(X, index, reg=1e-3), len(X))
    one, other = (bottom_residual(W, 2, solver=solver) for solver in ("lobpcg", "factor"))
    np.testing.assert_allclose(one.eigenvalues, other.eigenvalues, rtol=1e-6)
    np.testing.assert_allclose(one.Z, other.Z, atol=1e-5)
