"""Isomap: classical multidimensional scaling of shortest paths along a neighbour graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..algebra.direct import positive_part, solve_direct
from ..algebra.gower import DoubleCentred, gower_rows
from ..algebra.guard import guard_dense
from ..direct import DirectEmbedder, stored_like
from ..features.prototypes import prototypes_farthest
from ..params import integers, param
from ..proximity.geodesic import connected, geodesics
from ..proximity.neighbors import Neighbors, check_count, nearest
from ..template import Template
from .manifold import SCALING_DOC

BLOCK_ENTRIES = 1 << 23
DENSE_UP_TO = 400  # few large eigenvalues stand far apart from the others: Lanczos takes some twenty products


class Isomap(DirectEmbedder):
    """Isometric mapping (Isomap): A = -1/2 J E J, E the squared lengths of shortest paths, Z = V diag(w)^1/2.
    [tenenbaum2000isomap]

    Distances along the manifold are kept, as paths on the neighbour graph measure them. New rows are placed by the
    paths through their neighbours and Gower's rule [gower1968mds]. Memory is n x n, or n times ``n_landmarks``: then
    the landmarks (each the row farthest from those before) are scaled, and all rows placed against them.

    Attributes
    ----------
    embedding_ : (n, k) array, Z; NaN for rows outside the largest component under disconnected="largest".
    eigenvalues_ : (k,) array, descending and positive, of the landmarks' matrix where there are landmarks.
    graph_ : (n, n) CSR of the distances along which paths run.
    landmarks_ : indices of the rows that were scaled.

    Raises
    ------
    ValueError
        For n_components above the number of positive eigenvalues, n_neighbors above n - 1, constant X, a disconnected
        graph under disconnected="error", or an n x n matrix above the size guard (use n_landmarks).

    Examples
    --------
    >>> from proxembed import Isomap
    >>> from proxembed.data import digits
    >>> X = digits().X[:300]
    >>> Isomap(n_neighbors=10).fit(X[:200]).transform(X).shape
    (300, 2)
    """

    positive_only = True
    n_neighbors: int = param(default=5, low=1, integer=True, search=integers(3, 30), doc="Neighbours of each row.")
    eps: float | None = param(
        default=None, above=0, choices=(None,), doc="Link rows up to this distance, instead of n_neighbors; None: no."
    )
    disconnected: str = param(
        default="connect",
        choices=("connect", "largest", "error"),
        doc="Several graph components: add the shortest edges between them and warn, embed the largest, or refuse.",
    )
    n_landmarks: int | None = param(
        default=None, low=2, integer=True, choices=(None,), doc="Rows to scale, the others placed by them; None: all."
    )
    metric: str = param(default="euclidean", choices=("euclidean", "cosine"), doc="Distance between neighbours.")
    algorithm: Any = param(
        default="exact",
        choices=("exact", "faiss", "pynndescent"),
        kind=BaseEstimator,
        doc="Search for neighbours: exact, an approximate one by name, or a transformer like KNeighborsTransformer.",
    )
    scaling: str = param(default="eigenvalue", choices=("eigenvalue", "template", "unit"), doc=SCALING_DOC)

    def template(self, rows):
        self.graph_, self.kept_ = self._graph(rows)
        m = len(self.kept_)
        if self.n_landmarks is None:
            guard_dense((m, m), "The shortest paths between all rows (set n_landmarks to bound them)")
            reference = np.arange(m)
        else:
            check_count(self.n_landmarks, m, "n_landmarks")
            guard_dense((self.n_landmarks, m), "The shortest paths from the landmarks")
            reference = prototypes_farthest(rows.X[self.kept_], self.n_landmarks, random_state=0)[1]
        self.landmarks_ = self.kept_[reference]
        self._squares = geodesics(self.graph_, reference)
        np.square(self._squares, out=self._squares)
        return Template(DoubleCentred(self._squares if self.n_landmarks is None else self._squares[:, reference]))

    def place(self, template, rows):
        self.level_ = template.A.A.mean(axis=1)
        return positive_part(solve_direct(template.A, self._request(rows), dense_up_to=DENSE_UP_TO))

    def complete(self, Z, rows):
        squares = vars(self).pop("_squares")
        if self.n_landmarks is not None:
            Z = gower_rows(squares.T, self.level_, Z, self.eigenvalues_)
        whole = np.full((rows.n, Z.shape[1]), np.nan)
        whole[self.kept_] = Z
        return whole

    def learn(self, rows, found):
        self.training_ = rows.X

    def extend(self, X):
        links = self._links(stored_like(X, self.training_))
        reference = np.searchsorted(self.kept_, self.landmarks_)
        Z = np.full((X.shape[0], self.embedding_.shape[1]), np.nan)
        step = max(1, BLOCK_ENTRIES // (links.index.shape[1] * self.graph_.shape[0]))
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            paths = self._paths(links.index[part], links.distance[part], reference)
            placed = np.flatnonzero(np.isfinite(paths).all(axis=1))
            squares = paths[placed] ** 2
            Z[start + placed] = gower_rows(squares, self.level_, self.embedding_[self.landmarks_], self.eigenvalues_)
        return Z

    def _graph(self, rows):
        """The distances along which paths run, and the rows that it joins."""
        if self.eps is None:
            check_count(self.n_neighbors, rows.n - 1, "n_neighbors")
        options = {"metric": self.metric, "algorithm": self.algorithm}
        graph = rows.graph("undirected" if self.eps is None else "closeness", self.n_neighbors, self.eps, **options)
        if self.disconnected == "largest":
            return connected(graph, rows.X, how="largest", metric=self.metric)
        return connected(graph, rows.X, how=self.disconnected, metric=self.metric), np.arange(rows.n)

    def _links(self, X) -> Neighbors:
        """The training rows through which paths to new rows run; an infinite distance is no link."""
        n = self.training_.shape[0]
        K = min(n, self.n_neighbors)
        if self.eps is not None:
            K = min(n, max(K, int(np.diff(self.graph_.indptr).max()) + 1))
        found = nearest(self.training_, K, queries=X, metric=self.metric, algorithm=self.algorithm)
        if self.eps is None:
            return found
        far = found.distance > self.eps
        far[:, 0] = False  # a row with nothing within eps is joined to the nearest
        return Neighbors(found.index, np.where(far, np.inf, found.distance))

    def _paths(self, index: np.ndarray, distance: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """min_i (d(x, x_i) + g_ij) over the links i of each new row, j the rows that were scaled; inf where none."""
        position = np.full(self.training_.shape[0], -1)
        position[self.kept_] = np.arange(len(self.kept_))
        place = position[index]
        distance = np.where(place < 0, np.inf, distance)
        sources, found = np.unique(np.maximum(place, 0), return_inverse=True)
        along = geodesics(self.graph_, sources)[:, reference]
        shortest = np.full((len(index), len(reference)), np.inf)
        for j, column in enumerate(found.reshape(place.shape).T):
            np.minimum(shortest, distance[:, j, None] + along[column], out=shortest)
        return shortest

    def _natural(self, rows):
        return 2 if rows.n > 2 else 1
