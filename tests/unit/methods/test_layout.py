"""Layout: neighbours of all components on the map, one place a row whatever its batch, and no clusters from noise."""

import pickle
import sys
import warnings
from copy import copy, deepcopy
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import manifold
from sklearn.base import clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.manifold import TSNE

from proxembed import (
    FDA,
    OPLS,
    PCA,
    ForestLeaves,
    Isomap,
    Kernelized,
    LaplacianEigenmaps,
    Layout,
    TargetSpace,
    load,
    save,
)
from proxembed.features.layouts import NeighborMap, spacing
from proxembed.measures.metrics import jaccard_at_k
from proxembed.methods.layout import method_for
from proxembed.proximity.backends import nearest

X, Y = make_multilabel_classification(120, 8, n_classes=4, n_labels=2, random_state=0)
X = X + np.random.default_rng(0).normal(size=X.shape) / 10
NEW = X[:40] + np.random.default_rng(1).normal(size=(40, 8))
LAYOUT = Layout(OPLS(), layout="sklearn")
TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def among(Z, Y) -> float:
    """Mean Jaccard similarity of the ten nearest other rows."""
    near = nearest(Z, 10).index
    weights = sp.csr_array((np.full(near.size, 0.1), near.ravel(), 10 * np.arange(len(Z) + 1)), shape=2 * (len(Z),))
    return jaccard_at_k(Y, Y, weights)


def chance(Y, Y_train) -> float:
    return jaccard_at_k(Y, Y_train, sp.csr_array(np.full((len(Y), len(Y_train)), 1 / len(Y_train))))


@pytest.fixture(autouse=True, scope="module")
def few_steps():
    """Of most maps any will do; those whose neighbours are asked for take all steps (``whole_steps``)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifold, "TSNE", partial(TSNE, max_iter=260))
        yield


@pytest.fixture
def whole_steps(monkeypatch):
    monkeypatch.setattr(manifold, "TSNE", TSNE)


@pytest.fixture(scope="module")
def fitted():
    return clone(LAYOUT).fit(X, Y)


@pytest.mark.parametrize("rows", [NEW, sp.csr_array(NEW), NEW.astype(np.float32)], ids=["dense", "sparse", "float32"])
def test_the_place_of_a_new_row_does_not_depend_on_its_batch(fitted, rows):
    whole = fitted.transform(rows)
    assert whole.dtype == rows.dtype
    alone = np.vstack([fitted.transform(rows[[i]]) for i in range(40)])
    halves = np.vstack([fitted.transform(rows[:7]), fitted.transform(rows[7:])])
    tolerance = 1e-12 if rows.dtype == np.float64 else 1e-6
    np.testing.assert_allclose(alone, whole, rtol=0, atol=tolerance * np.abs(whole).max())
    np.testing.assert_allclose(halves, whole, rtol=0, atol=tolerance * np.abs(whole).max())
    assert np.ptp(whole, axis=0).min() > 1


def test_training_rows_keep_their_place_and_equal_rows_share_one():
    again = np.vstack([X, X[:30]])
    layout = Layout(OPLS(), layout="sklearn")
    Z = layout.fit_transform(again, np.vstack([Y, Y[:30]]))
    np.testing.assert_array_equal(Z[120:], Z[:30])
    np.testing.assert_array_equal(Z[:120], layout.places_)
    mixed = layout.transform(np.vstack([NEW[:5], X[::-1]]))
    np.testing.assert_array_equal(mixed[5:], layout.places_[::-1])
    np.testing.assert_array_equal(layout.transform(sp.csr_array(X)), layout.places_)


def test_weights_of_rows_are_those_of_the_method():
    w, few = np.random.default_rng(5).integers(0, 3, 40), slice(0, 40)
    copies, unknown = np.repeat(np.arange(40), w), np.where(np.arange(40)[:, None] % 5 == 0, np.nan, Y[few])
    for layout, y in [(LAYOUT, Y[few]), (Layout(OPLS(ridge=0.1), layout="sklearn", honest=True), unknown)]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weighted = clone(layout).fit(X[few], y, sample_weight=w)
            repeated = clone(layout).fit(X[copies], y[copies])
        np.testing.assert_array_equal(weighted.method_.eigenvalues_, repeated.method_.eigenvalues_)
        np.testing.assert_array_equal(weighted.transform(X[few]), repeated.transform(X[few]))
    with pytest.raises(ValueError, match="Layout takes no sample_weight: Isomap takes none"):
        Layout(Isomap()).fit(X, sample_weight=np.ones(120))


def test_order_of_rows_and_signs_of_components_change_nothing(fitted):
    order = np.random.default_rng(3).permutation(120)
    other = Layout(OPLS(), layout="sklearn").fit(X[order], Y[order])
    scale = np.abs(fitted.places_).max()
    np.testing.assert_allclose(other.places_, fitted.places_[order], rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(other.transform(NEW), fitted.transform(NEW), rtol=0, atol=1e-9 * scale)


def test_two_rows_have_one_map_whatever_their_order():
    y = np.array(["a", "b"])
    one, other = (Layout(OPLS(), layout="sklearn").fit(X[rows], y[rows]) for rows in ([0, 1], [1, 0]))
    np.testing.assert_allclose(other.transform(X[:2]), one.transform(X[:2]), atol=1e-12)


def test_rows_near_each_other_in_all_components_are_near_on_the_map(whole_steps):
    fitted = clone(LAYOUT).fit(X, Y)
    Z = fitted.method_.transform(X)
    assert Z.shape[1] == 4
    near, mapped = nearest(Z, 10).index, nearest(fitted.places_, 10).index
    shared = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(near, mapped, strict=True)])
    flat = nearest(Z[:, :2], 10).index
    assert shared > 0.5 > np.mean([len(set(a) & set(b)) / 10 for a, b in zip(near, flat, strict=True)])


@pytest.mark.parametrize("honest", [False, True])
def test_a_loaded_map_places_rows_as_before_without_any_library_of_layouts(honest, tmp_path, monkeypatch):
    layout = Layout(OPLS(), layout="sklearn", honest=honest).fit(X, Y)
    saved = load(save(layout, tmp_path / "map.skops"))
    for name in ("openTSNE", "umap", "sklearn.manifold"):
        monkeypatch.setitem(sys.modules, name, None)
    np.testing.assert_array_equal(saved.transform(NEW), layout.transform(NEW))
    np.testing.assert_array_equal(saved.transform(X), layout.places_)


def test_rows_of_unknown_labels_are_on_the_map(whole_steps):
    holes = Y.astype(float)
    holes[:20], holes[20:25, 1] = np.nan, np.nan
    for honest in (False, True):
        with pytest.warns(UserWarning, match="OPLS cannot use rows without a known label: 20 of 120 rows have"):
            layout = Layout(OPLS(), layout="sklearn", honest=honest).fit(X, holes)
        assert layout.places_.shape == (120, 2) and np.isfinite(layout.places_).all()
        near = nearest(layout.places_[20:], 1, queries=layout.places_[:20])
        assert np.median(near.distance) < 2 * np.median(nearest(layout.places_[20:], 1).distance)


def test_an_honest_map_where_no_row_is_known_in_full():
    holes = Y.astype(float)
    holes[np.arange(120), np.arange(120) % 4] = np.nan
    layout = Layout(ForestLeaves(n_estimators=20), layout="sklearn", honest=True).fit(X, holes)
    assert layout.places_.shape == (120, 2) and np.isfinite(layout.transform(NEW)).all()


def test_a_method_without_labels_has_no_folds():
    plain, honest = (Layout(PCA(n_components=4), layout="sklearn", honest=flag).fit(X) for flag in (False, True))
    np.testing.assert_array_equal(plain.places_, honest.places_)


def test_equal_rows_are_held_out_together(whole_steps):
    """Else the label of a row is read from its copy in another fold."""
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(60, 30)), 2, axis=0)
    y = np.repeat(rng.integers(0, 2, size=60), 2)
    places = Layout(OPLS(ridge=1e-3), layout="sklearn", honest=True).fit(rows, y).places_
    Y_distinct = np.eye(2)[y[::2]]
    assert among(places, Y_distinct) < chance(Y_distinct, Y_distinct) + 0.1


def laid_out(weight, Z, X):
    """[Z, w PCA30(X)], both centred and of unit mean norm, by NumPy."""
    U, s, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    parts = [Z - Z.mean(axis=0), (U * s)[:, s > 1e-9 * s[0]][:, :30]]
    parts = [part / np.linalg.norm(part, axis=1).mean() for part in parts]
    return np.hstack([parts[0], weight * parts[1]])


def test_features_are_laid_out_beside_the_components():
    wide = np.hstack([X, np.repeat(X, 3, axis=1), np.random.default_rng(2).normal(size=(120, 40))])  # rank 48 of 72
    for rows, weight in ((X, 0.5), (wide, 2), (wide[:20], None)):
        y = Y[: len(rows)]
        dense, sparse = (Layout(OPLS(ridge=0.1), layout="sklearn", features=weight) for _ in range(2))
        dense.fit(rows, y), sparse.fit(sp.csr_array(rows), y)
        assert dense.features_ == (1.0 if weight is None else weight)
        expected = laid_out(dense.features_, dense.method_.transform(rows), rows)
        for layout, found in ((dense, dense._laid(rows, dense.method_.transform(rows))),
                              (sparse, sparse._laid(sp.csr_array(rows), sparse.method_.transform(rows)))):  # fmt: skip
            np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=0, atol=1e-9)
            Z = layout.map_.Z[np.argsort(layout._seen.first)] * np.sqrt(np.mean(found**2))
            np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, rtol=0, atol=1e-5)
        new = rows[:3] + 0.1
        placed = dense.map_.place(dense._laid(new, dense.method_.transform(new)))
        np.testing.assert_allclose(dense.transform(new), placed, rtol=0, atol=1e-9)


def test_without_features_the_map_is_that_of_the_components_alone():
    plain, method = Layout(OPLS(), layout="sklearn", features=0).fit(X, Y), OPLS().fit(X, Y)
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    alone = NeighborMap.of(method.transform(X), "sklearn", 2, seed)
    np.testing.assert_array_equal(plain.places_, alone.places)
    np.testing.assert_allclose(plain.transform(NEW), alone.place(method.transform(NEW)), rtol=0, atol=1e-12)
    assert Layout(PCA(n_components=4), layout="sklearn").fit(X[:15]).features_ == 0
    assert Layout(OPLS(), layout="components").fit(X, Y).features_ == 0


def moved(places, old):
    """The mean displacement of rows, in units of the old map: the root mean squared distance of its rows from their
    mean."""
    unit = np.sqrt(((old - old.mean(axis=0)) ** 2).sum(axis=1).mean())
    return np.linalg.norm(places - old, axis=1).mean() / unit


def kept(layout):
    """The share of the ten nearest rows of what is laid out that are nearest on the map."""
    near = [nearest(each, 10).index for each in (layout.map_.Z, layout.map_.places)]
    return np.mean([len(np.intersect1d(*pair)) / 10 for pair in zip(*near, strict=True)])


def check_known_rows_stay(layout):
    old = Layout(OPLS(), layout=layout).fit(X[:90], Y[:90])
    anew = Layout(OPLS(), layout=layout).fit(X, Y)
    again = Layout(OPLS(), layout=layout, start=old).fit(X, Y)
    before = old.transform(X[:90])
    assert moved(again.transform(X[:90]), before) < 0.5 * moved(anew.transform(X[:90]), before)
    assert kept(again) > 0.95 * kept(anew)


def test_known_rows_stay_where_they_were(whole_steps):
    check_known_rows_stay("sklearn")


def test_rows_begin_where_the_earlier_map_puts_them(monkeypatch):
    old = Layout(OPLS(), layout="sklearn").fit(X[:90], Y[:90])
    monkeypatch.setattr("proxembed.features.layouts.lay_out", lambda Z, *given: 2.0 * given[-1] @ TURN + 5.0)
    again = Layout(OPLS(), layout="sklearn", start=old).fit(X, Y)
    np.testing.assert_allclose(again.places_, old.transform(X), rtol=0, atol=1e-8)
    assert again.map_.unit == pytest.approx(spacing(again.places_))


def test_no_known_row_leaves_the_map_as_it_is_laid_out(monkeypatch):
    old = Layout(OPLS(), layout="sklearn").fit(X[:60], Y[:60])
    monkeypatch.setattr("proxembed.features.layouts.lay_out", lambda Z, *given: 2.0 * given[-1])
    with pytest.warns(UserWarning, match="None of the rows is a training row of start"):
        again = Layout(OPLS(), layout="sklearn", start=old).fit(X[60:], Y[60:])
    np.testing.assert_allclose(again.places_, 2.0 * old.transform(X[60:]), rtol=1e-12)


def test_copies_keep_the_fitted_start(fitted, tmp_path):
    copied = clone(Layout(OPLS(), layout="sklearn", start=fitted))
    assert copied.start is fitted and not hasattr(copied, "map_")
    again = copied.fit(X[:100], Y[:100])
    save(again, tmp_path / "map.skops")
    np.testing.assert_array_equal(load(tmp_path / "map.skops").transform(NEW), again.transform(NEW))


def test_nested_parameters_do_not_reach_the_start(fitted):
    later, before = Layout(OPLS(), layout="sklearn", start=fitted), fitted.get_params()
    assert not [name for name in later.get_params() if name.startswith("start__")]
    assert later.get_params()["start"] is fitted
    for name in ("start__n_components", "start__method__ridge"):
        with pytest.raises(ValueError, match=f"{name} cannot be set: start is an earlier map"):
            later.set_params(random_state=7, **{name: 1})
    assert later.random_state == 0
    later.set_params(method__ridge=0.5, random_state=3, start=None)
    assert fitted.get_params() == before and later.method.ridge == 0.5 and later.start is None


def test_a_saved_map_holds_no_earlier_ones(fitted, tmp_path):
    later = Layout(OPLS(), layout="sklearn", start=fitted).fit(X[:100], Y[:100])
    last = Layout(OPLS(), layout="sklearn", start=later).fit(X, Y)
    assert last.start is later and later.start is fitted and last.reweighted(1, 1).start is later
    for copied in (copy(last), deepcopy(last)):
        assert copied.start is later
        np.testing.assert_array_equal(copied.transform(NEW), last.transform(NEW))
    save(last, tmp_path / "map.skops")
    for copied in (load(tmp_path / "map.skops"), pickle.loads(pickle.dumps(last))):
        assert copied.start is None
        np.testing.assert_array_equal(copied.transform(NEW), last.transform(NEW))
    waiting = pickle.loads(pickle.dumps(clone(last)))  # as a worker gets it
    assert waiting.start.start is None
    np.testing.assert_array_equal(waiting.start.places_, later.places_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": LAYOUT}, "start must be a fitted Layout; fit it first"),
        ({"start": OPLS()}, "start=OPLS.* is not allowed; start must be None or a fitted Layout"),
        ({"layout": "components"}, "start is not allowed with layout='components'"),
        ({"n_components": 1}, "start has 2 dimensions of rows of 8 features; this map is to have 1 of 8"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(fitted, settings, message):
    with pytest.raises(ValueError, match=message):
        Layout(OPLS(), **({"layout": "sklearn", "start": fitted} | settings)).fit(X, Y)
    with pytest.raises(ValueError, match="of 8 features; this map is to have 2 of 7"):
        Layout(OPLS(), layout="sklearn", start=fitted).fit(X[:, :7], Y)


def test_columns_of_start_are_compared_by_name_and_give_no_warning():
    frame = pd.DataFrame(X[:60], columns=list("abcdefgh"))
    old = Layout(OPLS(), layout="sklearn").fit(frame, Y[:60])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Layout(OPLS(), layout="sklearn", start=old).fit(frame, Y[:60])
    with pytest.raises(ValueError, match="columns of other names, or in another order"):
        Layout(OPLS(), layout="sklearn", start=old).fit(frame[list("hgfedcba")], Y[:60])


def test_one_fit_serves_several_weights_of_the_features():
    fitted = Layout(OPLS(ridge=0.1), layout="sklearn", features=0.5).fit(X, Y)
    Z = fitted.method_.transform(X)
    for (a, b), weight in (((1, 0), 0), ((1, 2), 2), ((0, 1), np.inf)):
        found, expected = fitted.reweighted(a, b), laid_out(1, Z, X) * np.repeat([a, b], [4, 8])
        np.testing.assert_allclose(found._laid(X, Z) @ found._laid(X, Z).T, expected @ expected.T, rtol=0, atol=1e-9)
        D = found.map_.Z[np.argsort(found._seen.first)] * np.sqrt(np.mean(expected**2))
        np.testing.assert_allclose(D @ D.T, expected @ expected.T, rtol=0, atol=1e-5)
        assert found.features_ == weight and not np.array_equal(found.places_, fitted.places_)
        np.testing.assert_array_equal(found.transform(X), found.places_)
    assert fitted.features_ == 0.5
    with pytest.raises(ValueError, match="No features were laid out"):
        Layout(OPLS(), layout="components").fit(X, Y).reweighted(1, 1)


def test_the_default_method_is_chosen_by_the_sizes_and_the_kind_of_y(monkeypatch):
    assert isinstance(method_for(19_999, 1999), TargetSpace)
    assert isinstance(method_for(20_000, 10), OPLS) and isinstance(method_for(20_000, 10, False), OPLS)
    assert method_for(6000, 2000).n_prototypes is None and method_for(6001, 2000).n_prototypes == 1000
    assert isinstance(method_for(100, 5, False), Kernelized)
    monkeypatch.setattr("proxembed.features.layouts.lay_out", lambda Z, *_: Z[:, :2])
    few = slice(0, 30)
    for y, layout, expected in ((Y, "sklearn", TargetSpace), (X[:, 0] + Y[:, 1], "sklearn", Kernelized),
                                (Y, "components", Kernelized)):  # fmt: skip
        assert isinstance(Layout(layout=layout).fit(X[few], y[few]).method_, expected)


def test_an_honest_target_space_is_its_own_and_no_row_is_placed_by_its_labels():
    few = TargetSpace(bases=("ridge", "neighbors"))
    flipped = Y.copy()
    flipped[7] = 1 - Y[7]
    moved = {}
    for honest in (False, True):
        models = [Layout(few, layout="components", honest=honest).fit(X, y).method_ for y in (Y, flipped)]
        assert models[0].honest is honest and (models[0].share_ == 0 or not honest)
        one, other = (model.embedding_ @ model.axes_.T for model in models)
        moved[honest] = np.linalg.norm(one[7] - other[7])
    assert moved[True] < 0.2 * moved[False]


def test_digits_in_two_dimensions_keep_their_classes(whole_steps):
    rows, y = load_digits(return_X_y=True)
    rows, y = rows[:700], y[:700]
    layout = Layout(Kernelized(), features=0, layout="sklearn").fit(rows[:500], y[:500])
    near = nearest(layout.places_, 10, queries=layout.transform(rows[500:])).index
    assert (y[:500][near] == y[500:, None]).mean() > 0.93
    two = layout.method_.transform(rows)[:, :2]
    near = nearest(two[:500], 10, queries=two[500:]).index
    assert (y[:500][near] == y[500:, None]).mean() < 0.7


@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("n", [2, 3, 9, 11, 14])
def test_few_rows_have_a_map(dimensions, n):
    layout = Layout(PCA(), n_components=dimensions, layout="sklearn").fit(X[:n])
    assert layout.places_.shape == (n, dimensions) and np.isfinite(layout.transform(NEW)).all()
    assert np.ptp(layout.places_[:, 0]) > 0


@pytest.mark.parametrize(
    ("layout", "y", "message"),
    [
        (Layout(Layout()), Y, "Layout cannot wrap Layout; pass the method"),
        (Layout(layout="mds"), Y, "layout='mds' is not allowed; layout must be 'auto', 'opentsne', 'umap', 'sklearn'"),
        (Layout(n_components=3), Y, "n_components=3 is not allowed"),
        (Layout(FDA()), Y, "FDA takes one class per row"),
        (Layout(LaplacianEigenmaps(weights="precomputed")), Y, "is not allowed"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(layout, y, message):
    with pytest.raises(ValueError, match=message):
        layout.fit(X, y)


def test_a_method_that_cannot_place_new_rows_is_refused(monkeypatch):
    monkeypatch.setattr(LaplacianEigenmaps, "no_rule", lambda self: "no rule")
    with pytest.raises(ValueError, match="Layout needs a method that embeds new rows, and LaplacianEigenmaps"):
        Layout(LaplacianEigenmaps(), layout="sklearn").fit(X)


@pytest.mark.parametrize(("layout", "library"), [("opentsne", "openTSNE"), ("umap", "umap-learn")])
def test_a_layout_that_is_not_installed_names_the_remedy(layout, library, monkeypatch):
    monkeypatch.setattr("proxembed.features.layouts.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=rf"layout='{layout}' needs {library}; install it \(pip install 'prox"):
        Layout(OPLS(), layout=layout).fit(X, Y)
    assert Layout(OPLS()).fit(X, Y).layout_ == "sklearn"


def test_components_are_a_map_without_a_layout(tmp_path):
    plain = Layout(OPLS(ridge=0.1), layout="components").fit(X, Y)
    Z = OPLS(ridge=0.1).fit(X, Y).transform(X)
    np.testing.assert_allclose(plain.places_, Z[:, :2], rtol=0, atol=1e-12)
    new = NEW[:5]
    np.testing.assert_allclose(plain.transform(new), plain.method_.transform(new)[:, :2], rtol=0, atol=1e-12)
    save(plain, tmp_path / "map.skops")
    np.testing.assert_array_equal(load(tmp_path / "map.skops").transform(new), plain.transform(new))
    numbers = X[:, 0] + np.sin(np.arange(len(X))) * X[:, 0].std() / 10
    honest = Layout(OPLS(ridge=0.1), layout="components", honest=True).fit(X, numbers)
    assert honest.n_components_ == 1 and honest.places_.shape == (len(X), 1)
    assert 0.9 < np.corrcoef(honest.places_[:, 0], numbers)[0, 1] ** 2 < 1
    assert np.abs(honest.places_ - honest.method_.transform(X)).max() > 1e-6


@pytest.mark.parametrize("method", [OPLS(ridge=0.1), TargetSpace(bases=["ridge"], n_estimators=5)])
def test_an_honest_map_of_groups_places_no_row_by_rows_of_its_group(method):
    """Near copies with labels of chance: by folds of rows each is placed by its copy, among its own labels."""
    random = np.random.default_rng(0)
    first = random.normal(size=(60, 60))
    rows, y = np.vstack([first, first + 1e-6]), np.tile(random.integers(3, size=60), 2)
    y, groups = np.eye(3)[y], np.tile(np.arange(60), 2)
    alike = []
    for given in ({}, {"groups": groups}):
        fitted = Layout(clone(method), layout="components", n_components=2, honest=True).fit(rows, y, **given)
        centre = np.array([fitted.places_[y[:, label] > 0].mean(axis=0) for label in range(3)])
        own = np.linalg.norm(fitted.places_[:, None] - centre, axis=2).argmin(axis=1)
        alike.append(np.mean(own == y.argmax(axis=1)))
    assert alike[0] > 0.6 > alike[1]


def test_equal_rows_join_their_groups_and_weights_leave_rows_out():
    from proxembed.splits.shuffles import joined_groups

    assert joined_groups(np.array([0, 1, 2, 0, 3]), ["a", "b", "b", "c", "c"]).tolist() == [0, 1, 1, 0]
    groups = np.arange(len(X)) // 4
    layout = Layout(OPLS(ridge=0.1), layout="components", honest=True)
    weighed = clone(layout).fit(X, Y, np.arange(len(X)) >= 20, groups=groups).places_
    np.testing.assert_allclose(weighed, clone(layout).fit(X[20:], Y[20:], groups=groups[20:]).places_, atol=1e-12)
    one = [clone(layout).fit(X, Y, groups=given).places_ for given in (None, np.zeros(len(X)))]
    np.testing.assert_array_equal(*one)
    with pytest.raises(ValueError, match="groups=.* must have one entry per row of X"):
        layout.fit(X, Y, groups=[1, 2])
