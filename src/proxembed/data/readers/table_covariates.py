"""Covariates of a table: columns that tests take off the features and the targets, by the kind of their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Cells, Columns, matched, resolve
from proxembed.data.readers.table_file import open_table
from proxembed.data.readers.text_layout import FileLayout
from proxembed.tables import read_columns
from proxembed.tables.cells import MISSING
from proxembed.tables.notes import shorten


def covariate_names(path: Path, columns: Columns, asked: Sequence[str]) -> tuple[str, ...]:
    """The columns that names or globs mean, in the order of the file; DataError for one that has another purpose."""
    names = open_table(path, FileLayout.of(columns)).names
    found = {name for pattern in asked for name in matched(pattern, "covariates", names, set(names), path)}
    roles = resolve(columns, names, path)
    for purpose in ("labels", "targets", "text", "id", "groups", "time"):
        held = getattr(roles, purpose)
        for name in (held,) if isinstance(held, str) else held or ():
            if name in found:
                reason = f"column {shorten(name)} is named for both {purpose} and covariates"
                raise DataError.at(path, None, reason, "name it once")
    return tuple(name for name in names if name in found)


def read_covariates(path: Path, columns: Columns, names: Sequence[str]) -> Mapping[str, NDArray[np.generic]]:
    """The cells (n,) of these columns of a table: float64, NaN where empty, where all are numbers and ``category``
    names not the column; else objects, None where empty."""
    file = open_table(path, FileLayout.of(columns))
    cells = {name: Cells(MISSING, columns.missing or ()) for name in names}
    for block in file.blocks(dict.fromkeys(names, "cells")):
        for name in names:
            cells[name].add(*block.cells(name))
    held = {name: (cells[name].values, cells[name].codes) for name in names if not columns.is_category(name)}
    readings = read_columns(
        held,
        missing=columns.missing,
        decimal=columns.decimal,
        points=getattr(file, "separator", ",") != ";",
        targets=tuple(held),
    )
    numbers = {each.name: each.column for each in readings if each.column is not None and not each.problem}
    found: dict[str, NDArray[np.generic]] = {}
    for name in names:
        values, codes = cells[name].values, cells[name].codes
        column = numbers.get(name)
        found[name] = np.array([*values, None], dtype=object)[codes] if column is None else column.parse(values, codes)
    return found
