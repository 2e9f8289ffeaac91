"""Columns named by numbers in order, such as the wavelengths of spectra."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHORTEST_AXIS = 15  # names; more that rise or fall throughout are an axis
PLACE = re.compile(  # 400, 400.5 nm, or X400, as R writes 400
    r"X?(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)[ _]?"
    r"(?:nm|[u\u00b5\u03bc]m|(?:1/|/)?cm(?:\^?[-\u2212.]1|\u207b\u00b9)?|eV|Hz|ppm|Da)",
    re.ASCII,
)
LOWEST_OF_R = 100  # of an axis; X1 to X30 are names without a meaning


def axis_value(name: str) -> float | None:
    """The number that a name is, perhaps with a unit of spectra or an X before it; None for other names."""
    try:
        return float(name)
    except ValueError:
        part = PLACE.fullmatch(name.strip())
        return None if part is None else float(part[1] or part[2])


def axis_of(names: Sequence[str]) -> NDArray[np.float64] | None:
    """The names as numbers (n,), where they are more than 15 and rise or fall throughout; else None."""
    places = [axis_value(name) for name in names] if len(names) > SHORTEST_AXIS else [None]
    values = np.array([place for place in places if place is not None])
    if len(values) < len(places) or any(name.strip()[:1] == "X" for name in names) and values.min() < LOWEST_OF_R:
        return None
    steps = np.sign(np.diff(values))
    return values if np.isfinite(values).all() and abs(steps.sum()) == len(steps) else None
