"""Settings and fixtures shared by every test."""

import os
import time
import zlib

# scikit-learn's estimator checks test array API support only when scipy was imported with this switch on.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from configurations import NAMED, configured  # noqa: E402
from proxembed.algebra.arrays.parallel import one_pool, one_thread  # noqa: E402

settings.register_profile("suite", max_examples=40, deadline=None)
settings.load_profile("suite")


# Laws of every estimator with every variant of X, and other long tests of many cases: `make test` runs one case in
# three, `make test-slow` the others. With TEST_SHARE=3 in the environment one in three of all tests runs.
CONTRACTS = "operators", "odd_parameters", "bad_parameters", "extreme_x", "bad_labels"
THINNED = (
    *(f"contracts/test_{name}.py" for name in CONTRACTS),
    *(f"invariants/test_{name}.py" for name in ("estimators", "symmetries", "routes")),
)
MANY_CASES = {
    "test_a_template_takes_less_than_half_of_the_duplicated_rows",
    "test_agrees_with_a_dense_solve",
    "test_certificate",
    "test_check_estimator",
    "test_every_drawn_configuration_builds_and_fits",
    "test_every_estimator_comes_back_with_the_same_output",
    "test_every_measure_is_searched_for_and_compared",
    "test_every_route_gives_the_leading_components",
    "test_friends_and_enemies_are_near_by_the_metric",
    "test_iterative_route",
    "test_links_are_those_of_the_definition",
    "test_matrices_are_those_of_explicit_duplication",
    "test_no_value_depends_on_the_order_of_reading",
    "test_scikit_learn_contract",
    "test_seconds_are_kept",
    "test_the_bound_never_falls",
}
# Whole runs of the program or of a search, of which `make test` has the first case.
LONG_CASES = {
    "test_a_fit_on_a_cluster_is_that_of_this_process",
    "test_a_killed_search_resumes_and_ends_as_the_whole_one",
    "test_a_search_goes_on_from_any_line_and_ends_as_the_whole_one",
    "test_an_archive_of_other_arrays_is_read_or_refused",
    "test_an_output_that_cannot_be_printed_is_one_line_and_code_2",
    "test_one_column_of_0_and_1_is_a_label_like_any_other",
    "test_where_nobody_reads_the_program_ends_quietly",
    "test_where_plain_steps_fail_a_factor_that_fits_is_taken_after_all",
}
ONE_IN, SHARE = 3, int(os.environ.get("TEST_SHARE", "1"))


def pytest_collection_modifyitems(items):
    """Mark the cases that wait for the longer run; which ones follows from their names alone."""
    seen = set()
    for item in items:
        name, drawn = getattr(item, "originalname", ""), zlib.crc32(item.name.encode())
        many = item.path.as_posix().endswith(THINNED) or name in MANY_CASES
        further = name in LONG_CASES and (item.path, name) in seen
        seen.add((item.path, name))
        if (many and drawn % ONE_IN) or further or drawn // ONE_IN % SHARE:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def configuration(request):
    """The global configuration that PROXEMBED_SKLEARN_CONFIG names; the default one for tests marked so."""
    with configured(None if request.node.get_closest_marker("default_configuration") else NAMED):
        yield


@pytest.fixture(autouse=True)
def blas_has_its_threads_again():
    """No test leaves a pool of BLAS on one thread; threads that a test has given up may still be at work."""
    yield
    for _ in range(2000):
        if not (one_pool.entered or one_thread.entered):
            return
        time.sleep(0.01)
    raise AssertionError("a fit has left the pools of BLAS on one thread")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the real data sets: $PROXEMBED_DATA, or shared/data beside the checkout."""
    named = os.environ.get("PROXEMBED_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if folder.is_dir():
        return folder
    reason = f"no real data in {folder}; set PROXEMBED_DATA to the folder that holds them"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
