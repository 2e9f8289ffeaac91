"""`proxembed diagnose`: figures of held-out rows, shuffled labels and halves, as the library has them."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from proxembed import OPLS, PLS, Scaling
from proxembed.cli import app
from proxembed.cli.diagnose import show
from proxembed.data import Dataset
from proxembed.evaluate.component_tests import component_tests
from proxembed.evaluate.diagnose import diagnose, targets_of
from proxembed.splits.splits import Splitting, make_splits
from runs import succeeded
from unit.cli.model_files import FIT, X, Y, refused, several_labels_csv

QUICK = ("--shuffles", 19, "--halves", 2, "--folds", 2, "-j", 1)


def program(*words):
    return CliRunner().invoke(app, ["diagnose", *map(str, words)])


@pytest.fixture
def tags(tmp_path):
    return several_labels_csv(tmp_path / "tags.csv")


def test_it_says_what_the_library_finds(tags):
    done = program(tags, *FIT, *QUICK, "-k", 2, "--json", "--seed", 3)
    found = json.loads(done.stdout)
    data = Dataset(X, Y)
    folds = make_splits(data, Splitting(n_folds=2, seed=3))
    model = make_pipeline(Scaling("standard"), OPLS(n_components=2))
    expected = diagnose(model, data.X, data.Y, 19, n_resamples=2, seed=3, cv=folds).describe()
    for name in ("held_out", "raw", "own_rows", "optimism", "p"):
        assert found[name] == pytest.approx(expected[name], abs=1e-9), name
    np.testing.assert_allclose(found["null"], expected["null"], atol=1e-9)
    assert len(found["stability"]) == 2 and found["n"] == 60 and found["n_all"] is None
    assert {row["label"] for row in found["worse_labels"]} <= {"topic_sea", "topic_<b>", "topic_é"}


def test_it_tests_single_components(tags):
    done = program(tags, *FIT, *QUICK, "-k", 2, "--per-component")
    lines = [line for line in done.stdout.splitlines() if line.startswith("  component ")]
    assert len(lines) == 2 and lines[0].startswith("  component 1      pseudo-F "), done.output
    assert "p = 0.001 of 999 shuffles, " in lines[0] and lines[0].endswith("% of the variance of y")
    refused(program(tags, "-m", "pca", *FIT, *QUICK, "--per-component"), "per_component tests OPLS, CCA and PLS")


def test_covariates_of_the_table_are_taken_off(tmp_path, capsys):
    """Columns of numbers and of levels, as in the library; they are no features, and the terminal names them."""
    draw = np.random.default_rng(2)
    rows, depth, batch = draw.normal(size=(40, 3)), draw.normal(size=40), np.repeat(["p", "q"], 20)
    rows[:, 0] += 2 * depth
    y = rows[:, 1] + 2 * depth + (batch == "p")
    cells = zip(*rows.T.tolist(), depth.tolist(), batch.tolist(), y.tolist(), strict=True)
    path = tmp_path / "soil.csv"
    path.write_text("\n".join(["a,b,c,depth,batch,y", *(",".join(map(str, row)) for row in cells)]))
    words = (path, "--targets", "y", *QUICK, "--halves", 1, "-k", 1, "-m", "pls", "--per-component")
    found = json.loads(program(*words, "--covariates", "dep*", "--covariates", "batch", "--json").stdout)
    model = make_pipeline(Scaling("standard"), PLS(target_type="real"))
    options = {"covariates": {"depth": depth, "batch": batch}, "n_permutations": 1}
    expected = component_tests(model, rows, targets_of(y, "real"), 1, **options)[0]
    for name in ("statistic", "share"):
        assert found["components"][0][name] == pytest.approx(expected[name], rel=1e-8)
    assert found["verdict"].endswith("or -m opls, may predict better.")
    assert found["covariates"] == [{"name": "depth", "kind": "number"}, {"name": "batch", "kind": "2 levels"}]
    show(found, False)
    assert "  covariates       depth (number), batch (2 levels)\n" in capsys.readouterr().out
    refused(program(*words[:-1], "--covariates", "depth"), "--covariates needs --per-component")
    refused(program(*words, "--covariates", "y"), "'y' is named for both targets and covariates; name it once")
    refused(program(*words, "--covariates", "deep"), "covariates 'deep' names no column of the table", "depth")
    large = program(*words, "--covariates", "depth", "--memory", "1KB")
    assert large.exit_code == 2 and "--covariates is for tables in memory" in large.stderr


def test_the_last_line_is_the_verdict(tags):
    done = succeeded(program(tags, *FIT, *QUICK))
    lines = done.stdout.splitlines()
    assert lines[0] == "OPLS, 3 components: macro average precision on 60 rows"
    assert [line[:18].strip() for line in lines[1:5]] == [
        "held-out rows",
        "its own rows",
        "shuffled labels",
        "stability",
    ]
    assert lines[-1].startswith("Better than shuffled labels: no shuffle of 19 reaches")


@pytest.mark.parametrize(
    ("option", "moved"),
    [
        ("--groups", "19 shuffles of whole groups (1,000,000 or more possible), p"),
        ("--time", "19 shuffles along time ("),
    ],
)
def test_groups_and_times_are_shuffled_together(tmp_path, option, moved):
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(20), 5) if option == "--groups" else np.arange(100)
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=100) > 0).astype(int)
    rows = [f"{u},{','.join(map(str, x))},{label}" for u, x, label in zip(unit, X, y, strict=True)]
    (tmp_path / "f.csv").write_text("\n".join(["unit,a,b,c,label", *rows]))
    done = program(tmp_path / "f.csv", "--labels", "label", option, "unit", *QUICK, "-k", 1)
    assert moved in done.stdout and done.stdout.splitlines()[-1].startswith("Better than shuffled labels"), done.output


def test_labels_of_noise_have_shaped_nothing(tmp_path):
    draw = np.random.default_rng(0)
    rows = [",".join(f"{value:.3f}" for value in row) for row in draw.normal(size=(90, 4))]
    cells = draw.integers(0, 2, size=(90, 2))
    lines = [f"{row},{a},{b}" for row, (a, b) in zip(rows, cells, strict=True)]
    (tmp_path / "noise.csv").write_text("\n".join(["a,b,c,d,y1,y2", *lines]) + "\n")
    done = program(tmp_path / "noise.csv", "--labels", "y*", *QUICK, "-m", "mvmd", "--set", "beta=0.2")
    assert done.stdout.splitlines()[0] == "MVMD, 2 components: macro average precision on 90 rows"
    assert done.stdout.splitlines()[-1].startswith("Not better than shuffled labels:")


def test_a_table_beyond_memory_is_sampled(tags):
    done = succeeded(program(tags, *FIT, *QUICK, "--memory", "1KB", "--sample", 50))
    assert "macro average precision on 50 rows of 60" in done.stdout


def test_bad_options_are_one_line(tags):
    refused(program(tags, *FIT, "--measure", "Hamming loss"), "Hamming loss")
    refused(program(tags, *FIT, "-m", "opsl"), "opsl")
    refused(program(tags, *FIT, "--max-seconds", 0), "--max-seconds 0 is not above 0.")
