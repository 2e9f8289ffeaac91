"""Rivals that predict numbers: each is that of scikit-learn with the same settings; training rows are unseen."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LassoCV, LinearRegression, MultiTaskLassoCV, Ridge
from sklearn.pipeline import make_pipeline

from proxembed.evaluate.costs import Shape
from proxembed.evaluate.rivals.numbers import (
    BoostedNumbers,
    ForestNumbers,
    LassoNumbers,
    PCRNumbers,
    PLSNumbers,
    RidgeNumbers,
    fold_of,
)
from proxembed.evaluate.rivals.rival import DataFacts, rivals
from proxembed.targets.reading import read_targets

RNG = np.random.default_rng(4)
N, M = 120, 60
ALL = RNG.normal(size=(N + M, 4)) @ RNG.normal(size=(4, 9)) + 0.3 * RNG.normal(size=(N + M, 9))
TRUTH = ALL @ RNG.normal(size=(9, 3)) * [1.0, 50.0, 0.01] + RNG.normal(size=(N + M, 3)) * [2.0, 90.0, 0.02] + [0, 7, 9]
X, NEW, Y = ALL[:N], ALL[N:], TRUTH[:N]
F = (Y - Y.mean(axis=0)) / Y.std(axis=0)
EVERY = (RidgeNumbers, PLSNumbers, PCRNumbers, LassoNumbers, ForestNumbers, BoostedNumbers)


def small(cls, **more):
    return cls(**{ForestNumbers: {"n_estimators": 30}, BoostedNumbers: {"max_iter": 15}}.get(cls, {}) | more)


def q2(found, truth=TRUTH[N:]):
    return 1 - ((found - truth) ** 2).sum(axis=0) / ((truth - Y.mean(axis=0)) ** 2).sum(axis=0)


@pytest.mark.parametrize("cls", EVERY)
def test_they_predict_numbers_in_units_and_as_factors(cls):
    model = small(cls).fit(X, Y)
    predicted, factor = model.predict(NEW), model.predict_factor(NEW)
    np.testing.assert_allclose(
        predicted, np.clip(factor * Y.std(axis=0) + Y.mean(axis=0), Y.min(axis=0), Y.max(axis=0))
    )
    assert q2(predicted).min() > 0.2
    given = small(cls).fit(X, read_targets(Y))
    np.testing.assert_array_equal(given.predict_factor(NEW), factor)
    if cls is not BoostedNumbers:
        sparse = small(cls).fit(sp.csr_array(X), Y)
        tolerance = 0.3 if cls is ForestNumbers else 0.05
        np.testing.assert_allclose(sparse.predict_factor(sp.csr_array(NEW)), factor, atol=tolerance)
    own = getattr(model, "own_factor_", None)
    if own is not None:
        assert np.abs(q2(own * Y.std(axis=0) + Y.mean(axis=0), Y) - q2(predicted)).max() < 0.3


@pytest.mark.parametrize("cls", [PLSNumbers, PCRNumbers])
@pytest.mark.parametrize("columns", [[0], [0, 1, 2]])
def test_the_number_of_components_has_the_least_squared_error_on_the_folds(cls, columns):
    y, model = F[:, columns], cls(most_components=7).fit(X, Y[:, columns])
    folds = fold_of(N, 5, 0)

    def fitted(k, rows):
        if cls is PLSNumbers:
            return PLSRegression(k, scale=False).fit(X[rows], y[rows])
        return make_pipeline(PCA(k), LinearRegression()).fit(X[rows], y[rows])

    own = np.empty((7, *y.shape))
    for k in range(1, 8):
        for fold in range(5):
            found = fitted(k, folds != fold).predict(X[folds == fold])
            own[k - 1][folds == fold] = found.reshape(-1, len(columns))
    errors = ((own - y) ** 2).sum(axis=(1, 2))
    assert model.n_components_ == np.argmin(errors) + 1 and np.ptp(errors) > 0.02 * errors.min()
    np.testing.assert_allclose(model.own_factor_, own[model.n_components_ - 1], atol=1e-8)
    expected = fitted(model.n_components_, slice(None)).predict(NEW).reshape(-1, len(columns))
    np.testing.assert_allclose(model.predict_factor(NEW), expected, atol=1e-8)


def test_the_others_are_those_of_scikit_learn():
    ridge = RidgeNumbers().fit(X, Y)
    np.testing.assert_allclose(ridge.predict_factor(NEW), Ridge(ridge.penalty_).fit(X, F).predict(NEW), atol=1e-8)
    folds = fold_of(N, 5, 0)
    own = Ridge(ridge.penalty_).fit(X[folds != 2], F[folds != 2]).predict(X[folds == 2])
    np.testing.assert_allclose(ridge.own_factor_[folds == 2], own, atol=1e-8)

    folds = fold_of(N, 3, 0)
    pairs = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(3)]
    number = "n_alphas" if "n_alphas" in LassoCV().get_params() else "alphas"  # by the version of scikit-learn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = MultiTaskLassoCV(**{number: 20}, cv=pairs).fit(X, F)
        alone = LassoCV(**{number: 20}, cv=pairs).fit(X, F[:, 1])
    lasso = LassoNumbers().fit(X, Y)
    assert lasso.alpha_ == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(lasso.predict_factor(NEW), theirs.predict(NEW), atol=1e-6)
    np.testing.assert_allclose(LassoNumbers().fit(X, Y[:, 1]).predict_factor(NEW)[:, 0], alone.predict(NEW), atol=1e-6)

    boosted = BoostedNumbers(max_iter=10).fit(sp.csr_array(X), Y[:, 1]).predict_factor(sp.csr_array(NEW))
    model = HistGradientBoostingRegressor(max_iter=10, random_state=0).fit(X, F[:, 1])
    np.testing.assert_allclose(boosted[:, 0], model.predict(NEW), atol=1e-6)


def test_the_forest_is_that_of_scikit_learn():
    forest = ForestNumbers(n_estimators=80).fit(X, Y)
    theirs = RandomForestRegressor(80, min_samples_leaf=2, max_features="sqrt", oob_score=True, random_state=1).fit(
        X, F
    )
    assert np.abs(q2(forest.predict(NEW)) - q2(theirs.predict(NEW) * Y.std(axis=0) + Y.mean(axis=0))).max() < 0.05
    unseen, known = ((1 - ((S - F) ** 2).mean(axis=0)) for S in (forest.own_factor_, theirs.oob_prediction_))
    assert np.abs(unseen - known).max() < 0.05
    assert np.mean((forest.predict_factor(X) - F) ** 2) < 0.5 * np.mean((forest.own_factor_ - F) ** 2)
    few = ForestNumbers(n_estimators=10, max_rows=50).fit(X, Y)
    assert few.own_factor_.shape == F.shape and few.votes_.shape[0] < forest.votes_.shape[0] / 10


@pytest.mark.parametrize("cls", EVERY)
def test_unknown_cells_classes_and_constant_columns(cls):
    table = pd.DataFrame({"a": Y[:, 0], "kind": np.where(Y[:, 1] > 7, "high", "low"), "same": 2.5})
    table.loc[3:9, "a"] = np.nan
    table.loc[:4, ["kind", "same"]] = None
    targets = read_targets(table)
    with pytest.warns(UserWarning, match="2 of 120 rows have no known output"):
        model = small(cls).fit(X, targets)
    assert model.predict_factor(NEW).shape == (M, 4) and targets.c == 4
    predicted = model.predict(NEW)
    assert set(predicted["kind"]) == {"high", "low"} and (predicted["same"] == 2.5).all()
    assert np.mean((predicted["kind"] == "high") == (TRUTH[N:, 1] > 7)) > 0.65
    assert np.corrcoef(predicted["a"], TRUTH[N:, 0])[0, 1] > 0.5
    if (own := getattr(model, "own_factor_", None)) is not None:
        assert own.shape == (118, 4)


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match="PLSNumbers takes numbers, and y holds labels"):
        PLSNumbers().fit(X, read_targets(Y > 7))
    with pytest.raises(ValueError, match="1 known cell; two are needed"):
        RidgeNumbers().fit(X[:2], [7.5, np.nan])
    one_known = read_targets(np.where(np.arange(4)[:, None] == 1, np.nan, Y[:4])).take([0, 1])
    with pytest.warns(UserWarning, match="1 of 2 rows"), pytest.raises(ValueError, match="got 1 sample"):
        RidgeNumbers().fit(X[:2], one_known)


def test_a_forecast_grows_with_the_data():
    for cls in (rival for rival in rivals() if "numbers" in rival.takes and rival.predicts):
        sizes = [(100, 5, 3), (1000, 5, 3), (100, 50, 3), (100, 5, 30)]
        seconds = [cls.forecast(DataFacts(Shape(n, d, float(d), c), numbers=True)) for n, d, c in sizes]
        assert seconds[0] > 0 and min(seconds[1:]) >= seconds[0] and max(seconds[1:]) > seconds[0]


def test_rows_of_a_group_do_not_predict_each_other():
    """Equal pairs with noise for numbers: a model that had seen the twin of a row would know its number."""
    rng = np.random.default_rng(1)
    twins, noise = np.repeat(rng.normal(size=(60, 6)), 2, axis=0), np.repeat(rng.normal(size=(60, 2)), 2, axis=0)
    twins = twins + 1e-3 * rng.normal(size=twins.shape)
    folds = np.repeat(rng.permutation(60) % 2, 2)
    for cls in (RidgeNumbers, PLSNumbers, ForestNumbers):
        model = small(cls).fit(twins, noise, folds)
        F = read_targets(noise).Y.toarray()
        assert np.mean((model.own_factor_ - F) ** 2) > 0.95
    alone = small(ForestNumbers).fit(twins, noise)
    assert np.mean((alone.own_factor_ - F) ** 2) < 0.9
