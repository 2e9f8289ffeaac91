"""Cross-fitted embeddings of pipelines: each training row placed by a model that has not seen it, all in one frame."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from proxembed.model import embedding_part
from proxembed.params import accept_classes
from proxembed.sources import blocks_of
from proxembed.splits.crossfit import crossfit, crossfit_blocks
from proxembed.splits.splitters import as_splits
from proxembed.tables import TableRows
from proxembed.targets.labels import LabelMatrix


def crossfit_embedding(estimator: Any, X: Any, y: Any = None, cv: Any = 5, *, groups: Any = None) -> Any:
    """Out-of-fold embedding of training rows: each row embedded by a model fitted without it.

    A supervised embedding shows its own rows as better separated than new ones. The folds' embeddings are carried onto
    that of the model fitted on all rows, as ``splits.crossfit.crossfit`` describes.

    Parameters
    ----------
    estimator : transformer, or pipeline with one
        Unfitted; cloned for each fit. The final classifier of a pipeline is left out.
    X : array or sparse matrix of shape (n, d), or RowBlocks with y in the blocks
    y : labels in any form
    cv : int, splitter or list of splits, default=5
        Must hold out every row whose labels are known. Rows held out several times get the mean. Of RowBlocks the
        number of random folds.
    groups : array of shape (n,), optional
        Passed to a splitter.

    Returns
    -------
    array of shape (n, k)
        Rows with unknown labels that are never held out get the embedding of the model fitted on all rows. Of
        RowBlocks blocks (Z, y), computed when they are read, by ``crossfit_blocks``.

    Raises
    ------
    ValueError
        ``cv`` leaves out a row with known labels, or ``groups`` beside RowBlocks.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.crossfit import crossfit_embedding
    >>> data = digits()
    >>> crossfit_embedding(OPLS(n_components=3), data.X, data.Y, cv=3).shape
    (1797, 3)
    """
    method = embedding_part(estimator)
    if (blocks := blocks_of(X, y)) is not None:
        if groups is not None:
            raise ValueError("groups is not allowed with blocks of rows, whose folds are random; leave it out.")
        return crossfit_blocks(method, blocks, cv)
    X, known = checked_rows(X, y)
    whole = clone(method).fit(X, y).transform(X)
    return crossfit(accept_classes(clone(method)), X, y, whole, as_splits(cv, X, y, groups), known)


def checked_rows(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X as an array or CSR of floats, and which of its rows have known labels alone; y in any form, of X's length."""
    if not isinstance(X, TableRows):
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
    if y is None:
        raise ValueError("y is None; pass the labels of the rows of X.")
    labels = LabelMatrix.of(y)
    check_consistent_length(X, labels.Y)
    return X, labels.rows_any
