"""A search that was killed with -9 at any moment goes on and ends as the one that was not.

``make kill-test`` kills 20 times, the diagnosis included (KILLS=20 KILL_SHUFFLES=19); ``make test-slow`` three times,
at moments drawn anew each day.
"""

import json
import os
import random
import subprocess
import sys
import time
from datetime import date

import pytest

from unit.workflow.test_resume import COMMAND, arms_are_not_fitted_again, check_same, data, left, two_rivals

__all__ = ["data", "two_rivals"]  # fixtures
KILLS = int(os.environ.get("KILLS", "3"))
SEED = os.environ.get("KILL_SEED", str(date.today()))
COMMAND = [*COMMAND, "--shuffles", os.environ.get("KILL_SHUFFLES", "0")]
RUNS = """
import json, os, signal, sys, time
import matplotlib.figure
from proxembed.cli import main
from proxembed.evaluate import arms
from proxembed.report import adaptive, figures
from proxembed.workflow import main_job
empty = figures.svg_text((1, 1), lambda figure: None, "")
figures.svg_text = adaptive.svg_text = lambda size, draw, salt: empty
main_job.rival_arms = lambda *args, **options: arms.rival_arms(*args, **options)[:2]
for line in sys.stdin:
    words, kill_after = json.loads(line)
    child = os.fork()
    if child == 0:
        sys.argv = ["proxembed", *words]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        main()
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)  # a child that has ended keeps its number until it is waited for
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Program:
    """The program in processes of their own, which start at once: they are forked from one that has imported it."""

    def __init__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.parent = subprocess.Popen([sys.executable, "-c", RUNS], **pipes)

    def run(self, *words, kill_after=None):
        """Exit code and seconds of a run, killed after so many seconds."""
        started = time.monotonic()
        self.parent.stdin.write(json.dumps([[str(word) for word in words], kill_after]) + "\n")
        self.parent.stdin.flush()
        return int(self.parent.stdout.readline()), time.monotonic() - started


@pytest.fixture(scope="module")
def program():
    program = Program()
    yield program
    with program.parent:
        program.parent.stdin.close()
    assert program.parent.returncode == 0


@pytest.fixture(scope="module")
def whole(program, data, tmp_path_factory):
    """What the run that nobody kills leaves, and its seconds."""
    out = tmp_path_factory.mktemp("whole") / "out"
    code, seconds = program.run("search", data, *COMMAND, "-o", out)
    assert code == 0
    return left(out), seconds


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork and kill are a POSIX matter")
@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_search_resumes_and_ends_as_the_whole_one(number, program, data, whole, tmp_path):
    expected, seconds = whole
    moment = random.Random(f"{SEED} {number}").uniform(0, seconds)
    out = tmp_path / "out"
    program.run("search", data, *COMMAND, "-o", out, kill_after=moment)
    study = out / "study.jsonl"
    stored = study.read_bytes().splitlines() if study.exists() else []
    assert program.run("search", data, *COMMAND, "-o", out, "--resume")[0] == 0, f"killed after {moment:.3f} s"
    check_same(left(out), expected)
    complete = [line for line in stored if line.endswith(b"}")]
    assert study.read_bytes().splitlines()[: len(complete)] == complete, "what was finished is not done again"


def test_the_arms_of_an_ended_comparison_are_not_fitted_again_by_two_workers(two_rivals, tmp_path, monkeypatch):
    arms_are_not_fitted_again(tmp_path, monkeypatch, n_jobs=2)
