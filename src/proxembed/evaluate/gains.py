"""Gains of one arm over another with their 95 % intervals: over folds, or over the rows of the test part.

The folds of a comparison say little of arms whose parameters were chosen on the same rows; the test rows, looked at
once, do. Of a mean over rows (neighbours) the interval follows from the differences row by row; of other measures the
rows are drawn again with replacement (whole groups where rows come in groups), which shows how far the gain would move
with other test rows of the same kind. Models fitted on other training rows are in neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from proxembed.targets.known import known_cells
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.values import dense_labels

from .bootstrap import TWO_SIDED, drawn_weights, precision_gain, redrawn_gain
from .compare import gain_on_folds, nadeau_bengio
from .measures import AVERAGE_PRECISION, Measure, is_jaccard, measure_of
from .results import NEIGHBORS, TEST, Results, sign_of

FOLDS, TEST_ROWS = "folds", "test rows"
LEAST_ROWS, LEAST_RARER = 20, 5  # scored rows of a verdict: all, and of the rarer of two classes


def too_few(dataset: Any, rows: np.ndarray) -> str | None:
    """Why scored rows are too few for a verdict; None if they are enough.

    A verdict needs 20 rows, and with two classes or one label also 5 rows of the rarer one.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
    rows : int array
        The rows that are scored; repeated ones count once.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.gains import too_few
    >>> too_few(digits(), np.arange(12)), too_few(digits(), np.arange(60))
    ('12 scored rows are too few to tell, at least 20 are needed', None)
    """
    labels = LabelMatrix.of(dataset.y).take(np.unique(rows))
    if labels.n < LEAST_ROWS:
        return _few(labels.n, "", LEAST_ROWS)
    if labels.c > 2 or labels.c == 2 and not dataset.single_label:
        return None
    known = labels.n if labels.unknown is None else labels.n - int(labels.unknown[:, [0]].sum())
    rarer = min(int(labels.nk[0]), known - int(labels.nk[0]))
    what = "of the rarer class" if labels.c == 2 else "with" if rarer == int(labels.nk[0]) else "without"
    return _few(rarer, f" {what}{'' if labels.c == 2 else ' the label'}", LEAST_RARER) if rarer < LEAST_RARER else None


def _few(count: int, what: str, least: int) -> str:
    rows = f"{count} scored row{'s' * (count != 1)}{what} {'is' if count == 1 else 'are'}"
    return f"{rows} too few to tell, at least {least} are needed"


class FoldGains:
    """Values are means over the folds; of a gain, arm and size of both sides are chosen on the other folds.

    Parameters
    ----------
    sizes : list of dict
        ``train`` and ``held_out`` of each fold.
    intervals : bool, default=True
        Whether gains have an interval.
    few : str, optional
        Why the scored rows are too few for a verdict.

    Examples
    --------
    >>> from proxembed.evaluate.gains import FoldGains
    >>> entries = [{"scores": {"AP": {"mean": v, "by_fold": [v, v]}}} for v in (0.6, 0.5)]
    >>> round(FoldGains([{"train": 8, "held_out": 2}] * 2).versus(entries[:1], entries[1:], "AP")["gain"], 3)
    0.1
    """

    basis, there = FOLDS, True

    def __init__(self, sizes: list[dict[str, Any]], intervals: bool = True, few: str | None = None):
        self.sizes, self.intervals, self.few = sizes, intervals and few is None, few

    def value(self, entry: dict[str, Any], name: str) -> float | None:
        """Mean of a measure over the folds."""
        return entry["scores"][name]["mean"]

    def hub(self, entry: dict[str, Any]) -> float | None:
        """Largest share of held-out rows that list one training row, over the folds."""
        return entry.get("hub")

    def versus(self, entries: list[dict[str, Any]], others: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
        """``gain``, ``interval`` of Nadeau and Bengio (None with one fold) and ``rows`` held out over all folds."""
        ours, theirs = _by_fold(entries, name), _by_fold(others, name)
        defined = np.isfinite(np.vstack([ours, theirs])).all(axis=0)
        if not defined.any():
            return None
        gain = gain_on_folds(ours[:, defined], theirs[:, defined])
        parts = [(size["train"], size["held_out"]) for size in self.sizes]
        interval = nadeau_bengio(gain, *np.mean(parts, axis=0)) if parts and self.intervals else None
        rows = sum(held_out for _, held_out in parts)
        return {"gain": float(gain.mean()), "interval": None if interval is None else list(interval), "rows": rows}


def _by_fold(entries: list[dict[str, Any]], name: str) -> np.ndarray:
    """(entries, folds): values of a measure, larger being better; NaN on a fold where it is not defined."""
    return sign_of(name) * np.array([entry["scores"][name]["by_fold"] for entry in entries], dtype=float)


class TestGains:
    """Values and gains of the test rows, of the arm and size that are best on the folds.

    Parameters
    ----------
    results : Results
        With what was kept of the test rows; an arm that is missing there has failed.
    dataset : proxembed.data.Dataset
        Its labels and groups.

    Examples
    --------
    >>> from proxembed.evaluate.gains import TestGains
    >>> from proxembed.evaluate.results import Results
    >>> TestGains(Results({}, {}), None).there
    False
    """

    basis = TEST_ROWS
    __test__ = False  # pytest takes no class of this name for a test

    def __init__(self, results: Results, dataset: Any):
        self.results, self.there, self.few = results, TEST in results.folds, results.few.get(TEST_ROWS)
        if self.there:
            rows = results.held_out[TEST]
            self.truth = dense_labels(sp.csr_array(dataset.Y)[rows])
            self.known_cells = known_cells(dataset.unknown, rows)
            self.groups = None if dataset.groups is None else np.asarray(dataset.groups)[rows]
            self.drawn = drawn_weights(len(rows), self.groups)
            self.units = len(rows) if self.groups is None else len(np.unique(self.groups))

    def value(self, entry: dict[str, Any], name: str) -> float | None:
        """Value of a measure on the test rows."""
        return entry["scores"][name]["test"]

    def hub(self, entry: dict[str, Any]) -> float | None:
        """Largest share of test rows that list one training row."""
        return self.results.hubs.get((entry["arm"], entry["k"], TEST))

    def versus(self, entries: list[dict[str, Any]], others: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
        """``gain``, ``interval`` and ``rows``; None where the measure has no value on the test rows."""
        ours, theirs = (_best(side, name) for side in (entries, others))
        measure_name, readout = name[:-1].rsplit(" (", 1)
        found: dict[str, Any] | None
        if readout == NEIGHBORS and is_jaccard(measure_name):
            found = self._paired(self.results.similarity, ours, theirs)
        elif readout == NEIGHBORS and measure_of(measure_name).reads == "new neighbors":
            similarity = self.results.new_similarity
            found = self._paired(similarity, ours, theirs) if similarity else None
        else:
            found = self._gain(self._measure(measure_name), ours, theirs, name)
        if found is None:
            return None
        interval = found["interval"] if self.units > 1 and self.few is None else None  # one group cannot be drawn again
        return {**found, "interval": interval, "rows": len(self.truth)}

    def _measure(self, name: str) -> Measure:
        primary = self.results.measure
        return primary if primary is not None and primary.name == name else measure_of(name)

    def _paired(
        self, similarity: Mapping[Any, np.ndarray], ours: dict[str, Any], theirs: dict[str, Any]
    ) -> dict[str, Any]:
        """Gain of the mean similarity of rows; of an arm that failed it is 0."""
        own, other = (
            similarity.get((entry["arm"], entry["k"], TEST), np.zeros(len(self.truth))) for entry in (ours, theirs)
        )
        return paired_gain(own, other, self.groups)

    def _gain(self, measure: Measure, ours: dict[str, Any], theirs: dict[str, Any], name: str) -> dict[str, Any] | None:
        least = self.results.protocol.get("min_positives", 1)
        scores: list[Any] = [self.results.predictions.get((entry["arm"], entry["k"], TEST)) for entry in (ours, theirs)]
        if measure.name == AVERAGE_PRECISION:
            return precision_gain(self.truth, scores[0], scores[1], self.drawn, least, self.known_cells)
        values: list[Any] = [self.value(entry, name) for entry in (ours, theirs)]
        if None in values or not np.isfinite(values).all():
            return None
        gain = measure.score(values[0]) - measure.score(values[1])
        interval = redrawn_gain(measure, self.truth, scores[0], scores[1], self.drawn, gain, least, self.known_cells)
        return {"gain": gain, "interval": interval}


def _best(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return max(entries, key=lambda entry: sign_of(name) * entry["scores"][name]["mean"])


def paired_gain(ours: ArrayLike, theirs: ArrayLike, groups: Any = None) -> dict[str, Any]:
    """The mean difference of two values per row, with 1.96 standard errors of it on either side.

    Parameters
    ----------
    ours, theirs : arrays of shape (m,)
    groups : array of shape (m,), optional
        Rows of one group are summed first.

    Returns
    -------
    dict with ``gain`` and ``interval`` (None with one row or one group)

    Examples
    --------
    >>> from proxembed.evaluate.gains import paired_gain
    >>> found = paired_gain([0.5, 0.7, 0.6], [0.4, 0.4, 0.4])
    >>> round(found["gain"], 3), [round(end, 3) for end in found["interval"]]
    (0.2, [0.087, 0.313])
    """
    difference = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    gain, m = float(difference.mean()), len(difference)
    unit = np.arange(m) if groups is None else np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(unit, difference - gain)
    if len(sums) < 2:
        return {"gain": gain, "interval": None}
    half = TWO_SIDED * float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1))) / m
    return {"gain": gain, "interval": [gain - half, gain + half]}
