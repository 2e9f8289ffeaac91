"""Several processes: the same values as one, failures and deaths as losses, Ctrl-C, one BLAS thread a worker."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA

from proxembed import OPLS, LabelScores
from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.run import Protocol, run
from proxembed.execute import loop
from proxembed.execute.executor import Executor
from proxembed.splits.splits import Splitting

ARMS = (
    Arm("all features", None, rival=True),
    Arm("OPLS", OPLS()),
    Arm("PCA", PCA(), rival=True),
    Arm("scores", LabelScores()),
    Arm("broken", LabelScores(penalty=-1)),
)


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 1]).astype(np.uint8)
    return Dataset(X, Y, name="made")


@pytest.fixture
def several():
    return Protocol(ARMS, sizes=(2, 5), splitting=Splitting(n_folds=3), n_jobs=2)


def without_seconds(rows):
    return [{key: value for key, value in row.items() if key not in ("seconds", "value")} for row in rows]


def test_two_processes_find_what_one_finds_in_the_same_order(dataset, several):
    calls = []
    together = run(several, dataset, lambda *call: calls.append(call))
    alone = run(replace(several, n_jobs=1), dataset)
    assert without_seconds(together.rows) == without_seconds(alone.rows)
    values = [[row["value"] for row in results.rows] for results in (together, alone)]
    np.testing.assert_allclose(*values, rtol=1e-6, atol=1e-9)
    assert list(together.predictions) == list(alone.predictions)
    for key, S in together.predictions.items():
        np.testing.assert_allclose(S, alone.predictions[key], atol=1e-5)
    assert together.folds == alone.folds and together.notes == alone.notes
    assert {row["failure"] is None for row in together.rows if row["arm"] == "broken"} == {False}
    assert [call[0] for call in calls] == [*range(16), 15] and calls[-1] == (15, 15, "all scored")


class InThisProcess(Executor):
    """Runs the tasks here; that of an arm named "deadly" counts as one that ended its process."""

    def __init__(self, n_jobs, shared, *, ordered):
        super().__init__(1, shared, ordered=ordered)

    def map(self, task, items, died):
        for item in items:
            yield died(item, "SIGKILL(-9)") if item.config[0].name == "deadly" else task(self.shared, item)


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(loop, "Executor", InThisProcess)


def test_interruption_keeps_what_is_done(dataset, several, in_this_process):
    def stop(done, total, text):
        if done == 7 and not text.startswith("interrupted"):
            raise KeyboardInterrupt

    results = run(several, dataset, stop)
    assert results.interrupted and list(results.folds) == ["1"]
    assert len({(row["fold"], row["arm"]) for row in results.rows}) == 7
    assert not run(several, dataset).interrupted


def test_an_arm_that_ends_its_process_is_a_loss_and_the_others_go_on(dataset, several, in_this_process):
    deadly_is_a_loss(dataset, several, Arm("deadly", OPLS()))


def deadly_is_a_loss(dataset, several, deadly):
    arms = (*ARMS[:2], deadly)
    results = run(replace(several, arms=arms, sizes=(2,), splitting=Splitting(n_folds=2)), dataset)
    reasons = {row["failure"] for row in results.rows if row["arm"] == "deadly"}
    assert len(reasons) == 1 and "its process was killed (" in (reason := reasons.pop())
    assert {row["failure"] for row in results.rows if row["arm"] != "deadly"} == {None}
    assert list(results.folds) == ["1", "2"]
    return reason


def counter():
    """An estimator whose class workers get by value: they cannot import this file."""

    class Threads(TransformerMixin, BaseEstimator):
        """Embeds every row at the number of its BLAS threads and of the threads that joblib would take."""

        def __init__(self, n_components=None):
            self.n_components = n_components

        def fit(self, X, y=None):
            return self

        def transform(self, X):
            from joblib import effective_n_jobs
            from threadpoolctl import threadpool_info

            used = {pool["num_threads"] for pool in threadpool_info()} | {effective_n_jobs(-1)}
            if used != {1}:
                raise RuntimeError(f"{used} threads")
            return np.asarray(X)[:, :2]

    return Threads()


def test_a_worker_has_one_thread(dataset, several):
    results = run(replace(several, arms=(Arm("threads", counter()),), sizes=(2,)), dataset)
    assert {row["failure"] for row in results.rows} == {None}


def test_no_thread_is_left_waiting(dataset, several):
    before = threading.active_count()
    run(several, dataset)
    run(several, dataset)
    assert threading.active_count() <= before + 4
