"""StageCache: what the stages of candidates have made, kept up to a limit of bytes, the least recently used given up
first."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

MAX_BYTES = 2**30


class StageCache:
    """A cache of stages with a limit of bytes.  [mu2012defc]

    A value above the limit is not kept. A copy sent to another process starts empty, with the same limit.

    Parameters
    ----------
    max_bytes : int, default=2**30
        Limit of the sum of the sizes that ``put`` was told, from 0 (keeps nothing) up.

    Raises
    ------
    ValueError
        For a limit below 0.

    Examples
    --------
    >>> cache = StageCache(100)
    >>> cache.put(("a",), "first", 60)
    >>> cache.put(("b",), "second", 60)
    >>> cache.get(("a",)), cache.get(("b",)), cache.stats()["evictions"]
    (None, 'second', 1)
    """

    def __init__(self, max_bytes: int = MAX_BYTES):
        if not max_bytes >= 0:
            raise ValueError(f"max_bytes={max_bytes!r} must be a number of bytes of at least 0; 0 keeps nothing.")
        self.max_bytes = max_bytes
        self._kept: OrderedDict[tuple[Any, ...], tuple[Any, int]] = OrderedDict()
        self._bytes = self._peak = self._hits = self._misses = self._evictions = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return StageCache, (self.max_bytes,)

    def get(self, key: tuple[Any, ...]) -> Any:
        """The value of the key, which becomes the one used last; None for a key that is not held."""
        found = self._kept.get(key)
        if found is None:
            self._misses += 1
            return None
        self._hits += 1
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: tuple[Any, ...], value: Any, nbytes: int) -> None:
        """Keep a value of this size; others go, the one unused for longest first, until there is room."""
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[1]
        if nbytes > self.max_bytes:
            return
        while self._bytes + nbytes > self.max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1][1]
            self._evictions += 1
        self._kept[key] = value, nbytes
        self._bytes += nbytes
        self._peak = max(self._peak, self._bytes)

    def stats(self) -> dict[str, int]:
        """Counts of hits, misses and evictions since the start; bytes and entries held; the most bytes ever held."""
        return {
            "hits": self._hits,
            "misses": self._misses,
            "evictions": self._evictions,
            "bytes": self._bytes,
            "entries": len(self._kept),
            "peak_bytes": self._peak,
        }
