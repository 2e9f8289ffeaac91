"""X as it comes from pandas, polars and Arrow: read alike, or refused in plain words."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from proxembed import OPLS

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.tile(["a", "b"], 6)
DAYS = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * i) for i in range(12)]


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"t": DAYS, "x": X[:, 0]}),
        pl.DataFrame({"t": [day.date() for day in DAYS], "x": X[:, 0]}),
        pl.DataFrame({"t": [day - DAYS[0] for day in DAYS], "x": X[:, 0]}),
        pl.DataFrame({"t": [day.time() for day in DAYS], "x": X[:, 0]}).lazy(),
        pa.table({"t": [day.date() for day in DAYS], "x": X[:, 0]}),
        pd.DataFrame({"t": pd.Series(DAYS, dtype=object), "x": X[:, 0]}),
        [[day, 1.0] for day in DAYS],
    ],
    ids=["datetime", "date", "duration", "lazy time", "arrow date", "objects", "list"],
)
def test_dates_and_durations_are_not_taken_as_their_number(table):
    with pytest.raises(ValueError, match="X holds entries that are not floating-point numbers.*Pass numbers: dates as"):
        OPLS().fit(table, Y)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"t": pd.period_range("2024", periods=12), "x": X[:, 0]}), "X holds entries that are not float"),
        (pd.DataFrame({"t": [{}] * 12, "x": X[:, 0]}), "X holds entries that are not floating-point numbers"),
        (pl.DataFrame({"t": X.tolist()}), "X holds lists in its cells, or rows of different lengths"),
        ([[1.0, 2.0], [1.0]], "X holds lists in its cells, or rows of different lengths"),
        (np.array([(1.0, 2.0)] * 12, dtype="f8,f8"), "X is an array of records; pass DataFrame"),
        (pd.DataFrame(X)[0], "X is a Series; pass the rows as a DataFrame"),
        ([{"a": 1.0}] * 12, "X is a list of dict; pass the rows as a DataFrame"),
    ],
    ids=["period", "dict", "lists", "ragged", "records", "series", "dicts"],
)
def test_what_is_no_matrix_of_numbers_is_refused_in_plain_words(table, message):
    with pytest.raises((ValueError, TypeError), match=message):
        OPLS().fit(table, Y)


@pytest.mark.parametrize(
    "table",
    [
        pa.RecordBatch.from_pandas(pd.DataFrame(X, columns=["a", "b"])),
        pd.DataFrame(X, columns=["a", "b"]).astype(pd.SparseDtype(float)),
        pd.DataFrame(X, columns=["a", "b"]).astype(pd.SparseDtype(float, 1.0)),
    ],
    ids=["record batch", "sparse", "sparse about 1"],
)
def test_record_batches_and_sparse_columns_are_read_as_the_frame(table):
    np.testing.assert_allclose(OPLS().fit(table, Y).transform(table), OPLS().fit(X, Y).transform(X))
