"""Feather files and JSON records: their cells, and what is refused."""

import gzip
import json

import pyarrow as pa
import pytest
from pyarrow import feather

from proxembed.data import Columns, DataError, read, read_rows, unpacking
from proxembed.data.readers import typed_files

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


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.jsonl", LINES + "{\n", "t.jsonl, line 31: it is not JSON .*; write one object a row"),
        ("t.jsonl", LINES + "7\n", "t.jsonl, line 31: the record is '7', no object; write one object a row"),
        ("t.jsonl", "", "t.jsonl: the file holds no record; write one object"),
        ("t.json", "[1, 2]", "t.json, line 1: the record is '1', no object"),
        ("t.json", "[{}", "t.json: it is not JSON"),
        ("t.jsonl", '{"a.b": 1, "a": {"b": 2}}', "t.jsonl: field 'a.b' occurs twice in record 1; rename it"),
        ("t.jsonl", '{"a": "\\ud800"}', "t.jsonl: a field is not text .*; write one object a row"),
        ("t.feather", "ARROW1xxxxxxxxxxxxx", "t.feather: it is no readable Feather or Arrow file"),
        ("t.feather", "", "t.feather: it is no readable Feather or Arrow file"),
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
    (tmp_path / "wide.jsonl").write_text("\n".join(f'{{"f{i}": 1}}' for i in range(20)))
    with pytest.raises(DataError, match="wide.jsonl: its records would take .*; write fewer fields, or Parquet"):
        read(tmp_path / "wide.jsonl", "f0")
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(LINES.encode()))
    with pytest.raises(DataError, match="t.jsonl.gz: it unpacks to more than 500 bytes"):
        read(tmp_path / "t.jsonl.gz", "y")


def test_any_changed_byte_of_a_feather_file_is_read_or_refused(tmp_path):
    whole = written(tmp_path / "t.feather", ROWS[:4]).read_bytes()
    for place in range(0, len(whole), 11):
        (tmp_path / "u.feather").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            read(tmp_path / "u.feather", "y")
        except DataError as error:
            assert str(error).endswith((".", "?"))
