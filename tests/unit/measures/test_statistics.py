"""The choice of one among many: an anchor is left only for evidence, and the repeated choice is not flattered.
Intervals of few groups: they hold the true mean as often as they say."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from proxembed.measures.statistics import choose, expected_score, repeated_scores, t_tested


def test_an_anchor_is_left_only_for_more_than_a_standard_error():
    values = np.array([[0.5, 0.5, 0.5], [0.9, 0.5, 0.4], [0.6, 0.6, 0.55]])
    assert choose(values) == 1
    assert choose(values, [True, False, False]) == 0 and choose(values[[0, 2]], [True, False]) == 1


def test_the_best_of_noise_promises_nothing():
    noise = np.random.default_rng(0).normal(size=(200, 5))
    assert noise.mean(axis=1).max() > 1.0 and abs(repeated_scores(noise).mean()) < 0.7
    assert repeated_scores(noise[:, :1]) is None
    assert expected_score(np.array([0.5, np.nan, 0.7])) == 0.6 and expected_score(None) is None


@pytest.mark.parametrize("groups", [5, 8, 15])
def test_an_interval_of_few_groups_holds_the_true_mean_as_often_as_it_says(groups):
    """1.96 in place of the point of t holds it in 89, 91 and 93 % of the runs."""
    each = np.random.default_rng(groups).normal(0.3, 1.0, (4000, groups))
    errors = each.std(axis=1, ddof=1) / np.sqrt(groups)
    found = [t_tested(mean, error, groups) for mean, error in zip(each.mean(axis=1), errors, strict=True)]
    inside = np.mean([low < 0.3 < high for low, high in (one["interval"] for one in found)])
    assert 0.94 <= inside <= 0.96  # .95 +- 3 standard errors
    assert [one["p"] for one in found[:20]] == pytest.approx([ttest_1samp(row, 0).pvalue for row in each[:20]])


def test_an_interval_leaves_out_zero_where_p_is_below_one_in_twenty():
    for gain in (-0.5, -0.2, 0.0, 0.2, 0.5):
        found = t_tested(gain, 0.1, 9)
        assert (found["p"] < 0.05) == (not found["interval"][0] <= 0 <= found["interval"][1])
    assert t_tested(0.2, 0.1, 1) == {"gain": 0.2, "interval": None, "p": None}
    assert (t_tested(0.2, 0.0, 9)["p"], t_tested(0.0, 0.0, 9)["p"]) == (0.0, 1.0)
