"""Label columns of a table: columns of 0 and 1, one column of classes, or one column of joined or listed labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.errors import shorten
from proxembed.data.readers.blocks import TableFile
from proxembed.data.readers.cells import Cells, is_number, name_of, truth

JOINS = (";", "|")  # what a lone label column is asked about when its cells hold it
ZERO_ONE = "write 0 or 1, and leave the cell empty where it is unknown"


@dataclass(frozen=True)
class LabelColumns:
    """Labels of one file: their names, the indicator and the mask of unknown cells, both n x c."""

    names: tuple[str, ...]
    Y: sparse.csc_array
    unknown: sparse.csc_array


def read_labels(parts: Sequence[tuple[TableFile, dict[str, Cells]]], separator: str | None) -> list[LabelColumns]:
    """The labels of a training file, and of its test file, from the cells of their label columns.

    Raises DataError where no form of labels fits, or the training file has none.
    """
    file, columns = parts[0]
    if not columns:
        raise file.fault(None, "no column is named as a label", "name one or more by labels (--labels 'topic_*')")
    if all((cells.codes < 0).all() for cells in columns.values()):
        raise file.fault(None, "every label cell is empty", "give labels to some rows at least")
    if len(columns) > 1:
        return [_indicator(*part) for part in parts]
    (name,) = columns
    read = _lone_form(file, name, [value for _, cells in parts for value in cells[name].values], separator)
    if read is None:
        return [_indicator(*part) for part in parts]
    if separator is None or separator == "":
        _refuse_identities(file, name, columns[name])
    found = [(cells[name], [read(value) for value in cells[name].values]) for _, cells in parts]
    names = _in_order({label for _, of_value in found for labels in of_value for label in labels})
    if not names:
        raise file.fault(None, f"the cells of label column {shorten(name)} hold no label", "give labels to some rows")
    return [_sets(names, *part) for part in found]


def _lone_form(
    file: TableFile, name: str, values: list, separator: str | None
) -> Callable[[Any], tuple[str, ...]] | None:
    """How the cells of a lone label column are turned into label names; None where they are 0 and 1."""
    if any(isinstance(value, tuple) for value in values):
        return lambda value: tuple(map(str, value))
    if separator:
        return lambda value: tuple(part.strip() for part in str(value).split(separator) if part.strip())
    if separator is None and all(truth(value) is not None for value in values):
        return None
    if separator is None and (join := _joined(values)) is not None:
        raise file.fault(
            None,
            f"the cells of label column {shorten(name)} look like labels joined by {join!r}, such as "
            f"{shorten(next(value for value in values if join in value))}",
            f"give separator={join!r} (--separator), or separator='' where each is one class",
        )
    return lambda value: (name_of(value),)


def _refuse_identities(file: TableFile, name: str, cells: Cells) -> None:
    """Refuse lists-free cells that are a continuous target, or that hardly ever repeat."""
    if any(isinstance(value, tuple) for value in cells.values):
        return
    if all(map(is_number, cells.values)):
        for code, value in enumerate(cells.values):
            if not float(value).is_integer():
                raise file.fault(
                    cells.first(code),
                    f"label {shorten(name)} is the fraction {shorten(str(value))}",
                    "a continuous target is no label: bin it into classes first",
                )
    known = int((cells.codes >= 0).sum())
    classes = len(set(map(name_of, cells.values)))
    if classes > max(2, known // 2):
        raise file.fault(
            None,
            f"label column {shorten(name)} holds {classes} different classes in {known} rows, such as "
            f"{shorten(name_of(cells.values[0]))}",
            "name a column whose classes repeat; for labels joined in one cell give their separator",
        )


def _indicator(file: TableFile, columns: dict[str, Cells]) -> LabelColumns:
    ones, holes = [], []
    for name, cells in columns.items():
        known = [truth(value) for value in cells.values]
        if None in known:
            code = known.index(None)
            raise file.fault(
                cells.first(code),
                f"label {shorten(name)} is {shorten(str(cells.values[code]))}, not 0 or 1",
                ZERO_ONE if len(columns) > 1 else "name the classes",
            )
        ones.append(np.flatnonzero(np.array([*known, 0])[cells.codes] == 1))
        holes.append(np.flatnonzero(cells.codes < 0))
    n = len(cells.codes)
    return LabelColumns(tuple(columns), _columns(ones, n).astype(np.uint8), _columns(holes, n))


def _sets(names: list[str], cells: Cells, of_value: list[tuple[str, ...]]) -> LabelColumns:
    """The labels of a row are those of its cell; an empty cell is unknown in every label."""
    place = {label: j for j, label in enumerate(names)}
    flat = [(code, place[label]) for code, labels in enumerate(of_value) for label in set(labels)]
    shape = (len(of_value) + 1, len(names))  # the last row is that of an empty cell
    rows, columns = np.array(flat, dtype=np.intp).reshape(-1, 2).T
    table = sparse.csr_array((np.ones(len(flat), np.uint8), (rows, columns)), shape=shape)
    Y = sparse.csc_array(table[cells.codes.astype(np.intp) % shape[0]])
    empty = np.flatnonzero(cells.codes < 0)
    return LabelColumns(tuple(names), Y, _columns([empty] * len(names), len(cells.codes)))


def _in_order(names: set[str]) -> list[str]:
    """Numbers by size, then text by the alphabet."""
    return sorted(names, key=lambda name: (not is_number(name), float(name) if is_number(name) else 0.0, name))


def _joined(values: Sequence[object]) -> str | None:
    """A separator that seems to join labels: the parts are fewer than the cells, or occur as cells themselves."""
    texts = {value.strip() for value in values if isinstance(value, str)}
    for join in JOINS:
        joint = {text for text in texts if join in text}
        parts = {part.strip() for text in joint for part in text.split(join)} - {""}
        if joint and (parts & texts or len(parts) < len(joint)):
            return join
    return None


def _columns(rows: list[NDArray[np.intp]], n: int) -> sparse.csc_array:
    indptr = np.cumsum([0, *map(len, rows)])
    return sparse.csc_array((np.ones(indptr[-1], dtype=bool), np.concatenate(rows), indptr), shape=(n, len(rows)))
