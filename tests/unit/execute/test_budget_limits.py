"""The budget: what it stops, what it leaves in peace."""

import signal
import threading

import pytest

from clocks import Clock, set_clock
from proxembed.execute.budget import Budget, CpuSeconds, OutOfBudget


def ring(timer, number, seconds):
    """What the timer does at its end, of which about that many seconds are left."""
    assert signal.getitimer(timer)[0] == pytest.approx(seconds, abs=2)
    signal.raise_signal(number)
    raise AssertionError("not stopped")


def test_work_is_stopped_in_the_main_thread(monkeypatch):
    set_clock(monkeypatch)
    with pytest.raises(OutOfBudget, match="the budget of 100 seconds"), Budget(100).limit():
        ring(signal.ITIMER_REAL, signal.SIGALRM, 100)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_timer_that_rings_as_it_is_taken_away_leaves_nothing(monkeypatch):
    set_clock(monkeypatch)
    taken, real = [], signal.setitimer

    def setitimer(timer, *seconds):
        if seconds == (0,) and not taken:
            taken.append(timer)
            signal.raise_signal(signal.SIGALRM)
        real(timer, *seconds)

    monkeypatch.setattr(signal, "setitimer", setitimer)
    with pytest.raises(OutOfBudget), Budget(100).limit():
        ring(signal.ITIMER_REAL, signal.SIGALRM, 100)
    assert taken and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_elsewhere_work_that_ended_too_late_does_not_count(monkeypatch):
    found, clock = [], set_clock(monkeypatch)

    def work():
        try:
            with Budget(50).limit():
                clock.forward(200)
                found.append("ran to its end")
        except OutOfBudget:
            found.append("too late")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["ran to its end", "too late"]


def test_the_clock_goes_on_between_blocks(monkeypatch):
    clock = set_clock(monkeypatch)
    budget = Budget(200)
    with budget.limit():
        clock.forward(150)
    assert budget.left == 50
    with pytest.raises(OutOfBudget), budget.limit():
        clock.forward(60)
    with pytest.raises(OutOfBudget), budget.limit():
        raise AssertionError("not entered")


def test_no_limit_and_enough_time_change_nothing(monkeypatch):
    set_clock(monkeypatch)
    for seconds in (None, 60):
        with Budget(seconds).limit():
            done = sum(range(10))
        assert done == 45
    with pytest.raises(ZeroDivisionError), Budget(60).limit():
        1 / 0  # noqa: B018
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_of_somebody_else_is_left_alone(monkeypatch):
    set_clock(monkeypatch)
    mine = lambda *_: None  # noqa: E731
    signal.signal(signal.SIGALRM, mine)
    try:
        with Budget(0.05).limit():
            assert signal.getsignal(signal.SIGALRM) is mine
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_cpu_seconds_count_work_and_not_waiting(monkeypatch):
    wall, work = set_clock(monkeypatch), Clock()
    monkeypatch.setattr("time.process_time", work)
    budget = Budget(CpuSeconds(50))
    with budget.limit():
        wall.forward(200)
    assert budget.left == 50
    with pytest.raises(OutOfBudget, match="the budget of 50 CPU seconds"), budget.limit():
        ring(signal.ITIMER_PROF, signal.SIGPROF, 50)
    assert signal.getsignal(signal.SIGPROF) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    with pytest.raises(OutOfBudget), budget.limit():
        work.forward(60)
