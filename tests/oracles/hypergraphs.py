"""Hypergraphs of labels turned into graphs the long way, and the normalised similarity of each (n x n)."""

from __future__ import annotations

import numpy as np


def inverse_or_zero(v: np.ndarray) -> np.ndarray:
    return np.array([1.0 / x if x > 0 else 0.0 for x in v])


def clique_similarity(Y, weights, self_loops=True) -> np.ndarray:
    """Every hyperedge becomes a clique; the graph is then normalised by its own degrees."""
    n = len(Y)
    W = np.zeros((n, n))
    for e, members in enumerate(Y.T):
        W += weights[e] * np.outer(members, members)
    if not self_loops:
        np.fill_diagonal(W, 0.0)
    scale = np.sqrt(inverse_or_zero(W.sum(axis=1)))
    return scale[:, None] * W * scale[None, :]


def star_similarity(Y, weights) -> np.ndarray:
    """Every hyperedge becomes a node tied to its members by w_e / size; two steps on the normalised graph."""
    n, c = Y.shape
    graph = np.zeros((n + c, n + c))
    for e in range(c):
        for i in range(n):
            graph[i, n + e] = graph[n + e, i] = Y[i, e] * weights[e] / Y[:, e].sum()
    scale = np.sqrt(inverse_or_zero(graph.sum(axis=1)))
    normalised = scale[:, None] * graph * scale[None, :]
    return (normalised @ normalised)[:n, :n]


def zhou_similarity(Y, weights) -> np.ndarray:
    """Zhou's random walk: choose a hyperedge of the vertex by weight, then one of its vertices uniformly."""
    n, c = Y.shape
    degree = np.array([sum(weights[e] * Y[i, e] for e in range(c)) for i in range(n)])
    scale = np.sqrt(inverse_or_zero(degree))
    S = np.zeros((n, n))
    for e in range(c):
        h = scale * Y[:, e]
        S += weights[e] / Y[:, e].sum() * np.outer(h, h)
    return S
