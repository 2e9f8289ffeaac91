"""What a forest is grown on: the leading scores of many labels, also where no matrix of all labels is made."""

import numpy as np
import scipy.sparse as sp

from proxembed.features import leaves
from proxembed.targets.labels import LabelMatrix

SETTINGS = {"n_estimators": 40, "min_samples_leaf": 2, "max_features": "sqrt", "random_state": 0}


def test_the_leading_scores_of_thousands_of_labels_are_those_of_their_scatter(monkeypatch):
    rng = np.random.default_rng(0)
    labels = LabelMatrix.of(sp.csc_array((rng.random((150, 300)) < np.linspace(0.4, 0.01, 300)).astype(np.uint8)))
    whole = leaves.forest_targets(labels, labels.Y)
    monkeypatch.setattr(leaves, "MANY_LABELS", 100)
    found = leaves.forest_targets(labels, labels.Y)
    assert found.shape == (150, leaves.SCORES)
    np.testing.assert_allclose(np.abs(found), np.abs(whole), atol=1e-7)


def test_sparse_rows_with_many_entries_give_the_trees_of_dense_rows_to_the_last_bit():
    draw = np.random.default_rng(1)
    X, T = (draw.random((200, 40)) < 0.1).astype(float), draw.normal(size=(200, 4))
    found, expected = (leaves.grown(rows, T, np.ones(200), **SETTINGS)[0] for rows in (sp.csr_array(X), X))
    for name in ("left", "right", "feature", "threshold", "entries"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_only_rows_of_few_entries_stay_sparse_for_trees():
    few, many = (sp.random_array((50, 40), density=share, rng=0, format="csr") for share in (0.02, 0.1))
    assert sp.issparse(leaves.rows_to_grow_on(few)) and leaves.rows_to_grow_on(few).format == "csc"
    np.testing.assert_array_equal(leaves.rows_to_grow_on(many), many.toarray())
