"""Labels and numbers in memory: y as an array or a table, and columns of labels beside a matrix of features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Columns, Roles, is_minus_one, truths
from proxembed.data.readers.table import first_cell
from proxembed.data.readers.table_labels import FrameFile, LabelColumns, read_labels
from proxembed.data.readers.table_outputs import table_outputs, target_readings
from proxembed.tables.cells import is_empty
from proxembed.tables.frames import frame_of, is_frame, named_columns
from proxembed.tables.notes import counted
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.reading import InfiniteCells, read_targets
from proxembed.targets.values import entries, unwrapped


def labels_of(y: Any, target_type: Any = None, separator: str | None = None, empty: str | None = None) -> LabelColumns:
    """The labels in y by the rules that hold for the label columns of a table; or numbers, if its values or
    ``target_type`` say so."""
    if (found := _without_columns(y, target_type)) is not None:
        return found
    file = FrameFile(label_columns(y), "y")
    cells = {name: file.cells(name) for name in file.names}
    labels = read_labels([(file, cells)], separator, empty, _word(target_type))[0]
    return replace(labels, columns=tuple((name, first_cell(cells[name])) for name in file.names))


def labels_of_array(Y: NDArray[Any], names: Sequence[str] | None, target_type: str | None, path: Path) -> LabelColumns:
    """The labels or numbers in the array of a file, under these names; those without names are y, or y0, y1, ..., and
    the columns of an indicator label0, label1, ... A DataError for what cannot be read."""
    given = None if names is None else [str(name) for name in names]
    try:
        found, cells = _without_columns(Y, target_type), label_columns(Y) or {}
    except ValueError as error:
        raise error if isinstance(error, DataError) else DataError(str(error)) from error
    if found is None:
        if len(cells) > 1:
            cells = dict(zip(_names_of(given, len(cells), "classes"), cells.values(), strict=True))
        file = FrameFile(cells, str(path))
        found = labels_beside(file, Roles(file.names, ()), _word(target_type))
        return replace(found, names=tuple(given)) if given and len(found.names) == len(given) == 1 else found
    if (outputs := found.outputs) is None:
        return replace(found, names=tuple(given or (f"label{j}" for j in range(found.Y.shape[1]))))
    columns = outputs.layout.columns
    named = zip(columns, _names_of(given, len(columns), "numbers"), strict=True)
    layout = replace(outputs.layout, columns=tuple(replace(column, name=name) for column, name in named))
    return LabelColumns.of_outputs(replace(outputs, layout=layout), found.notes)


def _names_of(given: list[str] | None, size: int, what: str) -> list[str]:
    """The names of columns of an array."""
    names = (["y"] if size == 1 else [f"y{j}" for j in range(size)]) if given is None else given
    if len(names) != size:
        counts = f"{counted(len(names), 'name')} for {counted(size, 'column')} of {what}"
        raise DataError(f"{counts} in Y; give one name per column.")
    return names


def _word(target_type: Any) -> str | None:
    """The word of label columns in what is said of y; that y holds numbers is none."""
    return None if target_type == "real" or isinstance(target_type, Mapping) else target_type


def _without_columns(y: Any, target_type: Any) -> LabelColumns | None:
    """y as numbers, if its values or ``target_type`` say so, or as an indicator; None for columns of label cells."""
    said = _word(target_type) != target_type
    if said and isinstance(found := read_targets(y, target_type), Outputs):
        return LabelColumns.of_outputs(found)
    if (numbers := _numbers_in(y, _word(target_type))) is not None:
        return LabelColumns.of_outputs(numbers)
    if label_columns(y) is not None:
        return None
    matrix = LabelMatrix.of(y)
    unknown = sparse.csc_array(matrix.Y.shape, dtype=bool) if matrix.unknown is None else matrix.unknown
    return LabelColumns(tuple(map(str, matrix.classes_)), matrix.Y, unknown)


def labels_beside(file: FrameFile, roles: Roles, target_type: str | None) -> LabelColumns:
    """The labels and numbers of columns beside a matrix of features: truth words, 1 and 0, or 1 and -1 are labels, one
    column of other cells holds classes, and the targets hold numbers."""
    cells = {name: file.cells(name) for name in (*roles.labels, *roles.targets)}
    labels = None
    if roles.labels:
        own = {name: cells[name] for name in roles.labels}
        values = [value for each in own.values() for value in each.values]
        signed = any(map(is_minus_one, values))
        plain = all(None not in truths(each.values, signed) for each in own.values())
        labels = read_labels([(file, own)], None if plain else "", target_type=target_type)
    if labels is not None and not roles.targets:
        return labels[0]
    part: Any = (file, cells)
    return table_outputs([part], roles, target_readings(part, roles, Columns()), labels)[0]


def _numbers_in(y: Any, target_type: str | None) -> Outputs | None:
    """y as outputs where it holds numbers, as estimators read it; None for labels and for what cannot be read. Raises
    InfiniteCells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = read_targets(y, target_type)
        except InfiniteCells:
            raise
        except ValueError:
            return None
    return found if isinstance(found, Outputs) and found.numbers else None


def label_columns(y: Any) -> dict[str, Any] | None:
    """The label columns in y by name; None for an array of several columns of numbers or a sparse matrix, which are
    indicators."""
    y = frame_of(y)
    if is_frame(y):
        return named_columns(y, "y")
    if hasattr(y, "to_numpy"):
        name = getattr(y, "name", None)
        return {"y" if name in (None, "") else str(name): y}
    y = unwrapped(y)[0]
    if not isinstance(y, list | tuple | np.ndarray):
        return None
    if _label_lists(y):
        return {"y": list(y)}
    cells = entries(y)
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = cells[:, 0]
    if cells.ndim == 2 and cells.dtype.kind in "USO" and any(isinstance(value, str) for value in cells.flat):
        return {str(j): cells[:, j] for j in range(cells.shape[1])}
    return {"y": cells} if cells.ndim == 1 else None


def _label_lists(y: Any) -> bool:
    """Whether each entry is a set of labels, a list of labels that are text, or missing."""
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return False
    known = [row for row in y if not is_empty(row)]
    if not known or not all(isinstance(row, set | frozenset | list | tuple) for row in known):
        return False
    lists = [row for row in known if isinstance(row, list | tuple)]
    return not any(lists) or any(isinstance(each, str) for row in lists for each in row)
