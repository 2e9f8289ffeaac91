"""`--targets`: numbers in `data`, `fit` and `predict`, as a whole and part by part; and in diagnoses."""

import csv
import json

import numpy as np
import pytest

from runs import program, succeeded

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(90, 3))
Y = X @ [[1.0, 20.0], [0.5, -30.0], [0.0, 10.0]] + 0.1 * DRAW.normal(size=(90, 2))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table of features, two numbers and a class."""
    folder = tmp_path_factory.mktemp("made")
    with open(folder / "t.csv", "w", newline="") as stream:
        rows = [
            [*x, "" if i == 7 else y[0], y[1], "hi" if x[0] > 0 else "lo"]
            for i, (x, y) in enumerate(zip(X, Y, strict=True))
        ]
        csv.writer(stream).writerows([["a", "b", "c", "u", "v", "g"], *rows])
    return folder


def run(*arguments):
    done = succeeded(program(*arguments))
    return done.stdout


def refused(*arguments):
    done = program(*arguments)
    assert done.exit_code == 2 and "Traceback" not in done.stderr
    return done.stderr


def columns(path):
    with open(path, newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def test_data_says_how_each_output_is_read(made):
    facts = json.loads(run("data", made / "t.csv", "--targets", "u,v", "--labels", "g", "--json"))
    assert [(each["name"], each["kind"], each["unknown"]) for each in facts["outputs"]] == [
        ("u", "real", 1),
        ("v", "real", 0),
        ("g", "classes", 0),
    ]
    text = run("data", made / "t.csv", "--targets", "u,v", "--drop", "g")
    assert "output u" in text and "fix before" not in text


def test_predictions_have_the_names_and_units_of_the_table(made, tmp_path):
    whole, parts = tmp_path / "m.skops", tmp_path / "p.skops"
    given = ("--targets", "u,v", "--labels", "g", "-m", "opls", "--set", "ridge=0.1")
    assert "3 outputs" in run("fit", made / "t.csv", *given, "-o", whole)
    run("fit", made / "t.csv", *given, "--memory", "5KB", "--sample", "60", "-o", parts)
    for model in (whole, parts):
        run("predict", model, made / "t.csv", "-o", tmp_path / "y.csv")
        found = columns(tmp_path / "y.csv")
        (tmp_path / "y.csv").unlink()
        assert list(found) == ["u", "v", "g"] and set(found["g"]) == {"hi", "lo"}
        errors = np.array([found["u"], found["v"]], dtype=float).T - Y
        assert np.all(errors.std(axis=0) < 0.2 * Y.std(axis=0))


def test_new_rows_keep_their_ids_and_are_encoded_once(made, tmp_path):
    """Ids that the fit found, and notes on unknown cells that count each cell once."""
    rows = [[f"s{i}", *x, "hi" if x[0] > 0 else "lo", y] for i, (x, y) in enumerate(zip(X, Y[:, 1], strict=True))]
    for name, change in (("t.csv", {}), ("n.csv", {"hi": "odd", "lo": "odd"})):
        with open(tmp_path / name, "w", newline="") as stream:
            csv.writer(stream).writerows(
                [["sample_id", "a", "b", "c", "g", "v"], *([change.get(cell, cell) for cell in row] for row in rows)]
            )
    model = tmp_path / "m.skops"
    run("fit", tmp_path / "t.csv", "--targets", "v", "-m", "opls", "-o", model)
    done = program("predict", model, tmp_path / "n.csv", "-o", tmp_path / "y.csv")
    assert "g: 90 of 90 cells are unknown to the model" in done.stderr and "times" not in done.stderr
    run("transform", model, tmp_path / "t.csv", "-o", tmp_path / "z.csv")
    ids = tuple(f"s{i}" for i in range(90))
    assert columns(tmp_path / "y.csv")["id"] == columns(tmp_path / "z.csv")["id"] == ids
    text = refused("fit", tmp_path / "t.csv", "--targets", "v,g", "-o", tmp_path / "x.skops")
    assert text.endswith("'hi', which is not a number: name it with --labels instead of --targets.\n")


def test_new_spectra_may_be_named_by_wavelengths_alone(tmp_path):
    spectra = np.random.default_rng(1).normal(size=(40, 20))
    names = [str(850 + 2 * j) for j in range(20)]
    for name, header, rows in (
        ("t.csv", [*names, "fat"], np.column_stack([spectra, spectra[:, 3]])),
        ("n.csv", names, spectra),
    ):
        with open(tmp_path / name, "w", newline="") as stream:
            csv.writer(stream).writerows([header, *rows.tolist()])
    run("fit", tmp_path / "t.csv", "--targets", "fat", "-m", "opls", "-o", tmp_path / "m.skops")
    run("predict", tmp_path / "m.skops", tmp_path / "n.csv", "-o", tmp_path / "y.csv")
    assert len(columns(tmp_path / "y.csv")["fat"]) == 40
    assert "and 13 more, the last '886', '888', 'fat'" in refused("data", tmp_path / "t.csv", "--targets", "moisture")


def test_arrays_of_numbers_and_what_has_no_scores(made, tmp_path):
    run("fit", made / "t.csv", "--targets", "u,v", "--drop", "g", "-m", "pls", "-o", tmp_path / "m.skops")
    run("predict", tmp_path / "m.skops", made / "t.csv", "-o", tmp_path / "y.npz")
    with np.load(tmp_path / "y.npz") as found:
        assert found["Y"].shape == (90, 2) and found["names"].tolist() == ["u", "v"]
    assert "predicts numbers, which have no scores" in refused(
        "predict", tmp_path / "m.skops", made / "t.csv", "--scores", "-o", tmp_path / "s.csv"
    )
    assert "2 outputs" in (tmp_path / "m.md").read_text()


def test_a_diagnosis_speaks_of_outputs(made):
    given = (
        "--targets",
        "v,u",
        "--drop",
        "g",
        "-m",
        "opls",
        "-k",
        "1",
        "--shuffles",
        "19",
        "--halves",
        "1",
        "--jobs",
        "1",
    )
    text = run("diagnose", made / "t.csv", *given)
    assert "OPLS, 1 component: Q2 on 90 rows" in text and "Better than shuffled outputs: no shuffle of 19" in text
    assert "  shuffled outputs " in text and "label" not in text


def test_a_map_speaks_of_outputs(made, tmp_path):
    done = program("map", made / "t.csv", "--targets", "u,v", "--drop", "g", "-m", "opls", "-o", tmp_path / "m.html")
    assert "plain map              A@10 " in done.stdout and "the map of shuffled outputs" in done.stderr
    assert "label" not in done.output
