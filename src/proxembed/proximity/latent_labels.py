"""Latent labels: label sets as points phi(y) = Py'y of a few directions, and similarities of such points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from proxembed.algebra.arrays.matrix import guard_dense, row_blocks, row_squares
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, descending, fix_signs
from proxembed.pairs.formulas import SetPairs, gaussian, measures_for
from proxembed.targets.labels import LabelMatrix

from ..params import call_for_array, call_user_function
from .all_pairs import correlation_blocks
from .geodesic import geodesics
from .graph import neighbor_graph
from .neighbors import nearest
from .similarity import checked_similarity, clip_negative
from .weights import LOCAL_NEIGHBORS

LATENT = ("pca", "lsi")
LATENT_SIMILARITIES = measures_for("latent")
SHARE = 0.9

Between = Callable[[np.ndarray, np.ndarray], np.ndarray]


def latent_labels(
    labels: LabelMatrix,
    sets: np.ndarray,
    kind: str | Callable[[np.ndarray], np.ndarray] = "pca",
    n_latent: int | None = None,
    centred: bool = False,
) -> np.ndarray:
    """phi(y) = Py'y of the label sets, (39): Py holds the leading directions of the labels of all rows.  [mu2012mesd]

    Parameters
    ----------
    labels : LabelMatrix of n rows and c labels.
    sets : array of shape (u, c), label sets as 0/1.
    kind : "pca" (right singular vectors of the centred Y), "lsi" (of Y itself), or a callable sets -> (u, k) array.
    n_latent : directions, at most the rank of the matrix; None: as many as hold 90 % of its squares.
    centred : take the mean label vector off y first, so that phi are PCA scores.

    Returns
    -------
    ndarray of shape (u, k)

    Raises
    ------
    ValueError
        For an unknown kind, n_latent above the rank, and a callable that does not return finite points, one per set.

    Examples
    --------
    >>> labels = LabelMatrix.of(np.array([[1, 0], [1, 0], [0, 1]]))
    >>> np.abs(latent_labels(labels, np.eye(2), "lsi", 1))
    array([[1.],
           [0.]])
    """
    if callable(kind):
        return _points(kind, sets, "label sets")
    _check_latent(kind)
    w, V = descending(labels.centred_gram if kind == "pca" else labels.gram)
    points = sets - labels.nk / labels.n if centred else sets
    return points @ V[:, : _directions(w, kind, n_latent)]


def latent_classes(
    labels: LabelMatrix,
    used: np.ndarray,
    kind: str | Callable[[np.ndarray], np.ndarray] = "pca",
    n_latent: int | None = None,
    centred: bool = False,
) -> np.ndarray:
    """phi of classes, (39) with Y' in the place of Y: the rows that carry a label are its vector of 0/1.  [mu2012mesd]

    Parameters, result and errors as for ``latent_labels``, for the classes ``used``; a callable takes their r x n
    vectors. The directions (of n entries) are never formed: points follow from Y'Y.

    Examples
    --------
    >>> labels = LabelMatrix.of(np.array([[1, 0], [1, 0], [0, 1]]))
    >>> np.abs(latent_classes(labels, np.arange(2), "lsi", 2)).round(3)
    array([[1.414, 0.   ],
           [0.   , 1.   ]])
    """
    if callable(kind):
        guard_dense((len(used), labels.n), f"latent={kind!r}: the rows of each label")
        return _points(kind, labels.Y.T.tocsr()[used].toarray(), "classes")
    _check_latent(kind)
    G = labels.gram[np.ix_(used, used)]
    right = G - G.mean(axis=1, keepdims=True) if kind == "pca" else G
    w, U = descending(right - right.mean(axis=0) if kind == "pca" else G)
    k = _directions(w, kind, n_latent)
    phi = fix_signs(right @ (U[:, :k] / np.sqrt(w[:k])))
    return phi - phi.mean(axis=0) if centred else phi


def _points(kind: Callable[..., Any], vectors: np.ndarray, what: str) -> np.ndarray:
    """The latent variables of a function, checked."""
    phi = call_for_array("latent", kind, vectors)
    if phi.ndim != 2 or len(phi) != len(vectors) or not np.isfinite(phi).all():
        raise ValueError(
            f"latent={kind!r} must return a finite array with a row for each of the {len(vectors)} {what}; it "
            f"returned one of shape {phi.shape}."
        )
    return phi


def _check_latent(kind: object) -> None:
    if not isinstance(kind, str) or kind not in LATENT:
        raise ValueError(f"latent={kind!r} is not known; choose one of {', '.join(LATENT)}, or pass a callable.")


def _directions(w: np.ndarray, kind: str, n_latent: int | None) -> int:
    """How many directions of this spectrum are taken: ``n_latent``, or those that hold 90 % of it."""
    rank = int(np.count_nonzero(w > RANGE_TOLERANCE * w[0])) if w[0] > 0 else 0
    if n_latent is None:
        share = np.cumsum(w[:rank]) / max(w[:rank].sum(), np.finfo(float).tiny)
        n_latent = min(int(np.searchsorted(share, SHARE)) + 1, rank)
    elif isinstance(n_latent, bool) or not isinstance(n_latent, int | np.integer) or not 1 <= n_latent <= rank:
        raise ValueError(
            f"n_latent={n_latent!r} is not allowed: it must be a whole number from 1 to {rank}, the rank of the "
            f'labels under latent="{kind}", or None.'
        )
    return n_latent


def latent_between(
    phi: np.ndarray,
    kind: str | Callable[..., Any] = "cosine",
    tau: float | None = None,
    p: float = 2.0,
    n_scale: int = LOCAL_NEIGHBORS,
) -> tuple[Between, float]:
    """Similarities of latent points: (function of two index vectors a, b -> (len(a), len(b)) array, largest value).

    ``kind``: a name of LATENT_SIMILARITIES, or a callable phi -> u x u. Negative values become 0. ``tau``: the width;
    None: the mean over all pairs of points of what it divides, or 1. ``p``: the power of "minkowski", (40).
    """
    if callable(kind):
        guard_dense((len(phi), len(phi)), f"similarity={kind!r}: the similarities of all label sets")
        G = checked_similarity(call_user_function("similarity", kind, phi), len(phi), f"similarity={kind!r}")
        np.maximum(G, 0.0, out=G)
        return lambda a, b: G[np.ix_(a, b)], float(G.max(initial=0.0))
    if not isinstance(kind, str) or kind not in LATENT_SIMILARITIES:
        raise ValueError(
            f"similarity={kind!r} of latent labels is not known; choose one of {', '.join(LATENT_SIMILARITIES)}, or "
            "pass a callable."
        )
    measure: Any = LATENT_SIMILARITIES[kind]
    if measure.signed:
        return _clipped(correlation_blocks(phi, kind)), 1.0
    if measure.weight is None and measure.values is not None:
        squares = row_squares(phi)
        return _clipped(lambda a, b: measure.values(SetPairs(phi[a] @ phi[b].T, squares[a, None], squares[b]))), 1.0
    return _of_distances(phi, kind, tau, p, n_scale)


def _clipped(between: Between) -> Between:
    return lambda a, b: clip_negative(between(a, b))


def _of_distances(phi: np.ndarray, kind: str, tau: float | None, p: float, n_scale: int) -> tuple[Between, float]:
    measure: Any = LATENT_SIMILARITIES[kind]
    if kind == "minkowski":
        if not 1.0 <= p < np.inf:
            raise ValueError(f"p={p!r} is not allowed: Minkowski's power is a finite number of at least 1.")

        def powers(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return _differences(phi[a], phi[b], p)

        width = _mean_of_pairs(powers, len(phi)) if tau is None else tau
        return lambda a, b: gaussian(powers(a, b), width), 1.0
    if kind == "geodesic":
        distance = _geodesic_points(phi)
    else:

        def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return cdist(phi[a], phi[b])

    width = 1.0 if tau is None else tau
    if measure.median_width and tau is None:
        width = _mean_of_pairs(lambda a, b: distance(a, b) ** 2, len(phi))
    if measure.ends is None:
        return lambda a, b: measure.weight(distance(a, b), width), float(measure.weight(np.zeros(1), width)[0])
    largest = float(measure.weight(np.zeros(1), width, np.ones(1), np.ones(1))[0])
    if measure.ends == "scales":
        own = _scales(distance, np.arange(len(phi)), n_scale)
    else:
        own = row_squares(phi)
    return lambda a, b: measure.weight(distance(a, b), width, own[a, None], own[b][None, :]), largest


def _differences(left: np.ndarray, right: np.ndarray, p: float) -> np.ndarray:
    """sum |x - y|^p of all pairs of points."""
    if p == 2.0:
        return cdist(left, right, "sqeuclidean")
    return cdist(left, right, "cityblock") if p == 1.0 else cdist(left, right, "minkowski", p=p) ** p


def _mean_of_pairs(values: Between, u: int) -> float:
    """The mean over all pairs of different points, those at no finite distance apart; 1 where that is 0."""
    total, count, everyone = 0.0, 0, np.arange(u)
    for part in row_blocks(u, u):
        found = values(everyone[part], everyone)
        reached = np.isfinite(found)
        total += float(found[reached].sum())
        count += int(np.count_nonzero(reached)) - len(found)
    return total / count if count and total > 0.0 else 1.0


def _scales(distance: Between, everyone: np.ndarray, n_scale: int) -> np.ndarray:
    """The distance of each point to its K-th nearest other point, or to the last."""
    u = len(everyone)
    if u < 2:
        return np.zeros(u)
    rank = min(int(n_scale), u - 1)
    blocks = (distance(everyone[part], everyone) for part in row_blocks(u, u))
    return np.concatenate([np.partition(block, rank, axis=1)[:, rank] for block in blocks])


def _geodesic_points(phi: np.ndarray) -> Between:
    u = len(phi)
    if u < 2:
        return lambda a, b: np.zeros((len(a), len(b)))
    guard_dense((u, u), "The geodesic distances of the label sets")
    paths = geodesics(neighbor_graph(nearest(phi, min(5, u - 1)), u))
    return lambda a, b: paths[np.ix_(a, b)]
