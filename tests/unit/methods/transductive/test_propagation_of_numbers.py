"""Propagation of numbers: affine in y, inside the known range, the mean where no known row leads, forms and kinds."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor

from proxembed import DEFC, MLGFHF, MLGRF, MLLGC, SMSE, SSDRMC, load, save
from proxembed.classify import RankSVM

RNG = np.random.default_rng(2)
N = 70
X = RNG.normal(size=(N, 3))
TRUE = np.column_stack([X[:, 0], -2 * X[:, 0] + X[:, 1], X[:, 2] ** 2]) * [1.0, 100.0, 0.01] + [5.0, -1e3, 0.0]
KNOWN = np.arange(N) % 2 > 0
Y = np.where(KNOWN[:, None], TRUE, np.nan)
NEW = RNG.normal(size=(9, 3))
METHODS = [MLGFHF(), SMSE(), SMSE(form="soft"), MLGRF(), MLLGC(), MLGRF(label_smoothness=0.5)]
every = pytest.mark.parametrize("estimator", METHODS, ids=repr)
PATH = {"graph": "closeness", "eps": 1.0, "weights": "constant"}


@every
def test_results_are_affine_in_y(estimator):
    """Also with negative factors: columns of negative correlation are drawn to opposite scores."""
    slope, shift = np.array([-4.0, 0.5, 1e3]), np.array([3.0, -1e3, 7.0])
    one = clone(estimator).set_params(extrapolate=True).fit(X, Y)
    other = clone(one).fit(X, Y * slope + shift)
    for a, b in ((one.transduction_, other.transduction_), (one.predict(NEW), other.predict(NEW))):
        np.testing.assert_allclose((b - shift) / slope / TRUE.std(axis=0), a / TRUE.std(axis=0), rtol=0, atol=2e-11)
    np.testing.assert_allclose(other.transform(NEW), one.transform(NEW) * np.sign(slope), rtol=0, atol=1e-11)


@pytest.mark.parametrize("estimator", [MLGFHF(), SMSE(label_smoothness=0.0)], ids=repr)
def test_harmonic_numbers_are_weighted_means_within_the_known_range(estimator):
    fitted = clone(estimator).set_params(extrapolate=True).fit(X, Y)
    W = fitted.affinity_.toarray()
    L, hidden = np.diag(W.sum(axis=1)) - W, ~KNOWN
    expected = np.linalg.solve(L[np.ix_(hidden, hidden)], W[np.ix_(hidden, KNOWN)] @ TRUE[KNOWN])
    found = fitted.transduction_
    np.testing.assert_allclose(found[hidden], expected, rtol=1e-11)
    np.testing.assert_allclose(found[KNOWN], TRUE[KNOWN], rtol=1e-12)
    low, high = TRUE[KNOWN].min(axis=0), TRUE[KNOWN].max(axis=0)
    slack = 1e-12 * (high - low)
    for predicted in (found, fitted.predict(NEW)):
        assert np.all(predicted >= low - slack) and np.all(predicted <= high + slack)
    np.testing.assert_allclose(fitted.predict(X), found, rtol=1e-12)


@every
def test_rows_that_no_known_row_leads_to_have_the_mean(estimator):
    line = np.concatenate([np.arange(5.0), [40.0, 41.0]])[:, None]
    y = np.array([1.5, np.nan, np.nan, np.nan, 9.5, np.nan, np.nan])
    with pytest.warns(UserWarning, match="2 rows lie in 1 components .* predictions are the mean of the labelled"):
        fitted = clone(estimator).set_params(**PATH).fit(line, y)
    np.testing.assert_allclose(fitted.transduction_[5:], 5.5, rtol=1e-12)
    if fitted._clamps():
        np.testing.assert_allclose(fitted.transduction_[:5], [1.5, 3.5, 5.5, 7.5, 9.5], rtol=1e-11)


def test_only_fully_known_rows_are_labelled():
    partly = Y.copy()
    partly[1, 0] = np.nan
    with pytest.warns(UserWarning, match="partly known labels of a row: 1 of 70"):
        fitted = MLGFHF().fit(X, partly)
    whole = Y.copy()
    whole[1] = np.nan
    np.testing.assert_allclose(fitted.transduction_, MLGFHF().fit(X, whole).transduction_, rtol=1e-11)
    np.testing.assert_allclose(
        MLGFHF(scale_targets="none").fit(X, whole).transduction_, fitted.transduction_, rtol=1e-10
    )
    apart = np.column_stack([np.where(KNOWN, np.nan, TRUE[:, 0]), Y[:, 1:]])
    with pytest.raises(ValueError, match="every row of y holds an unknown label"):
        MLGFHF().fit(X, apart)


def test_forms_and_kinds(tmp_path):
    table = pd.DataFrame(Y, columns=["a", "b", "c"]).astype("float32")
    rows = pd.DataFrame(X, index=np.arange(N) + 3, columns=list("xyz"))
    fitted = MLLGC().fit(rows, table)
    found = fitted.predict(rows[:4])
    assert list(found.columns) == ["a", "b", "c"] and found.index.tolist() == [3, 4, 5, 6]
    assert set(found.dtypes) == {np.dtype("float32")} and isinstance(fitted.transduction_, pd.DataFrame)
    assert is_regressor(fitted) and is_classifier(MLLGC()) and is_regressor(MLLGC(target_type="real"))
    assert not any(hasattr(fitted, name) for name in ("predict_proba", "decision_function", "shares_", "classes_"))
    assert [output.n_unknown for output in fitted.targets_] == [35] * 3
    assert 0 < fitted.score(rows[~KNOWN], TRUE[~KNOWN]) < 1
    again = load(save(MLGFHF().fit(X, Y), tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict(NEW), MLGFHF().fit(X, Y).predict(NEW))
    kind = np.where(X[:, 0] > 0, "high", "low")
    mixed = pd.DataFrame({"kind": np.where(KNOWN, kind, None), "x": Y[:, 0], "one": 1.0})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = MLGFHF().fit(X, mixed)
    assert ["constant" in str(each.message) for each in told] == [True]
    assert np.mean(model.transduction_["kind"][~KNOWN] == kind[~KNOWN]) > 0.7
    assert model.transform(NEW).shape == (9, 3) and set(model.predict(NEW)["one"]) == {1.0}


def test_methods_of_labels_say_what_takes_numbers():
    for method in (SSDRMC(), RankSVM(), DEFC()):
        for y in (TRUE, TRUE[:, 0]):
            with pytest.raises(ValueError, match="OPLS"):
                method.fit(X, y)
