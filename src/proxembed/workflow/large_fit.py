"""Fits on tables that exceed the memory: what is chosen comes from a sample, the embedding from sums of all rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from proxembed.catalogue import estimators
from proxembed.data import Columns, Dataset
from proxembed.data.large_table import LargeTable, takes
from proxembed.data.readers.reader import width
from proxembed.evaluate.arms import RIVAL_METHODS
from proxembed.evaluate.preprocessing import choose_scaling
from proxembed.execute.executor import Progress, silent
from proxembed.model import EmbeddingPipeline, embedding_pipeline, source_of, training_labels, unseen_scores
from proxembed.sources import RowBlocks
from proxembed.study.candidates import FIRST
from proxembed.tables import TableRows
from proxembed.targets.labels import LabelMatrix

from .new_rows import COPIES, LEAST_ROWS, free_memory, part_rows, rate_text

SAMPLE_ROWS = 50_000
EXTENSION = "MESD"  # which wraps the methods of one label by itself


@dataclass
class LargeFit:
    """A labelled table that exceeds the memory, and the sample of it that is worked on in its place.

    Attributes
    ----------
    table : LargeTable
    sample : Dataset
        Rows drawn at random, at least 20 (or all) of each label.
    rows : int
        Rows that are read at a time.
    """

    table: LargeTable
    sample: Dataset
    rows: int

    def fit(self, method: Any, scaling: str | None = None, progress: Progress = silent) -> EmbeddingPipeline:
        """The pipeline of a method, its embedding fitted on all rows, scaling and read-out on the sample.

        Raises
        ------
        ValueError
            The method cannot be fitted by parts; the message names what serves instead.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from proxembed import OPLS
        >>> from proxembed.data import Columns, digits
        >>> from proxembed.data.table_writer import TableWriter
        >>> from proxembed.workflow.large_fit import large_fit
        >>> data = digits()
        >>> file = pathlib.Path(tempfile.mkdtemp(), "digits.parquet")
        >>> columns = dict(zip(data.feature_names, data.X.T)) | dict(zip(data.label_names, data.Y.toarray().T))
        >>> with TableWriter(file) as table:
        ...     table.add(columns)
        >>> large = large_fit(file, Columns(labels=data.label_names), memory=500_000)
        >>> large.sample.X.shape[0] < 1000, large.fit(OPLS(n_components=3)).transform(data.X).shape
        (True, (1797, 3))
        """
        X, y = self.sample.X, training_labels(self.sample)
        scaling = choose_scaling(X, LabelMatrix.of(self.sample.y), self.sample.groups) if scaling is None else scaling
        model = embedding_pipeline(method, X, scaling=scaling)
        labels = LabelMatrix.of(y)
        scores = None if labels.form == "classes" else unseen_scores(model[:-1], X, labels, self.sample.groups)
        first, embedding = model["scaling"].fit(X, y), clone(model["embedding"])
        model.steps[1] = "embedding", embedding.fit(self._blocks(first, progress))
        model["readout"].fit(embedding.transform(first.transform(X)), y, scores=scores)
        if not isinstance(X, TableRows):
            model.feature_names_ = tuple(self.sample.feature_names)
        model.label_names_ = None if self.sample.single_label else tuple(self.sample.label_names)
        return model

    def _blocks(self, first: Any, progress: Progress) -> RowBlocks:
        """All rows as the embedding takes them, by parts."""
        source = source_of(self.sample)

        def read() -> Iterator[tuple[Any, Any]]:
            done, started = 0, time.perf_counter()
            for X, _ in self.table.parts(source, self.rows):
                yield first.transform(X), self._labels(done, done + X.shape[0])
                done += X.shape[0]
                progress(done, self.table.n, rate_text(done, self.table.n, time.perf_counter() - started))

        starts = range(0, self.table.n, self.rows)
        return RowBlocks(read, labels=lambda: (self._labels(a, min(a + self.rows, self.table.n)) for a in starts))

    def _labels(self, start: int, stop: int) -> Any:
        """Labels of some rows in the form in which the sample has them."""
        Y, unknown = self.table.Y[start:stop], self.table.unknown[start:stop]
        if self.sample.single_label and not unknown.nnz:
            return np.asarray(self.table.label_names, dtype=object)[Y.indices]
        return np.where(unknown.toarray(), np.nan, Y.toarray()) if unknown.nnz else sparse.csr_array(Y)


def methods_by_parts() -> tuple[str, ...]:
    """Names of the methods that a search tries where all rows are to be fitted by parts; the simple first.

    Examples
    --------
    >>> from proxembed.workflow.large_fit import methods_by_parts
    >>> methods_by_parts()[:2], "lpp" in methods_by_parts()
    (('opls', 'kernelized'), False)
    """
    by_sums = [name for name, cls in estimators("method").items() if getattr(cls(), "from_sums", None) is not None]
    names = [name.lower() for name in by_sums if name not in (*RIVAL_METHODS, EXTENSION)]
    return (*FIRST, *(name for name in names if name not in FIRST))


def large_fit(
    path: Path, columns: Columns, memory: float | None = None, sample: int | None = None, seed: int = 0
) -> LargeFit | None:
    """A table that is read by parts, with a sample of its rows, where it needs more than the memory; else None.

    Parameters
    ----------
    path : Path
    columns : Columns
    memory : float, optional
        Bytes; None: half of what is free.
    sample : int, optional
        Rows of the sample; None: what fits the memory, at most 50,000.
    seed : int, default=0
        Of the sample.

    Raises
    ------
    DataError
        The table cannot be read, or too few rows fit the memory to show all labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.data import Columns
    >>> from proxembed.workflow.large_fit import large_fit
    >>> file = pathlib.Path(tempfile.mkdtemp(), "toy.csv")
    >>> size = file.write_text("hue,sea\\n0.5,1\\n0.25,0\\n")
    >>> large_fit(file, Columns(labels=("sea",))) is None
    True
    """
    if not path.exists() or not takes(path):
        return None
    most = free_memory() // 2 if memory is None else memory
    rows, _ = part_rows(path, {}, most)
    if rows is None:
        return None
    table = LargeTable(path, columns)
    drawn = table.sample(min(sample or SAMPLE_ROWS, max(rows, LEAST_ROWS), table.n), seed)
    d = max(width(source_of(drawn)) or 1, 1)
    return LargeFit(table, drawn, max(LEAST_ROWS, int(most / (8 * COPIES * d))))
