"""`proxembed demo`: the job on the built-in data, by its options alone."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxembed.cli import app
from proxembed.cli import job as job_module


@pytest.fixture
def asked(monkeypatch):
    calls = []
    monkeypatch.setattr(job_module, "run_job", lambda job, dataset: calls.append((job, dataset)))
    return calls


def test_the_demo_is_the_comparison_on_digits(asked):
    done = CliRunner().invoke(app, ["demo", "--seed", "3", "--jobs", "1", "--json", "-o", "elsewhere"])
    assert done.exit_code == 0, done.output
    ((job, dataset),) = asked
    assert (job.kind, job.seed, job.jobs, job.quiet, job.folder) == ("demo", 3, 1, True, Path("elsewhere"))
    assert dataset.name == "digits" and job.methods is None and job.file is None


def test_it_goes_into_a_folder_of_its_name(asked):
    CliRunner().invoke(app, ["demo"])
    assert asked[0][0].folder == Path("demo") and not asked[0][0].quiet


def test_an_output_folder_that_is_a_file_is_one_line_and_code_2(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr(job_module, "run", None)
    done = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "taken")])
    assert done.exit_code == 2 and "taken" in done.stderr and len(done.stderr.strip().splitlines()) == 1
