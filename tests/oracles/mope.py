"""MOPE by loops over pairs of rows: similarities of label sets, Psi, links and objectives as n x n arrays."""

from __future__ import annotations

import numpy as np


def similarity_of_sets(name: str, Y: np.ndarray, tau: float | None = None) -> np.ndarray:
    """Scheme 1, by its definition for each pair of rows."""
    n, c = Y.shape
    sizes = Y.sum(axis=0)
    G = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both, mi, mj = float((Y[i] * Y[j]).sum()), Y[i].sum(), Y[j].sum()
            differing = float((Y[i] != Y[j]).sum())
            weighted = sum(1.0 / sizes[k] for k in range(c) if Y[i, k] and Y[j, k])
            if name.startswith("hamming"):
                G[i, j] = 1.0 - differing / c if name == "hamming_linear" else np.exp(-differing / tau)
            elif mi and mj:
                G[i, j] = {
                    "and": both,
                    "cosine": both / np.sqrt(mi * mj),
                    "dice": 2.0 * both / (mi + mj),
                    "scaled_dice": 2.0 * weighted / (mi + mj),
                    "jaccard": both / (mi + mj - both),
                }[name]
    return G / G.max()


def classes_alike(name: str, Y: np.ndarray) -> np.ndarray:
    """Sigma of scheme 3, by its definition for each pair of classes."""
    n, c = Y.shape
    sizes = Y.sum(axis=0)
    sigma = np.zeros((c, c))
    for s in range(c):
        for t in range(c):
            both = float((Y[:, s] * Y[:, t]).sum())
            sigma[s, t] = {
                "cooccurrence": both,
                "dice": 2.0 * both / (sizes[s] + sizes[t]),
                "jaccard": both / (sizes[s] + sizes[t] - both),
                "cosine": both / np.sqrt(sizes[s] * sizes[t]),
            }[name]
    return sigma


def similarity_through_classes(sigma: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Scheme 3: the mean similarity of the labels of two rows, over the largest."""
    n = len(Y)
    G = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            own, other = np.flatnonzero(Y[i]), np.flatnonzero(Y[j])
            if len(own) and len(other):
                G[i, j] = sum(sigma[s, t] for s in own for t in other) / (len(own) * len(other))
    return G / G.max()


def similarity_of_latent(phi: np.ndarray) -> np.ndarray:
    """Scheme 2 by cosines, negative ones clipped, over the largest."""
    n = len(phi)
    G = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            size = np.linalg.norm(phi[i]) * np.linalg.norm(phi[j])
            G[i, j] = max(float(phi[i] @ phi[j]) / size, 0.0) if size > 0 else 0.0
    return G / G.max()


def psi(W: np.ndarray, G: np.ndarray, a: float, b: float, beta: float, gamma: float) -> np.ndarray:
    """Equation (43) and its extension, pair by pair; 0^0 = 1, but nothing comes of labels that are not alike."""
    out = np.zeros_like(G)
    for i in range(len(G)):
        for j in range(len(G)):
            w, g = float(W[i, j]) ** b, float(G[i, j]) ** a if G[i, j] > 0 else 0.0
            out[i, j] = gamma * g / (1.0 + beta * (1.0 - w)) + (1.0 - gamma) * w
    return out


def links(P: np.ndarray, K: int, link: str, values: str, loops: bool = False) -> np.ndarray:
    """The K largest positive proximities of each row, ties by row number, joined into a symmetric matrix."""
    n = len(P)
    chosen = np.zeros((n, n))
    for i in range(n):
        order = sorted((j for j in range(n) if j != i and P[i, j] > 0), key=lambda j: (-P[i, j], j))
        chosen[i, order[:K]] = 1.0
    value = P if values == "psi" else np.ones((n, n))
    joined = {
        "undirected": np.maximum(chosen, chosen.T) * value,
        "mutual": np.minimum(chosen, chosen.T) * value,
        "directed": (chosen * value + (chosen * value).T) / 2.0,
    }[link]
    if loops:
        joined[np.arange(n), np.arange(n)] = np.diag(value) * (np.diag(P) > 0)
    return joined


def stated(A: np.ndarray, objective: str) -> np.ndarray:
    """A, A - D(A) or D^-1/2 A D^-1/2."""
    degree = A.sum(axis=1)
    if objective == "laplacian":
        return A - np.diag(degree)
    if objective == "normalized":
        root = np.array([d**-0.5 if d > 0 else 0.0 for d in degree])
        return root[:, None] * A * root
    return A
