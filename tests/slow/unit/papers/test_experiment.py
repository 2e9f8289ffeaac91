"""The folder of a run: entrants are kept as they finish, and a run of another plan is not overwritten."""

import json
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from papers import EXPERIMENTS, experiment
from papers.code import DIGITS, code
from papers.experiment import Kept, Request, plain, run_part
from papers.markdown import made_lines

ENTRY = {"entrant": "PCA", "seconds": 1.25, "failure": None, "value": 1 / 3}


def kept(place, plan=None, **asked):
    return Kept(Request(place, place, **asked), "made", plan or {"seed": 0, "sizes": (2, 5)})


def test_a_later_run_goes_on_from_what_is_held(tmp_path):
    kept(tmp_path).add("yeast", ENTRY)
    again = kept(tmp_path)
    assert again.missing("yeast", ["LSI", "PCA"]) == ["LSI"] and again.missing("scene", ["PCA"]) == ["PCA"]
    assert again.record["parts"]["yeast"] == [{**ENTRY, "value": 0.333333, "run": 0}]
    lines = (tmp_path / "ledger.jsonl").read_text().splitlines()
    assert len(lines) == 2 and json.loads(lines[1])["key"] == ["yeast", "PCA"]
    again.write("the page", {})
    assert not (tmp_path / "ledger.jsonl").exists() and kept(tmp_path).missing("yeast", ["PCA"]) == []


def test_a_torn_line_of_a_run_that_was_killed_is_left_out(tmp_path):
    kept(tmp_path).add("yeast", ENTRY)
    kept(tmp_path).add("yeast", {**ENTRY, "entrant": "LSI"})
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    assert kept(tmp_path).missing("yeast", ["PCA", "LSI"]) == ["LSI"]


def test_a_run_of_another_plan_is_not_overwritten_unless_forced(tmp_path):
    first = kept(tmp_path)
    first.add("yeast", ENTRY)
    with pytest.raises(ValueError, match="differs in plan; resume with the same data and options, or name another"):
        kept(tmp_path, {"seed": 1})
    first.write("the page", {})
    before = (tmp_path / "results.json").read_text()
    with pytest.raises(ValueError, match="another plan.*name another folder with -o, or replace it with --force"):
        kept(tmp_path, {"seed": 1})
    assert (tmp_path / "results.json").read_text() == before
    assert kept(tmp_path, {"seed": 1}, force=True).record["parts"] == {}


def test_a_plan_may_gain_entrants_and_entries_of_changed_ones_are_made_anew(tmp_path):
    plan = {"seed": 0, "entrants": [{"name": "PCA", "ridge": 1}, {"name": "LSI"}]}
    first = kept(tmp_path, plan)
    first.add("yeast", ENTRY)
    first.add("yeast", {**ENTRY, "entrant": "LSI, cut", "method": "LSI"})
    first.write("the page", {})
    grown = {"seed": 0, "entrants": [{"name": "PCA", "ridge": 2}, {"name": "LSI"}, {"name": "CCA"}]}
    assert kept(tmp_path, grown).missing("yeast", ["PCA", "LSI, cut", "CCA"]) == ["PCA", "CCA"]
    with pytest.raises(ValueError, match="another plan"):
        kept(tmp_path, {**grown, "seed": 1})


def test_an_entry_that_the_clock_ended_is_done_again_and_others_are_not(tmp_path):
    kept(tmp_path).add("yeast", {**ENTRY, "failure": "timed out: late", "timed_out": True})
    kept(tmp_path).add("yeast", {**ENTRY, "entrant": "LSI", "failure": "ValueError: no", "timed_out": False})
    again = kept(tmp_path)
    assert again.missing("yeast", ["PCA", "LSI"]) == ["PCA"]
    again.add("yeast", {**ENTRY, "timed_out": False})
    assert again.missing("yeast", ["PCA", "LSI"]) == []
    assert sorted(entry["entrant"] for entry in kept(tmp_path).record["parts"]["yeast"]) == ["LSI", "PCA"]


def test_other_data_under_the_same_name_is_refused_and_hashes_of_all_runs_are_kept(tmp_path):
    kept(tmp_path, hashes={"yeast.npz": "A"}).add("yeast", ENTRY)
    with pytest.raises(ValueError, match=r"rests on another yeast.npz than is there now .*name another folder"):
        kept(tmp_path, hashes={"yeast.npz": "B"})
    kept(tmp_path, hashes={"scene.npz": "C"}).add("scene", ENTRY)
    assert kept(tmp_path).record["data"] == {"yeast.npz": "A", "scene.npz": "C"}
    assert kept(tmp_path, hashes={"yeast.npz": "B"}, force=True).record["data"]["yeast.npz"] == "B"


def test_every_entry_has_its_command_and_code(tmp_path, monkeypatch):
    kept(tmp_path, command="one").add("yeast", ENTRY)
    monkeypatch.setattr(import_module("papers.experiment"), "code", lambda: {"commit": "c0ffee", "sources": "f00"})
    last = kept(tmp_path, command="two")
    last.add("scene", ENTRY)
    runs = [last.record["runs"][last.record["parts"][part][0]["run"]] for part in ("yeast", "scene")]
    assert [run["command"] for run in runs] == ["one", "two"] and runs[1]["code"]["commit"] == "c0ffee"
    words = " ".join(made_lines(last.record))
    assert "`one`" in words and "commit c0ffee" in words and "not all made by the same code" in words
    assert kept(tmp_path, command="three").record["runs"] == last.record["runs"]  # joins with its first entry


def test_a_run_that_makes_no_entry_leaves_the_command_of_the_record(tmp_path):
    kept(tmp_path, command="one").add("yeast", ENTRY)
    again = kept(tmp_path, command="two")
    again.write("the page again", {})
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["command"] == "one"
    again.add("yeast", {**ENTRY, "entrant": "LSI"})
    assert again.record["command"] == "two" and [run["command"] for run in again.record["runs"]] == ["one", "two"]


def test_the_commit_of_a_checkout_is_told():
    root = Path(__file__).parents[4]
    if not (root / ".git").exists():
        assert code()["commit"] is None
        return
    head = subprocess.check_output(["git", "-C", str(root), "rev-parse", "HEAD"], text=True)
    assert code()["commit"] == head[:DIGITS]


def test_a_record_of_before_runs_were_kept_is_gone_on_from(tmp_path):
    held = {"experiment": "made", "command": "old", "created": "2026-01-01T00:00:00Z", "jobs": 2, "data": {"a": "A"}}
    held |= {"plan": plain({"seed": 0, "sizes": (2, 5)}), "parts": {"yeast": [ENTRY]}}
    (tmp_path / "results.json").write_text(json.dumps(held))
    found = kept(tmp_path, hashes={"a": "A"})
    assert found.missing("yeast", ["PCA"]) == [] and found.record["runs"][0]["command"] == "old"
    assert "`old`, 2026-01-01" in made_lines(found.record)[0]


def test_a_damaged_record_is_named(tmp_path):
    (tmp_path / "results.json").write_text('{"plan": ')
    with pytest.raises(ValueError, match="results.json is not JSON"):
        kept(tmp_path)


def test_entries_stand_in_the_order_of_the_entrants_and_only_missing_ones_run(tmp_path):
    place, called, told = kept(tmp_path), [], []

    def compete(name):
        called.append(name)
        return {"entrant": name, "seconds": 0.0, "failure": None}

    place.add("yeast", {**ENTRY, "entrant": "c"})
    request = Request(tmp_path, tmp_path, progress=lambda *facts: told.append(facts))
    done = run_part(place, "yeast", {name: (name,) for name in "abc"}, compete, request, 10, 20)
    assert called == ["a", "b"] and done == 13
    assert [entry["entrant"] for entry in place.record["parts"]["yeast"]] == ["a", "b", "c"]
    assert told == [(11, 20, "yeast"), (12, 20, "yeast: a"), (13, 20, "yeast: b")]


def test_plain_data_are_json():
    import numpy as np

    made = {"a": np.float64(0.1), "b": np.array([1, 2]), "c": (np.nan, True, None), 3: {"x": print}}
    found = json.loads(json.dumps(plain(made)))
    assert found == {"a": 0.1, "b": [1, 2], "c": [None, True, None], "3": {"x": repr(print)}}


def test_names_of_experiments():
    assert [each.name for each in EXPERIMENTS.values()] == list(EXPERIMENTS)
    with pytest.raises(ValueError, match="no experiment is named 'bayesian'; did you mean bayesian-multilabel"):
        experiment("bayesian")
