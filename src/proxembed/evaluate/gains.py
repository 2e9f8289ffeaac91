"""Where the values and gains of a verdict come from: folds, test rows, or nested folds that hold out every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from proxembed.measures.measures import AVERAGE_PRECISION, Measure, is_near, is_new_near, measure_of
from proxembed.measures.metrics import class_weights
from proxembed.measures.outputs import OutputCells, agreement_each, mean_over_outputs, q2_each
from proxembed.measures.statistics import (
    DrawnPrecision,
    drawn_precision,
    drawn_weights,
    enough_rows_each,
    finite_means,
    nadeau_bengio,
    nadeau_bengio_p,
    precision_difference,
    redrawn_gain,
    row_units,
    t_tested,
)
from proxembed.splits.shuffles import time_periods
from proxembed.targets.known import known_cells
from proxembed.targets.values import dense_labels

from .compare import gain_on_folds
from .results import NEIGHBORS, RIDGE, SAME_ROWS, TEST, Results, label_precisions, name_parts, sign_of

FOLDS, TEST_ROWS, NESTED = "folds", "test rows", "nested folds"
GROUP, PERIOD = "group", "independent period"  # of rows that vary together
OUTPUT_GAINS = {"Q2": q2_each, "A": agreement_each, "new-new A": agreement_each}  # by the name before "@"
POOLED = "predictions", "similarity", "new_similarity"


def top(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The entry of the best mean of a measure over the folds."""
    sign = sign_of(name)
    return max(entries, key=lambda entry: sign * entry["scores"][name]["mean"])


def units_of_rows(dataset: Any, rows: np.ndarray) -> np.ndarray | None:
    """The units of scored rows that intervals count: groups or periods of time; None: rows."""
    if dataset.groups is not None:
        return np.asarray(dataset.groups)[rows]
    if dataset.times is None:
        return None
    return time_periods(dataset.targets.take(rows), np.asarray(dataset.times)[rows])


class MeansOfFolds:
    """What entries hold as means over the folds."""

    def hub(self, entry: dict[str, Any]) -> float | None:
        """Largest share of held-out rows that list one training row, over the folds."""
        return entry.get("hub")

    def kept_share(self, entry: dict[str, Any]) -> float | None:
        """What a map keeps of the neighbours in X, the mean over the folds."""
        return entry["kept"]["mean"] if entry.get("kept") else None

    def lacks_exchange(self, entry: dict[str, Any]) -> bool:
        """Whether ``exchanged`` is not known of the rows that count."""
        return False

    def exchanged(self, entry: dict[str, Any]) -> float | None:
        """How far rows agree more with their own neighbours than with those of other rows, in standard deviations."""
        return entry.get("exchanged")


class FoldGains(MeansOfFolds):
    """Values are means over the folds; of a gain, arm and size of both sides are chosen on the other folds."""

    basis, there = FOLDS, True

    def __init__(self, sizes: list[dict[str, Any]], few: str | None = None):
        self.sizes, self.few = sizes, few

    def value(self, entry: dict[str, Any], name: str) -> float | None:
        """Mean of a measure over the folds."""
        return entry["scores"][name]["mean"]

    def shown(self, entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
        """The entry whose value stands for a side: the one of the best mean."""
        return top(entries, name)

    def versus(self, entries: list[dict[str, Any]], others: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
        """``gain``, ``interval`` and ``p`` of Nadeau and Bengio (None with one fold) and ``rows`` held out over all
        folds."""
        ours, theirs = _by_fold(entries, name), _by_fold(others, name)
        defined = np.isfinite(np.vstack([ours, theirs])).all(axis=0)
        if not defined.any():
            return None
        gain = gain_on_folds(ours[:, defined], theirs[:, defined])
        parts = [(size["train"], size["held_out"]) for size in self.sizes]
        interval = p = None
        if parts and self.few is None:
            mean_sizes = np.mean(parts, axis=0)
            interval, p = nadeau_bengio(gain, *mean_sizes), nadeau_bengio_p(gain, *mean_sizes)
        rows, ends = sum(held_out for _, held_out in parts), None if interval is None else list(interval)
        return {"gain": float(gain.mean()), "interval": ends, "p": p, "rows": rows, "units": None}


def _by_fold(entries: list[dict[str, Any]], name: str) -> np.ndarray:
    """(entries, folds): values of a measure, larger being better; NaN on a fold where it is not defined."""
    return sign_of(name) * np.array([entry["scores"][name]["by_fold"] for entry in entries], dtype=float)


class TestGains:
    """Values and gains of the test rows, of the arm and size that are best on the folds. ``keep`` (mask): of these of
    them alone, by the same scores."""

    basis = TEST_ROWS
    __test__ = False  # pytest takes no class of this name for a test

    def __init__(self, results: Results, dataset: Any, keep: np.ndarray | None = None):
        self.results, self.there, self.few = results, TEST in results.folds, results.few.get(TEST_ROWS)
        self.keep: Any = slice(None) if keep is None else np.flatnonzero(keep)
        self.whole = keep is None
        self._precisions: dict[tuple[str, int | None], DrawnPrecision] = {}
        if self.there:
            rows = results.held_out[TEST][self.keep]
            self.truth: Any = results.truths.get(TEST)
            if self.truth is not None and not self.whole:
                self.truth = self.truth.take(self.keep)
            if self.truth is None:
                self.truth = dense_labels(sp.csr_array(dataset.Y)[rows])
            self.known_cells = known_cells(dataset.unknown, rows)
            self.groups = units_of_rows(dataset, rows)
            self.given = dataset.sample_weight
            self.weights = None if self.given is None else self.given[rows]
            self.drawn = drawn_weights(len(rows), self.groups)
            self.drawn = self.drawn if self.weights is None else self.drawn * self.weights
            self.units = len(rows) if self.groups is None else len(np.unique(self.groups))
            self.unit = PERIOD if dataset.groups is None else GROUP

    def value(self, entry: dict[str, Any], name: str) -> float | None:
        """Value of a measure on the test rows."""
        found = None if self.whole else self.recomputed(entry, *name_parts(name))
        worst = self.whole or entry.get("failures")  # which of one that failed is that of all rows
        return entry["scores"][name]["test"] if found is None and worst else found

    def shown(self, entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
        """The entry whose value stands for a side: the one of the best mean."""
        return top(entries, name)

    def hub(self, entry: dict[str, Any]) -> float | None:
        """Largest share of test rows that list one training row."""
        return self.results.hubs.get((entry["arm"], entry["k"], TEST))

    def kept_share(self, entry: dict[str, Any]) -> float | None:
        """What a map keeps of the neighbours of the test rows in X."""
        return self.results.kept.get((entry["arm"], entry["k"], TEST))

    def lacks_exchange(self, entry: dict[str, Any]) -> bool:
        """Whether ``exchanged`` is known of all test rows alone, not of those that are kept."""
        return (entry["arm"], entry["k"], TEST) in self.results.exchanged and self.exchanged(entry) is None

    def exchanged(self, entry: dict[str, Any]) -> float | None:
        """How far rows agree more with their own neighbours than with those of other rows, in standard deviations."""
        scores = self.results.exchanged if self.whole else self.results.exchanged_alone
        return scores.get((entry["arm"], entry["k"], TEST))

    def versus(self, entries: list[dict[str, Any]], others: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
        """``gain``, ``interval``, ``p`` and ``rows``; None where the measure has no value on the test rows."""
        ours, theirs = (top(side, name) for side in (entries, others))
        measure_name, readout = name_parts(name)
        found: dict[str, Any] | None
        if isinstance(self.truth, OutputCells) and (each := OUTPUT_GAINS.get(measure_name.partition("@")[0])):
            found = self._output_gain(each, self._kept(measure_name), ours, theirs)
        elif readout == NEIGHBORS and is_near(measure_name):
            found = self._paired(self.results.similarity, ours, theirs)
        elif readout == NEIGHBORS and measure_of(measure_name).reads == "new neighbors":
            similarity = self.results.new_similarity
            found = self._paired(similarity, ours, theirs) if similarity else None
        else:
            found = self._gain(self._measure(measure_name), ours, theirs, name)
        if found is None:
            return None
        testable = self.units > 1 and self.few is None  # one group cannot be drawn again
        found = found if testable else {**found, "interval": None, "p": None}
        return {**found, "rows": len(self.truth), "units": None if self.groups is None else [self.units, self.unit]}

    def _kept(self, measure: str) -> Mapping[Any, Any]:
        """What a measure of outputs follows from: predictions, or moments of neighbours."""
        kept = self.results.new_similarity if is_new_near(measure) else self.results.similarity
        return kept if "@" in measure else self.results.predictions

    def _output_gain(
        self, each: Any, kept: Mapping[Any, Any], ours: dict[str, Any], theirs: dict[str, Any]
    ) -> dict[str, Any] | None:
        """The gain in a measure of outputs, with rows (whole groups) drawn again; a failed arm is at 0."""
        draws = []
        for entry in (ours, theirs):
            found = kept.get((entry["arm"], entry["k"], TEST))
            if found is None and entry["arm"] != SAME_ROWS and not entry.get("failures"):
                return None  # too few rows for the measure
            none = np.zeros((len(self.drawn) + 1, 1))
            once = np.ones(len(self.truth)) if self.weights is None else self.weights
            weights = np.vstack([once, self.drawn])
            rows = found if found is None or self.whole else np.asarray(found)[self.keep]
            draws.append(none if rows is None else mean_over_outputs(each(self.truth, rows, weights))[:, None])
        moved = (draws[0] - draws[1])[:, 0]
        return t_tested(float(moved[0]), float(np.nanstd(moved[1:], ddof=1)), self.units)

    def _measure(self, name: str) -> Measure:
        primary = self.results.measure
        return primary if primary is not None and primary.name == name else measure_of(name)

    def _paired(
        self, similarity: Mapping[Any, np.ndarray], ours: dict[str, Any], theirs: dict[str, Any]
    ) -> dict[str, Any]:
        """Gain of the mean similarity of rows; of an arm that failed it is 0."""
        own, other = (self._of_rows(similarity, entry) for entry in (ours, theirs))
        return paired_gain(own, other, self.groups, class_weights(self.truth, self.known_cells, self.weights))

    def _of_rows(self, similarity: Mapping[Any, np.ndarray], entry: dict[str, Any]) -> np.ndarray:
        """The similarity of each row; 0 of an arm that failed."""
        found = similarity.get((entry["arm"], entry["k"], TEST))
        return np.zeros(len(self.truth)) if found is None else found[self.keep]

    def _gain(self, measure: Measure, ours: dict[str, Any], theirs: dict[str, Any], name: str) -> dict[str, Any] | None:
        least = self.results.protocol.get("min_positives", 1)
        cells, groups = self.known_cells, self.groups
        if measure.name == AVERAGE_PRECISION:
            truth = enough_rows_each(self.truth, least)
            if not truth.any():
                return None
            own, other = (self._precision(entry, truth) for entry in (ours, theirs))
            return precision_difference(own, other, self.units, groups, self.weights)
        values: list[Any] = [self.value(entry, name) for entry in (ours, theirs)]
        if None in values or not np.isfinite(values).all():
            return None
        gain = measure.score(values[0]) - measure.score(values[1])
        first, second = (self._scores(entry) for entry in (ours, theirs))
        drawn = (measure, self.truth, first, second, self.drawn, gain, least, cells, groups)
        found = redrawn_gain(*drawn, sample_weight=self.weights)
        return {"gain": gain, "interval": None, "p": None} if found is None else found

    def _precision(self, entry: dict[str, Any], truth: np.ndarray) -> DrawnPrecision:
        """The average precision of an entry, once and drawn; several goals ask for that of one."""
        key = entry["arm"], entry["k"]
        if key not in self._precisions:
            self._precisions[key] = drawn_precision(
                self._scores(entry), truth, self.drawn, self.known_cells, self.weights
            )
        return self._precisions[key]

    def _scores(self, entry: dict[str, Any]) -> np.ndarray | None:
        """Stored scores of the test rows; None of an arm that failed."""
        found = self.results.predictions.get((entry["arm"], entry["k"], TEST))
        if found is None and entry["arm"] == SAME_ROWS:
            return np.tile(self.results.constants[TEST].scores, (len(self.truth), 1))
        return None if found is None else np.asarray(found)[self.keep]

    def recomputed(self, entry: dict[str, Any], measure: str, readout: str) -> float | None:
        """The value of a measure from what is kept of the rows; None where nothing is."""
        once = np.ones(len(self.truth)) if self.weights is None else self.weights
        key = entry["arm"], entry["k"], TEST
        if isinstance(self.truth, OutputCells):
            each, kept = OUTPUT_GAINS.get(measure.partition("@")[0]), self._kept(measure).get(key)
            if each is None or kept is None:
                return None
            rows = kept if self.whole else np.asarray(kept)[self.keep]
            return float(mean_over_outputs(each(self.truth, rows, once)))
        if not self.whole and readout == NEIGHBORS and (is_near(measure) or is_new_near(measure)):
            kept = self.results.new_similarity if is_new_near(measure) else self.results.similarity
            weights = class_weights(self.truth, self.known_cells, self.weights)
            return float(np.average(self._of_rows(kept, entry), weights=weights))
        own = self._measure(measure)
        if readout != RIDGE or own.reads != "scores" or (scores := self._scores(entry)) is None:
            return None
        least = self.results.protocol.get("min_positives", 1)
        return own.value(self.truth, scores, least, self.known_cells, self.weights)[0]


class NestedGains(MeansOfFolds):
    """Values and gains of rows that are each held out once in every repeat of nested folds.

    What is kept of the rows of a repeat is put together, so that a rare label is ranked among all rows and not among
    the few of a fold; a value is the mean over the repeats. A measure of which nothing is kept is the mean over the
    folds by their rows. The interval of a gain is as wide as those of the repeats on average: right if these vary
    together, too wide if not. For a side of several entries stands, in each fold, the best one on the other folds of
    its repeat.
    """

    basis = NESTED

    def __init__(self, results: Results, dataset: Any, folds: list[str]):
        self.results, self.folds, self.few = results, folds, results.few.get(FOLDS)
        self.repeats = whole_repeats(results)
        self.there = bool(self.repeats)
        self.each = [TestGains(pooled(results, names), dataset) for names in self.repeats]

    def fill(self, entries: Sequence[dict[str, Any]]) -> None:
        """Set ``test`` of entries, the values on the rows of all folds."""
        for entry in entries if self.there else ():
            for name, score in entry["scores"].items():
                score["test"] = self._value(entry, name)

    def value(self, entry: dict[str, Any], name: str) -> float | None:
        """Value of a measure on the rows of all folds."""
        return entry["scores"][name]["test"]

    def shown(self, entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
        """The entry of the best mean, with the value of what stands for the side."""
        side, best = self._side(entries, name), top(entries, name)
        return best if side is best else {**best, "scores": {**best["scores"], name: side["scores"][name]}}

    def versus(self, entries: list[dict[str, Any]], others: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
        """``gain``, ``interval``, ``p`` and ``rows``; None where the measure has no value on these rows."""
        ours, theirs = (self._side(side, name) for side in (entries, others))
        found = [each for gains in self.each if (each := gains.versus([ours], [theirs], name)) is not None]
        if len(found) < len(self.each):
            return None
        mean: dict[str, Any] = {"gain": float(np.mean([each["gain"] for each in found])), "interval": None, "p": None}
        if all(each["interval"] for each in found):
            unit = t_tested(0.0, 1.0, self.each[0].units)["interval"][1]
            half = float(np.mean([np.diff(each["interval"])[0] for each in found])) / 2
            mean = t_tested(mean["gain"], half / unit, self.each[0].units)
        return {**found[0], **mean}

    def _side(self, entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
        """The only entry of a side, or what stands for several."""
        if len(entries) == 1:
            return entries[0]
        table = np.array([entry["scores"][name]["by_fold"] for entry in entries], dtype=float)
        by_fold, arm = np.full(len(self.folds), np.nan), f"best by {name} of {[_key(entry) for entry in entries]}"
        failures: list[str] = []
        for gains, names in zip(self.each, self.repeats, strict=True):
            at, picks = [self.folds.index(fold) for fold in names], {}
            for fold, place in zip(names, at, strict=True):
                others = [own for own in at if own != place]
                means = finite_means(sign_of(name) * table[:, others])
                best = entries[pick := int(np.argmax(means))]
                by_fold[place], picks[fold] = table[pick, place], _key(best)
                failures += best.get("failures", [])
            _add_pooled(gains.results, self.results, (arm, None), picks)
        score = {"mean": float(np.nanmean(by_fold)), "by_fold": by_fold.tolist()}
        side = {"arm": arm, "k": None, "failures": failures, "scores": {name: score}}
        self.fill([side])
        return side

    def _value(self, entry: dict[str, Any], name: str) -> float | None:
        """The value of an entry, the mean over the repeats; None where it is not defined."""
        measure, readout = name_parts(name)
        values = []
        for gains, names in zip(self.each, self.repeats, strict=True):
            found = gains.recomputed(entry, measure, readout)
            values.append(self._mean_of_folds(entry, name, names) if found is None else found)
        return float(np.mean(values)) if np.isfinite(values).all() else None

    def _mean_of_folds(self, entry: dict[str, Any], name: str, names: list[str]) -> float:
        """The mean over folds by their rows; NaN where new rows were too few in one of them."""
        values = np.array([entry["scores"][name]["by_fold"][self.folds.index(fold)] for fold in names], dtype=float)
        weights = self.each[0].given
        rows = [self.results.held_out[fold] for fold in names]
        each = np.array([len(own) if weights is None else weights[own].sum() for own in rows], dtype=float)
        known = np.isfinite(values)
        if not known.any() or is_new_near(name_parts(name)[0]) and not known.all():
            return np.nan
        return float(np.average(values[known], weights=each[known]))


def whole_repeats(results: Results) -> list[list[str]]:
    """The repeats of nested folds of which every fold is scored."""
    return [names for names in results.repeats if all(name in results.folds for name in names)]


def _key(entry: dict[str, Any]) -> tuple[str, int | None]:
    return entry["arm"], entry["k"]


def pooled(results: Results, names: list[str]) -> Results:
    """What is kept of the rows of some folds, as that of the test rows, in the order of the rows."""
    rows = np.concatenate([results.held_out[fold] for fold in names])
    order = np.argsort(rows, kind="stable")
    own = Results(results.dataset, results.protocol, folds={TEST: {}}, measure=results.measure)
    own.held_out[TEST], own.few[TEST_ROWS] = rows[order], results.few.get(FOLDS)
    if names[0] in results.truths:
        parts = [results.truths[fold] for fold in names]
        known = None if parts[0].known is None else np.concatenate([part.mask > 0 for part in parts])
        own.truths[TEST] = replace(parts[0], F=np.concatenate([part.F for part in parts]), known=known).take(order)
    else:
        constants = [np.tile(results.constants[fold].scores, (len(results.held_out[fold]), 1)) for fold in names]
        own.predictions[SAME_ROWS, None, TEST] = np.concatenate(constants)[order]
    for key in {key[:2] for kept in POOLED for key in getattr(results, kept)}:
        _add_pooled(own, results, key, dict.fromkeys(names, key))
    return own


def held_out_precisions(results: Results, dataset: Any, arm: str, k: int | None) -> np.ndarray:
    """Average precision of each label on the test rows, or on all rows of nested folds, the mean over the repeats."""
    more = dataset.unknown, dataset.sample_weight
    repeats = whole_repeats(results)
    each = [pooled(results, names) for names in repeats] if results.repeats else [results]
    return np.mean([label_precisions(own, dataset.Y, arm, k, [TEST], *more)[0] for own in each], axis=0)


def _add_pooled(
    own: Results, results: Results, key: tuple[str, int | None], picks: Mapping[str, tuple[str, int | None]]
) -> None:
    """Add what is kept of an arm and k that is another one in each fold."""
    order = np.argsort(np.concatenate([results.held_out[fold] for fold in picks]), kind="stable")
    for kept in POOLED:
        parts = [getattr(results, kept).get((*pick, fold)) for fold, pick in picks.items()]
        if all(part is not None for part in parts):
            getattr(own, kept)[*key, TEST] = np.concatenate([np.asarray(part) for part in parts])[order]


Gains = FoldGains | TestGains | NestedGains


def paired_gain(
    ours: ArrayLike, theirs: ArrayLike, groups: Any = None, weights: np.ndarray | None = None
) -> dict[str, Any]:
    """The mean difference of two values per row, with its 95 % interval and p over rows, or over groups of rows.
    ``weights``: how often each row counts in the mean; the rows, not their copies, are the units."""
    difference = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    gain, m = float(np.average(difference, weights=weights)), len(difference)
    unit = row_units(m, groups)
    sums = np.bincount(unit, difference - gain if weights is None else weights * (difference - gain))
    total = m if weights is None else weights.sum()
    error = float(np.sqrt((sums**2).sum() * len(sums) / max(len(sums) - 1, 1))) / total
    return t_tested(gain, error, len(sums))
