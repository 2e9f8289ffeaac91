"""Tasks of the tests of the executor, importable in worker processes."""

import os
import signal
import threading
import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from proxembed.execute.executor import Executor


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


def held(shared, item):
    """Tells its process in the named pipe ``shared``, which it keeps open, and never ends."""
    with open(shared, "w") as told:
        print(os.getpid(), file=told, flush=True)
        threading.Event().wait()


def rows_of_files(X, y, log, fatal):
    """Rows of two .npy files; each reading is logged, and the process that finds the file ``fatal`` ends itself."""

    from proxembed import RowBlocks

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
