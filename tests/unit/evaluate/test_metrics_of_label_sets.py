"""Measures of predicted label sets: scikit-learn where it has them, the stated conventions by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import metrics as oracle

from proxembed.measures import metrics
from proxembed.measures.metrics import (
    balanced_accuracy,
    hamming_loss,
    instance_accuracy,
    instance_f1,
    instance_precision,
    instance_recall,
    label_f1,
    macro_f1,
    micro_f1,
    subset_accuracy,
)


@pytest.fixture(params=[0.15, 0.5])
def pair(request):
    rng = np.random.default_rng(7)
    Y, Yh = (rng.random((80, 6)) < request.param for _ in range(2))
    Y[0], Yh[0] = True, True
    return Y, Yh


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_measures_equal_scikit_learn(pair, form):
    Y, Yh = pair
    y, yh = form(Y.astype(int)), form(Yh.astype(float))
    assert hamming_loss(y, yh) == pytest.approx(oracle.hamming_loss(Y, Yh), rel=1e-12)
    assert subset_accuracy(y, yh) == pytest.approx(oracle.accuracy_score(Y, Yh), rel=1e-12)
    assert micro_f1(y, yh) == pytest.approx(oracle.f1_score(Y, Yh, average="micro"), rel=1e-12)
    np.testing.assert_allclose(label_f1(y, yh), oracle.f1_score(Y, Yh, average=None), rtol=1e-12)
    assert macro_f1(y, yh).value == pytest.approx(oracle.f1_score(Y, Yh, average="macro"), rel=1e-12)


def test_measures_of_rows_equal_scikit_learn_where_both_sets_are_not_empty(pair):
    Y, Yh = pair
    Y, Yh = (part[Y.any(axis=1) & Yh.any(axis=1)] for part in (Y, Yh))
    options = {"average": "samples"}
    assert instance_accuracy(Y, Yh) == pytest.approx(oracle.jaccard_score(Y, Yh, **options), rel=1e-12)
    assert instance_precision(Y, Yh) == pytest.approx(oracle.precision_score(Y, Yh, **options), rel=1e-12)
    assert instance_recall(Y, Yh) == pytest.approx(oracle.recall_score(Y, Yh, **options), rel=1e-12)
    assert instance_f1(Y, Yh) == pytest.approx(oracle.f1_score(Y, Yh, **options), rel=1e-12)


def test_empty_sets_of_rows_by_hand():
    Y = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
    Yh = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert instance_accuracy(Y, Yh) == pytest.approx((1 / 3 + 1 + 0 + 0) / 4)
    assert instance_precision(Y, Yh) == pytest.approx((1 / 2 + 1 + 0 + 0) / 4)
    assert instance_recall(Y, Yh) == pytest.approx((1 / 2 + 1 + 0 + 0) / 4)
    assert instance_f1(Y, Yh) == pytest.approx((2 / 4 + 1 + 0 + 0) / 4)
    assert subset_accuracy(Y, Yh) == 1 / 4
    assert hamming_loss(Y, Yh) == pytest.approx(4 / 12)


def test_instance_f1_is_not_the_harmonic_mean_of_the_means():
    Y, Yh = np.array([[1, 0, 0], [1, 1, 1]]), np.array([[1, 1, 1], [1, 0, 0]])
    precision, recall = instance_precision(Y, Yh), instance_recall(Y, Yh)
    assert instance_f1(Y, Yh) == 0.5 and 2 * precision * recall / (precision + recall) == pytest.approx(2 / 3)


def test_absent_labels_count_zero():
    Y = np.array([[1, 0, 0], [1, 0, 0]])
    Yh = np.array([[1, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(label_f1(Y, Yh), [1, 0, np.nan])
    assert macro_f1(Y, Yh) == (pytest.approx(1 / 3), 3)
    assert macro_f1(np.zeros((2, 2)), np.zeros((2, 2))) == (0.0, 2)
    assert micro_f1(np.zeros((2, 2)), np.zeros((2, 2))) == 0
    assert oracle.f1_score(Y, Yh, average="macro", zero_division=0) == macro_f1(Y, Yh).value


@pytest.mark.parametrize(
    "name",
    [
        "hamming_loss",
        "label_f1",
        "macro_f1",
        "micro_f1",
        "instance_accuracy",
        "instance_precision",
        "instance_recall",
        "instance_f1",
        "subset_accuracy",
    ],
)
def test_every_measure_refuses_what_it_cannot_measure(name):
    measure = getattr(metrics, name)
    with pytest.raises(ValueError, match="one shape"):
        measure(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="only 0 and 1"):
        measure(np.eye(2), np.full((2, 2), 0.5))
    with pytest.raises(ValueError, match="only 0 and 1"):
        measure(np.full((2, 2), np.nan), np.eye(2))
    with pytest.raises(ValueError, match="at least one row"):
        measure(np.zeros((0, 2)), np.zeros((0, 2)))


def test_balanced_accuracy_equals_scikit_learn_on_each_label_that_has_both_values():
    rng = np.random.default_rng(4)
    Y, Yh = rng.random((80, 4)) < [0.5, 0.2, 0.05, 0.0], rng.random((80, 4)) < 0.4
    each = [oracle.balanced_accuracy_score(Y[:, j], Yh[:, j]) for j in range(3)]
    assert balanced_accuracy(Y, Yh) == (pytest.approx(np.mean(each)), 3)
    assert np.isnan(balanced_accuracy(Y[:, 3:], Yh[:, 3:]).value)
