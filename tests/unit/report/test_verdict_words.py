"""The verdict in words: why nothing can be told, rivals with their sizes, what counts as kept."""

import numpy as np
import pytest

from proxembed.cli.terminal import contrast_text
from proxembed.report import reworded, verdict_card, worded
from proxembed.report.next_steps import Run
from proxembed.report.plain_words import Missing

AP, NEAR = "macro average precision (ridge)", "Jaccard@10 (cosine kNN)"


def verdict_of(name, goal, basis="test rows", **more):
    summary = {
        "dataset": {"d": 50, "labels": 6, "single_label": False},
        "folds": ["1", "2"],
        "verdict": {"basis": basis, "tolerance": 0.03, "lacks": None, "goals": {name: {"rows": 445, **goal}}},
    }
    return worded(summary, **more)["verdict"]


def words(name, **goal):
    """A goal in words, and its card."""
    verdict = verdict_of(name, goal)
    return verdict["goals"][name]["sentence"], verdict_card(verdict)


def compared(interval, needed=None, **more):
    """A map with an interval of its gain over PCA."""
    return words(
        "map", measure=NEAR, word="cannot tell", arm="OPLS", k=2, components=2, value=0.672, rival=None, gain=-0.024,
        base={"arm": "PCA", "k": 2, "value": 0.696}, interval=interval, rows_needed=needed, **more,
    )  # fmt: skip


def compressed(word, shares=((0.99, 1.01), (0.99, 1.01)), components=20, rivals=None, **more):
    return words(
        "compress", measure=AP, word=word, arm="OPLS", k=20, components=components, d=50, bytes=80, kept_on_folds=True,
        bytes_all_features=200, rows_needed=None, rivals=rivals or {}, **more,
        shares={name: {"share": 0.98, "interval": ends} for name, ends in zip((AP, NEAR), shares, strict=True)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("interval", "needed", "why"),
    [
        ((-0.045, -0.003), None, "behind, but perhaps by no more than counts as level: 445 rows are too few to tell"),
        ((-0.045, 0.003), 900, "445 rows are too few to tell"),
        (None, None, "no interval, so nothing can be told"),
    ],
)
def test_why_nothing_can_be_told_is_said(interval, needed, why):
    sentence, card = compared(interval, needed)
    assert sentence.endswith(f"{NEAR}; {why}.") and "Map: cannot tell</b>" in card


def test_what_a_map_keeps_stands_beside_its_measure():
    kept = {"share": 0.338, "rival": "supervised UMAP", "rival_share": 0.29}
    told = compared(None, kept=kept)[0]
    assert "0.672 instead of 0.696 of PCA" in told
    assert told.endswith(" The map keeps 34 % of each held-out row's ten nearest training rows; supervised UMAP 29 %.")
    assert compared(None, kept={**kept, "rival_share": None})[0].endswith("ten nearest training rows.")


def test_what_compression_may_lose_is_said_and_rivals_stand_with_their_sizes():
    sentence, _ = compressed("cannot tell", ((0.92, 0.99), (0.99, 1.01)), rivals={"label scores": 3, "LSI": 10})
    assert "Behind, but perhaps by no more than counts as level: 445 rows are too few to tell." in sentence
    assert sentence.endswith(
        "Rivals that lose no more than counts as level on the folds: label scores at k = 3, LSI at k = 10."
    )
    assert "Behind" not in compressed("cannot tell", ((0.92, 1.02), (0.9, 1.1)))[0]


def test_what_rivals_of_a_small_size_keep_on_the_test_rows_stands_beside_them():
    goal = {"measure": AP, "word": "level", "arm": "OPLS", "k": 5, "components": 5, "d": 50, "bytes": 20, "rows": 445}
    goal |= {"bytes_all_features": 200, "rows_needed": None, "kept_on_folds": True, "rivals": {"NCA": 10, "LSI": 3}}
    goal["shares"] = {name: {"share": 1.0, "interval": (0.99, 1.01), "base": 0.5} for name in (AP, NEAR)}
    scores = {AP: {"test": 0.425}, NEAR: {"test": 0.51}}
    entries = [{"arm": "NCA", "k": 10, "rival": True, "components": 10, "scores": scores}]
    summary = {
        "dataset": {"d": 50, "labels": 6, "single_label": False}, "folds": ["1"], "leaderboard": entries,
        "verdict": {"basis": "test rows", "tolerance": 0.03, "lacks": None, "goals": {"compress": goal}},
    }  # fmt: skip
    assert worded(summary)["verdict"]["goals"]["compress"]["sentence"].endswith(
        "Rivals that lose no more than counts as level on the folds (in brackets what they keep on the test rows): "
        "NCA at k = 10 (85 % and 102 %), LSI at k = 3."
    )


def test_test_rows_that_the_data_name_are_told_from_those_drawn():
    goal = {"measure": NEAR, "arm": "OPLS", "k": 2, "components": 2, "value": 0.7, "rival": None, "gain": 0.0}
    goal |= {"base": {"arm": "PCA", "k": 2, "value": 0.7}, "rows_needed": 900, "interval": [-0.1, 0.1], "rows": 445}
    goal |= {"word": "cannot tell", "margin": 0.01}
    drawn = ["No test rows are named: 445 rows were set aside as test rows, drawn at random."]
    for notes, said in (([], "900 test rows in place of 445"), (drawn, "about 2,100 rows in place of 1,000")):
        data = {"d": 50, "labels": 6, "single_label": False, "n": 1000, "notes": notes}
        verdict = {"basis": "test rows", "tolerance": 0.03, "lacks": None, "goals": {"map": dict(goal)}}
        told = worded({"dataset": data, "folds": ["1"], "verdict": verdict})["verdict"]["goals"]["map"]["plain"]
        assert said in told


def test_level_is_a_success_only_with_fewer_numbers():
    assert "✓" in compressed("level")[1] and "Compress: no loss with fewer numbers</b>" in compressed("level")[1]
    same = compressed("level", components=50)[1]
    assert "✓" not in same and "Compress: level</b>" in same


def test_arms_that_are_equal_in_every_fold_are_named():
    goal = {"measure": NEAR, "arm": "OPLS", "k": 2, "components": 2, "value": 0.7, "rival": None, "gain": 0.0}
    base = {"arm": "PCA", "k": 2, "value": 0.7}
    told, _ = words("map", word="level", base=base, interval=[0.0, 0.0], ties=["NCA", "PCA", "PLS"], **goal)
    assert told.endswith(f"OPLS at k = 2, {NEAR}. It is equal to NCA, PCA and PLS in every fold.")
    tested = {"a": "OPLS", "b": "best rival", "difference": 0.0, "interval": None, "p_holm": None, "bayes": None}
    line = "OPLS - best rival: +0.000; OPLS is equal to PCA in every fold"
    assert contrast_text({**tested, "ties": ["PCA"]}) == line


def test_a_baseline_at_chance_is_why_nothing_can_be_told():
    at_chance = {"chance": 0.7, "margin": None, "p": 0.04}
    sentence, _ = compared((-0.045, -0.003), **at_chance)
    why = "PCA at k = 2 (0.696) does no better than the same rows for every query (0.700), so nothing can be told."
    assert sentence.endswith(f"{NEAR}; {why}")
    assert compared(None, **at_chance)[0].endswith(why)
    few = "4 groups of scored rows are too few to tell, at least 5 are needed"
    assert compared(None, few=few, **at_chance)[0].endswith(f"{few}.")
    sentence, _ = compressed("cannot tell", at_chance={AP: [0.4, 0.41]})
    assert sentence.endswith(
        "All features (0.400) do no better than one constant prediction (0.410), so nothing can be told."
    )


def test_what_is_ahead_before_correction_alone_is_said():
    goal = {"measure": NEAR, "arm": "OPLS", "k": 2, "components": 2, "value": 0.75, "rival": None, "gain": 0.05}
    base = {"arm": "PCA", "k": 2, "value": 0.7}
    more = goal | {"base": base, "p": 0.03, "p_holm": 0.06, "family": 3}
    told, _ = words("map", word="level", interval=[0.01, 0.09], **more)
    assert told.endswith(
        "This is ahead (p = 0.030), but 3 goals were tested at once, which takes stronger evidence (corrected "
        "p = 0.060). A goal that is named before the run is judged alone."
    )
    assert "corrected" not in words("map", word="level", interval=[-0.001, 0.101], **more)[0]
    assert "corrected" not in words("map", word="better", interval=[0.01, 0.09], **more)[0]


def test_rows_of_groups_are_counted_in_groups():
    goal = {
        "measure": NEAR,
        "arm": "OPLS",
        "k": 2,
        "components": 2,
        "value": 0.7,
        "rival": None,
        "gain": 0.0,
        "rows": 104,
    }
    more = goal | {"base": {"arm": "PCA", "k": 2, "value": 0.7}, "rows_needed": 351, "units": [28, "group"]}
    told, _ = words("map", word="cannot tell", interval=[-0.1, 0.1], **more)
    assert told.endswith("104 rows of 28 groups are too few to tell.")


def test_the_note_says_what_is_level_and_of_which_models_the_figures_are():
    limit = (
        "A loss counts as level up to 3 % of what all features gain over a constant prediction, or 6 % of what they "
        "miss (at least 0.005 where the best value is 1), whichever is less."
    )
    notes = {
        basis: verdict_of("map", {"word": "level", "measure": NEAR, "arm": "OPLS", "k": 2, "components": 2,
                                  "value": 0.7, "rival": None, "gain": 0.0, "interval": [0.0, 0.0],
                                  "base": {"arm": "PCA", "k": 2, "value": 0.7}}, basis, **more)["note"]
        for basis, more in (("folds", {}), ("test rows", {}), ("all", {"refitted": True}))
    }  # fmt: skip
    assert all(note.endswith(limit) for note in notes.values())
    goal = {"word": "level", "measure": NEAR, "arm": "OPLS", "k": 2, "components": 2, "value": 0.7, "rival": None}
    goal |= {"gain": 0.0, "interval": [0.0, 0.0], "base": {"arm": "PCA", "k": 2, "value": 0.7}, "margin": 0.0042}
    assert "A loss counts as level up to 0.0042 (map): 3 % of what all" in verdict_of("map", goal, "folds")["note"]
    assert "those of the models of the folds, not of a model fitted on all rows" in notes["folds"]
    saved = "The saved model is refitted on all rows; values and intervals are those of the model of the training rows."
    assert saved in notes["all"] and saved not in notes["test rows"]


def test_the_title_says_than_what_it_is_better_and_that_rivals_are_missing():
    goal = {"word": "better", "measure": NEAR, "arm": "OPLS", "k": 2, "components": 2, "value": 0.7, "gain": 0.1}
    goal |= {"interval": [0.05, 0.15], "rival": None, "base": {"arm": "PCA", "k": 2, "value": 0.6}}
    tried = verdict_of("map", goal, missing=Missing({"map": ("t-SNE",)}))["goals"]["map"]
    assert tried["said"] == "better than the best other map tried" and tried["untried"] == ["t-SNE"]
    assert verdict_of("map", goal)["goals"]["map"]["said"] == "better than the best other map"
    rival = {"arm": "PCA", "k": 5, "components": 5, "value": 0.65, "gain": 0.05, "interval": [0.01, 0.09]}
    more = goal | {"base": {"arm": "all features", "k": None, "value": 0.6}, "rival": rival}
    missing = Missing({"neighbours": ("UMAP",)})
    told = verdict_of("neighbours", more, missing=missing)["goals"]["neighbours"]
    assert told["said"] == "better than all features and the best rival tried"
    over = "Best rival tried: PCA at k = 5, 0.650. It is behind ours by 0.050 (95 % interval 0.010 to 0.090)."
    assert over in told["sentence"]
    unsure = more | {"rival": rival | {"interval": [np.float64(-0.01), np.float64(0.09)]}}
    assert verdict_of("neighbours", unsure)["goals"]["neighbours"]["said"] == "better than all features"
    among = {"value": 0.4, "base": 0.5, "gain": -0.1, "interval": [-0.2, -0.05]}
    reverse = verdict_of("neighbours", unsure | {"new_rows": among})["goals"]["neighbours"]
    assert reverse["said"] == "better than all features; worse among new rows"


def test_a_record_without_a_figure_keeps_its_words_and_a_fault_of_the_program_is_raised(monkeypatch):
    goal = {
        "measure": NEAR, "word": "better", "arm": "OPLS", "k": 2, "components": 2, "value": 0.9, "gain": 0.1,
        "rows": 60, "interval": [0.05, 0.15], "margin": 0.01, "rival": None,
        "base": {"arm": "all features", "k": None, "value": 0.8},
    }  # fmt: skip
    verdict = {"basis": "folds", "tolerance": 0.03, "lacks": None, "goals": {"neighbours": goal}}
    data = {"d": 50, "labels": 6, "single_label": False}
    record = {
        "kind": "compare",
        "command": "proxembed compare a.csv",
        "summary": {"dataset": data, "folds": ["1", "2"], "verdict": verdict},
    }
    assert "stored_words" not in reworded(record)
    del goal["margin"]
    assert reworded(record)["stored_words"] and "headline" not in reworded(record)["summary"]["verdict"]
    goal["margin"] = 0.01
    monkeypatch.setattr("proxembed.report.verdict.number", lambda *_: {}["fault"])
    with pytest.raises(KeyError, match="fault"):
        reworded(record)


def better(gain=0.03, margin=0.005, rival=None, **more):
    goal = {
        "word": "better",
        "measure": AP,
        "arm": "TargetSpace",
        "k": 2,
        "components": 2,
        "value": 0.998,
        "rival": rival,
    }
    goal |= {"gain": gain, "interval": [0.001, 0.06], "base": {"arm": "all features", "k": None, "value": 0.966}}
    return goal | {"margin": margin, "reads_features": True} | more


def test_better_by_less_than_counts_as_level_is_said_and_a_rival_so_close_is_not_beaten():
    close = {"arm": "forest scores", "k": None, "value": 0.995, "gain": 0.003, "interval": [0.001, 0.006]}
    far = close | {"value": 0.98, "gain": 0.018, "interval": [0.01, 0.03]}
    for goal, said in (
        (better(gain=0.004), "better than a linear model of all features, by less than matters"),
        (
            better(rival=close),
            "better than a linear model of all features and, by less than matters, the best rival",
        ),
        (better(rival=far), "better than a linear model of all features and the best rival"),
        (better(rival=far, reads_features=False), "better than a linear model of all features and the best rival"),
    ):
        assert verdict_of("predict", goal)["goals"]["predict"]["said"] == said


def test_the_read_out_of_a_method_that_predicts_by_itself_is_named():
    sentence = words("predict", **better())[0]
    assert (
        "which reads the features and not the numbers of the embedding, macro average precision (its own classifier)."
        in sentence
    )
    assert "(ridge)" not in sentence and "(ridge)" in words("predict", **better(reads_features=False))[0]


def test_small_sizes_name_the_kind_of_numbers_and_follow_their_intervals():
    told = compressed("level", shares=((0.99, 1.01), (1.02, 1.06)))
    assert (
        "(80 bytes per row instead of 200, stored as 32-bit numbers)" in told[0]
        and "Compress: no loss with fewer numbers<" in told[1]
    )
    sparse = words("compress", measure=AP, word="level", arm="OPLS", k=5, components=5, d=50, bytes=20, rivals={},
                   bytes_all_features=90, rows_needed=None, kept_on_folds=True,
                   shares={name: {"share": 1.0, "interval": (0.99, 1.01)} for name in (AP, NEAR)})[0]  # fmt: skip
    assert "(20 bytes per row instead of 90 (sparse), stored" in sparse and "sparse" not in told[0]
    above = compressed("level", shares=((1.01, 1.03), (1.02, 1.06)))[1]
    assert "Compress: gain with fewer numbers<" in above


def test_a_map_below_which_the_best_other_lies_is_compared_with_the_constant():
    below = {"arm": "PCA", "k": 2, "value": 0.29}
    same = {"arm": "the same rows for every query", "k": None, "value": 0.3}
    told = words("map", word="better", measure=NEAR, arm="OPLS", k=2, components=2, value=0.36, rival=None, gain=0.06,
                 interval=[0.04, 0.08], base=same, below_constant=below, margin=0.0)  # fmt: skip
    assert "Map: better than the same rows for every query<" in told[1]
    assert told[0].endswith("The best other map, PCA at k = 2, is below that: 0.290.")
    assert "0.360 instead of 0.300 of the same rows for every query" in told[0]


def scored(test, mean=0.8, **more):
    """A summary whose choice has values on folds and test rows."""
    scores = {NEAR: {"mean": mean, "standard_error": 0.01, "test": test}}
    entry = {"arm": "TargetSpace", "k": 2, "components": 2, "rival": False, "labels": 50, "scores": scores}
    goals = {"predict": {"rows": 445, **better(chance=0.22)}}
    return {
        "dataset": {"d": 50, "labels": 53, "single_label": False} | more, "folds": ["1", "2"], "measures": [NEAR],
        "choice": {"method": "TargetSpace", "k": 2}, "best": [entry],
        "verdict": {"basis": "test rows", "tolerance": 0.03, "lacks": None, "goals": goals},
    }  # fmt: skip


def test_the_note_says_where_folds_and_test_rows_differ_and_of_how_many_labels_means_are():
    note = worded(scored(0.978, 0.764))["verdict"]["note"]
    assert (
        "TargetSpace at k = 2 has Jaccard@10 (cosine kNN) 0.764 on the folds and 0.978 on the test rows, a "
        "larger difference than that between folds" in note
    )
    assert (
        "Means over labels are of at least 50 of the 53 labels: the other three have too few rows in some fold" in note
    )
    level = worded(scored(0.83, labels=50))["verdict"]["note"]
    assert "on the folds" not in level and "Means over labels" not in level
    assert "the other one has too few rows" in worded(scored(0.8, labels=51))["verdict"]["note"]


def test_why_no_map_is_judged_is_said():
    summary = scored(0.8)
    axis = summary["best"][0] | {"components": 1}
    said = "No map is judged: TargetSpace gives one axis, and a map has two"
    assert said in worded(summary | {"leaderboard": [axis]})["verdict"]["note"]
    assert said not in worded(summary | {"leaderboard": summary["best"]})["verdict"]["note"]
    assert said not in worded(summary | {"leaderboard": [axis | {"rival": True}]})["verdict"]["note"]


CUT, HALF = [[400, 70], [30, 100]], [[460, 10], [110, 20]]  # rows without and with a label, by what is predicted


def decided(cut, half=None, counts=(("churned", 130),), **more):
    """A summary whose choice has counts of its decisions on the test rows, per label."""
    summary = scored(0.8, labels=len(counts), label_counts=[list(each) for each in counts], **more)
    arrays = (np.array(each).transpose(1, 2, 0).tolist() for each in (cut, half or cut))
    summary["best"][0]["decisions"] = list(arrays)
    return summary


def test_why_no_small_size_is_judged_is_said():
    summary = scored(0.8)
    reads = summary["best"][0] | {"reads_features": True}
    said = "No small size is judged: the predictions of TargetSpace read the features and not their numbers"
    assert said in worded(summary | {"leaderboard": [reads]})["verdict"]["note"]
    other = reads | {"arm": "OPLS", "reads_features": False}
    assert "No small size" not in worded(summary | {"leaderboard": [reads, other]})["verdict"]["note"]


def test_how_many_rows_with_a_label_the_saved_model_finds_is_said_with_its_false_alarms():
    verdict = worded(decided([CUT], [HALF]))["verdict"]
    assert verdict["goals"]["predict"]["answers"] == verdict["answers"] and verdict["answers"] in verdict["text"]
    assert verdict["answers"] == (
        "On the test rows the model of the training rows finds 100 of 130 rows with “churned” (sensitivity 77 %), with "
        "70 false alarms among 470 others (specificity 85 %); with --cut 0.5 it finds 20 (15 %), with 10 false alarms "
        "(specificity 98 %). Of all answers on these rows 17 % are wrong (20 % with --cut 0.5); always “no” "
        "would be wrong in 22 %."
    )
    card = verdict_card(verdict)
    assert "100 of 130 rows with “churned”" in card.replace("<wbr>", "").replace("\u00a0", " ")
    run = Run("proxembed.search('t.csv', labels='churned')")
    assert "20 % with predict_proba above 0.5)" in worded(decided([CUT], [HALF]), run=run)["verdict"]["answers"]
    few = worded(decided([[[470, 0], [29, 1]]], [[[469, 1], [30, 0]]]))["verdict"]["answers"]
    assert "with 0 false alarms" in few and "(specificity 100 %)" in few
    assert "1 false alarm (specificity above 99 %)" in few


def test_few_labels_are_named_one_by_one_and_many_are_counted_together():
    two = worded(decided([CUT, CUT], [HALF, CUT], (("a", 130), ("b", 130))))["verdict"]["answers"]
    assert "100 of 130 rows with “a” (sens" in two and "; 100 of 130 rows with “b” (sens" in two
    assert "Of all answers, one per label, on these rows 17 % are wrong (18 % with --cut 0.5)" in two
    assert two.endswith("; to predict no label would be wrong in 22 %.")
    counts = tuple((name, 20) for name in "abcdefg")
    many = worded(decided([CUT], [HALF], counts))["verdict"]["answers"]
    assert "finds 100 of the 130 labels of these rows (sensitivity 77 %)" in many


def test_of_two_classes_the_rarer_one_is_found_and_classes_have_no_cut():
    other = [[CUT[1][1], CUT[1][0]], [CUT[0][1], CUT[0][0]]]
    two = worded(decided([other, CUT], None, (("benign", 470), ("malignant", 130)), single_label=True))
    assert two["verdict"]["answers"] == (
        "On the test rows the model of the training rows finds 100 of 130 rows with “malignant” (sensitivity 77 %), "
        "with 70 false alarms among 470 others (specificity 85 %). Of all answers on these rows 17 % are wrong; always "
        "“benign” would be wrong in 22 %."
    )


@pytest.mark.parametrize("together", [False, True])
def test_of_more_classes_it_is_said_how_many_rows_are_wrong(together):
    classes = [[[138, 2], [3, 57]], [[146, 4], [1, 49]], [[107, 3], [5, 85]]]
    counts = [np.sum(classes, axis=0)] if together else classes
    summary = decided(counts, None, (("a", 60), ("b", 50), ("c", 90)), single_label=True)
    assert worded(summary)["verdict"]["answers"] == (
        "On the test rows the model of the training rows is wrong in 9 of 200 rows (4 %); always “c”, the commonest "
        "class, would be wrong in 55 %."
    )
    nested = worded({**summary, "nested": {"folds": 10, "repeats": 1, "chosen": []}})["verdict"]["answers"]
    assert "models chosen without these are wrong in 9 of 200 rows" in nested


def test_answers_are_those_of_the_model_that_is_saved():
    summary = decided([CUT], [HALF])
    assert not worded({**summary, "saved": {"arm": "PCA", "k": 2, "rival": True}})["verdict"]["answers"]
    assert not worded(scored(0.8, labels=50))["verdict"]["answers"], "decisions were not scored"
    run = Run("proxembed search t.csv --labels churned -o out", "out")
    goal = worded(summary, run=run)["verdict"]["goals"]["predict"]
    assert "--cut 0.5 predicts what is more probable" in goal["command_note"] and "100 of" not in goal["command_note"]
    nested = {**summary, "nested": {"folds": 10, "repeats": 1, "chosen": []}}
    anew = worded(nested)["verdict"]["answers"]
    assert anew.startswith("On rows held out in nested folds, models chosen without these find 100 of 130 rows with")
    assert "; with --cut 0.5 they find 20 (15 %)" in anew


def test_the_largest_size_tried_is_called_so():
    summary = scored(0.8)
    goal = better(reads_features=False, measure=NEAR, k=9, components=9)
    summary["verdict"]["goals"] = {"neighbours": {"rows": 445, **goal}}
    tried = [{**summary["best"][0], "arm": goal["arm"], "k": k} for k in (5, 9)]
    for entries, said in ((tried, True), (tried[1:], False), ([*tried, {**tried[0], "k": 12}], False)):
        sentence = worded({**summary, "leaderboard": entries})["verdict"]["goals"]["neighbours"]["sentence"]
        assert ("at k = 9 (the largest size tried), Jaccard@10" in sentence) == said


def test_neighbours_in_the_features_are_named_where_they_predict_as_well_as_ours():
    """.966 by the linear model of all features, .995 by ours, with a margin of .005."""
    near = AP.replace("ridge", "cosine kNN")
    for value, said in ((0.994, True), (0.98, False), (None, False)):
        summary = scored(0.8)
        whole = {"arm": "all features", "k": None, "components": 50, "rival": True}
        summary["best"].append(whole | {"scores": {near: {"mean": 0.9, "test": value}}})
        summary["verdict"]["goals"] = {"predict": {"rows": 445, **better(value=0.995, margin=0.005)}}
        plain = worded(summary)["verdict"]["goals"]["predict"]["plain"]
        assert ("; so do the ten nearest rows in all features (.99)" in plain) == said
        title = worded(summary)["verdict"]["goals"]["predict"]["said"]
        assert title.endswith("; the ten nearest rows in all features predict as well") == said


def test_level_without_copies_is_that_of_the_mean_over_labels():
    alone = {"rows": 9, "goals": {"predict": {"word": "level", "value": 0.9, "base": 0.89, "interval": [-0.01, 0.02]}}}
    summary = scored(0.8)
    summary["verdict"]["without_copies"] = alone
    assert (
        "; level in the mean over labels without copied rows" in worded(summary)["verdict"]["goals"]["predict"]["said"]
    )
