"""What a forest is grown on: the leading scores of many labels, also where no matrix of all labels is made."""

import numpy as np
import scipy.sparse as sp

from proxembed.features import leaves
from proxembed.targets.labels import LabelMatrix


def test_the_leading_scores_of_thousands_of_labels_are_those_of_their_scatter(monkeypatch):
    rng = np.random.default_rng(0)
    labels = LabelMatrix.of(sp.csc_array((rng.random((150, 300)) < np.linspace(0.4, 0.01, 300)).astype(np.uint8)))
    whole = leaves.forest_targets(labels, labels.Y)
    monkeypatch.setattr(leaves, "MANY_LABELS", 100)
    found = leaves.forest_targets(labels, labels.Y)
    assert found.shape == (150, leaves.SCORES)
    np.testing.assert_allclose(np.abs(found), np.abs(whole), atol=1e-7)
