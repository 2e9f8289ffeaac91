"""The choice of one among many: an anchor is left only for evidence, and the repeated choice is not flattered."""

import numpy as np

from proxembed.measures.statistics import choose, expected_score, repeated_scores


def test_an_anchor_is_left_only_for_more_than_a_standard_error():
    values = np.array([[0.5, 0.5, 0.5], [0.9, 0.5, 0.4], [0.6, 0.6, 0.55]])
    assert choose(values) == 1
    assert choose(values, [True, False, False]) == 0 and choose(values[[0, 2]], [True, False]) == 1


def test_the_best_of_noise_promises_nothing():
    noise = np.random.default_rng(0).normal(size=(200, 5))
    assert noise.mean(axis=1).max() > 1.0 and abs(repeated_scores(noise).mean()) < 0.7
    assert repeated_scores(noise[:, :1]) is None
    assert expected_score(np.array([0.5, np.nan, 0.7])) == 0.6 and expected_score(None) is None
