"""Kernelized: the rows that width and ridge are chosen on."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed import FDA, MESD, OPLS, PCA, SELF, Kernelized
from proxembed.features import kernel as kernels

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 4))
Y = (np.sin(2 * X[:, :3]) + 0.3 * RNG.standard_normal((150, 3)) > 0).astype(int)
SAMPLE = 50


@pytest.fixture
def few(monkeypatch):
    """Kernels are tuned on 50 rows."""
    monkeypatch.setattr(kernels.tuning_rows, "__defaults__", (SAMPLE,))


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
    fitted, alone = Kernelized(MESD(SELF())).fit(X, part), Kernelized(MESD(SELF())).fit(X[kept], Y[kept])
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
        (Kernelized(OPLS(), n_prototypes=20, random_state=0), SAMPLE),
        (Kernelized(OPLS(), tau=3.0, n_prototypes=20, random_state=0), 150),
    ],
    ids=["no labels", "both given", "coef", "coef, given width", "prototypes", "prototypes, given width"],
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
