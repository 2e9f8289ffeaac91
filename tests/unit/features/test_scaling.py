"""Scalings: Table I of the DEFC paper, degenerate columns and rows, sparse equals dense, query rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from designs import each_value
from proxembed.features.scaling import SCALINGS, ScalingState, scaling_apply, scaling_fit


def data(n=20, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (1 + np.arange(d)) + 3
    X[rng.random((n, d)) < 0.4] = 0.0
    X[:, 2] = 5.0
    X[3] = 0.0
    X[3, 2] = 5.0
    return X


def counts(n=15, d=8, seed=1):
    X = np.random.default_rng(seed).poisson(0.7, size=(n, d)).astype(float)
    X[4] = 0.0
    X[:, 5] = 0.0
    return X


def dense(M):
    return M.toarray() if sp.issparse(M) else M


def apply_fit(kind, X, Q=None, **params):
    return scaling_apply(scaling_fit(kind, X, **params), X if Q is None else Q)


def naive(kind, X, Q):
    """Table I by loops; PCA and whitening from the eigenvectors of the covariance."""
    n, d = X.shape
    if kind == "none":
        return Q.copy()
    if kind == "unit":
        return np.array([q / np.sqrt(sum(v * v for v in q)) if any(q) else q for q in Q])
    mean = [sum(X[:, j]) / n for j in range(d)]
    out = np.array([[Q[i, j] - mean[j] for j in range(d)] for i in range(len(Q))])
    if kind == "center":
        return out
    std = [np.sqrt(sum((X[i, j] - mean[j]) ** 2 for i in range(n)) / (n - 1)) for j in range(d)]
    return np.array([[out[i, j] / (std[j] if std[j] > 0 else 1) for j in range(d)] for i in range(len(Q))])


@pytest.mark.parametrize("kind", ["none", "unit", "center", "standard"])
def test_forms_against_loops_for_training_and_query_rows(kind):
    X, Q = data(), data(7, seed=5)
    state = scaling_fit(kind, X)
    np.testing.assert_allclose(scaling_apply(state, X), naive(kind, X, X), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(scaling_apply(state, Q), naive(kind, X, Q), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(20, 6), (5, 9)])
def test_pca_scores_are_centred_projections_on_all_nonzero_eigenvectors(shape, form):
    X, Q = data(*shape), data(4, shape[1], seed=9)
    lam, E = np.linalg.eigh(np.cov(X.T))
    keep = lam > 1e-10 * lam.max()
    state = scaling_fit("pca", form(X))
    assert state.n_features_out == keep.sum() < shape[1]
    for rows in (X, Q):
        Z, expected = scaling_apply(state, form(rows)), ((rows - X.mean(axis=0)) @ E[:, keep])[:, ::-1]
        np.testing.assert_allclose(abs(Z), abs(expected), atol=1e-10)
    np.testing.assert_allclose(scaling_apply(state, form(X)).mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(20, 6), (5, 9)])
def test_whitened_covariance_is_the_identity_and_queries_use_the_same_map(shape, form):
    X, Q = data(*shape), data(4, shape[1], seed=9)
    state = scaling_fit("whiten", form(X))
    Z = scaling_apply(state, form(X))
    np.testing.assert_allclose(np.cov(Z.T), np.eye(Z.shape[1]), atol=1e-10)
    lam, E = np.linalg.eigh(np.cov(X.T))
    keep = lam > 1e-10 * lam.max()
    expected = ((Q - X.mean(axis=0)) @ E[:, keep] / np.sqrt(lam[keep]))[:, ::-1]
    np.testing.assert_allclose(abs(scaling_apply(state, form(Q))), abs(expected), rtol=1e-8, atol=1e-8)


def test_pca_var_keeps_the_fewest_components_with_that_share():
    X = data(30, 6)
    s2 = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1]
    share = np.cumsum(s2) / s2.sum()
    for wanted in (0.3, 0.8, share[1], 0.999):
        kept = scaling_fit("pca", X, pca_var=float(wanted)).n_features_out
        assert share[kept - 1] >= wanted * (1 - 1e-9)
        assert kept == 1 or share[kept - 2] < wanted
    assert scaling_fit("whiten", X, pca_var=0.8).n_features_out == scaling_fit("pca", X, pca_var=0.8).n_features_out


@pytest.mark.parametrize("kind", ["none", "unit", "center", "tfidf"])
def test_sparse_equals_dense(kind):
    X, Q = counts(), counts(6, seed=8)
    expected = apply_fit(kind, X, Q)
    for form in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        found = apply_fit(kind, form(X), form(Q))
        assert sp.issparse(found) == (kind != "center")
        np.testing.assert_allclose(dense(found), expected, rtol=1e-13, atol=1e-13)


def test_sparse_standard_divides_by_the_same_std_and_does_not_centre():
    X = data()
    found = apply_fit("standard", sp.csr_array(X))
    assert sp.issparse(found)
    std = X.std(axis=0, ddof=1)
    np.testing.assert_allclose(found.toarray(), X / np.where(std > 1e-12, std, 1.0), rtol=1e-12)


def test_sparse_with_repeated_and_stored_zero_entries():
    values, columns = np.array([1.0, 2.0, 0.0, 4.0, 1.0, 5.0]), np.array([1, 1, 0, 0, 1, 1])
    X = sp.csr_array((values, columns, np.array([0, 3, 5, 6])), shape=(3, 2))
    assert X.toarray().tolist() == [[0, 3], [4, 1], [0, 5]]
    before = [a.copy() for a in (X.data, X.indices, X.indptr)]
    for kind in ("unit", "standard", "tfidf", "center"):
        expected = X.toarray() if kind != "standard" else X.toarray() / X.toarray().std(axis=0, ddof=1)
        found = dense(apply_fit(kind, X))
        if kind == "standard":
            np.testing.assert_allclose(found, expected)
        else:
            np.testing.assert_allclose(found, apply_fit(kind, X.toarray()), atol=1e-15)
    for now, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_tfidf_against_scikit_learn():
    X, Q = counts(), counts(6, seed=8)
    theirs = TfidfTransformer(sublinear_tf=True).fit(sp.csr_array(X))
    np.testing.assert_allclose(apply_fit("tfidf", X, Q), theirs.transform(sp.csr_array(Q)).toarray(), rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [-1.0, 0.5])
def test_tfidf_refuses_what_is_no_count_in_fit_and_in_apply(form, value):
    good, bad = counts(), counts()
    bad[2, 1] = value
    with pytest.raises(ValueError, match="needs counts"):
        scaling_fit("tfidf", form(bad))
    with pytest.raises(ValueError, match="needs counts"):
        scaling_apply(scaling_fit("tfidf", form(good)), form(bad))


@pytest.mark.parametrize("kind", ["unit", "tfidf"])
def test_zero_rows_stay_zero_and_others_get_length_one(kind):
    for X in (counts(), sp.csr_array(counts())):
        lengths = np.linalg.norm(dense(apply_fit(kind, X)), axis=1)
        assert lengths[4] == 0
        np.testing.assert_allclose(np.delete(lengths, 4), 1, rtol=1e-14)


def test_unit_rows_of_extreme_size():
    X = np.array([[3e-200, 4e-200], [3e200, 4e200], [1.0, 0.0]])
    expected = [[0.6, 0.8], [0.6, 0.8], [1, 0]]
    np.testing.assert_allclose(apply_fit("unit", X), expected)
    np.testing.assert_allclose(apply_fit("unit", sp.csr_array(X)).toarray(), expected)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_constant_column_that_rounds_badly_is_constant(form):
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    found = dense(apply_fit("standard", form(X)))
    np.testing.assert_array_equal(found[:, 0], 0.0 if form is np.asarray else 0.1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_constant_columns_are_centred_to_exactly_zero(form):
    values = np.random.default_rng(0).uniform(size=50)
    for n in (3, 7, 11, 49):
        assert not apply_fit("center", form(np.tile(values, (n, 1)))).any()


def test_a_large_offset_costs_the_std_nothing_and_the_rows_one_rounding_of_the_mean():
    shifted = data() + 2.0**30
    X = shifted - 2.0**30
    std = scaling_fit("standard", X).std
    np.testing.assert_allclose(scaling_fit("standard", shifted).std, std, rtol=1e-12)
    error = abs(apply_fit("standard", shifted) - apply_fit("standard", X)) * std
    assert error.max() <= np.spacing(2.0**30)


@each_value
@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float16])
def test_other_real_types_become_float64(kind, dtype):
    X = counts()
    for form in (np.asarray, sp.csr_array):
        M = X.astype(dtype) if form is np.asarray or dtype is np.float16 else form(X.astype(dtype))
        found = dense(apply_fit(kind, M))
        assert found.dtype == np.float64
        same = X if isinstance(M, np.ndarray) else form(X)
        np.testing.assert_allclose(found, dense(apply_fit(kind, same)), atol=1e-9)


def test_one_row():
    for kind in ("none", "unit", "center", "standard"):
        assert np.isfinite(apply_fit(kind, np.array([[1.0, 2.0]]))).all()
    for kind in ("pca", "whiten"):
        with pytest.raises(ValueError, match="no variance"):
            scaling_fit(kind, np.array([[1.0, 2.0]]))
        for n in (3, 4, 7, 49):
            for form in (np.asarray, sp.csr_array):
                with pytest.raises(ValueError, match="no variance"):
                    scaling_fit(kind, form(np.tile([0.1, 0.7, 1 / 3], (n, 1))))


@each_value
@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_stays_and_the_input_is_untouched(kind, form):
    X = counts()
    M = form(X.astype(np.float32))
    before = M.copy()
    found = apply_fit(kind, M)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(dense(M), dense(before))
    np.testing.assert_allclose(abs(dense(found)), abs(dense(apply_fit(kind, form(X)))), atol=2e-5)


@pytest.mark.parametrize("kind", [k for k in SCALINGS if k != "none"])
def test_the_result_shares_no_memory_with_a_sparse_input(kind):
    X = sp.csr_array(counts())
    found = apply_fit(kind, X)
    for mine in ("data", "indices", "indptr") if sp.issparse(found) else ():
        assert not np.shares_memory(getattr(found, mine), getattr(X, mine))


def test_a_large_sparse_matrix_is_not_densified():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 200_000, 20), rng.integers(0, 100_000, 20)
    X = sp.csr_array((rng.random(20), places), shape=(200_000, 100_000))
    X.data += 1
    with pytest.raises(ValueError, match='max_dense_bytes.*|"standard" and "unit"'):
        scaling_fit("center", X)
    for kind in ("unit", "standard", "tfidf"):
        assert sp.issparse(apply_fit(kind, X))


def test_the_size_guard_names_the_size_and_holds_in_apply():
    X = sp.csr_array(counts())
    with pytest.raises(ValueError, match="max_dense_bytes"):
        scaling_fit("center", X, max_dense_bytes=100)
    state = scaling_fit("center", X)
    with pytest.raises(ValueError, match="centred X"):
        scaling_apply(state, X, max_dense_bytes=100)
    with pytest.raises(ValueError, match="scores of kind 'pca'"):
        scaling_apply(scaling_fit("pca", X), X, max_dense_bytes=100)


def test_bad_calls_are_named():
    X = data()
    with pytest.raises(ValueError, match="kind='zscore'.*standard"):
        scaling_fit("zscore", X)
    with pytest.raises(ValueError, match="pca_var=0.5 is not a parameter"):
        scaling_fit("unit", X, pca_var=0.5)
    for value in (0, 1.5, "all", True):
        with pytest.raises(ValueError, match="pca_var="):
            scaling_fit("pca", X, pca_var=value)
    with pytest.raises(ValueError, match="fitted on 6"):
        scaling_apply(scaling_fit("unit", X), X[:, :3])
    with pytest.raises(ValueError, match="1 dimension"):
        scaling_fit("unit", X[0])
    with pytest.raises(ValueError, match="at least one row"):
        scaling_fit("unit", X[:0])
    with pytest.raises(TypeError, match="complex"):
        scaling_fit("unit", X + 1j)
    with pytest.raises(TypeError, match="dtype"):
        scaling_fit("unit", np.array([["a", "b"]]))
    with pytest.raises(ValueError, match="overflow"):
        scaling_fit("standard", np.array([[1e300], [-1e300]]))


def test_a_function_is_accepted_as_kind():
    def halves(X):
        return ScalingState("halves", X.shape[1], std=np.full(X.shape[1], 2.0))

    np.testing.assert_array_equal(apply_fit(halves, data()), data() / 2)
    with pytest.raises(TypeError, match="ScalingState"):
        scaling_fit(lambda X: X, data())
