"""Moments of normals of unit variance that are cut at a threshold, accurate in both tails.

With x the distance of the mean from the cut (positive: inside), h(x) = phi(x) / Phi(x) moves the mean, and
delta(x) = x + h(x) is where it comes to lie beyond the cut. Far outside, where x and h cancel, delta and the variance
come from the continued fraction of the Mills ratio, whose terms are all positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, erfcx, gammaln, log_ndtr

from proxembed.algebra.arrays.blas import each_in_threads
from proxembed.targets.known import smoothed_log_odds
from proxembed.targets.labels import LabelMatrix

FRACTION_BELOW = -6.0  # cancellation costs x^2 roundings above this; the fraction converges in DEPTH terms below
DEPTH = 32
CERTAIN = 8.5  # -log Phi is below 1e-17 above this
UNDERFLOW = 37.0  # Phi is 1 above this, and erfcx(-x / sqrt 2) about to overflow
ROOT_HALF, ROOT_TWO_OVER_PI = float(np.sqrt(0.5)), float(np.sqrt(2.0 / np.pi))
LOG_ROOT_TWO_PI = float(0.5 * np.log(2.0 * np.pi))


def hazard(x: np.ndarray) -> np.ndarray:
    """h(x) = phi(x) / Phi(x), the inverse Mills ratio; relative accuracy wherever it is a floating-point number."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        found = ROOT_TWO_OVER_PI / erfcx(x * -ROOT_HALF)
        high = x > UNDERFLOW
        if high.any():
            found = np.where(high, np.exp(-0.5 * np.where(high, x, 0.0) ** 2 - LOG_ROOT_TWO_PI), found)
    return found


def excess(x: np.ndarray) -> np.ndarray:
    """delta(x) = x + h(x) > 0: how far beyond the cut the mean of the cut normal lies."""
    x = np.asarray(x, dtype=np.float64)
    return _excess(x, hazard(x))


def variance(x: np.ndarray) -> np.ndarray:
    """1 - h(x) delta(x) > 0, the variance of the cut normal."""
    x = np.asarray(x, dtype=np.float64)
    h = hazard(x)
    found = 1.0 - h * _excess(x, h)
    low = x < FRACTION_BELOW
    if low.any():
        first, second = _fractions(-x[low])
        found[low] = first * (second - first)
    return found


def _excess(x: np.ndarray, h: np.ndarray) -> np.ndarray:
    """delta(x) for h = h(x)."""
    found = x + h
    low = x < FRACTION_BELOW
    if low.any():
        found[low] = _fractions(-x[low])[0]
    return found


def _fractions(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """c1 and c2 of 1/Mills(y) = y + c1, c_k = k / (y + c_{k+1}); delta = c1 and the variance is c1 (c2 - c1)."""
    second = np.zeros_like(y)
    for k in range(DEPTH, 1, -1):
        second = k / (y + second)
    return 1.0 / (y + second), second


def labelled_mean(mean: np.ndarray, sign: np.ndarray, margin: float) -> np.ndarray:
    """E[t] of t ~ N(mean, 1) cut to sign t > margin; sign is +1 or -1."""
    return sign * (margin + excess(sign * mean - margin))


def labelled_moments(mean: np.ndarray, sign: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """E[t] of ``labelled_mean`` and log P(sign t > margin), from one hazard: log Phi(x) = log phi(x) - log h(x). The
    logarithm is right to 1e-14 of itself or absolutely, whichever is more: what a sum of them needs."""
    x = sign * mean - margin
    h = hazard(x)
    with np.errstate(divide="ignore", over="ignore"):
        log_mass = np.where(x > CERTAIN, 0.0, -0.5 * x * x - LOG_ROOT_TWO_PI - np.log(h))
    return sign * (margin + _excess(x, h)), log_mass


def gap_mean(
    mean: np.ndarray, gap: float, log_negative: np.ndarray, log_positive: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """E[t] and log Zeta of t ~ N(mean, 1) with weights c- below -gap, 0 in the gap and c+ above it."""
    above, below = mean - gap, -mean - gap
    up, down = log_positive + log_ndtr(above), log_negative + log_ndtr(below)
    log_zeta = np.logaddexp(up, down)
    with np.errstate(under="ignore"):
        positive, negative = np.exp(up - log_zeta), np.exp(down - log_zeta)
        return positive * (gap + excess(above)) - negative * (gap + excess(below)), log_zeta


LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class GammaPrior:
    """Gamma(shape, scale) on the precision of ``count`` Gaussian coefficients each (its mean is shape * scale)."""

    shape: float
    scale: float
    count: float = 1

    def posterior(self, moment: np.ndarray) -> Precision:
        """The optimal factor for sums of second moments of the coefficients, any shape."""
        return Precision(self, self.shape + 0.5 * self.count, 1.0 / (1.0 / self.scale + 0.5 * moment))


@dataclass(frozen=True)
class Precision:
    """Gamma factors of equal shape and of the given scales."""

    prior: GammaPrior
    shape: float
    scale: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Expected precisions."""
        return self.shape * self.scale

    def bound(self, moment: np.ndarray) -> float:
        """E log p(precisions) + E log p(coefficients | precisions) + entropy, for these second moments."""
        a, b, ne, A = self.prior.shape, self.prior.scale, self.prior.count, self.shape
        size = self.scale.size
        log_scale = float(np.sum(np.log(self.scale)))
        elog = digamma(A) * size + log_scale
        total = (a - 1.0 + 0.5 * ne) * elog - A * float(self.scale.sum()) / b
        total -= size * (gammaln(a) + a * np.log(b) + 0.5 * ne * LOG_TWO_PI)
        total -= 0.5 * A * float(np.sum(self.scale * moment))
        return total + size * (A + gammaln(A) + (1.0 - A) * digamma(A)) + log_scale


BLOCK_ENTRIES = 1 << 16
SCORE = 0.8  # of a known label to begin with


def absent_odds(labels: LabelMatrix, times: np.ndarray | None = None) -> np.ndarray:
    """Log odds of labels that no row has, smoothed; 0 for the others. ``times``: how often each row occurs."""
    known: Any = labels.known_counts
    if times is not None:
        known = times.sum() - (0.0 if labels.unknown is None else labels.unknown.T @ times)
    return labels.expand(np.where(labels.nk > 0, 0.0, smoothed_log_odds(0.0, known)))


@dataclass(frozen=True)
class LabelSigns:
    """Signs of the labels (n, L), the unknown entries (bool (n, L) or None) and the rule for either. ``gap`` None
    leaves unknown entries free: t ~ N(m, 1). Else their t lie outside (-gap, gap), with the log probabilities
    ``log_prior`` (2, L) that an entry of either class is left unlabelled. ``times`` (n,): how often each row occurs,
    with the same t every time (None: once)."""

    signs: np.ndarray
    unknown: np.ndarray | None = None
    margin: float = 0.0
    gap: float | None = None
    log_prior: Any = None
    times: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        labels: LabelMatrix,
        margin: float,
        gap: float | None = None,
        log_prior: Any = None,
        times: np.ndarray | None = None,
    ) -> LabelSigns:
        """The targets of a label matrix."""
        unknown = None if labels.unknown is None else labels.unknown.toarray()
        return cls(2.0 * labels.Y.toarray() - 1.0, unknown, margin, gap, log_prior, times)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and labels."""
        return self.signs.shape

    @property
    def numbers(self) -> np.ndarray:
        """Which columns are measured: none."""
        return np.zeros(self.signs.shape[1], dtype=bool)

    def first(self) -> np.ndarray:
        """Scores to begin with; where they are unknown anything."""
        return SCORE * self.signs

    def completed(self, fitted: np.ndarray) -> np.ndarray:
        """Scores to begin with, the unknown ones by those that a regression gives, moved out of the gap."""
        if self.unknown is None:
            return self.first()
        least = 0.1 + (self.gap or 0.0)
        return np.where(self.unknown, np.sign(fitted) * np.maximum(np.abs(fitted), least), self.first())

    def drawn(self, rng: np.random.Generator, nearest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """|N(0, 1)| with the signs of the labels; an unknown one is that of the nearest row where it is known.
        ``nearest`` gives the numbers of these rows for a mask of the others."""
        sizes, signs = np.abs(rng.standard_normal(self.signs.shape)), self.signs
        if self.unknown is not None:
            signs = signs.copy()
            for label in np.flatnonzero(self.unknown.any(axis=0)):
                hidden = self.unknown[:, label]
                signs[hidden, label] = signs[nearest(hidden), label]
        return sizes * signs

    def expect(self, mean: Callable[[slice], np.ndarray], mass: bool = True) -> tuple[np.ndarray, float]:
        """E[t] (n, L) for the means of t, given by blocks of rows, and the sum of log Zeta (0 without ``mass``)."""
        n, c = self.shape
        out = np.empty((n, c))
        step = max(1, BLOCK_ENTRIES // max(c, 1))

        def work(start: int) -> float:
            part = slice(start, min(start + step, n))
            out[part], total = self._block(mean(part), part, mass)
            return total

        return out, float(np.sum(each_in_threads(work, range(0, n, step))))

    def _block(self, M: np.ndarray, part: slice, mass: bool) -> tuple[np.ndarray, float]:
        """E[t] of some rows, and the sum of their log Zeta."""
        signs = self.signs[part]
        if mass:
            T, log_zeta = labelled_moments(M, signs, self.margin)
        else:
            T, log_zeta = labelled_mean(M, signs, self.margin), np.zeros_like(M)
        hidden = None if self.unknown is None else self.unknown[part]
        if hidden is None or not hidden.any():
            pass
        elif self.gap is None:
            T[hidden], log_zeta[hidden] = M[hidden], 0.0
        else:
            label = np.nonzero(hidden)[1]
            weights = self.log_prior[0, label], self.log_prior[1, label]
            T[hidden], log_zeta[hidden] = gap_mean(M[hidden], self.gap, *weights)
        return T, log_zeta.sum() if self.times is None else float(self.times[part] @ log_zeta.sum(axis=1))
