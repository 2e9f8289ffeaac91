"""The exact search of nearest rows: tiles of distances, each pair of blocks once, and the best of every list kept.

In: rows, and who may be whose neighbour. Out: the K nearest of every list, ties by (distance, index). Pairs whose lower
bound is above the K-th upper bound so far are dropped; what is left at the end is measured exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from proxembed.algebra.arrays.blas import each_in_threads, one_pool, threads
from proxembed.algebra.arrays.matrix import centred_lengths, fingerprints, guard_dense, multipliers, row_blocks
from proxembed.params import call_for_array

from .distances import (
    Side,
    TilePlan,
    bounds_of,
    canonical,
    check_distances,
    lengths_of,
    pair_distances,
    plan_tiles,
    rounded_cosines,
    tile,
    width_of,
)

ENTRIES = 1 << 18
OF_BITS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
OF_SCIPY = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "dice", "hamming", "jaccard", "jensenshannon", "rogerstanimoto",
    "russellrao", "sokalsneath", "sqeuclidean", "yule",
)  # fmt: skip
NONE_SHARED = ("braycurtis", "dice", "sokalsneath")  # 0/0 for two rows of zeros
BOTH_WAYS = 64  # rows of a block whose distances by a function are also taken the other way
UNEQUAL = 1e-8  # of the largest distance


def stand_in(X: Any, rows: np.ndarray, kind: np.ndarray, K: int) -> np.ndarray:
    """For each row itself or, where K + 1 identical rows of its kind come before it, the last of those. Lists take the
    lowest numbers among identical rows, so that later ones are in no list and have the same one. Rows are identical
    where all their entries are: equal fingerprints are only asked first."""
    prints = fingerprints(X, multipliers(X.shape[1]))
    out = np.arange(X.shape[0])
    order = rows[np.lexsort((rows, prints[rows], kind[rows]))]
    start, size = _groups(prints[order], kind[order])
    first = np.repeat(order[start], size)
    many = np.flatnonzero(np.repeat(size, size) > K + 1)
    many = many[_identical(X, order[many], first[many])]
    order, first = order[many], first[many]
    start, size = _groups(first, kind[order])
    late = np.arange(len(order)) - np.repeat(start, size) > K
    out[order[late]] = order[np.repeat(start + K, size)[late]]
    return out


def _groups(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Start and size of the runs of entries that are equal in both columns."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    start = np.flatnonzero(new)
    return start, np.diff(np.append(start, len(new)))


def _identical(X: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Whether row i[t] equals row j[t], entry by entry, for every t."""
    same = np.empty(len(i), dtype=bool)
    step = max(1, ENTRIES // max(1, X.shape[1] if not sparse.issparse(X) else X.nnz // max(1, X.shape[0])))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        if sparse.issparse(X):
            difference = sparse.csr_array(X[i[part]] != X[j[part]])
            same[part] = difference.sum(axis=1) == 0
        else:
            same[part] = (X[i[part]] == X[j[part]]).all(axis=1)
    return same


FEW_COLUMNS = 8
MANY_ROWS = 1000
MANY_NEIGHBORS = 64
GAP = 1e-9
WIDE = 2.0**300
LIFT = 1000
FAINT = 1e-140


def suits_tree(X: Any, K: int, metric: str) -> bool:
    """Whether a tree is faster than tiles: few columns, many rows, few neighbours."""
    return (
        metric == "euclidean"
        and not sparse.issparse(X)
        and X.shape[1] <= FEW_COLUMNS
        and X.shape[0] >= MANY_ROWS
        and K <= MANY_NEIGHBORS
    )


def tree_nearest(X: Any, Q: Any, K: int, exclude: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(index, distance, sure): the K nearest rows of X for every row of Q, itself left out where ``exclude``. A row is
    not sure where a tie, or what rounding could make one, reaches across its K-th place."""
    m = Q.shape[0]
    wanted = min(K + exclude + 1, X.shape[0])
    top = max(float(np.abs(X).max()), float(np.abs(Q).max(initial=0.0)))
    scale = 1.0 if 1.0 / WIDE < top < WIDE or top == 0.0 else np.ldexp(1.0, min(LIFT, -int(np.frexp(top)[1])))
    far, near = cKDTree(X * scale).query(Q * scale, wanted, workers=threads())
    far, near = far.reshape(m, wanted), near.reshape(m, wanted)
    if exclude:
        order = np.argsort(near == np.arange(m)[:, None], axis=1, kind="stable")[:, : wanted - 1]
        near, far = np.take_along_axis(near, order, axis=1), np.take_along_axis(far, order, axis=1)
    sure = np.ones(m, dtype=bool) if far.shape[1] == K else far[:, K - 1] * (1.0 + GAP) < far[:, K]
    sure &= far[:, -1] > FAINT
    near = near[:, :K]
    distance = pair_distances(Q, np.repeat(np.arange(m), K), X, near.ravel()).reshape(m, K)
    order = np.lexsort((near, distance), axis=1)
    return np.take_along_axis(near, order, axis=1).astype(np.intp), np.take_along_axis(distance, order, axis=1), sure


CROWDED = 4
MANY = 2048
SPARSE = 256
SETTLED = 8
FEW = 64
FEW_ENTRIES = 20_000


@dataclass(frozen=True)
class Lists:
    """Neighbour lists that are wanted: list s is of row ``row[s]`` (ascending). ``allowed(lists, rows, axis)``:
    which rows may enter which lists, as an array of bools in which the lists run along ``axis``; None: all."""

    row: np.ndarray
    allowed: Callable[[np.ndarray, np.ndarray, int], np.ndarray] | None = None

    def take(self, kept: np.ndarray) -> Lists:
        """Some of the lists."""
        inner = self.allowed
        if inner is None:
            return Lists(self.row[kept])
        return Lists(self.row[kept], lambda few, rows, axis: inner(kept[few], rows, axis))


class _Pool:
    """What may still be among the K nearest, for the lists of one block of rows. Entries are (place, row, lower,
    upper); where bounds are not exact also the distance, NaN until it is measured. Once more than ``SETTLED`` times K
    entries a list are within the bounds, they are measured and only K of them stay."""

    def __init__(self, lists: np.ndarray, local: np.ndarray, rows: int, K: int, plan: TilePlan, power: float):
        self.lists, self.local, self.K, self.plan, self.power = lists, local, K, plan, power
        self.plain = np.array_equal(local, np.arange(rows))
        self.tau = np.full(len(lists), np.inf)
        self.below = np.full(len(lists), np.inf)
        self.last = np.full(len(lists), np.iinfo(np.intp).max)
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.fresh = 0
        self.lock = Lock()

    def limit(self, first: int) -> np.ndarray:
        """The largest tile value that may enter each list, for rows numbered from ``first``."""
        if not self.power:
            return np.where(self.last < first, np.minimum(self.below, self.tau), self.tau)
        value = np.floor(self.tau / self.power)
        with np.errstate(invalid="ignore"):
            late = self.tau - value * self.power < first
        return np.where(late, value - 1.0, value)

    def add(self, part: tuple[np.ndarray, ...], measure: Measure) -> None:
        """Take entries in; ``measure`` returns their distances if they are too many."""
        self.parts.append(part)
        self.fresh += len(part[0])
        if self.fresh > len(self.lists) * self.K:
            self.compress()
            if not self.power and len(self.parts[0][0]) > len(self.lists) * (SETTLED * self.K + FEW):
                self.settle(measure)

    def compress(self) -> None:
        """Drop all that is above the K-th upper bound; the rest in the order of lists and upper bounds."""
        if not self.parts:
            return
        columns = tuple(np.concatenate(column) for column in zip(*self.parts, strict=True))
        place, _, lower, upper = columns[:4]
        order = np.argsort(upper)
        order = order[np.argsort(place[order], kind="stable")]
        counts = np.bincount(place, minlength=len(self.lists))
        full = np.flatnonzero(counts >= self.K)
        last = order[np.cumsum(counts)[full] - counts[full] + self.K - 1]
        self.tau[full] = np.minimum(self.tau[full], upper[last])
        order = order[lower[order] <= self.tau[place[order]]]
        self.parts = [tuple(column[order] for column in columns)]
        self.fresh = 0

    def settle(self, measure: Measure) -> None:
        """Measure all entries and keep K a list, by (distance, row)."""
        place, row, lower, upper, far = self.parts[0]
        open_ = np.flatnonzero(np.isnan(far))
        far[open_] = measure(self, *(column[open_] for column in (place, row, lower, upper)))
        order = np.lexsort((row, far, place))
        rank = rank_in(place[order], len(self.lists))
        order, rank = order[rank < self.K], rank[rank < self.K]
        place, row, far = place[order], row[order], far[order]
        lower, upper, below = bounds_of(self.plan, far)
        self.parts = [(place, row, lower, upper, far)]
        at = np.flatnonzero(rank == self.K - 1)
        full = place[at]
        self.tau[full] = np.minimum(self.tau[full], upper[at])
        self.below[full], self.last[full] = below[at], row[at]


Measure = Callable[[_Pool, np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Scan:
    """One search: the sides, the lists by blocks, and the tiles that are still to be seen."""

    def __init__(self, X: Any, Q: Any, lists: Lists, K: int, metric: str, plan: TilePlan, order: np.ndarray):
        self.lists, self.K, self.metric, self.plan = lists, K, metric, plan
        self.symmetric = Q is None
        self.X, self.Q = X, X if Q is None else Q
        self.right = Side(X, order, self.plan)
        self.left = self.right if Q is None else Side(Q, np.arange(Q.shape[0]), self.plan)
        self.power = float(1 << int(X.shape[0]).bit_length()) if self.plan.exact else 0.0
        start = np.searchsorted(lists.row, np.arange(self.Q.shape[0] + 1))
        self.pools = [self._pools(self.left.order[part], start) for part in self.left.blocks]

    def _pools(self, rows: np.ndarray, start: np.ndarray) -> list[_Pool]:
        """The lists of a block of rows, at most ``MANY`` a pool."""
        counts = start[rows + 1] - start[rows]
        local = np.repeat(np.arange(len(rows)), counts)
        lists = np.repeat(start[rows] - (np.cumsum(counts) - counts), counts) + np.arange(len(local))
        parts = [slice(first, first + MANY) for first in range(0, len(local), MANY)]
        return [_Pool(lists[part], local[part], len(rows), self.K, self.plan, self.power) for part in parts]

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """(index, distance) of the lists, K wide; -1 and infinity where a list is shorter."""
        pairs = [
            (a, b)
            for a in range(len(self.left.blocks))
            for b in range(a if self.symmetric else 0, len(self.right.blocks))
        ]
        with one_pool:
            each_in_threads(self._see, pairs)
        return self._results()

    def _see(self, pair: tuple[int, int]) -> None:
        """One tile, offered to the lists of its rows and, in a search among themselves, of its columns."""
        a, b = pair
        first, second = (self.left, a), (self.right, b)
        offers = [(pool, first, second, 0) for pool in self.pools[a]]
        if self.symmetric and a != b:
            offers += [(pool, second, first, 1) for pool in self.pools[b]]
        masks = [self._allowed(pool, other, axis) for pool, _, other, axis in offers]
        if not any(mask is None or mask.any() for mask in masks):
            return
        D = tile(self.left, a, self.right, b)
        if self.symmetric and a == b:
            np.fill_diagonal(D, np.inf)
        for (pool, own, other, axis), mask in zip(offers, masks, strict=True):
            if mask is None or mask.any():
                self._offer(pool, own, other, D, axis, mask)

    def _allowed(self, pool: _Pool, other: tuple[Side, int], axis: int) -> np.ndarray | None:
        return None if self.lists.allowed is None else self.lists.allowed(pool.lists, other[0].rows(other[1]), axis)

    def _offer(
        self, pool: _Pool, own: tuple[Side, int], other: tuple[Side, int], D: np.ndarray, axis: int, allowed: Any
    ) -> None:
        """The tile's candidates for the lists of a block, whose rows run along ``axis``."""
        rows, sizes = other[0].rows(other[1]), other[0].sizes(other[1])
        size = own[0].sizes(own[1])[pool.local]
        limit = self._limit(pool, int(rows.min()), D.dtype)
        hits = np.flatnonzero(_below(D, limit, pool, axis, allowed))
        if len(hits) > CROWDED * len(pool.lists) * self.K and D.shape[1 - axis] > self.K:
            near = _kth(D, self.K, pool, axis, allowed).astype(np.float64) + width_of(self.plan, size, sizes.max())
            limit = np.minimum(limit, rounded_up(near, D.dtype))
            hits = np.flatnonzero(_below(D, limit, pool, axis, allowed))
        place, column = np.divmod(hits, len(rows)) if axis == 0 else np.divmod(hits, len(pool.lists))[::-1]
        lower = D[pool.local[place], column] if axis == 0 else D[column, pool.local[place]]
        keep = np.flatnonzero((lower <= limit[place]) & (lower < np.inf))
        place, column, lower = place[keep], column[keep], lower[keep].astype(np.float64)
        row = rows[column]
        if self.plan.exact:
            lower = upper = lower * self.power + row
            unknown: tuple[np.ndarray, ...] = ()
        else:
            upper = lower + width_of(self.plan, size[place], sizes[column])
            unknown = (np.full(len(row), np.nan),)
        with pool.lock:
            pool.add((place.astype(np.uint16), row, lower, upper, *unknown), self._measured)

    def _measured(
        self, pool: _Pool, place: np.ndarray, row: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        """The exact distances of entries; only those are computed that the bounds leave open."""
        far, sure = rounded_cosines(self.plan, lower, upper)
        rest = np.flatnonzero(~sure)
        far[rest] = pair_distances(self.Q, self.lists.row[pool.lists[place[rest]]], self.X, row[rest], self.metric)
        return far

    def _limit(self, pool: _Pool, first: int, dtype: Any) -> np.ndarray:
        with pool.lock:
            return rounded_up(pool.limit(first), dtype)

    def _results(self) -> tuple[np.ndarray, np.ndarray]:
        index = np.full((len(self.lists.row), self.K), -1, dtype=np.intp)
        distance = np.full(index.shape, np.inf)
        pools = [pool for block in self.pools for pool in block]
        few = len(self.lists.row) * self.K < FEW_ENTRIES
        found = [self._finished(pool) for pool in pools] if few else each_in_threads(self._finished, pools)
        for pool, (place, row, far) in zip(pools, found, strict=True):
            rank = rank_in(place, len(pool.lists))
            keep = rank < self.K
            index[pool.lists[place[keep]], rank[keep]] = row[keep]
            distance[pool.lists[place[keep]], rank[keep]] = far[keep]
        return index, distance

    def _finished(self, pool: _Pool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pool.compress()
        if not pool.parts:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0)
        if self.plan.exact:
            place, row, lower, _ = pool.parts.pop()
            return place, row, lengths_of(self.plan, np.floor(lower / self.power))
        pool.settle(self._measured)
        place, row, _, _, far = pool.parts.pop()
        return place, row, far


def _below(D: np.ndarray, limit: np.ndarray, pool: _Pool, axis: int, allowed: np.ndarray | None) -> np.ndarray:
    """Which entries may be at most the limit of a list of the pool, with the lists along ``axis``."""
    if not pool.plain:
        most = np.full(D.shape[axis], -np.inf, dtype=limit.dtype)
        np.maximum.at(most, pool.local, limit)
        limit = most
    mask = D <= (limit[:, None] if axis == 0 else limit[None, :])
    if not pool.plain:
        mask = np.take(mask, pool.local, axis=axis)
    if allowed is not None:
        mask &= allowed
    return mask


def _kth(D: np.ndarray, K: int, pool: _Pool, axis: int, allowed: np.ndarray | None) -> np.ndarray:
    """An upper bound of the K-th smallest lower bound of every list, from every few entries of a tile."""
    step = max(1, D.shape[1 - axis] // max(SPARSE, CROWDED * K))
    every = (slice(None), slice(None, None, step))[:: 1 - 2 * axis]
    few = np.take(D[every], pool.local, axis=axis)
    if allowed is not None:
        few = np.where(allowed[every], few, few.dtype.type(np.inf))
    return np.take(np.partition(few, K - 1, axis=1 - axis), K - 1, axis=1 - axis)


def rounded_up(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Values in a precision, never rounded down."""
    if dtype == np.float64:
        return values
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    return np.where(rounded < values, np.nextafter(rounded, dtype.type(np.inf)), rounded)


def exact_nearest(X: Any, K: int, queries: Any, metric: str, exclude: bool) -> tuple[np.ndarray, np.ndarray]:
    """(index, distance), m x K: the K nearest rows of X for every row of X but itself, or for every query."""
    m = (X if queries is None else queries).shape[0]
    lists = Lists(np.arange(m))
    if metric == "precomputed":
        D = check_distances(X) if queries is None else check_distances(queries, "queries")
        return given_lists(D, lists, K, exclude and queries is None)
    X = canonical(X, metric)
    Q = X if queries is None else canonical(queries, metric)
    itself = queries is None and exclude
    if suits_tree(X, K, metric) and not sparse.issparse(Q):
        index, distance, sure = tree_nearest(X, Q, K, itself)
        unsure = np.flatnonzero(~sure)
        if not len(unsure):
            return index, distance
        if len(unsure) <= m // 4:
            index[unsure], distance[unsure] = queried(X, Q[unsure], K, metric, unsure if itself else None)
            return index, distance
    return exact_lists(X, lists, K, metric) if itself else queried(X, Q, K, metric, None)


def queried(X: Any, Q: Any, K: int, metric: str, own: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The K nearest rows of X for every row of Q, its own number ``own`` left out."""
    if own is not None:
        index, distance = queried(X, Q, K + 1, metric, None)
        other = np.argsort(index == own[:, None], axis=1, kind="stable")[:, :K]
        return np.take_along_axis(index, other, axis=1), np.take_along_axis(distance, other, axis=1)
    plan = plan_tiles(X, [Q], K, metric)
    order = np.arange(X.shape[0])
    if not plan.exact:
        order = order[stand_in(X, order, np.zeros_like(order), K) == order]
    return Scan(X, Q, Lists(np.arange(Q.shape[0])), K, metric, plan, order).run()


def exact_lists(
    X: Any, lists: Lists, K: int, metric: str, order: np.ndarray | None = None, kind: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(index, distance) of lists of rows of X among themselves, K wide, -1 and infinity where a list is shorter. X is
    ``canonical``; only the rows in ``order`` take part; rows of different ``kind`` may enter different lists."""
    order = np.arange(X.shape[0]) if order is None else order
    kind = np.zeros(X.shape[0], dtype=np.intp) if kind is None else kind
    plan = plan_tiles(X, [], K, metric)
    if plan.exact:
        return Scan(X, None, lists, K, metric, plan, order).run()
    instead = stand_in(X, order, kind, K)
    own = instead[lists.row] == lists.row
    if own.all():
        return Scan(X, None, lists, K, metric, plan, order).run()
    kept = np.flatnonzero(own)
    few = lists.take(kept)
    index, distance = Scan(X, None, few, K, metric, plan, order[instead[order] == order]).run()
    first = np.searchsorted(lists.row, np.arange(X.shape[0]))
    place = np.searchsorted(few.row, np.arange(X.shape[0]))
    rank = np.arange(len(lists.row)) - first[lists.row]
    source = place[instead[lists.row]] + rank
    return index[source], distance[source]


def queried_lists(
    X: Any, lists: Lists, K: int, metric: str, order: np.ndarray, kind: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """``exact_lists`` for lists of a few rows: only their distances are looked at."""
    few, place = np.unique(lists.row, return_inverse=True)
    plan = plan_tiles(X, [X[few]], K + 1, metric)
    if not plan.exact:
        order = order[stand_in(X, order, kind, K + 1)[order] == order]
    index, distance = Scan(X, X[few], Lists(place, lists.allowed), K + 1, metric, plan, order).run()
    other = np.argsort(index == lists.row[:, None], axis=1, kind="stable")[:, :K]
    return np.take_along_axis(index, other, axis=1), np.take_along_axis(distance, other, axis=1)


def given_lists(D: np.ndarray, lists: Lists, K: int, exclude: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """``exact_lists`` from a matrix of distances."""
    index = np.full((len(lists.row), K), -1, dtype=np.intp)
    distance = np.full(index.shape, np.inf)
    step = max(1, (1 << 22) // max(1, D.shape[1]))
    for start in range(0, len(index), step):
        some = np.arange(start, min(start + step, len(index)))
        rows = np.array(D[lists.row[some]], dtype=np.float64)
        if exclude:
            rows[np.arange(len(some)), lists.row[some]] = np.inf
        if lists.allowed is not None:
            rows[~lists.allowed(some, np.arange(D.shape[1]), 0)] = np.inf
        most = min(K, D.shape[1]) - 1
        near = rows <= np.partition(rows, most, axis=1)[:, most, None]
        place, column = np.nonzero(near & np.isfinite(rows))
        order = np.lexsort((column, rows[place, column], place))
        place, column = place[order], column[order]
        rank = rank_in(place, len(some))
        keep = rank < K
        place, column, rank = place[keep], column[keep], rank[keep]
        index[start + place, rank], distance[start + place, rank] = column, rows[place, column]
    return index, distance


def rank_in(group: np.ndarray, groups: int) -> np.ndarray:
    """The position of each entry inside its group; groups are consecutive and ascending."""
    counts = np.bincount(group, minlength=groups)
    return np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)


def is_measured(metric: Any) -> bool:
    """Whether a distance is one of scipy's or a function."""
    return callable(metric) or metric in OF_SCIPY


def dense_rows(X: Any, metric: Any) -> np.ndarray:
    """The rows as float64; a ValueError where the distance is not defined for them."""
    if sparse.issparse(X):
        raise ValueError(
            f"metric={metric!r} needs dense rows, and X is sparse: pass X.toarray() where it is small, or use "
            '"euclidean" or "cosine".'
        )
    X = np.asarray(X, dtype=np.float64)
    if metric in OF_BITS and not np.all((X == 0.0) | (X == 1.0)):
        raise ValueError(
            f"metric={metric!r} compares rows of 0 and 1, and X holds other values. Pass (X > 0) * 1.0, or use another "
            'metric, such as "cityblock".'
        )
    return X


def centred_rows(X: Any) -> np.ndarray:
    """Rows less their own mean, whose cosine is the correlation; rows of equal entries become 0."""
    X = dense_rows(X, "correlation")
    mean, length = centred_lengths(X)
    return np.where(length[:, None] > 0.0, X - mean[:, None], 0.0)


def as_cosine(X: Any, metric: Any) -> tuple[Any, Any]:
    """The rows and the metric, of the correlation as a cosine of rows less their means; others as they are."""
    return (centred_rows(X), "cosine") if metric == "correlation" else (X, metric)


def distance_blocks(Q: np.ndarray, X: np.ndarray, metric: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of the rows of Q with their distances to all rows of X, both from ``dense_rows``; two rows of zeros are at
    distance 0."""
    for part in row_blocks(len(Q), len(X)):
        if callable(metric):
            D = _by_function(metric, Q[part], X)
        else:
            with np.errstate(all="ignore"):
                D = cdist(Q[part], X, metric)
        if metric in NONE_SHARED:
            D[np.isnan(D)] = 0.0
        wrong = ~np.isfinite(D)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"metric={metric!r} gives {D[i, j]} for two rows of X, the first number {part.start + i}: it is not "
                "defined for these. Leave out such rows, or use another metric."
            )
        yield part, np.maximum(D, 0.0)


def _by_function(metric: Callable[..., Any], Q: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The distances that a function gives; a ValueError where they are below 0, or others from X to Q."""
    D = call_for_array("metric", metric, Q, X)
    if D.shape != (len(Q), len(X)):
        raise ValueError(
            f"metric={metric!r} must return the distances of {len(Q)} rows to {len(X)}, an array of shape "
            f"{(len(Q), len(X))}; it returned one of shape {D.shape}."
        )
    tolerance = UNEQUAL * np.abs(D).max(initial=0.0)
    if (D < -tolerance).any():
        raise ValueError(f"metric={metric!r} gives {D.min():.3g}; distances are at least 0. Pass a function of those.")
    q, x = Q[:BOTH_WAYS], X[:BOTH_WAYS]
    with np.errstate(invalid="ignore"):  # of infinite ones, which are refused later
        gap = np.abs(D[: len(q), : len(x)] - call_for_array("metric", metric, x, q).T).max(initial=0.0)
    if gap > tolerance:
        raise ValueError(
            f"metric={metric!r} gives distances that differ by up to {gap:.3g} from those the other way; it must be "
            "symmetric. Pass the mean of both ways."
        )
    return D


def all_distances(X: Any, metric: Any) -> np.ndarray:
    """The distances of all rows, n x n, symmetric in every bit."""
    Z = dense_rows(X, metric)
    guard_dense((len(Z), len(Z)), "The distances of all rows")
    D = np.concatenate([block for _, block in distance_blocks(Z, Z, metric)])
    return (D + D.T) / 2.0 if callable(metric) else D


def nearest_by_blocks(X: Any, K: int, queries: Any, metric: Any, exclude: bool) -> tuple[np.ndarray, np.ndarray]:
    """(index, distance), m x K: the K nearest rows of X for every row of X, itself left out where ``exclude``, or for
    every query."""
    Z = dense_rows(X, metric)
    Q = Z if queries is None else dense_rows(queries, metric)
    index, distance = np.empty((len(Q), K), dtype=np.intp), np.empty((len(Q), K))
    for part, D in distance_blocks(Q, Z, metric):
        if queries is None and exclude:
            D[np.arange(len(D)), np.arange(part.start, part.stop)] = np.inf
        index[part], distance[part] = given_lists(D, Lists(np.arange(len(D))), K, exclude=False)
    return index, distance


def pairs_within(X: Any, eps: float, metric: Any, queries: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, distance) of all rows i, of X or of ``queries``, and rows j of X at a distance of at most ``eps``; ordered
    by i, then j, without i = j where there are no queries."""
    Z = dense_rows(X, metric)
    found = [(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))]
    for part, D in distance_blocks(Z if queries is None else dense_rows(queries, metric), Z, metric):
        if queries is None:
            D[np.arange(len(D)), np.arange(part.start, part.stop)] = np.inf
        i, j = np.nonzero(D <= eps)
        found.append((i + part.start, j, D[i, j]))
    i, j, distance = (np.concatenate(column) for column in zip(*found, strict=True))
    return i, j, distance
