"""Means with their intervals, and what several of them together say of a claim: yes, no, or that it cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

LEVEL = 0.95
MANY = 4
MISSING = "too few entrants finished"


@dataclass(frozen=True)
class Difference:
    """A mean with its interval; without limits where two draws or an entrant are lacking.

    Examples
    --------
    >>> from papers.difference import Difference
    >>> Difference(0.01, 0.002, 0.018).words
    '+0.0100 (+0.0020 to +0.0180)'
    """

    mean: float = np.nan
    low: float = -np.inf
    high: float = np.inf

    @property
    def words(self) -> str:
        """Mean and interval; that there is none, where there is none."""
        return self._words("+.4f")

    @property
    def unsigned(self) -> str:
        """The words of a mean that is no difference.

        >>> Difference(0.5, 0.4, 0.6).unsigned
        '0.5000 (0.4000 to 0.6000)'
        """
        return self._words(".4f")

    def _words(self, form: str) -> str:
        if not np.isfinite(self.mean):
            return "not scored in every draw"
        if not np.isfinite(self.low):
            return f"{self.mean:{form}} (one draw: no interval)"
        return f"{self.mean:{form}} ({self.low:{form}} to {self.high:{form}})"

    @property
    def turned(self) -> Difference:
        """The other less the one.

        >>> Difference(2, 1, 3).turned
        Difference(mean=-2, low=-3, high=-1)
        """
        return Difference(-self.mean, -self.high, -self.low)


def mean_of_draws(values: Sequence[float] | np.ndarray, level: float = LEVEL) -> Difference:
    """The mean of one value a draw, with Student's interval: draws that stand for themselves, on the same rows.

    Examples
    --------
    >>> from papers.difference import mean_of_draws
    >>> mean_of_draws([1.0, 2.0, 3.0]).words, mean_of_draws([1.0]).words
    ('+2.0000 (-0.4841 to +4.4841)', '+1.0000 (one draw: no interval)')
    """
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return Difference(float(values[0])) if len(values) else Difference()
    half = student.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Difference(float(values.mean()), float(values.mean() - half), float(values.mean() + half))


def every(differences: Sequence[Difference], bound: float = 0.0) -> bool | None:
    """Whether all lie above a bound: yes where every interval does, no where one lies below it.

    Examples
    --------
    >>> from papers.difference import Difference, every
    >>> above, open_, below = Difference(2, 1, 3), Difference(0, -1, 1), Difference(-2, -3, -1)
    >>> every([above, above]), every([above, below, open_]), every([above, open_]), every([])
    (True, False, None, None)
    """
    if any(each.high < bound for each in differences):
        return False
    return True if differences and all(each.low > bound for each in differences) else None


def some_below(differences: Sequence[Difference]) -> bool | None:
    """Whether one at least lies below 0: yes where an interval does, no where all lie above.

    Examples
    --------
    >>> from papers.difference import Difference, some_below
    >>> some_below([Difference(2, 1, 3), Difference(-2, -3, -1)]), some_below([Difference(2, 1, 3)])
    (True, False)
    """
    came = every(differences)
    return None if came is None else not came


def within(differences: Sequence[Difference], low: float, high: float) -> bool | None:
    """Whether all lie between two bounds: yes where every interval does, no where one lies outside.

    Examples
    --------
    >>> from papers.difference import Difference, within
    >>> near, open_, far = Difference(0, -1, 1), Difference(1, -1, 3), Difference(4, 3, 5)
    >>> within([near], -2, 2), within([near, far], -2, 2), within([near, open_], -2, 2)
    (True, False, None)
    """
    return all_of([every(differences, low), every([each.turned for each in differences], -high)])


def all_of(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether all came out: no where one did not, else cannot be told where one cannot.

    Examples
    --------
    >>> from papers.difference import all_of
    >>> all_of([True, True]), all_of([True, None]), all_of([None, False])
    (True, None, False)
    """
    if any(each is False for each in verdicts):
        return False
    return True if verdicts and all(verdicts) else None


def interval_words(pairs: Mapping[str, Difference], bound: float = 0.0) -> str:
    """The intervals of all pairs; of more than a few, how many lie where, and those that decide: the ones that lie
    farthest below the bound, or else reach farthest down.

    Examples
    --------
    >>> from papers.difference import Difference, interval_words
    >>> interval_words({"A less B": Difference(2.0, 1.0, 3.0)})
    'A less B +2.0000 (+1.0000 to +3.0000)'
    """
    if len(pairs) <= MANY:
        return "; ".join(f"{name} {each.words}" for name, each in pairs.items()) or MISSING
    above = sum(each.low > bound for each in pairs.values())
    below = sum(each.high < bound for each in pairs.values())
    by_end = sorted(pairs.items(), key=lambda item: item[1].high if below else item[1].low)[:MANY]
    told = "; ".join(f"{name} {each.words}" for name, each in by_end)
    neither = len(pairs) - above - below
    return f"{above} of {len(pairs)} pairs above {bound:g}, {below} below, {neither} neither; lowest: {told}"
