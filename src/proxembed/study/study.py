"""The study: the one loop of every search, with its trials, its budget and its clock.

A strategy asks for work, the study runs it on the executor, records the outcomes and tells them to the strategy. What a
trial is, and how it is scored, is the evaluator's matter.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from proxembed.execute import clock
from proxembed.execute.executor import Executor, Progress, ended_quietly, killed, silent

from .storage import StudyFile
from .strategies import Strategy


@dataclass(eq=False)
class Trial:
    """One thing that is tried (``config``), with its outcomes by fidelity: here the number of the evaluation."""

    config: Any
    title: str
    outcomes: dict[Any, Any] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The score by which trials are compared, larger being better; -inf as long as there is none."""
        return max((outcome.score for outcome in self.outcomes.values()), default=-math.inf)

    def record(self, step: Any, outcome: Any) -> None:
        """Keep the outcome of a step."""
        self.outcomes[len(self.outcomes)] = outcome


class Work(NamedTuple):
    """What one worker does in one go: steps of a trial, each of which gives an outcome.

    Steps that are ``owed`` are taken however little time is left; ``options`` are keywords of ``Evaluator.evaluate``.
    """

    trial: Trial
    steps: Sequence[Any]
    owed: bool = False
    options: Mapping[str, Any] = {}


class Evaluator:
    """Scores what is tried: ``evaluate(config, step, **options)`` gives the outcome of a step, of a failure too.

    Each worker gets a copy, which may cache. ``perfect`` is the best score that there is.
    """

    perfect: float = math.inf
    evaluate: Callable[..., Any]

    @property
    def cache_stats(self) -> dict[str, int]:
        """The counts of the cache in this process."""
        return {}

    def order(self, steps: Sequence[Any]) -> Sequence[int]:
        """The places of steps of one trial in the order in which they are best taken."""
        return range(len(steps))

    def enough(self, outcome: Any) -> bool:
        """Whether nothing is to be gained by further steps of this trial."""
        return False

    def lost(self, config: Any, step: Any, reason: str) -> Any:
        """The failed outcome of a step whose worker process was ended."""
        raise TypeError(f"{type(self).__name__} must define lost(config, step, reason) to be run by workers.")

    def key(self, config: Any, step: Any) -> Any:
        """What tells a step from all others, as plain data."""
        raise TypeError(f"{type(self).__name__} must define key(config, step) to be stored.")

    def plain(self, outcome: Any) -> Any:
        """An outcome as plain data; None where another run may have another one."""
        raise TypeError(f"{type(self).__name__} must define plain(outcome) to be stored.")

    def restored(self, plain: Any) -> Any:
        """The outcome of its plain data."""
        raise TypeError(f"{type(self).__name__} must define restored(plain) to be stored.")


class _Call(NamedTuple):
    """Steps that a worker takes, ``least`` of them however late it is; ``known`` holds outcomes by place.

    ``until`` is a time of ``clock``; of a cluster, whose machines share no other clock, that is the wall clock.
    """

    config: Any
    steps: Sequence[Any]
    options: Mapping[str, Any]
    least: int
    until: float
    file: StudyFile | None
    known: Mapping[int, Any]
    clock: Callable[[], float] = clock.now


Taken = tuple[list[tuple[int, Any, float]], int | None, Mapping[str, int]]


def _take(evaluator: Evaluator, call: _Call) -> Taken:
    """Take steps until the time is spent: place, outcome and end of each; the process and the counts of its cache."""
    done: list[tuple[int, Any, float]] = []
    for place in evaluator.order(call.steps):
        if len(done) >= call.least and call.clock() >= call.until and place not in call.known:
            break
        done.append((place, _outcome(evaluator, call, place), call.clock()))
        if evaluator.enough(done[-1][1]):
            break
    return sorted(done, key=lambda one: one[0]), os.getpid(), evaluator.cache_stats


def _lost(evaluator: Evaluator, call: _Call, reason: str) -> Taken:
    """The first step that is not known as lost, as its process was ended twice; no process returns it."""
    found = dict(call.known)
    for place in [place for place in evaluator.order(call.steps) if place not in found][:1]:
        found[place] = evaluator.lost(call.config, call.steps[place], killed(reason))
    return [(place, found[place], clock.now()) for place in sorted(found)], None, {}


def _outcome(evaluator: Evaluator, call: _Call, place: int) -> Any:
    """The outcome of a step: the one that is known, or a new one, which is stored before anything else."""
    if place in call.known:
        return call.known[place]
    return _stored(evaluator, call, place, evaluator.evaluate(call.config, call.steps[place], **call.options))


def _stored(evaluator: Evaluator, call: _Call, place: int, outcome: Any) -> Any:
    """The same outcome, added to the file of the study where it is new."""
    if call.file is not None and place not in call.known and (plain := evaluator.plain(outcome)) is not None:
        call.file.append(evaluator.key(call.config, call.steps[place]), plain)
    return outcome


class Study:
    """A search: what was tried so far, what it may spend, and the loop that carries it on.

    Parameters
    ----------
    evaluator : Evaluator
    seed : int of at least 0
    max_trials, max_evals : most trials, and most outcomes, None for no bound.
    max_seconds : seconds after which no step is begun but the first of all and those that are owed.
    max_work : forecast work (``evaluator.work``) after which no step is begun; the seconds are then the brake alone.
    patience : outcomes in a row without a better score that end the search, counted after each batch.
    n_jobs : workers, as joblib counts.
    progress : called as progress(done, total, text) before each batch and after each piece of work.
    storage : StudyFile, begun, from which finished steps are taken, and to which others are added; None for none.

    Attributes
    ----------
    entered : dict of every trial, by a key of the strategy's choice.
    outcomes : list, in the order in which they were asked for.
    history : list of dict, for each outcome how many there were (evaluations), seconds since the start, best score.
    interrupted : bool, whether Ctrl-C ended the search.

    Examples
    --------
    >>> from proxembed.study.strategies import Strategy
    >>> from proxembed.study.study import Evaluator, Study, Trial, Work
    >>> class Near3(Evaluator):
    ...     def evaluate(self, config, step):
    ...         return type("Outcome", (), {"score": -((3 - step) ** 2)})
    >>> class Upwards(Strategy):
    ...     def batches(self, study):
    ...         trial = study.entered[0] = Trial(None, "numbers")
    ...         yield from ([Work(trial, [number])] for number in range(9))
    >>> [entry["best"] for entry in Study(Near3(), max_evals=5).run(Upwards()).history]
    [-9, -4, -1, 0, 0]
    """

    def __init__(
        self,
        evaluator: Any,
        *,
        seed: int = 0,
        max_trials: int | None = None,
        max_evals: int | None = None,
        max_seconds: float | None = None,
        max_work: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = 1,
        progress: Progress | None = None,
        storage: StudyFile | None = None,
    ):
        self.evaluator, self.seed, self.max_trials, self.max_evals = evaluator, seed, max_trials, max_evals
        self.storage = storage
        bounds = (max_seconds, max_work, patience)
        self.seconds, self.work, self.patience = (math.inf if bound is None else bound for bound in bounds)
        self.work_done = 0.0
        self.entered: dict[Any, Any] = {}
        self.outcomes: list[Any] = []
        self.history: list[dict[str, Any]] = []
        self.interrupted = False
        self.executor, self._progress = Executor(n_jobs, evaluator), silent if progress is None else progress
        self._caches: dict[int, Mapping[str, int]] = {}
        self._improved, self._started = 0, clock.now()

    @property
    def trials(self) -> list[Any]:
        """Trials of which something is finished."""
        return [trial for trial in self.entered.values() if trial.outcomes]

    @property
    def left(self) -> float:
        """Seconds that are left, below 0 when the time is overdrawn."""
        return self.seconds - (clock.now() - self._started)

    @property
    def work_left(self) -> float:
        """Work that is left, below 0 when it is overdrawn; infinite where work is not counted."""
        return self.work - self.work_done

    @property
    def stopped_by_clock(self) -> bool:
        """Whether the seconds ended a search whose work was not yet done."""
        return self.work < math.inf and self.left <= 0 < self.work_left

    @property
    def trials_left(self) -> float:
        """How many more trials the budget has."""
        return math.inf if self.max_trials is None else max(self.max_trials - len(self.entered), 0)

    @property
    def evaluations_left(self) -> float:
        """How many more outcomes the budget has."""
        return math.inf if self.max_evals is None else max(self.max_evals - len(self.outcomes), 0)

    @property
    def best_score(self) -> float:
        """The best score so far, -inf without any."""
        return self.history[-1]["best"] if self.history else -math.inf

    @property
    def perfect(self) -> bool:
        """Whether no score can be better than the best."""
        return self.best_score >= self.evaluator.perfect

    @property
    def spent(self) -> bool:
        """Whether the evaluations, the seconds or the patience are spent; never before the first outcome."""
        without_gain = len(self.outcomes) - self._improved
        out = self.evaluations_left == 0 or self.left <= 0 or self.work_left <= 0
        ended = out or without_gain >= self.patience
        return ended and bool(self.outcomes)

    @property
    def over(self) -> bool:
        """Whether the budget is spent, or no score can be better than the best."""
        return self.spent or self.perfect

    @property
    def cache_stats(self) -> dict[str, int]:
        """The counts of the evaluator's caches, summed over processes."""
        total: Counter[str] = Counter()
        for stats in self._caches.values():
            total.update(stats)
        return dict(total)

    def generator(self, *key: int) -> np.random.Generator:
        """The generator of the numbers that belong to this key alone."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, *key]))

    def run(self, strategy: Strategy) -> Study:
        """Carry on until the strategy asks for nothing, the budget is spent, or Ctrl-C, which keeps what is finished;
        returns self."""
        with self.executor:
            try:
                while batch := strategy.ask(self):
                    if self.spent and not any(work.owed for work in batch):
                        break
                    strategy.tell(self._carried_out(batch))
            except KeyboardInterrupt:
                self.interrupted = True
        return self

    def _carried_out(self, batch: Sequence[Work]) -> list[tuple[Any, Any, Any]]:
        """Run a batch, as much of it as the evaluations suffice for; a single piece of work in this process."""
        room = self.evaluations_left
        calls: list[_Call] = []
        results: list[tuple[Any, Any, Any]] = []
        for work in batch:
            steps = work.steps[: int(min(room, len(work.steps)))]
            room -= len(steps)
            least = len(steps) if work.owed else int(not self.outcomes and not calls)
            known, until = self._known(work.trial.config, steps), self._started + self.seconds
            calls.append(_Call(work.trial.config, steps, work.options, least, until, self.storage, known))
        self._show(batch[0].trial)
        here = len(calls) == 1 or all(len(call.known) == len(call.steps) for call in calls)
        alone, apart = map(partial(_take, self.evaluator), calls), self.executor.remote and not here
        by_wall: dict[str, Any] = {"file": None, "until": time.time() + self.left, "clock": time.time}
        sent = [call._replace(**by_wall) for call in calls] if apart else calls
        died = partial(_lost, self.evaluator)
        with ended_quietly(alone if here else self.executor.map(_take, sent, died)) as returned:
            for work, call, (done, process, stats) in zip(batch, calls, returned, strict=True):
                if process is not None:
                    self._caches[process] = stats
                for place, outcome, ended in done:
                    if apart and process is not None:
                        _stored(self.evaluator, call, place, outcome)
                    self._record(work.trial, work.steps[place], outcome, clock.now() if apart else ended)
                    results.append((work.trial, work.steps[place], outcome))
                self._show(work.trial)
        return results

    def _known(self, config: Any, steps: Sequence[Any]) -> dict[int, Any]:
        """The outcomes of steps that an earlier run has stored, by place."""
        if self.storage is None:
            return {}
        stored = [self.storage.outcome(self.evaluator.key(config, step)) for step in steps]
        return {place: self.evaluator.restored(plain) for place, plain in enumerate(stored) if plain is not None}

    def _record(self, trial: Trial, step: Any, outcome: Any, ended: float) -> None:
        trial.record(step, outcome)
        self.outcomes.append(outcome)
        if self.work < math.inf:
            self.work_done += self.evaluator.work(trial.config, step)
        score, best = trial.score, self.best_score
        if score > best:
            self._improved = len(self.outcomes)
        seconds = max(ended - self._started, self.history[-1]["seconds"] if self.history else 0.0)
        self.history.append({"evaluations": len(self.outcomes), "seconds": seconds, "best": max(score, best)})

    def _show(self, trial: Trial) -> None:
        """Report seconds where they are bounded, else evaluations or trials."""
        done, total = len(self.entered), self.max_trials or 0
        if self.seconds < math.inf:
            done, total = int(min(self.seconds - self.left, self.seconds)), int(self.seconds)
        elif self.work < math.inf:
            done, total = int(min(self.work_done, self.work)), int(self.work)
        elif self.max_evals is not None:
            done, total = len(self.outcomes), self.max_evals
        best = "" if self.best_score == -math.inf else f"best {self.best_score:.3f}, "
        self._progress(done, total, f"search, {len(self.entered)} trials: {best}now {trial.title}")
