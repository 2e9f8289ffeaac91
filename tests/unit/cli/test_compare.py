"""`proxembed compare` from the command line: the whole verb, machine output, and bad input in one line."""

import csv
import json

import numpy as np
import pytest

from proxembed.persist import load
from proxembed.workflow import comparison
from runs import program, succeeded

FAST = ["--methods", "opls", "-k", "1,2", "--folds", "2", "--jobs", "1"]


@pytest.fixture(autouse=True)
def few_rivals(monkeypatch):
    """The forest is slow to grow and is tested in its own room."""
    whole = comparison.rival_arms
    monkeypatch.setattr(comparison, "rival_arms", lambda *args, **options: whole(*args, **options)[:4])


def test_the_verdict_comes_last_and_the_contrasts_before_it(file, tmp_path):
    done = succeeded(program("compare", file, *FAST, "-o", tmp_path / "out", "--keep-rival", "Logistic regression"))
    kept = load(tmp_path / "out" / "rival.skops")["embedding"]
    assert kept.title == "logistic regression" and "rival.md" in "".join(done.stdout.split())
    refused = program("compare", file, *FAST, "-o", tmp_path / "no", "--keep-rival", "logit")
    assert refused.exit_code == 2 and not (tmp_path / "no").exists()
    assert "--keep-rival: 'logit' is neither a rival nor a method; the rivals are all features, " in refused.stderr
    verdict = json.loads((tmp_path / "out" / "results.json").read_text())["summary"]["verdict"]
    words = " ".join(done.output.split())
    *_, last = verdict["goals"].values()
    assert words.endswith(last.get("command") or last["advice"]) and words.count(verdict["headline"]) == 1
    assert verdict["note"] not in words and last["sentence"] not in words  # the page tells them
    assert "best method - all features:" in words and "(Holm)" in words
    with open(tmp_path / "out" / "leaderboard.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {row["arm"] for row in rows} == {"OPLS", "all features", "PCA", "logistic regression", "label scores"}
    measures = {(row["measure"], row["readout"]) for row in rows}
    assert {("Hamming loss", "ridge"), ("log-loss", "ridge")} <= measures


@pytest.mark.filterwarnings("ignore:OPLS cannot use rows without a known label")
def test_one_label_of_which_some_cells_are_empty(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    told = np.where(X[:, 0] + 0.3 * random.normal(size=80) > 0, "1", "0")
    told[::9] = ""
    lines = [",".join([*(f"{value:.3f}" for value in row), label]) for row, label in zip(X, told, strict=True)]
    (tmp_path / "one.csv").write_text("\n".join(["a,b,c,topic", *lines]) + "\n")
    words = [*FAST, "-k", "1", "--labels", "topic", "--json", "-o", tmp_path / "out"]
    done = succeeded(program("compare", tmp_path / "one.csv", *words))
    found = json.loads(done.stdout)
    assert found["dataset"]["labels"] == 1 and found["dataset"]["unknown_cells"] == 9
    best = found["leaderboard"][0]["scores"]["macro average precision (ridge)"]["mean"]
    assert best > 0.9


def test_json_is_one_document_with_contrasts_and_test_scores(file, tmp_path):
    pair = ["--contrast", "opls:pca"]
    done = program("compare", file, *FAST, *pair, "--standard-split", "--json", "-o", tmp_path / "out")
    found = json.loads(done.stdout)
    assert [(entry["a"], entry["b"], entry["n"]) for entry in found["contrasts"]] == [("OPLS", "PCA", 2)]
    assert found["fold_sizes"]["test"] == {"train": 60, "held_out": 20}
    scores = [score for entry in found["leaderboard"] for score in entry["scores"].items()]
    missing = {name for name, score in scores if score["test"] is None}
    assert missing <= {"new-new Jaccard@10 (cosine kNN)"}  # 20 rows are too few for ten neighbours among them


def test_repeats_give_more_folds(file, tmp_path):
    done = program("compare", file, *FAST, "-k", "1", "--repeats", "2", "--json", "-o", tmp_path / "out")
    found = json.loads(done.stdout)
    assert len(found["folds"]) == 4 and found["protocol"]["splitting"]["n_repeats"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--methods", "oplls"], "unknown method 'oplls'; did you mean opls"),
        (["-k", "two"], "-k 'two' is not a list of whole numbers"),
        (["-k", "0,2"], "must be at least 1"),
        (["--folds", "81"], "--folds 81 must be from 2 to the number of rows (80); take fewer folds, or more rows."),
        (["--max-seconds", "0"], "--max-seconds 0 is not above 0."),
        (["--contrast", "opls"], "--contrast opls must be two of the arms"),
    ],
)
def test_bad_options_end_with_one_line_and_code_2(file, tmp_path, options, message):
    done = program("compare", file, "-o", tmp_path / "out", "--jobs", "1", *options)
    assert done.exit_code == 2 and done.stdout == ""
    assert message in done.stderr and len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_one_line_and_code_2(file, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = program("compare", file, *FAST, "-o", tmp_path / "out")
    assert done.exit_code == 2 and "No space left on device" in done.stderr
    assert "No space left" in done.stderr.strip().splitlines()[-1] and not (tmp_path / "out").exists()
