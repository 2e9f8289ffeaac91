"""Views on real data: the figures of features beside out-of-bag scores of a forest, and the weight of folds."""

import pytest

from bench.held_out import drawn, figures_of
from proxembed import Views

BESIDE = {"emotions": (0.745, 0.532, 0.524), "birds": (0.533, 0.529, 0.530)}  # weight 0.5: mAP, J by cosine, Euclidean
FEATURES = {"emotions": (0.742, 0.553, 0.549), "birds": (0.425, 0.508, 0.499)}


@pytest.mark.parametrize("name", ["emotions"])
def test_figures_of_features_and_scores_are_those_of_the_specification(data_folder, name):
    rows = drawn(data_folder, name)
    assert figures_of(Views(views=["features"]), rows)[:3] == pytest.approx(FEATURES[name], abs=0.005)
    assert figures_of(Views(), rows)[:3] == pytest.approx(BESIDE[name], abs=0.02)
