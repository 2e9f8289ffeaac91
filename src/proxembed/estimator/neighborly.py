"""What estimators on neighbour graphs share: their parameters, the search and the weights of a fit, and the links of
new rows."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from proxembed.params import integers, param
from proxembed.proximity.backends import ALGORITHMS, EVERY_METRIC, Neighbors, check_count, nearest
from proxembed.proximity.graph import OF_NEIGHBORS, geodesics, rows_within
from proxembed.proximity.reconstruction import reconstruction_matrix, reconstruction_weights, residual_matrix
from proxembed.proximity.weights import (
    LOCAL_NEIGHBORS,
    WEIGHTS,
    cross_weights,
    edge_weights,
    local_scale,
    own_weights,
    used_tau,
)

from .base import Prepared, SpectralEmbedder
from .rows import Rows
from .unweighted import Unweighted
from .weights import repeated_labels

BLOCK_ENTRIES = 1 << 22
ALGORITHM_DOC = (
    'Search for near rows: "exact", an approximate one by name, or a transformer like KNeighborsTransformer; "auto" is '
    "exact up to 100,000 rows."
)
WEIGHTS_DOC = (
    'Weights of neighbours, from their distance or likeness; "geodesic" measures the distance along the graph of '
    'n_neighbors: that is the Gaussian, except for graph="closeness" and "full". "reconstruction": V + V\' - V\'V, V '
    "the weights of LLE that rebuild rows from n_neighbors (reg 1e-3), so that D - W = (I - V)'(I - V). Or W itself, "
    "without a search: a symmetric n x n matrix for the rows of fit alone, or a callable (X, y), y as given to fit, "
    "that returns one; it is called again for each fold of a cross-validation. A given W keeps its diagonal."
)
LOOPS_DOC = (
    "Give a row the named weight of distance 0 with itself. Such weights, and the diagonal of a given W, count in "
    "row sums D and in products sum w_ij z_i'z_j; in L = D - W they cancel."
)
ROW_METRICS = tuple(metric for metric in EVERY_METRIC if metric != "precomputed")
METRIC_DOC = (
    'Distance between rows; "correlation" is 1 - r over the features, and those after it are scipy\'s. Or a function '
    '(Q, X) of m and n rows that returns their distances, m x n, such as lambda Q, X: cdist(Q, X, "minkowski", p=3). '
    "All of these take dense rows and are searched exactly."
)
METRICS_OR_MATRIX = (*ROW_METRICS, "precomputed")
GIVEN_DOC = METRIC_DOC + " precomputed: X is the symmetric n x n matrix of distances, of new rows m x n."
SCALE_DOC = 'Which nearest row sets the scale of a row under "local_scaling"; the last one where there are fewer.'
OF_FEATURES = ("reconstruction", *(k for k, measure in WEIGHTS.items() if measure.signed or measure.ends == "squares"))
MATRICES = (np.ndarray, sparse.sparray, sparse.spmatrix)


class DistinctRows(SpectralEmbedder, abstract=True):
    """A projection made from the neighbours of distinct rows: equal rows are one that counts as often as they occur,
    and an edge as often as both of its rows. Its template says so itself (``Rows.stated``)."""

    fit = SpectralEmbedder.fit  # not Unweighted's, which refuses weights

    @property
    def _pairs_given(self) -> bool:
        """Whether weights of all pairs of rows are given."""
        given = (getattr(self, name, None) for name in ("weights", "affinity"))
        return any(not (each is None or isinstance(each, str)) for each in given)

    @property
    def weighs_rows(self) -> bool:
        """Where neighbours are searched."""
        return not self._pairs_given and bool(getattr(self, "searches", True))

    @property
    def why_unweighted(self) -> str:
        return "weights of all pairs of rows are given" if self._pairs_given else "its graph holds all rows"

    @property
    def counts_distinct(self) -> bool:
        return True

    def count_rows(self, rows: Rows, counts: np.ndarray) -> Rows:
        numbers = rows.labels is not None and rows.labels.numbers
        labels = repeated_labels(rows.labels, counts, whole=False) if numbers else rows.labels
        return replace(rows, labels=labels, counts=counts)


class Searching(Unweighted, abstract=True):
    """An estimator that searches near rows by one metric. [mu2012mesd]"""

    algorithm: Any = param(default="auto", choices=ALGORITHMS, kind=BaseEstimator, doc=ALGORITHM_DOC)
    metric: Any = param(default="euclidean", choices=ROW_METRICS, callable=True, doc=METRIC_DOC)

    @property
    def _search(self) -> dict[str, Any]:
        return {"metric": self.metric, "algorithm": self.algorithm}


class LabelledLinks(Searching, abstract=True):
    """An estimator made from near rows inside classes and between them; ``search(rows)`` looks for them.
    [mu2012mesd]

    Attributes
    ----------
    recall_ : float or None, the sampled recall of approximate searches, over their rows; None for exact ones.
    algorithm_ : str or None, the search that ran, an approximate one where there were several; None for none.
    """

    def search(self, rows: Rows) -> None:
        """Make every search that the template needs; ``rows`` keep them."""
        raise TypeError(f"{type(self).__name__} must define search(rows).")

    def prepare(self, rows: Rows) -> Prepared:
        self.search(rows)
        algorithm, recall = rows.search_info(self.algorithm)
        return replace(super().prepare(rows), attributes={"recall_": recall, "algorithm_": algorithm})


class Neighborly(Searching, abstract=True):
    """An estimator made from the neighbours of every row; keeps the sampled recall of an approximate one. [mu2012mesd]

    Attributes
    ----------
    recall_ : float or None, the share of true neighbours that an approximate search found; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.
    """

    n_neighbors: int = param(
        default=5, low=1, integer=True, search=integers(2, 30), doc="Neighbours of a row; at most n - 1."
    )

    @property
    def searches(self) -> bool:
        """Whether the n_neighbors of rows are searched."""
        return True

    def search_info(self, rows: Rows) -> dict[str, Any]:
        """The attributes of the search: its recall (None for an exact one) and its algorithm, both None for none."""
        if not self.searches:
            return {"recall_": None, "algorithm_": None}
        found = self._neighbors(rows)
        return {"recall_": found.recall, "algorithm_": found.algorithm}

    def _neighbors(self, rows: Rows) -> Neighbors:
        """The neighbours of every row, after the one check that needs the rows."""
        most = rows.n - 1 if rows.counts is None else max(rows.n, self.n_neighbors + 1) - 1
        check_count(self.n_neighbors, most, f"{type(self).__name__}: n_neighbors")
        return rows.neighbors(self._count(rows), **self._search)

    def _count(self, rows: Rows) -> int:
        """n_neighbors; of equal rows that have been merged at most all others."""
        return self.n_neighbors if rows.counts is None else max(1, min(self.n_neighbors, rows.n - 1))

    def _neighbor_graph(self, rows: Rows, kind: str, eps: float | None = None) -> sparse.csr_array:
        """A graph of one of the five kinds, CSR of distances."""
        if self.metric == "precomputed":
            check_symmetric(rows.X)
        if kind in OF_NEIGHBORS:
            self._neighbors(rows)
        return rows.graph(kind, self._count(rows), eps, **self._search)


class Linked(Neighborly, abstract=True):
    """An estimator made from a weighted graph of neighbours. [mu2012mesd]"""

    graph: str = param(
        default="undirected",
        choices=(*OF_NEIGHBORS, "closeness", "full"),
        doc="Neighbours either way, both ways or one way (weights averaged), all rows within eps, or all rows.",
    )
    weights: Any = param(
        default="gaussian", choices=(*WEIGHTS, "reconstruction"), kind=MATRICES, callable=True, doc=WEIGHTS_DOC
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
    n_scale: int = param(default=LOCAL_NEIGHBORS, low=1, integer=True, doc=SCALE_DOC)
    self_loops: bool = param(default=False, kind=bool, doc=LOOPS_DOC)

    @property
    def searches(self) -> bool:
        """Whether the n_neighbors of rows are searched: for the graph, for the paths of geodesic weights, or to rebuild
        rows; not where W is given."""
        if self._weights_given:
            return False
        return self.graph in OF_NEIGHBORS or self.weights in ("geodesic", "reconstruction")

    @property
    def _weights_given(self) -> bool:
        """Whether W is given, as a matrix or as a function that makes one."""
        return not (self.weights is None or isinstance(self.weights, str))

    @property
    def _of_graph(self) -> bool:
        """Whether W holds weights of the edges of the graph, which new rows can have, too."""
        return not self._weights_given and self.weights != "reconstruction"

    def _graphs(self, rows: Rows) -> tuple[sparse.csr_array, sparse.csr_array | None]:
        """The graph, and that of n_neighbors along which geodesic weights measure; None where they are one."""
        graph = self._neighbor_graph(rows, self.graph, self.eps)
        if self.weights != "geodesic" or self.graph in OF_NEIGHBORS:
            return graph, None
        return graph, self._neighbor_graph(rows, "undirected")

    def _weights(self, rows: Rows) -> tuple[sparse.csr_array, dict[str, Any]]:
        """W, symmetric, edges of weight 0 left out, a diagonal where it is given, under "reconstruction" and with
        ``self_loops``; and what was learned with it, by attribute."""
        if self.metric == "precomputed" and isinstance(self.weights, str) and self.weights in OF_FEATURES:
            raise ValueError(
                f"{type(self).__name__}: weights={self.weights!r} is not allowed with metric='precomputed': it is made "
                "of features, and X holds distances. Use 'gaussian', 'constant', 'local_scaling' or 'geodesic'."
            )
        learned: dict[str, Any] = {"tau_": None, "scale_": None, "paths_": None, **self.search_info(rows)}
        if self._of_graph:
            W, more = self._weights_of_graph(rows)
            return W, learned | more
        self._refuse_graph()
        return rows.given_weights(self.weights) if self._weights_given else self._rebuilding(rows), learned

    def _refuse_graph(self) -> None:
        """A ValueError for a graph where W has links of its own."""
        if self.graph not in ("undirected", "full") or (self.graph == "full" and not self._weights_given):
            how = "W is given, with links of its own" if self._weights_given else "rows are rebuilt from n_neighbors"
            raise ValueError(
                f"{type(self).__name__}: graph={self.graph!r} is not allowed here: {how}. Leave graph at 'undirected'."
            )

    def _rebuilding(self, rows: Rows) -> sparse.csr_array:
        """V + V' - V'V = I - (I - V)'(I - V), V the reconstruction weights of the neighbours; M - (I - V)'M(I - V) of
        rows that occur M times."""
        index = self._neighbors(rows).index
        V = reconstruction_matrix(index, reconstruction_weights(rows.X, index), rows.n)
        counts = rows.ones if rows.counts is None else rows.counts
        W = sparse.csr_array(sparse.diags_array(counts) - residual_matrix(V, rows.counts))
        W.eliminate_zeros()
        return W

    def _weights_of_graph(self, rows: Rows) -> tuple[sparse.csr_array, dict[str, Any]]:
        """The weights of the edges, with the widths, scales and paths that they have."""
        graph, paths = self._graphs(rows)
        tau = scale = None
        measure = WEIGHTS[self.weights]
        if measure.median_width or "tau" in measure.params:
            tau = used_tau(graph, self.weights, self.tau)
        if measure.ends == "scales":
            scale = local_scale(rows.X, self.n_scale, **self._search)
        W = edge_weights(rows.X, graph, self.weights, tau=tau, scale=scale, paths=paths)
        if self.graph == "directed":
            W = (W + W.T) / 2
        if self.self_loops:
            W = W + sparse.diags_array(own_weights(rows.X, self.weights, tau=tau, scale=scale))
        W = sparse.csr_array(W)
        W.eliminate_zeros()
        return W, {"tau_": tau, "scale_": scale, "paths_": paths}


def warn_unlinked(total: np.ndarray, result: str, stacklevel: int) -> None:
    """Warn of new rows without a link, whose total weight is 0; ``stacklevel``: as the caller would give it."""
    if alone := int(np.count_nonzero(total == 0)):
        warnings.warn(
            f"{alone} new rows have no link to a row of training and get {result}. Use more neighbours, or a larger "
            "eps or tau.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


class FromDistances(Neighborly, abstract=True):
    """An estimator that needs distances of the rows alone, which X may hold. [mu2012mesd]"""

    metric: Any = param(default="euclidean", choices=METRICS_OR_MATRIX, callable=True, doc=GIVEN_DOC)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


class Weighted(FromDistances, Linked, abstract=True):
    """An estimator that keeps the weighted graph of its rows and links new rows to them. [mu2012mesd] ``_weights``
    gives W and the attributes by which ``_links`` weighs the links of new rows; the estimator keeps them, and the rows
    of training as ``training_``."""

    def no_links(self) -> str | None:
        """Why new rows cannot be linked, and what to use instead; None where they can."""
        if self._of_graph:
            return None
        return (
            f"{type(self).__name__} has no weights for the links of new rows where W is given or made of "
            'reconstructions: use a named kind, such as weights="gaussian", or fit on all rows.'
        )

    def refuse_negative(self, W: sparse.csr_array) -> None:
        """A ValueError for given weights below 0."""
        least = float(W.data.min(initial=0.0))
        if self._weights_given and least < 0:
            raise ValueError(
                f"{type(self).__name__}: weights hold {least:.3g}; given ones must be at least 0 here. Pass "
                "np.maximum(W, 0), or shift them."
            )

    def _links(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The training rows that new rows are linked to, nearest first, and the weights of the links."""
        n = self.training_.shape[0]
        scale = None
        if self.graph == "closeness":
            found = links_within(self.training_, self.eps, X, self.metric)
            linked = found.distance <= self.eps
        else:
            found = nearest(self.training_, n if self.graph == "full" else self.n_neighbors, queries=X, **self._search)
            linked = np.ones(found.index.shape, dtype=bool)
        if WEIGHTS[self.weights].ends == "scales":
            K = min(self.n_scale, n)
            scale = nearest(self.training_, K, queries=X, **self._search).distance[:, -1]
        distance = found.distance if self.paths_ is None else self._path_distances(X, found)
        weights = cross_weights(
            X, self.training_, found.index, distance, self.weights, tau=self.tau_, scale_q=scale, scale_x=self.scale_
        )
        return found.index, np.where(linked, weights, 0.0)

    def _path_distances(self, X: Any, found: Neighbors) -> np.ndarray:
        """The lengths of the shortest paths from new rows, through their nearest rows, to those they are linked to."""
        through = nearest(self.training_, self.n_neighbors, queries=X, **self._search)
        distance = np.empty(found.index.shape)
        for part, lengths in path_lengths(self.paths_, through, np.arange(self.training_.shape[0])):
            distance[part] = np.take_along_axis(lengths, found.index[part], axis=1)
        return distance

    def _link_matrix(self, index: np.ndarray, weights: np.ndarray) -> sparse.csr_array:
        """The links of m new rows as an (m, n) CSR matrix."""
        pointers = np.arange(len(index) + 1) * index.shape[1]
        return sparse.csr_array((weights.ravel(), index.ravel(), pointers), shape=(len(index), self.training_.shape[0]))


def check_symmetric(D: Any) -> None:
    """A ValueError for distances between rows that differ from their transpose; shapes are checked elsewhere."""
    if sparse.issparse(D) or D.shape[0] != D.shape[1]:
        return
    gap, size = float(np.abs(D - D.T).max(initial=0.0)), float(np.abs(D).max(initial=0.0))
    if gap > (1e-10 if D.dtype == np.float64 else 1e-5) * size:
        raise ValueError(
            f"X differs from its transpose by up to {gap:.3g}; metric='precomputed' needs symmetric distances. Pass "
            "(X + X.T) / 2."
        )


def links_within(X: Any, eps: Any, queries: Any, metric: Any) -> Neighbors:
    """For each new row the rows within ``eps``, nearest first; padded with infinite distances to the longest list. A
    row without any has the nearest one in the first place, whose distance is then above ``eps``."""
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
    each row j of ``reference``: blocks of new rows with an array (rows, r), inf where there is no path. The graph is
    searched once, from the fewer of both ends. Links of infinite distance, or to number -1, are none."""
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
