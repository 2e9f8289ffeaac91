"""Tables of which every row has an unknown label: each verb learns from the known cells and scores them."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from typer.testing import CliRunner

import proxembed
from proxembed import EmbeddingSearch, load
from proxembed.cli import app
from proxembed.evaluate.results import TEST

pytestmark = pytest.mark.filterwarnings("ignore:.*rows (have no|without a) known label")


@pytest.fixture(scope="module")
def table():
    """160 rows of which each lacks one label of four, and as many of the others as chance has it."""
    draw = np.random.default_rng(3)
    X = draw.normal(size=(160, 6))
    Y = (X[:, :4] + 0.4 * draw.normal(size=(160, 4)) > 0.3).astype(float)
    hole = draw.random(Y.shape) < 0.3
    hole[np.arange(160), np.arange(160) % 4] = True
    return X, np.where(hole, np.nan, Y)


def test_figures_of_a_search_are_those_of_known_test_cells(table):
    X, y = table
    found = proxembed.search(
        X,
        y,
        methods=["opls", "forestleaves(opls, n_estimators=20)"],
        max_seconds=None,
        max_trials=2,
        folds=2,
        shuffles=0,
    )
    results, rows = found.results, found.results.held_out[TEST]
    known = ~np.isnan(y[rows])
    assert len(rows) > 30 and not known.all(axis=1).any()
    for entry in found.record["summary"]["leaderboard"]:
        S = results.predictions[entry["arm"], entry["k"], TEST]
        own = [average_precision_score(y[rows][known[:, j], j], S[known[:, j], j]) for j in range(4)]
        assert entry["scores"]["macro average precision (ridge)"]["test"] == pytest.approx(np.mean(own), abs=1e-12)
        assert not entry["failures"]
    best = found.verdict["goals"]["predict"]
    assert best["value"] > 0.75 and any(
        "150 of 160 rows have known and unknown labels" in note for note in found.record["summary"]["notes"]
    )
    assert "only known cells are learned from and scored" in found.report()
    assert found.model.predict(X[:3]).shape == (3, 4)


def test_a_search_estimator_and_a_diagnosis_take_them(table):
    X, y = table
    found = EmbeddingSearch(["opls"], n_components=[2, 4], max_trials=1).fit(X, y)
    assert found.best_score_ > 0.75 and found.transform(X).shape[0] == 160
    diagnosis = proxembed.diagnose(proxembed.OPLS(n_components=3), X, y, n_shuffles=19, n_resamples=1)
    assert diagnosis.passed and diagnosis.held_out > max(diagnosis.null) + 0.1


def test_shuffled_labels_are_at_chance(table):
    X, y = table
    y = y[np.random.default_rng(0).permutation(160)]
    found = proxembed.compare(X, y, methods=["opls"], n_components=[2], folds=2)
    entry = next(entry for entry in found.record["summary"]["best"] if entry["arm"] == "OPLS")
    assert entry["scores"]["macro average precision (ridge)"]["mean"] < np.nanmean(y) + 0.12


@pytest.mark.parametrize("verb", ["compare", "search", "fit", "data"])
def test_the_program_takes_empty_label_cells(tmp_path, table, verb):
    X, y = table
    lines = ["a,b,c,d,e,f,t_one,t_two,t_three,t_four"]
    for row, cells in zip(X, y, strict=True):
        lines.append(",".join([*map(str, row), *("" if np.isnan(cell) else str(int(cell)) for cell in cells)]))
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines) + "\n")
    model = tmp_path / "m.skops"
    options = {
        "compare": ["-m", "opls", "-k", "2", "--folds", "2", "-j", "1", "-o", str(tmp_path / "out")],
        "search": ["-m", "opls", "-k", "2", "--max-trials", "1", "--max-seconds", "30", "-o", str(tmp_path / "out")],
        "fit": ["-m", "opls", "-o", str(model)],
        "data": [],
    }
    done = CliRunner().invoke(app, [verb, str(file), "--labels", "t_*", *options[verb]])
    assert done.exit_code == 0, done.stderr
    if verb == "fit":
        assert load(model).predict(X[:2]).shape == (2, 4)
    elif verb != "data":
        assert (tmp_path / "out" / "index.html").exists()
