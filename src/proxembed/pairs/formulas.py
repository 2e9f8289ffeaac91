"""PairMeasure: a measure of two rows as one object, and MEASURES, all of them.

Each list of measures elsewhere (relation features, kernels, weights of edges, switches of DEFC, similarities of label
sets and of their latent points) is a selection of MEASURES: a new measure is one more object.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.matrix import mid_ranks, over, row_norms, unit_of
from proxembed.params import keyword_arguments

CONSTANT_ROW = 1e-13
LARGEST_DEGREE = 16
FAINT = 1e-290  # squared lengths below it have too few digits


def cosine(dots: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x'p / (|x| |p|) from inner products and lengths, 0 where a row is zero; ``dots`` is overwritten."""
    for lengths in (a, b):
        np.divide(dots, lengths, out=dots, where=lengths > 0)
    np.copyto(dots, 0.0, where=(a == 0) | (b == 0))
    return np.clip(dots, -1.0, 1.0, out=dots)


def gaussian(d2: np.ndarray, tau: float) -> np.ndarray:
    """exp(-d^2 / tau), no factor 2, no square on tau; 0 far away.  [mu2012mesd]"""
    with np.errstate(under="ignore"):
        return np.exp(-(d2 / tau))


def ratio(a: np.ndarray | float, b: np.ndarray) -> np.ndarray:
    """a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=b != 0)


def weights_gaussian(distance: np.ndarray, tau: float) -> np.ndarray:
    """exp(-d^2 / tau) from distances of any size, without overflow."""
    unit = unit_of(np.sqrt([tau]))
    with np.errstate(over="ignore", under="ignore"):
        return gaussian(over(distance, unit) ** 2, tau / (unit * unit))


def weights_local_scaling(distance: np.ndarray, tau: float, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """exp(-d^2 / (s_i s_j)) from the scales of both ends; where one is 0, 1 at distance 0 and else 0: equation (8).
    [mu2012mesd]"""
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        exponent = (distance / left) * (distance / right)
        return np.where((left > 0) & (right > 0), np.exp(-exponent), (distance == 0) * 1.0)


def weights_alternative(distance: np.ndarray, tau: float, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """1 / (tau + d^2 / (h_i^2 + h_j^2)) from the squared lengths of both rows; 1/tau for two zero rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = left + right
        unknown = np.where(np.asarray(distance) > 0, np.nan, 0.0)
        share = np.divide(distance**2, total, out=unknown, where=total > FAINT)
    return _alternative_of_share(share, tau)


class Pairs(Protocol):
    """A block of pairs of rows, left ones with right ones, as the formulas read it: arrays that broadcast."""

    @property
    def dots(self) -> np.ndarray:
        """Inner products, free to be overwritten."""

    @property
    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Squared lengths of the left and of the right rows."""

    @property
    def d2(self) -> np.ndarray:
        """Squared distances."""

    def cosine(self) -> np.ndarray:
        """Cosines, 0 where a row is zero."""

    def correlation(self) -> np.ndarray:
        """Cosines of the rows less their own mean."""

    def concordance(self) -> np.ndarray:
        """Kendall's tau-b of the features of both rows, 0 where a row is constant."""

    def power(self, degree: float) -> np.ndarray:
        """(1 + x'p)^degree."""

    def local_scales(self, n_scale: int, scale: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Distances of the left and of the right rows to their ``n_scale``-th nearest right row."""


def _dot(pairs: Pairs) -> np.ndarray:
    return pairs.dots


def _polynomial(pairs: Pairs, *, degree: float = 2.0) -> np.ndarray:
    return pairs.power(degree)


def _cosine(pairs: Pairs) -> np.ndarray:
    return pairs.cosine()


def _tanimoto(pairs: Pairs) -> np.ndarray:
    dots, (left, right) = pairs.dots, pairs.squares
    bottom = left + right - dots
    return np.divide(dots, bottom, out=np.zeros_like(dots, dtype=np.float64), where=bottom > 0)


def _euclidean(pairs: Pairs) -> np.ndarray:
    return np.sqrt(pairs.d2)


def _gaussian(pairs: Pairs, *, tau: float) -> np.ndarray:
    return gaussian(pairs.d2, tau)


def _alternative(pairs: Pairs, *, tau: float = 1.0) -> np.ndarray:
    return _alternative_of_share(_share(pairs), tau)


def _alternative_of_share(share: np.ndarray, tau: float) -> np.ndarray:
    """1 / (tau + share), share = d^2 / (|x|^2 + |p|^2) from 0 to 2: equation (9).  [mu2012mesd]"""
    return 1.0 / (tau + share)


def _share(pairs: Pairs) -> np.ndarray:
    """d^2 / (|x|^2 + |p|^2), 0 for two zero rows."""
    left, right = pairs.squares
    total = left + right
    return np.divide(pairs.d2, total, out=np.zeros_like(total), where=total > 0)


def _correlation(pairs: Pairs) -> np.ndarray:
    return pairs.correlation()


def _concordance(pairs: Pairs) -> np.ndarray:
    return pairs.concordance()


def _local_scaling(pairs: Pairs, *, n_scale: int = 7, scale: np.ndarray | None = None) -> np.ndarray:
    return weights_local_scaling(np.sqrt(pairs.d2), 1.0, *pairs.local_scales(n_scale, scale))


def _dice(pairs: Pairs) -> np.ndarray:
    left, right = pairs.squares
    return ratio(2.0 * pairs.dots, left + right)


def _hamming_linear(pairs: Pairs, *, tau: float) -> np.ndarray:
    return 1.0 - pairs.d2 / tau


def _dot_slopes(X: Any, P: Any, K: np.ndarray) -> tuple[np.ndarray, None]:
    return np.ones_like(K), None


def _polynomial_slopes(X: Any, P: Any, K: np.ndarray, *, degree: float = 2) -> tuple[np.ndarray, None]:
    G = np.asarray((X @ P.T).todense() if sp.issparse(X) else X @ P.T)
    return degree * (1.0 + G) ** (degree - 1.0), None


def _gaussian_slopes(X: Any, P: Any, K: np.ndarray, *, tau: float) -> tuple[np.ndarray, np.ndarray]:
    return (2.0 / tau) * K, (-2.0 / tau) * K


def _cosine_slopes(X: Any, P: Any, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths, others = row_norms(X)[:, None], row_norms(P)
    turning = np.divide(K, lengths**2, out=np.zeros_like(K), where=lengths > 0)
    product = lengths * others
    return np.divide(1.0, product, out=np.zeros_like(K), where=product > 0), -turning


@dataclass(frozen=True)
class PairMeasure:
    """A measure of two rows: its formulas, and what each use of it must know. Everything but ``formula`` is optional.
    ``uses``: use -> the name there, of "relation" (relation features), "kernel" (positive semidefinite), "edge"
    (weights of a graph), "latent" (latent points of label sets), "sets" (label sets) and "label kernel".
    ``values(pairs, **params)``: the measure of a block of ``Pairs``; its keyword arguments are the parameters.
    ``weight(distance, tau, *ends)``: weights of edges; ``ends`` names what it takes of both rows, if anything: their
    local "scales" or "squares". An edge weight without it is a cosine of rows, after ``rows``; less their own mean if
    ``centred``. ``slopes(X, P, K, **params)``: the factors of p and of x in the gradient by x, (m, p) each, K the
    values. ``order(pairs)``: what orders pairs as the measure does for every value of its parameter; larger is
    nearer."""

    formula: str
    uses: Mapping[str, str]
    values: Callable[..., np.ndarray] | None = None
    weight: Callable[..., np.ndarray] | None = None
    ends: str | None = None
    slopes: Callable[..., Any] | None = None
    order: Callable[[Any], np.ndarray] | None = None
    rows: Callable[[Any], Any] = field(default=lambda X: X)
    centred: bool = False
    distance: bool = False  # smaller is nearer
    from_products: bool = False  # inner products and lengths suffice: a switch of DEFC
    letter: str | None = None  # of its parameter in DEFC
    median_width: bool = False  # tau is the median squared distance by default, else 1
    unbounded: bool = False  # relation features are divided by the largest of the training rows

    @cached_property
    def params(self) -> dict[str, Any]:
        """The parameters with their defaults; ``inspect.Parameter.empty`` for one that is needed."""
        return {} if self.values is None else keyword_arguments(self.values)

    def settings(self, **given: Any) -> dict[str, Any]:
        """Those of the given parameters that the measure takes."""
        return {name: value for name, value in given.items() if name in self.params}

    @property
    def signed(self) -> bool:
        """Whether it is a cosine of rows as an edge weight, from -1 to 1."""
        return self.weight is None and "edge" in self.uses


MEASURES = (
    PairMeasure("1", {"edge": "constant"}, weight=lambda distance, tau: np.ones(np.shape(distance))),
    PairMeasure(
        "x'p",
        {"relation": "dot", "kernel": "linear", "sets": "and", "label kernel": "linear"},
        _dot, slopes=_dot_slopes, from_products=True,
    ),
    PairMeasure(
        "(1 + x'p)^degree",
        {"relation": "polynomial", "kernel": "polynomial"},
        _polynomial, slopes=_polynomial_slopes, from_products=True, letter="p", unbounded=True,
    ),
    PairMeasure(
        "x'p / (|x| |p|), 0 where a row is zero",
        {"relation": "cosine", "kernel": "cosine", "edge": "cosine", "latent": "cosine", "sets": "cosine",
         "label kernel": "cosine"},
        _cosine, slopes=_cosine_slopes, from_products=True,
    ),
    PairMeasure(
        "2 x'p / (|x|^2 + |p|^2)", {"sets": "dice"}, _dice,
    ),
    PairMeasure(
        "2 x'N^-1 p / (|x|^2 + |p|^2): a shared label counts one over the rows that have it",
        {"sets": "scaled_dice"}, _dice,
    ),
    PairMeasure(
        "x'p / (|x|^2 + |p|^2 - x'p), 0 for two zero rows; the Jaccard index of 0/1 rows",
        {"relation": "tanimoto", "latent": "tanimoto", "sets": "jaccard", "label kernel": "tanimoto"},
        _tanimoto, from_products=True,
    ),
    PairMeasure("|x - p|", {"relation": "euclidean"}, _euclidean, from_products=True, distance=True),
    PairMeasure(
        "exp(-|x - p|^2 / tau)",
        {"relation": "gaussian", "kernel": "gaussian", "edge": "gaussian", "latent": "gaussian", "sets": "hamming",
         "label kernel": "rbf"},
        _gaussian, weights_gaussian, slopes=_gaussian_slopes, order=lambda pairs: -pairs.d2,
        from_products=True, letter="sigma", median_width=True,
    ),
    PairMeasure(
        "1 / (tau + |x - p|^2 / (|x|^2 + |p|^2)), 1/tau for two zero rows; not translation invariant",
        {"relation": "alternative", "edge": "alternative", "latent": "alternative"},
        _alternative, weights_alternative, "squares", order=lambda pairs: -_share(pairs),
        from_products=True, letter="tau",
    ),
    PairMeasure(
        "cosine of the rows less their own mean, 0 where a row is constant",
        {"relation": "correlation", "edge": "pearson", "latent": "pearson"},
        _correlation, centred=True, from_products=True,
    ),
    PairMeasure(
        "correlation of the mid-ranks of each row",
        {"relation": "spearman", "edge": "spearman", "latent": "spearman"},
        _correlation, rows=lambda X: mid_ranks(X).astype(np.float64, copy=False), centred=True,
    ),
    PairMeasure(
        "exp(-|x - p|^2 / (s_x s_p)), s the distance to the n_scale-th nearest row that differs",
        {"relation": "local_scaling", "edge": "local_scaling", "latent": "local_scaling"},
        _local_scaling, weights_local_scaling, "scales",
    ),
    PairMeasure(
        "tau-b of the features of both rows, 0 where a row is constant",
        {"relation": "kendall", "edge": "kendall", "latent": "kendall"}, _concordance, centred=True,
    ),
    PairMeasure(
        "exp(-g^2 / tau), g the shortest path",
        {"edge": "geodesic", "latent": "geodesic"}, weight=weights_gaussian, median_width=True,
    ),
    PairMeasure("exp(-sum |x - p|^power / tau)", {"latent": "minkowski"}, median_width=True),
    PairMeasure("1 - |x - p|^2 / tau, tau the number of labels", {"sets": "hamming_linear"}, _hamming_linear),
)  # fmt: skip


def measures_for(use: str) -> dict[str, PairMeasure]:
    """The measures of one use by their names there."""
    return {measure.uses[use]: measure for measure in MEASURES if use in measure.uses}


RELATIONS = measures_for("relation")


@dataclass(frozen=True)
class SetPairs:
    """Pairs of label sets by the labels they share and their sizes."""

    dots: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @property
    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """The sizes of both sets."""
        return self.left, self.right

    @property
    def d2(self) -> np.ndarray:
        """Number of labels in which the two sets differ."""
        return self.left + self.right - 2.0 * self.dots

    def cosine(self) -> np.ndarray:
        """Shared labels over the root of the product of the sizes, 0 where a set is empty."""
        return ratio(self.dots, np.sqrt(self.left * self.right))


@dataclass(frozen=True)
class InnerProducts:
    """Inner products of m rows with the n rows of a fit, and what else measures read: the rows themselves may be
    centred without being formed, or have very many features. ``G`` (m, n); ``a`` (m,) and ``b`` (n,) squared lengths,
    ``mean_a`` and ``mean_b`` means over the ``d`` features; ``d2`` (m, n) squared distances; ``fit_level`` (n,) mean
    inner product of each row of the fit with all of them."""

    G: np.ndarray
    a: np.ndarray
    b: np.ndarray
    mean_a: np.ndarray
    mean_b: np.ndarray
    d: int
    d2: np.ndarray
    fit_level: np.ndarray | None = None

    @cached_property
    def level(self) -> np.ndarray:
        """The mean inner product of each row with those of the fit, (m,)."""
        return self.G.mean(axis=1)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(v.nbytes for v in (self.G, self.a, self.b, self.mean_a, self.mean_b, self.d2))

    @property
    def dots(self) -> np.ndarray:
        """A copy of the inner products."""
        return self.G.copy(order="K")

    @property
    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Squared lengths of both sides."""
        return self.a[:, None], self.b

    def cosine(self) -> np.ndarray:
        """Cosines, 0 where a row is zero."""
        return cosine(self.G.copy(), np.sqrt(self.a)[:, None], np.sqrt(self.b))

    def power(self, degree: float) -> np.ndarray:
        """(1 + x'p)^degree; repeated products are ten times as fast as ``**``."""
        base = 1.0 + self.G
        if degree != int(degree) or degree > LARGEST_DEGREE:
            return base**degree
        product = base.copy()
        for _ in range(int(degree) - 1):
            product *= base
        return product

    def correlation(self) -> np.ndarray:
        """Cosines of the rows less their own mean; of fewer than three features, less the mean row of the fit."""
        if self.d >= 3:
            G = self.G - self.d * self.mean_a[:, None] * self.mean_b
            left, right = self.a - self.d * self.mean_a**2, self.b - self.d * self.mean_b**2
        else:
            own, level = self.level, np.asarray(self.fit_level)
            height = float(level.mean())
            G = self.G - own[:, None] - level + height
            left, right = self.a - 2 * own + height, self.b - 2 * level + height
        lengths = (
            np.sqrt(np.where(v > CONSTANT_ROW * w, v, 0.0)) for v, w in ((left, self.a), (right, self.b))
        )  # 0 if only rounding is left
        return cosine(G, next(lengths)[:, None], next(lengths))


def measure_products(kind: str, products: InnerProducts, level: np.ndarray, value: float | None = None) -> np.ndarray:
    """The measure ``kind`` of ``products``, (m, n); ``level`` as ``fit_level``, ``value`` of its parameter.
    [mu2012defc]"""
    measure: Any = RELATIONS[kind]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return measure.values(replace(products, fit_level=level), **dict.fromkeys(measure.params, value))


def median_or_mean(d2: np.ndarray) -> float:
    """The median of squared distances; their mean if it is 0, and 1 if that is 0 too or there is none."""
    return (float(np.median(d2)) or float(d2.mean()) or 1.0) if d2.size else 1.0
