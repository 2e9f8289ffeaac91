"""Observed labels as truncations of the probit scores: E[t] and log Zeta for all entries, block by block in threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import in_threads
from proxembed.targets.known import smoothed_log_odds
from proxembed.targets.labels import LabelMatrix

from .truncated import gap_mean, labelled_mean, labelled_moments

BLOCK_ENTRIES = 1 << 16


def absent_odds(labels: LabelMatrix) -> np.ndarray:
    """Log odds of labels that no row has, smoothed; 0 for the others."""
    return labels.expand(np.where(labels.nk > 0, 0.0, smoothed_log_odds(0.0, labels.known_counts)))


@dataclass(frozen=True)
class Targets:
    """Signs of the labels (n, L), the unknown entries (bool (n, L) or None) and the rule for either.

    ``gap`` None leaves unknown entries free: t ~ N(m, 1). Else their t lie outside (-gap, gap), with the log
    probabilities ``log_prior`` (2, L) that an entry of either class is left unlabelled.
    """

    signs: np.ndarray
    unknown: np.ndarray | None = None
    margin: float = 0.0
    gap: float | None = None
    log_prior: Any = None

    @classmethod
    def of(cls, labels: LabelMatrix, margin: float, gap: float | None = None, log_prior: Any = None) -> Targets:
        """The targets of a label matrix."""
        unknown = None if labels.unknown is None else labels.unknown.toarray()
        return cls(2.0 * labels.Y.toarray() - 1.0, unknown, margin, gap, log_prior)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and labels."""
        return self.signs.shape

    def expect(self, mean: Callable[[slice], np.ndarray], mass: bool = True) -> tuple[np.ndarray, float]:
        """E[t] (n, L) for the means of t, told block of rows by block, and the sum of log Zeta (0 without ``mass``)."""
        n, c = self.shape
        out = np.empty((n, c))
        step = max(1, BLOCK_ENTRIES // max(c, 1))
        starts = range(0, n, step)
        sums = np.zeros(len(starts))

        def work(blocks: slice) -> None:
            for i in range(blocks.start, blocks.stop):
                part = slice(starts[i], min(starts[i] + step, n))
                out[part], sums[i] = self._block(mean(part), part, mass)

        in_threads(work, len(starts), 1)
        return out, float(sums.sum())

    def _block(self, M: np.ndarray, part: slice, mass: bool) -> tuple[np.ndarray, float]:
        """E[t] of some rows, and the sum of their log Zeta."""
        signs = self.signs[part]
        if mass:
            T, log_zeta = labelled_moments(M, signs, self.margin)
        else:
            T, log_zeta = labelled_mean(M, signs, self.margin), np.zeros_like(M)
        hidden = None if self.unknown is None else self.unknown[part]
        if hidden is None or not hidden.any():
            return T, log_zeta.sum()
        if self.gap is None:
            T[hidden], log_zeta[hidden] = M[hidden], 0.0
            return T, log_zeta.sum()
        label = np.nonzero(hidden)[1]
        T[hidden], log_zeta[hidden] = gap_mean(M[hidden], self.gap, self.log_prior[0, label], self.log_prior[1, label])
        return T, log_zeta.sum()
