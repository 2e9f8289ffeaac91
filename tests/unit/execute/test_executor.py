"""The executor: the same results on every backend, shared data sent once, pools that end."""

import os
import threading
from concurrent.futures import BrokenExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext

import numpy as np
import pytest
from joblib import parallel_config
from joblib.externals.loky.process_executor import ShutdownExecutorError

from designs import each_value
from proxembed.execute.executor import Executor, _pool, ended_quietly
from worker_tasks import count, mapped, nested, process, total, warned


@each_value
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
@pytest.mark.parametrize("ordered", [True, False])
def test_every_backend_gives_what_one_process_gives(backend, ordered):
    shared = np.arange(10.0)
    with parallel_config(backend=backend), Executor(2, shared, ordered=ordered) as executor:
        found = list(executor.map(total, range(5)))
        again = list(executor.map(total, [7]))
    assert sorted(found) == [45.0 + i for i in range(5)] and again == [52.0]
    assert not ordered or found == sorted(found)


def test_the_active_backend_does_the_work():
    with Executor(2, None) as executor:
        elsewhere = set(executor.map(process, range(4)))
    assert all(pid != os.getpid() and threads == "1" for pid, _, threads in elsewhere)
    with parallel_config(backend="threading"), Executor(2, None) as executor:
        assert {pid for pid, *_ in executor.map(process, range(4))} == {os.getpid()}


def test_a_worker_keeps_what_it_received_first():
    with Executor(2, {}) as executor:
        found = list(executor.map(count, range(6)))
        found += executor.map(count, range(2))
    by_process = {pid: [n for other, n in found if other == pid] for pid, _ in found}
    assert all(sorted(calls) == list(range(1, len(calls) + 1)) for calls in by_process.values())
    with Executor(2, {}) as executor:
        assert min(n for _, n in executor.map(count, range(2))) == 1, "another executor, another start"


def test_arrays_are_sent_by_memory_map_and_copied_on_writing():
    with Executor(2, np.full(5000, 3.0)) as executor:
        assert set(executor.map(mapped, range(3))) == {("memmap", True, 3.0)}


def test_workers_have_no_workers_of_their_own():
    with Executor(2, np.ones(2)) as executor:
        assert list(executor.map(nested, [1, 2])) == [(1, [3.0]), (1, [4.0])]


def test_warnings_of_workers_reach_the_caller():
    with Executor(2, "half") as executor, pytest.warns(UserWarning) as caught:
        assert list(executor.map(warned, [1, 2])) == [1, 2]
    assert [str(warning.message) for warning in caught] == ["half of 1", "half of 2"]


def broken_once(left, item):
    """Raises what a pool raises whose worker was killed, as often as the list has entries for the item."""
    if item in left:
        left.remove(item)
        raise BrokenProcessPool("A worker was killed: SIGKILL(-9)")
    return item


@pytest.mark.parametrize("ordered", [True, False])
def test_items_of_a_pool_that_has_ended_are_done_again(ordered):
    left = [1]
    with parallel_config(backend="threading"), Executor(2, left, ordered=ordered) as executor:
        found = list(executor.map(broken_once, range(6)))
        assert sorted(found) == [*range(6)] and found == (sorted(found) if ordered else found) and left == []
        left.append(4)
        assert sorted(executor.map(broken_once, range(20))) == [*range(20)] and left == [], "a new pool does the next"


def test_an_item_that_ends_its_pool_twice_is_told_or_raises_and_the_others_go_on():
    with parallel_config(backend="threading"), Executor(2, [1, 1], ordered=False) as executor:
        found = list(executor.map(broken_once, range(4), lambda item, reason: (item, reason)))
        assert sorted(map(str, found)) == sorted(map(str, [0, (1, "A worker was killed: SIGKILL(-9)"), 2, 3]))
        executor.shared += [1, 1]
        with pytest.raises(BrokenExecutor):
            list(executor.map(broken_once, range(3)))


def test_a_pool_that_ends_during_the_dispatch_leaves_no_item_undone(monkeypatch):
    """A worker that dies while items are still sent out ends the pool; the rest of the items run one by one."""
    pools = []

    def broken(calls):
        raise ShutdownExecutorError("cannot schedule new futures after shutdown")

    def pool(n_jobs, ordered):
        pools.append(n_jobs)
        return nullcontext(broken) if len(pools) == 1 else _pool(n_jobs, ordered)

    monkeypatch.setattr("proxembed.execute.executor._pool", pool)
    with parallel_config(backend="threading"), Executor(2, np.ones(2)) as executor:
        assert list(executor.map(total, [1, 2], died=lambda item, reason: reason)) == [3.0, 4.0]
    assert len(pools) == 3


def test_closing_the_results_gives_up_the_rest():
    with parallel_config(backend="threading"), Executor(2, np.ones(1)) as executor:
        results = executor.map(total, range(200))
        assert next(results) == 1.0
        results.close()
        assert list(executor.map(total, range(3))) == [1.0, 2.0, 3.0]
    done = []
    with Executor(1, np.ones(1)) as executor:
        results = executor.map(lambda shared, item: done.append(item), range(5))
        next(results)
        results.close()
    assert done == [0]


def test_other_failures_of_threads_are_reported_while_results_are_closed(monkeypatch):
    def fail():
        raise KeyError("of another thread")

    def results():
        try:
            yield 1
        finally:
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()

    reported = []
    monkeypatch.setattr(threading, "excepthook", reported.append)
    with ended_quietly(results()) as opened:
        next(opened)
    assert [failure.exc_type for failure in reported] == [KeyError]
