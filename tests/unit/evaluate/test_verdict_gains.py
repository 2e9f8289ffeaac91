"""Gains on the test rows: paired rows of neighbours with groups, stored scores of predictions, what has failed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from proxembed.data import digits
from proxembed.evaluate.gains import TestGains, paired_gain
from proxembed.evaluate.results import Results
from proxembed.evaluate.verdict import too_few
from proxembed.measures.measures import MEASURES
from proxembed.measures.metrics import macro_average_precision
from proxembed.measures.statistics import precision_gain
from proxembed.targets.labels import LabelMatrix

AP, NEAR = "macro average precision (ridge)", "Jaccard@10 (cosine kNN)"


def test_paired_gains_hold_the_true_mean_as_often_as_they_say():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(300):
        difference = rng.normal(0.1, 0.5, 80)
        low, high = paired_gain(difference + 1, np.ones(80))["interval"]
        inside += low < 0.1 < high
    assert 272 <= inside <= 297  # 285 expected


def test_groups_are_drawn_together():
    rng = np.random.default_rng(1)
    each = rng.normal(size=40)
    one = paired_gain(each, np.zeros(40))
    repeated = paired_gain(np.repeat(each, 6), np.zeros(240), groups=np.repeat(np.arange(40), 6))
    assert repeated["gain"] == pytest.approx(one["gain"]) and repeated["interval"] == pytest.approx(one["interval"])
    assert paired_gain([0.3, 0.4], [0.1, 0.1], groups=[0, 0])["interval"] is None


@pytest.fixture
def tested():
    rng = np.random.default_rng(2)
    Y = (rng.random((120, 4)) < 0.4).astype(np.uint8)
    scores = {name: (Y + noise * rng.normal(size=Y.shape)).astype(np.float32) for name, noise in (("a", 0.5), ("b", 2))}
    rows = np.arange(30, 120)
    results = Results(
        {}, {}, folds={"test": {}}, held_out={"test": rows},
        predictions={(name, 2, "test"): S[rows] for name, S in scores.items()},
        similarity={("a", 2, "test"): rng.random(90), ("b", 2, "test"): rng.random(90)},
        hubs={("a", 2, "test"): 0.3}, measure=MEASURES["macro average precision"],
    )  # fmt: skip
    return Y, scores, rows, results


def entry(name, test=None):
    return {"arm": name, "k": 2, "scores": {n: {"mean": 0.0, "test": test} for n in (AP, NEAR, "macro F1 (ridge)")}}


def test_gains_of_some_of_the_test_rows_are_those_of_a_run_that_had_these_alone(tested):
    Y, _, rows, results = tested
    data = SimpleNamespace(Y=Y, groups=None, times=None, unknown=None, sample_weight=None)
    keep = np.arange(90) % 3 > 0
    alone = replace(results, held_out={"test": rows[keep]})
    alone.predictions = {key: S[keep] for key, S in results.predictions.items()}
    alone.similarity = {key: values[keep] for key, values in results.similarity.items()}
    some, whole = TestGains(results, data, keep), TestGains(alone, data)
    for name in (AP, NEAR):
        ours, theirs = (entry(arm, 0.5) for arm in "ab")
        assert some.versus([ours], [theirs], name) == whole.versus([ours], [theirs], name), name
    assert some.value(entry("a"), AP) == pytest.approx(
        macro_average_precision(Y[rows[keep]], results.predictions["a", 2, "test"][keep])[0]
    )
    assert some.value(entry("a"), NEAR) == pytest.approx(results.similarity["a", 2, "test"][keep].mean())
    assert whole.value(entry("a", 0.7), AP) == 0.7, "of all rows the value is that of the run"
    assert some.value(entry("a", 0.7), "macro F1 (ridge)") is None, "its decisions are not kept"


def test_gains_are_recomputed_from_what_is_stored_of_the_test_rows(tested):
    Y, scores, rows, results = tested
    gains = TestGains(results, SimpleNamespace(Y=Y, groups=None, times=None, unknown=None, sample_weight=None))
    found = gains.versus([entry("a")], [entry("b")], AP)
    expected = [macro_average_precision(Y[rows], scores[name][rows]).value for name in "ab"]
    assert found["gain"] == pytest.approx(expected[0] - expected[1], abs=1e-12) and found["rows"] == 90
    near = gains.versus([entry("a")], [entry("b")], NEAR)
    stored = [results.similarity[name, 2, "test"] for name in "ab"]
    assert near == {**paired_gain(*stored), "rows": 90, "units": None}
    assert gains.hub(entry("a")) == 0.3 and gains.hub(entry("b")) is None


def test_an_arm_without_stored_rows_has_failed(tested):
    Y, _, _, results = tested
    gains = TestGains(results, SimpleNamespace(Y=Y, groups=None, times=None, unknown=None, sample_weight=None))
    assert gains.versus([entry("a")], [entry("lost")], AP)["gain"] > 0.5
    assert gains.versus([entry("a")], [entry("lost")], NEAR)["gain"] == pytest.approx(
        results.similarity["a", 2, "test"].mean()
    )


def test_a_measure_that_reads_no_scores_has_a_gain_without_interval(tested):
    Y, _, _, results = tested
    gains = TestGains(results, SimpleNamespace(Y=Y, groups=None, times=None, unknown=None, sample_weight=None))
    found = gains.versus([entry("a", 0.6)], [entry("b", 0.5)], "macro F1 (ridge)")
    assert found == {"gain": pytest.approx(0.1), "interval": None, "p": None, "rows": 90, "units": None}
    assert gains.versus([entry("a", None)], [entry("b", 0.5)], "macro F1 (ridge)") is None


@pytest.mark.parametrize("groups", [5, 8, 15])
def test_the_gain_of_few_groups_holds_the_true_mean_as_often_as_it_says(groups):
    """1.96 standard errors hold it in 89, 91 and 93 % of the runs."""
    rng, inside, unit = np.random.default_rng(groups), 0, np.repeat(np.arange(groups), 3)
    for shared in rng.normal(0.1, 1.0, (2000, groups)):
        low, high = paired_gain(shared[unit] + 0.01 * rng.normal(size=len(unit)), np.zeros(len(unit)), unit)["interval"]
        inside += low < 0.1 < high
    assert 1870 <= inside <= 1930  # 1900 expected, standard deviation 9.7


def test_the_gain_in_precision_is_tested_by_the_groups(tested):
    """The same rows count as 90, and as 6 groups: whole groups are drawn, and their interval is wider."""
    Y, _, rows, results = tested
    unit, found = np.arange(120) % 6, {}
    for name, groups in (("rows", None), ("groups", unit)):
        gains = TestGains(results, SimpleNamespace(Y=Y, groups=groups, times=None, unknown=None, sample_weight=None))
        found[name] = gains.versus([entry("a")], [entry("b")], AP)
        scores = [results.predictions[arm, 2, "test"] for arm in "ab"]
        own = None if groups is None else groups[rows]
        drawn = precision_gain(gains.truth, *scores, gains.drawn, groups=own)
        assert found[name] == {**drawn, "rows": 90, "units": None if groups is None else [6, "group"]}
    half = {name: np.diff(each["interval"])[0] / 2 for name, each in found.items()}
    assert half["groups"] > half["rows"]
    assert found["groups"]["p"] > found["rows"]["p"]


def test_a_verdict_needs_five_groups_of_scored_rows():
    data, rows = digits(), np.arange(60)
    told = {}
    for count in (1, 4, 5):
        groups = np.arange(data.X.shape[0]) % 60 % count
        told[count] = too_few(SimpleNamespace(targets=data.targets, groups=groups, times=None, single_label=True), rows)
    assert told[4] == "4 groups of scored rows are too few to tell, at least 5 are needed" and told[5] is None
    assert told[1] == "1 group of scored rows is too few to tell, at least 5 are needed"


def test_rows_in_time_count_by_independent_periods():
    y = np.repeat([0, 1, 0, 1, 1], 40)
    facts = {"targets": LabelMatrix.of(y[:, None]), "groups": None, "single_label": True}
    rows, times = np.arange(200), np.arange(200.0)
    slow = too_few(SimpleNamespace(**facts, times=times), rows)
    assert slow == "3 independent periods of scored rows are too few to tell, at least 5 are needed"
    assert too_few(SimpleNamespace(**facts, times=np.random.default_rng(0).permutation(times)), rows) is None


def test_a_verdict_needs_twenty_scored_rows():
    assert too_few(digits(), np.arange(12)) == "12 scored rows are too few to tell, at least 20 are needed"
    assert too_few(digits(), np.arange(60)) is None
