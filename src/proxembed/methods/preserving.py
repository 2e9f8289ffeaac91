"""Neighbourhood preservation by projections: LPP and OLPP keep neighbours together, NPP and ONPP keep how a row is made
of its neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import all_ones
from proxembed.algebra.operators.inverse import SquaredResidual
from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, Laplacian, Operator, Sparse
from proxembed.algebra.template import Template, centred
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.neighborly import Linked, Neighborly
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits

from ..params import log, param
from ..proximity.reconstruction import reconstruction_matrix, reconstruction_weights


class NeighborProjection(Linked, SpectralEmbedder, abstract=True):
    """A projection made from a weighted graph of neighbours."""

    def prepare(self, rows: Rows) -> Prepared:
        return replace(super().prepare(rows), attributes=self.search_info(rows))

    def _graph_weights(self, rows: Rows) -> sparse.csr_array:
        """W, symmetric."""
        W, _ = self._weights(rows)
        if self._weights_given and not W.nnz:
            raise ValueError(f"{type(self).__name__}: the given weights link no two rows. Pass weights other than 0.")
        if not self._weights_given and not W.sum() > 0:
            raise ValueError(
                f"{type(self).__name__}: no two rows are neighbours of positive weight under graph={self.graph!r}, "
                f'weights={self.weights!r}. Use more neighbours, a larger eps, or weights="gaussian".'
            )
        return W


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
        return SquaredResidual(reconstruction_matrix(index, weights, rows.n))


class _Constrained(SpectralEmbedder, abstract=True):
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


class LPP(_Constrained, NeighborProjection):
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
        weights = W @ rows.ones if self.constraint == "degree" else rows.ones
        if weights.min() < -1e-10 * weights.max():
            raise ValueError(
                f"LPP: the given weights of some row sum to {weights.min():.3g}, and constraint='degree' weighs rows "
                "by these sums. Pass weights of at least 0, or constraint='gram'."
            )
        return self._minimised(Laplacian(Sparse(W)), weights, rows.n)


class OLPP(NeighborProjection):
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
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array, descending, the positive ones with n_components=None; of ``objective="laplacian"``
        ascending, the cost of each component.

    Raises
    ------
    ValueError
        For n_neighbors above n - 1, a graph without edges, n_components above the rank of the centred rows, bad X.

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
        """Components of positive eigenvalue, but for the costs of a Laplacian."""
        return replace(super().traits, positive_only=self.objective == "proximity")

    def template(self, rows: Rows) -> Template:
        W = Sparse(self._graph_weights(rows))
        if self.objective == "laplacian":
            return Template(-Laplacian(W), offset=rows.ones, sense=-1)
        return Template(centred(W, rows.ones), offset=rows.ones)


class NPP(_Constrained, _Reconstructing):
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
        return self._minimised(self._residuals(rows), rows.ones, rows.n)


class ONPP(_Reconstructing):
    """Orthogonal neighbourhood preserving projections: minimise P'X'(I - W)'(I - W)XP subject to P'P = I.
    [kokiopoulou2007onpp]

    Each row remains the same mixture of its neighbours, under an orthonormal projection within the row space of the
    centred rows.

    Attributes
    ----------
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array, ascending: the reconstruction error of each component.

    Raises
    ------
    ValueError
        For n_neighbors above n - 1, n_components above the rank of the centred rows, bad X.

    Examples
    --------
    >>> from proxembed import ONPP
    >>> from proxembed.data import digits
    >>> ONPP(n_components=3).fit_transform(digits().X).shape
    (1797, 3)
    """

    def template(self, rows: Rows) -> Template:
        return Template(-self._residuals(rows), offset=rows.ones, sense=-1)
