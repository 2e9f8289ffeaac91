"""Fits on tables that are read by parts: what is chosen comes from a sample, the embedding from sums of all rows.

A table is read so where it exceeds the memory. A large one in Parquet is read so wherever sums of the rows suffice
for the method, which takes less time and memory; a file of text would be parsed anew by every reading.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from proxembed.blocks import RowBlocks, pieces_of
from proxembed.blocks.cluster import active_client, cores
from proxembed.data import Columns, Dataset, size_of
from proxembed.data.large_table import LargeTable, piece_parts, takes
from proxembed.data.readers.reader import feature_names, width
from proxembed.data.readers.table_file import Block, form_of
from proxembed.estimator.base import Embedder, SpectralEmbedder
from proxembed.estimator.catalogue import estimators
from proxembed.estimator.sums import refuse_blocks
from proxembed.evaluate.part import choose_scaling
from proxembed.evaluate.rivals.rival import rival_methods
from proxembed.execute.executor import Progress, silent
from proxembed.features.scaling import ColumnSums, scaled_by_sums, scaling_apply
from proxembed.methods.pipeline import (
    EmbeddingPipeline,
    embedding_pipeline,
    name_data,
    source_of,
    training_labels,
    unseen_scores,
)
from proxembed.methods.relation import Scaling
from proxembed.study.candidates import FIRST
from proxembed.tables.notes import counted
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs

from .new_rows import COPIES, LEAST_ROWS, PART_BYTES, WHOLE_BYTES, free_memory, rate_text, rows_within

SAMPLE_ROWS = 50_000
FEW_COLUMNS = 8  # whose sums are computed together: a block of all columns leaves the cache of the processor
EXTENSION = "MESD"  # which wraps the methods of one label by itself


class PassingSums:
    """Sums of the columns of numbers of a table, added up while it is read for another purpose."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places = {name: j for j, name in enumerate(names)}
        self._found: ColumnSums | None = None

    def add(self, block: Block) -> None:
        """Take the next rows."""
        if not block.rows or not self._places:
            return
        columns = block.numbers(list(self._places))
        with np.errstate(all="ignore"):
            parts = [
                ColumnSums.of(np.array(columns[first : first + FEW_COLUMNS]).T)
                for first in range(0, len(columns), FEW_COLUMNS)
            ]
            own = ColumnSums.beside(parts)
            self._found = own if self._found is None else self._found.merged(own)

    def of(self, names: Sequence[str]) -> ColumnSums | None:
        """The sums of some columns; None where they are not among them, or hold empty cells."""
        if self._found is None or any(name not in self._places for name in names):
            return None
        found = self._found.of_columns([self._places[name] for name in names])
        return found if np.isfinite(found.squares).all() else None


@dataclass
class LargeFit:
    """A labelled table that is read by parts, and the sample of it that is worked on in its place."""

    table: LargeTable
    sample: Dataset
    rows: int
    spread: bool = False
    sums: PassingSums | None = None  # of all rows
    outputs: Outputs | None = None  # of all rows, scaled as the method that is fitted has it

    def fit(self, method: Any, scaling: str | None = None, progress: Progress = silent) -> EmbeddingPipeline:
        """The pipeline of a method, its embedding fitted on all rows, its read-out on the sample."""
        X, y = self.sample.X, training_labels(self.sample) if self.table.single_label else self.sample.y
        numbers, groups = isinstance(y, Outputs), self.sample.groups
        scaling = choose_scaling(X, y if numbers else LabelMatrix.of(y), groups) if scaling is None else scaling
        model = embedding_pipeline(method, X, scaling=scaling, numbers=numbers)
        if isinstance(model["embedding"], Embedder):
            refuse_blocks(model["embedding"])
        labels = None if numbers else LabelMatrix.of(y)
        scores = None if labels is None else unseen_scores(model[:-1], X, labels, groups)
        first, embedding = model["scaling"], clone(model["embedding"])
        if numbers and self.table.outputs is not None:
            y = y.rescaled(embedding.target_scaling())
            self.outputs = self.table.outputs.rescaled(embedding.target_scaling())
        if not scaled_by_sums(first):
            first.fit(X, y)
        elif (sums := self._column_sums()) is not None:
            first.n_features_in_, first.state_ = len(sums.mean), sums.state(first.kind)
        else:
            first.fit(self._blocks(None, progress))
        model.steps[1] = "embedding", embedding.fit(self._blocks(first, progress))
        Z = embedding.transform(first.transform(X))
        if numbers:
            model["readout"].fit(Z, y, embedding)
        else:
            model["readout"].fit(Z, y, scores=scores)
        name_data(model, self.sample, self.table.single_label)
        return model

    def _column_sums(self) -> ColumnSums | None:
        """The sums of the features of all rows, where they were added up as the sample was drawn."""
        source = source_of(self.sample)
        return None if self.sums is None or "columns" in source else self.sums.of(feature_names(source) or ())

    def _blocks(self, first: Any, progress: Progress) -> RowBlocks:
        """All rows, scaled or encoded by ``first`` where there is one, by parts."""
        source = source_of(self.sample)
        if self.spread:
            return self._pieces(first, source, progress)
        reading = count(1)

        def read() -> Iterator[tuple[Any, Any]]:
            done, started, number = 0, time.perf_counter(), next(reading)
            what = "scaling" if first is None else "embedding"
            for X, _ in self.table.parts(source, self.rows):
                yield X, self._labels(done, done + X.shape[0])
                done += X.shape[0]
                told = rate_text(done, self.table.n, time.perf_counter() - started)
                progress(done, self.table.n, f"{what}: reading {number}, {told}")

        starts = range(0, self.table.n, self.rows)
        found = RowBlocks(read, labels=lambda: (self._labels(a, min(a + self.rows, self.table.n)) for a in starts))
        found = found.of_files([self.table.path])
        return found if first is None else found.map(encoder(first), by_row=True)

    def _pieces(self, first: Any, source: dict[str, Any], progress: Progress) -> RowBlocks:
        """All rows as the workers of the cluster read them: a worker gets the path, and the labels, of its piece."""
        n_workers = cores(active_client())
        what = "scaling" if first is None else "embedding"
        progress(0, self.table.n, f"{what}: {self.table.n:,} rows, read by {counted(n_workers, 'worker')}")
        rows, items, done = max(LEAST_ROWS, self.rows // n_workers), [], 0
        for piece in self.table.pieces(rows):
            items.append((piece, self._labels(done, done + piece.rows)))
            done += piece.rows
        return pieces_of(read_piece, (first, source, rows), items)

    def _labels(self, start: int, stop: int) -> Any:
        """Labels or outputs of some rows in the form in which the sample has them."""
        if self.outputs is not None:
            return self.outputs.take(slice(start, stop))
        Y, unknown = self.table.Y[start:stop], self.table.unknown[start:stop]
        if self.table.single_label:
            return np.asarray(self.table.label_names, dtype=object)[Y.indices]
        return np.where(unknown.toarray(), np.nan, Y.toarray()) if unknown.nnz else sparse.csr_array(Y)


def read_piece(shared: tuple[Any, dict[str, Any], int], item: tuple[Any, Any]) -> RowBlocks:
    """The rows of a piece of a table, with their labels, as a worker reads them."""
    (first, source, rows), (piece, y) = shared, item

    def read() -> Iterator[tuple[Any, Any]]:
        done = 0
        for X, _ in piece_parts(piece, source, rows):
            yield X, y[done : done + X.shape[0]]
            done += X.shape[0]

    found = RowBlocks(read, labels=lambda: [y])
    return found if first is None else found.map(encoder(first), by_row=True)


def encoder(first: Any) -> Callable[[Any], Any]:
    """What the first step of a pipeline does to rows that were checked when they were read."""
    return partial(scaling_apply, first.state_) if isinstance(first, Scaling) else first.transform


def methods_by_parts() -> tuple[str, ...]:
    """Names of the methods that a search tries where all rows are to be fitted by parts; the simple first."""
    by_sums = [name for name, cls in estimators("method").items() if cls().traits.from_sums is not None]
    names = [name.lower() for name in by_sums if name not in {*rival_methods(), EXTENSION}]
    return (*FIRST, *(name for name in names if name not in FIRST))


def fits_from_sums(estimator: Any) -> bool:
    """Whether sums of the rows alone suffice for a fit of this method, so that its parts give the fit of all rows."""
    if not isinstance(estimator, SpectralEmbedder):
        return False
    summed = estimator.traits.from_sums is not None and not estimator.traits.sample_rows
    return summed and not estimator.fills_null


def large_fit(
    path: Path,
    columns: Columns,
    memory: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    spread: bool = False,
    by_sums: Callable[[bool], bool] | None = None,
) -> LargeFit | None:
    """A table that is read by parts, with a sample of its rows, where it needs more than the memory; else None. A
    Parquet table that is large (``WHOLE_BYTES``) and has more rows than the sample is also read so if ``by_sums`` says
    that sums of the rows suffice, given whether each row has one label."""
    if not path.exists() or not (takes(path) or spread):
        return None
    most, drawn = free_memory() // 2 if memory is None else memory, sample or SAMPLE_ROWS
    size, total = size_of(path)
    needed = spread or COPIES * size > most
    suits = by_sums is not None and form_of(path) == "parquet" and size > WHOLE_BYTES and (total or 0) > drawn
    if not (needed or suits):
        return None
    if columns.sample_weight is not None:
        if not needed:
            return None
        raise ValueError(
            f"{path}: sample_weight={columns.sample_weight!r} is not allowed for a table that is read part by part. "
            "Give more memory, or fit in Python on parquet_blocks(files, labels, sample_weight=...)."
        )
    table = LargeTable(path, columns)
    if spread:
        table.pieces(SAMPLE_ROWS)  # raises where it cannot be read so
    if not needed and by_sums is not None and not by_sums(table.single_label):
        return None
    if COPIES * size > most:
        drawn = min(drawn, rows_within(most, size // (8 * total if total else size)))
    sums = PassingSums(table.numbers)
    dataset = table.sample(min(drawn, table.n), seed, sums.add)
    d = width(source_of(dataset)) or 1
    return LargeFit(table, dataset, rows_within(min(most, PART_BYTES), d), spread, sums)
