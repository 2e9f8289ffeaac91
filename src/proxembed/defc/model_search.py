"""The loop that all searches of models share: budget, batches, workers, what was evaluated; and two simple searches.

Each model draws from a generator of its own, made of the seed and its switches, and what is evaluated next depends on
scores alone: any number of workers finds the same.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits

from proxembed.adaptive import Switches, sample
from proxembed.adaptive.switches import OPTIONS
from proxembed.evaluate.parallel import ended_quietly

from .genetic import POPULATION
from .objective import Evaluation, Objective
from .parameter_search import ParameterSearch

SMALL_BATCH = 4
PERFECT = 1.0
REDUCED = tuple(Switches(3, r, 0, s, em, 2, 2, 0) for r in (2, 5) for s in (2, 5) for em in (1, 2))

Params = dict[str, float]
Job = tuple[Switches, list[Params]]
Progress = Callable[[int, int, str], None]

_objectives: dict[str, Objective] = {}


class Done(NamedTuple):
    """An evaluation with its number in its job, and when it ended (seconds since the epoch)."""

    number: int
    evaluation: Evaluation
    ended: float


def evaluate_job(objective: Objective, job: Job, until: float, least: int = 0) -> tuple[list[Done], int, dict]:
    """Evaluate the settings of one model, those of like stages one after another, until one has the largest score that
    there is, or the time is spent.

    Parameters
    ----------
    objective : Objective
    job : a model and its settings.
    until : seconds since the epoch after which none is begun.
    least : how many are evaluated whatever the clock says.

    Returns
    -------
    what was evaluated, in the order of the settings; the process, and its cache's counts
    """
    switches, settings = job
    done: list[Done] = []
    for number in sorted(range(len(settings)), key=lambda i: tuple(settings[i].values())):
        if len(done) >= least and time.time() >= until:
            break
        done.append(Done(number, objective.evaluate(switches, settings[number]), time.time()))
        if done[-1].evaluation.score >= PERFECT:
            break
    return sorted(done, key=lambda one: one.number), os.getpid(), objective.cache_stats


def _task(token: str, objective: Objective, job: Job, until: float, least: int) -> tuple[list[Done], int, dict]:
    """A job in a worker, which keeps the objective, with its cache, for the next one."""
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if token not in _objectives:
        _objectives.clear()
        _objectives[token] = objective
    return evaluate_job(_objectives[token], job, until, least)


class ModelSearch:
    """What a search of models has done so far, and how it goes on.

    Parameters
    ----------
    objective : Objective
    seed : int of at least 0
    max_evals : most evaluations, None for no bound.
    max_seconds : seconds after which no evaluation is begun but the first, None for no bound.
    patience : evaluations in a row without a better score that end the search, looked at after every four of each model
        at hand (25 of random models); None for no bound.
    n_jobs : worker processes, as joblib counts.
    progress : called as progress(done, total, text).

    Attributes
    ----------
    evaluations : list of Evaluation, in the order in which they were asked for.
    history : list of dict, for each evaluation how many there were, seconds since the start and the best score so far;
        where a generation ends also its number, best and mean score.
    cache_stats : dict, the caches' counts, summed over processes.
    interrupted : bool

    Examples
    --------
    >>> from proxembed.data import banana
    >>> from proxembed.targets.labels import LabelMatrix
    >>> data = banana(60)
    >>> labels = LabelMatrix.of(data.Y.toarray().argmax(axis=1))
    >>> objective = Objective(data.X, labels, [(np.arange(40), np.arange(40, 60))])
    >>> search = ModelSearch(objective, max_evals=10).carry_out(reduced8)
    >>> len(search.evaluations), len({found.switches for found in search.evaluations})
    (10, 8)
    """

    def __init__(
        self,
        objective: Objective,
        *,
        seed: int = 0,
        max_evals: int | None = None,
        max_seconds: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = 1,
        progress: Progress | None = None,
    ):
        self.objective, self.limits, self.seed = objective, objective.limits, seed
        self.n_jobs = effective_n_jobs(n_jobs)
        self.evaluations: list[Evaluation] = []
        self.history: list[dict[str, Any]] = []
        self.interrupted = False
        self._max_evals, self._max_seconds, self._progress = max_evals, max_seconds, progress
        self._patience, self._improved = math.inf if patience is None else patience, 0
        self._started, self._token = time.time(), uuid.uuid4().hex
        self._until = math.inf if max_seconds is None else self._started + max_seconds
        self._caches: dict[int, dict[str, int]] = {}
        self._searches: dict[Switches, ParameterSearch] = {}
        self._models: set[tuple[int, ...]] = set()
        self._pool: Parallel | None = None

    def carry_out(self, strategy: Callable[[ModelSearch], None]) -> ModelSearch:
        """Run a search to its end, or until Ctrl-C, which keeps what was evaluated; returns self."""
        with ExitStack() as stack:
            stack.enter_context(threadpool_limits(1, "blas"))
            if self.n_jobs > 1:
                stack.enter_context(parallel_config(backend="loky", inner_max_num_threads=1))
                self._pool = stack.enter_context(Parallel(self.n_jobs, return_as="generator", mmap_mode="c"))
            try:
                strategy(self)
            except KeyboardInterrupt:
                self.interrupted = True
        return self

    @property
    def room(self) -> float:
        """How many more evaluations the budget has."""
        return math.inf if self._max_evals is None else self._max_evals - len(self.evaluations)

    @property
    def over(self) -> bool:
        """Whether the budget or the patience is spent, or no score can be better than the best; never before the first
        evaluation."""
        if not self.history:
            return False
        spent = self.room <= 0 or len(self.evaluations) - self._improved >= self._patience
        return spent or self.history[-1]["best"] >= PERFECT or time.time() >= self._until

    @property
    def n_models(self) -> int:
        """Distinct models so far."""
        return len(self._models)

    @property
    def cache_stats(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for stats in self._caches.values():
            total.update(stats)
        return dict(total)

    def generator(self, *key: int) -> np.random.Generator:
        """The generator of the numbers that belong to this key alone."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, *key]))

    def parameters_of(self, switches: Switches, bounded: bool = True) -> ParameterSearch:
        """The search of a model's parameters, begun at the first call and then the same."""
        if switches not in self._searches:
            rng = self.generator(*switches.as_tuple())
            self._searches[switches] = ParameterSearch(switches, self.limits, rng, bounded=bounded)
        return self._searches[switches]

    def optimise(self, caps: Mapping[Switches, float], bounded: bool = True) -> None:
        """Search the parameters of models, each with so many evaluations at most, side by side."""
        searches = {switches: self.parameters_of(switches, bounded) for switches in caps}
        whole = self._max_seconds is None and self._patience == math.inf
        left, batch = dict(caps), POPULATION if whole else SMALL_BATCH
        while not self.over:
            jobs, room = [], self.room
            for switches, search in searches.items():
                settings = search.ask(int(min(batch, left[switches], room)))
                left[switches] -= len(settings)
                room -= len(settings)
                if settings:
                    jobs.append((switches, settings))
            if not jobs:
                break
            self.evaluate(jobs)

    def evaluate(self, jobs: Sequence[Job]) -> None:
        """Evaluate settings of models; the first of all is evaluated however little time there is."""
        least = [int(not self.evaluations and i == 0) for i in range(len(jobs))]
        calls = [(self.objective, job, self._until, few) for job, few in zip(jobs, least, strict=True)]
        with ended_quietly(self._results(calls)) as results:
            for (switches, settings), (done, process, stats) in zip(jobs, results, strict=True):
                self._caches[process] = stats
                for number, evaluation, ended in done:
                    self._record(evaluation, ended)
                    if switches in self._searches:
                        self._searches[switches].tell(settings[number], evaluation.score)
                self._tell(switches)

    def _results(self, calls: list[tuple]) -> Iterator:
        """Results in the order of the calls."""
        if self._pool is None:
            return (evaluate_job(*call) for call in calls)
        return self._pool(delayed(_task)(self._token, *call) for call in calls)

    def _record(self, evaluation: Evaluation, ended: float) -> None:
        self.evaluations.append(evaluation)
        self._models.add(evaluation.switches)
        last = self.history[-1] if self.history else {"seconds": 0.0, "best": -math.inf}
        if evaluation.score > last["best"]:
            self._improved = len(self.evaluations)
        self.history.append(
            {
                "evaluations": len(self.evaluations),
                "seconds": max(ended - self._started, last["seconds"]),
                "best": max(evaluation.score, last["best"]),
            }
        )

    def close_generation(self, number: int, scores: Sequence[float]) -> None:
        """Note the best and mean score of a generation's models at the evaluation that ended it."""
        usable = [score for score in scores if score > -math.inf]
        if self.history and usable:
            mean = float(np.mean(usable))
            self.history[-1].update(generation=number, generation_best=max(usable), generation_mean=mean)

    def ranked(self) -> list[Evaluation]:
        """All evaluations, best first; equal scores by fewer components, then in the order of evaluation."""
        return sorted(self.evaluations, key=lambda found: (-found.score, found.k or math.inf))

    def _tell(self, switches: Switches) -> None:
        if self._progress is None or not self.history:
            return
        done, total = len(self.evaluations), self._max_evals or 0
        if self._max_seconds is not None:
            done, total = min(int(time.time() - self._started), int(self._max_seconds)), int(self._max_seconds)
        best, models = self.history[-1]["best"], self.n_models
        self._progress(done, total, f"search, {models} models: best {best:.3f}, now {list(switches.as_tuple())}")


def reduced8(search: ModelSearch) -> None:
    """The search of eight models: each gets an eighth of the evaluations for its parameters.  [mu2012defc]

    Standardised features; polynomial or Euclidean relations; pairs by polynomial or Gaussian similarity, which weighs
    them; both criteria; the ratio. A model that finds no new setting leaves its share to the others.
    """
    while not search.over:
        before = len(search.evaluations)
        share, rest = (math.inf, 0) if search.room == math.inf else divmod(int(search.room), len(REDUCED))
        search.optimise({switches: share + (i < rest) for i, switches in enumerate(REDUCED)}, bounded=False)
        if len(search.evaluations) == before:
            break
    search.close_generation(1, [search.parameters_of(switches, bounded=False).best for switches in REDUCED])


def random_models(search: ModelSearch) -> None:
    """The baseline: models drawn uniformly from all that are distinct, and one draw of parameters each."""
    rng, visits = search.generator(), Counter[Switches]()
    while not search.over:
        jobs: list[Job] = []
        while len(jobs) < min(POPULATION, search.room):
            switches = random_genome(rng)
            if switches != switches.canonical():
                continue
            visits[switches] += 1
            own = search.generator(*switches.as_tuple(), visits[switches])
            jobs.append((switches, [sample(switches, search.limits, own)]))
        search.evaluate(jobs)


def random_genome(rng: np.random.Generator) -> Switches:
    """Any of the 72,576 switch vectors, each as likely.

    >>> random_genome(np.random.default_rng(0)).as_tuple()
    (5, 5, 3, 2, 1, 1, 1, 0)
    """
    return Switches(*(int(rng.integers(first, first + len(values))) for _, values, first in OPTIONS.values()))
