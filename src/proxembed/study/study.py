"""The study: a loop with its trials, its best score and its history; and the registry of strategies with a name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np

from proxembed.execute.executor import Progress, silent
from proxembed.execute.loop import Loop, Strategy, Work


class Study(Loop):
    """A search: what was tried so far, what it may spend, and the loop that carries it on."""

    def __init__(
        self,
        evaluator: Any,
        *,
        seed: int = 0,
        max_trials: int | None = None,
        patience: int | None = None,
        progress: Progress | None = None,
        **bounds: Any,
    ):
        super().__init__(evaluator, lone_here=True, report=Study._show, **bounds)
        self.seed, self.max_trials, self.patience = seed, max_trials, math.inf if patience is None else patience
        self.entered: dict[Any, Any] = {}
        self.history: list[dict[str, Any]] = []
        self._progress, self._improved = silent if progress is None else progress, 0

    @property
    def trials(self) -> list[Any]:
        """Trials of which something is finished."""
        return [trial for trial in self.entered.values() if trial.outcomes]

    @property
    def trials_left(self) -> float:
        """How many more trials the budget has."""
        return math.inf if self.max_trials is None else max(self.max_trials - len(self.entered), 0)

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
        """Whether a bound or the patience is reached; never before the first outcome."""
        return super().spent or bool(self.outcomes) and len(self.outcomes) - self._improved >= self.patience

    @property
    def over(self) -> bool:
        """Whether the budget is spent, or no score can be better than the best."""
        return self.spent or self.perfect

    def generator(self, *key: int) -> np.random.Generator:
        """The generator of the numbers that belong to this key alone."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, *key]))

    def _record(self, trial: Any, step: Any, outcome: Any, ended: float) -> None:
        super()._record(trial, step, outcome, ended)
        score, best = trial.score, self.best_score
        if score > best:
            self._improved = len(self.outcomes)
        seconds = max(ended - self._started, self.history[-1]["seconds"] if self.history else 0.0)
        self.history.append({"evaluations": len(self.outcomes), "seconds": seconds, "best": max(score, best)})

    def _show(self, work: Work, done: bool) -> None:
        """Report seconds where they are bounded, else work, evaluations or trials."""
        at, total = len(self.entered), self.max_trials or 0
        if self.seconds < math.inf:
            at, total = int(min(self.seconds - self.left, self.seconds)), int(self.seconds)
        elif self.work < math.inf:
            at, total = int(min(self.work_done, self.work)), int(self.work)
        elif self.max_evals < math.inf:
            at, total = len(self.outcomes), int(self.max_evals)
        best = "" if self.best_score == -math.inf else f"best {self.best_score:.3f}, "
        self._progress(at, total, f"search, {len(self.entered)} trials: {best}now {work.trial.title}")


class SearchStrategy(Strategy):
    """How a search goes on; ``space`` is what is searched: "methods" (``EmbeddingSearch``) or "models" (``DEFC``)."""

    space: ClassVar[str]


STRATEGIES: dict[str, dict[str, type[Any]]] = {}
Registered = TypeVar("Registered", bound=type[SearchStrategy])


def register(name: str) -> Callable[[Registered], Registered]:
    """Add a strategy to those that searches, the program and the page know by name; a ValueError if it is taken."""

    def add(cls: Registered) -> Registered:
        known = STRATEGIES.setdefault(cls.space, {})
        if name in known:
            raise ValueError(f"a strategy named {name!r} is registered for {cls.space} already; choose another name.")
        known[name] = cls
        return cls

    return add
