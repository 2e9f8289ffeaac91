"""What must hold of every fit that succeeds. A law returns what is broken, or None."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

import proxembed

from .limits import Refusal, attempt
from .trial import Outputs, Trial, dense, distance

# sparse rows are scaled without centring, or left as they are, as their docs say
SCALES_BY_STORAGE = ("EmbeddingSearch", "Scaling", "TableEncoder")
BY_NAME = ("TableEncoder",)  # finds the columns of a table by their names, in any order
PENALISED = ("MLLS",)  # by absolute penalties of other names
SAME = 1e-9  # of the same instructions on the same numbers
Law = Callable[[Trial, BaseEstimator, Outputs], str | None]


def finite(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """Finite outputs; NaN only in whole rows that ``components="largest"`` and the like leave out."""
    leaves_out = any("largest" in expression for _, expression in trial.case.params)
    for name, Z in found.items():
        bad = ~np.isfinite(Z)
        if leaves_out and Z.ndim == 2:
            bad &= ~np.isnan(Z).all(axis=1)[:, None]
        if bad.any():
            return f"{int(bad.sum())} of {Z.size} values of {name} are not finite"
    return None


def shapes(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """One row per row, n_components_ columns and at least one, in X's float type where the estimator says so."""
    rows = len(trial.matrix) + len(trial.new_matrix)
    for name, Z in found.items():
        if len(Z) != (len(trial.matrix) if name == "embedding_" else rows):
            return f"{name} has {len(Z)} rows for {rows}"
    Z = found.get("transform")
    if Z is None:
        return None
    columns = getattr(fitted, "n_components_", Z.shape[1])
    names = len(fitted.get_feature_names_out()) if hasattr(fitted, "get_feature_names_out") else columns
    if Z.ndim != 2 or Z.shape[1] == 0 or {Z.shape[1], names} != {columns}:
        return f"transform has the shape {Z.shape}, n_components_ is {columns}"
    single = trial.matrix.dtype == trial.new_matrix.dtype == np.float32
    declared = "float32" in get_tags(fitted).transformer_tags.preserves_dtype
    expected = (np.float64,) if not single else (np.float32,) if declared else (np.float32, np.float64)
    return None if Z.dtype in expected else f"transform has the type {Z.dtype}, X {trial.matrix.dtype}"


def classes(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """``classes_`` holds exactly the names of the labels, none merged and none invented."""
    if trial.labels is None or not hasattr(fitted, "classes_"):
        return None
    names, expected = list(fitted.classes_), _names(trial)
    same = len(names) == len(expected) and all(_equal(a, b) for a, b in zip(names, expected, strict=True))
    return None if same else f"classes_ is {names!r}, the labels are {expected!r}"


def _names(trial: Trial) -> list:
    """The names of the columns that an estimator should know, in order."""
    labels = trial.labels
    if not labels.single:
        return labels.names
    present = np.flatnonzero(labels.known.any(axis=0))
    return [labels.names[j] for j in present]


def _equal(found: Any, name: Any) -> bool:
    """Equality that takes 1 for 1.0, but no text for a number and no long integer for the float next to it."""
    if isinstance(found, np.generic):
        found = found.item()
    return bool(found == name) and isinstance(found, str) == isinstance(name, str)


def predictions(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """Predictions in the form of y, of no class that y does not hold."""
    if trial.labels is None or not hasattr(fitted, "predict") or _worded(trial):
        return None
    predicted = trial.attempt(lambda: fitted.predict(trial.new))
    if isinstance(predicted, Refusal):
        return f"predict: {predicted}"
    if len(predicted) != len(trial.new_matrix):
        return f"{len(predicted)} predictions for {len(trial.new_matrix)} rows"
    if isinstance(predicted, list):
        strange = {name for row in predicted for name in row if not any(_equal(name, other) for other in _names(trial))}
    elif trial.labels.single:
        strange = {name for name in predicted.tolist() if not any(_equal(name, other) for other in _names(trial))}
    else:
        signs = trial.case.at == "fit" and "signs" in trial.case.form
        strange = set(np.unique(dense(predicted)).tolist()) - ({-1, 1} if signs else {0, 1})
    return f"predict gives {strange!r}, which y does not hold" if strange else None


def same_place_alone(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """The output for a row does not depend on the rows beside it."""
    if isinstance(trial.expected, Refusal) or "transform" not in trial.expected:
        return None
    alone = trial.outputs(trial.plain, trial.matrix, *(trial.new_matrix[[i]] for i in range(len(trial.new_matrix))))
    return trial.disagreement(alone, trial.expected)


def form_is_free(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """X and y in another form are the same rows and labels."""
    if trial.y is not None and trial.plain_y is None:
        return None
    sparse = sp.issparse(trial.X) or trial.case.storage == "table of sparse columns"
    if sparse and trial.case.estimator in SCALES_BY_STORAGE:
        return None
    if isinstance(trial.expected, Refusal):
        return trial.disagreement(trial.expected, found)
    dtype = np.result_type(trial.matrix.dtype, trial.new_matrix.dtype, np.float32)
    wrong = trial.disagreement(found, trial.expected, min(dtype, trial.new_matrix.dtype, key=lambda t: t.itemsize))
    return None if wrong and sparse and trial.jumps else wrong  # what is a tie goes by the lengths of uncentred rows


def table_columns(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """The names of a table's columns are known, and the same columns in another order are refused."""
    X = trial.X
    if not isinstance(X, pd.DataFrame) or not all(isinstance(name, str) for name in X.columns):
        return None
    if list(getattr(fitted, "feature_names_in_", [])) != list(X.columns):
        return "feature_names_in_ does not hold the names of the columns"
    turned = trial.new[trial.new.columns[::-1]] if X.columns.is_unique else None
    if trial.case.estimator in BY_NAME:
        return None
    if found.keys() == {"embedding_"}:  # there is no rule for new rows, which none of the outputs takes
        return None
    if turned is None or X.shape[1] < 2 or isinstance(trial.outputs(fitted, turned), Refusal):
        return None
    return "columns in another order are accepted"


def fit_transform(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """fit_transform gives what fit and transform give."""
    expected = trial.expected
    if "transform" not in expected or not hasattr(fitted, "fit_transform"):
        return None
    Z = trial.attempt(lambda: dense(trial.build().fit_transform(trial.matrix, trial.plain_y)))
    if isinstance(Z, Refusal):
        return trial.disagreement(Z, expected)
    return trial.disagreement({"transform": Z}, {"transform": expected["transform"][: len(trial.matrix)]})


def order_of_rows(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """The order of the rows changes nothing, but where equal distances or proximities are documented to go by it."""
    if trial.draws or trial.links_equal_labels:
        return None
    order = np.random.default_rng(trial.case.seed).permutation(len(trial.matrix))
    y = trial.plain_y
    X = trial.matrix[order]
    result = trial.refitted(X, None if y is None else y[order])
    if not isinstance(result, Refusal) and "embedding_" in result:
        result["embedding_"] = result["embedding_"][np.argsort(order)]
    broken = trial.disagreement(result, trial.expected)
    return None if broken and trial.jumps else broken


def order_of_columns(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """The order of the features changes nothing."""
    if trial.draws:
        return None
    order = np.random.default_rng(trial.case.seed).permutation(trial.matrix.shape[1])
    X, new = trial.matrix[:, order], trial.new_matrix[:, order]
    return trial.disagreement(trial.refitted(X, trial.plain_y, (X, new)), trial.expected)


def _worded(trial: Trial) -> bool:
    """Whether a word says what y holds, such as numbers."""
    return any(name == "target_type" for name, _ in trial.case.params)


def order_of_labels(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """The names of classes and the order of label columns change nothing."""
    if trial.draws or trial.plain_y is None or _worded(trial):
        return None
    c = trial.labels.on.shape[1]
    if trial.labels.single:
        y = np.where(np.isnan(trial.plain_y), np.nan, c - trial.plain_y)
        order = np.arange(len(_names(trial)))[::-1]
        y = y if trial.labels.unknown.any() else y.astype(int)
    else:
        order = np.random.default_rng(trial.case.seed).permutation(c)
        y = trial.plain_y[:, order]
    expected = {
        name: Z if name in ("transform", "embedding_") else _turned(Z, order) for name, Z in trial.expected.items()
    }
    return trial.disagreement(trial.refitted(trial.matrix, y), expected)


def _turned(scores: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Scores of labels in another order; of two classes there is one score, that of the second."""
    return -scores if scores.ndim == 1 else scores[:, order]


def empty_label(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """A label that no row has changes no embedding and no other label's score."""
    if trial.plain_y is None or trial.labels.single:
        return None
    known = ~np.isnan(np.asarray(trial.plain_y, dtype=float)).all(axis=1)  # a known cell lets a row take part
    wider = trial.refitted(trial.matrix, np.insert(trial.plain_y, 1, np.where(known, 0.0, np.nan), axis=1))
    if isinstance(wider, dict):
        wider = {
            name: Z if name in ("transform", "embedding_") else np.delete(Z, 1, axis=1) for name, Z in wider.items()
        }
        if "transform" in wider and wider["transform"].shape != trial.expected["transform"].shape:
            widths = trial.expected["transform"].shape[1], wider["transform"].shape[1]
            return f"with a label that no row has, {widths[0]} components become {widths[1]}"
    return None if trial.draws else trial.disagreement(wider, trial.expected)


def fit_again(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """A second fit gives the numbers of a first one: nothing is left of rows and labels seen before."""
    if trial.unseeded:
        return None
    before = trial.build()
    part = np.arange(len(trial.matrix))[: max(2, 2 * len(trial.matrix) // 3)][::-1]
    y = trial.plain_y
    trial.attempt(lambda: before.fit(trial.matrix[part], None if y is None else y[part]))
    for name, estimator in (("the same estimator", before), ("another", trial.build())):
        again = trial.attempt(lambda: estimator.fit(trial.matrix, y))  # noqa: B023 (called at once)
        if not isinstance(again, Refusal):
            again = trial.outputs(estimator, trial.matrix, trial.new_matrix)
        if isinstance(again, Refusal) or distance(again, trial.expected) > SAME:
            return f"{name} gives other numbers in its second fit"
    return None


def failed_fit(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """A second fit that fails leaves an estimator that is not fitted."""
    estimator = trial.fit(trial.matrix, trial.plain_y)
    if isinstance(estimator, Refusal):
        return None
    holes = trial.matrix.copy()
    holes[0, 0] = np.inf  # NaN is an unknown number for some
    ways = [(holes, trial.plain_y)]
    if trial.plain_y is not None:
        ways += [(trial.matrix, None), (trial.matrix, trial.plain_y[:-1])]
    X, y = ways[trial.case.seed % len(ways)]
    if not isinstance(trial.attempt(lambda: estimator.fit(X, y)), Refusal):
        return "a fit that was meant to fail did not"
    after = trial.outputs(estimator, trial.matrix)
    if isinstance(after, Refusal) and isinstance(after.error, NotFittedError) or after == {}:
        return None
    return "the first fit can still be used" if isinstance(after, dict) else f"the second fit left a ruin: {after}"


def copies(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """A pickle gives the same numbers; a clone has the same parameters and nothing that was learned."""
    again = trial.attempt(lambda: pickle.loads(pickle.dumps(trial.plain)))
    if not isinstance(again, Refusal):
        again = trial.outputs(again, trial.matrix, trial.new_matrix)
    broken = trial.disagreement(again, trial.expected)
    if broken:
        return f"pickle: {broken}"
    fresh = clone(trial.plain)
    if repr(fresh) != repr(trial.build()):
        return f"fit changed the parameters to {fresh!r}"
    left = [name for name in vars(fresh) if name.endswith("_")]
    return f"a clone has {left}" if left else None


def saved(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """A saved model gives the same numbers when it is loaded."""
    if type(fitted).__module__.partition(".")[0] != "proxembed":
        return None
    with tempfile.TemporaryDirectory() as folder:
        again = attempt(
            lambda: proxembed.load(proxembed.save(fitted, Path(folder) / "model.skops")), (*trial.words, "model")
        )
    if isinstance(again, Refusal):
        return None if trial.case.params else f"cannot be saved: {again}"
    return trial.disagreement(trial.outputs(again, trial.X, trial.new), found)


def single_precision(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """float32 is roughly float64."""
    with np.errstate(all="ignore"):
        X, new = trial.matrix.astype(np.float32), trial.new_matrix.astype(np.float32)
    if not (np.isfinite(X).all() and np.isfinite(new).all()):
        return None
    rough = trial.refitted(X, trial.plain_y, (X, new))
    wide = X.astype(np.float64), new.astype(np.float64)
    exact = trial.refitted(wide[0], trial.plain_y, wide)
    if isinstance(rough, Refusal) or isinstance(exact, Refusal):
        return None
    return trial.disagreement(rough, exact, np.float32)


def unit_of_x(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """Where factors of 2 and 1/8 change nothing, neither does that of X's magnitude, but for an absolute penalty, which
    may weigh nothing beside X of the size 1 and everything beside a small X."""
    size = np.abs(trial.matrix).max()
    if not size or 0.01 < size < 100 or hasattr(trial.plain, "penalty") or type(trial.plain).__name__ in PENALISED:
        return None
    power = int(np.floor(np.log2(size)))

    def scaled(step: int) -> Outputs | Refusal:
        X, new = (np.ldexp(M, step - power) for M in (trial.matrix, trial.new_matrix))
        return trial.refitted(X, trial.plain_y, (X, new))

    one, others = scaled(0), (scaled(1), scaled(-3))
    if any(isinstance(other, Refusal) for other in (trial.expected, one, *others)):
        return None
    if any(trial.disagreement(_unit(other), _unit(one)) for other in others):
        return None
    return trial.disagreement(_unit(trial.expected), _unit(one))


def _unit(found: Outputs) -> Outputs:
    """Outputs without their own unit."""
    return {name: Z / (np.abs(Z).max(initial=0.0) or 1.0) for name, Z in found.items()}


def fewer_components(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """truncate(1) gives the first column of the embedding; its signs, where rows are scaled to unit length, which is
    the length over the columns that there are."""
    expected = trial.expected.get("transform")
    if expected is None or not hasattr(trial.plain, "truncate"):
        return None
    short = trial.attempt(lambda: trial.plain.truncate(1))
    if isinstance(short, Refusal):
        allowed = ("trace_ratio", "All rows coincide in the first 1 components")
        return None if any(words in str(short) for words in allowed) else f"truncate(1) {short}"
    column = trial.outputs(short, trial.matrix, trial.new_matrix)
    if isinstance(column, Refusal):
        return f"truncate(1): {column}"
    Z = {"transform": column["transform"]}
    first = np.sign(expected[:, :1]) if getattr(trial.plain, "row_normalize", False) else expected[:, :1]
    return trial.disagreement(Z, {"transform": first}) if np.isfinite(expected).all() else None


def explanation(trial: Trial, fitted: BaseEstimator, found: Outputs) -> str | None:
    """explain() gives finite numbers."""
    if not hasattr(fitted, "explain"):
        return None
    told = trial.attempt(lambda: fitted.explain(0))
    if isinstance(told, Refusal):
        return f"explain(0) {told}"
    numbers = [value for _, value in (*told.features, *told.labels)]
    return None if np.isfinite(numbers).all() else "explain(0) gives numbers that are not finite"


ALWAYS: dict[str, Law] = {
    law.__name__: law for law in (finite, shapes, classes, predictions, table_columns, form_is_free)
}
LAWS = (
    same_place_alone,
    fit_transform,
    order_of_rows,
    order_of_columns,
    order_of_labels,
    empty_label,
    fit_again,
    failed_fit,
    copies,
    saved,
    single_precision,
    fewer_components,
    explanation,
)
SOMETIMES: dict[str, Law] = {law.__name__: law for law in LAWS}


def broken(trial: Trial, fitted: BaseEstimator, found: Outputs, number: int) -> tuple[str, str] | None:
    """The first law that a fit breaks, with what is broken; ``number`` laws are drawn from those that cost fits."""
    rng = np.random.default_rng([trial.case.seed, 3])
    chosen = rng.choice(list(SOMETIMES), min(number, len(SOMETIMES)), replace=False).tolist()
    laws = ALWAYS | {name: SOMETIMES[name] for name in chosen}
    if trial.case.values[:1].isdigit():
        laws |= {"unit_of_x": unit_of_x}
    for name, law in laws.items():
        if name in SOMETIMES and isinstance(trial.expected, Refusal):
            continue
        wrong = law(trial, fitted, found)
        if wrong:
            return name, wrong
    return None
