"""Does a search take what was forecast?  Units of work forecast and CPU seconds used, phase by phase.

    python bench/forecasts.py [SET] [--work 60] [--goal neighbours] [--rows 300]

Sets come from $PROXEMBED_DATA, or the folder shared/data beside the checkout; a quarter of the rows is held out by the
seed 0 (of few ``--rows`` nested folds). One BLAS thread, so that CPU seconds are those of one core; on a machine of the
speed 1 (``machine_speed``, printed) they are units of work, so that a run ends after about ``--work`` seconds of a core
of its own, and later on a busy machine. Forecasts are those made when the choice was known, of the cuts that were
settled then.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import proxembed  # noqa: E402
from proxembed.data import read  # noqa: E402
from proxembed.evaluate.costs import machine_speed  # noqa: E402
from proxembed.workflow import main_job, nested  # noqa: E402

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
LAST = "last fit and page"
PHASES = {
    "search": [(main_job, "run_engine"), (nested, "run_engine")],
    "comparison": [(main_job, "compared")],
    "diagnosis": [(main_job, "look_at_test_rows")],
}


class Spent:
    """CPU seconds inside functions, each without those inside others."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.inner: list[float] = []
        for phase, functions in PHASES.items():
            for module, function in functions:
                setattr(module, function, self.timed(phase, getattr(module, function)))

    def timed(self, phase: str, function: Any) -> Any:
        def call(*given: Any, **more: Any) -> Any:
            started = time.process_time()
            self.inner.append(0.0)
            try:
                return function(*given, **more)
            finally:
                spent = time.process_time() - started
                self.seconds[phase] += spent - self.inner.pop()
                if self.inner:
                    self.inner[-1] += spent

        return call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="?", default="emotions")
    parser.add_argument("--work", type=float, default=60.0, help="units of work: about CPU seconds")
    parser.add_argument("--goal")
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    data = replace(read(DATA / f"{asked.set}.npz"), train_idx=None, test_idx=None)
    data = data if asked.rows is None else data.take(range(asked.rows))
    spent, started = Spent(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        found = proxembed.search(data, goal=asked.goal, max_work=asked.work, max_seconds=None, folder=folder)
    whole, phases = time.process_time() - started, found.record["search"]["budget"]["phases"]
    spent.seconds[LAST] = whole - spent.seconds.total()
    print(f"{asked.set}, {asked.work:g} units of work, speed of the machine {machine_speed():.2f}")
    print("| phase | forecast | used | ratio |\n|---|---|---|---|")
    for phase, used in [*((name, spent.seconds[name]) for name in phases), ("whole", whole)]:
        forecast = phases.get(phase, sum(phases.values()))
        print(f"| {phase} | {forecast:.1f} | {used:.1f} | {forecast / used:.2f} |")
    print("\n".join(found.cuts))


if __name__ == "__main__":
    main()
