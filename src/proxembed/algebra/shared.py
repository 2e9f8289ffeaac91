"""What several fits on the same rows have in common, such as trees and decompositions, computed once.

Results are known by a hash of all that they are made of, so sharing changes no result. It takes place inside
``Shared.active`` and ``sharing`` alone: a fit by itself keeps nothing.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

MOST_BYTES = 1 << 28

_ACTIVE: ContextVar[Shared | None] = ContextVar("shared", default=None)


class Shared:
    """Arrays by a hash of what they are made of, at most ``most_bytes`` of them; of more the latest used are kept. A
    copy in another process starts empty."""

    def __init__(self, most_bytes: int = MOST_BYTES):
        self.most_bytes, self.bytes = most_bytes, 0
        self._known: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"most_bytes": self.most_bytes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Shared.__init__(self, state["most_bytes"])

    @contextmanager
    def active(self) -> Iterator[None]:
        """Share what is computed inside."""
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)

    def find(self, key: str) -> Any:
        """The result of a key; None if it is not there."""
        with self._lock:
            if key not in self._known:
                return None
            self._known.move_to_end(key)
            return self._known[key][0]

    def keep(self, key: str, found: Any) -> None:
        """Keep a result, whose arrays become read-only; one of more than ``most_bytes`` is not kept."""
        size = sum(_frozen(each) for each in arrays_in(found))
        with self._lock:
            self.bytes -= self._known.pop(key, (None, 0))[1]
            if size > self.most_bytes:
                return
            self._known[key] = found, size
            self.bytes += size
            while self.bytes > self.most_bytes:
                self.bytes -= self._known.popitem(last=False)[1][1]


def _frozen(array: np.ndarray) -> int:
    array.flags.writeable = False
    return array.nbytes


def arrays_in(found: Any) -> Iterator[np.ndarray]:
    """The arrays of a result: an array, or lists, tuples and dictionaries of them."""
    if isinstance(found, np.ndarray):
        yield found
    elif isinstance(found, dict | list | tuple):
        for each in found.values() if isinstance(found, dict) else found:
            yield from arrays_in(each)


def active() -> Shared | None:
    """What is shared here; None outside of ``Shared.active``."""
    return _ACTIVE.get()


@contextmanager
def sharing() -> Iterator[None]:
    """Share what is computed inside: with what is shared here already, else for this block alone."""
    with nullcontext() if active() is not None else Shared().active():
        yield


def remembered(make: Callable[[], Any], *facts: Any) -> Any:
    """What ``make()`` returns, arrays: where it is shared, that of the same facts. ``facts``: all that it is made of,
    dense and sparse arrays, texts and numbers."""
    shared = active()
    if shared is None:
        return make()
    key = key_of(*facts)
    found = shared.find(key)
    if found is None:
        shared.keep(key, found := make())
    return found


def remembered_each(make: Callable[[list[Any]], list[Any]], wanted: list[Any], *facts: Any) -> list[Any]:
    """What ``make(wanted)`` returns, arrays for each of what is wanted: where it is shared, only what is missing is
    made. ``facts``: all else that these are made of."""
    shared = active()
    if shared is None:
        return make(wanted)
    key = key_of(*facts)
    known = shared.find(key) or {}
    missing = [each for each in wanted if each not in known]
    if missing:
        known = known | dict(zip(missing, make(missing), strict=True))
        shared.keep(key, known)
    return [known[each] for each in wanted]


def key_of(*facts: Any) -> str:
    """A hash of dense and sparse arrays, texts and numbers."""
    state = hashlib.sha256()
    each: Any
    for fact in facts:
        parts = (fact.format, fact.data, fact.indices, fact.indptr, fact.shape) if sparse.issparse(fact) else (fact,)
        for each in parts:
            if isinstance(each, np.ndarray):
                state.update(f"{each.dtype.str}{each.shape}".encode())
                if each.size:
                    state.update(np.ascontiguousarray(each).reshape(-1).view(np.uint8).data)
            else:
                state.update(f"{each!r};".encode())
    return state.hexdigest()
