"""Columns of a table that alone tell a label: the answer itself, or what is known only after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from proxembed.data import Dataset
from proxembed.features.scaling import scaling_apply
from proxembed.features.table import table_fit
from proxembed.tables import TableRows
from proxembed.tables.notes import few_notes

LEAK = 0.99
LEAST = 5  # rows with the label, and without it
MOST_ROWS, MOST_CELLS = 5000, 20_000_000


def leaks(dataset: Dataset) -> list[str]:
    """Notes on columns of a table that alone predict a label, with an area under the ROC curve above .99.

    At most 5,000 rows are looked at, none of them a test row that the file names. Words of texts are left out.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    list of str

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.data import Dataset
    >>> from proxembed.workflow.leaks import leaks
    >>> x = np.arange(20.0)
    >>> data = Dataset(x[:, None], (x > 9)[:, None], ["closed"], ["done"], source={"format": "table"})
    >>> leaks(data)
    ["closed alone predicts 'done' (AUC 1.000): leave it out (drop) if it is known only after the label"]
    """
    if (dataset.source or {}).get("format") != "table":
        return []
    rows = np.arange(dataset.X.shape[0]) if dataset.train_idx is None else dataset.train_idx
    rows = rows[:: -(-len(rows) // MOST_ROWS)]
    X, names = dataset.X[rows], list(dataset.feature_names or ())
    if isinstance(X, TableRows):
        state = table_fit(X)
        names = list(state.feature_names[: len(state.varying)])
        X = scaling_apply(state, X)[:, : len(names)]
        X = X.toarray() if hasattr(X, "toarray") else X
    if not isinstance(X, np.ndarray) or X.size == 0 or X.size > MOST_CELLS:
        return []
    area = label_areas(X, dataset.Y.tocsr()[rows].toarray() > 0)
    found = []
    for j in np.flatnonzero((area > LEAK).any(axis=1)):
        label = int(np.argmax(area[j]))
        told = f"{names[j]} alone predicts {dataset.label_names[label]!r} (AUC {area[j, label]:.3f})"
        found.append((names[j], f"{told}: leave it out (drop) if it is known only after the label"))
    return few_notes(found)


def with_leaks(dataset: Dataset) -> Dataset:
    """The data set with a note for each leak, which results and pages show.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.data import Dataset
    >>> from proxembed.workflow.leaks import with_leaks
    >>> x = np.arange(20.0)
    >>> data = Dataset(x[:, None], (x > 9)[:, None], ["closed"], ["done"], source={"format": "table"})
    >>> with_leaks(data).notes[0][:29]
    "closed alone predicts 'done' "
    """
    return replace(dataset, notes=(*dataset.notes, *leaks(dataset)))


def label_areas(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Area under the ROC curve of each column for each label, in the better direction; 0 for labels of few rows.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.workflow.leaks import label_areas
    >>> x = np.arange(10.0)[:, None]
    >>> label_areas(np.hstack([x, -x, 0 * x]), x > 4).tolist()
    [[1.0], [1.0], [0.5]]
    """
    positive = Y.sum(axis=0)
    negative = len(Y) - positive
    enough = (positive >= LEAST) & (negative >= LEAST)
    sums = rankdata(X, axis=0).T @ Y.astype(np.float64)
    area = (sums - positive * (positive + 1) / 2) / np.maximum(positive * negative, 1)
    return np.where(enough, np.maximum(area, 1 - area), 0.0)
