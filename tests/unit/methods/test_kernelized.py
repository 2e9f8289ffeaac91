"""Kernelized: the rows that width and ridge are chosen on, and components as coefficients of kernel values."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.base import clone

from invariants.cases import gram_distance, in_feature_space
from proxembed import (
    CCA,
    FDA,
    HSL,
    MDDM,
    MESD,
    MFA,
    MLDA,
    OPLS,
    PCA,
    PLS,
    SELF,
    SFEHS,
    CopyLDA,
    Kernelized,
    Views,
    load,
    save,
)
from proxembed.features import kernel as kernels

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 4))
Y = (np.sin(2 * X[:, :3]) + 0.3 * RNG.standard_normal((150, 3)) > 0).astype(int)
SAMPLE = 50


@pytest.fixture
def few(monkeypatch):
    """Kernels are tuned on 50 rows."""
    monkeypatch.setattr(kernels, "TUNING_ROWS", SAMPLE)


def evenly() -> np.ndarray:
    return np.linspace(0, len(X) - 1, SAMPLE).round().astype(int)


@pytest.mark.usefixtures("few")
def test_width_and_ridge_are_those_of_the_sample_with_the_ridge_per_row():
    fitted, alone = Kernelized(OPLS()).fit(X, Y), Kernelized(OPLS()).fit(X[evenly()], Y[evenly()])
    assert fitted.tuning_rows_ == alone.tuning_rows_ == SAMPLE
    assert fitted.tau_ == pytest.approx(alone.tau_, rel=1e-12)
    assert fitted.ridge_ == pytest.approx(alone.ridge_ * len(X) / SAMPLE, rel=1e-9)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "options",
    [{"tau": 3.0}, {"kernel": "polynomial"}, {"kernel": lambda A, B: (1 + A @ B.T) ** 2}, {"kernel": "precomputed"}],
    ids=["given width", "polynomial", "a function", "precomputed"],
)
def test_the_ridge_of_a_given_kernel_is_chosen_on_the_sample_too(options):
    K = (1 + X @ X.T) ** 2 if options.get("kernel") == "precomputed" else X
    own = K[evenly()][:, evenly()] if K is not X else X[evenly()]
    fitted, alone = Kernelized(OPLS(), **options).fit(K, Y), Kernelized(OPLS(), **options).fit(own, Y[evenly()])
    assert fitted.tuning_rows_ == SAMPLE
    assert fitted.ridge_ == pytest.approx(alone.ridge_ * len(X) / SAMPLE, rel=1e-9)


@pytest.mark.usefixtures("few")
def test_a_given_ridge_is_per_row_while_the_width_is_chosen():
    given = Kernelized(OPLS(ridge=6.0, ridge_scale="absolute")).fit(X, Y)
    alone = Kernelized(OPLS(ridge=6.0 * SAMPLE / len(X), ridge_scale="absolute")).fit(X[evenly()], Y[evenly()])
    assert (given.tuning_rows_, given.ridge_) == (SAMPLE, 6.0)
    assert given.tau_ == pytest.approx(alone.tau_, rel=1e-12)


@pytest.mark.usefixtures("few")
def test_rows_without_known_labels_are_not_in_the_sample():
    part = Y.astype(float)
    part[50:100] = np.nan
    kept = np.delete(np.arange(150), slice(50, 100))
    method = Kernelized(MESD(SELF()), ridge=0.1)  # without a ridge the errors would be rounding
    fitted, alone = clone(method).fit(X, part), clone(method).fit(X[kept], Y[kept])
    assert fitted.tuning_rows_ == alone.tuning_rows_ == SAMPLE
    assert fitted.tau_ == pytest.approx(alone.tau_, rel=1e-12)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        (Kernelized(PCA()), 0),
        (Kernelized(OPLS(ridge=0.1), tau=3.0), 0),
        (Kernelized(OPLS(), constraint="coef"), SAMPLE),
        (Kernelized(OPLS(), tau=3.0, constraint="coef"), 150),
        (Kernelized(OPLS(), n_prototypes=60, random_state=0), SAMPLE),
        (Kernelized(OPLS(), n_prototypes=40, random_state=0), 78),  # 50^3 / 40^2
        (Kernelized(OPLS(), tau=3.0, n_prototypes=20, random_state=0), 150),
    ],
    ids=[
        "no labels",
        "both given",
        "coef",
        "coef, given width",
        "prototypes",
        "few prototypes",
        "prototypes, given width",
    ],
)
def test_the_number_of_rows_is_reported(estimator, rows):
    assert estimator.fit(X, Y).tuning_rows_ == rows


@pytest.mark.usefixtures("few")
def test_prototypes_take_the_width_of_the_sample_and_the_ridge_of_all_rows():
    auto = Kernelized(OPLS(), n_prototypes=20, random_state=0).fit(X, Y)
    given = Kernelized(OPLS(), n_prototypes=20, random_state=0, tau=auto.tau_).fit(X, Y)
    assert auto.ridge_ == pytest.approx(given.ridge_, rel=1e-12)


def test_up_to_the_number_of_the_sample_all_rows_are_used():
    assert Kernelized(FDA()).fit(X, Y[:, 0]).tuning_rows_ == 150


THIN = [
    OPLS(ridge=0.1),
    CCA(ridge=0.1),
    PLS(),
    MDDM(),
    MDDM(metric="features"),
    SFEHS(estimator="biased"),
    MLDA(ridge=0.1),
    CopyLDA(ridge=0.1),
    HSL(ridge=0.1),
    MESD(FDA(ridge=0.1)),
]


@pytest.mark.parametrize("scaling", ["template", "orthonormal", "eigenvalue", "unit"])
@pytest.mark.parametrize("method", THIN, ids=repr)
def test_one_factorisation_gives_what_the_map_of_the_kernel_gives(method, scaling):
    """The former route, which solver="dual" still takes: an eigendecomposition of K and of a pencil in its map."""
    thin, dual = (
        Kernelized(method, tau=4.0, n_components=2, scaling=scaling, solver=s).fit(X, Y) for s in ("auto", "dual")
    )
    assert (thin.solver_, dual.solver_) == ("thin", "dual")
    np.testing.assert_allclose(thin.eigenvalues_, dual.eigenvalues_, rtol=1e-8)
    assert thin.components_.shape == dual.components_.shape == (2, len(X))
    if thin.method_.traits.labels and hasattr(thin, "ridge_"):
        assert thin.ridge_ == pytest.approx(dual.ridge_, rel=1e-9)
    for rows in (X, X[:20] + 0.3):
        assert gram_distance(thin.transform(rows), dual.transform(rows)) < 1e-8
    assert gram_distance(thin.label_loadings_.T, dual.label_loadings_.T) < 1e-8
    assert gram_distance(effects(thin).T, effects(dual).T) < 1e-6


def effects(model: Kernelized) -> np.ndarray:
    return np.abs(model.feature_effects(model.components_))


@pytest.mark.parametrize("constraint", ["feature", "coef", "raw"])
@pytest.mark.parametrize("method", [OPLS(ridge=0.1), PCA(), MESD(MFA(ridge=0.1))], ids=repr)
def test_components_are_coefficients_of_kernel_values(method, constraint, tmp_path):
    """On every route: a new row is placed by its kernel values with the prototypes alone."""
    model = Kernelized(method, tau=4.0, n_components=2, constraint=constraint).fit(X, Y)
    new = X[:10] + 0.1
    K = np.exp(-((new[:, None] - X[None]) ** 2).sum(axis=2) / 4.0)
    if constraint == "coef":
        K = K - K.mean(axis=1, keepdims=True) - model.prepared_.kernel.level
    np.testing.assert_allclose((K - model.mean_) @ model.components_.T, model.transform(new), rtol=0, atol=1e-8)
    assert model.prepared_.kernel.map is None
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.tuning_rows_ == model.tuning_rows_


def test_a_model_saved_with_the_map_of_its_kernel_is_as_it_was():
    """Former models hold the map, and components of its coordinates."""
    ready = in_feature_space(Kernelized(OPLS(ridge=0.1), tau=4.0), X, Y)
    plain = OPLS(ridge=0.1, n_components=2).fit(ready.prepared_.training, Y)
    former = copy.copy(Kernelized(OPLS(ridge=0.1), tau=4.0, n_components=2).fit(X, Y))
    former.prepared_ = ready.prepared_.for_new_rows()
    former.components_, former.mean_ = plain.components_, plain.mean_
    new = X[:5] + 0.1
    np.testing.assert_allclose(former.transform(new), plain.transform(former.lift(new)), rtol=0, atol=1e-12)
    ours = Kernelized(OPLS(ridge=plain.ridge_, ridge_scale="absolute"), tau=4.0, n_components=2).fit(X, Y)
    assert gram_distance(former.transform(new), ours.transform(new)) < 1e-8
    assert gram_distance(effects(former).T, effects(ours).T) < 1e-6


def test_a_kernel_with_negative_eigenvalues_keeps_its_positive_part():
    w, U = np.linalg.eigh((1 + X @ X.T) ** 2)
    K = (U * np.where(np.arange(len(X)) < 3, -5.0, w)) @ U.T
    positive = (U * np.where(np.arange(len(X)) < 3, 0.0, w)) @ U.T
    one, other = (Kernelized(OPLS(ridge=0.1), kernel="precomputed", n_components=2).fit(M, Y) for M in (K, positive))
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-6)
    assert gram_distance(one.transform(positive), other.transform(positive)) < 1e-6


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_precomputed_kernel_of_the_caller_is_not_changed(order):
    K = np.asarray((1 + X @ X.T) ** 2, order=order)
    before = K.copy()
    found = Kernelized(OPLS(ridge=0.1), kernel="precomputed", n_components=2).fit(K, Y)
    named = Kernelized(OPLS(ridge=0.1), kernel="polynomial", n_components=2).fit(X, Y)
    np.testing.assert_array_equal(K, before)
    assert gram_distance(found.transform(K), named.transform(X)) < 1e-8


def test_views_keep_the_places_of_their_rows_on_the_fast_route():
    views = Views(Kernelized(OPLS(ridge=0.1), tau=4.0), views=["features"], n_components=2).fit(X, Y)
    assert views.solver_ == "thin"
    np.testing.assert_allclose(views.transform(X), views.new_places(X), rtol=0, atol=1e-9)
