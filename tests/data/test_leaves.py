"""Forest leaves on real data: the figures of the specification, of one draw of two thirds of the rows."""

import pytest

from bench.held_out import drawn, precision
from proxembed import ForestLeaves, Kernelized


def placed(model, rows):
    """The embedding of the rows of fit and of the others, and the rows."""
    model.fit(rows.X, rows.Y)
    return model.transform(rows.X), model.transform(rows.X_new), rows


@pytest.mark.parametrize(("name", "stated"), [("emotions", 0.758)])
def test_precision_of_new_rows_is_that_of_the_specification_and_above_the_kernel(data_folder, name, stated):
    rows = drawn(data_folder, name)
    found = precision(*placed(ForestLeaves(), rows))
    assert found == pytest.approx(stated, abs=0.02)
    assert found > precision(*placed(Kernelized(), rows))
