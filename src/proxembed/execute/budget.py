"""Budgets: seconds of an arm, by a clock that stops Python code where the platform can, and units of work of a search.

Seconds are those of the wall; ``CpuSeconds`` are those that the process computes, whatever else the machine does. What
a budget of work allows follows from sizes alone, never from the clock.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from proxembed.algebra.arrays.blas import sets_pools

from . import clock

AGAIN = 1.0  # seconds after which the work is stopped once more: a callback of the interpreter swallows exceptions
SOON = 0.01  # seconds after which work is stopped that would leave something half made behind
IMPORT = "<frozen importlib._bootstrap>"
COMPILERS = ("numba.", "llvmlite.")


class OutOfBudget(TimeoutError):
    """An arm took longer than its budget."""


class CpuSeconds(float):
    """Seconds of CPU time of this process, all its threads together, wherever a budget takes seconds."""


class Budget:
    """Seconds that one arm has on one split; the clock starts when it is made."""

    def __init__(self, seconds: float | None):
        self.seconds, self._of_cpu = seconds, isinstance(seconds, CpuSeconds)
        self._started = self._now()

    def _now(self) -> float:
        return time.process_time() if self._of_cpu else clock.now()

    @property
    def left(self) -> float:
        """Seconds left: below 0 when the budget is overdrawn, infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - (self._now() - self._started)

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Run a block on the seconds left."""
        self._check()
        with _timer(self.left, self._stop, self._of_cpu):
            yield
        self._check()

    def _check(self) -> None:
        if self.left <= 0:
            self._stop()

    def _stop(self) -> None:
        unit = "CPU seconds" if self._of_cpu else "seconds"
        raise OutOfBudget(f"the budget of {self.seconds:g} {unit} an arm and split is spent")


def imports_or_compiles(frame: FrameType | None) -> bool:
    """Whether a module is being imported, or machine code compiled by numba, where a program was stopped."""
    while frame is not None:
        if frame.f_code.co_filename == IMPORT or str(frame.f_globals.get("__name__")).startswith(COMPILERS):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _timer(seconds: float, stop: Callable[[], Any], of_cpu: bool) -> Iterator[None]:
    """Call ``stop`` from the main thread after ``seconds`` seconds, unless the signal is in use."""
    main = threading.current_thread() is threading.main_thread()
    if math.isinf(seconds) or not hasattr(signal, "setitimer") or not main:
        yield
        return
    timer, number = (signal.ITIMER_PROF, signal.SIGPROF) if of_cpu else (signal.ITIMER_REAL, signal.SIGALRM)
    if signal.getsignal(number) != signal.SIG_DFL:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        if sets_pools(frame) or imports_or_compiles(frame):
            signal.setitimer(timer, SOON, AGAIN)
        else:
            stop()

    try:
        signal.signal(number, ring)
        signal.setitimer(timer, seconds, AGAIN)
        yield
    finally:
        try:
            signal.setitimer(timer, 0)
        except BaseException:  # it has rung once more
            signal.setitimer(timer, 0)
            raise
        finally:
            signal.signal(number, signal.SIG_DFL)


@dataclass(frozen=True)
class WorkBudget:
    """Work that a search may do, in units of ``evaluate.costs``, bounds on its last fit and its prototypes, the names
    of the anchors that it has room for (None: all), whether it goes on to other configurations, the bases that
    ``TargetSpace`` may have as an anchor (None: all), and how many weights of the features maps are tried at (None:
    all)."""

    work: float
    last_rows: int | None = None
    last_work: float = math.inf
    prototypes: int | None = None
    anchors: tuple[str, ...] | None = None
    draws: bool = True
    bases: tuple[str, ...] | None = None
    weights: int | None = None

    def permits(self, last: float) -> bool:
        """Whether a last fit of this work is within bounds."""
        return last <= self.last_work
