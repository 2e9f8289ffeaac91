"""Rows as estimators and solvers take them: one array per column of a table, and sparse matrices of 32-bit indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .column import CellError, Column
from .frames import FrameColumn, columns_by_name
from .notes import few_names

MOST = np.iinfo(np.int32).max


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
        raise TypeError("rows of a table are no matrix; encode them first (TableEncoder).")

    def __repr__(self) -> str:
        return f"TableRows({self.shape[0]:,} rows of {few_names([column.name for column in self.columns])})"


def small_indices(A: Any) -> Any:
    """A CSR or CSC matrix with 32-bit indices, sharing its data; A itself where it has them, needs 64 bits or
    is dense."""
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
