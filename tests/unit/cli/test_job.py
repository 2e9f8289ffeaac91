"""The job of `compare` and `demo`: its options, what it writes, the sections of the page, refusals."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import typer

from proxembed.cli import job as job_module
from proxembed.cli.job import Job, finished, parse_arms, parse_contrasts, parse_sizes, run_job
from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm, method_arms
from proxembed.evaluate.predictions import load_predictions

FAST = {"methods": "opls", "sizes": "1,2", "folds": 2, "jobs": 1, "quiet": True}


@pytest.fixture
def dataset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(80, 3)) > 0).astype(np.uint8)
    names = ["<b>", "two", "three"]
    return Dataset(X, Y, label_names=names, name="made", train_idx=np.arange(60), test_idx=np.arange(60, 80))


@pytest.fixture(autouse=True)
def few_rivals(monkeypatch):
    """The forest is slow to grow and is tested in its own room."""
    whole = job_module.rival_arms
    monkeypatch.setattr(job_module, "rival_arms", lambda *args, **options: whole(*args, **options)[:4])


def record_of(folder):
    return json.loads((folder / "results.json").read_text())


def test_the_folder_holds_everything_that_is_promised(dataset, tmp_path):
    run_job(Job("compare", tmp_path / "out", **FAST), dataset)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["index.html", "leaderboard.csv", "predictions.npz", "results.json"]
    record = record_of(tmp_path / "out")
    assert record["kind"] == "compare" and record["seed"] == 0 and record["data_hash"] is None
    scores, rows = load_predictions(tmp_path / "out" / "predictions.npz")
    assert ("OPLS", 2, "1") in scores and sorted(np.concatenate(list(rows.values()))) == list(range(80))


def test_the_record_has_contrasts_map_labels_and_components(dataset, tmp_path):
    run_job(Job("demo", tmp_path, **FAST, seed=3), dataset)
    record = record_of(tmp_path)
    assert [(entry["a"], entry["b"]) for entry in record["contrasts"]] == [
        ("best method", "all features"),
        ("best method", "best rival"),
    ]
    assert [panel["title"] for panel in record["map"]["panels"]] == ["PCA", "OPLS", "OPLS on shuffled labels"]
    assert record["map"]["held_out"] == record["summary"]["fold_sizes"]["1"]["held_out"]
    assert {row["label"] for row in record["label_table"]} == {"<b>", "two", "three"}
    precision = {row["label"]: row["ap_raw"] for row in record["label_table"]}
    assert all(0 < value < 1 for value in precision.values())
    raw = next(entry for entry in record["summary"]["leaderboard"] if entry["arm"] == "all features")
    mean = raw["scores"]["macro average precision (ridge)"]["mean"]
    assert np.mean(list(precision.values())) == pytest.approx(mean, abs=1e-4)
    assert [row["component"] for row in record["components"]][0] == 1


def test_the_map_shows_the_test_rows_where_they_are_scored(dataset, tmp_path):
    run_job(Job("compare", tmp_path, **FAST, standard=True), dataset)
    record = record_of(tmp_path)
    assert record["map"]["held_out"] == 20 and record["summary"]["fold_sizes"]["test"]["held_out"] == 20


def test_without_a_method_that_worked_there_is_no_map(dataset, tmp_path, monkeypatch):
    broken = Arm("broken", method_arms(["opls"])[0].estimator.set_params(ridge=-1))
    monkeypatch.setattr(job_module, "method_arms", lambda *args, **options: (broken,))
    run_job(Job("compare", tmp_path, **FAST), dataset)
    record = record_of(tmp_path)
    assert record["map"] is None and record["label_table"] is None
    assert {row["failure"] is None for row in record["rows"] if row["arm"] == "broken"} == {False}
    assert record["contrasts"][0]["difference"] < 0


def test_two_processes_write_what_one_writes(dataset, tmp_path):
    for jobs in (1, 2):
        run_job(Job("compare", tmp_path / str(jobs), **{**FAST, "jobs": jobs}), dataset)
    alone, together = (record_of(tmp_path / name)["summary"]["best"] for name in "12")
    assert [entry["arm"] for entry in alone] == [entry["arm"] for entry in together]


def interrupted_at(calls: int, monkeypatch):
    whole = job_module.run

    def stopped(protocol, dataset, progress):
        def stop(done, total, text):
            if done == calls and not text.startswith("interrupted"):
                raise KeyboardInterrupt

        return whole(protocol, dataset, stop)

    monkeypatch.setattr(job_module, "run", stopped)


def test_interruption_keeps_the_complete_folds(dataset, tmp_path, monkeypatch, capsys):
    interrupted_at(7, monkeypatch)
    with pytest.raises(typer.Exit) as stopped:
        run_job(Job("compare", tmp_path, **FAST), dataset)
    assert stopped.value.exit_code == 130
    assert "kept 1 complete folds of 2" in capsys.readouterr().err
    record = record_of(tmp_path)
    assert record["summary"]["interrupted"] and record["map"] is None
    assert "OPLS" in (tmp_path / "leaderboard.csv").read_text()


def test_interruption_before_the_first_arm_writes_nothing(dataset, tmp_path, monkeypatch, capsys):
    interrupted_at(0, monkeypatch)
    with pytest.raises(typer.Exit) as stopped:
        run_job(Job("compare", tmp_path, **FAST), dataset)
    assert stopped.value.exit_code == 130 and "nothing was written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_interruption_of_the_map_keeps_the_comparison(dataset, tmp_path, monkeypatch, capsys):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(job_module, "held_out_evidence", stop)
    with pytest.raises(typer.Exit) as stopped:
        run_job(Job("compare", tmp_path, **FAST), dataset)
    assert stopped.value.exit_code == 130 and "kept 2 complete folds of 2" in capsys.readouterr().err
    record = record_of(tmp_path)
    assert record["map"] is None and len(record["summary"]["folds"]) == 2


def test_a_budget_is_told_in_the_failures(dataset, tmp_path):
    run_job(Job("compare", tmp_path, **FAST, max_seconds=1e-9), dataset)
    failures = record_of(tmp_path)["summary"]["failures"]
    assert failures and all("budget of 1e-09 seconds" in reason for _, _, reason in failures)


def test_an_output_folder_that_is_a_file_is_refused_before_the_work(dataset, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr(job_module, "run", None)
    with pytest.raises(FileExistsError):
        run_job(Job("compare", tmp_path / "taken", **FAST), dataset)
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser writes everywhere")
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(dataset, tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setattr(job_module, "run", None)
    with pytest.raises(PermissionError):
        run_job(Job("compare", tmp_path, **FAST), dataset)


def test_a_full_disk_leaves_earlier_outputs(dataset, tmp_path, full_at):
    run_job(Job("compare", tmp_path, **FAST), dataset)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    full_at(None)
    with pytest.raises(OSError, match="No space left"):
        run_job(Job("compare", tmp_path, **FAST, seed=1), dataset)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_disk_that_is_full_at_the_second_file_leaves_all_earlier_outputs(dataset, tmp_path, full_at):
    run_job(Job("compare", tmp_path, **FAST), dataset)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    full_at(2)
    with pytest.raises(OSError, match="No space left"):
        run_job(Job("compare", tmp_path, **FAST, seed=1), dataset)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_refusal_after_the_folder_was_made_takes_it_away_again(dataset, tmp_path):
    with pytest.raises(ValueError, match="n_folds=81"):
        run_job(Job("compare", tmp_path / "new" / "out", **{**FAST, "folds": 81}), dataset)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    with pytest.raises(ValueError, match="n_folds=81"):
        run_job(Job("compare", tmp_path / "old", **{**FAST, "folds": 81}), dataset)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_refused_contrast_names_each_side_once():
    with pytest.raises(ValueError) as caught:
        parse_contrasts(("a:b",), method_arms(["opls"]))
    assert str(caught.value).endswith("the sides are OPLS, best method, best rival, all features.")


@pytest.mark.parametrize("texts", [("opls",), ("opls:nothing",), ("opls:opls",), ("a:b:c",)])
def test_contrasts_that_name_no_arms_are_refused(texts):
    with pytest.raises(ValueError, match=r"--contrast .* must be two of them as A:B"):
        parse_contrasts(texts, method_arms(["opls"]))


def test_contrasts_with_arms_that_ctrl_c_left_without_results_are_left_out():
    summary = {"leaderboard": [{"arm": "OPLS"}, {"arm": "all features"}]}
    pairs = (("OPLS", "all features"), ("OPLS", "MDDM"), ("best method", "best rival"))
    assert finished(pairs, summary) == [pairs[0], pairs[2]]


def test_sizes_and_arms(dataset):
    assert parse_sizes("5, 2,2", 9, 9) == (2, 5) and parse_sizes(None, 1, 9) == (2, 5, 9)
    for text, message in (
        ("two", "not a list of whole numbers"),
        ("0,2", "must be at least 1"),
        ("2,51", "the data have 50 features"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_sizes(text, 3, 50)
    named = parse_arms("opls,raw,PCA,labelscores,forest", dataset, 0)
    assert [arm.name for arm in named] == [arm.name for arm in parse_arms("opls", dataset, 0)]
    with pytest.raises(ValueError, match="unknown method 'oplls'; did you mean opls"):
        parse_arms("oplls", dataset, 0)


def test_the_hash_of_the_file_is_in_the_record(dataset, tmp_path):
    (tmp_path / "data.npz").write_bytes(b"abc")
    run_job(Job("compare", tmp_path / "out", file=Path(tmp_path / "data.npz"), **FAST), dataset)
    assert record_of(tmp_path / "out")["data_hash"].startswith("sha256:ba7816bf")
