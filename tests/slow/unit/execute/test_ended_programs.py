"""Worker processes end with the program whose terminal hangs up."""

import os

import pytest

from unit.execute.test_ended_programs import workers_end_with_the_program


@pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
def test_workers_end_with_a_program_that_is_hung_up(tmp_path):
    """The end of a terminal sends the signal to all processes of the session, workers included."""
    workers_end_with_the_program("SIGHUP", True, tmp_path)
