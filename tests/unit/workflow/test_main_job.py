"""search() from Python: what it returns, what an interruption leaves, what is saved later."""

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import proxembed
from proxembed.algebra.pencil import coordinates
from proxembed.algebra.pencil.symmetric import descending
from proxembed.evaluate import evidence
from proxembed.evaluate.arms import rival_arms
from proxembed.evaluate.diagnose import diagnose
from proxembed.execute.ledger import STUDY
from proxembed.study import method_strategies
from proxembed.targets.labels import LabelMatrix
from proxembed.workflow import main_job, plan
from runs import LAY_OUT, without_nested_folds

QUICK = {"methods": ["opls", "mvmd"], "max_trials": 2, "n_components": (1, 2), "folds": 2, "shuffles": 0}
EVIDENCE = ["index.html", "leaderboard.csv", "predictions.npz", "results.json"]


@pytest.fixture(autouse=True)
def few_rivals(monkeypatch):
    """The forest is slow to grow and is tested in its own room."""
    whole = main_job.rival_arms
    monkeypatch.setattr(main_job, "rival_arms", lambda *args, **options: whole(*args, **options)[:2])
    without_nested_folds(monkeypatch)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    return X, [{name for name, has in zip("abc", row, strict=True) if has} for row in X[:, :3] > 0.2]


def stop(*arguments, **options):
    raise KeyboardInterrupt


def test_a_search_of_arrays_returns_all_that_the_program_leaves(data, tmp_path):
    found = proxembed.search(*data, **QUICK | {"shuffles": 19}, test=np.arange(90, 120), groups=np.arange(120) // 2)
    assert found.record["summary"]["fold_sizes"]["test"] == {"train": 90, "held_out": 30}
    assert found.verdict == found.record["summary"]["verdict"] and not found.interrupted
    assert found.name == found.record["search"]["chosen"]["method"]
    assert found.embedding.shape == (120, len(found.record["components"]))
    assert found.diagnosis.p == found.record["diagnosis"]["p"]
    paths = found.save(tmp_path / "out")
    assert sorted(path.name for path in paths) == sorted([*EVIDENCE, "embedding.npz", "model.md", "model.skops"])
    assert np.array_equal(np.load(tmp_path / "out" / "embedding.npz")["Z"], found.embedding)
    assert (tmp_path / "out" / "index.html").read_text() == found.report()


def test_a_diagnosis_whose_worker_is_killed_is_a_cut_and_the_rest_is_kept(data, monkeypatch):
    def killed(*arguments, **options):
        found = diagnose(*arguments, **options)
        return replace(found, null=found.null[1:], killed=1)

    monkeypatch.setattr(main_job, "diagnose", killed)
    found = proxembed.search(*data, **QUICK | {"methods": ["opls"], "shuffles": 19, "max_trials": 1, "n_components": 1})
    assert found.diagnosis is None and found.verdict["goals"] and found.model is not None
    *_, line = found.verdict["cut"]["lines"]
    assert line[0] == "Beside chance" and "shuffled labels: a worker process was killed twice: no verdict" in line[1]


def test_a_folder_and_a_later_save_hold_the_same(data, tmp_path):
    at_once = proxembed.search(*data, **QUICK, folder=tmp_path / "a")
    later = proxembed.search(*data, **QUICK)
    later.save(tmp_path / "b")
    saved = [path.name for path in later.save(tmp_path / "b")]
    assert [name for name in at_once.folder.written if name != STUDY] == saved  # fits to go on with, see --resume
    records = [json.loads((tmp_path / name / "results.json").read_text()) for name in "ab"]
    chosen = [record["search"]["chosen"] for record in records]
    rows = [[{**row, "seconds": 0} for row in record["rows"]] for record in records]
    assert chosen[0] == chosen[1] and rows[0] == rows[1]


def test_an_interruption_before_the_comparison_returns_the_best_so_far(data, tmp_path, monkeypatch):
    monkeypatch.setattr(main_job, "run", stop)
    found = proxembed.search(*data, **QUICK)
    assert found.interrupted and found.verdict["goals"] == {} and len(found.leaderboard) == 0
    assert found.embedding.shape[0] == 120 and "interrupted" in found._repr_html_()
    with pytest.raises(ValueError, match="no page can be made: the search was interrupted"):
        found.report()
    names = sorted(path.name for path in found.save(tmp_path))
    assert names == ["embedding.npz", "model.md", "model.skops", "unfinished.json"]
    assert len(json.loads((tmp_path / "unfinished.json").read_text())["search"]["trials"]) == 2


def test_an_interruption_of_the_last_fit_returns_the_evidence(data, tmp_path, monkeypatch):
    monkeypatch.setattr(main_job, "fit_on", stop)
    found = proxembed.search(*data, **QUICK)
    assert found.interrupted and found.model is None is found.embedding and found.verdict["goals"]["predict"]["arm"]
    assert sorted(path.name for path in found.save(tmp_path)) == EVIDENCE


def test_labels_that_say_nothing_are_refused_by_their_argument(data):
    with pytest.raises(
        ValueError, match=r"^y: every row has the same labels \('a'\), so an embedding has nothing .* check y\.$"
    ):
        proxembed.search(data[0], [{"a"}] * 120)
    with pytest.raises(ValueError, match="^max_seconds=-1 is not above 0"):
        proxembed.search(*data, max_seconds=-1)


def test_rows_that_the_user_holds_out_have_no_part_in_the_saved_model(data, tmp_path):
    X, y = data
    test = np.arange(90, 120)
    other = X.copy()
    other[test] += 5.0  # the test rows alone differ
    options = {**QUICK, "max_trials": 1, "methods": "opls", "n_components": 2}
    models = [proxembed.search(rows, y, test=test, **options).model for rows in (X, other)]
    np.testing.assert_array_equal(models[0].transform(X), models[1].transform(X))
    on_all = proxembed.search(X, y, test=test, refit_all=True, **options, folder=tmp_path / "all")
    assert not np.allclose(on_all.model.transform(X), models[0].transform(X), rtol=1e-3)
    assert on_all.fitted_on.X.shape[0] == 120 and on_all.record["search"]["fitted_on"] == {"rows": 120, "all": True}
    assert "fitted on all 120 rows, after the test rows were scored" in on_all.report()
    assert "the 30 test rows are among these" in (tmp_path / "all" / "model.md").read_text()


def test_page_and_card_say_on_which_rows_the_model_was_fitted(data, tmp_path):
    options = {**QUICK, "max_trials": 1, "methods": "opls"}
    named = proxembed.search(*data, test=np.arange(90, 120), **options, folder=tmp_path / "named")
    assert named.fitted_on.X.shape[0] == 90 and named.record["search"]["fitted_on"] == {"rows": 90, "all": False}
    assert "fitted on the 90 training rows; the test rows had no part in it" in named.report()
    assert "no test row is among these" in (tmp_path / "named" / "model.md").read_text()
    own = proxembed.search(*data, **options)
    assert own.fitted_on.X.shape[0] == 120 and own.record["search"]["fitted_on"]["all"]
    with pytest.raises(ValueError, match="^refit_all='yes' must be True or False"):
        proxembed.search(*data, refit_all="yes")


def test_the_page_shows_maps_of_all_components_beside_the_first_two(data, monkeypatch):
    monkeypatch.setattr(evidence, "_laid_out", LAY_OUT)
    found = proxembed.search(*data, **{**QUICK, "max_trials": 1, "methods": "opls"})
    panels = found.record["map"]["panels"]
    assert [panel["laid_out"] for panel in panels] == [False] * 3 + [True] * 3
    assert [panel["title"] for panel in panels] == 2 * ["PCA", "OPLS", "OPLS on shuffled labels"]
    assert panels[4]["score"] > panels[5]["score"] and len(panels[4]["x"]) == 30
    assert found.report().count('data-places="0"') == 3 and 'name="places"' in found.report()


def test_for_a_map_the_candidates_are_layouts(monkeypatch):
    """Eight groups, of which two components show some and the layout of all components every one."""
    monkeypatch.setattr(method_strategies, "WEIGHTS", (None,))
    group = np.arange(160) % 8
    X = 6 * np.eye(8)[group] + np.random.default_rng(0).normal(size=(160, 8))
    options = {"methods": "opls", "goal": "map", "max_trials": 1, "folds": 2, "shuffles": 0, "max_work": 100}
    found = proxembed.search(X, group, **options, test=np.arange(40))
    assert found.name == "Layout(OPLS)" and found.embedding.shape == (160, 2)
    best = {entry["arm"]: entry["scores"] for entry in found.record["summary"]["best"]}
    test = {name: scores["Jaccard@10 (cosine kNN)"]["test"] for name, scores in best.items()}
    assert test["Layout(OPLS)"] > max(test["OPLS"], test["PCA"]) + 0.2
    verdict = found.verdict["goals"]["map"]
    assert verdict["word"] == "better" and verdict["arm"] == "Layout(OPLS)"
    tried = {trial["method"]: trial["scores"]["2"] for trial in found.record["search"]["trials"]}
    assert set(tried) == {"OPLS", "Layout(OPLS)"} and found.verdict["goals"]["map"]["k"] == 2
    choice = found.record["summary"]["choice"]
    own = next(e for e in found.record["summary"]["best"] if e["arm"] == "Layout(OPLS)")["scores"]
    compared = own["Jaccard@10 (cosine kNN)"]["by_fold"]
    assert choice["folds"] == 5 + len(compared), "the folds of the search and of the comparison have chosen"
    assert choice["mean"] == pytest.approx((5 * max(tried.values()) + sum(compared)) / choice["folds"])


def test_a_map_without_layouts_says_so(data, monkeypatch):
    options = {"methods": "opls", "goal": "map", "max_trials": 1, "folds": 2, "shuffles": 0}
    little = proxembed.search(*data, **options, max_work=3)
    assert not any("Layout" in trial["method"] for trial in little.record["search"]["trials"])
    assert any(entry["arm"] == "Layout(OPLS)" for entry in little.record["summary"]["leaderboard"]), "compared alone"
    monkeypatch.setattr(plan, "DEAREST", 1e-3)
    found = proxembed.search(*data, **options, max_work=100)
    assert found.name == "OPLS" and not any("Layout" in trial["method"] for trial in found.record["search"]["trials"])
    assert "no layouts: their forecast is above 0.1 units of work, or they do not fit" in found.report()


def test_a_result_draws_its_map(data):
    found = proxembed.search(*data, **{**QUICK, "max_trials": 1, "methods": "opls"})
    panel = found.record["map"]["panels"][1]
    try:
        ax = found.plot()
        points = np.vstack([each.get_offsets() for each in ax.collections])
        assert sorted(points[:, 0]) == sorted(panel["x"]) and ax.get_title(loc="left") == "OPLS: 30 held-out rows"
    finally:
        pyplot.close("all")
    own = Figure().add_subplot()
    assert found.plot(ax=own) is own and len(own.collections) >= 2
    del found.record["map"]
    with pytest.raises(ValueError, match="no map can be drawn"):
        found.plot()


def test_a_rival_that_is_ahead_for_a_goal_is_what_is_saved(monkeypatch, tmp_path):
    """A method that has lost its way: the rival's embedding is saved, and the verdict says so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6))
    Y = X[:, :3] > 0.2
    quick = {**QUICK, "methods": ["classicalmds"], "n_components": (1, 3), "max_trials": 1, "folds": 3}
    monkeypatch.setattr(main_job, "rival_arms", lambda *args, **options: (raw, scores))
    raw, scores = (arm for arm in rival_arms(X, LabelMatrix.of(Y)) if arm.name in ("all features", "label scores"))
    found = proxembed.search(X, Y, **quick, goal="predict", folder=tmp_path / "out")
    assert found.name == found.record["search"]["chosen"]["method"] == "label scores"
    k = found.record["summary"]["saved"]["k"]
    text = f"The saved model is the rival label scores at k = {k}, which is ahead of ours on the folds"
    assert text in found.verdict["text"] and text in found.verdict["goals"]["predict"]["sentence"]
    page = (tmp_path / "out" / "index.html").read_text().replace("\u00a0", " ")
    assert text in page and set(re.findall(r"(\S+ \S+) \(the saved model\)", page.replace("<wbr>", ""))) == {
        "label scores"
    }
    model = proxembed.load(tmp_path / "out" / "model.skops")
    assert type(model.named_steps["embedding"]).__name__ == "LabelScores"
    assert np.array_equal(model.transform(X), found.embedding) and found.embedding.shape == (160, 3)
    ours = proxembed.search(X, Y, **quick | {"methods": ["opls"]}, goal="predict")
    assert ours.name == "OPLS" and "saved" not in ours.record["summary"], "level is not ahead"
    monkeypatch.setattr(main_job, "rival_arms", lambda *args, **options: (raw,))
    found = proxembed.search(X, Y, **quick, goal="predict")
    assert found.name == found.record["search"]["chosen"]["method"] == "all features"
    assert found.verdict["text"].startswith("Use all features with a ridge: they predict better than every embedding")
    assert (
        found.verdict["headline"] in found.report().replace("\u00a0", " ") and found.model.transform(X).shape == X.shape
    )
    assert proxembed.search(X, Y, **quick, goal="predict", embedding=True).name == "ClassicalMDS"
    monkeypatch.setattr(main_job, "rival_arms", lambda *args, **options: (raw, scores))
    profile = proxembed.search(X, Y, **quick)
    assert profile.name == "ClassicalMDS" and "A rival is ahead" in profile.verdict["text"], "no goal was named"


def test_forest_scores_that_are_ahead_are_what_is_saved(monkeypatch, tmp_path):
    """Labels by the size of a feature, which no line shows and trees do; a map is no place for them."""
    X = np.random.default_rng(0).normal(size=(400, 4))
    Y = np.abs(X[:, :3]) > 0.7
    quick = {**QUICK, "methods": ["opls"], "max_trials": 1, "folds": 3}
    arms = [arm for arm in rival_arms(X, LabelMatrix.of(Y)) if arm.name in ("all features", "forest scores")]
    monkeypatch.setattr(main_job, "rival_arms", lambda *args, **options: tuple(arms))
    found = proxembed.search(X, Y, **quick, goal="neighbours", folder=tmp_path / "out")
    saved = {"arm": "forest scores", "k": None, "rival": True}
    assert found.name == "forest scores" and found.record["summary"]["saved"] == saved
    assert (
        "The saved model is the rival forest scores, which is ahead" in found.verdict["goals"]["neighbours"]["sentence"]
    )
    model = proxembed.load(tmp_path / "out" / "model.skops")
    assert type(model.named_steps["embedding"]).__name__ == "ForestScores"
    assert np.array_equal(model.transform(X), found.embedding) and found.embedding.shape == (400, 3)
    assert np.mean(model.predict(X) == Y) > 0.9
    assert [panel["title"] for panel in found.record["map"]["panels"]][1] == "forest scores"
    summary = found.record["summary"]
    assert main_job.rival_ahead(summary, (summary["choice"]["method"], summary["choice"]["k"]), arms, "map") is None


def test_compression_tells_of_no_other_choice_than_the_one_that_is_saved(data):
    found = proxembed.search(*data, **QUICK | {"max_trials": 1, "methods": "opls"}, goal="compress")
    saved = found.record["search"]["chosen"]
    goal = found.verdict["goals"]["compress"]
    assert (saved["method"], saved["n_components"]) == (goal["arm"], goal["components"])
    assert found.record["summary"]["choice"] is None and "Its mean over the" not in found.report()


def test_the_decisions_of_few_labels_are_counted_where_the_plan_has_cut_them_and_there_is_room(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    given = X, X[:, 0] + rng.normal(size=600) > 1
    quick = QUICK | {"methods": "opls", "max_trials": 1, "max_work": 2}
    texts, wrong = [], "how many answers of the chosen model are right (sensitivity, specificity), "
    for room in (False, True):
        monkeypatch.setattr(main_job, "counted_arms", lambda *each, room=room: ("OPLS",) * room)
        found = proxembed.search(*given, **quick).record
        verdict = found["summary"]["verdict"]
        assert ("rows with “y” (sensitivity" in verdict["answers"]) == room
        texts.append(next(text for goal, text in verdict["cut"]["lines"] if goal == "No verdict"))
        assert any(wrong in text for text in found["search"]["budget"]["cuts"]) != room, "the record says the same"
    told = f"{wrong}F1, Hamming loss and probabilities in the tables, and thresholds of single labels"
    assert told in texts[0] and wrong not in texts[1]


def test_a_column_left_out_by_a_guess_is_named_and_is_not_among_what_was_cut(tmp_path):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 3)), rng.permutation(60) + 1000
    rows = [f"C{code},{','.join(map(str, x))},{int(x[0] > 0)}" for code, x in zip(codes, X, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["customer_id,a,b,c,y", *rows]))
    found = proxembed.search(tmp_path / "t.csv", labels="y", **QUICK | {"max_trials": 1, "methods": "opls"})
    verdict = found.record["summary"]["verdict"]
    assert verdict["unused"].startswith("customer_id is an id") and "customer_id" not in str(verdict["cut"]["lines"])
    assert "\nNot used as features: customer_id is an id" in verdict["text"]


def test_the_first_picture_is_the_map_of_the_verdict_with_its_figure_and_its_cuts_are_told_once():
    """Of five components the first two are judged as a map: that picture has the value of the verdict."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(240, 8))
    Y = X[:, :5] + 0.3 * rng.normal(size=(240, 5)) > 0.4
    quick = {**QUICK, "methods": ["opls"], "max_trials": 1, "n_components": (2, 5), "folds": 2}
    found = proxembed.search(X, Y, **quick, test=np.arange(160, 240))
    goal = found.verdict["goals"]["map"]
    shown = [panel for panel in found.record["map"]["panels"] if panel.get("judged")]
    assert (goal["arm"], goal["k"]) == ("OPLS", 2) and found.record["summary"]["choice"]["k"] == 5
    assert [panel["score"] for panel in shown] == [pytest.approx(goal["value"])]
    titles = [panel["title"] for panel in found.record["map"]["panels"]]
    assert titles == ["PCA", "OPLS", "OPLS on shuffled labels"] and shown[0]["title"] == "OPLS", "drawn once"
    assert "The first picture is the map that the verdict “Map” is of: OPLS at k = 2" in found.report()
    assert found.verdict["text"].count("What was cut: ") == 1
    assert found.verdict["cut"]["what"].startswith(("Nothing was cut", "Left out or made smaller"))


def test_what_follows_the_comparison_shares_what_its_fits_on_the_same_rows_have_computed(data, monkeypatch):
    decomposed = []

    def counted(M):
        decomposed.append(M.tobytes())
        return descending(M)

    monkeypatch.setattr(coordinates, "descending", counted)
    asked = QUICK | {"methods": "Kernelized(OPLS)", "max_trials": 1}
    proxembed.search(*data, **asked, test=np.arange(60, 120))
    kernels = Counter(M for M in decomposed if len(M) >= 8 * 60 * 60)
    assert len(kernels) == 6, "one of each width"
    assert {*kernels.values()} == {1}, "in the comparison, the evidence and the last fit together"
