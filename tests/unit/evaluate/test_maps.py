"""Maps and their figures: the honest one first where plain clusters are the labels' own, nulls of the same method."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata

from proxembed import OPLS, PCA, Layout
from proxembed.data import Dataset
from proxembed.evaluate.evidence import K, drawn_maps, map_figures, output_figures
from proxembed.evaluate.part import cells_of, prepare
from proxembed.splits.splits import Split
from proxembed.targets.outputs import Column, outputs_of

pytestmark = pytest.mark.default_configuration

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 40))
SPLIT = Split("test", np.arange(120), np.arange(120, 160))


def maps_of(Y, method=None, **more):
    part = prepare(Dataset(X, Y, **more), SPLIT)
    return drawn_maps(Layout(OPLS(ridge=1e-3) if method is None else method, layout="sklearn", features=0), part)


def jaccard(a, b):
    union = np.sum(a | b)
    return 1.0 if union == 0 else np.sum(a & b) / union


def test_figures_are_those_of_the_definition():
    Z, Z_new = RNG.normal(size=(60, 2)), RNG.normal(size=(25, 2))
    Y, Y_new = RNG.random((60, 4)) < 0.4, RNG.random((25, 4)) < 0.4

    def nearest(rows, others, skip):
        """Rows about the mean of the training rows with one constant coordinate, by their cosine."""
        mean = Z.mean(axis=0)
        s = np.sqrt(np.mean((Z - mean) ** 2))
        u, v = (np.column_stack([each - mean, np.full(len(each), s)]) for each in (rows, others))
        cosine = (u / np.linalg.norm(u, axis=1)[:, None]) @ (v / np.linalg.norm(v, axis=1)[:, None]).T
        if skip:
            np.fill_diagonal(cosine, -np.inf)
        return np.argsort(-cosine, axis=1)[:, :K]

    def mean_of(rows, others, labels, of_others, skip):
        near = nearest(rows, others, skip)
        return np.mean([[jaccard(labels[i], of_others[j]) for j in near[i]] for i in range(len(rows))])

    found = map_figures(Z, Z_new, sp.csr_array(Y.astype(np.uint8)), Y_new)
    assert found["inside"] == pytest.approx(mean_of(Z, Z, Y, Y, True), abs=1e-9)
    assert found["outside"] == pytest.approx(mean_of(Z_new, Z, Y_new, Y, False), abs=1e-9)
    assert found["among"] == pytest.approx(mean_of(Z_new, Z_new, Y_new, Y_new, True), abs=1e-9)
    assert found["chance"] == pytest.approx(np.mean([[jaccard(a, b) for b in Y] for a in Y_new]), abs=1e-9)


def test_by_chance_sets_are_compared_on_the_cells_that_both_rows_know():
    Z, Z_new = RNG.normal(size=(30, 2)), RNG.normal(size=(12, 2))
    known, known_new = RNG.random((30, 3)) < 0.5, RNG.random((12, 3)) < 0.5
    Y, Y_new = (RNG.random((30, 3)) < 0.5) & known, (RNG.random((12, 3)) < 0.5) & known_new
    pairs = [(i, j, known_new[i] & known[j]) for i in range(12) for j in range(30) if np.any(known_new[i] & known[j])]
    expected = np.mean([jaccard(Y_new[i] & both, Y[j] & both) for i, j, both in pairs])
    assert map_figures(Z, Z_new, Y, Y_new, known, known_new)["chance"] == pytest.approx(expected, abs=1e-9)


def test_one_held_out_row_has_no_others():
    found = map_figures(X[:30, :2], X[30:31, :2], np.eye(2, dtype=int)[np.arange(30) % 2], np.array([[1, 0]]))
    assert np.isnan(found["among"]) and 0 <= found["outside"] <= 1


def test_figures_of_outputs_are_those_of_the_definition_and_of_ranks_where_one_is_skewed():
    Z, Z_new = RNG.normal(size=(60, 2)), RNG.normal(size=(25, 2))
    Y = np.column_stack([np.exp(3 * RNG.normal(size=85)), RNG.normal(size=85)])
    own = outputs_of([(Column("skewed", "real"), Y[:, 0]), (Column("plain", "real"), Y[:, 1])])
    standard = own.take(np.arange(60)).level_and_scale
    cells, cells_new = (cells_of(own.take(rows), standard) for rows in (np.arange(60), np.arange(60, 85)))

    def agreement(values, others, rows, places, skip):
        away = np.linalg.norm(rows[:, None] - places[None], axis=2)
        if skip:
            np.fill_diagonal(away, np.inf)
        near = np.argsort(away, axis=1)[:, :K]
        found = []
        for v, u in zip(values.T, others.T, strict=True):
            apart = np.sum((v[:, None] - u[near]) ** 2)
            found.append(1 - apart / (np.sum((v[:, None, None] - u[near][None]) ** 2) / len(v)))
        return np.mean(found)

    found = output_figures(Z, Z_new, cells, cells_new)
    for values, figures in ((Y, found), (np.column_stack([rankdata(v) for v in Y.T]), found["on_ranks"])):
        own, new = values[:60], values[60:]
        assert figures["inside"] == pytest.approx(agreement(own, own, Z, Z, True), abs=1e-9)
        assert figures["outside"] == pytest.approx(agreement(new, own, Z_new, Z, False), abs=1e-9)
        assert figures["among"] == pytest.approx(agreement(new, new, Z_new, Z_new, True), abs=1e-9)
    assert found["chance"] == 0.0


def test_of_labels_that_mean_nothing_the_honest_map_comes_first():
    Y = np.eye(3, dtype=np.uint8)[RNG.integers(0, 3, size=160)]
    (honest, honest_null), (plain, plain_null) = maps_of(Y)
    assert [honest.honest, honest_null.honest, plain.honest, plain_null.honest] == [True, True, False, False]
    assert [honest.shuffled, honest_null.shuffled, plain.shuffled, plain_null.shuffled] == [False, True] * 2
    assert plain.inside > plain.outside + 0.1 and plain_null.inside > plain_null.chance + 0.1
    for each in (honest, honest_null):
        assert abs(each.inside - each.chance) < 0.1 and abs(each.outside - each.chance) < 0.1


def test_of_labels_that_the_features_tell_the_plain_map_is_enough():
    Y = np.eye(2, dtype=np.uint8)[(X[:, 0] > 0).astype(int)]
    shifted = X.copy()
    shifted[:, 0] += 20 * np.sign(X[:, 0])
    part = prepare(Dataset(shifted, Y), SPLIT)
    told = []
    found = drawn_maps(Layout(OPLS(), layout="sklearn", features=0), part, progress=lambda *step: told.append(step))
    ((plain, null),) = found
    assert not plain.honest and null.shuffled and plain.outside > 0.95 > null.outside
    assert [step[:2] for step in told] == [(0, 2), (1, 2), (2, 2)]


def test_a_method_without_labels_has_one_map_and_its_figures_alone_tell_of_shuffled_labels():
    Y = np.eye(2, dtype=np.uint8)[(X[:, 0] > 0).astype(int)]
    ((plain, null),) = maps_of(Y, PCA(n_components=3))
    np.testing.assert_array_equal(plain.train, null.train)
    assert plain.train.shape == (120, 2) and plain.new.shape == (40, 2)


def test_rows_of_unknown_labels_are_on_the_map_and_in_no_figure():
    Y = np.eye(2, dtype=np.uint8)[(X[:, 0] > 0).astype(int)]
    unknown = np.zeros(Y.shape, dtype=bool)
    unknown[[3, 5, 130]] = True
    with pytest.warns(UserWarning, match="OPLS cannot use rows without a known label: 2 of 120 rows") as told:
        first, _ = maps_of(np.where(unknown, 0, Y), unknown=unknown)[0]
    assert len(first.train) == 120 and len(first.new) == 39 and len(told) == 1
