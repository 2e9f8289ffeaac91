"""Macro average precision and Jaccard@k: hand-worked cases, conventions, and scikit-learn as an oracle."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import average_precision_score, jaccard_score

from proxembed.measures.metrics import (
    average_precision,
    class_weights,
    decision_counts,
    exchange_score,
    jaccard_at_k,
    macro_average_precision,
    rarest_average_precision,
    row_jaccard,
    same_rows,
)


@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_average_precision_equals_scikit_learn_with_and_without_ties(decimals):
    rng = np.random.default_rng(decimals)
    Y = rng.random((60, 7)) < 0.3
    S = np.round(rng.normal(size=Y.shape) + Y, decimals)
    expected = [average_precision_score(Y[:, j], S[:, j]) for j in range(7)]
    np.testing.assert_allclose(average_precision(Y, S), expected, rtol=1e-12)
    assert macro_average_precision(sp.csc_array(Y.astype(np.uint8)), S).value == pytest.approx(
        np.mean(expected), rel=1e-12
    )


def test_average_precision_by_hand():
    Y = np.array([[1, 1], [0, 0], [1, 0], [0, 0]])
    S = np.array([[4.0, 0.5], [3.0, 0.5], [2.0, 0.5], [1.0, 0.5]])
    np.testing.assert_allclose(average_precision(Y, S), [(1 + 2 / 3) / 2, 1 / 4])


def test_perfect_and_worst_ranking():
    Y = np.array([[1], [1], [0], [0]])
    assert average_precision(Y, np.array([[4.0], [3], [2], [1]]))[0] == 1
    assert average_precision(Y, np.array([[1.0], [2], [3], [4]]))[0] == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_absent_labels_are_skipped_and_counted_or_taken_as_zero():
    Y = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]])
    S = np.array([[2.0, 1, 3], [1, 2, 2], [0, 3, 1]])
    assert macro_average_precision(Y, S) == (1.0, 2)
    assert macro_average_precision(Y, S, min_positives=2) == (1.0, 1)
    assert macro_average_precision(Y, S, absent="zero") == (pytest.approx(2 / 3), 3)
    value, n_labels = macro_average_precision(np.zeros((2, 2)), np.zeros((2, 2)))
    assert np.isnan(value) and n_labels == 0


@pytest.mark.parametrize(
    ("Y", "S", "options", "message"),
    [
        ([[1, 0]], [[1.0]], {}, "one shape"),
        ([[1, 2]], [[1.0, 2.0]], {}, "only 0 and 1"),
        ([1, 0], [1.0, 2.0], {}, "one column per label"),
        ([[1, 0]], [[np.nan, 1.0]], {}, "must be finite"),
        ([[1]], [[1.0]], {"absent": "drop"}, "absent='drop'"),
        ([[1]], [[1.0]], {"min_positives": 0}, "min_positives=0"),
    ],
)
def test_bad_input_is_refused(Y, S, options, message):
    with pytest.raises(ValueError, match=message):
        macro_average_precision(np.array(Y), np.array(S), **options)


def weights_of(neighbors, n):
    """Equal weights of the neighbours in each row."""
    m, k = neighbors.shape
    row = np.repeat(np.arange(m), k)
    return sp.csr_array(sp.coo_array((np.full(m * k, 1 / k), (row, neighbors.ravel())), shape=(m, n)))


def test_jaccard_by_hand_with_empty_sets():
    Y_train = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1]])
    Y = np.array([[1, 0, 0], [0, 0, 0]])
    weights = sp.csr_array([[0.5, 0.5, 0], [0, 0.25, 0.75]])
    np.testing.assert_allclose(row_jaccard(Y, Y_train, weights), [1 / 4, 1 / 4])
    assert jaccard_at_k(Y, Y_train, weights) == pytest.approx(1 / 4)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_jaccard_equals_scikit_learn_in_any_block(block):
    rng = np.random.default_rng(3)
    Y_train, Y = rng.random((30, 5)) < 0.5, rng.random((20, 5)) < 0.5
    Y_train[:, 0], Y[:, 0] = True, True
    neighbors = np.array([rng.permutation(30)[:4] for _ in range(20)])
    expected = np.mean([jaccard_score(Y, Y_train[neighbors[:, i]], average="samples") for i in range(4)])
    found = row_jaccard(sp.csr_array(Y), Y_train, weights_of(neighbors, 30), block=block)
    assert found.mean() == pytest.approx(expected, rel=1e-12)


def test_jaccard_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="one row for each of the 2 rows"):
        jaccard_at_k(np.eye(2), np.eye(2), sp.csr_array([[1.0, 0.0]]))
    with pytest.raises(ValueError, match="hold neighbours"):
        jaccard_at_k(np.eye(2), np.eye(2), sp.csr_array((2, 2)))
    with pytest.raises(ValueError, match="Y has 2 labels and Y_train 3"):
        jaccard_at_k(np.eye(2), np.eye(3), sp.csr_array(np.eye(2, 3)))


def test_the_same_rows_for_every_query_have_the_largest_mean_similarity():
    rng = np.random.default_rng(5)
    Y = rng.random((40, 4)) < [0.7, 0.5, 0.2, 0.1]
    Y = np.vstack([Y, Y[:5], np.zeros((1, 4), bool)])
    every = sp.csr_array(np.full((len(Y), len(Y)), 1 / len(Y)))
    mean = row_jaccard(Y, Y, every)
    np.testing.assert_allclose(np.sort(mean[same_rows(Y, 6)]), np.sort(mean)[-6:])
    assert len(same_rows(Y, 100)) == len(Y)
    assert set(same_rows(Y, 3, most=46)) == set(same_rows(sp.csr_array(Y), 3))
    assert same_rows(np.eye(6), 2, most=2).tolist() == [0, 5], "two rows are the reference"


def test_the_rarest_label_is_that_of_fewest_positive_rows():
    rng = np.random.default_rng(6)
    Y = np.zeros((30, 4), bool)
    Y[:10, 0] = Y[:3, 1] = Y[5:8, 2] = True
    S = rng.normal(size=Y.shape)
    each = average_precision(Y, S)
    assert rarest_average_precision(Y, S) == (pytest.approx(each[1:3].mean()), 2)
    assert rarest_average_precision(Y, S, min_positives=4) == (pytest.approx(each[0]), 1)
    assert np.isnan(rarest_average_precision(Y, S, min_positives=11).value)


def test_the_exchange_score_is_that_of_all_orders_of_the_lists():
    rng = np.random.default_rng(0)
    Y, near = rng.random((6, 4)) < 0.5, [sp.csr_array(row) for row in rng.dirichlet(np.ones(9), 6) * np.tri(6, 9, 3)]
    train, lists = rng.random((9, 4)) < 0.5, sp.vstack(near)
    means = [row_jaccard(Y, train, lists[list(order)]).mean() for order in permutations(range(6))]
    expected = (means[0] - np.mean(means)) / np.std(means)
    assert exchange_score(Y, train, lists) == pytest.approx(expected, rel=1e-5)
    assert exchange_score(Y, train, sp.vstack([near[0]] * 6)) == 0.0, "one list for every row"


def test_of_one_yes_no_label_both_classes_count_alike():
    y = np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], dtype=bool)
    Y, two = y[:, None], np.column_stack([~y, y])
    same = sp.csr_array(np.tile([0.0, 1.0], (10, 1)))  # the neighbour of every row lacks the label
    train = np.array([[True], [False]])
    assert jaccard_at_k(Y, train, same) == pytest.approx(0.5), "not 0.9, the share of rows without the label"
    assert jaccard_at_k(two, np.array([[False, True], [True, False]]), same) == pytest.approx(0.5)
    assert class_weights(Y).sum() == pytest.approx(10) and class_weights(Y)[0] == pytest.approx(5)
    w = class_weights(Y, sample_weight=np.arange(1.0, 11))
    assert w[0] == pytest.approx(w[1:].sum()), "also where rows count by a weight"
    known = ~np.eye(10, dtype=bool)[:, [1]]
    assert class_weights(Y, known)[1] == 0, "rows whose label is unknown do not count"
    assert class_weights(np.ones((3, 2), dtype=bool)) is None and class_weights(np.ones((3, 1), dtype=bool)) is None


def test_decisions_are_counted_per_label_over_known_cells_and_weights():
    Y, said = np.array([[1, 0], [1, 1], [0, 0], [0, 1]]), np.array([[1, 1], [0, 1], [1, 0], [0, 0]])
    counts = decision_counts(Y, said)
    assert counts[..., 0].tolist() == [[1, 1], [1, 1]] and counts[..., 1].tolist() == [[1, 1], [1, 1]]
    known = np.array([[True, True], [False, True], [True, False], [True, True]])
    counts = decision_counts(Y, said, known, np.array([2.0, 1.0, 1.0, 0.5]))
    assert counts[..., 0].tolist() == [[0.5, 1], [0, 2]] and counts[..., 1].tolist() == [[0, 2], [0.5, 1]]
