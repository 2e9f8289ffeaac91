"""Ridge regression and its leave-one-out error, against normal equations and against refitting without each row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import each_value, pairwise
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.operators.structured import Centering, LowRank
from proxembed.algebra.pencil import linear, problem
from proxembed.algebra.pencil.coordinates import Coordinates
from proxembed.algebra.pencil.eigen import choose_ridge, solve
from proxembed.algebra.pencil.linear import (
    LOO_ROWS,
    RIDGE_GRID,
    best_ridge,
    bracketed,
    gcv_errors,
    loo_choice,
    loo_errors,
    ridge_loo,
    ridge_solve,
    with_same_products,
)
from proxembed.algebra.pencil.problem import Problem
from proxembed.algebra.template import Template

MATRICES = {
    "tall": strategies.features_dense(30, 6, 0),
    "wide": strategies.features_dense(18, 40, 1),
    "square": strategies.features_dense(15, 15, 2),
    "tall sparse": strategies.features_text(40, 25, 3),
    "wide sparse": strategies.features_text(18, 70, 4),
    "float32": strategies.features_dense(30, 6, 5).astype(np.float32),
    "repeated feature": strategies.features_dense(30, 6, 6)[:, [0, 1, 2, 3, 4, 0]],
    "repeated rows": strategies.features_duplicate_rows(18, 40, 7),
}
every = pytest.mark.parametrize("name", MATRICES)
centred = pytest.mark.parametrize("center", [True, False], ids=["intercept", "no intercept"])


def array_of(X) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)


def targets(n: int, c: int = 3) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, c)) + [1.0, -2.0, 0.5][:c]


def least_squares(X, T, w, lam, center) -> tuple[np.ndarray, np.ndarray]:
    """(W, b) that minimise sum_i w_i ||x_i'W + b - t_i||^2 + lam ||W||^2, through one stacked least-squares problem."""
    n, d = X.shape
    root = np.sqrt(w)[:, None]
    wide = np.hstack([X, np.ones((n, 1))]) if center else X
    penalty = np.sqrt(lam) * np.eye(d, wide.shape[1])
    W = np.linalg.lstsq(
        np.vstack([root * wide, penalty]), np.vstack([root * T, np.zeros((d, T.shape[1]))]), rcond=None
    )[0]
    return (W[:d], W[d]) if center else (W, np.zeros(T.shape[1]))


def refitted_errors(X, T, w, ridges, center) -> np.ndarray:
    """Weighted mean over rows and targets of the squared error on each row, fitted without it."""
    X, T, errors = array_of(X), np.asarray(T, dtype=float), []
    for lam in ridges:
        total = 0.0
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            W, b = least_squares(X[rest], T[rest], w[rest], lam, center)
            total += w[i] * np.sum((X[i] @ W + b - T[i]) ** 2)
        errors.append(total / (w.sum() * T.shape[1]))
    return np.array(errors)


@pairwise
@centred
@pytest.mark.parametrize("lam", [1e-3, 1.0, 50.0])
@every
def test_ridge_solve_is_least_squares_with_a_penalty(name, lam, center):
    X = MATRICES[name]
    T = targets(X.shape[0])
    W, b = ridge_solve(X, T, lam, center=center)
    expected = least_squares(array_of(X), T, np.ones(len(T)), lam, center)
    assert W.shape == (X.shape[1], 3) and b.shape == (3,)
    np.testing.assert_allclose(W, expected[0], rtol=0, atol=1e-9 * np.abs(expected[0]).max())
    np.testing.assert_allclose(b, expected[1], rtol=0, atol=1e-9 * max(1.0, np.abs(expected[1]).max()))


@each_value
@centred
@every
def test_without_a_ridge_the_shortest_least_squares_solution(name, center):
    X = array_of(MATRICES[name])
    T = targets(X.shape[0])
    W, b = ridge_solve(MATRICES[name], T, 0.0, center=center)
    mean, level = (X.mean(axis=0), T.mean(axis=0)) if center else (np.zeros(X.shape[1]), np.zeros(3))
    expected = np.linalg.pinv(X - mean, rcond=1e-6) @ (T - level)
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(b, level - mean @ W, rtol=0, atol=1e-10 * max(1.0, np.abs(b).max()))


@each_value
@centred
@every
def test_the_iterative_side_agrees_with_the_direct_ones(name, center, monkeypatch):
    X = MATRICES[name]
    T = targets(X.shape[0])
    direct = ridge_solve(X, T, 0.8, center=center)
    monkeypatch.setattr(linear, "DENSE_LIMIT", 3)
    for found, expected in zip(ridge_solve(X, T, 0.8, center=center), direct, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1.0, np.abs(expected).max()))


def test_sparse_targets_are_the_same_targets():
    X, T = MATRICES["tall"], strategies.labels_multi(30, 4, 0)
    for found, expected in zip(ridge_solve(X, sparse.csc_array(T), 0.5), ridge_solve(X, T, 0.5), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


RIDGES = np.array([1e-3, 0.1, 2.0, 40.0])


@each_value
@centred
@every
def test_leave_one_out_is_refitting_without_each_row(name, center):
    X = MATRICES[name]
    T = targets(X.shape[0])
    found = ridge_loo(X, T, RIDGES, center=center)
    np.testing.assert_allclose(found, refitted_errors(X, T, np.ones(len(T)), RIDGES, center), rtol=1e-7)


def coordinates(X, weights, center) -> Coordinates:
    rows = CentredMatrix.centred(X, weights if center else None)
    side = "features" if X.shape[1] <= X.shape[0] else "rows"
    return Coordinates(rows, weights, rows.gram(weights) if side == "features" else rows.outer_gram(weights), side)


@pairwise
@pytest.mark.parametrize("zeros", [False, True], ids=["all weigh", "some weigh nothing"])
@centred
@every
def test_weighted_leave_one_out_is_refitting_without_each_row(name, center, zeros):
    X = MATRICES[name]
    n = X.shape[0]
    w = 0.3 + np.random.default_rng(8).random(n)
    if zeros:
        w[[2, n - 1]] = 0.0
    T = targets(n)
    found = loo_errors(coordinates(X, w, center), T, RIDGES)
    np.testing.assert_allclose(found, refitted_errors(X, T, w, RIDGES, center), rtol=1e-7)


@centred
def test_a_weight_of_two_counts_a_row_twice_in_the_fit(center):
    """The fit of doubled rows is that of the rows repeated; both copies are left out together."""
    X, T = MATRICES["tall"], targets(30)
    w = np.where(np.arange(30) < 10, 2.0, 1.0)
    repeated = np.concatenate([np.arange(30), np.arange(10)])
    errors = []
    for lam in RIDGES:
        total = 0.0
        for i in range(30):
            rest = repeated[repeated != i]
            W, b = least_squares(X[rest], T[rest], np.ones(len(rest)), lam, center)
            total += w[i] * np.sum((X[i] @ W + b - T[i]) ** 2)
        errors.append(total / (40 * 3))
    np.testing.assert_allclose(loo_errors(coordinates(X, w, center), T, RIDGES), errors, rtol=1e-8)


@pytest.mark.parametrize("name", ["tall", "wide sparse"])
def test_leave_one_out_of_sparse_targets_and_in_small_blocks(name, monkeypatch):
    X = MATRICES[name]
    T = strategies.labels_multi(X.shape[0], 4, 1)
    expected = refitted_errors(X, T, np.ones(len(T)), RIDGES, True)
    np.testing.assert_allclose(ridge_loo(X, sparse.csc_array(T), RIDGES), expected, rtol=1e-7)
    monkeypatch.setattr(linear, "block_rows", lambda *_: 7)
    np.testing.assert_allclose(ridge_loo(X, T, RIDGES), expected, rtol=1e-7)


@pairwise
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True], ids=["rows weigh 1", "weighted"])
@centred
@every
def test_leave_one_out_of_more_targets_than_coordinates(name, center, weighted, as_sparse, monkeypatch):
    """Whether squares are expanded or, as for rows that a small ridge fits exactly, are those of the residuals."""
    X = MATRICES[name]
    n = X.shape[0]
    T = strategies.labels_multi(n, 5 * n, 3).astype(float)
    w = 0.3 + np.random.default_rng(8).random(n) if weighted else np.ones(n)
    ridges = np.append(1e-6, RIDGES)
    found = loo_errors(coordinates(X, w, center), sparse.csc_array(T) if as_sparse else T, ridges)
    np.testing.assert_allclose(found, refitted_errors(X, T, w, ridges, center), rtol=1e-7)
    monkeypatch.setattr(linear, "EXPANDED", 0.0)
    direct = loo_errors(coordinates(X, w, center), sparse.csc_array(T) if as_sparse else T, ridges)
    np.testing.assert_allclose(found, direct, rtol=1e-9)


@each_value
@pytest.mark.parametrize("lowest", [0, 1, 5, 15, 16])
@pytest.mark.parametrize("start", [0, 4, 16])
def test_the_least_error_is_bracketed_from_any_start(start, lowest):
    """Of errors with one minimum, wherever it lies; no ridge is asked for twice."""
    asked: list[float] = []

    def errors_of(ridges):
        asked.extend(ridges.tolist())
        return np.abs(ridges - lowest)

    assert bracketed(np.arange(17.0), errors_of, start) == lowest
    assert len(set(asked)) == len(asked) <= 4 + abs(start - lowest)


def test_of_equal_errors_the_largest_ridge_is_bracketed():
    assert bracketed(np.arange(9.0), lambda ridges: np.ones(len(ridges)), 3) == 8


@pairwise
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True], ids=["rows weigh 1", "weighted"])
@centred
@pytest.mark.parametrize("name", ["tall", "wide", "tall sparse", "float32"])
def test_few_ridges_find_the_choice_of_the_grid(name, center, weighted, as_sparse, monkeypatch):
    X = MATRICES[name]
    n = X.shape[0]
    w = 0.3 + np.random.default_rng(9).random(n) if weighted else None
    found = coordinates(X, np.ones(n) if w is None else w, center)
    U = array_of(X)[:, :2] * [1.0, 0.0] + 0.3 * np.random.default_rng(2).standard_normal((n, 2))
    T = sparse.csc_array(U) if as_sparse else U
    grid = RIDGE_GRID * np.sum(found.s**2) / min(X.shape)
    whole = best_ridge(grid, loo_errors(found, T, grid))
    assert loo_choice(found, T, grid) == whole
    monkeypatch.setattr(linear, "FEW_PRODUCTS", 0)
    assert loo_choice(found, T, grid) == whole


def template(T, w, target: bool = True) -> Template:
    factor = sparse.csc_array(T)
    return Template(LowRank(factor, center=w), Centering(w), b=0.0, offset=w, target=factor if target else None)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows weigh 1", "weighted"])
@pytest.mark.parametrize("name", ["tall", "wide", "square", "tall sparse", "float32"])
def test_the_automatic_ridge_is_the_least_error_on_the_documented_grid(name, weighted):
    X = MATRICES[name]
    n = X.shape[0]
    w = 0.3 + np.random.default_rng(9).random(n) if weighted else np.ones(n)
    A = array_of(X)
    U = np.linalg.svd(A - A.mean(axis=0), full_matrices=False)[0]
    T = np.sqrt(n) * U[:, :2] + 0.5 * np.random.default_rng(1).standard_normal((n, 2))
    Xc = A - w @ A / w.sum()
    unit = np.sum(w[:, None] * Xc**2) / min(Xc.shape)
    grid = np.logspace(-6, 2, 17) * unit
    errors = refitted_errors(X, T, w, grid, True)
    chosen = solve(template(T, w), X, 2, "auto").ridge
    assert 0 < np.argmin(errors) < 16  # the question has an inner answer
    np.testing.assert_allclose(chosen, grid[np.argmin(errors)], rtol=1e-9)
    np.testing.assert_array_equal(RIDGE_GRID, np.logspace(-6, 2, 17))


def test_the_automatic_ridge_is_one_trace_without_a_target():
    X, T, w = MATRICES["tall"], strategies.labels_multi(30, 3, 2), np.ones(30)
    Xc = X - X.mean(axis=0)
    unit = np.sum(Xc**2) / 6
    assert solve(template(T, w, target=False), X, 2, "auto").ridge == pytest.approx(unit, rel=1e-12)
    assert choose_ridge(Problem(Template(LowRank(T, center=w), offset=w), X), "auto") == 0.0  # no constraint, no ridge


@pytest.mark.parametrize("ridge", [0.0, 0.25])
def test_given_ridges_are_in_the_unit_asked_for(ridge):
    X, T, w = MATRICES["wide"], strategies.labels_multi(18, 3, 2), np.ones(18)
    Xc = X - X.mean(axis=0)
    problem = Problem(template(T, w), X)
    assert choose_ridge(problem, ridge, "absolute") == ridge
    assert choose_ridge(problem, ridge, "trace") == pytest.approx(ridge * np.sum(Xc**2) / 18, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows weigh 1", "weighted"])
@pytest.mark.parametrize("name", ["wide", "wide sparse"])
def test_of_many_wide_rows_evenly_spaced_ones_choose_the_ridge(name, weighted, monkeypatch):
    monkeypatch.setattr(problem, "SAMPLE", 12)
    monkeypatch.setattr(linear, "SAMPLE", 12)
    X = MATRICES[name]
    n = X.shape[0]
    assert 12 < n < X.shape[1]
    rng = np.random.default_rng(9)
    w = rng.random(n) * (np.arange(n) % 7 > 0) if weighted else np.ones(n)
    T = array_of(X)[:, :2] + 0.5 * rng.standard_normal((n, 2))
    Xc = array_of(X) - w @ array_of(X) / w.sum()
    grid = RIDGE_GRID * np.sum(w[:, None] * Xc**2) / min(np.count_nonzero(w), X.shape[1])
    weighing = np.flatnonzero(w)
    some = weighing[np.linspace(0, len(weighing) - 1, 12).round().astype(int)]
    errors = refitted_errors(X[some], T[some], w[some], grid, True)
    found = [solve(template(T, w), X, 2, "auto", solver=solver).ridge for solver in ("auto", "thin", "iterative")]
    np.testing.assert_allclose(found, grid[np.argmin(errors)], rtol=1e-9)


def test_of_many_rows_evenly_spaced_ones_are_left_out_of_the_fit_of_all():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(LOO_ROWS + 900, 3))
    T = X[:, :1] + rng.normal(size=(len(X), 2))
    ones = np.column_stack([np.ones(len(X)), X])
    penalty = np.diag([0.0, 7.0, 7.0, 7.0])
    hat = ones @ np.linalg.solve(ones.T @ ones + penalty, ones.T)
    left_out = (T - hat @ T) / (1 - np.diag(hat))[:, None]
    rows = np.linspace(0, len(X) - 1, LOO_ROWS).round().astype(int)
    np.testing.assert_allclose(ridge_loo(X, T, np.array([7.0])), [np.mean(left_out[rows] ** 2)], rtol=1e-9)


@pytest.mark.parametrize("centred", [True, False])
def test_generalised_cross_validation_is_that_of_the_hat_matrix(centred):
    X, T = MATRICES["tall"], strategies.labels_multi(30, 3, 2).astype(float)
    Xc, Tc = (X - X.mean(axis=0), T - T.mean(axis=0)) if centred else (X, T)
    U, s, V = np.linalg.svd(Xc, full_matrices=False)
    ridges = np.array([0.1, 1.0, 10.0])
    found = gcv_errors(s, V @ Xc.T @ Tc, float(np.sum(Tc**2)), ridges, 30, centred)
    for ridge, error in zip(ridges, found, strict=True):
        hat = Xc @ np.linalg.solve(Xc.T @ Xc + ridge * np.eye(6), Xc.T) + (1 / 30 if centred else 0.0)
        assert error == pytest.approx(np.sum((T - hat @ T) ** 2) / 30 / (1 - np.trace(hat) / 30) ** 2, rel=1e-10)


def test_evenly_spaced_rows_hold_both_ends():
    assert linear.evenly_spaced(3, 9).tolist() == [0, 1, 2] and linear.evenly_spaced(9, 3).tolist() == [0, 4, 8]


def test_a_left_factor_has_the_products_of_the_matrix():
    B = np.random.default_rng(0).standard_normal((4, 6))
    V = linear.left_factor(B)
    np.testing.assert_allclose(V @ V.T, B @ B.T, atol=1e-13)
    lengths = np.diag(V.T @ V)
    np.testing.assert_allclose(V.T @ V, np.diag(lengths), atol=1e-13)
    assert (np.diff(lengths) < 0).all()


@pytest.mark.parametrize("center", [True, False])
def test_labels_beyond_the_rows_have_the_errors_of_as_many_columns_as_rows(center):
    X, rng = MATRICES["tall"], np.random.default_rng(3)
    T = sparse.random_array((len(X), 200), density=0.05, rng=rng, format="csc")
    F, weights = with_same_products(T), 0.2 + rng.random(len(X))
    assert F.shape[1] <= len(X) and with_same_products(T[:, :7]).shape == (len(X), 7)
    np.testing.assert_allclose(F @ F.T, (T @ T.T).toarray(), rtol=0, atol=1e-13)
    rows = CentredMatrix.centred(X, weights if center else None)
    coordinates = Coordinates(rows, weights, rows.gram(weights), "features")
    wanted, found = (loo_errors(coordinates, each, RIDGE_GRID) * each.shape[1] for each in (T, F))
    np.testing.assert_allclose(found, wanted, rtol=1e-8)
