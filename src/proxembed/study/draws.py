"""Where the parameters of a configuration come from: draws at random here, proposals of a model in other classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Draws:
    """Values drawn at random.

    Each value has a name, by which a subclass may learn what serves; a value of one name is drawn once.

    Parameters
    ----------
    rng : numpy Generator

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.study.draws import Draws
    >>> draws = Draws(np.random.default_rng(0))
    >>> draws.choice("kernel", ("linear", "gaussian")) in ("linear", "gaussian"), 1 <= draws.whole("k", 1, 3) <= 3
    (True, True)
    """

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def choice(self, name: str, options: Sequence[Any]) -> Any:
        """One of several."""
        return options[int(self.rng.integers(len(options)))]

    def chance(self, name: str) -> bool:
        """True half of the time."""
        return bool(self.rng.random() < 0.5)

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number, the ends included."""
        return int(self.rng.integers(low, high + 1))

    def real(self, name: str, low: float, high: float) -> float:
        """A number between the ends."""
        return float(self.rng.uniform(low, high))

    def log_real(self, name: str, low: float, high: float) -> float:
        """A number between the ends, uniform in the logarithm."""
        return float(np.clip(np.exp(self.rng.uniform(np.log(low), np.log(high))), low, high))
