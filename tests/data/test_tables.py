"""Published data sets written as CSV and Parquet give the matrices of their archives."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from proxembed.data import Columns, read, read_rows


@pytest.fixture(scope="module", params=["emotions", "yeast"])
def archive(request, data_folder):
    return read(data_folder / f"{request.param}.npz")


def table_of(data, rows):
    features = {name: data.X[rows, j] for j, name in enumerate(data.feature_names)}
    Y = data.Y.toarray()[rows]
    labels = {f"label {name}": Y[:, j] for j, name in enumerate(data.label_names)}
    return pa.table({"row": [f"r{row}" for row in rows], **labels, **features})


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_gives_the_matrices_of_the_archive(archive, tmp_path, suffix):
    write = pa.csv.write_csv if suffix == ".csv" else pq.write_table
    for part, rows in {"train": archive.train_idx, "test": archive.test_idx}.items():
        write(table_of(archive, rows), tmp_path / f"{archive.name}-{part}{suffix}")
    train, test = (tmp_path / f"{archive.name}-{part}{suffix}" for part in ("train", "test"))
    data = read(train, test=test, columns=Columns(labels=("label *",), id="row"))
    np.testing.assert_array_equal(data.X, archive.X)
    np.testing.assert_array_equal(data.Y.toarray(), archive.Y.toarray())
    np.testing.assert_array_equal(data.train_idx, archive.train_idx)
    np.testing.assert_array_equal(data.test_idx, archive.test_idx)
    assert data.feature_names == archive.feature_names and data.name == archive.name
    assert data.label_names == tuple(f"label {name}" for name in archive.label_names)
    X, ids = read_rows(test, data.source)
    np.testing.assert_array_equal(X, archive.X[archive.test_idx])
    assert ids == tuple(f"r{row}" for row in archive.test_idx)


def test_joined_labels_give_the_same_indicator(archive, tmp_path):
    has = [np.flatnonzero(row) for row in archive.Y.toarray()]
    joined = [";".join(archive.label_names[j] for j in row) or ";" for row in has]
    np.save(tmp_path / "x.npy", archive.X)
    pa.csv.write_csv(pa.table({"labels": joined}), tmp_path / "y.csv")
    data = read(tmp_path / "x.npy", labels=tmp_path / "y.csv", columns=Columns(separator=";"))
    order = [data.label_names.index(name) for name in archive.label_names]
    np.testing.assert_array_equal(data.X, archive.X)
    np.testing.assert_array_equal(data.Y.toarray()[:, order], archive.Y.toarray())
