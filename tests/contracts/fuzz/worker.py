"""A process of its own that judges cases, so that one that crashes, hangs or eats memory is a verdict like the others.

``python -m contracts.fuzz.worker`` reads a case a line, with the number of laws before it, and writes its verdict as a
line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

from configurations import NAMED, configured

from . import tables
from .case import Case
from .judge import Verdict, judge
from .limits import MEMORY
from .tables import TableCase

PATIENCE = 60.0  # seconds on the clock for a case, where nothing in the process can stop it any more


class Worker:
    """The parent's hold on a process that judges; a new process takes the place of one that died."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def judge(self, case: Case | TableCase, laws: int = 3) -> Verdict:
        """The verdict on a case, whatever it does to the process."""
        process = self._running()
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        try:
            process.stdin.write(f"{laws} {case}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return Verdict(**json.loads(line))
        code = process.wait()
        self.close()
        return Verdict("raw", f"the process died with exit status {code}", f"or took more than {PATIENCE:g} s")

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None:
            paths = os.pathsep.join(path for path in sys.path if path)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "contracts.fuzz.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        return self.process


def limit_memory() -> None:
    """Let the process have MEMORY more than it has, where the system can be asked."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    limit_memory()
    with configured(NAMED):
        for line in sys.stdin:
            laws, _, text = line.rstrip("\n").partition(" ")
            of_table = text.startswith(tables.START)
            verdict = tables.judge(TableCase.read(text)) if of_table else judge(Case.read(text), int(laws))
            print(json.dumps(verdict.as_dict()), file=answers)


if __name__ == "__main__":
    main()
