"""SeenRows: which rows of a new matrix are identical to a row of training, found by exact 64-bit fingerprints."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .algebra.parallel import in_threads


class SeenRows:
    """Fingerprints of the training rows; the first of equal rows stands for all."""

    def __init__(self, X):
        self.multipliers = np.random.default_rng(20).integers(1, 2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(
            2
        ) + np.uint64(1)
        prints = self._fingerprints(X)
        self.prints, self.first = np.unique(prints, return_index=True)

    def find(self, X) -> np.ndarray:
        """For each row its index among the training rows, or -1."""
        prints = self._fingerprints(X)
        place = np.minimum(np.searchsorted(self.prints, prints), len(self.prints) - 1)
        return np.where(self.prints[place] == prints, self.first[place], -1)

    def _fingerprints(self, X) -> np.ndarray:
        """Sum over columns of a scrambled bit pattern times a fixed odd number, modulo 2^64; zero entries add
        nothing."""
        if sparse.issparse(X):
            terms = _scrambled(X.data) * self.multipliers[X.indices]
            sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
            return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
        out = np.empty(X.shape[0], dtype=np.uint64)

        def work(part: slice) -> None:
            out[part] = _scrambled(X[part]) @ self.multipliers

        in_threads(work, X.shape[0], max(1, (1 << 17) // max(X.shape[1], 1)))
        return out


def _scrambled(values: np.ndarray) -> np.ndarray:
    """The bit patterns of float64 values (-0 as 0), mixed so that their sum is not linear in them."""
    bits = np.add(values, 0.0, dtype=np.float64, order="C").view(np.uint64)
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(32)
    return bits
