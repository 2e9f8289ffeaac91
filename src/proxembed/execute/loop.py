"""The one loop that runs fits: a strategy asks for work, the loop does it within a budget, stores and records it.

It serves searches, comparisons, diagnoses and benchmarks. What a step is, and what its outcome, is the evaluator's
matter.
"""

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, Self

from . import clock
from .executor import Executor, ended_quietly, killed


@dataclass(eq=False)
class Trial:
    """One thing that is tried (``config``), with its outcomes by step."""

    config: Any
    title: str
    outcomes: dict[Any, Any] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The score by which trials are compared, larger being better; -inf as long as there is none."""
        return max((outcome.score for outcome in self.outcomes.values()), default=-math.inf)

    def record(self, step: Any, outcome: Any) -> None:
        """Keep the outcome of a step."""
        self.outcomes[step] = outcome


class Work(NamedTuple):
    """What one worker does in one go: steps of a trial, each of which gives an outcome."""

    trial: Any
    steps: Sequence[Any]
    owed: bool = False
    options: Mapping[str, Any] = {}


class Strategy(Protocol):
    """What is done next, after what came out so far."""

    def batches(self, loop: Any) -> Iterable[Sequence[Work]]:
        """Generate batches of work; each is made when the outcomes of the one before it are recorded."""
        raise TypeError(f"{type(self).__name__} must define batches(loop).")

    def tell(self, results: Sequence[tuple[Any, Any, Any]]) -> None:
        """Take (trial, step, outcome) of the last batch; steps that were not taken are missing."""
        return


class OneBatch(Strategy):
    """The strategy that asks for all work at once."""

    def __init__(self, work: Sequence[Work]):
        self.work = work

    def batches(self, loop: Any) -> Iterable[Sequence[Work]]:
        """The work."""
        yield self.work


class Evaluator:
    """Takes steps: ``evaluate(config, step, **options)`` gives the outcome of a step, of a failure too."""

    perfect: float = math.inf
    evaluate: Callable[..., Any]
    key: Callable[[Any, Any], Any]
    lost: Callable[[Any, Any, str], Any] | None = None

    @property
    def cache_stats(self) -> Mapping[str, int]:
        """The counts of the cache in this process."""
        return {}

    def order(self, steps: Sequence[Any]) -> Sequence[int]:
        """The places of steps of one trial in the order in which they are best taken."""
        return range(len(steps))

    def enough(self, outcome: Any) -> bool:
        """Whether nothing is to be gained by further steps of this trial."""
        return False

    def plain(self, outcome: Any) -> Any:
        """An outcome as a ledger takes it; None if another run may have another one."""
        return outcome

    def restored(self, plain: Any) -> Any:
        """The outcome that ``plain`` was made of."""
        return plain


class _Call(NamedTuple):
    """Steps that a worker takes, at least ``least`` of them however late it is; ``known`` holds outcomes by place."""

    number: int
    config: Any
    steps: Sequence[Any]
    options: Mapping[str, Any]
    least: int
    until: float
    ledger: Any
    known: Mapping[int, Any]
    by_wall: bool = False

    @property
    def now(self) -> float:
        return time.time() if self.by_wall else clock.now()


class _Taken(NamedTuple):
    """Place, outcome and end of each step of a call; the process that took them and the counts of its cache."""

    number: int
    steps: list[tuple[int, Any, float]]
    process: int | None = None
    cache_stats: Mapping[str, int] = {}


def _take(evaluator: Any, call: _Call) -> _Taken:
    """Take steps until the time is spent."""
    done: list[tuple[int, Any, float]] = []
    for place in evaluator.order(call.steps):
        if len(done) >= call.least and place not in call.known and call.now >= call.until:
            break
        done.append((place, _outcome(evaluator, call, place), call.now))
        if evaluator.enough(done[-1][1]):
            break
    return _Taken(call.number, sorted(done, key=lambda one: one[0]), os.getpid(), evaluator.cache_stats)


def _lost(evaluator: Any, call: _Call, reason: str) -> _Taken:
    """The first step that is not known as lost, as its process was ended twice."""
    found = dict(call.known)
    for place in [place for place in evaluator.order(call.steps) if place not in found][:1]:
        found[place] = evaluator.lost(call.config, call.steps[place], killed(reason))
    return _Taken(call.number, [(place, found[place], clock.now()) for place in sorted(found)])


def _outcome(evaluator: Any, call: _Call, place: int) -> Any:
    """The outcome of a step: the one that is known, or a new one, which is stored before anything else."""
    if place in call.known:
        return call.known[place]
    outcome = evaluator.evaluate(call.config, call.steps[place], **call.options)
    _store(evaluator, call, place, outcome)
    return outcome


def _store(evaluator: Any, call: _Call, place: int, outcome: Any) -> None:
    """Add an outcome to the ledger if it is new."""
    if call.ledger is not None and place not in call.known and (plain := evaluator.plain(outcome)) is not None:
        call.ledger.add(evaluator.key(call.config, call.steps[place]), plain)


def _silent(loop: Any, work: Work, done: bool) -> None:
    """The report that shows nothing."""


class Loop:
    """Carries out what a strategy asks for."""

    def __init__(
        self,
        evaluator: Any,
        *,
        max_seconds: float | None = None,
        max_work: float | None = None,
        max_evals: int | None = None,
        n_jobs: int | None = 1,
        ordered: bool = True,
        lone_here: bool = False,
        ledger: Any = None,
        report: Callable[[Any, Work, bool], None] | None = None,
    ):
        self.evaluator, self.ledger, self.ordered, self.lone_here = evaluator, ledger, ordered, lone_here
        bounds = (max_seconds, max_work, max_evals)
        self.seconds, self.work, self.max_evals = (math.inf if bound is None else bound for bound in bounds)
        self.work_done, self.interrupted = 0.0, False
        self.outcomes: list[Any] = []
        self.executor, self._report = Executor(n_jobs, evaluator, ordered=ordered), report or _silent
        self._caches: dict[int, Mapping[str, int]] = {}
        self._started = clock.now()

    @property
    def left(self) -> float:
        """Seconds that are left, below 0 when the time is overdrawn."""
        return self.seconds - (clock.now() - self._started)

    @property
    def work_left(self) -> float:
        """Work that is left, below 0 when it is overdrawn; infinite where work is not counted."""
        return self.work - self.work_done

    @property
    def evaluations_left(self) -> float:
        """How many more outcomes the budget has."""
        return max(self.max_evals - len(self.outcomes), 0)

    @property
    def stopped_by_clock(self) -> bool:
        """Whether the seconds ended work that the budget of work had room for."""
        return self.work < math.inf and self.left <= 0 < self.work_left

    @property
    def spent(self) -> bool:
        """Whether a bound is reached; never before the first outcome."""
        out = self.evaluations_left == 0 or self.left <= 0 or self.work_left <= 0
        return out and bool(self.outcomes)

    @property
    def cache_stats(self) -> dict[str, int]:
        """The counts of the evaluator's caches, summed over processes."""
        total: Counter[str] = Counter()
        for stats in self._caches.values():
            total.update(stats)
        return dict(total)

    def run(self, strategy: Strategy) -> Self:
        """Carry on until the strategy has no more work, the budget is spent, or Ctrl-C; what is finished is kept."""
        with self.executor:
            try:
                for batch in strategy.batches(self):
                    if not batch or self.spent and not any(work.owed for work in batch):
                        break
                    strategy.tell(self._carried_out(batch))
            except KeyboardInterrupt:
                self.interrupted = True
        return self

    def _carried_out(self, batch: Sequence[Work]) -> list[tuple[Any, Any, Any]]:
        """Do a batch and record it; (trial, step, outcome) of all steps that were taken."""
        calls = self._calls(batch)
        results: list[tuple[Any, Any, Any]] = []
        owed = {number for number, work in enumerate(batch) if work.owed}
        self._report(self, batch[0], False)
        with closing(self._taken(calls)) as taken:
            for number, steps, process, stats in taken:
                work = batch[number]
                if process is not None:
                    self._caches[process] = stats
                for place, outcome, ended in steps:
                    self._record(work.trial, work.steps[place], outcome, ended)
                    results.append((work.trial, work.steps[place], outcome))
                self._report(self, work, True)
                owed.discard(number)
                if not self.ordered and not owed and self.spent:
                    break
        return results

    def _calls(self, batch: Sequence[Work]) -> list[_Call]:
        """The batch as calls, as much of it as the evaluations suffice for."""
        room, until = self.evaluations_left, self._started + self.seconds
        calls: list[_Call] = []
        for number, work in enumerate(batch):
            steps = work.steps[: int(min(room, len(work.steps)))]
            room -= len(steps)
            least = len(steps) if work.owed else int(not self.outcomes and not calls)
            known = self._known(work.trial.config, steps)
            calls.append(_Call(number, work.trial.config, steps, work.options, least, until, self.ledger, known))
        return calls

    def _known(self, config: Any, steps: Sequence[Any]) -> dict[int, Any]:
        """The outcomes of steps that an earlier run has stored, by place."""
        if self.ledger is None:
            return {}
        stored = [self.ledger.find(self.evaluator.key(config, step)) for step in steps]
        return {place: self.evaluator.restored(plain) for place, plain in enumerate(stored) if plain is not None}

    def _taken(self, calls: list[_Call]) -> Generator[_Taken, None, None]:
        """What each call gave; calls whose steps are all known stay in this process, the others go to workers."""
        new = [call for call in calls if len(call.known) < len(call.steps)]
        here = {call.number for call in calls} - {call.number for call in new}
        lone = self.lone_here and len(calls) == 1
        away = self.executor.remote and not lone
        until = time.time() + self.left
        sent = [call._replace(ledger=None, until=until, by_wall=True) for call in new] if away else new
        died = None if self.evaluator.lost is None else partial(_lost, self.evaluator)
        work = map(partial(_take, self.evaluator), sent) if lone else self.executor.map(_take, sent, died)
        with ended_quietly(work) as returned:
            for call in calls if self.ordered else sorted(calls, key=lambda call: call.number not in here):
                taken = _take(self.evaluator, call) if call.number in here else next(returned)
                if away and call.number not in here:
                    taken = self._stored_here(calls[taken.number], taken)
                yield taken

    def _stored_here(self, call: _Call, taken: _Taken) -> _Taken:
        """Store what a machine has returned that may not see the files of this one; the steps end now."""
        for place, outcome, _ in taken.steps if taken.process is not None else []:
            _store(self.evaluator, call, place, outcome)
        return taken._replace(steps=[(place, outcome, clock.now()) for place, outcome, _ in taken.steps])

    def forecast(self, trial: Any, step: Any) -> float:
        """Work of a step, from sizes alone."""
        return self.evaluator.work(trial.config, step)

    def _record(self, trial: Any, step: Any, outcome: Any, ended: float) -> None:
        trial.record(step, outcome)
        self.outcomes.append(outcome)
        if self.work < math.inf:
            self.work_done += self.forecast(trial, step)
