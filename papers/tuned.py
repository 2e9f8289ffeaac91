"""One entrant of a benchmark: its configurations tried inside the training part, the best fitted again, one look at
the test rows."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.entrants import Entrant, changed_parameters
from papers.own_scores import OWN, run_own, try_own
from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.measures import AVERAGE_PRECISION, JACCARD, MACRO_F1, MICRO_F1, measure_of
from proxembed.evaluate.part import make_part, prepare, rows_scored
from proxembed.evaluate.protocol import Protocol
from proxembed.evaluate.results import RIDGE, measure_name
from proxembed.evaluate.scoring import lost, run_arm
from proxembed.execute.budget import CpuSeconds, OutOfBudget
from proxembed.model import scaling_kind
from proxembed.splits.splits import Split, Splitting, holdout_split, make_splits, standard_split
from proxembed.study.trials import MethodTrial, Rung, run_trial
from proxembed.targets.labels import LabelMatrix

NEIGHBORS = 10
MEASURES = (AVERAGE_PRECISION, JACCARD.format(NEIGHBORS), MACRO_F1, MICRO_F1)
NOTE, NOTES = 200, 5
FEW, FOLDS = 500, 3
TUNING_DRAW = 1
BY_THE_CLOCK = ("stopped after", OutOfBudget.__name__)
TIMED_OUT = "timed out: "


@dataclass(frozen=True)
class Effort:
    """What every entrant may spend on one data set: the same for all. Seconds are CPU seconds of its process.

    Parameters
    ----------
    configurations : int
        Tried inside the training part at most, the method's defaults among them.
    seconds : float
        For tuning. A trial that they end within has no score.
    tuning_rows : int
        Training rows that are tuned on at most, drawn at random.
    last_seconds : float
        For the last fit and its read-outs, apart from tuning: so many that the clock ends what would never end.
    """

    configurations: int
    seconds: float
    tuning_rows: int
    last_seconds: float = 600.0


def tuning_splits(dataset: Dataset, effort: Effort, seed: int) -> list[Split]:
    """Rows to fit on and rows to score on, both of the training part; labels are spread evenly.

    A quarter of the labelled rows is scored on, or each of three folds in turn where fewer than 500 are labelled. Rows
    with unknown labels are fitted on only; where rows must be left out, those with labels have precedence up to half of
    ``tuning_rows``, so that none of few is lost.
    """
    rng, train = np.random.default_rng((seed, TUNING_DRAW)), standard_split(dataset).train
    known = rows_scored(dataset)[train]
    labelled, others = rng.permutation(train[known]), rng.permutation(train[~known])
    labelled = labelled[: max(effort.tuning_rows // 2, effort.tuning_rows - len(others))]
    rows = np.sort(np.concatenate([labelled, others[: effort.tuning_rows - len(labelled)]]))
    if len(labelled) < FEW:
        return make_splits(dataset, Splitting(n_folds=FOLDS, seed=seed), rows)
    split = holdout_split(dataset.take(rows), 0.25, seed)
    return [Split("tuning", rows[split.train], rows[split.held_out])]


def compete(
    entrant: Entrant, dataset: Dataset, inner: list[Split], sizes: tuple[int, ...], effort: Effort, seed: int
) -> dict:
    """Tune one entrant on the inner splits, fit the best configuration on the whole training part, score the test rows.

    The best configuration has the largest mean over the sizes of the macro average precision (ridge read-out); its
    number of components is the one that did best there.

    Parameters
    ----------
    entrant : Entrant
    dataset : Dataset
        With its standard split; rows with unknown labels are there to train on.
    inner : list of Split
        From ``tuning_splits``.
    sizes : tuple of int
        Numbers of components, each scored on the test rows.
    effort : Effort
    seed : int

    Returns
    -------
    dict
        Plain data: ``entrant, group, rival, chosen, k, tried, scores, components, seconds, cpu_seconds, failure,
        timed_out, other_sizes, notes``. ``failure`` is that of the average precision at the chosen size,
        ``other_sizes`` those of it at others. What the clock ended has the score None, other failures the worst value.
    """
    started, cpu = time.perf_counter(), time.process_time()
    features: Any = dataset.X
    sizes = tuple(sorted({min(k, features.shape[1]) for k in sizes}))
    tried = _tuned(entrant, dataset, inner, sizes, effort, seed)
    best, size = _best(tried, sizes)
    k = None if entrant.estimator is None or entrant.direct else size
    configurations = entrant.configurations(effort.configurations, seed)
    rows, notes = _last(entrant, configurations[best], dataset, sizes, effort, seed)
    failures = _failures(rows)
    failure = failures.pop(str(k), None)
    return {
        "entrant": entrant.name,
        "group": entrant.group,
        "rival": entrant.rival,
        "chosen": changed_parameters(configurations[best]),
        "k": k,
        "tried": tried,
        "scores": _scores(rows),
        "components": {str(row["k"]): row["components"] for row in rows},
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu,
        "failure": failure,
        "timed_out": (failure or "").startswith(TIMED_OUT),
        "other_sizes": failures,
        "notes": notes,
    }


def _tuned(entrant, dataset, inner, sizes, effort, seed) -> list[dict]:
    """What was tried, in order, as far as the seconds for tuning go."""
    if entrant.estimator is None:
        return []
    labels, tried, bounded, started = LabelMatrix.of(dataset.y), [], False, time.process_time()
    parts = [make_part(dataset.X, labels, s.train, s.held_out, scaling_kind(dataset.X[s.train])) for s in inner]
    rung = Rung(0, tuple(range(len(parts))))
    for estimator in entrant.configurations(effort.configurations, seed):
        trial = MethodTrial(estimator, entrant.name, rungs=(rung,), final=rung)
        for fold, part in enumerate(parts):
            left = CpuSeconds(effort.seconds - (time.process_time() - started))
            if entrant.direct:
                outcome = try_own(estimator, part, left)
            else:
                outcome = run_trial(estimator, part, sizes, measure_of(AVERAGE_PRECISION), bounded, left)
            bounded = outcome.bounded and not outcome.failure
            trial.outcomes[0, fold] = outcome
            if outcome.failure:
                break
        tried.append(_told_trial(trial, effort.seconds))
        if (tried[-1]["failure"] or "").startswith(TIMED_OUT):
            break
    return tried


def _told_trial(trial: MethodTrial, seconds: float) -> dict:
    """A trial as plain data: its mean over the folds at each size, empty where one failed."""
    failure = _told_failure(trial.failure, f"{seconds:g} CPU seconds of tuning")
    curve = {str(k): value for k, value in trial.means(trial.final).items()}
    return {
        "parameters": changed_parameters(trial.config),
        "scores": curve,
        "seconds": trial.seconds,
        "failure": failure,
    }


def _told_failure(reason: str | None, budget: str) -> str | None:
    """The reason of a failure; of one by the clock, which budget was spent."""
    by_the_clock = reason is not None and reason.startswith(BY_THE_CLOCK)
    return f"{TIMED_OUT}the {budget} were spent" if by_the_clock else reason


def _best(tried: list[dict], sizes: tuple[int, ...]) -> tuple[int, int]:
    """Number of the best configuration and its best size; the first one at the largest where none has a score."""
    best, value, k = 0, -np.inf, sizes[-1]
    for number, each in enumerate(tried):
        curve = {int(size): score for size, score in each["scores"].items() if np.isfinite(score)}
        if not curve:
            continue
        scores = [curve[max((k for k in curve if k <= size), default=min(curve))] for size in sizes]
        if np.mean(scores) > value:
            best, value, k = number, float(np.mean(scores)), sizes[int(np.argmax(scores))]
    return best, k


def _last(entrant: Entrant, estimator: Any, dataset, sizes, effort: Effort, seed: int) -> tuple[list[dict], list[str]]:
    """The rows of the test part: fitted on the whole training part, every size scored once."""
    arm = Arm(entrant.name, estimator, rival=entrant.rival)
    part = prepare(dataset, standard_split(dataset), seed)
    limit = CpuSeconds(effort.last_seconds)
    protocol = Protocol(
        (arm,), sizes, n_neighbors=NEIGHBORS, seed=seed, max_seconds=limit, contrasts=(), keep_predictions=False
    )
    if entrant.direct:
        outcome = run_own(arm, part, protocol)
    else:
        outcome = run_arm(arm, part, protocol)
    rows = outcome.rows or lost(arm, part, protocol, "it gave no row").rows
    for row in rows:
        row["failure"] = _told_failure(row["failure"], f"{limit:g} CPU seconds of the last fit")
    return rows, list(dict.fromkeys(note[:NOTE] for note in outcome.notes))[:NOTES]


def _failures(rows: list[dict]) -> dict[str, str]:
    """Size -> why the average precision (ridge, or own scores) failed there."""
    own = [row for row in rows if row["measure"] == AVERAGE_PRECISION and row["readout"] in (RIDGE, OWN)]
    return {str(row["k"]): row["failure"] for row in own if row["failure"]}


def _scores(rows: list[dict]) -> dict[str, dict[str, float]]:
    """Measure with its read-out -> size -> value; NaN, in the record None, for what the clock ended."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["measure"] in MEASURES:
            value = math.nan if (row["failure"] or "").startswith(TIMED_OUT) else row["value"]
            found.setdefault(measure_name(row["measure"], row["readout"]), {})[str(row["k"])] = value
    return found


def timed_out(entry: dict, k: int | None) -> bool:
    """Whether the clock ended an entrant at a size (the only one where it has none).

    Examples
    --------
    >>> from papers.tuned import timed_out
    >>> entry = {"k": 2, "failure": None, "other_sizes": {"5": "timed out: ..."}}
    >>> timed_out(entry, 2), timed_out(entry, 5)
    (False, True)
    """
    reason = entry["failure"] if entry["k"] in (None, k) else entry["other_sizes"].get(str(k))
    return (reason or "").startswith(TIMED_OUT)


def value_of(entry: dict, k: int | None, measure: str = AVERAGE_PRECISION) -> float | None:
    """Test value of an entrant at a size (the only one where it has none); None without one or by the clock.

    It is that of the ridge read-out, or of the scores that a method has itself.

    Examples
    --------
    >>> from papers.tuned import value_of
    >>> entry = {"scores": {"macro average precision (ridge)": {"2": 0.5}}}
    >>> value_of(entry, 2), value_of(entry, 5)
    (0.5, None)
    """
    for readout in (RIDGE, OWN):
        scores = entry["scores"].get(measure_name(measure, readout), {})
        value = scores.get("None", scores.get(str(k)))
        if value is not None and not math.isnan(value):
            return value
    return None
