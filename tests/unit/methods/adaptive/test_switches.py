"""The switch vectors: counts, canonical form, parameter lists, words, and the ranges of parameters."""

from dataclasses import replace

import numpy as np
import pytest

from proxembed.methods.adaptive import Limits, Switches, domain, sample
from proxembed.targets.labels import LabelMatrix
from strategies import canonical_switches, every_switches


def test_the_numbers_of_distinct_models():
    assert len(every_switches()) == len(set(every_switches())) == 72_576
    without_relation = {replace(s, t=0) if s.r == 0 else s for s in every_switches()}
    assert len(without_relation) == 65_856
    assert len({s if s.eo == 2 else replace(s, o=0) for s in without_relation}) == 41_160
    assert len(set(canonical_switches())) == 28_700


def test_a_canonical_vector_is_its_own():
    assert all(s.canonical() == s for s in canonical_switches()[::7])


@pytest.mark.parametrize(
    ("vector", "names"),
    [
        ([0, 6, 1, 6, 2, 1, 2, 0], ("relation_sigma", "similarity_tau", "n_neighbors", "lam")),
        ([5, 2, 1, 4, 1, 2, 1, 1], ("relation_p", "n_friends", "n_enemies", "lam")),
        ([4, 0, 0, 1, 1, 2, 3, 0], ("n_enemies",)),
        ([4, 0, 0, 1, 1, 2, 4, 0], ("n_friends",)),
        ([0, 6, 0, 5, 2, 1, 3, 0], ("relation_sigma", "similarity_sigma", "n_neighbors")),
    ],
)
def test_parameters_of_a_model(vector, names):
    assert Switches.of(vector).numeric() == names


@pytest.mark.parametrize(
    ("vector", "canonical"),
    [
        ([4, 8, 0, 5, 1, 1, 2, 1], [4, 8, 0, 5, 1, 1, 2, 1]),
        ([4, 3, 4, 7, 1, 1, 2, 1], [4, 3, 2, 7, 1, 1, 2, 1]),
        ([4, 3, 4, 1, 1, 1, 4, 1], [2, 3, 2, 1, 1, 1, 4, 0]),
        ([1, 1, 0, 1, 2, 1, 1, 0], [1, 3, 0, 3, 2, 1, 1, 0]),
        ([2, 0, 5, 1, 2, 1, 2, 1], [2, 0, 0, 1, 2, 1, 2, 1]),
    ],
)
def test_canonical_form(vector, canonical):
    assert Switches.of(vector).canonical().as_tuple() == tuple(canonical)


def test_names_and_numbers_go_both_ways():
    assert all(Switches.named(**s.options()) == s for s in every_switches()[::101])
    described = {s.describe() for s in every_switches()}
    assert len(described) >= 65_856  # relation_preprocessing is not told without a relation


@pytest.mark.parametrize("vector", [[6, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1, True]])
def test_a_switch_out_of_range_is_named(vector):
    with pytest.raises(ValueError, match="must be an integer from"):
        Switches.of(vector)


def test_other_bad_vectors_are_refused():
    with pytest.raises(ValueError, match="eight are needed"):
        Switches.of([1, 2])
    with pytest.raises(ValueError, match="relation='sine' is not known"):
        Switches.named(**Switches.of([0, 0, 0, 1, 1, 1, 1, 0]).options() | {"relation": "sine"})


def test_samples_lie_in_their_domain_and_reach_the_top():
    limits = Limits.of(LabelMatrix.of(np.repeat([0, 1, 2], [20, 12, 5])))
    assert limits == Limits(37, 20, 32)
    rng = np.random.default_rng(0)
    drawn = {}
    for s in rng.choice(len(every_switches()), 2000):
        switches = every_switches()[s]
        for name, value in sample(switches, limits, rng).items():
            where = domain(name, switches, limits)
            assert where.low <= value <= where.high
            assert where.clip(value) == value
            drawn.setdefault(name, []).append(value)
    for name, top in {"n_friends": 19, "n_enemies": 31, "n_neighbors": 36}.items():
        assert 0.08 < np.mean(np.array(drawn[name]) == top) < 0.25
        assert min(drawn[name]) <= 2
    assert set(drawn["relation_p"]) == {1, 2, 3, 4, 5}
    assert min(drawn["similarity_sigma"]) < 0.05 and max(drawn["similarity_sigma"]) > 20
    with pytest.raises(ValueError, match="is not a parameter of this model"):
        domain("n_neighbors", Switches(0, 0, 0, 1, 1, 1, 1, 0), limits)
