"""The map as a table: places, labels and neighbours in a Parquet file, and the widget of a notebook."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

import proxembed
from extras import needed
from proxembed.data import Dataset
from proxembed.proximity.backends import nearest
from proxembed.workflow import map_table
from proxembed.workflow.map_table import (
    columns_of_split,
    first_colour,
    map_columns,
    map_places,
    neighbor_column,
    row_columns,
)

rng = np.random.default_rng(0)
N = 60
X = rng.standard_normal((N, 5))
Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] > 1]).astype(int)
NAMES = ("red", "x", "old")
DATA = Dataset(X, Y, label_names=NAMES, ids=tuple(f"p{i}" for i in range(N)))
HELD = np.arange(N) >= 40


def test_columns_hold_places_labels_and_neighbours():
    places = X[:, :2]
    found = map_columns(DATA, places, HELD, X)
    assert list(found) == ["x", "y", "id", "held_out", "labels", "red", "x_", "old", "neighbors"]
    np.testing.assert_array_equal(np.column_stack([found["x"], found["y"]]), places)
    assert found["labels"][0] == (", ".join(np.array(NAMES)[Y[0] > 0]) or "no label")
    np.testing.assert_array_equal(found["x_"], Y[:, 1])
    near = nearest(X, 10)
    assert found["neighbors"][3]["ids"] == near.index[3].tolist() and 3 not in found["neighbors"][3]["ids"]
    np.testing.assert_allclose(found["neighbors"][3]["distances"], near.distance[3])


def test_many_labels_have_columns_for_the_most_frequent_ones(monkeypatch):
    monkeypatch.setattr(map_table, "LABELS", 2)
    assert [name for name in row_columns(DATA, HELD) if name in ("red", "x_", "old")] == ["red", "x_"]


def test_classes_outputs_and_unknown_cells():
    kinds = np.where(X[:, 0] > 0, "up", "down")
    classes = Dataset.from_classes(X, kinds)
    assert row_columns(classes, HELD)["labels"] == kinds.tolist() and list(row_columns(classes, HELD))[-1] == "labels"
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(np.arange(N) == 1, None, kinds)})
    found = row_columns(Dataset.from_targets(X, frame), HELD)
    np.testing.assert_allclose(found["size"], X[:, 0])
    assert found["kind"] == ["unknown" if i == 1 else kind for i, kind in enumerate(kinds)]
    unknown = np.zeros((N, 3), dtype=bool)
    unknown[0] = True
    blank = Dataset(X, np.where(unknown, 0, Y), label_names=NAMES, unknown=unknown)
    cells = row_columns(blank, HELD)
    assert cells["labels"][0] == "unknown" and np.isnan(cells["red"][0])
    assert first_colour(blank, cells) == first_colour(DATA, row_columns(DATA, HELD))
    np.testing.assert_array_equal(cells["red"][1:], Y[1:, 0])


def test_the_first_colour_is_the_class_a_frequent_label_or_an_output():
    assert first_colour(DATA, row_columns(DATA, HELD)) == ["red", "x_", "old"][int(np.argmax(Y.sum(axis=0)))]
    classes = Dataset.from_classes(X, X[:, 0] > 0)
    assert first_colour(classes, row_columns(classes, HELD)) == "labels"
    numbers = Dataset.from_targets(X, pd.DataFrame({"size": X[:, 0]}))
    assert first_colour(numbers, row_columns(numbers, HELD)) == "size"


def test_places_of_one_two_and_more_components():
    np.testing.assert_array_equal(map_places(X[:, :2]), X[:, :2])
    np.testing.assert_array_equal(map_places(X[:, :1])[:, 1], np.arange(N))
    laid_out = map_places(X)
    assert laid_out.shape == (N, 2) and np.isfinite(laid_out).all() and not np.array_equal(laid_out, X[:, :2])
    assert neighbor_column(X[:1]) == [{"ids": [], "distances": []}]


def test_rows_of_a_split_come_in_the_order_of_the_data():
    rows = np.array([5, 2, 9, 0])
    found = columns_of_split(DATA, rows, X[rows, :2], 3)
    assert found["row"].tolist() == [0, 2, 5, 9] and found["held_out"].tolist() == [True, False, False, False]
    assert found["id"] == ["p0", "p2", "p5", "p9"]
    np.testing.assert_array_equal(found["x"], X[[0, 2, 5, 9], 0])


@pytest.fixture(scope="module")
def found():
    part = Dataset(X, Y, label_names=NAMES, train_idx=np.arange(40), test_idx=np.arange(40, N))
    return proxembed.search(part, methods="opls", n_components=2, max_trials=1, folds=2, shuffles=0, max_work=5)


def test_a_search_writes_its_map(found, tmp_path):
    path = found.write_map(tmp_path / "map.parquet")
    table = parquet.read_table(path).to_pydict()
    np.testing.assert_array_equal(np.column_stack([table["x"], table["y"]]), found.embedding)
    assert (
        table["held_out"] == HELD.tolist()
        and table["neighbors"][0]["ids"] == nearest(found.embedding, 10).index[0].tolist()
    )
    assert [each.name for each in tmp_path.iterdir()] == ["map.parquet"]
    with pytest.raises(ValueError, match=r"map.csv' must end in .parquet"):
        found.write_map(tmp_path / "map.csv")


def test_the_widget_selects_rows_to_explain(found):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        needed("jscatter")
        widget = found.map()
        widget.selection(np.flatnonzero(found.embedding[:, 0] > 0))
        assert widget.color()["by"] == "red" and found.map("held_out").color()["by"] == "held_out"
        assert found.map(height=600).height() == 600 and found.map().height() == 480
    why = found.explain_rows(widget.selection())
    assert why.held_out and why.inside == np.sum(found.embedding[40:, 0] > 0)
    with pytest.raises(ValueError, match="color='size' is not a column of the map, which has held_out, labels"):
        found.map("size")


def test_without_the_widget_the_remedy_is_named(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "jscatter", None)
    with pytest.raises(ImportError, match=r"found.map\(\) needs jupyter-scatter; install it \(pip install 'proxembed"):
        found.map()
