"""All pairs of rows within a distance of each other, by the tiles of the search for nearest rows.

In: rows, and new rows where asked. Out: the pairs with their exact distances.
"""

from __future__ import annotations

import numpy as np

from proxembed.algebra.arrays.guard import guard_dense
from proxembed.algebra.arrays.parallel import one_pool

from .distances import pair_distances
from .search import each_in_threads, rounded_up
from .tiles import Side, plan_tiles, tile

NEAR = 1e-11
FAR = 1e100


def close_pairs(X, eps: float, metric: str, queries=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, distance) of all pairs i < j of rows of X, or of rows i of ``queries`` and j of X, at a distance of at
    most ``eps``, in any order; rows are ``canonical``."""
    Q = X if queries is None else queries
    plan = plan_tiles(X, [] if queries is None else [Q], 1, metric)
    right = Side(X, np.arange(X.shape[0]), plan)
    left = right if queries is None else Side(Q, np.arange(Q.shape[0]), plan)
    most = 2.0 * eps if metric == "cosine" else min(eps * plan.factor / plan.unit, FAR) ** 2
    limit = rounded_up(np.array([most * (1.0 + NEAR) + NEAR * (metric == "cosine")]), np.dtype(plan.dtype))
    found: list[tuple[np.ndarray, ...]] = [(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))]

    def see(pair: tuple[int, int]) -> None:
        a, b = pair
        first, second = np.nonzero(tile(left, a, right, b) <= limit)
        i, j = first + left.blocks[a].start, second + right.blocks[b].start
        if queries is None:
            i, j = i[i < j], j[i < j]
        far = pair_distances(Q, i, X, j, metric)
        found.append((i[far <= eps], j[far <= eps], far[far <= eps]))
        guard_dense((sum(len(part[0]) for part in found), 2), "The list of close pairs", itemsize=12)

    with one_pool:
        pairs = [(a, b) for a in range(len(left.blocks)) for b in range(a if queries is None else 0, len(right.blocks))]
        each_in_threads(see, pairs)
    i, j, far = (np.concatenate(column) for column in zip(*found, strict=True))
    return i, j, far
