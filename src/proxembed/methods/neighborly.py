"""What methods on neighbour graphs share: their parameters, the search of a fit, and the links of new rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ..base import SpectralEmbedder
from ..params import integers, param
from ..proximity.geodesic import geodesics
from ..proximity.graph import OF_NEIGHBORS, rows_within
from ..proximity.neighbors import Neighbors, check_count, nearest
from ..rows import Rows

BLOCK_ENTRIES = 1 << 22
WEIGHTS_DOC = (
    'Weights of neighbours, from their distance or likeness; "geodesic" measures the distance along the graph of '
    'n_neighbors: that is the Gaussian, but for graph="closeness" and "full".'
)


class Neighborly(SpectralEmbedder, abstract=True):
    """A method made from the neighbours of every row; keeps the sampled recall of an approximate search. [mu2012mesd]

    Attributes
    ----------
    recall_ : float or None, the share of true neighbours that an approximate search found; None for an exact one.
    """

    n_neighbors: int = param(
        default=5, low=1, integer=True, search=integers(2, 30), doc="Neighbours of a row; at most n - 1."
    )
    metric: str = param(default="euclidean", choices=("euclidean", "cosine"), doc="Distance between rows.")
    algorithm: Any = param(
        default="exact",
        choices=("exact", "faiss", "pynndescent"),
        kind=BaseEstimator,
        doc="Search for neighbours: exact, an approximate one by name, or a transformer like KNeighborsTransformer.",
    )

    @property
    def _search(self) -> dict[str, Any]:
        return {"metric": self.metric, "algorithm": self.algorithm}

    def _neighbors(self, rows: Rows) -> Neighbors:
        """The neighbours of every row, after the one check that needs the rows."""
        check_count(self.n_neighbors, rows.n - 1, f"{type(self).__name__}: n_neighbors")
        found = rows.neighbors(self.n_neighbors, **self._search)
        self.recall_ = found.recall
        return found

    def _neighbor_graph(self, rows: Rows, kind: str, eps: float | None = None) -> sparse.csr_array:
        """A graph of one of the five kinds, CSR of distances."""
        self.recall_ = None
        if kind in OF_NEIGHBORS:
            self._neighbors(rows)
        return rows.graph(kind, self.n_neighbors, eps, **self._search)


class Linked(Neighborly, abstract=True):
    """A method made from a weighted graph of neighbours. [mu2012mesd]"""

    graph: str = param(
        default="undirected",
        choices=(*OF_NEIGHBORS, "closeness", "full"),
        doc="Neighbours either way, both ways or one way (weights averaged), all rows within eps, or all rows.",
    )
    eps: float | None = param(
        default=None, above=0, choices=(None,), doc='Largest distance of neighbours under graph="closeness".'
    )
    tau: float | None = param(
        default=None,
        above=0,
        choices=(None,),
        doc='Width of the weights; None: the median squared length of edges, or 1 for "alternative".',
    )

    def _graphs(self, rows: Rows) -> tuple[sparse.csr_array, sparse.csr_array | None]:
        """The graph, and that of n_neighbors along which geodesic weights measure; None where they are one."""
        graph = self._neighbor_graph(rows, self.graph, self.eps)
        if self.weights != "geodesic" or self.graph in OF_NEIGHBORS:
            return graph, None
        return graph, self._neighbor_graph(rows, "undirected")


def links_within(X, eps: float, queries, metric: str) -> Neighbors:
    """For each new row the rows within ``eps``, nearest first; padded with infinite distances to the longest list.

    A row without any has the nearest one in the first place, whose distance is then above ``eps``.

    >>> found = links_within(np.array([[0.0], [1.0], [3.0]]), 2.5, np.array([[2.5], [9.0]]), "euclidean")
    >>> found.index.tolist(), found.distance.tolist()
    ([[2, 1, 0], [2, 0, 0]], [[0.5, 1.5, 2.5], [6.0, inf, inf]])
    """
    near = rows_within(X, eps, queries=queries, metric=metric)
    count = np.diff(near.indptr)
    shape = len(count), max(1, int(count.max(initial=0)))
    index, distance = np.zeros(shape, dtype=np.intp), np.full(shape, np.inf)
    row = np.repeat(np.arange(len(count)), count)
    place = np.arange(near.nnz) - near.indptr[row]
    order = np.lexsort((near.indices, near.data, row))
    index[row, place], distance[row, place] = near.indices[order], near.data[order]
    alone = np.flatnonzero(count == 0)
    if len(alone):
        found = nearest(X, 1, queries=queries[alone], metric=metric)
        index[alone, 0], distance[alone, 0] = found.index[:, 0], found.distance[:, 0]
    return Neighbors(index, distance)


def path_lengths(
    graph: sparse.csr_array, links: Neighbors, reference: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """min_i (d(x, x_i) + g_ij) over the links i of each new row x, g the shortest paths along the symmetric graph, for
    each row j of ``reference``: blocks of new rows with an array (rows, r), inf where there is no path.

    The graph is searched once, from the fewer of both ends. Links of infinite distance, or to number -1, are none.

    >>> graph = sparse.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    >>> links = Neighbors(np.array([[2, 1]]), np.array([[0.5, 1.0]]))
    >>> [lengths.tolist() for _, lengths in path_lengths(graph, links, np.arange(3))]
    [[[2.0, 1.0, 0.5]]]
    """
    distance = np.where(links.index < 0, np.inf, links.distance)
    sources, place = np.unique(np.maximum(links.index, 0), return_inverse=True)
    place = place.reshape(links.index.shape)
    if len(reference) <= len(sources):
        along = np.ascontiguousarray(geodesics(graph, reference).T[sources])
    else:
        along = geodesics(graph, sources)[:, reference]
    step = max(1, BLOCK_ENTRIES // max(1, len(reference)))
    for start in range(0, len(place), step):
        part = slice(start, min(start + step, len(place)))
        shortest = np.full((part.stop - start, len(reference)), np.inf)
        for column, length in zip(place[part].T, distance[part].T, strict=True):
            np.minimum(shortest, length[:, None] + along[column], out=shortest)
        yield part, shortest
