"""Closed-form leave-one-out against fits without each row."""

import numpy as np
import pytest

from proxembed.algebra.operators.structured import Centering, Diagonal, LowRank
from proxembed.algebra.pencil.eigen import left_out, solve
from proxembed.algebra.template import Template

RNG = np.random.default_rng(0)


def solved(n: int, d: int, B):
    X, T = RNG.normal(size=(n, d)), RNG.normal(size=(n, 2))
    template = Template(LowRank(T, center=np.ones(n)), B, b=0.0 if B is not None else 1.0, offset=np.ones(n))
    return X, T, solve(template, X, 2, 0.7 if B is not None else 0.0, "absolute")


@pytest.mark.parametrize(("n", "d"), [(12, 5), (9, 20)])
def test_ridge_regression_without_each_row(n, d):
    """The mean too is that of the other rows."""
    X, T, found = solved(n, d, Centering())
    fitted, without = left_out(found, T)
    for i in range(n):
        rows = np.arange(n) != i
        mean, level = X[rows].mean(axis=0), T[rows].mean(axis=0)
        R = X[rows] - mean
        P = np.linalg.solve(R.T @ R + 0.7 * np.eye(d), R.T @ (T[rows] - level))
        np.testing.assert_allclose(without[i], (X[i] - mean) @ P + level - T.mean(axis=0), atol=1e-10)
    R = X - X.mean(axis=0)
    np.testing.assert_allclose(fitted, R @ np.linalg.solve(R.T @ R + 0.7 * np.eye(d), R.T @ T), atol=1e-10)


@pytest.mark.parametrize(("n", "d"), [(12, 5), (9, 20)])
def test_sums_of_kernels_without_each_row(n, d):
    X, T, found = solved(n, d, None)
    K = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    T = T - T.mean(axis=0)
    fitted, without = left_out(found, T)
    np.testing.assert_allclose(fitted, K @ T, atol=1e-9)
    np.testing.assert_allclose(without, (K - np.diag(np.diag(K))) @ T, atol=1e-9)


def test_another_constraint_has_no_closed_form():
    n = 10
    X, T = RNG.normal(size=(n, 4)), RNG.normal(size=(n, 2))
    template = Template(LowRank(T, center=np.ones(n)), Diagonal(np.arange(1.0, n + 1)), b=0.0, offset=np.ones(n))
    assert left_out(solve(template, X, 2, 0.1, "absolute"), T) is None
