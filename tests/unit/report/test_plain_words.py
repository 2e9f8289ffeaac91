"""Each goal in one sentence without the name of a method of ours, and the sentence of the page's head."""

from itertools import product

import numpy as np
import pytest

from proxembed.evaluate.verdict import BETTER, CANNOT_TELL, LEVEL, WORSE
from proxembed.report.advice import advice
from proxembed.report.plain_words import (
    Subject,
    counted,
    headline,
    laid_out_words,
    merely_sorts,
    plain_sentence,
    short,
)

AP, NEAR = "macro average precision (ridge)", "Jaccard@10 (cosine kNN)"
LABELS = {"labels": 6, "single_label": False, "label_counts": [["a", 3]]}
ALL = {"arm": "all features", "k": None, "value": 0.68}


def told(name, word, facts=LABELS, k=5, **more):
    goal = {
        "word": word, "measure": AP if name == "predict" else NEAR, "arm": "OPLS", "components": k, "value": 0.77,
        "base": ALL, "rows": 202, "margin": 0.01, "rival": None, "ties": [], "interval": None,
        "shares": {AP: {"share": 0.98}, NEAR: {"share": 0.9}}, **more,
    }  # fmt: skip
    return plain_sentence(name, goal, Subject.of(facts, 72))


def test_the_words_of_a_goal_are_those_of_its_verdict_and_name_no_method():
    for name, word in product(("predict", "neighbours", "map", "compress"), (BETTER, LEVEL, WORSE, CANNOT_TELL)):
        text = told(name, LEVEL if (name, word) == ("compress", BETTER) else word)
        assert "OPLS" not in text and text[0].isupper() and text.endswith(".")
        assert ("too few rows" in text.lower()) == (word == CANNOT_TELL)
    assert told("predict", BETTER) == (
        "Five numbers predict these labels better than a linear model of all 72 features (average precision .77 and "
        ".68, n = 202)."
    )
    assert told("neighbours", WORSE).startswith("Neighbours found by all 72 features share more labels than")
    assert "(agreement .68 and .77, n = 202)" in told("neighbours", WORSE), "figures in the order of the sentence"
    assert told("compress", LEVEL).endswith(
        "keep 98 % of their average precision and 90 % of the agreement of their neighbours."
    )
    none = told("compress", LEVEL, shares={AP: {"share": 1.1}, NEAR: {"share": 0.996}})
    assert "five numbers in place of all 72 features have no loss that counts, neither" in none.lower()


def test_targets_and_sizes_are_named_as_they_are():
    assert told("predict", LEVEL, {**LABELS, "labels": 1, "label_counts": [["churn", 9]]}, k=1).startswith(
        "One number predicts churn as well as a linear model of all 72 features"
    )
    assert "more often of the same class than" in told("neighbours", BETTER, {**LABELS, "single_label": True})
    assert "outputs as similar as" in told("neighbours", LEVEL, {"outputs": ["Cd"]})
    assert told("predict", BETTER, reads_features=True).startswith(
        "The method's own classifier, which reads the features and not the numbers of the embedding, predicts these "
        "labels better than a linear model of all 72 features (average"
    )
    assert [counted(1), counted(12), counted(1300)] == ["one number", "twelve numbers", "1,300 numbers"]


def test_a_rival_is_named_where_it_is_ahead_or_as_good():
    ahead, as_good = "(.80) is ahead of the embedding by .03", "(.77) is as good: behind by .01"
    for value, said in ((0.8, ahead), (0.765, as_good), (0.7, None)):
        text = told("predict", BETTER, rival={"arm": "forest scores", "value": value})
        assert text.endswith(f"; the rival forest scores {said}.") if said else "rival" not in text
    assert "rival" not in told("predict", LEVEL, rival={"arm": "PCA", "value": 0.8}, ties=["PCA"])


@pytest.mark.parametrize(
    ("value", "interval", "said"),
    [
        (0.8, (-0.05, -0.01), "(.80) is ahead of the embedding by .03 (.01 to .05)"),
        (0.8, (-0.07, 0.01), "(.80) is perhaps ahead of the embedding: ahead by .03 (from .01 behind to .07 ahead)"),
        (0.765, (0.002, 0.008), "(.77) is as good: behind by .01 (.00 to .01)"),
        (0.765, (-0.006, 0.009), "(.77) is as good: behind by .01 (from .01 behind to .01 ahead)"),
        (0.765, (0.003, 0.012), ""),
        (0.765, (-0.02, 0.03), "(.77) cannot be told from the embedding: behind by .01 (from .03 behind to .02 ahead)"),
        (0.75, (-0.02, 0.06), "(.75) cannot be told from the embedding: behind by .02 (from .06 behind to .02 ahead)"),
        (0.778, (-0.015, -0.002), "(.78) is ahead of the embedding by .01 (.00 to .01)"),
    ],
)
def test_a_rival_has_the_interval_of_its_lead_and_is_ahead_only_if_that_is_sure(value, interval, said):
    rival = {"arm": "forest scores", "value": value, "gain": 0.77 - value, "interval": interval}
    text = told("predict", BETTER, rival=rival)
    assert text.endswith(f"; the rival forest scores {said}.") if said else "rival" not in text
    goal = {"word": BETTER, "measure": AP, "components": 5, "features": 72, "value": 0.77, "base": ALL, "d": 72}
    what = advice("predict", {**goal, "arm": "OPLS", "k": 5, "margin": 0.01, "rival": rival})
    place = said.partition(") ")[2].partition(":")[0].partition(" by")[0]
    place += " as the embedding" * (place == "is as good")
    end = f", or take forest scores, which {place}." if place.startswith("is ") else "."
    assert what == ("predict with forest scores." if interval[1] < 0 else f"use OPLS at k = 5 to predict{end}")


def test_how_many_rows_would_be_enough_is_said_beside_those_there_are():
    few = {"interval": (-0.03, 0.01), "all_rows": 808}
    some = told("predict", CANNOT_TELL, **few, rows_needed=610)
    assert ".030 worse and .010 better; about 2,500 rows in place of 808 would be enough if the" in some
    assert "difference stayed as it is (average" in some
    assert "; about 19,000 rows in place of 808 would" in told("predict", CANNOT_TELL, **few, rows_needed=4700)
    far = told("predict", CANNOT_TELL, **few, rows_needed=40_000)
    assert "; not even 100 times as many rows would be enough if the difference stayed as it is" in far
    groups = told("neighbours", CANNOT_TELL, **few, rows_needed=610, units=[28, "group"])
    assert "; about 3.1 times as many groups would be enough" in groups
    assert "would be enough" not in told("predict", CANNOT_TELL, **few, rows_needed=None)
    kept = told("compress", CANNOT_TELL, **few, rows_needed=610)
    assert kept.startswith("Too few rows to tell whether a smaller size keeps enough; about 2,500 rows in place of 808")
    assert ". On the rows scored, five numbers in place of all 72 features keep 98 % of their average" in kept


def test_new_rows_among_themselves_are_named_where_they_contradict_the_word():
    among = {"value": 0.4, "base": 0.52, "interval": (-0.2, -0.05)}
    text = told("neighbours", BETTER, new_rows=among)
    assert (
        "; but between rows that were not in the fit alone the embedding is worse than all 72 features (.40 and .52)"
        in text
    )
    unsure = told("neighbours", BETTER, new_rows={**among, "interval": (-0.2, 0.01)})
    assert "; but between rows that were not in the fit alone the embedding is not shown to be better than" in unsure
    assert "not in the fit" not in told("neighbours", LEVEL, new_rows={**among, "interval": (-0.2, 0.01)})
    assert "not in the fit" not in told("neighbours", BETTER, new_rows={**among, "interval": (0.01, 0.1)})
    constant = {"arm": "the same rows for every query", "k": None, "value": 0.68}
    lost = told("neighbours", WORSE, base=constant, new_rows={**among, "interval": (0.05, 0.2)})
    assert (
        "; but between rows that were not in the fit alone the embedding is better than all 72 features (.40 and .52)"
        in lost
    )
    goal = {"word": BETTER, "measure": NEAR, "components": 5, "value": 0.77, "base": ALL, "arm": "OPLS", "k": 5}
    assert advice("neighbours", {**goal, "new_rows": among}) == (
        "use OPLS at k = 5 to find neighbours among the rows of its fit; keep the features to search among rows that "
        "were not in the fit."
    )


def test_where_a_search_was_cut_short_no_embedding_is_one_that_was_tried():
    lost = told("predict", WORSE, short_search=True)
    assert lost.startswith("No embedding that was tried predicts these labels as well")
    other = told("predict", WORSE, short_search=True, searched_for="map")
    assert other.startswith("No embedding tried in this run (which searched for maps) predicts these labels as well")
    goals = {"predict": {"word": WORSE, "plain": "a.", "short_search": True}}
    assert headline(goals) == "No embedding that was tried helps here. a."


def test_what_a_map_keeps_follows_its_labels():
    kept = {"share": 0.34, "rival": "supervised UMAP", "rival_share": 0.29}
    pca = {"arm": "PCA", "k": 2, "value": 0.4}
    fewer = told("map", BETTER, base=pca, kept={**kept, "share": 0.09})
    assert "n = 202), but it keeps fewer of each row's nearest neighbours in the features: 9 % (supervised U" in fewer
    assert "on the best other map tried (" in told("map", BETTER, base=pca, kept=kept, untried=["t-SNE"])
    assert "on the only other map tried (" in told("map", BETTER, base=pca, kept=kept, untried=["t-SNE"], others=1)
    assert told("map", BETTER, base=pca, kept=kept) == (
        "Neighbours on the map share more labels than those on the best other map (agreement .77 and .40, n = 202); it "
        "keeps 34 % of each row's nearest neighbours in the features (supervised UMAP 29 %)."
    )
    chance = told("map", BETTER, base=pca, kept={**kept, "share": 0.006, "chance": 0.00667})
    assert chance.endswith("nearest neighbours in the features: 0.6 % (chance 0.7 %; supervised UMAP 29 %).")


@pytest.mark.parametrize("words", [(WORSE, WORSE), (WORSE, BETTER)])
def test_that_nothing_helps_is_said_only_if_every_goal_is_lost(words):
    names = "predict", "map"
    goals = {name: {"word": word, "plain": f"{name}."} for name, word in zip(names, words, strict=True)}
    lost = set(words) == {WORSE}
    assert headline(goals, "predict") == ("No embedding helps here. predict." if lost else "predict.")


def test_where_no_goal_was_asked_for_the_goal_that_leads_is_told_first_and_then_what_did_not_come_out():
    goals = {"predict": {"word": CANNOT_TELL, "plain": "a."}}
    goals |= {"neighbours": {"word": BETTER, "plain": "b.", "lead": "!"}}
    goals |= {"map": {"word": BETTER, "plain": "c."}, "compress": {"word": LEVEL, "plain": "d.", "tone": "yes"}}
    goals["compress"]["components"] = 5
    assert headline(goals) == (
        "b. An embedding also helps for maps. Five numbers keep what the features have. An embedding is not "
        "shown to help for predictions (cannot tell)."
    )
    assert headline(goals, "neighbours") == "b."
    led = {**goals, "neighbours": {"word": BETTER, "plain": "b.", "new_rows": {"interval": (-0.1, 0.1)}}}
    led["predict"] = {**goals["predict"], "lead": "!"}
    assert "An embedding helps for neighbours among the rows of the fit and maps." in headline(led)
    own = goals | {"predict": {"word": BETTER, "plain": "a.", "reads_features": True, "measure": AP}}
    assert headline(own).endswith(
        "the features have. The own classifier of a method, which reads the features, predicts better."
    )
    goals |= {"predict": {"word": LEVEL, "plain": "a."}, "map": {"word": WORSE, "plain": "c."}}
    assert headline(goals) == (
        "b. An embedding is as good, no better, for predictions. Five numbers keep what the features have. An "
        "embedding is not shown to help for maps (worse)."
    )


def test_a_rival_whose_forest_was_cut_has_the_rows_of_it_beside_its_figure():
    rival = {"arm": "label lookup", "value": 0.8}
    text = told("neighbours", BETTER, rival=rival, forests="1,000 rows")
    assert (
        "; the rival label lookup (.80, its forest grown on 1,000 rows only) is ahead of the embedding by .03." in text
    )
    assert "grown on" not in told("neighbours", BETTER, rival={**rival, "arm": "PCA"}, forests="1,000 rows")


def test_a_sentence_tells_what_ignoring_the_features_reaches_and_an_advice_what_to_do():
    assert "(average precision .77 and .68; the same answer for every row .31, n = 202)" in told(
        "predict", BETTER, chance=0.31
    )
    assert "; the same rows for every query .31, n" in told("neighbours", LEVEL, chance=0.31)
    assert ", both classes weighted equally, .77" in told("neighbours", LEVEL, yes_no=True)
    kept = told("compress", LEVEL, constant={AP: 0.4, NEAR: None})
    assert kept.endswith("; the same answer for every row, which needs no feature, has 40 % of that average precision.")
    goal = {"word": LEVEL, "measure": AP, "components": 5, "features": 72, "value": 0.77, "base": ALL, "d": 72}
    goal |= {"arm": "OPLS", "k": 5}
    told_level = "use OPLS at k = 5 if fewer numbers help; else a linear model of all features, which is as good"
    assert advice("predict", goal) == f"{told_level}."
    better = {**goal, "word": BETTER, "saved": False}
    assert advice("neighbours", better) == (
        "use OPLS at k = 5 (a search with --goal neighbours looks for the best one and saves it) to find neighbours."
    )
    assert advice("predict", {**better, "saved": True, "reads_features": True}) == (
        "use OPLS (the saved model) to predict."
    )
    assert "keep the features" in advice("predict", {**goal, "word": WORSE})
    own = {**goal, "reads_features": True}
    text = "use OPLS, or a linear model of all features, which is as good."
    assert advice("predict", own) == text, "its numbers do not predict"
    assert told("predict", WORSE, reads_features=True).startswith("No method predicts these labels as well as a linear")
    ahead = {**goal, "rival": {"arm": "logistic regression", "value": 0.9}}
    assert advice("predict", ahead) == "predict with logistic regression."
    level = advice("predict", {**goal, "rival": {"arm": "logistic regression", "value": 0.77}})
    assert level.endswith("else a linear model of all features or logistic regression, which are as good.")
    behind = {**goal, "word": WORSE, "value": 0.5, "rival": {"arm": "PCA", "value": 0.6}}
    assert advice("predict", behind) == "keep the features to predict.", "the rival is below all features"
    assert "use the map of PCA" in advice("map", {**goal, "word": WORSE, "base": {"arm": "PCA", "k": 2}})
    assert "in place of" in advice("compress", goal) and "rely on none" in advice("map", {**goal, "word": CANNOT_TELL})


def test_what_cannot_be_told_has_its_range_and_what_is_safe_to_do():
    assert "all 72 features: between .030 worse and .010 better (average" in told(
        "predict", CANNOT_TELL, interval=(-0.03, 0.01)
    )
    goal = {"word": CANNOT_TELL, "measure": AP, "value": 0.77, "base": ALL, "interval": (-0.03, 0.01), "margin": 0.01}
    goal |= {"components": 5, "arm": "OPLS", "k": 5}
    goal["rival"] = {"arm": "logistic regression", "value": 0.775}
    assert advice("predict", goal) == (
        "keep the features to predict, or take logistic regression, which is as good as the embedding; the embedding "
        "may lose up to .03 of average precision (features .680, logistic regression .775, embedding .770)."
    )
    lower = {"arm": "logistic regression", "value": 0.789, "interval": (-0.05, 0.02)}
    features = {**goal, "base": {**ALL, "value": 0.793}, "rival": lower}
    assert advice("predict", features) == (
        "keep the features to predict; the embedding may lose up to .03 of average precision (features .793, logistic "
        "regression .789, embedding .770)."
    ), "a rival that is ahead of the embedding alone"
    own = advice("predict", {**goal, "reads_features": True})
    assert "; the method's own predictions may lose up to .03 of" in own
    assert own.endswith("method's own predictions .770).")
    told_map = advice("map", {**goal, "base": {"arm": "PCA", "k": 2}, "rival": None})
    assert told_map == "use the map of OPLS at k = 5 or that of PCA; this map may lose up to .03 of average precision."
    assert "rely on none" in advice("predict", {**goal, "margin": None}), "the features tell nothing"
    shares = {AP: {"share": 0.99, "interval": (0.95, 1.03)}, NEAR: {"share": 1.1, "interval": None}}
    compress = {**goal, "shares": shares, "components": 1, "d": 23}
    assert advice("compress", compress).endswith(
        "keep the features; the embedding may lose up to 5 % of the average precision of the features."
    )
    of_numpy = {AP: {"share": np.float64(0.99), "interval": tuple(np.array([0.95, 1.03]))}}
    assert advice("compress", {**compress, "shares": of_numpy}) == advice("compress", compress)
    shares[AP]["base"] = 0.26
    assert advice("compress", compress).endswith("5 % of the average precision of the features (.01 of .26).")


def test_a_value_below_1_is_never_shown_as_1():
    assert short(1 - 1e-16) == "1.00", "it is 1 but for rounding"
    assert [short(value) for value in (0.994, 0.9961, 0.99999, 1.0, -0.25)] == [
        ".99",
        ".996",
        ".999990",
        "1.00",
        "-.25",
    ]


def test_what_a_map_was_not_compared_with_and_the_highest_other_are_named():
    base = {"arm": "FDA", "k": 2, "value": 0.58}
    best, highest = {"title": "TargetSpace", "score": 0.991}, {"arm": "PCA", "k": 2, "value": 0.65}
    text = told("map", BETTER, base=base, laid_out=best, highest=highest)
    assert "those on the best other map on the folds (" in text
    assert (
        "; that map is of FDA; the highest other compared on the rows scored here is PCA (.65); maps laid out from all "
        "components are drawn" in text
    )
    assert text.endswith("were not compared: the best of these (TargetSpace) has .99.")
    plain = {"title": "PCA", "score": 0.951, "kept": 0.556}
    text = told("map", BETTER, base=base, laid_out=best | {"without_labels": plain})
    assert text.endswith("(TargetSpace) has .99; that of PCA, which uses no labels, has .95 and keeps 56 %.")
    goal = {"word": BETTER, "measure": NEAR, "value": 0.89, "base": base, "arm": "OPLS", "k": 2, "laid_out": best}
    assert "(TargetSpace) has .99, the map of the verdict .89: use --goal map" in laid_out_words(goal)
    assert laid_out_words(goal, in_python=True).endswith("use goal='map' before you use one")
    assert advice("map", goal).startswith("search with --goal map before you use a map")


def test_a_lead_that_is_not_seen_is_equal():
    rival = {"arm": "forest scores", "value": 0.768, "gain": 0.002, "interval": (-0.014, 0.018)}
    assert "cannot be told from the embedding: equal (from .02 behind to .01 ahead)." in told(
        "predict", BETTER, rival=rival
    )


def test_a_lead_that_is_not_seen_is_no_clear_difference_beside_figures_that_differ():
    rival = {"arm": "forest scores", "value": 0.7649, "gain": 0.0041, "interval": (-0.014, 0.018)}
    text = told("predict", BETTER, rival=rival, value=0.7690)
    assert "(.76) cannot be told from the embedding: no clear difference (from .02 behind to .01 ahead)." in text
    assert "equal" not in text
    ahead = {"arm": "forest scores", "value": 0.7752, "gain": -0.0042, "interval": (-0.006, -0.002)}
    text = told("predict", BETTER, rival=ahead, value=0.771, margin=0.001)
    assert "is ahead of the embedding by less than .01 (.00 to .01)" in text


def test_a_rival_stands_beside_the_predictions_that_were_compared():
    rival = {"arm": "forest scores", "value": 0.768, "gain": 0.002, "interval": (-0.014, 0.018)}
    text = told("predict", BETTER, rival=rival, reads_features=True)
    assert "cannot be told from the method's own predictions: equal" in text
    ahead = told("predict", BETTER, rival=rival | {"value": 0.8, "gain": -0.03, "interval": None}, reads_features=True)
    assert "is ahead of the method's own predictions by .03" in ahead
    near = rival | {"value": 0.768}
    assert "from the embedding" in told("neighbours", BETTER, rival=near, reads_features=True)


def test_rows_needed_are_test_rows_where_the_data_name_these():
    few = {"interval": (-0.03, 0.01), "all_rows": 808, "rows_needed": 610}
    named = told("predict", CANNOT_TELL, **few, test_rows_named=True)
    assert "; 610 test rows in place of 202 would be enough if the difference stayed as it is" in named
    assert "test rows" not in told("predict", CANNOT_TELL, **few, test_rows_named=False)


def test_of_one_yes_no_label_neighbours_are_rows_of_like_score_and_a_lookup_is_not_advised():
    lookup = {"arm": "label lookup", "value": 0.8}
    goal = {"word": BETTER, "measure": NEAR, "value": 0.77, "base": ALL, "k": 1, "components": 1, "arm": "OPLS"}
    goal |= {"margin": 0.01, "rival": lookup}
    assert advice("neighbours", goal) == (
        "find neighbours with label lookup, if you search among the rows of its fit, whose labels it has."
    )
    among = {"value": 0.364, "base": 0.35, "rival": 0.342}
    reverse = advice("neighbours", goal | {"new_rows": among})
    assert reverse.endswith(
        "; else use OPLS at k = 1, which has 0.364 between rows that were not in the fit (all features 0.350, label "
        "lookup 0.342)."
    )
    assert "else" not in advice("neighbours", goal | {"new_rows": {"value": 0.342, "base": 0.35, "rival": 0.364}})
    said = advice("neighbours", goal | {"yes_no": True})
    assert said.startswith("use OPLS at k = 1 to find rows with a similar score; keep the features to find rows that")
    assert "alike in other ways" in said and "lookup" not in said
    text = told("neighbours", BETTER, yes_no=True, rival=lookup)
    assert text.endswith(
        "ahead of the embedding by .03, but a lookup merely sorts rows by the predicted class and does not find rows "
        "that are alike."
    )
    assert merely_sorts(goal | {"yes_no": True}) and not merely_sorts(goal)
    assert not merely_sorts(goal | {"yes_no": True, "measure": AP})
    for word in (LEVEL, WORSE, CANNOT_TELL):
        unsure = goal | {"yes_no": True, "word": word, "interval": (-0.1, 0.2)}
        assert "lookup" not in advice("neighbours", unsure)


def test_small_sizes_above_all_features_in_both_measures_are_called_so():
    shares = {AP: {"share": 1.03, "interval": (1.01, 1.05)}, NEAR: {"share": 1.06, "interval": (1.04, 1.08)}}
    assert told("compress", LEVEL, shares=shares) == (
        "Five numbers in place of all 72 features give better predictions and better neighbours than these."
    )
    small = {"word": LEVEL, "tone": "yes", "shares": shares, "plain": ".", "components": 1}
    first = {"word": BETTER, "plain": "It predicts."}
    assert headline({"predict": first, "compress": small}).endswith(
        "One number predicts better and finds better neighbours than the features."
    )
    shares[AP]["interval"] = (0.99, 1.05)
    assert "have no loss that counts, neither in predictions nor" in told("compress", LEVEL, shares=shares)
    assert headline({"predict": first, "compress": small}).endswith("One number keeps what the features have.")


def test_the_best_other_map_below_the_constant_is_named_with_its_figure():
    constant = {"arm": "the same rows for every query", "k": None, "value": 0.3}
    text = told("map", BETTER, base=constant, below_constant={"arm": "FDA", "k": 2, "value": 0.29}, untried=["t-SNE"])
    assert "than the same rows for every query (agreement .77 and .30, n = 202)" in text
    assert text.endswith("; the best other map tried is below that: FDA, .29.")


def test_rows_are_not_counted_where_copies_are_why_nothing_can_be_told():
    few = {"interval": (-0.03, 0.01), "all_rows": 808, "rows_needed": 610}
    spanned = told("predict", CANNOT_TELL, **few, without_copies=(62, "level", ((-0.005, 0.0193), 0.0054)))
    level = (
        "“level” (between .005 worse and .019 better; a loss up to 0.0054 counts as level), which is the one to act on"
    )
    assert level in spanned
    text = told("predict", CANNOT_TELL, **few, without_copies=(62, "level", None))
    assert "times as many" not in text
    assert text.endswith(
        "; without the 62 test rows that have a copy in training the verdict is “level”, which is the one to act on "
        "unless your new rows repeat training rows, too."
    )
