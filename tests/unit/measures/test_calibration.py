"""Platt's sigmoid, log-loss and calibration error: scikit-learn, the optimality of the fit, cases by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import log_loss as oracle_log_loss

from proxembed.classify.score_products import FactoredScores, UnseenScores
from proxembed.measures.metrics import (
    Platt,
    calibration_error,
    label_calibration_error,
    label_log_loss,
    log_loss,
    platt_apply,
    platt_fit,
)


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 4)) < [0.5, 0.2, 0.05, 0.9]).astype(int)
    S = (rng.normal(size=Y.shape) + [3.0, 1.0, 1.0, 0.5] * Y) * [1.0, 1e-3, 1e4, 1.0] + [0.0, 5.0, 1e6, -3.0]
    return S, Y


def platt_loss(parameters, s, y):
    """The loss of Platt's paper, for standardised scores."""
    target = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))
    margin = parameters[0] * s + parameters[1]
    return np.sum(np.logaddexp(0, margin) - target * margin)


def test_the_sigmoid_is_the_optimum_of_platts_loss(scored):
    S, Y = scored
    P = platt_apply(S, platt_fit(S, sp.csr_array(Y)))
    for j in range(4):
        s = (S[:, j] - S[:, j].mean()) / S[:, j].std()
        best = minimize(platt_loss, [0.0, 0.0], args=(s, Y[:, j]), tol=1e-12)
        np.testing.assert_allclose(P[:, j], expit(best.x[0] * s + best.x[1]), atol=1e-5)
        fitted = np.polyfit(s, np.log(P[:, j] / (1 - P[:, j])), 1)
        assert platt_loss(fitted, s, Y[:, j]) <= best.fun + 1e-9
        assert fitted[0] > 0


def test_probabilities_do_not_depend_on_the_scale_of_scores(scored):
    S, Y = scored
    P = platt_apply(S, platt_fit(S, Y))
    np.testing.assert_allclose(platt_apply(7 * S - 2, platt_fit(7 * S - 2, Y)), P, rtol=1e-6)


def test_at_the_optimum_the_mean_probability_is_that_of_the_targets(scored):
    S, Y = scored
    n1 = Y.sum(axis=0)
    targets = n1 / 200 * (n1 + 1) / (n1 + 2) + (1 - n1 / 200) / (200 - n1 + 2)
    np.testing.assert_allclose(platt_apply(S, platt_fit(S, Y)).mean(axis=0), targets, rtol=1e-8)


def test_sigmoids_fitted_some_at_a_time_and_of_products_are_those_of_each_label(scored, monkeypatch):
    S, Y = scored
    monkeypatch.setattr("proxembed.measures.metrics.FITTED", 3)
    rng = np.random.default_rng(1)
    Z, coef, known = rng.normal(size=(200, 2)), rng.normal(size=(2, 4)), rng.random(Y.shape) < 0.8
    folds = np.arange(200) % 2
    products = UnseenScores(
        Y.shape, [(np.flatnonzero(folds == i), FactoredScores.of(Z[folds == i], coef, np.ones(4))) for i in range(2)]
    )
    for scores, cells in ((S, None), (S, known), (products, None), (products, known)):
        found, dense = platt_fit(scores, Y, cells), np.asarray(scores)
        for j in range(4):
            rows = slice(None) if cells is None else cells[:, j]
            one = platt_fit(dense[rows, j : j + 1], Y[rows, j : j + 1])
            np.testing.assert_allclose((found.slope[j], found.offset[j]), (one.slope[0], one.offset[0]), rtol=1e-6)
    with pytest.raises(ValueError, match="one shape"):
        platt_fit(S, Y[:, :3])


def test_separable_labels_stay_away_from_certainty():
    S = np.arange(20.0)[:, None]
    P = platt_apply(S, platt_fit(S, S > 9))
    assert (np.diff(P[:, 0]) >= 0).all() and 0 < P[0, 0] < 0.1 and 0.9 < P[-1, 0] < 1


def test_scores_that_say_nothing_give_a_constant():
    Y = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
    S = np.array([[3.0, 5, 1, 1], [2, 5, 1, 2], [1, 5, 1, 3], [0, 5, 1, 4]])
    found = platt_fit(S, Y)
    np.testing.assert_array_equal(found.slope[:3], 0)
    P = platt_apply(S, found)
    np.testing.assert_allclose(P[:, 0], 0.5)  # larger scores, fewer positives: never turned round
    np.testing.assert_allclose(P[:, 1], 0.5)
    np.testing.assert_allclose(P[:, 2], (2 / 3 + 3 / 5) / 4)
    np.testing.assert_allclose(P[:, 3], 1 / 6, rtol=1e-6)  # no positive row: small, not 0


def test_bad_scores_are_refused(scored):
    S, Y = scored
    with pytest.raises(ValueError, match="one shape"):
        platt_fit(S, Y[:, :2])
    with pytest.raises(ValueError, match="no row"):
        platt_fit(S[:0], Y[:0])
    with pytest.raises(ValueError, match="one column for each of the 1 sigmoids"):
        platt_apply(S, Platt(np.ones(1), np.ones(1)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_log_loss_equals_scikit_learn(form):
    rng = np.random.default_rng(1)
    Y, P = (rng.random((50, 3)) < 0.4).astype(int), rng.random((50, 3))
    P[0], P[1] = 0.0, 1.0
    expected = [oracle_log_loss(Y[:, j], P[:, j], labels=[0, 1]) for j in range(3)]
    np.testing.assert_allclose(label_log_loss(form(Y), P), expected, rtol=1e-12)
    assert log_loss(form(Y), P) == (pytest.approx(np.mean(expected), rel=1e-12), 3)


def test_labels_of_no_row_count_in_the_log_loss():
    Y, P = np.array([[1, 0], [1, 0]]), np.array([[0.5, 0.1], [0.5, 0.1]])
    assert log_loss(Y, P) == (pytest.approx((-np.log(0.5) - np.log(0.9)) / 2), 2)


def by_bins(y, p, n_bins):
    """Expected calibration error of one label, bin by bin."""
    bins = np.minimum(np.floor(p * n_bins), n_bins - 1)
    return sum((bins == b).mean() * abs(p[bins == b].mean() - y[bins == b].mean()) for b in np.unique(bins))


@pytest.mark.parametrize("n_bins", [1, 4, 10])
def test_calibration_error_equals_a_loop_over_bins(n_bins):
    rng = np.random.default_rng(2)
    P = np.round(rng.random((100, 3)), 2)
    P[0], P[1] = 0.0, 1.0
    Y = (rng.random((100, 3)) < P**2).astype(int)
    expected = [by_bins(Y[:, j], P[:, j], n_bins) for j in range(3)]
    np.testing.assert_allclose(label_calibration_error(sp.csr_array(Y), P, n_bins=n_bins), expected, rtol=1e-10)
    assert calibration_error(Y, P, n_bins=n_bins) == pytest.approx(np.mean(expected))


def test_calibration_error_by_hand():
    Y = np.array([[1], [1], [0], [0]])
    assert calibration_error(Y, np.array([[1.0], [1.0], [0.0], [0.0]])) == 0
    assert calibration_error(Y, np.array([[0.0], [0.0], [1.0], [1.0]])) == 1
    assert calibration_error(Y, np.full((4, 1), 0.8)) == pytest.approx(0.3)


@pytest.mark.parametrize("measure", [log_loss, label_log_loss, calibration_error, label_calibration_error])
def test_what_is_no_probability_is_refused(measure):
    with pytest.raises(ValueError, match=r"P must hold probabilities; got 0 to 1.5"):
        measure(np.eye(2), 1.5 * np.eye(2))
    with pytest.raises(ValueError, match="got -1 to 0"):
        measure(np.eye(2), np.eye(2) - 1)
    with pytest.raises(ValueError, match="at least one row and one label"):
        measure(np.zeros((0, 2)), np.zeros((0, 2)))
    with pytest.raises(ValueError, match="must be finite"):
        measure(np.eye(1), np.full((1, 1), np.nan))


def test_bins_must_be_a_whole_number():
    for n_bins in (0, 2.5):
        with pytest.raises(ValueError, match=f"n_bins={n_bins} must be a whole number of at least 1"):
            calibration_error(np.eye(2), np.eye(2), n_bins=n_bins)
