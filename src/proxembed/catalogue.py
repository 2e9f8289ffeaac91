"""The catalogue: every public estimator by name, with all rooms loaded that state some."""

from __future__ import annotations

from . import adaptive, bayes, methods, transductive
from .base import Embedder, registry

ROOMS = (methods, transductive, bayes, adaptive)


def estimators() -> dict[str, type[Embedder]]:
    """The public estimators by class name, in alphabetical order.

    >>> from proxembed.catalogue import estimators
    >>> {"BSML", "MLGFHF", "MOPE"} <= set(estimators())
    True
    """
    return registry()
