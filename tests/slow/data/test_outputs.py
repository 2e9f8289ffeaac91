"""Numbers on real data: what honest maps show of shuffled outputs."""

import numpy as np

from proxembed import OPLS, Kernelized, Layout
from proxembed.measures.measures import DEFAULT_NEIGHBORS
from proxembed.measures.neighbors import new_neighbor_weights
from proxembed.measures.outputs import OutputCells, agreement, near_outputs

LARGEST = 0.06  # A@10 of the training rows among themselves


def test_an_honest_map_of_shuffled_numbers_puts_no_like_rows_together(data_folder):
    with np.load(data_folder / "jura.npz", allow_pickle=False) as file:
        X, Y = (file[name].astype(float) for name in "XY")
    X, F = ((values - values.mean(axis=0)) / values.std(axis=0) for values in (X, Y))
    F = F[np.random.default_rng(0).permutation(len(F))]
    method = Layout(Kernelized(OPLS(target_type="real"), random_state=0), honest=True, random_state=0)
    places = method.fit_transform(X, F)
    near = new_neighbor_weights(places, places, DEFAULT_NEIGHBORS, metric="euclidean")
    cells = OutputCells(F, np.arange(F.shape[1]), F.mean(axis=0), np.ones(F.shape[1]))
    assert agreement(cells, near_outputs(near, F))[0] <= LARGEST
