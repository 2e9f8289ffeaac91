"""What does a busy core cost?  Fits alone and while one other process keeps a core busy; wall seconds.

Of two cores a fit then has one and a half at best: where it uses both, it takes 1.33 times as long; the goal is at most
1.5 times. BSML: fifteen sweeps on tmc2007-500; OPLS: 300,000 x 100 float32 rows with 20 labels, fitted by sums;
Kernelized(OPLS): the 1,797 digits, width and ridge chosen, so that the time is that of decompositions.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from measure import arguments, chosen, fix_threads, show, within

SWEEPS, QUICK_SWEEPS, ROWS, QUICK_ROWS, LIMIT = 15, 2, 300_000, 3_000, 1.5


def spin(started: Any) -> None:
    """Keep a core busy."""
    started.set()
    while True:
        pass


@contextmanager
def busy_core() -> Iterator[None]:
    """A process that computes meanwhile."""
    context = multiprocessing.get_context("spawn")
    started = context.Event()
    other = context.Process(target=spin, args=(started,), daemon=True)
    other.start()
    started.wait()
    try:
        yield
    finally:
        other.terminate()
        other.join()


def tasks(quick: bool) -> dict[str, Callable[[], Any]]:
    """The fits by name."""
    from bsml import LARGE, read
    from fixed_costs import drawn
    from proxembed import BSML, OPLS, Kernelized
    from proxembed.data import digits

    (X, Y), (rows, labels) = read(LARGE, quick), drawn(QUICK_ROWS if quick else ROWS, 100, 20)
    sweeps = BSML(max_iter=QUICK_SWEEPS if quick else SWEEPS, tol=0.0, random_state=0)
    images = digits()
    return {
        "BSML": lambda: sweeps.fit(X, Y),
        "OPLS": lambda: OPLS().fit(rows, labels),
        "Kernelized(OPLS)": lambda: Kernelized(OPLS()).fit(images.X, images.Y),
    }


def seconds_of(task: Callable[[], Any]) -> float:
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def main() -> None:
    import warnings

    options = arguments(__doc__.partition("\n")[0], repeats=3).parse_args()
    fix_threads(options.threads)
    warnings.simplefilter("ignore")  # so few sweeps do not converge
    fits, lines = tasks(options.quick), []
    for name in chosen(fits, options.methods):
        fits[name]()
        alone, busy = [], []
        for _ in range(1 if options.quick else options.repeats):
            alone.append(seconds_of(fits[name]))
            with busy_core():
                busy.append(seconds_of(fits[name]))
        ratio = min(busy) / min(alone)
        lines.append([name, min(alone), min(busy), ratio, within(ratio, LIMIT)])
    title = f"{__doc__}\n{options.threads} threads of BLAS, least of {options.repeats}"
    show(title, ["fit", "alone", "busy core", "ratio", "limit"], lines)


if __name__ == "__main__":
    main()
