"""The budget of an arm: a clock that stops Python code where the platform can, and counts the seconds everywhere."""

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class OutOfBudget(TimeoutError):
    """An arm took longer than its budget.

    Examples
    --------
    >>> from proxembed.evaluate.budget import OutOfBudget
    >>> issubclass(OutOfBudget, TimeoutError)
    True
    """


class Budget:
    """Seconds that one arm has on one split; the clock starts when it is made.

    In the main thread of a process (on systems with interval timers) the work is stopped as soon as Python runs again;
    elsewhere it runs to its end. In both cases work that ended after the budget counts as too late.

    Parameters
    ----------
    seconds : float or None
        None is no limit.

    Raises
    ------
    OutOfBudget
        By ``limit``, when the seconds are spent.

    Examples
    --------
    >>> from proxembed.evaluate.budget import Budget
    >>> with Budget(60).limit():
    ...     sum(range(10))
    45
    """

    def __init__(self, seconds: float | None):
        self.seconds, self._started = seconds, time.monotonic()

    @property
    def left(self) -> float:
        """Seconds left: below 0 when the budget is overdrawn, infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - (time.monotonic() - self._started)

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Run a block on the seconds left."""
        self._check()
        with _timer(self.left, self._stop):
            yield
        self._check()

    def _check(self) -> None:
        if self.left <= 0:
            self._stop()

    def _stop(self, *signalled: object) -> None:
        raise OutOfBudget(f"the budget of {self.seconds:g} seconds an arm and split is spent")


@contextmanager
def _timer(seconds: float, stop) -> Iterator[None]:
    """Call ``stop`` from the main thread after so many seconds, unless somebody else uses the alarm."""
    main = threading.current_thread() is threading.main_thread()
    free = hasattr(signal, "setitimer") and main and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    if math.isinf(seconds) or not free:
        yield
        return
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
