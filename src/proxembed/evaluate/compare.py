"""Pre-declared contrasts between arms: on one data set over its folds, or on several over the data sets."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proxembed.measures.statistics import (
    ROPE,
    bayesian_correlated_t,
    bayesian_signed_rank,
    holm,
    nadeau_bengio,
    nadeau_bengio_p,
    wilcoxon_holm,
)

from .arms import ALL_FEATURES
from .results import TEST, measure_name, sign_of

BEST_METHOD, BEST_RIVAL = "best method", "best rival"
SIDES = (BEST_METHOD, BEST_RIVAL, ALL_FEATURES)
EQUAL = 1e-9  # values of a measure that differ by less are equal


def chosen_elsewhere(table: np.ndarray) -> np.ndarray:
    """Value on each fold of the row that is best on the other folds: an estimate free of the choice's optimism."""
    table = np.asarray(table, dtype=float)
    if table.shape[1] == 1:
        return table.max(axis=0)
    others = table.sum(axis=1, keepdims=True) - table
    return table[others.argmax(axis=0), np.arange(table.shape[1])]


def equal_rows(row: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Which rows of a table equal a row of values in every fold, (candidates,)."""
    return np.isclose(table, row, rtol=0, atol=EQUAL, equal_nan=True).all(axis=1)


def gain_on_folds(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Gain on each fold of what is best on the other folds: 0 if the best of the side ahead equals a row of
    the other."""
    gain = chosen_elsewhere(ours) - chosen_elsewhere(theirs)
    ahead, behind = (ours, theirs) if gain.mean() > 0 else (theirs, ours)
    tied = any(equal_rows(ahead[i], behind).any() for i in _best_rows(ahead))
    return np.zeros_like(gain) if tied else gain


def _best_rows(table: np.ndarray) -> np.ndarray:
    """Numbers of the rows of the best mean; means that differ by rounding are equal."""
    mean = table.mean(axis=1)
    return np.flatnonzero(mean >= mean.max() - EQUAL)


def contrasts(
    found: Any,
    pairs: Sequence[tuple[str, str]],
    *,
    measure: str | None = None,
    sizes: tuple[float, float] | None = None,
    rope: float = ROPE,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Test pre-declared pairs of arms on one data set, over its folds, or on several, over the data sets."""
    if isinstance(found, Sequence) and not found:
        raise ValueError("found holds no data set and no row; give at least one summary.")
    several = isinstance(found, Sequence) and not (isinstance(found[0], Mapping) and "fold" in found[0])
    sets = [_fold_scores(each, measure, sizes) for each in (found if several else [found])]
    tested: list[Any] = [(a, b, [each.difference(a, b) for each in sets]) for a, b in pairs]
    tested = [(a, b, differences) for a, b, differences in tested if all(d is not None for d in differences)]
    if several:
        out = _across(tested, rope, seed)
    else:
        out = [
            _within(differences[0], sets[0].sizes, rope) | {"ties": sets[0].ties(a, b)} for a, b, differences in tested
        ]
        _add_holm(out)
    return [{"a": a, "b": b, "measure": sets[0].measure, **facts} for (a, b, _), facts in zip(tested, out, strict=True)]


def _within(differences: np.ndarray, sizes: tuple[float, float], rope: float) -> dict[str, Any]:
    interval = nadeau_bengio(differences, *sizes)
    return {
        "difference": float(differences.mean()),
        "interval": None if interval is None else list(interval),
        "p": nadeau_bengio_p(differences, *sizes),
        "bayes": bayesian_correlated_t(differences, *sizes, rope=rope),
        "n": len(differences),
        "unit": "fold",
        "test": "corrected t",
    }


def _across(tested: list[Any], rope: float, seed: int) -> list[dict[str, Any]]:
    means = [np.array([d.mean() for d in differences]) for _, _, differences in tested]
    p, adjusted = wilcoxon_holm(means)
    return [
        {
            "difference": float(each.mean()),
            "interval": None,
            "p": float(p[i]),
            "p_holm": float(adjusted[i]),
            "bayes": bayesian_signed_rank(each, rope, seed),
            "n": len(each),
            "unit": "data set",
            "test": "Wilcoxon signed-rank",
        }
        for i, each in enumerate(means)
    ]


def _add_holm(found: list[dict[str, Any]]) -> None:
    tested = [entry for entry in found if entry["p"] is not None]
    for entry in found:
        entry["p_holm"] = None
    for entry, adjusted in zip(tested, holm([entry["p"] for entry in tested]), strict=True):
        entry["p_holm"] = float(adjusted)


@dataclass(frozen=True)
class _FoldScores:
    """One measure of one data set: for each arm and k its value on each validation fold."""

    measure: str
    values: dict[tuple[str, Any], np.ndarray]
    rivals: frozenset[str]
    sizes: tuple[float, float]

    def difference(self, a: str, b: str) -> np.ndarray | None:
        """Value of a minus value of b on each fold; None where the data set has no arm for a side."""
        (_, left), (_, right) = self._side(a), self._side(b)
        sign = sign_of(self.measure)
        return sign * gain_on_folds(left, right) if len(left) and len(right) else None

    def ties(self, a: str, b: str) -> list[str]:
        """Other arms of b that equal the best arm of a in every fold."""
        (ours, left), (theirs, right) = self._side(a), self._side(b)
        best = _best_rows(left)
        found = {theirs[j] for i in best for j in np.flatnonzero(equal_rows(left[i], right))}
        return sorted(found - {ours[i] for i in best})

    def _side(self, name: str) -> tuple[list[str], np.ndarray]:
        """The arms of a side, one for each size, and their values, larger being better."""
        arms = {arm for arm, _ in self.values}
        if name == BEST_METHOD:
            arms -= self.rivals
        elif name == BEST_RIVAL:
            arms = (arms & self.rivals) - {ALL_FEATURES}
        elif name not in arms | {ALL_FEATURES}:
            raise ValueError(
                f"{name!r} is not an arm of this comparison; its sides are {', '.join([*SIDES, *sorted(arms)])}."
            )
        else:
            arms &= {name}
        found = [(arm, values) for (arm, _), values in sorted(self.values.items(), key=_by_size) if arm in arms]
        return [arm for arm, _ in found], sign_of(self.measure) * np.array([values for _, values in found])


def _by_size(item: Any) -> tuple[str, int]:
    (arm, k), _ = item
    return arm, k or 0


def _fold_scores(found: Any, measure: str | None, sizes: Any) -> _FoldScores:
    if isinstance(found, Mapping):
        return _from_summary(found, measure)
    if not isinstance(found, Sequence):
        done = [part for name, part in found.folds.items() if name != TEST]
        sizes = _mean_sizes(done) if done else sizes
        found = found.rows
    return _from_rows(found, measure, sizes)


def _mean_sizes(parts: list[dict[str, Any]]) -> tuple[float, float]:
    return float(np.mean([part["train"] for part in parts])), float(np.mean([part["held_out"] for part in parts]))


def _from_summary(summary: Mapping[str, Any], measure: str | None) -> _FoldScores:
    name = measure or summary["measures"][0]
    scored = [entry for entry in summary["leaderboard"] if name in entry["scores"]]
    if not scored:
        raise ValueError(f"measure={name!r} is unknown; this comparison has {', '.join(summary['measures'])}.")
    values = {(entry["arm"], entry["k"]): np.array(entry["scores"][name]["by_fold"]) for entry in scored}
    rivals = frozenset(entry["arm"] for entry in scored if entry["rival"])
    parts = [summary["fold_sizes"][fold] for fold in summary["folds"] if fold in summary["fold_sizes"]]
    return _FoldScores(name, _scored_folds(values), rivals, _mean_sizes(parts) if parts else (1.0, 1.0))


def _from_rows(rows: Sequence[Mapping[str, Any]], measure: str | None, sizes: Any) -> _FoldScores:
    names = list(dict.fromkeys(measure_name(row["measure"], row["readout"]) for row in rows))
    name = measure or names[0]
    if name not in names:
        raise ValueError(f"measure={name!r} is unknown; this comparison has {', '.join(names)}.")
    if sizes is None:
        raise ValueError(
            "sizes=None: rows do not tell the sizes of the parts; give (mean training, mean held-out) rows."
        )
    by_arm: dict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["fold"] != TEST and measure_name(row["measure"], row["readout"]) == name:
            by_arm[row["arm"], row["k"]][row["fold"]] = row["value"]
    everywhere = set.intersection(*map(set, by_arm.values()))
    folds = [fold for fold in next(iter(by_arm.values())) if fold in everywhere]
    if not folds:
        raise ValueError("no fold was finished by every arm, so there is nothing to compare; let it run longer.")
    values = {key: np.array([each[fold] for fold in folds]) for key, each in by_arm.items()}
    rivals = frozenset(row["arm"] for row in rows if row["rival"])
    return _FoldScores(name, _scored_folds(values), rivals, sizes)


def _scored_folds(values: dict[tuple[str, Any], np.ndarray]) -> dict[tuple[str, Any], np.ndarray]:
    """Leave out folds on which the measure is undefined for every arm (no label with a positive row)."""
    scored = ~np.all([np.isnan(each) for each in values.values()], axis=0)
    return {key: each[scored] for key, each in values.items()}
