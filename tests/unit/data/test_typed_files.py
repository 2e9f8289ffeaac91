"""Feather files and JSON records: their cells, and what is refused."""

import datetime
import gzip
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

from memory import traced_memory
from proxembed.data import Columns, DataError, read, read_rows, unpacking
from proxembed.data.readers import typed_files
from proxembed.data.readers.arrow_sizes import unpacked_sizes

ROWS = [{"a": i % 7 + 0.5, "sea": ("red", "red sea")[i % 2], "y": "uv"[i % 2]} for i in range(30)]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)


def written(path, rows=ROWS):
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".feather":
        feather.write_feather(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table, max_chunksize=7)
    else:
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        path.write_text(lines if path.suffix == ".jsonl" else json.dumps(rows))
    return path


@pytest.mark.parametrize("name", ["t.feather", "t.arrow", "t.jsonl", "t.json"])
def test_typed_files_are_read_as_their_csv_and_new_rows_from_either(tmp_path, name):
    (tmp_path / "t.csv").write_text("a,sea,y\n" + "".join(f"{row['a']},{row['sea']},{row['y']}\n" for row in ROWS))
    data, plain = read(written(tmp_path / name), "y"), read(tmp_path / "t.csv", "y")
    assert data.feature_names == plain.feature_names and data.columns == plain.columns
    assert (data.Y != plain.Y).nnz == 0 and data.X["a"].tolist() == plain.X["a"].tolist()
    for new in (tmp_path / name, tmp_path / "t.csv"):
        assert read_rows(new, data.source)[0]["sea"].tolist() == plain.X["sea"].tolist()
    packed = tmp_path / f"u{name[1:]}.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert read(packed, "y").X.shape == (30, 2)


def test_nested_records_lists_and_fields_of_several_kinds(tmp_path):
    rows = [
        {"place": {"city": "ab"[i % 2], "at": {"x": i}}, "tags": ["u", "v"][: i % 3], "v": [i, 0.5], "y": i % 2}
        for i in range(29)
    ]
    (tmp_path / "t.jsonl").write_text("\n".join([*map(json.dumps, rows), "", '{"more": 1, "y": "?"}']))
    data = read(tmp_path / "t.jsonl", columns=Columns(labels=("y",), drop=("more",), keep=("place*", "tags", "v")))
    readings = {name: read_as for name, read_as, _ in data.columns}
    assert list(readings)[:4] == ["place.city", "place.at.x", "tags", "v"] and data.X.shape[0] == 30
    assert readings["place.city"].startswith("category") and readings["place.at.x"].startswith("number")
    assert readings["tags"].startswith("names") and readings["v"] == "vector of 2; 1 empty", readings
    assert data.unknown.nnz == 1 and data.label_names == ("y",)


@pytest.mark.parametrize("form", ["columns", "index", "split", "lists", "wrapped", "indented", "lines", "one a line"])
def test_a_table_in_one_object_of_json_is_read_as_its_records(tmp_path, form):
    """As ``DataFrame.to_json`` of pandas, an answer of a web service and a mapping of lists hold it."""
    columns = {name: {str(i): row[name] for i, row in enumerate(ROWS)} for name in ROWS[0]}
    found = {
        "columns": columns,
        "index": {str(i): row for i, row in enumerate(ROWS)},
        "split": {"columns": list(ROWS[0]), "index": list(range(30)), "data": [list(row.values()) for row in ROWS]},
        "lists": {name: list(cells.values()) for name, cells in columns.items()},
        "wrapped": {"count": 30, "results": ROWS},
    }
    text = json.dumps(found[form]) if form in found else json.dumps(ROWS, indent=1 if form == "indented" else None)
    (tmp_path / "t.json").write_text(LINES if form == "lines" else text.replace("}, {", "},\n{"))
    data, plain = read(tmp_path / "t.json", "y"), read(written(tmp_path / "t.jsonl"), "y")
    assert data.columns == plain.columns and (data.Y != plain.Y).nnz == 0
    assert data.X["a"].tolist() == plain.X["a"].tolist()


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.ndjson"])
@pytest.mark.parametrize(
    "text", ["\n" + LINES, LINES.replace("\n", "\n\n"), json.dumps(ROWS), json.dumps(ROWS, indent=1)]
)
def test_whether_a_line_or_the_file_holds_the_rows_is_told_by_its_first_line(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name, "y").X["a"].tolist() == [row["a"] for row in ROWS]


def test_columns_and_rows_named_by_numbers_are_told_apart_and_others_asked_about(tmp_path):
    cells = {str(j): {str(i): i % 5 + j for i in range(30)} for j in range(3)}
    (tmp_path / "t.json").write_text(json.dumps(cells))
    assert typed_files.typed_rows(tmp_path / "t.json", ".json").table.to_pydict() == {
        name: list(column.values()) for name, column in cells.items()
    }
    for found in ({f"r{i}": row for i, row in enumerate(ROWS)}, {"at": {"x": 1, "z": 2}, "to": {"x": 3, "z": 4}}):
        (tmp_path / "t.json").write_text(json.dumps(found))
        with pytest.raises(DataError, match="t.json: its objects may be rows or columns; write one object a row"):
            read(tmp_path / "t.json", "y")


def test_one_object_may_be_one_row(tmp_path):
    data = read(written(tmp_path / "t.jsonl", [{**row, "v": [1.5, i]} for i, row in enumerate(ROWS)]), "y")
    for row in ({"a": 1.5, "sea": "red", "v": [1, 2]}, {"v": [1, 2], "a": 2, "sea": "red", "more": {"x": 1}}):
        (tmp_path / "new.json").write_text(json.dumps(row, indent=2))
        assert read_rows(tmp_path / "new.json", data.source)[0].shape == (1, 3)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.jsonl", LINES + "{\n", "t.jsonl, line 31: it is not JSON .*; write one object a row"),
        ("t.jsonl", LINES + "7\n", "t.jsonl, line 31: the record is '7', no object; write one object a row"),
        ("t.jsonl", "", "t.jsonl: the file holds no record; write one object"),
        ("t.json", "[1, 2]", "t.json, line 1: the record is '1', no object"),
        ("t.json", "[{}", "t.json: it is not JSON"),
        ("t.json", "7", "t.json, line 1: the record is '7', no object"),
        ("t.jsonl", '{"a.b": 1, "a": {"b": 2}}', "t.jsonl: field 'a.b' occurs twice in record 1; rename it"),
        ("t.jsonl", '{"a": "\\ud800"}', "t.jsonl: a field is not text .*; write one object a row"),
        ("t.feather", "ARROW1xxxxxxxxxxxxx", "t.feather: it cannot be read as a Feather or Arrow file"),
        ("t.feather", "", "t.feather: it cannot be read as a Feather or Arrow file"),
    ],
)
def test_what_is_malformed_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read(tmp_path / name, "y")


def test_more_than_may_be_unpacked_is_refused(tmp_path, monkeypatch):
    for room in (unpacking, typed_files):
        monkeypatch.setattr(room, "most_unpacked", lambda: 500)
    for name, what in (("t.feather", "its columns"), ("t.json", "its records")):
        with pytest.raises(DataError, match=f"{name}: {what} would take .*, above 500 bytes, the most that may"):
            read(written(tmp_path / name), "y")
    with gzip.open(tmp_path / "t.json.gz", "wb") as file:
        file.write(b"[" + b'{"a": 1},' * 200)
    (tmp_path / "u.json").write_text('{"a": {' + '"0": 1,' * (1 << 20) + '"1": 2}}')
    with traced_memory() as memory:
        with pytest.raises(DataError, match="u.json: its records would take .*, above 500 bytes"):
            read(tmp_path / "u.json", "y")
    assert memory.peak < 1 << 20
    (tmp_path / "wide.jsonl").write_text("\n".join(f'{{"f{i}": 1}}' for i in range(20)))
    with pytest.raises(DataError, match="wide.jsonl: its records would take .*; write fewer fields, or Parquet"):
        read(tmp_path / "wide.jsonl", "f0")
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(LINES.encode()))
    with pytest.raises(DataError, match="t.jsonl.gz: it unpacks to more than 500 bytes"):
        read(tmp_path / "t.jsonl.gz", "y")


@pytest.mark.parametrize("packing", ["zstd", "lz4", "uncompressed"])
@pytest.mark.parametrize("name", ["t.feather", "t.arrow"])
def test_sizes_are_those_of_the_buffers_unpacked(tmp_path, name, packing):
    texts = pa.array(["a", None, "cc", "a"] * 500).dictionary_encode()
    table = pa.table({"x": np.zeros(2000), "t": texts, "y": pa.array([True, False] * 1000)})
    options = pa.ipc.IpcWriteOptions(compression=None if packing == "uncompressed" else packing)
    kind = pa.ipc.new_file if name == "t.feather" else pa.ipc.new_stream
    with kind(tmp_path / name, table.schema, options=options) as sink:
        sink.write_table(table, max_chunksize=1000)
    with open(tmp_path / name, "rb") as stream:
        first, *batches = filter(None, unpacked_sizes(stream, name == "t.feather"))
    assert 11 <= first <= 40 and len(batches) == 2
    for size, batch in zip(batches, table.to_batches(max_chunksize=1000), strict=True):
        own = sum(batch.column(name).nbytes for name in ("x", "y")) + 4 * 1000 + 125  # codes, and what is not null
        assert own <= size <= own + 64 * 6


@pytest.mark.parametrize("name", ["t.feather", "t.arrow"])
def test_a_batch_that_unpacks_to_much_is_refused_before_it_is_read(tmp_path, monkeypatch, name):
    table = pa.table({"x": np.zeros(1 << 21), "y": np.zeros(1 << 21, dtype=np.int8)})
    kind = pa.ipc.new_file if name == "t.feather" else pa.ipc.new_stream
    with kind(tmp_path / name, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as sink:
        sink.write_table(table)
    monkeypatch.setattr(typed_files, "most_unpacked", lambda: 1 << 22)
    monkeypatch.setattr(pa.ipc, "open_file", None)
    monkeypatch.setattr(pa.ipc, "open_stream", None)
    with pytest.raises(DataError, match=f"{name}: its columns would take 18.0 MiB, above 4.0 MiB"):
        read(tmp_path / name, "y")


def test_views_of_the_same_text_are_counted_as_often_as_they_occur(tmp_path, monkeypatch):
    text, views = b"x" * 1000, np.zeros((30, 4), dtype=np.int32)
    views[:, 0], views[:, 1] = len(text), int.from_bytes(text[:4], "little")
    texts = pa.Array.from_buffers(pa.string_view(), 30, [None, pa.py_buffer(views), pa.py_buffer(text)])
    feather.write_feather(pa.table({"t": texts, "y": [0, 1] * 15}), tmp_path / "t.feather")
    assert (
        read(tmp_path / "t.feather", columns=Columns(labels=("y",), text=("t",))).X["t"].tolist() == ["x" * 1000] * 30
    )
    monkeypatch.setattr(typed_files, "most_unpacked", lambda: 1 << 14)
    with pytest.raises(DataError, match="t.feather: its texts would take 29.3 KiB, above 16.0 KiB"):
        read(tmp_path / "t.feather", "y")


@pytest.mark.parametrize("name", ["t.feather", "t.arrow"])
def test_any_changed_byte_of_an_arrow_file_is_read_or_refused(tmp_path, name):
    whole = written(tmp_path / name, ROWS[:4]).read_bytes()
    changed = tmp_path / f"u{name[1:]}"
    for place in range(0, len(whole), 5):
        changed.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            read(changed, "y")
        except DataError as error:
            assert str(error).endswith((".", "?"))


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time64("us")])
def test_times_of_day_are_hours(tmp_path, kind):
    times = pa.array([datetime.time(i % 24, 30) for i in range(30)], kind)
    table = pa.table({"at": times, "x": [i % 7 for i in range(30)], "y": [row["y"] for row in ROWS]})
    feather.write_feather(table, tmp_path / "t.feather")
    data = read(tmp_path / "t.feather", "y")
    assert data.X["at"].tolist() == [i % 24 + 0.5 for i in range(30)]
    assert dict(zip(("at", "x"), (words for _, words, _ in data.columns), strict=False))["at"] == "clock time, in hours"
    assert read_rows(tmp_path / "t.feather", data.source)[0]["at"][3] == 3.5
