"""ReadOut: the linear read-out of numbers from an embedding, the ridge of its method restricted to the components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.centred import CentredMatrix, weighted_mean
from proxembed.algebra.operators.structured import Repeats
from proxembed.algebra.pencil.kernel_rows import KernelRows
from proxembed.algebra.pencil.symmetric import pseudo_inverse

from .explain import centred_products
from .rows import Rows
from .weights import repeated_labels


@dataclass(frozen=True)
class ReadOut:
    """The ridge regression of F on the components: ``scatter`` P'(Xc'Xc + lam I)P (k x k), ``products`` P'Xc'Fc (k x
    c), the ``mean`` (k,) of the embedding of the rows of fit, and which columns of F were ``kept`` (None: all). What it
    predicts does not depend on the scaling of the columns of P."""

    scatter: np.ndarray
    products: np.ndarray
    mean: np.ndarray
    kept: Any = None

    @classmethod
    def of(cls, rows: Rows, R: Any, P: np.ndarray, ridge: float) -> ReadOut:
        """The read-out by components P of the rows that have a known cell, unknown ones at their means. R: the features
        of the rows that P projects, over their unit, or their kernel rows."""
        targets, index, repeats = rows.labels, None, rows.repeats
        if targets.unknown is not None:
            index = np.flatnonzero(targets.rows_any)
            targets = targets.held().take(index).with_means()
            repeats = None if repeats is None else Repeats(repeats.weights[index])
        if repeats is not None:
            targets = repeated_labels(targets, repeats.weights, whole=False)
        scaled, kernel = P * R.unit, isinstance(R, KernelRows)
        penalty = ridge * (R.inner(P) if kernel else matmul(P.T, P)) if ridge else 0.0
        own = R if index is None else R.take(index)
        if index is None and not kernel:
            scatter = rows.score_scatter(R, P)
        else:
            Z = R.dot(scaled)
            Z = Z if index is None else Z[index]
            scatter = matmul(Z.T, Z if repeats is None else repeats.of(Z))
        sums = scaled.T @ own.column_sums() if repeats is None else _weighted_sums(own, scaled, repeats)
        scatter = scatter - np.outer(sums, sums) / targets.n + penalty
        products = centred_products(own, scaled, targets, repeats)
        return cls((scatter + scatter.T) / 2, products, sums / targets.n, rows.labels.kept_columns)

    @classmethod
    def of_scores(
        cls, Z: np.ndarray, F: np.ndarray, kept: Any, ridge: float = 0.0, weights: np.ndarray | None = None
    ) -> ReadOut:
        """The ridge regression of F (n x c) on the embedding Z (n x k) itself. ``weights``: how often each row
        counts."""
        mean, level = (each.mean(axis=0) if weights is None else weighted_mean(each, weights) for each in (Z, F))
        centred = Z - mean
        times = centred if weights is None else weights[:, None] * centred
        scatter = times.T @ centred + ridge * np.eye(Z.shape[1])
        return cls(scatter, times.T @ (F - level), mean, kept)

    def first(self, k: int) -> ReadOut:
        """The read-out of the first k components."""
        return replace(self, scatter=self.scatter[:k, :k], products=self.products[:k], mean=self.mean[:k])

    def along(self, axes: np.ndarray) -> ReadOut:
        """The read-out of the embedding times ``axes`` (k x r)."""
        scatter, products, mean = axes.T @ self.scatter @ axes, axes.T @ self.products, axes.T @ self.mean
        return replace(self, scatter=scatter, products=products, mean=mean)

    @property
    def weights(self) -> np.ndarray:
        """(P'(Xc'Xc + lam I)P)^-1 P'Xc'Fc, k x c."""
        size = np.sqrt(np.clip(np.diag(self.scatter), 0.0, None))
        unit = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        inverse = pseudo_inverse(self.scatter * np.outer(unit, unit), 0.0)
        return unit[:, None] * matmul(inverse, unit[:, None] * self.products)


def _weighted_sums(rows: Any, P: np.ndarray, repeats: Repeats) -> np.ndarray:
    """P'X'w, the sum of the scores of the rows as often as they occur."""
    return rows.tdot_under(P, repeats.weights[:, None])[:, 0]


def projected_rows(problem: Any) -> Any:
    """The rows that a solved problem projects, as a read-out takes them; None where it has none."""
    rows = getattr(problem, "rows", None)
    return rows if isinstance(rows, CentredMatrix | KernelRows) else None
