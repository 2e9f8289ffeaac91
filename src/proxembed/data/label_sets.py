"""The label sets of rows, numbered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def label_sets(Y: Any, unknown: Any = None) -> NDArray[np.integer]:
    """The place of the label set of each row among all, -1 where a label is unknown."""
    weights = np.random.default_rng(0).random(sparse.csr_array(Y).shape[1])  # sums of which differ as the sets do
    sets = np.unique(np.round(sparse.csr_array(Y, dtype=np.float64) @ weights, 9), return_inverse=True)[1]
    if unknown is None:
        return sets
    return np.where(sparse.csr_array(unknown, dtype=np.float64).sum(axis=1) > 0, -1, sets)
