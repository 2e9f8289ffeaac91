"""OutputTotals: what the numbers of y add up to over all rows; OutputBlock: F of some rows, by these totals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .outputs import COARSE, Layout, OutputReading, Outputs, constant_columns, factors
from .targets import Targets


class NumbersInBlocks(Exception):
    """Numbers in a reading of blocks that does not know the means and scales of all rows."""


@dataclass(frozen=True)
class OutputTotals:
    """Totals over the rows that take part, of the cells a less ``shift`` and their mask M (1 where known): ``gram``
    (Ma)'(Ma), ``sums`` (Ma)'M and ``known`` M'M, each width x width, and the range of known cells."""

    layout: Layout
    scaling: str
    weights: tuple[float, ...] | None
    n: int
    shift: np.ndarray
    gram_of_cells: np.ndarray
    sums_of_cells: np.ndarray
    known: np.ndarray
    low: np.ndarray
    high: np.ndarray

    form = "numbers"
    classes_ = None

    @classmethod
    def of(cls, outputs: Outputs) -> OutputTotals:
        """The totals of some rows."""
        raw, mask = outputs.dense_cells()
        counts = mask.sum(axis=0)
        shift = (raw * mask).sum(axis=0) / np.maximum(counts, 1.0)
        cells = (raw - shift) * mask
        low = np.where(mask > 0, raw, np.inf).min(axis=0, initial=np.inf)
        high = np.where(mask > 0, raw, -np.inf).max(axis=0, initial=-np.inf)
        grams = cells.T @ cells, cells.T @ mask, mask.T @ mask
        return cls(outputs.layout, outputs.scaling, outputs.weights, outputs.n, shift, *grams, low, high)

    def merged(self, other: Any) -> OutputTotals:
        """The totals of both. Raises ValueError for labels, and for columns of other names or kinds."""
        if not isinstance(other, OutputTotals) or [c.kind for c in other.layout.columns] != self.kinds:
            raise ValueError(
                "y holds numbers in one block and labels, or other columns, in another: pass target_type='real', or a "
                "word for each column."
            )
        step = other.shift - self.shift
        sums = other.sums_of_cells + step[:, None] * other.known
        across = other.sums_of_cells * step[None, :]
        gram = other.gram_of_cells + across + across.T + np.outer(step, step) * other.known
        return replace(
            self,
            n=self.n + other.n,
            gram_of_cells=self.gram_of_cells + gram,
            sums_of_cells=self.sums_of_cells + sums,
            known=self.known + other.known,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
        )

    @property
    def kinds(self) -> list[str]:
        """The kind of each column of y."""
        return [column.kind for column in self.layout.columns]

    @cached_property
    def level_and_scale(self) -> tuple[np.ndarray, np.ndarray]:
        """As of ``Outputs``, over all rows."""
        counts = np.maximum(np.diag(self.known), 1.0)
        step = np.diag(self.sums_of_cells) / counts
        spread = np.diag(self.gram_of_cells) / counts - step**2
        varies = self.high - self.low > COARSE * np.maximum(np.abs(self.low), np.abs(self.high))
        return self.shift + step, np.where(varies, factors(self.layout, self.scaling, self.weights, spread), 0.0)

    @cached_property
    def columns(self) -> np.ndarray:
        """The columns of F that vary."""
        return np.flatnonzero(self.level_and_scale[1] > 0)

    @cached_property
    def gram(self) -> np.ndarray:
        """F'F of all rows, columns that vary alone."""
        level, scale = self.level_and_scale
        step = level - self.shift
        across = self.sums_of_cells * step[None, :]
        whole = self.gram_of_cells - across - across.T + np.outer(step, step) * self.known
        return (whole * np.outer(scale, scale))[np.ix_(self.columns, self.columns)]

    @property
    def reading(self) -> OutputReading:
        """How y was read, for the estimator that is fitted on all rows."""
        counts = [np.diag(self.known)[own.start] for _, _, own in self.layout.spans()]
        return OutputReading(self.layout, *self.level_and_scale, self.low, self.high, self.n - np.array(counts, int))

    def check(self) -> None:
        """A ValueError for columns with fewer than two known cells; a warning that names the constant ones."""
        for _, column, own in self.layout.spans():
            if (count := int(np.diag(self.known)[own.start])) < 2:
                cells = f"{count} known cell{'s' * (count != 1)}"
                raise ValueError(f"y column {column.name!r} has {cells}; two are needed: drop it.")
        constant_columns(self.layout, self.level_and_scale[1], np.arange(self.layout.width), stacklevel=7)

    def block(self, outputs: Outputs) -> OutputBlock:
        """F of some rows."""
        level, scale = self.level_and_scale
        raw, mask = outputs.dense_cells()
        return self.with_factor(((raw - level) * scale * mask)[:, self.columns])

    def with_factor(self, F: np.ndarray) -> OutputBlock:
        """These totals with an array in place of F of some rows."""
        return OutputBlock(sparse.csc_array(F), self)

    def no_rows(self) -> OutputBlock:
        """F of no row."""
        return self.with_factor(np.zeros((0, len(self.columns))))


@dataclass(frozen=True)
class OutputBlock(Targets):
    """F of some rows; sums over rows, and the number of rows, are those of all rows."""

    Y: sparse.csc_array
    totals: OutputTotals
    unknown: Any = None

    @property
    def of_block(self) -> bool:
        return True

    @property
    def n(self) -> int:
        return self.totals.n

    @property
    def kept(self) -> Any:
        """The columns of F that vary."""
        return self.totals.columns

    @property
    def width(self) -> int:
        return self.totals.layout.width

    @property
    def numbers(self) -> int:
        return sum(kind in ("real", "ranks") for kind in self.totals.kinds)

    @property
    def reading(self) -> OutputReading:
        return self.totals.reading

    @property
    def sums(self) -> np.ndarray:
        return np.zeros(self.c)

    @property
    def gram(self) -> np.ndarray:
        return self.totals.gram

    @property
    def squares(self) -> float:
        return float(np.trace(self.gram))

    @property
    def differ(self) -> bool:
        return self.c > 0

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        raise ValueError(
            "A kernel of numbers needs all rows at once. Use label_kernel='linear', or fit on a sample of the rows."
        )
