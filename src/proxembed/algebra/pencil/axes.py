"""Components of y on X after covariates (principal axes, canonical variates or scores of largest covariance), and their
statistics where rows of y are moved."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from .symmetric import eigenvalues, range_basis

ROUNDING = 1e-9  # directions of X (or y) below this share of its size are rounding
TINY = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Partialled:
    """A matrix with covariates partialled out, ``rest`` (n, d) = U diag(d) V' with ``U`` (n, r) and ``d`` (r,)."""

    rest: np.ndarray
    U: np.ndarray
    d: np.ndarray

    @classmethod
    def of(cls, A: np.ndarray, Q: np.ndarray) -> "Partialled":
        """A less its projection on the orthonormal columns of Q, of which the first ones span the constant."""
        size = np.linalg.norm(A - A.mean(axis=0))
        rest = A - Q @ (Q.T @ A)
        U, d, _ = np.linalg.svd(rest, full_matrices=False)
        keep = d > ROUNDING * size
        return cls(rest, U[:, keep], d[keep])

    def basis(self, ridge: float | str, scale: str) -> np.ndarray:
        """U diag(d / sqrt(d^2 + ridge)), (n, r), of which U U' is the hat matrix of a ridge regression; of a ridge that
        is a word, U. ``scale``: as ``ridge_scale`` of the estimators."""
        if isinstance(ridge, str):
            return self.U
        unit = float(np.sum(self.d**2)) / min(self.rest.shape) if scale == "trace" else 1.0
        return self.U * (self.d / np.sqrt(self.d**2 + ridge * unit))


def covariate_basis(numbers: np.ndarray, level: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the constant, the levels and the numbers, (n, m)."""
    levels = np.eye(int(level.max()) + 1)[level]
    levels /= np.sqrt(levels.sum(axis=0))
    rest = numbers - numbers.mean(axis=0)
    size = np.linalg.norm(rest, axis=0)
    rest = rest[:, size > 0] / size[size > 0]
    for _ in range(2):  # the second time removes the rounding of the first
        rest = rest - levels @ (levels.T @ rest)
    U, s, _ = np.linalg.svd(rest, full_matrices=False)
    return np.hstack([levels, U[:, s > ROUNDING]])


class Axes(ABC):
    """The components of a method, and their statistics where rows of y are moved.

    ``basis`` (n, m + r) is an orthonormal basis of constant and covariates beside one of X (shrunken by a ridge);
    ``moved`` (n, s) holds what permutations move, of which ``residuals`` makes the residuals of a component.
    ``explained``: the squares of y that each component explains, of ``total`` after the covariates."""

    basis: np.ndarray
    moved: np.ndarray
    residuals: list[np.ndarray]
    explained: np.ndarray
    total: float

    @property
    def count(self) -> int:
        """Number of components that are tested."""
        return len(self.residuals)

    def statistics(self, order: np.ndarray | None = None) -> np.ndarray:
        """The pseudo-F of each component, (count,), where row i has the residuals of row order[i]."""
        S = self.moved if order is None else self.moved[order]
        T, G = self.basis.T @ S, S.T @ S
        return np.array([self.value(a, T @ B, B.T @ G @ B) for a, B in enumerate(self.residuals)])

    @abstractmethod
    def value(self, a: int, T: np.ndarray, G: np.ndarray) -> float:
        """The statistic of component a (from 0) of residuals E, by T = basis'E and G = E'E."""


class RedundancyAxes(Axes):
    """Axes of redundancy analysis: the principal components of the fitted values of y."""

    def __init__(self, Q: np.ndarray, U: np.ndarray, y: "Partialled", k: int) -> None:
        Y = y.rest
        W, s, _ = np.linalg.svd(U.T @ Y)
        self.m, U = Q.shape[1], U @ W
        self.total = float(np.sum(Y**2))
        self.df = len(Y) - self.m - float(np.sum(U**2))
        k = min(k, int(np.count_nonzero(s > ROUNDING * np.sqrt(self.total))))
        self.basis, self.moved, self.explained = np.hstack([Q, U]), np.hstack([Y, U[:, :k]]), s[:k] ** 2
        self.residuals = _after_earlier(U[:, :k].T @ Y)

    def value(self, a: int, T: np.ndarray, G: np.ndarray) -> float:
        M = T[self.m + a :]
        rest = np.trace(G) - np.sum(T**2)
        return float(np.linalg.norm(M, 2) ** 2 / (max(rest, TINY * self.total) / self.df))


class CanonicalAxes(Axes):
    """Canonical variates of X and y."""

    def __init__(self, Q: np.ndarray, U: np.ndarray, V: np.ndarray, y: "Partialled", k: int) -> None:
        Y = y.rest
        W, s, B = np.linalg.svd(U.T @ V)
        self.m, U, V = Q.shape[1], U @ W, V @ B.T
        self.total = float(np.sum(Y**2))
        self.df = len(Y) - self.m - float(np.sum(U**2))
        k = min(k, int(np.count_nonzero(s > ROUNDING)))
        self.basis, self.moved, self.explained = np.hstack([Q, U]), V, np.sum((U[:, :k].T @ Y) ** 2, axis=1)
        self.residuals = [np.eye(V.shape[1])[:, a:] for a in range(k)]
        self.ridge = np.eye(V.shape[1]) - V.T @ V

    def value(self, a: int, T: np.ndarray, G: np.ndarray) -> float:
        earlier, M = T[: self.m + a], T[self.m + a :]
        C = M @ range_basis(G - earlier.T @ earlier + self.ridge[a:, a:])
        correlation = eigenvalues(C.T @ C)[0]
        return float(correlation / (max(1 - correlation, TINY) / self.df))


class CovarianceAxes(Axes):
    """Scores of largest covariance with y, each with the earlier ones partialled out of X and y."""

    def __init__(self, Q: np.ndarray, x: "Partialled", y: "Partialled", k: int) -> None:
        Y, U, d = y.rest, x.U, x.d
        self.m, self.n, self.d = Q.shape[1], len(Y), d[:, None]
        self.total = float(np.sum(Y**2))
        products, found = U.T @ Y, np.zeros((len(d), 0))
        explained: list[float] = []
        for _ in range(min(k, len(d), self.n - self.m - 1)):
            t, s = self.score(products, found)
            if s <= ROUNDING * d[0] * np.sqrt(self.total):
                break
            found = np.column_stack([found, t])
            explained.append(float(np.sum((t @ products) ** 2)))
        self.found, self.explained = found, np.array(explained)
        self.basis, self.moved = np.hstack([Q, U]), np.hstack([Y, U @ found])
        self.residuals = _after_earlier(found.T @ products)

    def score(self, products: np.ndarray, earlier: np.ndarray) -> tuple[np.ndarray, float]:
        """The scores of largest covariance in the basis of X, of length 1, and this covariance (times n) for weights of
        length 1."""
        w, s, _ = np.linalg.svd(self.d * (products - earlier @ (earlier.T @ products)), full_matrices=False)
        t = self.d[:, 0] * w[:, 0]
        t = t - earlier @ (earlier.T @ t)
        return t / max(np.linalg.norm(t), TINY * self.d[0, 0]), float(s[0])

    def value(self, a: int, T: np.ndarray, G: np.ndarray) -> float:
        products, earlier = T[self.m :], self.found[:, :a]
        t, _ = self.score(products, earlier)
        explained = float(np.sum((t @ products) ** 2))
        rest = np.trace(G) - np.sum(T[: self.m] ** 2) - np.sum((earlier.T @ products) ** 2) - explained
        return explained / (max(float(rest), TINY * self.total) / (self.n - self.m - a - 1))


def _after_earlier(loadings: np.ndarray) -> list[np.ndarray]:
    """For each component what makes its residuals of y beside the components: y less what earlier ones explain."""
    k, c = loadings.shape
    return [np.vstack([np.eye(c), -loadings[:a], np.zeros((k - a, c))]) for a in range(k)]
