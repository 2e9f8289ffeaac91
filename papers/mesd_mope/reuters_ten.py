"""The ten largest Reuters categories in three random parts, as relation features: Euclidean distances to the training
rows of tf-idf vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from proxembed.data import Dataset, read
from proxembed.features.relation import relation
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.splits.splits import stratified_folds

FILE = "reuters.npz"
CATEGORIES = 10


@dataclass(frozen=True)
class Stage:
    """Relation features R and labels Y (0/1) of the three parts; ``labelled`` are the training rows whose labels count.

    ``Y`` is whole; what a method sees is ``y``, with NaN in the rows that are not labelled.
    """

    names: tuple[str, ...]
    R: np.ndarray
    Y: np.ndarray
    R_validation: np.ndarray
    Y_validation: np.ndarray
    R_test: np.ndarray
    Y_test: np.ndarray
    labelled: np.ndarray
    n_terms: int

    @property
    def y(self) -> np.ndarray:
        """Labels of the training rows as estimators take them."""
        if len(self.labelled) == len(self.Y):
            return self.Y
        y = np.full(self.Y.shape, np.nan)
        y[self.labelled] = self.Y[self.labelled]
        return y

    def with_labels(self, share: float, seed: int) -> Stage:
        """The stage with a random share of the training rows labelled; a smaller share is a part of a larger one."""
        order = np.random.default_rng(seed).permutation(len(self.Y))
        return replace(self, labelled=np.sort(order[: round(share * len(order))]))

    def describe(self) -> dict:
        """Sizes, as plain data."""
        sizes = {"training": len(self.Y), "validation": len(self.Y_validation), "test": len(self.Y_test)}
        return {"categories": list(self.names), **sizes, "terms": self.n_terms, "labelled": len(self.labelled)}


def largest_categories(dataset: Dataset, number: int = CATEGORIES) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the labels with the most rows, and the rows that carry one of them.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from papers.mesd_mope.reuters_ten import largest_categories
    >>> columns, rows = largest_categories(digits(), 2)
    >>> len(columns), len(rows) <= 1797
    (2, True)
    """
    counts = np.asarray(dataset.Y.sum(axis=0)).ravel()
    columns = np.argsort(-counts, kind="stable")[:number]
    rows = np.flatnonzero(np.asarray(dataset.Y[:, columns].sum(axis=1)).ravel() > 0)
    return columns, rows


def reuters_ten(folder: Path, seed: int = 0, rows: int | None = None) -> Stage:
    """Read the ten categories and make the three parts, each category spread evenly over them.

    A document with several categories is one row with several labels, in one part. The inverse document frequencies
    are those of the training part, whose terms alone count.

    Parameters
    ----------
    folder : Path
        It holds ``reuters.npz``.
    seed : int, default=0
    rows : int, optional
        Only so many documents, drawn at random.
    """
    dataset = read(folder / FILE)
    columns, chosen = largest_categories(dataset)
    if rows is not None:
        chosen = np.sort(np.random.default_rng(seed).permutation(chosen)[:rows])
    features: Any = dataset.X
    X, Y = features[chosen], dataset.Y.tocsr()[chosen][:, columns].toarray().astype(np.int64)
    train, validation, test = (split.held_out for split in stratified_folds(Y, 3, seed=seed))
    X = X[:, np.flatnonzero(X[train].sum(axis=0))]
    state = scaling_fit("tfidf", X[train])
    T, T_validation, T_test = (scaling_apply(state, X[part]) for part in (train, validation, test))
    R, R_validation, R_test = (relation("euclidean", part, T) for part in (T, T_validation, T_test))
    label_names = tuple(dataset.label_names or ())
    names = tuple(label_names[column] for column in columns)
    parts = R, Y[train], R_validation, Y[validation], R_test, Y[test]
    return Stage(names, *parts, np.arange(len(train)), X.shape[1])
