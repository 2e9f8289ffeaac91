"""Settings and fixtures shared by every test."""

import gc
import os
import threading
import zlib

# scikit-learn's estimator checks test array API support only when scipy was imported with this switch on.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from configurations import NAMED, configured  # noqa: E402
from designs import WHOLE  # noqa: E402
from proxembed.algebra.arrays.blas import one_pool, one_thread  # noqa: E402

settings.register_profile("suite", max_examples=40 if WHOLE else 20, deadline=None)
settings.load_profile("suite")


SHARE = int(os.environ.get("TEST_SHARE", "1"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """The garbage collector, which took a quarter of the collection of tests, never looks at what this has made."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """One test in TEST_SHARE, drawn by its name alone."""
    items[:] = [item for item in items if zlib.crc32(item.name.encode()) % SHARE == 0]


@pytest.fixture(autouse=True)
def configuration(request):
    """The global configuration that PROXEMBED_SKLEARN_CONFIG names; the default one for tests marked so."""
    with configured(None if request.node.get_closest_marker("default_configuration") else NAMED):
        yield


@pytest.fixture(autouse=True)
def blas_has_its_threads_again():
    """No test leaves a pool of BLAS on one thread; threads that a test has given up may still be at work."""
    yield
    pause = threading.Event()
    for _ in range(2000):
        if not (one_pool.entered or one_thread.entered):
            return
        pause.wait(0.01)
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
