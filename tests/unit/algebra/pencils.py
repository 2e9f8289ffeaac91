"""Templates beside the dense pencils they stand for, written with numpy alone: what the solver tests compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

import strategies
from oracles.dense import row_space, trace_ridge
from proxembed.algebra.operators.structured import Centering, Identity, LowRank, Operator, Sparse
from proxembed.algebra.template import Template


@dataclass(frozen=True)
class Setting:
    """Features, the template on them, and A, B (n x n), the offset weights and a, b of the same problem as arrays."""

    X: object
    template: Template
    A: np.ndarray
    B: np.ndarray | None

    @property
    def rows(self) -> np.ndarray:
        """The shifted rows, dense."""
        X = np.asarray(self.X.toarray() if sparse.issparse(self.X) else self.X, dtype=float)
        w = self.template.offset
        return X if w is None else X - w @ X / w.sum()

    @property
    def weighted_rows(self) -> np.ndarray:
        w = self.template.offset
        return self.rows if w is None else np.sqrt(w)[:, None] * self.rows

    @property
    def basis(self) -> np.ndarray:
        """Orthonormal d x r basis of the row space that solutions live in."""
        return row_space(self.weighted_rows)

    @property
    def objective(self) -> np.ndarray:
        """Ap, d x d."""
        return self.rows.T @ self.A @ self.rows + self.template.a * np.eye(self.rows.shape[1])

    def constraint(self, ridge: float = 0.0, scale: str = "absolute") -> np.ndarray:
        """Bp, d x d, with its ridge: none where B is not there."""
        Bp = self.template.b * np.eye(self.rows.shape[1])
        if self.B is None:
            return Bp
        scatter = self.rows.T @ self.B @ self.rows
        if scale == "trace":
            w = self.template.offset
            seen = self.rows if w is None else self.rows[w > 0]
            ridge = trace_ridge(scatter, seen, ridge) + ridge * self.template.b
        return Bp + scatter + ridge * np.eye(len(Bp))


FEATURES = {
    "tall": strategies.features_dense(60, 24, 1),
    "wide": strategies.features_dense(24, 60, 2),
    "tall sparse": strategies.features_text(60, 30, 3),
    "wide sparse": strategies.features_text(24, 70, 4),
    "tall float32": strategies.features_dense(60, 24, 5).astype(np.float32),
}


def graph(n: int) -> np.ndarray:
    W = np.random.default_rng(n).random((n, n)) * (np.random.default_rng(n + 1).random((n, n)) < 0.3)
    return W + W.T


def row_weights(n: int, offset: str) -> np.ndarray | None:
    return {"none": None, "uniform": np.ones(n), "weighted": 0.3 + np.random.default_rng(n).random(n)}[offset]


def objective(kind: str, n: int, w: np.ndarray | None) -> tuple[Operator, np.ndarray]:
    """A: of low rank and positive, of low rank and of both signs, or of full rank."""
    Y = strategies.labels_multi(n, 4, n)
    J = np.eye(n) if w is None else np.eye(n) - np.outer(w, np.ones(n)) / w.sum()
    if kind == "labels":
        return LowRank(sparse.csc_array(Y), center=w), J @ Y @ Y.T @ J.T
    if kind == "both signs":
        S = np.array([2.0, -1.0, 1.5, -0.5])
        return LowRank(sparse.csc_array(Y), S, center=w), J @ Y @ np.diag(S) @ Y.T @ J.T
    W = graph(n)
    if kind == "graph":
        return Sparse(W) + LowRank(Y, center=w), W + J @ Y @ Y.T @ J.T
    H = np.eye(n) - 1 / n
    return 0.4 * Centering() + 0.6 * LowRank(Y, center=w), 0.4 * H + 0.6 * J @ Y @ Y.T @ J.T  # kind "mixed"


def constraint(kind: str, n: int, w: np.ndarray | None) -> tuple[Operator | None, np.ndarray | None]:
    """B: not there, the total scatter, or the scatter within classes."""
    if kind == "none":
        return None, None
    w = np.ones(n) if w is None else w
    if kind == "total":
        return Centering(w), np.diag(w) - np.outer(w, w) / w.sum()
    Y = strategies.one_hot(strategies.labels_classes(n, 4, n))
    N = np.diag(1 / Y.sum(axis=0))
    return Identity(n) - LowRank(sparse.csc_array(Y), np.diag(N).copy()), np.eye(n) - Y @ N @ Y.T


def setting(features: str, A: str = "labels", B: str = "total", offset: str = "uniform", b: float = 1.0) -> Setting:
    X = FEATURES[features]
    w = row_weights(X.shape[0], offset)
    (op_A, array_A), (op_B, array_B) = objective(A, X.shape[0], w), constraint(B, X.shape[0], w)
    return Setting(X, Template(op_A, op_B, b=b, offset=w), array_A, array_B)
