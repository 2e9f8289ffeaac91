"""Psi pair by pair: the formulas, their limits and bounds, what is refused, and Psi of all pairs in structured form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import strategies
from designs import WHOLE, pairwise
from oracles import label_similarities as oracle
from proxembed.proximity.combine import checked_weights, combine, combine_grouped, unit_weights
from proxembed.proximity.label_similarity import label_similarity
from proxembed.targets.labels import LabelMatrix

GRID = np.linspace(0.0, 1.0, 6)
w, g = (part.ravel() for part in np.meshgrid(GRID, GRID))


@pairwise
@pytest.mark.parametrize("a", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("b", [0.0, 1.0, 1.3])
@pytest.mark.parametrize("beta", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("gamma", [0.0, 0.4, 1.0])
def test_priority_equals_its_formula(a, b, beta, gamma):
    found = combine("priority", w, g, a=a, b=b, beta=beta, gamma=gamma)
    expected = [oracle.priority(*pair, a, b, beta, gamma) for pair in zip(w, g, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)


unit = st.floats(0.0, 1.0)
power = st.floats(0.0, 4.0)


@given(unit, unit, power, power, st.floats(0.0, 20.0))
@settings(max_examples=200 if WHOLE else 50, deadline=None)
def test_priority_lies_between_its_bounds(weight, likeness, a, b, beta):
    psi = combine("priority", np.array([weight]), np.array([likeness]), a=a, b=b, beta=beta)[0]
    top = likeness**a if likeness > 0 else 0.0
    assert top / (1 + beta) * (1 - 1e-14) <= psi <= top * (1 + 1e-14)


def test_zero_to_the_power_of_zero():
    """a = 0 leaves the labels' 1[g > 0]; b = 0 leaves no weights at all."""
    np.testing.assert_array_equal(combine("priority", w, g, a=0.0, beta=0.0), (g > 0) * 1.0)
    np.testing.assert_array_equal(combine("priority", w, g, b=0.0, beta=3.0), g)
    np.testing.assert_array_equal(combine("priority", w, g, b=0.0, gamma=0.0), np.ones(len(g)))


def test_hadamard_and_sum():
    np.testing.assert_array_equal(combine("hadamard", w, g), w * g)
    np.testing.assert_allclose(combine("sum", w, g, beta=0.3), 0.3 * g + 0.7 * w, rtol=1e-15)
    assert np.abs(combine("hadamard", w, g) - combine("priority", w, g)).max() > 0.1


def test_labels_only():
    for kind in ("hadamard", "sum"):
        np.testing.assert_array_equal(combine(kind, None, g), g)
    np.testing.assert_array_equal(combine("priority", None, g, a=2.0, beta=7.0), g**2)
    np.testing.assert_array_equal(combine(lambda w, g: w + g, None, g), 1.0 + g)


def test_numbers_and_broadcast_weights():
    G = g.reshape(6, 6)
    np.testing.assert_array_equal(combine("priority", 0.25, G), G / 1.75)
    np.testing.assert_array_equal(combine(lambda w, g: w * g, np.full((6, 1), 0.5), G), G / 2)


def test_inputs_stay_as_they_are():
    before = w.copy(), g.copy()
    for kind in ("priority", "hadamard", "sum"):
        combine(kind, w, g)[:] = 9.0
        combine(kind, None, g)[:] = 9.0
    np.testing.assert_array_equal((w, g), before)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("product", {}, "combine='product' is not known; choose one of priority, hadamard, sum"),
        ("priority", {"a": -0.1}, "a=-0.1 is not allowed"),
        ("priority", {"b": np.nan}, "b=nan is not allowed"),
        ("priority", {"beta": np.inf}, "beta=inf is not allowed"),
        ("priority", {"gamma": 1.1}, "gamma=1.1 .* from 0 to 1"),
        ("sum", {"beta": 1.5}, "beta=1.5 .* from 0 to 1"),
        ("priority", {"a": True}, "a=True is not allowed"),
        (lambda w, g: g[:2], {}, "must return finite values of the shape"),
        (lambda w, g: g * np.nan, {}, "not all finite"),
    ],
)
def test_what_is_refused(kind, options, message):
    with pytest.raises(ValueError, match=message):
        combine(kind, w, g, **options)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_values_outside_the_unit_interval_are_refused(bad):
    wrong = np.append(g[:-1], bad)
    with pytest.raises(ValueError, match="w holds values .*unit_weights"):
        combine("priority", wrong, g)
    with pytest.raises(ValueError, match="g holds values"):
        combine("priority", None, wrong)


def test_unit_weights():
    W = sparse.csr_array(([4.0, 0.0, -2.0, 1.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    found = unit_weights(W)
    assert found.nnz == 4 and found.data.tolist() == [1.0, 0.0, 0.0, 0.25] and W.data[0] == 4.0
    assert not unit_weights(np.zeros((2, 2))).any() and unit_weights(np.empty(0)).shape == (0,)
    for bad in (np.inf, np.nan):
        with pytest.raises(ValueError, match="not finite"):
            unit_weights(np.array([1.0, bad]))


def test_checked_weights():
    W = np.triu(np.random.default_rng(0).random((6, 6)))
    near = sparse.csr_array(W + W.T)
    near.data[1] += 1e-12
    found = checked_weights(near, 6)
    assert (found != found.T).nnz == 0 and np.abs(found - W - W.T).max() < 1e-11
    twice = sparse.csr_array(([0.5, 0.5, 1.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert checked_weights(twice, 2).toarray().tolist() == [[0.0, 1.0], [1.0, 0.0]] and twice.nnz == 3
    for wrong, message in (
        (sparse.csr_array(W), "transpose"),
        (near.toarray(), "type ndarray"),
        (near[:5], r"\(5, 6\)"),
    ):
        with pytest.raises(ValueError, match=message):
            checked_weights(wrong, 6)


@pytest.mark.parametrize("gamma", [1.0, 0.4])
@pytest.mark.parametrize("scheme", ["labels", "latent", "classes"])
def test_all_pairs_in_structured_form(scheme, gamma):
    Y = strategies.labels_multi(30, 4, 3, density=0.25)
    Y[5] = 0.0
    G = label_similarity(LabelMatrix.of(Y), scheme)
    W = np.random.default_rng(1).random((30, 30)) * (np.random.default_rng(2).random((30, 30)) < 0.1)
    W = np.minimum(W + W.T, 1.0)
    index, Gu = G.grouped()
    whole = Gu[np.ix_(index, index)]
    for kind, options in (("priority", {"a": 0.3, "b": 1.3, "gamma": gamma}), ("hadamard", {}), ("sum", {"beta": 0.2})):
        index, P, C = combine_grouped(G, sparse.csr_array(W), kind, **options)
        np.testing.assert_allclose(
            P[np.ix_(index, index)] + C.toarray(), combine(kind, W, whole, **options), atol=1e-15
        )
        assert C.nnz == np.count_nonzero(W) and (C != C.T).nnz == 0
        index, P, C = combine_grouped(G, None, kind, **options)
        np.testing.assert_array_equal(P[np.ix_(index, index)], combine(kind, None, whole, **options))
        assert C is None
