"""Unknown cells of numbers: predicted by a ridge regression, and then the method on the completed outputs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from proxembed import CCA, MDDM, MLDA, OPLS, PCA, PLS, SLVM, SSDR, ForestLeaves, Kernelized, RowBlocks, Views
from proxembed.algebra.pencil.fill import filled_cells
from proxembed.targets.labels import LabelMatrix

RNG = np.random.default_rng(4)
N, D = 60, 5
X = RNG.normal(size=(N, D)) + 2
Y = X @ RNG.normal(size=(D, 3)) * [1.0, 50.0, 1e-3] + RNG.normal(size=(N, 3)) * [1.0, 50.0, 1e-3] + [0, 1e4, 1]
HIDDEN = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)
HIDDEN[np.isnan(HIDDEN).all(axis=1), 1] = Y[np.isnan(HIDDEN).all(axis=1), 1]
MISSING = np.isnan(HIDDEN)
NEW = RNG.normal(size=(8, D)) + 2
LABELS = (X[:, :3] + 0.5 * RNG.normal(size=(N, 3)) > 2).astype(float)
HIDDEN_LABELS = np.where(RNG.random(LABELS.shape) < 0.2, np.nan, LABELS)
HIDDEN_LABELS[:, 0] = LABELS[:, 0]


def factor(y, filled=None):
    """Columns over the standard deviation of their known cells; unknown ones filled, by ridge regression unless given;
    about the means of all."""
    mean, scale = np.nanmean(y, axis=0), np.nanstd(y, axis=0)
    F = (y - mean) / scale
    missing = np.isnan(F)
    F = np.where(missing, 0.0, F)
    F += filled_cells(X, F, sp.csc_array(missing))[0].toarray() if filled is None else filled
    return F


def same(one, other, tol=1e-9):
    signs = np.sign(np.sum(one * other, axis=0))
    np.testing.assert_allclose(one * signs, other, rtol=0, atol=tol * np.abs(other).max())


METHODS = {
    "OPLS": OPLS(ridge=0.1),
    "OPLS auto": OPLS(),
    "CCA": CCA(ridge=0.1),
    "PLS": PLS(),
    "MDDM": MDDM(),
    "SLVM": SLVM(n_components=2, ridge=0.1),
    "Kernelized": Kernelized(OPLS(ridge=0.1, scale_targets="none"), tau=5.0),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_method_runs_on_the_completed_outputs(name):
    """Standard deviations are those of known cells."""
    method = METHODS[name]
    if name == "Kernelized":
        scaled = (HIDDEN - np.nanmean(HIDDEN, axis=0)) / np.nanstd(HIDDEN, axis=0)
        one, other = method.fit(X, scaled).transform(NEW), method.fit(X, factor(HIDDEN)).transform(NEW)
    else:
        params = method.get_params() | {"scale_targets": "none"}
        one, other = method.fit(X, HIDDEN).transform(NEW), type(method)(**params).fit(X, factor(HIDDEN)).transform(NEW)
    same(one, other)


def test_predictions_are_those_of_the_completed_outputs_in_units():
    scale = np.nanstd(HIDDEN, axis=0)
    whole = np.where(MISSING, factor(HIDDEN) * scale + np.nanmean(HIDDEN, axis=0), Y)
    expected = OPLS(ridge=0.1, extrapolate=True).fit(X, whole).predict(NEW)
    np.testing.assert_allclose(OPLS(ridge=0.1, extrapolate=True).fit(X, HIDDEN).predict(NEW), expected, rtol=1e-9)
    cut = OPLS(ridge=0.1).fit(X, HIDDEN).predict(np.vstack([1e3 * NEW, -1e3 * NEW]))
    for reach in (np.min, np.max):
        np.testing.assert_allclose(reach(cut, axis=0), reach(np.where(MISSING, np.nanmean(HIDDEN, axis=0), Y), axis=0))


def test_nothing_hidden_changes_nothing():
    one, other = (OPLS(ridge=0.1, unknown=rule).fit(X, Y) for rule in ("fill", "mean"))
    np.testing.assert_array_equal(one.components_, other.components_)
    assert [(each.n_filled, each.filled_by) for each in one.targets_] == [(0, None)] * 3


def test_a_row_without_a_known_cell_is_placed_as_a_new_row():
    y = HIDDEN.copy()
    y[[3, 7]] = np.nan
    keep = np.setdiff1d(np.arange(N), [3, 7])
    expected = OPLS(ridge=0.1).fit(X[keep], y[keep])
    with pytest.warns(UserWarning, match="2 of 60 rows have no known output and are left out"):
        found = OPLS(ridge=0.1).fit(X, y)
    np.testing.assert_array_equal(found.transform(X), expected.transform(X))
    assert [each.n_unknown - each.n_filled for each in found.targets_] == [2, 2, 2]


def test_units_order_and_form_of_y_do_not_matter():
    expected = OPLS(ridge=0.1).fit_transform(X, HIDDEN)
    order = [2, 0, 1]
    for y in (HIDDEN * [-3.0, 1e4, 1e-5] + [7.0, 0.0, 1e-4], HIDDEN[:, order], sp.csr_array(HIDDEN)):
        same(OPLS(ridge=0.1).fit_transform(X, y), expected)
    same(OPLS(ridge=0.1).fit(sp.csr_array(X), HIDDEN).transform(X), expected)
    same(OPLS(ridge=0.1, scale_targets={0: 1.0}).fit_transform(X, HIDDEN), expected)


def test_classes_beside_numbers_are_filled_by_their_indicators():
    kind = np.where(X[:, 0] > 2.4, "a", np.where(X[:, 1] > 2, "b", "c")).astype(object)
    known = np.arange(N) % 4 > 0
    table = pd.DataFrame({"size": HIDDEN[:, 0], "kind": np.where(known, kind, None)})
    table.loc[~known & MISSING[:, 0], "size"] = Y[~known & MISSING[:, 0], 0]
    model = OPLS(ridge=0.1, scale_targets="none", extrapolate=True).fit(X, table)
    size = np.asarray(table["size"])
    marks = np.where(known[:, None], kind[:, None] == np.array(["a", "b", "c"]), np.nan)
    share = np.nanmean(marks, axis=0)
    spread = np.r_[np.nanstd(size), np.full(3, np.sqrt(1 - share @ share))]
    raw = np.column_stack([size, marks])
    level, missing = np.r_[np.nanmean(size), share], np.isnan(raw)
    F = np.where(missing, 0.0, (raw - level) / spread)
    whole = (F + filled_cells(X, F, sp.csc_array(missing))[0].toarray()) * spread + level
    expected = OPLS(ridge=0.1, scale_targets="none", extrapolate=True).fit(X, whole)
    same(model.transform(NEW), expected.transform(NEW), 1e-8)
    np.testing.assert_allclose(whole[:, 1:].sum(axis=1), 1.0, rtol=1e-9)
    assert [(each.n_filled, each.filled_by) for each in model.targets_][1] == (int((~known).sum()), "fill")


def test_labels_are_at_means_unless_asked():
    means = np.where(np.isnan(HIDDEN_LABELS), np.nanmean(HIDDEN_LABELS, axis=0), HIDDEN_LABELS)
    T = np.nan_to_num(HIDDEN_LABELS)
    ridged = np.clip(filled_cells(X, sp.csc_array(T), sp.csc_array(np.isnan(HIDDEN_LABELS)))[0].toarray(), 0, 1)
    for rule, whole in (("auto", means), ("mean", means), ("fill", T + ridged)):
        labels = replace(LabelMatrix.of(LABELS), Y=sp.csc_array(whole))
        for method in (OPLS(ridge=0.1, unknown=rule), MLDA(ridge=0.1, unknown=rule)):
            same(method.fit(X, HIDDEN_LABELS).transform(NEW), clone(method).fit(X, labels).transform(NEW))
            filled = [(each.n_filled, each.filled_by) for each in method.targets_]
            counts = np.isnan(HIDDEN_LABELS).sum(axis=0)
            assert filled == [(0, None), *((n, "fill" if rule == "fill" else "mean") for n in counts[1:])]


def test_wrappers_follow_their_method_and_forests_take_means():
    trees = {"n_estimators": 5, "random_state": 0}
    means = np.where(MISSING, np.nanmean(HIDDEN, axis=0), Y)
    one = ForestLeaves(OPLS(scale_targets="none"), **trees)
    other = ForestLeaves(OPLS(unknown="fill", scale_targets="none"), **trees).fit(X, HIDDEN)
    same(one.fit(X, HIDDEN).transform(X), one.fit(X, means).transform(X))
    assert {each.filled_by for each in other.targets_} == {"mean"}
    views = Views(OPLS(ridge=0.1), views=("features",), n_components=2).fit(X, HIDDEN)
    assert [each.n_filled for each in views.targets_] == MISSING.sum(axis=0).tolist()
    joined = SSDR(OPLS(ridge=0.1), PCA(), mix=0.0, constraint="mixed", scaling="template").fit(X, HIDDEN)
    same(joined.transform(NEW), OPLS(ridge=0.1, scaling="template").fit(X, HIDDEN).transform(NEW), 1e-8)


def test_blocks_take_means_and_say_so():
    blocks = RowBlocks.from_arrays(X, HIDDEN, block_rows=20)
    found, expected = OPLS(ridge=0.1).fit(blocks), OPLS(ridge=0.1, unknown="mean").fit(X, HIDDEN)
    same(found.transform(NEW), expected.transform(NEW), 1e-8)
    parts = OPLS(ridge=0.1).partial_fit(X[:25], HIDDEN[:25]).partial_fit(X[25:], HIDDEN[25:])
    same(parts.transform(NEW), expected.transform(NEW), 1e-8)
    for each in (found, parts, expected):
        assert [(one.n_filled, one.filled_by) for one in each.targets_] == [(n, "mean") for n in MISSING.sum(axis=0)]
    for y in (HIDDEN, HIDDEN_LABELS):
        with pytest.warns(UserWarning, match="takes unknown cells of blocks as the means of their columns"):
            OPLS(ridge=0.1, unknown="fill").fit(RowBlocks.from_arrays(X, y, block_rows=20))
