"""The executor: one task on many items, in this process, on the workers of joblib's active backend, or on a cluster.

Worker processes (loky) are the default; ``joblib.parallel_config(backend=...)`` around the call chooses threads or any
other backend, and its "dask" or ``blocks.cluster.on_cluster`` a cluster of dask. Data that all items share reach a
worker once: arrays above 10 kB by copy-on-write memory map, on a cluster from the scheduler.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
from functools import cache, partial
from multiprocessing import resource_tracker
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.process_executor import ShutdownExecutorError
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config

from proxembed.blocks.cluster import ClusterTasks, active_client, cores, leave_interruptions

Progress = Callable[[int, int, str], None]
Task = Callable[[Any, Any], Any]
Warned = tuple[str, type[Warning]]
PARENT_SECONDS = 1.0  # between two looks of a worker whether its parent is there
MAPPED = 10_000  # bytes of an array from which on it is sent once, by memory map
ENDED = BrokenProcessPool, ShutdownExecutorError  # a worker was ended; the second where items were still dispatched
_received: dict[str, Any] = {}
OWN: dict[str, Any] = {"transform_output": "default", "enable_metadata_routing": False}
_callers: ContextVar[dict[str, Any] | None] = ContextVar("callers", default=None)


def silent(done: int, total: int, text: str) -> None:
    """The progress function that shows nothing."""


def workers(n_jobs: int | None) -> int:
    """How many tasks run at a time: as joblib counts ``n_jobs``, or on a cluster the cores of all its workers."""
    client = _cluster()
    return effective_n_jobs(n_jobs) if client is None else cores(client)


def in_this_process(n_jobs: int | None) -> bool:
    """Whether tasks run in this process, one after another."""
    return _cluster() is None and effective_n_jobs(n_jobs) == 1


def _cluster() -> Any:
    """The client of the cluster that is active, by ``on_cluster`` or as joblib's backend; None for none."""
    backend, _ = get_active_backend()
    return active_client() or (backend.client if type(backend).__name__ == "DaskDistributedBackend" else None)


def killed(reason: str) -> str:
    """Why an item whose worker was ended has failed."""
    return f"its process was killed ({reason})"


class Executor:
    """Runs tasks on items, with data that all of them share."""

    def __init__(self, n_jobs: int | None = 1, shared: Any = None, *, ordered: bool = True):
        self.n_jobs, self.shared, self.ordered = workers(n_jobs), shared, ordered
        self._token, self._stack = uuid.uuid4().hex, ExitStack()
        self._pool: Any = None
        self._client = _cluster()
        self._tasks: ClusterTasks | None = None

    @property
    def remote(self) -> bool:
        """Whether the workers are those of a cluster, which may not see the files of this machine."""
        return self._client is not None

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.__exit__(*failure)
        self._pool = self._tasks = None

    def map(
        self, task: Task, items: Iterable[Any], died: Callable[[Any, str], Any] | None = None
    ) -> Generator[Any, None, None]:
        """The results of ``task(shared, item)``; closing the iterator gives up what is under way."""
        task = carried(task)
        if self.remote:
            return self._on_cluster(task, items, died)
        if self.n_jobs == 1:
            return (task(self.shared, item) for item in items)
        return self._on_workers(task, items, died)

    def _on_cluster(
        self, task: Task, items: Iterable[Any], died: Callable[[Any, str], Any] | None
    ) -> Generator[Any, None, None]:
        if self._tasks is None:
            self._tasks = ClusterTasks(self._client, self.shared)
        run = self._tasks.run(partial(_alone_in_worker, task), dict(enumerate(items)), self.ordered, died)
        with closing(run) as results:
            for _, result in results:
                yield result

    def _on_workers(
        self, task: Task, items: Iterable[Any], died: Callable[[Any, str], Any] | None
    ) -> Generator[Any, None, None]:
        left = dict(enumerate(items))
        if self._pool is None:
            self._pool = self._stack.enter_context(_pool(self.n_jobs, self.ordered))
        try:
            with ended_quietly(iter(self._pool(self._calls(task, left)))) as results:
                for number, result, caught in results:
                    del left[number]
                    _warn_again(caught)
                    yield result
        except GeneratorExit:  # joblib's pool keeps items that it has not dispatched, and would run them later
            self._stack.close()
            self._pool = None
            raise
        except ENDED:
            self._stack.close()  # the next items get new workers
            self._pool = None
            for number, item in left.items():
                yield self._alone(task, number, item, died)

    def _calls(self, task: Task, items: dict[int, Any]) -> list[Any]:
        return [delayed(_call)(self._token, self.shared, task, number, item) for number, item in items.items()]

    def _alone(self, task: Task, number: int, item: Any, died: Callable[[Any, str], Any] | None) -> Any:
        """One item with the machine to itself."""
        try:
            with ended_quietly(iter(_pool(2, True)(self._calls(task, {number: item})))) as results:
                _, result, caught = next(results)
                _warn_again(caught)
                return result
        except ENDED as error:
            if died is None:
                raise
            return died(item, " ".join(str(error).split())[:200])


@contextmanager
def ended_quietly(work: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """Tasks that are under way are given up at the end of the block, without a warning about them."""
    try:
        yield work
    finally:
        if hasattr(work, "close"):
            with warnings.catch_warnings(), _cancelled_items_ignored():
                warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning, module="joblib")
                work.close()


@contextmanager
def _cancelled_items_ignored() -> Iterator[None]:
    """No traceback from loky's manager thread, which looks up an item that was cancelled just after its dispatch."""
    report = threading.excepthook

    def report_others(failure: threading.ExceptHookArgs) -> None:
        if failure.exc_type is not KeyError or type(failure.thread).__name__ != "_ExecutorManagerThread":
            report(failure)

    threading.excepthook = report_others
    try:
        yield
    finally:
        threading.excepthook = report


def _pool(n_jobs: int, ordered: bool) -> Parallel:
    """Workers of the active backend, processes with one BLAS thread each."""
    backend, _ = get_active_backend()
    options: dict[str, Any] = {"mmap_mode": "c", "max_nbytes": MAPPED, "batch_size": 1}
    if backend.supports_return_generator:
        options["return_as"] = "generator" if ordered else "generator_unordered"
    if type(backend).__name__ != "LokyBackend":
        return Parallel(n_jobs, **options)
    _start_trackers()
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return Parallel(n_jobs, **options)


def _start_trackers() -> None:
    """Start the processes that clean up after workers, such that a hang-up of the terminal does not end them first."""
    if not hasattr(signal, "pthread_sigmask"):
        return
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        for tracker in (resource_tracker, loky_tracker):
            tracker.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _call(token: str, shared: Any, task: Task, number: int, item: Any) -> tuple[int, Any, list[Warned]]:
    """A task in a worker without workers of its own: number, result, and the warnings where the worker is a process."""
    if multiprocessing.parent_process() is None:
        return number, _alone_in_worker(task, shared, item), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = _alone_in_worker(task, _first_received(token, shared), item)
    return number, result, [(str(warning.message), warning.category) for warning in caught]


def _first_received(token: str, shared: Any) -> Any:
    """What a worker process received first."""
    leave_interruptions()
    _end_with_parent()
    if token not in _received:
        _received.clear()
        _received[token] = shared
    return _received[token]


@cache
def _end_with_parent() -> None:
    """From now on, end this worker process soon after the process that began it, which else leaves it behind."""

    def watch(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_SECONDS)
        os._exit(1)

    if os.name == "posix":  # elsewhere the number of a parent that has ended stays
        threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()


def _warn_again(caught: list[Warned]) -> None:
    """Issue the warnings of a worker process here, where they are collected."""
    for text, category in caught:
        warnings.warn(text, category, stacklevel=3)


def _alone_in_worker(task: Task, shared: Any, item: Any) -> Any:
    with parallel_config(backend="sequential"):
        return task(shared, item)


@contextmanager
def own_configuration(*, keeps_routing: bool = False) -> Iterator[None]:
    """Run a block, or a decorated function, with arrays as the output of transformers, without metadata routing."""
    found = get_config()
    theirs, own = {name: found[name] for name in OWN}, dict(OWN)
    if keeps_routing:
        own["enable_metadata_routing"] = theirs["enable_metadata_routing"]
    outer = _callers.get()
    token = _callers.set(theirs if outer is None else outer)
    try:
        with config_context(**own):
            yield
    finally:
        _callers.reset(token)


@contextmanager
def callers_configuration() -> Iterator[None]:
    """Run a block under the configuration of the caller: for the calls of estimators that a caller has passed."""
    theirs = _callers.get()
    if theirs is None:
        yield
        return
    token = _callers.set(None)
    try:
        with config_context(**theirs):
            yield
    finally:
        _callers.reset(token)


def carried(task: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A task that runs under the configurations in force here, also in a worker, which starts with the default one."""
    return partial(_under, get_config(), _callers.get(), task)


def _under(
    configuration: dict[str, Any], theirs: dict[str, Any] | None, task: Callable[[Any, Any], Any], *args: Any
) -> Any:
    token = _callers.set(theirs)
    try:
        with config_context(**configuration):
            return task(*args)
    finally:
        _callers.reset(token)
