"""Dependence between features and labels: CCA, PLS, OPLS, MDDM and SFEHS, and HSL on the hypergraph of labels."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.operators.spanned import Spanned
from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, LowRank, Operator
from proxembed.algebra.pencil.deflation import deflated, rest_axes
from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.pencil.symmetric import fix_signs, orthonormal_columns, pseudo_inverse
from proxembed.algebra.template import Template
from proxembed.estimator.base import PencilEmbedder
from proxembed.estimator.explain import label_loadings
from proxembed.estimator.low_rank import OfLowRank
from proxembed.estimator.predicts import PredictsOutputs
from proxembed.estimator.rows import Rows, reciprocal
from proxembed.estimator.traits import Traits
from proxembed.params import log, param
from proxembed.proximity.label_similarity import LABEL_KERNELS, label_sets, similarity
from proxembed.targets.labels import MANY_LABELS, LabelMatrix

KERNEL_DOC = "Similarity of label sets: a name, or a callable (u x c array of distinct sets) -> u x u."


class CCA(
    OfLowRank, PredictsOutputs, PencilEmbedder, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"
):
    """Canonical correlation analysis: A = Yc (Yc'Yc)^+ Yc', B = I - 11'/n.  [hotelling1936cca]

    The directions of X most correlated with some combination of the labels. Rare labels count as much as common ones.
    The eigenvalues are squared canonical correlations. With one label per row it is FDA [sun2011ccals].

    Attributes
    ----------
    eigenvalues_ : (k,) array, squared canonical correlations where ridge is 0.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For n_components above the rank of the labels, one label set only, bad X or y.

    See Also
    --------
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.
    proxembed.PLS : Largest covariance with the labels.

    Examples
    --------
    >>> from proxembed import CCA
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> label, correlation = CCA(n_components=3).fit(data.X, data.Y).explain(0).labels[0]
    >>> data.label_names[int(label)], abs(round(correlation, 1))  # the label that the first component serves most
    ('prime', 0.6)
    """

    ridge_y: float = param(
        default=0.0,
        low=0,
        search=log(1e-6, 1e2),
        doc="Ridge on Yc'Yc; in units of tr(Yc'Yc) / min(n, c) under ridge_scale=\"trace\".",
    )

    def template(self, rows: Rows) -> Template:
        labels = rows.labels
        unit = labels.centred_squares / min(rows.n, labels.c) if self.ridge_scale == "trace" else 1.0
        ridge = self.ridge_y * unit
        if labels.c > MANY_LABELS and not labels.of_block:
            A: LowRank = Spanned(labels.Y, ridge)
        else:
            A = LowRank(labels.Y, pseudo_inverse(labels.centred_gram, ridge), center=rows.ones)
        return Template(A, Centering(), b=0, offset=rows.ones, target=labels.Y)

    def transform(self, X: Any, y: Any = None) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type; of a dask collection a lazy one.

        Parameters
        ----------
        X : (m, d) array or CSR, or dask array or DataFrame
        y : ignored
            Taken for callers that know scikit-learn's ``CCA``, which embeds y too; this one embeds X alone.

        Returns
        -------
        (m, k) array
        """
        return super().transform(X)

    @property
    def transforms_plainly(self) -> bool:
        return type(self).transform is CCA.transform


class PLS(OfLowRank, PredictsOutputs, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """Partial least squares by SVD: A = Yc Yc', Bp = I.  [wegelin2000pls]

    The orthonormal directions of largest covariance with y: the left singular vectors of Xc'Yc, without deflation, and
    the same as MDDM with the linear label kernel. There are as many as columns of y. For more, ``deflation`` takes the
    direction of each component, and what is explained by it, off what is left: ``"simpls"`` [dejong1993simpls] or
    ``"nipals"``, which is scikit-learn's ``PLSRegression(scale=False)``; for one column of y both are the same. Scores
    are then orthogonal, and the directions are of unit length.

    Without deflation the components predict worse than ``PLSRegression`` where the largest variance of X has little to
    do with y, as scatter in spectra: a few directions cannot take it off. Set ``deflation`` and more components, or use
    ``OPLS``. A search for numbers tries PLS with ``deflation="nipals"``.

    Attributes
    ----------
    eigenvalues_ : (k,) array, squared singular values of Xc'Yc, or of what deflation has left of it.

    Raises
    ------
    ValueError
        For n_components above the rank of Xc'Yc (with deflation that of X), one label set only, bad X or y.

    See Also
    --------
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.
    proxembed.MDDM : Largest dependence between features and labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from proxembed import PLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PLS(n_components=5, deflation="simpls", target_type="real").fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """

    deflation: str | None = param(
        default=None,
        choices=(None, "simpls", "nipals"),
        doc="How further components are found beyond the columns of y.",
    )

    @property
    def traits(self) -> Traits:
        """Deflation needs X'X, which the sums of PLS do without."""
        if self.deflation is None:
            return super().traits
        return replace(super().traits, from_sums=None, needs_all_rows="deflation needs X'X of all rows")

    @property
    def follows_from_sums(self) -> bool:
        return True

    def template(self, rows: Rows) -> Template:
        return Template(LowRank(rows.labels.Y, center=rows.ones), offset=rows.ones)

    @property
    def refines(self) -> bool:
        return self.deflation is not None

    def refine(self, found: Solution, rows: Rows, k: int | None) -> Solution:
        if self.deflation is None:
            return found
        R, F = found.problem.rows, rows.labels.Y if rows.repeats is None else rows.repeats.of(rows.labels.Y)
        P, values = deflated(R, R.tdot(F), min(R.shape) if k is None else k, self.deflation)
        values = values * R.unit**2
        return replace(found, P=P, eigenvalues=values, spectrum=values, bound=len(values), solver=self.deflation)


class OPLS(
    OfLowRank,
    PredictsOutputs,
    PencilEmbedder,
    labels="multi",
    takes_shares=True,
    takes_numbers=True,
    numbers_scaling="eigenvalue",
    from_sums="rows",
):
    """Orthonormal PLS, that is reduced-rank ridge regression (redundancy analysis in ecology), not the orthogonal PLS
    of chemometrics: A = Yc Yc', B = I - 11'/n.  [worsley1997opls]

    The directions from which a linear regression predicts the labels best (reduced-rank regression). At full rank
    nothing is lost compared with ridge regression on all features, and it spans the same space as CCA [sun2009ccaopls].

    Attributes
    ----------
    eigenvalues_ : (k,) array, variance of y (times n) that each component explains.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For n_components above the rank of Xc'Yc, one label set only, bad X or y.

    See Also
    --------
    proxembed.CCA : Rare labels count as much as common ones.
    proxembed.PLS : Largest covariance with the labels.
    proxembed.PCovR : Features explained besides the labels.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> label, correlation = OPLS(n_components=3).fit(data.X, data.Y).explain(0).labels[0]
    >>> data.label_names[int(label)], abs(round(correlation, 1))  # the label that the first component serves most
    ('prime', 0.6)
    """

    extend: bool = param(
        default=False,
        kind=bool,
        doc="Components beyond the columns of y: the principal components of what the others leave of X, both scaled "
        "to the same size. Predictions stay as they are; a map of one output gets a second axis.",
    )

    def template(self, rows: Rows) -> Template:
        A = LowRank(rows.labels.Y, center=rows.ones)
        return Template(A, Centering(), b=0, offset=rows.ones, target=rows.labels.Y)

    def refine(self, found: Solution, rows: Rows, k: int | None) -> Solution:
        """With principal components of the rest of X, of eigenvalue 0, where more are asked for."""
        own = found.P.shape[1]
        if not self.extend or k is None or k <= own:
            return found
        V = rest_axes(found.problem.rows, orthonormal_columns(found.P), k - own)
        values = np.concatenate([found.eigenvalues, np.zeros(V.shape[1])])
        return replace(found, P=np.hstack([found.P, V]), eigenvalues=values, bound=len(values))

    def store(self, found: Solution, rows: Rows) -> None:
        """With ``extend`` both kinds of components at one size: those of OPLS over the mean of the standard deviations
        of their scores, the others over the root mean squared length of what they are components of."""
        own = int(np.count_nonzero(found.eigenvalues)) if self.extend else len(found.eigenvalues)
        super().store(found.first(own), rows)
        if own == len(found.eigenvalues):
            return
        R, V = found.problem.rows, fix_signs(found.P[:, own:])
        spread = np.sqrt(np.diag(rows.score_scatter(R, self.components_.T)) / rows.n)
        Q = orthonormal_columns(self.components_.T)
        rest = R.squared_norm(R.repeats) * R.unit**2 - np.trace(rows.score_scatter(R, Q))
        both = [self.components_ / spread.mean(), V.T / np.sqrt(rest / rows.n)]
        self.components_ = np.ascontiguousarray(np.vstack(both))
        self.eigenvalues_ = found.eigenvalues
        self.label_loadings_ = label_loadings(R, rows.labels, self.components_, rows.repeats)


class MDDM(OfLowRank, labels="multi", takes_shares=True, takes_numbers=True):
    """Multi-label dimensionality reduction by dependence maximisation: A = H Ky H, H = I - 11'/n.  [zhang2010mddm]

    Maximises the Hilbert-Schmidt dependence between the embedding and the labels. ``metric="projection"``: P'P = I
    (MDDMp); ``"features"``: mix Xc'Xc + (1 - mix) I (MDDMf), which is OPLS at mix = 1.

    Attributes
    ----------
    eigenvalues_ : (k,) array.

    Raises
    ------
    ValueError
        For n_components above the rank of H Ky H on X, one label set only, bad X or y.

    See Also
    --------
    proxembed.MVMD : Variance of features and dependence on labels.
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.

    Examples
    --------
    >>> from proxembed import MDDM
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> MDDM(n_components=3, label_kernel="rbf").fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    metric: str = param(
        default="projection",
        choices=("projection", "features"),
        search=("projection", "features"),
        doc="What is orthonormal: P, or XcP in part.",
    )
    mix: float = param(default=0.5, low=0, high=1, search=(0.0, 1.0), doc='Share of Xc\'Xc under metric="features".')
    label_kernel: str | Callable[..., Any] = param(
        default="linear", choices=tuple(LABEL_KERNELS), callable=True, doc=KERNEL_DOC
    )
    tau: float | None = param(
        default=None, above=0, choices=(None,), doc='Width of the "rbf" kernel; None: mean distance.'
    )

    @property
    def traits(self) -> Traits:
        """The linear kernel needs the labels of a row, or shares of them; the others compare all label sets."""
        linear = self.label_kernel == "linear"
        return replace(super().traits, takes_shares=linear, from_sums="rows" if linear else "labels")

    def template(self, rows: Rows) -> Template:
        A = label_operator(rows, self.label_kernel, self.tau, center=rows.ones)
        if self.metric == "projection":
            return Template(A, offset=rows.ones)
        return Template(A, self.mix * Centering(), b=1.0 - self.mix, offset=rows.ones)


class SFEHS(OfLowRank, labels="multi", takes_shares=True, takes_numbers=True, positive_only=True):
    """Supervised feature extraction by Hilbert-Schmidt independence: A = unbiased HSIC weights of Ky, Bp = I.
    [daniusis2009sfehs]

    The directions on which the labels depend most, by the Hilbert-Schmidt criterion. ``estimator="unbiased"`` removes
    the diagonal of both kernels [song2007hsic], so that a row's own label does not count; ``"biased"``
    [gretton2005hsic] is MDDM. By default all components with positive eigenvalue.

    Attributes
    ----------
    eigenvalues_ : (k,) array, the dependence that each component holds.

    Raises
    ------
    ValueError
        For fewer than four rows under "unbiased", n_components above the rank, one label set only, bad X or y.

    See Also
    --------
    proxembed.MDDM : Largest dependence between features and labels.
    proxembed.FDA : Fisher's discriminants of one class per row.

    Examples
    --------
    >>> from proxembed import SFEHS
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> SFEHS(n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    estimator: str = param(default="unbiased", choices=("unbiased", "biased"), doc="Estimator of the dependence.")
    label_kernel: str | Callable[..., Any] = param(
        default="linear", choices=tuple(LABEL_KERNELS), callable=True, doc=KERNEL_DOC
    )
    tau: float | None = param(
        default=None, above=0, choices=(None,), doc='Width of the "rbf" kernel; None: mean distance.'
    )

    @property
    def traits(self) -> Traits:
        """As MDDM with the biased estimator; the unbiased one needs all labels first."""
        linear = self.label_kernel == "linear"
        by_rows = linear and self.estimator == "biased"
        return replace(super().traits, takes_shares=linear, from_sums="rows" if by_rows else "labels")

    def template(self, rows: Rows) -> Template:
        n = rows.n
        if self.estimator == "biased":
            return Template(
                label_operator(rows, self.label_kernel, self.tau, rows.ones) / (n - 1) ** 2, offset=rows.ones
            )
        if n < 4:
            raise ValueError(
                f'estimator="unbiased" needs at least 4 rows, got {n}; use estimator="biased" or more rows.'
            )
        K = label_operator(rows, self.label_kernel, self.tau, None)
        own = K.diagonal()
        r = K.row_sums() - own
        corner = (K.sums @ K.weigh(K.sums) - self._trace(rows, K)) / ((n - 1) * (n - 2))
        spread = LowRank(np.column_stack([r, rows.ones]), np.array([[0.0, -1.0 / (n - 2)], [-1.0 / (n - 2), corner]]))
        diagonal = Diagonal(own - 2.0 * r / (n - 2) + corner)
        return Template((K + spread - diagonal) / (n * (n - 3)), offset=rows.ones)

    def _trace(self, rows: Rows, K: LowRank) -> float:
        """The trace of the label kernel of all rows."""
        return (
            rows.labels.squares
            if self.label_kernel == "linear"
            else float(rows.labels.set_counts() @ np.diag(np.asarray(K.S)))
        )


def label_operator(
    rows: Rows, kernel: str | Callable[..., Any], tau: float | None, center: np.ndarray | None
) -> LowRank:
    """The label kernel Ky as a low-rank operator: Y itself for "linear", distinct label sets (E Ku E') for the
    others."""
    if kernel == "linear":
        return LowRank(rows.labels.Y, center=center, sums=rows.labels.sums)
    tau = rows.labels.default_tau if tau is None else tau
    sets, group = label_sets(rows.labels)
    n = len(group)
    E = sparse.csc_array((np.ones(n), (np.arange(n), group)), shape=(n, sets.shape[0]))
    return LowRank(E, similarity(kernel, sets, tau), center=center, sums=rows.labels.set_counts())


class HSL(OfLowRank, PencilEmbedder, labels="multi", takes_shares=True, takes_counts=True):
    """Hypergraph spectral learning: A = S, the normalised hypergraph similarity of the rows, B = I - 11'/n.
    [sun2008hsl]

    Rows that share labels are drawn near each other, as rows of one hyperedge per label. S = D^-1/2 Y W Y' D^-1/2 with
    edge weights w over class sizes nk: w/nk for ``"zhou"`` [zhou2006hypergraph], w for ``"clique"`` and w/nk^2 for
    ``"star"`` [agarwal2006]; D holds the row sums that make S's top eigenvalue 1. With one label per row all three are
    FDA.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection (zeros with center=False).
    eigenvalues_ : (k,) array.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For edge_weights of another length than the nonempty labels, n_components above the bound, bad X or y.

    See Also
    --------
    proxembed.CCA : Rare labels count as much as common ones.
    proxembed.MLLS : Subspace shared by the labels.

    Examples
    --------
    >>> from proxembed import HSL
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> HSL("star", n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    expansion: str = param(
        default="zhou",
        choices=("zhou", "clique", "star"),
        kw_only=False,
        doc="How a hyperedge becomes weights between rows.",
    )
    edge_weights: list[Any] | None = param(
        default=None, choices=(None,), kind=(list, tuple, np.ndarray), doc="One positive weight per label; None: all 1."
    )
    self_loops: bool = param(
        default=True, kind=bool, doc="False: the clique expansion without its diagonal (Agarwal's)."
    )
    center: bool = param(default=True, kind=bool, doc="Centre the rows; False as in the paper.")

    @property
    def traits(self) -> Traits:
        """ "zhou" with a given ridge and no edge weights needs the labels of a row; else all labels come first."""
        by_rows = self.expansion == "zhou" and self.edge_weights is None and self.ridge != "auto"
        return replace(super().traits, from_sums="rows" if by_rows else "labels")

    def template(self, rows: Rows) -> Template:
        labels = rows.label_matrix
        w, nk = self._weights(labels), labels.nk
        edge, degree = {"zhou": (w / nk, w), "clique": (w, w * nk), "star": (w / nk**2, w / nk)}[self.expansion]
        without_loops = self.expansion == "clique" and not self.self_loops
        loops = labels.Y.power(2) @ w if without_loops else 0.0
        D = labels.Y @ degree - loops
        F = sparse.csc_array(sparse.diags_array(np.sqrt(reciprocal(D))) @ labels.Y)
        offset = rows.ones if self.center else None
        A: Operator = LowRank(F, edge, center=offset)
        if without_loops:
            A = A - Diagonal(loops * reciprocal(D))
        B = Centering() if self.center else Identity(rows.n)
        target = sparse.csc_array(F @ sparse.diags_array(np.sqrt(edge)))
        return Template(A, B, b=0, offset=offset, target=target)

    def _weights(self, labels: LabelMatrix) -> np.ndarray:
        if self.edge_weights is None:
            return np.ones(labels.c)
        w = np.asarray(self.edge_weights, dtype=np.float64)
        if w.shape != (labels.c,) or not np.all(w > 0) or not np.all(np.isfinite(w)):
            raise ValueError(
                f"edge_weights must hold {labels.c} positive numbers, one for each label that some row has; "
                f"got shape {w.shape}."
            )
        return w
