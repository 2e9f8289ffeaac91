"""Bad and awkward X, on every public estimator: a clear error, or the stated rule."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import proxembed
import strategies
from contracts.estimators import (
    CENTRED,
    EVERY,
    LABELLED,
    SINGLE,
    D,
    N,
    X,
    build,
    dense,
    every,
    gram_distance,
    output,
    several,
    several_supervised,
    spectral,
    y_for,
)
from designs import each_value
from proxembed import (
    LSI,
    MLSI,
    MORP,
    OLPPR,
    ONPPR,
    OPLS,
    PCA,
    SLVM,
    Kernelized,
    RelationFeatures,
    Scaling,
    TableEncoder,
)
from proxembed.algebra.arrays.matrix import guard_dense


def test_there_are_estimators():
    assert {"PCA", "FDA", "MESD", "Kernelized", "Scaling", "MultiOutputRidge", "LabelScores"} <= {
        c.__name__ for c in EVERY
    }
    assert len(SINGLE) >= 2 and len(LABELLED) >= 15


@each_value
@every
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_nonfinite_x(cls, value, form):
    bad = X.copy()
    bad[3, 2] = value
    message = "Input X contains NaN.*TableEncoder" if np.isnan(value) else "infinity"
    if np.isnan(value) and cls is TableEncoder and form is np.asarray:
        assert "x2 (empty)" in cls().fit(bad).get_feature_names_out()
    else:
        with pytest.raises(ValueError, match=f"(?s){message}"):
            build(cls).fit(form(bad), y_for(cls))
    fitted = build(cls).fit(X, y_for(cls))
    with pytest.raises(ValueError, match=f"(?s){message}"):
        output(fitted, form(bad))


NO_MATRIX = {
    "complex": (X + 1j, ValueError, "[Cc]omplex"),
    "dates": (pd.DataFrame({"a": pd.date_range("2020-01-01", periods=N), "b": X[:, 0]}), ValueError, "dates as days"),
    "dates alone": (pd.DataFrame({"a": pd.date_range("2020-01-01", periods=N)}), ValueError, "dates as days"),
    "dates of a zone": (pd.DataFrame({"a": pd.date_range("2020", periods=N, tz="UTC")}), ValueError, "dates as days"),
    "an array of dates": (np.arange(N)[:, None].astype("datetime64[D]"), ValueError, "dates as days"),
    "durations in a list": ([[np.timedelta64(i, "s"), 1.0] for i in range(N)], ValueError, "dates as days"),
    "an integer of 400 digits": (np.array([[10**400, 1]] * N, dtype=object), ValueError, "fit float64"),
    "text": (np.full((N, D), "a"), ValueError, r"could not convert string to float.*TableEncoder\(\)|strings|numeric"),
    "one axis": (X[:, 0], ValueError, "2D array|Reshape"),
    "three axes": (np.zeros((N, 2, 2)), ValueError, "dim"),
    "no rows": (np.zeros((0, D)), ValueError, "0 sample|minimum of"),
    "no features": (np.zeros((N, 0)), ValueError, r"0 feature"),
    "one row": (X[:1], ValueError, "1 sample|minimum of 2|at least 2"),
    "nothing": (None, ValueError, "None|array"),
    "sparse complex": (sp.csr_array(X + 1j), ValueError, "[Cc]omplex"),
}


@each_value
@several
@pytest.mark.parametrize("name", NO_MATRIX)
def test_what_is_no_matrix_of_numbers(cls, name):
    if name in ("dates", "dates alone", "dates of a zone") and cls is TableEncoder:
        assert "a: days" in cls().fit(NO_MATRIX[name][0]).get_feature_names_out()
        return
    bad, error, message = NO_MATRIX[name]
    y = y_for(cls)
    if y is not None and name in ("no rows", "one row"):
        y = y[: len(bad)]
    with pytest.raises(error, match=message):
        build(cls).fit(bad, y)


@several
def test_new_rows_of_dates_are_refused(cls):
    fitted = build(cls).fit(X[:, :1], y_for(cls))
    with pytest.raises(ValueError, match="dates as days"):
        output(fitted, np.arange(3)[:, None].astype("datetime64[D]"))


@several
def test_sparse_x_far_from_the_origin_is_refused(cls):
    """Centring by sums would leave rounding alone; the dense form is exact, and a column of zeros and ones is none."""
    far = X + 1e9
    with pytest.raises(ValueError, match=r"X is sparse.*Pass X.toarray\(\)"):
        build(cls).fit(sp.csr_array(far), y_for(cls))
    build(cls).fit(sp.csr_array(np.where(far > 1e9, 1e9, 0.0)), y_for(cls))


@each_value
@several_supervised
@pytest.mark.parametrize("cut", [N - 1, 1, 0])
def test_x_and_y_of_different_length(cls, cut):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples|no label|0 sample|unknown"):
        build(cls).fit(X, y_for(cls)[:cut])


@each_value
@several
@pytest.mark.parametrize("width", [D - 1, D + 1])
def test_wrong_number_of_features_at_transform(cls, width):
    fitted = build(cls).fit(X, y_for(cls))
    with pytest.raises(ValueError, match=rf"X has {width} features, but {cls.__name__} is expecting {D} features"):
        output(fitted, np.ones((3, width)))


@several
def test_unfitted(cls):
    with pytest.raises(NotFittedError):
        output(build(cls), X)


@every
def test_a_row_of_zeros_is_a_row(cls):
    table = np.abs(X)
    table[4] = 0.0
    for rows in (table, sp.csr_array(table)):
        fitted = build(cls).fit(rows, y_for(cls))
        assert np.all(np.isfinite(dense(output(fitted, rows))))
        assert np.all(np.isfinite(dense(output(fitted, rows[[4]]))))


@several
def test_entries_in_parts_are_their_sum(cls):
    """Compressed rows may hold an entry several times: it is the sum, whatever is squared or compared later."""
    whole = sp.csr_array(X)
    parts = sp.csr_array(
        (np.repeat(whole.data, 2) * np.tile([0.25, 0.75], whole.nnz), np.repeat(whole.indices, 2), 2 * whole.indptr),
        shape=whole.shape,
    )
    before = parts.data.copy()
    Z, again = (dense(output(build(cls).fit(rows, y_for(cls)), rows)) for rows in (whole, parts))
    np.testing.assert_allclose(again, Z, rtol=0, atol=1e-6 * np.abs(Z).max())
    np.testing.assert_array_equal(parts.data, before)


@several
def test_equal_rows_get_equal_places(cls):
    rows = X.copy()
    rows[20:30] = rows[:10]
    fitted = build(cls).fit(rows, y_for(cls))
    Z = dense(output(fitted, rows))
    assert np.all(np.isfinite(Z))
    np.testing.assert_allclose(Z[20:30], Z[:10], rtol=0, atol=1e-12 * np.abs(Z).max())


@spectral
def test_constant_features_change_nothing(cls):
    wider = np.insert(X, [2, 5], [[3.0, -1.0]], axis=1)
    if cls in (LSI, MLSI, SLVM, OLPPR, ONPPR):  # not centred, or weights by lengths: only zeros are nothing to them
        wider = np.insert(X, [2, 5], 0.0, axis=1)
    model = build(cls).fit(X, y_for(cls))
    same = build(cls)
    if "ridge_scale" in same.get_params():  # the relative unit counts all features given to fit
        same.set_params(ridge=model.ridge_, ridge_scale="absolute")
    assert gram_distance(same.fit(wider, y_for(cls)).transform(wider), model.transform(X)) < 1e-8


@each_value
@pytest.mark.parametrize("cls", CENTRED, ids=lambda c: c.__name__)
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1])
def test_features_that_are_all_constant(cls, value):
    with pytest.raises(ValueError, match="constant"):
        build(cls).fit(np.full((N, D), value), y_for(cls))


@pytest.mark.parametrize("cls", [LSI, MLSI, proxembed.SLVM, proxembed.HSL], ids=lambda c: c.__name__)
def test_no_feature_but_zeros(cls):
    options = {"center": False} if cls is proxembed.HSL else {}
    with pytest.raises(ValueError, match="constant|zero"):
        cls(**options).fit(np.zeros((N, D)), y_for(cls))


@each_value
@spectral
@pytest.mark.parametrize("factor", [1e-30, 1e-9, 1e9])
def test_the_unit_of_x_does_not_break_a_method(cls, factor):
    """Scaling all of X changes no direction where ridges are relative; absolute penalties may, but nothing breaks."""
    Z = build(cls).fit_transform(X * factor, y_for(cls))
    assert np.all(np.isfinite(Z)) and np.linalg.norm(Z) > 0


DENSIFYING = {
    "MORP": MORP(),
    "MLSI": MLSI(),
    "Kernelized": Kernelized(OPLS(ridge=0.1), tau=5.0),
    "Kernelized with a linear kernel": Kernelized(PCA(), kernel="linear"),
    "RelationFeatures": RelationFeatures("cosine"),
    "PCA": PCA(),
    "OPLS": OPLS(ridge=0.1, solver="primal"),
}


@pytest.mark.parametrize("estimator", DENSIFYING.values(), ids=DENSIFYING)
def test_a_hidden_dense_array_above_the_limit_is_refused_with_its_size(estimator, monkeypatch):
    wide = strategies.features_text(60, 300, 1)
    y = strategies.labels_multi(60, 4, 1)
    monkeypatch.setattr(guard_dense, "__defaults__", (4096, 8))
    with pytest.raises(ValueError, match=r"dense [\d,]+ x [\d,]+ array of .* GiB, above max_dense_bytes"):
        clone(estimator).fit(wide, y).transform(wide)


def test_centring_a_large_sparse_matrix_is_refused_with_its_size():
    huge = sp.csr_array((np.ones(3), (np.arange(3), np.arange(3))), shape=(40_000, 50_000))
    with pytest.raises(ValueError, match=r"dense 40,000 x 50,000 array of 14.9 GiB, above max_dense_bytes"):
        Scaling("center").fit(huge).transform(huge)
