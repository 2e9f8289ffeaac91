"""The clock of a budget: it rings again where something has swallowed its exception, and later where code is made."""

import importlib
import signal
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import numba
import pytest

from proxembed.algebra.arrays.parallel import _OneThread
from proxembed.execute import budget
from proxembed.execute.budget import Budget, OutOfBudget


def spin():
    for _ in range(10**7):
        sum(range(100))
    raise AssertionError("not stopped")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
def test_work_whose_first_stop_was_swallowed_is_stopped_again(monkeypatch):
    monkeypatch.setattr(budget, "AGAIN", 0.05)
    with pytest.raises(OutOfBudget), Budget(0.05).limit():
        with suppress(OutOfBudget):  # as the interpreter does in callbacks and finalizers
            spin()
        spin()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
@pytest.mark.parametrize("slow", ["set", "restored"])
def test_blas_has_its_threads_again_after_work_that_was_stopped_while_it_set_them(slow, monkeypatch):
    done = []

    def step(name):
        time.sleep(0.3 if name == slow else 0)
        done.append(name)

    limit = SimpleNamespace(restore_original_limits=lambda: step("restored"))
    pools = _OneThread(lambda: SimpleNamespace(limit=lambda limits: step("set") or limit))
    with pytest.raises(OutOfBudget), Budget(0.1).limit():
        with pools:
            assert pools.entered
        spin()
    assert done == ["set", "restored"] and not pools.entered


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
def test_a_module_is_imported_to_its_end_before_its_importer_is_stopped(tmp_path, monkeypatch):
    body = "import time\nfor _ in range(30):\n    time.sleep(0.01)\nwhole = True\n"
    (tmp_path / "slow_to_import.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises(OutOfBudget), Budget(0.1).limit():
            importlib.import_module("slow_to_import")
            spin()
        assert sys.modules["slow_to_import"].whole
    finally:
        sys.modules.pop("slow_to_import", None)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
def test_machine_code_is_compiled_to_its_end_before_the_work_that_needs_it_is_stopped():
    @numba.njit
    def harmonic(n):
        total = 0.0
        for k in range(1, n + 1):
            total += 1.0 / k
        return total

    with pytest.raises(OutOfBudget), Budget(0.01).limit():
        harmonic(2)
        spin()
    assert harmonic.signatures and harmonic(2) == 1.5
