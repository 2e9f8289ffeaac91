"""Naive dense solutions of the graph methods for a proximity matrix W: loops over pairs, n x n arrays, one system a
label. Nothing here is shared with the package."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from oracles.dense import laplacian


def reconstruction_proximity(V: np.ndarray) -> np.ndarray:
    """V + V' - V'V, entry by entry."""
    n = len(V)
    shared = np.array([[sum(V[i, a] * V[i, b] for i in range(n)) for b in range(n)] for a in range(n)])
    return V + V.T - shared


def eigenmaps(W: np.ndarray, k: int, normalization: str) -> tuple[np.ndarray, np.ndarray]:
    """(Z, w): the k smallest eigenpairs of the Laplacian pencil of a connected graph, the trivial one left out."""
    L, D = laplacian(W), np.diag(W.sum(axis=1))
    if normalization == "symmetric":
        root = np.diag(W.sum(axis=1) ** -0.5)
        w, Z = eigh(root @ L @ root)
    else:
        w, Z = eigh(L, D if normalization == "random_walk" else np.eye(len(W)))
    return Z[:, 1 : k + 1], w[1 : k + 1]


def harmonic_scores(W: np.ndarray, Y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Scores of a harmonic field: every unlabelled row the weighted mean of its neighbours, the others their labels."""
    Z = np.where(known[:, None], Y, 0.0)
    L = laplacian(W)
    free = np.flatnonzero(~known)
    Z[free] = np.linalg.solve(L[np.ix_(free, free)], -L[np.ix_(free, np.flatnonzero(known))] @ Y[known])
    return Z


def pair_loss(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """1/2 sum_ij w_ij (x_i - x_j)(x_i - x_j)', d x d, by pairs."""
    out = np.zeros((X.shape[1], X.shape[1]))
    for i in range(len(X)):
        for j in range(len(X)):
            out += W[i, j] * np.outer(X[i] - X[j], X[i] - X[j]) / 2.0
    return out
