"""Methods that place the rows themselves: fit_transform, and rows that nothing tells apart."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed import SLVM, Isomap, LaplacianEigenmaps


@pytest.mark.filterwarnings("ignore:SLVM cannot use rows without a known label")
def test_rows_that_fit_leaves_out_are_placed_like_new_ones():
    X = np.random.default_rng(0).standard_normal((8, 2))
    Y = np.array([[1.0, 0.0], [0.0, 1.0]] * 4)
    Y[3] = np.nan
    found = SLVM().fit_transform(X, Y)
    model = SLVM().fit(np.delete(X, 3, axis=0), np.delete(Y, 3, axis=0))
    np.testing.assert_allclose(found, model.transform(X), rtol=0, atol=1e-12)
    assert np.abs(found[3] - found[-1]).max() > 1e-3  # not the place of the last row


def test_fit_transform_needs_no_rule_for_new_rows():
    X = np.random.default_rng(0).standard_normal((12, 3))
    model = LaplacianEigenmaps(n_neighbors=4, normalization="none")
    np.testing.assert_array_equal(model.fit_transform(X), model.embedding_)


def test_rows_without_a_direction_are_refused():
    with pytest.raises(ValueError, match="Isomap finds no direction in which these rows of X differ"):
        Isomap(eps=0.5, disconnected="largest").fit(np.array([[0.0], [3.0]]))
