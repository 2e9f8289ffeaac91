"""Tasks of the tests of the executor, importable in worker processes."""

import os
import signal
import threading

from proxembed.execute.executor import Executor


def total(shared, item):
    return float(shared.sum()) + item


def process(shared, item):
    return os.getpid(), threading.get_ident(), os.environ.get("OPENBLAS_NUM_THREADS")


def count(shared, item):
    shared["calls"] = shared.get("calls", 0) + 1
    return os.getpid(), shared["calls"]


def mapped(shared, item):
    return type(shared).__name__, shared.flags.writeable, float(shared[0])


def nested(shared, item):
    with Executor(2, shared) as executor:
        return executor.n_jobs, list(executor.map(total, [item]))


def fatal(shared, item):
    if item == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return item
