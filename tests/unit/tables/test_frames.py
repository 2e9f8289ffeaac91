"""Tables in memory: their columns by name, whatever library holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from proxembed.tables.frame_matrix import matrix_by_name
from proxembed.tables.frames import columns_by_name, frame_of, named_columns, rows_of

F = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "Long name": [5.0, 6.0]})
POLARS = pl.from_pandas(F)


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
