"""Which examples of the package run: in `make test` those of the API reference, in `make test-slow` all.

The reference shows the examples of the names that docs/_ext/api_pages.py groups and of the public members of such
classes. The examples of other names run with TEST_PRODUCTS=1 in the environment.
"""

import inspect
import os
import sys
from functools import cache
from pathlib import Path

import pytest

from runs import with_few_rivals

SRC = Path(__file__).parent
WHOLE = os.environ.get("TEST_PRODUCTS") == "1"


@cache
def public() -> set[str]:
    """Where the names of the reference, and the members of its classes, are defined."""
    sys.path.insert(0, str(SRC.parent / "docs" / "_ext"))
    from api_pages import groups

    found = set()
    for thing in (entry.thing for entries in groups().values() for entry in entries):
        found.add(f"{thing.__module__}.{thing.__qualname__}")
        for base in thing.__mro__ if inspect.isclass(thing) else ():
            found |= {f"{base.__module__}.{base.__qualname__}.{name}" for name in vars(base) if name[0] != "_"}
    return found


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules in which no name of the reference is defined are not imported for their examples."""
    if WHOLE or collection_path.suffix != ".py":
        return None
    module = ".".join(collection_path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
    return True if not any(name.startswith(f"{module}.") for name in public()) else None


def pytest_collection_modifyitems(items) -> None:
    """Examples of names that the reference does not show are left out."""
    if not WHOLE:
        items[:] = [item for item in items if not item.path.is_relative_to(SRC) or item.name in public()]


@pytest.fixture(autouse=True)
def few_rivals(monkeypatch):
    """Examples of comparisons without the rivals that take seconds, except in `make test-slow`."""
    if not WHOLE:
        with_few_rivals(monkeypatch)
