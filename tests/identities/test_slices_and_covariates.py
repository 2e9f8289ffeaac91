"""Principal covariates, slices and target neighbours: against NumPy by their definitions, and against other methods."""

import warnings

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from identities.test_numbers import assert_same_span, assert_same_up_to_sign, load, standardised
from proxembed import (
    FDA,
    LFDA,
    MFA,
    MLSI,
    OPLS,
    PCA,
    SELF,
    SSDR,
    Kernelized,
    PCovR,
    RowBlocks,
    Scaled,
    Sliced,
)
from proxembed.methods.sliced import slices
from proxembed.targets import LabelMatrix, read_targets

LAM = {"ridge": 3.0, "ridge_scale": "absolute"}


@pytest.fixture(params=["jura", "enb"])
def data(request, data_folder):
    return load(request.param, data_folder)


@pytest.fixture
def jura(data_folder):
    return load("jura", data_folder)


def modified_covariance(X, F, beta, lam, k):
    """PCovR in the feature space: eigenvectors of (1 - beta) S/|X|^2 + beta S^-1/2 X'HH'X S^-1/2/|F|^2, times
    S^-1/2."""
    S = X.T @ X
    w, V = np.linalg.eigh(S)
    V, w = V[:, w > 1e-11 * w[-1]], w[w > 1e-11 * w[-1]]
    half = V / np.sqrt(w) @ V.T
    H = X @ np.linalg.solve(S + lam * np.eye(len(S)), X.T @ F)
    C = (1 - beta) * S / np.sum(X**2) + beta * half @ X.T @ H @ H.T @ X @ half / np.sum(F**2)
    w, U = np.linalg.eigh(C)
    return half @ U[:, ::-1][:, :k], w[::-1][:k]


def wide_rows(X):
    """Few rows of more features."""
    return X[:10] @ np.random.default_rng(0).normal(size=(X.shape[1], 30)) + 0.01 * np.eye(10, 30)


def test_principal_covariates_are_their_definition(data):
    X, Y = data
    k = min(3, Y.shape[1])
    for beta in (0.0, 0.4, 1.0):
        for rows, y in ((X, Y), (wide_rows(X), Y[:10])):
            P, w = modified_covariance(rows - rows.mean(axis=0), standardised(y), beta, 3.0, k)
            model = PCovR(n_components=k, beta=beta, **LAM).fit(rows, y)
            np.testing.assert_allclose(model.eigenvalues_, w, rtol=0, atol=1e-12)
            assert_same_up_to_sign(model.transform(rows), (rows - rows.mean(axis=0)) @ P, 1e-9)
            assert model.ridge_ == 3.0


def test_principal_covariates_on_every_route(jura):
    """By either Gram matrix, by products alone, sparse, from blocks."""
    X, Y = jura
    for rows, y in ((X[::3], Y[::3]), (wide_rows(X), Y[:10])):
        one = PCovR(n_components=3, **LAM).fit(rows, y)
        expected = one.transform(rows)
        for solver, tolerance in (("primal", 1e-9), ("dual", 1e-9), ("iterative", 1e-5)):
            other = PCovR(n_components=3, solver=solver, **LAM).fit(rows, y)
            assert_same_up_to_sign(other.transform(rows), expected, tolerance)
        for form in (RowBlocks.from_arrays(rows, y, block_rows=7), sp.csr_array(rows)):
            other = PCovR(n_components=3, **LAM).fit(form, *([] if isinstance(form, RowBlocks) else [sp.csr_array(y)]))
            assert_same_up_to_sign(other.transform(rows), expected, 1e-9)
            np.testing.assert_allclose(other.predict(rows), one.predict(rows), rtol=1e-8)


def test_principal_covariates_are_a_ratio_form_at_ridge_0(data):
    """MLSI(form="ratio", center=True) with the weights over both sums of squares."""
    X, Y = data
    X = X @ sl.orth(X.T)
    of_X, of_Y = 0.6 / np.sum((X - X.mean(axis=0)) ** 2), 0.4 / Y.size
    one = PCovR(n_components=2, beta=0.4, ridge=0.0).fit(X, Y)
    other = MLSI(n_components=2, beta=of_Y / (of_X + of_Y), form="ratio", center=True, penalty=1e-12).fit(X, Y)
    assert_same_span(one.components_.T, other.components_.T, 1e-9)


def test_ends_of_principal_covariates(data):
    X, Y = data
    assert_same_span(
        PCovR(n_components=2, beta=0.0).fit(X, Y).components_.T, PCA(n_components=2).fit(X).components_.T, 1e-9
    )
    one, other = PCovR(beta=1.0, extrapolate=True, **LAM).fit(X, Y), OPLS(extrapolate=True, **LAM).fit(X, Y)
    assert_same_span(one.components_.T, other.components_.T, 1e-9)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)
    with pytest.raises(
        ValueError, match=r"exceeds \d, the rank of \d outputs in PCovR: use n_components=\d, or beta < 1"
    ):
        PCovR(beta=1.0, n_components=Y.shape[1] + 1).fit(X, Y)
    rank = np.linalg.matrix_rank(X)
    assert PCovR(n_components=rank).fit(X, Y).n_components_ == rank
    with pytest.raises(ValueError, match=f"n_components={rank + 1} is more than the {rank} components"):
        PCovR(n_components=rank + 1).fit(X, Y)
    with pytest.raises(ValueError, match="PCovR is not its matrices, and cannot be a member of SSDR"):
        SSDR(PCovR(), PCA()).fit(X, Y)


def test_principal_covariates_of_a_kernel_are_those_of_its_map(jura):
    X, Y = jura
    one = Kernelized(PCovR(n_components=3, **LAM), kernel="linear").fit(X, Y)
    assert_same_up_to_sign(one.transform(X), PCovR(n_components=3, **LAM).fit(X, Y).transform(X), 1e-7)


def sir(X, codes, k):
    """Sliced inverse regression [li1991sir]: the covariance of the means of slices against that of the rows."""
    Z = np.eye(codes.max() + 1)[codes]
    Xc = X - X.mean(axis=0)
    means = Z.T @ Xc / Z.sum(axis=0)[:, None]
    w, P = sl.eigh(means.T @ (Z.sum(axis=0)[:, None] * means), Xc.T @ Xc)
    return w[::-1][:k], P[:, ::-1][:, :k]


def test_sliced_fda_is_sliced_inverse_regression(data):
    X, Y = data
    X = X @ sl.orth(X.T)
    for y in (Y, Y[:, 0] + 0.0):
        model = Sliced(FDA(ridge=0.0), target_type="real").fit(X, y)
        codes = slices(read_targets(y, "real"), 10, 0).Y.toarray().argmax(axis=1)
        w, P = sir(X, codes, model.n_components_)
        assert model.n_components_ == min(codes.max(), X.shape[1])
        np.testing.assert_allclose(model.eigenvalues_, w, rtol=0, atol=1e-10)
        assert_same_span(model.components_[:2].T, P[:, :2], 1e-10)
        assert model.method_.ridge == 0.0 and model.n_slices_ == codes.max() + 1


def test_slices_of_one_column_are_of_equal_size_and_keep_ties_together():
    y = np.random.default_rng(0).permutation(np.arange(47) + 0.5)
    codes = slices(read_targets(y, "real"), 5).Y.toarray().argmax(axis=1)
    assert np.ptp(np.bincount(codes)) <= 1 and np.all(np.diff(codes[np.argsort(y)]) >= 0)
    tied = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0, 6.5], [20, 2, 3, 5, 5, 5])
    codes = slices(read_targets(tied, "real"), 4).Y.toarray().argmax(axis=1)
    assert [set(codes[tied == value]) for value in np.unique(tied)] == [{0}, {1}, {1}, {1}, {2}, {2}]
    few = slices(read_targets(tied, "real"), 6).Y
    assert few.sum(axis=0).tolist() == [20, 2, 3, 5, 5, 5]


def test_slices_of_several_columns_do_not_depend_on_order_and_units(jura):
    _, Y = jura
    one = slices(read_targets(Y, "real"), 8, 0).Y.toarray()
    order = np.random.default_rng(3).permutation(len(Y))
    other = slices(read_targets((Y * [4.0, -0.5, 8.0] + 1.0)[order][:, [2, 0, 1]], "real"), 8, 0).Y.toarray()
    back = np.empty_like(other)
    back[order] = other
    np.testing.assert_array_equal(one @ one.T, back @ back.T)
    F, codes = standardised(Y), one.argmax(axis=1)
    centres = np.array([F[codes == j].mean(axis=0) for j in range(8)])
    assert np.mean(cdist(F, centres).argmin(axis=1) == codes) > 0.99


def test_classes_and_label_sets_as_slices(jura):
    """Classes stay as they are, however many there are; label sets are slices while they are few."""
    X, Y = jura
    y = np.digitize(Y[:, 0], np.quantile(Y[:, 0], np.arange(1, 13) / 13))
    one, other = Sliced(FDA(ridge=0.1), n_slices=3).fit(X, y), FDA(ridge=0.1).fit(X, y)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-9)
    sets = (Y > np.median(Y, axis=0)).astype(int)
    assert Sliced().fit(X, sets).n_slices_ == len(np.unique(sets, axis=0)) <= 8


def test_rows_with_unknown_numbers_have_no_slice(jura):
    X, Y = jura
    hidden = Y.copy()
    hidden[:9] = np.nan
    with pytest.warns(UserWarning, match="Sliced cannot use unknown outputs: 9 of"):
        one = Sliced(FDA(ridge=0.1)).fit(X, hidden)
    np.testing.assert_allclose(one.components_, Sliced(FDA(ridge=0.1)).fit(X[9:], Y[9:]).components_, rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = Sliced(SELF(n_components=2)).fit(X, hidden)
    known = slices(read_targets(Y[9:], "real"), 10, 0).Y.toarray().argmax(axis=1).astype(float)
    other = SELF(n_components=2).fit(X, np.concatenate([np.full(9, np.nan), known]))
    assert_same_span(part.components_.T, other.components_.T, 1e-7)


def test_what_is_wrapped_and_what_wraps(jura):
    X, Y = jura
    for method in (Sliced(LFDA()), Sliced(Kernelized(FDA(), tau=9.0)), Kernelized(Sliced(), tau=9.0), Scaled(Sliced())):
        assert np.isfinite(method.fit(X[::4], Y[::4]).transform(X)).all()
    with pytest.raises(ValueError, match="n_components=3 is more than the 2 components that Sliced has on 3 slices"):
        Sliced(n_slices=3, n_components=3).fit(X, Y)
    with pytest.raises(ValueError, match="Sliced makes classes of numbers, and OPLS already takes several"):
        Sliced(OPLS()).fit(X, Y)
    with pytest.raises(ValueError, match="Sliced cannot be fitted on blocks: its slices are made from the numbers"):
        Sliced().fit(RowBlocks.from_arrays(X, Y, block_rows=50))
    model = Sliced(n_components=2).fit(X, Y)
    assert model.truncate(1).transform(X).shape == (len(X), 1)
    codes = np.digitize(Y[:, 0], [np.median(Y[:, 0])])
    assert make_pipeline(Sliced(), LogisticRegression()).fit(X, codes).score(X, codes) > 0.5


def test_target_neighbours_are_their_definition(data):
    """max P'X'XP against P'X'L(W)XP + lam I, W the undirected graph of the ten nearest rows in F."""
    X, Y = data
    X, Y = X[::2] @ sl.orth(X.T), Y[::2] + 1e-7 * np.random.default_rng(0).normal(size=Y[::2].shape)  # no ties
    F, Xc, n = standardised(Y), X - X.mean(axis=0), len(X)
    D = cdist(F, F)
    np.fill_diagonal(D, np.inf)
    W = np.zeros((n, n))
    W[np.arange(n)[:, None], np.argsort(D, axis=1)[:, :10]] = 1.0
    W = np.maximum(W, W.T)
    B = Xc.T @ (np.diag(W.sum(axis=1)) - W) @ Xc + 2.0 * np.eye(X.shape[1])
    w, P = sl.eigh(Xc.T @ Xc, B)
    model = MFA(n_components=3, ridge=2.0, ridge_scale="absolute").fit(X, Y)
    np.testing.assert_allclose(model.eigenvalues_, w[::-1][:3], rtol=1e-9)
    assert_same_up_to_sign(model.transform(X), Xc @ P[:, ::-1][:, :3], 1e-8)
    assert model.algorithm_ == "exact" and model.recall_ is None
    assert MFA(n_components=X.shape[1]).fit(X, Y).n_components_ == X.shape[1]  # more than there are outputs
    few = MFA(n_components=3, target_neighbors=2, ridge=2.0, ridge_scale="absolute").fit(X, Y)
    assert not np.allclose(few.eigenvalues_, model.eigenvalues_)


def test_the_ridge_of_target_neighbours_depends_on_y(jura):
    """Of classes as before; of numbers chosen, so that rows of more features than there are rows have one."""
    X, Y = jura
    classes = np.digitize(Y[:, 0], [np.median(Y[:, 0])])
    one, other = MFA().fit(X, classes), MFA(ridge=1e-6).fit(X, classes)
    assert one.ridge_ == other.ridge_
    wide = X[:40] @ np.random.default_rng(0).normal(size=(X.shape[1], 60)) + np.random.default_rng(1).normal(
        size=(40, 60)
    )
    assert MFA().fit(wide, Y[:40]).ridge_ > 1e3 * MFA(ridge=1e-6).fit(wide, Y[:40]).ridge_
    weighted = MFA(n_components=2, weights="gaussian").fit(X, Y)
    assert not np.allclose(weighted.eigenvalues_, MFA(n_components=2).fit(X, Y).eigenvalues_)
    assert isinstance(read_targets(classes), LabelMatrix)


def test_whole_weights_are_repeats(jura):
    """Given, and found where equal rows are merged for the choice of a ridge."""
    X, Y = jura[0][::3], jura[1][::3]
    times = np.random.default_rng(0).integers(1, 4, size=len(X))
    for method in (Sliced(FDA(ridge=0.1)), Sliced(), PCovR(n_components=3, ridge=0.1), PCovR(n_components=3), MFA()):
        for y in (Y, Y[:, 0]):
            one = clone(method).fit(X, y, sample_weight=times)
            other = clone(method).fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
            np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-9)
            k = min(3, one.n_components_)
            assert_same_up_to_sign(one.transform(X)[:, :k], other.transform(X)[:, :k], 1e-7)
