"""Gamma priors on precisions, shape a and SCALE b: posteriors and their terms in the lower bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class GammaPrior:
    """Gamma(shape, scale) on the precision of ``count`` Gaussian coefficients each (its mean is shape * scale)."""

    shape: float
    scale: float
    count: int = 1

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
