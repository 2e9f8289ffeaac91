"""The gain on test rows: weights as repeated rows, failures as losses, groups drawn together, coverage."""

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from proxembed.measures.measures import MEASURES, Measure
from proxembed.measures.metrics import average_precision, macro_average_precision
from proxembed.measures.statistics import drawn_weights, precision_gain, redrawn_gain, weighted_average_precision


def made(n=60, c=3, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, c)) < 0.3
    better = Y + rng.normal(size=Y.shape)
    worse = Y * (1 - shift) + rng.normal(size=Y.shape)
    return Y, better, worse


def gain_of(Y, ours, theirs, groups=None, least=1):
    return precision_gain(Y, ours, theirs, drawn_weights(len(Y), groups), least)


def test_a_weight_is_a_repeated_row_ties_included():
    rng = np.random.default_rng(1)
    y, s = rng.random(40) < 0.4, rng.integers(0, 6, 40) / 6
    weights = drawn_weights(40, n_draws=20)
    found = weighted_average_precision(y, s, weights)
    expected = [average_precision(np.repeat(y, w)[:, None], np.repeat(s, w)[:, None])[0] for w in weights]
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_gain_is_the_difference_of_the_measures():
    Y, ours, theirs = made(shift=0.5)
    found = gain_of(Y, ours, theirs)
    expected = macro_average_precision(Y, ours).value - macro_average_precision(Y, theirs).value
    assert found["gain"] == pytest.approx(expected)
    assert found["interval"][0] < expected < found["interval"][1]


def test_the_interval_holds_the_gain_of_new_rows_as_often_as_it_says():
    Y, ours, theirs = made(n=20_000, shift=0.4)
    true = macro_average_precision(Y, ours).value - macro_average_precision(Y, theirs).value
    inside = 0
    for i in range(80):
        part = slice(i * 250, (i + 1) * 250)
        found = gain_of(Y[part], ours[part], theirs[part])
        inside += found["interval"][0] < true < found["interval"][1]
    assert 70 <= inside <= 80  # 76 expected; a standard error that is half or double falls outside


def test_rows_of_a_group_are_drawn_together_and_widen_the_interval():
    Y, ours, theirs = made(shift=0.5)
    again = [np.repeat(part, 8, axis=0) for part in (Y, ours, theirs)]
    groups = np.repeat(np.arange(60), 8)
    apart, together = gain_of(*again)["interval"], gain_of(*again, groups)["interval"]
    assert np.diff(together)[0] > 2 * np.diff(apart)[0]


def test_a_failed_arm_has_no_precision_and_rare_labels_are_left_out():
    Y, ours, theirs = made()
    Y[:, 2] = False
    Y[0, 2] = True
    expected = macro_average_precision(Y, ours, min_positives=2).value
    assert gain_of(Y, ours, None, least=2)["gain"] == pytest.approx(expected)


def test_without_a_positive_row_there_is_no_gain():
    Y, ours, theirs = made()
    assert gain_of(0 * Y, ours, theirs) is None


def test_a_draw_without_a_positive_row_of_a_label_leaves_the_interval_finite():
    Y, ours, theirs = made(n=20)
    Y[:, 2] = np.arange(20) == 0
    found = gain_of(Y, ours, theirs)
    assert (drawn_weights(20)[:, 0] == 0).any() and np.isfinite(found["interval"]).all()


def test_other_measures_of_scores_have_an_interval_around_the_gain():
    Y, ours, theirs = made(n=200, shift=0.5)
    auc = MEASURES["macro AUC"]
    gain = auc.value(Y, ours)[0] - auc.value(Y, theirs)[0]
    low, high = redrawn_gain(auc, Y, ours, theirs, drawn_weights(200), gain)["interval"]
    assert low < gain < high and high - low < 0.3
    assert redrawn_gain(MEASURES["macro F1"], Y, ours, theirs, drawn_weights(200), gain) is None


def test_the_error_of_few_groups_drawn_again_is_that_of_their_mean():
    """For a mean over rows of equal groups the error is known: s / sqrt(G); the draws alone have (G - 1) / G of it."""
    G, rng = 6, np.random.default_rng(3)
    each = rng.normal(size=G)
    truth, groups = np.ones((4 * G, 1), dtype=bool), np.repeat(np.arange(G), 4)
    mean = Measure("mean score", "scores", lambda Y, S: float(S.mean()), best=np.inf)
    ours = np.repeat(each, 4)[:, None]
    weights = drawn_weights(len(truth), groups, n_draws=6000)
    found = redrawn_gain(mean, truth, ours, 0 * ours, weights, float(ours.mean()), units=G)
    half = np.diff(found["interval"])[0] / 2
    assert half == pytest.approx(t.ppf(0.975, G - 1) * each.std(ddof=1) / np.sqrt(G), rel=0.03)  # 1.10 times the draws
    assert found["p"] == pytest.approx(ttest_1samp(each, 0).pvalue, abs=0.02)
