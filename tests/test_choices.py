"""Regret, ranks and what is left to run, from stored lines (docs/results/choices.py and choices_page.py)."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs" / "results"))
import choices  # noqa: E402
import choices_page  # noqa: E402

ANCHORS, RIVALS = ("OPLS", "TargetSpace"), ("forest scores", "label lookup", "logistic regression")


def fixed(name, split, values):
    arms = [
        {"arm": arm, "k": 6, "rival": arm in RIVALS, "test": value}
        for arm, value in zip((*ANCHORS, *RIVALS), values, strict=True)
    ]
    key = {"set": name, "split": split, "goal": choices.ARMS, "work": None}
    shared = {**key, "rows": 75, "held_out": 25, "commit": "1a2b3c4d"}
    return {**shared, "arms": dict.fromkeys(choices.GOALS, arms)}


def search(name, split, work, chosen, board, goal="predict"):
    arms = [{"arm": arm, "k": k, "rival": arm in RIVALS, "folds": folds, "test": test} for arm, k, folds, test in board]
    made = {"commit": "5e6f7a8b", "cpu": 40.0 + 10 * split}
    shared = {"set": name, "split": split, "goal": goal, "work": work, "rows": 75, "held_out": 25, **made}
    return {**shared, "chosen": {"arm": chosen, "k": 5}, "arms": arms}


LINES = [
    fixed("emotions", 0, (0.60, 0.70, 0.75, 0.1, 0.5)),
    fixed("emotions", 1, (0.60, 0.80, 0.67, 0.1, 0.5)),
    fixed("birds", 0, (0.50, 0.40, 0.30, 0.1, 0.2)),
    # of PCA the size that is better on the folds, though not on the held-out rows; in one split only
    search("emotions", 0, 150.0, "CCA", [("CCA", 5, 0.9, 0.68), ("PCA", 5, 0.8, 0.72), ("PCA", 2, 0.7, 0.99)]),
    search("emotions", 1, 150.0, "CCA", [("CCA", 5, 0.9, 0.70), ("forest scores", None, 0.8, 0.95)]),
    search("emotions", 0, 30.0, "CCA", [("CCA", 5, 0.9, 0.66)]),
    search("birds", 0, 150.0, "CCA", [("CCA", 5, 0.9, 0.52)]),
]


def test_regret_is_against_our_best_arm_on_the_same_splits():
    known = choices_page.Lines(LINES)
    row = choices_page.judged(known, "emotions", "predict", 150.0)
    assert row["best"] == ("TargetSpace", pytest.approx(0.75)) and row["choice"] == pytest.approx(0.69)
    gaps = np.array([0.02, 0.10])
    assert row["regret"] == pytest.approx(gaps.mean())
    half = student.ppf(0.975, 1) * gaps.std(ddof=1) / np.sqrt(2)
    assert row["interval"] == pytest.approx((0.06 - half, 0.06 + half))
    assert row["rivals"] == pytest.approx({"forest scores": 0.71, "logistic regression": 0.5})
    # on the first split alone the best is PCA at its size of the folds, which no fixed arm is
    assert choices_page.judged(known, "emotions", "predict", 30.0)["best"] == ("PCA", pytest.approx(0.72))
    assert choices_page.judged(known, "birds", "predict", 150.0)["regret"] == pytest.approx(0.0)
    assert choices_page.judged(known, "yeast", "predict", 150.0) is None
    text = choices_page.goal_table(known, "predict", 150.0)
    assert "| emotions | 2 | 45 | CCA |" in text
    assert "Mean regret +0.0300" in text and "emotions (forest scores +0.020)" in text
    assert "| OPLS | 2 | 0.5500 | 0.6050 | +0.0550" in text


def test_curve_is_against_one_arm_on_shared_splits():
    points = choices_page.curve_points(choices_page.Lines(LINES))
    own = [point for point in points if point["set"] == "emotions"]
    assert [(point["work"], point["splits"], point["best_arm"]) for point in own] == [(30, 1, "PCA"), (150, 1, "PCA")]
    assert [point["regret"] for point in own] == pytest.approx([0.06, 0.04])


def test_interval_of_ranks_is_the_jackknife():
    ranks = np.array([1.0, 2.0, 1.5, 3.0])
    left_out = np.array([np.delete(ranks, i).mean() for i in range(4)])
    error = np.sqrt(3 / 4 * ((left_out - left_out.mean()) ** 2).sum())
    half = student.ppf(0.975, 3) * error
    assert choices_page.interval(ranks) == pytest.approx((ranks.mean() - half, ranks.mean() + half))
    text = choices_page.rank_table(choices_page.Lines(LINES), "predict")
    assert "| OPLS | 0.550 | 1.50 (1.00 to 2.00)" in text and "| 1.00 to 2.00 |" in text and "not one arm" in text


def test_page_tells_what_was_not_run():
    text = " ".join(choices_page.page(LINES).split())
    assert "3 of 30 fits of fixed arms (emotions (2 splits), birds (1 split))" in text
    assert "0 of 60 searches at 450 units" in text and "3 of 60 searches at 150 units" in text
    assert "with the number of lines: 1a2b3c4d (3), 5e6f7a8b (4)." in text
    whole = [
        {"set": name, "split": split, "goal": goal, "work": work, "commit": "1a2b3c4d"}
        for name, split, goal, work in choices.wanted(choices.SETS, 3, choices.BUDGETS)
    ]
    assert choices_page.state_of(whole).startswith("All of it was run. Last commit")
    assert choices_page.state_of(whole[1:]).startswith("**Part of it was run**")
