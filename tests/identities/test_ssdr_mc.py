"""SSDR-MC against its equations: local systems, stationarity, exact minimum, priors, limit cases, invariances."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import lu_factor, solve
from scipy.optimize import minimize

import strategies
from proxembed import LLE, SSDRMC
from proxembed.algebra.graphs.bottom_residual import bottom_residual
from proxembed.proximity import reconstruction

N, D, C, K = 90, 20, 4, 8
X, TRUE = strategies.labelled_rows(N, D, C, 3)
KNOWN = np.random.default_rng(1).random(N) < 0.4
U = ~KNOWN
Y = np.where(KNOWN[:, None], TRUE, np.nan)
OPTIONS = {"n_neighbors": K, "max_label_changes": 0}


def fit(y=Y, rows=X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of soft labels beyond 5 and of closed components
        return SSDRMC(**{**OPTIONS, **options}).fit(rows, y)


def neighbours(rows) -> np.ndarray:
    d2 = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    return np.argsort(np.where(np.eye(len(rows), dtype=bool), np.inf, d2), axis=1, kind="stable")[:, :K]


def local_system(i: int, index, F, alpha: float, reg: float, scale: float = 1.0) -> np.ndarray:
    P, Q = ((V[i] - V[index[i]]) @ (V[i] - V[index[i]]).T for V in (X, F.astype(float)))
    L = (1 - alpha) * P + alpha * scale * Q
    return L + reg * np.trace(L) / K * np.eye(K)


def residual(fitted) -> np.ndarray:
    return np.eye(N) - fitted.reconstruction_.toarray()


@pytest.mark.parametrize("weights", ["signed", "clip", "nnls"])
def test_weights_are_those_of_the_local_systems(weights):
    fitted = fit(weights=weights, reg=0.01, alpha=0.3)
    index, W = neighbours(X), fitted.reconstruction_
    assert fitted.status_ == "converged" and fitted.trace_[-1]["changed"] == 0
    np.testing.assert_array_equal(np.diff(W.indptr), K)
    np.testing.assert_allclose(W.sum(axis=1), 1.0, atol=1e-10)
    np.testing.assert_array_equal(W.diagonal(), 0.0)
    W = W.toarray()
    for i in range(N):
        L = local_system(i, index, fitted.transduction_, 0.3, 0.01)
        w = W[i, index[i]]
        if weights == "signed":
            push = L @ w
            np.testing.assert_allclose(push, push.mean(), rtol=1e-8)
        elif weights == "clip":
            v = np.maximum(solve(L, np.ones(K)), 0)
            np.testing.assert_allclose(w, v / v.sum(), atol=1e-9)
        else:
            push = L @ w
            assert w.min() >= 0
            np.testing.assert_allclose(push[w > 0], w @ L @ w, rtol=1e-7)
            assert push.min() >= w @ L @ w * (1 - 1e-7)
    assert (W.min() < -1e-3) == (weights == "signed")


def test_nonnegative_weights_are_the_best_on_the_simplex():
    fitted, index = fit(weights="nnls", alpha=0.0), neighbours(X)
    W = fitted.reconstruction_.toarray()
    for i in range(0, N, 30):
        L = local_system(i, index, fitted.transduction_, 0.0, 1e-3)
        L /= np.trace(L)
        rival = minimize(
            lambda w, L=L: w @ L @ w,
            np.full(K, 1 / K),
            method="SLSQP",
            bounds=[(0, 1)] * K,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-14},
        )
        w = W[i, index[i]]
        assert w @ L @ w <= rival.fun + 1e-10


def test_without_labels_in_the_weights_it_is_lle():
    fitted = fit(alpha=0.0, reg=0.01, n_components=3)
    lle = LLE(n_components=3, n_neighbors=K, reg=0.01 / K).fit(X)
    weights = reconstruction.reconstruction_weights(X, neighbours(X), reg=0.01 / K)
    expected = reconstruction.reconstruction_matrix(neighbours(X), weights, N)
    np.testing.assert_allclose(fitted.reconstruction_.toarray(), expected.toarray(), atol=1e-12)
    cosines = np.linalg.svd(fitted.embedding_.T @ lle.embedding_, compute_uv=False)
    assert cosines.min() > 1 - 1e-8
    np.testing.assert_allclose(fitted.eigenvalues_, lle.eigenvalues_, rtol=1e-8)
    assert np.linalg.svd(fit(alpha=0.5, n_components=3).embedding_.T @ lle.embedding_, compute_uv=False).min() < 0.999


def test_the_embedding_is_that_of_the_smallest_eigenvalues():
    fitted = fit(n_components=4)
    A = residual(fitted)
    w, V = np.linalg.eigh(A.T @ A)
    np.testing.assert_allclose(fitted.eigenvalues_, w[1:5], rtol=1e-7, atol=1e-13)
    assert np.linalg.svd(fitted.embedding_.T @ V[:, 1:5], compute_uv=False).min() > 1 - 1e-8
    np.testing.assert_allclose(fitted.embedding_.T @ fitted.embedding_, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(fitted.embedding_.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", ["factor", "lobpcg", "lanczos"])
def test_routes_of_the_embedding_agree(solver):
    W = fit(preset="recommended").reconstruction_
    exact, found = bottom_residual(W, 3, solver="dense"), bottom_residual(W, 3, solver=solver)
    np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues, rtol=1e-6)
    assert np.linalg.svd(found.Z.T @ exact.Z, compute_uv=False).min() > 1 - 1e-6


@pytest.mark.parametrize("weights", ["signed", "clip"])
@pytest.mark.parametrize("solver", ["factor", "bicgstab", "ilu"])
def test_published_labels_are_rebuilt_exactly(solver, weights):
    fitted = fit(solver=solver, weights=weights, reg=0.05)
    F = fitted.soft_labels_
    assert fitted.solver_ == solver
    np.testing.assert_array_equal(F[KNOWN], TRUE[KNOWN])
    assert np.abs((residual(fitted) @ F)[U]).max() < 1e-7
    A = residual(fitted)
    np.testing.assert_allclose(F[U], solve(A[np.ix_(U, U)], -A[np.ix_(U, KNOWN)] @ TRUE[KNOWN]), atol=1e-6)
    if weights == "clip":
        assert F.min() >= -1e-9 and F.max() <= 1 + 1e-9


def test_exact_labels_are_the_minimum():
    one, other = fit(objective="exact", max_iter=1), fit(max_iter=1)
    A = residual(one)
    np.testing.assert_allclose(residual(other), A, atol=1e-12)
    gradient = A[:, U].T @ A @ one.soft_labels_
    assert np.abs(gradient).max() < 1e-7
    cost = [np.sum((A @ fitted.soft_labels_) ** 2) for fitted in (one, other)]
    assert cost[0] < cost[1] * (1 - 1e-6)
    assert np.abs(A[:, U].T @ A @ other.soft_labels_).max() > 1e-2


@pytest.mark.parametrize("objective", ["paper", "exact"])
def test_weak_priors_are_their_equations(objective):
    for prior, strength in (("masked", 0.7), ("paper", 2.0)):
        fitted = fit(objective=objective, prior=prior, prior_strength=strength, max_iter=1)
        A = residual(fitted)
        b = np.where(KNOWN | (prior == "paper"), strength, 0.0)
        left = (A.T @ A if objective == "exact" else A) + np.diag(b)
        expected = solve(left, b[:, None] * np.where(KNOWN[:, None], TRUE, 0.0))
        np.testing.assert_allclose(fitted.soft_labels_, expected, atol=1e-6)


@pytest.mark.parametrize("objective", ["paper", "exact"])
def test_a_strong_masked_prior_holds_the_labels(objective):
    hard = fit(objective=objective, preset="recommended")
    masked = fit(objective=objective, preset="recommended", prior="masked", prior_strength=1e8)
    np.testing.assert_allclose(masked.soft_labels_, hard.soft_labels_, atol=1e-5)
    weak = fit(objective=objective, preset="recommended", prior="masked", prior_strength=1.0).soft_labels_
    assert np.abs(weak - hard.soft_labels_).max() > 0.05
    if objective == "paper":
        assert weak.min() >= -1e-9 and weak.max() <= 1 + 1e-9


def test_single_known_cells_hold():
    y = np.array(Y)
    y[U & (np.arange(N) % 2 == 0), 1] = TRUE[U & (np.arange(N) % 2 == 0), 1]
    fitted = fit(y)
    given = ~np.isnan(y)
    np.testing.assert_array_equal(fitted.soft_labels_[given], y[given])
    defect = residual(fitted) @ fitted.soft_labels_
    assert np.abs(defect[~given]).max() < 1e-7
    np.testing.assert_array_equal(fitted.transduction_[given], y[given])


def test_balanced_weights_do_not_depend_on_place_turn_or_size():
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((D, D)))[0]
    moved = {"shift": X + 3.0, "turn": X @ turn}
    for name, rows in moved.items():
        one, other = fit(), fit(rows=rows)
        np.testing.assert_allclose(
            other.reconstruction_.toarray(), one.reconstruction_.toarray(), atol=1e-8, err_msg=name
        )
    one, other = (fit(rows=size * X, balance="trace", alpha=0.2) for size in (1.0, 40.0))
    np.testing.assert_allclose(other.reconstruction_.toarray(), one.reconstruction_.toarray(), atol=1e-8)
    one, other = (fit(rows=size * X, alpha=0.2) for size in (1.0, 40.0))
    assert np.abs(other.reconstruction_.toarray() - one.reconstruction_.toarray()).max() > 1e-3


def test_order_of_rows_and_form_of_labels_do_not_matter():
    one, order = fit(), np.random.default_rng(2).permutation(N)
    other = fit(Y[order], X[order])
    np.testing.assert_allclose(other.soft_labels_, one.soft_labels_[order], atol=1e-8)
    np.testing.assert_array_equal(other.transduction_, one.transduction_[order])
    sparse_y, sparse_rows = fit(sp.csr_array(Y)), fit(rows=sp.csr_array(X))
    np.testing.assert_array_equal(sparse_y.soft_labels_, one.soft_labels_)
    np.testing.assert_allclose(sparse_rows.soft_labels_, one.soft_labels_, atol=1e-8)
    assert np.abs(fit(Y[:, ::-1]).soft_labels_[:, ::-1] - one.soft_labels_).max() < 1e-8
    whole, truth = fit(TRUE.astype(float)), fit(TRUE > 0)
    np.testing.assert_array_equal(truth.reconstruction_.data, whole.reconstruction_.data)
    np.testing.assert_array_equal(truth.transduction_, whole.transduction_)


def test_blocks_do_not_matter(monkeypatch):
    one = fit(weights="nnls")
    monkeypatch.setattr(reconstruction, "BLOCK_ENTRIES", K * D * 3)
    np.testing.assert_allclose(fit(weights="nnls").reconstruction_.data, one.reconstruction_.data, atol=1e-10)
    monkeypatch.setattr("proxembed.methods.transductive.label_iteration.KEPT_BYTES", 0)
    np.testing.assert_allclose(fit(weights="nnls").reconstruction_.data, one.reconstruction_.data, atol=1e-10)


def test_rows_that_reach_no_label_make_the_plain_system_singular():
    far = np.vstack([X, X[:12] + 1000.0])
    y = np.vstack([Y, np.full((12, C), np.nan)])
    fitted = fit(y, far, unreachable="prior", preset="recommended")
    A = np.eye(N + 12) - fitted.reconstruction_.toarray()
    free = np.isnan(y[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        factor = lu_factor(A[np.ix_(free, free)])[0]
    assert np.abs(np.diag(factor)).min() < 1e-12
    np.testing.assert_allclose(fitted.soft_labels_[N:], np.tile(TRUE[KNOWN].mean(axis=0), (12, 1)))
    assert fitted.trace_[-1]["unreached"] == 12 * C
