"""One cell or label as a plain value: what each library puts in place of an empty one, and its containers."""

from __future__ import annotations

from array import array
from decimal import Decimal
from typing import Any

import numpy as np

PLAIN = frozenset({str, int, bool, bytes})
NO_VALUE = ("NAType", "NaTType")  # of pandas
AS_TEXT = ("Period", "Interval")


def is_empty(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, pandas' NA or a masked entry."""
    kind = type(value)
    if kind in PLAIN:
        return False
    if kind is float:
        return bool(value != value)
    if value is None or value is np.ma.masked or kind.__name__ in NO_VALUE:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and value != value


def plain_value(value: Any) -> Any:
    """A cell as Python has it: None where it is empty, a tuple of what a list, a buffer or a set (as names) holds."""
    if type(value) in PLAIN:
        return value
    value = _unwrapped(value)
    return None if is_empty(value) else value


def _unwrapped(value: Any) -> Any:
    """A value without what a library wraps it in; numbers in a list stay, NaN among them."""
    kind = type(value)
    if kind in PLAIN or value is None:
        return value
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        return value.item()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return _unwrapped(value[()])
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_unwrapped(each) for each in value)
    if isinstance(value, set | frozenset):
        return tuple(sorted(map(_name, value), key=str))
    if isinstance(value, memoryview | bytearray | array):
        return _buffer(value)
    if kind.__name__ in AS_TEXT:
        return str(value)
    if hasattr(value, "as_py"):
        return _unwrapped(value.as_py())
    for name in ("to_list", "tolist"):
        if hasattr(value, name):
            return _unwrapped(getattr(value, name)())
    return value


def _name(value: Any) -> Any:
    """An entry of a set; numbers as text, 7.0 like 7."""
    value = _unwrapped(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or is_empty(value):
        return value
    return str(int(value)) if value == value // 1 else str(value)


def _buffer(value: Any) -> Any:
    """The numbers of a buffer as a tuple; bytes as they are."""
    kind = value.typecode if isinstance(value, array) else value.format if isinstance(value, memoryview) else "B"
    return bytes(value) if kind.strip("<>=@") in ("B", "b", "c") else _unwrapped(value.tolist())
