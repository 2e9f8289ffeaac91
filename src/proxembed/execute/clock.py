"""The clock of budgets and deadlines, in one place, so that tests can set it: callers write ``clock.now()``."""

import time


def now() -> float:
    """Seconds of the monotonic clock, which nobody can set.

    Examples
    --------
    >>> from proxembed.execute import clock
    >>> clock.now() <= clock.now()
    True
    """
    return time.monotonic()
