"""Columns named by numbers in order, such as the wavelengths of spectra."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHORTEST_AXIS = 15  # names; more that rise or fall throughout are an axis


def axis_of(names: Sequence[str]) -> NDArray[np.float64] | None:
    """The names as numbers (n,), where they are more than 15 and rise or fall throughout; else None."""
    if len(names) <= SHORTEST_AXIS:
        return None
    try:
        values = np.array([float(name) for name in names])
    except ValueError:
        return None
    steps = np.sign(np.diff(values))
    return values if np.isfinite(values).all() and abs(steps.sum()) == len(steps) else None
