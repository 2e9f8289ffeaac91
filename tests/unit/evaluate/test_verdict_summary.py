"""Summaries: means and errors over folds, the best k, curves, verdicts, and what interruption leaves."""

import json

import numpy as np
import pytest

from proxembed.data import Dataset
from proxembed.evaluate import verdict as verdict_module
from proxembed.evaluate.results import SAME_ROWS, Results
from proxembed.report import leaderboard_csv, worded


def summarise(results, searched=None):
    """The summary with its verdict in words."""
    return worded(verdict_module.summarise(results, searched))


MEASURES = [["macro average precision", "ridge"], ["Jaccard@10", "cosine kNN"]]
FACTS = {"name": "made", "n": 100, "d": 5, "labels": 3, "single_label": False}


def results(table, folds=("1", "2", "3"), test=None, failure=None):
    """table: {(arm, rival, k): values a fold}; every measure gets the same values."""
    rows = []
    for (arm, rival, k), of_folds in table.items():
        for fold, value in zip([*folds, *(["test"] if test else [])], of_folds, strict=False):
            for measure, readout in MEASURES:
                rows.append(
                    {"arm": arm, "rival": rival, "k": k, "components": k or 5, "fold": fold, "readout": readout,
                     "measure": measure, "value": value, "labels": 3, "seconds": 1.0, "failure": failure}
                )  # fmt: skip
    names = [*folds, *(["test"] if test else [])]
    protocol = {"measures": MEASURES, "n_folds": len(folds), "seed": 0, "min_positives": 1, "n_neighbors": 10}
    return Results(FACTS, protocol, rows, {name: {"train": 80, "held_out": 20} for name in names})


RAW = ("all features", True, None)
GOOD = {RAW: [0.5, 0.52, 0.48], ("OPLS", False, 2): [0.6, 0.6, 0.6], ("OPLS", False, 3): [0.7, 0.71, 0.69]}


def test_means_errors_best_size_and_curves():
    summary = summarise(results(GOOD))
    first = summary["leaderboard"][0]
    assert (first["arm"], first["k"]) == ("OPLS", 3)
    score = first["scores"]["macro average precision (ridge)"]
    assert score["mean"] == pytest.approx(0.7) and score["standard_error"] == pytest.approx(0.01 / np.sqrt(3))
    assert [(entry["arm"], entry["k"]) for entry in summary["best"]] == [("OPLS", 3), ("all features", None)]
    assert [point[:1] for point in summary["curves"]["Jaccard@10 (cosine kNN)"]["OPLS"]] == [[2], [3]]
    assert json.loads(json.dumps(summary)) == summary


def predict(results, searched=None):
    return summarise(results, searched)["verdict"]["goals"]["predict"]


def test_a_clear_gain_is_better():
    found = predict(results(GOOD))
    assert found["word"] == "better" and found["gain"] == pytest.approx(0.2)
    assert "OPLS at k = 3" in found["sentence"] and found["interval"][0] > 0


def test_a_clear_loss_is_worse_and_an_unsure_tie_cannot_be_told():
    loss = predict(results({RAW: [0.9, 0.9, 0.91], ("OPLS", False, 2): [0.6, 0.61, 0.6]}))
    tie = predict(results({RAW: [0.6, 0.7, 0.65], ("OPLS", False, 2): [0.65, 0.65, 0.66]}))
    assert (loss["word"], tie["word"]) == ("worse", "cannot tell")
    assert "Do not embed for this goal" in loss["sentence"] and "60 rows are too few to tell." in tie["sentence"]


def test_the_gain_is_that_of_arms_chosen_on_the_other_folds():
    lucky = {RAW: [0.5, 0.5, 0.5], **{(f"noise {i}", False, 1): np.roll([0.9, 0.1, 0.1], i).tolist() for i in range(3)}}
    found = predict(results(lucky))
    assert found["gain"] == pytest.approx(-0.4) and found["word"] == "worse"


def test_the_rival_that_is_not_beaten_is_named():
    table = {**GOOD, ("label scores", True, 3): [0.8, 0.8, 0.8]}
    ahead = "A rival is ahead: label scores at k = 3, 0.800. It is ahead of ours by 0.100 (95 % interval 0.067 to 0.133"
    assert ahead in predict(results(table))["sentence"]
    behind = predict(results({**GOOD, ("label scores", True, 3): [0.6, 0.6, 0.6]}))["sentence"]
    assert "A rival" not in behind
    assert "Best rival: label scores at k = 3, 0.600. It is behind ours by 0.100 (95 % interval 0.0" in behind


def test_test_rows_stay_out_of_the_means():
    table = {key: [*of_folds, 0.123] for key, of_folds in GOOD.items()}
    summary = summarise(results(table, test=True))
    score = summary["leaderboard"][0]["scores"]["macro average precision (ridge)"]
    assert score["mean"] == pytest.approx(0.7) and score["test"] == 0.123
    assert "0.123" not in summary["verdict"]["text"] and summary["verdict"]["basis"] == "folds"


def test_an_interrupted_run_counts_complete_folds_only():
    cut = results(GOOD)
    cut.interrupted = True
    del cut.folds["3"]
    cut.rows = [row for row in cut.rows if row["fold"] != "3" or row["arm"] == "all features"]
    summary = summarise(cut)
    assert summary["folds"] == ["1", "2"]
    assert all(len(s["by_fold"]) == 2 for entry in summary["leaderboard"] for s in entry["scores"].values())
    cut.folds.clear()
    cut.rows = [row for row in cut.rows if row["fold"] == "1" and row["arm"] == "all features"]
    assert summarise(cut)["verdict"]["lacks"] == "arms" and "No verdict" in summarise(cut)["verdict"]["text"]
    cut.rows = []
    with pytest.raises(ValueError, match="no arm was finished"):
        summarise(cut)


def test_failures_are_listed_once():
    summary = summarise(results(GOOD, failure="LinAlgError: no root"))
    assert [None, "LinAlgError: no root"] in [failure[1:] for failure in summary["failures"]]
    assert len(summary["failures"]) == 3


def test_the_gain_over_the_best_rival_has_an_interval_too():
    table = {**GOOD, ("label scores", True, 2): [0.55] * 3, ("PCA", True, 2): [0.4] * 3}
    rival = predict(results(table))["rival"]
    assert (rival["arm"], rival["k"], rival["gain"]) == ("label scores", 2, pytest.approx(0.15))
    assert rival["interval"][0] < 0.15 < rival["interval"][1]
    assert predict(results(GOOD))["rival"] is None


def test_a_further_measure_of_one_arm_alone_and_a_fold_without_value():
    found = results(GOOD)
    found.protocol["further_measures"] = [["macro F1", "ridge"]]
    raw = [row for row in found.rows if row["arm"] == "all features" and row["readout"] == "ridge"]
    found.rows += [{**row, "measure": "macro F1", "value": float("nan") if row["fold"] == "2" else 0.5} for row in raw]
    summary = summarise(found)
    name = "macro F1 (ridge)"
    assert summary["further_measures"] == [name]
    scored = {
        entry["arm"]: entry["scores"][name]["mean"] for entry in summary["leaderboard"] if name in entry["scores"]
    }
    assert scored == {"all features": 0.5}
    assert "all features,rival,,5,ridge,macro F1,0.5" in leaderboard_csv(summary)


def test_a_primary_measure_without_any_value_is_refused():
    with pytest.raises(ValueError, match="is not defined on any fold"):
        summarise(results({key: [float("nan")] * 3 for key in GOOD}))


def test_the_file_has_a_line_for_each_arm_size_and_measure():
    lines = leaderboard_csv(summarise(results(GOOD))).splitlines()
    assert len(lines) == 1 + 3 * 2
    assert lines[1].startswith("OPLS,method,3,3,ridge,macro average precision,0.7,0.005774,3,3,,1.0,")


class Searched:
    """Labels of 200 rows, which "good" ranks right and "chance" at random."""

    rng = np.random.default_rng(0)
    unknown = None
    Y = rng.random((200, 3)) < 0.3
    groups = times = sample_weight = None
    scores = {"good": Y + 0.5 * rng.normal(size=Y.shape), "chance": rng.normal(size=Y.shape)}


def after_search(ours, theirs):
    """OPLS far above all features on the folds that the search has seen; what the test rows say is given."""
    found = results({key: [*of_folds, 0.123] for key, of_folds in GOOD.items()}, test=True)
    found.held_out = {"test": np.arange(200)}
    found.predictions = {("OPLS", 3, "test"): Searched.scores[ours], (RAW[0], None, "test"): Searched.scores[theirs]}
    found.similarity = {("OPLS", 3, "test"): np.full(200, 0.5), (RAW[0], None, "test"): np.full(200, 0.6)}
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "word"), [("good", "chance", "better"), ("chance", "good", "worse"), ("good", "good", "level")]
)
def test_after_a_search_the_test_rows_decide(ours, theirs, word):
    verdict = summarise(after_search(ours, theirs), searched=Searched)["verdict"]
    assert verdict["goals"]["predict"]["word"] == word and verdict["goals"]["neighbours"]["word"] == "worse"
    assert "On 200 test rows, scored once" in verdict["note"]


def test_after_a_search_without_test_rows_there_is_no_verdict():
    found = after_search("good", "chance")
    del found.folds["test"]
    verdict = summarise(found, searched=Searched)["verdict"]
    assert verdict["lacks"] == "test rows" and verdict["goals"] == {}


def test_one_fold_is_not_enough_for_an_embedding():
    cut = results({key: of_folds[:1] for key, of_folds in GOOD.items()}, folds=("1",))
    found = predict(cut)
    assert found["word"] == "cannot tell" and found["interval"] is None and "no interval" in found["sentence"]


def test_the_components_of_an_entry_are_those_that_every_fold_has():
    found = results(GOOD)
    for row in found.rows:
        if row["arm"] == "OPLS" and row["fold"] == "2":
            row["components"] -= 1
    assert [entry["components"] for entry in summarise(found)["best"]] == [2, 5]


@pytest.mark.parametrize(("ours", "theirs"), [("good", "chance"), ("chance", "good")])
def test_after_a_search_the_verdict_rests_on_the_test_rows_alone(ours, theirs):
    def verdict(of_folds):
        found = after_search(ours, theirs)
        for row in found.rows:
            if row["fold"] != "test" and row["arm"] == "all features":
                row["value"] = of_folds
        found = predict(found, searched=Searched)
        return {key: found[key] for key in ("word", "gain", "interval", "arm", "k")}

    assert verdict(0.01) == verdict(0.99)


def test_the_verdict_of_a_comparison_rests_on_the_folds_alone():
    verdicts = []
    for test in ([0.1, 0.9, 0.9], [0.9, 0.1, 0.1]):
        table = {arm: [*values, value] for (arm, values), value in zip(GOOD.items(), test, strict=True)}
        verdicts.append(summarise(results(table, test=True))["verdict"])
    assert verdicts[0] == verdicts[1]


def test_what_to_do_says_whether_a_goal_has_the_saved_model():
    summary = verdict_module.summarise(results(GOOD))
    ends = {
        3: "use OPLS at k = 3 (the saved model) to predict.",
        2: "(a search with --goal predict looks for the best one and saves it) to predict.",
    }
    for k, end in ends.items():
        found = worded({**summary, "choice": {"method": "OPLS", "k": k}})["verdict"]["goals"]["predict"]
        assert found["advice"].endswith(end)
    anew = worded({**summary, "choice": {"method": "OPLS", "k": 3}, "nested": {"folds": 5, "repeats": 2, "rows": 60}})
    assert anew["verdict"]["goals"]["predict"]["advice"].endswith(
        "use OPLS at k = 3 (a search with --goal predict looks for the best one and saves it) to predict."
    ), "chosen anew"


def test_the_verdict_without_test_rows_that_have_a_copy_in_training_rests_on_the_same_scores():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(160, 5)), (rng.random((160, 3)) < 0.4).astype(int)
    X[80:100] = X[:20]  # a quarter of the test rows
    data = Dataset(X, Y, name="made", train_idx=np.arange(80), test_idx=np.arange(80, 160))
    found = results({RAW: [0.5, 0.5, 0.5, 0.5], ("OPLS", False, 3): [0.7, 0.7, 0.7, 0.9]}, test=True)
    found.dataset, found.held_out["test"] = {**FACTS, **data.describe()}, np.arange(80, 160)
    none, copied = np.zeros(80), np.arange(80) < 20
    arms = ("all features", None, none, 0.3), ("OPLS", 3, copied, 0.3), (SAME_ROWS, None, none, 0.2)
    for arm, k, better, like in arms:
        found.similarity[arm, k, "test"] = like + 0.5 * better
        found.predictions[arm, k, "test"] = rng.random((80, 3)) + better[:, None] * (2 * Y[80:] - 1)
    found.same_rows = dict.fromkeys(("1", "2", "3", "test"), 0.2)
    verdict = verdict_module.summarise(found, data)["verdict"]
    without, near = verdict["without_copies"], verdict["without_copies"]["goals"]["neighbours"]
    assert without["rows"] == 20 and verdict["goals"]["neighbours"]["word"] == "better"
    assert near["word"] == "level" and near["value"] == near["base"] == pytest.approx(0.3) and near["gain"] == 0
    assert without["goals"]["predict"]["gain"] < verdict["goals"]["predict"]["gain"] - 0.02
    told = worded(verdict_module.summarise(found, data))["verdict"]["warnings"][0]
    assert "20 of 80 test rows have a copy in training" in told
    assert "predictions .39 instead of .46, neighbours .30 instead of .30; the verdict changes for predictions" in told
    assert "from “better” to “cannot tell”, neighbours from “better” to “level” and small sizes from “level”" in told
    found.exchanged["OPLS", 3, "test"] = 5.0  # of all test rows, copies included
    goals = verdict_module.summarise(found, data)["verdict"]["without_copies"]["goals"]
    assert "neighbours" not in goals and goals["predict"]["word"] == "cannot tell"
    told = worded(verdict_module.summarise(found, data))["verdict"]["warnings"][0]
    assert "; it is not known for neighbours" in told
    found.similarity["OPLS", 3, "test"] += 0.1
    for score, word in ((5.0, "better"), (1.0, "cannot tell")):
        found.exchanged_alone["OPLS", 3, "test"] = score
        goals = verdict_module.summarise(found, data)["verdict"]["without_copies"]["goals"]
        assert goals["neighbours"]["word"] == word
    lost = results({("NCA", True, 2): [0.1, 0.1, 0.1, 0.0]}, test=True, failure="it failed")
    found.rows += lost.rows
    with_lost = verdict_module.summarise(found, data)["verdict"]["without_copies"]["goals"]
    assert {name: goal["word"] for name, goal in with_lost.items()} == {n: goal["word"] for n, goal in goals.items()}
    assert with_lost["predict"]["rival"] == 0.0 and with_lost["predict"]["value"] == goals["predict"]["value"]
    found.dataset["copied_test_rows"] = 0
    assert verdict_module.summarise(found, data)["verdict"]["without_copies"] is None
