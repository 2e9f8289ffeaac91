"""Workers of the executor that are killed: their items are done again, and the next items get new workers; results
that are closed just after a dispatch."""

import os
import threading
from concurrent.futures import BrokenExecutor

import numpy as np
import pytest
from joblib.externals.loky.process_executor import _ExecutorFlags, _ExecutorManagerThread

from proxembed.execute.executor import Executor
from worker_tasks import fatal, fatal_once, total

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
DEADLINE = 300  # seconds after which a wait has failed


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


def test_an_item_whose_worker_dies_is_told_and_the_others_go_on():
    with Executor(2, None, ordered=False) as executor:
        found = list(executor.map(fatal, range(2), lambda item, reason: (item, "died" if reason else "")))
    assert sorted(map(str, found)) == sorted(map(str, [0, (1, "died")]))


def test_closing_just_after_a_dispatch_leaves_no_traceback_and_working_workers(monkeypatch):
    """The next item is dispatched when a result comes in; here the results are closed before a worker receives it."""
    receive, shut_down, reported = _ExecutorManagerThread.process_result_item, _ExecutorFlags.flag_as_shutting_down, []
    closed = threading.Event()

    def receive_and_wait(thread, item):
        receive(thread, item)
        closed.wait(DEADLINE)

    def close(flags, *given, **named):
        shut_down(flags, *given, **named)
        closed.set()

    monkeypatch.setattr(threading, "excepthook", reported.append)
    with Executor(2, np.ones(1), ordered=False) as executor:
        monkeypatch.setattr(_ExecutorManagerThread, "process_result_item", receive_and_wait)
        monkeypatch.setattr(_ExecutorFlags, "flag_as_shutting_down", close)
        results = executor.map(total, range(200))
        next(results)
        results.close()
        monkeypatch.undo()
        assert sorted(executor.map(total, range(3))) == [1.0, 2.0, 3.0]
    assert reported == []
