"""Numbers to predict come in by every door: arrays of files, svmlight lines, AnnData and OpenML."""

from types import SimpleNamespace

import numpy as np
import pytest

from proxembed.data import Columns, DataError, from_anndata, read

X = np.arange(12.0).reshape(6, 2)
FAT = np.array([1.5, 2.25, np.nan, 0.5, 3.0, 8.0])
COUNTS = np.array([[0, 3], [5, 1], [0, 0], [1, 1], [3, 5], [9, 0]])


def saved(tmp_path, form, Y, **names):
    """The file of X, and how `read` is told of y."""
    if form == "npz":
        np.savez(tmp_path / "rows.npz", X=X, Y=Y, **names)
        return tmp_path / "rows.npz", None
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "y.npy", Y)
    return tmp_path / "rows.npy", tmp_path / "y.npy"


@pytest.mark.parametrize("form", ["npz", "npy"])
def test_an_array_of_numbers_is_read_as_numbers(tmp_path, form):
    path, labels = saved(tmp_path, form, FAT)
    data = read(path, labels=labels)
    np.testing.assert_array_equal(np.asarray(data.outputs)[:, 0], FAT)
    assert [(column.name, column.kind) for column in data.outputs.layout.columns] == [("y", "real")]
    path, labels = saved(tmp_path, form, COUNTS)  # several columns that hold more than 0 and 1
    data = read(path, labels=labels)
    np.testing.assert_array_equal(np.asarray(data.outputs), COUNTS)
    assert [column.name for column in data.outputs.layout.columns] == ["y0", "y1"]


@pytest.mark.parametrize("form", ["npz", "npy"])
def test_whole_numbers_of_one_column_are_classes_unless_said_otherwise(tmp_path, form):
    path, labels = saved(tmp_path, form, np.array([0, 1, 2, 2, 1, 0]))
    assert read(path, labels=labels).label_names == ("0", "1", "2")
    data = read(path, labels=labels, columns=Columns(target_type="real"))
    assert np.asarray(data.outputs)[:, 0].tolist() == [0, 1, 2, 2, 1, 0]


@pytest.mark.parametrize("form", ["npz", "npy"])
def test_a_missing_class_is_unknown(tmp_path, form):
    path, labels = saved(tmp_path, form, np.array([0, 1, np.nan, 2, 1, 0]))
    data = read(path, labels=labels)
    assert data.label_names == ("0", "1", "2") and data.unknown.toarray().all(axis=1).tolist() == [0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("key", ["target_names", "label_names"])
def test_an_archive_names_its_numbers(tmp_path, key):
    path, _ = saved(tmp_path, "npz", COUNTS, **{key: ["otters", "newts"]})
    assert [column.name for column in read(path).outputs.layout.columns] == ["otters", "newts"]
    path, _ = saved(tmp_path, "npz", FAT, **{key: ["fat"]})
    assert [column.name for column in read(path).outputs.layout.columns] == ["fat"]
    path, _ = saved(tmp_path, "npz", np.array([0, 1, 1, 0, 1, 0]), **{key: ["rare"]})
    assert read(path).label_names == ("rare",)


def test_svmlight_lines_may_start_with_a_number(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("-0.5 1:1 3:2\n1e3 2:1\n12 1:0.5\n")
    data = read(path)
    assert np.asarray(data.outputs)[:, 0].tolist() == [-0.5, 1000.0, 12.0] and data.X.shape == (3, 3)
    path.write_text("3 1:1 3:2\n5 2:1\n3 1:0.5\n")
    assert read(path).label_names == ("3", "5")
    assert np.asarray(read(path, columns=Columns(target_type="real")).outputs)[:, 0].tolist() == [3, 5, 3]
    path.write_text("0.5 1:1 3:2\n 2:1\n3 1:0.5\n")
    with pytest.raises(DataError, match="it holds numbers, and rows without one or with several"):
        read(path)


def test_numbers_of_observations_are_targets():
    cells = SimpleNamespace(X=X, obs={"age": FAT, "type": list("BTBTBT")}, var_names=["g1", "g2"])
    data = from_anndata(cells, targets="age")
    np.testing.assert_array_equal(np.asarray(data.outputs)[:, 0], FAT)
    both = from_anndata(cells, "type", targets="age").outputs
    assert [(column.name, column.kind) for column in both.layout.columns] == [("age", "real"), ("type", "classes")]


def test_columns_with_names_are_named_as_targets(tmp_path):
    (tmp_path / "t.csv").write_text("a,n\n" + "1.5,3\n" * 6)
    with pytest.raises(DataError, match=r"target_type='real' was given, but its columns have names; name .* targets"):
        read(tmp_path / "t.csv", columns=Columns(labels="n", target_type="real"))


@pytest.mark.parametrize("form", ["npz", "npy"])
def test_words_of_an_array_are_classes_that_no_comma_divides(tmp_path, form):
    path, labels = saved(tmp_path, form, np.array(["sea, blue", "red", "", "red", "sea, blue", "red"]))
    data = read(path, labels=labels)
    assert data.label_names == ("red", "sea, blue") and data.unknown.toarray()[:, 0].tolist() == [0, 0, 1, 0, 0, 0]
    path, labels = saved(tmp_path, form, np.array([["b"], ["a"], ["b"], ["a"], ["b"], ["a"]]))
    data = read(path, labels=labels)
    assert data.label_names == ("a", "b") and data.Y.toarray()[0].tolist() == [0, 1]
    words = np.array([["lo", "red"], ["hi", "blue"], ["mid", "green"]] * 2)
    path, labels = saved(tmp_path, form, words)
    data = read(path, labels=labels)
    assert [column.name for column in data.outputs.layout.columns] == ["y0", "y1"] and "y0" in data.notes[0]


def test_a_name_of_one_column_of_classes_renames_no_class(tmp_path):
    path, _ = saved(tmp_path, "npz", np.array(list("abcabc")), target_names=["kind"])
    assert read(path).label_names == ("a", "b", "c")


def test_what_does_not_fit_names_its_file_and_the_count(tmp_path):
    path, _ = saved(tmp_path, "npz", np.arange(6) + 0.5, target_names=["a", "b"])
    with pytest.raises(DataError, match=r"rows\.npz: 2 names for 1 column of numbers in Y; give one name per column"):
        read(path)
    path, _ = saved(tmp_path, "npz", np.array([0, 1, 2, 2, 1, 0]), label_names=["a", "b", "c"])
    assert read(path).label_names == ("a", "b", "c")
    with pytest.raises(DataError, match="3 names for 1 column of numbers"):
        read(path, columns=Columns(target_type="real"))
    path, _ = saved(tmp_path, "npz", np.arange(6))
    many = np.arange(60)
    np.savez(path, X=np.zeros((60, 2)), Y=many)
    with pytest.raises(DataError, match=r"rows\.npz: label column 'y' holds 60"):
        read(path)
    path = tmp_path / "rows.svm"
    path.write_text("1e999 1:1\n2 1:3\n")
    with pytest.raises(DataError, match="infinite label"):
        read(path)


def test_words_for_empty_cells_are_values_beside_anndata():
    obs = {"type": ["None", "drug"] * 3, "batch": ["NA", "b"] * 3}
    data = from_anndata(SimpleNamespace(X=X, obs=obs, var_names=["g1", "g2"]), "type", groups="batch")
    assert data.label_names == ("None", "drug") and data.unknown is None and len(set(data.groups)) == 2
