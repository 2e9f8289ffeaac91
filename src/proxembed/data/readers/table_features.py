"""Feature columns of a table as one matrix: numbers and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.errors import DataError, shorten
from proxembed.data.readers.table_file import Block, TableFile

GROWTH = 1.25


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
    """Gathers the feature columns of one file, block by block."""

    def __init__(self, file: TableFile, kinds: dict[str, str]) -> None:
        self.file, self.kinds, self.rows = file, kinds, 0
        self._numbers = [name for name, kind in kinds.items() if kind == "number"]
        self._matrix = np.zeros((0, len(self._numbers)))  # the numbers so far, with room for more rows
        self._vectors: dict[str, list[NDArray[np.floating]]] = {n: [] for n, kind in kinds.items() if kind == "vector"}

    @property
    def wanted(self) -> dict[str, str]:
        """The forms in which the file is to give its columns."""
        return self.kinds

    def add(self, block: Block) -> None:
        """Take the next rows."""
        if self._numbers:
            self._extend(block.numbers(self._numbers), self.rows + block.rows)
        for name, vectors in self._vectors.items():
            vectors.append(self._vector(name, block, vectors))
        self.rows += block.rows

    def features(self) -> tuple[Feature, ...]:
        """The columns as they were found, for a training file."""
        found = []
        for name, kind in self.kinds.items():
            if kind == "vector":
                found.append(Feature(name, kind, size=self._vectors[name][0].shape[1]))
            else:
                found.append(Feature(name, kind))
        return tuple(found)

    def matrix(self, features: Sequence[Feature]) -> NDArray[np.floating]:
        """The matrix in the columns of the training file."""
        starts = np.cumsum([0, *(len(feature.names) for feature in features)])
        self._matrix.resize((self.rows, len(self._numbers)), refcheck=False)
        if len(self._numbers) == len(features):
            return self._matrix
        X = np.empty((self.rows, starts[-1]), np.result_type(*self._types()))
        numbers = [start for start, feature in zip(starts, features, strict=False) if feature.kind == "number"]
        X[:, numbers] = self._matrix
        for start, feature in zip(starts, features, strict=False):
            here = slice(start, start + len(feature.names))
            if feature.kind == "vector":
                X[:, here] = self._stacked(feature)
        return X

    def _extend(self, columns: list[NDArray[np.floating]], rows: int) -> None:
        """Take the next rows of the numbers; the room grows in place, so that they are never there twice."""
        if self.rows == 0:
            self._matrix = np.empty((rows, len(columns)), np.result_type(*columns))
        elif rows > len(self._matrix):
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
