"""Named semi-supervised methods: SELF, SSFDA, SSMMC, and the published pairs as configured combinations."""

from typing import Any

import numpy as np

from proxembed.algebra.operators.structured import Laplacian, Operator, Sparse
from proxembed.algebra.template import Template, mix
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.rows import Rows
from proxembed.estimator.weights import counted_for
from proxembed.params import constant, integers, log, param

from .fisher import FDA, MMC
from .local import DNE, LFDA, MFA
from .mope import MOPE
from .preserving import DONPP, LPP, OLPP, ONPP, NeighborProjection
from .semisupervised import OBJECTIVE, SSDR, PartlyLabelled
from .variance import PCA


class SELF(PartlyLabelled, labels="single"):
    """Semi-supervised local Fisher discriminant analysis: A = (1 - beta) L(Wlb) + beta H, B = (1 - beta) L(Wlw), b =
    beta.  [sugiyama2010self]

    Between LFDA on the labelled rows (beta=0) and PCA on all rows (beta=1): Ap = (1 - beta) Slb + beta St, Bp = (1 -
    beta) Slw + beta I. With ``base="lpp"`` the unsupervised part is LPP, Ap = (1 - beta) Slb + beta X'DX, Bp = (1 -
    beta) Slw + beta X'LX. One class per row, NaN if unknown; ``MESD(SELF())`` takes several.

    scikit-learn's ``make_pipeline`` calls the step "self_lfda".

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection, between the means of all and of the labelled rows.
    eigenvalues_ : (k,) array, descending.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), fewer than two labelled rows, no class of two, n_components
        above the rank, bad X or y.

    See Also
    --------
    proxembed.LFDA : Classes of several clusters.
    proxembed.SSDR : Any supervised with any unsupervised method.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import SELF
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, y, np.nan)
    >>> SELF(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    beta: float = param(default=0.5, low=0, high=1, search=(0.0, 1.0), doc="Weight of the unsupervised part.")
    n_neighbors: int = param(
        default=7,
        low=1,
        integer=True,
        search=integers(3, 20),
        doc="The neighbour in its class that sets the local scale of a labelled row; in a small class its last one.",
    )
    base: str | LPP = param(
        default="pca",
        choices=("pca", "lpp"),
        kind=LPP,
        search=("pca", "lpp"),
        doc='The unsupervised part; an LPP with settings of its own stands for "lpp".',
    )
    ridge: float = param(
        default=0.0, low=0, search=log(1e-6, 1.0), doc='Ridge on the constraint; above 0 where base="lpp" is alone.'
    )
    ridge_scale: str = param(
        default="trace",
        choices=("trace", "absolute"),
        doc="Unit of the ridge: the trace of the constraint over min(n, d), or 1.",
    )

    def template(self, rows: Rows) -> Template:
        part, index = self._part(rows)
        local = LFDA(n_neighbors=self.n_neighbors).template(part)
        return mix(self._unsupervised(rows.unlabelled()), local.spread(index, rows.n), self.beta)

    @property
    def _base(self) -> SpectralEmbedder:
        return self.base if isinstance(self.base, LPP) else LPP() if self.base == "lpp" else PCA()

    @property
    def weighs_rows(self) -> bool:
        return self._base.weighs_rows

    @property
    def why_unweighted(self) -> str:
        return self._base.why_unweighted

    def _unsupervised(self, rows: Rows) -> Template:
        rows = counted_for(self._base, rows)
        template = rows.weighted(self._base.template(rows))
        return template if self.base == "pca" else template.flipped()


class _ClassName(str):
    """The name of SELF, for scikit-learn: its ``make_pipeline`` calls a step by the class in lower case and passes that
    on as a keyword argument, which "self" cannot be."""

    def lower(self) -> str:
        return "self_lfda"


SELF.__name__ = _ClassName("SELF")


class _Graphed(PartlyLabelled, NeighborProjection, abstract=True):
    """A method of scatters of the labelled rows, smoothed over a graph of all rows."""

    graph_weight: float = param(
        default=0.1, low=0, search=log(1e-3, 1e2), doc="Weight of the graph of all rows; 0 for none."
    )

    def prepare(self, rows: Rows) -> Prepared:
        """With the recall of the search where there is a graph."""
        return super().prepare(rows) if self.graph_weight else SpectralEmbedder.prepare(self, rows)

    def _smoothness(self, rows: Rows) -> Operator:
        """L = D - W of all rows."""
        return Laplacian(Sparse(self._graph_weights(rows)))


class SSFDA(_Graphed, labels="single"):
    """Semi-supervised Fisher discriminant analysis: A = Sb of the labelled rows, B = Sw + graph_weight L, ridge I.
    [song2008ssfda]

    The class means differ most relative to the scatter inside classes and to differences between neighbours, labelled
    or not: max P'SbP subject to P'(Sw + graph_weight X'LX + ridge I)P = I. At most c - 1 components. One class per row,
    NaN if unknown. ``MESD(SSFDA())`` takes several (with weighted copies the total scatter replaces Sw, which gives the
    same directions).

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array, the mean of all rows (of the labelled ones with graph_weight=0).
    eigenvalues_ : (k,) array, descending.
    ridge_ : float, the ridge used, absolute.
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), fewer than two labelled rows, n_neighbors above n - 1,
        n_components above c - 1, bad X or y.

    See Also
    --------
    proxembed.FDA : Fisher's discriminants of one class per row.
    proxembed.SSDR : Any supervised with any unsupervised method.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import SSFDA
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, y, np.nan)
    >>> SSFDA().fit_transform(X, y).shape
    (150, 2)
    """

    ridge: float = param(default=0.1, low=0, search=log(1e-3, 1e2), doc="Ridge on the constraint.")
    ridge_scale: str = param(
        default="absolute",
        choices=("trace", "absolute"),
        doc="Unit of the ridge: the trace of the constraint over min(n, d), or 1.",
    )

    def template(self, rows: Rows) -> Template:
        part, index = self._part(rows)
        constraint = "total" if rows.weighting in ("mimj", "printed") else "within"
        fisher = FDA(constraint=constraint).template(part).spread(index, rows.n)
        if self.graph_weight == 0:
            return fisher
        total: Any = fisher.B
        return Template(fisher.A, total + self.graph_weight * self._smoothness(rows), b=0, offset=rows.times)


class SSMMC(_Graphed, labels="single"):
    """Semi-supervised maximum margin criterion: A = Sb - lam Sw of the labelled rows - graph_weight L of all, P'P = I.
    [song2008ssfda]

    The orthonormal directions that maximise the distance between classes minus the spread inside them and minus the
    differences between neighbours, labelled or not. There is no inverse, so no ridge. One class per row, NaN if
    unknown; ``MESD(SSMMC())`` takes several.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array, the mean of all rows (of the labelled ones with graph_weight=0).
    eigenvalues_ : (k,) array, descending.
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For several labels per row (the message names MESD), fewer than two labelled rows, n_neighbors above n - 1,
        n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.MMC : Difference of scatters in place of their ratio.
    proxembed.SSDR : Any supervised with any unsupervised method.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import SSMMC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, y, np.nan)
    >>> SSMMC(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    lam: float = param(default=0.1, above=0, search=log(1e-2, 1e2), doc="Weight of the within-class scatter.")

    def template(self, rows: Rows) -> Template:
        part, index = self._part(rows)
        margin = MMC(lam=self.lam).template(part).spread(index, rows.n)
        if self.graph_weight == 0:
            return margin
        return Template(margin.A - self.graph_weight * self._smoothness(rows), offset=rows.times)


class SSMOPE(SSDR):
    """Semi-supervised MOPE: A = (1 - mix) Psi of the labelled rows + mix W of a graph of all rows, P'P = I.
    [mu2012mesd]

    Combines MOPE on the labelled rows and OLPP on all rows in one matrix. Rows with similar label sets are embedded
    close together, and so are neighbours, labelled or not. ``objective="laplacian"`` uses -L = W - D instead of W. It
    is ``SSDR`` with these two members and a fixed constraint.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array, between the mean of all rows and that of the labelled rows as ``mix`` says.
    eigenvalues_ : (k,) array, descending; of a minimisation at mix=1 where OLPP minimises.
    supervised_, unsupervised_ : the members with their parameters.

    Raises
    ------
    ValueError
        For fewer than two labelled rows, objective beside a given OLPP, n_neighbors of the graph above n - 1,
        n_components above the rank, bad X or y.

    See Also
    --------
    proxembed.MOPE : Proximities of your own design.
    proxembed.SSDR : Any supervised with any unsupervised method.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import SSMOPE
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> Y = data.Y.toarray().astype(float)
    >>> Y[100:] = np.nan
    >>> SSMOPE(n_components=3).fit(data.X, Y).transform(data.X).shape
    (1797, 3)
    """

    supervised: MOPE | None = param(
        default=None, kw_only=False, choices=(None,), kind=MOPE, doc="MOPE with its parameters; None: MOPE()."
    )
    unsupervised: OLPP | None = param(
        default=None, kw_only=False, choices=(None,), kind=OLPP, doc="OLPP with its graph; None: OLPP()."
    )
    objective: str | None = param(default=None, like=OBJECTIVE, doc=OBJECTIVE.doc, search=("proximity", "laplacian"))
    constraint: str = constant("projection")
    flip: bool = constant(False)
    ridge: float | str | None = constant(None)
    ridge_scale: str | None = constant(None)

    def default_supervised(self) -> SpectralEmbedder:
        return MOPE()


def ssdr_mfa(
    gamma: float = 0.1,
    supervised: SpectralEmbedder | None = None,
    unsupervised: OLPP | None = None,
    objective: str | None = None,
    **settings: Any,
) -> SSDR:
    """Semi-supervised MFA: minimise Xl'L(friends)Xl + gamma X'LX subject to P'Xl'L(enemies)Xl P = I.
    [chatpatanasiri2010ssdr]

    Parameters: gamma >= 0, weight of the graph of all rows; supervised, an MFA (or MESD of one); unsupervised, an OLPP
    with the graph; objective, that of the default OLPP: "laplacian" (None), as published, or "proximity",
    which puts -HWH in the place of L; settings, further parameters of SSDR. Returns an unfitted SSDR, whose eigenvalues
    are the minimum over 1 + gamma, with "proximity" the maximum of the negative sum. Raises ValueError for a negative
    gamma; its fit does for an objective beside a given OLPP.

    >>> from proxembed import ssdr_mfa
    >>> ssdr_mfa(0.25).mix
    0.2
    """
    how: dict[str, Any] = {"objective": objective, "constraint": "supervised", "flip": True}
    return _with_graph(gamma, supervised or MFA(), unsupervised, **how, **settings)


def ssdr_lfda(
    gamma: float = 0.1,
    supervised: SpectralEmbedder | None = None,
    unsupervised: OLPP | None = None,
    objective: str | None = None,
    **settings: Any,
) -> SSDR:
    """Semi-supervised LFDA: minimise Xl'L(Wlw)Xl + gamma X'LX subject to P'Xl'L(Wlb)Xl P = I.
    [chatpatanasiri2010ssdr]

    Parameters, result and errors as for ``ssdr_mfa``, with an LFDA (or MESD of one).

    >>> from proxembed import ssdr_lfda
    >>> ssdr_lfda(1.0).mix
    0.5
    """
    how: dict[str, Any] = {"objective": objective, "constraint": "supervised", "flip": True}
    return _with_graph(gamma, supervised or LFDA(), unsupervised, **how, **settings)


def ssdr_dne(
    gamma: float = 0.1,
    supervised: SpectralEmbedder | None = None,
    unsupervised: OLPP | None = None,
    objective: str | None = None,
    **settings: Any,
) -> SSDR:
    """Semi-supervised DNE: minimise Xl'L(F)Xl + gamma X'LX subject to P'P = I.  [chatpatanasiri2010ssdr]

    Parameters, result and errors as for ``ssdr_mfa``, with a DNE (or MESD of one).

    >>> from proxembed import ssdr_dne
    >>> ssdr_dne(0.0).mix
    0.0
    """
    how: dict[str, Any] = {"objective": objective, "constraint": "projection"}
    return _with_graph(gamma, supervised or DNE(), unsupervised, **how, **settings)


def ssdr_donpp(
    gamma: float = 0.1, supervised: SpectralEmbedder | None = None, unsupervised: ONPP | None = None, **settings: Any
) -> SSDR:
    """Semi-supervised DONPP: the matrix of DONPP on the labelled rows plus gamma times that of ONPP on all, P'P = I.
    [zhang2010donpp]

    Parameters, result and errors as for ``ssdr_mfa``, with a DONPP (or MESD of one) and an ONPP.

    >>> from proxembed import ssdr_donpp
    >>> type(ssdr_donpp().unsupervised).__name__
    'ONPP'
    """
    return _pair(gamma, supervised or DONPP(), unsupervised or ONPP(), constraint="projection", **settings)


def _with_graph(
    gamma: float, supervised: SpectralEmbedder, given: OLPP | None, objective: str | None, **settings: Any
) -> SSDR:
    """A pair with the OLPP as given, or the Laplacian of the published pairs where no objective is named."""
    if given is None:
        given, objective = OLPP(objective=objective or "laplacian"), None
    return _pair(gamma, supervised, given, objective=objective, **settings)


def _pair(gamma: float, supervised: SpectralEmbedder, unsupervised: SpectralEmbedder, **settings: Any) -> SSDR:
    if not (np.isfinite(gamma) and gamma >= 0):
        raise ValueError(f"gamma={gamma!r} is not allowed; it must be a number >= 0.")
    return SSDR(supervised, unsupervised, mix=gamma / (1.0 + gamma), **settings)
