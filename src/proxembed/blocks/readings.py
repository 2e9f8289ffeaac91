"""Readings: the row count and a checksum of each reading of a source, which must be the same every time.

In: blocks (X, y) as they are read. Out: the same blocks, or a ValueError if a reading differs from an earlier one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .weighted import WeightedTargets

TILE = 1 << 19  # entries that are converted to float64 at a time
SPACING = 4096  # fewest rows between two checksums that are kept
FUNCTION_REMEDY = (
    "The function must return a new iterator each time: pass a generator function, or RowBlocks(lambda: iter(blocks)) "
    "with a list of blocks. Store rows that are drawn or computed anew before the fit."
)
FILE_REMEDY = "Leave the files as they are during a fit, then fit again."
DASK_REMEDY = "Call persist() on the collection before the fit, and leave its files as they are."
Codes = NDArray[np.uint64]


@dataclass
class Readings:
    """What earlier readings of a source held."""

    name: str
    remedy: str = FUNCTION_REMEDY
    rows: int | None = None
    begun: int = 0
    ends: dict[str, dict[int, int]] = field(default_factory=dict)  # of X and y: number of rows -> their checksum

    def over(self, pairs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        """The blocks of one reading, each compared before it is handed out; X is None in a reading of y alone."""
        self.begun += 1
        number, rows, kept = self.begun, 0, 0
        sums: dict[str, int] = {}
        ends: dict[str, dict[int, int]] = {}
        for pair in pairs:
            codes = {kind: row_codes(part) for kind, part in zip("Xy", pair, strict=True) if part is not None}
            rows += max(map(len, codes.values()), default=0)
            sums = {kind: zlib.crc32(own.data, sums.get(kind, 0)) for kind, own in codes.items()}
            self._compare(number, rows, sums)
            if rows - kept >= SPACING:
                kept = rows
                for kind, value in sums.items():
                    ends.setdefault(kind, {})[rows] = value
            yield pair
        self._compare(number, rows, sums, whole=True)
        self.rows = rows
        for kind, value in sums.items():
            self.ends.setdefault(kind, {**ends.get(kind, {}), rows: value})

    @property
    def totals(self) -> ReadingTotals:
        """Row count and checksums of the first whole reading."""
        return ReadingTotals(self.rows or 0, {kind: ends[self.rows or 0] for kind, ends in self.ends.items()})

    def compare(self, totals: ReadingTotals) -> None:
        """Compare a whole reading that another process has made."""
        self.begun += 1
        self._compare(self.begun, totals.rows, totals.sums, whole=True)
        self.rows = totals.rows
        for kind, value in totals.sums.items():
            self.ends.setdefault(kind, {totals.rows: value})

    def _compare(self, number: int, rows: int, sums: dict[str, int], whole: bool = False) -> None:
        if self.rows is None:
            return
        if rows > self.rows or whole and rows < self.rows:
            counts = f"{'' if whole else 'at least '}{rows:,} rows in reading {number}"
            self._refuse(f"gave {self.rows:,} rows in reading 1 and {counts}")
        if any(self.ends.get(kind, {}).get(rows, value) != value for kind, value in sums.items()):
            self._refuse(f"gave other rows in reading {number} than before, within the first {rows:,} rows")

    def _refuse(self, what: str) -> None:
        raise ValueError(f"{self.name} {what}; every reading must give the same rows. {self.remedy}")


@dataclass(frozen=True)
class ReadingTotals:
    """Row count and checksums of a whole reading."""

    rows: int
    sums: dict[str, int]


def row_codes(rows: Any) -> Codes:
    """A number for each row of X or of y, which does not depend on the block that the row is in."""
    if isinstance(rows, WeightedTargets):
        weights = _number_codes(rows.weights[:, None])
        return weights if rows.y is None else weights + _weights(2)[1] * row_codes(rows.y)
    if sparse.issparse(rows):
        return _sparse_codes(sparse.csr_array(rows))
    if hasattr(rows, "arrays"):  # rows of a table
        return _column_codes(rows.arrays)
    if isinstance(rows, list | tuple):
        return _text_codes(rows)
    values = np.asarray(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)
    if values.dtype.kind in "biuf":
        return _number_codes(values.reshape(len(values), -1))
    if values.dtype.kind in "mM":
        return _number_codes(values.astype(np.int64).reshape(len(values), -1))
    return _text_codes(values.tolist()) if values.ndim == 1 else _column_codes(values.T)


def _number_codes(values: NDArray[Any]) -> Codes:
    """The sum over the columns of the bits of an entry times an odd weight, modulo 2^64 (2^32 for float32)."""
    n, width = values.shape
    codes = np.empty(n, dtype=np.uint64)
    step = max(1, TILE // max(width, 1))
    for first in range(0, n, step):
        bits = _bits(values[first : first + step])
        codes[first : first + step] = np.einsum("ij,j->i", bits, _weights(width).astype(bits.dtype))
    return codes + _weights(width + 1)[-1]


def _sparse_codes(rows: sparse.csr_array) -> Codes:
    n, width = rows.shape
    codes, lengths = np.zeros(n, dtype=np.uint64), np.diff(rows.indptr)
    if lengths.min(initial=0) >= 0 and rows.indptr[0] == 0 and rows.indptr[-1] == len(rows.data) == len(rows.indices):
        bits, full = _bits(rows.data), np.flatnonzero(lengths)
        weighted = bits * _weights(width).astype(bits.dtype).take(rows.indices, mode="wrap")
        if len(full):
            codes[full] = np.add.reduceat(weighted, rows.indptr[full], dtype=bits.dtype)
    return codes + _weights(width + 1)[-1]


def _column_codes(columns: Iterable[Any]) -> Codes:
    """Codes of rows from those of their columns."""
    each = np.stack([row_codes(column) for column in columns], axis=1)
    return np.einsum("ij,j->i", each, _weights(each.shape[1]))


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype == np.float32:
        return values.view(np.uint32)
    return np.asarray(values, dtype=np.float64).view(np.uint64)


def _weights(n: int) -> Codes:
    """Odd numbers of 64 bits: multiples of the golden ratio, mixed."""
    mixed = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed ^ (mixed >> np.uint64(32))) | np.uint64(1)


def _text_codes(values: Iterable[Any]) -> Codes:
    known: dict[Any, int] = {}

    def code(value: Any) -> int:
        if not isinstance(value, str | int | float | None):
            return zlib.crc32(_text(value).encode("utf-8", "surrogatepass"))
        if value not in known:
            known[value] = zlib.crc32(_text(value).encode("utf-8", "surrogatepass"))
        return known[value]

    return np.array([code(value) for value in values], dtype=np.uint64)


def _text(value: Any) -> str:
    """A label, or a row of labels, as text; sets in the order of their texts, numbers as floats where they are one."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, set | frozenset):
        return f"{{{','.join(sorted(map(_text, value)))}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, int | float):
        return repr(float(value)) if abs(value) < 2**53 else repr(value)
    given = getattr(type(value), "__repr__", None)
    return type(value).__name__ if given is object.__repr__ else repr(value)
