"""The budget: the timers of the system stop what takes too long."""

import signal
import time

import pytest

from proxembed.execute.budget import Budget, CpuSeconds, OutOfBudget


def nap():
    for _ in range(500):
        time.sleep(0.01)
    raise AssertionError("not stopped")


def test_work_is_stopped_in_the_main_thread():
    with pytest.raises(OutOfBudget, match="the budget of 0.1 seconds"), Budget(0.1).limit():
        nap()
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_cpu_seconds_count_work_and_not_waiting():
    with Budget(CpuSeconds(0.2)).limit():
        time.sleep(0.4)
    with pytest.raises(OutOfBudget, match="the budget of 0.2 CPU seconds"), Budget(CpuSeconds(0.2)).limit():
        for _ in range(10**6):
            sum(range(1000))
        raise AssertionError("not stopped")
    assert signal.getsignal(signal.SIGPROF) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
