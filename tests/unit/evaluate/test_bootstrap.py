"""The gain on test rows: weights as repeated rows, failures as losses, groups drawn together, coverage."""

import numpy as np
import pytest

from proxembed.evaluate.bootstrap import drawn_weights, held_out_gain, weighted_average_precision
from proxembed.evaluate.metrics import average_precision, macro_average_precision
from proxembed.evaluate.results import Results


def made(n=60, c=3, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, c)) < 0.3
    better = Y + rng.normal(size=Y.shape)
    worse = Y * (1 - shift) + rng.normal(size=Y.shape)
    return Y, better, worse


def results(Y, scores, **protocol):
    predictions = {(arm, 2, "test"): S for arm, S in scores.items()}
    return Results({}, protocol, folds={"test": {}}, predictions=predictions, held_out={"test": np.arange(len(Y))})


def test_a_weight_is_a_repeated_row_ties_included():
    rng = np.random.default_rng(1)
    y, s = rng.random(40) < 0.4, rng.integers(0, 6, 40) / 6
    weights = drawn_weights(40, n_draws=20)
    found = weighted_average_precision(y, s, weights)
    expected = [average_precision(np.repeat(y, w)[:, None], np.repeat(s, w)[:, None])[0] for w in weights]
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_gain_is_the_difference_of_the_measures():
    Y, ours, theirs = made(shift=0.5)
    found = held_out_gain(results(Y, {"a": ours, "b": theirs}), Y, ("a", 2), ("b", 2))
    expected = macro_average_precision(Y, ours).value - macro_average_precision(Y, theirs).value
    assert found["gain"] == pytest.approx(expected) and found["rows"] == 60
    assert found["interval"][0] < expected < found["interval"][1]


def test_the_interval_holds_the_gain_of_new_rows_as_often_as_it_says():
    Y, ours, theirs = made(n=20_000, shift=0.4)
    true = macro_average_precision(Y, ours).value - macro_average_precision(Y, theirs).value
    inside = 0
    for i in range(80):
        part = slice(i * 250, (i + 1) * 250)
        found = held_out_gain(results(Y[part], {"a": ours[part], "b": theirs[part]}), Y[part], ("a", 2), ("b", 2))
        inside += found["interval"][0] < true < found["interval"][1]
    assert 70 <= inside <= 80  # 76 expected; a standard error that is half or double falls outside


def test_rows_of_a_group_are_drawn_together_and_widen_the_interval():
    Y, ours, theirs = made(shift=0.5)
    again = [np.repeat(part, 8, axis=0) for part in (Y, ours, theirs)]
    groups = np.repeat(np.arange(60), 8)
    found = results(again[0], {"a": again[1], "b": again[2]})
    apart = held_out_gain(found, again[0], ("a", 2), ("b", 2))["interval"]
    together = held_out_gain(found, again[0], ("a", 2), ("b", 2), groups)["interval"]
    assert np.diff(together)[0] > 2 * np.diff(apart)[0]


def test_a_failed_arm_has_no_precision_and_rare_labels_are_left_out():
    Y, ours, theirs = made()
    Y[:, 2] = False
    Y[0, 2] = True
    found = results(Y, {"a": ours}, min_positives=2)
    expected = macro_average_precision(Y, ours, min_positives=2).value
    assert held_out_gain(found, Y, ("a", 2), ("failed", 2))["gain"] == pytest.approx(expected)


def test_without_finished_test_rows_there_is_no_gain():
    Y, ours, theirs = made()
    cut = results(Y, {"a": ours, "b": theirs})
    assert held_out_gain(results(0 * Y, {"a": ours, "b": theirs}), 0 * Y, ("a", 2), ("b", 2)) is None
    cut.folds.clear()
    assert held_out_gain(cut, Y, ("a", 2), ("b", 2)) is None
