"""Naive dense definitions of neighbour graphs, their weights and the four projections made from them.

Nothing here is shared with the package: sorted distance lists, loops over rows, n x n arrays.
"""

from __future__ import annotations

import numpy as np

from oracles.dense import Pencil, laplacian


def distances(X: np.ndarray) -> np.ndarray:
    return np.array([[np.linalg.norm(x - y) for y in X] for x in X])


def neighbors(X: np.ndarray, K: int) -> list[list[int]]:
    """The K nearest other rows by (distance, index)."""
    E, n = distances(X), len(X)
    return [sorted((j for j in range(n) if j != i), key=lambda j, i=i: (E[i, j], j))[:K] for i in range(n)]


def adjacency(X: np.ndarray, K: int, kind: str = "undirected") -> np.ndarray:
    """0/1, n x n; "directed" is not symmetric."""
    A = np.zeros((len(X), len(X)), dtype=bool)
    for i, chosen in enumerate(neighbors(X, K)):
        A[i, chosen] = True
    return {"directed": A, "undirected": A | A.T, "mutual": A & A.T}[kind]


def gaussian_weights(X: np.ndarray, A: np.ndarray, tau: float | None = None) -> np.ndarray:
    """exp(-d^2/tau) on the edges, tau their median squared distance."""
    E = distances(X) ** 2
    tau = np.median(E[A]) if tau is None else tau
    return np.where(A, np.exp(-E / tau), 0.0)


def reconstruction(X: np.ndarray, K: int, reg: float = 1e-3) -> np.ndarray:
    """W, n x n: each row by its K neighbours, weights summing to one."""
    W = np.zeros((len(X), len(X)))
    for i, chosen in enumerate(neighbors(X, K)):
        D = X[chosen] - X[i]
        G = D @ D.T
        G = np.eye(K) if np.trace(G) == 0 else G + reg * np.trace(G) * np.eye(K)
        w = np.linalg.solve(G, np.ones(K))
        W[i, chosen] = w / w.sum()
    return W


def residual_matrix(W: np.ndarray) -> np.ndarray:
    R = np.eye(len(W)) - W
    return R.T @ R


def _minimised(X, loss, weights, center, ridge=0.0) -> Pencil:
    mean = weights @ X / weights.sum() if center else np.zeros(X.shape[1])
    Xc = X - mean
    B = sum(w * np.outer(x, x) for w, x in zip(weights, Xc, strict=True))
    return Pencil(-Xc.T @ loss @ Xc, B + ridge * np.eye(len(B)), mean, weights > 0)


def lpp(X, W, constraint="degree", center=True, ridge=0.0) -> Pencil:
    weights = W.sum(axis=1) if constraint == "degree" else np.ones(len(X))
    return _minimised(X, laplacian(W), weights, center, ridge)


def npp(X, M, center=True, ridge=0.0) -> Pencil:
    return _minimised(X, M, np.ones(len(X)), center, ridge)


def orthogonal(X, loss) -> Pencil:
    """OLPP of a Laplacian, ONPP of a residual matrix."""
    mean = X.mean(axis=0)
    return Pencil(-(X - mean).T @ loss @ (X - mean), np.eye(X.shape[1]), mean)


def local_scaling(X: np.ndarray, K: int) -> np.ndarray:
    """exp(-d^2 / (s_i s_j)) of all pairs, s the distance to the K-th nearest other row; zero diagonal."""
    E = distances(X)
    s = [sorted(np.delete(row, i))[K - 1] for i, row in enumerate(E)]
    W = np.exp(-(E**2) / np.outer(s, s))
    np.fill_diagonal(W, 0.0)
    return W
