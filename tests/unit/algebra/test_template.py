"""Templates combined, turned and restated: the arithmetic behind every combination of methods."""

import numpy as np
import pytest

from proxembed.algebra.operators.structured import Centering, Dense, Diagonal, Identity, LowRank, Operator
from proxembed.algebra.template import Template, mix

N = 6
rng = np.random.default_rng(0)


def some(seed: int) -> Operator:
    return LowRank(np.random.default_rng(seed).standard_normal((N, 2)), center=np.ones(N))


U = Template(some(1), some(2), a=0.5, b=3.0, offset=np.ones(N), sense=-1)
S = Template(some(3), some(4), a=-0.25, b=1.0, offset=np.array([1.0, 1.0, 0, 0, 0, 0]))


def dense(op: Operator) -> np.ndarray:
    return op.todense(N)


def test_a_mixture_is_the_weighted_sum_of_everything():
    blend = mix(U, S, 0.3)
    np.testing.assert_allclose(dense(blend.A), 0.3 * dense(U.A) + 0.7 * dense(S.A), atol=1e-14)
    np.testing.assert_allclose(dense(blend.B), 0.3 * dense(U.B) + 0.7 * dense(S.B), atol=1e-14)
    assert blend.a == pytest.approx(0.3 * 0.5 - 0.7 * 0.25) and blend.b == pytest.approx(0.3 * 3 + 0.7)
    assert blend.sense == 1 and blend.target is None
    X = rng.standard_normal((N, 3))
    np.testing.assert_allclose(
        blend.offset @ X / blend.offset.sum(), 0.3 * X.mean(axis=0) + 0.7 * X[:2].mean(axis=0), atol=1e-14
    )
    assert np.all(blend.offset > 0)


@pytest.mark.parametrize(("share", "alone"), [(0.0, S), (1.0, U)])
def test_the_ends_are_the_templates_themselves(share, alone):
    end = mix(U, S, share)
    assert end.A is alone.A and end.B is alone.B and end.offset is alone.offset
    assert (end.a, end.b, end.sense) == (alone.a, alone.b, alone.sense)


def test_constraints_of_a_mixture():
    plain, own = mix(U, S, 0.3, "projection"), mix(U, S, 0.3, "supervised")
    assert plain.B is None and plain.b == 1.0
    assert own.B is S.B and own.b == S.b
    for other in (plain, own):
        np.testing.assert_allclose(dense(other.A), dense(mix(U, S, 0.3).A))
    half = mix(Template(some(1)), S, 0.5)  # P'P = I on one side
    np.testing.assert_allclose(dense(half.B), 0.5 * dense(S.B))
    assert half.b == 0.5 * 1.0 + 0.5 * S.b
    assert mix(Template(some(1)), Template(some(2)), 0.5).B is None


def test_two_minimisations_stay_one_and_an_uncentred_member_leaves_no_centre():
    assert mix(U, Template(some(3), sense=-1, offset=np.ones(N)), 0.5).sense == -1
    assert mix(Template(Identity(N)), S, 0.5).offset is None
    assert mix(Template(Identity(N)), S, 0.0).offset is S.offset


@pytest.mark.parametrize(
    ("share", "constraint", "message"),
    [
        (-0.1, "mixed", "share=-0.1 is not allowed"),
        (1.1, "mixed", "share=1.1"),
        (float("nan"), "mixed", "share=nan"),
        (0.5, "both", "constraint='both' is not allowed.*mixed, projection, supervised"),
    ],
)
def test_mixtures_that_are_none(share, constraint, message):
    with pytest.raises(ValueError, match=message):
        mix(U, S, share, constraint)


def test_flipping_twice_is_nothing_and_changes_the_sense():
    for template in (U, S):
        once = template.flipped()
        twice = once.flipped()
        assert once.sense == -template.sense and twice.sense == template.sense
        np.testing.assert_allclose(dense(twice.A), dense(template.A))
        np.testing.assert_allclose(dense(twice.B), dense(template.B))
        assert (twice.a, twice.b) == (template.a, template.b)
    np.testing.assert_allclose(dense(U.flipped().A), dense(U.B))  # min L under D: max D under L
    np.testing.assert_allclose(dense(U.flipped().B), -dense(U.A))
    assert (U.flipped().a, U.flipped().b) == (3.0, -0.5)


def test_rescaling_of_both_matrices():
    scaled = U.rescale(2.0, 5.0)
    assert (scaled.a, scaled.b) == (1.0, 15.0)
    np.testing.assert_allclose(dense(scaled.A), 2 * dense(U.A))
    np.testing.assert_allclose(dense(scaled.B), 5 * dense(U.B))
    assert Template(some(1)).rescale(1.0, 0.5).b == 0.5 and Template(some(1)).rescale(1.0, 0.5).B is None


def test_a_method_that_places_rows_as_a_projection():
    weights = np.arange(1.0, N + 1)
    degree = Template(Dense(dense(some(1))), Diagonal(weights), b=0.0, sense=-1).projected()
    np.testing.assert_allclose(dense(degree.B), dense(Centering(weights)))
    np.testing.assert_array_equal(degree.offset, weights)
    plain = Template(Dense(dense(some(1)))).projected()
    np.testing.assert_allclose(dense(plain.B), dense(Centering()))
    np.testing.assert_array_equal(plain.offset, np.ones(N))
    assert plain.b == degree.b == 0.0
    seeing = Template(Dense(dense(some(1)) + np.eye(N))).projected()  # A knows the constant vector: no centring
    np.testing.assert_allclose(dense(seeing.B), np.eye(N))
    assert seeing.offset is None
