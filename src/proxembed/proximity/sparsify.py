"""The K largest proximities psi of every row, as a symmetric sparse graph: Psi after kNN, without the n x n Psi.

In: similarities by labels G and weights by features W. Out: n x n CSR of psi (or ones). Rows with the same label set
have the same g to every row, and W is nonzero on few pairs: off those, psi depends on the two label sets alone. So one
ranked list per label set serves all its rows, and only the pairs that W knows are looked at row by row. Where psi rises
with w, the K best of a row are among the first K + 1 of its set's list and the row's own edges; and as a list of L
rows takes at most L of each label set, the lists come from at most u L rows: the cost is u min(n, u K) + nnz(W) + n K.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import in_threads
from proxembed.algebra.arrays.matrix import row_blocks

from .combine import Combination, checked_weights
from .graph import OF_NEIGHBORS, check_kind, edge_rows
from .label_similarity import LabelSimilarity
from .neighbors import check_count
from .search import rank_in

VALUES = ("psi", "binary")
TIE = 2.0**40  # values that agree to 40 binary digits are equal: rounding decides no tie
IN_CACHE = 4  # factor by which blocks are smaller than usual, so that several passes over each find it in the cache
WeightBlocks = Callable[[slice], np.ndarray]


def nearest_by_similarity(
    G: LabelSimilarity, K: int, W: Any = None, kind: str | Callable[..., Any] = "priority", **parameters: float
) -> sparse.csr_array:
    """For each row the K other rows of largest psi, ties by index, as directed n x n CSR of psi.  [mu2012mesd]

    Values that agree to 40 binary digits are ties. Rows with fewer than K positive psi keep what they have.

    Parameters
    ----------
    G : LabelSimilarity
    K : int, 1 to n - 1
    W : None, sparse matrix of shape (n, n), or callable
        Symmetric weights in [0, 1] from features: None, labels only; a graph, w = 0 off its edges; or for a full kernel
        a function of a slice of rows that gives their weights to all rows, (rows, n), asked for block by block (and
        its ``diagonal()``, where it has one, for self loops).
    kind, parameters
        Of ``combine``.

    Returns
    -------
    csr_array of shape (n, n), at most K entries per row, all positive; columns ascend.

    Raises
    ------
    ValueError
        For K out of range, W of another size, and what ``combine`` refuses.

    Examples
    --------
    >>> from proxembed.targets.labels import LabelMatrix
    >>> from proxembed.proximity.label_similarity import label_similarity
    >>> G = label_similarity(LabelMatrix.of(np.array([[1, 0], [1, 1], [1, 0], [0, 1]])), "labels")
    >>> nearest_by_similarity(G, 1).indices.tolist()
    [2, 0, 0, 1]
    """
    check_count(K, G.n - 1)
    psi = Combination(kind, parameters)
    if callable(W):
        return _by_blocks(G, int(K), W, psi)
    if W is None:
        edges = sparse.csr_array((G.n, G.n))
    else:
        edges = _off_diagonal(checked_weights(W, G.n))
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
    their K of largest psi; "directed" averages both directions.  [mu2012mesd]

    Parameters
    ----------
    G, K, W, kind, parameters
        As in ``nearest_by_similarity``.
    link : {"undirected", "mutual", "directed"}
    values : "psi", or "binary" for 1
    self_loops : keep psi_ii on the diagonal, with the w_ii that W holds (labels only: without weights)

    Returns
    -------
    csr_array of shape (n, n), symmetric in every bit.

    Raises
    ------
    ValueError
        As ``nearest_by_similarity``, and for an unknown link or values.

    Examples
    --------
    >>> from proxembed.targets.labels import LabelMatrix
    >>> from proxembed.proximity.label_similarity import label_similarity
    >>> G = label_similarity(LabelMatrix.of(np.array([[1, 0], [1, 1], [1, 0]])), "labels")
    >>> sparsify(G, 1).toarray().round(3)
    array([[0.   , 0.667, 1.   ],
           [0.667, 0.   , 0.   ],
           [1.   , 0.   , 0.   ]])
    """
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
    """For each label set the L rows of largest positive psi(w, g), ties by index: (start of each list, rows, psi).

    Of each set only the first L rows can be in a list, since all its rows have the same psi.
    """
    order = np.argsort(G.index, kind="stable")
    first = np.sort(order[rank_in(G.index[order], G.u) < L])
    kind = G.index[first]
    everyone, parts = np.arange(G.u), list(row_blocks(G.u, IN_CACHE * max(G.u, len(first))))
    found: list[Any] = [None] * len(parts)

    def work(chosen: slice) -> None:
        for number in range(chosen.start, chosen.stop):
            part = parts[number]
            value = psi(w, G.of_sets(everyone[part], everyone))[:, kind]
            row, column = _largest(value, L)
            found[number] = np.bincount(row, minlength=part.stop - part.start), first[column], value[row, column]

    in_threads(work, len(parts), 1)
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
    parts = list(row_blocks(n, IN_CACHE * n))
    found: list[Any] = [None] * len(parts)

    def work(chosen: slice) -> None:
        for number in range(chosen.start, chosen.stop):
            part = parts[number]
            value = psi(_block(W, part, n), G.of_sets(G.index[part], everyone)[:, G.index])
            value[np.arange(len(value)), np.arange(part.start, part.stop)] = 0.0
            row, column = _largest(value, K)
            found[number] = row + part.start, column, value[row, column]

    in_threads(work, len(parts), 1)
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
    """The K-th largest of the positive values of each row, 0 for rows of at most K values; (rows,).

    Rows with similar numbers of values are padded to one width and partitioned together.
    """
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
