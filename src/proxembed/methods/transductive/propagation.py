"""Label propagation over a graph of rows: harmonic functions, and the multi-label forms in which labels that go
together draw each other's scores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.estimator.rows import reciprocal
from proxembed.pairs.formulas import gaussian, median_or_mean
from proxembed.params import call_for_array, log, param
from proxembed.targets.outputs import OutputReading

from .propagator import Equation, Propagation

LABEL_CORRELATIONS = ("cosine", "gaussian", "chen")


def label_correlation(
    Y: sparse.csc_array, kind: str | Callable[..., Any] = "cosine", tau: float | None = None
) -> np.ndarray:
    """Sigma between the columns y_s of the labels of labelled rows, Y (n x c): c x c, symmetric. [chen2008smse]
    "cosine" y_s'y_t / (|y_s| |y_t|), 0 with a column of zeros and 1 on the diagonal; "gaussian" exp(-|y_s - y_t|^2 /
    tau), tau None: the median over pairs of labels; "chen" exp(-(1 - cosine) / tau), tau None: 1. A callable is given Y
    (CSC of 0 and 1) and gives Sigma; a ValueError is raised where that is not symmetric, finite and c x c."""
    c = Y.shape[1]
    guard_dense((c, c), "The correlation of labels")
    if callable(kind):
        return _checked(call_for_array("sigma", kind, Y), c)
    gram = (Y.T @ Y).toarray()
    size = np.diag(gram)
    if kind == "gaussian":
        squares = np.maximum(size[:, None] + size - 2.0 * gram, 0.0)
        return gaussian(squares, tau or median_or_mean(squares[np.triu_indices(c, 1)]))
    length = np.sqrt(np.where(size > 0, size, 1.0))
    cosine = np.minimum(gram / length[:, None] / length, 1.0)
    np.fill_diagonal(cosine, 1.0)
    return cosine if kind == "cosine" else np.exp((cosine - 1.0) / (tau or 1.0))


def laplacian(Sigma: np.ndarray, normalized: bool = False, signed: bool = False) -> np.ndarray:
    """D - Sigma, D the diagonal of row sums, or I - D^-1/2 Sigma D^-1/2; ``signed``: of sums of absolute values, so
    that columns of negative correlation are drawn to opposite scores."""
    degree = (np.abs(Sigma) if signed else Sigma).sum(axis=1)
    if not normalized:
        return np.diag(degree) - Sigma
    if not np.all(degree > 0):
        raise ValueError(
            f"sigma gives labels whose correlations sum to {degree.min():.3g}: a normalised Laplacian needs sums above "
            '0. Use correlations of at least 0, or label_laplacian="standard".'
        )
    root = np.sqrt(degree)
    return np.eye(len(Sigma)) - Sigma / root[:, None] / root


def _checked(Sigma: np.ndarray, c: int) -> np.ndarray:
    if Sigma.shape != (c, c):
        raise ValueError(f"sigma gives an array of shape {Sigma.shape}; {(c, c)} is needed, for all pairs of labels.")
    if not np.isfinite(Sigma).all():
        raise ValueError("sigma gives values that are not finite: set the correlation of unrelated labels to 0.")
    if np.abs(Sigma - Sigma.T).max(initial=0.0) > 1e-10 * max(1.0, np.abs(Sigma).max(initial=0.0)):
        raise ValueError("sigma gives a matrix that is not symmetric; pass (S + S.T) / 2.")
    return (Sigma + Sigma.T) / 2


def degrees(W: sparse.csr_array) -> np.ndarray:
    """Row sums of W."""
    return np.asarray(W.sum(axis=1), dtype=np.float64).ravel()


def harmonic(W: sparse.csr_array, known: np.ndarray, reached: np.ndarray) -> tuple[np.ndarray, Any, Any]:
    """Rows u, Luu and Wu of the unlabelled rows that labels reach: Luu Zu = Wu Y0 is the harmonic function."""
    rows = np.flatnonzero(reached & ~known)
    links = W[rows]
    return rows, sparse.csr_array(sparse.diags_array(degrees(links)) - links[:, rows]), links


def on_rows(A: sparse.csr_array, reached: np.ndarray) -> tuple[np.ndarray, Any, Any]:
    """Rows, A and M of the rows that labels reach: A Z = Y0 on them, from which no edge leads away."""
    rows = np.flatnonzero(reached)
    return rows, sparse.csr_array(A[rows][:, rows]), sparse.eye_array(len(reached), format="csr")[rows]


def normalized_laplacian(W: sparse.csr_array) -> sparse.csr_array:
    """I - D^-1/2 W D^-1/2, the row of an isolated node that of I."""
    root = sparse.diags_array(np.sqrt(reciprocal(degrees(W))))
    return sparse.csr_array(sparse.eye_array(W.shape[0]) - root @ W @ root)


class MLGFHF(Propagation, takes_numbers=True):
    """Gaussian fields and harmonic functions for every label: Luu Zu = -Lul Yl, Zl = Yl, L = D - W.  [zhu2003gfhf]

    The score of an unlabelled row is the weighted mean of its neighbours' scores. It is between 0 and 1: the
    probability that a random walk from the row first meets a row with the label. Each label is spread separately.
    Numbers are spread likewise, and predictions of numbers are within the range of the labelled rows.

    Raises
    ------
    ValueError
        For bad X or y, no row whose labels are all known, n_neighbors above n - 1.

    See Also
    --------
    proxembed.MLLGC : Local and global consistency, with related labels.
    proxembed.MLGRF : A Gaussian random field that relates labels.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import MLGFHF
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> truth = data.Y[:400].toarray()
    >>> y = np.where(np.arange(400)[:, None] < 100, truth, np.nan)
    >>> model = MLGFHF().fit(data.X[:400], y)
    >>> bool(np.mean(model.transduction_[100:] != truth[100:]) < 0.05)  # share of wrong labels
    True
    """

    clamped = True

    def equation(self, W: Any, known: Any, reached: Any, Y: Any) -> Equation:
        return Equation(*harmonic(W, known, reached), None)


class Correlated(Propagation, abstract=True):
    """Propagation in which correlated labels share their scores. [chen2008smse]"""

    smoothness: float = param(
        default=1.0, low=1e-6, high=1e6, search=log(1e-2, 1e2), doc="l1, weight of the smoothness over the graph."
    )
    label_smoothness: float = param(
        default=0.01, low=0, high=1e6, search=log(1e-4, 1.0), doc="l2, weight of the similarity of correlated labels."
    )
    sigma: Any = param(
        default="cosine",
        choices=LABEL_CORRELATIONS,
        callable=True,
        doc="Sigma, the correlation of labels: cosine or Gaussian of their columns over the labelled rows, chen for "
        "exp(-(1 - cosine) / sigma_tau), or a callable of these columns (CSC).",
    )
    sigma_tau: float | None = param(
        default=None, above=0, choices=(None,), doc="Width of Sigma; None: the median over pairs of labels, 1 for chen."
    )

    def _sigma(self, Y: sparse.csc_array, known: np.ndarray) -> np.ndarray:
        return label_correlation(sparse.csc_array(Y.tocsr()[np.flatnonzero(known)]), self.sigma, self.sigma_tau)

    def _laplacian(self, Sigma: np.ndarray, normalized: bool = False) -> np.ndarray:
        return laplacian(Sigma, normalized, isinstance(self._reading_, OutputReading))


class SMSE(Correlated, takes_numbers=True):
    """Semi-supervised multi-label learning by a Sylvester equation: l1 Luu Zu + l2 Zu Ls = -l1 Lul Yl.  [chen2008smse]

    Scores vary little over the graph and between correlated labels. Ls is the Laplacian of Sigma. ``form``: "exact" as
    above, with Zl = Yl; "soft" (I + l1 Lsym) Z + l2 Z Ls = Y0, in which labelled rows may change. With
    label_smoothness=0 they are MLGFHF and MLLGC(label_smoothness=0).

    Raises
    ------
    ValueError
        For bad X or y, no row whose labels are all known, n_neighbors above n - 1,
        label correlations below 0 that leave the system indefinite.

    See Also
    --------
    proxembed.MLGRF : A Gaussian random field that relates labels.
    proxembed.MLLGC : Local and global consistency, with related labels.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import SMSE
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> y = data.Y[:400].toarray().astype(float)
    >>> y[100:] = np.nan
    >>> model = SMSE().fit(data.X[:400], y)
    >>> model.transduction_.shape, model.predict(data.X[400:402]).shape
    ((400, 7), (2, 7))
    """

    form: str = param(default="exact", choices=("exact", "soft"), doc="Labelled rows keep their labels, or may change.")
    label_laplacian: str = param(
        default="auto",
        choices=("auto", "standard", "normalized"),
        doc='Laplacian of Sigma, D - Sigma or I - D^-1/2 Sigma D^-1/2; auto: normalized under form="soft".',
    )

    def _clamps(self) -> bool:
        return self.form == "exact"

    def equation(self, W: Any, known: Any, reached: Any, Y: Any) -> Equation:
        normalized = self.label_laplacian == "normalized" or (self.label_laplacian == "auto" and self.form == "soft")
        T = None
        if self.label_smoothness > 0:
            T = self.label_smoothness * self._laplacian(self._sigma(Y, known), normalized)
        if self.form == "exact":
            rows, A, M = harmonic(W, known, reached)
            return Equation(rows, self.smoothness * A, self.smoothness * M, T)
        A = sparse.eye_array(W.shape[0]) + self.smoothness * normalized_laplacian(W)
        return Equation(*on_rows(sparse.csr_array(A), reached), T, least=1.0)


class CorrelatedField(Correlated, abstract=True):
    """A graph field with a label term, by similarity or by its Laplacian. [zha2009mlgrf]"""

    sigma_form: str = param(
        default="laplacian",
        choices=("laplacian", "similarity"),
        doc="Label term: l2 Z L(Sigma), always safe, or -l2 Z Sigma as printed, whose label_smoothness is bounded.",
    )

    def _label_term(self, Y: sparse.csc_array, known: np.ndarray) -> np.ndarray | None:
        if self.label_smoothness == 0:
            return None
        Sigma = self._sigma(Y, known)
        return self.label_smoothness * (self._laplacian(Sigma) if self.sigma_form == "laplacian" else -Sigma)


class MLGRF(CorrelatedField, takes_numbers=True):
    """Multi-label Gaussian random field: (J + l1 L) Z + l2 Z L(Sigma) = Y0, J masks labelled rows.  [zha2009mlgrf]

    Penalises labelled rows for leaving their labels, all rows for differing from their neighbours, and correlated
    labels for differing from each other. ``sigma_form="similarity"`` is the printed form, (J + l1 L) Z - l2 Z Sigma =
    Y0, which is positive definite only for very small label_smoothness.

    Raises
    ------
    ValueError
        For bad X or y, no row whose labels are all known, n_neighbors above n - 1,
        a label_smoothness that leaves the system indefinite (the error names the admissible one).

    See Also
    --------
    proxembed.MLGFHF : Gaussian fields and harmonic functions for every label.
    proxembed.SMSE : A Sylvester equation of rows and labels.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import MLGRF
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> y = data.Y[:400].toarray().astype(float)
    >>> y[100:] = np.nan
    >>> model = MLGRF().fit(data.X[:400], y)
    >>> model.transduction_.shape, model.predict(data.X[400:402]).shape
    ((400, 7), (2, 7))
    """

    def equation(self, W: Any, known: Any, reached: Any, Y: Any) -> Equation:
        L = sparse.diags_array(degrees(W)) - W
        A = sparse.diags_array(known.astype(np.float64)) + self.smoothness * L
        return Equation(*on_rows(sparse.csr_array(A), reached), self._label_term(Y, known))


class MLLGC(CorrelatedField, takes_numbers=True):
    """Multi-label local and global consistency: (I + l1 Lsym) Z + l2 Z L(Sigma) = Y0.  [zha2009mlgrf]

    Scores stay near the given labels (0 for an unlabelled row) and are smooth over the normalised graph. With
    label_smoothness=0 it is local and global consistency [zhou2004lgc] with alpha = l1 / (1 + l1).
    ``sigma_form="similarity"`` is the printed form, (I + l1 Lsym) Z - l2 Z Sigma = Y0, for label_smoothness below one
    over the largest eigenvalue of Sigma.

    Raises
    ------
    ValueError
        For bad X or y, no row whose labels are all known, n_neighbors above n - 1,
        a label_smoothness that leaves the system indefinite (the error names the admissible one).

    See Also
    --------
    proxembed.MLGFHF : Gaussian fields and harmonic functions for every label.
    proxembed.SSDR : Any supervised with any unsupervised method.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import MLLGC
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> truth = data.Y[:400].toarray()
    >>> y = np.where(np.arange(400)[:, None] < 100, truth, np.nan)
    >>> model = MLLGC().fit(data.X[:400], y)
    >>> bool(np.mean(model.transduction_[100:] != truth[100:]) < 0.05)  # share of wrong labels
    True
    """

    def equation(self, W: Any, known: Any, reached: Any, Y: Any) -> Equation:
        A = sparse.eye_array(W.shape[0]) + self.smoothness * normalized_laplacian(W)
        return Equation(*on_rows(sparse.csr_array(A), reached), self._label_term(Y, known), least=1.0)
