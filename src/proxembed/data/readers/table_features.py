"""Feature columns of a table as one matrix, and the columns that say whose row it is and group the rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.dataset import Matrix
from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Cells, Columns, Roles, resolve
from proxembed.data.readers.table_file import Block, PartsOfTable, TableFile
from proxembed.tables import Owners, Reading, owners, read_columns
from proxembed.tables.column import word_of
from proxembed.tables.identifiers import (
    FEWEST_OWNERS,
    TRIED,
    WHOLE,
    are_numbers,
    identifier_name,
    says_which_row,
    settles,
)
from proxembed.tables.notes import LeftOut, SpellingNote, few_notes, row_numbers_note, shorten
from proxembed.tables.reading import entities_of

GROWTH = 1.25
FEWEST_IDS, SHARE_OF_IDS, LEAST_ID = 20, 0.9, 20  # of a first column: rows, different ones, times their number
FIRST_LOOK = 1_000  # rows that tell of most columns that they do not count the rows


@dataclass(frozen=True)
class Feature:
    """One feature column of the training file."""

    name: str
    kind: str
    size: int = 1

    @property
    def names(self) -> list[str]:
        """Names of its columns in the matrix."""
        if self.kind == "vector":
            return [f"{self.name}[{j}]" for j in range(self.size)]
        return [self.name]

    def plain(self) -> dict[str, Any]:
        """As a JSON-able dict."""
        facts: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "vector":
            facts["size"] = self.size
        return facts

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Feature:
        """From the dict of `plain`."""
        return cls(facts["name"], facts["kind"], facts.get("size", 1))


class FeatureReader:
    """Gathers the feature columns of one file, block by block; ``kinds``: column -> "number" or "vector"."""

    def __init__(self, file: TableFile, kinds: dict[str, str]) -> None:
        self.file, self.kinds, self.rows = file, kinds, 0
        self._numbers = [name for name, kind in kinds.items() if kind == "number"]
        self._matrix = np.zeros((0, len(self._numbers)))  # the numbers so far, with room for more rows
        self._vectors: dict[str, list[NDArray[np.floating]]] = {n: [] for n, kind in kinds.items() if kind == "vector"}

    def add(self, block: Block) -> None:
        """Take the next rows."""
        if self._numbers:
            self._extend(block.numbers(self._numbers), self.rows + block.rows)
        for name, vectors in self._vectors.items():
            vectors.append(self._vector(name, block, vectors))
        self.rows += block.rows

    def features(self) -> tuple[Feature, ...]:
        """The columns as they were found, for a training file."""
        sizes = {name: vectors[0].shape[1] for name, vectors in self._vectors.items()}
        return tuple(Feature(name, kind, sizes.get(name, 1)) for name, kind in self.kinds.items())

    def matrix(self, features: Sequence[Feature]) -> NDArray[np.floating]:
        """The matrix in the columns of the training file."""
        starts = np.cumsum([0, *(len(feature.names) for feature in features)])
        if len(self._matrix) > self.rows:
            self._matrix.resize((self.rows, len(self._numbers)), refcheck=False)
        if len(self._numbers) == len(features):
            return self._matrix
        X = np.empty((self.rows, starts[-1]), np.result_type(*self._types()))
        numbers = [start for start, feature in zip(starts, features, strict=False) if feature.kind == "number"]
        if numbers:  # without one, nothing has given the matrix its rows
            X[:, numbers] = self._matrix
        for start, feature in zip(starts, features, strict=False):
            here = slice(start, start + len(feature.names))
            if feature.kind == "vector":
                X[:, here] = self._stacked(feature)
        return X

    def _extend(self, columns: list[NDArray[np.floating]], rows: int) -> None:
        """Take the next rows of the numbers; the room grows in place, so that they are never there twice."""
        if self.rows == 0:
            order: Any = "F" if isinstance(self.file, PartsOfTable) else "C"  # most parts are one block
            self._matrix = np.empty((rows, len(columns)), np.result_type(*columns), order)
        elif rows > len(self._matrix):
            self._matrix = np.require(self._matrix, requirements=["C", "O"])
            self._matrix.resize((max(rows, int(GROWTH * len(self._matrix))), len(columns)), refcheck=False)
        block = self._matrix[self.rows : rows]
        for j, values in enumerate(columns):
            block[:, j] = values
        with np.errstate(all="ignore"):
            total = block.sum()
        if not np.isfinite(total) and not np.isfinite(block).all():  # a finite sum has finite terms
            row, j = np.argwhere(~np.isfinite(block))[0]
            raise self._unfilled(self.rows + int(row), self._numbers[j], block[row, j])

    def _types(self) -> set[np.dtype]:
        """Types of the numbers and vectors; float64 where there are none."""
        found: set[Any] = {self._matrix.dtype} if self._numbers else set()
        found |= {part.dtype for parts in self._vectors.values() for part in parts}
        return found or {np.dtype(np.float64)}

    def _stacked(self, feature: Feature) -> NDArray[np.floating]:
        vectors = np.concatenate(self._vectors[feature.name])
        if vectors.shape[1] != feature.size:
            raise self.file.fault(
                None,
                f"the vectors of column {shorten(feature.name)} have {vectors.shape[1]} values, not the "
                f"{feature.size} of the training file",
                "give vectors of one origin",
            )
        return vectors

    def _vector(self, name: str, block: Block, before: list[NDArray[np.floating]]) -> NDArray[np.floating]:
        try:
            values, lengths = block.vectors(name)
        except ValueError as error:
            raise self.file.fault(
                None,
                f"a vector of column {shorten(name)} holds something else than numbers ({error})",
                "write [0.5, 1.25, ...] in every row, or leave the column out (drop)",
            ) from error
        size = before[0].shape[1] if before else int(lengths[0])
        if (lengths != size).any() or size < 1:
            row = int(np.argmax((lengths != size) | (lengths < 1)))
            found = "is empty" if lengths[row] < 1 else f"has {lengths[row]} values, not {size} as before"
            reason = f"the vector in column {shorten(name)} {found}"
            raise self.file.fault(self.rows + row, reason, "give every row a vector of one length, or drop the row")
        vectors = values.reshape(block.rows, size)
        if not np.isfinite(vectors).all():
            row = int(np.argmax(~np.isfinite(vectors).all(axis=1)))
            raise self._unfilled(self.rows + row, name, np.nan)
        return vectors

    def _unfilled(self, row: int, name: str, value: float) -> DataError:
        found = "empty" if np.isnan(value) else "infinite or too large for a number"
        return self.file.fault(
            row,
            f"the cell of feature {shorten(name)} is {found}",
            "fill in missing feature values, drop the row, or leave the column out (drop)",
        )


def with_row_names(file: TableFile, columns: Columns) -> tuple[Columns, tuple[str, ...]]:
    """The purposes of columns with a first column that has no name as row ids, and a note on it."""
    name = file.row_names
    if name is None or columns.keep or name not in resolve(columns, file.names, file.path).features:
        return columns, ()
    if columns.id is not None:
        return replace(columns, drop=(*columns.drop, name)), (LeftOut("the first column has no name and is left out"),)
    keep = f"keep={name!r}, beside the other features, makes it one"
    note = f"the first column has no name: it is read as row ids, {name}, and is not a feature ({keep})"
    return replace(columns, id=name), (LeftOut(note),)


def shared_names(roles: Roles, columns: Columns) -> list[str]:
    """Columns that are not features and may still group the rows if no groups are named."""
    if columns.groups is not None or roles.time is not None:
        return []
    return [name for name in (*roles.unkept, roles.id) if name is not None and identifier_name(name)]


def number_columns(X: Matrix, features: Sequence[Feature], left: Collection[str] = ()) -> dict[str, Any]:
    """The features of a matrix that are numbers, by name; without those of ``left``."""
    starts = np.cumsum([0, *(len(feature.names) for feature in features)])
    pairs = zip(starts, features, strict=False)
    return {each.name: X[:, start] for start, each in pairs if each.kind == "number" and each.name not in left}


def first_column_notes(file: TableFile, features: Collection[str]) -> Iterator[str]:
    """A note on a first feature without a name of its own that holds large whole numbers, nearly all different."""
    name = file.names[0]
    if name not in features or getattr(file, "has_header", True):
        return
    cells = getattr(file, "first", {}).get(name, [])[:FIRST_LOOK]
    if len(cells) < FEWEST_IDS or len(set(cells)) < SHARE_OF_IDS * len(cells) or not all(map(str.isdigit, cells)):
        return
    if max(map(int, cells)) >= LEAST_ID * len(cells):
        yield f"{name} holds large whole numbers that hardly repeat: leave it out if they are ids (drop={name!r})"


def suspected_rows(X: Matrix, features: Sequence[Feature]) -> list[str]:
    """The columns of numbers that may say which row it is: by their names, or because they count the rows."""
    numbers = number_columns(X, features)
    return [name for name, cells in numbers.items() if says_which_row(name) or _counts_rows(cells)]


def _counts_rows(numbers: np.ndarray) -> bool:
    if len(numbers) < FEWEST_OWNERS or numbers[0] not in (0, 1) or numbers[1] != numbers[0] + 1:
        return False
    return bool((numbers == numbers[0] + np.arange(len(numbers))).all())


def table_owners(
    cells: dict[str, Cells],
    readings: Sequence[Reading],
    roles: Roles,
    columns: Columns,
    sets: NDArray[np.integer],
    numbers: Mapping[str, NDArray[np.floating]] | None = None,
) -> Owners:
    """What is decided about the identifiers among the columns that were read, and among ``shared_names``."""
    shared = {name: (cells[name].values, cells[name].codes) for name in shared_names(roles, columns)}
    known = [*readings, *(each for each in read_columns(shared, missing=(), others=True))]
    codes = {reading.name: cells[reading.name].codes for reading in known if reading.role == "groups"}
    asked = False if roles.time is not None else columns.groups
    places = {
        reading.name: (cells[reading.name].values, cells[reading.name].codes)
        for reading in readings
        if _may_name(reading, cells[reading.name].values) and not columns.is_category(reading.name)
    }
    for name, values in (numbers or {}).items():
        first = np.unique(values[:TRIED], return_inverse=True)
        if (first[0] == np.floor(first[0])).all() and settles(first[1], sets[:TRIED]):
            places[name] = np.unique(values, return_inverse=True)
    places = {} if columns.keep else {name: each for name, each in places.items() if _whole_or_words(each[0])}
    if roles.groups is not None:
        codes[roles.groups] = cells[roles.groups].codes
    entities = entities_of(places, sets, list(codes.values()))
    entities = [] if len(entities) == len(roles.features) else entities
    return owners(known, codes | {name: places[name][1] for name in entities}, asked, entities)


def _may_name(reading: Reading, values: Sequence[Any]) -> bool:
    """Whether a feature may name entities: plain whole numbers, or words that do not look like numbers or dates."""
    if reading.column is None or reading.note and not isinstance(reading.note, SpellingNote):
        return False
    plain = reading.column.kind == "number" and all(WHOLE.fullmatch(word_of(value)) for value in values)
    return plain or reading.column.kind == "category"


def _whole_or_words(values: Sequence[Any]) -> bool:
    """Whether no cell is a number with decimals."""
    return not any(isinstance(value, float) and not value.is_integer() for value in values)


def without_row_numbers(file: TableFile, columns: Columns, most: int) -> tuple[Columns, tuple[str, ...]]:
    """The purposes of the columns of a table of which samples are read, row numbers dropped, and notes on these."""
    features = () if columns.keep else resolve(columns, file.names, file.path).features
    numbers = [name for name in features if file.places[name] == "number"]
    counted = _counting(file, numbers, min(most, FIRST_LOOK), first=True)
    counted = counted and _counting(file, list(counted), most)
    if not counted or len(counted) == len(features):
        return columns, ()
    notes = few_notes((name, row_numbers_note(name, first, n)) for name, (first, n) in counted.items())
    return replace(columns, drop=(*columns.drop, *counted)), tuple(notes)


def _counting(file: TableFile, names: list[str], most: int, first: bool = False) -> dict[str, tuple[int, int]]:
    """The columns whose cells count the rows, with their first number and the number of rows; of the first rows."""
    start, rows = dict.fromkeys(names, 0), 0
    for block in file.blocks(dict.fromkeys(names, "cells"), most) if names else ():
        for name in list(start):
            codes, values = block.cells(name)
            if rows == 0 and values:
                start[name] = int(word_of(values[0]) in ("1", "1.0"))
            if not _are_counted(codes, values, start[name] + rows):
                del start[name]
        rows += block.rows
        if first or not start:
            break
    return {name: (number, rows) for name, number in start.items() if rows >= FEWEST_OWNERS}


def _are_counted(codes: NDArray[np.integer], values: Sequence[Any], first: int) -> bool:
    """Whether the cells of a column are the whole numbers from ``first`` on; the first two tell it of most columns."""
    wanted = range(first, first + len(codes))
    return np.array_equal(codes, np.arange(len(codes))) and all(
        are_numbers([word_of(value) for value in values[:rows]], wanted[:rows]) for rows in (2, None)
    )
