"""Probabilities from scores, log-loss, Brier score and calibration error: scikit-learn, optimality, cases by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as oracle_log_loss

from proxembed.classify.score_products import FactoredScores, UnseenScores
from proxembed.measures.calibration import (
    Calibration,
    brier_score,
    calibrated,
    calibrated_classes,
    calibration_error,
    label_brier_score,
    label_calibration_error,
    probabilities_of,
    reliability,
)
from proxembed.measures.metrics import label_log_loss, log_loss


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 4)) < [0.5, 0.2, 0.05, 0.9]).astype(int)
    S = (rng.normal(size=Y.shape) + [3.0, 1.0, 1.0, 0.5] * Y) * [1.0, 1e-3, 1e4, 1.0] + [0.0, 5.0, 1e6, -3.0]
    return S, Y


def smoothed(y, w):
    """Platt's targets of a label whose rows count w times."""
    n1, n0 = w @ y, w @ (1 - y)
    return np.where(y == 1, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))


def expanded(F, t, w):
    """Rows that count t as positive and 1 - t as negative, as scikit-learn takes them."""
    y = np.repeat([1, 0], len(t))
    return np.concatenate([F, F]), y, np.concatenate([w * t, w * (1 - t)])


@pytest.mark.parametrize("weighed", [False, True])
def test_the_sigmoid_is_scikit_learns_logistic_regression_of_smoothed_targets(scored, weighed):
    S, Y = scored
    w = 1.0 + (np.arange(len(Y)) % 3 if weighed else np.zeros(len(Y)))
    found = calibrated(S, sp.csr_array(Y), sample_weight=w if weighed else None)
    for j in range(4):
        s = ((S[:, j] - S[:, j].mean()) / S[:, j].std())[:, None]
        rows, y, own = expanded(s, smoothed(Y[:, j], w), w)
        oracle = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000, solver="newton-cholesky").fit(rows, y, own)
        Q = expit(found.slope[j] * S[:, j] + found.offset[j])
        np.testing.assert_allclose(Q, oracle.predict_proba(s)[:, 1], atol=1e-7)


def side_loss(b, margin, targets):
    """Of the two sides of a sigmoid, with the prior that keeps its slope."""
    odds = b[0] * log_expit(margin) - b[1] * log_expit(-margin) + b[2]
    return np.sum(np.logaddexp(0, odds) - targets * odds) + 0.5 * ((b[0] - 1) ** 2 + (b[1] - 1) ** 2)


def test_the_sides_of_a_sigmoid_are_the_optimum_of_their_loss_with_slopes_of_at_least_0(scored):
    S, Y = scored
    S, Y = S[:, :2], Y[:, :2]
    flat = np.where(S[:, :1] > 3, 3.0, S[:, :1])  # above, where half of the labels are lost, the score says nothing
    S, Y = np.hstack([S, flat + 5 * (S[:, :1] > 3)]), np.hstack([Y, Y[:, :1] & (S[:, :1] <= 3)])
    found = calibrated(S, Y)
    for j in range(3):
        margin = found.slope[j] * S[:, j] + found.offset[j]
        args = margin, smoothed(Y[:, j], np.ones(len(Y)))
        options = {"bounds": [(0, None), (0, None), (None, None)], "tol": 1e-14}
        best = minimize(side_loss, [1.0, 1.0, 0.0], args, "L-BFGS-B", **options)
        own = np.array([found.low[j], found.high[j], found.level[j]])
        assert side_loss(own, *args) <= best.fun + 1e-9 and (own[:2] >= 0).all()
        P = expit(best.x[0] * log_expit(margin) - best.x[1] * log_expit(-margin) + best.x[2])
        np.testing.assert_allclose(probabilities_of(S, found)[:, j], P, atol=1e-4)
    P = probabilities_of(np.sort(S, axis=0), found)
    assert (np.diff(P, axis=0) >= 0).all() and (P > 0).all() and (P < 1).all()


def test_classes_are_the_optimum_of_their_loss_and_sum_to_1():
    rng = np.random.default_rng(3)
    y = rng.choice(3, 150, p=[0.6, 0.3, 0.1])
    Y, w = np.eye(3)[y], 1.0 + np.arange(150) % 2
    S = rng.normal(size=(150, 3)) + 1.5 * Y + [0.0, 2.0, 0.0]
    counts = w @ Y
    targets = np.where(Y > 0, (counts + 1) / (counts + 2), 0.5 / (counts[y] + 2)[:, None])
    spread = np.sqrt(w @ ((S - S.mean(axis=1, keepdims=True)) ** 2).mean(axis=1) / w.sum())

    def loss(v):
        odds = log_softmax(v[0] / spread * S + v[1:], axis=1)
        return -w @ (targets * odds).sum(axis=1) + 0.5 * v[1:] @ v[1:]

    best = minimize(loss, [1.0, 0, 0, 0], tol=1e-12)
    found = calibrated_classes(S, Y, w)
    P = probabilities_of(S, found)
    np.testing.assert_allclose(P, softmax(best.x[0] / spread * S + best.x[1:], axis=1), atol=1e-5)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    repeated = calibrated_classes(np.repeat(S, w.astype(int), axis=0), np.repeat(Y, w.astype(int), axis=0))
    np.testing.assert_allclose(probabilities_of(S, repeated), P, rtol=1e-6)
    shares = np.average(targets, axis=0, weights=w)
    for silent in (np.zeros((150, 3)), -S):  # nothing to learn, or the contrary
        np.testing.assert_allclose(probabilities_of(silent, calibrated_classes(silent, Y, w)), [shares] * 150)
    with pytest.raises(ValueError, match="no row"):
        calibrated_classes(S[:0], Y[:0])


def test_probabilities_do_not_depend_on_the_scale_of_scores(scored):
    S, Y = scored
    P = probabilities_of(S, calibrated(S, Y))
    np.testing.assert_allclose(probabilities_of(7 * S - 2, calibrated(7 * S - 2, Y)), P, rtol=1e-6)


def test_at_the_optimum_the_mean_probability_is_that_of_the_targets(scored):
    S, Y = scored
    n1 = Y.sum(axis=0)
    targets = n1 / 200 * (n1 + 1) / (n1 + 2) + (1 - n1 / 200) / (200 - n1 + 2)
    np.testing.assert_allclose(probabilities_of(S, calibrated(S, Y)).mean(axis=0), targets, rtol=1e-8)


def test_sigmoids_fitted_some_at_a_time_and_of_products_are_those_of_each_label(scored, monkeypatch):
    S, Y = scored
    monkeypatch.setattr("proxembed.measures.calibration.FITTED", 600)
    rng = np.random.default_rng(1)
    Z, coef, known = rng.normal(size=(200, 2)), rng.normal(size=(2, 4)), rng.random(Y.shape) < 0.8
    folds = np.arange(200) % 2
    products = UnseenScores(
        Y.shape, [(np.flatnonzero(folds == i), FactoredScores.of(Z[folds == i], coef, np.ones(4))) for i in range(2)]
    )
    for scores, cells in ((S, None), (S, known), (products, None), (products, known)):
        found, dense = calibrated(scores, Y, cells), np.asarray(scores)
        for j in range(4):
            rows = slice(None) if cells is None else cells[:, j]
            one = calibrated(dense[rows, j : j + 1], Y[rows, j : j + 1])
            pair = [each[j] for each in found[:5]], [each[0] for each in one[:5]]
            np.testing.assert_allclose(*pair, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="one shape"):
        calibrated(S, Y[:, :3])


def test_separable_labels_stay_away_from_certainty():
    S = np.arange(20.0)[:, None]
    P = probabilities_of(S, calibrated(S, S > 9))
    assert (np.diff(P[:, 0]) >= 0).all() and 0 < P[0, 0] < 0.1 and 0.9 < P[-1, 0] < 1


def test_scores_that_say_nothing_give_a_constant():
    Y = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
    S = np.array([[3.0, 5, 1, 1], [2, 5, 1, 2], [1, 5, 1, 3], [0, 5, 1, 4]])
    found = calibrated(S, Y)
    np.testing.assert_array_equal(found.slope[:3], 0)
    P = probabilities_of(S, found)
    np.testing.assert_allclose(P[:, 0], 0.5)  # larger scores, fewer positives: never turned round
    np.testing.assert_allclose(P[:, 1], 0.5)
    np.testing.assert_allclose(P[:, 2], (2 / 3 + 3 / 5) / 4)
    np.testing.assert_allclose(P[:, 3], 1 / 6, rtol=1e-6)  # no positive row: small, not 0


def test_bad_scores_are_refused(scored):
    S, Y = scored
    with pytest.raises(ValueError, match="one shape"):
        calibrated(S, Y[:, :2])
    with pytest.raises(ValueError, match="no row"):
        calibrated(S[:0], Y[:0])
    with pytest.raises(ValueError, match="one column for each of the 1 maps"):
        probabilities_of(S, Calibration(*np.ones((5, 1))))


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
    """Expected calibration error of one label, bin by bin: a value goes where the middle of its rows lies."""
    bins = np.array([(np.sum(p < v) + np.sum(p == v) / 2) * n_bins // len(p) for v in p])
    return sum((bins == b).mean() * abs(p[bins == b].mean() - y[bins == b].mean()) for b in np.unique(bins))


@pytest.mark.parametrize("n_bins", [1, 4, 10])
def test_calibration_error_equals_a_loop_over_bins(n_bins):
    rng = np.random.default_rng(2)
    P = np.round(rng.random((100, 3)), 2)
    P[0], P[1] = 0.0, 1.0
    Y, w = (rng.random((100, 3)) < P**2).astype(int), rng.integers(0, 3, 100)
    expected = [by_bins(Y[:, j], P[:, j], n_bins) for j in range(3)]
    np.testing.assert_allclose(label_calibration_error(sp.csr_array(Y), P, n_bins=n_bins), expected, rtol=1e-10)
    assert calibration_error(Y, P, n_bins=n_bins) == pytest.approx(np.mean(expected))
    found = reliability(Y, P, n_bins=n_bins)
    assert found.error == pytest.approx(by_bins(Y.ravel(), P.ravel(), n_bins))
    assert found.cells.sum() == 300 and len(found.cells) <= n_bins
    assert found.error == pytest.approx(found.cells @ abs(found.probability - found.share) / 300)
    own, often = {"sample_weight": w.astype(float)}, (np.repeat(each, w, axis=0) for each in (Y, P))
    Y_often, P_often = often
    for measure in (label_calibration_error, label_brier_score):
        np.testing.assert_allclose(measure(Y, P, **own), measure(Y_often, P_often))
    np.testing.assert_allclose(reliability(Y, P, **own).share, reliability(Y_often, P_often).share)


def test_bins_hold_equal_numbers_of_rows_and_known_cells_alone_count():
    rng = np.random.default_rng(0)
    P, known = rng.random((60, 2)), rng.random((60, 2)) < 0.5
    Y = rng.random((60, 2)) < P
    np.testing.assert_array_equal(reliability(Y, P).cells, 12)
    own = [label_calibration_error(Y[known[:, j], j : j + 1], P[known[:, j], j : j + 1])[0] for j in range(2)]
    np.testing.assert_allclose(label_calibration_error(Y, P, known=known), own)
    assert reliability(Y, P, known=known).cells.sum() == known.sum()
    with pytest.raises(ValueError, match="no cell is known"):
        reliability(Y, P, known=np.zeros((60, 2), dtype=bool))


def test_the_brier_score_equals_scikit_learn():
    rng = np.random.default_rng(1)
    Y, P, w = (rng.random((50, 3)) < 0.4).astype(int), rng.random((50, 3)), rng.random(50)
    for weights in (None, w):
        expected = [brier_score_loss(Y[:, j], P[:, j], sample_weight=weights, pos_label=1) for j in range(3)]
        np.testing.assert_allclose(label_brier_score(sp.csr_array(Y), P, weights), expected, rtol=1e-12)
        assert brier_score(Y, P, weights) == (pytest.approx(np.mean(expected)), 3)


def test_calibration_error_by_hand():
    Y = np.array([[1], [1], [0], [0]])
    assert calibration_error(Y, np.array([[1.0], [1.0], [0.0], [0.0]])) == 0
    assert calibration_error(Y, np.array([[0.0], [0.0], [1.0], [1.0]])) == 1
    assert calibration_error(Y, np.full((4, 1), 0.8)) == pytest.approx(0.3)


@pytest.mark.parametrize("measure", [log_loss, label_log_loss, calibration_error, brier_score, reliability])
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
