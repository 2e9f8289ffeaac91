"""X near the ends of its float type, and malformed sparse X, on every public estimator: refused at the door with a
remedy that works, or the results of ordinary numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp

from contracts.estimators import D, N, X, build, dense, every, output, several, y_for
from designs import each_value
from proxembed import LSI
from proxembed.estimator.validation import refuse_extreme

SIZE = float(np.abs(X).max())
AMPLIFYING = {"Layout"}  # whose gradient steps turn the last bit of X in float32 into another map
SQUARED_TOGETHER = {"BSML", "BSSML", "VariationalProbit"}  # whose own error asks for the squares to sum below 1e280
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def ends(dtype) -> tuple[float, float]:
    """The least and the largest size that pass the door, for N x D entries."""
    limits = np.finfo(dtype)
    return float(np.sqrt(float(limits.tiny))), float(np.sqrt(float(limits.max) / (N * D)))


def of_size(size: float, dtype=np.float64) -> np.ndarray:
    return (X / SIZE * size).astype(dtype)


def fitted(cls, rows):
    return build(cls).fit(rows, y_for(cls))


def results(estimator, rows) -> np.ndarray:
    """What an estimator gives for the rows of fit and some new ones, over its largest value."""
    Z = [dense(output(estimator, part)) for part in (rows, rows[:7] * rows.dtype.type(0.9))]
    Z = np.concatenate([part.reshape(len(part), -1) for part in Z]).astype(np.float64)
    assert np.isfinite(Z).all() and Z.any()
    return Z / np.abs(Z).max()


@each_value
@several
@TYPES
@FORMS
@pytest.mark.parametrize("end", [0, 1], ids=["small", "large"])
def test_x_beyond_the_ends_is_refused_with_a_factor_that_brings_it_back(cls, dtype, form, end):
    bad = of_size(ends(dtype)[end] * (0.5, 2.0)[end], dtype)
    fault = ("its square underflows", "the sum of 40 x 9 such squares overflows")[end]
    with pytest.raises(ValueError, match=f"The largest value of X is .* in size, and {fault} float") as refusal:
        build(cls).fit(form(bad), y_for(cls))
    factor = float(re.search(r"Pass X \* (\S+)\.$", str(refusal.value))[1])
    refuse_extreme(form(bad * dtype(factor)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("of_end", [lambda f: f.smallest_subnormal, lambda f: f.max], ids=["smallest", "largest"])
def test_the_factor_is_a_number_of_the_type_of_x(dtype, of_end):
    bad = np.full((2, 2), of_end(np.finfo(dtype)), dtype=dtype)
    with pytest.raises(ValueError, match="Pass X") as refusal:
        refuse_extreme(bad)
    refuse_extreme(bad * dtype(float(str(refusal.value).split("Pass X * ")[1][:-1])))


@each_value
@every
@pytest.mark.parametrize(
    ("dtype", "form"), [(np.float32, np.asarray), (np.float64, sp.csr_array)], ids=["float32-dense", "float64-sparse"]
)
def test_x_inside_the_ends_has_the_results_of_ordinary_numbers(cls, dtype, form):
    """Beyond some size absolute constants are all that counts, or nothing: what float32 can hold is beyond it."""
    for far, near in zip((4 * ends(dtype)[0], ends(dtype)[1] / 4), (1e-18, 1e17), strict=True):
        if cls.__name__ in SQUARED_TOGETHER and far > 1e139:
            with pytest.raises(ValueError, match="The squares of X sum to .*, which is not below 1e.280; scale the"):
                fitted(cls, form(of_size(far)))
            continue
        rows, plain = form(of_size(far, dtype)), form(of_size(near))
        Z, expected = (results(fitted(cls, part), part) for part in (rows, plain))
        if cls.__name__ in AMPLIFYING and dtype is np.float32:
            continue
        gap = np.linalg.norm(Z @ Z.T - expected @ expected.T) / np.linalg.norm(expected @ expected.T)
        assert gap < (1e-8 if dtype is np.float64 else 1e-3)


@each_value
@several
@TYPES
def test_single_entries_may_be_as_small_as_they_come(cls, dtype):
    rows, zeros = X.astype(dtype), X.astype(dtype)
    rows[5, 3], rows[7, 1], zeros[5, 3], zeros[7, 1] = np.finfo(dtype).smallest_subnormal, 1e-44, 0.0, 0.0
    one, other = (results(fitted(cls, part), part) for part in (rows, zeros))
    np.testing.assert_allclose(one @ one.T, other @ other.T, rtol=0, atol=1e-5 * np.linalg.norm(other @ other.T))


@each_value
@pytest.mark.filterwarnings("ignore:.*new rows have no link to a row of training:UserWarning")
@every
@pytest.mark.parametrize(
    ("dtype", "size"), [(np.float32, 3e38), (np.float64, 1e160), (np.float64, 1e308)], ids=["float32", "1e160", "1e308"]
)
@FORMS
def test_new_rows_beyond_the_ends_give_numbers_or_a_sentence(cls, dtype, size, form):
    estimator = fitted(cls, X.astype(dtype))
    rows = form(np.vstack([X[:2].astype(dtype), of_size(size, dtype)[3:6]]))
    for name in ("transform", "decision_function", "predict_proba"):
        if not hasattr(estimator, name):
            continue
        try:
            Z = dense(getattr(estimator, name)(rows))
        except ValueError as refusal:
            assert re.search("overflow|not finite|beyond the range of float", str(refusal))
        else:
            assert np.isfinite(Z).all()


def faulty(kind: str):
    """Sparse rows with one index changed after they were made, which no constructor sees."""
    rows = sp.csr_array(X)
    if kind == "row":
        rows = sp.coo_array(X)
        rows.coords[0][3] = N
    elif kind == "csc":
        rows = sp.csc_array(X)
        rows.indices[3] = N
    elif kind == "pointer":
        rows.indptr[4] = rows.indptr[6]
    else:
        rows.indices[3] = {"beyond": D, "negative": -1}[kind]
    return rows


FAULTS = {
    "beyond": "malformed csr matrix: column 9 is not among its 9 columns",
    "negative": "malformed csr matrix: column -1 is not among its 9 columns",
    "pointer": "malformed csr matrix: indptr decreases",
    "csc": "malformed csc matrix: row 40 is not among its 40 rows",
    "row": "malformed coo matrix: row 40 is not among its 40 rows",
}


@each_value
@several
@pytest.mark.parametrize("kind", FAULTS)
def test_malformed_sparse_x(cls, kind):
    with pytest.raises(ValueError, match=FAULTS[kind]):
        build(cls).fit(faulty(kind), y_for(cls))


@several
def test_malformed_sparse_new_rows(cls):
    estimator = fitted(cls, X)
    with pytest.raises(ValueError, match="malformed csr matrix"):
        output(estimator, faulty("beyond"))


def test_no_entry_of_a_faulty_matrix_is_changed():
    rows = faulty("beyond")
    before = rows.indices.copy(), rows.indptr.copy(), rows.data.copy()
    with pytest.raises(ValueError, match="malformed"):
        LSI().fit(rows)
    for array, kept in zip((rows.indices, rows.indptr, rows.data), before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_entries_behind_the_last_pointer_are_no_fault():
    rows = sp.csr_array(X)
    longer = sp.csr_array(X)
    longer.data, longer.indices = np.append(rows.data, 1e300), np.append(rows.indices, 99).astype(rows.indices.dtype)
    np.testing.assert_array_equal(LSI().fit_transform(longer), LSI().fit_transform(rows))
