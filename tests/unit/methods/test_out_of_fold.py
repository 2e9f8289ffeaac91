"""Predictions by models that have not seen the row: each base against explicit fits without it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics.pairwise import cosine_similarity

from proxembed.algebra.pencil.linear import kernel_left_out, ridge_left_out, ridge_solve
from proxembed.features.kernel import double_centre
from proxembed.features.leaves import column_unit, for_trees
from proxembed.methods import out_of_fold
from proxembed.methods.out_of_fold import BASES, Known, Sizes, learned, lifted

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 4))
T = (X[:, :3] + RANDOM.normal(size=(30, 3)) > 0.3).astype(float)
NEW, SIZES = RANDOM.normal(size=(5, 4)), Sizes(20, 6, 0)
W = RANDOM.integers(1, 4, 30).astype(float)


def known(X=X, T=T, cells=None, times=None):
    cells = np.ones(T.shape, dtype=bool) if cells is None else cells
    return Known.of(X, T, cells, times, lambda T: T)[0]


@pytest.mark.parametrize("wide", [False, True])
def test_leave_one_out_of_ridge_is_that_of_fits_without_the_row(wide):
    R = RANDOM.normal(size=(30, 50)) if wide else X
    for weights in (None, W):
        for rows in (R, sp.csr_array(R)):
            coef, level, values = ridge_left_out(rows, T, 0.7, weights)
            assert np.allclose(coef, ridge_solve(R, T, 0.7, weights=weights)[0], atol=1e-9)
            for i in range(30):
                own = np.arange(30) != i
                b, at = ridge_solve(R[own], T[own], 0.7, weights=None if weights is None else weights[own])
                np.testing.assert_allclose(values[i], R[i] @ b + at, rtol=0, atol=1e-8)


def test_leave_one_out_of_a_kernel_is_that_of_fits_without_the_row():
    gaussian = lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / 3.0)  # noqa: E731
    for w in (np.ones(30), W):
        values = kernel_left_out(double_centre(gaussian(X, X), w), T, 0.2, w)[1]
        for i in range(0, 30, 3):
            own = np.arange(30) != i
            share, root = w[own] / w[own].sum(), np.sqrt(w[own])
            K, k = gaussian(X[own], X[own]), gaussian(X[[i]], X[own])[0]
            level = share @ T[own]
            inner = double_centre(K, w[own]) + 0.2 * np.eye(29)
            dual = root[:, None] * np.linalg.solve(inner, root[:, None] * (T[own] - level))
            centred = k - share @ K - k @ share + share @ K @ share
            np.testing.assert_allclose(values[i], level + centred @ dual, rtol=0, atol=1e-8)


def test_new_rows_by_kernel_and_ridge_are_their_predictions(monkeypatch):
    """A row of fit has the fitted value z, and t - (t - z) / (1 - h) without it; far away the kernel tells the mean."""
    given = known()
    scorer, own = BASES["kernel"].learn(given, SIZES)
    fitted, ratio = scorer.lift(X), None
    ratio = (T - fitted) / (T - own)  # 1 - h, the same for all columns
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(3), rtol=1e-6)
    assert ((ratio > 0) & (ratio < 1)).all()
    monkeypatch.setattr(out_of_fold, "KERNEL_ROWS", 20)
    monkeypatch.setattr(out_of_fold, "PROTOTYPES", 15)
    scorer, own = BASES["kernel"].learn(given, SIZES)
    assert scorer.kernel.prototypes.shape == (15, 4) and own.shape == T.shape
    ratio = (T - scorer.lift(X)) / (T - own)
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(3), rtol=1e-6)


def test_the_forest_is_out_of_bag():
    same = RandomForestRegressor(20, min_samples_leaf=2, max_features="sqrt", oob_score=True, random_state=0)
    rows = for_trees(X, column_unit(X))
    scorer, own = BASES["forest"].learn(known(), SIZES)
    np.testing.assert_allclose(own, same.fit(rows, T).oob_prediction_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(scorer.lift(NEW), same.predict(for_trees(NEW, column_unit(X))), rtol=0, atol=1e-10)


def test_neighbours_leave_out_the_row_and_unknown_cells():
    cells = RANDOM.random(T.shape) < 0.7
    given = known(cells=cells, times=W)
    scorer, own = BASES["neighbors"].learn(given, SIZES)
    for rows, found, excluded in ((X, own, True), (NEW, scorer.lift(NEW), False)):
        nearness = cosine_similarity(rows, X)
        if excluded:
            np.fill_diagonal(nearness, -2)
        for row, value in zip(np.argsort(-nearness, axis=1)[:, :6], found, strict=True):
            mass = cells[row] * W[row, None]
            level = np.average(given.T, axis=0, weights=W)
            expected = np.where(mass.any(axis=0), (mass * T[row]).sum(axis=0) / np.maximum(mass.sum(axis=0), 1), level)
            np.testing.assert_allclose(value, expected, atol=1e-12)


def test_equal_rows_are_one_row_and_sparse_rows_the_same():
    twice, first = np.vstack([X, X[:10]]), np.vstack([T, 1 - T[:10]])
    given, number = Known.of(twice, first, np.ones(first.shape, dtype=bool), None, lambda T: T)
    assert given.X.shape == (30, 4) and number[30:].tolist() == list(range(10))
    np.testing.assert_array_equal(given.T[:10], 0.5)
    np.testing.assert_array_equal(given.counts, [2] * 10 + [1] * 20)
    names = tuple(BASES)
    dense, own = learned(known(np.maximum(X, 0)), names, SIZES)
    other, same = learned(known(sp.csr_array(np.maximum(X, 0))), names, SIZES)
    np.testing.assert_allclose(own, same, rtol=0, atol=1e-8)
    rows = np.maximum(NEW, 0)
    np.testing.assert_allclose(lifted(dense, rows), lifted(other, sp.csr_array(rows)), rtol=0, atol=1e-8)


def test_sizes_beyond_which_a_base_is_left_out():
    fitting = lambda n, d: [name for name, base in BASES.items() if base.fits(n, d)]  # noqa: E731
    assert fitting(5000, 500) == list(BASES)
    assert fitting(50_000, 20_000) == ["kernel", "forest", "neighbors"]
    assert "kernel" not in fitting(2_000_000, 10) and fitting(10_000_000, 10) == ["ridge", "forest"]
