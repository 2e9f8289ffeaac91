"""Tables that are written in parts: numbers in full, the same columns in every part."""

import sys

import numpy as np
import pyarrow.parquet
import pytest

from proxembed.data.table_writer import TableWriter


def test_numbers_in_csv_are_whole(tmp_path):
    values = np.array([0.1, 1 / 3, 1e-300, -0.0])
    with TableWriter(tmp_path / "z.csv") as table:
        table.add({"z0": values[:3]})
        table.add({"z0": values[3:]})
    header, *read = (tmp_path / "z.csv").read_text().splitlines()
    assert header == "z0" and np.array(read, dtype=float).tobytes() == values.tobytes()


def test_cells_of_csv_are_quoted_where_they_must_be(tmp_path):
    with TableWriter(tmp_path / "z.csv") as table:
        table.add({"id": ['a,"b"', "ü"], "z0": [1, 2]})
    assert (tmp_path / "z.csv").read_bytes() == 'id,z0\n"a,""b""",1\nü,2\n'.encode()


def test_parts_become_row_groups_of_one_type(tmp_path):
    with TableWriter(tmp_path / "z.parquet") as table:
        table.add({"id": ["a", "b"], "z0": np.array([0.5, 0.25]), "class": [1, 2]})
        table.add({"id": ["c"], "z0": [3], "class": [3]})
    file = pyarrow.parquet.ParquetFile(tmp_path / "z.parquet")
    assert file.num_row_groups == 2 and file.schema_arrow.field("z0").type == "double"
    assert file.read().to_pydict() == {"id": ["a", "b", "c"], "z0": [0.5, 0.25, 3.0], "class": [1, 2, 3]}


def test_columns_of_parquet_keep_their_order_and_types(tmp_path):
    columns = {"id": ["a", "é <b>"], "z, 0": np.array([0.1, 1e-300]), "n": np.array([1, 0], np.uint8)}
    with TableWriter(tmp_path / "z.parquet") as table:
        table.add(columns)
    read = pyarrow.parquet.read_table(tmp_path / "z.parquet")
    assert read.column_names == list(columns) and str(read.schema.field("n").type) == "uint8"
    assert read.to_pydict() == {name: list(values) for name, values in columns.items()}


def test_without_pyarrow_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"needs pyarrow: pip install 'proxembed\[data\]', or write \.csv"):
        TableWriter(tmp_path / "z.parquet")


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'z.txt' must end in one of .csv, .parquet"):
        TableWriter(tmp_path.relative_to(tmp_path) / "z.txt")
