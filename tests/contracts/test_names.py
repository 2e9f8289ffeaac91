"""Names of features and masks, on every public estimator: names are kept, compared and never guessed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from contracts.estimators import READINGS, D, X, Y, build, every, readings, several, several_multi, y_for
from designs import each_value
from proxembed import DEFC, OPLS, PCA, SSDR

NAMES = [f"feature {letter}" for letter in "hgfedcbai"]
TABLE = pd.DataFrame(X, columns=NAMES)
ORDER = "The feature names should match those that were passed during fit"
# what is asked of the columns -> (columns, message)
OTHER_NAMES = {
    "another order": (NAMES[::-1], ORDER + ".*in the same order"),
    "another name": ([*NAMES[:-1], "strange"], ORDER + ".*strange.*feature i"),
}


@every
def test_names_of_features_are_kept_and_compared(cls):
    fitted = build(cls).fit(TABLE, y_for(cls))
    assert fitted.feature_names_in_.tolist() == NAMES and fitted.n_features_in_ == D
    assert {"fit", "feature_names_in_"} <= set(dir(fitted))  # which reads every property
    told = readings(fitted, TABLE)
    for columns, message in OTHER_NAMES.values():
        for method in told:
            with pytest.raises(ValueError, match=f"(?s){message}"):
                getattr(fitted, method)(TABLE.set_axis(columns, axis=1)[columns])
    for method, values in readings(build(cls).fit(X, y_for(cls)), X).items():
        np.testing.assert_allclose(told[method], values, rtol=0, atol=1e-9 * np.abs(values).max())  # stored by columns


@several
def test_a_second_fit_without_names_has_none(cls):
    fitted = build(cls).fit(TABLE, y_for(cls)).fit(X, y_for(cls))
    assert not hasattr(fitted, "feature_names_in_")
    assert readings(fitted, X).keys() <= set(READINGS)


def test_names_of_validation_rows_are_compared():
    with pytest.raises(ValueError, match=ORDER):
        DEFC(max_evals=8).fit(TABLE, Y, TABLE[NAMES[::-1]], Y)


@each_value
@several
@pytest.mark.parametrize("names", [["a"] * 2 + list("bcdefgh"), [0, 0, *range(1, 8)]], ids=["text", "numbers"])
def test_columns_of_one_name_are_refused(cls, names):
    table = TABLE.set_axis(names, axis=1)
    with pytest.raises(ValueError, match=rf"X has several columns named {names[0]!r}; .*X.to_numpy\(\)"):
        build(cls).fit(table, y_for(cls))
    fitted = build(cls).fit(X, y_for(cls))
    for method in readings(fitted, X):
        with pytest.raises(ValueError, match="several columns named"):
            getattr(fitted, method)(table)


def test_attributes_of_a_pair_that_takes_weights_are_listed():
    assert {"fit", "why_unweighted"} <= set(dir(SSDR(OPLS(), PCA())))


@several_multi
def test_labels_of_one_name_are_refused(cls):
    with pytest.raises(ValueError, match=r"y has several columns named 'a'; .*y.to_numpy\(\)"):
        build(cls).fit(X, pd.DataFrame(Y, columns=["a", "b", "c", "a"]))


def masked_rows() -> dict:
    hole = np.zeros(X.shape, dtype=bool)
    hole[3, 2] = hole[5, 1] = True
    table = np.ma.array(X, mask=hole)
    entries = sp.csr_array(X)
    entries.data = np.ma.array(entries.data, mask=hole.ravel())
    return {"array": table, "list of rows": list(table), "sparse": entries}


@each_value
@every
@pytest.mark.parametrize("form", masked_rows())
def test_masked_features_are_refused(cls, form):
    rows = masked_rows()[form]
    with pytest.raises(ValueError, match=r"X has 2 masked entries.*Fill them in"):
        build(cls).fit(rows, y_for(cls))
    fitted = build(cls).fit(X, y_for(cls))
    for method in readings(fitted, X):
        with pytest.raises(ValueError, match="X has 2 masked entries"):
            getattr(fitted, method)(rows)


@several
def test_a_masked_array_without_masked_entries_is_an_array(cls):
    for method, values in readings(build(cls).fit(np.ma.array(X), y_for(cls)), np.ma.array(X)).items():
        np.testing.assert_array_equal(values, readings(build(cls).fit(X, y_for(cls)), X)[method])
