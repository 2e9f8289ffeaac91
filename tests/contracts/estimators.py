"""Every public estimator, what it takes, and small data that it can be fitted on."""

from __future__ import annotations

import inspect

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

import proxembed
import strategies
from designs import in_turn
from proxembed import LSI, MLSI, SLVM
from proxembed.estimator.base import Embedder, SpectralEmbedder
from proxembed.estimator.predicts import PredictsOutputs
from proxembed.evaluate.rivals.rival import rivals
from proxembed.params import declared

N, D = 40, 9
X, Y = strategies.labelled_rows(N, D, 4, 3)
CLASSES = strategies.labels_classes(N, 4, 3)


def public() -> list[type]:
    """Every public estimator class, from the list of names that the package gives out."""
    found = {value for name in proxembed.__all__ if inspect.isclass(value := getattr(proxembed, name))}
    return sorted((cls for cls in found if issubclass(cls, BaseEstimator)), key=lambda cls: cls.__name__)


# Of the two searches a few candidates say what the contract asks; ``make test-slow`` has their default budgets.
BUDGETS = {
    "BSML": {"tol": 1e-2},
    "BSSML": {"tol": 1e-2},
    "DEFC": {"max_evals": 4, "cv": 2},
    "EmbeddingSearch": {"methods": ["opls", "mvmd"], "max_trials": 2, "cv": 2},
    "ForestLeaves": {"n_estimators": 10},
    "TargetSpace": {"n_estimators": 20},
    "Views": {"n_estimators": 10},
}


def build(cls: type, **options) -> BaseEstimator:
    """An estimator in default construction but for the options, those that take long with a small budget."""
    return cls(**BUDGETS.get(cls.__name__, {}) | options)


def kind(cls: type) -> str | None:
    """The labels that an estimator takes in default construction; the two that are no Embedder take several a row."""
    return cls().traits.labels if issubclass(cls, Embedder) else "multi"


def y_for(cls: type) -> np.ndarray | None:
    return {None: None, "single": CLASSES, "multi": Y}[kind(cls)]


EVERY = public()
SPECTRAL = [cls for cls in EVERY if issubclass(cls, SpectralEmbedder)]
SUPERVISED = [cls for cls in EVERY if kind(cls) is not None]
LABELLED = [cls for cls in SPECTRAL if kind(cls) is not None]
SINGLE = [cls for cls in EVERY if kind(cls) == "single"]
MULTI = [cls for cls in EVERY if kind(cls) == "multi"]
READINGS = ("transform", "predict", "predict_proba", "decision_function")


def predicts_labels(cls: type) -> bool:
    """Whether it predicts labels; some linear methods predict numbers alone."""
    return hasattr(cls, "predict") and not issubclass(cls, PredictsOutputs)


def role(cls: type) -> tuple:
    """What a class shares with its like: the eigenproblem, the labels that it takes, and what it tells of rows."""
    return issubclass(cls, SpectralEmbedder), kind(cls), hasattr(cls, "transform"), predicts_labels(cls)


# One class per role: in every test. `every` and its like add half of the others, in rotation over the tests, or one in
# six where a fit takes a tenth of a second; `several` and its like one in six: for rules that one place of the package
# keeps for all classes.
REPRESENTATIVES = {role(cls): cls for cls in EVERY if cls.__name__ not in BUDGETS}.values()
COSTLY = [cls for cls in EVERY if cls.__name__ in (*BUDGETS, "Layout", "RankSVM")]
every, spectral, supervised, labelled, single, multi = (
    in_turn("cls", group, lambda cls: 6 if cls in COSTLY else 2, REPRESENTATIVES, ids=lambda c: c.__name__)
    for group in (EVERY, SPECTRAL, SUPERVISED, LABELLED, SINGLE, MULTI)
)
several, several_spectral, several_supervised, several_labelled, several_multi = (
    in_turn("cls", group, 6, REPRESENTATIVES, ids=lambda c: c.__name__)
    for group in (EVERY, SPECTRAL, SUPERVISED, LABELLED, MULTI)
)


def readings(estimator, rows) -> dict[str, np.ndarray]:
    """All that an estimator tells of rows, by the name of the method."""
    return {name: dense(getattr(estimator, name)(rows)) for name in READINGS if hasattr(estimator, name)}


def output(estimator, rows) -> np.ndarray:
    return estimator.transform(rows) if hasattr(estimator, "transform") else estimator.decision_function(rows)


def gram_distance(Z, other) -> float:
    return float(np.linalg.norm(Z @ Z.T - other @ other.T) / np.linalg.norm(other @ other.T))


def dense(Z) -> np.ndarray:
    return Z.toarray() if sp.issparse(Z) else np.asarray(Z)


# Rivals that are estimators and need no further library, and a small one of each.
RIVALS = [cls for cls in rivals() if issubclass(cls, BaseEstimator) and cls.library is None]
SMALL_RIVALS = [
    cls(**{name: value for name, value in {"n_estimators": 15, "max_iter": 5}.items() if name in declared(cls)})
    for cls in RIVALS
]
CENTRED = [cls for cls in SPECTRAL if cls not in (LSI, MLSI, SLVM)]
