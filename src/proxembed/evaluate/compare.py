"""Pre-declared contrasts between arms of a comparison, over its folds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proxembed.measures.statistics import bayesian_correlated_t, holm, nadeau_bengio, nadeau_bengio_p

from .arms import ALL_FEATURES
from .results import sign_of

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


def contrasts(summary: Mapping[str, Any], pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Test pre-declared pairs of arms by the first measure of a comparison; pairs without an arm are left out."""
    scores = _FoldScores.of(summary)
    found = []
    for a, b in pairs:
        difference = scores.difference(a, b)
        if difference is not None:
            tested = _tested(difference, scores.sizes)
            found.append({"a": a, "b": b, "measure": scores.measure, **tested, "ties": scores.ties(a, b)})
    _add_holm(found)
    return found


def _tested(difference: np.ndarray, sizes: tuple[float, float]) -> dict[str, Any]:
    """The test of differences on folds of some mean sizes, as plain data."""
    interval = nadeau_bengio(difference, *sizes)
    return {
        "difference": float(difference.mean()),
        "interval": None if interval is None else list(interval),
        "p": nadeau_bengio_p(difference, *sizes),
        "bayes": bayesian_correlated_t(difference, *sizes),
        "n": len(difference),
        "unit": "fold",
        "test": "corrected t",
    }


def _add_holm(found: list[dict[str, Any]]) -> None:
    tested = [entry for entry in found if entry["p"] is not None]
    for entry in found:
        entry["p_holm"] = None
    for entry, adjusted in zip(tested, holm([entry["p"] for entry in tested]), strict=True):
        entry["p_holm"] = float(adjusted)


@dataclass(frozen=True)
class _FoldScores:
    """The first measure of a comparison: for each arm and k its value on each fold, where any arm has one; the mean
    numbers of training and held-out rows of the folds."""

    measure: str
    values: dict[tuple[str, Any], np.ndarray]
    rivals: frozenset[str]
    sizes: tuple[float, float]

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> "_FoldScores":
        """Those of a summary."""
        name = summary["measures"][0]
        entries = [entry for entry in summary["leaderboard"] if name in entry["scores"]]
        values = {(entry["arm"], entry["k"]): np.array(entry["scores"][name]["by_fold"]) for entry in entries}
        scored = ~np.all([np.isnan(each) for each in values.values()], axis=0)  # else no label has a positive row
        parts = [summary["fold_sizes"][fold] for fold in summary["folds"] if fold in summary["fold_sizes"]]
        sizes = [[part["train"], part["held_out"]] for part in parts] or [[1.0, 1.0]]
        train, held_out = np.mean(sizes, axis=0).tolist()
        rivals = frozenset(entry["arm"] for entry in entries if entry["rival"])
        return cls(name, {key: each[scored] for key, each in values.items()}, rivals, (train, held_out))

    def difference(self, a: str, b: str) -> np.ndarray | None:
        """Value of a minus value of b on each fold; None where a side has no arm."""
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
