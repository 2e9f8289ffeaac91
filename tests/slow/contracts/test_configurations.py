"""Comparisons, searches and worker processes under every global configuration of scikit-learn."""

from __future__ import annotations

import pytest

from configurations import CONFIGURATIONS
from contracts.test_configurations import (
    JOBS,
    SHORT,
    assert_frames_reach_estimators_of_the_caller,
    assert_job_is_the_same,
)

pytestmark = pytest.mark.default_configuration
LONG = [(each, job) for each in CONFIGURATIONS for job in JOBS if (each, job) not in SHORT]


@pytest.mark.parametrize(("configuration", "job"), LONG)
def test_a_job_gives_the_result_of_the_default_configuration(configuration, job):
    assert_job_is_the_same(configuration, job)


def test_estimators_of_the_caller_run_under_the_configuration_of_the_caller_in_workers():
    assert_frames_reach_estimators_of_the_caller(n_jobs=2)
