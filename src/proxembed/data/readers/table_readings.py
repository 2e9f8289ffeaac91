"""Feature columns of a table as `TableRows`: what each holds by its cells, what is told of it and what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import Option, shorten
from proxembed.data.readers.cells import Cells
from proxembed.data.readers.columns import Columns, Roles
from proxembed.data.readers.table_file import TableFile
from proxembed.tables import CellError, Column, Owners, Reading, TableRows, read_columns
from proxembed.tables.notes import few_names, few_notes
from proxembed.tables.quantities import GROUPED, LEADING_ZERO
from proxembed.tables.reading import cell_text
from proxembed.tables.unseen import unseen_notes

ROLE_WORDS = {"labels": "labels", "id": "id", "groups": "groups", "time": "time"}
Part = tuple[TableFile, dict[str, Cells]]


@dataclass(frozen=True)
class MixedRows:
    """The feature columns of one or two files, training rows first.

    `rows` is None if there are problems, which are as `TableFaults` takes them, or if no column is a feature.
    `described` holds name, reading and an example of every column.
    """

    rows: Any  # TableRows; None where no column is mixed
    readings: tuple[Reading, ...]
    problems: tuple[Any, ...]
    described: tuple[tuple[str, str, str], ...]
    unseen: tuple[str, ...] = ()  # notes on cells of the second file that the first does not have

    @property
    def notes(self) -> list[str]:
        """What a person must be told of the columns."""
        told = [(reading.name, reading.note) for reading in self.readings if reading.note]
        constant = [reading.name for reading in self.readings if reading.words.startswith(("constant", "empty,"))]
        for column in () if self.rows is None else self.rows.columns:
            if column.kind == "date" and _ordered(self.rows[column.name]):
                option = f"time={column.name!r}"
                text = f"the rows are in the order of {column.name} ({option} tests on the latest ones)"
                told.append((column.name, text))
        notes = [*few_notes(told), *self.unseen]
        return notes + ([f"left out, because they say nothing: {few_names(constant)}"] if constant else [])


def is_matrix(file: TableFile, names: Sequence[str], decimal: str | None = None) -> bool:
    """Whether columns hold numbers with a decimal point and vectors alone, none of which looks like a code."""
    if not file.typed and (decimal == "," or decimal is None and not _shows_points(file)):
        return False
    if any(file.places[name] not in ("number", "vector") for name in names):
        return False
    first = getattr(file, "first", {})
    return not any(LEADING_ZERO.match(cell) for name in names for cell in first.get(name, ()))


def _shows_points(file: TableFile) -> bool:
    """Whether the first rows of a file of text show that points are decimal marks.

    Only a file separated by semicolons may have decimal commas; a cell such as 1.234 does not tell.
    """
    if getattr(file, "separator", ",") != ";":
        return True
    pointed = (cell for cells in getattr(file, "first", {}).values() for cell in map(str.strip, cells) if "." in cell)
    first = next(pointed, None)
    return first is None or not GROUPED.fullmatch(first) or not all(map(GROUPED.fullmatch, pointed))


def mixed_rows(parts: Sequence[Part], roles: Roles, columns: Columns) -> MixedRows:
    """Read the cells of the feature columns; the first file, the training file, says what they hold."""
    file, cells = parts[0]
    purposes = {*roles.features, *roles.text}
    chosen = [name for name in file.names if name in purposes]
    names = [name for name in chosen if name in cells]
    found = read_columns(
        {name: (cells[name].values, cells[name].codes) for name in names},
        texts=roles.text,
        kept=names if columns.keep else (),
        missing=columns.missing,
        decimal=columns.decimal,
        categories=list(filter(columns.is_category, names)),
        points=getattr(file, "separator", ",") != ";",
    )
    problems = [_told(file, cells, reading) for reading in found if reading.problem]
    problems += [
        (f"column {shorten(name)} holds values that are neither numbers nor text", (("drop", name),), ())
        for name in chosen
        if name not in cells
    ]
    features = tuple(reading.column for reading in found if reading.column is not None)
    rows, unseen = None, []
    if features and not problems:
        held_in = [as_rows(each, features, held) for each, held in parts]
        rows = TableRows.stack(held_in)
        unseen = [f"{parts[1][0].path.name}: {note}" for note in unseen_notes(*held_in)] if len(parts) == 2 else []
    readings = {reading.name: (reading.words, reading.example) for reading in found}
    for purpose in ROLE_WORDS:
        for name in names_of(roles, purpose):
            readings[name] = (purpose, first_cell(cells[name]))
    described = tuple((name, *readings[name]) for name in file.names if name in readings)
    return MixedRows(rows, tuple(found), tuple(problems), described, tuple(unseen))


def first_cell(cells: Cells) -> str:
    """The first cell of a column for a person, "" if all are empty."""
    return shorten(cell_text(next(iter(cells.values), "")))[1:-1]


def described(mixed: MixedRows, found: Owners) -> MixedRows:
    """The rows without entities, and the readings with those of the entities and of the column chosen as groups."""
    words = {**dict.fromkeys(found.entities, "entity, left out"), **({found.groups: "groups"} if found.groups else {})}
    columns = ((name, words.get(name, read_as), example) for name, read_as, example in mixed.described)
    kept = [column for column in mixed.rows.columns if column.name not in found.entities]
    rows = TableRows(kept, [mixed.rows[column.name] for column in kept]) if found.entities else mixed.rows
    return replace(mixed, rows=rows, described=tuple(columns))


def _ordered(times: NDArray[Any]) -> bool:
    """Whether times never fall, and differ in most rows."""
    return len(times) > 2 and bool((times[1:] >= times[:-1]).all()) and 2 * len(np.unique(times)) > len(times)


def names_of(roles: Roles, purpose: str) -> tuple[str, ...]:
    """The columns of a purpose."""
    found = getattr(roles, purpose)
    return found if isinstance(found, tuple) else () if found is None else (found,)


def as_rows(file: TableFile, columns: Sequence[Column], cells: dict[str, Cells], new: bool = False) -> TableRows:
    """The cells of one file in columns of a known reading; DataError for a cell that does not fit its column."""
    arrays = []
    for column in columns:
        held = cells[column.name]
        try:
            arrays.append(column.parse(held.values, held.codes))
        except CellError as error:
            reason = f"{shorten(str(error.value))} in column {shorten(column.name)} is not {error.held}"
            remedy = "correct it, or leave the cell empty"
            raise file.fault(held.first(error.code), f"{reason}, as in the training file", remedy) from error
    return TableRows(columns, arrays, new)


def _told(file: TableFile, cells: dict[str, Cells], reading: Reading) -> tuple[str, tuple[Option, ...], Any]:
    """A problem with the line of the first cell at fault, where one cell is."""
    text = f"column {shorten(reading.name)} {reading.problem}"
    if reading.at is None:
        return text, reading.options, reading.instead
    return f"{file.place(cells[reading.name].first(reading.at))}: {text}", reading.options, reading.instead
