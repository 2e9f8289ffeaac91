"""SeenRows: which rows of a new matrix are identical to a row of training, found by exact 64-bit fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np

from .algebra.arrays.fingerprints import fingerprints, multipliers


class SeenRows:
    """Fingerprints of the training rows; the first of equal rows stands for all."""

    def __init__(self, X: Any):
        self.multipliers = multipliers(X.shape[1])
        prints = fingerprints(X, self.multipliers)
        self.prints, self.first = np.unique(prints, return_index=True)

    def find(self, X: Any) -> np.ndarray:
        """For each row its index among the training rows, or -1."""
        prints = fingerprints(X, self.multipliers)
        place = np.minimum(np.searchsorted(self.prints, prints), len(self.prints) - 1)
        return np.where(self.prints[place] == prints, self.first[place], -1)
