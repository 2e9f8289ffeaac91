"""Folders of Parquet files: one table, that of a single file with the same rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from proxembed.data import Columns, DataError, parquet_blocks, read, read_rows, row_parts, size_of
from proxembed.data.large_table import LargeTable
from proxembed.data.readers.table_file import open_table
from proxembed.workflow.record import file_hash
from runs import succeeded
from unit.cli.model_files import program, refused

N, CUTS = 90, [0, 17, 17, 60, 90]
rng = np.random.default_rng(3)
WHOLE = {
    "doc": [f"d{i}" for i in range(N)],
    "x": rng.normal(size=N),
    "kind": rng.choice(["red", "blue", "green"], N).tolist(),
    "vector": list(rng.normal(size=(N, 3))),
    "even": (np.arange(N) % 2).tolist(),
}
COLUMNS = Columns(labels=("even",), id="doc")
NUMBERS = Columns(labels=("even",), id="doc", drop=("kind",))


def written(folder, change=None):
    """The rows in four parts, the second without rows, beside files that are no parts; and in one file."""
    parts = folder / "parts"
    parts.mkdir()
    for number, (a, b) in enumerate(zip(CUTS, CUTS[1:], strict=False)):
        rows = pa.table(WHOLE).slice(a, b - a)
        pq.write_table(rows if change is None else change(number, rows), parts / f"part-{number}.parquet")
    (parts / "_SUCCESS").touch()
    (parts / ".part-0.parquet.crc").write_bytes(b"x")
    (parts / "_temporary.parquet").write_bytes(b"x")
    (parts / "backup").mkdir()
    pq.write_table(pa.table({"other": [1]}), parts / "backup" / "part-9.parquet")
    pq.write_table(pa.table(WHOLE), folder / "whole.parquet")
    return parts


@pytest.mark.parametrize("columns", [COLUMNS, NUMBERS])
def test_a_folder_is_the_table_of_its_files(tmp_path, columns):
    parts, file = written(tmp_path), tmp_path / "whole.parquet"
    found, whole = read(parts, columns=columns), read(file, columns=columns)
    assert found.ids == whole.ids == tuple(WHOLE["doc"]) and found.name == "parts"
    assert found.feature_names == whole.feature_names and found.source == whole.source
    assert (found.Y != whole.Y).nnz == 0
    for a, b in zip(columns_of(found.X), columns_of(whole.X), strict=True):
        np.testing.assert_array_equal(a, b)
    new, ids = read_rows(parts, whole.source)
    assert ids == whole.ids
    for a, b in zip(columns_of(new), columns_of(whole.X), strict=True):
        np.testing.assert_array_equal(a, b)


def columns_of(X):
    return [X] if isinstance(X, np.ndarray) else [X[name] for name in (column.name for column in X.columns)]


def test_parts_labels_and_a_sample_of_a_folder(tmp_path):
    parts, file = written(tmp_path), tmp_path / "whole.parquet"
    whole = read(file, columns=NUMBERS)
    pieces = list(row_parts(parts, whole.source, 20))
    assert [X.shape[0] for X, _ in pieces] == [17, 20, 20, 3, 20, 10]
    np.testing.assert_array_equal(np.vstack([X for X, _ in pieces]), whole.X)
    table, one = LargeTable(parts, NUMBERS), LargeTable(file, NUMBERS)
    assert (table.Y != one.Y).nnz == 0 and table.n == N
    drawn, same = table.sample(50, seed=1), one.sample(50, seed=1)
    assert drawn.ids == same.ids and len(drawn.ids) == 50 and drawn.name == "parts"
    np.testing.assert_array_equal(drawn.X, same.X)


def test_picked_rows_are_a_table_in_memory_that_knows_their_places(tmp_path):
    drawn = np.array([3, 16, 17, 89])
    for path in (written(tmp_path), tmp_path / "whole.parquet"):
        table, most = open_table(path).picked(drawn, 20), 2
        docs = [cell for block in table.blocks({"doc": "cells"}, most) for cell in block.cells("doc")[1]]
        assert docs == [f"d{row}" for row in drawn] and table.rows == 4
        assert [table.place(row).split()[1] for row in range(4)] in (["4", "17", "1", "30"], ["4", "17", "18", "90"])
    file = tmp_path / "t.csv"
    file.write_text('x;y\n1;a\n2;"b;c"\n007;d\n')
    table = open_table(file).picked(np.array([1, 2]), 1)
    (block,) = table.blocks({"x": "cells", "y": "cells"})
    assert [block.cells(name)[1] for name in "xy"] == [["2", "007"], ["b;c", "d"]] and table.path == file
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "t.csv", "whole.parquet"]


def test_blocks_of_python_are_of_the_same_files(tmp_path):
    blocks = parquet_blocks(written(tmp_path), "even", features=["x"])
    np.testing.assert_array_equal(blocks.stacked()[:, 0], WHOLE["x"])


def test_folders_name_columns(tmp_path):
    parts = tmp_path / "rows.parquet"
    for year, city, a, b in (
        (2023, "Aix", 0, 40),
        (2024, "New York", 40, 80),
        (2024, "__HIVE_DEFAULT_PARTITION__", 80, N),
    ):
        place = parts / f"year={year}" / f"city={city.replace(' ', '%20')}"
        place.mkdir(parents=True)
        pq.write_table(pa.table(WHOLE).slice(a, b - a), place / "part-0.parquet")
    data = read(parts, columns=Columns(labels=("city",), id="doc", keep=("x", "year")))
    assert data.label_names == ("Aix", "New York") and data.name == "rows"
    assert sorted(data.ids) == sorted(WHOLE["doc"]) and data.feature_names == ("x", "year")
    order = np.array([int(name[1:]) for name in data.ids])
    np.testing.assert_array_equal(data.X[:, 1], np.where(order < 40, 2023, 2024))
    np.testing.assert_array_equal(sparse.csr_array(data.Y).toarray()[:, 1], (order >= 40) & (order < 80))
    assert data.unknown.toarray().any(axis=1).tolist() == (order >= 80).tolist()


def test_types_that_differ_in_width_or_are_empty_are_one(tmp_path):
    def change(number, rows):
        place = rows.schema.get_field_index("x")
        if number == 0:
            return rows.set_column(place, "x", pa.nulls(len(rows)))
        if number == 2:
            return rows.set_column(place, "x", pa.array(np.arange(len(rows)), pa.int8())).select(
                rows.column_names[::-1]
            )
        return rows.set_column(place, "x", rows["x"].cast(pa.float32()))

    X = read(written(tmp_path, change), columns=COLUMNS).X
    expected = np.r_[np.full(17, np.nan), np.arange(43), np.float32(WHOLE["x"][60:])]
    np.testing.assert_array_equal(X["x"], expected)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.drop_columns(["x"]), "it has no column 'x', unlike part-0.parquet"),
        (lambda rows: rows.append_column("y", rows["x"]), "it has a further column 'y', unlike part-0.parquet"),
        (
            lambda rows: rows.set_column(rows.schema.get_field_index("x"), "x", rows["doc"]),
            "column 'x' is of type string, in part-0.parquet of type double",
        ),
    ],
)
def test_the_first_part_that_differs_is_named(tmp_path, change, words):
    parts = written(tmp_path, lambda number, rows: change(rows) if number >= 2 else rows)
    with pytest.raises(DataError) as caught:
        read(parts, columns=COLUMNS)
    remedy = "write all parts with the same columns, or take the file out of the folder."
    assert str(caught.value) == f"{parts / 'part-2.parquet'}: {words}; {remedy}"


def test_faults_name_the_file_and_its_row(tmp_path):
    parts = written(tmp_path)
    source = read(parts, columns=NUMBERS).source
    rows = pa.table(WHOLE).slice(60, 30).to_pydict()
    rows["x"][4] = float("nan")
    pq.write_table(pa.table(rows), parts / "part-3.parquet")
    with pytest.raises(DataError, match=r"parts: row 5 of part-3\.parquet: .*'x'"):
        read_rows(parts, source)
    (parts / "part-2.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"part-2\.parquet: it cannot be read as a Parquet file"):
        read(parts, columns=COLUMNS)


def test_the_size_counts_the_numbers_of_vectors(tmp_path):
    pq.write_table(pa.table({"v": list(rng.normal(size=(1000, 50)))}), tmp_path / "v.parquet", use_dictionary=False)
    size, rows = size_of(tmp_path / "v.parquet")
    assert rows == 1000 and 400_000 <= size < 450_000


def test_the_hash_is_of_names_and_contents(tmp_path):
    parts = written(tmp_path)
    first = file_hash(parts)
    (parts / "_SUCCESS").write_text("other")
    assert first == file_hash(parts) and first.startswith("sha256:")
    (parts / "part-0.parquet").rename(parts / "part-7.parquet")
    assert file_hash(parts) not in (first, None) and file_hash(parts / "backup" / "none") is None


def test_the_program_takes_a_folder_whole_and_by_parts(tmp_path):
    parts, model = written(tmp_path), tmp_path / "m.skops"
    words = ["--labels", "even", "--id", "doc", "--drop", "kind"]
    assert program("fit", parts, *words, "-o", model).exit_code == 0
    for name, more in (("whole", []), ("parts", ["--memory", "1kB"])):
        succeeded(program("transform", model, parts, "-o", tmp_path / f"{name}.parquet", *more))
    whole, found = (pq.read_table(tmp_path / f"{name}.parquet").to_pydict() for name in ("whole", "parts"))
    assert whole["id"] == found["id"] == WHOLE["doc"]
    np.testing.assert_allclose(found["z0"], whole["z0"], rtol=1e-12)
    refused(program("transform", model, parts, "-o", parts / "z.parquet"), "lies in the folder that is read")


def test_a_long_text_in_many_rows_is_held_once(tmp_path):
    text = "a long text " * 50_000
    table = pa.table({"t": [text, "short"] * 200, "x": np.arange(400.0) % 7, "y": ["u", "v"] * 200})
    pq.write_table(table, tmp_path / "t.parquet")
    (block,) = open_table(tmp_path / "t.parquet").blocks({"t": "cells"})
    assert block.column("t").nbytes < 2 * len(text), "not 200 copies of the text"
    data = read(tmp_path / "t.parquet", columns=Columns(labels=("y",), category=("t",)))
    assert data.X.shape == (400, 2) and data.X["t"][0] is data.X["t"][2] and data.X["t"][0] == text.strip()
