"""Neighbourhood preservation by projections: LPP, OLPP, NPP and ONPP, by classes OLPP-R, SONPP, DONPP
and ONPP-R."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.class_blocks import ClassResiduals, class_residual
from proxembed.algebra.arrays.matrix import all_ones
from proxembed.algebra.operators.inverse import SquaredResidual
from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, Laplacian, LowRank, Operator, Sparse
from proxembed.algebra.template import Template, centred
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.neighborly import (
    MATRICES,
    METRIC_DOC,
    ROW_METRICS,
    SCALE_DOC,
    DistinctRows,
    Linked,
    Neighborly,
)
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits
from proxembed.params import integers, log, param
from proxembed.proximity.reconstruction import reconstruction_matrix, reconstruction_weights
from proxembed.proximity.weights import LOCAL_NEIGHBORS, edge_weights, weighted_links

from .local import (
    GIVEN_DOC,
    LINK_WEIGHTS,
    RECONSTRUCTED_DOC,
    at_most,
    check_classes,
    labelled_graph,
    link_kind,
    link_scale,
    point_enemies,
)
from .variance import KeepsVariance


class NeighborProjection(Linked, SpectralEmbedder, abstract=True):
    """A projection made from a weighted graph of neighbours."""

    @property
    def loops_count(self) -> bool:
        """Whether A holds the weights of rows with themselves: not that of a Laplacian."""
        return False

    def prepare(self, rows: Rows) -> Prepared:
        return replace(super().prepare(rows), attributes=self.search_info(rows))

    def _graph_weights(self, rows: Rows) -> sparse.csr_array:
        """W, symmetric."""
        W, _ = self._weights(rows)
        own = W.diagonal()
        if self._weights_given and W.nnz == (0 if self.loops_count else np.count_nonzero(own)):
            raise ValueError(f"{type(self).__name__}: the given weights link no two rows. Pass weights other than 0.")
        if not self._weights_given and not W.sum() - own.sum() > 0:
            raise ValueError(
                f"{type(self).__name__}: no two rows are neighbours of positive weight under graph={self.graph!r}, "
                f'weights={self.weights!r}. Use more neighbours, a larger eps, or weights="gaussian".'
            )
        return rows.links_counted(W) if self._of_graph else W


class _Reconstructing(Neighborly, SpectralEmbedder, abstract=True):
    """A projection made from the weights by which its neighbours make up a row."""

    reg: float = param(
        default=1e-3, low=0, doc="Ridge of the reconstruction weights, in units of their trace; above 0 where "
        "n_neighbors exceeds the features."
    )  # fmt: skip

    def prepare(self, rows: Rows) -> Prepared:
        return replace(super().prepare(rows), attributes=self.search_info(rows))

    def _residuals(self, rows: Rows) -> Operator:
        """M = (I - W)'(I - W)."""
        index = self._neighbors(rows).index
        weights = reconstruction_weights(rows.X, index, reg=self.reg)
        return SquaredResidual(reconstruction_matrix(index, weights, rows.n), rows.counts)


class Constrained(SpectralEmbedder, abstract=True):
    """A minimisation under a constraint made of the features, with a ridge that is 0 unless it is asked for."""

    center: bool = param(default=True, kind=bool, doc="Centre the rows; False as in the paper.")
    ridge: float = param(default=0.0, low=0, search=log(1e-6, 1.0), doc="Ridge on the constraint.")
    ridge_scale: str = param(
        default="trace",
        choices=("trace", "absolute"),
        doc="Unit of the ridge: the trace of the constraint over min(n, d), or 1.",
    )

    def _minimised(self, loss: Operator, weights: np.ndarray, n: int) -> Template:
        """min P'X'(loss)XP subject to the scatter of X under these row weights."""
        if self.center:
            return Template(-loss, Centering(weights), b=0, offset=weights, sense=-1)
        B = Identity(n) if all_ones(weights) else Diagonal(weights)
        return Template(-loss, B, b=0, sense=-1)


class LPP(DistinctRows, Constrained, NeighborProjection):
    """Locality preserving projections: minimise P'X'LXP subject to P'X'DXP = I, L = D - W.  [he2003lpp]

    Neighbours in the graph W remain neighbours. It is the linear form of Laplacian eigenmaps, and equals them if X is
    invertible. Centring by the D-weighted mean removes the constant solution; ``center=False`` keeps it, as published.

    Attributes
    ----------
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.
    components_ : (k, d) array, P'.
    mean_ : (d,) array, the D-weighted mean (``constraint="gram"``: the mean) of the rows; zeros with center=False.
    eigenvalues_ : (k,) array, ascending: the cost of each component.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For n_neighbors above n - 1, a graph without edges, n_components above the rank of the centred rows, bad X.

    See Also
    --------
    proxembed.OLPP : LPP with orthonormal directions.
    proxembed.LaplacianEigenmaps : Places the rows of a graph.

    Examples
    --------
    >>> from sklearn.manifold import trustworthiness
    >>> from proxembed import LPP
    >>> from proxembed.data import digits
    >>> X = digits().X[:300]
    >>> model = LPP(n_components=3).fit(X[:200])
    >>> bool(trustworthiness(X, model.transform(X), n_neighbors=10) > 0.8)  # of neighbours
    True
    """

    constraint: str = param(
        default="degree",
        choices=("degree", "gram"),
        doc="Scatter in the constraint: rows weighted by degree, or alike.",
    )

    def template(self, rows: Rows) -> Template:
        W = self._graph_weights(rows)
        weights = W @ rows.ones if self.constraint == "degree" else rows.times
        if weights.min() < -1e-10 * weights.max():
            raise ValueError(
                f"LPP: the given weights of some row sum to {weights.min():.3g}, and constraint='degree' weighs rows "
                "by these sums. Pass weights of at least 0, or constraint='gram'."
            )
        return self._minimised(Laplacian(Sparse(W)), weights, rows.n)


class OLPP(DistinctRows, KeepsVariance, NeighborProjection):
    """Orthogonal locality preserving projections: maximise P'X'HWHXP subject to P'P = I, H = I - 11'/n.
    [mu2012mesd]

    Neighbours in the graph W get the same direction from the mean, by an orthonormal projection within the row space of
    the centred rows. ``objective="laplacian"`` instead minimises P'X'LXP, L = D - W, the distances between neighbours
    as first published [kokiopoulou2007onpp]: if features have different scales, the smallest distances are in those
    that vary least, and classes collapse with them. Neither is the algorithm of the same name that deflates one vector
    at a time.

    Attributes
    ----------
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.
    eigenvalues_ : (k,) array, descending, the positive ones with n_components=None; of ``objective="laplacian"``
        ascending, the cost of each component.

    Raises
    ------
    ValueError
        For n_neighbors above n - 1, a graph without edges, n_components above the rank of the centred rows, bad X.

    See Also
    --------
    proxembed.LPP : Near rows stay near.
    proxembed.OLPPR : OLPP with repulsion.

    Examples
    --------
    >>> from proxembed import OLPP
    >>> from proxembed.data import digits
    >>> OLPP(n_components=3).fit_transform(digits().X).shape
    (1797, 3)
    """

    objective: str = param(
        default="proximity",
        choices=("proximity", "laplacian"),
        search=("proximity", "laplacian"),
        doc="W, a maximisation of proximity, or L, a minimisation of distances.",
    )

    @property
    def traits(self) -> Traits:
        """Components of positive eigenvalue, except for the costs of a Laplacian."""
        return replace(super().traits, positive_only=self.objective == "proximity")

    @property
    def loops_count(self) -> bool:
        return self.objective == "proximity"

    def template(self, rows: Rows) -> Template:
        W = Sparse(self._graph_weights(rows))
        if self.objective == "laplacian":
            return Template(-Laplacian(W), offset=rows.times, sense=-1)
        return Template(centred(W, rows.times), offset=rows.times)


class NPP(DistinctRows, Constrained, _Reconstructing):
    """Neighbourhood preserving projections (NPE): minimise P'X'(I - W)'(I - W)XP subject to P'X'XP = I.  [he2005npe]

    Each row remains the same mixture of its neighbours, with reconstruction weights W. It is the linear form of LLE.

    Attributes
    ----------
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection; zeros with center=False.
    eigenvalues_ : (k,) array, ascending: the reconstruction error of each component.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For n_neighbors above n - 1, n_components above the rank of the centred rows, bad X.

    See Also
    --------
    proxembed.ONPP : NPP with orthonormal directions.
    proxembed.LLE : Neighbours that rebuild a row, without a projection.

    Examples
    --------
    >>> from sklearn.manifold import trustworthiness
    >>> from proxembed import NPP
    >>> from proxembed.data import digits
    >>> X = digits().X[:300]
    >>> model = NPP(n_components=3).fit(X[:200])
    >>> bool(trustworthiness(X, model.transform(X), n_neighbors=10) > 0.8)  # of neighbours
    True
    """

    def template(self, rows: Rows) -> Template:
        return self._minimised(self._residuals(rows), rows.times, rows.n)


class ONPP(DistinctRows, KeepsVariance, _Reconstructing):
    """Orthogonal neighbourhood preserving projections: minimise P'X'(I - W)'(I - W)XP subject to P'P = I.
    [kokiopoulou2007onpp]

    Each row remains the same mixture of its neighbours, under an orthonormal projection within the row space of the
    centred rows.

    Attributes
    ----------
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.
    eigenvalues_ : (k,) array, ascending: the reconstruction error of each component.

    Raises
    ------
    ValueError
        For n_neighbors above n - 1, n_components above the rank of the centred rows, bad X.

    See Also
    --------
    proxembed.NPP : Rows are rebuilt from their neighbours.
    proxembed.SONPP : ONPP within classes.

    Examples
    --------
    >>> from proxembed import ONPP
    >>> from proxembed.data import digits
    >>> ONPP(n_components=3).fit_transform(digits().X).shape
    (1797, 3)
    """

    def template(self, rows: Rows) -> Template:
        return Template(-self._residuals(rows), offset=rows.times, sense=-1)


REPULSION_DOC = (
    "Weight of a repelling link from the features; alternative, the published one, sees the origin."
    + RECONSTRUCTED_DOC
    + GIVEN_DOC
)
TAU_DOC = 'Width of these weights; None: 1 for "alternative", else the median squared distance over the graph.'
WHOLE_DOC = (
    "Neighbours in the class that reconstruct a row, at most all; None: the whole class. A class with more rows than "
    "dimensions reconstructs everything, and the error that is minimised is then noise."
)
REG_DOC = "Share of the trace added to the systems of the reconstruction weights."


class ClassPreserving(DistinctRows, KeepsVariance, abstract=True):
    """A projection made from near rows inside classes or between them, by one metric.  [kokiopoulou2009repulsion]"""

    metric: Any = param(default="euclidean", choices=ROW_METRICS, callable=True, doc=METRIC_DOC)


class OLPPR(ClassPreserving, labels="single"):
    """Orthogonal locality preserving projection with repulsion: minimise L(Ws) - beta L(Wr), P'P = I.
    [kokiopoulou2009repulsion]

    Rows of one class are drawn together, and near rows of different classes, linked in the graph of nearest rows, repel
    each other. There is no inverse, so no ridge. One class per row; ``MESD(OLPPR())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array of the minimised matrix, ascending.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.OLPP : LPP with orthonormal directions.
    proxembed.ONPPR : ONPP with repulsion.

    Examples
    --------
    >>> from proxembed import OLPPR
    >>> from sklearn.datasets import load_iris
    >>> OLPPR(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    n_neighbors: int = param(
        default=5, low=1, integer=True, search=integers(2, 20), doc="Neighbours of a row in the graph of repulsion."
    )
    beta: float = param(default=1.0, above=0, search=log(1e-2, 1e2), doc="Weight of the repulsion.")
    ws: str = param(
        default="normalized",
        choices=("normalized", "indicator"),
        doc="Weights inside a class: 1 over its size (within-class scatter), or 1.",
    )
    balance: str = param(
        default="none",
        choices=("none", "trace"),
        search=("none", "trace"),
        doc="What the repulsion is brought to first: nothing, as published, or the trace of the attraction.",
    )
    weights: Any = param(default="alternative", choices=LINK_WEIGHTS, kind=MATRICES, callable=True, doc=REPULSION_DOC)
    n_scale: int = param(default=LOCAL_NEIGHBORS, low=1, integer=True, doc=SCALE_DOC)
    tau: float | None = param(default=None, above=0, choices=(None,), doc=TAU_DOC)

    def template(self, rows: Rows) -> Template:
        inside = rows.class_mean() if self.ws == "normalized" else LowRank(rows.each_counted(rows.labels.Y))
        attraction = Laplacian(rows.weigh(inside))
        repulsion = repulsive(rows, self.n_neighbors, self.weights, self.tau, self.n_scale, self.metric)
        beta = self.beta
        if self.balance == "trace":
            X = CentredMatrix.centred(rows.X, rows.ones)
            other = repulsion.trace_on(X)
            beta *= attraction.trace_on(X) / other if other > 0 else 1.0
        return Template(beta * repulsion - attraction, offset=rows.mass, sense=-1)


class SONPP(ClassPreserving, labels="single"):
    """Supervised orthogonal neighbourhood preserving projection: minimise (I - W)'(I - W), W inside classes, P'P = I.
    [kokiopoulou2007onpp]

    Each row is reconstructed from rows of its own class, and the projection preserves these reconstructions. A class of
    one row adds nothing. With ``n_neighbors=None`` and many more features than rows per class, many directions have
    eigenvalue zero: the space that they span is defined, but the single directions are not. One class per row;
    ``MESD(SONPP())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array of the minimised matrix, ascending.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), no class of two rows, n_components above the rank, bad X or
        y.

    See Also
    --------
    proxembed.ONPP : NPP with orthonormal directions.
    proxembed.DONPP : ONPP with classes apart.

    Examples
    --------
    >>> from proxembed import SONPP
    >>> from sklearn.datasets import load_iris
    >>> SONPP(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    n_neighbors: int | None = param(
        default=5, low=1, integer=True, choices=(None,), search=integers(3, 15), doc=WHOLE_DOC
    )
    reg: float = param(default=1e-3, low=0, search=log(1e-4, 1e-1), doc=REG_DOC)

    def template(self, rows: Rows) -> Template:
        check_classes(self, rows)
        return Template(-reconstructions(rows, self.n_neighbors, self.reg, self.metric), offset=rows.mass, sense=-1)


class DONPP(ClassPreserving, labels="single"):
    """Discriminative orthogonal neighbourhood preserving projection: minimise (I - W)'(I - W) - beta L(G + G').
    [zhang2010donpp]

    Preserves the reconstruction of each row from its own class (W), and moves each row away from its nearest rows of
    other classes (G). One class per row; ``MESD(DONPP())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array of the minimised matrix, ascending.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.ONPP : NPP with orthonormal directions.
    proxembed.ONPPR : ONPP with repulsion.

    Examples
    --------
    >>> from proxembed import DONPP
    >>> from sklearn.datasets import load_iris
    >>> DONPP(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    n_neighbors: int | None = param(
        default=None, low=1, integer=True, choices=(None,), search=integers(3, 15), doc=WHOLE_DOC
    )
    n_enemies: int = param(
        default=5, low=1, integer=True, search=integers(2, 15), doc="Nearest rows of other classes of a row."
    )
    beta: float = param(default=0.1, low=0, high=1, search=(0.0, 1.0), doc="Weight of the rows of other classes.")
    reg: float = param(default=1e-3, low=0, search=log(1e-4, 1e-1), doc=REG_DOC)

    def template(self, rows: Rows) -> Template:
        G = rows.weigh(point_enemies(rows, self.n_enemies, "directed", metric=self.metric), same_class=False)
        G = rows.links_counted(G)
        M = reconstructions(rows, self.n_neighbors, self.reg, self.metric)
        return Template(self.beta * Laplacian(Sparse(G + G.T)) - M, offset=rows.mass, sense=-1)


class ONPPR(ClassPreserving, labels="single"):
    """Orthogonal neighbourhood preserving projection with repulsion: minimise (I - W)'(I - W) - beta L(Wr), P'P = I.
    [kokiopoulou2009repulsion]

    Preserves the reconstruction of each row from its own class (W), while near rows of different classes, linked in the
    graph of nearest rows, repel each other (Wr). One class per row; ``MESD(ONPPR())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array of the minimised matrix, ascending.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.ONPP : NPP with orthonormal directions.
    proxembed.OLPPR : OLPP with repulsion.

    Examples
    --------
    >>> from proxembed import ONPPR
    >>> from sklearn.datasets import load_iris
    >>> ONPPR(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    n_neighbors: int | None = param(
        default=5, low=1, integer=True, choices=(None,), search=integers(3, 15), doc=WHOLE_DOC
    )
    n_enemies: int = param(
        default=5, low=1, integer=True, search=integers(2, 20), doc="Neighbours of a row in the graph of repulsion."
    )
    beta: float = param(default=1.0, above=0, search=log(1e-2, 1e2), doc="Weight of the repulsion.")
    reg: float = param(default=1e-3, low=0, search=log(1e-4, 1e-1), doc=REG_DOC)
    weights: Any = param(default="alternative", choices=LINK_WEIGHTS, kind=MATRICES, callable=True, doc=REPULSION_DOC)
    n_scale: int = param(default=LOCAL_NEIGHBORS, low=1, integer=True, doc=SCALE_DOC)
    tau: float | None = param(default=None, above=0, choices=(None,), doc=TAU_DOC)

    def template(self, rows: Rows) -> Template:
        repulsion = repulsive(rows, self.n_enemies, self.weights, self.tau, self.n_scale, self.metric)
        M = reconstructions(rows, self.n_neighbors, self.reg, self.metric)
        return Template(self.beta * repulsion - M, offset=rows.mass, sense=-1)


def repulsive(rows: Rows, K: int, kind: Any, tau: float | None, n_scale: int, metric: Any) -> Operator:
    """L(Wr): the graph of the K nearest rows without its links inside a class, weighted by features, or as given, and
    by copies."""
    graph = labelled_graph(rows, K, metric=metric)
    if isinstance(kind, str) and kind != "reconstruction":
        weights = edge_weights(rows.X, graph, kind, tau=tau, scale=link_scale(rows, kind, n_scale, metric=metric))
    else:
        own = link_kind(rows, kind, K, metric=metric)
        weights = weighted_links(rows.X, edge_weights(rows.X, graph, "constant"), own)
    pairs = rows.copy_pairs(weights, same=False)
    links = rows.weigh(weights.multiply(pairs).tocsr(), same_class=False)
    return Laplacian(Sparse(rows.links_counted(links)))


def reconstructions(rows: Rows, K: int | None, reg: float, metric: Any) -> Operator:
    """sum_k S_k (I - W_k)' V_k (I - W_k) S_k', W_k the reconstruction weights inside class k from K rows or from all,
    V_k the weights of the copies; a class of one row has no term."""
    if K is None:
        classes = [(index, weight) for index, weight in rows.classes() if len(index) > 1]
        return ClassResiduals(rows.n, [class_residual(rows.X, index, reg, weight) for index, weight in classes])
    parts = []
    found = rows.class_neighbors(at_most(K, rows), metric=metric)
    for (index, near), (_, weight) in zip(found, rows.classes(), strict=True):
        if len(index) < 2:
            continue
        w = reconstruction_weights(rows.X[index], near.index, reg=reg) * np.sqrt(weight)[:, None]
        others = np.column_stack([index, index[near.index]])
        values = np.column_stack([np.sqrt(weight), -w])
        starts = np.arange(len(index) + 1) * others.shape[1]
        parts.append(sparse.csr_array((values.ravel(), others.ravel(), starts), shape=(len(index), rows.n)))
    if not parts:
        return ClassResiduals(rows.n, [])
    R = sparse.vstack(parts, format="csr")
    return Sparse(R.T @ R)
