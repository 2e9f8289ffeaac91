"""The local family: LFDA, MFA, DLA and DNE, which look at near rows of a class and near rows of other classes."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.class_blocks import ClassLinks, ClassWeights, InsideClasses, Open, Tile
from proxembed.algebra.operators.structured import Centering, Laplacian, LowRank, Sparse
from proxembed.algebra.pencil.eigen import MAX_COMPONENTS
from proxembed.algebra.template import Template
from proxembed.estimator.base import PencilEmbedder, Prepared, SpectralEmbedder
from proxembed.estimator.neighborly import MATRICES, SCALE_DOC, DistinctRows, LabelledLinks
from proxembed.estimator.rows import Rows, reciprocal
from proxembed.pairs.formulas import weights_local_scaling
from proxembed.params import integers, log, param
from proxembed.proximity.backends import Neighbors
from proxembed.proximity.graph import edge_rows, neighbor_graph
from proxembed.proximity.reconstruction import reconstruction_matrix, reconstruction_weights, residual_matrix
from proxembed.proximity.weights import (
    LOCAL_NEIGHBORS,
    WEIGHTS,
    LocalAffinity,
    class_scales,
    positive_links,
    weighted_links,
)
from proxembed.targets.labels import LabelMatrix

from .variance import KeepsVariance

# no "geodesic": a link is the shortest path between its own ends
LINK_WEIGHTS = (*(kind for kind in WEIGHTS if kind != "geodesic"), "reconstruction")
RECONSTRUCTED_DOC = (
    " \"reconstruction\": the positive entries of V + V' - V'V, V the weights of LLE that rebuild a row from as many "
    "nearest rows as it is linked with."
)
GIVEN_DOC = (
    " Or the weights themselves: a symmetric n x n matrix for the rows of fit alone, or a callable (X, y), y as given "
    "to fit, that returns one."
)
RIDGE_OF_CLASSES = 1e-6  # of MFA
LINK_DOC = (
    "Weight of a link from the features: constant, gaussian, local_scaling, alternative, cosine, ..."
    + RECONSTRUCTED_DOC
    + GIVEN_DOC
)
TAU_DOC = 'Width of the weights; None: the median squared distance over all links, 1 for "alternative".'
OWN_TAU_DOC = (
    'Width of the weights; None: the median squared distance over the links, 1 for "alternative". The links inside '
    "classes and those between them, two separate matrices, have each their own."
)


class LFDA(DistinctRows, LabelledLinks, PencilEmbedder, labels="single"):
    """Local Fisher discriminant analysis: A = L(Wlb), B = L(Wlw), Wlw = A o Y N^-1 Y' with local affinities A.
    [sugiyama2007lfda]

    Fisher's criterion in which far rows of one class need not come together. A class may have several clusters, and
    there may be more components than classes. Affinities between the rows of a class are exp(-d^2/(s_i s_j)), where s
    is the distance to the K-th neighbour [zelnikmanor2004scaling]; with ``affinity="constant"`` it is FDA, and A may
    be given. One class per row; ``MESD(LFDA())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array, local between-class over local within-class scatter.
    ridge_ : float, the ridge used, absolute.
    recall_ : float or None, the sampled recall of approximate searches; None for exact ones.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), no class of two rows, given affinities below 0 or beside
        n_links, n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.FDA : Fisher's discriminants of one class per row.
    proxembed.MFA : Links between neighbours within and across classes.
    proxembed.SELF : Local Fisher discriminant analysis with unlabelled rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import LFDA
    >>> model = make_pipeline(LFDA(n_components=3), KNeighborsClassifier())
    >>> bool(cross_val_score(model, *load_iris(return_X_y=True)).mean() > 0.9)  # accuracy
    True
    """

    n_neighbors: int = param(
        default=7,
        low=1,
        integer=True,
        search=integers(3, 20),
        doc="The neighbour that sets the local scale of a row; in a small class its last one.",
    )
    scope: str = param(
        default="class",
        choices=("class", "global"),
        doc="Where that neighbour is searched: in the class, or among all rows.",
    )
    affinity: Any = param(
        default="local",
        choices=("local", "constant", "reconstruction"),
        kind=MATRICES,
        callable=True,
        doc="Affinities inside a class: locally scaled, or all 1 (FDA)." + RECONSTRUCTED_DOC + GIVEN_DOC,
    )
    n_links: int | None = param(
        default=None,
        low=1,
        integer=True,
        choices=(None,),
        doc="Rows of its class to which a row keeps its local affinity, the nearest, either way; the others are 0. "
        "None: all, n_k^2 of them in a class of n_k rows.",
    )
    ridge: float = param(default=0.0, low=0, search=log(1e-6, 1.0), doc="Ridge on the local within-class scatter.")

    def template(self, rows: Rows) -> Template:
        check_classes(self, rows)
        total = Laplacian(rows.weigh(rows.grand_mean(), same_class=False))
        if self._constant:
            scatter = Laplacian(rows.weigh(rows.class_mean()))
            return Template(total - scatter, scatter, b=0, offset=rows.mass)
        labels, sizes = rows.labels, rows.class_sizes
        weights: InsideClasses
        if self._of_pairs:
            weights = ClassLinks(rows.n, self._given(rows))
        elif not self._by_lists:
            weights = ClassWeights(rows.n, self._classes(rows))
        else:
            weights = ClassLinks(rows.n, self._near_links(rows))
        within = weights.laplacian(reciprocal(sizes))
        shares = np.full(labels.c, 1.0 / sizes.sum())
        near = weights.laplacian(shares)
        pairs = Laplacian(rows.weigh(LowRank(rows.each_counted(labels.Y), shares)))
        return Template(total - pairs + near - within, within, b=0, offset=rows.mass)

    @property
    def _constant(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity == "constant"

    @property
    def _of_pairs(self) -> bool:
        """Whether affinities are entries of a matrix of all pairs of rows."""
        return not isinstance(self.affinity, str) or self.affinity == "reconstruction"

    @property
    def _by_lists(self) -> bool:
        """Whether affinities are those of lists of near rows: of some, or of all by a metric that has no tiles."""
        return self.n_links is not None or self.metric != "euclidean"

    def search(self, rows: Rows) -> None:
        if self._constant or not isinstance(self.affinity, str):
            return
        if self.affinity == "reconstruction":
            reconstructed(rows, self.n_neighbors, **self._search)
            return
        if self.scope == "global":
            self._global_scale(rows)
        if self._by_lists:
            self._near(rows)

    def _given(self, rows: Rows) -> list[tuple[np.ndarray, sparse.csr_array]]:
        """The rows of each class and the affinities among them, those given or of reconstructions."""
        if self.n_links is not None:
            raise ValueError(
                f"LFDA: n_links={self.n_links!r} is not allowed where affinity is given, with links of its own. Leave "
                "n_links at None."
            )
        if isinstance(self.affinity, str):
            A = reconstructed(rows, self.n_neighbors, **self._search)
        else:
            A = rows.given_weights(self.affinity, "affinity")
        if A.data.min(initial=0.0) < 0.0:
            raise ValueError(
                f"LFDA: affinity holds {A.data.min():.3g}; given affinities must be at least 0. Pass np.maximum(A, 0)."
            )
        classes = [(index, rows.take(index)) for index, _ in rows.classes()]
        return [(index, own.links_counted(own.weigh(A[index][:, index]))) for index, own in classes]

    def _near(self, rows: Rows) -> list[tuple[np.ndarray, Neighbors]]:
        """For each class its rows and the nearest of them: for the links, and for the scales."""
        links = rows.n if self.n_links is None else self.n_links
        K = max(links, self.n_neighbors if self.scope == "class" else 1)
        return rows.class_neighbors(at_most(K, rows), **self._search)

    def _near_links(self, rows: Rows) -> list[tuple[np.ndarray, sparse.csr_array]]:
        """The rows of each class and the affinities of those near each other."""
        scale = self._global_scale(rows) if self.scope == "global" else None
        links = []
        for index, found in self._near(rows):
            graph = sparse.csr_array((len(index), len(index)))
            if found.K:
                near = Neighbors(found.index[:, : self.n_links], found.distance[:, : self.n_links])
                graph = neighbor_graph(near, len(index))
                own = found.distance[:, min(self.n_neighbors, found.K) - 1] if scale is None else scale[index]
                graph.data = weights_local_scaling(graph.data, 1.0, own[edge_rows(graph)], own[graph.indices])
            own_rows = rows.take(index)
            links.append((index, own_rows.links_counted(own_rows.weigh(graph))))
        return links

    def _global_scale(self, rows: Rows) -> np.ndarray:
        """The distance of each row to its n_neighbors-th nearest of all; rows without a label have 1."""
        part, known = rows.with_label
        scale = np.ones(rows.n)
        scale[known] = part.neighbors(at_most(self.n_neighbors, part), **self._search).distance[:, -1]
        return scale

    def _classes(self, rows: Rows) -> list[tuple[np.ndarray, Open]]:
        """The rows of each class and their affinities by tiles, made of the rows when the class is opened."""
        classes = [index for index, _ in rows.classes()]
        if self.scope == "class":
            scales = class_scales(rows.X, classes, self.n_neighbors)
        else:
            scale = self._global_scale(rows)
            scales = [scale[index] for index in classes]

        def opened(index: np.ndarray, s: np.ndarray) -> Open:
            return lambda: copy_weighted(rows, index, LocalAffinity(rows.X[index], s))

        return [(index, opened(index, s)) for index, s in zip(classes, scales, strict=True)]


class MFA(DistinctRows, LabelledLinks, PencilEmbedder, labels="single", takes_numbers=True):
    """Marginal Fisher analysis: A = L(enemies), B = L(friends), links of near rows.  [yan2007mfa]

    The directions that separate near rows of different classes and keep the nearest rows of each class together. It
    assumes no shape of a class. One class per row; ``MESD(MFA())`` takes several. ``Kernelized(MFA())`` is kernel MFA.
    Where y holds numbers, rows whose y is near keep together, and all are spread out: A = I - 11'/n, B = L(W) with the
    graph W of the ``target_neighbors`` nearest rows in y. There are then up to as many components as X has dimensions.

    Attributes
    ----------
    eigenvalues_ : (k,) array, spread of the enemies (of numbers: of all rows) over spread of the friends.
    ridge_ : float, the ridge used, absolute.
    recall_ : float or None, the sampled recall of approximate searches; None for exact ones.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), no class of two rows, n_components above the rank, bad X or
        y.

    See Also
    --------
    proxembed.LFDA : Classes of several clusters.
    proxembed.DNE : Neighbours attract or repel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import MFA
    >>> model = make_pipeline(MFA(n_components=2), KNeighborsClassifier())
    >>> bool(cross_val_score(model, *load_iris(return_X_y=True)).mean() > 0.9)  # accuracy
    True
    """

    n_friends: int = param(
        default=5, low=1, integer=True, search=integers(2, 15), doc="Nearest rows of its own class linked with a row."
    )
    n_enemies: int | None = param(
        default=None,
        low=1,
        integer=True,
        choices=(None,),
        search=integers(3, 60),
        doc="Nearest pairs per class, or rows of other classes per row; None: 20 pairs, or 5 rows.",
    )
    pairs: str = param(
        default="class",
        choices=("class", "point"),
        search=("class", "point"),
        doc="Links between classes: the nearest pairs of each class and the others, or nearest rows of each row.",
    )
    weights: Any = param(default="constant", choices=LINK_WEIGHTS, kind=MATRICES, callable=True, doc=LINK_DOC)
    n_scale: int = param(default=LOCAL_NEIGHBORS, low=1, integer=True, doc=SCALE_DOC)
    tau: float | None = param(default=None, above=0, choices=(None,), doc=OWN_TAU_DOC)
    target_neighbors: int = param(
        default=10, low=1, integer=True, doc="Rows nearest in y that are linked with a row where y holds numbers."
    )
    ridge: float | str = param(
        default="auto",
        low=0,
        choices=("auto",),
        search=log(1e-6, 1.0),
        doc="Ridge on the spread of the friends; auto: 1e-6 for classes, for numbers the one of least leave-one-out "
        "error of regressing them on X.",
    )

    def prepare(self, rows: Rows) -> Prepared:
        prepared = super().prepare(rows)
        if self.ridge != "auto" or not isinstance(rows.labels, LabelMatrix):
            return prepared
        return replace(prepared, ridge=RIDGE_OF_CLASSES)

    def search(self, rows: Rows) -> None:
        if isinstance(rows.labels, LabelMatrix):
            self._friends(rows)
            self._enemies(rows)
        else:
            self._near_targets(rows)
        link_scale(rows, self.weights, self.n_scale, **self._search)
        if isinstance(self.weights, str) and self.weights == "reconstruction":
            reconstructed(rows, self.n_friends, **self._search)

    def _friends(self, rows: Rows) -> sparse.csr_array:
        return near_friends(rows, self.n_friends, **self._search)

    def _near_targets(self, rows: Rows) -> sparse.csr_array:
        return rows.target_graph(at_most(self.target_neighbors, rows), algorithm=self.algorithm)

    def _enemies(self, rows: Rows) -> sparse.csr_array:
        number = self.n_enemies or {"class": 20, "point": 5}[self.pairs]
        if self.pairs == "point":
            return point_enemies(rows, number, **self._search)
        return nearest_pairs(rows, number, **self._search)

    def template(self, rows: Rows) -> Template:
        scale = link_scale(rows, self.weights, self.n_scale, **self._search)
        kind = link_kind(rows, self.weights, self.n_friends, **self._search)
        distances = partial(rows.pair_distances, metric=self.metric)
        weighted = partial(weighted_links, rows.X, kind=kind, tau=self.tau, scale=scale, distances=distances)
        if not isinstance(rows.labels, LabelMatrix):
            near = weighted(self._near_targets(rows))
            near, total = Laplacian(Sparse(rows.links_counted(near))), Centering(rows.stated)
            how: dict[str, Any] = {"offset": rows.times, "target": rows.labels.Y, "repeats": rows.stated}
            return Template(total, near, b=0, **how)
        check_classes(self, rows)
        enemies, friends = weighted(self._enemies(rows)), weighted(self._friends(rows))
        A = Laplacian(Sparse(rows.links_counted(rows.weigh(enemies, same_class=False))))
        B = Laplacian(Sparse(rows.links_counted(rows.weigh(friends))))
        return Template(A, B, b=0, offset=rows.mass)


class DLA(DistinctRows, LabelledLinks, KeepsVariance, labels="single"):
    """Discriminative locality alignment: minimise L(Wd + Wd'), Wd = friends - lam enemies, P'P = I.  [zhang2009dla]

    Each row forms a patch with its nearest friends and enemies; in the patch friends are drawn near and enemies pushed
    away. The patches are summed. There is no inverse, so no ridge. One class per row; ``MESD(DLA())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array of the minimised matrix, ascending.
    recall_ : float or None, the sampled recall of approximate searches; None for exact ones.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.MFA : Links between neighbours within and across classes.
    proxembed.LFDA : Classes of several clusters.

    Examples
    --------
    >>> from proxembed import DLA
    >>> from sklearn.datasets import load_iris
    >>> DLA(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    n_friends: int = param(
        default=5, low=1, integer=True, search=integers(2, 15), doc="Nearest rows of its own class in a row's patch."
    )
    n_enemies: int = param(
        default=5, low=1, integer=True, search=integers(2, 15), doc="Nearest rows of other classes in a row's patch."
    )
    lam: float = param(default=0.3, low=0, high=1, search=(0.0, 1.0), doc="Weight of the enemies.")

    def search(self, rows: Rows) -> None:
        self._links(rows)

    def _links(self, rows: Rows) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Friends and enemies of every row."""
        return (
            near_friends(rows, self.n_friends, "directed", **self._search),
            point_enemies(rows, self.n_enemies, "directed", **self._search),
        )

    def template(self, rows: Rows) -> Template:
        friends, enemies = self._links(rows)
        friends, enemies = rows.weigh(friends), rows.weigh(enemies, same_class=False)
        W = rows.links_counted(friends - self.lam * enemies)
        return Template(-Laplacian(Sparse(W + W.T)), offset=rows.mass, sense=-1)


class DNE(DistinctRows, LabelledLinks, KeepsVariance, labels="single", positive_only=True):
    """Discriminant neighbourhood embedding: minimise L(F), F = +1 on near friends and -1 on near enemies, P'P = I.
    [zhang2007dne]

    Near rows of one class attract each other, near rows of different classes repel each other. The matrix is
    indefinite: each negative eigenvalue is a useful direction. By default all of them are used, the most negative
    first, and at most 100. One class per row; ``MESD(DNE())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array of the minimised matrix, ascending.
    recall_ : float or None, the sampled recall of approximate searches; None for exact ones.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.MFA : Links between neighbours within and across classes.
    proxembed.DLA : Patches of near rows.

    Examples
    --------
    >>> from proxembed import DNE
    >>> from sklearn.datasets import load_iris
    >>> DNE(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    n_neighbors: int = param(
        default=5, low=1, integer=True, search=integers(2, 20), doc="Neighbours of a row, of each sort in scope class."
    )
    scope: str = param(
        default="global",
        choices=("global", "class"),
        search=("global", "class"),
        doc="Neighbours among all rows, or friends in the class and enemies in the other classes.",
    )
    weights: Any = param(default="constant", choices=LINK_WEIGHTS, kind=MATRICES, callable=True, doc=LINK_DOC)
    n_scale: int = param(default=LOCAL_NEIGHBORS, low=1, integer=True, doc=SCALE_DOC)
    tau: float | None = param(default=None, above=0, choices=(None,), doc=TAU_DOC)

    def search(self, rows: Rows) -> None:
        self._links(rows)
        link_scale(rows, self.weights, self.n_scale, **self._search)

    def _links(self, rows: Rows) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Friends and enemies of every row."""
        if self.scope == "class":
            return (
                near_friends(rows, self.n_neighbors, **self._search),
                point_enemies(rows, self.n_neighbors, **self._search),
            )
        graph = labelled_graph(rows, self.n_neighbors, **self._search)
        return rows.copy_pairs(graph, same=True), rows.copy_pairs(graph, same=False)

    def template(self, rows: Rows) -> Template:
        friends, enemies = self._links(rows)
        kind = link_kind(rows, self.weights, self.n_neighbors, **self._search)
        if sparse.issparse(kind) or kind != "constant":
            links = ((friends + enemies) > 0).astype(np.float64).tocsr()
            scale = link_scale(rows, self.weights, self.n_scale, **self._search)
            distances = partial(rows.pair_distances, metric=self.metric)
            links = weighted_links(rows.X, links, kind, self.tau, scale, distances)
            friends, enemies = links.multiply(friends).tocsr(), links.multiply(enemies).tocsr()
        near, apart = rows.weigh(friends), rows.weigh(enemies, same_class=False)
        return Template(-Laplacian(Sparse(rows.links_counted(near - apart))), offset=rows.mass, sense=-1)

    def natural_components(self, rows: Rows) -> int:
        return max(1, min(MAX_COMPONENTS, *rows.X.shape))


def at_most(K: int, rows: Rows) -> int:
    """K, or the number of other rows where that is less."""
    return min(K, max(1, rows.n - 1))


def near_friends(rows: Rows, K: int, link: str = "undirected", **search: Any) -> sparse.csr_array:
    """The K nearest rows of the class of every row; all of them where there are fewer."""
    return rows.friends(at_most(K, rows), link, **search)


def point_enemies(rows: Rows, K: int, link: str = "undirected", **search: Any) -> sparse.csr_array:
    """The K nearest rows of other classes of every row; all of them where there are fewer."""
    return rows.enemies(at_most(K, rows), "point", link, **search)


def nearest_pairs(rows: Rows, K: int, **search: Any) -> sparse.csr_array:
    """The K nearest pairs of every class and the others; all of them where there are fewer."""
    return rows.enemies(min(K, max(1, rows.n * (rows.n - 1))), "class", **search)


def link_kind(rows: Rows, weights: Any, K: int, **search: Any) -> str | sparse.csr_array:
    """The name of the weights of links, or W where weights of all pairs are given, or made of reconstructions from K
    rows."""
    if not isinstance(weights, str):
        return rows.given_weights(weights)
    return reconstructed(rows, K, **search) if weights == "reconstruction" else weights


def reconstructed(rows: Rows, K: int, **search: Any) -> sparse.csr_array:
    """The positive entries of V + V' - V'V between different rows, V the weights by which its K nearest labelled rows
    rebuild a row."""
    part, known = rows.with_label
    if part.n < 2:
        return sparse.csr_array((rows.n, rows.n))
    index = part.neighbors(at_most(K, part), **search).index
    V = reconstruction_matrix(index, reconstruction_weights(part.X, index), part.n)
    W = positive_links(sparse.eye_array(part.n) - residual_matrix(V)).tocoo()
    return sparse.csr_array((W.data, (known[W.row], known[W.col])), shape=(rows.n, rows.n))


def link_scale(rows: Rows, kind: Any, K: int, **search: Any) -> np.ndarray | None:
    """The local scales of the labelled rows by their K-th neighbour, which know of no other; None for weights that need
    none."""
    if not isinstance(kind, str) or kind == "reconstruction" or WEIGHTS[kind].ends != "scales":
        return None
    part, known = rows.with_label
    scale = np.zeros(rows.n)
    if part.n > 1:
        scale[known] = part.neighbors(at_most(K, part), **search).distance[:, -1]
    return scale


def labelled_graph(rows: Rows, K: int, **search: Any) -> sparse.csr_array:
    """The undirected graph of the K nearest labelled rows, n x n with distances; zeros are edges."""
    part, known = rows.with_label
    if part.n < 2:
        return sparse.csr_array((rows.n, rows.n))
    graph = part.graph("undirected", at_most(K, part), **search).tocoo()
    return sparse.csr_array((graph.data, (known[graph.row], known[graph.col])), shape=(rows.n, rows.n))


def check_classes(estimator: SpectralEmbedder, rows: Rows) -> None:
    """A ValueError where no class has two rows: there is nothing to keep together."""
    if max(rows.labels.nk.max(), rows.class_sizes.max()) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs a class of at least two rows, but every class has one row only. "
            "Use a method without a within-class constraint, or labels that rows share."
        )


def copy_weighted(rows: Rows, index: np.ndarray, tile: Tile) -> Tile:
    """The weights inside a class as ``rows.weigh`` would give them: over m_i m_j, times the labels shared; and each
    pair as often as both rows occur."""
    plain = rows.weighting in (None, "none")
    if plain and rows.stated is None:
        return tile
    share = rows.each_counted(rows.ones if plain else reciprocal(rows.labels.m))[index]
    Y = rows.labels.Y.tocsr()[index]

    def weighted(part: slice, columns: slice) -> np.ndarray:
        A = tile(part, columns)
        A *= share[part, None]
        A *= share[columns]
        if rows.weighting == "printed":
            A *= (Y[part] @ Y[columns].T).toarray()
        return A

    return weighted
