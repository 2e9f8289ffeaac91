"""Rows of a table as an estimator takes them: one array per column, from which nothing has been learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .column import CellError, Column
from .frames import FrameColumn, columns_by_name
from .notes import few_names


class TableRows:
    """Rows of a table: its columns, and one array of cells for each.

    Parameters
    ----------
    columns : sequence of Column
    arrays : sequence of arrays of n entries
        As ``Column.parse`` gives them.
    new : bool
        Whether they are read in the columns of a training table: a ``TableEncoder`` warns of cells that are new.

    Examples
    --------
    >>> from proxembed.tables import Column, TableRows
    >>> columns = [Column("age", "number"), Column("kind", "category")]
    >>> rows = TableRows.of({"age": [31, None], "kind": ["a", "b"]}, columns)
    >>> rows.shape, rows[[1]]["age"].tolist(), rows["kind"].tolist()
    ((2, 2), [nan], ['a', 'b'])
    """

    def __init__(self, columns: Sequence[Column], arrays: Sequence[NDArray[Any]], new: bool = False) -> None:
        self.columns, self.arrays, self.new = tuple(columns), tuple(arrays), new
        self.shape = (len(self.arrays[0]), len(self.columns))
        self._places = {column.name: j for j, column in enumerate(self.columns)}

    @classmethod
    def of(cls, frame: Any, columns: Sequence[Column]) -> TableRows:
        """The rows of a mapping of names to cells, or of a DataFrame, in columns of a known reading.

        Raises
        ------
        ValueError
            A column is missing, or a cell is not what its column holds.
        """
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
