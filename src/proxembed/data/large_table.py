"""A labelled table that exceeds the memory: the labels of all rows, a sample of rows as a data set, rows in parts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, with_spelling_notes
from proxembed.data.errors import DataError
from proxembed.data.readers import checked_rows, format_of
from proxembed.data.readers.columns import Columns, resolve
from proxembed.data.readers.parquet_parts import parquet_files
from proxembed.data.readers.reader import NamedRows
from proxembed.data.readers.table import Table, labels_alone, parts_of, read_table, stem
from proxembed.data.readers.table_features import with_row_names, without_row_numbers
from proxembed.data.readers.table_file import Block, ParquetFile, TableFile, check_layout, form_of, open_table
from proxembed.data.readers.table_labels import LabelColumns
from proxembed.data.readers.text_layout import FileLayout
from proxembed.tables import TableRows

BLOCK_ROWS = 65_536
LEAST_OF_EACH = 20  # rows of a sample that have a label, where there are as many


class LargeTable:
    """A CSV or Parquet file, or a folder of Parquet files, of which only the labels are in memory."""

    def __init__(self, path: Path, columns: Columns) -> None:
        if not takes(path):
            raise DataError.at(path, None, "only tables are read in parts", "give more memory, or write it as Parquet")
        self.path = path
        check_layout(path, FileLayout.of(columns))
        file = open_table(path, FileLayout.of(columns))
        columns, named = with_row_names(file, columns)
        self.columns, numbered = without_row_numbers(file, columns, BLOCK_ROWS)
        self._notes = named + numbered
        self._row_numbers = [name for name in self.columns.drop if name not in columns.drop]
        found = labels_alone(file, columns, BLOCK_ROWS)
        self._names, self._places = file.names, file.places
        self.label_names, self.outputs = found.names, found.outputs
        self.Y, self.unknown = sparse.csr_array(found.Y), sparse.csr_array(found.unknown)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.Y.shape[0]

    @property
    def single_label(self) -> bool:
        """Whether every row has exactly one label, all known."""
        return self.outputs is None and not self.unknown.nnz and bool((np.diff(self.Y.indptr) == 1).all())

    @property
    def numbers(self) -> list[str]:
        """The feature columns of numbers."""
        features = resolve(self.columns, self._names, self.path).features
        return [name for name in features if self._places[name] == "number"]

    def sample(self, rows: int, seed: int, each: Callable[[Block], None] | None = None) -> Dataset:
        """A data set of ``rows`` rows in the order of the file, drawn at random, with at least 20 (or all) of each
        label. ``each`` is called with all blocks of a Parquet file."""
        drawn = stratified_rows(self._strata(), rows, seed)
        file = self._opened(self.path).picked(drawn, BLOCK_ROWS, each)
        columns = replace(self.columns, target_type="classes")  # checked on all rows
        own = None if self.outputs is None else LabelColumns.of_outputs(self.outputs.take(drawn))
        found = with_spelling_notes(read_table([file], columns, stem(self.path), own))
        if found.label_names != self.label_names:
            raise DataError.at(
                self.path, None, f"a sample of {rows:,} rows does not show all of its labels", "give more memory"
            )
        source = dict(found.source or {})
        if self._row_numbers and source.get("id") is None:
            source.setdefault("found_id", self._row_numbers[0])
        return replace(found, source=source, notes=(*self._notes, *found.notes))

    def _strata(self) -> sparse.csr_array:
        """The groups of rows that a sample keeps: those of the labels, or the fifths of each output."""
        return self.Y if self.outputs is None else self.outputs.fold_labels(np.arange(self.n))

    def parts(self, source: dict[str, Any], rows: int) -> Iterator[NamedRows]:
        """Features and ids of all rows, read as ``source`` has it."""
        read = 0
        for part in piece_parts(open_table(self.path, FileLayout.of(self.columns)), source, rows):
            read += part[0].shape[0]
            if read > self.n:
                raise self._replaced(f"more than {self.n:,}")
            yield part
        if read < self.n:
            raise self._replaced(f"{read:,}")

    def _opened(self, path: Path) -> Any:
        """The table, which must be the one of which the labels were read."""
        file = open_table(path, FileLayout.of(self.columns))
        if file.names != self._names:
            raise self._replaced("other columns")
        if isinstance(file, ParquetFile) and file.rows != self.n:
            raise self._replaced(f"{file.rows:,}")
        return file

    def _replaced(self, what: str) -> DataError:
        reason = f"it had {self.n:,} rows when its labels were read, and has {what} now"
        return DataError.at(self.path, None, reason, "leave it as it is during a fit, then fit again")

    def pieces(self, rows: int) -> list[ParquetFile]:
        """Pieces of about ``rows`` rows in their order, for ``piece_parts`` in other processes."""
        file = self._opened(self.path.resolve())
        if form_of(self.path) != "parquet":
            remedy = "write it as Parquet, of which every process reads its own rows"
            raise DataError.at(self.path, None, "only Parquet is read by several processes", remedy)
        return list(file.pieces(rows))


def piece_parts(piece: TableFile, source: dict[str, Any], rows: int) -> Iterator[NamedRows]:
    """Features and ids of the rows of a table or a piece of one, read as ``source`` has it."""
    for part in parts_of(piece, source | {"found_id": None}, rows):
        yield _of_training(checked_rows(piece.path, source, part))


def _of_training(rows: NamedRows) -> NamedRows:
    """Rows that belong to the training table, so that no transform warns of cells that a sample does not have."""
    X, ids = rows
    return (TableRows(X.columns, X.arrays) if isinstance(X, TableRows) else X), ids


def takes(path: Path) -> bool:
    """Whether a file is a table, or a folder holds one in Parquet files."""
    return bool(parquet_files(path)) if path.is_dir() else isinstance(format_of(path), Table)


def stratified_rows(Y: sparse.csr_array, rows: int, seed: int) -> NDArray[np.intp]:
    """Sorted numbers of rows drawn at random, with at least 20 of each label, or all; more than ``rows`` where
    needed."""
    n = Y.shape[0]
    order = np.random.default_rng(seed).permutation(n)
    columns = sparse.csc_array(Y[order])
    columns.sort_indices()
    needed = [columns.indices[a:b][:LEAST_OF_EACH] for a, b in pairwise(columns.indptr)]
    first = np.unique(np.concatenate(needed))
    others = np.setdiff1d(np.arange(n), first, assume_unique=True)[: max(rows - len(first), 0)]
    return np.sort(order[np.concatenate([first, others]).astype(np.intp)])
