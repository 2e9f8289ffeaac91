"""The program: the whole job on small files, bad input as one line and exit code 2, Ctrl-C, a light start."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

import proxembed
from proxembed.evaluate import arms
from proxembed.workflow import comparison
from runs import program, succeeded

FAST = ["--methods", "opls", "-k", "1,2", "--folds", "2", "--jobs", "1"]


def test_compare_writes_the_folder_and_ends_with_the_verdict(file, tmp_path):
    done = succeeded(program("compare", file, *FAST, "-o", tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "index.html",
        "leaderboard.csv",
        "predictions.npz",
        "results.json",
    ]
    with open(tmp_path / "out" / "leaderboard.csv", newline="") as lines:
        kinds = {row["arm"]: row["kind"] for row in csv.DictReader(lines)}
    rivals = {arm.name: "rival" for arm in arms.rival_arms(np.ones((80, 5)))}
    assert kinds == {"OPLS": "method", **rivals}
    verdict = json.loads((tmp_path / "out" / "results.json").read_text())["summary"]["verdict"]
    words = " ".join(done.output.split())
    last = list(verdict["goals"].values())[-1]
    assert words.endswith(last.get("command") or last["advice"]) and verdict["goals"]["predict"]["said"] in words
    for word in ("all features", "OPLS", "macro AP", "Jaccard@10"):
        assert word in words


def test_naming_the_rivals_changes_nothing(file, tmp_path):
    program("compare", file, *FAST, "-k", "1", "-o", tmp_path / "a")
    named = ["--methods", "opls,raw,pca,labelscores,randomprojection", *FAST[2:], "-k", "1"]
    program("compare", file, *named, "-o", tmp_path / "b")
    first, second = (json.loads((tmp_path / name / "results.json").read_text())["rows"] for name in "ab")
    assert [{**row, "seconds": 0} for row in first] == [{**row, "seconds": 0} for row in second]


def test_a_single_label_method_is_wrapped_for_several_labels(file, tmp_path):
    done = program("compare", file, "--methods", "fda", "-k", "1", "--folds", "2", "-o", tmp_path / "out")
    assert done.exit_code == 0 and "MESD(FDA)" in done.output


def test_data_and_methods_describe(file):
    assert "80 x 5 (dense)" in program("data", file).output
    assert json.loads(program("data", file, "--json").stdout)["labels"] == 3
    names = {row["name"]: row for row in json.loads(program("methods", "--json").stdout)}
    assert names["opls"]["class"] == "OPLS" and "pca" in program("methods").output
    assert program("methods").output.startswith("Several labels per row\n")


def test_methods_tells_the_rest_of_one():
    told = program("methods", "mesd")
    assert told.exit_code == 0 and "method :" in told.output and "@" in told.output
    assert json.loads(program("methods", "mesd", "--json").stdout)["class"] == "MESD"
    wrong = program("methods", "msed")
    assert wrong.exit_code == 2 and wrong.stderr == "proxembed: 'msed' is not an estimator; is it smse or mesd?\n"


@pytest.mark.parametrize("name", ["absent.npz", "empty.npz", "words.arff", "words.xyz"])
def test_bad_files_end_with_one_line_and_code_2(tmp_path, name):
    if name != "absent.npz":
        (tmp_path / name).write_text("" if name == "empty.npz" else "no data at all\n")
    for verb in ("compare", "data"):
        done = program(verb, tmp_path / name)
        assert done.exit_code == 2 and name in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr


def test_an_output_folder_that_is_a_file_is_refused_before_the_work(file, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr(comparison, "run", None)
    done = program("compare", file, *FAST, "-o", tmp_path / "taken")
    assert done.exit_code == 2 and "taken" in done.stderr and (tmp_path / "taken").read_text() == "mine"


def test_interruption_writes_the_partial_leaderboard_and_says_so(file, tmp_path, monkeypatch):
    whole = comparison.run

    def stopped(protocol, dataset, progress, **more):
        def stop(done, total, text):
            if done == len(arms.rival_arms(np.ones((80, 5)))) + 2 and not text.startswith("interrupted"):
                raise KeyboardInterrupt

        return whole(protocol, dataset, stop, **more)

    monkeypatch.setattr(comparison, "run", stopped)
    done = program("compare", file, *FAST, "-o", tmp_path / "out")
    assert done.exit_code == 130 and "kept 1 complete folds of 2" in done.stderr
    assert "OPLS" in (tmp_path / "out" / "leaderboard.csv").read_text()
    assert "Interrupted" in (tmp_path / "out" / "index.html").read_text()


def test_help_imports_no_numerical_library():
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom proxembed.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'jinja2', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_that_of_the_package():
    done = program("--version")
    assert done.exit_code == 0 and done.stdout == f"proxembed {proxembed.__version__}\n"


def test_the_package_shows_its_public_names_alone():
    shown = [name for name in dir(proxembed) if not name.startswith("__")]
    assert sorted(shown) == sorted(proxembed.__all__)
