"""The verdict per goal: words over all orders of an interval, rows that would tell, baselines, the smallest size."""

from itertools import permutations, product

import numpy as np
import pytest

from proxembed.evaluate.verdict import (
    BETTER,
    CANNOT_TELL,
    LEVEL,
    WORSE,
    FoldGains,
    feature_count,
    judge,
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


def goals(*entries, same=0.1, tolerance=0.03, **facts):
    found = judge(
        [*entries, RAW], [AP, NEAR], FoldGains(SIZES), entry("same", None, near=same), facts={"d": 50, **facts},
        tolerance=tolerance,
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
    assert goals(ours, same=0.55)["neighbours"]["word"] == BETTER
    behind = goals(ours, same=0.7)["neighbours"]
    assert behind["word"] == WORSE and behind["base"]["arm"] == "same" and behind["same_rows"] == 0.7


def test_a_map_is_judged_against_the_best_two_coordinates_of_a_rival():
    rivals = [entry("PCA", 2, near=0.45, rival=True), entry("PCA", 5, near=0.8, rival=True)]
    found = goals(entry("OPLS", 2, near=0.5), entry("OPLS", 5, near=0.9), *rivals)["map"]
    assert (found["word"], found["k"], found["base"]["arm"], found["gain"]) == (BETTER, 2, "PCA", pytest.approx(0.05))
    assert "map" not in goals(entry("OPLS", 5), *rivals)


def test_the_smallest_size_is_one_that_all_larger_ones_keep_too():
    sizes = {1: 0.49, 2: 0.4, 5: 0.495, 10: 0.5}
    ours = [entry("OPLS", k, near=v, ap=v) for k, v in sizes.items()]
    assert smallest_keeping(ours, RAW, (AP, NEAR), 0.03)["k"] == 5, "2 does not keep it, so that 1 was lucky"
    found = goals(*ours, entry("PCA", 10, rival=True))["compress"]
    assert (found["k"], found["word"], found["bytes"], found["bytes_all_features"]) == (5, LEVEL, 20, 200)
    assert found["rivals"] == {"PCA": 10} and found["shares"][AP]["share"] == pytest.approx(0.99)


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
