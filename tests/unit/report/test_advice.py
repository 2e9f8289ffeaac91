"""What to do about a goal, in words."""

from proxembed.evaluate.verdict import BETTER, LEVEL, WORSE
from proxembed.report.advice import advice, not_saved
from proxembed.report.plain_words import (
    size_words,
)

AP, NEAR = "macro average precision (ridge)", "Jaccard@10 (cosine kNN)"
ALL = {"arm": "all features", "k": None, "value": 0.68}


def test_a_goal_of_another_embedding_than_the_saved_model_says_so():
    goal = {"word": LEVEL, "measure": AP, "components": 1, "features": 72, "value": 0.77, "base": ALL, "d": 72}
    goal |= {"arm": "OPLS", "k": 1, "saved": False}
    assert not_saved("compress", goal, "TargetSpace at k = 2") == (
        "These are figures of OPLS at k = 1, not of the saved model (TargetSpace at k = 2)."
    )
    kept = not_saved("compress", {**goal, "word": WORSE}, "TargetSpace at k = 2")
    assert kept.endswith("(TargetSpace at k = 2); a search with --goal compress looks for the best one and saves it.")
    hidden = not_saved("compress", {**goal, "word": WORSE, "hidden": True}, "logistic regression")
    assert hidden.endswith("(logistic regression); a search with --embedding saves it.")
    assert [not_saved("compress", {**goal, "saved": known}, "") for known in (True, None)] == ["", ""]


def test_sizes_of_which_the_rows_give_fewer_components_say_so():
    assert size_words({"k": 52, "components": 51}) == " at k = 52 (the training rows give 51 components)"
    assert size_words({"k": 2, "components": 1}) == " at k = 2 (the training rows give 1 component)"
    assert size_words({"k": 5, "components": 5}) == " at k = 5" and size_words({"k": None}) == ""
    goal = {"word": BETTER, "measure": NEAR, "components": 51, "value": 0.77, "base": ALL, "arm": "OPLS", "k": 52}
    assert advice("neighbours", {**goal, "saved": True}) == (
        "use OPLS at k = 52 (the training rows give 51 components; the saved model) to find neighbours."
    )


def test_outside_the_fit_of_a_lookup_the_advice_is_what_is_highest_there():
    lookup = {"arm": "label lookup", "k": None, "value": 0.8}
    goal = {"word": BETTER, "measure": NEAR, "value": 0.77, "base": ALL, "k": 5, "components": 5, "arm": "OPLS"}
    goal |= {"margin": 0.01, "rival": lookup, "saved": True}
    among = {"value": 0.364, "base": 0.35, "rival": 0.342}

    def told(**other):
        return advice("neighbours", goal | {"new_rows": among | other}).partition("; else ")[2]

    beaten, where = {"arm": "PCA", "k": 5, "components": 5, "value": 0.36}, "between rows that were not in the fit"
    assert told(best_rival=beaten).startswith(
        f"use OPLS at k = 5 (the saved model), which has 0.364 {where} (PCA 0.360"
    )
    unsure = told(best_rival=beaten | {"value": 0.4, "interval": (-0.07, 0.01)})
    assert unsure.startswith(f"use OPLS at k = 5 (the saved model), which has 0.364 {where} (PCA 0.400"), (
        "not for certain"
    )
    ahead = told(best_rival=beaten | {"value": 0.4, "interval": (-0.07, -0.01)})
    others = "the embedding 0.364, all features 0.350, label lookup 0.342"
    assert ahead == f"use PCA at k = 5, which has 0.400 {where} ({others})."
    features = told(base=0.41, interval=(-0.07, -0.02), best_rival=beaten)
    others = "the embedding 0.364, PCA 0.360, label lookup 0.342"
    assert features == f"keep the features, which have 0.410 {where} ({others})."
    assert not told(best_rival=lookup | {"components": 0, "value": 0.342}, value=0.3, base=0.3)


def test_neighbours_in_the_features_that_predict_as_well_are_a_choice():
    goal = {"word": BETTER, "measure": AP, "components": 5, "value": 0.77, "base": ALL, "arm": "OPLS", "k": 5}
    assert advice("predict", goal) == "use OPLS at k = 5 to predict."
    told = advice("predict", {**goal, "by_neighbours": 0.77})
    assert told == "use OPLS at k = 5 to predict, or the ten nearest rows in all features, which do as well."
    rival = {"arm": "logistic regression", "k": None, "value": 0.77, "interval": (-0.002, 0.002)}
    told = advice("predict", {**goal, "by_neighbours": 0.77, "rival": rival, "margin": 0.005})
    assert told == (
        "use OPLS at k = 5 to predict, or take logistic regression, which is as good as the embedding; the ten nearest "
        "rows in all features do as well."
    )


def test_a_rival_of_a_goal_that_was_not_searched_for_may_be_overtaken():
    rival = {"arm": "forest scores", "k": None, "value": 0.9}
    goal = {"word": BETTER, "measure": NEAR, "components": 5, "value": 0.77, "base": ALL, "arm": "OPLS", "k": 5}
    goal |= {"rival": rival, "asked": "predict"}
    assert advice("neighbours", goal) == "find neighbours with forest scores."
    end = "; a search with --goal neighbours compares embeddings that are chosen for this goal."
    assert advice("neighbours", goal | {"short_search": True}).endswith(end)
    assert (
        advice("neighbours", goal | {"short_search": True, "asked": "neighbours"})
        == "find neighbours with forest scores."
    )
