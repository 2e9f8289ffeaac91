"""Tables: what becomes of each kind of column, in CSV and in Parquet."""

import datetime
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from proxembed.data import Columns, read
from proxembed.data.readers import table_file
from proxembed.features.table import table_fit
from proxembed.methods.pipeline import embedding_pipeline
from proxembed.methods.variance import LSI
from proxembed.tables.cells import commonest_words

TEXT = "doc,x,kind,y_a,y_b\na,1,red,0,1\nb,2.5,blue,1,\nc,-3e2,red,1,0\nd,0,blue,0,true\n"
LABELS = Columns(labels=("y_*",), id="doc")


def made(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def parquet(tmp_path, columns, name="t.parquet"):
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), tmp_path / name)
    return tmp_path / name


def same(data):
    assert data.X["x"].tolist() == [1, 2.5, -300, 0] and data.X["x"].dtype == np.float64
    assert data.X["kind"].tolist() == ["red", "blue", "red", "blue"]
    assert data.feature_names == ("x", "kind") and data.label_names == ("y_a", "y_b")
    assert data.Y.toarray().tolist() == [[0, 1], [1, 0], [1, 0], [0, 1]]
    assert data.unknown.toarray().astype(int).tolist() == [[0, 0], [0, 1], [0, 0], [0, 0]]
    assert data.ids == ("a", "b", "c", "d") and data.name == "t" and data.train_idx is None


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_csv_file_whatever_its_separator_and_line_ends(tmp_path, separator, ending):
    text = TEXT.replace(",", separator).replace("\n", ending)
    same(read(made(tmp_path, text, "t.tsv" if separator == "\t" else "t.csv"), columns=LABELS))


def test_gzip_byte_order_mark_blank_lines_quotes_and_blanks_around_names(tmp_path):
    text = TEXT.replace("doc,x", '"doc", x').replace("b,2.5", '\n"b", 2.5')
    for name, content in {
        "t.csv": "\ufeff" + text,
        "t.csv.gz": gzip.compress(text.encode()),
        "t.CSV": gzip.compress(text.encode()),
    }.items():
        same(read(made(tmp_path, content, name), columns=LABELS))


def test_a_parquet_file_gives_the_same(tmp_path):
    columns = {
        "doc": ["a", "b", "c", "d"],
        "x": [1, 2.5, -300, 0],
        "kind": pa.array(["red", "blue", "red", "blue"]).dictionary_encode(),
        "y_a": pa.array([0, 1, 1, 0], pa.int8()),
        "y_b": [True, None, False, True],
    }
    same(read(parquet(tmp_path, columns), columns=LABELS))


def test_small_blocks_and_rows_longer_than_a_block_change_nothing(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(500, 4)), rng.integers(0, 2, (500, 2))
    kinds = np.array(["a", "b", "line\nbreak, " + "c" * 3000])[rng.integers(0, 3, 500)]
    columns = {f"x{j}": X[:, j] for j in range(4)} | {"y0": Y[:, 0], "kind": kinds, "y1": Y[:, 1]}
    pa.csv.write_csv(pa.table(columns), tmp_path / "t.csv")
    parquet(tmp_path, columns)
    whole = read(tmp_path / "t.csv", labels="y?")
    monkeypatch.setattr(table_file, "BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(table_file, "BLOCK_VALUES", 100)
    for name in ("t.csv", "t.parquet"):
        data = read(tmp_path / name, labels="y?")
        np.testing.assert_array_equal(data.Y.toarray(), Y)
        np.testing.assert_array_equal(np.column_stack([data.X[f"x{j}"] for j in range(4)]), X)
        assert data.X["kind"].tolist() == whole.X["kind"].tolist() == kinds.tolist()


def test_float32_columns_stay_float32(tmp_path):
    path = parquet(tmp_path, {"x": np.float32([0.1, 1]), "v": [np.float32([1, 2])] * 2, "y": [0, 1]})
    data = read(path, labels="y")
    assert data.X.dtype == np.float32 and data.X.tolist() == [[np.float32(0.1), 1, 2], [1, 1, 2]]


def test_vectors_in_parquet_and_csv_become_columns(tmp_path):
    lists = {"y": [0, 1, 1], "e": [[1.0, 2.5], [3, 4], [-5, 6e-3]], "x": [7, 8, 9]}
    fixed = {**lists, "e": pa.FixedSizeListArray.from_arrays(pa.array(np.ravel(lists["e"])), 2)}
    csv = 'y,e,x\n0,"[1, 2.5]",7\n1,[3 4],8\n1,"[ -5,6e-3 ]",9\n'
    for path in (
        parquet(tmp_path, lists, "a.parquet"),
        parquet(tmp_path, fixed, "b.parquet"),
        made(tmp_path, csv),
    ):
        data = read(path, labels="y")
        assert data.X.tolist() == [[1, 2.5, 7], [3, 4, 8], [-5, 0.006, 9]]
        assert data.feature_names == ("e[0]", "e[1]", "x")
        alone = read(path, labels="y", columns=Columns(drop="x"))
        assert alone.feature_names == ("e[0]", "e[1]") and alone.X.tolist() == lists["e"]


def test_a_lone_text_becomes_counts_of_stems_in_the_encoder(tmp_path):
    text = 'y,words\n0,"Whales sing\nsongs"\n1,a whale sang\n1,"a song, a song"\n'
    data = read(made(tmp_path, text), labels="y", columns=Columns(text="words"))
    (block,) = table_fit(data.X).words
    assert data.feature_names == ("words",) and block.terms == ("a", "song", "whale")
    assert block.feature_names == ["words: a", "words: song", "words: whale"], "of two words used alike the first"
    assert commonest_words(["Relations relational", "relations relate"], ["relat", "x"]) == ("relations", "x")
    assert block.counts(data.X["words"]).toarray().tolist() == [[0, 1, 1], [1, 0, 1], [2, 2, 0]]


def test_groups_are_codes_and_times_are_seconds(tmp_path):
    text = "y,x,who,when\n0,1,NA,1970-01-02\n1,2,b,1970-01-01T00:00:05Z\n1,3,NA,1970-01-01 01:00:00+01:00\n"
    data = read(made(tmp_path, text), labels="y", columns=Columns(groups="who", time="when"))
    assert data.groups.tolist() == [0, 1, 0] and data.times.tolist() == [86400, 5, 0]
    dates = [datetime.date(1970, 1, 2), datetime.date(1970, 1, 1)]
    for when, times in (
        (dates, [86400, 0]),
        (pa.array(dates).cast(pa.timestamp("ns")), [86400, 0]),
        ([7, 0.5], [7, 0.5]),
    ):
        path = parquet(tmp_path, {"y": [0, 1], "x": [1, 2], "when": when})
        assert read(path, labels="y", columns=Columns(time="when")).times.tolist() == times


def test_a_test_file_shares_names_groups_and_the_columns_of_the_training_file(tmp_path):
    train = made(tmp_path, TEXT.replace("doc,", "who,"), "t-train.csv")
    test = made(tmp_path, "more,y_b,x,kind,y_a,who\n1,0,9,blue,1,z\n2,1,8,red,,a\n", "t-test.csv")
    data = read(train, test=test, columns=Columns(labels=("y_*",), groups="who"))
    assert data.name == "t" and data.train_idx.tolist() == [0, 1, 2, 3] and data.test_idx.tolist() == [4, 5]
    assert data.X[4:]["x"].tolist() == [9, 8] and data.X[4:]["kind"].tolist() == ["blue", "red"]
    assert data.groups.tolist() == [0, 1, 2, 3, 4, 0]
    assert data.Y.toarray()[4:].tolist() == [[1, 0], [0, 1]] and data.unknown.toarray()[5, 0]


def test_the_words_of_held_out_rows_do_not_enter_the_vocabulary(tmp_path):
    """Neither those of a test file nor those of a fold: the encoder is learned from the rows of each fit."""
    train = made(tmp_path, "y,words\n0,red blue\n1,red blue\n", "t-train.csv")
    test = made(tmp_path, "y,words\n0,red green\n1,green\n", "t-test.csv")
    data = read(train, labels="y", test=test, columns=Columns(text="words"))
    model = embedding_pipeline(LSI(n_components=1), data.X, readout=False).fit(data.X[data.train_idx])
    assert model["scaling"].get_feature_names_out().tolist() == ["words: blue", "words: red"]
    found = model["scaling"].transform(data.X)
    assert sparse.issparse(found) and (found.toarray() > 0).tolist() == [[True, True]] * 2 + [
        [False, True],
        [False] * 2,
    ]
    green = embedding_pipeline(LSI(n_components=1), data.X, readout=False).fit(data.X[data.test_idx])
    assert green["scaling"].get_feature_names_out().tolist() == ["words: green"]


def test_the_index_that_pandas_wrote_is_no_feature_but_may_be_named(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2.0], "y": [0, 1]}, index=pandas.Index(["a", "b"], name="doc"))
    frame.to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", labels="y").feature_names == ("x",)
    assert read(tmp_path / "t.parquet", labels="y", columns=Columns(id="doc")).ids == ("a", "b")


def test_the_source_is_plain_data(tmp_path):
    source = read(made(tmp_path, TEXT), columns=LABELS).source
    assert (
        json.loads(json.dumps(source))
        == source
        == {
            "format": "table",
            "columns": [{"name": "x", "kind": "number"}, {"name": "kind", "kind": "category"}],
            "missing": [],
            "labels": ["y_a", "y_b"],
            "separator": None,
            "id": "doc",
            "groups": None,
            "time": None,
        }
    )


def test_an_array_with_a_table_of_labels(tmp_path):
    np.save(tmp_path / "e.npy", np.arange(8, dtype=np.float32).reshape(4, 2))
    table = made(tmp_path, TEXT)
    data = read(tmp_path / "e.npy", labels=table, columns=LABELS)
    assert data.X.dtype == np.float32 and data.X.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]] and data.name == "e"
    assert data.label_names == ("y_a", "y_b") and data.ids == ("a", "b", "c", "d") and data.unknown.nnz == 1
    table = made(tmp_path, "doc,a,b\n1,0,1\n2,1,1\n3,0,0\n4,0,\n")
    assert read(tmp_path / "e.npy", labels=str(table), columns=Columns(id="doc")).label_names == ("a", "b")


def test_an_array_with_an_array_of_labels(tmp_path):
    np.save(tmp_path / "e.npy", np.eye(3, dtype=int))
    np.save(tmp_path / "y.npy", np.array(["b", "a", "b"]))
    data = read(tmp_path / "e.npy", labels=tmp_path / "y.npy")
    assert data.label_names == ("a", "b") and data.single_label and data.X.dtype == np.float64
    np.save(tmp_path / "y.npy", np.array([[0, np.nan], [1, 0], [1, 1]]))
    data = read(tmp_path / "e.npy", labels=tmp_path / "y.npy")
    assert data.unknown.toarray().tolist() == [[False, True], [False, False], [False, False]]
    assert data.source == {"format": "npy", "n_features": 3}


def test_a_last_row_of_totals_and_empty_rows_are_noted(tmp_path):
    rows = "".join(f"{'NS'[j % 2]},{j},{j % 3},{'uv'[j % 2]}\n" for j in range(20))
    (tmp_path / "t.csv").write_text(f"region,a,b,y\n{rows},,,\n,,,\nTotal:,190,19,\n")
    notes = read(tmp_path / "t.csv", "y").notes
    assert "line 24, the last one, may hold totals ('Total:' in region): remove it if it does" in notes
    assert "2 rows have no cell, the first is line 22: remove empty rows" in notes
    (tmp_path / "t.csv").write_text(f"region,a,b,y\n{rows}total,1,1,u\ntotal,2,2,v\n")  # a category
    assert not any("totals" in note or "no cell" in note for note in read(tmp_path / "t.csv", "y").notes)
    numbers = "".join(f"{j},{j % 3},{'uv'[j % 2]}\n" for j in range(20))
    (tmp_path / "t.csv").write_text(f"a,b,y\n{numbers}190,19,Gesamt\n")
    assert any("may hold totals ('Gesamt' in y)" in note for note in read(tmp_path / "t.csv", "y").notes)
