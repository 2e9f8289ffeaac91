"""Cells of a table column by their distinct values, and what single values mean: missing, a number, a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.dataset import class_name
from proxembed.tables.cells import MISSING, TRUTHS
from proxembed.tables.column import is_missing
from proxembed.tables.dates import seconds as date_seconds
from proxembed.tables.quantities import NUMBER

__all__ = ["MISSING", "Cells", "is_number", "name_of", "seconds", "truth"]
YES, NO = {pair[1] for pair in TRUTHS}, {pair[0] for pair in TRUTHS}


class Cells:
    """The cells of one column as codes into their distinct values; -1 where the cell is empty.

    `missing` holds the texts that stand for an empty cell, and `more` what a file has for it beside them, such as -999;
    None (NULL) and NaN always do.
    """

    def __init__(self, missing: Iterable[str] = MISSING, more: Sequence[str] = ()) -> None:
        self._missing, self._more = frozenset(missing), tuple(more)
        self._code: dict[Hashable, int] = {}
        self._parts: list[NDArray[np.integer]] = []

    def add(self, codes: NDArray[np.integer], values: Sequence[Hashable]) -> None:
        """The next rows: codes into `values`, the distinct values of these rows; -1 for an empty cell."""
        known = self._code
        of_value = [-1 if self._empty(value) else known.setdefault(value, len(known)) for value in values]
        table = np.array([*of_value, -1], dtype=np.min_scalar_type(-max(len(known), 1)))
        self._parts.append(table[codes])

    def _empty(self, value: Hashable) -> bool:
        if value is None or value != value:
            return True
        if isinstance(value, str) and value.strip() in self._missing:
            return True
        return bool(self._more) and is_missing(value, self._more)

    @property
    def values(self) -> list[Any]:
        """Distinct values in the order of their first row."""
        return list(self._code)

    @cached_property
    def codes(self) -> NDArray[np.integer]:
        """One code a row."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0, dtype=np.int8)

    def first(self, code: int) -> int:
        """The first row with a code."""
        return int(np.argmax(self.codes == code))

    @property
    def first_empty(self) -> int | None:
        """The first row whose cell is empty, or None."""
        return self.first(-1) if (self.codes == -1).any() else None


def is_number(value: object) -> bool:
    """Whether a cell is a number, or text that reads as one.

    Examples
    --------
    >>> from proxembed.data.readers.cells import is_number
    >>> [is_number(value) for value in (3, " 2.5 ", "1e-3", "red", True)]
    [True, True, True, False, False]
    """
    if isinstance(value, str):
        return NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def truth(value: object, signed: bool = False) -> int | None:
    """1 or 0 for a cell of a label column, None for anything else; ``signed``: of a column of 1 and -1.

    Examples
    --------
    >>> from proxembed.data.readers.cells import truth
    >>> [truth(value) for value in ("1", "0.0", "True", False, 1.0, "2", "yes", "maybe")]
    [1, 0, 1, 0, 1, None, 1, None]
    >>> [truth(value, signed=True) for value in (-1, "+1", 0)]
    [0, 1, None]
    """
    if isinstance(value, str):
        word = value.strip()
        if word.casefold() in YES | NO:
            return int(word.casefold() in YES)
        value = float(word) if NUMBER.fullmatch(word) else None
    if not isinstance(value, int | float) or value not in ((-1, 1) if signed else (0, 1)):
        return None
    return int(value == 1)


def is_minus_one(value: object) -> bool:
    """Whether a cell is the number -1."""
    return is_number(value) and float(value) == -1  # type: ignore[arg-type]  # is_number does not narrow


def name_of(value: object) -> str:
    """Name of a class or a group from its cell: whole numbers without a decimal point, text without outer blanks.

    Examples
    --------
    >>> from proxembed.data.readers.cells import name_of
    >>> [name_of(value) for value in (" red ", "2.0", "007", 3.0, True)]
    ['red', '2', '007', '3', 'True']
    """
    if isinstance(value, str):
        value = value.strip()
        return class_name(float(value)) if "." in value and NUMBER.fullmatch(value) else value
    return class_name(value)


def seconds(value: object, style: str = "iso") -> float | None:
    """A cell of a time column as a number: numbers as they are, dates as seconds since 1970 (UTC where no zone).

    Returns None for anything else. `style` is how dates are written: "iso", "dmy" or "mdy".

    Examples
    --------
    >>> from proxembed.data.readers.cells import seconds
    >>> [seconds(value) for value in (5, "2.5", "1970-01-02", "1970-01-01T00:01:00+00:00", "31.12.1999")]
    [5.0, 2.5, 86400.0, 60.0, None]
    """
    if is_number(value):
        number = float(value)  # type: ignore[arg-type]  # is_number does not narrow
        return number if np.isfinite(number) else None
    return date_seconds(value.strip() if isinstance(value, str) else value, style)
