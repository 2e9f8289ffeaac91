"""`proxembed search`: the whole job on a small file, Ctrl-C at each stage, the chosen model, bad options."""

import csv
import json
import shutil
import warnings
from functools import partial

import numpy as np
import pytest
import typer

from designs import in_turn
from proxembed.cli.search import search
from proxembed.persist import load
from proxembed.workflow import main_job
from proxembed.workflow import record as record_module
from proxembed.workflow.record import file_hash
from runs import invoke, quick_runs, succeeded, without_split

APP = typer.Typer()
APP.command()(search)
QUICK = ["--methods", "opls,mvmd", "--max-trials", "4", "-k", "1,2", "--folds", "2", "--max-work", "1000"]
QUICK += ["--shuffles", "19"]
SHORT = ["--max-trials", "1", "--shuffles", "0", "--max-work", "1"]
FILES = [
    "embedding.npz",
    "index.html",
    "leaderboard.csv",
    "model.md",
    "model.skops",
    "predictions.npz",
    "results.json",
    "study.jsonl",
]


program = partial(invoke, APP)


def names(folder):
    """What is in a folder, but for what an ended comparison leaves to the run that resumes."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".comparison.jsonl")


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory):
    """The folder of one search, its file, and what it printed."""
    folder = tmp_path_factory.mktemp("whole")
    file, out = without_split(made, folder / "made.npz"), folder / "out"
    page_file = record_module.page_file
    with quick_runs() as patch:
        patch.setattr(record_module, "page_file", lambda record: typer.echo("page begun") or page_file(record))
        done = program(file, *QUICK, "-o", out)
    assert done.exit_code == 0, done.output
    return out, file, done.output


@pytest.fixture
def earlier(whole, tmp_path):
    """A copy of this folder."""
    return shutil.copytree(whole[0], tmp_path / "out")


def test_the_folder_holds_model_rows_evidence_and_page(whole, made):
    out, unsplit, output = whole
    assert names(out) == FILES
    record = json.loads((out / "results.json").read_text())
    assert record["kind"] == "search" and record["data_hash"] == file_hash(unsplit)
    assert record["summary"]["fold_sizes"]["test"] == {"train": 90, "held_out": 30}
    assert len(record["search"]["trials"]) == 4 and record["diagnosis"]["n_shuffles"] == 19
    assert [panel["title"] for panel in record["map"]["panels"]][0] == "PCA"
    assert record["map"]["held_out"] == 30 and len(record["label_table"]) == 3
    model, embedded = load(out / "model.skops"), np.load(out / "embedding.npz")
    Z = embedded["Z"]
    np.testing.assert_allclose(embedded["mean"], Z.mean(axis=0), atol=1e-12)
    assert embedded["constant"] == pytest.approx((Z - Z.mean(axis=0)).std())
    assert np.array_equal(model[:-1].transform(made[0]), Z) and len(Z) == 120
    assert Z.shape[1] == record["search"]["chosen"]["n_components"] == len(record["components"])
    with open(out / "leaderboard.csv", newline="") as lines:
        kinds = {row["arm"]: row["kind"] for row in csv.DictReader(lines)}
    assert kinds["OPLS"] == "method" and kinds["all features"] == kinds["label scores"] == "rival"
    verdict = record["summary"]["verdict"]
    words = " ".join(output.split())
    advice = " ".join(list(verdict["goals"].values())[-1]["advice"].split())
    assert words.count(advice) == 1 and words.index(advice) < words.index("page begun") < words.index("written: ")
    assert "<b>two" not in (out / "index.html").read_text()


def test_the_saved_model_the_verdict_and_the_board_have_the_choice_of_the_search_which_repeats(whole, tmp_path):
    done = program(whole[1], *QUICK, "--shuffles", "0", "--json", "-o", tmp_path / "out")
    summary = json.loads(done.stdout)
    rows = [json.loads((out / "results.json").read_text())["rows"] for out in (whole[0], tmp_path / "out")]
    assert [{**row, "seconds": 0} for row in rows[0]] == [{**row, "seconds": 0} for row in rows[1]]
    record, choice = json.loads((tmp_path / "out" / "results.json").read_text()), summary["choice"]
    scores = {trial["method"]: trial["scores"] for trial in reversed(record["search"]["trials"]) if trial["complete"]}
    joint = {}  # the five folds of the search and those of the comparison, alike
    for entry in summary["leaderboard"]:
        if not entry["rival"] and str(entry["k"]) in scores.get(entry["arm"], {}):
            compared = entry["scores"][summary["measures"][0]]["by_fold"]
            joint[entry["arm"], entry["k"]] = (5 * scores[entry["arm"]][str(entry["k"])] + sum(compared)) / (
                5 + len(compared)
            )
    best = max(joint, key=joint.__getitem__)
    assert (choice["method"], choice["k"]) == best and choice["mean"] == pytest.approx(joint[best])
    assert choice["folds"] == 5 + len(compared)
    assert choice["configurations"] == sum(each["complete"] for each in record["search"]["trials"]) > 1
    assert not choice["anchored"]
    assert record["search"]["chosen"]["method"] == choice["method"] == summary["verdict"]["goals"]["predict"]["arm"]
    assert record["search"]["chosen"]["n_components"] == choice["k"] == summary["verdict"]["goals"]["predict"]["k"]
    assert next(entry["k"] for entry in summary["best"] if entry["arm"] == choice["method"]) == choice["k"]
    page = (tmp_path / "out" / "index.html").read_text()
    assert (
        f"Its mean over the {choice['folds']} folds of the search (other folds than the {len(summary['folds'])} of the "
        f"comparison) is {choice['mean']:.3f}, the best of" in page
    )
    assert f"what is chosen scores {choice['score']:.3f} on the folds left out" in page
    assert f"k = {choice['k']}. Its mean" in page


def test_a_standard_split_and_classes_are_taken_as_they_are(tmp_path, made):
    X, Y = made
    path = tmp_path / "classes.npz"
    np.savez(path, X=X, Y=Y.sum(axis=1), train_idx=np.arange(80), test_idx=np.arange(80, 120))
    succeeded(program(path, *QUICK, *SHORT, "-o", tmp_path / "out"))
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    assert record["summary"]["fold_sizes"]["test"] == {"train": 80, "held_out": 40} and record["diagnosis"] is None
    assert set(load(tmp_path / "out" / "model.skops").predict(X)) <= {0, 1, 2, 3}


def stop(*arguments, **options):
    raise KeyboardInterrupt


def test_ctrl_c_in_the_search_keeps_the_best_so_far(unsplit, tmp_path, monkeypatch):
    from proxembed.study import trials

    whole, calls = trials.score, []

    def stopped(*arguments, **options):
        calls.append(1)
        return whole(*arguments, **options) if len(calls) < 6 else stop()

    monkeypatch.setattr(trials, "score", stopped)
    done = program(unsplit, *QUICK, "-o", tmp_path / "out")
    assert done.exit_code == 130 and "interrupted; the best so far" in done.stderr
    assert names(tmp_path / "out") == ["embedding.npz", "model.md", "model.skops", "study.jsonl", "unfinished.json"]
    assert load(tmp_path / "out" / "model.skops").predict(np.zeros((1, 6))).shape == (1, 3)


def test_ctrl_c_in_the_comparison_keeps_the_folds_done(unsplit, tmp_path, monkeypatch):
    whole = main_job.run

    def stopped(rules, dataset, progress, store, **more):
        def tell(done, total, text):
            if done == len(rules.arms) + 1 and text != "interrupted":
                raise KeyboardInterrupt
            progress(done, total, text)

        return whole(rules, dataset, tell, store, **more)

    monkeypatch.setattr(main_job, "run", stopped)
    done = program(unsplit, *QUICK, "-o", tmp_path / "out")
    assert done.exit_code == 130 and "interrupted; the finished part is in" in done.stderr
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    assert record["summary"]["interrupted"] and record["diagnosis"] is None and names(tmp_path / "out") == FILES


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--methods", "oplls"], "unknown method 'oplls'; did you mean opls"),
        (["-k", "two"], "-k 'two' is not a list of whole numbers"),
        (["--max-seconds", "nan"], "--max-seconds nan must be inf or a number > 0"),
        (["--max-work", "0"], "--max-work 0 is not above 0."),
        (["--shuffles", "18"], "--shuffles 18 are too few for a test at the 5 % level"),
    ],
)
def test_bad_options_end_with_one_line_and_code_2(unsplit, tmp_path, options, message):
    done = program(unsplit, *QUICK, "-o", tmp_path / "out", *options)
    assert done.exit_code == 2 and done.stdout == "" and message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file_is_refused_before_the_work(unsplit, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr(main_job, "run_engine", None)
    done = program(unsplit, *QUICK, "-o", tmp_path / "taken")
    assert done.exit_code == 2 and "taken" in done.stderr and (tmp_path / "taken").read_text() == "mine"


def test_a_disk_that_is_full_from_the_start_leaves_the_earlier_folder_whole(unsplit, earlier, full_at):
    out = earlier
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    full_at(None)
    done = program(unsplit, *QUICK, "--seed", "1", "-o", out)
    assert done.exit_code == 2 and "study.jsonl: No space left on device; free some space" in done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_disk_that_is_full_at_the_page_keeps_all_else_and_no_earlier_page(unsplit, earlier, monkeypatch):
    out = earlier

    def full(*arguments, **options):
        raise OSError(28, "No space left on device", "index.html")

    monkeypatch.setattr(record_module, "page_html", full)
    done = program(unsplit, *QUICK, *SHORT, "--seed", "1", "-o", out)
    assert done.exit_code == 2 and "No space left on device" in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert "No space left on device" in last and f"Before that: kept in {out}: model.skops" in last
    assert names(out) == [name for name in FILES if name != "index.html"]
    assert json.loads((out / "results.json").read_text())["seed"] == 1


def test_a_file_hash_is_that_of_its_bytes(tmp_path):
    import hashlib

    (tmp_path / "file").write_bytes(b"abc" * 1_000_000)
    assert file_hash(tmp_path / "file") == "sha256:" + hashlib.sha256(b"abc" * 1_000_000).hexdigest()


def test_unknown_labels_are_trained_on_and_never_scored(tmp_path, made):
    X, Y = made
    y = np.where(np.arange(120) % 6 == 0, -1, X[:, :3].argmax(axis=1))
    path = tmp_path / "table.csv"
    rows = [[*map(str, row), "" if c < 0 else f"class {c}"] for row, c in zip(X.round(4), y, strict=True)]
    with open(path, "w", newline="") as lines:
        csv.writer(lines).writerows([[*(f"f{j}" for j in range(6)), "kind"], *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = program(path, "--labels", "kind", *QUICK, *SHORT, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    assert sum(fold["held_out"] for fold in record["summary"]["fold_sizes"].values()) == 100


@in_turn("row", range(3), 3)
def test_a_label_of_one_row_may_be_missing_wherever_rows_are_left_out(tmp_path, made, monkeypatch, row):
    X, Y = made
    Y = np.column_stack([Y, np.arange(120) == 7 * row])
    np.savez(tmp_path / "rare.npz", X=X, Y=Y.astype(np.uint8))
    monkeypatch.setattr(main_job, "DIAGNOSIS", 20)
    # some part of the rows lacks the label: the training rows, a fold, an inner fold of the cuts, or the diagnosis
    words = ["--methods", "cca", "--max-trials", "1", "-k", "4", "--folds", "2", "--shuffles", "19", "--max-work", "10"]
    succeeded(program(tmp_path / "rare.npz", *words, "-o", tmp_path / "out"))
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    assert record["search"]["chosen"]["n_components"] == 3 and record["diagnosis"]["n"] == 40
