"""CPU seconds of fits on the rows as they are and on relation features, and of the d x d problem.  [mu2012mesd]

Each fit runs on one BLAS thread and is timed once a draw, after a small fit that loads what it needs. The seconds of a
fit on relation features hold those of making the features of the training rows.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from papers.defc.flda_trials import fitted
from papers.entrants import OLPP_OBJECTIVE, Entrant
from papers.mesd_mope.entrants import joined
from proxembed import CCA, FDA, HSL, MESD, MOPE, OLPP, PCA
from proxembed.evaluate.results import reason_of
from proxembed.pairs.relation import relation

ORDINARY, GENERALISED = "P'P = I", "generalised"
LARGEST = 1800
WARM = 400
RIDGE = 0.1
TERMS = " terms"


def timed_entrants() -> tuple[Entrant, ...]:
    """The methods that are timed, with one setting each.

    Examples
    --------
    >>> from papers.mesd_mope.fit_seconds import timed_entrants
    >>> timed_entrants()[0].name
    'PCA'
    """
    scheme_3 = {"scheme": "classes", "similarity": "dice"}
    together = MOPE(**scheme_3, constraint="embedding", ridge=RIDGE)
    return (
        Entrant("PCA", PCA(), {}, ORDINARY),
        Entrant("OLPP", OLPP(objective=OLPP_OBJECTIVE, n_neighbors=15), {}, ORDINARY),
        Entrant("MOPE G3, Dice", MOPE(**scheme_3), {}, ORDINARY),
        Entrant("MOPE G3 and W, priority", joined(), {}, ORDINARY),
        Entrant("CCA", CCA(ridge=RIDGE), {}, GENERALISED),
        Entrant("HSL, zhou", HSL(ridge=RIDGE), {}, GENERALISED),
        Entrant("MESD(FDA)", MESD(FDA(ridge=RIDGE)), {}, GENERALISED),
        Entrant("MOPE G3, Dice, of embeddings", together, {}, GENERALISED),
    )


def square_entrants() -> tuple[Entrant, ...]:
    """The two problems of the paper's words that are solved by d x d matrices: ordinary and generalised."""
    return (
        Entrant("PCA", PCA(solver="primal"), {}, ORDINARY),
        Entrant("CCA", CCA(ridge=RIDGE, solver="primal"), {}, GENERALISED),
    )


def timed(entrant: Entrant, T: Any, Y: np.ndarray, prototypes: np.ndarray | None, related: bool) -> dict:
    """CPU seconds of one fit with at most 1,800 components.

    Parameters
    ----------
    entrant : Entrant
        Its estimator is fitted as it is.
    T : array or sparse matrix of shape (n, d)
        Training rows.
    Y : array of shape (n, c)
    prototypes : int array or None
        Rows of T to which the relation features are distances; None for all of them.
    related : bool
        Whether the fit is on relation features.

    Returns
    -------
    dict
        Plain data: ``entrant, group, cpu_seconds`` (None where it failed), ``of_features`` (the part of them that made
        the features), ``features, solver, components, seconds, failure``.
    """
    started, entry = time.perf_counter(), {"entrant": entrant.name, "group": entrant.group}
    entry |= {"cpu_seconds": None, "of_features": None, "features": None, "solver": None, "components": None}
    failure = None
    try:
        with threadpool_limits(1, user_api="blas"):
            clone(entrant.estimator).fit(T[:WARM][:, frequent(T, WARM)], Y[:WARM])
            entry |= _timed_fit(entrant.estimator, T, Y, prototypes, related)
    except Exception as error:
        failure = reason_of(error)
    return {**entry, "seconds": time.perf_counter() - started, "failure": failure}


def _timed_fit(estimator: Any, T: Any, Y: np.ndarray, prototypes: np.ndarray | None, related: bool) -> dict:
    started = time.process_time()
    R = T
    if related:
        R = relation("euclidean", T, T if prototypes is None else T[prototypes])
    made = time.process_time() - started
    model, Z = fitted(estimator, LARGEST, R, Y)
    spent = time.process_time() - started
    sizes = {"features": R.shape[1], "components": Z.shape[1]}
    return {"cpu_seconds": spent, "of_features": made, "solver": model.solver_, **sizes}


def square_timed(entrant: Entrant, T: Any, Y: np.ndarray, width: int) -> dict:
    """CPU seconds of a fit by d x d matrices on the ``width`` terms that most documents have; an entry as of ``timed``.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from papers.mesd_mope.fit_seconds import square_entrants, square_timed
    >>> rng = np.random.default_rng(0)
    >>> T = csr_array(rng.uniform(size=(30, 9)))
    >>> found = square_timed(square_entrants()[0], T, rng.integers(2, size=(30, 2)), 4)
    >>> found["entrant"], found["features"], found["solver"]
    ('PCA, 4 terms', 4, 'primal')
    """
    return {**timed(entrant, T[:, frequent(T, width)], Y, None, False), "entrant": square_name(entrant.name, width)}


def frequent(T: Any, width: int) -> np.ndarray:
    """The columns in which most rows have a value, ascending; at most ``width``.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.fit_seconds import frequent
    >>> frequent(np.array([[1, 0, 2], [0, 0, 1]]), 2)
    array([0, 2])
    """
    counts = np.bincount(T.nonzero()[1], minlength=T.shape[1])
    return np.sort(np.argsort(-counts, kind="stable")[:width])


def square_name(name: str, width: int) -> str:
    """The entry of a method on a given number of terms.

    Examples
    --------
    >>> from papers.mesd_mope.fit_seconds import square_name
    >>> square_name("PCA", 3000)
    'PCA, 3,000 terms'
    """
    return f"{name}, {width:,}{TERMS}"


def cubic(seconds: float, width: int, d: float) -> float:
    """The seconds of a d x d problem, from those measured on ``width`` terms, by d^3.

    Examples
    --------
    >>> from papers.mesd_mope.fit_seconds import cubic
    >>> cubic(2.0, 1000, 3000)
    54.0
    """
    return seconds * (d / width) ** 3
