"""How much of a search is neither fitting nor scoring?  At most 10 % of its CPU seconds, on emotions and scene.

    python bench/overhead.py [emotions scene]     # from $PROXEMBED_DATA, or the folder shared/data beside the checkout

The whole job runs in this process, into a folder, with 120 units of work. Fitting and scoring is what is spent in the
fits of trials and arms, in the parts of folds that they share, on the figures of the test rows, in the diagnosis, the
intervals of the verdict and the last fit; overhead is all else: reading, plan, splits, bookkeeping, storage, record,
files, page. Imports come before.
"""

import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import show, within
from proxembed.data import read
from proxembed.evaluate import run, verdict
from proxembed.study import embedding_search, trials
from proxembed.workflow import main_job
from proxembed.workflow.options import SearchOptions

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS, WORK, LIMIT = ("emotions", "scene"), 120.0, 10.0
TIMED = (
    ("trials", trials, "score"),
    ("trials", trials, "make_part"),
    ("trials", embedding_search, "choose_scaling"),
    ("arms", run, "score"),
    ("arms", run, "prepare"),
    ("test rows", main_job, "held_out_evidence"),
    ("diagnosis", main_job, "diagnose"),
    ("intervals", verdict.TestGains, "versus"),
    ("last fit", main_job, "fit_on"),
)
PHASES = list(dict.fromkeys(phase for phase, _, _ in TIMED))


class Clock:
    """CPU seconds inside the functions that are timed, each second counted for the outermost of them."""

    def __init__(self):
        self.seconds: Counter[str] = Counter()
        self.inside = False

    def timed(self, phase: str, function: Callable) -> Callable:
        def wrapped(*given: Any, **named: Any) -> Any:
            if self.inside:
                return function(*given, **named)
            self.inside, started = True, time.process_time()
            try:
                return function(*given, **named)
            finally:
                self.inside = False
                self.seconds[phase] += time.process_time() - started

        return wrapped


def spent(name: str) -> tuple[float, Counter]:
    """CPU seconds of a search, and those of each phase of fitting and scoring."""
    clock, plain = Clock(), [getattr(place, attribute) for _, place, attribute in TIMED]
    for (phase, place, attribute), function in zip(TIMED, plain, strict=True):
        setattr(place, attribute, clock.timed(phase, function))
    head = {"kind": "search", "command": f"proxembed search {name}.npz", "seed": 0, "data_hash": None}
    try:
        with tempfile.TemporaryDirectory() as folder:
            started = time.process_time()
            options = SearchOptions(max_seconds=None, max_work=WORK)
            main_job.run_search(read(DATA / f"{name}.npz"), options, head, Path(folder) / "out")
            whole = time.process_time() - started
    finally:
        for (_, place, attribute), function in zip(TIMED, plain, strict=True):
            setattr(place, attribute, function)
    return whole, clock.seconds


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in [name for name in sys.argv[1:] if name in SETS] or SETS:
        whole, seconds = spent(name)
        share = 100 * (1 - seconds.total() / whole)
        rows.append([name, whole, *(seconds[phase] for phase in PHASES), f"{share:.1f}", within(share, LIMIT)])
    show(__doc__, ["set", "CPU s", *PHASES, "overhead, %", "limit"], rows)


if __name__ == "__main__":
    main()
