"""Frames of every type: the frame that was searched is transformed to the stored embedding, in any order of columns."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import proxembed
from designs import in_turn
from proxembed import OPLS, TableEncoder, load, save
from proxembed.methods.pipeline import fit_on
from proxembed.workflow.labelled_data import labelled_data

N = 60
SEARCH = {"max_work": 1.5, "shuffles": 0, "methods": "opls"}
NUMBERS = [i * i % 13 for i in range(N)]
HOLED = [None if i % 7 == 0 else v for i, v in enumerate(NUMBERS)]
TRUTHS = [None if i % 9 == 0 else v % 2 == 1 for i, v in enumerate(NUMBERS)]
WORDS = [None if i % 8 == 0 else "mno"[v % 3] for i, v in enumerate(NUMBERS)]
DATES = [None if i % 8 == 0 else dt.datetime(2024, 1, 1) + dt.timedelta(hours=31 * v) for i, v in enumerate(NUMBERS)]
DAYS = [None if each is None else each.date() for each in DATES]
DECIMALS = [None if v is None else Decimal(v) / 4 for v in HOLED]
LISTS = [["r", "g"] if v > 6 else ["b"] for v in NUMBERS]
VECTORS = [[float(v), float(i % 5)] for i, v in enumerate(NUMBERS)]
W = np.random.default_rng(0).normal(size=N)
Y = np.where(W + 0.1 * np.array(NUMBERS) > 0.5, "u", "v")

FULL = ["int8", "int64", "uint16", "uint64", "float32", "float64", "bool", "Int32", "Float64", "boolean"]
NULLABLE = {
    **dict.fromkeys(["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32"], HOLED),
    **{"Float64": HOLED, "boolean": TRUTHS, "string": WORDS, "str": WORDS, "category": WORDS, "object": WORDS},
}
ARROW = {
    **{name: HOLED for name in ("int8", "int64", "uint16", "float32", "float64")},
    **{"bool_": TRUTHS, "string": WORDS, "large_string": WORDS, "string_view": WORDS, "date32": DAYS},
}
ARROW_TYPES = {
    **{name: (getattr(pa, name)(), cells) for name, cells in ARROW.items()},
    "timestamp": (pa.timestamp("us"), DATES),
    "timestamp, zone": (pa.timestamp("ms", tz="UTC"), DATES),
    "decimal": (pa.decimal128(10, 2), DECIMALS),
    "list": (pa.list_(pa.string()), LISTS),
    "vector": (pa.list_(pa.float64()), VECTORS),
    "fixed vector": (pa.list_(pa.float32(), 2), VECTORS),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), WORDS),
}
POLARS_TYPES = {
    **{kind.__name__: (kind, HOLED) for kind in (pl.Int8, pl.Int64, pl.UInt32, pl.Int128)},
    **{kind.__name__: (kind, WORDS) for kind in (pl.String, pl.Categorical)},
    "Float64": (pl.Float64, list(map(float, NUMBERS))),
    "Boolean": (pl.Boolean, TRUTHS),
    "Enum": (pl.Enum(["m", "n", "o"]), WORDS),
    "Date": (pl.Date, DAYS),
    "Datetime": (pl.Datetime, DATES),
    "Datetime, zone": (pl.Datetime("us", "UTC"), DATES),
    "Decimal": (pl.Decimal(10, 2), DECIMALS),
    "List": (pl.List(pl.String), LISTS),
    "List of numbers": (pl.List(pl.Float64), VECTORS),
    "Array": (pl.Array(pl.Float64, 2), VECTORS),
}
CUT = pd.cut([np.nan if v is None else v for v in HOLED], 4)
PANDAS = {
    **{
        f"full {kind}": pd.Series(NUMBERS if "bool" not in kind else np.array(NUMBERS) > 6, dtype=kind) for kind in FULL
    },
    **{f"holed {kind}": pd.Series(cells, dtype=kind) for kind, cells in NULLABLE.items()},
    **{f"arrow {name}": pd.Series(cells, dtype=pd.ArrowDtype(kind)) for name, (kind, cells) in ARROW_TYPES.items()},
    "cut": pd.Series(CUT),
    "interval": pd.Series(pd.arrays.IntervalArray.from_tuples([(v % 3, v % 3 + 1) for v in NUMBERS])),
    "dates": pd.Series(DATES),
    "dates of a zone": pd.Series(DATES).dt.tz_localize("UTC"),
    "day objects": pd.Series(DAYS),
    "months": pd.Series(DATES).dt.to_period("M"),
    "days": pd.Series(DATES).dt.to_period("D"),
    "sparse": pd.Series(pd.arrays.SparseArray([v % 5 for v in NUMBERS])),
    "sparse, holed": pd.Series(pd.arrays.SparseArray([np.nan if v is None else v for v in HOLED])),
    "decimals": pd.Series(DECIMALS),
    "truth objects": pd.Series(TRUTHS, dtype=object),
    "NumPy scalars": pd.Series([np.float32(v) for v in NUMBERS], dtype=object),
    "Arrow scalars": pd.Series([pa.scalar(v) for v in NUMBERS], dtype=object),
    "with units": pd.Series([f"{v} kg" for v in NUMBERS]),
    "lists": pd.Series(LISTS),
    "sets": pd.Series(list(map(set, LISTS))),
    "frozen sets": pd.Series(list(map(frozenset, LISTS))),
    "arrays of names": pd.Series([np.array(each, dtype=object) for each in LISTS]),
    "vectors": pd.Series(list(map(np.array, VECTORS))),
    "vectors in lists": pd.Series(VECTORS),
    "vectors in tuples": pd.Series(list(map(tuple, VECTORS))),
    "vectors, holed": pd.Series([None if i % 7 == 0 else np.array(each) for i, each in enumerate(VECTORS)]),
}
COLUMNS = {
    **{f"pandas {name}": pd.DataFrame({"w": W, "c": cells}) for name, cells in PANDAS.items()},
    **{
        f"polars {name}": pl.DataFrame({"w": W, "c": pl.Series(cells, dtype=kind)})
        for name, (kind, cells) in POLARS_TYPES.items()
    },
    **{
        f"Arrow {name}": pa.table({"w": W, "c": pa.array(cells, type=kind)})
        for name, (kind, cells) in ARROW_TYPES.items()
    },
    "polars lazy": pl.DataFrame({"w": W, "c": WORDS}).lazy(),
}


def shuffled(X):
    """The frame with another order of its columns, and one more."""
    if isinstance(X, pd.DataFrame):
        return X.assign(more="k")[["more", *X.columns[::-1]]]
    if isinstance(X, pa.Table):
        return X.append_column("more", pa.array(NUMBERS)).select(["more", *X.column_names[::-1]])
    names = X.collect_schema().names()
    return X.with_columns(more=pl.lit(1)).select("more", *names[::-1])


@in_turn("name", list(COLUMNS), 3)
def test_a_frame_that_a_model_was_fitted_on_is_embedded_alike(name):
    X = COLUMNS[name]
    data = labelled_data(X, Y)
    assert {each.split("[")[0] for each in data.feature_names} == {"w", "c"}
    model = fit_on(OPLS(), data)
    Z = model.transform(data.X)
    for rows in (X, shuffled(X)):
        np.testing.assert_allclose(model.transform(rows), Z)
    assert model.predict(shuffled(X)).tolist() == model.predict(data.X).tolist()
    np.testing.assert_allclose(model.transform(X[:7] if not isinstance(X, pl.LazyFrame) else X.head(7)), Z[:7])


@pytest.mark.filterwarnings("ignore:pandas.DataFrame with sparse columns")
@in_turn("name", list(COLUMNS), 3)
def test_a_table_encoder_takes_what_a_search_takes(name):
    X = COLUMNS[name]
    encoder = TableEncoder().fit(X)
    rows = X if encoder.columns_ is None else shuffled(X)  # numbers alone: scikit-learn's rule of equal names
    first, again = (Z.toarray() if sparse.issparse(Z) else Z for Z in map(encoder.transform, (X, rows)))
    np.testing.assert_allclose(first, again)
    assert first.shape == (N, len(encoder.get_feature_names_out()))


SEVERAL = {
    "pandas": pd.DataFrame(
        {"w": W, **{k: PANDAS[k] for k in ("holed Int64", "cut", "holed string", "sparse", "dates")}}
    ),
    "pandas, vectors": pd.DataFrame({"w": W, **{k: PANDAS[k] for k in ("vectors", "holed boolean", "sets", "days")}}),
    "polars": pl.DataFrame({"w": W, "i": HOLED, "b": TRUTHS, "s": WORDS, "d": DATES, "v": VECTORS, "t": LISTS}),
    "numbers": pd.DataFrame({"w": W, "i": NUMBERS, "b": np.array(NUMBERS) > 6}).convert_dtypes(),
}


@in_turn("name", list(SEVERAL), 2)
def test_a_searched_frame_is_transformed_to_the_stored_embedding(name, tmp_path):
    X = SEVERAL[name]
    found = proxembed.search(X, Y, **SEARCH)
    saved = load(save(found.model, tmp_path / "model.skops"))
    other = pl.from_pandas(X) if name == "numbers" else X.to_arrow() if name == "polars" else X
    for model in (found.model, saved):
        for rows in (X, shuffled(X), other):
            np.testing.assert_allclose(model.transform(rows), found.embedding)


@pytest.mark.parametrize(
    "cells",
    [
        pd.to_timedelta(NUMBERS, unit="min"),
        [dt.time(v) for v in NUMBERS],
        pl.Series([dt.timedelta(hours=v) for v in NUMBERS]),
        pd.Series(np.array(NUMBERS, dtype="m8[h]").tolist(), dtype=object),
        np.array(NUMBERS) * 1j,
        [{"a": v} for v in NUMBERS],
        [str(v).encode() for v in NUMBERS],
    ],
    ids=["durations", "times", "polars", "objects", "complex", "dicts", "bytes"],
)
def test_columns_without_a_reading_are_refused_by_fit(cells):
    library = pl if isinstance(cells, pl.Series) else pd
    with pytest.raises(ValueError, match="column 'c' holds"):
        labelled_data(library.DataFrame({"w": W, "c": cells}), Y)


def test_columns_of_one_name_are_refused_by_fit():
    X = pd.DataFrame({"a": W, "b": W}).set_axis(["a", "a"], axis=1)
    with pytest.raises(ValueError, match="X has several columns named 'a'"):
        labelled_data(X, Y)
    with pytest.raises(ValueError, match="X has several columns named 'a'"):
        labelled_data(X.assign(y=Y), labels="y")


@pytest.mark.parametrize(
    "library",
    [pl.from_pandas, lambda X: pl.from_pandas(X).lazy(), pa.Table.from_pandas],
    ids=["polars", "lazy", "arrow"],
)
def test_estimators_take_what_stands_for_a_frame(library):
    X = pd.DataFrame({"w": W, "c": np.array(NUMBERS, dtype=float)})
    model, wanted = OPLS().fit(library(X), Y), OPLS().fit(X, Y)
    np.testing.assert_allclose(model.transform(library(X)), wanted.transform(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(library(X[["c", "w"]]))


def test_rows_of_other_types_than_those_of_the_fit_are_refused():
    X = pd.DataFrame({"w": W, "c": NUMBERS})
    model = fit_on(OPLS(), labelled_data(X, Y))
    for cells in (pd.to_timedelta(NUMBERS, unit="h"), DATES, WORDS):
        with pytest.raises(ValueError, match="column 'c'.*not a number as in fit"):
            model.transform(X.assign(c=cells))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.transform(X.assign(c=pd.array(HOLED, dtype="Int64")))
