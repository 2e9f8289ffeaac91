"""Starting arrays: from ridge scores, random, and with unknown cells."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from designs import pairwise
from proxembed import BSML, BSSML
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.methods.bayes.coupled import ridge_scores, start
from proxembed.methods.bayes.truncated import LabelSigns


def problem(n=30, d=7, c=3):
    X, Y = strategies.labelled_rows(n, d, c, 2)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("shape", [(30, 7), (10, 25)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_ridge_scores_and_their_singular_vectors(shape, form, scale):
    """At 100 times unit variance the penalty grows with X."""
    X, Y = problem(*shape)
    X *= scale
    found = start("svd", CentredMatrix(form(X)), LabelSigns(2 * Y - 1), 2, False, np.random.default_rng(0))
    n, d = shape
    X1, lam = np.column_stack([np.ones(n), X]), max(1.0, 1e-3 * np.sum(X**2) / d)
    T = 0.8 * (2 * Y - 1)
    F = X1 @ np.linalg.solve(X1.T @ X1 + lam * np.eye(d + 1), X1.T @ T)
    U = np.linalg.svd(F - F.mean(axis=0), full_matrices=False)[0][:, :2]
    np.testing.assert_allclose(np.abs(found.Z), np.sqrt(n) * np.abs(U), rtol=1e-7, atol=1e-9)
    lead = np.abs(found.Z).argmax(axis=0)
    assert np.all(found.Z[lead, [0, 1]] > 0)
    Z1 = np.column_stack([np.ones(n), found.Z])
    C = np.linalg.inv(Z1.T @ Z1 + np.eye(3))
    np.testing.assert_allclose(found.cov_B, np.repeat(C[None], 3, axis=0), atol=1e-12)
    np.testing.assert_allclose(found.B, C @ Z1.T @ T, atol=1e-10)
    K = np.linalg.inv(X.T @ X + np.eye(d))
    np.testing.assert_allclose(found.Q, K @ X.T @ found.Z, atol=1e-9)
    np.testing.assert_allclose(found.spread, np.repeat(np.diag(K)[:, None], 2, axis=1), atol=1e-10)
    np.testing.assert_array_equal(found.T, T)


@pairwise
@pytest.mark.parametrize("shape", [(30, 7), (30, 15), (10, 25)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("holes", [False, True])
def test_ridge_scores_of_the_rows_with_a_known_label(shape, form, holes):
    X, Y = problem(*shape)
    X = X + 0.5
    unknown = np.zeros(Y.shape, dtype=bool)
    if holes:
        unknown[-shape[0] // 2 :] = True
        unknown[1, 2] = True
    kept = ~unknown.all(axis=1)
    X1, T = np.column_stack([np.ones(shape[0]), X]), np.where(unknown, 0, 0.8 * (2 * Y - 1))
    lam = max(1.0, 1e-3 * np.sum(X**2) / shape[1])
    A = X1[kept]
    expected = X1 @ np.linalg.solve(A.T @ A + lam * np.eye(shape[1] + 1), A.T @ T[kept])
    found = ridge_scores(CentredMatrix(form(X)), LabelSigns(2 * Y - 1, unknown if holes else None))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_equal_labels_have_one_direction_and_the_rest_is_small_and_seeded():
    X, Y = problem()
    twice = LabelSigns(2 * np.column_stack([Y[:, :1], Y[:, :1]]) - 1)
    one, same, other = (
        start("svd", CentredMatrix(X), twice, 3, False, np.random.default_rng(seed)).Z for seed in (0, 0, 1)
    )
    assert np.linalg.norm(one[:, 0]) == pytest.approx(np.sqrt(30))
    assert 0.05 < one[:, 1:].std() < 0.2
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one[:, 1:], other[:, 1:])


def test_unknown_cells_start_at_their_ridge_scores_outside_the_gap():
    X, Y = problem()
    unknown = np.zeros(Y.shape, dtype=bool)
    unknown[20:, 0] = unknown[25:] = True
    targets = LabelSigns(2 * Y - 1, unknown, 0.0, 0.5, np.log(np.full((2, 3), 0.5)))
    found = start("svd", CentredMatrix(X), targets, 2, False, np.random.default_rng(0))
    assert np.all(np.abs(found.T[unknown]) >= 0.6)
    np.testing.assert_array_equal(found.T[~unknown], 0.8 * (2 * Y - 1)[~unknown])
    assert np.mean(np.sign(found.T[20:25, 0]) == (2 * Y - 1)[20:25, 0]) >= 0.6
    hidden = LabelSigns(np.where(unknown, -1.0, 2 * Y - 1), unknown, 0.0, 0.5, targets.log_prior)
    again = start("svd", CentredMatrix(X), hidden, 2, False, np.random.default_rng(0))
    np.testing.assert_array_equal(again.T, found.T)


def test_random_arrays_give_unknown_cells_the_sign_of_the_nearest_known_row():
    X = np.array([[0.0], [1.0], [10.0], [0.2], [9.0], [0.9]])
    signs = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    unknown = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 0], [0, 1]], dtype=bool)
    found = start("random", CentredMatrix(X), LabelSigns(signs, unknown), 2, True, np.random.default_rng(0))
    expected = signs.copy()
    expected[3], expected[4, 0], expected[5, 1] = [1.0, -1.0], -1.0, 1.0
    np.testing.assert_array_equal(np.sign(found.T), expected)
    assert found.spread.tolist() == [1.0, 1.0] and found.cov_B.shape == (2, 3, 3)


def test_given_arrays_are_not_written_to():
    X, Y = problem()
    rng = np.random.default_rng(0)
    init = {"Q": rng.standard_normal((7, 2)), "Z": rng.standard_normal((30, 2)), "B": rng.standard_normal((3, 3))}
    init["T"] = 2 * Y - 1
    before = {name: array.copy() for name, array in init.items()}
    for array in init.values():
        array.setflags(write=False)
    BSML(n_components=2, init=init, tol=0, max_iter=3).fit(X, Y)
    for name, array in before.items():
        np.testing.assert_array_equal(init[name], array)


def test_a_second_start_may_only_help():
    X, Y = problem()
    Y[20:] = np.nan
    one, more = (BSSML(n_init=k, tol=0, max_iter=30).fit(X, Y).lower_bound_[-1] for k in (1, 3))
    assert more >= one
