"""Similarities of label sets: u x c distinct 0/1 rows in, a symmetric positive semidefinite u x u matrix out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def similarity_linear(sets: np.ndarray, tau: float | None = None) -> np.ndarray:
    """y_i'y_j: shared labels."""
    return sets @ sets.T


def similarity_rbf(sets: np.ndarray, tau: float | None = None) -> np.ndarray:
    """exp(-h_ij / tau), h the number of labels in which two sets differ; tau defaults to the mean h of distinct
    pairs."""
    h = differing_labels(sets)
    if tau is None:
        pairs = h[np.triu_indices(len(h), 1)]
        tau = max(float(pairs.mean()), 1.0) if len(pairs) else 1.0
    return np.exp(-h / tau)


def similarity_cosine(sets: np.ndarray, tau: float | None = None) -> np.ndarray:
    """y_i'y_j / sqrt(m_i m_j); 0 where a set is empty."""
    m = sets.sum(axis=1)
    return _ratio(sets @ sets.T, np.sqrt(np.outer(m, m)))


def similarity_tanimoto(sets: np.ndarray, tau: float | None = None) -> np.ndarray:
    """y_i'y_j / (m_i + m_j - y_i'y_j), Jaccard's index of two sets; 0 where a set is empty."""
    shared = sets @ sets.T
    m = sets.sum(axis=1)
    return _ratio(shared, m[:, None] + m[None, :] - shared)


def differing_labels(sets: np.ndarray) -> np.ndarray:
    """h_ij = m_i + m_j - 2 y_i'y_j."""
    m = sets.sum(axis=1)
    return m[:, None] + m[None, :] - 2.0 * (sets @ sets.T)


SIMILARITIES: dict[str, Callable[..., np.ndarray]] = {
    "linear": similarity_linear,
    "rbf": similarity_rbf,
    "cosine": similarity_cosine,
    "tanimoto": similarity_tanimoto,
}


def similarity(
    kind: str | Callable[[np.ndarray], np.ndarray], sets: np.ndarray, tau: float | None = None
) -> np.ndarray:
    """The similarity of this name, or of a callable sets -> u x u, checked to be symmetric and finite."""
    if not callable(kind):
        return SIMILARITIES[kind](sets, tau)
    G = np.asarray(kind(sets), dtype=np.float64)
    u = len(sets)
    if (
        G.shape != (u, u)
        or not np.all(np.isfinite(G))
        or not np.allclose(G, G.T, atol=1e-10 * max(np.abs(G).max(), 1.0))
    ):
        raise ValueError(
            f"The label similarity {kind!r} must return a finite symmetric {u} x {u} matrix for {u} label sets; "
            f"it returned one of shape {G.shape}."
        )
    return (G + G.T) / 2


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a, dtype=np.float64), where=b != 0)
