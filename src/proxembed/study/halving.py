"""Successive halving: many configurations on few rows and one fold, the best third of them on more, under a clock."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from .candidates import Candidate, settings, suited
from .trials import Outcome, Part, Trial, first_rows, run_trial, trial

KEEP = 3
WIDTH = 9
LEAST_ROWS = 400
STEPS_BELOW = 2
FAVOURITES = 3
TRIES = 50
UNBOUNDED = 10**9
GROWTH = 2.0
SLACK = 1.25

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Task:
    """What is searched and under which budget.

    ``parts`` are the folds, ``full`` the rows of the last fit; ``seconds`` and ``max_trials`` None mean no bound.
    """

    parts: tuple[Part, ...]
    full: int
    sizes: tuple[int, ...]
    measure: str | Callable
    seconds: float | None = None
    max_trials: int | None = None
    seed: int = 0
    n_jobs: int | None = 1
    progress: Progress = lambda done, total, text: None

    @property
    def rungs(self) -> tuple[tuple[int, int], ...]:
        """Steps (training rows, folds): a ninth and a third of the rows where they are many, all rows, all folds.

        All rows are those of the smallest fold; a fold with some more is used whole.

        Examples
        --------
        >>> import numpy as np
        >>> from proxembed.study.halving import Task
        >>> from proxembed.study.trials import Part
        >>> part = Part(np.empty((1500, 2)), None, None, None)
        >>> Task((part, part), 3000, (2,), "macro average precision").rungs
        ((500, 1), (1500, 1), (1500, 2))
        """
        rows = min(part.X.shape[0] for part in self.parts)
        below = [rows // KEEP**step for step in range(STEPS_BELOW, 0, -1) if rows // KEEP**step >= LEAST_ROWS]
        return (*((m, 1) for m in below), (rows, 1), (rows, len(self.parts)))


@dataclass
class Study:
    """A search under way: its trials, what they cost, and the best of them."""

    task: Task
    trials: list[Trial] = field(default_factory=list)
    started: float = field(default_factory=lambda: time.perf_counter())
    interrupted: bool = False
    bounded: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rungs = self.task.rungs
        self.rows = self.rungs[-1][0]
        self.short = [
            {rows: part if rows == self.rows else first_rows(part, rows) for rows, _ in self.rungs}
            for part in self.task.parts
        ]

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return math.inf if self.task.seconds is None else self.task.seconds - self.spent

    def complete(self) -> list[Trial]:
        """Trials that were scored on all rows of all folds."""
        return [t for t in self.trials if not t.failure and len(t.at(self.rows)) == len(self.task.parts)]

    def best(self) -> Trial | None:
        """The complete trial of the best score, of equal ones the earliest; else the furthest one that has a score."""
        complete = self.complete()
        if complete:
            return max(complete, key=lambda t: t.best(self.rows)[0])
        return max((t for t in self.trials if t.outcomes and not t.failure), key=Trial.standing, default=None)

    @property
    def perfect(self) -> bool:
        """Whether a complete trial has the largest score that a measure of ours can have."""
        best = self.best()
        return isinstance(self.task.measure, str) and best in self.complete() and best.best(self.rows)[0] >= 1.0

    def cost(self, t: Trial, rows: int) -> float:
        """Seconds that a fit of this trial on so many rows should take, from what it, or others, took before."""
        known = {m: max(o.seconds for o in t.at(m)) for m, _ in sorted(t.outcomes)}
        if not known:
            same = [o.seconds for other in self.trials if other.title == t.title for o in other.at(rows)]
            any_method = [o.seconds for other in self.trials for o in other.at(rows)]
            return max(same) if same else median(any_method or [0.0])
        if rows in known:
            return known[rows]
        *earlier, last = sorted(known)
        power = GROWTH
        if earlier and known[earlier[-1]] > 0:
            power = math.log(known[last] / known[earlier[-1]]) / math.log(last / earlier[-1])
        return known[last] * (rows / last) ** min(max(power, 1.0), 3.0)

    def reserve(self, t: Trial | None) -> float:
        """Seconds to keep for the last fit, on all rows."""
        return 0.0 if t is None else SLACK * self.cost(t, self.task.full)

    def affordable(self, t: Trial, rung: tuple[int, int], seconds: float | None = None) -> bool:
        """Whether the rung fits into what is left, the last fit included; on all rows, that of this trial too.

        ``seconds`` may say what is left.
        """
        rows, folds = rung
        left = self.left if seconds is None else seconds
        if left == math.inf:
            return True
        ahead = self.cost(t, rows) * sum((rows, fold) not in t.outcomes for fold in range(folds))
        last = self.reserve(self.best())
        return left >= ahead + (max(last, self.reserve(t)) if rows == self.rows else last)

    def owed(self, t: Trial, rung: tuple[int, int]) -> bool:
        """Whether one of the first candidates goes on though the clock is against it: it may take one budget more."""
        return bool(t.outcomes) and self.affordable(t, rung, self.task.seconds)


def add(study: Study, estimator: Any) -> Trial | None:
    """A new trial of the study, or None where the same configuration was tried already."""
    fresh = trial(suited(estimator, study.task.full, study.task.seed))
    key = json.dumps([fresh.title, settings(estimator)], sort_keys=True, default=repr)
    if key in study.known:
        return None
    study.known.add(key)
    study.trials.append(fresh)
    return fresh


def run_rung(study: Study, trials: Iterable[Trial], rung: tuple[int, int], forced: bool = False) -> int:
    """Run what is missing of the trials at one rung, fold by fold, as far as the clock allows; how many fits ran."""
    task, (rows, folds) = study.task, rung
    waiting = [(t, fold) for t in trials for fold in range(folds) if (rows, fold) not in t.outcomes]
    workers, ran = effective_n_jobs(task.n_jobs), 0
    while waiting:
        batch, waiting = waiting[:workers], waiting[workers:]
        batch = [(t, fold) for t, fold in batch if not t.failure and (forced or study.affordable(t, rung))]
        if not batch:
            continue
        _tell(study, batch[0][0].title)
        for (t, fold), outcome in zip(batch, _outcomes(study, batch, rows, forced), strict=True):
            t.outcomes[rows, fold] = outcome
            if outcome.bounded and not outcome.failure:
                study.bounded.add(t.title)
            ran += 1
    return ran


def _tell(study: Study, title: str) -> None:
    """Report seconds of the budget, or trials where only their number is bounded."""
    task = study.task
    done, total = len(study.trials), task.max_trials or 0
    if task.seconds is not None:
        done, total = min(int(study.spent), int(task.seconds)), int(task.seconds)
    task.progress(done, total, f"search, {len(study.trials)} configurations: {title}")


def _outcomes(study: Study, batch: list[tuple[Trial, int]], rows: int, forced: bool) -> list[Outcome]:
    task, limit = study.task, None
    if task.seconds is not None and not forced:
        limit = study.left - study.reserve(study.best())
    jobs = [
        (t.estimator, study.short[fold][rows], task.sizes, task.measure, t.title in study.bounded, limit)
        for t, fold in batch
    ]
    if len(jobs) == 1:
        return [run_trial(*jobs[0])]
    return Parallel(n_jobs=task.n_jobs)(delayed(run_trial)(*job) for job in jobs)


def race(study: Study, trials: list[Trial]) -> int:
    """Take trials up the rungs, the best third at each; how many fits ran."""
    ran = 0
    for number, rung in enumerate(study.rungs):
        ran += run_rung(study, trials, rung)
        rows = rung[0]
        trials = [t for t in trials if not t.failure and len(t.at(rows)) == rung[1]]
        trials.sort(key=lambda t: -t.best(rows)[0])
        if number < len(study.rungs) - 1:
            trials = trials[: math.ceil(len(trials) / KEEP)]
    return ran


def _drawn(study: Study, pool: tuple[Candidate, ...], rng: np.random.Generator, number: int) -> list[Trial]:
    """New configurations: half of them of the methods that did best so far, the others of any."""
    ranked = sorted(study.complete(), key=lambda t: -t.best(study.rows)[0])
    titles = list(dict.fromkeys(type(t.estimator).__name__ for t in ranked))[:FAVOURITES]
    favourites = [candidate for candidate in pool if candidate.cls.__name__ in titles] or list(pool)
    found: list[Trial] = []
    for _ in range(TRIES * number):
        among = favourites if rng.random() < 0.5 else pool
        fresh = add(study, among[rng.integers(len(among))].sample(rng))
        if fresh is not None:
            found.append(fresh)
        if len(found) == number:
            break
    return found


def _room(study: Study) -> int:
    """How many more trials the budget of trials allows."""
    return UNBOUNDED if study.task.max_trials is None else max(study.task.max_trials - len(study.trials), 0)


def search(task: Task, first: tuple[Candidate, ...], pool: tuple[Candidate, ...]) -> Study:
    """Search: the first candidates on every rung, then each method as it comes, then drawn configurations.

    The first of all is always scored on all folds, and the other first ones where that takes no more than the budget
    once more; everything after them is begun only where the clock leaves time for it and for the last fit. After a
    KeyboardInterrupt the study holds what was finished.

    Parameters
    ----------
    task : Task
    first : tuple of Candidate
        Tried first, in default construction, and never sorted out.
    pool : tuple of Candidate
        Methods to draw from.

    Returns
    -------
    Study
    """
    study, rng = Study(task), np.random.default_rng(task.seed)
    try:
        for number, candidate in enumerate(first[: task.max_trials]):
            opening = add(study, candidate.default())
            for rung in study.rungs if opening else ():
                run_rung(study, [opening], rung, forced=number == 0 or study.owed(opening, rung))
        defaults = [add(study, pool[i].default()) for i in rng.permutation(len(pool))[: _room(study)]]
        race(study, [t for t in defaults if t is not None])
        while (number := min(_room(study), WIDTH)) and not study.perfect:
            drawn = _drawn(study, pool, rng, number)
            if not drawn or race(study, drawn) == 0:
                break
    except KeyboardInterrupt:
        study.interrupted = True
    study.trials = [t for t in study.trials if t.outcomes]
    return study
