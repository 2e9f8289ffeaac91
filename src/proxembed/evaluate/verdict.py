"""The verdict as numbers, one per goal: what an embedding is worth to predict, for neighbours, as a map, compressed.

Method and size are chosen on the folds. A comparison is judged on these folds, each side chosen on the others; arms
that a search has chosen on these very rows are judged on the test rows, which it has not seen.

A gain of one arm over another has a 95 % interval by the t test, whose units are rows, groups of rows, periods of time
or folds. Of a mean over rows (neighbours) it follows from the differences row by row; of other measures these units are
drawn again with replacement, which shows how far the gain would move with other test rows of the same kind; what a
label with few positive rows hides from it is added. Models fitted on other training rows are in neither.

A loss counts as level up to a share of what all features gain over a constant prediction, and up to twice that share of
what they miss. *Better* is corrected for the number of goals that were not asked for.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm

from proxembed.data.dataset import copied_rows
from proxembed.measures.measures import is_near, is_new_near
from proxembed.measures.statistics import holm
from proxembed.splits.splits import LEAST_GROUPS
from proxembed.tables.notes import counted
from proxembed.targets.labels import LabelMatrix

from .arms import ALL_FEATURES, MAP_SIZE
from .compare import equal_rows
from .gains import (
    FOLDS,
    GROUP,
    NESTED,
    PERIOD,
    FoldGains,
    Gains,
    NestedGains,
    TestGains,
    top,
    units_of_rows,
    whole_repeats,
)
from .part import KEPT_ROWS
from .results import (
    FEW_LABELS,
    NEAREST,
    NEIGHBORS,
    SAME_ROWS,
    TEST,
    Results,
    best_of,
    measure_name,
    name_parts,
    sign_of,
)
from .rivals.maps import SupervisedUMAP

CAN_BE_BETTER = ("neighbours", "predict", "map")
TOLERANCE, SIGNIFICANT, EQUAL = 0.03, 0.05, 1e-9
BETTER, LEVEL, WORSE, CANNOT_TELL = "better", "level", "worse", "cannot tell"
AS_SHOWN = 0.005  # a loss that two decimals do not show, of measures whose best value is 1
LEAST_ROWS, LEAST_RARER = 20, 5  # scored rows of a verdict: all, and of the rarer of two classes


def word(gain: float, interval: Sequence[float] | None, margin: float | None) -> str:
    """What a gain with its 95 % interval allows to say, where a loss up to a margin does not matter; without a margin
    only what needs none."""
    if interval is None:
        return CANNOT_TELL
    low, high = interval
    if low > 0 or margin is None:
        return BETTER if low > 0 else CANNOT_TELL
    return LEVEL if low >= -margin else WORSE if high < -margin else CANNOT_TELL


def rows_needed(rows: int, gain: float, interval: Sequence[float] | None, margin: float | None) -> int | None:
    """Test rows that would tell, if the gain stayed as it is: ``rows`` (half-width / (margin + gain))^2; of a gain
    below minus the margin those that would show it to be worse."""
    if interval is None or margin is None or gain == -margin:
        return None
    half = (interval[1] - interval[0]) / 2
    return int(np.ceil(np.round(rows * (half / (margin + gain)) ** 2, 6)))


def loss_margin(value: float, chance: float | None, best: float, tolerance: float, loss: bool = False) -> float | None:
    """The loss that counts as level beside a baseline's ``value``: the tolerance times what it gains over chance, or
    times twice what it misses of the best, whichever is less; near a best value of 1 at least ``AS_SHOWN`` in place of
    the latter. None for a baseline no better than chance; a share of the value where chance is not known."""
    if chance is None:
        return tolerance * abs(value)
    above, missed = (chance - value, value - best) if loss else (value - chance, best - value)
    least = AS_SHOWN if best == 1 else 0.0
    return min(tolerance * above, max(2 * tolerance * missed, least)) if above > EQUAL else None


@dataclass(frozen=True)
class Margins:
    """The losses that count as level, by a tolerance and the entry of the constant baseline."""

    tolerance: float
    constant: dict[str, Any]

    def chance(self, name: str, value: Callable[[dict[str, Any], str], float | None]) -> float | None:
        """The value of the constant baseline; None where it has none."""
        found = value(self.constant, name) if name in self.constant["scores"] else None
        return found if _known(found) else None

    def of(self, base: float, chance: float | None, name: str) -> float | None:
        """The margin beside a baseline."""
        return loss_margin(base, chance, best_of(name), self.tolerance, loss=sign_of(name) < 0)

    def keeps(self, entry: dict[str, Any], raw: dict[str, Any], name: str) -> bool:
        """Whether an entry loses no more than that on the folds; beside all features at chance it may lose nothing."""
        value, base = _mean(entry, name), _mean(raw, name)
        margin = self.of(base, self.chance(name, _mean), name) or 0.0
        return bool(sign_of(name) * (value - base) >= -margin)


def _mean(entry: dict[str, Any], name: str) -> float:
    return entry["scores"][name]["mean"]


def judge(
    entries: list[dict[str, Any]],
    names: list[str],
    gains: Gains,
    constant: dict[str, Any],
    *,
    facts: dict[str, Any],
    tolerance: float = TOLERANCE,
    choice: tuple[str, int] | None = None,
    asked: str | None = None,
) -> dict[str, Any]:
    """Judge the embeddings for every goal; ``constant``: the entry of the baseline that no feature has a part in,
    ``asked``: the goal that was asked for."""
    ours = [entry for entry in entries if not entry["rival"] and entry["components"]]
    raw = next((entry for entry in entries if entry["arm"] == ALL_FEATURES), None)
    verdict: dict[str, Any] = {"basis": gains.basis, "tolerance": tolerance, "asked": asked, "lacks": None, "goals": {}}
    if not ours or raw is None:
        return verdict | {"lacks": "arms"}
    if not gains.there:
        return verdict | {"lacks": gains.basis}
    rivals = [entry for entry in entries if entry["rival"] and entry is not raw]
    margins, predict, near = Margins(tolerance, constant), predict_measure(names), neighbor_measure(names)
    of_map, rivals_map = ([entry for entry in side if is_map(entry)] for side in (ours, rivals))
    own = [entry for entry in ours if (entry["arm"], entry["k"]) == choice and not entry["failures"]] or ours
    by_predict, by_near = (own if name == names[0] else ours for name in (predict, near))
    of_rivals = rivals_map, near, gains, margins
    self_contained = [entry for entry in ours if not entry.get("reads_features")]  # its numbers alone predict
    goals = {
        "neighbours": _neighbors(by_near, raw, rivals, (near, new_neighbor_measure(names)), gains, margins),
        "predict": _goal(by_predict, [raw], rivals, predict, gains, margins),
        "compress": _compressed(self_contained, raw, rivals, (predict, near), gains, margins, facts, choice),
        "map": _map([each for each in by_near if asked == "map" and is_map(each)] or of_map, *of_rivals),
    }
    return verdict | {"goals": corrected({name: goal for name, goal in goals.items() if goal is not None}, asked)}


def is_map(entry: Mapping[str, Any]) -> bool:
    """Whether an entry has two coordinates; where the training rows give one alone, there is an axis and no map."""
    return bool(entry["k"] == MAP_SIZE == entry["components"])


def corrected(goals: dict[str, dict[str, Any]], asked: str | None) -> dict[str, dict[str, Any]]:
    """The goals, of which those that were not asked for are better only after correction for their number, else level;
    each of these with the corrected ``p_holm`` and their number ``family``."""
    able = [name for name in CAN_BE_BETTER if name in goals]
    family = [name for name in able if name != asked and goals[name]["p"] is not None]
    adjusted = dict(zip(family, holm([goals[name]["p"] for name in family]).tolist(), strict=True))
    found = dict(goals)
    for name in able:
        p = adjusted.get(name)
        lost = goals[name]["word"] == BETTER and p is not None and p >= SIGNIFICANT
        found[name] = goals[name] | {"p_holm": p, "family": len(family)} | ({"word": LEVEL} if lost else {})
    return found


def _goal(
    ours: list[dict[str, Any]],
    bases: list[dict[str, Any]],
    rivals: list[dict[str, Any]],
    name: str,
    gains: Gains,
    margins: Margins,
    above_constant: bool = False,
    gives_way: bool = False,
) -> dict[str, Any] | None:
    """The best of ours against the best of some baselines: where these are no better than a constant, or if
    ``above_constant``, better only if it is better than the constant, too. ``gives_way``: a baseline below the constant
    is named as ``below_constant``, and the constant takes its place."""
    goal = _against(ours, bases, rivals, name, gains, margins)
    if goal is None or goal["chance"] is None or not (above_constant or goal["margin"] is None):
        return goal
    if is_near(name) and gains.lacks_exchange(top(ours, name)):
        return None
    over = _against(ours, [margins.constant], rivals, name, gains, margins)
    known = [each["p"] for each in (goal, over) if each is not None and each["p"] is not None]
    p = max(known) if len(known) == 2 else None
    if gives_way and over is not None and _below(goal):
        goal = over | {"below_constant": goal["base"]}
    elif goal["word"] == BETTER and (over is None or over["word"] != BETTER):
        goal = goal | {"word": CANNOT_TELL} if over is None or goal["margin"] is None else over
    return _beside_other_rows(goal | {"p": p}, gains.exchanged(top(ours, name)) if is_near(name) else None)


def _beside_other_rows(goal: dict[str, Any], score: float | None) -> dict[str, Any]:
    """Better only if rows agree with their own neighbours more than with those of other rows: lists that are nearly the
    same for all rows may be ahead of a constant list by chance. ``score``: of ``exchange_score``."""
    if score is None or goal["p"] is None:
        return goal
    p = float(2 * norm.sf(score)) if score > 0 else 1.0
    if goal["word"] == BETTER and p >= SIGNIFICANT:
        goal = goal | {"word": CANNOT_TELL, "few": "the neighbours of other rows agree as well, so nothing can be told"}
    return goal | {"p": max(goal["p"], p)}


def _against(
    ours: list[dict[str, Any]],
    bases: list[dict[str, Any]],
    rivals: list[dict[str, Any]],
    name: str,
    gains: Gains,
    margins: Margins,
) -> dict[str, Any] | None:
    """The best of ours on the folds against the best of some baselines, and beside the best rival embedding."""
    best, base, versus = gains.shown(ours, name), gains.shown(bases, name), gains.versus(ours, bases, name)
    value: Any = gains.value(base, name)
    if versus is None or value is None or gains.value(best, name) is None:
        return None
    chance = margins.chance(name, gains.value)
    margin = 0.0 if base is margins.constant else margins.of(value, chance, name)
    said = word(versus["gain"], versus["interval"], margin)
    needed = rows_needed(versus["rows"], versus["gain"], versus["interval"], margin) if said == CANNOT_TELL else None
    rival = gains.shown(rivals, name) if rivals else None
    over_rival = None if rival is None else gains.versus(ours, rivals, name)
    return {
        "measure": name,
        "word": said,
        **_at(best, gains, name),
        "base": {"arm": base["arm"], "k": base["k"], "value": value},
        **versus,
        "chance": chance,
        "margin": margin,
        "rows_needed": needed,
        "few": gains.few,
        "rival": None if rival is None or over_rival is None else {**_at(rival, gains, name), **over_rival},
        "ties": _ties(best, [*bases, *rivals], name, gains),
    }


def _ties(best: dict[str, Any], others: list[dict[str, Any]], name: str, gains: Gains) -> list[str]:
    """Arms among others that equal an entry in every fold; in nested folds on all rows together, too."""
    if gains.basis == NESTED:
        values: list[Any] = [gains.value(entry, name) for entry in (best, *others)]
        same_values = [_known(value) and _known(values[0]) and abs(value - values[0]) < EQUAL for value in values[1:]]
        others = [entry for entry, same in zip(others, same_values, strict=True) if same]
        if not others:
            return []
    table = np.array([entry["scores"][name]["by_fold"] for entry in others], dtype=float)
    equal = equal_rows(np.array(best["scores"][name]["by_fold"], dtype=float), table)
    return sorted({entry["arm"] for entry, same in zip(others, equal, strict=True) if same})


def _neighbors(
    ours: list[dict[str, Any]],
    raw: dict[str, Any],
    rivals: list[dict[str, Any]],
    names: tuple[str, str | None],
    gains: Gains,
    margins: Margins,
) -> dict[str, Any] | None:
    """As against all features; better only where it is better than the same rows for every query, too."""
    name, among = names
    goal = _goal(ours, [raw], rivals, name, gains, margins, above_constant=True)
    if goal is None:
        return None
    goal["new_rows"] = None if among is None else _new_rows(top(ours, name), raw, among, gains)
    if among is not None and goal["new_rows"] and goal["rival"]:
        entry = next(each for each in rivals if (each["arm"], each["k"]) == (goal["rival"]["arm"], goal["rival"]["k"]))
        goal["new_rows"]["rival"] = gains.value(entry, among)
        if (best := _highest_rival(rivals, among, gains)) is not None:
            other = [each for each in rivals if (each["arm"], each["k"]) == (best["arm"], best["k"])]
            over = gains.versus([top(ours, name)], other, among) or {}
            goal["new_rows"]["best_rival"] = best | {key: over.get(key) for key in ("gain", "interval")}
    return goal | {"same_rows": goal["chance"], "hub": gains.hub(top(ours, name))}


def _new_rows(best: dict[str, Any], raw: dict[str, Any], name: str, gains: Gains) -> dict[str, Any] | None:
    """Values of the embedding and of all features, and the gain; None where there are too few held-out rows."""
    values = [gains.value(entry, name) for entry in (best, raw)]
    versus = gains.versus([best], [raw], name) if all(map(_known, values)) else None
    return versus and {"measure": name, "value": values[0], "base": values[1], **versus}


def _known(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))


def _map(
    ours: list[dict[str, Any]], rivals: list[dict[str, Any]], name: str, gains: Gains, margins: Margins
) -> dict[str, Any] | None:
    """The best two coordinates against the best two of a rival; better only where they are better than the same rows
    for every query, too. ``kept``: what the map keeps of the neighbours in X, and what supervised UMAP keeps, or else
    the rival."""
    alike = {"above_constant": True, "gives_way": True}
    goal = _goal(ours, rivals, [], name, gains, margins, **alike) if ours and rivals else None
    if goal is None:
        return None
    rival = next((each for each in rivals if each["arm"] == SupervisedUMAP.title), top(rivals, name))
    own, other = (gains.kept_share(each) for each in (top(ours, name), rival))
    kept = None if own is None else {"share": own, "rival": rival["arm"], "rival_share": other}
    goal["highest"] = _highest(rivals, name, gains, goal["base"]) if goal["base"]["k"] else None
    return goal | {"same_rows": goal["chance"], "kept": kept, "others": len({each["arm"] for each in rivals})}


def _below(goal: dict[str, Any]) -> bool:
    """Whether the baseline of a goal is below the constant."""
    sign, chance = sign_of(goal["measure"]), goal["chance"]
    return chance is not None and sign * (chance - goal["base"]["value"]) > EQUAL


def _highest(rivals: list[dict[str, Any]], name: str, gains: Gains, base: dict[str, Any]) -> dict[str, Any] | None:
    """The rival of the best value on the rows scored, where this is above that of the baseline."""
    best = _highest_rival(rivals, name, gains)
    if best is None or sign_of(name) * (best["value"] - base["value"]) <= EQUAL:
        return None
    return {key: best[key] for key in ("arm", "k", "value")}


def _highest_rival(rivals: list[dict[str, Any]], name: str, gains: Gains) -> dict[str, Any] | None:
    """The rival of the best value on the rows scored; None where no value is known."""
    known = [found for each in rivals if _known((found := _at(each, gains, name))["value"])]
    return max(known, key=lambda found: sign_of(name) * found["value"]) if known else None


def _compressed(
    ours: list[dict[str, Any]],
    raw: dict[str, Any],
    rivals: list[dict[str, Any]],
    names: tuple[str, str],
    gains: Gains,
    margins: Margins,
    facts: dict[str, Any],
    choice: tuple[str, int] | None = None,
) -> dict[str, Any] | None:
    """The smallest size that keeps what all features have, by both measures; it alone is judged. Of equal sizes it is
    that of the ``choice``, which is saved."""
    if not ours:
        return None
    small = smallest_keeping(ours, raw, names, margins, choice)
    entry = top(ours, names[0]) if small is None else small
    parts: list[Any] = [_goal([entry], [raw], [], name, gains, margins) for name in names]
    if any(part is None for part in parts):
        return None
    said = [part["word"] for part in parts]
    overall = LEVEL if set(said) <= {BETTER, LEVEL} else WORSE if WORSE in said else CANNOT_TELL
    needed = [part["rows_needed"] for part in parts if part["word"] == CANNOT_TELL]
    shares = [share_of(part) | {"base": part["base"]["value"]} for part in parts]
    d, nonzero = feature_count([raw], facts["d"]), facts.get("nonzero_share")
    dense = 4 * d if d == facts["d"] else None  # the cells of a table do not tell how many of its numbers are 0
    sized = [rival for rival in rivals if rival["k"] is not None]
    needs = {each["arm"]: each["k"] for each in _by_arm_smallest(sized, raw, names, margins)}
    return {
        "measure": names[0],
        "word": overall,
        "arm": entry["arm"],
        "k": entry["k"],
        "components": entry["components"],
        "d": d,
        "shares": dict(zip(names, shares, strict=True)),
        "constant": {part["measure"]: share_of_constant(part) for part in parts},
        "rows": parts[0]["rows"],
        "units": parts[0]["units"],
        "few": gains.few,
        "at_chance": {part["measure"]: [part["base"]["value"], part["chance"]] for part in parts if _at_chance(part)},
        "rows_needed": max(needed) if needed and None not in needed else None,
        "bytes": 4 * entry["components"],
        "bytes_all_features": dense if not dense or not nonzero else min(dense, round(12 * nonzero * d)),
        "kept_on_folds": small is not None,
        "rivals": needs,
    }


def _at_chance(goal: dict[str, Any]) -> bool:
    """Whether nothing can be told because the baseline is no better than a constant."""
    return goal["word"] == CANNOT_TELL and goal["margin"] is None


def feature_count(entries: list[dict[str, Any]], d: int) -> int:
    """The numbers per row that all features are: d columns, or the more that the cells of a table become."""
    return max([entry.get("components", 0) for entry in entries if entry["arm"] == ALL_FEATURES] + [d])


def share_of(goal: dict[str, Any]) -> dict[str, Any]:
    """What is left of the baseline's value: ``share`` and ``interval``, 1 being all of it."""
    base = goal["base"]["value"]
    if not base:
        return {"share": None, "interval": None}
    interval = None if goal["interval"] is None else [1 + end / base for end in goal["interval"]]
    return {"share": 1 + goal["gain"] / base, "interval": interval}


def share_of_constant(goal: dict[str, Any]) -> float | None:
    """What the baseline that no feature has a part in has of the value of a goal's baseline, as ``share_of``."""
    base, chance = goal["base"]["value"], goal["chance"]
    return None if not base or chance is None else 1 + sign_of(goal["measure"]) * (chance - base) / base


def smallest_keeping(
    ours: list[dict[str, Any]],
    raw: dict[str, Any],
    names: Sequence[str],
    margins: Margins,
    choice: tuple[str, int] | None = None,
) -> dict[str, Any] | None:
    """The entry of fewest components that, like all larger sizes of its arm, loses at most the margin on the folds; of
    equal sizes the ``choice``, else the best."""
    found, sign = _by_arm_smallest(ours, raw, names, margins), sign_of(names[0])

    def place(entry: dict[str, Any]) -> tuple[int, bool, float]:
        return entry["components"], (entry["arm"], entry["k"]) != choice, -sign * _mean(entry, names[0])

    return min(found, key=place, default=None)


def _by_arm_smallest(
    entries: list[dict[str, Any]], raw: dict[str, Any], names: Sequence[str], margins: Margins
) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    lost: set[str] = set()
    for entry in sorted(entries, key=lambda entry: -(entry["k"] or 0)):
        if not all(margins.keeps(entry, raw, name) for name in names):
            lost.add(entry["arm"])
        elif entry["arm"] not in lost:
            found[entry["arm"]] = entry
    return list(found.values())


def _at(entry: dict[str, Any], gains: Gains, name: str) -> dict[str, Any]:
    facts = {key: entry[key] for key in ("arm", "k", "components")}
    return {**facts, "reads_features": entry.get("reads_features", False), "value": gains.value(entry, name)}


def neighbor_measure(names: list[str]) -> str:
    """The measure of neighbours among the names."""
    return next((name for name in names if is_near(name)), names[-1])


def new_neighbor_measure(names: list[str]) -> str | None:
    """The measure of new rows among themselves among the names; None if there is none."""
    return next((name for name in names if is_new_near(name)), None)


def predict_measure(names: list[str]) -> str:
    """The measure of predictions among the names: the first that does not read neighbours."""
    return next((name for name in names if name_parts(name)[1] not in (NEIGHBORS, NEAREST)), names[0])


def too_few(dataset: Any, rows: np.ndarray) -> str | None:
    """Why scored rows are too few for a verdict; None if they are enough."""
    rows = np.unique(rows)
    labels, unit = dataset.targets.take(rows), units_of_rows(dataset, rows)
    if unit is not None and (count := len(np.unique(unit))) < LEAST_GROUPS:
        return _few(count, PERIOD if dataset.groups is None else GROUP, " of scored rows", LEAST_GROUPS)
    if labels.n < LEAST_ROWS:
        return _few(labels.n, "scored row", "", LEAST_ROWS)
    if not isinstance(labels, LabelMatrix) or labels.c > 2 or labels.c == 2 and not dataset.single_label:
        return None
    known = labels.n if labels.unknown is None else labels.n - int(labels.unknown[:, [0]].sum())
    rarer = min(int(labels.nk[0]), known - int(labels.nk[0]))
    what = "of the rarer class" if labels.c == 2 else "with" if rarer == int(labels.nk[0]) else "without"
    what = f" {what}{'' if labels.c == 2 else ' the label'}"
    return _few(rarer, "scored row", what, LEAST_RARER) if rarer < LEAST_RARER else None


def _few(count: int, noun: str, what: str, least: int) -> str:
    are = f"{counted(count, noun)}{what} {'is' if count == 1 else 'are'}"
    return f"{are} too few to tell, at least {least} are needed"


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
        "reads_features": any(row.get("reads_features", False) for row in rows),
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


def _joined(scores: list[float], repeats: int) -> float:
    """Standard scores of folds as one, as if the repeats of these were all alike."""
    return float(np.sum(scores)) / math.sqrt(len(scores) * max(repeats, 1))


def decisions_of(results: Results, key: tuple[str, int | None]) -> list[Any] | None:
    """The ``label_decisions`` of an arm as lists, those of many labels as one; None where they are not known."""
    found = label_decisions(results, key)
    if found is None:
        return None
    few = found if found.shape[-1] <= FEW_LABELS else found.sum(axis=-1, keepdims=True)
    return list(few.tolist())


def label_decisions(results: Results, key: tuple[str, int | None]) -> np.ndarray | None:
    """The ``decided_counts`` of an arm (2, 2, 2, c): of the test rows, or of all rows of nested folds, the mean over
    the repeats; None where they are not known."""
    repeats = whole_repeats(results) or [[TEST]]
    folds = [fold for repeat in repeats for fold in repeat]
    each = [results.decisions[*key, fold] for fold in folds if (*key, fold) in results.decisions]
    if len(each) < len(folds):
        return None
    return np.asarray(np.sum(each, axis=0) / len(repeats))


def _kept_of(results: Results, key: tuple[str, int | None], folds: list[str]) -> dict[str, Any] | None:
    """What a map keeps of the neighbours in X: ``mean`` of the folds, ``by_fold``, ``test``, and of how many held-out
    rows, those of the test where there is one, else of all folds; None of what is not a map."""
    by_fold = [results.kept.get((*key, fold), math.nan) for fold in folds]
    test, known = results.kept.get((*key, TEST)), [share for share in by_fold if math.isfinite(share)]
    if not known:
        return None
    of = folds if test is None else [TEST]
    rows = sum(min(results.folds[fold]["held_out"], KEPT_ROWS) for fold in of if fold in results.folds)
    return {"mean": float(np.mean(known)), "by_fold": by_fold, "test": test, "rows": rows}


def _curves(entries: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    curves: dict[str, dict[str, list[Any]]] = {name: defaultdict(list) for name in names}
    sized = {entry["arm"] for entry in entries if entry["k"] is not None}
    for entry in (each for each in entries if each["k"] is not None or each["arm"] not in sized):
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
            "kept": _kept_of(results, key, folds),
            "decisions": decisions_of(results, key),
            "exchanged": _over_folds(results.exchanged, key, folds, partial(_joined, repeats=len(results.repeats))),
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


def _gains(results: Results, searched: Any, sizes: list[dict[str, Any]], folds: list[str]) -> Gains:
    """Where gains are taken from."""
    if searched is not None and results.repeats:
        return NestedGains(results, searched, folds)
    if searched is not None and results.protocol.get("standard", True):
        return TestGains(results, searched)
    return FoldGains(sizes, results.few.get(FOLDS))


def without_copies(
    results: Results,
    searched: Any,
    entries: list[dict[str, Any]],
    names: list[str],
    constant: dict[str, Any],
    **asked: Any,
) -> dict[str, Any] | None:
    """The verdict on the test rows that have no copy among the training rows, by the same scores: how many ``rows`` are
    left out, and per goal the word, the value, that of the baseline, the gain and its interval; without the goals whose
    figures do not follow from what is kept of the rows. None where no test row has a copy, or all have one."""
    if searched is None or TEST not in results.folds or not results.dataset.get("copied_test_rows"):
        return None
    rows = results.held_out[TEST]
    keep = ~copied_rows(searched, rows, searched.train_idx)
    if keep.all() or not keep.any():
        return None
    gains = TestGains(results, searched, keep)
    gains.few = too_few(searched, rows[keep])
    goals = judge(entries, names, gains, constant, **asked)["goals"]
    return {"rows": int((~keep).sum()), "goals": {name: _main_figures(goal) for name, goal in goals.items()}}


def _main_figures(goal: dict[str, Any]) -> dict[str, Any]:
    base, rival = (goal.get(name) or {} for name in ("base", "rival"))
    of_rival = {f"rival_{key}": rival.get(key) for key in ("gain", "interval")}
    own = ("word", "value", "gain", "interval", "p", "margin", "few", "shares", "at_chance")
    return {"base": base.get("value"), "rival": rival.get("value"), **of_rival, **{key: goal.get(key) for key in own}}


def constant_entry(results: Results, folds: list[str], near: str, predict: str) -> dict[str, Any]:
    """The baseline that no feature has a part in, as an entry of the leaderboard: the same training rows for every
    query, and one prediction for every row."""
    values: dict[str, dict[str, float | None]] = {
        near: dict(results.same_rows),
        predict: {fold: constant.value for fold, constant in results.constants.items()},
    }
    scores = {}
    for name, by_name in values.items():
        by_fold = np.array([by_name.get(fold, math.nan) for fold in folds], dtype=float)
        if np.isfinite(by_fold).any():
            mean = float(by_fold[np.isfinite(by_fold)].mean())
            scores[name] = {"mean": mean, "by_fold": by_fold.tolist(), "test": by_name.get(TEST)}
    return {"arm": SAME_ROWS, "rival": True, "k": None, "components": 0, "scores": scores}


def rows_of_folds(summary: dict[str, Any]) -> int:
    """Rows that the folds of a comparison are made of: the training rows where there are test rows, else all."""
    sizes = [summary["fold_sizes"][fold] for fold in summary["folds"] if fold in summary["fold_sizes"]]
    return max((size["train"] + size["held_out"] for size in sizes), default=summary["dataset"]["n"])


def summarise(
    results: Results,
    searched: Any = None,
    tolerance: float = TOLERANCE,
    choose: Callable[[list[dict[str, Any]], str], dict[str, Any] | None] | None = None,
    goal: str | None = None,
) -> dict[str, Any]:
    """Summarise a comparison as plain data, ready for JSON, the table, the file and the page; ``goal``: the goal that
    was asked for."""
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
    gains = _gains(results, searched, sizes, folds)
    constant = constant_entry(results, folds, neighbor_measure(names), predict_measure(names))
    if isinstance(gains, NestedGains):
        gains.fill([*entries, constant])
    asked: dict[str, Any] = {"facts": results.dataset, "tolerance": tolerance, "choice": choice, "asked": goal}
    verdict = judge(entries, names, gains, constant, **asked)
    if isinstance(gains, TestGains) and verdict["lacks"] is None:
        verdict["without_copies"] = without_copies(results, searched, entries, names, constant, **asked)
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
        "constant": constant["scores"],
        "verdict": verdict,
        "failures": [[e["arm"], e["k"], reason] for e in entries for reason in e["failures"]],
    }
