"""The summary of a comparison: means over folds, the k-curves, the best size of each arm, and the verdict."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from proxembed.splits.splits import LEAST_GROUPS

from .results import SAME_ROWS, TEST, Results, measure_name, sign_of
from .verdict import FOLDS, TOLERANCE, FoldGains, TestGains, judge, neighbor_measure

FACTS = ("dataset", "protocol", "preprocessing", "scalings", "notes", "seconds", "interrupted")


def _complete_folds(results: Results) -> list[str]:
    """Validation folds that every arm has finished; when no fold is finished, the one that was under way."""
    seen = [fold for fold in dict.fromkeys(row["fold"] for row in results.rows) if fold != TEST]
    done = [fold for fold in seen if fold in results.folds]
    return done or seen


def _entry(rows: list[dict[str, Any]], folds: list[str]) -> dict[str, Any]:
    values: dict[str, dict[str, Any]] = defaultdict(dict)
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


def _over_folds(
    values: Mapping[Any, float], key: tuple[str, int | None], folds: list[str], average: Any
) -> float | None:
    """Average over the folds of what was kept of an arm and k; None where nothing was."""
    found = [values[(*key, fold)] for fold in folds if (*key, fold) in values]
    return float(average(found)) if found else None


def _curves(entries: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    curves: dict[str, dict[str, list[Any]]] = {name: defaultdict(list) for name in names}
    for entry in entries:
        for name in names:
            score = entry["scores"][name]
            curves[name][entry["arm"]].append([entry["k"], score["mean"], score["standard_error"]])
    for arms in curves.values():
        for points in arms.values():
            points.sort(key=lambda point: point[0] or 0)
    return {name: dict(arms) for name, arms in curves.items()}


def _leaderboard(results: Results, folds: list[str], primary: str) -> list[dict[str, Any]]:
    """One entry for each arm and k, best primary mean first, then the smaller k."""
    groups = defaultdict(list)
    for row in results.rows:
        if row["fold"] in folds or (row["fold"] == TEST and TEST in results.folds):
            groups[row["arm"], row["k"]].append(row)
    entries = [
        {
            **_entry(rows, folds),
            "hub": _over_folds(results.hubs, key, folds, np.mean),
            "query_seconds": _over_folds(results.queries, key, folds, np.median),
        }
        for key, rows in groups.items()
    ]
    if any(math.isnan(entry["scores"][primary]["mean"]) for entry in entries):
        raise ValueError(
            f"{primary} is not defined on any fold: no label has the positive held-out rows that it needs; label more "
            "rows, or ask for fewer (min_positives)."
        )
    sign = sign_of(primary)
    return sorted(entries, key=lambda entry: (-sign * entry["scores"][primary]["mean"], entry["k"] or 0))


def _gains(results: Results, searched: Any, sizes: list[dict[str, Any]]) -> FoldGains | TestGains:
    """Where gains are taken from; without an interval of rows of two groups, one of which cannot speak for others."""
    if searched is not None and results.protocol.get("standard", True):
        return TestGains(results, searched)
    groups = results.dataset.get("groups")
    return FoldGains(sizes, groups is None or groups >= LEAST_GROUPS, results.few.get(FOLDS))


def same_rows_entry(results: Results, folds: list[str], name: str) -> dict[str, Any]:
    """The baseline that returns the same training rows to every query, as an entry of the leaderboard."""
    values = {fold: float(S.mean()) for (arm, _, fold), S in results.similarity.items() if arm == SAME_ROWS}
    by_fold = [values.get(fold, math.nan) for fold in folds]
    scores = {name: {"mean": float(np.mean(by_fold)), "by_fold": by_fold, "test": values.get(TEST)}}
    return {"arm": SAME_ROWS, "rival": True, "k": None, "components": 0, "scores": scores if values else {}}


def rows_of_folds(summary: dict[str, Any]) -> int:
    """Rows that the folds of a comparison are made of: the training rows where there are test rows, else all."""
    sizes = [summary["fold_sizes"][fold] for fold in summary["folds"] if fold in summary["fold_sizes"]]
    return max((size["train"] + size["held_out"] for size in sizes), default=summary["dataset"]["n"])


def summarise(
    results: Results,
    searched: Any = None,
    tolerance: float = TOLERANCE,
    choose: Callable[[list[dict[str, Any]], str], dict[str, Any] | None] | None = None,
) -> dict[str, Any]:
    """Summarise a comparison as plain data, ready for JSON, the table, the file and the page."""
    folds = _complete_folds(results)
    if not folds:
        raise ValueError("no arm was finished, so there is nothing to report; let the comparison run longer.")
    names = [measure_name(*pair) for pair in results.protocol["measures"]]
    further = [measure_name(*pair) for pair in results.protocol.get("further_measures", ())]
    entries = _leaderboard(results, folds, names[0])
    best: dict[str, dict[str, Any]] = {}
    chosen = None if choose is None else choose(entries, names[0])
    choice = None if chosen is None else (chosen["method"], chosen["k"])
    for entry in entries:
        if entry["arm"] not in best or (entry["arm"], entry["k"]) == choice:
            best[entry["arm"]] = entry
    sizes = [results.folds[fold] for fold in folds if fold in results.folds]
    gains = _gains(results, searched, sizes)
    same = same_rows_entry(results, folds, neighbor_measure(names))
    return {
        **{key: getattr(results, key) for key in FACTS},
        "measures": names,
        "further_measures": further,
        "folds": folds,
        "fold_sizes": results.folds,
        "leaderboard": entries,
        "choice": chosen,
        "best": [entry for entry in entries if best[entry["arm"]] is entry],
        "curves": _curves(entries, names),
        "same_rows": same["scores"].get(neighbor_measure(names)),
        "verdict": judge(entries, names, gains, same, facts=results.dataset, tolerance=tolerance, choice=choice),
        "failures": [[e["arm"], e["k"], reason] for e in entries for reason in e["failures"]],
    }
