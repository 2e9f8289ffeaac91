"""Kernelized: with the linear kernel the method itself, with any kernel the method on the kernel's feature map."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import strategies
from designs import each_value, pairwise
from identities.comparison import DIFFERENT, IDENTITY, assert_same_embedding, gram_distance
from oracles import dense, kernels
from proxembed import CCA, FDA, MDDM, MESD, MMC, OPLS, PCA, PLS, Kernelized, RelationFeatures, load, save

SINGLE, MULTI = strategies.problems_single(), strategies.problems_multi()
TALL = MULTI[1]
ABSOLUTE = {"ridge": 0.2, "ridge_scale": "absolute"}


def new_rows(problem):
    return problem.dense[:6] + 0.5 * strategies.features_dense(6, problem.X.shape[1], 55)


@pytest.mark.parametrize("problem", SINGLE, ids=lambda p: p.name)
def test_linear_kernel_fda_is_fda(problem):
    plain = FDA(ridge=0.0).fit(problem.X, problem.classes)
    kernel = Kernelized(FDA(), kernel="linear", ridge=0.0).fit(problem.X, problem.classes)
    assert_same_embedding(kernel, plain, problem.X)
    assert gram_distance(kernel.transform(new_rows(problem)), plain.transform(new_rows(problem))) < IDENTITY


@each_value
@pytest.mark.parametrize("problem", MULTI, ids=lambda p: p.name)
@pytest.mark.parametrize(
    "method",
    [PCA(n_components=2), PLS(n_components=2), OPLS(n_components=2, **ABSOLUTE), CCA(n_components=2, **ABSOLUTE)],
    ids=lambda m: type(m).__name__,
)
def test_linear_kernel_of_any_centred_method_is_the_method(problem, method):
    Y = problem.Y.astype(int)
    plain = method.fit(problem.X, Y)
    kernel = Kernelized(method, kernel="linear", n_components=2).fit(problem.X, Y)
    assert_same_embedding(kernel, plain, problem.X)
    assert gram_distance(kernel.transform(new_rows(problem)), plain.transform(new_rows(problem))) < IDENTITY


@pytest.mark.parametrize("problem", MULTI[:3], ids=lambda p: p.name)
def test_linear_kernel_of_fisher_on_copies(problem):
    Y = problem.Y.astype(int)
    plain = MESD(FDA(), n_components=2, **ABSOLUTE).fit(problem.X, Y)
    kernel = Kernelized(MESD(FDA()), kernel="linear", n_components=2, **ABSOLUTE).fit(problem.X, Y)
    assert_same_embedding(kernel, plain, problem.X)


def squares_and_products(X):
    """The feature map of (1 + x'y)^2."""
    n, d = X.shape
    columns = [np.ones(n)] + [np.sqrt(2) * X[:, i] for i in range(d)] + [X[:, i] ** 2 for i in range(d)]
    columns += [np.sqrt(2) * X[:, i] * X[:, j] for i in range(d) for j in range(i)]
    return np.column_stack(columns)


@pytest.mark.parametrize("n", [20, 60], ids=["more products than rows", "more rows than products"])
@pytest.mark.parametrize(
    "method",
    [PCA(n_components=3), MDDM(n_components=3), OPLS(n_components=3, **ABSOLUTE)],
    ids=lambda m: type(m).__name__,
)
def test_polynomial_kernel_is_the_method_on_all_products(n, method):
    X, Y = strategies.features_dense(n, 5, 21), strategies.labels_multi(n, 4, 21).astype(int)
    kernel = Kernelized(method, kernel="polynomial", degree=2, n_components=3).fit(X, Y)
    plain = method.fit(squares_and_products(X), Y)
    new = X[:5] + 0.3
    w = plain.eigenvalues_
    np.testing.assert_allclose(kernel.eigenvalues_, w, rtol=0, atol=IDENTITY * w[0])
    assert gram_distance(kernel.transform(X), plain.transform(squares_and_products(X))) < IDENTITY
    assert gram_distance(kernel.transform(new), plain.transform(squares_and_products(new))) < IDENTITY


@pairwise
@pytest.mark.parametrize("constraint", ["feature", "coef", "raw"])
@pytest.mark.parametrize("tau", [5.0, 40.0])
@pytest.mark.parametrize(
    ("method", "define"),
    [
        (OPLS(**ABSOLUTE), lambda T: dense.opls(T, TALL.Y, 0.2)),
        (MDDM(), lambda T: dense.mddm(T, TALL.Y)),
        (MESD(FDA(**ABSOLUTE)), lambda T: dense.mesd_fda(T, TALL.Y, 0.2)),
    ],
    ids=["OPLS", "MDDM", "MESD of FDA"],
)
def test_gaussian_kernel_is_the_method_on_the_kernel_coordinates(method, define, tau, constraint):
    Z, Zq, w = kernels.kernel_embedding(define, TALL.X, new_rows(TALL), "gaussian", 3, tau, constraint)
    fitted = Kernelized(method, kernel="gaussian", tau=tau, constraint=constraint, n_components=3)
    fitted.fit(TALL.X, TALL.Y.astype(int))
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=0, atol=IDENTITY * w[0])
    assert gram_distance(fitted.transform(TALL.X), Z) < IDENTITY
    assert gram_distance(fitted.transform(new_rows(TALL)), Zq) < IDENTITY


def test_the_constraints_are_different_problems():
    feature, coefficient, raw = (
        Kernelized(OPLS(**ABSOLUTE), kernel="gaussian", tau=20.0, constraint=c, n_components=2)
        .fit(TALL.X, TALL.Y.astype(int))
        .transform(TALL.X)
        for c in ("feature", "coef", "raw")
    )
    assert gram_distance(feature, coefficient) > DIFFERENT
    assert gram_distance(coefficient, raw) > 1e-3


@pytest.mark.parametrize("kind", ["gaussian", "cosine"])
def test_the_raw_kernel_is_the_relation_with_all_rows_as_features(kind):
    """Section 3.5 of the paper: K, or any relation to the training rows, is the input feature matrix."""
    width = {"tau": 20.0} if kind == "gaussian" else {}
    kernel = Kernelized(OPLS(**ABSOLUTE), kernel=kind, constraint="raw", n_components=2, **width)
    features = make_pipeline(RelationFeatures(kind, **width), OPLS(n_components=2, **ABSOLUTE))
    for rows in (TALL.X, new_rows(TALL)):
        Z, other = (model.fit(TALL.X, TALL.Y.astype(int)).transform(rows) for model in (kernel, features))
        assert gram_distance(Z, other) < IDENTITY


@pytest.mark.parametrize(
    "kind", ["tanimoto", "euclidean", "alternative", "correlation", "spearman", "kendall", "local_scaling"]
)
def test_relations_to_the_rows_of_training_stand_in_the_place_of_the_kernel(kind):
    """Section 3.5 of the paper: Gamma'K'AK Gamma under Gamma'(K'BK + ridge)Gamma = I, K of any sign of eigenvalues."""
    X, Y = TALL.X[:30], TALL.Y[:30]
    tau = 0.7 if kind == "alternative" else None
    for method, define in (
        (OPLS(**ABSOLUTE), lambda T: dense.opls(T, Y, 0.2)),
        (MDDM(), lambda T: dense.mddm(T, Y)),
    ):
        Z, Zq, w = kernels.kernel_embedding(define, X, new_rows(TALL), kind, 2, tau, "raw")
        fitted = Kernelized(method, kernel=kind, constraint="raw", tau=tau or "auto", n_scale=kernels.N_SCALE)
        fitted.set_params(n_components=2).fit(X, Y.astype(int))
        np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=0, atol=IDENTITY * w[0])
        assert gram_distance(fitted.transform(X), Z) < IDENTITY
        assert gram_distance(fitted.transform(new_rows(TALL)), Zq) < IDENTITY
        assert np.isfinite(fitted.feature_effects(fitted.components_)).all()


def test_relations_to_some_rows_are_features_in_front_of_the_method(tmp_path):
    options = {"prototypes": "farthest", "n_prototypes": 12, "n_scale": 2}
    for kind in ("local_scaling", "spearman"):
        kernel = Kernelized(OPLS(**ABSOLUTE), kernel=kind, constraint="raw", n_components=2, **options)
        features = make_pipeline(RelationFeatures(kind, **options), OPLS(n_components=2, **ABSOLUTE))
        for model in (kernel, features):
            model.set_params(**{name: 0 for name in model.get_params() if name.endswith("random_state")})
            model.fit(TALL.X, TALL.Y.astype(int))
        assert gram_distance(kernel.transform(new_rows(TALL)), features.transform(new_rows(TALL))) < IDENTITY
        again = load(save(kernel, tmp_path / f"{kind}.skops"))
        np.testing.assert_array_equal(again.transform(TALL.X), kernel.transform(TALL.X))


@pytest.mark.parametrize("constraint", ["feature", "coef"])
def test_relations_that_are_no_kernels_are_refused_where_a_kernel_is_needed(constraint):
    with pytest.raises(ValueError, match="not allowed with kernel='euclidean'.*Set constraint='raw'"):
        Kernelized(kernel="euclidean", constraint=constraint).fit(TALL.X, TALL.Y.astype(int))


def test_kernel_fisher_on_gaussian_coordinates():
    problem = SINGLE[1]
    Z, Zq, w = kernels.kernel_embedding(
        lambda T: dense.fda(T, problem.Y, 0.2), problem.X, new_rows(problem), "gaussian", 3, 20.0
    )
    fitted = Kernelized(FDA(**ABSOLUTE), kernel="gaussian", tau=20.0).fit(problem.X, problem.classes)
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=0, atol=IDENTITY * w[0])
    assert gram_distance(fitted.transform(problem.X), Z) < IDENTITY
    assert gram_distance(fitted.transform(new_rows(problem)), Zq) < IDENTITY


def test_kernel_mmc_on_gaussian_coordinates():
    problem = SINGLE[1]
    Z, Zq, w = kernels.kernel_embedding(
        lambda T: dense.mmc(T, problem.Y, 0.1), problem.X, new_rows(problem), "gaussian", 2, 20.0
    )
    fitted = Kernelized(MMC(lam=0.1), kernel="gaussian", tau=20.0, n_components=2).fit(problem.X, problem.classes)
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=0, atol=IDENTITY * w[0])
    assert gram_distance(fitted.transform(problem.X), Z) < IDENTITY
    assert gram_distance(fitted.transform(new_rows(problem)), Zq) < IDENTITY
