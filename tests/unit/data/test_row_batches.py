"""Blocks of Parquet files: columns as they were written, batch by batch."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxembed import OPLS
from proxembed.data import parquet_blocks

draw = np.random.default_rng(0)
X = draw.normal(size=(50, 3)).astype(np.float32)
V = draw.normal(size=(50, 4))
Y = (X[:, :2] > 0).astype(np.int8)
NAMES = [["red"] if a else ["blue", "red"] if b else [] for a, b in Y]


def write(path, rows=slice(None), **more):
    columns = {f"x{j}": X[rows, j] for j in range(3)} | {f"tag{k}": Y[rows, k] for k in range(2)}
    columns |= {name: values[rows] if isinstance(values, list) else values for name, values in more.items()}
    pq.write_table(pa.table(columns), path, row_group_size=20)
    return path


def read(blocks):
    parts = list(blocks)
    return np.vstack([part for part, _ in parts]), [y for _, y in parts]


@pytest.mark.parametrize("block_rows", [1, 7, 20, 1000])
def test_columns_of_numbers(tmp_path, block_rows):
    file = write(tmp_path / "a.parquet")
    for _ in range(2):
        rows, labels = read(parquet_blocks(file, ["tag0", "tag1"], block_rows=block_rows))
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(np.vstack(labels), Y)
    assert rows.dtype == np.float32 and labels[0].dtype == np.int8 and len(labels[0]) <= block_rows
    assert [len(y) for y in parquet_blocks(file, ["tag0"]).labels()] == [
        len(y) for _, y in parquet_blocks(file, ["tag0"])
    ]


def test_folders_and_lists_of_files(tmp_path):
    write(tmp_path / "b.parquet", slice(30, 50)), write(tmp_path / "a.parquet", slice(0, 30))
    for files in (tmp_path, [tmp_path / "a.parquet", tmp_path / "b.parquet"]):
        rows, labels = read(parquet_blocks(files, ["tag0", "tag1"], features=["x2", "x0"]))
        np.testing.assert_array_equal(rows, X[:, [2, 0]])
        assert sum(map(len, labels)) == 50


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.list_(pa.float64(), 4), pa.large_list(pa.float64())])
def test_columns_of_vectors(tmp_path, kind):
    file = write(tmp_path / "a.parquet", vector=pa.array(V.tolist(), type=kind))
    rows, _ = read(parquet_blocks(file, features=["x1", "vector"], block_rows=9))
    np.testing.assert_array_equal(rows, np.column_stack([X[:, 1], V]))
    assert rows.dtype == np.float64


def test_labels_of_every_form(tmp_path):
    file = write(
        tmp_path / "a.parquet",
        word=["ab"[k] if k < 2 else None for k in np.arange(50) % 3],
        number=pa.array([k if k < 2 else None for k in (np.arange(50) % 3).tolist()]),
        sets=NAMES,
        known=pa.array([None, *(Y[1:, 0] > 0).tolist()]),
    )
    features = ["x0", "x1"]
    assert sum((y for _, y in parquet_blocks(file, "word", features=features)), [])[:3] == ["a", "b", None]
    assert sum((y for _, y in parquet_blocks(file, "sets", features=features)), []) == NAMES
    number = np.concatenate([y for _, y in parquet_blocks(file, "number", features=features)])
    assert number[:2].tolist() == [0, 1] and np.isnan(number[2])
    cells = np.vstack([y for _, y in parquet_blocks(file, ["known", "tag1"], features=features)])
    assert np.isnan(cells[0, 0]) and cells[1:, 0].tolist() == Y[1:, 0].tolist()
    assert OPLS().fit(parquet_blocks(file, "sets", features=features)).classes_.tolist() == ["blue", "red"]


def test_a_fit_from_a_file_is_the_fit_of_its_rows(tmp_path):
    file = write(tmp_path / "a.parquet")
    whole = OPLS(ridge=0.1).fit(X, Y)
    found = OPLS(ridge=0.1).fit(parquet_blocks(file, ["tag0", "tag1"], block_rows=16))
    np.testing.assert_allclose(found.components_, whole.components_, rtol=1e-6, atol=1e-7)


def test_large_row_groups_warn(tmp_path, monkeypatch):
    monkeypatch.setattr("proxembed.data.row_batches.LARGE_GROUP", 100)
    with pytest.warns(UserWarning, match="smaller row groups"):
        parquet_blocks(write(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda folder: parquet_blocks(folder / "none.parquet"), "does not exist"),
        (lambda folder: parquet_blocks(folder / "empty"), "holds no .parquet file"),
        (lambda folder: parquet_blocks(folder / "a.parquet", "tag9"), "has no column 'tag9'; its columns are x0"),
        (lambda folder: parquet_blocks(folder / "a.parquet", block_rows=0), "block_rows=0 is not allowed"),
        (lambda folder: list(parquet_blocks(folder / "a.parquet")), "Column 'word' is of type string"),
        (lambda folder: list(parquet_blocks(folder / "a.parquet", features=["uneven"])), "vectors of 1 to 2 numbers"),
        (lambda folder: list(parquet_blocks(folder / "a.parquet", features=["holes"])), "25 empty cells"),
    ],
)
def test_bad_files(tmp_path, build, words):
    (tmp_path / "empty").mkdir()
    write(
        tmp_path / "a.parquet",
        word=["a"] * 50,
        uneven=[[1.0], [1.0, 2.0]] * 25,
        holes=[[1.0], None] * 25,
    )
    with pytest.raises(ValueError, match=words):
        build(tmp_path)
