"""The one rule by which every page judges what a paper says.

A number that is compared is a ``Difference``: its mean, its interval and its p-value. Its unit is the test row: the
variance is that of the delete-a-group jackknife over test rows, pooled over the draws, and what the draws vary beyond
their rows. Where a record has no values without groups of rows, the draws are the blocks (Student's t). A claim about
several differences is told in ``Grades``: how many support it, contradict it, or are open, each decided at 5 % after
Holm's correction within the claim.  [holm1979multiple]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, inf, isfinite, nan

import numpy as np
from scipy.stats import friedmanchisquare, rankdata
from scipy.stats import t as student

from proxembed.measures.statistics import holm, wilcoxon_holm

LEVEL = 0.95
LEAST = 5  # fewer draws, or sets, give no verdict
DECIDED = 0.75  # the share of differences that must be decided before a claim came out
LISTED, MOST = 4, 1000
DRAWS, SETS, ROWS = "draws", "sets", "test rows"
MISSING = "too few entrants finished"
RUN_MISSING = "a run in which every entrant finishes"


@dataclass(frozen=True)
class Difference:
    """A mean with its standard error and degrees of freedom; ``blocks``: how many ``unit`` it rests on.

    Examples
    --------
    >>> from papers.rule import Difference
    >>> Difference(0.01, 0.004, 19.0, 20, "test rows").words
    '+0.0100 (+0.0016 to +0.0184)'
    """

    mean: float = nan
    error: float = nan
    df: float = nan
    blocks: int = 0
    unit: str = DRAWS

    @property
    def decides(self) -> bool:
        """Whether there are enough blocks for a verdict."""
        return isfinite(self.error) and self.blocks >= LEAST

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Both ends, which belong to it; without limits where there are not two blocks."""
        if not isfinite(self.error):
            return -inf, inf
        half = float(student.ppf((1 + level) / 2, self.df)) * self.error
        return self.mean - half, self.mean + half

    def p(self, bound: float = 0.0) -> float:
        """The two-sided p-value of a mean equal to ``bound``; 1 where there are too few blocks for a verdict."""
        if not self.decides or self.mean == bound:
            return 1.0
        return float(2 * student.sf(abs(self.mean - bound) / self.error, self.df)) if self.error > 0 else 0.0

    @property
    def words(self) -> str:
        """Mean and interval; that there is none, where there is none."""
        return self.told("+.4f")

    @property
    def unsigned(self) -> str:
        """The words of a mean that is no difference.

        >>> Difference(0.5).unsigned
        '0.5000 (no interval)'
        """
        return self.told(".4f")

    def told(self, form: str, level: float = LEVEL) -> str:
        """Mean and interval in a format."""
        if not isfinite(self.mean):
            return "not scored in every draw"
        if not isfinite(self.error):
            return f"{self.mean:{form}} (no interval)"
        low, high = self.interval(level)
        return f"{self.mean:{form}} ({low:{form}} to {high:{form}})"

    @property
    def turned(self) -> Difference:
        """The other less the one.

        >>> Difference(2.0, 1.0, 3.0, 4).turned.mean
        -2.0
        """
        return replace(self, mean=-self.mean)

    def needed(self, distance: float, alpha: float) -> float:
        """How many blocks would decide, at a two-sided ``alpha``, a mean that lies so far from its bound, by the
        present variance; inf beyond 1,000. Of test rows, how many times as many."""
        if not isfinite(self.error) or distance <= 0:
            return inf
        if self.unit == ROWS:
            return float((student.ppf(1 - alpha / 2, self.df) * self.error / distance) ** 2)
        number = np.arange(LEAST, MOST + 1)
        reach = student.ppf(1 - alpha / 2, number - 1) * self.error * np.sqrt(self.blocks / number)
        enough = number[reach < distance]
        return float(enough[0]) if len(enough) else inf


def over_blocks(values: Sequence[float] | np.ndarray, unit: str = DRAWS) -> Difference:
    """The mean of one value a draw (or set), which are the blocks: Student's t. Values that are missing are left out.

    Parameters
    ----------
    values : array of shape (draws,)
    unit : str

    Examples
    --------
    >>> from papers.rule import over_blocks
    >>> over_blocks([1.0, 2.0, 3.0]).words, over_blocks([1.0]).words
    ('+2.0000 (-0.4841 to +4.4841)', '+1.0000 (no interval)')
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    n = len(values)
    if n < 2:
        return Difference(float(values[0]), blocks=n, unit=unit) if n else Difference(unit=unit)
    return Difference(float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)), n - 1.0, n, unit)


def jackknife(without: np.ndarray) -> float:
    """The delete-a-group variance of a statistic, from its values without each group.

    >>> round(jackknife(np.array([1.0, 2.0, 3.0])), 4)  # of the mean of three groups of one row: 2, 3/2 and 1 apart
    1.3333
    """
    G = len(without)
    return float((G - 1) / G * np.sum((without - without.mean()) ** 2))


def over_rows(cells: np.ndarray, drawn: bool = True) -> Difference:
    """The mean over draws of a statistic of the test rows, with the variance of rows and of draws.

    Parameters
    ----------
    cells : array of shape (draws, 1 + groups)
        In each draw the statistic, and the statistic without each group of test rows; a row is in the same group in
        every draw. With one column the draws are the blocks (``over_blocks``).
    drawn : bool, default=True
        Whether the rows are drawn anew; else there is one published split, whose rows are all that varies.

    Notes
    -----
    The groups are left out of all draws at once, so that rows which several draws test are counted once. The variance
    is V_rows + max(0, V_draws - V_cells): of the pooled statistic over rows, of its draws, and of rows within draws,
    which the draws hold, too; degrees of freedom by Satterthwaite's rule.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.rule import over_rows
    >>> over_rows(np.array([[0.1, 0.0, 0.2]]), drawn=False).blocks
    2
    """
    cells = np.atleast_2d(np.asarray(cells, dtype=float))
    cells = cells[np.isfinite(cells).all(axis=1)]
    D, G = len(cells), cells.shape[1] - 1
    if G < 1 or D == 0:
        return over_blocks(cells[:, 0])
    mean, rows = float(cells[:, 0].mean()), jackknife(cells[:, 1:].mean(axis=0))
    if not drawn:
        return Difference(mean, float(np.sqrt(rows)), G - 1.0, G, ROWS)
    if D == 1:
        return Difference(mean, blocks=1)
    within = sum(jackknife(each) for each in cells[:, 1:]) / D**2
    draws = float(cells[:, 0].var(ddof=1)) / D
    total = rows + max(0.0, draws - within)
    df = total**2 / (rows**2 / (G - 1) + draws**2 / (D - 1)) if total > 0 else G - 1.0
    return Difference(mean, float(np.sqrt(total)), df, D)


@dataclass(frozen=True)
class Verdict:
    """Whether a claim came out (None: cannot be told), what came out, the interval, and what would decide it."""

    came_out: bool | None
    ours: str
    interval: str
    decided_by: str | None = None


UNKNOWN = Verdict(None, MISSING, MISSING, RUN_MISSING)


@dataclass(frozen=True)
class Asked:
    """A difference of which a claim says that it lies between two bounds."""

    difference: Difference
    low: float = 0.0
    high: float = inf

    @property
    def inside(self) -> bool:
        """Whether the mean does."""
        return self.low < self.difference.mean < self.high

    @property
    def p(self) -> float:
        """Of the side on which the mean lies: that it is inside both bounds, or beyond the one that it passes."""
        mean, p = self.difference.mean, self.difference.p
        if self.inside:
            return max(p(bound) for bound in (self.low, self.high) if isfinite(bound))
        return 1.0 if not isfinite(mean) else p(self.low if mean <= self.low else self.high)

    @property
    def distance(self) -> float:
        """Of the mean to the nearer bound."""
        return min(abs(self.difference.mean - bound) for bound in (self.low, self.high) if isfinite(bound))


@dataclass(frozen=True)
class Grades:
    """The answer to a claim about several differences, by words: each supports it, contradicts it, or is open.

    It came out where every decided one supports it and three quarters or more are decided, did not where more
    contradict than support it, and else cannot be told.

    Parameters
    ----------
    asked : mapping of str to Asked
    level : float, default=0.95

    Examples
    --------
    >>> from papers.rule import Difference, Grades
    >>> above, open_ = Difference(2.0, 0.1, 9, 10), Difference(0.1, 0.2, 9, 10)
    >>> Grades.of({"A less B": above}).came_out, Grades.of({"A less B": above, "A less C": open_}).came_out
    (True, None)
    """

    asked: Mapping[str, Asked]
    level: float = LEVEL

    @classmethod
    def of(cls, pairs: Mapping[str, Difference], low: float = 0.0, high: float = inf, level: float = LEVEL) -> Grades:
        """All differences between the same bounds."""
        return cls({name: Asked(each, low, high) for name, each in pairs.items()}, level)

    def __or__(self, other: Grades) -> Grades:
        """The differences of both, at the level of the first."""
        return replace(self, asked={**self.asked, **other.asked})

    @cached_property
    def sides(self) -> dict[str, bool | None]:
        """Whether each supports the claim; None for what is open."""
        adjusted = holm([each.p for each in self.asked.values()])
        alpha = 1 - self.level
        return {
            name: each.inside if p <= alpha and isfinite(each.difference.mean) else None
            for (name, each), p in zip(self.asked.items(), adjusted, strict=True)
        }

    def count(self, side: bool | None) -> int:
        """How many support it (True), contradict it (False), are open (None)."""
        return sum(each is side for each in self.sides.values())

    @property
    def came_out(self) -> bool | None:
        """By the rule of the class."""
        yes, no = self.count(True), self.count(False)
        if no > yes:
            return False
        return True if no == 0 and yes > 0 and yes >= DECIDED * len(self.asked) else None

    @property
    def some_outside(self) -> bool | None:
        """Whether at least one lies outside: yes where a decided one does, no where the claim of all came out."""
        return True if self.count(False) else False if self.came_out else None

    @property
    def words(self) -> str:
        """How many lie where; all of a few, the smallest and the largest of many."""
        known = {name: each for name, each in self.asked.items() if isfinite(each.difference.mean)}
        if not known:
            return MISSING
        if len(self.asked) == 1:
            return next(self._one(name) for name in known)
        counts = (
            f"{self.count(True)} of {len(self.asked)} support it, {self.count(False)} contradict it, "
            f"{self.count(None)} open"
        )
        ends = sorted(known, key=lambda name: known[name].difference.mean)
        shown = list(known) if len(self.asked) <= LISTED else [ends[0], ends[-1]]
        return f"{counts}: {'; '.join(self._one(name) for name in shown)}"

    def _one(self, name: str) -> str:
        asked = self.asked[name]
        p = asked.p
        told = f", p = {p:.2g}" if asked.difference.decides else ""
        return f"{name} {asked.difference.told('+.4f', self.level)}{told}"

    @property
    def decided_by(self) -> str | None:
        """What would decide a claim that cannot be told."""
        if self.came_out is not None:
            return None
        n, least = len(self.asked), ceil(DECIDED * len(self.asked))
        known = [each for each in self.asked.values() if isfinite(each.difference.mean)]
        if len(known) < max(least, 1):
            return RUN_MISSING
        if self.count(False):
            return f"nothing: {self.count(True)} differences support it and {self.count(False)} contradict it"
        alpha = (1 - self.level) / n
        needs = sorted(each.difference.needed(each.distance, alpha) for each in known)
        return needed_words(needs[least - 1], known[0].difference)

    def verdict(self, ours: str) -> Verdict:
        """The verdict, with what came out in words."""
        return Verdict(self.came_out, ours, self.words, self.decided_by)

    def some(self, ours: str) -> Verdict:
        """The verdict on the claim that at least one lies outside."""
        came = self.some_outside
        return Verdict(came, ours, self.words, None if came is not None else self.decided_by)


def needed_words(number: float, of: Difference) -> str:
    """How many blocks would decide, in words.

    Examples
    --------
    >>> from papers.rule import Difference, needed_words
    >>> needed_words(14.0, Difference(0.1, 0.1, 4, 5)), needed_words(3.2, Difference(0.1, 0.1, 19, 20, "test rows"))
    ('about 14 draws (here 5), by the present variance', '3.2 times as many test rows, by the present variance')
    """
    if of.unit == ROWS:
        told = f"{number:.1f} times as many" if number < MOST else f"more than {MOST:,} times as many"
        return f"{told} {ROWS}, by the present variance"
    if of.blocks < 2:
        return f"{LEAST} {of.unit} at least (here {of.blocks})"
    told = f"more than {MOST:,}" if number > MOST else f"{LEAST}" if number <= LEAST else f"about {number:.0f}"
    return f"{told} {of.unit} (here {of.blocks}), by the present variance"


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of several methods over blocks, Friedman's test of them all, and Wilcoxon's signed-rank test of the
    first against each other one, by Holm's correction.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.rule import Ranks
    >>> found = Ranks.of(np.array([[3.0, 1.0, 2.0]] * 6) + np.arange(6)[:, None])
    >>> found.mean.tolist(), bool(found.friedman < 0.05), found.wilcoxon.tolist()
    ([1.0, 3.0, 2.0], True, [0.0625, 0.0625])
    """

    mean: np.ndarray
    friedman: float
    wilcoxon: np.ndarray
    blocks: int

    @classmethod
    def of(cls, values: np.ndarray) -> Ranks:
        """From values, larger ones better, of shape (blocks, methods), or (blocks, measures, methods): of these the
        mean rank of a method over the measures of a block is its value, since measures of a block go together."""
        values = np.asarray(values, dtype=float)
        ranks = rankdata(-values, axis=-1)
        ranks = ranks if ranks.ndim == 2 else ranks.mean(axis=1)
        apart = [ranks[:, j] - ranks[:, 0] for j in range(1, ranks.shape[1])]
        return cls(ranks.mean(axis=0), float(friedmanchisquare(*ranks.T).pvalue), wilcoxon_holm(apart)[1], len(ranks))

    def verdict(self, names: Sequence[str], ours: str, unit: str = SETS) -> Verdict:
        """Whether the first is above the others, by three quarters of them or more, and below none that is decided."""
        told = self.friedman <= 1 - LEVEL and self.blocks >= LEAST
        decided, lead = told & (self.wilcoxon <= 1 - LEVEL), self.mean[1:] - self.mean[0]
        yes, no = int((decided & (lead > 0)).sum()), int((decided & (lead < 0)).sum())
        n = len(self.mean) - 1
        came = False if no > yes else True if no == 0 and yes >= DECIDED * n else None
        each = ", ".join(f"{name} {p:.2g}" for name, p in zip(names[1:], self.wilcoxon, strict=True))
        words = f"{yes} of {n} support it, {no} contradict it, {n - yes - no} open: "
        words += f"Friedman's p = {self.friedman:.2g} over {self.blocks} {unit}; Wilcoxon-Holm p: {each}"
        return Verdict(came, ours, words, None if came is not None else self._needed(n, unit))

    def _needed(self, n: int, unit: str) -> str:
        """The least number of blocks whose smallest p-value, 2 / 2^blocks, withstands the correction."""
        least = next(b for b in range(LEAST, 99) if 2.0 ** (1 - b) * n <= 1 - LEVEL)
        if self.blocks < least:
            return f"{least} {unit} at least (here {self.blocks}), without which Wilcoxon's test of {n} cannot decide"
        return f"more {unit} (here {self.blocks})"
