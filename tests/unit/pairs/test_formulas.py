"""Measures from inner products against those from rows, and preprocessing of sparse rows against that of dense ones."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from designs import each_value
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.methods.adaptive.points import Preprocessing, inner
from proxembed.methods.adaptive.switches import PREPROCESSINGS, SWITCHED
from proxembed.pairs.formulas import (
    LARGEST_DEGREE,
    MEASURES,
    RELATIONS,
    PairMeasure,
    measure_products,
    measures_for,
    median_or_mean,
)
from proxembed.pairs.relation import median_squared_distance, relation, relation_effects
from proxembed.proximity.graph import full_graph
from proxembed.proximity.label_similarity import LATENT_SIMILARITIES, latent_between
from proxembed.proximity.weights import WEIGHTS, edge_weights

RNG = np.random.default_rng(0)
X = RNG.poisson(0.6, (30, 45)) * RNG.gamma(1.0, 1.0, 45)
NEW = RNG.poisson(0.6, (12, 45)) * RNG.gamma(1.0, 1.0, 45)
X[4] = X[3]
X[7] = 0.0
NEW[0] = X[3]
VALUES = {"polynomial": 3, "gaussian": 20.0, "alternative": 0.3}
NAMES = {"polynomial": "degree", "gaussian": "tau", "alternative": "tau"}


def both(kind, rows, new):
    learned = Preprocessing.fit(kind, rows)
    rows, new = learned.apply(rows), learned.apply(new)
    return inner(rows, rows), inner(new, rows)


SIGNED = [("correlation", "pca"), ("correlation", "whiten")]  # depend on the signs of the components


@each_value
@pytest.mark.parametrize(
    ("kind", "scaling"), [pair for pair in product(SWITCHED, PREPROCESSINGS) if pair not in SIGNED]
)
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_measures_equal_those_of_dense_rows(kind, scaling, stored):
    """Sparse rows are centred without being formed, and their components come from the Gram matrix."""
    state = scaling_fit(scaling, X)
    rows, new = scaling_apply(state, X), scaling_apply(state, NEW)
    given = {NAMES[kind]: VALUES[kind]} if kind in VALUES else {}
    own, other = both(scaling, stored(X), stored(NEW))
    level = own.G.mean(axis=1)
    for found, left in ((own, rows), (other, new)):
        expected = relation(kind, left, rows, **given)
        got = measure_products(kind, found, level, VALUES.get(kind))
        assert np.abs(got - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())


def test_equal_rows_are_at_distance_zero():
    for stored in (np.asarray, sp.csr_array):
        for scaling in ("none", "standard"):
            own, other = both(scaling, stored(X + 1e3 * (stored is np.asarray)), stored(NEW))
            assert own.d2[3, 4] == 0.0 and not own.d2.diagonal().any()
    assert other.d2[0, 3] == other.d2[0, 4] == 0.0


def test_correlation_of_few_features_is_the_cosine_of_centred_rows():
    few, new = RNG.normal(2.0, 1.0, (9, 2)), RNG.normal(2.0, 1.0, (5, 2))
    own, other = both("none", few, new)
    expected = relation("cosine", new - few.mean(axis=0), few - few.mean(axis=0))
    assert np.allclose(measure_products("correlation", other, own.G.mean(axis=1)), expected, atol=1e-12)


def test_median_over_distinct_pairs():
    own, _ = both("none", X, NEW)
    assert np.isclose(median_or_mean(own.d2[np.triu_indices(len(X), 1)]), median_squared_distance(X), rtol=1e-12)
    assert median_or_mean(np.zeros(3)) == median_or_mean(np.zeros(0)) == 1.0
    assert median_or_mean(np.array([0.0, 0.0, 6.0])) == 2.0


@pytest.mark.parametrize(("kind", "values"), [("gaussian", [0.5, 3.0, 400.0]), ("alternative", [1e-3, 0.3, 10.0])])
def test_order_without_the_parameter_is_that_of_every_value(kind, values):
    own, other = both("none", X, NEW)
    for rows in (own, other):
        order = SWITCHED[kind].order(rows)
        for value in values:
            found = measure_products(kind, rows, own.G.mean(axis=1), value)
            for row, by in zip(order, found, strict=True):
                sign = np.sign(np.subtract.outer(row, row)) * np.sign(np.subtract.outer(by, by))
                assert (sign >= 0).all() and sign.any()


def test_order_survives_where_the_measure_is_zero():
    own, _ = both("none", X * 1e3, NEW)
    assert np.unique(measure_products("gaussian", own, own.G.mean(axis=1), 1e-3)).size == 2
    assert np.unique(SWITCHED["gaussian"].order(own)).size > 20
    assert [kind for kind, each in SWITCHED.items() if each.order is not None] == ["gaussian", "alternative"]


@pytest.mark.parametrize("degree", [1, 2, 5, LARGEST_DEGREE, LARGEST_DEGREE + 1, 2.5])
def test_polynomials_of_every_degree(degree):
    rows, _ = both("none", np.abs(X), np.abs(NEW))
    found = measure_products("polynomial", rows, rows.G.mean(axis=1), degree)
    assert np.allclose(found, (1.0 + rows.G) ** degree, rtol=1e-13, atol=0)
    assert np.array_equal(rows.G, both("none", np.abs(X), np.abs(NEW))[0].G)


def test_a_new_measure_is_one_object(monkeypatch):
    laplace = PairMeasure(
        "exp(-|x - p| / tau)",
        dict.fromkeys(("relation", "edge", "latent"), "laplace"),
        lambda pairs, *, tau=1.0: np.exp(-np.sqrt(pairs.d2) / tau),
        lambda distance, tau: np.exp(-distance / tau),
        from_products=True,
    )
    for names in (SWITCHED, RELATIONS, WEIGHTS, LATENT_SIMILARITIES):
        monkeypatch.setitem(names, "laplace", laplace)
    expected = np.exp(-relation("euclidean", NEW, X) / 2.0)
    np.testing.assert_allclose(relation("laplace", NEW, X, tau=2.0), expected)
    own, other = both("none", X, NEW)
    np.testing.assert_allclose(measure_products("laplace", other, own.level, 2.0), expected)
    W = edge_weights(X, full_graph(X), "laplace", tau=2.0).toarray()
    np.testing.assert_allclose(W, np.exp(-relation("euclidean", X, X) / 2.0) * (1.0 - np.eye(len(X))))
    between, largest = latent_between(X, "laplace", tau=2.0)
    np.testing.assert_allclose(between(np.arange(9), np.arange(9, 30)), W[:9, 9:])
    assert largest == 1.0 and relation_effects("laplace", X, np.ones((1, len(X))), tau=2.0).shape == (1, X.shape[1])
    with pytest.raises(ValueError, match="sigma=1 is not a parameter of kind 'laplace', which takes: tau"):
        relation("laplace", NEW, X, sigma=1)


@pytest.mark.parametrize("use", ["relation", "kernel", "edge", "latent", "sets", "label kernel"])
def test_names_of_one_use_differ_and_each_measure_states_its_formula(use):
    names = [measure.uses[use] for measure in MEASURES if use in measure.uses]
    assert names and len(set(names)) == len(names) == len(measures_for(use))
    assert all(
        measure.formula and (measure.values or measure.uses.keys() <= {"edge", "latent"}) for measure in MEASURES
    )
