"""Models of numbers: the read-out of the method restricted to its components."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.linear_model import LinearRegression, Ridge

from proxembed import CCA, FDA, MDDM, OPLS, PCA, PLS, SSDR, ForestLeaves, Kernelized, ReadoutAxes, Scaled, Views, fit_on
from proxembed.data import Dataset

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(70, 5))
Y = X @ DRAW.normal(size=(5, 3)) * [1.0, 50.0, 0.1] + DRAW.normal(size=(70, 3)) * [0.5, 20.0, 0.05]
DATA = Dataset.from_targets(X, pd.DataFrame(Y, columns=list("uvw")))
NEW = DRAW.normal(size=(20, 5))


def values(model, rows=NEW):
    return np.asarray(model.set_params(readout__extrapolate=True).predict(rows))


@pytest.mark.parametrize("method", [OPLS(ridge=3.0, ridge_scale="absolute"), CCA(), PLS(), PLS(deflation="simpls")])
def test_it_is_the_prediction_of_a_method_that_predicts(method):
    model = fit_on(method, DATA, scaling="none")
    own = method.set_params(extrapolate=True).fit(X, Y).predict(NEW)
    np.testing.assert_allclose(values(model), own, rtol=1e-8)
    assert is_regressor(model) and model.targets_[1].name == "v" and list(model.predict(NEW).columns) == ["u", "v", "w"]


def test_opls_with_all_components_is_ridge_regression():
    ridge = Ridge(alpha=3.0).fit(X, Y)
    model = fit_on(OPLS(ridge=3.0, ridge_scale="absolute"), DATA, scaling="none")
    np.testing.assert_allclose(values(model), ridge.predict(NEW), rtol=1e-8)
    assert model.score(X, DATA.y) == pytest.approx(ridge.score(X, Y), abs=0.01)


@pytest.mark.parametrize("method", [MDDM(n_components=2), PCA(n_components=2), SSDR(OPLS(), n_components=2)])
def test_without_a_ridge_it_is_least_squares_on_the_embedding(method):
    model = fit_on(method, DATA, scaling="none")
    Z, new = model.transform(X), model.transform(NEW)
    expected = LinearRegression().fit(Z, Y).predict(new)
    tolerance = 0.05 if isinstance(method, SSDR) else 1e-8  # whose ridge is small
    np.testing.assert_allclose(values(model), expected, rtol=tolerance, atol=tolerance * 10)


def test_of_a_linear_kernel_it_is_that_of_the_method_and_wrappers_keep_it():
    opls = OPLS(ridge=3.0, ridge_scale="absolute", n_components=2)
    expected = values(fit_on(opls, DATA, scaling="none"))
    for method in (Kernelized(opls, kernel="linear"), Scaled(opls, "none"), ReadoutAxes(opls)):
        np.testing.assert_allclose(values(fit_on(method, DATA, scaling="none")), expected, rtol=1e-6)
    few = Kernelized(opls, kernel="linear", n_prototypes=30, random_state=0)
    np.testing.assert_allclose(values(fit_on(few, DATA, scaling="none")), expected, rtol=1e-6)


def test_leaves_have_a_second_ridge_and_views_their_own():
    for method in (ForestLeaves(n_estimators=20), Views(OPLS(), n_estimators=20)):
        model = fit_on(method, DATA)
        assert model.score(X, DATA.y) > 0.8
        assert (model["embedding"].output_readout() is None) == isinstance(method, ForestLeaves)


def test_predictions_are_cut_and_columns_of_several_kinds_come_back():
    table = pd.DataFrame(Y, columns=list("uvw")).assign(g=np.where(X[:, 0] > 0, "hi", "lo"), flag=X[:, 1] > 0)
    table.loc[3, ["u", "g"]] = None
    model = fit_on(OPLS(), Dataset.from_targets(X, table))
    found = model.predict(pd.DataFrame(100 * NEW, index=range(5, 25)))
    assert found["u"].between(table["u"].min(), table["u"].max()).all() and found.index[0] == 5
    assert set(found["g"]) <= {"hi", "lo"} and found["flag"].dtype == bool
    assert [target.kind for target in model.targets_] == ["real", "real", "real", "classes", "labels"]
    assert not is_regressor(model) and model.targets_[0].n_unknown == 1 and model.score(X, table) > 0.7


def test_what_a_model_of_numbers_refuses():
    with pytest.raises(ValueError, match="FDA takes classes, y holds 3 numbers"):
        fit_on(FDA(), DATA)
    model = fit_on(OPLS(), DATA)
    with pytest.raises(ValueError, match="y holds labels, and the last step of this model reads out numbers"):
        model.fit(X, X > 0)
    assert list(fit_on(OPLS(), DATA, readout=False).named_steps) == ["scaling", "embedding"]
