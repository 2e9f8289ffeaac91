"""Views: blocks by their formula, scores that no row's own labels have a part in, weights, places of training rows."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from invariants.cases import in_feature_space
from proxembed import FDA, MESD, OPLS, PCA, SSDR, ForestLeaves, Isomap, Kernelized, Layout, Views, load, save
from proxembed.algebra.shared import active
from proxembed.estimator.catalogue import method_named, name_of
from proxembed.features import kernel
from proxembed.features.scaling import Block, scaled
from proxembed.methods import views as module
from proxembed.methods.forest import distinct_folds
from proxembed.methods.views import GRID, LabelModels, label_agreement, scores_out_of_fold
from proxembed.targets.labels import LabelMatrix

X, Y = make_multilabel_classification(90, 8, n_classes=4, n_labels=2, random_state=0)
X = X + np.random.default_rng(0).normal(size=X.shape) / 10
NEW = X[:20] + np.random.default_rng(1).normal(size=(20, 8))
RIDGE = {"ridge": 0.3}
KINDS = [
    ["features"],
    ["features", "kernel"],
    ["features", "leaves"],
    ["features", "scores"],
    ["kernel", LogisticRegression(), Ridge()],
]


def test_leaves_and_scores_of_one_fit_have_one_forest_and_are_those_of_two(monkeypatch):
    views = Views(OPLS(), views=["leaves", "scores"], n_estimators=20)
    with monkeypatch.context() as apart:
        apart.setattr(module, "sharing", nullcontext)
        two = views.fit_transform(X, Y), views.transform(NEW)
    grown, fit = [], DecisionTreeRegressor.fit
    monkeypatch.setattr(DecisionTreeRegressor, "fit", lambda self, *a, **k: grown.append(1) or fit(self, *a, **k))
    one = views.fit_transform(X, Y), views.transform(NEW)
    assert len(grown) == 20 and active() is None
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def standard(A, new, weight):
    """The formula of a block."""
    mean = A.mean(axis=0)
    size = np.sqrt(np.mean([np.sum((row - mean) ** 2) for row in A]))
    return weight * (A - mean) / size, weight * (new - mean) / size


def test_blocks_are_those_of_the_formula():
    kernel, model = in_feature_space(Kernelized(n_components=2), X, Y), GaussianNB()
    labels = LabelMatrix.of(Y)
    own = scores_out_of_fold(model, X, labels, distinct_folds(X, labels, 5, 0))
    parts = [
        standard(X, NEW, 1.0),
        standard(kernel.lift(X), kernel.lift(NEW), 0.5),
        standard(own, np.column_stack([clone(model).fit(X, y).predict_proba(NEW)[:, 1] for y in Y.T]), 3.0),
    ]
    R, R_new = (np.hstack(side) for side in zip(*parts, strict=True))
    alone = OPLS(**RIDGE).fit(R, Y)
    views = Views(OPLS(**RIDGE), views=["features", "kernel", model], weights=[1, 0.5, 3]).fit(X, Y)
    np.testing.assert_allclose(views.lift(NEW), R_new, rtol=0, atol=1e-10)
    np.testing.assert_allclose(views.transform(X), alone.transform(R), rtol=0, atol=1e-8)
    np.testing.assert_allclose(views.transform(NEW), alone.transform(R_new), rtol=0, atol=1e-8)


def test_leaves_are_divided_without_centring():
    views = Views(OPLS(**RIDGE), views=["features", "leaves"], n_estimators=10).fit(X, Y)
    leaves = ForestLeaves(rows="oob", n_estimators=10)
    leaves.resolve()
    own = leaves.make_ready(leaves._validate(X, Y)).training.toarray()
    size = np.sqrt(np.mean(np.sum((own - own.mean(axis=0)) ** 2, axis=1)))
    assert sp.issparse(views.lift(NEW))
    expected = np.hstack([standard(X, NEW, 1.0)[1], 0.5 * leaves.lift(NEW).toarray() / size])
    np.testing.assert_allclose(views.lift(NEW).toarray(), expected, rtol=0, atol=1e-12)
    R = np.hstack([standard(X, NEW, 1.0)[0], 0.5 * own / size])
    alone = OPLS(**RIDGE).fit(R, Y)
    np.testing.assert_allclose(views.transform(X), alone.transform(R), rtol=0, atol=1e-8)
    np.testing.assert_allclose(views.transform(NEW), alone.transform(expected), rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", [OPLS(**RIDGE), PCA(n_components=2), Kernelized(OPLS(**RIDGE)), MESD(FDA(**RIDGE))])
def test_one_view_of_weight_1_is_the_method_on_scaled_features(method):
    R, R_new = standard(X, NEW, 1.0)
    alone = clone(method).fit(R, Y)
    views = Views(method, views=["features"]).fit(X, Y)
    np.testing.assert_allclose(views.transform(NEW), alone.transform(R_new), rtol=0, atol=1e-8)
    np.testing.assert_allclose(views.eigenvalues_, alone.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("view", ["kernel", "leaves", "scores", Ridge()])
def test_a_view_of_weight_0_is_no_view(view):
    options = {"n_estimators": 5, "n_components": 2}
    without = Views(views=["features"], **options).fit(X, Y)
    for weights in (0, [1, 0]):
        views = Views(views=["features", view], weights=weights, **options).fit(X, Y)
        np.testing.assert_array_equal(views.transform(NEW), without.transform(NEW))
        assert len(views.views_) == 1 and views.weights_.tolist() == [1, 0]


def test_out_of_bag_scores_hold_nothing_of_a_rows_own_labels():
    """Another label set of row 7: its own block of scores stays as it is, those of other rows change."""
    other = Y.copy()
    other[7] = 1 - other[7]
    own = []
    for labels in (Y, other):
        views = Views(OPLS(), views=["scores"], n_estimators=30)
        own.append(views._votes(views._validate(X, labels), 0)[1])
    np.testing.assert_array_equal(own[0][7], own[1][7])
    assert np.abs(own[0] - own[1]).max() > 0.01


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB(), Ridge(), SVR()], ids=repr)
def test_scores_out_of_fold_hold_nothing_of_the_labels_of_the_held_out_rows(model):
    splits = distinct_folds(X, LabelMatrix.of(Y), 5)
    expected = scores_out_of_fold(model, X, LabelMatrix.of(Y), splits)
    held_out, shuffled = splits[2].held_out, Y.copy()
    shuffled[held_out] = np.random.default_rng(0).permutation(1 - Y[held_out])
    found = scores_out_of_fold(model, X, LabelMatrix.of(shuffled), splits)
    np.testing.assert_array_equal(found[held_out], expected[held_out])
    assert np.abs(found - expected).max() > 0.01


def test_equal_rows_are_in_one_fold_whatever_the_order_of_the_labels():
    twice, labels = np.tile(X, (2, 1)), np.tile(Y, (2, 1))
    folds = distinct_folds(twice, LabelMatrix.of(labels), 5)
    for fold, other in zip(folds, distinct_folds(twice, LabelMatrix.of(labels[:, ::-1]), 5), strict=True):
        assert set(fold.held_out % 90).isdisjoint(fold.train % 90)
        np.testing.assert_array_equal(fold.held_out, other.held_out)
    assert distinct_folds(np.ones((3, 2)), LabelMatrix.of([0, 1, 1]), 5) == []


def test_labels_that_do_not_vary_have_a_number_for_a_score():
    labels = LabelMatrix.of(np.column_stack([Y[:, 0], np.ones(90, dtype=int)]))
    odds = np.log(91 / 1)
    for model, expected in ((LogisticRegression(), odds), (GaussianNB(), 91 / 92), (SVR(), 1.0)):
        np.testing.assert_allclose(LabelModels.of(model, X, labels).lift(NEW)[:, 1], expected, rtol=1e-12)


def test_unknown_cells_are_left_out_of_the_models_of_their_label():
    partly = Y.astype(float)
    partly[:10] = np.nan
    partly[10:15, 1] = np.nan
    views = Views(OPLS(**RIDGE), views=["features", GaussianNB()]).fit(X, partly)
    scores = views.views_[1].lift(NEW)
    for j, first in ((0, 10), (1, 15)):
        np.testing.assert_allclose(
            scores[:, j], GaussianNB().fit(X[first:], Y[first:, j]).predict_proba(NEW)[:, 1], rtol=1e-10
        )
    new = (views.lift(X[:10]) - views.mean_) @ views.components_.T
    np.testing.assert_allclose(views.transform(X[:10]), new, rtol=0, atol=1e-10)


def test_rows_without_labels_take_part_around_a_method_that_uses_them():
    partly = Y.astype(float)
    partly[:30] = np.nan
    method = SSDR(OPLS(), PCA(), balance="trace", n_components=2)
    views = Views(method, views=["features", "scores", "leaves"], n_estimators=10).fit(X, partly)
    votes, own = views._votes(views._validate(X[30:], Y[30:]), 0)
    described = np.vstack([votes.lift(X[:30]), own])
    block = Block.of(described, 0.5)
    expected = block.columns(votes.lift(NEW))
    np.testing.assert_allclose(views.lift(NEW)[:, 8:12].toarray(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("view", ["kernel", "leaves", "scores", MultinomialNB()], ids=str)
def test_sparse_rows_give_what_dense_ones_do(view):
    words = np.where(X > 4, np.floor(X), 0.0)
    build = lambda: Views(OPLS(**RIDGE), views=["features", view], n_estimators=10)  # noqa: E731
    dense, thin = build().fit(words, Y), build().fit(sp.csr_array(words), Y)
    for rows in (words, words[:30] + 1):
        np.testing.assert_allclose(thin.transform(rows), dense.transform(rows), rtol=0, atol=1e-9)
        np.testing.assert_allclose(dense.transform(sp.csr_array(rows)), dense.transform(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("views", KINDS, ids=str)
def test_rows_of_fit_keep_their_places_also_when_saved(views, tmp_path):
    model = Views(OPLS(**RIDGE), views=views, n_estimators=10, n_components=3).fit(X, Y)
    again = load(save(model, tmp_path / "views.skops"))
    for rows in (X, NEW):
        np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
    one_by_one = np.vstack([model.transform(row[None]) for row in X[:5]])
    np.testing.assert_allclose(one_by_one, model.transform(X)[:5], rtol=0, atol=1e-12)
    same = np.abs(model.transform(X) - model.new_places(X)).max()
    assert (same < 1e-10) == (views in KINDS[:2])
    np.testing.assert_array_equal(model.truncate(2).transform(X), model.transform(X)[:, :2])


def test_the_weight_of_folds_is_that_of_refitted_views():
    """By hand: each fold's views, method and neighbours anew for every weight of the grid."""
    views = Views(OPLS(**RIDGE), views=["features", GaussianNB()], weights="folds", n_components=2).fit(X, Y)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    found = np.zeros(len(GRID))
    for _, own, new in distinct_folds(X, LabelMatrix.of(Y), 3, seed):
        for i, weight in enumerate(GRID):
            model = Views(OPLS(**RIDGE), views=["features", GaussianNB()], weights=weight, n_components=2)
            model.fit(X[own], Y[own])
            found[i] += len(new) * label_agreement(model.transform(X[own]), Y[own], model.transform(X[new]), Y[new])
    assert views.weights_.tolist() == [1.0, GRID[int(np.argmax(found))]]
    assert np.ptp(found) > 0


def test_scores_that_tell_what_the_features_do_not_get_weight():
    rows = np.random.default_rng(0).normal(size=(120, 5))
    y = (rows[:, 0] * rows[:, 1] > 0).astype(int)  # no linear map of the features has it, a forest does
    views = Views(OPLS(), views=["features", "scores"], weights="folds", n_estimators=50).fit(rows, y)
    assert views.weights_[1] > 0


def test_agreement_of_labels_is_jaccard_of_the_nearest_by_cosine():
    rng = np.random.default_rng(0)
    Z, Z_new = rng.normal(size=(40, 3)), rng.normal(size=(7, 3))
    unit = lambda A: A / np.linalg.norm(A, axis=1, keepdims=True)  # noqa: E731
    labels, labels_new = Y[:40], Y[40:47]
    expected = []
    for i, cosines in enumerate(unit(Z_new) @ unit(Z).T):
        for j in np.argsort(-cosines)[:10]:
            union = np.sum(labels[j] | labels_new[i])
            expected.append(np.sum(labels[j] & labels_new[i]) / union if union else 1.0)
    assert label_agreement(Z, labels, Z_new, labels_new) == pytest.approx(np.mean(expected), rel=1e-12)


def test_effects_of_features_are_weights_of_standardised_features():
    """Features alone: the weights; features beside votes of a forest: the splits of the forest are added."""
    views = Views(OPLS(**RIDGE), views=["features"], n_components=1).fit(X, Y)
    size = np.sqrt(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
    expected = views.components_[0] / size * X.std(axis=0)
    np.testing.assert_allclose(views.feature_effects(views.components_)[0], expected, rtol=1e-10)
    kernel = Views(Kernelized(OPLS(), kernel="linear"), views=["features"], n_components=1).fit(X, Y)
    linear = Views(OPLS(), views=["features"], n_components=1).fit(X, Y)
    found, expected = (m.feature_effects(m.components_)[0] for m in (kernel, linear))
    assert abs(np.corrcoef(found, expected)[0, 1]) > 0.999
    both = Views(OPLS(**RIDGE), views=["features", "scores"], n_estimators=10, n_components=1).fit(X, Y)
    plain, votes = both.views_
    factor = [block.weight / block.size for block in both.prepared_.blocks]
    W = both.components_
    expected = W[:, :8] * factor[0] * X.std(axis=0) + votes.leaves.effects(W[:, 8:] * factor[1] @ votes.votes.T)
    np.testing.assert_allclose(both.feature_effects(W), expected, rtol=1e-10)
    assert plain.lift(NEW) is NEW


def test_scores_alone_are_refused_by_explain():
    views = Views(OPLS(), views=[GaussianNB()]).fit(X, Y)
    with pytest.raises(ValueError, match="put 'features' among the views"):
        views.explain(0)
    assert Views(OPLS(), views=["features", GaussianNB()]).fit(X, Y).explain(0).effects


def test_parameters_of_the_views_go_by_their_numbers():
    views = Views(OPLS(), views=["features", ForestLeaves(n_estimators=3), LogisticRegression()])
    copied = clone(views).set_params(views__1__n_estimators=7, views__2__C=0.1, method__ridge=0.2)
    assert copied.get_params()["views__1__n_estimators"] == 7 and views.views[1].n_estimators == 3
    assert copied.views[2].C == 0.1 and copied.method.ridge == 0.2
    assert copied.set_params(views__0="kernel").views[0] == "kernel"
    for name in ("views__3", "views__x", "views__0__C"):
        with pytest.raises(ValueError, match=f"Invalid parameter '{name}'"):
            copied.set_params(**{name: 1})


def test_its_name_is_read_as_it_is_written():
    named = method_named("views(OPLS, views=['kernel', 'scores'], weights='folds')")
    assert name_of(named) == "Views(OPLS, views=['kernel', 'scores'], weights='folds')"
    assert name_of(method_named(name_of(Views()))) == "Views(Kernelized(OPLS))"


def test_without_labels_it_is_unsupervised():
    views = Views(PCA(), views=["features", "kernel"])
    assert views.traits.labels is None and views.fit(X).transform(NEW).shape == (20, 2)
    assert Views(PCA()).traits.labels == Views(PCA(), views=["kernel"], weights="folds").traits.labels == "multi"
    assert Views(FDA()).traits.labels == "single"


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (Views(Isomap()), "Isomap places the rows themselves"),
        (Views(ForestLeaves()), "Views cannot wrap ForestLeaves, which makes features of its own"),
        (Views(Views()), "Views cannot wrap Views, which makes features of its own"),
        (Kernelized(Views()), "Kernelized cannot wrap Views"),
        (ForestLeaves(Views()), "ForestLeaves cannot wrap Views"),
        (MESD(Views(FDA())), "MESD cannot wrap Views"),
        (SSDR(Views()), "SSDR cannot wrap Views"),
        (Views(views=[]), "views=.* is not allowed; views must be a list of"),
        (Views(views=["x"]), "views=.* is not allowed"),
        (Views(views=["features", PCA()]), "views=.* is not allowed"),
        (Views(weights=[1]), "weights=.* has 1 numbers, and there are 2 views"),
        (Views(weights=[0, 0]), "weights=.* is not allowed"),
        (Views(weights="best"), "weights=.* is not allowed"),
        (Views(weights=-1), "weights=.* is not allowed"),
        (Views(views=["features", ForestLeaves()]), "tau='auto'.* use rows='oob', or a number for tau"),
        (Views(OPLS(), views=["features", ForestLeaves()]), "ridge='auto'.* use rows='oob', or a number for ridge"),
        (Views(Kernelized(kernel="precomputed")), "on precomputed values; name a kernel"),
        (Views(OPLS(), views=[Kernelized(kernel="precomputed")]), "on precomputed values; name a kernel"),
    ],
    ids=str,
)
def test_what_is_refused(views, message):
    with pytest.raises(ValueError, match=message):
        views.fit(X, Y)


def test_leaves_of_all_trees_stand_beside_a_ridge_that_is_given():
    views = Views(OPLS(), views=["features", ForestLeaves(n_estimators=5)], ridge=1.0).fit(X, Y)
    assert views.transform(NEW).shape == (20, 4)


def test_scores_need_two_different_rows():
    with pytest.raises(ValueError, match="at least two different rows"):
        Views(OPLS(), views=[Ridge()]).fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_classes_and_a_layout():
    iris, classes = load_iris(return_X_y=True)
    model = Layout(Views(FDA(), views=["features", GaussianNB()]), layout="sklearn")
    places = model.fit(iris[::2], classes[::2]).transform(iris[1::2])
    near = np.linalg.norm(places[:, None] - model.transform(iris[::2]), axis=2).argmin(axis=1)
    assert np.mean(classes[::2][near] == classes[1::2]) > 0.9


def test_blocks_of_constant_and_of_extreme_rows():
    assert np.all(Block.of(np.full((3, 2), 0.1), 1.0).columns(np.ones((2, 2))) == 0)
    for unit in (2.0**-400, 2.0**400):
        np.testing.assert_allclose(Block.of(X * unit, 2.0).columns(NEW * unit), Block.of(X, 2.0).columns(NEW))
    thin = Block.of(sp.csr_array(np.eye(4)), 1.0)
    whole = Block.of(np.eye(4), 1.0)
    assert thin.mean is None and thin.size == pytest.approx(np.sqrt(3 / 4))
    assert isinstance(scaled([thin, whole], [sp.csr_array(np.eye(4)), np.eye(4)]), sp.csr_array)


def test_a_kernel_on_views_has_its_width_from_more_rows(monkeypatch):
    monkeypatch.setattr(kernel, "TUNING_ROWS", 30)
    assert Kernelized().fit(X, Y).tuning_rows_ == 30
    assert Views(views=["features", "kernel"]).fit(X, Y).method_.tuning_rows_ == len(X)
    assert Views(Kernelized(tuning_rows=40), views=["features", "kernel"]).fit(X, Y).method_.tuning_rows_ == 40


def test_blocks_of_columns_that_the_caller_lists():
    """By names, globs and numbers; the first list of all columns equals the view of the features."""
    pd = pytest.importorskip("pandas")
    names = ["a", "b", "c1", "c2", "c3", "d", "e", "f"]
    frame, new = pd.DataFrame(X, columns=names), pd.DataFrame(NEW, columns=names)
    views = Views(OPLS(**RIDGE), views=[["a", "b"], ("c*", 6)], weights=[1, 0.5]).fit(frame, Y)
    parts = [standard(X[:, columns], NEW[:, columns], weight) for columns, weight in (([0, 1], 1), ([2, 3, 4, 6], 0.5))]
    R, R_new = (np.hstack(side) for side in zip(*parts, strict=True))
    np.testing.assert_allclose(views.lift(NEW), R_new, rtol=0, atol=1e-10)
    np.testing.assert_allclose(views.transform(new), OPLS(**RIDGE).fit(R, Y).transform(R_new), rtol=0, atol=1e-8)
    effects = views.feature_effects(views.components_)
    assert effects.shape == (views.n_components_, 8) and not effects[:, [5, 7]].any() and effects[:, :5].all()
    by_number = Views(OPLS(**RIDGE), views=[[0, 1], [2, 3, 4, 6]], weights=[1, 0.5]).fit(sp.csr_array(X), Y)
    assert by_number.lift(NEW).shape == (20, 6) and clone(views).views == views.views
    whole = Views(OPLS(**RIDGE), views=[list(range(8)), "kernel"]).fit(X, Y)
    expected = Views(OPLS(**RIDGE), views=["features", "kernel"]).fit(X, Y)
    np.testing.assert_allclose(whole.transform(NEW), expected.transform(NEW), rtol=0, atol=1e-8)
    for given, X_given, message in (
        (["g*"], frame, "lists 'g\\*', which is none of the columns a, b, c1"),
        ([8], X, "lists 8, which is none of the 8 columns of X"),
        (["a"], X, "lists 'a', which is none of the 8 columns of X; pass X as a DataFrame"),
        ([], X, "views="),
    ):
        with pytest.raises(ValueError, match=message):
            Views(OPLS(), views=[given]).fit(X_given, Y)
