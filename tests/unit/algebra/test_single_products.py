"""Leading components of float32 rows from products in float32: as exact as promised, or from products in float64."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed import PCA
from proxembed.algebra.arrays.centred import PROBED, CentredMatrix

N, D, K = 8_000, 100, 5
MEANS = {"at zero": 0.0, "far": 1e3}


def planted(deviations: np.ndarray, mean: float = 0.0) -> np.ndarray:
    """Rows of these standard deviations along random directions, float32."""
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((D, D)))
    scores, _ = np.linalg.qr(rng.standard_normal((N, D)))
    return (N**0.5 * scores * deviations @ Q.T + mean).astype(np.float32)


def counts() -> np.ndarray:
    """Whole numbers, whose partial sums would all be rounded the same way after a shift that is no such number."""
    rng = np.random.default_rng(0)
    return rng.poisson(np.arange(1, D + 1) ** 2 / 500, (N, D)).astype(np.float32)


def decaying(rate: float) -> np.ndarray:
    return np.concatenate([10 * rate ** np.arange(K + 1), np.full(D - K - 1, 1e-2)])


def ordered(X: np.ndarray) -> np.ndarray:
    return X[np.argsort(X[:, 0])]


SERVED = {
    **{name: lambda mean=mean: planted(decaying(0.8), mean) for name, mean in MEANS.items()},
    "ordered": lambda: ordered(planted(decaying(0.8))),
    "counts": counts,
}
REFUSED = {
    "small eigenvalues": (lambda: planted(decaying(0.01)), K),
    "close eigenvalues": (lambda: planted(decaying(1 - 1e-4)), K),
    "most of the components": (lambda: planted(np.linspace(10, 1, D)), D - 1),
    "a share": (lambda: planted(decaying(0.8)), 0.9),
}


def compare(single: PCA, double: PCA, tolerance: float) -> None:
    np.testing.assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=tolerance)
    np.testing.assert_allclose(single.components_, double.components_, rtol=0, atol=tolerance)
    deviation = np.sqrt(double.eigenvalues_[0] / N)
    np.testing.assert_allclose(single.mean_, double.mean_, rtol=1e-12, atol=tolerance / 100 * deviation)


@pytest.mark.parametrize("rows", SERVED.values(), ids=SERVED)
def test_well_separated_components_need_no_products_in_float64(monkeypatch, rows):
    X = rows()
    double = PCA(n_components=K).fit(X.astype(np.float64))
    monkeypatch.setattr(CentredMatrix, "gram", None)
    compare(PCA(n_components=K).fit(X), double, 1e-5)


@pytest.mark.parametrize(("rows", "k"), REFUSED.values(), ids=REFUSED)
def test_other_components_come_from_products_in_float64(rows, k):
    X = rows()
    compare(PCA(n_components=k).fit(X), PCA(n_components=k).fit(X.astype(np.float64)), 1e-9)


def test_whole_numbers_are_multiplied_exactly():
    X = counts()
    rows = CentredMatrix.centred(X, np.ones(N))
    G, missed, mean = rows.single_gram()
    exact = CentredMatrix.centred(X.astype(np.float64), np.ones(N)).gram()
    np.testing.assert_allclose(G, exact, rtol=0, atol=1e-12 * exact.max())
    np.testing.assert_allclose(mean, X.mean(axis=0, dtype=np.float64), rtol=1e-14)
    assert not missed.any()


@pytest.mark.parametrize("mean", MEANS.values(), ids=MEANS)
def test_the_error_of_the_gram_matrix(mean):
    X = planted(decaying(0.8), mean)
    G, missed, _ = CentredMatrix.centred(X, np.ones(N)).single_gram()
    exact = CentredMatrix.centred(X.astype(np.float64), np.ones(N)).gram()
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.max(np.abs(G - exact) / size) < 1e-6
    assert np.max(np.abs(G - exact)) < 2 * np.max(np.abs(missed))


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_squares_beyond_float32_are_left_to_float64(size):
    assert CentredMatrix.centred(planted(decaying(0.8)) * np.float32(size), np.ones(N)).single_gram() is None


def test_rows_whose_probe_is_far_from_the_mean_are_left_to_float64():
    X = planted(decaying(0.8))
    X[:, 0] = 100.0
    X[np.linspace(0, N - 1, PROBED).astype(np.intp), 0] = 0.0
    assert CentredMatrix.centred(X, np.ones(N)).single_gram() is None


def test_a_constant_feature_and_one_that_the_probe_shows_as_constant():
    X = planted(decaying(0.8))
    X[:, 0], X[:, 1] = 1e6, 0.0
    X[1, 1] = 3.0
    G, _, mean = CentredMatrix.centred(X, np.ones(N)).single_gram()
    assert not G[0].any() and mean[0] == 1e6
    np.testing.assert_allclose([G[1, 1], mean[1]], [9 * (1 - 1 / N), 3 / N], rtol=1e-7)
