"""Label lists in every container: each is read like a list of sets."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from designs import each_value
from proxembed.targets.labels import LabelMatrix

NAMES = [["r", "g"], ["b"], [], None, ["r"]] * 3
NUMBERS = [[5, 7], [7], [], None, [5]] * 3
CONTAINERS = {
    "pandas": pd.Series,
    "pandas, of arrays": lambda rows: pd.Series([None if row is None else np.array(row) for row in rows]),
    "pandas, of object arrays": lambda rows: pd.Series(
        [None if r is None else np.array(r, dtype=object) for r in rows]
    ),
    "pandas, of tuples": lambda rows: pd.Series([None if row is None else tuple(row) for row in rows]),
    "pandas, NaN": lambda rows: pd.Series([np.nan if row is None else row for row in rows]),
    "pandas, of Arrow": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.array(rows).type)),
    "pandas frame": lambda rows: pd.DataFrame({"t": rows}),
    "polars": pl.Series,
    "polars frame": lambda rows: pl.DataFrame({"t": rows}),
    "polars, lazy": lambda rows: pl.DataFrame({"t": rows}).lazy(),
    "Arrow": pa.array,
    "Arrow, chunked": lambda rows: pa.chunked_array([rows[:4], rows[4:]]),
    "Arrow table": lambda rows: pa.table({"t": rows}),
}


@each_value
@pytest.mark.parametrize("rows", [NAMES, NUMBERS], ids=["names", "numbers"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_a_column_of_lists_is_read_like_a_list_of_sets(container, rows):
    found = LabelMatrix.of(CONTAINERS[container](rows))
    wanted = LabelMatrix.of([None if row is None else set(row) for row in rows])
    assert found.form == "sets" and found.classes_.tolist() == wanted.classes_.tolist()
    assert (found.Y != wanted.Y).nnz == 0 and (found.unknown != wanted.unknown).nnz == 0


@pytest.mark.parametrize("wrap", [list, tuple], ids=["list", "tuple"])
def test_series_and_scalars_in_a_list_are_label_lists(wrap):
    wanted = LabelMatrix.of([None if row is None else set(row) for row in NAMES])
    for each in (pl.Series(NAMES), pa.array(NAMES), [None if r is None else np.array(r, dtype=object) for r in NAMES]):
        found = LabelMatrix.of(wrap(each))
        assert found.form == "sets" and (found.Y != wanted.Y).nnz == 0


def test_a_column_of_0_and_1_in_lists_may_mean_two_things():
    for column in (pd.Series([[0, 1], [1, 0]]), pl.Series([[0, 1], [1, 0]])):
        with pytest.raises(ValueError, match="list of sets"):
            LabelMatrix.of(column)
