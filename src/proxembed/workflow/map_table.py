"""A map as a table: places, labels and neighbours of rows, as a Parquet file that viewers such as embedding-atlas open,
and as a widget in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.data.table_writer import TableWriter, check_parquet
from proxembed.execute.atomic_files import check_writable, staged
from proxembed.features.layouts import NeighborMap, layout_named
from proxembed.features.table import table_fit
from proxembed.proximity.backends import nearest
from proxembed.report.map_page import feature_levels
from proxembed.tables import RawRows, TableRows

NEIGHBORS = 10  # of each row, in the file
LABELS = 50  # with a column of their own, the most frequent ones
SUFFIX = ".parquet"
NO_LABEL = "no label"
TAKEN = ("row", "id", "x", "y", "held_out", "labels", "neighbors")


def map_places(Z: Any) -> np.ndarray:
    """The places (n, 2) of rows with an embedding Z (n, k): two components as they are, one beside the number of the
    row, and more of them laid out by their neighbours."""
    Z = np.asarray(Z, dtype=np.float64)
    if Z.shape[1] == 1:
        return np.column_stack([Z, np.arange(len(Z), dtype=np.float64)])
    return Z if Z.shape[1] == 2 else NeighborMap.of(Z, layout_named("auto"), 2, 0).places


def row_columns(dataset: Any, held_out: np.ndarray) -> dict[str, Any]:
    """What a map tells of rows beside their places: ids, whether they are ``held_out`` (mask), and labels in words with
    a column of 0 and 1 for each of at most 50; or the outputs. NaN and "unknown" stand for unknown cells."""
    found: dict[str, Any] = {} if dataset.row_names is None else {"id": [str(each) for each in dataset.row_names]}
    found["held_out"] = held_out
    if dataset.outputs is not None:
        return found | _free(_output_columns(dataset.outputs))
    found["labels"] = label_words(dataset)
    if not dataset.single_label:
        Y, counts = sparse.csc_array(dataset.Y), np.asarray(dataset.Y.sum(axis=0)).ravel()
        shown = np.sort(np.argsort(-counts, kind="stable")[:LABELS])
        found |= _free({str(dataset.label_names[j]): _cells(Y, dataset.unknown, j) for j in shown})
    return found


def _cells(Y: Any, unknown: Any, label: int) -> np.ndarray:
    """0 and 1 of a label for each row, (n,); float32 with NaN where some cells are unknown."""
    cells = Y[:, [label]].toarray()[:, 0].astype(np.int8)
    if unknown is None:
        return cells
    holes = sparse.csc_array(unknown)[:, [label]].toarray()[:, 0] != 0
    return np.where(holes, np.nan, cells).astype(np.float32) if holes.any() else cells


def first_colour(dataset: Any, columns: Mapping[str, Any]) -> str:
    """The column that colours the rows first: the class, the most frequent of several labels, or the first output."""
    if dataset.outputs is None and dataset.several_labels:
        kinds = np.int8, np.float32
        each = {name: np.nansum(v) for name, v in columns.items() if getattr(v, "dtype", None) in kinds}
        return max(each, key=lambda name: each[name], default="labels")
    return next(name for name in columns if name not in ("id", "held_out"))


def label_words(dataset: Any) -> list[str]:
    """The labels of each row in words."""
    Y, names = sparse.csr_array(dataset.Y), [str(name) for name in dataset.label_names]
    bare = NO_LABEL
    if len(names) == 1 and dataset.values is not None:
        bare, names[0] = map(str, dataset.values)
    unknown = None if dataset.unknown is None else np.asarray(dataset.unknown.sum(axis=1)).ravel() > 0
    told = [", ".join(names[j] for j in Y.indices[a:b]) for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)]
    return [words or ("unknown" if unknown is not None and unknown[i] else bare) for i, words in enumerate(told)]


def _output_columns(outputs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column, cells in zip(outputs.layout.columns, outputs.as_given(), strict=True):
        named = column.values is not None
        found[str(column.name)] = ["unknown" if each is None else str(each) for each in cells] if named else cells
    return found


def _free(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns under their names, those that are taken with an underscore behind."""
    return {f"{name}_" if name in TAKEN else name: values for name, values in columns.items()}


def neighbor_column(Z: Any) -> list[dict[str, list[Any]]]:
    """The 10 nearest other rows of each by their Euclidean distance in Z, as embedding-atlas reads them."""
    Z = np.asarray(Z, dtype=np.float64)
    if len(Z) < 2:
        return [{"ids": [], "distances": []} for _ in Z]
    near = nearest(Z, min(NEIGHBORS, len(Z) - 1))
    pairs = zip(near.index.tolist(), near.distance.tolist(), strict=True)
    return [{"ids": ids, "distances": distances} for ids, distances in pairs]


def map_columns(dataset: Any, places: np.ndarray, held_out: np.ndarray, Z: Any = None) -> dict[str, Any]:
    """The columns of the file of a map: places (n, 2), ``row_columns``, and neighbours in Z, else on the map."""
    found = {"x": places[:, 0], "y": places[:, 1]} | row_columns(dataset, held_out)
    return found | {"neighbors": neighbor_column(places if Z is None else Z)}


def columns_of_split(dataset: Any, rows: np.ndarray, places: np.ndarray, train: int) -> dict[str, Any]:
    """The same of some rows of a data set at their places, in the order of the data set; the first ``train`` are those
    of the fit. With the number of each row."""
    order = np.argsort(rows, kind="stable")
    places = map_places(places)[order]
    return {"row": rows[order], **map_columns(dataset.take(rows[order]), places, order >= train)}


def features_in_units(dataset: Any) -> tuple[Any, list[str]]:
    """The features of all rows in their own units, and their names; those of a table before their scaling."""
    if not isinstance(dataset.X, TableRows):
        return dataset.X, list(dataset.feature_names)
    state = table_fit(dataset.X)
    return state.in_units(dataset.X), list(state.feature_names)


def shown_features(dataset: Any, rows: np.ndarray) -> dict[str, Any]:
    """The features of some rows that the page of a map compares; none of rows before an encoder of the caller."""
    if isinstance(dataset.X, RawRows):
        return {}
    X, names = features_in_units(dataset)
    return feature_levels(names, X[rows])


def check_map_table(path: Path) -> Path:
    """The path of the file of a map, whose name ends in .parquet, and which can be written."""
    if path.suffix != SUFFIX:
        raise ValueError(f"{str(path)!r} must end in {SUFFIX}.")
    check_parquet()
    check_writable(path)
    return path


def write_map_table(path: Path, columns: Mapping[str, Any]) -> Path:
    """Write the columns of a map as a Parquet file."""
    with staged(path) as place, TableWriter(place) as written:
        written.add(columns)
    return path


def map_widget(places: np.ndarray, columns: Mapping[str, Any], colour: str, **settings: Any) -> Any:
    """A ``jscatter.Scatter`` with these settings of rows at their places (n, 2), in the colours of a column; the others
    in its tooltips. Raises ImportError without jupyter-scatter."""
    try:
        import jscatter
        from pandas import DataFrame
    except ImportError as error:
        raise ImportError(
            "found.map() needs jupyter-scatter; install it (pip install 'proxembed[notebook]'), or write the map by "
            "found.write_map('map.parquet')."
        ) from error
    words = {"held_out": np.where(columns["held_out"], "yes", "no")}
    frame = DataFrame({"x": places[:, 0], "y": places[:, 1], **columns, **words})
    if frame[colour].dtype.kind != "f":
        frame[colour] = frame[colour].astype(str).astype("category")
    scatter = jscatter.Scatter(data=frame, **{"x": "x", "y": "y", "height": 480} | settings)
    scatter.color(by=colour)
    scatter.legend(True)
    scatter.tooltip(True, properties=[name for name in ("id", "held_out", colour) if name in frame])
    return scatter
