"""The smallest eigenpairs of (I - W)'(I - W): every route against all of the matrix, also where plain steps stall."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.graphs import bottom_residual as bottom_residual_module
from proxembed.algebra.graphs.bottom_residual import SOLVERS, bottom_residual, null_vectors
from proxembed.proximity.backends import nearest
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
    monkeypatch.setattr(bottom_residual_module, "loosely", lambda A, B, *given: B)
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
    null, roots = null_vectors(sparse.csr_array(W), 5)
    assert null.shape == (5, 2) and roots.tolist() == [0, 2]
    np.testing.assert_allclose(W @ null, null, atol=1e-12)
    np.testing.assert_allclose(null.T @ null, np.eye(2), atol=1e-12)


def test_all_components_of_few_rows():
    W = weights(30)
    found = bottom_residual(W, 29)
    np.testing.assert_allclose(found.eigenvalues, dense(W)[0][1:], atol=1e-10)


def test_lobpcg_on_signed_weights_of_real_rows(data_folder):
    with np.load(data_folder / "yeast.npz") as file:
        X = file["X"][:800].astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    index = nearest(X, 15).index
    W = reconstruction_matrix(index, reconstruction_weights(X, index, reg=1e-3), len(X))
    one, other = (bottom_residual(W, 2, solver=solver) for solver in ("lobpcg", "factor"))
    np.testing.assert_allclose(one.eigenvalues, other.eigenvalues, rtol=1e-6)
    np.testing.assert_allclose(one.Z, other.Z, atol=1e-5)


def low_dimensional(kind: str, n: int):
    """Signed weights of rows in one, two or five dimensions: no incomplete factor helps plain steps there."""
    rng = np.random.default_rng(0)
    if kind == "line":
        X = np.column_stack([np.sort(rng.random(n)), np.zeros(n)])
    elif kind == "roll":
        t = 1.5 * np.pi * (1 + 2 * rng.random(n))
        X = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])
    else:
        X = rng.standard_normal((n, 5))
    index = nearest(X, 15).index
    return reconstruction_matrix(index, reconstruction_weights(X, index, reg=1e-3 / 15), n)


@pytest.mark.parametrize(("kind", "n"), [("line", 800), ("roll", 500), ("roll", 6500), ("gauss", 450)])
def test_rows_of_few_dimensions_are_factorised_however_many(kind, n):
    """Past the rows at which a factor fills where dimensions are many; plain steps end far off, at 0.01 and more.

    Releases of SuperLU differ in rounding: the residual on the line is 1e-13 with SciPy 1.17 and 2e-12 with 1.13. So do
    plain steps that do not converge: their residual on the line is 0.5 with SciPy 1.17 and 8e-4 with 1.18.
    """
    W = low_dimensional(kind, n)
    found = bottom_residual(W, 2)
    assert found.solver == "factor" and found.residual <= 1e-11
    assert found.eigenvalues.max() < 1e-7
    if n < 2000:
        w, V = dense(W)
        np.testing.assert_allclose(found.eigenvalues, w[1:3], atol=1e-13)
        assert np.linalg.svd(found.Z[:, 1:].T @ V[:, 2:3], compute_uv=False).min() > 0.99
        with pytest.warns(ConvergenceWarning, match="found by lobpcg with a residual"):
            plain = bottom_residual(W, 2, solver="lobpcg")
        assert plain.eigenvalues[0] > 1e3 * found.eigenvalues[0] and plain.residual > 1e-4


@pytest.mark.parametrize("helps", [0.5, np.inf])
def test_where_plain_steps_fail_a_factor_that_fits_is_taken_after_all(monkeypatch, helps):
    """At once where loose solves lead nowhere, which the last route does not ask; else after the steps."""
    W, ritz = low_dimensional("gauss", 300), bottom_residual_module._ritz
    calls = []
    monkeypatch.setattr(bottom_residual_module, "_ritz", lambda *given: calls.append(1) or ritz(*given))
    monkeypatch.setattr(bottom_residual_module, "DENSE_UP_TO", 200)
    monkeypatch.setattr(bottom_residual_module, "FACTOR_PER_ROW", 0.0)
    monkeypatch.setattr(bottom_residual_module, "HELPS", helps)
    found = bottom_residual(W, 2)
    assert found.solver == "factor" and found.residual <= 1e-12
    assert len(calls) == 3 if helps == 0.5 else len(calls) > 8
    monkeypatch.setattr(bottom_residual_module, "factor_work", lambda A: np.inf)
    with pytest.warns(ConvergenceWarning, match="found by lobpcg with a residual"):
        assert bottom_residual(W, 2).solver == "lobpcg"


def test_plain_steps_that_succeed_are_kept(monkeypatch):
    W = weights(900, 30)
    monkeypatch.setattr(bottom_residual_module, "FACTOR_PER_ROW", 0.0)
    assert bottom_residual(W, 2).solver == "lobpcg"


def test_of_many_closed_components_only_some_vectors_are_made():
    W = sparse.csr_array(sparse.block_diag([sparse.coo_array([[0.0, 1.0], [1.0, 0.0]])] * 300))
    null, roots = null_vectors(W, 4)
    assert null.shape == (600, 4) and len(roots) == 300
    np.testing.assert_allclose(W @ null, null, atol=1e-12)
    np.testing.assert_allclose(null.T @ null, np.eye(4), atol=1e-12)
    whole, _ = null_vectors(W, 300)
    assert whole.shape == (600, 300)
    np.testing.assert_allclose(whole[:, :4], null, atol=1e-12)
    with pytest.warns(UserWarning, match="has 300 connected components"):
        found = bottom_residual(W, 3)
    assert found.Z.shape == (600, 3) and not found.eigenvalues.any()
