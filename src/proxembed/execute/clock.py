"""The clock of budgets and deadlines, in one place. Tests replace ``monotonic``; callers write ``clock.now()``."""

from time import monotonic


def now() -> float:
    """Seconds of the monotonic clock, which nobody can set."""
    return monotonic()
