"""Columns of DataFrames whose NumPy form is another one than their cells: nested types, wide integers."""

import numpy as np
import polars as pl
import pytest

from proxembed.data import Columns, DataError
from proxembed.data.readers.table import read_table
from proxembed.data.readers.table_labels import FrameFile
from proxembed.tables.frames import FrameColumn

N = 12
W = np.random.default_rng(0).normal(size=N)
Y = ["u", "v"] * 6


def data_of(column):
    return read_table([FrameFile(pl.DataFrame({"w": W, "c": column, "y": Y}))], Columns(labels=("y",)), "t")


@pytest.mark.parametrize("kind", [pl.Array(pl.Float64, 2), pl.List(pl.Float64)], ids=str)
def test_vectors_are_entries_of_the_matrix(kind):
    vectors = [[w, w * w] for w in W]
    data = data_of(pl.Series(vectors, dtype=kind))
    assert data.feature_names == ("w", "c[0]", "c[1]")
    np.testing.assert_allclose(data.X[:, 1:], vectors)


@pytest.mark.parametrize("kind", [pl.Int128, pl.Decimal(10, 2), pl.Int8])
def test_numbers_that_numpy_may_not_have_are_numbers(kind):
    data = data_of(pl.Series(range(24, 48, 2), dtype=kind))
    np.testing.assert_allclose(data.X["c"] if hasattr(data.X, "columns") else data.X[:, 1], np.arange(24, 48, 2))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([{"a": w} for w in W]),
        pl.Series([[[w]] for w in W]),
        pl.Series([[[w]] for w in W], dtype=pl.Array(pl.Array(pl.Float64, 1), 1)),
        pl.Series(np.arange(N).astype("m8[us]")),
    ],
    ids=["struct", "lists of lists", "arrays of arrays", "durations"],
)
def test_columns_that_are_neither_numbers_nor_text_are_refused(column):
    assert FrameColumn(column).place == "other"
    with pytest.raises(DataError, match="column 'c' holds values that are neither numbers nor text; add drop='c'"):
        data_of(column)
