"""How the questions of this folder are timed and printed: threads fixed first, median of repeats, plain tables."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def arguments(question: str, repeats: int = 5) -> argparse.ArgumentParser:
    """The options that every question takes."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--quick", action="store_true", help="small sizes and one run, to see that it works")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of BLAS and OpenMP")
    parser.add_argument("--repeats", type=int, default=repeats, help="number of runs; their median is reported")
    parser.add_argument("--methods", default="", help="names separated by commas; all when left out")
    return parser


def fix_threads(threads: int) -> None:
    """Set the number of threads; numpy reads it once, when it is imported."""
    if "numpy" in sys.modules:
        raise RuntimeError("numpy was imported before the number of threads was set; call fix_threads first.")
    for name in THREAD_VARIABLES:
        os.environ[name] = str(threads)


def median_seconds(task: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Median wall-clock seconds over repeated calls after a warm-up call, and the last result."""
    result = task()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def resident_bytes() -> int:
    """Resident size of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def anonymous_bytes() -> int:
    """Resident memory of this process that is no page of a file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) << 10


class PeakMemory(threading.Thread):
    """Samples the resident size of this process every five milliseconds."""

    read = staticmethod(resident_bytes)

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.start_bytes = self.peak = self.read()
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.005):
            self.peak = max(self.peak, self.read())

    def above_start(self) -> int:
        self._done.set()
        self.join()
        return max(self.peak, self.read()) - self.start_bytes


class ArrayMemory(PeakMemory):
    """Samples the memory of this process that is no page of a file, such as of a memory map."""

    read = staticmethod(anonymous_bytes)


def fit_arguments(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """The hidden options of a script that starts itself for every fit: ``one_fit(folder, name)`` of its own."""
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fit", choices=list(names), help=argparse.SUPPRESS)


def own_process(script: str, name: str, folder: Path, threads: int, *options: str) -> dict[str, Any]:
    """What the script prints, one line of JSON, when it fits ``name`` on the data of a folder in a fresh process."""
    command = [sys.executable, script, "--folder", str(folder), "--fit", name, "--threads", str(threads), *options]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{name} failed:\n{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])


def chosen(names: Iterable[str], wanted: str) -> list[str]:
    """The names asked for, or all of them."""
    names = list(names)
    asked = [name for name in wanted.split(",") if name]
    unknown = sorted(set(asked) - set(names))
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; choose from {', '.join(names)}")
    return asked or names


def within(value: float, limit: float | None) -> str:
    """A limit in words."""
    if limit is None:
        return ""
    return f"{'within' if value <= limit else 'OVER'} {limit:g}"


def at_least(value: float, limit: float) -> str:
    """A least value in words."""
    return f"{'at least' if value >= limit else 'UNDER'} {limit:g}"


def show(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    """Print a plain text table."""
    cells = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [columns, *cells]) for i in range(len(columns))]
    print(f"\n{title}")
    for line in [columns, ["-" * width for width in widths], *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    sys.stdout.flush()
