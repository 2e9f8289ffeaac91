"""Tables in memory: their columns by name, whatever library holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from proxembed import PCA, TableEncoder
from proxembed.tables.frames import FrameColumn, columns_by_name, frame_of, named_columns, rows_of
from proxembed.tables.rows import matrix_by_name
from proxembed.workflow.labelled_data import labelled_data

F = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "Long name": [5.0, 6.0]})
POLARS = pl.from_pandas(F)


def duckdb_relation(X):
    return pytest.importorskip("duckdb").from_arrow(X.to_arrow())


def ibis_table(X):
    pytest.importorskip("duckdb")
    return pytest.importorskip("ibis").memtable(X.to_pandas())


def modin_frame(X):
    return pytest.importorskip("modin.pandas").DataFrame(X.to_pandas())


@pytest.mark.filterwarnings("default")  # those libraries warn of themselves
@pytest.mark.parametrize("library", [duckdb_relation, ibis_table, modin_frame])
def test_relations_and_frames_of_further_libraries_are_read_like_polars(library):
    X = pl.DataFrame({"a": [1.5, None, 3.0, 4.0] * 5, "kind": ["u", "v"] * 10, "left": [1, 0, 0, 1] * 5})
    one, other = labelled_data(library(X), labels="left"), labelled_data(X, labels="left")
    assert one.columns == other.columns and one.Y.toarray().tolist() == other.Y.toarray().tolist()
    for column in other.X.columns:
        np.testing.assert_array_equal(one.X[column.name], other.X[column.name])
    encoder = TableEncoder().fit(X.drop("left"))
    np.testing.assert_array_equal(encoder.transform(library(X)), encoder.transform(X))
    assert PCA().fit(library(POLARS)).transform(library(POLARS)).shape == (2, 1)


def test_frames_of_narwhals_are_those_that_they_hold():
    narwhals = pytest.importorskip("narwhals")
    assert frame_of(narwhals.from_native(F)) is F and frame_of(narwhals.from_native(POLARS.lazy())).equals(POLARS)


@pytest.mark.parametrize("cells", [pd.array([2**60, None], "Int64"), pl.Series([2**60, None]), POLARS["a"][:0]])
def test_whole_numbers_beside_empty_cells_keep_their_digits(cells):
    codes, values = FrameColumn(cells).coded
    assert (codes.tolist(), values) == (([0, -1], [2**60]) if len(cells) else ([], []))


def test_the_cells_of_numbers_stand_in_the_order_of_their_first_rows():
    codes, values = FrameColumn(pd.Series([3.0, 1.0, np.nan, 3.0, 2.0])).coded
    assert (codes.tolist(), values) == ([0, 1, -1, 0, 2], [3.0, 1.0, 2.0])


@pytest.mark.parametrize("X", [F, POLARS, POLARS.lazy(), POLARS.to_arrow()], ids=["pandas", "polars", "lazy", "arrow"])
def test_columns_are_selected_by_name(X):
    assert matrix_by_name(frame_of(X), ["Long name", "a"]).tolist() == [[5.0, 1.0], [6.0, 2.0]]
    with pytest.raises(ValueError, match=r"no columns 'long name' \(did you mean 'Long name'\?\), 'c'"):
        matrix_by_name(frame_of(X), ["long name", "a", "c"])


def test_only_columns_of_the_fit_need_a_name_of_their_own():
    X = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"])
    assert list(columns_by_name(X, ["a"])["a"]) == [1]
    with pytest.raises(ValueError, match="several columns named 'b'"):
        columns_by_name(X, ["b"])
    with pytest.raises(ValueError, match="several columns named '1'"):
        named_columns(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_names_of_several_levels_and_whole_numbers_are_matched_as_text():
    X = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert matrix_by_name(X, ["('a', 'y')", "('a', 'x')"]).tolist() == [[2, 1]]
    assert matrix_by_name(pd.DataFrame([[1, 2]], columns=[7, 3]), ["3", "7"]).tolist() == [[2, 1]]


def test_a_model_of_an_array_takes_columns_by_place():
    names = ["x0", "x1"]
    assert matrix_by_name(F[["b", "a"]], names).tolist() == [[3, 1], [4, 2]]
    assert matrix_by_name(pd.DataFrame([[1, 2]]), names).tolist() == [[1, 2]]
    assert matrix_by_name(pd.DataFrame([[1, 2, 3]])[[2, 1, 0]], names).tolist() == [[1, 2]]
    assert matrix_by_name(pd.DataFrame([[1, 2]], columns=["x1", "x0"]), names).tolist() == [[2, 1]]
    with pytest.raises(ValueError, match="X has 3 columns, but the model was fitted on an array of 2"):
        matrix_by_name(F, names)
    with pytest.raises(ValueError, match="X has 3 columns, but the model was fitted on an array of 2"):
        matrix_by_name(pd.DataFrame([[1, 2, 3]]), names)
    with pytest.raises(ValueError, match="no column '0'"):
        matrix_by_name(pd.DataFrame([[1, 2]], columns=[1, 2]), names)
    with pytest.raises(ValueError, match="no column 'x1'"):
        matrix_by_name(pd.DataFrame([[1, 2]], columns=["x0", "y"]), names)


def test_entries_of_vectors_are_read_from_their_column():
    vectors = [[1.0, 2.0], [3.0, 4.0]]
    for cells in ([np.array(v) for v in vectors], vectors, list(map(tuple, vectors))):
        X = pd.DataFrame({"w": [5, 6], "v": pd.Series(cells)})
        assert matrix_by_name(X, ["v[0]", "v[1]", "w"]).tolist() == [[1, 2, 5], [3, 4, 6]]
    X = pl.DataFrame({"w": [5, 6], "v": vectors})
    for column in (X["v"], X["v"].cast(pl.Array(pl.Float64, 2))):
        assert matrix_by_name(X.with_columns(v=column), ["v[0]", "v[1]", "w"]).tolist() == [[1, 2, 5], [3, 4, 6]]
    with pytest.raises(ValueError, match="not a vector of 2 numbers"):
        matrix_by_name(pl.DataFrame({"v": [[1.0], [2.0]]}), ["v[0]", "v[1]"])
    assert matrix_by_name(pd.DataFrame({"v[0]": [1], "v[1]": [2]}), ["v[1]", "v[0]"]).tolist() == [[2, 1]]


@pytest.mark.parametrize(
    "row", [F.iloc[0], {"a": 1.0}, POLARS["a"], [{"a": 1.0}]], ids=["series", "dict", "polars", "list"]
)
def test_one_row_without_axes_is_refused(row):
    with pytest.raises(ValueError, match="pass the rows as a DataFrame"):
        rows_of(row)


def test_an_array_of_records_is_refused():
    with pytest.raises(ValueError, match=r"pass DataFrame\(X\)"):
        rows_of(F.to_records(index=False))
    with pytest.raises(ValueError, match=r"pass DataFrame\(X\)"):
        rows_of(np.array([(1, 2)], dtype=[("a", int), ("b", int)]))
