"""The logistic read-out of the rival "all features": one model a label, its probabilities as they are."""

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from proxembed.targets.values import dense_labels

NEWTON_FEATURES, DENSE_ENTRIES = 500, 10_000_000


def logistic_probabilities(X, Y, X_held_out) -> np.ndarray:
    """Probability of each label by logistic regression with scikit-learn's default penalty (C = 1).

    A label that all training rows carry, or none, gets its smoothed share of them, (n_j + 1) / (n + 2), everywhere.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        Scaled training rows.
    Y : array or sparse array of shape (n, c)
        Their labels, 0 or 1.
    X_held_out : array or sparse array of shape (m, d)

    Returns
    -------
    array of shape (m, c)

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.logistic import logistic_probabilities
    >>> X, Y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> logistic_probabilities(X, Y, np.array([[-1.5], [1.5]])).round(1).tolist()
    [[0.2, 0.8], [0.8, 0.8]]
    """
    Y = dense_labels(Y)
    n, d = X.shape
    newton = d <= NEWTON_FEATURES  # few steps where first-order ones need a thousand
    model = LogisticRegression(solver="newton-cholesky" if newton else "lbfgs", max_iter=1000)
    if sp.issparse(X):
        dense = newton and n * d <= DENSE_ENTRIES
        X, X_held_out = (M.toarray() if dense else sp.csr_matrix(M) for M in (X, X_held_out))
    P = np.empty((X_held_out.shape[0], Y.shape[1]))
    for j, column in enumerate(Y.T):
        if column.any() and not column.all():
            P[:, j] = model.fit(X, column).predict_proba(X_held_out)[:, 1]
        else:
            P[:, j] = (column.sum() + 1) / (n + 2)
    return P
