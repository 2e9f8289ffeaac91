"""Figures of one embedding on rows that were not in fit, for the questions of this folder and for tests/data.

mAP: macro average precision of the ridge read-out over labels of at least five held-out rows; J: mean Jaccard
similarity of a held-out row and its ten nearest, by cosine (C) or Euclidean distance (E), among the training rows or
(new-new) among the held-out rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score
from sklearn.neighbors import NearestNeighbors

from proxembed.classify.ridge import fit_readout
from proxembed.data import read
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.measures.metrics import row_jaccard

NEAREST, FREQUENT, SHARE = 10, 5, 0.67


class Drawn(NamedTuple):
    """Features and labels of 67 % of the rows, and of the others."""

    X: Any
    Y: np.ndarray
    X_new: Any
    Y_new: np.ndarray


class Figures(NamedTuple):
    """What an embedding is worth on the rows that were not in fit."""

    precision: float
    cosine: float
    euclidean: float
    new_cosine: float
    new_euclidean: float


def drawn(folder: Path, name: str, most: int | None = None, seed: int = 0) -> Drawn:
    """67 % of the rows (of ``most`` of them) and the others; dense features standardised, words as tf-idf."""
    data = read(folder / f"{name}.npz")
    order = np.random.default_rng(seed).permutation(data.X.shape[0])[:most]
    train, rest = np.split(order, [int(SHARE * len(order))])
    scaling = scaling_fit("tfidf" if sp.issparse(data.X) else "standard", data.X[train])
    X, X_new = (scaling_apply(scaling, data.X[rows]) for rows in (train, rest))
    Y, Y_new = (data.Y.tocsr()[rows].toarray().astype(int) for rows in (train, rest))
    return Drawn(X, Y, X_new, Y_new)


def precision(Z: np.ndarray, Z_new: np.ndarray, rows: Drawn) -> float:
    """Macro average precision of the ridge read-out."""
    return score_precision(fit_readout(Z, rows.Y.astype(bool)).scores(Z_new), rows.Y_new)


def score_precision(S: np.ndarray, Y: np.ndarray) -> float:
    """Macro average precision of scores, over labels of at least five rows."""
    frequent = np.flatnonzero(Y.sum(axis=0) >= FREQUENT)
    return float(np.mean([average_precision_score(Y[:, k], S[:, k]) for k in frequent]))


def nearest_jaccard(Z: np.ndarray, Z_new: np.ndarray, rows: Drawn, metric: str = "euclidean") -> float:
    """J of held-out rows to training rows."""
    found = NearestNeighbors(n_neighbors=NEAREST, metric=metric).fit(Z).kneighbors(Z_new, return_distance=False)
    return _agreement(found, rows.Y_new, rows.Y)


def new_jaccard(Z_new: np.ndarray, rows: Drawn, metric: str = "euclidean") -> float:
    """J of held-out rows among themselves."""
    found = NearestNeighbors(n_neighbors=NEAREST, metric=metric).fit(Z_new).kneighbors(return_distance=False)
    return _agreement(found, rows.Y_new, rows.Y_new)


def _agreement(found: np.ndarray, Y_new: np.ndarray, Y: np.ndarray) -> float:
    ends = np.arange(0, found.size + 1, NEAREST)
    weights = sp.csr_array((np.full(found.size, 1 / NEAREST), found.ravel(), ends), shape=(len(Y_new), len(Y)))
    return float(row_jaccard(sp.csr_array(Y_new), sp.csr_array(Y), weights).mean())


def figures(Z: np.ndarray, Z_new: np.ndarray, rows: Drawn) -> Figures:
    """All of them."""
    near = (nearest_jaccard(Z, Z_new, rows, metric) for metric in ("cosine", "euclidean"))
    new = (new_jaccard(Z_new, rows, metric) for metric in ("cosine", "euclidean"))
    return Figures(precision(Z, Z_new, rows), *near, *new)


def figures_of(model: Any, rows: Drawn) -> Figures:
    """Those of an embedding, which is fitted here."""
    model.fit(rows.X, rows.Y)
    return figures(model.transform(rows.X), model.transform(rows.X_new), rows)
