"""A study of which a worker process is killed."""

import os

import pytest

from slow.unit.execute.deadly import Deadly
from unit.execute.test_loop import work_that_ends_its_worker_is_a_failure


@pytest.mark.skipif(os.name != "posix", reason="signals between processes are a POSIX matter")
def test_work_that_kills_its_worker_twice_is_a_failure_and_the_rest_is_kept():
    work_that_ends_its_worker_is_a_failure(Deadly())
