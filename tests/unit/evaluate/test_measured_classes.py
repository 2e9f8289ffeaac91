"""Columns of classes beside numbers: figures of held-out rows against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
)

from proxembed.evaluate.measured_classes import class_section
from proxembed.targets.outputs import Column


def test_figures_are_those_of_scikit_learn_on_known_held_out_rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=100).astype(float)
    codes[[5, 70, 90]] = np.nan
    scores, raw = rng.normal(size=(2, 60, 3))
    scores[np.arange(60), np.nan_to_num(codes[40:]).astype(int)] += 1.0
    column = Column("rock", "classes", np.array(["a", "b", "c"], dtype=object))
    found = class_section(column, codes, 40, scores, raw)
    known = np.isfinite(codes[40:])
    truth, told = codes[40:][known].astype(int), scores[known].argmax(axis=1)
    assert found["n"] == 58 and found["unknown"] == 3 and found["chance"] == pytest.approx(1 / 3)
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, told))
    assert found["balanced"] == pytest.approx(balanced_accuracy_score(truth, told))
    low, high = found["interval"]
    assert low < found["balanced"] < high and 0.1 < high - low < 0.4
    order = ["abc".index(name) for name in found["classes"]]
    np.testing.assert_array_equal(found["confusion"], confusion_matrix(truth, told)[np.ix_(order, order)])
    for j, row in zip(order, found["table"], strict=True):
        own = {"pos_label": 1, "zero_division": 0}
        assert row["recall"] == pytest.approx(recall_score(truth == j, told == j, **own))
        assert row["precision"] == pytest.approx(precision_score(truth == j, told == j, **own))
        assert row["ap_embedded"] == pytest.approx(average_precision_score(truth == j, scores[known][:, j]))
        assert row["ap_raw"] == pytest.approx(average_precision_score(truth == j, raw[known][:, j]))


def test_a_column_of_0_and_1_has_two_classes_and_groups_are_drawn_together():
    rng = np.random.default_rng(1)
    codes = np.repeat(rng.integers(0, 2, size=20), 4).astype(float)
    value = np.repeat(codes[::4] * 0.3 + rng.random(20), 4)[:, None]
    alone, grouped = (
        class_section(Column("on", "labels"), codes, 0, value, None, groups) for groups in (None, np.arange(80) // 4)
    )
    assert sorted(alone["classes"]) == ["0", "1"] and alone["accuracy"] == np.mean((value[:, 0] > 0.5) == codes)
    assert np.ptp(grouped["interval"]) > 1.5 * np.ptp(alone["interval"])
    assert [row["ap_raw"] for row in alone["table"]] == [None, None]
    nothing = class_section(Column("on", "labels"), np.full(5, np.nan), 3, np.zeros((2, 1)), None)
    assert nothing["n"] == 0 and nothing["balanced"] is None and nothing["table"] == []


def test_a_whole_weight_counts_a_row_as_often():
    rng = np.random.default_rng(2)
    codes, scores, times = (
        rng.integers(0, 3, size=30).astype(float),
        rng.normal(size=(30, 3)),
        rng.integers(0, 4, size=30),
    )
    column = Column("rock", "classes", np.array(["a", "b", "c"], dtype=object))
    weighted = class_section(column, codes, 0, scores, scores, None, times.astype(float))
    repeated = class_section(column, np.repeat(codes, times), 0, *2 * (np.repeat(scores, times, axis=0),))
    for name in ("accuracy", "balanced"):
        assert weighted[name] == pytest.approx(repeated[name])
    one, other = ({row["class"]: row for row in found["table"]} for found in (weighted, repeated))
    for name in ("ap_raw", "ap_embedded", "chance", "recall", "precision"):
        assert {key: row[name] for key, row in one.items()} == pytest.approx({k: row[name] for k, row in other.items()})
