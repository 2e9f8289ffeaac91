"""DaskBlocks: rows in pieces of dask, worked on where they are; results of rows as lazy collections of dask.

Pieces are delayed values, so that sparse blocks and DataFrames need no arithmetic of dask. The scheduler is that of
dask: the cluster of a Client, else threads. dask is imported when a collection has arrived.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from math import isnan
from typing import Any

import numpy as np
from scipy import sparse

from .cluster import LARGE, active_client
from .readings import DASK_REMEDY, Readings, ReadingTotals
from .row_blocks import Block, RowBlocks, length, pair, rows_between
from .weighted import with_weights

FAN = 8  # results that are merged at a time: the tree is the same whatever the workers, and so are the bits
UNKNOWN = "Call X = X.compute_chunk_sizes(), or pass y as a dask collection with the partitions of X"


def is_dask(X: Any) -> bool:
    """Whether an object is a collection of dask; nothing is imported."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def blocks_of(X: Any, y: Any = None, sample_weight: Any = None) -> RowBlocks | None:
    """The rows of RowBlocks or a collection of dask with labels ``y`` and weights, as a fit reads them; None for rows
    in memory."""
    if isinstance(X, RowBlocks):
        if y is not None:
            raise ValueError("y must come with the blocks, as pairs (X, y): RowBlocks.from_arrays(X, y).")
        if sample_weight is not None:
            raise ValueError(
                "sample_weight must come with the blocks, as (X, y, sample_weight): RowBlocks.from_arrays(X, y, "
                "sample_weight=w)."
            )
        return X.checked()
    if is_dask(X):
        return DaskBlocks.of(X, y, sample_weight=sample_weight).checked()
    if is_dask(y):
        raise ValueError(
            "y is a dask collection, but X is in memory. Pass y.compute(), or X as a dask collection, too."
        )
    return None


class DaskBlocks(RowBlocks):
    """Rows in pieces that dask computes; see ``RowBlocks.from_dask``."""

    spread = True

    def __init__(self, pieces: Sequence[tuple[Any, Any]], precision: str = "float64"):
        labels = self._computed_labels if all(y is not None for _, y in pieces) else None
        super().__init__(self._computed, labels=labels, precision=precision)
        self._pieces = list(pieces)
        self._name, self._remedy = "The dask collection", DASK_REMEDY
        self._readings_of: dict[int, Readings] = {}

    def checked(self, readings: Readings | None = None) -> RowBlocks:
        """These rows, of which every reading must equal the first, piece by piece."""
        found = super().checked(readings)
        if isinstance(found, DaskBlocks) and found is not self:
            found._readings_of = {
                number: Readings(f"Piece {number} of the dask collection", DASK_REMEDY)
                for number in range(len(self._pieces))
            }
        return found

    @classmethod
    def of(cls, X: Any, y: Any = None, precision: str = "float64", sample_weight: Any = None) -> DaskBlocks:
        """The pieces of a dask array, a dask DataFrame or a list of delayed values."""
        if isinstance(X, list | tuple):
            if y is not None or sample_weight is not None:
                raise ValueError(
                    "y must come with the delayed pieces, and so must weights: each gives X, (X, y), (X, y, "
                    "sample_weight) or RowBlocks."
                )
            if len(X) == 0 or not all(_is_delayed(piece) for piece in X):
                raise TypeError(
                    "X must be a dask array, a dask DataFrame or a list of dask.delayed values, at least one."
                )
            return cls([(piece, None) for piece in X], precision)
        rows = _row_pieces(X, "X")
        labels = _label_pieces(y, X, len(rows))
        if sample_weight is not None:
            pairs = zip(labels, _label_pieces(sample_weight, X, len(rows)), strict=True)
            labels = [_delayed(_with_weights)(*pair, number) for number, pair in enumerate(pairs)]
        return cls(list(zip(rows, labels, strict=True)), precision)

    def _computed(self) -> Iterator[Block]:
        for number, (X, y) in enumerate(self._pieces):
            yield from _compute(_delayed(_loaded)(X, y, number, self.precision))

    def _computed_labels(self) -> Iterator[Any]:
        for _, y in self._pieces:
            labels = _compute(_delayed(_assembled)(y))
            if length(labels):
                yield labels

    def map(self, function: Callable[[Any], Any], *, by_row: bool = False) -> DaskBlocks:
        """Blocks (function(X), y), computed when they are read, where the rows are."""
        step = _constant(function)
        pieces = [
            (_delayed(_mapped)(step, X, y, number, self.precision), None) for number, (X, y) in enumerate(self._pieces)
        ]
        return DaskBlocks(pieces, self.precision)

    def reduce(
        self, function: Callable[[Any, int], Any], merge: Callable[[Sequence[Any]], Any], *, labels: bool = False
    ) -> Any:
        """``function(rows, number)`` of each piece, where its rows are, merged eight at a time."""
        function, merge = _constant(function), _constant(merge)
        checked = bool(self._readings_of)
        parts = [
            _delayed(_of_labels)(function, y, number, checked)
            if labels and y is not None
            else _delayed(_of_rows)(function, X, y, number, self.precision, labels, checked)
            for number, (X, y) in enumerate(self._pieces)
        ]
        while len(parts) > 1:
            parts = [_delayed(_merged)(merge, parts[i : i + FAN]) for i in range(0, len(parts), FAN)]
        value, found = _compute(parts[0])
        for number, reading in found.items():
            self._readings_of[number].compare(reading)
        return value


RowBlocks._of_dask = DaskBlocks.of


def results_of(X: Any, function: Callable[[Any], Any], names: Callable[[], Any] | None = None) -> Any:
    """``function`` of the rows of a dask collection, as a lazy one: a DataFrame of a DataFrame where the columns have
    ``names``, else an array; without names RowBlocks of results that are not arrays."""
    frame = hasattr(X, "_meta_nonempty")
    tried = X._meta_nonempty if frame else np.zeros((1, X.shape[1]), X.dtype)
    found = function(tried)
    if frame and names is not None:
        step = _Step(function, list(names()))
        return X.map_partitions(step, meta=step(tried).iloc[:0])
    pieces = _row_pieces(X, "X")
    if not isinstance(found, np.ndarray):
        return DaskBlocks([(piece, None) for piece in pieces]).map(function)
    from dask import array

    lengths = [np.nan] * len(pieces) if frame else X.chunks[0]
    step, shape = _constant(function), found.shape[1:]
    parts = [
        array.from_delayed(_delayed(_called)(step, piece), (rows, *shape), dtype=found.dtype)
        for piece, rows in zip(pieces, lengths, strict=True)
    ]
    return array.concatenate(parts)


def pieces_of(make: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]) -> RowBlocks:
    """Rows in pieces that the workers of dask make: ``make(shared, item)`` is X, (X, y) or RowBlocks."""
    shared = _constant(shared)
    return DaskBlocks([(_delayed(_made)(make, shared, _constant(item)), None) for item in items])


def output_container(estimator: Any) -> str:
    """The container of what an estimator's ``transform`` returns, as ``set_output`` or scikit-learn's configuration
    has it."""
    from sklearn import get_config

    found: str = getattr(estimator, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    return found


def transform_lazily(estimator: Any, X: Any) -> Any:
    """``transform`` of rows that are not in memory, as they are asked for; None for rows in memory."""
    blocks = isinstance(X, RowBlocks)
    if not blocks and not is_dask(X):
        return None
    container = output_container(estimator)
    if container != "default":
        found, given = (
            ("RowBlocks", "RowBlocks give RowBlocks of arrays.")
            if blocks
            else ("a dask collection", "a dask DataFrame gives a dask DataFrame with named columns, an array an array.")
        )
        raise ValueError(
            f"X is {found}, and the output is set to {container!r}. Call set_output(transform='default'): {given}"
        )
    return X.map(estimator.transform) if blocks else results_of(X, estimator.transform, estimator.get_feature_names_out)


def lazily(X: Any, function: Callable[[Any], Any]) -> Any:
    """``function`` of rows that are not in memory, as RowBlocks or a lazy collection; None for rows in memory."""
    if isinstance(X, RowBlocks):
        return X.map(function)
    return results_of(X, function) if is_dask(X) else None


class _Step:
    """A function of the rows of a partition whose results are a DataFrame with the same index."""

    def __init__(self, function: Callable[[Any], Any], columns: list[Any]):
        from uuid import uuid4

        self.function, self.columns, self._token = function, columns, uuid4().hex

    def __dask_tokenize__(self) -> str:
        """Its own, since dask would name estimators by their parameters alone."""
        return self._token

    def __call__(self, part: Any) -> Any:
        rows = self.function(part) if len(part) else np.zeros((0, len(self.columns)))
        return type(part)(rows, index=part.index, columns=self.columns)


def _delayed(function: Any) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=False, traverse=False)


def _constant(value: Any) -> Any:
    """A value that tasks share, under a name of its own: dask would take an estimator apart, by its parameters."""
    return _delayed(_Kept(value))


class _Kept:
    def __init__(self, value: Any):
        self.value = value


def _compute(task: Any) -> Any:
    """The value of a task. Sums that the tasks of a further reading need may be larger than what dask warns of."""
    import dask

    with dask.config.set(LARGE) if "distributed" in sys.modules else nullcontext():
        return task.compute(scheduler=active_client())


def _is_delayed(X: Any) -> bool:
    if not is_dask(X):
        return False
    from dask.delayed import Delayed

    return isinstance(X, Delayed)


def _row_pieces(X: Any, name: str) -> list[Any]:
    """The delayed pieces of a collection; those of an array whose columns are cut are lists of delayed columns."""
    if _is_delayed(X) or not hasattr(X, "to_delayed") or not hasattr(X, "ndim"):
        kind = "Delayed" if _is_delayed(X) else type(X).__name__
        raise TypeError(
            f"{name} is a dask {kind}; pass a dask array or a dask DataFrame, or delayed pieces by "
            "RowBlocks.from_dask([...])."
        )
    pieces = X.to_delayed()
    if isinstance(pieces, list):
        return pieces
    if name == "X" and X.ndim != 2:
        raise ValueError(f"X is a dask array of {X.ndim} dimension(s); pass one of 2, rows and features.")
    return [row if X.ndim == 1 else list(row) for row in pieces]


def _label_pieces(y: Any, X: Any, pieces: int) -> list[Any]:
    """The labels of each piece of X."""
    if y is None:
        return [None] * pieces
    lengths = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
    known = not any(isnan(rows) for rows in lengths)
    if not is_dask(y):
        if not known:
            raise ValueError(f"y is in memory, but the lengths of the partitions of X are unknown. {UNKNOWN}.")
        if length(y) != sum(lengths):
            raise ValueError(f"X has {sum(lengths):,} rows, y has {length(y):,}.")
        ends = np.cumsum(lengths).tolist()
        y = y.tocsr() if sparse.issparse(y) else y
        return [_constant(rows_between(y, end - rows, end)) for end, rows in zip(ends, lengths, strict=True)]
    if known and hasattr(y, "chunks") and y.chunks[0] != lengths and not any(isnan(rows) for rows in y.chunks[0]):
        if sum(y.chunks[0]) != sum(lengths):
            raise ValueError(f"X has {sum(lengths):,} rows, y has {sum(y.chunks[0]):,}.")
        y = y.rechunk({0: lengths})
    found = _row_pieces(y, "y")
    if len(found) != pieces:
        raise ValueError(
            f"X has {pieces} partitions of rows and y {len(found)}. Cut y as X is, such as by taking both as columns "
            "of one dask DataFrame."
        )
    return found


def _assembled(piece: Any) -> Any:
    """The value of a piece: columns of it side by side, or what was kept."""
    if isinstance(piece, _Kept):
        return piece.value
    if not isinstance(piece, list) or len(piece) == 0 or not hasattr(piece[0], "shape"):
        return piece
    if len(piece) == 1:
        return piece[0]
    return sparse.csr_array(sparse.hstack(piece)) if sparse.issparse(piece[0]) else np.hstack(piece)


def _rows_of(X: Any, y: Any, number: int, precision: str) -> RowBlocks:
    """The rows of a piece, which may be RowBlocks themselves; none for an empty partition."""
    X, y = _assembled(X), _assembled(y)
    if isinstance(X, RowBlocks):
        return X
    block = X if isinstance(X, tuple) and len(X) in (2, 3) else (X, y)
    if all(part is None or length(part) == 0 for part in block):
        return RowBlocks([], precision=precision)
    return RowBlocks([pair(block, number)], precision=precision)


def _with_weights(y: Any, sample_weight: Any, number: int) -> Any:
    """The labels of a piece with its weights."""
    y, w = _assembled(y), _assembled(sample_weight)
    rows = length(w) if y is None else length(y)
    return with_weights(y, w, rows, f"piece {number}") if rows else y


def _loaded(X: Any, y: Any, number: int, precision: str) -> list[Any]:
    return list(_rows_of(X, y, number, precision))


def _mapped(step: _Kept, X: Any, y: Any, number: int, precision: str) -> RowBlocks:
    return RowBlocks(list(_rows_of(X, y, number, precision).map(step.value)), precision=precision)


def _of_rows(
    function: _Kept, X: Any, y: Any, number: int, precision: str, labels: bool, checked: bool
) -> tuple[Any, dict[int, ReadingTotals]]:
    """The value of a function of a piece, and what was read of the piece."""
    readings, rows = Readings(""), _rows_of(X, y, number, precision)
    rows = rows.checked(readings) if checked else rows
    value = function.value(rows.labels() if labels else rows, number)
    return value, {number: readings.totals} if checked else {}


def _of_labels(function: _Kept, y: Any, number: int, checked: bool) -> tuple[Any, dict[int, ReadingTotals]]:
    y, readings = _assembled(y), Readings("")
    pairs = [(None, y)] if length(y) else []
    value = function.value([y for _, y in (readings.over(pairs) if checked else pairs)], number)
    return value, {number: readings.totals} if checked else {}


def _merged(merge: _Kept, parts: list[tuple[Any, dict[int, ReadingTotals]]]) -> tuple[Any, dict[int, ReadingTotals]]:
    found = {number: reading for _, own in parts for number, reading in own.items()}
    return merge.value([value for value, _ in parts]), found


def _made(make: Callable[[Any, Any], Any], shared: _Kept, item: _Kept) -> Any:
    return make(shared.value, item.value)


def _called(step: _Kept, piece: Any) -> Any:
    return step.value(_assembled(piece))
