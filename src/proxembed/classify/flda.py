"""Fisher linear discriminant analysis as a classifier: one discriminant per label, or nearest class mean."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.pencil.symmetric import SPD
from proxembed.params import param
from proxembed.targets.labels import LabelMatrix

from .label_classifier import UnweightedClassifier
from .ridge import feature_variances, ridge_fit

SINGULAR = "ridge={ridge!r} leaves a singular within-class scatter; take a ridge above 0, such as 1e-6."


class FLDAClassifier(UnweightedClassifier):
    """Fisher discriminants: w = (Sw + lam I)^-1 (mu1 - mu0) for each label, cut between the two means.  [fisher1936]

    Puts the threshold of each label midway between the means of the rows with it and without it, in the direction that
    separates them best. Labels share lam and one factorisation of the total scatter. With one class per row it predicts
    the nearest class mean after projection on all Fisher directions, which is the Gaussian rule with a shared
    covariance. Rows with unknown labels are left out, with a warning.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, c) and (c,)
        The score of a row z is z @ coef_ + intercept_. A label that no training row has, or that all have, has zero
        coefficients and the score -1 or 1.
    ridge_ : float
        lam.

    Raises
    ------
    ValueError
        ``threshold`` is unknown, ``ridge`` is negative, not finite, or 0 where the within-class scatter is singular.

    See Also
    --------
    proxembed.MultiOutputRidge : One linear score per label.
    proxembed.FDA : Fisher's discriminants of one class per row.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify import FLDAClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> FLDAClassifier().fit(X, [[1, 0], [1, 0], [0, 1], [0, 1]]).predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """

    threshold: str = param(
        default="midpoint",
        choices=("midpoint", "prior"),
        kw_only=False,
        doc="Cut halfway between the projected means (equal priors), or moved by the shares of the classes in "
        "training, as Gaussian discriminant analysis does.",
    )
    ridge: float = param(
        default=1e-6, low=0, doc="lam in units of the mean variance of a feature times n: lam = ridge tr(St) / d."
    )

    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        X = X.astype(np.float64, copy=False)  # the default ridge lies below the rounding of float32
        ridge = float(self.ridge) * labels.n * float(feature_variances(X).mean())
        W, _ = ridge_fit(X, labels.Y.toarray(), ridge)
        sums = labels.Y.T @ X
        sums = np.asarray(sums.toarray() if sp.issparse(sums) else sums, dtype=np.float64)
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        if labels.form == "classes" and labels.c > 2:
            coef, intercept = self._by_class(W, mean, sums, labels)
        else:
            coef, intercept = self._by_label(W, mean, sums, labels, ridge)
        self.coef_, self.intercept_, self.ridge_ = coef, intercept, ridge

    def _by_label(
        self, W: np.ndarray, mean: np.ndarray, sums: Any, labels: LabelMatrix, ridge: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Discriminants of every label from the ridge coefficients W = (St + lam I)^-1 (n1 n0 / n) (mu1 - mu0). St = Sw
        + (n1 n0 / n) (mu1 - mu0)(mu1 - mu0)', so that the inverse for Sw differs by a factor per label."""
        n, n1 = labels.n, labels.nk
        n0 = n - n1
        both = (n1 > 0) & (n0 > 0)
        share = np.where(both, n1 * n0 / n, 1.0)
        high = sums / np.maximum(n1, 1)[:, None]
        low = (n * mean - sums) / np.maximum(n0, 1)[:, None]
        gap = high - low
        squares = share * np.einsum("jd,jd->j", gap, gap)
        left = 1.0 - np.einsum("jd,dj->j", gap, W)
        left = np.maximum(left, ridge / np.where(squares + ridge > 0, squares + ridge, 1.0))
        left[squares == 0] = 1.0
        if np.any(both & (left <= 1e-13)):
            raise ValueError(SINGULAR.format(ridge=self.ridge))
        coef = np.where(both, W / np.where(both, share * left, 1.0), 0.0)
        intercept = -np.einsum("dj,jd->j", coef, (high + low) / 2)
        if self.threshold == "prior":
            intercept += np.log(np.where(both, n1, 1) / np.where(both, n0, 1)) / max(n - 2, 1)
        return coef, np.where(both, intercept, np.where(n1 > 0, 1.0, -1.0))

    def _by_class(
        self, W: np.ndarray, mean: np.ndarray, sums: Any, labels: LabelMatrix
    ) -> tuple[np.ndarray, np.ndarray]:
        """Gaussian scores of every class: V = (Sw + lam I)^-1 M' from W = (St + lam I)^-1 M'N, M the centred means."""
        n, nk = labels.n, labels.nk
        M, root = sums / nk[:, None] - mean, np.sqrt(nk)
        inner = (root[:, None] * (M @ W)) / root
        within = SPD(np.eye(len(nk)) - (inner + inner.T) / 2)
        if not within.ok:
            raise ValueError(SINGULAR.format(ridge=self.ridge))
        coef = within.solve((W / root).T).T / root
        intercept = -mean @ coef - 0.5 * np.einsum("kd,dk->k", M, coef)
        if self.threshold == "prior":
            intercept += np.log(nk / n) / max(n - len(nk), 1)
        return coef, intercept

    def _scores(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_
