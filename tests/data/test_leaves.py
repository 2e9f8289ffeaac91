"""Forest leaves on real data: the figures of the specification, of one draw of two thirds of the rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import average_precision_score
from sklearn.neighbors import NearestNeighbors

from proxembed import ForestLeaves, Kernelized
from proxembed.classify.ridge import fit_readout
from proxembed.data import read
from proxembed.evaluate.metrics import row_jaccard
from proxembed.features.scaling import scaling_apply, scaling_fit


def drawn(data_folder, name):
    """Standardised features and labels of two thirds of the rows, and of the others."""
    data = read(data_folder / f"{name}.npz")
    order = np.random.default_rng(0).permutation(data.X.shape[0])
    train, rest = np.split(order, [2 * len(order) // 3])
    scaling = scaling_fit("standard", data.X[train])
    X, X_new = (scaling_apply(scaling, data.X[rows]) for rows in (train, rest))
    Y, Y_new = (data.Y.tocsr()[rows].toarray().astype(int) for rows in (train, rest))
    return X, Y, X_new, Y_new


def precision(model, X, Y, X_new, Y_new):
    """Macro average precision of the ridge read-out over labels of at least five new rows."""
    scores = fit_readout(model.transform(X), Y.astype(bool)).scores(model.transform(X_new))
    frequent = np.flatnonzero(Y_new.sum(axis=0) >= 5)
    return np.mean([average_precision_score(Y_new[:, k], scores[:, k]) for k in frequent])


def nearest_jaccard(model, X, Y, X_new, Y_new):
    """Mean Jaccard similarity of a new row and its ten nearest rows of fit by Euclidean distance."""
    found = NearestNeighbors(n_neighbors=10).fit(model.transform(X)).kneighbors(model.transform(X_new))[1]
    ends = np.arange(0, found.size + 1, 10)
    weights = sp.csr_array((np.full(found.size, 0.1), found.ravel(), ends), shape=(len(X_new), len(X)))
    return row_jaccard(sp.csr_array(Y_new), sp.csr_array(Y), weights).mean()


@pytest.mark.parametrize(("name", "stated"), [("emotions", 0.758), ("birds", 0.561)])
def test_precision_of_new_rows_is_that_of_the_specification_and_above_the_kernel(data_folder, name, stated):
    rows = drawn(data_folder, name)
    leaves = ForestLeaves().fit(*rows[:2])
    assert precision(leaves, *rows) == pytest.approx(stated, abs=0.02)
    assert precision(leaves, *rows) > precision(Kernelized().fit(*rows[:2]), *rows)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "plain", "matched"), [("all", 0.543, 0.622), ("oob", 0.458, 0.612)])
def test_the_scale_of_new_rows_brings_their_neighbours_back(data_folder, rows, plain, matched):
    birds = drawn(data_folder, "birds")
    for match_scale, stated in ((False, plain), (True, matched)):
        model = ForestLeaves(rows=rows, match_scale=match_scale).fit(*birds[:2])
        assert nearest_jaccard(model, *birds) == pytest.approx(stated, abs=0.02)
