"""`transform` and `predict` of files that exceed --memory: part by part, with the same numbers, ids and order."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxembed.workflow import new_rows
from runs import succeeded
from unit.cli.model_files import fitted, new_csv, program, refused

N = 3000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a model, and the same new rows as CSV and as Parquet."""
    folder = tmp_path_factory.mktemp("made")
    fitted(folder, "-k", 2)
    new_csv(folder / "few.csv")
    header, *rows = (folder / "few.csv").read_text().splitlines()
    place = header.split(",").index("doc")
    lines = [rows[i % len(rows)].split(",") for i in range(N)]
    for i, cells in enumerate(lines):
        cells[place] = f"n{i}"
    (folder / "new.csv").write_text("\n".join([header, *map(",".join, lines)]) + "\n")
    columns = {name: [cell(cells[j]) for cells in lines] for j, name in enumerate(header.split(","))}
    pq.write_table(pa.table(columns), folder / "new.parquet", row_group_size=700)
    return folder


def cell(text):
    return float(text) if text.lstrip("-").replace(".", "").isdigit() else text


@pytest.fixture
def parts(monkeypatch):
    """The rows of each part that was read."""
    read, seen = new_rows.row_parts, []

    def counted(*given):
        for X, ids in read(*given):
            seen.append(X.shape[0])
            yield X, ids

    monkeypatch.setattr(new_rows, "row_parts", counted)
    return seen


def table_of(path):
    import pyarrow.csv

    return (pq.read_table(path) if path.suffix == ".parquet" else pyarrow.csv.read_csv(path)).to_pydict()


def assert_same_tables(folder, suffix):
    whole, found = (table_of(folder / f"{name}{suffix}") for name in ("whole", "parts"))
    assert list(found) == list(whole) and found["id"] == [f"n{i}" for i in range(N)]
    for name in list(whole)[1:]:
        np.testing.assert_allclose(found[name], whole[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("command", ["transform", "predict"])
def test_a_large_parquet_file_gives_what_one_in_memory_gives(made, tmp_path, parts, command):
    for name, more in (("whole", []), ("parts", ["--memory", "100KB"])):
        done = program(command, made / "model.skops", made / "new.parquet", "-o", tmp_path / f"{name}.parquet", *more)
        assert done.exit_code == 0, (done.output, done.exception)
    assert len(parts) > 2 and sum(parts) == N and max(parts) < N / 2
    assert_same_tables(tmp_path, ".parquet")


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_a_large_csv_file_is_read_by_blocks(made, tmp_path, parts, monkeypatch, suffix):
    from proxembed.data.readers import table_file

    monkeypatch.setattr(table_file, "BLOCK_BYTES", 20_000)
    model, new = made / "model.skops", made / "new.csv"
    assert program("transform", model, new, "-o", tmp_path / "whole.npz").exit_code == 0
    assert program("transform", model, new, "-o", tmp_path / f"z{suffix}", "--memory", "50 kB").exit_code == 0
    assert len(parts) > 2
    with np.load(tmp_path / "whole.npz") as whole:
        Z, ids = whole["Z"], whole["ids"].tolist()
    if suffix == ".npz":
        with np.load(tmp_path / "z.npz") as arrays:
            found, own = arrays["Z"], arrays["ids"].tolist()
    else:
        columns = table_of(tmp_path / "z.csv")
        found, own = np.column_stack([columns["z0"], columns["z1"]]), columns["id"]
    assert own == ids
    np.testing.assert_allclose(found, Z, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("command", ["transform", "predict"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_large_file_is_read_by_parts_though_it_fits(made, tmp_path, parts, monkeypatch, command, suffix):
    for name in ("whole", "parts"):
        out = tmp_path / f"{name}{suffix}"
        succeeded(program(command, made / "model.skops", made / "new.parquet", "-o", out))
        assert len(parts) == 0 or name == "parts"
        monkeypatch.setattr(new_rows, "WHOLE_BYTES", 100_000)
        monkeypatch.setattr(new_rows, "PART_BYTES", 200_000)
    assert len(parts) > 2 and sum(parts) == N
    assert_same_tables(tmp_path, suffix)


def test_a_fault_in_a_later_part_names_its_row_and_leaves_the_old_file(made, tmp_path):
    table = pq.read_table(made / "new.parquet").to_pydict()
    name = next(key for key in table if key != "doc")
    table[name] = [*table[name][:2500], float("nan"), *table[name][2501:]]
    pq.write_table(pa.table(table), tmp_path / "bad.parquet", row_group_size=700)
    (tmp_path / "z.csv").write_text("old")
    done = program(
        "transform", made / "model.skops", tmp_path / "bad.parquet", "-o", tmp_path / "z.csv", "--memory", "100KB"
    )
    assert done.exit_code == 2 and "row 2501" in done.output, done.output
    assert (tmp_path / "z.csv").read_text() == "old" and len(list(tmp_path.iterdir())) == 2


def test_memory_must_be_a_size(made, tmp_path):
    done = program("transform", made / "model.skops", made / "few.csv", "-o", tmp_path / "z.csv", "--memory", "much")
    refused(done, "--memory 'much' must be a number of bytes, such as 500MB or 2GB")
