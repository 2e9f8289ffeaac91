"""One column of a table: what its cells hold, and the array that they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import MISSING, is_empty
from .dates import hours, minutes, seconds
from .identifiers import WHOLE
from .lists import listed
from .quantities import NUMBER, number

FAST = {int, float}  # types of which NumPy makes numbers as float() does
NUMERIC = ("number", "boolean", "ordered", "date")
HELD = {
    "number": "a number",
    "boolean": "yes or no",
    "ordered": "a step of the scale",
    "date": "a date",
    "names": "a list of names",
    "vector": "a vector of numbers",
}
TIMES = {"clock": "a time such as 14:40", "duration": "a duration such as 75:30"}
STYLED = {
    ",": "with a decimal comma",
    ".": "with a decimal point",
    "?": "without decimals",
    "<": "or a limit such as <5",
}


class CellError(ValueError):
    """A cell that is not what its column holds."""

    def __init__(self, value: object, code: int, held: str) -> None:
        super().__init__(f"{value!r} is not {held}")
        self.value, self.code, self.held = value, code, held


@dataclass(frozen=True)
class Column:
    """What one feature column of a table holds."""

    name: str
    kind: str
    values: tuple[str, ...] = ()
    style: str = ""
    unit: str = ""
    size: int = 1
    missing: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As a JSON-able dict of what is not at its default."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        facts = {key: list(value) if isinstance(value, tuple) else value for key, value in facts.items()}
        return {key: value for key, value in facts.items() if value not in ([], "") and (key, value) != ("size", 1)}

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Column:
        """From the dict of ``plain``."""
        stated: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()
        }
        return cls(**stated)

    def parse(self, values: Sequence[Any], codes: Any) -> NDArray[Any]:
        """The cells as an array with one entry per row (one row for vectors)."""
        if self.kind == "number" and not self.missing and self.style not in TIMES and set(map(type, values)) <= FAST:
            return np.array([*values, np.nan], dtype=np.float64)[np.asarray(codes)]
        if self.kind == "number" and not self.missing and is_simple(values, self.style):
            return np.array([*map(float, values), np.nan])[np.asarray(codes)]
        empty = self._empty()
        table = [empty if is_missing(value, self.missing) else self._cell(value, j) for j, value in enumerate(values)]
        table.append(empty)
        if self.kind in (*NUMERIC, "vector"):
            return np.asarray(table, dtype=np.float64)[np.asarray(codes)]
        found = np.empty(len(table), dtype=object)
        found[:] = table
        return found[np.asarray(codes)]

    def _empty(self) -> Any:
        if self.kind == "vector":
            return np.full(self.size, np.nan)
        return np.nan if self.kind in NUMERIC else () if self.kind == "names" else ""

    def _cell(self, value: Any, code: int) -> Any:
        found = getattr(self, f"_{self.kind}")(value.strip() if isinstance(value, str) else value)
        if found is None:
            held = HELD[self.kind] + (f" in {self.unit.strip()}" if self.unit else "")
            if self.kind == "boolean":
                held = f"{self.values[1]} or {self.values[0]}"
            if self.kind == "number" and self.style:
                held = TIMES.get(self.style) or f"{held} {STYLED[self.style[0]]}"
            raise CellError(value, code, f"a vector of {self.size} numbers" if self.kind == "vector" else held)
        return found

    def _number(self, value: Any) -> float | None:
        if self.style in TIMES:
            return (hours if self.style == "clock" else minutes)(value)
        if isinstance(value, str):
            return number(value, self.style, self.unit)
        return float(value) if is_real(value) else None

    def _boolean(self, value: Any) -> float | None:
        if isinstance(value, bool | np.bool_ | int | float) and value in (0, 1):
            return float(value)
        word = str(value).casefold()
        return float(self.values.index(word)) if word in self.values else None

    def _ordered(self, value: Any) -> float | None:
        word = str(value).casefold()
        return float(self.values.index(word)) if word in self.values else None

    def _date(self, value: Any) -> float | None:
        return seconds(value, self.style)

    def _category(self, value: Any) -> str:
        word = word_of(value)
        whole = self.style == "code" and WHOLE.fullmatch(word)
        return str(int(word.partition(".")[0])) if whole else word  # 98101.0 is 98101

    def _text(self, value: Any) -> str:
        return word_of(value)

    def _names(self, value: Any) -> tuple[str, ...] | None:
        if isinstance(value, str):
            value = listed(value) if self.style == "[]" else value.split(self.style)
        if not isinstance(value, list | tuple | np.ndarray) or any(each is ... for each in value):
            return None
        return tuple(dict.fromkeys(word for each in value if not is_empty(each) and (word := str(each).strip())))

    def _vector(self, value: Any) -> NDArray[np.float64] | None:
        entries = listed(value) if isinstance(value, str) else value
        if entries is None or np.ndim(entries) != 1 or len(entries) != self.size:
            return None
        try:
            return np.asarray(entries, dtype=np.float64)
        except (ValueError, TypeError):
            return None


def is_simple(values: Sequence[Any], style: str) -> bool:
    """Whether all cells are bare digits, perhaps with a sign, a point and an exponent, in a style that takes these."""
    return style[:1] in ("", ".") and all(isinstance(value, str) and NUMBER.fullmatch(value) for value in values)


def is_missing(value: Any, more: Sequence[str] = ()) -> bool:
    """Whether a cell is empty: None, NaN, a word such as NA, or one of ``more``, where -999 is also -999.0."""
    if isinstance(value, str):
        word = value.strip()
        return word in MISSING or bool(more) and any(word == each or _equal(word, each) for each in more)
    return is_empty(value) or bool(more) and any(_equal(value, each) for each in more)


def _equal(one: Any, other: str) -> bool:
    try:
        return float(one) == float(other)
    except (TypeError, ValueError):
        return False


def is_real(value: Any) -> bool:
    """Whether a cell that is not text is a number."""
    return hasattr(value, "__float__") and not isinstance(value, str | bool | np.bool_) and np.ndim(value) == 0


def word_of(value: Any) -> str:
    """A cell as text; whole numbers without a decimal point, so that 7 and 7.0 are one category."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()
