"""Outputs of tables: columns that are to hold numbers, and the labels beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError, Fault, TableFaults
from proxembed.data.readers.columns import Cells, Columns, Roles
from proxembed.data.readers.table_file import TableFile
from proxembed.data.readers.table_labels import LabelColumns, class_output, label_sets
from proxembed.tables import CellError, Reading, read_columns
from proxembed.tables.notes import few_names, few_notes, shorten
from proxembed.targets.outputs import Column, Outputs, output_words, outputs_of

FilePart = tuple[TableFile, dict[str, Cells]]


def target_readings(part: FilePart, roles: Roles, columns: Columns) -> list[Reading]:
    """The readings of the columns of numbers of a table whose features are written with a decimal point."""
    file, cells = part
    return read_columns(
        {name: (cells[name].values, cells[name].codes) for name in roles.targets},
        missing=columns.missing,
        decimal=columns.decimal,
        points=getattr(file, "separator", ",") != ";",
        targets=roles.targets,
    )


def table_outputs(
    parts: Sequence[FilePart], roles: Roles, readings: Sequence[Reading], labels: Sequence[LabelColumns] | None
) -> list[LabelColumns]:
    """Numbers, and labels beside them, of each file, in the order of its columns."""
    file = parts[0][0]
    if problems := [reading_fault(file, parts[0][1], reading) for reading in readings if reading.problem]:
        raise TableFaults(file.path, problems)
    found = []
    for number, (each, cells) in enumerate(parts):
        numbers = {reading.name: [_number_column(each, cells, reading)] for reading in readings}
        beside = {} if labels is None else _label_columns(roles.labels, labels[number])
        chosen = [pair for name in file.names for pair in (numbers | beside).get(name, ())]
        found.append(outputs_of(chosen))
    _refuse_empty(file, found[0])
    units = [(r.name, f"{r.name} is in {r.column.unit}") for r in readings if r.column is not None and r.column.unit]
    units += [(r.name, r.note.rpartition(" (category=")[0]) for r in readings if r.note]  # classes are no numbers
    notes = (*(() if labels is None else labels[0].notes), *few_notes(units))
    return [LabelColumns.of_outputs(outputs, notes) for outputs in found]


def _label_columns(names: Sequence[str], found: LabelColumns) -> dict[str, list[tuple[Column, NDArray[np.float64]]]]:
    """The outputs that labels are, by the column that they come from."""
    if len(names) == 1:
        return {names[0]: class_output(names[0], found)}
    if found.outputs is None:
        several = class_output("", replace(found, values=None))
        if set(found.names) == set(names):  # columns of 0 and 1
            return {column.name: [(column, cells)] for column, cells in several}
        return {names[0]: [(replace(c, name=n), cells) for (c, cells), n in zip(several, found.names, strict=True)]}
    holes, cells = found.outputs.dense_holes(), found.outputs.cells
    whole = np.where(holes, np.nan, cells)
    return {c.name: [(c, whole[:, j])] for j, c in enumerate(found.outputs.layout.columns)}


def _number_column(file: TableFile, cells: Mapping[str, Cells], reading: Reading) -> tuple[Column, NDArray[np.float64]]:
    held, column = cells[reading.name], reading.column
    assert column is not None
    try:
        return Column(reading.name, "real"), column.parse(held.values, held.codes)
    except CellError as error:
        reason = f"{shorten(str(error.value))} in column {shorten(reading.name)} is not {error.held}"
        raise file.fault(held.first(error.code), reason, "correct it, or leave the cell empty") from error


def _refuse_empty(file: TableFile, outputs: Outputs) -> None:
    """A DataError for an output with less than two known cells."""
    for column, known in zip(outputs.layout.columns, (~outputs.dense_holes()).sum(axis=0).tolist(), strict=True):
        if known < 2:
            reason = f"column {shorten(column.name)} has {known} known cell{'s' * (known != 1)}, and two are needed"
            raise DataError.at(file.path, None, reason, "leave it out")


def reading_fault(file: TableFile, cells: Mapping[str, Cells], reading: Reading) -> Fault:
    """A problem with the line of the first cell at fault, where one cell is."""
    place = "" if reading.at is None else f"{file.place(cells[reading.name].first(reading.at))}: "
    text = f"{place}column {shorten(reading.name)} {reading.problem}"
    return Fault(text, reading.options, reading.instead, reading.remedy)


def outputs_note(outputs: Outputs) -> str:
    """One line on how each column of y was read."""
    facts = outputs.describe()
    return "outputs: " + few_names([f"{each['name']} ({output_words(each)})" for each in facts])


def target_sets(labels: LabelColumns) -> NDArray[np.integer]:
    """The place of the targets of each row among all distinct ones, -1 where a cell is unknown."""
    if labels.outputs is None:
        return label_sets(labels.Y, labels.unknown)
    sets = np.ravel(np.unique(labels.outputs.cells, axis=0, return_inverse=True)[1])
    return np.where(labels.outputs.dense_holes().any(axis=1), -1, sets)
