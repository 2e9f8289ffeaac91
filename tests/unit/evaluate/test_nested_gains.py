"""Gains of nested folds: rows of a repeat put together, repeats averaged, sides chosen on the other folds."""

from types import SimpleNamespace

import numpy as np
import pytest

from proxembed.evaluate.gains import NestedGains, paired_gain
from proxembed.evaluate.results import Results
from proxembed.measures.measures import MEASURES
from proxembed.measures.metrics import macro_average_precision
from proxembed.measures.outputs import OutputCells
from proxembed.measures.statistics import drawn_weights, precision_gain

AP, NEAR, Q2 = "macro average precision (ridge)", "Jaccard@10 (cosine kNN)", "Q2 (ridge)"
FOLDS = ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]


def entry(arm, by_fold, name=AP):
    score = {"mean": float(np.mean(by_fold)), "by_fold": list(by_fold), "test": None}
    return {"arm": arm, "k": 2, "scores": {name: score, NEAR: dict(score)}}


@pytest.fixture
def scored():
    """60 rows in three folds, twice, and the scores of two arms on them."""
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 3)) < 0.4).astype(np.uint8)
    results = Results({}, {}, folds={name: {} for name in FOLDS}, measure=MEASURES["macro average precision"])
    results.repeats = [FOLDS[:3], FOLDS[3:]]
    kept = {"a": [], "b": []}
    for names in results.repeats:
        rows = rng.permutation(60)
        noise = {"a": 0.5, "b": 2.0}
        whole = {arm: Y + noise[arm] * rng.normal(size=Y.shape) for arm in kept}
        near = {arm: rng.random(60) for arm in kept}
        for name, own in zip(names, np.split(rows, 3), strict=True):
            results.held_out[name] = own
            results.constants[name] = SimpleNamespace(scores=np.full((1, 3), 0.4))
            for arm in kept:
                results.predictions[arm, 2, name], results.similarity[arm, 2, name] = whole[arm][own], near[arm][own]
        for arm in kept:
            kept[arm].append((whole[arm], near[arm]))
    return Y, kept, results


def gains_of(Y, results, **more):
    facts = {"groups": None, "times": None, "unknown": None, "sample_weight": None, **more}
    return NestedGains(results, SimpleNamespace(Y=Y, **facts), FOLDS)


def test_a_gain_is_the_mean_of_the_repeats_and_its_interval_as_wide_as_theirs(scored):
    Y, kept, results = scored
    gains, sides = gains_of(Y, results), [[entry("a", [0.5] * 6)], [entry("b", [0.4] * 6)]]
    truth, weights = Y > 0, drawn_weights(60)
    each = [precision_gain(truth, own[0], other[0], weights) for own, other in zip(kept["a"], kept["b"], strict=True)]
    found = gains.versus(*sides, AP)
    assert found["gain"] == pytest.approx(np.mean([one["gain"] for one in each]), abs=1e-12)
    halves = [np.diff(one["interval"])[0] / 2 for one in each]
    assert np.diff(found["interval"])[0] / 2 == pytest.approx(np.mean(halves), abs=1e-12) and found["rows"] == 60
    near = [paired_gain(own[1], other[1])["gain"] for own, other in zip(kept["a"], kept["b"], strict=True)]
    assert gains.versus(*sides, NEAR)["gain"] == pytest.approx(np.mean(near), abs=1e-12)
    for name, own, value in ((AP, 0, macro_average_precision), (NEAR, 1, None)):
        entries = [entry("a", np.full(6, np.mean(kept["a"][0][1])))]
        gains.fill(entries)
        if value is not None:
            expected = np.mean([value(Y, whole[own]).value for whole in kept["a"]])
            assert entries[0]["scores"][name]["test"] == pytest.approx(expected, abs=1e-12)


def test_groups_are_drawn_together(scored):
    Y, _, results = scored
    sides = [[entry("a", [0.5] * 6)], [entry("b", [0.4] * 6)]]
    found = gains_of(Y, results, groups=np.arange(60) % 6).versus(*sides, AP)
    assert found["units"] == [6, "group"] and found["rows"] == 60


def test_a_side_of_several_is_the_best_one_on_the_other_folds(scored):
    Y, kept, results = scored
    a, b = entry("a", [0.9, 0.9, 0.1, 0.5, 0.5, 0.5]), entry("b", [0.2, 0.2, 0.2, 0.6, 0.6, 0.6])
    gains = gains_of(Y, results)
    side = gains._side([a, b], AP)  # without fold 1.3 it is a, without 1.1 or 1.2 it is a; of repeat 2 it is b
    assert side["scores"][AP]["by_fold"] == [0.9, 0.9, 0.1, 0.6, 0.6, 0.6]
    found = gains.versus([a, b], [b], AP)["gain"]
    first = [macro_average_precision(Y, kept[arm][0][0]).value for arm in "ab"]
    assert found == pytest.approx((first[0] - first[1]) / 2, abs=1e-12)


def test_without_a_whole_repeat_nothing_is_told(scored):
    Y, _, results = scored
    results.folds.pop("1.2"), results.folds.pop("2.3")
    assert not gains_of(Y, results).there


def test_q2_is_that_of_predictions_by_the_means_of_their_own_training_rows():
    rng = np.random.default_rng(1)
    y, rows = rng.normal(3.0, 2.0, 30), np.arange(30)
    results = Results({}, {}, folds={name: {} for name in FOLDS[:3]}, measure=MEASURES["Q2"], repeats=[FOLDS[:3]])
    missed = total = 0.0
    for name, own in zip(FOLDS[:3], np.split(rng.permutation(rows), 3), strict=True):
        train = np.setdiff1d(rows, own)
        level, guess = y[train].mean(), y[own] + 0.5 * rng.normal(size=10)
        cells = OutputCells((y[own] - level)[:, None], np.zeros(1, dtype=int), np.array([level]), np.ones(1))
        results.held_out[name], results.truths[name] = own, cells
        results.predictions["a", 2, name] = (guess - level)[:, None]
        missed, total = missed + ((y[own] - guess) ** 2).sum(), total + ((y[own] - level) ** 2).sum()
    facts = {"groups": None, "times": None, "unknown": None, "sample_weight": None}
    gains, ours = NestedGains(results, SimpleNamespace(**facts), FOLDS[:3]), entry("a", [0.5] * 3, Q2)
    gains.fill([{**ours, "scores": {Q2: ours["scores"][Q2]}}])
    assert ours["scores"][Q2]["test"] == pytest.approx(1 - missed / total, abs=1e-12)
