"""Facts beside the verdict."""

from proxembed.report import views


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
