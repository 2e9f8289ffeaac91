"""`--targets`: numbers in `search` and `compare`."""

import csv
import json

import numpy as np
from typer.testing import CliRunner

from proxembed.cli.app import app

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(90, 3))
Y = X @ [[1.0, 20.0], [0.5, -30.0], [0.0, 10.0]] + 0.1 * DRAW.normal(size=(90, 2))


def run(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def test_a_search_and_a_comparison_judge_numbers(tmp_path):
    with open(tmp_path / "t.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([["a", "b", "c", "u", "v"], *np.column_stack([X, Y]).tolist()])
    given = (tmp_path / "t.csv", "--targets", "u,v", "-k", "1,2", "--folds", "2", "--jobs", "1", "-m", "opls")
    found = json.loads(run("compare", *given, "--max-seconds", "1", "--json", "-o", tmp_path / "compared"))
    ours = next(entry for entry in found["leaderboard"] if entry["arm"] == "OPLS" and entry["k"] == 2)
    assert ours["scores"]["Q2 (ridge)"]["mean"] > 0.9
    text = run("search", *given, "--max-work", "3", "--shuffles", "0", "-o", tmp_path / "searched")
    assert "90 rows, 3 features, 2 outputs" in text and "Q2" in text and "label" not in text
    run("predict", tmp_path / "searched" / "model.skops", tmp_path / "t.csv", "-o", tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text().splitlines()[0] == "u,v"
