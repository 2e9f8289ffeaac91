"""Statistics of differences: over folds, across data sets, and of test rows drawn with replacement (bootstrap)."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import stdtr, stdtrit
from scipy.stats import wilcoxon

from .measures import MACRO_AUC, RAREST, Measure
from .metrics import average_precision
from .ranks import CELLS, FEW, Positives, precision_at, weighted_average_precision

ROPE = 0.01
EQUAL = 1e-12


def nadeau_bengio(
    differences: Sequence[float] | np.ndarray, train: float, held_out: float, level: float = 0.95
) -> tuple[float, float] | None:
    """Interval of a mean difference over folds, with the variance corrected for overlapping training parts."""
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2:
        return None
    mean, scale = _corrected(differences, train, held_out)
    half = float(stdtrit(len(differences) - 1, 0.5 + level / 2)) * scale
    return mean - half, mean + half


def nadeau_bengio_p(differences: Sequence[float] | np.ndarray, train: float, held_out: float) -> float | None:
    """Two-sided p of a mean difference over folds of zero, by the t test with the corrected variance."""
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2:
        return None
    mean, scale = _corrected(differences, train, held_out)
    if scale == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * stdtr(len(differences) - 1, -abs(mean) / scale))


def bayesian_correlated_t(
    differences: Sequence[float] | np.ndarray, train: float, held_out: float, rope: float = ROPE
) -> dict[str, float] | None:
    """Posterior probabilities that the mean difference over folds is below, within or above the region of
    equivalence."""
    _check_rope(rope)
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2:
        return None
    mean, scale = _corrected(differences, train, held_out)
    if scale == 0.0:
        worse, better = float(mean < -rope), float(mean > rope)
    else:
        df = len(differences) - 1
        worse, better = float(stdtr(df, (-rope - mean) / scale)), float(stdtr(df, (mean - rope) / scale))
    return {"worse": worse, "rope": max(0.0, 1.0 - worse - better), "better": better}


def _corrected(differences: np.ndarray, train: float, held_out: float) -> tuple[float, float]:
    """Mean, and its standard error corrected for overlap."""
    if not (train > 0 and held_out > 0):
        raise ValueError(f"train={train!r} and held_out={held_out!r} must be above 0: the mean sizes of the two parts.")
    J = len(differences)
    if np.ptp(differences) == 0.0:
        return float(differences[0]), 0.0
    return float(differences.mean()), float(differences.std(ddof=1) * math.sqrt(1 / J + held_out / train))


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Adjust p-values for the number of tests by Holm's step-down rule.  [holm1979multiple]"""
    p = np.asarray(p, dtype=float)
    if p.size and not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p={p.tolist()} must hold probabilities from 0 to 1.")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)) if p.size else p
    out = np.empty_like(p)
    out[order] = np.minimum(stepped, 1.0)
    return out


def wilcoxon_holm(differences: Sequence[Sequence[float] | np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Wilcoxon signed-rank test of each contrast across data sets, and Holm's adjustment for their number."""
    p = np.array([_wilcoxon(_finite(each)) for each in differences])
    return p, holm(p)


def _wilcoxon(differences: np.ndarray) -> float:
    nonzero = differences[differences != 0]
    return float(wilcoxon(nonzero).pvalue) if nonzero.size else 1.0


def _finite(differences: Any) -> np.ndarray:
    differences = np.asarray(differences, dtype=float)
    if differences.ndim != 1 or differences.size == 0 or not np.isfinite(differences).all():
        raise ValueError(
            f"differences must be a non-empty list of finite numbers; got {differences.tolist()}. "
            "Count a failure as the worst value instead of leaving it out."
        )
    return differences


def _check_rope(rope: float) -> None:
    if not 0 <= rope < math.inf:
        raise ValueError(
            f"rope={rope!r} must be a finite number of at least 0: half the width of the region of equivalence."
        )


def bayesian_signed_rank(
    differences: Sequence[float] | np.ndarray, rope: float = ROPE, seed: int = 0, *, n_samples: int = 50_000
) -> dict[str, float]:
    """Bayesian signed-rank test with a region of practical equivalence, across data sets.  [benavoli2017bayes]"""
    _check_rope(rope)
    z = np.append(0.0, _finite(differences))
    pairs = z[:, None] + z[None, :]
    regions = [pairs < -2 * rope, np.abs(pairs) <= 2 * rope, pairs > 2 * rope]
    rng, strength = np.random.default_rng(seed), np.append(0.5, np.ones(len(z) - 1))
    wins, left = np.zeros(3), n_samples
    while left > 0:
        W = rng.dirichlet(strength, size=min(left, max(1, 2**22 // len(z))))
        shares = np.stack([((W @ region) * W).sum(axis=1) for region in regions], axis=1)
        wins += np.bincount(shares.argmax(axis=1), minlength=3)
        left -= len(W)
    return dict(zip(("worse", "rope", "better"), (wins / n_samples).tolist(), strict=True))


def choose(values: np.ndarray, anchor: Sequence[bool] | None = None, kept: np.ndarray | None = None) -> int:
    """The row of the best mean over the folds; an anchor is left only for more than one paired standard error.
    ``kept``: of each row and fold what its map keeps, NaN of what is not a map: where the choice is a map, it is, of
    the maps that the best row is not ahead of by more than one paired standard error, the one that keeps most.
    """
    at = _choose(values, anchor)
    if kept is None:
        return at
    shares, best = finite_means(kept), int((finite_means(values) >= finite_means(values).max() - EQUAL).argmax())
    able = np.isfinite(shares) & [i in (at, best) or not _is_ahead(values[best] - own) for i, own in enumerate(values)]
    return int(np.where(able, shares, -np.inf).argmax()) if able[at] else at


def _choose(values: np.ndarray, anchor: Sequence[bool] | None) -> int:
    means = finite_means(values)
    best = int((means >= means.max() - EQUAL).argmax())
    own = np.flatnonzero(np.zeros(len(values), dtype=bool) if anchor is None else np.asarray(anchor))
    if len(own) == 0 or best in own:
        return best
    held = int(own[np.argmax(means[own])])
    return best if _is_ahead(values[best] - values[held]) else held


def _is_ahead(gains: np.ndarray) -> bool:
    """Whether gains by fold are above 0 by more than one standard error, or too few to have one."""
    gains = gains[np.isfinite(gains)]
    return len(gains) < 2 or bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))


def repeated_scores(
    values: np.ndarray, anchor: Sequence[bool] | None = None, kept: np.ndarray | None = None
) -> np.ndarray | None:
    """Per fold, the score on it of the choice (of ``choose``) that is made without it."""
    folds = range(values.shape[1])
    if len(folds) < 2:
        return None
    without = [(np.delete(values, i, axis=1), None if kept is None else np.delete(kept, i, axis=1)) for i in folds]
    return np.array([values[choose(own, anchor, shares), i] for i, (own, shares) in enumerate(without)])


def expected_score(repeated: np.ndarray | None) -> float | None:
    """The mean of the scores of a repeated choice where they are defined; None if there is none."""
    known = [] if repeated is None else repeated[np.isfinite(repeated)]
    return float(np.mean(known)) if len(known) else None


def finite_means(values: np.ndarray) -> np.ndarray:
    """The mean of the finite values of each row; -inf for a row without any."""
    known = np.isfinite(values)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), sums / np.maximum(known.sum(axis=1), 1), -np.inf)


N_DRAWS = 400


def t_tested(gain: float, error: float, units: int) -> dict[str, Any]:
    """The ``gain`` of a number of independent units (rows, or groups of rows) with its 95 % ``interval`` and two-sided
    ``p`` by the t test of units - 1 degrees of freedom; None of one unit, or of an unknown error."""
    if units < 2 or not math.isfinite(error):
        return {"gain": gain, "interval": None, "p": None}
    half = float(stdtrit(units - 1, 0.975)) * error
    p = float(2 * stdtr(units - 1, -abs(gain) / error)) if error > 0 else float(gain == 0)
    return {"gain": gain, "interval": [gain - half, gain + half], "p": p}


def row_units(n: int, groups: Any = None) -> np.ndarray:
    """The number of the unit of each of n rows: its group, or the row itself without groups."""
    return np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]


def drawn_weights(n: int, groups: Any = None, n_draws: int = N_DRAWS) -> np.ndarray:
    """How often each row is drawn: (n_draws, n) whole numbers; the rows of a group are drawn together."""
    unit = row_units(n, groups)
    count = unit.max() + 1
    return np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=n_draws)[:, unit]


def redrawn_gain(
    measure: Measure,
    truth: np.ndarray,
    ours: np.ndarray | None,
    theirs: np.ndarray | None,
    weights: np.ndarray,
    gain: float,
    least: int = 1,
    known: np.ndarray | None = None,
    groups: Any = None,
    sample_weight: np.ndarray | None = None,
) -> dict[str, Any] | None:
    """A gain in any measure of scores with its 95 % interval and p, by measuring rows (whole groups) drawn again.
    ``sample_weight``: how often each row counts, which ``weights`` are multiples of; None: once."""
    if measure.reads != "scores" or ours is None or theirs is None:
        return None
    if measure.name == RAREST:
        enough = truth.sum(axis=0) >= least
        counts = truth.sum(axis=0) if sample_weight is None else sample_weight @ truth
        rarest = counts == counts[enough].min()
        return precision_gain(truth & rarest, ours, theirs, weights, least, known, groups, sample_weight)
    moved = []
    for weight in weights:
        if sample_weight is None:
            index, own = np.repeat(np.arange(len(truth)), weight), None
        else:
            index = np.flatnonzero(weight)
            own = weight[index]
        cells = None if known is None else known[index]
        drawn = [measure.score(measure.value(truth[index], S[index], least, cells, own)[0]) for S in (ours, theirs)]
        moved.append(drawn[0] - drawn[1])
    variance, units = float(np.nanvar(moved, ddof=1)), _units(truth, groups)
    if measure.name == MACRO_AUC and sample_weight is None:  # a mean over positive rows, and over negative ones
        sides = (truth, ours, theirs), (~truth, -ours, -theirs)
        variance += sum(unseen_variance(_differences(_share_below, *side, known), groups) for side in sides)
    else:
        variance *= units / max(units - 1, 1)  # of units drawn with replacement, too small by that factor
    return t_tested(gain, math.sqrt(variance), units)


class DrawnPrecision(NamedTuple):
    """Average precision of the labels that have a positive row: once (c,), and under each draw of rows (b, c); and
    what each positive row adds to it, (n, c), NaN elsewhere."""

    once: np.ndarray
    drawn: np.ndarray
    at_rows: np.ndarray


def drawn_precision(
    S: np.ndarray | None,
    truth: np.ndarray,
    weights: np.ndarray,
    known: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> DrawnPrecision:
    """The average precision of scores; of an arm that failed (None) it is 0. ``sample_weight``: how often each row
    counts, which ``weights`` are multiples of; None: once."""
    present = np.flatnonzero(truth.any(axis=0))
    truth, known = truth.take(present, axis=1), None if known is None else known.take(present, axis=1)
    at_rows = np.full(truth.shape, np.nan)
    if S is None:
        at_rows[truth] = 0.0
        return DrawnPrecision(np.zeros(truth.shape[1]), np.zeros((len(weights), truth.shape[1])), at_rows)
    S = S.take(present, axis=1)
    if known is None and sample_weight is None:
        positives = Positives.of(truth)
        at = precision_at(positives, S)
        at_rows[positives.rows, positives.labels] = at
        once = np.bincount(positives.labels, at) / positives.counts
        return DrawnPrecision(once, _drawn(truth, S, positives, weights), at_rows)
    drawn = np.empty((len(weights), truth.shape[1]))
    for j, cells in enumerate(np.ones(truth.shape[::-1], dtype=bool) if known is None else known.T):
        y, s = truth[cells, j], S[cells, j]
        drawn[:, j] = weighted_average_precision(y, s, weights[:, cells])
        own = None if sample_weight is None else sample_weight[cells]
        at_rows[np.flatnonzero(cells)[y], j] = _precision_at(y, s, own)
    return DrawnPrecision(average_precision(truth, S, known, sample_weight), drawn, at_rows)


def _drawn(truth: np.ndarray, S: np.ndarray, positives: Positives, weights: np.ndarray) -> np.ndarray:
    """Average precision of each label for each draw, (b, c): of rare labels by matrix products over all draws."""
    out = np.full((len(weights), truth.shape[1]), np.nan)
    rare = positives.counts <= FEW
    for j in np.flatnonzero(~rare):
        out[:, j] = weighted_average_precision(truth[:, j], S[:, j], weights)
    few, s = np.flatnonzero(rare[positives.labels]), S[positives.rows, positives.labels]
    if len(few) == 0:
        return out
    light, step = weights.astype(np.float32), max(1, CELLS // len(S))
    total, reached = np.zeros((2, truth.shape[1], len(weights)))
    for label_cells in _whole_labels(positives.labels[few], step):
        part = few[label_cells]
        above = (S.take(positives.labels[part], axis=1) >= s[part]).astype(np.float32)
        gained = weights[:, positives.rows[part]].T.astype(np.float64)
        one, other = positives.pairs(part)
        ahead = s[other] >= s[one]
        place = np.searchsorted(part, (one[ahead], other[ahead]))
        hits = sp.csr_array((np.ones(len(place[0])), (place[0], place[1])), shape=(len(part), len(part))) @ gained
        value = gained * hits / np.maximum((light @ above).T, 1)
        label, first = np.unique(positives.labels[part], return_index=True)
        reached[label], total[label] = np.add.reduceat(value, first), np.add.reduceat(gained, first)
    seen = total > 0
    return np.where(rare, np.where(seen, reached / np.where(seen, total, 1.0), np.nan).T, out)


def _whole_labels(labels: np.ndarray, step: int) -> Iterator[slice]:
    """Parts of sorted labels of about ``step`` entries, each of which holds all entries of its labels."""
    ends = np.append(np.flatnonzero(labels[1:] != labels[:-1]) + 1, len(labels))
    start = 0
    while start < len(labels):
        end = int(ends[np.searchsorted(ends, min(start + step, len(labels)))])
        yield slice(start, end)
        start = end


def precision_gain(
    truth: np.ndarray,
    ours: np.ndarray | None,
    theirs: np.ndarray | None,
    weights: np.ndarray,
    least: int = 1,
    known: np.ndarray | None = None,
    groups: Any = None,
    sample_weight: np.ndarray | None = None,
) -> dict[str, Any] | None:
    """The gain in macro average precision with its 95 % interval and p, all draws at once; ``units``: the groups that
    are drawn, None: rows."""
    truth = enough_rows_each(truth, least)
    if not truth.any():
        return None
    ours_drawn, theirs_drawn = (drawn_precision(S, truth, weights, known, sample_weight) for S in (ours, theirs))
    return precision_difference(ours_drawn, theirs_drawn, _units(truth, groups), groups, sample_weight)


def enough_rows_each(truth: np.ndarray, least: int) -> np.ndarray:
    """The truth without the labels of fewer positive rows."""
    return np.where(truth.sum(axis=0) >= least, truth, False)


def precision_difference(
    ours: DrawnPrecision,
    theirs: DrawnPrecision,
    units: int,
    groups: Any = None,
    sample_weight: np.ndarray | None = None,
) -> dict[str, Any]:
    """The difference of two macro average precisions with its 95 % interval and p. ``sample_weight``: how often each
    row counts; None: once."""
    moved = ours.drawn - theirs.drawn
    moved = moved[np.isfinite(moved).any(axis=1)]  # a draw may leave no positive row of any label
    variance = float(np.nanmean(moved, axis=1).var(ddof=1)) if len(moved) > 1 else np.inf
    variance += unseen_variance(ours.at_rows - theirs.at_rows, groups, sample_weight)
    return t_tested(float(np.mean(ours.once - theirs.once)), math.sqrt(variance), units)


def _units(truth: np.ndarray, groups: Any) -> int:
    return len(truth) if groups is None else len(np.unique(groups))


def unseen_variance(parts: np.ndarray, groups: Any = None, sample_weight: np.ndarray | None = None) -> float:
    """The part of the variance of a mean over labels that rows drawn again do not show.

    ``parts`` (n, c) is what each positive row adds to the mean of its label, NaN elsewhere. Rows drawn again vary about
    the label's own mean, which the same rows have made: of m positive rows 1/m of the variance is lost, of a single one
    all. The deviation of a row or group with a share h of them is therefore divided by sqrt(1 - h)
    [mackinnon1985some]; where one has all of them, it deviates from the mean over labels [lumley2010complex].
    ``sample_weight``: how often each row counts; None: once.
    """
    unit = row_units(len(parts), groups)
    rows, labels = np.nonzero(np.isfinite(parts))
    labels = np.unique(labels, return_inverse=True)[1]
    w = np.ones(len(rows)) if sample_weight is None else sample_weight[rows]
    values, totals, units = parts[np.isfinite(parts)], np.bincount(labels, w), int(unit.max()) + 1
    c, means = len(totals), np.bincount(labels, w * values) / totals
    cell, own = np.unique(labels * units + unit[rows], return_inverse=True)
    label, unit = cell // units, cell % units
    share = np.bincount(own, w) / totals[label]
    deviation = np.bincount(own, w * (values - means[labels])) / (c * totals[label])
    alone = np.bincount(label)[label] == 1  # the one unit that has all positive rows of a label
    if alone.any() and c == 1:
        return math.inf
    seen = np.bincount(unit, np.where(alone, 0.0, deviation), units)
    apart = (means[label] - means.mean()) / math.sqrt(c * max(c - 1, 1))
    whole = np.bincount(unit, np.where(alone, apart, deviation / np.sqrt(np.where(alone, 1.0, 1 - share))), units)
    return max(float(whole @ whole - seen @ seen), 0.0)


def _differences(
    at_rows: Callable[[np.ndarray, np.ndarray], np.ndarray],
    truth: np.ndarray,
    ours: np.ndarray | None,
    theirs: np.ndarray | None,
    known: np.ndarray | None,
) -> np.ndarray:
    """What each positive row adds to the mean of its label by our scores, less that by theirs; NaN elsewhere."""
    out = np.full(truth.shape, np.nan)
    for j in range(truth.shape[1]):
        rows = np.arange(len(truth)) if known is None else np.flatnonzero(known[:, j])
        y = truth[rows, j]
        sides = [0.0 if S is None else at_rows(y, S[rows, j]) for S in (ours, theirs)]
        out[rows[y], j] = sides[0] - sides[1]
    return out


def _precision_at(y: np.ndarray, s: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """At each positive row the share of positive rows among the rows that score at least as high; ``w``: how often each
    row counts."""
    if w is not None:
        values, place = np.unique(s, return_inverse=True)
        sums = (np.cumsum(np.bincount(place, each, len(values))[::-1])[::-1] for each in (w, w * y))
        above, hits = (each[place[y]] for each in sums)
        return hits / above
    above, hits = (len(each) - np.searchsorted(np.sort(each), s[y]) for each in (s, s[y]))
    return hits / above


def _share_below(y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """At each positive row the share of negative rows that score lower, equal ones counting one half; NaN without."""
    below = [np.searchsorted(np.sort(s[~y]), s[y], side) for side in ("left", "right")]
    return sum(below) / 2 / (~y).sum() if not y.all() else np.full(int(y.sum()), np.nan)
