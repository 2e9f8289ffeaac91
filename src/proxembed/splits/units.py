"""Groups and times of rows, in any form, as codes and numbers."""

from datetime import UTC
from typing import Any

import numpy as np

from proxembed.params import safe_repr
from proxembed.tables.frames import coded
from proxembed.targets.values import missing_entries, object_array, unwrapped

OWN_GROUP = "give every row a group; a row on its own has one of its own"
OWN_TIME = "give every row a time or leave it out"


def checked_units(groups: Any, times: Any, n: int) -> tuple[Any, Any]:
    """Codes of the groups and times as floats, of n rows; a ValueError that names the argument otherwise."""
    return (
        None if groups is None else _codes_of_groups(_one_per_row("groups", groups, n, OWN_GROUP)),
        None if times is None else _floats_of_times(_one_per_row("times", times, n, OWN_TIME)),
    )


def _one_per_row(name: str, values: Any, n: int, remedy: str) -> np.ndarray:
    values = unwrapped(values)[0]
    values = object_array(values) if isinstance(values, list | tuple) else np.asarray(values)
    if values.shape != (n,):
        raise ValueError(f"{name}={safe_repr(values)} must have one entry per row of X ({n}).")
    if (missing := missing_entries(values)).any():
        row = int(missing.argmax())
        raise ValueError(f"{name} holds {values[row]} in row {row}; {remedy}.")
    return values


def _codes_of_groups(groups: np.ndarray) -> np.ndarray:
    try:
        return np.unique(groups, return_inverse=True)[1]
    except TypeError:  # of types that have no order
        return coded(groups)[1]


def _floats_of_times(times: np.ndarray) -> np.ndarray:
    try:
        if times.dtype == object and all(hasattr(time, "total_seconds") for time in times):
            times = np.array([time.total_seconds() for time in times])
        elif times.dtype == object and all(hasattr(time, "isoformat") for time in times):
            times = np.array([np.datetime64(_without_zone(time), "us") for time in times])
        found = times.astype(np.float64)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(
            f"times holds {times[0]!r}; pass numbers, or dates such as pandas.to_datetime(times)."
        ) from error
    if not np.isfinite(found).all():
        row = int(np.argmax(~np.isfinite(found)))
        raise ValueError(f"times holds {found[row]} in row {row}; {OWN_TIME}.")
    return found


def _without_zone(time: Any) -> Any:
    """A date, or a time of day of one, in UTC where it has a zone."""
    return time if getattr(time, "tzinfo", None) is None else time.astimezone(UTC).replace(tzinfo=None)
