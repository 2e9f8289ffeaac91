"""The fits of the Bayesian multi-label experiments: which there are of each data set, and the measures of each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from proxembed import BSML, BSSML, MDDM, MLDA, MLLS, PCA, VariationalProbit
from proxembed.data import Dataset
from proxembed.evaluate.decisions import hamming_loss, macro_f1, micro_f1
from proxembed.evaluate.metrics import dense_labels
from proxembed.evaluate.results import reason_of
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.splits.splits import standard_split

HAMMING, AUC, MACRO, MICRO = "Hamming loss", "average AUC", "macro F1", "micro F1"
MEASURES = (HAMMING, AUC, MACRO, MICRO)
PROBIT = "PROBIT"
BASELINES = {f"{cls.__name__}+{PROBIT}": cls for cls in (PCA, MDDM, MLLS, MLDA)}
DIMENSIONS = {
    "emotions": tuple(range(1, 7)),
    "scene": tuple(range(1, 7)),
    "yeast": tuple(range(1, 15)),
    "tmc2007-500": (2, 10, 22),
}


@dataclass(frozen=True)
class Rows:
    """Training and test rows of a data set, dense, each feature standardised by the training rows."""

    name: str
    X: np.ndarray
    Y: np.ndarray
    X_test: np.ndarray
    Y_test: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> Rows:
        """The rows of the standard split."""
        given: Any = dataset.X
        X = np.asarray(given.toarray() if sp.issparse(given) else given, dtype=np.float64)
        Y, split = dataset.Y.toarray().astype(np.int64), standard_split(dataset)
        state = scaling_fit("standard", X[split.train])
        parts = (scaling_apply(state, X[part]) for part in (split.train, split.held_out))
        found, found_test = (np.ascontiguousarray(part) for part in parts)
        return cls(dataset.name, found, Y[split.train], found_test, Y[split.held_out])


@dataclass(frozen=True)
class Fit:
    """One fit of the experiment: a name of its own, the method and start in the tables' words, the unfitted model.

    ``kind`` is "classifier", "transductive" (the test rows are there, unlabelled) or "reduced" (VariationalProbit on
    the standardised embedding).
    """

    name: str
    method: str
    model: Any
    kind: str = "classifier"
    start: str = ""
    k: int | None = None
    sweeps: dict = field(default_factory=dict)


def fits_of(name: str, labels: int, plan: Any) -> list[Fit]:
    """Every fit of a data set with so many labels, as plain updates with exactly ``plan.sweeps`` sweeps."""
    plainly = {"accelerate": False, "tol": 0, "max_iter": plan.sweeps}
    bsml, bssml = BSML(**plainly), BSSML(**plainly)
    seeds = [plan.seed + i for i in range(plan.starts)]
    found = [Fit(PROBIT, PROBIT, VariationalProbit(**plainly))]
    for method, model, kind in (("BSML", bsml, "classifier"), ("BSSML", bssml, "transductive")):
        found.append(Fit(f"{method}, svd", method, model, kind, "svd", labels))
        found += [_started(method, model, kind, labels, seed) for seed in seeds]
    printed = clone(bssml).set_params(margin=0.5)
    found.append(Fit("BSSML, printed, svd", "BSSML, printed margin", printed, "transductive", "svd", labels))
    sparse = clone(bsml).set_params(ard=True)
    found += [_started("BSML+ARD", sparse, "classifier", labels, plan.seed + i) for i in range(plan.relevance_starts)]
    return found + _curves(name, labels, bsml, plainly)


def _started(method: str, model: Any, kind: str, labels: int, seed: int) -> Fit:
    """A random start with as many components as labels."""
    chosen = clone(model).set_params(init="random", random_state=seed, n_components=labels)
    return Fit(f"{method}, random {seed}", method, chosen, kind, f"random {seed}", labels)


def _curves(name: str, labels: int, bsml: BSML, plainly: dict) -> list[Fit]:
    """BSML from its svd start and the baselines at every smaller number of components (BSML's largest is there)."""
    found = []
    for k in (k for k in DIMENSIONS[name] if k <= labels):
        if k < labels:
            model = clone(bsml).set_params(n_components=k)
            found.append(Fit(f"BSML, svd, R = {k}", "BSML", model, "classifier", "svd", k))
        for method, cls in BASELINES.items():
            if cls is not MLDA or k < labels:
                found.append(Fit(f"{method}, R = {k}", method, cls(n_components=k), "reduced", "", k, plainly))
    return found


def compete(fit: Fit, rows: Rows) -> dict:
    """Fit once and measure on the test rows.

    Returns
    -------
    dict
        Plain data: ``entrant, method, start, k, scores, bound, active, seconds, cpu_seconds, failure, notes``; no
        scores and the reason where the fit failed.
    """
    started, cpu, failure = time.perf_counter(), time.process_time(), None
    found: dict[str, Any] = {"scores": None, "bound": None, "active": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = KINDS[fit.kind](fit, rows)
        except Exception as error:
            failure = reason_of(error)
    return {
        "entrant": fit.name,
        "method": fit.method,
        "start": fit.start,
        "k": fit.k,
        **found,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu,
        "failure": failure,
        "notes": sorted({" ".join(str(each.message).split()) for each in caught}),
    }


def _classifier(fit: Fit, rows: Rows) -> dict:
    model = clone(fit.model).fit(rows.X, rows.Y)
    return _told(model, rows.Y_test, model.predict(rows.X_test), model.predict_proba(rows.X_test))


def _transductive(fit: Fit, rows: Rows) -> dict:
    """All rows take part; the labels of the test rows are unknown, and those inferred for them are measured."""
    y = np.vstack([rows.Y, np.full(rows.Y_test.shape, np.nan)])
    model = clone(fit.model).fit(np.vstack([rows.X, rows.X_test]), y)
    inferred = model.transduction_[len(rows.Y) :].astype(np.int64)
    return _told(model, rows.Y_test, inferred, model.transductive_scores_[len(rows.Y) :])


def _reduced(fit: Fit, rows: Rows) -> dict:
    embedder = clone(fit.model).fit(rows.X, rows.Y)
    Z, Z_test = (np.asarray(embedder.transform(X), dtype=np.float64) for X in (rows.X, rows.X_test))
    state = scaling_fit("standard", Z)
    model = VariationalProbit(**fit.sweeps).fit(scaling_apply(state, Z), rows.Y)
    Z_test = scaling_apply(state, Z_test)
    return _told(model, rows.Y_test, model.predict(Z_test), model.predict_proba(Z_test))


KINDS: dict[str, Callable[[Fit, Rows], dict]] = {
    "classifier": _classifier,
    "transductive": _transductive,
    "reduced": _reduced,
}


def _told(model: Any, Y: np.ndarray, predicted: Any, scores: np.ndarray) -> dict:
    """The four measures, the final bound and, of an embedding, the components in use."""
    return {
        "scores": measures(Y, predicted, scores),
        "bound": float(model.lower_bound_[-1]),
        "active": getattr(model, "n_active_", None),
    }


def measures(Y: np.ndarray, predicted: Any, scores: np.ndarray) -> dict[str, float | None]:
    """Hamming loss, average AUC (over labels that test rows have and lack), macro and micro F1.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.bsml.fits import measures
    >>> Y, S = np.array([[1, 0], [0, 0]]), np.array([[0.9, 0.2], [0.4, 0.6]])
    >>> measures(Y, S > 0.5, S)["Hamming loss"], measures(Y, S > 0.5, S)["average AUC"]
    (0.25, 1.0)
    """
    predicted = dense_labels(predicted)
    both = Y.any(axis=0) & ~Y.all(axis=0)
    area = float(np.mean([roc_auc_score(Y[:, j], scores[:, j]) for j in np.flatnonzero(both)])) if both.any() else None
    values: tuple = hamming_loss(Y, predicted), area, macro_f1(Y, predicted).value, micro_f1(Y, predicted)
    return dict(zip(MEASURES, values, strict=True))
