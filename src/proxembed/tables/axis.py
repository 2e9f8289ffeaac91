"""Columns named by numbers in order, such as the wavelengths of spectra."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHORTEST_AXIS = 15  # names; more that rise or fall throughout are an axis
WAVELENGTH = re.compile(  # 400, 400.5 nm, or X400, as R writes 400
    r"X?(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)[ _]?"
    r"(?:nm|[u\u00b5\u03bc]m|(?:1/|/)?cm(?:\^?[-\u2212.]1|\u207b\u00b9)?|eV|Hz|ppm|Da)",
    re.ASCII,
)
MIN_R_WAVELENGTH = 100  # X1 to X30 are names without a meaning
MOST_STRAYS = 2  # columns named by numbers beside an axis, such as X1 or 50 Hz


def axis_value(name: str) -> float | None:
    """The number that a name is, perhaps with a unit of spectra or an X before it; None for other names."""
    try:
        return float(name)
    except ValueError:
        part = WAVELENGTH.fullmatch(name.strip())
        return None if part is None else float(part[1] or part[2])


def axis_of(names: Sequence[str]) -> NDArray[np.float64] | None:
    """The names as numbers (n,), where they are more than 15, rise or fall throughout and do not count the columns from
    0 or 1, perhaps without the first two; else None."""
    values = values_in_order(names)
    counted = values is not None and values[0] <= 1 + MOST_STRAYS and bool((np.diff(values) == 1).all())
    return None if counted else values


def values_in_order(names: Sequence[str]) -> NDArray[np.float64] | None:
    """The names as numbers (n,), where they are more than 15 and rise or fall throughout; else None."""
    found = [axis_value(name) for name in names] if len(names) > SHORTEST_AXIS else [None]
    values = np.array([value for value in found if value is not None])
    if len(values) < len(found) or any(map(_is_of_r, names)) and values.min() < MIN_R_WAVELENGTH:
        return None
    steps = np.sign(np.diff(values))
    return values if np.isfinite(values).all() and abs(steps.sum()) == len(steps) else None


def axis_names(names: Sequence[str]) -> list[str]:
    """Those of the names of columns that are an axis, without up to two others that are numbers; [] without an axis."""
    numbers = [name for name in names if axis_value(name) is not None]
    if axis_of(numbers) is not None:
        return numbers
    (form, count), *_ = Counter(map(_form, numbers)).most_common(1) or [("", 0)]
    alike = [name for name in numbers if _form(name) == form] if len(numbers) - count <= MOST_STRAYS else []
    for first, last in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2)):  # strays before and after it
        found = alike[first : len(alike) - last]
        if len(numbers) - len(found) <= MOST_STRAYS and axis_of(found) is not None:
            return found
    return []


def _is_of_r(name: str) -> bool:
    return name.strip().startswith("X")


def _form(name: str) -> str:
    """A name without its number: its unit, or the X before it, which R writes before numbers of 100 or more."""
    form = re.sub(r"\d+(?:\.\d+)?", "", name.strip(), count=1)
    return "below" if form == "X" and float(name.strip()[1:]) < MIN_R_WAVELENGTH else form
