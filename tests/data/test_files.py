"""Small files of other people through `proxembed data`, and their rows again as new rows."""

import json

import pytest
from typer.testing import CliRunner

from data.files.make_files import FILES, write_files
from extras import needed
from proxembed.cli import app
from proxembed.data import Columns, read, read_rows

pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # which anndata sets


def made(name, folder):
    """The file of this name; a test is skipped where it needs a package that is missing."""
    if FILES[name].needs:
        needed(FILES[name].needs)
    return write_files(folder, [name])[0]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_and_described(tmp_path, name):
    file, wanted = made(name, tmp_path), FILES[name]
    found = CliRunner().invoke(app, ["data", str(file), *wanted.options, "--json"])
    assert found.exit_code == 0, found.output
    facts = json.loads(found.stdout)
    assert (facts["n"], facts["d"], facts["labels"]) == wanted.shape and wanted.said in found.stderr


@pytest.mark.parametrize("name", ["option_texts.csv", "x_marks.csv"])
def test_marks_are_shown_as_labels_and_asked_about_before_a_search(tmp_path, name):
    """One option per column: the mark is 1 and an empty cell 0."""
    file, labels = made(name, tmp_path), ["--labels", "Which tools?*"]
    shown = CliRunner().invoke(app, ["data", str(file), *labels])
    assert shown.exit_code == 0 and "marks are read as 1 and empty cells as 0" in shown.stderr
    assert shown.stdout.splitlines()[-1].endswith("--empty 'no labels'")
    asked = CliRunner().invoke(app, ["search", str(file), *labels])
    assert asked.exit_code == 2
    assert "give --empty 'no labels' if an empty cell is 0, or --empty unknown" in asked.stderr
    data = read(file, columns=Columns(labels=("Which tools?*",), empty="no labels"))
    assert data.Y.toarray().sum(axis=0).tolist() == [30, 30, 28] and data.unknown is None


def test_new_rows_follow_the_options_of_the_training_file(tmp_path):
    for name, columns in {
        "shift_jis.csv": Columns(labels=("cls",), encoding="shift-jis"),
        "without_header.data": Columns(labels=("column_5",), header=False),
        "arff.arff": Columns(labels=("cls",)),
    }.items():
        data = read(made(name, tmp_path), columns=columns)
        X, _ = read_rows(tmp_path / name, data.source)
        kept = [column.name for column in data.X.columns]
        assert all(X[column].astype(str).tolist() == data.X[column].astype(str).tolist() for column in kept)
