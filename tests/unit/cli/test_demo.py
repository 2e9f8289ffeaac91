"""`proxembed demo`: the job on the built-in data, by its options alone."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxembed.cli import app
from proxembed.workflow import comparison
from proxembed.workflow.options import CompareOptions


@pytest.fixture
def asked(monkeypatch):
    calls = []
    monkeypatch.setattr(sys.modules["proxembed.cli.demo"], "compare_and_show", lambda *given: calls.append(given))
    return calls


def test_the_demo_is_the_comparison_on_digits(asked):
    done = CliRunner().invoke(app, ["demo", "--seed", "3", "--jobs", "1", "--json", "-o", "elsewhere"])
    assert done.exit_code == 0, done.output
    ((dataset, options, *rest),) = asked
    assert options == CompareOptions(seed=3, n_jobs=1) and rest == ["demo", None, Path("elsewhere"), True]
    assert dataset.name == "digits"


def test_it_goes_into_a_folder_of_its_name(asked):
    CliRunner().invoke(app, ["demo"])
    assert asked[0][-2:] == (Path("demo"), False)


def test_an_output_folder_that_is_a_file_is_one_line_and_code_2(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr(comparison, "run", None)
    done = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "taken")])
    assert done.exit_code == 2 and "taken" in done.stderr and len(done.stderr.strip().splitlines()) == 1
