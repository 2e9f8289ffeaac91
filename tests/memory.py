"""The memory that a test takes."""

import tracemalloc
from contextlib import contextmanager
from types import SimpleNamespace


@contextmanager
def traced_memory():
    """An object whose ``peak`` is, after the block, the most memory that was in use in it, in bytes."""
    found = SimpleNamespace()
    tracemalloc.start()
    try:
        yield found
    finally:
        found.peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
