"""Weights of pairs of rows from their features: values on the edges of a neighbour graph, W of the templates.

In: a graph of distances (explicit zeros are edges). Out: the same edges weighted; symmetric wherever the graph is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import kendalltau

from proxembed.algebra.arrays.blas import each_in_threads, in_threads, one_pool
from proxembed.algebra.arrays.class_blocks import in_groups
from proxembed.algebra.arrays.matrix import Matrix, centred_lengths, over, row_blocks, row_squares, unit_of
from proxembed.pairs.formulas import PairMeasure, cosine, measures_for
from proxembed.pairs.relation import check_integer

from .backends import nearest
from .distances import DIGITS, canonical, checked, extreme_powers, pair_distances, squared_norms
from .graph import edge_geodesics, edge_rows, geodesics, reversed_edges, sorted_edges
from .search import as_cosine, dense_rows, distance_blocks, is_measured, stand_in

PAIR_ENTRIES = 1 << 17
KENDALL_ROWS = 2000
SIGN_FEATURES = 128
SIGNED = {kind: measure for kind, measure in measures_for("edge").items() if measure.signed}


def correlations(kind: str, A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Cosine, Pearson, Spearman or Kendall's tau-b of the pairs (A_i, B_j); 0 if a row is zero (cosine) or constant."""
    same = A is B
    if sparse.issparse(A) != sparse.issparse(B):
        A, B = sparse.csr_array(A), sparse.csr_array(B)
    measure = SIGNED[kind]
    if kind != "kendall" and not measure.centred:
        A, B = measure.rows(A), measure.rows(B)
        return cosine(pair_dots(A, B, i, j), np.sqrt(squared_norms(A))[i], np.sqrt(squared_norms(B))[j])
    if A.shape[1] < 2:
        raise ValueError(
            f"weights={kind!r} correlates two rows over their features, of which X has {A.shape[1]}: at least 2 are "
            'needed. Use weights="gaussian".'
        )
    if kind == "kendall":
        return _kendall(A, B, i, j)
    rows = measure.rows(A)
    return _pearson(rows, rows if same else measure.rows(B), i, j)


def pair_dots(
    A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray, means: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray:
    """(a_i - mean_i)'(b_j - mean_j) of each pair, in float64; ``means``: of the rows of A and of B, 0 by default."""
    out = np.empty(len(i))
    stored = sparse.issparse(A)
    width = max(1, (A.nnz + B.nnz) // max(1, A.shape[0] + B.shape[0])) if stored else A.shape[1]

    def work(part: slice) -> None:
        left, right = A[i[part]].astype(np.float64, copy=False), B[j[part]].astype(np.float64, copy=False)
        if stored:
            out[part] = left.multiply(right).sum(axis=1)
            return
        if means is not None:
            left, right = left - means[0][i[part], None], right - means[1][j[part], None]
        out[part] = np.einsum("pf,pf->p", left, right)

    in_threads(work, len(i), max(1, PAIR_ENTRIES // max(1, width)))
    if stored and means is not None:
        out -= A.shape[1] * means[0][i] * means[1][j]
    return out


def _pearson(A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    mean_a, length_a = centred_lengths(A)
    mean_b, length_b = (mean_a, length_a) if A is B else centred_lengths(B)
    return cosine(pair_dots(A, B, i, j, (mean_a, mean_b)), length_a[i], length_b[j])


def _kendall(A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """tau-b of each pair; 0 where a row is constant."""
    most = max(A.shape[0], B.shape[0])
    if most > KENDALL_ROWS:
        raise ValueError(
            f'weights="kendall" compares all pairs of features for each pair of rows: X has {most:,} rows, at most '
            f'{KENDALL_ROWS:,} are allowed. Use weights="spearman", or a sample of the rows.'
        )
    if A.shape[1] <= SIGN_FEATURES:
        return _kendall_by_signs(A, B, i, j)
    found = [kendalltau(_dense_row(A, p), _dense_row(B, q)).statistic for p, q in zip(i, j, strict=True)]
    return np.nan_to_num(np.array(found, dtype=np.float64))


def _kendall_by_signs(A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The cosine of the signs of x_a - x_b over all pairs of features: exact counts, a chunk of pairs at a time."""
    dense_a = A.toarray() if sparse.issparse(A) else A
    dense_b = dense_a if A is B else B.toarray() if sparse.issparse(B) else B
    first, second = np.triu_indices(A.shape[1], 1)
    step = max(1, (1 << 20) // max(1, dense_a.shape[0] + dense_b.shape[0]))
    dots, untied_a, untied_b = np.zeros(len(i)), np.zeros(dense_a.shape[0]), np.zeros(dense_b.shape[0])
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        signs_a, signs_b = ((M[:, a] > M[:, b]) * 1.0 - (M[:, a] < M[:, b]) for M in (dense_a, dense_b))
        dots += pair_dots(signs_a, signs_b, i, j)
        untied_a += np.count_nonzero(signs_a, axis=1)
        untied_b += np.count_nonzero(signs_b, axis=1)
    return cosine(dots, np.sqrt(untied_a)[i], np.sqrt(untied_b)[j])


def _dense_row(X: Matrix, i: int) -> np.ndarray:
    return X[[i]].toarray()[0] if sparse.issparse(X) else X[i]


WEIGHTS = measures_for("edge")
NEGATIVE = ("clip", "shift", "abs", "keep")
LOCAL_NEIGHBORS = 7
SMALLEST = 1e-316  # a width below it has too few digits


def edge_weights(
    X: Matrix,
    graph: Any,
    kind: str = "gaussian",
    *,
    tau: float | None = None,
    n_scale: int = LOCAL_NEIGHBORS,
    negative: str = "clip",
    paths: Any = None,
    scale: np.ndarray | None = None,
    metric: Any = "euclidean",
    algorithm: Any = "exact",
) -> sparse.csr_array:
    """Weights w_ij of the edges of a neighbour graph, from their distances and the rows; loops get 0. [mu2012mesd]
    ``graph`` holds distances, stored zeros are edges. ``kind``: a name of WEIGHTS. ``negative``: negative similarities
    become max(w, 0), (1 + w)/2, abs(w), or stay. ``paths``: the graph along which "geodesic" measures; None: the graph
    itself; rows without a path weigh 0. ``scale``: the local scales, which are searched for otherwise."""
    measure = _measure(kind, negative)
    graph = sorted_edges(graph)
    row = edge_rows(graph)
    column = graph.indices
    if measure.weight is None:
        values = policy(_mirrored(kind, X, graph, row), negative)
    else:
        distance = edge_geodesics(graph, paths) if kind == "geodesic" else graph.data
        if measure.ends == "scales" and scale is None:
            scale = local_scale(X, n_scale, metric=metric, algorithm=algorithm)
        unit = unit_of(X) if measure.ends == "squares" else 1.0
        own = scale if measure.ends == "scales" else None
        own = squared_norms(over(X, unit)) if measure.ends == "squares" else own
        ends = () if own is None else (own[row], own[column])
        values = measure.weight(over(distance, unit), used_tau(graph, kind, tau), *ends)
    values[row == column] = 0.0
    _refuse_overflow(values, kind)
    return sparse.csr_array((values, column.copy(), graph.indptr.copy()), shape=graph.shape)


def used_tau(graph: Any, kind: str, tau: float | None = None) -> float:
    """The width that ``edge_weights`` uses: ``tau``, or the median of the squared distances of the edges (their mean if
    it is 0, and 1 if that is 0 too), or 1 for measures whose width is not a squared distance."""
    if tau is not None:
        if isinstance(tau, bool) or not isinstance(tau, int | float | np.number) or not 0 < tau < np.inf:
            raise ValueError(
                f"tau={tau!r} is out of range: a finite number above 0 is needed, or None for the default."
            )
        return float(tau)
    if not WEIGHTS[kind].median_width:
        return 1.0
    graph = sorted_edges(graph)
    distance = graph.data[edge_rows(graph) != graph.indices]
    if not distance.max(initial=0.0) > 0.0:
        return 1.0
    unit = unit_of(distance)
    squares = over(distance, unit) ** 2
    width = (float(np.median(squares)) or float(squares.mean())) * (unit * unit)
    if not SMALLEST < width < np.inf:
        side = "underflow" if width <= SMALLEST else "overflow"
        raise ValueError(f"The squared distances of the neighbour graph {side}: scale X.")
    return width


def local_scale(
    X: Matrix, n_scale: int = LOCAL_NEIGHBORS, *, metric: Any = "euclidean", algorithm: Any = "exact"
) -> np.ndarray:
    """s_i, the distance of each row to its min(n_scale, n - 1)-th nearest other row.  [zelnikmanor2004scaling]"""
    check_integer("n_scale", n_scale, 1)
    n = X.shape[0]
    if n < 2:
        return np.zeros(n)
    return nearest(X, min(int(n_scale), n - 1), metric=metric, algorithm=algorithm).distance[:, -1]


def cross_weights(
    Q: Matrix,
    X: Matrix,
    index: np.ndarray,
    distance: np.ndarray,
    kind: str = "gaussian",
    *,
    tau: float | None = None,
    scale_q: Any = None,
    scale_x: Any = None,
    negative: str = "clip",
) -> np.ndarray:
    """Weights of new rows and their neighbours among X, (m, K), like ``edge_weights``. [mu2012mesd] ``index``,
    ``distance`` (m, K): the neighbours; ``tau`` and the scales are those used within X, needed by measures that have
    them."""
    measure = _measure(kind, negative)
    if measure.median_width and tau is None:
        raise ValueError(f"weights={kind!r} for new rows needs tau, the width used in fit: pass used_tau(graph, kind).")
    if measure.ends == "scales" and (scale_q is None or scale_x is None):
        raise ValueError(f'weights="{kind}" for new rows needs scale_q and scale_x, the local scales of both.')
    index = np.asarray(index)
    row, column = np.repeat(np.arange(index.shape[0]), index.shape[1]), index.ravel()
    if measure.weight is None:
        values = policy(correlations(kind, Q, X, row, column), negative)
    else:
        ends: tuple[Any, ...] = ()
        unit = unit_of(X) if measure.ends == "squares" else 1.0
        if measure.ends == "scales":
            ends = scale_q[row], scale_x[column]
        elif measure.ends == "squares":
            ends = squared_norms(over(Q, unit))[row], squared_norms(over(X, unit))[column]
        values = measure.weight(over(np.ravel(distance), unit), used_tau(None, kind, tau), *ends)
    _refuse_overflow(values, kind)
    return values.reshape(index.shape)


def own_weights(X: Matrix, kind: str, *, tau: float | None = None, scale: Any = None) -> np.ndarray:
    """w_ii, the weight of each row with itself, (n,): that of a row at distance 0; ``tau`` and ``scale`` as in
    ``cross_weights``."""
    everyone = np.arange(X.shape[0])[:, None]
    nowhere = np.zeros(everyone.shape)
    found = cross_weights(X, X, everyone, nowhere, kind, tau=tau, scale_q=scale, scale_x=scale)[:, 0]
    return np.rint(found) if WEIGHTS[kind].signed else found  # a row correlates by 1 or, a constant one, by 0


def policy(values: np.ndarray, negative: str) -> np.ndarray:
    """Negative similarities clipped at 0, shifted to (1 + w)/2, as absolute values, or unchanged."""
    if negative == "clip":
        return np.maximum(values, 0.0)
    if negative == "shift":
        return (1.0 + values) / 2.0
    return np.abs(values) if negative == "abs" else values


def _mirrored(kind: str, X: Matrix, graph: sparse.csr_array, row: np.ndarray) -> np.ndarray:
    """Correlations of the edges; each pair once where the graph holds both directions."""
    reverse = reversed_edges(graph)
    if reverse is None:
        return correlations(kind, X, X, row, graph.indices)
    upper = row < graph.indices
    values = np.zeros(graph.nnz)
    values[upper] = correlations(kind, X, X, row[upper], graph.indices[upper])
    lower = row > graph.indices
    values[lower] = values[reverse[lower]]
    return values


def given_weights(W: Any, n: int, name: str = "weights") -> sparse.csr_array:
    """A caller's symmetric weights as W: CSR, symmetric in every bit, with its diagonal, no stored zeros."""
    try:
        W = sparse.csr_array(W, dtype=np.float64, copy=True) if sparse.issparse(W) else np.asarray(W, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{name}: the given value is not a matrix of numbers: {fault}.") from fault
    if W.shape != (n, n):
        raise ValueError(
            f"{name}: the given matrix has shape {W.shape}; {(n, n)} is needed, for all pairs of the rows given to "
            "fit. A matrix serves those rows alone: where folds are fitted, pass a function (X, y) that makes one for "
            "the rows of each."
        )
    W = sparse.csr_array(W)
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        raise ValueError(f"{name}: the given matrix holds values that are not finite: set absent ones to 0.")
    gap = float(abs(W - W.T).max()) if W.nnz else 0.0
    if gap > 1e-10 * max(float(np.abs(W.data).max(initial=0.0)), 1.0):
        raise ValueError(
            f"{name}: the given matrix differs from its transpose by up to {gap:.3g}: a symmetric matrix is needed; "
            "pass (W + W.T) / 2."
        )
    W = sparse.csr_array((W + W.T) / 2.0)
    W.eliminate_zeros()
    return W


def positive_links(W: sparse.csr_array) -> sparse.csr_array:
    """The positive weights between different rows: W with its diagonal and its negative entries 0."""
    W = sparse.csr_array(W, copy=True)
    W.data = policy(W.data, "clip")
    W.setdiag(0.0)
    W.eliminate_zeros()
    return W


def _measure(kind: str, negative: str) -> PairMeasure:
    """The measure of this name; a ValueError for an unknown name or policy."""
    for name, value, allowed in (("weights", kind, (*WEIGHTS,)), ("negative", negative, NEGATIVE)):
        if value not in allowed:
            raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(allowed)}.")
    return WEIGHTS[kind]


def _refuse_overflow(values: np.ndarray, kind: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            f"weights={kind!r} gives values that are not finite, from features too large or small to square: scale X."
        )


def weighted_links(
    X: Any,
    links: sparse.csr_array,
    kind: str | sparse.csr_array,
    tau: float | None = None,
    scale: np.ndarray | None = None,
    distances: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> sparse.csr_array:
    """The links (n x n, zero diagonal) times the weights of ``edge_weights`` on the same pairs; "constant" leaves them.
    ``kind`` may be the weights of all pairs themselves, as ``given_weights`` returns them. ``scale``: the local scales
    of the rows where they are known. ``distances(i, j)``: those of pairs of rows; None for Euclidean ones."""
    links = sparse.csr_array(links)
    if sparse.issparse(kind):
        return sparse.csr_array(links.multiply(kind))
    if kind == "constant":
        return links
    X = canonical(X)
    row = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    column = links.indices
    distance = pair_distances(X, row, X, column) if distances is None else distances(row, column)
    graph = sparse.csr_array((distance, links.indices, links.indptr), shape=links.shape)
    weights = edge_weights(X, graph, kind, tau=tau, scale=scale)
    return sparse.csr_array((links.data * weights.data, links.indices, links.indptr), shape=links.shape)


FEW, ROWS = 4096, 256
NEAR = 1e-6  # squared distances this small beside squared lengths are taken from the rows themselves


class LocalAffinity:
    """The affinities of the rows of X with local scales s; pairs of rows at no distance have affinity 1, other pairs of
    a row with s = 0 have 0."""

    def __init__(self, X: Any, scale: np.ndarray):
        rows = _centred(X)
        self.squares = row_squares(rows)
        self.scale = np.asarray(scale, dtype=np.float64)
        self.narrow = bool(np.any(self.scale <= np.sqrt(NEAR * self.squares.max(initial=0.0))))
        self.X: Any = Distances(X, rows, self.squares) if self.narrow else self._over_scale(rows)

    def _over_scale(self, X: Any) -> Any:
        """Rows over their scale; dense ones with two columns more, so that one product gives the exponent."""
        if sparse.issparse(X):
            return sparse.csr_array(sparse.diags_array(np.sqrt(2.0) / self.scale) @ X)
        return np.column_stack([X * (np.sqrt(2.0) / self.scale)[:, None], self.squares / self.scale, 1.0 / self.scale])

    def __call__(self, rows: slice, columns: slice) -> np.ndarray:
        if self.narrow:
            return self._careful(rows, columns)
        if sparse.issparse(self.X):
            exponent = (self.X[rows] @ self.X[columns].T).toarray()
            exponent -= np.outer(self.squares[rows] / self.scale[rows], 1.0 / self.scale[columns])
            exponent -= np.outer(1.0 / self.scale[rows], self.squares[columns] / self.scale[columns])
        else:
            near = self.X[rows].copy()
            near[:, [-2, -1]] = -near[:, [-1, -2]]
            exponent = near @ self.X[columns].T
        return np.exp(exponent, out=exponent)

    def _careful(self, rows: slice, columns: slice) -> np.ndarray:
        """The same where some scale is so small that rounding in d^2 would count."""
        d2 = self.X(rows, columns)
        product = np.outer(self.scale[rows], self.scale[columns])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            exponent = -d2 / product
        exponent[d2 == 0.0] = 0.0
        return np.exp(exponent, out=exponent)


class Distances:
    """Squared distances of rows by tiles; those of near rows as a search finds them, 0 for identical rows alone."""

    def __init__(self, X: Any, rows: Any, squares: np.ndarray):
        self.X, self.rows, self.squares = canonical(X), rows, squares
        everyone = np.arange(X.shape[0])
        self.kind = stand_in(self.X, everyone, np.zeros_like(everyone), 0)

    def __call__(self, rows: slice, columns: slice) -> np.ndarray:
        d2 = self.rows[rows] @ self.rows[columns].T
        d2 = d2.toarray() if sparse.issparse(d2) else d2
        level = self.squares[rows, None] + self.squares[columns]
        d2 *= -2.0
        d2 += level
        level *= NEAR
        i, j = np.nonzero(d2 <= level)
        own, other = i + (rows.start or 0), j + (columns.start or 0)
        same = self.kind[own] == self.kind[other]
        d2[i[same], j[same]] = 0.0
        far = ~same
        d2[i[far], j[far]] = pair_distances(self.X, own[far], self.X, other[far]) ** 2
        return d2


def class_scales(X: Any, classes: Sequence[np.ndarray], K: int) -> list[np.ndarray]:
    """For every class (an index of rows) the distance of each row to its K-th nearest other row of the class, or to the
    last; ones for a class of one row."""
    scales = [np.ones(len(index)) for index in classes]
    searched = [k for k, index in enumerate(classes) if len(index) > FEW]
    with one_pool:
        for group in _together(classes):
            searched += _scales_by_tiles(X, classes, group, K, scales)
    for k in searched:
        scales[k][:] = nearest(X[classes[k]], min(K, len(classes[k]) - 1)).distance[:, -1]
    return scales


def _together(classes: Sequence[np.ndarray]) -> Iterator[list[int]]:
    """The classes of two to ``FEW`` rows, together about ``FEW`` rows a time."""
    return in_groups({k: len(index) for k, index in enumerate(classes) if 1 < len(index) <= FEW}, FEW)


def _scales_by_tiles(X: Any, classes: Sequence[np.ndarray], group: list[int], K: int, scales: list[Any]) -> set[int]:
    """Fill in the scales of some classes by blocks of their distances; the classes with rows too near for that."""
    tasks: list[tuple[Any, ...]] = []
    near: set[int] = set()
    for k in group:
        rows = _centred(X[classes[k]])
        sides = (rows, row_squares(rows))
        tasks += [(k, sides, slice(s, min(s + ROWS, len(classes[k])))) for s in range(0, len(classes[k]), ROWS)]

    def work(task: Any) -> None:
        k, (rows, squares), part = task
        d2 = rows[part] @ rows.T
        d2 = d2.toarray() if sparse.issparse(d2) else d2
        d2 *= -2.0
        d2 += squares
        d2[np.arange(len(d2)), np.arange(part.start, part.stop)] = -np.inf
        most = min(K, len(squares) - 1)
        d2.partition(most, axis=1)
        found = d2[:, most] + squares[part]
        if np.all(found > 2 * NEAR * squares[part]):
            scales[k][part] = np.sqrt(found)
        else:
            near.add(k)

    each_in_threads(work, tasks)
    return near


def _centred(X: Any) -> Any:
    """float64 rows, dense ones about their mean: distances stay."""
    X = X.astype(np.float64)
    if not sparse.issparse(X):
        X -= X.mean(axis=0)
    return X


WIDTH_ROWS = 2000


class AllPairs:
    """W of all pairs of rows over its largest entry, negative ones 0: calls with a slice return (rows, n). A row has
    with itself the weight of distance 0.
    ``kind``: a name of WEIGHTS; ``paths``: the graph along which "geodesic" measures; ``n_scale``: of the local
    scales."""

    def __init__(
        self,
        X: Any,
        kind: str,
        tau: float | None = None,
        *,
        metric: Any = "euclidean",
        paths: Any = None,
        algorithm: Any = "exact",
        n_scale: int = LOCAL_NEIGHBORS,
    ):
        self.kind, self.n, self.paths, self.own, self.unit = kind, X.shape[0], paths, None, 1.0
        self.tau = None
        self.measure = WEIGHTS[kind]
        if self.measure.signed:
            correlations(kind, X[:1], X[:1], np.arange(0), np.arange(0))  # for its checks
            self.likeness = correlation_blocks(X, kind)
        elif kind != "constant":
            self.distances = BlockDistances(X, metric)
            self.tau = used_width(X, kind, tau, metric)
        if self.measure.ends == "scales":
            self.own = local_scale(X, n_scale, metric=metric, algorithm=algorithm)
        elif self.measure.ends == "squares":
            self.unit = unit_of(X)
            self.own = squared_norms(over(X, self.unit))
        scale = self.own if self.measure.ends == "scales" else None
        self.loops = own_weights(X, kind, tau=self.tau, scale=scale)
        self.largest = self._largest() or 1.0
        if not np.isfinite(self.largest):
            raise ValueError(
                f"weights={kind!r} gives values that are not finite, from features too large or small to square: "
                "scale X."
            )

    def __call__(self, part: slice) -> np.ndarray:
        W = self._unscaled(part)
        W /= self.largest
        return np.minimum(W, 1.0, out=W)

    def diagonal(self) -> np.ndarray:
        """The weights of rows with themselves."""
        return np.minimum(self.loops / self.largest, 1.0)

    def _unscaled(self, part: slice) -> np.ndarray:
        i = np.arange(part.start, part.stop)
        if self.kind == "constant":
            W = np.ones((len(i), self.n))
        elif self.measure.weight is None:
            with np.errstate(over="ignore", invalid="ignore"):
                W = self.likeness(part, slice(None))
            np.maximum(W, 0.0, out=W)
        else:
            distance = self.distances(part) if self.paths is None else geodesics(self.paths, i)
            ends = () if self.own is None else (self.own[part, None], self.own[None, :])
            W = self.measure.weight(over(distance, self.unit), self.tau, *ends)
        W[i - part.start, i] = self.loops[part]
        return W

    def _largest(self) -> float:
        """The largest weight: 1, that of a row with itself, where weights fall with the distance, else by blocks."""
        if self.kind == "constant" or self.measure.median_width:
            return 1.0
        return float(np.max(each_in_threads(lambda part: self._unscaled(part).max(), row_blocks(self.n, self.n))))


class BlockDistances:
    """Distances of a block of rows to all rows: by matrix products, those of near rows as a search finds them."""

    def __init__(self, X: Any, metric: Any = "euclidean"):
        self.n, self.power, self.unit, self.metric = X.shape[0], None, None, metric
        if is_measured(metric):
            self.rows = dense_rows(X, metric)
            return
        X, metric = as_cosine(X, metric)
        if metric == "cosine":
            self.unit = canonical(X, metric)
            return
        X = X.astype(np.float64, copy=False)
        entries = X.data if sparse.issparse(X) else X
        self.power = extreme_powers(np.array([np.abs(entries).max(initial=0.0)]))
        if self.power is not None:
            entries = np.ldexp(entries, -self.power[0])
            X = sparse.csr_array((entries, X.indices, X.indptr), shape=X.shape) if sparse.issparse(X) else entries
        rows = X if sparse.issparse(X) else X - X.mean(axis=0)
        self.squares = Distances(X, rows, row_squares(rows))

    def __call__(self, part: slice) -> np.ndarray:
        if is_measured(self.metric):
            return np.concatenate([D for _, D in distance_blocks(self.rows[part], self.rows, self.metric)])
        if self.unit is not None:
            near = _product(self.unit[part], self.unit)
            return np.maximum(np.round(1.0 - near, DIGITS), 0.0)
        distance = np.maximum(self.squares(part, slice(0, self.n)), 0.0)
        np.sqrt(distance, out=distance)
        if self.power is None:
            return distance
        with np.errstate(over="ignore"):
            return checked(np.ldexp(distance, self.power[0]))


def correlation_blocks(X: Any, kind: str) -> Callable[[Any, Any], np.ndarray]:
    """A function of two sets of rows (index arrays or slices) that returns the measure ``kind`` of the rows of the
    first with those of the second; 0 where a row is zero (cosine) or constant."""
    if kind == "kendall":
        return lambda a, b: _kendall_of_pairs(X, np.arange(X.shape[0])[a], np.arange(X.shape[0])[b])
    Z = SIGNED[kind].rows(X).astype(np.float64, copy=False)
    if not SIGNED[kind].centred:
        length = np.sqrt(row_squares(Z))
        return lambda a, b: cosine(_product(Z[a], Z[b]), length[a, None], length[b][None, :])
    mean, length = centred_lengths(Z)
    if not sparse.issparse(Z):
        Z = Z - mean[:, None]
        return lambda a, b: cosine(_product(Z[a], Z[b]), length[a, None], length[b][None, :])
    d = Z.shape[1]
    return lambda a, b: cosine(
        _product(Z[a], Z[b]) - d * np.outer(mean[a], mean[b]), length[a, None], length[b][None, :]
    )


def used_width(X: Any, kind: str, tau: float | None, metric: Any) -> float:
    """``used_tau`` of the full graph, of 2,000 rows drawn by number where there are more."""
    if tau is not None or not WEIGHTS[kind].median_width:
        return used_tau(None, kind, tau)
    if X.shape[0] > WIDTH_ROWS:
        X = X[np.sort(np.random.default_rng(0).choice(X.shape[0], WIDTH_ROWS, replace=False))]
    n, distances = X.shape[0], BlockDistances(X, metric)
    i, j = np.triu_indices(n, 1)
    found = [distances(part)[np.arange(part.start, part.stop)[:, None] < np.arange(n)] for part in row_blocks(n, n)]
    return used_tau(sparse.csr_array((np.concatenate(found), (i, j)), shape=(n, n)), kind)


def _product(left: Any, right: Any) -> np.ndarray:
    dots = left @ right.T
    return dots.toarray() if sparse.issparse(dots) else dots


def _kendall_of_pairs(X: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return correlations("kendall", X, X, np.repeat(a, len(b)), np.tile(b, len(a))).reshape(len(a), len(b))
