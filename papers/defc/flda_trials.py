"""Trials of a paper's experiment: fit, embed, a Fisher discriminant per label, macro F1; chosen by validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from papers.entrants import Entrant, changed_parameters
from papers.experiment import plain
from papers.groups import without_each
from papers.mesd_mope.reuters_ten import Stage
from proxembed import SSDR, Kernelized
from proxembed.classify import FLDAClassifier
from proxembed.evaluate.results import reason_of
from proxembed.measures.metrics import label_f1, macro_f1
from proxembed.targets.values import dense_labels

ALL_POSITIVE = 1 - 1e-9
THRESHOLDS = ("midpoint", "prior")
RIDGES = (1e-8, 1e-6, 1e-4, 1e-2)


@dataclass
class _Best:
    """The best of an entrant so far: its validation score, and what is needed to score the test rows."""

    value: float = -1.0
    k: int | None = None
    configuration: Any = None
    model: Any = None
    Z: Any = None


def chosen_readout(stage: Stage) -> dict:
    """The cut and the ridge of the discriminants, the same for all: best on the validation part with no embedding.

    Returns
    -------
    dict
        ``threshold`` and ``ridge`` of ``FLDAClassifier``.
    """
    options = [{"threshold": cut, "ridge": ridge} for ridge in RIDGES for cut in THRESHOLDS]
    rows = stage.labelled
    scores = [
        f1_of(stage.R[rows], stage.Y[rows], stage.R_validation, stage.Y_validation, readout) for readout in options
    ]
    return options[int(np.argmax(scores))]


def f1_of(Z: np.ndarray, Y: np.ndarray, Z_new: np.ndarray, Y_new: np.ndarray, readout: dict) -> float:
    """Macro F1 on new rows of one Fisher discriminant per label, trained on Z.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.defc.flda_trials import f1_of
    >>> Z = np.arange(8.0)[:, None]
    >>> Y = np.hstack([Z > 3, Z < 4]).astype(int)
    >>> f1_of(Z, Y, Z, Y, {"threshold": "midpoint"})
    1.0
    """
    return macro_f1(Y_new, FLDAClassifier(**readout).fit(Z, Y).predict(Z_new)).value


def fitted(estimator: Any, largest: int, X: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """A fitted clone with as many components as it has, at most ``largest``, and its embedding of X.

    A method with fewer takes all with a positive eigenvalue, else its natural number.
    """
    width = X.shape[0] if isinstance(estimator, Kernelized) else X.shape[1]
    limit = min(largest, width, X.shape[0] - 1)
    for k in (limit, ALL_POSITIVE, None):
        model = clone(estimator).set_params(n_components=k)
        try:
            return model, np.asarray(model.fit_transform(X, y), dtype=np.float64)
        except ValueError:
            if k is None:
                raise
    raise AssertionError("the natural number is the last that is tried")


def compete(
    entrant: Entrant, stage: Stage, sizes: tuple[int, ...], readout: dict, limit: int | None, seed: int
) -> dict:
    """Try every configuration at every size on the validation part; score the best one on the test part, once.

    Parameters
    ----------
    entrant : Entrant
    stage : Stage
    sizes : tuple of int
        Numbers of components; a method that has fewer also takes part with all that it has.
    readout : dict
        From ``chosen_readout``.
    limit : int or None
        Configurations tried at most; None for the whole grid.
    seed : int

    Returns
    -------
    dict
        Plain data: ``entrant, group, chosen, k, validation, test, labels, without, tried, seconds, failure, notes``;
        ``without``: the test score without each group of test documents.
    """
    return _entry(entrant, entrant.configurations(limit, seed), stage, sizes, readout)


def compete_at(
    entrant: Entrant, stage: Stage, k: int, tuned: Mapping[str, Any], readout: dict, limit: int | None, seed: int
) -> dict:
    """Score the setting that an entry of ``compete`` chose at one size on the test part, as a paper prints it.

    A method with fewer components completes them by directions of eigenvalue 0 (``fill="null"``) where it can. An entry
    without a size (labels predicted directly, no embedding, nothing fitted) is returned as it is.

    Parameters
    ----------
    entrant, stage, readout, limit, seed
        As in ``compete``.
    k : int
        Number of components.
    tuned : mapping
        The entry of ``compete``.
    """
    if entrant.direct or entrant.estimator is None or tuned["test"] is None:
        return {name: value for name, value in tuned.items() if name != "run"}
    found = (each for each in entrant.configurations(limit, seed) if plain(changed_parameters(each)) == tuned["chosen"])
    return _entry(entrant, [completed(next(found))], stage, (k,), readout)


def completed(estimator: Any) -> Any:
    """A clone with ``fill="null"`` wherever it has that parameter; of SSDR as it is, whose members take none.

    Examples
    --------
    >>> from proxembed import CCA, MESD, OLPP, PCA, SSDR
    >>> from papers.defc.flda_trials import completed
    >>> completed(CCA()), completed(MESD(CCA())).method.fill, completed(PCA())
    (CCA(fill='null'), 'null', PCA())
    >>> completed(SSDR(CCA(), OLPP())).supervised.fill
    'none'
    """
    fills = estimator.get_params() if not isinstance(estimator, SSDR) else ()
    names = [name for name in fills if name == "fill" or name.endswith("__fill")]
    return clone(estimator).set_params(**dict.fromkeys(names, "null"))


def _entry(
    entrant: Entrant, configurations: Sequence[Any], stage: Stage, sizes: tuple[int, ...], readout: dict
) -> dict:
    """The best of some configurations and sizes on the validation part, scored on the test part once."""
    started, best, tried = time.perf_counter(), _Best(), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for configuration in configurations:
            tried.append(_try(entrant, configuration, stage, sizes, readout, best))
        (test, labels, without), failure = _test_or_reason(entrant, stage, readout, best)
    lost = [each["failure"] for each in tried if each["failure"]]
    return {
        "entrant": entrant.name,
        "group": entrant.group,
        "chosen": None if test is None else changed_parameters(best.configuration),
        "k": best.k,
        "validation": None if test is None else best.value,
        "test": test,
        "labels": labels,
        "without": without,
        "tried": tried,
        "seconds": time.perf_counter() - started,
        "failure": failure or (lost[0] if test is None and lost else None),
        "notes": sorted({" ".join(str(each.message).split()) for each in caught}),
    }


def _try(entrant: Entrant, configuration: Any, stage: Stage, sizes, readout: dict, best: _Best) -> dict:
    """One configuration at every size on the validation part; ``best`` is changed where it is beaten."""
    started, curve, failure, rows = time.perf_counter(), {}, None, stage.labelled
    try:
        if entrant.direct:
            model, Z = clone(configuration).fit(stage.R, stage.y), None
            curve = {0: macro_f1(stage.Y_validation, dense_labels(model.predict(stage.R_validation))).value}
        else:
            model, Z, Z_validation = _embedding(configuration, stage, max(sizes))
            widths = {Z.shape[1]} if configuration is None else {min(k, Z.shape[1]) for k in sizes}
            for k in sorted(widths):
                curve[k] = f1_of(Z[:, :k], stage.Y[rows], Z_validation[:, :k], stage.Y_validation, readout)
    except Exception as error:
        curve, failure = {}, reason_of(error)
    for k, value in curve.items():
        if value > best.value:
            best.value, best.k, best.configuration, best.model, best.Z = value, k or None, configuration, model, Z
    seconds = time.perf_counter() - started
    scores = {str(k): value for k, value in curve.items()}
    return {"parameters": changed_parameters(configuration), "scores": scores, "seconds": seconds, "failure": failure}


def _embedding(configuration: Any, stage: Stage, largest: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """The fitted model, and the embeddings of the labelled training rows and of the validation rows."""
    rows = stage.labelled
    if configuration is None:
        return None, stage.R[rows], stage.R_validation
    model, Z = fitted(configuration, largest, stage.R, stage.y)
    return model, Z[rows], np.asarray(model.transform(stage.R_validation), dtype=np.float64)


def _test_or_reason(entrant: Entrant, stage: Stage, readout: dict, best: _Best) -> tuple[tuple, str | None]:
    """What ``_test`` returns and None, or no score and the reason."""
    try:
        return _test(entrant, stage, readout, best), None
    except Exception as error:
        return (None, {}, None), f"on the test part: {reason_of(error)}"


def _test(entrant: Entrant, stage: Stage, readout: dict, best: _Best) -> tuple:
    """Macro F1 on the test part, the F1 of each label, macro F1 without each group; None where nothing was fitted."""
    if best.value < 0:
        return None, {}, None
    if entrant.direct:
        predicted = best.model.predict(stage.R_test)
    else:
        Z = stage.R_test if best.model is None else np.asarray(best.model.transform(stage.R_test), dtype=np.float64)
        classifier = FLDAClassifier(**readout).fit(best.Z[:, : best.k], stage.Y[stage.labelled])
        predicted = classifier.predict(Z[:, : best.k])
    predicted = dense_labels(predicted)
    Y, each = stage.Y_test, np.nan_to_num(label_f1(stage.Y_test, predicted))
    without = without_each(stage.test_groups, lambda kept: macro_f1(Y[kept], predicted[kept]).value)
    return macro_f1(Y, predicted).value, dict(zip(stage.names, each.tolist(), strict=True)), without
