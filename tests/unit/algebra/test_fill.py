"""Unknown cells as ridge read-outs: against NumPy, by every route, and as the fixed point of repeated filling."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.algebra.pencil import fill
from proxembed.algebra.pencil.fill import FILL_RIDGES, filled_cells

SHAPES = {
    "tall": (50, 6, 0.3),
    "mostly hidden": (60, 5, 0.8),
    "wide": (24, 40, 0.3),
    "wide, mostly hidden": (30, 45, 0.7),
}


def data(n, d, share, seed=0):
    """Rows, outputs with 0 where unknown, and the mask: a complete column, and two with the same known rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.linspace(0.5, 2, d) + 3
    T = X @ rng.normal(size=(d, 5)) / np.sqrt(d) + rng.normal(size=(n, 5))
    hidden = rng.random(T.shape) < share
    hidden[:, 0] = False
    hidden[:, 2] = hidden[:, 1]
    return X, np.where(hidden, 0.0, T), hidden


def ridge_fit(X, y, lam, w=None):
    """Hat matrix of the rows, coefficients and their means; w: how often each row occurs."""
    w = np.ones(len(X)) if w is None else w
    mean, level = w @ X / w.sum(), w @ y / w.sum()
    A = X - mean
    inverse = np.linalg.solve(w[:, None] * (A @ A.T) + lam * np.eye(len(A)), np.diag(w))
    return A @ A.T @ inverse + w / w.sum(), A.T @ inverse @ (y - level), mean


def by_definition(X, T, hidden, w=None):
    w = np.ones(len(X)) if w is None else w
    centred = X - w @ X / w.sum()
    ridges = FILL_RIDGES * np.sum(w @ centred**2) / min(w.sum(), X.shape[1])
    errors = np.zeros(len(ridges))
    for j, known in enumerate(~hidden.T):
        for i, lam in enumerate(ridges):
            H, _, _ = ridge_fit(X[known], T[known, j], lam, w[known])
            errors[i] += w[known] @ ((T[known, j] - H @ T[known, j]) / (1 - np.diag(H))) ** 2
    lam, found = ridges[errors.argmin()], np.zeros(T.shape)
    for j, known in enumerate(~hidden.T):
        _, W, mean = ridge_fit(X[known], T[known, j], lam, w[known])
        found[~known, j] = (X[~known] - mean) @ W + w[known] @ T[known, j] / w[known].sum()
    return found, lam


@pytest.mark.parametrize("shape", SHAPES)
def test_cells_and_penalty_are_those_of_the_definition(shape, monkeypatch):
    X, T, hidden = data(*SHAPES[shape])
    expected, lam = by_definition(X, T, hidden)
    mask = sp.csc_array(hidden)
    for own, targets in ((X, T), (sp.csr_array(X), sp.csc_array(T)), (X * 1e150, T)):
        values, ridge = filled_cells(own, targets, mask)
        assert values.nnz == hidden.sum()
        np.testing.assert_allclose(values.toarray(), expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(ridge, lam * (own.max() / X.max()) ** 2, rtol=1e-9)
    monkeypatch.setattr(fill, "DENSE_LIMIT", 2)  # products alone
    values, _ = filled_cells(sp.csr_array(X), T, mask)
    np.testing.assert_allclose(values.toarray(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_weighted_rows_are_filled_by_their_weights_and_whole_weights_are_repeats(shape, monkeypatch):
    X, T, hidden = data(*SHAPES[shape])
    rng, mask = np.random.default_rng(1), sp.csc_array(hidden)
    fractions, whole = rng.uniform(0.2, 3, len(X)), rng.integers(1, 4, len(X)).astype(float)
    for own, targets in ((X, T), (sp.csr_array(X), sp.csc_array(T)), (X * 1e150, T)):
        for w in (fractions, whole):
            expected, lam = by_definition(X, T, hidden, w)
            values, ridge = filled_cells(own, targets, mask, w)
            np.testing.assert_allclose(values.toarray(), expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(ridge, lam * (own.max() / X.max()) ** 2, rtol=1e-9)
    copies = rng.permutation(np.repeat(np.arange(len(X)), whole.astype(int)))
    repeated, again = filled_cells(X[copies], T[copies], sp.csc_array(hidden[copies]))
    assert again == pytest.approx(lam, rel=1e-9)
    np.testing.assert_allclose(repeated.toarray(), expected[copies], rtol=0, atol=1e-9)
    monkeypatch.setattr(fill, "DENSE_LIMIT", 2)  # products alone
    values, _ = filled_cells(sp.csr_array(X), T, mask, whole)
    np.testing.assert_allclose(values.toarray(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_filling_again_by_all_rows_changes_nothing(shape):
    X, T, hidden = data(*SHAPES[shape])
    values, lam = filled_cells(X, T, sp.csc_array(hidden))
    whole = T + values
    for j in range(T.shape[1]):
        again = ridge_fit(X, whole[:, j], lam)[0] @ whole[:, j]
        np.testing.assert_allclose(again[hidden[:, j]], whole[hidden[:, j], j], rtol=0, atol=1e-10)


def test_the_penalty_of_many_columns_is_chosen_on_some(monkeypatch):
    X, T, hidden = data(50, 6, 0.3)
    monkeypatch.setattr(fill, "WORK", 2.5 * 6**3)  # two of the four sets of known rows, the first and the last
    some = [0, 4]
    _, expected = by_definition(X, T[:, some], hidden[:, some])
    np.testing.assert_allclose(filled_cells(X, T, sp.csc_array(hidden))[1], expected, rtol=1e-9)
    monkeypatch.setattr(fill, "SAMPLE", 5)  # of rows, where both sides are long
    values, _ = filled_cells(X, T, sp.csc_array(hidden))
    assert np.isfinite(values.data).all()


def test_columns_of_one_known_cell_or_none_and_rows_that_are_equal():
    X, T, hidden = data(50, 6, 0.3)
    hidden[1:, 3], hidden[:, 4] = True, True
    T = np.where(hidden, 0.0, T)
    values = filled_cells(X, T, sp.csc_array(hidden))[0].toarray()
    np.testing.assert_array_equal(values[1:, 3], T[0, 3])
    np.testing.assert_array_equal(values[:, 4], 0.0)
    values = filled_cells(np.ones((50, 6)), T, sp.csc_array(hidden))[0].toarray()
    np.testing.assert_allclose(values[hidden[:, 1], 1], T[~hidden[:, 1], 1].mean(), rtol=1e-12)
