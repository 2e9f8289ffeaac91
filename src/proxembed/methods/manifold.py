"""Distances kept: classical multidimensional scaling, Gower's formula for new rows, and Isomap."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import MAX_DENSE_BYTES, dense_side, guard_dense, row_blocks
from proxembed.algebra.operators.structured import Dense, LowRank
from proxembed.algebra.pencil.direct import Placement, solve_direct
from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, eigenvalues, lanczos
from proxembed.algebra.template import Template
from proxembed.estimator.base import Prepared
from proxembed.estimator.direct import DirectEmbedder, stored_like
from proxembed.estimator.neighborly import FromDistances, links_within, path_lengths
from proxembed.estimator.rows import Rows
from proxembed.estimator.validation import in_range
from proxembed.features.prototypes import LANDMARK_COUNT, LANDMARK_SEED_DOC, landmark_count, landmark_rows
from proxembed.params import SEED, param
from proxembed.proximity.backends import Neighbors, nearest
from proxembed.proximity.graph import connected, geodesics

ALL_UP_TO = 1500


class DoubleCentred(Dense):
    """G = -1/2 J E J for a symmetric n x n array E of squared dissimilarities, J = I - 11'/n; E is kept as it is."""

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        V = np.asarray(V, dtype=np.float64)
        centred = matmul(self.A, V - V.mean(axis=0))
        centred -= centred.mean(axis=0)
        centred *= -0.5
        return centred

    def todense(self, n: int | None = None) -> np.ndarray:
        level = self.A.mean(axis=1)
        G = self.A - level[:, None]
        G -= level[None, :]
        G += level.mean()
        G *= -0.5
        return G

    def diagonal(self, n: int | None = None) -> np.ndarray:
        level = self.A.mean(axis=1)
        return -0.5 * (np.diag(self.A) - 2 * level + level.mean())


def gower_rows(E: np.ndarray, level: np.ndarray, Z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """New rows for an embedding Z = V diag(t) made of the eigenpairs (w, V) of G = -1/2 J E J: g Z diag(w)^-1, m x k. E
    : (m, n) squared dissimilarities of the new rows to the n old ones. level : (n,) row means of the old E. g = -1/2 (e
    - mean(e) - level + mean(level)). A row of the old E gives its own row of Z. [gower1968mds]"""
    g = E - E.mean(axis=1, keepdims=True)
    g -= level - level.mean()
    g *= -0.5
    return matmul(g, Z / w)


def lowest_negative(A: DoubleCentred, k: int) -> np.ndarray:
    """The negative eigenvalues of G, ascending: all of them up to n = 1,500, the k lowest at most above that."""
    if A.n <= ALL_UP_TO or k >= A.n - 1:
        w = eigenvalues(A.todense())[::-1]
    else:
        w = -lanczos(lambda v: -(A @ v), A.n, k)[0]
    return w[w < -RANGE_TOLERANCE * np.abs(w).max(initial=0.0)]


SCALING_DOC = "Columns of Z: times the root of the eigenvalue (Z Z' = the Gram matrix), or of unit length."


class ClassicalMDS(DirectEmbedder, positive_only=True):
    """Classical multidimensional scaling: A = -1/2 J E J, E the squared dissimilarities, Z = V diag(w)^1/2.
    [torgerson1952mds]

    Inner products of the embedding approximate those that the dissimilarities imply, as closely as k dimensions allow.
    For rows of features, A = Xc Xc' and Z are the scores of principal component analysis, computed without an n x n
    matrix if d < n. New rows are placed by Gower's rule [gower1968mds].

    Attributes
    ----------
    embedding_ : (n, k) array, Z.
    eigenvalues_ : (k,) array, descending and positive.
    negative_eigenvalues_ : array, ascending: how far given dissimilarities are from being Euclidean (all of them up to
        1,500 rows, the k lowest at most above that); empty for rows of features.
    components_ : (k, d) array, and
    mean_ : (d,) array, the projection of new rows (metric="euclidean" alone).

    Raises
    ------
    ValueError
        For n_components above the number of positive eigenvalues, constant X, dissimilarities that are not square,
        symmetric and non-negative with a zero diagonal, or above the size guard.

    See Also
    --------
    proxembed.Isomap : Geodesic distances.
    proxembed.PCA : Largest variance, without labels.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import ClassicalMDS
    >>> E = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> Z = ClassicalMDS(metric="precomputed").fit_transform(E)
    >>> np.round(np.linalg.norm(Z[1] - Z[2]), 6)
    np.float64(5.0)
    """

    metric: str = param(
        default="euclidean",
        choices=("euclidean", "precomputed"),
        doc="X holds rows of features, or is the n x n matrix of dissimilarities itself.",
    )
    scaling: str = param(default="eigenvalue", choices=("eigenvalue", "template", "unit"), doc=SCALING_DOC)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def template(self, rows: Rows) -> Template:
        if self.metric == "euclidean":
            return Template(LowRank(rows.X, center=rows.ones), offset=rows.ones)
        return Template(DoubleCentred(squared_dissimilarities(rows.X)))

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        found = solve_direct(template.A, k).with_positive_eigenvalues()
        self.negative_eigenvalues_ = np.empty(0)
        if self.metric == "precomputed":
            A: Any = template.A
            self.negative_eigenvalues_ = lowest_negative(A, max(1, len(found.eigenvalues)))
            self.level_ = A.A.mean(axis=1)
        return found

    def learn(self, rows: Rows, found: Solution) -> None:
        if self.metric == "euclidean":
            centred = CentredMatrix.centred(rows.X, rows.ones)
            self.mean_: Any = centred.centre
            self.components_ = np.ascontiguousarray((centred.tdot(self.embedding_) / self.eigenvalues_).T)

    def projects(self) -> bool:
        return self.metric == "euclidean"

    def extend(self, X: Any) -> np.ndarray:
        if self.metric == "euclidean":
            return CentredMatrix(X, self.mean_).dot(self.components_.T)
        return gower_rows(dense(X) ** 2, self.level_, self.embedding_, self.eigenvalues_)

    def natural_components(self, rows: Rows) -> int:
        return max(1, min(2, rows.n - 1, rows.X.shape[1]))


def squared_dissimilarities(X: Any) -> np.ndarray:
    """The entries of a matrix of dissimilarities squared, float64, after the checks that it is one."""
    n, columns = X.shape
    if n != columns:
        raise ValueError(
            f'metric="precomputed" needs a square matrix of dissimilarities between the rows; X is {n} x {columns}. '
            'Pass the n x n matrix, or metric="euclidean" for rows of features.'
        )
    E = dense(X)
    size = float(np.abs(E).max(initial=0.0))
    if E.min(initial=0.0) < 0 or np.abs(np.diag(E)).max(initial=0.0) > 1e-10 * size:
        raise ValueError(
            'metric="precomputed" needs dissimilarities: none below 0 and zeros on the diagonal. '
            "Similarities s can be passed as sqrt(2 - 2 s)."
        )
    if float(np.abs(E - E.T).max(initial=0.0)) > (1e-10 if X.dtype == np.float64 else 1e-5) * size:
        raise ValueError('metric="precomputed" needs a symmetric matrix of dissimilarities. Pass (X + X.T) / 2.')
    E = (E + E.T) / 2
    return E**2


def dense(X: Any) -> np.ndarray:
    """The matrix as a float64 array, refused above the size guard."""
    if sparse.issparse(X):
        guard_dense(X.shape, "The dense form of the dissimilarities")
        return X.toarray().astype(np.float64)
    return np.asarray(X, dtype=np.float64)


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

    See Also
    --------
    proxembed.ClassicalMDS : Distances of all pairs.
    proxembed.LLE : Neighbours that rebuild a row, without a projection.

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
