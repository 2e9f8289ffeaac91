"""Weights of pairs of rows from their features: values on the edges of a neighbour graph, W of the templates.

In: a graph of distances (explicit zeros are edges). Out: the same edges weighted; symmetric wherever the graph is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.matrix import Matrix, over, unit_of
from proxembed.pairs.formulas import PairMeasure, measures_for

from .correlation import correlations
from .distances import canonical, pair_distances, squared_norms
from .geodesic import edge_geodesics
from .graph import edge_rows, reversed_edges, sorted_edges
from .neighbors import nearest

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
) -> sp.csr_array:
    """Weights w_ij of the edges of a neighbour graph, from their distances and the rows; loops get 0.  [mu2012mesd]

    ``graph`` holds distances, stored zeros are edges. ``kind``: a name of WEIGHTS. ``negative``: negative similarities
    become max(w, 0), (1 + w)/2, abs(w), or stay. ``paths``: the graph along which "geodesic" measures; None: the graph
    itself; rows without a path weigh 0. ``scale``: the local scales, which are searched for otherwise.
    """
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
    return sp.csr_array((values, column.copy(), graph.indptr.copy()), shape=graph.shape)


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
    if isinstance(n_scale, bool) or not isinstance(n_scale, int | np.integer) or n_scale < 1:
        raise ValueError(f"n_scale={n_scale!r} is out of range: an integer of at least 1 is needed.")
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
    """Weights of new rows and their neighbours among X, (m, K), like ``edge_weights``.  [mu2012mesd]

    ``index``, ``distance`` (m, K): the neighbours; ``tau`` and the scales are those used within X, needed by measures
    that have them.
    """
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


def policy(values: np.ndarray, negative: str) -> np.ndarray:
    """Negative similarities clipped at 0, shifted to (1 + w)/2, as absolute values, or unchanged."""
    if negative == "clip":
        return np.maximum(values, 0.0)
    if negative == "shift":
        return (1.0 + values) / 2.0
    return np.abs(values) if negative == "abs" else values


def _mirrored(kind: str, X: Matrix, graph: sp.csr_array, row: np.ndarray) -> np.ndarray:
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


def given_weights(W: Any, n: int, name: str = "weights") -> sp.csr_array:
    """A caller's symmetric weights as W: CSR, symmetric in every bit, zero diagonal, no stored zeros."""
    try:
        W = sp.csr_array(W, dtype=np.float64, copy=True) if sp.issparse(W) else np.asarray(W, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{name}: the given value is not a matrix of numbers: {fault}.") from fault
    if W.shape != (n, n):
        raise ValueError(
            f"{name}: the given matrix has shape {W.shape}; {(n, n)} is needed, for all pairs of the rows given to "
            "fit. A matrix serves those rows alone: where folds are fitted, pass a function (X, y) that makes one for "
            "the rows of each."
        )
    W = sp.csr_array(W)
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        raise ValueError(f"{name}: the given matrix holds values that are not finite: set absent ones to 0.")
    gap = float(abs(W - W.T).max()) if W.nnz else 0.0
    if gap > 1e-10 * max(float(np.abs(W.data).max(initial=0.0)), 1.0):
        raise ValueError(
            f"{name}: the given matrix differs from its transpose by up to {gap:.3g}: a symmetric matrix is needed; "
            "pass (W + W.T) / 2."
        )
    W = sp.csr_array((W + W.T) / 2.0)
    W.setdiag(0.0)
    W.eliminate_zeros()
    return W


def positive_links(W: sp.csr_array) -> sp.csr_array:
    """The positive weights between different rows: W with its diagonal and its negative entries 0."""
    W = sp.csr_array(W, copy=True)
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
    links: sp.csr_array,
    kind: str | sp.csr_array,
    tau: float | None = None,
    scale: np.ndarray | None = None,
    distances: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> sp.csr_array:
    """The links (n x n, zero diagonal) times the weights of ``edge_weights`` on the same pairs; "constant" leaves them.

    ``kind`` may be the weights of all pairs themselves, as ``given_weights`` returns them. ``scale``: the local scales
    of the rows where they are known. ``distances(i, j)``: those of pairs of rows; None for Euclidean ones.

    Examples
    --------
    >>> links = sp.csr_array([[0.0, 2.0], [2.0, 0.0]])
    >>> weighted_links(np.array([[0.0], [1.0]]), links, "alternative").toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    links = sp.csr_array(links)
    if sp.issparse(kind):
        return sp.csr_array(links.multiply(kind))
    if kind == "constant":
        return links
    X = canonical(X)
    row = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    column = links.indices
    distance = pair_distances(X, row, X, column) if distances is None else distances(row, column)
    graph = sp.csr_array((distance, links.indices, links.indptr), shape=links.shape)
    weights = edge_weights(X, graph, kind, tau=tau, scale=scale)
    return sp.csr_array((links.data * weights.data, links.indices, links.indptr), shape=links.shape)
