"""The cluster of dask on which the executor runs its tasks: one that is there, or workers of this machine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

LOCAL = "local"
CONNECT = 10  # seconds in which a scheduler must answer and a worker be there
LARGE = {"distributed.admin.large-graph-warning-threshold": "1TB"}  # data that all tasks share go to the scheduler once
_client: ContextVar[Any] = ContextVar("client", default=None)


def active_client() -> Any:
    """The client of the ``on_cluster`` block around; None outside."""
    return _client.get()


@contextmanager
def on_cluster(address: str | None, n_workers: int = 1) -> Iterator[None]:
    """Run the executor's tasks on a cluster for the time of the block."""
    if address is None:
        yield
        return
    from distributed import Client, LocalCluster

    options = {
        "n_workers": n_workers,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": "ERROR",
    }
    cluster = LocalCluster(**options, preload=[__name__]) if address == LOCAL else nullcontext(address)
    with cluster as place, _connected(Client, place) as client:
        earlier = _client.set(client)
        try:
            yield
        finally:
            _client.reset(earlier)


def dask_setup(worker: Any) -> None:
    """What a worker of this machine does first."""
    leave_interruptions()


def leave_interruptions() -> None:
    """Ignore Ctrl-C and hang-ups in a worker: they are for the process that began it, which then ends its workers."""
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGHUP"):  # Windows has no hang-ups
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)


def _connected(client: type, place: Any) -> Any:
    try:
        found = client(place, timeout=CONNECT, set_as_default=False)
    except OSError as error:
        raise ValueError(
            f"No dask scheduler answers at {place} ({error}). Start one with `dask scheduler`, and workers with "
            "`dask worker ADDRESS`."
        ) from error
    try:
        found.wait_for_workers(1, timeout=CONNECT)
    except TimeoutError as error:
        found.close()
        raise ValueError(
            f"The dask scheduler at {place} has no workers. Start some with `dask worker ADDRESS`."
        ) from error
    return found


def cores(client: Any) -> int:
    """How many tasks the workers of a client run at a time."""
    return sum(client.ncores().values())


class SharedValue:
    """A value that tasks share: the scheduler holds it, so that no worker's death loses it."""

    def __init__(self, value: Any):
        self.value, self._lock = value, threading.Lock()
        self._own: dict[int, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedValue, (self.value,)

    def own(self) -> Any:
        """The value for this thread: a copy for all threads of a process but the first."""
        from distributed.protocol.pickle import dumps, loads

        with self._lock:
            if threading.get_ident() not in self._own:
                self._own[threading.get_ident()] = loads(dumps(self.value)) if self._own else self.value
            return self._own[threading.get_ident()]


class ClusterTasks:
    """Tasks of a client's cluster with a value that they share."""

    def __init__(self, client: Any, shared: Any):
        self.client = client
        self._shared = self._submit(_itself, SharedValue(shared))

    def run(
        self,
        call: Callable[..., Any],
        items: Mapping[int, Any],
        ordered: bool,
        died: Callable[[Any, str], Any] | None = None,
    ) -> Generator[tuple[int, Any]]:
        """(number, call(shared, item)) for each item, as they are finished or in their order."""
        from distributed import KilledWorker, as_completed

        tasks = {number: _Task(call, item) for number, item in items.items()}
        futures = {self._submit(_run, self._shared, task): number for number, task in tasks.items()}
        suspected = []
        try:
            for future in list(futures) if ordered else as_completed(list(futures), loop=self.client.loop):
                number = futures[future]
                try:
                    result = future.result()
                except KilledWorker:
                    if not ordered:
                        suspected.append(number)
                        continue
                    result = self._alone(tasks[number], list(futures), died)
                del futures[future]
                yield number, result
            for number in suspected:
                yield number, self._alone(tasks[number], [], died)
        finally:
            self.client.cancel(list(futures))

    def _alone(self, task: _Task, others: list[Any], died: Callable[[Any, str], Any] | None) -> Any:
        """The result of a task that begins when the others have ended."""
        from distributed import KilledWorker, as_completed

        list(as_completed(others, loop=self.client.loop))
        future = self._submit(_run, self._shared, task)
        try:
            return future.result()
        except KilledWorker as error:
            if died is None:
                raise
            return died(task.item, " ".join(str(error).split())[:200])
        finally:
            self.client.cancel([future])

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        import dask

        with dask.config.set(LARGE):
            return self.client.submit(function, *arguments, pure=False)


class _Task:
    """A call with its item, in which dask looks for nothing of its own."""

    def __init__(self, call: Callable[..., Any], item: Any):
        self.call, self.item = call, item


def _itself(value: Any) -> Any:
    return value


def _run(shared: SharedValue, task: _Task) -> Any:
    return task.call(shared.own(), task.item)
