"""The registry of the strategies of a search that have a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from proxembed.execute.loop import Strategy


class SearchStrategy(Strategy):
    """How a search goes on; ``space`` is what is searched: "methods" (``EmbeddingSearch``) or "models" (``DEFC``)."""

    space: ClassVar[str]


STRATEGIES: dict[str, dict[str, type[Any]]] = {}
Registered = TypeVar("Registered", bound=type[SearchStrategy])


def register(name: str) -> Callable[[Registered], Registered]:
    """Add a strategy to those that searches, the program and the page know by name; a ValueError if it is taken."""

    def add(cls: Registered) -> Registered:
        known = STRATEGIES.setdefault(cls.space, {})
        if name in known:
            raise ValueError(f"a strategy named {name!r} is registered for {cls.space} already; choose another name.")
        known[name] = cls
        return cls

    return add
