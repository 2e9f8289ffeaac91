"""One table, one data set: a frame with its labels, the same frame beside its labels, and its CSV and Parquet files."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from proxembed.data import Columns, row_parts
from proxembed.data.large_table import LargeTable
from proxembed.methods.pipeline import source_of
from proxembed.tables import TableRows
from proxembed.workflow.labelled_data import labelled_data

N = 60
V = [row * row % 13 for row in range(N)]
W = np.round(np.random.default_rng(0).normal(size=N), 3)
LEFT = np.where(W + 0.1 * np.array(V) > 0.5, "u", "v")
TIMES = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=31 * value) for value in V]
WORDS = ["mno"[value % 3] for value in V]


def holed(cells):
    return [None if row % 7 == 0 else cell for row, cell in enumerate(cells)]


FEATURES = {
    "whole numbers": V,
    "small numbers": np.array(V, dtype="uint8"),
    "numbers below zero": [value - 5 for value in V],
    "large numbers": [2**40 + value for value in V],
    "numbers": [value / 4 for value in V],
    "float32": np.array(V, dtype="float32") / 8,
    "decimals": [Decimal(value) / 4 for value in V],
    "numbers with holes": holed([value / 4 for value in V]),
    "whole numbers with holes": pd.array(holed(V), dtype="Int64"),
    "truth values": [value % 2 == 1 for value in V],
    "truth values with holes": pd.array(holed([value % 2 == 1 for value in V]), dtype="boolean"),
    "truth words": ["yes" if value % 2 else "no" for value in V],
    "words": WORDS,
    "words with holes": holed(WORDS),
    "categories": pd.Categorical(WORDS),
    "days": [each.date() for each in TIMES],
    "times": pd.to_datetime(TIMES),
    "times of a zone": pd.to_datetime(TIMES).tz_localize("UTC"),
    "times with holes": pd.to_datetime(pd.Series(holed(TIMES))),
    "dates in words": [f"{value + 1:02d}.03.2024" for value in V],
    "clock times": [f"{value + 1}:30" for value in V],
    "units": [f"{value} kg" for value in V],
    "percentages": [f"{value}%" for value in V],
    "thousands": [f"1,{value:03d}.5" for value in V],
    "decimal commas": [f"{value},5" for value in V],
    "scale": [("never", "rarely", "often")[value % 3] for value in range(N)],
    "texts": [f"word{row} says word{value} again and again" for row, value in enumerate(V)],
    "codes": [f"{value:05d}" for value in V],
    "vectors": [[float(value), float(row % 5)] for row, value in enumerate(V)],
    "names": [["r", "g"] if value > 6 else ["b"] for value in V],
    "joined names": [("r;g", "b;r", "g")[value % 3] for value in range(N)],
    "ids": [f"K-{row * 7919 % 1000:03d}" for row in range(N)],
    "row numbers": list(range(N)),
    "one value": [1] * N,
    "empty": [None] * N,
}
LABELS = {
    "classes": LEFT,
    "truth words": np.where(LEFT == "u", "yes", "no"),
    "truth values": LEFT == "u",
    "0 and 1": (LEFT == "u").astype(int),
    "numbers": np.array(V) % 3 + 9,
    "with holes": holed(LEFT),
    "joined": [("p;q", "q", "p", "p;r")[value % 4] for value in V],
    "lists": [(["p", "q"], ["q"], ["p"])[value % 3] for value in V],
}


def plain(array):
    """An array, or a sparse or object array, as lists whose text tells NaN and types apart."""
    array = array.toarray() if hasattr(array, "toarray") else array
    return None if array is None else repr((array.dtype.name, array.tolist()))


def facts(data):
    """All that a data set holds."""
    X = data.X
    return {
        "X": [plain(array) for array in X.arrays] if isinstance(X, TableRows) else plain(X),
        "columns of X": X.columns if isinstance(X, TableRows) else None,
        "features": data.feature_names,
        "Y": plain(data.Y),
        "unknown": plain(data.unknown),
        "labels": data.label_names,
        "groups": plain(data.groups),
        "ids": data.ids,
        "source": data.source,
        "columns": data.columns,
        "notes": data.notes,
    }


def every_way(frame, folder):
    """The data sets of one table, by the way in which it came."""
    csv, parquet = folder / "table.csv", folder / "table.parquet"
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet, index=False)
    ways = {"frame": frame, "polars": pl.from_pandas(frame), "Arrow": pl.from_pandas(frame).to_arrow()}
    found = {name: labelled_data(table, labels="left") for name, table in ways.items()}
    return found | {
        "X and y": labelled_data(frame.drop(columns="left"), frame["left"]),
        "lazy": labelled_data(pl.from_pandas(frame.drop(columns="left")).lazy(), frame["left"]),
        "CSV": labelled_data(csv, labels="left"),
        "Parquet": labelled_data(parquet, labels="left"),
    }


@pytest.mark.parametrize("name", FEATURES)
def test_every_way_in_gives_the_same_features(name, tmp_path):
    others = [value * 3 % 7 for value in V]  # without a decimal mark: in a CSV file it would contradict a comma
    found = every_way(pd.DataFrame({"w": others, "c": FEATURES[name], "left": LEFT}), tmp_path)
    wanted = facts(found.pop("frame"))
    for way, data in found.items():
        assert facts(data) == wanted, way


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("name", FEATURES)
def test_a_table_that_is_read_by_parts_gives_the_same_features(name, suffix, tmp_path):
    others = [value * 3 % 7 for value in V]
    frame, file = pd.DataFrame({"w": others, "c": FEATURES[name], "left": LEFT}), tmp_path / f"table{suffix}"
    frame.to_csv(file, index=False) if suffix == ".csv" else frame.to_parquet(file, index=False)
    whole = labelled_data(file, labels="left")
    found = LargeTable(file, Columns(labels=("left",))).sample(N, 0)
    assert facts(found) == facts(whole)
    parts = list(row_parts(file, source_of(found), 20))
    assert sum(X.shape[0] for X, _ in parts) == N and (len(parts) == 3 or suffix == ".csv")
    arrays = [X.arrays if isinstance(X, TableRows) else X.T for X, _ in parts]
    wanted = whole.X.arrays if isinstance(whole.X, TableRows) else whole.X.T
    for column, pieces in zip(wanted, zip(*arrays, strict=True), strict=True):
        assert plain(sp.vstack(pieces) if sp.issparse(column) else np.concatenate(pieces)) == plain(column)


@pytest.mark.parametrize("name", LABELS)
def test_every_way_in_gives_the_same_labels(name, tmp_path):
    found = every_way(pd.DataFrame({"w": W, "c": holed(WORDS), "left": LABELS[name]}), tmp_path)
    wanted, values = facts(found["frame"]), found.pop("frame").values
    if name == "lists":  # a CSV file holds their text, and a note says so
        assert found["CSV"].notes == ("left: its cells are lists of labels",)
        found["CSV"] = replace(found["CSV"], notes=())
    for way, data in found.items():
        assert facts(data) == wanted, way
        assert data.values == values or way == "CSV", way  # whose cells are text
