"""Variance: PCA, LSI and MVMD, whose orthonormal projections keep the spread of the rows, and the share that each
component of this and other methods keeps."""

import numpy as np

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.operators.structured import Centering, Identity, LowRank
from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.pencil.problem import ROUNDING
from proxembed.algebra.template import Template
from proxembed.estimator.base import SpectralEmbedder
from proxembed.estimator.rows import Rows
from proxembed.params import param


class KeepsVariance(SpectralEmbedder, abstract=True):
    """A method of orthonormal directions of centred rows, each of which keeps a share of their variance."""

    attributes = (
        SpectralEmbedder.attributes.rstrip()
        + """
    explained_variance_ratio_ : (k,) array, the share of the variance of X along each component.
    """
    )

    def learn(self, rows: Rows, found: Solution) -> None:
        R = found.problem.rows
        total = rows.squared_norm(rows.ones) if rows.summed else R.squared_norm(rows.counts) * R.unit**2
        self.explained_variance_ratio_ = self.kept_scatter(rows, found) / total

    def kept_scatter(self, rows: Rows, found: Solution) -> np.ndarray:
        """The scatter of the rows along each direction, each as often as it occurs."""
        R = found.problem.rows
        if rows.summed:
            return np.diag(rows.score_scatter(R, found.P))
        return np.asarray(rows.times @ (R.dot(found.P) * R.unit) ** 2)


class PCA(KeepsVariance, from_sums="rows"):
    """Principal component analysis: A = I - 11'/n, Bp = I.  [pearson1901pca]

    The directions of largest variance. P'P = I, and with ``whiten`` the scores have unit variance. Sparse X stays
    sparse. Many dense rows of float32 are multiplied in float32 if the estimated error stays below 1e-5.

    Attributes
    ----------
    eigenvalues_ : (k,) array, the scatter (n - 1 times the variance) along each component.

    Raises
    ------
    ValueError
        For n_components above the rank of the centred rows, and for bad X.

    See Also
    --------
    proxembed.LSI : PCA without centring, for sparse rows.
    proxembed.LPP : Near rows stay near.

    Examples
    --------
    >>> from proxembed import PCA
    >>> from proxembed.data import digits
    >>> PCA(n_components=3).fit_transform(digits().X).shape
    (1797, 3)
    """

    whiten: bool = param(default=False, kind=bool, doc="Divide each score by its standard deviation (n - 1).")

    def template(self, rows: Rows) -> Template:
        return Template(Centering(), offset=rows.ones)

    def kept_scatter(self, rows: Rows, found: Solution) -> np.ndarray:
        return np.asarray(found.eigenvalues)

    def finish(self, P: np.ndarray, R: CentredMatrix, eigenvalues: np.ndarray) -> np.ndarray:
        return P * np.sqrt((R.count - 1) / eigenvalues) if self.whiten else P


class LSI(SpectralEmbedder, from_sums="rows"):
    """Latent semantic indexing (truncated SVD): A = I, Bp = I, no centring.  [deerwester1990lsi]

    The best rank-k approximation of X itself. On term counts the components are topics. Sparse X stays sparse.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    eigenvalues_ : (k,) array, squared singular values of X.

    Raises
    ------
    ValueError
        For n_components above the rank of X, and for bad X.

    See Also
    --------
    proxembed.PCA : Largest variance, without labels.

    Examples
    --------
    >>> from proxembed import LSI
    >>> from proxembed.data import digits
    >>> LSI(n_components=3).fit_transform(digits().X).shape
    (1797, 3)
    """

    attributes = ""

    def template(self, rows: Rows) -> Template:
        return Template(Identity(rows.n))


class MVMD(KeepsVariance, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """Maximal variance and dependence: A = (1 - beta) H + beta H YY' H, H = I - 11'/n, Bp = I.  [xu2016mvmd]

    Between PCA (beta = 0) and MDDM (beta = 1). It preserves the variance of the rows and their dependence on the
    labels, and therefore has more useful components than labels.

    Attributes
    ----------
    eigenvalues_ : (k,) array of the objective.

    Raises
    ------
    ValueError
        For n_components above the rank of the centred rows, and for bad X or y.

    See Also
    --------
    proxembed.MDDM : Largest dependence between features and labels.
    proxembed.PCA : Largest variance, without labels.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import MVMD
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = make_pipeline(MVMD(n_components=6), LabelKNN()).fit(data.X[:1200], data.Y[:1200])
    >>> model.score(data.X[1200:], data.Y[1200:]) > 0.8  # rows whose whole label set is right
    True
    """

    beta: float = param(default=0.5, low=0, high=1, search=(0.0, 1.0), doc="Weight of the label-dependence term.")
    coding: str = param(default="pm1", choices=("pm1", "01"), doc="Label values: +1/-1 as published, or 1/0.")
    balance: str = param(
        default="none",
        choices=("none", "trace"),
        doc="What both terms are divided by first: nothing, as published, or each by its trace.",
    )

    def template(self, rows: Rows) -> Template:
        labels = LowRank(rows.coded(self.coding), center=rows.ones)
        variance, dependence = self._over_traces(rows) if self.balance == "trace" else (1.0 - self.beta, self.beta)
        if variance == 0.0:
            return Template(dependence * labels, offset=rows.ones)
        return Template(variance * Centering() + dependence * labels, offset=rows.ones)

    def _over_traces(self, rows: Rows) -> tuple[float, float]:
        """The weights of both terms over their traces; a ValueError where one of these is zero up to rounding."""
        scatter, dependence, unit = rows.traces()
        dependence *= 4.0 if rows.codes(self.coding) else 1.0
        if dependence <= ROUNDING**2 * scatter * rows.n * rows.labels.c:
            raise ValueError(
                f'balance="trace" is not allowed here: the {rows.labels.noun}s do not depend on X, so that the trace '
                'of their term, by which it would be divided, is 0. Use balance="none".'
            )
        return (1.0 - self.beta) / scatter / (unit * unit), self.beta / dependence / (unit * unit)
