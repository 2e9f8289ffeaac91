"""The verdict per goal: words over all orders of an interval, rows that would tell, baselines, the smallest size."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.special import stdtr

from proxembed.evaluate.results import Results
from proxembed.evaluate.verdict import (
    BETTER,
    CANNOT_TELL,
    LEVEL,
    WORSE,
    FoldGains,
    Margins,
    corrected,
    decisions_of,
    feature_count,
    judge,
    loss_margin,
    neighbor_measure,
    new_neighbor_measure,
    predict_measure,
    rows_needed,
    smallest_keeping,
    word,
)

AP, NEAR = "macro average precision (ridge)", "Jaccard@10 (cosine kNN)"
SIZES = [{"train": 80, "held_out": 20}] * 3


def entry(arm, k, near=0.5, ap=0.5, rival=False, spread=0.001, **more):
    """An entry whose folds lie closely around its means."""
    scores = {
        name: {"mean": mean, "by_fold": [mean - spread, mean, mean + spread], "test": None}
        for name, mean in ((AP, ap), (NEAR, near))
    }
    return {"arm": arm, "rival": rival, "k": k, "components": k or 50, "scores": scores, "hub": 0.0, **more}


RAW = entry("all features", None, rival=True)


def goals(*entries, same=0.1, constant=0.1, tolerance=0.03, asked=None, raw=RAW, **facts):
    found = judge(
        [*entries, raw], [AP, NEAR], FoldGains(SIZES), entry("same", None, near=same, ap=constant),
        facts={"d": 50, **facts}, tolerance=tolerance, asked=asked,
    )  # fmt: skip
    return found["goals"]


def test_words_over_all_orders_of_the_interval_the_margin_and_zero():
    low, high, margin = 0.1, 0.2, 0.03
    assert [word(0, i, margin) for i in ((low, high), (-0.01, high), (-high, -low), (-high, high))] == [
        BETTER, LEVEL, WORSE, CANNOT_TELL,
    ]  # fmt: skip
    for ends in permutations((-0.3, -0.1, -0.02, 0.02, 0.1), 2):
        low, high = sorted(ends)
        said = word((low + high) / 2, (low, high), margin)
        assert (said == BETTER) == (low > 0)
        assert (said == LEVEL) == (-margin <= low <= 0)
        assert (said == WORSE) == (high < -margin)
        assert (said == CANNOT_TELL) == (low < -margin <= high)
    assert word(0.0, (-margin, 0.0), margin) == LEVEL and word(-margin, (-0.1, -margin), margin) == CANNOT_TELL
    assert word(0.5, None, margin) == CANNOT_TELL


def test_the_rows_that_would_tell_shrink_the_interval_to_the_margin():
    for gain, half in product((-0.02, 0.0, 0.02), (0.06, 0.1)):
        rows = rows_needed(200, gain, (gain - half, gain + half), 0.03)
        shrunk = half * np.sqrt(200 / rows)
        assert gain - shrunk >= -0.03 - 1e-12 > gain - half * np.sqrt(200 / (rows - 1))
    behind = rows_needed(200, -0.05, (-0.11, 0.01), 0.03)
    assert behind == 1800 and -0.05 + 0.06 * np.sqrt(200 / behind) <= -0.03 + 1e-12, "that would show it to be worse"
    assert rows_needed(200, -0.03, (-0.1, 0.04), 0.03) is None is rows_needed(200, 0.0, None, 0.03)


def test_each_goal_is_judged_by_its_own_measure():
    found = goals(entry("OPLS", 5, near=0.6, ap=0.4))
    assert (found["neighbours"]["word"], found["predict"]["word"]) == (BETTER, WORSE)
    assert found["neighbours"]["measure"] == NEAR and found["predict"]["gain"] == pytest.approx(-0.1)


def test_what_equals_all_features_is_level():
    found = goals(entry("OPLS", 5))
    assert [found[name]["word"] for name in ("neighbours", "predict", "compress")] == [LEVEL] * 3


def test_neighbours_are_better_only_above_the_same_rows_for_every_query():
    ours = entry("OPLS", 5, near=0.6)
    found = goals(ours, same=0.45)["neighbours"]
    assert found["word"] == BETTER and found["same_rows"] == found["chance"] == 0.45
    unsure, raw = entry("OPLS", 5, near=0.6, spread=0.05), entry("all features", None, rival=True, spread=0.05)
    behind = goals(unsure, same=0.49, raw=raw)["neighbours"]  # each fold .1 ahead, but the constant is the same on all
    assert behind["word"] == CANNOT_TELL and behind["base"]["arm"] == "same" and behind["same_rows"] == 0.49
    assert behind["rows_needed"] > behind["rows"], "that is no matter of a margin"


def test_a_map_is_judged_against_the_best_two_coordinates_of_a_rival():
    rivals = [entry("PCA", 2, near=0.45, rival=True), entry("PCA", 5, near=0.8, rival=True)]
    found = goals(entry("OPLS", 2, near=0.5), entry("OPLS", 5, near=0.9), *rivals)["map"]
    assert (found["word"], found["k"], found["base"]["arm"], found["gain"]) == (BETTER, 2, "PCA", pytest.approx(0.05))
    assert "map" not in goals(entry("OPLS", 5), *rivals)


def test_one_axis_is_not_a_map():
    """At k = 2 of which the training rows give one component."""
    axis, rival = entry("OPLS", 2, near=0.6) | {"components": 1}, entry("PCA", 2, near=0.4, rival=True)
    assert "map" not in goals(axis, rival) and "map" not in goals(axis, rival, asked="map")
    two = entry("TargetSpace", 2, near=0.5)
    assert goals(axis, two, rival)["map"]["arm"] == "TargetSpace"
    assert "map" not in goals(two, rival | {"components": 1}), "nor is that of a rival"


def test_the_highest_other_map_on_test_rows_is_named_where_another_is_best_on_the_folds():
    rivals = [entry("PCA", 2, near=0.45, rival=True), entry("FDA", 2, near=0.4, rival=True)]
    values = {"PCA": 0.4, "FDA": 0.44, "same": 0.1}
    gains = FoldGains(SIZES)
    gains.value = lambda each, name: values.get(each["arm"], 0.5)
    ours, same = entry("OPLS", 2, near=0.5), entry("same", None, near=0.1, ap=0.1)
    found = judge([ours, *rivals, RAW], [AP, NEAR], gains, same, facts={"d": 50})["goals"]["map"]
    assert found["base"]["arm"] == "PCA" and found["highest"] == {"arm": "FDA", "k": 2, "value": 0.44}


def test_new_rows_have_the_figure_of_the_rival_too():
    new, each = f"new-new {NEAR}", {}
    for arm, value, rival in (
        ("OPLS", 0.6, False),
        ("all features", 0.5, True),
        ("label lookup", 0.45, True),
        ("PCA", 0.55, True),
    ):
        each[arm] = entry(arm, 5 if arm == "OPLS" else None, near=0.7 if arm == "label lookup" else value, rival=rival)
        each[arm]["scores"][new] = {"mean": value, "by_fold": [value] * 3, "test": None}
    same = entry("same", None, near=0.1, ap=0.1)
    found = judge(list(each.values()), [AP, NEAR, new], FoldGains(SIZES), same, facts={"d": 50})["goals"]["neighbours"]
    among = found["new_rows"]
    assert found["rival"]["arm"] == "label lookup" and among["rival"] == 0.45
    assert among["best_rival"]["arm"] == "PCA" and among["best_rival"]["value"] == 0.55


def test_the_smallest_size_is_one_that_all_larger_ones_keep_too():
    sizes = {1: 0.49, 2: 0.4, 5: 0.495, 10: 0.5}
    ours = [entry("OPLS", k, near=v, ap=v) for k, v in sizes.items()]
    margins = Margins(0.03, entry("same", None, near=0.1, ap=0.1))  # .012
    assert smallest_keeping(ours, RAW, (AP, NEAR), margins)["k"] == 5, "2 does not keep it, so that 1 was lucky"
    level = [*ours, entry("PLS", 5, near=0.491, ap=0.491)]
    assert smallest_keeping(level, RAW, (AP, NEAR), margins)["arm"] == "OPLS"
    chosen = smallest_keeping(level, RAW, (AP, NEAR), margins, ("PLS", 5))
    assert chosen["arm"] == "PLS", "of equal sizes it is the one that is saved"
    assert smallest_keeping(level, RAW, (AP, NEAR), margins, ("OPLS", 10))["k"] == 5
    found = goals(*ours, entry("PCA", 10, rival=True))["compress"]
    assert (found["k"], found["word"], found["bytes"], found["bytes_all_features"]) == (5, LEVEL, 20, 200)
    assert found["rivals"] == {"PCA": 10} and found["shares"][AP]["share"] == pytest.approx(0.99)


def test_neighbours_are_better_only_if_those_of_other_rows_agree_less():
    for score, said in ((5.0, BETTER), (1.5, CANNOT_TELL), (-3.0, CANNOT_TELL), (None, BETTER)):
        own = goals({**entry("OPLS", 5, near=0.6), "exchanged": score})["neighbours"]
        assert own["word"] == said and (said == BETTER or "other rows agree as well" in own["few"])
    assert goals({**entry("OPLS", 5, ap=0.6), "exchanged": 0.0})["predict"]["word"] == BETTER, "of neighbours alone"


def test_a_method_that_predicts_from_the_features_compresses_nothing():
    own = {**entry("TargetSpace", 1, near=0.6, ap=0.6), "reads_features": True}
    found = goals(own, entry("OPLS", 5, near=0.5, ap=0.5))
    assert (found["predict"]["arm"], found["predict"]["reads_features"]) == ("TargetSpace", True)
    assert found["compress"]["arm"] == "OPLS" and "compress" not in goals(own)


def test_decisions_of_nested_folds_are_the_mean_over_the_repeats_and_those_of_many_labels_one():
    results = Results("data", {}, folds={name: {} for name in ("1.1", "1.2", "2.1", "2.2")})
    results.repeats = [["1.1", "1.2"], ["2.1", "2.2"]]
    each = np.arange(16.0).reshape(2, 2, 2, 2)
    for times, name in enumerate(results.folds, 1):
        results.decisions["a", 2, name] = times * each
    assert np.array_equal(decisions_of(results, ("a", 2)), 10 * each / 2)
    many = np.arange(40.0).reshape(2, 2, 2, 5)
    for name in results.folds:
        results.decisions["b", 2, name] = many
    assert np.array_equal(decisions_of(results, ("b", 2)), 2 * many.sum(axis=-1, keepdims=True))
    del results.decisions["a", 2, "2.1"]
    assert decisions_of(results, ("a", 2)) is None


def test_both_measures_must_be_kept():
    found = goals(entry("OPLS", 2, near=0.5, ap=0.3), entry("OPLS", 5, near=0.3, ap=0.5))["compress"]
    assert found["word"] == WORSE and not found["kept_on_folds"] and found["k"] == 5


def test_the_numbers_that_a_table_becomes_are_counted_in_place_of_its_columns():
    found = goals(entry("OPLS", 5), d=6, nonzero_share=0.8)["compress"]
    assert (found["d"], found["bytes"], found["bytes_all_features"]) == (50, 20, None)


def test_sparse_features_are_counted_by_their_nonzero_entries():
    assert goals(entry("OPLS", 5), d=1000, nonzero_share=0.01)["compress"]["bytes_all_features"] == 120
    assert goals(entry("OPLS", 5), d=1000, nonzero_share=0.9)["compress"]["bytes_all_features"] == 4000


def test_few_rows_cannot_tell_and_the_rows_that_would_are_said():
    found = goals(entry("OPLS", 5, spread=0.2))["predict"]
    assert found["word"] == CANNOT_TELL and found["rows_needed"] > found["rows"] == 60


def test_what_a_baseline_equals_in_every_fold_is_not_better():
    """The choice on other folds takes another baseline, which is below ours on the fold itself."""
    ours = entry("OPLS", 2, near=0.6)
    ours["scores"][NEAR]["by_fold"] = [0.6, 0.6, 0.6]
    equal, unsteady = (entry(arm, 2, near=0.6, rival=True) for arm in ("PLS", "PCA"))
    equal["scores"][NEAR]["by_fold"] = [0.6, 0.6, 0.6]
    unsteady["scores"][NEAR] |= {"by_fold": [0.75, 0.51, 0.51], "mean": 0.59}
    alone, found = goals(ours, unsteady)["map"], goals(ours, equal, unsteady)["map"]
    assert alone["gain"] > 0 and alone["ties"] == []
    assert found["gain"] == 0 and found["word"] == LEVEL and found["ties"] == ["PLS"]


def test_the_measures_of_goals_are_found_by_their_names():
    names = [NEAR, f"new-new {NEAR}", AP]
    assert (neighbor_measure(names), new_neighbor_measure(names), predict_measure(names)) == tuple(names)


def test_all_features_are_as_many_numbers_as_their_cells_become():
    assert feature_count([{"arm": "all features", "components": 79}], 6) == 79 and feature_count([], 6) == 6


def test_the_loss_that_is_level_is_a_share_of_what_all_features_gain_or_twice_of_what_they_miss():
    assert loss_margin(0.5, 0.1, 1.0, 0.03) == pytest.approx(0.03 * 0.4)
    assert loss_margin(0.9, 0.1, 1.0, 0.03) == pytest.approx(0.03 * 2 * 0.1)
    assert loss_margin(0.06, 0.04, 1.0, 0.03) == pytest.approx(0.03 * 0.02)
    assert loss_margin(0.5, 0.1, np.inf, 0.03) == pytest.approx(0.03 * 0.4), "a measure without bound"
    assert loss_margin(-3.0, None, np.inf, 0.03) == pytest.approx(0.09), "no constant to gain over"
    assert loss_margin(0.04, 0.04, 1.0, 0.03) is None is loss_margin(0.03, 0.04, 1.0, 0.03)
    assert loss_margin(0.0, 0.5, 0.0, 0.03, loss=True) == 0


def test_near_a_best_value_of_1_a_loss_that_two_decimals_do_not_show_is_level():
    assert loss_margin(1.0, 0.5, 1.0, 0.03) == loss_margin(0.96, 0.1, 1.0, 0.03) == 0.005
    assert loss_margin(0.06, 0.04, 1.0, 0.03) == pytest.approx(0.03 * 0.02), "not near chance"
    assert loss_margin(1.0, 0.5, 1.0, 0.0) == 0, "no tolerance"


@pytest.mark.parametrize(("value", "chance"), [(0.7, 0.2), (0.9, 0.2), (0.1, 0.2), (0.2, 0.2)])
def test_the_same_holds_of_a_loss_turned_over(value, chance):
    turned = loss_margin(1 - value, 1 - chance, 0.0, 0.03, loss=True)
    expected = loss_margin(value, chance, 1.0, 0.03)
    assert turned == (None if expected is None else pytest.approx(expected))


def level_at(gain, ap, constant):
    return goals(entry("OPLS", 5, ap=ap + gain), raw=entry("all features", None, ap=ap, rival=True), constant=constant)[
        "predict"
    ]


def test_a_share_of_the_value_itself_is_no_longer_level():
    """3 % of .96 would be .029, and of .06 a tenth of what it is above chance."""
    assert [level_at(gain, 0.96, 0.1)["word"] for gain in (-0.0049, -0.0051)] == [LEVEL, WORSE]
    assert [level_at(gain, 0.06, 0.04)["word"] for gain in (-0.0005, -0.0007)] == [LEVEL, WORSE]
    assert [level_at(gain, 0.5, 0.1)["word"] for gain in (-0.0119, -0.0121)] == [LEVEL, WORSE]
    assert level_at(-0.001, 0.91, 0.1)["margin"] == pytest.approx(0.0054)


@pytest.mark.parametrize("ap", [0.04, 0.03])
def test_beside_all_features_at_chance_only_a_gain_over_both_is_told(ap):
    told = {gain: level_at(gain, ap, 0.04) for gain in (-0.01, 0.0, 0.005, 0.05)}
    words = [found["word"] for found in told.values()]
    above_features_alone = CANNOT_TELL if ap == 0.03 else BETTER  # .035 is not above .04
    assert words == [CANNOT_TELL, CANNOT_TELL, above_features_alone, BETTER]
    assert all(found["margin"] is None and found["rows_needed"] is None for found in told.values())
    assert told[0.0]["base"]["value"] == ap and told[0.0]["chance"] == pytest.approx(0.04)


def test_compression_cannot_be_told_where_all_features_are_at_chance():
    found = goals(entry("OPLS", 2), constant=0.5)["compress"]
    assert found["word"] == CANNOT_TELL and found["at_chance"] == {AP: [0.5, 0.5]} and found["kept_on_folds"]
    assert not goals(entry("OPLS", 2, ap=0.49), constant=0.5)["compress"]["kept_on_folds"], "no loss has a share"


def test_sizes_that_keep_are_told_by_the_same_margin():
    ours = [entry("OPLS", 2, ap=0.489, near=0.5), entry("OPLS", 5, ap=0.5, near=0.5)]
    for constant, k in ((0.1, 2), (0.3, 5)):  # margins .012 and .006
        assert smallest_keeping(ours, RAW, (AP, NEAR), Margins(0.03, entry("same", None, 0.1, constant)))["k"] == k


def test_a_map_is_better_only_above_the_same_rows_for_every_query():
    rival = entry("PCA", 2, near=0.719, rival=True)
    found = goals(entry("OPLS", 2, near=0.732), rival, same=0.735)["map"]
    assert found["word"] == WORSE and found["same_rows"] == found["base"]["value"] == 0.735
    assert found["below_constant"] == {"arm": "PCA", "k": 2, "value": 0.719} and found["highest"] is None
    over = goals(entry("OPLS", 2, near=0.75), rival, same=0.735)["map"]
    assert over["word"] == BETTER and over["gain"] == pytest.approx(0.015) and over["base"]["arm"] == "same"
    assert goals(entry("OPLS", 2, near=0.732), rival, same=0.6)["map"]["word"] == BETTER
    unsure = entry("OPLS", 2, near=0.6, spread=0.05), entry("PCA", 2, near=0.5, rival=True, spread=0.05)
    found = goals(*unsure, same=0.49)["map"]  # the rival is above the same rows, and so are we, but not surely
    assert (found["word"], found["base"]["arm"]) == (CANNOT_TELL, "same")
    assert goals(*unsure, same=0.3)["map"]["word"] == BETTER


def test_the_chosen_map_tells_what_it_keeps_beside_supervised_umap_or_the_best_rival():
    shares = {name: {"kept": {"mean": share}} for name, share in (("own", 0.34), ("best", 0.4), ("near", 0.29))}
    ours = entry("Layout(OPLS)", 2, near=0.6, failures=[], **shares["own"])
    rivals = [entry("PCA", 2, near=0.5, rival=True, **shares["near"]), entry("t-SNE", 2, rival=True, near=0.4)]
    assert goals(ours, *rivals)["map"]["kept"] == {"share": 0.34, "rival": "PCA", "rival_share": 0.29}
    umap = entry("supervised UMAP", 2, near=0.3, rival=True, **shares["best"])
    found = goals(ours, *rivals, umap)["map"]
    assert found["base"]["arm"] == "PCA"
    assert found["kept"] == {"share": 0.34, "rival": "supervised UMAP", "rival_share": 0.4}
    assert goals(entry("OPLS", 2), *rivals)["map"]["kept"] is None
    other = entry("Layout(CCA)", 2, near=0.65)
    given = [other, ours, *rivals, RAW], [NEAR, AP], FoldGains(SIZES), entry("same", None, near=0.1, ap=0.1)
    found = judge(*given, facts={"d": 50}, choice=("Layout(OPLS)", 2), asked="map")["goals"]
    assert found["map"]["arm"] == "Layout(OPLS)", "the map that was chosen, not the best one"


def test_the_p_of_a_goal_of_two_baselines_is_the_larger():
    ours = entry("OPLS", 2, near=0.6, spread=0.01)
    p = [goals(ours, entry("PCA", 2, near=0.5, rival=True), same=same)["map"]["p"] for same in (0.1, 0.58)]
    assert p[0] < p[1] == pytest.approx(2 * stdtr(2, -0.02 / (0.009 * np.sqrt(1 / 3 + 20 / 80))), rel=1e-6)


def tried(**p):
    """Goals that are better, each with its p."""
    return {name: {"word": BETTER, "p": each} for name, each in p.items()}


def test_goals_that_were_not_asked_for_are_corrected_for_their_number():
    p = {"neighbours": 0.01, "predict": 0.02, "map": 0.03}
    found = corrected(tried(**p), None)
    assert [goal["p_holm"] for goal in found.values()] == pytest.approx([0.03, 0.04, 0.04])
    assert {goal["word"] for goal in found.values()} == {BETTER}
    found = corrected(tried(neighbours=0.02, predict=0.03, map=0.001), None)
    assert [goal["word"] for goal in found.values()] == [BETTER, BETTER, BETTER]
    found = corrected(tried(neighbours=0.02, predict=0.03, map=0.04), None)
    assert [goal["word"] for goal in found.values()] == [LEVEL] * 3 and found["map"]["family"] == 3
    assert [goal["p_holm"] for goal in found.values()] == pytest.approx([0.06] * 3)


def test_the_goal_that_was_asked_for_is_not_corrected():
    found = corrected(tried(neighbours=0.02, predict=0.049, map=0.04), "predict")
    assert found["predict"]["word"] == BETTER and found["predict"]["p_holm"] is None
    assert found["neighbours"]["word"] == found["map"]["word"] == BETTER and found["map"]["family"] == 2
    found = corrected(tried(neighbours=0.03, predict=0.049, map=0.04), "predict")
    assert found["neighbours"]["word"] == found["map"]["word"] == LEVEL
    found = corrected(tried(predict=0.02, map=0.03) | {"compress": {"word": LEVEL}}, "compress")
    assert [found[name]["p_holm"] for name in ("predict", "map")] == pytest.approx([0.04, 0.04])
    assert found["compress"] == {"word": LEVEL}


def test_correction_makes_nothing_better_and_counts_only_what_was_tested():
    goals = {"predict": {"word": WORSE, "p": 0.001}, "map": {"word": CANNOT_TELL, "p": None}} | tried(neighbours=0.04)
    found = corrected(goals, None)
    assert [found[name]["word"] for name in goals] == [WORSE, CANNOT_TELL, BETTER]
    assert found["map"]["p_holm"] is None and found["neighbours"]["p_holm"] == pytest.approx(0.04)
    assert found["neighbours"]["family"] == 2


def test_a_verdict_corrects_the_goals_that_it_was_not_asked_for():
    ours = entry("OPLS", 2, near=0.52, ap=0.52, spread=0.001)
    rivals = entry("PCA", 2, near=0.505, rival=True)
    for name in (AP, NEAR):
        ours["scores"][name]["by_fold"] = [0.5155, 0.52, 0.5245]
    raw = entry("all features", None, rival=True, spread=0.0)
    alone = goals(ours, rivals, raw=raw, asked="predict")
    assert 0.025 < alone["predict"]["p"] < 0.05 and alone["predict"]["word"] == BETTER
    assert alone["neighbours"]["word"] == LEVEL and alone["neighbours"]["interval"][0] > 0
    assert goals(ours, rivals, raw=raw)["predict"]["word"] == LEVEL
