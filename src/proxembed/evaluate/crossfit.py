"""Cross-fitted embeddings: each training row placed by a model that has not seen it, all rows in one frame."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import check_consistent_length

from proxembed.algebra.pencil.symmetric import descending, orthonormal_columns
from proxembed.model import embedding_part
from proxembed.splits.splitters import as_splits
from proxembed.tables import TableRows
from proxembed.targets.labels import LabelMatrix


class Frame(NamedTuple):
    """A similarity that carries one embedding onto another: z -> scale (z - source) Q + target."""

    Q: np.ndarray
    scale: float
    source: np.ndarray
    target: np.ndarray

    def carry(self, Z) -> np.ndarray:
        """Rows (m, k) of the first embedding in the frame of the second, (m, l)."""
        return self.scale * ((np.asarray(Z, dtype=np.float64) - self.source) @ self.Q) + self.target


def procrustes_frame(Z, target) -> Frame:
    """Orthogonal Procrustes: the rotation or reflection, scale and shift that carry Z nearest to ``target``.

    Q = UV' of the singular vectors of Z'T, both centred; scale = tr(Q'Z'T) / ||Z||^2.  [schonemann1966procrustes]

    Parameters
    ----------
    Z, target : arrays of shape (n, k) and (n, l)
        Two embeddings of the same rows, finite.

    Returns
    -------
    Frame

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.crossfit import procrustes_frame
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> turned = 3 * Z @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 5
    >>> bool(np.allclose(procrustes_frame(Z, turned).carry(Z), turned))
    True
    """
    Z, target = np.asarray(Z, dtype=np.float64), np.asarray(target, dtype=np.float64)
    source, goal = Z.mean(axis=0), target.mean(axis=0)
    M = (Z - source).T @ (target - goal)
    V = descending(M.T @ M)[1][:, : min(M.shape)]
    U = orthonormal_columns(M @ V)
    Q = U @ V.T
    size = float(np.sum((Z - source) ** 2))
    scale = float(np.sum(Q * M)) / size if size > 0 else 1.0
    return Frame(Q, scale if scale > 0 else 1.0, source, goal)


def crossfit_embedding(estimator, X, y, cv=5, *, groups=None) -> np.ndarray:
    """Out-of-fold embedding of training rows: each row embedded by a model fitted without it.

    A supervised embedding shows its own rows as better separated than new ones. Models of different folds, though,
    differ by a rotation, by signs and by scale where eigenvalues are near each other or the constraint counts rows;
    stacked as they are, the folds would be unlike each other and a read-out could not use them. So each fold's
    embedding is carried onto that of the model fitted on all rows (the one that new rows get) by orthogonal Procrustes
    on the rows that the two models share. The k x k rotation is all that a row's own label has a part in.

    Parameters
    ----------
    estimator : transformer, or pipeline with one
        Unfitted; cloned for each fit. The final classifier of a pipeline is left out.
    X : array or sparse matrix of shape (n, d)
    y : labels in any form
    cv : int, splitter or list of splits, default=5
        Must hold out every row whose labels are known. Rows held out several times get the mean.
    groups : array of shape (n,), optional
        Passed to a splitter.

    Returns
    -------
    array of shape (n, k)
        Rows with unknown labels that are never held out get the embedding of the model fitted on all rows.

    Raises
    ------
    ValueError
        ``cv`` leaves out a row with known labels.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.crossfit import crossfit_embedding
    >>> data = digits()
    >>> crossfit_embedding(OPLS(n_components=3), data.X, data.Y, cv=3).shape
    (1797, 3)
    """
    X, known = checked_rows(X, y)
    method = embedding_part(estimator)
    whole = np.asarray(clone(method).fit(X, y).transform(X), dtype=np.float64)
    total, times = np.zeros_like(whole), np.zeros(len(whole))
    for split in as_splits(cv, X, y, groups):
        model = clone(method).fit(X[split.train], take_labels(y, split.train))
        frame = procrustes_frame(model.transform(X[split.train]), whole[split.train])
        total[split.held_out] += frame.carry(model.transform(X[split.held_out]))
        times[split.held_out] += 1
    missing = times == 0
    if (missing & known).any():
        raise ValueError(
            f"cv never holds out {int((missing & known).sum())} of {len(whole)} rows, which so have no out-of-fold "
            "embedding; use folds that hold out every row (the order of time does not)."
        )
    return np.where(missing[:, None], whole, total / np.maximum(times, 1)[:, None])


def checked_rows(X, y) -> tuple[Any, np.ndarray]:
    """X as an array or CSR of floats, and which of its rows have known labels alone; y in any form, of X's length."""
    if not isinstance(X, TableRows):
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
    if y is None:
        raise ValueError("y is None; pass the labels of the rows of X.")
    labels = LabelMatrix.of(y)
    check_consistent_length(X, labels.Y)
    return X, labels.rows_known


def take_labels(y, rows):
    """Labels of some rows, in the form in which y came."""
    return y.take(rows) if isinstance(y, LabelMatrix) else _safe_indexing(y, rows)
