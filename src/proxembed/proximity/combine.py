"""Psi: weights from features (W) and similarities from labels (G) combined into one proximity, pair by pair, and its
largest entries per row."""

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import each_in_threads
from proxembed.algebra.arrays.matrix import row_blocks
from proxembed.params import call_for_array

from .backends import check_count
from .graph import OF_NEIGHBORS, check_kind, edge_rows, sorted_edges, symmetric
from .label_similarity import LabelSimilarity
from .search import rank_in

COMBINATIONS = ("priority", "hadamard", "sum")


def combine(
    kind: str | Callable[[Any, np.ndarray], np.ndarray],
    w: Any,
    g: np.ndarray,
    *,
    a: float = 1.0,
    b: float = 1.0,
    beta: float = 1.0,
    gamma: float = 1.0,
) -> np.ndarray:
    """Proximity psi of pairs of rows with weights w and similarities g, both in [0, 1]. [mu2012mesd] Labels come first
    in "priority", (43): psi = gamma g^a / (1 + beta (1 - w^b)) + (1 - gamma) w^b lies between g^a / (1 + beta) and g^a
    where gamma is 1, and rows without a similarity have none there. 0^0 is 1, but g = 0 always gives g^a = 0."""
    g = np.asarray(g, dtype=np.float64)
    _check_unit("g", g)
    if w is not None:
        w = np.asarray(w, dtype=np.float64)
        _check_unit("w", w)
    if callable(kind):
        return _called(kind, np.ones(g.shape) if w is None else np.broadcast_to(w, g.shape), g)
    check_combination(kind, a=a, b=b, beta=beta, gamma=gamma)
    if kind == "priority":
        return combine_priority(w, g, a, b, beta, gamma)
    return combine_hadamard(w, g) if kind == "hadamard" else combine_sum(w, g, beta)


@dataclass(frozen=True)
class Combination:
    """psi(w, g) of one kind and its parameters, as ``combine`` takes them."""

    kind: str | Callable[..., Any] = "priority"
    parameters: dict[str, Any] = field(default_factory=dict)

    def __call__(self, w: Any, g: np.ndarray) -> np.ndarray:
        return combine(self.kind, w, g, **self.parameters)

    @property
    def rises(self) -> bool:
        """Whether psi is known not to fall where w grows."""
        return isinstance(self.kind, str)


def combine_priority(
    w: np.ndarray | None, g: np.ndarray, a: float = 1.0, b: float = 1.0, beta: float = 1.0, gamma: float = 1.0
) -> np.ndarray:
    """gamma g^a / (1 + beta (1 - w^b)) + (1 - gamma) w^b, (43) where gamma is 1; g^a without weights.  [mu2012mesd]

    Examples
    --------
    >>> combine_priority(np.array([0.25]), np.array([0.25]), a=0.5, b=0.5)
    array([0.33333333])
    """
    labels = np.where(g > 0.0, g**a, 0.0) if a != 1.0 else g
    if w is None:
        return np.array(labels)
    features = w**b if b != 1.0 else w
    psi = labels / (1.0 + beta * (1.0 - features))
    return psi if gamma == 1.0 else gamma * psi + (1.0 - gamma) * features


def combine_hadamard(w: np.ndarray | None, g: np.ndarray) -> np.ndarray:
    """g w; g without weights."""
    return np.array(g) if w is None else g * w


def combine_sum(w: np.ndarray | None, g: np.ndarray, beta: float) -> np.ndarray:
    """beta g + (1 - beta) w; g without weights."""
    return np.array(g) if w is None else beta * g + (1.0 - beta) * w


def check_combination(kind: str, *, a: float = 1.0, b: float = 1.0, beta: float = 1.0, gamma: float = 1.0) -> None:
    """A ValueError for a combination that is not known and for parameters out of range."""
    if kind not in COMBINATIONS:
        raise ValueError(
            f"combine={kind!r} is not known; choose one of {', '.join(COMBINATIONS)}, or pass a callable (w, g)."
        )
    for name, value in (("a", a), ("b", b), ("beta", beta), ("gamma", gamma)):
        most = 1.0 if name == "gamma" or (name == "beta" and kind == "sum") else np.inf
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= value <= most or value == np.inf:
            allowed = "from 0 to 1" if most == 1.0 else "of at least 0"
            raise ValueError(f"{name}={value!r} is not allowed with combine={kind!r}: a finite number {allowed} is.")


def unit_weights(W: Any) -> Any:
    """Weights as ``combine`` takes them: max(w, 0) over the largest; CSR keeps its stored entries, and all may be 0."""
    if sparse.issparse(W):
        W = sparse.csr_array(W, dtype=np.float64)
        return sparse.csr_array((unit_weights(W.data), W.indices, W.indptr), shape=W.shape)
    values = np.maximum(np.asarray(W, dtype=np.float64), 0.0)
    top = float(values.max(initial=0.0))
    if not top < np.inf:
        raise ValueError("W holds weights that are not finite: scale X, or set absent weights to 0.")
    return values / top if top > 0.0 else values


def combine_grouped(
    G: LabelSimilarity, W: Any = None, kind: str | Callable[..., Any] = "priority", **parameters: float
) -> tuple[np.ndarray, np.ndarray, sparse.csr_array | None]:
    """Psi of all pairs of rows in structured form, exactly: Psi = E P E' + C, E the label set of each row. Off the
    edges of W the weights are 0, so that psi depends on the label sets alone; C holds what the edges change."""
    psi, (index, Gu) = Combination(kind, parameters), G.grouped()
    if W is None:
        return index, psi(None, Gu), None
    W = checked_weights(W, G.n)
    g = Gu[index[edge_rows(W)], index[W.indices]]
    change = psi(W.data, g) - psi(np.zeros(len(g)), g)
    return index, psi(np.zeros(Gu.shape), Gu), sparse.csr_array((change, W.indices, W.indptr), shape=W.shape)


def checked_weights(W: Any, n: int) -> sparse.csr_array:
    """W as canonical CSR, symmetric in every bit; a ValueError where it is not a sparse symmetric n x n matrix."""
    if not sparse.issparse(W) or W.shape != (n, n):
        raise ValueError(
            f"W of type {type(W).__name__} and shape {getattr(W, 'shape', None)} is not allowed: it is a sparse "
            f"{n:,} x {n:,} matrix, or None. Pass sparse.csr_array(W)."
        )
    if not getattr(W, "has_canonical_format", False):
        W = sparse.csr_array(W, copy=True)
        W.sum_duplicates()
    edges = sorted_edges(W)
    if symmetric(edges):
        return edges
    gap = abs(edges - edges.T).max()
    if not gap <= 1e-10:
        raise ValueError(f"W differs from its transpose by up to {gap:.3g}: pass (W + W.T) / 2.")
    return sorted_edges((edges + edges.T) / 2.0)


def _called(kind: Callable[..., Any], w: np.ndarray, g: np.ndarray) -> np.ndarray:
    psi = call_for_array("combine", kind, w, g)
    if psi.shape != g.shape or not np.isfinite(psi).all():
        raise ValueError(
            f"combine={kind!r} must return finite values of the shape {g.shape} of g; it returned {psi.shape}, "
            f"{'all finite' if np.isfinite(psi).all() else 'not all finite'}."
        )
    return psi


def _check_unit(name: str, values: np.ndarray) -> None:
    if values.size and not (values.min() >= 0.0 and values.max() <= 1.0):
        raise ValueError(
            f"{name} holds values from {values.min():g} to {values.max():g}; from 0 to 1 is allowed: clip it at 0 and "
            "divide by its maximum (unit_weights)."
        )


VALUES = ("psi", "binary")
TIE = 2.0**40  # values that agree to 40 binary digits are equal: rounding decides no tie
IN_CACHE = 4  # factor by which blocks are smaller than usual, so that several passes over each find it in the cache
WeightBlocks = Callable[[slice], np.ndarray]


def nearest_by_similarity(
    G: LabelSimilarity, K: int, W: Any = None, kind: str | Callable[..., Any] = "priority", **parameters: float
) -> sparse.csr_array:
    """For each row the K other rows of largest psi, ties by index, as directed n x n CSR of psi. [mu2012mesd] Values
    that agree to 40 binary digits are ties. Rows with fewer than K positive psi keep what they have. W: None for labels
    alone, a sparse graph (w = 0 off its edges), or a function of a slice of rows that returns their weights to all
    rows."""
    check_count(K, G.n - 1)
    psi = Combination(kind, parameters)
    if callable(W):
        return _by_blocks(G, int(K), W, psi)
    edges = sparse.csr_array((G.n, G.n)) if W is None else _off_diagonal(checked_weights(W, G.n))
    longest = int(np.diff(edges.indptr).max(initial=0))
    lists = _set_lists(G, int(K) + 1 + (0 if psi.rises else longest), psi, None if W is None else 0.0)
    own = psi(edges.data, G.pairs(edge_rows(edges), edges.indices)) if edges.nnz else np.empty(0)
    return _merged(G, int(K), edges, own, lists)


def sparsify(
    G: LabelSimilarity,
    K: int,
    W: Any = None,
    kind: str | Callable[..., Any] = "priority",
    *,
    link: str = "undirected",
    values: str = "psi",
    self_loops: bool = False,
    **parameters: float,
) -> sparse.csr_array:
    """Psi after kNN, symmetric: the pairs of which either row ("undirected"), or both ("mutual") have the other among
    their K of largest psi; "directed" averages both directions. [mu2012mesd]"""
    check_kind(link, OF_NEIGHBORS, "link")
    check_kind(values, VALUES, "values")
    chosen = nearest_by_similarity(G, K, W, kind, **parameters)
    if values == "binary":
        chosen.data[:] = 1.0
    linked = _linked(chosen, link)
    if not self_loops:
        return linked
    everyone = np.arange(G.n)
    own = Combination(kind, parameters)(_diagonal(W, G.n), G.pairs(everyone, everyone))
    return sparse.csr_array(linked + sparse.diags_array((own > 0) * 1.0 if values == "binary" else own))


def _linked(chosen: sparse.csr_array, link: str) -> sparse.csr_array:
    """The symmetric form of a directed graph of positive values; the two values of a pair differ by rounding alone."""
    other = chosen.T.tocsr()
    if link == "directed":
        return sparse.csr_array((chosen + other) / 2.0)
    return sparse.csr_array(chosen.minimum(other) if link == "mutual" else chosen.maximum(other))


def _off_diagonal(W: sparse.csr_array) -> sparse.csr_array:
    """The edges between different rows; stored zeros stay."""
    row = edge_rows(W)
    off = row != W.indices
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[off], minlength=W.shape[0]))])
    return sparse.csr_array((W.data[off], W.indices[off], indptr), shape=W.shape)


def _diagonal(W: Any, n: int) -> np.ndarray | None:
    if W is None or hasattr(W, "diagonal"):
        return None if W is None else W.diagonal()
    return np.concatenate([np.diagonal(_block(W, part, n), part.start) for part in row_blocks(n, n)])


def _set_lists(
    G: LabelSimilarity, L: int, psi: Combination, w: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each label set the L rows of largest positive psi(w, g), ties by index: (start of each list, rows, psi). Of
    each set only the first L rows can be in a list, since all its rows have the same psi."""
    order = np.argsort(G.index, kind="stable")
    first = np.sort(order[rank_in(G.index[order], G.u) < L])
    kind = G.index[first]
    everyone = np.arange(G.u)

    def work(part: slice) -> tuple[np.ndarray, ...]:
        value = psi(w, G.of_sets(everyone[part], everyone))[:, kind]
        row, column = _largest(value, L)
        return np.bincount(row, minlength=part.stop - part.start), first[column], value[row, column]

    found = each_in_threads(work, row_blocks(G.u, IN_CACHE * max(G.u, len(first))))
    counts, rows, values = (np.concatenate(column) for column in zip(*found, strict=True))
    return np.concatenate([[0], np.cumsum(counts)]), rows, values


def _merged(
    G: LabelSimilarity,
    K: int,
    edges: sparse.csr_array,
    own: np.ndarray,
    lists: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> sparse.csr_array:
    """The K best of each row among the list of its label set and its edges, whose own psi counts."""
    n, (start, listed, value) = G.n, lists
    length = np.where(_settled(G, K, edges, own, lists), 0, np.diff(start)[G.index])
    rows, columns, kept = [], [], []
    for part in row_blocks(n, int(length.max(initial=0)) + edges.nnz // n + 1):
        here = np.arange(part.start, part.stop)
        i = np.repeat(here, length[part])
        at = np.arange(len(i)) + np.repeat(
            start[G.index[here]] - (np.cumsum(length[part]) - length[part]), length[part]
        )
        span = slice(edges.indptr[part.start], edges.indptr[part.stop])
        near = np.repeat(here, np.diff(edges.indptr[part.start : part.stop + 1])), edges.indices[span]
        known = near[0] * np.int64(n) + near[1]
        j = listed[at]
        new = (i != j) & ~_among(i * np.int64(n) + j, known)
        i, j = np.concatenate([i[new], near[0]]), np.concatenate([j[new], near[1]])
        psi = np.concatenate([value[at[new]], own[span]])
        best = np.flatnonzero(psi > 0.0)
        best = best[_largest_of_rows(i[best] - part.start, j[best], psi[best], K, len(here))]
        rows.append(i[best])
        columns.append(j[best])
        kept.append(psi[best])
    return _graph(np.concatenate(rows), np.concatenate(columns), np.concatenate(kept), n)


def _settled(
    G: LabelSimilarity,
    K: int,
    edges: sparse.csr_array,
    own: np.ndarray,
    lists: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Rows with K edges of larger psi than any pair in the list of their label set: the list adds nothing, (n,)."""
    most = np.maximum.reduceat(np.append(lists[2], 0.0), lists[0][:-1]) * (1.0 + 4.0 / TIE)
    most[np.diff(lists[0]) == 0] = 0.0
    row = edge_rows(edges)
    return np.bincount(row[own > most[G.index[row]]], minlength=G.n) >= K


def _by_blocks(G: LabelSimilarity, K: int, W: WeightBlocks, psi: Combination) -> sparse.csr_array:
    """All weights of a block of rows at a time."""
    n, everyone = G.n, np.arange(G.u)

    def work(part: slice) -> tuple[np.ndarray, ...]:
        value = psi(_block(W, part, n), G.of_sets(G.index[part], everyone)[:, G.index])
        value[np.arange(len(value)), np.arange(part.start, part.stop)] = 0.0
        row, column = _largest(value, K)
        return row + part.start, column, value[row, column]

    found = each_in_threads(work, row_blocks(n, IN_CACHE * n))
    row, column, value = (np.concatenate(column) for column in zip(*found, strict=True))
    return _graph(row, column, value, n)


def _block(W: WeightBlocks, part: slice, n: int) -> np.ndarray:
    w = np.asarray(W(part), dtype=np.float64)
    if w.shape != (part.stop - part.start, n):
        raise ValueError(
            f"W(rows) must give the weights of {part.stop - part.start} rows to all {n:,}; it gave shape {w.shape}."
        )
    return w


def _largest(value: np.ndarray, L: int) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of the L largest positive entries of each row of an array, ties by column; rows ascend."""
    rows, width = value.shape
    least = np.zeros(rows)
    if L < width:
        least = np.partition(value, width - L, axis=1)[:, width - L] * (1.0 - 4.0 / TIE)
    row, column = np.nonzero((value >= least[:, None]) & (value > 0.0))
    order = np.lexsort((column, -_rounded(value[row, column]), row))
    order = order[rank_in(row[order], rows) < L]
    return row[order], column[order]


def _largest_of_rows(i: np.ndarray, j: np.ndarray, value: np.ndarray, K: int, rows: int) -> np.ndarray:
    """Which positive entries (i, j, value) are among the K largest of their row, ties by column; a mask."""
    rounded = _rounded(value)
    least = _least_kept(i, rounded, K, rows)[i]
    kept = rounded > least
    tied = np.flatnonzero(rounded == least)
    tied = tied[np.argsort(i[tied] * (j.max(initial=0) + np.int64(1)) + j[tied])]
    room = K - np.bincount(i[kept], minlength=rows)
    kept[tied[rank_in(i[tied], rows) < room[i[tied]]]] = True
    return kept


def _least_kept(i: np.ndarray, value: np.ndarray, K: int, rows: int) -> np.ndarray:
    """The K-th largest of the positive values of each row, 0 for rows of at most K values; (rows,). Rows with similar
    numbers of values are padded to one width and partitioned together."""
    order = np.argsort(i, kind="stable")  # a merge, as i is made of ascending runs
    count = np.bincount(i, minlength=rows)
    start = np.cumsum(count) - count
    least = np.zeros(rows)
    many = np.flatnonzero(count > K)
    power = np.frexp(count[many] - 1.0)[1]
    for exponent in np.unique(power):
        same, width = many[power == exponent], 2 ** int(exponent)
        place = np.arange(width)
        at = order[np.minimum(start[same, None] + place, len(order) - 1)]
        padded = np.where(place < count[same, None], value[at], 0.0)
        least[same] = np.partition(padded, width - K, axis=1)[:, width - K]
    return least


def _rounded(value: np.ndarray) -> np.ndarray:
    """Values to 40 binary digits."""
    part, power = np.frexp(value)
    part *= TIE
    return np.ldexp(np.rint(part, out=part), power)


def _among(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether each key is among the ascending known ones."""
    at = np.searchsorted(known, keys)
    return np.append(known, -1)[at] == keys


def _graph(i: np.ndarray, j: np.ndarray, value: np.ndarray, n: int) -> sparse.csr_array:
    found = sparse.csr_array((value, (i, j)), shape=(n, n))
    found.sort_indices()
    return found
