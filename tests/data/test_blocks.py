"""Blocks of real data: the ridge that sums choose beside the one of rows left out, and the fit of all rows."""

import numpy as np
import pytest

from proxembed import OPLS, RowBlocks
from proxembed.data import read


@pytest.mark.parametrize("name", ["emotions", "scene", "yeast", "enron"])
def test_ridges_of_blocks(name, data_folder):
    """At most one step of the grid, half a decade, apart where rows are read once; else the same."""
    data = read(data_folder / f"{name}.npz")
    whole = OPLS().fit(data.X, data.Y)
    again = OPLS().fit(RowBlocks.from_arrays(data.X, data.Y, block_rows=500))
    once = OPLS().fit(RowBlocks(iter([(data.X, data.Y)])))
    assert again.ridge_ == pytest.approx(whole.ridge_, rel=1e-10)
    np.testing.assert_allclose(again.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    assert abs(np.log10(once.ridge_ / whole.ridge_)) < 0.51
