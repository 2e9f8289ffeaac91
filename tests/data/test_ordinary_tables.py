"""Twelve ordinary tables, each through every verb with no option but the labels, or with those that a refusal named."""

import csv
import json
import shlex

import numpy as np
import pytest

from data.tables import TABLES
from proxembed import load
from proxembed.data import Columns, read, read_rows
from runs import empty_figures, planes_alone, program  # noqa: F401

pytestmark = pytest.mark.usefixtures("few_rivals")

ASKED = {"sensors": ["--missing=-999"], "catalogue": ["--decimal", "."]}
SMALL = ["-m", "opls", "-k", "2", "--folds", "2"]
# What the program says of each table, beside what it was not told.
SAID = {
    "tickets": ["ticket is an id", "tags: its labels are joined by ','", "its 41 empty cells are rows without labels"],
    "churn": ["customerID is an id", "Churn is read as one label (No: 159, Yes: 41)"],
    "catalogue": ["sku is an id", "category: each beginning of a path is a label"],
    "survey": ["columns are separated by ';'", "tools: its labels are joined by ';'"],
    "sensors": ["the rows are in the order of time (--time time", "say nothing: firmware"],
    "genes": ["sample is an id", "batch looks like groups (6 in 120 rows)"],
    "bibliography": ["keywords: its labels are joined by ';'"],
    "image_vectors": ["file is an id", "labels: its cells are lists of labels"],
    "logs": ["host looks like groups (8 in 200 rows)", "the rows are in the order of when (--time when"],
    "diagnosis_codes": [
        "patient is an identifier (65 values in 220 rows)",
        "readmitted is read as one label (false: 128, true: 92)",
    ],
    "mixed_text": [],
    "sparse_counts": [],
}
READ = {
    "tickets": {"opened": "date, day first", "zip": "code (leading zeros), 8 values", "minutes": "number; 33 empty"},
    "churn": {"MonthlyCharges": "number", "TotalCharges": "number; 12 empty", "Contract": "category, 3 values"},
    "catalogue": {"price": "number in EUR, comma between thousands", "title": "text, 6 words per row"},
    "survey": {"I like coding": "ordered (strongly disagree to strongly agree)", "Timestamp": "date"},
    "sensors": {"flow": "number in l/min", "temperature": "number; 17 empty"},
    "genes": {"g0": "number", "batch": "group, left out"},
    "bibliography": {"authors": "names, joined by ';'", "year": "number"},
    "image_vectors": {"vector": "vector of 8"},
    "logs": {"when": "date", "message": "text, 6 words per row"},
    "diagnosis_codes": {"diagnosis": "category, 5 values", "patient": "groups"},
    "mixed_text": {"lang": "category, 4 values", "review": "text, 9 words per row"},
}
LABELS = {
    "catalogue": ("Home", "Home > Garden", "Home > Kitchen", "Office", "Office > Chairs"),
    "survey": ("Excel, other", "Python", "R"),
    "image_vectors": ("cat", "dog", "tree"),
}
every_table = pytest.mark.parametrize("name", TABLES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def fits():
    """Folders by the name of their table."""
    return {}


@pytest.fixture
def fitted(fits, tmp_path_factory, monkeypatch):
    """The folder of a table and its model, which is fitted once, as the working folder."""

    def found(name):
        folder = fits.get(name) or fits.setdefault(name, tmp_path_factory.mktemp(name))
        monkeypatch.chdir(folder)
        if not (folder / "m.skops").exists():
            succeeded(program("fit", *made(folder, name), "-k", 1, "-o", "m.skops"))
        return folder

    return found


def made(folder, name):
    """The file of a table, and the options that its labels and the questions about it take."""
    make, labels = TABLES[name]
    (folder / f"{name}.csv").write_text(make(), encoding="utf-8")
    return [f"{name}.csv", "--labels", labels, *ASKED.get(name, ())]


def succeeded(done):
    assert done.exit_code == 0, done.output
    return done


@every_table
def test_the_data_verb_says_how_each_column_was_read(folder, name):
    done = succeeded(program("data", *made(folder, name)))
    assert [text for text in SAID[name] if text not in done.stderr] == []
    facts = json.loads(succeeded(program("data", *made(folder, name), "--json")).stdout)
    read_as = {column: words for column, words, _ in facts["columns"] or ()}
    assert {column: read_as[column] for column in READ.get(name, {})} == READ.get(name, {})


@every_table
def test_fit_transform_and_predict_take_the_table(fitted, name):
    folder = fitted(name)
    succeeded(program("transform", "m.skops", f"{name}.csv", "-o", "z.npz"))
    succeeded(program("predict", "m.skops", f"{name}.csv", "-o", "y.csv"))
    model = load(folder / "m.skops")
    data = dataset(folder, name)
    np.testing.assert_array_equal(np.load("z.npz")["Z"], model[:-1].transform(data.X))
    assert len((folder / "y.csv").read_text().splitlines()) == 1 + data.X.shape[0]


def test_search_and_compare_take_the_table(folder):
    searched_and_compared(folder, "survey")


def searched_and_compared(folder, name):
    words = made(folder, name)
    succeeded(program("search", *words, *SMALL, "--max-trials", 1, "--shuffles", 0, "-o", "out"))
    found = json.loads((folder / "out" / "results.json").read_text())
    assert {"index.html", "model.skops", "embedding.npz"} <= {path.name for path in (folder / "out").iterdir()}
    best = {entry["arm"]: entry["scores"] for entry in found["summary"]["best"]}
    assert best["OPLS"]["AP (ridge)" if "AP (ridge)" in best["OPLS"] else next(iter(best["OPLS"]))]["mean"] > 0.4
    succeeded(program("compare", *words, *SMALL, "--jobs", 1, "-o", "compared"))


def dataset(folder, name):
    options = [option for option in ASKED.get(name, ()) if option.startswith("--missing=")]
    missing = tuple(option.removeprefix("--missing=") for option in options) or None
    decimal = "." if "--decimal" in ASKED.get(name, ()) else None
    return read(folder / f"{name}.csv", columns=Columns(labels=(TABLES[name][1],), missing=missing, decimal=decimal))


@pytest.mark.parametrize("name", LABELS)
def test_the_labels_are_those_that_the_cells_mean(folder, name):
    made(folder, name)
    assert dataset(folder, name).label_names == LABELS[name]


def test_a_number_that_may_be_an_empty_cell_is_asked_about_and_the_command_that_is_named_runs(folder):
    file, *labels = made(folder, "sensors")[:3]
    done = program("data", file, *labels)
    assert done.exit_code == 2 and "column 'temperature' holds -999 in 17 cells" in done.stderr
    empty, kept = (shlex.split(line)[-1] for line in done.stderr.splitlines()[-2:])
    assert (empty, kept) == ("--missing=-999", "--missing=none")
    succeeded(program("data", file, *labels, empty))
    kept = succeeded(program("data", file, *labels, kept, "--json"))
    assert ["temperature", "number"] in [column[:2] for column in json.loads(kept.stdout)["columns"]]


@pytest.mark.parametrize("name", ["churn", "tickets", "logs", "bibliography"])
def test_unseen_categories_and_empty_cells_of_new_rows_are_taken(fitted, name):
    file = fitted(name) / f"{name}.csv"
    header, row = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))[:2]
    unseen = ["unheard" if column in ("Contract", "zip") else cell for column, cell in zip(header, row, strict=True)]
    rows = [["" if j % 2 == k else cell for j, cell in enumerate(unseen)] for k in (0, 1)]
    with open("new.csv", "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([header, *rows])
    succeeded(program("transform", "m.skops", "new.csv", "-o", "z.npz"))
    assert np.isfinite(np.load("z.npz")["Z"]).all() and np.load("z.npz")["Z"].shape == (2, 1)


def test_the_tables_are_the_same_every_time():
    for make, _ in TABLES.values():
        assert make() == make()


def test_new_rows_are_read_as_the_training_rows(folder):
    for name in TABLES:
        made(folder, name)
        data = dataset(folder, name)
        X, _ = read_rows(folder / f"{name}.csv", json.loads(json.dumps(data.source)))
        if name == "sparse_counts":
            np.testing.assert_array_equal(X, data.X)
            continue
        assert X.columns == data.X.columns
        for one, other in zip(X.arrays, data.X.arrays, strict=True):
            np.testing.assert_array_equal(one, other)
