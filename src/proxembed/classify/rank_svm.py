"""RankSVM: label scores that put the labels of a row before the others by a margin."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.conjugate import truncated_solution
from proxembed.algebra.pencil.symmetric import descending
from proxembed.pairs.formulas import gaussian
from proxembed.params import param
from proxembed.targets.labels import LabelMatrix

from .label_classifier import UnweightedClassifier
from .ridge import feature_variances, ridge_fit

BLOCK_ENTRIES = 2**22
WIDTH_ROWS = 1000  # from which the width of the kernel is taken
SHARPER, SHARPEST = 4.0, 1e-12  # the hinge is rounded over a width that falls by the one, down to the other
SETTLED = 1e-3  # of the gradient, relative to its parts, at which the hinge is sharpened
CG_TOLERANCE, CG_STEPS = 0.1, 100
ARMIJO, SHORTEST = 1e-4, 1e-6


class RankSVM(UnweightedClassifier):
    """Ranking support vector machine: min 1/2 sum_k ||w_k||^2 + C sum_i mean_(k, l) max(0, 1 - (f_k - f_l)(x_i)).

    Ranks the labels of a row above the other labels, by a margin. The mean is over the pairs of a label k that row i
    has and a label l that it does not have. A threshold t(x), linear in the scores, is fitted by least squares to the
    middle between the labels of each training row and the others; a label is predicted if f_k(x) > t(x), and
    ``decision_function`` returns f - t. With the linear kernel, rows are centred and divided by their root mean square
    distance from the mean, so the meaning of C does not depend on the scale of X; the constant term is penalised like
    the weights. Rows with no label or all labels have no pair and count only for the threshold; rows with unknown
    labels are left out, with a warning. [elisseeff2001yeast]

    The solver takes truncated Newton steps on a hinge that is rounded less and less, down to a relative duality gap of
    ``tol``.

    Attributes
    ----------
    carried_ : bool array of shape (c,)
        The labels that some row of training carries. The others are ranked last and never predicted; the arrays
        below have columns for the carried labels alone.
    coef_, intercept_ : arrays of shape (d, c) and (c,), of the linear kernel
        The scores before the threshold, f(x) = x'coef_ + intercept_.
    dual_coef_ : array of shape (n, c), of the Gaussian kernel
        f(x) = sum_i (k(x, x_i) + 1) dual_coef_[i].
    rows_ : array or sparse array of shape (n, d), of the Gaussian kernel
        The rows x_i with pairs.
    width_ : float
        Width of the Gaussian kernel.
    threshold_ : array of shape (c + 1,)
        t(x) = f(x)'threshold_[:-1] + threshold_[-1].
    n_iter_ : int
        Newton steps.
    gap_ : float
        Relative duality gap of the solution: (primal - dual) / primal.

    Raises
    ------
    ValueError
        A parameter is out of range.

    See Also
    --------
    proxembed.MultiOutputRidge : One linear score per label.
    proxembed.Thresholded : Cuts and probabilities for any classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify import RankSVM
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> RankSVM().fit(X, [[1, 0], [1, 0], [0, 1], [0, 1]]).predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """

    C: float = param(default=100.0, low=1e-300, high=1e300, kw_only=False, doc="Weight of the errors.")
    kernel: str = param(
        default="linear", choices=("linear", "gaussian"), doc="gaussian: exp(-||x - z||^2 / (2 width^2))."
    )
    width: float | None = param(
        default=None,
        above=0,
        choices=(None,),
        doc="Width of the Gaussian kernel; None: the mean distance of two rows, of 1,000 rows evenly spaced.",
    )
    tol: float = param(default=1e-3, above=0, doc="Relative duality gap at which the solver stops.")
    max_iter: int = param(default=1000, low=1, integer=True, doc="Largest number of Newton steps.")

    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        self.carried_ = labels.nk > 0
        X, labels = X.astype(np.float64, copy=False), labels.drop_empty()
        Y = labels.Y.toarray() > 0
        paired = np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))
        self._solve(X[paired], pairs_of(labels.take(paired)))
        F = self._ranks(X)
        self.threshold_ = np.zeros(1)
        if labels.c:
            self.threshold_ = np.append(*ridge_fit(F, middles(F, Y)[:, None], 0.0))

    def _solve(self, X: Any, pairs: Pairs) -> None:
        if self.kernel == "linear":
            mean = np.asarray(X.mean(axis=0)).ravel() if X.shape[0] else np.zeros(X.shape[1])
            length = (np.sqrt(feature_variances(X).sum()) if X.shape[0] else 0.0) or 1.0
            X, mean = X / length, mean / length
            features = Features(
                lambda W: X @ W[:-1] + (W[-1] - mean @ W[:-1]),
                lambda B: np.vstack([X.T @ B - np.outer(mean, total := B.sum(axis=0)), total]),
                X.shape[1] + 1,
            )
        else:
            guard_dense((X.shape[0],) * 2, "the kernel of all rows", remedy="Fit fewer rows, or the linear kernel.")
            self.width_ = mean_distance(X) if self.width is None else float(self.width)
            values, vectors = descending(self._kernel(X, X))
            kept = values > values.max(initial=0.0) * len(values) * np.finfo(float).eps
            root, vectors = np.sqrt(values[kept]), vectors[:, kept]
            features = Features(
                lambda W: vectors @ (root[:, None] * W), lambda B: root[:, None] * (vectors.T @ B), len(root)
            )
        W, self.gap_, self.n_iter_ = solved(features, pairs, float(self.C), self.tol, self.max_iter)
        if self.gap_ > self.tol:
            warnings.warn(
                f"RankSVM has a relative duality gap of {self.gap_:.2g} after {self.n_iter_} steps, above "
                f"tol={self.tol:g}; scale the features, take a smaller C, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if self.kernel == "linear":
            self.coef_, self.intercept_ = W[:-1] / length, W[-1] - mean @ W[:-1]
        else:
            self.rows_, self.dual_coef_ = X, vectors @ (W / root[:, None])

    def _kernel(self, X: Any, rows: Any) -> np.ndarray:
        if rows.shape[0] == 0:
            return np.zeros((X.shape[0], 0))
        return gaussian(euclidean_distances(X, rows, squared=True), 2 * self.width_**2) + 1.0

    def _ranks(self, X: Any) -> np.ndarray:
        """The scores f of checked rows, (m, c)."""
        if self.kernel == "linear":
            return np.asarray(X @ self.coef_) + self.intercept_
        return self._kernel(X, self.rows_) @ self.dual_coef_

    def _scores(self, X: Any) -> np.ndarray:
        F = self._ranks(X)
        S = F - (F @ self.threshold_[:-1] + self.threshold_[-1])[:, None]
        found = np.empty((len(S), len(self.classes_)))
        found[:, self.carried_] = S
        found[:, ~self.carried_] = S.min(axis=1, initial=0.0)[:, None] - 1.0
        return found


class Pairs(NamedTuple):
    """Pairs of a label that a row carries and one that it does not carry: row numbers, both columns, 1 / their
    number."""

    rows: np.ndarray
    carried: np.ndarray
    others: np.ndarray
    shares: np.ndarray
    shape: tuple[int, int]


def pairs_of(labels: LabelMatrix) -> Pairs:
    """The pairs of all rows."""
    n, c = labels.Y.shape
    found, step = [np.zeros((3, 0), dtype=np.intp)], max(1, BLOCK_ENTRIES // max(c * c, 1))
    for start in range(0, n, step):
        Y = labels.Y[start : start + step].toarray() > 0
        found.append(np.nonzero(Y[:, :, None] & ~Y[:, None, :]) + np.array([[start], [0], [0]]))
    rows, carried, others = np.concatenate(found, axis=1)
    return Pairs(rows, carried, others, 1.0 / np.bincount(rows, minlength=n)[rows], (n, c))


class Features(NamedTuple):
    """Rows in a space of ``size`` dimensions, by their products: PW of W (size, c), and P'B of B (n, c)."""

    forward: Callable[[np.ndarray], np.ndarray]
    backward: Callable[[np.ndarray], np.ndarray]
    size: int


def solved(features: Features, pairs: Pairs, C: float, tol: float, max_iter: int) -> tuple[np.ndarray, float, int]:
    """The weights W (size, c), the relative duality gap, and the number of Newton steps. The hinge h(s) = max(0, s), s
    = 1 - (f_k - f_l), is s^2 / (2 mu) up to mu and s - mu / 2 beyond; its derivative is feasible in the dual, max sum a
    - 1/2 ||P'B(a)||^2 under 0 <= a <= C / (number of pairs of the row), where B(a) adds a to the label that is carried
    and takes it from the other one. mu falls as the gradient does."""
    problem = _Problem(features, pairs, C)
    W, mu, steps = np.zeros((features.size, pairs.shape[1])), 1.0, 0
    best, primal, dual = W, np.inf, -np.inf
    if len(pairs.rows) == 0:
        return W, 0.0, 1
    while True:
        slack, square = problem.slack(W), 0.5 * float(np.vdot(W, W))
        a = problem.upper * np.clip(slack / mu, 0.0, 1.0)
        V = features.backward(problem.spread(a))
        value = square + float(problem.upper @ np.maximum(slack, 0.0))
        best, primal = (W, value) if value < primal else (best, primal)
        dual = max(dual, float(a.sum()) - 0.5 * float(np.vdot(V, V)))
        gap = max((primal - dual) / primal, 0.0)
        if gap <= tol or steps == max_iter or mu < SHARPEST:
            return best, gap, max(steps, 1)
        if np.linalg.norm(W - V) <= SETTLED * (np.linalg.norm(W) + np.linalg.norm(V)):
            mu /= SHARPER
            continue
        W, steps = problem.newton(W, slack, W - V, mu), steps + 1


@dataclass(frozen=True)
class _Problem:
    """The rounded sum 1/2 ||W||^2 + upper'h(slack), its curvature and its Newton step."""

    features: Features
    pairs: Pairs
    C: float

    @cached_property
    def upper(self) -> np.ndarray:
        """The weight of each pair, which its dual variable cannot exceed."""
        return self.C * self.pairs.shares

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The cells of the label that is carried, and of the other one, in an (n, c) array."""
        rows, c = self.pairs.rows, self.pairs.shape[1]
        return rows * c + self.pairs.carried, rows * c + self.pairs.others

    def difference(self, W: np.ndarray) -> np.ndarray:
        """f_k - f_l of each pair."""
        carried, others = self.places
        F = np.asarray(self.features.forward(W)).ravel()
        return F[carried] - F[others]

    def slack(self, W: np.ndarray) -> np.ndarray:
        """What each pair lacks of the margin."""
        return 1.0 - self.difference(W)

    def spread(self, a: np.ndarray) -> np.ndarray:
        """B(a), (n, c)."""
        (n, c), (carried, others) = self.pairs.shape, self.places
        return (np.bincount(carried, a, n * c) - np.bincount(others, a, n * c)).reshape(n, c)

    def value(self, W: np.ndarray, mu: float) -> float:
        """The rounded sum."""
        slack = self.slack(W)
        rounded = np.where(slack > mu, slack - mu / 2, np.maximum(slack, 0.0) ** 2 / (2 * mu))
        return 0.5 * float(np.vdot(W, W)) + float(self.upper @ rounded)

    def newton(self, W: np.ndarray, slack: np.ndarray, gradient: np.ndarray, mu: float) -> np.ndarray:
        """W after one step by conjugate gradients and halving."""
        curvature = np.where((slack > 0) & (slack < mu), self.upper / mu, 0.0)

        def product(v: np.ndarray) -> np.ndarray:
            D = v.reshape(W.shape)
            return (D + self.features.backward(self.spread(curvature * self.difference(D)))).ravel()

        step = truncated_solution(product, -gradient.ravel(), CG_TOLERANCE, CG_STEPS).reshape(W.shape)
        start, slope, length = self.value(W, mu), float(np.vdot(gradient, step)), 1.0
        while self.value(W + length * step, mu) > start + ARMIJO * length * slope and length > SHORTEST:
            length /= 2
        return W + length * step


def middles(F: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """For each row the middle of the gap between two scores that separates its labels from the others best. Of several
    gaps with the fewest errors the one after the fewest labels; before the largest score, and after the smallest, a gap
    is 1 wide."""
    order = np.argsort(-F, axis=1, kind="stable")
    ranked, carried = np.take_along_axis(F, order, axis=1), np.take_along_axis(Y, order, axis=1)
    missed = carried.sum(axis=1, keepdims=True) - np.cumsum(carried, axis=1)
    errors = np.column_stack([carried.sum(axis=1), missed + np.cumsum(~carried, axis=1)])
    edges = np.column_stack([ranked[:, 0] + 1.0, ranked, ranked[:, -1] - 1.0])
    cut, rows = errors.argmin(axis=1), np.arange(len(F))
    return (edges[rows, cut] + edges[rows, cut + 1]) / 2


def mean_distance(X: Any) -> float:
    """The mean Euclidean distance of two rows, of at most 1,000 evenly spaced ones; 1 where all are equal."""
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], WIDTH_ROWS)).astype(int))]
    distances = euclidean_distances(some) if some.shape[0] else np.zeros((0, 0))
    mean = float(distances.sum()) / max(some.shape[0] * (some.shape[0] - 1), 1)
    return mean if mean > 0 and np.isfinite(mean) else 1.0
