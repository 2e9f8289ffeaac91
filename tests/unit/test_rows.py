"""Rows: the label matrices that templates are made of, against their definitions as plain arrays."""

import numpy as np
import pytest

import strategies
from proxembed.algebra.operators import Laplacian
from proxembed.labels import LabelMatrix
from proxembed.rows import Rows, reciprocal

Y = strategies.labels_multi(12, 4, 3)
Y[5] = 0.0
X = strategies.features_dense(12, 3, 0)


def rows(weighting=None, table=Y) -> Rows:
    return Rows(X, LabelMatrix.of(table), weighting)


def shared(table=Y) -> np.ndarray:
    m = table.sum(axis=1)
    return np.outer(m, m)


def test_uniform_weights():
    assert rows().n == 12
    np.testing.assert_array_equal(rows().ones, np.ones(12))
    assert Rows(X, None).n == 12


def test_mass_of_each_weighting():
    m = Y.sum(axis=1)
    np.testing.assert_array_equal(rows().mass, np.ones(12))
    np.testing.assert_array_equal(rows("none").mass, m)
    for weighting in ("mimj", "printed"):
        np.testing.assert_array_equal(rows(weighting).mass, m > 0)


def test_class_mean_is_the_projection_on_class_means():
    W = rows().class_mean().todense()
    np.testing.assert_allclose(W, Y @ np.diag(1 / Y.sum(axis=0)) @ Y.T, atol=1e-14)
    one_hot = strategies.one_hot(strategies.labels_classes(12, 3, 1))
    W = rows(table=one_hot).class_mean().todense()
    np.testing.assert_allclose(W @ W, W, atol=1e-14)
    np.testing.assert_allclose(
        (W @ X)[one_hot[:, 0] > 0], np.tile(X[one_hot[:, 0] > 0].mean(axis=0), (int(one_hot[:, 0].sum()), 1))
    )


def test_grand_mean():
    np.testing.assert_allclose(rows().grand_mean().todense(), shared() / Y.sum(), atol=1e-14)


@pytest.mark.parametrize("matrix", ["class_mean", "grand_mean"])
@pytest.mark.parametrize("weighting", [None, "none", "mimj", "printed"])
def test_weighing_pairs_of_copies(matrix, weighting):
    part = rows(weighting)
    W = getattr(part, matrix)().todense()
    inverse = np.divide(1.0, shared(), out=np.zeros((12, 12)), where=shared() > 0)
    expected = {None: W, "none": W, "mimj": W * inverse, "printed": W * (Y @ Y.T) * inverse}[weighting]
    np.testing.assert_allclose(part.weigh(getattr(part, matrix)()).todense(), expected, atol=1e-14)


@pytest.mark.parametrize("weighting", [None, "mimj", "printed"])
def test_rows_without_labels_weigh_nothing(weighting):
    part = rows(weighting)
    L = Laplacian(part.weigh(part.class_mean())).todense()
    np.testing.assert_array_equal(L[5], 0.0)
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-14)


def test_one_label_a_row_makes_all_weightings_one():
    one_hot = strategies.one_hot(strategies.labels_classes(12, 3, 1))
    plain = rows(None, one_hot)
    for weighting in ("none", "mimj", "printed"):
        part = rows(weighting, one_hot)
        np.testing.assert_array_equal(part.mass, plain.mass)
        np.testing.assert_allclose(part.weigh(part.class_mean()).todense(), plain.class_mean().todense(), atol=1e-15)
    np.testing.assert_allclose(plain.grand_mean().todense(), np.full((12, 12), 1 / 12))


def test_coded_labels_are_sparse_and_equal_after_centring():
    zero_one, signs = rows().coded("01"), rows().coded("pm1")
    np.testing.assert_array_equal(zero_one.toarray(), Y)
    assert signs.nnz == zero_one.nnz
    centre = np.eye(12) - 1 / 12
    np.testing.assert_allclose(centre @ signs.toarray(), centre @ (2 * Y - 1), atol=1e-14)


def test_reciprocal_of_zero_is_zero():
    np.testing.assert_array_equal(reciprocal(np.array([0.0, 2.0, -4.0])), [0.0, 0.5, -0.25])
