"""BSML on numbers: the plain updates, the bound, unknown cells, labels beside numbers, predictions and kinds."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor

import strategies
from oracles.coupled import Plain
from proxembed import BSML, BSSML, OPLS, load, save

SPARSE = (1, 1, 1e-10, 1e10, 1, 1)
N, D = 60, 8
SHORT = {"tol": 0, "max_iter": 15}


def problem(n=N, d=D, c=3, seed=1, unknown=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = X @ rng.standard_normal((d, c)) + rng.standard_normal((n, c))
    Y = Y * np.geomspace(0.1, 100, c) + np.linspace(-5, 1e3, c)
    holes = rng.random(Y.shape) < unknown
    holes[:, 0] &= ~holes.all(axis=1)
    return X, np.where(holes, np.nan, Y), holes


def standardised(Y):
    return (Y - np.nanmean(Y, axis=0)) / np.nanstd(Y, axis=0)


def arrays(n, d, c, R=2, seed=5):
    rng = np.random.default_rng(seed)
    return {
        name: rng.standard_normal(s) for name, s in {"Q": (d, R), "Z": (n, R), "B": (R + 1, c), "T": (n, c)}.items()
    }


def assert_same(fit, model, bounds):
    np.testing.assert_allclose(fit.lower_bound_, bounds, rtol=1e-10)
    np.testing.assert_allclose(fit.components_.T, model.Q, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.weights_, model.B[1:], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.bias_, model.B[0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.noise_, model.tau**-0.5, rtol=1e-8)


@pytest.mark.parametrize("prior", ["entry", "column", "row"])
@pytest.mark.parametrize("unknown", [0.0, 0.4])
@pytest.mark.parametrize("shape", [(40, 8), (10, 25)], ids=str)
def test_numbers_equal_the_plain_updates(prior, unknown, shape):
    X, Y, holes = problem(*shape, unknown=unknown)
    init, hyper = arrays(*shape, 3), SPARSE if prior != "entry" else (1,) * 6
    model = Plain(X, standardised(Y), **init, v=0.01, hyper=hyper, prior=prior, numbers=range(3), unknown=holes)
    bounds = [model.sweep() for _ in range(8)]
    form = sp.csr_array if shape[0] == 10 else np.asarray
    fit = BSML(n_components=2, prior=prior, init=init, tol=0, max_iter=8).fit(form(X), form(Y))
    assert_same(fit, model, bounds)
    np.testing.assert_allclose(fit.predict(form(X)).std(axis=0) > 0, True)


def test_labels_keep_their_probits_beside_numbers():
    """A bool column and the indicators of classes have signs and a noise of 1, numbers a noise of their own."""
    X, Y, _ = problem()
    kind = np.array(["a", "b", "c"])[np.digitize(Y[:, 1], np.quantile(Y[:, 1], [0.3, 0.6]))]
    table = pd.DataFrame({"kind": kind, "warm": Y[:, 2] > np.median(Y[:, 2]), "x": Y[:, 0]})
    signs = [np.where(kind == name, 1.0, -1.0) for name in "abc"]
    F = np.column_stack([*signs, np.where(table["warm"], 1.0, -1.0), standardised(Y[:, 0])])
    init = arrays(N, D, 5)
    model = Plain(X, F, **init, v=0.01, numbers=[4])
    bounds = [model.sweep() for _ in range(6)]
    assert_same(BSML(n_components=2, init=init, tol=0, max_iter=6).fit(X, table), model, bounds)
    fit = BSML(n_components=3, tol=0, max_iter=40).fit(X, table)
    found = fit.predict(X)
    assert [str(dtype) for dtype in found.dtypes[1:]] == ["bool", "float64"] and set(found["kind"]) <= set("abc")
    assert np.mean(found["kind"] == kind) > 0.6 and np.mean(found["warm"] == table["warm"]) > 0.7
    m = fit.transform(X) @ fit.weights_ + fit.bias_
    np.testing.assert_array_equal(found["warm"], m[:, 3] > 0)
    assert is_classifier(fit) and not hasattr(fit, "predict_proba")
    scores = [np.mean(found[name] == table[name]) for name in ("kind", "warm")]
    r2 = 1 - np.sum((found["x"] - table["x"]) ** 2) / np.sum((table["x"] - table["x"].mean()) ** 2)
    np.testing.assert_allclose(fit.score(X, table), np.mean([*scores, r2]))
    table.loc[::3, "x"], table.loc[::4, "kind"] = np.nan, None
    assert np.all(np.diff(BSML(init="random", **SHORT).fit(X, table).lower_bound_) >= 0)


@pytest.mark.parametrize("prior", ["entry", "column", "row"])
def test_the_bound_of_numbers_never_falls(prior):
    X, Y, _ = problem(unknown=0.5)
    for options in ({}, {"accelerate": False, "refresh": 1}, {"init": "random"}, {"sigma_z": 1.0, "n_components": 1}):
        bounds = np.array(BSML(prior=prior, tol=0, max_iter=30, **options).fit(X, Y).lower_bound_)
        assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])) and bounds[-1] > bounds[0]


def test_sigma_follows_the_outputs():
    X, Y, _ = problem()
    labels = (Y > np.median(Y, axis=0)).astype(int)
    for y, sigma in ((Y, 0.1), (labels, 1.0), (np.column_stack([Y[:, 0], labels[:, 0]]), 0.1)):
        one, other = (BSML(tol=0, max_iter=5, sigma_z=value).fit(X, y) for value in ("auto", sigma))
        assert one.lower_bound_ == other.lower_bound_
        assert one.lower_bound_ != BSML(tol=0, max_iter=5, sigma_z=0.5).fit(X, y).lower_bound_


def test_predictions_are_in_units_types_and_names_of_y():
    X, Y, _ = problem()
    frame = pd.DataFrame(Y.astype(np.float32), columns=["Cd", "Co", "Cu"])
    rows = pd.DataFrame(X, columns=list("abcdefgh"), index=np.arange(N) + 7)
    fit = BSML(**SHORT).fit(rows, frame)
    found = fit.predict(rows[:5])
    assert list(found.columns) == ["Cd", "Co", "Cu"] and set(found.dtypes) == {np.dtype("float32")}
    assert found.index.tolist() == list(range(7, 12))
    units = (X[:5] @ fit.components_.T @ fit.weights_ + fit.bias_) * Y.std(axis=0) + Y.mean(axis=0)
    np.testing.assert_allclose(found, np.clip(units, Y.min(axis=0), Y.max(axis=0)), rtol=1e-4)
    for y in (Y[:, 0], Y[:, [0]]):
        assert BSML(**SHORT).fit(X, y).predict(X).shape == y.shape
    far, free = (BSML(extrapolate=free, **SHORT).fit(X, Y).predict(100 * X) for free in (False, True))
    np.testing.assert_array_equal(far, np.clip(free, Y.min(axis=0), Y.max(axis=0)))
    assert np.any(far != free)
    assert BSML(**SHORT).fit(X, Y).explain(0).labels[0][0] in "012"


def test_it_predicts_about_as_well_as_ridge_regression():
    X, Y, _ = problem()
    assert BSML(tol=0, max_iter=60).fit(X, Y).score(X, Y) > OPLS().fit(X, Y).score(X, Y) - 0.01


def test_units_and_constant_columns_do_not_matter():
    X, Y, _ = problem(unknown=0.2)
    one = BSML(tol=0, max_iter=20).fit(X, Y)
    other = BSML(tol=0, max_iter=20).fit(X, Y * [4.0, 0.5, 8.0] + [1.0, -3.0, 0.0])
    np.testing.assert_allclose(other.components_, one.components_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.predict(X), one.predict(X) * [4.0, 0.5, 8.0] + [1.0, -3.0, 0.0], rtol=1e-7)
    with pytest.warns(UserWarning, match="y column 1: constant"):
        wide = BSML(tol=0, max_iter=20).fit(X, np.insert(Y, 1, 7.0, axis=1))
    np.testing.assert_allclose(wide.components_, one.components_, rtol=1e-9, atol=1e-12)
    assert wide.weights_.shape[1] == 3 and wide.label_loadings_.shape[1] == 4
    np.testing.assert_allclose(wide.predict(X)[:, [0, 2, 3]], one.predict(X), rtol=1e-9)
    np.testing.assert_array_equal(wide.predict(X)[:, 1], 7.0)


def test_unknown_cells_are_predicted_from_what_is_known():
    X, Y, _ = problem(200, unknown=0.3)
    truth = problem(200)[1]
    hidden = np.isnan(Y)
    found = BSML(tol=0, max_iter=40).fit(X, Y).predict(X)
    left = np.sum((found - truth) ** 2 * hidden, axis=0) / np.sum((truth - np.nanmean(Y, axis=0)) ** 2 * hidden, axis=0)
    assert np.all(left < 0.35)
    Y[:4] = np.nan
    with pytest.warns(UserWarning, match="4 of 200 rows have no known output and are left out of fit.$"):
        fit = BSML(tol=0, max_iter=9).fit(X, Y)
    np.testing.assert_allclose(fit.components_, BSML(tol=0, max_iter=9).fit(X[4:], Y[4:]).components_, atol=1e-10)


@pytest.mark.parametrize("labels", [False, True])
def test_precisions_of_rows_select_features(labels):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    F = X[:, :3] @ rng.standard_normal((3, 2)) @ rng.standard_normal((2, 4)) + 0.3 * rng.standard_normal((300, 4))
    fit = BSML(n_components=2, prior="row", tol=0, max_iter=150).fit(X, (F > 0).astype(int) if labels else F)
    np.testing.assert_array_equal(np.flatnonzero(fit.active_features_), [0, 1, 2])
    assert fit.precision_projection_.shape == (1, 12)
    assert BSML(n_components=2, **SHORT).fit(X, F).active_features_.all()
    assert fit.transform(X[:3], return_std=True)[1].shape == (3, 2)


def test_kinds_and_what_goes_with_them(tmp_path):
    X, Y, _ = problem()
    model = BSML(**SHORT)
    assert is_classifier(model) and hasattr(model, "predict_proba") and is_regressor(BSML(target_type="real"))
    assert is_regressor(model.fit(X, Y)) and not is_classifier(model) and not hasattr(model, "classes_")
    for name in ("predict_proba", "decision_function"):
        with pytest.raises(AttributeError, match=name):
            getattr(model, name)
    times = np.arange(N) % 3
    repeated = model.score(X[np.repeat(np.arange(N), times)], Y[np.repeat(np.arange(N), times)])
    assert model.score(X, Y, times) == pytest.approx(repeated, rel=1e-12)
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    labels = strategies.labels_multi(N, 3, 0)
    assert is_classifier(model.fit(X, labels)) and model.predict_proba(X).shape == (N, 3)
    assert model.score(X, labels) <= 1 and model.predict(X).shape == (N, 3)
    with pytest.raises(ValueError, match="BSSML takes labels, y holds 3 numbers"):
        BSSML().fit(X, Y)
