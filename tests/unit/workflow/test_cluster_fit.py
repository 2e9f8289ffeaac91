"""`proxembed fit --dask`: workers read their own pieces of Parquet files, and the fit is the one of this process."""

import csv
import json
import os
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster

from proxembed import FDA, OPLS
from proxembed.blocks.cluster import on_cluster
from proxembed.data import Columns
from proxembed.data.large_table import LargeTable, piece_parts
from proxembed.persist import load
from proxembed.workflow.large_fit import large_fit
from runs import succeeded
from unit.cli.model_files import program, refused

N, D, NAMES = 1200, 4, ("sea", "sky")
rng = np.random.default_rng(1)
X = rng.normal(size=(N, D)) * [1, 10, 100, 1000]
Y = (X[:, :2] / [1, 10] + rng.normal(size=(N, 2)) > 0.5).astype(int)
KINDS = rng.choice(["a", "b"], N)
CLASSES = np.where(Y[:, 0] == 1, "wet", "dry")
COLUMNS = Columns(labels=NAMES, id="row", drop=("kind", "class"))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Three files, with row groups of at most 150 rows."""
    folder = tmp_path_factory.mktemp("made") / "parts"
    folder.mkdir()
    columns = {"row": [f"r{i}" for i in range(N)], **{f"x{j}": X[:, j] for j in range(D)}, "kind": KINDS}
    table = pa.table({**columns, **dict(zip(NAMES, Y.T, strict=True)), "class": CLASSES})
    for number, (a, b) in enumerate([(0, 500), (500, 520), (520, N)]):
        pq.write_table(table.slice(a, b - a), folder / f"part-{number}.parquet", row_group_size=150)
    return folder


def test_pieces_are_row_groups_of_one_file(parts):
    table = LargeTable(parts, COLUMNS)
    source = table.sample(300, 0).source
    found = [(piece.rows, list(piece_parts(piece, source, 100))) for piece in table.pieces(310)]
    assert [rows for rows, _ in found] == [300, 200, 20, 300, 300, 80]
    assert all(rows == sum(part.shape[0] for part, _ in read) for rows, read in found)
    np.testing.assert_array_equal(np.vstack([part for _, read in found for part, _ in read]), X)
    assert [name for _, read in found for _, ids in read for name in ids] == [f"r{i}" for i in range(N)]
    piece = table.pieces(310)[4]
    assert piece.place(7) == "row 308 of part-2.parquet"


EACH_KIND = pytest.mark.parametrize(
    ("method", "columns"),
    [
        (OPLS(), COLUMNS),
        (OPLS(), Columns(labels=NAMES, id="row", drop=("class",))),
        (FDA(), Columns(labels=("class",), id="row", drop=(*NAMES, "kind"))),
    ],
    ids=["numbers", "categories", "classes"],
)


@contextmanager
def cluster_here():
    """The address of a cluster of one worker with two threads in this process."""
    place = {"processes": False, "dashboard_address": "127.0.0.1:0", "protocol": "tcp"}
    with LocalCluster(n_workers=1, threads_per_worker=2, **place) as cluster:
        yield cluster.scheduler_address


@pytest.mark.default_configuration
@EACH_KIND
def test_a_fit_on_a_cluster_is_that_of_this_process(parts, method, columns):
    with cluster_here() as address:
        fit_is_that_of_this_process(parts, method, columns, address)


def fit_is_that_of_this_process(parts, method, columns, address):
    here = large_fit(parts, columns, memory=40_000).fit(method)
    spread = large_fit(parts, columns, memory=40_000, spread=True)
    with on_cluster(address, 2):
        there = spread.fit(method)
    np.testing.assert_allclose(there["embedding"].eigenvalues_, here["embedding"].eigenvalues_, rtol=1e-9)
    new = spread.sample.X
    np.testing.assert_allclose(there.transform(new), here.transform(new), rtol=1e-7, atol=1e-9)
    assert np.array_equal(there.predict(new), here.predict(new))


def test_the_program_fits_on_a_cluster(parts, tmp_path):
    with cluster_here() as address:
        program_fits(parts, tmp_path, address)


def program_fits(parts, tmp_path, address):
    out = tmp_path / "m.skops"
    words = ["fit", parts, "--labels", "sea,sky", "--id", "row", "--drop", "kind,class", "-o", out]
    done = succeeded(program(*words, "--dask", address, "--json"))
    facts = json.loads(done.stdout)
    assert facts["rows"] == facts["sample"] == N and facts["scaled_by"] == "all"
    assert program("predict", out, parts, "-o", tmp_path / "y.csv").exit_code == 0
    with open(tmp_path / "y.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["id"] for row in rows] == [f"r{i}" for i in range(N)]
    np.testing.assert_allclose(load(out)["scaling"].state_.std, X.std(axis=0, ddof=1), rtol=1e-10)


def test_what_no_cluster_can_read_is_refused(parts, tmp_path):
    (tmp_path / "t.csv").write_text("x,sea\n1,0\n2,1\n")
    out = ["-o", tmp_path / "m.skops"]
    refused(program("fit", tmp_path / "t.csv", "--labels", "sea", "--dask", "local", *out), "write it as Parquet")
    np.savez(tmp_path / "t.npz", X=X, Y=Y)
    refused(program("fit", tmp_path / "t.npz", "--dask", "local", *out), "only tables are read in parts")
    refused(program("fit", "openml:emotions", "--dask", "local", *out), "--dask local reads Parquet files by parts")
    refused(
        program("fit", parts, "--labels", "sea", "--dask", "here", *out), "--dask here must be 'local' or the address"
    )
    assert set(os.listdir(tmp_path)) == {"t.csv", "t.npz"}
