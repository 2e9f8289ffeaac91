"""Nested folds in whole searches: no leak, Ctrl-C, a budget without room, named test rows."""

import json

import numpy as np

import proxembed
from proxembed.workflow import nested
from runs import few_rivals, planes_alone, usual_speed
from unit.workflow.conftest import quick
from unit.workflow.test_nested import ASKED, N, nested_folds, rows

__all__ = ["few_rivals", "nested_folds", "planes_alone", "quick", "usual_speed"]


def test_random_labels_are_predicted_no_better_than_by_chance():
    """The best of many configurations looks better than chance on the folds that chose it, not on the nested ones."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(200, 40)), rng.integers(0, 2, 200)
    asked = ASKED | {"methods": ["pca", "fda", "lfda", "mfa", "mmc"], "n_components": [1, 2, 5, 10], "max_trials": 10}
    found = proxembed.search(X, y, measure="macro AUC", **asked)
    summary = found.record["summary"]
    entry = next(each for each in summary["leaderboard"] if (each["arm"], each["k"]) == (nested.CHOICE, None))
    figure = entry["scores"][summary["measures"][0]]["test"]
    inner = max(max(trial["scores"].values()) for trial in found.record["search"]["trials"] if trial["scores"])
    assert abs(figure - 0.5) < 0.08  # two standard errors
    assert inner > figure + 0.02


def test_an_interrupted_search_goes_on_inside_the_nested_folds(tmp_path):
    found = proxembed.search(*rows(), **ASKED)

    def stop(_done, _total, text):
        if text.startswith("nested fold 1.3"):
            raise KeyboardInterrupt

    first = proxembed.search(*rows(), **ASKED, folder=tmp_path, progress=stop)
    assert first.interrupted and first.verdict["lacks"] == "nested folds" and first.model is not None
    begun = []
    done = proxembed.search(*rows(), **ASKED, resume=tmp_path, progress=lambda _d, _t, text: begun.append(text))
    assert not done.interrupted and not list(tmp_path.glob(".*.jsonl"))
    for name, goal in found.verdict["goals"].items():
        mine = done.verdict["goals"][name]
        assert mine["word"] == goal["word"] and mine["arm"] == goal["arm"]
        assert json.dumps(mine.get("interval")) == json.dumps(goal.get("interval"))


def test_a_budget_without_room_holds_out_a_quarter_and_says_so():
    few = proxembed.search(*rows(), **ASKED | {"max_work": 1.5})
    assert few.verdict["basis"] == "test rows" and few.verdict["goals"]["predict"]["rows"] == N // 4
    assert "a quarter of the rows held out instead of 10 nested folds" in " ".join(few.cuts)


def test_named_test_rows_switch_it_off():
    named = proxembed.search(*rows(), test=np.arange(20), **ASKED)
    assert named.verdict["basis"] == "test rows" and named.verdict["goals"]["predict"]["rows"] == 20
