"""Variance: PCA, LSI and MVMD, whose orthonormal projections keep the spread of the rows."""

from __future__ import annotations

import numpy as np

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import over, unit_of
from proxembed.algebra.operators.structured import Centering, Identity, LowRank
from proxembed.algebra.template import Template

from ..base import SpectralEmbedder
from ..params import param


class PCA(SpectralEmbedder):
    """Principal component analysis: A = I - 11'/n, Bp = I.  [pearson1901pca]

    The directions of largest variance, P'P = I; with ``whiten`` the scores have unit variance. Sparse X stays sparse.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array, the scatter (n - 1 times the variance) along each component.

    Raises
    ------
    ValueError
        For n_components above the rank of the centred rows, and for bad X.

    Examples
    --------
    >>> from proxembed import PCA
    >>> from proxembed.data import digits
    >>> PCA(n_components=3).fit_transform(digits().X).shape
    (1797, 3)
    """

    whiten: bool = param(default=False, kind=bool, doc="Divide each score by its standard deviation (n - 1).")

    def template(self, rows):
        return Template(Centering(), offset=rows.ones)

    def finish(self, P, R):
        return P * np.sqrt((R.shape[0] - 1) / self.eigenvalues_) if self.whiten else P


class LSI(SpectralEmbedder):
    """Latent semantic indexing (truncated SVD): A = I, Bp = I, no centring.  [deerwester1990lsi]

    The best rank-k approximation of X itself; on term counts the components are topics. Sparse X stays sparse.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    eigenvalues_ : (k,) array, squared singular values of X.

    Raises
    ------
    ValueError
        For n_components above the rank of X, and for bad X.

    Examples
    --------
    >>> from proxembed import LSI
    >>> from proxembed.data import digits
    >>> LSI(n_components=3).fit_transform(digits().X).shape
    (1797, 3)
    """

    def template(self, rows):
        return Template(Identity(rows.n))


class MVMD(SpectralEmbedder):
    """Maximal variance and dependence: A = (1 - beta) H + beta H YY' H, H = I - 11'/n, Bp = I.  [xu2016mvmd]

    Between PCA (beta = 0) and MDDM (beta = 1): keeps the spread of the rows and their dependence on the labels, and
    so has more useful components than labels.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array of the objective.

    Raises
    ------
    ValueError
        For n_components above the rank of the centred rows, and for bad X or y.

    Examples
    --------
    >>> from proxembed import MVMD
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> MVMD(n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    labels = "multi"
    beta: float = param(default=0.5, low=0, high=1, search=(0.0, 1.0), doc="Weight of the label-dependence term.")
    coding: str = param(default="pm1", choices=("pm1", "01"), doc="Label values: +1/-1 as published, or 1/0.")
    balance: str | None = param(
        default=None, choices=(None, "trace"), doc='"trace" divides each term by its trace first (not in the paper).'
    )

    def template(self, rows):
        variance, dependence = 1.0 - self.beta, self.beta
        labels = LowRank(rows.coded(self.coding), center=rows.ones)
        if self.balance == "trace":
            unit = unit_of(rows.X)
            centred = CentredMatrix.centred(over(rows.X, unit), rows.ones)
            variance = variance / centred.squared_norm() / (unit * unit)
            dependence = dependence / float(np.sum(labels.project(centred) ** 2)) / (unit * unit)
        if variance == 0.0:
            return Template(dependence * labels, offset=rows.ones)
        return Template(variance * Centering() + dependence * labels, offset=rows.ones)
