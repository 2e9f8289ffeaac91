"""Local affinities and their scales: the definition, duplicates, sparse rows, small scales; links weighted."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from proxembed.proximity import weights
from proxembed.proximity.backends import nearest
from proxembed.proximity.weights import Distances, LocalAffinity, class_scales, weighted_links

WHOLE = slice(None)
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32], ids=["dense", "csr", "float32"])


def distances(X):
    return np.linalg.norm(X[:, None, :] - X[None], axis=2)


def expected_scales(X, K):
    return np.sort(distances(X), axis=1)[:, min(K, len(X) - 1)]


@FORMS
@pytest.mark.parametrize("K", [1, 7, 100])
def test_scales_are_distances_to_the_kth_row(form, K):
    X = strategies.features_dense(40, 5, 2)
    classes = [np.arange(0, 30, 2), np.arange(1, 40, 2), np.array([3]), np.array([5, 8])]
    found = class_scales(form(X), classes, K)
    tolerance = 1e-4 if form is np.float32 else 1e-10
    for index, scale in zip(classes, found, strict=True):
        expected = expected_scales(X[index], K) if len(index) > 1 else np.ones(1)
        np.testing.assert_allclose(scale, expected, rtol=tolerance)


def test_large_classes_are_searched(monkeypatch):
    X = strategies.features_dense(60, 5, 2)
    plain = class_scales(X, [np.arange(50)], 7)
    monkeypatch.setattr(weights, "FEW", 20)
    np.testing.assert_allclose(class_scales(X, [np.arange(50)], 7)[0], plain[0], rtol=1e-10)


@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_many_duplicates_have_scale_zero(shift):
    X = np.repeat(strategies.features_dense(5, 4, 1), 4, axis=0) + shift
    assert np.all(class_scales(X, [np.arange(20)], 3)[0] == 0)
    assert np.all(class_scales(X, [np.arange(20)], 4)[0] > 0)


@FORMS
def test_affinities_are_those_of_the_definition(form):
    X = strategies.features_dense(30, 5, 3)
    s = expected_scales(X, 4)
    tile = LocalAffinity(form(X), s)
    expected = np.exp(-(distances(X) ** 2) / np.outer(s, s))
    np.testing.assert_allclose(tile(WHOLE, WHOLE), expected, rtol=1e-4 if form is np.float32 else 1e-10, atol=1e-300)
    np.testing.assert_array_equal(tile(slice(3, 9), slice(10, 30)).shape, (6, 20))
    np.testing.assert_allclose(tile(slice(3, 9), slice(10, 30)), tile(WHOLE, WHOLE)[3:9, 10:], rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_coincident_rows_have_affinity_one_and_others_of_scale_zero_none(form):
    X = strategies.features_dense(12, 4, 5)
    X[:5] = X[0]
    s = class_scales(form(X), [np.arange(12)], 3)[0]
    assert np.all(s[:5] == 0) and np.all(s[5:] > 0)
    A = LocalAffinity(form(X), s)(WHOLE, WHOLE)
    np.testing.assert_array_equal(A[:5, :5], 1.0)
    np.testing.assert_array_equal(A[:5, 5:], 0.0)
    rest = np.exp(-(distances(X) ** 2)[5:, 5:] / np.outer(s[5:], s[5:]))
    np.testing.assert_allclose(A[5:, 5:], rest, rtol=1e-9)


@pytest.mark.parametrize("near", [0.0, 4.0])
def test_the_careful_way_is_the_fast_one(monkeypatch, near):
    """With the distances of no pair and of every pair from the rows themselves."""
    X = strategies.features_dense(30, 5, 3)
    s = expected_scales(X, 4)
    fast, careful = LocalAffinity(X, s), LocalAffinity(X, s)
    assert not fast.narrow
    centred = X - X.mean(axis=0)
    careful.narrow, careful.X = True, Distances(X, centred, (centred**2).sum(axis=1))
    monkeypatch.setattr(weights, "NEAR", near)
    np.testing.assert_allclose(careful(WHOLE, WHOLE), fast(WHOLE, WHOLE), rtol=1e-10)
    np.testing.assert_allclose(careful(slice(3, 9), slice(10, 30)), fast(WHOLE, WHOLE)[3:9, 10:], rtol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("apart", [1e-8, 1e-5, 1e-3])
def test_near_rows_are_told_apart_as_a_search_does(form, apart):
    """Groups of rows that all but coincide: scales and affinities from differences of rows, not of squares."""
    X = np.repeat(strategies.features_dense(6, 4, 1), 10, axis=0)
    X += apart * strategies.features_dense(60, 4, 2)
    X[1] = X[0]
    s = class_scales(form(X), [np.arange(60)], 7)[0]
    expected = nearest(X, 7).distance[:, -1]
    assert expected.max() < 100 * apart and expected.min() > 0
    np.testing.assert_allclose(s, expected, rtol=1e-9)
    definition = np.exp(-(distances(X) ** 2) / np.outer(expected, expected))
    np.testing.assert_allclose(LocalAffinity(form(X), s)(WHOLE, WHOLE), definition, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_links_times_weights(form):
    X = strategies.features_dense(10, 3, 1)
    X[4] = X[2]
    links = np.zeros((10, 10))
    links[2, 4] = links[4, 2] = 3.0
    links[0, 1] = links[1, 0] = 2.0
    found = weighted_links(form(X), sp.csr_array(links), "gaussian", 2.0).toarray()
    np.testing.assert_allclose(found, links * np.exp(-(distances(X) ** 2) / 2.0), rtol=1e-12)
    np.testing.assert_array_equal(weighted_links(form(X), sp.csr_array(links), "constant").toarray(), links)
