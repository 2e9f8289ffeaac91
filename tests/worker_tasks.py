"""Tasks of the tests of the executor, importable in worker processes."""

import os
import signal
import threading
import warnings
from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from proxembed import RowBlocks
from proxembed.execute.executor import Executor
from proxembed.study.study import Evaluator


def total(shared, item):
    return float(shared.sum()) + item


def warned(shared, item):
    warnings.warn(f"{shared} of {item}", stacklevel=2)
    return item


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


def rows_of_files(X, y, log, fatal):
    """Rows of two .npy files; each reading is logged, and the process that finds the file ``fatal`` ends itself."""

    def read():
        with open(log, "a") as file:
            file.write(f"{os.getpid()} {X}\n")
        if os.path.exists(fatal):
            os.remove(fatal)
            os.kill(os.getpid(), signal.SIGKILL)
        yield np.load(X), np.load(y)

    return RowBlocks(read)


def fatal_once(marker, item):
    """Ends its process where the file ``marker`` is there, which it removes."""
    if item == 1 and os.path.exists(marker):
        os.remove(marker)
        os.kill(os.getpid(), signal.SIGKILL)
    return item, os.getpid()


class NeedsFrame(TransformerMixin, BaseEstimator):
    """A transformer that takes a column by the name that the step before it gives."""

    def fit(self, X, y=None):
        self.first_ = X.columns[0]
        return self

    def transform(self, X):
        return X[[self.first_]].to_numpy()


class Deadly(Evaluator):
    """The score of a step is the step; the worker that takes step 3 of the configuration "fatal" ends itself."""

    def evaluate(self, config, step):
        if (config, step) == ("fatal", 3):
            os.kill(os.getpid(), signal.SIGKILL)
        return SimpleNamespace(score=step, failure=None)

    def lost(self, config, step, reason):
        return SimpleNamespace(score=-1, failure=reason)
