"""One method on one fold of one set: tuned inside the training part, fitted again, scored once on the held-out rows.

Every method has the same rows, scaling, inner split, number of configurations and CPU seconds.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import proxembed
from benchmarks import LAST_SECONDS, MOST_COMPONENTS, OUTPUTS, VERSION
from benchmarks.entrants import Entrant, entrant, words_of
from benchmarks.folds import read_folds
from benchmarks.own_scores import OWN, run_own, try_own
from benchmarks.sets import read_set
from proxembed.evaluate.part import Part, make_part, prepare, rows_scored
from proxembed.evaluate.results import NEAREST, NEIGHBORS, RIDGE
from proxembed.evaluate.rivals.maps import UMAP
from proxembed.evaluate.run import Protocol
from proxembed.evaluate.scoring import Measures, Scores, lost, score
from proxembed.execute.budget import CpuSeconds
from proxembed.measures.measures import (
    AGREEMENT,
    AVERAGE_PRECISION,
    JACCARD,
    MACRO_F1,
    MICRO_F1,
    Q2,
    measure_of,
    measures_of_kind,
)
from proxembed.splits.splits import Split, Splitting, holdout_split, make_splits, standard_split
from proxembed.study.candidates import component_sizes
from proxembed.study.trials import MethodTrial, Rung

K = 10  # neighbours
FEW, FOLDS, SHARE = 300, 3, 0.25
SEED = 0
KEY = ("set", "protocol", "track", "fold")
MEASURES = {
    "average_precision": (AVERAGE_PRECISION, (RIDGE, OWN)),
    "average_precision_knn": (AVERAGE_PRECISION, (NEIGHBORS,)),
    "jaccard": (JACCARD.format(K), (NEIGHBORS,)),
    "macro_f1": (MACRO_F1, (RIDGE, OWN)),
    "micro_f1": (MICRO_F1, (RIDGE, OWN)),
}
OF_NUMBERS = {"q2": (Q2, (RIDGE,)), "agreement": (AGREEMENT.format(K), (NEAREST,))}
KEPT = "kept"  # measured of the embedding itself, without a read-out
VALUES = (*MEASURES, *OF_NUMBERS, KEPT)


@dataclass(frozen=True)
class Effort:
    """What every method may spend on one fold; seconds are CPU seconds of its process.

    Parameters
    ----------
    configurations : int, default=5
        Tried inside the training part at most, the method's defaults first.
    tuning : float, default=4
        Seconds for tuning. A trial that they end within has no score.
    last : float, default=12
        Seconds for the last fit and its read-outs. What they end within counts as the worst value.
    """

    configurations: int = 5
    tuning: float = 4.0
    last: float = LAST_SECONDS


@dataclass(frozen=True, eq=False)
class Task:
    """What all methods share on one fold: the training and held-out rows, the inner splits, the sizes to try."""

    outer: Part
    inner: tuple[Part, ...]
    sizes: tuple[int, ...]

    @property
    def numbers(self) -> bool:
        """Whether outputs are numbers."""
        return self.outer.outputs is not None

    @property
    def measure(self) -> str:
        """The measure by which configurations are chosen, and methods ranked first."""
        return measures_of_kind(self.numbers).predict


def run_cell(
    name: str, protocol: str, track: str, fold: int, method: str, home: str, data: str | None,
    effort: Effort | None = None,
) -> dict:  # fmt: skip
    """The results of one method on one fold.

    Parameters
    ----------
    name, protocol, track, fold : set, "iterative" or "random", "all" or "fifth", 1 to 5
    method : str
        As ``entrant`` takes it.
    home, data : str
        Folders of the benchmark and of the data files.
    effort : Effort, optional

    Returns
    -------
    dict
        As ``compete`` returns them.
    """
    return compete(entrant(method, track == OUTPUTS), shared_task(name, protocol, track, fold, home, data), effort)


@lru_cache(maxsize=2)
def shared_task(name: str, protocol: str, track: str, fold: int, home: str, data: str | None) -> Task:
    """The task of a fold; that of the last two is kept."""
    folds, sample = _sample(name, home, data)
    return make_task(folds.split(sample, protocol, track, fold))


@cache
def _sample(name: str, home: str, data: str | None) -> tuple:
    """Folds and sample of a set; its data must be those of the folds."""
    dataset = read_set(name, None if data is None else Path(data))
    folds = read_folds(name, dataset, Path(home))
    return folds, folds.sample(dataset)


def make_task(dataset: Any) -> Task:
    """The task of a data set with its training and held-out rows."""
    outer = prepare(dataset, standard_split(dataset), SEED)
    labels = dataset.targets
    inner = tuple(make_part(dataset.X, labels, s.train, s.held_out, outer.scaling) for s in inner_splits(dataset))
    most = min(MOST_COMPONENTS, outer.X.shape[1])
    sizes = component_sizes(labels.c, dataset.outputs is not None)
    return Task(outer, inner, tuple(k for k in sizes if k <= most) or (most,))


def inner_splits(dataset: Any) -> list[Split]:
    """Rows to fit on and rows to score on, both of the training part; labels are spread evenly.

    A quarter of the labelled rows is scored on, or each of three folds in turn where fewer than 300 are labelled. Rows
    with unknown labels are fitted on only.
    """
    train = standard_split(dataset).train
    if rows_scored(dataset)[train].sum() < FEW:
        return make_splits(dataset, Splitting(n_folds=FOLDS, seed=SEED), train)
    split = holdout_split(dataset.take(train), SHARE, SEED)
    return [Split("tuning", train[split.train], train[split.held_out])]


def compete(entrant: Entrant, task: Task, effort: Effort | None = None) -> dict:
    """Tune one method on the inner splits, fit the best configuration on the training part, score the held-out rows.

    Whatever fails, or is ended by the clock, has the worst value of each
    measure, and its reason.

    Returns
    -------
    dict
        ``kind, k, components, parameters, tried``, the measures, ``kept`` (the share of the ten nearest training rows
        of each held-out row that the embedding keeps; None without one), ``seconds`` (CPU), ``failure``, ``version`` of
        the package and of the ``benchmark``.
    """
    if isinstance(entrant.arm.estimator, UMAP):
        _compile_umap(entrant.name, task.outer.labels.one_hot, sp.issparse(task.outer.X))
    effort, started = effort or Effort(), time.process_time()
    estimator, k, tried = choose(entrant, task, effort)
    rows, kept = _last(entrant, estimator, task, k, effort)
    own = [row for row in rows if row["measure"] == task.measure and row["readout"] != NEIGHBORS]
    measures = OF_NUMBERS if task.numbers else MEASURES
    return {
        "kind": entrant.kind,
        "k": (own[0]["components"] if entrant.outside else k) if entrant.tuned and not entrant.own else None,
        "components": own[0]["components"] or None,
        "parameters": words_of(estimator),
        "tried": tried,
        **{column: _value(rows, *of) for column, of in measures.items()},
        KEPT: kept,
        "seconds": round(time.process_time() - started, 3),
        "failure": own[0]["failure"],
        "version": proxembed.__version__,
        "benchmark": VERSION,
    }


def choose(entrant: Entrant, task: Task, effort: Effort) -> tuple[Any, int, int]:
    """The configuration and size of the best ``task.measure`` on the inner splits (the first and smallest of equal
    ones), and how many configurations were tried."""
    sizes = (MOST_COMPONENTS,) if entrant.outside else task.sizes  # from outside: whole, as a configuration has it
    configurations = entrant.configurations(effort.configurations, task.outer.X.shape[0], SEED, task.sizes)
    trials = _tried(entrant, configurations, replace(task, sizes=sizes), effort) if entrant.tuned else []
    best, k = _best(trials, sizes)
    return configurations[best], k, len(trials)


@cache
def _compile_umap(name: str, one_class: bool, sparse: bool) -> None:
    """Fit and place a few rows, so that umap-learn compiles its code before the clock of its first fold starts."""
    random = np.random.default_rng(SEED)
    X, Y = random.normal(size=(60, 5)), random.integers(0, 2, size=(60, 3))
    X = sp.csr_array(X) if sparse else X
    with warnings.catch_warnings(action="ignore"):
        clone(entrant(name).arm.estimator).fit(X, Y[:, 0] if one_class else Y).transform(X[:20])


def _value(rows: list[dict], measure: str, readouts: tuple[str, ...]) -> float | None:
    """The value of a measure, to six digits; None where it was not measured or is undefined."""
    found = [row["value"] for row in rows if row["measure"] == measure and row["readout"] in readouts]
    return round(found[0], 6) if found and np.isfinite(found[0]) else None


def _tried(entrant: Entrant, configurations: list[Any], task: Task, effort: Effort) -> list[MethodTrial]:
    """What was tried, in order, as far as the seconds for tuning go."""
    found, bounded, started = [], False, time.process_time()
    rung = Rung(0, tuple(range(len(task.inner))))
    for estimator in configurations:
        trial = MethodTrial(estimator, entrant.name, rungs=(rung,), final=rung)
        for fold, part in enumerate(task.inner):
            left = CpuSeconds(effort.tuning - (time.process_time() - started))
            outcome = _outcome(entrant, estimator, part, task, bounded, left)
            bounded = outcome.bounded and not outcome.failure
            trial.outcomes[0, fold] = outcome
            if outcome.failure:
                break
        found.append(trial)
        if time.process_time() - started >= effort.tuning:
            break
    return found


def _outcome(entrant: Entrant, estimator: Any, part: Part, task: Task, bounded: bool, limit: float) -> Scores:
    """The scores of a configuration on an inner split."""
    if entrant.own:
        return try_own(estimator, part, limit)
    measures = Measures(((measure_of(task.measure), RIDGE),), task.sizes, max_seconds=limit)
    return score(replace(entrant.arm, estimator=estimator), part, measures, bounded)


def _best(trials: list[MethodTrial], sizes: tuple[int, ...]) -> tuple[int, int]:
    """Number of the best configuration and its best size; the first one at the largest where none has a score."""
    best, value, k = 0, -np.inf, sizes[-1]
    for number, trial in enumerate(trials):
        mean, size = trial.best(trial.final)
        if size and mean > value:
            best, value, k = number, mean, size
    return best, k


def _last(entrant: Entrant, estimator: Any, task: Task, k: int, effort: Effort) -> tuple[list[dict], float | None]:
    """The rows of the held-out part: fitted on the whole training part, scored once; and the neighbours kept."""
    arm = replace(entrant.arm, estimator=estimator)
    options = {"n_neighbors": K, "seed": SEED, "contrasts": (), "keep_predictions": False, "numbers": task.numbers}
    measures = Protocol((arm,), (k,), max_seconds=CpuSeconds(effort.last), **options).measures_of(arm)
    if entrant.own:
        return run_own(arm, task.outer, measures).rows, None
    found = score(arm, task.outer, replace(measures, kept=True))
    rows = found.rows or lost(arm, task.outer, measures, "it gave no row").rows
    return rows, None if arm.predicts else round(next(iter(found.kept.values()), 0.0), 6)
