"""Parquet parts and stored arrays that are damaged, cut short, or replaced: one ValueError names them."""

import pathlib

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from proxembed import OPLS, RowBlocks
from proxembed.data import Columns, DataError, parquet_blocks, read
from proxembed.data.large_table import LargeTable
from proxembed.data.readers.table_file import open_table

COLUMNS = Columns(labels=("y",), drop=("t",))
PLACES = {"file": ["a.parquet"], "folder": ["a.parquet", "b.parquet"], "keys": ["k=1/a.parquet", "k=2/b.parquet"]}


def write(file: pathlib.Path, rows: int = 200, numbers: int = 4, y: bool = True, **options) -> None:
    rng = np.random.default_rng(0)
    file.parent.mkdir(exist_ok=True)
    columns = {f"x{j}": rng.normal(size=rows) for j in range(numbers)}
    labels = {"y": np.arange(rows) % 2} if y else {}
    table = pa.table(columns | {"t": [f"text {i % 7}" for i in range(rows)]} | labels)
    parquet.write_table(table, file, row_group_size=100, **options)


def written(folder: pathlib.Path, places: str, **options) -> tuple[pathlib.Path, pathlib.Path]:
    """What is read, and the part that is to be damaged."""
    files = [folder / name for name in PLACES[places]]
    for file in files:
        write(file, **options)
    return (files[0] if places == "file" else folder), files[-1]


DAMAGE = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "text": lambda content: b"x,y\n1,a\n",
    "end": lambda content: content[:-4],
    "footer": lambda content: content[:-300] + bytes(292) + content[-8:],
    "pages": lambda content: content[:4] + bytes(len(content) - 2000) + content[-1996:],
}


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_named(tmp_path, places, damage):
    path, part = written(tmp_path, places)
    part.write_bytes(DAMAGE[damage](part.read_bytes()))
    for job in (
        lambda: read(path, columns=COLUMNS),
        lambda: OPLS().fit(parquet_blocks(path, "y", features=["x0", "x1"])),
    ):
        with pytest.raises(DataError, match=f"{part.name}: .*; .* again"):
            job()


def test_text_that_is_no_text_is_damage(tmp_path):
    path, part = written(tmp_path, "file", compression="none", use_dictionary=False)
    part.write_bytes(part.read_bytes().replace(b"text 3", b"text \xff"))
    with pytest.raises(DataError, match=r"a.parquet: it cannot be read as a Parquet file \(.*; fetch or write"):
        read(path, columns=Columns(labels=("y",), text=("t",)))


REPLACED = {
    "other columns": lambda part: write(part, numbers=2),
    "fewer rows": lambda part: write(part, rows=100),
    "no label": lambda part: write(part, y=False),
    "other cells": lambda part: parquet.write_table(
        pa.table({name: ["a", "b"] for name in ("x0", "x3", "t", "y")}), part
    ),
    "no file": lambda part: part.unlink(),
    "a folder": lambda part: (part.unlink(), part.mkdir()),
}


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("how", REPLACED)
def test_a_part_that_is_replaced_while_a_table_is_read(tmp_path, places, how):
    path, part = written(tmp_path, places)
    table, rows, large = open_table(path), parquet_blocks(path, "y", features=["x0", "x3"]).checked(), None
    large = LargeTable(path, COLUMNS)
    assert len(list(rows)) == len(PLACES[places])
    REPLACED[how](part)
    for job in (
        lambda: list(table.blocks({"x0": "number", "x3": "number", "y": "number"}, 50)),
        lambda: list(rows),
        lambda: large.sample(50, seed=0),
        lambda: list(large.parts({"names": ["x0", "x3", "y"]}, 50)),
        lambda: large.pieces(50) and list(rows),
    ):
        with pytest.raises(ValueError, match=rf"{tmp_path}|Column 'x0' is of type string"):
            job()


def test_a_table_that_has_fewer_or_more_rows_than_labels(tmp_path):
    path, part = written(tmp_path, "file")
    large, source = LargeTable(path, COLUMNS), {"names": ["x0", "x3"]}
    assert sum(X.shape[0] for X, _ in large.parts(source, 50)) == 200
    for rows, words in ((100, "has 100 now"), (300, "has more than 200 now")):
        write(part, rows=rows)
        with pytest.raises(DataError, match=f"it had 200 rows when its labels were read, and {words}"):
            list(large.parts(source, 50))


@pytest.mark.parametrize("cut", [0, 60, 200, -9])
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_stored_arrays_that_end_early(tmp_path, kind, cut):
    file, X = tmp_path / f"X.{kind}", np.random.default_rng(0).normal(size=(40, 3))
    if kind == "npy":
        np.save(file, X)
    else:
        sparse.save_npz(file, sparse.csr_array(X))
    rows = getattr(RowBlocks, f"from_{kind}")(file)
    assert rows.stacked().shape == (40, 3)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(ValueError, match=rf"X.{kind} is damaged or was replaced \(.*\). Write it again"):
        rows.stacked()


def test_a_stored_array_that_is_gone(tmp_path):
    with pytest.raises(FileNotFoundError):
        RowBlocks.from_npy(tmp_path / "X.npy").stacked()
