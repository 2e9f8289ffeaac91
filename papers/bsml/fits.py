"""The fits of the Bayesian multi-label experiments: which there are of each data set, and the measures of each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from papers.bsml.readings import Reading, of_probabilities, reading
from papers.groups import row_groups
from proxembed import BSML, BSSML, MDDM, MLDA, MLLS, PCA, VariationalProbit
from proxembed.data import Dataset
from proxembed.evaluate.results import reason_of
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.proximity.backends import nearest
from proxembed.splits.splits import Split, standard_split

PROBIT = "PROBIT"
BASELINES = {f"{cls.__name__}+{PROBIT}": cls for cls in (PCA, MDDM, MLLS, MLDA)}
DIMENSIONS = {
    "emotions": tuple(range(1, 7)),
    "scene": tuple(range(1, 7)),
    "yeast": tuple(range(1, 15)),
    "tmc2007-500": tuple(range(1, 23)),
}
NEIGHBORS = 15  # an odd number: no share of them is a half
PREDICTIVES = ("printed", "corrected", "full")


@dataclass(frozen=True)
class SplitRows:
    """Training and test rows of a data set, dense, each feature standardised by the training rows, and the groups of
    the test rows (``papers.groups``)."""

    name: str
    X: np.ndarray
    Y: np.ndarray
    X_test: np.ndarray
    Y_test: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset, seed: int | tuple[int, int] | None = None) -> SplitRows:
        """The rows of the standard split; with a seed those of a random split with parts of the same sizes."""
        given: Any = dataset.X
        X = np.asarray(given.toarray() if sp.issparse(given) else given, dtype=np.float64)
        Y, split = dataset.Y.toarray().astype(np.int64), standard_split(dataset)
        if seed is not None:
            order = np.random.default_rng(seed).permutation(np.concatenate([split.train, split.held_out]))
            split = Split("random", np.sort(order[: len(split.train)]), np.sort(order[len(split.train) :]))
        state = scaling_fit("standard", X[split.train])
        parts = (scaling_apply(state, X[part]) for part in (split.train, split.held_out))
        found, found_test = (np.ascontiguousarray(part) for part in parts)
        rows = split.held_out
        groups = row_groups(len(rows)) if seed is None else row_groups(len(Y), rows)
        return cls(dataset.name, found, Y[split.train], found_test, Y[rows], groups)


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
    """Every fit of a data set, as plain updates with exactly ``plan.sweeps`` sweeps."""
    plainly = {"accelerate": False, "tol": 0, "max_iter": plan.sweeps}
    bsml, bssml = BSML(**plainly), BSSML(**plainly)
    seeds = [plan.seed + i for i in range(plan.starts)]
    found = [Fit(PROBIT, PROBIT, VariationalProbit(**plainly))]
    for method, model, kind in (("BSML", bsml, "classifier"), ("BSSML", bssml, "transductive")):
        found.append(Fit(f"{method}, svd", method, model, kind, "svd", labels))
        found += [_started(method, model, kind, labels, seed) for seed in seeds]
    printed = clone(bssml).set_params(margin=0.5)
    found.append(Fit("BSSML, printed, svd", "BSSML, printed margin", printed, "transductive", "svd", labels))
    sparse = clone(bsml).set_params(prior="column")
    found += [_started("BSML+ARD", sparse, "classifier", labels, plan.seed + i) for i in range(plan.relevance_starts)]
    return found + _curves(name, labels, bsml, plainly)


def redrawn_fits(labels: int, plan: Any) -> list[Fit]:
    """The fits that are asked of a random split beside the given one: PROBIT, BSML and BSSML from their svd starts."""
    return [
        fit for fit in fits_of("", labels, plan) if fit.method == PROBIT or (fit.start == "svd" and fit.k == labels)
    ]


def drawn_fits(name: str, labels: int, plan: Any) -> list[Fit]:
    """The fits that are asked of random draws of the split: those of the paper's figures, over the dimension."""
    return [fit for fit in fits_of(name, labels, plan) if fit.start in ("svd", "") and fit.kind != "transductive"]


def _started(method: str, model: Any, kind: str, labels: int, seed: int) -> Fit:
    """A random start with as many components as labels."""
    chosen = clone(model).set_params(init="random", random_state=seed, n_components=labels)
    return Fit(f"{method}, random {seed}", method, chosen, kind, f"random {seed}", labels)


def _curves(name: str, labels: int, bsml: BSML, plainly: dict) -> list[Fit]:
    """BSML from its svd start and the baselines at every smaller number of components (BSML's largest is there)."""
    found = []
    for k in (k for k in DIMENSIONS.get(name, ()) if k <= labels):
        if k < labels:
            model = clone(bsml).set_params(n_components=k)
            found.append(Fit(f"BSML, svd, R = {k}", "BSML", model, "classifier", "svd", k))
        for method, cls in BASELINES.items():
            if cls is not MLDA or k < labels:
                found.append(Fit(f"{method}, R = {k}", method, cls(n_components=k), "reduced", "", k, plainly))
    return found


def compete(fit: Fit, rows: SplitRows) -> dict:
    """Fit once and measure on the test rows.

    Returns
    -------
    dict
        Plain data: ``entrant, method, start, k, bound, active, seconds, cpu_seconds, failure, notes`` and the reading
        of the measures, ``scores, without``; ``neighbors``: the reading of nearest neighbours on the embedding;
        ``predictives``: those of BSML's probabilities. CPU seconds are of training alone. A fit that failed has the
        reason, and no scores.
    """
    started, failure = time.perf_counter(), None
    found: dict[str, Any] = dict.fromkeys(("scores", "without", "neighbors", "predictives", "bound", "active"))
    found["cpu_seconds"] = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found |= KINDS[fit.kind](fit, rows)
        except Exception as error:
            failure = reason_of(error)
    return {
        "entrant": fit.name,
        "method": fit.method,
        "start": fit.start,
        "k": fit.k,
        **found,
        "seconds": time.perf_counter() - started,
        "failure": failure,
        "notes": sorted({" ".join(str(each.message).split()) for each in caught}),
    }


def _train(fit: Fit, rows: SplitRows) -> tuple[Any, float]:
    """A fitted classifier, and the CPU seconds of its training."""
    began = time.process_time()
    model = clone(fit.model).fit(rows.X, rows.Y)
    return model, time.process_time() - began


def _train_reduced(fit: Fit, rows: SplitRows) -> tuple[Any, np.ndarray, np.ndarray, float]:
    """PROBIT on the components of a reduction, which are returned of training and test rows, and the CPU seconds."""
    began = time.process_time()
    Z, Z_test = _standardised(clone(fit.model).fit(rows.X, rows.Y), rows)
    model = VariationalProbit(**fit.sweeps).fit(Z, rows.Y)
    return model, Z, Z_test, time.process_time() - began


def timed_fits(name: str, labels: int, plan: Any) -> list[Fit]:
    """The fits whose training is timed again: PROBIT, BSML from its svd start, and each reduction, at their largest."""
    largest = {fit.method: fit for fit in sorted(fits_of(name, labels, plan), key=lambda fit: fit.k or 0)
               if fit.start in ("svd", "")}  # fmt: skip
    return [largest[method] for method in (PROBIT, "BSML", *BASELINES)]


def time_run(run: str, fits: Sequence[Fit], rows: SplitRows) -> dict:
    """One run of ``timed_fits``: the CPU seconds of each method's training.

    Returns
    -------
    dict
        Plain data: ``entrant, cpu_seconds, seconds, failure``.
    """
    began = time.perf_counter()
    spent = {fit.method: (_train_reduced if fit.kind == "reduced" else _train)(fit, rows)[-1] for fit in fits}
    return {"entrant": run, "cpu_seconds": spent, "seconds": time.perf_counter() - began, "failure": None}


def _classifier(fit: Fit, rows: SplitRows) -> dict:
    model, spent = _train(fit, rows)
    found = _told(model, rows, model.predict(rows.X_test), model.predict_proba(rows.X_test), spent)
    if fit.method == "BSML" and fit.start == "svd":
        found["neighbors"] = by_neighbors(*_standardised(model, rows), rows)
        if fit.k == rows.Y.shape[1]:
            found["predictives"] = {each: _predictive(model, rows, each) for each in PREDICTIVES}
    return found


def _transductive(fit: Fit, rows: SplitRows) -> dict:
    """All rows take part; the labels of the test rows are unknown, and those inferred for them are measured."""
    y = np.vstack([rows.Y, np.full(rows.Y_test.shape, np.nan)])
    began = time.process_time()
    model = clone(fit.model).fit(np.vstack([rows.X, rows.X_test]), y)
    spent = time.process_time() - began
    inferred = model.transduction_[len(rows.Y) :].astype(np.int64)
    return _told(model, rows, inferred, model.transductive_scores_[len(rows.Y) :], spent)


def _reduced(fit: Fit, rows: SplitRows) -> dict:
    model, Z, Z_test, spent = _train_reduced(fit, rows)
    found = _told(model, rows, model.predict(Z_test), model.predict_proba(Z_test), spent)
    return {**found, "neighbors": by_neighbors(Z, Z_test, rows)}


KINDS: dict[str, Callable[[Fit, SplitRows], dict]] = {
    "classifier": _classifier,
    "transductive": _transductive,
    "reduced": _reduced,
}


def _standardised(embedder: Any, rows: SplitRows) -> tuple[np.ndarray, np.ndarray]:
    """The components of training and test rows, each standardised by the training rows."""
    Z, Z_test = (np.asarray(embedder.transform(X), dtype=np.float64) for X in (rows.X, rows.X_test))
    state = scaling_fit("standard", Z)
    return scaling_apply(state, Z), scaling_apply(state, Z_test)


def by_neighbors(Z: np.ndarray, Z_test: np.ndarray, rows: SplitRows) -> Reading:
    """The reading of the nearest neighbours' labels: a label where most of them have it, their share as its score."""
    found = nearest(Z, min(NEIGHBORS, len(Z)), queries=Z_test)
    shares = rows.Y[found.index].mean(axis=1)
    return reading(rows.Y_test, shares > 0.5, shares, groups=rows.groups)


def _predictive(model: BSML, rows: SplitRows, name: str) -> Reading:
    """The reading of the probabilities under one predictive distribution."""
    P = model.set_params(predictive=name).predict_proba(rows.X_test)
    return reading(rows.Y_test, P > 0.5, P, of_probabilities, rows.groups)


def _told(model: Any, rows: SplitRows, predicted: Any, scores: np.ndarray, spent: float) -> dict:
    """The measures, the final bound, the components in use of an embedding, and the CPU seconds of training."""
    return {
        **reading(rows.Y_test, predicted, scores, groups=rows.groups),
        "bound": float(model.lower_bound_[-1]),
        "active": getattr(model, "n_active_", None),
        "cpu_seconds": spent,
    }
