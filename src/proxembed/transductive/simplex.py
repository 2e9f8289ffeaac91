"""Many small quadratic programs on the simplex at once: min w'Lw subject to w >= 0, 1'w = 1."""

from __future__ import annotations

import numpy as np

from proxembed.algebra.arrays.matrix import solve_batch

TRIALS = 3  # exchanges of whole sets without progress before single indices are exchanged, which always ends


def simplex_weights(L: np.ndarray, reg: float) -> np.ndarray:
    """argmin w'(L + reg tr(L) I)w on the simplex, (b, K), for stacked b x K x K positive semidefinite matrices.

    v >= 0 with Lv >= 1 and v'(Lv - 1) = 0, over its sum: found by exchanging sets of indices between v > 0 and v = 0
    (block principal pivoting, [portugal1994bpp]). Equal weights where L = 0. reg : above 0, so that L is definite.

    >>> simplex_weights(np.array([[[1.0, 2.0], [2.0, 9.0]], [[1.0, 0.0], [0.0, 3.0]]]), 1e-12).round(6).tolist()
    [[1.0, 0.0], [0.75, 0.25]]
    """
    b, K, _ = L.shape
    trace = np.einsum("ijj->i", L)
    zero = trace <= 0
    L = L / np.where(zero, 1.0, trace)[:, None, None]
    np.einsum("ijj->ij", L)[...] += reg
    np.einsum("ijj->ij", L)[zero] = 1.0
    v = np.zeros((b, K))
    free = np.ones((b, K), dtype=bool)
    fewest, trials = np.full(b, K + 1), np.full(b, TRIALS)
    open_ = np.arange(b)
    for _ in range(2**K + K):
        v[open_], wrong = _tried(L[open_], free[open_])
        count = wrong.sum(axis=1)
        more = np.flatnonzero(count)
        if len(more) == 0:
            break
        open_, wrong, count = open_[more], wrong[more], count[more]
        better = count < fewest[open_]
        fewest[open_] = np.where(better, count, fewest[open_])
        trials[open_] = np.where(better, TRIALS, trials[open_] - 1)
        single = trials[open_] < 0
        last = K - 1 - np.argmax(wrong[:, ::-1], axis=1)
        wrong[single] = np.arange(K) == last[single, None]
        free[open_] ^= wrong
    v = np.maximum(v, 0.0)
    return v / v.sum(axis=1, keepdims=True)


def _tried(L: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """v of L_FF v_F = 1, 0 elsewhere, and which indices are on the wrong side."""
    both = free[:, :, None] & free[:, None, :]
    system = np.where(both, L, np.where(np.eye(L.shape[1], dtype=bool), 1.0, 0.0))
    v, _ = solve_batch(system, free.astype(np.float64))
    v[~free] = 0.0
    y = np.einsum("ijk,ik->ij", L, v) - 1.0
    return v, np.where(free, v < 0, y < -1e-10)
