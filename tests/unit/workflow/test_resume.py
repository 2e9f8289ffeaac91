"""A search that was ended at any step goes on and ends as the one that was not: its fits, its arms, its budget."""

import csv
import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import proxembed
from designs import WHOLE
from proxembed.cli import app
from proxembed.evaluate import diagnose, evidence
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.run import ArmScores, Protocol, run
from proxembed.execute.ledger import Ledger
from proxembed.splits.splits import Split, Splitting, make_splits
from proxembed.study import trials
from proxembed.workflow import main_job
from proxembed.workflow.main_job import COMPARISON, stored_comparison
from runs import LAY_OUT

COMMAND = ["--max-trials", "9", "--methods", "opls,mvmd", "-k", "1,2", "--folds", "2", "--shuffles", "0"]
COMMAND += ["--max-work", "300"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("data") / "made.npz"
    X = rng.normal(size=(120, 6))
    np.savez(path, X=X, Y=(X[:, :3] + 0.5 * rng.normal(size=(120, 3)) > 0).astype(np.uint8))
    return path


def without_times(value):
    """Plain data without what two runs measure by their clocks."""
    if isinstance(value, dict):
        timed = {"seconds", "queries", "created", "command", "repeat", "time", "query_seconds"}
        return {key: without_times(each) for key, each in value.items() if key not in timed}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def left(out):
    """What a run leaves, but for its times: names, record, leaderboard, scores, embedding."""
    record = without_times(json.loads((out / "results.json").read_text()))
    with open(out / "leaderboard.csv", newline="") as lines:
        board = [{key: value for key, value in row.items() if "second" not in key} for row in csv.DictReader(lines)]
    arrays = {}
    for name in ("predictions.npz", "embedding.npz"):
        with np.load(out / name) as file:
            arrays[name] = {key: file[key].tolist() for key in file.files if "seconds" not in key}
    return sorted(path.name for path in out.iterdir()), record, board, arrays


def check_same(found, expected):
    assert found[0] == expected[0], "the same files, and nothing of the killed run"
    for part in expected[1]:
        assert found[1][part] == expected[1][part], part
    assert found[2] == expected[2]
    assert found[3] == expected[3]


@pytest.fixture
def two_rivals(monkeypatch):
    whole = main_job.rival_arms
    monkeypatch.setattr(main_job, "rival_arms", lambda *args, **options: whole(*args, **options)[:2])


@pytest.fixture
def copies(monkeypatch, tmp_path):
    """Copies of the folder ``out``, as a kill would leave it, one before each step to the disk."""
    whole, made = os.fsync, []

    def fsync(*given):
        if (tmp_path / "out").exists():
            made.append(shutil.copytree(tmp_path / "out", tmp_path / "copies" / str(len(made))))
        return whole(*given)

    monkeypatch.setattr(os, "fsync", fsync)
    return made


def test_what_a_kill_leaves_resumes_and_ends_as_the_whole_run(two_rivals, data, tmp_path, copies):
    def searched(out, *more):
        done = CliRunner().invoke(app, ["search", str(data), *COMMAND, "-o", str(out), *more])
        assert done.exit_code == 0, done.output

    searched(tmp_path / "out")
    expected, number = left(tmp_path / "out"), len(copies)
    for place in (number // 4, number // 2, number - 1) if WHOLE else (number // 2, number - 1):
        study = copies[place] / "study.jsonl"
        stored = study.read_bytes().splitlines() if study.exists() else []
        searched(copies[place], "--resume")
        check_same(left(copies[place]), expected)
        complete = [line for line in stored if line.endswith(b"}")]
        assert study.read_bytes().splitlines()[: len(complete)] == complete, "what was finished is not done again"


def stop_after(monkeypatch, number):
    """Ctrl-C in the fit of this number; the list of fits."""
    whole, calls = trials.score, []

    def score(*args, **options):
        calls.append(args)
        if len(calls) == number:
            raise KeyboardInterrupt
        return whole(*args, **options)

    monkeypatch.setattr(trials, "score", score)
    return calls


QUICK = {"methods": ["opls", "mvmd"], "n_components": (1, 2), "folds": 2, "shuffles": 0, "max_trials": 6}


def test_an_interrupted_search_resumes_from_python_with_its_budget(two_rivals, tmp_path, monkeypatch):
    data = proxembed.data.digits().take(range(120))
    with monkeypatch.context() as patch:
        every = stop_after(patch, None)
        whole = proxembed.search(data, **QUICK, max_seconds=300)
    with monkeypatch.context() as patch:
        stop_after(patch, 6)
        ended = proxembed.search(data, **QUICK, max_seconds=300, folder=tmp_path / "out")
    assert ended.interrupted and len(ended.record["search"]["trials"]) < 6
    calls = stop_after(monkeypatch, None)
    monkeypatch.setattr("proxembed.workflow.plan.machine_speed", lambda: 0.5)  # the machine is busy now
    resumed = proxembed.search(data, **QUICK, max_seconds=300, resume=tmp_path / "out")
    budgets = [found.record["search"]["budget"] for found in (ended, resumed)]
    assert budgets[0]["work"] == budgets[1]["work"] and budgets[0]["repeat"] == budgets[1]["repeat"]
    records = [without_times(found.record["search"]["trials"]) for found in (whole, resumed)]
    assert records[0] == records[1] and resumed.name == whole.name
    assert len(calls) == len(every) - 5, "five were there"
    with pytest.raises(ValueError, match="^resume='b' is not the folder 'a'; name one of the two"):
        proxembed.search(data, **QUICK, folder="a", resume="b")


def test_the_arms_of_an_ended_comparison_are_not_fitted_again(two_rivals, tmp_path, monkeypatch):
    arms_are_not_fitted_again(tmp_path, monkeypatch)


def keys_of(path):
    """The keys of the finished work in a ledger."""
    return [json.dumps(json.loads(line)["key"]) for line in path.read_text().splitlines()[1:]]


def arms_are_not_fitted_again(tmp_path, monkeypatch, n_jobs=1):
    data = proxembed.data.digits().take(range(120))
    options = {**QUICK, "max_trials": 2, "max_seconds": None, "n_jobs": n_jobs}
    whole = proxembed.search(data, **options, folder=tmp_path / "whole")
    assert not (tmp_path / "whole" / COMPARISON).exists(), "a finished run needs no parts"

    def stop(done, total, text):
        if (done, total) == (7, 3 * 4):  # four arms on two folds and the test rows
            raise KeyboardInterrupt

    assert proxembed.search(data, **options, folder=tmp_path / "out", progress=stop).interrupted
    kept = keys_of(tmp_path / "out" / COMPARISON)
    concluded, every = main_job.finish_search, []

    def counted(job, results):
        every.extend(keys_of(job.comparison.path))
        return concluded(job, results)

    monkeypatch.setattr(main_job, "finish_search", counted)
    resumed = proxembed.search(data, **options, resume=tmp_path / "out")
    assert 7 <= len(kept) < len(every) == len(set(every)) == 3 * 4 and every[: len(kept)] == kept
    for part in ("rows", "map", "label_table"):
        assert without_times(resumed.record[part]) == without_times(whole.record[part]), part
    board = [without_times(found.record["summary"]["leaderboard"]) for found in (resumed, whole)]
    assert board[0] == board[1] and resumed.verdict == whole.verdict
    with np.load(tmp_path / "out" / "predictions.npz") as one, np.load(tmp_path / "whole" / "predictions.npz") as two:
        assert one.files == two.files
        assert all(np.array_equal(one[name], two[name]) for name in one.files if "seconds" not in name)
    assert not (tmp_path / "out" / COMPARISON).exists()


def test_the_shuffles_of_an_ended_diagnosis_are_not_fitted_again(two_rivals, tmp_path, monkeypatch):
    data = proxembed.data.digits().take(range(120))
    options = {**QUICK, "methods": "opls", "max_trials": 1, "max_seconds": None, "shuffles": 19}
    whole = proxembed.search(data, **options)
    null, done = diagnose._null, []

    def counted(number):
        def shuffled(*given):
            if len(done) == number:
                raise KeyboardInterrupt
            done.append(null(*given))
            return done[-1]

        return shuffled

    with monkeypatch.context() as patch:
        patch.setattr(diagnose, "_null", counted(7))
        ended = proxembed.search(data, **options, folder=tmp_path / "out")
    assert ended.interrupted and ended.diagnosis is None
    monkeypatch.setattr(diagnose, "_null", counted(19))
    resumed = proxembed.search(data, **options, resume=tmp_path / "out")
    assert len(done) == 19 and list(resumed.diagnosis.null) == done == list(whole.diagnosis.null)
    assert resumed.diagnosis.describe() == whole.diagnosis.describe() and not resumed.interrupted
    monkeypatch.setattr(diagnose, "_cosines", lambda *given: pytest.fail("the halves are there"))
    again = proxembed.search(data, **options, resume=tmp_path / "out")
    assert again.diagnosis.describe() == whole.diagnosis.describe() and len(done) == 19


def test_the_fits_for_the_test_rows_are_not_made_again(two_rivals, tmp_path, monkeypatch):
    data = proxembed.data.digits().take(range(120))
    options = {**QUICK, "methods": "opls", "max_trials": 1, "max_seconds": None}
    monkeypatch.setattr(evidence, "_laid_out", LAY_OUT)
    whole = proxembed.search(data, **options)
    made = []

    def counted(name, most):
        fit = getattr(evidence, name)

        def one(*given):
            if len(made) == most:
                raise KeyboardInterrupt
            made.append(name)
            return fit(*given)

        return one

    fits = ("_embedded", "_decided", "places_on_layout")
    with monkeypatch.context() as patch:
        for name in fits:
            patch.setattr(evidence, name, counted(name, 5))
        assert proxembed.search(data, **options, folder=tmp_path / "out").interrupted
    assert len(made) == 5 and json.loads((tmp_path / "out" / "results.json").read_text())["map"] is None
    for name in fits:
        monkeypatch.setattr(evidence, name, counted(name, None))
    resumed = proxembed.search(data, **options, resume=tmp_path / "out")
    # three planes, thresholds, and three layouts with the embedding of each; the fifth had no layout yet
    assert made.count("_decided") == 1 and made.count("places_on_layout") == 3 and made.count("_embedded") == 7
    for part in ("map", "label_table"):
        assert without_times(resumed.record[part]) == without_times(whole.record[part]), part


def test_parts_of_a_comparison_serve_the_same_comparison_alone(tmp_path):
    data = proxembed.data.digits().take(range(120))
    arm, splitting = Arm("OPLS", proxembed.OPLS()), Splitting(n_folds=2)
    protocol = Protocol((arm,), (2,), splitting=splitting)
    first, second = make_splits(data, splitting)
    ledger = Ledger(tmp_path / "parts").begin({})
    run(protocol, data, store=ledger)

    def find(protocol, split=first):
        stored = Ledger(tmp_path / "parts").begin({})
        task = protocol.arms[0], protocol.measures_of(protocol.arms[0])
        return stored.find(ArmScores(data, [split], protocol.seed).key(task, 0))

    assert find(protocol)["scores"]["rows"] and find(protocol, second) is not None
    others = (
        (replace(protocol, seed=1),),
        (replace(protocol, sizes=(3,)),),
        (replace(protocol, arms=(replace(arm, estimator=proxembed.OPLS(ridge=2.0)),)),),
        (protocol, Split("1", first.train[:-1], first.held_out)),
    )
    assert [find(*other) for other in others] == [None] * 4
    failing = replace(protocol, arms=(Arm("broken", proxembed.OPLS(ridge=-1.0)),), contrasts=())
    run(failing, data, store=ledger)
    assert find(failing) is None, "a failure is no reason to fail again"
    ledger.path.write_bytes(ledger.path.read_bytes()[:-200])
    assert find(protocol) is not None and find(protocol, second) is None, "a line that is not whole is none"


def test_a_comparison_belongs_to_one_study(tmp_path):
    def find(study):
        with stored_comparison(study) as ledger:
            return ledger.find("a")

    study = Ledger(tmp_path / "study.jsonl").begin({})
    study.add("a fit", 1)
    with stored_comparison(study) as ledger:
        ledger.add("a", 1)
    assert find(study) == find(Ledger(study.path).begin({})) == 1
    assert find(Ledger(study.path, resume=False).begin({})) is None and not (tmp_path / COMPARISON).exists()


def test_other_options_or_data_are_refused_in_one_line(two_rivals, data, tmp_path):
    out = tmp_path / "out"
    command = ["search", str(data), *COMMAND, "--max-trials", "1", "-o", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def refused(*more):
        done = CliRunner().invoke(app, [*command, "--resume", *more])
        assert done.exit_code == 2 and "Traceback" not in done.output
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
        return done.stderr.strip().splitlines()[-1]

    told = refused("--seed", "1")
    assert (
        "out/study.jsonl is the study of another search, which differs in " in told and "seed (0 then, 1 now)" in told
    )
    assert "measure ('macro average precision' then, 'Jaccard@10' now)" in refused("--goal", "neighbours")
    assert "folds (2 then, 3 now)" in refused("--folds", "3")
    with np.load(data) as file:
        np.savez(data.parent / "other.npz", X=file["X"] + 1e-9, Y=file["Y"])
    command[1] = str(data.parent / "other.npz")
    assert "differs in data" in refused() and "features" in refused()


def test_with_nothing_to_resume_the_search_begins(two_rivals, data, tmp_path):
    done = CliRunner().invoke(
        app, ["search", str(data), *COMMAND, "--max-trials", "2", "-o", str(tmp_path / "out"), "--resume"]
    )
    assert done.exit_code == 0 and f"nothing to resume in {tmp_path / 'out'}" in done.stderr
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(record["search"]["trials"]) == 2 and "--resume" not in record["command"]
    again = CliRunner().invoke(app, ["search", str(data), *COMMAND, "--max-trials", "2", "-o", str(tmp_path / "out")])
    assert again.exit_code == 0 and f"the earlier search in {tmp_path / 'out'} is replaced" in again.stderr
    assert "replaced" not in done.stderr
