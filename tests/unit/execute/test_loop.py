"""The loop: its clock, its ledger, the order of its results, and work whose worker process ends."""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config

import proxembed
from clocks import set_clock
from proxembed.execute import clock
from proxembed.execute.ledger import Ledger
from proxembed.execute.loop import Evaluator, Loop, OneBatch, Strategy, Trial, Work
from proxembed.study.defc.objective import Objective
from proxembed.study.trials import Study
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


class Numbers(Evaluator):
    """The outcome of a step is the step, but for steps of ``killing``, which end their pool, and of ``stopping``."""

    def __init__(self, killing=(), stopping=()):
        self.killing, self.stopping, self.taken = killing, stopping, []

    def evaluate(self, config, step, factor=1):
        if step in self.killing:
            raise BrokenProcessPool("SIGKILL(-9)")
        if step in self.stopping:
            raise KeyboardInterrupt
        self.taken.append(step)
        return factor * step

    def key(self, config, step):
        return [config, step]


def all_of(*steps, **options):
    trial = Trial("a", "numbers")
    return trial, OneBatch([Work(trial, [step], options=options) for step in steps])


def test_finished_steps_come_from_the_ledger_and_ctrl_c_keeps_what_is_done(tmp_path):
    trial, batch = all_of(1, 2, 3, 4, factor=10)
    ended = Loop(Numbers(stopping=(3,)), ledger=Ledger(tmp_path / "one").begin({})).run(batch)
    assert ended.interrupted and trial.outcomes == {1: 10, 2: 20}
    again, numbers = all_of(0, 1, 2, 3, 4, factor=10), Numbers()
    loop = Loop(numbers, ledger=Ledger(tmp_path / "one").begin({})).run(again[1])
    assert not loop.interrupted and numbers.taken == [0, 3, 4]
    assert loop.outcomes == list(again[0].outcomes.values()) == [0, 10, 20, 30, 40], "in the order of the work"


def test_without_an_order_what_is_known_comes_first(tmp_path):
    Ledger(ledger := tmp_path / "one").begin({}).add(["a", 3], 3)
    trial, batch = all_of(1, 2, 3)
    shown = []
    with parallel_config(backend="threading"):
        options = {"n_jobs": 2, "ordered": False, "report": lambda loop, work, done: shown.append((*work.steps, done))}
        loop = Loop(Numbers(), ledger=Ledger(ledger).begin({}), **options).run(batch)
    assert loop.outcomes[0] == 3 and sorted(loop.outcomes) == [1, 2, 3] and trial.outcomes == {1: 1, 2: 2, 3: 3}
    assert shown[:2] == [(1, False), (3, True)] and sorted(shown[2:]) == [(1, True), (2, True)]


def test_a_step_that_cannot_be_lost_ends_the_loop():
    with parallel_config(backend="threading"), pytest.raises(BrokenProcessPool):
        Loop(Numbers(killing=(2,)), n_jobs=2).run(all_of(1, 2, 3)[1])


def test_late_work_is_given_up_when_nothing_is_owed(monkeypatch):
    now = set_clock(monkeypatch)

    def report(loop, work, done):
        now.forward(60 * done)

    trial = Trial("a", "numbers")
    batch = OneBatch([Work(trial, [step], owed=step < 3) for step in range(9)])
    loop = Loop(Numbers(), max_seconds=100, ordered=False, report=report).run(batch)
    assert loop.outcomes == [0, 1, 2] and loop.left == -80 and not loop.interrupted


KILLED = """
import os, signal, sys
from proxembed.execute.ledger import Ledger
from proxembed.execute.loop import Evaluator, Loop, OneBatch, Trial, Work

class Squares(Evaluator):
    def evaluate(self, config, step):
        if step == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        print(step, flush=True)
        return step**2

    def key(self, config, step):
        return [config, step]

trial = Trial("a", "squares")
loop = Loop(Squares(), ledger=Ledger(sys.argv[1]).begin({"seed": 0}))
loop.run(OneBatch([Work(trial, [step]) for step in range(9)]))
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a POSIX matter")
def test_what_a_killed_process_has_finished_is_not_done_again_by_the_next_ones(tmp_path):
    """The steps that are left give themselves here, not their squares."""
    command = [sys.executable, "-c", KILLED, str(tmp_path / "ledger")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL and done.stdout.splitlines() == ["0", "1", "2"], done.stderr
    with open(tmp_path / "ledger", "ab") as file:
        file.write(b'{"id": "torn')
    for numbers, taken in ((Numbers(stopping=(5,)), [3, 4]), (Numbers(), [5, 6, 7, 8])):
        loop = Loop(numbers, ledger=Ledger(tmp_path / "ledger").begin({"seed": 0})).run(all_of(*range(9))[1])
        assert numbers.taken == taken
    assert loop.outcomes == [0, 1, 4, 3, 4, 5, 6, 7, 8]
