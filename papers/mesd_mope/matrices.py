"""The proximity matrices of Figure 2: of features, of labels by existing methods and by MOPE's schemes, and combined.

[mu2012mesd]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from papers.mesd_mope.entrants import LABEL_SCHEMES, PUBLISHED
from proxembed import CCA, HSL, MOPE
from proxembed.estimator.rows import Rows
from proxembed.proximity.reordering import covat
from proxembed.report.matrices import agreement
from proxembed.targets.labels import LabelMatrix

LABELS, FEATURES, TOGETHER = "Y", "W", "Psi of G3 and W"
SCHEMES = tuple(LABEL_SCHEMES)
HYPERGRAPHS = ("HSL, zhou", "HSL, clique", "HSL, star")
EXISTING = ("CCA", *HYPERGRAPHS)
MATRICES = (FEATURES, *EXISTING, *SCHEMES, TOGETHER)


def proximity_matrix(name: str, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """One of ``MATRICES`` for rows X with labels Y: what the method of this name maximises, without centring.

    W holds the Gaussian weights of all pairs, with the median squared distance as the width, over the largest. Labels
    of CCA are centred, as the method has them.

    Parameters
    ----------
    name : str
    X : array of shape (n, d)
    Y : array of shape (n, c)
        0 and 1.

    Returns
    -------
    array of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.matrices import proximity_matrix
    >>> proximity_matrix("MOPE G1, Dice", np.eye(3), np.array([[1, 0], [0, 1], [1, 0]]))
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    model, rows = clone(_stated(name)), Rows(X, LabelMatrix.of(Y))
    model.resolve()
    model.make_ready(rows)
    return model.template(rows).A.todense()


def _stated(name: str) -> Any:
    """The method that maximises a matrix; W is the extended (43) with no share of the labels."""
    if name == "CCA":
        return CCA()
    if name in HYPERGRAPHS:
        return HSL(expansion=name.partition(", ")[2], center=False)
    if name in (FEATURES, TOGETHER):
        share = 0.0 if name == FEATURES else 1.0
        return MOPE(scheme="classes", similarity="dice", weights="gaussian", graph="full", gamma=share, center=False)
    return MOPE(**LABEL_SCHEMES[name], center=False)


def sharpness(matrix: np.ndarray, Y: np.ndarray) -> float | None:
    """How sharply a proximity matrix shows the classes: its correlation over pairs of rows with whether they share one.

    It does not depend on the unit of the matrix; None where one of both is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.matrices import sharpness
    >>> Y = np.array([[1, 0], [0, 1], [1, 0]])
    >>> sharpness(5.0 * Y @ Y.T, Y)
    1.0
    """
    return agreement(matrix, (Y @ Y.T > 0).astype(np.float64))


def measured(name: str, X: np.ndarray, Y: np.ndarray) -> dict:
    """The entry of a matrix: its sharpness, as plain data."""
    started = time.perf_counter()
    value = sharpness(proximity_matrix(name, X, Y), Y)
    seconds = time.perf_counter() - started
    return {"entrant": name, "group": PUBLISHED if name in EXISTING else "", "sharpness": value, "seconds": seconds,
            "failure": None if value is not None else "a matrix without contrast"}  # fmt: skip


def ordered(names: tuple[str, ...], X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The columns of Y and the matrices of some names with rows in the order that coVAT gives Y.  [bezdek2007covat]

    Returns
    -------
    columns : array of shape (c,)
        The order of the labels.
    matrices : dict of str to array
        Y, of shape (n, c), under ``LABELS``, then those of shape (n, n).
    """
    found = covat(1 - Y, limit=len(Y))
    square = np.ix_(found.rows, found.rows)
    matrices = {name: proximity_matrix(name, X, Y)[square] for name in names}
    return found.columns, {LABELS: 1.0 - found.matrix, **matrices}
