"""Posteriors of regression weights with diagonal prior precisions: K = diag(p) + X'X / v, a column of p each.

Wanted are means K^-1 X'z / v, the diagonal of K^-1 and log|K^-1|; never an inverse that is not asked for. Routes: a
Cholesky factor for each column on the side of the features or of the rows, one of them for all columns where these
share p, or one eigendecomposition for all columns where p is the same for every feature. Kept inverses serve new
right-hand sides for as long as p stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import svd
from scipy.linalg.blas import dsymm, dsymv
from scipy.linalg.lapack import dpotrf, dpotri

from proxembed.algebra.arrays.blas import add_gram, in_order, matmul, symmetric_from_lower
from proxembed.algebra.arrays.centred import CentredMatrix, block_rows
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.coordinates import Coordinates
from proxembed.algebra.pencil.linear import CHOLESKY_LIMIT, DENSE_LIMIT

JITTER = 1e-10
DUAL_BELOW = 0.55  # rows a feature below which n x n systems are the cheaper ones
KEPT_BYTES = 1 << 29


def spd_inverse(K: np.ndarray) -> tuple[np.ndarray, float]:
    """Lower triangle of K^-1 (Fortran order) and log|K^-1| of a symmetric positive definite K, which is overwritten
    where it is in Fortran order. Where rounding has left K indefinite, 1e-10 of its mean diagonal is added once;
    ValueError where that is too little."""
    diagonal = np.diag(K).copy()
    factor, info = dpotrf(K, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        upper = np.triu(K, 1)  # untouched by the attempt
        whole = np.asfortranarray(upper + upper.T + np.diag(diagonal + JITTER * diagonal.mean()))
        factor, info = dpotrf(whole, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise ValueError(
            "A posterior precision is not positive definite in floating point; scale the features to unit variance."
        )
    logdet = -2.0 * float(np.sum(np.log(np.diag(factor))))
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    return inverse, logdet


def inverse_stack(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """K_i^-1, symmetric to the last bit, and log|K_i^-1| of a stack (b, m, m) of positive definite matrices. Mended
    once or refused like a single one."""
    try:  # numpy's stacks: threads that share out one small matrix would wait for each other
        factor = np.linalg.cholesky(K)
        inverse = np.linalg.inv(K)
        logdet = -2.0 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return 0.5 * (inverse + inverse.transpose(0, 2, 1)), logdet
    except np.linalg.LinAlgError:
        inverse, logdet = np.empty(K.shape), np.empty(len(K))
    for i, one in enumerate(K):
        C, logdet[i] = spd_inverse(np.array(one, order="F"))
        inverse[i] = _whole(C)
    return inverse, logdet


def left_singular(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors of a tall matrix and its singular values, descending."""
    U, s, _ = svd(F, full_matrices=False, check_finite=False)
    return U, s


def _times(C: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The symmetric matrix of a lower triangle times right-hand sides."""
    if right.shape[1] == 1:
        return dsymv(1.0, C, right[:, 0], lower=1)[:, None]
    return dsymm(1.0, C, right, lower=1)


def _shares(factors: int, columns: int) -> list[slice]:
    """The right-hand sides of each factorisation: one of them each, or all of them."""
    return [slice(None)] if factors == 1 else [slice(s, s + 1) for s in range(columns)]


class _ByColumns:
    """A factorisation for each column of prior precisions, or one where all columns share them; threads share out the
    columns."""

    def _take(self, columns: Iterable[tuple[np.ndarray, np.ndarray, float, Any]], keep: bool) -> np.ndarray:
        """Set diagonals, log determinants and kept inverses of the columns, and return their means."""
        parts, diagonals, logdets, kept = zip(*columns, strict=True)
        means = np.hstack(parts)
        served = means.shape[1] // len(parts)
        self.diagonal, self.logdet = np.repeat(np.column_stack(diagonals), served, axis=1), np.repeat(logdets, served)
        self.kept: list[np.ndarray] = list(kept) if keep else []
        return means


class FeaturePosterior(_ByColumns):
    """K^-1 through d x d Cholesky factors, one per column of prior precisions."""

    def __init__(self, X: CentredMatrix, v: float):
        self.X, self.v, self.size = X, v, X.shape[1]
        guard_dense((self.size, self.size), "X'X")
        self.scatter = X.gram() / v
        self.kept: list[np.ndarray] = []

    def refresh(self, P: np.ndarray, Z: np.ndarray, keep: bool) -> np.ndarray:
        """Means (d, R) for prior precisions P, (d, R) or (d, 1), and right-hand sides X'Z / v; the inverses are kept or
        not."""
        right = self.X.tdot(Z) / self.v
        shares = _shares(P.shape[1], Z.shape[1])

        def column(s: int) -> tuple[np.ndarray, np.ndarray, float, Any]:
            K = self.scatter.copy(order="F")
            K[np.diag_indices(self.size)] += P[:, s]
            C, logdet = spd_inverse(K)
            return _times(C, right[:, shares[s]]), np.diag(C).copy(), logdet, C if keep else None

        return self._take(in_order(column, range(P.shape[1]), KEPT_BYTES // (8 * self.size**2)), keep)

    def means(self, Z: np.ndarray) -> np.ndarray:
        """Means (d, R) for other Z under the precisions of the last ``refresh``, which kept its inverses."""
        right = self.X.tdot(Z) / self.v
        shares = _shares(len(self.kept), Z.shape[1])
        return np.hstack([_times(C, right[:, part]) for part, C in zip(shares, self.kept, strict=True)])


class RowPosterior(_ByColumns):
    """K^-1 through n x n Cholesky factors: K^-1 = D - D X'(vI + X D X')^-1 X D with D = diag(1/p)."""

    def __init__(self, X: CentredMatrix, v: float):
        self.X, self.v, self.size = X, v, X.shape[0]
        guard_dense((self.size, self.size), "XX'")
        self.squares = X.column_norms() / v
        self.kept: list[np.ndarray] = []

    def refresh(self, P: np.ndarray, Z: np.ndarray, keep: bool) -> np.ndarray:
        """Means (d, R) for prior precisions P, (d, R) or (d, 1), and right-hand sides X'Z / v; the inverses are kept or
        not."""
        self.D = 1.0 / P
        shares = _shares(P.shape[1], Z.shape[1])

        def column(s: int) -> tuple[np.ndarray, np.ndarray, float, Any]:
            D = self.D[:, s]
            C, logdet = spd_inverse(_outer(self.X, D, self.v))
            logdet += np.log(D).sum() + self.size * np.log(self.v)
            means = D[:, None] * self._back(C, Z[:, shares[s]])
            return means, D - D**2 * _leverage(self.X, C), logdet, C if keep else None

        means = self._take(in_order(column, range(P.shape[1]), KEPT_BYTES // (8 * self.size**2)), keep)
        np.maximum(self.diagonal, 1.0 / (P + self.squares[:, None]), out=self.diagonal)  # (K^-1)_ff >= 1 / K_ff
        return means

    def means(self, Z: np.ndarray) -> np.ndarray:
        """Means (d, R) for other Z under the precisions of the last ``refresh``, which kept its inverses."""
        shares = _shares(len(self.kept), Z.shape[1])
        return self.D * np.hstack([self._back(C, Z[:, part]) for part, C in zip(shares, self.kept, strict=True)])

    def _back(self, C: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return self.X.tdot(_times(C, Z))


class SharedPosterior:
    """K^-1 through one eigendecomposition: the prior precision is one number a column, the same for all features."""

    def __init__(self, X: CentredMatrix, v: float):
        n, d = X.shape
        self.X, self.v, self.d = X, v, d
        side = "features" if d <= n else "rows"
        guard_dense((min(n, d), min(n, d)), "The Gram matrix of X")
        self.basis = Coordinates(X, None, X.gram() if side == "features" else X.outer_gram(), side)
        self.e = self.basis.s**2 / v

    def refresh(self, P: np.ndarray, Z: np.ndarray, keep: bool = True) -> np.ndarray:
        """Means (d, R) for one prior precision per column, P (R,); ``diagonal`` holds the traces of K^-1."""
        whole = self.e[:, None] + P
        null = self.d - len(self.e)
        self.shrink = 1.0 / whole
        self.diagonal = self.shrink.sum(axis=0) + null / P
        self.logdet = -np.log(whole).sum(axis=0) - null * np.log(P)
        return self.means(Z)

    def means(self, Z: np.ndarray) -> np.ndarray:
        """Means (d, R) for other Z under the precisions of the last ``refresh``."""
        if self.basis.side == "features":
            inside = matmul(self.basis.V.T, self.X.tdot(Z))
        else:
            inside = self.basis.s[:, None] * matmul(self.basis.vectors.T, Z)
        return self.basis.back(self.shrink * inside / self.v)


def posterior(X: CentredMatrix, v: float, shared: bool) -> FeaturePosterior | RowPosterior | SharedPosterior:
    """The cheapest route for these sizes. Raises ValueError where both sides are too long: above 5,000 for a precision
    an entry, 10,000 for one per column."""
    n, d = X.shape
    limit = CHOLESKY_LIMIT if shared else DENSE_LIMIT
    if min(n, d) > limit:
        way = "Reduce X to 1,000 principal components" + ("" if shared else ", or use prior='column',")
        raise ValueError(
            f"X of {n:,} rows x {d:,} features needs a factorisation of more than {limit:,} x {limit:,}. {way} first."
        )
    if shared:
        return SharedPosterior(X, v)
    return RowPosterior(X, v) if n < DUAL_BELOW * d else FeaturePosterior(X, v)


def may_keep(rows: FeaturePosterior | RowPosterior | SharedPosterior, columns: int) -> bool:
    """Whether this number of inverses is small enough to be stored between refreshes."""
    return isinstance(rows, SharedPosterior) or 8 * columns * rows.size**2 <= KEPT_BYTES


def ridge_diagonal(X: CentredMatrix, lam: float) -> np.ndarray:
    """Diagonal of (X'X + lam I)^-1, (d,), by the cheaper side."""
    n, d = X.shape
    if d <= n:
        K = np.asfortranarray(X.gram() + lam * np.eye(d))
        return np.diag(spd_inverse(K)[0]).copy()
    K = np.asfortranarray(X.outer_gram() + lam * np.eye(n))
    C = spd_inverse(K)[0]
    return np.maximum((1.0 - _leverage(X, C)) / lam, 1.0 / (lam + X.column_norms()))


def ridge_with_level(
    X: CentredMatrix, T: np.ndarray, lam: float, rows: np.ndarray, times: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (d, c) and level (c,) of min ||XW + 1b' - T||^2 + lam (||W||^2 + ||b||^2) over some rows. ``rows``
    holds their numbers; T is zero in all others. ``times``: how often each of all rows counts (None: once). From X'X,
    X'1 and X'T, or from XX' where the rows are fewer; X is copied only there, and only where some rows are left out."""
    n, d = X.shape
    whole = len(rows) == n
    if d < len(rows):
        chosen = np.zeros(n)
        chosen[rows] = 1.0 if times is None else times[rows]
        T = T if times is None else times[:, None] * T
        K = np.empty((d + 1, d + 1), order="F")
        K[1:, 1:] = X.gram(None if whole and times is None else chosen)
        K[0, 0], K[0, 1:] = chosen.sum(), X.tdot(chosen[:, None])[:, 0]
        K[1:, 0] = K[0, 1:]
        K[np.diag_indices_from(K)] += lam
        C = _whole(spd_inverse(K)[0])
        found = matmul(C, np.vstack([T.sum(axis=0), X.tdot(T)]))
        return found[1:], found[0]
    root = np.ones(len(rows)) if times is None else np.sqrt(times[rows])
    K = np.asfortranarray(((X if whole else X.take(rows)).outer_gram() + 1.0) * np.outer(root, root))
    K[np.diag_indices_from(K)] += lam
    weights = np.zeros(T.shape)
    weights[rows] = root[:, None] * matmul(_whole(spd_inverse(K)[0]), root[:, None] * T[rows])
    return X.tdot(weights), weights.sum(axis=0)


@dataclass(frozen=True)
class TrainingRows:
    """What of the training rows x'K^-1 x needs: X'X, or a copy of X where rows are fewer than 0.55 times features."""

    gram: Any
    X: Any = None

    @classmethod
    def of(cls, X: CentredMatrix) -> TrainingRows:
        """Of the rows of a fit."""
        return cls(None, X.X.copy()) if X.shape[0] < DUAL_BELOW * X.shape[1] else cls(X.gram())

    def quadratic_forms(self, new: Any, P: np.ndarray, v: float) -> np.ndarray:
        """x'K_s^-1 x of new rows x, (m, r), for prior precisions P (d, r) and K_s = diag(P_s) + X'X / v."""
        form = self._by_rows if self.gram is None else self._by_features
        return np.column_stack([form(new, p, v) for p in P.T])

    def _by_features(self, new: Any, p: np.ndarray, v: float) -> np.ndarray:
        K = np.array(self.gram / v, order="F")
        K[np.diag_indices_from(K)] += p
        C = _whole(spd_inverse(K)[0])
        blocks = (rows for _, rows in CentredMatrix(new).blocks())
        return np.concatenate([(matmul(rows, C) * rows).sum(axis=1) for rows in blocks])

    def _by_rows(self, new: Any, p: np.ndarray, v: float) -> np.ndarray:
        """min |x / p^1/2 - p^-1/2 X'y|^2 + v |y|^2: no term is negative, and an error in y counts squared."""
        X, root = CentredMatrix(self.X), np.sqrt(1.0 / p)
        C = _whole(spd_inverse(_outer(X, root**2, v))[0])
        found = []
        for _, rows in CentredMatrix(new).blocks():
            goal = rows * root
            y = matmul(X.dot((rows * root**2).T).T, C)
            rest = goal - X.tdot(y.T).T * root
            y += matmul(X.dot((rest * root).T).T - v * y, C)
            rest = goal - X.tdot(y.T).T * root
            found.append((rest**2).sum(axis=1) + v * (y**2).sum(axis=1))
        return np.concatenate(found)


def _whole(C: np.ndarray) -> np.ndarray:
    """The symmetric matrix of a lower triangle."""
    return np.tril(C) + np.tril(C, -1).T


def _column_blocks(X: CentredMatrix) -> Iterator[tuple[slice, Any]]:
    """Some features of all rows at a time: float64 arrays, or CSR of the features, (width, n), of a sparse X."""
    n, d = X.shape
    features = X.X.T.tocsr() if X.sparse else None
    step = block_rows(n)
    for start in range(0, d, step):
        part = slice(start, min(start + step, d))
        yield part, np.array(X.X[:, part], dtype=np.float64) if features is None else features[part]


def _outer(X: CentredMatrix, D: np.ndarray, v: float) -> np.ndarray:
    """v I + X diag(D) X', in Fortran order."""
    if X.sparse:
        K = np.asfortranarray(CentredMatrix(X.X.multiply(np.sqrt(D)[None, :]).tocsr()).outer_gram())
    else:
        K = np.zeros((X.shape[0],) * 2, order="F")
        for part, rows in _column_blocks(X):
            rows *= np.sqrt(D[part])
            add_gram(K, 1.0, rows.T)
        K = symmetric_from_lower(K)
    K[np.diag_indices_from(K)] += v
    return K


def _leverage(X: CentredMatrix, C: np.ndarray) -> np.ndarray:
    """Diagonal of X'CX for a lower triangle C, some features at a time."""
    C, found = _whole(C), np.empty(X.shape[1])
    for part, rows in _column_blocks(X):
        if X.sparse:
            found[part] = np.asarray(rows.multiply(rows @ C).sum(axis=1)).ravel()
        else:
            found[part] = (matmul(C, rows) * rows).sum(axis=0)
    return found
