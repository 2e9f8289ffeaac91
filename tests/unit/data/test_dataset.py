"""The data set in memory: conversion, validation, selection, description."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from proxembed import OPLS, fit_on
from proxembed.data import DataError, Dataset
from proxembed.data.dataset import one_hot
from proxembed.methods.pipeline import training_labels
from proxembed.targets.labels import LabelMatrix

X = np.array([[0.0, 0.0, 5.0], [1.0, 2.0, 5.0], [1.0, 2.0, 5.0], [-0.0, 0.0, 5.0], [3.0, 0.0, 5.0]])
Y = np.array([[1, 0], [1, 1], [0, 0], [0, 0], [1, 1]])


def make(**changes):
    fields = {"X": X, "Y": Y, "train_idx": [0, 1, 2], "test_idx": [3, 4], "label_names": ["a", "b"]}
    return Dataset(**{**fields, **changes})


@pytest.mark.parametrize("as_X", [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("as_Y", [np.asarray, sparse.csc_array, sparse.csr_matrix, lambda Y: Y.astype(bool)])
def test_every_form_of_input_gives_the_same_data(as_X, as_Y):
    data = make(X=as_X(X), Y=as_Y(Y))
    assert isinstance(data.Y, sparse.csc_array) and data.Y.dtype == np.uint8 and data.Y.nnz == Y.sum()
    assert isinstance(data.X, sparse.csr_array if sparse.issparse(as_X(X)) else np.ndarray)
    np.testing.assert_array_equal(data.X.toarray() if sparse.issparse(data.X) else data.X, X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)
    assert data.feature_names == ("x0", "x1", "x2") and data.label_names == ("a", "b")


@pytest.mark.parametrize(
    ("given", "kept"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.int16, np.float64), (bool, np.float64), (">f8", "f8")],
)
def test_number_types(given, kept):
    assert make(X=X.astype(given)).X.dtype == np.dtype(kept)
    if given != ">f8":
        assert make(X=sparse.csr_array(X.astype(given))).X.dtype == np.dtype(kept)


def test_input_is_not_modified_and_repeated_sparse_cells_are_summed():
    given = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    data = Dataset(given, [[1]])
    np.testing.assert_array_equal(data.X.toarray(), [[4.0, 3.0]])
    assert given.nnz == 3 and given.data.tolist() == [1.0, 2.0, 4.0]


def test_frozen_and_picklable():
    data = make()
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"
    again = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(again.X, data.X)
    assert again.label_names == data.label_names and repr(again) == "Dataset(name='data', n=5, d=3, labels=2)"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Y": Y[:4]}, "X has 5 rows but Y has 4"),
        ({"X": X[0]}, "X has shape (3,)"),
        ({"X": X.astype(complex)}, "type complex128; it must be a 2-D array of real numbers"),
        ({"X": X.astype(str)}, "it must be a 2-D array of real numbers"),
        ({"X": X[:0], "Y": Y[:0]}, "X has 0 rows and 3 columns"),
        ({"X": np.where(X == 3, np.nan, X)}, "X holds 1 NaN or infinite values (first: row 4, column 0)"),
        ({"X": sparse.csr_array(np.where(X == 2, np.inf, X))}, "X holds 2 NaN or infinite values (first: row 1,"),
        ({"Y": [0, 1, 0, 1, 0]}, "Y has shape (5,)"),
        ({"Y": Y * 2}, "Y holds 2; it must hold only 0 and 1"),
        ({"Y": Y - 0.5}, "Y holds 0.5; it must hold only 0 and 1"),
        ({"Y": np.where(Y == 1, np.nan, 2)}, "only 0 and 1 (unknown cells are NaN, or marked in `unknown`)"),
        ({"Y": Y[:, :0]}, "Y has no columns"),
        ({"label_names": ["a"]}, "label_names holds 1 names for 2 columns"),
        ({"label_names": ["a", "a"]}, "label_names holds 'a' twice"),
        ({"feature_names": ["a"]}, "feature_names holds 1 names for 3 columns"),
        ({"train_idx": [0, 5]}, "train_idx must be a 1-D array of row numbers from 0 to 4"),
        ({"train_idx": [0.5]}, "train_idx must be a 1-D array of row numbers"),
        ({"train_idx": [0, 0]}, "train_idx names a row twice"),
        ({"test_idx": [2, 3]}, "train_idx and test_idx share 1 rows (first: row 2)"),
        ({"unknown": np.zeros((5, 3), bool)}, "unknown has shape (5, 3) but Y has (5, 2)"),
        ({"ids": ["a"]}, "ids holds 1 names for 5 rows"),
        ({"groups": [0, 1]}, "groups has shape (2,) and type int64; give one whole number (a code) per row"),
        ({"groups": np.zeros(5)}, "groups has shape (5,) and type float64; give one whole number"),
        ({"times": list("abcde")}, "times has shape (5,) and type <U1; give one number per row"),
        ({"times": [0, 1, np.nan, 3, 4]}, "times holds nan in row 2; give every row a finite value"),
        ({"unknown": Y.astype(bool)}, "Y holds 1 in a cell that is marked unknown"),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    with pytest.raises(DataError) as caught:
        make(**changes)
    assert message in str(caught.value)


def test_a_cell_stored_twice_in_Y_is_refused():
    twice = sparse.coo_array((np.ones(2, int), ([0, 0], [1, 1])), shape=(5, 2))
    with pytest.raises(DataError, match="stores the same cell twice"):
        make(Y=twice)


def test_take_keeps_the_split_with_the_rows():
    unknown = np.zeros_like(Y, dtype=bool)
    unknown[3, 1] = True
    data = make(unknown=unknown).take([4, 1, 3, 1])
    np.testing.assert_array_equal(data.X, X[[4, 1, 3, 1]])
    np.testing.assert_array_equal(data.Y.toarray(), Y[[4, 1, 3, 1]])
    np.testing.assert_array_equal(data.unknown.toarray(), unknown[[4, 1, 3, 1]])
    assert data.train_idx.tolist() == [1, 3] and data.test_idx.tolist() == [0, 2]
    assert data.label_names == ("a", "b")


def test_take_by_mask_and_from_sparse_rows():
    mask = np.array([True, False, True, False, False])
    data = make(X=sparse.csr_array(X)).take(mask)
    assert isinstance(data.X, sparse.csr_array)
    np.testing.assert_array_equal(data.X.toarray(), X[mask])


@pytest.mark.parametrize(("rows", "message"), [([5], "from 0 to 4"), ([-1], "from 0 to 4"), ([True, False], "mask")])
def test_take_refuses_rows_that_are_not_there(rows, message):
    with pytest.raises(DataError, match=message):
        make().take(rows)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_describe_counts_what_it_says(form):
    facts = make(X=form(X), licence="CC0").describe()
    assert facts == {
        "name": "data",
        "negative": None,
        "notes": [],
        "outputs": None,
        "weights": None,
        "n": 5,
        "d": 3,
        "labels": 2,
        "sparse": form is sparse.csr_array,
        "single_label": False,
        "cardinality": 1.0,
        "density": 0.5,
        "label_sets": 3,
        "rows_without_label": 2,
        "unknown_cells": 0,
        "rows_known": 5,
        "rows_partly_known": 0,
        "labels_without_row": 0,
        "zero_rows": 0,
        "duplicate_rows": 2,
        "copied_test_rows": 1,
        "constant_features": 1,
        "nonzero_share": 10 / 15,
        "train": 3,
        "test": 2,
        "licence": "CC0",
        "groups": None,
        "time_order": False,
    }


def test_describe_sees_stored_zeros_and_unknown_cells():
    stored = sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 1, 1, 2])), shape=(3, 2))
    facts = Dataset(stored, [[0], [0], [0]], unknown=[[1], [0], [0]]).describe()
    assert (facts["zero_rows"], facts["duplicate_rows"], facts["nonzero_share"]) == (2, 1, 1 / 6)
    assert (facts["unknown_cells"], facts["rows_without_label"], facts["labels_without_row"]) == (1, 2, 1)


def test_describe_counts_labels_among_known_cells():
    """One class per row, two of five rows unknown: one label per row and two label sets."""
    known = np.array([0, 1, 0])
    Y = np.vstack([np.eye(2)[known], np.zeros((2, 2))])
    facts = Dataset(np.eye(5), Y, unknown=np.repeat([[0], [1]], [3, 2], axis=0) * np.ones((1, 2))).describe()
    assert (facts["cardinality"], facts["density"], facts["label_sets"], facts["rows_known"]) == (1.0, 0.5, 2, 3)


def test_one_label_with_unknown_cells_stays_one_label():
    data = Dataset(np.eye(4), np.array([[1], [0], [0], [0]]), unknown=np.array([[0], [0], [1], [0]]))
    labels = LabelMatrix.of(data.y)
    assert labels.Y.toarray().tolist() == data.Y.toarray().tolist() == [[1], [0], [0], [0]]
    assert labels.rows_known.tolist() == [True, True, False, True]


def test_cells_of_nan_are_unknown_as_those_that_are_marked():
    holes, more = (Y == 0) & (np.arange(2) == 1), (Y == 0) & (np.arange(2) == 0)
    marked = make(unknown=holes)
    of_nan = np.where(holes, np.nan, Y)
    for given in (of_nan, of_nan.astype(np.float16), sparse.csr_array(of_nan), np.where(of_nan == 0, -1, of_nan)):
        data = make(Y=given)
        assert (data.Y != marked.Y).nnz == 0 and (data.unknown != marked.unknown).nnz == 0
    both = make(Y=of_nan, unknown=more).unknown.toarray()
    np.testing.assert_array_equal(both, holes | more)
    assert make(Y=of_nan, unknown=holes).unknown.nnz == holes.sum()
    with pytest.raises(DataError, match="unknown has shape"):
        make(Y=of_nan, unknown=more[:2])


def test_y_marks_unknown_cells_with_nan():
    data = make(unknown=(Y == 0) & (np.arange(2) == 1))
    np.testing.assert_array_equal(data.y, [[1, np.nan], [1, 1], [0, np.nan], [0, np.nan], [1, 1]])
    known = make()
    assert known.y is known.Y and make(unknown=np.zeros_like(Y)).unknown is None


def test_classes_become_one_hot_in_sorted_order():
    data = Dataset.from_classes(X, np.array([7.0, -1.0, 7.0, 2.0, 2.0]), name="toy")
    assert data.label_names == ("-1", "2", "7") and data.single_label and data.name == "toy"
    assert data.Y.toarray().argmax(axis=1).tolist() == [2, 0, 2, 1, 1]
    Y, names = one_hot([1, 0], ["no", "yes", "never"])
    assert Y.toarray().tolist() == [[0, 1, 0], [1, 0, 0]] and names == ("no", "yes", "never")


def test_classes_that_differ_in_a_trailing_nul_or_beyond_floats_stay_apart():
    for classes in (["a", "a\0"], [2**53, 2**53 + 1], [10**30, 10**30 + 1]):
        Y, names = one_hot(classes)
        assert names == tuple(map(str, classes)) and Y.toarray().tolist() == [[1, 0], [0, 1]]
    data = Dataset.from_classes([[0.0], [1.0]], ["a", "a\0"])
    assert training_labels(data).tolist() == ["a", "a\0"]


@pytest.mark.parametrize("field", ["X", "Y", "unknown"])
def test_a_masked_array_is_refused(field):
    parts = {"X": X, "Y": Y, "unknown": np.zeros_like(Y)}
    with pytest.raises(DataError, match=f"{field} is a masked array; fill it in"):
        Dataset(**parts | {field: np.ma.array(parts[field], mask=np.eye(*parts[field].shape))})


@pytest.mark.parametrize(
    ("y", "names", "message"),
    [
        ([[0], [1]], None, "y has shape (2, 1)"),
        ([0.0, np.nan], None, "y is NaN in row 1"),
        ([0, 2], ["a", "b"], "the codes 0 to 1"),
        ([0.5, 1], ["a", "b"], "the codes 0 to 1"),
        (["a", "b"], ["a", "b"], "the codes 0 to 1"),
        ([None, 1], None, "y is NaN in row 0"),
        (np.ma.array([1, 2], mask=[0, 1]), None, "y is NaN in row 1"),
        ([1, "a"], None, "mixes ['int', 'str']"),
        (["a", "a\0"], ["a", "b"], "the codes 0 to 1"),
    ],
)
def test_classes_that_cannot_be_coded(y, names, message):
    with pytest.raises(DataError) as caught:
        one_hot(y, names)
    assert message in str(caught.value)


FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=["a", "b", "c"])
FRAMES = {
    "pandas": FRAME,
    "nullable": FRAME.convert_dtypes(),
    "pyarrow": FRAME.astype("double[pyarrow]"),
    "objects": FRAME.astype(object),
    "sparse": FRAME.astype(pd.SparseDtype(float)),
    "polars": pl.from_pandas(FRAME),
    "lazy": pl.from_pandas(FRAME).lazy(),
    "arrow": pa.Table.from_pandas(FRAME),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_names_the_features_and_new_rows_are_matched_by_them(name):
    words = np.where(FRAME["a"] > 0, "up", "down")
    data = Dataset.from_classes(FRAMES[name], words)
    assert data.feature_names == ("a", "b", "c") and data.X.dtype == np.float64
    np.testing.assert_array_equal(data.X, FRAME.to_numpy())
    model = fit_on(OPLS(n_components=1), data)
    np.testing.assert_array_equal(model.transform(FRAME[["c", "a", "b"]]), model.transform(FRAME))
    assert Dataset.from_classes(FRAMES[name], words, feature_names=np.array(["p", "q", "r"])).feature_names == (
        "p",
        "q",
        "r",
    )


@pytest.mark.parametrize("kind", ["int64", "Int64", "boolean", "object", "category", "polars", "arrow"])
def test_a_frame_names_the_labels_and_marks_the_unknown_ones(kind):
    Y = pd.DataFrame({"u": [1, 0, 1], "v": [0, 0, 1]}).astype(kind if kind not in ("polars", "arrow") else "Int64")
    hidden = Y if kind == "int64" else Y.mask(np.array([[False, False], [False, True], [False, False]]))
    table = {"polars": pl.from_pandas, "arrow": pa.Table.from_pandas}.get(kind, lambda frame: frame)(hidden)
    data = Dataset(FRAME[:3], table)
    assert data.label_names == ("u", "v") and data.Y.toarray().tolist() == [[1, 0], [0, 0], [1, 1]]
    assert (0 if data.unknown is None else data.unknown.nnz) == (kind != "int64")
    assert Dataset(FRAME[:3], table, label_names=["p", "q"]).label_names == ("p", "q")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pl.DataFrame({"a": [1.0, 2.0], "t": pd.date_range("2024", periods=2)}), "column 't' of X holds no numbers"),
        (pd.DataFrame({"a": [1.0, 2.0], "t": ["x", "y"]}), "column 't' of X holds no numbers; make numbers of it"),
        (pd.DataFrame({"a": [1.0, None]}), r"X holds 1 NaN or infinite values \(first: row 1, column 0\)"),
        (pd.DataFrame([[1.0, 2.0]] * 2, columns=["a", "a"]), "X has several columns named 'a'"),
        (np.array([(1.0, 2.0)] * 2, dtype="f8,f8"), "X is an array of records; pass DataFrame"),
        (pd.Series([1.0, 2.0]), "X is a Series; pass the rows as a DataFrame"),
        (np.array([["x"], ["y"]]), "X has shape .* Pass columns of texts or dates to search or compare as a DataFrame"),
    ],
)
def test_rows_that_are_no_numbers_are_refused(X, message):
    with pytest.raises(DataError, match=message):
        Dataset(X, [[1], [0]])


@pytest.mark.parametrize("cells", [["1", "2"], [np.datetime64("2024-01-01", "ns"), np.timedelta64(1, "s")]])
def test_an_array_of_objects_that_are_no_numbers_is_refused(cells):
    with pytest.raises(DataError, match="type object; it must be a 2-D array of real numbers"):
        Dataset(np.array(cells, dtype=object)[:, None], [[1], [0]])


def test_equal_names_of_labels_are_refused():
    with pytest.raises(DataError, match="'a'"):
        Dataset(np.eye(2), pd.DataFrame([[1, 0], [0, 1]], columns=["a", "a"]))


def test_an_array_of_objects_that_are_numbers_is_one_of_numbers():
    assert Dataset(np.array([[1, 2.5], [True, 0]], dtype=object), [[1], [0]]).X.tolist() == [[1.0, 2.5], [1.0, 0.0]]
