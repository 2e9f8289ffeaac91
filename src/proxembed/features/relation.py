"""Relations of rows to prototypes: dense m x p similarities or distances, computed over blocks of rows.

One Gram block G = X_b P' and the row lengths serve every measure. Sparse rows are never densified; blocks are
computed in float64 and stored in the dtype of the data. Distances and norms follow |x|^2 = a, |p|^2 = b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.matrix import Matrix, centred_lengths, float_matrix, row_blocks, row_norms, row_squares
from proxembed.algebra.arrays.pairs import alternative, cosine, gaussian, local_scaling
from proxembed.algebra.arrays.ranks import mid_ranks
from proxembed.features.kinds import check_params
from proxembed.params import call_user_function

NEAR = 1e-6
PAIR_ENTRIES = 2**20


def relation_dot(X: Any, prototypes: Any) -> np.ndarray:
    """Dot product, x'p.  [mu2012defc]

    Examples
    --------
    >>> relation_dot([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """
    X, P = _pair(X, prototypes)
    return _fill("dot", X, P, _gram_blocks(X, P))


def relation_polynomial(X: Any, prototypes: Any, *, degree: float = 2) -> np.ndarray:
    """Polynomial, (1 + x'p)^degree with degree > 0; a fractional degree needs 1 + x'p > 0.  [mu2012defc]

    Examples
    --------
    >>> relation_polynomial([[1.0, 2.0]], [[1.0, 0.0]], degree=3)
    array([[8.]])
    """
    X, P = _pair(X, prototypes)
    degree = _positive("degree", degree)
    return _fill("polynomial", X, P, ((rows, _power(G, degree)) for rows, G in _gram_blocks(X, P)))


def relation_cosine(X: Any, prototypes: Any) -> np.ndarray:
    """Cosine, x'p / sqrt(a b); 0 where a row is zero.  [mu2012defc]

    Examples
    --------
    >>> relation_cosine([[3.0, 4.0], [0.0, 0.0]], [[1.0, 0.0]])
    array([[0.6],
           [0. ]])
    """
    X, P = _pair(X, prototypes)
    a, b = row_norms(X), row_norms(P)
    return _fill("cosine", X, P, ((rows, cosine(G, a[rows, None], b)) for rows, G in _gram_blocks(X, P)))


def relation_tanimoto(X: Any, prototypes: Any) -> np.ndarray:
    """Tanimoto, x'p / (a + b - x'p); 0 for two zero rows; the Jaccard index of 0/1 rows.  [mu2012defc]

    Examples
    --------
    >>> relation_tanimoto([[1.0, 1.0, 0.0]], [[0.0, 1.0, 1.0]]).round(4)
    array([[0.3333]])
    """
    X, P = _pair(X, prototypes)
    a, b = row_squares(X), row_squares(P)
    return _fill("tanimoto", X, P, ((rows, _tanimoto(G, a[rows], b)) for rows, G in _gram_blocks(X, P)))


def relation_euclidean(X: Any, prototypes: Any) -> np.ndarray:
    """Euclidean distance, |x - p|: a dissimilarity, exactly 0 for identical rows.  [mu2012defc]

    Examples
    --------
    >>> relation_euclidean([[3.0, 4.0]], [[0.0, 0.0], [3.0, 4.0]])
    array([[5., 0.]])
    """
    X, P = _pair(X, prototypes)
    return _fill("euclidean", X, P, ((rows, np.sqrt(d2, out=d2)) for rows, d2 in _distance_blocks(X, P)))


def relation_gaussian(X: Any, prototypes: Any, *, tau: float) -> np.ndarray:
    """Gaussian, exp(-|x - p|^2 / tau), tau > 0 (no factor 2, no square on tau).  [mu2012defc]

    Examples
    --------
    >>> relation_gaussian([[1.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]], tau=1.0).round(4)
    array([[0.3679, 1.    ]])
    """
    X, P = _pair(X, prototypes)
    tau = _positive("tau", tau)
    return _fill("gaussian", X, P, ((rows, gaussian(d2, tau)) for rows, d2 in _distance_blocks(X, P)))


def relation_alternative(X: Any, prototypes: Any, *, tau: float = 1.0) -> np.ndarray:
    """Alternative weight, 1 / (tau + |x - p|^2 / (a + b)), tau > 0; 1/tau for two zero rows.  [mu2012defc]

    Values lie in [1/(tau + 2), 1/tau]. It is not translation invariant: give it raw rows.

    Examples
    --------
    >>> relation_alternative([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], tau=1.0)
    array([[1. , 0.5]])
    """
    X, P = _pair(X, prototypes)
    tau = _positive("tau", tau)
    a, b = row_squares(X), row_squares(P)
    blocks = ((rows, alternative(_share(d2, a[rows], b), tau)) for rows, d2 in _distance_blocks(X, P))
    return _fill("alternative", X, P, blocks)


def relation_correlation(X: Any, prototypes: Any) -> np.ndarray:
    """Correlation over the features, the cosine of row-centred rows; 0 where a row is constant.  [mu2012defc]

    At least two features are needed (with two, only +1 and -1 occur).

    Examples
    --------
    >>> relation_correlation([[1.0, 2.0, 3.0]], [[2.0, 4.0, 6.0], [3.0, 2.0, 1.0], [5.0, 5.0, 5.0]])
    array([[ 1., -1.,  0.]])
    """
    X, P = _pair(X, prototypes)
    d = X.shape[1]
    if d < 2:
        raise ValueError(f"X has {d} feature; kind 'correlation' needs at least 2: use kind 'cosine'.")
    mean_x, a = centred_lengths(X)
    mean_p, b = centred_lengths(P)
    centred = P
    if not sp.issparse(P):
        centred, mean_p = P - mean_p[:, None], np.zeros_like(mean_p)

    def correlations(rows: slice, G: np.ndarray) -> np.ndarray:
        G -= d * mean_x[rows, None] * mean_p
        return cosine(G, a[rows, None], b)

    return _fill("correlation", X, P, ((rows, correlations(rows, G)) for rows, G in _gram_blocks(X, centred)))


def relation_spearman(X: Any, prototypes: Any) -> np.ndarray:
    """Spearman's correlation over the features, that of the mid-ranks of each row; 0 where a row is constant.
    [mu2012mesd]

    Examples
    --------
    >>> relation_spearman([[1.0, 2.0, 9.0]], [[0.0, 5.0, 6.0], [3.0, 2.0, 1.0]])
    array([[ 1., -1.]])
    """
    X, P = _pair(X, prototypes)
    if X.shape[1] < 2:
        raise ValueError(f"X has {X.shape[1]} feature; kind 'spearman' needs at least 2: use kind 'cosine'.")
    R = relation_correlation(*(mid_ranks(rows).astype(np.float64, copy=False) for rows in (X, P)))
    return R.astype(np.result_type(X.dtype, P.dtype), copy=False)


def relation_local_scaling(X: Any, prototypes: Any, *, n_scale: int = 7, scale: np.ndarray | None = None) -> np.ndarray:
    """Gaussian of local widths, exp(-|x - p|^2 / (s_x s_p)), s the distance to the n_scale-th nearest prototype.
    [mu2012mesd]

    A prototype at distance 0 is none of the nearest, so that a training row among its prototypes has the scale of local
    scaling; ``scale`` gives s_p where it is known (``prototype_scales``).

    Examples
    --------
    >>> relation_local_scaling([[0.0]], [[0.0], [1.0], [3.0]], n_scale=1).round(4)
    array([[1.    , 0.3679, 0.0111]])
    """
    X, P = _pair(X, prototypes)
    s = prototype_scales(P, n_scale) if scale is None else scale
    blocks = ((rows, np.sqrt(d2, out=d2)) for rows, d2 in _distance_blocks(X, P))
    scaled = ((rows, local_scaling(d, _to_nearest(d, n_scale)[:, None], s)) for rows, d in blocks)
    return _fill("local_scaling", X, P, scaled)


def prototype_scales(prototypes: Any, n_scale: int = 7) -> np.ndarray:
    """The distance of each prototype to its n_scale-th nearest one that differs, or to the last; 0 where none differs.

    Examples
    --------
    >>> prototype_scales([[0.0], [1.0], [3.0]], 2)
    array([3., 2., 3.])
    """
    P = float_matrix(prototypes, "prototypes")
    return np.concatenate([_to_nearest(np.sqrt(d2), n_scale) for _, d2 in _distance_blocks(P, P)])


def _to_nearest(distance: np.ndarray, K: int) -> np.ndarray:
    """The K-th smallest positive entry of each row, or the last; 0 for rows without a positive entry."""
    if isinstance(K, bool) or not isinstance(K, int | np.integer) or K < 1:
        raise ValueError(f"n_scale={K!r} is out of range: an integer of at least 1 is needed.")
    rank = min(int(K), distance.shape[1]) - 1
    found = np.partition(np.where(distance > 0, distance, np.inf), rank, axis=1)[:, rank]
    return np.where(np.isfinite(found), found, distance.max(axis=1))


RELATIONS: dict[str, Callable[..., np.ndarray]] = {
    "dot": relation_dot,
    "polynomial": relation_polynomial,
    "cosine": relation_cosine,
    "tanimoto": relation_tanimoto,
    "euclidean": relation_euclidean,
    "gaussian": relation_gaussian,
    "alternative": relation_alternative,
    "correlation": relation_correlation,
    "spearman": relation_spearman,
    "local_scaling": relation_local_scaling,
}


def relation(kind: str | Callable[..., np.ndarray], X: Any, prototypes: Any, **params: Any) -> np.ndarray:
    """Relation features R_ij = phi(x_i, prototype_j).  [mu2012defc]

    Parameters
    ----------
    kind : str or callable
        "dot", "polynomial", "cosine", "tanimoto", "euclidean", "gaussian", "alternative", "correlation", "spearman",
        "local_scaling"; or a function of (X, prototypes, **params) that returns an m x p array.
    X : array or sparse matrix of shape (m, d)
        Rows.
    prototypes : array or sparse matrix of shape (p, d)
        Rows to relate them to.
    **params
        ``degree`` (polynomial), ``tau`` (gaussian: required; alternative: 1 by default), ``n_scale`` and ``scale``
        (local_scaling).

    Returns
    -------
    ndarray of shape (m, p)
        float32 when X and the prototypes both are, else float64.

    Raises
    ------
    ValueError
        Unknown kind or parameter, parameter out of range, different numbers of features, or values that overflow.

    Examples
    --------
    >>> relation("cosine", [[0.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]])
    array([[0., 1.]])
    """
    if callable(kind):
        X, P = _pair(X, prototypes)
        return checked_relation(call_user_function("kind", kind, X, P, **params), (X.shape[0], P.shape[0]))
    if kind not in RELATIONS:
        raise ValueError(f"kind={kind!r} is not a relation; choose one of {', '.join(RELATIONS)}, or pass a function.")
    check_params(kind, RELATIONS[kind], params)
    return RELATIONS[kind](X, prototypes, **params)


def median_squared_distance(X: Any, *, max_rows: int = 2000, seed: int = 0) -> float:
    """Median of |x_i - x_j|^2 over pairs i < j, the usual width tau of the Gaussian.  [mu2012defc]

    Exact for up to ``max_rows`` rows; above that, over the pairs of ``max_rows`` rows drawn with ``seed``. Where the
    median is 0 the mean is returned, and 1 where that is 0 too (all rows equal, or one row only).

    Examples
    --------
    >>> median_squared_distance([[0.0], [1.0], [3.0]])
    4.0
    """
    X = float_matrix(X)
    if isinstance(max_rows, bool) or not isinstance(max_rows, int | np.integer) or max_rows < 2:
        raise ValueError(f"max_rows={max_rows!r} is out of range: an integer of at least 2 is needed.")
    if X.shape[0] > max_rows:
        X = X[np.sort(np.random.default_rng(seed).choice(X.shape[0], max_rows, replace=False))]
    n = X.shape[0]
    pairs = np.empty(n * (n - 1) // 2)
    filled = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, d2 in _distance_blocks(X, X):
            upper = d2[np.arange(rows.start, rows.stop)[:, None] < np.arange(n)]
            pairs[filled : filled + upper.size] = upper
            filled += upper.size
    if not np.isfinite(pairs).all():
        raise ValueError(f"X holds entries up to {float(abs(X).max()):.3g}, whose squared distances overflow: scale X.")
    median = float(np.median(pairs)) if pairs.size else 0.0
    return median or (float(pairs.mean()) if pairs.size else 0.0) or 1.0


def _pair(X: Any, prototypes: Any) -> tuple[Matrix, Matrix]:
    X, P = float_matrix(X), float_matrix(prototypes, "prototypes")
    if X.shape[1] != P.shape[1]:
        raise ValueError(
            f"prototypes has {P.shape[1]} features, but X has {X.shape[1]}: take both from the same columns."
        )
    if not P.shape[0] or not P.shape[1]:
        raise ValueError(f"prototypes has shape {P.shape}; at least one prototype and one feature are needed.")
    return X, P


def _positive(name: str, value: Any) -> float:
    ok = isinstance(value, int | float | np.number) and not isinstance(value, bool) and 0 < value < np.inf
    if not ok:
        raise ValueError(f"{name}={value!r} is out of range: a finite number above 0 is needed.")
    return float(value)


def _gram_blocks(X: Matrix, P: Matrix, shift: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of (X - shift) P' in float64, dense, free to be overwritten."""
    right = P.T.astype(np.float64, copy=False)
    right = right.tocsr() if sp.issparse(right) else np.ascontiguousarray(right) if sp.issparse(X) else right
    for rows in row_blocks(X.shape[0], P.shape[0] if sp.issparse(X) else max(P.shape)):
        block = X[rows].astype(np.float64, copy=False)
        G = (block if shift is None else block - shift) @ right
        yield rows, G.toarray() if sp.issparse(G) else np.asarray(G)


def _distance_blocks(X: Matrix, P: Matrix) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of squared distances: a + b - 2 G, and directly from the rows where that would cancel."""
    shift, moved = None, P
    if not sp.issparse(X) and not sp.issparse(P):
        shift = P.mean(axis=0, dtype=np.float64)
        moved = P - shift
    b = row_squares(moved)
    for rows, G in _gram_blocks(X, moved, shift):
        total = row_squares(X[rows] if shift is None else X[rows] - shift)[:, None] + b
        d2 = np.multiply(G, -2.0, out=G)
        d2 += total
        total *= NEAR
        i, j = np.nonzero(d2 <= total)
        d2[i, j] = _pair_distances(X[rows], P, i, j)
        yield rows, d2


def _pair_distances(X: Matrix, P: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """|x_i - p_j|^2 from the differences, a chunk of pairs at a time."""
    out = np.empty(i.size)
    sparse = sp.issparse(X) and sp.issparse(P)
    width = (X.nnz // X.shape[0] + P.nnz // P.shape[0] + 1) if sparse else X.shape[1]
    step = max(1, PAIR_ENTRIES // width)
    for start in range(0, i.size, step):
        part = slice(start, start + step)
        left, right = X[i[part]].astype(np.float64), P[j[part]].astype(np.float64)
        if not sparse:
            left, right = (m.toarray() if sp.issparse(m) else m for m in (left, right))
        out[part] = row_squares(left - right)
    return out


def _fill(name: str, X: Matrix, P: Matrix, blocks: Iterator[tuple[slice, np.ndarray]]) -> np.ndarray:
    """The blocks as one m x p array in the dtype of the data; values that are not finite are refused."""
    out = np.empty((X.shape[0], P.shape[0]), dtype=np.result_type(X.dtype, P.dtype))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for rows, values in blocks:
            out[rows] = values
            if not np.isfinite(out[rows]).all():
                raise ValueError(
                    f"kind {name!r} gives values that are not finite in {out.dtype} (largest entry of X: "
                    f"{float(abs(X).max()):.3g}): scale the rows first, for example to unit length."
                )
    return out


def _power(G: np.ndarray, degree: float) -> np.ndarray:
    G += 1.0
    if degree != round(degree) and (G <= 0).any():
        raise ValueError(
            f"degree={degree!r} is fractional, which needs 1 + x'p > 0, but it is {float(G.min()):.3g} for some pair: "
            "use an integer degree, or features that are not negative."
        )
    G **= degree
    return G


def _tanimoto(G: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    bottom = a[:, None] + b - G
    return np.divide(G, bottom, out=np.zeros_like(G), where=bottom > 0)


def _share(d2: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """d^2 / (a + b), in place; d^2 where both rows are zero."""
    total = a[:, None] + b
    return np.divide(d2, total, out=d2, where=total > 0)


def checked_relation(R: Any, shape: tuple[int, int], name: str = "kind") -> np.ndarray:
    """What a function given as the parameter ``name`` returned, or a ValueError where it is no array of numbers of
    this shape.

    Examples
    --------
    >>> checked_relation([[1, 2]], (1, 2))
    array([[1., 2.]])
    """
    R = np.asarray(R)
    if R.shape != shape:
        raise ValueError(
            f"{name} (a function) returned shape {R.shape}; {shape} is needed: return one value per row and prototype."
        )
    if R.dtype.kind not in "fiub" or not np.isfinite(R).all():
        raise ValueError(f"{name} (a function) returned values that are not finite real numbers: check its formula.")
    return R if R.dtype in (np.float32, np.float64) else R.astype(np.float64)
