"""Templates of the user's own: a pair (A, B) for a projection or for the rows themselves; and MESD of the rows
themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.operators.of_features import OfFeatures, has_features
from proxembed.algebra.operators.structured import Dense, Diagonal, Identity, LowRank, Operator, Sparse
from proxembed.algebra.pencil.direct import Placement, solve_direct
from proxembed.algebra.template import Template, centred
from proxembed.estimator.neighborly import MATRICES
from proxembed.estimator.rows import Rows, reciprocal
from proxembed.estimator.traits import Traits
from proxembed.estimator.unweighted import Unweighted
from proxembed.params import call_user_function, constant, param
from proxembed.proximity.weights import given_weights

from .mope import Regressed
from .multilabel import MESD
from .preserving import Constrained

PAIR_DOC = (
    'A symmetric n x n matrix (array or sparse; d x d with of="features"), an operator of '
    "proxembed.algebra.operators.structured of that size, or a callable (X, y), y as given to fit, that returns one of "
    "these; a callable is called again for the rows of each fold, and under MESD for the copies of the rows, y their "
    "class."
)
MOSTLY_ZERO = 0.25  # share of entries up to which a matrix is kept sparse


class TemplateEmbedder(
    Unweighted,
    Constrained,
    labels="multi",
    own_matrices=True,
    needs_all_rows="its matrices hold all pairs of rows",
):
    """A template of your own: maximise P'X'AXP subject to P'(X'BX + ridge I)P = I, or to P'P = I without B.
    [mu2012mesd]

    Every method with a projection in this package is such a pair. A says which rows belong together, B what the scale
    of a component is measured by. ``MESD(TemplateEmbedder(..., takes="single"))`` extends a pair for one class per row
    to several labels: a callable is given the copies of the rows, and a matrix links all copies of two rows alike.
    With ``of="features"`` A and B are matrices of the features and stand in the place of X'AX and X'BX: maximise P'AP
    subject to P'(B + ridge I)P = I, P within the row space of X. ``SSDR`` joins it with any other method.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection; zeros with center=False.
    eigenvalues_ : (k,) array, descending; ascending with minimize=True.
    ridge_ : float, the ridge used, absolute; 0 without B.

    Raises
    ------
    ValueError
        For a matrix that is not symmetric, not finite or not n x n, n_components above the rank of the rows, bad X or
        y.

    See Also
    --------
    proxembed.DirectTemplateEmbedder : A pair of your own that places the rows.
    proxembed.MOPE : Proximities of your own design.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import TemplateEmbedder
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> same = lambda X, y: 1.0 * (y @ y.T > 0)  # rows with a label in common
    >>> model = TemplateEmbedder(same, n_components=3).fit(data.X[:300], data.Y[:300].toarray())
    >>> model.transform(data.X[300:302]).shape
    (2, 3)
    """

    A: Any = param(
        default=None,
        kw_only=False,
        choices=(None,),
        kind=(*MATRICES, Operator),
        callable=True,
        doc="What is maximised. " + PAIR_DOC + " None: YY', Y of the labels, or I with takes=None, of the rows.",
    )
    B: Any = param(
        default=None,
        kw_only=False,
        choices=(None,),
        kind=(*MATRICES, Operator),
        callable=True,
        doc="The constraint, positive semidefinite, likewise; None: none, P'P = I.",
    )
    of: str = param(
        default="rows",
        choices=("rows", "features"),
        doc="What A and B are given for: all pairs of rows, or all pairs of features.",
    )
    takes: str | None = param(
        default="multi",
        choices=(None, "single", "multi"),
        doc="What A and B need of y: nothing, one class per row, or several labels.",
    )
    minimize: bool = param(default=False, kind=bool, doc="Minimise what A states.")

    @property
    def traits(self) -> Traits:
        """With what it takes of y."""
        return replace(super().traits, labels=self.takes)

    def template(self, rows: Rows) -> Template:
        A, B = self._pair(rows)
        offset = rows.mass if self.center else None
        target = None if rows.labels is None else rows.labels.Y
        sense = -1 if self.minimize else 1
        if offset is not None:
            A, B = _about_mean(A, offset), None if B is None else _about_mean(B, offset)
        if B is None:
            return Template(A, offset=offset, sense=sense)
        return Template(A, B, b=0, offset=offset, target=target, sense=sense)

    def _pair(self, rows: Rows) -> tuple[Operator, Operator | None]:
        """A, negated where it is minimised, and B, summed over the copies of the rows under MESD."""
        if rows.weighting == "printed":
            raise ValueError(
                f'{type(self).__name__} under MESD knows no links inside classes, which weighting="printed" weighs on '
                'their own. Use weighting="none" or "mimj".'
            )
        default = Identity(rows.n) if rows.labels is None else LowRank(rows.labels.Y)
        A = self._operator("A", rows) if self.A is not None else _over_labels(default, rows)
        return -A if self.minimize else A, None if self.B is None else self._operator("B", rows)

    def _operator(self, name: str, rows: Rows) -> Operator:
        """A parameter as the operator of these rows."""
        given, copies = getattr(self, name), rows.weighting is not None
        if self.of == "features":
            return self._of_features(name, rows)
        if copies and callable(given):
            row, label = _copies(rows)
            own = call_user_function(name, given, rows.X[row], np.asarray(rows.labels.classes_)[label])
            return _over_labels(_collapsed(_as_operator(own, len(row), name), row, rows.n), rows)
        if callable(given):
            given = call_user_function(name, given, rows.X, rows.origin and rows.origin.y)
        elif rows.origin is not None and rows.origin.index is not None:
            given = _taken(given, rows.origin.n, rows.origin.index, name)
        operator = _as_operator(given, rows.n, name)
        return _over_labels(operator.weighted(rows.labels.m), rows) if copies else operator

    def _of_features(self, name: str, rows: Rows) -> OfFeatures:
        """A parameter as the matrix of the features."""
        if rows.weighting == "mimj":
            raise ValueError(
                f'{type(self).__name__}: weighting="mimj" weighs pairs of copies, and of="features" has none. Use '
                'weighting="none".'
            )
        given, d = getattr(self, name), rows.X.shape[1]
        if callable(given) and rows.weighting is not None:
            row, label = _copies(rows)
            given = call_user_function(name, given, rows.X[row], np.asarray(rows.labels.classes_)[label])
        elif callable(given):
            given = call_user_function(name, given, rows.X, rows.origin and rows.origin.y)
        if not isinstance(given, Operator) and np.shape(given) != (d, d):
            raise ValueError(
                f"{name}: the given matrix has shape {np.shape(given)}; {(d, d)} is needed with of='features', for all "
                "pairs of features."
            )
        return OfFeatures(_as_operator(given, d, name, "features"), rows.n)


def _about_mean(A: Operator, weights: np.ndarray) -> Operator:
    """A about the mean of the rows; a matrix of the features as it is."""
    return A if has_features(A) else centred(A, weights)


def _copies(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The row and the number of the label of each copy, a row after the other."""
    row, label = rows.labels.Y.tocsr().nonzero()
    return row, label


def _over_labels(A: Operator, rows: Rows) -> Operator:
    """A sum over copies, (32); over the labels of both rows with weighting="mimj", (33)."""
    return A.weighted(reciprocal(rows.labels.m)) if rows.weighting == "mimj" else A


def _collapsed(A: Operator, row: np.ndarray, n: int) -> Operator:
    """E'AE of the copies' A, E the row of each copy."""
    E = sparse.csr_array((np.ones(len(row)), (np.arange(len(row)), row)), shape=(len(row), n))
    W = A.graph()
    if W is not None:
        return Sparse(sparse.csr_array(E.T @ W @ E))
    guard_dense((len(row), n), "The matrix of all pairs of copies and rows")
    return Dense(E.T @ (A @ E.toarray()))


def _taken(given: Any, n: int, index: np.ndarray, name: str) -> Any:
    """The rows and columns of a matrix of all n rows given to fit that are among the rows of the fit."""
    if isinstance(given, Operator):
        if given.n is None:
            return given
        raise ValueError(
            f"{name} is an operator of the {n:,} rows given to fit, of which {n - len(index):,} are left out: pass a "
            "matrix, or a callable (X, y) that returns an operator of the others."
        )
    return given_weights(given, n, name)[index][:, index]


def _as_operator(given: Any, n: int, name: str, of: str = "rows") -> Operator:
    if isinstance(given, Operator):
        if given.n not in (None, n):
            raise ValueError(f"{name} is an operator of {given.n:,} {of}; one of {n:,} is needed, the {of} of the fit.")
        return given if given.n is not None else given + 0.0 * Identity(n)
    W = given_weights(given, n, name)
    return Sparse(W) if W.nnz <= MOSTLY_ZERO * n * n else Dense(W.toarray())


class DirectTemplateEmbedder(Regressed, TemplateEmbedder):  # type: ignore[misc]  # the ridge of new rows alone
    """A template of your own for the rows themselves: maximise tr Z'AZ subject to Z'BZ = I, or Z'Z = I without B.
    [mu2012mesd]

    The embedding that ``TemplateEmbedder`` restricts to projections. Training rows keep their places, and new rows are
    embedded by the ridge regression of Z on X.

    Attributes
    ----------
    embedding_ : (n, k) array, Z.
    components_ : (k, d) array, and
    intercept_ : (k,) array, the regression that embeds new rows.
    eigenvalues_ : (k,) array, descending; ascending with minimize=True.
    ridge_ : float, the ridge of the regression for new rows, absolute.

    Raises
    ------
    ValueError
        As ``TemplateEmbedder`` does, and for a B with negative eigenvalues.

    See Also
    --------
    proxembed.TemplateEmbedder : A pair (A, B) of your own.
    proxembed.DirectMESD : MESD that places the rows themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import DirectTemplateEmbedder
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> near = lambda X, y: np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2) / 100)
    >>> model = DirectTemplateEmbedder(near, takes=None, n_components=3).fit(data.X[:200])
    >>> bool(np.allclose(model.embedding_.T @ model.embedding_, np.eye(3)))
    True
    """

    of: str = constant("rows")
    center: bool = param(
        default=True,
        kind=bool,
        doc="Centre A, so that each component of Z has a mean of 0, weighted by the row sums of B.",
    )

    def template(self, rows: Rows) -> Template:
        A, B = self._pair(rows)
        return _placing(A, B, self.center, -1 if self.minimize else 1)

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        return solve_direct(template.A, k, template.B)


class DirectMESD(Unweighted, Regressed, MESD):  # type: ignore[misc]  # the ridge of new rows alone
    """MESD of the rows themselves: maximise tr Z'AZ subject to Z'diag(m)Z = I, m the labels per row.
    [mu2012mesd]

    A is the one of the method, its copies of rows collapsed; copies share a place, and Z~'Z~ = I of all copies is
    Z'diag(m)Z = I of the rows. With ``constraint="method"`` it is the direct form of the method itself, such as
    Z'L(Wi)Z = I of MFA, and decomposes a matrix of all pairs of rows. Components of positive eigenvalue alone are
    kept; under diag(m) their mean over the copies is 0. New rows are embedded by the ridge regression of Z on X; rows
    without labels are at the origin.

    Attributes
    ----------
    embedding_ : (n, k) array, Z.
    components_ : (k, d) array, and
    intercept_ : (k,) array, the regression that embeds new rows.
    eigenvalues_ : (k,) array, those of A under this constraint.
    ridge_ : float, the ridge of the regression for new rows, absolute.
    method_ : the wrapped method with its parameters.

    Raises
    ------
    ValueError
        As ``MESD`` does, and for a method whose A has no positive eigenvalue.

    See Also
    --------
    proxembed.MESD : Any method for one class per row, for several labels.
    proxembed.DirectTemplateEmbedder : A pair of your own that places the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import FDA, DirectMESD
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = DirectMESD(FDA(), n_components=3).fit(data.X[:300], data.Y[:300])
    >>> m = data.Y[:300].sum(axis=1)
    >>> bool(np.allclose((model.embedding_.T * m) @ model.embedding_, np.eye(3)))
    True
    """

    constraint: str = param(
        default="embedding",
        choices=("embedding", "method"),
        doc="B = diag(m), or the B of the method, of the rows in place of their projections and within its range.",
    )

    @property
    def traits(self) -> Traits:
        """Only as one fit of all rows, with components of positive eigenvalue."""
        reason = "it places all rows together; MESD does not"
        return replace(super().traits, from_sums=None, needs_all_rows=reason, positive_only=True)

    @property
    def follows_from_sums(self) -> bool:
        return False

    def template(self, rows: Rows) -> Template:
        copied = self.with_classes(rows)
        template = self.method_.template(copied)
        if self.constraint == "method" and template.B is not None:
            return _placing(template.A, template.B, False, template.sense)
        return _placing(template.A, Diagonal(copied.mass), True, template.sense)

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        return solve_direct(template.A, k, template.B).with_positive_eigenvalues(template.A, template.B)


def _placing(A: Operator, B: Operator | None, center: bool, sense: int) -> Template:
    """The template of the rows themselves, A about the mean by the row sums of B. Raises ValueError for a matrix of the
    features."""
    if has_features(A, B):
        raise ValueError('A matrix of the features, of="features", says nothing of places: state the pair for rows.')
    if center:
        A = centred(A, np.ones(A.n) if B is None else B @ np.ones(A.n))
    return Template(A, B, b=1.0 if B is None else 0.0, sense=sense)
