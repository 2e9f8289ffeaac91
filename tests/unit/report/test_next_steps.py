"""What to do next: commands that can be pasted, of the files of the run, for every state of a goal."""

import pytest

from proxembed.evaluate.verdict import BETTER, CANNOT_TELL, LEVEL, WORSE
from proxembed.report.next_steps import Run, copies_remedy, with_next_steps
from proxembed.report.plain_words import headline

NEAR = "Jaccard@10 (cosine kNN)"
AP = "macro average precision (ridge)"
RUN = Run("proxembed search --json 'my data.csv' --labels=y --goal predict --max-work 60 -o 'a b'", "a b")
CALL = Run("proxembed.search('a.csv', labels='y', goal='predict', max_work=60.0)")


def told(name, word, run=RUN, choice=("OPLS", 5), rival=None, saved=None, nested=None, k=5, asked=None):
    goal = {
        "word": word, "measure": AP, "arm": "OPLS", "k": k, "components": 5, "d": 72, "value": 0.77, "margin": 0.01,
        "base": {"arm": "PCA" if name == "map" else "all features", "k": 2 if name == "map" else None, "value": 0.7},
        "rival": rival, "interval": (-0.1, 0.1), "shares": {},
    }  # fmt: skip
    if name != "compress":
        del goal["shares"]
    summary = {"dataset": {"d": 72}, "choice": dict(zip(("method", "k"), choice, strict=True))}
    summary |= {"verdict": {"asked": asked}, "nested": nested}
    summary["saved"] = saved and {"arm": saved, "embedding": ["OPLS", 5]}
    with_next_steps({name: goal}, summary, run)
    return goal["advice"], goal["command"]


@pytest.mark.parametrize(
    ("name", "word", "command"),
    [
        ("predict", BETTER, "proxembed predict 'a b/model.skops' NEW.csv"),
        ("predict", WORSE, ""),
        ("predict", CANNOT_TELL, ""),
        ("map", CANNOT_TELL, "proxembed transform 'a b/model.skops' NEW.csv"),
        ("neighbours", CANNOT_TELL, ""),
        ("neighbours", BETTER, "proxembed transform 'a b/model.skops' NEW.csv"),
        ("neighbours", WORSE, ""),
        ("map", LEVEL, "proxembed transform 'a b/model.skops' NEW.csv"),
        ("map", WORSE, ""),
        ("compress", LEVEL, "proxembed transform 'a b/model.skops' NEW.csv"),
        ("compress", WORSE, ""),
    ],
)  # fmt: skip
def test_a_goal_has_a_command_where_there_is_something_to_run(name, word, command):
    assert told(name, word, asked="map" if name == "map" else None)[1] == command


def test_a_search_that_was_not_for_maps_asks_for_one_unless_no_map_helps():
    for word in (BETTER, LEVEL, CANNOT_TELL):
        advice, command = told("map", word)
        assert advice.startswith("What to do: search with --goal map before you use a map")
        assert command.endswith("--goal map -o 'a b-map'")
    assert told("map", WORSE) == ("What to do: use the map of PCA.", "")


def test_a_search_from_python_is_told_of_options_as_python_has_them():
    advice, command = told("map", BETTER, CALL)
    assert advice.startswith("What to do: search with goal='map' before you use a map")
    assert command == "proxembed.search('a.csv', labels='y', max_work=60.0, goal='map')"
    other = told("map", BETTER, CALL, choice=("OPLS", 7), asked="map")[0]
    assert "(a search with goal='map' looks for the best map and saves it)" in other
    compared = told("map", BETTER, Run("proxembed.compare(X, labels='y')"))
    assert compared == (advice, ""), "a comparison saves no model"
    hidden = told("predict", BETTER, CALL, saved="logistic regression")[0]
    assert "(a search with embedding=True saves it)" in hidden


def test_another_embedding_than_the_saved_one_takes_another_search_in_a_folder_of_its_own():
    advice, command = told("map", BETTER, choice=("OPLS", 7), asked="map")
    assert command == "proxembed search 'my data.csv' --labels=y --max-work 60 --goal map -o 'a b-map'"
    assert "(a search with --goal map looks for the best map and saves it)" in advice


def test_a_rival_that_is_saved_is_what_to_predict_with_and_the_embedding_takes_the_option():
    ahead = {"arm": "logistic regression", "k": None, "value": 0.9}
    advice, command = told("predict", LEVEL, saved="logistic regression", rival=ahead)
    assert advice == "What to do: predict with logistic regression (the saved model)."
    assert command == "proxembed predict 'a b/model.skops' NEW.csv"
    other = told("predict", LEVEL, saved="forest proximity", rival=ahead)
    assert other[0] == "What to do: predict with logistic regression." and "--keep-rival" in other[1]
    advice, command = told("compress", LEVEL, saved="logistic regression")
    assert "(a search with --embedding saves it)" in advice and "(the saved model)" not in advice
    assert command == (
        "proxembed search 'my data.csv' --labels=y --max-work 60 --goal predict --embedding -o 'a b-embedding'"
    )


def test_a_rival_that_is_ahead_is_kept_if_its_model_can_be_saved():
    ahead = {"arm": "logistic regression", "k": None, "value": 0.9}
    assert "--keep-rival 'logistic regression'" in told("predict", BETTER, rival=ahead)[1]
    assert "--keep-rival 'label lookup'" in told("neighbours", BETTER, rival={**ahead, "arm": "label lookup"})[1]
    assert told("neighbours", BETTER, rival={**ahead, "arm": "supervised UMAP", "k": 2})[1] == ""
    beside = {"arm": "label scores", "k": None, "value": 0.77, "interval": (-0.005, 0.008)}
    advice, command = told("predict", CANNOT_TELL, rival=beside)
    assert "keep the features to predict, or take label scores, which is as good" in advice
    assert "--keep-rival 'label scores'" in command
    assert told("predict", CANNOT_TELL, rival={**beside, "interval": (-0.1, 0.1)})[1] == ""


def test_what_nested_folds_chose_anew_is_the_saved_model_at_no_size_and_else_takes_a_search():
    nested = {"folds": 5}
    advice, command = told("predict", BETTER, nested=nested, k=None)
    assert advice == "What to do: use what the search chooses (the saved model) to predict."
    assert command.startswith("proxembed predict ")
    assert "--goal map" in told("map", BETTER, nested=nested)[1]


def test_in_python_the_next_step_is_a_call():
    assert told("predict", BETTER, CALL)[1] == "found.model.predict(new_rows)"
    again = "proxembed.search('a.csv', labels='y', max_work=60.0, goal='map')"
    assert told("map", BETTER, CALL, choice=("OPLS", 7))[1] == again
    assert told("compress", LEVEL, CALL, saved="all features")[1].endswith("max_work=60.0, embedding=True)")
    ahead = {"arm": "logistic regression", "k": None, "value": 0.9}
    kept = "found.compare_model('logistic regression').predict(new_rows)"
    assert told("predict", BETTER, CALL, rival=ahead)[1] == kept and told("predict", WORSE, CALL)[1] == ""


def test_options_with_blanks_and_without_values_are_told_from_the_data():
    run = Run("proxembed search '--labels=my label' --header 'my data.csv' '--out=my dir'", "my dir")
    assert told("predict", BETTER, run)[1] == "proxembed predict 'my dir/model.skops' NEW.csv"
    again = told("map", BETTER, run, choice=("OPLS", 7))[1]
    assert again == "proxembed search '--labels=my label' --header 'my data.csv' --goal map -o 'my dir-map'"


def test_the_demo_whose_data_are_no_file_has_commands_of_its_own():
    run = Run("proxembed demo -o demo --max-work 13", "demo")
    assert told("predict", BETTER, run)[1] == "proxembed predict demo/model.skops NEW.csv"
    assert told("map", BETTER, run, choice=("OPLS", 7))[1] == "proxembed demo --max-work 13 --goal map -o demo-map"
    assert "with the columns of the digits of scikit-learn" in run.placeholder("labels")
    assert told("predict", BETTER, run)[0].startswith("What to do: use OPLS")


def goal_of(name, word, **more):
    base = {"arm": "all features", "k": None, "value": 0.7}
    return {
        "word": word, "measure": AP, "arm": "OPLS", "k": 5, "components": 5, "d": 72, "value": 0.77, "margin": 0.01,
        "base": base, "rival": None, "interval": (-0.1, 0.1), **({"shares": {}} if name == "compress" else {}), **more,
    }  # fmt: skip


def told_together(words, asked=None, run=RUN, **more):
    goals = {name: goal_of(name, word, **more) for name, word in words.items()}
    summary = {"dataset": {"d": 72}, "choice": {"method": "OPLS", "k": 5}, "verdict": {"asked": asked}}
    with_next_steps(goals, summary, run)
    return goals


@pytest.mark.parametrize(
    ("words", "asked", "lead"),
    [
        ({"predict": WORSE, "neighbours": BETTER, "compress": LEVEL}, None, "neighbours"),
        ({"predict": WORSE, "neighbours": BETTER, "compress": LEVEL}, "predict", "predict"),
        ({"predict": CANNOT_TELL, "compress": WORSE}, None, "predict"),
    ],
)
def test_one_goal_leads_that_was_asked_for_or_is_of_most_use(words, asked, lead):
    goals = told_together(words, asked)
    assert [name for name, goal in goals.items() if goal["lead"]] == [lead]
    begin, end = goals[lead]["lead"].split(": ", 1)
    assert begin == "If you do only one thing" and goals[lead]["advice"] == f"What to do: {end}"


def test_predictions_of_one_yes_no_label_come_before_neighbours():
    goals = told_together({"predict": LEVEL, "neighbours": BETTER}, yes_no=True)
    assert [name for name, goal in goals.items() if goal["lead"]] == ["predict"]
    assert told_together({"predict": LEVEL, "neighbours": BETTER}, "neighbours", yes_no=True)["neighbours"]["lead"]


def test_outside_the_fit_of_a_lookup_the_command_is_that_of_what_is_highest_there():
    lookup = {"arm": "label lookup", "k": None, "value": 0.95}
    among = {"value": 0.4, "base": 0.3, "rival": 0.35}

    def note(**other):
        facts = {"measure": "Jaccard@10 (cosine kNN)", "rival": lookup, "new_rows": among | other}
        return told_together({"neighbours": BETTER}, **facts)["neighbours"]["command_note"].partition(
            "Among other rows"
        )

    assert note()[2] == ": proxembed transform 'a b/model.skops' NEW.csv --cosine"
    best = {"arm": "forest scores", "k": None, "components": 0, "value": 0.5, "interval": (-0.15, -0.05)}
    assert "--keep-rival 'forest scores'" in note(best_rival=best)[2]
    features = note(base=0.6, interval=(-0.3, -0.1))
    assert not features[1] and not note(value=0.3)[1], "the features take no command, a lookup has its own"


def test_the_first_command_with_new_rows_says_what_they_are():
    goals = told_together({"predict": CANNOT_TELL, "neighbours": BETTER, "compress": LEVEL})
    file = "NEW.csv stands for a file of your own new rows"
    note = f"{file}, with the columns of my data.csv; the labels may be missing."
    assert [goal["command_note"] for goal in goals.values()] == ["", note, ""]
    ahead = {"arm": "label lookup", "k": None, "value": 0.9}
    kept = told_together({"neighbours": BETTER}, rival=ahead, command_note="of a record")["neighbours"]
    assert kept["command_note"] == (
        "This search writes its model to a b-label-lookup/rival.skops. To use it: proxembed transform "
        "'a b-label-lookup/rival.skops' NEW.csv."
    )
    assert kept["command"].endswith("--goal predict --keep-rival 'label lookup' -o 'a b-label-lookup'")
    near = told_together({"predict": BETTER, "neighbours": BETTER}, measure="Jaccard@10 (cosine kNN)")["neighbours"]
    assert near["command_note"] == (
        "It writes six numbers per row to NEW-embedding.npz: five of the embedding and, last, a constant that "
        "completes them for cosines. Run it on the rows to search among, too, such as 'my data.csv': the neighbours "
        "of a new row are those of largest cosine, as they are judged here."
    )
    gzipped = Run("proxembed search data/b.arff.gz -o f", "f")
    assert gzipped.use("predict") == "proxembed predict f/model.skops NEW.arff.gz"
    assert Run("proxembed search folder -o f", "f").new_rows == "NEW.csv"
    assert Run("proxembed search data/b.csv.bz2 -o f", "f").new_rows == "NEW.csv.bz2"
    assert Run("proxembed search dir/v1.2 -o f", "f").new_rows == "NEW.csv"


def test_copies_of_rows_are_kept_together_by_one_option_of_any_data():
    assert RUN.for_copies() == (
        "proxembed search 'my data.csv' --labels=y --max-work 60 --goal predict --groups copies -o 'a b-grouped'"
    )
    assert CALL.for_copies().endswith("max_work=60.0, groups='copies')")
    arrays, npz = Run("proxembed.search(X, y, max_work=9)"), Run("proxembed search 'my enron.npz' -o e", "e")
    assert arrays.for_copies() == "proxembed.search(X, y, max_work=9, groups='copies')"
    assert npz.for_copies() == "proxembed search 'my enron.npz' --groups copies -o e-grouped"
    assert not Run("proxembed demo -o d", "d").for_copies()
    for run, how in ((RUN, "--groups copies"), (CALL, "groups='copies'"), (npz, "--groups copies")):
        assert copies_remedy(run).endswith(f"or keep them together ({how}).")
    named = Run("proxembed.search(X, labels='y', groups=('a,b', 'c'), seed=1)")
    assert named.for_copies() == "proxembed.search(X, labels='y', seed=1, groups='copies')"
    grouped = "proxembed search a.csv --labels y --groups 'my site' -o a"
    assert Run(grouped, "a").for_copies() == "proxembed search a.csv --labels y --groups copies -o a-grouped"
    call = "proxembed.search('a.csv', labels='y', groups='my, site', max_work=60.0)"
    assert Run(call).for_copies() == "proxembed.search('a.csv', labels='y', max_work=60.0, groups='copies')"


def test_the_goal_of_another_embedding_names_the_saved_model_and_says_how_to_get_it():
    def clause(name, word, choice, shares=None, **more):
        goals = {name: goal_of(name, word) | ({"shares": shares} if shares else {})}
        chosen = {"method": choice[0], "k": choice[1]}
        with_next_steps(goals, {"dataset": {"d": 72}, "choice": chosen, "verdict": {}, **more}, RUN)
        return goals[name]["not_saved"]

    assert clause("compress", LEVEL, ("TargetSpace", 2)) == (
        "These are figures of OPLS at k = 5, not of the saved model (TargetSpace at k = 2)."
    )
    assert clause("compress", WORSE, ("TargetSpace", 2)).endswith(
        "; a search with --goal compress looks for the best one and saves it."
    )
    assert clause("compress", LEVEL, ("OPLS", 5)) == ""
    scored = [{"arm": "TargetSpace", "k": 2, "components": 2, "scores": {AP: {"test": 0.7491}}}]
    judged = {"best": scored, "verdict": {"basis": "test rows"}}
    assert ", not of the saved model (TargetSpace at k = 2), which has 0.749" in clause(
        "predict", BETTER, ("TargetSpace", 2), **judged
    )
    assert "which has" not in clause("predict", BETTER, ("TargetSpace", 2), best=scored)
    above = {**judged, "best": [scored[0] | {"scores": {AP: {"test": 0.77}}}]}
    assert clause("predict", BETTER, ("TargetSpace", 2), **above).endswith("which has 0.770.")
    flat = {"map": goal_of("map", BETTER) | {"base": {"arm": "the same answer for every row", "value": 0.3, "k": None}}}
    facts = {"dataset": {"d": 72}, "choice": {"method": "TargetSpace", "k": 9}, **above}
    facts["best"] = [scored[0] | {"k": 9, "scores": {flat["map"]["measure"]: {"test": 0.99}}}]
    with_next_steps(flat, facts, RUN)
    assert "which has" not in flat["map"]["not_saved"], "nine numbers are no map"
    keeps = "(TargetSpace at k = 2), which keeps 107 % of the average precision of the features."
    shares = {AP: {"share": 1.0, "interval": (0.9, 1.1), "base": 0.7}}
    assert clause("compress", LEVEL, ("TargetSpace", 2), shares=shares, **judged).endswith(keeps)
    reads = {**judged, "best": [scored[0] | {"reads_features": True}]}
    assert clause("compress", LEVEL, ("TargetSpace", 2), shares=shares, **reads).endswith(
        "whose predictions read the features, so that its numbers cannot take their place."
    )
    goals = {"compress": goal_of("compress", LEVEL, k=2), "map": goal_of("map", LEVEL)}
    with_next_steps(goals, {"dataset": {"d": 72}, "verdict": {"asked": "compress"}}, RUN)
    assert goals["compress"]["not_saved"] == "" and "saved model (OPLS at k = 2)" in goals["map"]["not_saved"]
    saved = {"arm": "logistic regression", "k": None, "embedding": ["OPLS", 5]}
    assert clause("compress", LEVEL, ("OPLS", 5), saved=saved).endswith("saved model (logistic regression).")
    assert "(what the search chooses)" in clause("map", BETTER, (None, None), nested={"folds": 5})


def test_the_same_command_in_another_folder_keeps_the_present_run():
    again = "proxembed search 'my data.csv' --labels=y --goal predict --max-work 60 --json -o 'a b-whole'"
    assert sorted(RUN.in_folder("whole").split()) == sorted(again.split()) and CALL.in_folder("whole") == CALL.command
    assert Run("proxembed demo -o demo --max-work 13", "demo").in_folder("whole") == (
        "proxembed demo --max-work 13 -o demo-whole"
    )


def test_predictions_that_cannot_be_told_are_reconciled_with_a_small_size_that_keeps_them():
    goals = {"predict": goal_of("predict", CANNOT_TELL), "compress": goal_of("compress", LEVEL, arm="PLS", k=1)}
    goals["compress"] |= {"components": 1, "shares": {AP: {"share": 1.0, "interval": (0.989, 1.013)}}}
    with_next_steps(goals, {"dataset": {"d": 72}, "choice": {"method": "OPLS", "k": 5}, "verdict": {}}, RUN)
    assert goals["predict"]["lead"].endswith(
        "This is of OPLS; another embedding, PLS at k = 1, keeps 98.9 to 101.3 % of the average precision of the "
        "features with one number."
    )


def test_a_map_that_was_not_compared_with_layouts_takes_a_search_for_a_map_first():
    goals = {"map": goal_of("map", BETTER, laid_out={"title": "PCA", "score": 0.9})}
    with_next_steps(goals, {"dataset": {"d": 72}, "choice": {"method": "OPLS", "k": 5}, "verdict": {}}, RUN)
    assert goals["map"]["command"].endswith("--goal map -o 'a b-map'")


def test_the_advice_is_of_the_verdict_without_copies_where_these_change_its_word():
    goal = goal_of("predict", BETTER, without_copies=(9, WORSE), gain=0.07, interval=(0.03, 0.1))
    alone = {"word": WORSE, "value": 0.6, "base": 0.7, "gain": -0.1, "interval": (-0.15, -0.05), "rival": None}
    near = goal_of("neighbours", WORSE, plain="Neighbours are worse.", lead="")
    goals = {"predict": goal, "neighbours": near}
    verdict = {"asked": None, "without_copies": {"rows": 9, "goals": {"predict": alone, "neighbours": {"word": WORSE}}}}
    with_next_steps(goals, {"dataset": {"d": 72}, "choice": {"method": "OPLS", "k": 5}, "verdict": verdict}, RUN)
    assert goal["advice"] == "What to do, by the verdict without copies: keep the features to predict."
    assert not goal["command"] and goal["lead"].startswith("If you do only one thing, by the verdict without copies: ")
    assert near["advice"].startswith("What to do: keep the features")
    several = {"neighbours": near | {"lead": "this"}, "predict": goal | {"lead": ""}}
    assert goal["word"] == BETTER and headline(several) == "No embedding helps here. Neighbours are worse."


def test_a_rival_that_is_ahead_without_copies_is_advised_by_its_figures_there():
    rival = {"arm": "linear SVM", "k": None, "value": 0.75, "gain": 0.02, "interval": (0.01, 0.03)}
    goal = goal_of("predict", BETTER, without_copies=(9, LEVEL), gain=0.07, interval=(0.03, 0.1), rival=rival, ties=[])
    alone = {"word": LEVEL, "value": 0.7, "base": 0.7, "gain": 0.0, "interval": (-0.01, 0.01), "rival": 0.76}
    alone |= {"rival_gain": -0.06, "rival_interval": (-0.08, -0.04)}
    verdict = {"without_copies": {"rows": 9, "goals": {"predict": alone}}}
    summary = {"dataset": {"d": 72}, "choice": {"method": "OPLS", "k": 5}, "verdict": verdict}
    with_next_steps({"predict": goal}, summary, RUN)
    assert goal["advice"].endswith("without copies: predict with linear SVM.")
    assert goal["rival"]["value"] == 0.75, "the sentences are of all test rows"


def test_the_saved_model_is_what_to_use_where_it_is_as_good_for_another_goal():
    near = "Jaccard@10 (cosine kNN)"
    among = {"measure": f"new-new {near}", "value": 0.5, "base": 0.4}
    goal = goal_of("neighbours", BETTER, measure=near, new_rows=among)

    def told(value, outside=0.495, **more):
        scores = {near: {"test": value}, among["measure"]: {"test": outside}}
        entry = {"arm": "TargetSpace", "k": 9, "components": 9, "scores": scores}
        summary = {"dataset": {"d": 72}, "choice": {"method": "TargetSpace", "k": 9}, "best": [entry]}
        goals = {"neighbours": dict(goal)}
        with_next_steps(goals, summary | {"verdict": {"asked": None, "basis": "test rows"} | more}, RUN)
        return goals["neighbours"]

    alike = told(0.765)  # of 0.77, up to 0.01
    assert alike["advice"] == "What to do: use TargetSpace at k = 9 (the saved model) to find neighbours."
    assert alike["not_saved"].startswith("These are figures of OPLS at k = 5, not of the saved model (TargetSpace")
    assert alike["command"] == "proxembed transform 'a b/model.skops' NEW.csv --cosine"
    assert "It writes ten numbers per row" in alike["command_note"]
    below = told(0.75)
    assert below["advice"].startswith("What to do: use OPLS at k = 5 (a search with --goal neighbours")
    assert below["command"].endswith("--goal neighbours -o 'a b-neighbours'")
    then = (
        "Then: proxembed transform 'a b-neighbours/model.skops' NEW.csv --cosine. Run it on the rows to search among, "
    )
    assert below["command_note"].startswith(then)
    assert told(0.765, None)["advice"] == below["advice"], "what it has outside the fit is not known"
    assert told(0.765, 0.48)["advice"] == below["advice"], "it is worse there"
    alone = {"word": LEVEL, "value": 0.76, "base": 0.7, "rival": None}
    goal["without_copies"] = (9, LEVEL, None)
    copies = {"without_copies": {"rows": 9, "goals": {"neighbours": alone}}}
    assert "TargetSpace" not in told(0.765, **copies)["advice"], "its figures are of other rows"


def test_a_linear_model_that_is_as_good_has_its_command_too():
    goals = told_together({"predict": LEVEL, "neighbours": BETTER}, features=72)
    assert "The linear model: proxembed search 'my data.csv'" in goals["predict"]["command_note"]
    assert goals["predict"]["command_note"].endswith("--keep-rival 'all features' -o 'a b-all-features'")
    call = told_together({"predict": LEVEL}, run=CALL)["predict"]["command_note"]
    assert call.endswith("The linear model: found.compare_model('all features').predict(new_rows)")
    assert "linear model" not in told_together({"predict": BETTER})["predict"]["command_note"]


def test_a_lookup_says_which_rows_it_places_by_their_labels():
    ahead = {"arm": "label lookup", "k": None, "value": 0.9}
    kept = told_together({"neighbours": BETTER}, rival=ahead, measure=NEAR)["neighbours"]
    assert kept["command_note"].endswith("the rows of its fit by their labels, and all others by their forest scores.")
    goals = {"neighbours": goal_of("neighbours", BETTER, rival=ahead, measure=NEAR, test_rows_named=True)}
    with_next_steps(goals, {"dataset": {"d": 72, "train": 1123}, "verdict": {"asked": None}}, RUN)
    assert "It places the 1,123 training rows that it is fitted on by their" in goals["neighbours"]["command_note"]


def test_of_classes_the_most_probable_one_is_predicted_and_of_labels_what_is_above_its_cut():
    def note(single_label):
        goals = {"predict": goal_of("predict", BETTER)}
        data = {"d": 72, "single_label": single_label}
        summary = {"dataset": data, "choice": {"method": "OPLS", "k": 5}, "verdict": {"asked": None}}
        with_next_steps(goals, summary, RUN)
        return goals["predict"]["command_note"]

    assert "The most probable class is predicted; for another cut, use the columns of --probabilities." in note(True)
    assert "A label is predicted above the cut of largest F1" in note(False) and "most probable class" not in note(
        False
    )
