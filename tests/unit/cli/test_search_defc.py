"""`proxembed search --engine defc`: the folder, the saved model, the test rows, Ctrl-C, options of the wrong engine."""

import json
import warnings
from functools import partial

import numpy as np
import pytest
import typer

from proxembed import DEFC
from proxembed.cli.predict import predict
from proxembed.cli.report import report
from proxembed.cli.search import search
from proxembed.cli.transform import transform
from proxembed.data import Dataset, banana
from proxembed.methods.pipeline import embedding_pipeline
from proxembed.persist import load
from proxembed.report import adaptive
from proxembed.report.adaptive import adaptive_view
from proxembed.study.defc.prefixes import CLASSIFIERS
from proxembed.study.trials import STRATEGIES
from proxembed.workflow import engines, main_job, options
from proxembed.workflow.options import SearchOptions
from runs import invoke, quick_runs, succeeded, without_split

APP = typer.Typer(pretty_exceptions_enable=False)
for verb in (search, report, predict, transform):
    APP.command()(verb)
QUICK = ["--engine", "defc", "--max-trials", "8", "--folds", "2", "--shuffles", "0"]


program = partial(invoke, APP)


def searched(file, out, *options):
    succeeded(program("search", file, *QUICK, *options, "-o", out))
    return json.loads((out / "results.json").read_text())


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory):
    """The folder of one search, its file and its record."""
    folder = tmp_path_factory.mktemp("whole")
    file = without_split(made, folder / "made.npz")
    with quick_runs():
        return folder / "out", file, searched(file, folder / "out", "--shuffles", "19")


def test_the_folder_tells_of_the_models_and_holds_the_best(whole, made):
    out, _, record = whole
    found, chosen = record["adaptive"], record["search"]["chosen"]
    assert (found["search"], found["classifier"], found["measure"]) == ("reduced8", "1nn", "macro F1")
    assert (found["n_models"], found["n_evaluations"], found["rows"], found["folds"]) == (8, 8, 90, 3)
    arms = [entry["arm"] for entry in record["summary"]["best"] if not entry["rival"]]
    named = [f"DEFC [{','.join(map(str, model['switches']))}]" for model in found["models"][:3]]
    assert sorted(arms) == sorted(named) and chosen["method"] == arms[0] and record["diagnosis"]["n_shuffles"] == 19
    judged = record["summary"]["verdict"]["goals"]["map"]
    panels = ["PCA", arms[0], f"{arms[0]} on shuffled labels", f"{judged['arm']} at k = {judged['k']}"]
    assert [panel["title"] for panel in record["map"]["panels"]] == panels
    assert record["proximity"]["measure"] == "gaussian" and record["map"]["held_out"] == 30
    model, Z = load(out / "model.skops"), np.load(out / "embedding.npz")["Z"]
    assert list(model["embedding"].switches_) == [int(i) for i in chosen["method"][6:-1].split(",")]
    assert np.array_equal(model[:-1].transform(made[0]), Z) and Z.shape[1] == chosen["n_components"]
    page = (out / "index.html").read_text()
    assert 'id="models"' in page and "Proximity before and after" in page and "<b>two" not in page


def test_the_page_is_rebuilt_and_new_rows_are_embedded_and_labelled(whole, tmp_path, made, monkeypatch):
    out, unsplit, _ = whole
    page = (out / "index.html").read_bytes()
    monkeypatch.setattr(engines, "adaptive_models", None)
    assert program("report", out).exit_code == 0 and (out / "index.html").read_bytes() == page
    succeeded(program("transform", out / "model.skops", unsplit, "-o", tmp_path / "z.npz"))
    assert np.array_equal(np.load(tmp_path / "z.npz")["Z"], np.load(out / "embedding.npz")["Z"])
    succeeded(program("predict", out / "model.skops", unsplit, "-o", tmp_path / "y.csv"))
    given = np.loadtxt(tmp_path / "y.csv", delimiter=",", skiprows=1)
    assert np.mean(given == made[1]) > 0.75


def test_the_search_sees_neither_test_rows_nor_unknown_labels(tmp_path, made, monkeypatch):
    X, Y = made
    y = np.where(np.arange(120) % 6 == 0, -1, X[:, :3].argmax(axis=1))
    lines = [",".join([*map(str, row), "" if c < 0 else f"class {c}"]) for row, c in zip(X.round(4), y, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join([",".join([*(f"f{j}" for j in range(6)), "kind"]), *lines]))
    whole, seen, splits = DEFC.fit, [], []
    monkeypatch.setattr(DEFC, "fit", lambda self, X, y: seen.append(np.array(X)) or whole(self, X, y))
    parted = main_job.with_test_rows
    monkeypatch.setattr(main_job, "with_test_rows", lambda *given: splits.append(parted(*given)) or splits[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = searched(tmp_path / "table.csv", tmp_path / "out", "--labels", "kind")
    split = splits[0][1]
    known = np.array([row for row in split.train if y[row] >= 0])
    assert len(seen) == 1 and len(seen[0]) == len(known) == record["adaptive"]["rows"]
    part = X.round(4)[known]
    np.testing.assert_allclose(np.sort(seen[0], axis=0), np.sort((part - part.mean(0)) / part.std(0, ddof=1), axis=0))
    assert record["adaptive"]["measure"] == "subset accuracy"
    predicted = load(tmp_path / "out" / "model.skops").predict(X)
    assert predicted.shape == (120,) and set(predicted) <= {"class 0", "class 1", "class 2"}


def test_groups_stay_whole_in_the_folds_of_the_search(made, monkeypatch):
    X, Y = made
    train = Dataset(X=X, Y=Y, label_names=["a", "b", "c"], groups=np.arange(120) // 30)
    whole, calls, folds = DEFC.fit, [], []
    monkeypatch.setattr(DEFC, "fit", lambda self, X, y: folds.extend(self.cv) or whole(self, X, y))
    monkeypatch.setattr(engines, "MANY_ROWS", 119)
    found = engines.adaptive_models(defc_options(), train, lambda *told: calls.append(told))
    assert len(found.leaders) == 1  # of many rows
    assert all(not {*train.groups[f.train]} & {*train.groups[f.held_out]} for f in folds)
    assert found.adaptive["folds"] == len(folds) == 3 and len(found.trials) == 8 and not found.interrupted
    assert calls and all(trial["scores"] or trial["failure"] for trial in found.trials)


def test_ctrl_c_in_the_search_keeps_the_best_so_far(unsplit, tmp_path, monkeypatch):
    from proxembed.study.defc.objective import Objective

    whole, calls = Objective.evaluate, []

    def stopped(self, *given):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return whole(self, *given)

    monkeypatch.setattr(Objective, "evaluate", stopped)
    done = program("search", unsplit, *QUICK, "-o", tmp_path / "out")
    assert done.exit_code == 130 and "interrupted; the best so far (DEFC [3," in done.stderr, done.output
    kept = ["embedding.npz", "model.md", "model.skops", "study.jsonl", "unfinished.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "umap"], "--engine umap must be 'methods' or 'defc'."),
        (
            ["--engine", "defc", "--strategy", "tpe"],
            f"--strategy tpe is unknown to the engine 'defc'; choose one of {', '.join(STRATEGIES['models'])}.",
        ),
        (["--engine", "defc", "--classifier", "tree"], "--classifier tree must be '1nn', 'flda' or 'svm'."),
        (
            ["--strategy", "ga"],
            f"--strategy ga is unknown to the engine 'methods'; choose one of {', '.join(STRATEGIES['methods'])}.",
        ),
        (["--classifier", "1nn"], "--classifier 1nn is an option of the engine 'defc'; name that engine"),
        (
            ["--engine", "defc", "--methods", "opls"],
            "--methods opls names methods, but the engine 'defc' makes its own",
        ),
    ],
)
def test_options_that_do_not_fit_end_with_one_line_and_code_2(unsplit, tmp_path, options, message):
    done = program("search", unsplit, *options, "-o", tmp_path / "out")
    assert done.exit_code == 2 and done.stdout == "" and message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and not (tmp_path / "out").exists()


def test_the_program_knows_every_classifier_of_the_engine():
    assert {*options.CLASSIFIERS} == {*CLASSIFIERS} == {*adaptive.CLASSIFIERS}


def test_too_many_rows_are_refused_before_the_search(unsplit, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "MOST_ROWS", 89)
    done = program("search", unsplit, *QUICK, "-o", tmp_path / "out")
    assert done.exit_code == 2 and "takes at most 89 rows, but there are 90" in done.stderr


def defc_options(**more):
    return SearchOptions(**{"engine": "defc", "max_seconds": None, "max_trials": 8, "folds": 2, "shuffles": 0} | more)


def test_the_python_of_the_page_makes_the_best_model_of_the_search(made):
    X, Y = made
    train = Dataset(X=3.0 * X + 1.0, Y=Y, label_names=["a", "b", "c"])
    found = engines.adaptive_models(defc_options(strategy="random"), train, lambda *told: None)
    names = {}
    exec(adaptive_view(found.adaptive)["call"], names)
    pipeline = embedding_pipeline(found.leaders[0][1], train.X, readout=False)
    fits = [model.fit(train.X, Y).transform(train.X) for model in (names["model"], pipeline)]
    assert np.array_equal(*fits) and fits[0].shape == (120, found.adaptive["models"][0]["k"])
    assert found.adaptive["fitted"] != found.adaptive["models"][0]["params"]  # neighbours have grown


@pytest.mark.parametrize("strategy", ["reduced8", "ga"])
def test_the_genetic_algorithm_gets_thousands_of_evaluations_where_none_are_asked_for(made, monkeypatch, strategy):
    X, Y = made
    asked = []
    whole = DEFC.fit
    monkeypatch.setattr(
        DEFC, "fit", lambda self, X, y: asked.append(self.max_evals) or whole(self.set_params(max_evals=2), X, y)
    )
    asking = defc_options(strategy=strategy, max_trials=None, max_seconds=60.0)
    engines.adaptive_models(asking, Dataset(X=X, Y=Y, label_names=["a", "b", "c"]), lambda *told: None)
    assert asked == [{"reduced8": 200, "ga": 4000}[strategy]]


@pytest.mark.parametrize("classifier", ["1nn", "flda", "svm"])
def test_one_column_of_0_and_1_is_a_label_like_any_other(tmp_path, classifier):
    data = banana(60, 1)
    table = np.column_stack([data.X, data.Y.toarray()[:, 0] if hasattr(data.Y, "toarray") else data.Y[:, 0]])
    np.savetxt(tmp_path / "one.csv", table, delimiter=",", header="x,y,label", comments="", fmt=["%.4f", "%.4f", "%d"])
    record = searched(
        tmp_path / "one.csv", tmp_path / "out", "--labels", "label", "--classifier", classifier, "--max-trials", "2"
    )
    assert record["adaptive"]["n_failed"] == 0 and record["adaptive"]["models"][0]["score"] > 0.8
    assert load(tmp_path / "out" / "model.skops").predict(data.X).shape == (60,)
