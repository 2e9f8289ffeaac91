"""Similarities of label sets, from the labels two sets share and the sizes of both: each formula once, for blocks of
all pairs as for label kernels.

In: shared labels y_i'y_j and sizes m_i, m_j (arrays that broadcast). Out: similarities; 0 where a set is empty, but
for the Hamming forms. All are positive semidefinite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proxembed.algebra.arrays.guard import guard_dense
from proxembed.algebra.arrays.matrix import row_blocks

from ..params import call_user_function

ROUNDING = 1e-12
SKEW = 1e-6  # of the largest value: what single precision leaves of symmetry


def similarity_and(shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float = 1.0) -> np.ndarray:
    """y_i'y_j: the number of shared labels.

    Examples
    --------
    >>> similarity_and(np.array([2.0]), np.array([3.0]), np.array([2.0]))
    array([2.])
    """
    return shared


def similarity_cosine(shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float = 1.0) -> np.ndarray:
    """y_i'y_j / sqrt(m_i m_j); 0 where a set is empty.

    Examples
    --------
    >>> similarity_cosine(np.array([2.0, 0.0]), np.array([4.0, 0.0]), np.array([4.0, 4.0]))
    array([0.5, 0. ])
    """
    return ratio(shared, np.sqrt(left * right))


def similarity_dice(shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float = 1.0) -> np.ndarray:
    """2 y_i'y_j / (m_i + m_j), (34); 0 where a set is empty. With y_i'N^-1 y_j for y_i'y_j it is the scaled one, (35).
    [mu2012mesd]

    Examples
    --------
    >>> similarity_dice(np.array([1.0]), np.array([1.0]), np.array([3.0]))
    array([0.5])
    """
    return ratio(2.0 * shared, left + right)


def similarity_jaccard(shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float = 1.0) -> np.ndarray:
    """y_i'y_j / (m_i + m_j - y_i'y_j), (36); 0 where a set is empty. Of real vectors with their squared lengths for m
    it is Tanimoto's, (41).  [mu2012mesd]

    Examples
    --------
    >>> similarity_jaccard(np.array([1.0]), np.array([2.0]), np.array([3.0]))
    array([0.25])
    """
    return ratio(shared, left + right - shared)


def similarity_hamming(shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float = 1.0) -> np.ndarray:
    """exp(-h_ij / tau), (37); h = m_i + m_j - 2 y_i'y_j labels differ.  [mu2012mesd]

    Examples
    --------
    >>> similarity_hamming(np.array([1.0]), np.array([1.0]), np.array([2.0])).round(3)
    array([0.368])
    """
    return np.exp(-differing(shared, left, right) / tau)


def similarity_hamming_linear(shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float = 1.0) -> np.ndarray:
    """1 - h_ij / c, (38); ``tau`` is c, the number of labels.  [mu2012mesd]

    Examples
    --------
    >>> similarity_hamming_linear(np.array([1.0]), np.array([1.0]), np.array([2.0]), 4)
    array([0.75])
    """
    return 1.0 - differing(shared, left, right) / tau


def differing(shared: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """h_ij = m_i + m_j - 2 y_i'y_j, the number of labels in which two sets differ."""
    return left + right - 2.0 * shared


SET_SIMILARITIES: dict[str, Callable[..., np.ndarray]] = {
    "and": similarity_and,
    "cosine": similarity_cosine,
    "dice": similarity_dice,
    "scaled_dice": similarity_dice,
    "jaccard": similarity_jaccard,
    "hamming": similarity_hamming,
    "hamming_linear": similarity_hamming_linear,
}

SIMILARITIES: dict[str, Callable[..., np.ndarray]] = {
    "linear": similarity_and,
    "rbf": similarity_hamming,
    "cosine": similarity_cosine,
    "tanimoto": similarity_jaccard,
}


def similarity(
    kind: str | Callable[[np.ndarray], np.ndarray], sets: np.ndarray, tau: float | None = None
) -> np.ndarray:
    """The label kernel of this name, or of a callable sets -> u x u, checked to be symmetric and finite.

    ``tau``: the width of "rbf"; None: ``mean_differing``.

    Examples
    --------
    >>> similarity("tanimoto", np.array([[1.0, 1.0], [0.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    guard_dense((len(sets), len(sets)), f"label_kernel={kind!r}: the similarities of all label sets")
    if callable(kind):
        return checked_similarity(call_user_function("label_kernel", kind, sets), len(sets), f"label_kernel={kind!r}")
    m = sets.sum(axis=1)
    width = mean_differing(sets) if kind == "rbf" and tau is None else tau
    return SIMILARITIES[kind](sets @ sets.T, m[:, None], m[None, :], width)


def mean_differing(sets: np.ndarray) -> float:
    """The mean number of labels in which two distinct rows of ``sets`` differ, at least 1: the default width of (37).

    Examples
    --------
    >>> mean_differing(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    2.0
    """
    u, counts = len(sets), sets.sum(axis=0)
    if u < 2:
        return 1.0
    total = u * counts.sum() - counts @ counts
    return max(float(total / (u * (u - 1) / 2)), 1.0)


def checked_similarity(values: object, size: int, given: str) -> np.ndarray:
    """A caller's similarities as a symmetric array of their own; a ValueError that starts with ``given``, the argument
    and its value, and says what is wrong with them.

    Examples
    --------
    >>> checked_similarity([[1, 0], [0, 2]], 2, "similarity")
    array([[1., 0.],
           [0., 2.]])
    """
    needed = f"{given} is not allowed: a finite symmetric {size:,} x {size:,} matrix is needed"
    try:
        G = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{needed}, not {type(values).__name__}: {fault}.") from fault
    if G.shape != (size, size):
        raise ValueError(f"{needed}; its shape is {G.shape}.")
    top = float(np.max([G.max(initial=0.0), -G.min(initial=0.0)]))
    if not np.isfinite(top):
        wrong = ~np.isfinite(G)
        raise ValueError(f"{needed}; {np.count_nonzero(wrong):,} entries are not finite, the first at {_place(wrong)}.")
    skew = _largest_skew(G)
    if skew > SKEW * top:
        raise ValueError(f"{needed}; it differs from its transpose by up to {skew:.3g}. Take (S + S.T) / 2.")
    return symmetrise(G)


def symmetrise(A: np.ndarray) -> np.ndarray:
    """(A + A') / 2 in the place of A, by blocks of rows.

    Examples
    --------
    >>> symmetrise(np.array([[1.0, 4.0], [2.0, 5.0]]))
    array([[1., 3.],
           [3., 5.]])
    """
    for part in row_blocks(len(A), len(A)):
        upper = A[part, part.start :]
        upper += A[part.start :, part].T
        upper /= 2.0
        A[part.start :, part] = upper.T
    return A


def _largest_skew(A: np.ndarray) -> float:
    parts = row_blocks(len(A), len(A))
    return max((float(np.abs(A[p, p.start :] - A[p.start :, p].T).max()) for p in parts), default=0.0)


def _place(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argwhere(wrong)[0])


def positive_part(values: np.ndarray) -> np.ndarray:
    """Cosines and their like as similarities: 0 where they are negative, and where only rounding keeps them from it.

    Examples
    --------
    >>> positive_part(np.array([-0.5, 1e-17, 0.5]))
    array([0. , 0. , 0.5])
    """
    return np.where(values > ROUNDING, values, 0.0)


def ratio(a: np.ndarray | float, b: np.ndarray) -> np.ndarray:
    """a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=b != 0)
