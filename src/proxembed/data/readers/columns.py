"""The columns of a table: which means what (labels, targets, text, id, ...), and cells by their distinct values."""

from __future__ import annotations  # their text stands in the generated signatures

import difflib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from proxembed.data.dataset import class_name
from proxembed.data.errors import DataError
from proxembed.params import declared, first_fault, param, with_parameters
from proxembed.tables.cells import MISSING, TRUTHS, truth_words
from proxembed.tables.column import is_missing
from proxembed.tables.dates import seconds as date_seconds
from proxembed.tables.notes import shorten
from proxembed.tables.quantities import NUMBER

SHOWN_COLUMNS, SHOWN_LAST, SHOWN_NEAR, SHOWN_MISSING = 8, 3, 3, 5
COPIES = "copies"  # as groups: rows of equal features
SINGLE = ("id", "groups", "time", "sample_weight")  # purposes of one column each
PANEL = "Columns of a table"  # in the help of the program
GLOBS: dict[str, Any] = {"default": (), "words": "names or globs", "panel": PANEL, "metavar": "COLUMN,..."}
NAME: dict[str, Any] = {"default": None, "choices": (None,), "kind": str, "panel": PANEL, "metavar": "COLUMN"}
TRUTH_WORDS = frozenset(chain(*TRUTHS))


@dataclass(frozen=True)
class Columns:
    """The columns of a table by purpose, as names or globs (``topic_*``); what is not named here is a feature.

    Raises
    ------
    DataError
        Where a value is not allowed.

    See Also
    --------
    proxembed.data.Dataset : Rows, labels and names.
    proxembed.data.read : Reads a file.

    Examples
    --------
    >>> from proxembed.data import Columns
    >>> Columns(labels=("topic_*",), id="doc")
    Columns(labels=('topic_*',), separator=None, targets=(), text=(), id='doc', groups=None, time=None,
    sample_weight=None, drop=(), keep=(), missing=None, empty=None, decimal=None, category=(), target_type=None,
    header=None, encoding=None, sheet=None)
    """

    labels: Sequence[str] = param(
        **GLOBS,
        doc="Label columns, names or globs such as 'topic_*': of 0 and 1 (true and false), empty where unknown; or one "
        "column of classes, of labels joined by ``separator``, or (Parquet) of lists of labels; or several columns of "
        "classes, see ``target_type``. ARFF: the XML file of the labels. npy: the file of the labels. The program "
        "takes a name that contains a comma in double quotes.",
    )
    separator: str | None = param(
        **NAME | {"metavar": "TEXT"},
        doc="Text that separates the labels in a cell, such as ';'; '' if cells are not to be split.",
    )
    targets: Sequence[str] = param(
        **GLOBS,
        doc="Columns of numbers to predict, names or globs such as 'temp*', empty where unknown; ``labels`` may name "
        "columns of classes beside them.",
    )
    text: Sequence[str] = param(**GLOBS, doc="Text columns, if they are not recognised as texts.")
    id: str | None = param(**NAME, doc="Column of row names.")
    groups: str | Literal[False] | None = param(
        **NAME | {"choices": (None, False)},
        doc="Column of groups, which no split divides; 'copies' for groups of rows with equal features; ``False`` for "
        "no groups. None: an identifier that several rows share, such as patient_id.",
    )
    time: str | None = param(**NAME, doc="Column of numbers or ISO dates that orders the rows.")
    sample_weight: str | None = param(
        **NAME,
        doc="Column of weights, numbers of at least 0: how often each row counts, in every fit and every measure. An "
        "integer w equals w copies of the row; a row of weight 0 is left out.",
    )
    drop: Sequence[str] = param(
        **GLOBS, doc="Columns to leave out. A glob does not drop a column that is named for a purpose."
    )
    keep: Sequence[str] = param(
        **GLOBS, doc="Feature columns, taken even if they look like ids; all others are left out."
    )
    missing: Sequence[str] | None = param(
        **GLOBS | {"default": None, "words": "texts", "metavar": "TEXT,..."},
        doc="Other texts that mean an empty cell, such as -999; ``()`` if there are none. None: an error asks about "
        "numbers that look like it.",
    )
    empty: str | None = param(
        default=None,
        choices=(None, "no labels", "unknown"),
        panel=PANEL,
        doc='What an empty label cell means: "no labels" (0 in a column of 0 and 1), or "unknown". None: no labels '
        "where labels are joined or several columns are one label set, unknown elsewhere.",
    )
    decimal: str | None = param(
        default=None,
        choices=(None, ",", "."),
        panel=PANEL,
        doc="The mark before the decimals of numbers in text. None: that which the cells of all columns show; if all "
        "numbers fit both readings (1,234), an error asks for it.",
    )
    category: Sequence[str] = param(**GLOBS, doc="Columns of categories, even if their cells are numbers or dates.")
    target_type: str | None = param(
        default=None,
        choices=(None, "classes", "labels", "real"),
        panel=PANEL,
        doc='"classes": the whole numbers in the one label column are classes, however many there are. None: an error '
        "if more than 20 differ and there are fewer than 3 rows of each on average. Of several label columns of "
        'classes, "classes" makes one output each, and "labels" one label set of all their values. None: one label set '
        "if at least half of the cells hold a value that two columns have, and they are not answers on one scale, "
        'which rows repeat. Of an array (npz, npy, svmlight) and ARFF "real": whole numbers are measurements.',
    )
    header: bool | None = param(
        default=None,
        choices=(None,),
        kind=bool,
        panel=PANEL,
        flags=("--header/--no-header",),
        doc="Whether the first line of a file of text, or of a sheet, holds the names of the columns; without, they "
        "are column_1, column_2, ... None: it does, and an error asks if it looks like a row. True: all lines below it "
        "are rows, also those that look like types, units or questions.",
    )
    encoding: str | None = param(
        **NAME | {"metavar": "NAME"},
        doc="Encoding of a file of text, such as 'cp1252', 'latin-1' or 'shift-jis'. None: UTF-8, or UTF-16 by its "
        "first bytes; Windows-1252, or else Latin-1, with a note, where the first rows are not UTF-8.",
    )
    sheet: str | None = param(
        **NAME | {"metavar": "NAME"},
        doc="Sheet of an Excel file. None: the first one that holds a table, with a note on the others.",
    )

    def __post_init__(self) -> None:
        if (found := first_fault(self)) is not None:
            name, value, spec = found
            raise DataError(f"{name}={value!r} must be {spec.allowed()}.")
        for name, (field, _) in declared(type(self)).items():
            if field.default == () or name == "missing" and self.missing is not None:
                object.__setattr__(self, name, _texts(name, getattr(self, name)))

    def is_category(self, name: str) -> bool:
        """Whether ``category`` names a column."""
        return any(name == each or fnmatchcase(name, each) for each in self.category)

    @property
    def fields_set(self) -> tuple[str, ...]:
        """Names of the fields that are set; ``groups=False`` suits any file."""
        given = ((name, getattr(self, name), field.default) for name, (field, _) in declared(type(self)).items())
        return tuple(name for name, value, default in given if value not in (default, False))


Columns.__doc__ = with_parameters(Columns)


@dataclass(frozen=True)
class Roles:
    """The columns of one table by purpose, every name its own; in the order of the file."""

    labels: tuple[str, ...]
    features: tuple[str, ...]
    text: Sequence[str] = ()
    id: str | None = None
    groups: str | None = None
    time: str | None = None
    sample_weight: str | None = None
    unkept: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    found_id: str | None = None  # the column that says which row it is, found if no id was named

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are read."""
        single = (self.id, self.groups, self.time, self.sample_weight)
        return (*self.labels, *self.targets, *self.text, *(name for name in single if name is not None), *self.features)


def resolve(columns: Columns, names: Sequence[str], path: Path | str) -> Roles:
    """Roles of the columns of one file."""
    if columns.target_type == "real":
        reason = "target_type='real' was given, but its columns have names"
        raise DataError.at(path, None, reason, "name the columns of numbers with targets, such as targets='temp*'")
    asked: dict[str, Sequence[str]] = {"labels": columns.labels, "targets": columns.targets, "text": columns.text}
    for field in SINGLE:
        value = getattr(columns, field)
        asked[field] = (value,) if value else ()
    owner: dict[str, str] = {}
    listed = set(names)
    for field, patterns in (*asked.items(), ("drop", columns.drop)):
        for name in patterns:
            if name in listed and owner.setdefault(name, field) != field:
                raise _twice(path, name, owner[name], field)
    full = dict(owner)
    for field, patterns in asked.items():
        for pattern in patterns:
            for name in matched(pattern, field, names, listed, path):
                if name not in full and owner.setdefault(name, field) != field:
                    raise _twice(path, name, owner[name], field)
    for pattern in columns.drop:
        for name in matched(pattern, "drop", names, listed, path):
            owner.setdefault(name, "drop")
    chosen = {field: tuple(name for name in names if owner.get(name) == field) for field in asked}
    single = {field: _only(field, asked[field], chosen[field], path) for field in SINGLE}
    for pattern in columns.category:
        matched(pattern, "category", names, listed, path)
    kept = {name for pattern in columns.keep for name in matched(pattern, "keep", names, listed, path)}
    others = tuple(name for name in names if name not in owner)
    features = tuple(name for name in others if not columns.keep or name in kept)
    unkept = tuple(name for name in others if columns.keep and name not in kept)
    return Roles(chosen["labels"], features, chosen["text"], **single, unkept=unkept, targets=chosen["targets"])


def required(wanted: Sequence[str], names: Sequence[str], path: Path, of: str) -> None:
    """Refuse a file that lacks a column; `of` says who needs it."""
    known = set(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        several, near = len(missing) > 1, _near(missing[0], names)
        shown = ", ".join(map(shorten, missing[:SHOWN_MISSING]))
        more = f" and {len(missing) - SHOWN_MISSING} more" if len(missing) > SHOWN_MISSING else ""
        lacking = f"column{'s' * several} {shown}{more}"
        raise DataError.at(
            path,
            None,
            f"{lacking} of {of} {'are' if several else 'is'} missing",
            f"{near} Give a file with the same columns"
            if near.endswith("?")
            else f"{near}; give a file with the same columns",
        )


def _texts(field: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    texts = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    texts = tuple(map(str, texts)) if field == "missing" else texts
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"{field}={value!r} must hold column names or globs, each a text.")
    return texts


def matched(pattern: str, field: str, names: Sequence[str], listed: set[str], path: Path | str) -> list[str]:
    """The columns of a name or a glob; DataError, with near names, if there is none."""
    if pattern in listed:
        return [pattern]
    found = [name for name in names if fnmatchcase(name, pattern)]
    if not found:
        raise DataError.at(
            path, None, f"{field} {shorten(pattern)} names no column of the table", _near(pattern, names)
        )
    return found


def _near(name: str, names: Sequence[str]) -> str:
    """The names near to a name or glob in any case, of a glob such as ``topic_*`` by their beginnings; else all."""
    end = len(name) if name.endswith("*") else None
    alike: dict[str, list[str]] = {}
    for each in names:
        alike.setdefault(each.casefold()[:end], []).append(each)
    close = [each for near in difflib.get_close_matches(name.casefold(), alike) for each in alike[near]]
    if close:
        return f"did you mean {' or '.join(map(shorten, close[:SHOWN_NEAR]))}?"
    shown = ", ".join(shorten(name) for name in names[:SHOWN_COLUMNS])
    last = ", ".join(shorten(name) for name in names[SHOWN_COLUMNS:][-SHOWN_LAST:])
    more = f" and {len(names) - SHOWN_COLUMNS} more, the last {last}" if last else ""
    return f"its columns are {shown}{more}"


def _only(field: str, asked: Sequence[str], found: tuple[str, ...], path: Path | str) -> str | None:
    if asked and len(found) != 1:
        many = f"matches {len(found)} columns" if found else "matches only columns with another purpose"
        raise DataError.at(path, None, f"{field} {shorten(asked[0])} {many}", "name one column")
    return found[0] if found else None


def _twice(path: Path | str, name: str, one: str, other: str) -> DataError:
    return DataError.at(path, None, f"column {shorten(name)} is named for both {one} and {other}", "name it once")


class Cells:
    """The cells of one column as codes into their distinct values; -1 where the cell is empty."""

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
        """One code per row."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0, dtype=np.int8)

    def first(self, code: int) -> int:
        """The first row with a code."""
        return int(np.argmax(self.codes == code))

    @property
    def first_empty(self) -> int | None:
        """The first row whose cell is empty, or None."""
        return self.first(-1) if (self.codes == -1).any() else None


def is_number(value: object) -> bool:
    """Whether a cell is a number, or text that reads as one."""
    if isinstance(value, str):
        return NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def truths(values: Iterable[object], signed: bool = False) -> list[int | None]:
    """1 or 0 for each of the distinct cells of a label column, None for anything else, and for all words if these are
    of two pairs, such as n, j and y; ``signed``: of a column of 1 and -1."""
    values = [value.strip() if isinstance(value, str) else value for value in values]
    words = [value for value in values if isinstance(value, str) and value.casefold() in TRUTH_WORDS]
    pair = truth_words(words) or ()
    return [_truth(value, pair, signed) for value in values]


def _truth(value: object, pair: Sequence[str], signed: bool) -> int | None:
    if isinstance(value, str):
        if value.casefold() in pair:
            return pair.index(value.casefold())
        value = float(value) if NUMBER.fullmatch(value) else None
    if not isinstance(value, int | float) or value not in ((-1, 1) if signed else (0, 1)):
        return None
    return int(value == 1)


def is_minus_one(value: object) -> bool:
    """Whether a cell is the number -1."""
    return is_number(value) and float(value) == -1  # type: ignore[arg-type]  # is_number does not narrow


def name_of(value: object) -> str:
    """Name of a class or a group from its cell: whole numbers without a decimal point, text without outer blanks."""
    if isinstance(value, str):
        value = value.strip()
        return class_name(float(value)) if "." in value and NUMBER.fullmatch(value) else value
    return class_name(value)


def seconds(value: object, style: str = "iso") -> float | None:
    """A cell of a time column as a number: numbers as they are, dates as seconds since 1970 (UTC where no zone)."""
    if is_number(value):
        number = float(value)  # type: ignore[arg-type]  # is_number does not narrow
        return number if np.isfinite(number) else None
    return date_seconds(value.strip() if isinstance(value, str) else value, style)
