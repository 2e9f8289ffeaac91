"""Signals between processes: searches of the program that are interrupted, killed or still at work."""

import json
import os
import signal
import subprocess
import sys

import pytest

from unit.cli.test_interruption import (
    COMPARED,
    FAST,
    MODEL,
    PAGE,
    QUICK,
    SIGNALS,
    STUDY,
    UNFINISHED,
    few_rivals,
    names,
    program,
)

__all__ = ["few_rivals"]  # a fixture
LEDGERS = {f".study-{repeat}.{fold}.jsonl" for repeat in (1, 2) for fold in range(1, 6)}  # of nested folds, to resume
RUN = (
    "import signal, sys\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # whatever the tests run under
    "signal.signal(signal.SIGTERM, signal.SIG_DFL)\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "from proxembed.cli import main\n"
    "from proxembed.workflow import main_job\n"
    "from proxembed.study import trials\n"
    "rivals = main_job.rival_arms\n"
    "main_job.rival_arms = lambda *args, **options: rivals(*args, **options)[:2]\n"
    "trial = trials.score\n"
    "def told(*args, **options):\n    print('trial', flush=True)\n    return trial(*args, **options)\n"
    "trials.score = told\n"
    "def endless(*args):\n    print('diagnosis', flush=True)\n    import threading\n    threading.Event().wait(300)\n"
    "main_job.run_diagnosis = endless\n"
    "main()\n"
)


def signalled(unsplit, out, number, word, count, *options):
    """The program under a signal that it gets when it has said a word so many times: exit code and standard error."""
    command = [sys.executable, "-c", RUN, "search", str(unsplit), *QUICK, *options, "-o", str(out)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as run:
        for line in run.stdout:
            count -= line.strip() == word
            if count == 0:
                break
        os.kill(run.pid, number)
        _, told = run.communicate(timeout=300)
        return run.returncode, told


@pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
def test_a_signal_in_the_search_keeps_the_best_so_far(unsplit, tmp_path):
    out, number = tmp_path / "out", signal.SIGTERM
    code, told = signalled(unsplit, out, number, "trial", 9, "--max-trials", "100000", "--max-seconds", "600")
    assert code == 143 and names(out) == MODEL | UNFINISHED | STUDY
    last = told.strip().splitlines()[-1]
    assert last.startswith("proxembed: interrupted; the best so far (") and "Traceback" not in told, told


@pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_after_the_comparison_keeps_it_with_the_model_and_the_page(unsplit, tmp_path, name):
    out, number = tmp_path / "out", getattr(signal, name)
    code, told = signalled(unsplit, out, number, "diagnosis", 1)
    assert code == 128 + number and names(out) == PAGE | MODEL | STUDY | LEDGERS and str(out) in told


@pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
def test_a_killed_run_leaves_what_was_finished_and_the_next_one_clears_the_rest(unsplit, tmp_path):
    out = tmp_path / "out"
    code, told = signalled(unsplit, out, signal.SIGKILL, "diagnosis", 1)
    assert code == -signal.SIGKILL and "Traceback" not in told
    left = names(out)
    ended = COMPARED | STUDY | LEDGERS
    assert len(left - ended) == 1 and left > ended and (left - ended).pop().startswith(".running-")
    assert program("report", out).exit_code == 0 and names(out) == PAGE | STUDY | LEDGERS
    record = json.loads((out / "results.json").read_text())
    assert record["map"] is not None and record["diagnosis"] is None


@pytest.mark.skipif(os.name != "posix", reason="locks are a POSIX matter here")
def test_a_second_run_into_the_same_folder_is_refused_while_the_first_lives(unsplit, file, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", RUN, "search", str(unsplit), *QUICK, "-o", str(out)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as run:
        next(line for line in run.stdout if line.strip() == "diagnosis")
        before = names(out)
        done = program("compare", file, *FAST, "-o", out)
        assert done.exit_code == 2 and f"{out} is being written by another run (process {run.pid})" in done.stderr
        assert names(out) == before
        run.kill()
    assert program("compare", file, *FAST, "-o", out).exit_code == 0 and names(out) == PAGE | STUDY
