"""Fisher's family: between-class against within-class scatter; FDA and MMC for one class per row, copy-LDA, MLDA and
DMLDA."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.operators.structured import Centering, Diagonal, Laplacian, LowRank, Mixed
from proxembed.algebra.template import Template
from proxembed.estimator.base import PencilEmbedder
from proxembed.estimator.low_rank import OfLowRank
from proxembed.estimator.rows import Rows, reciprocal
from proxembed.estimator.traits import Traits
from proxembed.params import log, param
from proxembed.targets.labels import MANY_LABELS, LabelMatrix

from .variance import KeepsVariance


class FDA(OfLowRank, PencilEmbedder, labels="single", from_sums="rows"):
    """Fisher discriminant analysis (LDA): A = Y N^-1 Y' - 11'/n, B = I - 11'/n.  [fisher1936]

    The directions in which the class means differ most relative to the total (or within-class) scatter; at most c - 1
    of them. One class per row; ``MESD(FDA())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array, between-class over total (or within-class) scatter.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), one class only, n_components above c - 1, bad X or y.

    See Also
    --------
    proxembed.LFDA : Classes of several clusters.
    proxembed.MMC : Difference of scatters in place of their ratio.
    proxembed.MESD : Any method for one class per row, for several labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import FDA
    >>> model = make_pipeline(FDA(), KNeighborsClassifier())
    >>> bool(cross_val_score(model, *load_iris(return_X_y=True)).mean() > 0.9)  # accuracy
    True
    """

    constraint: str = param(
        default="total",
        choices=("total", "within"),
        doc="The scatter in B: same directions without ridge, other eigenvalues.",
    )
    criterion: str = param(
        default="ratio_trace",
        choices=("ratio_trace", "trace_ratio"),
        doc="Generalised eigenproblem, or tr(P'AP)/tr(P'BP) itself with P'P = I [wang2007traceratio].",
    )

    def template(self, rows: Rows) -> Template:
        if self.constraint == "within" and rows.weighting in ("mimj", "printed"):
            raise ValueError(
                f'constraint="within" does not go with weighting={rows.weighting!r}, whose between-class scatter is '
                'indefinite; use constraint="total".'
            )
        total = Laplacian(rows.weigh(rows.grand_mean(), same_class=False))
        within = Laplacian(rows.weigh(rows.class_mean()))
        B = total if self.constraint == "total" else within
        return Template(total - within, B, b=0, offset=rows.mass, target=rows.labels.Y)


class MMC(KeepsVariance, labels="single", from_sums="rows"):
    """Maximum margin criterion: A = Sb - lam Sw as weights of the rows, Bp = I.  [li2006mmc]

    The orthonormal directions that maximise the distance between classes minus the spread inside them. There is no
    inverse, so no ridge. At most c - 1 eigenvalues are positive. One class per row; ``MESD(MMC())`` takes several.

    Attributes
    ----------
    eigenvalues_ : (k,) array, between-class less lam times within-class scatter.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), one class only, n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.FDA : Fisher's discriminants of one class per row.
    proxembed.SSMMC : MMC with a graph of all rows.

    Examples
    --------
    >>> from proxembed import MMC
    >>> from sklearn.datasets import load_iris
    >>> MMC(n_components=2).fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    lam: float = param(default=1.0, above=0, search=log(1e-2, 1e2), doc="Weight of the within-class scatter.")

    def template(self, rows: Rows) -> Template:
        total = Laplacian(rows.weigh(rows.grand_mean(), same_class=False))
        within = Laplacian(rows.weigh(rows.class_mean()))
        return Template(total - (1.0 + self.lam) * within, offset=rows.mass)


class CopyLDA(OfLowRank, PencilEmbedder, labels="multi", takes_shares=True, takes_counts=True, from_sums="rows"):
    """Copy LDA: discriminant analysis with each row counted once per label, A = Y N^-1 Y' - mm'/nt, B = M - mm'/nt.
    [park2008copylda]

    The result of FDA on the duplicated rows, without duplicating: the same as ``MESD(FDA())``. Rows without labels have
    no weight.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array, the mean of all label copies.
    eigenvalues_ : (k,) array.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For n_components above c - 1, one label set only, bad X or y.

    See Also
    --------
    proxembed.MESD : Any method for one class per row, for several labels.
    proxembed.MLDA : Discriminants of several labels.

    Examples
    --------
    >>> from proxembed import CopyLDA
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> CopyLDA(n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    def template(self, rows: Rows) -> Template:
        labels = rows.labels
        between = LowRank(labels.Y, reciprocal(labels.nk), center=labels.m)
        return Template(between, Centering(labels.m), b=0, offset=labels.m, target=labels.Y)


class MLDA(OfLowRank, PencilEmbedder, labels="multi", takes_shares=True, takes_counts=True):
    """Multi-label discriminant analysis: A = Q diag(1/q) Q' - ss'/S, B = diag(s) - ss'/S, Q = M^-1 Y C.  [wang2010mlda]

    Fisher's criterion with soft memberships Q. Each row is spread over its labels (``normalize``) and over the labels
    correlated with them (``correlation``, C = cosine of label columns); q, s, S are the column, row and total sums of
    Q.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array, the Q-weighted mean.
    eigenvalues_ : (k,) array.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For n_components above c - 1, one label set only, bad X or y.

    See Also
    --------
    proxembed.DMLDA : Discriminants with the rows outside each label.
    proxembed.CopyLDA : Discriminants of rows counted once per label.
    proxembed.MESD : Any method for one class per row, for several labels.

    Examples
    --------
    >>> from proxembed import MLDA
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> MLDA(n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    correlation: bool = param(default=True, kind=bool, doc="Spread membership over correlated labels.")
    normalize: bool = param(default=True, kind=bool, doc="Divide each row's membership by its number of labels.")

    @property
    def traits(self) -> Traits:
        """``correlation`` needs all labels first."""
        return replace(super().traits, from_sums="labels" if self.correlation else "rows")

    def template(self, rows: Rows) -> Template:
        F, C = memberships(rows.label_matrix, self.correlation, self.normalize)
        s, q = F @ C.sum(axis=1), C.T @ (rows.labels.shares if self.normalize else rows.labels.nk)
        between = mixed(F, C, reciprocal(q), center=s)
        return Template(between, Centering(s), b=0, offset=s, target=rows.labels.Y)


class DMLDA(PencilEmbedder, labels="multi", takes_shares=True, takes_counts=True):
    """Direct multi-label discriminant analysis: Sb from the rows outside each label, B = diag(s) - Q diag(1/q) Q'.
    [oikonomou2013dmlda]

    Moves rows away from the means of the labels that they do not have, so there can be c or more components. Sb = sum_k
    sum_i (1 - q_ik)(x_i - mu_k)(x_i - mu_k)' measures how far rows are from the means of labels that they do not have;
    its rank is not limited to c - 1.

    Attributes
    ----------
    eigenvalues_ : (k,) array.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For n_components above the rank of the centred rows, bad X or y.

    See Also
    --------
    proxembed.MLDA : Discriminants of several labels.
    proxembed.CopyLDA : Discriminants of rows counted once per label.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import DMLDA
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = make_pipeline(DMLDA(n_components=6), LabelKNN()).fit(data.X[:1200], data.Y[:1200])
    >>> model.score(data.X[1200:], data.Y[1200:]) > 0.6  # rows whose whole label set is right
    True
    """

    weights: str = param(default="labels", choices=("labels", "mlda"), doc="Memberships Q: Y itself, or those of MLDA.")

    @property
    def traits(self) -> Traits:
        """MLDA's memberships need all labels first."""
        return replace(super().traits, from_sums="rows" if self.weights == "labels" else "labels")

    def template(self, rows: Rows) -> Template:
        F, C = memberships(rows.label_matrix, self.weights == "mlda", self.weights == "mlda")
        s, q = F @ C.sum(axis=1), C.T @ (rows.labels.shares if self.weights == "mlda" else rows.labels.nk)
        within = Diagonal(s) - mixed(F, C, reciprocal(q))
        means = mixed(F, C, rows.n * reciprocal(q) ** 2, center=rows.ones)
        return Template(
            rows.labels.c * Centering() + means - within, within, b=0, offset=rows.ones, target=rows.labels.Y
        )


def memberships(labels: LabelMatrix, correlation: bool, normalize: bool) -> tuple[sparse.csc_array, Any]:
    """Q = F C as a sparse n x c factor F (Y, or M^-1 Y) and a c x c matrix C (I, or the cosines of label columns),
    which is sparse where there are many labels."""
    F, many = labels.Y, labels.c > MANY_LABELS and not labels.of_block
    if normalize:
        F = sparse.csc_array(sparse.diags_array(reciprocal(labels.m)) @ F)
    if not correlation:
        return F, sparse.eye_array(labels.c, format="csc") if many else np.eye(labels.c)
    if many:
        unit = labels.Y @ sparse.diags_array(1.0 / np.sqrt(labels.Y.power(2).sum(axis=0)))
        return F, sparse.csc_array(unit.T @ unit)
    gram = labels.gram
    return F, gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram)))


def mixed(F: Any, C: Any, w: np.ndarray, center: np.ndarray | None = None) -> LowRank:
    """F C diag(w) C' F', without a dense c x c array where C is sparse."""
    return Mixed(F, C, w, center) if sparse.issparse(C) else LowRank(F, (C * w) @ C.T, center=center)
