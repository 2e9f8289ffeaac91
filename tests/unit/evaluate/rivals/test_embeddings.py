"""Rivals: forest proximity is honest on its own rows; supervised UMAP asks for what is not installed."""

import sys
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.ensemble import RandomForestRegressor

from proxembed import PCA, ForestLeaves
from proxembed.classify import MultiOutputRidge
from proxembed.evaluate.rivals.forests import ForestProximity
from proxembed.evaluate.rivals.maps import NCA, TSNE, UMAP, SupervisedUMAP
from proxembed.features.layouts import umap_installed
from proxembed.features.leaves import column_unit, for_trees
from proxembed.measures.metrics import macro_average_precision


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 6))
    return X, np.column_stack([X[:, 0] ** 2 > 0.5, X[:, 1] > 0.3, X[:, 0] * X[:, 1] > 0]).astype(int)


def value(Z, Y, Z_new, Y_new):
    ridge = MultiOutputRidge("auto").fit(Z, Y)
    return macro_average_precision(Y_new, ridge.decision_function(Z_new)).value


def test_it_finds_what_a_line_cannot(data):
    X, Y = data
    forest = ForestProximity(4).fit(X[:160], Y[:160])
    Z, Z_new = forest.transform(X[:160]), forest.transform(X[160:])
    assert value(Z, Y[:160], Z_new, Y[160:]) > value(X[:160], Y[:160], X[160:], Y[160:]) + 0.1


def test_training_rows_do_not_know_their_own_labels():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(300, 10)), rng.integers(0, 2, size=(300, 2))
    Z = ForestProximity(2, min_samples_leaf=1).fit(X, Y).transform(X)
    all_trees = ForestLeaves(PCA(), n_components=2, n_estimators=100, min_samples_leaf=1).fit_transform(X, Y)
    chance = [value(draw, Y, draw, Y) for draw in rng.normal(size=(200, 300, 2))]
    mean, sd = np.mean(chance), np.std(chance)
    assert value(all_trees, Y, all_trees, Y) > mean + 5 * sd  # what leaves that hold a row's own label would give
    assert abs(value(Z, Y, Z, Y) - mean) < 3 * sd


def test_it_is_scikit_learns_pca_of_the_leaves_by_trees_grown_without_the_row(data):
    X, Y = data
    model = ForestProximity(2, n_estimators=40, min_samples_leaf=5, random_state=3).fit(X, Y)
    seed, unit = model.leaves_.random_state, column_unit(X)
    forest = RandomForestRegressor(40, min_samples_leaf=5, max_features="sqrt", random_state=seed)
    forest.fit(for_trees(X, unit), Y)
    nodes, columns = forest.apply(for_trees(X, unit)), []
    unseen_by = [np.isin(np.arange(len(X)), rows, invert=True) for rows in forest.estimators_samples_]
    for tree, (rows, unseen) in enumerate(zip(forest.estimators_samples_, unseen_by, strict=True)):
        for leaf in np.unique(nodes[:, tree]):
            inside = nodes[:, tree] == leaf
            columns.append(inside * unseen / np.sqrt(inside[rows].sum()))
    R = np.column_stack(columns) / np.sqrt(40) / np.mean(unseen_by, axis=0)[:, None]
    expected = SklearnPCA(2, svd_solver="full").fit_transform(R)
    Z = model.transform(X)
    np.testing.assert_allclose(np.abs((Z * expected).sum(axis=0)), (expected**2).sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose((Z**2).sum(axis=0), (expected**2).sum(axis=0), rtol=1e-9)


def test_a_bounded_forest_embeds_every_row(data):
    X, Y = data
    forest = ForestProximity(3, n_estimators=10, max_rows=60)
    assert forest.fit_transform(X, Y).shape == (240, 3)
    sizes = 1 / (10 * forest.leaves_.prepared_.leaves.entries**2)
    assert sizes.sum() == pytest.approx(10 * 60)  # of each tree as many draws as rows


def test_sparse_equals_dense_and_unknown_rows_are_left_out(data):
    X, Y = data
    X = X * (np.abs(X) > 0.5)
    Z = ForestProximity(2, n_estimators=10).fit(X, Y).transform(X)
    sparse = ForestProximity(2, n_estimators=10).fit(sp.csr_array(X), sp.csc_array(Y)).transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse, Z, atol=1e-10)
    holes = np.vstack([Y[:200].astype(float), np.full((40, 3), np.nan)])
    with pytest.warns(UserWarning, match="40 of 240 rows have no known label and are left out of fit"):
        part = ForestProximity(2, n_estimators=10).fit(X, holes)
    whole = ForestProximity(2, n_estimators=10).fit(X[:200], Y[:200])
    np.testing.assert_array_equal(part.transform(X), whole.transform(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components=0 is not allowed"),
        ({"n_components": 500}, "n_components=500 is more than"),
        ({"n_estimators": 0}, "n_estimators=0 is not allowed"),
        ({"max_rows": 1}, "max_rows=1 is not allowed"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf=0.5 is not allowed"),
    ],
)
def test_bad_parameters_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        ForestProximity(**options).fit(*data)


@pytest.fixture
def umap(monkeypatch):
    """A module in place of umap-learn, which places rows at their first two columns and keeps what it was told."""

    class UMAP:
        def __init__(self, **options):
            self.options = options

        def fit_transform(self, X, y):
            self.y = y
            return self.transform(X)

        def transform(self, X):
            return X[:, : self.options["n_components"]]

    module = ModuleType("umap")
    module.UMAP = UMAP
    monkeypatch.setitem(sys.modules, "umap", module)
    monkeypatch.setattr("proxembed.features.layouts.umap_installed", lambda: True)


def test_umap_gets_categories_for_classes_and_sets_for_labels(data, umap):
    X, Y = data
    several = SupervisedUMAP(3).fit(X, Y)
    assert several.umap_.options["target_metric"] == "jaccard" and several.umap_.y.shape == (240, 3)
    classes = np.array(["b", "a"])[Y[:, 0]]
    one = SupervisedUMAP(n_neighbors=400).fit(X, classes)
    assert one.umap_.options["target_metric"] == "categorical" and one.umap_.options["n_neighbors"] == 239
    np.testing.assert_array_equal(one.umap_.y, 1 - Y[:, 0])
    np.testing.assert_array_equal(one.transform(X), X[:, :2])
    assert list(several.get_feature_names_out()) == ["supervisedumap0", "supervisedumap1", "supervisedumap2"]


def test_umap_places_rows_with_unknown_labels_as_new_ones(data, umap):
    X, Y = data
    holes = Y.astype(float)
    holes[:5] = np.nan
    with pytest.warns(UserWarning, match="5 of 240 rows have one and are left out of fit"):
        Z = SupervisedUMAP().fit_transform(X, holes)
    assert Z.shape == (240, 2)


def test_without_umap_the_error_names_it(data, monkeypatch):
    monkeypatch.setattr("proxembed.features.layouts.find_spec", lambda name: None)
    assert not umap_installed()
    with pytest.raises(ImportError, match="needs umap-learn; install it"):
        SupervisedUMAP().fit(*data)


def test_nca_brings_rows_of_one_class_together_and_refuses_several():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = (X[:, 0] > 0).astype(int)
    axis = np.abs(NCA(1).fit(X[:100], y[:100]).nca_.components_[0])
    assert axis[0] > 3 * axis[1:].max()
    np.testing.assert_allclose(NCA(2).fit_transform(sp.csr_array(X), y), NCA(2).fit_transform(X, y))
    np.testing.assert_array_equal(NCA(2).fit_transform(X, y[:, None]), NCA(2).fit_transform(X, y), "one label")
    with pytest.raises(ValueError, match="one class per row"):
        NCA().fit(X, np.ones((150, 2), dtype=int))
    with pytest.raises(ValueError, match=r"n_components=9 must be from 1 to the number of features \(5\)"):
        NCA(9).fit(X, y)


@pytest.mark.parametrize(("rival", "package"), [(UMAP, "umap"), (TSNE, "tsne")])
def test_a_map_without_its_package_names_the_remedy(monkeypatch, rival, package):
    monkeypatch.setattr(f"proxembed.features.layouts.{package}_installed", lambda: False)
    with pytest.raises(ImportError, match=r"pip install 'proxembed\[maps\]'"):
        rival().fit(np.eye(4))
