"""Rows of which some are labelled, and what an embedding of them is compared with."""

from __future__ import annotations

import numpy as np
import pytest

import strategies
from identities.comparison import IDENTITY, gram_distance
from oracles import dense, preserving

OBJECTIVES = ("proximity", "laplacian")
SHAPES = {"tall": (60, 9), "wide": (36, 50)}
on_shapes = pytest.mark.parametrize("shape", SHAPES)
RIDGE = {"ridge": 0.3, "ridge_scale": "absolute"}
EVERY_THIRD = 3


class Partly:
    """Rows of which every third is labelled: features, what is known of them, and the same in full."""

    def __init__(self, shape: str, single: bool, seed: int = 11):
        n, d = SHAPES[shape]
        full = strategies.one_hot(strategies.labels_classes(n, 3, seed)) if single else strategies.labels_multi(n, 4, 5)
        self.X = strategies.told_by_labels(strategies.features_dense(n, d, seed), full, seed)
        self.index = np.arange(0, n, EVERY_THIRD)
        self.full, self.Y = full, np.full(full.shape, np.nan)
        self.Y[self.index] = full[self.index]
        self.Xl, self.Yl = self.X[self.index], full[self.index]
        self.W = preserving.gaussian_weights(self.X, preserving.adjacency(self.X, 5))

    @property
    def y(self):
        return np.where(np.isnan(self.Y[:, 0]), np.nan, np.nan_to_num(self.Y).argmax(axis=1))

    @property
    def yl(self):
        return self.Yl.argmax(axis=1)

    @property
    def graph(self) -> np.ndarray:
        """X'LX of all rows."""
        return self.X.T @ dense.laplacian(self.W) @ self.X

    def of_olpp(self, objective: str) -> np.ndarray:
        """What OLPP maximises: -X'LX, or X'HWHX, of all rows."""
        return -self.graph if objective == "laplacian" else self.Xc.T @ self.W @ self.Xc

    @property
    def Xc(self):
        return self.X - self.X.mean(axis=0)


def assert_solves(fitted, data: Partly, Ap, Bp, sense: int = 1, tolerance: float = IDENTITY) -> None:
    """Embedding of all rows, up to a shift, and eigenvalues are those of the dense pencil; the certificate too."""
    k = fitted.n_components_
    P, w = dense.dense_solve(Ap, Bp, data.Xc, k)
    np.testing.assert_allclose(sense * fitted.eigenvalues_, w, rtol=0, atol=tolerance * np.abs(w).max())
    Z = fitted.transform(data.X)
    assert gram_distance(Z - Z.mean(axis=0), data.Xc @ P) < tolerance
