"""Reconstruction inside classes in closed form, its degenerate cases, and the kernel forms of Fisher and MFA."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import strategies
from designs import pairwise
from identities.comparison import DIFFERENT, gram_distance
from identities.local_problems import assert_close, matrices, problems, rows_of
from oracles import dense, local
from proxembed import FDA, LFDA, MFA, OLPPR, SONPP, Kernelized
from proxembed.algebra.arrays.class_blocks import class_residual
from proxembed.estimator.rows import Rows
from proxembed.proximity.reconstruction import reconstruction_weights
from proxembed.targets.labels import LabelMatrix

# ----------------------------------------------------------------------------------------------------- reconstructions


@pairwise
@pytest.mark.parametrize("n", [2, 3, 6, 20])
@pytest.mark.parametrize("reg", [1e-3, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_the_closed_form_of_whole_class_weights(n, reg, form):
    X = strategies.features_dense(n, 5, 3)
    index = np.array([[j for j in range(n) if j != i] for i in range(n)])
    W = np.zeros((n, n))
    np.put_along_axis(W, index, reconstruction_weights(X, index, reg=reg), axis=1)
    found = class_residual(form(X), np.arange(n), reg, np.ones(n)).dot(np.eye(n))
    np.testing.assert_allclose(found, np.eye(n) - W, rtol=0, atol=1e-9)


def test_whole_class_weights_without_regularisation():
    X = strategies.features_dense(5, 9, 3)
    index = np.array([[j for j in range(5) if j != i] for i in range(5)])
    W = np.zeros((5, 5))
    np.put_along_axis(W, index, reconstruction_weights(X, index, reg=0.0), axis=1)
    np.testing.assert_allclose(
        class_residual(X, np.arange(5), 0.0, np.ones(5)).dot(np.eye(5)), np.eye(5) - W, atol=1e-8
    )
    with pytest.raises(ValueError, match="reg=0"):
        SONPP(n_neighbors=None, reg=0.0).fit(strategies.features_dense(40, 4, 1), np.repeat([0, 1], 20))


def test_a_class_of_equal_rows_is_reconstructed_by_equal_weights():
    R = class_residual(np.ones((4, 3)), np.arange(4), 1e-3, np.ones(4)).dot(np.eye(4))
    np.testing.assert_allclose(R, np.eye(4) * 4 / 3 - 1 / 3, atol=1e-12)


def relative_residual(K, reg) -> float:
    """||(I - W)X|| over ||Xc|| of one class of 30 rows in 5 dimensions, W from K neighbours or from all."""
    X = strategies.features_dense(30, 5, 2)
    y = np.repeat([0, 1], [30, 2])
    rows = Rows(np.vstack([X, X[:2] + 100.0]), LabelMatrix.of(y))
    M = -SONPP(n_neighbors=K, reg=reg).template(rows).A.sandwich(rows.X)
    left = np.trace(M) - np.trace(local.reconstruction(local.Copies(rows.X[30:], np.ones((2, 1))), None, reg))
    return float(np.sqrt(max(left, 0.0)) / np.linalg.norm(X - X.mean(axis=0)))


def test_a_whole_class_reconstructs_everything():
    """More rows than dimensions: the error falls with reg and holds nothing of the class; a few neighbours leave it."""
    few, whole, tiny = relative_residual(3, 1e-3), relative_residual(None, 1e-3), relative_residual(None, 1e-8)
    assert whole < 0.1 and tiny < 1e-5
    assert few > 0.2


def test_a_class_of_one_row_adds_nothing():
    X = strategies.features_dense(21, 6, 4)
    y = np.repeat([0, 1, 2], [10, 10, 1])
    for K in (5, None):
        with_one = matrices(SONPP(n_neighbors=K), Rows(X, LabelMatrix.of(y)))[0]
        without = matrices(SONPP(n_neighbors=K), Rows(X[:20], LabelMatrix.of(y[:20])))[0]
        assert_close(with_one, without, 1e-12)


def test_balanced_terms_have_equal_traces():
    problem = problems()[1]
    rows = rows_of(problem)
    A, _ = matrices(OLPPR(balance="trace"), rows)
    assert abs(np.trace(A)) < 1e-9 * np.abs(A).max()
    plain, _ = matrices(OLPPR(), rows)
    assert abs(np.trace(plain)) > DIFFERENT * np.abs(plain).max()


def test_balanced_terms_do_not_see_the_origin():
    problem = problems()[1]
    method = OLPPR(balance="trace", weights="gaussian", tau=3.0)
    plain = matrices(method, Rows(problem.dense, LabelMatrix.of(problem.classes)))[0]
    far = Rows(problem.dense + 1e6, LabelMatrix.of(problem.classes))
    X = far.X - far.X.mean(axis=0)
    found = method.template(far).A.sandwich(X)
    assert_close(found, plain, 1e-7)


# ------------------------------------------------------------------------------------------------------------- kernels


def centred_kernel(K):
    J = dense.centring(len(K))
    return J @ K @ J


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_linear_kernel_fda_is_fda(problem):
    plain = FDA(ridge=0.0).fit(problem.X, problem.classes)
    kernel = Kernelized(FDA(ridge=0.0), kernel="linear").fit(problem.X, problem.classes)
    assert gram_distance(kernel.transform(problem.X), plain.transform(problem.X)) < 1e-6


@pytest.mark.parametrize(
    "method", [LFDA(), LFDA(scope="global"), MFA(), MFA(pairs="point"), MFA(n_friends=2, n_enemies=7)], ids=repr
)
def test_linear_kernel_mfa_and_lfda_are_mfa_and_lfda(method):
    problem = problems()[1]
    plain = clone(method).set_params(n_components=2).fit(problem.X, problem.classes)
    same = {"ridge": plain.ridge_, "ridge_scale": "absolute"}  # the relative unit counts prototypes, not features
    kernel = Kernelized(method, kernel="linear", n_components=2, **same).fit(problem.X, problem.classes)
    assert gram_distance(kernel.transform(problem.X), plain.transform(problem.X)) < 1e-6


@pytest.mark.parametrize("method", [FDA(ridge=0.01), MFA(ridge=0.01)], ids=repr)
def test_kernel_methods_are_the_templates_on_the_kernel_matrix(method):
    """K'AK against K'BK + ridge K (orthonormal in feature space), K centred; rows and new rows."""
    problem = problems()[1]
    X, data = problem.dense, local.Copies(problem.dense, problem.Y)
    new, tau = X[:5] + 0.1, 30.0

    def gaussian(A):
        return np.exp(-((A[:, None, :] - X[None]) ** 2).sum(axis=2) / tau)

    if isinstance(method, FDA):
        H = problem.Y @ np.diag(1 / data.nk) @ problem.Y.T
        A, B = H - 1 / data.n, np.eye(data.n) - 1 / data.n
    else:
        A = dense.laplacian(data.collapse(local.enemies(data, 20, "class")))
        B = dense.laplacian(data.collapse(local.friends(data, 5)))
    K = centred_kernel(gaussian(X))
    kappa, U = np.linalg.eigh(K)
    keep = kappa > 1e-10 * kappa.max()
    T = U[:, keep] * np.sqrt(kappa[keep])
    Bt = T.T @ B @ T
    Bt += 0.01 * np.trace(Bt) / len(X) * np.eye(Bt.shape[0])
    Q, w = dense.dense_solve(T.T @ A @ T, Bt, T, 3)
    Gamma = U[:, keep] / np.sqrt(kappa[keep]) @ Q
    fitted = Kernelized(method, tau=tau, n_components=3).fit(X, problem.classes)
    k = gaussian(new)
    centred = k - k.mean(axis=1, keepdims=True) - gaussian(X).mean(axis=0) + gaussian(X).mean()
    expected = np.vstack([K @ Gamma, centred @ Gamma])
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=1e-5)
    assert gram_distance(np.vstack([fitted.transform(X), fitted.transform(new)]), expected) < 1e-5
