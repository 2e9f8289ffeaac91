"""Isomap: classical multidimensional scaling of shortest paths along a neighbour graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import MAX_DENSE_BYTES, dense_side, guard_dense, row_blocks
from proxembed.algebra.pencil.direct import Placement, solve_direct
from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.template import Template
from proxembed.rows import Rows

from ..base import Prepared
from ..direct import DirectEmbedder, stored_like
from ..features.landmarks import LANDMARK_COUNT, LANDMARK_SEED_DOC, landmark_count, landmark_rows
from ..neighborly import FromDistances, links_within, path_lengths
from ..params import SEED, param
from ..proximity.geodesic import connected, geodesics
from ..proximity.neighbors import Neighbors, nearest
from ..validation import in_range
from .gower import DoubleCentred, gower_rows
from .manifold import SCALING_DOC

LANDMARKS = 500
DENSE_UP_TO = 400  # few large eigenvalues stand far apart from the others: Lanczos takes some twenty products


@dataclass(frozen=True)
class Paths(Prepared):
    """The squared lengths of paths from the landmarks (their numbers among the rows kept; None: all rows) to all rows
    kept, which fit needs alone."""

    squares: np.ndarray | None = None
    landmarks: np.ndarray | None = None


class Isomap(DirectEmbedder, FromDistances, positive_only=True):
    """Isometric mapping (Isomap): A = -1/2 J E J, E the squared lengths of shortest paths, Z = V diag(w)^1/2.
    [tenenbaum2000isomap]

    Preserves distances along the manifold, measured as shortest paths on the neighbour graph. New rows are placed by
    the paths through their neighbours and Gower's rule [gower1968mds]. Memory is n x n. With ``n_landmarks`` it is n
    times that number: the landmarks, drawn at random, are scaled, and all rows are placed by their paths to the
    landmarks and the same rule (landmark Isomap [desilva2003landmark]).

    Attributes
    ----------
    embedding_ : (n, k) array, Z; NaN for rows outside the largest component under disconnected="largest".
    eigenvalues_ : (k,) array, descending and positive, of the landmarks' matrix where there are landmarks.
    graph_ : (n, n) CSR of the distances along which paths run.
    landmarks_ : indices of the rows that were scaled.
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For n_components above the number of positive eigenvalues, n_neighbors above n - 1, constant X, a disconnected
        graph under disconnected="error", or an n x n matrix above the size guard (use n_landmarks).

    Examples
    --------
    >>> from sklearn.manifold import trustworthiness
    >>> from proxembed import Isomap
    >>> from proxembed.data import digits
    >>> X = digits().X[:300]
    >>> model = Isomap(n_neighbors=10).fit(X[:200])
    >>> bool(trustworthiness(X, model.transform(X), n_neighbors=10) > 0.9)  # of neighbours
    True
    """

    eps: float | None = param(
        default=None, above=0, choices=(None,), doc="Link rows up to this distance, instead of n_neighbors; None: no."
    )
    disconnected: str = param(
        default="connect",
        choices=("connect", "largest", "error"),
        doc="Several graph components: add the shortest edges between them and warn, embed the largest, or refuse.",
    )
    n_landmarks: int | str | None = param(
        default="auto",
        like=LANDMARK_COUNT,
        doc="Rows to scale, the others placed by them; None: all; auto: all up to 16,384 rows, 500 above (fewer where "
        "their paths to all rows would exceed the size guard).",
    )
    random_state: Any = param(default=0, like=SEED, doc=LANDMARK_SEED_DOC)
    scaling: str = param(default="eigenvalue", choices=("eigenvalue", "template", "unit"), doc=SCALING_DOC)

    @property
    def searches(self) -> bool:
        """Whether the n_neighbors of rows are searched: not where rows within eps are linked."""
        return self.eps is None

    def prepare(self, rows: Rows) -> Prepared:
        graph, kept = self._graph(rows)
        landmarks = self._landmarks(rows, kept)
        squares = geodesics(graph, landmarks)
        np.square(squares, out=squares)
        scaled = kept if landmarks is None else kept[landmarks]
        learned = {"graph_": graph, "kept_": kept, "landmarks_": scaled, **self.search_info(rows)}
        return Paths(**vars(super().prepare(rows)) | {"attributes": learned}, squares=squares, landmarks=landmarks)

    def template(self, rows: Rows) -> Template:
        paths = self.prepared_
        return Template(DoubleCentred(paths.squares if paths.landmarks is None else paths.squares[:, paths.landmarks]))

    def _landmarks(self, rows: Rows, kept: np.ndarray) -> np.ndarray | None:
        """The rows to scale, by their number among those kept; None for all."""
        m = len(kept)
        most = max(2, MAX_DENSE_BYTES // (8 * m))
        number = landmark_count("Isomap", self.n_landmarks, m, dense_side(), min(LANDMARKS, most))
        if number is None:
            guard_dense((m, m), "The shortest paths between all rows (set n_landmarks to bound them)")
            return None
        guard_dense((number, m), "The shortest paths from the landmarks", remedy=f"Use n_landmarks <= {most}.")
        return landmark_rows(rows.X[kept], number, random_state=self.random_state)

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        A: Any = template.A
        self.level_ = A.A.mean(axis=1)
        return solve_direct(template.A, k, dense_up_to=DENSE_UP_TO).with_positive_eigenvalues()

    def complete(self, Z: np.ndarray, rows: Rows) -> np.ndarray:
        paths = self.prepared_
        if paths.landmarks is not None:
            parts = row_blocks(len(self.kept_), len(Z))
            Z = np.vstack([gower_rows(paths.squares[:, p].T, self.level_, Z, self.eigenvalues_) for p in parts])
        whole = np.full((rows.n, Z.shape[1]), np.nan)
        whole[self.kept_] = Z
        return whole

    def learn(self, rows: Rows, found: Solution) -> None:
        self.training_ = rows.X

    def extend(self, X: Any) -> np.ndarray:
        links = self._links(stored_like(X, self.training_))
        position = np.full(self.training_.shape[0], -1)
        position[self.kept_] = np.arange(len(self.kept_))
        links = Neighbors(position[links.index], links.distance)
        Z = np.full((X.shape[0], self.embedding_.shape[1]), np.nan)
        for part, lengths in path_lengths(self.graph_, links, position[self.landmarks_]):
            placed = np.flatnonzero(np.isfinite(lengths).all(axis=1))
            squares = lengths[placed] ** 2
            scaled = gower_rows(squares, self.level_, self.embedding_[self.landmarks_], self.eigenvalues_)
            Z[part.start + placed] = in_range(scaled, X, np.float64)
        return Z

    def _graph(self, rows: Rows) -> tuple[sparse.csr_array, np.ndarray]:
        """The distances along which paths run, and the rows that it joins."""
        graph = self._neighbor_graph(rows, "undirected" if self.eps is None else "closeness", self.eps)
        if self.disconnected == "largest":
            return connected(graph, rows.X, how="largest", metric=self.metric)
        return connected(graph, rows.X, how=self.disconnected, metric=self.metric), np.arange(rows.n)

    def _links(self, X: Any) -> Neighbors:
        """The training rows through which paths to new rows run: with eps all within it, or the nearest."""
        if self.eps is None:
            return nearest(self.training_, self.n_neighbors, queries=X, **self._search)
        return links_within(self.training_, self.eps, X, self.metric)

    def natural_components(self, rows: Rows) -> int:
        return 2 if rows.n > 2 else 1
