"""The examples of the package, which stand on public names, run in `make test` without the rivals that take seconds."""

import os

import pytest

from runs import with_few_rivals

WHOLE = os.environ.get("TEST_PRODUCTS") == "1"


@pytest.fixture(autouse=True)
def few_rivals(monkeypatch):
    if not WHOLE:
        with_few_rivals(monkeypatch)
