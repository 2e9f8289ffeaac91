"""The ten largest Reuters categories in three random parts: tf-idf rows, and relation features, which are Euclidean
distances to the training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from papers.groups import row_groups
from proxembed.data import Dataset, read
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.pairs.relation import relation
from proxembed.splits.splits import stratified_folds

FILE = "reuters.npz"
CATEGORIES = 10


@dataclass(frozen=True)
class Stage:
    """Features R and labels Y (0/1) of the three parts; ``labelled`` are the training rows whose labels count.

    ``R`` are relation features, or the tf-idf rows (CSR) from which they are made. ``Y`` is whole; what a method sees
    is ``y``, with NaN in the rows that are not labelled. ``test_groups``: of the test documents (``papers.groups``).
    """

    names: tuple[str, ...]
    R: Any
    Y: np.ndarray
    R_validation: Any
    Y_validation: np.ndarray
    R_test: Any
    Y_test: np.ndarray
    labelled: np.ndarray
    n_terms: int
    test_groups: np.ndarray

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
    """Read the ten categories and make the three parts, as distances to all training rows.

    Parameters
    ----------
    folder : Path
        It holds ``reuters.npz``.
    seed : int, default=0
    rows : int, optional
        Number of documents, drawn at random.
    """
    return related(tfidf_ten(folder, seed, rows))


def tfidf_ten(folder: Path, seed: int = 0, rows: int | None = None) -> Stage:
    """Read the ten categories and make the three parts, each category spread evenly over them, as tf-idf rows.

    A document with several categories is one row with several labels, in one part. The inverse document frequencies
    are those of the training part, whose terms alone count. Parameters as in ``reuters_ten``.
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
    label_names = tuple(dataset.label_names or ())
    names = tuple(label_names[column] for column in columns)
    parts = T, Y[train], T_validation, Y[validation], T_test, Y[test]
    groups = row_groups(dataset.X.shape[0], chosen[test])
    return Stage(names, *parts, np.arange(len(train)), X.shape[1], groups)


def related(stage: Stage, prototypes: np.ndarray | None = None) -> Stage:
    """A stage of tf-idf rows as Euclidean distances to its training rows, or to those of them that are named.

    Parameters
    ----------
    stage : Stage
        From ``tfidf_ten``.
    prototypes : int array of shape (p,), optional
        Numbers of training rows.
    """
    P = stage.R if prototypes is None else stage.R[prototypes]
    R, R_validation, R_test = (relation("euclidean", X, P) for X in (stage.R, stage.R_validation, stage.R_test))
    return replace(stage, R=R, R_validation=R_validation, R_test=R_test)
