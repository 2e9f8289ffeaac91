"""Closed-form leave-one-out against fits without each row."""

import numpy as np
import pytest

from proxembed.algebra.operators.structured import Centering, Diagonal, LowRank, Repeats
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


@pytest.mark.parametrize(("n", "d"), [(12, 5), (9, 20)])
@pytest.mark.parametrize("B", [Centering(), None])
def test_rows_that_occur_several_times_are_left_out_whole(n, d, B):
    X, T, w = RNG.normal(size=(n, d)), RNG.normal(size=(n, 2)), RNG.uniform(0.5, 3.0, n)
    ones = np.ones(n)
    template = Template(LowRank(T, center=ones), B, b=1.0 if B is None else 0.0, offset=ones).repeated(Repeats(w))
    fitted, without = left_out(solve(template, X, 2, 0.0 if B is None else 0.7, "absolute"), T)
    level = w @ T / w.sum()
    for i in range(n):
        v = np.where(np.arange(n) == i, 0.0, w)
        mean = (w if B is None else v) @ X / (w if B is None else v).sum()
        R, centred = X - mean, T - (level if B is None else v @ T / v.sum())
        S = np.eye(d) if B is None else (v[:, None] * R).T @ R + 0.7 * np.eye(d)
        expected = R[i] @ np.linalg.solve(S, (v[:, None] * R).T @ centred) + T[0] - centred[0] - level
        np.testing.assert_allclose(without[i], expected, atol=1e-9)
    R, S = X - w @ X / w.sum(), np.eye(d)
    S = S if B is None else (w[:, None] * R).T @ R + 0.7 * S
    np.testing.assert_allclose(fitted, R @ np.linalg.solve(S, (w[:, None] * R).T @ (T - level)), atol=1e-9)


def test_another_constraint_has_no_closed_form():
    n = 10
    X, T = RNG.normal(size=(n, 4)), RNG.normal(size=(n, 2))
    template = Template(LowRank(T, center=np.ones(n)), Diagonal(np.arange(1.0, n + 1)), b=0.0, offset=np.ones(n))
    assert left_out(solve(template, X, 2, 0.1, "absolute"), T) is None
