"""Packages of extras in tests."""

import os
from types import ModuleType

import pytest


def needed(module: str) -> ModuleType:
    """The module of an extra; without it a test is skipped, and fails where CI=true."""
    if os.environ.get("CI") == "true":
        return __import__(module)
    return pytest.importorskip(module)
