"""Workers of the executor that are killed: their items are done again, and the next items get new workers."""

import os
from concurrent.futures import BrokenExecutor

import pytest

from proxembed.execute.executor import Executor
from worker_tasks import fatal, fatal_once

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")


@pytest.mark.parametrize("ordered", [True, False])
def test_items_of_a_pool_that_a_killed_worker_ends_are_done_again(tmp_path, ordered):
    marker = tmp_path / "kill"
    marker.touch()
    with Executor(2, str(marker), ordered=ordered) as executor:
        assert sorted(item for item, _ in executor.map(fatal_once, range(6))) == [*range(6)]
        assert not marker.exists()
        again = [*executor.map(fatal_once, range(20))]
    assert sorted(item for item, _ in again) == [*range(20)] and len({process for _, process in again}) <= 2


def test_an_item_that_ends_its_worker_twice_raises_without_a_substitute():
    with Executor(2, None) as executor, pytest.raises(BrokenExecutor):
        list(executor.map(fatal, range(3)))
