"""The tests of differences: against scipy, and cases worked by hand."""

import numpy as np
import pytest
from scipy import stats

from proxembed.evaluate.compare import chosen_elsewhere
from proxembed.measures.statistics import (
    bayesian_correlated_t,
    bayesian_signed_rank,
    holm,
    nadeau_bengio,
    nadeau_bengio_p,
    wilcoxon_holm,
)

DIFFERENCES = np.random.default_rng(1).normal(0.01, 0.02, size=15)


def test_without_overlap_the_corrected_test_is_the_t_test():
    """As held_out / train goes to 0 the correction vanishes."""
    expected = stats.ttest_1samp(DIFFERENCES, 0.0)
    assert nadeau_bengio_p(DIFFERENCES, 1e12, 1.0) == pytest.approx(expected.pvalue, rel=1e-8)
    low, high = expected.confidence_interval(0.95)
    assert nadeau_bengio(DIFFERENCES, 1e12, 1.0) == pytest.approx((low, high), rel=1e-8)


def test_the_correction_by_hand():
    """Differences 0, 2: mean 1, s^2 = 2; ten folds' share 1/9 gives variance 2 (1/2 + 1/9) = 11/9, one degree."""
    half = stats.t(1).ppf(0.975) * np.sqrt(11 / 9)
    assert nadeau_bengio([0, 2], train=90, held_out=10) == pytest.approx((1 - half, 1 + half))
    assert nadeau_bengio_p([0, 2], train=90, held_out=10) == pytest.approx(2 * stats.t(1).sf(np.sqrt(9 / 11)))


def test_interval_and_p_agree():
    """The interval of level 1 - p ends at zero."""
    p = nadeau_bengio_p(DIFFERENCES, 80, 20)
    ends = nadeau_bengio(DIFFERENCES, 80, 20, level=1 - p)
    assert min(abs(end) for end in ends) < 1e-12


@pytest.mark.parametrize(("difference", "p"), [(0.0, 1.0), (0.1, 0.0), (-0.1, 0.0)])
def test_differences_all_alike(difference, p):
    assert nadeau_bengio_p([difference] * 3, 80, 20) == p
    assert nadeau_bengio([difference] * 3, 80, 20) == (difference, difference)
    found = bayesian_correlated_t([difference] * 3, 80, 20)
    expected = {0.0: "rope", 0.1: "better", -0.1: "worse"}[difference]
    assert found == {name: float(name == expected) for name in ("worse", "rope", "better")}


def test_one_fold_tells_nothing():
    assert nadeau_bengio([0.1], 80, 20) is None
    assert nadeau_bengio_p([0.1], 80, 20) is None
    assert bayesian_correlated_t([0.1], 80, 20) is None


def test_sizes_of_zero_are_refused():
    with pytest.raises(ValueError, match="held_out=0"):
        nadeau_bengio([0.1, 0.2], 80, 0)


def test_the_posterior_is_the_corrected_t_distribution():
    scale = DIFFERENCES.std(ddof=1) * np.sqrt(1 / 15 + 20 / 80)
    posterior = stats.t(14, loc=DIFFERENCES.mean(), scale=scale)
    found = bayesian_correlated_t(DIFFERENCES, 80, 20, rope=0.005)
    assert found["worse"] == pytest.approx(posterior.cdf(-0.005))
    assert found["better"] == pytest.approx(posterior.sf(0.005))
    assert sum(found.values()) == pytest.approx(1)


def test_holm_by_hand():
    """0.01 x 4, 0.02 x 3, max(0.03 x 2, 0.06), max(0.9 x 1, 0.06)."""
    assert holm([0.9, 0.02, 0.01, 0.03]) == pytest.approx([0.9, 0.06, 0.04, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []
    with pytest.raises(ValueError, match="probabilities"):
        holm([1.5])


def test_wilcoxon_is_that_of_scipy():
    rng = np.random.default_rng(0)
    differences = [rng.normal(mean, 1, size=n) for mean, n in ((0.5, 12), (0.0, 9), (1.0, 60))]
    p, adjusted = wilcoxon_holm(differences)
    assert p == pytest.approx([stats.wilcoxon(each).pvalue for each in differences])
    assert adjusted == pytest.approx(holm(p))


def test_wilcoxon_by_hand():
    """Four data sets, all better: W- = 0, which one of the 2^4 signs of each side gives, p = 2/16."""
    assert wilcoxon_holm([[0.1, 0.4, 0.2, 0.3]])[0].tolist() == [0.125]
    assert wilcoxon_holm([[0.1, 0.4, 0.0, 0.2, 0.3]])[0].tolist() == [0.125]
    assert wilcoxon_holm([[0.0, 0.0]])[0].tolist() == [1.0]


@pytest.mark.parametrize("differences", [[], [np.nan, 1.0], [[0.1]], [np.inf]])
def test_gaps_are_refused(differences):
    with pytest.raises(ValueError, match="differences must be"):
        wilcoxon_holm([differences])
    with pytest.raises(ValueError, match="differences must be"):
        bayesian_signed_rank(differences)


def test_signed_rank_of_one_data_set_by_hand():
    """Weights (w, 1 - w) on 0 and z = 1, w ~ Beta(1/2, 1); with rope 0.3 the pairs (0, z) and (z, z) are better.

    better = 1 - w^2 wins when w^2 < 1/2; P(w < r) = r^(1/2) for Beta(1/2, 1), so P = 2^(-1/4).
    """
    found = bayesian_signed_rank([1.0], rope=0.3, n_samples=200_000)
    assert found["better"] == pytest.approx(2**-0.25, abs=0.005)
    assert found["rope"] == pytest.approx(1 - 2**-0.25, abs=0.005) and found["worse"] == 0.0


def test_signed_rank_mirrors_and_repeats():
    better = bayesian_signed_rank(DIFFERENCES, seed=3)
    worse = bayesian_signed_rank(-DIFFERENCES, seed=3)
    assert better["better"] == worse["worse"] and better["rope"] == worse["rope"]
    assert better == bayesian_signed_rank(DIFFERENCES, seed=3)
    assert sum(better.values()) == pytest.approx(1)


def test_small_differences_fall_into_the_rope():
    assert bayesian_signed_rank(np.full(8, 0.004))["rope"] == 1.0
    assert bayesian_signed_rank(np.full(8, 0.04))["better"] > 0.99
    with pytest.raises(ValueError, match="rope=-1"):
        bayesian_signed_rank([0.1], rope=-1)


def test_the_choice_is_made_on_the_other_folds():
    table = np.array([[0.9, 0.1, 0.1], [0.2, 0.2, 0.2]])
    assert chosen_elsewhere(table).tolist() == [0.2, 0.1, 0.1]
    assert chosen_elsewhere(table[:, :1]).tolist() == [0.9]


def test_no_difference_is_rarely_found():
    """Under no difference, folds of overlapping training parts: the corrected p falls below 0.05 in about 5 %."""
    rng = np.random.default_rng(0)
    small = 0
    for _ in range(400):
        shared, own = rng.normal(size=1), rng.normal(size=5)
        share = 0.2  # correlation of folds assumed by the correction: held_out / (train + held_out)
        folds = np.sqrt(share) * shared + np.sqrt(1 - share) * own
        small += nadeau_bengio_p(folds, 80, 20) < 0.05
    assert 0.02 < small / 400 < 0.09
