"""ridge="auto" and tau="auto" against leave-one-out done the long way: refit without the row, predict it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from designs import WHOLE
from oracles import kernels
from proxembed import CCA, FDA, HSL, MLDA, OPLS, Kernelized, MultiOutputRidge

TRACE_GRID = np.logspace(-6, 2, 17)


def leave_one_out(K, F, ridge) -> float:
    """Mean squared error of kernel ridge with an intercept, refitted without each row in turn."""
    n, errors = len(K), []
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        inside = K[np.ix_(rest, rest)]
        Kc = kernels.centre_kernel(inside, inside)
        row = kernels.centre_kernel(K[i : i + 1, rest], inside)
        mean = F[rest].mean(axis=0)
        prediction = mean + row @ np.linalg.solve(Kc + ridge * np.eye(n - 1), F[rest] - mean)
        errors.append(np.mean((F[i] - prediction) ** 2))
    return float(np.mean(errors))


def noisy(n=40, d=30, c=4, seed=0):
    """Features of which a few carry the labels: the best ridge lies inside the grid."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X[:, :c] + 0.7 * rng.standard_normal((n, c))
    Y = (scores > 0.3).astype(float)
    Y[np.arange(n), rng.integers(0, c, n)] = 1.0
    return X, Y


@pytest.mark.parametrize("method", [OPLS, CCA], ids=lambda m: m.__name__)
@pytest.mark.parametrize("shape", [(40, 30), (60, 10), (25, 60)], ids=str)
def test_automatic_ridge_has_the_least_error(method, shape):
    X, Y = noisy(*shape)
    fitted = method(ridge="auto").fit(X, Y.astype(int))
    Xc = X - X.mean(axis=0)
    K, unit = X @ X.T, np.trace(Xc.T @ Xc) / min(Xc.shape)
    chosen = leave_one_out(K, Y, fitted.ridge_)
    assert unit * 0.99e-6 <= fitted.ridge_ <= unit * 1.01e2
    # The grid of the package need not be this one: nothing on this one may be better by more than its spacing explains.
    assert chosen <= 1.01 * min(leave_one_out(K, Y, unit * r) for r in TRACE_GRID)
    assert chosen < 0.95 * leave_one_out(K, Y, unit * 1e-6)


def test_automatic_ridge_of_fda_regresses_on_the_classes():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((45, 25))
    y = np.argmax(X[:, :3] + 0.8 * rng.standard_normal((45, 3)), axis=1)
    fitted = FDA(ridge="auto").fit(X, y)
    Xc = X - X.mean(axis=0)
    K, unit, Y = X @ X.T, np.trace(Xc.T @ Xc) / min(Xc.shape), strategies.one_hot(y)
    assert leave_one_out(K, Y, fitted.ridge_) <= 1.01 * min(leave_one_out(K, Y, unit * r) for r in TRACE_GRID)


@pytest.mark.parametrize("expansion", ["zhou", "star", "clique"])
def test_automatic_ridge_of_hypergraphs_regresses_on_their_factor(expansion):
    X, Y = noisy(40, 30, 4)
    fitted = HSL(ridge="auto", expansion=expansion).fit(X, Y.astype(int))
    sizes, one = Y.sum(axis=0), np.ones(4)
    power, degree = {"zhou": (0.5, Y @ one), "star": (1.0, Y @ (1 / sizes)), "clique": (0.0, Y @ sizes)}[expansion]
    F = Y / sizes**power / np.sqrt(degree)[:, None]
    Xc = X - X.mean(axis=0)
    K, unit = X @ X.T, np.trace(Xc.T @ Xc) / min(Xc.shape)
    assert leave_one_out(K, F, fitted.ridge_) <= 1.01 * min(leave_one_out(K, F, unit * r) for r in TRACE_GRID)


def test_automatic_ridge_is_the_default_and_is_reported():
    X, Y = noisy()
    for method in (OPLS, CCA, MLDA):
        default, auto = method().fit(X, Y.astype(int)), method(ridge="auto").fit(X, Y.astype(int))
        assert default.ridge_ == auto.ridge_ > 0


def test_automatic_width_and_ridge_have_the_least_error_together():
    X, Y = noisy(40, 6, 3)
    fitted = Kernelized(OPLS(), kernel="gaussian", tau="auto").fit(X, Y.astype(int))
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    median = np.median(squared[np.triu_indices(len(X), 1)])
    widths = median * np.array([0.25, 0.5, 1, 2, 4, 16])
    assert np.isclose(widths, fitted.tau_, rtol=1e-9).any()
    chosen = leave_one_out(np.exp(-squared / fitted.tau_), Y, fitted.ridge_)
    others = []
    for tau in widths:
        K = np.exp(-squared / tau)
        unit = np.trace(kernels.centre_kernel(K, K)) / len(X)
        others += [leave_one_out(K, Y, unit * r) for r in np.logspace(-6, 2, 9)]
    assert chosen <= 1.02 * min(others)


@pytest.mark.parametrize("seed", range(8 if WHOLE else 1))
def test_rounding_chooses_no_ridge(seed):
    """Two rows have the same error under every ridge: the largest is taken, whatever rounding says of them."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((2, 5)) + rng.standard_normal(5), [0, 1]
    Xc = X - X.mean(axis=0)
    largest = 1e2 * np.trace(Xc.T @ Xc) / 2
    for rows in (X, sp.csr_array(X), np.asfortranarray(X), X[:, ::-1]):
        assert CCA().fit(rows, y).ridge_ == pytest.approx(largest, rel=1e-9)
        assert FDA(ridge="auto").fit(rows, y).ridge_ == pytest.approx(largest, rel=1e-9)
        assert MultiOutputRidge("auto").fit(rows, y).penalty_ == pytest.approx(largest, rel=1e-9)
        width = Kernelized(CCA(), tau="auto").fit(rows, y).tau_
        assert width == pytest.approx(Kernelized(CCA(), tau="auto").fit(X[::-1], y).tau_, rel=1e-9)
