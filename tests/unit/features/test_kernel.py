"""Kernels in row-space form: the kernel map, double centring, and the width and ridge of least leave-one-out error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from proxembed.algebra.pencil.linear import RIDGE_GRID, loo_errors
from proxembed.features.kernel import (
    MOST_ADDED,
    MOST_TUNING_ROWS,
    TUNING_ROWS,
    double_centre,
    kernel_coordinates,
    kernel_map,
    least_loo,
    map_coordinates,
    tuning_rows,
)

N = 24
X = strategies.features_dense(N, 5, 0)
SQUARED = np.sum((X[:, None] - X[None]) ** 2, axis=2)
UNIFORM, WEIGHTS = np.ones(N), 0.2 + np.random.default_rng(0).random(N)
weighted = pytest.mark.parametrize("weights", [UNIFORM, WEIGHTS], ids=["uniform", "weighted"])


def gaussian(tau: float) -> np.ndarray:
    return np.exp(-SQUARED / tau)


@pytest.mark.parametrize("K", [gaussian(5.0), X @ X.T, (1 + X @ X.T) ** 2], ids=["full rank", "rank 5", "rank 21"])
def test_the_kernel_map_has_the_kernel_as_its_inner_product(K):
    M = kernel_map(K)
    T = K @ M
    assert M.shape[0] == N and M.shape[1] == np.linalg.matrix_rank(K, tol=1e-10 * np.linalg.norm(K, 2))
    np.testing.assert_allclose(T @ T.T, K, rtol=0, atol=1e-8 * np.abs(K).max())
    np.testing.assert_allclose(M.T @ K @ M, np.eye(M.shape[1]), rtol=0, atol=1e-5)


def test_the_kernel_map_of_prototypes_is_exact_between_a_row_and_a_prototype():
    prototypes = np.arange(0, N, 3)
    K = gaussian(5.0)
    M = kernel_map(K[np.ix_(prototypes, prototypes)])
    T = K[:, prototypes] @ M
    np.testing.assert_allclose(T @ T[prototypes].T, K[:, prototypes], rtol=0, atol=1e-10)


def test_negative_eigenvalues_are_left_out_and_a_kernel_without_positive_ones_is_refused():
    V = np.linalg.qr(strategies.features_dense(6, 6, 1))[0]
    K = (V * [3.0, 2.0, 1e-12, 0.0, -1.0, -4.0]) @ V.T
    T = K @ kernel_map(K)
    np.testing.assert_allclose(T @ T.T, (V * [3.0, 2.0, 0, 0, 0, 0]) @ V.T, rtol=0, atol=1e-10)
    for bad in (-np.eye(3), np.zeros((3, 3))):
        with pytest.raises(ValueError, match="no positive eigenvalue"):
            kernel_map(bad)


@weighted
def test_double_centring_is_centring_on_both_sides(weights):
    K = gaussian(5.0)
    before = K.copy()
    J, root = np.eye(N) - np.outer(np.ones(N), weights) / weights.sum(), np.diag(np.sqrt(weights))
    found = double_centre(K, weights)
    np.testing.assert_allclose(found, root @ J @ K @ J.T @ root, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found @ np.sqrt(weights), 0, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(K, before)


@weighted
def test_coordinates_of_a_linear_kernel_are_those_of_its_rows(weights):
    root = np.sqrt(weights)[:, None]
    singular = np.linalg.svd(root * (X - weights @ X / weights.sum()), compute_uv=False)
    by_kernel, by_map = kernel_coordinates(X @ X.T, weights), map_coordinates(X, weights)
    assert by_kernel.rank == by_map.rank == 5
    np.testing.assert_allclose(by_kernel.s, singular, rtol=1e-7)
    np.testing.assert_allclose(by_map.s, singular, rtol=1e-7)
    T, ridges = strategies.labels_multi(N, 3, 0), np.array([0.1, 3.0])
    np.testing.assert_allclose(loo_errors(by_kernel, T, ridges), loo_errors(by_map, T, ridges), rtol=1e-8)


def refitted_error(K, T, weights, ridge) -> float:
    """Weighted kernel ridge with an intercept, fitted without each row in turn: one bordered linear system each."""
    total = 0.0
    for i in range(N):
        rest = np.delete(np.arange(N), i)
        one = np.ones((N - 1, 1))
        system = np.block(
            [[K[np.ix_(rest, rest)] + ridge * np.diag(1 / weights[rest]), one], [one.T, np.zeros((1, 1))]]
        )
        solved = np.linalg.solve(system, np.vstack([T[rest], np.zeros((1, T.shape[1]))]))
        total += weights[i] * np.sum((K[i, rest] @ solved[:-1] + solved[-1] - T[i]) ** 2)
    return total / (weights.sum() * T.shape[1])


def noisy_labels() -> np.ndarray:
    rng = np.random.default_rng(2)
    waves = np.sin(2 * (X - X.mean(axis=0)) @ rng.standard_normal((5, 3)) / X.std())
    return (waves + 0.4 * rng.standard_normal(waves.shape) > 0).astype(float)


@weighted
@pytest.mark.parametrize("tau", [0.5, 5.0, 50.0])
def test_leave_one_out_error_of_a_kernel_is_refitting_without_each_row(tau, weights):
    T, ridges = noisy_labels(), np.array([0.01, 0.3, 5.0])
    expected = [refitted_error(gaussian(tau), T, weights, ridge) for ridge in ridges]
    found = loo_errors(kernel_coordinates(gaussian(tau), weights), T, ridges)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@weighted
def test_width_and_ridge_are_the_best_pair(weights):
    T, widths = noisy_labels(), np.array([0.5, 2.0, 8.0, 32.0, 128.0])
    errors, ridges = np.empty((5, 17)), np.empty((5, 17))
    for a, tau in enumerate(widths):
        unit = np.trace(double_centre(gaussian(tau), weights)) / N
        ridges[a] = RIDGE_GRID * unit
        errors[a] = [refitted_error(gaussian(tau), T, weights, ridge) for ridge in ridges[a]]
    best = np.unravel_index(np.argmin(errors), errors.shape)
    tau, ridge = least_loo(widths, lambda tau: kernel_coordinates(gaussian(tau), weights), T, N)
    assert tau == widths[best[0]]
    assert ridge == pytest.approx(ridges[best], rel=1e-9)


def test_ridges_may_be_given_and_widths_without_variation_are_passed_over():
    T = noisy_labels()

    def coordinates(tau):
        return kernel_coordinates(np.zeros((N, N)) if tau < 1 else gaussian(tau), UNIFORM)

    tau, ridge = least_loo(np.array([0.5, 8.0]), coordinates, T, N, ridge=lambda unit: np.array([0.7]))
    assert (tau, ridge) == (8.0, 0.7)


def test_rows_for_the_choice_are_evenly_spaced_among_those_that_weigh_something():
    T = np.column_stack([np.arange(40) % 2, np.arange(40) % 3 == 0]).astype(float)
    weights = (np.arange(40) < 30).astype(float)
    assert tuning_rows(weights, T, 30).tolist() == list(range(30))
    assert tuning_rows(weights, T, 4).tolist() == [0, 10, 19, 29]
    many = np.ones(20_000), np.tile(T, (500, 1))
    assert len(tuning_rows(*many)) == len(tuning_rows(*many, prototypes=1000)) == TUNING_ROWS == 800
    assert len(tuning_rows(*many, prototypes=400)) == 3200
    assert len(tuning_rows(*many, prototypes=100)) == MOST_TUNING_ROWS


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
def test_a_rare_label_that_the_evenly_spaced_rows_lack_has_two_rows_added(form):
    T = np.zeros((100, 4))
    T[::2, 0] = 1.0  # among the evenly spaced rows
    T[[41, 42, 43], 1] = 1.0  # rare
    T[57, 2] = 1.0  # of one row
    T[:, 3] = 1.0  # constant among all rows, which nothing can mend
    evenly = np.linspace(0, 99, 5).round().astype(int).tolist()
    assert tuning_rows(np.ones(100), form(T), 5).tolist() == sorted([*evenly, 41, 42, 57])
    many = np.eye(200)  # no row has two labels: each would add two rows
    assert len(tuning_rows(np.ones(200), form(many), 5)) <= 5 + MOST_ADDED
