"""Places of new rows: the least of what they minimise, continuous in the row, never the void between two clusters."""

import numpy as np
import pytest
import sklearn.manifold
from scipy.optimize import minimize
from threadpoolctl import threadpool_info, threadpool_limits

from proxembed.features.layouts import (
    PLACED_BY,
    lay_out,
    layout_named,
    perplexity_of,
    place_new,
    principal_scores,
    spacing,
)

RNG = np.random.default_rng(0)
Z, PLACES = RNG.normal(size=(80, 3)), RNG.normal(size=(80, 2))


def neighbors(z):
    """The places of the nearest rows and their weights, from the definition."""
    distance = np.linalg.norm(Z - z, axis=1)
    near = np.argsort(distance)[: PLACED_BY + 1]
    return PLACES[near[:-1]], (1 - (distance[near[:-1]] / distance[near[-1]]) ** 2) ** 2


def loss(y, places, p, unit):
    return np.sum(p * np.log(1 + np.sum((y - places) ** 2, axis=1) / unit**2))


def test_a_new_row_is_where_the_loss_is_least():
    unit = spacing(PLACES)
    for z in RNG.normal(size=(12, 3)):
        near = neighbors(z)
        best = min(minimize(loss, start, args=(*near, unit)).fun for start in near[0])
        assert loss(place_new(z[None], Z, PLACES, unit)[0], *near, unit) <= best * (1 + 1e-6)


def test_the_place_changes_continuously_where_a_neighbour_leaves():
    ends = RNG.normal(size=(2, 3))
    path = ends[0] + np.linspace(0, 1, 4001)[:, None] * (ends[1] - ends[0]) * 0.2
    steps = np.linalg.norm(np.diff(place_new(path, Z, 0.01 * PLACES, 1.0), axis=0), axis=1)
    assert steps.max() < 20 * steps.mean()


def test_no_row_is_put_into_the_void_between_two_clusters():
    rows = np.linspace(0, 1, 40)[:, None]
    places = np.where(rows < 0.5, -100.0, 100.0) + np.random.default_rng(0).normal(size=(40, 1))
    found = place_new(np.linspace(0.01, 0.99, 50)[:, None], rows, places, spacing(places))
    assert np.abs(np.abs(found) - 100).max() < 5


def test_equal_distances_share_the_place():
    corners = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    np.testing.assert_allclose(place_new(np.zeros((1, 2)), corners, corners[:, 1:], 100.0), [[1 / 3]], atol=1e-3)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_place_all_others(n):
    assert np.isfinite(place_new(Z, Z[:n], PLACES[:n], spacing(PLACES[:n]))).all()


def test_principal_scores_are_those_of_the_covariance():
    scores = principal_scores(Z, 2)
    values, vectors = np.linalg.eigh(np.cov(Z.T))
    expected = (Z - Z.mean(axis=0)) @ vectors[:, ::-1][:, :2]
    np.testing.assert_allclose(np.abs(scores), np.abs(expected), atol=1e-10)
    np.testing.assert_array_equal(principal_scores(Z[:, :1], 2)[:, 1], 0)


def test_the_map_of_scikit_learn_is_repeatable_and_the_same_for_any_number_of_threads():
    first = lay_out(Z, "sklearn", 2, 0, n_jobs=1)
    np.testing.assert_array_equal(lay_out(Z, "sklearn", 2, 0, n_jobs=2), first)
    assert np.isfinite(first).all() and np.ptp(first) > 1


@pytest.mark.parametrize(("n", "expected"), [(2, 1.0), (4, 1.0), (31, 10.0), (91, 30), (5000, 30)])
def test_the_perplexity_suits_the_number_of_rows(n, expected):
    assert perplexity_of(n) == expected


@pytest.mark.parametrize(
    ("installed", "expected"), [(("openTSNE", "umap"), "opentsne"), (("umap",), "umap"), ((), "sklearn")]
)
def test_auto_takes_the_best_that_is_installed(installed, expected, monkeypatch):
    monkeypatch.setattr("proxembed.features.layouts.find_spec", lambda name: True if name in installed else None)
    assert layout_named("auto") == expected
    assert layout_named("umap") == "umap"


@pytest.mark.parametrize(("n", "limited"), [(30, True), (40, False)])
def test_a_small_map_takes_one_thread(n, limited, monkeypatch):
    """On a busy machine the threads of each short step would wait for one another."""
    seen = {}

    class Spy(sklearn.manifold.TSNE):
        def fit_transform(self, X, y=None):
            seen["during"] = threads()
            return np.zeros((len(X), 2))

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"]

    monkeypatch.setattr(sklearn.manifold, "TSNE", Spy)
    monkeypatch.setattr("proxembed.features.layouts.ONE_THREAD", 30)
    with threadpool_limits(2, "openmp"):
        before = threads()
        lay_out(RNG.normal(size=(n, 3)), "sklearn", 2, 0)
        assert before and set(before) == {2} and threads() == before
    assert set(seen["during"]) == ({1} if limited else {2})
