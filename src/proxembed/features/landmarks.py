"""Landmarks: the rows on which a method is solved where all rows would be too many; the others are placed by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from proxembed.algebra.arrays.matrix import Matrix
from proxembed.params import Param

from .prototypes import prototypes

LANDMARK_COUNT = Param(low=2, integer=True, choices=("auto", None))
LANDMARK_SEED_DOC = "Seed of the choice of landmarks."


def landmark_count(name: str, asked: Any, n: int, exact_up_to: int, automatic: int) -> int | None:
    """How many of n rows are landmarks; None: the method is solved on all rows.

    ``asked`` is the parameter ``n_landmarks`` of the estimator ``name``: a number, None for all rows, or "auto" for all
    rows up to ``exact_up_to`` and ``automatic`` landmarks above. Raises ValueError for a number above n.

    Examples
    --------
    >>> [landmark_count("Isomap", "auto", n, 1000, 50) for n in (1000, 1001)], landmark_count("LLE", 20, 30, 1000, 50)
    ([None, 50], 20)
    """
    if asked is None or asked == "auto":
        return automatic if asked == "auto" and n > exact_up_to else None
    if asked > n:
        raise ValueError(
            f"{name}: n_landmarks={asked} is not allowed with {n} rows to choose from; it must be at most {n}. Use "
            f"n_landmarks <= {n}, or None for all rows."
        )
    return int(asked)


def landmark_rows(X: Matrix, number: int, *, y_groups: Any = None, random_state: Any = None) -> np.ndarray:
    """The row numbers, ascending, of ``number`` landmarks: distinct rows of X drawn at random, of each group of
    ``y_groups`` in proportion where groups are given.

    Random rows stand for dense and sparse regions by their shares; rows far from each other would stand for outliers.

    Examples
    --------
    >>> landmark_rows(np.array([[0.0], [1.0], [1.0], [9.0]]), 4, random_state=0).tolist()
    [0, 1, 3]
    """
    found: Any = prototypes("random" if y_groups is None else "stratified", X, number, y_groups, random_state)[1]
    return found
