"""Scalings of the rows or columns of X: each kind is a fit function that returns a state; one function applies it.

Statistics come from the rows given to ``scaling_fit`` only; ``scaling_apply`` uses nothing but the state and the
rows it is given. Sparse X stays sparse for "none", "unit", "standard" and "tfidf", gives dense scores without being
densified for "pca" and "whiten", and is densified under a size guard for "center" and "quantile".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import QuantileTransformer

from proxembed.algebra.arrays.blas import by_columns
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import (
    MAX_DENSE_BYTES,
    Matrix,
    divide_rows,
    float_matrix,
    guard_dense,
    over,
    row_blocks,
    row_norms,
    unit_of,
)
from proxembed.algebra.pencil.eigen import principal_axes
from proxembed.params import call_user_function, check_arguments, keyword_arguments
from proxembed.tables import RawRows, TableRows

QUANTILES = 1000  # of a column, at most
BY_SUMS = ("center", "standard")  # kinds that rows in blocks can have, by their ``ColumnSums``
WEIGHTED = (*BY_SUMS, "pca", "whiten", "tfidf", "quantile")  # kinds whose statistics count rows
WORDS = 0.2  # the largest share of nonzero entries of a dense matrix of words


@dataclass(frozen=True)
class ScalingState:
    """What a scaling has learned: the steps in the order in which rows go through them, absent ones None or False. The
    steps are: sublinear, minus mean, over std, times idf, times axes, unit length; or quantiles to normal scores."""

    kind: str
    n_features: int
    mean: np.ndarray | None = None
    std: np.ndarray | None = None
    idf: np.ndarray | None = None
    axes: np.ndarray | None = None
    sublinear: bool = False
    unit: bool = False
    quantiles: np.ndarray | None = None

    @property
    def n_features_out(self) -> int:
        """Number of columns after the scaling."""
        return self.n_features if self.axes is None else self.axes.shape[1]


@dataclass(frozen=True)
class ColumnSums:
    """n rows, and of each column the mean, the sum of squares about it, the largest and the smallest entry. ``sparse``
    says whether the rows are; sums are float64, in two passes."""

    n: float
    mean: np.ndarray
    squares: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    sparse: bool

    @classmethod
    def of(cls, X: Matrix, sample_weight: np.ndarray | None = None) -> ColumnSums:
        """The sums of an array or CSR matrix, each row as often as it occurs."""
        w, sparse = sample_weight, sp.issparse(X)
        n = X.shape[0] if w is None else float(w.sum())
        largest, smallest = X.max(axis=0), X.min(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = X.sum(axis=0, dtype=np.float64) if w is None else X.T @ w
            mean = np.asarray(sums).reshape(-1) / n
            if sparse:
                largest, smallest = largest.toarray().reshape(-1), smallest.toarray().reshape(-1)
                squares = _sparse_squares(X, mean, w)
            else:
                total, squares = np.zeros_like(mean), np.zeros_like(mean)
                for rows in row_blocks(X.shape[0], X.shape[1]):
                    difference = X[rows] - mean
                    own = difference if w is None else difference * w[rows, None]
                    total += own.sum(axis=0)
                    squares += np.einsum("ij,ij->j", difference, own)
                mean += total / n
        return cls(n, mean, squares, largest, smallest, sparse)

    @classmethod
    def beside(cls, parts: Sequence[ColumnSums]) -> ColumnSums:
        """The sums of columns of the same rows, side by side."""
        names = ("mean", "squares", "largest", "smallest")
        mean, squares, largest, smallest = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        return cls(parts[0].n, mean, squares, largest, smallest, parts[0].sparse)

    def of_columns(self, places: Sequence[int]) -> ColumnSums:
        """The sums of some of the columns."""
        mean, squares, largest, smallest = (
            each[places] for each in (self.mean, self.squares, self.largest, self.smallest)
        )
        return ColumnSums(self.n, mean, squares, largest, smallest, self.sparse)

    def merged(self, other: ColumnSums) -> ColumnSums:
        """The sums of these rows and others.  [chan1983variance]"""
        n, difference = self.n + other.n, other.mean - self.mean
        return ColumnSums(
            n,
            self.mean + other.n / n * difference,
            self.squares + other.squares + self.n * other.n / n * difference**2,
            np.maximum(self.largest, other.largest),
            np.minimum(self.smallest, other.smallest),
            self.sparse,
        )

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations (n - 1; 1 where a column is constant)."""
        with np.errstate(over="ignore", invalid="ignore"):
            std = np.sqrt(np.maximum(self.squares, 0.0) / max(self.n - 1, 1))
        constant = self.largest == self.smallest
        mean, std = np.where(constant, self.largest, self.mean), np.where(constant | (std == 0), 1.0, std)
        if (bad := np.flatnonzero(~(np.isfinite(mean) & np.isfinite(std)))).size:
            raise ValueError(f"X has a column (number {bad[0]}) whose moments overflow: divide it by its size first.")
        return mean, std

    def state(self, kind: str) -> ScalingState:
        """The scaling of one of ``BY_SUMS``, which need no more of the rows than this."""
        mean, std = self.moments()
        kept = mean if kind == "center" or not self.sparse else None
        return ScalingState(kind, len(mean), mean=kept, std=std if kind == "standard" else None)


def scaled_by_sums(step: Any) -> bool:
    """Whether a step of a pipeline is a scaling that a fit by parts learns from all rows."""
    return getattr(step, "kind", None) in BY_SUMS


def _sparse_squares(X: sp.csr_array, mean: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
    """Sum of (x - mean)^2 over each column, the zeros that are not stored included."""
    squares, times = (X.data - mean[X.indices]) ** 2, None
    if sample_weight is not None:
        times = np.repeat(sample_weight, np.diff(X.indptr))
        squares = times * squares
    n = X.shape[0] if sample_weight is None else sample_weight.sum()
    counts = np.bincount(X.indices, times, minlength=X.shape[1])
    return np.bincount(X.indices, squares, minlength=X.shape[1]) + (n - counts) * mean**2


def scaling_none(X: Matrix) -> ScalingState:
    """No scaling: rows pass as they are."""
    return ScalingState("none", X.shape[1])


def scaling_unit(X: Matrix) -> ScalingState:
    """Unit rows, s^-1 X with s_i = |x_i|; zero rows stay zero.  [mu2012defc]"""
    return ScalingState("unit", X.shape[1], unit=True)


def scaling_center(
    X: Matrix, *, max_dense_bytes: int = MAX_DENSE_BYTES, sample_weight: np.ndarray | None = None
) -> ScalingState:
    """Centred columns, J X; a sparse X becomes dense, within max_dense_bytes.  [mu2012defc]"""
    if sp.issparse(X):
        _check_centred(X, max_dense_bytes)
    return ColumnSums.of(X, sample_weight).state("center")


def scaling_standard(X: Matrix, *, sample_weight: np.ndarray | None = None) -> ScalingState:
    """Standardised columns, J X z^-1 with z the standard deviations (n - 1; 1 for a constant column). [mu2012defc] A
    sparse X is divided by z and not centred, so that it stays sparse: the methods centre for themselves."""
    return ColumnSums.of(X, sample_weight).state("standard")


def scaling_pca(X: Matrix, *, pca_var: float = 1.0, sample_weight: np.ndarray | None = None) -> ScalingState:
    """Principal component scores, J X V, all components with a nonzero eigenvalue. [mu2012defc] ``pca_var`` below 1
    keeps the fewest leading components with that share of the variance. A sparse X is not densified: its scores are X V
    - mean V."""
    mean, V, _ = _principal(X, "pca", pca_var, sample_weight)
    return ScalingState("pca", X.shape[1], mean=mean, axes=V)


def scaling_whiten(X: Matrix, *, pca_var: float = 1.0, sample_weight: np.ndarray | None = None) -> ScalingState:
    """Whitened scores, J X V lam^-1/2 (lam the eigenvalues of the covariance, n - 1): covariance I.  [mu2012defc]"""
    mean, V, s = _principal(X, "whiten", pca_var, sample_weight)
    n = X.shape[0] if sample_weight is None else sample_weight.sum()
    return ScalingState("whiten", X.shape[1], mean=mean, axes=V * (np.sqrt(max(n - 1, 1)) / s))


def scaling_tfidf(X: Matrix, *, sample_weight: np.ndarray | None = None) -> ScalingState:
    """Sublinear tf-idf of counts: (1 + log tf) (1 + log((1 + n) / (1 + df))), unit rows. Entries must be 0 or at least
    1; sparse X stays sparse."""
    _check_counts(X)
    w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    df = np.asarray((X != 0).T @ w).ravel()
    idf = np.log((1.0 + w.sum()) / (1.0 + df)) + 1.0
    return ScalingState("tfidf", X.shape[1], idf=idf, sublinear=True, unit=True)


def scaling_quantile(X: Matrix, sample_weight: np.ndarray | None = None) -> ScalingState:
    """Normal scores: each column by its quantiles to a standard normal distribution, by scikit-learn. At most 1,000
    quantiles of all rows, between which values are interpolated; beyond the first and last the scores end at -5.2 and
    5.2. A sparse X becomes dense, within 2 GiB."""
    dense, n = _dense(X, MAX_DENSE_BYTES), X.shape[0]
    if sample_weight is None:
        found = QuantileTransformer(n_quantiles=min(QUANTILES, n), output_distribution="normal", subsample=None)
        found.fit(dense)
        return ScalingState("quantile", X.shape[1], quantiles=np.asarray(found.quantiles_, dtype=np.float64))
    w = sample_weight[present := np.flatnonzero(sample_weight)]
    references = np.linspace(0, 1, min(QUANTILES, max(len(w), round(float(w.sum())))))
    columns = [_weighted_quantiles(column, w, references) for column in np.asarray(dense, np.float64)[present].T]
    return ScalingState("quantile", X.shape[1], quantiles=np.stack(columns, axis=1))


def _weighted_quantiles(values: np.ndarray, w: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Linear quantiles of values that occur ``w`` times each: of whole numbers of times those of the copies."""
    order = np.argsort(values, kind="stable")
    last = np.cumsum(w[order])
    first = last - w[order]
    places = np.stack([first, np.maximum(last - 1, first)], axis=1).ravel()
    return np.interp(references * places[-1], places, np.repeat(values[order], 2))


SCALINGS: dict[str, Callable[..., ScalingState]] = {
    "none": scaling_none,
    "unit": scaling_unit,
    "center": scaling_center,
    "standard": scaling_standard,
    "pca": scaling_pca,
    "whiten": scaling_whiten,
    "tfidf": scaling_tfidf,
    "quantile": scaling_quantile,
}


def scaling_choices(X: Any) -> tuple[str, ...]:
    """Scalings that a search tries beside the one that suits the features, those of ``scaling_kinds`` among them. Of
    the rows of a table they follow its encoding, after which "none" is the usual one."""
    if isinstance(X, RawRows):
        return ("standard",) if X.example is None else scaling_choices(X.example)
    if isinstance(X, TableRows):
        return ("none", "unit") if X.is_sparse else ("none", "unit", "quantile")
    more = ("standard",) if sp.issparse(X) else ("none", "unit", "quantile")
    return tuple(dict.fromkeys([*scaling_kinds(X), *more]))


def scaling_kinds(X: Any) -> tuple[str, ...]:
    """Scalings that may suit the features, the usual one first. Dense features have one, "standard"; where entries are
    whole numbers of which at least 80 % are 0, as in a matrix of words, "tfidf" and "none" are others. Sparse whole
    numbers that are not negative have "tfidf", "unit" and "none", "none" first if all are 0 or 1; other sparse features
    "none", and "unit" too if no number is negative."""
    if isinstance(X, TableRows):
        return ("table",)
    if isinstance(X, RawRows):
        return ("standard",) if X.example is None else scaling_kinds(X.example)
    values = X.data if sp.issparse(X) else np.asarray(X)
    if not sp.issparse(X):
        sparse = values.size and np.count_nonzero(values) <= WORDS * values.size
        return ("standard", "tfidf", "none") if sparse and _whole(values) else ("standard",)
    if _whole(values):
        return ("tfidf", "unit", "none") if values.size and values.max() > 1 else ("none", "tfidf", "unit")
    return ("none", "unit") if values.min() >= 0 else ("none",)


def _whole(values: np.ndarray) -> bool:
    """Whether all entries are whole and none is negative."""
    return bool(values.size == 0 or (values.min() >= 0 and np.all(values == np.rint(values))))


def scaling_kind(X: Any) -> str:
    """Which scaling suits the features: "standard" (dense), "tfidf" (sparse counts), "none" (other sparse), "table"."""
    return scaling_kinds(X)[0]


def scaling_fit(
    kind: str | Callable[..., ScalingState], X: Any, *, sample_weight: np.ndarray | None = None, **params: Any
) -> Any:
    """Learn a scaling from the rows of X, which occur ``sample_weight`` (n,) times each.  [mu2012defc]"""
    X = float_matrix(X)
    if not X.shape[0] or not X.shape[1]:
        raise ValueError(f"X has shape {X.shape}; a scaling needs at least one row and one feature.")
    if sample_weight is not None and callable(kind):
        raise ValueError("The scaling that is a function takes no sample_weight; use 'standard' or 'pca' instead.")
    if callable(kind):
        state = call_user_function("kind", kind, X, **params)
        if not isinstance(state, ScalingState):
            raise TypeError(f"kind (a function) returned {type(state).__name__}; a ScalingState is needed.")
        return state
    if kind not in SCALINGS:
        raise ValueError(f"kind={kind!r} is not a scaling; choose one of {', '.join(SCALINGS)}, or pass a function.")
    check_arguments(kind, keyword_arguments(SCALINGS[kind]), params)
    if sample_weight is not None and kind in WEIGHTED:
        params = params | {"sample_weight": sample_weight}
    return SCALINGS[kind](X, **params)


def scaling_apply(state: Any, X: Any, *, max_dense_bytes: int = MAX_DENSE_BYTES) -> Matrix:
    """Scale rows by what ``scaling_fit`` has learned; X is never written to, float32 gives float32."""
    if isinstance(X, TableRows):
        return state.apply(X)
    X = float_matrix(X)
    if X.shape[1] != state.n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but the scaling {state.kind!r} was fitted on {state.n_features}: "
            "pass rows with the same columns."
        )
    if state.quantiles is not None:
        return _normal_scores(_dense(X, max_dense_bytes), state.quantiles)
    if state.axes is not None:
        return _project(X, state.kind, state.mean, state.axes, max_dense_bytes)
    if state.sublinear:
        _check_counts(X)
        X = _sublinear(X)
    given = X
    if state.mean is not None:
        X = _subtract(X, state.mean, max_dense_bytes)
    if state.std is not None:
        X = _columns(np.divide, X, state.std, own=X is not given)
    if state.idf is not None:
        X = _columns(np.multiply, X, state.idf)
    if state.unit:
        norms = row_norms(X)
        X = divide_rows(X, np.where(norms > 0, norms, 1.0))
    return X


def _dense(X: Matrix, limit: int) -> np.ndarray:
    if sp.issparse(X):
        guard_dense(X.shape, 'The normal scores of X (kind "standard" keeps it sparse)', limit, X.dtype.itemsize)
        return X.toarray()
    return X


def _normal_scores(X: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """The rows by a QuantileTransformer with these quantiles."""
    transformer = QuantileTransformer(n_quantiles=len(quantiles), output_distribution="normal")
    transformer.set_output(transform="default")
    transformer.n_quantiles_, transformer.n_features_in_ = quantiles.shape
    transformer.quantiles_, transformer.references_ = quantiles, np.linspace(0, 1, len(quantiles))
    return transformer.transform(X)


def _principal(
    X: Matrix, kind: str, pca_var: float, sample_weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, principal axes and singular values, cut at the share pca_var of the variance."""
    if isinstance(pca_var, bool) or not isinstance(pca_var, int | float | np.number) or not 0 < pca_var <= 1:
        raise ValueError(f"pca_var={pca_var!r} is out of range: a share of the variance in (0, 1] is needed; 1 = all.")
    mean, V, s = principal_axes(X, weights=sample_weight)
    if s.size == 0 or not (X.max(axis=0) != X.min(axis=0)).sum():
        raise ValueError(f"X has no variance (all rows are equal), so {kind!r} has no component: pass distinct rows.")
    if pca_var < 1:
        share = np.cumsum(s**2) / np.sum(s**2)
        keep = min(int(np.searchsorted(share, pca_var * (1 - 1e-12))) + 1, s.size)
        V, s = V[:, :keep], s[:keep]
    return mean, V, s


def _project(X: Matrix, kind: str, mean: np.ndarray | None, axes: np.ndarray, limit: int) -> np.ndarray:
    """(X - mean) axes, without densifying a sparse X and without a centred copy of a dense one."""
    mean = np.zeros(X.shape[1]) if mean is None else mean
    shape = (X.shape[0], axes.shape[1])
    if sp.issparse(X):
        guard_dense(shape, f"The scores of kind {kind!r} (a lower pca_var keeps fewer)", limit)
        scores = by_columns(X, axes)
        scores -= mean @ axes
        return scores.astype(X.dtype, copy=False)
    out = np.empty(shape, dtype=X.dtype)
    for rows in row_blocks(X.shape[0], X.shape[1]):
        out[rows] = (X[rows] - mean) @ axes
    return out


def _check_centred(X: sp.csr_array, limit: int) -> None:
    what = 'The centred X (kinds "standard" and "unit" keep it sparse, "pca" is centred)'
    guard_dense(X.shape, what, limit, X.dtype.itemsize)


def _subtract(X: Matrix, mean: np.ndarray, limit: int) -> np.ndarray:
    if sp.issparse(X):
        _check_centred(X, limit)
        X = X.toarray()
    return np.subtract(X, mean, out=np.empty_like(X), casting="same_kind")


def _columns(operation: np.ufunc, X: Matrix, values: np.ndarray, own: bool = False) -> Matrix:
    """operation(X, values) column by column, on the stored entries of a sparse X; in place of an array of our own."""
    if sp.issparse(X):
        out = X.copy()
        out.data = operation(X.data, values[X.indices]).astype(X.dtype, copy=False)
        return out
    return operation(X, values, out=X if own else np.empty_like(X), casting="same_kind")


def _check_counts(X: Matrix) -> None:
    values = X.data if sp.issparse(X) else X
    if (bad := values[(values < 1) & (values != 0)]).size:
        raise ValueError(
            f"X holds {float(bad.flat[0]):.6g}; kind 'tfidf' needs counts, 0 or at least 1: pass raw counts, or use "
            "kind 'unit' on values that are already weighted."
        )


def _sublinear(X: Matrix) -> Matrix:
    if sp.issparse(X):
        out = X.copy()
        out.eliminate_zeros()
        out.data = 1 + np.log(out.data)
        return out
    out = np.zeros_like(X)
    np.log(X, out=out, where=X > 0)
    out[X > 0] += 1
    return out


@dataclass(frozen=True)
class Block:
    """The scale of one matrix among others: weight (X - mean) / size. ``mean`` is None where the matrix is sparse,
    which is divided without centring; ``size`` is 0 where all rows are equal, whose block is 0."""

    mean: np.ndarray | None
    size: float
    weight: float
    width: int

    @classmethod
    def of(cls, X: Matrix, weight: float, times: np.ndarray | None = None) -> Block:
        """The block of the rows X of fit, (n, d) array or CSR; ``times``: how often each occurs."""
        (n, width), unit = X.shape, unit_of(X)
        rows = CentredMatrix.centred(over(X, unit), np.ones(n) if times is None else times)
        n = n if times is None else times.sum()
        size = 0.0 if rows.constant else unit * float(np.sqrt(max(rows.squared_norm(times), 0.0) / n))
        mean: Any = rows.mean
        return cls(None if sp.issparse(X) else unit * mean, size, float(weight), width)

    def columns(self, X: Matrix) -> Matrix:
        """The scaled columns (m, d) of rows X in double precision: sparse where X and the rows of fit are."""
        if self.mean is not None and sp.issparse(X):
            guard_dense(X.shape, "A centred view of sparse rows")
            X = X.toarray()
        if self.size == 0:
            return sp.csr_array(X.shape) if sp.issparse(X) else np.zeros(X.shape)
        X = X.astype(np.float64)
        return (X if self.mean is None else X - self.mean) * (1.0 / self.size) * self.weight


def scaled(blocks: Sequence[Block], views: Sequence[Matrix]) -> Any:
    """Views of the same rows side by side, each by its block: CSR where one of the results is sparse, else an array."""
    parts = [block.columns(view) for block, view in zip(blocks, views, strict=True)]
    if not any(sp.issparse(part) for part in parts):
        guard_dense((parts[0].shape[0], sum(part.shape[1] for part in parts)), "The views side by side")
        return np.hstack(parts)
    return sp.csr_array(sp.hstack([sp.csr_array(part) for part in parts], format="csr"))
