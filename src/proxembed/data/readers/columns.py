"""Which column of a table means what: labels, text, id, groups, time; the rest are features."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from proxembed.data.errors import DataError, shorten

SHOWN_COLUMNS, SHOWN_NEAR = 8, 3
SINGLE = ("id", "groups", "time")
LISTED = ("labels", "text", "drop", "keep", "missing", "category")


@dataclass(frozen=True)
class Columns:
    """The columns of a table by purpose, as names or globs (``topic_*``); what is not named here is a feature.

    Parameters
    ----------
    labels : sequence of str
        Label columns of 0 and 1 (true and false), empty where unknown; or one column with the class of each row, or
        with its labels joined by `separator`, or (Parquet) with lists of labels.
    separator : str, optional
        What joins the labels inside the cells of the one label column; "" says that its cells are not to be split.
    text : str or sequence of str
        Columns of texts; long texts are found without being named.
    id : str, optional
        Column that names the rows.
    groups : str or False, optional
        Column whose equal values hold rows together that no split may part. None: an identifier, such as ``patient``,
        that several rows share; False: no groups.
    time : str, optional
        Column of numbers or ISO dates that orders the rows.
    drop : sequence of str
        Columns to leave out. A column that is named for a purpose is not dropped by a glob.
    keep : sequence of str
        The columns that are features, and no others; they are taken as they are, even where they look like ids.
    missing : sequence of str, optional
        What else stands for an empty cell, such as ``-999``; () for nothing. None asks about numbers that look like it.
    empty : {"no labels", "unknown"}, default="no labels"
        What an empty cell of joined labels means: a row without labels, or a row whose labels are unknown.
    decimal : {".", ","}, optional
        The decimal mark of numbers in text. None: that which the cells of all columns show; if every number fits both,
        such as ``1,234``, it is asked for.
    category : sequence of str
        Columns of categories, even if most of their cells are numbers or dates.
    target_type : {"classes"}, optional
        "classes": whole numbers in the one label column are classes, however many there are. None: they are refused
        if there are more than 20 different ones and fewer than 3 rows of each on average.

    Raises
    ------
    DataError
        Where a value is no text, or a separator is given for several label columns.

    Examples
    --------
    >>> from proxembed.data import Columns
    >>> Columns(labels=("topic_*",), id="doc")
    Columns(labels=('topic_*',), separator=None, text=(), id='doc', groups=None, time=None, drop=(),
    keep=(), missing=None, empty='no labels', decimal=None, category=(), target_type=None)
    """

    labels: Sequence[str] = ()
    separator: str | None = None
    text: Sequence[str] = ()
    id: str | None = None
    groups: str | Literal[False] | None = None
    time: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    missing: Sequence[str] | None = None
    empty: str = "no labels"
    decimal: str | None = None
    category: Sequence[str] = ()
    target_type: str | None = None

    def __post_init__(self) -> None:
        for field in LISTED:
            if getattr(self, field) is not None:
                object.__setattr__(self, field, _texts(field, getattr(self, field)))
        if self.empty not in ("no labels", "unknown"):
            raise DataError(f"empty={self.empty!r} must be 'no labels' or 'unknown', the meaning of an empty cell.")
        if self.decimal not in (None, ".", ","):
            raise DataError(f"decimal={self.decimal!r} must be '.' or ',', the mark before the decimals.")
        if self.target_type not in (None, "classes"):
            raise DataError(f"target_type={self.target_type!r} must be 'classes', or None.")
        for field in ("separator", "id", "groups", "time"):
            value = getattr(self, field)
            if field == "groups" and value is False:
                continue
            if value is not None and not isinstance(value, str):
                raise DataError(f"{field}={value!r} is no text; give one column name.")
        if self.separator is not None and len(self.labels) > 1:
            raise DataError(
                f"separator={self.separator!r} was given beside {len(self.labels)} label columns; it splits the cells "
                "of one: name that one."
            )

    def is_category(self, name: str) -> bool:
        """Whether ``category`` names a column."""
        return any(name == each or fnmatchcase(name, each) for each in self.category)

    @property
    def fields_set(self) -> tuple[str, ...]:
        """Names of the fields that are set; ``groups=False`` suits any file."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) not in (field.default, False))


@dataclass(frozen=True)
class Roles:
    """The columns of one table by purpose, every name its own; in the order of the file.

    `unkept` are those that `Columns.keep` leaves out.
    """

    labels: tuple[str, ...]
    features: tuple[str, ...]
    text: Sequence[str] = ()
    id: str | None = None
    groups: str | None = None
    time: str | None = None
    unkept: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are read."""
        single = (self.id, self.groups, self.time)
        return (*self.labels, *self.text, *(name for name in single if name is not None), *self.features)


def resolve(columns: Columns, names: Sequence[str], path: Path | str) -> Roles:
    """Roles of the columns of one file.

    A column named in full for two purposes, or matched by the globs of two, is refused; where one names it in full,
    the glob of the other passes it by. Raises DataError for names and globs that match no column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.data.readers.columns import Columns, resolve
    >>> resolve(Columns(labels=("t_*",), drop=("*_no",)), ["t_a", "x", "row_no", "t_b"], Path("f.csv"))
    Roles(labels=('t_a', 't_b'), features=('x',), text=(), id=None, groups=None, time=None,
    unkept=())
    """
    asked: dict[str, Sequence[str]] = {"labels": columns.labels, "text": columns.text}
    for field in SINGLE:
        value = getattr(columns, field)
        asked[field] = (value,) if value else ()
    owner: dict[str, str] = {}
    listed = set(names)
    for field, patterns in (*asked.items(), ("drop", columns.drop)):
        for name in patterns:
            if name in listed:
                if owner.setdefault(name, field) != field:
                    raise _twice(path, name, owner[name], field)
    full = dict(owner)
    for field, patterns in asked.items():
        for pattern in patterns:
            for name in _matched(pattern, field, names, listed, path):
                if name not in full and owner.setdefault(name, field) != field:
                    raise _twice(path, name, owner[name], field)
    for pattern in columns.drop:
        for name in _matched(pattern, "drop", names, listed, path):
            owner.setdefault(name, "drop")
    chosen = {field: tuple(name for name in names if owner.get(name) == field) for field in asked}
    single = {field: _only(field, asked[field], chosen[field], path) for field in SINGLE}
    for pattern in columns.category:
        _matched(pattern, "category", names, listed, path)
    kept = {name for pattern in columns.keep for name in _matched(pattern, "keep", names, listed, path)}
    others = tuple(name for name in names if name not in owner)
    features = tuple(name for name in others if not columns.keep or name in kept)
    unkept = tuple(name for name in others if columns.keep and name not in kept)
    return Roles(chosen["labels"], features, chosen["text"], **single, unkept=unkept)


def required(wanted: Sequence[str], names: Sequence[str], path: Path, of: str) -> None:
    """Refuse a file that lacks a column; `of` says who needs it."""
    known = set(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        several, near = len(missing) > 1, _near(missing[0], names)
        lacking = (
            f"columns {shorten(missing[0])} and {len(missing) - 1} more" if several else f"column {shorten(missing[0])}"
        )
        raise DataError.at(
            path,
            None,
            f"{lacking} of {of} {'are' if several else 'is'} missing",
            f"{near} Give a file with the same columns"
            if near.endswith("?")
            else f"{near}; give a file with the same columns",
        )


def _texts(field: str, value: Any) -> tuple[str, ...]:
    texts = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    texts = tuple(map(str, texts)) if field == "missing" else texts
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"{field}={value!r} must hold column names or globs, each a text.")
    return texts


def _matched(pattern: str, field: str, names: Sequence[str], listed: set[str], path: Path | str) -> list[str]:
    if pattern in listed:
        return [pattern]
    found = [name for name in names if fnmatchcase(name, pattern)]
    if not found:
        raise DataError.at(path, None, f"{field} {shorten(pattern)} names no column of the file", _near(pattern, names))
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
    more = f" and {len(names) - SHOWN_COLUMNS} more" if len(names) > SHOWN_COLUMNS else ""
    return f"its columns are {shown}{more}"


def _only(field: str, asked: Sequence[str], found: tuple[str, ...], path: Path | str) -> str | None:
    if asked and len(found) != 1:
        many = f"matches {len(found)} columns" if found else "matches only columns with another purpose"
        raise DataError.at(path, None, f"{field} {shorten(asked[0])} {many}", "name one column")
    return found[0] if found else None


def _twice(path: Path | str, name: str, one: str, other: str) -> DataError:
    return DataError.at(path, None, f"column {shorten(name)} is named for both {one} and {other}", "name it once")
