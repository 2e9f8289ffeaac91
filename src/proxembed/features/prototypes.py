"""Prototypes of relation features: real rows of X or centroids, without duplicates, seeded; and landmarks."""

import hashlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.utils import check_random_state

from proxembed.algebra.arrays.matrix import Matrix, float_matrix, guard_dense, row_blocks, row_squares
from proxembed.params import Param, call_user_function

MINI_BATCH_ROWS = 10_000
WIDE, ROUNDS = 2000, 2  # sparse rows of more features: each round costs as much as all else, and few rows move later
TIE = 1e-9

Prototypes: TypeAlias = tuple[Matrix, np.ndarray | None]


def distinct_rows(X: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Index of the first row of each set of equal rows, in row order, and how many rows each set has."""
    if sp.issparse(X):
        X = X.copy()
        X.eliminate_zeros()
    seen: dict[bytes, int] = {}
    group = np.empty(X.shape[0], dtype=np.intp)
    for i in range(X.shape[0]):
        group[i] = seen.setdefault(_row_digest(X, i), len(seen))
    return np.unique(group, return_index=True)[1], np.bincount(group)


def prototypes_all(
    X: Matrix, n_prototypes: int | None = None, *, y_groups: Any = None, random_state: Any = None
) -> Prototypes:
    """All distinct rows, in row order; ``n_prototypes`` is not used.  [mu2012mesd]"""
    index, _ = distinct_rows(X)
    return X[index], index


def prototypes_random(X: Matrix, n_prototypes: int, *, y_groups: Any = None, random_state: Any = None) -> Prototypes:
    """Distinct rows drawn without replacement, in row order."""
    index, _ = distinct_rows(X)
    if n_prototypes < index.size:
        index = np.sort(check_random_state(random_state).choice(index, n_prototypes, replace=False))
    return X[index], index


def prototypes_kmeans(X: Matrix, n_prototypes: int, *, y_groups: Any = None, random_state: Any = None) -> Prototypes:
    """Centroids of k-means with k-means++ starts (mini-batches above 10,000 distinct rows); dense, no row indices."""
    centroids = _cluster(X, n_prototypes, random_state)[0].astype(X.dtype, copy=False)
    return centroids[distinct_rows(centroids)[0]], None


def prototypes_kmedoids(X: Matrix, n_prototypes: int, *, y_groups: Any = None, random_state: Any = None) -> Prototypes:
    """The row nearest to the centroid of its own k-means cluster, one per cluster, in row order; sparse stays sparse.
    Rows at the same distance up to rounding: the first is taken."""
    centroids, labels, index = _cluster(X, n_prototypes, random_state)
    rows = X[index].astype(np.float64)
    if not sp.issparse(rows):
        shift = rows.mean(axis=0)
        rows, centroids = rows - shift, centroids - shift
    squares = row_squares(rows)
    medoids = []
    for k, centroid in enumerate(centroids):
        members = np.flatnonzero(labels == k)
        if members.size:
            length = float(centroid @ centroid)
            d2 = squares[members] + length - 2 * (rows[members] @ centroid)
            slack = TIE * (squares[members].max() + length)
            medoids.append(members[np.flatnonzero(d2 <= d2.min() + slack)[0]])
    index = index[np.sort(medoids)]
    return X[index], index


def prototypes_farthest(X: Matrix, n_prototypes: int, *, y_groups: Any = None, random_state: Any = None) -> Prototypes:
    """Greedy k-centre: from a random row on, always the row farthest from those chosen (ties: the first). Indices come
    in the order of choice, so that fewer prototypes are a prefix of more."""
    index, _ = distinct_rows(X)
    rows = X[index].astype(np.float64)
    squares = row_squares(rows)
    nearest = np.full(index.size, np.inf)
    chosen = [int(check_random_state(random_state).randint(index.size))]
    while len(chosen) < min(n_prototypes, index.size):
        np.minimum(nearest, _squared_distances(rows, squares, chosen[-1]), out=nearest)
        nearest[chosen[-1]] = -1.0
        chosen.append(int(np.argmax(nearest)))
    index = index[chosen]
    return X[index], index


def prototypes_stratified(
    X: Matrix, n_prototypes: int, *, y_groups: Any = None, random_state: Any = None
) -> Prototypes:
    """Random distinct rows of each group of ``y_groups`` (label sets), in proportion, at least one of each. With fewer
    prototypes than groups, the largest groups get one each."""
    if y_groups is None:
        raise ValueError("y_groups=None; kind 'stratified' needs groups of rows: pass the label sets, or use 'random'.")
    y_groups = np.asarray(y_groups)
    if y_groups.shape != (X.shape[0],):
        raise ValueError(f"y_groups has shape {y_groups.shape}; one group per row, ({X.shape[0]},), is needed.")
    index, _ = distinct_rows(X)
    _, codes = np.unique(y_groups[index], return_inverse=True)
    seats = _seats(np.bincount(codes), min(n_prototypes, index.size))
    rng = check_random_state(random_state)
    chosen = [rng.choice(index[codes == g], seats[g], replace=False) for g in np.flatnonzero(seats)]
    index = np.sort(np.concatenate(chosen))
    return X[index], index


PROTOTYPES: dict[str, Callable[..., Prototypes]] = {
    "all": prototypes_all,
    "random": prototypes_random,
    "kmeans": prototypes_kmeans,
    "kmedoids": prototypes_kmedoids,
    "farthest": prototypes_farthest,
    "stratified": prototypes_stratified,
}


def prototypes(
    kind: str | Callable[..., Prototypes],
    X: Any,
    n_prototypes: int | None = None,
    y_groups: Any = None,
    random_state: Any = None,
) -> Prototypes:
    """Prototypes for relation features, chosen from the rows of X.  [mu2012mesd]"""
    X = float_matrix(X)
    if not X.shape[0] or not X.shape[1]:
        raise ValueError(f"X has shape {X.shape}; prototypes need at least one row and one feature.")
    if not callable(kind) and kind not in PROTOTYPES:
        names = ", ".join(PROTOTYPES)
        raise ValueError(f"kind={kind!r} is not a choice of prototypes; use one of {names}, or pass a function.")
    if kind != "all":
        _check_number(n_prototypes, X.shape[0])
    if callable(kind):
        chosen = call_user_function("prototypes", kind, X, n_prototypes, y_groups=y_groups, random_state=random_state)
        return _checked_prototypes(kind, chosen, X.shape[1])
    return PROTOTYPES[kind](X, n_prototypes, y_groups=y_groups, random_state=random_state)


def _checked_prototypes(kind: Any, chosen: Any, d: int) -> tuple[Matrix, np.ndarray]:
    """What a function of prototypes returned, or a ValueError where that is not a pair of rows and their numbers."""
    shape = np.shape(chosen[0]) if isinstance(chosen, tuple) and len(chosen) == 2 else None
    if shape is None or len(shape) != 2 or shape[0] < 1 or shape[1] != d:
        raise ValueError(
            f"prototypes={kind!r} must return a pair: the prototypes, an array or sparse matrix of p >= 1 rows and {d} "
            "columns, and the numbers of the rows that they are."
        )
    return chosen


def _check_number(n_prototypes: Any, n: int) -> None:
    integer = isinstance(n_prototypes, int | np.integer) and not isinstance(n_prototypes, bool)
    if not integer or not 1 <= n_prototypes <= n:
        raise ValueError(
            f"n_prototypes={n_prototypes!r} is out of range: an integer from 1 to {n} (the rows of X) is needed; "
            "kind 'all' takes every distinct row."
        )


def _row_digest(X: Matrix, i: int) -> bytes:
    """A 128-bit hash of row i; -0.0 counts as 0.0."""
    if not sp.issparse(X):
        return hashlib.blake2b((X[i] + 0.0).tobytes(), digest_size=16).digest()
    part = slice(X.indptr[i], X.indptr[i + 1])
    return hashlib.blake2b(X.indices[part].tobytes() + X.data[part].tobytes(), digest_size=16).digest()


def _cluster(X: Matrix, n_prototypes: int, random_state: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """k-means over the distinct rows, weighted by how often they occur: centroids, cluster of each, row indices. Two
    rounds for sparse rows of more than 2,000 features, else until it converges."""
    index, counts = distinct_rows(X)
    k = min(n_prototypes, index.size)
    guard_dense((k, X.shape[1]), "The centroids of k-means")
    method = KMeans if index.size <= MINI_BATCH_ROWS else MiniBatchKMeans
    rows = X[index]
    if sp.issparse(rows):
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    rounds = {"max_iter": ROUNDS} if sp.issparse(rows) and rows.shape[1] > WIDE else {}
    found = method(k, init="k-means++", n_init=1, random_state=random_state, **rounds)
    found.fit(rows, sample_weight=counts.astype(np.float64))
    return found.cluster_centers_.astype(np.float64, copy=False), found.labels_, index


def _squared_distances(X: Matrix, squares: np.ndarray, i: int) -> np.ndarray:
    """Squared distance of every row to row i; from the differences where X is dense."""
    if sp.issparse(X):
        return np.maximum(squares + squares[i] - 2 * (X @ X[[i]].toarray()[0]), 0.0)
    return np.concatenate([row_squares(X[rows] - X[i]) for rows in row_blocks(*X.shape)])


def _seats(sizes: np.ndarray, total: int) -> np.ndarray:
    """Share total seats among groups: one each, largest first, then by the Webster rule, never above a group's size."""
    seats = np.zeros(sizes.size, dtype=np.intp)
    seats[np.argsort(-sizes, kind="stable")[:total]] = 1
    for _ in range(total - int(seats.sum())):
        claim = np.where(seats < sizes, sizes / (2.0 * seats + 1.0), -1.0)
        seats[np.argmax(claim)] += 1
    return seats


LANDMARK_COUNT = Param(low=2, integer=True, choices=("auto", None))
LANDMARK_SEED_DOC = "Seed of the choice of landmarks."


def landmark_count(name: str, asked: Any, n: int, exact_up_to: int, automatic: int) -> int | None:
    """How many of n rows are landmarks; None: the method is solved on all rows. ``asked`` is the parameter
    ``n_landmarks`` of the estimator ``name``: a number, None for all rows, or "auto" for all rows up to ``exact_up_to``
    and ``automatic`` landmarks above. Raises ValueError for a number above n."""
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
    ``y_groups`` in proportion where groups are given. Random rows stand for dense and sparse regions by their shares;
    rows far from each other would stand for outliers."""
    found: Any = prototypes("random" if y_groups is None else "stratified", X, number, y_groups, random_state)[1]
    return found
