"""Parquet out: what is written is read again, and without pyarrow the remedy is told."""

import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxembed.data import parquet_blocks
from proxembed.data.parquet import frame_bytes


def test_without_pyarrow_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"holds its labels needs pyarrow: pip install 'proxembed\[data\]'"):
        frame_bytes(None)


def test_a_frame_comes_back_without_its_index():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [30, None], "left": ["yes", "no"]}, index=[7, 3])
    table = pq.read_table(io.BytesIO(frame_bytes(frame)))
    assert table.to_pydict() == {"age": [30.0, None], "left": ["yes", "no"]}
    polars = pytest.importorskip("polars")
    assert pq.read_table(io.BytesIO(frame_bytes(polars.DataFrame({"tags": [["a"], []]})))).to_pydict() == {
        "tags": [["a"], []]
    }
    mixed = pandas.DataFrame({"price": [1, "two"]})
    with pytest.raises(ValueError, match="cells are of several kinds .*price"):
        frame_bytes(mixed)


def test_memory_of_a_reading_is_that_of_a_batch_not_of_the_file(tmp_path):
    """pyarrow would keep every row group that it has read until the file is closed."""
    X, file = np.random.default_rng(0).normal(size=(200_000, 10)), tmp_path / "x.parquet"
    pq.write_table(pa.table(list(X.T), names=[f"x{j}" for j in range(10)]), file, row_group_size=5_000)
    before = pa.total_allocated_bytes()
    peak = max(pa.total_allocated_bytes() for _ in parquet_blocks(file, block_rows=5_000)) - before
    assert peak < X.nbytes / 4
