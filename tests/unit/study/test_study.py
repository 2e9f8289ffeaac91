"""The study: its clock, and work whose worker process ends."""

import os
import re
import time
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from joblib import parallel_config

import proxembed
from proxembed.defc.objective import Objective
from proxembed.execute import clock
from proxembed.execute.loop import Evaluator, Strategy, Trial, Work
from proxembed.study.study import Study
from proxembed.targets.labels import LabelMatrix


class Batches(Strategy):
    """Three trials of two batches each, all trials in one batch."""

    def batches(self, study):
        for config in ("first", "fatal", "last"):
            study.entered[config] = Trial(config, config)
        for steps in ([1, 2], [3, 4]):
            yield [Work(trial, steps, owed=True) for trial in study.entered.values()]


class Upwards(Strategy):
    """One trial, step by step."""

    def batches(self, study):
        trial = study.entered[0] = Trial(None, "numbers")
        yield from ([Work(trial, [number])] for number in range(9))


class Steps(Evaluator):
    """The score of a step is the step."""

    def evaluate(self, config, step):
        return type("Outcome", (), {"score": step})


class Deadly(Evaluator):
    """The score of a step is the step; step 3 of the configuration "fatal" ends its pool, as a killed worker does."""

    def evaluate(self, config, step):
        if (config, step) == ("fatal", 3):
            raise BrokenProcessPool("SIGKILL(-9)")
        return SimpleNamespace(score=step, failure=None)

    def lost(self, config, step, reason):
        return SimpleNamespace(score=-1, failure=reason)


def test_work_that_ends_its_worker_twice_is_a_failure_and_the_rest_is_kept():
    with parallel_config(backend="threading"):
        work_that_ends_its_worker_is_a_failure(Deadly())


def work_that_ends_its_worker_is_a_failure(evaluator):
    study = Study(evaluator, n_jobs=2).run(Batches())
    scores = {name: [found.score for found in trial.outcomes.values()] for name, trial in study.entered.items()}
    assert scores == {"first": [1, 2, 3, 4], "fatal": [1, 2, -1], "last": [1, 2, 3, 4]}
    assert list(study.entered["fatal"].outcomes.values())[-1].failure.startswith("its process was killed (")
    assert len(study.history) == 11 and not study.interrupted


def test_a_candidate_that_is_lost_is_the_worst():
    X = np.random.default_rng(0).normal(size=(30, 3))
    objective = Objective(X, LabelMatrix.of(np.arange(30) % 2), [(np.arange(20), np.arange(20, 30))])
    params = {"similarity_sigma": 0.1, "n_neighbors": 5, "lam": 1.0}
    lost = objective.lost((3, 5, 0, 5, 2, 2, 2, 0), params, "its process was killed")
    assert lost.score == -np.inf and lost.failed == "its process was killed" and lost.k is None
    assert type(lost).of(lost.plain()) == lost


def test_a_clock_that_is_set_ends_no_search(monkeypatch):
    times = count(0.0, 1e9)
    monkeypatch.setattr(time, "time", lambda: next(times))
    study = Study(Steps(), max_seconds=1000.0).run(Upwards())
    assert len(study.outcomes) == 9 and 0 < study.left <= 1000
    assert all(0 <= entry["seconds"] < 1000 for entry in study.history)


def test_the_seconds_end_a_search(monkeypatch):
    times = count(0.0, 100.0)
    monkeypatch.setattr(clock, "now", lambda: next(times))
    study = Study(Steps(), max_seconds=1000.0).run(Upwards())
    assert 0 < len(study.outcomes) < 9 and study.left < 0


def test_budgets_and_deadlines_use_the_clock_that_nobody_can_set():
    """Only a cluster, whose machines share no other clock, is told a deadline by the wall clock."""
    root = Path(proxembed.__file__).parent
    wall = re.compile(r"\btime\.time\b|from time import .*\btime\b")
    found = {str(path.relative_to(root)) for path in root.rglob("*.py") if wall.search(path.read_text("utf-8"))}
    assert found == {os.path.join("execute", "loop.py")}
