"""The files of a Parquet table: one file, or those of a folder, which are read as one table."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError
from proxembed.data.unpacking import opened
from proxembed.tables.notes import shorten

SUFFIXES = (".parquet", ".pq")


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files in a folder, and in its subfolders such as ``year=2024``, in the order of their names."""
    found = []
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith(("_", "."))):
        if path.is_dir():
            found += parquet_files(path) if "=" in path.name else []
        elif path.suffix.lower() in SUFFIXES:
            found.append(path)
    return found


@dataclass(frozen=True)
class ParquetPart:
    """Row groups of a file, of which the first begins with the row ``start``."""

    path: Path
    groups: dict[int, int]
    size: int
    keys: dict[str, Any] = field(default_factory=dict)
    start: int = 0

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.groups.values())

    def pieces(self, most: int) -> Iterator[ParquetPart]:
        """Its row groups in pieces of at most ``most`` rows, or of one group."""
        start = self.start
        own: dict[int, int] = {}
        for number, rows in self.groups.items():
            if own and sum(own.values()) + rows > most:
                yield replace(self, groups=own, start=start)
                start, own = start + sum(own.values()), {}
            own[number] = rows
        if own:
            yield replace(self, groups=own, start=start)


class ParquetParts:
    """Parquet files as one table: the columns of the first, in the types that hold those of all."""

    def __init__(self, path: Path) -> None:
        files = parquet_files(path) if path.is_dir() else [path]
        if not files:
            raise DataError.at(path, None, "the folder holds no .parquet file", "write its files again")
        keys, given = _keys(path, files) if path.is_dir() else ([{}], [])
        parts: list[ParquetPart] = []
        schema: Any = None
        for file, own in zip(files, keys, strict=True):
            with read_from(file) as found:
                metadata, columns = found.metadata, found.schema_arrow
            groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
            rows = {i: group.num_rows for i, group in enumerate(groups)}
            parts.append(ParquetPart(file, rows, sum(group.total_byte_size for group in groups), own))
            if schema is None:
                schema, first = columns, file
            elif metadata.num_rows:
                schema = _joint(schema, columns, file, first)
        for column in given:
            schema = schema.append(column)
        self.schema = schema
        self._take(parts)

    def _take(self, parts: Sequence[ParquetPart]) -> None:
        self.parts = tuple(parts)
        self._ends = list(accumulate(part.rows for part in parts))

    @property
    def rows(self) -> int:
        """Number of rows of all files."""
        return self._ends[-1]

    @property
    def size(self) -> int:
        """Bytes that the cells of all files take unpacked."""
        return sum(part.size for part in self.parts)

    def batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        """Batches of at most ``most`` rows with these columns, file after file."""
        import pyarrow as pa

        fields = [self.schema.field(name) for name in names]
        texts = [each.name for each in fields if pa.types.is_string(each.type)]  # of which each may stand in many rows
        coded = pa.dictionary(pa.int32(), pa.string())
        fields = [each.with_type(coded) if each.name in texts else each for each in fields]
        schema = pa.schema(fields, metadata=self.schema.metadata)
        for part in self.parts:
            own = [name for name in names if name not in part.keys]
            with read_from(part.path, [name for name in texts if name in own]) as file:
                _check_same(part, file, own)
                for batch in valid_batches(file, most, own, list(part.groups)):
                    yield pa.RecordBatch.from_arrays([_column(batch, part, each) for each in schema], schema=schema)

    def pieces(self, most: int) -> Iterator[ParquetParts]:
        """The table in pieces of at most ``most`` rows, or of one row group, each of one file."""
        for part in self.parts:
            for piece in part.pieces(most):
                own = copy(self)
                own._take([piece])
                yield own

    def place(self, row: int) -> tuple[Path, int]:
        """The file in which a row of the table stands, and its number there, both counted from 0."""
        number = int(np.searchsorted(self._ends, row, side="right"))
        part = self.parts[number]
        return part.path, part.start + row - (self._ends[number] - part.rows)


@dataclass(frozen=True)
class PickedRows:
    """Rows of Parquet files in memory, with their numbers in the table of all files."""

    table: Any
    numbers: NDArray[np.integer]
    parts: ParquetParts

    def batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        """Batches of at most ``most`` rows with these columns."""
        yield from self.table.select(list(names)).to_batches(max_chunksize=most)

    def place(self, row: int) -> tuple[Path, int]:
        """The file in which a row stands, and its number there, both counted from 0."""
        return self.parts.place(int(self.numbers[row]))


@contextmanager
def read_from(path: Path, texts: Sequence[str] = ()) -> Iterator[Any]:
    """An open Parquet file, whose columns of ``texts`` stay codes into their distinct values; damage, which shows in
    many ways, as one error."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with opened(path) as stream:
            source = path if stream.read(1) else io.BytesIO(b"")
        with parquet.ParquetFile(
            source, read_dictionary=list(texts), pre_buffer=False
        ) as file:  # else all row groups stay in memory
            yield file
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError.at(
            path, None, f"it cannot be read as a Parquet file ({reason})", "fetch or write it again"
        ) from error


def valid_batches(file: Any, most: int, names: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[Any]:
    """Batches of at most ``most`` rows with these columns of an open file, checked: damage raises pyarrow's errors."""
    for batch in file.iter_batches(batch_size=most, row_groups=groups, columns=list(names)):
        batch.validate(full=True)
        yield batch


def _check_same(part: ParquetPart, file: Any, names: Sequence[str]) -> None:
    """A DataError for a file that has been replaced since its row groups and columns were listed."""
    metadata, held = file.metadata, file.schema_arrow.names
    groups = {i: metadata.row_group(i).num_rows for i in part.groups if i < metadata.num_row_groups}
    if groups != part.groups or any(name not in held for name in names):
        what = "it was replaced while it was read: its columns or rows are others"
        raise DataError.at(part.path, None, what, "leave it as it is until the end, then start again")


def _keys(folder: Path, files: list[Path]) -> tuple[list[dict[str, Any]], list[Any]]:
    """For each file the values that folders such as year=2024 give, and these columns as fields of a schema."""
    from pyarrow import dataset

    found = dataset.dataset(
        list(map(str, files)), format="parquet", partitioning="hive", partition_base_dir=str(folder)
    )
    keys = [dataset.get_partition_keys(fragment.partition_expression) for fragment in found.get_fragments()]
    names = dict.fromkeys(name for own in keys for name in own)
    return [names | own for own in keys], [found.schema.field(name) for name in names]


def _joint(schema: Any, other: Any, file: Path, first: Path) -> Any:
    """The schema that holds the cells of a further file, too."""
    import pyarrow as pa

    remedy = "write all parts with the same columns, or take the file out of the folder"
    for one, two, reason in ((schema, other, "no column"), (other, schema, "a further column")):
        known = set(two.names)
        if missing := [name for name in one.names if name not in known]:
            raise DataError.at(file, None, f"it has {reason} {shorten(missing[0])}, unlike {first.name}", remedy)
    for name in schema.names:
        try:
            pair = [pa.schema([each.field(name)]) for each in (schema, other)]
            schema = schema.set(schema.get_field_index(name), pa.unify_schemas(pair, promote_options="permissive")[0])
        except pa.ArrowTypeError as error:
            held = f"column {shorten(name)} is of type {other.field(name).type}"
            reason = f"{held}, in {first.name} of type {schema.field(name).type}"
            raise DataError.at(file, None, reason, remedy) from error
    return schema


def _column(batch: Any, part: ParquetPart, wanted: Any) -> Any:
    """A column of a batch in the type of the whole table."""
    import pyarrow as pa

    if wanted.name in part.keys:
        plain = wanted.type.value_type if pa.types.is_dictionary(wanted.type) else wanted.type
        column = pa.repeat(pa.scalar(part.keys[wanted.name], plain), batch.num_rows)
    else:
        column = batch.column(batch.schema.get_field_index(wanted.name))
    if pa.types.is_dictionary(wanted.type) and not pa.types.is_dictionary(column.type):
        column = column.cast(wanted.type.value_type, safe=False).dictionary_encode()
    return column if column.type == wanted.type else column.cast(wanted.type, safe=False)
