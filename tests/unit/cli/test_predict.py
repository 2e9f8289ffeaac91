"""`proxembed predict`: named labels, one class per row, or scores; refusals in one line."""

import csv
import json
import os

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proxembed import OPLS
from proxembed.methods.pipeline import source_of
from proxembed.persist import load, load_source, save
from runs import succeeded
from unit.cli.model_files import (
    FEATURES,
    LABELS,
    X,
    Y,
    features,
    fitted,
    labels,
    new_csv,
    one_class_csv,
    program,
    refused,
    write_csv,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a model and new rows; tests do not change them."""
    folder = tmp_path_factory.mktemp("made")
    fitted(folder)
    new_csv(folder / "new.csv")
    return folder


def table(path):
    with open(path, newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    return header, rows


def test_labels_by_name(made, tmp_path):
    succeeded(program("predict", made / "model.skops", made / "new.csv", "-o", tmp_path / "y.csv"))
    header, rows = table(tmp_path / "y.csv")
    assert header == ["id", *LABELS] and [row[0] for row in rows] == [f"n{i}" for i in range(9)]
    found = np.array([row[1:] for row in rows], dtype=int)
    np.testing.assert_array_equal(found, load(made / "model.skops").predict(X[:9]))
    assert (found == Y[:9]).mean() > 0.8


def test_scores_are_those_of_the_decision(made, tmp_path):
    program("predict", made / "model.skops", made / "new.csv", "--scores", "-o", tmp_path / "s.npz")
    program("predict", made / "model.skops", made / "new.csv", "-o", tmp_path / "y.npz")
    with np.load(tmp_path / "s.npz") as scores, np.load(tmp_path / "y.npz") as decided:
        assert scores["label_names"].tolist() == decided["label_names"].tolist() == list(LABELS)
        np.testing.assert_array_equal(scores["scores"] > 0, decided["Y"])
        np.testing.assert_array_equal(scores["scores"], load(made / "model.skops").decision_function(X[:9]))


def test_probabilities_are_those_of_the_model_and_stand_alone(made, tmp_path):
    done = program("predict", made / "model.skops", made / "new.csv", "--probabilities", "-o", tmp_path / "p.csv")
    assert done.exit_code == 0, (done.output, done.exception)
    header, rows = table(tmp_path / "p.csv")
    P = load(made / "model.skops").predict_proba(X[:9])
    assert header == ["id", *LABELS] and (P >= 0).all() and (P <= 1).all()
    np.testing.assert_allclose(np.array([row[1:] for row in rows], dtype=float), P)
    both = program(
        "predict", made / "model.skops", made / "new.csv", "--probabilities", "--scores", "-o", tmp_path / "n.csv"
    )
    refused(both, "--scores and --probabilities both stand in the place of the decision", "give one of them")
    fitted(tmp_path)
    model = load(tmp_path / "model.skops")
    del model[-1].calibration_
    save(model, tmp_path / "former.skops", source=load_source(tmp_path / "model.skops"))
    done = program("predict", tmp_path / "former.skops", made / "new.csv", "--probabilities", "-o", tmp_path / "n.csv")
    refused(done, "former.skops has no probabilities, as models of former versions", "fit and save it again")
    assert not (tmp_path / "n.csv").exists()


def test_a_cut_of_the_probability_takes_the_place_of_that_of_the_model(made, tmp_path):
    model = load(made / "model.skops")
    done = program("predict", made / "model.skops", made / "new.csv", "--cut", 0.5, "-o", tmp_path / "y.npz")
    assert done.exit_code == 0 and "largest F1" not in done.output, (done.output, done.exception)
    with np.load(tmp_path / "y.npz") as decided:
        np.testing.assert_array_equal(decided["Y"], model.predict_proba(X[:9]) > 0.5)
    own = program("predict", made / "model.skops", made / "new.csv", "-o", tmp_path / "y.csv")
    assert "their cuts of largest F1" in own.output and "--cut 0.5" in own.output
    both = program(
        "predict", made / "model.skops", made / "new.csv", "--cut", 0.5, "--scores", "-o", tmp_path / "n.csv"
    )
    refused(both, "--cut is of the decision", "give one of them")
    one_class_csv(tmp_path / "c.csv", 3)
    program("fit", tmp_path / "c.csv", "--labels", "colour", "-m", "fda", "-o", tmp_path / "m.skops")
    done = program("predict", tmp_path / "m.skops", tmp_path / "c.csv", "--cut", 0.5, "-o", tmp_path / "n.csv")
    refused(done, "has no cut, as it predicts the most probable class", "leave --cut out")
    assert "F1" not in program("predict", tmp_path / "m.skops", tmp_path / "c.csv", "-o", tmp_path / "n.csv").output


@pytest.mark.parametrize("count", [2, 3])
def test_one_class_a_row_is_one_column(tmp_path, count):
    classes = one_class_csv(tmp_path / "c.csv", count)
    program("fit", tmp_path / "c.csv", "--labels", "colour", "-m", "fda", "-o", tmp_path / "m.skops")
    succeeded(program("predict", tmp_path / "m.skops", tmp_path / "c.csv", "-o", tmp_path / "y.csv"))
    header, rows = table(tmp_path / "y.csv")
    found = np.array([row[0] for row in rows])
    assert header == ["colour"] and set(found) <= set(classes) and (found == classes).mean() > 0.8
    program("predict", tmp_path / "m.skops", tmp_path / "c.csv", "--scores", "-o", tmp_path / "s.csv")
    header, rows = table(tmp_path / "s.csv")
    names = sorted(set(classes))
    assert header == (names if count == 3 else names[1:])
    scores = np.array(rows, dtype=float)
    best = scores.argmax(axis=1) if count == 3 else (scores[:, 0] > 0).astype(int)
    np.testing.assert_array_equal(np.array(names)[best], found)
    program("predict", tmp_path / "m.skops", tmp_path / "c.csv", "--probabilities", "-o", tmp_path / "p.csv")
    header, rows = table(tmp_path / "p.csv")
    P = np.array(rows, dtype=float)
    assert header == names
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.array(names)[P.argmax(axis=1)], found)


def test_one_label_column_keeps_its_name(tmp_path):
    write_csv(tmp_path / "one.csv", {**features(), "topic_sea": Y[:, 0]})
    succeeded(program("fit", tmp_path / "one.csv", "--labels", "topic_sea", "-o", tmp_path / "m.skops"))
    program("predict", tmp_path / "m.skops", tmp_path / "one.csv", "-o", tmp_path / "y.csv")
    header, rows = table(tmp_path / "y.csv")
    assert header == ["topic_sea"] and set(sum(rows, [])) == {"0", "1"}


def test_one_label_comes_back_in_the_words_of_the_file(tmp_path):
    write_csv(tmp_path / "one.csv", {**features(), "sea": np.where(Y[:, 0] == 1, "yes", "no")})
    program("fit", tmp_path / "one.csv", "--labels", "sea", "-o", tmp_path / "m.skops")
    program("predict", tmp_path / "m.skops", tmp_path / "one.csv", "-o", tmp_path / "y.csv")
    program("predict", tmp_path / "m.skops", tmp_path / "one.csv", "-o", tmp_path / "y.npz")
    header, rows = table(tmp_path / "y.csv")
    assert header == ["sea"] and set(sum(rows, [])) == {"yes", "no"}
    assert np.load(tmp_path / "y.npz")["Y"].ravel().tolist() == [int(row == ["yes"]) for row in rows]
    program("predict", tmp_path / "m.skops", tmp_path / "one.csv", "--cut", 0.9, "-o", tmp_path / "y.csv")
    likely = load(tmp_path / "m.skops").predict_proba(X)[:, -1] > 0.9
    assert [row == ["yes"] for row in table(tmp_path / "y.csv")[1]] == likely.tolist() and likely.any()


def test_a_label_called_id_does_not_hide_the_ids(tmp_path):
    rows = {
        "doc": [f"d{i}" for i in range(60)],
        **features(),
        **dict(zip(["id", "b", "c"], labels().values(), strict=True)),
    }
    write_csv(tmp_path / "t.csv", rows)
    program(
        "fit",
        tmp_path / "t.csv",
        "--labels",
        "id",
        "--labels",
        "b",
        "--labels",
        "c",
        "--id",
        "doc",
        "-o",
        tmp_path / "m.skops",
    )
    succeeded(program("predict", tmp_path / "m.skops", tmp_path / "t.csv", "-o", tmp_path / "y.csv"))
    assert table(tmp_path / "y.csv")[0] == ["row id", "id", "b", "c"]


def test_a_model_fitted_on_sets_keeps_its_own_order_of_names(made, tmp_path):
    from proxembed.data import read
    from proxembed.data.readers.columns import Columns

    data = read(made / "tags.csv", columns=Columns(labels=("topic_*",), id="doc", drop=("junk",)))
    sets = [{LABELS[j] for j in np.flatnonzero(row)} for row in Y]
    from proxembed.methods.pipeline import embedding_pipeline

    save(embedding_pipeline(OPLS(), X).fit(X, sets), tmp_path / "m.skops", source=source_of(data))
    program("predict", tmp_path / "m.skops", made / "new.csv", "-o", tmp_path / "y.csv")
    program("predict", made / "model.skops", made / "new.csv", "-o", tmp_path / "other.csv")
    (header, rows), (names, others) = table(tmp_path / "y.csv"), table(tmp_path / "other.csv")
    assert header == ["id", *sorted(LABELS)] and header != names
    columns, expected = dict(zip(header, zip(*rows, strict=True), strict=True)), zip(*others, strict=True)
    assert {name: columns[name] for name in names} == dict(zip(names, expected, strict=True))


def test_rows_outside_the_training_rows_are_counted(made, tmp_path):
    from proxembed.data import read
    from proxembed.data.readers.columns import Columns

    data = read(made / "tags.csv", columns=Columns(labels=("topic_*",), id="doc", drop=("junk",)))
    model = make_pipeline(StandardScaler(), OPLS()).fit(X[45:], X[45:, 0] + 0.5 * X[45:, 1] ** 2)
    save(model, tmp_path / "m.skops", source=source_of(data))
    count = int(model[-1].outside_training(model[:-1].transform(X[:9])).sum())
    done = program("predict", tmp_path / "m.skops", made / "new.csv", "-o", tmp_path / "y.csv")
    assert 0 < count < 9
    assert done.stdout.splitlines()[-1] == (
        f"{count} of 9 rows lie outside the range of the training rows in some component."
    )
    done = program("predict", tmp_path / "m.skops", made / "new.csv", "--json", "-o", tmp_path / "y.csv")
    assert json.loads(done.stdout)["outside_training"] == count


def test_the_default_name_and_json(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = program("predict", made / "model.skops", made / "new.csv", "--json")
    assert json.loads(done.stdout) == {"rows": 9, "columns": 3, "written": "new-predictions.csv"}
    assert os.listdir(tmp_path) == ["new-predictions.csv"]


def test_an_embedding_without_a_readout_is_refused(made, tmp_path):
    from proxembed.data import read
    from proxembed.data.readers.columns import Columns

    data = read(made / "tags.csv", columns=Columns(labels=("topic_*",), id="doc", drop=("junk",)))
    save(OPLS().fit(X, Y), tmp_path / "m.skops", source=source_of(data))
    for options in ([], ["--scores"]):
        done = program("predict", tmp_path / "m.skops", made / "new.csv", *options, "-o", tmp_path / "y.csv")
        refused(done, "m.skops: OPLS has no", "fit a model with a read-out first")
    assert not (tmp_path / "y.csv").exists()


def test_texts_are_counted_in_the_words_of_the_training_file(tmp_path):
    words = [("sea", "wave", "boat"), ("hill", "tree", "snow")]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 2], size=6)) for i in range(40)]
    write_csv(tmp_path / "t.csv", {"doc": range(40), "abstract": texts, "tags": ["water;all", "land"] * 20})
    options = ("--labels", "tags", "--separator", ";", "--text", "abstract", "--id", "doc")
    succeeded(program("fit", tmp_path / "t.csv", *options, "-o", tmp_path / "m.skops"))
    new = {"abstract": ["Boats and waves at sea", "hills with trees"], "doc": ["a", "b"]}
    write_csv(tmp_path / "new.csv", new)
    program("predict", tmp_path / "m.skops", tmp_path / "new.csv", "-o", tmp_path / "y.csv")
    assert table(tmp_path / "y.csv") == (["id", "all", "land", "water"], [["a", "1", "0", "1"], ["b", "0", "1", "0"]])


def test_real_songs_are_told_apart(data_folder, tmp_path):
    """Train and test files of the emotions set: better than calling every label (macro F1 0.49)."""
    from proxembed.data import read

    model, truth = tmp_path / "m.skops", read(data_folder / "emotions-test.arff")
    succeeded(program("fit", data_folder / "emotions-train.arff", "-o", model))
    program("predict", model, data_folder / "emotions-test.arff", "-o", tmp_path / "y.npz")
    with np.load(tmp_path / "y.npz") as arrays:
        found, names = arrays["Y"], arrays["label_names"].tolist()
    Y = truth.Y.toarray()
    both = (found & Y).sum(axis=0)
    assert names == list(truth.label_names) and (2 * both / (found.sum(axis=0) + Y.sum(axis=0))).mean() > 0.6


def test_why_is_written_beside_the_predictions(made, tmp_path):
    """Nearest training rows with their ids and labels, in CSV and .npz; rows far from all of them are counted."""
    rows = np.loadtxt(made / "new.csv", delimiter=",", skiprows=1, usecols=range(6), ndmin=2)
    write_csv(tmp_path / "far.csv", dict(zip(reversed(FEATURES), (100 * rows).T, strict=True)))
    why = ("--why", made / "tags.csv")
    done = program("predict", made / "model.skops", made / "new.csv", *why, "-o", tmp_path / "near.csv", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    header, cells = table(tmp_path / "near.csv")
    found = [dict(zip(header, each, strict=True)) for each in cells]
    assert json.loads(done.stdout)["far"] == sum(int(row["far"]) for row in found)
    for number, row in enumerate(found):  # the new rows are the first ones of the training file
        nearest = row["nearest"].split("; ")
        assert len(nearest) == 10 and f"d{number}" in nearest and row["explained"] in LABELS
        own = [name for name, on in zip(LABELS, Y[number], strict=True) if on]
        assert row["nearest labels"].split("; ")[nearest.index(f"d{number}")] == (", ".join(own) or "no label")
    done = program("predict", made / "model.skops", tmp_path / "far.csv", *why, "-o", tmp_path / "far.npz")
    assert "9 of 9 rows are far from all training rows." in done.stdout
    assert np.load(tmp_path / "far.npz")["far"].tolist() == [1] * 9
