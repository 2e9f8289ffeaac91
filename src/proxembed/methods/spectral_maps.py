"""Maps from the smallest eigenvectors of a graph matrix: locally linear embedding and Laplacian eigenmaps."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import row_blocks
from proxembed.algebra.graphs.bottom import SOLVERS
from proxembed.algebra.operators.structured import Diagonal, Identity, Sparse
from proxembed.algebra.pencil.direct import Placement, solve_graph, sparse_form
from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.pencil.symmetric import SPD
from proxembed.algebra.template import Template
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.direct import DirectEmbedder, stored_like
from proxembed.estimator.neighborly import GIVEN_DOC, METRICS_OR_MATRIX, Neighborly, Weighted, warn_unlinked
from proxembed.estimator.rows import Rows, SeenRows, reciprocal
from proxembed.features.prototypes import LANDMARK_COUNT, LANDMARK_SEED_DOC, landmark_count, landmark_rows
from proxembed.params import SEED, log, param
from proxembed.proximity.backends import nearest
from proxembed.proximity.graph import components
from proxembed.proximity.reconstruction import reconstruction_matrix, reconstruction_weights, residual_matrix

LLE_EXACT_UP_TO, LLE_LANDMARKS = 30_000, 2000


class GraphMap(DirectEmbedder, Neighborly, abstract=True):
    """A method that minimises tr Z'MZ over a graph, off the indicators of its components. [mu2012mesd] The n_neighbors
    of a row are distinct rows. Equal rows have one place, and count as often as they occur."""

    components: str = param(
        default="all",
        choices=("all", "largest", "separate"),
        doc="Several graph components: all in one map (with a warning), the largest alone (NaN for all other rows, new "
        "ones near them included), or each in a map of its own.",
    )
    scaling: str = param(
        default="template", choices=("template", "unit"), doc="Columns of Z: Z'BZ = I, or of unit length."
    )
    solver: str = param(default="auto", choices=SOLVERS, doc="Route of the eigenproblem; auto follows the graph.")

    def gap(self) -> int:
        """The power of the graph operator that the matrix is: 2 for a square."""
        return 1

    def trivial(self, template: Template) -> np.ndarray:
        """t (n,): t times the indicator of a graph component has eigenvalue 0."""
        return np.ones(template.A.n)

    def kept_trivial(self) -> bool:
        """Whether those trivial vectors stay in the map, first."""
        return False

    def route(self) -> str:
        """The solver that is asked for."""
        return self.solver

    def scaled(self, found: Solution, rows: Rows) -> np.ndarray:
        return found.P

    @property
    def by_row(self) -> tuple[str, ...]:
        """The fitted attributes with an entry for each row."""
        return ("embedding_", "graph_component_")

    def solve_rows(self, rows: Rows) -> None:
        seen = SeenRows(rows.X) if self.searches and self.metric != "precomputed" else None
        distinct = np.arange(rows.n) if seen is None else np.sort(seen.first)
        if seen is None or len(distinct) == rows.n:
            if rows.counts is not None:
                self._check_distinct(rows.n, int(rows.counts.sum()))
            super().solve_rows(rows)
            self.distinct_ = distinct
            return
        self._check_distinct(len(distinct), rows.n)
        place = np.searchsorted(distinct, seen.find(rows.X))
        counts = np.bincount(place, rows.counts).astype(np.float64)
        super().solve_rows(replace(rows, X=rows.X[distinct], counts=counts))
        self.distinct_, self._seen = distinct, seen
        self.renumber(place)

    def renumber(self, place: np.ndarray) -> None:
        """State what was learned of the distinct rows for all rows; ``place`` (n,) their numbers among these."""
        for name in self.by_row:
            setattr(self, name, getattr(self, name)[place])

    def _check_distinct(self, u: int, n: int) -> None:
        """A ValueError for too few distinct rows."""
        if 1 < u <= self.n_neighbors:
            raise ValueError(
                f"{type(self).__name__}: n_neighbors={self.n_neighbors} is not allowed: {u} of the {n} rows of X are "
                f"distinct, and the neighbours of a row are distinct rows. Use n_neighbors <= {u - 1}, or pass more "
                "rows that differ."
            )

    def prepare(self, rows: Rows) -> Prepared:
        return replace(super().prepare(rows), attributes=self.search_info(rows))

    def place(self, template: Template, rows: Rows, k: Any) -> Placement:
        M = sparse_form(template.A)
        M.eliminate_zeros()
        self.graph_component_ = self._labels(M)
        groups = self._groups()
        found = [self._mapped(template, M, group, k) for group in groups]
        bound = max(part.bound for part in found)
        if bound < 1:
            raise ValueError(
                f"{type(self).__name__} found no links between the rows. Use more neighbours or a larger eps."
            )
        k = min(k, bound)
        Z = np.full((template.A.n, k), self._unlinked)
        w = np.full((k, len(found)), np.nan)
        for j, (group, part) in enumerate(zip(groups, found, strict=True)):
            width = min(k, part.Z.shape[1])
            Z[group] = 0.0
            Z[group, :width] = part.Z[:, :width]
            w[:width, j] = part.eigenvalues[:width]
        return Placement(Z, w if self.components == "separate" else w[:, 0], bound, found[0].solver)

    def _labels(self, M: Any) -> np.ndarray:
        """The graph component of each row, by falling size (ties: the first row); -1 for rows without a link."""
        _, label = components(M)
        size = np.bincount(label)
        order = np.argsort(-size, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        alone = size[label] == 1
        if alone.any():
            warnings.warn(
                f"{int(alone.sum())} of {len(label)} rows have no link to another row and get the embedding "
                f"{self._unlinked:g}. Use more neighbours or another graph.",
                UserWarning,
                stacklevel=6,
            )
        return np.where(alone, -1, rank[label])

    @property
    def _unlinked(self) -> float:
        """The embedding of a row without a link, which is in no graph component: 0, and NaN beside the largest."""
        return np.nan if self.components == "largest" else 0.0

    def _groups(self) -> list[np.ndarray]:
        """The rows of each map."""
        label = self.graph_component_
        count = int(label.max(initial=-1)) + 1
        if self.components == "separate":
            return [np.flatnonzero(label == j) for j in range(count)] or [np.arange(0)]
        if self.components == "largest":
            return [np.flatnonzero(label == 0)]
        if count > 1:
            warnings.warn(
                f"The neighbour graph has {count} connected components; the vectors that tell them apart are "
                f"{'kept first' if self.kept_trivial() else 'left out'}. Use more neighbours, or "
                'components="largest" or "separate".',
                UserWarning,
                stacklevel=6,
            )
        return [np.flatnonzero(label >= 0)]

    def _mapped(self, template: Template, M: Any, group: np.ndarray, k: int) -> Placement:
        """The map of some rows that no edge leaves, Z'BZ = I on them."""
        label = self.graph_component_[group]
        t = self.trivial(template)[group]
        _, column = np.unique(label, return_inverse=True)
        p = int(column.max(initial=-1)) + 1
        null = sparse.csr_array((t, (np.arange(len(group)), column)), shape=(len(group), p))
        weight = np.ones(len(group)) if template.B is None else template.B.diagonal()[group]
        kept = np.zeros((len(group), 0))
        if self.kept_trivial():
            kept = null[:, np.arange(min(k, p))].toarray()
            kept = kept / np.sqrt(weight @ kept**2)
        wanted = min(k - kept.shape[1], len(group) - p)
        bound = len(group) - (0 if self.kept_trivial() else p)
        Z, w, solver = kept, np.zeros(kept.shape[1]), "none"
        if wanted > 0:
            inner = M if len(group) == M.shape[0] else M[group][:, group]
            B = None if template.B is None else Diagonal(weight)
            found = solve_graph(Sparse(inner), B, null, wanted, solver=self.route(), gap=self.gap())
            Z, w, solver = np.hstack([kept, found.Z]), np.append(w, found.eigenvalues), found.solver
        if self.scaling == "unit":
            Z = Z / np.linalg.norm(Z, axis=0)
        return Placement(Z, w, bound, solver)

    def natural_components(self, rows: Rows) -> int:
        return 2 if rows.n > 3 else 1


@dataclass(frozen=True)
class OnLandmarks(Prepared):
    """The reconstruction error of all rows as a function of the landmarks, which fit needs alone. Z = S Y, row i of
    ``S`` (n, L) the weights that rebuild it from its nearest landmarks, and Y = ``back`` U, so that U'U = Z'Z and the
    error is tr U' ``error`` U; ``trivial`` (L,): the U of Y = 1. ``links`` joins landmarks that a row or its neighbours
    share."""

    S: sparse.csr_array | None = None
    back: np.ndarray | None = None
    error: np.ndarray | None = None
    trivial: Any = None  # array
    links: sparse.csr_array | None = None


class LLE(GraphMap):
    """Locally linear embedding: A = -(I - W)'(I - W), Z'Z = I, W the weights that rebuild rows from their neighbours.
    [roweis2000lle]

    Each row remains the same mixture of its neighbours. The constant vector (one per graph component) is left out. A
    new row is placed by the weights that reconstruct it from its neighbours. With ``n_landmarks`` the same objective,
    over the neighbours of all rows, is minimised over Z = SY, where each row is a mixture of its nearest landmarks with
    such weights S; landmarks are drawn at random (locally linear landmarks [vladymyrov2013landmarks]). A new row is
    then also a mixture of landmarks.

    Attributes
    ----------
    embedding_ : (n, k) array, Z.
    eigenvalues_ : (k,) array, ascending: the reconstruction error of each component; (k, p) for components="separate".
    graph_component_ : (n,) array, the graph component of each row, the largest first.
    landmarks_ : indices of the landmarks; of all distinct rows where there are none.
    distinct_ : (u,) array, indices of the rows that differ, the first of equal ones.
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For n_components above the number of distinct rows (or n_landmarks) less that of graph components, n_neighbors
        not below the number of distinct rows, n_landmarks above n or not above n_neighbors, constant X.

    See Also
    --------
    proxembed.NPP : Rows are rebuilt from their neighbours.
    proxembed.Isomap : Geodesic distances.

    Examples
    --------
    >>> from sklearn.manifold import trustworthiness
    >>> from proxembed import LLE
    >>> from proxembed.data import digits
    >>> X = digits().X[:300]
    >>> model = LLE(n_neighbors=10).fit(X[:200])
    >>> bool(trustworthiness(X, model.transform(X), n_neighbors=10) > 0.8)  # of neighbours
    True
    """

    reg: float = param(
        default=1e-3,
        low=0,
        search=log(1e-6, 1e-1),
        doc="Added to each local Gram matrix, in units of its trace; above 0 where n_neighbors exceeds the features.",
    )
    n_landmarks: int | str | None = param(
        default="auto",
        like=LANDMARK_COUNT,
        doc="Rows of which the others are mixtures; None: all rows free; auto: None up to 30,000 rows, 2,000 above.",
    )
    random_state: Any = param(default=0, like=SEED, doc=LANDMARK_SEED_DOC)

    def gap(self) -> int:
        return 2

    def prepare(self, rows: Rows) -> Prepared:
        found = super().prepare(rows)
        landmarks = self._landmarks(rows)
        learned = found.attributes | {"landmarks_": np.arange(rows.n) if landmarks is None else landmarks}
        if landmarks is None:
            return replace(found, attributes=learned)
        return self._reduced(rows, landmarks, vars(found) | {"attributes": learned})

    def template(self, rows: Rows) -> Template:
        prepared = self.prepared_
        if isinstance(prepared, OnLandmarks):
            return Template(-Sparse(sparse.csr_array(prepared.error)), sense=-1)
        M = residual_matrix(self._reconstruction(rows), rows.counts)
        return Template(-Sparse(M), None if rows.counts is None else Diagonal(rows.counts), sense=-1)

    def _reconstruction(self, rows: Rows) -> sparse.csr_array:
        """W (n, n)."""
        index = self._neighbors(rows).index
        return reconstruction_matrix(index, reconstruction_weights(rows.X, index, reg=self.reg), rows.n)

    def _landmarks(self, rows: Rows) -> np.ndarray | None:
        """The row numbers of the landmarks; None where every row is free."""
        number = landmark_count("LLE", self.n_landmarks, rows.n, LLE_EXACT_UP_TO, LLE_LANDMARKS)
        if number is None:
            return None
        landmarks = landmark_rows(rows.X, number, random_state=self.random_state)
        if len(landmarks) <= self.n_neighbors:
            raise ValueError(
                f"LLE: n_neighbors={self.n_neighbors} is not allowed with {len(landmarks)} landmarks that differ, of "
                "which every row is a mixture; use more landmarks (n_landmarks) or fewer neighbours."
            )
        return landmarks

    def _reduced(self, rows: Rows, landmarks: np.ndarray, settings: dict[str, Any]) -> OnLandmarks:
        """S, and the error of the landmarks in coordinates of unit constraint."""
        index, weights = self._mixtures(rows.X, rows.X[landmarks])
        index[landmarks], weights[landmarks] = np.arange(len(landmarks))[:, None], np.eye(1, index.shape[1])
        S = reconstruction_matrix(index, weights, len(landmarks))
        S.sum_duplicates()
        S.eliminate_zeros()
        W, root = self._reconstruction(rows), np.sqrt(rows.ones if rows.counts is None else rows.counts)
        error = links = sparse.csr_array((len(landmarks), len(landmarks)))
        for part in row_blocks(rows.n, self.n_neighbors**2):
            residual = sparse.csr_array(sparse.diags_array(root[part]) @ (S[part] - W[part] @ S))
            error = error + residual.T @ residual
            shape = abs(S[part]) + abs(residual)
            links = links + shape.T @ shape
        B = (S.T @ sparse.diags_array(root**2) @ S).toarray()
        back = SPD(B).whiten()
        reduced = back.T @ (error @ back)
        found = {"error": (reduced + reduced.T) / 2, "trivial": back.T @ B.sum(axis=1), "links": links}
        return OnLandmarks(**settings, S=S, back=back, **found)

    def _mixtures(self, X: Any, landmarks: Any) -> tuple[np.ndarray, np.ndarray]:
        """The nearest landmarks of rows X, and the weights that rebuild the rows from them, both (m, K)."""
        index = nearest(landmarks, self.n_neighbors, queries=X, **self._search).index
        return index, reconstruction_weights(landmarks, index, reg=self.reg, queries=X)

    def trivial(self, template: Template) -> np.ndarray:
        prepared: Any = self.prepared_
        return prepared.trivial if isinstance(prepared, OnLandmarks) else super().trivial(template)

    def route(self) -> str:
        return "dense" if self.solver == "auto" and isinstance(self.prepared_, OnLandmarks) else self.solver

    def _labels(self, M: Any) -> np.ndarray:
        return super()._labels(self.prepared_.links if isinstance(self.prepared_, OnLandmarks) else M)

    def complete(self, Z: np.ndarray, rows: Rows) -> np.ndarray:
        prepared = self.prepared_
        if not isinstance(prepared, OnLandmarks):
            return Z
        Z = prepared.S @ (prepared.back @ np.nan_to_num(Z))
        self.graph_component_ = self.graph_component_[prepared.S.indices[prepared.S.indptr[:-1]]]
        if self.components == "largest":
            Z[self.graph_component_ != 0] = np.nan
        return Z

    def learn(self, rows: Rows, found: Solution) -> None:
        self.training_ = rows.X if len(self.landmarks_) == rows.n else rows.X[self.landmarks_]

    def renumber(self, place: np.ndarray) -> None:
        super().renumber(place)
        self.landmarks_: np.ndarray = self.distinct_[self.landmarks_]

    def extend(self, X: Any) -> np.ndarray:
        index, weights = self._mixtures(stored_like(X, self.training_), self.training_)
        index = self.landmarks_[index]
        if self.components == "separate":  # mixtures of rows of one map
            label = self.graph_component_[index]
            weights = np.where(label == label[:, :1], weights, 0.0)
            weights *= reciprocal(weights.sum(axis=1))[:, None]
        return np.einsum("ij,ijk->ik", weights, self.embedding_[index])


class LaplacianEigenmaps(GraphMap, Weighted):
    """Laplacian eigenmaps: A = -(D - W), Z'DZ = I, W the weights of a neighbour graph, D its degrees.  [belkin2003le]

    Linked rows are drawn together. ``normalization``: "random_walk" as above, also normalised cuts [shi2000ncut];
    "symmetric" A = -(I - D^-1/2 W D^-1/2), Z'Z = I [ng2001spectral] (spectral clustering uses drop_trivial=False,
    row_normalize=True); "none" A = -(D - W), Z'Z = I [vonluxburg2007spectral]. New rows are placed by Nystrom's
    formula. There is no rule for new rows with "none", or if W is given or made of reconstruction weights: use
    fit_transform, or LPP, whose projection embeds any row. With ``weights="reconstruction"`` it is LLE.

    Attributes
    ----------
    embedding_ : (n, k) array, Z; 0 for rows without a link (NaN with components="largest").
    eigenvalues_ : (k,) array, ascending; (k, p) for components="separate".
    distinct_ : (u,) array, indices of the rows that differ, the first of equal ones; of all rows without a search.
    affinity_ : (u, u) CSR, W of these rows, w_ij times how often rows i and j occur.
    graph_component_ : (n,) array, the graph component of each row, the largest first, -1 without a link.
    tau_ : float or None, the width of the weights.
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For n_components above the number of distinct rows less that of graph components, n_neighbors not below the
        number of distinct rows, constant X, and at transform where a component has an eigenvalue of 1 or more, which
        cannot be extended.

    See Also
    --------
    proxembed.LPP : Near rows stay near.
    proxembed.Isomap : Geodesic distances.

    Examples
    --------
    >>> from sklearn.manifold import trustworthiness
    >>> from proxembed import LaplacianEigenmaps
    >>> from proxembed.data import digits
    >>> X = digits().X[:300]
    >>> model = LaplacianEigenmaps(n_neighbors=10).fit(X[:200])
    >>> bool(trustworthiness(X, model.transform(X), n_neighbors=10) > 0.9)  # of neighbours
    True
    """

    metric: Any = param(default="euclidean", choices=METRICS_OR_MATRIX, callable=True, doc=GIVEN_DOC)
    normalization: str = param(
        default="random_walk", choices=("random_walk", "symmetric", "none"), doc="Normalisation of the Laplacian."
    )
    drop_trivial: bool = param(default=True, kind=bool, doc="Leave out the vectors of eigenvalue 0.")
    row_normalize: bool = param(default=False, kind=bool, doc="Scale each row of Z to unit length.")

    fit = SpectralEmbedder.fit  # not DirectEmbedder's, which refuses weights

    @property
    def weighs_rows(self) -> bool:
        """Where neighbours are searched, among distinct rows."""
        return self.searches and self.metric != "precomputed"

    @property
    def why_unweighted(self) -> str:
        return "its graph holds all rows, or is given"

    def count_rows(self, rows: Rows, counts: np.ndarray) -> Rows:
        return replace(rows, counts=counts)

    def gap(self) -> int:
        return 1 if self._of_graph or self._weights_given else 2

    def prepare(self, rows: Rows) -> Prepared:
        W, learned = self._weights(rows)
        self.refuse_negative(W)
        if rows.counts is not None and self._of_graph:
            counts = sparse.diags_array(rows.counts)
            W = sparse.csr_array(counts @ W @ counts)
        return replace(super().prepare(rows), attributes=learned | {"affinity_": W})

    def template(self, rows: Rows) -> Template:
        W, degree, counts = self.affinity_, self.affinity_.sum(axis=1), rows.counts
        each = None if counts is None else Diagonal(counts)
        if self.normalization == "symmetric":
            root = sparse.diags_array(np.sqrt(reciprocal(degree if counts is None else degree / counts)))
            return Template(Sparse(root @ W @ root) - (Identity(rows.n) if each is None else each), each, sense=-1)
        A = Sparse(W) - Diagonal(degree)
        return Template(A, each if self.normalization == "none" else Diagonal(degree), b=0, sense=-1)

    def trivial(self, template: Template) -> np.ndarray:
        if self.normalization != "symmetric":
            return np.ones(template.A.n)
        degree = self.affinity_.sum(axis=1)
        return np.sqrt(degree if template.B is None else degree / template.B.diagonal())

    def kept_trivial(self) -> bool:
        return not self.drop_trivial

    def complete(self, Z: np.ndarray, rows: Rows) -> np.ndarray:
        if self.row_normalize:
            self.lengths_ = np.linalg.norm(Z, axis=1)
            Z = Z * reciprocal(self.lengths_)[:, None]
        return Z

    def shorten(self, short: Any, k: int) -> None:
        super().shorten(short, k)
        if self.row_normalize:
            short.embedding_ = short.complete(short.embedding_ * self.lengths_[:, None], None)

    @property
    def by_row(self) -> tuple[str, ...]:
        return (*super().by_row, "lengths_") if self.row_normalize else super().by_row

    def learn(self, rows: Rows, found: Solution) -> None:
        self.training_, self._counts = rows.X, rows.ones if rows.counts is None else rows.counts

    def no_rule(self) -> str | None:
        if self.normalization != "none":
            return self.no_links()
        return (
            'LaplacianEigenmaps(normalization="none") has no rule for new rows: use fit_transform, '
            'normalization="random_walk", or LPP.'
        )

    def extend(self, X: Any) -> np.ndarray:
        index, weights = self._links(stored_like(X, self.training_))
        label = self.graph_component_[self.distinct_]
        home = label[index[:, 0]]
        if self.components != "all":
            weights = np.where(label[index] == home[:, None], weights, 0.0)
        W = self._link_matrix(index, weights * self._counts[index])
        total = W.sum(axis=1)
        Z = (W @ np.nan_to_num(self._vectors())) * reciprocal(total)[:, None] / self._shares(home)
        if self.normalization == "symmetric":
            Z *= np.sqrt(total)[:, None]
        if self.row_normalize:
            Z *= reciprocal(np.linalg.norm(Z, axis=1))[:, None]
        if self.components == "largest":
            Z[(home != 0) | (total == 0)] = np.nan
        warn_unlinked(total, f"the embedding {self._unlinked:g}", stacklevel=4)
        return Z

    def _vectors(self) -> np.ndarray:
        """The eigenvectors of the random walk on the distinct rows, which Nystrom's formula extends."""
        Z = self.embedding_ * self.lengths_[:, None] if self.row_normalize else self.embedding_
        Z = Z[self.distinct_]
        if self.normalization != "symmetric":
            return Z
        return Z * np.sqrt(reciprocal(self.affinity_.sum(axis=1) / self._counts))[:, None]

    def _shares(self, home: np.ndarray) -> np.ndarray:
        """1 - eigenvalue of each component, for each new row where components have maps of their own."""
        mu = 1.0 - self.eigenvalues_
        separate = mu.ndim == 2
        for c in np.unique(home[home >= 0]) if separate else [0]:
            bad = np.flatnonzero((mu[:, c] if separate else mu) <= 0)
            if len(bad):
                self._refuse_extension(int(bad[0]), f" of graph component {c}" if separate else "")
        return np.nan_to_num(mu, nan=np.inf)[:, np.maximum(home, 0)].T if separate else mu

    def _refuse_extension(self, j: int, where: str) -> None:
        remedy = f"n_components <= {j} (or truncate({j}))" if j else "fewer neighbours, or a smaller eps or tau"
        if where and not j:
            remedy = 'components="largest", or more neighbours'
        raise ValueError(
            f"Component {j}{where} has an eigenvalue of 1 or more, which Nystrom's formula cannot extend to new rows. "
            f"Use {remedy}."
        )
