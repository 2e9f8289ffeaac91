"""Settings and fixtures shared by every test."""

import os

# scikit-learn's estimator checks test array API support only when scipy was imported with this switch on.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("suite", max_examples=40, deadline=None)
settings.load_profile("suite")


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
