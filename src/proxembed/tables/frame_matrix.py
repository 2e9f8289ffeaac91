"""The columns of a DataFrame as a matrix, for a model fitted on a matrix: by name, where the fit had names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .column import Column
from .frames import FrameColumn, columns_by_name, named_columns
from .rows import TableRows

ENTRY = re.compile(r"(.+)\[(\d+)\]", re.DOTALL)


def matrix_by_name(X: Any, names: Sequence[str]) -> NDArray[Any]:
    """The columns of a DataFrame that a model was fitted on, one column of the matrix per name."""
    if (placed := columns_by_position(X, names)) is not None:
        return np.column_stack([_numbers(name, cells) for name, cells in placed.items()])
    found = {str(label) for label in X.columns}
    entries = [None if name in found else ENTRY.fullmatch(name) for name in names]
    vectors = {entry[1] for entry in entries if entry is not None and entry[1] in found}
    owners = [
        name if entry is None or entry[1] not in vectors else entry[1]
        for name, entry in zip(names, entries, strict=True)
    ]
    sizes = Counter(owners)
    given, arrays = columns_by_name(X, list(sizes)), []
    for name in given:
        size = sizes[name]
        arrays.append(_vectors(name, given[name], size) if name in vectors else _numbers(name, given[name])[:, None])
    return _known(np.hstack(arrays), names)


def columns_by_position(X: Any, names: Sequence[str]) -> dict[str, Any] | None:
    """The columns of a DataFrame by the names x0, x1, ... of an array; None for other names, or where X has some."""
    labels, d = list(X.columns), len(names)
    if list(names) != [f"x{j}" for j in range(d)] or {str(label) for label in labels} & set(names):
        return None
    numbered = all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels)
    if labels and numbered and labels != list(range(len(labels))):
        return {f"x{place}": cells for place, cells in columns_by_name(X, [str(j) for j in range(d)]).items()}
    if len(labels) != d:
        raise ValueError(
            f"X has {len(labels)} columns, but the model was fitted on an array of {d}; pass these {d} columns in the "
            "order of the fit."
        )
    return dict(zip(names, named_columns(X).values(), strict=True))


def _numbers(name: str, cells: Any) -> NDArray[Any]:
    array = FrameColumn(cells).array
    return TableRows.of({name: cells}, [Column(name, "number")]).arrays[0] if array is None else array


def _vectors(name: str, cells: Any, size: int) -> NDArray[np.float64]:
    return TableRows.of({name: cells}, [Column(name, "vector", size=size)]).arrays[0]


def _known(X: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    """The matrix; a ValueError for NaN in it, for the fit had none."""
    with np.errstate(all="ignore"):
        total = X.sum()
    if not np.isnan(total) or not (unknown := np.isnan(X)).any():  # infinities of both signs have no sum
        return X
    row, column = np.argwhere(unknown)[0]
    raise ValueError(
        f"Input X contains NaN in row {row} of column {names[column]!r}, but the model was fitted on rows without "
        "unknown numbers. Fill it in, or fit the model on rows that have some."
    )
