"""Rows of a table as one array per column, the columns of a DataFrame as a matrix, and 32-bit indices for solvers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .column import CellError, Column
from .frames import FrameColumn, columns_by_name, named_columns
from .notes import few_names

MOST = np.iinfo(np.int32).max
ENTRY = re.compile(r"(.+)\[(\d+)\]", re.DOTALL)


class TableRows:
    """Rows of a table: its columns, and one array of cells for each."""

    def __init__(self, columns: Sequence[Column], arrays: Sequence[NDArray[Any]], new: bool = False) -> None:
        self.columns, self.arrays, self.new = tuple(columns), tuple(arrays), new
        self.shape = (len(self.arrays[0]), len(self.columns))
        self._places = {column.name: j for j, column in enumerate(self.columns)}

    @classmethod
    def of(cls, frame: Any, columns: Sequence[Column]) -> TableRows:
        """The rows of a mapping of names to cells, or of a DataFrame, in columns of a known reading."""
        arrays, given = [], columns_by_name(frame, [column.name for column in columns])
        for column in columns:
            codes, values = FrameColumn(given[column.name]).coded
            try:
                arrays.append(column.parse(values, codes))
            except CellError as error:
                row = int(np.argmax(codes == error.code))
                raise ValueError(
                    f"X holds {error.value!r} in row {row} of column {column.name!r}, which is not {error.held} as in "
                    "fit; correct it, or leave the cell empty."
                ) from error
        return cls(columns, arrays)

    @property
    def is_sparse(self) -> bool:
        """Whether there are texts or lists of names, whose features are a sparse matrix."""
        return any(column.kind in ("text", "names") for column in self.columns)

    @classmethod
    def stack(cls, parts: Sequence[TableRows]) -> TableRows:
        """The rows of several tables of the same columns, one below the other."""
        arrays = zip(*(part.arrays for part in parts), strict=True)
        return cls(parts[0].columns, [np.concatenate(each) for each in arrays])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """The cells of a column by its name, or the rows of a selection (numbers, a mask, a slice)."""
        if isinstance(key, str):
            return self.arrays[self._places[key]]
        rows = key if isinstance(key, slice) else np.asarray(key)
        return TableRows(self.columns, [array[rows] for array in self.arrays], self.new)

    __iter__ = None

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        raise TypeError("rows of a table are not a matrix; encode them first (TableEncoder).")

    def __repr__(self) -> str:
        return f"TableRows({self.shape[0]:,} rows of {few_names([column.name for column in self.columns])})"


def small_indices(A: Any) -> Any:
    """A CSR or CSC matrix with 32-bit indices, sharing its data; A itself if it has them, needs 64 bits or is dense."""
    if not sparse.issparse(A) or A.format not in ("csr", "csc"):
        return A
    if A.indices.dtype == A.indptr.dtype == np.int32 or max(*A.shape, A.indptr[-1]) > MOST:
        return A
    small = type(A)((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)
    if A.has_canonical_format:
        small.has_canonical_format = True
    return small


def for_solvers(X: Any) -> Any:
    """X as scikit-learn's trees and solvers, and UMAP, take it: a matrix of 32-bit indices where it is sparse."""
    return small_indices(sparse.csr_matrix(X)) if sparse.issparse(X) else X


def matrix_by_name(X: Any, names: Sequence[str], unknown: bool = False) -> NDArray[Any]:
    """The columns of a DataFrame that a model was fitted on, one column of the matrix per name; ``unknown``: whether
    numbers may be NaN."""
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
    return np.hstack(arrays) if unknown else _known(np.hstack(arrays), names)


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
