"""How two fitted embeddings are compared: by Gram matrices, spans and eigenvalues, never column by column."""

from __future__ import annotations

import numpy as np

IDENTITY = 1e-8
DIFFERENT = 1e-2


def gram_distance(Z1: np.ndarray, Z2: np.ndarray) -> float:
    """Frobenius distance of ZZ' matrices, relative to the second."""
    G = Z2 @ Z2.T
    return float(np.linalg.norm(Z1 @ Z1.T - G) / np.linalg.norm(G))


def span_distance(P: np.ndarray, Q: np.ndarray) -> float:
    """Spectral norm of the difference of the projectors on the columns: the sine of the largest angle."""
    assert P.shape == Q.shape
    P, Q = np.linalg.qr(P)[0], np.linalg.qr(Q)[0]
    return float(np.linalg.norm(P @ P.T - Q @ Q.T, 2))


def assert_same_embedding(one, other, X, tolerance=IDENTITY, eigenvalues=True) -> None:
    """Equal Gram matrices of the embedded rows, and equal eigenvalues unless they are stated in other units."""
    assert one.n_components_ == other.n_components_
    assert gram_distance(one.transform(X), other.transform(X)) < tolerance
    if eigenvalues:
        scale = np.abs(other.eigenvalues_).max()
        np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=0, atol=tolerance * scale)


def assert_same_span(one, other, tolerance=IDENTITY) -> None:
    """The components span the same space."""
    assert span_distance(one.components_.T, other.components_.T) < tolerance


def assert_different_span(one, other) -> None:
    """A negative control: the two methods must not agree."""
    assert span_distance(one.components_.T, other.components_.T) > DIFFERENT
