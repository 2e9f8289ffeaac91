"""The steps of a spectral fit: ``prepare`` learns what there is to learn of the rows; later steps set nothing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from designs import in_turn
from invariants.cases import Case, cases, data_for
from proxembed import LLE, MESD, MFA, PCA, SELF, SSDR, Isomap, Kernelized
from proxembed.algebra.pencil.kernel_rows import KernelRows
from proxembed.algebra.template import Template
from proxembed.estimator.base import Prepared, SpectralEmbedder

COMBINED = [
    MESD(Kernelized(MFA())),
    Kernelized(MESD(MFA()), constraint="coef"),
    MESD(SELF(base="lpp", ridge=0.1)),
    SSDR(Kernelized(MESD()), Kernelized(PCA()), constraint="mixed", balance="trace"),
    SSDR(MESD(), Isomap()),
    SSDR(MESD(MFA()), LLE(), constraint="supervised"),
]
COMBINED_CASES = [Case(repr(method).replace("\n", ""), method) for method in COMBINED]
CASES = [*cases(), *COMBINED_CASES]
PLAIN = [case for case in CASES if case.default or case in COMBINED_CASES]


def parts(estimator: SpectralEmbedder) -> list[SpectralEmbedder]:
    """The estimator and the members that its fit has made, at any depth."""
    members = [getattr(estimator, f"{role}_") for role in getattr(estimator, "members", ())]
    return [estimator, *(part for member in members for part in parts(member))]


def state(estimator: SpectralEmbedder) -> list[tuple[str, object]]:
    """The attributes of all parts, by name; held, so that no other object has the identity of one of them."""
    return [(name, value) for part in parts(estimator) for name, value in vars(part).items()]


def identities(attributes: list[tuple[str, object]]) -> list[tuple[str, int]]:
    return [(name, id(value)) for name, value in attributes]


def dense(value) -> np.ndarray:
    value = value.values if isinstance(value, KernelRows) else value
    return value.toarray() if sp.issparse(value) else np.asarray(value, dtype=np.float64)


def assert_close(found, expected) -> None:
    """Equal but for rounding, which the place of an array in memory can change."""
    found, expected = dense(found), dense(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max(initial=0.0))


def assert_equal(one: Template, other: Template, n: int) -> None:
    assert (one.a, one.b, one.sense) == (other.a, other.b, other.sense)
    for name in ("A", "B"):
        pair = getattr(one, name), getattr(other, name)
        assert (pair[0] is None) == (pair[1] is None)
        if pair[0] is not None:
            assert_close(pair[0].todense(n), pair[1].todense(n))
    for name in ("offset", "target"):
        pair = getattr(one, name), getattr(other, name)
        assert (pair[0] is None) == (pair[1] is None)
        if pair[0] is not None:
            assert_close(*pair)


@in_turn("case", CASES, 3, PLAIN, ids=lambda case: case.name)
def test_template_and_lift_set_nothing(case):
    """Twice, in any order, after ``prepare``: the same attributes, the same objects, equal templates."""
    data = data_for(case)[0]
    estimator = case.build()
    estimator.resolve()
    rows = estimator._validate(data.X, None if case.labels is None else data.y)
    before = set(vars(estimator))
    prepared = estimator.prepare(rows)
    assert isinstance(prepared, Prepared) and set(vars(estimator)) == before
    estimator.make_ready(rows)
    held = state(estimator)
    lifted = estimator.lift(data.X)
    first = estimator.template(rows)
    again = estimator.lift(data.X)
    second = estimator.template(rows)
    assert identities(state(estimator)) == identities(held)
    assert_close(lifted, again)
    if not case.own_rows:
        assert_close(lifted, estimator.prepared_.training)
    assert_equal(first, second, first.A.n or rows.n)


def test_a_template_that_sets_something_is_seen():
    """Negative control: a new attribute, and an old one under a new object."""

    class _Adds(PCA):
        def template(self, rows):
            self.seen_ = rows.n
            return super().template(rows)

    class _Replaces(PCA):
        def template(self, rows):
            self.prepared_ = self.prepare(rows)
            return super().template(rows)

    for method in (_Adds(), _Replaces()):
        with pytest.raises(AssertionError):
            test_template_and_lift_set_nothing(Case("control", method))


@in_turn("case", CASES, 4, COMBINED_CASES, ids=lambda case: case.name)
def test_a_fitted_estimator_holds_nothing_that_only_fit_needs(case):
    """Neither rows nor templates, in itself or in a member; what new rows are lifted by is arrays and numbers."""
    estimator = case.fit(data_for(case)[0])
    for part in parts(estimator):
        assert part.prepared_.training is None and part.prepared_.attributes == {}
        assert not [name for name, value in vars(part.prepared_).items() if isinstance(value, Template)]


def test_a_step_between_prepare_and_template_needs_no_order():
    """What once depended on the order of evaluation: a kernel learned by ``template``, before ``lift`` could run."""
    case = Case("kernel", Kernelized(PCA(), n_components=2))
    data = data_for(case)[0]
    model = case.build()
    model.resolve()
    model.make_ready(model._validate(data.X, None))
    assert_close(model.lift(data.X), model.prepared_.training)
    assert model.tau_ == pytest.approx(case.fit(data).tau_, rel=1e-12)
