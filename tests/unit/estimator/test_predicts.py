"""Predictions of numbers: their form, units, range and score, and what they rest on."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.preprocessing import StandardScaler

import proxembed
from proxembed import CCA, FDA, MLLS, OPLS, PLS, Kernelized, Layout, PCovR, RowBlocks, Sliced
from proxembed.estimator.base import registry
from proxembed.params import declared

RNG = np.random.default_rng(3)
N = 60
X = RNG.normal(size=(N, 4))
Y = X @ RNG.normal(size=(4, 3)) * [1.0, 10.0, 1e4] + RNG.normal(size=(N, 3)) * [0.5, 4.0, 4e3] + [0.0, 5.0, -1e5]
NAMES = np.array(["clay", "sand", "silt"])
METHODS = {cls.__name__: cls for cls in (CCA, OPLS, PLS, PCovR, MLLS)}
each = pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS)


@each
def test_predictions_in_the_form_of_y(cls):
    frame = pd.DataFrame(Y.astype(np.float32), columns=["Cd", "Co", "Cu"])
    whole = cls().fit(X, Y).predict(X)
    assert whole.shape == (N, 3) and whole.dtype == np.float64
    rows = pd.DataFrame(X, columns=list("abcd"), index=np.arange(N) + 7)
    found = cls().fit(rows, frame).predict(rows[:5])
    assert list(found.columns) == ["Cd", "Co", "Cu"] and set(found.dtypes) == {np.dtype("float32")}
    assert found.index.tolist() == list(range(7, 12))
    np.testing.assert_allclose(found, whole[:5], rtol=1e-4)
    for y, shape in ((Y[:, 0], (N,)), (Y[:, [0]], (N, 1)), (Y[:, 0].tolist(), (N,)), (frame[["Cd"]], (N, 1))):
        model = cls().fit(X, y)
        assert model.predict(X).shape == shape
        assert model.coef_.shape == (1, 4) and model.intercept_.shape == (1,)
    np.testing.assert_array_equal(cls().fit(X, sp.csr_array(Y)).predict(X).shape, (N, 3))


@each
def test_rows_outside_the_training_rows_are_told(cls):
    """By hand: the scores of new rows against the least and the largest of the training rows."""
    model = cls(n_components=2).fit(X, Y)
    new = 1.5 * RNG.normal(size=(50, 4))
    Z, Z_new = model.transform(X), model.transform(new)
    expected = ((Z_new < Z.min(axis=0)) | (Z_new > Z.max(axis=0))).any(axis=1)
    assert 0 < expected.sum() < 50 and not model.outside_training(X).any()
    np.testing.assert_array_equal(model.outside_training(new), expected)
    first = model.truncate(1)
    one = (Z_new[:, 0] < Z[:, 0].min()) | (Z_new[:, 0] > Z[:, 0].max())
    assert expected.sum() > one.sum()
    if cls is not MLLS:  # which turns its components
        np.testing.assert_array_equal(first.outside_training(new), one)
    assert not cls().fit(X.astype(np.float32), Y).outside_training(X.astype(np.float32)).any()
    blocks = model.outside_training(RowBlocks.from_arrays(new, block_rows=20))
    np.testing.assert_array_equal(np.concatenate([found for found, _ in blocks]), expected)
    for other in (cls().fit(X, Y > 0), cls().fit(RowBlocks.from_arrays(X, Y, block_rows=20))):
        with pytest.raises(AttributeError) as error:
            other.outside_training(X)
        assert "where it is fitted to numbers, on rows in memory" in str(error.value.__cause__)


@each
def test_columns_of_every_kind_are_predicted_in_their_types(cls):
    kind, warm = NAMES[((Y - Y.mean(axis=0)) / Y.std(axis=0)).argmax(axis=1)], Y[:, 1] > Y[:, 1].mean()
    grade = pd.Categorical(NAMES[np.digitize(Y[:, 2], np.quantile(Y[:, 2], [0.3, 0.7]))], NAMES, ordered=True)
    y = pd.DataFrame({"kind": kind, "warm": warm, "grade": grade, "Cu": Y[:, 2], "site": pd.Categorical(kind)})
    model = cls().fit(X, y)
    found = model.predict(X)
    assert [str(dtype) for dtype in found.dtypes[1:]] == ["bool", "category", "float64", "category"]
    assert set(found["kind"]) <= set(NAMES) and found["grade"].cat.ordered and not found["site"].cat.ordered
    assert list(found["grade"].cat.categories) == list(NAMES)
    assert np.mean(found["kind"] == kind) > 0.6 and np.mean(found["warm"] == warm) > 0.6
    ranks = [np.array(pd.Categorical(each, NAMES).codes, dtype=float) for each in (grade, found["grade"])]
    scores = [np.mean(found[name] == y[name]) for name in ("kind", "warm", "site")]
    scores += [r2_score(*ranks), r2_score(y["Cu"], found["Cu"])]
    np.testing.assert_allclose(model.score(X, y), np.mean(scores))
    assert model.coef_.shape == (9, 4)
    assert [output.columns for output in model.targets_] == [(0, 1, 2), (3,), (4,), (5,), (6, 7, 8)]
    array = cls().fit(X, np.column_stack([kind.astype(object), Y[:, 2].astype(object)])).predict(X)
    assert array.dtype == object and set(array[:, 0]) <= set(NAMES) and isinstance(array[0, 1], float)


def test_every_output_has_variance_one():
    """Of class outputs all indicators together; a weight multiplies the block of its column."""
    kind = NAMES[np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.2, 0.5]))]
    y = pd.DataFrame({"kind": kind, "warm": Y[:, 1] > 8, "Cu": Y[:, 2]})
    for scale_targets, expected in {"standard": [1, 1, 1], "weights": [4, 1, 0.25]}.items():
        weights = {"kind": 2.0, "Cu": 0.5} if scale_targets == "weights" else scale_targets
        targets = proxembed.targets.read_targets(y, None, weights)
        F = targets.Y.toarray()
        found = [F[:, output.columns].var(axis=0).sum() for output in targets.reading.outputs(None)]
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(F.mean(axis=0), 0.0, atol=1e-15)
    shares = np.array([np.mean(kind == name) for name in NAMES])
    output = proxembed.targets.read_targets(y).reading.outputs(None)[0]
    np.testing.assert_allclose(output.scale, np.sqrt(1 - np.sum(shares**2)))
    np.testing.assert_allclose(output.mean, shares)
    for message, weights in {"names column 'x'": {"x": 1.0}, "a weight is a number > 0": {"Cu": 0.0}}.items():
        with pytest.raises(ValueError, match=message):
            OPLS(scale_targets=weights).fit(X, y)


@each
def test_predictions_stay_in_the_range_of_training_unless_told(cls):
    far = X * 100
    model, free = cls().fit(X, Y), cls(extrapolate=True).fit(X, Y)
    found = model.predict(far)
    np.testing.assert_array_equal(found.min(axis=0), Y.min(axis=0))
    np.testing.assert_array_equal(found.max(axis=0), Y.max(axis=0))
    plain = free.predict(far)
    np.testing.assert_allclose(plain, far @ free.coef_.T + free.intercept_, rtol=1e-9)
    np.testing.assert_array_equal(found, np.clip(plain, Y.min(axis=0), Y.max(axis=0)))


@each
def test_the_score_is_r2_over_the_known_cells(cls):
    model = cls(n_components=1).fit(X, Y)
    np.testing.assert_allclose(model.score(X, Y), r2_score(Y, model.predict(X)))
    hidden = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)
    parts = [r2_score(y[np.isfinite(y)], p[np.isfinite(y)]) for y, p in zip(hidden.T, model.predict(X).T, strict=True)]
    np.testing.assert_allclose(model.score(X, hidden), np.mean(parts))
    with pytest.raises(ValueError, match="y has 2 columns, and the model predicts 3"):
        model.score(X, Y[:, :2])


def test_without_a_ridge_it_is_least_squares_on_the_scores():
    for k in (1, 2, 3):
        for scaling in ("template", "orthonormal", "eigenvalue", "unit"):
            model = PLS(n_components=k, scaling=scaling, extrapolate=True).fit(X, Y)
            Z = model.transform(X)
            np.testing.assert_allclose(model.predict(X), LinearRegression().fit(Z, Y).predict(Z), rtol=1e-9)


def test_the_read_out_does_not_depend_on_the_scaling():
    expected = OPLS(n_components=2, scaling="template").fit(X, Y).coef_
    for scaling in ("orthonormal", "eigenvalue", "unit"):
        np.testing.assert_allclose(OPLS(n_components=2, scaling=scaling).fit(X, Y).coef_, expected, rtol=1e-10)


@each
def test_truncated_models_predict_as_those_of_fewer_components(cls):
    short, fewer = cls().fit(X, Y).truncate(1), cls(n_components=1).fit(X, Y)
    np.testing.assert_allclose(short.coef_, fewer.coef_, rtol=1e-8)
    np.testing.assert_allclose(short.predict(X), fewer.predict(X), rtol=1e-8)


@each
def test_labels_have_no_predictions_of_numbers(cls):
    for y in ((Y > Y.mean(axis=0)).astype(int), NAMES[np.arange(N) % 3]):
        model = cls().fit(X, y)
        assert not hasattr(model, "score")
        assert all(hasattr(model, name) is (cls is MLLS) for name in ("predict", "coef_", "intercept_"))
    assert not hasattr(MLLS().fit(X, Y), "decision_function")
    assert not hasattr(cls(), "targets_") and hasattr(cls(), "score")


@each
def test_saved_models_predict(cls, tmp_path):
    y = pd.DataFrame({"kind": NAMES[np.arange(N) % 3], "Cu": Y[:, 2], "warm": Y[:, 1] > 8})
    model = cls().fit(X, y)
    path = tmp_path / "m.skops"
    proxembed.save(model, path)
    loaded = proxembed.load(path)
    pd.testing.assert_frame_equal(loaded.predict(X), model.predict(X))
    assert loaded.targets_ == model.targets_
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


@each
def test_sparse_and_scaled_features(cls):
    rows = np.where(RNG.random(X.shape) < 0.5, 0.0, X)
    dense, thin = cls().fit(rows, Y), cls().fit(sp.csr_array(rows), Y)
    np.testing.assert_allclose(thin.predict(sp.csr_array(rows)), dense.predict(rows), rtol=1e-7)
    if cls is not MLLS:  # its penalties are absolute
        scaled = cls().fit(rows * 2.0**40, Y)
        np.testing.assert_allclose(scaled.coef_ * 2.0**40, dense.coef_, rtol=1e-6)


def test_clones_and_refits_forget():
    model = OPLS().fit(X, Y)
    model.fit(X, (Y > 0).astype(int) if len(np.unique(Y > 0)) > 1 else None)
    assert not hasattr(model, "predict") and [output.kind for output in model.targets_] == ["labels"] * 3
    assert not hasattr(clone(model), "targets_")


def test_every_estimator_that_takes_numbers_says_how_they_are_scaled():
    for name, cls in registry().items():
        made = cls.class_traits.takes_numbers
        assert made is ("scale_targets" in declared(cls)), name
        assert not (made and cls.class_traits.labels is None)
    own = {name: cls for name, cls in registry().items() if cls.__module__.startswith("proxembed.")}
    taken = {name for name, cls in own.items() if cls.class_traits.takes_numbers}
    spectral = {"CCA", "PLS", "OPLS", "MDDM", "SFEHS", "MVMD", "MORP", "MLSI", "SLVM", "MLLS", "PCovR", "Sliced", "MFA"}
    assert taken == spectral | {"BSML", "MLGFHF", "MLGRF", "MLLGC", "SMSE", "TargetSpace"}


def test_wrappers_scale_as_their_method():
    one = Kernelized(OPLS(scale_targets="none", ridge=0.1), tau=4.0).fit(X, Y)
    other = Kernelized(OPLS(ridge=0.1), tau=4.0).fit(X, Y)
    assert [output.scale for output in one.targets_] == [1.0] * 3
    np.testing.assert_allclose([output.scale for output in other.targets_], StandardScaler().fit(Y).scale_)
    assert not np.allclose(one.eigenvalues_, other.eigenvalues_)


def test_scores_are_asked_for_before_a_fit_and_right_after_a_part():
    X, Y = RNG.normal(size=(N, 4)), RNG.normal(size=(N, 2))
    assert np.isfinite(cross_val_score(OPLS(), X, Y, cv=2)).all()
    part = OPLS(ridge=0.1).partial_fit(X, Y)
    assert part.score(X, Y) == pytest.approx(OPLS(ridge=0.1).fit(X, Y).score(X, Y))
    assert not hasattr(OPLS().fit(X, Y > 0), "score")
    with pytest.raises(NotFittedError):
        OPLS().score(X, Y)


def test_what_does_not_predict_names_what_does():
    """In the message itself, whether or not the class has such a method; attributes of other names stay bare."""
    told = [(FDA().fit(X, Y[:, 0] > 0), "predict"), (Kernelized(OPLS()).fit(X, Y), "score"), (Layout(), "predict")]
    for model, name in [*told, (Sliced(FDA()), "predict_proba"), (OPLS().fit(X, np.arange(N) % 5), "predict")]:
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=rf"proxembed\.fit_on\({type(model).__name__}\(\), dataset\)"):
            getattr(model, name)
    with pytest.raises(AttributeError, match="pass target_type='real' if y holds measurements"):
        _ = OPLS().fit(X, np.arange(N) % 5).predict
    with pytest.raises(AttributeError, match="^'FDA' object has no attribute 'forecast'$"):
        _ = FDA().forecast


@pytest.mark.parametrize("kind", ["real", {0: "real"}], ids=str)
@pytest.mark.parametrize("cls", [OPLS, PLS])
def test_a_method_that_is_set_to_numbers_is_cross_validated(cls, kind):
    """cross_val_predict asks for ``predict`` before it fits."""
    method = cls(target_type=kind)
    found = cross_val_predict(method, X, Y, cv=3)
    expected = np.vstack([cls().fit(X[train], Y[train]).predict(X[test]) for train, test in KFold(3).split(X)])
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(NotFittedError):
        method.predict(X)
