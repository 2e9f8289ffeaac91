"""Groups of test rows: a record holds a measure without each of them, for the jackknife of differences.

Groups are the same for all entrants, so that differences are paired by row, and a row has the same one in every draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

GROUPS = 20


def row_groups(n: int, rows: np.ndarray | None = None) -> np.ndarray:
    """The groups of the ``n`` rows of a data set, or of some of them by number, ints from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.groups import row_groups
    >>> np.bincount(row_groups(50)).tolist()[:11]
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2]
    """
    found = np.random.default_rng(0).permutation(n) % min(GROUPS, n)
    return found if rows is None else found[rows]


def without_each(group: np.ndarray, measure: Callable[[np.ndarray], Any]) -> list[Any]:
    """What a function of the mask of rows returns without each group that they have.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.groups import without_each
    >>> x = np.array([1.0, 2.0, 6.0])
    >>> [float(each) for each in without_each(np.array([0, 1, 2]), lambda kept: x[kept].mean())]
    [4.0, 3.5, 1.5]
    """
    return [measure(group != g) for g in range(int(group.max()) + 1)]
