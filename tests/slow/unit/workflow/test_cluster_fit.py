"""`proxembed fit --dask local`: worker processes of this machine read their own pieces of Parquet files."""

import pytest

from unit.workflow.test_cluster_fit import EACH_KIND, fit_is_that_of_this_process, parts, program_fits

__all__ = ["parts"]  # a fixture


@pytest.mark.default_configuration
@EACH_KIND
def test_a_fit_on_worker_processes_is_that_of_this_process(parts, method, columns):
    fit_is_that_of_this_process(parts, method, columns, "local")


def test_the_program_fits_on_workers_of_this_machine(parts, tmp_path):
    program_fits(parts, tmp_path, "local")
