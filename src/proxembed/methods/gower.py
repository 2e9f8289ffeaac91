"""Double centring of squared dissimilarities, and Gower's rule that adds new rows to an embedding made of it."""

from __future__ import annotations

import numpy as np

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.operators.structured import Dense
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, eigenvalues, lanczos

ALL_UP_TO = 1500


class DoubleCentred(Dense):
    """G = -1/2 J E J for a symmetric n x n array E of squared dissimilarities, J = I - 11'/n; E is kept as it is."""

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        V = np.asarray(V, dtype=np.float64)
        centred = matmul(self.A, V - V.mean(axis=0))
        centred -= centred.mean(axis=0)
        centred *= -0.5
        return centred

    def todense(self, n: int | None = None) -> np.ndarray:
        level = self.A.mean(axis=1)
        G = self.A - level[:, None]
        G -= level[None, :]
        G += level.mean()
        G *= -0.5
        return G

    def diagonal(self, n: int | None = None) -> np.ndarray:
        level = self.A.mean(axis=1)
        return -0.5 * (np.diag(self.A) - 2 * level + level.mean())


def gower_rows(E: np.ndarray, level: np.ndarray, Z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """New rows for an embedding Z = V diag(t) made of the eigenpairs (w, V) of G = -1/2 J E J: g Z diag(w)^-1, m x k.

    E : (m, n) squared dissimilarities of the new rows to the n old ones. level : (n,) row means of the old E.
    g = -1/2 (e - mean(e) - level + mean(level)). A row of the old E gives its own row of Z.  [gower1968mds]
    """
    g = E - E.mean(axis=1, keepdims=True)
    g -= level - level.mean()
    g *= -0.5
    return matmul(g, Z / w)


def lowest_negative(A: DoubleCentred, k: int) -> np.ndarray:
    """The negative eigenvalues of G, ascending: all of them up to n = 1,500, the k lowest at most above that."""
    if A.n <= ALL_UP_TO or k >= A.n - 1:
        w = eigenvalues(A.todense())[::-1]
    else:
        w = -lanczos(lambda v: -(A @ v), A.n, k)[0]
    return w[w < -RANGE_TOLERANCE * np.abs(w).max(initial=0.0)]
