"""Maps of all components of the test rows, laid out."""

import numpy as np
import pytest
from sklearn.random_projection import GaussianRandomProjection

from proxembed import OPLS, Layout
from proxembed.data import Dataset
from proxembed.evaluate.evidence import held_out_evidence
from unit.evaluate.test_evidence import made  # noqa: F401


def test_maps_of_all_components_are_laid_out_where_asked_for(made):  # noqa: F811
    """Eight labels that one component cannot tell apart: the layout of all of them does, that of noise does not."""
    data, split = made
    y = np.argmax(data.X[:, :8] + 0.01 * data.X[:, 8:16], axis=1)
    several = Dataset(10 * np.eye(8)[y] @ data.X[:8] + data.X, np.eye(8, dtype=int)[y])
    found = held_out_evidence(OPLS(n_components=1), several, split, lay_out=True)
    assert [title for title, *_ in found.laid_out] == ["PCA", "OPLS", "OPLS on shuffled labels"]
    for _, places, score, kept, forms in found.laid_out:
        assert places.shape == (150, 2) and np.isfinite(places).all() and 0 <= score <= 1 and 0 < kept <= 1
        assert forms == ("all components laid out",)
    flat, whole = found.panels[1][2], found.laid_out[1][2]
    assert whole > 0.9 > flat
    assert held_out_evidence(OPLS(n_components=1), several, split).laid_out == []
    rival = GaussianRandomProjection(2, random_state=0)
    assert len(held_out_evidence(rival, several, split, lay_out=True, name="random").laid_out) == 3
    layout = held_out_evidence(Layout(OPLS(), layout="sklearn"), several, split, lay_out=True)
    for plane, own in zip(layout.panels[1:], layout.laid_out[1:3], strict=True):
        np.testing.assert_array_equal(plane[1], own[1])
        assert plane[2] == pytest.approx(own[2])
