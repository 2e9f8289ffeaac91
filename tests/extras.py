"""Packages of extras in tests."""

import importlib
import os
from types import ModuleType

import pytest

NOT_IN_DEV = ("anndata", "mlflow", "skore")  # releases of the first hold pandas below 3; the others are large


def needed(module: str) -> ModuleType:
    """The module of an extra; without it a test is skipped, and where CI=true fails if the extra belongs to dev."""
    if os.environ.get("CI") == "true" and module not in NOT_IN_DEV:
        return importlib.import_module(module)
    return pytest.importorskip(module)
