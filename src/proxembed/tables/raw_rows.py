"""Rows as a caller's own encoder takes them, and the encoder, which is fitted on training rows alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .rows import TableRows

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class RawRows:
    """Rows before an encoder (an array, NaN where unknown, a CSR array or a pandas DataFrame), and the unfitted
    encoder. ``example`` are some encoded rows, which tell the sizes and the kind of the features; None where nothing
    was fitted. ``of_cells``: a DataFrame of the cells of a file (``as_frame``), not one of the caller."""

    def __init__(self, X: Any, encoder: Any, names: Sequence[str], example: Any = None, of_cells: bool = False) -> None:
        self.of_cells = of_cells
        self.X, self.encoder, self.names, self.example = X, encoder, tuple(names), example
        self.shape = X.shape

    @classmethod
    def of(cls, X: Any, encoder: Any, names: Sequence[str], frame: Any = None) -> RawRows:
        """Rows of a data set, of a table its numbers. A table with other columns is taken from the DataFrame that it
        was read from, or from a file as a DataFrame of its cells."""
        if not isinstance(X, TableRows):
            return cls(X, encoder, names)
        if (numbers := as_numbers(X)) is not None:
            return cls(*numbers[:1], encoder, numbers[1])
        if not hasattr(frame, "iloc") or len(frame) != len(X):
            found = as_frame(X)
            return cls(found, encoder, list(found.columns), of_cells=True)
        labels = {str(label): label for label in frame.columns}
        return cls(frame[[labels[column.name] for column in X.columns]], encoder, names)

    @property
    def is_frame(self) -> bool:
        """Whether the encoder takes a DataFrame."""
        return hasattr(self.X, "iloc")

    @property
    def is_sparse(self) -> bool:
        """Whether the encoded rows are sparse, as far as an example shows."""
        return sparse.issparse(self.X if self.example is None else self.example)

    @property
    def array(self) -> Any:
        """The rows as numbers, equal where cells are equal: for descriptions, not for fits."""
        if not self.is_frame:
            return self.X
        columns = (np.unique(list(map(str, self.X.iloc[:, j])), return_inverse=True)[1] for j in range(self.shape[1]))
        return np.column_stack([np.asarray(codes, dtype=np.float64) for codes in columns])

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> RawRows:
        rows = rows if isinstance(rows, slice) else np.asarray(rows)
        X = self.X.iloc[rows] if self.is_frame else self.X[rows]
        return RawRows(X, self.encoder, self.names, self.example, self.of_cells)

    __iter__ = None

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        raise TypeError("rows before an encoder are not features yet; pass the rows themselves.")

    def __repr__(self) -> str:
        return f"RawRows({len(self):,} rows before {encoder_text(self.encoder)})"


def as_numbers(rows: TableRows) -> tuple[NDArray[np.float64], list[str]] | None:
    """The cells of numbers and vectors as one array, NaN where empty, and the names of its columns; None where there
    are other columns."""
    if any(column.kind not in ("number", "vector") for column in rows.columns):
        return None
    names: list[str] = []
    for column in rows.columns:
        own = [f"{column.name}[{j}]" for j in range(column.size)]
        names += own if column.kind == "vector" else [column.name]
    return np.hstack([array.reshape(len(rows), -1) for array in rows.arrays]).astype(np.float64), names


def as_frame(rows: TableRows) -> Any:
    """The cells as a pandas DataFrame: numbers, also of truth values and steps of a scale, dates as timestamps, texts
    and categories (None where empty), lists of names joined by ``; ``, a column for each entry of vectors."""
    import narwhals

    found: dict[str, Any] = {}
    for column, cells in zip(rows.columns, rows.arrays, strict=True):
        if column.kind == "vector":
            found |= {f"{column.name}[{j}]": cells[:, j] for j in range(cells.shape[1])}
        elif column.kind == "date":
            stamps = np.full(len(cells), np.datetime64("NaT", "ns"))
            known = np.isfinite(cells)
            stamps[known] = np.round(1e3 * cells[known]).astype("datetime64[ms]")
            found[column.name] = stamps
        elif cells.dtype == object:
            words = ("; ".join(cell) if isinstance(cell, tuple) else cell for cell in cells)
            found[column.name] = np.array([word or None for word in words], dtype=object)
        else:
            found[column.name] = cells
    return narwhals.from_dict(found, backend="pandas").to_native()


def encoder_text(encoder: Any) -> str:
    """An encoder on one line, the same in every process."""
    return ADDRESS.sub("", " ".join(repr(encoder).split()))
