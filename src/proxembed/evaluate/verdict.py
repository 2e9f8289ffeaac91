"""The verdict as numbers, one per goal: what an embedding is worth to predict, for neighbours, as a map, compressed.

Method and size are chosen on the folds. A comparison is judged on these folds, each side chosen on the others; arms
that a search has chosen on these very rows are judged on the test rows, which it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arms import ALL_FEATURES, MAP_SIZE
from .compare import equal_rows
from .gains import FoldGains, TestGains
from .measures import NEW_JACCARD, is_jaccard
from .results import NEIGHBORS, sign_of

GOALS = ("neighbours", "predict", "compress", "map")
TOLERANCE = 0.03
BETTER, LEVEL, WORSE, CANNOT_TELL = "better", "level", "worse", "cannot tell"
Gains = FoldGains | TestGains


def word(gain: float, interval: Sequence[float] | None, margin: float) -> str:
    """What a gain with its 95 % interval allows to say, where a loss up to a margin does not matter.

    Parameters
    ----------
    gain : float
    interval : (low, high), or None where there is none
    margin : float of at least 0

    Returns
    -------
    str
        The first that holds: "better" (low > 0), "level" (low >= -margin), "worse" (high < -margin), "cannot tell".

    Examples
    --------
    >>> from proxembed.evaluate.verdict import word
    >>> [word(g, (g - 0.02, g + 0.02), 0.03) for g in (0.05, 0.0, -0.03, -0.1)]
    ['better', 'level', 'cannot tell', 'worse']
    """
    if interval is None:
        return CANNOT_TELL
    low, high = interval
    return BETTER if low > 0 else LEVEL if low >= -margin else WORSE if high < -margin else CANNOT_TELL


def rows_needed(rows: int, gain: float, interval: Sequence[float] | None, margin: float) -> int | None:
    """Test rows that would tell, if the gain stayed as it is: ``rows`` (half-width / (margin + gain))^2.

    None where no number of rows would: the gain is at or below the margin, or has no interval.

    Examples
    --------
    >>> from proxembed.evaluate.verdict import rows_needed
    >>> rows_needed(100, 0.0, (-0.06, 0.06), 0.03), rows_needed(100, -0.05, (-0.1, 0.0), 0.03)
    (400, None)
    """
    if interval is None or not gain > -margin:
        return None
    half = (interval[1] - interval[0]) / 2
    return int(np.ceil(np.round(rows * (half / (margin + gain)) ** 2, 6)))


def judge(
    entries: list[dict[str, Any]],
    names: list[str],
    gains: Gains,
    same_rows: dict[str, Any],
    *,
    facts: dict[str, Any],
    tolerance: float = TOLERANCE,
    choice: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """Judge the embeddings for every goal.

    Parameters
    ----------
    entries : list of dict
        The leaderboard.
    names : list of str
        Measures, the primary one first, with one of neighbours.
    gains : FoldGains or TestGains
        Where values and gains are taken from.
    same_rows : dict
        Entry of the baseline that returns the same rows to every query.
    facts : dict
        Of the data: ``d``, and ``nonzero_share`` where the features are sparse.
    tolerance : float, default=0.03
        Share of the value of all features whose loss does not matter.
    choice : (arm, k), optional
        What was chosen by the primary measure on other folds, which the goals of that measure judge; None: what is
        best on these.

    Returns
    -------
    dict
        ``basis`` ("folds" or "test rows"), ``tolerance``, ``lacks`` ("arms" or "test rows", or None) and ``goals``:
        for each goal that could be judged its ``word`` and the figures that it rests on.

    Examples
    --------
    >>> from proxembed.evaluate.gains import FoldGains
    >>> from proxembed.evaluate.verdict import judge
    >>> judge([], ["macro average precision (ridge)"], FoldGains([]), {}, facts={})["lacks"]
    'arms'
    """
    ours = [entry for entry in entries if not entry["rival"] and entry["components"]]
    raw = next((entry for entry in entries if entry["arm"] == ALL_FEATURES), None)
    verdict: dict[str, Any] = {"basis": gains.basis, "tolerance": tolerance, "lacks": None, "goals": {}}
    if not ours or raw is None:
        return verdict | {"lacks": "arms"}
    if not gains.there:
        return verdict | {"lacks": gains.basis}
    rivals = [entry for entry in entries if entry["rival"] and entry is not raw]
    predict, near = predict_measure(names), neighbor_measure(names)
    of_map, rivals_map = ([entry for entry in side if entry["k"] == MAP_SIZE] for side in (ours, rivals))
    own = [entry for entry in ours if (entry["arm"], entry["k"]) == choice and not entry["failures"]] or ours
    by_predict, by_near = (own if name == names[0] else ours for name in (predict, near))
    goals = {
        "neighbours": _neighbors(
            by_near, raw, rivals, same_rows, (near, new_neighbor_measure(names)), gains, tolerance
        ),
        "predict": _goal(by_predict, [raw], rivals, predict, gains, tolerance),
        "compress": _compressed(ours, raw, rivals, (predict, near), gains, tolerance, facts),
        "map": _map(of_map, rivals_map, near, gains, tolerance),
    }
    return verdict | {"goals": {name: goal for name, goal in goals.items() if goal is not None}}


def _goal(
    ours: list[dict[str, Any]],
    bases: list[dict[str, Any]],
    rivals: list[dict[str, Any]],
    name: str,
    gains: Gains,
    tolerance: float,
) -> dict[str, Any] | None:
    """The best of ours on the folds against the best of some baselines, and beside the best rival embedding."""
    best, base, versus = top(ours, name), top(bases, name), gains.versus(ours, bases, name)
    if versus is None:
        return None
    value: Any = gains.value(base, name)
    margin = tolerance * abs(value)
    said = word(versus["gain"], versus["interval"], margin)
    needed = rows_needed(versus["rows"], versus["gain"], versus["interval"], margin) if said == CANNOT_TELL else None
    rival = top(rivals, name) if rivals else None
    over_rival = None if rival is None else gains.versus(ours, rivals, name)
    return {
        "measure": name,
        "word": said,
        **_at(best, gains, name),
        "base": {"arm": base["arm"], "k": base["k"], "value": value},
        **versus,
        "rows_needed": needed,
        "few": gains.few,
        "rival": None if rival is None or over_rival is None else {**_at(rival, gains, name), **over_rival},
        "ties": _ties(best, [*bases, *rivals], name),
    }


def _ties(best: dict[str, Any], others: list[dict[str, Any]], name: str) -> list[str]:
    """Arms among others that equal an entry in every fold."""
    table = np.array([entry["scores"][name]["by_fold"] for entry in others], dtype=float)
    equal = equal_rows(np.array(best["scores"][name]["by_fold"], dtype=float), table)
    return sorted({entry["arm"] for entry, same in zip(others, equal, strict=True) if same})


def _neighbors(
    ours: list[dict[str, Any]],
    raw: dict[str, Any],
    rivals: list[dict[str, Any]],
    same: dict[str, Any],
    names: tuple[str, str | None],
    gains: Gains,
    tolerance: float,
) -> dict[str, Any] | None:
    """As against all features; better only where it is better than the same rows for every query, too.

    Beside it the figures of new rows among themselves, which no row's own labels have helped to place.
    """
    name, among = names
    goal = _goal(ours, [raw], rivals, name, gains, tolerance)
    if goal is None:
        return None
    goal["new_rows"] = None if among is None else _new_rows(top(ours, name), raw, among, gains)
    if name not in same.get("scores", {}):
        return goal
    over_same = _goal(ours, [same], rivals, name, gains, tolerance)
    if over_same is not None and goal["word"] == BETTER and over_same["word"] != BETTER:
        goal = over_same | {"new_rows": goal["new_rows"]}
    goal["same_rows"] = gains.value(same, name)
    goal["hub"] = gains.hub(top(ours, name))
    return goal


def _new_rows(best: dict[str, Any], raw: dict[str, Any], name: str, gains: Gains) -> dict[str, Any] | None:
    """Values of the embedding and of all features, and the gain; None where there are too few held-out rows."""
    values = [gains.value(entry, name) for entry in (best, raw)]
    versus = gains.versus([best], [raw], name) if all(map(_known, values)) else None
    return versus and {"measure": name, "value": values[0], "base": values[1], **versus}


def _known(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))


def _map(
    ours: list[dict[str, Any]], rivals: list[dict[str, Any]], name: str, gains: Gains, tolerance: float
) -> dict[str, Any] | None:
    """The best two coordinates against the best two of a rival."""
    return _goal(ours, rivals, [], name, gains, tolerance) if ours and rivals else None


def _compressed(
    ours: list[dict[str, Any]],
    raw: dict[str, Any],
    rivals: list[dict[str, Any]],
    names: tuple[str, str],
    gains: Gains,
    tolerance: float,
    facts: dict[str, Any],
) -> dict[str, Any] | None:
    """The smallest size that keeps what all features have, by both measures; it alone is judged."""
    small = smallest_keeping(ours, raw, names, tolerance)
    entry = top(ours, names[0]) if small is None else small
    parts: list[Any] = [_goal([entry], [raw], [], name, gains, tolerance) for name in names]
    if any(part is None for part in parts):
        return None
    said = [part["word"] for part in parts]
    overall = LEVEL if set(said) <= {BETTER, LEVEL} else WORSE if WORSE in said else CANNOT_TELL
    needed = [part["rows_needed"] for part in parts if part["word"] == CANNOT_TELL]
    shares = [share_of(part) for part in parts]
    d, nonzero = feature_count([raw], facts["d"]), facts.get("nonzero_share")
    dense = 4 * d if d == facts["d"] else None  # the cells of a table do not tell how many of its numbers are 0
    sized = [rival for rival in rivals if rival["k"] is not None]
    needs = {each["arm"]: each["k"] for each in _by_arm_smallest(sized, raw, names, tolerance)}
    return {
        "measure": names[0],
        "word": overall,
        "arm": entry["arm"],
        "k": entry["k"],
        "components": entry["components"],
        "d": d,
        "shares": dict(zip(names, shares, strict=True)),
        "rows": parts[0]["rows"],
        "few": gains.few,
        "rows_needed": max(needed) if needed and None not in needed else None,
        "bytes": 4 * entry["components"],
        "bytes_all_features": dense if not dense or not nonzero else min(dense, round(12 * nonzero * d)),
        "kept_on_folds": small is not None,
        "rivals": needs,
    }


def feature_count(entries: list[dict[str, Any]], d: int) -> int:
    """The numbers per row that all features are: d columns, or the more that the cells of a table become.

    Examples
    --------
    >>> from proxembed.evaluate.verdict import feature_count
    >>> feature_count([{"arm": "all features", "components": 79}], 6), feature_count([], 6)
    (79, 6)
    """
    return max([entry.get("components", 0) for entry in entries if entry["arm"] == ALL_FEATURES] + [d])


def share_of(goal: dict[str, Any]) -> dict[str, Any]:
    """What is left of the baseline's value: ``share`` and ``interval``, 1 being all of it.

    Examples
    --------
    >>> from proxembed.evaluate.verdict import share_of
    >>> share_of({"base": {"value": 0.5}, "gain": -0.005, "interval": [-0.01, 0.0]})
    {'share': 0.99, 'interval': [0.98, 1.0]}
    """
    base = goal["base"]["value"]
    if not base:
        return {"share": None, "interval": None}
    interval = None if goal["interval"] is None else [1 + end / base for end in goal["interval"]]
    return {"share": 1 + goal["gain"] / base, "interval": interval}


def smallest_keeping(
    ours: list[dict[str, Any]], raw: dict[str, Any], names: Sequence[str], tolerance: float
) -> dict[str, Any] | None:
    """The entry of fewest components that, like all larger sizes of its arm, keeps 1 - tolerance on the folds.

    By all measures named; of equal sizes the one that is best by the first. None where there is none.
    """
    found = _by_arm_smallest(ours, raw, names, tolerance)
    sign = sign_of(names[0])
    return min(found, key=lambda e: (e["components"], -sign * e["scores"][names[0]]["mean"]), default=None)


def _by_arm_smallest(
    entries: list[dict[str, Any]], raw: dict[str, Any], names: Sequence[str], tolerance: float
) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    lost: set[str] = set()
    for entry in sorted(entries, key=lambda entry: -(entry["k"] or 0)):
        if not all(_keeps(entry, raw, name, tolerance) for name in names):
            lost.add(entry["arm"])
        elif entry["arm"] not in lost:
            found[entry["arm"]] = entry
    return list(found.values())


def _keeps(entry: dict[str, Any], raw: dict[str, Any], name: str, tolerance: float) -> bool:
    value, base = (sign_of(name) * each["scores"][name]["mean"] for each in (entry, raw))
    return bool(value >= base - tolerance * abs(base))


def _at(entry: dict[str, Any], gains: Gains, name: str) -> dict[str, Any]:
    return {"arm": entry["arm"], "k": entry["k"], "components": entry["components"], "value": gains.value(entry, name)}


def top(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The entry of the best mean of a measure over the folds.

    Examples
    --------
    >>> from proxembed.evaluate.verdict import top
    >>> top([{"scores": {"AP": {"mean": 0.1}}}, {"scores": {"AP": {"mean": 0.2}}}], "AP")
    {'scores': {'AP': {'mean': 0.2}}}
    """
    sign = sign_of(name)
    return max(entries, key=lambda entry: sign * entry["scores"][name]["mean"])


def neighbor_measure(names: list[str]) -> str:
    """The measure of neighbours among the names.

    Examples
    --------
    >>> from proxembed.evaluate.verdict import neighbor_measure
    >>> neighbor_measure(["macro average precision (ridge)", "Jaccard@10 (cosine kNN)"])
    'Jaccard@10 (cosine kNN)'
    """
    return next((name for name in names if is_jaccard(name)), names[-1])


def new_neighbor_measure(names: list[str]) -> str | None:
    """The measure of new rows among themselves among the names; None where there is none.

    Examples
    --------
    >>> from proxembed.evaluate.verdict import new_neighbor_measure
    >>> new_neighbor_measure(["Jaccard@10 (cosine kNN)", "new-new Jaccard@10 (cosine kNN)"])
    'new-new Jaccard@10 (cosine kNN)'
    """
    return next((name for name in names if name.startswith(NEW_JACCARD.format(""))), None)


def predict_measure(names: list[str]) -> str:
    """The measure of predictions among the names: the first that does not read neighbours.

    Examples
    --------
    >>> from proxembed.evaluate.verdict import predict_measure
    >>> predict_measure(["Jaccard@10 (cosine kNN)", "macro average precision (ridge)"])
    'macro average precision (ridge)'
    """
    return next((name for name in names if not name.endswith(f"({NEIGHBORS})")), names[0])
