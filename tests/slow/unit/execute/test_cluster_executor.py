"""Clusters of dask with worker processes, of which some are killed, and whole searches on a cluster."""

import os

import dask
import numpy as np
import pytest
from distributed import KilledWorker

import proxembed
from proxembed.blocks.cluster import on_cluster
from proxembed.execute.executor import Executor
from unit.execute.test_cluster_executor import DATA, FAST, here
from worker_tasks import fatal, fatal_once

__all__ = ["here"]  # a fixture


def test_searches_and_comparisons_on_a_cluster_are_those_of_one_process(here):
    found = proxembed.compare(DATA, **FAST, dask=here.scheduler_address)
    assert found.verdict["goals"] == proxembed.compare(DATA, **FAST, n_jobs=1).verdict["goals"]
    few = {**FAST, "shuffles": 0, "max_trials": 2, "max_seconds": None}
    found, alone = (proxembed.search(DATA, **few, dask=place) for place in (here.scheduler_address, None))
    np.testing.assert_array_equal(found.embedding, alone.embedding)


@pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
@pytest.mark.parametrize("ordered", [True, False])
def test_a_killed_worker_costs_its_tasks_alone(tmp_path, ordered):
    """They are done again; one that kills its worker without others beside it has no result, and the others go on."""
    once = {"distributed.scheduler.allowed-failures": 0}  # dask gives a task up, also one that waited beside another
    with dask.config.set(once), on_cluster("local", 1 + ordered):
        with Executor(1, str(tmp_path / "marker"), ordered=ordered) as executor:
            (tmp_path / "marker").touch()
            found = list(executor.map(fatal_once, range(4)))
            assert sorted(item for item, _ in found) == [0, 1, 2, 3] and os.getpid() not in dict(found).values()
            assert not ordered or [item for item, _ in found] == [0, 1, 2, 3]
            assert not (tmp_path / "marker").exists()
            told = list(executor.map(fatal, range(3), lambda item, reason: (item, "died" if reason else "")))
            assert sorted(map(str, told)) == sorted(map(str, [0, (1, "died"), 2]))
            with pytest.raises(KilledWorker):
                list(executor.map(fatal, [1]))
