"""The comparison of two stores of outputs."""

from __future__ import annotations

import numpy as np

import outputs


def test_arrays_that_moved_are_named_and_rounding_is_not(tmp_path):
    before, after = tmp_path / "before.npz", tmp_path / "after.npz"
    Z = np.arange(6.0).reshape(3, 2)
    np.savez(before, same=Z, rounded=Z, moved=Z, cut=Z, gone=Z, choice=np.asarray("OPLS"))
    np.savez(after, same=Z, rounded=Z + 1e-11, moved=Z + 1e-6, cut=Z[:2], added=Z, choice=np.asarray("CCA"))
    assert outputs.differences(before, after) == [
        "missing: gone",
        "new: added",
        "differs: choice",
        "differs: cut",
        "differs by 2.0e-07: moved",
    ]
    assert outputs.differences(before, before) == []


def test_fitted_arrays_and_what_is_said_of_new_rows_are_stored():
    from proxembed import PCA

    X = np.random.default_rng(0).standard_normal((20, 4))
    arrays = outputs.arrays_of(PCA(n_components=2).fit(X), X, X[:3])
    assert {"components_", "eigenvalues_", "transform seen", "transform new"} <= set(arrays)
    assert arrays["transform new"].shape == (3, 2)
