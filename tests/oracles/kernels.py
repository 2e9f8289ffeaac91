"""Kernels and other relations pair by pair, their centring, and a centred method on the coordinates of a kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from scipy.stats import kendalltau, spearmanr

from oracles.dense import RANK_TOLERANCE, dense_solve

N_SCALE = 3


def to_nearest(x, X) -> float:
    """The distance to the ``N_SCALE``-th nearest row of X at a distance above 0."""
    return sorted(d for d in np.linalg.norm(X - x, axis=1) if d > 0)[N_SCALE - 1]


def kernel_matrix(X1, X2, kernel, tau=None) -> np.ndarray:
    """Values of the rows of X1 with the rows of X2, which are those of training."""
    pairwise: dict[str, Callable] = {
        "linear": lambda a, b: a @ b,
        "gaussian": lambda a, b: np.exp(-np.sum((a - b) ** 2) / tau),
        "tanimoto": lambda a, b: a @ b / (a @ a + b @ b - a @ b),
        "euclidean": lambda a, b: np.linalg.norm(a - b),
        "alternative": lambda a, b: 1.0 / (tau + np.sum((a - b) ** 2) / (a @ a + b @ b)),
        "correlation": lambda a, b: np.corrcoef(a, b)[0, 1],
        "spearman": lambda a, b: spearmanr(a, b).statistic,
        "kendall": lambda a, b: kendalltau(a, b).statistic,
        "local_scaling": lambda a, b: np.exp(-np.sum((a - b) ** 2) / (to_nearest(a, X2) * to_nearest(b, X2))),
    }
    return np.array([[pairwise[kernel](a, b) for b in X2] for a in X1])


def centre_kernel(K_query, K) -> np.ndarray:
    """Rows k(x) - mean k(x) - column means of K + grand mean of K: inner products about the training mean."""
    return K_query - K_query.mean(axis=1, keepdims=True) - K.mean(axis=0)[None, :] + K.mean()


def kernel_embedding(pencil_of, X, X_query, kernel, k, tau=None, constraint="feature"):
    """(Z of the training rows, Z of the query rows, w) of a centred method on the kernel's own coordinates."""
    K = kernel_matrix(X, X, kernel, tau)
    Kq = kernel_matrix(X_query, X, kernel, tau)
    Kc, Kq = (K, Kq) if constraint == "raw" else (centre_kernel(K, K), centre_kernel(Kq, K))
    if constraint == "feature":
        kappa, U = np.linalg.eigh(Kc)
        keep = kappa > RANK_TOLERANCE * kappa.max()
        back = U[:, keep] / np.sqrt(kappa[keep])
    else:
        back = np.eye(len(X))
    T = Kc @ back
    pencil = pencil_of(T)
    P, w = dense_solve(pencil.Ap, pencil.Bp, pencil.rows(T), k)
    return (T - pencil.mean) @ P, (Kq @ back - pencil.mean) @ P, w


def canonical_correlations(X, Y) -> np.ndarray:
    """Singular values of Qx'Qy, the orthonormal bases of the centred columns: no pencil at all."""
    Qx = scipy.linalg.orth(X - X.mean(axis=0), rcond=1e-10)
    Qy = scipy.linalg.orth(Y - Y.mean(axis=0), rcond=1e-10)
    return np.linalg.svd(Qx.T @ Qy, compute_uv=False)
