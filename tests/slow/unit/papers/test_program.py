"""`python -m papers`: the list, the whole verb on small data, going on, and bad input in one line."""

import json
from functools import partial

import pytest

from papers import EXPERIMENTS
from papers.__main__ import app
from papers.entrants import Entrant
from papers.mesd_mope import experiment as mesd_mope
from papers.mvmd import experiment as mvmd
from proxembed import OPLS, PCA
from runs import invoke, succeeded
from slow.unit.papers.made import counted_set, dense_set

program = partial(invoke, app)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.delenv("PROXEMBED_DATA", raising=False)
    place = tmp_path / "data"
    place.mkdir()
    dense_set(place / "emotions.npz")
    counted_set(place / "reuters.npz")
    return place


@pytest.fixture
def few(monkeypatch):
    entrants = (Entrant("OPLS", OPLS(), {"ridge": (1.0, 10.0)}, "proposed in the paper"), Entrant("PCA", PCA()))
    for name in ("supervised_entrants", "partly_labelled_entrants"):
        monkeypatch.setattr(mesd_mope, name, lambda: entrants)
    monkeypatch.setattr(mvmd, "contenders", lambda whole=mvmd.contenders: whole()[:2])


OF_SETS = ("mvmd", "--quick", "--sets", "emotions", "-j", 1)


def test_without_a_name_the_experiments_are_listed():
    done = program()
    assert done.exit_code == 0 and all(name in done.output for name in EXPERIMENTS)
    assert [each["name"] for each in json.loads(program("--json").stdout)] == list(EXPERIMENTS)


def test_an_experiment_leaves_its_folder_and_goes_on_from_it(data, few, tmp_path):
    done = succeeded(program(*OF_SETS, "--data", data, "-o", tmp_path / "out", "--seed", 3))
    assert "README.md" in done.output
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    assert record["seed"] == 3 and record["quick"] and list(record["data"]) == ["emotions.npz"]
    assert record["data"]["emotions.npz"].startswith("sha256:") and record["command"].startswith("python -m papers")
    again = program(*OF_SETS, "--data", data, "-o", tmp_path / "out", "--seed", 3, "--json")
    assert again.exit_code == 0 and json.loads(again.stdout)["parts"] == record["parts"]
    assert not (tmp_path / "out" / "ledger.jsonl").exists()


@pytest.mark.parametrize("name", ["mesd-mope-reuters", "mesd-mope-reuters-partly-labelled"])
def test_the_papers_experiments_tell_what_came_out(data, tmp_path, name):
    done = succeeded(program(name, "--quick", "--data", data, "-o", tmp_path / "out", "-j", 1))
    record = json.loads((tmp_path / "out" / "results.json").read_text())
    entries = [entry for part in record["parts"].values() for entry in part]
    assert {entry["entrant"]: entry["failure"] for entry in entries if entry["failure"]} == {}
    page = (tmp_path / "out" / "README.md").read_text()
    for claim in record["claims"]:
        assert claim["published"] in done.output and claim["ours"] in page
    assert all(entry["entrant"] in page for entry in entries)


def test_the_folder_of_the_data_may_stand_in_the_environment(data, few, tmp_path, monkeypatch):
    monkeypatch.setenv("PROXEMBED_DATA", str(data))
    assert program(*OF_SETS, "-o", tmp_path / "out").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bayesian"], "no experiment is named 'bayesian'; did you mean bayesian-multilabel?"),
        (["mvmd"], "no folder of data files is named; give --data DIR, or set PROXEMBED_DATA."),
        (["mvmd", "--data", "nowhere"], "--data names nowhere, which is no folder"),
        (["mvmd", "--data", "{data}"], "lacks birds.npz, scene.npz"),
        (["mvmd", "--data", "{data}", "--sets", "iris"], "names 'iris'; the sets are emotions"),
        (["mesd-mope-reuters", "--data", "{data}", "--sets", "reuters"], "--sets is for an experiment on several sets"),
        (["mesd-mope-reuters", "--data", "{data}", "-j", "0"], "--jobs 0 must be"),
    ],
)
def test_bad_input_is_one_line(data, tmp_path, words, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = program(*(word.replace("{data}", str(data)) for word in words))
    assert done.exit_code == 2 and message in " ".join(done.output.split()), done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_a_quick_run_does_not_overwrite_a_whole_one(data, few, tmp_path):
    (tmp_path / "results.json").write_text(json.dumps({"plan": {}, "parts": {}}))
    done = program(*OF_SETS, "--data", data, "-o", tmp_path)
    assert done.exit_code == 2 and "holds a run of another plan" in done.output


def test_ctrl_c_keeps_what_is_finished(data, few, tmp_path, monkeypatch):
    whole, calls = mvmd.compete, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(mvmd, "compete", interrupted)
    done = program(*OF_SETS, "--data", data, "-o", tmp_path / "out")
    assert done.exit_code == 130 and "the same command goes on from there" in done.output
    assert not (tmp_path / "out" / "results.json").exists()
    calls.clear()
    monkeypatch.setattr(mvmd, "compete", lambda *arguments: calls.append(arguments[0]) or whole(*arguments))
    assert program(*OF_SETS, "--data", data, "-o", tmp_path / "out").exit_code == 0
    assert [each and each.title for each in calls] == ["PCA", None]  # MVMD was finished
