"""MOPE by loops over pairs of rows: similarities over the largest, Psi, links and objectives as n x n arrays."""

from __future__ import annotations

import numpy as np

from oracles.label_similarities import chosen_by_sorting, linked, pair_matrix, priority, scheme_classes, scheme_labels


def similarity_of_sets(name: str, Y: np.ndarray, tau: float | None = None) -> np.ndarray:
    """Scheme 1, over the largest."""
    G = scheme_labels(Y, name, tau)
    return G / G.max()


def similarity_through_classes(sigma: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Scheme 3: the mean similarity of the labels of two rows, over the largest."""
    G = scheme_classes(Y, sigma)
    return G / G.max()


def similarity_of_latent(phi: np.ndarray) -> np.ndarray:
    """Scheme 2 by cosines, negative ones clipped, over the largest."""

    def value(i: int, j: int) -> float:
        size = np.linalg.norm(phi[i]) * np.linalg.norm(phi[j])
        return max(float(phi[i] @ phi[j]) / size, 0.0) if size > 0 else 0.0

    G = pair_matrix(len(phi), value)
    return G / G.max()


def psi(W: np.ndarray, G: np.ndarray, a: float, b: float, beta: float, gamma: float) -> np.ndarray:
    """Equation (43) and its extension, pair by pair."""
    return pair_matrix(len(G), lambda i, j: priority(float(W[i, j]), float(G[i, j]), a, b, beta, gamma))


def links(P: np.ndarray, K: int, link: str, values: str, loops: bool = False) -> np.ndarray:
    """The K largest positive proximities of each row, ties by row number, joined into a symmetric matrix."""
    chosen = chosen_by_sorting(P, K)
    joined = linked((chosen > 0) * 1.0 if values == "binary" else chosen, link)
    if loops:
        np.fill_diagonal(joined, np.diag(P) > 0 if values == "binary" else np.maximum(np.diag(P), 0.0))
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
