"""The local family: LFDA, MFA, DLA and DNE, which look at near rows of a class and near rows of other classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.class_blocks import ClassWeights, Open, Tile
from proxembed.algebra.operators.structured import Laplacian, LowRank, Sparse
from proxembed.algebra.pencil.eigen import MAX_COMPONENTS
from proxembed.algebra.template import Template

from ..base import PencilEmbedder, SpectralEmbedder
from ..params import integers, log, param
from ..proximity.affinity import LocalAffinity, class_scales
from ..proximity.weights import COMPUTED, local_scale, weighted_links
from ..rows import Rows, reciprocal

# no "geodesic": a link is the shortest path between its own ends
LINK_WEIGHTS = tuple(kind for kind in COMPUTED if kind != "geodesic")
LINK_DOC = "Weight of a link from the features: constant, gaussian, local_scaling, alternative, cosine, ..."
TAU_DOC = 'Width of the weights; None: the median squared distance over all links, 1 for "alternative".'
OWN_TAU_DOC = (
    'Width of the weights; None: the median squared distance over the links, 1 for "alternative". The links inside '
    "classes and those between them, two separate matrices, have each their own."
)


class LFDA(PencilEmbedder):
    """Local Fisher discriminant analysis: A = L(Wlb), B = L(Wlw), Wlw = A o Y N^-1 Y' with local affinities A.
    [sugiyama2007lfda]

    Fisher's criterion in which far rows of one class need not come together, so that a class may have several parts
    and there may be more components than classes. Affinities exp(-d^2/(s_i s_j)) between the rows of a class, s the
    distance to the K-th neighbour [zelnikmanor2004scaling]; with ``affinity="constant"`` it is FDA. One class per row;
    ``MESD(LFDA())`` takes several.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array, local between-class over local within-class scatter.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), no class of two rows, n_components above the rank, bad X or
        y.

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

    labels = "single"
    n_neighbors: int = param(
        default=7,
        low=1,
        integer=True,
        search=integers(3, 20),
        doc="The neighbour that sets the local scale of a row; in a small class its last one.",
    )
    scope: str = param(
        default="class", choices=("class", "global"), doc="Where that neighbour is looked for: the class, or all rows."
    )
    affinity: str = param(
        default="local", choices=("local", "constant"), doc="Affinities inside a class: locally scaled, or all 1 (FDA)."
    )
    ridge: float = param(default=0.0, low=0, search=log(1e-6, 1.0), doc="Ridge on the local within-class scatter.")

    def template(self, rows):
        check_classes(self, rows)
        total = Laplacian(rows.weigh(rows.grand_mean(), same_class=False))
        if self.affinity == "constant":
            within = Laplacian(rows.weigh(rows.class_mean()))
            return Template(total - within, within, b=0, offset=rows.mass)
        labels = rows.labels
        weights = ClassWeights(rows.n, self._classes(rows))
        within = weights.laplacian(reciprocal(labels.nk))
        near = weights.laplacian(np.full(labels.c, 1.0 / labels.nt))
        pairs = Laplacian(rows.weigh(LowRank(labels.Y, np.full(labels.c, 1.0 / labels.nt))))
        return Template(total - pairs + near - within, within, b=0, offset=rows.mass)

    def _classes(self, rows: Rows) -> list[tuple[np.ndarray, Open]]:
        """The rows of each class and their affinities by tiles, made of the rows when the class is opened."""
        classes = [index for index, _ in rows.classes()]
        if self.scope == "class":
            scales = class_scales(rows.X, classes, self.n_neighbors)
        else:
            part, known = labelled_rows(rows)
            scale = np.ones(rows.n)
            scale[known] = part.neighbors(at_most(self.n_neighbors, part)).distance[:, -1]
            scales = [scale[index] for index in classes]

        def opened(index: np.ndarray, s: np.ndarray) -> Open:
            return lambda: copy_weighted(rows, index, LocalAffinity(rows.X[index], s))

        return [(index, opened(index, s)) for index, s in zip(classes, scales, strict=True)]


class MFA(PencilEmbedder):
    """Marginal Fisher analysis: A = L(enemies), B = L(friends), links of near rows.  [yan2007mfa]

    The directions that draw apart near rows of different classes and keep together the nearest rows of each class; no
    assumption on the form of a class. One class per row; ``MESD(MFA())`` takes several. ``Kernelized(MFA())`` is kernel
    MFA.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array, spread of the enemies over spread of the friends.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), no class of two rows, n_components above the rank, bad X or
        y.

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

    labels = "single"
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
    weights: str = param(default="constant", choices=LINK_WEIGHTS, doc=LINK_DOC)
    tau: float | None = param(default=None, above=0, choices=(None,), doc=OWN_TAU_DOC)
    ridge: float = param(default=1e-6, low=0, search=log(1e-6, 1.0), doc="Ridge on the spread of the friends.")

    def template(self, rows):
        check_classes(self, rows)
        number = self.n_enemies or {"class": 20, "point": 5}[self.pairs]
        found = point_enemies(rows, number) if self.pairs == "point" else nearest_pairs(rows, number)
        scale = link_scale(rows, self.weights)
        enemies = weighted_links(rows.X, found, self.weights, self.tau, scale)
        friends = weighted_links(rows.X, near_friends(rows, self.n_friends), self.weights, self.tau, scale)
        A = Laplacian(Sparse(rows.weigh(enemies, same_class=False)))
        B = Laplacian(Sparse(rows.weigh(friends)))
        return Template(A, B, b=0, offset=rows.mass)


class DLA(SpectralEmbedder):
    """Discriminative locality alignment: minimise L(Wd + Wd'), Wd = friends - lam enemies, P'P = I.  [zhang2009dla]

    Each row with its nearest friends and nearest enemies makes a patch, in which friends should be near and enemies
    far; the patches are summed. No inverse, so no ridge. One class per row; ``MESD(DLA())`` takes several.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array of the minimised matrix, ascending.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), n_components above the rank, bad X or y.

    Examples
    --------
    >>> from proxembed import DLA
    >>> from sklearn.datasets import load_iris
    >>> DLA(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    labels = "single"
    n_friends: int = param(
        default=5, low=1, integer=True, search=integers(2, 15), doc="Nearest rows of its own class in a row's patch."
    )
    n_enemies: int = param(
        default=5, low=1, integer=True, search=integers(2, 15), doc="Nearest rows of other classes in a row's patch."
    )
    lam: float = param(default=0.3, low=0, high=1, search=(0.0, 1.0), doc="Weight of the enemies.")

    def template(self, rows):
        friends = rows.weigh(near_friends(rows, self.n_friends, "directed"))
        enemies = rows.weigh(point_enemies(rows, self.n_enemies, "directed"), same_class=False)
        W = friends - self.lam * enemies
        return Template(-Laplacian(Sparse(W + W.T)), offset=rows.mass, sense=-1)


class DNE(SpectralEmbedder):
    """Discriminant neighbourhood embedding: minimise L(F), F = +1 on near friends and -1 on near enemies, P'P = I.
    [zhang2007dne]

    Near rows of one class attract, near rows of different classes repel each other. The matrix is indefinite: each
    negative eigenvalue is a useful direction, and without n_components all of them are taken, at most 100, the most
    negative. One class per row; ``MESD(DNE())`` takes several.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array of the minimised matrix, ascending.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), n_components above the rank, bad X or y.

    Examples
    --------
    >>> from proxembed import DNE
    >>> from sklearn.datasets import load_iris
    >>> DNE(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    labels = "single"
    positive_only = True
    n_neighbors: int = param(
        default=5, low=1, integer=True, search=integers(2, 20), doc="Neighbours of a row, of each sort in scope class."
    )
    scope: str = param(
        default="global",
        choices=("global", "class"),
        search=("global", "class"),
        doc="Neighbours among all rows, or friends in the class and enemies in the other classes.",
    )
    weights: str = param(default="constant", choices=LINK_WEIGHTS, doc=LINK_DOC)
    tau: float | None = param(default=None, above=0, choices=(None,), doc=TAU_DOC)

    def template(self, rows):
        if self.scope == "class":
            friends, enemies = near_friends(rows, self.n_neighbors), point_enemies(rows, self.n_neighbors)
        else:
            graph = labelled_graph(rows, self.n_neighbors)
            friends, enemies = rows.copy_pairs(graph, same=True), rows.copy_pairs(graph, same=False)
        if self.weights != "constant":
            links = ((friends + enemies) > 0).astype(np.float64).tocsr()
            links = weighted_links(rows.X, links, self.weights, self.tau, link_scale(rows, self.weights))
            friends, enemies = links.multiply(friends).tocsr(), links.multiply(enemies).tocsr()
        near, apart = rows.weigh(friends), rows.weigh(enemies, same_class=False)
        return Template(-Laplacian(Sparse(near - apart)), offset=rows.mass, sense=-1)

    def natural_components(self, rows):
        return max(1, min(MAX_COMPONENTS, *rows.X.shape))


def at_most(K: int, rows: Rows) -> int:
    """K, or the number of other rows where that is less."""
    return min(K, max(1, rows.n - 1))


def near_friends(rows: Rows, K: int, link: str = "undirected") -> sparse.csr_array:
    """The K nearest rows of the class of every row; all of them where there are fewer."""
    return rows.friends(at_most(K, rows), link)


def point_enemies(rows: Rows, K: int, link: str = "undirected") -> sparse.csr_array:
    """The K nearest rows of other classes of every row; all of them where there are fewer."""
    return rows.enemies(at_most(K, rows), "point", link)


def nearest_pairs(rows: Rows, K: int) -> sparse.csr_array:
    """The K nearest pairs of every class and the others; all of them where there are fewer."""
    return rows.enemies(min(K, max(1, rows.n * (rows.n - 1))), "class")


def link_scale(rows: Rows, kind: str) -> np.ndarray | None:
    """The local scales of the labelled rows, which know of no other; None for weights that need none."""
    if kind != "local_scaling":
        return None
    part, known = labelled_rows(rows)
    scale = np.zeros(rows.n)
    scale[known] = local_scale(part.X)
    return scale


def labelled_rows(rows: Rows) -> tuple[Rows, np.ndarray]:
    """The rows that have a label, and their index: under MESD the others have no copies and are nobody's neighbours."""
    known = np.flatnonzero(rows.labels.m > 0)
    if len(known) == rows.n:
        return rows, known
    return replace(rows, X=rows.X[known], labels=rows.labels.take(known)), known


def labelled_graph(rows: Rows, K: int) -> sparse.csr_array:
    """The undirected graph of the K nearest labelled rows, n x n with distances; zeros are edges."""
    part, known = labelled_rows(rows)
    if part.n < 2:
        return sparse.csr_array((rows.n, rows.n))
    graph = part.graph("undirected", at_most(K, part)).tocoo()
    return sparse.csr_array((graph.data, (known[graph.row], known[graph.col])), shape=(rows.n, rows.n))


def check_classes(estimator: SpectralEmbedder, rows: Rows) -> None:
    """A ValueError where no class has two rows: there is nothing to keep together."""
    if rows.labels.nk.max() < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs a class of at least two rows, but every class has one row only. "
            "Use a method without a within-class constraint, or labels that rows share."
        )


def copy_weighted(rows: Rows, index: np.ndarray, tile: Tile) -> Tile:
    """The weights inside a class as ``rows.weigh`` would give them: over m_i m_j, times the labels shared."""
    if rows.weighting in (None, "none"):
        return tile
    share = reciprocal(rows.labels.m)[index]
    Y = rows.labels.Y.tocsr()[index]

    def weighted(part: slice, columns: slice) -> np.ndarray:
        A = tile(part, columns)
        A *= share[part, None]
        A *= share[columns]
        if rows.weighting == "printed":
            A *= (Y[part] @ Y[columns].T).toarray()
        return A

    return weighted
