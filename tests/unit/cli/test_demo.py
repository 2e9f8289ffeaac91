"""`proxembed demo`: the main job on the built-in data, by its options alone."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxembed.cli import app
from proxembed.cli.demo import WORK
from proxembed.workflow import main_job
from proxembed.workflow.options import SearchOptions


@pytest.fixture
def asked(monkeypatch):
    calls = []

    def keep(*given, keep_rival):
        calls.append((*given[:-1], keep_rival))

    monkeypatch.setattr(sys.modules["proxembed.cli.demo"], "search_and_show", keep)
    return calls


def test_the_demo_is_the_search_on_digits(asked):
    words = ["demo", "--seed", "3", "--jobs", "2", "--max-work", "9", "--max-seconds", "5", "--json", "-o", "elsewhere"]
    words += ["--goal", "map", "--keep-rival", "forest scores"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    ((dataset, options, *rest),) = asked
    assert options == SearchOptions(goal="map", seed=3, n_jobs=2, max_work=9.0, max_seconds=5.0)
    assert rest == [None, Path("elsewhere"), True, "forest scores"] and dataset.name == "digits"


def test_it_has_a_small_budget_of_its_own_unless_one_is_given_and_a_folder_of_its_name(asked):
    for words in ([], ["--max-seconds", "60"], ["--max-work", "30"]):
        CliRunner().invoke(app, ["demo", *words])
    assert [options for _, options, *_ in asked] == [
        SearchOptions(max_work=WORK),
        SearchOptions(max_seconds=60.0),
        SearchOptions(max_work=30.0),
    ]
    assert asked[0][3:] == (Path("demo"), False, None)
    text = CliRunner().invoke(app, ["demo", "--help"]).stdout
    assert f"{WORK:g} units of work" in " ".join(text.split())


def test_an_output_folder_that_is_a_file_ends_in_one_line_and_code_2(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr(main_job, "run_engine", None)
    done = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "taken")])
    *_, last = done.stderr.strip().splitlines()
    assert done.exit_code == 2 and "taken" in last and "name another place" in last
