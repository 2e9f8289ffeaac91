"""`report`: the page and the table again from the record, nothing fitted, earlier files kept when it cannot."""

import json
from functools import partial

import numpy as np
import pytest
import typer

from proxembed import OPLS
from proxembed.cli.report import report
from proxembed.persist import save
from proxembed.report import adaptive, figures
from runs import invoke, succeeded
from unit.report.synthetic import made_record

DRAWN = figures.svg_text  # before the fixture that empties figures
app = typer.Typer()
app.command()(report)


program = partial(invoke, app)


@pytest.fixture
def drawn(monkeypatch):
    """Figures are drawn, but for the wide ones of which there is a narrow one."""
    empty = figures.svg_text

    def drawing(size, draw, salt):
        return (empty if salt.endswith("-False") else DRAWN)(size, draw, salt)

    for module in (figures, adaptive):
        monkeypatch.setattr(module, "svg_text", drawing)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "results.json").write_text(json.dumps(made_record(60, 4)))
    return tmp_path


def test_the_page_and_the_table_are_written_again(folder, drawn, monkeypatch):
    monkeypatch.setattr("proxembed.evaluate.run.run", None)
    done = succeeded(program(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "leaderboard.csv", "results.json"]
    verdict = json.loads((folder / "results.json").read_text())["summary"]["verdict"]
    words = " ".join(done.output.split())
    assert list(verdict["goals"].values())[-1]["advice"] in words and words.endswith(verdict["warning_command"])
    first = (folder / "index.html").read_bytes()
    assert program(folder).exit_code == 0 and (folder / "index.html").read_bytes() == first


def test_the_words_of_an_older_record_are_made_again_from_its_figures(folder):
    path = folder / "results.json"
    record = json.loads(path.read_text())
    own = record["summary"]["verdict"]
    goals = {name: {**goal, "plain": "old", "sentence": "old"} for name, goal in own["goals"].items()}
    old = {**own, "headline": "old", "text": "old", "note": "old", "goals": goals}
    del old["missing"], old["refitted"]
    for goal in goals.values():
        del goal["untried"]
    cuts = {"cuts": ["rivals left out: UMAP, NCA", "forests of rivals grown on 1,000 rows"]}
    search = {**record["search"], "budget": {**cuts, "repeat": record["command"]}}
    path.write_text(json.dumps({**record, "search": search, "summary": {**record["summary"], "verdict": old}}))
    made = json.loads(program(folder, "--json").stdout)["verdict"]
    assert made["missing"]["rivals"]["predict"] == ["UMAP, NCA"] and made["missing"]["forests"] == "1,000 rows"
    same = {name: goal["sentence"].replace("rival tried:", "rival:") for name, goal in made["goals"].items()}
    assert same == {name: goal["sentence"] for name, goal in own["goals"].items()}
    assert made["note"] == own["note"] and "old" not in (made["headline"], made["text"])
    assert "those of the version that wrote it" not in (folder / "index.html").read_text()


def test_a_model_that_refuses_cosines_is_not_advised_to_write_them(folder):
    path = folder / "results.json"
    record = json.loads(path.read_text())
    verdict = record["summary"]["verdict"]
    goal = verdict["goals"]["neighbours"]
    record["summary"]["choice"] = {"method": goal["arm"], "k": goal["k"], "score": None}
    goal |= {"word": "better", "rival": None, "interval": [0.1, 0.2]}
    path.write_text(json.dumps(record))
    model = OPLS(n_components=1).fit(np.eye(4), [0, 0, 1, 1])
    for source, takes in ({"cosine": {"mean": [0.0], "constant": 1.0}}, True), ({}, False):
        save(model, folder / "model.skops", source=source)
        goal = json.loads(program(folder, "--json").stdout)["verdict"]["goals"]["neighbours"]
        assert goal["command"].startswith("proxembed transform") and goal["command"].endswith("--cosine") == takes
        assert ("search again for numbers whose plain cosines" in goal["command_note"]) != takes


def test_words_that_cannot_be_made_again_are_kept_and_the_page_says_so(folder):
    path = folder / "results.json"
    record = json.loads(path.read_text())
    for goal in record["summary"]["verdict"]["goals"].values():
        goal.pop("base", None)
    record["summary"]["verdict"]["headline"] = "The words of 2025."
    path.write_text(json.dumps(record))
    assert "The words of 2025." in program(folder).stdout
    foot = (folder / "index.html").read_text().partition("<footer>")[2]
    assert f"those of the version that wrote it (proxembed {record['versions']['proxembed']})" in foot


def test_json_for_machines(folder):
    found = json.loads(program(folder, "--json").stdout)
    assert found["verdict"]["goals"]["predict"]["word"] and len(found["written"]) == 2


def refused(done, word):
    assert done.exit_code == 2 and done.stdout == "" and word in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr


def test_what_is_no_record_ends_with_one_line_and_code_2(folder):
    assert program(folder).exit_code == 0
    earlier = (folder / "index.html").read_bytes()
    (folder / "results.json").write_text('{"format": 1, "kind"')
    refused(program(folder), "results.json is not JSON")
    (folder / "results.json").write_text('{"summary": {}}')
    refused(program(folder), "results.json is not a record")
    (folder / "results.json").unlink()
    refused(program(folder), "results.json: No such file")
    refused(program(folder / "absent"), "No such file")
    assert (folder / "index.html").read_bytes() == earlier


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("summary", "curves", "macro average precision (ridge)"), {"OPLS": [1]}),
        (
            ("summary", "leaderboard", 0, "scores"),
            {"macro average precision (ridge)": {"mean": 1, "test": 1, "by_fold": "x"}},
        ),
        (("map", "panels", 0, "x"), ["a"] * 60),
        (("summary", "best", 0, "seconds"), 10**400),
    ],
)
def test_a_record_that_is_damaged_within_its_parts_is_one_line(folder, drawn, place, value):
    record = part = json.loads((folder / "results.json").read_text())
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    (folder / "results.json").write_text(json.dumps(record))
    refused(program(folder), "results.json is")
    assert [path.name for path in folder.iterdir()] == ["results.json"]


def test_a_disk_that_is_full_at_the_page_leaves_the_earlier_table_too(folder, full_at):
    assert program(folder).exit_code == 0
    (folder / "leaderboard.csv").write_text("earlier")
    full_at(2)
    refused(program(folder), "index.html: No space left on device; free some space")
    assert (folder / "leaderboard.csv").read_text() == "earlier" and len(list(folder.iterdir())) == 3


def test_a_full_disk_leaves_the_earlier_page(folder, full_at):
    assert program(folder).exit_code == 0
    earlier = (folder / "index.html").read_bytes()
    full_at(None)
    refused(program(folder), "No space left")
    assert (folder / "index.html").read_bytes() == earlier and len(list(folder.iterdir())) == 3
