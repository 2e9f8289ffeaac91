"""Worker processes end with the program that began them and is killed."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
DEADLINE = 300  # seconds after which a wait has failed
# The program keeps the pipe open too: a program that fails at its start ends the reading.
PROGRAM = f"""
import signal, sys
told = open(sys.argv[1], "w")
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from proxembed.cli.terminal import exit_code, interruptible
from proxembed.execute.executor import Executor
from worker_tasks import held
try:
    with interruptible(), Executor(2, sys.argv[1]) as executor:
        list(executor.map(held, range(2)))
except KeyboardInterrupt:
    sys.exit(exit_code())
"""


def end_of(told):
    """Wait until no process has the pipe open any more."""
    assert select.select([told], [], [], DEADLINE)[0], "processes are left"
    assert told.read() == ""


def test_workers_end_with_a_program_that_is_killed(tmp_path):
    workers_end_with_the_program("SIGKILL", False, tmp_path)


def workers_end_with_the_program(name, of_all, tmp_path):
    number, pipe = getattr(signal, name), tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", PROGRAM, str(pipe)]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as program,
        open(pipe) as told,
    ):
        workers = {told.readline() for _ in range(2)}
        assert len(workers) == 2 and "" not in workers, program.communicate()
        (os.killpg if of_all else os.kill)(program.pid, number)
        end_of(told)
        code, errors = program.wait(DEADLINE), program.stderr.read()
    assert code == (128 + number if of_all else -number) and "Traceback" not in errors, errors
