"""The main job as the program runs it on the data that it brings."""

import json

import pytest
from typer.testing import CliRunner

from proxembed.cli import app

pytestmark = pytest.mark.usefixtures("few_rivals")


def test_the_demo_runs_and_says_what_it_found(tmp_path):
    done = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "demo"), "--max-work", "2", "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["failures"] == [] and summary["dataset"]["name"] == "digits"
    assert set(summary["verdict"]["goals"]) == {"neighbours", "predict", "compress", "map"}
    assert (tmp_path / "demo" / "index.html").stat().st_size < 2_000_000
    assert (tmp_path / "demo" / "model.skops").is_file()
