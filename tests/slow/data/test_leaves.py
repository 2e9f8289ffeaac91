"""Forest leaves on birds: the figures of the specification, of one draw of two thirds of the rows."""

import pytest

from bench.held_out import drawn, nearest_jaccard
from data import test_leaves as emotions
from data.test_leaves import placed
from proxembed import ForestLeaves


def test_precision_of_new_rows_is_that_of_the_specification_and_above_the_kernel(data_folder):
    emotions.test_precision_of_new_rows_is_that_of_the_specification_and_above_the_kernel(data_folder, "birds", 0.561)


@pytest.mark.parametrize(("rows", "plain", "matched"), [("all", 0.543, 0.622), ("oob", 0.458, 0.612)])
def test_the_scale_of_new_rows_brings_their_neighbours_back(data_folder, rows, plain, matched):
    birds = drawn(data_folder, "birds")
    for match_scale, stated in ((False, plain), (True, matched)):
        model = ForestLeaves(rows=rows, match_scale=match_scale)
        assert nearest_jaccard(*placed(model, birds)) == pytest.approx(stated, abs=0.02)
