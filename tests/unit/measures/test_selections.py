"""What differs between selected rows and the others: effects from all pairs, p from SciPy's tests."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import fisher_exact, mannwhitneyu

from proxembed.measures import selections
from proxembed.measures.selections import differences

rng = np.random.default_rng(0)
N = 60
SELECTED = np.isin(np.arange(N), rng.choice(N, 22, replace=False))
X = np.column_stack(
    [
        rng.standard_normal(N) + SELECTED,
        rng.integers(0, 4, N) - SELECTED,  # ties
        rng.random(N) < 0.3 + 0.4 * SELECTED,  # two values
        np.where(rng.random(N) < 0.7, 0.0, rng.standard_normal(N)),  # mostly 0, of both signs
        np.full(N, 2.0),
    ]
).astype(float)


def delta(inside, outside):
    """Cliff's delta from all pairs."""
    pairs = np.sign(inside[:, None] - outside)
    return pairs.mean()


def test_effects_and_tests_are_those_of_the_definitions():
    found = differences(X, SELECTED)
    for j, column in enumerate(X.T):
        inside, outside = column[SELECTED], column[~SELECTED]
        assert found.inside[j] == pytest.approx(inside.mean()) and found.outside[j] == pytest.approx(outside.mean())
        assert found.effect[j] == pytest.approx(delta(inside, outside), abs=1e-12)
    for j in (0, 1, 3):
        p = mannwhitneyu(X[SELECTED, j], X[~SELECTED, j], method="asymptotic").pvalue
        assert found.p[j] == pytest.approx(p, rel=1e-9)
    table = [[np.sum(X[SELECTED, 2] == value), np.sum(X[~SELECTED, 2] == value)] for value in (1, 0)]
    assert found.p[2] == pytest.approx(fisher_exact(table).pvalue, rel=1e-12)
    assert found.effect[2] == pytest.approx(X[SELECTED, 2].mean() - X[~SELECTED, 2].mean())
    assert found.p[4] == 1.0 and found.effect[4] == 0.0


def test_sparse_columns_are_those_of_the_dense_ones():
    stored = csr_array(X)
    stored.data[0] = 0.0  # a zero that is stored
    for one, other in zip(differences(stored, SELECTED), differences(stored.toarray(), SELECTED), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_unknown_cells_are_left_out_and_columns_without_a_side_are_unknown():
    holes = X.copy()
    holes[::5, 0] = np.nan
    holes[SELECTED, 2] = np.nan
    found, known = differences(holes, SELECTED), np.arange(N) % 5 != 0
    alone = differences(X[known][:, [0]], SELECTED[known])
    assert [values[0] for values in found] == [values[0] for values in alone]
    assert np.isnan([values[2] for values in found]).all()
    assert np.isnan(differences(csr_array(X), np.zeros(N, bool)).p).all()


def test_columns_are_taken_some_at_a_time(monkeypatch):
    whole = differences(X, SELECTED)
    monkeypatch.setattr(selections, "CHUNK", N)
    for one, other in zip(differences(X, SELECTED), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
