"""A search with two workers when one of them, the terminal or the search itself ends: what is left, and who."""

import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from proxembed.execute.ledger import STUDY
from unit.workflow.test_resume import data

__all__ = ["data"]  # a fixture

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")
SEARCH = ["--methods", "opls,mvmd,lfda", "--max-trials", "40", "-k", "1,2", "--folds", "2", "--shuffles", "0"]
SEARCH += ["--max-work", "10"]  # not the seconds of this machine
PROGRAM = (
    "import signal\n"
    "from proxembed.evaluate import arms\n"
    "from proxembed.workflow import main_job\n"
    "main_job.rival_arms = lambda *args, **options: arms.rival_arms(*args, **options)[:2]\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # whatever the tests run under
    "from proxembed.cli import main\nmain()\n"
)
STORED = 5  # lines of the study: the search is under way, and far from its end
LOOKS = 12_000  # of which one follows another after a pause; a run that never comes so far fails


def processes(session):
    """The living processes of a session: number, parent and command."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat") as stat, open(f"/proc/{number}/cmdline") as words:
                state, parent, _, of = stat.read().rpartition(")")[2].split()[:4]
                command = words.read()
        except (FileNotFoundError, ProcessLookupError):  # it has ended since
            continue
        if int(of) == session and state not in "ZX":
            found.append((int(number), int(parent), command))
    return found


def workers(session):
    return [number for number, parent, command in processes(session) if parent == session and "LokyProcess" in command]


def until(reached):
    """Wait until a condition holds."""
    pause = threading.Event()
    for _ in range(LOOKS):
        if reached():
            return
        pause.wait(0.05)
    raise AssertionError("this was never reached")


def ended_by(data, out, end):
    """The program whose search is under way when ``end`` is called with it: exit code, and what it printed."""
    study, log = out / STUDY, out.with_suffix(".log")
    command = [sys.executable, "-c", PROGRAM, "search", str(data), *SEARCH, "-j", "2", "-o", str(out)]
    with open(log, "w") as file, subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True) as run:
        until(lambda: run.poll() is not None or study.exists() and study.read_bytes().count(b"\n") >= STORED)
        assert run.poll() is None, log.read_text()
        end(run)
        code = run.wait()
    until(lambda: not processes(run.pid))
    return code, log.read_text()


def kill_a_worker(run):
    until(lambda: workers(run.pid))
    os.kill(workers(run.pid)[0], signal.SIGKILL)


def names(out):
    return {path.name for path in out.iterdir() if not path.name.startswith(".")}


def trials(out):
    record = json.loads((out / "results.json").read_text())
    return {
        (trial["method"], str(trial["params"])): (trial["score"], trial["failure"])
        for trial in record["search"]["trials"]
    }


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """The trials of the search in which nothing ends."""
    out = tmp_path_factory.mktemp("whole") / "out"
    assert ended_by(data, out, lambda run: None)[0] == 0
    return trials(out)


def test_a_killed_worker_costs_the_search_nothing(data, whole, tmp_path):
    code, told = ended_by(data, tmp_path / "out", kill_a_worker)
    assert code == 0 and "Traceback" not in told, told
    assert {"results.json", "index.html", "model.skops", STUDY} <= names(tmp_path / "out")
    assert trials(tmp_path / "out") == whole, "the lost work was done again"


@pytest.mark.parametrize("of_all", [False, True], ids=["the program", "the terminal"])
def test_a_hang_up_keeps_what_is_finished_and_ends_the_workers(data, tmp_path, of_all):
    """The end of a terminal sends the signal to all processes of the session, workers included."""
    send = os.killpg if of_all else os.kill
    code, told = ended_by(data, tmp_path / "out", lambda run: send(run.pid, signal.SIGHUP))
    assert code == 128 + signal.SIGHUP and "Traceback" not in told, told
    assert re.search(r"interrupted; the best so far \(\w+\)", told)
    assert names(tmp_path / "out") == {"model.skops", "model.md", "embedding.npz", "unfinished.json", STUDY}


def test_the_workers_of_a_killed_search_end(data, tmp_path):
    code, _ = ended_by(data, tmp_path / "out", lambda run: run.kill())
    assert code == -signal.SIGKILL and STUDY in names(tmp_path / "out")
