"""Two worker processes of dask: the same bits as threads, also when one of them is killed in the middle."""

import os

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster

import strategies
from invariants.cases import assert_same_gram
from proxembed import OPLS, RowBlocks
from worker_tasks import rows_of_files

PARTS, ROWS = 8, 60  # as many parts as are merged at a time: nothing is merged before the last was read


@pytest.fixture
def files(tmp_path):
    X, Y = strategies.labelled_rows(PARTS * ROWS, 9, 4, 0)
    for part in range(PARTS):
        rows = slice(part * ROWS, (part + 1) * ROWS)
        np.save(tmp_path / f"X{part}.npy", X[rows])
        np.save(tmp_path / f"y{part}.npy", Y[rows])
    return X, Y, tmp_path


def pieces(folder, log: str, fatal: int | None = None) -> RowBlocks:
    """Paths are sent; the process that reads the part ``fatal`` first is killed."""
    if fatal is not None:
        (folder / f"fatal{fatal}").touch()
    names = (
        [folder / f"{name}{part}.npy" for name in "Xy"] + [folder / log, folder / f"fatal{part}"]
        for part in range(PARTS)
    )
    return RowBlocks.from_dask([delayed(rows_of_files)(*map(str, paths)) for paths in names])


def readings(folder, log: str) -> list[tuple[str, str]]:
    return [tuple(line.split()) for line in (folder / log).read_text().splitlines()]


@pytest.mark.default_configuration
@pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
def test_two_workers_of_which_one_is_killed(files):
    X, Y, folder = files
    expected = OPLS().fit(pieces(folder, "threads")).components_
    assert_same_gram(expected.T, OPLS().fit(X, Y).components_.T, 1e-10)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster):
        np.testing.assert_array_equal(OPLS().fit(pieces(folder, "alive")).components_, expected)
        np.testing.assert_array_equal(OPLS().fit(pieces(folder, "killed", fatal=5)).components_, expected)
        lazy = OPLS(n_components=2).fit(X, Y).transform(da.from_array(X, chunks=(100, 9)))
        assert_same_gram(lazy.compute(), OPLS(n_components=2).fit(X, Y).transform(X), 1e-10)
    alive, killed = readings(folder, "alive"), readings(folder, "killed")
    assert len(alive) == 2 * PARTS, "each part once for the sums, once for the ridge"
    assert str(os.getpid()) not in {pid for pid, _ in alive + killed}
    fatal = next(pid for pid, path in killed if path.endswith("X5.npy"))
    parts = [path for _, path in killed]
    again = {path for path in parts if parts.count(path) > 2}
    assert {os.path.basename(path) for path in again} >= {"X5.npy"}
    assert again <= {path for pid, path in killed if pid == fatal}, "the parts of the other worker are not read again"
