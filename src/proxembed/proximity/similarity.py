"""Similarities of label sets, from the labels two sets share and the sizes of both, for blocks of all pairs as for
label kernels.

In: shared labels y_i'y_j and sizes m_i, m_j (arrays that broadcast). Out: similarities; 0 where a set is empty, but
for the Hamming forms. All are positive semidefinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import symmetrise
from proxembed.algebra.arrays.matrix import guard_dense, row_blocks
from proxembed.pairs.formulas import PairMeasure, SetPairs, measures_for

from ..params import call_user_function

ROUNDING = 1e-12
SKEW = 1e-6  # of the largest value: what single precision leaves of symmetry


SET_SIMILARITIES = measures_for("sets")
LABEL_KERNELS = measures_for("label kernel")


def similarity_of_sets(
    measure: PairMeasure, shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float | None = 1.0
) -> np.ndarray:
    """The measure of label sets from their shared labels and sizes; ``tau``: its width, or the number of labels."""
    values: Any = measure.values
    return values(SetPairs(shared, left, right), **measure.settings(tau=tau))


def similarity(
    kind: str | Callable[[np.ndarray], np.ndarray], sets: np.ndarray, tau: float | None = None
) -> np.ndarray:
    """The label kernel of this name, or of a callable sets -> u x u, checked to be symmetric and finite.

    ``tau``: the width of "rbf", by default ``mean_differing``.
    """
    guard_dense((len(sets), len(sets)), f"label_kernel={kind!r}: the similarities of all label sets")
    if callable(kind):
        return checked_similarity(call_user_function("label_kernel", kind, sets), len(sets), f"label_kernel={kind!r}")
    m = sets.sum(axis=1)
    width = mean_differing(sets) if kind == "rbf" and tau is None else tau
    return similarity_of_sets(LABEL_KERNELS[kind], sets @ sets.T, m[:, None], m[None, :], width)


def mean_differing(sets: np.ndarray) -> float:
    """The mean number of labels in which two distinct rows of ``sets`` differ, at least 1: the default tau of (37)."""
    u, counts = len(sets), sets.sum(axis=0)
    if u < 2:
        return 1.0
    total = u * counts.sum() - counts @ counts
    return max(float(total / (u * (u - 1) / 2)), 1.0)


def checked_similarity(values: object, size: int, given: str) -> np.ndarray:
    """A caller's similarities as a symmetric array of their own; errors begin with ``given``."""
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


def _largest_skew(A: np.ndarray) -> float:
    parts = row_blocks(len(A), len(A))
    return max((float(np.abs(A[p, p.start :] - A[p.start :, p].T).max()) for p in parts), default=0.0)


def _place(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argwhere(wrong)[0])


def clip_negative(values: np.ndarray) -> np.ndarray:
    """Cosines and their like as similarities: 0 where they are negative, or positive by rounding only."""
    return np.where(values > ROUNDING, values, 0.0)
