"""Measures of pairs of rows from their inner products and lengths alone: one Gram matrix serves every measure.

In: G = X_q X', the squared lengths and the means of both sides. The rows themselves are not needed, so that rows
centred without being formed, and rows of very many features, are measured like any others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from proxembed.algebra.arrays.pairs import alternative, cosine, gaussian

CONSTANT_ROW = 1e-13
LARGEST_DEGREE = 16


@dataclass(frozen=True)
class Inner:
    """Inner products of m rows with the n rows of a fit.

    ``G`` (m, n); ``a`` (m,) and ``b`` (n,) squared lengths, ``mean_a`` and ``mean_b`` means over the ``d`` features;
    ``d2`` (m, n) squared distances.
    """

    G: np.ndarray
    a: np.ndarray
    b: np.ndarray
    mean_a: np.ndarray
    mean_b: np.ndarray
    d: int
    d2: np.ndarray

    @cached_property
    def level(self) -> np.ndarray:
        """The mean inner product of each row with those of the fit, (m,)."""
        return self.G.mean(axis=1)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(v.nbytes for v in (self.G, self.a, self.b, self.mean_a, self.mean_b, self.d2))


def median_distance(d2: np.ndarray) -> float:
    """Median of the squared distances of the pairs i < j; their mean where it is 0, and 1 where that is 0 too.

    Examples
    --------
    >>> median_distance(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]))
    4.0
    """
    pairs = d2[np.triu_indices(len(d2), 1)]
    return float(np.median(pairs)) or float(pairs.mean()) or 1.0


def measure(kind: str, rows: Inner, level: np.ndarray, value: float | None = None) -> np.ndarray:
    """The measure of the rows with those of the fit, (m, n).  [mu2012defc]

    Parameters
    ----------
    kind : a name of ``features.relation.RELATIONS``.
    rows : inner products of the rows with those of the fit.
    level : (n,) mean inner product of each row of the fit with all of them; needed by the correlation of fewer than
        three features, which is the cosine of centred rows instead.
    value : degree of the polynomial, width of the Gaussian or of the alternative weight.

    Examples
    --------
    >>> two = Inner(np.array([[1.0, 0.0], [0.0, 4.0]]), *[np.array([1.0, 4.0])] * 2, *[np.array([0.3, 0.7])] * 2, 3,
    ...             np.array([[0.0, 5.0], [5.0, 0.0]]))
    >>> measure("gaussian", two, two.G.mean(axis=1), 5.0).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return MEASURES[kind](rows, level, value)


def has_own_order(kind: str) -> bool:
    """Whether a measure orders the pairs in the same way for every value of its parameter.

    >>> has_own_order("gaussian"), has_own_order("polynomial")
    (True, False)
    """
    return kind in ORDERS


def nearness(kind: str, rows: Inner) -> np.ndarray:
    """What orders the pairs as the measure does for every value of its parameter, also where its values have become
    equal by rounding; (m, n), larger is nearer.

    Examples
    --------
    >>> one = Inner(np.ones((1, 2)), *[np.ones(1), np.ones(2)] * 2, 3, np.array([[0.5, 2.0]]))
    >>> nearness("gaussian", one)
    array([[-0.5, -2. ]])
    """
    return ORDERS[kind](rows)


def _dot(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    return rows.G


def _polynomial(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    base = 1.0 + rows.G
    if value != int(value) or value > LARGEST_DEGREE:
        return base**value
    found = base.copy()
    for _ in range(int(value) - 1):  # ten times as fast as **
        found *= base
    return found


def _cosine(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    return cosine(rows.G.copy(), np.sqrt(rows.a)[:, None], np.sqrt(rows.b))


def _tanimoto(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    bottom = rows.a[:, None] + rows.b - rows.G
    return np.divide(rows.G, bottom, out=np.zeros_like(rows.G), where=bottom > 0)


def _euclidean(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    return np.sqrt(rows.d2)


def _gaussian(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    return gaussian(rows.d2, value)


def _alternative(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    return alternative(_share(rows), value)


def _share(rows: Inner) -> np.ndarray:
    """d^2 / (|x|^2 + |p|^2)."""
    total = rows.a[:, None] + rows.b
    return np.divide(rows.d2, total, out=np.zeros_like(total), where=total > 0)


def _correlation(rows: Inner, level: np.ndarray, value: Any) -> np.ndarray:
    if rows.d < 3:
        return _centred_cosine(rows, level)
    G = rows.G - rows.d * rows.mean_a[:, None] * rows.mean_b
    return cosine(G, _centred(rows.a, rows.mean_a, rows.d)[:, None], _centred(rows.b, rows.mean_b, rows.d))


def _centred(squares: np.ndarray, mean: np.ndarray, d: int) -> np.ndarray:
    """Lengths of rows less their own mean; 0 where only rounding is left."""
    left = squares - d * mean**2
    return np.sqrt(np.where(left > CONSTANT_ROW * squares, left, 0.0))


def _centred_cosine(rows: Inner, level: np.ndarray) -> np.ndarray:
    """The cosine of rows less the mean of the rows of the fit."""
    height = float(level.mean())
    own = rows.level
    G = rows.G - own[:, None] - level + height
    a, b = rows.a - 2 * own + height, rows.b - 2 * level + height
    left, right = (np.sqrt(np.where(v > CONSTANT_ROW * w, v, 0.0)) for v, w in ((a, rows.a), (b, rows.b)))
    return cosine(G, left[:, None], right)


MEASURES = {
    "dot": _dot,
    "polynomial": _polynomial,
    "cosine": _cosine,
    "tanimoto": _tanimoto,
    "euclidean": _euclidean,
    "gaussian": _gaussian,
    "alternative": _alternative,
    "correlation": _correlation,
}
ORDERS: dict[str, Callable[[Inner], np.ndarray]] = {
    "gaussian": lambda rows: -rows.d2,
    "alternative": lambda rows: -_share(rows),
}
