"""One entrant of a benchmark: its configurations tried inside the training part, the best fitted again, one look at
the test rows."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from proxembed.data import Dataset
from proxembed.engine.trials import make_part, run_trial
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.part import prepare
from proxembed.evaluate.protocol import Protocol
from proxembed.evaluate.results import AVERAGE_PRECISION, JACCARD, MACRO_F1, MICRO_F1, RIDGE, measure_name
from proxembed.evaluate.scoring import lost, run_arm
from proxembed.evaluate.splits import Split, holdout_split, standard_split
from proxembed.labels import LabelMatrix
from proxembed.model import scaling_kind

from .entrants import Entrant, told
from .own_scores import OWN, run_own, try_own

TUNING_SHARE = 0.5
NEIGHBORS = 10
MEASURES = (AVERAGE_PRECISION, JACCARD.format(NEIGHBORS), MACRO_F1, MICRO_F1)
NOTE, NOTES = 200, 5


@dataclass(frozen=True)
class Effort:
    """What every entrant may spend on one data set: the same for all.

    Parameters
    ----------
    configurations : int
        Tried inside the training part, the method's defaults among them.
    seconds : float
        For tuning and the last fit together; half of it at most goes into tuning. A trial that the clock stops counts
        as failed, and an entrant whose last fit it stops gets the worst value, with the reason.
    tuning_rows : int
        Training rows that are tuned on at most, drawn at random, a quarter of them to score on.
    """

    configurations: int
    seconds: float
    tuning_rows: int

    def describe(self) -> dict:
        """As plain data."""
        return asdict(self)


def tuning_split(dataset: Dataset, effort: Effort, seed: int) -> Split:
    """Rows to fit on and rows to score on, both of the training part; labels are spread evenly.

    Where some training rows have unknown labels, the rows to score on are drawn from the others.
    """
    rng = np.random.default_rng(seed)
    train = np.sort(rng.permutation(standard_split(dataset).train)[: effort.tuning_rows])
    split = holdout_split(dataset.take(train), 0.25, seed)
    return Split("tuning", train[split.train], train[split.held_out])


def compete(
    entrant: Entrant, dataset: Dataset, inner: Split, sizes: tuple[int, ...], effort: Effort, seed: int
) -> dict:
    """Tune one entrant on the inner split, fit the best configuration on the whole training part, score the test rows.

    The best configuration has the largest mean over the sizes of the macro average precision (ridge read-out); its
    number of components is the one that did best there.

    Parameters
    ----------
    entrant : Entrant
    dataset : Dataset
        With its standard split; rows with unknown labels are there to train on.
    inner : Split
        From ``tuning_split``.
    sizes : tuple of int
        Numbers of components, each scored on the test rows.
    effort : Effort
    seed : int

    Returns
    -------
    dict
        Plain data: ``entrant, group, rival, chosen, k, tried, scores, components, seconds, failure, notes``.
    """
    started = time.perf_counter()
    features: Any = dataset.X
    sizes = tuple(sorted({min(k, features.shape[1]) for k in sizes}))
    tried = _tuned(entrant, dataset, inner, sizes, effort, seed)
    best, size = _best(tried, sizes)
    k = None if entrant.estimator is None or entrant.direct else size
    configurations = entrant.configurations(effort.configurations, seed)
    left = effort.seconds - sum(each["seconds"] for each in tried)
    rows, notes = _last(entrant, configurations[best], dataset, sizes, left, seed)
    return {
        "entrant": entrant.name,
        "group": entrant.group,
        "rival": entrant.rival,
        "chosen": told(configurations[best]),
        "k": k,
        "tried": tried,
        "scores": _scores(rows),
        "components": {str(row["k"]): row["components"] for row in rows},
        "seconds": time.perf_counter() - started,
        "failure": next(
            (row["failure"] for row in rows if row["measure"] == AVERAGE_PRECISION and row["failure"]), None
        ),
        "notes": notes,
    }


def _tuned(entrant, dataset, inner, sizes, effort, seed) -> list[dict]:
    """What was tried, in order, as far as the seconds for tuning go."""
    configurations = entrant.configurations(effort.configurations, seed)
    if entrant.estimator is None:
        return []
    kind = scaling_kind(dataset.X[inner.train])
    part = make_part(dataset.X, LabelMatrix.of(dataset.y), inner.train, inner.held_out, kind)
    tried, left, bounded = [], TUNING_SHARE * effort.seconds, False
    for estimator in configurations:
        if left <= 0:
            break
        if entrant.direct:
            outcome = try_own(estimator, part, left)
        else:
            outcome = run_trial(estimator, part, sizes, AVERAGE_PRECISION, bounded, left)
        bounded = outcome.bounded and not outcome.failure
        left -= outcome.seconds
        curve = {str(k): value for k, value in outcome.curve.items()}
        facts = {"scores": curve, "seconds": outcome.seconds, "failure": outcome.failure}
        tried.append({"parameters": told(estimator), **facts})
    return tried


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


def _last(entrant: Entrant, estimator: Any, dataset, sizes, seconds: float, seed: int) -> tuple[list[dict], list[str]]:
    """The rows of the test part: fitted on the whole training part, every size scored once."""
    arm = Arm(entrant.name, estimator, rival=entrant.rival)
    part = prepare(dataset, standard_split(dataset), seed)
    limit = max(seconds, 1e-3)
    protocol = Protocol(
        (arm,), sizes, n_neighbors=NEIGHBORS, seed=seed, max_seconds=limit, contrasts=(), keep_predictions=False
    )
    if entrant.direct:
        outcome = run_own(arm, part, protocol)
    else:
        outcome = run_arm(arm, part, protocol)
    rows = outcome.rows or lost(arm, part, protocol, "it gave no row").rows
    return rows, list(dict.fromkeys(note[:NOTE] for note in outcome.notes))[:NOTES]


def _scores(rows: list[dict]) -> dict[str, dict[str, float]]:
    """Measure with its read-out -> size -> value."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["measure"] in MEASURES:
            found.setdefault(measure_name(row["measure"], row["readout"]), {})[str(row["k"])] = row["value"]
    return found


def value_of(entry: dict, k: int | None, measure: str = AVERAGE_PRECISION) -> float | None:
    """Test value of an entrant at a size (the only one where it has none); None where it has no such value.

    It is that of the ridge read-out, or of the scores that a method has itself.

    Examples
    --------
    >>> from proxembed.reproduce.tuned import value_of
    >>> entry = {"scores": {"macro average precision (ridge)": {"2": 0.5}}}
    >>> value_of(entry, 2), value_of(entry, 5)
    (0.5, None)
    """
    for readout in (RIDGE, OWN):
        scores = entry["scores"].get(measure_name(measure, readout), {})
        value = scores.get("None", scores.get(str(k)))
        if value is not None:
            return value
    return None
