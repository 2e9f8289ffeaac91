"""Results in, plain data out: means over folds, the k-curves, the best size of each arm, and the verdict."""

import math
from collections import defaultdict
from typing import Any

import numpy as np

from proxembed.evaluate.bootstrap import held_out_gain
from proxembed.evaluate.results import TEST, Results, measure_name

from .verdict import judge

FACTS = ("dataset", "protocol", "preprocessing", "notes", "seconds", "interrupted")


def _complete_folds(results: Results) -> list[str]:
    """Validation folds that every arm has finished; when no fold is finished, the one that was under way."""
    seen = [fold for fold in dict.fromkeys(row["fold"] for row in results.rows) if fold != TEST]
    done = [fold for fold in seen if fold in results.folds]
    return done or seen


def _entry(rows: list[dict], folds: list[str]) -> dict:
    values: dict[str, dict] = defaultdict(dict)
    test: dict[str, float] = {}
    for row in rows:
        name = measure_name(row["measure"], row["readout"])
        if row["fold"] == TEST:
            test[name] = row["value"]
        else:
            values[name][row["fold"]] = row["value"]
    scores = {}
    for name, by_fold in values.items():
        of_folds = np.array([by_fold.get(fold, math.nan) for fold in folds])
        known = of_folds[np.isfinite(of_folds)]  # a fold without a positive row has no average precision
        error = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else None
        mean = float(known.mean()) if len(known) else math.nan
        scores[name] = {"mean": mean, "standard_error": error, "by_fold": of_folds.tolist()}
        scores[name]["test"] = test.get(name)
    first, failures = rows[0], sorted({row["failure"] for row in rows if row["failure"]})
    each_fold = {row["fold"]: row["seconds"] for row in rows}
    return {
        **{key: first[key] for key in ("arm", "rival", "k")},
        "components": min((row["components"] for row in rows if not row["failure"]), default=0),  # every part has them
        "scores": scores,
        "labels": min(row["labels"] for row in rows),
        "seconds": float(np.mean(list(each_fold.values()))),
        "failures": failures,
    }


def _curves(entries: list[dict], names: list[str]) -> dict:
    curves: dict[str, dict[str, list]] = {name: defaultdict(list) for name in names}
    for entry in entries:
        for name in names:
            score = entry["scores"][name]
            curves[name][entry["arm"]].append([entry["k"], score["mean"], score["standard_error"]])
    for arms in curves.values():
        for points in arms.values():
            points.sort(key=lambda point: point[0] or 0)
    return {name: dict(arms) for name, arms in curves.items()}


def _leaderboard(results: Results, folds: list[str], primary: str) -> list[dict]:
    """One entry for each arm and k, best primary mean first, then the smaller k."""
    groups = defaultdict(list)
    for row in results.rows:
        if row["fold"] in folds or (row["fold"] == TEST and TEST in results.folds):
            groups[row["arm"], row["k"]].append(row)
    entries = [_entry(rows, folds) for rows in groups.values()]
    if any(math.isnan(entry["scores"][primary]["mean"]) for entry in entries):
        raise ValueError(
            f"{primary} is not defined on any fold: no label has the positive held-out rows that it needs; label more "
            "rows, or ask for fewer (min_positives)."
        )
    return sorted(entries, key=lambda entry: (-entry["scores"][primary]["mean"], entry["k"] or 0))


def _on_test(results: Results, dataset: Any):
    def gain(ours: dict, theirs: dict) -> dict | None:
        keys = ((entry["arm"], entry["k"]) for entry in (ours, theirs))
        return held_out_gain(results, dataset.Y, *keys, dataset.groups)

    return gain


def summarise(results: Results, searched: Any = None) -> dict:
    """Summarise a comparison as plain data, ready for JSON, the table, the file and the page.

    Parameters
    ----------
    results : Results
        From ``evaluate.protocol.run``; an interrupted run is summarised over its complete folds.
    searched : proxembed.data.Dataset, optional
        The data, where arms were searched on the rows of the folds: the verdict then rests on the test rows.

    Returns
    -------
    dict
        ``measures`` (primary first), ``further_measures``, ``leaderboard`` (one entry for each arm and k, best primary
        mean first), ``best`` (of these the best k of each arm), ``curves``, ``verdict``, ``failures``, and the facts of
        the run.

    Raises
    ------
    ValueError
        There is not one finished arm, or the primary measure is defined on no fold.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.protocol import Protocol, run
    >>> from proxembed.report.summarise import summarise
    >>> protocol = Protocol((Arm("all features", None, rival=True),), sizes=(2,))
    >>> summarise(run(protocol, digits().take(range(200))))["best"][0]["arm"]
    'all features'
    """
    folds = _complete_folds(results)
    if not folds:
        raise ValueError("no arm was finished, so there is nothing to report; let the comparison run longer.")
    names = [measure_name(*pair) for pair in results.protocol["measures"]]
    pairs = (pair for key in ("further_measures", "logistic_measures") for pair in results.protocol.get(key, ()))
    further = [measure_name(*pair) for pair in pairs]
    entries = _leaderboard(results, folds, names[0])
    best: dict[str, dict] = {}
    for entry in entries:
        best.setdefault(entry["arm"], entry)
    sizes = [results.folds[fold] for fold in folds if fold in results.folds]
    return {
        **{key: getattr(results, key) for key in FACTS},
        "measures": names,
        "further_measures": further,
        "folds": folds,
        "fold_sizes": results.folds,
        "leaderboard": entries,
        "best": list(best.values()),
        "curves": _curves(entries, names),
        "verdict": judge(entries, names, sizes, None if searched is None else _on_test(results, searched)),
        "failures": [[e["arm"], e["k"], reason] for e in entries for reason in e["failures"]],
    }
