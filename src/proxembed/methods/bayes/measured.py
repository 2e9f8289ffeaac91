"""Scores of numbers: t is what was measured, under a noise precision per output, beside the cut scores of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proxembed.targets.outputs import Column, Outputs

from .truncated import GammaPrior, LabelSigns

NOISE = GammaPrior(1e-3, 1e3)  # of the precision of a number's noise


def is_number(column: Column) -> bool:
    """Whether a column of y is measured: numbers, ranks and memberships are; labels and classes have signs."""
    return column.kind in ("real", "ranks") or column.soft


@dataclass(frozen=True)
class MeasuredScores:
    """Outputs as scores t (n, L): ``numbers``, bool (L,), says which columns are measured. These are known by their
    ``values`` (n, L), the others by the ``labels``, signs of the rest of the columns (None: there is no such column).
    ``unknown``: bool (n, L) or None; there t is free, with its own noise about its mean. ``times`` (n,): how often each
    row occurs (None: once)."""

    values: np.ndarray
    numbers: np.ndarray
    labels: LabelSigns | None = None
    unknown: np.ndarray | None = None
    times: np.ndarray | None = None
    gap: None = None
    log_prior: None = None

    @classmethod
    def of(cls, outputs: Outputs, margin: float, times: np.ndarray | None = None) -> MeasuredScores:
        """The scores of outputs: F where they are numbers, signs where they are labels or classes."""
        level, scale = outputs.level_and_scale
        kept = slice(None) if outputs.kept_columns is None else outputs.kept_columns
        raw = (outputs.raw.toarray() if outputs.is_sparse else outputs.raw)[:, kept]
        unknown = None if outputs.unknown is None else outputs.unknown.toarray()
        numbers = np.concatenate([np.full(own.size, is_number(own)) for own in outputs.layout.columns])[kept]
        F = (raw - level[kept]) * scale[kept]
        F = np.where(numbers if unknown is None else numbers & ~unknown, F, 0.0)
        labels = None
        if not numbers.all():
            signs = np.where(raw > 0.5, 1.0, -1.0)[:, ~numbers]
            labels = LabelSigns(signs, None if unknown is None else unknown[:, ~numbers], margin, times=times)
        return cls(F, numbers, labels, unknown, times)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of F."""
        return self.values.shape

    @cached_property
    def known_counts(self) -> np.ndarray:
        """The known cells of each measured column, each as often as its row occurs."""
        times = np.ones(len(self.values)) if self.times is None else self.times
        if self.unknown is None:
            return np.full(int(self.numbers.sum()), float(times.sum()))
        return times @ (~self.unknown[:, self.numbers]).astype(np.float64)

    def first(self) -> np.ndarray:
        """Scores to begin with; where they are unknown anything."""
        return self._with(self.values, None if self.labels is None else self.labels.first())

    def completed(self, fitted: np.ndarray) -> np.ndarray:
        """Scores to begin with, the unknown ones by those that a regression gives."""
        found = self.values if self.unknown is None else np.where(self.unknown, fitted, self.values)
        return self._with(found, None if self.labels is None else self.labels.completed(fitted[:, ~self.numbers]))

    def drawn(self, rng: np.random.Generator, nearest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Scores to begin with, those of labels at random, the unknown ones by the nearest known row."""
        signs = None if self.labels is None else self.labels.drawn(rng, nearest)
        if self.unknown is None:
            return self._with(self.values, signs)
        found = self.values.copy()
        for column in np.flatnonzero(self.numbers & self.unknown.any(axis=0)):
            hidden = self.unknown[:, column]
            found[hidden, column] = found[nearest(hidden), column]
        return self._with(found, signs)

    def _with(self, values: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
        """The scores of all columns from those of the numbers and those of the labels."""
        found = values.copy()
        if labels is not None:
            found[:, ~self.numbers] = labels
        return found

    def expect(self, mean: Callable[[slice], np.ndarray], mass: bool = True) -> tuple[np.ndarray, float]:
        """E[t] (n, L) for the means of t, given by blocks of rows, and the sum of log Zeta of the labels."""
        T, total = self.values, 0.0
        if self.labels is not None:
            found, total = self.labels.expect(lambda part: mean(part)[:, ~self.numbers], mass)
            T = self._with(T, found)
        if self.unknown is not None:
            T = np.where(self.unknown & self.numbers, mean(slice(None)), T)
        return T, total

    def noise(self, squares: np.ndarray) -> tuple[np.ndarray, float]:
        """The expected noise precision of each measured column, for the expected sum of the squares of its t about
        their means, and the part of the bound in which it takes part."""
        found, total = np.empty(len(squares)), 0.0
        for count in np.unique(self.known_counts):
            own = self.known_counts == count
            posterior = GammaPrior(NOISE.shape, NOISE.scale, count).posterior(squares[own])
            found[own], total = posterior.mean, total + posterior.bound(squares[own])
        return found, total
