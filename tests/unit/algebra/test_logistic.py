"""Logistic regressions against scikit-learn's and by their slopes, weights of at least 0 against SciPy's."""

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from proxembed.algebra.pencil.logistic import log_odds, logistic_weights, shared_weights

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 40, 2))
T = (A[:, :, 0] + RANDOM.normal(size=(3, 40)) > 0.4).astype(float)


def test_logistic_weights_are_those_of_scikit_learn():
    mass = np.ones(T.shape)
    mass[1, :10] = 0.0  # unknown cells
    B = logistic_weights(A, T, mass, 10.0)
    for a, t, w, b in zip(A, T, mass, B, strict=True):
        same = LogisticRegression(C=0.1, tol=1e-12, solver="newton-cholesky").fit(a[w > 0], t[w > 0])
        np.testing.assert_allclose(b, [*same.intercept_, *same.coef_[0]], rtol=0, atol=1e-6)
        np.testing.assert_allclose(log_odds(a[None], b[None])[0], same.decision_function(a), rtol=0, atol=1e-5)


def test_shares_as_targets_and_a_side_that_is_told_apart():
    shares, apart = RANDOM.random(40), (A[0, :, 0] > 0).astype(float)
    for target, penalty in ((shares, 10.0), (apart, 1e-3)):
        b = logistic_weights(A[:1], target[None], np.full((1, 40), 2.0), penalty)[0]
        slope = 2.0 * (expit(A[0] @ b[1:] + b[0]) - target)
        np.testing.assert_allclose(A[0].T @ slope + penalty * b[1:], 0.0, atol=1e-4)
        np.testing.assert_allclose(slope.sum(), 0.0, atol=1e-4)


def test_shared_weights_are_the_least_squares_of_weights_of_at_least_zero():
    B, t = RANDOM.normal(size=(60, 3)), RANDOM.normal(size=60)
    B[:, 2] = t + 0.1 * RANDOM.normal(size=60)
    np.testing.assert_allclose(shared_weights(B, t), nnls(B, t)[0], atol=1e-10)
    np.testing.assert_allclose(shared_weights(np.column_stack([B, np.zeros(60)]), t)[:3], nnls(B, t)[0], atol=1e-10)
