"""Many small linear systems at once."""

from __future__ import annotations

import numpy as np


def solve_batch(M: np.ndarray, E: np.ndarray) -> tuple[np.ndarray, bool]:
    """M_i^-1 e_i for stacked b x K x K matrices and b x K right sides, and whether none was exactly singular.

    Examples
    --------
    >>> solve_batch(np.array([[[2.0, 0.0], [0.0, 4.0]]]), np.ones((1, 2)))
    (array([[0.5 , 0.25]]), True)
    """
    try:
        return np.linalg.solve(M, E[..., None])[..., 0], True
    except np.linalg.LinAlgError:
        return np.full(E.shape, np.nan), False
