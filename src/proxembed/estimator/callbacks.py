"""Callbacks of scikit-learn 1.9 and newer: a fit is a task, and so is each step of a long one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

SUPPORTED = find_spec("sklearn.callback") is not None
_module: Any = import_module("sklearn.callback") if SUPPORTED else None
_Support: Any = _module.CallbackSupportMixin if SUPPORTED else object


class TakesCallbacks(_Support):
    """``set_callbacks``, where scikit-learn has callbacks; ``learning`` makes the fit a task of them."""


@contextmanager
def fit_task(estimator: Any) -> Iterator[None]:
    """The time of a fit, as a task of the callbacks of an estimator."""
    if "_skl_callbacks" not in vars(estimator):
        yield
        return
    try:
        root = estimator._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=estimator)
        yield
        root.call_on_fit_task_end(estimator=estimator)
    finally:
        _module.with_callbacks(_nothing)(estimator)  # which tears down the callbacks


def _nothing(estimator: Any) -> None:
    """The end of a fit."""


def steps(estimator: Any, name: str, n: int) -> Iterator[int]:
    """0, ..., n - 1, each of them a task of the callbacks of an estimator in its fit; they may end the steps early."""
    root = vars(estimator).get("_callback_fit_ctx")
    if root is None:
        yield from range(n)
        return
    whole = root.subcontext(task_name=f"{name}s", max_subtasks=n)
    whole.call_on_fit_task_begin(estimator=estimator)
    try:
        for i in range(n):
            task = whole.subcontext(task_name=name)
            task.call_on_fit_task_begin(estimator=estimator)
            stopped = False
            try:
                yield i
            finally:
                stopped = task.call_on_fit_task_end(estimator=estimator)
            if stopped:
                return
    finally:
        whole.call_on_fit_task_end(estimator=estimator)


def also_reported(estimator: Any, progress: Callable[[int, int, str], None] | None) -> Any:
    """A function of (done, total, text) that calls ``progress``, and makes each call a task of the callbacks of an
    estimator in its fit; ``progress`` itself where it has none."""
    root = vars(estimator).get("_callback_fit_ctx")
    if root is None:
        return progress

    def report(done: int, total: int, text: str) -> None:
        if progress is not None:
            progress(done, total, text)
        task = root.subcontext(task_name=text)
        task.call_on_fit_task_begin(estimator=estimator)
        task.call_on_fit_task_end(estimator=estimator)

    return report
