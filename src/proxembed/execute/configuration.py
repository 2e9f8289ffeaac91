"""scikit-learn's global configuration: code of this package runs under one of its own, estimators of callers under that
of the caller, in this process and in workers alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from sklearn import config_context, get_config

OWN: dict[str, Any] = {"transform_output": "default", "enable_metadata_routing": False}
_callers: ContextVar[dict[str, Any] | None] = ContextVar("callers", default=None)


@contextmanager
def own_configuration(*, keeps_routing: bool = False) -> Iterator[None]:
    """Run a block, or a decorated function, with arrays as the output of transformers, without metadata routing."""
    found = get_config()
    theirs, own = {name: found[name] for name in OWN}, dict(OWN)
    if keeps_routing:
        own["enable_metadata_routing"] = theirs["enable_metadata_routing"]
    outer = _callers.get()
    token = _callers.set(theirs if outer is None else outer)
    try:
        with config_context(**own):
            yield
    finally:
        _callers.reset(token)


@contextmanager
def callers_configuration() -> Iterator[None]:
    """Run a block under the configuration of the caller: for the calls of estimators that a caller has passed."""
    theirs = _callers.get()
    if theirs is None:
        yield
        return
    token = _callers.set(None)
    try:
        with config_context(**theirs):
            yield
    finally:
        _callers.reset(token)


def carried(task: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A task that runs under the configurations in force here, also in a worker, which starts with the default one."""
    return partial(_under, get_config(), _callers.get(), task)


def _under(
    configuration: dict[str, Any], theirs: dict[str, Any] | None, task: Callable[[Any, Any], Any], *args: Any
) -> Any:
    token = _callers.set(theirs)
    try:
        with config_context(**configuration):
            return task(*args)
    finally:
        _callers.reset(token)
