"""Classes and labels that differ only in case, blanks, accents or a last point are noted, wherever they come from."""

import numpy as np
import pytest

from proxembed.data import Columns, Dataset, read
from proxembed.tables.notes import spelling_notes
from proxembed.workflow.labelled_data import labelled_data


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("Red", "red", "'Red' (3 rows) and 'red' (1 row)"),
        ("red ", "red", "'red ' (3 rows)"),
        ("New  York", "new york", "'New  York' (3 rows)"),
        ("caf\u00e9", "cafe", "'caf\u00e9' (3 rows)"),
        ("caf\u00e9", "cafe\u0301", r"'caf\xe9' (3 rows) and 'cafe\u0301' (1 row)"),
        ("red\u00a0one", "red one", r"'red\xa0one' (3 rows) and 'red one' (1 row)"),
        ("\ufeffred", "red", r"'\ufeffred' (3 rows)"),
        ("STRASSE", "stra\u00dfe", "'STRASSE' (3 rows)"),
        ("\u0130zmir", "izmir", "izmir"),
        (">50K.", ">50K", "'>50K.' (3 rows) and '>50K' (1 row)"),
    ],
)
def test_both_spellings_are_shown_with_their_rows(one, other, shown):
    (note,) = spelling_notes([one, "blue", other], [3, 5, 1])
    assert note.startswith("2 labels differ only in case, blanks, accents or a last point: ") and shown in note


@pytest.mark.parametrize("names", [["red", "reed"], ["1", "-1"], ["a+", "a"], ["\u0301", "\u0300"], []])
def test_other_names_are_not_noted(names):
    assert spelling_notes(names, [1] * len(names)) == ()


def test_many_groups_of_spellings_are_counted():
    names = [spelling for word in "abcde" for spelling in (word, word.upper())]
    (note,) = spelling_notes(names, [1] * 10)
    assert note.startswith("10 labels") and "and 2 more such groups" in note


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("t.csv", "x,y\n1,Red\n2,red\n4,blue\n3,blue\n5,Red\n1,red\n", "y"),
        ("t.csv", "x,y\n1,Red;blue\n2,red\n4,blue;red\n3,blue\n", "y"),
        ("t.csv", "x,y\n1,\"['Red', 'blue']\"\n2,\"['red']\"\n4,\"['blue']\"\n3,['blue']\n", "y"),
        ("t.csv", "x,l_Red,l_red,l_blue\n1,1,0,0\n2,0,1,1\n4,0,0,1\n", "l_*"),
        ("t.arff", "@relation r\n@attribute x real\n@attribute y {Red,red,blue}\n@data\n1,Red\n2,red\n4,blue\n", "y"),
    ],
)
def test_every_form_of_labels_in_files_is_noted(tmp_path, name, text, labels):
    (tmp_path / name).write_text(text)
    data = read(tmp_path / name, labels=[labels] if name.endswith("arff") else None, columns=columns_of(name, labels))
    assert len([note for note in data.notes if "2 labels differ" in note and "ed'" in note]) == 1


def columns_of(name, labels):
    return Columns(labels=(labels,)) if name.endswith("csv") else None


def test_blanks_that_a_file_leaves_out_are_noted(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,red\n2,red \n4,blue\n3, blue\n5,red \n")
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y",)))
    assert data.label_names == ("blue", "red")
    assert "y: 3 cells such as 'red ' are read as 'red', without blanks" in data.notes


@pytest.mark.parametrize("y", [["Red", "red", "blue", "red"], [{"Red"}, {"red"}, {"blue", "red"}, set()]])
def test_labels_in_memory_are_noted_once(y):
    found = labelled_data(np.arange(8.0)[:, None] ** 2, y * 2)
    assert len(found.notes) == 1 and "'Red' (2 rows) and 'red' (4 rows)" in found.notes[0]
    assert labelled_data(found) is found
    assert labelled_data(Dataset(found.X, found.Y, label_names=found.label_names)).notes == found.notes


def test_values_of_a_feature_are_noted(tmp_path):
    words = ["Male", "male", "female", "Female", "other", " male"] * 5
    rows = "".join(f"{word},A{j % 4},{'uv'[j * j % 7 % 2]}\n" for j, word in enumerate(words))
    (tmp_path / "t.csv").write_text("sex,code,y\n" + rows)
    notes = [note for note in read(tmp_path / "t.csv", "y").notes if "differ only" in note]
    assert notes == [
        "sex: 4 values differ only in case, blanks, accents or a last point: 'Male' (5 rows) and 'male' (10 rows); "
        "'female' (5 rows) and 'Female' (5 rows); use one spelling if they mean the same"
    ]


def test_a_column_of_two_spellings_may_still_name_entities(tmp_path):
    films = ["Film 0", "film 0", *(f"film {j}" for j in range(1, 20))]
    rows = "".join(f"{film},{j % 7}.{k},{'uv'[j * j % 3 % 2]}\n" for k in range(4) for j, film in enumerate(films))
    (tmp_path / "t.csv").write_text("where,x,y\n" + rows)
    notes = read(tmp_path / "t.csv", "y").notes
    assert any("where: 2 values differ" in note for note in notes) and any(
        "where is an entity" in note for note in notes
    )
