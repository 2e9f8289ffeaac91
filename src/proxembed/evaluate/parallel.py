"""Who does the work: this process, one arm after the other, or worker processes that share the data by memory map."""

import multiprocessing
import signal
import uuid
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, parallel_config

from proxembed.splits.splits import Split

from .part import Part, prepare
from .scoring import Outcome, lost, run_arm

_prepared: dict[tuple[str, int], Part] = {}


class Finished(NamedTuple):
    """What one arm did on one split, by their numbers, with facts of the split."""

    split: int
    arm: int
    outcome: Outcome
    scaling: str
    sizes: dict
    rows: np.ndarray


def _finished(split: int, arm: int, outcome: Outcome, part: Part) -> Finished:
    return Finished(split, arm, outcome, part.scaling, part.sizes, part.rows)


def one_by_one(protocol, dataset, splits: list[Split], report: Callable[[str], None]) -> Iterator[Finished]:
    """Every arm on every split in this process."""
    bounded: set[int] = set()
    for i, split in enumerate(splits):
        part = prepare(dataset, split, protocol.seed)
        for j, arm in enumerate(protocol.arms):
            report(f"fold {split.name}: {arm.name}")
            outcome = run_arm(arm, part, protocol, j in bounded)
            if i == 0 and outcome.bounded:
                bounded.add(j)
            yield _finished(i, j, outcome, part)


def in_parallel(protocol, dataset, splits: list[Split], report: Callable[[str], None]) -> Iterator[Finished]:
    """Every arm on every split in worker processes.

    The first split goes first: it tells which arms are bounded below the largest size (they are not tried in vain
    again, just as in one process) and which take long (they start first on the other splits).
    """
    token, arms = uuid.uuid4().hex, range(len(protocol.arms))
    report("starting the workers")
    bounded, seconds = {}, {}
    with closing(_workers(protocol, dataset, splits, [(0, j, False) for j in arms], token)) as work:
        for found in work:
            bounded[found.arm], seconds[found.arm] = found.outcome.bounded, found.outcome.seconds
            yield found
            report(f"fold {splits[0].name}: {protocol.arms[found.arm].name} done")
    order = sorted(arms, key=lambda j: -seconds[j])
    tasks = [(i, j, bounded[j]) for i in range(1, len(splits)) for j in order]
    with closing(_workers(protocol, dataset, splits, tasks, token)) as work:
        for found in work:
            yield found
            report(f"fold {splits[found.split].name}: {protocol.arms[found.arm].name} done")


def _workers(protocol, dataset, splits: list[Split], tasks: list, token: str) -> Iterator[Finished]:
    """Run the tasks; those that were under way when a worker died (for want of memory, say) again, one at a time."""
    left = {task[:2]: task for task in tasks}
    try:
        calls = (_call(protocol, dataset, splits, task, token) for task in tasks)
        with ended_quietly(_pool(protocol.n_jobs)(calls)) as work:
            for found in work:
                del left[found.split, found.arm]
                yield found
    except BrokenProcessPool:
        for task in left.values():
            yield _alone(protocol, dataset, splits, task, token)


@contextmanager
def ended_quietly(work: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """Tasks that are under way are given up at the end of the block; that some were in vain is no news to anybody."""
    try:
        yield work
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning, module="joblib")
            work.close()


def _pool(n_jobs: int) -> Parallel:
    """Worker processes with one BLAS thread each; arrays reach them as copy-on-write memory maps."""
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return Parallel(n_jobs, return_as="generator_unordered", mmap_mode="c", batch_size=1)


def _call(protocol, dataset, splits: list[Split], task: tuple[int, int, bool], token: str):
    """A task for a worker, which gets no arm but its own."""
    own = replace(protocol, arms=(protocol.arms[task[1]],), contrasts=())
    return delayed(_task)(own, dataset, splits[task[0]], task, token)


def _alone(protocol, dataset, splits: list[Split], task: tuple[int, int, bool], token: str) -> Finished:
    """One task with the machine to itself; an arm that ends its process here too has failed."""
    try:
        with ended_quietly(_pool(2)([_call(protocol, dataset, splits, task, token)])) as work:
            return next(work)
    except BrokenProcessPool as error:
        part = prepare(dataset, splits[task[0]], protocol.seed)
        reason = f"its process was ended from outside ({' '.join(str(error).split())[:200]})"
        return _finished(*task[:2], lost(protocol.arms[task[1]], part, protocol, reason), part)


def _task(protocol, dataset, split: Split, task: tuple[int, int, bool], token: str) -> Finished:
    """One arm on one split, in a worker; Ctrl-C is for the first process, which then ends the workers."""
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    i, j, natural = task
    if (token, i) not in _prepared:
        _prepared.clear()
        _prepared[token, i] = prepare(dataset, split, protocol.seed)
    part = _prepared[token, i]
    with parallel_config(backend="sequential"):
        outcome = run_arm(protocol.arms[0], part, protocol, natural)
    return _finished(i, j, outcome, part)
