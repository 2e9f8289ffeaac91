"""The clock of a budget: it rings again where something has swallowed its exception, and later where code is made.

A timer of the system would ring by the wall clock. Here it is recorded, and tests send its signal themselves.
"""

import importlib
import signal
import sys
from contextlib import suppress
from types import SimpleNamespace

import numba
import pytest
from numba.core import event

from clocks import set_clock
from proxembed.algebra.arrays.blas import _OneThread
from proxembed.execute import budget
from proxembed.execute.budget import AGAIN, SOON, Budget, CpuSeconds, OutOfBudget

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
POSTPONED = [(5.0, AGAIN), (SOON, AGAIN), (0,)]


@pytest.fixture
def timer(monkeypatch):
    """How the timer of the wall clock is set."""
    found = []

    def setitimer(which, *seconds):
        assert which == signal.ITIMER_REAL
        found.append(seconds)

    set_clock(monkeypatch)
    monkeypatch.setattr(budget.signal, "setitimer", setitimer)
    return found


def ring():
    signal.raise_signal(signal.SIGALRM)


def test_work_is_stopped_by_its_seconds_of_the_processor():
    with pytest.raises(OutOfBudget, match="the budget of 0.05 CPU seconds"), Budget(CpuSeconds(0.05)).limit():
        for _ in range(10**7):
            sum(range(100))
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_work_whose_first_stop_was_swallowed_is_stopped_again(timer):
    with pytest.raises(OutOfBudget), Budget(5).limit():
        with suppress(OutOfBudget):  # as the interpreter does in callbacks and finalizers
            ring()
        ring()
    assert timer == [(5.0, AGAIN), (0,)] and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


@pytest.mark.parametrize("slow", ["set", "restored"])
def test_blas_has_its_threads_again_after_work_that_was_stopped_while_it_set_them(slow, timer):
    done = []

    def step(name):
        if name == slow:
            ring()
        done.append(name)

    limit = SimpleNamespace(restore_original_limits=lambda: step("restored"))
    pools = _OneThread(lambda: SimpleNamespace(limit=lambda limits: step("set") or limit))
    with pytest.raises(OutOfBudget), Budget(5).limit():
        with pools:
            assert pools.entered
        ring()
    assert done == ["set", "restored"] and not pools.entered and timer == POSTPONED


def test_a_module_is_imported_to_its_end_before_its_importer_is_stopped(tmp_path, monkeypatch, timer):
    body = "import signal\nsignal.raise_signal(signal.SIGALRM)\nwhole = True\n"
    (tmp_path / "stopped_while_imported.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises(OutOfBudget), Budget(5).limit():
            importlib.import_module("stopped_while_imported")
            ring()
        assert sys.modules["stopped_while_imported"].whole and timer == POSTPONED
    finally:
        sys.modules.pop("stopped_while_imported", None)


class _RingsOnce(event.Listener):
    """Rings at the start of the first compilation."""

    rung = False

    def on_start(self, event):
        if not self.rung:
            self.rung = True
            ring()

    def on_end(self, event):
        pass


def test_machine_code_is_compiled_to_its_end_before_the_work_that_needs_it_is_stopped(timer):
    @numba.njit
    def harmonic(n):
        total = 0.0
        for k in range(1, n + 1):
            total += 1.0 / k
        return total

    with pytest.raises(OutOfBudget), Budget(5).limit(), event.install_listener("numba:compile", _RingsOnce()):
        harmonic(2)
        ring()
    assert harmonic.signatures and harmonic(2) == 1.5 and timer == POSTPONED
