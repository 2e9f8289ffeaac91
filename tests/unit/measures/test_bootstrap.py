"""The gain on test rows: weights as repeated rows, failures as losses, groups drawn together, coverage."""

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from proxembed.measures.measures import MEASURES, Measure
from proxembed.measures.metrics import average_precision, label_auc, macro_average_precision
from proxembed.measures.statistics import (
    drawn_weights,
    precision_gain,
    redrawn_gain,
    unseen_variance,
    weighted_average_precision,
)


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
    found = redrawn_gain(mean, truth, ours, 0 * ours, weights, float(ours.mean()), groups=groups)
    half = np.diff(found["interval"])[0] / 2
    assert half == pytest.approx(t.ppf(0.975, G - 1) * each.std(ddof=1) / np.sqrt(G), rel=0.03)  # 1.10 times the draws
    assert found["p"] == pytest.approx(ttest_1samp(each, 0).pvalue, abs=0.02)


def test_the_interval_knows_that_a_label_has_few_positive_rows():
    rng = np.random.default_rng(5)
    Y = rng.random((20_000, 8)) < 0.03
    ours, theirs = 1.5 * Y + rng.normal(size=Y.shape), rng.normal(size=Y.shape)
    parts = [slice(i, i + 50) for i in range(0, 20_000, 50)]
    each = [average_precision(Y[part], ours[part]) - average_precision(Y[part], theirs[part]) for part in parts]
    true, spread = np.nanmean(each), np.std(np.nanmean(each, axis=1))
    weights = drawn_weights(50, n_draws=60)
    found = np.array([precision_gain(Y[part], ours[part], theirs[part], weights)["interval"] for part in parts[:200]])
    inside = (found[:, 0] < true) & (true < found[:, 1])
    assert 185 <= inside.sum() <= 197  # 178 by rows drawn again alone
    errors = np.diff(found, axis=1) / 2 / 1.96
    assert 1 < np.sqrt(np.mean(errors**2)) / spread < 1.3  # .92 by rows drawn again alone


def unseen(columns, groups=None):
    return unseen_variance(np.array(columns, dtype=float).T, groups)


def test_rows_drawn_again_lose_one_of_m_parts_of_the_variance_of_a_mean():
    parts = np.random.default_rng(0).normal(size=6)
    seen = parts.var() / 6
    assert seen + unseen([parts]) == pytest.approx(parts.var(ddof=1) / 6)
    assert seen + unseen([parts] * 3) == pytest.approx(parts.var(ddof=1) / 6)  # the same rows in each of three labels
    apart = np.full((2, 12), np.nan)
    apart[0, :6], apart[1, 6:] = parts, parts
    assert seen / 2 + unseen(apart) == pytest.approx(parts.var(ddof=1) / 12)
    grouped = unseen([np.repeat(parts, 4)], np.repeat(np.arange(6), 4))
    assert grouped == pytest.approx(unseen([parts]))


def test_single_positive_rows_vary_as_much_as_their_labels():
    alone = np.where(np.eye(4, dtype=bool), [0.1, 0.4, 0.2, 0.9], np.nan)
    assert unseen(alone) == pytest.approx(np.var([0.1, 0.4, 0.2, 0.9], ddof=1) / 4)
    assert unseen(np.repeat(alone, 2, axis=1), [0, 0, 1, 1, 2, 2, 3, 3]) == pytest.approx(unseen(alone))


def test_one_positive_row_in_all_has_no_interval():
    Y, ours, theirs = made()
    Y[1:], Y[0] = False, [True, False, False]
    assert gain_of(Y, ours, theirs)["interval"] is None
    Y[1, 1] = True
    assert gain_of(Y, ours, theirs)["interval"] is not None
    auc = MEASURES["macro AUC"]
    found = redrawn_gain(auc, Y[:, :1], ours[:, :1], theirs[:, :1], drawn_weights(60, n_draws=20), 0.1)
    assert found["interval"] is None and found["p"] is None


def test_the_interval_of_auc_knows_that_a_label_has_few_rows_on_one_side():
    rng = np.random.default_rng(6)
    S = rng.normal(size=(2, 60, 4))
    Y, weights = np.zeros((60, 4), dtype=bool), drawn_weights(60, n_draws=40)
    Y[np.arange(8), np.repeat(np.arange(4), 2)] = True
    for truth in (Y, ~Y):
        each = [label_auc(truth, s) for s in S]
        low, high = redrawn_gain(MEASURES["macro AUC"], truth, *S, weights, float(np.mean(each[0] - each[1])))[
            "interval"
        ]
        drawn = [
            label_auc(truth[index], s[index]) for index in (np.repeat(np.arange(60), w) for w in weights) for s in S
        ]
        alone = np.nanstd(np.nanmean(drawn[::2], axis=1) - np.nanmean(drawn[1::2], axis=1), ddof=1)
        assert high - low > 1.1 * 2 * 1.96 * alone


def test_the_rarest_label_stays_the_rarest_in_every_draw():
    Y, ours, theirs = made()
    Y[:, 1], Y[:5, 1] = False, True
    rarest, weights = MEASURES["average precision of the rarest label"], drawn_weights(60)
    gain = rarest.value(Y, ours)[0] - rarest.value(Y, theirs)[0]
    own = precision_gain(Y[:, [1]], ours[:, [1]], theirs[:, [1]], weights)
    assert own["gain"] == pytest.approx(gain)
    assert redrawn_gain(rarest, Y, ours, theirs, weights, gain)["interval"] == pytest.approx(own["interval"])
