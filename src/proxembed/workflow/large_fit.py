"""Fits on tables that exceed the memory: what is chosen comes from a sample, the embedding from sums of all rows."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from proxembed.blocks import RowBlocks, pieces_of
from proxembed.blocks.cluster import active_client, cores
from proxembed.data import Columns, Dataset
from proxembed.data.large_table import LargeTable, piece_parts, takes
from proxembed.data.readers.reader import width
from proxembed.estimator.base import SpectralEmbedder
from proxembed.estimator.catalogue import estimators
from proxembed.estimator.sums import refuse_blocks
from proxembed.evaluate.part import choose_scaling
from proxembed.evaluate.rivals.rival import rival_methods
from proxembed.execute.executor import Progress, silent
from proxembed.features.scaling import scaled_by_sums
from proxembed.methods.pipeline import (
    EmbeddingPipeline,
    embedding_pipeline,
    name_data,
    source_of,
    training_labels,
    unseen_scores,
)
from proxembed.study.candidates import FIRST
from proxembed.targets.labels import LabelMatrix

from .new_rows import COPIES, LEAST_ROWS, free_memory, part_rows, rate_text

SAMPLE_ROWS = 50_000
EXTENSION = "MESD"  # which wraps the methods of one label by itself


@dataclass
class LargeFit:
    """A labelled table that exceeds the memory, and the sample of it that is worked on in its place."""

    table: LargeTable
    sample: Dataset
    rows: int
    spread: bool = False

    def fit(self, method: Any, scaling: str | None = None, progress: Progress = silent) -> EmbeddingPipeline:
        """The pipeline of a method, its embedding fitted on all rows, its read-out on the sample."""
        X, y = self.sample.X, training_labels(self.sample) if self.table.single_label else self.sample.y
        scaling = choose_scaling(X, LabelMatrix.of(self.sample.y), self.sample.groups) if scaling is None else scaling
        model = embedding_pipeline(method, X, scaling=scaling)
        if isinstance(model["embedding"], SpectralEmbedder):
            refuse_blocks(model["embedding"])
        labels = LabelMatrix.of(y)
        scores = None if labels.form == "classes" else unseen_scores(model[:-1], X, labels, self.sample.groups)
        first, embedding = model["scaling"], clone(model["embedding"])
        if scaled_by_sums(first):
            first.fit(self._blocks(None, progress))
        else:
            first.fit(X, y)
        model.steps[1] = "embedding", embedding.fit(self._blocks(first, progress))
        model["readout"].fit(embedding.transform(first.transform(X)), y, scores=scores)
        name_data(model, self.sample, self.table.single_label)
        return model

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
        return found if first is None else found.map(first.transform)

    def _pieces(self, first: Any, source: dict[str, Any], progress: Progress) -> RowBlocks:
        """All rows as the workers of the cluster read them: a worker gets the path, and the labels, of its piece."""
        n_workers = cores(active_client())
        what = "scaling" if first is None else "embedding"
        progress(0, self.table.n, f"{what}: {self.table.n:,} rows, read by {n_workers} worker{'s' * (n_workers != 1)}")
        rows, items, done = max(LEAST_ROWS, self.rows // n_workers), [], 0
        for piece in self.table.pieces(rows):
            items.append((piece, self._labels(done, done + piece.rows)))
            done += piece.rows
        return pieces_of(read_piece, (first, source, rows), items)

    def _labels(self, start: int, stop: int) -> Any:
        """Labels of some rows in the form in which the sample has them."""
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
    return found if first is None else found.map(first.transform)


def methods_by_parts() -> tuple[str, ...]:
    """Names of the methods that a search tries where all rows are to be fitted by parts; the simple first."""
    by_sums = [name for name, cls in estimators("method").items() if cls().traits.from_sums is not None]
    names = [name.lower() for name in by_sums if name not in {*rival_methods(), EXTENSION}]
    return (*FIRST, *(name for name in names if name not in FIRST))


def large_fit(
    path: Path,
    columns: Columns,
    memory: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    spread: bool = False,
) -> LargeFit | None:
    """A table that is read by parts, with a sample of its rows, where it needs more than the memory; else None."""
    if not path.exists() or not (takes(path) or spread):
        return None
    most = free_memory() // 2 if memory is None else memory
    rows, _ = part_rows(path, {}, most)
    if rows is None and not spread:
        return None
    table = LargeTable(path, columns)
    if spread:
        table.pieces(SAMPLE_ROWS)  # raises where it cannot be read so
    drawn = table.sample(min(sample or SAMPLE_ROWS, table.n if rows is None else max(rows, LEAST_ROWS), table.n), seed)
    d = max(width(source_of(drawn)) or 1, 1)
    return LargeFit(table, drawn, max(LEAST_ROWS, int(most / (8 * COPIES * d))), spread)
