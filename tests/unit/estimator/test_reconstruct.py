"""inverse_transform: the projection on the span of the components, against dense algebra and scikit-learn."""

import numpy as np
import pytest
import sklearn.decomposition
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proxembed import (
    CCA,
    FDA,
    LSI,
    MDDM,
    MESD,
    OPLS,
    PCA,
    PLS,
    DirectMOPE,
    ForestLeaves,
    Kernelized,
    LaplacianEigenmaps,
    Layout,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 7)) @ rng.standard_normal((7, 7)) + 3.0
Y = (X[:, :4] - 3.0 + rng.standard_normal((80, 4)) > 0).astype(int)
LINEAR = [PCA(n_components=3), LSI(n_components=3), PLS(), OPLS(), CCA(), MDDM(), MESD(FDA())]


@pytest.mark.parametrize("method", LINEAR, ids=lambda method: type(method).__name__)
def test_rows_are_projected_on_the_span_of_the_components(method):
    model = method.fit(X, Y)
    Z = model.transform(X)
    P, centred = model.components_.T, X - model.mean_
    projected = P @ np.linalg.solve(P.T @ P, P.T @ centred.T)
    found = model.inverse_transform(Z)
    np.testing.assert_allclose(found, projected.T + model.mean_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.transform(found), Z, rtol=0, atol=1e-8 * np.abs(Z).max())


@pytest.mark.parametrize("whiten", [False, True])
def test_pca_is_that_of_scikit_learn(whiten):
    ours = PCA(n_components=3, whiten=whiten).fit(X)
    theirs = sklearn.decomposition.PCA(3, whiten=whiten, svd_solver="full").fit(X)
    assert subspace_angles(ours.components_.T, theirs.components_.T).max() < 1e-8
    again = theirs.inverse_transform(theirs.transform(X))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), again, rtol=0, atol=1e-10)


def test_all_components_give_the_rows_back():
    model = PCA(n_components=7).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=0, atol=1e-10)


def test_components_that_depend_on_each_other_are_solved_by_least_squares():
    model = PCA(n_components=3).fit(X)
    model.components_[1] = 0.0
    model.components_[2] = 1e6 * model.components_[0]
    found = model.inverse_transform(model.transform(X))
    only = PCA(n_components=1).fit(X)
    np.testing.assert_allclose(found, only.inverse_transform(only.transform(X)), rtol=0, atol=1e-9)


def test_float_type_and_sparse_rows():
    model = PCA(n_components=2).fit(csr_array(X.astype(np.float32)))
    Z = model.transform(X.astype(np.float32))
    found = model.inverse_transform(Z)
    assert found.dtype == np.float32 and found.shape == X.shape
    short = model.truncate(1)
    assert short.inverse_transform(Z[:, :1]).shape == X.shape


def test_a_pipeline_inverts_all_its_steps():
    model = make_pipeline(StandardScaler(), OPLS(n_components=2)).fit(X, Y)
    Z = model.transform(X)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("Z", "why"),
    [(np.zeros((2, 3)), "Z has 3 columns; pass the 2 components"), ([[np.nan, 0.0]], "Input Z contains NaN")],
)
def test_bad_scores_are_refused(Z, why):
    with pytest.raises(ValueError, match=why):
        PCA(n_components=2).fit(X).inverse_transform(Z)


@pytest.mark.parametrize(
    "method", [Kernelized(), ForestLeaves(), LaplacianEigenmaps(), DirectMOPE(), MESD(Kernelized(FDA())), Layout()]
)
def test_what_projects_no_rows_has_none(method):
    assert not hasattr(method, "inverse_transform")


def test_the_reason_is_told():
    with pytest.raises(AttributeError, match="not a product of the rows, from which features"):
        Kernelized().inverse_transform(X)
