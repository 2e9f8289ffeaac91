"""Ridges on real data: by sums, by rows left out, by the whole grid and by a part of it; fits of blocks."""

import numpy as np
import pytest

from designs import in_turn
from proxembed import OPLS, RowBlocks
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil import linear
from proxembed.algebra.pencil.coordinates import Coordinates
from proxembed.algebra.pencil.linear import RIDGE_GRID, best_ridge, loo_choice, loo_errors
from proxembed.data import read
from proxembed.targets.labels import LabelMatrix


@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
def test_ridges_of_blocks(name, data_folder):
    """At most one step of the grid, half a decade, apart where rows are read once; else the same."""
    data = read(data_folder / f"{name}.npz")
    whole = OPLS().fit(data.X, data.Y)
    again = OPLS().fit(RowBlocks.from_arrays(data.X, data.Y, block_rows=500))
    once = OPLS().fit(RowBlocks(iter([(data.X, data.Y)])))
    assert again.ridge_ == pytest.approx(whole.ridge_, rel=1e-10)
    np.testing.assert_allclose(again.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    assert abs(np.log10(once.ridge_ / whole.ridge_)) < 0.51


@in_turn("name", ["birds", "dna", "emotions", "enron", "satimage", "scene", "yeast"], 7, ("birds", "emotions"))
def test_the_ridge_is_found_without_the_whole_grid(name, data_folder, monkeypatch):
    """A few ridges about the one of least generalised cross-validation error: the least of the grid is among them."""
    data = read(data_folder / f"{name}.npz")
    rows = data.X[data.train_idx]
    X, Y = (rows.toarray() if hasattr(rows, "toarray") else rows), LabelMatrix.of(data.Y[data.train_idx]).drop_empty().Y
    centred = CentredMatrix.centred(X, np.ones(len(X)))
    coordinates = Coordinates(centred, None, centred.gram(), "features")
    grid = RIDGE_GRID * float(np.sum(coordinates.s**2)) / min(X.shape)
    monkeypatch.setattr(linear, "FEW_PRODUCTS", 0)
    found, whole = loo_choice(coordinates, Y, grid), best_ridge(grid, loo_errors(coordinates, Y, grid))
    assert abs(found - whole) <= 1
