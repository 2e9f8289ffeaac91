"""The rule of verdicts against SciPy, against rows left out by hand, and in simulated draws."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, ttest_1samp, wilcoxon

from papers.groups import GROUPS, row_groups, without_each
from papers.rule import (
    LEAST,
    ROWS,
    Difference,
    Grades,
    Ranks,
    jackknife,
    needed_words,
    over_blocks,
    over_rows,
)
from proxembed.measures.metrics import macro_f1, micro_f1


def above(mean, error=0.01, blocks=10):
    return Difference(mean, error, blocks - 1.0, blocks)


def test_draws_as_blocks_are_students_t_test_of_one_sample():
    values = np.random.default_rng(0).normal(0.3, 1.0, size=9)
    found, oracle = over_blocks(values), ttest_1samp(values, 0.1)
    assert found.p(0.1) == pytest.approx(oracle.pvalue)
    assert found.interval(0.9877) == pytest.approx(tuple(ttest_1samp(values, 0).confidence_interval(0.9877)))
    np.testing.assert_allclose(over_rows(values[:, None]).interval(), found.interval())
    assert over_blocks([*values, np.nan]) == found and over_blocks([]).p() == over_blocks([1.0]).p() == 1.0


@pytest.mark.parametrize("measure", [micro_f1, lambda Y, P: macro_f1(Y, P).value])
def test_the_jackknife_leaves_out_each_document_by_hand(measure):
    rng = np.random.default_rng(1)
    Y = (rng.random((15, 3)) < 0.5).astype(int)
    one, other = (np.where(rng.random(Y.shape) < share, Y, 1 - Y) for share in (0.9, 0.6))
    group = row_groups(len(Y))
    assert sorted(group) == list(range(15))  # fewer rows than groups: each row is one
    cells = [[measure(Y, P), *without_each(group, lambda kept, P=P: measure(Y[kept], P[kept]))] for P in (one, other)]
    by_hand = [
        measure(np.delete(Y, i, 0), np.delete(one, i, 0)) - measure(np.delete(Y, i, 0), np.delete(other, i, 0))
        for i in range(15)
    ]
    found = over_rows(np.subtract(*cells)[None, :], drawn=False)
    expected = 14 / 15 * np.sum((np.array(by_hand) - np.mean(by_hand)) ** 2)
    assert found.error**2 == pytest.approx(expected) and (found.df, found.blocks, found.unit) == (14, 15, ROWS)
    assert found.mean == pytest.approx(measure(Y, one) - measure(Y, other))


def test_the_jackknife_of_a_mean_has_the_variance_of_the_mean():
    x = np.random.default_rng(2).normal(size=40)
    group = np.arange(40)
    assert jackknife(np.array(without_each(group, lambda kept: x[kept].mean()))) == pytest.approx(x.var(ddof=1) / 40)


def test_a_row_has_the_same_group_in_every_draw():
    rows = np.array([3, 77, 12])
    assert (row_groups(100, rows) == row_groups(100)[rows]).all() and np.ptp(np.bincount(row_groups(100))) == 0
    assert row_groups(100).max() == GROUPS - 1


def simulated(rng, draws, training, rows=300, tested=150):
    """Cells of draws that test overlapping halves of the same rows, with an effect of each row, which the draws share,
    one of each draw, and noise; their mean is 0."""
    effect, group = rng.normal(size=rows), row_groups(rows)
    cells = []
    for _ in range(draws):
        chosen = rng.permutation(rows)[:tested]
        apart = effect[chosen] + training * rng.normal() + rng.normal(size=tested)
        cells.append([apart.mean(), *without_each(group[chosen], lambda kept, apart=apart: apart[kept].mean())])
    return np.array(cells)


@pytest.mark.parametrize(("training", "fewer"), [(0.0, 20), (0.15, 3)])
def test_the_interval_covers_the_truth_in_draws_that_share_rows_more_often_than_blocks_do(training, fewer):
    """Of 300 simulations; three standard errors of a share of 0.95 are 0.038."""
    rng, covered, by_blocks = np.random.default_rng(3), 0, 0
    for _ in range(300):
        cells = simulated(rng, 6, training)
        found = over_rows(cells)
        low, high = found.interval()
        covered += low <= 0 <= high
        low, high = over_blocks(cells[:, 0]).interval()
        by_blocks += low <= 0 <= high
    assert 0.91 <= covered / 300 <= 0.99
    assert by_blocks <= covered - fewer


def test_more_draws_narrow_the_interval_and_rows_bound_it():
    rng = np.random.default_rng(4)
    few, many = (over_rows(simulated(rng, draws, 0.3)).error for draws in (5, 60))
    assert many < few and many > 1 / np.sqrt(300) * 0.6  # 300 rows have effects of their own


def test_fewer_than_five_draws_decide_nothing():
    held = [0.5, 0.5, 0.5, 0.5]
    assert over_blocks(held).p() == 1.0 and over_blocks([*held, 0.5]).p() == 0.0
    few, enough = (Grades.of({"A less B": over_blocks(each)}) for each in (held, [*held, 0.5]))
    assert few.came_out is None and few.decided_by == "5 draws (here 4), by the present variance"
    assert enough.came_out is True and enough.decided_by is None


def test_grades_follow_holm_and_three_quarters():
    yes, no, open_ = above(0.1), above(-0.1), above(0.005)

    def came(*pairs):
        return Grades.of(dict(zip("abcdefgh", pairs, strict=False))).came_out

    assert came(yes, yes, yes, open_) is True and came(yes, yes, open_) is None
    assert came(yes, yes, yes, no) is None and came(no, no, yes) is False and came(no, open_, open_) is False
    assert came(yes, no) is None and came() is None and came(open_) is None
    one = above(0.0275)  # p = 0.023 by itself: of three, not after the correction
    assert came(one) is True and came(one, one, one) is None
    assert Grades.of({"a": one, "b": one, "c": one}, level=0.9).came_out is True
    assert came(yes, yes, yes, Difference()) is True and came(yes, yes, Difference()) is None


def test_that_some_lie_outside_needs_one_that_is_decided():
    yes, no, open_ = above(0.1), above(-0.1), above(0.005)
    told = [Grades.of(dict(enumerate(each))).some_outside for each in ([yes, no], [yes, yes], [yes, open_])]
    assert told == [True, False, None]


def test_a_difference_between_two_bounds_is_tested_against_both():
    inside, near, outside = above(0.0, 0.005), above(0.035, 0.005), above(0.1, 0.005)
    held = Grades.of({"a": inside, "b": near, "c": outside}, -0.04, 0.04)
    assert held.sides == {"a": True, "b": None, "c": False}
    assert held.asked["a"].p == pytest.approx(inside.p(0.04)) and held.asked["c"].p == outside.p(0.04)


def test_the_words_tell_counts_and_both_ends():
    held = Grades.of({f"pair {i}": above(0.1 * i) for i in range(-1, 5)})
    assert held.words.startswith("4 of 6 support it, 1 contradict it, 1 open: pair -1 -0.1000")
    assert "pair 4 +0.4000" in held.words and "pair 2" not in held.words
    assert held.decided_by == "nothing: 4 differences support it and 1 contradict it"
    assert Grades.of({"a": Difference()}).decided_by == "a run in which every entrant finishes"


def test_the_draws_that_are_said_to_decide_do_by_the_same_variance():
    held = over_blocks(np.array([0.03, -0.01, 0.02, 0.0, 0.01, 0.02]))
    number = int(held.needed(held.mean, 0.05))
    sd = held.error * np.sqrt(6)
    p = [Difference(held.mean, sd / np.sqrt(n), n - 1.0, n).p() for n in (number - 1, number)]
    assert p[0] > 0.05 >= p[1] and f"about {number} draws (here 6)" in needed_words(number, held)
    assert "more than 1,000 draws" in needed_words(held.needed(1e-9, 0.05), held)


def test_ranks_are_those_of_scipy_with_a_set_as_block():
    values = np.random.default_rng(5).normal(size=(8, 3, 4)) + np.array([1.5, 0.0, 0.0, 1.5])
    found = Ranks.of(values)
    ranks = np.array([[rankdata(-row) for row in block] for block in values]).mean(axis=1)
    np.testing.assert_allclose(found.mean, ranks.mean(axis=0))
    assert found.friedman == pytest.approx(friedmanchisquare(*ranks.T).pvalue)
    raw = [wilcoxon(ranks[:, j] - ranks[:, 0]).pvalue for j in (1, 2, 3)]
    order = np.argsort(raw)
    holm = np.empty(3)
    holm[order] = np.minimum(np.maximum.accumulate(np.array(raw)[order] * [3, 2, 1]), 1.0)
    np.testing.assert_allclose(found.wilcoxon, holm)


def test_superiority_needs_three_quarters_of_the_rivals_and_enough_sets():
    base = np.random.default_rng(6).normal(size=(9, 4))
    ahead, behind = base + [9, 0, 0, 0], base - [9, 0, 0, 0]
    names = ("ours", "A", "B", "C")
    assert Ranks.of(ahead).verdict(names, "").came_out is True
    assert Ranks.of(behind).verdict(names, "").came_out is False
    assert Ranks.of(base).verdict(names, "").came_out is None
    few = Ranks.of(ahead[:6]).verdict(names, "")  # Wilcoxon's smallest p of six sets, 1/32, times three
    assert few.came_out is None and few.decided_by.startswith("7 sets at least (here 6)")
    assert LEAST == 5
