"""VAT, iVAT and coVAT against their definitions: the walk by sets, minimax paths by force, blocks, ties, samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform

from designs import WHOLE, each_value
from proxembed.proximity.reordering import covat, even_sample, ivat, vat


def distances(n, seed=0, d=3):
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, d))))


def walk(D):
    """VAT by its definition: two sets, and every pair of them looked at."""
    n = len(D)
    pairs = [(D[i, j], -i) for i in range(n) for j in range(n)]
    placed, open_ = [-max(pairs)[1]], set(range(n))
    open_ -= set(placed)
    while open_:
        best = min((D[i, j], -time, j) for time, i in enumerate(placed) for j in open_)
        placed.append(best[2])
        open_.remove(best[2])
    return placed


def minimax(D):
    """The longest step of the best path, by Floyd and Warshall's loop."""
    paths = D.copy()
    for k in range(len(D)):
        paths = np.minimum(paths, np.maximum(paths[:, k, None], paths[None, k]))
    return paths


def blocks(sizes, gap=50.0, seed=0):
    """Shuffled rows in far groups: distances and the group of each row."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return squareform(pdist(rng.normal(size=(len(group), 2)) + gap * group[:, None])), group


def runs(values):
    return 1 + int(np.count_nonzero(np.diff(values)))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 25])
def test_vat_is_the_walk_of_its_definition(n):
    D = distances(n, seed=n)
    found = vat(D)
    assert found.rows.tolist() == walk(D)
    np.testing.assert_array_equal(found.matrix, D[np.ix_(found.rows, found.rows)])


@settings(deadline=None, max_examples=60 if WHOLE else 25)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_ties_follow_the_rule(n, seed):
    """Few distinct values: nearly every step is a tie."""
    D = np.random.default_rng(seed).integers(1, 4, size=(n, n)).astype(float)
    D = np.triu(D, 1) + np.triu(D, 1).T
    assert vat(D).rows.tolist() == walk(D)


def test_all_rows_alike_keep_their_order():
    assert vat(np.zeros((4, 4))).rows.tolist() == [0, 1, 2, 3]
    assert ivat(np.zeros((4, 4))).matrix.max() == 0.0


def test_equal_rows_stay_together_whatever_ties_there_are():
    x = np.array([0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 1.0])  # equal steps between the groups
    assert runs(x[vat(np.abs(x[:, None] - x)).rows]) == 3


@pytest.mark.parametrize("n", [2, 5, 30])
def test_ivat_holds_the_minimax_distances(n):
    D = distances(n, seed=n)
    found, plain = ivat(D), vat(D)
    np.testing.assert_array_equal(found.rows, plain.rows)
    np.testing.assert_array_equal(found.matrix, minimax(D)[np.ix_(found.rows, found.rows)])
    assert (found.matrix <= plain.matrix).all() and np.array_equal(found.matrix, found.matrix.T)


@settings(deadline=None, max_examples=60 if WHOLE else 25)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_ivat_holds_them_with_ties_too(n, seed):
    D = np.random.default_rng(seed).integers(0, 4, size=(n, n)).astype(float)
    D = np.triu(D, 1) + np.triu(D, 1).T
    found = ivat(D)
    np.testing.assert_array_equal(found.matrix, minimax(D)[np.ix_(found.rows, found.rows)])


def test_in_another_order_than_that_of_vat_the_recursion_would_not_do():
    """Negative control: the same sums in the order of the file are no minimax distances."""
    D = distances(25, seed=3)
    paths = np.zeros_like(D)
    for r in range(1, len(D)):
        j = int(np.argmin(D[r, :r]))
        paths[r, :r] = paths[:r, r] = np.maximum(D[r, j], paths[j, :r])
    assert np.abs(paths - minimax(D)).max() > 0.1


@pytest.mark.parametrize("order", [vat, ivat])
def test_groups_become_blocks(order):
    D, group = blocks([7, 12, 5])
    assert runs(group) > 3
    assert runs(group[order(D).rows]) == 3


def test_ivat_shows_rings_that_distances_do_not():
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    D = cdist(np.vstack([ring, 2 * ring]), np.vstack([ring, 2 * ring]))
    found = ivat(D)
    inner = found.rows < 60
    assert runs(inner) == 2
    within, between = found.matrix[np.ix_(inner, inner)].max(), found.matrix[np.ix_(inner, ~inner)].min()
    assert within < between and D[:60, :60].max() > D[:60, 60:].min()


@pytest.mark.parametrize("order", [vat, ivat])
def test_the_numbering_of_the_rows_does_not_matter(order):
    """Of the two ends of the largest distance the walk starts at the lower number: it is kept the lower one."""
    D = distances(20, seed=1)
    i, j = np.unravel_index(np.argmax(D), D.shape)
    p = np.random.default_rng(2).permutation(20)
    at = [int(np.flatnonzero(p == end)[0]) for end in (i, j)]
    p[np.sort(at)] = np.sort([i, j])
    found = order(D[np.ix_(p, p)])
    np.testing.assert_array_equal(p[found.rows], order(D).rows)
    np.testing.assert_array_equal(found.matrix, order(D).matrix)


@pytest.mark.parametrize("order", [vat, ivat])
@pytest.mark.parametrize("scale", [1e-150, 7.0, 1e150])
def test_the_unit_of_the_distances_does_not_matter(order, scale):
    D = distances(15, seed=4)
    found = order(D * scale)
    np.testing.assert_array_equal(found.rows, order(D).rows)
    np.testing.assert_allclose(found.matrix, order(D).matrix * scale, rtol=1e-12)


def union(D):
    """The square matrix of coVAT by its definition."""
    mean = D.mean()
    parts = []
    for X in (D, D.T):
        between = squareform(pdist(X))
        total = between.sum()
        n = len(X)
        parts.append(between * (mean * n * (n - 1) / total) if total > 0 else between)
    return np.block([[parts[0], D], [D.T, parts[1]]])


@pytest.mark.parametrize(("n", "c"), [(1, 1), (6, 1), (1, 4), (9, 5), (20, 30)])
def test_covat_is_the_walk_over_rows_and_columns(n, c):
    D = np.random.default_rng(n * c).uniform(size=(n, c))
    found, order = covat(D), walk(union(D))
    assert found.rows.tolist() == [t for t in order if t < n]
    assert found.columns.tolist() == [t - n for t in order if t >= n]
    np.testing.assert_array_equal(found.matrix, D[np.ix_(found.rows, found.columns)])


def test_covat_finds_blocks_of_rows_and_columns():
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(np.repeat(range(3), 12)), rng.permutation(np.repeat(range(3), 4))
    D = np.where(rows[:, None] == columns, 0.1, 0.9) + rng.uniform(0, 0.02, size=(36, 12))
    found = covat(D)
    assert runs(rows[found.rows]) == runs(columns[found.columns]) == 3
    assert runs(rows) > 3 and runs(columns) > 3


def test_covat_puts_rows_of_one_label_set_together():
    """Labels tie everything: a row is at no distance from its labels. The walk still ends a set before it goes on."""
    Y = (np.random.default_rng(6).uniform(size=(200, 4)) < 0.4).astype(int)
    code = Y @ (1 << np.arange(4))
    assert runs(code[covat(1 - Y).rows]) == len(set(code.tolist())) < runs(code)


def test_covat_of_a_matrix_without_contrast():
    for D in (np.zeros((3, 2)), np.ones((3, 2))):
        found = covat(D)
        assert found.rows.tolist() == [0, 1, 2] and found.columns.tolist() == [0, 1]


def test_above_the_limit_a_stated_sample_is_ordered():
    D = distances(60)
    found = vat(D, limit=20)
    kept = np.sort(found.rows)
    assert found.sampled and found.words == "an even sample of 20 of 60 rows" and len(set(kept)) == 20
    np.testing.assert_array_equal(kept, even_sample(60, 20))
    np.testing.assert_array_equal(found.rows, kept[vat(D[np.ix_(kept, kept)]).rows])
    np.testing.assert_array_equal(found.matrix, D[np.ix_(found.rows, found.rows)])
    np.testing.assert_array_equal(found.rows, vat(D, limit=20).rows)
    wide = covat(D[:, :25], limit=20)
    assert wide.words == "an even sample of 20 of 60 rows and an even sample of 20 of 25 columns"
    np.testing.assert_array_equal(wide.matrix, D[np.ix_(wide.rows, wide.columns)])
    assert not vat(D).sampled and covat(D[:, :25]).words == "all 60 rows and all 25 columns"


def test_2001_rows_are_sampled_by_default():
    D = np.abs(np.subtract.outer(np.arange(2001.0), np.arange(2001.0)))
    assert len(vat(D).rows) == 2000 and vat(D).rows[0] == even_sample(2001, 2000)[0]


@each_value
@pytest.mark.parametrize("order", [vat, ivat], ids=["vat", "ivat"])
@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.zeros((2, 3)), "a square matrix is needed; for a rectangular one take covat"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), r"give \(D \+ D.T\) / 2"),
        (np.eye(2), "diagonal of D is not zero"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "NaN, infinity or values below 0"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "NaN, infinity or values below 0"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.zeros((2, 2), dtype=complex), "real dissimilarities"),
    ],
)
def test_what_are_no_dissimilarities_is_refused(order, D, message):
    with pytest.raises(ValueError, match=message):
        order(D)


def test_covat_refuses_what_it_cannot_order():
    with pytest.raises(ValueError, match="below 0"):
        covat(np.array([[1.0, -0.5]]))
    with pytest.raises(ValueError, match="limit=0 is not allowed"):
        covat(np.ones((2, 2)), limit=0)
    with pytest.raises(ValueError, match="limit=True is not allowed"):
        vat(np.zeros((2, 2)), limit=True)


def test_the_input_is_left_as_it_was():
    D = distances(10)
    before = D.copy()
    vat(D), ivat(D), covat(D)
    np.testing.assert_array_equal(D, before)
