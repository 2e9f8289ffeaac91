"""Facts beside the verdict, and the labels that are served worse."""

import numpy as np
import pytest

from proxembed.report import label_section, reliability_section, views
from proxembed.report.next_steps import Run


def test_the_tile_names_the_choice_where_another_leads_on_the_folds_of_the_comparison():
    scores = {"m": {"mean": 0.5, "standard_error": None, "test": 0.4}}
    best = [{"arm": arm, "k": 2, "rival": False, "scores": scores} for arm in ("OPLS", "Kernelized(OPLS)")]
    summary = {"measures": ["m"], "best": best, "folds": ["1"], "seconds": 1.0}
    assert views.tiles({"summary": summary})[0]["value"] == "OPLS"
    chosen = {**summary, "choice": {"method": "Kernelized(OPLS)", "k": 2}}
    assert views.tiles({"summary": chosen})[0]["value"] == "Kernelized(OPLS)"
    best[0] |= {"k": 52, "components": 51}
    note = views.tiles({"summary": summary})[0]["note"]
    assert note == "k = 52 (the training rows give 51 components)"


def test_the_mean_of_one_configuration_is_not_that_of_a_winner():
    choice = {"method": "OPLS", "k": 2, "mean": 0.7, "score": 0.69, "folds": 5, "anchored": False}
    told = {n: views.choice_text({"choice": choice | {"configurations": n}}) for n in (1, 40)}
    assert " is 0.700. If" in told[1] and told[1].endswith("what is chosen scores 0.690 on the folds left out.")
    assert " is 0.700, the best of 40 configurations. If" in told[40]
    kept = {"choice": choice | {"configurations": 3, "anchored": True, "ahead": "FDA at k = 4"}}
    said = " was ahead by less than one standard error; OPLS is kept unless another is ahead by more."
    assert views.choice_text(kept).endswith(f" FDA at k = 4{said}")
    del kept["choice"]["ahead"]
    assert views.choice_text(kept).endswith(f" Another one{said}"), "of an earlier version"


def test_folds_of_search_and_comparison_are_told_apart():
    choice = {"method": "OPLS", "k": 2, "mean": 0.7, "score": 0.69, "folds": 8, "anchored": False, "configurations": 3}
    told = views.choice_text({"choice": choice, "folds": [*"12345"]})
    assert "Its mean over the 8 folds of the search (other folds than the 5 of the comparison) is 0.700" in told
    scores = {"m": {"mean": 0.5, "standard_error": None, "test": 0.4}}
    best = [{"arm": "OPLS", "k": 2, "rival": False, "scores": scores}]
    found = views.tiles({"summary": {"measures": ["m"], "best": best, "folds": [*"12345"], "seconds": 1.0}})
    assert found[-1]["note"] == "5 folds of the comparison"


def panel(title, **more):
    return {"title": title, "x": [0.0, 1.0], "y": [0.0, 1.0], "directions": [], **more}


def test_the_map_of_the_verdict_comes_first_and_is_shown_beside_every_form():
    found = {"panels": [panel("PCA"), panel("ours"), panel("judged", judged=True), panel("ours", laid_out=True)],
             "labels": ["a"], "members": [[0], []], "shown": 2, "held_out": 2}  # fmt: skip
    view = views.map_view(found, False)
    assert [each["title"] for each in view["panels"]] == ["judged at k = 2", "PCA", "ours", "ours"]
    assert [each["places"] for each in view["panels"]] == ["0 plane", "plane", "plane", "0"]
    dense = {"across": 2, "sets": [[0]], "set": [0, 0], "rows": 2, "panels": [[0, 0], [0, 0], [5, 5], [0, 0]]}
    first, second = views.map_view({**found, "density": dense}, False)["panels"][:2]
    assert first["paths"] != second["paths"]


def test_it_is_said_which_model_the_map_shows_and_which_the_verdict_judges():
    goal = {"arm": "FDA", "k": 2, "measure": "Jaccard@10 (cosine kNN)", "value": 0.5581}
    summary = {"verdict": {"goals": {"map": goal}}, "choice": {"method": "OPLS", "k": 5}}
    judged = "FDA at k = 2 (Jaccard@10 (cosine kNN) 0.558)"
    first = views.map_words(summary, {"panels": [panel("FDA", judged=True)]})
    assert first.startswith(f"The first picture is the map that the verdict “Map” is of: {judged}.")
    other = views.map_words(summary, {"panels": [panel("OPLS")]})
    assert f"of another map than these pictures show, that of {judged}" in other and "--goal map" in other
    scores = views.map_words(summary, {"panels": [panel("OPLS", judged=True)], "scores": {}})
    assert f"map of {judged}, which is not drawn here. These" in scores
    run = Run("proxembed search a.csv --labels=y --goal predict --max-work 60 -o a", "a")
    command = "proxembed map a.csv --labels=y --method FDA --layout components -o map.html"
    drawn = views.map_words(summary, {"panels": [], "scores": {}}, run)
    assert f"not drawn here: `{command}` draws one of this method. These" in drawn
    folds = [
        {"arm": arm, "k": 2, "scores": {goal["measure"]: {"mean": mean}}} for arm, mean in (("FDA", 0.6), ("OPLS", 0.5))
    ]
    above = {"panels": [panel("FDA", judged=True), panel("OPLS", score=0.7)]}
    assert views.map_words({**summary, "leaderboard": folds}, above).endswith(
        " The picture of OPLS has a higher figure on these rows, but it was not chosen: maps are chosen on the "
        "training folds, where FDA has 0.600 and OPLS at k = 2 0.500."
    )
    below = {"panels": [panel("FDA", judged=True), panel("OPLS", score=0.5)]}
    assert "training folds" not in views.map_words({**summary, "leaderboard": folds}, below)
    laid = {"panels": [panel("FDA", judged=True), panel("OPLS", score=0.6, laid_out=True)]}
    higher = views.map_words(summary, laid)
    assert higher.endswith(
        " Maps that are laid out have higher figures here; they were not chosen, as this search compares maps of two "
        "components alone: a search with --goal map compares them, too."
    )
    call = Run("proxembed.search(X, y)")
    for shown in (laid, {"panels": [panel("OPLS")]}):
        told = views.map_words(summary, shown, call)
        assert "earch with goal='map'" in told and "--" not in told
    for_maps = {**summary, "verdict": {**summary["verdict"], "asked": "map"}}
    lower = {"panels": [panel("FDA", judged=True), panel("OPLS", score=0.5, laid_out=True)]}
    assert "laid out" not in views.map_words(for_maps, laid) + views.map_words(summary, lower)
    same = {**summary, "choice": {"method": "FDA", "k": 2}}
    assert views.map_words(same, {"panels": [panel("FDA")]}).endswith(f"shown here, {judged}.")
    assert views.map_words({"verdict": {"goals": {}}}, {"panels": []}) == ""


def test_the_table_of_labels_says_how_many_labels_are_compared():
    row = {"label": "a", "n": 3, "ap_raw": 0.5, "ap_embedded": 0.6}
    view = views.label_view([row, {**row, "label": "b", "ap_raw": None}])
    assert (view["all"], view["compared"]) == (2, 1)


@pytest.mark.parametrize(
    ("raw", "embedded", "chance", "worse"),
    [
        (0.5, 0.489, 0.1, False), (0.5, 0.487, 0.1, True),  # 3 % of .4
        (0.9, 0.895, 0.1, False), (0.9, 0.893, 0.1, True),  # 6 % of .1
        (0.06, 0.059, 0.04, True), (0.04, 0.01, 0.04, False),  # nothing above chance to lose
        (0.5, 0.486, np.nan, False), (0.5, 0.484, np.nan, True),  # a record without chance: 3 % of .5
        (np.nan, 0.1, 0.0, False),
    ],
)  # fmt: skip
def test_a_label_is_served_worse_by_more_than_counts_as_level(raw, embedded, chance, worse):
    table = label_section(["a"], [9], [raw], [embedded], chance=[chance])
    assert views.label_view(table, 0.03)["rows"][0]["worse"] is worse


def test_the_reliability_curve_has_a_dot_per_bin_with_wilsons_interval():
    assert reliability_section([], [], [], 0, 40) is None and views.reliability_view(None) is None
    section = reliability_section(np.array([0.1, 0.9]), np.array([0.0, 0.8]), np.array([30.0, 10.0]), 2, 20)
    assert section["error"] == pytest.approx(0.1) and section["rows"] == 20
    plot = views.reliability_view(section)
    first, second = plot["dots"]
    assert plot["left"] < first["x"] < second["x"] < plot["right"] and first["y"] == plot["bottom"]
    assert plot["top"] < second["high"] < second["y"] < second["low"] < plot["bottom"] and plot["sizes"] == "10 to 30"
    assert views.share_interval(0.8, 10) == pytest.approx((0.943, 0.8, 0.490), abs=1e-3)


def test_the_brier_score_stands_beside_average_precision():
    names = ["macro average precision (ridge)", "Jaccard@10 (cosine kNN)"]
    summary = {"measures": names, "further_measures": ["macro F1 (ridge)", "Brier score (ridge)"]}
    assert views.board_measures(summary) == [names[0], "Brier score (ridge)", names[1]]
    assert views.board_measures({**summary, "measures": names[::-1]}) == names[::-1]


def test_the_best_map_that_was_laid_out_and_not_compared_is_above_the_judged_one():
    verdict = {"asked": None, "goals": {"map": {"value": 0.55}}}
    panels = [panel("PCA", score=0.9), panel("PCA", score=0.6, laid_out=True)]
    panels += [panel("OPLS", score=0.7, laid_out=True), panel("OPLS on shuffled labels", score=0.8, laid_out=True)]
    found = views.best_laid_out({"verdict": verdict}, {"panels": panels})
    assert found == {
        "title": "OPLS", "score": 0.7, "without_labels": {"title": "PCA", "score": 0.6, "kept": None},
    }  # fmt: skip
    panels[1]["score"] = 0.5
    assert "without_labels" not in views.best_laid_out({"verdict": verdict}, {"panels": panels})
    assert views.best_laid_out({"verdict": verdict | {"asked": "map"}}, {"panels": panels}) is None
    lower = {"asked": None, "goals": {"map": {"value": 0.75}}}
    assert views.best_laid_out({"verdict": lower}, {"panels": panels}) is None
