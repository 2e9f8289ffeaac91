"""What every strategy of a search is, and the registry of those that have a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar


class Strategy:
    """How a search goes on: what is tried next, after what came out so far.

    A subclass states ``batches``, or ``ask`` itself. ``space`` is what is searched: "methods" (``EmbeddingSearch``) or
    "models" (``DEFC``); a strategy without end goes on until the budget of the study is spent.
    """

    space: ClassVar[str]
    _begun: Any = None

    def batches(self, study: Any) -> Iterable[Sequence[Any]]:
        """Generate batches of ``Work``; each is made when the outcomes of the one before it are in the study."""
        raise TypeError(f"{type(self).__name__} must define batches(study) or ask(study).")

    def ask(self, study: Any) -> Sequence[Any]:
        """The next batch of ``Work``; empty when the search has ended."""
        if self._begun is None:
            self._begun = iter(self.batches(study))
        return next(self._begun, ())

    def tell(self, results: Sequence[tuple[Any, Any, Any]]) -> None:
        """Take (trial, step, outcome) of the last batch; steps that were not taken are missing."""


STRATEGIES: dict[str, dict[str, type[Any]]] = {}
Registered = TypeVar("Registered", bound=type[Strategy])


def register(name: str) -> Callable[[Registered], Registered]:
    """Add a strategy to those that searches, the program and the page know by name.

    Raises
    ------
    ValueError
        The name is taken in this space.

    Examples
    --------
    >>> from proxembed import EmbeddingSearch
    >>> from proxembed.study.strategies import STRATEGIES, register
    >>> list(STRATEGIES["methods"])
    ['halving', 'random', 'tpe', 'auto']
    >>> register("random")(STRATEGIES["methods"]["halving"])
    Traceback (most recent call last):
    ValueError: a strategy named 'random' is registered for methods already; choose another name.
    """

    def add(cls: Registered) -> Registered:
        known = STRATEGIES.setdefault(cls.space, {})
        if name in known:
            raise ValueError(f"a strategy named {name!r} is registered for {cls.space} already; choose another name.")
        known[name] = cls
        return cls

    return add
