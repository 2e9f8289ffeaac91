"""Facts beside the verdict, and the labels that are served worse."""

import numpy as np
import pytest

from proxembed.report import label_section, views


def test_the_tile_names_the_choice_where_another_leads_on_the_folds_of_the_comparison():
    scores = {"m": {"mean": 0.5, "standard_error": None, "test": 0.4}}
    best = [{"arm": arm, "k": 2, "rival": False, "scores": scores} for arm in ("OPLS", "Kernelized(OPLS)")]
    summary = {"measures": ["m"], "best": best, "folds": ["1"], "seconds": 1.0}
    assert views.tiles({"summary": summary})[0]["value"] == "OPLS"
    chosen = {**summary, "choice": {"method": "Kernelized(OPLS)", "k": 2}}
    assert views.tiles({"summary": chosen})[0]["value"] == "Kernelized(OPLS)"


def test_the_mean_of_one_configuration_is_not_that_of_a_winner():
    choice = {"method": "OPLS", "k": 2, "mean": 0.7, "score": 0.69, "folds": 5, "anchored": False}
    told = {n: views.choice_text({"choice": choice | {"configurations": n}}) for n in (1, 40)}
    assert told[1].endswith("scores 0.690 there; its mean is 0.700.")
    assert told[40].endswith("scores 0.690 there; the mean of the winner among 40 is 0.700.")


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
