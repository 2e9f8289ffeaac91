"""New rows through a saved model: a file in, a table or arrays out; part by part where the file exceeds the memory."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from proxembed.data import read_rows, row_parts, size_of
from proxembed.data.readers.h5ad import write_embedding
from proxembed.data.readers.reader import width
from proxembed.data.table_writer import TableWriter
from proxembed.execute.atomic_files import staged
from proxembed.execute.executor import Progress, own_configuration, silent
from proxembed.persist import load, load_source
from proxembed.tables.unseen import parts_of_one_file

COPIES = 6  # of a part of the rows that a transform holds: as read, checked, scaled, and what methods make of it
LEAST_ROWS = 256
WHOLE_BYTES = 1 << 27  # of a file that is read as a whole where memory allows: the peak of a fit is six times as much
PART_BYTES = 1 << 28  # of all copies of a part: larger parts save no time
Columns = tuple[Mapping[str, Any], Mapping[str, Any]]


@own_configuration()
def through_model(
    model: Path,
    file: Path,
    out: Path,
    columns_of: Callable[[Any, Any, dict[str, Any]], Columns],
    memory: int | None = None,
    progress: Progress = silent,
    trusted: Sequence[str] = (),
) -> dict[str, int]:
    """Write what a saved model makes of the rows of a file, in their order, with their ids first."""
    fitted, source = load(model, trusted=trusted), load_source(model)
    if source is None:
        raise ValueError(
            f"{model} does not record how its training rows were read; save it with source=source_of(dataset) "
            "(proxembed.methods.pipeline), or load it in Python with proxembed.persist.load."
        )
    rows, total = part_rows(file, source, free_memory() // 2 if memory is None else memory)
    parts = iter([read_rows(file, source)]) if rows is None else row_parts(file, source, rows)
    started, done = time.perf_counter(), 0
    columns: Mapping[str, Any] = {}
    with parts_of_one_file(), staged(out) as place, writer(place, file) as written:
        for X, ids in parts:
            columns, arrays = columns_of(fitted, X, source)
            written.add(columns, ids, arrays)
            done += X.shape[0]
            if rows is not None:
                progress(done, max(total or 0, done), rate_text(done, total, time.perf_counter() - started))
    return {"rows": done, "columns": len(columns)}


def part_rows(file: Path, source: Mapping[str, Any], memory: float) -> tuple[int | None, int | None]:
    """Rows of a part that fits into the memory, None where all rows fit and are few; and the number of all rows, if
    known."""
    size, total = size_of(file)
    if COPIES * size <= memory and size <= WHOLE_BYTES:
        return None, total
    return rows_within(min(memory, PART_BYTES), width(dict(source)) or size // (8 * total if total else size)), total


def rows_within(memory: float, d: int) -> int:
    """How many rows of d columns a memory holds with all of their copies, at least 256."""
    return max(LEAST_ROWS, int(memory / (8 * COPIES * max(d, 1))))


def free_memory() -> int:
    """Bytes of memory that are free, of the machine or of what its container may use."""
    from proxembed.data.unpacking import memory_limit

    known = Path("/proc/meminfo")
    lines = known.read_text().splitlines() if known.is_file() else []
    free = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    return min([*free, memory_limit()])


def rate_text(done: int, total: int | None, seconds: float) -> str:
    """Rows so far, rows per second, and the time left where it can be told."""
    rate = done / max(seconds, 1e-9)
    left = "" if total is None else f", {max(total - done, 0) / rate:.0f} s left"
    return f"rows, {done:,}: {rate:,.0f} per second{left}"


class _Arrays:
    """Arrays of all parts, in memory until the end; lists, such as the names of labels, are the same in each part."""

    def __init__(self) -> None:
        self._parts: list[Mapping[str, Any]] = []
        self._ids: list[str] = []

    def add(self, columns: Mapping[str, Any], ids: tuple[str, ...] | None, arrays: Mapping[str, Any]) -> None:
        self._parts.append(arrays)
        self._ids += ids or ()

    def stacked(self) -> dict[str, Any]:
        found = {
            name: values if isinstance(values, list) else np.concatenate([part[name] for part in self._parts])
            for name, values in self._parts[0].items()
        }
        return found | ({"ids": self._ids} if self._ids else {})


class _Table:
    def __init__(self, table: TableWriter) -> None:
        self._table = table

    def add(self, columns: Mapping[str, Any], ids: tuple[str, ...] | None, arrays: Mapping[str, Any]) -> None:
        named = {} if ids is None else {("id" if "id" not in columns else "row id"): list(ids)}
        self._table.add({**named, **columns})


@contextmanager
def writer(path: Path, file: Path) -> Iterator[_Arrays | _Table]:
    """What writes parts of rows to a file: named columns to .csv or .parquet, arrays to .npz, and an embedding to a
    copy of the .h5ad ``file`` of the rows."""
    if path.suffix.lower() == ".h5ad":
        gathered = _Arrays()
        yield gathered
        write_embedding(file, path, gathered.stacked()["Z"])
    elif path.suffix.lower() == ".npz":
        from .record import npz_bytes

        gathered = _Arrays()
        yield gathered
        path.write_bytes(npz_bytes(gathered.stacked()))
    else:
        with TableWriter(path) as table:
            yield _Table(table)
