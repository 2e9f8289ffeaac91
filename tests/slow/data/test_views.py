"""Views on real data: the figures of birds, and the weight that folds choose."""

import pytest

from bench.held_out import drawn
from data import test_views as emotions
from proxembed import Views


def test_figures_of_features_and_scores_are_those_of_the_specification(data_folder):
    emotions.test_figures_of_features_and_scores_are_those_of_the_specification(data_folder, "birds")


@pytest.mark.parametrize(("name", "weight"), [("emotions", 0.0), ("birds", 1.0)])
def test_folds_choose_the_weight_of_the_specification(data_folder, name, weight):
    rows = drawn(data_folder, name)
    assert Views(weights="folds").fit(rows.X, rows.Y).weights_[1] == weight
